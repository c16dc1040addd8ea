"""Number formats other than of 16 bits that a document names, in the place of which 16 bits would
be assumed for rows of which nothing says one.

In: the lines of a document. Out: by section a cell with the state unknown at the first such format,
where runs may have computed in it; none where only what is kept beside the products is in it:
master weights, states of optimizers, sums.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from assay.ingest.columns.number_formats import OF_A_PART
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred

_NAMED = deferred(
    r"(?<![A-Za-z0-9])(?:(?:mx-?|nv-?)?fp[48]|float-?8|tf-?32|fp-?32|float-?32"
    r"|amp|autocast|mixed[ -]precision|half[ -]precision|full[ -]precision)"
    r"(?![A-Za-z0-9])",
    re.IGNORECASE,
)

_SIXTEEN = deferred(
    r"(?<![A-Za-z0-9])(?:bf16|bfloat-?16|fp16"
    r"|float-?16)(?![0-9A-Za-z])",
    re.IGNORECASE,
)

_NEAR = 40
"""Letters around a format in which the part that is kept in it stands."""

_OF_NO_RUN = deferred(
    r"\b(?:support\w*|planned|todo|future|not yet|experimental|inference|serving|instead of"
    r"|rather than"
    r"|optimi[sz]er|adam\w*|peak|roofline|rows?|columns?|lines?|tables?|figures?)\b"
    r"|\?|^\W*(?:Table|Figure|表|图) ?[0-9]",
    re.IGNORECASE,
)


def other_formats(lines: Sequence[Line], tabled: Set[int]) -> dict[int, Cell]:
    """The first format that is not of 16 bits by the heading that it stands below, `tabled` being
    rows of tables; one of a section without tables is of all of them, and stands at 0.

    >>> lines = [Line(1, "Gradients in fp32.", 1, {}), Line(2, "The last ones in FP8.", 1, {})]
    >>> {at: cell.line for at, cell in other_formats(lines, set()).items()}
    {0: 2}
    """
    found: dict[int, Cell] = {}
    at, with_rows = 0, set[int]()
    for line in lines:
        if line.text.startswith("#"):
            at = line.number
        if line.number in tabled:
            with_rows.add(at)
        elif at not in found and not _OF_TABLES.match(line.text) and (cell := _other(line)):
            found[at] = cell
    apart = {at: cell for at, cell in found.items() if at in with_rows}
    general = next((cell for at, cell in found.items() if at not in with_rows), None)
    return {0: general, **apart} if general else apart


def _other(line: Line) -> Cell | None:
    """The first such format of a line, unknown, where runs may have computed in it."""
    if len(line.text) > LONGEST:
        return None
    for found in _NAMED.finditer(line.text):
        begin, end = max(0, found.start() - _NEAR), found.end() + _NEAR
        if OF_A_PART.search(line.text, begin, end) or _OF_NO_RUN.search(line.text):
            continue
        if found[0][:1] in "aAmM" and _SIXTEEN.search(line.text):  # `mixed precision (bf16)`
            continue
        return Cell(found[0], line.number, line.column + found.start(), state="unknown")
    return None


_OF_TABLES = deferred(r"\s*(?:\||</?t|\")")
"""How a line of a table begins."""
