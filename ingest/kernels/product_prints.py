"""Products that oneDNN's benchdnn and CUTLASS's examples print in lines of their own.

In: the lines of a document. Out: each product with its sizes, its time and its rate, where the work
that the sizes make over the time is the printed rate. One whose numbers do not agree is not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred

CLOSE = 0.01
"""How far a printed rate may be from the work over the time."""

_SIZE = deferred(r"\s*Problem Size: ([0-9]+)x([0-9]+)x([0-9]+)(?:x([0-9]+))?\s*")

_RUNTIME = deferred(r"\s*Avg runtime ?: ([0-9.]+(?:e[+-]?[0-9]+)?) ms\s*")

_RATE = deferred(r"\s*([GT])FLOPS ?: ([0-9.]+(?:e[+-]?[0-9]+)?)\s*")

_GIGA = {"G": 1e9, "T": 1e12}

NEAR = 4
"""Lines between the size of a product and its time, at most: how tiles are put in order."""


def of_cutlass(lines: Sequence[Line]) -> Iterator[tuple[Record, tuple[Line, ...]]]:
    """Each product of an example of CUTLASS, and the lines that it was read from.

    Source: examples/48_hopper_warp_specialized_gemm of CUTLASS and those after it, which print
    `m x n x k`, of several products how many behind them, milliseconds and GFLOPS.
    """
    for at, line in enumerate(lines):
        if "Problem Size: " not in line.text or not (size := _SIZE.fullmatch(line.text)):
            continue
        for after in range(at + 1, min(at + NEAR, len(lines) - 1)):
            if _SIZE.fullmatch(lines[after].text):
                break
            time = _RUNTIME.fullmatch(lines[after].text)
            rate = _RATE.fullmatch(lines[after + 1].text) if time else None
            if time is None or rate is None:
                continue
            sizes = {n: _cell(line, size, i) for i, n in enumerate("mnkb", 1) if size[i]}
            known = {
                "time": _cell(lines[after], time, 1)._replace(scale=1e-3),
                "flops_rate": _cell(lines[after + 1], rate, 2)._replace(scale=_GIGA[rate[1]]),
            }
            if _agree(sizes, known):
                record = Record(line.number, sizes | known, line.column, prefix=line.prefix)
                yield record, (line, lines[after], lines[after + 1])
            break


_TEMPLATE = deferred(r"\s*Output template: (perf,[^\s]+)\s*")

_MATMUL = deferred(
    r"--matmul (?:\S+ )*?(?P<left>[0-9]+(?:x[0-9]+)+):(?P<right>[0-9]+(?:x[0-9]+)+)"
    r"(?:_n?\S+)?\s*$"
)

_DTYPES = deferred(r" --dt=([a-z0-9_]+)(?::([a-z0-9_]+):[a-z0-9_]+)? ")

_CLOCKS = ("%0time%", "%-time%")
"""The mean of all calls, or the fastest, in milliseconds; rates stand under the same sign."""


def of_benchdnn(lines: Sequence[Line]) -> Iterator[tuple[Record, tuple[Line, ...]]]:
    """Each product of benchdnn, and its line; what its columns are, the line above them says.

    Source: tests/benchdnn/doc/knobs_perf_report.md of oneDNN: times are in milliseconds,
    `%Gops%` are the operations of a problem in billions.
    """
    names: list[str] = []
    for line in lines:
        if told := _TEMPLATE.fullmatch(line.text):
            names = told[1].split(",")
        elif line.text.startswith("perf,") and names.count("%prb%") == 1:
            record = _of_line(line, _columns(line.text.rstrip(), names))
            if record is not None:
                yield record, (line,)


def _columns(text: str, names: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Texts of a line by their names, each with its place; commas of a problem are its own."""
    parts = text.split(",")
    more = len(parts) - len(names)
    if more < 0:
        return {}
    at = names.index("%prb%")
    parts = [*parts[:at], ",".join(parts[at : at + more + 1]), *parts[at + more + 1 :]]
    found, begin = dict[str, tuple[str, int]](), 0
    for name, part in zip(names, parts, strict=True):
        found[name] = part, begin
        begin += len(part) + 1
    return found


def _of_line(line: Line, columns: Mapping[str, tuple[str, int]]) -> Record | None:
    """The product of a line of benchdnn."""
    clock = next((name for name in _CLOCKS if name in columns), "")
    rate = clock.replace("time", "Gflops")
    if not clock or rate not in columns:
        return None
    problem, begin = columns["%prb%"]
    found = _MATMUL.search(problem)
    sizes = _operands(found["left"], found["right"]) if found else {}
    if found is None or not sizes:
        return None
    place = line.column + begin + found.start("left")
    cells = {name: Cell(size, line.number, place) for name, size in sizes.items()}
    if (types := _DTYPES.search(problem)) and types[1] == (types[2] or types[1]):
        cells["dtype"] = Cell(types[1], line.number, line.column + begin + types.start(1))
    known = dict[str, Cell]()
    for name, column, scale in (("time", clock, 1e-3), ("flops_rate", rate, 1e9)):
        text, at = columns[column]
        if not re.fullmatch(r"[0-9.]+(?:e[+-]?[0-9]+)?", text):
            return None
        known[name] = Cell(text, line.number, line.column + at, scale)
    if not _agree(cells, known):
        return None
    return Record(line.number, cells | known, line.column, prefix=line.prefix)


def _operands(left: str, right: str) -> dict[str, str]:
    """The sizes of a product of [b, m, k] by [b, k, n]; none where they do not fit."""
    one, other = left.split("x"), right.split("x")
    if len(one) != len(other) or one[:-2] != other[:-2] or one[-1] != other[-2]:
        return {}
    many = math.prod(map(int, one[:-2]))
    return {"m": one[-2], "n": other[-1], "k": one[-1]} | ({"b": str(many)} if one[2:] else {})


def _cell(line: Line, found: re.Match[str], group: int) -> Cell:
    return Cell(found[group], line.number, line.column + found.start(group))


def _agree(sizes: Mapping[str, Cell], known: Mapping[str, Cell]) -> bool:
    """Whether the work of a product over its time is its rate."""
    work = 2.0 * math.prod(float(sizes[name].text) for name in "bmnk" if name in sizes)
    try:
        made = math.prod(float(cell.text) * cell.scale for cell in known.values())
    except ValueError:  # `1.2.3`
        return False
    return work > 0.0 and abs(made - work) <= CLOSE * work
