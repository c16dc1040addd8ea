"""Numbers a thousand times away from all others of their column: a unit that slipped."""

from __future__ import annotations

import polars as pl
from assay.validate.identities.bounds import printed
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, Number
from assay.validate.identities.runs import MEASURED, UNITS, label

THOUSAND = (300.0, 3000.0)
"""A ratio to the rest of a column that only a unit can explain."""

ALIKE = 4.0
"""Within this factor of their median the rest of a column is of one kind."""

LEAST_ROWS = 4


def unit_slips(evidence: Evidence) -> list[Finding]:
    """A number a thousand times away from a column whose other numbers are of one kind."""
    runs = evidence.runs
    found = []
    for name in MEASURED:
        if runs.is_empty() or runs[name].count() < LEAST_ROWS:
            continue
        value = pl.col(name)
        middle = value.median().over("source", "group")
        ratio = pl.max_horizontal(value / middle, middle / value)
        odd = ratio.is_between(*THOUSAND) & (ratio.is_not_null())
        rest = (ratio > ALIKE).sum().over("source", "group") == odd.sum().over("source", "group")
        enough = value.count().over("source", "group") >= LEAST_ROWS
        few = odd.sum().over("source", "group") <= 1
        table = runs.with_columns(middle=middle).filter(odd & rest & enough & few)
        for row in table.iter_rows(named=True) if not table.is_empty() else ():
            if row["case"] in _vouched(evidence)[name]:
                continue
            times = "1000 times" if row[name] > row["middle"] else "a thousandth of"
            found.append(
                Finding(
                    law="unit-slip",
                    kind="statistical",
                    severity="warning",
                    spans=(evidence.span(row["case"]),),
                    observed=(printed(row, name),),
                    implied=(Number(name, row["middle"], row["middle"] / ALIKE,
                                    row["middle"] * ALIKE, UNITS[name]),),
                    explanation=f"{label(name)} is about {times} the others of its column",
                    meaning="The cell is probably in another unit than its column.",
                    cases=(row["case"],),
                    quantities=(name,),
                )
            )  # fmt: skip
    return found


def _vouched(evidence: Evidence) -> dict[str, set[str]]:
    """Number → runs in which a relation or formula that the document keeps confirms it."""
    found: dict[str, set[str]] = {name: set() for name in MEASURED}
    held = evidence.checked.filter("believed", "hit").select("case", "cells")
    for case, cells in held.iter_rows():
        for name in found.keys() & set(cells):
            found[name].add(case)
    for each, choice in evidence.choices:
        if not choice.believed:
            continue
        met = each.rows.table.select("case", "says")[choice.at[choice.hits == 1]]
        for case, says in met.iter_rows():
            for name in {choice.quantity, says}:
                found[name].add(case)
    return found
