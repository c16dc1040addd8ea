"""Lines with the same labels: what a file says by the shape of its lines, and not by one of them.

In: lines taken apart into pairs (`Found`). Out: `Shape` values: lines that have most of their
labels in common, in order, with what only all of them tell together: which label counts the steps
and by which stride, whether a time is elapsed or of one step, and what the times of day in front of
the lines prove of a number whose unit nobody prints.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.formats.steps.step_pairs import Pair, Said, number
from assay.ingest.formats.steps.step_words import Meaning, words
from assay.ingest.schema.record import Line

LEAST = 3
"""Lines of one shape that make it one by themselves."""

STRIDES = 4
"""Different strides of a count of steps, of which most rises are one."""

DATE = 9e8
"""Seconds that are a date, since 1970, and no duration."""

BAR = "bar"
"""The key of the count of a progress bar."""


@dataclass
class Found:
    """A line, or a block of lines, and what it says; `keys` name its pairs within the line."""

    lines: list[Line]
    said: Said
    places: list[tuple[Pair, Line]]
    block: bool = False
    meanings: list[Meaning | None] = field(default_factory=list)
    at: int | None = None  # the count of the bars around it
    of: int | None = None

    @property
    def first(self) -> Line:
        """The line it begins with."""
        return self.lines[0]

    @cached_property
    def keys(self) -> list[str]:
        """The label of each pair; `#0`, `#1` of those without one, `#0/` before a total."""
        found: list[str] = []
        bare = 0
        for at, (pair, _) in enumerate(self.places):
            if pair.label or pair.total:
                found.append(pair.label)
                continue
            counts = at + 1 < len(self.places) and self.places[at + 1][0].total
            found.append(f"#{bare}/" if counts else f"#{bare}")
            bare += 1
        return found

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels, as words; that of a count with its total is another one."""
        return frozenset(
            "*".join(words(pair.label)) + ("/" if pair.total else "")
            for pair, _ in self.places
            if pair.label
        )

    def value(self, key: str) -> str | None:
        """The text under a key."""
        for name, (pair, _) in zip(self.keys, self.places, strict=True):
            if name == key and not pair.total and not pair.moment:
                return number(pair.text)
        return None

    def join(self, other: Found) -> None:
        """Take what another line says of the same step, behind what this one does."""
        self.lines += other.lines
        self.places += other.places
        self.meanings += other.meanings
        self.__dict__.pop("keys", None)

    def has(self, *names: str) -> bool:
        """Whether one of its pairs means one of these."""
        return any(each is not None and each.field in names for each in self.meanings)


class Clock(NamedTuple):
    """The column of a time, once that is known, and the factor to seconds."""

    field: str
    scale: float


