"""Frames whose rows are steps of a run, under one set of names.

In: a reading. Out: its frames of steps, each with the columns of `COLUMNS`, whatever its schema
calls what has their role. Formats are told apart by what their schemas say, never by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.ingest.schema.acceptance import BASE_TYPES
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.reading import Held, Long, Reading
from assay.ingest.vocabulary.terms import Role
from assay.validate.cases.observe import case_of

COLUMNS: Mapping[str, Role] = {
    "iteration": "counter", "train_iters": "schedule", "lm_loss": "loss",
    "skipped_iterations": "skipped", "nan_iterations": "nan",
}  # fmt: skip
"""Column of a frame of steps → the role of the field that it holds."""

TIME = "step_time"
"""Column that holds the time of a step: the field with this quantity, else of the role time."""


class StepFrame(NamedTuple):
    """Steps that one format reads.

    `restarts`: its format knows iterations that a restart prints again, so that a count which falls
    is no other job.
    """

    name: str
    rows: pl.DataFrame
    restarts: bool


def step_frames(reading: Reading, only: Sequence[str] = ()) -> Iterator[StepFrame]:
    """The frames of steps that hold any; the first that a run has is believed.

    Long inputs come by themselves, with every row: of those the columns `only`, where some are
    named, else those that tell how a step went and the cases of rows that the reading holds.
    """
    for held in reading.with_rows("step"):
        counter = _first(held, "counter")
        restarts = counter is not None and counter.name in held.format.repeats
        long = [each for each in reading.long if each.frame == held.name]
        short = ~pl.col("source").is_in([each.source for each in long])
        rest = held._replace(frame=held.frame.filter(short)) if long else held
        if rest.frame.height:
            yield StepFrame(held.name, _named(rest), restarts)
        for each in long:
            yield StepFrame(held.name, _every(held, each, only), restarts)


OF_ROW = ("source", "line", "column", "host", "rank", "mark")


def _every(held: Held, long: Long, only: Sequence[str]) -> pl.DataFrame:
    """All rows of a long input with the columns `only`, or with those that tell how a step went.

    `case` is that of the rows which the reading holds. The source is held as a number for all.
    """
    specs = fields(held.schema)
    told = [n for n, s in specs.items() if s.role or s.quantity or n == "global_batch"
            or (s.unit and not s.configuration)]  # fmt: skip
    units = [f"{n}_ulp" for n in told if specs[n].quantity == TIME and specs[n].has_ulp]
    wanted = [n for n in only if n in _columns(specs)] or [*OF_ROW, *told, *units]
    rows = _named(held._replace(frame=long.rows(wanted)))
    rows = rows.with_columns(source=pl.lit(long.source, pl.Enum([long.source])))
    if only:
        return rows
    mine = held.frame.filter(pl.col("source") == long.source)
    at = np.flatnonzero(np.isin(rows["line"].to_numpy(), mine["line"].to_numpy()))
    case = pl.repeat(None, rows.height, dtype=pl.String, eager=True)
    return rows.with_columns(case=case.scatter(at.tolist(), mine.select(case_of()).to_series()))


def _columns(specs: Mapping[str, FieldSpec]) -> set[str]:
    """The columns of a frame of these fields."""
    units = {f"{name}_ulp" for name, spec in specs.items() if spec.has_ulp}
    return {*BASE_TYPES, *specs, *units}


def _named(held: Held) -> pl.DataFrame:
    """The frame with the columns that all frames of steps have."""
    specs = fields(held.schema).values()
    timed = next((one for one in specs if one.quantity == TIME), None) or _first(held, "time")
    wanted = {name: _first(held, role) for name, role in COLUMNS.items()} | {TIME: timed}
    added = {
        f"{name}{end}": pl.col(f"{spec.name}{end}")
        for name, spec in wanted.items()
        for end in ("", "_ulp")
        if spec is not None and name not in held.frame.columns
        if f"{spec.name}{end}" in held.frame.columns
    }
    nothing = pl.lit(None, pl.Float64)
    untold = {name: nothing for name in (TIME, f"{TIME}_ulp") if name not in held.frame.columns}
    return held.frame.with_columns(**untold | added)


def _first(held: Held, role: Role) -> FieldSpec | None:
    """The first field of a role that the frame holds."""
    there = (one for one in fields(held.schema).values() if one.name in held.frame.columns)
    return next((one for one in there if one.role == role), None)
