"""Calls that the compiler of PyTorch times to choose a kernel, in blocks of lines of their own.

In: the lines of a log. Out: a record for each kernel that was tried, of products with their sizes,
of all else with the name of the operator. A block is read as far as each kernel's share of the
fastest is what its time makes of it: ranks print their blocks into each other.

Source: `log_results` of torch/_inductor/select_algorithm.py, which prints the sizes of operands,
milliseconds, and the time of the fastest over that of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred

_CALL = deferred(r"\s*AUTOTUNE ([A-Za-z_0-9]+)\(([0-9x, ]*)\)\s*")

_DTYPES = deferred(r"\s*dtypes: (torch\.\w+(?:, torch\.\w+)*)\s*")

_TOLD = ("strides:", "dtypes:")
"""Lines between a call and the kernels that were tried for it."""

_TRIED = deferred(r"\s*([A-Za-z_]\w*) ([0-9]+\.[0-9]+) ms ([0-9]+\.[0-9])%(?: .*)?")

_FIRST = {"mm": 0, "bmm": 0, "int_mm": 0, "scaled_mm": 0, "addmm": 1, "baddbmm": 1}
"""Place of the left operand of a product: what is added stands in front of both."""

LAST_DIGIT = 0.5
"""Part of the last printed digit by which a number may be off."""


@dataclass(frozen=True)
class _Block:
    """A call, the formats of its operands, and the kernels that were tried."""

    at: Line
    operator: str
    operands: tuple[tuple[str, ...], ...]
    dtypes: tuple[str, ...]
    used: tuple[Line, ...]
    tried: tuple[tuple[Line, re.Match[str]], ...]

    def product(self) -> dict[str, str]:
        """Sizes of the product that it is; none where it is none, or its operands do not fit."""
        first = _FIRST.get(self.operator.removeprefix("_"))
        pair = self.operands[first : first + 2] if first is not None else ()
        if len(pair) < len("ab") or len(pair[0]) != len(pair[1]) or len(pair[0]) not in (2, 3):
            return {}
        (*many, m, k), (*others, inner, n) = pair
        if many != others or k != inner:
            return {}
        return {"m": m, "n": n, "k": k} | ({"b": many[0]} if many else {})

    def dtype(self) -> str:
        """The one format of both factors of a product, or of all that an operator is called with;
        empty where that is not one."""
        first = _FIRST.get(self.operator.removeprefix("_"))
        every = self.dtypes if first is None else self.dtypes[first : first + 2]
        return every[0] if len(set(every)) == 1 else ""


def tuned_calls(
    lines: Sequence[Line], *, products: bool
) -> Iterator[tuple[Record, tuple[Line, ...]]]:
    """Each kernel that was tried for a product, or for anything else, and the lines it is from."""
    for block in _blocks(lines):
        sizes = block.product()
        if bool(sizes) != products or not block.tried:
            continue
        place = block.at.number, block.at.column
        told = {name: Cell(size, *place) for name, size in sizes.items()}
        told |= {} if sizes else {"operator": Cell(block.operator, *place)}
        told |= {"dtype": Cell(block.dtype(), *place)} if block.dtype() else {}
        shapes = ", ".join("x".join(each) for each in block.operands)
        for line, found in block.tried:
            own = {
                name: Cell(found[group], line.number, line.column + found.start(group), scale)
                for name, group, scale in (("kernel", 1, 1.0), ("time", 2, 1e-3))
            }
            record = Record(line.number, told | own, line.column, prefix=line.prefix)
            record.other += [] if sizes else [("sizes", shapes)]
            yield record, (*block.used, line)


def _blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    """Every block, in order."""
    for at, line in enumerate(lines):
        if "AUTOTUNE " not in line.text or not (call := _CALL.fullmatch(line.text)):
            continue
        behind, dtypes = at + 1, tuple[str, ...]()
        while behind < len(lines) and lines[behind].text.lstrip().startswith(_TOLD):
            if said := _DTYPES.fullmatch(lines[behind].text):
                dtypes = tuple(each.removeprefix("torch.") for each in said[1].split(", "))
            behind += 1
        operands = tuple(tuple(each.strip().split("x")) for each in call[2].split(","))
        tried = tuple(_tried(lines, behind))
        yield _Block(line, call[1], operands, dtypes, tuple(lines[at:behind]), tried)


def _tried(lines: Sequence[Line], at: int) -> Iterator[tuple[Line, re.Match[str]]]:
    """The kernels of a block from a line on, while each takes as long as its share says."""
    best = 0.0
    while at < len(lines) and (found := _TRIED.fullmatch(lines[at].text)):
        time, share = float(found[2]), float(found[3]) / 100.0
        off = LAST_DIGIT * 10.0 ** -len(found[2].partition(".")[2])
        if not time or (best and abs(share * time - best) > off * (1.0 + share) + 5e-4 * time):
            return
        if not best and share != 1.0:
            return
        best = best or time
        yield lines[at], found
        at += 1
