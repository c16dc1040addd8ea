"""One record a run: every figure that any view shows of it, worked out once.

In: a report. Out: a `Record` for each run, in the order of the inputs. Rates are those of the
median step, and so is the error; parts are seconds of one step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from assay.ingest.schema.reading import Reading
from assay.model.machines.datasheets import machine
from assay.model.schedule import STEP, breakdown
from assay.model.transformer.parallel import stage_parameters
from assay.model.transformer.parameters import parameters
from assay.model.transformer.shapes import gpt
from assay.model.transformer.training_run import run as training_run
from assay.validate.cases.jobs import of_run
from assay.validate.cases.standing import medians, weighed
from assay.validate.cases.step_cases import completed
from assay.validate.cases.step_frames import cases_of, present, unsaid
from assay.validate.cases.steps import Steps, steps
from assay.validate.predict.step_forecast import SCOPE, runs_of
from assay.validate.runs.endings import ending, totals
from assay.validate.runs.run import Run, by_run, runs
from assay.validate.runs.timers import Measured, measured, parts_of
from assay.validate.score.assess import Report

MODEL = "step"
"""The model whose prediction stands in a record."""

FULL = 0.93
"""Share of a device's memory from which the allocator is likely to slow the steps down."""

FAR = 1.5
"""A measured part is worth a sentence from so many times its prediction on,"""

DIFFERENT = 0.02
"""Counts of parameters or operations that differ by more are two ways of counting."""

WORTH = 0.05
"""if it takes this share of the step at least."""


@dataclass(frozen=True)
class Record:
    """One run. Seconds, bytes, tokens a second, flop a second a device; ratios are fractions."""

    id: str
    source: str
    first_line: int
    last_line: int
    name: str
    machine: str | None
    configuration: Mapping[str, Any]
    steps: int
    settled: int
    step_time: float | None
    step_spread: float | None
    tokens_per_s: float | None
    tokens_per_gpu_per_s: float | None
    flops_rate: float | None
    mfu: float | None
    rates_printed: Mapping[str, float]
    totals: Mapping[str, float]
    formula_id: str | None
    peak: float | None
    memory_allocated: float | None
    memory_reserved: float | None
    memory_capacity: float | None
    loss_first: float | None
    loss_last: float | None
    skipped: int | None
    nan: int | None
    last_step: int | None
    planned_steps: int | None
    ended: str | None
    predicted_step_time: float | None
    predicted_low: float | None
    predicted_high: float | None
    inside: bool | None
    parts_predicted: Mapping[str, float]
    parts_measured: Sequence[Measured]
    diagnosis: Sequence[str]

    @property
    def error(self) -> float | None:
        """Predicted over measured step time, less one."""
        if self.step_time is None or self.predicted_step_time is None:
            return None
        return self.predicted_step_time / self.step_time - 1

    @property
    def fullness(self) -> float | None:
        """Share of the device's memory that is held: reserved where it is told, else allocated."""
        held = self.memory_reserved or self.memory_allocated
        return held / self.memory_capacity if held and self.memory_capacity else None


def records(report: Report) -> tuple[Record, ...]:
    """The record of every run of a report."""
    reading = report.outcome.reading
    held = {each.run: each for each in steps(reading)}
    last = _last_cases(report, held)
    spent, forecasts, models = _parts(report, last), _predicted(report, held), _models(report, held)
    capacities, sizes = _capacities(reading), _rank_parameters(report, last)
    return tuple(
        _record(
            report, run, held[run.case], spent.get(run.case, {}),
            forecasts.get(run.case, (None, None, None)), models.get(run.case, {}),
            capacities.get(run.source), sizes.get(run.case),
        )
        for run in runs(reading, report.cases, report.comparison.pairs)
    )  # fmt: skip


Forecast = tuple[float | None, float | None, float | None]
"""Seconds of a step, and the ends of their interval."""


