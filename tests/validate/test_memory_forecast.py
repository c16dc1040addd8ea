"""Memory of ranks: predicted from a log alone, against what each rank prints of itself."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from assay.model.step.memory import memory, stages
from assay.model.transformer.training_run import run
from assay.validate.cases.step_cases import completed
from assay.validate.predict.memory_forecast import lacking
from assay.validate.report.sections import sections
from assay.validate.report.terminal import render
from assay.validate.score.assess import Report, assess

from tests.conftest import FIXTURES, mostly_slow

JOB = FIXTURES / "arguments" / "gpt2_18b_v100.log"
LINES = "".join(
    line
    for line in JOB.read_text().splitlines(keepends=True)
    if any(each in line for each in ("......", "------", "|", "vocab"))
)
"""Its arguments, machine, steps and memory: what else it prints takes most of the time to read."""
LOGS = "corpus/megatron_log"
WITHIN = {  # job → MAPE of what tensors held, of what the allocator reserved
    "meg_gpt2_base_n16_dp1_tp4_pp16-1809577.out": (0.11, 0.05),
    "meg_gpt2_base_n8_dp1_tp4_pp8-1809562.out": (0.11, 0.03),
    "meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out": (0.10, 0.05),
    "meg_ds_3d_gpt2_perf_n16-ds-off.out": (0.01, 0.10),
    "meg_ds_zero_gpt2_perf_n16_nbs48_ms48.out": (0.45, 0.55),
}


def assessed(path: Path, machine: str | None = None) -> Report:
    return assess([path], machine=machine, models=["memory"])


@pytest.fixture(scope="module")
def job() -> Report:
    return assessed(JOB)


def figures(report: Report) -> dict[str, tuple[int, float]]:
    rows = report.scores.accuracy.select("quantity", "n", "mape").iter_rows()
    return {quantity: (n, mape) for quantity, n, mape in rows}


def test_each_rank_has_its_stage(job: Report) -> None:
    (row,) = completed(job.cases.configuration.filter(frame="runs")).to_dicts()
    built = run(row)
    assert built is not None
    held = [stage.total for stage in stages(built)]
    frame = job.outcome.reading.frames["megatron_memory"]
    pairs = job.comparison.pairs.filter(quantity="memory").sort("line", "column")
    ranks = frame.sort("line", "column")["rank"].cast(pl.Int64)
    assert sorted(ranks) == list(range(16))
    assert pairs["predicted"].to_list() == [held[rank // 4] for rank in ranks]
    assert max(held) == memory(built).total
    assert figures(job)["memory"] == (16, pytest.approx(0.0026, abs=0.0005))


@pytest.mark.parametrize("job", mostly_slow(WITHIN, 2))
def test_memory_is_predicted_from_the_log_alone(corpus: Path, job: str) -> None:
    machine = None if "_base_" in job else "V100-32g"
    said = figures(assessed(corpus / LOGS / job, machine))
    for quantity, limit in zip(("memory", "memory_reserved"), WITHIN[job], strict=True):
        assert said[quantity][1] < limit


def test_reports_without_a_rank_or_a_configuration_say_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(LINES.replace("[Rank ", "[Runk "))
    report = assessed(path)
    assert report.comparison.pairs.is_empty()
    assert report.comparison.unpredicted.filter(quantity="memory").is_empty()
    path.write_text(
        "".join(line for line in LINES.splitlines(keepends=True) if "layers" not in line.lower())
    )
    report = assessed(path)
    assert set(lacking(report.cases).values()) == {"needs layers"}
    assert "needs layers" in render(sections(report), width=200)
    path.write_text(
        LINES + "after 30 iterations memory (MB) | max allocated: 1.0 | reserved: 3.0\n"
    )
    report = assessed(path)
    assert set(lacking(report.cases).values()) == {
        "says no rank, and stages of a pipeline differ"}  # fmt: skip


def test_megatrons_own_estimate_is_agreement_and_no_accuracy(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(
        LINES + "Theoretical memory footprints: weight and optimizer=23000.00 MB, "
        "activation=700.00 MB, total=23700.00 MB\n"
    )
    report = assessed(path)
    assert set(figures(report)) == {"memory", "memory_reserved"}
    agreement = report.scores.agreement.select("quantity", "model", "n").rows()
    assert sorted(agreement) == [
        ("memory_activations", "memory", 1), ("memory_counted", "memory", 1),
        ("memory_states", "memory", 1)]  # fmt: skip


def test_the_report_says_it_of_the_run(job: Report) -> None:
    text = render(sections(job), width=200)
    assert "memory of 16 ranks predicted to 0.3 % on average" in text
