"""The frames of per-layer estimates: one row per layer, and one per sum.

Printed units: flop in TFLOP, memory and volumes in GB (decimal), times in ms or s as the table's
own arithmetic shows. Numbers are rounded to six decimals, trailing zeros dropped.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.schema.fields import logged, named

TABLE_KIND = "fixed(6)"


def cell(quantity: str, scale: float, unit: str, *more: str) -> float:
    """A column of the tables, printed under its own name or one of `more`."""
    field: float = logged(
        dict.fromkeys((quantity, *more), scale),
        kind=TABLE_KIND,
        unit=unit,
        quantity=quantity,
        nullable=True,
    )
    return field


def size(quantity: str, *more: str) -> float:
    """A column in GB."""
    return cell(quantity, 1e9, "B", *more)


def time(quantity: str, *more: str) -> float:
    """A column of times; the table says whether they are milliseconds or seconds."""
    return cell(quantity, 1.0, "s", *more)


class LayerCase(pa.DataFrameModel):
    """Table, layer and model of a row; the model is that of the document, bound to each row."""

    table: int = logged(kind="exact", ge=1, meaning="first line of the table")
    block: str = named(meaning="mlp or attention")
    layer: str = named(["layer", "name"], nullable=False)
    batch: int = logged(kind="exact", ge=1, nullable=True, meaning="sequences b")
    seq_len: int = logged(kind="exact", ge=1, nullable=True, meaning="sequence length l")
    hidden: int = logged(kind="exact", ge=1, nullable=True, meaning="width e")
    heads: int = logged(kind="exact", ge=1, nullable=True, meaning="attention heads h")
    depth: int = logged(kind="exact", ge=1, nullable=True, meaning="layers that are summed")
    m1: int = logged(kind="exact", ge=1, nullable=True, meaning="tensor-parallel degree")
    m2: int = logged(kind="exact", ge=1, nullable=True, meaning="second parallel degree")
    gpu: str = named(configuration=True, meaning="machine, from outside the document")

    activation_buffer: float = size("activation_buffer")
    weights_mem: float = size("weights_mem")
    weights_grad_mem: float = size("weights_grad_mem")
    flops_fwd: float = cell("flops_fwd", 1e12, "flop")
    flops_bwd: float = cell("flops_bwd", 1e12, "flop")
    t_total_fwd: float = time("t_total_fwd")
    t_total_bwd: float = time("t_total_bwd")
    t_comm_fwd: float = time("t_comm_fwd", "t_fwd_comm")
    t_comm_bwd: float = time("t_comm_bwd", "t_bwd_comm")


class LayerEstimate(LayerCase):
    """One layer of a table; a cell that holds a list of volumes is unknown as one number."""

    activation_in_mem: float = size("activation_in_mem")
    activation_in_other_mem: float = size("activation_in_other_mem")
    activation_out_mem: float = size("activation_out_mem")
    total_mem_fwd: float = size("total_mem_fwd")
    activation_grad_mem: float = size("activation_grad_mem")
    total_mem_bwd: float = size("total_mem_bwd")
    comm_fwd: float = size("comm_fwd")
    comm_fwd_type: str = named(["comm_fwd_type"])
    comm_bwd: float = size("comm_bwd")
    comm_bwd_type: str = named(["comm_bwd_type"])
    comm_size: float = logged(
        ["comm_size"],
        kind="exact",
        unit="1",
        quantity="comm_size",
        nullable=True,
        meaning="ranks of the collective",
    )
    comm_topology: str = named(["comm_topology"])
    t_comp_fwd: float = time("t_comp_fwd", "t_fwd_comp")
    t_mem_fwd: float = time("t_mem_fwd", "t_fwd_mem")
    t_comp_bwd: float = time("t_comp_bwd", "t_bwd_comp")
    t_mem_bwd: float = time("t_mem_bwd", "t_bwd_mem")
    t_fwd: float = time("t_fwd")
    t_bwd: float = time("t_bwd")
    t_both: float = time("t_both", "t")
    intensity: float = cell("intensity", 1.0, "1", "intensity_fwd")
    intensity_bwd: float = cell("intensity_bwd", 1.0, "1")
    frac_t_comm_fwd: float = cell("frac_t_comm_fwd", 1.0, "1")
    frac_t_comm_bwd: float = cell("frac_t_comm_bwd", 1.0, "1", "frac_t_comm")

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "estimate", "scope": "layer", "subject": ("layer",), "case": "table"}


class LayerTotal(LayerCase):
    """The sums below a table, times depth (`layer` is total), or of both tables (iteration)."""

    comm_share: float = logged(
        kind="binary", unit="1", quantity="comm_share", nullable=True,
        meaning="share of the forward time spent in communication",
    )  # fmt: skip
    iteration_time: float = logged(
        kind="binary", unit="s", quantity="iteration_time", nullable=True
    )
    memory_consumed: float = logged(
        kind="binary", unit="B", quantity="memory_consumed", nullable=True
    )

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "estimate", "scope": "layer", "subject": ("layer",), "case": "table"}
