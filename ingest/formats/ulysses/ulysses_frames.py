"""The frames of a Ulysses trace; `trace` is the first line of the trace that a row belongs to.

Sizes are per rank in decimal units, flop are totals over all ranks. What was printed is what a
program computed from shapes (elements, flop) or what the allocator said (memory).
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.schema.fields import logged, named

DIMENSIONS = 6
"""How many dimensions of a tensor get a column of their own; `shape` holds all."""


def whole(quantity: str | None = None, meaning: str = "") -> int:
    """A column of counts."""
    field: int = logged(kind="exact", ge=0, quantity=quantity, nullable=True, meaning=meaning)
    return field


class OfTrace(pa.DataFrameModel):
    """Columns that every frame of a trace has: trace, section and operation above the row."""

    trace: int = logged(kind="exact", ge=1, meaning="first line of the trace")
    section: str = named(meaning="Ulysses attention, 2D Model parallel, …")
    operation: str = named(meaning="the last operation above: compute attention, …")


class UlyssesTrace(pa.DataFrameModel):
    """The header of one trace."""

    trace: int = logged(kind="exact", ge=1, meaning="first line of the trace")
    seq_len: int = whole(meaning="N")
    hidden: int = whole(meaning="d")
    heads: int = whole(meaning="h")
    layers: int = whole(meaning="L")
    ffn_hidden: int = whole(meaning="d'")
    dtype: str = named()
    p: int = whole(meaning="P, all ranks")
    tp: int = whole(meaning="TP")
    dp: int = whole(meaning="DP")
    hp: int = whole(meaning="HP, ranks over heads")
    sp: int = whole(meaning="SP, ranks over the sequence")
    my_rank: int = whole(meaning="the rank that prints")
    ranks: int = whole()
    my_device: int = whole()
    devices: int = whole(meaning="of its host")
    heads_per_gpu: int = whole("heads_per_gpu")
    tokens_per_gpu: int = whole("tokens_per_gpu")

    class Config:
        """Scope and case of the rows."""

        metadata = {"rows": "estimate", "scope": "configuration", "case": "trace"}


class UlyssesTensor(OfTrace):
    """One tensor as it was printed."""

    subject: str = named(nullable=False)
    name: str = named(nullable=False)
    label: str = named(meaning="the dimensions in symbols")
    shape: str = named(nullable=False)
    dim0: int = whole("dim0")
    dim1: int = whole("dim1")
    dim2: int = whole("dim2")
    dim3: int = whole("dim3")
    dim4: int = whole("dim4")
    dim5: int = whole("dim5")
    elements: int = whole("elements")
    bytes: float = logged(unit="B", quantity="bytes", ge=0)

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "estimate", "scope": "tensor", "subject": ("subject",), "case": "trace"}


class UlyssesFlops(OfTrace):
    """The flop of one operation over all ranks."""

    subject: str = named(nullable=False)
    equation: str = named(meaning="the products that were counted")
    flop: float = logged(unit="flop", quantity="flop", ge=0)

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "estimate", "scope": "gemm", "subject": ("subject",), "case": "trace"}


class UlyssesMemory(OfTrace):
    """Bytes that the allocator of one rank held."""

    subject: str = named(nullable=False)
    peak_memory: float = logged(unit="B", quantity="peak_memory", ge=0, nullable=True)
    current_memory: float = logged(unit="B", quantity="current_memory", ge=0, nullable=True)

    class Config:
        """Scope and subject of the rows."""

        metadata = {
            "rows": "estimate",
            "scope": "configuration",
            "subject": ("subject",),
            "case": "trace",
        }


class UlyssesEvent(OfTrace):
    """A line without a number to compare: an operation, an equation, ranks, a library's version."""

    kind: str = named(nullable=False)
    text: str = named(nullable=False)

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "note"}
