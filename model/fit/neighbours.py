"""Residual of a kernel model, taken from the nearest measured shapes.

A library chooses among kernels by rules that no small formula holds. Where shapes close to the
asked one were measured, the mean of their log(measured/modelled), weighted by distance, corrects
the model; far from all of them the correction is 1. Two numbers rule it: `reach`, in octaves of a
dimension, and `trust`, the weight of the model in units of measurements.

Source: Nadaraya-Watson regression with a Gaussian weight, drawn towards no correction by `trust`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from assay.model.kernels.kernel import Columns, Floats

REACHES = (0.2, 0.35, 0.5, 0.8, 1.2)

TRUSTS = (0.1, 0.3, 1.0, 3.0, 10.0)

CELL = 0.1
"""Octaves: shapes this close are the same shape measured again …"""

SAME = 10.0
"""… and such a measurement counts this many times more than a near one."""

BLOCK = 500
"""Rows compared at a time: bounds the memory of the distance matrix."""


@dataclass(frozen=True)
class Neighbours:
    """Measured shapes as points, and the residual of the model at each.

    Shapes: `points` [shapes, dimensions], `missed` [shapes].
    Units: log2 of a dimension (octaves), log(measured/modelled); `reach` octaves, `trust` rows.
    """

    dimensions: tuple[str, ...]
    points: Floats  # [shapes, dimensions]
    missed: Floats  # log(measured / modelled)
    reach: float
    trust: float

    def factor(self, table: Columns) -> Floats:
        """Factor by which to multiply modelled times of the rows of `table`.

        Shapes: columns [rows] in, [rows] out. Raises KeyError for a missing dimension.
        """
        at = places(table, self.dimensions)
        parts = [
            _means(_squares(at[start : start + BLOCK], self.points), self.missed, self)
            for start in range(0, len(at), BLOCK)
        ]
        return np.exp(np.concatenate(parts)) if parts else np.ones(0)


def places(table: Columns, dimensions: tuple[str, ...]) -> Floats:
    """Rows of a table as points, log2 of each dimension.

    Shapes: columns [rows] in, [rows, dimensions] out. Raises KeyError for a missing dimension.
    """
    return np.log2(np.stack([table[name] for name in dimensions], axis=1))


def learn(
    table: Columns,
    dimensions: tuple[str, ...],
    missed: Floats,
    folds: Iterable[npt.NDArray[np.bool_]],
) -> Neighbours:
    """The correction with the reach and trust that predict held-out groups best.

    `missed` is log(measured/modelled); `folds` are masks of rows to hold out, groups kept whole.
    Shapes: columns, `missed` and masks [rows]. The criterion is the sum of absolute residuals.
    """
    points = places(table, dimensions)
    held = list(folds)
    tried = [
        (_error(points, missed, held, reach, trust), reach, trust)
        for reach in REACHES
        for trust in TRUSTS
    ]
    _, reach, trust = min(tried)
    return remember(table, dimensions, missed, reach=reach, trust=trust)


def remember(
    table: Columns, dimensions: tuple[str, ...], missed: Floats, *, reach: float, trust: float
) -> Neighbours:
    """The correction with given reach and trust.

    Shapes: columns and `missed` [rows]; rows within `CELL` octaves become one point, their mean.
    """
    return Neighbours(dimensions, *_thinned(places(table, dimensions), missed), reach, trust)


def _error(
    points: Floats,
    missed: Floats,
    folds: list[npt.NDArray[np.bool_]],
    reach: float,
    trust: float,
) -> float:
    total = 0.0
    for held in folds:
        near = Neighbours((), *_thinned(points[~held], missed[~held]), reach, trust)
        for some in _blocks(np.flatnonzero(held)):
            left = missed[some] - _means(_squares(points[some], near.points), near.missed, near)
            total += float(np.abs(left).sum())
    return total


def _blocks(index: npt.NDArray[np.intp]) -> Iterator[npt.NDArray[np.intp]]:
    for start in range(0, len(index), BLOCK):
        yield index[start : start + BLOCK]


def _squares(left: Floats, right: Floats) -> Floats:
    """Squared distances by row of either side."""
    cross = left @ right.T
    lengths = (left**2).sum(1)[:, None] + (right**2).sum(1)[None, :]
    return np.asarray(np.maximum(lengths - 2.0 * cross, 0.0))


def _means(squares: Floats, missed: Floats, rule: Neighbours) -> Floats:
    weight = np.exp(squares / (-2.0 * rule.reach**2))
    weight += SAME * np.exp(squares / (-2.0 * CELL**2))
    return np.asarray((weight @ missed) / (weight.sum(axis=1) + rule.trust))


def _thinned(points: Floats, missed: Floats) -> tuple[Floats, Floats]:
    """One point for all that share a cell: the mean of what they missed."""
    cells, index = np.unique(np.round(points / CELL), axis=0, return_inverse=True)
    index = index.reshape(-1)
    count = np.bincount(index)
    return cells * CELL, np.bincount(index, weights=missed) / count
