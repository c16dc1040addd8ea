"""Peak memory of a Ulysses trace: which tensors live at which printed line.

In: the lines of one trace in order, as `Event`. Out: for every `Peak memory allocation` line the
bytes of tensors at the highest point so far, and whether the workspace of the matrix library was
there. The workspace is one unknown constant x: it is fitted from the *other* peak lines of the same
trace, and a prediction says so.

Units: bytes; shapes in elements. Source: recomputed from the peaks that the traces print
(docs/estimators.md).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from operator import mul
from typing import Literal, NamedTuple

from assay.model.reproductions.ulysses_labels import dimensions, powers

Kind = Literal["section", "operation", "equation", "tensor", "contiguous", "peak", "other"]


class Layout(NamedTuple):
    """A tensor's dimensions in elements and, where it has a label, in symbols."""

    shape: tuple[int, ...]
    label: str = ""


@dataclass(frozen=True)
class Event:
    """One line: a tensor with its shape, an operation's text, a flag or a printed peak in bytes."""

    kind: Kind
    text: str = ""
    name: str = ""
    shape: tuple[int, ...] = ()
    label: str = ""
    low: float = 0.0  # interval of a printed peak
    high: float = 0.0

    @property
    def layout(self) -> Layout:
        """The tensor's dimensions."""
        return Layout(self.shape, self.label)


class Held(NamedTuple):
    """Bytes of tensors at the peak so far, and whether the workspace is part of it."""

    bytes: int
    workspace: bool


def is_view(old: Layout, new: Layout) -> bool:
    """Whether `new` only joins neighbouring dimensions of `old`, which copies nothing.

    Symbols decide where both have them: equal sizes may be a coincidence.

    >>> is_view(Layout((4, 4, 8), "[h, d/h, d]"), Layout((16, 8), "[d, d]"))
    True
    >>> is_view(Layout((8, 8, 4), "[P, h/P, N/P]"), Layout((8, 32), "[h/P, N]"))
    False
    """
    before, after = dimensions(old.label), dimensions(new.label)
    if before and after:
        ends = list(itertools.accumulate(map(powers, before), joined))
        return set(map(_key, itertools.accumulate(map(powers, after), joined))) <= set(
            map(_key, ends)
        )
    sizes = set(itertools.accumulate(old.shape, mul))
    return prod(old.shape) == prod(new.shape) and (
        set(itertools.accumulate(new.shape, mul)) <= sizes
    )


def joined(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """The product of two monomials, as exponents by symbol."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {*one, *other}}


def _key(monomial: Mapping[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset((name, power) for name, power in monomial.items() if power)


def moves_only(text: str) -> bool:
    """Whether an operation rearranges tensors it has, rather than making new ones.

    >>> moves_only("transpose(0, 1) c_ & reshape c_ and O"), moves_only("all-to-all q, k, v")
    (True, False)
    """
    return re.match(r"(?:transpose|reshape)", text.strip()) is not None


@dataclass
class Memory:
    """Allocations of one rank, line by line; sizes in bytes."""

    itemsize: int
    live: int = 0
    peak: int = 0
    workspace: bool = False
    layouts: dict[str, Layout] = field(default_factory=dict)

    def touch(self, extra: int = 0) -> None:
        """Let the peak see the bytes live now, with `extra` bytes for the time of a copy."""
        self.peak = max(self.peak, self.live + extra)

    def make(self, name: str, layout: Layout) -> None:
        """A new tensor; an older one of the same name stays, the program still holds it."""
        self.live += prod(layout.shape) * self.itemsize
        self.layouts[name] = layout
        self.touch()

    def rearrange(self, name: str, layout: Layout, *, reshaped: bool, dense: bool) -> None:
        """A tensor in a new order: a copy beside the old one for a moment, or only a view of it.

        A reshape that permutes copies; a transpose alone copies if its result is contiguous.
        """
        old = self.layouts.get(name, layout)
        self.layouts[name] = layout
        if not is_view(old, layout) and (reshaped or dense):
            self.touch(prod(layout.shape) * self.itemsize)


def _operations(events: Sequence[Event]) -> list[tuple[Event | None, list[Event]]]:
    """Events grouped under the operation they belong to; the inputs stand under None."""
    groups: list[tuple[Event | None, list[Event]]] = [(None, [])]
    for event in events:
        if event.kind == "operation":
            groups.append((event, []))
        else:
            groups[-1][1].append(event)
    return groups


def peaks(events: Sequence[Event], itemsize: int) -> list[Held | None]:
    """For every peak line of one section what is held at the highest point so far.

    `events` are the lines of one section that starts with nothing allocated; `itemsize` is bytes
    per element.

    >>> i, w = (4, 8), (2, 8, 4)
    >>> lines = [Event("tensor", name="input", shape=i), Event("tensor", name="Q", shape=w),
    ...          Event("peak"), Event("operation", "compute q"),
    ...          Event("tensor", name="q", shape=(2, 4, 4)), Event("peak")]
    >>> peaks(lines, 2)
    [Held(bytes=192, workspace=False), Held(bytes=256, workspace=True)]
    """
    memory = Memory(itemsize)
    held: list[Held | None] = []
    for operation, group in _operations(events):
        text = operation.text if operation else ""
        dense = any(event.kind == "contiguous" for event in group)
        if operation and (text.startswith("compute") or any(e.kind == "equation" for e in group)):
            memory.workspace = True
        for event in group:
            if event.kind == "tensor" and moves_only(text):
                reshaped = "reshape" in text
                memory.rearrange(event.name, event.layout, reshaped=reshaped, dense=dense)
            elif event.kind == "tensor":
                memory.make(event.name, event.layout)
            elif event.kind == "peak":
                held.append(Held(memory.peak, memory.workspace))
    return held


def workspace(intervals: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The workspace that most of the printed peaks share, as an interval in bytes.

    `intervals` are printed peak less tensors. None unless more than half of them agree.

    >>> workspace([(41.0, 51.0), (38.0, 48.0), (90.0, 99.0)])
    (41.0, 48.0)
    """
    best: list[tuple[float, float]] = []
    for low, _ in intervals:
        agreeing = [span for span in intervals if span[0] <= low <= span[1]]
        if len(agreeing) > len(best):
            best = agreeing
    if not best or 2 * len(best) <= len(intervals):
        return None
    low, high = max(low for low, _ in best), min(high for _, high in best)
    return (low, high) if high >= 0 else None
