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
from itertools import accumulate
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
    eliminated: tuple[Eliminated, ...]  # the first `SHOWN` of them, which a reason names
    gone: frozenset[float]  # values of all of them
    chance: float  # of an accidental fit, at most 1
    rows: int  # different ones

    def contradicts(self, value: float) -> bool:
        """Whether the rows eliminate a candidate."""
        return value in self.gone


SHOWN = 3
"""Candidates of which is said by which row they are eliminated."""

NOTHING = Decision(None, (), (), frozenset(), 1.0, 0)


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
    return decide_by(readings(clues), candidates, bounds)


def decide_by(
    told: Readings | None,
    candidates: Sequence[Candidate],
    bounds: tuple[float, float],
    otherwise: Sequence[Candidate] = (),
) -> Decision:
    """The decision by what clues say; of `otherwise` too, where these leave none of the candidates
    and one of those."""
    if told is None or not (candidates or otherwise):
        return NOTHING
    both = [*candidates, *otherwise]
    tried, every = _Tried.of(told, both), np.ones(len(told.kept), dtype=bool)
    fits = tried.fits(every)
    left = tried.left(fits, every)
    among = np.asarray(left.all(axis=0))
    first = len(candidates)
    if not otherwise or (among[:first].any() or not among[first:].any()):
        tried = _Tried(told, tried.met[:, :first])
        return _decision(tried, candidates, fits[:, :first], left[:, :first], bounds)
    return _decision(tried, both, fits, left, bounds)


def _decision(
    tried: _Tried,
    candidates: Sequence[Candidate],
    fits: Array,
    left: Array,
    bounds: tuple[float, float],
) -> Decision:
    """The decision between candidates of which it is known whether they fit and are left."""
    if not candidates:
        return NOTHING
    rows, among = len(tried.told.kept), left.all(axis=0)
    alive = np.flatnonzero(among).tolist()
    survivors = tuple(candidates[at] for at in alive)
    dead = np.flatnonzero(~among)
    gone = frozenset(candidates[at].value for at in dead.tolist())
    shown = _eliminated(candidates, tried, left, dead[:SHOWN])
    if not survivors:
        return Decision(None, survivors, shown, gone, 1.0, rows)
    chance = max(_chance(tried, fits, at, bounds) for at in alive)
    if len({each.value for each in survivors}) != 1:
        return Decision(None, survivors, shown, gone, chance, rows)
    only = {candidates[alive[0]].value}
    firm = chance < ACCIDENT and all(
        {candidates[at].value for at in tried.survive(np.arange(rows) != out)} == only
        for out in range(rows)
    )
    return Decision(only.pop() if firm else None, survivors, shown, gone, chance, rows)


@dataclass(frozen=True)
class Readings:
    """All readings of all clues, one clue's after the other's.

    Shapes: kept [row], windows [reading, 2, row], said [reading, row], begins [clue], where the
    readings of each begin.
    """

    clues: Sequence[Clue]
    kept: Array
    windows: Array
    said: Array
    begins: Array


@dataclass(frozen=True)
class Spoken:
    """All that clues say of the rows of several groups, each a run of rows.

    Shapes: windows [reading, 2, row], said [reading, row], begins [clue], told [row], whether
    anything is said of it, alike [row], a number that rows share which leave the same bounds.
    """

    clues: Sequence[Clue]
    windows: Array
    said: Array
    begins: Array
    told: Array
    alike: Array

    @classmethod
    def of(cls, clues: Sequence[Clue]) -> Spoken:
        """Everything that some clues say, of which there is one at least."""
        every = np.concatenate([each.windows for each in clues])
        finite = np.isfinite(every)
        begins = np.array([0, *accumulate(len(each.windows) for each in clues[:-1])])
        bounds = np.where(np.isnan(every), -1.0, every).transpose(2, 0, 1)
        rows = np.ascontiguousarray(bounds).reshape(len(bounds), -1).view(np.uint8)
        numbers: dict[bytes, int] = {}
        alike = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
        return cls(
            clues, every, finite.all(axis=1), begins, finite.any(axis=(0, 1)),
            np.array(alike, dtype=int),
        )  # fmt: skip

    def over(self, rows: slice) -> Readings | None:
        """The same of different rows of one group, a copy is no second row; None of none."""
        asked = zip(self.told[rows].tolist(), self.alike[rows].tolist(), strict=True)
        first: dict[int, int] = {}
        for at, (told, number) in enumerate(asked):
            if told:
                first.setdefault(number, at)
        if not first:
            return None
        kept = np.array(list(first.values()))
        at = kept + rows.start
        return Readings(self.clues, kept, self.windows[:, :, at], self.said[:, at], self.begins)

    def contradicts(self, values: Array, starts: Array) -> Array:
        """Of each group, whether it eliminates its own value, whatever it says of others: [group].

        Shapes: values [row], alike in the rows of a group; starts [group], the first row of each.
        """
        group = np.searchsorted(starts, np.arange(len(values)), side="right")
        seen, kept = set[tuple[int, int]](), self.told.copy()
        for at, key in enumerate(zip(group.tolist(), self.alike.tolist(), strict=True)):
            if key in seen:
                kept[at] = False
            elif kept[at]:
                seen.add(key)
        said = self.said & kept
        met = (self.windows[:, 0] <= values) & (values <= self.windows[:, 1])
        misses = np.add.reduceat((said & ~met).astype(int), starts, axis=1)
        of = np.add.reduceat(said.astype(int), starts, axis=1)
        fits = np.logical_or.reduceat(_fits(misses, of), self.begins, axis=0)
        spoken = np.logical_or.reduceat(of > 0, self.begins, axis=0)
        left: Array = fits | ~spoken
        return np.array(~left.all(axis=0))


