"""A kernel model with everything that measurements taught it: values, neighbours, intervals.

`learn` fits, corrects by neighbours where asked, and takes 90 % prediction intervals from the
errors on groups that were held out, by class of duration. What it returns predicts times.

Source: docs/kernels.md, on intervals from groups held out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from assay.model.fit import kernel_fit, neighbours
from assay.model.fit.groups import SEED
from assay.model.fit.groups import folds as folds_of
from assay.model.fit.neighbours import Neighbours
from assay.model.kernels.kernel import Columns, Floats, Kernel, Values, rows

FOLDS = 5

CONFIDENCE = 0.90

CLASS_EDGES = (1e-5, 3e-5, 1e-4, 1e-3)
"""Seconds: short kernels are predicted worse than long ones, so each class has its interval."""

CLASS_ROWS = 60
"""A class with fewer held-out rows joins the next longer one."""


@dataclass(frozen=True)
class Interval:
    """Factors around a prediction, by the predicted time; `edges` are the upper ends in s."""

    edges: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def bounds(self, seconds: Floats) -> tuple[Floats, Floats]:
        """Lower and upper time around each predicted time.

        Shapes: seconds [n] in, two arrays of seconds [n] out.
        """
        place = np.minimum(np.searchsorted(self.edges, seconds), len(self.edges) - 1)
        return seconds * np.array(self.low)[place], seconds * np.array(self.high)[place]

    def widened(self, factor: float) -> Interval:
        """The same classes with bounds `factor` times farther on either side."""
        low = tuple(one / factor for one in self.low)
        return Interval(self.edges, low, tuple(one * factor for one in self.high))


@dataclass(frozen=True)
class Calibrated:
    """One kernel of one machine, and where its numbers come from.

    Values are in the units of the kernel's parameters; `rows` and `groups` are counts.
    """

    kernel: Kernel
    values: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]
    weak: tuple[str, ...]  # parameters that the data do not pin down
    machine: str  # whose measurements they are
    dtype: str
    origin: str
    rows: int = 0
    groups: int = 0
    interval: Interval | None = None
    condition: float = math.nan  # of the fit's Jacobian, columns scaled to length 1
    entangled: tuple[str, ...] = ()  # pairs of parameters whose estimates move together
    in_step: bool = False  # measured inside a training step: nothing there slows them further
    near: Neighbours | None = field(default=None, repr=False)
    seen: tuple[str, ...] = field(default=(), repr=False)  # digests of the rows it was fitted to

    def time(self, table: Columns) -> Floats:
        """Predicted seconds."""
        plain = self.kernel.time(table, self.values)
        return plain if self.near is None else plain * self.near.factor(table)


def learn(
    kernel: Kernel,
    table: Columns,
    seconds: Floats,
    groups: npt.NDArray[np.generic],
    *,
    machine: str,
    dtype: str,
    origin: str,
    dimensions: tuple[str, ...] = (),
    folds: int = FOLDS,
    draws: int = kernel_fit.DRAWS,
    seed: int = SEED,
) -> Calibrated:
    """`kernel` calibrated to measured `seconds`; `groups` label the rows that stand together.

    `dimensions` name the columns that measure nearness for the correction by neighbours; without
    them there is none. `folds` = 0 or 1 leaves the prediction interval out.
    """
    found = kernel_fit.fit(kernel, table, seconds, groups, draws=draws, seed=seed)
    held = folds_of(groups, folds, seed=seed) if folds > 1 else []
    plain = Calibrated(
        kernel,
        found.values,
        found.low or found.values,
        found.high or found.values,
        found.identifiability.weak,
        machine,
        dtype,
        origin,
        found.rows,
        found.groups,
        condition=found.identifiability.condition,
        entangled=found.identifiability.entangled,
    )
    near = _neighbours(plain, table, seconds, groups, dimensions, seed=seed)
    whole = _with(plain, near=near)
    if len(held) < 2:
        return whole
    missed = _held_out(whole, table, seconds, groups, held, seed=seed)
    return _with(whole, near=near, interval=_interval(whole.time(table), missed))


def _with(
    one: Calibrated, *, near: Neighbours | None, interval: Interval | None = None
) -> Calibrated:
    return Calibrated(**(one.__dict__ | {"near": near, "interval": interval}))


def _neighbours(
    one: Calibrated,
    table: Columns,
    seconds: Floats,
    groups: npt.NDArray[np.generic],
    dimensions: tuple[str, ...],
    *,
    seed: int,
) -> Neighbours | None:
    held = folds_of(groups, FOLDS, seed=seed)
    if not dimensions or len(held) < 2:
        return None
    missed = np.log(seconds / one.kernel.time(table, one.values))
    return neighbours.learn(table, dimensions, missed, held)


def _held_out(
    one: Calibrated,
    table: Columns,
    seconds: Floats,
    groups: npt.NDArray[np.generic],
    held: list[npt.NDArray[np.bool_]],
    *,
    seed: int,
) -> Floats:
    """log(measured/predicted) of every row from a calibration that has not seen its group."""
    missed = np.empty(len(seconds))
    for mask in held:
        seen = rows(table, ~mask)
        values = _refit(one, seen, seconds[~mask], groups[~mask], seed=seed)
        part = Calibrated(**(one.__dict__ | {"values": values, "near": None}))
        near = one.near
        if near is not None:
            left = np.log(seconds[~mask] / part.time(seen))
            near = neighbours.remember(
                seen, near.dimensions, left, reach=near.reach, trust=near.trust
            )
        missed[mask] = np.log(seconds[mask] / _with(part, near=near).time(rows(table, mask)))
    return missed


def _refit(
    one: Calibrated,
    table: Columns,
    seconds: Floats,
    groups: npt.NDArray[np.generic],
    *,
    seed: int,
) -> Values:
    again = kernel_fit.fit(one.kernel, table, seconds, groups, near=one.values, draws=0, seed=seed)
    return again.values


def _interval(predicted: Floats, missed: Floats) -> Interval:
    """Quantiles of the held-out errors by class, wide enough for one more row of the class."""
    edges: list[float] = []
    low: list[float] = []
    high: list[float] = []
    start = 0.0
    for edge in (*CLASS_EDGES, np.inf):
        mine = (predicted > start) & (predicted <= edge)
        rest = int((predicted > edge).sum())
        if mine.sum() < CLASS_ROWS and rest > 0:
            continue  # too few: they join the next class
        if mine.sum() < CLASS_ROWS and edges:
            edges[-1] = float(edge)  # too few at the end: they join the last class
            break
        count = int(mine.sum())
        tail = (1.0 - CONFIDENCE) / 2.0
        down = max(tail * (count + 1) - 1.0, 0.0) / max(count - 1, 1)
        bounds = np.exp(np.quantile(missed[mine], [down, 1.0 - down]))
        edges.append(float(edge))
        low.append(float(bounds[0]))
        high.append(float(bounds[1]))
        start = edge
    return Interval(tuple(edges), tuple(low), tuple(high))
