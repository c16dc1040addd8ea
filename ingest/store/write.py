"""Reading on the disk: one Parquet file per frame, the quarantine, and a manifest.

`save` writes a folder, whole or not at all (`assay.ingest.store.load` reads it back). Every Parquet
file carries the schema's fingerprint and the version of the tool.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
from assay.ingest.binding.statement_frame import STATEMENTS
from assay.ingest.formats.own.own_format import OwnFormat
from assay.ingest.formats.own.travel import meaning
from assay.ingest.schema.acceptance import PROVENANCE
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Accounting, Outcome, Reading
from assay.ingest.schema.record import Diagnostic, Schema
from assay.ingest.store.case_frame import CASES, cased, stored_types
from assay.ingest.store.parquet import write

MANIFEST = "manifest.json"

PARTS = ".parts"
"""Folder of an ingest that is under way; each folder in it was written by `save`."""

WANTED = "wanted-*.json"
"""Files in `PARTS` that list the names of what is to be ingested."""

LAYOUT = 4
"""Version of the folder's layout; a newer one is refused by name."""

QUARANTINE: dict[str, pl.DataType] = {
    "source": pl.String(),
    "line": pl.UInt32(),
    "column": pl.UInt32(),
    "code": pl.String(),
    "message": pl.String(),
    "text": pl.String(),
    "raw": pl.Binary(),  # the line as it stands on disk, bad bytes included
    "refused": pl.Boolean(),  # false: a remark, nothing was refused
}

OVERRIDDEN: dict[str, pl.DataType] = {
    "source": pl.String(),
    "line": pl.UInt32(),  # of the row that prints another value
    "frame": pl.String(),
    "field": pl.String(),
    "value": pl.Float64(),
    "at_line": pl.UInt32(),  # of the statement
    "at_column": pl.UInt32(),
}

TABLES: Mapping[str, dict[str, pl.DataType]] = {
    "provenance": PROVENANCE,
    "quarantine": QUARANTINE,
    "overridden": OVERRIDDEN,
    "statements": STATEMENTS,
    "cases": CASES,
}
"""Files beside the frames; those of `OPTIONAL` are there only where they have rows."""

OPTIONAL = ("overridden", "statements", "cases")


