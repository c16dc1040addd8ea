"""Two models of one's own: products at half of the peak, and steps at 6 N D over half of it."""

from __future__ import annotations

import polars as pl
from assay.model.frames import Model, predictions
from assay.model.machines.datasheets import machine

SHARE = 0.5


def peaks(cases: pl.DataFrame) -> pl.Expr:
    """Peak of each case in flop/s; null where machine or number format is not known."""
    known = {}
    for name, dtype in cases.select("machine", "dtype").unique().drop_nulls().rows():
        try:
            known[f"{name} {dtype}"] = machine(name).peak(dtype)
        except LookupError:
            continue  # this machine has no such format
    key = pl.format("{} {}", "machine", "dtype")
    return key.replace_strict(known, default=None, return_dtype=pl.Float64)


def half_peak(cases: pl.DataFrame) -> pl.DataFrame:
    """Time of every product at half of the peak: 2bmnk / (peak / 2)."""
    flop = 2.0 * pl.col("b") * pl.col("m") * pl.col("n") * pl.col("k")
    return predictions(
        cases, flop / (SHARE * peaks(cases)), scope="gemm", quantity="time", unit="s",
        model="half_peak", basis="half_peak.half_peak",
    )  # fmt: skip


def six_n(cases: pl.DataFrame) -> pl.DataFrame:
    """Time of every step: 6 N D flop over half of all peaks, N = 12 L h² parameters."""
    parameters = 12.0 * pl.col("layers") * pl.col("hidden") ** 2
    tokens = pl.col("global_batch") * pl.col("seq_len")
    seconds = 6.0 * parameters * tokens / (pl.col("gpus") * SHARE * peaks(cases))
    return predictions(
        cases, seconds, scope="configuration", quantity="step_time", unit="s",
        model="six_n", basis="half_peak.six_n",
    )  # fmt: skip


MODEL = Model(
    half_peak, scope="gemm", quantities=("time", "flops_rate"),
    needs=("machine", "dtype", "m", "n", "k"),
    about="every product at half of the dense peak; fitted on nothing",
)  # fmt: skip
