"""Lines that are alike but for their digits, read from the bytes of a block, many at once.

In: rows that were read column by column, and the bytes they stand in. A `Shape` is made of a
template and one line of it: every byte that is no digit is fixed, a digit stands where one stood,
blanks or digits before an integer behind blanks. `Shapes` read other lines of the same shapes. What
a template proves of one such line it proves of all, whatever the digits; the few patterns that look
at a digit's value are asked for here. A shape is believed only if it gives, to the bit, the rows
that it was made from; lines of no known shape are left to the templates. Out: the rows of each
template in the order of their lines; a column of one value is made of that value alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.lines.byte_digits import (
    BLANK,
    MOST_DIGITS,
    NINE,
    SHORTEST,
    ZERO,
    Bytes,
    Lines,
    Number,
    Words,
    behind_blanks,
    decoded,
    exponent_of,
    number_at,
    words_of,
)
from assay.ingest.lines.rows import types_of
from assay.ingest.lines.template import CANONICAL, Found, Layout, others
from assay.ingest.schema.acceptance import OTHER, passes
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Format
from assay.ingest.schema.record import Schema
from assay.ingest.source.blocks import Block, Mask, Places

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
        """Every known shape with its lines."""
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


_TILDE = ord("~")

_PLAIN = re.compile(r"\[0-9\]|\{[0-9]+(?:,[0-9]*)?\}")


class Text(NamedTuple):
    """A text in its line, under the name it has among the cells of a layout."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Shape:
    """One spelling of a layout: the least and the greatest byte that may stand in each place.

    They differ where a digit stands, or a blank or a digit before others. `probe` is a place where
    eight bytes stand that are no digits, if there is one.
    """

    layout: Layout
    low: Bytes
    high: Bytes
    probe: int
    numbers: tuple[Number, ...]
    texts: tuple[Text, ...]

    def holds(self, lines: Lines) -> bool:
        """Whether all these lines are of this shape."""
        low, high = np.frombuffer(lines.low, np.uint8), np.frombuffer(lines.high, np.uint8)
        return bool((low >= self.low).all() and (high <= self.high).all())

    def which(self, lines: Lines) -> Mask:
        """Mask of the lines that are of this shape."""
        mine: Mask = np.all(lines.rows - self.low <= self.high - self.low, axis=1)
        return mine

    @cached_property
    def words(self) -> Words:
        """The words of all its numbers."""
        parts = (words_of(number) for number in self.numbers)
        powers = (exponent_of(number) for number in self.numbers)
        return Words.of([*(word for each in parts for word, _ in each), *filter(None, powers)])


def is_digit(data: Bytes) -> Mask:
    """Mask of the bytes that are digits."""
    return (data - np.uint8(ZERO)) < 10


def shape_of(layout: Layout, row: Bytes, schema: Schema) -> Shape | None:
    """The shape of one line of a layout; None where its like cannot be read from bytes."""
    if len(row) < SHORTEST or ((row < BLANK) | (row > _TILDE)).any():
        return None
    text = row.tobytes().decode("ascii")
    spans = _spans(layout, text)
    if spans is None or not _blind(layout.lead):
        return None
    specs = fields(schema)
    numbers: list[Number] = []
    texts = [Text(name, start, start + n) for name, start, n in layout.places]
    digit, floor = is_digit(row), layout.width
    for number, (value, (start, end)) in enumerate(zip(layout.values, spans, strict=True)):
        spec = specs.get(value.field)
        if value.pattern != CANONICAL and not _blind(value.pattern):
            return None
        if spec is None:
            texts.append(Text(f"v{number}", start, end))
        elif spec.dtype == pl.String:
            texts.append(Text(spec.name, start, end))
        else:
            scale = value.scale if value.scale != 1.0 else None
            found = number_at(spec, text, start, end, scale)
            if found is None:
                return None
            begin = behind_blanks(text, start, floor) if spec.dtype.is_integer() else start
            canonical = value.pattern == CANONICAL
            begin = max(begin, end - MOST_DIGITS)
            numbers.append(
                found._replace(whole=(begin, end), canonical=canonical, padded=begin < start)
                if begin < start
                else found._replace(canonical=canonical)
            )
            digit[begin:start] = True
        floor = end
    low = np.where(digit, np.uint8(ZERO), row)
    high = np.where(digit, np.uint8(NINE), row)
    for each in numbers:
        if each.padded:
            low[each.whole[0] : each.whole[1] - 1] = BLANK
    return Shape(layout, low, high, _probe(digit), tuple(numbers), tuple(texts))


def _blind(pattern: str) -> bool:
    """Whether a pattern that takes some digit in a place takes every digit there."""
    return not re.search("[0-9]", _PLAIN.sub("", pattern))


def _probe(digit: Mask) -> int:
    """Where the first eight bytes begin that hold no digit; -1 where there are none."""
    edges = [-1, *np.flatnonzero(digit).tolist(), len(digit)]
    return next((a + 1 for a, b in pairwise(edges) if b - a > 8), -1)


def _spans(layout: Layout, text: str) -> list[tuple[int, int]] | None:
    """From where to where each value of a layout stands in a line of it."""
    spans = []
    at = layout.width
    parts = text[at:].split(layout.separator)
    if len(parts) != len(layout.segments):
        return None
    for part, segment in zip(parts, layout.segments, strict=True):
        begin = len(segment.values[0].before) if segment.values else 0
        for number in range(len(segment.values)):
            end, skipped = len(part) - len(segment.after), 0
            if number + 1 < len(segment.values):
                before = segment.values[number + 1].before
                end, skipped = part.find(before, begin), len(before)
            value = part[begin:end]
            left = begin + len(value) - len(value.lstrip(" "))
            spans.append((at + left, at + left + len(value.strip(" "))))
            begin = end + skipped
        at += len(part) + len(layout.separator)
    return spans


