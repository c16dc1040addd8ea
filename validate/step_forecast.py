"""The step model as registered: out of the box, and calibrated on other groups of the machine.

A forecast carries a 90 % interval: out of the box from how far campaigns on machines of every
generation lie from the shipped stacks (`SPREAD`), calibrated from the rows it was fitted to.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.model.configurations import Run, run
from assay.model.frames import PREDICTION, predictions
from assay.model.kernel import Columns, Floats, Values, rows
from assay.model.parallel import faults
from assay.model.step import components
from assay.model.step_fit import fit, telling
from assay.model.step_schedule import STEP
from assay.validate.forecasts import Asked, with_throughput
from assay.validate.identities import throughput
from assay.validate.step_cases import completed

SPREAD = 0.40
"""90 % half-width of log(observed/predicted) of a site of which nothing was measured."""

LEAST_SPREAD = 0.05
FEW_SPREAD = 0.20
"""Half-widths after calibration: never less than the first; the second with fewer than ten rows."""


class Known(NamedTuple):
    """Cases that are runs: their frame (case, machine, group) and component table, row by row."""

    frame: pl.DataFrame
    table: Columns


def as_shipped(asked: Asked) -> pl.DataFrame:
    """Step times with the shipped stacks, and the throughput that the case prints."""
    known = runs_of(asked.cases.configuration)
    seconds = STEP.time(known.table, STEP.starts) if known.frame.height else np.empty(0)
    spread = np.full(known.frame.height, SPREAD)
    return with_throughput(framed(known.frame, seconds, spread, STEP.name), asked)


def held_out(asked: Asked) -> pl.DataFrame:
    """Step times with residuals fitted on the other groups of the same machine; none without."""
    known = runs_of(asked.cases.configuration)
    speed = throughput.best(throughput.sayings(asked.counted, asked.cases.configuration))
    frame = known.frame.join(
        speed.select("case", "samples"), on="case", how="left", maintain_order="left"
    ).with_columns(seconds=pl.col("global_batch") / pl.col("samples"))
    parts = [pl.DataFrame(schema=PREDICTION)]
    for (machine, group), _ in frame.group_by("machine", "group", maintain_order=True):
        mine = ((frame["machine"] == machine) & (frame["group"] == group)).to_numpy()
        others = ((frame["machine"] == machine) & (frame["group"] != group)).to_numpy()
        seen = others & frame["seconds"].is_not_null().to_numpy() & _first_of_each(known, others)
        if not seen.any():
            continue
        measured = frame["seconds"].to_numpy()[seen]
        values, spread = calibrated(
            rows(known.table, seen), measured, frame["group"].to_numpy()[seen]
        )
        seconds = STEP.time(rows(known.table, mine), values)
        chosen = frame.filter(pl.Series(mine))
        parts.append(framed(chosen, seconds, np.full(chosen.height, spread), f"{STEP.name}_fitted"))
    return with_throughput(pl.concat(parts), asked)


def calibrated(
    table: Columns,
    seconds: Floats,
    groups: np.ndarray,
) -> tuple[Values, float]:
    """Residuals fitted to measured steps, and the half-width of log(observed/predicted) after."""
    found = fit(table, seconds, groups, telling(table), draws=0)
    missed = np.abs(np.log(found.time(table) / seconds))
    spread = max(LEAST_SPREAD, 1.5 * float(np.quantile(missed, 0.9)))
    return found.values, max(spread, FEW_SPREAD) if len(seconds) < 10 else spread


def runs_of(configuration: pl.DataFrame) -> Known:
    """The rows that can run, in their order; equal configurations are computed once."""
    wide = completed(configuration)
    places: dict[tuple[object, ...], int] = {}
    distinct: list[Run] = []
    rows_at, kept = [], []
    for index, row in enumerate(wide.iter_rows(named=True)):
        built = run(row | {"case": ""})
        if built is None or faults(built, gpus_given=row["gpus"]):
            continue
        key = _key(built)
        if key not in places:
            places[key] = len(distinct)
            distinct.append(built)
        rows_at.append(places[key])
        kept.append(index)
    frame = wide[kept].select("case", "machine", "group", "global_batch")
    if not distinct:
        return Known(frame, {})
    return Known(frame, rows(components(distinct), np.array(rows_at)))


def _key(one: Run) -> tuple[object, ...]:
    """What makes two runs the same; a machine counts by its name."""
    values = {each.name: getattr(one, each.name) for each in dataclasses.fields(one)}
    return tuple((values | {"machine": one.machine.name}).values())


def framed(frame: pl.DataFrame, seconds: Floats, spread: Floats, model: str) -> pl.DataFrame:
    """A prediction frame with its interval."""
    return predictions(
        frame.select("case").with_columns(
            time=pl.Series(seconds, dtype=pl.Float64),
            factor=pl.Series(np.exp(spread), dtype=pl.Float64),
        ),
        pl.col("time"),
        low=pl.col("time") / pl.col("factor"),
        high=pl.col("time") * pl.col("factor"),
        scope="configuration",
        quantity="step_time",
        unit="s",
        model=model,
        basis=STEP.basis,
    )


def _first_of_each(known: Known, among: np.ndarray) -> np.ndarray:
    """One row per configuration and group: a log of ten thousand lines is one measurement."""
    keys = np.stack([*known.table.values()], axis=1)
    labels = known.frame["group"].to_numpy()
    seen: set[tuple[object, ...]] = set()
    first = np.zeros(len(labels), dtype=bool)
    for index in np.flatnonzero(among):
        key = (labels[index], *keys[index].tolist())
        first[index] = key not in seen
        seen.add(key)
    return first
