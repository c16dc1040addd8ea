"""Lines that are alike but for their digits, read from the bytes of a block, many at once.

In: rows that were read column by column, and the bytes they stand in. Out: `Shapes`, which read
other lines of the same shapes: every byte that is no digit the same, a digit where one stood. What
a layout proves of one such line it proves of all, whatever the digits; the few patterns that look
at a digit's value are asked for here. A shape is believed only if it gives, to the bit, the rows
that it was made from; lines of no known shape are left to the layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from assay.ingest.accept import BASE_TYPES, OTHER
from assay.ingest.block import Block, Mask, Places
from assay.ingest.checks import passes
from assay.ingest.digits import PAD, Bytes, decoded
from assay.ingest.layout import Layout
from assay.ingest.schema import fields
from assay.ingest.shape import ZERO, Shape, Text, is_digit, shape_of
from assay.ingest.split import others
from assay.ingest.types import Format, Schema

Found = list[tuple[Layout, pl.DataFrame]]
Same = Mapping[str, float]  # columns of one value

MOST = 128
"""Shapes kept of one input; beyond, columns are split by their separators."""

MOST_OF_A_LENGTH = 32
FEWEST = 4
"""Rows of a shape in a block, below which it is not worth its making."""

_SHORT = 2  # digits of a rank or a host
_AT_ONCE = 4096  # rows whose bytes stay in the cache


class _Part(NamedTuple):
    """Some lines of one shape: where they stand, their columns, and which of them are sound."""

    at: Places
    columns: dict[str, Any]
    texts: dict[str, Bytes]
    sound: Mask


@dataclass
class Shapes:
    """The shapes met so far in one input, for one format."""

    fmt: Format
    source: str
    by_length: dict[int, list[Shape]] = field(default_factory=dict)
    hopeless: set[bytes] = field(default_factory=set)
    count: int = 0

    @cached_property
    def schema(self) -> Schema:
        """The schema of the format's main frame."""
        return next(iter(self.fmt.schemas.values()))

    def read(self, block: Block, free: Mask) -> Found:
        """The rows of those `free` lines that are of a known shape, by layout.

        Rows are left that fail a check, or that only a parser can read exactly.
        """
        by_layout: dict[Layout, list[tuple[pl.DataFrame, Same]]] = {}
        for shape, parts in self._alike(block, free):
            part = _frame(shape, parts, block.first)
            if part[0].height:
                by_layout.setdefault(shape.layout, []).append(part)
        rows = ((layout, self._rows_of(layout, parts)) for layout, parts in by_layout.items())
        return [(layout, each) for layout, each in rows if passes(each, self.schema, partial=True)]

    def _alike(self, block: Block, free: Mask) -> Iterator[tuple[Shape, list[_Part]]]:
        """Every known shape with the lines of it."""
        lengths = np.where(free, block.stops - block.starts, -1)
        for length, shapes in [*self.by_length.items()]:
            at = np.flatnonzero(lengths == length)
            if not len(at):
                continue
            found = _sorted_out(block, at, length, shapes)
            yield from found.items()
            # what comes most often is tried first in the next block
            count = {shape: sum(len(part.at) for part in parts) for shape, parts in found.items()}
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
        rows = _rows(block, at, length)
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
        parts = _sorted_out(block, at, len(shape.base), [shape]).get(shape, [])
        mine = self._rows_of(shape.layout, [_frame(shape, parts, block.first)])
        theirs = frame.filter(pl.col("line").is_in(mine["line"].implode()))
        same = set(mine.columns) == set(theirs.columns)
        return same and mine.height > 0 and theirs.select(mine.columns).equals(mine)

    def _rows_of(self, layout: Layout, parts: Sequence[tuple[pl.DataFrame, Same]]) -> pl.DataFrame:
        """The rows of one layout with the columns that are alike in all, in the schema's order."""
        alike = parts[0][1]
        if any(same != alike for _, same in parts):
            parts, alike = [(_with(frame, same), {}) for frame, same in parts], {}
        frame = pl.concat([each for each, _ in parts])
        frame = frame.sort("line") if len(parts) > 1 else frame
        more = others(layout) if layout.others else _literal("other", pl.Series([[]], dtype=OTHER))
        frame = _with(frame, alike).with_columns(
            _literal("source", pl.Series([self.source], dtype=pl.String)),
            _literal("column", pl.Series([layout.width + 1], dtype=pl.UInt32)),
            more,
        )
        names = [*BASE_TYPES]
        for name in fields(self.schema):
            names += [name, f"{name}_ulp"]
        held = set(frame.columns)
        return frame.select(name for name in names if name in held)


def _literal(name: str, value: pl.Series) -> pl.Expr:
    return pl.lit(value).first().alias(name)


def _with(frame: pl.DataFrame, same: Same) -> pl.DataFrame:
    return frame.with_columns(pl.lit(value).alias(name) for name, value in same.items())


