"""One run as an engineer asks about it: how fast, how steady, how far from the model.

A run begins where its log states a configuration, or with its source where it states none. Its step
time is the median over a window that leaves the warm-up out; the rule is part of the answer. Rates
come with the formula and the peak they rest on, tokens per second are all tokens over all time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from assay.ingest.types import Reading
from assay.model.formulas import formula
from assay.model.machine import machine
from assay.model.utilisation import measure
from assay.validate.cases import CONFIGURED, Cases

STEPS = ("megatron_iteration", "deepspeed_step", "step_rate")
"""Frames that hold steps; the first that a run has is believed."""

SETTLED = 0.05
"""Rows at the start belong to the warm-up while they lie farther from the late median than this."""

MOST = 0.5
"""At most this share of the rows is left out as warm-up."""

RULE = (
    "median over the rows after warm-up: the first row, and those behind it that lie more than "
    "5 % from the median of the second half, at most half of all"
)

UTILISATION = "narayanan-eq3-stored"
"""Model FLOPs utilisation of Megatron's own formula: nothing that is computed twice counts."""

RECOMPUTED = "narayanan-eq3"
"""The same with full recomputation: what the hardware did."""


@dataclass(frozen=True)
class Metric:
    """One figure of a run and what it rests on; `noise` is its relative spread between rows."""

    name: str
    value: float | None
    unit: str
    basis: str
    noise: float | None = None


@dataclass(frozen=True)
class Run:
    """What a log says of one run."""

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


def runs(reading: Reading, cases: Cases, pairs: pl.DataFrame | None = None) -> tuple[Run, ...]:
    """Every run of a reading, in order. `pairs` (see `compare`) add the predicted step times."""
    starts = _starts(reading)
    found = []
    taken: set[str] = set()
    for name in STEPS:
        frame = reading.frames.get(name)
        if frame is None or frame.is_empty():
            continue
        quoted = _quoting(reading)
        steps = frame.filter(
            pl.col("mark").ne_missing("superseded"), ~pl.col("source").is_in(quoted)
        )
        steps = _of_runs(steps, starts).filter(~pl.col("run").is_in(sorted(taken)))
        for part in steps.partition_by("run", maintain_order=True):
            found.append(_run(reading, cases, part, name, frame, starts, pairs))
            taken.add(part["run"][0])
    return tuple(sorted(found, key=lambda run: run.case))


def _quoting(reading: Reading) -> list[str]:
    """Documents among the inputs: training lines in them are quotations, not a run."""
    tables = reading.frames.get("markdown_table")
    return tables["source"].unique(maintain_order=True).to_list() if tables is not None else []


def _starts(reading: Reading) -> pl.DataFrame:
    """source, line and case of every run that states its configuration."""
    frame = reading.frames.get("runs")
    if frame is None:
        return pl.DataFrame(schema={"source": pl.String, "line": pl.UInt32, "run": pl.String})
    return frame.select("source", "line", "run").sort("source", "line")


