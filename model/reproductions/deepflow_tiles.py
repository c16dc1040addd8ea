"""Tile edges of a dump without its configuration, from printed cache sizes or printed reloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.model.reproductions.deepflow_gemm import reloads, tile_edge
from assay.model.reproductions.deepflow_workload import Workload, gemms

Key = tuple[str, str, str]
"""Scope, subject and quantity of a printed number."""

EDGES = (0, *(2**exponent for exponent in range(24)))
"""A tile edge is a power of two, or 0 where the cache holds nothing."""


def sides(work: Workload) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Name and sizes of every product in both orientations, as subjects of reloads begin.

    >>> [name for name, _ in sides(Workload(1, 2, 1, 8, 4, 2, 4))][:2]
    ['Cf {level}', 'Cf {level} transposed']
    """
    for gemm in gemms(work):
        yield f"{gemm.name} {{level}}", (gemm.a, gemm.b, gemm.c)
        yield f"{gemm.name} {{level}} transposed", (gemm.c, gemm.b, gemm.a)


def signature(work: Workload, edge: int, level: str) -> tuple[object, ...]:
    """Everything in a dump that the edge of one level decides.

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
    """An edge that agrees with every printed reload, and the reloads that singled it out.

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
