"""Parts put together: one Parquet file per frame, sorted by source and line, in flat memory.

In: folders as `save` writes them, and the sources to take from each. Out: the files and the
manifest of one folder. Rows are streamed in the order of their sources, so that what is written
depends on the inputs alone and not on how they were shared out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from assay.ingest.schema.format import Format
from assay.ingest.schema.record import Diagnostic, Schema
from assay.ingest.store import parquet
from assay.ingest.store.case_frame import stored_types
from assay.ingest.store.load import (
    Unusable,
    accounts,
    formats_of,
    read_manifest,
    readable,
    sound_types,
)
from assay.ingest.store.parquet import also, write
from assay.ingest.store.write import (
    MANIFEST,
    OPTIONAL,
    PARTS,
    TABLES,
    marks,
    schemas,
    write_manifest,
)


@dataclass(frozen=True)
class Piece:
    """Rows of one source in one file."""

    source: str
    file: Path
    offset: int
    rows: int


def consolidate(
    taken: Mapping[str, Path],
    folder: Path,
    unreadable: Sequence[Diagnostic],
    formats: Sequence[Format],
) -> dict[str, int]:
    """Write the sources of `taken` (name → part) to `folder`; the number of rows of each frame.

    Files of an earlier ingest are replaced. While its manifest is away, readers of `folder` see the
    parts; the new manifest comes last. Raises `Unusable` for a part that is damaged.
    """
    parts = {part: read_manifest(part, formats) for part in dict.fromkeys(taken.values())}
    for said in parts.values():
        formats = formats_of(said, formats)
    known = schemas(formats)
    wanted = sorted({name for said in parts.values() for name in said["frames"]})
    pieces = {name: _pieces(name, taken, parts) for name in (*wanted, *TABLES)}
    pieces = {name: found for name, found in pieces.items() if found or name not in OPTIONAL}
    for left in folder.glob(".*.parquet.*"):  # by an attempt that was killed here
        left.unlink(missing_ok=True)
    fresh = {name: folder / f".{name}.parquet.{os.getpid()}" for name in pieces}
    try:
        for name, found in pieces.items():
            _write(name, found, parts, fresh[name], known)
        old = _earlier(folder)
        (folder / MANIFEST).unlink(missing_ok=True)
        for name in {*known, *TABLES, *old}:
            (folder / f"{name}.parquet").unlink(missing_ok=True)
        for name, part in fresh.items():
            os.replace(part, folder / f"{name}.parquet")
    finally:
        for part in fresh.values():
            part.unlink(missing_ok=True)
    rows = {name: sum(piece.rows for piece in pieces[name]) for name in wanted}
    held = (a for part, said in parts.items() for a in accounts(said) if taken[a.source] == part)
    write_manifest(folder, rows, formats, sorted(held, key=lambda a: a.source), unreadable)
    return rows


def _earlier(folder: Path) -> list[str]:
    """The frames that an earlier ingest left in a folder; some may be of formats not known now."""
    try:
        names = json.loads((folder / MANIFEST).read_text("utf-8"))["frames"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [name for name in names if (folder / f"{name}.parquet").parent == folder]


def _pieces(
    name: str, taken: Mapping[str, Path], parts: Mapping[Path, Mapping[str, Any]]
) -> list[Piece]:
    """Where the rows of a frame are, in the order of sources."""
    found = []
    for part, said in parts.items():
        file, count = part / f"{name}.parquet", 0
        promised = said["frames"].get(name, {"rows": 0})["rows"]
        if not file.is_file():
            if name in said["frames"] or name in ("provenance", "quarantine"):
                raise Unusable(f"the ingested folder {part} is damaged: {file.name} is missing")
            continue
        sources = [account.source for account in accounts(said)]
        for source, offset, rows in _runs(file, sources):
            if source not in sources:
                what = f"{file.name} has rows of {source}, which the manifest does not name"
                raise Unusable(f"the ingested folder {part} is damaged: {what}")
            count += rows
            if taken.get(source) == part:
                found.append(Piece(source, file, offset, rows))
        if name in said["frames"] and count != promised:
            what = f"{file.name} has {count:,} rows, the manifest says {promised:,}"
            raise Unusable(f"the ingested folder {part} is damaged: {what}")
    return sorted(found, key=lambda piece: (piece.source, piece.offset))


def _runs(file: Path, sources: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Source, first row and number of rows of each run of one source in a file with `sources`."""
    if len(sources) == 1:  # a long input stands alone in its part
        height = _height(file)
        if height:
            yield sources[0], 0, height
        return
    lazy = pl.scan_parquet(file).select(pl.col("source").rle()).unnest("source")
    offset = 0
    with _damaged(file):
        runs = lazy.collect(engine="in-memory")
    for rows, source in runs.iter_rows():
        yield source, offset, rows
        offset += rows


def _write(
    name: str,
    pieces: Sequence[Piece],
    parts: Iterable[Path],
    path: Path,
    known: Mapping[str, Schema],
) -> None:
    """Put the pieces into one file; a part's file that holds them alone, in order, is that file.

    A file of another ingested folder stays its own, and may be of an earlier version.
    """
    schema = _schema(name, parts, known)
    joined = _joined(pieces)
    if len(joined) == 1:
        (file, offset, rows), *_ = joined
        same = list(_types(file)) == list(schema)
        ours = file.is_relative_to(path.parent / PARTS)
        if ours and same and offset == 0 and rows == _height(file):
            also(file, path)
            return
    write(_frames(joined, list(schema)), schema, path, marks(name, known.get(name)))


def _height(file: Path) -> int:
    with _damaged(file):
        rows: int = pl.scan_parquet(file).select(pl.len()).collect().item()
    return rows


def _schema(
    name: str, parts: Iterable[Path], known: Mapping[str, Schema]
) -> dict[str, pl.DataType]:
    types = dict(TABLES[name]) if name in TABLES else stored_types(known[name])
    for file in (part / f"{name}.parquet" for part in parts):
        if file.is_file():
            with _damaged(file):
                sound_types(name, _types(file), types)
    return types


def _types(file: Path) -> Mapping[str, pl.DataType]:
    with _damaged(file):
        return pl.read_parquet_schema(file)


@contextmanager
def _damaged(file: Path) -> Iterator[None]:
    """Raise `Unusable`, which names the folder, where a file in it cannot be read."""
    try:
        with readable(file):
            yield
    except Unusable as fault:
        raise Unusable(f"the ingested folder {file.parent} {fault}") from fault


def _frames(
    joined: Sequence[tuple[Path, int, int]], columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """Rows of files in order, a bounded number at a time."""
    for file, offset, rows in joined:
        scan = pl.scan_parquet(file).select(columns)
        for start in range(offset, offset + rows, parquet.ROWS):
            length = min(parquet.ROWS, offset + rows - start)
            with _damaged(file):
                frame = scan.slice(start, length).collect(engine="in-memory")
            yield frame


def _joined(pieces: Sequence[Piece]) -> list[tuple[Path, int, int]]:
    """Pieces that follow one another in their file, as one."""
    joined: list[tuple[Path, int, int]] = []
    for piece in pieces:
        if joined:
            file, offset, rows = joined[-1]
            if file == piece.file and offset + rows == piece.offset:
                joined[-1] = (file, offset, rows + piece.rows)
                continue
        joined.append((piece.file, piece.offset, piece.rows))
    return joined
