"""Lines that are alike but for their digits, read from the bytes of a block, many at once.

In: rows that were read column by column, and the bytes they stand in. Out: `Shapes`, which read
other lines of the same shapes: every byte that is no digit the same, a digit where one stood. What
a layout proves of one such line it proves of all, whatever the digits; the few patterns that look
at a digit's value are asked for here. A shape is believed only if it gives, to the bit, the rows
that it was made from; lines of no known shape are left to the layouts.
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
from assay.ingest.accept import BASE_TYPES, OTHER
from assay.ingest.checks import passes
from assay.ingest.layout import CANONICAL, Layout, others
from assay.ingest.numbers import FIXED
from assay.ingest.schema import FieldSpec, fields
from assay.ingest.source import Block
from assay.ingest.types import Format, Schema

Found = list[tuple[Layout, pl.DataFrame]]
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MOST = 128
"""Shapes kept of one input; beyond, columns are split by their separators."""

MOST_OF_A_LENGTH = 32
FEWEST = 4
"""Rows of a shape in a block, below which it is not worth its making."""

_AT_ONCE = 2048  # rows whose bytes stay in the cache
_PAD = 8  # bytes before each row, so that eight can be read that end anywhere
_DIGITS = 15  # a number of so many digits is exact in a double
_POWER = 22  # so is ten to this power, hence one division or product rounds as a parser does
_ZERO, _BLANK, _TILDE = b"0 ~"
_BLANK_LESS_ZERO = (_BLANK - _ZERO) % 256
_NUMBER = re.compile(r"([+-]?)([0-9]+)(?:(\.)([0-9]*))?(?:[eE]([+-]?)([0-9]{1,3}))?")
_PLAIN = re.compile(r"\[0-9\]|\{[0-9]+(?:,[0-9]*)?\}")
_TENS = 10.0 ** np.arange(_POWER + 1)


class _Number(NamedTuple):
    """Where the digits of a number stand in its line, and what its column makes of it."""

    name: str
    whole: tuple[int, int]
    fraction: tuple[int, int]
    power: tuple[int, int]  # of its exponent; empty: none
    negative: bool
    shrinks: bool  # the exponent is negative
    scale: float | None
    spec: FieldSpec
    canonical: bool
    padded: bool  # blanks may stand in place of its first digits


class _Text(NamedTuple):
    """A text in its line, under the name it has among the cells of a layout."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Shape:
    """One spelling of a layout: `base` has a zero where a digit stands, `most` nine, else nothing.

    A number that stands behind blanks may have more digits, and fewer blanks, or the reverse.
    `probe` is a place where eight bytes stand that are no digits, if there is one.
    """

    layout: Layout
    base: Bytes
    most: Bytes
    probe: int
    numbers: tuple[_Number, ...]
    texts: tuple[_Text, ...]


