"""The first pass over an input, block by block: what can be read at once, and what is left.

In: the blocks of an input. Out: a `Scan`: accepted rows of the formats that declare `cells`, counts
of the lines that nobody can want, and all other lines, for the folds and the binder. So memory
holds a block, the rows, and the lines worth a second look; but an input in which a document format
finds its head is kept whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl
from assay.ingest.carve import opening
from assay.ingest.columnwise import Columnwise
from assay.ingest.layout import Layout
from assay.ingest.noise import Tally, holding, may_state, tally
from assay.ingest.rows import Rows
from assay.ingest.source import Block, Source
from assay.ingest.types import Format

Engine = Literal["auto", "cells", "folds"]
"""`folds` leaves every line to the fold of its format; `cells` gives the same, faster, where there
are more than a `FEW` lines; `auto` chooses."""

FEW = 300
"""Lines of records that are read one by one sooner than their layouts are learnt."""

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
        self.readers = {
            fmt.name: Columnwise(fmt, source, _rivals(fmt, self.single))
            for fmt in self.single
            if fmt.cells is not None and engine != "folds"
        }
        self.sparse = True  # few lines of the block before held a head
        self.few = FEW if engine == "auto" else 0
        self.rows: dict[str, list[Rows]] = {}
        self.left: list[pl.DataFrame] = []
        self.read: list[pl.Series] = []
        self.rest = Tally()
        self.spelled: dict[int, bytes] = {}
        self.spool: Path | None = None
        self.begun: dict[tuple[str, str], int] = {}  # the last line that opened something
        self.met: frozenset[str] = frozenset()  # document formats that look at this input
        self.told: set[Layout] = set()  # whose example was looked at
        self.too_late = False

    def take(self, block: Block) -> None:
        """Read one block."""
        lines = block.lines
        hit = holding(block.data if block.plain and self.sparse else b"", lines["text"], self.heads)
        self.sparse = int(hit.sum()) * 100 < lines.height
        hits = lines.filter(hit)
        taken = self._read_columns(lines, hits)
        mine = _none(lines).scatter((taken - block.first).cast(pl.Int64), True)
        self._look_for_documents(lines["text"].filter(hit & ~mine))
        if self.met and self.keep == "some":
            self.keep, self.too_late = "all", block.first > 1
        heads = [head for fmt in self.single for head in fmt.heads]
        slow = hit & ~mine
        if heads:
            at = slow.arg_true()
            slow = slow.scatter(at, lines["text"].gather(at).str.contains_any(heads))
        left = pl.repeat(value=self.keep == "all", n=lines.height, eager=True, dtype=pl.Boolean)
        for fmt in self.single:
            left |= self._within(fmt, lines, lines.filter(slow), own=True)
        if self.keep == "some":
            left |= slow
            left |= _where(~mine & ~left, lines["text"], may_state)
            unwanted = ~left & ~mine
            if unwanted.any():
                doubtful = (
                    block.data if block.plain and int(unwanted.sum()) * 2 > len(unwanted) else b""
                )
                self.rest += tally(lines, unwanted, doubtful)
        kept = lines.filter(left)
        if not block.plain:
            self.spelled.update((line, block.raw(line)) for line in kept["line"])
        self.left.append(_copied(kept))
        self.read.append(lines["line"].filter(left & mine))

    def _read_columns(self, lines: pl.DataFrame, hits: pl.DataFrame) -> pl.Series:
        """The lines that formats read column by column, each by one of them."""
        taken = [pl.Series(dtype=pl.UInt32)]
        for fmt in self.single:
            reader = self.readers.get(fmt.name)
            if reader is None or not hits.height or (hits.height < self.few and not self.rows):
                continue
            last = int(lines["line"][-1])
            free = hits.filter(pl.col("line") != last) if self.source.cut(last) else hits
            rows = self._apart(fmt, reader.read(lines, free), hits)
            taken += [each.frame["line"] for each in rows]
            self._keep(fmt, rows, last - lines.height + 1)
        return pl.concat(taken)

    def _apart(self, fmt: Format, rows: Sequence[Rows], hits: pl.DataFrame) -> list[Rows]:
        """The rows that no other format may look at, since it begins above."""
        if not rows:
            return []
        mine = pl.concat([each.frame["line"] for each in rows])
        rest = hits.filter(~pl.col("line").is_in(mine.implode()))
        others = [each for each in self.single if each is not fmt and each.reach]
        found = []
        for each in rows:
            near = _none(each.frame)
            for other in others:
                near |= self._within(other, each.frame, rest, own=False)
            frame = each.frame.filter(~near) if near.any() else each.frame
            if frame.height:
                found.append(Rows.of(each.layout, frame))
        return found

    def _keep(self, fmt: Format, rows: Sequence[Rows], first: int) -> None:
        held = self.rows.setdefault(fmt.name, [])
        held += rows
        if self.spool is None or first == 1:  # the first block may be the only one
            return
        for at, each in enumerate(held):
            if not isinstance(each.held, Path):
                held[at] = each.put_away(self.spool / f"{fmt.name}-{at}.arrow")

    def _within(
        self, fmt: Format, lines: pl.DataFrame, hits: pl.DataFrame, *, own: bool
    ) -> pl.Series:
        """Lines within reach of one that opens something; `own`: and remember the last such."""
        within = _none(lines)
        for head, reach in fmt.reach.items():
            held = hits.filter(pl.col("text").str.contains_any(list(fmt.heads)))
            begins = held.filter(pl.col("text").str.contains(head))["line"]
            before = self.begun.get((fmt.name, head))
            starts = pl.concat([pl.Series([before] if before else [], dtype=pl.UInt32), begins])
            if not len(starts):
                continue
            at = starts.search_sorted(lines["line"], side="right").cast(pl.Int64) - 1
            since = lines["line"] - starts.gather(at.clip(0))
            within |= (at >= 0) & (since <= reach)
            if own:
                self.begun[fmt.name, head] = int(starts[-1])
        return within

    def _look_for_documents(self, texts: pl.Series) -> None:
        """Note the heads and openings of documents in lines, and in examples of new layouts."""
        layouts = {each.layout for many in self.rows.values() for each in many} - self.told
        new = pl.Series([layout.example for layout in layouts], dtype=pl.String)
        self.told |= layouts
        texts = pl.concat([texts, new])
        self.met |= {fmt.name for fmt in self.documents if opening(texts, fmt)}

    def found(self) -> Scan:
        """All of it."""
        lines = pl.concat([pl.DataFrame(schema=_LINES), *self.left])
        read = frozenset(line for each in self.read for line in each)
        rows = {name: many for name, many in self.rows.items() if many}
        taken = sum(each.height for many in rows.values() for each in many)
        return Scan(self.source, lines, rows, taken, read, self.met, self.rest, self.spelled)


def _copied(lines: pl.DataFrame) -> pl.DataFrame:
    """The same lines without the memory of the block they came from."""
    return lines.with_columns(text=pl.Series(lines["text"].to_list(), dtype=pl.String))


def _none(lines: pl.DataFrame) -> pl.Series:
    return pl.repeat(value=False, n=lines.height, eager=True, dtype=pl.Boolean)


def _where(mask: pl.Series, texts: pl.Series, test: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Where a test of texts holds, asked only where `mask` is."""
    if mask.all():
        return test(texts)
    at = mask.arg_true()
    return mask.scatter(at, test(texts.gather(at))) if len(at) else mask


def _rivals(fmt: Format, single: Iterable[Format]) -> list[str]:
    return [head for other in single if other is not fmt for head in other.heads]
