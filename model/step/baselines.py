"""Baselines that every step-time model has to beat: constant utilisation, a plain roofline.

Neither has been measured on anything. `fit_share` turns either into a model with one parameter, the
share of the bound that a stack reaches; the bound divided by it is the forecast.

Source: docs/formulas.md, on baselines.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.model.formulas import megatron_core
from assay.model.formulas.utilisation import flop_inputs
from assay.model.frames import predictions
from assay.model.machines.datasheets import machines
from assay.model.step import roofline_bound
from assay.model.transformer.training_run import run

Floats = npt.NDArray[np.float64]


def hardware_flop(cases: pl.DataFrame) -> pl.Expr:
    """Flop per sequence with those done again: matrix products only, no mask, GPT or grouped query.

    Full recomputation repeats the layers, selective the attention products, neither the logits.

    >>> cases = pl.DataFrame({"hidden": 14336, "layers": 70, "heads": 112, "seq_len": 2048,
    ...                       "vocab": 250880, "recompute": "full"})
    >>> from assay.model.formulas.flop_formulas import narayanan_eq3
    >>> float(cases.select(hardware_flop(cases)).item() / narayanan_eq3(14336, 70, 2048, 250880))
    1.0
    """
    names = (*megatron_core.ALWAYS, "kv_heads", "head_dim")
    case = flop_inputs(cases, names)
    core = megatron_core.grouped_query(case, case["seq_len"])
    products = core - megatron_core.grouped_query(case, 0.0 * case["seq_len"])
    matrices = (
        pl.when(pl.col("gated")).then(3.0).otherwise(2.0) if "gated" in cases.columns else 2.0
    )
    layer = core + matrices * case["hidden"] * case["ffn_hidden"]
    policy = pl.col("recompute")
    again = (
        pl.when(policy == "full").then(layer)
        .when(policy == "selective").then(products)
        .when(policy == "none").then(0.0)
    )  # fmt: skip
    per_token = case["layers"] * (3.0 * layer + again) + 3.0 * case["hidden"] * case["vocab"]
    return 2.0 * case["seq_len"] * per_token


def constant_mfu(cases: pl.DataFrame, *, share: float = 1.0) -> pl.DataFrame:
    """Step time at `share` of the matrix peak of the case's machine and dtype.

    Columns: `frames.CONFIGURATION_CASE`; a row without machine, dtype, batch, GPUs or shape has no
    prediction.
    """
    known = cases.join(_peaks(), on=["machine", "dtype"], how="left", maintain_order="left")
    flop = hardware_flop(known) * pl.col("global_batch").cast(pl.Float64)
    value = flop / (pl.col("gpus") * pl.col("peak_flops") * share)
    return _step_times(known, value, model="constant_mfu", basis="assay.model.step.baselines")


def roofline(cases: pl.DataFrame, *, share: float = 1.0) -> pl.DataFrame:
    """Step time with every resource at `share` of its datasheet rate (see `roofline_bound`).

    A row that `training_run.run` cannot build, or whose layout does not divide, has none.
    """
    times = pl.Series("roofline", [_bound(row) for row in cases.iter_rows(named=True)], pl.Float64)
    return _step_times(
        cases.with_columns(times),
        pl.col("roofline") / share,
        model="roofline",
        basis="assay.model.step.roofline_bound.step_time",
    )


def fit_share(bound: Floats, observed: Floats) -> float:
    """Share of a bound that the observations reach: the median ratio, robust to a bad row.

    >>> fit_share(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 60.0]))
    0.5
    """
    return float(np.exp(np.median(np.log(bound / observed))))


def _bound(row: dict[str, object]) -> float | None:
    found = run(row)
    if found is None:
        return None
    try:
        return roofline_bound.step_time(found)
    except ValueError:  # the layout does not divide the model, or a rate is not known
        return None


def _peaks() -> pl.DataFrame:
    rows = [
        (name, dtype, peak)
        for name, machine in machines().items()
        for dtype, peak in machine.peaks.items()
    ]
    schema = {"machine": pl.String, "dtype": pl.String, "peak_flops": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


_step_times = partial(predictions, scope="configuration", quantity="step_time", unit="s")
