"""Tables of reStructuredText as grids, simple ones and those drawn with plus signs.

In: the lines of a document. Out: a `Grid` for each table. Where a table stands is told by its
rules; its cells and spans are docutils' to tell, which is imported where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from assay.ingest.grids.grid import Grid, GridRow, Ragged, laid_out
from assay.ingest.schema.record import Line

_SIMPLE = re.compile(r"\s*=+(?: +=+)+\s*")

_DRAWN = re.compile(r"\s*\+(?:-+\+)+\s*")

_DIRECTIVE = re.compile(r"\s*\.\. (?:table|csv-table|list-table)::\s*(.*)")


def rst_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table whose rules docutils can follow; what it cannot is no table."""
    at = 0
    while at < len(lines):
        text = lines[at].text
        end = None
        if "=" in text and _SIMPLE.fullmatch(text):
            end = _simple_end(lines, at)
        elif "+-" in text and _DRAWN.fullmatch(text):
            end = _drawn_end(lines, at)
        grid = _grid(lines, at, end) if end else None
        if grid:
            yield grid
        at = end if end and grid else at + 1


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _simple_end(lines: Sequence[Line], begin: int) -> int | None:
    """Behind the last rule: the third, or one with nothing below it."""
    indent, rules = _indent(lines[begin].text), 1
    for at in range(begin + 1, len(lines)):
        text = lines[at].text
        if text.strip() and _indent(text) < indent:
            return None
        if text.strip(" =") or not text.strip():
            continue
        rules += 1
        last = at + 1 == len(lines) or not lines[at + 1].text.strip()
        if rules == 3 or last:
            return at + 1
    return None


def _drawn_end(lines: Sequence[Line], begin: int) -> int | None:
    at = begin
    while at < len(lines) and lines[at].text.strip()[:1] in ("+", "|") and lines[at].text.strip():
        at += 1
    return at if at > begin + 2 and _DRAWN.fullmatch(lines[at - 1].text) else None


def _grid(lines: Sequence[Line], begin: int, end: int) -> Grid | None:
    from docutils.parsers.rst import tableparser  # noqa: PLC0415 - few have a table
    from docutils.statemachine import StringList  # noqa: PLC0415

    indent = _indent(lines[begin].text)
    block = [line.text.rstrip().expandtabs(8)[indent:] for line in lines[begin:end]]
    drawn = block[0].startswith("+")
    parser = tableparser.GridTableParser() if drawn else tableparser.SimpleTableParser()
    try:
        _, heads, rows = parser.parse(StringList(list(block), source=""))
    except (tableparser.TableMarkupError, IndexError, AssertionError, ValueError):
        return None
    ragged = [_ragged(row, lines[begin:end]) for row in [*heads, *rows]]
    every = [row for row in ragged if row]
    laid = laid_out(every)
    width = max(map(len, laid), default=0)
    if width < 2:
        return None
    by_number = {line.number: line for line in lines[begin:end]}
    made = [
        GridRow(by_number[min(cell.line for cell in row)], cells)
        for row, cells in zip(every, laid, strict=True)
    ]
    count = max(len([row for row in ragged[: len(heads)] if row]), 1)
    caption = _caption(lines, begin)
    return Grid("rst", begin, end, tuple(made[:count]), tuple(made[count:]), caption, exact=False)


def _ragged(row: Sequence[Any], lines: Sequence[Line]) -> list[Ragged]:
    """The cells of a row as docutils gives them: None where a span covers the place."""
    found: list[Ragged] = []
    behind: dict[int, int] = {}
    for cell in row:
        if cell is None:
            continue
        more_rows, more_columns, offset, block = cell
        parts = [str(part) for part in block]
        text = " ".join(" ".join(parts).split())
        first = next((n for n, part in enumerate(parts) if part.strip()), 0)
        at = min(offset + first, len(lines) - 1)
        word = parts[first].strip() if text else ""
        start = lines[at].text.find(word, behind.get(at, 0)) if word else -1
        start = max(start, 0)
        behind[at] = start + len(word)
        line = lines[at]
        found.append(
            Ragged(text, line.number, line.column + start, more_rows + 1, more_columns + 1)
        )
    return found


def _caption(lines: Sequence[Line], begin: int) -> str:
    """The title of the directive that a table stands in."""
    for line in reversed(lines[max(0, begin - 8) : begin]):
        if found := _DIRECTIVE.fullmatch(line.text):
            return found[1]
        if line.text.strip() and not line.text.strip().startswith(":"):
            return ""
    return ""
