"""Where the time of traces goes, and how much of it models predict.

In: the frames of traces, and the pairs of their shapes with predictions. Out: `TraceTime`: shapes,
classes, layers and steps with measured and predicted seconds, and of several ranks of one job who
waits for whom. Errors weighted by time are the sum of |predicted − measured| over that of measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from assay.ingest.schema.fields import about_rows
from assay.ingest.schema.reading import Reading
from assay.validate.cases.observe import case_of

KINDS = ("gemm", "attention", "collective", "pointwise")
_INSTANCE = r"_[0-9]+(/|$)"
"""The number of a module among those of its class."""


@dataclass(frozen=True)
class TraceTime:
    """Frames, times in s. `predicted` is null where no model answers.

    `shapes`: a row per shape; `classes`: per source and kind; `missing`: kernels without a
    prediction per source, kind and reason; `layers`: per source, path of modules and direction;
    `steps`: rows of `trace_step` with predicted time and the part of the kernels' time that it
    stands for; `ranks`: per rank of a job; `models`: whose predictions, by scope.
    """

    shapes: pl.DataFrame
    classes: pl.DataFrame
    missing: pl.DataFrame
    layers: pl.DataFrame
    steps: pl.DataFrame
    ranks: pl.DataFrame
    models: Mapping[str, str]

    @property
    def sources(self) -> list[str]:
        """The traces, in order."""
        return self.classes["source"].unique().sort().to_list()

    def covered(self, source: str) -> float:
        """The part of the time of a trace's kernels that is predicted; copies are no kernels."""
        mine = self.classes.filter(pl.col("source") == source)
        return _ratio(float(mine["covered"].sum()), float(mine["measured"].sum())) or 0.0


def trace_time(reading: Reading, pairs: pl.DataFrame, baselines: Sequence[str]) -> TraceTime | None:
    """Time of the traces of a reading beside `pairs`; None where there are no traces."""
    launches = [held.frame for held in reading.with_rows("launch")]
    if not launches:
        return None
    kernels = pl.concat(launches)
    models = _chosen(pairs, baselines)
    shapes = _shapes(reading, pairs, models)
    known = shapes.select("source", "alike", "each")
    ours = kernels.filter(pl.col("kind") != "copy")
    calls = _calls(ours).join(known, on=["source", "alike"], how="left", maintain_order="left")
    return TraceTime(
        shapes=shapes,
        classes=_summed(calls, "source", "kind"),
        missing=_missing(ours.join(known, on=["source", "alike"], how="left")),
        layers=_layers(calls),
        steps=_steps(reading, calls),
        ranks=ranks(kernels),
        models=models,
    )


def _chosen(pairs: pl.DataFrame, baselines: Sequence[str]) -> dict[str, str]:
    """Of each scope the model that is shown: the calibrated kernels, else one that is no bound."""
    found: dict[str, str] = {}
    for scope in KINDS:
        there = (
            pairs.filter(pl.col("scope") == scope)["model"].unique(maintain_order=True).to_list()
        )
        best = [name for name in there if name not in baselines] or there
        if best:
            found[scope] = "stack" if "stack" in best else str(best[0])
    return found


def _shapes(reading: Reading, pairs: pl.DataFrame, models: Mapping[str, str]) -> pl.DataFrame:
    """Every shape with its calls: measured and predicted seconds of one call and of all."""
    parts = []
    called = {
        about_rows(held.schema).get("scope"): held.frame for held in reading.with_rows("call")
    }
    for kind in (kind for kind in KINDS if kind in called):
        wanted = pairs.filter(
            (pl.col("scope") == kind)
            & (pl.col("model") == models.get(kind, ""))
            & (pl.col("quantity") == "time")
        ).select("case", "subject", each="predicted")
        cased = called[kind].with_columns(case=case_of())
        parts.append(
            cased.join(wanted.unique("case"), on="case", how="left", maintain_order="left").select(
                "source", "line", "column", pl.lit(kind).alias("kind"), "subject", "dtype",
                "operator", "alike", "calls", "time", "spread", "each", measured="total",
                predicted=pl.col("each") * pl.col("calls"),
            )
        )  # fmt: skip
    table = pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame(schema=_SHAPE)
    return table.with_columns(
        error=pl.col("predicted") / pl.col("measured") - 1.0,
        cost=(pl.col("predicted") - pl.col("measured")).abs(),
    ).sort("cost", descending=True, nulls_last=True, maintain_order=True)


_SHAPE = {
    "source": pl.String(), "line": pl.UInt32(), "column": pl.UInt32(), "kind": pl.String(),
    "subject": pl.String(), "dtype": pl.String(), "operator": pl.String(), "alike": pl.Int64(),
    "calls": pl.Int64(), "time": pl.Float64(), "spread": pl.Float64(), "each": pl.Float64(),
    "measured": pl.Float64(), "predicted": pl.Float64(),
}  # fmt: skip


