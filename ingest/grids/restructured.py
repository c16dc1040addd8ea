"""Tables of reStructuredText as grids: simple ones, those drawn with plus signs, and directives.

In: the lines of a document. Out: a `Grid` for each table. Where a drawn table stands is told by its
rules; its cells and spans are docutils' to tell, which is imported where there is one. A list of
lists (`list-table`) and values between commas (`csv-table`) are told by their directive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from assay.ingest.grids.delimited import separated
from assay.ingest.grids.grid import Grid, GridCell, GridRow, Ragged, laid_out
from assay.ingest.numbers.printed import whole
from assay.ingest.schema.record import Line

_SIMPLE = re.compile(r"\s*=+(?: +=+)+\s*")

_DRAWN = re.compile(r"\s*\+(?:-+\+)+\s*")

_DIRECTIVE = re.compile(r"\s*\.\. (?:table|csv-table|list-table)::\s*(.*)")


WIDEST = 2000
"""Characters of a rule beyond which it draws no table: docutils looks at all of a row for each of
its columns."""


AGAIN = 4
"""Times as many lines as a drawn block has that are followed in it, from rule after rule."""

FEW = 500
"""Lines of a block that are followed in any case."""


def rst_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table whose rules docutils can follow; what it cannot is no table.

    Where a block cannot be followed from one of its rules, a table may begin at a later one.
    """
    at = block = left = 0  # behind the last drawn block, whose end is looked for once
    while at < len(lines):
        text = lines[at].text
        end = None
        if len(text) > WIDEST:
            pass
        elif "=" in text and _SIMPLE.fullmatch(text):
            end = _simple_end(lines, at)
        elif "+-" in text and _DRAWN.fullmatch(text):
            if at >= block:
                block = _block_end(lines, at)
                left = max(AGAIN * (block - at), FEW)
            ruled = block > at + 2 and _DRAWN.fullmatch(lines[block - 1].text)
            end = block if ruled and left > 0 else None
            left -= block - at
        grid = _grid(lines, at, end) if end else _directed(lines, at)
        if grid:
            yield grid
        at = grid.end if grid else at + 1


def _indent(line: Line) -> int:
    """The column at which the text of a line begins, whatever was peeled off before it."""
    return line.column + len(line.text) - len(line.text.lstrip())


def _simple_end(lines: Sequence[Line], begin: int) -> int | None:
    """Behind the last rule: the third, or one with nothing below it."""
    indent, rules = _indent(lines[begin]), 1
    for at in range(begin + 1, len(lines)):
        text = lines[at].text
        if text.strip() and _indent(lines[at]) < indent:
            return None
        if text.strip(" =") or not text.strip():
            continue
        if at == begin + 1:
            return None  # a rule below a rule: nothing is between them
        rules += 1
        last = at + 1 == len(lines) or not lines[at + 1].text.strip()
        if rules == 3 or last:
            return at + 1
    return None


def _block_end(lines: Sequence[Line], begin: int) -> int:
    """Behind the last of the lines that begin with a bar or a corner."""
    at = begin
    while at < len(lines) and lines[at].text.lstrip()[:1] in ("+", "|") and lines[at].text.strip():
        at += 1
    return at


def _grid(lines: Sequence[Line], begin: int, end: int) -> Grid | None:
    indent = _indent(lines[begin])
    block = [
        (" " * (line.column - 1) + line.text.rstrip()).expandtabs(8)[indent - 1 :]
        for line in lines[begin:end]
    ]
    block = _with_blanks(block) if not block[0].startswith("+") else block
    mended = (_at_corners,) if block[0].startswith("+") else (_under_rule, _with_margins)
    tried = map(_followed, (block, *(mend(block) for mend in mended)))
    if (followed := next(filter(None, tried), None)) is None:
        return None
    heads, rows = followed
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


