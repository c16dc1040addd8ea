"""Databases that profilers export: tables of what devices and hosts did, row by row.

In: an SQLite database, packed or not. Out: its rows, and `Collected` filled with those that last. A
row stands at its number in its table; a damaged table costs what stands behind the damage.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.ingest.formats.traces.collect import Collected
from assay.ingest.formats.traces.trace_tables import made
from assay.ingest.schema.format import Made, Whole
from assay.ingest.schema.record import Code, Diagnostic, Span
from assay.ingest.source.opening import packed

MAGIC = b"SQLite format 3\x00"
OPERATOR = "aten::"
"""How ranges begin that PyTorch names after operators."""
_LAST = 1e18  # ns: no clock counts further
_DAMAGED = (sqlite3.DatabaseError, UnicodeDecodeError)  # names of columns are read as UTF-8


class Records:
    """Records of one profile in ns, on their way into `Collected`."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.found = Collected()
        self.found.fractions = True  # clocks count in ns
        self.refused: list[Diagnostic] = []
        self.remarks: list[Diagnostic] = []

    def counted(self, key: str) -> None:
        """One more record of a category."""
        self.found.counts["X", key] += 1
        self.found.place += 1

    def refuse(self, table: str, row: int, column: int, why: str, key: str) -> None:
        """A record that cannot be used, and why."""
        self.found.refused["X", key] += 1
        message = f"row {row:,} of {table}: {why}"
        self.refused.append(Diagnostic(Span(self.source, row, column), Code.UNDECODABLE, message))

    def times(self, start: Any, end: Any) -> tuple[float, float] | None:
        """Start and duration in µs; None for what is no pair of times."""
        if type(start) not in (int, float) or type(end) not in (int, float):
            return None
        if not 0 <= end - start < _LAST or abs(start) > _LAST:
            return None
        begin = start / 1e3
        if self.found.first is None or begin < self.found.first:
            self.found.first = begin
        return begin, (end - start) / 1e3

    def range(self, said: str, thread: Any, times: tuple[float, float]) -> None:
        """A named range of a host: an operator where PyTorch named it, else an annotation."""
        found = self.found
        code = found.threads.setdefault((thread, None), len(found.threads))
        if not said.startswith(OPERATOR):
            found.annotations.add(code, *times, found.names.code(said))
            return
        name = said.split(",", 1)[0]
        found.ops.add(code, *times, found.names.code(name), found.place)
        found.op_id.append(-1)
        found.op_sequence.append(-1)
        found.op_forward.append(-1)
        found.op_work.append(found.recorded(name))

    def launch(self, name: str, thread: Any, correlation: Any, times: tuple[float, float]) -> None:
        """A call of the runtime, which may have launched what has its correlation id."""
        found = self.found
        code = found.threads.setdefault((thread, None), len(found.threads))
        found.launches.add(code, *times, found.names.code(name), found.place)
        found.launch_correlation.append(correlation if type(correlation) is int else -1)
        found.launch_id.append(-1)

    def activity(
        self,
        name: str,
        category: int,
        times: tuple[float, float],
        counts: Sequence[Any],
        at: tuple[int, int],
        *,
        graphed: bool = False,
    ) -> None:
        """One activity; `counts`: device, stream, correlation id, bytes; `at`: row, column."""
        known = [each if type(each) is int and 0 <= each < 2**63 else -1 for each in counts]
        self.found.activity(name, category, times, known, graphed=graphed)
        self.found.kernel_line.append(at[0])
        self.found.kernel_column.append(at[1])

    def made(self, gpus: Mapping[int, str | None]) -> Made:
        """The frames; `gpus` names devices by number."""
        models = set(gpus.values())
        alone = models.pop() if len(models) == 1 else None
        names = {**gpus, -1: alone}
        return made(self.source, self.found, names, refused=self.refused, remarks=self.remarks)


class Tables(Records):
    """The records of one database; `tables`: columns of the tables that are wanted, by name."""

    def __init__(
        self, source: str, base: sqlite3.Connection, tables: Mapping[str, frozenset[str]]
    ) -> None:
        super().__init__(source)
        self.base, self.tables = base, tables

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Rows of a table by these columns, null where it has none of a name."""
        if table not in self.tables:
            return
        there = self.tables[table]
        said = ", ".join(f'"{name}"' if name in there else "NULL" for name in columns)
        last = 0
        try:
            for row in self.base.execute(f'SELECT {said} FROM "{table}"'):
                last += 1
                yield row
        except _DAMAGED as fault:
            message = f"table {table} cannot be read beyond this row: {fault}"
            span = Span(self.source, last + 1)
            self.refused.append(Diagnostic(span, Code.TRUNCATED, message))


@contextmanager
def opened(source: Whole) -> Iterator[tuple[sqlite3.Connection, dict[str, frozenset[str]]] | None]:
    """A database with its tables and their columns; None for an input that is none."""
    with _path(source) as path:
        if path is None:
            yield None
            return
        address = f"file:{quote(path)}?mode=ro&immutable=1"
        try:
            base = sqlite3.connect(address, uri=True)
        except sqlite3.DatabaseError:
            yield None
            return
        with closing(base):
            base.text_factory = lambda data: data.decode("utf-8", "replace")
            try:
                tables = _tables(base)
            except _DAMAGED:  # no database after all, or a damaged list of tables
                tables = {}
            yield (base, tables) if tables else None


def _tables(base: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Tables with their columns."""
    names = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: frozenset(
            row[1] for row in base.execute("SELECT * FROM pragma_table_info(?)", (name,))
        )
        for name in names
    }


@contextmanager
def _path(source: Whole) -> Iterator[str | None]:
    """The path of a database: the input's own, or that of a copy where it is packed or no file."""
    with source.begin() as file:
        head = file.read(len(MAGIC))
        name = getattr(file, "name", None)
    if not packed(head) and head != MAGIC:
        yield None
    elif head == MAGIC and isinstance(name, str | Path):
        yield str(Path(name).resolve())
    elif not next(source.chunks(), b"").startswith(MAGIC):
        yield None
    else:
        with tempfile.NamedTemporaryFile(prefix="assay-") as copy:
            for chunk in source.chunks():
                copy.write(chunk)
            copy.flush()
            yield copy.name
