"""A model as the inputs of a Megatron-core formula, and the id that fits it."""

from __future__ import annotations

from assay.model.megatron_core import Switches
from assay.model.shapes import Model
from assay.model.throughput import padded_vocabulary


def case_of(model: Model, *, seq_len: int, tp: int = 1) -> dict[str, float]:
    """Formula inputs by column name; the vocabulary padded for `tp`.

    >>> from assay.model.shapes import shapes
    >>> case_of(shapes()["Mixtral-8x7B"], seq_len=4096)["experts_per_token"]
    2
    """
    case: dict[str, float] = {
        "hidden": model.hidden,
        "layers": model.layers,
        "heads": model.heads,
        "kv_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "ffn_hidden": model.ffn_hidden,
        "seq_len": seq_len,
        "vocab": padded_vocabulary(model.vocab, tp),
        "dense_layers": model.dense_layers,
    }
    if model.experts is not None:
        case["moe_ffn_hidden"] = model.experts.ffn_hidden
        case["experts_per_token"] = model.experts.per_token
        case["shared_ffn_hidden"] = model.experts.shared_ffn_hidden
    if model.latent is not None:
        case["kv_lora_rank"] = model.latent.kv_rank
        case["qk_head_dim"] = model.latent.qk_dim
        case["rope_head_dim"] = model.latent.rope_dim
        case["v_head_dim"] = model.latent.v_dim
        if model.latent.q_rank is not None:
            case["q_lora_rank"] = model.latent.q_rank
    return case


def formula_id_of(model: Model, *, mask: str) -> str:
    """The Megatron-core id of a model; `mask` is `full` or `causal`, which its shape cannot tell.

    >>> from assay.model.shapes import shapes
    >>> formula_id_of(shapes()["DeepSeek-V3"], mask="causal")
    'megatron-core.gated.mla.moe.causal'
    """
    attention = "gqa"
    if model.latent is not None:
        attention = "mla-fullq" if model.latent.q_rank is None else "mla"
    mlp = "gated" if model.gated else "plain"
    ffn = "dense" if model.experts is None else "moe"
    return Switches(mlp, attention, ffn, mask, "").formula_id