@dataclass
class Shape:
    """Lines that have most of their labels in common; `typical` has those of most of them."""

    found: list[Found]
    typical: Found

    @cached_property
    def training(self) -> set[str]:
        """Quantities of training in most of the lines."""
        often = Counter(
            name
            for each in self.found
            for name in {what.field for what in each.meanings if what and what.training}
        )
        return {name for name, count in often.items() if 2 * count >= len(self.found)}

    @cached_property
    def counters(self) -> list[str]:
        """Keys of counts of steps that rise by few strides, the first the best."""
        one = self.typical
        keys = [
            (what.order, key)
            for key, (pair, _), what in zip(one.keys, one.places, one.meanings, strict=True)
            if what is not None and what.field == "step" and not pair.total
        ]
        if one.said.form == "bar":
            keys.append((9, BAR))
        else:
            keys += [(10, key) for key in one.keys if key.endswith("/") and key.startswith("#")]
        rising = [(order, key) for order, key in keys if _rises(self.counts(key))]
        often = {key: _strictly(self.counts(key)) for _, key in rising}
        timed = {
            word
            for key, what in zip(one.keys, one.meanings, strict=True)
            if what is not None and what.field == "step_time"
            for word in words(key)
        }

        def rank(each: tuple[int, str]) -> tuple[int, bool, int]:
            order, key = each  # `iter 16 step 2 … iter time: 1392 ms`: a time is of its count
            return -often[key], not timed & set(words(key)), order

        return [key for _, key in sorted(rising, key=rank)] or self._bare

    @cached_property
    def _bare(self) -> list[str]:
        """Keys of integers without a label, in brackets, at the start or behind the label of
        another number, that rise by one stride.

        `(0, 12) loss : 8.1`: of several the last.
        """
        one = self.typical
        keys = [
            key
            for key, (pair, line) in zip(one.keys, one.places, strict=True)
            if key.startswith("#") and _opens_or_counts(line.text[: pair.start].rstrip())
        ]
        return [key for key in reversed(keys) if _steadily(self.counts(key))][:1]

    @cached_property
    def epochs(self) -> bool:
        """Whether an epoch rises from line to line, where one is printed."""
        one = self.typical
        keys = [
            key
            for key, what in zip(one.keys, one.meanings, strict=True)
            if what is not None and what.field == "epoch"
        ]
        return any(_steadily(self.counts(key)) for key in keys)

    @cached_property
    def total_counts(self) -> bool:
        """Whether what a count counts up to rises, and the count does not: `Batch 0/300`."""
        one = self.typical
        keys = {
            key
            for key, (pair, _), what in zip(one.keys, one.places, one.meanings, strict=True)
            if what is not None and what.field == "step" and pair.total
        }
        totals = [
            int(number(pair.text))
            for each in self.found
            for key, (pair, _) in zip(each.keys, each.places, strict=True)
            if pair.total and key in keys
        ]
        return not self.counters and len(keys) == 1 and _steadily(totals)

    @cached_property
    def by_epoch(self) -> bool:
        """Whether the lines are of an epoch each, and of no step."""
        return not self.counters and not self.typical.has("step") and self.epochs

    @cached_property
    def through_epochs(self) -> bool:
        """Whether a count without a word goes on through the epochs: the epoch is a fraction.

        `120/21150 (epoch 0.284)`.
        """
        one = self.typical
        keys = [
            key
            for key, what in zip(one.keys, one.meanings, strict=True)
            if what is not None and what.field == "epoch"
        ]
        texts = [text for key in keys for each in self.found if (text := each.value(key))]
        return len(set(texts)) >= LEAST and all(_FRACTION.fullmatch(text) for text in texts)

    @cached_property
    def falls(self) -> int:
        """How often the count of steps falls."""
        values = self.counts(self.counters[0]) if self.counters else []
        return sum(b < a for a, b in pairwise(values))

    @cached_property
    def begins_again(self) -> bool:
        """Whether a count without a word is one of batches: it falls, or ends more than once."""
        totals = [
            pair.text
            for each in self.found
            for (pair, _), key in zip(each.places[1:], each.keys, strict=False)
            if pair.total and key == self.counters[0] and each.value(key) == number(pair.text)
        ]
        return self.falls > 0 or len(totals) > 1

    @cached_property
    def stride(self) -> int | None:
        """Steps from one line to the next, where most rises are one number."""
        if not self.counters:
            return None
        rises = Counter(
            b - a for a, b in pairwise(self.counts(self.counters[0])) if b > a
        ).most_common(1)
        return rises[0][0] if rises else None

    def counts(self, key: str) -> list[int]:
        """The integers under a key, line by line; lines without one are left out."""
        texts = (each.value(key) for each in self.found)
        return [int(float(text)) for text in texts if text and _INTEGER.fullmatch(text)]

    @cached_property
    def clocks(self) -> dict[str, Clock]:
        """Times of which their labels do not say of what: elapsed, or of one step.

        One that only rises is elapsed. Another is the time of a step if every step prints it, or if
        the times of day in front of the lines agree with it. Of several it is the one that holds
        the others, and none where a label says which it is.
        """
        values = self._times()
        told = self.typical.has("step_time") or (
            self.typical.said.form == "bar" and self.typical.has("step_time_average")
        )
        known: dict[str, Clock] = {}
        of_step: list[str] = []
        for key, (what, held) in values.items():
            times = [value for _, value in held]
            if len(times) < LEAST or max(times) >= DATE:
                continue
            down = sum(b < a for a, b in pairwise(times))
            # one that begins again with the steps only rises otherwise
            if what.typed and down <= max(self.falls, 0.02 * len(times)):
                known[key] = Clock("elapsed", what.scale)
                continue
            proven = self._proven(key)
            sure = proven == 1.0 or self.stride in (None, 1) if what.typed else proven is not None
            if sure and not told:
                known[key] = Clock("step_time", what.scale if what.typed else proven or 1.0)
                of_step.append(key)
        for key in of_step:
            mine = values[key][1]
            most = all(
                a >= b
                for other in of_step
                for (_, a), (_, b) in zip(mine, values[other][1], strict=False)
            )
            if not most:
                del known[key]
        return known

    def since_a_start(self, key: str) -> bool:
        """Whether an elapsed time rises, but where the steps begin again."""
        texts = (each.value(key) for each in self.found)
        times = [float(text) for text in texts if text and _NUMBER.fullmatch(text)]
        return sum(b < a for a, b in pairwise(times)) <= self.falls

    def _times(self) -> dict[str, tuple[Meaning, list[tuple[int, float]]]]:
        """Values of times in seconds, or as printed where they have no unit, by line."""
        held: dict[str, tuple[Meaning, list[tuple[int, float]]]] = {}
        for line, each in enumerate(self.found):
            for key, (pair, _), what in zip(each.keys, each.places, each.meanings, strict=True):
                if what is None or what.field != "clock" or pair.moment or self.by_epoch:
                    continue
                try:
                    value = float(number(pair.text)) * what.scale
                except ValueError:
                    continue
                if not math.isnan(value):
                    held.setdefault(key, (what, []))[1].append((line, value))
        return held

    def _proven(self, key: str) -> float | None:
        """The factor to seconds of one step that times of day prove; None where they do not."""
        if not self.counters:
            return None
        fits: dict[float, int] = {1.0: 0, 1e-3: 0}
        told = 0
        held = dict(self._times()[key][1])
        before: tuple[float, int] | None = None
        for line, each in enumerate(self.found):
            moment, text = moment_of(each), each.value(self.counters[0])
            if moment is None or not text or not _INTEGER.fullmatch(text):
                before = None
                continue
            now = (moment, int(float(text)))
            if before is not None and line in held and now[1] > before[1]:
                passed, steps = (now[0] - before[0]) % 86400.0, now[1] - before[1]
                if passed >= SHORTEST:
                    told += 1
                    for scale in fits:
                        whole = held[line] * scale * steps
                        fits[scale] += abs(whole - passed) <= 1.5 + 0.1 * passed
            before = now
        return next((s for s, n in fits.items() if told >= 2 and n >= 0.75 * told), None)


