"""Markdown tables as grids: a header, a row of rules, rows of cells between bars.

In: the lines of a document. Out: a `Grid` for each table; one inside an HTML comment is marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from assay.ingest.grids.grid import BREAK, Grid, GridCell, GridRow, shown
from assay.ingest.lines.lark import Token, parse_line
from assay.ingest.schema.record import Diagnostic, Line, Span
from assay.ingest.source.restructured_pages import GOES_ON

_ALIGNMENT = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")

_HERE = Span("", 0, 1)


def pipe_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table whose header has as many cells as the row of rules below it."""
    at, begin, commented = 1, 0, False
    while at < len(lines):
        commented = _comment(lines[at - 1].text, open_above=commented)
        if not _begins_table(lines[at - 1], lines[at]):
            at += 1
            continue
        end = at + 1
        while end < len(lines) and _is_row(lines[end]):
            end += 1
        closed = lines[at - 1].text.rstrip().endswith("|")
        above = _above(lines, at - 1, begin)
        body = [line for line in lines[at + 1 : end] if line.text != GOES_ON]
        yield Grid(
            "markdown",
            at - 1 - len(above),
            end,
            (GridRow(lines[at - 1], _wrapped([*above, lines[at - 1]])),),
            tuple(GridRow(line, _row(line, closed=closed)) for line in body),
            remark="commented" if commented else "",
            closed=closed,
            fillers=tuple(line.number for line in lines[at + 1 : end] if line.text == GOES_ON),
        )
        for line in lines[at:end]:
            commented = _comment(line.text, open_above=commented)
        at, begin = end + 1, end


def _comment(text: str, *, open_above: bool) -> bool:
    """Whether an HTML comment is open behind this line."""
    if "--" not in text:
        return open_above
    opens, closes = text.rfind("<!--"), text.rfind("-->")
    return opens > closes if max(opens, closes) >= 0 else open_above


def _begins_table(head: Line, rule: Line) -> bool:
    if "|" not in head.text or "-" not in rule.text or not _ALIGNMENT.fullmatch(rule.text):
        return False
    return "|" in rule.text and len(_cells(head.text)) == len(_cells(rule.text))


MOST_WRAPPED = 6
"""Lines over which the labels of a header may be broken."""


def _above(lines: Sequence[Line], head: int, begin: int) -> Sequence[Line]:
    """The lines above the last one of a header that are parts of it: labels broken into several
    lines of as many cells, of which each but the first leaves some empty."""
    width, first = len(_cells(lines[head].text)), head
    while first > max(begin, head - MOST_WRAPPED) and _is_row(lines[first - 1]):
        first -= 1
    above = lines[first:head]
    if not above or not all(len(_cells(line.text)) == width for line in above):
        return ()
    blank = [
        not all(cell.strip() for cell, _ in _cells(line.text)) for line in lines[first : head + 1]
    ]
    full = all(cell.strip() for cell, _ in _cells(lines[first].text))
    return above if full and all(blank[1:]) else ()


def _wrapped(lines: Sequence[Line]) -> tuple[GridCell, ...]:
    """The cells of a header, the parts of each put together where its last one stands."""
    return tuple(
        cells[-1]._replace(text=_in_one_line(" ".join(cell.text for cell in cells if cell.text)))
        for cells in zip(*map(_row, lines), strict=True)
    )


def _in_one_line(label: str) -> str:
    return BREAK.sub(" ", label).strip() if "<" in label else label


def _is_row(line: Line) -> bool:
    return "|" in line.text and not line.text.isspace()


def _row(line: Line, *, closed: bool = True) -> tuple[GridCell, ...]:
    """The cells of a row, each where its text begins; a blank that is spelled out is no end."""
    cells = []
    for text, offset in _cells(line.text):
        lead = len(text) - len(text.lstrip())
        bare = text.strip()
        bare = shown(bare).strip() or bare
        cells.append(GridCell(bare, line.number, line.column + offset + lead))
    if _open_ended(line.text, closed=closed):
        cells.append(GridCell("", line.number, line.column + len(line.text.rstrip())))
    return tuple(cells)


def _open_ended(text: str, *, closed: bool) -> bool:
    """Whether the last cell of a row is empty: `8 | OOM |` under a header without outer bars."""
    bare = text.strip()
    return not closed and bare.endswith("|") and not bare.startswith("|")


def _cells(text: str) -> tuple[tuple[str, int], ...]:
    """The cells of a row, each with its offset in the line."""
    return _escaped_cells(text) if "\\" in text else _split_cells(text.rstrip())


def _split_cells(text: str) -> tuple[tuple[str, int], ...]:
    """The cells that Lark reads where no bar is escaped: the texts between two bars."""
    first, bar, rest = text.partition("|")
    begin, rest = (len(first) + 1, rest) if bar and not first.strip() else (0, text)
    cells = []
    for cell in rest.split("|"):
        cells.append((cell, begin))
        begin += len(cell) + 1
    return tuple(cells if cells[-1][0] else cells[:-1])


@lru_cache(maxsize=64)
def _escaped_cells(text: str) -> tuple[tuple[str, int], ...]:
    tree = parse_line("markdown_table", "row_line", text.rstrip(), _HERE)
    if isinstance(tree, Diagnostic):
        return ()
    tokens = [token for token in tree.children if isinstance(token, Token)]
    return tuple(
        (str(token).removesuffix("|") if token.type == "CELL" else str(token), token.start_pos or 0)
        for token in tokens
        if token.type != "LEAD"
    )
