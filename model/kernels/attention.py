"""Time of fused attention on one accelerator: operations, traffic, tiles and grouped queries.

Columns in: batch, seq, heads, kv_heads, head_dim, optionally kv_seq (default seq) and causal (1,
the default, or 0), and machine facts. Seconds out, for the forward pass; `BACKWARD` says what a
backward pass costs. Formulas and their figures: docs/kernels.md.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from assay.model.frames import predictions
from assay.model.kernels.kernel import (
    Columns,
    Floats,
    Kernel,
    Parameter,
    Values,
    inputs,
    with_facts,
)

SHAPE = ("batch", "seq", "heads", "kv_heads", "head_dim", "peak", "memory_bandwidth", "sms",
         "itemsize")  # fmt: skip

OPTIONAL = ("kv_seq", "causal")

BACKWARD = 2.5
"""Backward over forward: five products (the scores again, and four gradients) instead of two.

A statement about operations, not a measurement: no backward pass is among the measured tables.
"""


def flop(table: Columns) -> Floats:
    """Operations of both products, 4·b·h·s·s_kv·d; a causal mask leaves half of them.

    With more keys than queries (a cache) the mask only cuts the corner of the new positions.
    """
    queries, keys = table["seq"], _keys(table)
    masked = table.get("causal", np.ones_like(queries)) * queries * queries / 2.0
    pairs = queries * keys - masked
    return 4.0 * table["batch"] * table["heads"] * table["head_dim"] * pairs


def query_traffic(table: Columns) -> Floats:
    """Bytes of Q and of the result, each read or written once."""
    width = table["heads"] * table["head_dim"] * table["itemsize"]
    return 2.0 * table["batch"] * table["seq"] * width


def key_traffic(table: Columns) -> Floats:
    """Bytes of K and V, each once: kv_heads of them are shared by groups of query heads."""
    width = table["kv_heads"] * table["head_dim"] * table["itemsize"]
    return 2.0 * table["batch"] * _keys(table) * width


def traffic(table: Columns) -> Floats:
    """Bytes that must cross the memory at least once: Q, K, V and the result."""
    return query_traffic(table) + key_traffic(table)


def roofline(table: Columns, values: Values) -> Floats:
    """t = max(F/P, B/BW)."""
    return np.maximum(flop(table) / table["peak"], traffic(table) / table["memory_bandwidth"])


def tiled(table: Columns, values: Values) -> Floats:
    """Work over all multiprocessors, the longest tile of one of them, and the traffic.

    compute = (all^p + last^p)^(1/p): `all` is F at `compute` of the peak, `last` one tile of `tile`
    queries against every key on one multiprocessor, p = `balance` how well the two overlap (1: the
    last tile comes on top). The traffic is added, K and V counting `kv_reads` times: heads that
    share them do not all find them in the cache. Long kernels lose up to `throttle` of the clock.
    """
    rate = values["compute"] * table["peak"]
    every = flop(table) / rate
    last = 4.0 * values["tile"] * _keys(table) * table["head_dim"] * table["sms"] / rate
    power = values["balance"]
    top = np.maximum(every, last)
    compute = top * ((every / top) ** power + (last / top) ** power) ** (1.0 / power)
    moved = query_traffic(table) + values["kv_reads"] * key_traffic(table)
    busy = compute + moved / (values["memory"] * table["memory_bandwidth"])
    sunk = 1.0 + values["throttle"] * np.minimum(busy / 1e-3, 1.0)
    return values["launch"] + busy * sunk


def _keys(table: Columns) -> Floats:
    return table.get("kv_seq", table["seq"])


ROOFLINE = Kernel("attention_roofline", "attention", SHAPE, (), roofline, OPTIONAL)

TILED = Kernel(
    "attention_tiled",
    "attention",
    SHAPE,
    (
        Parameter("compute", "1", 0.65, 0.1, 1.05, "share of the dense peak that is reached"),
        Parameter("memory", "1", 0.8, 0.1, 1.2, "share of the memory bandwidth that is reached"),
        Parameter("kv_reads", "1", 1.5, 0.5, 20.0, "times that K and V are fetched"),
        Parameter("launch", "s", 1e-5, 1e-7, 1e-4, "time of an empty kernel"),
        Parameter("tile", "1", 80.0, 8.0, 512.0, "queries of one tile"),
        Parameter("balance", "1", 2.0, 1.0, 8.0, "1: the last tile comes on top; high: it hides"),
        Parameter("throttle", "1", 0.02, 1e-4, 0.5, "slow-down of kernels longer than 1 ms"),
    ),
    tiled,
    OPTIONAL,
)

KERNELS = {kernel.name: kernel for kernel in (ROOFLINE, TILED)}
"""Every attention model by name."""


def predict(
    cases: pl.DataFrame,
    kernel: Kernel = ROOFLINE,
    values: Values | None = None,
    *,
    label: str = "",
) -> pl.DataFrame:
    """Prediction frame of forward times for a frame with case, machine, dtype and the shape.

    `label` names the model in the frame (default: the kernel's name).

    >>> one = pl.DataFrame({"case": ["a"], "machine": ["H100"], "dtype": ["bf16"], "batch": [1],
    ...                     "seq": [8192], "heads": [32], "kv_heads": [8], "head_dim": [128]})
    >>> predict(one)["value"].round(6).to_list()
    [0.000556]
    """
    table = with_facts(cases)
    time = kernel.time(inputs(kernel, table), values or kernel.starts)
    return predictions(
        table.with_columns(time=pl.Series(time)),
        pl.col("time"),
        scope="attention",
        quantity="time",
        unit="s",
        model=label or kernel.name,
        basis=kernel.basis,
    )
