"""A folder that ingest wrote, read back as the same outcome.

A folder without a manifest but with parts in `.parts` is an ingest that is not finished (see
`assay.ingest.inputs.parts`): what there is is read, and each input that is missing is named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.travel import understood
from assay.ingest.lines.rows import types_of
from assay.ingest.pipeline.merge import merge, together
from assay.ingest.schema.acceptance import check, passes
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Format, TableNote
from assay.ingest.schema.reading import PORTION, Accounting, Outcome, Overridden, Reading
from assay.ingest.schema.record import Code, Diagnostic, Schema, Span
from assay.ingest.store.case_frame import CASES, filled, stored_types
from assay.ingest.store.write import (
    LAYOUT,
    MANIFEST,
    OPTIONAL,
    PARTS,
    TABLES,
    WANTED,
    fingerprint,
    schemas,
)


class Unusable(ValueError):
    """A folder that cannot be read back, and why."""


def read_manifest(folder: Path, formats: Sequence[Format]) -> dict[str, Any]:
    """Manifest of a folder. Raises `Unusable`."""
    try:
        if not (folder / MANIFEST).is_file():
            raise Unusable("has no manifest: its ingest has not finished")
        said = json.loads((folder / MANIFEST).read_text("utf-8"))
        if said["layout"] != LAYOUT:
            what = f"has layout {said['layout']}, this version knows {LAYOUT}"
            raise Unusable(f"{what}: run ingest again")
        known = schemas(formats_of(said, formats))
        for name, entry in said["frames"].items():
            if name not in known:
                ask = "give its description with --format, or install the package that brings it"
                raise Unusable(f"frame {name} is of a format that is not known here: {ask}")
            if entry["schema"] != fingerprint(known[name]):
                raise Unusable(f"frame {name} has another schema; run ingest again")
        accounts(said)
        unreadable(said)
    except Unusable:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
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
    """The accounts that a manifest keeps. Raises ValueError for what is no account."""
    found = tuple(
        Accounting(
            source=a["name"], sha256=a["sha256"], lines=a["lines"], claimed=a["claimed"],
            refused=a["refused"], blank=a["blank"], not_ours=a["not_ours"],
            suspicious=tuple(a["suspicious"]),
            of=a.get("of", "line"),
            tables=tuple(_note(each) for each in a.get("tables", ())),
        )
        for a in said["sources"]
    )  # fmt: skip
    for each in found:
        sums = (each.claimed, each.refused, each.blank, each.not_ours)
        held = (each.lines, *sums, *each.suspicious)
        counts = set(map(type, held)) == {int} and min(held) >= 0
        if not (isinstance(each.source, str) and counts and sum(sums) == each.lines):
            raise ValueError(f"the account of {each.source!r} does not add up")
    return found


def _note(said: Mapping[str, Any]) -> TableNote:
    """A table as a manifest keeps it: JSON knows lists only."""
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in said.items()}
    return TableNote(**values)


def unreadable(said: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """The inputs that a manifest names as unreadable."""
    return tuple(
        Diagnostic(Span(str(each["name"]), 1), Code.UNREADABLE, str(each["message"]))
        for each in said.get("unreadable", ())
    )


def load(folder: Path, formats: Sequence[Format] = FORMATS, *, streamed: bool = False) -> Outcome:
    """Read what `save` wrote; a folder that cannot be used is an unreadable input that says why.

    `formats` say what the frames mean. Where they may be `streamed`, frames of more than `PORTION`
    rows stay in their files.
    """
    try:
        if not (folder / MANIFEST).is_file():
            return _unfinished(folder, formats)
        said = read_manifest(folder, formats)
        held = accounts(said)
        all_formats = formats_of(said, formats)
        known, sources = schemas(all_formats), {account.source for account in held}
        rows = {name: entry["rows"] for name, entry in said["frames"].items()}
        tables = {
            name: _sound(folder, name, types, TOLD[name], sources).select(list(types))
            for name, types in TABLES.items()
            if (folder / f"{name}.parquet").is_file() or name not in OPTIONAL
        }
        cases = tables.get("cases", pl.DataFrame(schema=CASES))
        streams = {
            name: Saved(folder, name, known[name], count, sources, cases)
            for name, count in rows.items()
            if streamed and count > PORTION
        }
        for stream in streams.values():
            stream.check()
        frames = {
            name: _frame(folder, name, known[name], count, sources, cases)
            for name, count in rows.items()
            if name not in streams
        }
        reading = Reading(frames, tables["provenance"], accounting=held,
                          **_diagnostics(tables["quarantine"]),
                          overridden=_overridden(tables.get("overridden")),
                          statements=tables.get("statements"),
                          formats=all_formats, streams=streams)  # fmt: skip
        return Outcome(reading, unreadable(said))
    except Unusable as fault:
        return Outcome(merge([]), (unusable(folder, fault),))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        return Outcome(merge([]), (unusable(folder, Unusable(f"is damaged: {fault}")),))


TOLD: Mapping[str, tuple[str, ...]] = {
    "provenance": ("source", "line", "frame", "field", "state", "value_origin"),
    "quarantine": ("source", "line", "column", "code", "message", "text", "refused"),
    "overridden": tuple(TABLES["overridden"]),
    "statements": ("source", "line", "column", "field", "text", "basis", "scope", "strength"),
    "cases": ("source", "case", "frame", "line", "last_line", "rows"),
}
"""Columns of the files beside the frames that have a value in every row."""


@dataclass(frozen=True)
class Saved:
    """Rows of a frame in the file of a folder, some at a time: a `Table`."""

    folder: Path
    name: str
    schema: Schema
    height: int
    sources: Set[str]
    cases: pl.DataFrame

    @property
    def file(self) -> Path:
        """Where they are."""
        return self.folder / f"{self.name}.parquet"

    @property
    def types(self) -> Mapping[str, pl.DataType]:
        """Their columns, in order."""
        return types_of(self.schema)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows, with what is bound to them."""
        return (filled(part, self.cases) for part in self._parts())

    def _parts(self) -> Iterator[pl.DataFrame]:
        """The rows, as the file has them."""
        for at in range(0, self.height, PORTION):
            with readable(self.file):
                part = pl.scan_parquet(self.file).slice(at, PORTION).collect(engine="in-memory")
            yield part

    def check(self) -> None:
        """Raise `Unusable` where a row is not such as ingest accepts, or rows are lacking."""
        with readable(self.file):
            height = pl.scan_parquet(self.file).select(pl.len()).collect().item()
        _as_promised(self.name, height, self.height)
        for part in self._parts():
            _accepted(part, self.name, self.schema, self.sources, self.cases)


