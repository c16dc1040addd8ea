"""The first pass over an input, block by block: what can be read at once, and what is left.

In: the blocks of an input. Out: a `Scan`: accepted rows of the formats that declare `cells`, counts
of the lines that nobody can want, and all other lines, for the folds and the binder. So memory
holds a block, the rows, and the lines worth a second look; but an input in which a document format
finds its head is kept whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from assay.ingest.ahead import ahead
from assay.ingest.block import Block, Mask, Places
from assay.ingest.carve import begun, opening
from assay.ingest.columnwise import Columnwise
from assay.ingest.gather import Gathered
from assay.ingest.layout import Found, Layout
from assay.ingest.noise import Tally, total
from assay.ingest.reach import Open, after, marked
from assay.ingest.rows import Rows
from assay.ingest.sift import FEW, Begins, Sieve, Sifted, begins, positions, where
from assay.ingest.source import Source
from assay.ingest.types import Format, Region

Engine = Literal["auto", "cells", "folds"]
"""`folds` leaves every line to the fold of its format; `cells` gives the same, faster, where there
are more than a `FEW` lines; `auto` chooses."""

_LINES = {"line": pl.UInt32, "text": pl.String}


FEW_LATER = 24
"""Such lines of a block behind the first: a long input holds more of them."""


@dataclass
class Scan:
    """`lines` (line, text) are left for the folds; those in `read` are there to be seen only."""

    source: Source
    lines: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_LINES))
    rows: dict[str, list[Rows]] = field(default_factory=dict)  # by format
    taken: int = 0  # lines that the rows stand for
    read: frozenset[int] = frozenset()
    met: frozenset[str] = frozenset()  # document formats that look at this input, at all its lines
    rest: Tally = field(default_factory=Tally)  # of the lines that are in neither
    spelled: dict[int, bytes] = field(default_factory=dict)  # lines whose text is not all there is
    regions: Mapping[bool, Region] = field(default_factory=dict)  # by glued, where peeled already

    @property
    def spooled(self) -> bool:
        """Whether rows are kept in files."""
        return any(isinstance(each.held, Path) for many in self.rows.values() for each in many)

    def raw(self, line: int) -> bytes:
        """A line that is left, as it stands on disk, without its line end."""
        raw = self.source.too_long(line) or self.spelled.get(line)
        if raw is not None:
            return raw
        return str(self.lines["text"][int(self.lines["line"].search_sorted(line))]).encode()


def scan(
    source: Source,
    formats: Sequence[Format],
    engine: Engine = "auto",
    spool: Path | None = None,
) -> Scan:
    """Read an input once, or twice where a document begins behind its first block.

    Rows of an input of several blocks go to files in `spool`, if that is given.
    """
    scanner = _Scanner(source, formats, engine)
    scanner.gathered = Gathered(spool)
    for sifted in ahead(source.blocks(), scanner.sieve.sift):
        scanner.take(sifted)
        if scanner.too_late:
            return _whole(source, formats, engine)
    return scanner.found()


def _whole(source: Source, formats: Sequence[Format], engine: Engine) -> Scan:
    scanner = _Scanner(source, formats, engine, keep="all")
    for sifted in ahead(source.blocks(), scanner.sieve.sift):
        scanner.take(sifted)
    return scanner.found()


class _Scanner:
    """What is known while the blocks of one input go by."""

    def __init__(
        self,
        source: Source,
        formats: Sequence[Format],
        engine: Engine,
        keep: Literal["all", "some"] = "some",
    ) -> None:
        self.source = source
        self.keep = "all" if engine == "folds" else keep
        self.single = [fmt for fmt in formats if fmt.lines == "single"]
        self.documents = [fmt for fmt in formats if fmt.lines == "document"]
        self.readers = {
            fmt.name: Columnwise(fmt, source, _rivals(fmt, self.single))
            for fmt in self.single
            if fmt.cells is not None and engine != "folds"
        }
        self.few = FEW if engine == "auto" else 0
        self.sieve = Sieve(source, formats, self.readers, self.few)
        self.gathered = Gathered()
        self.left: list[pl.DataFrame] = []
        self.read: list[Places] = []
        self.rest: list[Tally] = []
        self.spelled: dict[int, bytes] = {}
        self.open: dict[tuple[str, str], Open] = {}  # what is open above the next block
        self.met: frozenset[str] = frozenset()  # document formats that look at this input
        self.told: set[Layout] = set()  # whose example was looked at
        self.too_late = False

    def take(self, sifted: Sifted) -> None:
        """Take in one block."""
        block = sifted.block
        mine = np.zeros(block.height, np.bool_)
        for fmt in self.single:
            if fmt.name in self.readers:
                found = self._read(fmt, sifted)
                mine |= where(block, found)
                self.gathered.add(fmt.name, found)
        self._look_for_documents(block.some(sifted.papers & ~mine)["text"])
        if self.met and self.keep == "some":
            self.keep, self.too_late = "all", block.first > 1
        left = self._left(sifted, mine)
        if self.keep == "some":
            left |= sifted.states & ~mine
            others = ~(left | mine)
            lines = (fault.span.line - block.first for fault in self.source.refused)
            others[[at for at in lines if 0 <= at < block.height]] = False
            self.rest.append(counted(sifted, others))
        kept = block.some(left)
        if kept.height and not block.plain:
            self.spelled.update((line, block.raw(line)) for line in kept["line"])
        self.left.append(kept)
        self.read.append(np.flatnonzero(left & mine) + block.first)

    def _read(self, fmt: Format, sifted: Sifted) -> Found:
        """The rows of one format: those of known shapes, and those that columns give."""
        block, hits = sifted.block, sifted.hits
        reader, known = self.readers[fmt.name], sifted.shaped[fmt.name]
        found = known
        enough = self.few if block.first == 1 else min(self.few, FEW_LATER)
        if hits.height and hits.height >= enough:
            last = block.first + block.height - 1
            free = hits.filter(pl.col("line") != last) if self.source.cut(last) else hits
            with self.sieve.learning:
                new = reader.read(begun(free, fmt))
                for layout, frame in new:
                    reader.shapes.learn(block, layout, frame)
            found = [*known, *new] if new else known
        found = self._apart(fmt, sifted, found)
        open_end = (
            sifted.open_ended[fmt.name]
            if found is known
            else self.sieve.open_ended(block, {fmt.name: found})[fmt.name]
        )
        if open_end:
            stands = ~pl.col("line").is_in(open_end)
            found = [(layout, frame.filter(stands)) for layout, frame in found]
        return [(layout, frame) for layout, frame in found if frame.height]

    def _apart(self, fmt: Format, sifted: Sifted, found: Found) -> Found:
        """The rows that no other format may look at, since it begins above."""
        block = sifted.block
        others = [each for each in self.single if each is not fmt and each.reach]
        if not found or not others:
            return found
        mine = where(block, found)
        near = np.zeros(block.height, np.bool_)
        for other in others:
            near |= self._reached(other, block, sifted.begins[other.name], ~mine)
        if not near.any():
            return found
        apart = [
            (layout, frame.filter(pl.Series(~near[positions(block, frame)])))
            for layout, frame in found
        ]
        return [(layout, frame) for layout, frame in apart if frame.height]

    def _reached(self, fmt: Format, block: Block, begins: Begins, which: Mask) -> Mask:
        """Lines within reach of one of `which` that opens something, or of what is open above."""
        within = np.zeros(block.height, np.bool_)
        lines = np.arange(block.first, block.first + block.height)
        for head, reach in fmt.reach.items():
            mine = begins[head].among(which, block.first)
            above = self.open.get((fmt.name, head), Open())
            within |= marked(mine, reach, above, lines)
        return within

    def _left(self, sifted: Sifted, mine: Mask) -> Mask:
        """Lines for the folds, and those that they are to see besides."""
        block = sifted.block
        left = np.full(block.height, self.keep == "all")
        freed = block.some(sifted.known & ~mine)
        for fmt in self.single:
            more = begins(fmt, freed)
            every = {
                head: edges.joined(more[head]) for head, edges in sifted.begins[fmt.name].items()
            }
            if self.keep == "some":
                for texts in (sifted.hits, freed):
                    at = positions(block, begun(texts, fmt))
                    left[at[~mine[at]]] = True
            left |= self._reached(fmt, block, every, ~mine)
            for head, edges in every.items():
                above = self.open.get((fmt.name, head), Open())
                self.open[fmt.name, head] = after(edges.among(~mine, block.first), above)
        return left

    def _look_for_documents(self, texts: pl.Series) -> None:
        """Note the heads and openings of documents in lines, and in examples of new layouts."""
        layouts = self.gathered.layouts - self.told
        new = pl.Series([layout.example for layout in layouts], dtype=pl.String)
        self.told |= layouts
        texts = pl.concat([texts, new])
        if texts.is_empty():
            return
        self.met |= {fmt.name for fmt in self.documents if opening(texts, fmt)}

    def found(self) -> Scan:
        """All of it."""
        lines = pl.concat([pl.DataFrame(schema=_LINES), *self.left])
        read = frozenset(line for each in self.read for line in each.tolist())
        rows = self.gathered.rows()
        taken = sum(each.height for many in rows.values() for each in many)
        return Scan(self.source, lines, rows, taken, read, self.met, total(self.rest), self.spelled)


def counted(sifted: Sifted, which: Mask) -> Tally:
    """What lines of a block are that nobody wants."""
    blank = int((sifted.blank & which).sum())
    odd = np.flatnonzero(sifted.suspicious & which) + sifted.block.first
    return Tally(blank, int(which.sum()) - blank, tuple(odd.tolist()))


def _rivals(fmt: Format, single: Iterable[Format]) -> list[str]:
    return [head for other in single if other is not fmt for head in other.heads]
