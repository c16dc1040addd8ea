"""Digits of many lines as numbers, eight bytes at a time and all columns at once.

In: lines that are alike but for their digits, and the words that are to be read in each: at most
eight digits, with a point among them or not. Out: what each word says, one number where all lines
have the same bytes there. A word is read as a little-endian integer, so that its first byte is the
lowest; the low four bits of a digit are its value, those of a blank are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import ne
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
        """These rows, of which there is at least one."""
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
        """Where it begins."""
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
    """What a word says in each row, or, alone, in all of them."""

    values: Whole
    alike: bool


@dataclass(frozen=True)
class Words:
    """Words to be read together, those with a point last."""

    every: tuple[Word, ...]

    @classmethod
    def of(cls, words: Sequence[Word]) -> Words:
        """These words in the order in which they are read."""
        return cls(tuple(sorted(words, key=lambda word: word.fraction > 0)))

    def read(self, lines: Lines) -> dict[Word, Said]:
        """What every word says in these lines."""
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
