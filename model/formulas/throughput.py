"""Throughput identities: what the printed rates of one run must satisfy among themselves.

Every function takes numbers or polars expressions and gives back the same. Sequences are samples.
Units: seconds, sequences, tokens. Source: definition (docs/formulas.md).
"""

from __future__ import annotations

from assay.model.transformer.parameters import Number


def samples_per_second(global_batch: Number, step_time: Number) -> Number:
    """Sequences per second of the whole job; `step_time` in seconds per iteration.

    >>> round(samples_per_second(2048, 844.81), 3)  # printed beside it: 2.424
    2.424
    """
    return global_batch / step_time


def step_time(global_batch: Number, samples_per_second: Number) -> Number:
    """Seconds per iteration, from sequences per iteration and per second.

    >>> round(step_time(2048, 19.463), 2)  # printed beside it: 105.22
    105.23
    """
    return global_batch / samples_per_second


def tokens_per_second(samples_per_second: Number, seq_len: Number) -> Number:
    """Tokens per second of the whole job; `seq_len` tokens a sequence.

    >>> tokens_per_second(12.5, 2048)
    25600.0
    """
    return samples_per_second * seq_len


def samples_from_tokens(tokens_per_second: Number, seq_len: Number) -> Number:
    """Sequences per second of the whole job, from its tokens per second.

    >>> round(samples_from_tokens(8659.76, 16384), 4)  # printed beside it: 0.5285
    0.5285
    """
    return tokens_per_second / seq_len


def per_gpu(rate: Number, gpus: Number) -> Number:
    """A rate of the whole job, shared equally by its GPUs; the unit of `rate` per GPU.

    >>> round(per_gpu(8659.76, 8), 4)  # printed beside it: 1082.4704
    1082.47
    """
    return rate / gpus


def global_batch(micro_batch: Number, accumulation: Number, dp: Number) -> Number:
    """Sequences per iteration; `micro_batch` sequences, `accumulation` micro-batches, `dp` ranks.

    >>> global_batch(1, 32, 4)
    128
    """
    return micro_batch * accumulation * dp


def accumulation(global_batch: Number, micro_batch: Number, dp: Number) -> Number:
    """Micro-batches per iteration and data-parallel rank; not an integer where it was rounded up.

    >>> accumulation(2048, 4, 8)
    64.0
    """
    return global_batch / (micro_batch * dp)


def gpus(
    dp: Number, tp: Number, pp: Number, cp: Number | float = 1, ep: Number | float = 1
) -> Number:
    """GPUs of the job, the product of its degrees.

    Leave `ep` at 1 where experts are sharded inside the data-parallel group.

    >>> gpus(8, 8, 6)
    384
    """
    return dp * tp * pp * cp * ep
