"""Tables of kernels in Markdown, HTML and reStructuredText: a row is a measured call, or several.

In: the lines of a document and the schema of a kernel format. Out: one record per time or rate. A
column that begins with a number format (`BF16 TFLOPS`) is a measurement of its own in each row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from assay.ingest.grids.grid import Grid, GridRow, apart
from assay.ingest.grids.html_tables import html_tables
from assay.ingest.grids.pipe_tables import pipe_tables
from assay.ingest.grids.restructured import rst_tables
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import FieldSpec, by_label, fields
from assay.ingest.schema.format import Folded
from assay.ingest.schema.record import Cell, Line, Record, Schema
from assay.ingest.tables.csv_sections import timed
from assay.ingest.tables.headers import plain
from assay.ingest.vocabulary.terms import normalise

_FORMAT = re.compile(r"((?:b?f|fp|bf|tf|int)(?:loat)?[0-9]{1,2}(?:_?e[0-9]m[0-9])?)\s+(.+)", re.I)

_SIZED = re.compile(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]\s*")

_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")

Column = tuple[str, FieldSpec | None, float]
"""Number format named by a label, field, factor to its unit."""


def kernel_rows(lines: Sequence[Line], schema: Schema, needs: Set[str], folded: Folded) -> None:
    """Put every table whose header names all of `needs` and a measured quantity into `folded`."""
    found = [*html_tables(lines), *pipe_tables(lines), *rst_tables(lines)]
    for grid in apart(found):
        columns = [_column(plain(label), schema) for label in grid.header()]
        held = [spec.name for _, spec, _ in columns if spec and not spec.quantity]
        if not needs <= set(held) or len(held) != len(set(held)):
            continue
        records = [each for row in grid.rows for each in _records(row, columns)]
        if records:
            folded.records += records
            folded.claimed |= _lines(lines, grid, records)


def _column(label: str, schema: Schema) -> Column:
    known = by_label(schema)
    dtype, rest = (found[1], found[2]) if (found := _FORMAT.fullmatch(label)) else ("", label)
    if normalise(rest) in known:
        spec, scale = known[normalise(rest)]
        return dtype, spec, scale
    if (scale_of_time := timed(rest)) is not None and "time" in fields(schema):
        return dtype, fields(schema)["time"], scale_of_time
    sized = _SIZED.fullmatch(rest)
    measure = unit(sized[2]) if sized else None
    if measure and measure.si == "flop/s" and "flops_rate" in fields(schema):
        return dtype, fields(schema)["flops_rate"], measure.scale
    return "", None, 1.0


def _records(row: GridRow, columns: Sequence[Column]) -> list[Record]:
    """The measurements of a row, those of one number format together."""
    if row.blank or len(row.cells) != len(columns):
        return []
    shared: dict[str, Cell] = {}
    own: dict[str, Record] = {}
    for cell, (dtype, spec, scale) in zip(row.cells, columns, strict=True):
        text = plain(cell.text)
        if spec is None or not text:
            continue
        value = Cell(text.replace(",", ""), cell.line, cell.column, scale)
        if not spec.numeric:
            shared[spec.name] = Cell(text, cell.line, cell.column)
        elif not _NUMBER.fullmatch(text):
            if not spec.quantity:
                return []  # a size that is no number: nothing is known of the call
        elif spec.quantity:
            place = (row.line.number, row.line.column) if not dtype else (cell.line, cell.column)
            record = own.setdefault(dtype, Record(place[0], {}, place[1]))
            record.cells.setdefault(spec.name, value)
        else:
            shared[spec.name] = value
    for dtype, record in own.items():
        record.cells |= {name: cell for name, cell in shared.items() if name not in record.cells}
        if dtype:
            record.cells["dtype"] = Cell(dtype, record.line, record.column)
    return list(own.values())


def _lines(lines: Sequence[Line], grid: Grid, records: Sequence[Record]) -> set[int]:
    head = {row.line.number for row in grid.heads} | {lines[grid.begin].number}
    rule = {lines[grid.begin + 1].number} if grid.syntax == "markdown" else set()
    return head | rule | {record.line for record in records}
