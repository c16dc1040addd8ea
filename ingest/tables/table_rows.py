"""Rows of a grid to records, by the labels of a schema, whatever the grid was written in.

In: the lines of a document. Out: one record per data row of each table that names a measured
quantity. Filler rows are blank; a row with a cell too many or too few is refused, and so is an
unfinished last row. Each table is noted, with what was understood of it and what was not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.ingest.schema.format import Folded, Region, TableNote
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Schema, Span
from assay.ingest.source.notebook import is_notebook, markdown_cells
from assay.ingest.tables import captions
from assay.ingest.tables.captions import said_above
from assay.ingest.tables.cells import numeric_cell, other, outcome_and_date, quantity, text_cell
from assay.ingest.tables.column_cells import percentages, rates, whole_numbers
from assay.ingest.tables.delimited import delimited, named_table
from assay.ingest.tables.grid import Grid, GridRow, apart
from assay.ingest.tables.headers import Column, header
from assay.ingest.tables.html_tables import html_tables
from assay.ingest.tables.pipe_tables import pipe_tables
from assay.ingest.tables.restructured import rst_tables
from assay.ingest.tables.subject import measured, name_rows, of_runs

_HEADING = re.compile(r"\s*#{1,6}\s+\S.*|\s*\*\*[^*]+\*\*:?\s*$")

_DIGIT = re.compile("[0-9]")


def fold(schema: Schema) -> Callable[[Region], Folded]:
    """The fold of a table format whose columns are those of `schema`."""

    def run(region: Region) -> Folded:
        folded = Folded()
        for lines in _documents(region.lines):
            _document(region, lines, schema, folded)
        return folded

    return run


def _documents(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """The texts that an input holds: itself, or the Markdown cells of a notebook."""
    yield markdown_cells(lines) if is_notebook(lines) else lines


def grids(lines: Sequence[Line], name: str) -> Iterator[Grid]:
    """Every table of a document, in order; `name` is that of its input."""
    if named_table(name) and (whole := list(delimited(lines, named=True))):
        yield from whole
        return
    found = [*html_tables(lines), *pipe_tables(lines), *rst_tables(lines)]
    yield from apart(found or list(delimited(lines, named=False)))


@dataclass
class Place:
    """What stands above a table: its heading, the lines below that, the headings around it."""

    heading: str
    above: list[Line]
    titles: list[Line]

    def pass_over(self, lines: Sequence[Line]) -> None:
        """Take in lines that are no table."""
        for line in lines:
            if said := _heading(line.text):
                self.heading = said
            if said and said.lstrip().startswith("#"):
                self.above, self.titles = [], captions.nested(self.titles, line)
            else:
                self.above.append(line)


def _heading(text: str) -> str | None:
    """The text of a heading, or of a line in bold that stands for one."""
    found = _HEADING.match(text)
    return found[0] if found else None


def _document(region: Region, lines: Sequence[Line], schema: Schema, folded: Folded) -> None:
    place, at = Place("", [], []), 0
    for grid in grids(lines, region.source.name):
        place.pass_over(lines[at : grid.begin])
        at = max(at, grid.end)
        table = _Table(region, lines, grid, schema, place)
        table.read(folded)
        folded.tables.append(table.note())


class _Table:
    """One grid on its way to records."""

    def __init__(
        self, region: Region, lines: Sequence[Line], grid: Grid, schema: Schema, place: Place
    ) -> None:
        self.region, self.lines, self.grid, self.place = region, lines, grid, place
        self.schema = schema
        self.columns = header(grid.header(), schema)
        self.held = Folded()
        self.filled: set[str] = set()  # labels of columns that filled a field of some row
        self.read_rows = 0
        if below := _two_rows(grid):
            joined = header(below, schema)
            if _quantities(joined) > _quantities(self.columns):
                self.columns = joined
                self.grid = replace(grid, heads=(*grid.heads, grid.rows[0]), rows=grid.rows[1:])

    def read(self, folded: Folded) -> None:
        """Put the rows into `folded`, unless none of them holds a measured number after all."""
        grid, place = self.grid, self.place
        if not of_runs(self.columns, place.heading):
            return
        held = self.held
        for row in grid.rows:
            self._row(row)
        name_rows(held.records, self.columns)
        if not measured(held.records, len(held.refused), self.columns):
            return
        said = said_above(place.above) | captions.above(place.titles, place.above)
        self._bind(said, folded)
        percentages(held.records, self.columns)
        rates(held.records, self.columns)
        whole_numbers(held.records, self.columns)
        self.read_rows = len(held.records)
        folded.records += held.records
        folded.refused += held.refused
        folded.blank |= held.blank
        folded.claimed |= self._claimed()

    def _claimed(self) -> set[int]:
        """Lines of the header and of the rows that were read, tags and rules among them."""
        grid, held = self.grid, self.held
        lost = {fault.span.line for fault in held.refused} | held.blank
        if grid.syntax in ("html", "rst"):
            return {line.number for line in self.lines[grid.begin : grid.end]} - lost
        rule = {self.lines[grid.begin + 1].number} if grid.syntax == "markdown" else set()
        heads = {row.line.number for row in grid.heads}
        return rule | heads | {record.line for record in held.records}

    def _row(self, row: GridRow) -> None:
        grid, held, line = self.grid, self.held, row.line
        source = self.region.source
        if row.blank or row.one:
            held.blank.add(line.number)
        elif len(row.cells) != len(self.columns) and (
            grid.exact or len(row.cells) > len(self.columns)
        ):
            message = f"{len(row.cells)} cells, the header has {len(self.columns)}"
            span = Span(source.name, line.number, line.column)
            held.refused.append(Diagnostic(span, Code.CELL_COUNT, message, line.text))
        elif grid.closed and source.cut(line.number) and not line.text.rstrip().endswith("|"):
            message = "the input ends inside this row, expected '|'"
            span = Span(source.name, line.number, line.column + len(line.text))
            held.refused.append(Diagnostic(span, Code.TRUNCATED, message, line.text))
        elif record := self._record(row):
            held.records.append(record)

    def _record(self, row: GridRow) -> Record | None:
        line = row.line
        record = Record(line.number, {}, line.column, prefix=line.prefix)
        for cell, column in zip(row.cells, self.columns, strict=False):
            at, before = Span(self.region.source.name, cell.line, cell.column), len(record.cells)
            if column.spec is None:
                other(record, column, cell.text, at)
            elif column.spec.numeric:
                found = quantity(cell.text, column, at)
                if isinstance(found, Diagnostic):
                    self.held.refused.append(found._replace(text=line.text))
                    return None
                numeric_cell(record, column.spec, found, cell.text)
            elif cell.text:
                text_cell(record, column.spec, cell.text, at)
            if len(record.cells) > before:
                self.filled.add(column.label)
        outcome_and_date(record)
        captions.mark(record)
        return record

    def _bind(self, said: Mapping[str, Cell], folded: Folded) -> None:
        for record in self.held.records:
            for name, cell in said.items():
                if _silent(record, name):
                    record.cells[name] = cell
                    folded.claimed.add(cell.line)

    def note(self) -> TableNote:
        """What was understood of the table."""
        grid, labels = self.grid, [column.label for column in self.columns]
        taken = self.filled if self.read_rows else set()
        digits = [
            any(
                _DIGIT.search(row.cells[n].text)
                for row in grid.rows
                if n < len(row.cells) and not row.one
            )
            for n in range(len(labels))
        ]
        return TableNote(
            self.lines[grid.begin].number,
            grid.syntax,
            tuple(labels),
            rows=sum(any(_DIGIT.search(cell.text) for cell in row.cells) for row in grid.rows),
            read=self.read_rows,
            understood=tuple(label for label in labels if label in taken),
            not_understood=tuple(
                label
                for label, said in zip(labels, digits, strict=True)
                if said and label not in taken
            ),
            last=self.lines[grid.end - 1].number,
            remark=grid.remark,
        )


def _two_rows(grid: Grid) -> list[str]:
    """Labels that stand in two rows, the upper ones over several columns; none where the second
    row may be one of numbers."""
    if len(grid.heads) != 1 or grid.syntax != "markdown" or not grid.rows:
        return []
    upper = [cell.text for cell in grid.heads[0].cells]
    lower = [cell.text for cell in grid.rows[0].cells]
    if len(upper) != len(lower) or sum(map(bool, lower)) < 2 or re.search("[0-9]", "".join(lower)):
        return []
    labels, over = [], ""
    for first, second in zip(upper, lower, strict=True):
        over = first or over
        labels.append(f"{over} {second}" if second else first)
    return labels


def _quantities(columns: Sequence[Column]) -> int:
    return sum(column.spec is not None and column.spec.quantity is not None for column in columns)


def _silent(record: Record, name: str) -> bool:
    """Whether a row says nothing of a field, nor of what settles it: nodes where GPUs are counted,
    all weights where adapters are trained."""
    held = record.cells.get(name)
    if name == "gpus" and "nodes" in record.cells:
        return False
    if name == captions.FIELD and captions.trains_all(record):
        return False
    return held is None or held.state == "missing"