def _record(
    report: Report, run: Run, held: Steps, expected: Mapping[str, float], forecast: Forecast,
    model: Mapping[str, Any], capacity: float | None, sizes: RankParameters | None,
) -> Record:  # fmt: skip
    reading = report.outcome.reading
    said = run.configuration
    step = _value(run, "step_time")
    tokens = _value(run, "tokens_per_s")
    rate = run.metrics.get("model_flops_rate")
    mfu = run.metrics.get("mfu")
    device = machine(run.machine) if run.machine else None
    predicted, low, high = forecast
    inside = None if step is None or low is None or high is None else low <= step <= high
    timers = measured(reading, run.case, held.steady)
    told = "lm_loss" in held.rows.columns
    losses = present(held.rows["lm_loss"]) if told else pl.Series()
    lines = held.every["line"]
    found = Record(
        id=run.case,
        source=run.source,
        first_line=lines.min(),  # type: ignore[arg-type]
        last_line=lines.max(),  # type: ignore[arg-type]
        name=named(said, run.machine, model),
        machine=run.machine,
        configuration=said,
        steps=_timed(held),
        settled=held.steady.height,
        step_time=step,
        step_spread=run.metrics["step_time"].noise if "step_time" in run.metrics else None,
        tokens_per_s=tokens,
        tokens_per_gpu_per_s=tokens / said["gpus"] if tokens and said.get("gpus") else None,
        flops_rate=rate.value if rate else None,
        mfu=mfu.value if mfu else None,
        rates_printed=_printed(held),
        totals=_totals(reading, run.case),
        formula_id=rate.basis if rate else None,
        peak=_peak(run),
        memory_allocated=_value(run, "memory_max_allocated"),
        memory_reserved=_value(run, "memory_max_reserved"),
        memory_capacity=capacity or (device.memory_bytes if device else None),
        loss_first=losses[0] if len(losses) else None,
        loss_last=losses[-1] if len(losses) else None,
        skipped=_count(run, "skipped_iterations"),
        nan=_count(run, "nan_iterations"),
        last_step=_progress(run)[0],
        planned_steps=_progress(run)[1],
        ended=ending(reading, held).said(*_progress(run)),
        predicted_step_time=predicted,
        predicted_low=low,
        predicted_high=high,
        inside=inside,
        parts_predicted=expected,
        parts_measured=timers,
        diagnosis=(),
    )
    return replace(found, diagnosis=(*diagnosis(found), *counts_that_differ(found, sizes)))


class RankParameters(NamedTuple):
    """Parameters of the rank that holds most: as its log prints them, and as its sizes count."""

    printed: float
    counted: float


def _rank_parameters(report: Report, last: pl.DataFrame) -> dict[str, RankParameters]:
    """By run; not of a log that prints none by rank, or whose sizes are not known.

    `last` are `_last_cases`.
    """
    found: dict[str, RankParameters] = {}
    for at, run in enumerate(last["run"]):
        printed: list[float] = []
        for mine in of_run(report.outcome.reading, "parameters", run):
            if {"count", "tp_rank"} <= set(mine.columns):
                printed += mine.drop_nulls("tp_rank")["count"].drop_nulls().to_list()
        if printed:
            one = last.slice(at, 1).drop("run")
            ran = training_run(completed(one).row(0, named=True))
            if ran is not None:
                found[run] = RankParameters(max(printed), stage_parameters(ran))
    return found


def counts_that_differ(run: Record, sizes: RankParameters | None) -> list[str]:
    """Printed parameters and FLOP rates beside those that the sizes of the run give."""
    found = []
    if sizes and abs(sizes.printed / sizes.counted - 1) > DIFFERENT:
        found.append(
            f"a rank holds {sizes.printed / 1e9:.4g} billion parameters as printed, "
            f"{sizes.counted / 1e9:.4g} by the sizes of the model"
        )
    printed = run.rates_printed.get("model_flops_rate")
    if printed and run.flops_rate and abs(printed / run.flops_rate - 1) > DIFFERENT:
        found.append(
            f"the log prints {printed / 1e12:.4g} TFLOP/s per GPU, where {run.formula_id} counts "
            f"{run.flops_rate / 1e12:.4g}"
        )
    return found


def _timed(held: Steps) -> int:
    """Rows that print a time or rate of a step; all, where none does."""
    return held.rows[held.pace].count() or held.rows.height


PRINTED: Mapping[str, str] = {
    "step_time_average": "s", "step_rate": "1/s", "samples_per_s": "sample/s",
    "samples_per_gpu_per_s": "sample/s", "samples_per_s_average": "sample/s",
    "tokens_per_s": "token/s",
    "tokens_per_gpu_per_s": "token/s", "token_rate": "token/s", "model_flops_rate": "flop/s",
    "flops_rate_per_gpu": "flop/s", "flops_rate": "flop/s", "mfu": "1", "hfu": "1", "memory": "B",
}  # fmt: skip
"""Figures that a step may print of itself, and their units."""


