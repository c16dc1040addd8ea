"""How many floating-point operations projects say that one sequence takes.

Every function gives flop per sequence of one training iteration (forward, backward, and where the
formula counts it recomputation), from numbers or from polars expressions; multiply by the global
batch for an iteration, divide by seq_len for a token. They differ on purpose: each is what some
project divides its time by. `assay.model.formulas.registry` lists them under their ids.

Units: flop; a multiply and an add are two. `recomputed` is the number of forward passes done again.
"""

from __future__ import annotations

from assay.model.transformer import parameters as count
from assay.model.transformer.parameters import Number


def megatron_2021_old(hidden: Number, layers: Number, tp: Number, seq_len: Number) -> Number:
    """4 · 2 flop per token and parameter, attention scores and embeddings left out.

    Units: flop per sequence. Source: Megatron-DeepSpeed, BigScience, up to 2022-02-20.

    >>> rate = megatron_2021_old(14400, 80, 8, 2048) * 2048 / (221.21 * 320)
    >>> round(rate / 1e12, 2)  # printed beside 221.21 s: 94.39
    94.39
    """
    return 8.0 * seq_len * count.megatron_2021_old(hidden, layers, tp)


def narayanan_eq3(hidden: Number, layers: Number, seq_len: Number, vocab: Number) -> Number:
    """96·s·L·h²·(1 + s/6h + V/16Lh), everything but the logits recomputed.

    Units: flop per sequence. Source: Narayanan et al. 2021 (arXiv 2104.04473), eq. 3.

    >>> rate = narayanan_eq3(14336, 70, 2048, 250880) * 2048 / (105.22 * 384)
    >>> round(rate / 1e12, 2)  # BLOOM's log prints 149.02 beside 105.22 s
    149.02
    """
    return 96.0 * seq_len * hidden * (layers * (hidden + seq_len / 6.0) + vocab / 16.0)


def narayanan_eq3_stored(hidden: Number, layers: Number, seq_len: Number, vocab: Number) -> Number:
    """72·s·L·h²·(1 + s/6h + V/16Lh): the bracket of `narayanan_eq3`, nothing recomputed.

    Units: flop per sequence. Source: Megatron-DeepSpeed, BigScience, which scales all of the
    bracket, so that the logits count at three quarters of their operations; Narayanan's own
    derivation would have V/12Lh.
    """
    return 0.75 * narayanan_eq3(hidden, layers, seq_len, vocab)


def korthikanti_2022(hidden: Number, layers: Number, seq_len: Number, vocab: Number) -> Number:
    """72·s·L·h²·(1 + s/6h + V/12Lh): every product three times, none again.

    Units: flop per sequence. Source: Korthikanti et al. 2022 (arXiv 2205.05198), appendix A.

    >>> rate = korthikanti_2022(12288, 96, 2048, 51200) * 64 / (13.75 * 64)
    >>> round(100 * rate / 312e12, 1)  # the paper's 175B: 51.4 %
    51.4
    """
    return 72.0 * seq_len * hidden * (layers * (hidden + seq_len / 6.0) + vocab / 12.0)


def korthikanti_2022_selective(
    hidden: Number, layers: Number, seq_len: Number, vocab: Number
) -> Number:
    """72·s·L·h²·(1 + s/3h + V/12Lh): with the attention products counted once more in full.

    Units: flop per sequence. Source: Korthikanti et al. 2022 (arXiv 2205.05198), appendix A.

    >>> rate = korthikanti_2022_selective(12288, 96, 2048, 51200) * 64 / (13.75 * 64)
    >>> round(100 * rate / 312e12, 1)  # the paper's 175B: 52.8 %
    52.8
    """
    return 72.0 * seq_len * hidden * (layers * (hidden + seq_len / 3.0) + vocab / 12.0)


def mosaic_matrices(parameters: Number, seq_len: Number) -> Number:
    """3 · 2 flop per token and parameter: forward, and backward twice.

    Units: flop per sequence. Source: MosaicML examples, LLM throughput tables, column MFU*.
    """
    return 6.0 * parameters * seq_len


def mosaic_matrices_hardware(parameters: Number, seq_len: Number, recomputed: Number) -> Number:
    """`mosaic_matrices` with a second forward pass where activations are recomputed.

    Units: flop per sequence. Source: MosaicML examples, LLM throughput tables, column HFU*.
    """
    return (3.0 + recomputed) * 2.0 * parameters * seq_len


def mosaic_2022(parameters: Number, hidden: Number, layers: Number, seq_len: Number) -> Number:
    """Matrices plus two passes of 2·L·d·s² for the attention products.

    Units: flop per sequence. Source: MosaicML examples, LLM throughput tables, 2022.

    >>> rate = mosaic_2022(12926786560, 5120, 40, 16384) * 8659.76 / 16384 / 8
    >>> round(rate / 312e12, 4)
    0.3157
    """
    return mosaic_matrices(parameters, seq_len) + 4.0 * layers * hidden * seq_len * seq_len


def mosaic_2022_hardware(
    parameters: Number, hidden: Number, layers: Number, seq_len: Number, recomputed: Number
) -> Number:
    """Matrices three or four times, attention two or three times 2·L·d·s².

    Units: flop per sequence. Source: MosaicML examples, LLM throughput tables, 2022, column HFU.
    """
    attention = 2.0 * layers * hidden * seq_len * seq_len
    matrices = mosaic_matrices_hardware(parameters, seq_len, recomputed)
    return matrices + (2.0 + recomputed) * attention


def mosaic_2023(parameters: Number, hidden: Number, layers: Number, seq_len: Number) -> Number:
    """Matrices plus three passes of 2·2·L·d·s².

    Units: flop per sequence. Source: MosaicML examples, LLM throughput tables, 2023.

    >>> rate = mosaic_2023(12926786560, 5120, 40, 16384) * 8659.76 / 16384 / 8
    >>> round(rate / 312e12, 4)  # the run that the older formula gives 0.3157
    0.4088
    """
    return mosaic_matrices(parameters, seq_len) + 12.0 * layers * hidden * seq_len * seq_len


def mosaic_2023_hardware(
    parameters: Number, hidden: Number, layers: Number, seq_len: Number, recomputed: Number
) -> Number:
    """Matrices and attention, 2·2·L·d·s² a pass, three or four times.

    Units: flop per sequence. Source: MosaicML examples, LLM throughput tables, 2023, column HFU.
    """
    attention = 4.0 * layers * hidden * seq_len * seq_len
    matrices = mosaic_matrices_hardware(parameters, seq_len, recomputed)
    return matrices + (3.0 + recomputed) * attention


def palm_2022(
    parameters: Number, layers: Number, heads: Number, head_dim: Number, seq_len: Number
) -> Number:
    """6N + 12·L·H·Q·T per token; N is whatever count the caller states, PaLM's is of all weights.

    Units: flop per sequence. Source: Chowdhery et al. 2022 (arXiv 2204.02311), appendix B.

    >>> rate = palm_2022(540.35e9, 118, 48, 256, 2048) / 2048 * 238.3e3 / 6144
    >>> round(rate / 275e12, 3)  # the paper's 46.2 %
    0.462
    """
    return seq_len * (6.0 * parameters + 12.0 * layers * heads * head_dim * seq_len)
