"""Tables of a user's format: which tables are meant, and how their cells fill its columns.

In: a document, and what a description says under `[tables]`. Out: a record for each row, or for
each melted cell of one. A table is meant if it has every label of `header`; it may be turned first,
where its labels stand in its first column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.ingest.columns.cells import quantity
from assay.ingest.columns.headers import Column, plain
from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.schema.fields import by_label, fields
from assay.ingest.schema.format import Folded, Region, TableNote
from assay.ingest.schema.record import Cell, Code, Diagnostic, Record, Schema, Span
from assay.ingest.tables.documents import documents, grids
from assay.ingest.tables.turned import turned_grid
from assay.ingest.vocabulary.terms import normalise


@dataclass(frozen=True)
class Tables:
    """Part of a description that stands under `[tables]`.

    `melt` gives, for columns whose label is a value, the text of that value: label → text for the
    column `melt_name`; what stands in their cells goes to the column `melt_value`. `split` has an
    expression by label whose named groups are columns; `values` holds for every row.
    """

    header: tuple[str, ...]
    transpose: bool = False
    melt: Mapping[str, str] | None = None
    melt_name: str = ""
    melt_value: str = ""
    melt_unit: float = 1.0
    split: Mapping[str, str] | None = None
    values: Mapping[str, str] | None = None


@dataclass(frozen=True)
class _Place:
    """Purpose of one column of a grid."""

    column: Column | None = None
    melted: str | None = None
    split: re.Pattern[str] | None = None


@dataclass(frozen=True)
class TableFold:
    """Function from a document to the records of one format of tables."""

    name: str
    said: Tables
    schema: Schema
    inputs: tuple[str, ...] = ()  # the only ones that are meant; none: any

    def __call__(self, region: Region) -> Folded:
        """Rows of every table in a document that has the labels of the format."""
        folded = Folded()
        if self.inputs and region.source.name not in self.inputs:
            return folded
        for lines in documents(region.lines):
            for grid in grids(lines, region.source.name, declared=True):
                here = {line.number for line in lines[grid.begin : grid.end] if line.text.strip()}
                self._table(region, grid, here, folded)
        return folded

    def _table(self, region: Region, grid: Grid, here: set[int], folded: Folded) -> None:
        shown = turned_grid(grid) if self.said.transpose else grid
        if shown is None:
            return
        labels = _numbered(shown.header())
        if not {normalise(label) for label in self.said.header} <= {*map(normalise, labels)}:
            return
        places = [self._place(label) for label in labels]
        read = 0
        for row in shown.rows:
            if row.blank or row.one:
                folded.blank.add(row.line.number)
                continue
            found = list(self._records(region, row, labels, places))
            faults = [each for each in found if isinstance(each, Diagnostic)]
            folded.refused += faults[:1]
            if not faults:
                folded.records += [each for each in found if isinstance(each, Record)]
                read += 1
        lost = {fault.span.line for fault in folded.refused} | folded.blank
        folded.claimed |= here - lost
        left = tuple(n for n, place in zip(labels, places, strict=True) if place == _Place())
        folded.tables.append(TableNote(
            min(here), grid.syntax, tuple(labels), len(shown.rows), read,
            tuple(n for n in labels if n not in left), left, max(here),
        ))  # fmt: skip

    def _place(self, label: str) -> _Place:
        said, known = self.said, by_label(self.schema)
        for other, text in (said.melt or {}).items():
            if normalise(other) == normalise(label):
                spec = fields(self.schema)[said.melt_value]
                return _Place(Column(label, spec, said.melt_unit), melted=text)
        for other, expression in (said.split or {}).items():
            if normalise(other) == normalise(label):
                return _Place(split=re.compile(expression))
        if normalise(label) in known:
            spec, scale = known[normalise(label)]
            return _Place(Column(label, spec, scale))
        return _Place()

    def _records(
        self, region: Region, row: GridRow, labels: Sequence[str], places: Sequence[_Place]
    ) -> Iterator[Record | Diagnostic]:
        """The record of a row, or one for each of its melted cells; or what cannot be read."""
        line, source = row.line, region.source.name
        if len(row.cells) != len(places):
            message = f"{len(row.cells)} cells, the header has {len(places)}"
            yield Diagnostic(Span(source, line.number, line.column), Code.CELL_COUNT, message,
                             line.text)  # fmt: skip
            return
        shared: dict[str, Cell] = {}
        other: list[tuple[str, str]] = []
        melted: list[tuple[str, Cell]] = []
        for cell, place, label in zip(row.cells, places, labels, strict=True):
            read = _read(source, place, cell)
            if isinstance(read, Diagnostic):
                yield read._replace(text=line.text)
                return
            if place == _Place() and cell.text:
                other.append((label, plain(cell.text)))
            elif place.melted is not None:
                melted += [(place.melted, each) for each in read.values()]
            else:
                shared |= read
        at = Cell("", line.number, line.column, value_origin="assumed",
                  law=f"the description of {self.name} says so")  # fmt: skip
        for name, text in (self.said.values or {}).items():
            shared.setdefault(name, at._replace(text=text))
        if self.said.melt is None:
            yield self._record(row, row.line.column, shared, other)
        for text, value in melted:
            own = {self.said.melt_name: value._replace(text=text, scale=1.0, kind=None)}
            own[self.said.melt_value] = value
            yield self._record(row, value.column, shared | own, other)

    def _record(
        self, row: GridRow, column: int, cells: dict[str, Cell], other: list[tuple[str, str]]
    ) -> Record:
        line = row.line
        return Record(line.number, dict(cells), column, other=list(other), tabled=True,
                      prefix=line.prefix)  # fmt: skip


def _numbered(labels: Sequence[str]) -> list[str]:
    """Labels as they are shown; one that stands there twice gets `(2)`."""
    found: dict[str, int] = {}
    shown = []
    for label in map(plain, labels):
        found[label] = found.get(label, 0) + 1
        shown.append(label if found[label] == 1 else f"{label} ({found[label]})")
    return shown


def _read(source: str, place: _Place, cell: GridCell) -> dict[str, Cell] | Diagnostic:
    """Fields that a cell fills; a cell that is empty, or says that nothing was measured, none."""
    text, at = plain(cell.text), Span(source, cell.line, cell.column)
    if place.split is not None:
        found = place.split.search(text)
        groups = found.groupdict() if found else {}
        return {n: Cell(t, cell.line, cell.column) for n, t in groups.items() if t is not None}
    if place.column is None or place.column.spec is None or not text:
        return {}
    spec = place.column.spec
    if not spec.numeric:
        return {spec.name: Cell(text, cell.line, cell.column)}
    value = quantity(cell.text, place.column, at)
    return value if isinstance(value, Diagnostic) else {spec.name: value}
