"""Pairs of the rows of long inputs that are not held in memory, for the figures that count them.

In: the pairs of one scope, quantity, model and origin, of rows that are held. Out: the same with a
pair for each row that they stand for. Rows that differ in measurements alone have one prediction;
where a model predicts them otherwise, nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.numbers.printed import interval
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.reading import Long, Reading
from assay.validate.cases.steps import warming

Lines = npt.NDArray[np.uint32]

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
    if not reading.long:
        return held
    # of millions of rows names are held as numbers
    names = pl.Enum(sorted({*held["source"], *held["group"]}))
    held = held.with_columns(pl.col("source", "group").cast(names))
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
    held: pl.DataFrame, long: Long, spec: FieldSpec, warm: Mapping[str, Lines]
) -> Iterator[pl.DataFrame]:
    """The pairs of one long input whose rows are not held."""
    mine = held.filter(
        pl.col("source") == long.source, pl.col("line").is_in(long.kept["line"].implode())
    )
    if mine.is_empty():
        return
    names = ["line", spec.name, *([f"{spec.name}_ulp"] if spec.has_ulp else [])]
    every = long.rows(names)
    lines = every["line"].to_numpy()
    alike = long.alike[np.searchsorted(lines, mine["line"].to_numpy())]
    predicted = np.full(int(long.alike.max()) + 1, np.nan)
    predicted[alike] = mine["predicted"].to_numpy()
    if not np.allclose(predicted[alike], mine["predicted"].to_numpy(), rtol=SAME, atol=0.0):
        return
    rest = ~np.isin(lines, long.kept["line"].to_numpy())
    rest &= ~np.isin(lines, warm.get(long.source, lines[:0])) & np.isfinite(predicted)[long.alike]
    value = pl.col(spec.name).cast(pl.Float64)
    rest &= every.select((value != 0).fill_null(value=False)).to_series().to_numpy()
    rows = every.filter(rest)
    ulp = pl.col(f"{spec.name}_ulp") if spec.has_ulp else pl.lit(0.0)
    low, high = interval(value, ulp, spec.kind)
    told = pl.Series("predicted", predicted[long.alike[rest]])
    del every, rest
    rows = rows.select("line", value=value, low=low, high=high).with_columns(told)
    exact = pl.col("predicted") == pl.col("value")
    error = pl.when(exact).then(0.0).otherwise(pl.col("predicted") / pl.col("value") - 1.0)
    yield rows.with_columns(
        error=error, source=pl.lit(long.source, held.schema["source"]),
        group=pl.lit(mine["group"][0], held.schema["group"]),
    ).select(COLUMNS)  # fmt: skip
