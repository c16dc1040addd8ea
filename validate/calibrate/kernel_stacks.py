"""From measured kernel times to a stack: what `assay calibrate` does with the frames it has read.

Frames come in with one row per measurement: machine, dtype (canonical), `time` in s and the shape
columns of their kind. A `Stack` comes out, to be written with `assay.model.stacks.stack.dump`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.model.fit import kernel_fit
from assay.model.fit.learnt import Calibrated, learn
from assay.model.kernels import attention, collective, gemm, pointwise
from assay.model.kernels.kernel import Kernel, inputs, with_facts
from assay.model.stacks.stack import Stack

GROUPS: dict[str, tuple[str, ...]] = {
    "gemm": ("n", "k"),
    "attention": ("seq", "heads", "kv_heads"),
    "collective": ("bytes",),
    "pointwise": ("bytes",),
}
"""Columns whose equal values stand together: a group is fitted or scored, never split."""

NEARNESS: dict[str, tuple[str, ...]] = {"gemm": ("b", "m", "n", "k")}
"""Dimensions in which measured neighbours correct the model."""

KERNELS: dict[str, Kernel] = {
    "gemm": gemm.C7,
    "attention": attention.TILED,
    "collective": collective.COLLECTIVE,
    "pointwise": pointwise.STREAMED,
}

ASSUMED = "assumed: no streaming kernel has been measured"


def labels(frame: pl.DataFrame, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """One number per row, equal where the named columns are.

    >>> labels(pl.DataFrame({"n": [1, 1, 2], "k": [3, 3, 3]}), ("n", "k")).tolist()
    [1, 1, 2]
    """
    return frame.select(pl.struct(names).rank("dense").cast(pl.Int64)).to_series().to_numpy()


def part(
    frame: pl.DataFrame,
    scope: str,
    *,
    origin: str,
    kernel: Kernel | None = None,
    groups: tuple[str, ...] = (),
    nearness: tuple[str, ...] | None = None,
    draws: int = kernel_fit.DRAWS,
) -> Calibrated:
    """One calibrated kernel from the measurements of one machine and number format.

    Rows without a time or a fact that the kernel needs are left out; ValueError if none is left or
    if several machines or formats are mixed.
    """
    machines, dtypes = frame["machine"].unique().to_list(), frame["dtype"].unique().to_list()
    if len(machines) != 1 or len(dtypes) != 1:
        raise ValueError(f"one machine and format at a time, not {machines} with {dtypes}")
    model = kernel or KERNELS[scope]
    table = with_facts(frame.filter(pl.col("time") > 0))
    table = table.drop_nulls([name for name in model.shape if name in table.columns])
    return learn(
        model,
        inputs(model, table),
        table["time"].to_numpy(),
        labels(table, groups or GROUPS[scope]),
        machine=str(machines[0]),
        dtype=str(dtypes[0]),
        origin=origin,
        dimensions=NEARNESS.get(scope, ()) if nearness is None else nearness,
        draws=draws,
    )


def stack(machine: str, parts: dict[str, Calibrated]) -> Stack:
    """The stack of a machine from its calibrated kernels, with the assumed streaming kernel."""
    start = pointwise.STREAMED
    assumed = Calibrated(
        kernel=start,
        values=start.starts,
        low={"memory": 0.5, "launch": 1e-6},
        high={"memory": 0.95, "launch": 1e-5},
        weak=tuple(start.starts),
        machine=machine,
        dtype=next(iter(parts.values())).dtype if parts else "bf16",
        origin=ASSUMED,
    )
    return Stack(machine, parts if "pointwise" in parts else parts | {"pointwise": assumed})
