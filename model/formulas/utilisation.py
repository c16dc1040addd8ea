"""Utilisation identities: what rate and what MFU follow from a printed time, under whose formula.

A formula counts flop per sequence (`registry`); a rate is that count times sequences per second,
per GPU; a utilisation is the rate over a peak. Each value carries its `formula_id` and its peak:
the same run has an MFU of 0.3157 or 0.4088, depending on the id.

Frames have the columns of `frames.CONFIGURATION_CASE` and, where a formula asks for them,
`parameters`, `head_dim`, `dense_layers`, … (see `Formula.inputs`). A row that lacks an input
gets null. Source: definition (docs/formulas.md); that of a count is in its `Formula`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import polars as pl
from assay.model.formulas.registry import FORMULAS, Formula, formula
from assay.model.formulas.throughput import per_gpu
from assay.model.frames import predictions

__all__ = [
    "FORMULAS",
    "Formula",
    "Rate",
    "flop_inputs",
    "flop_per_sequence",
    "formula",
    "identities",
    "measure",
    "rate",
]


class Rate(NamedTuple):
    """A rate per GPU in flop/s, and its share of a stated peak, a fraction."""

    value: float
    utilisation: float
    formula_id: str
    peak_flops: float
    peak_source: str


DEFAULTS: dict[str, tuple[tuple[str, ...], Callable[..., pl.Expr]]] = {
    "kv_heads": (("heads",), lambda heads: heads),
    "head_dim": (("hidden", "heads"), lambda hidden, heads: hidden / heads),
    "ffn_hidden": (("hidden",), lambda hidden: 4.0 * hidden),
}
"""Columns that have a value where none is stated, by the meaning of the case frame."""


def flop_per_sequence(cases: pl.DataFrame, formula_id: str) -> pl.Expr:
    """Flop per sequence, as an expression over the columns that `cases` has.

    Raises KeyError for an unknown id.

    >>> cases = pl.DataFrame({"hidden": [14336], "layers": [70], "seq_len": [2048],
    ...                       "vocab": [250880]})
    >>> round(cases.select(flop_per_sequence(cases, "narayanan-eq3")).item() / 1e12)
    2940
    """
    found = formula(formula_id)
    count: pl.Expr = found.count(flop_inputs(cases, found.inputs))
    return count


def flop_inputs(cases: pl.DataFrame, names: tuple[str, ...]) -> dict[str, pl.Expr]:
    """Expressions over the columns of `cases` for formula inputs, with the frame's defaults."""
    return {name: _input(name, cases.columns) for name in names}


def _input(name: str, columns: list[str]) -> pl.Expr:
    """One input in floating point: integers of 64 bits overflow at 9e18 flop."""
    if name == "recomputed":
        return _recomputed(columns)
    stated = _column(name, columns)
    if name not in DEFAULTS:
        return stated
    needs, default = DEFAULTS[name]
    return pl.coalesce(stated, default(*(_column(each, columns) for each in needs)))


def _column(name: str, columns: list[str]) -> pl.Expr:
    present = pl.col(name) if name in columns else pl.lit(None)
    return present.cast(pl.Float64)


def _recomputed(columns: list[str]) -> pl.Expr:
    """Forward passes done again: 1 under full recomputation, 0 without, else unknown."""
    policy = pl.col("recompute") if "recompute" in columns else pl.lit(None, pl.String)
    return pl.when(policy == "full").then(1.0).when(policy == "none").then(0.0)


def rate(cases: pl.DataFrame, formula_id: str, samples_per_second: pl.Expr) -> pl.Expr:
    """Flop/s per GPU, for the sequences per second of the whole job.

    The rate grows with `samples_per_second`, so its bounds give the bounds of the rate. Raises
    KeyError for an unknown id.

    >>> cases = pl.DataFrame({"hidden": 14336, "layers": 70, "seq_len": 2048, "vocab": 250880,
    ...                       "gpus": 384, "global_batch": 2048, "step_time": 105.22})
    >>> throughput = pl.col("global_batch") / pl.col("step_time")
    >>> round(cases.select(rate(cases, "narayanan-eq3", throughput)).item() / 1e12, 2)
    149.02
    """
    flop = flop_per_sequence(cases, formula_id)
    return per_gpu(flop * samples_per_second, _column("gpus", cases.columns))


def identities(
    cases: pl.DataFrame,
    formula_id: str,
    *,
    samples_per_second: pl.Expr | None = None,
    inputs: tuple[str, ...] = ("step_time",),
) -> pl.DataFrame:
    """Rates that follow from printed throughput: an identity, not a prediction of a model.

    `cases` has `case`, the inputs of the formula, and either `global_batch` and `step_time` or
    whatever `samples_per_second` and `inputs` say instead. Where it has `peak_flops` (flop/s) and
    `peak_source`, utilisations follow too. Returns the columns of `frames.PREDICTION` with the id
    as `model`, then peak_flops and peak_source (null beside a rate). Raises KeyError for an
    unknown id.
    """
    found = formula(formula_id)
    if samples_per_second is None:
        columns = cases.columns
        samples_per_second = _column("global_batch", columns) / _column("step_time", columns)
    per_second = rate(cases, formula_id, samples_per_second)
    describe = partial(
        predictions,
        cases,
        scope="configuration",
        model=formula_id,
        basis=found.basis,
        inputs=inputs,
    )
    unknown = (pl.lit(None, pl.Float64).alias("peak_flops"), pl.lit(None, pl.String))
    rates = describe(per_second, quantity="model_flops_rate", unit="flop/s").with_columns(
        unknown[0], unknown[1].alias("peak_source")
    )
    if "peak_flops" not in cases.columns:
        return rates
    peak = pl.col("peak_flops").cast(pl.Float64)
    shares = describe(per_second / peak, quantity=found.quantity, unit="1")
    peaks = cases.select("case", peak, pl.col("peak_source").cast(pl.String))
    return pl.concat([rates, shares.join(peaks, on="case", maintain_order="left", validate="m:1")])


def measure(
    formula_id: str,
    case: Mapping[str, float],
    *,
    samples_per_second: float,
    gpus: float,
    peak_flops: float,
    peak_source: str,
) -> Rate:
    """Rate and utilisation of one run from plain numbers; `case` holds the formula's inputs.

    Units: sequences/s of the job, flop/s of one GPU. Raises KeyError for an unknown id or input.

    >>> gpt_13b = {"parameters": 12926786560, "hidden": 5120, "layers": 40, "seq_len": 16384}
    >>> found = measure("mosaic-2023.mfu", gpt_13b, samples_per_second=8659.76 / 16384, gpus=8,
    ...                 peak_flops=312e12, peak_source="A100 bf16 dense")
    >>> round(found.utilisation, 4), found.formula_id
    (0.4088, 'mosaic-2023.mfu')
    """
    value = per_gpu(float(formula(formula_id).count(case)) * samples_per_second, gpus)
    return Rate(value, value / peak_flops, formula_id, peak_flops, peak_source)
