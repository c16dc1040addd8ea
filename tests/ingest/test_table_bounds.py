"""Tables that are looked at in no way: without a number, or wider than any that is read."""

from __future__ import annotations

import pytest
from assay.ingest.schema.record import Code
from assay.ingest.tables import views
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

from .test_tables import read

TEXTS = st.sampled_from(
    ["Sec/it", "TFLOPs", "GPU", "TP", "notes", "DDP", "FSDP", "OOM", "many", "-", ""]
)

ROWS = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(TEXTS, min_size=width, max_size=width), min_size=2, max_size=4)
)

ABOVE = st.sampled_from(["", "Throughput in tokens/s per GPU.\n\n", "## Step time (s)\n\n"])


@settings(max_examples=examples(12))
@given(ROWS, ABOVE)
def test_a_table_without_numbers_has_no_rows_in_any_view(rows: list[list[str]], above: str) -> None:
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    text = "\n".join([above + head, "|" + " - |" * len(rows[0]), *rest, ""])
    found = read(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "numberless", lambda *_: False)
        slowly = read(text)
    assert found.refused == slowly.refused
    assert found.accounting == slowly.accounting
    assert found.frames.keys() == slowly.frames.keys()
    assert all(found.frames[name].equals(slowly.frames[name]) for name in found.frames)


def test_a_table_wider_than_any_that_is_read_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "| GPUs | TP | Sec/it |\n| - | - | - |\n| 8 | 2 | 10.5 |\n"
    assert "markdown_table" in read(text).frames
    monkeypatch.setattr(views, "MOST_WIDE", 2)
    found = read(text)
    assert "markdown_table" not in found.frames
    (said,) = found.remarks
    assert (said.code, said.span.line) == (Code.CAPPED, 1)
    assert said.message == "not read: more than 2 columns"
