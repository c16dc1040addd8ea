"""Two columns that a third proves to be of one quantity: it holds their ratio, row by row.

In: the texts of a grid's cells. Out: the places of the two columns whose numbers give the printed
speedup of every row, as far as their digits go: `8.42 | 3.71 | 2.27x`. Labels only say which column
compares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import combinations
from typing import NamedTuple

from assay.ingest.grids.grid import LONGEST
from assay.ingest.numbers.printed import Printed, printed

COMPARED = re.compile(
    r"\b(?:speed-?ups?|ratio|gains?|relative|rel\.?|vs\.?|improvements?|factor|delta|diff(?:erence)?|change|scaling"
    r"|efficiency|faster|acceleration|reductions?|savings?|saved)(?![A-Za-z])|[Δ÷]|\S\s+/\s+(?!(?:[GNTX]PU|device|card|chip|node|s|sec|second|step|it|iter)\b)\S|加速比|提升|高速化率|向上率|向上率",
    re.IGNORECASE,
)
"""Labels of columns that compare others: `MI300X / H100`, `speedup`."""


def comparing(labels: Sequence[str]) -> list[int]:
    """Places of the columns, right of the first, whose labels say that they compare others, or are
    two of the others with a stroke between: `H200/H100` beside `H100` and `H200`.

    >>> comparing(["MBS", "H100", "H200", "H200/H100"]), comparing(["GPUs", "ours", "speedup"])
    ([3], [2])
    """
    first = {label.split()[0] for label in labels if label.strip()}
    return [
        at for at, label in enumerate(labels)
        if at and (COMPARED.search(label) or _of_two(label, first))
    ]  # fmt: skip


def _of_two(label: str, words: Set[str]) -> bool:
    """Whether a label is two first words of others with a stroke between."""
    one, _, other = label.strip().partition("/")
    return one.strip() != other.strip() and {one.strip(), other.strip()} <= words


_TIMES = re.compile(r"\W*([0-9]+(?:\.[0-9]+)?)\s*[x×倍]?\W*")

_PERCENT = re.compile(r"[+~≈]?\s*(-?[0-9]+(?:\.[0-9]+)?)\s*%")

_NUMBER = re.compile(r"[~≈]?\s*([0-9][0-9,]*(?:\.[0-9]+)?)")

LEAST = 2
"""Rows that prove it: one may be a coincidence."""

MOST = 12
"""Columns of numbers beyond which none are asked."""


class _Ratio(NamedTuple):
    """A printed ratio of two numbers, or by how much of the other the one is more."""

    value: Printed
    more: bool

    def holds(self, one: Printed, other: Printed) -> bool:
        """Whether two printed numbers may have this ratio."""
        if other.low <= 0.0 or one.low <= 0.0:
            return False
        low, high = one.low / other.high, one.high / other.low
        if self.more:
            low, high = 100.0 * (low - 1.0), 100.0 * (high - 1.0)
        return self.value.low <= high and low <= self.value.high


def in_ratio(rows: Sequence[Sequence[str]], compares: Sequence[int]) -> tuple[int, int] | None:
    """Places of the two columns whose numbers have the ratio that one of `compares` prints in every
    row; None where there are none, or several such pairs.

    Rows without a number in one of the three prove nothing; some ratio must be none of 1.
    """
    width = max(map(len, rows), default=0)
    numbers = [[_number(row[at]) if at < len(row) else None for row in rows] for at in range(width)]
    held = [
        at for at in range(1, width)
        if at not in compares and sum(each is not None for each in numbers[at]) >= LEAST
    ]  # fmt: skip
    found = set[tuple[int, int]]()
    for at in compares if len(held) <= MOST else ():
        ratios = [_ratio(row[at]) if at < len(row) else None for row in rows]
        for one, other in combinations(held, 2):
            pairs = [
                (ratio, a, b)
                for ratio, a, b in zip(ratios, numbers[one], numbers[other], strict=True)
                if ratio and a and b
            ]
            if len(pairs) < LEAST or all(_is_one(ratio) for ratio, _, _ in pairs):
                continue
            if all(r.holds(a, b) for r, a, b in pairs) or all(r.holds(b, a) for r, a, b in pairs):
                found.add((one, other))
    return found.pop() if len(found) == 1 else None


def _number(text: str) -> Printed | None:
    found = _NUMBER.fullmatch(text) if len(text) <= LONGEST else None
    return printed(found[1]) if found else None


def number_in(text: str) -> float | None:
    """The number that a cell is, if it is one."""
    found = _number(text)
    return found.value if found else None


def _ratio(text: str) -> _Ratio | None:
    if len(text) > LONGEST:
        return None
    if more := _PERCENT.fullmatch(text):
        return _Ratio(printed(more[1]), more=True)
    found = _TIMES.fullmatch(text)
    return _Ratio(printed(found[1]), more=False) if found else None


def _is_one(ratio: _Ratio) -> bool:
    return ratio.value.value == (0.0 if ratio.more else 1.0)
