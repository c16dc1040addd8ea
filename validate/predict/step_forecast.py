"""The step model as registered: out of the box, and calibrated on other groups of the machine.

A forecast carries a 90 % interval: out of the box from how far campaigns and their rows lie from
the shipped stacks (`spread.half_width`), calibrated from the rows it was fitted to.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.model.fit.step_fit import ENOUGH, fit, telling
from assay.model.frames import PREDICTION, predictions
from assay.model.kernels.kernel import Columns, Floats, Values, rows
from assay.model.schedule import STEP
from assay.model.stacks.kernel_times import kernel_times, with_own
from assay.model.stacks.stack import Stack
from assay.model.step.spread import half_width
from assay.model.step.step import components
from assay.model.transformer.parallel import faults
from assay.model.transformer.training_run import Run, run
from assay.validate.cases.cases import CONFIGURED
from assay.validate.cases.step_cases import PLACE, SPREAD, completed, with_runs
from assay.validate.predict.forecasts import Asked, held_together, with_throughput

SCOPE = "configuration"
"""Part of a stack that holds the residuals of a site."""

LEVEL = 0.9
"""Share of step times that an interval is to hold."""

LEAST_SPREAD = 0.05

FEW_SPREAD = 0.20

FEW = 10
"""Half-widths after calibration: never less than the first; the second with fewer than `FEW`."""

LEAST = 2
"""Configurations that must have been seen: one step time cannot say which residual it is due to."""


class Known(NamedTuple):
    """Cases that are runs: their frame (case, machine, group) and component table, row by row."""

    frame: pl.DataFrame
    table: Columns
    spread: Floats  # 90 % half-width of log(observed/predicted) where nothing was measured


def as_shipped(asked: Asked) -> pl.DataFrame:
    """Step times with the shipped stacks, or the caller's; throughput where a case prints it."""
    asked = asked.with_adapters()
    known = runs_of(asked.cases.configuration, asked.stack)
    part = None if asked.stack is None else asked.stack.parts.get(SCOPE)
    seconds = seconds_of(known, asked.stack)
    spread = known.spread
    if part is not None and part.interval is not None and known.frame.height:
        spread = np.log(part.interval.bounds(seconds)[1] / seconds)
    return with_throughput(framed(known.frame, seconds, spread, STEP.name), asked)


def seconds_of(known: Known, own: Stack | None = None) -> Floats:
    """Seconds a step of every run, with the residuals of the caller's `own` stack or none."""
    part = None if own is None else own.parts.get(SCOPE)
    values = STEP.starts | ({} if part is None else part.values)
    return STEP.time(known.table, values) if known.frame.height else np.empty(0)


def held_out(asked: Asked) -> pl.DataFrame:
    """Step times with residuals fitted on the machine's other groups; none without `LEAST` rows.

    Which residuals, every second group says for those between: one choice serves many fits.
    """
    known = runs_of(asked.cases.configuration)
    frame = held_together(timed(known, asked), "seconds")
    parts = [pl.DataFrame(schema=PREDICTION)]
    first, middle = steady(known, frame["seconds"].to_numpy())
    halves = _halves(known, frame, first, middle)
    labels = frame["group"].to_numpy()
    places = frame.with_row_index("at").group_by("machine", "part", maintain_order=True).agg("at")
    of_machine = {machine: rows.explode("at")["at"].to_numpy()
                  for (machine,), rows in places.group_by("machine")}  # fmt: skip
    for machine, _, at in places.iter_rows():
        others = np.setdiff1d(of_machine[machine], at, assume_unique=True)
        told = np.isin(first, others, assume_unique=True)
        seen, measured = first[told], middle[told]
        if len(seen) < LEAST:
            continue
        free = halves.get((str(machine), str(labels[at[0]])))
        values, spread = calibrated(rows(known.table, seen), measured, labels[seen], free)
        mine = np.array(at)
        seconds = STEP.time(rows(known.table, mine), values)
        parts.append(framed(frame[at], seconds, np.full(len(at), spread), f"{STEP.name}_fitted"))
    return with_throughput(pl.concat(parts), asked)