def _printed(held: Steps) -> dict[str, float]:
    """The median of each figure as it is printed, over the settled rows or over all."""
    rows = held.steady if held.steady.height else held.rows
    columns = rows.columns
    there = [name for name in PRINTED if name in columns and not unsaid(rows, name)]
    middle = {name: rows[name].median() for name in there}
    return {name: value for name, value in middle.items() if isinstance(value, float)}


TOTALS: Mapping[str, str] = {
    "elapsed": "s", "samples_per_s": "sample/s", "step_rate": "1/s", "token_rate": "token/s",
    "loss": "",
}  # fmt: skip
"""Figures of a whole training that a log may print at its end, and their units."""


def _totals(reading: Reading, run: str) -> dict[str, float]:
    said = totals(reading, run)
    return {name: float(said[name]) for name in TOTALS if said.get(name) is not None}


def _value(run: Run, name: str) -> float | None:
    metric = run.metrics.get(name)
    return None if metric is None else metric.value


def _count(run: Run, name: str) -> int | None:
    value = _value(run, name)
    return None if value is None else round(value)


def _capacities(reading: Reading) -> dict[str, float]:
    """Input → the memory that its device itself tells of, bytes; datasheets round it."""
    own: defaultdict[str, set[float]] = defaultdict(set)
    for held in reading.with_rows("device"):
        if "memory" in held.frame.columns:
            for source, memory in held.frame.select("source", "memory").drop_nulls().iter_rows():
                own[source].add(memory)
    return {source: float(*sizes) for source, sizes in own.items() if len(sizes) == 1}


def _peak(run: Run) -> float | None:
    """The peak that the MFU rests on, flop/s of a device."""
    mfu, rate = _value(run, "mfu"), _value(run, "model_flops_rate")
    return rate / mfu if mfu and rate else None


def _progress(run: Run) -> tuple[int | None, int | None]:
    """The last step, and those of the schedule, as far as they are printed."""
    return run.progress or (run.window[1] if run.window else None, None)


def _predicted(report: Report, held: Mapping[str, Steps]) -> dict[str, Forecast]:
    """Run → the step model's time and interval: the medians over the settled rows."""
    names = ("predicted", "predicted_low", "predicted_high")
    pairs = report.comparison.pairs
    own = pairs.filter(pl.col("quantity") == "step_time", pl.col("model") == MODEL)
    steady = {run: cases_of(each.steady) for run, each in held.items()}
    rows = weighed(by_run(own.select("case", *names), steady), report.outcome.reading)
    found = medians(rows, ("run",), names)
    return {run: (middle, low, high) for run, middle, low, high in found.iter_rows()}


def _last_cases(report: Report, held: Mapping[str, Steps]) -> pl.DataFrame:
    """The configuration of the last settled step of each run, with a column `run`."""
    settled = {run: cases_of(each.steady) for run, each in held.items()}
    mine = by_run(report.cases.configuration, settled)
    return mine.unique("run", keep="last", maintain_order=True)


