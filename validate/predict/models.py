"""The models a report scores, in one tuple: name, scope, and a function from cases to predictions.

Identities are not among them: a rate computed from a printed time is no forecast. A model that
lacks a value for a case gives no prediction for it; `needs` says which columns it asks for, so that
the report can say what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import polars as pl
from assay.ingest.formats.own.fault import nearest
from assay.model.frames import PREDICTION
from assay.model.kernels import gemm
from assay.model.step import baselines
from assay.model.transformer.training_run import NEEDED
from assay.validate.predict import (
    estimates,
    forecasts,
    kernel_forecasts,
    memory_forecast,
    outside,
    step_forecast,
)
from assay.validate.predict.estimates import on_dumps, on_layers
from assay.validate.predict.flop_rates import RATED
from assay.validate.predict.forecasts import Asked
from assay.validate.predict.predictions import Unjoinable


@dataclass(frozen=True)
class Registered:
    """A model under its name; `predict` gives a frame of `PREDICTION` for all cases it can.

    A model that is fitted says so in `about`, and on what: never on the row it predicts.
    """

    name: str
    scope: str
    quantities: tuple[str, ...]
    needs: tuple[str, ...]
    predict: Callable[[Asked], pl.DataFrame]
    about: str
    fitted: bool = False  # on other rows of what is read, so it moves with them
    baseline: bool = False  # there to be beaten: a gate that names no model passes over it


GEMM_NEEDS = ("machine", "dtype", "m", "n", "k")

MFU_NEEDS = ("machine", "dtype", "gpus", "global_batch", "hidden", "layers", "seq_len",
             "vocab", "recompute")  # fmt: skip

STEP_NEEDS = ("machine", "dtype", "gpus", "global_batch", "micro_batch", "hidden", "layers",
              "seq_len", "vocab")  # fmt: skip

SPEED = ("step_time", "samples_per_s", "tokens_per_s", "tokens_per_gpu_per_s")

SAID = (*SPEED, *RATED)
"""Quantities that a predicted step time gives: one a case, FLOP rates where no other is."""

KERNELS = (
    ("gemm", ("time", "flops_rate"), GEMM_NEEDS),
    ("attention", ("time",), ("machine", "dtype")),
    ("collective", ("time", "algorithm_bandwidth", "bus_bandwidth"), ("machine",)),
    ("pointwise", ("time",), ("machine", "dtype")),
)
"""Scope, quantities and needs of what a stack can predict."""

MODELS: tuple[Registered, ...] = (
    Registered(
        "roofline", "gemm", ("time", "flops_rate"), GEMM_NEEDS, forecasts.gemm_roofline,
        "max(flop/peak, bytes/bandwidth) at datasheet figures; a bound, fitted on nothing",
        baseline=True,
    ),
    Registered(
        "b3_fitted", "gemm", ("time", "flops_rate"), GEMM_NEEDS, forecasts.gemm_b3,
        "three-parameter roofline, fitted per machine on the half of the (n, k) pairs that the row "
        "is not in",
        fitted=True,
    ),
    *(
        Registered(
            "stack", scope, quantities, needs, kernel_forecasts.calibrated(scope),
            "kernels calibrated to published tables or to --stack; the basis says whose parameters",
            fitted=True,
        )
        for scope, quantities, needs in KERNELS
    ),
    Registered(
        "roofline", "attention", ("time",), ("machine", "dtype"),
        kernel_forecasts.attention_roofline,
        "max(flop/peak, bytes/bandwidth) at datasheet figures; a bound, fitted on nothing",
        baseline=True,
    ),
    Registered(
        "step", "configuration", SAID, STEP_NEEDS, step_forecast.as_shipped,
        "bottom-up step time with the shipped stacks; nothing of these inputs is fitted",
    ),
    Registered(
        "step_fitted", "configuration", SAID, STEP_NEEDS, step_forecast.held_out,
        "the same with at most three residuals fitted on the machine's other tables and logs",
        fitted=True,
    ),
    Registered(
        "memory", "configuration", memory_forecast.QUANTITIES, (), memory_forecast.forecast,
        "counted bytes of a rank's pipeline stage; for what the allocator reserves 6 GB more",
    ),
    Registered(
        "deepflow", "gemm", estimates.DEEPFLOW, (), estimates.deepflow_reproduced,
        "the DeepFlow estimator, from a dump's configuration or, without one, from its own numbers",
    ),
    Registered(
        "roofline", "gemm", ("time",), (), on_dumps(gemm.ROOFLINE),
        "roofline on the products of a DeepFlow dump, at the rates of its chip",
        baseline=True,
    ),
    Registered(
        "b3", "gemm", ("time",), (), on_dumps(gemm.B3),
        "three-parameter roofline at its starting values, fitted on nothing, on the same products",
        baseline=True,
    ),
    Registered(
        "transformer-perf-estimates", "layer", estimates.LAYERED, (), estimates.layers_reproduced,
        "the per-layer estimator, from the lines above its tables and the machine",
    ),
    Registered(
        "roofline", "layer", ("t_fwd",), (), on_layers(gemm.ROOFLINE),
        "roofline on the matrix products of a table of layers",
        baseline=True,
    ),
    Registered(
        "b3", "layer", ("t_fwd",), (), on_layers(gemm.B3),
        "three-parameter roofline at its starting values on the same products",
        baseline=True,
    ),
    Registered(
        "ulysses", "tensor", ("elements", "bytes"), (), estimates.traces_reproduced,
        "sizes, flop and peak memory of a Ulysses trace, from its header and shapes",
    ),
    Registered(
        "constant_mfu", "configuration", SAID, MFU_NEEDS,
        forecasts.bound(forecasts.constant_mfu),
        "every operation at the dense peak; a bound, fitted on nothing",
        baseline=True,
    ),
    Registered(
        "roofline", "configuration", SAID, NEEDED, forecasts.bound(baselines.roofline),
        "every operation at datasheet peak or bandwidth; a bound, fitted on nothing",
        baseline=True,
    ),
    Registered(
        "constant_mfu_fitted", "configuration", SAID, MFU_NEEDS,
        forecasts.held_out(forecasts.constant_mfu, "constant_mfu_fitted"),
        "constant MFU; the share of the peak is fitted on the other tables and logs of the machine",
        fitted=True, baseline=True,
    ),
    Registered(
        "roofline_fitted", "configuration", SAID, NEEDED,
        forecasts.held_out(baselines.roofline, "roofline_fitted"),
        "roofline; the share of it is fitted on the other tables and logs of the machine",
        fitted=True, baseline=True,
    ),
)  # fmt: skip
"""In the order reports show them. Users' models are behind them, see `registered`; a user's own
predictions come from a file, see `predictions`."""


def registered() -> tuple[Registered, ...]:
    """Every model there is: packaged, then installed.

    Raises Unjoinable where an installed one cannot be loaded or has the name of a packaged one.
    """
    taken = {model.name for model in MODELS}
    found = []
    for name, model in outside.installed():
        if name in taken:
            raise Unjoinable(f"an installed model is called {name!r}, as a packaged one is")
        found.append(
            Registered(name, model.scope, model.quantities, model.needs,
                       outside.forecast(name, model), model.about, fitted=model.fitted)
        )  # fmt: skip
    return (*MODELS, *found)


def named(names: Iterable[str]) -> tuple[Registered, ...]:
    """The models of those names, all where there are none; LookupError names the nearest.

    Raises Unjoinable for an installed model that cannot be used.

    >>> [model.scope for model in named(["roofline"])]
    ['gemm', 'attention', 'gemm', 'layer', 'configuration']
    """
    names = tuple(names)
    packaged = {model.name for model in MODELS}
    models = MODELS if names and set(names) <= packaged else registered()
    known = list(dict.fromkeys(model.name for model in models))
    for name in names:
        if name not in known:
            raise LookupError(f"no model is called {name!r}{nearest(name, known)}")
    return tuple(model for model in models if not names or model.name in names)


def predict(asked: Asked, models: Iterable[Registered]) -> pl.DataFrame:
    """The predictions of all `models`; `inputs` includes what went into the cases themselves."""
    frames = [
        pl.DataFrame(schema=PREDICTION),
        *(model.predict(asked).select(*PREDICTION) for model in models),
    ]
    used = asked.cases.configuration.select("case", "consumed")
    nothing = pl.lit([], dtype=pl.List(pl.String))
    inputs = pl.concat_list("inputs", pl.col("consumed").fill_null(nothing))
    return (
        pl.concat(frames)
        .join(used, on="case", how="left", maintain_order="left")
        .with_columns(inputs=inputs.list.unique(maintain_order=True))
        .select(*PREDICTION)
    )
