"""Parameter counts, each under the convention of the project that prints it.

Functions take numbers or polars expressions. Convention is part of the number: "200B" is 199.1 B
without embeddings and 202.7 B with them.
"""

from __future__ import annotations

from assay.model.throughput import Number


def gpt_layer(hidden: Number) -> Number:
    """One GPT layer: 12h² of matrices, 9h of biases, 4h of two layer norms.

    >>> gpt_layer(12288)
    1812099072
    """
    return 12 * hidden * hidden + 13 * hidden


def megatron_2021_old(hidden: Number, layers: Number, tp: Number) -> Number:
    """The sum over tensor-parallel ranks of what each holds, without embeddings.

    Layer norms and the two output biases of a layer (6h) are on every rank, so they count TP times.
    Source: the estimate that BigScience's logs divided by up to 2022-02-20.

    >>> round(megatron_2021_old(14400, 80, 8) / 1e9, 1)  # called 200B
    199.1
    """
    return layers * gpt_layer(hidden) + 6 * hidden * (tp - 1) * layers + 2 * hidden * tp


def mosaic(hidden: Number, layers: Number, vocab: Number, seq_len: Number) -> Number:
    """GPT with learned positions, output tied to the embedding, a last layer norm.

    Source: the ParamCount column of MosaicML's throughput tables, 2022 and 2023; vocab is 50257.

    >>> mosaic(5120, 40, 50257, 16384)
    12926786560
    """
    return vocab * hidden + seq_len * hidden + layers * gpt_layer(hidden) + 2 * hidden