PLACED = ("source", "line", "column")
"""Columns that every row of a frame has a value in."""


def _as_promised(name: str, height: int, promised: int) -> None:
    """Raise `Unusable` unless a file has as many rows as the manifest says."""
    if height != promised:
        what = f"{name}.parquet has {height:,} rows, the manifest says {promised:,}"
        raise Unusable(f"is damaged: {what}")


def _accepted(
    rows: pl.DataFrame, name: str, schema: Schema, sources: Set[str], cases: pl.DataFrame
) -> pl.DataFrame:
    """Rows of a file with what is bound to them: such as ingest accepts. Raises `Unusable`."""
    _right(rows, name, stored_types(schema), PLACED, sources)
    try:
        frame = filled(rows, cases)
    except ValueError as fault:
        raise Unusable(f"is damaged: {name}.parquet: {fault}") from fault
    if not passes(frame, schema) and not check(frame, schema, list(fields(schema))):
        raise Unusable(f"is damaged: {name}.parquet holds values that no ingest accepts")
    return frame


def _frame(
    folder: Path, name: str, schema: Schema, rows: int, sources: Set[str], cases: pl.DataFrame
) -> pl.DataFrame:
    """A frame whose rows are such as ingest accepts. Raises `Unusable`."""
    with readable(folder / f"{name}.parquet"):
        held = pl.read_parquet(folder / f"{name}.parquet")
    frame = _accepted(held, name, schema, sources, cases)
    _as_promised(name, frame.height, rows)
    return frame


def _sound(
    folder: Path, name: str, types: Mapping[str, pl.DataType], told: Sequence[str],
    sources: Set[str],
) -> pl.DataFrame:  # fmt: skip
    """A file with these columns, of `sources` alone and nothing lacking in those `told`."""
    with readable(folder / f"{name}.parquet"):
        frame = pl.read_parquet(folder / f"{name}.parquet")
    _right(frame, name, types, told, sources)
    return frame


def _right(
    frame: pl.DataFrame, name: str, types: Mapping[str, pl.DataType], told: Sequence[str],
    sources: Set[str],
) -> None:  # fmt: skip
    """Raise `Unusable` unless rows have these columns, are of `sources`, and lack none `told`."""
    sound_types(name, frame.schema, types)
    empty = next((column for column in told if frame[column].null_count()), None)
    if empty is not None:
        raise Unusable(f"is damaged: {name}.parquet has rows without a {empty}")
    foreign = set(frame["source"].unique()) - sources
    if foreign:
        what = f"{name}.parquet has rows of {min(foreign)}, which the manifest does not name"
        raise Unusable(f"is damaged: {what}")


def sound_types(
    name: str, held: Mapping[str, pl.DataType], types: Mapping[str, pl.DataType]
) -> None:
    """Raise `Unusable` unless a file has these columns."""
    for column, kind in types.items():
        if held.get(column) != kind:
            what = f"is {held[column]}" if column in held else "is missing"
            raise Unusable(f"is damaged: column {column} of {name}.parquet {what}, not {kind}")


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Raise `Unusable` where a Parquet file turns out to be none, or cut, or overwritten."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as fault:
        why = (str(fault).splitlines() or [type(fault).__name__])[0][:200]
        raise Unusable(f"is damaged: {file.name} cannot be read: {why}") from fault


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


def cut_inputs(folders: Iterable[Path]) -> tuple[Diagnostic, ...]:
    """The remarks on inputs that are cut short in the quarantine of folders."""
    return tuple(
        Diagnostic(Span(source, line, column), Code.CUT_SHORT, message)
        for folder in folders
        for source, line, column, message in pl.scan_parquet(folder / "quarantine.parquet")
        .filter(pl.col("code") == Code.CUT_SHORT)
        .select("source", "line", "column", "message")
        .collect()
        .iter_rows()
    )


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
    names = {str(name) for path in lists for name in json.loads(path.read_text("utf-8"))}
    return sorted(names)
