"""Forecast for a configuration: time by what it is spent on, memory, and an interval.

A configuration comes from a TOML file (keys are those of `frames.CONFIGURATION_CASE`, or `model`
with a public name) or from whatever a log or a table says of its runs. `forecast_frame` gives a row
for each of many.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from assay.grammars.toml import toml
from assay.ingest.inputs.paths import named
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.model.machines.datasheets import machine as machine_of
from assay.model.machines.datasheets import resolve as machine_named
from assay.model.machines.dtypes import dtype
from assay.model.schedule import STEP, breakdown
from assay.model.stacks.kernel_times import with_own
from assay.model.stacks.stack import Stack, load
from assay.model.step.baselines import constant_mfu
from assay.model.step.memory import memory, reserved, room
from assay.model.step.spread import half_width, reasons
from assay.model.step.step import components
from assay.model.step.work import Call, head_calls, layer_calls
from assay.model.transformer.operations import Attention
from assay.model.transformer.parallel import check
from assay.model.transformer.shapes import resolve, shapes
from assay.model.transformer.training_run import NEEDED, Run, run
from assay.validate.cases.programs import PROGRAM
from assay.validate.cases.rules import RULES, fill
from assay.validate.cases.stated import values
from assay.validate.cases.step_cases import ASSUMED, FROM_SHAPE, completed
from assay.validate.predict.step_forecast import LEVEL, SCOPE
from assay.validate.score.assess import assess


class Unpredictable(ValueError):
    """A configuration that cannot be predicted, and why."""


EXTRA = ("case", "machine")
"""Keys that a configuration may have beside the columns of `Configuration` and of `PROGRAM`."""


def predictions(
    path: str | Path,
    machine: str,
    stack: Path | None = None,
    given: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """One document per configuration of `path`, SI values, in its order; equal ones once.

    `given` are values by configuration column that overrule those of the file.

    Raises LookupError for an unknown machine (it lists the known ones and how to add one),
    Unpredictable where nothing can be predicted, ValueError for a file that is none.
    """
    name = machine_of(machine).name
    own = None if stack is None else load(stack.read_text(encoding="utf-8"))
    return of_cases(cases_of(Path(path), name, given or {}), own)


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


def cases_of(path: Path, machine: str, given: Mapping[str, str]) -> pl.DataFrame:
    """The configurations of a file, in the columns of `frames.CONFIGURATION_CASE`.

    Raises ValueError for a key or a value that is none, with the nearest.
    """
    if path.suffix == ".toml":
        document = toml(path.read_text(encoding="utf-8"))
        try:
            said = _stated(document.get("configuration", document), given)
        except ValueError as fault:
            raise ValueError(f"{path}: {fault}") from None
        return _framed({"case": str(path), "machine": machine} | said)
    wide = assess([path], machine=machine, given=given, models=["constant_mfu"]).cases.configuration
    if wide.is_empty():
        raise Unpredictable(f"{path}: no configuration was found")
    return wide


def _stated(said: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """A configuration by column, each value as its column holds it; a name of none is refused."""
    known = named(said, (*EXTRA, *PROGRAM))
    extra = {name: value for name, value in known.items() if name in EXTRA}
    held = values({name: value for name, value in known.items() if name not in EXTRA} | dict(given))
    if "dtype" in held:
        held["dtype"] = dtype(held["dtype"])
    shape = ("hidden", "layers", "heads", "vocab")
    if (name := held.get("model")) and not all(part in held for part in shape):
        _shape_named(name)
    return extra | held


def _framed(said: Mapping[str, Any]) -> pl.DataFrame:
    """One configuration as a frame of cases, with what follows from what it states.

    Raises ValueError for a word of sharding that is none, and for a device beside another machine.
    """
    types = {name: spec.dtype for name, spec in fields(Configuration).items()}
    types |= dict.fromkeys(EXTRA, pl.String()) | PROGRAM
    wide, _ = fill(pl.DataFrame([dict(said)], schema=types), RULES)
    if said.get("sharding") and wide["zero_stage"][0] is None:
        raise ValueError(f"sharding {said['sharding']!r} is no strategy; state zero_stage instead")
    if said.get("gpu") and machine_named(said["gpu"]) != said["machine"]:
        raise ValueError(f"the configuration says gpu {said['gpu']!r}, not {said['machine']}")
    return wide.drop("gpu")


def _shape_named(name: str) -> None:
    """Refuse the name of a model that nobody knows and whose shape is not spelled out."""
    try:
        resolve(name)
    except LookupError:
        near = get_close_matches(name.casefold(), shapes(), n=1, cutoff=0.5)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"no public model is called {name!r}{meant or '.'} A model of its own is spelled out: "
            "hidden, layers, heads, vocab"
        ) from None


def _rows(wide: pl.DataFrame) -> Iterable[Mapping[str, Any]]:
    """Configurations as rows that `training_run.run` takes, equal ones once."""
    same = [name for name in wide.columns if name not in ("case", "line", "consumed")]
    once = wide.unique(same, keep="first", maintain_order=True)
    for bare, row in zip(
        once.iter_rows(named=True), completed(once).iter_rows(named=True), strict=True
    ):
        filled = {
            name: value
            for name, value in row.items()
            if value is not None
            and bare.get(name) is None
            and name not in ("case", "line")
            and not (bare.get("model") and name in FROM_SHAPE)
        }
        yield row | {FILLED: filled}


FILLED = "filled"
"""Of a row: the values that nobody stated, by name."""


def _one(row: Mapping[str, Any], stack: Stack | None) -> dict[str, Any]:
    lacking = [name for name in NEEDED if row.get(name) is None]
    if lacking:
        raise Unpredictable(f"lacks {', '.join(lacking)}")
    if said := _undivided(row):
        raise Unpredictable("this configuration cannot exist: " + "; ".join(said))
    built = run(row)
    if built is None:
        raise Unpredictable(_unbuilt(row))
    try:
        check(built, gpus_given=row["gpus"])
    except ValueError as fault:
        raise Unpredictable(str(fault)) from None
    told = {"case": row["case"]} | forecast(built, stack)
    mixture = built.model.experts is not None
    mfu = _of_mixture(built, told["step_time"]) if mixture else _mfu(row, told["step_time"])
    return told | {"assumed": row[FILLED], "mfu": mfu}


def _undivided(row: Mapping[str, Any]) -> list[str]:
    """Sentences on what does not divide, with the numbers."""
    said = []
    kv_heads = row.get("kv_heads") or row["heads"]
    if row["hidden"] % row["heads"] and not row.get("model"):
        said.append(f"a hidden size of {row['hidden']} does not divide among {row['heads']} heads")
    if row["heads"] % kv_heads:
        said.append(f"{row['heads']} heads do not group into {kv_heads} kv heads")
    nodes = row.get("nodes")
    if nodes and row["gpus"] % nodes:
        said.append(f"{row['gpus']} GPUs do not divide among {nodes} nodes")
    each = row["micro_batch"] * row["dp"]
    if each and row["global_batch"] % each:
        said.append(
            f"a global batch of {row['global_batch']} does not divide into micro-batches of "
            f"{row['micro_batch']} on DP {row['dp']}"
        )
    return said


def _unbuilt(row: Mapping[str, Any]) -> str:
    """Why a configuration with everything stated is none that the model knows."""
    peaks = machine_of(row["machine"]).peaks
    if row["dtype"] not in peaks:
        return f"{row['machine']} has no {row['dtype']} (it has {', '.join(peaks)})"
    return (
        f"{row.get('experts')} experts: state experts_per_token and expert_ffn_hidden too, or name "
        f"a public model (there are {', '.join(shapes())})"
    )


def _mfu(row: Mapping[str, Any], seconds: float) -> float | None:
    """Model FLOPs utilisation: matrix products of a step that trains, nothing done again, no mask,
    over the dense peak of the number format.
    """
    needed = ("machine", "dtype", "gpus", "global_batch", "hidden", "layers", "heads", "kv_heads",
              "ffn_hidden", "gated", "seq_len", "vocab")  # fmt: skip
    one = pl.DataFrame([{"case": "", "recompute": "none"} | {n: row.get(n) for n in needed}])
    ideal = constant_mfu(one.with_columns(pl.col("gated").cast(pl.Boolean)))
    return None if ideal.is_empty() else float(ideal["value"][0]) / seconds


def _of_mixture(built: Run, seconds: float) -> float:
    """The same of a mixture of experts, whose products follow from what a rank executes."""
    once = replace(built, recompute="none")
    each = [_unmasked(one) for one in (layer_calls(0, once), head_calls(0, once))]
    total = (built.model.layers * each[0] + each[1]) / built.pp * built.micro_batches
    return total / (built.machine.peak(built.dtype) * seconds)


def _unmasked(calls: Iterable[Call]) -> float:
    """Flop of some calls, masked pairs counted too and no score twice."""
    found = 0.0
    for one in calls:
        operation = one.operation
        if isinstance(operation, Attention):
            again = 1.0 if operation.products == (1, 1) else 4.0 / 5.0  # scores once more
            found += one.times * again * operation.flop_unmasked
        else:
            found += one.times * operation.flop
    return found


def forecast(built: Run, stack: Stack | None = None) -> dict[str, Any]:
    """Step time with its interval and breakdown, throughput and memory of one run."""
    part = None if stack is None else stack.parts.get(SCOPE)
    values = STEP.starts | ({} if part is None else part.values)
    times = with_own(built.machine.name, stack)
    table = components([built], times)
    seconds = float(STEP.time(table, values)[0])
    width = half_width(built, times)
    low, high = seconds / math.exp(width), seconds * math.exp(width)
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
        "memory": counted.total,
        "memory_reserved": reserved(built, counted.total),
        "memory_counted": counted.parts,
        "memory_capacity": room(built),
        "kernels_measured_on": times.whose,
        "residuals": {name: value for name, value in values.items() if name != "pace"},
        "software": built.software.name,
        "attention": built.software.attention,
        "software_because": built.software.reason,
        "wider_because": [why for _, why in reasons(built, times)],
        "residuals_of": "no measurement of this site" if part is None else part.origin,
        "interval": LEVEL,
        "assumed_where_unsaid": list(ASSUMED),
    }


def lines(found: Mapping[str, Any]) -> list[str]:
    """One forecast as lines of text."""
    total = found["step_time"]
    text = [
        f"{found['case']}: {total:.4g} s per step "
        f"[{found['step_time_low']:.4g}, {found['step_time_high']:.4g}] "
        f"({100 * found['interval']:.0f} % interval), "
        f"{found['tokens_per_gpu_per_s']:.4g} tokens/s per GPU{_utilised(found)}",
        *(
            f"  {name:<12}{seconds:>10.4g} s {100.0 * seconds / total:>6.1f} %"
            for name, seconds in found["spent"].items()
        ),
        f"  memory {found['memory'] / 1e9:.1f} GB of {found['memory_capacity'] / 1e9:.0f} GB: "
        + ", ".join(f"{name} {size / 1e9:.1f}" for name, size in found["memory_counted"].items()),
        f"  software {found['software']}, attention {found['attention']} "
        f"({found['software_because']})",
        f"  kernels measured on {found['kernels_measured_on']}; "
        f"residuals of {found['residuals_of']}",
    ]
    if found.get("assumed"):
        said = ", ".join(f"{name} {_word(value)}" for name, value in found["assumed"].items())
        text.append(f"  assumed, nobody states it: {said}")
    if found["memory"] > found["memory_capacity"]:
        text.append("  does not fit: expect it to run out of memory")
    elif found["memory_reserved"] > found["memory_capacity"]:
        text.append("  near capacity: the allocator frees and takes memory again, steps slow down")
    return text


def _utilised(found: Mapping[str, Any]) -> str:
    share = found.get("mfu")
    return "" if share is None else f", MFU {100.0 * share:.1f} % (matrix products, no mask)"


def _word(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


PARTS = {"spent": "spent", "memory_counted": "memory"}
"""Values that are told part by part: a column each, with this prefix."""

TOLD = ("residuals", "assumed_where_unsaid", "assumed")
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
        said = _stated(configuration, {})
        wide = _framed({"case": "configuration", "machine": name} | said)
    else:
        wide = cases_of(Path(configuration), name, {})
    return pl.DataFrame([_flat(each) for each in of_cases(wide, stack)])


def _flat(told: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in told.items():
        if name in PARTS:
            row |= {f"{PARTS[name]}_{part}": one for part, one in value.items()}
        elif name not in TOLD:
            row[name] = value
    return row