def _with_blanks(block: Sequence[str]) -> list[str]:
    """The lines of a simple table, the blank that stands in a first cell right below names over
    several columns escaped, without which docutils leaves out what stands beside it.

    >>> _with_blanks(["==  ==  ==", "a   b", "--  ------", "    c   d", "==  ==  =="])[3]
    '\\\\   c   d'
    """
    under = ["", *block]
    return [
        f"\\{line[1:]}" if over.strip() and not over.strip(" -") and line[:2] == "  " else line
        for over, line in zip(under, block, strict=False)
    ]


def _under_rule(block: Sequence[str]) -> Sequence[str]:
    """The lines of a simple table whose words stand beside the columns of its rules, below them:
    as many as there are columns, two blanks apart, and no wider than these."""
    columns = [found.span() for found in re.finditer("=+", block[0])]
    made = list(block)
    for at in range(1, len(block)):
        texts = re.split(r" {2,}", block[at].strip())
        fits = (
            len(text) <= end - begin for text, (begin, end) in zip(texts, columns, strict=False)
        )
        if len(texts) == len(columns) and all(fits):
            made[at] = "".join(
                text.ljust(end - begin).rjust(end - last)
                for text, (begin, end), last in zip(
                    texts, columns, [0, *(each[1] for each in columns)], strict=False
                )
            )
    return made


def _with_margins(block: Sequence[str]) -> Sequence[str]:
    """The lines of a simple table, its rules drawn on up to a blank before their next columns: a
    cell may be a little wider than the rule over it.

    >>> _with_margins(["=====  ====", "a few1 12.5", "=====  ===="])
    ['====== ====', 'a few1 12.5', '====== ====']
    """
    return [
        re.sub(r" +(?= =)", lambda gap: "=" * len(gap[0]), line.rstrip())
        if line.strip() and not line.strip(" =") else line
        for line in block
    ]  # fmt: skip


ASIDE = 2
"""Characters that a bar of a drawn table may stand beside the corner that it is of."""


def _at_corners(block: Sequence[str]) -> Sequence[str]:
    """The lines of a drawn table, the bars that stand beside the corners of its first rule moved
    below them: somebody has counted the blanks of a cell wrong."""
    corners = [found.start() for found in re.finditer(r"\+", block[0])]
    made = list(block)
    for at, line in enumerate(block):
        bars = [found.start() for found in re.finditer(r"\|", line)]
        if "+" in line or not bars or all(bar in corners for bar in bars):
            continue
        near = [min((abs(corner - bar), corner) for corner in corners)[1] for bar in bars]
        close = all(abs(a - b) <= ASIDE for a, b in zip(near, bars, strict=True))
        if not close or len({*near}) < len(near) or (near[0], near[-1]) != (0, corners[-1]):
            continue
        texts = (line[a + 1 : b].strip() for a, b in pairwise(bars))
        widths = [b - a - 1 for a, b in pairwise(near)]
        cells = [f" {text}".ljust(width) for text, width in zip(texts, widths, strict=True)]
        if all(len(cell) <= width for cell, width in zip(cells, widths, strict=True)):
            made[at] = f"|{'|'.join(cells)}|"
    return made


def _followed(block: Sequence[str]) -> tuple[list[Any], list[Any]] | None:
    """The header and the rows of a table as docutils gives them, a wide character being as wide as
    two; else, as some editors draw them, as one."""
    from docutils.parsers.rst import tableparser  # noqa: PLC0415 - few have a table
    from docutils.statemachine import StringList  # noqa: PLC0415

    drawn = block[0].startswith("+")
    for wide in (True, False) if not all(map(str.isascii, block)) else (False,):
        parser = tableparser.GridTableParser() if drawn else tableparser.SimpleTableParser()
        text = StringList(list(block), source="")
        if wide:
            text.pad_double_width(parser.double_width_pad_char)
        try:
            _, heads, rows = parser.parse(text)
        except (tableparser.TableMarkupError, IndexError, AssertionError, ValueError):
            continue
        return heads, rows
    return None


def _ragged(row: Sequence[Any], lines: Sequence[Line]) -> list[Ragged]:
    """The cells of a row as docutils gives them: None where a span covers the place."""
    found: list[Ragged] = []
    behind: dict[int, int] = {}
    for cell in row:
        if cell is None:
            continue
        more_rows, more_columns, offset, block = cell
        parts = [str(part).replace("\0", "") for part in block]
        parts = ["" if part.strip() == "\\" else part for part in parts]
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


