"""Columns of speedups against the speeds beside them: each is a ratio of two rows of its table.

A row that prints `1×` is what the rows below it are compared with, until another prints it. Which
of the printed speeds a column divides is told by the rows: the one that nearly all of them keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from assay.ingest.schema.record import Span
from assay.validate.arithmetic.printed_runs import ROW, UNITS, label
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number

LAW = "speedup-of-rows"

RATIO = "speedup"

FASTER = ("samples_per_s", "tokens_per_s", "tokens_per_gpu_per_s", "model_flops_rate", "step_rate",
          "item_rate")  # fmt: skip

SLOWER = ("step_time",)
"""Quantities that a speedup divides the other way round."""

FEWEST = 3
"""Rows that keep a ratio before another that does not is wrong."""

SLACK = 3.0
"""Units in the last place by which a ratio may be off: it may be of speeds before rounding."""


class Held(NamedTuple):
    """A row, the ratio that its table prints, and the bounds of the one that its speeds give."""

    row: dict[str, Any]
    base: dict[str, Any]
    low: float
    high: float

    @property
    def off(self) -> float:
        """Units in the last place of the printed ratio from the one that follows."""
        printed, place = self.row[RATIO], self.row[f"{RATIO}_ulp"]
        return float(max(self.low - printed, printed - self.high, 0.0) / place)


def speedups(evidence: Evidence) -> list[Finding]:
    """Ratios that the speeds of their rows do not give, where those of the other rows do."""
    found: list[Finding] = []
    for frame in evidence.reading.frames.values():
        if RATIO not in frame.columns or frame[RATIO].count() <= FEWEST:
            continue
        wanted = [name for name in (*FASTER, *SLOWER) if name in frame.columns]
        every = [*ROW, RATIO, f"{RATIO}_ulp", *(n + end for n in wanted for end in ("", "_ulp"))]
        groups = evidence.runs.select(*ROW, "group", "case")
        table = frame.select(every).join(groups, on=ROW, how="inner", maintain_order="left")
        for rows in table.partition_by("group", maintain_order=True):
            found += _of_table(rows.sort(ROW).rows(named=True), wanted)
    return found


def _of_table(rows: Sequence[dict[str, Any]], wanted: Sequence[str]) -> Iterator[Finding]:
    best: list[Held] = []
    name = ""
    for each in wanted:
        held = list(_held(rows, each))
        kept = sum(one.off <= SLACK for one in held)
        if kept > sum(one.off <= SLACK for one in best):
            best, name = held, each
    missed = [one for one in best if one.off > SLACK]
    if len(missed) == 1 and len(best) > FEWEST:
        yield _finding(missed[0], name)


def _held(rows: Sequence[dict[str, Any]], name: str) -> Iterator[Held]:
    """Rows below one that prints 1, with the ratio that follows from column `name`."""
    base = None
    for row in rows:
        if row[RATIO] is None or not row[name]:
            continue
        if row[RATIO] == 1.0:
            base = row
            continue
        if base is None:
            continue
        one, other = (row, base) if name in FASTER else (base, row)
        low, high = (_bounds(each, name) for each in (one, other))
        yield Held(row, base, low[0] / high[1], low[1] / high[0])


def _bounds(row: dict[str, Any], name: str) -> tuple[float, float]:
    value, place = row[name], row[f"{name}_ulp"] or 0.0
    return value - place / 2, value + place


def _finding(held: Held, name: str) -> Finding:
    row, middle = held.row, (held.low + held.high) / 2
    spans = tuple(Span(r["source"], r["line"], r["column"] or 1) for r in (row, held.base))
    place = row[f"{RATIO}_ulp"]
    return Finding(
        law=LAW,
        kind="identity",
        severity="error",
        spans=spans,
        observed=(
            Number(RATIO, row[RATIO], row[RATIO] - place / 2, row[RATIO] + place / 2, "1"),
            Number(name, row[name], *_bounds(row, name), UNITS.get(name, "1/s")),
        ),
        implied=(Number(RATIO, middle, held.low, held.high, "1"),),
        explanation=(
            f"speedup {row[RATIO]:g} printed, {middle:.4g} implied by {label(name)} here and in "
            "the row of 1"
        ),
        meaning="Do not use the row before the document has been corrected.",
        cases=(row["case"],),
        quantities=(name,),
    )
