"""Configuration bound to rows that were read column by column.

In: accepted rows, and the statements of their document. Out: runs of rows with what is bound to
them, its provenance, and what statements say otherwise. Rows between two statements that print the
same columns are bound alike, so the binder is asked once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.binding.binder import Binder
from assay.ingest.lines.rows import BoundRows, Rows, overlapping
from assay.ingest.schema.acceptance import PROVENANCE, check, provenance, raw_frame
from assay.ingest.schema.decoding import decode
from assay.ingest.schema.fields import fields
from assay.ingest.schema.reading import Overridden
from assay.ingest.schema.record import Cell, Record, Schema, Span
from assay.ingest.statements.context import Context

MOST_RUNS = 5_000
"""Runs of rows bound alike; where statements stand between all rows, columns gain nothing."""

FEW_RUNS, FEW_ROWS = 32, 16
"""Runs beyond which each must have so many rows on average, or columns cost more than lines."""


class UnlikeError(Exception):
    """Rows that are not bound alike, or a bound value that does not fit: the fold reads them."""


def bind_rows(rows: Sequence[Rows], context: Context, schema: Schema) -> list[BoundRows]:
    """The rows in runs, parted where what is bound to them changes.

    Raises UnlikeError where a bound value does not fit its column, or runs are too many.
    """
    binder = Binder(context)
    edges = np.array(binder.edges, dtype=np.uint32)
    runs = [run for each in rows for run in _runs(each, edges)]
    height = sum(each.height for each in rows)
    short = len(runs) > FEW_RUNS + len(rows) and height < FEW_ROWS * len(runs)
    if short or len(runs) > MOST_RUNS + len(rows):
        raise UnlikeError
    said, bound = [], []
    for run in sorted(runs, key=lambda run: run.first):
        said.append((run, dict(binder.nearest(run.first))))
        own = {name: Cell("", run.first) for name in run.rows.layout.fields}
        bound.append(binder.bound(run.first, own))
        binder.use(bound[-1].values())
    return [
        BoundRows(run.rows, run.begin, run.height, run.first, cells, values, told)
        for (run, told), cells, values in zip(said, bound, _values(bound, schema), strict=True)
    ]


def _runs(rows: Rows, edges: npt.NDArray[np.uint32]) -> Iterator[BoundRows]:
    if not len(edges) or edges[-1] < rows.first:
        yield unbound(rows)
        return
    lines = rows.lines.to_numpy()
    ends = np.unique([0, *np.searchsorted(lines, edges, side="left"), rows.height])
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        yield BoundRows(rows, begin, end - begin, int(lines[begin]))


def unbound(rows: Rows) -> BoundRows:
    """All of these rows, to which nothing is bound."""
    return BoundRows(rows, 0, rows.height, rows.first)


def _values(
    bound: Sequence[Mapping[str, Cell]], schema: Schema
) -> Iterator[Mapping[str, pl.Series]]:
    """The bound values of each run by column: decoded once, those of the same columns together.

    Raises UnlikeError where a value does not fit its column.
    """
    alike: dict[frozenset[tuple[str, bool]], dict[frozenset[tuple[str, Cell]], int]] = {}
    places = []
    for cells in bound:  # runs end with blocks, what is bound does not
        names = frozenset((name, cell.scale != 1) for name, cell in cells.items())
        group = alike.setdefault(names, {})
        places.append((names, group.setdefault(frozenset(cells.items()), len(group))))
    decoded = {names: _decoded([*map(dict, group)], schema) for names, group in alike.items()}
    return (decoded[names][at] for names, at in places)


def _decoded(
    bound: Sequence[Mapping[str, Cell]], schema: Schema
) -> Sequence[Mapping[str, pl.Series]]:
    """The values of cells that are bound to the same columns, typed."""
    if not bound[0]:
        return [{}]
    records = [Record(0, dict(cells)) for cells in bound]
    decoded = decode(raw_frame([""] * len(records), records, schema), schema)
    specs = fields(schema)
    names = [name for name in bound[0] if name in specs]
    of_rows = schema.to_schema().checks  # a check of whole rows might fail for each of them
    if of_rows or decoded.faults.height or not check(decoded.frame, schema, names):
        raise UnlikeError
    names += [f"{name}_ulp" for name in names if specs[name].has_ulp]
    columns = [(name, decoded.frame[name]) for name in names]
    return [{name: values[at : at + 1] for name, values in columns} for at in range(len(bound))]


def bound_provenance(
    source: str, name: str, runs: Sequence[BoundRows], others: pl.Series, schema: Schema
) -> pl.DataFrame:
    """Where the bound values of rows come from: an entry for all rows that follow each other.

    `others` are the lines of the frame's other rows, of which nothing is said here.
    """
    alike = list(_alike(runs, others.sort().to_numpy()))
    if not alike:
        return pl.DataFrame(schema=PROVENANCE)
    # in line 0, where nothing stands, and numbered by column
    each = [(source, Record(0, dict(bound), at)) for at, (bound, _) in enumerate(alike)]
    said = provenance(name, each, schema).with_columns(_at="column").drop(list(_PLACE))
    places = [(at, *place) for at, (_, places) in enumerate(alike) for place in places]
    rows = pl.DataFrame(places, schema={"_at": pl.UInt32} | _PLACE, orient="row")
    said = said.sort("_at", "field", maintain_order=True)
    return rows.join(said, on="_at", maintain_order="left_right").select(list(PROVENANCE))


_PLACE = {"line": pl.UInt32, "column": pl.UInt32, "last_line": pl.UInt32}

Place = tuple[int, int | None, int | None]
"""First line, none, last line of rows; or line and column of a row that shares its line."""

Lines = npt.NDArray[np.uint32]


def _alike(
    runs: Sequence[BoundRows], others: Lines
) -> Iterator[tuple[Mapping[str, Cell], list[Place]]]:
    """Cells bound to rows, with the places of these; blocks that follow each other are one."""
    bound: Mapping[str, Cell] = {}
    first, last = 0, 0
    for group in overlapping(runs):
        begin, end = group[0].first, max(run.last for run in group)
        alone = len(group) == 1 and not _between(others, begin, end)
        if alone and group[0].bound == bound and last and not _between(others, last, begin):
            last = end
            continue
        if last and bound:
            yield bound, [(first, None, last)]
        bound, first, last = (group[0].bound, begin, end) if alone else ({}, 0, 0)
        if not alone:
            yield from ((run.bound, _places(run, group, others)) for run in group if run.bound)
    if last and bound:
        yield bound, [(first, None, last)]


def _between(lines: Lines, first: int, last: int) -> bool:
    """Whether one of the lines, which are in order, lies between these two or is one of them."""
    return bool(np.searchsorted(lines, first) < np.searchsorted(lines, last, side="right"))


def _places(run: BoundRows, group: Sequence[BoundRows], others: Lines) -> list[Place]:
    """Places of the rows of one run between those of its group and `others`."""
    rows = run.rows.some(["line", "column"]).slice(run.begin, run.height)
    lines = rows["line"].to_numpy()
    foreign = [_lines(each) for each in group if each is not run]
    between = np.unique(np.concatenate([others, *foreign]))
    shared = np.isin(lines, between)
    part = np.searchsorted(between, lines[~shared])
    ends = np.flatnonzero(np.diff(part, prepend=-1, append=-1))
    free = lines[~shared].tolist()
    found: list[Place] = [(free[a], None, free[b - 1]) for a, b in pairwise(ends.tolist())]
    return found + [(line, column, None) for line, column in rows.filter(shared).iter_rows()]


def _lines(run: BoundRows) -> Lines:
    lines: Lines = run.rows.lines.slice(run.begin, run.height).to_numpy()
    return lines


def contradicted(
    source: str, name: str, runs: Sequence[BoundRows], schema: Schema
) -> Iterator[Overridden]:
    """Rows that print something else than the nearest statement above them says."""
    specs = fields(schema)
    for run in runs:
        printed = set(run.said) & set(run.rows.layout.fields)
        frame = run.rows.frame(run.begin, run.height) if printed else pl.DataFrame()
        for field, cell in run.said.items():
            if field not in printed or cell.state != "value" or not specs[field].numeric:
                continue  # words are no matter here
            try:
                value = float(cell.text) * cell.scale
            except ValueError:
                continue
            for line in frame.filter(pl.col(field).cast(pl.Float64) != value)["line"]:
                at = Span(source, cell.line, cell.column)
                yield Overridden(source, line, name, field, value, at)
