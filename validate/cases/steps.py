"""Rows that are steps of a run, and those of them that have settled.

In: a reading. Out: for each run its steps in order, and the window of those that count for its
speed: a run warms up, and a model of its steady state is not judged by that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.validate.cases.jobs import Jobs, jobs
from assay.validate.cases.observe import case_of
from assay.validate.cases.step_frames import step_frames

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
    """The steps of one run: all that are printed, those that count, and those that have settled."""

    run: str  # the case of its first line
    every: pl.DataFrame
    rows: pl.DataFrame  # not superseded, an iteration once
    steady: pl.DataFrame  # with a time, after the warm-up
    left_out: int


def warm_up(times: Sequence[float]) -> int:
    """How many rows at the start of a run are warm-up.

    >>> warm_up([5837.9, 2711.1, 2767.3, 2770.8, 2759.1]), warm_up([3.0]), warm_up([1.0, 1.0, 1.0])
    (1, 0, 1)
    """
    if len(times) < 3:
        return 0
    late = sorted(times[len(times) // 2 :])
    middle = late[len(late) // 2]
    most = int(MOST * len(times))
    out = 1
    while out < most and abs(times[out] / middle - 1) > SETTLED:
        out += 1
    return out


def steps(reading: Reading, known: Jobs) -> Iterator[Steps]:
    """The steps of every run of a reading; `known` says which lines are one run."""
    taken: set[str] = set()
    quoted = _quoting(reading)
    for frame in step_frames(reading):
        held = known.of(frame.rows.with_columns(case=case_of())).filter(
            ~pl.col("source").is_in(quoted), ~pl.col("run").is_in(sorted(taken))
        )
        for every in held.partition_by("run", maintain_order=True):
            run = every["run"][0]
            taken.add(run)
            rows = _counting(every)
            timed = rows.filter(pl.col("step_time").is_not_null() & pl.col("step_time").is_finite())
            last = _of_last_batch(timed)
            out = warm_up(last["step_time"].to_list())
            yield Steps(run, every, rows, last.slice(out), timed.height - last.height + out)


def _of_last_batch(timed: pl.DataFrame) -> pl.DataFrame:
    """The rows with the batch of the last one: no median is taken over a batch that ramps up."""
    if "global_batch" not in timed.columns or timed["global_batch"].n_unique() < 2:
        return timed
    batch = timed["global_batch"].drop_nulls()[-1]
    return timed.filter(pl.col("global_batch").eq_missing(batch))


def unsettled(reading: Reading) -> pl.Series:
    """The cases of all steps with a time that have not settled yet."""
    found = [pl.Series("case", dtype=pl.String)]
    for one in steps(reading, jobs(reading)):
        timed = one.rows.filter(pl.col("step_time").is_not_null())
        found.append(timed.join(one.steady, on="case", how="anti")["case"])
    return pl.concat(found)


def _quoting(reading: Reading) -> list[str]:
    """Documents among the inputs: training lines in them are quotations, not a run."""
    return [
        source
        for held in reading.with_rows("table")
        for source in held.frame["source"].unique(maintain_order=True)
    ]


def _counting(every: pl.DataFrame) -> pl.DataFrame:
    """The rows that count: not superseded, each iteration once.

    Of an iteration that two parts print it is the later one, of one that several ranks print that
    of the slowest: the others wait for it.
    """
    rows = every.filter(pl.col("mark").ne_missing("superseded"))
    if "iteration" not in rows.columns:
        return rows
    rows = rows.filter(pl.col("order") == pl.col("order").max().over("iteration"))
    who = [name for name in ("host", "rank") if name in rows.columns and rows[name].n_unique() > 1]
    if not who or rows["iteration"].null_count():
        return rows
    slowest = pl.struct(who).sort_by(
        "step_time", "line", descending=[True, False], nulls_last=True
    ).first().over("iteration")  # fmt: skip
    return rows.filter(pl.struct(who) == slowest)
