"""Frames whose rows are steps of a run, under one set of names.

In: a reading. Out: its frames of steps, each with the columns of `COLUMNS`, whatever its schema
calls what has their role. Formats are told apart by what their schemas say, never by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import polars as pl
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.reading import Held, Reading
from assay.ingest.vocabulary.terms import Role

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


def step_frames(reading: Reading) -> Iterator[StepFrame]:
    """The frames of steps that hold any; the first that a run has is believed."""
    for held in reading.with_rows("step"):
        counter = _first(held, "counter")
        restarts = counter is not None and counter.name in held.format.repeats
        yield StepFrame(held.name, _named(held), restarts)


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
