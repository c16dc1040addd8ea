"""The frame of all kernel models: columns of shapes and machine facts in, seconds out.

A kernel model is a pure function on numpy columns of one length and on a few fitted parameters. The
polars side is `columns` (a case frame joined with machine facts) on the way in and
`frames.predictions` on the way out.

Source: definition; facts of machines are those of machines.toml, which cites them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.model.machines.datasheets import Machine, machines
from assay.model.machines.dtypes import ITEMSIZE

Floats = npt.NDArray[np.float64]

Columns = Mapping[str, Floats]

Values = Mapping[str, float]

FACTS = (
    "peak",  # flop/s of the row's dtype
    "memory_bandwidth",  # B/s
    "sms",
    "l2_bytes",
    "link_bandwidth",  # B/s in one direction
    "in_network",  # 1 where the switch of the node can reduce
    "gpus_per_node",
    "node_bandwidth",  # B/s of all network cards of a node
    "itemsize",  # B per element
    "clock",  # Hz at which the dense peak is stated
    "plain",  # flop/s of misaligned products where no tensor-core kernel takes them, else null
)
"""Columns that `with_facts` adds; null where the machine has no such figure."""


@dataclass(frozen=True)
class Parameter:
    """A number that measurements decide, inside bounds that physics decides; SI, or a share."""

    name: str
    unit: str
    start: float
    low: float
    high: float
    meaning: str


@dataclass(frozen=True)
class Kernel:
    """A time model: `time(columns, values)` in s, with the columns and parameters that it needs.

    `shape` lists the columns it cannot do without, `optional` those it uses where they are there.
    `weight` says how much a row's error counts in a fit; without it all count alike.
    """

    name: str
    scope: str
    shape: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    time: Callable[[Columns, Values], Floats]
    optional: tuple[str, ...] = ()
    weight: Callable[[Columns], Floats] | None = None

    @property
    def basis(self) -> str:
        """Dotted name of the function, as predictions carry it."""
        return f"{self.time.__module__}.{self.time.__qualname__}"

    @property
    def starts(self) -> dict[str, float]:
        """Starting values by parameter, in SI units or shares: where a fit begins."""
        return {one.name: one.start for one in self.parameters}


def with_facts(cases: pl.DataFrame, among: Mapping[str, Machine] | None = None) -> pl.DataFrame:
    """`cases` with the columns of `FACTS`, from its columns `machine` and `dtype`.

    Rows whose machine or peak is unknown keep nulls: no model predicts them. A fact that `cases`
    states itself (the network of this very cluster, say) goes before the datasheet's.
    """
    known = machines() if among is None else among
    rows = [
        {
            "machine": one.name,
            "dtype": dtype,
            "peak": peak,
            "memory_bandwidth": one.memory_bandwidth,
            "sms": float(one.sms),
            "l2_bytes": one.l2_bytes,
            "link_bandwidth": one.link_bandwidth,
            "in_network": float(one.in_network),
            "gpus_per_node": one.gpus_per_node,
            "node_bandwidth": one.node_bandwidth,
            "itemsize": float(ITEMSIZE[dtype]),
            "clock": one.clock,
            "plain": one.plain_misaligned,
        }
        for one in known.values()
        for dtype, peak in one.peaks.items()
    ]
    schema = {"machine": pl.String, "dtype": pl.String} | dict.fromkeys(FACTS, pl.Float64)
    facts = pl.DataFrame(rows, schema=schema)
    joined = cases.join(
        facts, on=["machine", "dtype"], how="left", maintain_order="left", suffix=".datasheet"
    )
    given = [name for name in FACTS if name in cases.columns]
    return joined.with_columns(
        pl.coalesce(name, f"{name}.datasheet").alias(name) for name in given
    ).drop(f"{name}.datasheet" for name in given)


def inputs(kernel: Kernel, table: pl.DataFrame) -> dict[str, Floats]:
    """Columns that `kernel` reads of `table`: its shape, and optional ones that say something."""
    there = [name for name in kernel.optional if name in table.columns]
    said = tuple(name for name in there if table[name].null_count() < table.height)
    return columns(table, kernel.shape + said)


def columns(table: pl.DataFrame, names: tuple[str, ...]) -> dict[str, Floats]:
    """The named columns as float arrays; nulls become nan, and so do times computed from them."""
    lacking = [name for name in names if name not in table.columns]
    if lacking:
        raise ValueError(f"the cases lack {', '.join(lacking)}; they have {table.columns}")
    return {name: table[name].cast(pl.Float64).to_numpy() for name in names}


def rows(table: Columns, mask: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> dict[str, Floats]:
    """The rows of `table` that `mask` selects."""
    return {name: values[mask] for name, values in table.items()}
