"""Arguments of a training job by the names that each trainer prints them under.

The same name may mean another thing to another trainer (`world_size`, `batch_size`, `devices`), so
these tables come before the common spellings. `DERIVED` says which arguments with more than a
number in them decide a column.
"""

from __future__ import annotations

MEGATRON = {
    "hidden_size": "hidden",
    "num_layers": "layers",
    "num_attention_heads": "heads",
    "ffn_hidden_size": "ffn_hidden",
    "seq_length": "seq_len",
    "padded_vocab_size": "vocab",
    "micro_batch_size": "micro_batch",
    "batch_size": "micro_batch",  # before there were micro-batches
    "global_batch_size": "global_batch",
    "tensor_model_parallel_size": "tp",
    "model_parallel_size": "tp",
    "pipeline_model_parallel_size": "pp",
    "data_parallel_size": "dp",
    "context_parallel_size": "cp",
    "expert_model_parallel_size": "ep",
    "virtual_pipeline_model_parallel_size": "vp",
    "num_experts": "experts",
    "world_size": "gpus",
}
"""Names in the dump of Megatron and its descendants that are a column as they stand."""

NEOX = {
    "moe_num_experts": "experts",
    "pipe_parallel_size": "pp",
    "global_num_gpus": "gpus",
    "train_batch_size": "global_batch",
    "train_micro_batch_size_per_gpu": "micro_batch",
    "gas": "accumulation",
    "gradient_accumulation_steps": "accumulation",
}
"""Names that only GPT-NeoX has; the others of its dump are Megatron's."""

DEEPSPEED = {
    "train_batch_size": "global_batch",
    "train_micro_batch_size_per_gpu": "micro_batch",
    "gradient_accumulation_steps": "accumulation",
    "zero_optimization_stage": "zero_stage",
    "world_size": "dp",  # DeepSpeed counts the ranks that share a batch, not those of a model
}
"""Names in DeepSpeed's dump."""

NEMO = {
    "encoder_seq_length": "seq_len",
    **{name: column for name, column in MEGATRON.items() if name != "batch_size"},
    "num_moe_experts": "experts",
    "devices": "gpus_per_node",
    "num_nodes": "nodes",
}
"""Names in NeMo's and Megatron-Bridge's YAML, without the keys around them."""

NEMO_SECTIONS = ("model", "train", "trainer", "dataset", "data", "ddp")
"""Keys under which they stand, in the order in which they are believed; the rest is of others."""

DERIVED: dict[str, dict[str, tuple[str, ...]]] = {
    "Megatron": {
        "dtype": ("bf16", "fp16", "fp8", "params_dtype"),
        "recompute": ("recompute_granularity", "checkpoint_activations"),
        "zero_stage": ("use_distributed_optimizer", "zero_stage"),
        "kv_heads": ("num_query_groups", "num_key_value_heads"),
        "gated": ("swiglu",),
        "attention": ("attention_backend", "use_flash_attn"),
        "sequence_parallel": ("sequence_parallel",),
    },
    "GPT-NeoX": {
        "dtype": ("precision",), "recompute": ("checkpoint_activations",),
        "zero_stage": ("zero_stage",), "gated": ("activation",), "kv_heads": ("num_kv_heads",),
    },
    "DeepSpeed": {"dtype": ("bfloat16_enabled", "fp16_enabled")},
    "NeMo": {
        "dtype": ("trainer.precision", "mixed_precision", "fp8"),
        "recompute": ("activations_checkpoint_granularity", "recompute_granularity"),
        "zero_stage": ("use_distributed_optimizer",), "kv_heads": ("num_query_groups",),
        "gated": ("activation",), "sequence_parallel": ("sequence_parallel",),
    },
}  # fmt: skip
"""Columns that follow from arguments with more than a number: framework → column → arguments."""

FRAMEWORKS = {
    "Megatron": MEGATRON, "GPT-NeoX": MEGATRON | NEOX, "DeepSpeed": DEEPSPEED, "NeMo": NEMO,
}  # fmt: skip


def printed_as(framework: str, column: str) -> tuple[str, ...]:
    """The arguments of a framework's dump that say a configuration column.

    >>> printed_as("Megatron", "seq_len"), printed_as("DeepSpeed", "seq_len")
    (('seq_length',), ())
    """
    plain = tuple(name for name, said in FRAMEWORKS[framework].items() if said == column)
    return plain or DERIVED[framework].get(column, ())
