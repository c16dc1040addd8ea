"""The samples of a description against what is read from them: specification, test, documentation.

In: a format and its description. Out: what differs, one message per sample and column; nothing
where every sample reads as it says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from assay.ingest.formats.own.description import Description, Sample, Value
from assay.ingest.formats.own.fault import BadFormat, nearest
from assay.ingest.lines.metrics import cell
from assay.ingest.numbers.printed import printed
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import BASE, CELLS, Diagnostic
from assay.ingest.source.opening import source

_CLOSE = 1e-9
"""Two ways of writing one product of a number and a unit differ by less than this."""


def differences(said: Description, fmt: Format) -> Iterator[BadFormat]:
    """Differences between the samples of a description and what is read from them, in order."""
    for at, sample in enumerate(said.samples):
        row = read(fmt, sample.line)
        if isinstance(row, str):
            yield said.fault(row, "samples", at, "line")
            continue
        yield from _compared(said, fmt, at, sample, row)


def read(fmt: Format, line: str) -> dict[str, Any] | str:
    """Column → value of the record that a line is, or why it is none."""
    reading = reading_of(fmt, line)
    if reading.refused:
        fault = reading.refused[0]
        return f"is refused at column {fault.span.column}: {fault.message}"
    lost = [each for each in reading.remarks if each.code in CELLS]
    if lost:
        return f"loses a cell at column {lost[0].span.column}: {lost[0].message}"
    frame = reading.frames.get(fmt.name)
    if frame is None or frame.is_empty():
        heads = ", ".join(map(repr, fmt.heads))
        return f"is no line of this format: it begins with none of the heads {heads}"
    row = frame.row(0, named=True)
    names = [name for name in fields(fmt.schemas[fmt.name]) if row[name] is not None]
    return {name: row[name] for name in names}


def reading_of(fmt: Format, text: str) -> Reading:
    """Reading of a text by one format alone."""
    opened = source("<sample>", text.encode("utf-8") + b"\n")
    assert not isinstance(opened, Diagnostic)
    return read_source(opened, (fmt,))


def _compared(
    said: Description, fmt: Format, at: int, sample: Sample, row: dict[str, Any]
) -> Iterator[BadFormat]:
    specs = fields(fmt.schemas[fmt.name])
    for name, value in sample.values.items():
        where = ("samples", at, "values", name)
        if name not in specs:
            known = [column.name for column in said.columns]
            yield said.fault(f"is no column{nearest(name, known)}", *where)
        elif name not in row:
            yield said.fault(f"expected {value!r}, and nothing is read", *where)
        elif not equal(specs[name], value, row[name]):
            unit = f" {specs[name].unit}" if specs[name].unit else ""
            yield said.fault(f"expected {value!r}, read {row[name]!r}{unit}", *where)
    for name in row.keys() - sample.values.keys() - set(BASE):
        message = f"{name} is read as {row[name]!r} and is not among the values"
        yield said.fault(message, "samples", at, "values")


def equal(spec: FieldSpec, stated: Value, read: Any) -> bool:
    """Whether a stated value is the one that was read; a text may carry a unit: `61.2 GiB`."""
    if isinstance(stated, str) and spec.numeric:
        own = cell(spec, stated.strip(), 1.0, 0, 0)
        try:
            stated = printed(own.text, "exact", own.scale).value
        except (ValueError, ArithmeticError):
            return False
    if isinstance(stated, bool) or isinstance(read, (bool, str)):
        return type(stated) is type(read) and stated == read
    if isinstance(stated, str):
        return False
    one, other = float(stated), float(read)
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=_CLOSE)
