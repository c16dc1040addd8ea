"""Traces of the PyTorch profiler (Kineto): JSON, compressed or not, whole or cut.

In: a document whose outermost value holds an array of trace events. Out: the frames of
`assay.ingest.formats.traces.trace_frames`. The document is read event by event and never held
whole; a row stands where its event begins, the account counts events in place of lines.
"""

from __future__ import annotations

from typing import Any

from assay.ingest.formats.traces.collect import collect
from assay.ingest.formats.traces.events import EventStream
from assay.ingest.formats.traces.trace_tables import made, trace_format
from assay.ingest.schema.format import Made, Whole


def read(source: Whole) -> Made | None:
    """Read a whole trace; None for a document of another kind."""
    stream = EventStream(source)
    if not stream.found():
        return None
    found = collect(stream)
    header = stream.header()
    return made(
        source.name,
        found,
        devices(header),
        rank=_rank(header),
        refused=stream.faults,
        remarks=stream.remarks,
        raw=stream.raw,
    )


def devices(header: dict[str, Any]) -> dict[int, str | None]:
    """Names of the devices by number; under -1 the name that all of them have.

    >>> devices({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]})[-1]
    'NVIDIA H100 80GB HBM3'
    """
    said = header.get("deviceProperties")
    found: dict[int, str | None] = {}
    for at, one in enumerate(said if isinstance(said, list) else []):
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            number = one.get("id")
            found[number if type(number) is int else at] = one["name"]
    names = set(found.values())
    found[-1] = names.pop() if len(names) == 1 else None
    return found


def _rank(header: dict[str, Any]) -> str | None:
    said = header.get("distributedInfo")
    rank = said.get("rank") if isinstance(said, dict) else None
    return str(rank) if type(rank) is int else None


FORMAT = trace_format("kineto", read)
