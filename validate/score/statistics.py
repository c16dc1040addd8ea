"""Figures of merit: errors of predictions against observations, and how sure they are.

Arrays are one-dimensional and of equal length. An error is predicted / observed − 1, a fraction.
Rows of one group (a table, a shape, a model) stand and fall together, so intervals resample groups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Groups = npt.NDArray[np.generic]

CONFIDENCE = 0.95

DRAWS = 1000

SEED = 20220220

APART = 0.03
"""Two observations closer than this fraction are a tie: repeats of one run differ by 1.7 %."""


class Scores(NamedTuple):
    """All figures of one model on one set of rows; errors are fractions."""

    n: int
    bias: float  # mean signed error
    mape: float  # mean absolute error
    ci_low: float  # of mape, groups resampled
    ci_high: float
    median: float  # of absolute errors
    p90: float  # of absolute errors
    worst: float  # signed
    worst_at: int  # row index
    spearman: float
    order: float  # share of pairs more than 3 % apart that are predicted in the right order


def errors(predicted: Floats, observed: Floats) -> Floats:
    """Signed relative errors.

    >>> errors(np.array([1.1]), np.array([1.0])).round(3).tolist()
    [0.1]
    """
    return predicted / observed - 1.0


def mape(error: Floats) -> float:
    """Mean absolute relative error.

    >>> mape(np.array([0.1, -0.3]))
    0.2
    """
    return float(np.abs(error).mean())


def bootstrap(
    error: Floats,
    groups: Groups,
    statistic: Callable[[Floats], float] = mape,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> tuple[float, float]:
    """Percentile interval of `statistic` under resampling of whole groups with replacement.

    A single group has no interval: both bounds are nan.
    """
    labels, index = np.unique(groups, return_inverse=True)
    if len(labels) < 2:
        return float("nan"), float("nan")
    members = [np.flatnonzero(index == group) for group in range(len(labels))]
    random = np.random.default_rng(seed)
    picks = random.integers(len(labels), size=(draws, len(labels)))
    drawn = [statistic(error[np.concatenate([members[group] for group in pick])]) for pick in picks]
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(drawn, [tail, 1.0 - tail])
    return float(low), float(high)


def mean_ranks(values: Floats, rows: Floats | None = None) -> Floats:
    """Ranks from 1, ties share their mean: what scipy calls `average`, without its start.

    Of each value there are `rows`, or one.

    >>> mean_ranks(np.array([0.3, 0.1, 0.3])).tolist()
    [2.5, 1.0, 2.5]
    """
    if np.isnan(values).any():
        return np.full(len(values), np.nan)
    _, index = np.unique(values, return_inverse=True)
    counts = np.bincount(index, weights=rows)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[index])


def spearman(predicted: Floats, observed: Floats, rows: Floats | None = None) -> float:
    """Rank correlation; ties share their mean rank; nan where one side is constant.

    Of each pair there are `rows`, or one.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 15.0]))
    0.5
    """
    if not len(predicted) or min(np.ptp(predicted), np.ptp(observed)) == 0:
        return float("nan")
    ranks = mean_ranks(predicted, rows), mean_ranks(observed, rows)
    if min(np.ptp(ranks[0]), np.ptp(ranks[1])) == 0:
        return float("nan")
    spread = np.cov(*ranks, aweights=rows)
    return float((spread[0, 1] / np.sqrt(spread[0, 0] * spread[1, 1])).round(12))


def pairwise_order(predicted: Floats, observed: Floats, apart: float = APART) -> float:
    """Share of pairs, observed more than `apart` apart, whose predicted order is the observed one.

    A predicted tie is no order. nan where no pair is that far apart.

    >>> pairwise_order(np.array([1.0, 2.0, 1.5]), np.array([1.0, 1.01, 2.0]))
    0.5
    """
    first, second = np.triu_indices(len(observed), k=1)
    ratio = observed[second] / observed[first]
    far = np.maximum(ratio, 1.0 / ratio) > 1.0 + apart
    if not far.any():
        return float("nan")
    expected = np.sign(ratio - 1.0)
    found = np.sign(predicted[second] - predicted[first])
    return float((expected == found)[far].mean())


def scores(predicted: Floats, observed: Floats, groups: Groups, *, seed: int = SEED) -> Scores:
    """Every figure that is reported with an accuracy."""
    error = errors(predicted, observed)
    low, high = bootstrap(error, groups, seed=seed)
    worst_at = int(np.abs(error).argmax())
    return Scores(
        n=len(error),
        bias=float(error.mean()),
        mape=mape(error),
        ci_low=low,
        ci_high=high,
        median=float(np.median(np.abs(error))),
        p90=float(np.quantile(np.abs(error), 0.9)),
        worst=float(error[worst_at]),
        worst_at=worst_at,
        spearman=spearman(predicted, observed),
        order=pairwise_order(predicted, observed),
    )
