"""Digits of many lines as numbers, eight bytes at a time and all columns at once.

In: rows of bytes with zero for the byte of a zero, and the words that are to be read in each: at
most eight digits, a point among them or not, or blanks before them. Out: what each word says, one
number where all rows have the same bytes there. A word is read as a little-endian integer, so that
its first byte is the lowest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from assay.ingest.block import Mask

Bytes = npt.NDArray[np.uint8]
Whole = npt.NDArray[np.uint64]

PAD = 8
"""Bytes before each row, so that eight can be read that end anywhere."""

BLANK = 0xF0
"""The byte of a blank, that of a zero being 0."""

_ALL = 2**64 - 1
_EACH, _HIGHEST = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_TO_HIGHEST, _TO_ABOVE_NINE = 0x7F, 0x76  # added to a byte, to see what is too large in it


class Word(NamedTuple):
    """Up to eight bytes that end before the column `end`; of how many digits and a point."""

    end: int
    whole: int  # bytes before the point, or all
    fraction: int = 0  # bytes behind it
    padded: bool = False

    @property
    def moved(self) -> int:
        """A mask of what stands before the point: it goes where the point is."""
        return _last(self.whole) >> 8 * (1 + self.fraction) if self.fraction else 0

    @property
    def kept(self) -> int:
        """A mask of what stays where it is."""
        return _last(self.fraction or self.whole)


def _last(count: int) -> int:
    """A mask of the last bytes of a word."""
    return _ALL & ~(_ALL >> 8 * count)


class Said(NamedTuple):
    """What a word says in each row, or in all of them.

    Of a padded one also which bytes are blanks in the first row (all bits of each), and whether
    all rows have blanks there and digits elsewhere; if they do not, it says nothing.
    """

    values: Whole
    alike: bool
    blanks: int = 0
    sound: bool = True


@dataclass(frozen=True)
class Words:
    """Words to be read together: padded ones first, those with a point last."""

    every: tuple[Word, ...]

    @classmethod
    def of(cls, words: Sequence[Word]) -> Words:
        """These words in the order in which they are read."""
        return cls(tuple(sorted(words, key=lambda word: (bool(word.fraction), not word.padded))))

    def read(self, digits: Bytes) -> dict[Word, Said]:
        """What every word says in these rows, of which there is at least one."""
        held = np.empty((len(self.every), len(digits)), np.uint64)
        alike = np.zeros(len(held), np.bool_)
        for at, word in enumerate(self.every):
            mine = held[at]
            np.bitwise_and(_bytes(digits, word.end), np.uint64(word.kept | word.moved), out=mine)
            alike[at] = mine[0] == mine[-1] and (mine == mine[0]).all()
        said: dict[Word, Said] = {}
        for which, rows in ((alike, held[alike, :1]), (~alike, held[~alike])):
            words = [word for word, mine in zip(self.every, which.tolist(), strict=True) if mine]
            if words:
                said |= _said(words, rows, alike=which is alike)
        return said


def _bytes(digits: Bytes, end: int) -> Whole:
    """The eight bytes before column `end` of every row."""
    height, width = digits.shape
    return np.ndarray((height,), "<u8", digits, end + PAD - 8, (width,))


def _said(words: Sequence[Word], held: Whole, *, alike: bool) -> dict[Word, Said]:
    padded = sum(word.padded for word in words)
    points = sum(word.fraction > 0 for word in words)
    blanks, sound = _cleaned(held[:padded], [word.kept for word in words[:padded]])
    if points:
        _closed(held[-points:], [word.moved for word in words[-points:]])
    _value(held)
    more = len(words) - padded
    every = zip(words, held, [*blanks, *[0] * more], [*sound, *[True] * more], strict=True)
    return {word: Said(values, alike, blank, fine) for word, values, blank, fine in every}


def _cleaned(words: Whole, masks: Sequence[int]) -> tuple[list[int], list[bool]]:
    """Put zeros for blanks; which they are in the first rows, and whether they are in all."""
    if not len(words):
        return [], []
    mask = np.array(masks, np.uint64)[:, None]
    there = (words[:, :1] >> np.uint64(7)) & _EACH
    words ^= there * np.uint64(BLANK)
    blanks = there * np.uint64(0xFF)
    allowed = (mask & ~blanks) & np.uint64(_TO_ABOVE_NINE * int(_EACH))
    above = words + (allowed | there * np.uint64(_TO_HIGHEST))
    above |= words
    above &= _HIGHEST
    odd: Mask = np.any(above, axis=1)
    return [int(each) for each in blanks[:, 0]], [not each for each in odd.tolist()]


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


def value(word: Whole) -> Whole:
    """The numbers that words of eight digits are."""
    found = word.copy()
    _value(found)
    return found


def masked(digits: Bytes, word: Word) -> Whole:
    """The bytes of one word in every row."""
    found: Whole = _bytes(digits, word.end) & np.uint64(word.kept | word.moved)
    return found


def slowly(digits: Bytes, words: Sequence[Word], *, canonical: bool) -> tuple[Whole, Mask]:
    """An integer behind blanks that are not the same in all rows, and where it is one.

    The words of it, the last of its digits first. Blanks, then digits, of which one is there; a
    `canonical` one has no zero before others.
    """
    low, blank, sound = _alone(masked(digits, words[0]), words[0].whole)
    first = blank + np.uint64(1)  # one bit: the lowest of the first digit; none if there is none
    leads = (low & (first * np.uint64(0xFF))) != 0
    leads |= first == np.uint64(1 << 56)
    if len(words) == 1:
        return value(low), sound & leads if canonical else sound
    high, above, fine = _alone(masked(digits, words[1]), words[1].whole)
    empty = above == np.uint64(_ALL)
    sound &= fine & (empty | (blank == 0))
    if canonical:
        sound &= np.where(empty, leads, (high & ((above + np.uint64(1)) * np.uint64(0xFF))) != 0)
    return value(high) * np.uint64(10**8) + value(low), sound


def _alone(word: Whole, count: int) -> tuple[Whole, Whole, Mask]:
    """Zeros for the blanks among `count` bytes, a mask of the blanks, and where all is sound."""
    outside = np.uint64(_ALL & ~_last(count))
    word = word | (np.uint64(BLANK * int(_EACH)) & outside)
    blank = ((word >> np.uint64(7)) & _EACH) * np.uint64(0xFF)
    clean = word & ~blank
    only = (word & blank) == (np.uint64(BLANK * int(_EACH)) & blank)
    below = ((clean + np.uint64(_TO_ABOVE_NINE * int(_EACH))) & _HIGHEST) == 0
    return clean, blank, only & below & ((blank & (blank + np.uint64(1))) == 0)