class _Part(NamedTuple):
    """Some lines of one shape: where they stand, their columns, and which of them are sound."""

    at: Places
    columns: dict[str, Any]
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
        by_layout: dict[Layout, list[pl.DataFrame]] = {}
        for shape, parts in self._alike(block, free):
            frame = self._frame(shape, parts, block.first)
            if frame.height:
                by_layout.setdefault(shape.layout, []).append(frame)
        found = []
        for layout, frames in by_layout.items():
            frame = pl.concat(frames).sort("line") if len(frames) > 1 else frames[0]
            if passes(frame, self.schema, partial=True):
                found.append((layout, frame))
        return found

    def _alike(self, block: Block, free: Mask) -> Iterator[tuple[Shape, list[_Part]]]:
        """Every known shape with the lines of it."""
        lengths = np.where(free, block.stops - block.starts, -1)
        for length, shapes in self.by_length.items():
            at = np.flatnonzero(lengths == length)
            if not len(at):
                continue
            found = _sorted_out(block, at, length, shapes)
            yield from found.items()
            # what comes most often is tried first in the next block
            count = {shape: sum(len(part.at) for part in parts) for shape, parts in found.items()}
            shapes.sort(key=lambda shape, count=count: -count.get(shape, 0))  # type: ignore[misc]

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
        classes = np.where(_is_digit(rows), np.uint8(_ZERO), rows)
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
            new = _shape(layout, row, self.schema)
            if new is not None and self._gives(new, block, some, frame):
                known.append(new)
                self.count += 1
            else:
                self.hopeless.add(key)

    def _gives(self, shape: Shape, block: Block, at: Places, frame: pl.DataFrame) -> bool:
        """Whether a shape makes of these lines what stands in `frame`."""
        parts = _sorted_out(block, at, len(shape.base), [shape]).get(shape, [])
        mine = self._frame(shape, parts, block.first)
        theirs = frame.filter(pl.col("line").is_in(mine["line"].implode()))
        same = set(mine.columns) == set(theirs.columns)
        return same and mine.height > 0 and theirs.select(mine.columns).equals(mine)

    def _frame(self, shape: Shape, parts: Sequence[_Part], first: int) -> pl.DataFrame:
        """The rows of lines of one shape, without those that only a parser can read."""
        at = np.concatenate([part.at for part in parts] or [np.zeros(0, np.int64)])
        series = [pl.Series("line", at + first, dtype=pl.UInt32)]
        series += [
            _series(number, [part.columns[number] for part in parts], len(at))
            for number in (parts[0].columns if parts else ())
            if not number.startswith("@")
        ]
        series += [
            _text(shape, each, [part.columns[f"@{each.name}"] for part in parts], len(at))
            for each in shape.texts
            if parts
        ]
        frame = pl.DataFrame(series)
        if not all(part.sound.all() for part in parts):
            frame = frame.filter(pl.Series(np.concatenate([part.sound for part in parts])))
        return self._finished(shape.layout, frame)

    def _finished(self, layout: Layout, frame: pl.DataFrame) -> pl.DataFrame:
        """With the columns that are alike in all rows, in the order of the schema."""
        constant = {
            "source": pl.Series([self.source], dtype=pl.String),
            "column": pl.Series([layout.width + 1], dtype=pl.UInt32),
        }
        more = [others(layout)] if layout.others else []
        if not layout.others:
            constant["other"] = pl.Series([[]], dtype=OTHER)
        frame = frame.with_columns(
            *(pl.lit(value).first().alias(name) for name, value in constant.items()), *more
        )
        names = [*BASE_TYPES]
        for name in fields(self.schema):
            names += [name, f"{name}_ulp"]
        held = set(frame.columns)
        return frame.select(name for name in names if name in held)


def _is_digit(data: Bytes) -> npt.NDArray[np.bool_]:
    return (data - np.uint8(_ZERO)) < 10


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
    scratch = np.zeros((min(_AT_ONCE, len(at)), _PAD + length), np.uint8)
    for begin in range(0, len(at), _AT_ONCE):
        some = at[begin : begin + _AT_ONCE]
        rows = _rows(block, some, length)
        for shape in shapes:
            digits = scratch[: len(some)]
            np.subtract(rows, shape.base, out=digits[:, _PAD:])
            sound = _padded(shape, digits)
            over = digits[:, _PAD:] > shape.most
            if not over.any():
                found.setdefault(shape, []).append(_part(shape, some, digits, sound))
                break
            other = over.any(axis=1)
            if not other.all():
                mine = _part(shape, some[~other], digits[~other], sound[~other])
                found.setdefault(shape, []).append(mine)
                some, rows = some[other], rows[other]
    return found


def _padded(shape: Shape, digits: Bytes) -> Mask:
    """Put zeros for the blanks before padded numbers; which lines are sound so far."""
    sound = np.ones(len(digits), np.bool_)
    for number in shape.numbers:
        start, end = number.whole
        cells = digits[:, _PAD + start : _PAD + end]
        if number.padded:
            blank = cells == _BLANK_LESS_ZERO
            # no blank behind a digit, and a digit at the end
            sound &= ~((blank[:, 1:] & ~blank[:, :-1]).any(axis=1) | blank[:, -1])
            if number.canonical and end - start > 1:
                first = ~blank[:, :-1]
                first[:, 1:] &= blank[:, :-2]
                sound &= ~(first & (cells[:, :-1] == 0)).any(axis=1)
            cells[blank] = 0
        elif number.canonical and end - start > 1:
            sound &= cells[:, 0] > 0
    return sound


