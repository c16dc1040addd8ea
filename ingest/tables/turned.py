"""Grids turned: metrics in rows and runs in columns, and metrics grouped below counts.

In: a grid. Out: the same with a row for each run; None where nothing is to be turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from assay.ingest.columns.composite import called
from assay.ingest.columns.headers import Column, header, plain
from assay.ingest.columns.subject import FOREIGN
from assay.ingest.columns.titles import model_named
from assay.ingest.grids.grid import MOST_COLUMNS, MOST_PLACES, Grid, GridCell, GridRow
from assay.ingest.schema.record import Schema
from assay.ingest.vocabulary.words import split

MOST_TURNED = 64
"""Columns of a table that may be rows of a turned one."""


def turned_grid(grid: Grid) -> Grid | None:
    """The grid with rows for columns, where it is a full rectangle of rows that say something."""
    rows = tuple(row for row in grid.rows if not row.blank and not row.one)
    widths = {len(row.cells) for row in (*grid.heads, *rows)}
    if len(widths) != 1 or len(grid.heads) != 1 or not 2 <= grid.width <= MOST_TURNED:
        return None
    if not 0 < len(rows) <= MOST_COLUMNS:
        return None
    return replace(grid, rows=rows, closed=False).turned()


def names_in_one_column(grid: Grid, schema: Schema) -> Grid:
    """The grid with the names of its metrics and settings in its first column alone, where they
    stand in every other one, each before its value, or behind the names of their groups:

    | Parallelism | TP | 8 | 8 |    | Layers | 44 | Hidden size | 6144 |
    |             | PP | 2 | 4 |    | Step   | 9 s | Achieved   | 117 TFLOPS |
    """
    rows = [row for row in grid.rows if not row.blank and not row.one]
    if len(grid.heads) != 1 or grid.labels or len(rows) < FEWEST:
        return grid
    if any(len(row.cells) != grid.width for row in (*grid.heads, *rows)):
        return grid
    return (
        _pairs_below_each_other(grid, rows, schema) or _without_groups(grid, rows, schema) or grid
    )


def _pairs_below_each_other(grid: Grid, rows: Sequence[GridRow], schema: Schema) -> Grid | None:
    """The grid with two columns, where each two of it are names and their values; its header stands
    over each two of them, or is the first row of them, or of nothing."""
    if grid.width not in _OF_PAIRS:
        return None
    head = grid.heads[0]
    texts = [plain(cell.text) for cell in head.cells]
    over = len({*texts[::2]}) == len({*texts[1::2]}) == 1
    every = rows if over else [head, *rows]
    pairs = [row.cells[at : at + 2] for at in range(0, grid.width, 2) for row in every]
    pairs = [pair for pair in pairs if any(cell.text for cell in pair)]
    names, values = ([plain(pair[n].text) for pair in pairs] for n in (0, 1))
    told, others = (sum(map(_known, header(texts, schema))) for texts in (names, values))
    if len({*names}) < len(names) or not all(any(map(str.isalpha, name)) for name in names):
        return None
    if not over and not all(map(_known, header(texts[::2], schema))):
        return None
    if told < FEWEST_KNOWN or told * 2 < len(names) or others * 4 > len(values):
        return None
    made = [
        GridRow(row.line._replace(number=pair[0].line, column=pair[0].column), tuple(pair))
        for row, pair in zip((rows[0],) * len(pairs), pairs, strict=True)
    ]
    if over:
        made = [replace(head, cells=head.cells[:2]), *made]
    return replace(grid, heads=(made[0],), rows=tuple(made[1:]), closed=False)


_OF_PAIRS = (4, 6, 8)
"""Columns of a table of names and values side by side."""

FEWEST_KNOWN = 3
"""Names of settings and metrics that make a column one of these."""


def _known(column: Column) -> bool:
    """Whether a label is of a setting or of a quantity."""
    return column.spec is not None or bool(column.degrees)


def _without_groups(grid: Grid, rows: Sequence[GridRow], schema: Schema) -> Grid | None:
    """The grid without its first column, where that groups the names in the second: a name with its
    group in front of it, where it says nothing alone."""
    groups, names = ([plain(row.cells[at].text) for row in rows] for at in (0, 1))
    if grid.width <= len(("group", "name")) or len({*names}) < len(names):
        return None
    if not all(any(map(str.isalpha, name)) for name in names) or not groups[0]:
        return None
    for at, group in enumerate(groups):
        groups[at] = group or groups[at - 1]
    runs = [group for group, _ in groupby(groups)]
    if len({*runs}) < len(runs) or not 1 < len(runs) < len(names):
        return None  # a name that returns is of no group
    corner = header([plain(cell.text) for cell in grid.heads[0].cells[:2]], schema)
    if any(map(_known, corner)) or any(called(group, alone=True) for group in runs):
        return None
    alone = header(names, schema)
    both = [header([f"{g} {name}"], schema)[0] for g, name in zip(groups, names, strict=True)]
    behind = [header([f"{name} {g}"], schema)[0] for g, name in zip(groups, names, strict=True)]
    told = [
        name if _known(own) and not {*split(group)} & FOREIGN
        else next((c.label for c in (inside, outside) if _known(c)), f"{group} {name}")
        for name, group, own, inside, outside
        in zip(names, groups, alone, both, behind, strict=True)
    ]  # fmt: skip
    known = header(told, schema)
    measured = sum(c.spec is not None and c.spec.quantity is not None for c in known)
    many = sum(map(_known, known))
    if not measured or not any(map(_known, alone)) or many * 2 < len(names) or many < FEWEST_KNOWN:
        return None
    cut = (
        replace(row, cells=(row.cells[1]._replace(text=label), *row.cells[2:]))
        for row, label in zip(rows, told, strict=True)
    )
    head = grid.heads[0]
    return replace(
        grid, heads=(replace(head, cells=head.cells[1:]),), rows=tuple(cut), closed=False
    )


def unpivoted(grid: Grid, schema: Schema) -> Grid:
    """The grid with a row for each of its numbers, where its header rows are of one setting each,
    by names in one column, and what its rows measure stands left of that:

    |            | Model | 7B  |     |
    |            | GPUs  | 8   | 16  |
    | Tokens/s   | ours  | 410 | 809 |
    """
    heads, rows = grid.heads, [row for row in grid.rows if not row.blank and not row.one]
    if len(heads) < 2 or grid.labels or not rows or grid.width > MOST_TURNED:
        return grid
    if any(len(row.cells) != grid.width for row in (*heads, *rows)):
        return grid
    at = next((n for n in range(1, min(3, grid.width - 1)) if _names_axes(heads, n, schema)), 0)
    stub = [n for n in range(at) if all(_measures(row.cells[n].text, schema) for row in rows)]
    numbers = [row.cells[n].text for row in heads[1:] for n in range(at + 1, grid.width)]
    if len(stub) != 1 or len(rows) * (grid.width - at) > MOST_PLACES or not all(numbers):
        return grid
    metrics = list(dict.fromkeys(row.cells[stub[0]].text for row in rows))
    names = [*(row.cells[at] for row in heads), heads[0].cells[stub[0]]]
    label = replace(heads[-1], cells=(*names, *(names[0]._replace(text=m) for m in metrics)))
    made = []
    for row in rows:
        for place in range(at + 1, grid.width):
            cell = row.cells[place]
            if not cell.text.strip("-–— "):
                continue  # nothing ran there
            said = (*(head.cells[place] for head in heads), row.cells[at])
            own = (
                cell._replace(text=cell.text if metric == row.cells[stub[0]].text else "")
                for metric in metrics
            )
            line = row.line._replace(number=cell.line, column=cell.column)
            made.append(GridRow(line, (*said, *own)))
    return replace(grid, heads=(label,), rows=tuple(made), closed=False)


def _names_axes(heads: Sequence[GridRow], at: int, schema: Schema) -> bool:
    """Whether the header cells of a column are names of settings, each of another, one of them of
    one that is counted."""
    names = [plain(head.cells[at].text) for head in heads]
    columns = [header([name], schema)[0] for name in names if name]
    counted = any(c.spec is not None and c.spec.configuration and c.spec.numeric for c in columns)
    measured = any(c.spec is not None and c.spec.quantity for c in columns)
    return counted and not measured and len({*names}) == len(columns) == len(heads)


def metrics_down(grid: Grid, schema: Schema) -> bool:
    """Whether most names in the first column are measured quantities, each another: no column of
    such a grid holds one quantity, whatever its label or the text above it says."""
    names = [plain(row.cells[0].text) for row in grid.rows if row.cells and not row.one]
    if grid.labels or len(grid.heads) != 1 or not FEWEST <= len(names) <= MOST_COLUMNS:
        return False
    held = {
        c.spec.name for c in header(names, schema) if c.spec and c.spec.quantity and c.unit_known
    }
    return len(held) >= max(FEWEST, (len(names) + 1) // 2)


FEWEST = 2
"""Quantities in the first column that make it one of quantities."""


def _measures(label: str, schema: Schema) -> bool:
    """Whether a label names a measured quantity."""
    (column,) = header([plain(label)], schema) if label else (None,)
    return column is not None and column.spec is not None and column.spec.quantity is not None


def grouped_below(grid: Grid) -> Grid | None:
    """The grid with a row for each column and each name in its first one, where the second names
    metrics: `5B | Tokens per second | …`, `5B | Time per step (s) | …`, `20B | Tokens per …`.

    A name stands at one of its rows or at each. What all columns share in their header is the
    label of what tells them apart: `Nodes` over `1`, `2`, `4`.
    """
    rows = [row for row in grid.rows if not row.blank and not row.one]
    if not 1 <= len(grid.heads) <= 2 or not 4 <= grid.width <= MOST_TURNED or len(rows) < 2:
        return None
    if any(len(row.cells) != grid.width for row in (*grid.heads, *rows)):
        return None
    grid, rows = _with_counts_over(grid, rows)
    groups: list[list[GridRow]] = []
    metrics: list[list[str]] = []
    named, met = "", set[str]()  # of the last group
    for row in rows:
        name, metric = row.cells[0].text, plain(row.cells[1].text)
        if not groups or metric in met or (name and named and name != named):
            groups.append([])
            metrics.append([])
            named, met = "", set()
        groups[-1].append(row)
        metrics[-1].append(metric)
        named = named or name
        met.add(metric)
    every = list(dict.fromkeys(label for group in metrics for label in group))
    if any(len(set(group)) < max(2, len(group)) for group in metrics) or not all(every):
        return None
    if len(groups) * len(every) > 2 * len(rows) or not all(map(_named_in, groups)):
        return None
    return _one_for_each(grid, groups, metrics, every)


def sectioned_below(grid: Grid) -> Grid | None:
    """The grid with a row for each column and each title among its rows, where these are of another
    model each, or the same metrics stand below several of them:

    |                | A    | B    |
    | **Aspen 8B**   |      |      |
    | s per step     | 1.4  | 1.3  |
    | **Birch 70B**  |      |      |
    | s per step     | 9.6  | 9.1  |

    What stands above the first title is of all.
    """
    rows = [row for row in grid.rows if not row.blank]
    if len(grid.heads) != 1 or grid.labels or not 2 <= grid.width <= MOST_TURNED:
        return None
    if any(len(row.cells) != grid.width for row in (*grid.heads, *rows)):
        return None
    of_all: list[GridRow] = []
    groups: list[list[GridRow]] = []
    names: list[GridCell] = []
    for row in rows:
        if row.one or not any(cell.text for cell in row.cells[1:]):
            names.append(row.cells[0]._replace(text=plain(row.cells[0].text)))
            groups.append([])
        else:
            (groups[-1] if groups else of_all).append(row)
    told = [name.text for name in names]
    if len({*told}) < max(FEWEST, len(told)) or not all(groups):
        return None
    metrics = [[plain(row.cells[0].text) for row in (*of_all, *group)] for group in groups]
    every = list(dict.fromkeys(label for group in metrics for label in group))
    models = all(map(model_named, told))
    again = len(every) - len(of_all) < sum(map(len, groups))
    if any(len({*group}) < len(group) for group in metrics) or not all(every):
        return None
    if not (models or again) or len(groups) * len(every) * grid.width > MOST_PLACES:
        return None
    first = grid.heads[0].cells[0]
    corner = first._replace(text="Model" if models else "Run")
    head = replace(grid.heads[0], cells=(corner, *grid.heads[0].cells))
    named = [
        [replace(row, cells=(name, *row.cells)) for row in (*of_all, *group)]
        for name, group in zip(names, groups, strict=True)
    ]
    return _one_for_each(replace(grid, heads=(head,)), named, metrics, every, of_all=len(of_all))


def _named_in(group: Sequence[GridRow]) -> str:
    """The one name that stands in the first cells of some rows; empty where there is none."""
    return next((row.cells[0].text for row in group if row.cells[0].text), "")


def _with_counts_over(grid: Grid, rows: list[GridRow]) -> tuple[Grid, list[GridRow]]:
    """A grid and its rows, the first of whole numbers alone taken into its header, where that has
    one label over all of them: `#Nodes` over `1`, `2`, `4`."""
    first, upper = rows[0].cells, grid.heads[0].cells
    names = list({plain(cell.text) for cell in upper[2:] if cell.text})
    counted = all(plain(cell.text).isdecimal() for cell in first[2:])
    if len(grid.heads) > 1 or len(names) != 1 or not counted or first[0].text or first[1].text:
        return grid, rows
    over = replace(
        grid.heads[0], cells=(*upper[:2], *(c._replace(text=names[0]) for c in upper[2:]))
    )
    return replace(grid, heads=(over, rows[0]), rows=grid.rows[1:]), rows[1:]


def _one_for_each(
    grid: Grid,
    groups: Sequence[Sequence[GridRow]],
    metrics: Sequence[Sequence[str]],
    every: Sequence[str],
    of_all: int = 0,
) -> Grid:
    """A row for each group of rows and each column right of the second, a column a metric; the
    first rows of each group that are `of_all` stand elsewhere than it."""
    low, line = grid.heads[-1].cells, grid.heads[-1].line
    shared = {plain(cell.text) for cell in grid.heads[0].cells[2:]} if len(grid.heads) > 1 else {""}
    axis = shared.pop() if len(shared) == 1 else ""
    labels = grid.header() if not axis else [cell.text for cell in low]
    head = (low[0], low[1]._replace(text=axis), *(low[1]._replace(text=name) for name in every))
    found = []
    for group, held in zip(groups, metrics, strict=True):
        for at in range(2, grid.width):
            own = dict(zip(held, (row.cells[at] for row in group), strict=True))
            first = group[of_all].cells[at]
            place = line._replace(number=first.line, column=first.column)
            values = (own.get(name, first._replace(text="")) for name in every)
            name = next((row.cells[0] for row in group if row.cells[0].text), group[0].cells[0])
            cells = (name, low[at]._replace(text=labels[at]), *values)
            found.append(GridRow(place, cells))
    return replace(grid, heads=(GridRow(line, head),), rows=tuple(found), labels=(), closed=False)
