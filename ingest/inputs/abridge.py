"""Readings of long inputs with a part of their rows in memory, and all of them on disk.

In: a reading whose rows may be streams. Out: the same with frames alone. Frames of steps with more
than `LONG` rows hold those that `sift` chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import polars as pl
from assay.ingest.inputs.sift import LONG, sifted
from assay.ingest.lines.rows import types_of, widened
from assay.ingest.schema.fields import fields, rows_of
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Long, Reading, Table
from assay.ingest.schema.record import Schema
from assay.ingest.store.parquet import write

MOST_TOLD = 1_000
"""Rows whose values are explained one by one; where these are more, all rows are held."""


class Home:
    """A folder for the rows of long inputs, which goes when nobody needs it any more."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="assay-", ignore_cleanup_errors=True)

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self._folder.name)


def abridged(reading: Reading, home: Path) -> Reading:
    """The reading without streams; rows of long inputs go to a folder in `home`."""
    frames, long = dict(reading.frames), list(reading.long)
    folder = Path(mkdtemp(dir=home))
    for name, fmt, schema in _schemas(reading):
        stream = reading.streams.get(name)
        steps = rows_of(schema, fmt.origin) == "step"
        if stream is not None and steps and stream.height > LONG:
            frames[name], more = _filed(reading, name, schema, folder, stream)
            long += more
        elif stream is not None:
            frames[name] = widened(pl.concat(stream.frames(), how="diagonal"), stream.types)
        elif steps and frames[name].height > LONG:
            frames[name], more = _abridged(reading, name, schema, folder)
            long += more
    return replace(reading, frames=frames, streams={}, long=tuple(long))


def _filed(
    reading: Reading, name: str, schema: Schema, folder: Path, stream: Table
) -> tuple[pl.DataFrame, list[Long]]:
    """A frame that comes as a stream without most rows of its long inputs."""
    parts, long = [], []
    pieces = (
        (piece["source"][0], piece)
        for frame in stream.frames()
        for piece in frame.partition_by("source", maintain_order=True)
    )
    for at, (source, rows) in enumerate(groupby(pieces, key=itemgetter(0))):
        file = folder / f"{at}-{name}.parquet"
        write((piece for _, piece in rows), types_of(schema), file, {})
        height = pl.scan_parquet(file).select(pl.len()).collect().item()
        found = _sifted(reading, name, schema, source, file) if height > LONG else None
        parts.append(pl.read_parquet(file) if found is None else found[0])
        long += [] if found is None else [found[1]]
    return pl.concat(parts), long


def _abridged(
    reading: Reading, name: str, schema: Schema, folder: Path
) -> tuple[pl.DataFrame, list[Long]]:
    """A frame that is in memory without most rows of its long inputs."""
    parts, long = [], []
    for at, part in enumerate(reading.frames[name].partition_by("source", maintain_order=True)):
        found = None
        if part.height > LONG:
            file = folder / f"{at}-{name}.parquet"
            write([part], types_of(schema), file, {})
            found = _sifted(reading, name, schema, part["source"][0], file)
        parts.append(part if found is None else found[0])
        long += [] if found is None else [found[1]]
    return pl.concat(parts), long


def _schemas(reading: Reading) -> Iterator[tuple[str, Format, Schema]]:
    for fmt in reading.formats:
        for name, schema in fmt.schemas.items():
            if name in reading.frames or name in reading.streams:
                yield name, fmt, schema


def _sifted(
    reading: Reading, name: str, schema: Schema, source: str, file: Path
) -> tuple[pl.DataFrame, Long] | None:
    """The rows that are held of one frame; None where too many of them are something apart."""
    own = pl.col("last_line").is_null() & (pl.col("value_origin") == "printed")
    said = reading.provenance.filter((pl.col("source") == source) & (pl.col("frame") == name) & own)
    told = set(said["line"].to_list())
    if len(told) > MOST_TOLD:
        return None
    return sifted(source, name, file, fields(schema), told)
