"""One run as an engineer asks about it: how fast, how steady, how far from the model.

A run begins where its log states a configuration, or with its source where it states none. Its step
time is the median over a window that leaves the warm-up out; the rule is part of the answer. Rates
are those of that step, with the formula and the peak they rest on; where the batch changes, tokens
per second are all tokens over all time.

Megatron's formula of 2021 counts a GPT; a gated MLP, grouped queries or another width need that of
Megatron-core. A run whose machine or number format is unknown has no utilisation. Memory is that of
the fullest rank that reports: Megatron reports every rank, DeepSpeed the one that prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from assay.ingest.schema.reading import Reading
from assay.model.formulas.registry import formula
from assay.model.formulas.utilisation import measure
from assay.model.machines.datasheets import machine
from assay.validate.cases.cases import CONFIGURED, Cases
from assay.validate.cases.jobs import Jobs, jobs, of_run
from assay.validate.cases.standing import medians, weighed
from assay.validate.cases.step_frames import OnDisk, StepRows, cases_of, present, together, unsaid
from assay.validate.cases.steps import RULE, Steps, steps
from assay.validate.predict import memory_forecast

THROUGHPUT = "throughput"
"""Name of the identity by which one printed speed follows from another: no forecast."""

FEWEST = 3
"""Rows of which a spread can be told; that of fewer is unknown, not zero."""


@dataclass(frozen=True)
class Run:
    """One run, as its log tells of it."""

    case: str
    source: str
    configuration: Mapping[str, Any]
    machine: str | None
    rows: int
    window: tuple[int, int] | None  # first and last iteration that count
    left_out: int
    metrics: Mapping[str, Metric]
    validation: Sequence[tuple[str, float]]  # when, loss
    predicted: Mapping[str, float] = field(default_factory=dict)  # model → step time
    progress: tuple[int, int] | None = None  # last iteration, and those of the schedule
    memory: Remembered | None = None
    parts: Sequence[str] = ()  # of a run that several files hold, in order
    why: Sequence[str] = ()  # what proves that they are one


def runs(reading: Reading, cases: Cases, pairs: pl.DataFrame | None = None) -> tuple[Run, ...]:
    """Every run of a reading, in order. `pairs` (see `compare`) add what was predicted."""
    known = jobs(reading)
    steady = {each.run: cases_of(each.steady) for each in steps(reading)}
    stating = {
        each.run: cases_of(each.rows)
        if each.run in known.parts or steady[each.run].is_empty() else steady[each.run]
        for each in steps(reading)
    }  # fmt: skip
    memory = {each.run: _telling_memory(reading, each) for each in steps(reading)}
    told = _Told(
        _configurations(cases, stating, known),
        _predicted(reading, pairs, stating) | _predicted(reading, pairs, steady),
        _of_memory(pairs, {run: cases_of(rows) for run, rows in memory.items()}),
    )
    found = [_run(reading, each, known, told, memory[each.run]) for each in steps(reading)]
    return tuple(sorted(found, key=lambda run: run.case))


class _Told(NamedTuple):
    """Answers for all runs: configuration and machine, predicted steps, pairs of memory."""

    configuration: Mapping[str, tuple[dict[str, Any], str | None]]
    predicted: Mapping[str, dict[str, float]]
    memory: Mapping[str, pl.DataFrame]


def _telling_memory(reading: Reading, found: Steps) -> StepRows:
    """The rows that tell of the memory of a run: a report of its ranks, or its steps."""
    reports = (part for part in of_run(reading, "rank", found.run) if memory_metrics(part))
    return next(reports, found.rows)


def _run(reading: Reading, found: Steps, known: Jobs, told: _Told, memory: StepRows) -> Run:
    case, every, rows, steady, out, _ = found
    configuration, device = told.configuration.get(case, ({}, None))
    window = None
    if "iteration" in steady.columns and steady.height:
        window = (_first(steady, "iteration"), _last(steady, "iteration"))
    figures = [
        *_speed(steady, configuration, device, out),
        *memory_metrics(memory),
        *_counts(rows, superseded=every.height - rows.height),
    ]
    return Run(
        case=case, source=_first(every, "source"), configuration=configuration, machine=device,
        rows=rows.height, window=window, left_out=out,
        metrics={metric.name: metric for metric in figures if metric.value is not None},
        validation=_validation(reading, case),
        predicted=told.predicted.get(case, {}),
        progress=_progress(rows),
        memory=remembered(told.memory.get(case)),
        parts=known.parts.get(case, ()), why=known.why.get(case, ()),
    )  # fmt: skip


def _first(rows: StepRows, name: str) -> Any:
    return (rows.slice(0, 1) if isinstance(rows, OnDisk) else rows)[name][0]


def _last(rows: StepRows, name: str) -> Any:
    return (rows.slice(rows.height - 1, 1) if isinstance(rows, OnDisk) else rows)[name][-1]


def _progress(rows: StepRows) -> tuple[int, int] | None:
    if not {"iteration", "train_iters"} <= set(rows.columns) or rows.is_empty():
        return None
    done, planned = _last(rows, "iteration"), _last(rows, "train_iters")
    return None if done is None or planned is None else (done, planned)


def by_run(frame: pl.DataFrame, cases: Mapping[str, pl.Series]) -> pl.DataFrame:
    """The rows of a frame that are about a case of a run, with a column `run`."""
    held = together(list(cases.values()))
    names = pl.Series("run", list(cases), pl.String).gather(held["run"])
    known = held.with_columns(names).unique()
    return frame.join(known.select("case", "run"), on="case", maintain_order="left")


def _configurations(
    cases: Cases, stating: Mapping[str, pl.Series], known: Jobs
) -> dict[str, tuple[dict[str, Any], str | None]]:
    """Values that all rows of the window of a run share, and its machine.

    Of several files one may hold the configuration of all.
    """
    names = [name for name in (*CONFIGURED, "machine") if name in cases.configuration.columns]
    wide = by_run(cases.configuration.select("case", *names), stating)
    names = [name for name in names if wide[name].null_count() < wide.height]
    each_run = wide.group_by("run").agg(
        pl.struct(
            held=pl.col(name).drop_nulls().first(),
            kinds=pl.col(name).drop_nulls().n_unique(),
            lacking=pl.col(name).null_count(),
        ).alias(name)
        for name in names
    )
    found = {}
    for row in each_run.iter_rows(named=True):
        run, said = row.pop("run"), {}
        for name, each in row.items():
            if each["kinds"] == 1 and (run in known.parts or not each["lacking"]):
                said[name] = each["held"]
        device = said.pop("machine", None)
        found[run] = said, device
    return found


def _speed(steady: StepRows, said: Mapping[str, Any], device: str | None, out: int) -> list[Metric]:
    times = present(steady["step_time"])
    if times.is_empty():
        return []
    median = float(times.median())  # type: ignore[arg-type]
    noise = 1.4826 * _deviation(times, median) / median if times.len() >= FEWEST else None
    low, high = times.quantile(0.1), times.quantile(0.9)
    span = f"{times.len()} rows, {out} left out; 10 to 90 %: {low:.6g} to {high:.6g} s; {RULE}"
    found = [Metric("step_time", median, "s", span, noise)]
    if said.get("global_batch") and said.get("seq_len"):
        tokens = said["global_batch"] * said["seq_len"] / median
        found.append(Metric("tokens_per_s", tokens, "token/s", "of the median step", noise))
    elif said.get("seq_len") and (batch := _batches(steady)) is not None:
        tokens = float((batch * said["seq_len"]).sum()) / float(times.sum())
        basis = "tokens of the window over its time: the batch changes"
        found.append(Metric("tokens_per_s", tokens, "token/s", basis, noise))
    found += rates(said, device, median, noise)
    if "model_flops_rate" in steady.columns:
        printed = steady["model_flops_rate"].median()
        if isinstance(printed, float):
            basis = "printed by the framework, its own formula"
            found.append(Metric("printed_flops_rate", printed, "flop/s", basis, noise))
    return found


def _deviation(times: pl.Series, middle: float) -> float:
    """The median distance from the middle, in the memory of one copy."""
    away = times.to_numpy().copy()
    away -= middle
    np.abs(away, out=away)
    return float(np.median(away, overwrite_input=True))


def _batches(steady: StepRows) -> pl.Series | None:
    """The batch of each step, where every one prints it."""
    batch = steady["global_batch"] if "global_batch" in steady.columns else None
    return None if batch is None or batch.null_count() else batch


def _counts(rows: StepRows, *, superseded: int) -> list[Metric]:
    """Iterations that did not count: skipped, NaN, superseded by a restart."""
    found = []
    there = rows.columns
    columns = [name for name in ("skipped_iterations", "nan_iterations")
               if name in there and not unsaid(rows, name)]  # fmt: skip
    # what several ranks print of one iteration happened once
    counter = ["iteration"] if columns and "iteration" in there else []
    once = rows.select([*counter, *columns]) if columns else pl.DataFrame()
    if counter and not (once["iteration"].diff().drop_nulls() > 0).all():
        once = once.unique("iteration", maintain_order=True)
    for column in columns:
        if once[column].count():
            found.append(Metric(column, float(once[column].sum()), "", "sum over all rows"))
    if superseded:
        why = "rows that a restart printed again, or another file of the job"
        found.append(Metric("superseded", float(superseded), "", why))
    losses = present(rows["lm_loss"]) if "lm_loss" in there else pl.Series()
    if len(losses):
        found.append(Metric("lm_loss", losses[-1], "", "the last printed"))
    return found


def _validation(reading: Reading, case: str) -> list[tuple[str, float]]:
    return [
        (moment or f"iteration {iteration}", loss)
        for rows in of_run(reading, "validation", case)
        for iteration, moment, loss in rows.select("iteration", "moment", "lm_loss").iter_rows()
        if loss is not None
    ]


def _predicted(
    reading: Reading, pairs: pl.DataFrame | None, cases: Mapping[str, pl.Series]
) -> dict[str, dict[str, float]]:
    """Run → the predicted step time of each model: the median over its cases."""
    if pairs is None:
        return {}
    own = pairs.filter(pl.col("quantity") == "step_time", pl.col("model") != THROUGHPUT)
    table = weighed(by_run(own.select("case", "model", "predicted"), cases), reading)
    found: dict[str, dict[str, float]] = {}
    for run, model, middle in medians(table, ("run", "model"), ("predicted",)).iter_rows():
        if middle is not None:
            found.setdefault(run, {})[str(model)] = middle
    return found


def _of_memory(
    pairs: pl.DataFrame | None, cases: Mapping[str, pl.Series]
) -> dict[str, pl.DataFrame]:
    """Run → the pairs of the memory model, of the cases that tell of its memory."""
    if pairs is None:
        return {}
    own = pairs.filter(pl.col("model") == memory_forecast.NAME, pl.col("quantity") == "memory")
    told = by_run(own.drop_nulls("error"), cases)
    return {part["run"][0]: part for part in told.partition_by("run")}


UTILISATION = "narayanan-eq3-stored"
"""Model FLOPs utilisation of Megatron's own formula: nothing that is computed twice counts."""

