"""Configuration bound to rows that were read column by column.

In: accepted rows, and the statements of their document. Out: the rows with what is bound to them in
its columns, its provenance, and what statements say otherwise. Rows between two statements that
print the same columns are bound alike, so the binder is asked once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.accept import BASE_TYPES, PROVENANCE, check, provenance, raw_frame
from assay.ingest.binding import Binder
from assay.ingest.columnwise import Rows
from assay.ingest.context import Context
from assay.ingest.decode import decode
from assay.ingest.schema import fields
from assay.ingest.types import Cell, Overridden, Record, Schema, Span


class BoundRows(NamedTuple):
    """Rows that are bound alike, and the cells bound to each of them."""

    frame: pl.DataFrame
    bound: dict[str, Cell]
    said: dict[str, Cell]  # by the nearest statement above, also what the rows print themselves


class UnfitValueError(Exception):
    """A bound value that its column does not take: the rows are refused, one by one."""


def bind_rows(rows: Sequence[Rows], context: Context, schema: Schema) -> list[BoundRows]:
    """The rows, parted where what is bound to them changes, with their columns filled.

    Raises UnfitValueError where a bound value does not fit its column.
    """
    binder = Binder(context)
    edges = np.array(binder.edges, dtype=np.uint32)
    parts = [
        (int(part["line"][0]), each.layout.fields, part)
        for each in rows
        for part in _parted(each.frame, edges)
    ]
    found = []
    for line, printed, part in sorted(parts, key=lambda each: each[0]):
        own = {name: Cell("", line) for name in printed}
        said = dict(binder.nearest(line))
        bound = binder.bound(line, own)
        binder.use(bound.values())
        found.append(BoundRows(_filled(part, bound, schema), bound, said))
    return found


def _parted(frame: pl.DataFrame, edges: npt.NDArray[np.uint32]) -> Iterator[pl.DataFrame]:
    cuts = np.searchsorted(frame["line"].to_numpy(), edges, side="left")
    ends = np.unique([0, *cuts, frame.height])
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        yield frame.slice(begin, end - begin)


def _filled(frame: pl.DataFrame, bound: dict[str, Cell], schema: Schema) -> pl.DataFrame:
    """The frame with the bound values in their columns, each decoded once."""
    if not bound:
        return frame
    one = Record(0, dict(bound))
    decoded = decode(raw_frame("", [one], schema), schema)
    specs = fields(schema)
    names = [name for name in bound if name in specs]
    of_rows = schema.to_schema().checks  # a check of whole rows might fail for each of them
    if of_rows or decoded.faults.height or not check(decoded.frame, schema, names):
        raise UnfitValueError
    names += [f"{name}_ulp" for name in names if specs[name].has_ulp]
    row = decoded.frame.select(names)
    return frame.with_columns(pl.lit(row[name]).first().alias(name) for name in names)


def full(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """The frame with every column of the schema, in order; those it lacks are unknown."""
    types = dict(BASE_TYPES)
    for spec in fields(schema).values():
        types[spec.name] = spec.dtype
        if spec.has_ulp:
            types[f"{spec.name}_ulp"] = pl.Float64()
    return frame.select(
        pl.col(name) if name in frame.columns else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in types.items()
    )


def bound_provenance(
    source: str, name: str, rows: Sequence[BoundRows], schema: Schema
) -> pl.DataFrame:
    """Where the bound values of every row come from."""
    found = [pl.DataFrame(schema=PROVENANCE)]
    for each in rows:
        of_one = provenance(source, name, [Record(0, each.bound)], schema).drop("line")
        lines = each.frame.select("line")
        found.append(lines.join(of_one, how="cross").select(list(PROVENANCE)))
    return pl.concat(found)


def contradicted(
    source: str, name: str, rows: Sequence[BoundRows], schema: Schema
) -> Iterator[Overridden]:
    """Rows that print something else than the nearest statement above them says."""
    specs = fields(schema)
    for each in rows:
        for field, cell in each.said.items():
            if field in each.bound or field not in specs or cell.state != "value":
                continue
            if not specs[field].numeric or field not in each.frame.columns:
                continue  # words are no matter here
            try:
                value = float(cell.text) * cell.scale
            except ValueError:
                continue
            other = each.frame.filter(pl.col(field).cast(pl.Float64) != value)
            for line in other["line"]:
                at = Span(source, cell.line, cell.column)
                yield Overridden(source, line, name, field, value, at)
