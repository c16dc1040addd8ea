"""Lines below one that opens something, as far as they may belong to it.

In: line numbers where something is opened and closed, in order. Out: the lines within reach. What
is open under the last of several openings is open until as many closings have come: ranks print
their dumps into each other. What is never closed is open as far as its reach goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.ingest.block import Mask, Places
from assay.ingest.types import Reach


class Edges(NamedTuple):
    """Line numbers where something opens, and where it closes."""

    opens: Places
    closes: Places

    def joined(self, other: Edges) -> Edges:
        """Both."""
        if not (len(other.opens) or len(other.closes)):
            return self
        return Edges(*(np.union1d(mine, more) for mine, more in zip(self, other, strict=True)))

    def among(self, stands: Mask, first: int) -> Edges:
        """Those on lines that a mask of lines from `first` on marks."""
        return Edges(*(lines[stands[lines - first]] for lines in self))


class Open(NamedTuple):
    """What is open at some line: how many, and where the last of them began."""

    many: int = 0
    last: int = 0


NOTHING = Edges(np.zeros(0, np.int64), np.zeros(0, np.int64))


def edges(lines: pl.DataFrame, head: str, reach: Reach) -> Edges:
    """Where lines (line, text) open and close what `head` opens."""

    def found(pattern: str) -> Places:
        return lines["line"].filter(lines["text"].str.contains(pattern)).to_numpy().astype(np.int64)

    return Edges(found(head), found(reach.closed) if reach.closed else NOTHING.closes)


def spans(edges: Edges, reach: Reach, above: Open, end: int) -> Iterator[tuple[int, int]]:
    """First and last line of what is within reach, up to line `end`; `above` is open before."""
    count, last = above
    for line, opens in _events(edges):
        if count:
            yield last, min(line, last + reach.lines)
        count, last = (count + 1, line) if opens else (max(count - 1, 0), last)
    if count:
        yield last, min(end, last + reach.lines)


def after(edges: Edges, above: Open) -> Open:
    """What is open behind these edges."""
    count, last = above
    for line, opens in _events(edges):
        count, last = (count + 1, line) if opens else (max(count - 1, 0), last)
    return Open(count, last)


def marked(edges: Edges, reach: Reach, above: Open, lines: Places) -> Mask:
    """Which of these lines, given in order, are within reach."""
    within = np.zeros(len(lines), np.bool_)
    if len(lines):
        for begin, end in spans(edges, reach, above, int(lines[-1])):
            within[np.searchsorted(lines, begin) : np.searchsorted(lines, end, "right")] = True
    return within


def _events(edges: Edges) -> list[tuple[int, bool]]:
    opens = [(line, True) for line in edges.opens.tolist()]
    return sorted(opens + [(line, False) for line in edges.closes.tolist()])