RECOMPUTED = "narayanan-eq3"
"""Hardware FLOPs utilisation by that formula: a second forward pass counts."""


def rates(
    said: Mapping[str, Any], device: str | None, step: float, noise: float | None
) -> list[Metric]:
    """Rates by formula, and shares of the machine's peak where it is known."""
    found = []
    shape = _shape(said)
    for formula_id in _formulas(said):
        inputs = formula(formula_id).inputs
        if any(shape.get(name) is None for name in (*inputs, "gpus", "global_batch")):
            continue
        peak, source = _peak(device, said.get("dtype"))
        rate = measure(
            formula_id, {name: float(shape[name]) for name in inputs},
            samples_per_second=said["global_batch"] / step, gpus=said["gpus"],
            peak_flops=peak or float("nan"), peak_source=source,
        )  # fmt: skip
        quantity = formula(formula_id).quantity
        name = "model_flops_rate" if quantity == "mfu" else "hardware_flops_rate"
        found.append(Metric(name, rate.value, "flop/s", formula_id, noise))
        if peak:
            basis = f"{formula_id} over {source}"
            found.append(Metric(quantity, rate.utilisation, "1", basis, noise))
    return found


def _shape(said: Mapping[str, Any]) -> dict[str, Any]:
    """Configuration of a run, completed where its own shape settles a field."""
    shape = dict(said)
    if shape.get("hidden") and shape.get("heads"):
        shape.setdefault("kv_heads", shape["heads"])
        shape.setdefault("ffn_hidden", 4 * shape["hidden"])
        shape["head_dim"] = shape["hidden"] / shape["heads"]
    return shape


