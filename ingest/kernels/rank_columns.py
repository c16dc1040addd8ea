"""Tables of collectives with columns for each number of ranks side by side.

In: a grid. Out: the same with a row for each of those numbers: `8 GPUs: time | 8 GPUs: busbw | 32
GPUs: time | 32 GPUs: busbw`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import Grid, GridRow

_OF_RANKS = re.compile(
    r"([0-9]{1,5}) ?(?:GPUs?|ranks?|devices?|processes|procs|[卡张]) ?[:：,/|–-]? ?(\S.*)",
    re.IGNORECASE,
)
"""A number of ranks in front of what is measured of as many."""

SEVERAL = 2


def ranks_apart(grid: Grid) -> Grid:
    """The grid with a row for each number of ranks that labels have in front of the same names; any
    other as it is."""
    if len(grid.heads) != 1 or grid.labels:
        return grid
    labels = [plain(label) for label in grid.header()]
    found = {at: told for at, label in enumerate(labels) if (told := _OF_RANKS.fullmatch(label))}
    many = list(dict.fromkeys(told[1] for told in found.values()))
    sides = {n: {told[2]: at for at, told in found.items() if told[1] == n} for n in many}
    names = list(sides[many[0]]) if many else []
    if len(many) < SEVERAL or any(list(side) != names for side in sides.values()):
        return grid
    rest = [at for at in range(len(labels)) if at not in found]
    head = grid.heads[0]

    def row_of(row: GridRow, count: str, own: list[int]) -> GridRow:
        first = row.cells[own[0]]
        cells = (*(row.cells[at] for at in rest), first._replace(text=count))
        line = row.line._replace(column=first.column)
        return replace(row, line=line, cells=(*cells, *(row.cells[at] for at in own)))

    rows = tuple(
        row_of(row, n, list(sides[n].values()))
        for row in grid.rows if len(row.cells) == len(labels) for n in many
    )  # fmt: skip
    cells = row_of(head, "ranks", list(sides[many[0]].values())).cells
    bare = [
        cell._replace(text=name) for cell, name in zip(cells[-len(names) :], names, strict=True)
    ]
    head = replace(head, cells=(*cells[: -len(names)], *bare))
    return replace(grid, heads=(head,), rows=rows)
