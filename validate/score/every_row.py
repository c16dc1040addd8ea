"""Pairs of the rows of long inputs that are not held in memory, for the figures that count them.

In: the pairs of one scope, quantity, model and origin, of rows that are held. Out: the same, and a
pair for all other rows that print the same number and have the same prediction, with how many they
are. Rows that differ in measurements alone have one prediction; where a model predicts them
otherwise, nothing is added.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.numbers.printed import interval
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.reading import Long, Reading
from assay.validate.cases.steps import warming

Lines = npt.NDArray[np.uint32]

COLUMNS = ("group", "source", "line", "value", "low", "high", "predicted", "error")
"""Columns of pairs that figures are made of, beside `rows`: how many rows are such a pair."""

SAME = 1e-12
"""Relative differences of predictions that are those of our own doubles."""

TWICE = 2
"""Counts are put together once they are so many times what they were."""


def every_row(
    part: pl.DataFrame, quantity: str, reading: Reading, *, settled: bool
) -> pl.DataFrame:
    """`part` with the pairs that its rows of long inputs stand for: `COLUMNS`, and `rows`.

    The line of several rows is that of the first. Steps that have not settled count unless only
    those that have, `settled`, are asked for.
    """
    groups = part if "group" in part.columns else part.with_columns(group="source")
    held = groups.select(*COLUMNS, rows=pl.lit(1.0))
    known = {name: s for fmt in reading.formats for name, s in fmt.schemas.items()}
    more = []
    for long in reading.long:
        spec = _field(quantity, fields(known[long.frame]))
        if spec is not None:
            warm = warming(reading).get(long.source) if settled else None
            more.append(_others(held, long, spec, warm))
    return pl.concat([held, *(each for each in more if each is not None)])


def _field(quantity: str, specs: Mapping[str, FieldSpec]) -> FieldSpec | None:
    """The one column that holds a quantity."""
    found = [spec for spec in specs.values() if spec.quantity == quantity]
    return found[0] if len(found) == 1 else None


def _others(
    held: pl.DataFrame, long: Long, spec: FieldSpec, warm: Lines | None
) -> pl.DataFrame | None:
    """The pairs of one long input whose rows are not held."""
    mine = held.filter(pl.col("source") == long.source).join(
        long.kept.unique("line", keep="first").select("line", "at"),
        on="line",
        maintain_order="left",
    )
    if mine.is_empty():
        return None
    alike = long.alike[mine["at"].to_numpy()]
    predicted = np.full(int(long.alike.max()) + 1, np.nan)
    predicted[alike] = mine["predicted"].to_numpy()
    if not np.allclose(predicted[alike], mine["predicted"].to_numpy(), rtol=SAME, atol=0.0):
        return None
    counts = _counts(long, spec, predicted, warm)
    value = pl.col(spec.name).cast(pl.Float64)
    ulp = pl.col(f"{spec.name}_ulp") if spec.has_ulp else pl.lit(0.0)
    low, high = interval(value, ulp, spec.kind)
    exact = pl.col("predicted") == value
    error = pl.when(exact).then(0.0).otherwise(pl.col("predicted") / value - 1.0)
    return counts.select(
        "line", "predicted", value=value, low=low, high=high, error=error,
        rows=pl.col("rows").cast(pl.Float64), source=pl.lit(long.source),
        group=pl.lit(mine["group"][0]),
    ).select(held.columns)  # fmt: skip


def _counts(
    long: Long, spec: FieldSpec, predicted: npt.NDArray[np.float64], warm: Lines | None
) -> pl.DataFrame:
    """How many rows that are not held print each number, by what is predicted for them."""
    printed = [spec.name, *([f"{spec.name}_ulp"] if spec.has_ulp else [])]
    key = [*printed, "predicted"]
    more = (pl.col("rows").sum(), pl.col("line").min())
    kept = long.kept["at"].to_numpy()
    found: list[pl.DataFrame] = []
    size = 0  # of what was put together last
    for begin, part in long.portions(["line", *printed]):
        of = predicted[long.alike[begin : begin + part.height]]
        rest = np.isfinite(of)
        here = kept[(kept >= begin) & (kept < begin + part.height)] - begin
        rest[here] = False
        if warm is not None and len(warm):
            rest &= ~np.isin(part["line"].to_numpy(), warm)
        rows = part.with_columns(predicted=pl.Series(of), rows=pl.lit(1, pl.UInt32))
        wanted = pl.Series(rest) & (part[spec.name] != 0).fill_null(value=False)
        found.append(rows.filter(wanted).group_by(key).agg(more))
        if sum(each.height for each in found) > TWICE * size:
            found = [pl.concat(found).group_by(key).agg(more)]
            size = found[0].height
    return pl.concat(found).group_by(key).agg(more).sort("line")
