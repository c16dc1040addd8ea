"""Pairs of the rows of long inputs that are not held in memory, for the figures that count them.

In: the pairs of one scope, quantity, model and origin, of rows that are held. Out: the same with a
pair for each row that they stand for. Rows that differ in measurements alone have one prediction;
where a model predicts them otherwise, nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from assay.ingest.numbers.printed import interval
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.reading import Long, Reading
from assay.validate.cases.steps import warming

COLUMNS = ("group", "source", "line", "value", "low", "high", "predicted", "error")
"""Columns of pairs that figures are made of."""

SAME = 1e-12
"""Relative differences of predictions that are those of our own doubles."""


def every_row(
    part: pl.DataFrame, quantity: str, reading: Reading, *, settled: bool
) -> pl.DataFrame:
    """`part` with the pairs that its rows of long inputs stand for, in the columns `COLUMNS`.

    Steps that have not settled count unless only those that have, `settled`, are asked for.
    """
    groups = part if "group" in part.columns else part.with_columns(group="source")
    held = groups.select(COLUMNS)
    known = {name: s for fmt in reading.formats for name, s in fmt.schemas.items()}
    more = [
        found
        for long in reading.long
        for spec in [_field(quantity, fields(known[long.frame]))]
        if spec is not None
        for found in _others(held, long, spec, warming(reading) if settled else {})
    ]
    return pl.concat([held, *more]) if more else held


def _field(quantity: str, specs: Mapping[str, FieldSpec]) -> FieldSpec | None:
    """The one column that holds a quantity."""
    found = [spec for spec in specs.values() if spec.quantity == quantity]
    return found[0] if len(found) == 1 else None


def _others(
    held: pl.DataFrame, long: Long, spec: FieldSpec, warm: Mapping[str, np.ndarray]
) -> Iterator[pl.DataFrame]:
    """The pairs of one long input whose rows are not held."""
    mine = held.filter(pl.col("source") == long.source, pl.col("line").is_in(long.kept["line"]))
    if mine.is_empty():
        return
    names = ["line", "mark", spec.name, *([f"{spec.name}_ulp"] if spec.has_ulp else [])]
    every = long.rows(names)
    lines = every["line"].to_numpy()
    at = np.searchsorted(lines, mine["line"].to_numpy())
    told = mine.with_columns(alike=pl.Series(long.alike[at])).group_by("alike").agg(
        pl.col("predicted", "group").first(),
        low=pl.col("predicted").min(), high=pl.col("predicted").max(),
    )  # fmt: skip
    if told.filter(pl.col("high") - pl.col("low") > SAME * pl.col("high").abs()).height:
        return
    rest = ~np.isin(lines, long.kept["line"].to_numpy())
    rest &= ~np.isin(lines, warm.get(long.source, np.empty(0, dtype=lines.dtype)))
    value = pl.col(spec.name).cast(pl.Float64)
    ulp = pl.col(f"{spec.name}_ulp") if spec.has_ulp else pl.lit(0.0)
    low, high = interval(value, ulp, spec.kind)
    rows = every.with_columns(alike=pl.Series(long.alike)).filter(
        pl.Series(rest), pl.col("mark").ne_missing("superseded"), value.is_not_null(), value != 0
    )
    rows = rows.select("line", "alike", value=value, low=low, high=high)
    rows = rows.join(told.select("alike", "predicted", "group"), on="alike", maintain_order="left")
    exact = pl.col("predicted") == pl.col("value")
    error = pl.when(exact).then(0.0).otherwise(pl.col("predicted") / pl.col("value") - 1.0)
    yield rows.with_columns(source=pl.lit(long.source), error=error).select(
        pl.col(name).cast(held.schema[name]) for name in COLUMNS
    )
