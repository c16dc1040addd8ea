"""Time of operations that only move memory: norms, activations, softmax, dropout, optimizers.

Columns in: bytes and machine facts; the functions below count bytes. Seconds out.
"""

from __future__ import annotations

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


def streamed(table: Columns, values: Values) -> Floats:
    """t = t0 + bytes/(memory·BW)."""
    return values["launch"] + table["bytes"] / (values["memory"] * table["memory_bandwidth"])


STREAMED = Kernel(
    "pointwise",
    "pointwise",
    SHAPE,
    (
        Parameter("memory", "1", 0.75, 0.1, 1.1, "share of the memory bandwidth that is reached"),
        Parameter("launch", "s", 3e-6, 1e-7, 1e-4, "time of an empty kernel"),
    ),
    streamed,
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
