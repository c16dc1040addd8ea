"""HTML tables as grids: rows and cells with their spans, wherever a document holds them.

In: the lines of a document. Out: a `Grid` for each table. One inside a comment is marked, one
inside a cell of another is a grid of its own, marked too, and no text of that cell. Tags may be
unclosed, as HTML allows; a table that is never closed ends with the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import pairwise

from assay.ingest.grids.grid import Grid, GridCell, GridRow, Ragged, SpansError, laid_out
from assay.ingest.schema.record import Line

_TAG = re.compile(r"<(/?)table\b", re.IGNORECASE)

_SILENT = {"sup", "del", "s", "script", "style"}
"""Elements whose text is no part of a cell: footnote marks, what was struck out."""


def html_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table of a document, outer ones before those inside them."""
    at = 0
    while at < len(lines):
        if "<" not in lines[at].text or not _opens(lines[at].text):
            at += 1
            continue
        end = _end(lines, at)
        yield from _tables(lines, at, end)
        at = end


def _opens(text: str) -> bool:
    return any(not found[1] for found in _TAG.finditer(text))


def _end(lines: Sequence[Line], begin: int) -> int:
    """Behind the line on which as many tables are closed as were opened."""
    depth = 0
    for at in range(begin, len(lines)):
        for found in _TAG.finditer(lines[at].text):
            depth += -1 if found[1] else 1
        if depth <= 0:
            return at + 1
    return len(lines)


def _tables(lines: Sequence[Line], begin: int, end: int) -> Iterator[Grid]:
    reader = _Reader(lines[begin:end], commented=_comment_open(lines, begin))
    reader.feed(_finished("\n".join(line.text for line in lines[begin:end])))
    reader.close()
    met: set[int] = set()
    for table in sorted(reader.done, key=lambda table: table.order):
        parts = table.parts()
        firsts = [begin, *(begin + part.rows[0].line for part in parts[1:]), end]
        for part, (first, last) in zip(parts, pairwise(firsts), strict=True):
            if grid := part.grid(lines, begin, end, met):
                yield replace(grid, begin=first, end=max(first + 1, last)) if parts[1:] else grid


def _finished(text: str) -> str:
    """The text up to what begins and never ends: a comment, or a tag. HTML drops those as well, and
    the parser of the standard library looks for the end of each of them in all that follows.
    """
    comment = text.find("<!--", text.rfind("-->") + 1)
    text = text[:comment] if comment >= 0 else text
    section = text.rfind("]>") + 1
    if "<![" in text[section:]:  # which HTML reads up to the next >
        text = text[:section] + text[section:].replace("<![", "<! ")
    tag = text.find("<", text.rfind(">") + 1)
    return text[:tag] if tag >= 0 else text


def _comment_open(lines: Sequence[Line], at: int) -> bool:
    """Whether a comment that began above is open where a table begins."""
    for line in reversed(lines[max(0, at - 200) : at]):
        opens, closes = line.text.rfind("<!--"), line.text.rfind("-->")
        if max(opens, closes) >= 0:
            return opens > closes
    return False


@dataclass
class _Row:
    line: int  # position among the lines fed
    column: int  # in the original line
    in_head: bool
    cells: list[Ragged] = field(default_factory=list)
    heads: int = 0  # how many of the cells are `th`


