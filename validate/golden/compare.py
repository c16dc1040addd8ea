"""A golden against what is read now: the reasons why they differ, and the difference as a diff.

Entries that are equal are taken off first; among the rest, one that agrees with an entry of the
golden value by value stands in for it, so that only true differences are shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assay.validate.golden.agree import PREDICTED_KIND, Tolerance, agree, stated
from assay.validate.golden.canonical import ordered
from assay.validate.golden.document import (
    PREDICTED,
    READING,
    REFUSED,
    SCHEMA,
    TOLERANCE,
    VERSION,
    Document,
    Entry,
)
from assay.validate.golden.unified import unified

_READABLE = 100
"""Changed records beyond which nobody reads them one by one."""

_SHOWN = 5
"""Changed values that a message names before it counts the rest."""


class Cause(StrEnum):
    """Why a golden and an input disagree: the closed set, one message each."""

    EDITED = "edited by hand"
    VERSION = "golden version"
    SCHEMA = "schema"
    READING = "reading"
    REFUSED = "refused"
    MODEL = "model"
    MISSING = "no golden"
    ORPHAN = "no input"
    UNKNOWN = "not identified"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Reason:
    """One thing that is not as the golden says."""

    cause: Cause
    message: str

    def __str__(self) -> str:
        return f"{self.cause}: {self.message}"


@dataclass(frozen=True)
class Difference:
    """All reasons, and a unified diff; both empty where golden and input agree."""

    reasons: tuple[Reason, ...] = ()
    diff: str = ""

    def __str__(self) -> str:
        return "\n".join([*map(str, self.reasons), *([self.diff] if self.diff else [])])


@dataclass(frozen=True)
class _Change:
    """A section's entries that are in one document only, paired where they are one record."""

    pairs: list[tuple[Entry, Entry]]
    gone: list[Entry]
    new: list[Entry]

    def __bool__(self) -> bool:
        return bool(self.pairs or self.gone or self.new)


def compare(golden: Document, current: Document, names: tuple[str, str]) -> Difference:
    """Differences between a golden and its input as it is read now.

    `names` are those of the golden and of the input, for the head of the diff. The tolerances are
    those the golden records.
    """
    if golden.version != VERSION:
        message = f"written as version {golden.version}, this is {VERSION}: run `golden update`"
        return Difference((Reason(Cause.VERSION, message),))
    reasons = []
    if golden.edited:
        message = "its digest is not that of its text; `golden update` is the way to change it"
        reasons.append(Reason(Cause.EDITED, message))
    try:
        allowed = stated(golden.one(TOLERANCE))
    except ValueError as fault:  # only a hand writes such a line
        return Difference((*reasons, Reason(Cause.EDITED, str(fault))))
    sections = dict(current.sections)
    if TOLERANCE in golden.sections:
        sections = {TOLERANCE: golden.sections[TOLERANCE], **sections}
    changes = {}
    for title in dict.fromkeys([*golden.sections, *sections]):
        before, after = golden.sections.get(title, ()), sections.get(title, ())
        kinds = _kinds(current, title)
        change, kept = _change(before, after, kinds, allowed)
        if title in sections:
            sections[title] = kept
        if change:
            changes[title] = change
    reasons += _reasons(changes)
    pairs = {title: change.pairs for title, change in changes.items()}
    return Difference(tuple(reasons), unified(golden.sections, sections, pairs, names))


def diff(golden: Document | None, current: Document, names: tuple[str, str]) -> str:
    """A unified diff of two goldens as they stand; `None` is a golden that is not there."""
    before = golden.sections if golden else {}
    pairs = {}
    for title, after in current.sections.items():
        there, here = Counter(before.get(title, ())), Counter(after)
        gone, new = ordered((there - here).elements()), ordered((here - there).elements())
        pairs[title] = list(_paired(gone, new, _kinds(current, title), {}))
    return unified(before, current.sections, pairs, names)


Kinds = Mapping[str, str]


def _kinds(document: Document, title: str) -> Kinds:
    """Line name → kind of number; what no schema declares is exact."""
    declared = document.one(SCHEMA + title)
    return {name: said.split(", ")[1] for name, said in declared.items() if ", " in said}


def _kind(name: str, kinds: Kinds) -> str:
    return PREDICTED_KIND if " by " in name else kinds.get(name, "exact")


def quantity(name: str) -> str:
    """The quantity a line speaks of: the field, or of a prediction what is predicted.

    >>> quantity("step_time"), quantity("gemm.time of 1x8x8x8 by roofline"), quantity('other "x"')
    ('step_time', 'time', 'x')
    """
    if name.startswith("other "):
        return name.removeprefix("other ").strip('"')
    if " by " not in name:
        return name
    return name.partition(" by ")[0].partition(" of ")[0].rpartition(".")[2]


