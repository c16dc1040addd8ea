"""Operations that a rank executes: a matrix product, a fused attention kernel, their gradients.

Units: flop, where a multiply and an add are two; elements of compulsory traffic.
Source: definition; the passes of a fused attention kernel are those of FlashAttention (Dao et al.
2022).
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Gemm:
    """`count` products of A [m, k] and B [k, n]; `weight` says whether B is a parameter.

    >>> Gemm("fc1", m=2048, n=16384, k=4096).flop
    274877906944
    """

    name: str
    m: int
    n: int
    k: int
    count: int = 1
    dtype: str = "bf16"
    weight: bool = True

    @property
    def flop(self) -> int:
        """Floating-point operations of all products: 2mnk flop each."""
        return 2 * self.m * self.n * self.k * self.count

    @property
    def elements(self) -> int:
        """Elements that must move: both factors read once, the product written once."""
        return self.count * (self.m * self.k + self.k * self.n + self.m * self.n)


@dataclass(frozen=True)
class Attention:
    """One fused attention kernel: softmax(Q·Kᵀ)·V for `batch` sequences and this rank's heads.

    Shapes: Q [heads, queries, qk_dim], K [kv_heads, keys, qk_dim], V [kv_heads, keys, v_dim] for
    each sequence.

    >>> Attention("attention", 1, 32, 8, 8192, 8192, 128, 128).flop / (4 * 32 * 8192**2 * 128)
    0.5
    """

    name: str
    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    qk_dim: int
    v_dim: int
    causal: bool = True
    dtype: str = "bf16"
    products: tuple[int, int] = (1, 1)  # of the kinds [·, qk_dim] and [·, v_dim]
    window: int | None = None  # last keys that a query sees, its own among them

    @property
    def flop_unmasked(self) -> int:
        """Flop of the products without a mask."""
        width = self.products[0] * self.qk_dim + self.products[1] * self.v_dim
        return 2 * self.batch * self.heads * self.queries * self.keys * width

    @property
    def flop(self) -> float:
        """Flop of the products; a causal mask leaves half, the diagonal counted as half too.

        A window leaves its width for every query, but for the corner of the first ones.
        """
        if self.causal and self.window is not None and self.window < self.keys:
            share = self.window / self.keys
            return self.flop_unmasked * (share - share * share / 2.0)
        return self.flop_unmasked * (0.5 if self.causal else 1.0)

    @property
    def elements(self) -> int:
        """Elements that must move: Q, K, V and the output; backward they and their gradients."""
        tensors = (self.qk_dim + self.v_dim) * (
            self.heads * self.queries + self.kv_heads * self.keys
        )
        return self.batch * tensors * (1 if self.products == (1, 1) else 2)


Operation = Gemm | Attention


def data_gradient(operation: Operation) -> Operation:
    """Operation of the backward pass that computes the gradient of the input of `operation`.

    A fused attention kernel has one backward kernel for all its inputs: the scores again, then the
    gradients of probabilities, values, queries and keys, five products for the forward two.
    Shapes: dA [m, k] = dC [m, n] × Bᵀ [n, k].
    """
    if isinstance(operation, Attention):
        return replace(operation, products=(3, 2))
    return replace(operation, n=operation.k, k=operation.n)


def weight_gradient(operation: Gemm) -> Gemm:
    """The gradient of the second factor: a weight, or the other activation of a score product.

    Shapes: dB [k, n] = Aᵀ [k, m] × dC [m, n].

    >>> weight_gradient(Gemm("fc1", m=2048, n=16384, k=4096))
    Gemm(name='fc1', m=4096, n=16384, k=2048, count=1, dtype='bf16', weight=True)
    """
    return replace(operation, m=operation.k, k=operation.m)