def _part(shape: Shape, at: Places, digits: Bytes, sound: Mask) -> _Part:
    columns: dict[str, Any] = {}
    for number in shape.numbers:
        columns[number.name], ulp, fits = _decoded(number, digits)
        if number.spec.has_ulp:
            columns[f"{number.name}_ulp"] = ulp
        if fits is not None:
            sound = sound & fits
    for text in shape.texts:
        columns[f"@{text.name}"] = digits[:, _PAD + text.start : _PAD + text.end].copy()
    return _Part(at, columns, sound)


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


def _shape(layout: Layout, row: Bytes, schema: Schema) -> Shape | None:
    """The shape of one line of a layout; None where its like cannot be read from bytes."""
    if ((row < _BLANK) | (row > _TILDE)).any():
        return None
    text = row.tobytes().decode("ascii")
    spans = _spans(layout, text)
    if spans is None or not _blind(layout.lead):
        return None
    specs = fields(schema)
    numbers: list[_Number] = []
    texts = [_Text(name, start, start + n) for name, start, n in layout.places]
    digit, floor = _is_digit(row), layout.width
    for number, (value, (start, end)) in enumerate(zip(layout.values, spans, strict=True)):
        spec = specs.get(value.field)
        if value.pattern != CANONICAL and not _blind(value.pattern):
            return None
        if spec is None:
            texts.append(_Text(f"v{number}", start, end))
        elif spec.dtype == pl.String:
            texts.append(_Text(spec.name, start, end))
        else:
            scale = value.scale if value.scale != 1.0 else None
            found = _number(spec, text, start, end, scale)
            if found is None:
                return None
            begin = _behind_blanks(text, start, floor) if spec.dtype.is_integer() else start
            canonical = value.pattern == CANONICAL
            begin = max(begin, end - _DIGITS)
            numbers.append(
                found._replace(whole=(begin, end), canonical=canonical, padded=begin < start)
                if begin < start
                else found._replace(canonical=canonical)
            )
            digit[begin:start] = True
        floor = end
    base = np.where(digit, np.uint8(_ZERO), row)
    most = np.where(digit, np.uint8(9), np.uint8(0))
    return Shape(layout, base, most, _probe(digit), tuple(numbers), tuple(texts))


def _blind(pattern: str) -> bool:
    """Whether a pattern takes any digit where it takes one."""
    return not re.search("[0-9]", _PLAIN.sub("", pattern))


def _probe(digit: npt.NDArray[np.bool_]) -> int:
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


def _number(
    spec: FieldSpec, text: str, start: int, end: int, scale: float | None
) -> _Number | None:
    """A number as it is read from digits; None where that would not be exact."""
    said = _NUMBER.fullmatch(text, start, end)
    if said is None or not spec.numeric:
        return None
    whole, fraction, power = said.span(2), said.span(4), said.span(6)
    digits = whole[1] - whole[0] + fraction[1] - fraction[0]
    if spec.dtype.is_integer():
        plain = not (said[1] or said[3] or said[6]) and scale is None and spec.dtype == pl.Int64
        if not plain or digits > _DIGITS:
            return None
    elif digits > _DIGITS or spec.dtype != pl.Float64:
        return None
    return _Number(
        spec.name, whole, fraction if said[4] else (0, 0), power if said[6] else (0, 0),
        said[1] == "-", said[5] == "-", scale, spec, canonical=False, padded=False,
    )  # fmt: skip


def _behind_blanks(text: str, start: int, floor: int) -> int:
    """Where the blanks begin behind which a number stands; one is left to its label."""
    begin = start - (len(text[floor:start]) - len(text[floor:start].rstrip(" ")))
    return min(begin + 1, start)


