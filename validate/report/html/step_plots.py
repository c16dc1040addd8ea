"""Plots of training steps: what a step is spent on by the step model, and the course of runs."""

from __future__ import annotations

from functools import partial

import polars as pl
from assay.model.schedule import STEP, breakdown
from assay.validate.cases.step_frames import step_frames
from assay.validate.predict.step_forecast import SCOPE, runs_of
from assay.validate.report.html import charts
from assay.validate.report.html.errors import labels
from assay.validate.report.html.plots import Plot, first_rows
from assay.validate.report.layout import Column, Table, percent, place, quantity, scale, told_apart
from assay.validate.runs.run import Run
from assay.validate.score.assess import Report

BARS = 16
"""Configurations of the plot of times."""

COURSES = 6
"""Runs that are drawn."""

BINS = 240
"""Points of a course; more iterations share one, as median, least and most."""

MEANT = {
    "compute": "matrix products and what comes with them",
    "attention": "attention",
    "memory": "kernels that memory bounds",
    "exchange": "tensor-parallel exchange",
    "handover": "handing over between pipeline stages",
    "bubble": "filling and draining the pipeline",
    "gradients": "reducing gradients",
    "optimizer": "the optimizer",
    "waiting": "launching, and sharding that is not hidden",
}
"""Parts of a step in the order of the bars."""


def spent(report: Report) -> list[Plot]:
    """Parts of a step's time by the step model: one bar per distinct configuration."""
    found = _spent(report)
    if found.is_empty():
        return []
    bars = found.unique("bar", keep="first", maintain_order=True)["bar"]
    drawn = found.filter(pl.col("bar").is_in(bars.head(BARS).implode()))
    frame = drawn.with_columns(
        label=pl.col("bar"),
        said=pl.struct("bar", "part", "share", "seconds").map_elements(
            lambda row: f"{row['bar']}: {MEANT[row['part']]}, {percent(row['share'])} "
            f"({quantity(row['seconds'], 's')})",
            return_dtype=pl.String,
        ),
    )  # fmt: skip
    left = "" if len(bars) <= BARS else f" {BARS} of {len(bars):,} configurations are drawn."
    return [
        Plot(
            title="What a step is spent on, by the step model",
            about="Parts of the predicted step time of the stage that sets the pace, as shares of "
            f"it. They are predictions: no input prints them.{left}",
            table=_spent_table(found),
            chart=partial(charts.shares, charts.shown(frame), tuple(MEANT), "share of the step"),
        )
    ]


def _spent(report: Report) -> pl.DataFrame:
    """bar, part, seconds, share: the parts of the step of every distinct configuration."""
    known = runs_of(report.cases.configuration, report.stack)
    schema = {"bar": pl.String, "part": pl.String, "seconds": pl.Float64, "share": pl.Float64}
    if known.frame.is_empty() or not known.table:
        return pl.DataFrame(schema=schema)
    part = None if report.stack is None else report.stack.parts.get(SCOPE)
    values = STEP.starts | ({} if part is None else part.values)
    wide = pl.DataFrame(dict(breakdown(known.table, values)))
    bars = known.frame.select("case").join(
        _bars(report), on="case", how="left", maintain_order="left"
    )
    rows = pl.concat([bars, wide], how="horizontal").unique(
        "bar", keep="first", maintain_order=True
    )
    long = rows.unpivot(
        on=[name for name in MEANT if name in wide.columns], index="bar",
        variable_name="part", value_name="seconds",
    ).join(rows.select("bar").with_row_index("at"), on="bar", maintain_order="left")  # fmt: skip
    total = pl.col("seconds").sum().over("bar")
    return (
        long.with_columns(share=pl.col("seconds") / total)
        .sort("at", maintain_order=True)
        .select(*schema)
    )


def _bars(report: Report) -> pl.DataFrame:
    """case → what ran, and of its layout what is not the same everywhere."""
    columns = ("gpus", "tp", "pp", "dp", "micro_batch", "global_batch", "seq_len")
    names = {"gpus": "GPUs", "tp": "TP", "pp": "PP", "dp": "DP", "micro_batch": "MBS",
             "global_batch": "GBS", "seq_len": "seq "}  # fmt: skip
    rows = []
    wide = report.cases.configuration.select("case", *columns)
    telling = [name for name in columns if wide[name].drop_nulls().n_unique() > 1]
    ran = dict(labels(report).iter_rows())
    for case, *values in wide.select("case", *telling).iter_rows():
        layout = [
            f"{value} GPUs" if name == "gpus" else f"{names[name]}{value}"
            for name, value in zip(telling, values, strict=True)
            if value is not None
        ]
        rows.append((case, f"{ran[case]} · {' '.join(layout)}" if layout else ran[case]))
    return pl.DataFrame(rows, schema={"case": pl.String, "bar": pl.String}, orient="row")


