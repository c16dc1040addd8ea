"""Records of runs as one polars frame, and as Parquet: a row a run."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_of
from typing import Any

import polars as pl
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.validate.runs.run_record import Record

_NAMED = pl.List(pl.Struct({"name": pl.String, "value": pl.Float64}))

_KINDS: Mapping[str, pl.DataType] = {
    "str": pl.String(), "str | None": pl.String(), "int": pl.Int64(), "int | None": pl.Int64(),
    "float | None": pl.Float64(), "bool | None": pl.Boolean(), "Mapping[str, float]": _NAMED,
    "Sequence[Measured]": _NAMED, "Sequence[str]": pl.List(pl.String),
    "Mapping[str, Any]": pl.Struct(
        {name: spec.dtype for name, spec in fields(Configuration).items() if spec.configuration}
    ),
}  # fmt: skip
"""Type of a field of a record → that of its column."""

SCHEMA: Mapping[str, pl.DataType] = {
    **{one.name: _KINDS[str(one.type)] for one in fields_of(Record)}, "error": pl.Float64(),
}  # fmt: skip
"""Columns: the fields of a record, and the error of its prediction. SI units; ratios as fractions.

Figures by name (`rates_printed`, `parts_predicted`, `parts_measured`) are lists of name and value.
"""


def frame(records: Sequence[Record]) -> pl.DataFrame:
    """One row per run, columns as in `SCHEMA`."""
    rows = [{name: _cell(getattr(run, name), kind) for name, kind in SCHEMA.items()}
            for run in records]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def parquet(records: Sequence[Record]) -> bytes:
    """The same as a Parquet file."""
    out = io.BytesIO()
    frame(records).write_parquet(out)
    return out.getvalue()


def _cell(value: Any, kind: pl.DataType) -> Any:
    if kind == _NAMED:
        pairs = value.items() if isinstance(value, Mapping) else value
        return [{"name": name, "value": seconds} for name, seconds in pairs]
    return list(value) if isinstance(value, tuple) else value
