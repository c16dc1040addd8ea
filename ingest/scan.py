"""A first pass over the lines of an input: rows that can be read column by column, and the rest.

In: lines. Out: a `Scan`: accepted rows of formats that declare `cells`, and the lines that are left
for the folds, which may look at lines above and below them too: these are among what is left, with
a note that they have been read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl
from assay.ingest.carve import opening
from assay.ingest.columnwise import Columnwise, Rows
from assay.ingest.source import Source
from assay.ingest.types import Format


@dataclass
class Scan:
    """`lines` (line, text) are left for the folds; those in `read` are there to be seen only."""

    lines: pl.DataFrame
    rows: dict[str, list[Rows]] = field(default_factory=dict)  # by format
    read: frozenset[int] = frozenset()
    met: frozenset[str] = frozenset()  # document formats that have a head in a row

    @property
    def taken(self) -> int:
        """How many lines the rows stand for."""
        return sum(rows.frame.height for many in self.rows.values() for rows in many)


Engine = Literal["cells", "folds"]
"""`folds` leaves every line to the fold of its format; `cells` gives the same, faster."""


def scan(source: Source, formats: Sequence[Format], engine: Engine = "cells") -> Scan:
    """Read what can be read column by column."""
    lines = source.lines.select("line", "text")
    found = Scan(lines)
    single = [fmt for fmt in formats if fmt.lines == "single"]
    fast = [fmt for fmt in single if fmt.cells is not None and engine == "cells"]
    if not lines.height:
        return found
    for fmt in fast:
        others = [other for other in single if other is not fmt]
        reader = Columnwise(fmt, source, [head for other in others for head in other.heads])
        barred = _within_reach(lines, others) | _cut(source, lines)
        rows = reader.read(lines, barred, last=True)
        if rows:
            found.rows[fmt.name] = rows
    if not found.rows:
        found.met = _met(formats, [lines["text"]])
        return found
    taken = pl.concat([r.frame["line"] for many in found.rows.values() for r in many])
    mine = lines["line"].is_in(taken.implode())
    examples = [rows.layout.example for many in found.rows.values() for rows in many]
    found.met = _met(formats, [lines["text"].filter(~mine), pl.Series(examples)])
    kept = pl.repeat(value=bool(found.met), n=lines.height, eager=True)
    for fmt in fast:
        kept |= _within_reach(lines, [fmt], ~mine)
    found.lines = lines.filter(~mine | kept)
    found.read = frozenset(lines.filter(mine & kept)["line"])
    return found


def _met(formats: Sequence[Format], texts: Sequence[pl.Series]) -> frozenset[str]:
    """Document formats that look at an input with these lines; rows are told by an example."""
    met = set()
    for fmt in formats:
        if fmt.lines == "document":
            held, opened = zip(*(opening(each, fmt) for each in texts), strict=True)
            if any(held) and any(opened):
                met.add(fmt.name)
    return frozenset(met)


def _within_reach(
    lines: pl.DataFrame, formats: Sequence[Format], mask: pl.Series | None = None
) -> pl.Series:
    """Lines that follow one of `mask` which opens something, as far as its format looks."""
    within = pl.repeat(value=False, n=lines.height, eager=True)
    for fmt in formats:
        for head, reach in fmt.reach.items():
            begins = lines["text"].str.contains(head)
            if mask is not None:
                begins &= mask
            if begins.any():
                at = pl.when(begins).then(pl.col("line")).forward_fill()
                near = (pl.col("line") - at <= reach).fill_null(value=False)
                within |= lines.select(near).to_series()
    return within


def _cut(source: Source, lines: pl.DataFrame) -> pl.Series:
    last = int(lines["line"][-1])
    return (lines["line"] == last) & source.cut(last)