def _frame(shape: Shape, parts: Sequence[_Part], first: int) -> tuple[pl.DataFrame, Same]:
    """The rows of lines of one shape that need no parser, and the columns that are alike in all."""
    at = np.concatenate([part.at for part in parts] or [np.zeros(0, np.int64)])
    series = [pl.Series("line", at + first, dtype=pl.UInt32)]
    same: dict[str, float] = {}
    for name, value in parts[0].columns.items() if parts else ():
        if isinstance(value, np.ndarray) and value.ndim:
            values = [part.columns[name] for part in parts]
            series.append(pl.Series(name, np.concatenate(values) if len(parts) > 1 else value))
        else:
            same[name] = float(value)
    series += [
        _text(shape, text, [part.texts[text.name] for part in parts], len(at))
        for text in (shape.texts if parts else ())
    ]
    frame = pl.DataFrame(series)
    if not all(part.sound.all() for part in parts):
        frame = frame.filter(pl.Series(np.concatenate([part.sound for part in parts])))
    return frame, same


def _rows(block: Block, at: Places, length: int) -> Bytes:
    """The bytes of lines of one length, a row each."""
    windows = np.lib.stride_tricks.sliding_window_view(block.codes, length)
    found: Bytes = windows[block.starts[at]]
    return found


def _sorted_out(
    block: Block, at: Places, length: int, shapes: Sequence[Shape]
) -> dict[Shape, list[_Part]]:
    """Lines of one length by their shape, those of none left out."""
    found: dict[Shape, list[_Part]] = {}
    at = _probed(block, at, shapes)
    scratch = np.zeros((min(_AT_ONCE, len(at)), PAD + length), np.uint8)
    for begin in range(0, len(at), _AT_ONCE):
        some = at[begin : begin + _AT_ONCE]
        rows = _rows(block, some, length)
        for shape in shapes:
            digits = scratch[: len(some)]
            np.subtract(rows, shape.base, out=digits[:, PAD:])
            over = digits[:, PAD:] > shape.most
            if not over.any():
                found.setdefault(shape, []).append(_part(shape, some, digits))
                break
            other = over.any(axis=1)
            if not other.all():
                mine = _part(shape, some[~other], digits[~other])
                found.setdefault(shape, []).append(mine)
                some, rows = some[other], rows[other]
    return found


def _part(shape: Shape, at: Places, digits: Bytes) -> _Part:
    columns: dict[str, Any] = {}
    sound = np.ones(len(at), np.bool_)
    for number in shape.numbers:
        columns[number.name], ulp, fits = decoded(number, digits)
        if number.spec.has_ulp:
            columns[f"{number.name}_ulp"] = ulp
        if fits is not None:
            sound &= fits
    texts = {text.name: digits[:, PAD + text.start : PAD + text.end].copy() for text in shape.texts}
    return _Part(at, columns, texts, sound)


def _probed(block: Block, at: Places, shapes: Sequence[Shape]) -> Places:
    """The lines in which eight bytes are those of a shape; most others have been seen then."""
    if any(shape.probe < 0 for shape in shapes):
        return at
    words = np.lib.stride_tricks.sliding_window_view(block.codes, 8)
    fits = np.zeros(len(at), np.bool_)
    for probe in {shape.probe for shape in shapes}:
        said = words[block.starts[at] + probe].view(np.uint64).reshape(-1)
        there = (shape.base[probe : probe + 8] for shape in shapes if shape.probe == probe)
        for each in {word.tobytes() for word in there}:
            fits |= said == np.frombuffer(each, np.uint64)
    return at if fits.all() else at[fits]


def _text(shape: Shape, text: Text, cells: Sequence[Bytes], height: int) -> pl.Series:
    """The texts at one place, each spelling made once."""
    length = text.end - text.start
    base = shape.base[text.start : text.end]
    if not length or not shape.most[text.start : text.end].any():
        only = base.tobytes().decode("ascii")
        return pl.Series(text.name, [only], dtype=pl.String).new_from_index(0, height)
    digits = np.concatenate(cells)
    places = np.flatnonzero(shape.most[text.start : text.end])
    if len(places) <= _SHORT:  # each number that may stand there, spelled
        tens = 10 ** np.arange(len(places) - 1, -1, -1)
        which = digits[:, places].astype(np.int64) @ tens
        every = np.tile(base, (10 ** len(places), 1))
        every[:, places] += (np.arange(len(every))[:, None] // tens % 10).astype(np.uint8)
        known = [said.tobytes().decode("ascii") for said in every]
    else:
        spelled = np.ascontiguousarray(digits + base).view(f"S{length}").reshape(-1)
        each, which = np.unique(spelled, return_inverse=True)
        known = [said.decode("ascii") for said in each.tolist()]
    return pl.Series(text.name, known, dtype=pl.String).gather(which)
