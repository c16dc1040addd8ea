"""Labels in the first row of a table or in its first column: units below labels, labels below
names, metrics beside numbers.

In: a grid with one header row. Out: the same with the units in brackets behind their labels, or
with each name in front of the labels of its columns: `cuBLAS | | Triton | ` over
`ms | TFLOPS | ms | TFLOPS`. A row with a number, with an outcome or with nothing at all under a
label is one of data. Or a grid turned whose rows begin with what was measured and its unit, below
labels of what was called or of who computed it: `busbw (GB/s)` and `time (us)` beside
`AllReduce | AllGather`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.numbers.units import unit
from assay.ingest.vocabulary.devices import only

_MARKS = re.compile(r"[*`]{1,3}|</?(?:b|strong|code|em|i)>|^_{1,2}|_{1,2}$")

_OF_DATA = re.compile(
    r"[~≈<>+-]?[0-9][0-9.,]*(?:\s*[kKMGT%x×]?[A-Za-z/%µ]*)?|[-–—/]+|n/?a|none|yes|no|true|false"
    r"|(?:cuda )?(?:oom|out of memory)\b.{0,40}|fail(?:ed|s)?|error|[✓✗✔✘✅❌]",
    re.IGNORECASE,
)
"""A cell that no header has: a number, with its unit or not, a sign, an outcome."""

_A_BANDWIDTH = re.compile(r"[KMGT](?:i?B|bit|b)(?:/s(?:ec)?|ps)")

_COUNTED = {"tok", "toks", "token", "tokens", "seq", "seqs", "elements", "elems", "count", "#",
            "samples", "rows", "heads"}  # fmt: skip
"""Below a label, what its numbers count: these need no unit."""


def with_second_heads(grid: Grid) -> Grid:
    """The grid with what its first row says of its columns in their labels; any other as it is."""
    if len(grid.heads) != 1 or not grid.rows or grid.labels or grid.series:
        return grid
    row = grid.rows[0]
    if len(row.cells) != grid.width or row.one or row.blank or not grid.rows[1:]:
        return grid
    upper, lower = ([_bare(cell) for cell in each.cells] for each in (grid.heads[0], row))
    if any(len(text) > LONGEST for text in lower):
        return grid
    if not any(upper) and _begins_below(grid, lower):
        return _headed(grid, grid.heads[0], lower)
    if _units_below(upper, lower):
        return _with_units(grid, lower)
    over = _names_over(upper, lower)
    if not over:
        return grid
    head = grid.heads[0]
    texts = (
        " ".join(dict.fromkeys(each for each in (upper[at] if at >= 0 else "", own) if each))
        for at, own in zip(over, lower, strict=True)
    )
    return _headed(grid, head, texts)


def with_units_below(grid: Grid) -> Grid:
    """The grid with the units that its first row is of alone in its labels."""
    if len(grid.heads) != 1 or len(grid.rows) < len(("units", "numbers")) or grid.labels:
        return grid
    row = grid.rows[0]
    if len(row.cells) != grid.width or row.one or row.blank or row.cells[0].text:
        return grid
    lower = [_bare(cell) for cell in row.cells]
    if any(len(text) > LONGEST for text in lower) or {*lower} <= {"", "x", "X", "×"}:
        return grid  # crosses are no units
    upper = [_bare(cell) for cell in grid.heads[0].cells]
    return _with_units(grid, lower) if _units_below(upper, lower) else grid


def _begins_below(grid: Grid, lower: Sequence[str]) -> bool:
    """Whether the labels of a table stand in its first row, below a header of nothing: each says
    something, none is data, and every other row has a number behind its first cell."""
    if not all(lower) or len({*lower}) < len(lower) or any(map(_OF_DATA.fullmatch, lower)):
        return False
    rest = [[_bare(cell) for cell in row.cells[1:]] for row in grid.rows[1:] if not row.blank]
    return bool(rest) and all(any(map(_BEGINS_WITH_DIGIT.match, texts)) for texts in rest)


_BEGINS_WITH_DIGIT = re.compile(r"[~≈]?[0-9]")


def _headed(grid: Grid, head: GridRow, texts: Iterable[str]) -> Grid:
    """The grid with labels for its header and without its first row."""
    cells = tuple(cell._replace(text=text) for cell, text in zip(head.cells, texts, strict=True))
    below = replace(head, line=grid.rows[0].line, cells=cells)
    return replace(grid, heads=(below,), rows=grid.rows[1:])


def _bare(cell: GridCell) -> str:
    return _MARKS.sub("", cell.text).strip()


def _units_below(upper: Sequence[str], lower: Sequence[str]) -> bool:
    """Whether a row has nothing but units, each below a label that has none."""
    told = [(over, text.strip("()[] ")) for over, text in zip(upper, lower, strict=True) if text]
    measured = sum(unit(text) is not None or bool(_A_BANDWIDTH.fullmatch(text)) for _, text in told)
    return measured > 0 and all(
        over and (text in _COUNTED or _A_BANDWIDTH.fullmatch(text) or unit(text) is not None)
        for over, text in told
    )


def _with_units(grid: Grid, lower: Sequence[str]) -> Grid:
    head = grid.heads[0]
    units = (text.strip("()[] ") for text in lower)
    texts = (
        f"{_bare(cell)} ({own})" if own and own not in _COUNTED else cell.text
        for cell, own in zip(head.cells, units, strict=True)
    )
    return _headed(grid, head, texts)


def _names_over(upper: Sequence[str], lower: Sequence[str]) -> list[int]:
    """For each column the place of the name over it in the upper row, -1 for none; nothing where
    the lower row is no header.

    The same labels return below each of several names, or one name stands over all that follow it.

    >>> _names_over(["", "a", "", "b", ""], ["N", "ms", "GB/s", "ms", "GB/s"])
    [-1, 1, 1, 3, 3]
    >>> _names_over(["N", "a", "b"], ["8", "9", "7"])
    []
    """
    if any(_OF_DATA.fullmatch(text) for text in lower if text):
        return []
    free = [at for at, text in enumerate(upper) if not text and lower[at]]
    begins = [at for at, text in enumerate(upper) if text and lower[at]]
    if not free or not begins or any(not a and not b for a, b in zip(upper, lower, strict=True)):
        return []
    ends = [*begins[1:], len(upper)]
    between = (at for a, b in zip(begins, ends, strict=True) for at in range(a + 1, b))
    if any(upper[at] for at in between):
        return []  # a label of one row between the names
    widths = {b - a for a, b in pairwise(begins)}
    if len(begins) > 1 and len(widths) > 1:
        return []
    width = widths.pop() if widths else len(upper) - begins[0]
    below = [[text.casefold() for text in lower[at : at + width]] for at in begins]
    if width <= 1 or below.count(below[0]) < len(below) or len({*below[0]}) < width:
        return []
    named = {at + n: at for at in begins for n in range(width)}
    own = [at for at, text in enumerate(upper) if text and not lower[at]]
    return [named.get(at, at if at in own else -1) for at in range(len(upper))]


_UNIT = (
    r"(?:[mun]s|µs|m?secs?|usecs?|[GTP](?:FLOP|Flop|flop)[sS]?(?:/s(?:ec)?)?|[GT]OPS|[GMT]i?B/s(?:ec)?"
    r"|[GMT]i?Bps|[MG]i?B)"
)

_MEASURED = re.compile(
    rf"(?:[A-Za-z][\w .+/-]{{0,40}}(?: ?[(\[]{_UNIT}[)\]]|[ _,]{{1,2}}{_UNIT}))|{_UNIT}"
)
"""A quantity with its unit: `busbw (GB/s)`, `fwd time, us`, `TFLOPS`."""

_COMPARED = re.compile(
    r".{0,30}(?:speed-?up|ratio|relative|%|percent|utili[sz]ation|efficiency|\bvs\b).{0,30}",
    re.IGNORECASE,
)
"""A label that compares or rates these, without a unit of its own."""

_WORDS = re.compile(r"(?=.*[A-Za-z]).{1,60}")

_NUMBER = re.compile(r"[~≈]?[0-9][0-9.,]*(?: ?[A-Za-z/%µ×]{1,8})?|[-–—]|n/?a|oom|", re.IGNORECASE)


def upright(grid: Grid) -> Grid:
    """The grid with a row for each of its columns, where its first column names metrics."""
    if len(grid.heads) != 1 or grid.labels or grid.series or grid.width <= 1 or not grid.rows:
        return grid
    if grid.syntax not in ("markdown", "html", "rst", "csv", "tsv", "text"):
        return grid
    if any(len(row.cells) != grid.width or row.one for row in grid.rows):
        return grid
    labels = [_MARKS.sub("", cell.text).strip() for cell in grid.heads[0].cells]
    down = [_MARKS.sub("", row.cells[0].text).strip() for row in grid.rows]
    if any(len(text) > LONGEST for text in (*labels, *down)):
        return grid
    measured = [_MEASURED.fullmatch(text) is not None for text in down]
    rest = [text for text, told in zip(down, measured, strict=True) if not told]
    if not any(measured) or len({*down}) < len(down) or not all(map(_COMPARED.fullmatch, rest)):
        return grid
    numbered = numbered_in_turn(labels[1:])
    named = all(
        (text in numbered or _A_SIZE.fullmatch(text))
        or (_WORDS.fullmatch(text) and not _MEASURED.fullmatch(text))
        for text in labels[1:]
    )
    numbers = all(
        _NUMBER.fullmatch(_MARKS.sub("", cell.text).strip())
        for row in grid.rows for cell in row.cells[1:]
    )  # fmt: skip
    grows = _WORDS.fullmatch(labels[0]) is not None and _grow(labels[1:])
    if not ((named or grows) and numbers):
        return grid
    made = grid.turned()
    corner = "" if labels[0].casefold() in _NOTHING_SAID else labels[0]
    named_so = corner or _of_names(labels[1:])
    first, *others = made.heads[0].cells
    head = replace(made.heads[0], cells=(first._replace(text=named_so), *others))
    return replace(made, heads=(head,))


def _grow(labels: Sequence[str]) -> bool:
    """Whether labels are the numbers, from the least to the most, of one size that columns have.

    >>> _grow(["64", "512", "2,048"]), _grow(["1", "2", "4"]), _grow(["2", "1"]), _grow(["8"])
    (True, True, False, False)
    """
    if len(labels) <= 1 or not all(map(_A_COUNT.fullmatch, labels)):
        return False
    numbers = [int(label.replace(",", "")) for label in labels]
    return numbers == sorted({*numbers})


_A_COUNT = re.compile(r"[1-9][0-9]{0,8}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,3}")


def numbered_in_turn(labels: Sequence[str]) -> set[str]:
    """The numbers of versions that stand in turn in front of names or behind them, `1 | 2 | 3 |
    cuBLAS`; none where all are numbers, or others."""
    told = [text for text in labels if text.isdecimal()]
    first = told[0] if told else ""
    in_turn = first in ("0", "1") and told == [str(int(first) + n) for n in range(len(told))]
    return {*told} if in_turn and len(told) < len(labels) else set()


_NOTHING_SAID = {"", "metric", "metrics", "measure", "quantity", "-", "measurement", "result"}

_FORMATS = re.compile(
    r"(?:mx|nv)?(?:b?f|fp|bf|tf|int)(?:loat)?[0-9]{1,2}(?:_?e[0-9]m[0-9])?", re.IGNORECASE
)

_PASSES = re.compile(
    r"(?:fwd?|bwd?|forward|backward|both|(?:fwd|forward) ?\+ ?(?:bwd|backward))(?: pass)?",
    re.IGNORECASE,
)

_OF_COLLECTIVES = re.compile(
    r"all[ _-]?(?:reduce|gather|to[ _-]?all)|reduce[ _-]?scatter|broadcast|send[ _/-]?recv|reduce",
    re.IGNORECASE,
)


def _of_names(names: Sequence[str]) -> str:
    """The label of names that have none: of devices, formats, passes, sizes of messages, or of who
    computes; none of collectives, whose names speak for themselves."""
    if all((one := only(name)) and len(one.text) * 2 > len(name) for name in names):
        return "gpu"
    for shape, label in ((_FORMATS, "dtype"), (_PASSES, "direction"), (_OF_COLLECTIVES, "")):
        if all(map(shape.fullmatch, names)):
            return label
    return "message size" if all(map(_A_SIZE.fullmatch, names)) else "implementation"


_A_SIZE = re.compile(r"[0-9]+(?:\.[0-9]+)? ?(?:[KMG]i?)?B")
