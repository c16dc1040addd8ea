"""Would the model have picked the layout that was fastest? And what does its pick cost?

A set is what one could choose among: rows that train the same model on the same GPUs with the same
global batch, in at least two layouts. Repeats of one layout count once, at their mean.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

SET = ("hidden", "layers", "heads", "gpus", "global_batch", "epoch")

LAYOUT = ("tp", "pp", "dp", "micro_batch", "zero_stage")


class Decision(NamedTuple):
    """Over all sets: how often the pick is the fastest, and its mean loss against the fastest."""

    sets: int
    hit_rate: float
    regret: float  # observed time of the pick / fastest observed − 1, mean over sets
    worst_regret: float


def decide(rows: pl.DataFrame) -> Decision:
    """Score the picks; `rows` has the columns of SET and LAYOUT, observed and predicted (s).

    nan figures where there is no set with a choice.

    >>> same = {"hidden": 1, "layers": 1, "heads": 1, "gpus": 8, "global_batch": 8, "epoch": 0}
    >>> layout = {"tp": [1, 2, 4], "pp": 1, "dp": [8, 4, 2], "micro_batch": 1, "zero_stage": 1}
    >>> times = {"observed": [1.0, 1.1, 1.3], "predicted": [2.0, 1.0, 3.0]}
    >>> rows = pl.DataFrame(same | layout | times)
    >>> decide(rows).hit_rate, round(decide(rows).regret, 3)
    (0.0, 0.1)
    """
    layouts = rows.group_by(*SET, *LAYOUT, maintain_order=True).agg(
        pl.col("observed").mean(), pl.col("predicted").mean()
    )
    sets = (
        layouts.group_by(*SET, maintain_order=True)
        .agg(
            layouts=pl.len(),
            picked=pl.col("observed").get(pl.col("predicted").arg_min()),
            fastest=pl.col("observed").min(),
        )
        .filter(pl.col("layouts") >= 2)
        .with_columns(regret=pl.col("picked") / pl.col("fastest") - 1.0)
    )
    if sets.is_empty():
        return Decision(0, float("nan"), float("nan"), float("nan"))
    regret = sets["regret"].to_numpy()
    return Decision(
        sets.height, float((regret == 0).mean()), float(regret.mean()), float(regret.max())
    )
