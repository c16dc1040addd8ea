"""A format, what it is given, and what it makes of that.

A format is data and one function, its `fold`: from a `Region` of lines to `Folded` records. Nothing
here reads: how lines come from bytes is the business of `assay.ingest.source`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, Protocol

from assay.ingest.schema.record import (
    Cell,
    Diagnostic,
    Line,
    Origin,
    Record,
    Schema,
    Span,
    Statement,
)

if TYPE_CHECKING:
    import polars as pl


class Input(Protocol):
    """The part of an input that a fold may ask for."""

    @property
    def name(self) -> str:
        """Its name, as spans show it."""
        ...

    def cut(self, line: int) -> bool:
        """Whether the input ends inside this line."""
        ...


class Whole(Protocol):
    """As much of an input as a format may ask for that reads all of it by itself."""

    name: str
    fault: str  # why a compressed stream stopped early
    remarks: list[Diagnostic]

    @property
    def begin(self) -> Callable[[], BinaryIO]:
        """Opens it, as it stands on disk."""
        ...

    @property
    def sha256(self) -> str:
        """The digest of the input as it stands on disk."""
        ...

    def chunks(self) -> Iterator[bytes]:
        """The input, decompressed."""
        ...


@dataclass(frozen=True)
class Region:
    """The lines a format is given: those with one of its heads, or its whole document.

    Lines in `read` have been read: no record may begin there, they are what stands below others.
    """

    source: Input
    lines: Sequence[Line]
    read: frozenset[int] = frozenset()

    def cut(self, line: Line) -> bool:
        """Whether the input ends inside this line, or this part of a line."""
        return self.source.cut(line.number) and line.column >= self.lines[-1].column


class TableNote(NamedTuple):
    """One table that was met: `rows` have digits, `read` gave records.

    `header` has its labels, `understood` those whose cells filled a field, `not_understood` those
    of columns with digits that filled none.
    """

    line: int
    syntax: str
    header: tuple[str, ...]
    rows: int
    read: int
    understood: tuple[str, ...]
    not_understood: tuple[str, ...]
    last: int
    remark: str = ""  # commented out, or nested in a cell of another


@dataclass
class Folded:
    """Result of a format on a region. Each line number stands in one of the four at most."""

    records: list[Record] = field(default_factory=list)
    raw: list[pl.DataFrame] = field(default_factory=list)  # of the first frame, see `raw_frame`
    claimed: set[int] = field(default_factory=set)  # every line used, the records' own included
    shared: set[int] = field(default_factory=set)  # claimed for a part: the rest may be a statement
    parts: set[tuple[int, int]] | None = None  # line and column of each claim, if lines are shared
    blank: set[int] = field(default_factory=set)  # filler rows
    statements: list[Statement] = field(default_factory=list)  # configuration of rows below
    pairs: list[tuple[Line, tuple[int, ...]]] = field(default_factory=list)  # which may be more
    refused: list[Diagnostic] = field(default_factory=list)
    remarks: list[Diagnostic] = field(default_factory=list)  # refuse nothing, are worth a word
    tables: list[TableNote] = field(default_factory=list)  # met, whether read or not
    models: dict[str, dict[str, Cell]] = field(default_factory=dict)  # what they are, by name
    machines: dict[str, dict[str, Cell]] = field(default_factory=dict)  # what computes in them


@dataclass(frozen=True)
class Made:
    """Rows that a format made of an input that is no text of lines, and what became of it.

    `frames` are typed and checked; `records` are not, those of many inputs are typed together.
    `claimed` and `not_ours` count what the input is made of, `refused` says the rest.
    """

    frames: Mapping[str, pl.DataFrame]
    claimed: int
    not_ours: int
    refused: tuple[Diagnostic, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()
    raw: Mapping[Span, bytes] = field(default_factory=dict)
    records: Sequence[Record] = ()  # of the first frame where they name none


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
    and those of other ranks are passed over and never asked for. A line without a label of a metric
    in which `may_go_on` of the record's text (polars' syntax) is not found, blanks put for those of
    HTML, ends it for certain.
    Neither may depend on which digits stand where there are some.
    """

    separator: str
    reach: int = 0
    goes_on: Callable[[str, str], Follower] | None = None
    may_go_on: Callable[[str], str] | None = None


Follower = Literal["joins", "passed", "ends"]
"""How a line below a record stands to it."""

LAST = 200
"""Lines at the end of an input that may tell how its last run ended."""


class Closing(NamedTuple):
    """How a format reads what stands behind the last step of an input, among its `LAST` lines.

    `finds` (polars' syntax) is found in every line that `fold` takes; nowhere else in an input is
    it looked for, so words that any program prints may be among those it finds.
    """

    finds: str
    fold: Callable[[Region], Folded]


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
    (it then sees every line of a file that has a head somewhere). A `whole` input is no text of
    lines: `read` makes all of it, where it knows it by its content. Records of `glued` formats may
    share a physical line, each with its own column. Two records of one host and rank that agree in
    the fields `repeats` are the same one printed twice: the later counts, the earlier is marked.
    """

    name: str
    heads: tuple[str, ...]
    schemas: Mapping[str, Schema]  # frame name → pandera model; the first is the main one
    origin: Origin
    fold: Callable[[Region], Folded]
    lines: Literal["single", "document", "whole"] = "single"
    opens: str | None = None  # what a record or a document begins with also matches this (polars)
    reach: Mapping[str, Reach] = field(default_factory=dict)
    glued: bool = False
    repeats: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()  # of names of inputs that a document format looks at anyway
    binds: bool = True  # whether configuration outside a record is bound to it
    cells: CellLayout | None = None  # where its main frame can be read column by column
    read: Callable[[Whole], Made | None] | None = None  # of `whole` formats; None: not one
    unwraps: bool = False  # whether it reads what lines carry by itself
    behind: bool = False  # whether it sees only the lines that no other format has claimed
    before: bool = False  # whether no other format sees the lines that it has claimed
    yields: bool = False  # whether a table whose rows another format claims as well is that one's
    closing: Closing | None = None  # how it reads the end of an input with steps

    def named(self, name: str) -> bool:
        """Whether this format looks at an input because of its name."""
        return uncompressed(name).endswith(self.suffixes) if self.suffixes else False


def whole_format(
    name: str, schemas: Mapping[str, Schema], read: Callable[[Whole], Made | None]
) -> Format:
    """A format whose inputs are no text of lines: each is read by itself into frames."""
    return Format(
        name=name,
        heads=(),
        schemas=schemas,
        origin="measured",
        fold=_nothing,
        lines="whole",
        binds=False,
        read=read,
    )


def _nothing(_region: Region) -> Folded:
    """Nothing: no line of text is a record of such an input."""
    return Folded()


COMPRESSED = (".gz", ".zst", ".bz2", ".xz")


def uncompressed(name: str) -> str:
    """The name of an input without case, and without the ending that compression gives it.

    >>> uncompressed("Runs.CSV.gz")
    'runs.csv'
    """
    bare = name.casefold()
    for suffix in COMPRESSED:
        bare = bare.removesuffix(suffix)
    return bare
