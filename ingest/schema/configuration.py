"""The columns that say what ran: shared by every format whose records are training runs.

A value may be printed in the record, stand in a line outside it, or come from a side file; the
binder (`assay.ingest.binding.binder`) fills these columns and says which. Names are those of
the field and of `assay.model.frames.CONFIGURATION_CASE`.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.schema.fields import configured, named

MOST_SEQUENCES = 2.0**18
"""Sequences of a batch beyond which a number is of tokens, or of nothing."""


class Configuration(pa.DataFrameModel):
    """Model shape, layout and machine of one run; null is unknown."""

    model: str = named(configuration=True, meaning="name of the model")
    model_size: float = configured(kind="nominal", gt=0, meaning="parameters, as a label: 200B")
    parameters: int = configured(
        gt=0,
        meaning="parameters, counted",
    )
    hidden: int = configured(
        ge=1,
        meaning="model width h",
    )
    layers: int = configured(
        ge=1,
        meaning="transformer layers L",
    )
    heads: int = configured(
        ge=1,
        meaning="attention heads",
    )
    kv_heads: int = configured(
        ge=1,
        meaning="key and value heads",
    )
    ffn_hidden: int = configured(ge=1, meaning="MLP width")
    seq_len: int = configured(ge=1,
        unit="token",
        meaning="sequence length s",
    )  # fmt: skip
    vocab: int = configured(
        ge=1,
        meaning="vocabulary V",
    )
    dtype: str = named(configuration=True, meaning="compute precision")
    gpu: str = named(
        configuration=True,
        meaning="device, as printed",
    )
    gpus: int = configured(
        ge=1,
        meaning="devices of the run",
    )
    nodes: int = configured(
        ge=1,
        meaning="nodes of the run",
    )
    gpus_per_node: int = configured(
        ge=1,
        meaning="devices in a node",
    )
    tp: int = configured(
        ge=1,
        meaning="tensor-parallel degree",
    )
    pp: int = configured(ge=1,
        meaning="pipeline-parallel degree",
    )  # fmt: skip
    dp: int = configured(
        ge=1,
        meaning="data-parallel degree",
    )
    cp: int = configured(ge=1, meaning="context-parallel degree")
    ep: int = configured(
        ge=1,
        meaning="expert-parallel degree",
    )
    vp: int = configured(
        ge=1,
        meaning="model chunks of a pipeline stage (interleaving)",
    )
    micro_batch: int = configured(ge=1,
        unit="sequence",
        meaning="sequences of one micro-batch",
    )  # fmt: skip
    global_batch: int = configured(ge=1,
        unit="sequence",
        meaning="sequences of one iteration",
    )  # fmt: skip
    global_batch_tokens: int = configured(
        ge=1,
        unit="token",
        meaning="tokens of one iteration",
    )
    batch_size: int = configured(ge=1,
        unit="sequence",
        meaning="sequences of a batch that nobody says to be of one replica or of all",
    )  # fmt: skip
    accumulation: int = configured(ge=1,
        meaning="micro-batches of one iteration and replica",
    )  # fmt: skip
    zero_stage: int = configured(ge=0, le=3, meaning="ZeRO stage")
    sharding: str = named(
        configuration=True,
        meaning="FSDP sharding strategy",
    )
    activation_checkpointing: bool = named(
        configuration=True,
        meaning="activations recomputed in full",
    )
    recompute: str = named(
        configuration=True,
        meaning="none, selective or full",
    )
    checkpoints: str = named(
        configuration=True,
        meaning="where inputs to compute again lie: device, split (over TP ranks) or host",
    )
    gated: bool = named(configuration=True, meaning="whether the MLP has a third matrix (SwiGLU)")
    attention: str = named(configuration=True, meaning="flash, sdpa or unfused")
    sequence_parallel: bool = named(
        configuration=True, meaning="norms and dropouts split over the tensor-parallel ranks"
    )
    experts: int = configured(ge=1, meaning="routed experts of a layer")
    program: str = named(configuration=True, meaning="training program and its version")
    network: str = named(configuration=True, meaning="network between nodes, as printed")
