"""Rows that are steps of a run, and those of them that have settled.

In: a reading. Out: for each run its steps in order, and the window of those that count for its
speed: a run warms up, and a model of its steady state is not judged by that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.schema.reading import Reading
from assay.validate.cases.jobs import Jobs, jobs
from assay.validate.cases.memo import once
from assay.validate.cases.observe import case_of
from assay.validate.cases.step_frames import (
    PACES,
    TIME,
    OnDisk,
    StepRows,
    cases_of,
    flags,
    held_of,
    sources_of,
    step_frames,
    together,
    unsaid,
    varies,
)

SETTLED = 0.05
"""Rows at the start belong to the warm-up while they lie farther from the late median than this."""

MOST = 0.5
"""At most this share of the rows is left out as warm-up."""

RULE = (
    "median over the rows after warm-up: the first row, and those behind it that lie more than "
    "5 % from the median of the second half, at most half of all; of a batch that ramps up, the "
    "last one"
)


class Steps(NamedTuple):
    """The steps of one run: all that are printed, those that count, and those that have settled.

    `pace` is the column of `PACES` that tells which have: where no time is printed, a rate.
    """

    run: str  # the case of its first line
    every: StepRows
    rows: StepRows  # not superseded, an iteration once
    steady: StepRows  # with a time or rate, after the warm-up
    left_out: int
    pace: str = TIME


def warm_up(times: Sequence[float] | npt.NDArray[np.float64]) -> int:
    """How many rows at the start of a run are warm-up.

    >>> warm_up([5837.9, 2711.1, 2767.3, 2770.8, 2759.1]), warm_up([3.0]), warm_up([1.0, 1.0, 1.0])
    (1, 0, 1)
    """
    if len(times) < 3:
        return 0
    late = np.asarray(times[len(times) // 2 :])
    middle = float(np.partition(late, len(late) // 2)[len(late) // 2])
    most = int(MOST * len(times))
    out = 1
    while out < most and abs(times[out] / middle - 1) > SETTLED:
        out += 1
    return out


@once
def steps(reading: Reading) -> tuple[Steps, ...]:
    """The steps of every run of a reading."""
    return tuple(_steps(reading, jobs(reading)))


def _steps(reading: Reading, known: Jobs) -> Iterator[Steps]:
    taken: set[str] = set()
    quoted = _quoting(reading)
    for cased in _cased(reading, known):
        held = _unquoted(cased, quoted)
        if held.is_empty():
            continue
        for run, every in known.runs(held):
            if run in taken:
                continue
            taken.add(run)
            rows = _counting(every)
            pace, timed = _timed(rows)
            last = _of_last_batch(timed)
            told = last[pace].to_numpy()
            out = warm_up(told if pace == TIME else 1.0 / told)
            left_out = timed.height - last.height + out
            steady = last.slice(out, last.height - out) if out else last
            yield Steps(run, every, rows, steady, left_out, pace)


def _timed(rows: StepRows) -> tuple[str, StepRows]:
    """The column that tells how fast the steps were, and the steps of which it does."""
    none = rows.slice(0, 0)
    columns = rows.columns
    for pace in PACES:
        if pace in columns and not unsaid(rows, pace):
            found = _paced(rows, pace)
            if not found.is_empty():
                return pace, found
    return TIME, none


def _paced(rows: StepRows, pace: str) -> StepRows:
    """The rows whose pace is a number that a step can have."""
    if isinstance(rows, OnDisk):
        wanted = pl.col(pace).is_finite() & ((pl.col(pace) > 0) | (pace == TIME))
        return _only(rows, wanted.fill_null(value=False))
    told = rows[pace].to_numpy()
    wanted_here = np.isfinite(told) & ((told > 0) | (pace == TIME))
    return rows if wanted_here.all() else rows.filter(pl.Series(wanted_here))


def _unquoted(rows: StepRows, quoted: Sequence[str]) -> StepRows:
    """The rows that do not come from inputs which quote them."""
    if not set(quoted) & set(sources_of(rows)):
        return rows
    return rows.slice(0, 0) if isinstance(rows, OnDisk) else rows.filter(
        ~pl.col("source").is_in(quoted)
    )  # fmt: skip


def _of_last_batch(timed: StepRows) -> StepRows:
    """The rows with the batch of the last one: no median is taken over a batch that ramps up."""
    if "global_batch" not in timed.columns or not varies(timed, "global_batch"):
        return timed
    batch = timed["global_batch"].drop_nulls()[-1]
    return timed.filter(flags(timed, pl.col("global_batch").eq_missing(batch)))


def _cased(reading: Reading, known: Jobs) -> Iterator[StepRows]:
    """The frames of steps with the case of each row; of a long input few rows are cases.

    Where several inputs are one run, those of one format are put together, in memory.
    """
    frames: dict[str, list[pl.DataFrame]] = {}
    for name, rows, _ in step_frames(reading):
        if isinstance(rows, OnDisk) and not known.parts:
            yield rows
            continue
        cased = rows.whole() if isinstance(rows, OnDisk) else rows.with_columns(case=case_of())
        frames.setdefault(name, []).append(cased.select(_telling(cased)))
    for parts in frames.values():
        yield from [pl.concat(parts, how="diagonal_relaxed")] if known.parts else parts


ASKED = ("source", "line", "case", "host", "rank", "mark", "iteration", "lm_loss", TIME)
"""Columns that are looked up in the steps of any run, where its frame has them."""


def _telling(rows: pl.DataFrame) -> list[str]:
    """The columns in which any step says something, and those that are looked up in all.

    A log may hold a run for every few lines of it, and each holds all columns of its frame.
    """
    silent = rows.null_count().row(0)
    return [
        name
        for name, nulls in zip(rows.columns, silent, strict=True)
        if name in ASKED or nulls < rows.height
    ]


def _only(rows: StepRows, wanted: pl.Expr) -> StepRows:
    """The rows that are wanted: these very rows, where all are."""
    found = flags(rows, wanted)
    return rows if found.all() else rows.filter(found)


def unsettled(reading: Reading) -> pl.Series:
    """The cases of all steps with a time or rate that have not settled yet."""
    timed = together([_timed_cases(one) for one in steps(reading)])
    settled = together([cases_of(one.steady) for one in steps(reading)])
    return timed.join(settled, on=["run", "case"], how="anti", maintain_order="left")["case"]


def _timed_cases(one: Steps) -> pl.Series:
    """The cases of the steps of a run that print a time or rate."""
    rows = held_of(one.rows)
    case, pace = rows["case"], rows[one.pace]
    if case.null_count() or pace.null_count():
        return case.filter(case.is_not_null() & pace.is_not_null())
    return case


@once
def warming(reading: Reading) -> dict[str, npt.NDArray[np.uint32]]:
    """Input → lines of all its steps with a time or rate that have not settled yet."""
    found: dict[str, list[pl.Series]] = {}
    for one in steps(reading):
        if isinstance(one.rows, OnDisk) and isinstance(one.steady, OnDisk):
            timed = flags(one.rows, pl.col(one.pace).is_not_null())
            early = one.rows.filter(timed).without(one.steady)
            found.setdefault(early.long.source, []).append(early["line"])
            continue
        table = one.rows.select(["source", "line", one.pace]).drop_nulls(one.pace)
        steady = one.steady.select(["source", "line"])
        for (source,), part in table.join(steady, on=["source", "line"], how="anti").group_by(
            "source"
        ):
            found.setdefault(str(source), []).append(part["line"])
    return {source: pl.concat(lines).to_numpy() for source, lines in found.items()}


def _quoting(reading: Reading) -> list[str]:
    """Documents among the inputs: training lines in them are quotations, not a run."""
    return [
        source
        for held in reading.with_rows("table")
        for source in held.frame["source"].unique(maintain_order=True)
    ]


def _counting(every: StepRows) -> StepRows:
    """The rows that count: not superseded, each iteration once.

    Of an iteration that two parts print it is the later one, of one that several ranks print that
    of the slowest: the others wait for it.
    """
    if isinstance(every, OnDisk):
        rows: StepRows = _only(every, pl.col("mark").ne_missing("superseded"))
    else:
        again = every["mark"] == "superseded"
        rows = every.filter(~again.fill_null(value=False)) if again.any() else every
    columns = rows.columns
    if "iteration" not in columns:
        return rows
    if isinstance(rows, pl.DataFrame) and rows["order"].n_unique() > 1:
        rows = rows.filter(pl.col("order") == pl.col("order").max().over("iteration"))
    who = [name for name in ("host", "rank") if name in columns and varies(rows, name)]
    if not who or rows["iteration"].null_count():
        return rows
    slowest = pl.struct(who).sort_by(
        "step_time", "line", descending=[True, False], nulls_last=True
    ).first().over("iteration")  # fmt: skip
    told = rows.select([*who, "iteration", "step_time", "line"])
    return rows.filter(told.select(pl.struct(who) == slowest).to_series())
