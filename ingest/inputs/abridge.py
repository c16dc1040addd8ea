"""Readings of long inputs with a part of their rows in memory, and all of them on disk.

In: a reading whose rows may be streams. Out: the same with frames alone. Frames of steps with more
than `LONG` rows hold those that `sift` chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import polars as pl
from assay.ingest.inputs.sift import LONG, sifted
from assay.ingest.lines.rows import types_of, widened
from assay.ingest.schema.fields import fields, rows_of
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Long, Reading
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
    """The reading of one input without streams; long frames go to a folder in `home`."""
    frames, long = dict(reading.frames), []
    folder = Path(mkdtemp(dir=home))
    for name, fmt, schema in _schemas(reading):
        held = reading.streams.get(name)
        height = frames[name].height if held is None else held.height
        kept = None
        if height > LONG and rows_of(schema, fmt.origin) == "step":
            file = folder / f"{name}.parquet"
            parts = [frames[name]] if held is None else held.frames()
            write(parts, types_of(schema), file, {})
            frames.pop(name, None)
            kept = _sifted(reading, name, schema, file)
            frames[name] = pl.read_parquet(file) if kept is None else kept[0]
            long += [] if kept is None else [kept[1]]
        elif held is not None:
            whole = pl.concat(held.frames(), how="diagonal")
            frames[name] = widened(whole, held.types)
    return replace(reading, frames=frames, streams={}, long=tuple(long))


def _schemas(reading: Reading) -> Iterator[tuple[str, Format, Schema]]:
    for fmt in reading.formats:
        for name, schema in fmt.schemas.items():
            if name in reading.frames or name in reading.streams:
                yield name, fmt, schema


def _sifted(
    reading: Reading, name: str, schema: Schema, file: Path
) -> tuple[pl.DataFrame, Long] | None:
    """The rows that are held of one frame; None where too many of them are something apart."""
    (account,) = reading.accounting
    own = pl.col("last_line").is_null() & (pl.col("value_origin") == "printed")
    said = reading.provenance.filter((pl.col("frame") == name) & own)
    told = set(said["line"].to_list())
    if len(told) > MOST_TOLD:
        return None
    return sifted(account.source, name, file, fields(schema), told)
