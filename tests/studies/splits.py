"""Splits into rows to fit and rows to score: whole groups, never rows.

A split is a pair of row masks (fit, score) that never share a group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from assay.validate.score.statistics import SEED, Floats, Groups

Mask = npt.NDArray[np.bool_]

FitPredict = Callable[[Mask, Mask], Floats]
"""Fits on the rows of the first mask and predicts the rows of the second, in row order."""

HALVES = 40


def leave_one_group_out(groups: Groups) -> Iterator[tuple[Mask, Mask]]:
    """One split per group, in sorted order: all others are fitted, the group is scored.

    >>> [score.tolist() for _, score in leave_one_group_out(np.array(["a", "b", "a"]))]
    [[True, False, True], [False, True, False]]
    """
    for label in np.unique(groups):
        score = groups == label
        yield ~score, score


def half_splits(
    groups: Groups, *, count: int = HALVES, seed: int = SEED
) -> Iterator[tuple[Mask, Mask]]:
    """`count` random splits: half of the groups (rounded down) are fitted, the others scored.

    >>> splits = list(half_splits(np.arange(5), count=3))
    >>> [(int(fit.sum()), int(score.sum())) for fit, score in splits]
    [(2, 3), (2, 3), (2, 3)]
    """
    labels = np.unique(groups)
    random = np.random.default_rng(seed)
    for _ in range(count):
        fitted = random.permutation(labels)[: len(labels) // 2]
        fit = np.isin(groups, fitted)
        yield fit, ~fit


def held_out(splits: Iterator[tuple[Mask, Mask]], fit_predict: FitPredict, rows: int) -> Floats:
    """Predictions of each row where it was held out, averaged over its splits; nan where never."""
    total, count = np.zeros(rows), np.zeros(rows)
    for fit, score in splits:
        total[score] += fit_predict(fit, score)
        count[score] += 1
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, total / count, np.nan)
