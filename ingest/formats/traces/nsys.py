"""SQLite exports of Nsight Systems (`nsys export --type sqlite`).

In: a database with the tables of CUPTI activities. Out: the frames of
`assay.ingest.formats.traces.trace_frames`. A row stands at the row of its table (`line`), column 1
for kernels, 2 for copies, 3 for fills. NVTX ranges that PyTorch names after operators are
operators, the others annotations; they record no element types, so no shape is known.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.ingest.formats.traces.collect import COPY, FILL, KERNEL, Collected
from assay.ingest.formats.traces.trace_frames import SCHEMAS
from assay.ingest.formats.traces.trace_tables import fold, made
from assay.ingest.schema.format import Format, Made, Whole
from assay.ingest.schema.record import Code, Diagnostic, Span
from assay.ingest.source.opening import packed

MAGIC = b"SQLite format 3\x00"
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
ACTIVITIES = (
    (KERNELS, KERNEL, "kernel"),
    ("CUPTI_ACTIVITY_KIND_MEMCPY", COPY, "gpu_memcpy"),
    ("CUPTI_ACTIVITY_KIND_MEMSET", FILL, "gpu_memset"),
)
"""Tables of what devices did, and the category of their rows."""

RUNTIME, RANGES = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
_NAMES = ("demangledName", "shortName", "mangledName", "nameId")
_OPERATOR = "aten::"
_LAST = 1e18  # ns: no clock counts further


def read(source: Whole) -> Made | None:
    """Read a whole export; None for a file of another kind."""
    with _database(source) as path:
        if path is None:
            return None
        address = f"file:{quote(path)}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(address, uri=True)) as base:
                base.text_factory = lambda data: data.decode("utf-8", "replace")
                tables = _tables(base)
                if KERNELS not in tables and RUNTIME not in tables:
                    return None
                return _Export(source.name, base, tables).read()
        except sqlite3.DatabaseError:
            return None  # no database after all, or one without a readable list of tables


class _Export:
    """One export on its way into `Collected`."""

    def __init__(
        self, source: str, base: sqlite3.Connection, tables: dict[str, frozenset[str]]
    ) -> None:
        self.source, self.base, self.tables = source, base, tables
        self.found = Collected()
        self.found.fractions = True  # clocks count in ns
        self.refused: list[Diagnostic] = []
        self.texts: dict[int, str] = {}

    def read(self) -> Made:
        """Every table that is known; a damaged one costs what stands behind the damage."""
        for number, text in self._rows("StringIds", ("id", "value")):
            if type(number) is int and isinstance(text, str):
                self.texts[number] = text
        self._ranges()
        self._launches()
        for column, (table, category, name) in enumerate(ACTIVITIES, 1):
            self._activities(table, category, name, column)
        gpus = {
            number: str(name)
            for number, name in self._rows("TARGET_INFO_GPU", ("id", "name"))
            if type(number) is int and name
        }
        models: set[str] = set(gpus.values())
        alone = models.pop() if len(models) == 1 else None
        return made(self.source, self.found, {**gpus, -1: alone}, refused=self.refused)

    def _rows(self, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
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
        except sqlite3.DatabaseError as fault:
            message = f"table {table} cannot be read beyond this row: {fault}"
            span = Span(self.source, last + 1)
            self.refused.append(Diagnostic(span, Code.TRUNCATED, message))

    def _refuse(self, table: str, row: int, column: int, why: str, key: str) -> None:
        self.found.refused["X", key] += 1
        message = f"row {row:,} of {table}: {why}"
        self.refused.append(Diagnostic(Span(self.source, row, column), Code.UNDECODABLE, message))

    def _times(self, start: Any, end: Any) -> tuple[float, float] | None:
        """Start and duration in µs; None for what is no pair of times."""
        if not (isinstance(start, int | float) and isinstance(end, int | float)):
            return None
        if not 0 <= end - start < _LAST or abs(start) > _LAST:
            return None
        begin = start / 1e3
        if self.found.first is None or begin < self.found.first:
            self.found.first = begin
        return begin, (end - start) / 1e3

    def _ranges(self) -> None:
        found = self.found
        columns = ("start", "end", "text", "textId", "globalTid")
        for row, (start, end, text, number, thread) in enumerate(self._rows(RANGES, columns), 1):
            said = text if isinstance(text, str) else self.texts.get(number, "")
            operator = said.startswith(_OPERATOR)
            key = "cpu_op" if operator else "user_annotation"
            found.counts["X", key] += 1
            found.place += 1
            if end is None:  # a mark, not a range
                continue
            times = self._times(start, end)
            if times is None:
                self._refuse(RANGES, row, 1, "start and end are no times", key)
                continue
            code = found.threads.setdefault((thread, None), len(found.threads))
            if not operator:
                found.annotations.add(code, *times, found.names.code(said))
                continue
            name = said.split(",", 1)[0]
            found.ops.add(code, *times, found.names.code(name), found.place)
            found.op_id.append(-1)
            found.op_sequence.append(-1)
            found.op_forward.append(-1)
            found.op_work.append(found.recorded(name))

    def _launches(self) -> None:
        found = self.found
        columns = ("start", "end", "nameId", "correlationId", "globalTid")
        for row, (start, end, name, number, thread) in enumerate(self._rows(RUNTIME, columns), 1):
            found.counts["X", "cuda_runtime"] += 1
            found.place += 1
            times = self._times(start, end)
            if times is None:
                self._refuse(RUNTIME, row, 1, "start and end are no times", "cuda_runtime")
                continue
            code = found.threads.setdefault((thread, None), len(found.threads))
            text = found.names.code(self.texts.get(name, ""))
            found.launches.add(code, *times, text, found.place)
            found.launch_correlation.append(number if type(number) is int else -1)
            found.launch_id.append(-1)

    def _activities(self, table: str, category: int, key: str, column: int) -> None:
        found = self.found
        columns = ("start", "end", "deviceId", "streamId", "correlationId", "graphNodeId", "bytes",
                   *_NAMES)  # fmt: skip
        for row, (start, end, device, stream, number, graph, size, *names) in enumerate(
            self._rows(table, columns), 1
        ):
            found.counts["X", key] += 1
            found.place += 1
            times = self._times(start, end)
            if times is None:
                self._refuse(table, row, column, "start and end are no times", key)
                continue
            text = next((self.texts[each] for each in names if each in self.texts), key)
            counted = [each if type(each) is int and 0 <= each < 2**63 else -1
                       for each in (device, stream, number, size)]  # fmt: skip
            found.activity(text, category, times, counted, graphed=bool(graph))
            found.kernel_line.append(row)
            found.kernel_column.append(column)


def _tables(base: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Tables with their columns."""
    names = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    wanted = {RUNTIME, RANGES, "StringIds", "TARGET_INFO_GPU", *(table for table, *_ in ACTIVITIES)}
    return {
        name: frozenset(row[1] for row in base.execute(f'PRAGMA table_info("{name}")'))
        for name in names
        if name in wanted
    }


@contextmanager
def _database(source: Whole) -> Iterator[str | None]:
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


FORMAT = Format(
    name="nsys",
    heads=(),
    schemas=SCHEMAS,
    origin="measured",
    fold=fold,
    lines="whole",
    binds=False,
    read=read,
)
