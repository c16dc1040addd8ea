"""Columns of a table of collectives whose labels name the operations.

In: the columns of a grid that are told, and what the text above says of all its numbers. Out: the
same with a column for each operation: `all_reduce | all_gather` below `Bus bandwidth in GB/s`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import Grid
from assay.ingest.kernels.kernel_headings import OPERATION, canonical
from assay.ingest.kernels.kernel_labels import SIZED, Column, measured_as
from assay.ingest.schema.record import Schema


def of_operations(
    grid: Grid, columns: Sequence[Column], bare: Column | None, schema: Schema
) -> list[Column]:
    """The columns of operations: of the bandwidth that a label says, or else the text above; in
    its unit where a label has one."""
    made = list(columns)
    for at, label in enumerate(map(plain, grid.header())):
        free = made[at] == Column() or list(made[at].aside) == ["column"]
        found = OPERATION.match(label) if free else None
        if found is None:
            continue
        rest = label[found.end() :].strip(" _-:,")
        told = measured_as(rest, schema) if rest else bare
        sized = SIZED.fullmatch(label)
        if told is None and bare is not None and sized and not sized[1][found.end() :].strip():
            own = measured_as(f"busbw ({sized[2]})", schema)
            told = replace(bare, scale=own.scale) if own is not None else None
        if told is not None and told.scale and told.spec and told.spec.name in ("busbw", "algbw"):
            made[at] = replace(told, aside={**told.aside, "op": canonical(found)})
    return made
