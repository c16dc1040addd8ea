"""Tables of plain text that are drawn with rules as grids: databases, consoles, data frames.

In: the lines of a document. Out: a `Grid` for each table whose header stands above a rule with
crossings and whose rows are lines of as many cells, kept apart by bars: `+---+`, `|---+---|`,
`---+---`, `┌───┬───┐`. The types that a data frame prints below its labels are no part of them. A
line that fills less than half of its columns, and not the first, goes on with the row above it.
What blanks keep apart between two bars, in the label as in every row, are columns of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.ingest.grids.aligned import MEASURES
from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.schema.record import Line

_BARS = re.compile("[|│┃┆┊║]")

_RULE = re.compile(
    r"\s*(?:[|+]?-{2,}(?:\+-{2,})*[|+]?|[|+]?={2,}(?:\+={2,})*[|+]?"
    r"|(?![│┃┆┊║])[\u2500-\u257f](?:(?![│┃┆┊║])[\u2500-\u257f]){2,})\s*"
)

_CROSSED = re.compile(r"[-=]\+[-=]|[┬-╋╤-╬]")
"""Found in a rule of more than one column."""

_DTYPE = re.compile(
    r"(?:[iuf](?:8|16|32|64|128)|str|cat|enum|bool|date|datetime.*|duration.*|decimal.*|list.*|null"
    r"|int(?:8|16|32|64)|u?int(?:8|16|32|64)|float(?:32|64)?|object|string|u?(?:big|small)?int"
    r"(?:eger)?|varchar|double|boolean)",
    re.IGNORECASE,
)

_DOTS = re.compile(r"[\s.…]*")

MOST_HEADS = 6
"""Lines of a header: labels in several, a rule of data frames, and types."""


@dataclass(frozen=True)
class _Row:
    """The cells of a line between bars."""

    line: Line
    cells: tuple[GridCell, ...]

    @property
    def whole(self) -> bool:
        """Whether it says enough to be a row, and does not go on with the one above."""
        said = sum(bool(cell.text) for cell in self.cells)
        return bool(self.cells[0].text) or 2 * said >= len(self.cells)


def drawn_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table, in order."""
    at = 0
    while at < len(lines):
        grid, end = _table(lines, at) if _is_rule(lines[at].text) else (None, at + 1)
        if grid:
            yield grid
        at = end


_LABELLED = re.compile(r"[^|0-9]*\([^|()]+\)[^|0-9]*(?:\|[^|0-9]*)+")

_ENCLOSED = re.compile(r"\s*\|(?:[^|0-9]*\|){3,}\s*")

_IN_UNITS = re.compile(r"\|\s*[0-9][0-9.,]*\s?[A-Za-z%][A-Za-z/%]*\s*\|")

ROWS = 2


