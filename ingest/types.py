"""What ingest is made of: spans, diagnostics, formats, records, readings.

Everything here is a value. A fault in an input is a `Diagnostic`, collected and printed; never
raised. `Reading` holds the good and the refused together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    import polars as pl
    from assay.ingest.source import Source

Origin = Literal["measured", "published", "estimated"]
"""Who says the number: a clock, a document, or another model."""

ValueOrigin = Literal["printed", "context", "inferred", "assumed", "corrected"]
"""How a value came to its row."""

State = Literal["value", "outcome", "unknown", "missing"]
"""What a cell holds: a value, an outcome (`OOM`), something known to be unknown (`GB`), nothing."""


BASE = ("source", "line", "column", "host", "rank", "timestamp", "mark", "other")
"""Columns of every frame beside its schema's own: where the record stands, what was peeled off,
`mark` (truncated, repaired) and `other` (cells that no column declares, as name and text)."""

RESERVED = ("provenance", "quarantine", "sources")
"""Frames that stand beside those of the formats; no format may be called so."""


Schema = Any
"""A pandera model class; `Any`, because its metaclass hides that classes are hashable."""


class Code(StrEnum):
    """The closed set of things that can be wrong with an input."""

    SYNTAX = "syntax"  # the line starts like a record of its format and does not go on like one
    UNDECODABLE = "undecodable"  # a value does not match the terminal of its column
    OUT_OF_RANGE = "out-of-range"  # a value fails the check of its column
    CELL_COUNT = "cell-count"  # a table row with a cell too many or too few
    TRUNCATED = "truncated"  # a record that stops before its end
    TOO_LONG = "too-long"  # a line longer than the limit
    AMBIGUOUS = "ambiguous"  # two formats claim one line
    INCOMPLETE = "incomplete"  # a block that lacks lines its format prints
    SUPERSEDED = "superseded"  # a remark: a restarted job printed these iterations again
    REPAIRED = "repaired"  # a remark: a record was put together from parts, or taken from others
    UNREADABLE = "unreadable"  # an input that cannot be opened or decompressed


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


@dataclass
class Record:
    """One row to be: cells by field name of the frame's schema, the rest under its own label."""

    line: int
    cells: dict[str, Cell]
    column: int = 1
    frame: str = ""  # which frame of its format; empty where the format has one only
    other: list[tuple[str, str]] = field(default_factory=list)  # cells no column declares
    mark: str | None = None  # truncated, repaired
    prefix: Mapping[str, str] = field(default_factory=dict)  # host, rank, … peeled off the line
    overridden: dict[str, Cell] = field(default_factory=dict)  # said above, printed otherwise here
    spelled: dict[str, tuple[str, str]] = field(default_factory=dict)  # under another label


@dataclass(frozen=True)
class Statement:
    """One line of configuration: field → cell, and where in the document it stands."""

    line: int
    section: tuple[int, ...]  # the headings it stands under, outermost first
    values: Mapping[str, Cell]
    size: float | None = None  # of a labelled model line
    backward: bool = False
    of_run: bool = False  # what a run says of itself holds for all below, under any heading


@dataclass
class Folded:
    """What a format made of a region. Each line number stands in one of the four at most."""

    records: list[Record] = field(default_factory=list)
    raw: list[pl.DataFrame] = field(default_factory=list)  # rows of the first frame, see `decode`
    claimed: set[int] = field(default_factory=set)  # every line used, the records' own included
    parts: set[tuple[int, int]] | None = None  # line and column of each claim, if lines are shared
    blank: set[int] = field(default_factory=set)  # filler rows
    statements: list[Statement] = field(default_factory=list)  # configuration of rows below
    refused: list[Diagnostic] = field(default_factory=list)
    remarks: list[Diagnostic] = field(default_factory=list)  # refuse nothing, are worth a word


class Line(NamedTuple):
    """A line as formats see it: prefix peeled, escape sequences removed."""

    number: int
    text: str
    column: int  # where `text` begins in the original line
    prefix: Mapping[str, str]


@dataclass(frozen=True)
class Region:
    """The lines a format is given: those with one of its heads, or its whole document.

    Lines in `read` have been read: no record may begin there, they are what stands below others.
    """

    source: Source
    lines: Sequence[Line]
    read: frozenset[int] = frozenset()

    def cut(self, line: Line) -> bool:
        """Whether the input ends inside this line, or this part of a line."""
        return self.source.cut(line.number) and line.column >= self.lines[-1].column


