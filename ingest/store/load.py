"""A folder that ingest wrote, read back as the same outcome.

A folder without a manifest but with parts in `.parts` is an ingest that is not finished (see
`assay.ingest.inputs.parts`): what there is is read, and each input that is missing is named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.travel import understood
from assay.ingest.pipeline.merge import merge, together
from assay.ingest.schema.format import Format, TableNote
from assay.ingest.schema.reading import Accounting, Outcome, Overridden, Reading
from assay.ingest.schema.record import Code, Diagnostic, Span
from assay.ingest.store.write import LAYOUT, MANIFEST, PARTS, TABLES, WANTED, fingerprint, schemas


class Unusable(ValueError):
    """A folder that cannot be read back, and why."""


def read_manifest(folder: Path, formats: Sequence[Format]) -> dict[str, Any]:
    """Manifest of a folder. Raises `Unusable`."""
    try:
        if not (folder / MANIFEST).is_file():
            raise Unusable("has no manifest: its ingest has not finished")
        said = json.loads((folder / MANIFEST).read_text("utf-8"))
        if said["layout"] != LAYOUT:
            raise Unusable(f"has layout {said['layout']}, this version knows {LAYOUT}")
        known = schemas(formats_of(said, formats))
        for name, entry in said["frames"].items():
            if name not in known:
                ask = "give its description with --format, or install the package that brings it"
                raise Unusable(f"frame {name} is of a format that is not known here: {ask}")
            if entry["schema"] != fingerprint(known[name]):
                raise Unusable(f"frame {name} has another schema; run ingest again")
    except Unusable:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise Unusable(f"is damaged: {fault}") from fault
    return dict(said)


def formats_of(said: Mapping[str, Any], formats: Iterable[Format]) -> tuple[Format, ...]:
    """`formats`, and those that a manifest brings along: what frames of users' formats mean.

    Raises BadFormat (a ValueError) where the manifest is damaged.
    """
    known = {fmt.name: fmt for fmt in formats}
    own = said.get("formats", {})
    return (*known.values(), *(understood(MANIFEST, own[n]) for n in own if n not in known))


def accounts(said: Mapping[str, Any]) -> tuple[Accounting, ...]:
    """The accounts that a manifest keeps."""
    return tuple(
        Accounting(
            source=a["name"], sha256=a["sha256"], lines=a["lines"], claimed=a["claimed"],
            refused=a["refused"], blank=a["blank"], not_ours=a["not_ours"],
            suspicious=tuple(a["suspicious"]),
            tables=tuple(_note(each) for each in a.get("tables", ())),
        )
        for a in said["sources"]
    )  # fmt: skip


def _note(said: Mapping[str, Any]) -> TableNote:
    """A table as a manifest keeps it: JSON knows lists only."""
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in said.items()}
    return TableNote(**values)


def unreadable(said: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """The inputs that a manifest names as unreadable."""
    return tuple(
        Diagnostic(Span(each["name"], 1), Code.UNREADABLE, each["message"])
        for each in said.get("unreadable", ())
    )


def load(folder: Path, formats: Sequence[Format] = FORMATS) -> Outcome:
    """Read what `save` wrote; a folder that cannot be used is an unreadable input that says why.

    `formats` say what the frames mean.
    """
    if not (folder / MANIFEST).is_file():
        return _unfinished(folder, formats)
    try:
        said = read_manifest(folder, formats)
        frames = {name: pl.read_parquet(folder / f"{name}.parquet") for name in said["frames"]}
        held = {
            name: pl.read_parquet(path).select(list(schema))
            for name, schema in TABLES.items()
            if (path := folder / f"{name}.parquet").is_file() or name != "overridden"
        }
        reading = Reading(frames, held["provenance"], accounting=accounts(said),
                          **_diagnostics(held["quarantine"]),
                          overridden=_overridden(held.get("overridden")),
                          formats=formats_of(said, formats))  # fmt: skip
        return Outcome(reading, unreadable(said))
    except Unusable as fault:
        return Outcome(merge([]), (unusable(folder, fault),))
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as fault:
        return Outcome(merge([]), (unusable(folder, Unusable(f"is damaged: {fault}")),))


def unusable(folder: Path, fault: Unusable) -> Diagnostic:
    """Diagnostic for a folder that cannot be read back."""
    span = Span((folder / MANIFEST).as_posix(), 1)
    return Diagnostic(span, Code.UNREADABLE, f"the ingested folder {folder} {fault}")


def _diagnostics(bad: pl.DataFrame) -> dict[str, Any]:
    kept: dict[bool, list[Diagnostic]] = {True: [], False: []}
    raw: dict[Span, bytes] = {}
    for r in bad.iter_rows(named=True):
        span = Span(r["source"], r["line"], r["column"])
        kept[r["refused"]].append(Diagnostic(span, Code(r["code"]), r["message"], r["text"]))
        if r["refused"] and r["raw"] is not None:
            raw[span] = r["raw"]
    return {"refused": tuple(kept[True]), "remarks": tuple(kept[False]), "raw": raw}


def _overridden(rows: pl.DataFrame | None) -> tuple[Overridden, ...]:
    if rows is None:
        return ()
    return tuple(
        Overridden(source, line, frame, field, value, Span(source, at_line, at_column))
        for source, line, frame, field, value, at_line, at_column in rows.iter_rows()
    )


def _unfinished(folder: Path, formats: Sequence[Format]) -> Outcome:
    """The parts that there are, and each wanted input that is in none of them."""
    parts = together(load(part, formats) for part in parts_of(folder))
    held = {account.source for account in parts.reading.accounting}
    failed = [fault for fault in parts.unreadable if fault.span.source not in held]
    done = held | {fault.span.source for fault in failed}
    message = f"is not in {folder} yet: its ingest has not finished"
    missing = [
        Diagnostic(Span(name, 1), Code.UNREADABLE, message)
        for name in wanted(folder)
        if name not in done
    ]
    return Outcome(parts.reading, tuple(sorted({*failed, *missing})))


def parts_of(folder: Path) -> list[Path]:
    """The parts of an unfinished ingest; what is still being written is hidden."""
    found = sorted((folder / PARTS).glob(f"*/{MANIFEST}"))
    return [path.parent for path in found if not path.parent.name.startswith(".")]


def wanted(folder: Path) -> list[str]:
    """The inputs that an unfinished ingest has been asked for."""
    lists = sorted((folder / PARTS).glob(WANTED))
    names = (name for path in lists for name in json.loads(path.read_text("utf-8")))
    return sorted(set(names))
