"""Time of traces beside predictions: errors weighted by time, layers, steps, ranks."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from assay.validate.report.run_section import trace_sections, traced
from assay.validate.score.assess import assess

from tests.conftest import FIXTURES
from tests.ingest.test_traces import GPU, kernel, op, trace

BERT = FIXTURES / "kineto"


def test_sums_over_classes_layers_and_steps_are_those_of_the_kernels() -> None:
    report = assess([BERT])
    said = traced(report)
    assert said is not None
    kernels = report.outcome.reading.frames["trace_kernel"].filter(pl.col("kind") != "copy")
    whole = kernels["duration"].sum()
    assert said.classes["measured"].sum() == pytest.approx(whole)
    assert said.layers["measured"].sum() == pytest.approx(whole)
    assert said.steps["covered"].sum() == pytest.approx(said.classes["covered"].sum())
    assert said.covered(said.sources[0]) == pytest.approx(said.classes["covered"].sum() / whole)
    gemm = said.shapes.filter(pl.col("kind") == "gemm")
    assert (gemm["predicted"] - gemm["measured"]).abs().sum() == pytest.approx(gemm["cost"].sum())
    titles = [section.title for section in trace_sections(report)]
    assert titles[:2] == ["Traces: time of kernels", "Traces: the 10 shapes that cost most"]


def test_a_trace_without_shapes_is_timed_and_not_predicted(tmp_path: Path) -> None:
    events = [kernel("gemm", 0, 10), kernel("mystery", 12, 5)]
    (tmp_path / "a.json").write_text(trace(events))
    said = traced(assess([tmp_path / "a.json"]))
    assert said is not None
    assert said.covered((tmp_path / "a.json").as_posix()) == 0.0
    assert said.classes["measured"].sum() == pytest.approx(15e-6)
    assert said.classes["error"].null_count() == said.classes.height


def test_a_trace_of_the_host_alone_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(trace([op("aten::add", 1, 0, 5)]))
    report = assess([tmp_path / "a.json"])
    assert traced(report) is None
    assert report.outcome.reading.accounting[0].claimed == 1


def _rank(folder: Path, rank: int, times: list[float], computed: float) -> None:
    said = {"Collective name": "allreduce", "In msg nelems": 4096, "Out msg nelems": 4096,
            "Group size": 2, "dtype": "Float", "Process Group Name": "0"}  # fmt: skip
    events = [kernel("gemm", 0, computed)]
    for at, time in enumerate(times):
        events.append(kernel("ncclDevKernel_AllReduce", 100 + 100 * at, time, **said))
    text = trace(events, distributedInfo={"rank": rank, "world_size": 2})
    (folder / f"rank{rank}.json").write_text(text)


def test_skew_is_told_from_transfer_and_the_slowest_rank_is_named(tmp_path: Path) -> None:
    _rank(tmp_path, 0, [30.0, 40.0], 20.0)  # waits for rank 1
    _rank(tmp_path, 1, [10.0, 12.0], 45.0)
    report = assess([tmp_path])
    said = traced(report)
    assert said is not None
    rows = {row["rank"]: row for row in said.ranks.to_dicts()}
    assert rows["0"]["transfer"] == rows["1"]["transfer"] == pytest.approx(22e-6)
    assert rows["0"]["waiting"] == pytest.approx(48e-6)
    assert rows["1"]["waiting"] == 0.0
    text = json.dumps([str(section.parts) for section in trace_sections(report)])
    assert "Rank 1 is the slowest" in text
    assert GPU["name"] in report.outcome.reading.frames["trace_kernel"]["gpu"].to_list()
