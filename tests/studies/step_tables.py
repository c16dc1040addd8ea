"""The step model from one site to another: GPUs of another size, later tables, older machines.

`80_40` is fitted on the rows of the GPU with 80 GB and scored on those of the one with 40, `40_80`
the reverse. A row is anomalous where |log residual| exceeds five robust standard deviations of the
training GPU's own residuals: a rule fixed beforehand, whose hits elsewhere are counted too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from assay.model.fit.step_fit import fit
from assay.model.schedule import STEP
from assay.validate.score.statistics import Floats, Groups, bootstrap, errors, mape

from tests.studies.entries import Entry
from tests.studies.splits import Mask, held_out, leave_one_group_out
from tests.studies.step import PERCENT, anomalous, predictor, residuals
from tests.studies.step_rows import Rows, logs, measured, mosaic

SEED004 = Path("fixtures/markdown_table/mosaic_2022.md")

TABLES = Path("corpus/mfu_table/mosaic_2023_tables.md")
"""Below the folder that the environment variable names; the figures are left out without it."""

CORPUS = "ASSAY_CORPUS"

FREE = ("slowdown", "attention", "odd_head")

LOG_FREE = ("slowdown", "overhead")

CALIBRATION_ROWS = 3

DRAWS = 100

SEED = 20220220

SPREAD = 0.40
"""90 % half-width of log(observed/predicted) where nothing of a site was measured: see below."""


def entries() -> list[Entry]:
    """Figures of every campaign but seed 002."""
    found = [*seed004(), *v100()]
    corpus = os.environ.get(CORPUS)
    if corpus and (Path(corpus) / TABLES).exists():
        found += tables(Path(corpus) / TABLES)
    return found


def seed004() -> list[Entry]:
    """Each GPU size fitted, the other scored."""
    rows = measured(mosaic(SEED004))
    large = (rows.frame["machine"] == "A100-80g").to_numpy()
    found = []
    for name, seen in (("80_40", large), ("40_80", ~large)):
        some, others = rows.at(seen), rows.at(~seen)
        known = fit(some.table, some.seconds, some.groups, FREE)
        odd = anomalous(known, some, others)
        own = anomalous(known, some, some)
        error = errors(known.time(others.table), others.seconds)
        found += [
            _mape(f"seed004.{name}", error[~odd], others.groups[~odd]),
            _mape(f"seed004.{name}_all", error, others.groups),
            Entry(f"seed004.{name}.anomalous", int(odd.sum()), "1", others.size),
            Entry(f"seed004.{name}.anomalous_own", int(own.sum()), "1", some.size),
            *residuals(f"seed004.{name}", known),
        ]
    return found


def tables(path: Path) -> list[Entry]:
    """The tables of 2023: out of the box, and after calibration on three rows."""
    rows = measured(mosaic(path))
    error = errors(_box(rows), rows.seconds)
    inside = np.abs(np.log1p(error)) <= SPREAD
    fresh = ~_seen_before(rows)
    return [
        _mape("tables.box", error, rows.groups),
        Entry("tables.box.bias", *_percent(float(error.mean())), rows.size),
        Entry("tables.box.coverage", *_percent(float(inside.mean())), rows.size),
        _mape("tables.box.fresh", error[fresh], rows.groups[fresh]),
        three("tables.three", rows, FREE),
        Entry("tables.anomalous", _own_anomalies(rows, FREE), "1", rows.size),
    ]


def _own_anomalies(rows: Rows, free: Iterable[str]) -> int:
    """Rows that the rule calls anomalous among those it is fitted to."""
    known = fit(rows.table, rows.seconds, rows.groups, free, draws=0)
    return int(anomalous(known, rows, rows).sum())


def three(name: str, rows: Rows, free: Iterable[str]) -> Entry:
    """Mean error on the other rows after three random ones, and the central 90 % of draws."""
    random = np.random.default_rng(SEED)
    names, found = tuple(free), []
    for _ in range(DRAWS):
        seen = np.zeros(rows.size, dtype=bool)
        seen[random.permutation(rows.size)[:CALIBRATION_ROWS]] = True
        predict = predictor(rows, names)
        found.append(mape(errors(predict(seen, ~seen), rows.seconds[~seen])))
    low, high = np.quantile(found, [0.05, 0.95])
    return Entry(
        name, *_percent(float(np.mean(found))), rows.size, PERCENT * float(low),
        PERCENT * float(high),
    )  # fmt: skip


def _seen_before(rows: Rows) -> Mask:
    """Rows whose step time stands in the tables of 2022 already."""
    key = [*("machine", "hidden", "seq_len", "gpus", "micro_batch", "global_batch"), "step_time"]
    before = mosaic(SEED004).select(key).with_columns(known=True)
    joined = rows.frame.select(key).join(before, on=key, how="left", maintain_order="left")
    return joined["known"].fill_null(value=False).to_numpy()


def v100() -> list[Entry]:
    """Six jobs: out of the box, and with two residuals fitted on the other five."""
    rows = measured(logs())
    error = errors(_box(rows), rows.seconds)
    inside = np.abs(np.log1p(error)) <= SPREAD
    predict = predictor(rows, LOG_FREE)
    left_out = held_out(leave_one_group_out(rows.groups), predict, rows.size)
    return [
        _mape("v100.box", error, rows.groups),
        Entry("v100.box.coverage", *_percent(float(inside.mean())), rows.size),
        Entry("v100.anomalous", _own_anomalies(rows, LOG_FREE), "1", rows.size),
        _mape("v100.two", errors(left_out, rows.seconds), rows.groups),
        *residuals("v100", fit(rows.table, rows.seconds, rows.groups, LOG_FREE)),
    ]


def _box(rows: Rows) -> Floats:
    return np.asarray(STEP.time(rows.table, STEP.starts))


def _mape(name: str, error: Floats, groups: Groups) -> Entry:
    low, high = bootstrap(error, groups)
    return Entry(name, *_percent(mape(error)), len(error), PERCENT * low, PERCENT * high)


def _percent(fraction: float) -> tuple[float, str]:
    return PERCENT * fraction, "%"
