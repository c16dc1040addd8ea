"""Rows that the blocks of one input give: few of them are put together, many are kept in files.

In: rows by layout, block by block. Out: `Rows` by format, in order.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from assay.ingest.layout import Found, Layout
from assay.ingest.rows import Rows

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
        """All of them, of the formats that have any."""
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
