"""Times of which no label says of what they are: since a start, of one step, or of several.

In: a `Shape`, lines that say the same. Out: the column of each such time, and the factor to its
unit. What the lines tell together decides: how a time goes on, which steps print it, and the times
of day in front of them, which also prove a number whose unit nobody prints. What nothing proves has
no column.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Literal, NamedTuple

from assay.ingest.formats.steps.step_pairs import number
from assay.ingest.formats.steps.step_shapes import INTEGER, LEAST, Clock, Found, Shape
from assay.ingest.formats.steps.step_words import Meaning

DATE = 9e8
"""Seconds that are a date, since 1970, and no duration."""

FAR = 1.5
"""How many times its least value a time reaches that has gone on since a start: what rises less may
be the time of a step that rose by chance, or by what a step does."""

PIECE = 10
"""Lines for each of which a time that goes on may begin again once: one that goes up and down, as
those of steps do, falls in half of them."""

SHORTEST = 4.0
"""Seconds between two lines below which times of day, in whole seconds, prove nothing."""

BEGIN, NEAR = 60.0, 5.0
"""Seconds, and intervals of its lines, from whose sum on a duration is too long to have begun with
them."""

_OF_DAY = re.compile(r"(?<![0-9:])([0-9]{1,2}):([0-9]{2}):([0-9]{2}(?:[.,][0-9]{1,9})?)(?![0-9:])")


class Printed(NamedTuple):
    """Values of a time in seconds, as printed where they have no unit, by line of a shape."""

    what: Meaning
    values: list[tuple[int, float]]


_Of = Literal["step", "interval", "start"]


class Proof(NamedTuple):
    """Of what times of day prove a time to be, and the factor to seconds."""

    of: _Of
    scale: float
    steps: int  # of the interval


def clocks_of(shape: Shape) -> dict[str, Clock]:
    """The columns of the times of a shape, by their keys.

    One that only rises, and far, is elapsed. Another is the time of a step if it is printed every
    step, or if the times of day agree with it; they may also prove that it is of all steps since
    the line before. Of several times of a step it is the one that holds the others, and none where
    a label says which it is.
    """
    printed = _printed(shape)
    one = shape.typical
    told = one.has("step_time") or (one.said.form == "bar" and one.has("step_time_average"))
    known: dict[str, Clock] = {}
    of_step: list[str] = []
    for key, (what, held) in printed.items():
        times = [value for _, value in held]
        if len(times) < LEAST or max(times) >= DATE:
            continue
        proof = _proof(shape, held, (1.0,) if what.typed else (1.0, 1e-3))
        # one that begins again, with the steps or behind a warm-up, only rises otherwise
        down = sum(b < a for a, b in pairwise(times))
        rises = down <= max(shape.falls, len(times) // PIECE)
        if what.typed and rises and proof is None:
            if max(times) >= FAR * min(times):
                known[key] = Clock("elapsed", what.scale)
            continue
        scale = what.scale * (proof.scale if proof else 1.0)
        if proof is not None and proof.of == "interval":
            known[key] = Clock("step_time_average", scale / proof.steps)
        elif proof is not None and proof.of == "start":
            known[key] = Clock("elapsed", scale)
        elif not told and (proof is not None or (what.typed and _each_step(shape, held))):
            known[key] = Clock("step_time", scale)
            of_step.append(key)
    for key in of_step:
        mine = printed[key].values
        most = all(
            a >= b
            for other in of_step
            for (_, a), (_, b) in zip(mine, printed[other].values, strict=False)
        )
        if not most:
            del known[key]
    return known | {key: Clock("elapsed", 1.0) for key in _since_a_start(shape)}


def _since_a_start(shape: Shape) -> Iterator[str]:
    """Keys of durations that go on from line to line and began about when the lines did: a time of
    day goes on as well. Short ones may be in seconds alone: `40s`, and later `1m 16s`."""
    held: dict[str, list[float]] = {}
    moments: set[str] = set()
    for each in shape.found:
        for key, (pair, _), what in zip(each.keys, each.places, each.meanings, strict=True):
            if what is None or what.field != "clock":
                continue
            if pair.moment:
                moments.add(key)
                held.setdefault(key, []).append(float(seconds(pair.text) or "nan"))
            elif what.typed and _NUMBER.fullmatch(number(pair.text)):
                held.setdefault(key, []).append(float(number(pair.text)) * what.scale)
    for key, times in held.items():
        if key not in moments:
            continue
        gaps = sorted(b - a for a, b in pairwise(times))
        if len(times) < LEAST or len(times) < len(shape.found) or math.isnan(sum(times)):
            continue
        falls = sum(gap < 0 for gap in gaps)
        if max(times) < FAR * min(times):
            continue
        if falls <= shape.falls and 0 < times[0] <= BEGIN + NEAR * gaps[len(gaps) // 2]:
            yield key


def _printed(shape: Shape) -> dict[str, Printed]:
    held: dict[str, Printed] = {}
    for line, each in enumerate(shape.found):
        for key, (pair, _), what in zip(each.keys, each.places, each.meanings, strict=True):
            if what is None or what.field != "clock" or pair.moment or shape.by_epoch:
                continue
            try:
                value = float(number(pair.text)) * what.scale
            except ValueError:
                continue
            if not math.isnan(value):
                held.setdefault(key, Printed(what, []))[1].append((line, value))
    return held


def _count(shape: Shape, line: int) -> int | None:
    """The count of steps of a line; None where there is none."""
    text = shape.found[line].value(shape.counters[0]) if shape.counters else None
    return int(float(text)) if text and INTEGER.fullmatch(text) else None


def _each_step(shape: Shape, held: list[tuple[int, float]]) -> bool:
    """Whether a time is printed every step, or nothing counts the steps."""
    counts = [count for line, _ in held if (count := _count(shape, line)) is not None]
    rises = Counter(b - a for a, b in pairwise(counts) if b > a).most_common(1)
    return not rises or rises[0][0] == 1


def _proof(shape: Shape, held: list[tuple[int, float]], scales: tuple[float, ...]) -> Proof | None:
    """The proof of a time by the times of day of the lines that print it."""
    if not shape.counters:
        return None
    fits: Counter[tuple[_Of, float]] = Counter()
    strides: Counter[int] = Counter()
    before: tuple[float, int, float] | None = None
    for line, value in held:
        moment, count = moment_of(shape.found[line]), _count(shape, line)
        if moment is None or count is None:
            before = None
            continue
        if before is not None and count > before[1]:
            passed, steps = (moment - before[0]) % 86400.0, count - before[1]
            if passed >= SHORTEST:
                strides[steps] += 1
                for scale in scales:
                    near = 1.5 + 0.1 * passed
                    fits["step", scale] += abs(value * scale * steps - passed) <= near
                    fits["interval", scale] += abs(value * scale - passed) <= near
                    more = (value - before[2]) * scale
                    fits["start", scale] += abs(more - passed) <= near
        before = moment, count, value
    told = strides.total()
    ways: tuple[_Of, ...] = ("step", "interval", "start")
    for of in ways if told >= 2 else ():
        for scale in scales:
            if fits[of, scale] >= 0.75 * told and (of != "interval" or len(strides) == 1):
                return Proof(of, scale, strides.most_common(1)[0][0])
    return None


def moment_of(each: Found) -> float | None:
    """Seconds of the day that stand in front of a line; None where none do."""
    line = each.first
    begin = each.places[0][0].start if each.places else 0
    for text in (line.prefix.get("timestamp", ""), line.text[:begin]):
        found = _OF_DAY.search(text)
        if found is not None:
            hours, minutes, rest = found.groups()
            return int(hours) * 3600 + int(minutes) * 60 + float(rest.replace(",", "."))
    return None


_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?")

_PARTS = re.compile(r"(?<![0-9])([0-9]{1,12})\s?([dhms])")

_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


_CLOCK = re.compile(r"(?:([0-9]{1,6}) days?,? +)?([0-9]{1,9}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)")


def seconds(text: str) -> str:
    """A duration in seconds, with the digits it has; empty where it is none.

    >>> seconds("0:12:34.56"), seconds("1 day, 0:00:01"), seconds("1h 35m 48s"), seconds("1:2")
    ('754.56', '86401', '5748', '')
    """
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        days, hours, minutes, rest = clock.groups()
        whole = ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60
        return str(whole + Decimal(rest))
    parts = _PARTS.findall(text)
    return str(sum(int(n) * _SECONDS[unit_] for n, unit_ in parts)) if parts else ""
