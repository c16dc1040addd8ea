"""Lines with the same labels: what a file says by the shape of its lines, and not by one of them.

In: lines taken apart into pairs (`Found`). Out: `Shape` values: lines that have most of their
labels in common, in order, with what only all of them tell together: which label counts the steps
and by which stride. What a time is that they print, `step_clocks` tells.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.formats.steps.step_pairs import Pair, Said, number
from assay.ingest.formats.steps.step_words import Meaning, words
from assay.ingest.lines.metrics import COUNTS
from assay.ingest.schema.record import Line

LEAST = 3
"""Lines of one shape that make it one by themselves."""

FEW_RANKS = 8
"""Processes of one node."""

STRIDES = 4
"""Different strides of a count of steps, of which most rises are one."""

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

    def put_count(self, count: str) -> None:
        """Put a count in front, which stood there with a colon and looked like a rank."""
        line = self.first._replace(prefix={})
        begin = -len(f"{count}: ")
        pair = Pair("", count, "", begin, span=(begin, begin + len(count)))
        self.lines = [line, *self.lines[1:]]
        self.places = [(pair, line), *self.places]
        self.meanings = [None, *self.meanings]
        self.__dict__.pop("keys", None)

    def validates(self, *beside: str) -> bool:
        """Whether a line tells of an evaluation: of its loss, and of nothing of training but its
        time and what is `beside`. An average over steps is of training: `step:125/1770
        val_loss:4.3702 step_avg:94.01ms`."""
        held = {each.field for each in self.meanings if each is not None and each.training}
        return "validation_loss" in held and held <= {*_OF_AN_EVALUATION, *beside}

    def has(self, *names: str) -> bool:
        """Whether one of its pairs means one of these."""
        return any(each is not None and each.field in names for each in self.meanings)


_OF_AN_EVALUATION = {"validation_loss", "step_time"}


class Clock(NamedTuple):
    """The column of a time, once that is known, and the factor to seconds."""

    field: str
    scale: float


@dataclass
class Shape:
    """Lines that have most of their labels in common; `typical` has those of most of them."""

    found: list[Found]
    typical: Found
    clocks: Mapping[str, Clock] = field(default_factory=dict)
    _rising: dict[str, bool] = field(default_factory=dict)  # by key, asked for every line

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
        keys = [(order, key) for order, key in keys if key not in self.moving]
        counts = {key: self.counts(key) for _, key in keys}
        rising = [(order, key) for order, key in keys if _rises(counts[key])]
        often = {key: _strictly(counts[key]) for _, key in rising}
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
            if key.startswith("#") and _opens_or_counts(line.text[: max(0, pair.start)].rstrip())
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
    def moving(self) -> frozenset[str]:
        """Keys of counts whose total rises from line to line, and is none: of an epoch and a batch
        of it, `Batch 0/300`, it is the second that counts."""
        one = self.typical
        ends = zip(one.keys, one.places[1:], strict=False)
        keys = [key for key, (after, _) in ends if after.total]
        return frozenset(key for key in keys if key != BAR and self._total_rises(key))

    def _total_rises(self, key: str) -> bool:
        totals = [
            (float(number(after.text)), text)
            for each in self.found
            for name, (pair, _), (after, _) in zip(
                each.keys, each.places, each.places[1:], strict=False
            )
            if name == key and after.total and not pair.total and (text := pair.text)
        ]
        moves = _strictly([total for total, _ in totals])
        stays = len(totals) - 1 - _strictly([number(text) for _, text in totals])
        few = len(totals) < LEAST or moves < 0.6 * (len(totals) - 1)
        return not few and _rises([total for total, _ in totals]) and 2 * stays >= moves

    @cached_property
    def total_counts(self) -> bool:
        """Whether what a count counts up to rises, and there is no other count: `Batch 0/300`."""
        return not self.counters and bool(self.moving)

    @cached_property
    def by_epoch(self) -> bool:
        """Whether the lines are of an epoch each: no count of steps rises, but that of epochs."""
        return not self.counters and self.epochs

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
        return [counted(text) for text in texts if text and _COUNT.fullmatch(text)]

    def take_counts_in_front(self) -> None:
        """Take numbers in front of the lines, `12: loss 3.1`, for counts and not for ranks of a
        launcher, if they rise by one stride and nothing else stands there.

        Ranks that each print one line may come in order; they are few, and begin at 0.
        """
        ranks = [each.first.prefix.get("rank", "") for each in self.found]
        if not all(map(INTEGER.fullmatch, ranks)) or self.counters:
            return
        if any(len(each.first.prefix) > 1 for each in self.found):
            return
        counts = [int(rank) for rank in ranks]
        if not _steadily(counts) or (counts[0] == 0 and len(counts) <= FEW_RANKS):
            return
        for each, rank in zip(self.found, ranks, strict=True):
            each.put_count(rank)
        del self.counters, self._bare

    def rises(self, key: str) -> bool:
        """Whether a number under a key rises by one stride from line to line."""
        return _steadily(self.counts(key))

    def since_a_start(self, key: str) -> bool:
        """Whether an elapsed time rises, but where the steps begin again."""
        if key not in self._rising:
            self._rising[key] = self._only_rises(key)
        return self._rising[key]

    def _only_rises(self, key: str) -> bool:
        return sum(b < a for a, b in pairwise(self._numbers(key))) <= self.falls

    @cached_property
    def percents(self) -> frozenset[str]:
        """Keys of shares of a peak whose every number is above 1: no share is, so they are in
        percent."""
        one = self.typical
        shares = [k for k, what in zip(one.keys, one.meanings, strict=True) if _is_share(what)]
        return frozenset(key for key in shares if min(self._numbers(key), default=0.0) > 1.0)

    @cached_property
    def fractions(self) -> frozenset[str]:
        """Keys of shares of a peak that reach a tenth and never one: a tenth of a percent is no
        job's."""
        one = self.typical
        shares = [k for k, what in zip(one.keys, one.meanings, strict=True) if _is_share(what)]
        most = {key: max(self._numbers(key), default=0.0) for key in shares}
        return frozenset(key for key in shares if 0.1 <= most[key] <= 1.0)

    def _numbers(self, key: str) -> list[float]:
        """The numbers under a key, line by line; what is none is left out."""
        texts = (each.value(key) for each in self.found)
        return [float(text) for text in texts if text and _NUMBER.fullmatch(text)]


