"""What lines above a table say of its runs: the device, how many of it, the number format.

In: the lines between a heading and a table. Out: cells by field, the nearest line first. A line
counts if a label stands in front (`- System: DGX-H100`, `**Hardware**: 8x A100 80GB`), if it names
a number format as the precision of what it shows (`… tasks at FP8 precision`), or if it is the
caption of the table, right above it (`**Llama on 8x H100 (BF16)**`, `Table 3: …`); what names two
devices or two formats names none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.ingest.titles import counted_devices, device_named, format_named
from assay.ingest.types import Cell, Line

_LABELLED = re.compile(
    r"[\s>*+_`-]*(?:(?:test|training|benchmark)\s+)?"
    r"(?:systems?|hardware|gpus?|devices?|accelerators?|machines?|platform|cluster)\b"
    r"[^:|]{0,24}:(.+)",
    re.IGNORECASE,
)
_PRECISION = re.compile(
    r"\b(?:at|in|with|using)\s+(?:pure\s+)?((?:bf16|bfloat16|fp(?:8|16|32)|float16))\s+"
    r"(?:mixed[ -])?precision\b",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"\s*(?:\*\*[^*]+\*\*|__[^_]+__|_?Table [0-9]+[.:].*)[\s:]*")


def said_above(lines: Sequence[Line]) -> dict[str, Cell]:
    """Field → cell of what the lines above a table say; later lines replace earlier ones."""
    found: dict[str, Cell] = {}
    for line in lines:
        found |= _said(line)
    last = next((line for line in reversed(lines) if line.text.strip()), None)
    if last is not None and is_caption(last):
        found |= _cells(last, _title(last.text))
    return found


def is_caption(line: Line) -> bool:
    """Whether a line right above a table is its caption: in bold, or numbered."""
    return _CAPTION.fullmatch(line.text) is not None


def _title(text: str) -> dict[str, str | None]:
    return {
        "gpu": device_named(text),
        "gpus": counted_devices(text),
        "dtype": format_named(text),
    }


def _said(line: Line) -> dict[str, Cell]:
    values: dict[str, str | None] = {}
    if labelled := _LABELLED.fullmatch(line.text.rstrip()):
        values = _title(labelled[1])
        if values["gpu"] is None:
            return {}
    else:
        named = {match[1].casefold(): match[1] for match in _PRECISION.finditer(line.text)}
        if len(named) == 1 and format_named(line.text) is not None:
            values["dtype"] = next(iter(named.values()))
    return _cells(line, values)


def _cells(line: Line, values: Mapping[str, str | None]) -> dict[str, Cell]:
    return {
        name: Cell(text, line.number, line.column, value_origin="context")
        for name, text in values.items()
        if text is not None
    }
