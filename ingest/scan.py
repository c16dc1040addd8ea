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
import numpy.typing as npt
import polars as pl
from assay.ingest.below import open_ended
from assay.ingest.carve import begun, opening, openings
from assay.ingest.columnwise import Columnwise
from assay.ingest.layout import Layout
from assay.ingest.noise import Tally, interest, may_state, quiet, tally
from assay.ingest.rows import Rows
from assay.ingest.source import BLOCK, Block, Source
from assay.ingest.types import Format, Region

Engine = Literal["auto", "cells", "folds"]
"""`folds` leaves every line to the fold of its format; `cells` gives the same, faster, where there
are more than a `FEW` lines; `auto` chooses."""

FEW = 300
"""Lines of records that are read one by one sooner than their layouts are learnt."""

Mask = npt.NDArray[np.bool_]  # a truth for each line of a block
Places = npt.NDArray[np.int64]
Begins = Mapping[str, Places]
Found = list[tuple[Layout, pl.DataFrame]]

_LINES = {"line": pl.UInt32, "text": pl.String}


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
    scanner.spool = spool
    for block in source.blocks():
        scanner.take(block)
        if scanner.too_late:
            return _whole(source, formats, engine)
    return scanner.found()


def _whole(source: Source, formats: Sequence[Format], engine: Engine) -> Scan:
    scanner = _Scanner(source, formats, engine, keep="all")
    for block in source.blocks():
        scanner.take(block)
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
        self.heads = sorted({head for fmt in formats for head in fmt.heads})
        self.openings = openings(self.single)
        self.papers = openings(self.documents)
        self.readers = {
            fmt.name: Columnwise(fmt, source, _rivals(fmt, self.single))
            for fmt in self.single
            if fmt.cells is not None and engine != "folds"
        }
        self.few = FEW if engine == "auto" else 0
        self.rows: dict[str, list[Rows]] = {}
        self.left: list[pl.DataFrame] = []
        self.read: list[Places] = []
        self.rest = Tally()
        self.spelled: dict[int, bytes] = {}
        self.spool: Path | None = None
        self.seen = 0  # bytes
        self.begun: dict[tuple[str, str], int] = {}  # the last line that opened something
        self.met: frozenset[str] = frozenset()  # document formats that look at this input
        self.told: set[Layout] = set()  # whose example was looked at
        self.too_late = False

    def take(self, block: Block) -> None:
        """Read one block."""
        self.seen += len(block.data)
        shaped, known = self._shaped(block)
        rest = block.some(~known)
        worth = interest(rest["text"], self.heads)
        some = rest.filter(worth)
        hits = some.filter(_found(some["text"], self.openings))
        begins = {fmt.name: _begins(fmt, hits) for fmt in self.single}
        mine = np.zeros(block.height, np.bool_)
        for fmt in self.single:
            if fmt.name in self.readers:
                rows = self._read(fmt, block, hits, rest, shaped[fmt.name], begins)
                mine |= self._where(block, ((each.layout, each.frame) for each in rows))
                self._keep(fmt, rows)
        self._look_for_documents(some.filter(~pl.Series(mine[_at(block, some)]))["text"])
        if self.met and self.keep == "some":
            self.keep, self.too_late = "all", block.first > 1
        left = self._left(block, hits, begins, known, mine)
        if self.keep == "some":
            left |= self._counted(block, rest, worth, left | mine)
        kept = block.some(left)
        if not block.plain:
            self.spelled.update((line, block.raw(line)) for line in kept["line"])
        self.left.append(kept)
        self.read.append(np.flatnonzero(left & mine) + block.first)

    def _shaped(self, block: Block) -> tuple[dict[str, Found], Mask]:
        """The rows whose lines are of a known shape, by format, and where they stand.

        Where many lines are of none, some are read for what their shapes may be: in a long log it
        changes when a number has one digit more.
        """
        known = np.zeros(block.height, np.bool_)
        shaped: dict[str, Found] = {name: [] for name in self.readers}
        if self.keep == "all":
            return shaped, known
        free = np.ones(block.height, np.bool_)
        free[block.height - 1] = not self.source.cut(block.first + block.height - 1)
        while True:
            before = known.sum()
            for name, reader in self.readers.items():
                found = reader.shapes.read(block, free & ~known)
                known |= self._where(block, found)
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
                for layout, frame in reader.read(some):
                    reader.shapes.learn(block, layout, frame)
        return self._known > before

    @property
    def _known(self) -> int:
        return sum(reader.shapes.count for reader in self.readers.values())

    def _where(self, block: Block, found: Iterable[tuple[Layout, pl.DataFrame]]) -> Mask:
        """The lines of a block that hold these rows."""
        mask = np.zeros(block.height, np.bool_)
        for _, frame in found:
            mask[_at(block, frame)] = True
        return mask

    def _read(
        self,
        fmt: Format,
        block: Block,
        hits: pl.DataFrame,
        rest: pl.DataFrame,
        shaped: Found,
        begins: Mapping[str, Begins],
    ) -> list[Rows]:
        """The rows of one format: those of known shapes, and those that columns give."""
        reader, found = self.readers[fmt.name], list(shaped)
        if hits.height and (hits.height >= self.few or self.rows):
            last = block.first + block.height - 1
            free = hits.filter(pl.col("line") != last) if self.source.cut(last) else hits
            new = reader.read(begun(free, fmt))
            for layout, frame in new:
                reader.shapes.learn(block, layout, frame)
            found += new
        found, near = self._apart(fmt, block, found, begins)
        cells = fmt.cells
        if found and cells is not None and cells.goes_on is not None:
            freed = near & self._where(block, shaped)
            others = pl.concat([rest, block.some(freed)]).sort("line") if freed.any() else rest
            lines = range(block.first, block.first + block.height)
            open_end = open_ended(cells, lines, others, found)
            if open_end:
                stands = ~pl.col("line").is_in(open_end)
                found = [(layout, frame.filter(stands)) for layout, frame in found]
        return [Rows.of(layout, frame) for layout, frame in found if frame.height]

    def _apart(
        self, fmt: Format, block: Block, found: Found, begins: Mapping[str, Begins]
    ) -> tuple[Found, Mask]:
        """The rows that no other format may look at, since it begins above; and where it may."""
        near = np.zeros(block.height, np.bool_)
        others = [each for each in self.single if each is not fmt and each.reach]
        if not found:
            return found, near
        mine = self._where(block, found)
        for other in others:
            near |= self._reached(other, block, begins[other.name], ~mine)
        if not near.any():
            return found, near
        apart = [
            (layout, frame.filter(pl.Series(~near[_at(block, frame)]))) for layout, frame in found
        ]
        return [(layout, frame) for layout, frame in apart if frame.height], near

    def _reached(self, fmt: Format, block: Block, begins: Begins, which: Mask) -> Mask:
        """Lines within reach of one of `which` that opens something, or of one above the block."""
        reached = np.zeros(block.height + 1, np.int32)
        for head, reach in fmt.reach.items():
            lines = begins[head]
            starts = lines[which[lines - block.first]]
            before = self.begun.get((fmt.name, head))
            if before is not None:
                starts = np.append(before, starts)
            np.add.at(reached, np.maximum(starts - block.first, 0), 1)
            ends = np.clip(starts + reach + 1 - block.first, 0, block.height)
            np.add.at(reached, ends, -1)
        within: Mask = reached[:-1].cumsum() > 0
        return within

    def _left(
        self,
        block: Block,
        hits: pl.DataFrame,
        begins: Mapping[str, Begins],
        known: Mask,
        mine: Mask,
    ) -> Mask:
        """Lines for the folds, and those that they are to see besides."""
        left = np.full(block.height, self.keep == "all")
        freed = block.some(known & ~mine)
        for fmt in self.single:
            more = _begins(fmt, freed)
            every = {head: np.union1d(at, more[head]) for head, at in begins[fmt.name].items()}
            if self.keep == "some":
                for texts in (hits, freed):
                    at = _at(block, begun(texts, fmt))
                    left[at[~mine[at]]] = True
            left |= self._reached(fmt, block, every, ~mine)
            for head, lines in every.items():
                slow = lines[~mine[lines - block.first]]
                if len(slow):
                    self.begun[fmt.name, head] = int(slow[-1])
        return left

    def _counted(self, block: Block, rest: pl.DataFrame, worth: pl.Series, spoken: Mask) -> Mask:
        """Lines that may state something; all others of the rest are counted."""
        at = _at(block, rest)
        some = rest.filter(worth & ~pl.Series(spoken[at]))
        states = may_state(some["text"])
        self.rest += tally(some.filter(~states))
        silent = np.zeros(block.height, np.bool_)
        silent[at[~worth.to_numpy()]] = True
        silent &= ~spoken
        texts = rest["text"].filter(pl.Series(silent[at]))
        self.rest += quiet(block, silent, texts)
        stating = np.zeros(block.height, np.bool_)
        stating[_at(block, some.filter(states))] = True
        return stating

    def _keep(self, fmt: Format, rows: Sequence[Rows]) -> None:
        held = self.rows.setdefault(fmt.name, [])
        held += rows
        if self.spool is None or self.seen <= BLOCK:
            return
        for at, each in enumerate(held):
            if not isinstance(each.held, Path):
                held[at] = each.put_away(self.spool / f"{fmt.name}-{at}.arrow")

    def _look_for_documents(self, texts: pl.Series) -> None:
        """Note the heads and openings of documents in lines, and in examples of new layouts."""
        layouts = {each.layout for many in self.rows.values() for each in many} - self.told
        new = pl.Series([layout.example for layout in layouts], dtype=pl.String)
        self.told |= layouts
        texts = pl.concat([texts, new])
        texts = texts.filter(_found(texts, self.papers))
        self.met |= {fmt.name for fmt in self.documents if opening(texts, fmt)}

    def found(self) -> Scan:
        """All of it."""
        lines = pl.concat([pl.DataFrame(schema=_LINES), *self.left])
        read = frozenset(line for each in self.read for line in each.tolist())
        rows = {name: many for name, many in self.rows.items() if many}
        taken = sum(each.height for many in rows.values() for each in many)
        return Scan(self.source, lines, rows, taken, read, self.met, self.rest, self.spelled)


def _at(block: Block, lines: pl.DataFrame) -> Places:
    """Where lines of a block stand in it."""
    return lines["line"].to_numpy().astype(np.int64) - block.first


def _found(texts: pl.Series, pattern: str) -> pl.Series:
    """Where one of the alternatives of a pattern is found; nowhere if there are none."""
    return texts.str.contains(pattern) if pattern else texts.is_null()


def _begins(fmt: Format, hits: pl.DataFrame) -> Begins:
    """Line numbers that open something in whose reach lines may be of a format, by head."""
    if not fmt.reach:
        return {}
    held = hits.filter(hits["text"].str.contains_any(list(fmt.heads)))
    return {
        head: held["line"].filter(held["text"].str.contains(head)).to_numpy().astype(np.int64)
        for head in fmt.reach
    }


def _rivals(fmt: Format, single: Iterable[Format]) -> list[str]:
    return [head for other in single if other is not fmt for head in other.heads]
