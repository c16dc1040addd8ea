"""Memory of one run: the fullest rank that reports, and how far the memory model is from each.

Megatron reports every rank; DeepSpeed's throughput and memory lines the rank that prints them.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl
from assay.validate import memory_forecast
from assay.validate.metric import Metric

FRAMES = ("megatron_memory", "deepspeed_throughput", "deepspeed_memory")
"""Frames with maxima of a rank; the first that a run has is believed."""


class Remembered(NamedTuple):
    """Printed against predicted maxima of the ranks of a run; bytes, errors as fractions."""

    ranks: int
    mape: float
    fullest: float  # printed
    predicted: float  # of that rank


def metrics(rows: pl.DataFrame) -> list[Metric]:
    """The peak of the fullest rank, and how many ranks tell of theirs."""
    found = []
    for column in ("max_allocated", "max_reserved"):
        if column not in rows.columns:
            continue
        worst = rows.drop_nulls(column).sort(column, descending=True)
        if worst.is_empty():
            continue
        rank = worst["rank"][0]
        ranks = rows["rank"].n_unique()
        where = f"rank {rank}, the fullest of {ranks}" if rank is not None else "the rank that says"
        found.append(Metric(f"memory_{column}", worst[column][0], "B", where))
    return found


def remembered(pairs: pl.DataFrame | None, cases: pl.Series) -> Remembered | None:
    """What the memory model says of the reports `cases`; None where it says nothing."""
    if pairs is None:
        return None
    own = pairs.filter(
        pl.col("model") == memory_forecast.NAME,
        pl.col("quantity") == "memory",
        pl.col("case").is_in(cases.implode()),
    ).drop_nulls("error")
    if own.is_empty():
        return None
    fullest = own.sort("value", descending=True).row(0, named=True)
    return Remembered(
        own.height, float(own["error"].abs().mean()),  # type: ignore[arg-type]
        fullest["value"], fullest["predicted"],
    )  # fmt: skip