INTEGER = re.compile(r"[0-9]{1,15}(?:\.0*)?")

_COUNT = re.compile(
    rf"{INTEGER.pattern}|[0-9](?:\.[0-9]{{1,3}})?[eE]\+?0?[0-9]|[0-9]{{1,3}}(?:\.[0-9]{{1,3}})?[kM]"
)
"""A count as printed, also one that is rounded: `step: 1.20e+03`, `1.05kit`."""


def counted(text: str) -> int:
    """The count that a text gives, as far as its digits go; -1 where none goes so far.

    >>> counted("12"), counted("1.20e+03"), counted("1.05k"), counted("9" * 400)
    (12, 1200, 1050, -1)
    """
    count = float(text.rstrip("kM")) * COUNTS.get(text[-1:], 1.0)
    return round(count) if math.isfinite(count) else -1


_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?")


def _is_share(what: Meaning | None) -> bool:
    return what is not None and what.field == "share"


_FRACTION = re.compile(r"[0-9]+\.[0-9]+")


def _opens_or_counts(before: str) -> bool:
    """Whether what stands before a number without a label lets it be a count."""
    return (
        before[-1:] in ("(", "[", "]", ",", "#", "") or before[-1:].isalpha() or before[-2:] == " -"
    )


ALIKE = 0.6
"""Share of the labels of the smaller of two groups that the other has too, in one shape."""

COMPARED = 40
"""Shapes that a group of lines is compared with."""


def shapes(found: Iterable[Found], alone: list[Found]) -> Iterator[Shape]:
    """Lines with most labels in common, each group with the most frequent of its lines first.

    `alone` is given the first line of each that was compared with `COMPARED` shapes of more.
    """
    groups: dict[tuple[str, frozenset[str]], list[Found]] = defaultdict(list)
    for each in found:
        groups[(each.said.form, each.labels)].append(each)
    alike: dict[tuple[object, ...], list[tuple[frozenset[str], list[Found]]]] = defaultdict(list)
    for (form, labels), group in sorted(groups.items(), key=lambda each: -len(each[1])):
        known = alike[(form, *_counted(group[0]))]
        home = next((many for other, many in known[:COMPARED] if _one_shape(labels, other)), None)
        if home is None:
            alone += group[:1] if len(known) > COMPARED else ()
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
    return (counts, bare, trains, one.validates(), one.block)


def _strictly(values: Sequence[object]) -> int:
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


def _rises(values: Sequence[float]) -> bool:
    """Whether integers rise by few strides, now and then beginning again."""
    strides = Counter(b - a for a, b in pairwise(values) if b != a)
    up = sum(count for stride, count in strides.items() if stride > 0)
    every = strides.total()
    if not up or up < 0.6 * every:
        return False
    often = sum(c for s, c in strides.most_common(STRIDES) if s > 0)
    return often >= 0.5 * up