def _of_runs(frame: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    """`frame` with the run of each row: the last that begins above it in its source."""
    plain = frame.drop("run") if "run" in frame.columns else frame
    joined = plain.sort("line", maintain_order=True).join_asof(
        starts.sort("line"), on="line", by="source", strategy="backward", check_sortedness=False
    )
    return joined.with_columns(pl.col("run").fill_null(pl.col("source"))).sort(
        "source", "line", maintain_order=True
    )


def _run(
    reading: Reading, cases: Cases, rows: pl.DataFrame, name: str, frame: pl.DataFrame,
    starts: pl.DataFrame, pairs: pl.DataFrame | None,
) -> Run:  # fmt: skip
    case, source = rows["run"][0], rows["source"][0]
    timed = rows.filter(pl.col("step_time").is_not_null() & pl.col("step_time").is_finite())
    out = warm_up(timed["step_time"].to_list())
    steady = timed.slice(out)
    ids = [f"{source}#{line}" for line in steady["line"]]
    configuration, device = _configuration(cases, ids)
    counter = next((c for c in ("iteration", "step") if c in steady.columns), None)
    window = None
    if counter and steady.height:
        window = (steady[counter][0], steady[counter][-1])
    metrics = {
        metric.name: metric
        for metric in (
            *_speed(steady, configuration, device, out),
            *_memory(reading, source, case, starts),
            *_counts(rows, reading, source, case, frame, starts),
        )
        if metric.value is not None
    }
    return Run(
        case=case, source=source, configuration=configuration, machine=device, rows=rows.height,
        window=window, left_out=out, metrics=metrics,
        validation=_validation(reading, source, case, starts),
        predicted=_predicted(pairs, ids),
    )  # fmt: skip


def _configuration(cases: Cases, ids: Sequence[str]) -> tuple[dict[str, Any], str | None]:
    """What all rows of the window agree on, and the machine."""
    wide = cases.configuration.filter(pl.col("case").is_in(list(ids)))
    said = {}
    for name in (*CONFIGURED, "machine"):
        values = wide[name].unique().drop_nulls().to_list() if name in wide.columns else []
        if len(values) == 1 and wide[name].null_count() == 0:
            said[name] = values[0]
    device = said.pop("machine", None)
    return said, device


def _speed(
    steady: pl.DataFrame, said: Mapping[str, Any], device: str | None, out: int
) -> list[Metric]:
    times = steady["step_time"]
    if times.is_empty():
        return []
    median = float(times.median())  # type: ignore[arg-type]
    deviation = float((times - median).abs().median())  # type: ignore[arg-type]
    noise = 1.4826 * deviation / median
    low, high = times.quantile(0.1), times.quantile(0.9)
    span = f"{times.len()} rows, {out} left out; 10 to 90 %: {low:.6g} to {high:.6g} s; {RULE}"
    found = [Metric("step_time", median, "s", span, noise)]
    batch = steady["global_batch"] if "global_batch" in steady.columns else None
    if batch is not None and batch.null_count() == 0 and said.get("seq_len"):
        tokens = float((batch * said["seq_len"]).sum()) / float(times.sum())
        basis = "tokens of the window over its time (harmonic mean)"
        found.append(Metric("tokens_per_s", tokens, "token/s", basis, noise))
    found += _rates(said, device, median, noise)
    if "model_flops_rate" in steady.columns:
        printed = steady["model_flops_rate"].median()
        if isinstance(printed, float):
            basis = "printed by the framework, its own formula"
            found.append(Metric("printed_flops_rate", printed, "flop/s", basis, noise))
    return found


def _rates(said: Mapping[str, Any], device: str | None, step: float, noise: float) -> list[Metric]:
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
    """What a run says, with what its shape has where it says nothing."""
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
    plain = shape.get("kv_heads") == shape.get("heads") and shape.get("ffn_hidden") == (
        4 * shape.get("hidden", 0) or None
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


def _part(
    reading: Reading, name: str, source: str, case: str, starts: pl.DataFrame
) -> pl.DataFrame | None:
    """The rows of frame `name` that belong to one run."""
    frame = reading.frames.get(name)
    if frame is None or frame.is_empty():
        return None
    own = _of_runs(frame.filter(pl.col("source") == source), starts)
    return own.filter(pl.col("run") == case)


def _memory(reading: Reading, source: str, case: str, starts: pl.DataFrame) -> list[Metric]:
    """The peak of the fullest rank, and how many ranks tell of theirs."""
    rows = _part(reading, "megatron_memory", source, case, starts)
    if rows is None or rows.is_empty():
        return []
    found = []
    for column in ("max_allocated", "max_reserved"):
        worst = rows.drop_nulls(column).sort(column, descending=True)
        if worst.is_empty():
            continue
        rank = worst["rank"][0]
        ranks = rows["rank"].n_unique()
        where = f"rank {rank}, the fullest of {ranks}" if rank is not None else "the rank that says"
        found.append(Metric(f"memory_{column}", worst[column][0], "B", where))
    return found


def _counts(
    rows: pl.DataFrame, reading: Reading, source: str, case: str, frame: pl.DataFrame,
    starts: pl.DataFrame,
) -> list[Metric]:  # fmt: skip
    """Iterations that did not count: skipped, NaN, superseded by a restart."""
    found = []
    for column in ("skipped_iterations", "nan_iterations"):
        if column in rows.columns and rows[column].count():
            found.append(Metric(column, float(rows[column].sum()), "", "sum over all rows"))
    whole = _of_runs(frame.filter(pl.col("source") == source), starts)
    old = whole.filter(pl.col("run") == case, pl.col("mark") == "superseded").height
    if old:
        found.append(Metric("superseded", float(old), "", "rows that a restart printed again"))
    if "lm_loss" in rows.columns and rows["lm_loss"].count():
        found.append(Metric("lm_loss", rows["lm_loss"].drop_nulls()[-1], "", "the last printed"))
    return found


def _validation(
    reading: Reading, source: str, case: str, starts: pl.DataFrame
) -> list[tuple[str, float]]:
    rows = _part(reading, "megatron_validation", source, case, starts)
    if rows is None:
        return []
    return [
        (moment or f"iteration {iteration}", loss)
        for iteration, moment, loss in rows.select("iteration", "moment", "lm_loss").iter_rows()
        if loss is not None
    ]


def _predicted(pairs: pl.DataFrame | None, ids: Sequence[str]) -> dict[str, float]:
    """The predicted step time of each model: the median over the rows of the window."""
    if pairs is None:
        return {}
    own = pairs.filter(pl.col("case").is_in(list(ids)), pl.col("quantity") == "step_time")
    medians = own.group_by("model", maintain_order=True).agg(pl.col("predicted").median())
    return dict(medians.iter_rows())
