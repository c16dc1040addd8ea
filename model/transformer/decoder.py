"""The matrix products of a transformer on one rank: a shape and a layout in, operations out.

Operations are what one rank executes for one micro-batch in one layer, forward; `passes` derives
the gradients and what is computed again, `traffic` lists what moves bytes only.
Tokens per micro-batch are micro_batch · seq_len / CP; under sequence parallelism the products still
see all of them, because activations are gathered before every tensor-parallel product.

Units: tokens, elements. Source: Megatron-LM's tensor and sequence parallelism (Shoeybi et al. 2019,
Korthikanti et al. 2022); the layers of each model as in the source that shapes.toml names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from assay.model.transformer.operations import Attention, Gemm, Operation
from assay.model.transformer.parameters import padded_vocabulary
from assay.model.transformer.shapes import Experts, Hybrid, Latent, Model


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How one model is split, as ranks of each kind.

    `expert_tp` None splits experts like everything else. `ep` ranks share the routed experts of a
    layer; they are part of the data-parallel group.
    """

    tp: int = 1
    cp: int = 1
    ep: int = 1
    expert_tp: int | None = None
    sequence_parallel: bool = False

    @property
    def experts_split(self) -> int:
        """Ranks that share one expert's matrices."""
        return self.tp if self.expert_tp is None else self.expert_tp


@dataclass(frozen=True, kw_only=True)
class Kernels:
    """Choice of kernels: fused attention or separate products, and the number format of each."""

    attention: str = "flash"  # or "unfused"
    causal: bool = True
    linear_dtype: str = "bf16"  # of the products with weights inside a layer; fp8 goes here
    dtype: str = "bf16"  # of attention, router and logits


PADDED = 16
"""Tokens of an expert come in multiples of this: grouped products pad them, so that a weight's
gradient is aligned too."""


def share(total: int, parts: int, what: str) -> int:
    """An equal share of `total` for each of `parts` ranks, in the unit of `total`.

    Raises ValueError where `parts` does not divide it; `what` is its name in the message.

    >>> share(32, 8, "heads")
    4
    """
    if total % parts:
        raise ValueError(f"{total} {what} do not divide among {parts} ranks")
    return total // parts


def tokens(layout: Layout, micro_batch: int, seq_len: int) -> int:
    """Tokens of one micro-batch on one rank: `micro_batch` sequences of `seq_len`/CP tokens.

    Raises ValueError where CP does not divide a sequence.

    >>> tokens(Layout(cp=2), 1, 8192)
    4096
    """
    return micro_batch * share(seq_len, layout.cp, "tokens of a sequence")


class Block(NamedTuple):
    """The parts of one layer: what mixes its tokens, and which MLP they pass; "" where it has none.

    `mixer` is attention, window (attention to the last tokens alone) or mamba, `mlp` dense or
    sparse (routed experts).
    """

    mixer: str
    mlp: str


ATTENDS = ("attention", "window")
"""Mixers that attend to tokens."""


def blocks(model: Model) -> tuple[tuple[Block, float], ...]:
    """The kinds of layers of a model, and the share of each among its layers.

    >>> from assay.model.transformer.shapes import shapes
    >>> [(*one, round(share, 2)) for one, share in blocks(shapes()["Nemotron-3-Nano-30B-A3B"])]
    [('attention', '', 0.12), ('mamba', '', 0.44), ('', 'sparse', 0.44)]
    >>> [(*one, share) for one, share in blocks(shapes()["GPT-OSS-20B"])]
    [('window', 'sparse', 0.5), ('attention', 'sparse', 0.5)]
    """
    mixer = "" if model.hybrid else "attention"
    every = [
        (Block("attention", ""), model.attention_layers if model.hybrid else 0),
        (Block("mamba", ""), model.mamba_layers),
        (Block(mixer, "dense"), model.dense_layers),
        (Block(mixer, "sparse"), model.sparse_layers),
    ]
    kinds = [(one, count / model.layers) for one, count in every if count]
    part = model.windowed_layers / model.layers
    if not part:
        return tuple(kinds)
    near = [(one._replace(mixer="window"), share * part) for one, share in kinds]
    return tuple(near + [(one, share * (1.0 - part)) for one, share in kinds if part < 1.0])


def block_operations(
    model: Model,
    layout: Layout,
    kernels: Kernels,
    block: Block,
    *,
    micro_batch: int,
    seq_len: int,
) -> tuple[Operation, ...]:
    """Forward operations of one layer of the kind `block` on one rank, in the order they run.

    Shapes are those of its parts, for micro-batches of `seq_len` tokens. Raises ValueError as
    `layer` does.
    """
    at = {"micro_batch": micro_batch, "seq_len": seq_len}
    rows = tokens(layout, micro_batch, seq_len)
    found: tuple[Operation, ...] = ()
    if block.mixer in ATTENDS:
        window = model.window if block.mixer == "window" else None
        found += attention_block(model, layout, kernels, window=window, **at)
    elif block.mixer == "mamba" and model.hybrid is not None:
        found += mamba_block(model, model.hybrid, layout, kernels, rows=rows)
    if block.mlp == "dense":
        return found + mlp(model, model.ffn_hidden, layout.tp, rows, kernels.linear_dtype)
    if block.mlp == "sparse" and model.experts is not None:
        return found + mixture(model, model.experts, layout, kernels, rows=rows)
    return found


