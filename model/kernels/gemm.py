"""Time of b products A [m, k] times B [k, n] on one accelerator: roofline, b3, tile and wave.

Columns in: b, m, n, k and the machine facts of `kernel.FACTS`. Seconds out. `roofline` has no
parameter, `b3` has three and is the default, `c5` and `c7` follow the tiles of the library kernels
over the multiprocessors. Formulas and their figures: docs/kernels.md.

Source: operations by definition; tiles, splits of k and loads are those of CUTLASS.
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
OPTIONAL = ("a_transposed", "clock", "plain", "alone")
"""`clock` in Hz (default `CLOCK`); `plain` in flop/s where the library has no tensor-core kernel
for misaligned rows; `alone` is 1 where a time is that of one kernel by itself, as a profiler gives
it, and not a share of a queue of the same kernel."""

TILES = (
    (256, 128), (128, 256), (128, 128), (256, 64), (64, 256), (128, 64), (64, 128), (64, 64),
    (128, 32), (32, 128), (32, 64), (16, 128),
)  # fmt: skip
"""Output tiles (rows, columns) that the library may choose from."""

SPLITS = (1, 2, 3, 4, 6, 8, 16)
"""Ways to cut k among blocks that add up their partial results afterwards."""

ALIGNMENT = 16
"""Bytes: tensor-core kernels load vectors of this size from each row of an operand."""

CLOCK = 1.7e9
"""Hz of an accelerator whose clock is not known."""

NARROWEST = 64
"""Rows and columns of the smallest tile of the kernels for misaligned rows."""

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


def aligned(table: Columns) -> Floats:
    """Elements of every row that one load can bring: a power of two, 16 bytes at most.

    Rows start at multiples of the contiguous dimensions, n and k. m is contiguous only where A is
    stored transposed (a column `a_transposed` says so): in the measured tables an odd m costs a
    partial tile and nothing else.

    >>> rows = {"m": 5, "n": np.array([64, 30522, 3137]), "k": np.array([512, 512, 64])}
    >>> aligned(rows | {"itemsize": 2.0}).tolist()
    [8.0, 2.0, 1.0]
    """
    most = ALIGNMENT / np.asarray(table["itemsize"], dtype=np.float64)
    found = np.minimum(_power(table["n"], most), _power(table["k"], most))
    if "a_transposed" not in table:
        return found
    other = np.minimum(found, _power(table["m"], most))
    return np.where(table["a_transposed"] > 0, other, found)


def _power(size: Floats, most: Floats) -> Floats:
    """The greatest power of two, up to `most`, that divides `size`."""
    found = np.ones(np.broadcast(size, most).shape)
    for power in (2.0, 4.0, 8.0, 16.0, 32.0):
        found = np.where((np.mod(size, power) == 0) & (power <= most), power, found)
    return found


def misaligned(table: Columns) -> npt.NDArray[np.bool_]:
    """Whether rows of an operand start off a 16-byte boundary: no load of full width fits."""
    most = ALIGNMENT / np.asarray(table["itemsize"], dtype=np.float64)
    return np.asarray(aligned(table) < most, dtype=np.bool_)


def roofline(table: Columns, values: Values) -> Floats:
    """t = max(F/P, B/BW): no kernel can be faster than the datasheet."""
    return np.maximum(flop(table) / table["peak"], traffic(table) / table["memory_bandwidth"])


def b3(table: Columns, values: Values) -> Floats:
    """t = t0 + max(F/(eP·P), B/(eB·BW)); misaligned products compute at `_rate`·P instead."""
    compute = flop(table) / (table["peak"] * _rate(table, values))
    memory = traffic(table) / (values["memory"] * table["memory_bandwidth"])
    return values["launch"] + np.maximum(compute, memory)


def c5(table: Columns, values: Values) -> Floats:
    """Least seconds over tiles and splits of k; whole waves, constant clock."""
    return c7(table, {**values, "softness": 1.0, "throttle": 0.0})


def c7(table: Columns, values: Values) -> Floats:
    """`c5` with soft waves and a clock that sinks under load.

    Of nt = b·⌈m/tm⌉·⌈n/tn⌉·s tiles w = nt/SMs waves run: W = 1 where w ≤ 1, else q·⌈w⌉ + (1−q)·w,
    q = 1 for whole waves and 0 for perfectly packed ones. A k step of a tile takes the greater of
    multiplying and fetching through L2; a tile has ⌈k/s⌉ steps and takes k0 more to fill. Joined
    with the memory time, plus 8·s·b·m·n bytes through L2 for the sums when s > 1; the library takes
    the fastest choice.
    """
    memory = traffic(table) / (values["memory"] * table["memory_bandwidth"])
    every = _tiles(table, values)
    best = np.full(len(memory), np.inf)
    for split in SPLITS:
        depth = np.ceil(table["k"] / split)
        multiply = np.min(
            [_waves(count * split, values) * (depth * step + fill) for count, step, fill in every],
            axis=0,
        )
        time = _joined(multiply, memory)
        if split > 1:
            sums = 8.0 * split * table["b"] * table["m"] * table["n"]
            time = time + sums / (values["feed"] * table["peak"])
        best = np.minimum(best, time)
    sunk = 1.0 + values["throttle"] * np.minimum(best / THROTTLE_AFTER, 1.0)
    alone = values.get("alone", 0.0) * np.nan_to_num(table.get("alone", np.zeros(1)))
    return values["launch"] + alone + best * sunk


def _tiles(table: Columns, values: Values) -> list[tuple[Floats, Floats, Floats]]:
    """By tile: how many per multiprocessor, seconds of one k step, seconds to fill and drain it.

    What fills a tile is latency: it does not grow where a misaligned product multiplies slowly,
    and the kernels for these come in large tiles only. A tile fetches what there is of its rows.
    """
    peak = table["peak"] / table["sms"]
    full, compute = values["compute"] * peak, _rate(table, values) * peak
    odd, plain = misaligned(table), ~np.isnan(_plain(table))
    across = {size: np.ceil(table["m"] / size) for size in {rows for rows, _ in TILES}}
    along = {size: np.ceil(table["n"] / size) for size in {cols for _, cols in TILES}}
    share = table["b"] / table["sms"]
    found = []
    for rows, cols in TILES:
        edges = np.minimum(rows, table["m"]) + np.minimum(cols, table["n"])
        fetch = edges * table["itemsize"] / (values["feed"] * peak)
        step = np.maximum(2.0 * rows * cols / compute, fetch)
        latency = np.where(odd & plain, step, np.maximum(2.0 * rows * cols / full, fetch))
        if min(rows, cols) < NARROWEST:
            step = np.where(odd & ~plain, np.inf, step)
        found.append((share * across[rows] * along[cols], step, values["fill"] * latency))
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
    """Share of the peak that a product can reach, by alignment.

    Where rows are misaligned the kernel is bound by the loads it issues, each of which brings what
    `aligned` says: `loads` operations per clock and multiprocessor for every element of a load. A
    library without tensor-core kernels for such rows multiplies at its plain rate.
    """
    clock = np.nan_to_num(table.get("clock", np.full(1, CLOCK)), nan=CLOCK)
    issued = values["loads"] * aligned(table) * table["sms"] * clock / table["peak"]
    plain = _plain(table) / table["peak"]
    slow = np.where(np.isnan(plain), issued, plain)
    return np.where(misaligned(table), np.minimum(slow, values["compute"]), values["compute"])


def _plain(table: Columns) -> Floats:
    """Rate in flop/s of products outside the tensor cores, nan where none is needed."""
    return np.broadcast_to(table.get("plain", np.full(1, np.nan)), np.shape(table["peak"]))


COMPUTE = Parameter("compute", "1", 0.8, 0.2, 1.05, "share of the dense peak that is reached")

MEMORY = Parameter("memory", "1", 0.8, 0.2, 1.2, "share of the memory bandwidth that is reached")
LOADS = Parameter(
    "loads", "flop/clock", 350.0, 20.0, 8192.0,
    "operations per clock, multiprocessor and element of a load, where rows are misaligned",
)  # fmt: skip
ALONE = Parameter(
    "alone", "s", 1.2e-6, 1e-7, 1e-5, "what a kernel by itself takes more than in a queue"
)
LAUNCH = Parameter("launch", "s", 3e-6, 1e-7, 3e-5, "time of an empty kernel")

FEED = Parameter("feed", "B/flop", 0.015, 1e-3, 0.3, "bytes from L2 in the time of a flop at peak")

FILL = Parameter("fill", "1", 100.0, 1.0, 3000.0, "k steps to fill and drain a tile")

SOFTNESS = Parameter("softness", "1", 0.3, 1e-3, 1.0, "1: waves are whole; 0: they overlap")

THROTTLE = Parameter("throttle", "1", 0.05, 1e-4, 0.5, "slow-down of kernels longer than 1 ms")

ROOFLINE = Kernel("roofline", "gemm", SHAPE, (), roofline, OPTIONAL)
B3 = Kernel("b3", "gemm", SHAPE, (COMPUTE, MEMORY, LAUNCH, LOADS), b3, OPTIONAL)
C5 = Kernel(
    "c5", "gemm", SHAPE, (COMPUTE, MEMORY, FEED, FILL, LAUNCH, LOADS, ALONE), c5, OPTIONAL, weight
)

C7 = Kernel(
    "c7",
    "gemm",
    SHAPE,
    (COMPUTE, MEMORY, FEED, FILL, LAUNCH, SOFTNESS, THROTTLE, LOADS, ALONE),
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