@cache
def fingerprint(schema: Schema) -> str:
    """A digest of what a schema declares: names, types, kinds, units, spellings and checks."""
    said = [
        (s.name, str(s.dtype), s.kind, s.unit, sorted(s.own.items()), s.nullable, s.checks)
        for s in fields(schema).values()
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def schemas(formats: Iterable[Format]) -> dict[str, Schema]:
    """Every frame name and its schema."""
    return {name: schema for fmt in formats for name, schema in fmt.schemas.items()}


@cache
def own_version() -> str:
    """The version of assay that is installed."""
    return version("assay")


def marks(frame: str = "", schema: Schema = None) -> dict[str, str]:
    """Metadata of a Parquet file; `schema` is that of a frame."""
    tool = {"assay.version": own_version()}
    if schema is None:
        return tool
    return {"assay.frame": frame, "assay.schema": fingerprint(schema), **tool}


def save(outcome: Outcome, folder: Path) -> None:
    """Write `outcome` to `folder`, which appears complete or not at all.

    Raises FileExistsError where `folder` exists and is not empty.
    """
    with fresh_folder(folder) as fresh:
        fill(outcome, fresh)


def fill(outcome: Outcome, folder: Path) -> None:
    """Write the files of `outcome` into a folder that is there."""
    reading = outcome.reading
    known = schemas(reading.formats)
    printed = cased(reading)
    for name, frame in {**reading.frames, **printed.frames}.items():
        write([frame], stored_types(known[name]), folder / f"{name}.parquet",
              marks(name, known[name]))  # fmt: skip
    for name, table in tables(reading, printed.cases).items():
        if name not in reading.streams and (name not in OPTIONAL or table.height):
            write([table], table.schema, folder / f"{name}.parquet", marks())
    for name, stream in {**reading.streams, **printed.streams}.items():
        said = marks(name, known.get(name))
        write(stream.frames(), stream.types, folder / f"{name}.parquet", said)
    rows = {name: frame.height for name, frame in reading.frames.items()}
    rows |= {name: each.height for name, each in reading.streams.items() if name in known}
    write_manifest(folder, rows, reading.formats, reading.accounting, outcome.unreadable)


@contextmanager
def fresh_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder beside `folder` that takes its place when the block ends well."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield fresh
        fresh.chmod(0o755)
        try:
            os.replace(fresh, folder)
        except OSError as fault:
            raise FileExistsError(f"{folder} exists and holds files") from fault
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def write_manifest(
    folder: Path,
    rows: Mapping[str, int],
    formats: Iterable[Format],
    accounts: Iterable[Accounting],
    unreadable: Iterable[Diagnostic],
) -> None:
    """Say what a folder holds: frames with their schemas, the account of every source.

    What frames of users' formats mean is kept with them.

    Nothing of when, where or by how many processes it was written: same inputs, same bytes.
    """
    formats = tuple(formats)
    known = schemas(formats)
    own = {f.name: meaning(f) for f in formats if isinstance(f, OwnFormat) and f.name in rows}
    said = {
        "layout": LAYOUT,
        "version": own_version(),
        "frames": {
            name: {"rows": rows[name], "schema": fingerprint(known[name])} for name in sorted(rows)
        },
        **({"formats": own} if own else {}),
        "sources": [
            {
                "name": a.source, "sha256": a.sha256, "lines": a.lines, "claimed": a.claimed,
                "refused": a.refused, "blank": a.blank, "not_ours": a.not_ours,
                "suspicious": list(a.suspicious),
                **({"of": a.of} if a.of != "line" else {}),
                **({"tables": [note._asdict() for note in a.tables]} if a.tables else {}),
            }
            for a in accounts
        ],
        "unreadable": [{"name": d.span.source, "message": d.message} for d in sorted(unreadable)],
    }  # fmt: skip
    part = folder / f".{MANIFEST}.{os.getpid()}"
    part.write_text(_spelled(said), "utf-8")
    os.replace(part, folder / MANIFEST)


def _spelled(said: Mapping[str, Any]) -> str:
    """JSON, a source or a fault in a line: one with many suspicious lines is long enough."""

    def value(held: Any) -> str:
        if isinstance(held, list) and held:
            return "[\n  " + ",\n  ".join(map(json.dumps, held)) + "\n ]"
        return json.dumps(held)

    return "{\n " + ",\n ".join(f"{json.dumps(k)}: {value(v)}" for k, v in said.items()) + "\n}\n"


def tables(reading: Reading, cases: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Tables kept beside the frames, by file name, in the order of sources; see `TABLES`."""
    said = [
        (o.source, o.line, o.frame, o.field, o.value, o.at.line, o.at.column)
        for o in reading.overridden
    ]
    return {
        "provenance": reading.provenance,
        "quarantine": quarantine(reading),
        "overridden": pl.DataFrame(said, schema=OVERRIDDEN, orient="row"),
        "statements": statements(reading),
        "cases": cases,
    }


def statements(reading: Reading) -> pl.DataFrame:
    """Configuration as the documents of a reading state it; see `STATEMENTS`."""
    return reading.statements if reading.statements is not None else pl.DataFrame(schema=STATEMENTS)


def quarantine(reading: Reading) -> pl.DataFrame:
    """Of each source refusals with their reasons and raw bytes, then remarks; see `QUARANTINE`."""
    rows = [
        (*d.span, str(d.code), d.message, d.text, reading.raw.get(d.span), refused)
        for diagnostics, refused in ((reading.refused, True), (reading.remarks, False))
        for d in diagnostics
    ]
    frame = pl.DataFrame(rows, schema=QUARANTINE, orient="row")
    return frame.sort("source", maintain_order=True)


def is_saved(folder: Path) -> bool:
    """Whether `folder` was written by ingest, or is being written by it."""
    return (folder / MANIFEST).is_file() or (folder / PARTS).is_dir()
