"""Columns of one value, or of none: what costs by the row is done once for them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl


def alike(frame: pl.DataFrame) -> list[str]:
    """The columns in which all values are one, bit for bit, as far as that is quickly told.

    What was made of one value is not spread out for it. Of lists those are told that are empty.
    """
    missing = frame.null_count().row(0)
    ends = zip(frame.columns, missing, frame.row(0), frame.row(-1), strict=True)
    maybe = {name: first for name, n, first, last in ends if not n and first == last}
    lists = [name for name, value in maybe.items() if isinstance(value, list)]
    others = [name for name in maybe if name not in lists]
    counts = frame.select(
        pl.col(others).n_unique(), *(pl.col(name).list.len().max() + 1 for name in lists)
    )
    one = [name for name in counts.columns if counts.item(0, name) == 1]
    # zeros of both signs are one to polars
    zeros = [name for name in one if isinstance(maybe[name], float) and not maybe[name]]
    return [name for name in one if name not in zeros or not _signs(frame[name])]


def _signs(zeros: pl.Series) -> bool:
    """Whether zeros differ in their signs."""
    signs = np.signbit(zeros.to_numpy())
    return bool((signs != signs[0]).any())


def widened(frame: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The frame with all these columns, in their order; what it lacks is unknown."""
    lacking = types.keys() - set(frame.columns)
    unknown = (pl.lit(None, dtype=types[name]).alias(name) for name in lacking)
    return frame.with_columns(unknown).select(list(types))
