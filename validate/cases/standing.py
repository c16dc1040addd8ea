"""Rows of long inputs that stand for others, which are not held in memory (`Reading.long`).

Everything that counts rows asks here for how many each case stands: one, but for those.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from assay.ingest.schema.reading import Reading
from assay.validate.cases.memo import once
from assay.validate.cases.observe import case_of

STANDS: dict[str, pl.DataType] = {"case": pl.String(), "stands": pl.Float64()}
"""A case, and for how many rows of its input it stands."""


@once
def standing(reading: Reading) -> pl.DataFrame:
    """The cases that stand for more rows than their own; see `STANDS`."""
    parts = [pl.DataFrame(schema=STANDS)]
    for each in reading.long:
        frame = reading.frames[each.frame].filter(pl.col("source") == each.source)
        known = frame.select("line", "column", case=case_of())
        found = known.join(each.kept, on=["line", "column"], maintain_order="left")
        parts.append(found.select("case", stands=pl.col("rows").cast(pl.Float64)))
    return pl.concat(parts).unique("case", keep="first", maintain_order=True)


def weighed(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """`frame`, which has a column `case`, with `stands`: for how many rows each case stands."""
    if not reading.long:
        return frame.with_columns(stands=pl.lit(1.0))
    joined = frame.join(standing(reading), on="case", how="left", maintain_order="left")
    return joined.with_columns(pl.col("stands").fill_null(1.0))


def median(frame: pl.DataFrame, name: str) -> float | None:
    """The median of a column of a `weighed` frame over the rows that its cases stand for."""
    held = frame.select(name, "stands").drop_nulls().sort(name)
    if held.is_empty():
        return None
    upto = held["stands"].cum_sum().to_numpy()
    count = round(float(upto[-1]))
    at = np.searchsorted(upto - 0.5, [(count - 1) // 2, count // 2], side="right")
    first, second = held[name].gather(np.minimum(at, held.height - 1).tolist()).to_list()
    return float(first + second) / 2


def medians(frame: pl.DataFrame, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """The `median` of columns of a `weighed` frame for all that is alike in `by`, in order."""
    found = frame.select(by).unique(maintain_order=True)
    for name in names:
        held = frame.select(*by, name, "stands").drop_nulls().sort(name)
        upto, count = pl.col("stands").cum_sum().over(by) - 0.5, pl.col("stands").sum().round()
        value = pl.col(name)
        ends = [
            pl.coalesce(value.filter(pl.col("upto") > place).first(), value.last())
            for place in ((count - 1) // 2, count // 2)
        ]
        middle = ((ends[0] + ends[1]) / 2).alias(name)
        each = held.with_columns(upto=upto).group_by(by, maintain_order=True).agg(middle)
        found = found.join(each, on=by, how="left", maintain_order="left")
    return found


def rows(of: pl.Expr | None = None) -> pl.Expr:
    """How many rows the cases of a `weighed` frame stand for; `of` says which of them count."""
    stands = pl.col("stands") if of is None else pl.col("stands").filter(of)
    return stands.sum().round().cast(pl.Int64)
