"""A reading on the disk: one Parquet file per frame, the quarantine, and a manifest.

`save` writes a folder, whole or not at all; `load` reads it back as the same reading. Every Parquet
file carries the schema's fingerprint and the version of the tool.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
from assay.ingest.accept import PROVENANCE
from assay.ingest.formats import FORMATS
from assay.ingest.schema import fields
from assay.ingest.types import Accounting, Code, Diagnostic, Format, Reading, Schema, Span

MANIFEST = "manifest.json"
LAYOUT = 1
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


def fingerprint(schema: Schema) -> str:
    """A digest of what a schema declares: names, types, kinds, units, spellings and checks."""
    said = [
        (s.name, str(s.dtype), s.kind, s.unit, sorted(s.spellings.items()), s.nullable, s.checks)
        for s in fields(schema).values()
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def schemas(formats: Iterable[Format]) -> dict[str, Schema]:
    """Every frame name and its schema."""
    return {name: schema for fmt in formats for name, schema in fmt.schemas.items()}


def save(reading: Reading, folder: Path) -> None:
    """Write `reading` to `folder`, which appears complete or not at all.

    Raises FileExistsError where `folder` exists and was not written by `save`.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise FileExistsError(f"{folder} holds other files than those of an earlier ingest")
    with _beside(folder) as fresh:
        tool = {"assay.version": version("assay")}
        known = schemas(reading.formats)
        for name, frame in reading.frames.items():
            marks = {"assay.frame": name, "assay.schema": fingerprint(known[name]), **tool}
            frame.write_parquet(fresh / f"{name}.parquet", metadata=marks)
        reading.provenance.write_parquet(fresh / "provenance.parquet", metadata=tool)
        quarantine(reading).write_parquet(fresh / "quarantine.parquet", metadata=tool)
        (fresh / MANIFEST).write_text(json.dumps(manifest(reading), indent=1) + "\n", "utf-8")


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A temporary folder beside `folder` that takes its place when the block ends well."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield fresh
        fresh.chmod(0o755)
        if folder.exists():
            old = fresh.with_name(fresh.name + ".old")
            os.replace(folder, old)
            os.replace(fresh, folder)
            shutil.rmtree(old)
        else:
            os.replace(fresh, folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def manifest(reading: Reading) -> dict[str, Any]:
    """What a folder holds: frames with their schemas, and the account of every source."""
    known = schemas(reading.formats)
    return {
        "layout": LAYOUT,
        "version": version("assay"),
        "frames": {
            name: {"rows": frame.height, "schema": fingerprint(known[name])}
            for name, frame in sorted(reading.frames.items())
        },
        "sources": [
            {
                "name": a.source, "sha256": a.sha256, "lines": a.lines, "claimed": a.claimed,
                "refused": a.refused, "blank": a.blank, "not_ours": a.not_ours,
                "suspicious": list(a.suspicious),
            }
            for a in reading.accounting
        ],
    }  # fmt: skip


def quarantine(reading: Reading) -> pl.DataFrame:
    """Refusals with their reasons and raw bytes, then remarks; see `QUARANTINE`."""
    rows = [
        (*d.span, str(d.code), d.message, d.text, reading.raw.get(d.span), refused)
        for diagnostics, refused in ((reading.refused, True), (reading.remarks, False))
        for d in diagnostics
    ]
    return pl.DataFrame(rows, schema=QUARANTINE, orient="row")


def is_saved(folder: Path) -> bool:
    """Whether `folder` was written by `save`."""
    return (folder / MANIFEST).is_file()


def load(folder: Path, formats: Sequence[Format] = FORMATS) -> Reading | Diagnostic:
    """The reading that `save` wrote, or why it cannot be used; `formats` say what frames mean."""
    try:
        said = json.loads((folder / MANIFEST).read_text("utf-8"))
        if said["layout"] > LAYOUT:
            return _unusable(folder, f"has layout {said['layout']}, this version knows {LAYOUT}")
        known = schemas(formats)
        frames = {}
        for name, entry in said["frames"].items():
            if name not in known or entry["schema"] != fingerprint(known[name]):
                return _unusable(folder, f"frame {name} has another schema; run ingest again")
            frames[name] = pl.read_parquet(folder / f"{name}.parquet")
        provenance = pl.read_parquet(folder / "provenance.parquet").select(list(PROVENANCE))
        bad = pl.read_parquet(folder / "quarantine.parquet")
        accounts = tuple(
            Accounting(
                source=a["name"], sha256=a["sha256"], lines=a["lines"], claimed=a["claimed"],
                refused=a["refused"], blank=a["blank"], not_ours=a["not_ours"],
                suspicious=tuple(a["suspicious"]),
            )
            for a in said["sources"]
        )  # fmt: skip
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        pl.exceptions.PolarsError,
    ) as fault:
        return _unusable(folder, f"is damaged: {fault}")
    refused, remarks = _diagnostics(bad, refused=True), _diagnostics(bad, refused=False)
    raw = {
        Span(r["source"], r["line"], r["column"]): r["raw"]
        for r in bad.filter(pl.col("refused") & pl.col("raw").is_not_null()).iter_rows(named=True)
    }
    return Reading(frames, provenance, refused, remarks, accounts, raw, formats=tuple(formats))


def _diagnostics(bad: pl.DataFrame, *, refused: bool) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            Span(r["source"], r["line"], r["column"]), Code(r["code"]), r["message"], r["text"]
        )
        for r in bad.filter(pl.col("refused") == refused).iter_rows(named=True)
    )


def _unusable(folder: Path, why: str) -> Diagnostic:
    span = Span((folder / MANIFEST).as_posix(), 1)
    return Diagnostic(span, Code.UNREADABLE, f"the ingested folder {folder} {why}")
