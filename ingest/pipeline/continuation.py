"""Lines below a record: each is a part of it, or passed over, or its end.

In: rows that were read column by column, and the block they stand in. Out: the rows whose record
may go on in the lines below; only the fold of the format can say what becomes of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.lines.template import Layout
from assay.ingest.pipeline.noise import ENDS_EMPTY
from assay.ingest.schema.fields import labelled, without_html
from assay.ingest.schema.format import Format
from assay.ingest.source.blocks import ZEROS, Block, Places
from assay.ingest.source.prefixes import fitting, peel, tells_who

_ENDS, _PASSED, _JOINS, _UNKNOWN = 0, 1, 2, -1

_CODES = {"ends": _ENDS, "passed": _PASSED, "joins": _JOINS}


class _Line(NamedTuple):
    """A line that was not read column by column, peeled; no text: it has several parts."""

    text: str | None
    host: int
    rank: int


Memory = dict[tuple[str, bytes], int]
"""By example of a layout and a line that names no rank, with a zero for each digit: what the line
is to the record."""

_MOST = 2**14

_LONGEST = 2**10  # bytes of a line that is remembered


def open_ended(
    fmt: Format,
    block: Block,
    rows: Sequence[tuple[Layout, pl.DataFrame]],
    memory: Memory,
) -> list[int]:
    """Line numbers of the rows of a block whose record may go on below.

    A record whose end is neither in the block nor in what is seen of the next one may go on.
    `memory` is kept from block to block.
    """
    below = _Below(fmt, block, rows, memory)
    found: list[int] = []
    records, lines = below.records, below.records + 1
    while len(records):
        unknown = []
        while len(records):
            within = lines - records <= below.cells.reach
            beyond = lines >= below.height
            found += records[within & beyond].tolist()
            records, lines = records[within & ~beyond], lines[within & ~beyond]
            said = below.verdicts(records, lines)
            found += records[said == _JOINS].tolist()
            unknown.append((records[said == _UNKNOWN], lines[said == _UNKNOWN]))
            records, lines = records[said == _PASSED], lines[said == _PASSED] + 1
        # together: one search is for all
        records, lines = (np.concatenate(each) for each in zip(*unknown, strict=True))
        said = below.found_out(records, lines)
        found += records[said == _JOINS].tolist()
        records, lines = records[said == _PASSED], lines[said == _PASSED] + 1
    return [block.first + at for at in found]


class _Below:
    """The lines of a block and those seen of the next one, by place, with what is known of each."""

    def __init__(
        self,
        fmt: Format,
        block: Block,
        rows: Sequence[tuple[Layout, pl.DataFrame]],
        memory: Memory,
    ) -> None:
        assert fmt.cells is not None
        self.cells, self.schema = fmt.cells, next(iter(fmt.schemas.values()))
        self.block, self.memory = block, memory
        self.height = block.height + len(block.behind)
        self.layouts = [layout for layout, _ in rows]
        self.layout = np.full(self.height, -1, dtype=np.int16)
        self.who: dict[str, Places] = {}
        self.codes: dict[str, dict[str, int]] = {}
        places = [frame["line"].to_numpy().astype(np.int64) - block.first for _, frame in rows]
        for at, place in enumerate(places):
            self.layout[place] = at
        self.records: Places = np.flatnonzero(self.layout >= 0)
        for name in ("host", "rank"):
            self._tell_apart(name, places, [frame for _, frame in rows])
        self.known: dict[int, _Line | None] = {}  # None: it ends every record for certain
        self.pairs: dict[tuple[int, int], int] = {}

    def _tell_apart(
        self, name: str, places: Sequence[Places], frames: Sequence[pl.DataFrame]
    ) -> None:
        """A number for each host or rank; 0 where a line names none."""
        there = [frame[name] for frame in frames if name in frame.columns]
        said = sorted({text for texts in there for text in texts.unique() if text})
        self.codes[name] = {text: number for number, text in enumerate(said, 1)}
        self.who[name] = np.zeros(self.height, dtype=np.int64)
        for place, frame in zip(places, frames, strict=True):
            if self.codes[name] and name in frame.columns:
                codes = frame[name].replace_strict(
                    self.codes[name], default=0, return_dtype=pl.Int64
                )
                self.who[name][place] = codes.to_numpy()

    def verdicts(self, records: Places, below: Places) -> npt.NDArray[np.int8]:
        """Verdict on each line of `below`, for the record at the same place in `records`."""
        said = np.zeros(len(records), dtype=np.int8)
        fast = self.layout[below] >= 0
        count = len(self.layouts)
        pairs = self.layout[records[fast]].astype(np.int64) * count + self.layout[below[fast]]
        verdict = np.zeros(count * count, np.int8)
        for pair in np.flatnonzero(np.bincount(pairs, minlength=count * count)).tolist():
            verdict[pair] = self._pair(*divmod(pair, count))
        said[fast] = verdict[pairs]
        for name in self.who:
            mine, theirs = self.who[name][records], self.who[name][below]
            said[fast & (theirs != 0) & (theirs != mine)] = _PASSED
        odd = np.flatnonzero(~fast)
        said[odd] = [self.memory.get(key, _UNKNOWN) for key in self._keys(records[odd], below[odd])]
        return said

    def _keys(self, records: Places, below: Places) -> list[tuple[str, bytes]]:
        """Under what the verdicts on lines that hold no row are remembered.

        A few bytes are looked up sooner than columns of them are put together.
        """
        examples = [layout.example for layout in self.layouts]
        lines = [line.translate(ZEROS) for line in self._spelled(below)]
        return [
            (examples[at], line)
            for at, line in zip(self.layout[records].tolist(), lines, strict=True)
        ]

    def _spelled(self, places: Places) -> list[bytes]:
        """The lines at these places, in order, as they stand on disk."""
        block = self.block
        height = block.height
        inside = np.minimum(places, height - 1)
        starts, stops = block.starts[inside].tolist(), block.stops[inside].tolist()
        return [
            block.data[start:stop] if at < height else block.behind[at - height]
            for at, start, stop in zip(places.tolist(), starts, stops, strict=True)
        ]

    def found_out(self, records: Places, below: Places) -> npt.NDArray[np.int8]:
        """The verdicts on lines of which nothing is known; they are remembered."""
        if not len(records):
            return np.zeros(0, np.int8)
        self._look_at(np.unique(below))
        said = list(map(self._verdict, records.tolist(), below.tolist()))
        for at, key, verdict in zip(below.tolist(), self._keys(records, below), said, strict=True):
            line = self.known[at]
            nobody = line is None or (line.text is not None and (line.host, line.rank) == (0, 0))
            if nobody and len(key[1]) <= _LONGEST and len(self.memory) < _MOST:
                self.memory[key] = verdict
        return np.array(said, np.int8)

    def _at(self, places: Places) -> pl.DataFrame:
        """The lines at these places, in order: line and text."""
        which = np.zeros(self.height, np.bool_)
        which[places] = True
        inside, beyond = which[: self.block.height], which[self.block.height :]
        some = self.block.some(inside)
        if not beyond.any():
            return some
        return pl.concat([some, self.block.following.filter(pl.Series(beyond))])

    def _uncertain(self, texts: pl.Series) -> pl.Series:
        """Lines that do not end a record for certain: blank ones, other ranks', pieces."""
        if self.cells.may_go_on is None:
            return pl.repeat(value=True, n=len(texts), eager=True)
        known = sorted({self.cells.may_go_on(layout.example) for layout in self.layouts})
        pattern = "|".join([ENDS_EMPTY, "\r", tells_who(), *known])
        plain = self.block.plain and self.block.after.isascii()
        found = without_html(texts).str.contains(fitting(pattern, plain=plain))
        return found | labelled(texts, self.schema)

    def _pair(self, record: int, below: int) -> int:
        """The verdict on a line of one layout below a record of another, ranks aside."""
        if (record, below) not in self.pairs:
            text, more = self.layouts[record].example, self.layouts[below].example.strip()
            self.pairs[record, below] = self._asked(text, more)
        return self.pairs[record, below]

    def _asked(self, text: str, more: str) -> int:
        assert self.cells.goes_on is not None
        return _CODES[self.cells.goes_on(text, more)]

    def _verdict(self, record: int, below: int) -> int:
        line = self.known[below]
        if line is None:
            return _ENDS
        if line.text is None:
            return _JOINS
        foreign = (line.host not in (0, self.who["host"][record])) or (
            line.rank not in (0, self.who["rank"][record])
        )
        if not line.text or foreign:
            return _PASSED
        return self._asked(self.layouts[self.layout[record]].example, line.text)

    def _look_at(self, places: Places) -> None:
        """See what the lines at these places are, each once."""
        if places[-1] >= self.block.height:  # one of these is asked for after another
            behind = np.arange(self.block.height, self.height)
            places = np.append(places[places < self.block.height], behind)
        new = [at for at in places.tolist() if at not in self.known]
        if not new:
            return
        lines, first = self._at(np.array(new)), self.block.first
        uncertain = self._uncertain(lines["text"])
        blank = lines["text"] == ""
        self.known.update((line - first, None) for line in lines["line"].filter(~uncertain))
        self.known.update((line - first, _NOTHING) for line in lines["line"].filter(blank))
        lines = lines.filter(uncertain & ~blank)
        if lines.is_empty():
            return
        parts = peel(lines, glued=True)
        for line, text, host, rank in parts.select("line", "text", "host", "rank").iter_rows():
            at = line - first
            several = at in self.known
            self.known[at] = _Line(
                None if several else text.strip(),
                self.codes["host"].get(host, -1) if host else 0,
                self.codes["rank"].get(rank, -1) if rank else 0,
            )


_NOTHING = _Line("", 0, 0)
