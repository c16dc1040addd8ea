"""Identities the other way round: the step time or the layer count that a printed rate implies.

Used on contradictions and on what a document leaves out. An inferred value was computed *from* the
rate, so the rate is no evidence for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl
from assay.model.throughput import Number
from assay.model.utilisation import flop_per_sequence, formula


def step_time(
    flop_per_sequence: Number, global_batch: Number, gpus: Number, rate: Number
) -> Number:
    """Seconds per iteration at which each GPU reaches `rate` flop/s.

    >>> from assay.model.flop_formulas import narayanan_eq3
    >>> round(step_time(narayanan_eq3(14336, 70, 2048, 250880), 2048, 384, 149.02e12), 2)
    105.22
    """
    return flop_per_sequence * global_batch / (gpus * rate)


def layers(
    formula_id: str,
    case: Mapping[str, float],
    *,
    rate: tuple[float, float],
    samples_per_second: tuple[float, float],
    gpus: float,
) -> range:
    """Layer counts that reproduce a printed rate, given as bounds in flop/s per GPU.

    `samples_per_second` bounds the throughput of the whole job; `case` holds the formula's other
    inputs. An empty range: no count does, so another printed number is wrong. A range of several:
    the rate is printed too coarsely to tell. ValueError where the formula has no layers of its own
    to solve for, because it takes a parameter count.

    >>> shape = {"hidden": 14400, "tp": 8, "seq_len": 2048}
    >>> list(layers("megatron-2021-old", shape, rate=(92.375e12, 92.385e12),
    ...             samples_per_second=(2048 / 183.645, 2048 / 183.635), gpus=384))
    [78]
    """
    _require_layers(formula_id)
    count = formula(formula_id).count
    none, one = (float(count({**case, "layers": number})) for number in (0, 1))
    low = (rate[0] * gpus / samples_per_second[1] - none) / (one - none)
    high = (rate[1] * gpus / samples_per_second[0] - none) / (one - none)
    return range(max(1, math.ceil(low)), math.floor(high) + 1)


def layer_bounds(
    cases: pl.DataFrame,
    formula_id: str,
    *,
    rate: tuple[pl.Expr, pl.Expr],
    samples_per_second: tuple[pl.Expr, pl.Expr],
) -> pl.DataFrame:
    """The same for a frame: `cases` with layers_low and layers_high, the lowest and highest count.

    `cases` has `gpus` and the formula's inputs but for layers. Where layers_low is above
    layers_high no count fits; where they are equal it is the only one.
    """
    _require_layers(formula_id)
    probes = [cases.with_columns(layers=pl.lit(number)) for number in (0.0, 1.0)]
    none, one = (probe.select(flop_per_sequence(probe, formula_id)) for probe in probes)
    gpus = pl.col("gpus").cast(pl.Float64)
    solve = [
        (rate[end] * gpus / samples_per_second[1 - end] - pl.col("_none")) / pl.col("_per_layer")
        for end in (0, 1)
    ]
    per_layer = (one.to_series() - none.to_series()).alias("_per_layer")
    return (
        cases.with_columns(none.to_series().alias("_none"), per_layer)
        .with_columns(
            layers_low=solve[0].ceil().clip(lower_bound=1).cast(pl.Int64, strict=False),
            layers_high=solve[1].floor().cast(pl.Int64, strict=False),
        )
        .drop("_none", "_per_layer")
    )


def _require_layers(formula_id: str) -> None:
    inputs = formula(formula_id).inputs
    if "layers" not in inputs or "parameters" in inputs:
        raise ValueError(f"{formula_id} takes {', '.join(inputs)}: layers do not follow from it")