_SHORT = 2  # digits of a rank or a host

Column = npt.NDArray[Any]
"""A value for each row, or one for all."""


class Part(NamedTuple):
    """Some lines of one shape: where they stand, their columns, and which are sound; None: all."""

    at: Places
    columns: dict[str, Column]
    texts: dict[str, Bytes]
    sound: Mask | None

    @property
    def are_sound(self) -> Mask:
        """Mask of the lines that are sound: their numbers were read exactly."""
        return np.ones(len(self.at), np.bool_) if self.sound is None else self.sound


def part_of(shape: Shape, at: Places, lines: Lines) -> Part:
    """Columns from lines of one shape; `at` is where the lines stand in their block."""
    columns: dict[str, Column] = {}
    sound: Mask | None = None
    words = shape.words.read(lines)
    for number in shape.numbers:
        values, ulp, fits = decoded(number, words, lines)
        columns[number.name] = np.asarray(values)
        if number.spec.has_ulp:
            columns[f"{number.name}_ulp"] = np.asarray(ulp, np.float64)
        if fits is not None:
            sound = fits if sound is None else sound & fits
    texts = {text.name: lines.rows[:, text.start : text.end].copy() for text in shape.texts}
    return Part(at, columns, texts, sound)


def rows_of(
    layout: Layout,
    found: Sequence[tuple[Shape, Sequence[Part]]],
    source: str,
    first: int,
    names: Sequence[str],
) -> pl.DataFrame:
    """The rows of one layout that need no parser, in a block whose first line is number `first`.

    They have those of the named columns that such lines print, in this order.
    """
    parts = [part for _, some in found for part in some]
    at = np.concatenate([part.at for part in parts])
    columns = {name: _joined(parts, name) for name in parts[0].columns}
    several = (pl.Series(name, values) for name, values in columns.items() if values.ndim)
    line = pl.Series("line", at + first, dtype=pl.UInt32)
    frame = pl.DataFrame([line, *several, *_texts(found)])
    if any(part.sound is not None for part in parts):
        frame = frame.filter(pl.Series(np.concatenate([part.are_sound for part in parts])))
    if not (at[1:] > at[:-1]).all():
        frame = frame.sort("line")
    none = _literal(pl.Series([[]], dtype=OTHER))
    made = {
        **{name: _alike(values) for name, values in columns.items() if not values.ndim},
        "source": _literal(pl.Series([source], dtype=pl.String)),
        "column": _literal(pl.Series([layout.width + 1], dtype=pl.UInt32)),
        "other": others(layout) if layout.others else none,
    }
    held = set(frame.columns)
    return frame.select(
        made[name].alias(name) if name in made else pl.col(name)
        for name in names
        if name in made or name in held
    )


def _literal(value: pl.Series) -> pl.Expr:
    return pl.lit(value).first()


def _alike(value: Column) -> pl.Expr:
    """A column of one value."""
    return pl.lit(value.item(), dtype=pl.Int64 if value.dtype.kind == "i" else pl.Float64)


def _joined(parts: Sequence[Part], name: str) -> Column:
    """The values of a column in all parts, or the one value that it has in all of them."""
    values = [part.columns[name] for part in parts]
    if not any(each.ndim for each in values) and len({each.tobytes() for each in values}) == 1:
        return values[0]
    return np.concatenate(
        [
            each if each.ndim else np.full(len(part.at), each)
            for each, part in zip(values, parts, strict=True)
        ]
    )


def _texts(found: Sequence[tuple[Shape, Sequence[Part]]]) -> Iterator[pl.Series]:
    """The texts of lines of one layout."""
    for number, text in enumerate(found[0][0].texts):
        each = [_text(shape, shape.texts[number], parts) for shape, parts in found]
        yield pl.concat(each).alias(text.name)


def _text(shape: Shape, text: Text, parts: Sequence[Part]) -> pl.Series:
    """The texts at one place, each spelling made once."""
    place = slice(text.start, text.end)
    low = shape.low[place]
    digits = np.flatnonzero(low < shape.high[place])
    if not len(digits):
        only = low.tobytes().decode("ascii")
        height = sum(len(part.at) for part in parts)
        return pl.Series(text.name, [only], dtype=pl.String).new_from_index(0, height)
    cells = np.concatenate([part.texts[text.name] for part in parts])
    if len(digits) <= _SHORT:  # each number that may stand there, spelled
        tens = 10 ** np.arange(len(digits) - 1, -1, -1)
        which = (cells[:, digits] - np.uint8(ZERO)).astype(np.int64) @ tens
        every = np.tile(low, (10 ** len(digits), 1))
        every[:, digits] += (np.arange(len(every))[:, None] // tens % 10).astype(np.uint8)
        known = [said.tobytes().decode("ascii") for said in every]
    else:
        spelled = np.ascontiguousarray(cells).view(f"S{len(low)}").reshape(-1)
        each, which = np.unique(spelled, return_inverse=True)
        known = [said.decode("ascii") for said in each.tolist()]
    return pl.Series(text.name, known, dtype=pl.String).gather(which)
