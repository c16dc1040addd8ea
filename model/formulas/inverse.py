"""Identities the other way round: step time, layer count or formula that a printed rate implies.

Used on contradictions and on what a document leaves out. An inferred value was computed *from* the
rate, so the rate is no evidence for it. `agreeing` gives the ids under which a printed time and a
printed rate agree: a table that follows another project's count is no error; a row that follows
another formula than the rows around it deserves a remark. Two formulas can agree where the digits
are few.

Source: definition; each solves rate = flop per sequence · samples per second / GPUs for one input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl
from assay.model.formulas.registry import FORMULAS, formula
from assay.model.formulas.utilisation import rate as rate_under
from assay.model.transformer.parameters import Number


def step_time(
    flop_per_sequence: Number, global_batch: Number, gpus: Number, rate: Number
) -> Number:
    """Seconds per iteration at which each GPU reaches `rate` flop/s.

    Source: definition, t = flop per sequence · sequences / (GPUs · rate).

    >>> from assay.model.formulas.flop_formulas import narayanan_eq3
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
    low, high = layer_bounds(
        formula_id, case, rate=rate, samples_per_second=samples_per_second, gpus=gpus
    )
    return range(int(low), int(high) + 1)


def layer_bounds(
    formula_id: str,
    case: Mapping[str, Any],
    *,
    rate: tuple[Any, Any],
    samples_per_second: tuple[Any, Any],
    gpus: Any,
) -> tuple[Any, Any]:
    """The lowest and the highest layer count of each run, as doubles; arguments as of `layers`.

    Where the lowest is above the highest no count fits; where they are equal it is the only one;
    nan where an input is. Shapes: arrays [runs] in and out. Raises ValueError as `layers` does.
    Source: every count is affine in its layers, flop(0) + L·(flop(1) − flop(0)).
    """
    _require_layers(formula_id)
    count = formula(formula_id).count
    none, one = (count({**case, "layers": np.float64(number)}) for number in (0, 1))
    low, high = (
        (rate[end] * gpus / samples_per_second[1 - end] - none) / (one - none) for end in (0, 1)
    )
    return np.maximum(np.ceil(low), 1.0), np.floor(high)


def _require_layers(formula_id: str) -> None:
    inputs = formula(formula_id).inputs
    if "layers" not in inputs or "parameters" in inputs:
        raise ValueError(f"{formula_id} takes {', '.join(inputs)}: layers do not follow from it")


def agreeing(
    cases: pl.DataFrame,
    *,
    rate: tuple[pl.Expr, pl.Expr],
    samples_per_second: tuple[pl.Expr, pl.Expr],
    formula_ids: Iterable[str] = FORMULAS,
) -> pl.Series:
    """Per row the ids whose rate interval meets the printed one, in the order given.

    `rate` bounds the printed flop/s per GPU, `samples_per_second` the throughput of the whole job;
    `cases` has `gpus` and whatever inputs are known. An id whose inputs are not all known is
    absent; the list is null where not one could be tried.

    >>> cases = pl.DataFrame({"hidden": 14336, "layers": 70, "seq_len": 2048, "vocab": 250880,
    ...                       "tp": 4, "gpus": 384})
    >>> agreeing(cases, rate=(pl.lit(149.015e12), pl.lit(149.025e12)),
    ...          samples_per_second=(pl.lit(2048 / 105.225), pl.lit(2048 / 105.215)),
    ...          formula_ids=("megatron-2021-old", "narayanan-eq3")).to_list()
    [['narayanan-eq3']]
    """
    low, high = samples_per_second
    columns = []
    for formula_id in formula_ids:
        least, most = rate_under(cases, formula_id, low), rate_under(cases, formula_id, high)
        columns.append(((least <= rate[1]) & (most >= rate[0])).alias(formula_id))
    tried = cases.select(columns)
    names = [
        None if all(met is None for met in row.values()) else [name for name in row if row[name]]
        for row in tried.iter_rows(named=True)
    ]
    return pl.Series("formula_ids", names, dtype=pl.List(pl.String))
