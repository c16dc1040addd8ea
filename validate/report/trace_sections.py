"""The part of a report that is about traces: classes, layers, steps, ranks, what costs most."""

from __future__ import annotations

import polars as pl
from assay.validate.report.layout import (
    Column,
    Items,
    Section,
    Table,
    count,
    percent,
    quantity,
)
from assay.validate.score.assess import Report
from assay.validate.score.trace_time import TraceTime, trace_time

COSTLY = 10
"""Shapes that are shown."""
LAYERS, STEPS = 15, 12


def found(report: Report) -> TraceTime | None:
    """What the traces of a report say; None where none was read."""
    baselines = [model.name for model in report.models if model.baseline]
    return trace_time(report.outcome.reading, report.comparison.pairs, baselines)


def sections(report: Report) -> list[Section]:
    """Every section about traces; none where none was read."""
    said = found(report)
    if said is None:
        return []
    every = [_classes(said), _costly(said), _layers(said), _steps(said), _ranks(said)]
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
    columns = [Column("at", "<", flexible=True), Column("class"), Column("shape"),
               Column("dtype"), Column("calls", ">"), Column("measured", ">"),
               Column("predicted", ">"), Column("error", ">"), Column("costs", ">")]  # fmt: skip
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
