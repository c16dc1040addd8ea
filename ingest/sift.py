"""What one block of an input holds, as far as the block alone tells.

In: a block. Out: a `Sifted`: rows whose lines are of a known shape, the other lines with what may
be in each, by position in the block. Blocks are sifted side by side; only what is learnt of the
shapes of records passes from one to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import polars as pl
from assay.ingest.below import Memory, open_ended
from assay.ingest.block import Block, Mask, Places
from assay.ingest.carve import begun, openings
from assay.ingest.columnwise import Columnwise
from assay.ingest.layout import Found, Layout
from assay.ingest.noise import blank, fitting, interest, may_state, suspicious
from assay.ingest.reach import NOTHING, Edges, edges
from assay.ingest.source import Source
from assay.ingest.types import Format

Begins = Mapping[str, Edges]  # by head

FEW = 300
"""Lines of records that are read one by one sooner than their layouts are learnt."""


@dataclass(frozen=True)
class Sifted:
    """One block: `shaped` by format, and what may be in the other lines.

    `open_ended` are line numbers of those of `shaped` whose record may go on below, by format.
    `hits` are those (line, text) on which a record may begin, `begins` where other lines may belong
    to what begins there, by format.
    """

    block: Block
    shaped: Mapping[str, Found]
    known: Mask  # lines of `shaped`
    open_ended: Mapping[str, Sequence[int]]
    hits: pl.DataFrame
    begins: Mapping[str, Begins]
    papers: Mask  # lines that may open a document
    states: Mask  # that may state something
    blank: Mask
    suspicious: Mask


class Sieve:
    """What is looked for in the blocks of one input."""

    def __init__(
        self, source: Source, formats: Sequence[Format], readers: Mapping[str, Columnwise], few: int
    ) -> None:
        self.source, self.readers, self.few = source, readers, few
        self.single = [fmt for fmt in formats if fmt.lines == "single"]
        self.interest = interest(formats)
        self.openings = openings(self.single)
        self.papers = openings([fmt for fmt in formats if fmt.lines == "document"])
        self.noisy = False  # whether most lines of the last block were not of records
        self.learning = Lock()
        self.memory: Mapping[str, Memory] = {name: {} for name in readers}

    def sift(self, block: Block) -> Sifted:
        """What there is in one block."""
        if self.noisy:
            _ = block.lines  # all of them will be looked at: they are cut at once
        shaped, known = self._shaped(block)
        self.noisy = known.mean() < 0.5
        texts = block.some(~known)["text"]
        worth = np.zeros(block.height, np.bool_)
        worth[~known] = texts.str.contains(fitting(self.interest, plain=block.plain))
        some = block.some(worth)
        hits = some.filter(_found(some["text"], self.openings))

        def mask(found: pl.Series) -> Mask:
            there = np.zeros(block.height, np.bool_)
            there[worth] = found
            return there

        empty, odd = suspicious(some["text"], plain=block.plain)
        return Sifted(
            block, shaped, known, self.open_ended(block, shaped), hits,
            begins={fmt.name: begins(fmt, hits) for fmt in self.single},
            papers=mask(_found(some["text"], self.papers)),
            states=mask(may_state(some["text"], plain=block.plain)),
            blank=mask(empty) | blank(block, ~(known | worth)),
            suspicious=mask(odd),
        )  # fmt: skip

    def open_ended(self, block: Block, found: Mapping[str, Found]) -> dict[str, list[int]]:
        """Line numbers of those rows of a block whose record may go on below, by format."""
        lines: dict[str, list[int]] = {name: [] for name in found}
        for name, rows in found.items():
            cells = self.readers[name].fmt.cells
            if rows and cells is not None and cells.goes_on is not None:
                lines[name] = open_ended(cells, block, rows, self.memory[name])
        return lines

    def _shaped(self, block: Block) -> tuple[dict[str, Found], Mask]:
        """The rows whose lines are of a known shape, by format, and where they stand.

        Where many lines are of none, some are read for what their shapes may be: in a long log it
        changes when a number has one digit more.
        """
        known = np.zeros(block.height, np.bool_)
        shaped: dict[str, Found] = {name: [] for name in self.readers}
        free = np.ones(block.height, np.bool_)
        free[block.height - 1] = not self.source.cut(block.first + block.height - 1)
        while True:
            before = known.sum()
            for name, reader in self.readers.items():
                found = reader.shapes.read(block, free & ~known)
                known |= where(block, found)
                shaped[name] += found
            unknown = np.flatnonzero(free & ~known)
            new = known.sum() > before or not before
            if len(unknown) < FEW or not new or not self._shapes_of(block, unknown[:FEW]):
                return shaped, known

    def _shapes_of(self, block: Block, at: Places) -> bool:
        """Whether there is something to be learnt from these lines."""
        which = np.zeros(block.height, np.bool_)
        which[at] = True
        lines, before = block.some(which), self._known
        for fmt in self.single:
            some = begun(lines, fmt) if fmt.name in self.readers else lines.clear()
            if some.height * block.height >= self.few * len(at) and some.height:
                reader = self.readers[fmt.name]
                with self.learning:
                    for layout, frame in reader.read(some):
                        reader.shapes.learn(block, layout, frame)
        return self._known > before

    @property
    def _known(self) -> int:
        return sum(reader.shapes.count for reader in self.readers.values())


def where(block: Block, found: Iterable[tuple[Layout, pl.DataFrame]]) -> Mask:
    """The lines of a block that hold these rows."""
    mask = np.zeros(block.height, np.bool_)
    for _, frame in found:
        mask[positions(block, frame)] = True
    return mask


def positions(block: Block, lines: pl.DataFrame) -> Places:
    """Where lines of a block stand in it."""
    return lines["line"].to_numpy().astype(np.int64) - block.first


def begins(fmt: Format, hits: pl.DataFrame) -> Begins:
    """Lines that open something in whose reach lines may be of a format, by head."""
    if not fmt.reach or hits.is_empty():
        return dict.fromkeys(fmt.reach, NOTHING)
    held = hits.filter(hits["text"].str.contains_any(list(fmt.heads)))
    return {head: edges(held, head, reach) for head, reach in fmt.reach.items()}


def _found(texts: pl.Series, pattern: str) -> pl.Series:
    """Where one of the alternatives of a pattern is found; nowhere if there are none."""
    return texts.str.contains(pattern) if pattern else texts.is_null()
