"""Parameter counts, and the memory that Megatron derives from them before training.

In: `> number of parameters on … rank (0, 1): N`, `… in billions: N`, `estimated model parameters:
N` and `Theoretical memory footprints: …`. Out: one record per line, in two frames.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.lines.records import Kind, folding
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Format

BILLION = 1e9

MIB_AS_MB = 2.0**20 / 1e6
"""Megatron divides by 1024² and prints `MB`."""


class MegatronParameters(pa.DataFrameModel):
    """Parameters of one rank's shard, of a part of the model, or of all of it."""

    subject: str = named(["estimated"], meaning="what is counted, where it is no rank")
    tp_rank: int = logged(kind="exact", ge=0, nullable=True, meaning="tensor-parallel rank")
    pp_rank: int = logged(kind="exact", ge=0, nullable=True, meaning="pipeline-parallel rank")
    count: int = logged({"parameters": 1}, kind="exact", ge=0, nullable=True)
    rounded: float = logged(
        {"billions": BILLION, "number": BILLION}, ge=0, nullable=True,
        meaning="the same where it is printed in billions",
    )  # fmt: skip

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "parameters"}


class MegatronTheory(pa.DataFrameModel):
    """Memory of the most loaded rank, as Megatron estimates it."""

    weight_and_optimizer: float = logged(
        {"weight and optimizer": MIB_AS_MB},
        unit="B",
        quantity="memory_states",
        ge=0,
        nullable=True,
        meaning="parameters, gradients and optimizer",
    )
    activation: float = logged(
        {"activation": MIB_AS_MB}, unit="B", quantity="memory_activations", ge=0, nullable=True
    )
    total: float = logged(
        {"total": MIB_AS_MB}, unit="B", quantity="memory_counted", ge=0, nullable=True
    )
    activation_per_layer: float = logged(
        {"activation_per_layer": MIB_AS_MB}, unit="B", ge=0, nullable=True
    )

    class Config:
        """Origin of the rows: Megatron's own estimate, which is no measurement."""

        metadata = {"rows": "estimate", "origin": "estimated"}


KINDS = (
    Kind("rank_line", "RANK_HEAD", "megatron_parameters", MegatronParameters),
    Kind("total_line", "TOTAL_HEAD", "megatron_parameters", MegatronParameters),
    Kind("estimate_line", "ESTIMATE_HEAD", "megatron_parameters", MegatronParameters),
    Kind("theory_line", "THEORY_HEAD", "megatron_theory", MegatronTheory),
    Kind("layer_line", "LAYER_HEAD", "megatron_theory", MegatronTheory),
)

FORMAT = Format(
    name="megatron_parameters",
    heads=(
        "number of parameters", "Number of parameters", "Number of active parameters",
        "estimated model parameters", "Theoretical memory footprints",
        "Activation memory footprint",
    ),
    schemas={"megatron_parameters": MegatronParameters, "megatron_theory": MegatronTheory},
    origin="published",
    fold=folding("megatron_parameters", KINDS),
    glued=True,
    binds=False,
)  # fmt: skip
