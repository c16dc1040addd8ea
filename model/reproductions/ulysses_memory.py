"""Peak memory of a Ulysses trace: which tensors live at which printed line.

In: the lines of one trace in order, as `Event`. Out: for every `Peak memory allocation` line the
bytes of tensors at the highest point so far, and whether the workspace of the matrix library was
there. The workspace is one unknown constant x: it is fitted from the *other* peak lines of the same
trace, and a prediction says so.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal, NamedTuple

Kind = Literal["section", "operation", "equation", "tensor", "contiguous", "peak", "other"]


@dataclass(frozen=True)
class Event:
    """One line: a tensor with its shape, an operation's text, a flag or a printed peak in bytes."""

    kind: Kind
    text: str = ""
    name: str = ""
    shape: tuple[int, ...] = ()
    low: float = 0.0  # interval of a printed peak
    high: float = 0.0


class Held(NamedTuple):
    """Bytes of tensors at the peak so far, and whether the workspace is part of it."""

    bytes: int
    workspace: bool


def is_view(old: Sequence[int], new: Sequence[int]) -> bool:
    """Whether `new` only joins neighbouring dimensions of `old`, which copies nothing.

    >>> is_view((128, 128, 16384), (16384, 16384)), is_view((16, 8, 3750, 128), (8, 60000, 128))
    (True, False)
    """
    ends = set(itertools.accumulate(old, lambda a, b: a * b))
    return prod(old) == prod(new) and set(itertools.accumulate(new, lambda a, b: a * b)) <= ends


def moves_only(text: str) -> bool:
    """Whether an operation rearranges tensors it has, rather than making new ones.

    >>> moves_only("transpose(0, 1) c_ & reshape c_ and O"), moves_only("all-to-all q, k, v")
    (True, False)
    """
    return re.match(r"(?:transpose|reshape)", text.strip()) is not None


@dataclass
class Memory:
    """What is allocated, line by line; sizes in bytes."""

    itemsize: int
    live: int = 0
    peak: int = 0
    workspace: bool = False
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def touch(self, extra: int = 0) -> None:
        """Let the peak see what is live now, with `extra` for the time of a copy."""
        self.peak = max(self.peak, self.live + extra)

    def make(self, name: str, shape: tuple[int, ...]) -> None:
        """A new tensor; an older one of the same name stays, the program still holds it."""
        self.live += prod(shape) * self.itemsize
        self.shapes[name] = shape
        self.touch()

    def rearrange(self, name: str, shape: tuple[int, ...], *, reshaped: bool, dense: bool) -> None:
        """A tensor in a new order: a copy beside the old one for a moment, or only a view of it.

        A reshape that permutes copies; a transpose alone copies if its result is contiguous.
        """
        old = self.shapes.get(name, shape)
        self.shapes[name] = shape
        if not is_view(old, shape) and (reshaped or dense):
            self.touch(prod(shape) * self.itemsize)


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

    `events` are the lines of one section that starts with nothing allocated.

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
                memory.rearrange(event.name, event.shape, reshaped=reshaped, dense=dense)
            elif event.kind == "tensor":
                memory.make(event.name, event.shape)
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