def _fits(misses: Array, rows: Array) -> Array:
    """Whether so many misses among so many rows are strays."""
    return np.array((misses <= np.floor(STRAY * rows)) & (rows > 0))


def readings(clues: Sequence[Clue]) -> Readings | None:
    """Everything that clues say, over their different rows; None where they say nothing."""
    if not clues:
        return None
    return Spoken.of(clues).over(slice(0, clues[0].windows.shape[2]))


class _Tried(NamedTuple):
    """Readings, each with every candidate: met [reading, value, row]."""

    told: Readings
    met: Array

    @classmethod
    def of(cls, told: Readings, candidates: Sequence[Candidate]) -> _Tried:
        values = np.array([each.value for each in candidates])[None, :, None]
        low, high = told.windows[:, 0, None, :], told.windows[:, 1, None, :]
        return cls(told, (low <= values) & (values <= high))

    def fits(self, rows: Array) -> Array:
        """Whether a value fits under a reading, strays apart: [reading, value]."""
        said = self.told.said & rows
        misses = (said[:, None, :] & ~self.met).sum(axis=2)
        return _fits(misses, said.sum(axis=1, keepdims=True))

    def left(self, fits: Array, rows: Array) -> Array:
        """Whether some reading of a clue leaves a value, or none says anything: [clue, value]."""
        begins = self.told.begins
        said = np.logical_or.reduceat((self.told.said & rows).any(axis=1), begins)
        left: Array = np.logical_or.reduceat(fits, begins, axis=0) | ~said[:, None]
        return left

    def survive(self, rows: Array) -> list[int]:
        """Values that some reading of every clue leaves, of the rows that are looked at."""
        found: list[int] = np.flatnonzero(self.left(self.fits(rows), rows).all(axis=0)).tolist()
        return found


def _chance(tried: _Tried, fits: Array, at: int, bounds: tuple[float, float]) -> float:
    """How likely one of the candidates lies in what the rows leave open, all readings counted, by
    the clue by which that is least likely."""
    told = tried.told
    ends = [*told.begins[1:].tolist(), len(fits)]
    chances = list[float]()
    for begin, end in zip(told.begins.tolist(), ends, strict=True):
        shares: list[float] = []
        for reading in (begin + np.flatnonzero(fits[begin:end, at])).tolist():
            met = tried.met[reading, at] & told.said[reading]
            low, high = told.windows[reading][:, met]
            width = log(min(float(high.min()), bounds[1]) / max(float(low.max()), bounds[0]))
            shares.append(max(width, 0.0) / log(bounds[1] / bounds[0]))
        number = (end - begin) * fits.shape[1]
        chances.append(min(1.0, max(shares, default=1.0) * number))
    return min(chances)


def _eliminated(
    candidates: Sequence[Candidate], tried: _Tried, left: Array, dead: Array
) -> tuple[Eliminated, ...]:
    """Some that are not `left` [clue, value]: the first clue that says so, and its first row.

    That is the first row that contradicts the candidate under every reading, if there is one.
    """
    if not len(dead):
        return ()
    told = tried.told
    against = np.logical_and.reduceat(
        told.said[:, None, :] & ~tried.met[:, dead], told.begins, axis=0
    )
    clue = left[:, dead].argmin(axis=0)
    rows = told.kept[against.argmax(axis=2)[clue, np.arange(len(dead))]].tolist()
    return tuple(
        Eliminated(candidates[at], told.clues[by].law, row)
        for at, by, row in zip(dead.tolist(), clue.tolist(), rows, strict=True)
    )
