"""One record a run, and the first screen that shows it."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from assay.validate import api
from assay.validate.cli.report import SORTS
from assay.validate.report import json_document, layout, sections, terminal
from assay.validate.report.layout import Column, Section, Table
from assay.validate.runs.run import runs
from assay.validate.runs.run_record import (
    RankParameters,
    Record,
    counts_that_differ,
    diagnosis,
    records,
)
from assay.validate.runs.timers import GROUPS, PARTS, Measured, grouped, parts_of
from assay.validate.score.assess import Report, assess

from tests.cli.conftest import Run
from tests.conftest import FIXTURES, mostly_slow

V100 = FIXTURES / "arguments" / "gpt2_18b_v100.log"
ROWS = 25


@pytest.fixture(scope="module")
def report() -> Report:
    """The report of one log, which most tests look at from one side."""
    return assess([V100])


def test_every_view_of_a_run_says_the_same(report: Report, assay: Run) -> None:
    (record,) = records(report)
    (run,) = runs(report.outcome.reading, report.cases, report.comparison.pairs)
    assert record.step_time == run.metrics["step_time"].value
    assert record.predicted_step_time == pytest.approx(run.predicted["step"])
    (shown,) = json.loads(json_document.dumps(report))["runs"]
    assert shown["step_time"] == record.step_time
    assert shown["error"] == pytest.approx(record.error)
    text = assay("report", V100).out
    assert f"{record.step_time:.4g} s" in text
    assert f"{100 * record.error:+.1f} %" in text
    assert record.name in text


def test_rates_are_those_of_the_median_step(report: Report) -> None:
    (record,) = records(report)
    said = record.configuration
    assert record.step_time is not None
    tokens = said["global_batch"] * said["seq_len"] / record.step_time
    assert record.tokens_per_s == pytest.approx(tokens)
    assert record.tokens_per_gpu_per_s == pytest.approx(tokens / said["gpus"])
    assert record.parts_predicted
    assert sum(record.parts_predicted.values()) == pytest.approx(record.predicted_step_time)


def test_one_log_is_one_screen(report: Report) -> None:
    for width in (80, 100, 160):
        text = terminal.render(sections.screen(report), width=width)
        lines = text.splitlines()
        assert width < 100 or len(lines) <= ROWS
        tables = [line for line in lines if not line.startswith("    ")]
        assert all(len(line) <= width for line in tables)


def test_many_logs_are_a_line_each_worst_first() -> None:
    paths = [V100, FIXTURES / "megatron_iteration" / "bloom_176b.log"]
    report = assess(paths)
    found = records(report)
    assert len(found) == 2
    for order in SORTS:
        text = terminal.render(sections.screen(report, order))
        assert text.split("\n\n")[0].count("×") == 2
    by_error = sorted(found, key=sections.ORDERS["error"])
    assert abs(by_error[0].error or 0) >= abs(by_error[1].error or 0)


def test_the_orders_of_the_command_are_those_of_the_screen(assay: Run) -> None:
    assert set(SORTS) == set(sections.ORDERS)
    done = assay("report", V100, "--sort", "beauty")
    assert done.code == 2
    assert "step-time" in done.err


def test_steps_that_have_not_settled_are_not_scored(report: Report) -> None:
    every = assess([V100], all_rows=True)

    def count(report: object) -> int:
        rows = report.scores.accuracy  # type: ignore[attr-defined]
        return int(rows.filter(quantity="step_time", model="step")["n"][0])

    (record,) = records(report)
    assert count(report) == record.settled
    assert count(every) == record.steps > record.settled


def test_timers_stand_beside_the_parts_they_measure() -> None:
    predicted = {"compute": 0.9, "bubble": 0.2, "gradients": 0.1, "optimizer": 0.1}
    timers = [Measured("forward-compute", 0.4), Measured("optimizer", 0.2), Measured("moon", 9.0)]
    beside = {one.timer: one for one in parts_of(timers, predicted)}
    assert set(beside) == {"forward-compute", "optimizer"}
    assert beside["forward-compute"].predicted == pytest.approx(0.3)
    groups = {one.part: one for one in grouped(timers, predicted)}
    assert groups["optimizer"].seconds == 0.2
    assert groups["gradients"].seconds is None
    assert sum(one.predicted for one in groups.values()) == pytest.approx(1.3)
    assert next(one.part for one in grouped([], predicted)) == "compute"
    assert {name for _, names in GROUPS.values() for name in names} <= set(PARTS)


@pytest.mark.parametrize("nodes", mostly_slow([4, 8, 16], 3))
def test_the_timer_far_above_its_part_is_named(nodes: int, assay: Run, corpus: Path) -> None:
    (path,) = (corpus / "corpus" / "megatron_log").glob(f"meg_gpt2_base_n{nodes}_*")
    done = assay("report", path)
    said = re.search(r"Backward-embedding-all-reduce takes ([0-9.]+) of ([0-9.]+) s", done.out)
    assert said
    assert 0.2 < float(said[1]) / float(said[2]) < 0.7
    assert len(done.out.splitlines()) <= ROWS


ASKED = (
    "id", "source", "first_line", "last_line", "name", "machine", "configuration", "steps",
    "settled", "step_time", "step_spread", "tokens_per_s", "tokens_per_gpu_per_s", "flops_rate",
    "mfu", "formula_id", "peak", "memory_allocated", "memory_reserved", "memory_capacity",
    "loss_first", "loss_last", "skipped", "nan", "ended", "predicted_step_time", "predicted_low",
    "predicted_high", "inside", "parts_predicted", "parts_measured", "diagnosis",
)  # fmt: skip
"""Fields of a record that every file has."""


def figures_of(record: Record) -> list[str]:
    """The figures of a run as every page shows them."""
    timed = record.step_time, record.predicted_step_time
    rates = record.flops_rate, record.mfu, record.peak, record.tokens_per_gpu_per_s
    held = record.memory_allocated, record.memory_reserved, record.memory_capacity
    ends = record.predicted_low, record.predicted_high
    flops, mfu, peak, tokens = (each or 0.0 for each in rates)
    parts = grouped(record.parts_measured, record.parts_predicted)[: sections.LARGEST]
    return [
        record.name, record.ended or "", record.formula_id or "",
        *(f"{each:.4g} s" for each in timed),
        f"± {100 * (record.step_spread or 0):.1f} %",
        f"median of {record.settled} settled of {record.steps} rows",
        f"{tokens:,.0f} tokens/s" if tokens >= 100 else f"{tokens:.3g} tokens/s",
        f"{flops / 1e12:.4g} TFLOP/s", f"MFU {100 * mfu:.1f} %", f"of {peak / 1e12:g} TFLOP/s",
        f"within {ends[0]:.3g} to {ends[1]:.3g} s", "inside" if record.inside else "outside",
        f"{100 * (record.error or 0):+.1f} %",
        *(f"{(each or 0) / 1e9:.4g} GB" for each in held),
        f"loss {record.loss_first:.4g} → {record.loss_last:.4g}",
        *([f"{record.skipped} skipped"] if record.skipped else []),
        *([f"{record.nan} NaN"] if record.nan else []),
        *(layout.figure(part.predicted, "s") for part in parts),
        *(layout.figure(part.seconds, "s") for part in parts if part.seconds is not None),
        *(sentence[1:] for sentence in record.diagnosis),
    ]  # fmt: skip


def test_every_view_has_the_figures_of_the_record(
    report: Report, assay: Run, tmp_path: Path
) -> None:
    """Terminal, JSON, Markdown, HTML, API, Parquet, watch and diff: one record, one figure."""
    (record,) = records(report)
    figures = figures_of(record)
    files = [tmp_path / f"run{suffix}" for suffix in (".html", ".md", ".json", ".parquet")]
    shown = assay("report", V100, *(word for file in files for word in ("-o", file))).out
    pages = [html.unescape(re.sub("<[^>]+>", "", files[0].read_text())), files[1].read_text()]
    for text in (shown, *pages, assay("watch", V100, "--updates", 1).out):
        flat = " ".join(text.replace("\\", "").split())
        assert not [figure for figure in figures if figure not in flat]
    (held,) = json.loads(files[2].read_text())["runs"]
    assert set(ASKED) <= held.keys()
    frame = api.report(V100).runs
    assert frame.equals(pl.read_parquet(files[3]))
    (row,) = frame.to_dicts()
    assert set(ASKED) <= row.keys()
    for name, value in held.items():
        if isinstance(value, (int, float, str, bool, type(None))):
            assert row[name] == value == getattr(record, name)
    for name in ("configuration", "parts_predicted"):
        assert held[name] == dict(getattr(record, name))
    assert held["diagnosis"] == list(record.diagnosis)
    compared = assay("diff", V100, V100).out
    for figure in (f"{record.step_time:.4g} s", f"{100 * (record.mfu or 0):.1f} %"):
        assert figure in compared
    changes = json.loads(assay("diff", V100, V100, "--json").out)["changes"]
    told = {change["name"]: change["a"] for change in changes}
    same = {
        "step_time": "step_time", "mfu": "mfu", "tokens_per_s": "tokens_per_s",
        "memory_max_allocated": "memory_allocated", "memory_max_reserved": "memory_reserved",
        "model_flops_rate": "flops_rate", "lm_loss": "loss_last", "skipped_iterations": "skipped",
    }  # fmt: skip
    for name, field in same.items():
        assert told.get(name, getattr(record, field)) == getattr(record, field)


def test_a_narrow_screen_loses_columns_and_says_which() -> None:
    columns = [Column("name"), *(Column(f"figure {n}", ">") for n in range(9))]
    table = Table([*columns, Column("more", spare=True)], [["a", *["1,234 ms"] * 9, "b"]])
    text = terminal.render([Section("T", [table])], width=60)
    head, row, *said = text.splitlines()[1:]
    assert head.split()[0] == "name"
    assert row.count("1,234 ms") == head.count("figure") < 9
    assert "Not shown for want of room: figure" in " ".join(said)
    assert "figure 8" in " ".join(said)
    assert "more" not in " ".join(said)


WHY = re.compile(r"--machine|--set|can be compared|a model predicts|without a prediction")


@pytest.mark.parametrize(
    "share", [0, *(pytest.param(at, marks=pytest.mark.slow) for at in range(1, 6))]
)
def test_the_first_screen_of_any_log_is_short_and_says_why(
    assay: Run, corpus: Path, share: int
) -> None:
    found = (each for each in (corpus / "corpus" / "wild" / "log").rglob("*") if each.is_file())
    # of the four jobs of one benchmark the two shorter ones say what there is to say
    paths = [each for each in found if each.stat().st_size < 400_000]
    assert paths
    for path in sorted(paths)[share::6]:
        done = assay("report", path)
        assert len(done.out.splitlines()) <= ROWS, path
        assert "the report says why" not in done.err or WHY.search(" ".join(done.out.split())), path


def test_the_missing_fact_comes_with_its_command(assay: Run, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("".join(
        f" iteration {n}/ 9 | elapsed time per iteration (ms): 100.0 | global batch size: 8 |\n"
        for n in range(1, 10)
    ))  # fmt: skip
    said = " ".join(assay("report", log).out.split())
    assert "State the machine for a prediction: --machine NAME (then hidden, layers," in said
    known = " ".join(assay("report", log, "--machine", "H100 SXM").out.split())
    assert "--set model=NAME" in known


def test_timers_of_deepspeed_stand_beside_the_parts_too() -> None:
    predicted = {"compute": 0.9, "gradients": 0.1, "optimizer": 0.1}
    timers = [Measured("bwd", 1.0), Measured("bwd_inner", 0.7), Measured("bwd_allreduce", 0.3),
              Measured("fwd", 0.3), Measured("step", 0.2)]  # fmt: skip
    beside = {one.timer: one.predicted for one in parts_of(timers, predicted)}
    assert "bwd" not in beside, "it is its inner part and the exchange"
    assert beside["bwd_inner"] == pytest.approx(0.6)
    assert beside["bwd_allreduce"] == pytest.approx(0.1)
    groups = {one.part: one for one in grouped(timers, predicted)}
    assert groups["work on micro-batches"].seconds == pytest.approx(1.0)
    assert groups["gradients"].timers == ("bwd_allreduce",)
    assert groups["optimizer"].seconds == 0.2
    alone = {one.part: one for one in grouped(timers[:1] + timers[3:], predicted)}
    assert alone["work on micro-batches"].seconds == pytest.approx(1.3)


def test_counts_that_frameworks_print_are_compared(report: Report) -> None:
    (record,) = records(report)
    assert not counts_that_differ(record, RankParameters(1.1e9, 1.1e9))
    (said,) = counts_that_differ(record, RankParameters(1.1e9, 1.5e9))
    assert said == "a rank holds 1.1 billion parameters as printed, 1.5 by the sizes of the model"
    assert record.flops_rate is not None
    other = replace(record, rates_printed={"model_flops_rate": 1.5 * record.flops_rate})
    (said,) = counts_that_differ(other, None)
    assert said.startswith(f"the log prints {1.5 * record.flops_rate / 1e12:.4g} TFLOP/s per GPU")


def test_a_slow_run_says_what_may_slow_it(report: Report) -> None:
    (record,) = records(report)
    assert record.predicted_high is not None
    slow = replace(
        record, step_time=2 * record.predicted_high, inside=False, machine="A100 PCIe",
        memory_capacity=record.memory_reserved,
    )  # fmt: skip
    said = " ".join(diagnosis(slow))
    assert "slower than the interval of the prediction; memory 100 % of capacity" in said
    assert "the card is PCIe" in said
