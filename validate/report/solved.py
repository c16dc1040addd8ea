"""What a dump without its configuration was solved from, and how much of it is left to check."""

from __future__ import annotations

import polars as pl
from assay.model.reproductions.deepflow_unconfigured import BASIS, solutions
from assay.validate.assess import Report
from assay.validate.report.layout import Column, Section, Table, place


def solved(report: Report) -> Section | None:
    """One row per solved dump: numbers consumed, degrees of freedom left, what stays open."""
    cases = report.comparison.pairs.filter(pl.col("basis") == BASIS).select("case").unique()
    if cases.is_empty():
        return None
    own = report.observations.join(cases, on="case", how="semi", maintain_order="left")
    rows = [
        [
            place(case),
            f"{len(one.consumed)}",
            f"{one.checks}",
            ", ".join(one.open) or "–",
            ", ".join(f"{quantity} {subject}".strip() for _, subject, quantity in one.consumed),
        ]
        for case, one in solutions(own).items()
    ]
    columns = [
        Column("dump", "<", flexible=True),
        Column("consumed", ">"),
        Column("left to check", ">"),
        Column("open"),
        Column("from", "<", flexible=True),
    ]
    said = (
        "Dimensions and rates of these dumps were solved from numbers that they print; what was "
        "consumed is not scored. An LSTM's gates, additions and non-linear functions are assumed."
    )
    return Section("Solved from the printed numbers", [said, Table(columns, rows)], detail=True)
