"""Sections on jobs: runs with their speed and formula, and where the time of traces went."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from assay.validate.cases.steps import RULE
from assay.validate.report.layout import (
    Column,
    Items,
    Section,
    Table,
    count,
    figure,
    percent,
    place,
    quantity,
    told_apart,
)
from assay.validate.runs.run import Metric, Remembered, Run
from assay.validate.score.assess import Report
from assay.validate.score.trace_time import TraceTime, trace_time

SHOWN = 20
MISSING = 8
"""Reasons that are shown."""
COSTLY = 10
"""Shapes that are shown."""
LAYERS, STEPS = 15, 12


def section(runs: Sequence[Run]) -> Section | None:
    """One row per run, and the rules that its figures rest on."""
    if not runs:
        return None
    columns = [Column("run", "<", flexible=True), Column("machine", "<")]
    columns += [Column(name, ">") for name in (
        "rows", "left out", "step time", "spread", "tokens/s", "TFLOP/s", "MFU", "memory",
        "skipped", "NaN", "predicted", "error",
    )]  # fmt: skip
    names = told_apart(run.source for run in runs)
    where = {run.case: names[run.source] + place(run.case.removeprefix(run.source)) for run in runs}
    rows = [[where[run.case], *_row(run)] for run in runs[:SHOWN]]
    found = Section(f"Runs ({len(runs):,})", [Table(columns, rows)])
    notes = [f"Step time: {RULE}. Spread: 1.48 median absolute deviations."]
    bases = {run.metrics[name].basis for run in runs for name in ("mfu", "model_flops_rate")
             if name in run.metrics}  # fmt: skip
    if bases:
        notes.append(f"TFLOP/s and MFU by: {'; '.join(sorted(bases))}.")
    for run in runs[:SHOWN]:
        if run.parts:
            notes.append(f"{where[run.case]} is one run of {len(run.parts)} parts. {_proof(run)}")
        if run.memory:
            notes.append(f"{where[run.case]}: {_memory(run.memory)}.")
        if run.validation:
            said = ", ".join(f"{loss:.6g} at {when}" for when, loss in run.validation[-5:])
            notes.append(f"{where[run.case]}: validation loss {said}.")
    found.parts.append(Items(notes))
    return found


def _proof(run: Run) -> str:
    return " ".join(f"{each}." for each in run.why)


def _memory(memory: Remembered) -> str:
    """Printed against predicted memory of the ranks of a run."""
    error = percent(memory.predicted / memory.fullest - 1, signed="+")
    return (
        f"memory of {memory.ranks} ranks predicted to {percent(memory.mape)} on average; the "
        f"fullest held {quantity(memory.fullest, 'B')}, predicted {quantity(memory.predicted, 'B')}"
        f" ({error})"
    )


def _row(run: Run) -> list[str]:
    step = run.metrics.get("step_time")
    model, seconds = _best(run)
    error = seconds / step.value - 1 if step and step.value and seconds else None
    rate = run.metrics.get("model_flops_rate")
    return [
        run.machine or "–", f"{run.rows:,}", f"{run.left_out:,}",
        _said(step), percent(step.noise if step else None),
        _figure(run, "tokens_per_s"), f"{rate.value / 1e12:.4g}" if rate and rate.value else "–",
        percent(run.metrics["mfu"].value) if "mfu" in run.metrics else "–",
        _said(run.metrics.get("memory_max_reserved")),
        _figure(run, "skipped_iterations"), _figure(run, "nan_iterations"),
        f"{figure(seconds, 's')} ({model})" if seconds else "–", percent(error, signed="+"),
    ]  # fmt: skip


def _best(run: Run) -> tuple[str, float | None]:
    """The step model where there is one, else the first."""
    if not run.predicted:
        return "", None
    name = "step" if "step" in run.predicted else next(iter(run.predicted))
    return name, run.predicted[name]


def _said(metric: Metric | None) -> str:
    return figure(metric.value, metric.unit) if metric else "–"


def _figure(run: Run, name: str) -> str:
    metric = run.metrics.get(name)
    return f"{metric.value:,.0f}" if metric and metric.value is not None else "–"


def traced(report: Report) -> TraceTime | None:
    """Time of the traces of a report; None where none was read."""
    baselines = [model.name for model in report.models if model.baseline]
    return trace_time(report.outcome.reading, report.comparison.pairs, baselines)


def trace_sections(report: Report) -> list[Section]:
    """Every section about traces; none where none was read."""
    said = traced(report)
    if said is None:
        return []
    every = [
        _classes(said),
        _missing(said),
        _costly(said),
        _layers(said),
        _steps(said),
        _ranks(said),
    ]
    return [section for section in every if section is not None]


def _classes(said: TraceTime) -> Section:
    """Time of kernels by class, and the part of it that is predicted."""
    rows = []
    for source in said.sources:
        mine = said.classes.filter(pl.col("source") == source)
        whole = float(mine["measured"].sum())
        for row in mine.sort("measured", descending=True).iter_rows(named=True):
            rows.append(
                [source, row["kind"], f"{row['calls']:,}", quantity(row["measured"], "s"),
                 percent(row["measured"] / whole if whole else None),
                 percent(row["covered"] / row["measured"] if row["measured"] else None),
                 percent(row["error"], signed="+"), percent(row["by_call"]),
                 percent(row["weighted"])]
            )  # fmt: skip
        rows.append(
            [source, "all kernels", f"{mine['calls'].sum():,}", quantity(whole, "s"),
             percent(1.0), percent(said.covered(source)), "", "",
             percent(_weighted(mine))]
        )  # fmt: skip
    columns = [Column("trace", "<", flexible=True), Column("class"), Column("calls", ">"),
               Column("time", ">"), Column("share", ">"), Column("predicted", ">"),
               Column("bias", ">"), Column("error by call", ">"),
               Column("weighted by time", ">")]  # fmt: skip
    shown = ", ".join(f"{scope}: {model}" for scope, model in said.models.items())
    words = [
        "Predicted is the share of the measured time for which a model answers; errors are over "
        "that share. Weighted by time: the sum of |predicted − measured| over that of measured.",
        *([f"Models: {shown}."] if shown else []),
    ]
    return Section("Traces: time of kernels", [Table(columns, rows), Items(words)])


def _weighted(part: pl.DataFrame) -> float | None:
    covered = float(part["covered"].sum())
    return float(part["wrong"].sum()) / covered if covered else None


def _missing(said: TraceTime) -> Section | None:
    """Time that no model predicts, and why."""
    if said.missing.is_empty():
        return None
    whole = dict(said.classes.group_by("source").agg(pl.col("measured").sum()).iter_rows())
    rows = [
        [row["source"], row["kind"], row["reason"], f"{row['kernels']:,}",
         quantity(row["measured"], "s"),
         percent(row["measured"] / whole[row["source"]] if whole[row["source"]] else None)]
        for row in said.missing.head(MISSING).iter_rows(named=True)
    ]  # fmt: skip
    if said.missing.height > MISSING:
        rows.append([f"… {count(said.missing.height - MISSING, 'more reason')}", *[""] * 5])
    columns = [Column("trace", "<", flexible=True), Column("class"),
               Column("why"), Column("kernels", ">"), Column("time", ">"),
               Column("share", ">")]  # fmt: skip
    unrecorded = said.missing["reason"].str.contains("not recorded|no operator").any()
    words = [
        "PyTorch's profiler records what operators are given with record_shapes=True; without "
        "them no shape is known."
    ]
    found = Section("Traces: time that is not predicted, and why", [Table(columns, rows)])
    if unrecorded:
        found.parts.append(Items(words))
    return found


def _costly(said: TraceTime) -> Section | None:
    """The shapes that cost most absolute error."""
    worst = said.shapes.filter(pl.col("cost").is_not_null()).head(COSTLY)
    if worst.is_empty():
        return None
    rows = [
        [f"{row['source']}:{row['line']}", row["kind"], f"{row['subject']}", row["dtype"] or "–",
         f"{row['calls']:,}", quantity(row["time"], "s"), quantity(row["each"], "s"),
         percent(row["error"], signed="+"), quantity(row["cost"], "s")]
        for row in worst.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("at", "<", flexible=True), Column("class", spare=True), Column("shape"),
               Column("dtype", spare=True), Column("calls", ">", spare=True),
               Column("measured", ">"), Column("predicted", ">"), Column("error", ">"),
               Column("costs", ">")]  # fmt: skip
    words = ["Measured is the median of the calls, costs is |predicted − measured| of all calls."]
    return Section(f"Traces: the {len(rows)} shapes that cost most", [Table(columns, rows),
                                                                      Items(words)])  # fmt: skip


def _layers(said: TraceTime) -> Section | None:
    if said.layers.is_empty():
        return None
    rows = [
        [row["source"], row["layer"], row["direction"] or "–", f"{row['calls']:,}",
         quantity(row["measured"], "s"),
         percent(row["covered"] / row["measured"] if row["measured"] else None),
         percent(row["error"], signed="+"), percent(row["weighted"])]
        for row in said.layers.head(LAYERS).iter_rows(named=True)
    ]  # fmt: skip
    if said.layers.height > LAYERS:
        rows.append([f"… {count(said.layers.height - LAYERS, 'more layer')}", *[""] * 7])
    columns = [Column("trace", "<", flexible=True), Column("layer", "<", flexible=True),
               Column("pass"), Column("calls", ">"), Column("time", ">"),
               Column("predicted", ">"), Column("bias", ">"),
               Column("weighted by time", ">")]  # fmt: skip
    return Section("Traces: time of layers", [Table(columns, rows)], detail=True)


def _steps(said: TraceTime) -> Section | None:
    if said.steps.is_empty():
        return None
    rows = [
        [row["source"], "all" if row["step"] is None else f"{row['step']}",
         "–" if row["device"] is None else f"{row['device']}", quantity(row["duration"], "s"),
         quantity(row["compute"], "s"), quantity(row["exposed"], "s"), quantity(row["idle"], "s"),
         quantity(row["unlaunched"], "s"), quantity(row["predicted"], "s"),
         percent(row["covered"] / row["duration"] if row["duration"] and row["covered"] is not None
                 else None), percent(row["error"], signed="+")]
        for row in said.steps.head(STEPS).iter_rows(named=True)
    ]  # fmt: skip
    if said.steps.height > STEPS:
        rows.append([f"… {count(said.steps.height - STEPS, 'more step')}", *[""] * 10])
    columns = [Column("trace", "<", flexible=True), Column("step", ">"), Column("device", ">"),
               Column("time", ">"), Column("compute", ">"), Column("exposed", ">"),
               Column("idle", ">"), Column("not launched", ">"), Column("predicted", ">"),
               Column("of step", ">"), Column("bias", ">")]  # fmt: skip
    words = [
        "A step lasts from its first kernel to the first of the next one. Exposed: communication "
        "while nothing else runs. Idle: nothing runs; not launched is the part of it in which the "
        "host had not launched what ran next.",
        "Predicted stands for the share of the step's time that its kernels cover; exposed "
        "communication and idle time are measured, not predicted.",
    ]
    return Section("Traces: time of steps", [Table(columns, rows), Items(words)])


def _ranks(said: TraceTime) -> Section | None:
    if said.ranks.is_empty():
        return None
    rows = [
        [row["rank"], f"{row['messages']:,}", quantity(row["transfer"], "s"),
         quantity(row["waiting"], "s"), quantity(row["compute"], "s")]
        for row in said.ranks.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("rank", ">"), Column("messages", ">"), Column("transfer", ">"),
               Column("waiting", ">"), Column("compute", ">")]  # fmt: skip
    slowest = said.ranks.sort("waiting").row(0, named=True)
    waits = said.ranks["waiting"].max()
    words = [
        "The shortest time of a message over its ranks is its transfer; what a rank takes longer, "
        "it waits for the last to come.",
        f"Rank {slowest['rank']} is the slowest: it waits {quantity(slowest['waiting'], 's')}, "
        f"others up to {quantity(waits, 's')}.",  # type: ignore[arg-type]
    ]
    return Section("Traces: ranks", [Table(columns, rows), Items(words)])
