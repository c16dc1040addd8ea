"""Settings of rows without signs, as notes on the other rows and the text around say them.

In: the rows of tables with the notes that their signs point to, and the lines of their document.
Out: the same rows: `(it is off for the others)` gives all that the note is not of the opposite of
what it switches on, `the rest with batch 4` a setting of its own; and `in fp32 if there is no
footnote at the name` gives its setting to those that point to no note. What a sign says of its own
rows is read with the words of these (`assay.ingest.statements.row_words`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set

from assay.ingest.columns.footnotes import clause_around, said_of_others, unmarked, without_others
from assay.ingest.columns.other_runs import sentences
from assay.ingest.columns.spoken_of import spoken_of
from assay.ingest.legends.label_signs import Explanation, paragraphs, placed, settings_of
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.recomputation import how_much_told

BELOW = 6
"""Lines below a table within which a sentence is of its rows without signs."""

_AGAIN = ("recompute", "activation_checkpointing")

_LEAVES_OFF = (
    r"(?:(?:it|this|that|which|these|they|both|is|was|are|were|have|has|had|run|ran|trained|train"
    r"|do|does|did|go|fit|fits|for|with|in|on|all|used|using|use|be|been|switched|turned|kept|left"
    r"|simply|always)\s+){0,8}"
    r"(?:off|disabled|without(?: (?:it|this|that|any))?|not(?: (?:used|use|enabled|needed|have it"
    r"|use it|so|on))?|no|none|don['’]t(?: use it| have it)?|unused)(?: (?:for|in|on|with|it))?"
)

OFF = deferred(
    rf"\W*{_LEAVES_OFF}(?:,? and {_LEAVES_OFF})?\W*"
    r"|(?:则|均|都)?(?:不使用|未使用|未开启|关闭|没有|没开|不开启|未启用)(?:它|了)?|なし(?:です)?|使用していません|오프|껐습니다"
    r"|사용하지 않았습니다",
    re.IGNORECASE,
)
"""Words that say of rows that they are without what was just named."""


def tell(
    records: Sequence[Record], lines: Sequence[Line]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows, in place, what is said of those without signs; the lines that said it, and the
    sentences that are of no other rows."""
    used, found = set[int](), list[Explanation]()
    rows = sorted((r for r in records if r.tabled and r.alike is None), key=lambda r: r.line)
    if not any(row.noted for row in rows):
        return used, found
    sayings = list(_sayings(lines))
    empty = [line.number for line in lines if not line.text.strip()]
    last = 0
    for table in _tables(rows, empty):
        first, end = table[0].line, table[-1].line
        numbers = dict.fromkeys(line.number for row in table for line, _ in row.noted)
        by_number = {line.number: line for row in table for line, _ in row.noted}
        for number in numbers:
            others = [row for row in table if all(n.number != number for n, _ in row.noted)]
            if others and (told := _of_others(by_number[number].text)):
                used |= _give(others, told, number)
        shared = set.intersection(*({line.number for line, _ in row.noted} for row in table))
        plain = [row for row in table if not any(own for line, own in row.noted
                                                 if line.number not in shared)]  # fmt: skip
        without_notes = {id(row) for row in plain}
        marked = [row for row in table if id(row) not in without_notes]
        for each in sayings:
            if (
                marked
                and last < each.line
                and each.line <= end + BELOW
                and not first <= each.line <= end
            ):
                used |= _give(plain, each.values, each.line)
                for row in marked:
                    used |= _give([row], _left(each.values, row, shared), each.line)
                found.append(each)
        last = end
    return used, found


def _tables(rows: Sequence[Record], empty: Sequence[int]) -> Iterator[list[Record]]:
    """The rows of one table after the other, between which an empty line stands."""
    held: list[Record] = []
    for row in rows:
        if held and bisect_left(empty, held[-1].line) != bisect_left(empty, row.line):
            yield held
            held = []
        held.append(row)
    if held:
        yield held


def _give(rows: Sequence[Record], told: Mapping[str, str], line: int) -> set[int]:
    """Give rows settings that they do not print; the line, where one of them took one."""
    used = set[int]()
    for row in rows:
        for name, text in told.items():
            same = _AGAIN if name in _AGAIN else (name,)
            if not any(other in row.cells for other in same):
                row.cells[name] = Cell(text, row.line, row.column, value_origin="stated")
                used.add(line)
    return used


def _left(told: Mapping[str, str], row: Record, shared: Set[int]) -> Mapping[str, str]:
    """Settings of rows without signs that the notes of a row leave as it is, where they speak
    of another part of it: `FP8` of `recomputation is off and precision is BF16 if no note is`."""
    spoken = set[str]()
    for line, own in row.noted:
        if own and line.number not in shared:
            spoken |= spoken_of(line.text)
    spoken |= set(_AGAIN) if spoken & set(_AGAIN) else set()
    left = {name: text for name, text in told.items() if name not in spoken}
    return left if len(left) < len(told) else {}


def _of_others(note: str) -> Mapping[str, str]:
    """Settings that a note on some rows says of all the others.

    >>> _of_others("gradient checkpointing on (it is off for the others)")
    {'recompute': 'none'}
    >>> _of_others("Batch 2; the other models take a batch size of 4."), _of_others("with batch 2")
    ({'batch_size': '4'}, {})
    >>> _of_others("재계산(checkpointing)을 켠 결과. 별표가 없는 모델은 재계산 없이 학습했습니다.")
    {'recompute': 'none'}
    >>> _of_others("faster than the others"), _of_others("batch 2, the others were not tried")
    ({}, {})
    """
    rest = said_of_others(note)
    if not rest:
        return {}
    own = settings_of(without_others(note))
    switched = "activation_checkpointing" in own or own.get("recompute") in ("full", "selective")
    if OFF.fullmatch(rest):
        return {"recompute": "none"} if switched and len(own) == 1 else {}
    return _settings(rest)


def _settings(text: str) -> Mapping[str, str]:
    """Settings of a clause, or how much it says to be computed again."""
    if said := settings_of(text):
        return said
    much = how_much_told(text)
    return {"recompute": much} if much and much != "on" else {}


def _sayings(lines: Sequence[Line]) -> Iterator[Explanation]:
    """The sentences of a document on rows without signs, with what they say of these."""
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        at = 0
        for sentence in sentences(text):
            begin, at = at, at + len(sentence)
            found = unmarked(sentence)
            if found is None or _NOTE.match(text):
                continue
            start, end = clause_around(sentence, found)
            rest = f"{sentence[start : found.start()]} {sentence[found.end() : end]}"
            if told := _settings(rest.strip(" ,.;:。，\n")):
                places = tuple(placed(paragraph, begin + start, begin + end))
                of_all = sentence[start : found.start()].rstrip().endswith((",", "，"))
                yield Explanation(told, places[0][0], () if of_all else places)  # but for notes


_NOTE = re.compile(r"\s*(?:\\?\*(?!\*)|[†‡§]|\[\^?[\w*]+\]|<sup)")
"""How a note begins, which is read with the rows that point to it."""
