"""The plot of what became of the lines of each input."""

from __future__ import annotations

from functools import partial

import polars as pl
from assay.validate.report.html import charts
from assay.validate.report.html.plots import Plot, first_rows, short_names
from assay.validate.report.layout import Column, Table
from assay.validate.score.assess import Report

BARS = 30

PARTS = ("read", "blank", "of no known format", "refused")


def lines(report: Report) -> list[Plot]:
    """One bar per input, the longest inputs first; none where nothing has a line."""
    counted = [
        (one.source, one.lines, one.claimed, one.blank, one.not_ours, one.refused,
         len(one.suspicious))
        for one in report.outcome.reading.accounting if one.lines
    ]  # fmt: skip
    if not counted:
        return []
    counted.sort(key=lambda row: (-row[1], row[0]))
    shown = short_names((source for source, *_ in counted[:BARS]), 44)
    frame = pl.DataFrame(
        [
            (shown[source], part, n / total, f"{source}: {n:,} of {total:,} lines {part}")
            for source, total, *counts in counted[:BARS]
            for part, n in zip(PARTS, counts, strict=False)
            if n
        ],
        schema={"label": pl.String, "part": pl.String, "share": pl.Float64, "said": pl.String},
        orient="row",
    )
    columns = [Column("input"), Column("lines", ">"), *(Column(part, ">") for part in PARTS),
               Column("suspicious", ">")]  # fmt: skip
    rows = [[source, *(f"{n:,}" for n in counts)] for source, *counts in counted]
    left = "" if len(counted) <= BARS else f" The longest {BARS} of {len(counted):,} are drawn."
    return [
        Plot(
            title="What became of the lines",
            about="Every line is read, refused, blank, or of no known format. A line of no known "
            f"format with a number beside a performance unit is suspicious.{left}",
            table=Table(columns, first_rows(rows), "Lines of every input"),
            chart=partial(charts.shares, charts.shown(frame), PARTS, "share of the lines"),
        )
    ]
