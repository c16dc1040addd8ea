"""Records and their cells, lines and statements, spans and diagnostics.

Everything here is a value. A fault in an input is a `Diagnostic`, collected and printed; never
raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import polars as pl

Origin = Literal["measured", "published", "estimated"]
"""Who says the number: a clock, a document, or another model."""

ValueOrigin = Literal["printed", "stated", "solved", "assumed", "corrected"]
"""How a value came to its row."""

State = Literal["value", "outcome", "unknown", "missing"]
"""Kind of a cell: a value, an outcome (`OOM`), known to be unknown (`GB`), or empty."""

BASE = ("source", "line", "column", "host", "rank", "timestamp", "mark", "other")
"""Columns of every frame beside its schema's own: where the record stands, what was peeled off,
`mark` (truncated, repaired) and `other` (cells that no column declares, as name and text)."""

REMEMBERED = 2**14
"""Lines of which it is kept what they say: a document is asked for each of its tables what the
lines above it say, which tables share, and for its statements once more."""

Schema = Any
"""A pandera model class; `Any`, because its metaclass hides that classes are hashable."""


class Code(StrEnum):
    """The closed set of things that can be wrong with an input."""

    SYNTAX = "syntax"  # the line starts like a record of its format and does not go on like one
    UNDECODABLE = "undecodable"  # a value does not match the terminal of its column
    OUT_OF_RANGE = "out-of-range"  # a value fails the check of its column
    UNSET = "unset"  # a remark: a cell that says it has no value yet is left empty
    CELL_COUNT = "cell-count"  # a table row with a cell too many or too few
    TRUNCATED = "truncated"  # a record that stops before its end
    CUT_SHORT = "cut-short"  # a remark: an input that stops before its own end
    TOO_LONG = "too-long"  # a line longer than the limit
    AMBIGUOUS = "ambiguous"  # two formats claim one line
    INCOMPLETE = "incomplete"  # a block that lacks lines its format prints
    SUPERSEDED = "superseded"  # a remark: a restarted job printed these iterations again
    REPAIRED = "repaired"  # a remark: a record was put together from parts, or taken from others
    CAPPED = "capped"  # a remark: so many things are alike that not all were compared
    UNREADABLE = "unreadable"  # an input that cannot be opened or decompressed


CELLS = (Code.UNDECODABLE, Code.OUT_OF_RANGE, Code.UNSET)
"""Faults of one cell; as a remark each costs that cell alone."""


class Span(NamedTuple):
    """Where something stands in the original input; line and column count from 1."""

    source: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}"


class Diagnostic(NamedTuple):
    """Something wrong at a place; `message` says what was expected, `text` what stands there."""

    span: Span
    code: Code
    message: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.span}: {self.code}: {self.message}"

    def of_a_cell(self) -> Diagnostic:
        """The same where the record stands without the cell."""
        return self._replace(message=f"{self.message}; it is left empty, the record stands")

    def of_one(self) -> Diagnostic:
        """The same of one record of a line on which others stand."""
        return self._replace(message=f"{self.message}; this row of its line is left out")


class Cell(NamedTuple):
    """One printed value of a record, before its column's type is applied.

    `text` is the number or word itself; `scale` turns its printed unit into the column's unit;
    `kind` overrides the column's kind where the cell shows another one (a suffix makes it nominal).
    """

    text: str
    line: int
    column: int = 1
    scale: float = 1.0
    kind: str | None = None
    state: State = "value"
    value_origin: ValueOrigin = "printed"
    law: str | None = None  # for inferred and assumed values: what they rest on


@dataclass(frozen=True, eq=False)
class Alike:
    """The rows that one record stands for: they say what it says, each in digits of its own.

    `texts` has the digits by field, `others` by their place among the cells that no column
    declares; `place` tells the column in which the text of a field stands in one of the rows.
    """

    lines: pl.Series
    texts: Mapping[str, pl.Series]
    others: Mapping[int, pl.Series]
    place: Callable[[int, str], int]


@dataclass(slots=True)
class Record:
    """One row to be: cells by field name of the frame's schema, the rest under its own label.

    Where it stands for many rows, its own cells are those of the first of them.
    """

    line: int
    cells: dict[str, Cell]
    column: int = 1
    frame: str = ""  # which frame of its format; empty where the format has one only
    other: list[tuple[str, str]] = field(default_factory=list)  # cells no column declares
    mark: str | None = None  # truncated, repaired
    tabled: bool = False  # a row beside others: what one run prints of itself says nothing of it
    prefix: Mapping[str, str] = field(default_factory=dict)  # host, rank, … peeled off the line
    overridden: dict[str, Cell] = field(default_factory=dict)  # said above, printed otherwise here
    spelled: dict[str, tuple[str, str]] = field(default_factory=dict)  # under another label
    alike: Alike | None = None  # the rows that it stands for, itself among them
    noted: Sequence[tuple[Line, bool]] = ()  # its footnotes, each surely of all of it or not
    opened: tuple[int, str] | None = None  # line and text of what stands over its table

    def places(self) -> Iterator[tuple[int, int]]:
        """Line and column of every row that the record stands for."""
        for line in [self.line] if self.alike is None else self.alike.lines.to_list():
            yield line, self.column

    def texts(self, name: str) -> list[str]:
        """The text of a cell in every row that the record stands for."""
        if self.alike is None or name not in self.alike.texts:
            return [self.cells[name].text] * (1 if self.alike is None else len(self.alike.lines))
        return self.alike.texts[name].to_list()

    def each(self) -> Iterator[Record]:
        """Every row that the record stands for, as a record of its own."""
        if self.alike is None:
            yield self
            return
        lines = self.alike.lines.to_list()
        own = {name: self.texts(name) for name in self.alike.texts if name in self.cells}
        others = {at: texts.to_list() for at, texts in self.alike.others.items()}
        for row, line in enumerate(lines):
            cells = {
                name: cell._replace(
                    text=own[name][row] if name in own else cell.text,
                    line=line if cell.line == self.line else cell.line,
                )
                for name, cell in self.cells.items()
            }
            other = [
                (label, others[at][row] if at in others else text)
                for at, (label, text) in enumerate(self.other)
            ]
            yield replace(self, line=line, cells=cells, other=other, alike=None)


@dataclass(frozen=True)
class Statement:
    """One line of configuration: field → cell, and where in the document it stands."""

    line: int
    section: tuple[int, ...]  # the headings it stands under, outermost first
    values: Mapping[str, Cell]
    size: float | None = None  # of a labelled model line
    backward: bool = False
    outright: bool = False  # says of itself that it holds above too, in whatever section
    of_run: bool = False  # what a run says of itself holds for all below, under any heading
    subject: str = ""  # a block of statements under this name speaks for rows of this name
    environment: bool = False  # under a heading about machines: it holds for the whole document
    host: bool = False  # what a notebook prints of the machine that it ran on
    caption: bool = False  # of the table right above it, if there is one
    here: bool = False  # its subject is meant in its own section alone
    until: int = 0  # the last line of the table that it is the title of; it is of no other
    since: int = 0  # the first line of that table, where it stands below it


class Line(NamedTuple):
    """A line as formats see it: prefix peeled, escape sequences removed."""

    number: int
    text: str
    column: int  # where `text` begins in the original line
    prefix: Mapping[str, str]
