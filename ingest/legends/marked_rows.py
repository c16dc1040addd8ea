"""Settings of rows with a sign or a cell, and of those without it, as one sentence says of both:
`not recomputed, except in the rows marked †, which use full recomputation`; ``rows with `nf4`
weights are QLoRA, the others LoRA``.

In: the records of tables, and the lines of their document. Out: the same rows, with what such a
sentence says of them; and these sentences, which are of no other rows. Notes that begin with their
sign are read with the rows that point to them (`assay.ingest.columns.footnotes`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.ingest.columns.footnotes import said_of_others, without_others
from assay.ingest.columns.other_runs import sentences
from assay.ingest.grids.grid import LONGEST
from assay.ingest.legends.label_signs import Explanation, give, paragraphs, placed, settings_of
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.tables.captions import FIELD, named
from assay.ingest.vocabulary.recomputation import how_much_told

_SIGN = r"[`\"“'(]{0,2}(?P<sign>[†‡§¶]{1,2}|\\?\*|\([A-Za-z]{1,8}\))[`\"”')]{0,2}"

_ROWS = r"(?:rows?|runs?|lines?|ones|entries|models?|those|configurations?|cases|results)"

_MARKED = deferred(
    rf"(?:the )?(?:{_ROWS} )?(?:(?:that|which) (?:are|is) )?"
    rf"(?:marked|flagged|labell?ed) (?:with |by )?(?:an? )?{_SIGN}(?!\w)",
    re.IGNORECASE,
)
"""Rows that a sign marks."""

_WITH_CELL = deferred(
    rf"(?:the |all )?(?:{_ROWS} )(?:(?:with|using|that (?:say|have|show|use|list|are)"
    r"|(?:whose|where) (?:the )?[\w -]{2,24} (?:is|says|shows)|labell?ed|called) (?:an? )?)"
    r"(?P<quote>[`\"“*]{1,2})(?P<cell>[^`\"”“*|]{1,30})[`\"”*]{1,2}"
    r"(?: (?!(?:are|is|were|was)\b)[\w/-]{2,20}){0,4}?,?"
    r"(?= (?:(?:are|were|use[sd]?|ran|run|have|had|train(?:ed)?|with)\b)|:)",
    re.IGNORECASE,
)
"""Rows with a cell of a text that the sentence quotes."""

_EXCEPT = deferred(
    r",?\s*\(?(?:except|but(?: not)?|other than|apart from|save|unless)(?: (?:in|for|on))?\s*$",
    re.IGNORECASE,
)
"""Words in front of them, behind what is said of all others."""

_THEY = deferred(
    r"\W*(?:(?:which|that|where|these|they|and|we|with|use[sd]?|are|were|run|ran|have|had|was|is)\s)+",
    re.IGNORECASE,
)

_AGAIN = ("recompute", "activation_checkpointing")


class _Saying(NamedTuple):
    sign: str
    by_cell: bool  # the sign is the text of a cell
    marked: Mapping[str, str]
    others: Mapping[str, str]
    said: Explanation


def tell(
    records: Sequence[Record], lines: Sequence[Line]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows, in place, what is said of those with a sign and of those without; the lines that
    said it, and the sentences."""
    used, explained = set[int](), list[Explanation]()
    rows = [row for row in records if row.tabled and row.alike is None]
    sayings = list(_sayings(lines)) if rows else []
    texts = {line.number: line.text for line in lines} if sayings else {}
    heads = [number for number, text in texts.items() if text.startswith("#")]
    for saying in sayings:
        section = bisect_right(heads, saying.said.line)
        own = [row for row in rows if bisect_right(heads, row.line) == section]
        below = [row for row in rows if row.line > saying.said.line]
        here = own or below  # what stands over all tables is of all that follow
        having = [row for row in here if _is_marked(row, texts.get(row.line, ""), saying)]
        if not having or (saying.by_cell and len(having) == len(here)):
            continue
        marked = {id(row) for row in having}
        for row in here:
            told = saying.marked if id(row) in marked else saying.others
            row.cells = {n: c for n, c in row.cells.items() if n not in told or _own(row, c)}
            give(row, told)
        used.add(saying.said.line)
        explained.append(saying.said)
    return used, explained


def _own(row: Record, cell: Cell) -> bool:
    """Whether a cell stands in its row: what a heading says of all rows is not said of these."""
    return cell.value_origin != "stated" or cell.line == row.line


def _is_marked(row: Record, text: str, saying: _Saying) -> bool:
    """Whether a row, whose line is `text`, has the sign or the cell that a sentence speaks of."""
    if not saying.by_cell:
        return _has(text, saying.sign)
    cells = [*(cell.text for cell in row.cells.values()), *(text for _, text in row.other)]
    return any(cell.strip(' `*"').casefold() == saying.sign.casefold() for cell in cells)


def _has(text: str, sign: str) -> bool:
    """Whether a row of a table has a sign at the end of a word."""
    if sign != "*":
        return sign in text
    return _STARRED.search(text) is not None


_STARRED = re.compile(r"(?<![*\s|])\\?\*(?=\s*(?:\||$|,|<))(?!\*)")


def _sayings(lines: Sequence[Line]) -> Iterator[_Saying]:
    """The sentences on rows with a sign, with what they say of these and of the others."""
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        if len(text) > LONGEST or not (_MARKED.search(text) or _WITH_CELL.search(text)):
            continue
        at = 0
        for sentence in sentences(text):
            begin, at = at, at + len(sentence)
            of_sign = _MARKED.search(sentence)
            if found := of_sign or _WITH_CELL.search(sentence):
                before, behind = sentence[: found.start()], sentence[found.end() :]
                apart = _EXCEPT.search(before)
                rest = before[: apart.start()] if apart else said_of_others(behind)
                others = _settings(rest.strip(" ,.;:)"))
                behind = without_others(behind)
                marked = _settings(_THEY.sub("", behind, count=1).strip(" ,.;:)"))
                if marked or others:
                    places = tuple(placed(paragraph, begin, begin + len(sentence.rstrip())))
                    said = Explanation(marked, places[0][0], places)
                    sign = found["sign"].lstrip("\\") if of_sign else found["cell"].strip()
                    yield _Saying(sign, not of_sign, marked, others, said)


def _settings(text: str) -> Mapping[str, str]:
    """Settings of a clause, or how much it says to be computed again.

    >>> _settings("full recomputation"), _settings("Activations are not recomputed")
    ({'recompute': 'full'}, {'recompute': 'none'})
    """
    said = settings_of(text)
    if adapters := named(text):
        said = {**said, FIELD: adapters}
    much = None if any(name in said for name in _AGAIN) else how_much_told(text)
    return {**said, "recompute": much} if much and much != "on" else said
