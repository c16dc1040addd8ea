"""Memory that stands in the notes of rows, `27GB (same conf)`, under no label of its own, or beside
sizes of models alone, where the table does not say of how many devices it is, and the text of one.

In: the records of tables, bound, and the lines of their document. Out: the same rows with the most
that a run took of a device, which names its law. Notes are such where they are nothing but sizes,
in a document that speaks of memory, and no row of their table says how much it took elsewhere;
sizes that devices are sold with may name these and say nothing of a run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from assay.ingest.columns.cells import number_of
from assay.ingest.grids.grid import LONGEST
from assay.ingest.numbers.units import unit
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.tables.row_cells import OF_WHOM

LAW = "the notes of runs are nothing but sizes, in a text that speaks of memory"

_SIZE = deferred(r"~?\s*([0-9]{1,3}(?:\.[0-9]{1,2})?)\s?([GM]i?B)(?:\s*\([^()]*\))?\s*")

_MEMORY = deferred(
    r"\bmemory\b|\bOOMs?\b|nvidia-smi|rocm-smi|\bVRAM\b|\bHBM\b|max_memory|显存", re.IGNORECASE
)

SOLD_WITH = {8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 180, 192, 288}
"""Gigabytes of devices."""

LEAST = 2
"""Sizes that differ, one of which at least no device is sold with."""


def settle_noted(records: Sequence[Record], lines: Sequence[Line]) -> None:
    """Give rows of tables, in place, the memory that their notes are, or that their tables do not
    say of whom it is."""
    _settle_of_whom(records)
    rows = [row for row in records if row.tabled and row.alike is None]
    noted = [(row, found) for row in rows
             if (note := row.cells.get("notes")) is not None
             and (found := _SIZE.fullmatch(note.text.strip(" `*"))) is not None]  # fmt: skip
    labelled = {row.line for row in rows if "memory" in row.cells}
    noted = [(row, found) for row, found in noted if not _beside(row.line, labelled, rows)]
    sizes = {float(found[1]) for _, found in noted}
    if len(sizes) < LEAST or sizes <= SOLD_WITH:
        return
    if not any(_MEMORY.search(line.text) for line in lines if len(line.text) <= LONGEST):
        return
    for row, found in noted:
        size = unit(found[2])
        note = row.cells["notes"]
        if size is not None and _measured(row):
            row.cells["memory"] = Cell(
                found[1], note.line, note.column + found.start(1), size.scale, law=LAW
            )


def _beside(line: int, labelled: Set[int], rows: Sequence[Record]) -> bool:
    """Whether a row stands in one table with one of those `labelled`, which print their memory."""
    lines = {row.line for row in rows}
    for step in (-1, 1):
        at = line
        while at in lines:
            if at in labelled:
                return True
            at += step
    return False


ON_ONE = "the text of the document says that the run was on one device"


def _settle_of_whom(records: Sequence[Record]) -> None:
    """Give rows of tables, in place, the memory of which their table does not say of whom it is,
    where the text of their document says that they ran on one device."""
    for row in records:
        cell = row.cells.get("memory")
        if cell is None or cell.state != "unknown" or cell.law != OF_WHOM:
            continue
        count = row.cells.get("gpus")
        if count is not None and number_of(count) == 1:
            row.cells["memory"] = cell._replace(state="value", law=ON_ONE)
            row.other[:] = [told for told in row.other if not told[1].startswith(f"{cell.text} ")]


def _measured(row: Record) -> bool:
    """Whether a row says something else that was measured of its run."""
    names = ("step_time", "model_flops_rate", "tokens_per_s", "samples_per_s", "mfu")
    return any(
        (cell := row.cells.get(name)) is not None and number_of(cell) is not None for name in names
    )
