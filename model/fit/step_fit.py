"""Fits the residual parameters of the step model to measured step times.

Robust least squares on log(predicted/measured) in the logarithm of the parameters, between their
bounds, from several starts. Residuals beyond `LOSS_SCALE`, the repeat noise of measured steps,
count linearly: a wrong row pulls no harder than a right one. Everything is seeded.

Source: docs/model.md, on residuals and who may fit them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from assay.model.fit.descent import WIDE, Free, entangled
from assay.model.fit.groups import SEED, resampled
from assay.model.kernels.kernel import Columns, Floats, Parameter, Values, rows
from assay.model.schedule import STEP, step_time

LOSS_SCALE = 0.0165
"""Repeats of one configuration differ by 1.65 %: what no model can explain."""

STARTS = 3

DRAWS = 60

AT_MOST = 3
"""Residual parameters that one campaign may have, `pace` apart."""

EXPECTED = {
    "slowdown": 0.2, "overhead": 2.0, "exposed": 6.0, "network": 1.5, "attention": 0.3,
    "odd_head": 0.7, "pace": 1.0,
}  # fmt: skip
"""How far (logarithm) a residual may lie from its start before it counts as much as one row that is
off by the repeat noise: what holds a fit to three rows, and nothing to eighty."""

FELT = 0.02

TRIED = 0.3
"""Change (logarithm) by which a residual is tried, and the response that counts, per unit of it."""

ENOUGH = 10
"""Rows from which measured times may choose the residuals."""

GRID = 25


@dataclass(frozen=True)
class StepFit:
    """Fitted values with 90 % intervals; `free` were fitted, the others kept their starts.

    `weak` names parameters that the rows do not pin down: at a bound, an interval wider than a
    factor of two, or a correlation with another beyond 0.95.
    """

    values: dict[str, float]
    free: tuple[str, ...]
    low: dict[str, float]
    high: dict[str, float]
    correlation: npt.NDArray[np.float64]
    condition: float
    weak: tuple[str, ...]
    rows: int
    groups: int

    def time(self, table: Columns) -> Floats:
        """Seconds of the steps of a component table."""
        return step_time(table, self.values)


def fit(
    table: Columns,
    seconds: Floats,
    groups: npt.NDArray[np.generic],
    free: Iterable[str],
    *,
    fixed: Values | None = None,
    starts: int = STARTS,
    draws: int = DRAWS,
    seed: int = SEED,
) -> StepFit:
    """The residual parameters named `free`, fitted to measured `seconds` of a component table.

    `fixed` holds others at given values, the rest keep their starts. ValueError for unknown names,
    for more than three names beside `pace`, or without rows.
    """
    chosen = _chosen(free)
    if len(seconds) == 0 or not (seconds > 0).all():
        raise ValueError("a fit needs rows, all with positive times")
    base = STEP.starts | dict(fixed or {})
    random = np.random.default_rng(seed)
    begin = _begin(chosen, base, random, starts)
    if starts > 1 and chosen.parameters:
        begin[1] = _scanned(chosen, base, table, seconds)
    best = _solve(chosen, base, table, seconds, begin)
    drawn = _redraw(chosen, base, table, seconds, groups, best, draws, random)
    low, high = map(np.exp, chosen.interval(drawn, best))
    correlation, condition = _identify(chosen, base, table, best)
    names = chosen.names
    return StepFit(
        values=base | chosen.named(best),
        free=names,
        low=dict(zip(names, map(float, low), strict=True)),
        high=dict(zip(names, map(float, high), strict=True)),
        correlation=correlation,
        condition=condition,
        weak=_weak(chosen, best, low, high, correlation),
        rows=len(seconds),
        groups=len(np.unique(groups)),
    )


def _chosen(free: Iterable[str]) -> Free:
    known = {one.name: one for one in STEP.parameters}
    names = tuple(dict.fromkeys(free))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"no residual is called {', '.join(unknown)}; known are {', '.join(known)}"
        )
    if len(set(names) - {"pace"}) > AT_MOST:
        raise ValueError(f"at most {AT_MOST} residuals may be fitted, not {', '.join(names)}")
    return Free(tuple(known[name] for name in names))


def _begin(
    chosen: Free, base: dict[str, float], random: np.random.Generator, count: int
) -> list[Floats]:
    """The documented start, then random points halfway to the bounds."""
    start, low, high = chosen.point(base), chosen.low, chosen.high
    reach = (high - low) / 4.0
    others = start + reach * random.uniform(-1.0, 1.0, (max(count - 1, 0), len(start)))
    return [start, *np.clip(others, low, high)]


def _scanned(chosen: Free, base: dict[str, float], table: Columns, seconds: Floats) -> Floats:
    """A start for steps that do not feel a residual where it begins: each at its best alone."""
    values = base
    for one in chosen.parameters:
        values = values | {one.name: _alone(one, values, table, seconds)[1]}
    return np.log([values[name] for name in chosen.names])


def _solve(
    chosen: Free, base: dict[str, float], table: Columns, seconds: Floats,
    begin: Iterable[Floats],
) -> Floats:  # fmt: skip
    if not chosen.parameters:
        return np.empty(0)
    start = np.log([base[name] for name in chosen.names])
    width = np.array([EXPECTED[name] for name in chosen.names]) / LOSS_SCALE

    def residuals(point: Floats) -> Floats:
        missed = np.log(step_time(table, base | chosen.named(point)) / seconds)
        return np.concatenate([missed, (point - start) / width])

    found = [chosen.solve(residuals, at, scale=LOSS_SCALE) for at in begin]
    return min(found, key=lambda one: one[1])[0]


def _redraw(
    chosen: Free, base: dict[str, float], table: Columns, seconds: Floats,
    groups: npt.NDArray[np.generic], best: Floats, draws: int, random: np.random.Generator,
) -> Floats:  # fmt: skip
    """Optima of resampled groups, one per row; just `best` where there is nothing to resample."""
    if draws == 0 or len(np.unique(groups)) < 2:
        return best[None, :]
    return np.stack([
        _solve(chosen, base, rows(table, taken), seconds[taken], [best])
        for taken in resampled(groups, draws, random)
    ])  # fmt: skip


def _identify(
    chosen: Free, base: dict[str, float], table: Columns, best: Floats
) -> tuple[npt.NDArray[np.float64], float]:
    """Correlation of the estimates, and the condition of the scaled Jacobian."""
    if not chosen.parameters:
        return np.empty((0, 0)), 1.0
    step = 1e-4
    up, down = (
        [np.log(step_time(table, base | chosen.named(best + sign * one)))
         for one in step * np.eye(len(best))]
        for sign in (1.0, -1.0)
    )  # fmt: skip
    jacobian = (np.stack(up, axis=1) - np.stack(down, axis=1)) / (2.0 * step)
    length = np.linalg.norm(jacobian, axis=0)
    scaled = jacobian / np.where(length > 0, length, 1.0)
    covariance = np.linalg.pinv(scaled.T @ scaled)
    deviation = np.sqrt(np.clip(np.diag(covariance), 1e-300, None))
    correlation = np.asarray(covariance / np.outer(deviation, deviation))
    return correlation, float(np.linalg.cond(scaled))


def _weak(
    chosen: Free, best: Floats, low: Floats, high: Floats,
    correlation: npt.NDArray[np.float64],
) -> tuple[str, ...]:  # fmt: skip
    weak = chosen.bound(best) | entangled(correlation) | (high > WIDE * low)
    return tuple(name for name, yes in zip(chosen.names, weak, strict=True) if yes)


def telling(table: Columns, seconds: Floats, *, at_most: int = AT_MOST) -> tuple[str, ...]:
    """The residuals that measured `seconds` of a component table can tell.

    Those that the rows respond to, without a look at the times; with `ENOUGH` rows, or those that
    explain most of the times one after the other, whichever the Bayesian information criterion
    prefers.
    """
    responsive = _responsive(table, at_most)
    if len(seconds) < ENOUGH:
        return responsive
    chosen: tuple[str, ...] = ()
    sets = {responsive, chosen}
    while len(chosen) < at_most:
        values = _plain(chosen, table, seconds)
        tried = {
            one.name: _alone(one, values, table, seconds)
            for one in STEP.parameters
            if one.name not in (*chosen, "pace")
        }
        chosen = (*chosen, min(tried, key=lambda name: tried[name]))
        sets.add(chosen)

    def criterion(free: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
        left = _left(table, seconds, _plain(free, table, seconds))
        return 2.0 * left + len(free) * float(np.log(len(seconds))), free

    return min(sets, key=criterion)


def _plain(free: tuple[str, ...], table: Columns, seconds: Floats) -> dict[str, float]:
    """The values of one fit, from where each residual is at its best alone."""
    chosen, base = _chosen(free), dict(STEP.starts)
    begin = _scanned(chosen, base, table, seconds)
    return base | chosen.named(_solve(chosen, base, table, seconds, [begin]))


def _left(table: Columns, seconds: Floats, values: Values) -> float:
    """Misfit that values leave: −log likelihood of Cauchy errors as wide as repeats differ.

    A row that no residual explains hardly says which residuals explain the others.
    """
    return float(_unexplained(table, seconds, values))


def _unexplained(table: Columns, seconds: Floats, values: Mapping[str, Any]) -> Any:
    """The same for each of several values of a residual that stand one below the other."""
    off = np.log(step_time(table, values) / seconds) / LOSS_SCALE
    return np.log1p(off**2).sum(axis=-1)


def _alone(one: Parameter, values: Values, table: Columns, seconds: Floats) -> tuple[float, float]:
    """Misfit that is left, and at which value, when one residual may lie between its bounds."""
    grid = np.geomspace(one.low, one.high, GRID)
    left = _unexplained(table, seconds, {**values, one.name: grid[:, None]})
    best = int(np.argmin(left))
    return float(left[best]), float(grid[best])


def _responsive(table: Columns, at_most: int) -> tuple[str, ...]:
    """The residuals whose change moves the steps of a table, the strongest first.

    Fewer than `at_most` where the others would change no step by more than `FELT` for a change of
    its own size.
    """
    base = STEP.starts
    here = np.log(step_time(table, base))
    found = []
    for one in STEP.parameters:
        if one.name == "pace":
            continue
        moved = np.log(step_time(table, base | {one.name: base[one.name] * np.exp(TRIED)}))
        found.append((float(np.sqrt(np.mean((moved - here) ** 2))) / TRIED, one.name))
    strong = sorted((one for one in found if one[0] > FELT), reverse=True)
    return tuple(name for _, name in strong[:at_most])
