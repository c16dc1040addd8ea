"""DeepFlow's GEMM: square tiles in two cache levels, reloads, flop, bytes and a roofline time.

Source: DeepFlow, first generation (the dumps that print `GEMM_flop:` lines); formulas recomputed
from its dumps. Units: elements where a dimension is meant, bytes, flop, seconds, SI rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

MEMORY_LATENCY = 50e-9
"""Seconds added to every memory-bound kernel; a constant of the estimator."""

DERATE = 0.7
"""Share of the peak rate of the cores and of DRAM that the estimator takes as reachable."""


@dataclass(frozen=True)
class Rates:
    """Rates that a kernel can reach, after the derate.

    Units: flop/s, B/s, and seconds of `overhead` per launch. `l2_bandwidth` is None where it is
    unknown: a memory-bound GEMM then has no time.
    """

    flops: float
    memory_bandwidth: float
    l2_bandwidth: float | None
    overhead: float


@dataclass(frozen=True)
class Tiles:
    """Edge of the square tile in L2 and in shared memory, elements; 0 where the cache is empty."""

    l2: int
    shared: int


@dataclass(frozen=True)
class Reloads:
    """How often each operand of [a, b] × [b, c] is read (AB, BC) or written (AC)."""

    ab: int
    ac: int
    bc: int


@dataclass(frozen=True)
class Product:
    """One orientation of a GEMM: work, traffic at both cache levels and the reloads behind it.

    Units: flop; bytes from DRAM (`gmem`) and from L2 (`l2mem`).
    """

    flop: int
    gmem: int
    l2mem: int
    gmem_reloads: Reloads
    l2mem_reloads: Reloads

    @property
    def intensity(self) -> float:
        """Flop per byte of DRAM traffic."""
        return self.flop / self.gmem


@dataclass(frozen=True)
class Gemm:
    """A named product [a, b] × [b, c]; the estimator tries it as (a, b, c) and as (c, b, a)."""

    name: str
    a: int
    b: int
    c: int


def tile_edge(size: float, precision: int) -> int:
    """Edge of the largest power-of-two square tile of which three fit into `size` bytes.

    Units: bytes in, elements out; 0 for a cache without room (a negative power share).
    Source: X(size) = 2^⌊log2 √(size / precision / 3)⌋.

    >>> tile_edge(9.2 * 2**20, 4), tile_edge(55.3 * 2**20, 4), tile_edge(-1.0, 4)
    (512, 2048, 0)
    """
    if size <= 0:
        return 0
    return math.ceil(2.0 ** math.floor(math.log2(math.sqrt(size / precision / 3))))


def reloads(a: int, b: int, c: int, edge: int) -> Reloads:
    """Reads and writes of each operand when square tiles of `edge` elements fit.

    Shapes: A [a, b], B [b, c], C [a, c].
    Source: (1, 1, ⌈a/X⌉) where b ≤ X, else (⌈c/X⌉, 1, ⌈a/X⌉); once each without a tile.

    >>> reloads(512, 39936, 79872, 512)
    Reloads(ab=156, ac=1, bc=1)
    """
    if edge == 0:
        return Reloads(1, 1, 1)
    return Reloads(1 if b <= edge else -(-c // edge), 1, -(-a // edge))


def traffic(a: int, b: int, c: int, count: Reloads, precision: int) -> int:
    """Bytes moved for [a, b] × [b, c] under `count` reloads.

    Source: (AB·r_AB + BC·r_BC + AC·r_AC) · precision.

    >>> traffic(512, 39936, 79872, Reloads(156, 1, 1), 4)
    25681723392
    """
    return (a * b * count.ab + b * c * count.bc + a * c * count.ac) * precision


def product(a: int, b: int, c: int, tiles: Tiles, precision: int) -> Product:
    """Work and traffic of [a, b] × [b, c] in this orientation.

    Source: flop = 2abc + ac·(15 + 5⌈b/X_shared⌉), which is not 2mnk: 0.12 to 1.95 % more.
    Raises ValueError without a shared-memory tile; the estimator itself stops there.

    >>> product(512, 39936, 79872, Tiles(512, 2048), 4).flop
    3271025491968
    """
    if tiles.shared == 0:
        raise ValueError("DeepFlow needs a shared memory of more than nothing")
    at_gmem = reloads(a, b, c, tiles.l2)
    at_l2 = reloads(a, b, c, tiles.shared)
    return Product(
        flop=2 * a * b * c + a * c * (15 + 5 * -(-b // tiles.shared)),
        gmem=traffic(a, b, c, at_gmem, precision),
        l2mem=traffic(a, b, c, at_l2, precision),
        gmem_reloads=at_gmem,
        l2mem_reloads=at_l2,
    )


@lru_cache(maxsize=256)
def gemm_work(gemm: Gemm, tiles: Tiles, precision: int) -> tuple[Product, Product]:
    """Both orientations of a GEMM: [a, b] × [b, c] as printed, and [c, b] × [b, a].

    Units: flop, bytes. Raises ValueError without a shared-memory tile.
    """
    return (
        product(gemm.a, gemm.b, gemm.c, tiles, precision),
        product(gemm.c, gemm.b, gemm.a, tiles, precision),
    )


def roofline(flop: float, gmem: float, rates: Rates, l2mem: float = 0) -> float | None:
    """Seconds of a kernel without launch overhead; None where the L2 rate is needed and unknown.

    Source: flop/th where flop/gmem ≥ th/mem_bw, else gmem/mem_bw + 50 ns + l2mem/L2_bw, the last
    term left out where L2 has no bandwidth.

    >>> rates = Rates(4e12, 1e12, None, 37e-6)
    >>> roofline(4e12, 1e11, rates), roofline(1, 1e12, rates)
    (1.0, 1.00000005)
    """
    if flop / gmem >= rates.flops / rates.memory_bandwidth:
        return flop / rates.flops
    through_l2 = 0.0
    if l2mem:
        if rates.l2_bandwidth is None:
            return None
        through_l2 = l2mem / rates.l2_bandwidth if rates.l2_bandwidth else 0.0
    return gmem / rates.memory_bandwidth + MEMORY_LATENCY + through_l2


def gemm_times(one: Product, other: Product, rates: Rates) -> tuple[float | None, float | None]:
    """Seconds of both orientations, each with its launch; the estimator takes the shorter.

    >>> tiles, rates = Tiles(512, 2048), Rates(4e12, 1e12, None, 37e-6)
    >>> gemm_times(product(512, 4096, 64, tiles, 4), product(64, 4096, 512, tiles, 4), rates)
    (0.000104313664, 0.000104313664)
    """
    seconds = [roofline(p.flop, p.gmem, rates, p.l2mem) for p in (one, other)]
    first, second = (None if t is None else t + rates.overhead for t in seconds)
    return first, second


def rates_from_two(
    flops: tuple[int, int], times: tuple[float, float]
) -> tuple[Fraction, float] | None:
    """Effective flop/s and launch overhead from two compute-bound GEMMs, t = flop/th + O.

    Units: flop, seconds → (flop/s, s). The shorter GEMM comes first. Two printed doubles fix the
    overhead to about their last places times the ratio of the times; of what they leave open the
    shortest decimal is taken, since a configuration states one. None where the two times cannot
    tell rate and overhead apart.

    >>> th, overhead = rates_from_two((4_000_000, 8_000_000), (1.000037, 2.000037))
    >>> round(float(th)), overhead
    (4000000, 3.7e-05)
    """
    (less, more), (short, long) = flops, (Fraction(t) for t in times)
    if more <= less or long <= short:
        return None
    overhead = short - less * (long - short) / (more - less)
    slack = Fraction(math.ulp(times[0])) + Fraction(math.ulp(times[1])) * less / (more - less)
    stated = shortest_decimal(float(overhead), 4 * float(slack))
    return more / (long - Fraction(stated)), stated


def shortest_decimal(value: float, slack: float) -> float:
    """The decimal with the fewest digits within `slack` of `value`, both in seconds.

    Source: definition; a configuration states its overhead in few digits.

    >>> shortest_decimal(3.6999999999998e-05, 1e-16), shortest_decimal(1e-20, 1e-18)
    (3.7e-05, 0.0)
    """
    if abs(value) <= slack:
        return 0.0
    rounded = (float(f"{value:.{digits}e}") for digits in range(17))
    return next((r for r in rounded if abs(r - value) <= slack), value)
