"""From lines of a log that are steps to a grammar for them: what stands between their numbers.

In: lines that the generic reader takes apart, whose cells have no one separator and no one sign
between label and value. Out: a `Guess` with a grammar, a start rule for each of the most frequent
patterns: the text of a line with its numbers taken out. Numbers with a label are columns; others,
the share and the clock of a progress bar, may be anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from assay.ingest.formats.own.guess import Guess, columns, peeled
from assay.ingest.formats.steps.step_pairs import Pair, said
from assay.ingest.vocabulary.terms import normalise

RULES = 3
"""Patterns that become rules."""

_VARIES = re.compile(r"\|[^|\w]*\||[0-9]+(?:[.:,][0-9]+)*|\s+|[^0-9\s|]+|\|")

_HEAD = re.compile(r"[A-Za-z_#][^0-9]*")


class _Taken(NamedTuple):
    """A line: what stands before it, what it begins with, the texts between its values."""

    line: str
    before: str
    head: str
    between: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple[str, ...]


def patterned(lines: Sequence[str]) -> Guess | None:
    """A guess for lines whose numbers stand where their labels say; None where none has two."""
    given = [line.rstrip() for line in lines if line.strip()]
    taken = [
        each
        for line, bare in zip(given, peeled(given), strict=True)
        if (each := _taken(line, bare)) is not None
    ]
    if not taken:
        return None
    head = Counter(each.head for each in taken).most_common(1)[0][0]
    mine = [each for each in taken if each.head == head]
    often = Counter((each.between, each.names) for each in mine).most_common(RULES)
    kept = [next(one for one in mine if (one.between, one.names) == key) for key, _ in often]
    rules = {(one.between, one.names) for one in kept}
    values: dict[str, list[str]] = {}
    for each in mine:
        if (each.between, each.names) in rules:
            for name, value in zip(each.names, each.values, strict=True):
                values.setdefault(name, []).append(value)
    found = columns(values)
    names = {column.label for column in found}
    befores = {each.before for each in mine}
    return Guess(
        (), "", _grammar(kept, names), (head,),
        befores.pop() if len(befores) == 1 else ".{0,200}?",
        found, tuple(each.line for each in kept),
    )  # fmt: skip


def _taken(line: str, bare: str) -> _Taken | None:
    """A line taken apart behind its first word; None where fewer than two numbers have labels."""
    what = said(bare)
    if what is None:
        return None
    named: list[tuple[str, Pair]] = []
    for pair in sorted(what.pairs, key=lambda each: each.start):
        name = normalise(pair.label).replace(" ", "_")
        name = re.sub(r"[^a-z0-9_]+", "_", name).strip("_")
        if (
            name
            and name[0].isalpha()
            and not pair.moment
            and not pair.total
            and name not in (each for each, _ in named)
        ):
            named.append((name, pair))
    head = _HEAD.search(bare)
    if len(named) < 2 or head is None:
        return None
    named = [(name, pair) for name, pair in named if pair.start >= head.end()]
    between, values, at = [], [], head.start()
    for _, pair in named:
        between.append(_pattern(bare[at : pair.start]))
        at = pair.start + len(pair.text)
        values.append(f"{pair.text.rstrip('kKMBGT')} {pair.behind}".rstrip())
    between.append(_pattern(bare[at:]))
    return _Taken(
        line, _pattern(bare[: head.start()]), head[0].rstrip(), tuple(between),
        tuple(name for name, _ in named), tuple(values),
    )  # fmt: skip


def _pattern(text: str) -> str:
    """A regular expression for a text, other numbers, blanks and drawn bars in it."""
    return "".join(
        r"\|[^|]*\|" if len(part) > 1 and part.startswith("|")
        else r"\s+" if part.isspace()
        else r"[0-9][0-9.:,]*" if part[0].isdigit()
        else re.escape(part).replace("/", r"\/")
        for part in _VARIES.findall(text)
    )  # fmt: skip


def _grammar(kept: Sequence[_Taken], columns: set[str]) -> str:
    """A start rule for each pattern, a rule for each column, a terminal for what is between."""
    rules, terminals = [], []
    for letter, one in zip("abc", kept, strict=False):
        parts, text = [], ""
        for at, (before, name) in enumerate(zip(one.between, one.names, strict=False)):
            text += before
            if name not in columns:
                text += r"[^\s,|;]+"
                continue
            if text:
                parts.append(f"{letter.upper()}{at}")
                terminals.append(f"{parts[-1]}.2: /{text}/")
            parts.append(name)
            text = ""
        if one.between[-1] or text:
            parts.append(f"{letter.upper()}END?")
            terminals.append(f"{letter.upper()}END.2: /{text}{one.between[-1]}.*/")
        rules.append(f"{letter}_line: {' '.join(parts)}")
    said_ = sorted({name for one in kept for name in one.names} & columns)
    return "\n".join([*rules, *(f"{name}: NUM" for name in said_), *terminals, _NUM]) + "\n"


_NUM = (
    r"NUM: /[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
    r"|nan|inf)(?:[kKMBGT](?![A-Za-z]))?/"
)
