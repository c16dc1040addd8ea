"""Tables of plain text with a rule below labels of one line or several, as mails have them.

In: the lines of a document. Out: a `Grid` for each rule with labels above it and rows below, whose
cells stand in columns of the page: each word of the labels belongs to the column that it stands
over, and a label is what stands over a column, from the top: `TFLOP/s` above `per GPU`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from assay.ingest.grids.aligned import FEWEST, MEASURES, ROWS, Word, is_number, pieces
from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.schema.record import Line

_SOLID = re.compile(r"\s*(?:-{10,}|={10,}|─{10,}|━{10,})\s*")

MOST_LABELS = 3
"""Lines of labels above the rule."""


def stacked_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table, in order."""
    end = 0
    for at, line in enumerate(lines):
        if at >= end and _SOLID.fullmatch(line.text) and (grid := _table(lines, at, end)):
            yield grid
            end = grid.end


def _table(lines: Sequence[Line], rule: int, floor: int) -> Grid | None:
    """The table around a rule, none of whose lines is above `floor`."""
    end = rule + 1
    while end < len(lines) and lines[end].text.strip() and not _SOLID.fullmatch(lines[end].text):
        end += 1
    rows = [pieces(line) for line in lines[rule + 1 : end]]
    columns = _columns(rows)
    if len(rows) < ROWS or len(columns) < FEWEST:
        return None
    body = [_placed(row, columns) for row in rows]
    counted = sum(map(is_number, chain.from_iterable(rows)))
    if not all(body) or 2 * counted < sum(map(len, rows)):
        return None
    top, labels = _labels(lines[floor:rule], columns)
    if not all(labels[1:]) or not MEASURES.search("  ".join(labels)):
        return None
    begin = rule - top
    head = tuple(
        GridCell(label, lines[begin].number, column.begin)
        for label, column in zip(labels, columns, strict=True)
    )
    found = tuple(
        GridRow(line, tuple(GridCell(word.text, line.number, word.begin) for word in words))
        for line, words in zip(lines[rule + 1 : end], body, strict=True)
    )
    return Grid("text", begin, end, (GridRow(lines[begin], head),), found, exact=False)


def _columns(rows: Sequence[Sequence[Word]]) -> list[Word]:
    """The part of the page that each column takes, by the rows with a cell in every one; nothing
    where two of them share a part."""
    most = max(map(len, rows), default=0)
    whole = [row for row in rows if len(row) == most]
    found = [
        Word(min(word.begin for word in column), max(word.end for word in column), "")
        for column in zip(*whole, strict=True)
    ]
    apart = all(left.end < right.begin for left, right in pairwise(found))
    return found if apart else []


def _placed(row: Sequence[Word], columns: Sequence[Word]) -> list[Word]:
    """The cell of each column, empty where there is none; nothing where one is of none or two."""
    found = [Word(column.begin, column.begin, "") for column in columns]
    for word in row:
        over = [at for at, column in enumerate(columns) if word.over(column)]
        if len(over) != 1 or found[over[0]].text:
            return []
        found[over[0]] = word
    return found


def _labels(above: Sequence[Line], columns: Sequence[Word]) -> tuple[int, list[str]]:
    """How many lines above the rule are labels, and the label of each column."""
    spans, labels, count = list(columns), [""] * len(columns), 0
    for line in above[: -MOST_LABELS - 1 : -1]:
        words = pieces(line)
        if 2 * sum(map(is_number, words)) > len(words):
            break
        placed = _over(words, spans)
        if not placed or (count and len(words) == 1 and not any(map(labels.__getitem__, placed))):
            break  # a title, or the text above
        for at, word in placed.items():
            labels[at] = f"{word.text} {labels[at]}".strip()
            spans[at] = Word(min(spans[at].begin, word.begin), max(spans[at].end, word.end), "")
        count += 1
    return count, labels


def _over(words: Sequence[Word], spans: Sequence[Word]) -> dict[int, Word]:
    """The words of a line by the column that they stand over, one that stands over two by its own
    words; nothing where one stands over none."""
    found: dict[int, Word] = {}
    for word in words:
        parts = [word]
        if sum(word.over(span) for span in spans) > 1:
            parts = [
                Word(word.begin + part.start(), word.begin + part.end(), part[0])
                for part in re.finditer(r"\S+", word.text)
            ]
        for part in parts:
            over = [at for at, span in enumerate(spans) if part.over(span)]
            if len(over) != 1:
                return {}
            before = found.get(over[0])
            begin, text = (before.begin, f"{before.text} ") if before else (part.begin, "")
            found[over[0]] = Word(begin, part.end, text + part.text)
    return found
