"""Which of finitely many values a field has, by elimination.

In: candidates, each with where it is from, and clues: relations that say, under each of their
readings (a rate per GPU or per job, one formula or another), between which bounds every row leaves
the field. Out: `Decision`. Every assignment of a value and of readings is tried on every row, as
arrays. A value is decided only if it alone survives, survives whichever one different row is left
out, and would hardly ever survive by accident. What was eliminated, by which row, is the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

ACCIDENT = 1e-4
"""Chance of an accidental fit from which on nothing is decided."""

STRAY = 0.15
"""Share of a clue's different rows that may miss a value that survives: rows have errors too."""


class Candidate(NamedTuple):
    """A value that a field may have, and where it is from."""

    value: float
    origin: str


@dataclass(frozen=True)
class Clue:
    """A relation over rows: under each of its readings, the bounds it leaves the field.

    Shapes: windows [reading, 2, row], low and high; nan in rows that it says nothing of.
    """

    law: str
    windows: Array


class Eliminated(NamedTuple):
    """A candidate that a row contradicts, and by which relation."""

    candidate: Candidate
    law: str
    row: int


@dataclass(frozen=True)
class Decision:
    """The answer for one field: `value` is None unless it is decided."""

    value: float | None
    survivors: tuple[Candidate, ...]
    eliminated: tuple[Eliminated, ...]
    chance: float  # of an accidental fit, at most 1
    rows: int  # different ones

    def contradicts(self, value: float) -> bool:
        """Whether the rows eliminate a candidate."""
        return any(each.candidate.value == value for each in self.eliminated)


NOTHING = Decision(None, (), (), 1.0, 0)


def decide(
    candidates: Sequence[Candidate], clues: Sequence[Clue], bounds: tuple[float, float]
) -> Decision:
    """The decision between `candidates`; `bounds` are the least and greatest value thinkable.

    >>> bounds = np.array([[1023.99, 1023.95], [1024.02, 1024.01]])
    >>> clue = Clue("tokens/s = samples/s · s", bounds[None])
    >>> found = decide([Candidate(512, "line 3"), Candidate(1024, "line 9")], [clue], (64, 2**20))
    >>> found.value, [each.candidate.value for each in found.eliminated], found.rows
    (1024, [512], 2)
    """
    known = [each for each in clues if np.isfinite(each.windows).any()]
    if not candidates or not known:
        return NOTHING
    tried = _Tried.of(known, candidates)
    every = np.ones(len(tried.kept), dtype=bool)
    fits = tried.fits(every)
    left = tried.left(fits, every)
    alive = np.flatnonzero(left.all(axis=0)).tolist()
    survivors = tuple(candidates[at] for at in alive)
    eliminated = _eliminated(candidates, tried, left)
    if not survivors:
        return Decision(None, survivors, eliminated, 1.0, len(tried.kept))
    chance = max(_chance(tried, fits, at, bounds) for at in alive)
    if len({each.value for each in survivors}) != 1:
        return Decision(None, survivors, eliminated, chance, len(tried.kept))
    only = {candidates[alive[0]].value}
    firm = chance < ACCIDENT and all(
        {candidates[at].value for at in tried.survive(np.arange(len(every)) != out)} == only
        for out in range(len(every))
    )
    return Decision(only.pop() if firm else None, survivors, eliminated, chance, len(every))


def _different(windows: Array) -> Array:
    """The first of the rows that leave the same bounds: a copy is no second row."""
    told = np.isfinite(windows).any(axis=(0, 1))
    said = np.where(np.isnan(windows), -1.0, windows).transpose(2, 0, 1).copy()
    first = {said[at].tobytes(): at for at in np.flatnonzero(told)[::-1].tolist()}
    return np.array(sorted(first.values()), dtype=int)


@dataclass(frozen=True)
class _Tried:
    """All readings of all clues, one clue's after the other's, each with every candidate.

    Shapes: kept [row], windows [reading, 2, row], met [reading, value, row], said [reading, row],
    begins [clue], where the readings of each begin.
    """

    clues: Sequence[Clue]
    kept: Array
    windows: Array
    met: Array
    said: Array
    begins: Array

    @classmethod
    def of(cls, clues: Sequence[Clue], candidates: Sequence[Candidate]) -> _Tried:
        every = np.concatenate([each.windows for each in clues])
        kept = _different(every)
        windows = every[:, :, kept]
        said = np.array(np.isfinite(windows).all(axis=1))
        values = np.array([each.value for each in candidates])[None, :, None]
        met = (windows[:, 0, None, :] <= values) & (values <= windows[:, 1, None, :])
        ends = np.cumsum([len(each.windows) for each in clues])
        return cls(clues, kept, windows, met, said, np.array([0, *ends[:-1]]))

    def fits(self, rows: Array) -> Array:
        """Whether a value fits under a reading, strays apart: [reading, value]."""
        said = self.said & rows
        misses = (said[:, None, :] & ~self.met).sum(axis=2)
        rows_of = said.sum(axis=1, keepdims=True)
        found: Array = (misses <= np.floor(STRAY * rows_of)) & (rows_of > 0)
        return found

    def left(self, fits: Array, rows: Array) -> Array:
        """Whether some reading of a clue leaves a value, or none says anything: [clue, value]."""
        told = np.logical_or.reduceat((self.said & rows).any(axis=1), self.begins)
        left: Array = np.logical_or.reduceat(fits, self.begins, axis=0) | ~told[:, None]
        return left

    def survive(self, rows: Array) -> list[int]:
        """Values that some reading of every clue leaves, of the rows that are looked at."""
        found: list[int] = np.flatnonzero(self.left(self.fits(rows), rows).all(axis=0)).tolist()
        return found


def _chance(tried: _Tried, fits: Array, at: int, bounds: tuple[float, float]) -> float:
    """How likely one of the candidates lies in what the rows leave open, all readings counted, by
    the clue by which that is least likely."""
    ends = [*tried.begins[1:].tolist(), len(fits)]
    chances = list[float]()
    for begin, end in zip(tried.begins.tolist(), ends, strict=True):
        shares: list[float] = []
        for reading in (begin + np.flatnonzero(fits[begin:end, at])).tolist():
            met = tried.met[reading, at] & tried.said[reading]
            low, high = tried.windows[reading][:, met]
            width = log(min(float(high.min()), bounds[1]) / max(float(low.max()), bounds[0]))
            shares.append(max(width, 0.0) / log(bounds[1] / bounds[0]))
        number = (end - begin) * fits.shape[1]
        chances.append(min(1.0, max(shares, default=1.0) * number))
    return min(chances)


def _eliminated(
    candidates: Sequence[Candidate], tried: _Tried, left: Array
) -> tuple[Eliminated, ...]:
    """Those that are not `left` [clue, value]: the first clue that says so, and its first row.

    That is the first row that contradicts the candidate under every reading, if there is one.
    """
    dead = np.flatnonzero(~left.all(axis=0))
    if not len(dead):
        return ()
    against = np.logical_and.reduceat(
        tried.said[:, None, :] & ~tried.met[:, dead], tried.begins, axis=0
    )
    clue = left[:, dead].argmin(axis=0)
    rows = tried.kept[against.argmax(axis=2)[clue, np.arange(len(dead))]].tolist()
    return tuple(
        Eliminated(candidates[at], tried.clues[by].law, row)
        for at, by, row in zip(dead.tolist(), clue.tolist(), rows, strict=True)
    )
