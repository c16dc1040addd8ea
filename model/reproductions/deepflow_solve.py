"""A DeepFlow dump without its configuration: dimensions and rates from the printed numbers alone.

In: the printed numbers of one dump by (scope, subject, quantity). Out: a `Solution`: the workload
that the integers single out, the tiles, the rates behind the times, every printed number that was
consumed for them and what stays open. Integers are solved exactly: a division that leaves a
remainder means that these are not numbers of the first generation, and there is no solution.

Tile edges come from printed cache sizes or printed reloads.

Assumed, because no line tells: an LSTM's four gates, eight additions and five non-linear functions.
Units are SI. Source: the formulas of DeepFlow (`deepflow_gemm`, `deepflow_workload`), inverted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isqrt

from assay.model.reproductions.deepflow_gemm import (
    DERATE,
    MEMORY_LATENCY,
    Rates,
    Tiles,
    gemm_work,
    rates_from_two,
    reloads,
    tile_edge,
)
from assay.model.reproductions.deepflow_memory import requirement
from assay.model.reproductions.deepflow_workload import (
    ADDS,
    GATES,
    NON_LINEAR,
    Workload,
    gemms,
    gradients,
    parameters,
)

Key = tuple[str, str, str]
"""Scope, subject and quantity of a printed number."""


@dataclass(frozen=True)
class Value:
    """A printed number and its interval, SI."""

    value: float
    low: float
    high: float


Printed = Mapping[Key, Value]

UNKNOWNS = ("precision", "width", "projection", "vocabulary", "sequence", "batch", "layers")


class Unsolvable(ValueError):
    """The printed integers have no common workload."""


@dataclass
class Solution:
    """Workload and rates, solved from the printed numbers of one dump; None is left open by them.

    `consumed` are the numbers that were used, in order; `checks` counts the printed integers that
    depend on the dimensions and were *not* used: the degrees of freedom left to be wrong.
    Units: elements of a dimension, flop/s, and B/s of `memory_bandwidth` after the derate.
    """

    work: Workload | None = None
    layers_known: bool = False
    tiles: Tiles | None = None
    rates: Rates | None = None
    memory_bandwidth: Fraction | None = None
    consumed: list[Key] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    checks: int = 0

    def describe(self) -> str:
        """One line: what was consumed, the degrees of freedom left, what stays open."""
        names = ", ".join(f"{q} of {s or s_}" for s_, s, q in self.consumed)
        rest = f"; open: {', '.join(self.open)}" if self.open else ""
        return f"{len(self.consumed)} numbers consumed ({names}), {self.checks} left to check{rest}"


class _Reader:
    """Reads printed integers and remembers which were consumed."""

    def __init__(self, printed: Printed) -> None:
        self.printed = printed
        self.consumed: list[Key] = []

    def quotient(self, choices: Iterable[tuple[Key, int]]) -> int | None:
        """The first printed number among `choices`, divided by its factor without remainder."""
        for key, factor in choices:
            if key in self.printed and factor:
                number = round(self.printed[key].value)
                if number % factor:
                    raise Unsolvable(f"{key[2]} of {key[1]} is {number:,}, no multiple of {factor}")
                self.consumed.append(key)
                return number // factor
        return None


def _kernel(name: str, quantity: str) -> Key:
    return ("pointwise", name, quantity)


def _element_size(read: _Reader) -> int | None:
    """Bytes per element, from one gradient whose flop and bytes are both printed."""
    for part in ("hidden", "projection", "softmax"):
        for name, flop, transfers in (("gradclip", 4, 3), ("apply_grad", 3, 7)):
            work, moved = (_kernel(f"{name}_{part}", q) for q in ("flop", "bytes"))
            if {work, moved} <= set(read.printed):
                number = round(read.printed[work].value)
                if number % flop:
                    raise Unsolvable(f"{work[2]} of {work[1]} is {number:,}, no multiple of {flop}")
                size = number // flop
                if size:
                    read.consumed.append(work)
                    return read.quotient([(moved, transfers * size)])
    return None


def _weight(read: _Reader, part: str, precision: int) -> int | None:
    """Elements of one weight, from any line of its gradient."""
    made = read.consumed
    spent = {_kernel(f"{n}_{part}", "flop"): f for n, f in (("gradclip", 4), ("apply_grad", 3))}
    for key, factor in spent.items():
        if key in made:  # already consumed for the element size
            return round(read.printed[key].value) // factor
    moved = {
        _kernel(f"{n}_{part}", "bytes"): f * precision
        for n, f in (("gradclip", 3), ("apply_grad", 7))
    }
    return read.quotient([*spent.items(), *moved.items()])


def _dimensions(read: _Reader) -> Workload | None:
    """The workload with one layer; None where a line that would tell a dimension is missing."""
    precision = _element_size(read)
    hidden = _weight(read, "hidden", precision) if precision else None
    if precision is None or hidden is None:
        return None
    width = isqrt(hidden // (2 * GATES))
    if 2 * GATES * width * width != hidden:
        raise Unsolvable("the hidden gradient is no square of a width under four gates")
    sizes = [_weight(read, part, precision) for part in ("projection", "softmax")]
    if sizes[0] is None or sizes[1] is None or any(s is None or s % width for s in sizes):
        return None
    projection, vocabulary = sizes[0] // width, sizes[1] // width
    tokens = read.quotient(
        [
            (_kernel("embedding_forward", "bytes"), 2 * width * precision),
            (_kernel("embedding_backward", "bytes"), 2 * width * precision),
            (_kernel("softmax_backward", "flop"), 5 * vocabulary),
            (_kernel("softmax_backward", "bytes"), 11 * vocabulary * precision),
            (_kernel("softmax_forward", "bytes"), 7 * vocabulary * precision),
        ]
    )
    transfers = 3 * ADDS + 2 * NON_LINEAR
    batch = read.quotient(
        [
            (_kernel("hidden_forward", "flop"), (ADDS + NON_LINEAR) * width),
            (_kernel("hidden_forward", "bytes"), transfers * width * precision),
        ]
    )
    if tokens is None or batch is None:
        return None
    if not batch or tokens % batch:
        raise Unsolvable(f"{tokens:,} tokens are no multiple of a batch of {batch:,}")
    return Workload(batch, vocabulary, 1, width, projection, tokens // batch, precision)


def _layers(work: Workload, printed: Printed) -> tuple[int, Key] | None:
    """The one number of layers that a rounded total leaves, and that total."""
    totals: dict[Key, list[int]] = {
        ("configuration", "", "parameters"): [parameters(replace(work, layers=n)) for n in (0, 1)]
    }
    for part in ("hidden", "total", "weight"):
        sizes = [requirement(replace(work, layers=n))[part] for n in (0, 1)]
        totals[("configuration", part, "memory")] = sizes
    for key, (none, one) in totals.items():
        if key not in printed:
            continue
        low, high = printed[key].low, printed[key].high
        first = max(1, -int(-(low - none) // (one - none)))
        if none + first * (one - none) <= high < none + (first + 1) * (one - none):
            return first, key
    return None


def _edge(work: Workload, printed: Printed, size: Key, level: str) -> tuple[int, list[Key]] | None:
    """Tile edge of one cache level: from its printed size, else from the printed reloads."""
    if size in printed:
        edge = from_size(work, printed[size].low, printed[size].high)
        if edge is not None:
            return edge, [size]
    return from_reloads(work, {key: value.value for key, value in printed.items()}, level)


def _turn(printed: Printed) -> Value | None:
    """The intensity at which the chip turns from bytes to flop; all such lines print the same."""
    lines = (v for (_, _, quantity), v in printed.items() if quantity.startswith("inflection"))
    return next(lines, None)


def _throughput(
    work: Workload, tiles: Tiles, printed: Printed, consumed: list[Key]
) -> tuple[Fraction, float] | None:
    """Effective flop/s and launch overhead from the smallest and the largest compute-bound GEMM."""
    turn, timed = _turn(printed), []
    for gemm in gemms(work):
        both = gemm_work(gemm, tiles, work.precision)
        bound = turn is not None and min(one.intensity for one in both) > turn.high
        if bound and ("gemm", gemm.name, "time") in printed:
            timed.append((both[0].flop, gemm.name))
    if len(timed) < 2:
        return None
    (small, first), (large, last) = min(timed), max(timed)
    seconds = [printed[("gemm", name, "time")].value for name in (first, last)]
    found = rates_from_two((small, large), (seconds[0], seconds[1]))
    if found is not None:
        consumed += [("gemm", first, "time"), ("gemm", last, "time")]
    return found


def _bandwidth(work: Workload, printed: Printed, consumed: list[Key]) -> Fraction | None:
    """Effective DRAM rate from the longest memory-bound gradient time, which launches nothing."""
    turn = _turn(printed)
    for kernel in sorted(gradients(work), key=lambda kernel: -kernel.bytes):
        time = printed.get(_kernel(kernel.name, "time"))
        if time is None or turn is None or kernel.flop / kernel.bytes >= turn.low:
            continue
        consumed.append(_kernel(kernel.name, "time"))
        return Fraction(int(kernel.bytes)) / (Fraction(time.value) - Fraction(MEMORY_LATENCY))
    return None


def solve(printed: Printed) -> Solution:
    """Everything that the printed numbers of one dump determine.

    A dump that lacks lines is solved as far as its lines go. Raises Unsolvable, see the module.

    >>> solve({}).open[:2]
    ['precision', 'width']
    """
    read, solution = _Reader(printed), Solution()
    solution.work = _dimensions(read)
    solution.consumed = read.consumed
    if solution.work is None:
        solution.consumed, solution.open = [], [*UNKNOWNS, "tiles", "rates"]
        return solution
    if (found := _layers(solution.work, printed)) is not None:
        solution.work = replace(solution.work, layers=found[0])
        solution.layers_known = True
        solution.consumed.append(found[1])
    else:
        solution.open.append("layers")
    l2 = _edge(solution.work, printed, ("machine", "", "l2_size"), "gmem")
    shared = _edge(solution.work, printed, ("machine", "", "shared_memory_size"), "l2mem")
    if l2 is not None and shared is not None:
        solution.tiles = Tiles(l2[0], shared[0])
        solution.consumed += [*l2[1], *shared[1]]
    else:
        solution.open.append("tiles")
    _rates(solution, printed)
    counted = [k for k in printed if k[2].startswith(("flop", "bytes", "gmem", "l2mem", "reload"))]
    solution.checks = len(set(counted) - set(solution.consumed))
    return solution


def _rates(solution: Solution, printed: Printed) -> None:
    """The rates behind the times; the L2 rate stays open."""
    assert solution.work is not None
    solution.memory_bandwidth = _bandwidth(solution.work, printed, solution.consumed)
    work, tiles = solution.work, solution.tiles
    found = _throughput(work, tiles, printed, solution.consumed) if tiles else None
    if found is None or solution.memory_bandwidth is None:
        solution.open.append("rates")
        return
    th, overhead = found
    bandwidth = float(solution.memory_bandwidth)
    solution.rates = Rates(float(th), bandwidth, None, overhead)
    solution.open.append("l2_bandwidth")


def peak_rates(rates: Rates) -> tuple[float, float]:
    """Rates before the derate, as the estimator prints them: flop/s and B/s.

    >>> peak_rates(Rates(0.7, 1.4, None, 0.0))
    (1.0, 2.0)
    """
    return rates.flops / DERATE, rates.memory_bandwidth / DERATE


EDGES = (0, *(2**exponent for exponent in range(24)))
"""A tile edge is a power of two, or 0 where the cache holds nothing."""


def sides(work: Workload) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Name and sizes of every product in both orientations, as subjects of reloads begin.

    Shapes: sizes (a, b, c) of [a, b] × [b, c], elements.

    >>> [name for name, _ in sides(Workload(1, 2, 1, 8, 4, 2, 4))][:2]
    ['Cf {level}', 'Cf {level} transposed']
    """
    for gemm in gemms(work):
        yield f"{gemm.name} {{level}}", (gemm.a, gemm.b, gemm.c)
        yield f"{gemm.name} {{level}} transposed", (gemm.c, gemm.b, gemm.a)


