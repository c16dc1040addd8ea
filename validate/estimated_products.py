"""Our own kernel models on the products that published estimators are about.

The nine products of a DeepFlow dump run on a chip that exists nowhere but in the dump; the matrix
products of a table of layers run on its machine. Both become `GEMM_CASE` rows with their own facts.
"""

from __future__ import annotations

import polars as pl
from assay.model import gemm
from assay.model.frames import GEMM_CASE, PREDICTION
from assay.model.kernel import Kernel
from assay.model.reproductions import deepflow, layer_estimates
from assay.model.reproductions.deepflow_workload import gemms
from assay.validate.cases import Cases
from assay.validate.estimates import dump_cases, layer_cases
from assay.validate.forecasts import Asked, Forecast

DTYPES = {1: "fp8", 2: "fp16", 4: "fp32", 8: "fp64"}
"""Bytes per element → the number format of that size."""

FACTS = ("peak", "memory_bandwidth", "itemsize")
_WITH_FACTS = GEMM_CASE | dict.fromkeys(FACTS, pl.Float64())


def dump_products(cases: Cases) -> pl.DataFrame:
    """The nine products of every configured dump, with the rates that its power buys.

    Rates are those before the estimator's derate: what a datasheet would print.
    """
    return cases.once("dump-products", _dump_products)


def _dump_products(cases: Cases) -> pl.DataFrame:
    rows = []
    whole = dump_cases(cases).drop_nulls().filter(pl.col("parallel_degree") == 1)
    for row in whole.iter_rows(named=True):
        try:
            work, chip = deepflow.configured(row)
        except (ValueError, ZeroDivisionError):
            continue
        facts = (chip.peak_flops, chip.peak_memory_bandwidth, float(work.precision))
        for one in gemms(work):
            named = (row["case"], one.name, None, DTYPES.get(work.precision))
            rows.append((*named, 1, one.a, one.c, one.b, *facts))
    return pl.DataFrame(rows, schema=_WITH_FACTS, orient="row")


def layer_products(cases: Cases) -> pl.DataFrame:
    """The matrix products of every known table of layers, under the names of its rows."""
    rows = []
    for row in layer_cases(cases).iter_rows(named=True):
        if (said := layer_estimates.known(row)) is None:
            continue
        model, peaks = said
        tokens, m = model.batch * model.seq_len, model.m
        inner, q, heads = 4 * model.hidden // m, model.hidden // model.heads, model.heads // m
        products = {
            "mlp": {
                "fc1": (1, tokens, inner, model.hidden),
                "fc2": (1, tokens, model.hidden, inner),
            },
            "attention": {
                "qkv_proj": (1, tokens, 3 * model.hidden // m, model.hidden),
                "logits": (model.batch * heads, model.seq_len, model.seq_len, q),
                "attend": (model.batch * heads, model.seq_len, q, model.seq_len),
                "v_proj": (1, tokens, model.hidden, heads * q),
            },
        }
        facts = (peaks.matrix_flops, peaks.memory_bandwidth, float(layer_estimates.ELEMENT))
        for name, sizes in products[row["block"]].items():
            rows.append((row["case"], name, None, "fp16", *sizes, *facts))
    return pl.DataFrame(rows, schema=_WITH_FACTS, orient="row")


def on_dumps(kernel: Kernel) -> Forecast:
    """A kernel model at its starting values on the products of dumps."""

    def forecast(asked: Asked) -> pl.DataFrame:
        return _predicted(dump_products(asked.cases), kernel)

    return forecast


def on_layers(kernel: Kernel) -> Forecast:
    """The same on the products of tables of layers: the time of the forward pass of a row."""

    def forecast(asked: Asked) -> pl.DataFrame:
        found = _predicted(layer_products(asked.cases), kernel)
        return found.with_columns(scope=pl.lit("layer"), quantity=pl.lit("t_fwd"))

    return forecast


def _predicted(products: pl.DataFrame, kernel: Kernel) -> pl.DataFrame:
    if products.is_empty():
        return pl.DataFrame(schema=PREDICTION)
    return gemm.predict(products, kernel)