def _decoded(number: _Number, digits: Bytes) -> tuple[Any, Any, Mask | None]:
    """Values of a column, its units in the last place, and which rows are exact; None: all."""
    sound = None
    mantissa = _mantissa(number, digits)
    if number.spec.dtype.is_integer():
        return mantissa.astype(np.int64), None, sound
    decimals = number.fraction[1] - number.fraction[0]
    values = mantissa.astype(np.float64)
    power: Any = -decimals
    if number.power[1]:
        exponent = _whole(digits, *number.power).astype(np.int64)
        power = (-exponent if number.shrinks else exponent) - decimals
        sound = np.abs(power) <= _POWER
        power = np.where(sound, power, 0)
        values = np.where(power < 0, values / _TENS[np.abs(power)], values * _TENS[np.abs(power)])
    elif decimals:
        values = values / _TENS[decimals]
    if number.negative:
        values = -values
    fixed = FIXED.fullmatch(number.spec.kind)
    ulp = 10.0 ** -int(fixed[1]) if fixed else _places()[power + 2 * _POWER]
    if number.scale is not None:
        values, ulp = values * number.scale, ulp * number.scale
    return values, ulp, sound


_PLACES: list[npt.NDArray[np.float64]] = []


def _places() -> npt.NDArray[np.float64]:
    """Powers of ten from -44 to 44, as `last_place` has them."""
    if not _PLACES:
        powers = pl.Series(range(-2 * _POWER, 2 * _POWER + 1), dtype=pl.Float64)
        _PLACES.append(pl.select(pl.lit(10.0).pow(powers)).to_series().to_numpy())
    return _PLACES[0]


def _mantissa(number: _Number, digits: Bytes) -> npt.NDArray[np.uint64]:
    """The digits of a number without its point."""
    start, end = number.whole
    if not number.fraction[1]:
        return _whole(digits, start, end)
    begin, stop = number.fraction
    after = stop - begin
    if stop - start <= 8:  # eight bytes hold all of it: what stands before the point moves up to it
        word = _word(digits, stop)
        behind = (word >> _bits(8 - after)) << _bits(8 - after)
        before = (word << _bits(1 + after)) >> _bits(1 + after)  # the point is a zero here
        before = (before >> _bits(8 - (stop - start))) << _bits(8 - (stop - start))
        return _value(behind | (before << _bits(1)))
    tens = np.uint64(10**after)
    return _whole(digits, start, end) * tens + _whole(digits, begin, stop)


def _whole(digits: Bytes, start: int, end: int) -> npt.NDArray[np.uint64]:
    """The number that stands from `start` to `end`, of at most sixteen digits."""
    if end - start > 8:
        return _whole(digits, start, end - 8) * np.uint64(10**8) + _value(_word(digits, end))
    blank = _bits(8 - (end - start))
    return _value((_word(digits, end) >> blank) << blank)


def _bits(count: int) -> np.uint64:
    return np.uint64(8 * count)


def _word(digits: Bytes, end: int) -> npt.NDArray[np.uint64]:
    """The eight bytes before column `end`, the first of them lowest."""
    height, width = digits.shape
    return np.ndarray((height,), "<u8", digits, end + _PAD - 8, (width,)).astype(np.uint64)


_PAIRS = np.uint64(0x000000FF000000FF)
_OUTER, _INNER = np.uint64(100 + (10**6 << 32)), np.uint64(1 + (10**4 << 32))


def _value(word: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Eight digits, the most significant in the lowest byte, as a number: pairs, then their sum."""
    word = word * np.uint64(10) + (word >> np.uint64(8))
    outer, inner = word & _PAIRS, (word >> np.uint64(16)) & _PAIRS
    return (outer * _OUTER + inner * _INNER) >> np.uint64(32)


def _series(name: str, values: Sequence[Any], height: int) -> pl.Series:
    if isinstance(values[0], np.ndarray) and values[0].ndim:
        return pl.Series(name, np.concatenate(values) if len(values) > 1 else values[0])
    return pl.Series(name, np.full(height, values[0]))


def _text(shape: Shape, text: _Text, cells: Sequence[Bytes], height: int) -> pl.Series:
    """The texts at one place, each spelling made once."""
    length = text.end - text.start
    base = shape.base[text.start : text.end]
    if not length or not shape.most[text.start : text.end].any():
        only = base.tobytes().decode("ascii")
        return pl.Series(text.name, [only], dtype=pl.String).new_from_index(0, height)
    spelled = np.ascontiguousarray(np.concatenate(cells) + base).view(f"S{length}").reshape(-1)
    each, which = np.unique(spelled, return_inverse=True)
    known = [said.decode("ascii") for said in each.tolist()]
    return pl.Series(text.name, known, dtype=pl.String).gather(which)
