"""JSON Schemas of exported rows: one per frame, made from what the pandera models declare.

In: frame names. Out: JSON Schema 2020-12 documents of one NDJSON line of the frame, with the unit
(`x-unit`, SI), the kind of number (`x-kind`) and the meaning of every column. A number that JSON
cannot write stands as the text NaN, Infinity or -Infinity. `assay.ingest.reference.describe` writes
each to the folder of its format under docs/formats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from assay.ingest.binding.statement_frame import STATEMENTS
from assay.ingest.formats import FORMATS
from assay.ingest.schema.acceptance import BASE_TYPES, PROVENANCE
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.format import Format
from assay.ingest.schema.record import Code
from assay.ingest.store.case_frame import CASES
from assay.ingest.store.write import QUARANTINE

DIALECT = "https://json-schema.org/draft/2020-12/schema"

UNWRITABLE = ("NaN", "Infinity", "-Infinity")
"""How numbers stand that JSON cannot write."""

SOURCES: dict[str, pl.DataType] = {
    "source": pl.String(),
    "sha256": pl.String(),
    **dict.fromkeys(("lines", "claimed", "refused", "blank", "not_ours", "suspicious"), pl.Int64()),
}
"""Columns of the table of inputs."""

BESIDE: dict[str, tuple[str, Mapping[str, pl.DataType]]] = {
    "provenance": (
        "One value that was not simply printed in its row, or that is something else than a value.",
        PROVENANCE,
    ),
    "quarantine": ("One refusal or remark, with the line as it stands on disk.", QUARANTINE),
    "statements": (
        "One field of a statement of configuration that stands outside the rows.",
        STATEMENTS,
    ),
    "cases": (
        "One stretch of rows that are bound alike, with the values that stand elsewhere.",
        CASES,
    ),
    "sources": (
        "One input: lines = claimed + refused + blank + not_ours.",
        SOURCES,
    ),
}
"""Frames that every export has beside those of the formats: meaning and columns."""

MEANINGS = {
    "source": "the input, as it was named",
    "line": "line in the original input, from 1",
    "column": "column in that line, from 1",
    "last_line": "last line of the rows of the frame that it holds for, where these are many",
    "host": "host, where the line says it",
    "rank": "rank, where the line says it",
    "timestamp": "time, where the line says it, as printed",
    "mark": "truncated, repaired or superseded, where the record is",
    "other": "cells that no column declares, in print order",
    "frame": "frame of the value",
    "field": "column of the value",
    "state": "what the cell holds: value, outcome, unknown or missing",
    "value_origin": "printed, stated, solved, assumed or corrected",
    "kind": "kind of the printed number, where it is not that of its column",
    "from_line": "line on which the value stands, if it does",
    "value": "the number that it states, in its unit",
    "unit": "unit of that number",
    "basis": "what one value is of: the model, a device, a node, the job",
    "scope": "the rows that it speaks for: table, section, file or job",
    "strength": "run, stated, labelled (of one model size), backward (holds above too), open",
    "section": "line of the innermost heading around it",
    "case": "number of the case in its input: rows bound alike are of one",
    "rows": "how many rows",
    "law": "what a solved or assumed value rests on",
    "low": "lower end of the printed interval, where the kind is not that of the column",
    "high": "upper end of it",
    "code": "what is wrong, of a closed set",
    "message": "what was expected",
    "raw": "the line as it stands on disk, base64 in text formats",
    "refused": "whether the line was refused; false: a remark",
    "sha256": "digest of the input as it stands on disk",
    "lines": "lines of the input",
    "claimed": "lines that a format read",
    "blank": "blank lines",
    "not_ours": "lines of no format",
    "suspicious": "lines of no format with a number beside a performance unit",
    "text": "the text in question",
}

_REFUSED = "lines that a format began to read and could not"

_LIMITS = {
    "greater_than_or_equal_to": "minimum",
    "greater_than": "exclusiveMinimum",
    "less_than_or_equal_to": "maximum",
    "less_than": "exclusiveMaximum",
}


def frames(formats: Sequence[Format] = FORMATS) -> list[str]:
    """Every frame that can be exported: those of the formats, then those of `BESIDE`."""
    named = dict.fromkeys(name for fmt in formats for name in fmt.schemas)  # some are shared
    return [*named, *BESIDE]


def json_schema(frame: str, formats: Sequence[Format] = FORMATS) -> dict[str, Any]:
    """The schema of one exported row of `frame`. Raises KeyError for an unknown frame."""
    for fmt in formats:
        if frame in fmt.schemas:
            schema = fmt.schemas[frame]
            meaning = (schema.__doc__ or "").strip()
            columns = {name: _plain(name, dtype) for name, dtype in BASE_TYPES.items()}
            for spec in fields(schema).values():
                columns |= _declared(spec)
            return _document(frame, f"{meaning} Numbers are {fmt.origin}.", columns)
    meaning, plain = BESIDE[frame]
    known: dict[str, dict[str, Any]] = {}
    for spec in fields(Configuration).values():
        known |= _declared(spec)
    columns = {
        name: _plain(name, dtype) if name in MEANINGS else known[name]
        for name, dtype in plain.items()
    }
    if frame == "quarantine":
        columns["code"]["enum"] = [str(code) for code in Code]
    if frame == "sources":
        columns["refused"]["description"] = _REFUSED
    return _document(frame, meaning, columns)


def _document(frame: str, meaning: str, columns: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "$schema": DIALECT,
        "title": frame,
        "description": " ".join(meaning.split()),
        "type": "object",
        "properties": dict(columns),
        "required": list(columns),
        "additionalProperties": False,
    }


def _plain(name: str, dtype: pl.DataType) -> dict[str, Any]:
    """A column of every frame, or of one that no format declares; the place is never null."""
    nullable = name not in ("source", "line", "column")
    found: dict[str, Any] = {"description": MEANINGS[name], **_type(dtype, nullable=nullable)}
    if isinstance(dtype, pl.Binary):
        found["contentEncoding"] = "base64"
    return found


def _declared(spec: FieldSpec) -> dict[str, dict[str, Any]]:
    """A column of a schema, and the one beside it that keeps the last printed place."""
    said = {"description": spec.meaning or spec.name.replace("_", " ")}
    if spec.unit:
        said["x-unit"] = spec.unit
    if spec.numeric:
        said["x-kind"] = spec.kind
    if spec.labels:
        said["x-printed-as"] = list(spec.labels)  # type: ignore[assignment]
    found = {spec.name: said | _type(spec.dtype, nullable=spec.nullable, limits=_limits(spec))}
    if spec.has_ulp:
        what = {"description": f"one unit in the last printed place of {spec.name}"}
        unit = {"x-unit": spec.unit} if spec.unit else {}
        found[f"{spec.name}_ulp"] = what | unit | _type(pl.Float64(), nullable=True)
    return found


def _type(
    dtype: pl.DataType, *, nullable: bool, limits: Mapping[str, float] | None = None
) -> dict[str, Any]:
    if isinstance(dtype, pl.List):
        cell = {name: {"type": ["string", "null"]} for name in ("name", "text")}
        items = {"type": "object", "properties": cell, "required": ["name", "text"]}
        return {"type": ["array", "null"], "items": items}
    null = [{"type": "null"}] if nullable else []
    if dtype.is_float():
        choices = [{"type": "number", **(limits or {})}, {"enum": list(UNWRITABLE)}, *null]
        return {"anyOf": choices}
    name = "integer" if dtype.is_integer() else "boolean" if dtype == pl.Boolean else "string"
    return {"type": [name, "null"] if nullable else name, **(limits or {})}


def _limits(spec: FieldSpec) -> dict[str, float]:
    """The checks of a column that JSON Schema can state; numbers only."""
    found: dict[str, float] = {}
    for check in spec.checks:
        name, _, argument = check.rpartition(": ")[2].partition("(")
        if name in _LIMITS:
            number = float(argument.rstrip(")>"))
            found[_LIMITS[name]] = int(number) if number.is_integer() else number
    return found


def dumps(document: Mapping[str, Any]) -> str:
    """A schema as text."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def index() -> str:
    """The page about the schemas, with those that belong to no format."""
    rows = [f"| [{name}]({name}.schema.json) | {json_schema(name)['description']} |"
            for name in BESIDE]  # fmt: skip
    head = [
        "# JSON Schemas of the frames",
        "",
        "Written by `make docs`. The schemas of a format's frames stand beside its page, in",
        "[the formats](../formats). Each describes one line of",
        "`assay export -o NAME.ndjson`: columns with unit (`x-unit`, SI), kind (`x-kind`), meaning",
        "and check. Unknown is null; a number that JSON cannot write stands as the text NaN,",
        "Infinity or -Infinity.",
        "",
        "| frame of every reading | one row is |",
        "|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def pages() -> dict[str, str]:
    """Path under docs → text, of every schema and the page about them."""
    found = {f"schemas/{name}.schema.json": dumps(json_schema(name)) for name in BESIDE}
    for fmt in FORMATS:
        for frame in fmt.schemas:
            found[f"formats/{fmt.name}/{frame}.schema.json"] = dumps(json_schema(frame))
    return found | {"schemas/README.md": index()}


def write_pages(docs: Path) -> None:
    """Write every schema and the page about them under `docs`."""
    for name, text in pages().items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
