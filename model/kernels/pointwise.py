"""Time of operations that only move memory: norms, activations, softmax, dropout, optimizers.

Columns in: bytes and machine facts; the functions below count bytes. Seconds out.

Source: definition, the sizes of the tensors that are read and written.
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
    columns,
    with_facts,
)

SHAPE = ("bytes", "memory_bandwidth")

OPTIONAL = ("share",)
"""Share of the memory bandwidth that this very kernel reaches, where its kind is known."""

KINDS: dict[str, float] = {
    "vectorized": 0.88,
    "strided": 0.43,
    "reduction": 0.7,
    "norm": 0.39,
    "softmax": 0.2,
}
"""Share of the memory bandwidth of H100 by kind of an eager kernel, medians over three public
traces: additions, products, casts and activations of contiguous tensors (0.72 to 0.92), the same on
views or with broadcasting (0.35 to 0.47), means (0.69 to 0.74), layer norms of 768 columns, and a
softmax over rows of 3,137, which no vector load fits. The same program on MI300X: 0.72 to 0.76,
0.32 to 0.51 and 0.54."""

MARKS = {
    "norm": "layer_norm",
    "softmax": "softmax",
    "vectorized": "vectorized_elementwise",
    "strided": "elementwise_kernel",
    "reduction": "reduce_kernel",
}
"""Part of the name of such a kernel, in the order in which names are asked."""

MASK = 1.0
"""Bytes of one element of a dropout mask."""


def elementwise(elements: float, itemsize: float, *, inputs: int = 1, outputs: int = 1) -> float:
    """Bytes of an operation that reads `inputs` tensors and writes `outputs`, all of one shape.

    An activation is (1, 1), a residual addition (2, 1), a gated activation (2, 1), its backward
    (3, 2).

    >>> elementwise(1024, 2.0, inputs=2)
    6144.0
    """
    return elements * itemsize * (inputs + outputs)


def norm(tokens: float, hidden: float, itemsize: float, *, affine: int = 2) -> float:
    """Bytes of a norm forward: in, out, and the weights of a layer norm (2) or an RMS norm (1).

    >>> norm(1, 4096, 2.0, affine=1)
    24576.0
    """
    return itemsize * (2.0 * tokens * hidden + affine * hidden)


def softmax(rows: float, columns: float, itemsize: float) -> float:
    """Bytes of an unfused softmax forward: scores in, probabilities out."""
    return 2.0 * rows * columns * itemsize


def dropout(elements: float, itemsize: float) -> float:
    """Bytes of a dropout forward: in, out and one byte of mask per element."""
    return elements * (2.0 * itemsize + MASK)


def adam(parameters: float, *, per_parameter: float = 30.0) -> float:
    """Bytes of one Adam step with fp32 master weights and 16-bit weights and gradients.

    Read: gradient 2, master 4, two moments 8; written: master 4, moments 8, weight 2, and the
    gradient zeroed 2. 30 bytes per parameter (formulas of the step model).
    """
    return parameters * per_parameter


def kind(name: str) -> str | None:
    """The kind of an eager kernel by its name, None where the name says nothing.

    >>> kind("void at::native::vectorized_elementwise_kernel<4, at::native::silu_kernel>")
    'vectorized'
    >>> kind("void at::native::elementwise_kernel<128, 2, at::native::copy>"), kind("attn_fwd")
    ('strided', None)
    """
    plain = name.lower()
    return next((one for one, mark in MARKS.items() if mark in plain), None)


def streamed(table: Columns, values: Values) -> Floats:
    """t = t0 + bytes/(memory·BW); a column `share` says what this kernel reaches instead."""
    share = table.get("share", np.full(1, np.nan))
    share = np.where(np.isnan(share), values["memory"], share)
    return values["launch"] + table["bytes"] / (share * table["memory_bandwidth"])


STREAMED = Kernel(
    "pointwise",
    "pointwise",
    SHAPE,
    (
        Parameter("memory", "1", 0.75, 0.1, 1.1, "share of the memory bandwidth that is reached"),
        Parameter("launch", "s", 3e-6, 1e-7, 1e-4, "time of an empty kernel"),
    ),
    streamed,
    OPTIONAL,
)


def predict(cases: pl.DataFrame, values: Values | None = None, *, label: str = "") -> pl.DataFrame:
    """Prediction frame for a frame with case, machine, dtype and bytes.

    >>> one = pl.DataFrame({"case": ["a"], "machine": ["H100"], "dtype": ["bf16"], "bytes": [1e9]})
    >>> predict(one)["value"].round(6).to_list()
    [0.000401]
    """
    table = with_facts(cases)
    time = streamed(columns(table, SHAPE), values or STREAMED.starts)
    return predictions(
        table.with_columns(time=pl.Series(time)),
        pl.col("time"),
        scope="pointwise",
        quantity="time",
        unit="s",
        model=label or STREAMED.name,
        basis=STREAMED.basis,
    )
