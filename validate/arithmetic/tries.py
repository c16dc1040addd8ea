"""Printed rates under every formula that their rows can feed, as arrays.

In: the rated rows of `rates` (printed interval, bounds of the speed, peak, configuration). Out: a
`Try` per formula, what it makes of the rows it can be asked about. Layers that a row does not print
are solved on the way, where one formula makes them a whole number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.model.formulas.inverse import layer_bounds
from assay.model.formulas.registry import FORMULAS, Formula
from assay.validate.arithmetic.identity_check import TOUCHING
from assay.validate.arithmetic.rated_rows import Array, arrays, inputs, other_mlp

RATE = "model_flops_rate"

COUNTS: dict[str, tuple[str, ...]] = {
    RATE: ("mfu", "hfu"),
    "mfu_weights": ("mfu_star",),
    "mfu": ("mfu",),
    "hfu_weights": ("hfu_star",),
    "hfu": ("hfu",),
}
"""Printed quantity → what the formulas that may lie behind it count."""

EXACT = 2.0**53
"""The last whole number up to which doubles hold every one."""


@dataclass(frozen=True)
class Fed:
    """Inputs of the formulas: one entry a row, nan where it is not known."""

    quantity: Array  # names
    printed: Array  # low, value, high: [3, n]
    samples: Array  # low, value, high of sequences per second: [3, n]
    gpus: Array
    peak: Array
    inputs: dict[str, Array]
    table: pl.DataFrame


class Try(NamedTuple):
    """One formula over the rows that it says something about."""

    formula: Formula
    at: Array  # positions in the rated rows
    implied: Array  # low, value, high: [3, n]
    layers: Array  # the layer count that went in
    solved: Array  # whether that count was solved from these very rows


def fed(table: pl.DataFrame) -> Fed:
    """The rated rows as arrays."""
    wanted = ("low", "printed", "high", "samples_low", "samples", "samples_high", "gpus", "peak")
    held = list(arrays(table, map(pl.col, wanted)))
    quantity = table["quantity"].to_numpy()
    printed, samples = np.array(held[0:3]), np.array(held[3:6])
    return Fed(quantity, printed, samples, held[6], held[7], inputs(table), table)


def tries(rows: Fed, vocab: float | None = None) -> Iterator[Try]:
    """Every formula that the columns can feed, in the order of the registry; `vocab` instead of
    what the rows say."""
    columns = rows.inputs if vocab is None else {
        **rows.inputs, "vocab": np.full(len(rows.gpus), vocab)
    }  # fmt: skip
    for formula in FORMULAS.values():
        asked = [quantity for quantity, counts in COUNTS.items() if formula.quantity in counts]
        at = np.flatnonzero(np.isin(rows.quantity, asked))
        if not len(at) or not set(formula.inputs) <= set(columns):
            continue
        case = {name: columns[name][at] for name in formula.inputs}
        stated = columns["layers"][at]
        layers, printed, samples = stated, rows.printed[:, at], rows.samples[:, at]
        gpus, peak = rows.gpus[at], rows.peak[at]
        unsaid = np.isnan(stated) & ("layers" in formula.inputs)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a row may lack it
            if unsaid.any() and "parameters" not in formula.inputs:
                low, high = layer_bounds(
                    formula.formula_id, case, rate=(printed[0] * peak, printed[2] * peak),
                    samples_per_second=(samples[0], samples[2]), gpus=gpus,
                )  # fmt: skip
                only = np.where((low == high) & (low < EXACT), low, np.nan)  # that reproduces it
                case["layers"] = layers = np.where(unsaid, only, stated)
            implied = formula.count(case) / gpus / peak * samples
        known = ~np.isnan(implied[1]) & ~other_mlp(formula.formula_id, rows.table)[at]
        yield Try(formula, at[known], implied[:, known], layers[known], unsaid[known])


def meets(rows: Fed, one: Try) -> Array:
    """Whether each row of a try agrees with its printed number, by `identity_check.equal`."""
    low, value, high = rows.printed[:, one.at]
    slack = np.abs(value) * TOUCHING
    found: Array = (one.implied[0] <= high + slack) & (one.implied[2] >= low - slack)
    return found
