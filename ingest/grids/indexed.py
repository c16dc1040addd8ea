"""Frames and series printed with a named index as grids: the names of the index stand on a line of
their own, below the labels of the columns, and a value of the index that returns is left blank.

In: the lines of a document. Out: a `Grid` for each such print, with the index as its first columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.grids.aligned import MEASURES, ROWS, Word, is_number, pieces
from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.schema.record import Line
from assay.ingest.vocabulary.words import said


def indexed_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every print of a frame or of a series with an index, in order."""
    end = 0
    for at, line in enumerate(lines):
        if at < end:
            continue
        if line.text.startswith("Name: "):
            grid = _series(lines, at, end)
        elif line.text and at and _begin(lines[at - 1]) > line.column + len(line.text):
            grid = _frame(lines, at, end)
        elif at > end and _below_columns(lines, at):
            grid = _pivot(lines, at)
        else:
            continue
        if grid:
            yield grid
            end = grid.end


def _begin(line: Line) -> int:
    """The column in which the text of a line begins."""
    return line.column + len(line.text) - len(line.text.lstrip())


class _Index(NamedTuple):
    """Names of the columns of an index, each where its values begin."""

    line: Line
    names: Sequence[Word]


def _frame(lines: Sequence[Line], at: int, first: int) -> Grid | None:
    """The frame whose index is named in a line, below the labels of its columns."""
    names, head = _single(lines[at]), pieces(lines[at - 1])
    if (
        not names
        or not head
        or any(map(is_number, (*names, *head)))
        or names[-1].end > head[0].begin
    ):
        return None
    upper = _spanning(lines[at - 2], head) if at - 1 > first else []
    if not any(MEASURES.search(word.text) for word in (*head, *upper)):
        return None
    rows = _rows(lines, at + 1, names, [word.end for word in head])
    if len(rows) < ROWS:
        return None
    index, above = _Index(lines[at], names), lines[at - 1]
    heads = [_labels(above, index, head)]
    if upper:
        heads.insert(0, _labels(lines[at - 2], index, upper))
    begin = at - 1 - len(upper[:1])
    return Grid("text", begin, at + 1 + len(rows), tuple(heads), tuple(rows), exact=False)


def _below_columns(lines: Sequence[Line], at: int) -> bool:
    """Whether a line may name the index of a pivot: by one or two words, as far left as the name of
    the columns in the line above it, and before these."""
    above, words = lines[at - 1], _single(lines[at])
    if not 0 < len(words) < PIVOTED or not _begin(above) == words[0].begin == above.column:
        return False
    head = pieces(above)
    return len(head) >= PIVOTED and words[-1].end < head[1].begin and "  " in above.text


PIVOTED = 3
"""Words of the header of a pivot: the name of its columns, and two of these."""


def _pivot(lines: Sequence[Line], at: int) -> Grid | None:
    """The frame whose header begins with what its columns are, over the names of its index: what
    its numbers are stands in the line above, over the first column of each, or elsewhere."""
    names = _single(lines[at])
    if any(map(is_number, names)):
        return None
    for head in (pieces(lines[at - 1])[1:], _single(lines[at - 1])[1:]):
        rows = _rows(lines, at + 1, names, [word.end for word in head])
        if len(rows) >= ROWS:
            break
    else:
        return None
    index = _Index(lines[at], names)
    heads = [_labels(lines[at - 1], index, head)]
    if at > 1 and (upper := _spanning(lines[at - 2], head)):
        (name, *_), counted = pieces(lines[at - 1]), all(word.text.isdecimal() for word in head)
        if counted:  # below quantities a number says no more what it counts
            named = [word._replace(text=f"{name.text}={word.text}") for word in head]
            heads = [_labels(lines[at - 1], index, named)]
        heads.insert(0, _labels(lines[at - 2], index, upper))
    begin = at - len(heads)
    return Grid("text", begin, at + 1 + len(rows), tuple(heads), tuple(rows), exact=False)


def _labels(line: Line, index: _Index, head: Sequence[Word]) -> GridRow:
    own = [GridCell(word.text, index.line.number, word.begin) for word in index.names]
    return GridRow(line, (*own, *(GridCell(word.text, line.number, word.begin) for word in head)))


def _spanning(line: Line, head: Sequence[Word]) -> list[Word]:
    """The label over each column of a frame whose labels have two levels: that of a group ends
    where its first column does."""
    words = {word.end: word for word in pieces(line)}
    if not words or not words.keys() <= {word.end for word in head} or head[0].end not in words:
        return []
    found: list[Word] = []
    for word in head:
        found.append(words.get(word.end) or found[-1])
    return found


def _rows(
    lines: Sequence[Line], first: int, names: Sequence[Word], ends: Sequence[int]
) -> list[GridRow]:
    """Rows whose values end where the labels do; what their index leaves blank is as above."""
    found: list[GridRow] = []
    before: list[GridCell] = []
    for at in range(first, len(lines)):
        line = lines[at]
        values = [word for word in _single(line) if word.end >= ends[0]]
        if [word.end for word in values] != [*ends] or not any(map(is_number, values)):
            break
        index = _index(line, [*(name.begin for name in names), values[0].begin])
        blank = [not cell.text for cell in index]
        if not index or (any(blank) and not before) or any(a < b for a, b in pairwise(blank)):
            break  # only the first of an index are left out
        before = [
            old if no else new for no, old, new in zip(blank, before or index, index, strict=True)
        ]
        cells = (GridCell(word.text, line.number, word.begin) for word in values)
        found.append(GridRow(line, (*before, *cells)))
    return found


def _single(line: Line) -> list[Word]:
    """The words of a line, a blank apart, by their columns."""
    at = line.column
    return [Word(at + m.start(), at + m.end(), m[0]) for m in re.finditer(r"\S+", line.text)]


def _index(line: Line, begins: Sequence[int]) -> list[GridCell]:
    """The text from each column to the next; nothing where that cuts a word."""
    places = [max(0, begin - line.column) for begin in begins]
    texts = [line.text[a:b] for a, b in pairwise(places)]
    if any(text and not text[-1].isspace() for text in texts):
        return []
    return [
        GridCell(text.strip(), line.number, begin)
        for text, begin in zip(texts, begins, strict=False)
    ]


_NAMED = re.compile(r"Name: (\S.*?), (?:Length: [0-9]+, )?dtype: (?:float|int)[0-9]+\s*")


def _series(lines: Sequence[Line], at: int, first: int) -> Grid | None:
    """The series whose name stands below it."""
    named = _NAMED.fullmatch(lines[at].text)
    if named is None or not said(named[1]):
        return None
    begin, ends = at, set[int]()
    while begin > first:
        words = pieces(lines[begin - 1])
        if len(words) < ROWS or not is_number(words[-1]) or ends - {words[-1].end}:
            break
        begin, ends = begin - 1, {words[-1].end}
    if at - begin < ROWS:
        return None
    names = _single(lines[begin - 1]) if begin > first else []
    own = bool(names) and names[-1].end < min(ends) and not any(map(is_number, names))
    index = [word._replace(text="") for word in pieces(lines[begin])[:-1]]
    index = list(names) if own and len(names) == len(index) else index
    rows = _rows(lines, begin, index, [*ends])
    if len(rows) < at - begin:
        return None
    line = lines[at]
    label = Word(line.column + named.start(1), line.column + named.end(1), named[1])
    top = lines[begin - 1] if own else line
    head = _labels(line, _Index(top, index), [label])
    return Grid("text", begin - own, at + 1, (head,), tuple(rows), exact=False)
