"""Rates and utilisation of one run, from its step time and its shape, under a named formula.

Megatron's formula of 2021 counts a GPT; a gated MLP, grouped queries or another width need that
of Megatron-core. A run whose machine or number format is unknown has no utilisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.model.formulas import formula
from assay.model.machine import machine
from assay.model.utilisation import measure
from assay.validate.metric import Metric

UTILISATION = "narayanan-eq3-stored"
"""Model FLOPs utilisation of Megatron's own formula: nothing that is computed twice counts."""

RECOMPUTED = "narayanan-eq3"
"""The same with full recomputation: what the hardware did."""


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
