"""Megatron's memory reports: what the allocator of each rank holds after some iterations.

In: `[Rank N] (after M iterations) memory (MB) | allocated: … | …`. Out: one record per report, also
where the reports of several ranks stand on one line. Megatron divides by 1024² and prints `MB`;
Megatron-Bridge divides by 10⁹ and says so in its labels: `mem-max-allocated-gigabytes`.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.lines.records import Kind, folding
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Format

MIB_AS_MB, GIGABYTE = 2.0**20, 1e9


class MegatronMemory(pa.DataFrameModel):
    """Bytes of one rank, as its caching allocator counts them."""

    iteration: int = logged(kind="exact", ge=0, nullable=True, meaning="iterations done so far")
    moment: str = named(meaning="when, where it is no number of iterations")
    allocated: float = logged(
        {"allocated": MIB_AS_MB, "mem-allocated-gigabytes": GIGABYTE}, unit="B", ge=0, nullable=True
    )
    max_allocated: float = logged(
        {"max allocated": MIB_AS_MB, "mem-max-allocated-gigabytes": GIGABYTE},
        unit="B", quantity="memory", ge=0, nullable=True,
        meaning="peak of what tensors held",
    )  # fmt: skip
    reserved: float = logged(
        {"reserved": MIB_AS_MB, "cached": MIB_AS_MB, "mem-reserved-gigabytes": GIGABYTE},
        unit="B", ge=0, nullable=True, meaning="held by the allocator",
    )  # fmt: skip
    max_reserved: float = logged(
        {"max reserved": MIB_AS_MB, "max cached": MIB_AS_MB,
         "mem-max-reserved-gigabytes": GIGABYTE},
        unit="B", quantity="memory_reserved", ge=0, nullable=True,
        meaning="peak of what the allocator took from the device",
    )  # fmt: skip

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "rank"}


KINDS = (Kind("memory_line", "HEAD", "megatron_memory", MegatronMemory),)

FORMAT = Format(
    name="megatron_memory",
    heads=("memory (MB)", "memory (GB)"),
    schemas={"megatron_memory": MegatronMemory},
    origin="measured",
    fold=folding("megatron_memory", KINDS),
    glued=True,
    binds=False,
)