def _parts(report: Report, last: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Run → seconds of one step by what the step model spends them on, of those that it knows.

    `last` are `_last_cases`.
    """
    known = runs_of(last.drop("run"), report.stack)
    if known.frame.is_empty() or not known.table:
        return {}
    part = None if report.stack is None else report.stack.parts.get(SCOPE)
    values = STEP.starts | ({} if part is None else part.values)
    found = breakdown(known.table, values)
    of = dict(last.select("case", "run").iter_rows())
    rows = np.ones(known.frame.height)
    columns = {name: (np.atleast_1d(seconds) * rows).tolist() for name, seconds in found.items()}
    return {
        of[case]: {name: values[at] for name, values in columns.items()}
        for at, case in enumerate(known.frame["case"])
    }


def named(said: Mapping[str, Any], device: str | None, model: Mapping[str, Any]) -> str:
    """A name that a person recognises: model, machine, layout, batch, sequence length.

    `model` is what all rows say of it, by column.
    """
    size = _size(said, model)
    layout = " ".join(
        f"{short}{said[name]}"
        for short, name in (("TP", "tp"), ("PP", "pp"), ("CP", "cp"), ("EP", "ep"), ("DP", "dp"))
        if said.get(name) and (said[name] > 1 or name in ("tp", "pp", "dp"))
    )
    gpus = f" ×{said['gpus']}" if said.get("gpus") else ""
    batch = _batch(said)
    parts = [size, f"{device or 'machine unknown'}{gpus}", layout, batch]
    if said.get("seq_len"):
        parts.append(f"sequence {said['seq_len']:,}")
    return " · ".join(part for part in parts if part)


def _batch(said: Mapping[str, Any]) -> str:
    micro, whole = said.get("micro_batch"), said.get("global_batch")
    steps = said.get("accumulation")
    if micro and not steps and whole and said.get("dp"):
        count, rest = divmod(whole, micro * said["dp"])
        steps = None if rest else count
    if micro and steps:
        return f"batch {micro} × {steps}" + (f" = {whole}" if whole else "")
    return f"batch {whole}" if whole else ""


MODEL_NAMES = ("model", "parameters", "model_size")
"""Columns that say which model a run trains, the plainest first."""


def _models(report: Report, held: Mapping[str, Steps]) -> dict[str, dict[str, Any]]:
    """Run → what all its rows say of its model, by column; None where they do not agree."""
    cases = {run: cases_of(each.steady if each.steady.height else each.rows)
             for run, each in held.items()}  # fmt: skip
    names = [name for name in MODEL_NAMES if name in report.cases.configuration.columns]
    wide = by_run(report.cases.configuration.select("case", *names), cases)
    one = wide.group_by("run").agg(
        pl.when(pl.col(name).n_unique() == 1).then(pl.col(name).first()) for name in names
    )
    return {row.pop("run"): row for row in one.iter_rows(named=True)}


def _size(said: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    """The model as it is named, or its parameters, or its sizes, or nothing."""
    for name in MODEL_NAMES:
        value = model.get(name) if said.get(name) is None else said[name]
        if isinstance(value, str):
            return value
        if value:
            return f"{value / 1e9:.3g}B"
    counted = _counted(said)
    if counted:
        return f"{counted / 1e9:.3g}B"
    if said.get("layers") and said.get("hidden"):
        return f"{said['layers']} layers of {said['hidden']:,}"
    return "model unknown"


def _counted(said: Mapping[str, Any]) -> float | None:
    """Parameters of a GPT of these sizes; None where a size is not known or it is another."""
    names = ("hidden", "layers", "heads", "vocab", "seq_len")
    if any(not said.get(name) for name in names) or (said.get("experts") or 1) > 1:
        return None
    if said.get("gated") or said.get("kv_heads") not in (None, said["heads"]):
        return None
    shape = gpt(
        hidden=said["hidden"], layers=said["layers"], heads=said["heads"], vocab=said["vocab"],
        context=said["seq_len"],
    )  # fmt: skip
    return float(parameters(shape).total)


def diagnosis(run: Record) -> list[str]:
    """One or two plain sentences on what stands out, the largest difference first."""
    found = []
    if run.step_time and run.parts_predicted:
        beyond = [
            (one.seconds - one.predicted, one)
            for one in parts_of(run.parts_measured, run.parts_predicted)
            if one.seconds > FAR * one.predicted and one.seconds > WORTH * run.step_time
        ]
        if beyond:
            _, worst = max(beyond, key=lambda pair: pair[0])
            found.append(
                f"{worst.timer} takes {worst.seconds:.3g} of {run.step_time:.3g} s, far more than "
                f"the {worst.predicted:.2g} s that the model gives it"
            )
    full = run.fullness
    if run.inside is False and run.step_time and run.predicted_high:
        slow = run.step_time > run.predicted_high
        said = "slower" if slow else "faster"
        more = f"; memory {100 * full:.0f} % of capacity" if full and slow and full > FULL else ""
        more += "; the card is PCIe" if slow and run.machine and "PCIe" in run.machine else ""
        found.append(f"{said} than the interval of the prediction{more}")
    elif full and full > FULL:
        found.append(f"memory at {100 * full:.0f} % of capacity: steps slow down near its end")
    return found
