"""Parameter counts: of a model part by part, and under the conventions of projects that print them.

The convention is part of the number: "200B" is 199.1 B without embeddings and 202.7 B with them.
The closed forms of GPT take numbers or polars expressions; `parameters` takes any `Model` and
counts in exact integers.

Units: parameters, one element each, whatever their number format. Source: definition, the sizes of
all weights and biases; conventions name theirs.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import polars as pl
from assay.model.transformer.shapes import NORMS, Model

Number = TypeVar("Number", float, pl.Expr)
"""A float (an int is one) or a polars expression over float columns."""


def gpt_layer(hidden: Number) -> Number:
    """Parameters of one GPT layer: 12h² of matrices, 9h of biases, 4h of two layer norms.

    >>> gpt_layer(12288)
    1812099072
    """
    return 12 * hidden * hidden + 13 * hidden


def megatron_2021_old(hidden: Number, layers: Number, tp: Number) -> Number:
    """Parameters that the tensor-parallel ranks hold together, without embeddings.

    Layer norms and the two output biases of a layer (6h) are on every rank, so they count TP times.
    Source: the estimate that BigScience's logs divided by up to 2022-02-20.

    >>> round(megatron_2021_old(14400, 80, 8) / 1e9, 1)  # called 200B
    199.1
    """
    return layers * gpt_layer(hidden) + 6 * hidden * (tp - 1) * layers + 2 * hidden * tp


def mosaic(hidden: Number, layers: Number, vocab: Number, seq_len: Number) -> Number:
    """Parameters of GPT: learned positions, output tied to the embedding, a last layer norm.

    Source: the ParamCount column of MosaicML's throughput tables, 2022 and 2023; vocab is 50257.

    >>> mosaic(5120, 40, 50257, 16384)
    12926786560
    """
    return vocab * hidden + seq_len * hidden + layers * gpt_layer(hidden) + 2 * hidden


class ParameterCount(NamedTuple):
    """Parameters by what they are; conventions are sums of some of them.

    >>> from assay.model.transformer.shapes import shapes
    >>> shape = shapes()["Llama-3-8B"]
    >>> parameters(shape).total, parameters(shape).without_embedding
    (8030261248, 6979588096)
    """

    embedding: int
    positions: int
    attention: int  # and what mixes tokens in its place
    mlp: int  # dense and shared
    experts: int  # all routed ones
    router: int
    norms: int
    head: int  # 0 where tied
    unused: int  # of `experts`, what one token does not visit

    @property
    def total(self) -> int:
        """All parameters that are stored."""
        return sum(self) - self.unused

    @property
    def without_embedding(self) -> int:
        """Parameters without embedding, positions and head."""
        return self.total - self.embedding - self.positions - self.head

    @property
    def active(self) -> int:
        """Parameters that one token passes through."""
        return self.total - self.unused


def parameters(model: Model) -> ParameterCount:
    """Parameters of the whole model, each matrix once."""
    hidden, layers = model.hidden, model.layers
    norm = NORMS[model.norm]
    experts = model.experts
    sparse = model.sparse_layers
    routed = router = unused = 0
    mlp = model.dense_layers * _mlp(model, model.ffn_hidden)
    if experts is not None:
        one = _mlp(model, experts.ffn_hidden, experts.latent)
        routed = sparse * experts.routed * one
        unused = sparse * (experts.routed - experts.per_token) * one
        router = sparse * experts.routed * (hidden + int(experts.router_bias))
        mlp += sparse * 2 * hidden * (experts.latent or 0)
        if experts.shared_ffn_hidden:
            shared = _mlp(model, experts.shared_ffn_hidden)
            mlp += sparse * (shared + hidden * int(experts.shared_gate))
    return ParameterCount(
        embedding=model.vocab * hidden,
        positions=model.context * hidden if model.positions == "learned" else 0,
        attention=model.attention_layers * attention_parameters(model)
        + model.mamba_layers * mamba_parameters(model),
        mlp=mlp,
        experts=routed,
        router=router,
        norms=norm * hidden * (model.blocks_per_layer * layers + 1 + int(model.embedding_norm)),
        head=0 if model.tied else model.vocab * hidden,
        unused=unused,
    )


def attention_parameters(model: Model) -> int:
    """Parameters of one attention block, inner norms and biases included."""
    hidden, heads, latent = model.hidden, model.heads, model.latent
    if latent is not None:
        query_dim = heads * (latent.qk_dim + latent.rope_dim)
        rank = latent.q_rank
        query = hidden * query_dim if rank is None else rank * (hidden + 1 + query_dim)
        key_value = hidden * (latent.kv_rank + latent.rope_dim) + latent.kv_rank
        up = latent.kv_rank * heads * (latent.qk_dim + latent.v_dim)
        return query + key_value + up + heads * latent.v_dim * hidden
    projected = (heads + 2 * model.kv_heads) * model.head_dim
    found = hidden * projected + heads * model.head_dim * hidden
    found += projected if model.biases in ("qkv", "all") else 0
    found += hidden if model.biases == "all" else 0
    return found + (2 * model.head_dim * NORMS[model.norm] if model.qk_norm else 0)


def mamba_parameters(model: Model) -> int:
    """Parameters of one state-space block: projections, convolution, a decay, a skip and a bias for
    each head, the gated norm.

    Source: Mamba-2, arXiv 2405.21060 and its published configuration files.
    """
    if model.hybrid is None:
        return 0
    one, hidden = model.hybrid, model.hidden
    projected = one.inner + one.convolved + one.heads
    convolution = one.convolved * (one.kernel + 1)
    return hidden * projected + one.inner * hidden + convolution + 3 * one.heads + one.inner


def _mlp(model: Model, width: int, hidden: int | None = None) -> int:
    matrices = model.mlp_matrices * (hidden or model.hidden) * width
    if model.biases != "all":
        return matrices
    return matrices + (model.mlp_matrices - 1) * width + model.hidden


def padded_vocabulary(vocab: int, tp: int, multiple: int = 128) -> int:
    """Rows of the embedding matrix after Megatron's padding to a multiple of `multiple`·TP.

    Source: Megatron-LM, `make-vocab-size-divisible-by`, 128 by default.

    >>> padded_vocabulary(50257, 1), padded_vocabulary(50257, 8), padded_vocabulary(250680, 4)
    (50304, 51200, 250880)
    """
    unit = multiple * tp
    return -(-vocab // unit) * unit
