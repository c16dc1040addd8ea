"""Lines of several shapes that tell of the same steps, put together to one record a step.

In: shapes that are step records. Out: the same, those gone whose every line, but for few, stands
beside a line of another shape with the same count of steps, or right below one if they have no
count, and says nothing that contradicts it: `Iteration 100, loss = 3.1` and right below it
`Iteration 100, lr = 0.01`, or `    perf: 912 ms/step`.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence

from assay.ingest.formats.steps.step_shapes import LEAST, Found, Shape

NEAR = 8
"""Lines between two that tell of one step, at most."""

MOST = 0.8
"""Share of the lines of a shape that must have their place for it to be a piece of another."""

_COUNTED = {"step", "epoch", "total_steps"}


def put_together(shapes: Sequence[Shape], loose: Sequence[Shape], *, beside: bool) -> list[Shape]:
    """The shapes without those that are pieces of others; these have their lines, and those of
    `loose` ones, which are no step records by themselves.

    A shape that has no column but its count is one where it is a piece, or where there is no other,
    nor one `beside` these.
    """
    whole = sorted(
        shapes,
        key=lambda shape: (not shape.counters, -len(_fields(shape.typical)), -len(shape.found)),
    )
    kept = _Kept()
    for shape in whole:
        if not kept.joined(shape):
            kept.add(shape)
    for shape in sorted(loose, key=lambda shape: shape.found[0].first.number):
        kept.joined(shape, alone=False)
    bare = {id(shape) for shape in kept.shapes if not _fields(shape.typical)}
    held = {id(shape) for shape in kept.shapes}
    if beside or len(bare) < len(held):
        held -= bare
    return [shape for shape in shapes if id(shape) in held]


class _Kept:
    """Shapes that are no pieces of others, by the lines that they have.

    Of a thousand shapes few are asked whether another is a piece of them: those near its lines.
    """

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self._at: defaultdict[int, list[int]] = defaultdict(list)  # line → places in `shapes`

    def add(self, shape: Shape) -> None:
        """Keep a shape."""
        self._note(shape, len(self.shapes))
        self.shapes.append(shape)

    def joined(self, piece: Shape, *, alone: bool = True) -> bool:
        """Whether the lines of `piece` have become ones of the first shape that takes them."""
        for at in self._beside(piece):
            if _joined(piece, self.shapes[at], alone=alone):
                self._note(piece, at)
                return True
        return False

    def _beside(self, piece: Shape) -> list[int]:
        """The shapes near enough to so many of its lines that not `MOST` are left without one."""
        some = len(piece.found) - math.ceil(MOST * len(piece.found)) + 1
        lines = (each.first.number for each in piece.found[:some])
        near = (at for line in lines for at in range(line - NEAR, line + NEAR + 1))
        return sorted({place for at in near for place in self._at.get(at, ())})

    def _note(self, shape: Shape, at: int) -> None:
        for each in shape.found:
            for line in each.lines:
                self._at[line.number].append(at)


def _fields(one: Found) -> set[str]:
    return {what.field for what in one.meanings if what and what.field} - _COUNTED


def _joined(piece: Shape, whole: Shape, *, alone: bool = True) -> bool:
    """Whether the lines of `piece` have become ones of `whole`; those that stand beside none of it
    are records if they may stand `alone`."""
    if not whole.counters:
        return False
    if piece.counters:
        pairs = _same_counts(piece, whole, piece.counters[0])
    else:
        pairs = _by_number(piece, whole) or _right_below(piece, whole)
    if len(pairs) < MOST * len(piece.found):
        return False
    for one, more in pairs:
        one.join(more)
    joined = {id(more) for _, more in pairs}
    whole.found += [each for each in piece.found if alone and id(each) not in joined]
    whole.found.sort(key=_line)
    return True


def _right_below(piece: Shape, whole: Shape) -> list[tuple[Found, Found]]:
    """Lines without a count, each with the one above it that has one: `[10/2000] loss=6.1` and
    below it `    perf: 912.1 ms/step`.

    They stand farther in, with nothing in front of them that a logger writes, below every line of
    the other, or right below each and never right above the next: what stands between two records
    in another way may be of either.
    """
    if len(piece.found) < LEAST or len(piece.found) < MOST * len(whole.found):
        return []
    above = {each.lines[-1].number: each for each in whole.found}
    pairs = [(above.get(each.first.number - 1), each) for each in piece.found]
    begins = {each.first.number for each in whole.found}
    apart = not any(each.lines[-1].number + 1 in begins for each in piece.found)
    closed = apart and {id(one) for one, _ in pairs if one} == {id(one) for one in whole.found}
    sure = [
        (one, each) for one, each in pairs if one is not None and _goes_on(one, each, closed=closed)
    ]
    return sure if len(sure) == len(pairs) else []


def _goes_on(one: Found, below: Found, *, closed: bool) -> bool:
    """Whether a line goes on with what the one above it says: farther in, or `closed` above the
    next."""
    deeper = below.first.column > one.first.column and not below.first.prefix
    return (deeper or closed) and _agree(one, below)


def _by_number(piece: Shape, whole: Shape) -> list[tuple[Found, Found]]:
    """Lines with a rising number under a label of their own, each beside the line that counts it:
    `perf 3: {…}` above `step 3: {…}`."""
    one = piece.typical
    keys = zip(one.keys, one.places, one.meanings, strict=True)
    own = (key for key, (pair, _), what in keys if what is None and pair.label and not pair.total)
    rising = (key for key in own if piece.rises(key))
    found = (_same_counts(piece, whole, key) for key in rising)
    return next((pairs for pairs in found if len(pairs) >= MOST * len(piece.found)), [])


def _same_counts(piece: Shape, whole: Shape, mine: str) -> list[tuple[Found, Found]]:
    """Lines with the same count of steps, under the key `mine` in the piece, each beside the
    nearest."""
    others = whole.counters[0]
    beside: dict[str, list[Found]] = defaultdict(list)  # in the order of their lines
    for each in whole.found:
        beside[each.value(others) or ""].append(each)
    pairs: list[tuple[Found, Found]] = []
    taken: set[int] = set()
    for each in piece.found:
        near = [
            one
            for one in _around(beside.get(each.value(mine) or "?", []), each.first.number)
            if id(one) not in taken
        ]
        best = min(near, key=lambda one: _apart(one, each), default=None)
        if best is None or _apart(best, each) > NEAR or not _agree(best, each):
            continue
        if _fields(each):  # of a line without columns there may be several a step
            taken.add(id(best))
        pairs.append((best, each))
    return pairs


def _around(found: Sequence[Found], line: int) -> Sequence[Found]:
    """Those of them, in the order of their lines, that are near a line."""
    begin = bisect_left(found, line - NEAR, key=_line)
    return found[begin : bisect_right(found, line + NEAR, key=_line)]


def _line(one: Found) -> int:
    return one.first.number


def _apart(one: Found, other: Found) -> int:
    if one.first.prefix.get("rank") != other.first.prefix.get("rank"):
        return NEAR + 1
    return min(abs(line.number - other.first.number) for line in one.lines)


def _agree(one: Found, other: Found) -> bool:
    """Whether the two have no column in common, but for a loss that is one in fewer digits."""
    held, more = _values(one), _values(other)
    common = held.keys() & more.keys()
    return not common or (
        common == {"loss"} and math.isclose(held["loss"], more["loss"], rel_tol=5e-3)
    )


def _values(one: Found) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, what in zip(one.keys, one.meanings, strict=True):
        text = one.value(key)
        if what is None or not what.field or what.field in _COUNTED or text is None:
            continue
        try:
            found.setdefault(what.field, float(text) * what.scale)
        except ValueError:
            continue
    return found
