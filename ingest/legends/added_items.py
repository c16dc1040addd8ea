"""Lists that say what each row of an ablation adds, by the labels of its rows: `- +SP: sequence
parallelism`, `2. **+FA2**: FlashAttention-2 instead of the unfused softmax`.

In: the records of tables, and the lines of their document. Out: the same rows, each with the item
of its label as a note of its own, which is read with their other words
(`assay.ingest.statements.row_words`); and these items, which are of no other rows. Only a list of
which two rows or more have an item is one, and one of them has to begin with a sign of addition:
the items of other lists say themselves whose they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from assay.ingest.legends.label_signs import Explanation, paragraphs, placed
from assay.ingest.schema.record import Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.row_words import ADDS

_ITEM = deferred(
    r"\s*(?:(?:[-*•]|[0-9]{1,2}[.)])\s+|\+\s)"
    r"(?P<open>\*\*|__|``|`|[\"“])?(?P<name>[^*`\"“”:：]{1,40}?)(?P<inside> ?[:：])?"
    r"(?(open)(?:\*\*|__|``|`|[\"”]))"
    r"(?(inside)|\s?(?:[:：=–—]|\s-(?=\s)))\s*(?P<meant>\S.*)"
)
"""An item of a list, the name that it begins with and what it says of that."""

LEAST = 2
"""Rows that a list has items for."""


class _Item(NamedTuple):
    name: str
    meant: Line
    said: Explanation


def tell(records: Sequence[Record], lines: Sequence[Line]) -> Sequence[Explanation]:
    """Note at rows, in place, what the list of their variants says of each; the items of it."""
    labelled: dict[str, list[Record]] = {}
    adding = False
    for row in records:
        text = next((text for label, text in row.other if label != "column"), "")
        if row.tabled and row.alike is None and text:
            labelled.setdefault(_bare(text), []).append(row)
            adding |= ADDS.match(text) is not None
    found: list[Explanation] = []
    for listed in _lists(lines) if adding else ():
        mine = [item for item in listed if item.name in labelled]
        adds = any(ADDS.match(text) for item in mine for text in _labels(labelled[item.name]))
        if len({item.name for item in mine}) < LEAST or not adds:
            continue
        for item in mine:
            for row in labelled[item.name]:
                row.noted = [*row.noted, (item.meant, True)]
            found.append(item.said)
    return found


def _labels(rows: Sequence[Record]) -> Iterator[str]:
    yield from (text for row in rows for _, text in row.other)


def _bare(name: str) -> str:
    """A name without the sign of addition and its marks, as it is compared.

    >>> _bare("+ FA2"), _bare("`+FA2`"), _bare("Base")
    ('fa2', 'fa2', 'base')
    """
    return "".join(name.strip(" `*+&").casefold().split())


def _lists(lines: Sequence[Line]) -> Iterator[Sequence[_Item]]:
    """The lists of a document: items right below each other that begin with a name."""
    held: list[tuple[int, _Item]] = []
    number = last = 0
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        if (found := _ITEM.fullmatch(text)) is None:
            continue
        first = paragraph[0].number
        number += first > last + BETWEEN
        last = paragraph[-1].number
        held.append((number, _item(paragraph, found)))
    for _, listed in groupby(held, key=lambda each: each[0]):
        yield [item for _, item in listed]


BETWEEN = 2
"""Lines from the end of an item to the next one of its list, at most."""


def _item(paragraph: Sequence[Line], found: re.Match[str]) -> _Item:
    first, begin = paragraph[0], found.start("meant")
    meant = first._replace(text=found["meant"], column=first.column + begin)
    places = tuple(placed(paragraph, 0, found.end()))
    return _Item(_bare(found["name"]), meant, Explanation({}, first.number, places))
