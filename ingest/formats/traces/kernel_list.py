"""Lists of kernels that profilers write as CSV, one activity of a device a line.

In: `NAME_kernel_trace.csv` and `NAME_memory_copy_trace.csv` of rocprofv3, `results.csv` of rocprof
before it, and `nsys stats --report cuda_gpu_trace --format csv`, with the lines that it prints
first. Out: the frames of `assay.ingest.formats.traces.trace_frames`. A row stands at its line. No
operators are recorded, so kernels are classed by name and timed, and no shape is known.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from assay.ingest.formats.traces.collect import COPY, FILL, KERNEL
from assay.ingest.formats.traces.exports import Records
from assay.ingest.formats.traces.trace_tables import trace_format
from assay.ingest.schema.format import Made, Whole
from assay.ingest.schema.record import Code, Diagnostic, Span
from assay.ingest.source.opening import packed

PEEK = 64 * 1024
"""Bytes in which the header stands, with what is printed above it."""
_BEGINS = re.compile(rb"(?i)\b(?:start_timestamp|beginns|start \((?:ns|us|ms|s)\))")
_SECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_COLUMNS = {
    "name": ("kernel_name", "kernelname", "direction", "name"),
    "start": ("start_timestamp", "beginns", "start"),
    "end": ("end_timestamp", "endns"),
    "duration": ("duration",),
    "device": ("agent_id", "gpu_id", "gpu-id", "device", "destination_agent_id"),
    "stream": ("stream_id", "strm", "queue_id", "queue-id"),
    "correlation": ("correlation_id", "corrid"),
}
"""Columns by what they mean, spelled as the profilers do, in lower case and without their unit."""
_UNIT = re.compile(r"(.+?)\s*\((ns|us|ms|s)\)$")
_NUMBERED = re.compile(r"(.*?)\s*\(?([0-9]{1,6})\)?$")
_COPYING, _FILLING = re.compile(r"(?i)\[cuda memcpy|memory_copy"), re.compile(r"(?i)\[cuda memset")
_WIDE = 2**20  # characters of a line that are looked at
_NO_TIMES = "its times are no times"


@dataclass(frozen=True)
class _Header:
    """Places of the columns, and ns of a unit of each time."""

    at: dict[str, int]
    unit: dict[str, float]
    width: int
    copies: bool


def read(source: Whole) -> Made | None:
    """Read a whole list; None for a file of another kind."""
    if not _BEGINS.search(_begin(source)):
        return None
    lines = _lines(source)
    for _, line in lines:
        try:
            header = _header(next(csv.reader([line]), []))
        except csv.Error:  # a line that is no CSV is no header
            continue
        if header is not None:
            return _List(source.name, header).read(lines)
    return None


def _begin(source: Whole) -> bytes:
    with source.begin() as file:
        head = file.read(PEEK)
    return next(source.chunks(), b"")[:PEEK] if packed(head) else head


def _lines(source: Whole) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, decoded; one that never ends is cut."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    left, number = "", 0
    for chunk in chain(source.chunks(), [None]):
        text = left + (decoder.decode(chunk) if chunk is not None else decoder.decode(b"", True))
        *whole, left = text.split("\n")
        for line in whole:
            number += 1
            yield number, line.rstrip("\r")
        left = left[:_WIDE]
    if left:
        yield number + 1, left


def _header(cells: list[str]) -> _Header | None:
    """The header of a list of activities; None for any other line."""
    units = {}
    names = []
    for cell in cells:
        said = _UNIT.match(cell.strip().lower())
        names.append(said[1] if said else cell.strip().lower())
        if said:
            units[names[-1]] = _SECONDS[said[2]]
    if "counter_name" in names:  # a line per counter, not per kernel
        return None
    at, unit = {}, {}
    for meaning, spellings in _COLUMNS.items():
        there = next((name for name in spellings if name in names), None)
        if there is not None:
            at[meaning], unit[meaning] = names.index(there), units.get(there, 1.0)
    if not {"name", "start"} <= at.keys() or not {"end", "duration"} & at.keys():
        return None
    bare = names[at["name"]] == "name"
    if bare and not ("start" in units and "correlation" in at):
        return None
    return _Header(at, unit, len(cells), names[at["name"]] == "direction")


class _List(Records):
    """One list on its way into `Collected`."""

    def __init__(self, source: str, header: _Header) -> None:
        super().__init__(source)
        self.header = header
        self.gpus: dict[int, str | None] = {}
        self.devices: dict[str, int] = {}

    def read(self, lines: Iterable[tuple[int, str]]) -> Made:
        """Every line below the header."""
        for number, line in lines:
            if not line.strip():
                continue
            try:
                cells = next(csv.reader([line]))
            except csv.Error as fault:
                self._refuse(number, f"is no CSV: {fault}")
                continue
            self._row(number, cells)
        return self.made(self.gpus)

    def _refuse(self, line: int, why: str) -> None:
        self.counted("kernel")
        self.found.refused["X", "kernel"] += 1
        self.refused.append(Diagnostic(Span(self.source, line), Code.UNDECODABLE, why))

    def _row(self, line: int, cells: list[str]) -> None:
        if len(cells) != self.header.width:
            cut = f"has {len(cells)} cells, expected {self.header.width}"
            self._refuse(line, cut)
            return
        name = self._cell(cells, "name").removesuffix(".kd")
        start, end = self._time(cells, "start"), self._time(cells, "end")
        if start is not None and end is None and "duration" in self.header.at:
            length = self._time(cells, "duration")
            end = start + length if length is not None else None
        times = self.times(start, end)
        if times is None or not name:
            self._refuse(line, _NO_TIMES if name else "names no kernel")
            return
        category, key = KERNEL, "kernel"
        if self.header.copies or _COPYING.match(name):
            category, key = COPY, "gpu_memcpy"
        elif _FILLING.match(name):
            category, key = FILL, "gpu_memset"
        self.counted(key)
        device = self._device(self._cell(cells, "device"))
        counts = (device, self._count(cells, "stream"), self._count(cells, "correlation"), -1)
        self.activity(name, category, times, counts, (line, 1))

    def _cell(self, cells: list[str], meaning: str) -> str:
        at = self.header.at.get(meaning)
        return cells[at].strip() if at is not None else ""

    def _time(self, cells: list[str], meaning: str) -> float | None:
        """A time in ns."""
        text = self._cell(cells, meaning)
        if not _PLAIN.fullmatch(text):
            return None
        unit = self.header.unit[meaning]
        return int(text) * unit if text.isdigit() else float(text) * unit

    def _count(self, cells: list[str], meaning: str) -> int:
        text = self._cell(cells, meaning)
        return int(text) if _PLAIN.fullmatch(text) and text.isdigit() else -1

    def _device(self, said: str) -> int:
        """The number of a device: `NVIDIA A100-SXM4-80GB (0)`, `Agent 4`, `4`."""
        known = self.devices.get(said)
        if known is None:
            parts = _NUMBERED.fullmatch(said)
            known = self.devices[said] = int(parts[2]) if parts else -1
            model = parts[1] if parts else said
            if known >= 0 and "(" in said:
                self.gpus[known] = model
        return known


_PLAIN = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")

FORMAT = trace_format("kernel_list", read)