SHORTEST = 4.0
"""Seconds between two lines below which times of day, in whole seconds, prove nothing."""

_INTEGER = re.compile(r"[0-9]{1,15}(?:\.0*)?")

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?")

_FRACTION = re.compile(r"[0-9]+\.[0-9]+")

_OF_DAY = re.compile(r"(?<![0-9:])([0-9]{1,2}):([0-9]{2}):([0-9]{2}(?:[.,][0-9]{1,9})?)(?![0-9:])")


def moment_of(each: Found) -> float | None:
    """Seconds of the day that stand in front of a line; None where none do."""
    line = each.first
    begin = each.places[0][0].start if each.places else 0
    for text in (line.prefix.get("timestamp", ""), line.text[:begin]):
        found = _OF_DAY.search(text)
        if found is not None:
            hours, minutes, seconds = found.groups()
            return int(hours) * 3600 + int(minutes) * 60 + float(seconds.replace(",", "."))
    return None


def _opens_or_counts(before: str) -> bool:
    """Whether what stands before a number without a label lets it be a count."""
    return before[-1:] in ("(", "[", "]", ",", "") or before[-1:].isalpha()


ALIKE = 0.6
"""Share of the labels of the smaller of two groups that the other has too, in one shape."""

COMPARED = 40
"""Shapes that a group of lines is compared with."""


def shapes(found: Iterable[Found]) -> Iterator[Shape]:
    """Lines with most labels in common, each group with the most frequent of its lines first."""
    groups: dict[tuple[str, frozenset[str]], list[Found]] = defaultdict(list)
    for each in found:
        groups[(each.said.form, each.labels)].append(each)
    alike: dict[tuple[object, ...], list[tuple[frozenset[str], list[Found]]]] = defaultdict(list)
    for (form, labels), group in sorted(groups.items(), key=lambda each: -len(each[1])):
        known = alike[(form, *_counted(group[0]))]
        home = next((many for other, many in known[:COMPARED] if _one_shape(labels, other)), None)
        if home is None:
            known.append((labels, group))
        else:
            home += group
    for many in alike.values():
        for _, group in many:
            typical = group[0]
            group.sort(key=lambda each: (each.first.number, each.first.column))
            yield Shape(group, typical)


def _one_shape(labels: frozenset[str], other: frozenset[str]) -> bool:
    both = len(labels & other)
    few, many = sorted((len(labels), len(other)))
    return both > 0 and both >= ALIKE * few and both >= ALIKE * ALIKE * many


def _counted(one: Found) -> tuple[object, ...]:
    """The parts that two lines of one shape have in common for certain: counts, and a loss."""
    counts = frozenset(
        key
        for key, what in zip(one.keys, one.meanings, strict=True)
        if what is not None and what.field == "step"
    )
    bare = tuple(key for key in one.keys if key.startswith("#") and key.endswith("/"))
    trains = one.has("loss")
    return (counts, bare, trains, one.block)


def _strictly(values: Sequence[int]) -> int:
    """In how many lines a count differs from that of the line before."""
    return sum(a != b for a, b in pairwise(values))


def _steadily(values: Sequence[int]) -> bool:
    """Whether integers rise by one stride, but for few."""
    strides = Counter(b - a for a, b in pairwise(values))
    if len(values) < LEAST or not strides:
        return False
    stride, often = strides.most_common(1)[0]
    if stride > values[0] and values[1] % stride == 0:  # 1, 10, 20: the first, then every tenth
        often += values[1] - values[0] < stride
    return stride > 0 and often >= 0.9 * strides.total()


def _rises(values: Sequence[int]) -> bool:
    """Whether integers rise by few strides, now and then beginning again."""
    strides = Counter(b - a for a, b in pairwise(values) if b != a)
    up = sum(count for stride, count in strides.items() if stride > 0)
    every = strides.total()
    if not up or up < 0.6 * every:
        return False
    often = sum(c for s, c in strides.most_common(STRIDES) if s > 0)
    return often >= 0.5 * up
