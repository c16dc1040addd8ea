"""Columns whose cells hold two numbers each, of two quantities: `51.3% / 400`, `3,124 (51.3%)`.

In: a grid. Out: the same with two columns for each such one, under the two labels that its header
names (`MFU / TFLOPS`, `TFLOP/s/GPU (MFU)`) or that the text above the table gives (`tokens per
second per GPU, MFU in brackets`). A column is taken apart only if most of its cells are pairs and
both labels are known to be measured: elsewhere what stands in brackets is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.schema.record import Line, Schema
from assay.ingest.tables.headers import header, plain

_BESIDE = re.compile(r"(.+?)\s*[(（\[]([^()（）\[\]]+)[)）\]]")

_STROKE = re.compile(r"(.+?)\s+[/|&]\s+(.+)|([^/]+)/([^/]+)")

_NUMBER = r"[~≈]?\s*\**\s*[0-9][0-9.,]*[^()/]*?"

_IN_BRACKETS = re.compile(rf"({_NUMBER}(?:/[A-Za-z/]+)?)\s*[(（\[]\s*({_NUMBER})[)）\]]\W*")

_NAMED = {
    re.compile(
        rf"({_NUMBER}(?:/[A-Za-z/]+)?)\s*[(（\[,]\s*(?:{name}[:= ]\s*)?"
        rf"([0-9][0-9.]*\s*%)\s*(?:{name})?[)）\]]?"
    ): name
    for name in ("MFU", "HFU")
}
"""Cells that name their second number themselves: `8,381 (59.9% MFU)`."""

_BY_STROKE = re.compile(rf"({_NUMBER})\s*/\s*({_NUMBER})")

_DIGIT = re.compile("[0-9]")

_APART = re.compile(r"[(（\[/]|,.*%")

_SAID = re.compile(
    r"\b(MFU|HFU)\b.{0,40}\b(?:bracket|parenthes)|(?:括号|括弧).{0,20}(MFU|HFU)", re.I
)

_SHARED = re.compile(
    r"\b(?:tokens?|samples?|sequences?)(?:\s*/\s*|\s+per\s+)[A-Za-z]+(?:(?:\s*/\s*|\s+per\s+)[A-Za-z]+)?"
    r"|\bT?FLOPS?(?:/[A-Za-z]+)*|\bTGS\b",
    re.IGNORECASE,
)


_Parts = Callable[[GridCell, int], tuple[str, str]]


def parted(grid: Grid, schema: Schema, above: Sequence[Line]) -> Grid:
    """A grid with two columns for each whose cells are pairs of two measured quantities."""
    if not grid.heads or grid.labels or not grid.rows:
        return grid
    heads = grid.heads[-1].cells
    found: dict[int, tuple[str, str]] = {}
    for at, cell in enumerate(heads):
        form = _form([row.cells[at].text for row in grid.rows if at < len(row.cells)])
        labels = _labels(plain(cell.text), form, schema, above) if form else None
        if labels:
            found[at] = labels
    if not found:
        return grid
    last = _row(grid.heads[-1], found, lambda cell, at: found[at])
    upper = [_row(row, found, lambda cell, at: (cell.text, cell.text)) for row in grid.heads[:-1]]
    rows = tuple(_row(row, found, lambda cell, at: _two(cell.text)) for row in grid.rows)
    return replace(grid, heads=(*upper, last), rows=rows)


def _form(texts: Sequence[str]) -> re.Pattern[str] | None:
    """How most cells of a column are pairs; None where they are not."""
    held = [text for text in texts if len(text) <= LONGEST and _DIGIT.search(text)]
    if 2 * sum(_APART.search(text) is not None for text in held) <= len(held):
        return None  # most are one number: there may be many of them
    said = [plain(text) for text in held]
    for form in (*_NAMED, _IN_BRACKETS, _BY_STROKE):
        name = _NAMED.get(form, "")
        pairs = sum(name in text and form.fullmatch(text) is not None for text in said)
        if pairs and pairs * 2 > len(said):
            return form
    return None


def _labels(
    label: str, form: re.Pattern[str], schema: Schema, above: Sequence[Line]
) -> tuple[str, str] | None:
    """The labels of both numbers, where each names a quantity, and not the same."""
    if form in _NAMED:
        return (label, _NAMED[form]) if _quantity(label, schema) else None
    if found := _BESIDE.fullmatch(label):
        both = found[1], found[2]
    elif form is _BY_STROKE and (found := _STROKE.fullmatch(label)):
        both = (found[1], found[2]) if found[1] else (found[3], found[4])
    else:
        both = "", ""
    names = [_quantity(each, schema) for each in both]
    if all(names) and names[0] != names[1]:
        return both
    share = {(m[1] or m[2]).upper() for line in above for m in _SAID.finditer(line.text)}
    if form is not _IN_BRACKETS or len(share) != 1 or "(" in label:
        return None
    beside = f"{label} {share.pop()}"
    if _quantity(label, schema):
        return label, beside.rsplit(maxsplit=1)[-1]
    named = {m[0] for line in above for m in _SHARED.finditer(line.text) if _quantity(m[0], schema)}
    return (f"{label} {named.pop()}", beside) if len(named) == 1 else None


def _quantity(label: str, schema: Schema) -> str | None:
    if not label:
        return None
    (column,) = header([label], schema)
    return column.spec.name if column.spec and column.spec.quantity else None


def _two(text: str) -> tuple[str, str]:
    """Both parts of a cell; a cell that is no pair stands in the first column."""
    bare = plain(text) if len(text) <= LONGEST else text
    forms = (*_NAMED, _IN_BRACKETS, _BY_STROKE)
    found = next((match for form in forms if (match := form.fullmatch(bare))), None)
    return (found[1], found[2]) if found else (text, "")


def _row(row: GridRow, found: dict[int, tuple[str, str]], parts: _Parts) -> GridRow:
    cells: list[GridCell] = []
    for at, cell in enumerate(row.cells):
        if at not in found:
            cells.append(cell)
            continue
        one, other = parts(cell, at)
        shift = max(0, cell.text.find(other)) if other else 0
        cells += [cell._replace(text=one), cell._replace(text=other, column=cell.column + shift)]
    return replace(row, cells=tuple(cells))
