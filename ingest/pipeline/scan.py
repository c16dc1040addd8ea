"""The first pass over an input, block by block: what can be read at once, and what is left.

In: the blocks of an input. Out: a `Scan`: accepted rows of the formats that declare `cells`, counts
of the lines that nobody can want, and all other lines, for the folds and the binder. So memory
holds a block, the rows, and the lines worth a second look; but an input in which a document format
finds its head is kept whole.

Blocks are sifted side by side (`Sifted`: rows whose lines are of a known shape, the other lines
with what may be in each); only what is learnt of the shapes of records passes from one to another.
Rows are gathered by format and template: few of them are put together, many are kept in files.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Literal, TypeVar

import numpy as np
import polars as pl
from assay.ingest.lines.candidates import (
    IN_MARKS,
    NOTHING,
    Edges,
    Open,
    after,
    begun,
    edges,
    in_bars,
    marked,
    opening,
    openings,
)
from assay.ingest.lines.columnwise import Columnwise
from assay.ingest.lines.rows import Rows
from assay.ingest.lines.template import Found, Layout
from assay.ingest.pipeline.continuation import Memory, open_ended
from assay.ingest.pipeline.looked import Looked
from assay.ingest.pipeline.noise import (
    Tally,
    blank,
    closings,
    interest,
    may_state,
    suspicious,
    total,
)
from assay.ingest.schema.format import LAST, Format, Region
from assay.ingest.source.blocks import Block, Mask, Places, series
from assay.ingest.source.opening import Source
from assay.ingest.source.prefixes import holds, peel, region, with_zeros

Engine = Literal["auto", "cells", "folds"]
"""`folds` leaves every line to the fold of its format; `cells` gives the same, faster, where there
are more than a `FEW` lines; `auto` chooses."""

_LONG = 2**20
"""Bytes of a log in which no line is turned into a row of a table to see what it opens."""

_LINES = {"line": pl.UInt32, "text": pl.String}

FEW_OF_MANY = 24
"""Such lines in one of several blocks: a long input holds more of them."""


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
    looked: Looked | None = None  # where its lines were looked at with those of others
    documents: dict[bool, Region] = field(default_factory=dict)  # see `document`

    def document(self, *, glued: bool = False) -> Region:
        """All its lines, as formats of documents see them."""
        if glued not in self.documents:
            peeled = peel(self.lines, glued=glued)
            self.documents[glued] = region(self.source, peeled, self.read)
        return self.documents[glued]

    def concerns(self, fmt: Format) -> bool:
        """Whether a format may find something: not where others have looked, and found nothing."""
        return self.looked is None or fmt.name in self.looked.begun or fmt.name in self.met

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
    """State of a scan while the blocks of one input go by."""

    def __init__(
        self,
        source: Source,
        formats: Sequence[Format],
        engine: Engine,
        keep: Literal["all", "some"] = "some",
    ) -> None:
        self.source = source
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
        # document formats that look at this input
        self.met = frozenset(fmt.name for fmt in self.documents if fmt.named(source.name))
        self.keep = "all" if engine == "folds" or self.met else keep
        self.told: set[Layout] = set()  # whose example was looked at
        self.last: deque[tuple[Block, Mask]] = deque()  # blocks of the last lines, and those left
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
            self.last.append((block, others & ~sifted.blank))
            while sum(each.height for each, _ in islice(self.last, 1, None)) >= LAST:
                self.last.popleft()
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
        alone = block.first == 1 and not block.after
        enough = self.few if alone else min(self.few, FEW_OF_MANY)
        mine = begun(hits, fmt) if hits.height >= max(enough, 1) else hits.clear()
        if mine.height and mine.height >= enough:
            last = block.first + block.height - 1
            free = mine.filter(pl.col("line") != last) if self.source.cut(last) else mine
            with self.sieve.learning:
                new = reader.read(free)
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
        if self.keep == "some":  # on each hit a record of some format may begin
            at = positions(block, sifted.hits)
            left[at[~mine[at]]] = True
        for fmt in self.single:
            every = sifted.begins[fmt.name]
            if freed.height:
                more = begins(fmt, freed)
                every = {head: found.joined(more[head]) for head, found in every.items()}
                if self.keep == "some":
                    left[positions(block, begun(freed, fmt))] = True
            left |= self._reached(fmt, block, every, ~mine)
            for head, both in every.items():
                above = self.open.get((fmt.name, head), Open())
                self.open[fmt.name, head] = after(both.among(~mine, block.first), above)
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
        """Everything that was found in the input."""
        lines = pl.concat([pl.DataFrame(schema=_LINES), *self.left])
        rest = total(self.rest)
        closing = self._closing()
        if closing.height:
            lines = pl.concat([lines, closing]).sort("line")
            rest = rest.without(set(closing["line"]))
        read = frozenset(line for each in self.read for line in each.tolist())
        rows = self.gathered.rows()
        taken = sum(each.height for many in rows.values() for each in many)
        return Scan(self.source, lines, rows, taken, read, self.met, rest, self.spelled)

    def _closing(self) -> pl.DataFrame:
        """Those of the last lines, that nobody wanted, which may tell of the end of a run."""
        found = [pl.DataFrame(schema=_LINES)]
        for block, others in self.last if self.sieve.closings else ():
            end = self.last[-1][0].first + self.last[-1][0].height
            which = others.copy()
            which[: max(0, end - LAST - block.first)] = False
            some = block.some(which)
            some = some.filter(holds(some["text"], *self.sieve.closings, plain=block.plain))
            if some.height and not block.plain:
                self.spelled.update((line, block.raw(line)) for line in some["line"])
            found.append(some)
        return pl.concat(found)


def counted(sifted: Sifted, which: Mask) -> Tally:
    """Tally of the lines of a block that nobody wants."""
    blank = int((sifted.blank & which).sum())
    odd = np.flatnonzero(sifted.suspicious & which) + sifted.block.first
    return Tally(blank, int(which.sum()) - blank, tuple(odd.tolist()))


def _rivals(fmt: Format, single: Iterable[Format]) -> list[str]:
    others = [other for other in single if other is not fmt and not other.behind]
    return [head for other in others for head in other.heads]


Begins = Mapping[str, Edges]  # by head

FEW = 300
"""Lines of records that are read one by one sooner than their layouts are learnt."""


SPARED = 1000
"""Lines that are all looked at: to make ready to search them takes longer than that."""

MOST_KINDS = 2**16
"""Kinds of lines beyond which no more of them are remembered."""


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
    """Search for lines of interest in the blocks of one input."""

    def __init__(
        self, source: Source, formats: Sequence[Format], readers: Mapping[str, Columnwise], few: int
    ) -> None:
        self.source, self.readers, self.few = source, readers, few
        self.single = [fmt for fmt in formats if fmt.lines == "single"]
        self.interest = interest(formats)
        self.openings = openings(self.single)
        self.papers = (
            *openings([fmt for fmt in formats if fmt.lines == "document"]),
            IN_MARKS,
        )
        self.closings = closings(formats)
        self.noisy = False  # whether most lines of the last block were not of records
        self.silent = pl.Series(dtype=pl.String)  # kinds of lines in which there is nothing
        self.learning = Lock()
        self.memory: Mapping[str, Memory] = {name: {} for name in readers}

    def sift(self, block: Block) -> Sifted:
        """Sort the lines of one block: known shapes, candidates for formats, the rest."""
        if self.noisy:  # all of them will be looked at: they are cut at once
            _ = block.alike if _same(block) else block.lines
        shaped, known = self._shaped(block)
        self.noisy = known.mean() < 0.5
        worth = np.zeros(block.height, np.bool_)
        worth[~known] = self._worth(block, ~known)
        some = block.some(worth)
        hits = some.filter(holds(some["text"], *self.openings, plain=block.plain))

        def mask(found: pl.Series) -> Mask:
            there = np.zeros(block.height, np.bool_)
            there[worth] = found
            return there

        empty, odd = suspicious(some["text"], plain=block.plain)
        return Sifted(
            block, shaped, known, self.open_ended(block, shaped), hits,
            begins={fmt.name: begins(fmt, hits) for fmt in self.single},
            papers=mask(self._of_papers(block, some["text"])),
            states=mask(may_state(some["text"], plain=block.plain)),
            blank=mask(empty) | blank(block, ~(known | worth)),
            suspicious=mask(odd),
        )  # fmt: skip

    def _of_papers(self, block: Block, texts: pl.Series) -> pl.Series:
        """The lines that may open a document; of a long log only those that do so as they are."""
        found = holds(texts, *self.papers, plain=block.plain)
        if block.disk is None and len(block.data) > _LONG:
            return found
        return found | holds(in_bars(texts), *self.papers)

    def _worth(self, block: Block, which: Mask) -> pl.Series:
        """Those of some lines in which there may be something of interest.

        Programs print the same lines again and again, with other digits: one of each is looked at.
        """
        if block.height <= SPARED:
            return pl.repeat(value=True, n=int(which.sum()), eager=True)
        if not (self.noisy and _same(block)):
            texts = block.some(which)["text"]
            return holds(texts, *self.interest, plain=block.plain)
        texts = block.alike.filter(series(which))
        kinds, silent = texts.unique(), self.silent
        new = kinds.filter(~kinds.is_in(silent.implode()))
        found = holds(new, *map(with_zeros, self.interest), plain=True)
        if len(silent) < MOST_KINDS:
            self.silent = pl.concat([silent, new.filter(~found)])
        return texts.is_in(new.filter(found).implode())

    def open_ended(self, block: Block, found: Mapping[str, Found]) -> dict[str, list[int]]:
        """Line numbers of those rows of a block whose record may go on below, by format."""
        lines: dict[str, list[int]] = {name: [] for name in found}
        for name, rows in found.items():
            fmt = self.readers[name].fmt
            if rows and fmt.cells is not None and fmt.cells.goes_on is not None:
                lines[name] = open_ended(fmt, block, rows, self.memory[name])
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


def _same(block: Block) -> bool:
    """Whether lines of a block are what `alike` has of them, digits aside."""
    return block.plain and not block.long


def where(block: Block, found: Iterable[tuple[Layout, pl.DataFrame]]) -> Mask:
    """The lines of a block that hold these rows."""
    mask = np.zeros(block.height, np.bool_)
    for _, frame in found:
        mask[positions(block, frame)] = True
    return mask


def positions(block: Block, lines: pl.DataFrame) -> Places:
    """Positions of lines in their block, from 0."""
    return lines["line"].to_numpy().astype(np.int64) - block.first


def begins(fmt: Format, hits: pl.DataFrame) -> Begins:
    """Lines that open something in whose reach lines may be of a format, by head."""
    if not fmt.reach or hits.is_empty():
        return dict.fromkeys(fmt.reach, NOTHING)
    held = hits.filter(hits["text"].str.contains_any(list(fmt.heads)))
    return {head: edges(held, head, reach, above=True) for head, reach in fmt.reach.items()}


ENOUGH = 10_000
"""Rows that are worth their own columns: those of a noisy log come a few hundred to a block."""

KEPT = 32 * 2**20
"""Bytes of rows that are kept in memory; those of a longer input go to files."""


class Gathered:
    """The rows met so far, by format; in a folder `spool`, if there is one and they are many."""

    def __init__(self, spool: Path | None = None) -> None:
        self.spool = spool
        self.layouts: set[Layout] = set()
        self._rows: dict[str, list[Rows]] = {}
        self._loose: dict[str, Found] = {}
        self._held = 0  # bytes of rows in memory and in files

    def add(self, name: str, found: Found) -> None:
        """Take in the next rows of a format."""
        self.layouts.update(layout for layout, _ in found)
        loose = self._loose.setdefault(name, [])
        loose += found
        # those of all layouts at once: runs that lie among each other are read together later
        if sum(frame.height for _, frame in loose) >= ENOUGH:
            self._join(name)

    def rows(self) -> dict[str, list[Rows]]:
        """All rows by format, for the formats that have some."""
        for name in self._loose:
            self._join(name)
        return {name: rows for name, rows in self._rows.items() if rows}

    def _join(self, name: str) -> None:
        by_layout: dict[Layout, list[pl.DataFrame]] = {}
        for layout, frame in self._loose[name]:
            by_layout.setdefault(layout, []).append(frame)
        self._loose[name] = []
        held = self._rows.setdefault(name, [])
        new = [Rows.of(layout, _in_order(frames)) for layout, frames in by_layout.items()]
        held += new
        self._held += sum(each.size for each in new)
        if self.spool is None or self._held <= KEPT:
            return
        for at, each in enumerate(held):
            if not isinstance(each.held, Path):
                held[at] = each.put_away(self.spool / f"{name}-{at}.arrow")


def _in_order(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The rows of several frames by line: a block may give two of one layout."""
    if len(frames) == 1:
        return frames[0]
    whole = pl.concat(frames, how="diagonal")
    return whole if whole["line"].is_sorted() else whole.sort("line")


Item = TypeVar("Item")

Result = TypeVar("Result")

THREADS = 2
"""Items under way at a time: text is searched without the interpreter's lock."""


def ahead(items: Iterator[Item], work: Callable[[Item], Result]) -> Iterator[Result]:
    """The result of `work` for each item, in order; the first is done before others are begun.

    Of several all are done by other threads: each compiles its patterns anew. What is still under
    way when the caller stops is waited for.
    """
    first, second = next(items, None), next(items, None)
    if first is None:
        return
    if second is None:
        yield work(first)
        return
    with ThreadPoolExecutor(THREADS) as others:
        yield others.submit(work, first).result()
        waiting: deque[Future[Result]] = deque()
        for item in chain((second,), items):
            waiting.append(others.submit(work, item))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
