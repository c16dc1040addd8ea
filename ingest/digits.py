"""Numbers from the bytes of lines that are alike, a column of them at once.

In: rows of bytes with zero for the byte of a zero, and where the digits of a number stand in them.
Out: its values and units in the last place, as a parser gives them, to the bit: an integer of at
most fifteen digits is exact in a double, a power of ten up to 10²² too, so that one product or
quotient of the two is rounded as the nearest double of the printed number is.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.block import Mask
from assay.ingest.numbers import FIXED
from assay.ingest.schema import FieldSpec

Bytes = npt.NDArray[np.uint8]

PAD = 8
"""Bytes before each row, so that eight can be read that end anywhere."""

MOST_DIGITS = 15
_POWER = 22
_NUMBER = re.compile(r"([+-]?)([0-9]+)(?:(\.)([0-9]*))?(?:[eE]([+-]?)([0-9]{1,3}))?")
_TENS = np.array([float(10**power) for power in range(_POWER + 1)])


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


def decoded(number: Number, digits: Bytes) -> tuple[Any, Any, Mask | None]:
    """Values of a column, its units in the last place, and which rows are exact; None: all."""
    sound: Mask | None = None
    start, end = number.whole
    if number.padded:
        padded, sound = _padded(digits, start, end, canonical=number.canonical)
        return padded.astype(np.int64), None, sound
    if number.canonical and end - start > 1:
        sound = digits[:, PAD + start] > 0
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


def _mantissa(number: Number, digits: Bytes) -> npt.NDArray[np.uint64]:
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
    return np.ndarray((height,), "<u8", digits, end + PAD - 8, (width,)).astype(np.uint64)


_PAIRS = np.uint64(0x000000FF000000FF)
_OUTER, _INNER = np.uint64(100 + (10**6 << 32)), np.uint64(1 + (10**4 << 32))


def _value(word: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Eight digits, the most significant in the lowest byte, as a number: pairs, then their sum."""
    word = word * np.uint64(10) + (word >> np.uint64(8))
    outer, inner = word & _PAIRS, (word >> np.uint64(16)) & _PAIRS
    return (outer * _OUTER + inner * _INNER) >> np.uint64(32)


_LOWEST, _HIGHEST = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_BLANKS, _ABOVE_NINE = np.uint64(0xF0F0F0F0F0F0F0F0), np.uint64(0x7676767676767676)
_BYTE, _ALL, _LAST = np.uint64(0xFF), np.uint64(2**64 - 1), np.uint64(1 << 56)
_ONE, _SEVEN = np.uint64(1), np.uint64(7)


def _padded(
    digits: Bytes, start: int, end: int, *, canonical: bool
) -> tuple[npt.NDArray[np.uint64], Mask]:
    """An integer behind blanks, and where it is one: blanks, then digits, of which one is there.

    The byte of a blank is 0xF0 here, that of a zero 0. A `canonical` one has no zero before others.
    """
    low, blank, sound = _cleaned(_word(digits, end), min(8, end - start))
    first = blank + _ONE  # one bit: the lowest of the first digit; none if there is no digit
    leads = ((low & (first * _BYTE)) != 0) | (first == _LAST)
    if end - start <= 8:
        return _value(low), sound & leads if canonical else sound
    high, above, fine = _cleaned(_word(digits, end - 8), end - start - 8)
    empty = above == _ALL
    sound &= fine & (empty | (blank == 0))
    if canonical:
        sound &= np.where(empty, leads, (high & ((above + _ONE) * _BYTE)) != 0)
    return _value(high) * np.uint64(10**8) + _value(low), sound


def _cleaned(
    word: npt.NDArray[np.uint64], count: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], Mask]:
    """Zeros for the blanks among `count` bytes, a mask of the blanks, and where all is sound."""
    outside = _ALL >> _bits(count) if count < 8 else np.uint64(0)
    word = (word & ~outside) | (_BLANKS & outside)
    blank = ((word >> _SEVEN) & _LOWEST) * _BYTE
    clean = word & ~blank
    only = (word & blank) == (_BLANKS & blank)
    below = ((clean + _ABOVE_NINE) & _HIGHEST) == 0
    return clean, blank, only & below & ((blank & (blank + _ONE)) == 0)
