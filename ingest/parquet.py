"""Rows to a Parquet file as they come: the same bytes however they came.

In: frames with columns of one schema. Out: a file whose row groups have `ROWS` rows each, but for
the last. polars encodes the columns; put together here are the encoded columns and the footer: so
several row groups are encoded at once, a column that has one value in a row group, or none, is
encoded once for all row groups that have the same, and polars is not asked for what
`assay.ingest.pages` has.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from io import BytesIO
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Final

import polars as pl
from assay.ingest.ahead import ahead
from assay.ingest.alike import SEVERAL, only, widened
from assay.ingest.pages import DATA, DICTIONARY, PACKED, PATH, UNPACKED, Chunk, chunk
from assay.ingest.thrift import I64, LIST, STRUCT, Struct, parsed, spelled

ROWS = 100_000
"""Rows in memory at a time, and in a row group of the files."""

COMPRESSION: Final = "lz4"
"""Twice the size of zstd, at two thirds of the time."""

_MAGIC = b"PAR1"
# fields of the structs of a footer, by number
_HEIGHT, _GROUPS = 3, 4  # of a file
_COLUMNS = 1  # of a row group
_OFFSET, _ABOUT = 2, 3  # of a column in it


_Encoded = dict[str, list[Chunk]]  # by column; a nested one has several


def write(
    frames: Iterable[pl.DataFrame],
    schema: Mapping[str, pl.DataType],
    path: Path,
    said: dict[str, str],
) -> None:
    """Write frames to a file that says `said` of itself; what a frame lacks is unknown."""
    groups, none = regrouped(frames), pl.DataFrame(schema=schema)
    first, second = next(groups, none), next(groups, None)
    if second is None:
        _plain(widened(first, schema), path, said)
        return
    encoder = _Encoder(schema)
    with path.open("wb") as file:
        file.write(_MAGIC)
        row_groups = [
            _placed(group, height, schema, file)
            for height, group in ahead(chain([first, second], groups), encoder.encode)
        ]
        footer = _footer(_bytes(none, said))
        footer[_HEIGHT] = I64, sum(group[3][1] for group in row_groups)
        footer[_GROUPS] = LIST, (STRUCT, row_groups)
        end = spelled(footer)
        file.write(end + len(end).to_bytes(4, "little") + _MAGIC)


def _plain(frame: pl.DataFrame, file: Path | BytesIO, said: dict[str, str]) -> None:
    frame.write_parquet(
        file, compression=COMPRESSION, statistics=False, row_group_size=ROWS, metadata=said
    )


def _bytes(frame: pl.DataFrame, said: dict[str, str]) -> bytes:
    held = BytesIO()
    _plain(frame, held, said)
    return held.getvalue()


def _footer(data: bytes) -> Struct:
    length = int.from_bytes(data[-8:-4], "little")
    return parsed(data[-8 - length : -8])


class _Encoder:
    """Encodes row groups; remembers the columns of one value."""

    def __init__(self, types: Mapping[str, pl.DataType]) -> None:
        self.types = types
        self.known: dict[tuple[str, int], tuple[Hashable, list[Chunk]]] = {}
        self.lock = Lock()

    def encode(self, frame: pl.DataFrame) -> tuple[int, _Encoded]:
        """The height of a row group and its encoded columns."""
        frame = frame.rechunk()
        held = {series.name: only(series) for series in frame}
        values = {name: held.get(name) for name in self.types}
        several = [name for name, each in values.items() if each is SEVERAL]
        found = {name: [mine] for name in several if (mine := chunk(frame[name]))}
        found |= _chunks(frame.select(name for name in several if name not in found))
        with self.lock:
            return frame.height, found | self._once(frame, values)

    def _once(self, frame: pl.DataFrame, values: Mapping[str, Hashable]) -> _Encoded:
        """The columns of one value, encoded unless they have been."""
        found, new = {}, []
        for name, value in values.items():
            held, chunks = self.known.get((name, frame.height), (SEVERAL, []))
            if value is not SEVERAL and value == held:
                found[name] = chunks
            elif value is not SEVERAL:
                new.append(name)
        made = _chunks(widened(frame, {name: self.types[name] for name in new}))
        self.known |= {(name, frame.height): (values[name], made[name]) for name in new}
        return found | made


def _chunks(frame: pl.DataFrame) -> _Encoded:
    """The columns of one row group as polars encodes them."""
    found: _Encoded = {}
    if not frame.width:
        return found
    data = _bytes(frame, {})
    (row_group,) = _footer(data)[_GROUPS][1][1]
    for column in row_group[_COLUMNS][1][1]:
        about = column[_ABOUT][1]
        start = about[DICTIONARY if DICTIONARY in about else DATA][1]
        for at in about.keys() & {DATA, DICTIONARY}:
            about[at] = I64, about[at][1] - start
        pages = data[start : start + about[PACKED][1]]
        found.setdefault(about[PATH][1][1][0].decode(), []).append(Chunk(pages, about))
    return found


def _placed(columns: _Encoded, height: int, names: Iterable[str], file: BinaryIO) -> Struct:
    """Write a row group; what the footer says about it."""
    begin = file.tell()
    said: list[Struct] = []
    for pages, about in chain.from_iterable(columns[name] for name in names):
        at = file.tell()
        file.write(pages)
        places = {field: (I64, about[field][1] + at) for field in about.keys() & {DATA, DICTIONARY}}
        said.append({_OFFSET: (I64, 0), _ABOUT: (STRUCT, about | places)})
    unpacked = sum(column[_ABOUT][1][UNPACKED][1] for column in said)
    return {
        _COLUMNS: (LIST, (STRUCT, said)), 2: (I64, unpacked), 3: (I64, height), 5: (I64, begin),
        6: (I64, file.tell() - begin),
    }  # fmt: skip


def regrouped(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in frames of exactly `ROWS`, but for the last, without columns of nothing."""
    held: list[pl.DataFrame] = []
    count = 0
    for frame in frames:
        held.append(_narrow(frame))
        count += frame.height
        while count >= ROWS:
            whole = pl.concat(held, how="diagonal")
            yield whole.slice(0, ROWS)
            held, count = [whole.slice(ROWS)], count - ROWS
    if count:
        yield pl.concat(held, how="diagonal")


def _narrow(frame: pl.DataFrame) -> pl.DataFrame:
    missing = frame.null_count().row(0)
    return frame.select(
        name for name, n in zip(frame.columns, missing, strict=True) if n < frame.height or not n
    )