def signature(work: Workload, edge: int, level: str) -> tuple[object, ...]:
    """Everything in a dump that the edge of one level, `gmem` or `l2mem`, decides.

    Units: `edge` in elements; reloads of each product in both orientations, then steps of k at L2.

    >>> work = Workload(1, 2, 1, 8, 4, 2, 4)
    >>> signature(work, 1024, "gmem") == signature(work, 2048, "gmem")
    True
    """
    moved = tuple(reloads(*size, edge) for _, size in sides(work))
    if level == "gmem":
        return moved
    steps = tuple(-(-b // edge) for _, (_, b, _) in sides(work)) if edge else None
    return (*moved, steps)


def from_size(work: Workload, low: float, high: float) -> int | None:
    """The edge for a cache between `low` and `high` bytes; None where the two differ.

    >>> from_size(Workload(1, 2, 1, 8, 4, 2, 4), 9.15 * 2**20, 9.25 * 2**20)
    512
    """
    found = {tile_edge(size, work.precision) for size in (low, high)}
    return found.pop() if len(found) == 1 else None


def from_reloads(
    work: Workload, printed: Mapping[Key, float], level: str
) -> tuple[int, list[Key]] | None:
    """An edge, in elements, that agrees with every printed reload, and those that single it out.

    None where no edge agrees, or where those that do would print different numbers elsewhere.

    >>> from_reloads(Workload(1, 2, 1, 8, 4, 2, 4), {}, "gmem") is None
    True
    """
    fits = [edge for edge in EDGES if edge or level == "gmem"]
    used: list[Key] = []
    for name, size in sides(work):
        for operand in ("ab", "bc"):
            key = ("gemm", name.format(level=level), f"reload_{operand}")
            if key not in printed:
                continue
            left = [x for x in fits if getattr(reloads(*size, x), operand) == printed[key]]
            if len(left) < len(fits):
                fits, used = left, [*used, key]
    same = {signature(work, edge, level) for edge in fits}
    return (fits[0], used) if len(same) == 1 else None
