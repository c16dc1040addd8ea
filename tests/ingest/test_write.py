"""A reading saved and loaded is the same reading; a damaged or foreign folder is named."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.inputs.paths import inputs
from assay.ingest.inputs.read import read
from assay.ingest.schema.record import Code
from assay.ingest.store.load import load
from assay.ingest.store.write import MANIFEST, save
from polars.testing import assert_frame_equal

from ..conftest import FIXTURES

BROKEN = b"| TP | Sec/it |\n|----|--------|\n| 8 | 1.5 |\n| 8 | 1.5 | 2 |\n| \xff8 | 1.5 |\n"


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_a_saved_reading_is_read_back(share: int, tmp_path: Path) -> None:
    (tmp_path / "broken.md").write_bytes(BROKEN)
    (tmp_path / "prose.txt").write_text("nothing of interest\n")
    odd = [tmp_path / name for name in ("broken.md", "prose.txt", "gone")]
    outcome = read([*inputs([FIXTURES])[::share], *odd])
    save(outcome, tmp_path / "out")
    again = read([tmp_path / "out"])

    for name, frame in outcome.reading.frames.items():
        assert_frame_equal(again.reading.frames[name], frame)
    assert_frame_equal(again.reading.provenance, outcome.reading.provenance)
    assert again.reading.refused == outcome.reading.refused
    assert again.reading.remarks == outcome.reading.remarks
    assert again.reading.accounting == outcome.reading.accounting
    assert again.reading.raw == outcome.reading.raw
    assert again.reading.overridden == outcome.reading.overridden
    assert again.unreadable == outcome.unreadable
    assert again.unrecognised == outcome.unrecognised


def test_the_quarantine_keeps_bad_bytes(tmp_path: Path) -> None:
    (tmp_path / "broken.md").write_bytes(BROKEN)
    save(read([tmp_path / "broken.md"]), tmp_path / "out")
    bad = pl.read_parquet(tmp_path / "out" / "quarantine.parquet")
    assert bad.select("line", "code").rows() == [(4, "cell-count"), (5, "undecodable")]
    assert bad["raw"].to_list() == [b"| 8 | 1.5 | 2 |", b"| \xff8 | 1.5 |"]


def test_another_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(FileExistsError, match="holds files"):
        save(read([FIXTURES / "gemm_table"]), tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"layout": 99}, "has layout 99"),
        (
            {"frames": {"gemm_table": {"rows": 1, "schema": "0"}}},
            "another schema; run ingest again",
        ),
        ({"frames": 3}, "is damaged"),
    ],
)
def test_a_folder_that_cannot_be_used_says_why(
    tmp_path: Path, change: dict[str, object], why: str
) -> None:
    save(read([FIXTURES / "gemm_table"]), tmp_path / "out")
    path = tmp_path / "out" / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    fault = read([tmp_path / "out"]).unreadable[0]
    assert fault.code is Code.UNREADABLE
    assert why in fault.message
    assert load(tmp_path / "out").unreadable == (fault,)


def test_inputs_are_expanded_in_order_and_once(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "a.toml", "a.golden", ".hidden.md", "sub/c.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found = inputs([tmp_path / "b.md", tmp_path, str(tmp_path / "*.md"), tmp_path / "gone"])
    assert [Path(path).name for path in found] == ["b.md", "a.md", "c.log", "gone"]
