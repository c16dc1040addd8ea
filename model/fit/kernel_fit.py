"""Fits a kernel model to measured times: values, intervals, and what the data cannot tell.

Robust least squares on log(predicted/measured), in the logarithm of the parameters, between their
bounds, from several starts. Intervals resample whole groups, so that shapes which share a weight
matrix or a model do not count as independent evidence. Everything is seeded.

Source: docs/kernels.md, on how kernels are fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from assay.model.fit.descent import ENTANGLED, EVALUATIONS, WIDE, Free, entangled
from assay.model.fit.groups import SEED, resampled
from assay.model.kernels.kernel import Columns, Floats, Kernel, Values, rows

STARTS = 6

SCOUTS = 600

SCOUT_ROWS = 300

SCOUT_REACH = 2.5
"""Points tried at random on a sample of rows before the descents, and their distance (log)."""

DRAWS = 30

LOSS_SCALE = 0.1
"""Log residuals beyond this (10 %) count linearly instead of squared."""

JITTER = 0.1
"""Resampled fits start this far (log) from the optimum, so that they do not just stay there."""

STEP = 0.02
"""Half-width of a difference quotient: waves and tiles make small steps, so look farther."""


@dataclass(frozen=True)
class Identifiability:
    """Which parameters the data tell at the optimum, and which they do not."""

    condition: float  # of the Jacobian in log parameters, columns scaled to length 1
    correlation: npt.NDArray[np.float64]  # between the estimates, in the order of the parameters
    entangled: tuple[str, ...]  # "a ~ b 0.97": pairs whose correlation exceeds `ENTANGLED`
    at_bound: tuple[str, ...]
    silent: tuple[str, ...]  # no row responds to them
    weak: tuple[str, ...]  # interval wider than a factor `WIDE`, or entangled, or any of the above


@dataclass(frozen=True)
class Fit:
    """Fitted values of one kernel with 90 % intervals (None where they were not drawn).

    Values are in the units of the kernel's parameters; `rows` and `groups` are counts.
    """

    kernel: Kernel
    values: dict[str, float]
    low: dict[str, float] | None
    high: dict[str, float] | None
    rows: int
    groups: int
    identifiability: Identifiability

    def time(self, table: Columns) -> Floats:
        """Predicted seconds for rows of the same columns."""
        return self.kernel.time(table, self.values)


def fit(
    kernel: Kernel,
    table: Columns,
    seconds: Floats,
    groups: npt.NDArray[np.generic],
    *,
    fixed: Values | None = None,
    near: Values | None = None,
    starts: int = STARTS,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Fit:
    """The fit of `kernel` to measured `seconds`; `groups` label the rows that stand together.

    `fixed` holds parameters at given values; `near` gives the only start, for data much like those
    of an earlier fit. `draws` bootstrap samples give the intervals; with 0
    there are none. ValueError without rows or with times that are not positive.
    """
    if len(seconds) == 0 or not (seconds > 0).all():
        raise ValueError(f"{kernel.name}: a fit needs rows, all with positive times")
    random = np.random.default_rng(seed)
    problem = _Problem(kernel, dict(fixed or {}), _unfelt(kernel, table, fixed or {}))
    found = [
        problem.solve(table, seconds, at) for at in problem.begin(table, seconds, random, starts)
    ]
    best, _ = min(found, key=lambda one: one[1])
    low = high = None
    if draws and len(np.unique(groups)) > 1:
        again = resampled(groups, draws, random)
        drawn = problem.redraw(table, seconds, best, again, random)
        low, high = map(problem.named, problem.free.interval(drawn, best))
        for one in kernel.parameters:
            if one.name in problem.unfelt:
                low[one.name], high[one.name] = one.low, one.high
    return Fit(
        kernel,
        problem.named(best),
        low,
        high,
        len(seconds),
        len(np.unique(groups)),
        problem.identifiability(table, seconds, best, low, high),
    )


def _unfelt(kernel: Kernel, table: Columns, fixed: Values) -> dict[str, float]:
    """Starting values of the parameters that no row responds to: the data cannot move them."""
    base = kernel.time(table, kernel.starts | dict(fixed))
    return {
        one.name: one.start
        for one in kernel.parameters
        if one.name not in fixed
        and all(
            np.array_equal(base, kernel.time(table, kernel.starts | dict(fixed) | {one.name: at}))
            for at in (one.low, one.high)
        )
    }


class _Problem:
    """One kernel with its free parameters, seen as a vector of logarithms."""

    def __init__(self, kernel: Kernel, fixed: Values, unfelt: Values) -> None:
        self.kernel = kernel
        self.unfelt = unfelt
        self.fixed = dict(fixed) | dict(unfelt)
        self.free = Free(tuple(one for one in kernel.parameters if one.name not in self.fixed))

    def named(self, point: Floats) -> dict[str, float]:
        every = self.fixed | self.free.named(point)
        return {one.name: every[one.name] for one in self.kernel.parameters}

    def begin(
        self, table: Columns, seconds: Floats, random: np.random.Generator, count: int
    ) -> list[Floats]:
        """The documented start and the best of many random points within the bounds.

        Tiles and waves make several valleys; a descent only finds the floor of its own.
        """
        start = self.free.point(self.kernel.starts)
        if not self.free.parameters or count < 2:
            return [start]
        some = random.permutation(len(seconds))[:SCOUT_ROWS]
        near, few = rows(table, some), seconds[some]
        low, high = self.free.low, self.free.high
        reach = np.minimum((high - low) / 2.0, SCOUT_REACH)
        points = start + reach * random.uniform(-1.0, 1.0, (SCOUTS, len(start)))
        points = np.clip(points, low, high)
        cost = [float(np.abs(self.residuals(near, few, point)).mean()) for point in points]
        return [start, *points[np.argsort(cost)[: count - 1]]]

    def redraw(
        self,
        table: Columns,
        seconds: Floats,
        best: Floats,
        samples: Iterator[npt.NDArray[np.intp]],
        random: np.random.Generator,
    ) -> Floats:
        """One optimum per sample of rows, as rows; each starts near the optimum of all rows."""
        return np.stack(
            [
                self.solve(
                    rows(table, chosen),
                    seconds[chosen],
                    best + random.uniform(-JITTER, JITTER, len(best)),
                    evaluations=12,
                )[0]
                for chosen in samples
            ]
        )

    def residuals(self, table: Columns, seconds: Floats, point: Floats) -> Floats:
        missed = np.log(self.kernel.time(table, self.named(point)) / seconds)
        return missed if self.kernel.weight is None else missed * self.kernel.weight(table)

    def solve(
        self, table: Columns, seconds: Floats, start: Floats, *, evaluations: int = EVALUATIONS
    ) -> tuple[Floats, float]:
        """The optimum from `start` and its cost."""

        def residuals(point: Floats) -> Floats:
            return self.residuals(table, seconds, point)

        def jacobian(point: Floats) -> Floats:
            return self.slopes(residuals, point)

        return self.free.solve(
            residuals, start, scale=LOSS_SCALE, evaluations=evaluations, jacobian=jacobian
        )

    def slopes(self, residuals: Callable[[Floats], Floats], point: Floats) -> Floats:
        """One-sided difference quotients, away from the nearer bound: half the cost of central."""
        here = residuals(point)
        step = np.where(point + STEP <= self.free.high, STEP, -STEP)
        moved = [residuals(point + one) - here for one in np.diag(step)]
        return np.asarray(np.stack(moved, axis=1) / step)

    def jacobian(self, table: Columns, seconds: Floats, point: Floats) -> Floats:
        """Change of log time by change of log parameter, one column each, central differences."""
        low, high = self.free.low, self.free.high
        span = [
            self.residuals(table, seconds, np.minimum(point + STEP * unit, high))
            - self.residuals(table, seconds, np.maximum(point - STEP * unit, low))
            for unit in np.eye(len(point))
        ]
        wide = np.minimum(point + STEP, high) - np.maximum(point - STEP, low)
        return np.stack(span, axis=1) / wide if span else np.empty((len(seconds), 0))

    def identifiability(
        self,
        table: Columns,
        seconds: Floats,
        point: Floats,
        low: Values | None,
        high: Values | None,
    ) -> Identifiability:
        names = self.free.names
        jacobian = self.jacobian(table, seconds, point)
        length = np.linalg.norm(jacobian, axis=0)
        felt = length > 1e-6 * np.sqrt(len(seconds))
        silent = [one.name for one in self.kernel.parameters if one.name in self.unfelt]
        scaled = jacobian[:, felt] / length[felt]
        correlation = np.eye(len(names))
        correlation[np.ix_(felt, felt)] = _correlation(scaled)
        bound = self.free.bound(point)
        wide = np.array(
            [low is not None and high is not None and high[n] > WIDE * low[n] for n in names]
        )
        weak = bound | ~felt | entangled(correlation) | wide.astype(bool)
        return Identifiability(
            condition=float(np.linalg.cond(scaled)) if felt.any() else float("nan"),
            correlation=correlation,
            entangled=tuple(
                f"{names[row]} ~ {names[column]} {correlation[row, column]:.2f}"
                for row, column in zip(*np.triu_indices(len(names), 1), strict=True)
                if abs(correlation[row, column]) > ENTANGLED
            ),
            at_bound=_pick(names, bound),
            silent=(*_pick(names, ~felt), *silent),
            weak=(*_pick(names, weak), *silent),
        )


def _pick(names: Sequence[str], mask: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, chosen in zip(names, mask, strict=True) if chosen)


def _correlation(scaled: Floats) -> Floats:
    # A little ridge: of two parameters that only act together one rises as the other falls, which
    # a pseudo-inverse would hide.
    covariance = np.linalg.inv(scaled.T @ scaled + 1e-9 * np.eye(scaled.shape[1]))
    deviation = np.sqrt(np.clip(np.diag(covariance), 1e-300, None))
    return np.asarray(covariance / np.outer(deviation, deviation))