def barred_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table without a rule: bars between labels, one with a unit in brackets, and between
    the cells of the lines right below, whose first are numbers; or bars around all of them, where
    each row has numbers with their units, or nothing but numbers below labels or behind them."""
    at = 0
    while at < len(lines):
        text, near = lines[at].text, lines[at + 1 : at + 2]
        enclosed = bool(_ENCLOSED.fullmatch(text) and near and _IN_UNITS.search(near[0].text))
        head = _cells(lines[at]) if enclosed or _LABELLED.fullmatch(text) else None
        end, rows = _rows(lines, at + 1, len(head.cells)) if head else (at + 1, [])
        told = enclosed and all(_IN_UNITS.search(row.line.text) for row in rows)
        numbered = len(rows) >= ROWS and all(_number(row.cells[0].text) for row in rows)
        if head is None and (head := _above_numbers(lines, at)):
            end, rows = _rows(lines, at + 1, len(head.cells))
            told = _all_numbers(head, rows)
        if head and rows and (told or numbered):
            cells = (cell._replace(text=cell.text.rstrip(" :")) for cell in head.cells)
            labels = GridRow(head.line, tuple(cells))
            body = tuple(GridRow(row.line, row.cells) for row in rows)
            yield _blanks_apart(Grid("text", at, end, (labels,), body, exact=False))
        at = max(end, at + 1) if head else at + 1


def _above_numbers(lines: Sequence[Line], at: int) -> _Row | None:
    """The first of some lines with bars around and between as many cells, if it has three or more;
    whether these are numbers is to be seen."""
    texts = [line.text.strip() for line in lines[max(0, at - 1) : at + 2]]
    if not _BARRED.fullmatch(texts[-1]) or not _BARRED.fullmatch(lines[at].text.strip()):
        return None
    return None if at and texts[0].startswith("|") else _cells(lines[at])


_BARRED = re.compile(r"\|(?:[^|]{1,80}\|){3,40}")


def _all_numbers(head: _Row, rows: Sequence[_Row]) -> bool:
    """Whether all cells are numbers but the labels in the first line of a table, one of which says
    what was measured, or those in the first column, where all that stands above it is numbers."""
    texts = [[cell.text for cell in row.cells] for row in (head, *rows)]
    first = [row[0] for row in texts]
    behind = [all(_number(t.rstrip("% ")) or _NOTHING.fullmatch(t) for t in row[1:])
              for row in texts]  # fmt: skip
    if all(behind):
        named = all(any(map(str.isalpha, text)) for text in first)
        return named and len({*first}) == len(first) and any(map(MEASURES.search, first[1:]))
    labelled = all(any(map(str.isalpha, text)) for text in texts[0])
    measured = any(MEASURES.search(text) for text in texts[0])
    return len(rows) >= ROWS and labelled and measured and all(behind[1:])


_PIECE = re.compile(r"\S+(?: \S+)*")

_NOTHING = re.compile(r"(?:OOM|nan|none|n/?a|fail(?:ed)?|[-–—]+)?", re.IGNORECASE)
"""A cell that says of all that its column holds that there is none."""


def _blanks_apart(grid: Grid) -> Grid:
    """The grid with columns that hold several each, which blanks keep apart in the label and in
    every row, in columns of their own: `fwd (ms)  fwd TFLOPS |  bwd (ms)  bwd TFLOPS`."""
    head = grid.heads[-1]
    many = [len(_PIECE.findall(cell.text)) for cell in head.cells]
    for at, count in enumerate(many):
        texts = [row.cells[at].text for row in grid.rows]
        if count > 1 and not (
            not all(map(_NOTHING.fullmatch, texts))
            and all(_NOTHING.fullmatch(text) or len(_pieces(text, count)) == count
                    for text in texts)
        ):  # fmt: skip
            many[at] = 1
    if max(many, default=1) == 1:
        return grid

    def apart(row: GridRow) -> GridRow:
        cells = (
            part
            for cell, count in zip(row.cells, many, strict=True)
            for part in (_parts(cell, count) if count > 1 else [cell])
        )
        return GridRow(row.line, tuple(cells))

    return replace(grid, heads=(*grid.heads[:-1], apart(head)), rows=tuple(map(apart, grid.rows)))


def _pieces(text: str, many: int) -> list[re.Match[str]]:
    """The pieces of a cell: numbers may stand one blank apart."""
    found = list(_PIECE.finditer(text))
    words = list(re.finditer(r"\S+", text))
    numbers = len(words) == many and all(_number(word[0]) for word in words)
    return words if len(found) != many and numbers else found


def _parts(cell: GridCell, many: int) -> list[GridCell]:
    """The cells that one holds; what says nothing says it of each of them."""
    if _NOTHING.fullmatch(cell.text):
        return [cell] * many
    return [
        cell._replace(text=piece[0], column=cell.column + piece.start())
        for piece in _pieces(cell.text, many)
    ]


def _number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "").isdecimal()


def _is_rule(text: str) -> bool:
    return _CROSSED.search(text) is not None and _RULE.fullmatch(text) is not None


def _table(lines: Sequence[Line], rule: int) -> tuple[Grid | None, int]:
    """The table whose first rule is at `rule`: above its header, or right below it; where to go on.

    Of lines that make no table here, none makes one from a later rule of them.
    """
    behind, heads = _rows(lines, rule + 1)
    begin, at = rule, behind + 1
    above = _row_of(lines[rule - 1]) if rule else []
    if above and (not heads or len(above[0].cells) == len(heads[0].cells)):
        begin, heads, at = rule - 1, above, rule + 1
    elif behind >= len(lines) or not _is_rule(lines[behind].text) or len(heads) > MOST_HEADS:
        return None, rule + 1
    width = len(heads[0].cells) if heads else 0
    if width < 2:
        return None, rule + 1
    segments: list[list[_Row]] = []
    while True:
        at, segment = _rows(lines, at, width)
        if segment:
            segments.append(segment)
        if not segment or at >= len(lines) or not _is_rule(lines[at].text):
            break
        at += 1
    ruled = len(segments) > 1
    body = [row for segment in segments for row in _joined(segment, ruled=ruled)]
    body = [row for row in body if any(not _DOTS.fullmatch(cell.text) for cell in row.cells)]
    if not body or (_restructured(lines[begin:at]) and not any(map(_several, segments))):
        return None, max(at, rule + 1)  # docutils tells spans better
    labels = _labels(heads)
    return _blanks_apart(Grid("text", begin, at, (labels,), tuple(body), exact=False)), at


def _row_of(line: Line) -> list[_Row]:
    row = _cells(line)
    return [row] if row and not _is_rule(line.text) else []


def _rows(lines: Sequence[Line], at: int, width: int = 0) -> tuple[int, list[_Row]]:
    """The rows from a line on, as wide as the first of them, and where they end."""
    found: list[_Row] = []
    while at < len(lines) and not _is_rule(lines[at].text):
        row = _cells(lines[at])
        if row is None or len(row.cells) != (width or len(row.cells)):
            break
        width = len(row.cells)
        found.append(row)
        at += 1
    return at, found


def _cells(line: Line) -> _Row | None:
    """The cells of a line between bars; None where it has none."""
    bars = [found.start() for found in _BARS.finditer(line.text)]
    if not bars:
        return None
    begin = 0 if line.text[: bars[0]].strip() or len(bars) == 1 else bars[0] + 1
    end = len(line.text) if line.text[bars[-1] + 1 :].strip() or len(bars) == 1 else bars[-1]
    edges = [begin, *(bar + 1 for bar in bars if begin <= bar < end)]
    ends = [*(bar for bar in bars if begin <= bar < end), end]
    cells = []
    for first, last in zip(edges, ends, strict=True):
        text = line.text[first:last]
        lead = len(text) - len(text.lstrip())
        cells.append(GridCell(text.strip(), line.number, line.column + first + lead))
    return _Row(line, tuple(cells))


def _labels(heads: Sequence[_Row]) -> GridRow:
    """The header of its lines, without the rule and the types of a data frame below its labels."""
    kept = [row for row in heads if any(set(cell.text) - set("-") for cell in row.cells)]
    while len(kept) > 1 and all(
        _DTYPE.fullmatch(cell.text) for cell in kept[-1].cells if cell.text
    ):
        kept.pop()
    return _joined_row(kept or heads[:1])


def _joined(rows: Sequence[_Row], *, ruled: bool) -> Iterator[GridRow]:
    """Rows of the lines between two rules, each with the lines that go on with it; where there are
    rules between rows, it is one row unless each line says something in most cells."""
    held: list[_Row] = []
    several = not ruled or _several(rows)
    for row in rows:
        if held and several and row.whole:
            yield _joined_row(held)
            held = []
        held.append(row)
    if held:
        yield _joined_row(held)


def _joined_row(rows: Sequence[_Row]) -> GridRow:
    cells = []
    for stack in zip(*(row.cells for row in rows), strict=True):
        first = next((cell for cell in stack if cell.text), stack[0])
        cells.append(first._replace(text=" ".join(cell.text for cell in stack if cell.text)))
    return GridRow(rows[0].line, tuple(cells))


def _restructured(lines: Sequence[Line]) -> bool:
    """Whether a table is drawn as reStructuredText draws its own: `+---+` around every row."""
    return all(line.text.lstrip()[:1] in ("+", "|") for line in lines) and any(
        line.text.lstrip().startswith("+") for line in lines
    )


def _several(segment: Sequence[_Row]) -> bool:
    """Whether lines between two rules are rows of their own: each says something in most cells."""
    return len(segment) > 1 and all(
        3 * sum(bool(cell.text) for cell in row.cells) >= 2 * len(row.cells) for row in segment
    )