def mamba_block(
    model: Model, hybrid: Hybrid, layout: Layout, kernels: Kernels, *, rows: int
) -> tuple[Gemm, ...]:
    """Projections of a state-space block, and the products of its chunks between them.

    Shapes, for each chunk of q tokens: scores [q, state] × [state, q] of every group; what a chunk
    tells itself [q, q] × [q, head_dim], its state [state, q] × [q, head_dim] and what it reads from
    the state before [q, state] × [state, head_dim], of every head. Source: Dao and Gu 2024 (arXiv
    2405.21060). Raises ValueError where heads or groups do not divide.
    """
    heads = share(hybrid.heads, layout.tp, "state-space heads")
    groups = max(1, hybrid.groups // layout.tp)
    inner, q = heads * hybrid.head_dim, hybrid.chunk
    width = 2 * inner + 2 * groups * hybrid.state + heads
    chunks = max(1, rows // q)
    linear, dtype = kernels.linear_dtype, kernels.dtype
    state, size = hybrid.state, hybrid.head_dim
    return (
        Gemm("mamba_in", rows, width, model.hidden, dtype=linear),
        Gemm("chunk_scores", q, q, state, chunks * groups, dtype, weight=False),
        Gemm("chunk_own", q, size, q, chunks * heads, dtype, weight=False),
        Gemm("chunk_state", state, size, q, chunks * heads, dtype, weight=False),
        Gemm("chunk_before", q, size, state, chunks * heads, dtype, weight=False),
        Gemm("mamba_out", rows, model.hidden, inner, dtype=linear),
    )


def layer(
    model: Model,
    layout: Layout,
    kernels: Kernels,
    *,
    micro_batch: int,
    seq_len: int,
    sparse: bool = False,
    capacity: float | None = None,
) -> tuple[Operation, ...]:
    """Forward operations of one layer on one rank, in the order they run.

    `sparse` asks for a layer with routed experts; `capacity` pads or drops to that multiple of an
    even share, without it the experts take exactly an even share (rounded up to `PADDED` tokens).
    Raises ValueError where heads or widths do not divide, or a dense model is asked for a sparse
    layer.
    """
    attend = attention_block(model, layout, kernels, micro_batch=micro_batch, seq_len=seq_len)
    rows = tokens(layout, micro_batch, seq_len)
    if not sparse:
        return attend + mlp(model, model.ffn_hidden, layout.tp, rows, kernels.linear_dtype)
    if model.experts is None:
        raise ValueError(f"{model.name} has no experts")
    return attend + mixture(model, model.experts, layout, kernels, rows=rows, capacity=capacity)


def attention_block(
    model: Model,
    layout: Layout,
    kernels: Kernels,
    *,
    micro_batch: int,
    seq_len: int,
    window: int | None = None,
) -> tuple[Operation, ...]:
    """Projections and attention of one layer; with fewer kv heads than ranks each rank has one.

    Under a `window` a fused kernel passes over what lies before it; separate products do not.

    Shapes: qkv [tokens, hidden] × [hidden, (heads + 2 kv_heads)/TP · head_dim], proj [tokens,
    heads/TP · head_dim] × [heads/TP · head_dim, hidden]; separate scores [queries, head_dim] ×
    [head_dim, keys] and context [queries, keys] × [keys, head_dim] for each sequence and head.
    Raises ValueError where heads do not divide, or for attention that is not flash or unfused.
    """
    rows = tokens(layout, micro_batch, seq_len)
    heads = share(model.heads, layout.tp, "heads")
    dtype = kernels.linear_dtype
    if model.latent is not None:
        before, qk_dim, v_dim = _latent_projections(model, model.latent, layout, rows, dtype)
        kv_heads = heads
    else:
        kv_heads = 1
        if model.kv_heads > layout.tp:
            kv_heads = share(model.kv_heads, layout.tp, "kv heads")
        qk_dim = v_dim = model.head_dim
        width = (heads + 2 * kv_heads) * model.head_dim
        before = (Gemm("qkv", rows, width, model.hidden, dtype=dtype),)
    core = _core(
        kernels,
        Attention(
            "attention", micro_batch, heads, kv_heads, seq_len // layout.cp, seq_len, qk_dim, v_dim,
            kernels.causal, kernels.dtype, window=window,
        ),
    )  # fmt: skip
    return (*before, *core, Gemm("proj", rows, model.hidden, heads * v_dim, dtype=dtype))


def _core(kernels: Kernels, fused: Attention) -> tuple[Operation, ...]:
    if kernels.attention == "flash":
        return (fused,)
    if kernels.attention != "unfused":
        raise ValueError(f"attention {kernels.attention!r} is neither flash nor unfused")
    count, dtype = fused.batch * fused.heads, fused.dtype
    return (
        Gemm("scores", fused.queries, fused.keys, fused.qk_dim, count, dtype, weight=False),
        Gemm("context", fused.queries, fused.v_dim, fused.keys, count, dtype, weight=False),
    )


def _latent_projections(
    model: Model, latent: Latent, layout: Layout, rows: int, dtype: str
) -> tuple[tuple[Gemm, ...], int, int]:
    """Down-projections are whole on every rank (on its own tokens with sequence parallelism)."""
    heads = model.heads // layout.tp
    own = share(rows, layout.tp, "tokens") if layout.sequence_parallel else rows
    qk_dim = latent.qk_dim + latent.rope_dim
    if latent.q_rank is None:
        query: tuple[Gemm, ...] = (Gemm("q", rows, heads * qk_dim, model.hidden, dtype=dtype),)
    else:
        query = (
            Gemm("q_down", own, latent.q_rank, model.hidden, dtype=dtype),
            Gemm("q_up", rows, heads * qk_dim, latent.q_rank, dtype=dtype),
        )
    expanded = heads * (latent.qk_dim + latent.v_dim)
    key_value = (
        Gemm("kv_down", own, latent.kv_rank + latent.rope_dim, model.hidden, dtype=dtype),
        Gemm("kv_up", rows, expanded, latent.kv_rank, dtype=dtype),
    )
    return query + key_value, qk_dim, latent.v_dim


def mlp(
    model: Model, width: int, tp: int, rows: int, dtype: str, *, prefix: str = "", count: int = 1
) -> tuple[Gemm, ...]:
    """The two products of an MLP; gate and up-projection are one product of twice the width.

    Shapes: fc1 [rows, hidden] × [hidden, width/TP or twice that], fc2 [rows, width/TP] ×
    [width/TP, hidden]; `rows` are tokens, `count` of each. Raises ValueError where TP does not
    divide `width`.

    >>> from assay.model.transformer.shapes import shapes
    >>> [(each.n, each.k) for each in mlp(shapes()["Llama-2-7B"], 11008, 2, 4096, "bf16")]
    [(11008, 4096), (4096, 5504)]
    """
    own = share(width, tp, "columns of an MLP")
    up = (model.mlp_matrices - 1) * own
    return (
        Gemm(f"{prefix}fc1", rows, up, model.hidden, count, dtype),
        Gemm(f"{prefix}fc2", rows, model.hidden, own, count, dtype),
    )


def mixture(
    model: Model,
    experts: Experts,
    layout: Layout,
    kernels: Kernels,
    *,
    rows: int,
    capacity: float | None = None,
) -> tuple[Gemm, ...]:
    """Router, this rank's routed experts with an even share of tokens, and shared experts.

    The router runs on the rank's own tokens where they are sequence-parallel. Each of the
    routed/EP experts receives the tokens of all EP ranks: rows·EP·per_token/routed of them, times
    `capacity`; where experts are split among fewer ranks than the rest, TP ranks bring a part each.
    Shapes: router [rows, hidden] × [hidden, routed], experts as in `mlp`. Raises
    ValueError where experts or widths do not divide.
    """
    own = share(rows, layout.tp, "tokens") if layout.sequence_parallel else rows
    router = Gemm("router", own, experts.routed, model.hidden, dtype=kernels.dtype)
    local = share(experts.routed, layout.ep, "experts")
    arriving = rows * layout.experts_split / layout.tp * layout.ep
    even = arriving * experts.per_token / experts.routed
    taken = math.ceil((even if capacity is None else even * capacity) / PADDED) * PADDED
    dtype = kernels.linear_dtype
    split = layout.experts_split
    narrow = model if experts.latent is None else replace(model, hidden=experts.latent)
    routed = mlp(narrow, experts.ffn_hidden, split, taken, dtype, prefix="expert_", count=local)
    found: tuple[Gemm, ...] = (router, *routed)
    if experts.latent is not None:
        down = Gemm("latent_down", own, experts.latent, model.hidden, dtype=dtype)
        up = Gemm("latent_up", own, model.hidden, experts.latent, dtype=dtype)
        found = (router, down, *routed, up)
    if not experts.shared_ffn_hidden:
        return found
    shared = mlp(model, experts.shared_ffn_hidden, layout.tp, rows, dtype, prefix="shared_")
    return (*found, *shared)


def logits(
    model: Model, layout: Layout, kernels: Kernels, *, micro_batch: int, seq_len: int
) -> Gemm:
    """The output projection over this rank's share of the padded vocabulary.

    Shapes: [tokens, hidden] × [hidden, vocab/TP].

    >>> from assay.model.transformer.shapes import shapes
    >>> at = dict(micro_batch=1, seq_len=2048)
    >>> logits(shapes()["GPT-3-175B"], Layout(tp=8), Kernels(), **at).n
    6400
    """
    columns = padded_vocabulary(model.vocab, layout.tp) // layout.tp
    rows = tokens(layout, micro_batch, seq_len)
    return Gemm("logits", rows, columns, model.hidden, dtype=kernels.dtype)