def _spent_table(found: pl.DataFrame) -> Table:
    wide = found.pivot(on="part", index="bar", values="seconds", maintain_order=True)
    parts = [name for name in MEANT if name in wide.columns]
    rows = []
    for row in wide.iter_rows(named=True):
        total = sum(row[name] for name in parts)
        cells = [percent(row[name] / total) if total else "–" for name in parts]
        rows.append([row["bar"], quantity(total, "s"), *cells])
    columns = [Column("configuration"), Column("step", ">"),
               *(Column(name, ">") for name in parts)]  # fmt: skip
    return Table(columns, first_rows(rows), "Parts of the predicted step time")


def courses(report: Report, found: tuple[Run, ...]) -> list[Plot]:
    """Step time and loss over iterations, of the runs with most rows."""
    longest = sorted(found, key=lambda run: -run.rows)[:COURSES]
    plots = []
    names = told_apart(run.source for run in found)
    for run in (run for run in found if run in longest and run.rows > 1):
        where = names[run.source] + place(run.case.removeprefix(run.source))
        rows = _rows(report, run, found)
        for name, title, unit in (("step_time", "Step time", "s"), ("lm_loss", "Loss", "1")):
            if rows is None or name not in rows.columns:
                continue
            held = rows.select("iteration", value=name).drop_nulls().filter(
                pl.col("value").is_finite()
            )  # fmt: skip
            if held.height > 1:
                plots.append(_course(where, held, title, unit))
    return plots


def _rows(report: Report, run: Run, every: tuple[Run, ...]) -> pl.DataFrame | None:
    """The rows of a run: from where its case begins to where the next of its source does."""
    starts = sorted(_start(one) for one in every if one.source == run.source)
    begin = _start(run)
    end = next((start for start in starts if start > begin), None)
    for _, frame, _ in step_frames(report.outcome.reading):
        if "iteration" not in frame.columns:
            continue
        told = ["source", "line", "mark", "iteration", "step_time", "lm_loss"]
        mine = frame.select([name for name in told if name in frame.columns]).filter(
            pl.col("source") == run.source, pl.col("line") >= begin,
            pl.col("mark").ne_missing("superseded"),
        )  # fmt: skip
        mine = mine if end is None else mine.filter(pl.col("line") < end)
        if mine.height:
            return mine.sort("iteration", "line")
    return None


def _start(run: Run) -> int:
    line = run.case.removeprefix(run.source).removeprefix("#")
    return int(line) if line.isdecimal() else 0


def _course(where: str, held: pl.DataFrame, title: str, unit: str) -> Plot:
    factor, shown = scale(float(str(held["value"].median())), unit)
    scaled = held.with_columns(pl.col("value") / factor)
    every = -(-held.height // BINS)
    binned = (
        scaled.with_row_index("at")
        .group_by(pl.col("at") // every, maintain_order=True)
        .agg(
            pl.col("iteration").first(),
            last=pl.col("iteration").last(),
            n=pl.len(),
            least=pl.col("value").min(),
            most=pl.col("value").max(),
            value=pl.col("value").median(),
        )
    )
    unit_said = "" if shown == "1" else f" {shown}"
    frame = binned.with_columns(
        said=pl.struct("iteration", "last", "value").map_elements(
            lambda row: (
                f"iteration {row['iteration']:,}"
                + (f" to {row['last']:,}" if row["last"] != row["iteration"] else "")
                + f": {row['value']:.5g}{unit_said}"
            ),
            return_dtype=pl.String,
        )
    )
    rows = [
        [f"{first:,}" if first == last else f"{first:,} – {last:,}", f"{n:,}",
         f"{value:.5g}{unit_said}", f"{least:.5g}", f"{most:.5g}"]
        for first, last, n, value, least, most in binned.select(
            "iteration", "last", "n", "value", "least", "most").iter_rows()
    ]  # fmt: skip
    columns = [Column("iterations", ">"), Column("rows", ">"), Column("median", ">"),
               Column("least", ">"), Column("most", ">")]  # fmt: skip
    together = f" A point stands for {every:,} rows: their median, and least to most." * (every > 1)
    return Plot(
        title=f"{title} over iterations: {where}",
        about=f"{held.height:,} rows.{together}",
        table=Table(columns, first_rows(rows, BINS), f"{title} of {where}"),
        chart=partial(charts.course, charts.shown(frame), f"{title.lower()}{unit_said and ','}"
                      f"{unit_said}"),
    )  # fmt: skip