def _halves(
    known: Known, frame: pl.DataFrame, first: np.ndarray, middle: Floats
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Machine and group → the residuals that the half of the groups without it tells, if it can.

    `first` and `middle` are the `steady` rows of the frame.
    """
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    measured = frame[first].select("machine", "group")
    for (machine,), mine in frame.group_by("machine", maintain_order=True):
        groups = mine["group"].unique(maintain_order=True).to_list()
        for half in (groups[::2], groups[1::2]):
            among = (measured["machine"] == machine) & ~measured["group"].is_in(half)
            seen = first[among.to_numpy()]
            if len(seen) >= ENOUGH:
                free = telling(rows(known.table, seen), middle[among.to_numpy()])
                found |= {(str(machine), group): free for group in half}
    return found


def timed(known: Known, asked: Asked) -> pl.DataFrame:
    """The runs with their printed `seconds` a step, null where none counts."""
    return known.frame.join(
        asked.speed.select("case", "samples"), on="case", how="left", maintain_order="left"
    ).with_columns(seconds=pl.col("global_batch") / pl.col("samples"))


def digests(configuration: pl.DataFrame, seconds: pl.DataFrame) -> pl.DataFrame:
    """case and `digest` of its configuration and seconds a step; `seconds` has case and seconds.

    What a row is called, and where it stands, does not count: another copy is the same row; nor do
    its nodes, which follow from its devices where a side file says how many each has.
    """
    apart = {*LABELS, "nodes"}
    told = [name for name in CONFIGURED if name not in apart and name in configuration.columns]
    rows_of = configuration.join(seconds.select("case", "seconds"), on="case", how="inner")
    rows_of = rows_of.filter(pl.col("seconds").is_not_null())
    found = []
    for row in rows_of.iter_rows(named=True):
        said = {name: row[name] for name in ("machine", *told) if row.get(name) is not None}
        text = f"{sorted(said.items())} {row['seconds']:.4g}"
        found.append((row["case"], hashlib.sha256(text.encode()).hexdigest()[:DIGITS]))
    return pl.DataFrame(found, schema={"case": pl.String, "digest": pl.String}, orient="row")


def fitted(asked: Asked) -> pl.DataFrame:
    """Column `case`: the rows that the caller's stack was fitted to, by their digests."""
    part = None if asked.stack is None else asked.stack.parts.get(SCOPE)
    if part is None or not part.seen:
        return pl.DataFrame(schema={"case": pl.String})
    known = runs_of(asked.cases.configuration, asked.stack)
    told = digests(asked.cases.configuration, timed(known, asked))
    return told.filter(pl.col("digest").is_in(list(part.seen))).select("case")


LABELS = ("model", "model_size", "parameters", "gpu")
"""Columns of a configuration that name what others say."""

DIGITS = 16


def steady(
    known: Known, seconds: Floats, among: np.ndarray | None = None
) -> tuple[np.ndarray, Floats]:
    """One row and its median seconds per configuration and group of the rows with a time, in order.

    Of those `among`, where given. A log of ten thousand lines is one measurement, and its median is
    not its warm-up.
    """
    counts = ~np.isnan(seconds) if among is None else among & ~np.isnan(seconds)
    table = pl.DataFrame({f"={name}": values for name, values in known.table.items()})
    keys = pl.concat([known.frame.select("machine", "group"), table], how="horizontal")
    alike = (
        keys.with_row_index("at").filter(pl.Series(counts))
        .group_by(keys.columns, maintain_order=True).agg("at")["at"]
    )  # fmt: skip
    first = alike.list.first().to_numpy().astype(np.intp)
    middle = [float(np.median(seconds[rows_at])) for rows_at in alike.to_list()]
    return first, np.array(middle)


def calibrated(
    table: Columns,
    seconds: Floats,
    groups: np.ndarray,
    free: tuple[str, ...] | None = None,
) -> tuple[Values, float]:
    """Residuals fitted to measured steps, and the half-width of log(observed/predicted) after.

    Those named `free`, else those that the rows tell.
    """
    if free is None:
        free = telling(table, seconds)
    found = fit(table, seconds, groups, free, starts=2, draws=0)
    missed = np.abs(np.log(found.time(table) / seconds))
    spread = max(LEAST_SPREAD, 1.5 * float(np.quantile(missed, 0.9)))
    return found.values, max(spread, FEW_SPREAD) if len(seconds) < FEW else spread


def runs_of(configuration: pl.DataFrame, own: Stack | None = None) -> Known:
    """The rows that can run, in their order; equal configurations are computed once.

    Kernels are those of each row's machine, or of the caller's `own` stack for its machine.
    """
    able = with_runs(configuration.with_row_index("at"))
    if able.is_empty():
        return Known(configuration.clear().select(KEPT), {}, np.empty(0))
    same = [name for name in configuration.columns if name not in PLACE]
    alike = able.group_by(same, maintain_order=True).agg("at")
    distinct: list[Run] = []
    shaped: list[float] = []  # what an assumed shape adds
    rows_at, kept = [], []
    for row in completed(alike).iter_rows(named=True):
        built = run(row | {"case": ""})
        if built is None or faults(built, gpus_given=row["gpus"]):
            continue
        kept += row["at"]
        rows_at += [len(distinct)] * len(row["at"])
        distinct.append(built)
        shaped.append(row.get(SPREAD) or 0.0)
    order = np.argsort(kept)
    frame = configuration[np.sort(kept).tolist()].select(KEPT)
    if not distinct:
        return Known(frame, {}, np.empty(0))
    at = np.array(rows_at)[order]
    spread = np.array([half_width(one, kernel_times(one.machine.name)) for one in distinct])
    spread = np.hypot(spread, np.array(shaped))
    return Known(frame, rows(_components(distinct, own), at), spread[at])


KEPT = ("case", "machine", "group", "global_batch")


def _components(runs: list[Run], own: Stack | None) -> Columns:
    if own is None or any(one.machine.name != own.machine for one in runs):
        return components(runs)
    return components(runs, with_own(own.machine, own))


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
