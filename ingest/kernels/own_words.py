"""Facts said above a table of kernels that its own rows say otherwise.

In: a table, the columns that are told, and facts above it. Out: these without a number
format that columns give in each row, operand by operand, or without what the name of a row says in
another way: `BF16 SDPA` below `FP8 attention` is none in FP8. And whether a row sums up others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import LONGEST, Grid, GridRow
from assay.ingest.kernels.kernel_labels import FORMATS, Column
from assay.ingest.schema.record import Cell

_FORMAT = re.compile(rf"(?<![A-Za-z0-9])(?:{FORMATS})(?![A-Za-z0-9])", re.IGNORECASE)

_BOTH = re.compile(
    r"(?<![A-Za-z])(fwd|forward)(?: ?(?:\+|&|/|and|_and_|_) ?)(bwd|backward)(?![A-Za-z])",
    re.IGNORECASE,
)

_PASS = re.compile(r"(?<![A-Za-z])(fwd|bwd|forward|backward)(?![A-Za-z])", re.IGNORECASE)

_SUM = re.compile(
    r"\W*(?:(?:grand |sub-?)?total|overall|geo-?mean)\b.*|.*\btotal\W*", re.IGNORECASE
)


def said_by_columns(
    grid: Grid, columns: Sequence[Column], above: Mapping[str, Cell]
) -> dict[str, Cell]:
    """Facts above a table, without a number format where a column that fills no field has
    one in every row: `QK | PV` below `FP8 attention`."""
    if "dtype" not in above:
        return dict(above)
    for at, column in enumerate(columns):
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        if column.spec is None and texts and all(map(_FORMAT.fullmatch, texts)):
            return {name: cell for name, cell in above.items() if name != "dtype"}
    return dict(above)


def said_by_row(
    row: GridRow, columns: Sequence[Column], above: Mapping[str, Cell]
) -> Mapping[str, Cell]:
    """Facts above a table, without the number format or the direction of which the names in
    a row say another."""
    if not above.keys() & {"dtype", "direction"}:
        return above
    names = [plain(cell.text) for cell, column in zip(row.cells, columns, strict=False)
             if column.spec is None or column.spec.name in ("operator", "kernel")]  # fmt: skip
    told = [_told(text) for text in names]
    formats = {name: said for each, _ in told for name, said in each.items()}
    passes = {name: said for _, each in told for name, said in each.items()}
    made = dict(above)
    if "dtype" in made and formats and _same(made["dtype"].text) not in formats:
        del made["dtype"]  # it may be what is made of another format
    if "direction" in made and passes and _same(made["direction"].text) not in passes:
        del made["direction"]
        if len(passes) == 1:
            own = next(iter(passes.values()))
            made["direction"] = Cell(own, row.line.number, row.line.column)
    return made


@lru_cache(maxsize=2048)  # every column of a table asks its rows
def _told(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Number formats and directions that a name says, as they are called and as it spells them."""
    if len(text) > LONGEST:
        return {}, {}
    both = _BOTH.search(text)
    passes = [both[0]] if both else _PASS.findall(text)
    return {_same(each): each for each in _FORMAT.findall(text)}, {_same(p): p for p in passes}


def _same(text: str) -> str:
    """A format or a direction as all its spellings have it.

    >>> _same("BFloat16"), _same("fwd + bwd"), _same("forward"), _same("FP-8")
    ('bf16', 'forwardbackward', 'forward', 'fp8')
    """
    plainly = re.sub(r"[^a-z0-9]|and", "", text.casefold()).replace("float", "f")
    plainly = re.sub(r"fwd", "forward", re.sub(r"bwd", "backward", plainly))
    return re.sub(r"^f(?=[0-9])", "fp", plainly)


def sums_up(row: GridRow, columns: Sequence[Column]) -> bool:
    """Whether a row is the total of others, by the name of what it calls."""
    return any(
        column.spec is not None and column.spec.name in ("operator", "kernel")
        and len(cell.text) <= LONGEST and _SUM.fullmatch(plain(cell.text))
        for cell, column in zip(row.cells, columns, strict=False)
    )  # fmt: skip
