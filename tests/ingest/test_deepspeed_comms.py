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


STRAGGLERS = """\
_______________________________
Breakdown with straggler effect
-------------------------------
Comm. Op            Message Size        Count               Total comm lat(ms)  Total straggler(ms) Avg comm lat(ms)    Avg straggler(ms)
broadcast
                    2.0 KB              146                 10.12               1.0                 0.07                0.01
all_reduce
                    512.0 MB            40                  361.6               40.4                9.04                1.01
saving the model
"""  # noqa: E501


def test_the_summary_with_stragglers_tells_who_waited() -> None:
    rows = read(TEXT + STRAGGLERS).frames["deepspeed_collective"].tail(2)
    assert rows["op"].to_list() == ["broadcast", "all_reduce"]
    assert rows["bytes"].to_list() == [2048.0, 512.0 * 2**20]
    assert rows["count"].to_list() == [146, 40]
    wanted = {
        "fastest_total_time": [0.01012, 0.3616], "waiting_total_time": [0.001, 0.0404],
        "fastest_time": [7e-5, 0.00904], "waiting_time": [1e-5, 0.00101],
        "time": [None] * 2, "total_time": [None] * 2, "algbw": [None] * 2, "busbw": [None] * 2,
    }  # fmt: skip
    for name, values in wanted.items():
        assert rows[name].to_list() == pytest.approx(values), name
