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
    kept = _different(known)
    values = np.array([each.value for each in candidates])
    tried = [_Tried.of(each, values, kept) for each in known]
    every = np.ones(len(kept), dtype=bool)
    left: Array = np.array([each.fits(every).any(axis=0) | (not each.said.any()) for each in tried])
    alive: Array = np.logical_and.reduce(left)
    survivors = tuple(candidates[at] for at in np.flatnonzero(alive).tolist())
    eliminated = _eliminated(candidates, tried, left, kept)
    if not survivors:
        return Decision(None, survivors, eliminated, 1.0, len(kept))
    chance = max(
        min(_chance(each, int(at), every, bounds) for each in tried) for at in np.flatnonzero(alive)
    )
    if len({each.value for each in survivors}) != 1:
        return Decision(None, survivors, eliminated, chance, len(kept))
    at = int(np.flatnonzero(alive)[0])
    firm = all(
        set(values[_survive(tried, np.arange(len(kept)) != out)]) == {values[at]}
        for out in range(len(kept))
    )
    value = candidates[at].value if firm and chance < ACCIDENT else None
    return Decision(value, survivors, eliminated, chance, len(kept))


def _different(clues: Sequence[Clue]) -> Array:
    """The first of the rows that leave the same bounds: a copy is no second row."""
    windows = np.concatenate([clue.windows.reshape(-1, clue.windows.shape[2]) for clue in clues])
    told = np.isfinite(windows).any(axis=0)
    said = np.where(np.isnan(windows), -1.0, windows).T.copy()
    first = {said[at].tobytes(): at for at in np.flatnonzero(told)[::-1].tolist()}
    return np.array(sorted(first.values()), dtype=int)


@dataclass(frozen=True)
class _Tried:
    """A clue with every candidate under every reading: met and said are [reading, value, row]."""

    clue: Clue
    met: Array
    said: Array  # [reading, row]
    windows: Array  # [reading, 2, row]

    @classmethod
    def of(cls, clue: Clue, values: Array, kept: Array) -> _Tried:
        windows = clue.windows[:, :, kept]
        said = np.array(np.isfinite(windows).all(axis=1))
        low, high = windows[:, 0, None, :], windows[:, 1, None, :]
        here = values[None, :, None]
        return cls(clue, (low <= here) & (here <= high), said, windows)

    def fits(self, rows: Array) -> Array:
        """Whether a value fits under a reading, strays apart: [reading, value]."""
        said = self.said & rows
        misses = (said[:, None, :] & ~self.met).sum(axis=2)
        rows_of = said.sum(axis=1, keepdims=True)
        found: Array = (misses <= np.floor(STRAY * rows_of)) & (rows_of > 0)
        return found


def _survive(tried: Sequence[_Tried], rows: Array) -> Array:
    """Which values some reading of every clue leaves, of the rows that are looked at."""
    alive: Array = np.ones(tried[0].met.shape[1], dtype=bool)
    for each in tried:
        if (each.said & rows).any():
            alive = alive & each.fits(rows).any(axis=0)
    return alive


def _chance(tried: _Tried, at: int, rows: Array, bounds: tuple[float, float]) -> float:
    """How likely one of the candidates lies in what the rows leave open, all readings counted."""
    shares: list[float] = []
    for reading in np.flatnonzero(tried.fits(rows)[:, at]):
        met = tried.met[reading, at] & tried.said[reading]
        low, high = tried.windows[reading][:, met]
        width = log(min(float(high.min()), bounds[1]) / max(float(low.max()), bounds[0]))
        shares.append(max(width, 0.0) / log(bounds[1] / bounds[0]))
    number = int(tried.met.shape[0] * tried.met.shape[1])
    return min(1.0, max(shares, default=1.0) * number)


def _eliminated(
    candidates: Sequence[Candidate], tried: Sequence[_Tried], left: Array, kept: Array
) -> tuple[Eliminated, ...]:
    """Those that are not `left` [clue, value]: the first clue that says so, and its first row.

    That is the first row that contradicts the candidate under every reading, if there is one.
    """
    first = np.array([
        kept[(each.said[:, None, :] & ~each.met).all(axis=0).argmax(axis=1)] for each in tried
    ])  # fmt: skip
    dead = np.flatnonzero(~left.all(axis=0))
    clue = left[:, dead].argmin(axis=0)
    rows = first[clue, dead].tolist()
    return tuple(
        Eliminated(candidates[at], tried[by].clue.law, row)
        for at, by, row in zip(dead.tolist(), clue.tolist(), rows, strict=True)
    )
