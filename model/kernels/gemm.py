"""Time of b products A [m, k] times B [k, n] on one accelerator: roofline, b3, tile and wave.

Columns in: b, m, n, k and the machine facts of `kernel.FACTS`. Seconds out. `roofline` has no
parameter, `b3` has three and is the default, `c5` and `c7` follow the tiles of the library kernels
over the multiprocessors. Formulas and their figures: docs/kernels.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
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

SHAPE = ("b", "m", "n", "k", "peak", "memory_bandwidth", "sms", "itemsize")

OPTIONAL = ("a_transposed",)

TILES = (
    (256, 128), (128, 256), (128, 128), (256, 64), (64, 256), (128, 64), (64, 128), (64, 64),
    (128, 32), (32, 128), (32, 64), (16, 128),
)  # fmt: skip
"""Output tiles (rows, columns) that the library may choose from."""

SPLITS = (1, 2, 3, 4, 6, 8, 16)
"""Ways to cut k among blocks that add up their partial results afterwards."""

ALIGNMENT = 16
"""Bytes: tensor-core kernels load vectors of this size from each row of an operand."""

WEIGHTY = 2e10
"""Operations from which on a product counts fully in a fit."""

THROTTLE_AFTER = 1e-3
"""Seconds of full load after which the clock has sunk by the whole of `throttle`."""


def flop(table: Columns) -> Floats:
    """Floating-point operations: 2·b·m·n·k, a multiply and an add are two."""
    return 2.0 * table["b"] * table["m"] * table["n"] * table["k"]


def traffic(table: Columns) -> Floats:
    """Bytes that must cross the memory at least once: A, B and C, each b times."""
    b, m, n, k = (table[name] for name in "bmnk")
    return table["itemsize"] * b * (m * k + k * n + m * n)


def misaligned(table: Columns) -> npt.NDArray[np.bool_]:
    """Whether rows of an operand start off a 16-byte boundary, so that vector loads cannot be used.

    That is the case where the contiguous dimensions n or k are no multiple of 8 elements of 2
    bytes. m is contiguous only where A is stored transposed (a column `a_transposed` says so): in
    the measured tables an odd m costs a partial tile and nothing else.
    """
    unit = ALIGNMENT / table["itemsize"]
    odd = (np.mod(table["n"], unit) != 0) | (np.mod(table["k"], unit) != 0)
    if "a_transposed" in table:
        odd |= (table["a_transposed"] > 0) & (np.mod(table["m"], unit) != 0)
    return np.asarray(odd, dtype=np.bool_)


def roofline(table: Columns, values: Values) -> Floats:
    """t = max(F/P, B/BW): no kernel can be faster than the datasheet."""
    return np.maximum(flop(table) / table["peak"], traffic(table) / table["memory_bandwidth"])


def b3(table: Columns, values: Values) -> Floats:
    """t = t0 + max(F/(eP·P), B/(eB·BW)); misaligned products compute at `misaligned`·P instead."""
    compute = flop(table) / (table["peak"] * _rate(table, values))
    memory = traffic(table) / (values["memory"] * table["memory_bandwidth"])
    return values["launch"] + np.maximum(compute, memory)


def c5(table: Columns, values: Values) -> Floats:
    """Least time over tiles and splits of k; whole waves, constant clock."""
    return c7(table, {**values, "softness": 1.0, "throttle": 0.0})


def c7(table: Columns, values: Values) -> Floats:
    """`c5` with soft waves and a clock that sinks under load.

    Of nt = b·⌈m/tm⌉·⌈n/tn⌉·s tiles w = nt/SMs waves run: W = 1 where w ≤ 1, else q·⌈w⌉ + (1−q)·w,
    q = 1 for whole waves and 0 for perfectly packed ones. A k step of a tile takes the greater of
    multiplying and fetching through L2; a tile has ⌈k/s⌉ + k0 steps. Joined with the memory time,
    plus 8·s·b·m·n bytes through L2 for the sums when s > 1; the library takes the fastest choice.
    """
    memory = traffic(table) / (values["memory"] * table["memory_bandwidth"])
    every = _tiles(table, values)
    best = np.full(len(memory), np.inf)
    for split in SPLITS:
        # One split adds the same sums and the same depth to every tile: the fastest tile wins.
        multiply = np.min([_waves(count * split, values) * step for count, step in every], axis=0)
        time = _joined(multiply * (np.ceil(table["k"] / split) + values["fill"]), memory)
        if split > 1:
            sums = 8.0 * split * table["b"] * table["m"] * table["n"]
            time = time + sums / (values["feed"] * table["peak"])
        best = np.minimum(best, time)
    sunk = 1.0 + values["throttle"] * np.minimum(best / THROTTLE_AFTER, 1.0)
    return values["launch"] + best * sunk


def _tiles(table: Columns, values: Values) -> list[tuple[Floats, Floats]]:
    """By tile: how many there are per multiprocessor, and the seconds of one k step of one."""
    peak = table["peak"] / table["sms"]
    compute, feed = _rate(table, values) * peak, values["feed"] * peak
    across = {size: np.ceil(table["m"] / size) for size in {rows for rows, _ in TILES}}
    along = {size: np.ceil(table["n"] / size) for size in {cols for _, cols in TILES}}
    share = table["b"] / table["sms"]
    found = []
    for rows, cols in TILES:
        fetch = (rows + cols) * table["itemsize"] / feed
        step = np.maximum(2.0 * rows * cols / compute, fetch)
        found.append((share * across[rows] * along[cols], step))
    return found


def _waves(waves: Floats, values: Values) -> Floats:
    """Waves of tiles as time: the first is whole, further ones more or less packed."""
    whole = values["softness"]
    return np.maximum(whole * np.ceil(waves) + (1.0 - whole) * waves, 1.0)


def weight(table: Columns) -> Floats:
    """How much a product counts in a fit: the square root of its operations, full at 20 GFLOP.

    Short products depend on choices of the library that no formula here holds; with equal weight
    they would bend the parameters that decide the long ones.
    """
    return np.minimum(flop(table) / WEIGHTY, 1.0) ** 0.5


def _joined(left: Floats, right: Floats) -> Floats:
    """(a⁴ + b⁴)^¼: two times that overlap but for where they are about equal."""
    left, right = left * left, right * right
    return np.asarray(np.sqrt(np.sqrt(left * left + right * right)))


def _rate(table: Columns, values: Values) -> Floats:
    """Fraction of the peak that a product can reach, by alignment."""
    return np.where(misaligned(table), values["misaligned"], values["compute"])


COMPUTE = Parameter("compute", "1", 0.8, 0.2, 1.05, "share of the dense peak that is reached")

MEMORY = Parameter("memory", "1", 0.8, 0.2, 1.2, "share of the memory bandwidth that is reached")

MISALIGNED = Parameter(
    "misaligned", "1", 0.036, 0.004, 1.05, "share of the dense peak for misaligned sizes"
)

LAUNCH = Parameter("launch", "s", 3e-6, 1e-7, 3e-5, "time of an empty kernel")

FEED = Parameter("feed", "B/flop", 0.015, 1e-3, 0.3, "bytes from L2 in the time of a flop at peak")

FILL = Parameter("fill", "1", 100.0, 1.0, 3000.0, "k steps to fill and drain a tile")

SOFTNESS = Parameter("softness", "1", 0.3, 1e-3, 1.0, "1: waves are whole; 0: they overlap")

THROTTLE = Parameter("throttle", "1", 0.05, 1e-4, 0.5, "slow-down of kernels longer than 1 ms")

ROOFLINE = Kernel("roofline", "gemm", SHAPE, (), roofline, OPTIONAL)

B3 = Kernel("b3", "gemm", SHAPE, (COMPUTE, MEMORY, LAUNCH, MISALIGNED), b3, OPTIONAL)

C5 = Kernel(
    "c5", "gemm", SHAPE, (COMPUTE, MEMORY, FEED, FILL, LAUNCH, MISALIGNED), c5, OPTIONAL, weight
)

C7 = Kernel(
    "c7",
    "gemm",
    SHAPE,
    (COMPUTE, MEMORY, FEED, FILL, LAUNCH, SOFTNESS, THROTTLE, MISALIGNED),
    c7,
    OPTIONAL,
    weight,
)

KERNELS = {kernel.name: kernel for kernel in (ROOFLINE, B3, C5, C7)}
"""Every GEMM model by name."""


def predict(cases: pl.DataFrame, kernel: Kernel = ROOFLINE, values: Values | None = None,
            label: str = "") -> pl.DataFrame:  # fmt: skip
    """Prediction frame for a `GEMM_CASE` frame under one set of parameter values.

    `label` names the model in the frame (default: the kernel's name); whose parameters they are
    belongs into it. Rows with an unknown machine, dtype or size get no prediction.

    >>> one = pl.DataFrame({"case": ["a"], "machine": ["A100-80g"], "dtype": ["bf16"],
    ...                     "b": [1], "m": [4096], "n": [4096], "k": [4096]})
    >>> predict(one).select("value", "model").row(0)
    (0.0004405094662564103, 'roofline')
    """
    table = with_facts(cases)
    time = kernel.time(inputs(kernel, table), values or kernel.starts)
    return predictions(
        table.with_columns(time=pl.Series(time)),
        pl.col("time"),
        scope="gemm",
        quantity="time",
        unit="s",
        model=label or kernel.name,
        basis=kernel.basis,
    )
