"""Lines that are alike but for their digits, read from the bytes of a block, many at once.

In: rows that were read column by column, and the bytes they stand in. Out: `Shapes`, which read
other lines of the same shapes: every byte that is no digit the same, a digit where one stood. What
a layout proves of one such line it proves of all, whatever the digits; the few patterns that look
at a digit's value are asked for here. A shape is believed only if it gives, to the bit, the rows
that it was made from; lines of no known shape are left to the layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from assay.ingest.block import Block, Mask, Places
from assay.ingest.checks import passes
from assay.ingest.digits import ZERO
from assay.ingest.layout import Found, Layout
from assay.ingest.rows import types_of
from assay.ingest.shape import Shape, is_digit, shape_of
from assay.ingest.shaped import Part, part_of, rows_of
from assay.ingest.types import Format, Schema
from assay.ingest.words import Bytes, Lines

MOST = 128
"""Shapes kept of one input; beyond, columns are split by their separators."""

MOST_OF_A_LENGTH = 32
FEWEST = 4
"""Rows of a shape in a block, below which it is not worth its making."""

_AT_ONCE = 2**14  # rows whose bytes are looked at together


@dataclass
class Shapes:
    """The shapes met so far in one input, for one format."""

    fmt: Format
    source: str
    by_length: dict[int, list[Shape]] = field(default_factory=dict)
    hopeless: set[bytes] = field(default_factory=set)
    pure: set[int] = field(default_factory=set)  # lengths of which no other lines were in a block
    count: int = 0

    @cached_property
    def schema(self) -> Schema:
        """The schema of the format's main frame."""
        return next(iter(self.fmt.schemas.values()))

    @cached_property
    def names(self) -> list[str]:
        """Its columns in order."""
        return list(types_of(self.schema))

    def read(self, block: Block, free: Mask) -> Found:
        """The rows of those `free` lines that are of a known shape, by layout.

        Rows are left that fail a check, or that only a parser can read exactly.
        """
        by_layout: dict[Layout, list[tuple[Shape, list[Part]]]] = {}
        for shape, parts in self._alike(block, free):
            by_layout.setdefault(shape.layout, []).append((shape, parts))
        rows = (
            (layout, rows_of(layout, some, self.source, block.first, self.names))
            for layout, some in by_layout.items()
        )
        return [
            (layout, each)
            for layout, each in rows
            if each.height and passes(each, self.schema, partial=True)
        ]

    def _alike(self, block: Block, free: Mask) -> Iterator[tuple[Shape, list[Part]]]:
        """Every known shape with the lines of it."""
        lengths = np.where(free, block.stops - block.starts, -1)
        for length, shapes in [*self.by_length.items()]:
            at = np.flatnonzero(lengths == length)
            if not len(at):
                continue
            some = at if length in self.pure else _probed(block, at, shapes)
            found = _sorted_out(block, some, length, shapes)
            yield from found.items()
            # what comes most often is tried first in the next block
            count = {shape: sum(len(part.at) for part in parts) for shape, parts in found.items()}
            if sum(count.values()) == len(at):
                self.pure.add(length)
            else:
                self.pure.discard(length)
            often = sorted(shapes, key=lambda shape, count=count: -count.get(shape, 0))  # type: ignore[misc]
            if len(often) == len(self.by_length[length]):
                self.by_length[length] = often

    def learn(self, block: Block, layout: Layout, frame: pl.DataFrame) -> None:
        """Make shapes of the lines of these rows, which are all of one layout."""
        at = frame["line"].to_numpy().astype(np.int64) - block.first
        lengths = (block.stops - block.starts)[at]
        for length, number in zip(*np.unique(lengths, return_counts=True), strict=True):
            known = self.by_length.get(int(length), [])
            if number < FEWEST or self.count >= MOST or len(known) >= MOST_OF_A_LENGTH:
                continue
            self._learn_length(block, layout, frame, at[lengths == length], int(length))

    def _learn_length(
        self, block: Block, layout: Layout, frame: pl.DataFrame, at: Places, length: int
    ) -> None:
        rows = _bytes(block, at, length)
        classes = np.where(is_digit(rows), np.uint8(ZERO), rows)
        bases, first, which, counts = np.unique(
            classes.view(f"V{length}").reshape(-1),
            return_index=True, return_inverse=True, return_counts=True,
        )  # fmt: skip
        for number in np.argsort(-counts).tolist():
            key, row = bases[number].tobytes(), rows[first[number]]
            known = self.by_length.setdefault(length, [])
            full = self.count >= MOST or len(known) >= MOST_OF_A_LENGTH
            if full or counts[number] < FEWEST or key in self.hopeless:
                continue
            some = at[which == number]
            if _sorted_out(block, some[:1], length, known):
                continue  # a shape that was made for others is that of these, too
            new = shape_of(layout, row, self.schema)
            if new is not None and self._gives(new, block, some, frame):
                known.append(new)
                self.count += 1
            else:
                self.hopeless.add(key)

    def _gives(self, shape: Shape, block: Block, at: Places, frame: pl.DataFrame) -> bool:
        """Whether a shape makes of these lines what stands in `frame`."""
        parts = _sorted_out(block, at, len(shape.low), [shape]).get(shape, [])
        if not parts:
            return False
        mine = rows_of(shape.layout, [(shape, parts)], self.source, block.first, self.names)
        theirs = frame.filter(pl.col("line").is_in(mine["line"].implode()))
        same = set(mine.columns) == set(theirs.columns)
        return same and mine.height > 0 and theirs.select(mine.columns).equals(mine)


def _bytes(block: Block, at: Places, length: int) -> Bytes:
    """The bytes of lines of one length, a row each."""
    windows = np.lib.stride_tricks.sliding_window_view(block.codes, length)
    found: Bytes = windows[block.starts[at]]
    return found


def _sorted_out(
    block: Block, at: Places, length: int, shapes: Sequence[Shape]
) -> dict[Shape, list[Part]]:
    """Lines of one length by their shape, those of none left out."""
    found: dict[Shape, list[Part]] = {}
    for begin in range(0, len(at), _AT_ONCE):
        some = at[begin : begin + _AT_ONCE]
        lines = Lines.of(_bytes(block, some, length))
        for shape in shapes:
            if shape.holds(lines):
                found.setdefault(shape, []).append(part_of(shape, some, lines))
                break
            mine = shape.which(lines)
            if mine.any():
                part = part_of(shape, some[mine], Lines.of(lines.rows[mine]))
                found.setdefault(shape, []).append(part)
                some, lines = some[~mine], Lines.of(lines.rows[~mine])
    return found


def _probed(block: Block, at: Places, shapes: Sequence[Shape]) -> Places:
    """The lines in which eight bytes are those of a shape; most others have been seen then."""
    if any(shape.probe < 0 for shape in shapes):
        return at
    words = np.lib.stride_tricks.sliding_window_view(block.codes, 8)
    fits = np.zeros(len(at), np.bool_)
    for probe in {shape.probe for shape in shapes}:
        said = words[block.starts[at] + probe].view(np.uint64).reshape(-1)
        there = (shape.low[probe : probe + 8] for shape in shapes if shape.probe == probe)
        for each in {word.tobytes() for word in there}:
            fits |= said == np.frombuffer(each, np.uint64)
    return at if fits.all() else at[fits]
