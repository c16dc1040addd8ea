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
        if runs.is_empty():
            break
        value = pl.col(name)
        middle = value.median().over("source", "group")
        ratio = pl.max_horizontal(value / middle, middle / value)
        odd = ratio.is_between(*THOUSAND) & (ratio.is_not_null())
        rest = (ratio > ALIKE).sum().over("source", "group") == odd.sum().over("source", "group")
        enough = value.count().over("source", "group") >= LEAST_ROWS
        few = odd.sum().over("source", "group") <= 1
        table = runs.with_columns(middle=middle).filter(odd & rest & enough & few)
        table = table.filter(~pl.col("case").is_in(_vouched(evidence, name)))
        for row in table.iter_rows(named=True):
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


def _vouched(evidence: Evidence, name: str) -> list[str]:
    """Runs in which some relation or formula that the document keeps confirms the number."""
    held = evidence.checked.filter("believed", "hit", pl.col("cells").list.contains(name))
    found = set(held["case"])
    for each, choice in evidence.choices:
        names = each.rows.table["case"].gather(choice.at).to_list()
        said = each.rows.table["says"].gather(choice.at).to_list()
        if choice.believed:
            found |= {
                case
                for case, hit, says in zip(names, choice.hits, said, strict=True)
                if hit == 1 and name in (choice.quantity, says)
            }
    return sorted(found)
