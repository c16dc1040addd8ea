"""The operations that Megatron-core divides by its step time, and every switch of that count.

One formula whose switches are all part of its id, in this order:

- MLP: `plain` (two matrices) or `gated` (three);
- attention: `gqa` (plain multi-head is kv_heads = heads), `mla` (queries through a low rank) or
  `mla-fullq` (queries projected directly);
- `dense`, or `moe`: the first dense_layers are dense, the others have experts_per_token of width
  moe_ffn_hidden and shared experts of width shared_ffn_hidden together (0: none);
- mask: `full` counts every key for every query (releases up to 2024), `causal` half of them;
- `mtp`, where mtp_layers more layers predict further tokens, with their projection and logits.

Results are flop per sequence: every product three times, nothing recomputed, `vocab` padded.
Source: the count in Megatron-LM's training loop; its attention, expert and logit terms restated.
Checked: Llama 3 8B and 70B of its own examples (tests), DeepSeek-V3's count by layer sizes.

`case_of` and `formula_id_of` give the inputs and the id for a `Model`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

from assay.model.transformer.parameters import Number, padded_vocabulary
from assay.model.transformer.shapes import Model

Case = Mapping[str, Number]
"""Shape of one model by column name."""

MLP = {"plain": 2.0, "gated": 3.0}

MASK = {"full": 1.0, "causal": 0.5}

EXPRESSION = "6·B·s·(L·A + k·h·W + h·V)"
"""A: multiply-adds of one attention block, W: width of all MLPs, k: matrices of one; per token."""

ALWAYS = ("hidden", "layers", "heads", "ffn_hidden", "seq_len", "vocab")


class Switches(NamedTuple):
    """One variant of the formula.

    >>> Switches("gated", "gqa", "dense", "causal", "").formula_id
    'megatron-core.gated.gqa.dense.causal'
    """

    mlp: str
    attention: str
    ffn: str
    mask: str
    mtp: str

    @property
    def formula_id(self) -> str:
        """The id, which names every switch."""
        return ".".join(("megatron-core", *filter(None, self)))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Column names that the variant needs."""
        needed = ALWAYS + ATTENTION[self.attention][0] + FFN[self.ffn][0]
        return needed + (("mtp_layers",) if self.mtp else ())


def grouped_query(case: Case[Number], keys: Number) -> Number:
    """Multiply-adds per token of one attention block that counts `keys` keys per query.

    Units: multiply-adds, two flop each; widths in elements. Raises KeyError for a missing column.
    """
    query_and_output = case["hidden"] * case["heads"]
    key_and_value = case["hidden"] * case["kv_heads"]
    return 2.0 * case["head_dim"] * (query_and_output + key_and_value + case["heads"] * keys)


def latent(case: Case[Number], keys: Number) -> Number:
    """Multiply-adds per token of latent attention; an inner norm counts one per element.

    Units: multiply-adds, two flop each; widths in elements. Raises KeyError for a missing column.
    """
    query = case["q_lora_rank"] * (
        case["hidden"] + case["heads"] * (case["qk_head_dim"] + case["rope_head_dim"]) + 1.0
    )
    return query + _latent_without_query(case, keys)


def latent_full_query(case: Case[Number], keys: Number) -> Number:
    """Multiply-adds per token of latent attention with queries from the hidden state directly.

    Units: multiply-adds, two flop each; widths in elements. Raises KeyError for a missing column.
    """
    query_dim = case["qk_head_dim"] + case["rope_head_dim"]
    return case["hidden"] * case["heads"] * query_dim + _latent_without_query(case, keys)


def _latent_without_query(case: Case[Number], keys: Number) -> Number:
    heads, hidden, v_dim = case["heads"], case["hidden"], case["v_head_dim"]
    up = case["kv_lora_rank"] * (hidden + heads * (case["qk_head_dim"] + v_dim) + 1.0)
    core = heads * keys * (case["qk_head_dim"] + case["rope_head_dim"] + v_dim)
    return up + hidden * case["rope_head_dim"] + core + hidden * heads * v_dim


def dense(case: Case[Number], layers: Number) -> Number:
    """Width of the MLPs of all layers together, as one token sees it: columns of up-projections."""
    return layers * case["ffn_hidden"]


def experts(case: Case[Number], layers: Number) -> Number:
    """Width of all MLPs that a token visits, dense layers first, then routed and shared experts.

    Units: columns of the up-projections. Raises KeyError for a missing column.
    """
    active = case["moe_ffn_hidden"] * case["experts_per_token"] + case["shared_ffn_hidden"]
    return case["dense_layers"] * case["ffn_hidden"] + (layers - case["dense_layers"]) * active


LATENT = ("kv_lora_rank", "qk_head_dim", "rope_head_dim", "v_head_dim")

ATTENTION: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "gqa": (("kv_heads", "head_dim"), grouped_query),
    "mla": (("q_lora_rank", *LATENT), latent),
    "mla-fullq": (LATENT, latent_full_query),
}

FFN: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "dense": ((), dense),
    "moe": (("dense_layers", "moe_ffn_hidden", "experts_per_token", "shared_ffn_hidden"), experts),
}

VARIANTS = tuple(Switches(*each) for each in product(MLP, ATTENTION, FFN, MASK, ("", "mtp")))


def flop(switches: Switches, case: Case[Number]) -> Number:
    """Flop per sequence of one variant; `case` has its `inputs`, else KeyError.

    Source: 6·s·(L·A + k·h·W + h·V), see `EXPRESSION` and the module.

    >>> llama = dict(hidden=4096, layers=32, heads=32, kv_heads=8, head_dim=128, ffn_hidden=14336,
    ...              seq_len=8192, vocab=128256)
    >>> found = flop(Switches("gated", "gqa", "dense", "full", ""), llama)
    >>> round(13812 * found / 8192 / 1e12)  # 800 printed beside 13,812 tokens/s/GPU
    800
    """
    hidden, layers = case["hidden"], case["layers"]
    logits = hidden * case["vocab"]
    further = 0.0 * hidden
    if switches.mtp:
        further = case["mtp_layers"] * (3.0 * hidden + 2.0 * hidden * hidden + logits)
        layers = layers + case["mtp_layers"]
    keys = case["seq_len"] * MASK[switches.mask]
    attention: Number = ATTENTION[switches.attention][1](case, keys)
    width: Number = FFN[switches.ffn][1](case, layers)
    mlp = MLP[switches.mlp] * hidden * width
    return 6.0 * case["seq_len"] * (layers * attention + mlp + logits + further)


def case_of(model: Model, *, seq_len: int, tp: int = 1) -> dict[str, float]:
    """Formula inputs by column name; the vocabulary padded for `tp`.

    Units: elements of a dimension, layers, heads, tokens of a sequence.

    >>> from assay.model.transformer.shapes import shapes
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

    Raises ValueError for hybrids, whose layers these formulas do not count.

    >>> from assay.model.transformer.shapes import shapes
    >>> formula_id_of(shapes()["DeepSeek-V3"], mask="causal")
    'megatron-core.gated.mla.moe.causal'
    """
    if model.hybrid is not None:
        raise ValueError(f"{model.name}: state-space layers are counted by no formula here")
    attention = "gqa"
    if model.latent is not None:
        attention = "mla-fullq" if model.latent.q_rank is None else "mla"
    mlp = "gated" if model.gated else "plain"
    ffn = "dense" if model.experts is None else "moe"
    return Switches(mlp, attention, ffn, mask, "").formula_id
