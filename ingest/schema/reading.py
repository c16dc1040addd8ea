"""Reading of inputs: frames, their provenance, refusals, and the account of every line.

`Reading` holds the good and the refused together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from assay.ingest.schema.fields import Rows, rows_of
from assay.ingest.schema.format import Format, TableNote
from assay.ingest.schema.record import Code, Diagnostic, Schema, Span

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    import polars as pl

PORTION = 100_000
"""Rows in memory at a time, and in a row group of the files."""

RESERVED = ("provenance", "quarantine", "sources", "statements", "cases")
"""Frames that stand beside those of the formats; no format may be called so."""


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
    tables: tuple[TableNote, ...] = ()  # met, whether rows of them were read or not
    of: Literal["line", "event"] = "line"  # what is counted: a trace is no text of lines


class Held(NamedTuple):
    """One frame of a reading, and the format that made it."""

    name: str
    kind: Rows
    frame: pl.DataFrame
    schema: Schema
    format: Format


class Table(Protocol):
    """Rows that are too many for the memory, in order, some at a time."""

    @property
    def height(self) -> int:
        """Number of rows."""
        ...

    @property
    def types(self) -> Mapping[str, pl.DataType]:
        """Their columns, in order."""
        ...

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows; a frame may lack columns that are empty in it, and the first may be empty."""
        ...


@dataclass(frozen=True, eq=False)
class Long:
    """A frame's rows of one long input, of which the reading holds a part in memory.

    Every row is in `file`. `kept` says which are in memory, at which place of all, and for how many
    rows each of them stands: line, column, at, rows. `single` is a row of the columns that have one
    value throughout. `alike` is by row the number of those that differ in nothing but measurements,
    and are odd in the same way or in none; `home` is the folder of the file, and goes with the last
    that needs it.
    """

    source: str
    frame: str
    file: Path
    kept: pl.DataFrame
    single: pl.DataFrame
    alike: npt.NDArray[np.unsignedinteger]
    home: object = None

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.alike)

    def portion(self, names: Sequence[str], begin: int, end: int) -> pl.DataFrame:
        """These columns of the rows from a place to another; one value takes no memory."""
        polars = import_module("polars")
        own = [name for name in names if name not in self.single.columns]
        scan = polars.scan_parquet(self.file).select("line", *(n for n in own if n != "line"))
        held = scan.slice(begin, end - begin).collect(engine="in-memory")
        same = (name for name in names if name in self.single.columns)
        alike = (polars.lit(self.single[name]).first().alias(name) for name in same)
        return held.with_columns(alike).select(names)  # type: ignore[no-any-return]

    def portions(
        self, names: Sequence[str], begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, pl.DataFrame]]:
        """These columns of the rows from a place to another, some at a time, each with its place.

        Rows that lie together in the file come together; there is one portion at least.
        """
        last = self.height if end is None else end
        for at in range(begin // PORTION * PORTION, max(last, begin + 1), PORTION):
            first = max(at, begin)
            yield first, self.portion(names, first, min(at + PORTION, last))


@dataclass(frozen=True)
class Reading:
    """Frames, provenance, refusals and accounts from one input or many.

    `frames`: one validated frame per frame name, sorted by (source, line). `provenance`: one row
    per value that was not simply printed in its row, see `acceptance.PROVENANCE`. `statements`:
    what documents say of configuration, see `statement_frame.STATEMENTS`. `memo` keeps
    what follows from this reading alone; a copy with other values begins anew.
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
    long: tuple[Long, ...] = ()  # inputs of which `frames` hold some rows only
    statements: pl.DataFrame | None = None  # none where no input was looked at for them
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def with_rows(self, *kinds: Rows) -> Iterator[Held]:
        """The frames whose rows are of one of `kinds` and that hold any.

        They come in the order of their formats; what is told by its shape alone comes last.
        """
        seen: set[str] = set()
        for fmt in sorted(self.formats, key=lambda each: each.behind):
            for name, schema in fmt.schemas.items():
                frame, kind = self.frames.get(name), rows_of(schema, fmt.origin)
                if kind not in kinds or frame is None or frame.is_empty() or name in seen:
                    continue
                seen.add(name)
                yield Held(name, kind, frame, schema, fmt)


@dataclass(frozen=True)
class Outcome:
    """Result of reading several inputs: the reading, and the inputs that gave none."""

    reading: Reading
    unreadable: tuple[Diagnostic, ...] = ()  # could not be opened, decompressed or understood

    @property
    def unrecognised(self) -> tuple[str, ...]:
        """Inputs that were opened and of which no format knows a line."""
        accounts = self.reading.accounting
        return tuple(a.source for a in accounts if a.claimed + a.refused == 0)

    @property
    def empty(self) -> frozenset[str]:
        """Those of them that hold nothing but blank lines, if any."""
        accounts = self.reading.accounting
        return frozenset(a.source for a in accounts if a.of == "line" and a.lines == a.blank)


def cut_short(reading: Reading) -> list[str]:
    """Sentences on inputs that stop before their own end: what is missing of them nobody knows."""
    said = [str(remark) for remark in reading.remarks if remark.code == Code.CUT_SHORT]
    more = len(said) - CUT
    return [*said[:CUT], *([f"… and {more:,} more inputs that are cut short"] if more > 0 else [])]


CUT = 3
"""Inputs that are cut short and named."""


def table_left(source: str, note: TableNote) -> str:
    """A sentence on what was not understood of a table; empty where nothing is left.

    >>> table_left("a.md", TableNote(7, "html", ("BERT", "ours"), 3, 0, (), ("ours",), 12))
    'a.md:7: no row of an HTML table of 3 rows with numbers: BERT | ours'
    """
    kind = {
        "html": "an HTML", "csv": "a CSV", "tsv": "a TSV", "rst": "an RST", "text": "a text",
        "wiki": "a wiki", "latex": "a LaTeX",
    }  # fmt: skip
    if note.rows and not note.read:
        return (
            f"{source}:{note.line}: no row of {kind.get(note.syntax, 'a Markdown')} table of "
            f"{note.rows:,} row{'s' if note.rows > 1 else ''} with numbers: "
            f"{_short(note.header)}"
        )
    if note.not_understood:
        return f"{source}:{note.line}: columns not understood: {_short(note.not_understood)}"
    return ""


def _short(labels: tuple[str, ...]) -> str:
    text = " | ".join(labels)
    return text if len(text) <= MOST else f"{text[:MOST]} … ({len(labels)} columns)"


MOST = 160
"""Letters of labels that are shown of one table."""