@dataclass
class _Table:
    order: int
    depth: int
    commented: bool
    rows: list[_Row] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)  # its words
    in_head: bool = False

    def parts(self) -> list[_Table]:
        """The table, or each of those that it holds below each other: a title over all columns and
        labels below that begin a new one, which is of what the title says."""
        rows = [row for row in self.rows if row.cells]
        begins = [
            0,
            *(at for at in range(1, len(rows) - 2) if _begins_another(rows, at)),
            len(rows),
        ]
        if len(begins) == len((0, 1)) or any(cell.rows > 1 for row in rows for cell in row.cells):
            return [self]
        return [replace(self, rows=rows[at:end]) for at, end in pairwise(begins)]

    def grid(self, lines: Sequence[Line], begin: int, end: int, met: set[int]) -> Grid | None:
        """The table; of the rows of one line all but the first, which is `met`, have their place
        in it."""
        rows, caption = self.rows, " ".join(self.caption)
        while rows and not rows[-1].cells:
            rows = rows[:-1]
        try:
            laid = laid_out([row.cells for row in rows])
        except SpansError:
            line = lines[begin]
            return Grid("html", begin, end, (GridRow(line, ()),), (), caption, "spans")
        rows = [row for row, cells in zip(rows, laid, strict=True) if cells]
        laid = [cells for cells in laid if cells]
        if not rows:
            return None
        heads = 0
        while heads < len(rows) and (rows[heads].in_head or _headed(rows[heads])):
            heads += 1
        heads = heads or _spanned(rows)
        width = max(len(cells) for cells in laid[: max(heads, 1)])
        made = []
        for row, cells in zip(rows, laid, strict=True):
            line = lines[begin + row.line]
            line = line._replace(column=row.column) if line.number in met else line
            met.add(line.number)
            made.append(GridRow(line, _padded(cells, width)))
        heads = min(max(heads, 1), len(rows))
        return Grid(
            "html", begin, end, tuple(made[:heads]), tuple(made[heads:]), caption,
            "commented" if self.commented else "nested" if self.depth else "", exact=False,
        )  # fmt: skip


def _headed(row: _Row) -> bool:
    return 0 < row.heads == len(row.cells)


def _begins_another(rows: Sequence[_Row], at: int) -> bool:
    """Whether a row below others is a title over the labels in the next one, and these over data;
    each is of header cells."""
    title, labels, data = rows[at : at + 3]
    return (
        all(map(_headed, (title, labels)))
        and not _headed(rows[at - 1])
        and not _headed(data)
        and len(title.cells) == 1
        and title.cells[0].columns == sum(cell.columns for cell in labels.cells) > 1
        and not all(_A_NUMBER.match(cell.text) for cell in labels.cells[1:])
    )


_MOST_SPANNED = 3

_A_NUMBER = re.compile(r"\W*[0-9]")


def _spanned(rows: Sequence[_Row]) -> int:
    """How many rows are a header by their spans alone: the first has cells over several columns
    beside others over all of these rows, and no cell is a number; 0 where they do not tell."""
    first = rows[0].cells
    deep = {cell.rows for cell in first if cell.rows > 1 and cell.columns == 1}
    wide = [cell for cell in first if cell.columns > 1 and cell.rows == 1]
    if len(deep) != 1 or not wide or not 1 < max(deep) <= min(_MOST_SPANNED, len(rows) - 1):
        return 0
    count = max(deep)
    texts = [cell.text for row in rows[:count] for cell in row.cells]
    return 0 if any(map(_A_NUMBER.match, texts[len(first) :])) else count


def _padded(cells: tuple[GridCell, ...], width: int) -> tuple[GridCell, ...]:
    """As many cells as the header has, where HTML lets a row be shorter, or span beyond it."""
    if len(cells) > width and len(set(cells)) == 1:
        return cells[:width]
    last = cells[-1]
    return (*cells, *(GridCell("", last.line, last.column) for _ in range(width - len(cells))))


