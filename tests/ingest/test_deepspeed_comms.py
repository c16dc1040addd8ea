"""DeepSpeed's communication logger: numbers against their own arithmetic, damaged tables."""

from __future__ import annotations

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source

from tests.conftest import FIXTURES

TEXT = (FIXTURES / "deepspeed_comms/summary.log").read_text(encoding="utf-8")


def read(text: str) -> Reading:
    opened = source("job.log", text.encode())
    assert isinstance(opened, Source)
    return read_source(opened, FORMATS)


def test_the_summary_agrees_with_its_own_arithmetic() -> None:
    rows = read(TEXT).frames["deepspeed_collective"]
    assert rows["op"].to_list() == [
        "reduce_scatter_tensor", "all_gather_into_tensor", "broadcast", "broadcast",
        "reduce_scatter_tensor",
    ]  # fmt: skip
    summed = rows.filter(pl.col("count").is_not_null())
    for row in summed.to_dicts():
        off = abs(row["total_time"] - row["time"] * row["count"])
        assert off <= row["count"] * row["time_ulp"] / 2 + row["total_time_ulp"]


def test_a_line_in_between_ends_a_summary() -> None:
    lines = TEXT.splitlines(keepends=True)
    cut = [*lines[:5], "the job goes on\n", *lines[5:]]
    rows = read("".join(cut)).frames["deepspeed_collective"]
    assert rows.height == 2  # the calls: nothing says of which operation the rows are


@pytest.mark.parametrize("bad", ["many", "2.0 QB", ""])
def test_a_row_that_is_none_is_no_record(bad: str) -> None:
    rows = read(TEXT.replace("2.0 KB", f"{bad:6}")).frames["deepspeed_collective"]
    assert rows.filter(pl.col("bytes") == 2048.0).height == 0


def test_the_place_of_a_rate_is_kept() -> None:
    (row,) = read(TEXT).frames["deepspeed_throughput"].to_dicts()
    assert (row["epoch"], row["micro_step"], row["global_step"]) == (0, 40, 20)
