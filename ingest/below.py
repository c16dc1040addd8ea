"""What the lines below a record are to it: a part of it, passed over, or its end.

In: rows that were read column by column, and the lines they stand in. Out: the rows whose record
may go on in the lines below; only the fold of the format can say what becomes of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.block import Mask, Places
from assay.ingest.carve import peel, tells_who
from assay.ingest.layout import Layout
from assay.ingest.noise import ENDS_EMPTY
from assay.ingest.types import CellLayout

_ENDS, _PASSED, _JOINS = 0, 1, 2
_CODES = {"ends": _ENDS, "passed": _PASSED, "joins": _JOINS}


class _Line(NamedTuple):
    """A line that was not read column by column, peeled; no text: it has several parts."""

    text: str | None
    host: int
    rank: int


_NOTHING = _Line("", 0, 0)


Memory = dict[tuple[str, str], int]
"""By example of a layout and text of a line that names no rank, with a zero for each digit: what
the line is to the record."""

_MOST = 2**14


def open_ended(
    cells: CellLayout,
    lines: range,
    others: pl.DataFrame,
    rows: Sequence[tuple[Layout, pl.DataFrame]],
    shown: int,
    memory: Memory,
) -> list[int]:
    """Line numbers of the rows whose record may go on below.

    `others` (line and text) are those of the lines that hold none of `rows`; a record whose end is
    not among the lines may go on. The last `shown` lines are behind the rows. `memory` is kept from
    block to block.
    """
    below = _Below(cells, lines, others, rows, memory)
    below.shown = shown
    pending = below.records
    found: list[int] = []
    for distance in range(1, cells.reach + 1):
        beyond = pending + distance >= len(lines)
        found += pending[beyond].tolist()
        pending = pending[~beyond]
        if not len(pending):
            break
        said = below.verdicts(pending, pending + distance)
        found += pending[said == _JOINS].tolist()
        pending = pending[said == _PASSED]
    return [below.first + at for at in found]


class _Below:
    """The lines of one block with what is known of each, by position."""

    def __init__(
        self,
        cells: CellLayout,
        lines: range,
        others: pl.DataFrame,
        rows: Sequence[tuple[Layout, pl.DataFrame]],
        memory: Memory,
    ) -> None:
        self.cells, self.others, self.memory, self.shown = cells, others, memory, 0
        self.first, self.height = lines.start, len(lines)
        self.layouts = [layout for layout, _ in rows]
        self.layout = np.full(self.height, -1, dtype=np.int16)
        self.who: dict[str, Places] = {}
        self.codes: dict[str, dict[str, int]] = {}
        places = [frame["line"].to_numpy().astype(np.int64) - self.first for _, frame in rows]
        for at, place in enumerate(places):
            self.layout[place] = at
        self.records: Places = np.flatnonzero(self.layout >= 0)
        for name in ("host", "rank"):
            self._tell_apart(name, places, [frame for _, frame in rows])
        self.asked = np.full(self.height, -1, dtype=np.int8)  # whether a line is uncertain
        self.known: dict[int, _Line] = {}
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
        """What each line of `below` is to the record at the same place in `records`."""
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
        if len(odd):
            self._recall(records[odd], below[odd], said, odd)
        return said

    def _recall(
        self, records: Places, below: Places, said: npt.NDArray[np.int8], odd: Places
    ) -> None:
        """The verdicts on lines like others before, and on the rest of them as on many."""
        texts = self._at(below)["text"].str.replace_all("[0-9]", "0")
        alike = (
            pl.DataFrame({"layout": self.layout[records], "text": texts})
            .with_row_index("at")
            .group_by("layout", "text", maintain_order=True)
            .agg("at")
        )
        keys = [(self.layouts[n].example, text) for n, text in alike["layout", "text"].iter_rows()]
        held = [self.memory.get(key, -1) for key in keys]
        sizes, places = alike["at"].list.len().to_numpy(), alike["at"].explode().to_numpy()
        said[odd[places]] = np.repeat(np.array(held, np.int8), sizes)
        new = np.sort(places[np.repeat(np.array(held) < 0, sizes)])
        if not len(new):
            return
        self._find_out(records[new], below[new], said, odd[new])
        for key, (first, *_), verdict in zip(keys, alike["at"].to_list(), held, strict=True):
            line = self.known.get(int(below[first]))
            nobody = line is None or (line.text is not None and (line.host, line.rank) == (0, 0))
            if verdict < 0 and nobody and len(self.memory) < _MOST:
                self.memory[key] = int(said[odd[first]])

    def _find_out(
        self, records: Places, below: Places, said: npt.NDArray[np.int8], odd: Places
    ) -> None:
        """Put the verdicts on lines that hold no row into `said`, at the places `odd`."""
        uncertain = self._uncertain(below)
        self._look_at(below[uncertain])
        verdicts = [
            self._verdict(record, line) if asked else _ENDS
            for record, line, asked in zip(
                records.tolist(), below.tolist(), uncertain.tolist(), strict=True
            )
        ]
        said[odd] = verdicts

    def _uncertain(self, places: Places) -> Mask:
        """Lines that do not end a record for certain: blank ones, other ranks', pieces."""
        if self.cells.may_go_on is None or not len(places):
            return np.ones(len(places), np.bool_)
        if (self.asked[places] < 0).any():
            ahead = places
            if (self.asked >= 0).any():  # those that are left may ask on: one search is for all
                ahead = np.unique(places[:, None] + np.arange(self.cells.reach))
                ahead = ahead[ahead < self.height]
            new = ahead[(self.asked[ahead] < 0) & (self.layout[ahead] < 0)]
            known = sorted({self.cells.may_go_on(layout.example) for layout in self.layouts})
            pattern = "|".join([ENDS_EMPTY, "\r", tells_who(), *known])
            self.asked[new] = self._at(new)["text"].str.contains(pattern).to_numpy()
        uncertain: Mask = self.asked[places] == 1
        return uncertain

    def _at(self, places: npt.ArrayLike) -> pl.DataFrame:
        """The lines at these places, which hold no row."""
        numbers = pl.Series(np.asarray(places, np.int64) + self.first, dtype=pl.UInt32)
        return self.others[self.others["line"].search_sorted(numbers)].select("line", "text")

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
        if line.text is None:
            return _JOINS
        foreign = (line.host not in (0, self.who["host"][record])) or (
            line.rank not in (0, self.who["rank"][record])
        )
        if not line.text or foreign:
            return _PASSED
        return self._asked(self.layouts[self.layout[record]].example, line.text)

    def _look_at(self, places: Places) -> None:
        """Peel the lines at these places, each once."""
        if len(places) and places.max() >= self.height - self.shown:
            # one of these is asked for after another
            places = np.append(places, np.arange(self.height - self.shown, self.height))
        new = [at for at in np.unique(places).tolist() if at not in self.known]
        some = self._at(new) if new else self.others.clear()
        empty = some["text"] == ""
        self.known.update((line - self.first, _NOTHING) for line in some["line"].filter(empty))
        some = some.filter(~empty)
        if some.is_empty():
            return
        parts = peel(some, glued=True)
        for line, text, host, rank in parts.select("line", "text", "host", "rank").iter_rows():
            at = line - self.first
            several = at in self.known
            self.known[at] = _Line(
                None if several else text.strip(),
                self.codes["host"].get(host, -1) if host else 0,
                self.codes["rank"].get(rank, -1) if rank else 0,
            )