def _change(
    before: Sequence[Entry], after: Sequence[Entry], kinds: Kinds, allowed: Mapping[str, Tolerance]
) -> tuple[_Change, list[Entry]]:
    """Differences in a section, and its entries now, with the golden's where they agree."""
    here, there = Counter(after), Counter(before)
    common = here & there
    gone, new = ordered((there - common).elements()), ordered((here - common).elements())
    kept = list(common.elements())
    waiting: dict[object, list[Entry]] = defaultdict(list)
    for entry in new:
        waiting[_fixed(entry, kinds, allowed)].append(entry)
    lost = []
    for entry in gone:
        same = waiting[_fixed(entry, kinds, allowed)]
        twin = next((other for other in same if _agrees(entry, other, kinds, allowed)), None)
        if twin is None:
            lost.append(entry)
        else:
            same.remove(twin)
            kept.append(entry)
    left = ordered(entry for entries in waiting.values() for entry in entries)
    pairs = list(_paired(lost, left, kinds, allowed))
    change = _Change(
        pairs,
        list((Counter(lost) - Counter(entry for entry, _ in pairs)).elements()),
        list((Counter(left) - Counter(entry for _, entry in pairs)).elements()),
    )
    return change, ordered([*kept, *left])


def _fixed(entry: Entry, kinds: Kinds, allowed: Mapping[str, Tolerance]) -> object:
    """Parts that two entries must share to agree at all: names, and values that may not move."""
    return tuple(
        (name, text if _kind(name, kinds) == "exact" and quantity(name) not in allowed else None)
        for name, text in entry
    )


def _agrees(golden: Entry, current: Entry, kinds: Kinds, allowed: Mapping[str, Tolerance]) -> bool:
    return all(
        agree(before, after, _kind(name, kinds), allowed.get(quantity(name)))
        for (name, before), (_, after) in zip(golden, current, strict=True)
    )


def _paired(
    gone: Sequence[Entry], new: Sequence[Entry], kinds: Kinds, allowed: Mapping[str, Tolerance]
) -> Iterator[tuple[Entry, Entry]]:
    """Entries that are one record with some values changed.

    First those whose exact values are equal; then, where they are few enough for anybody to read
    them, those that share at least half of their lines.
    """
    waiting: dict[object, list[Entry]] = defaultdict(list)
    for entry in reversed(new):
        waiting[_fixed(entry, kinds, allowed)].append(entry)
    lost = []
    for entry in gone:
        same = waiting[_fixed(entry, kinds, allowed)]
        if same:
            yield entry, same.pop()
        else:
            lost.append(entry)
    left = ordered(entry for entries in waiting.values() for entry in entries)
    if max(len(lost), len(left)) > _READABLE:
        return
    for entry in lost:
        lines = set(entry)
        best = max(left, key=lambda other: len(lines & set(other)), default=None)
        if best is not None and 2 * len(lines & set(best)) >= len(lines):
            left.remove(best)
            yield entry, best


def _reasons(changes: Mapping[str, _Change]) -> Iterator[Reason]:
    columns = [title for title in changes if title.startswith(SCHEMA)]
    for title in columns:
        yield from _schema(title.removeprefix(SCHEMA), changes[title])
    frames = [t for t in changes if t not in (READING, REFUSED, PREDICTED, TOLERANCE)]
    read = [title for title in frames if title not in columns]
    for title in read:
        yield Reason(Cause.READING, _told(title, changes[title], "records"))
    if REFUSED in changes:
        yield Reason(Cause.REFUSED, _told("", changes[REFUSED], "refusals"))
    if PREDICTED in changes:
        yield _predicted(changes[PREDICTED], moved=bool(read))
    if READING in changes and not (read or columns or REFUSED in changes):
        yield Reason(Cause.READING, _told("", changes[READING], "counts"))


def _schema(frame: str, change: _Change) -> Iterator[Reason]:
    if not change.pairs and not (change.gone and change.new):
        return  # the frame itself came or went: its records say so
    was, now = change.pairs[0] if change.pairs else (change.gone[0], change.new[0])
    told = [part for part in _fields(was, now) if not part.startswith("digest ")]
    if dict(was).get("digest") != dict(now).get("digest"):
        told = told or ["a column that this input does not fill, or how a column is spelled"]
        yield Reason(Cause.SCHEMA, f"{frame} is declared otherwise: {'; '.join(told)}")
    elif told:
        yield Reason(Cause.READING, f"other columns of {frame} are filled: {'; '.join(told)}")


def _predicted(change: _Change, *, moved: bool) -> Reason:
    """Whether a model changed, or only what it was given."""
    same_input = [
        (was, now)
        for was, now in change.pairs
        if [line for line in was if " by " not in line[0]]
        == [line for line in now if " by " not in line[0]]
    ]
    if (moved and len(same_input) < len(change.pairs)) or not same_input:
        return Reason(Cause.MODEL, "predictions moved with what was read")
    return Reason(
        Cause.MODEL,
        "predicts otherwise for the same input: "
        + _told("", _Change(same_input, [], []), "predictions"),
    )


def _told(title: str, change: _Change, what: str) -> str:
    """A change in words: the first values that changed, and how many entries came or went."""
    head = f"{title}." if title else ""
    values = [f"{head}{part}" for was, now in change.pairs for part in _fields(was, now)]
    told = values[:_SHOWN]
    if len(values) > _SHOWN:
        told.append(f"and {len(values) - _SHOWN} more values")
    for entries, verb in ((change.gone, "gone"), (change.new, "new")):
        if entries:
            told.append(f"{len(entries)} {what} {verb}{f' in {title}' if title else ''}")
    return "; ".join(told)


def _fields(was: Entry, now: Entry) -> list[str]:
    """The lines of a pair that differ: `step_time was 105.22 s, is 105.23 s`."""
    before, after = dict(was), dict(now)
    return [
        f"{name} was {before.get(name, 'absent')}, is {after.get(name, 'absent')}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
