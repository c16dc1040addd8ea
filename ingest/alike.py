"""Columns of one value, or of none: what costs by the row is done once for them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

import polars as pl

SEVERAL: Final = object()
"""Said of a column of more than one value, or of which that is not quickly told."""


def only(series: pl.Series) -> Hashable:
    """What stands for the one value of a series, None where all are missing; else `SEVERAL`.

    Of a number, its bits: neither NaN nor the sign of zero is lost. A text stands for itself,
    and so does a list of nothing.
    """
    if series.null_count() == len(series):
        return None
    if series.null_count():
        return SEVERAL
    if series.dtype.is_numeric():
        values = series.to_numpy()
        bits = values.view(f"u{values.itemsize}")
        # most columns of several values are known from two
        same = bits[0] == bits[-1] and bool((bits == bits[0]).all())
        return int(bits[0]) if same else SEVERAL
    if series.dtype == pl.String:
        value = str(series[0])
        return value if series[-1] == value and bool((series == value).all()) else SEVERAL
    if series.dtype == pl.List and not series.list.len().sum():
        return ()
    return SEVERAL


def widened(frame: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The frame with all these columns, in their order; what it lacks is unknown."""
    lacking = types.keys() - set(frame.columns)
    unknown = (pl.lit(None, dtype=types[name]).alias(name) for name in lacking)
    return frame.with_columns(unknown).select(list(types))
