"""Rows in groups that stay whole: what a fit may see and what it is scored on, and draws of both.

A group holds rows that share more than chance: of one weight matrix, one campaign, one document.
Everything is seeded. Shapes: `groups` is [rows], one label a row; a mask is [rows].
Source: cluster bootstrap and grouped cross-validation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

SEED = 20220220


def resampled(
    groups: npt.NDArray[np.generic], draws: int, random: np.random.Generator
) -> Iterator[npt.NDArray[np.intp]]:
    """Row indices of as many groups as there are, drawn with replacement; one array per draw.

    Shapes: an array is as long as the drawn groups together, and differs from draw to draw.
    """
    labels, index = np.unique(groups, return_inverse=True)
    members = [np.flatnonzero(index == label) for label in range(len(labels))]
    for _ in range(draws):
        drawn = random.integers(len(labels), size=len(labels))
        yield np.concatenate([members[label] for label in drawn])


def halves(
    groups: npt.NDArray[np.generic], *, seed: int = SEED
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Masks of the rows to fit and the rows to score: half of the groups each, none split.

    Of an odd number of groups the larger half is fitted. Shapes: two masks [rows].

    >>> fitted, scored = halves(np.array(["a", "b", "a", "b"]))
    >>> bool((fitted ^ scored).all()), int(fitted.sum())
    (True, 2)
    """
    labels = np.unique(groups)
    chosen = np.random.default_rng(seed).permutation(labels)[: (len(labels) + 1) // 2]
    fitted = np.isin(groups, chosen)
    return fitted, ~fitted


def folds(
    groups: npt.NDArray[np.generic], count: int, *, seed: int = SEED
) -> list[npt.NDArray[np.bool_]]:
    """`count` masks of rows to score that together cover every row once, groups kept whole.

    Shapes: masks [rows]; fewer than `count` where there are fewer groups.

    >>> [mask.tolist() for mask in folds(np.array([1, 1, 2, 3]), 2)]
    [[True, True, True, False], [False, False, False, True]]
    """
    labels = np.random.default_rng(seed).permutation(np.unique(groups))
    return [np.isin(groups, labels[part::count]) for part in range(min(count, len(labels)))]
