"""Values that the caller states, bound to rows that were read before: those of an ingested folder.

In: a reading, and configuration values from outside. Out: the reading as it would be, had its
inputs been read with these values stated (see `assay.ingest.binding.binder`, the last of its
six places).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl
from assay.ingest.schema.acceptance import PROVENANCE, check, provenance, raw_frame
from assay.ingest.schema.decoding import decode, expected
from assay.ingest.schema.fields import fields
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Cell, Record, Schema
from assay.ingest.statements.row_words import SAME_FACT

_ROW = ["source", "line", "column"]


def restated(reading: Reading, stated: Mapping[str, Cell]) -> Reading:
    """The reading with `stated` bound to the rows that lack a value.

    A value that a side file stated before gives way, as it does when the input itself is read.
    Raises ValueError where a value does not fit its column.
    """
    frames, origin = dict(reading.frames), reading.provenance
    for fmt in reading.formats:
        for name, schema in fmt.schemas.items() if fmt.binds else ():
            for field, cell in stated.items():
                if name in frames and field in fields(schema):
                    frames[name], origin = _bound(frames[name], origin, name, schema, field, cell)
    by = ["source", "line", "frame", "field", "column"]
    return replace(reading, frames=frames, provenance=origin.sort(by, maintain_order=True))


def _bound(
    frame: pl.DataFrame,
    origin: pl.DataFrame,
    name: str,
    schema: Schema,
    field: str,
    cell: Cell,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One frame and the provenance of all, with one value bound."""
    said = origin.filter(pl.col("frame") == name)
    given = (pl.col("value_origin") == "assumed") & pl.col("from_line").is_null()
    mine = pl.col("field") == field
    outside = said.filter(mine & given).select(_ROW)
    held = said.filter(mine & ~given & (pl.col("state") != "missing")).select(_ROW)
    lacks = frame[field].is_null() & ~_among(frame, held) | _among(frame, outside)
    for other in SAME_FACT.get(field, ()):
        lacks &= ~_printed(frame, said.filter(pl.col("field") == other), other)
    if not lacks.any():
        return frame, origin
    values, record = typed(field, cell, schema), Record(0, {field: cell})
    frame = frame.with_columns(
        pl.when(lacks).then(pl.lit(value, frame.schema[column])).otherwise(column).alias(column)
        for column, value in values.items()
    )
    rows = frame.filter(lacks).select(_ROW)
    gone = rows.unique().with_columns(frame=pl.lit(name), field=pl.lit(field))
    kept = origin.join(gone, on=gone.columns, how="anti", maintain_order="left")
    of_one = provenance(name, [("", record)], schema).drop(_ROW)
    new = rows.join(of_one, how="cross").select(list(PROVENANCE))
    return frame, pl.concat([kept, new])


def _printed(frame: pl.DataFrame, said: pl.DataFrame, field: str) -> pl.Series:
    """Whether each row prints a field itself, be it as a number or as a word; `said` of it."""
    bound = pl.col("value_origin").is_in(["stated", "assumed"])
    words = said.filter(~bound & ~pl.col("state").is_in(["value", "missing"])).select(_ROW)
    number = frame[field].is_not_null() & ~_among(frame, said.filter(bound).select(_ROW))
    return number | _among(frame, words)


def _among(frame: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Whether each row of the frame is one of these."""
    there = rows.unique().with_columns(there=pl.lit(value=True))
    joined = frame.select(_ROW).join(there, on=_ROW, how="left", maintain_order="left")
    return joined["there"].fill_null(value=False)


def typed(field: str, cell: Cell, schema: Schema) -> dict[str, object]:
    """A stated value as its column holds it, with the columns beside it.

    Raises ValueError where it does not fit.
    """
    decoded = decode(raw_frame([""], [Record(0, {field: cell})], schema), schema)
    spec = fields(schema)[field]
    if decoded.faults.height or not check(decoded.frame, schema, [field]):
        wanted = expected(spec, cell.text)
        raise ValueError(f"{field} was stated as {cell.text!r}, expected {wanted}")
    names = [field, f"{field}_ulp"] if spec.has_ulp else [field]
    return {name: decoded.frame[name][0] for name in names}
