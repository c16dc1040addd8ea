"""From a reading to the document of its golden: sorted records, printed digits, no positions.

In: the reading of one input, and what models predict for it. Out: a `Document` that is the same for
the same records in another order, with other line ends, or compressed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import polars as pl
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Schema
from assay.validate.golden.digits import shown
from assay.validate.golden.document import READING, REFUSED, SCHEMA, TOLERANCE, Document, Entry

PEELED = ("mark", "host", "rank", "timestamp")
"""Base columns that say something of a record; the others say where it stands."""

COUNTS = ("claimed", "refused", "blank", "not_ours")

_LONGEST_TEXT = 160

_PIECES = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)")


def document(
    reading: Reading,
    predicted: Mapping[str, Sequence[Entry]] | None = None,
    tolerances: Mapping[str, str] | None = None,
) -> Document:
    """The golden of one input.

    `predicted` are further sections, entries in any order; `tolerances` (quantity → text) are
    recorded as they are given. A frame that none of its formats declares raises KeyError.
    """
    schemas = {name: schema for fmt in reading.formats for name, schema in fmt.schemas.items()}
    sections: dict[str, Sequence[Entry]] = {}
    if tolerances:
        sections[TOLERANCE] = [tuple(sorted(tolerances.items()))]
    sections[READING] = [_reading(reading)]
    names = sorted(name for name, frame in reading.frames.items() if frame.height)
    for name in names:
        sections[SCHEMA + name] = [declared(schemas[name], reading.frames[name])]
    places = _places(reading)
    for name in names:
        sections[name] = ordered(_records(name, reading, schemas[name], places))
    if reading.refused:
        sections[REFUSED] = ordered(_refusals(reading))
    for title, entries in (predicted or {}).items():
        sections[title] = ordered(entries)
    return Document(sections)


def ordered(entries: Iterable[Entry]) -> list[Entry]:
    """Entries in the one order that does not depend on where their lines stood; equal ones stay."""
    return sorted(entries, key=order)


def order(entry: Entry) -> list[tuple[str, tuple[tuple[int, float, str], ...]]]:
    """Where an entry stands among others."""
    return [(name, _natural(text)) for name, text in entry]


@lru_cache(maxsize=2**16)
def _natural(text: str) -> tuple[tuple[int, float, str], ...]:
    """Sorts numbers inside text as numbers, so that iteration 9 comes before iteration 10.

    >>> _natural("9 s") < _natural("10 s")
    True
    """
    return tuple(
        (0, float(piece), "") if at % 2 else (1, 0.0, piece)
        for at, piece in enumerate(_PIECES.split(text))
    )


def _reading(reading: Reading) -> Entry:
    """How many lines went where; how they are ended and compressed leaves these alone."""
    held = [
        fmt.name
        for fmt in reading.formats
        if any(name in reading.frames and reading.frames[name].height for name in fmt.schemas)
    ]
    counts = [
        (name, str(sum(getattr(account, name) for account in reading.accounting)))
        for name in COUNTS
    ]
    doubtful = sum(len(account.suspicious) for account in reading.accounting)
    return (
        ("formats", ", ".join(held) or "none"), *counts, ("suspicious", str(doubtful)),
        *((f"records.{n}", str(f.height)) for n, f in sorted(reading.frames.items()) if f.height),
    )  # fmt: skip


def declared(schema: Schema, frame: pl.DataFrame) -> Entry:
    """A digest of the whole schema, and what it declares of the columns that `frame` fills."""
    specs = fields(schema)
    lines = [f"{name}: {_declaration(spec)}" for name, spec in specs.items()]
    lines += [str(check) for check in schema.to_schema().checks]
    digest = hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()[:16]
    used = [
        (name, ", ".join([str(spec.dtype), spec.kind, *([spec.unit] if spec.unit else [])]))
        for name, spec in specs.items()
        if name in frame.columns and frame[name].null_count() < frame.height
    ]
    return (("digest", digest), *used)


def _declaration(spec: FieldSpec) -> str:
    """Everything that decides what a column reads and how it is compared; not its description."""
    said: dict[str, Any] = {
        "dtype": str(spec.dtype),
        "kind": spec.kind,
        "unit": spec.unit,
        "spellings": sorted(spec.own.items()),
        "terminal": spec.terminal,
        "nullable": spec.nullable,
        "quantity": spec.quantity,
        "subject": spec.subject,
        "configuration": spec.configuration,
        "checks": [re.sub(r" at 0x[0-9a-f]+", "", check) for check in spec.checks],
    }
    return json.dumps(said, sort_keys=True)


def _records(name: str, reading: Reading, schema: Schema, places: Mapping[str, str]) -> list[Entry]:
    """The rows of one frame, in its order."""
    frame = reading.frames[name]
    specs = fields(schema)
    origins = _origins(name, reading.provenance)
    return [
        _record(row, specs, origins.get((row["source"], row["line"]), {}), places)
        for row in frame.iter_rows(named=True)
    ]


def _places(reading: Reading) -> dict[str, str]:
    """Values that name a place in the input, `<source>#<line>` → which of those places it is.

    Records of one run share such a value; in a golden the runs are counted instead.
    """
    found: set[tuple[str, int]] = set()
    for frame in reading.frames.values():
        names = [name for name, kind in frame.schema.items() if kind == pl.String]
        here = pl.format("{}#", "source")
        some = frame.select(pl.col(names).str.starts_with(here).any()).row(0, named=True)
        for name in (name for name in names if some[name]):
            text = frame.filter(pl.col(name).str.starts_with(here))[name]
            parts = (value.rpartition("#") for value in text.unique())
            found |= {(head, int(line)) for head, _, line in parts if line.isdecimal()}
    return {f"{head}#{line}": f"#{nth}" for nth, (head, line) in enumerate(sorted(found), 1)}


Origins = dict[str, list[dict[str, Any]]]


def _origins(name: str, provenance: pl.DataFrame) -> dict[tuple[str, int], Origins]:
    """(source, line) → field → what is known of its values beyond the value.

    Several records may stand on one line; each then takes the first entry that fits it.
    """
    by_place: dict[tuple[str, int], Origins] = defaultdict(lambda: defaultdict(list))
    rows = provenance.filter(pl.col("frame") == name)
    for row in rows.sort(rows.columns, nulls_last=True).iter_rows(named=True):
        by_place[row["source"], row["line"]][row["field"]].append(row)
    return by_place


def _record(
    row: Mapping[str, Any],
    specs: Mapping[str, FieldSpec],
    origins: Origins,
    places: Mapping[str, str],
) -> Entry:
    lines: list[tuple[str, str]] = []
    for name, spec in specs.items():
        value = row[name]
        if isinstance(value, str):
            value = places.get(value, value)
        origin = _taken(origins.get(name, []), value)
        if value is None and origin is None:
            continue
        if value is None or (origin and origin["state"] != "value"):
            assert origin is not None
            state, text = origin["state"], origin["text"] or ""
            lines.append((name, state if state == "missing" else f"{state} {quoted(text)}"))
            continue
        unit = f" {spec.unit}" if spec.unit and spec.unit != "1" else ""
        lines.append((name, f"{_value(value, row.get(f'{name}_ulp'))}{unit}{_note(origin)}"))
    lines += [(name, quoted(row[name])) for name in PEELED if row.get(name)]
    others = sorted((cell["name"] or "", cell["text"] or "") for cell in row.get("other") or ())
    lines += [(f"other {quoted(name)}", quoted(text)) for name, text in others]
    return tuple(lines)


def _taken(origins: list[dict[str, Any]], value: Any) -> dict[str, Any] | None:
    """The first entry that fits the value, taken out: a state fits where there is no value."""
    for at, origin in enumerate(origins):
        if (origin["state"] == "value") == (value is not None):
            return origins.pop(at)
    return None


def _value(value: Any, place: float | None) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return shown(value, place) if math.isfinite(value) else str(value)
    return str(value) if isinstance(value, int) else quoted(str(value))


def _note(origin: Mapping[str, Any] | None) -> str:
    """How a value came to its row, where it was not simply printed in it."""
    if origin is None:
        return ""
    how = [] if origin["value_origin"] == "printed" else [origin["value_origin"]]
    how += [origin["kind"]] if origin["kind"] else []
    law = f": {origin['law']}" if origin["law"] else ""
    return f" ({', '.join(how)}{law})" if how or law else ""


def quoted(text: str) -> str:
    """A text on one line, told from a number and from a note."""
    return json.dumps(text, ensure_ascii=False)


def _refusals(reading: Reading) -> list[Entry]:
    """Refusals and their reasons; of a long text its beginning and a digest."""
    entries: list[Entry] = []
    for fault in reading.refused:
        text = fault.text.strip()
        if len(text) > _LONGEST_TEXT:
            digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
            text = f"{text[:_LONGEST_TEXT]}… {digest}"
        entries.append(((fault.code.value, fault.message), ("text", quoted(text))))
    return entries