def _formulas(said: Mapping[str, Any]) -> list[str]:
    """The formulas that count a run's shape; none where experts are not spelled out."""
    if said.get("experts", 1) > 1:
        return []
    shape = _shape(said)
    gated = bool(said.get("gated"))
    plain = shape.get("kv_heads") in (None, shape.get("heads")) and (
        shape.get("ffn_hidden") in (None, 4 * shape.get("hidden", 0))
    )
    if gated or not plain:
        return [f"megatron-core.{'gated' if gated else 'plain'}.gqa.dense.full"]
    return [UTILISATION] + ([RECOMPUTED] if said.get("recompute") == "full" else [])


def _peak(device: str | None, dtype: str | None) -> tuple[float | None, str]:
    if device is None or dtype is None:
        return None, ""
    try:
        peak = machine(device).peak(dtype)
    except LookupError:
        return None, ""
    return peak, f"{device} {dtype} dense, {peak / 1e12:g} TFLOP/s"


class Remembered(NamedTuple):
    """Printed against predicted maxima of the ranks of a run; bytes, errors as fractions."""

    ranks: int
    mape: float
    fullest: float  # printed
    predicted: float  # of that rank


def memory_metrics(every: StepRows) -> list[Metric]:
    """The peak of the fullest rank, and how many ranks tell of theirs."""
    found = []
    there = every.columns
    peaks = [name for name in ("max_allocated", "max_reserved")
             if name in there and not unsaid(every, name)]  # fmt: skip
    rows = every.select(["rank", *peaks]) if peaks else pl.DataFrame()
    for column in peaks:
        worst = rows.drop_nulls(column).sort(column, descending=True)
        if worst.is_empty():
            continue
        rank = worst["rank"][0]
        ranks = rows["rank"].n_unique()
        where = f"rank {rank}, the fullest of {ranks}" if rank is not None else "the rank that says"
        found.append(Metric(f"memory_{column}", worst[column][0], "B", where))
    return found


def remembered(own: pl.DataFrame | None) -> Remembered | None:
    """Forecast of the memory model for a run, of its pairs from `_of_memory`; None without any."""
    if own is None:
        return None
    fullest = own.sort("value", descending=True).row(0, named=True)
    return Remembered(
        own.height, float(own["error"].abs().mean()),  # type: ignore[arg-type]
        fullest["value"], fullest["predicted"],
    )  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """One figure of a run and what it rests on; `noise` is its relative spread between rows."""

    name: str
    value: float | None
    unit: str
    basis: str
    noise: float | None = None
