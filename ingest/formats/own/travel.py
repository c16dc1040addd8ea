"""Meaning of the frames of a user's format, kept beside them: that part of its description.

A folder of frames is understood without the file that it was read with. Lines of logs are read only
with the whole description, so its grammar, samples and comments stay at home.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.ingest.formats.own.own_format import OwnFormat, build
from assay.ingest.schema.format import Format


def meaning(fmt: OwnFormat) -> dict[str, Any]:
    """Description of a format for `understood`, as JSON holds it."""
    from assay.ingest.formats.own.description import TYPES  # noqa: PLC0415 - most runs need none

    assert fmt.said is not None
    names = {kind: name for name, kind in TYPES.items()}
    columns = {}
    for column in fmt.said.columns:
        told = {
            "labels": dict(column.labels), "type": names[column.type], "kind": column.kind,
            "unit": column.unit, "quantity": column.quantity, "role": column.role,
            "nullable": column.nullable, "meaning": column.meaning,
            "terminal": column.terminal, **column.checks,
        }  # fmt: skip
        columns[column.name] = {key: value for key, value in told.items() if value is not None}
    said = fmt.said
    return {"name": said.name, "about": said.about, "origin": said.origin, "scope": said.scope,
            "columns": columns}  # fmt: skip


def understood(path: str, said: Mapping[str, Any]) -> OwnFormat:
    """A format that knows what its frame means, and reads no line.

    Raises BadFormat where `said` is not what `meaning` gave.
    """
    from assay.ingest.formats.own.description import describe_document  # noqa: PLC0415

    unread = {"heads": ["\x00"], "separator": "\x00", "assign": "\x00",
              "samples": [{"line": "", "values": {}}]}  # fmt: skip
    return build(describe_document(path, "", {**said, **unread}))


def descriptions(formats: Iterable[Format]) -> list[tuple[str, str | None]]:
    """Text and grammar of every user's format: other ones may read other values."""
    return [
        (fmt.said.text, fmt.said.grammar)
        for fmt in formats
        if isinstance(fmt, OwnFormat) and fmt.said is not None
    ]