_LISTED = re.compile(r"\s*\.\. (list|csv)-table::\s*(.*)")

_OPTION = re.compile(r"\s*:([a-z-]+):\s*(.*)")

_ITEM = re.compile(r"(\s*)(\*\s+-|-)(?:\s+(.*))?$")


def _directed(lines: Sequence[Line], begin: int) -> Grid | None:
    """The table of a directive: its options, then its rows, all indented deeper than itself."""
    found = _LISTED.fullmatch(lines[begin].text) if "-table::" in lines[begin].text else None
    if found is None:
        return None
    indent, at = _indent(lines[begin]), begin + 1
    options: dict[str, str] = {}
    while at < len(lines) and (option := _OPTION.fullmatch(lines[at].text)):
        options[option[1]] = option[2]
        at += 1
    end = at
    while end < len(lines) and (not lines[end].text.strip() or _indent(lines[end]) > indent):
        end += 1
    while end > at and not lines[end - 1].text.strip():
        end -= 1
    body = [line for line in lines[at:end] if line.text.strip()]
    rows = _listed(body) if found[1] == "list" else _separated(body, options, lines[begin])
    if len(rows) < 2 or min(map(len, rows)) < 2 or len(set(map(len, rows))) != 1:
        return None
    by_number = {line.number: line for line in lines[begin:end]}
    made = [GridRow(by_number[row[0].line], tuple(row)) for row in rows]
    given = "header" in options
    heads = max(1, (whole(options.get("header-rows", "")) or 0) + given)
    if heads >= len(made):
        return None
    made[:heads] = _over_blanks(made[:heads])
    return Grid("rst", begin, end, tuple(made[:heads]), tuple(made[heads:]), found[2], exact=False)


def _over_blanks(heads: Sequence[GridRow]) -> list[GridRow]:
    """Header rows in which a label goes on over the blanks behind it, as far as the row below has
    labels of its own: cells of a directive cannot span."""
    made = list(heads)
    for at in range(len(made) - 1):
        cells, below = list(made[at].cells), made[at + 1].cells
        for n in range(1, len(cells)):
            both = below[n - 1].text.strip() and below[n].text.strip()
            if both and not cells[n].text.strip() and below[n].text != below[n - 1].text:
                cells[n] = cells[n - 1]
        made[at] = replace(made[at], cells=tuple(cells))
    return made


def _listed(body: Sequence[Line]) -> list[list[GridCell]]:
    """Rows of a list whose items are lists of cells; a cell may go on in the lines below it."""
    rows: list[list[GridCell]] = []
    dash = -1
    for line in body:
        item = _ITEM.fullmatch(line.text.rstrip())
        begins = item is not None and item[2] != "-"
        place = line.column + item.end(2) if item else 0
        if item and (begins or (rows and place == dash)):
            dash = place
            if begins:
                rows.append([])
            text = item[3] or ""
            column = item.start(3) if text else len(line.text.rstrip())
            rows[-1].append(GridCell(text.strip(), line.number, line.column + column))
        elif rows and rows[-1]:
            last = rows[-1][-1]
            rows[-1][-1] = last._replace(text=f"{last.text} {line.text.strip()}".strip())
    return rows


def _separated(
    body: Sequence[Line], options: dict[str, str], directive: Line
) -> list[list[GridCell]]:
    """Rows of values between commas, below a header that the directive may give."""
    rows: list[list[GridCell]] = []
    if header := options.get("header"):
        labels = separated(header, ",")
        rows.append([GridCell(text, directive.number, directive.column) for text in labels])
    for line in body:
        texts = separated(line.text.strip(), ",")
        at, cells = 0, []
        for text in texts:
            at = max(line.text.find(text.strip(), at), at)
            cells.append(GridCell(text.strip(), line.number, line.column + at))
            at += len(text.strip())
        rows.append(cells)
    return rows
