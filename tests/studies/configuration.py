"""Step times of training configurations: the baselines that every step model has to beat.

Names are `<model>.<how>[.<figure>]`. `peak` and `published` are scored as they come; `logo` leaves
one group out (a table), fits one scalar on the others and scores it; `halves` does so for 40 random
halves of the groups, its figure the mean over halves of the error, its bounds their central 95 %.
Of `peak`, `published` and `logo` bounds come from resampling groups. Errors are in percent.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from assay.model.machines.datasheets import machine
from assay.model.step.baselines import constant_mfu, fit_share, roofline
from assay.validate.score.statistics import DRAWS, SEED, Floats, errors, mape, scores

from tests.studies.anchors import anchors
from tests.studies.decisions import decide
from tests.studies.entries import Entry
from tests.studies.splits import HALVES, Mask, half_splits, held_out, leave_one_group_out

PERCENT = 100.0


def entries() -> list[Entry]:
    """Figures of the baselines and of two published tools on the measured step times."""
    rows = anchors()
    print(describe(rows))
    found = repeat_noise(rows)
    for name, how, bound in _models(rows):
        found += as_it_comes(rows, bound, f"{name}.{how}")
        found += fitted(rows, bound, name)
    return found


def describe(rows: pl.DataFrame) -> str:
    """The protocol in one line: rows, folds, seed and peaks.

    >>> describe(anchors())[:48]
    'step time: 85 rows in 25 groups; leave one out: '
    """
    accelerator = machine(rows["machine"][0])
    groups = rows["group"].n_unique()
    return (
        f"step time: {rows.height} rows in {groups} groups; leave one out: {groups} folds; halves: "
        f"{HALVES} splits, seed {SEED}, {groups // 2} groups fitted, the others scored; "
        f"intervals: {DRAWS} resamplings of groups; peaks: {accelerator.peak('fp16') / 1e12:g} "
        f"TFLOP/s, {accelerator.memory_bandwidth / 1e9:g} GB/s"
    )


def _models(rows: pl.DataFrame) -> list[tuple[str, str, Floats]]:
    return [
        ("baseline.constant_mfu", "peak", _values(rows, constant_mfu)),
        ("baseline.roofline", "peak", _values(rows, roofline)),
        ("baseline.calculon", "published", rows["calculon"].to_numpy()),
        ("baseline.calculon_network", "published", rows["calculon_network"].to_numpy()),
        ("baseline.llm_analysis", "published", rows["llm_analysis"].to_numpy()),
    ]


def _values(rows: pl.DataFrame, model: Callable[[pl.DataFrame], pl.DataFrame]) -> Floats:
    """Predictions in the order of `rows`, every row of which the model must know."""
    joined = rows.join(model(rows), on="case", how="left", maintain_order="left", validate="1:1")
    found: Floats = joined["value"].to_numpy()
    return found


def as_it_comes(rows: pl.DataFrame, predicted: Floats, name: str) -> list[Entry]:
    """All figures of predictions that were fitted on nothing here."""
    observed, groups = rows["step_time"].to_numpy(), rows["group"].to_numpy()
    found = scores(predicted, observed, groups)
    picked = decide(rows.with_columns(observed=observed, predicted=predicted))
    return [
        Entry(name, *_percent(found.mape), found.n, *_bounds(found.ci_low, found.ci_high)),
        Entry(f"{name}.bias", *_percent(found.bias), found.n),
        Entry(f"{name}.median", *_percent(found.median), found.n),
        Entry(f"{name}.p90", *_percent(found.p90), found.n),
        Entry(f"{name}.worst", *_percent(found.worst), found.n),
        Entry(f"{name}.spearman", found.spearman, "1", found.n),
        Entry(f"{name}.order", *_percent(found.order), found.n),
        Entry(f"{name}.hit_rate", *_percent(picked.hit_rate), picked.sets),
        Entry(f"{name}.regret", *_percent(picked.regret), picked.sets),
    ]


def fitted(rows: pl.DataFrame, bound: Floats, name: str) -> list[Entry]:
    """Entries of a model with one fitted scalar, on groups it was not fitted on."""
    observed, groups = rows["step_time"].to_numpy(), rows["group"].to_numpy()

    def fit_predict(fit: Mask, score: Mask) -> Floats:
        share = fit_share(bound[fit], observed[fit])
        found: Floats = bound[score] / share
        return found

    predicted = held_out(leave_one_group_out(groups), fit_predict, len(observed))
    halves = [
        mape(errors(fit_predict(fit, score), observed[score])) for fit, score in half_splits(groups)
    ]
    low, high = np.quantile(halves, [0.025, 0.975])
    return [
        *as_it_comes(rows, predicted, f"{name}.logo"),
        Entry(
            f"{name}.halves", *_percent(float(np.mean(halves))), len(observed), *_bounds(low, high)
        ),
    ]


def repeat_noise(rows: pl.DataFrame) -> list[Entry]:
    """Error that no model can beat: one measurement as the prediction of its repeats."""
    same = ("hidden", "layers", "heads", "tp", "pp", "dp", "micro_batch", "global_batch")
    key = [*same, "zero_stage", "dtype", "epoch"]
    pairs = rows.join(rows, on=key, suffix="_again").filter(pl.col("line") != pl.col("line_again"))
    error = errors(pairs["step_time_again"].to_numpy(), pairs["step_time"].to_numpy())
    return [Entry("baseline.repeat_noise", *_percent(mape(error)), len(error))]


def _percent(fraction: float) -> tuple[float, str]:
    return PERCENT * fraction, "%"


def _bounds(low: float, high: float) -> tuple[float, float]:
    return PERCENT * float(low), PERCENT * float(high)
