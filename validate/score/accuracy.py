"""How far each model is from what was printed: one row per scope, quantity, model and origin.

Measured and published numbers are truth; against an estimate there is agreement, never accuracy,
and it has a list of its own. Not scored: what a prediction consumed, what its own row contradicts,
and repeats of an earlier row. Intervals resample groups (tables, sources, weight shapes), not rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.validate.score.statistics import (
    CONFIDENCE,
    DRAWS,
    SEED,
    Floats,
    Groups,
    pairwise_order,
    spearman,
)

ACCURACY: dict[str, pl.DataType] = {
    "scope": pl.String(),
    "quantity": pl.String(),
    "model": pl.String(),
    "origin": pl.String(),
    "n": pl.Int64(),
    "bias": pl.Float64(),
    "mape": pl.Float64(),
    "ci_low": pl.Float64(),  # of mape
    "ci_high": pl.Float64(),
    "median": pl.Float64(),  # of absolute errors
    "p90": pl.Float64(),  # of absolute errors
    "worst": pl.Float64(),  # signed
    "worst_at": pl.String(),  # file:line
    "explained_by_rounding": pl.Float64(),  # share of rows whose printed interval it falls into
}

TRUE = ("measured", "published")

AT_ONCE = 1_000_000
"""Numbers that are drawn in one piece."""

KEPT = 3_000_000
"""Numbers that are kept for the next figure."""

RANKED = 500
"""Rows up to which all pairs are put in order; beyond that ranks say enough."""


class Scores(NamedTuple):
    """Accuracy against truth, agreement with estimates, and ranks (protocol entries)."""

    accuracy: pl.DataFrame
    agreement: pl.DataFrame
    protocol: list[dict[str, object]]


def scored(pairs: pl.DataFrame, left_out: pl.DataFrame, *, identities: pl.Series) -> pl.DataFrame:
    """Pairs that count in scores: not `left_out` (case, quantity), not consumed, not an identity.

    Nor a zero that was printed for something small: no ratio says how far it is off.
    """
    consumed = pl.col("quantity").is_in(pl.col("inputs"))
    implied = pl.col("model").is_in(identities.implode())
    return pairs.filter(~consumed & ~implied & pl.col("error").is_not_null()).join(
        left_out, on=["case", "quantity"], how="anti", maintain_order="left"
    )


Whole = Callable[[pl.DataFrame], pl.DataFrame]
"""Pairs of one quantity with those of the rows that they stand for, and how many `rows` each is."""


def _own(part: pl.DataFrame) -> pl.DataFrame:
    """Pairs of which each is one row."""
    return part.with_columns(rows=pl.lit(1.0))


def mean_size() -> pl.Expr:
    """The mean absolute error of pairs that are several `rows` each."""
    return (pl.col("error").abs() * pl.col("rows")).sum() / pl.col("rows").sum()


def score(pairs: pl.DataFrame, groups: pl.DataFrame, whole: Whole = _own) -> Scores:
    """Figures of all scored `pairs`; `groups` (case, group) says which rows stand together.

    `whole` adds the pairs of rows that those of long inputs stand for.
    """
    table = pairs.join(groups, on="case", how="left", maintain_order="left").with_columns(
        pl.col("group").fill_null(pl.col("source"))
    )
    keys = ["scope", "quantity", "model", "origin"]
    rows, protocol = [], []
    for key, held in table.group_by(keys, maintain_order=True):
        part = whole(held)
        rows.append((*key, *_figures(part)))
        protocol += _ranks(dict(zip(keys, map(str, key), strict=True)), part)
    every = pl.DataFrame(rows, schema=ACCURACY, orient="row").sort(
        "scope", "quantity", "origin", "mape", maintain_order=True
    )
    true = pl.col("origin").is_in(TRUE)
    return Scores(every.filter(true), every.filter(~true), protocol)


def _figures(part: pl.DataFrame) -> tuple[object, ...]:
    error, rows = part["error"].to_numpy(), part["rows"].to_numpy()
    size, n = np.abs(error), float(rows.sum())
    # numbers in the order of the names: numpy sorts names one by one
    low, high = interval(size, part["group"].rank("dense").to_numpy(), rows)
    most = part.filter(pl.Series(size == size.max())).sort("source", "line", maintain_order=True)
    worst = most.row(0, named=True)
    inside = (pl.col("predicted") >= pl.col("low")) & (pl.col("predicted") <= pl.col("high"))
    explained = part.select((inside.cast(pl.Float64) * pl.col("rows")).sum()).item()
    ordered = _Ordered(size, rows)
    return (
        round(n), float((error * rows).sum() / n), float((size * rows).sum() / n), low, high,
        ordered.median(), ordered.quantile(0.9), worst["error"],
        f"{worst['source']}:{worst['line']}", explained / n,
    )  # fmt: skip


class _Ordered:
    """Numbers in order, of each of which there are several `rows`."""

    def __init__(self, values: Floats, rows: Floats) -> None:
        order = np.argsort(values, kind="stable")
        self._values, self._upto = values[order], np.cumsum(rows[order])

    def median(self) -> float:
        """That of all rows."""
        return float(self._at((self._upto[-1] - 1) // 2, self._upto[-1] // 2).mean())

    def quantile(self, share: float) -> float:
        """As numpy has it of all rows: between the two nearest, in proportion."""
        place = share * (self._upto[-1] - 1)
        below = np.floor(place)
        ends = self._at(below, min(below + 1, self._upto[-1] - 1))
        return float(np.quantile(ends, place - below))

    def _at(self, *places: float) -> Floats:
        return self._values[np.searchsorted(self._upto, places, side="right")]


def interval(size: Floats, groups: Groups, rows: Floats) -> tuple[float | None, float | None]:
    """Percentile interval of the mean under resampling of whole groups; None for one group.

    Of each number there are `rows`. The same draws as `statistics.bootstrap`, on sums per group:
    thousands of groups stay fast.

    >>> interval(np.array([0.1, 0.1]), np.array(["a", "a"]), np.ones(2))
    (None, None)
    """
    labels, index = np.unique(groups, return_inverse=True)
    if len(labels) < 2:
        return None, None
    totals = np.bincount(index, weights=size * rows)
    counts = np.bincount(index, weights=rows)
    alike = bool((counts == counts[0]).all())  # as many rows in every group: nothing to add up
    size_of = counts[0] * len(labels)
    drawn = [
        totals[pick].sum(axis=1) / (size_of if alike else counts[pick].sum(axis=1))
        for pick in _draws(len(labels))
    ]
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(np.concatenate(drawn), [tail, 1.0 - tail])
    return float(low), float(high)


def _draws(labels: int) -> Iterable[np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    """Groups to pick, a draw a row: the same for every figure of so many groups."""
    return _kept(labels) if labels * DRAWS <= KEPT else _drawn(labels)


@lru_cache(maxsize=1)
def _kept(labels: int) -> list[np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    return list(_drawn(labels))


def _drawn(labels: int) -> Iterator[np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    random = np.random.default_rng(SEED)
    together = max(1, AT_ONCE // labels)
    for at in range(0, DRAWS, together):
        yield random.integers(labels, size=(min(together, DRAWS - at), labels))


def _ranks(key: dict[str, str], part: pl.DataFrame) -> list[dict[str, object]]:
    """Rank correlation and pairwise order of one model, as protocol entries."""
    part = part.filter(pl.col("value") != 0)  # ratios put them in order
    observed, predicted, rows = (part[name].to_numpy() for name in ("value", "predicted", "rows"))
    count = round(float(rows.sum()))
    if count < 3:
        return []
    found = {"spearman": spearman(predicted, observed, rows)}
    if count <= RANKED:
        each = rows.astype(int)
        found["order"] = pairwise_order(np.repeat(predicted, each), np.repeat(observed, each))
    return [
        {
            "name": f"{key['scope']}.{key['quantity']}.{name}",
            "model": key["model"],
            "value": None if np.isnan(value) else value,
            "unit": "1",
            "n": count,
            "low": None,
            "high": None,
        }
        for name, value in found.items()
    ]
