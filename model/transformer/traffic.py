"""Operations that move bytes and compute next to nothing: norms, activations, softmax, residuals.

Each is one pass over memory as a fused kernel makes it: elements read plus elements written, of the
rank's own tokens. What an epilogue can do (a bias added by the product before it) moves nothing.

Units: bytes. Source: definition, sizes of the tensors; docs/model.md.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.model.machines.dtypes import ITEMSIZE
from assay.model.transformer.decoder import ATTENDS, Block, Kernels, Layout, share, tokens
from assay.model.transformer.shapes import Model


class Traffic(NamedTuple):
    """Bytes that one kernel reads and writes, forward and for its gradient."""

    name: str
    forward: float
    backward: float


def layer_traffic(
    model: Model,
    layout: Layout,
    kernels: Kernels,
    *,
    micro_batch: int,
    seq_len: int,
    width: int | None = None,
    block: Block | None = None,
) -> tuple[Traffic, ...]:
    """Byte-bound operations of one layer on one rank; `width` of its MLPs, ffn_hidden by default.

    `block` says which parts the layer has, attention and an MLP by default. A state-space block
    moves its columns through a convolution and a gated norm.

    Norms and residuals run on all tokens of the rank, or on its TP-th with sequence parallelism.
    Separate (unfused) attention adds the masked softmax over the scores; dropout is left out.
    Source: tensor sizes of a Megatron layer; a backward norm reads input and gradient and writes
    one gradient, a backward activation reads both and writes one. Raises ValueError where heads,
    widths or tokens do not divide.
    """
    size = ITEMSIZE[kernels.dtype]
    rows = tokens(layout, micro_batch, seq_len)
    own = share(rows, layout.tp, "tokens") if layout.sequence_parallel else rows
    hidden = own * model.hidden * size
    inner = rows * share(width or model.ffn_hidden, layout.tp, "columns of an MLP") * size
    gates = model.mlp_matrices - 1
    found = [
        Traffic("attention_norm", 2 * hidden, 3 * hidden),
        Traffic("attention_residual", 3 * hidden, 2 * hidden),
        Traffic("mlp_norm", 2 * hidden, 3 * hidden),
        Traffic("activation", (gates + 1) * inner, (2 * gates + 1) * inner),
        Traffic("mlp_residual", 3 * hidden, 2 * hidden),
    ]
    heads = share(model.heads, layout.tp, "heads")
    if model.positions == "rotary":
        rotated = rows * (heads + max(1, model.kv_heads // layout.tp)) * model.head_dim * size
        found.insert(1, Traffic("rotary", 2 * rotated, 2 * rotated))
    if kernels.attention == "unfused":
        scores = micro_batch * heads * (seq_len // layout.cp) * seq_len * size
        found.insert(-4, Traffic("softmax", 2 * scores, 3 * scores))
    if block is None:
        return tuple(found)
    at = found.index(next(one for one in found if one.name == "mlp_norm"))
    kept = found[:at] if block.mixer in ATTENDS else []
    if block.mixer == "mamba" and model.hybrid is not None:
        conv = rows * model.hybrid.convolved / layout.tp * size
        inside = rows * model.hybrid.inner / layout.tp * size
        kept = [found[0], Traffic("convolution", 2 * conv, 4 * conv),
                Traffic("gated_norm", 3 * inside, 5 * inside),
                Traffic("mixer_residual", 3 * hidden, 2 * hidden)]  # fmt: skip
    return tuple(kept + (found[at:] if block.mlp else []))


def logits_traffic(
    layout: Layout, kernels: Kernels, *, micro_batch: int, seq_len: int, columns: int
) -> Traffic:
    """Cross-entropy over `columns` logits per token: single precision in, gradient out.

    The logits are read, widened and written once, read for maximum, sum and loss, and their
    gradient is written once. Shapes: logits [tokens, columns]. Units: bytes.
    """
    elements = tokens(layout, micro_batch, seq_len) * columns
    wide = ITEMSIZE["fp32"]
    return Traffic(
        "cross_entropy",
        elements * (ITEMSIZE[kernels.dtype] + 4 * wide),
        elements * (wide + ITEMSIZE[kernels.dtype]),
    )
