"""A unified diff of two goldens, record by record.

Both sides are sorted entries, so common ones need not be searched for, and a record that changed in
its first line is still shown as one record that changed. Linear in the size of the goldens, where a
diff that knows nothing of records takes hours on a log of a hundred thousand lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from assay.validate.golden.canonical import order
from assay.validate.golden.document import Entry, shown_line

CONTEXT = 3
"""Unchanged lines around each change, as `diff -u` has them."""

Marked = tuple[str, str]
"""A line and where it is: ` ` in both, `-` in the first alone, `+` in the second alone."""

Sections = Mapping[str, Sequence[Entry]]

Pairs = Mapping[str, Sequence[tuple[Entry, Entry]]]


def unified(before: Sections, after: Sections, pairs: Pairs, names: tuple[str, str]) -> str:
    """Unified diff of two goldens; empty where both are equal.

    `pairs`: entries that are one record, per section.

    >>> was, now = (("i", "1"), ("t", "2 s")), (("i", "1"), ("t", "3 s"))
    >>> print(unified({"f": [was]}, {"f": [now]}, {"f": [(was, now)]}, ("a", "b")))
    --- a
    +++ b
    @@ -1,4 +1,4 @@
     [f]
     i: 1
    -t: 2 s
    +t: 3 s
    <BLANKLINE>
    """
    lines = list(_marked(before, after, pairs))
    changed = [at for at, (mark, _) in enumerate(lines) if mark != " "]
    if not changed:
        return ""
    shown = [f"--- {names[0]}", f"+++ {names[1]}"]
    first, second, done = 1, 1, 0
    for begin, end in _hunks(changed, len(lines)):
        first += sum(mark != "+" for mark, _ in lines[done:begin])
        second += sum(mark != "-" for mark, _ in lines[done:begin])
        hunk = lines[begin:end]
        one, two = (sum(mark != other for mark, _ in hunk) for other in "+-")
        shown.append(f"@@ -{first},{one} +{second},{two} @@")
        shown += [
            f"{mark}{line}".rstrip() if mark == " " else f"{mark}{line}" for mark, line in hunk
        ]
        first, second, done = first + one, second + two, end
    return "\n".join(shown)


def _hunks(changed: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    """Ranges of lines that hold all changes with their context."""
    begin, end = max(changed[0] - CONTEXT, 0), changed[0] + CONTEXT + 1
    for at in changed[1:]:
        if at - CONTEXT > end:
            yield begin, end
            begin = at - CONTEXT
        end = at + CONTEXT + 1
    yield begin, min(end, count)


def _marked(before: Sections, after: Sections, pairs: Pairs) -> Iterator[Marked]:
    for title in dict.fromkeys([*before, *after]):
        mark = " " if title in before and title in after else "-" if title in before else "+"
        yield mark, f"[{title}]"
        yield from _section(before.get(title, ()), after.get(title, ()), pairs.get(title, ()))


def _section(
    before: Sequence[Entry], after: Sequence[Entry], pairs: Sequence[tuple[Entry, Entry]]
) -> Iterator[Marked]:
    common = Counter(before) & Counter(after)
    now_of: dict[Entry, list[Entry]] = defaultdict(list)
    for was, now in pairs:
        now_of[was].append(now)
    gone = list((Counter(before) - common).elements())
    new = (Counter(after) - common - Counter(now for _, now in pairs)).elements()
    items = [(entry, " ") for entry in common.elements()]
    items += [(entry, "-") for entry in gone] + [(entry, "+") for entry in new]
    for entry, mark in sorted(items, key=lambda item: order(item[0])):
        if mark == "-" and now_of.get(entry):
            yield from _record(entry, now_of[entry].pop())
        else:
            yield from ((mark, line) for line in _lines(entry))
            yield mark, ""


def _record(was: Entry, now: Entry) -> Iterator[Marked]:
    """One record that changed, line by line."""
    before, after = list(_lines(was)), list(_lines(now))
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from ((" ", line) for line in before[i:j])
        else:
            yield from (("-", line) for line in before[i:j])
            yield from (("+", line) for line in after[k:m])
    yield " ", ""


def _lines(entry: Entry) -> Iterable[str]:
    return (shown_line(name, text) for name, text in entry)
