"""Profiles of ROCm (`rocprofv3`): its JSON and its database, `--output-format json` or `rocpd`.

In: `NAME_results.json` with a member `rocprofiler-sdk-tool`, or `NAME_results.db` with tables named
`rocpd_…`. Out: the frames of `assay.ingest.formats.traces.trace_frames`. A row stands at its number
in its table, column 1 for kernels, 2 for copies. Neither records operators or what they were given,
so kernels are classed by name and timed, and no shape is known; roctx ranges that PyTorch names
after operators are operators, the others annotations.

Members and tables are those of ROCm's rocprofiler-sdk (MIT licence), `lib/output/generateJSON.cpp`
and `share/rocprofiler-sdk-rocpd/rocpd_tables.sql`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from assay.ingest.formats.traces.collect import COPY, KERNEL
from assay.ingest.formats.traces.exports import Records, Tables, opened
from assay.ingest.formats.traces.trace_tables import trace_format
from assay.ingest.schema.format import Made, Whole
from assay.ingest.schema.record import Code, Diagnostic, Span
from assay.ingest.source.opening import packed

TOOL = "rocprofiler-sdk-tool"
_HEAD = re.compile(rb'\s*\{\s*"rocprofiler-sdk-tool"\s*:\s*\[')
_PEEK = 512
_GPU = 2  # type of an agent that is a GPU
_ITEM = f"{TOOL}.item"
_AGENT, _SYMBOL = f"{_ITEM}.agents.item", f"{_ITEM}.kernel_symbols.item"
_KIND, _MESSAGE = f"{_ITEM}.strings.buffer_records.item", f"{_ITEM}.strings.marker_api.item"
_RECORDS = f"{_ITEM}.buffer_records."
_DEPTH = len(_RECORDS)
_NAMES = ("formatted_kernel_name", "demangled_kernel_name", "truncated_kernel_name",
          "kernel_name")  # fmt: skip
_KEYS = {"kernel_dispatch": "kernel", "memory_copy": "gpu_memcpy", "hip_api": "hip_runtime",
         "marker_api": "user_annotation"}  # fmt: skip
"""Tables that are read, and the category of their records."""
_NO_TIMES = "start and end are no times"
_NO_NAME = "name of a kernel that is not listed"


def read(source: Whole) -> Made | None:
    """Read a whole profile; None for a file of another kind."""
    if _is_json(source):
        return _Json(source).read()
    with opened(source) as database:
        tables = database[1] if database else {}
        suffixes = [name.removeprefix(_DISPATCH) for name in tables if name.startswith(_DISPATCH)]
        if database is None or not suffixes:
            return None
        return _Database(source.name, *database).read(suffixes)


def _is_json(source: Whole) -> bool:
    with source.begin() as file:
        head = file.read(_PEEK)
    if packed(head):
        head = next(source.chunks(), b"")[:_PEEK]
    return bool(_HEAD.match(head.removeprefix(b"\xef\xbb\xbf")))


class _Bytes:
    """The chunks of an input as a file that is read forward."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks, self.left = chunks, b""

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, fewer before the end; all there are for less than 0."""
        if size < 0:
            return self.left + b"".join(self.chunks)
        while not self.left and size:
            chunk = next(self.chunks, None)
            if chunk is None:
                break
            self.left = chunk
        said, self.left = self.left[:size], self.left[size:]
        return said


class _Json(Records):
    """One JSON document, read record by record; each process has numbers of its own."""

    def __init__(self, source: Whole) -> None:
        super().__init__(source.name)
        self.whole = source
        self.gpus: dict[int, str | None] = {}
        self.rows: defaultdict[str, int] = defaultdict(int)
        self._begin()

    def _begin(self) -> None:
        self.agents: dict[int, int] = {}  # device number by handle
        self.kernels: dict[int, str] = {}
        self.kinds: list[list[str]] = []  # operations of each kind of record
        self.messages: dict[int, str] = {}
        self.unnamed: list[tuple[int, int]] = []  # activities whose kernel was not listed yet

    def read(self) -> Made:
        """Every record of the document, as far as it is JSON."""
        import ijson  # noqa: PLC0415 - few inputs need it

        handlers = {_AGENT: self._agent, _SYMBOL: self._symbol, _KIND: self._kind,
                    _MESSAGE: self._message}  # fmt: skip
        records = {
            f"{_RECORDS}{table}.item": getattr(self, f"_{table}") for table in _KEYS
        }  # fmt: skip
        wanted = handlers | records
        try:
            for prefix, value in _values(ijson, _Bytes(self.whole.chunks()), wanted):
                if prefix == _ITEM:
                    self._end()
                elif prefix in wanted:
                    wanted[prefix](value)
                else:
                    self.counted(prefix[_DEPTH:].removesuffix(".item"))
        except (ijson.JSONError, UnicodeDecodeError) as fault:
            last = sum(self.rows.values())
            message = (
                f"the profile is no JSON beyond record {last:,}: {' '.join(str(fault).split())}"
            )
            self.remarks.append(Diagnostic(Span(self.source, 1), Code.CUT_SHORT, message[:300]))
        self._end()
        return self.made(self.gpus)

    def _end(self) -> None:
        """Name what a process left open: kernels that were listed behind their records."""
        names = self.found.names
        for at, number in self.unnamed:
            self.found.kernel_name[at] = names.code(self.kernels.get(number, _NO_NAME))
        self._begin()

    def _agent(self, said: Any) -> None:
        if not isinstance(said, dict) or said.get("type") != _GPU:
            return
        number = len(self.gpus)
        self.agents[_handle(said.get("id"))] = number
        name = said.get("product_name") or said.get("name")
        self.gpus[number] = name if isinstance(name, str) else None

    def _symbol(self, said: Any) -> None:
        number = said.get("kernel_id") if isinstance(said, dict) else None
        if type(number) is int:
            texts = (said.get(name) for name in _NAMES)
            name = next((text for text in texts if isinstance(text, str) and text), _NO_NAME)
            self.kernels[number] = name.removesuffix(".kd")

    def _kind(self, said: Any) -> None:
        names = said.get("operations") if isinstance(said, dict) else None
        self.kinds.append([str(name) for name in names] if isinstance(names, list) else [])

    def _message(self, said: Any) -> None:
        if isinstance(said, dict) and type(said.get("key")) is int:
            self.messages[said["key"]] = str(said.get("value", ""))

    def _record(self, table: str, said: Any) -> tuple[int, tuple[float, float]] | None:
        """Row and times of a record of a table; None where it has none, which is refused."""
        key = _KEYS[table]
        self.counted(key)
        self.rows[table] += 1
        row, column = self.rows[table], 2 if table == "memory_copy" else 1
        if not isinstance(said, dict):
            self.refuse(table, row, column, "is no object", key)
            return None
        times = self.times(said.get("start_timestamp"), said.get("end_timestamp"))
        if times is None:
            self.refuse(table, row, column, _NO_TIMES, key)
            return None
        return row, times

    def _kernel_dispatch(self, said: Any) -> None:
        if (record := self._record("kernel_dispatch", said)) is None:
            return
        row, times = record
        about = said.get("dispatch_info")
        about = about if isinstance(about, dict) else {}
        number = about.get("kernel_id")
        name = _NO_NAME
        if type(number) is int and number in self.kernels:
            name = self.kernels[number]
        elif type(number) is int:
            self.unnamed.append((len(self.found.kernel_name), number))
        device = self.agents.get(_handle(about.get("agent_id")), -1)
        stream = _handle(said.get("stream_id", about.get("queue_id")))
        counts = (device, stream, _correlation(said), -1)
        self.activity(name, KERNEL, times, counts, (row, 1))

    def _memory_copy(self, said: Any) -> None:
        if (record := self._record("memory_copy", said)) is None:
            return
        row, times = record
        ends = [self.agents.get(_handle(said.get(name)), -1)
                for name in ("dst_agent_id", "src_agent_id")]  # fmt: skip
        stream = _handle(said.get("stream_id"))
        counts = (max(ends), stream, _correlation(said), said.get("bytes"))
        self.activity("gpu_memcpy", COPY, times, counts, (row, 2))

    def _hip_api(self, said: Any) -> None:
        if (record := self._record("hip_api", said)) is not None:
            self.launch(self._operation(said), said.get("thread_id"), _correlation(said), record[1])

    def _marker_api(self, said: Any) -> None:
        if (record := self._record("marker_api", said)) is None:
            return
        text = self.messages.get(_correlation(said))
        if text and record[1][1] > 0:  # a range, not a mark
            self.range(text, said.get("thread_id"), record[1])

    def _operation(self, said: Mapping[str, Any]) -> str:
        """The call that a record is of, by its numbers; empty where they are not listed."""
        kind, operation = said.get("kind"), said.get("operation")
        if type(kind) is not int or not 0 <= kind < len(self.kinds):
            return ""
        names = self.kinds[kind]
        return names[operation] if type(operation) is int and 0 <= operation < len(names) else ""


def _values(ijson: Any, file: _Bytes, wanted: Mapping[str, object]) -> Iterator[tuple[str, Any]]:
    """The values at wanted prefixes, the prefixes of other records, and ends of processes."""
    building, inside = None, ""
    for prefix, event, value in ijson.parse(file, use_float=True, buf_size=2**18):
        if building is not None:
            building.event(event, value)
            if event == "end_map" and prefix == inside:
                yield prefix, building.value
                building = None
        elif prefix in wanted:
            if event == "start_map":
                building, inside = ijson.ObjectBuilder(), prefix
                building.event(event, value)
            elif event not in ("end_map", "end_array", "map_key"):
                yield prefix, value
        elif event == "end_map" and (prefix == _ITEM or _is_record(prefix)):
            yield prefix, None


def _is_record(prefix: str) -> bool:
    return prefix.startswith(_RECORDS) and prefix.endswith(".item") and prefix.count(".") == 4


def _handle(said: Any) -> int:
    """The number that an id stands for; -1 for none."""
    number = said.get("handle", said.get("id")) if isinstance(said, dict) else said
    return number if type(number) is int else -1


def _correlation(said: Mapping[str, Any]) -> int:
    number = said.get("correlation_id")
    number = number.get("internal") if isinstance(number, dict) else number
    return number if type(number) is int else -1


_DISPATCH = "rocpd_kernel_dispatch"


class _Database(Tables):
    """One database; each process has tables of its own, with its id behind their names."""

    def read(self, suffixes: list[str]) -> Made:
        """The tables of every process."""
        gpus: dict[int, str | None] = {}
        for suffix in suffixes:
            self.suffix = suffix
            self.texts = self._listed("rocpd_string", "string")
            self.agents: dict[int, int] = {}
            columns = ("id", "type", "product_name", "model_name", "name")
            for number, kind, *names in self.rows("rocpd_info_agent" + suffix, columns):
                if kind == "GPU":
                    self.agents[number] = len(gpus)
                    gpus[len(gpus)] = next((name for name in names if name), None)
            rows = self.rows("rocpd_event" + suffix, ("id", "stack_id", "category_id", "extdata"))
            self.events = {row[0]: row[1:] for row in rows}
            self._regions()
            self._dispatches()
            self._copies()
        return self.made(gpus)

    def _listed(self, table: str, *columns: str) -> dict[int, str]:
        rows = self.rows(table + self.suffix, ("id", *columns))
        return {
            number: next((text for text in texts if isinstance(text, str) and text), "")
            for number, *texts in rows
        }

    def _about(self, event: Any) -> tuple[int, str, str]:
        """Correlation id, category and message of an event; -1 and nothing where there is none."""
        stack, category, extra = self.events.get(event, (None, None, None))
        found = _SAID.search(extra) if isinstance(extra, str) else None
        message = _unescaped(found[1]) if found else ""
        return stack if type(stack) is int else -1, self.texts.get(category, ""), message

    def _regions(self) -> None:
        table = "rocpd_region" + self.suffix
        columns = ("start", "end", "name_id", "event_id", "tid")
        for row, (start, end, name, event, thread) in enumerate(self.rows(table, columns), 1):
            correlation, category, message = self._about(event)
            key = "user_annotation" if category.startswith("MARKER") else "hip_runtime"
            self.counted(key)
            times = self.times(start, end)
            text = self.texts.get(name, "")
            if times is None:
                self.refuse(table, row, 1, _NO_TIMES, key)
            elif key == "hip_runtime":
                self.launch(text, thread, correlation, times)
            elif times[1] > 0:
                self.range(message or text, thread, times)

    def _dispatches(self) -> None:
        table = _DISPATCH + self.suffix
        symbols = self._listed("rocpd_info_kernel_symbol", "display_name", "kernel_name")
        columns = ("start", "end", "agent_id", "kernel_id", "stream_id", "event_id")
        for row, (start, end, agent, kernel, stream, event) in enumerate(
            self.rows(table, columns), 1
        ):
            self.counted("kernel")
            times = self.times(start, end)
            if times is None:
                self.refuse(table, row, 1, _NO_TIMES, "kernel")
                continue
            counts = (self.agents.get(agent, -1), stream, self._about(event)[0], -1)
            name = symbols.get(kernel) or _NO_NAME
            self.activity(name.removesuffix(".kd"), KERNEL, times, counts, (row, 1))

    def _copies(self) -> None:
        table = "rocpd_memory_copy" + self.suffix
        columns = ("start", "end", "name_id", "dst_agent_id", "src_agent_id", "stream_id",
                   "event_id", "size")  # fmt: skip
        for row, (start, end, name, into, out, stream, event, size) in enumerate(
            self.rows(table, columns), 1
        ):
            self.counted("gpu_memcpy")
            times = self.times(start, end)
            if times is None:
                self.refuse(table, row, 2, _NO_TIMES, "gpu_memcpy")
                continue
            device = max(self.agents.get(into, -1), self.agents.get(out, -1))
            counts = (device, stream, self._about(event)[0], size)
            text = self.texts.get(name) or "gpu_memcpy"
            self.activity(text, COPY, times, counts, (row, 2))


_SAID = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"')


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


FORMAT = trace_format("rocprof", read)
