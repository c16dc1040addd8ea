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
from assay.model.kernels.kernel import Columns, Floats, Parameter, Values, rows
from assay.model.schedule import STEP, step_time

SEED = 20220220

LOSS_SCALE = 0.0165
"""Repeats of one configuration differ by 1.65 %: what no model can explain."""

STARTS = 3

DRAWS = 60

CONFIDENCE = 0.90

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

WIDE = 2.0

ENTANGLED = 0.95


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
    if starts > 1 and chosen:
        begin[1] = _scanned(chosen, base, table, seconds)
    best = _solve(chosen, base, table, seconds, begin)
    drawn = _redraw(chosen, base, table, seconds, groups, best, draws, random)
    tail = (1.0 - CONFIDENCE) / 2.0
    low = np.exp(np.minimum(np.quantile(drawn, tail, axis=0), best))
    high = np.exp(np.maximum(np.quantile(drawn, 1.0 - tail, axis=0), best))
    correlation, condition = _identify(chosen, base, table, best)
    names = tuple(one.name for one in chosen)
    return StepFit(
        values=base | _named(chosen, best),
        free=names,
        low=dict(zip(names, map(float, low), strict=True)),
        high=dict(zip(names, map(float, high), strict=True)),
        correlation=correlation,
        condition=condition,
        weak=_weak(chosen, best, low, high, correlation),
        rows=len(seconds),
        groups=len(np.unique(groups)),
    )


def _chosen(free: Iterable[str]) -> tuple[Parameter, ...]:
    known = {one.name: one for one in STEP.parameters}
    names = tuple(dict.fromkeys(free))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"no residual is called {', '.join(unknown)}; known are {', '.join(known)}"
        )
    if len(set(names) - {"pace"}) > AT_MOST:
        raise ValueError(f"at most {AT_MOST} residuals may be fitted, not {', '.join(names)}")
    return tuple(known[name] for name in names)


def _named(chosen: tuple[Parameter, ...], point: Floats) -> dict[str, float]:
    return {one.name: float(np.exp(at)) for one, at in zip(chosen, point, strict=True)}


def _begin(
    chosen: tuple[Parameter, ...], base: dict[str, float], random: np.random.Generator, count: int
) -> list[Floats]:
    """The documented start, then random points halfway to the bounds."""
    low, high = _bounds(chosen)
    start = np.clip(np.log([base[one.name] for one in chosen]), low, high)
    reach = (high - low) / 4.0
    others = start + reach * random.uniform(-1.0, 1.0, (max(count - 1, 0), len(chosen)))
    return [start, *np.clip(others, low, high)]


def _scanned(
    chosen: tuple[Parameter, ...], base: dict[str, float], table: Columns, seconds: Floats
) -> Floats:
    """A start for steps that do not feel a residual where it begins: each at its best alone."""
    values = base
    for one in chosen:
        values = values | {one.name: _alone(one, values, table, seconds)[1]}
    return np.log([values[one.name] for one in chosen])


def _bounds(chosen: tuple[Parameter, ...]) -> tuple[Floats, Floats]:
    return np.log([one.low for one in chosen]), np.log([one.high for one in chosen])


def _solve(
    chosen: tuple[Parameter, ...], base: dict[str, float], table: Columns, seconds: Floats,
    begin: Iterable[Floats],
) -> Floats:  # fmt: skip
    if not chosen:
        return np.empty(0)
    from scipy.optimize import least_squares  # noqa: PLC0415 - half a second, which no report needs

    start = np.log([base[one.name] for one in chosen])
    width = np.array([EXPECTED[one.name] for one in chosen]) / LOSS_SCALE

    def residuals(point: Floats) -> Floats:
        missed = np.log(step_time(table, base | _named(chosen, point)) / seconds)
        return np.concatenate([missed, (point - start) / width])

    low, high = _bounds(chosen)
    margin = 1e-9 * (high - low)
    found = [
        least_squares(
            residuals,
            np.clip(at, low + margin, high - margin),
            bounds=(low, high),
            loss="soft_l1",
            f_scale=LOSS_SCALE,
            max_nfev=60,
        )
        for at in begin
    ]
    return np.asarray(min(found, key=lambda one: float(one.cost)).x)


def _redraw(
    chosen: tuple[Parameter, ...], base: dict[str, float], table: Columns, seconds: Floats,
    groups: npt.NDArray[np.generic], best: Floats, draws: int, random: np.random.Generator,
) -> Floats:  # fmt: skip
    """Optima of resampled groups, one per row; just `best` where there is nothing to resample."""
    labels, index = np.unique(groups, return_inverse=True)
    if draws == 0 or len(labels) < 2:
        return best[None, :]
    members = [np.flatnonzero(index == label) for label in range(len(labels))]
    found = []
    for _ in range(draws):
        picked = random.integers(len(labels), size=len(labels))
        taken = np.concatenate([members[label] for label in picked])
        found.append(_solve(chosen, base, rows(table, taken), seconds[taken], [best]))
    return np.stack(found)


def _identify(
    chosen: tuple[Parameter, ...], base: dict[str, float], table: Columns, best: Floats
) -> tuple[npt.NDArray[np.float64], float]:
    """Correlation of the estimates, and the condition of the scaled Jacobian."""
    if not chosen:
        return np.empty((0, 0)), 1.0
    step = 1e-4
    up, down = (
        [np.log(step_time(table, base | _named(chosen, best + sign * one)))
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
    chosen: tuple[Parameter, ...], best: Floats, low: Floats, high: Floats,
    correlation: npt.NDArray[np.float64],
) -> tuple[str, ...]:  # fmt: skip
    bottom, top = _bounds(chosen)
    near = 1e-3 * (top - bottom)
    others = np.abs(correlation - np.eye(len(best)))
    entangled = (others > ENTANGLED).any(axis=0) if len(best) else np.empty(0, dtype=bool)
    weak = (best - bottom < near) | (top - best < near) | entangled | (high > WIDE * low)
    return tuple(one.name for one, yes in zip(chosen, weak, strict=True) if yes)


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
    return base | _named(chosen, _solve(chosen, base, table, seconds, [begin]))


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
