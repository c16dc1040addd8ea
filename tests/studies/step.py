"""The step model under the protocol: the measured steps of seed 002, tables, and logs.

Names are `<rows>.<figure>`. Figures of held-out rows come from fits that saw none of their group.
Errors are in percent. What was chosen while looking at which rows: docs/model.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl
from assay.model.fit.step_fit import StepFit, fit
from assay.validate.score.statistics import Floats, bootstrap, errors, mape, scores

from tests.studies.anchors import anchors
from tests.studies.decisions import decide
from tests.studies.entries import Entry
from tests.studies.splits import Mask, half_splits, held_out, leave_one_group_out
from tests.studies.step_rows import Rows, measured

PERCENT = 100.0

FREE = ("slowdown", "overhead", "network", "pace")
"""Seed 002: three residuals, and the pace after the hardware was improved on 02-25."""

FINDINGS = (46, 305, 319, 329, 330, 331, 341, 447, 474, 475)
"""Lines of seed 002 whose numbers contradict their document or their arithmetic."""

LEARNING = {1: ("slowdown",), 3: ("slowdown", "network"), 10: ("slowdown", "overhead", "network")}
"""Rows of calibration, and the residuals that so many can tell."""

ANOMALOUS = 5.0
"""Robust standard deviations of the fitted rows' residuals, beyond which a row is anomalous."""

LEARNING_DRAWS = 40

LEVEL = 0.90

SEED = 20220220


def seed002() -> Rows:
    """The 85 rows; the campaign's hosts waited for every kernel (CUDA_LAUNCH_BLOCKING)."""
    return measured(anchors().with_columns(launch=pl.lit("blocking")), later="epoch")


def entries() -> list[Entry]:
    """Figures of the step model on the 85 measured steps."""
    rows = seed002()
    predict = predictor(rows, FREE)
    left_out = held_out(leave_one_group_out(rows.groups), predict, rows.size)
    by_hidden = held_out(leave_one_group_out(rows.frame["hidden"].to_numpy()), predict, rows.size)
    known = fit(rows.table, rows.seconds, rows.groups, FREE)
    sound = ~rows.frame["line"].is_in(FINDINGS).to_numpy()
    return [
        *figures("seed002.logo", left_out, rows),
        *figures("seed002.logo.sound", left_out[sound], rows.at(sound)),
        *figures("seed002.hidden", by_hidden, rows),
        *halves(rows, predict),
        *decisions(rows, left_out),
        paired(rows, left_out),
        coverage("seed002.coverage", rows, predict, left_out),
        *learning(rows),
        Entry("seed002.anomalous", int(anomalous(known, rows, rows).sum()), "1", rows.size),
        *residuals("seed002", known),
    ]


def predictor(
    rows: Rows, free: Iterable[str], fixed: dict[str, float] | None = None
) -> Callable[[Mask, Mask], Floats]:
    """Fits on the rows of one mask, predicts those of the other."""
    names = tuple(free)

    def predict(seen: Mask, scored: Mask) -> Floats:
        some = rows.at(seen)
        found = fit(some.table, some.seconds, some.groups, names, fixed=fixed, starts=1, draws=0)
        return found.time(rows.at(scored).table)

    return predict


def figures(name: str, predicted: Floats, rows: Rows) -> list[Entry]:
    """Everything that is said of an accuracy."""
    found = scores(predicted, rows.seconds, rows.groups)
    line = rows.frame["line"] if "line" in rows.frame.columns else None
    where = "" if line is None else f"_at_{line[found.worst_at]}"
    return [
        Entry(name, *_percent(found.mape), found.n, *_bounds(found.ci_low, found.ci_high)),
        Entry(f"{name}.bias", *_percent(found.bias), found.n),
        Entry(f"{name}.median", *_percent(found.median), found.n),
        Entry(f"{name}.p90", *_percent(found.p90), found.n),
        Entry(f"{name}.worst{where}", *_percent(found.worst), found.n),
        Entry(f"{name}.order", *_percent(found.order), found.n),
        Entry(f"{name}.rank", found.spearman, "1", found.n),
    ]


def halves(rows: Rows, predict: Callable[[Mask, Mask], Floats]) -> list[Entry]:
    """Mean error over random halves of the groups, with their central 95 %."""
    found = [
        mape(errors(predict(seen, scored), rows.seconds[scored]))
        for seen, scored in half_splits(rows.groups)
    ]
    low, high = np.quantile(found, [0.025, 0.975])
    return [Entry("seed002.halves", *_percent(float(np.mean(found))), rows.size,
                  *_bounds(low, high))]  # fmt: skip