class _Reader(HTMLParser):
    """Follows the tags of tables; the rest is text."""

    def __init__(self, lines: Sequence[Line], *, commented: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.lines = lines
        self.commented = commented
        self.open: list[_Table] = []
        self.cells: list[_Cell | None] = []  # the open cell of each open table
        self.done: list[_Table] = []
        self.silent = 0
        self.caption = False

    def place(self) -> tuple[int, int]:
        """Line among those fed, from 0, and offset in it."""
        line, offset = self.getpos()
        return min(line - 1, len(self.lines) - 1), offset

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            found = _Table(len(self.done) + len(self.open), len(self.open), self.commented)
            self.open.append(found)
            self.cells.append(None)
        if not self.open:
            return
        table = self.open[-1]
        if tag in ("thead", "tbody", "tfoot"):
            self._end_cell()
            table.in_head = tag == "thead"
        elif tag == "tr":
            self._end_cell()
            self._begin_row(table)
        elif tag in ("td", "th"):
            self._begin_cell(table, tag, dict(attrs))
        elif tag == "caption":
            self.caption = True
        elif tag == "br":
            self.handle_data(f" {_BREAK} ")
        elif tag in _SILENT:
            self.silent += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self.handle_data(f" {_BREAK} ")
        elif tag in ("td", "th"):
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.open:
            return
        if tag == "table":
            self._end_cell()
            self.cells.pop()
            self.done.append(self.open.pop())
        elif tag in ("td", "th", "tr", "thead", "tbody"):
            self._end_cell()
            if tag == "thead":
                self.open[-1].in_head = False
        elif tag == "caption":
            self.caption = False
        elif tag in _SILENT:
            self.silent = max(0, self.silent - 1)

    def handle_data(self, data: str) -> None:
        if self.open and self.silent and self._power(data):
            return
        if not self.open or self.silent:
            return
        if self.caption:
            self.open[-1].caption += data.split()
        cell = self.cells[-1]
        if cell is None:
            return
        if not cell.said and data.strip(f" {_BREAK}").strip():
            cell.said = True
            lead = data[: len(data) - len(data.lstrip())]
            line, offset = self.place()
            feeds = lead.count("\n")
            line = min(line + feeds, len(self.lines) - 1)
            offset = len(lead) - lead.rfind("\n") - 1 if feeds else offset + len(lead)
            cell.line, cell.column = self.lines[line].number, self.lines[line].column + offset
        cell.text.append(data)

    def _power(self, data: str) -> bool:
        """Take in a raised digit that is a power of ten in front of a unit: `[10<sup>3</sup> …`."""
        cell = self.cells[-1]
        of_ten = cell is not None and cell.text and cell.text[-1].endswith(("[10", "(10"))
        if cell is None or not of_ten or not re.fullmatch("[0-9]", data):
            return False
        cell.text.append(f"^{data}")
        return True

    def handle_comment(self, data: str) -> None:
        line, offset = self.place()
        held = data.split("\n")
        first = self.lines[line]
        inner = [
            each._replace(
                text=text, column=each.column + (offset + len("<!--") if each is first else 0)
            )
            for each, text in zip(self.lines[line:], held, strict=False)
        ]
        if not _opens(data):
            return
        reader = _Reader(inner, commented=True)
        reader.feed(_finished(data))
        reader.close()
        for table in reader.done:
            for row in table.rows:
                row.line += line
        self.done += reader.done

    def close(self) -> None:
        super().close()
        while self.open:  # never closed
            self.handle_endtag("table")

    def _begin_row(self, table: _Table) -> None:
        line, offset = self.place()
        table.rows.append(_Row(line, self.lines[line].column + offset, table.in_head))

    def _begin_cell(self, table: _Table, tag: str, attributes: dict[str, str | None]) -> None:
        self._end_cell()
        line, offset = self.place()
        if not table.rows:
            self._begin_row(table)
        table.rows[-1].heads += tag == "th"
        at = self.lines[line]
        rows, columns = (_span(attributes.get(name)) for name in ("rowspan", "colspan"))
        self.cells[-1] = _Cell([], at.number, at.column + offset, rows, columns)

    def _end_cell(self) -> None:
        cell = self.cells[-1] if self.cells else None
        if cell is not None:
            text = _on_lines(" ".join("".join(cell.text).split()))
            ragged = Ragged(text, cell.line, cell.column, cell.rows, cell.columns)
            self.open[-1].rows[-1].cells.append(ragged)
            self.cells[-1] = None
        self.silent = 0


@dataclass
class _Cell:
    text: list[str]  # in pieces
    line: int
    column: int
    rows: int
    columns: int
    said: bool = False  # whether its text has begun


_BREAK = "\ue000"  # of private use, for it is no blank


def _on_lines(text: str) -> str:
    """A cell whose lines end with `_BREAK`: those of numbers stay apart as in Markdown.

    >>> _on_lines("9.6 s \ue000 73.5 GB"), _on_lines("Step time \ue000 (s)")
    ('9.6 s<br>73.5 GB', 'Step time (s)')
    """
    lines = [line.strip() for line in text.split(_BREAK)]
    apart = len(lines) > 1 and all(any(map(str.isdigit, line)) for line in lines)
    return "<br>".join(lines) if apart else " ".join(filter(None, lines))


def _span(value: str | None) -> int:
    """A span as HTML reads it: what is no number is one."""
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