@dataclass(frozen=True)
class CellLayout:
    """Records are lines of labelled cells between `separator`s: they may be read column by column.

    Nothing is described twice. The fold of the format reads one example of each layout met in an
    input, that line alone; its record says which text is a value, the rest is labels. Lines with
    the same labels, spelled the same, whose values match the terminals of their columns are then
    split by polars; whatever differs goes to the fold, line by line. So a format may declare this
    if, for one line of one record, the fold gives the same record when other numbers stand in it.

    Where a record may go on in the lines below it, `reach` says how many of them its fold looks at,
    and `goes_on` tells from the record's text and the text of such a line (both peeled) whether the
    line may be a part of it ("joins"), is passed over ("passed"), or ends it ("ends"). Blank lines
    and those of other ranks are passed over and never asked for. A line in which `may_go_on` of the
    record's text (polars' syntax) is not found, blanks put for those of HTML, ends it for certain.
    Neither may depend on which digits stand where there are some.
    """

    separator: str
    reach: int = 0
    goes_on: Callable[[str, str], Follower] | None = None
    may_go_on: Callable[[str], str] | None = None


Follower = Literal["joins", "passed", "ends"]
"""What a line below a record is to it."""


class Reach(NamedTuple):
    """How many lines below one that opens something may belong to it.

    Fewer, where a line with `closed` (polars' syntax) closes what was opened.
    """

    lines: int
    closed: str | None = None


@dataclass(frozen=True)
class Format:
    """A format is data: grammar, fixture folder and output names follow from `name`.

    `heads` are literals, one of which stands on every line that begins a record; `lines` says
    whether records are single lines (the format then sees only lines with a head, and as many lines
    after one that matches a key of `reach`, in polars' syntax, as it says) or blocks of a document
    (it then sees every line of a file that has a head somewhere). Records of `glued` formats may
    share a physical line, each with its own column. Two records of one host and rank that agree in
    the fields `repeats` are the same one printed twice: the later counts, the earlier is marked.
    """

    name: str
    heads: tuple[str, ...]
    schemas: Mapping[str, Schema]  # frame name → pandera model; the first is the main one
    origin: Origin
    fold: Callable[[Region], Folded]
    lines: Literal["single", "document"] = "single"
    opens: str | None = None  # what a record or a document begins with also matches this (polars)
    reach: Mapping[str, Reach] = field(default_factory=dict)
    glued: bool = False
    repeats: tuple[str, ...] = ()
    binds: bool = True  # whether configuration outside a record is bound to it
    cells: CellLayout | None = None  # where its main frame can be read column by column


class Overridden(NamedTuple):
    """A value that a statement above a row gives, where the row itself prints another one."""

    source: str
    line: int  # of the row
    frame: str
    field: str
    value: float
    at: Span  # of the statement


@dataclass(frozen=True)
class Accounting:
    """lines = claimed + refused + blank + not ours; `suspicious` is a part of not ours."""

    source: str
    sha256: str
    lines: int
    claimed: int
    refused: int
    blank: int
    not_ours: int
    suspicious: tuple[int, ...] = ()  # lines not ours with a number beside a performance unit


class Table(Protocol):
    """Rows that are too many for the memory, in order, some at a time."""

    @property
    def height(self) -> int:
        """How many there are."""
        ...

    @property
    def types(self) -> Mapping[str, pl.DataType]:
        """Their columns, in order."""
        ...

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows; a frame may lack columns that are empty in it, and the first may be empty."""
        ...


@dataclass(frozen=True)
class Reading:
    """What was read from one input or many.

    `frames`: one validated frame per frame name, sorted by (source, line). `provenance`: one row
    per value that was not simply printed in its row, see `assay.ingest.accept.PROVENANCE`.
    """

    frames: Mapping[str, pl.DataFrame]
    provenance: pl.DataFrame
    refused: tuple[Diagnostic, ...]
    remarks: tuple[Diagnostic, ...]
    accounting: tuple[Accounting, ...]
    raw: Mapping[Span, bytes] = field(default_factory=dict)  # refused lines as they stand on disk
    overridden: tuple[Overridden, ...] = ()  # statements that rows contradict
    formats: tuple[Format, ...] = ()  # those it was read with: what its frames mean
    streams: Mapping[str, Table] = field(default_factory=dict)  # in place of frames, provenance


@dataclass(frozen=True)
class Outcome:
    """What became of several inputs: the reading, and the inputs that gave none."""

    reading: Reading
    unreadable: tuple[Diagnostic, ...] = ()  # could not be opened, decompressed or understood

    @property
    def unrecognised(self) -> tuple[str, ...]:
        """Inputs that were opened and of which no format knows a line."""
        accounts = self.reading.accounting
        return tuple(a.source for a in accounts if a.claimed + a.refused == 0)
