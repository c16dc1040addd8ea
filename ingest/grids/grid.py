"""A table as a grid, whatever it is written in: header rows, rows, cells with place and spans.

Adapters make grids of lines: `pipe_tables` (Markdown), `html_tables`, `delimited` (CSV and TSV),
`restructured` (reStructuredText), `aligned` (plain text), `compared` (timers of PyTorch),
`json_records`, `wiki_tables`, `latex_tables`; `table_rows` makes records of grids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from typing import Literal, NamedTuple

from assay.ingest.schema.record import Line

Syntax = Literal["markdown", "html", "csv", "tsv", "rst", "text", "json", "wiki", "latex"]

MARKED_UP = ("html", "rst", "json", "wiki", "latex")
"""Syntaxes whose tables have lines that are no rows: tags, rules, brackets."""


LONGEST = 1000
"""Characters of a cell beyond which it is prose: no number, label or layout is as long."""


def shown(text: str) -> str:
    """The text of a cell as it is shown: signs for their entities, blanks for each kind of them.

    >>> shown("Step&nbsp;time&nbsp;(s)"), shown("8&times;A100"), shown("S&P, `a && b`, A&#x26;B")
    ('Step time (s)', '8×A100', 'S&P, `a && b`, A&B')
    """
    if "&" in text:
        text = _ENTITY.sub(lambda found: unescape(found[0]), text)
    return text if text.isascii() else text.translate(_BLANKS)


_ENTITY = re.compile(r"&#?[A-Za-z0-9]{2,8};")

_BLANKS = str.maketrans({"\u00a0": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\u202f": " ",
                         "\u200b": None})  # fmt: skip

BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
"""Where a line of a cell ends in HTML."""


class GridCell(NamedTuple):
    """One cell; `line` and `column` are where its text begins, both from 1.

    A cell that spans rows or columns stands at every place that it covers.
    """

    text: str
    line: int
    column: int
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of cells; `line` is the first line of it.

    Adapters give as many cells as are written: whether there are too many is asked by who reads.
    """

    line: Line
    cells: tuple[GridCell, ...]

    @property
    def blank(self) -> bool:
        """Whether no cell holds anything."""
        for cell in self.cells:  # noqa: SIM110 - asked of every row: a generator costs more
            if cell.text:
                return False
        return True

    @property
    def empty(self) -> bool:
        """Whether it is nothing but one cell that holds nothing."""
        return len(self.cells) <= 1 and self.blank

    @property
    def one(self) -> bool:
        """Whether one cell stands over all columns, as a title inside a table does."""
        cells = self.cells
        return len(cells) > 1 and cells[0] == cells[1] and cells.count(cells[0]) == len(cells)


@dataclass(frozen=True)
class Grid:
    """A table: `begin` and `end` are positions among the lines that it was found in."""

    syntax: Syntax
    begin: int
    end: int
    heads: tuple[GridRow, ...]
    rows: tuple[GridRow, ...]
    caption: str = ""
    remark: Literal["", "commented", "nested", "spans", "alone"] = ""  # spans: see `MOST_PLACES`
    closed: bool = False  # whether its rows end with a bar, so that one that does not is cut
    exact: bool = True  # whether a row with a cell too few is a fault of the row
    labels: tuple[str, ...] = field(default=())  # of its columns, where other than `heads` say
    series: str = ""  # unit of the columns whose labels only name what was run

    @property
    def width(self) -> int:
        """Columns, as its last header row has them."""
        return len(self.heads[-1].cells) if self.heads else 0

    def header(self) -> tuple[str, ...]:
        """The label of each column, those of several header rows put together.

        >>> line = Line(1, "", 1, {})
        >>> over = GridCell("TFLOPs", 1, 1, columns=2)
        >>> low = (GridCell("A100", 2, 1), GridCell("H100", 2, 6))
        >>> Grid("html", 0, 2, (GridRow(line, (over, over)), GridRow(line, low)), ()).header()
        ('TFLOPs A100', 'TFLOPs H100')
        """
        return self._header

    @cached_property
    def _header(self) -> tuple[str, ...]:
        if self.labels:
            return self.labels
        return tuple(
            " ".join(dict.fromkeys(cell.text for cell in stack if cell.text))
            for stack in zip(*(row.cells for row in self.heads), strict=False)
        )

    def turned(self) -> Grid:
        """The same with rows for columns: a table whose metrics stand in its first column."""
        every = [*self.heads, *self.rows]
        columns = list(zip(*(row.cells for row in every), strict=True))
        rows = [
            GridRow(every[0].line._replace(number=cells[0].line, column=cells[0].column), cells)
            for cells in columns[1:]
        ]
        head = GridRow(every[0].line, columns[0])
        return replace(self, heads=(head,), rows=tuple(rows), labels=())


class Ragged(NamedTuple):
    """A cell as it is written, before spans are laid out."""

    text: str
    line: int
    column: int
    rows: int
    columns: int


MOST_COLUMNS = 1000
"""Columns that one cell may span: HTML allows no more."""

MOST_PLACES = 50_000
"""Places that cells may span beyond their own: no table that is read is as large."""


class SpansError(Exception):
    """Cells that span more than `MOST_PLACES` places."""


def laid_out(rows: Sequence[Sequence[Ragged]]) -> list[tuple[GridCell, ...]]:
    """Every place of a grid, of rows whose cells span rows and columns to the right and below.

    Raises SpansError where they span more places than `MOST_PLACES`.

    >>> wide, low = Ragged("a", 1, 1, 2, 1), Ragged("b", 1, 5, 1, 1)
    >>> [[cell.text for cell in row] for row in laid_out([[wide, low], [low]])]
    [['a', 'b'], ['a', 'b']]
    """
    held: dict[int, tuple[GridCell, int]] = {}  # column → cell of a row above, rows it still spans
    found = []
    written = places = 0
    for at, row in enumerate(rows):
        cells: dict[int, GridCell] = {}
        column = 0
        for each in row:
            while column in held:
                column += 1
            most = max(1, min(each.columns, MOST_COLUMNS))
            down = max(1, min(each.rows or len(rows), len(rows) - at))
            cell = GridCell(each.text, each.line, each.column, down, most)
            written, places = written + 1, places + most
            if places > written + MOST_PLACES:
                raise SpansError
            for place in range(column, column + most):
                cells[place] = cell
                if down > 1:
                    held[place] = (cell, down)
            column += most
        for place, (cell, _) in held.items():
            cells.setdefault(place, cell)
        places += len(held)
        if places > written + MOST_PLACES:
            raise SpansError
        held = {place: (cell, left - 1) for place, (cell, left) in held.items() if left > 1}
        last = max(cells, default=-1)
        empty = GridCell("", row[0].line if row else 0, 1)
        found.append(tuple(cells.get(place, empty) for place in range(last + 1)))
    return found


def apart(grids: Sequence[Grid]) -> Iterator[Grid]:
    """Grids in the order of their lines; of two that share lines the one found first stands, but
    for tables of HTML or JSON, which may share a line."""
    taken: dict[int, Syntax] = {}
    kept = []
    for grid in grids:
        places = range(grid.begin, grid.end)
        beside = grid.syntax if grid.syntax in ("html", "json") else None
        if grid.remark == "nested" or all(taken.get(at, beside) == beside for at in places):
            taken.update(dict.fromkeys(places, grid.syntax))
            kept.append(grid)
    yield from sorted(kept, key=lambda grid: (grid.begin, grid.end))