def decisions(rows: Rows, predicted: Floats) -> list[Entry]:
    """Rank correlation, best layouts found, and what the picks cost."""
    picked = decide(rows.frame.with_columns(observed=rows.seconds, predicted=predicted))
    rank = scores(predicted, rows.seconds, rows.groups).spearman
    return [
        Entry("seed002.spearman", rank, "1", rows.size),
        Entry("seed002.hits", round(picked.hit_rate * picked.sets), "1", picked.sets),
        Entry("seed002.regret", *_percent(picked.regret), picked.sets),
    ]


def paired(rows: Rows, predicted: Floats) -> Entry:
    """Absolute error of Calculon with one fitted scalar less ours, both with the group left out.

    Positive: ours is nearer. The interval resamples groups.
    """
    bound = rows.frame["calculon"].to_numpy()

    def scaled(seen: Mask, scored: Mask) -> Floats:
        share = float(np.median(bound[seen] / rows.seconds[seen]))
        return np.asarray(bound[scored] / share)

    theirs = held_out(leave_one_group_out(rows.groups), scaled, rows.size)
    less = np.abs(errors(theirs, rows.seconds)) - np.abs(errors(predicted, rows.seconds))
    low, high = bootstrap(less, rows.groups, lambda part: float(part.mean()))
    return Entry("paired.calculon", *_percent(float(less.mean())), rows.size, *_bounds(low, high))


def coverage(
    name: str, rows: Rows, predict: Callable[[Mask, Mask], Floats], predicted: Floats
) -> Entry:
    """Share of left-out rows inside the 90 % interval that the other groups' errors give.

    Those errors are of left-out groups as well: the interval of a group comes from the rest.
    """
    missed = np.log(rows.seconds / predicted)
    inside = np.zeros(rows.size, dtype=bool)
    for seen, scored in leave_one_group_out(rows.groups):
        low, high = np.quantile(missed[seen], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        inside[scored] = (missed[scored] >= low) & (missed[scored] <= high)
    return Entry(name, *_percent(float(inside.mean())), rows.size)


def anomalous(known: StepFit, seen: Rows, rows: Rows) -> Mask:
    """Which of `rows` are farther off than five robust deviations of the rows fitted."""
    own = np.log(known.time(seen.table) / seen.seconds)
    middle = float(np.median(own))
    deviation = 1.4826 * float(np.median(np.abs(own - middle)))
    missed = np.log(known.time(rows.table) / rows.seconds)
    return np.asarray(np.abs(missed) > ANOMALOUS * deviation)


def learning(rows: Rows) -> list[Entry]:
    """Error on all other groups after 1, 3 and 10 rows of calibration, mean over random draws."""
    random = np.random.default_rng(SEED)
    found = []
    for count, free in LEARNING.items():
        errs = []
        for _ in range(LEARNING_DRAWS):
            chosen = random.permutation(rows.size)[:count]
            seen = np.isin(np.arange(rows.size), chosen)
            scored = ~np.isin(rows.groups, rows.groups[seen])
            some = rows.at(seen)
            calibrated = fit(
                some.table, some.seconds, some.groups, free, fixed=SITE, starts=1, draws=0
            )
            errs.append(mape(errors(calibrated.time(rows.at(scored).table), rows.seconds[scored])))
        low, high = np.quantile(errs, [0.05, 0.95])
        found.append(
            Entry(f"seed002.learning.{count}", *_percent(float(np.mean(errs))), rows.size,
                  *_bounds(low, high))
        )  # fmt: skip
    return found


SITE = {"overhead": 1.0, "pace": 1.0}
"""Assumed parameters of a host that waits for every kernel, until rows can tell."""


def residuals(name: str, found: StepFit) -> list[Entry]:
    """Fitted residuals with their 90 % intervals; a weak one says so in its name."""
    return [
        Entry(
            f"{name}.residual.{one}" + (".weak" if one in found.weak else ""),
            found.values[one], "1", found.rows, found.low[one], found.high[one],
        )
        for one in found.free
    ]  # fmt: skip


def _percent(fraction: float) -> tuple[float, str]:
    return PERCENT * fraction, "%"


def _bounds(low: float, high: float) -> tuple[float, float]:
    return PERCENT * float(low), PERCENT * float(high)
