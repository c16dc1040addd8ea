"""Kernels in the summaries that nvprof prints, a row each.

In: the lines of a document. Out: a record for each kernel and copy on a device, with the mean time
of its calls. Calls of the interface on the host, which the same table lists, are none.

Source: the summary mode of nvprof, with a column of types since CUDA 9 and a section each before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred

_HEADER = deferred(r"\s*(?P<type>Type\s+)?Time\(%\)\s+Time\s+Calls\s+Avg\s+Min\s+Max\s+Name\s*")

_ON_HOST = deferred(r"(?:==[0-9]+==)?\s*API calls:.*")

_ROW = deferred(
    r"\s*(?:(?P<type>GPU activities|API calls):)?\s*(?P<share>[0-9.]+%)\s+(?P<total>[0-9.]+[mun]?s)"
    r"\s+(?P<calls>[0-9]+)\s+(?P<mean>[0-9.]+)(?P<unit>[mun]?s)\s+(?P<least>[0-9.]+[mun]?s)"
    r"\s+(?P<most>[0-9.]+[mun]?s)\s+(?P<name>\S.*?)\s*"
)

_SCALES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

_LABELS = {"share": "Time(%)", "total": "Time", "calls": "Calls", "least": "Min", "most": "Max"}


def profiled(lines: Sequence[Line]) -> Iterator[tuple[list[Record], list[Line]]]:
    """The records of every summary, and the lines that they were read from."""
    for at, line in enumerate(lines):
        head = _HEADER.fullmatch(line.text) if "Time(%)" in line.text else None
        if head is None or (at and _ON_HOST.fullmatch(lines[at - 1].text)):
            continue
        records, used = list[Record](), [line]
        for row in map(lines.__getitem__, range(at + 1, len(lines))):
            found = _ROW.fullmatch(row.text)
            if found is None or found["type"] == "API calls":
                break
            record = Record(row.number, {}, row.column, prefix=row.prefix)
            for name, group, scale in (("operator", "name", 1.0),
                                       ("time", "mean", _SCALES[found["unit"]])):  # fmt: skip
                place = row.column + found.start(group)
                record.cells[name] = Cell(found[group], row.number, place, scale)
            record.other += [(label, found[group]) for group, label in _LABELS.items()]
            records.append(record)
            used.append(row)
        if records:
            yield records, used
