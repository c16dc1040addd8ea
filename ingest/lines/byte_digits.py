"""Numbers from the bytes of lines that are alike but for their digits, all columns at once.

In: lines that are alike, and where the digits of each number stand in them. Digits are read eight
bytes at a time as little-endian integers: the first byte is the lowest, the low four bits of a
digit are its value, those of a blank are none. Out: values and units in the last place as a parser
gives them, to the bit: an integer of at most fifteen digits is exact in a double, a power of ten up
to 10²² too, so that one product or quotient of the two is rounded as the nearest double of the
printed number is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import ne
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.numbers.printed import FIXED
from assay.ingest.schema.fields import FieldSpec
from assay.ingest.source.blocks import Mask

BLANK, ZERO, NINE = b" 09"

MOST_DIGITS = 15

_POWER = 22

_NUMBER = re.compile(r"([+-]?)([0-9]+)(?:(\.)([0-9]*))?(?:[eE]([+-]?)([0-9]{1,3}))?")

_TENS = np.array([float(10**power) for power in range(_POWER + 1)])

_EIGHT = 8  # digits of a word


class Number(NamedTuple):
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


def number_at(
    spec: FieldSpec, text: str, start: int, end: int, scale: float | None
) -> Number | None:
    """A number as it is read from digits; None where that would not be exact."""
    said = _NUMBER.fullmatch(text, start, end)
    if said is None or not spec.numeric:
        return None
    whole, fraction, power = said.span(2), said.span(4), said.span(6)
    digits = whole[1] - whole[0] + fraction[1] - fraction[0]
    if spec.dtype.is_integer():
        plain = not (said[1] or said[3] or said[6]) and scale is None and spec.dtype == pl.Int64
        if not plain or digits > MOST_DIGITS:
            return None
    elif digits > MOST_DIGITS or spec.dtype != pl.Float64:
        return None
    return Number(
        spec.name, whole, fraction if said[4] else (0, 0), power if said[6] else (0, 0),
        said[1] == "-", said[5] == "-", scale, spec, canonical=False, padded=False,
    )  # fmt: skip


def behind_blanks(text: str, start: int, floor: int) -> int:
    """Where the blanks begin behind which a number stands; one is left to its label."""
    begin = start - (len(text[floor:start]) - len(text[floor:start].rstrip(" ")))
    return min(begin + 1, start)


def words_of(number: Number) -> list[tuple[Word, int]]:
    """The words of a number without its exponent, and the power of ten of each; the last first."""
    (start, end), (begin, stop) = number.whole, number.fraction
    if not stop:
        return _words(start, end, 0)
    if stop - start <= _EIGHT:
        return [(Word(stop, end - start, stop - begin), 0)]
    return _words(begin, stop, 0) + _words(start, end, stop - begin)


def _words(start: int, end: int, power: int) -> list[tuple[Word, int]]:
    found = []
    while end - start > _EIGHT:
        found.append((Word(end, _EIGHT), power))
        end, power = end - _EIGHT, power + _EIGHT
    return [*found, (Word(end, end - start), power)]


def exponent_of(number: Number) -> Word | None:
    """The word of an exponent, if there is one."""
    start, end = number.power
    return Word(end, end - start) if end else None


def decoded(
    number: Number, words: Mapping[Word, Said], lines: Lines
) -> tuple[Any, Any, Mask | None]:
    """Values of a column, its units in the last place, and which rows are exact; None: all.

    Values and units that are alike in all rows are given once.
    """
    sound = _sound(number, lines)
    mantissa = _sum([(words[word], power) for word, power in words_of(number)])
    if number.spec.dtype.is_integer():
        return mantissa.view(np.int64), None, sound
    decimals = number.fraction[1] - number.fraction[0]
    power: Any = -decimals
    exponent = exponent_of(number)
    if exponent is None:
        values = mantissa / _TENS[decimals] if decimals else mantissa.astype(np.float64)
    else:
        said = words[exponent].values.view(np.int64)
        said = said[0] if words[exponent].alike else said
        power = (-said if number.shrinks else said) - decimals
        within = np.broadcast_to(np.abs(power) <= _POWER, len(lines.rows))
        values, power = _shifted(mantissa.astype(np.float64), power)
        if not within.all():
            sound = within if sound is None else sound & within
    if number.negative:
        values = -values
    fixed = FIXED.fullmatch(number.spec.kind)
    ulp = 10.0 ** -int(fixed[1]) if fixed else _places()[power + 2 * _POWER]
    if number.scale is not None:
        values, ulp = values * number.scale, ulp * number.scale
    return values, ulp, sound


def _sum(parts: Sequence[tuple[Said, int]]) -> Any:
    """The number that words make together, or a number for each row."""
    found: Any = None
    for said, power in parts:
        values = said.values[0] if said.alike else said.values
        values = values * np.uint64(10**power) if power else values
        found = values if found is None else found + values
    return found


def _shifted(values: Any, power: Any) -> tuple[Any, Any]:
    """Values times a power of ten, and that power; 0 where it is too large to be exact."""
    power = np.where(np.abs(power) <= _POWER, power, 0)
    tens = _TENS[np.abs(power)]
    if power.ndim:
        return np.where(power < 0, values / tens, values * tens), power
    return (values / tens if power < 0 else values * tens), power


def _sound(number: Number, lines: Lines) -> Mask | None:
    """Mask of the rows with a number where it should be; None: all of them."""
    start, end = number.whole
    low, high = lines.low[start:end], lines.high[start:end]
    blanks = len(high) - len(high.lstrip(b" ")) if number.padded else 0  # in all rows
    first = low[blanks:]
    if min(first) >= ZERO and (not number.canonical or len(first) == 1 or first[0] > ZERO):
        return None
    return _numbers(np.ascontiguousarray(lines.rows[:, start:end].T), canonical=number.canonical)


def _numbers(cells: Bytes, *, canonical: bool) -> Mask:
    """Mask of the columns of bytes that are blanks, or none, and then digits, the last a digit.

    A `canonical` number has no zero before others.
    """
    digit, blank = cells >= ZERO, cells == BLANK
    sound: Mask = np.all(digit | blank, axis=0)
    sound &= ~(digit[:-1] & blank[1:]).any(axis=0)
    if canonical:
        zero = cells[:-1] == ZERO
        zero[1:] &= blank[:-2]
        sound &= ~zero.any(axis=0)
    return sound


_PLACES: list[npt.NDArray[np.float64]] = []


def _places() -> npt.NDArray[np.float64]:
    """Powers of ten from -44 to 44, as `last_place` has them."""
    if not _PLACES:
        powers = pl.Series(range(-2 * _POWER, 2 * _POWER + 1), dtype=pl.Float64)
        _PLACES.append(pl.select(pl.lit(10.0).pow(powers)).to_series().to_numpy())
    return _PLACES[0]


Bytes = npt.NDArray[np.uint8]

Whole = npt.NDArray[np.uint64]

SHORTEST = 8
"""Bytes of the shortest line in which words can be read."""

_TOGETHER = 16

_ALL = 2**64 - 1

_VALUES = 0x0F0F0F0F0F0F0F0F


class Lines(NamedTuple):
    """The bytes of lines of one length, a row each; the least and the greatest of each column."""

    rows: Bytes
    low: bytes
    high: bytes

    @classmethod
    def of(cls, rows: Bytes) -> Lines:
        """The bytes of `rows`, of which there is at least one row."""
        return cls(rows, _extreme(np.minimum, rows), _extreme(np.maximum, rows))


def _extreme(of: np.ufunc, rows: Bytes) -> bytes:
    """The least or the greatest byte of each column; some rows are looked at as one."""
    height, width = rows.shape
    most = height - height % _TOGETHER
    found = rows[most:]
    if most:
        long = of.reduce(rows[:most].reshape(-1, _TOGETHER * width), axis=0)
        found = np.concatenate([long.reshape(_TOGETHER, width), found])
    return bytes(of.reduce(found, axis=0))


class Word(NamedTuple):
    """Up to eight bytes that end before the column `end`: digits, or a point among digits."""

    end: int
    whole: int  # digits before the point, or all
    fraction: int = 0  # digits behind it

    @property
    def start(self) -> int:
        """The byte at which the number begins."""
        return self.end - self.whole - (self.fraction + 1 if self.fraction else 0)

    @property
    def moved(self) -> int:
        """A mask of what stands before the point: it goes where the point is."""
        return (_last(self.whole) >> 8 * (1 + self.fraction)) & _VALUES if self.fraction else 0

    @property
    def mask(self) -> int:
        """A mask of the values of all its digits."""
        return _last(self.fraction or self.whole) & _VALUES | self.moved


def _last(count: int) -> int:
    """A mask of the last bytes of a word."""
    return _ALL & ~(_ALL >> 8 * count)


class Said(NamedTuple):
    """Values of a word: one for each row, or a single one where all rows are `alike`."""

    values: Whole
    alike: bool


@dataclass(frozen=True)
class Words:
    """Words to be read together, those with a point last."""

    every: tuple[Word, ...]

    @classmethod
    def of(cls, words: Sequence[Word]) -> Words:
        """The words in the order in which they are read."""
        return cls(tuple(sorted(words, key=lambda word: word.fraction > 0)))

    def read(self, lines: Lines) -> dict[Word, Said]:
        """Values of every word in these lines."""
        differ = [0, *accumulate(map(ne, lines.low, lines.high))]
        alike = [word for word in self.every if differ[word.start] == differ[word.end]]
        other = [word for word in self.every if differ[word.start] != differ[word.end]]
        return _said(lines.rows[:1], alike, alike=True) | _said(lines.rows, other, alike=False)


def _said(rows: Bytes, words: Sequence[Word], *, alike: bool) -> dict[Word, Said]:
    held = np.empty((len(words), len(rows)), np.uint64)
    for word, mine in zip(words, held, strict=True):
        _masked(rows, word, word.mask, mine)
    points = sum(word.fraction > 0 for word in words)
    if points:
        _closed(held[-points:], [word.moved for word in words[-points:]])
    _value(held)
    return {word: Said(mine, alike) for word, mine in zip(words, held, strict=True)}


def _masked(rows: Bytes, word: Word, mask: int, out: Whole) -> None:
    """The bytes of a word in every row, as far as a mask goes."""
    height, width = rows.shape
    before = max(8 - word.end, 0)  # bytes that are not there, before a line
    found = np.ndarray((height,), "<u8", rows, max(word.end - 8, 0), (width,))
    if before:
        found = found << np.uint64(8 * before)
    np.bitwise_and(found, np.uint64(mask), out=out)


def _closed(words: Whole, masks: Sequence[int]) -> None:
    """Close the gap of a point: what stands before it moves up."""
    before = words & np.array(masks, np.uint64)[:, None]
    words ^= before
    before <<= np.uint64(8)
    words |= before


_PAIRS = np.uint64(0x000000FF000000FF)

_OUTER, _INNER = np.uint64(100 + (10**6 << 32)), np.uint64(1 + (10**4 << 32))


def _value(words: Whole) -> None:
    """Make numbers of words of eight digits: their pairs, then the sum of these."""
    other = words >> np.uint64(8)
    words *= np.uint64(10)
    words += other
    np.right_shift(words, np.uint64(16), out=other)
    other &= _PAIRS
    other *= _INNER
    words &= _PAIRS
    words *= _OUTER
    words += other
    words >>= np.uint64(32)
