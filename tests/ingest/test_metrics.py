"""One metric: what a value may be beside a number, and which unit counts."""

from __future__ import annotations

import pytest
from assay.ingest.formats.megatron.megatron_iteration import MegatronIteration
from assay.ingest.lines.metrics import put
from assay.ingest.schema.record import Record


def stored(label: str, value: str) -> tuple[dict[str, tuple[str, float]], list[tuple[str, str]]]:
    record = Record(1, {})
    put(record, MegatronIteration, label, value, 1)
    return {name: (cell.text, cell.scale) for name, cell in record.cells.items()}, record.other


@pytest.mark.parametrize(
    ("label", "value", "name", "text", "scale"),
    [
        ("tokens/sec", "51,234", "tokens_per_s", "51234", 1.0),
        ("tokens/sec", "1,051,234.5 tok/s", "tokens_per_s", "1051234.5", 1.0),
        ("iteration time (ms)", "12.3", "step_time", "12.3", 1e-3),
        ("iteration time (ms)", "12.3 s", "step_time", "12.3", 1.0),  # it says seconds
        ("iteration time (ms)", "12.3ms", "step_time", "12.3", 1e-3),
        ("hip mem usage", "180.10GB", "memory_used", "180.10", 2.0**30),  # divided by 1024³
        ("cuda mem usage", "1.02GiB", "memory_used", "1.02", 2.0**30),
        ("mem usages", "43.1%", "memory_fraction", "43.1", 0.01),
        ("tokens/sec", "12.5K", "tokens_per_s", "12.5", 1e3),
        ("tokens/sec", "1.2G", "tokens_per_s", "1.2", 1e9),
    ],
)
def test_a_value_has_the_unit_it_is_printed_with(
    label: str, value: str, name: str, text: str, scale: float
) -> None:
    assert stored(label, value) == ({name: (text, scale)}, [])


def test_a_b_behind_bytes_is_no_billion() -> None:
    cells, _ = stored("cuda mem free", "512B")
    assert cells["memory_free"][1] < 2


@pytest.mark.parametrize("value", ["12.5B", "85.8G", "634K"])
def test_a_count_without_its_last_digits_is_none(value: str) -> None:
    assert stored("consumed tokens", value) == ({}, [("consumed tokens", value)])


def test_a_remark_in_brackets_is_kept_beside_the_number() -> None:
    cells, other = stored("cuda mem usage", "1.02GiB(2.15%)")
    assert cells == {"memory_used": ("1.02", 2.0**30)}
    assert other == [("cuda mem usage", "(2.15%)")]


@pytest.mark.parametrize("value", ["1,23", "1.2.3", "12 parsecs"])
def test_what_is_no_number_with_a_unit_stays_as_it_is(value: str) -> None:
    cells, _ = stored("tokens/sec", value)
    assert cells["tokens_per_s"][0] == value
