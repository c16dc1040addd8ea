"""Forecast for a configuration: time by what it is spent on, memory, and an interval.

A configuration comes from a TOML file (keys are those of `frames.CONFIGURATION_CASE`, or `model`
with a public name) or from whatever a log or a table says of its runs. `forecast_frame` gives a row
for each of many.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from assay.model.machines.datasheets import machine as machine_of
from assay.model.schedule import STEP, breakdown
from assay.model.stacks.kernel_times import with_own
from assay.model.stacks.stack import Stack, load
from assay.model.step.memory import Reserve, memory
from assay.model.step.step import components
from assay.model.transformer.parallel import check
from assay.model.transformer.training_run import NEEDED, Run, run
from assay.validate.cases.step_cases import ASSUMED, completed
from assay.validate.predict.step_forecast import SCOPE, SPREAD
from assay.validate.score.assess import assess


class Unpredictable(ValueError):
    """A configuration that cannot be predicted, and why."""


def predictions(path: str | Path, machine: str, stack: Path | None = None) -> list[dict[str, Any]]:
    """One document per configuration of `path`, SI values, in its order; equal ones once.

    Raises LookupError for an unknown machine (it lists the known ones and how to add one),
    Unpredictable where nothing can be predicted, ValueError for a file that is none.
    """
    name = machine_of(machine).name
    own = None if stack is None else load(stack.read_text(encoding="utf-8"))
    return of_cases(cases_of(Path(path), name), own)


def of_cases(wide: pl.DataFrame, stack: Stack | None = None) -> list[dict[str, Any]]:
    """`predictions` for configurations in the columns of `frames.CONFIGURATION_CASE`, `case` first.

    Raises Unpredictable where nothing can be predicted.
    """
    found, said = [], []
    for row in _rows(wide):
        try:
            found.append(_one(row, stack))
        except Unpredictable as fault:
            said.append(f"{row['case']}: {fault}")
    if not found:
        raise Unpredictable("; ".join(dict.fromkeys(said)) or "no configuration was found")
    return found


def cases_of(path: Path, machine: str) -> pl.DataFrame:
    """The configurations of a file, in the columns of `frames.CONFIGURATION_CASE`."""
    if path.suffix == ".toml":
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        stated = {"case": str(path)} | document.get("configuration", document)
        stated.setdefault("machine", machine)
        return pl.DataFrame([stated])
    wide = assess([path], machine=machine, models=["constant_mfu"]).cases.configuration
    if wide.is_empty():
        raise Unpredictable(f"{path}: no configuration was found")
    return wide


def _rows(wide: pl.DataFrame) -> Iterable[Mapping[str, Any]]:
    """Configurations as rows that `training_run.run` takes, equal ones once."""
    same = [name for name in wide.columns if name not in ("case", "line", "consumed")]
    return completed(wide.unique(same, keep="first", maintain_order=True)).iter_rows(named=True)


def _one(row: Mapping[str, Any], stack: Stack | None) -> dict[str, Any]:
    lacking = [name for name in NEEDED if row.get(name) is None]
    if lacking:
        raise Unpredictable(f"lacks {', '.join(lacking)}")
    built = run(row)
    if built is None:
        peaks = ", ".join(machine_of(row["machine"]).peaks)
        raise Unpredictable(
            f"{row['machine']} has no {row['dtype']} (it has {peaks}), or the heads do not group"
        )
    try:
        check(built, gpus_given=row["gpus"])
    except ValueError as fault:
        raise Unpredictable(str(fault)) from None
    return {"case": row["case"]} | forecast(built, stack)


def forecast(built: Run, stack: Stack | None = None) -> dict[str, Any]:
    """Step time with its interval and breakdown, throughput and memory of one run."""
    part = None if stack is None else stack.parts.get(SCOPE)
    values = STEP.starts | ({} if part is None else part.values)
    times = with_own(built.machine.name, stack)
    table = components([built], times)
    seconds = float(STEP.time(table, values)[0])
    low, high = seconds / math.exp(SPREAD), seconds * math.exp(SPREAD)
    if part is not None and part.interval is not None:
        ends = part.interval.bounds(np.array([seconds]))
        low, high = float(ends[0][0]), float(ends[1][0])
    counted = memory(built)
    batch = built.micro_batches * built.micro_batch * built.dp
    spent = {name: float(value[0]) for name, value in breakdown(table, values).items()}
    gpus = built.layout.tp * built.layout.cp * built.pp * built.dp
    return {
        "machine": built.machine.name,
        "step_time": seconds,
        "step_time_low": low,
        "step_time_high": high,
        "tokens_per_gpu_per_s": batch * built.seq_len / gpus / seconds,
        "spent": spent,
        "memory": float(Reserve().peak(np.array([counted.total]))[0]),
        "memory_counted": counted._asdict(),
        "memory_capacity": built.machine.memory_bytes,
        "kernels_measured_on": times.whose,
        "residuals": {name: value for name, value in values.items() if name != "pace"},
        "residuals_of": "no measurement of this site" if part is None else part.origin,
        "assumed_where_unsaid": list(ASSUMED),
    }


def lines(found: Mapping[str, Any]) -> list[str]:
    """One forecast as lines of text."""
    total = found["step_time"]
    text = [
        f"{found['case']}: {total:.4g} s per step "
        f"[{found['step_time_low']:.4g}, {found['step_time_high']:.4g}], "
        f"{found['tokens_per_gpu_per_s']:.4g} tokens/s per GPU",
        *(
            f"  {name:<12}{seconds:>10.4g} s {100.0 * seconds / total:>6.1f} %"
            for name, seconds in found["spent"].items()
        ),
        f"  memory {found['memory'] / 1e9:.1f} GB of {found['memory_capacity'] / 1e9:.0f} GB: "
        + ", ".join(f"{name} {size / 1e9:.1f}" for name, size in found["memory_counted"].items()),
        f"  kernels measured on {found['kernels_measured_on']}; "
        f"residuals of {found['residuals_of']}",
    ]
    if found["memory"] > found["memory_capacity"]:
        text.append("  does not fit: expect it to run out of memory")
    return text


PARTS = {"spent": "spent", "memory_counted": "memory"}
"""Values that are told part by part: a column each, with this prefix."""

TOLD = ("residuals", "assumed_where_unsaid")
"""Values that become no column."""


def forecast_frame(
    configuration: str | Path | Mapping[str, Any] | pl.DataFrame,
    machine: str,
    stack: Stack | None = None,
) -> pl.DataFrame:
    """One row per configuration; see `assay.validate.api.forecast`."""
    name = machine_of(machine).name
    if isinstance(configuration, pl.DataFrame):
        wide = configuration.with_columns(pl.col("machine").fill_null(name))
    elif isinstance(configuration, Mapping):
        wide = pl.DataFrame([{"case": "configuration", "machine": name, **configuration}])
    else:
        wide = cases_of(Path(configuration), name)
    return pl.DataFrame([_flat(each) for each in of_cases(wide, stack)])


def _flat(told: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in told.items():
        if name in PARTS:
            row |= {f"{PARTS[name]}_{part}": one for part, one in value.items()}
        elif name not in TOLD:
            row[name] = value
    return row
