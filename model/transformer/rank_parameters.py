"""Parameters on one rank, as Megatron prints them per (tensor, pipeline) rank.

Source: the split of Megatron-LM (Shoeybi et al. 2019, Narayanan et al. 2021), checked against the
counts that its logs print.
"""

from __future__ import annotations

from assay.model.transformer.decoder import share
from assay.model.transformer.parameters import padded_vocabulary
from assay.model.transformer.shapes import NORMS, Model


def rank_parameters(model: Model, *, tp: int, pp: int, stage: int) -> int:
    """Parameters of one dense model's pipeline stage on one tensor-parallel rank.

    Column- and row-parallel matrices and column biases are split, norms and row biases are whole on
    every rank. The first stage has embedding and positions, the last one the final norm and a head:
    its own, or its copy of a tied embedding where it is another stage. The vocabulary is padded.
    Raises ValueError where layers, heads or widths do not divide, and for mixtures and latent
    attention.

    >>> from assay.model.transformer.shapes import gpt
    >>> shape = gpt(hidden=8192, layers=64, heads=32, vocab=50257, context=1024)
    >>> [rank_parameters(shape, tp=4, pp=16, stage=at) for at in (0, 1, 15)]
    [917757952, 805560320, 909385728]
    """
    if model.experts is not None or model.latent is not None or model.hybrid is not None:
        raise ValueError(f"{model.name}: experts and latent attention are not counted by rank")
    if not 0 <= stage < pp:
        raise ValueError(f"stage {stage} of {pp}")
    hidden, norm = model.hidden, NORMS[model.norm] * model.hidden
    found = share(model.layers, pp, "layers") * _layer(model, tp)
    rows = padded_vocabulary(model.vocab, tp) // tp
    if stage == 0:
        found += rows * hidden + norm * int(model.embedding_norm)
        found += model.context * hidden if model.positions == "learned" else 0
    if stage == pp - 1:
        found += norm
        found += rows * hidden if not model.tied or pp > 1 else 0
    return found


def _layer(model: Model, tp: int) -> int:
    hidden, biases = model.hidden, model.biases
    heads = share(model.heads, tp, "heads")
    kv_heads = max(1, model.kv_heads // tp)
    projected = (heads + 2 * kv_heads) * model.head_dim
    width = share(model.ffn_hidden, tp, "columns of an MLP")
    found = hidden * projected + heads * model.head_dim * hidden
    found += model.mlp_matrices * hidden * width + 2 * NORMS[model.norm] * hidden
    if model.qk_norm:
        found += 2 * model.head_dim * NORMS[model.norm]
    if biases != "none":
        found += projected
    if biases == "all":
        found += (model.mlp_matrices - 1) * width + 2 * hidden
    return found
