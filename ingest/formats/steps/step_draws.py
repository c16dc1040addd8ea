"""Bars that are drawn again: which draw tells of which step, and which bars count no steps at all.

In: lines, and a `Shape` of bars. Out: the same with one draw for each count, where that can be
told, whose other draws are lines of it. A bar is drawn when its count goes on, and when what stands
behind it changes; which of the two comes first, the draws at its zero tell.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from assay.ingest.formats.steps.step_shapes import BAR, LEAST, Found, Shape, counted
from assay.ingest.formats.steps.step_words import VALIDATION, meaning, words

_RATES = {"step_rate", "step_time_average", "step_time"}
"""Quantities in which a bar tells its own pace: they change from draw to draw."""


def without_repeats(found: Iterable[Found]) -> Iterator[Found]:
    """Lines without draws of a bar that say nothing new: these are lines of the draw before.

    One at zero shows what stood there before; one of the same count may add what came of a
    validation behind it.
    """
    before: dict[str | None, Found] = {}  # the last bar of each rank
    for each in found:
        if each.said.form == "bar":
            rank = each.first.prefix.get("rank")
            last, before[rank] = before.get(rank), each
            if last is not None and _repeats(each, last):
                last.join(_added(each, last))
                before[rank] = last
                continue
        yield each


def _repeats(draw: Found, last: Found) -> bool:
    """Whether a draw is of the step that the one before it is of."""
    says, before = _says(draw), _says(last)
    if len(says) > COUNT and says <= before:
        return True
    validated = any(not VALIDATION.isdisjoint(words(label)) for label, _ in says - before)
    if validated and _of_step(draw) and _of_step(draw) == _of_step(last):
        return True
    measured = {(label, text) for label, text in says if label != BAR and not _is_epoch(label)}
    return _count(draw) == 0 and bool(measured) and measured <= before


def _of_step(draw: Found) -> set[tuple[str, str]]:
    """Columns of a draw with their texts, its pace and what is of validation aside; empty where
    nothing of training stands beside its count."""
    pairs = zip(draw.places, draw.meanings, strict=True)
    held = {(what.field, pair.text) for (pair, _), what in pairs if what and what.field}
    held = {each for each in held if each[0] not in _RATES | {"validation_loss"}}
    trains = any(field in ("loss", "learning_rate", "grad_norm") for field, _ in held)
    return (
        held | {(BAR, pair.text) for pair, _ in draw.places if pair.label == BAR}
        if trains
        else set()
    )


def _is_epoch(label: str) -> bool:
    what = meaning(label)
    return what is not None and what.field == "epoch"


def _added(draw: Found, last: Found) -> Found:
    """Pairs that a draw says beyond the one before it, its pace aside; nothing at zero."""
    new = [] if _count(draw) == 0 else sorted(_says(draw) - _says(last))
    places = zip(draw.places, draw.meanings, strict=True)
    kept = [(place, what) for place, what in places if (place[0].label, place[0].text) in new]
    return Found(draw.lines, draw.said, [place for place, _ in kept], meanings=[w for _, w in kept])


COUNT = 2
"""Pairs of a bar that says nothing but its count and its total."""


def once_each(shape: Shape) -> None:
    """Leave one draw for each count of a bar, as far as its draws tell which is of that step.

    Where a count is drawn several times over, one of them is drawn as the count goes on, and shows
    what stood there before. A loop that counts first and shows then (`bar.update(1)`,
    `bar.set_postfix(…)`) has drawn two fewer at zero than later, one that shows first has drawn one
    fewer: of the former the second draw of a count is that of its step, of the latter the first.
    Draws of which nothing tells stay.
    """
    if shape.typical.said.form != "bar":
        return
    for mine in _by_rank(shape.found):
        draws = [list(group) for _, group in groupby(mine, key=_count)]
        at_zero = len(draws[0]) if _count(draws[0][0]) == 0 else 0
        later = draws[1:] if at_zero else draws
        many, _ = Counter(map(len, later)).most_common(1)[0] if later else (1, 0)
        ahead = many - at_zero
        if many == 1 or _count(later[0][0]) != 1 or ahead not in (1, 2):
            continue
        places = [min(ahead, len(group)) - 1 for group in later]
        later[0] += draws[0] if at_zero else ()
        _leave(shape, list(zip(later, places, strict=True)))


def within(bar: Shape, steps: Shape) -> bool:
    """Whether a bar counts parts of the steps that another shape counts one by one: it begins again
    behind each of its lines, as that of the micro-batches of a step does."""
    if bar is steps or bar.typical.said.form != "bar" or bar.counters[:1] != [BAR]:
        return False
    key = next(iter(steps.counters), BAR)
    if key in (BAR, "") or key.startswith("#") or steps.stride != 1 or steps.falls:
        return False
    ends = sorted(each.first.number for each in steps.found)
    draws = [(bisect_left(ends, each.first.number), _count(each)) for each in bar.found]
    parts = [[count for _, count in part] for _, part in groupby(draws, key=lambda draw: draw[0])]
    again = [after[0] <= before[-1] for before, after in pairwise(parts)]
    rises = all(a <= b for part in parts for a, b in pairwise(part))
    return len(parts) >= LEAST and all(again) and rises


def _count(draw: Found) -> int:
    text = draw.value(BAR)
    return counted(text) if text else -1


def _by_rank(found: Sequence[Found]) -> list[list[Found]]:
    """The draws of each rank, in order."""
    held: dict[str | None, list[Found]] = {}
    for each in found:
        held.setdefault(each.first.prefix.get("rank"), []).append(each)
    return list(held.values())


def _says(draw: Found) -> frozenset[tuple[str, str]]:
    """Labels of a draw with their texts, its pace aside."""
    pairs = zip(draw.places, draw.meanings, strict=True)
    return frozenset(
        (pair.label, pair.text)
        for (pair, _), what in pairs
        if not (what is not None and what.field in _RATES and pair.label == pair.behind)
    )


def _leave(shape: Shape, groups: Sequence[tuple[list[Found], int]]) -> None:
    """Leave of each group of draws one, which the lines of the others are added to."""
    gone: set[int] = set()
    for group, at in groups:
        others = [each for each in group if each is not group[at]]
        group[at].lines += [line for each in others for line in each.lines]
        gone |= {id(each) for each in others}
    shape.found = [each for each in shape.found if id(each) not in gone]
    if id(shape.typical) in gone:
        shape.typical = shape.found[0]
