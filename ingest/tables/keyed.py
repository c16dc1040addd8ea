"""Tables that say how runs were configured, by the names under which other tables measure them.

In: the grids of a document. Out: `Keyed` tables: name of a row → its configuration cells. A table
of configurations has no measured column and names each of its rows once; the rows of another table
whose cells of one column are such names, all of them, ran as it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.ingest.grids.grid import Grid
from assay.ingest.schema.record import Cell, Diagnostic, Record, Schema, Span
from assay.ingest.tables.cells import quantity
from assay.ingest.tables.headers import Column, header, plain

FEWEST = 2
"""Columns of configuration that make a table one of configurations, and rows that name runs."""


@dataclass(frozen=True)
class Keyed:
    """Name of a row → field → cell; `columns` are the labels that were understood."""

    rows: dict[str, dict[str, Cell]]
    columns: tuple[str, ...]

    def configure(self, records: Sequence[Record]) -> set[int]:
        """Give rows what they are said to have run with; returns the lines that say so."""
        labels = [label for label, text in records[0].other if text in self.rows]
        for label in labels:
            names = [dict(record.other).get(label, "") for record in records]
            if all(name in self.rows for name in names):
                break
        else:
            return set()
        used: set[int] = set()
        for record, name in zip(records, names, strict=True):
            for field, cell in self.rows[name].items():
                if field not in record.cells:
                    record.cells[field] = cell
                    used.add(cell.line)
        return used


def keyed(source: str, grid: Grid, turned: Grid | None, schema: Schema) -> Keyed | None:
    """A grid as a table of configurations, as it stands or turned; None where it is none."""
    for each in (grid, turned):
        if each is not None and (found := _keyed(source, each, schema)):
            return found
    return None


def _keyed(source: str, grid: Grid, schema: Schema) -> Keyed | None:
    columns = header(grid.header(), schema)
    told = [n for n, column in enumerate(columns) if _configures(column)]
    if len(told) < FEWEST or any(c.spec is not None and c.spec.quantity for c in columns):
        return None
    rows = [row for row in grid.rows if len(row.cells) == len(columns)]
    rows = [row for row in rows if any(row.cells[n].text for n in told)]
    for at, column in enumerate(columns):
        names = [plain(row.cells[at].text) for row in rows]
        words = all(any(c.isalpha() for c in name) for name in names)
        if column.spec is None and words and len(set(names)) == len(names) >= FEWEST:
            break
    else:
        return None
    found: dict[str, dict[str, Cell]] = {}
    for name, row in zip(names, rows, strict=True):
        cells: dict[str, Cell] = {}
        for n in told:
            spec, at_cell = columns[n].spec, row.cells[n]
            assert spec is not None
            where = Span(source, at_cell.line, at_cell.column)
            cell = quantity(at_cell.text, columns[n], where)
            if not isinstance(cell, Diagnostic) and cell.state == "value":
                cells[spec.name] = cell._replace(value_origin="context")
        found[name] = cells
    return Keyed(found, tuple(columns[n].label for n in told))


def _configures(column: Column) -> bool:
    return column.spec is not None and column.spec.configuration and column.spec.numeric
