"""The frames a model takes and gives: cases in, predictions out; and a user's own model.

A model is a function from a case frame to a prediction frame. Columns are SI: seconds, bytes, flop,
flop/s, bytes/s; ratios are fractions. A case frame may hold more columns than a model needs; a
model that lacks a value it needs for a row gives no prediction for that row, and never a guess.

A `Model` is a user's, named by an entry point of the group `assay.models`: it takes `GEMM_CASE` or
`CONFIGURATION_CASE` frames, one row per case, and gives what `predictions` makes.

Source: definition; docs/own-models.md shows the frames at work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

KEY = ("case", "scope", "subject", "quantity")
"""Columns that an observation and a prediction must share to be compared."""

PREDICTION: dict[str, pl.DataType] = {
    "case": pl.String(),  # <source name>#<first line> of what is predicted
    "scope": pl.String(),  # gemm, attention, pointwise, collective, layer, configuration, …
    "subject": pl.String(),  # what inside the case: "1x4096x4096x4096", "fc1", "" for the whole
    "quantity": pl.String(),  # time, step_time, flop, bytes, model_flops_rate, …
    "value": pl.Float64(),
    "low": pl.Float64(),  # 90 % interval of the model where it has one, else null
    "high": pl.Float64(),
    "unit": pl.String(),
    "model": pl.String(),
    "basis": pl.String(),  # dotted name of the function that computed it
    "inputs": pl.List(pl.String()),  # printed quantities of the same case that were consumed
}

GEMM_CASE: dict[str, pl.DataType] = {
    "case": pl.String(),
    "subject": pl.String(),
    "machine": pl.String(),  # a name of machines.toml
    "dtype": pl.String(),  # canonical: fp32, tf32, bf16, fp16, fp8
    "b": pl.Int64(),  # batch: b products A [m, k] times B [k, n]
    "m": pl.Int64(),
    "n": pl.Int64(),
    "k": pl.Int64(),
}

CONFIGURATION_CASE: dict[str, pl.DataType] = {
    "case": pl.String(),
    "machine": pl.String(),
    "dtype": pl.String(),
    "gpus": pl.Int64(),
    "gpus_per_node": pl.Int64(),
    "hidden": pl.Int64(),  # model width h
    "layers": pl.Int64(),
    "heads": pl.Int64(),
    "kv_heads": pl.Int64(),  # null: as many as heads
    "ffn_hidden": pl.Int64(),  # null: 4 h
    "seq_len": pl.Int64(),
    "vocab": pl.Int64(),  # padded vocabulary
    "tp": pl.Int64(),  # tensor-parallel degree
    "pp": pl.Int64(),  # pipeline-parallel degree
    "dp": pl.Int64(),  # data-parallel degree
    "micro_batch": pl.Int64(),  # sequences
    "global_batch": pl.Int64(),  # sequences
    "zero_stage": pl.Int64(),
    "recompute": pl.String(),  # none, selective, full
}


def predictions(
    cases: pl.DataFrame,
    value: pl.Expr,
    *,
    scope: str,
    quantity: str,
    unit: str,
    model: str,
    basis: str,
    inputs: tuple[str, ...] = (),
    low: pl.Expr | None = None,
    high: pl.Expr | None = None,
) -> pl.DataFrame:
    """One prediction per row of `cases` that has a value; rows without one are left out.

    `cases` has the column `case` and may have `subject`. `value`, `low` and `high` are expressions
    over its columns, in the SI `unit`; the frame has the columns of `PREDICTION`.

    >>> cases = pl.DataFrame({"case": ["a.csv#2"], "flop": [2.0e12]})
    >>> predictions(cases, pl.col("flop") / 1e14, scope="gemm", quantity="time", unit="s",
    ...             model="peak", basis="assay.model.example").select("subject", "value").row(0)
    ('', 0.02)
    """
    missing = pl.lit(None, dtype=pl.Float64)
    subject = pl.col("subject") if "subject" in cases.columns else pl.lit("")
    return cases.select(
        case=pl.col("case"),
        scope=pl.lit(scope),
        subject=subject,
        quantity=pl.lit(quantity),
        value=value.cast(pl.Float64),
        low=missing if low is None else low.cast(pl.Float64),
        high=missing if high is None else high.cast(pl.Float64),
        unit=pl.lit(unit),
        model=pl.lit(model),
        basis=pl.lit(basis),
        inputs=pl.lit(list(inputs), dtype=pl.List(pl.String)),
    ).filter(pl.col("value").is_not_null() & pl.col("value").is_finite())


SCOPES = ("configuration", "gemm")

Predict = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class Model:
    """A function from cases to predictions, and what a report says of it.

    `scope` chooses the cases: `configuration` (what ran) or `gemm` (products). `needs` are the
    columns without which it predicts nothing, so that a report can say what is missing. Where a
    case prints a rate and no time, a predicted `step_time` or `time` is turned into that rate.

    Raises ValueError for another scope.
    """

    predict: Predict
    scope: str = "configuration"
    quantities: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    about: str = "a model from outside"
    fitted: bool = False  # on measurements, which ones `about` says

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise ValueError(f"scope {self.scope!r}: expected one of {', '.join(SCOPES)}")
