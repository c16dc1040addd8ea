"""Symbolic tensor labels of a Ulysses trace: `[h/P, N, d/h]` evaluated to dimensions.

A label is dimensions between brackets; a dimension is symbols and integers joined by `/` and `*`,
taken from left to right in whole numbers, as the traced program does (`N//P`). Nothing else is
evaluated.

Units: elements along a dimension. Source: the labels and shapes that the traces print.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_DIMENSION = re.compile(r"\s*(?:[A-Za-z]+'?|[0-9]+)(?:\s*[/*]\s*(?:[A-Za-z]+'?|[0-9]+))*\s*")

_PART = re.compile(r"([/*]?)\s*([A-Za-z]+'?|[0-9]+)")


def dimensions(label: str) -> tuple[str, ...]:
    """The dimensions of a label, as text; empty where it is none.

    >>> dimensions("[h/P, N, d/h]"), dimensions("[call(me)]")
    (('h/P', 'N', 'd/h'), ())
    """
    if not (label.startswith("[") and label.endswith("]")):
        return ()
    parts = label[1:-1].split(",")
    whole = all(_DIMENSION.fullmatch(part) for part in parts)
    return tuple(part.strip() for part in parts) if whole else ()


def symbols(dimension: str) -> tuple[str, ...]:
    """The symbols in one dimension.

    >>> symbols("d'/TP")
    ("d'", 'TP')
    """
    return tuple(name for _, name in _PART.findall(dimension) if not name.isdigit())


def evaluate(dimension: str, known: Mapping[str, int]) -> int | None:
    """Elements along one dimension; None where a symbol is unknown or a divisor is zero.

    >>> evaluate("N/DP/TP", {"N": 60_000, "DP": 2, "TP": 8}), evaluate("L", {})
    (3750, None)
    """
    value = 1
    for operator, name in _PART.findall(dimension):
        operand = int(name) if name.isdigit() else known.get(name)
        if operand is None or (operator == "/" and operand == 0):
            return None
        value = value // operand if operator == "/" else value * operand
    return value


def powers(dimension: str) -> dict[str, int]:
    """One dimension as exponents by symbol; integers count as symbols of their own.

    >>> powers("N/DP/TP"), powers("h")
    ({'N': 1, 'DP': -1, 'TP': -1}, {'h': 1})
    """
    found: dict[str, int] = {}
    for operator, name in _PART.findall(dimension):
        found[name] = found.get(name, 0) + (-1 if operator == "/" else 1)
    return found


def solve(
    labels: Sequence[tuple[str, Sequence[int]]], known: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """Symbols that no header states, each from the first dimension that leaves nothing else open.

    `labels` are label and shape of each tensor in order. Gives symbol → (value, index of the tensor
    that was consumed for it). Only a symbol that leads its dimension is solved: what it is divided
    by multiplies the printed size, exact where the division was.

    >>> solve([("[L, d, d'/TP]", (126, 16384, 6656))], {"d": 16384, "TP": 8})
    {'L': (126, 0), "d'": (53248, 0)}
    """
    found: dict[str, tuple[int, int]] = {}
    for index, (label, shape) in enumerate(labels):
        for dimension, size in zip(dimensions(label), shape, strict=False):
            now = {**known, **{name: value for name, (value, _) in found.items()}}
            head, *rest = _PART.findall(dimension)
            if head[1].isdigit() or head[1] in now:
                continue
            value = size
            for operator, name in rest:
                operand = int(name) if name.isdigit() else now.get(name)
                if operand is None or operator == "*":
                    break
                value *= operand
            else:
                found[head[1]] = (value, index)
    return found