def _calls(kernels: pl.DataFrame) -> pl.DataFrame:
    """One row per call, kernels that belong to none alone; `duration` in s."""
    keys = ["source", "device", "kind", "alike", "call", "step", "layer", "direction"]
    whole = pl.col("alike").is_not_null() & pl.col("call").is_not_null()
    joined = kernels.filter(whole).group_by(keys, maintain_order=True).agg(
        pl.col("duration").sum()
    )  # fmt: skip
    return pl.concat([joined, kernels.filter(~whole).select(*keys, "duration")])


def _summed(calls: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Measured time, the part of it that is predicted, its prediction, and the errors."""
    told = pl.col("each").is_not_null()
    wrong = (pl.col("each") - pl.col("duration")).abs()
    return (
        calls.group_by(by, maintain_order=True)
        .agg(
            calls=pl.len(),
            measured=pl.col("duration").sum(),
            covered=pl.col("duration").filter(told).sum(),
            predicted=pl.when(told.any()).then(pl.col("each").sum()),
            by_call=(wrong / pl.col("duration")).filter(pl.col("duration") > 0).mean(),
            wrong=pl.when(told.any()).then(wrong.sum()),
        )
        .with_columns(
            error=pl.when(pl.col("covered") > 0).then(pl.col("predicted") / pl.col("covered") - 1),
            weighted=pl.when(pl.col("covered") > 0).then(pl.col("wrong") / pl.col("covered")),
        )
    )


UNANSWERED = "no model answers for its shape on this device"
NO_SHAPE = "no shape is known for its kind"


def _missing(kernels: pl.DataFrame) -> pl.DataFrame:
    """Kernels that nothing predicts, per source, kind and reason: how many, how long in s."""
    why = pl.when(pl.col("alike").is_not_null()).then(pl.lit(UNANSWERED)).otherwise("reason")
    return (
        kernels.filter(pl.col("each").is_null())
        .group_by("source", "kind", reason=why.fill_null(NO_SHAPE))
        .agg(kernels=pl.len(), measured=pl.col("duration").sum())
        .sort("measured", "source", "kind", "reason", descending=[True, False, False, False])
    )


def _layers(calls: pl.DataFrame) -> pl.DataFrame:
    """Layers of one kind together: the numbers of modules are taken off their paths."""
    there = calls.filter(pl.col("layer").is_not_null()).with_columns(
        layer=pl.col("layer").str.replace_all(_INSTANCE, "$1")
    )
    return _summed(there, "source", "layer", "direction").sort(
        "measured", descending=True, maintain_order=True
    )


def _steps(reading: Reading, calls: pl.DataFrame) -> pl.DataFrame:
    intervals = [held.frame for held in reading.with_rows("interval")]
    if not intervals:
        return pl.DataFrame()
    steps = pl.concat(intervals)
    whole = _summed(calls, "source", "device", "step").drop("calls")
    numbered = steps.filter(pl.col("step").is_not_null())
    some = numbered.join(whole, on=["source", "device", "step"], how="left", maintain_order="left")
    every = _summed(calls, "source", "device").drop("calls")
    rest = steps.filter(pl.col("step").is_null()).join(
        every, on=["source", "device"], how="left", maintain_order="left", nulls_equal=True
    )
    return pl.concat([some, rest], how="diagonal").sort("source", "start")


def ranks(kernels: pl.DataFrame) -> pl.DataFrame:
    """Of several ranks of one job: time in messages, and how much of it is waiting for others.

    The n-th message of one kind, size and group in a step is the same on every rank. It cannot
    begin before its last rank has come, which waits for nobody: the least of its times is that of
    the transfer, what the others take longer is skew. Who waits least is who the others wait for.
    No clocks are compared.
    """
    told = kernels.filter(pl.col("rank").is_not_null())
    if told["rank"].n_unique() < 2:
        return pl.DataFrame()
    same = ["step", "shape", "operator"]
    messages = (
        told.filter((pl.col("kind") == "collective") & pl.col("shape").is_not_null())
        .sort("rank", "start")
        .with_columns(turn=pl.int_range(pl.len()).over("rank", *same))
    )
    met = messages.group_by(*same, "turn").agg(least=pl.col("duration").min(), there=pl.len())
    count = told["rank"].n_unique()
    whole = messages.join(met, on=[*same, "turn"], nulls_equal=True).filter(
        pl.col("there") == count
    )
    if whole.is_empty():
        return pl.DataFrame()
    waits = whole.group_by("rank").agg(
        messages=pl.len(),
        transfer=pl.col("least").sum(),
        waiting=(pl.col("duration") - pl.col("least")).sum(),
    )
    computes = told.filter(~pl.col("kind").is_in(["collective", "copy"])).group_by("rank").agg(
        compute=pl.col("duration").sum()
    )  # fmt: skip
    return waits.join(computes, on="rank", how="left").sort(pl.col("rank").cast(pl.Int64))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
