"""Rows to a Parquet file as they come: the same bytes however they came.

In: frames that may lack columns that are empty in them. Out: a file whose row groups have `ROWS`
rows each, but for the last.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

import polars as pl
from assay.ingest.lines.rows import widened
from assay.ingest.schema.reading import PORTION
from polars.io.plugins import register_io_source

ROWS: Final = PORTION
"""Rows in a row group of the files."""

COMPRESSION: Final = "lz4"
"""Twice the size of zstd, at two thirds of the time."""


def write(
    frames: Iterable[pl.DataFrame],
    schema: Mapping[str, pl.DataType],
    path: Path,
    said: dict[str, str],
) -> None:
    """Write frames to a file that says `said` of itself."""
    groups = (widened(group, schema) for group in regrouped(frames))
    first = next(groups, pl.DataFrame(schema=schema))
    second = next(groups, None)
    if second is None:
        first.write_parquet(
            path, compression=COMPRESSION, statistics=False, row_group_size=ROWS, metadata=said
        )
        return

    def rows(
        columns: list[str] | None, _filter: object, _limit: object, _size: object
    ) -> Iterator[pl.DataFrame]:
        for frame in chain([first, second], groups):
            yield frame.select(columns) if columns else frame

    lazy = register_io_source(rows, schema=first.schema, validate_schema=True)
    lazy.sink_parquet(
        path, compression=COMPRESSION, statistics=False, row_group_size=ROWS, metadata=said,
        maintain_order=True,
    )  # fmt: skip


def regrouped(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Rows regrouped into frames of exactly `ROWS`, but for the last."""
    held: list[pl.DataFrame] = []
    count = 0
    for frame in frames:
        held.append(frame)
        count += frame.height
        while count >= ROWS:
            whole = pl.concat(held, how="diagonal")
            yield whole.slice(0, ROWS)
            held, count = [whole.slice(ROWS)], count - ROWS
    if count:
        yield pl.concat(held, how="diagonal").rechunk()


def also(file: Path, path: Path) -> None:
    """Give a file a second name: a link, or a copy where there are no links."""
    try:
        os.link(file, path)
    except OSError:  # a file system without links
        shutil.copyfile(file, path)
