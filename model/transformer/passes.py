"""A training step's operations on one rank: forward, both gradients, and what is computed again.

Source: backpropagation; the policies of recomputation are those of Korthikanti et al. 2022.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from assay.model.transformer.operations import Gemm, Operation, data_gradient, weight_gradient

RECOMPUTE = ("none", "selective", "full")


class Passes(NamedTuple):
    """Operations by pass, for one layer (or the logits) and one micro-batch on one rank."""

    forward: tuple[Operation, ...]
    dgrad: tuple[Operation, ...]
    wgrad: tuple[Operation, ...]
    recompute: tuple[Operation, ...]

    @property
    def flop(self) -> float:
        """Flop of all passes together, masks taken into account."""
        return sum(flop(each) for each in self)


def passes(forward: Iterable[Operation], *, recompute: str = "none") -> Passes:
    """Every pass of a layer whose forward operations are given.

    `recompute`: "full" runs the layer's forward again, "selective" only the core of attention (a
    fused kernel keeps no scores, so then nothing), "none" nothing. Raises ValueError for others.
    The backward of a fused attention kernel stands under dgrad alone.
    """
    operations = tuple(forward)
    again: dict[str, tuple[Operation, ...]] = {
        "none": (),
        "selective": tuple(each for each in operations if _is_core(each)),
        "full": operations,
    }
    if recompute not in again:
        raise ValueError(f"recompute {recompute!r} is none of {', '.join(RECOMPUTE)}")
    return Passes(
        forward=operations,
        dgrad=tuple(data_gradient(each) for each in operations),
        wgrad=tuple(weight_gradient(each) for each in operations if isinstance(each, Gemm)),
        recompute=again[recompute],
    )


def _is_core(operation: Operation) -> bool:
    return isinstance(operation, Gemm) and not operation.weight


def flop(operations: Iterable[Operation]) -> float:
    """Flop of some operations, a masked attention kernel at half.

    >>> from assay.model.transformer.operations import Attention
    >>> flop([Gemm("fc1", 2, 3, 4), Attention("attention", 1, 1, 1, 2, 2, 4, 4, causal=False)])
    112.0
    """
    return sum(each.flop for each in operations)
