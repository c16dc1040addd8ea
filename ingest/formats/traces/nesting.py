"""Spans of threads that lie inside each other, and which of them a moment lies in.

In: spans as columns (thread, start, end). Out: for each its parent, and for a thread and a time the
innermost span there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Nesting:
    """Spans in the order of thread and start, outer ones first; `order` leads back to the input."""

    def __init__(self, thread: Sequence[int], start: Sequence[float], end: Sequence[float]) -> None:
        threads, starts = np.asarray(thread, np.int64), np.asarray(start, np.float64)
        ends = np.asarray(end, np.float64)
        self.order = np.lexsort((-ends, starts, threads))
        self.thread, self.start = threads[self.order], starts[self.order]
        self.end = ends[self.order]
        self.parent = self._parents()

    def __len__(self) -> int:
        return len(self.order)

    def _parents(self) -> Ints:
        parents = np.full(len(self.order), -1, np.int64)
        stack: list[tuple[int, float, int]] = []
        columns = (self.thread.tolist(), self.start.tolist(), self.end.tolist())
        for at, (thread, start, end) in enumerate(zip(*columns, strict=True)):
            while stack and (stack[-1][0] != thread or stack[-1][1] <= start):
                stack.pop()
            if stack:
                parents[at] = stack[-1][2]
            stack.append((thread, end, at))
        return parents

    def inside(self, thread: Ints, time: Floats) -> Ints:
        """The innermost span of a thread at a time, as a place in this order; -1 for none."""
        found = np.full(len(time), -1, np.int64)
        for one in np.unique(thread):
            if one < 0:
                continue
            low, high = np.searchsorted(self.thread, [one, one + 1])
            asked = np.flatnonzero(thread == one)
            at = low + np.searchsorted(self.start[low:high], time[asked], side="right") - 1
            found[asked] = np.where(at >= low, at, -1)
        while True:
            past = (found >= 0) & (self.end[found] < time)
            if not past.any():
                return found
            found[past] = self.parent[found[past]]

    def inherited(self, own: Ints) -> Ints:
        """Own value of each span where it has one (not -1), else that of its nearest ancestor."""
        return self.folded(own, lambda above, mine: above if mine < 0 else mine)

    def folded(self, own: Ints, join: Callable[[int, int], int]) -> Ints:
        """`join(value of the parent, own value)` from the outermost span inwards."""
        values = own.tolist()
        for at, parent in enumerate(self.parent.tolist()):
            values[at] = join(values[parent] if parent >= 0 else -1, values[at])
        return np.asarray(values, np.int64)


def covered(start: Floats, end: Floats) -> float:
    """Length of the union of intervals."""
    return float(sum(right - left for left, right in zip(*union(start, end), strict=True)))


def union(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """The same points as intervals that do not touch, in order."""
    if not len(start):
        return start, end
    order = np.argsort(start, kind="stable")
    left, right = start[order], np.maximum.accumulate(end[order])
    breaks = np.flatnonzero(left[1:] > right[:-1])
    return left[np.concatenate([[0], breaks + 1])], right[np.concatenate([breaks, [-1]])]
