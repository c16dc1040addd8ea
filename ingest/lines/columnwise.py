"""Records that are rows of labelled cells, read column by column: templates over many lines.

In: lines. Out: accepted frames, one per template met. Lines with as many separators as a template
are split into cells; what each cell holds is proven against the template's patterns. What the
columns do not prove is left to the fold of the format, line by line: lines of which no template
could be learnt, rows that do not decode or fail a check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl
from assay.ingest.lines.bytewise import Shapes
from assay.ingest.lines.template import Found, Layout, learn, proven, split
from assay.ingest.schema.acceptance import OTHER, accept, complete
from assay.ingest.schema.format import Format
from assay.ingest.source.opening import Source

MOST_LAYOUTS = 256
"""Layouts kept of one input; a log has a handful."""

MOST_ATTEMPTS = 8
"""Lines of a block that are tried in vain, for each number of separators."""

FREE, WORTH = 24, 64
"""Lines that are tried in any case, and lines met for each that is tried beyond: to learn a layout
costs what the fold takes for about so many lines. Where each line is laid out as no other, the fold
reads them sooner."""


@dataclass
class Columnwise:
    """Reads the records of one format from one input, and keeps the layouts met so far."""

    fmt: Format
    source: Source
    rivals: Sequence[str] = ()  # heads of other formats, whose lines are left to the folds
    layouts: list[Layout] = field(default_factory=list)
    met: int = 0  # lines, and those of them that a layout was to be learnt from
    tried: int = 0

    @cached_property
    def shapes(self) -> Shapes:
        """Spellings of the known layouts whose lines are read from bytes."""
        return Shapes(self.fmt, self.source.name)

    def read(self, hits: pl.DataFrame) -> Found:
        """The rows among `hits` (line and text) by layout."""
        held = hits.filter(pl.col("text").str.contains_any(list(self.fmt.heads)))
        found = [(layout, self._accepted(layout, raw)) for layout, raw in self._split(held)]
        return [(layout, frame) for layout, frame in found if frame.height]

    def _split(self, rest: pl.DataFrame) -> Found:
        """Raw frames by layout; a new layout is learnt from the first line that has none."""
        assert self.fmt.cells is not None
        count = pl.col("text").str.count_matches(self.fmt.cells.separator, literal=True)
        rest = rest.with_columns(count=count)
        self.met += rest.height
        found = []
        for layout in self.layouts:
            raw, rest = _taken(layout, rest)
            if raw.height:
                found.append((layout, raw))
        vain: dict[int, int] = {}
        while rest.height and len(self.layouts) < MOST_LAYOUTS and self._worth_trying():
            line, text, separators = rest.row(0)
            new = self._learnt(line, text)
            if new is not None:
                raw, left = _taken(new, rest)
                if raw.height and left["line"].first() != line:  # it proves its own example
                    self.layouts.append(new)
                    found.append((new, raw))
                    rest = left
                    continue
            vain[separators] = vain.get(separators, 0) + 1
            tired = vain[separators] >= MOST_ATTEMPTS
            rest = rest.filter(pl.col("count") != separators) if tired else rest.slice(1)
        return found

    def _worth_trying(self) -> bool:
        self.tried += 1
        return self.tried <= FREE + self.met // WORTH

    def _learnt(self, line: int, text: str) -> Layout | None:
        if any(head in text for head in self.rivals):
            return None
        return learn(self.fmt, self.source, line, text)

    def _accepted(self, layout: Layout, raw: pl.DataFrame) -> pl.DataFrame:
        """The rows that decode and pass every check; of the others the fold says why not."""
        whole = raw.with_columns(source=pl.lit(self.source.name))
        if not layout.others:
            none = pl.lit(pl.Series([[]], dtype=OTHER)).first()
            whole = whole.with_columns(other=none)
        schema = next(iter(self.fmt.schemas.values()))
        proof = proven(layout, schema)
        frame = accept(complete(whole), schema, proven=proof, costs="row").frame
        return frame.select(c for c in frame if c.null_count() < frame.height)


def _taken(layout: Layout, rest: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The raw frame of the lines of this layout, and what is left of `rest`, in order."""
    alike = pl.col("count") == len(layout.segments) - 1
    raw, odd = split(layout, rest.filter(alike))
    if not raw.height:
        return raw, rest
    return raw, pl.concat([rest.filter(~alike), odd]).sort("line")
