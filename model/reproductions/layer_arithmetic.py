"""Work and traffic of a transformer layer's parts, as the transformer-perf-estimates tables count.

In: shapes as in the tables (b sequences of l tokens, width e, h heads on this rank). Out: `Cost`,
in flop and elements. Every product counts 2k − 1 flop per output: k multiplies and k − 1 adds.
Source: transformer-perf-estimates; the tables are the truth, the code printed above them is not.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Work in flop and tensors in elements; `mask` is in mask elements, which are smaller."""

    flops_fwd: int
    flops_bwd: int
    activation_in: int
    activation_out: int
    activation_grad: int
    read_bwd: int  # elements moved by the backward pass
    activation_other: int = 0
    weights: int = 0
    mask: int = 0
    stored: int | None = None  # elements kept for the backward pass; None: the input
    matrix: bool = False  # runs on the matrix units


def linear(b: int, l: int, e: int, f: int, *, bias: bool) -> Cost:  # noqa: E741
    """A linear layer [b·l, e] × [e, f], with or without a bias of f.

    >>> linear(1, 2048, 12288, 12288, bias=True).flops_fwd
    618475290624
    """
    extra = b * l * f if bias else 0
    weights = e * f + (f if bias else 0)
    taken, made = b * l * e, b * l * f
    return Cost(
        flops_fwd=b * l * f * (2 * e - 1) + extra,
        flops_bwd=b * l * e * (2 * f - 1) + e * f * (2 * b * l - 1) + extra,
        activation_in=taken,
        activation_out=made,
        activation_grad=taken + made,
        read_bwd=2 * weights + taken + made + taken,
        weights=weights,
        matrix=True,
    )


def activation(n: int) -> Cost:
    """A non-linear function of n elements, one flop each way.

    >>> activation(4).read_bwd
    8
    """
    return Cost(n, n, n, n, activation_grad=n, read_bwd=2 * n)


def dropout(n: int) -> Cost:
    """Dropout of n elements under a mask of n, which is all that is kept.

    >>> dropout(4).mask
    4
    """
    return Cost(n, n, n, n, activation_grad=n, read_bwd=n, mask=n, stored=0)


def layer_norm(b: int, l: int, e: int) -> Cost:  # noqa: E741
    """Layer normalisation of [b·l, e] with scale and shift.

    >>> layer_norm(1, 512, 12288).flops_fwd
    56623104
    """
    n = b * l * e
    return Cost(
        flops_fwd=9 * n,
        flops_bwd=9 * n + 4 * b * l * (e - 1),
        activation_in=n,
        activation_out=n,
        activation_grad=2 * n,
        read_bwd=3 * n + 2 * e,
        weights=2 * e,
    )


def logits(b: int, l: int, q: int, h: int) -> Cost:  # noqa: E741
    """Attention scores, [l, q] × [q, l] for every sequence and head.

    >>> logits(1, 2048, 128, 24).flops_fwd
    25669140480
    """
    scores, heads = b * h * l * l, b * h * l * q
    return Cost(
        flops_fwd=scores * (2 * q - 1),
        flops_bwd=2 * heads * (2 * l - 1),
        activation_in=heads,
        activation_other=heads,
        activation_out=scores,
        activation_grad=2 * heads + scores,
        read_bwd=4 * heads + scores,
        stored=2 * heads,
        matrix=True,
    )


def softmax(b: int, l: int, h: int) -> Cost:  # noqa: E741
    """Softmax over the last dimension of [b, h, l, l].

    >>> softmax(1, 2048, 24).flops_fwd
    301940736
    """
    n, additions = b * h * l * l, b * h * l * (l - 1)
    return Cost(2 * n + additions, 3 * n + additions, n, n, activation_grad=2 * n, read_bwd=3 * n)


def attend(b: int, l: int, q: int, h: int) -> Cost:  # noqa: E741
    """Scores times values, [l, l] × [l, q] for every sequence and head.

    Source: the gradient of the activations counts one head tensor where two are made.

    >>> attend(1, 2048, 128, 24).flops_fwd
    25763512320
    """
    scores, heads = b * h * l * l, b * h * l * q
    forward = heads * (2 * l - 1)
    return Cost(
        flops_fwd=forward,
        flops_bwd=scores * (2 * q - 1) + forward,
        activation_in=scores,
        activation_other=heads,
        activation_out=heads,
        activation_grad=scores + heads,
        read_bwd=2 * scores + 2 * heads,
        stored=scores + heads,
        matrix=True,
    )
