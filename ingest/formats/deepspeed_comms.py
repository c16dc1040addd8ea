"""DeepSpeed's communication logger: calls one by one, and the summary of them all.

In: lines of a job with `comms_logger` enabled. Out: a record per call, and one per operation and
size of the summary, which stands under a line with the operation's name alone; asked to show
stragglers, the summary tells of all calls once more: what the fastest rank took, and how much
longer the one that prints. DeepSpeed prints sizes in units of 1024, and bits per second.
"""

from __future__ import annotations

import re
from functools import cache

import pandera.polars as pa
from assay.ingest.lines.lark import terminal_of
from assay.ingest.lines.records import Kind, take
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Reach, Region
from assay.ingest.schema.record import Cell, Line

GIGABIT = 1e9 / 8
"""Bytes of a gigabit."""

_BYTES = {"B": 1.0, "KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}

NAME = "deepspeed_comms"


class DeepspeedCollective(pa.DataFrameModel):
    """Calls of one collective with one size of message, on the rank that prints."""

    op: str = named(meaning="the operation, as torch.distributed names it")
    bytes: float = logged(kind="fixed(2)", unit="B", ge=0, meaning="of the message")
    count: int = logged(kind="exact", ge=1, nullable=True, meaning="calls; none where it is one")
    time: float = logged(
        {"time (ms)": 1e-3, "average latency": 1e-3}, unit="s", ge=0, nullable=True,
        meaning="of a call, or the mean of the calls",
    )  # fmt: skip
    total_time: float = logged(
        {"total latency": 1e-3}, unit="s", ge=0, nullable=True, meaning="of all calls"
    )
    algbw: float = logged(
        {"algbw (Gbps)": GIGABIT, "throughput": GIGABIT}, unit="B/s", ge=0, nullable=True,
        meaning="bytes over time",
    )  # fmt: skip
    busbw: float = logged(
        {"busbw (Gbps)": GIGABIT, "bus bandwidth": GIGABIT}, unit="B/s", ge=0, nullable=True,
        meaning="bytes on the wire over time",
    )  # fmt: skip
    fastest_time: float = logged(
        {"avg comm lat": 1e-3}, unit="s", ge=0, nullable=True,
        meaning="mean of the calls, of each the time of the rank that was fastest",
    )  # fmt: skip
    fastest_total_time: float = logged(
        {"total comm lat": 1e-3}, unit="s", ge=0, nullable=True,
        meaning="of all calls, of each the time of the rank that was fastest",
    )  # fmt: skip
    waiting_time: float = logged(
        {"avg straggler": 1e-3}, unit="s", ge=0, nullable=True,
        meaning="mean of the calls, of each what this rank took longer than the fastest",
    )  # fmt: skip
    waiting_total_time: float = logged(
        {"total straggler": 1e-3}, unit="s", ge=0, nullable=True,
        meaning="of all calls, of each what this rank took longer than the fastest",
    )  # fmt: skip

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "note"}


CALL = Kind("call_line", "CALL_HEAD", "deepspeed_collective", DeepspeedCollective)

ROW = Kind("row_line", "ROW_HEAD", "deepspeed_collective", DeepspeedCollective)

WAITED = Kind("waited_line", "ROW_HEAD", "deepspeed_collective", DeepspeedCollective)

_SIZE = re.compile(r"([0-9.]+) ([KMGT]?B)")


@cache
def _head(name: str) -> re.Pattern[str]:
    return re.compile(terminal_of(NAME, name))


def fold(region: Region) -> Folded:
    """Every call, and the rows under the operations of a summary."""
    folded = Folded(parts=set())
    op: Cell | None = None
    inside: Kind | None = None
    for line in region.lines:
        if line.number in region.read:
            continue
        if _head("CALL_HEAD").match(line.text):
            _take(folded, region, line, CALL, None)
        elif _head("HEADER").match(line.text):
            inside, op = ROW, None
            _claim(folded, line)
        elif _head("WAITING").match(line.text):
            inside, op = WAITED, None
            _claim(folded, line)
        elif inside and _head("OP_HEAD").match(line.text):
            op = Cell(line.text.strip(), line.number, line.column)
            _claim(folded, line)
        elif inside and op is not None and _head("ROW_HEAD").match(line.text):
            _take(folded, region, line, inside, op)
        elif line.text.strip():
            inside = None
    return folded


def _claim(folded: Folded, line: Line) -> None:
    folded.claimed.add(line.number)
    folded.parts.add((line.number, line.column))  # type: ignore[union-attr]


def _take(folded: Folded, region: Region, line: Line, kind: Kind, op: Cell | None) -> None:
    """The record of one line, its size in bytes; under a summary with its operation."""
    before = len(folded.records)
    take(folded, region, line, NAME, kind)
    for record in folded.records[before:]:
        if op is not None:
            record.cells["op"] = op
        found = _SIZE.search(line.text)
        if found is not None:
            at = line.column + found.start(1)
            record.cells["bytes"] = Cell(found[1], line.number, at, _BYTES[found[2]])
        record.other = [each for each in record.other if each[0] != "msg size"]


FORMAT = Format(
    name=NAME,
    heads=("comm op: ", "Comm. Op "),
    schemas={"deepspeed_collective": DeepspeedCollective},
    origin="measured",
    fold=fold,
    reach={r"Comm\. Op\s+Message Size\s+Count": Reach(400)},
    binds=False,
)
