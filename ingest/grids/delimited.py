"""Documents that are a table of separated values as grids: CSV, TSV, values between semicolons.

In: the lines of a document. Out: its `Grid`, or none. A header may hold any labels; whether a
document is a table at all is told by its name, or by its rows: nearly all of them have as many
cells as the header.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.ingest.grids.grid import Grid, GridCell, GridRow, Syntax
from assay.ingest.schema.format import uncompressed
from assay.ingest.schema.record import Line

SEPARATORS = (",", "\t", ";")

SUFFIXES = (".csv", ".tsv")

REGULAR = 0.9
"""The least share of rows that have as many cells as the header, in a document with another name"""


def named_table(name: str) -> bool:
    """Whether an input is called a table of separated values, compressed or not."""
    return uncompressed(name).endswith(SUFFIXES)


def delimited(lines: Sequence[Line], *, named: bool) -> Iterator[Grid]:
    """The table that a document is; `named` says that its name says so."""
    first = next((at for at, line in enumerate(lines) if _says(line, lines[at + 1 : at + 2])), None)
    if first is None:
        return
    separator = _separator(lines[first].text)
    if separator is None:
        return
    rows = list(_rows(lines, first, separator))
    head, body = rows[0], [row for row in rows[1:] if _cells_said(row)]
    if not body or not _labels(head):
        return
    even = sum(len(row.cells) == len(head.cells) for row in body) / len(body)
    if even < REGULAR and not (named and even > 0.5):
        return
    if separator == ";" and decimal_commas(body):
        body = [with_points(row) for row in body]
    syntax: Syntax = "tsv" if separator == "\t" else "csv"
    yield Grid(syntax, first, len(lines), (head,), tuple(body))


_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+(\s*[A-Za-zµ%/]*)")

_COMMA = re.compile(r"([+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)),([0-9]+)(\s*[A-Za-zµ%/]*)")

_POINT = re.compile(r"[+-]?[0-9,]*\.[0-9]+.*")


def decimal_commas(rows: Sequence[GridRow]) -> bool:
    """Whether numbers between semicolons have commas for points, and points for commas if any.

    Who writes semicolons does so since commas are taken; a number with a point that groups nothing
    says otherwise.
    """
    texts = [cell.text for row in rows for cell in row.cells]
    return any(_COMMA.fullmatch(text) for text in texts) and not any(
        _POINT.fullmatch(text) and not _GROUPS.fullmatch(text) and not _COMMA.fullmatch(text)
        for text in texts
    )


def with_points(row: GridRow) -> GridRow:
    """A row whose numbers with commas for points are written with points."""
    return replace(row, cells=tuple(cell._replace(text=_pointed(cell.text)) for cell in row.cells))


def _pointed(text: str) -> str:
    """A number as the rest of the world writes it.

    >>> _pointed("2,41 s"), _pointed("27.194"), _pointed("1.482,6"), _pointed("7B")
    ('2.41 s', '27194', '1482.6', '7B')
    """
    if _GROUPS.fullmatch(text):
        return text.replace(".", "")
    found = _COMMA.fullmatch(text)
    return f"{found[1].replace('.', '')}.{found[2]}{found[3]}" if found else text


def _says(line: Line, below: Sequence[Line]) -> bool:
    """Whether a line is neither empty nor a comment in words, of fewer cells than the next line."""
    bare = line.text.strip()
    if not bare.startswith("#"):
        return bool(bare)
    cells = [[len(separated(each.text, s)) for s in SEPARATORS] for each in (line, *below)]
    return max(cells[0]) > 1 and max(cells[0]) >= max(cells[-1])


def _cells_said(row: GridRow) -> bool:
    return len(row.cells) > 1 or not row.blank


def _separator(text: str) -> str | None:
    """The sign between the labels of a header; None where there is none."""
    counts = {each: len(separated(text, each)) for each in SEPARATORS}
    best = max(SEPARATORS, key=lambda each: counts[each])
    return best if counts[best] > 1 else None


def separated(text: str, separator: str) -> list[str]:
    """The cells of one line; none where one is longer than the reader of the library takes."""
    try:
        return next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def _labels(head: GridRow) -> bool:
    """Whether a row names columns: most of its cells are words."""
    words = sum(any(c.isalpha() for c in cell.text) for cell in head.cells)
    return words * 2 > len(head.cells) and not any(_number(cell.text) for cell in head.cells)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().casefold() not in ("nan", "inf", "infinity")


def _rows(lines: Sequence[Line], first: int, separator: str) -> Iterator[GridRow]:
    """Every record with the line that it begins on; a quoted cell may hold line ends."""
    at = first

    def texts() -> Iterator[str]:
        nonlocal at
        for line in lines[first:]:
            at += 1
            yield line.text + "\n"

    reader = csv.reader(texts(), delimiter=separator, skipinitialspace=True)
    while True:
        begin = at
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:  # a cell longer than the limit: the line is no row
            continue
        if cells:
            yield _row(lines[begin], cells, separator)


def _row(line: Line, cells: Sequence[str], separator: str) -> GridRow:
    places = _places(line.text, separator)
    made = []
    for number, text in enumerate(cells):
        column = places[number] if number < len(places) else len(line.text)
        made.append(GridCell(text.strip(), line.number, line.column + column))
    return GridRow(line, tuple(made))


def _places(text: str, separator: str) -> list[int]:
    """Where each cell of a line begins; a separator inside quotes separates nothing."""
    starts, quoted, begin = [0], False, True
    if '"' not in text:
        found, at = [], 0
        for cell in text.split(separator):
            bare = cell.lstrip(" ")
            found.append(at + (len(cell) - len(bare) if bare else 0))
            at += len(cell) + 1
        return found
    for at, letter in enumerate(text):
        if letter == '"' and (begin or quoted):
            quoted = not quoted
        elif letter == separator and not quoted:
            starts.append(at + 1)
            begin = True
            continue
        begin = begin and letter in ' "' and not quoted
    found = []
    for start, end in zip(starts, [*(start - 1 for start in starts[1:]), len(text)], strict=True):
        cell = text[start:end]
        lead = len(cell) - len(cell.lstrip(' "')) if cell.strip(' "') else 0
        found.append(start + lead)
    return found
