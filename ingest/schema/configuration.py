"""The columns that say what ran: shared by every format whose records are training runs.

A value may be printed in the record, stand in a line outside it, or come from a side file; the
binder (`assay.ingest.statements.binding`) fills these columns and says which. Names are those of
the field and of `assay.model.frames.CONFIGURATION_CASE`.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.schema.fields import configured, named


class Configuration(pa.DataFrameModel):
    """Model shape, layout and machine of one run; null is unknown."""

    model: str = named(["Model", "model name"], configuration=True, meaning="name of the model")
    model_size: float = configured(
        ["Size", "model size"], kind="nominal", gt=0, meaning="parameters, as a label: 200B"
    )
    parameters: int = configured(
        ["ParamCount", "params", "parameters", "n_params", "num params", "NumParams", "#Params"],
        gt=0,
        meaning="parameters, counted",
    )
    hidden: int = configured(
        ["NHIDDEN", "HIDDEN", "hidden size", "hidden dim", "d_model", "n_embd", "hidden_dim"],
        ge=1,
        meaning="model width h",
    )
    layers: int = configured(
        ["NLAYERS", "LAYERS", "num layers", "n_layers", "number of layers"],
        ge=1,
        meaning="transformer layers L",
    )
    heads: int = configured(
        ["NHEADS", "HEADS", "num heads", "n_heads", "attention heads", "num attention heads"],
        ge=1,
        meaning="attention heads",
    )
    kv_heads: int = configured(
        ["kv heads", "num kv heads", "n_kv_heads", "num query groups"],
        ge=1,
        meaning="key and value heads",
    )
    ffn_hidden: int = configured(
        ["FFN", "ffn hidden size", "intermediate size", "d_ff"], ge=1, meaning="MLP width"
    )
    seq_len: int = configured(
        [
            "SEQ_LEN", "SeqLen", "SeqLen (T)", "Seq Length", "sequence length", "seq", "SEQLEN",
            "max seq len", "context length", "sequence len", "Seq Len (T)",
        ],
        ge=1,
        unit="token",
        meaning="sequence length s",
    )  # fmt: skip
    vocab: int = configured(
        ["VOCAB_LENGTH", "vocab size", "vocab", "VOCAB", "padded vocab size"],
        ge=1,
        meaning="vocabulary V",
    )
    dtype: str = named(
        ["Precision", "dtype", "data type"], configuration=True, meaning="compute precision"
    )
    gpu: str = named(
        ["GPUType", "GPU type", "GPU", "GPU model", "device", "accelerator", "hardware"],
        configuration=True,
        meaning="device, as printed",
    )
    gpus: int = configured(
        [
            "GPUs",
            "#GPUs",
            "NumGPUs",
            "num gpus",
            "n_gpus",
            "number of GPUs",
            "world size",
            "ngpus",
            "# of GPUs",
            "GPU count",
        ],
        ge=1,
        meaning="devices of the run",
    )
    nodes: int = configured(
        ["Nodes", "NUM_NODES", "NNODES", "num nodes", "#Nodes", "number of nodes"],
        ge=1,
        meaning="nodes of the run",
    )
    gpus_per_node: int = configured(
        ["GPUs per node", "GPUs/node", "gpus_per_node", "num gpus per node"],
        ge=1,
        meaning="devices in a node",
    )
    tp: int = configured(
        ["TP", "TP size", "tensor parallel", "tensor parallel size", "tensor model parallel size"],
        ge=1,
        meaning="tensor-parallel degree",
    )
    pp: int = configured(
        [
            "PP", "PP size", "pipeline parallel", "pipeline parallel size",
            "pipeline model parallel size",
        ],
        ge=1,
        meaning="pipeline-parallel degree",
    )  # fmt: skip
    dp: int = configured(
        ["DP", "DP size", "data parallel", "data parallel size", "replicas"],
        ge=1,
        meaning="data-parallel degree",
    )
    cp: int = configured(
        ["CP", "context parallel", "context parallel size"], ge=1, meaning="context-parallel degree"
    )
    ep: int = configured(
        ["EP", "expert parallel", "expert model parallel size"],
        ge=1,
        meaning="expert-parallel degree",
    )
    vp: int = configured(
        ["VP", "VPP", "virtual pipeline", "virtual pipeline size"],
        ge=1,
        meaning="model chunks of a pipeline stage (interleaving)",
    )
    micro_batch: int = configured(
        [
            "MBS", "Micro-BS", "Mic-BS", "micro batch size", "micro-batch", "MicroBatchSize (S)",
            "MicroBatchSize", "micro_batch", "local batch size", "batch size per GPU",
        ],
        ge=1,
        unit="sequence",
        meaning="sequences of one micro-batch",
    )  # fmt: skip
    global_batch: int = configured(
        [
            "GBS",
            "Glob-BS",
            "Global-BS",
            "global batch size",
            "GlobalBatchSize (S)",
            "global batch",
            "GlobalBatchSize",
        ],
        ge=1,
        unit="sequence",
        meaning="sequences of one iteration",
    )  # fmt: skip
    global_batch_tokens: int = configured(
        ["GlobalBatchSize (T)", "global batch size (tokens)", "tokens per iteration"],
        ge=1,
        unit="token",
        meaning="tokens of one iteration",
    )
    accumulation: int = configured(
        [
            "GA",
            "GAS",
            "PP chunks",
            "GradAccum",
            "gradient accumulation",
            "gradient accumulation steps",
        ],
        ge=1,
        meaning="micro-batches of one iteration and replica",
    )  # fmt: skip
    zero_stage: int = configured(
        ["ZS", "ZERO_STAGE", "ZeRO", "ZeRO stage"], ge=0, le=3, meaning="ZeRO stage"
    )
    sharding: str = named(
        ["ShardStrategy", "sharding", "sharding strategy"],
        configuration=True,
        meaning="FSDP sharding strategy",
    )
    activation_checkpointing: bool = named(
        [
            "ActCkpt",
            "activation checkpointing",
            "AC",
            "activation recomputation",
            "gradient checkpointing",
            "grad checkpointing",
            "grad ckpt",
        ],
        configuration=True,
        meaning="activations recomputed in full",
    )
    recompute: str = named(
        ["recompute", "recomputation", "recompute granularity"],
        configuration=True,
        meaning="none, selective or full",
    )
    gated: bool = named(configuration=True, meaning="whether the MLP has a third matrix (SwiGLU)")
    attention: str = named(configuration=True, meaning="flash or unfused")
    sequence_parallel: bool = named(
        configuration=True, meaning="norms and dropouts split over the tensor-parallel ranks"
    )
    experts: int = configured(ge=1, meaning="routed experts of a layer")
