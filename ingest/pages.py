"""Columns of a Parquet file that are sooner written here than asked for: numbers without a gap.

In: a series. Out: its pages and what a footer says about them, or None where that is left to
polars. Doubles stand as they are: compressing them halves them and takes most of the time of
writing. Integers that step evenly, as iterations do, take a few bytes for every 128.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.thrift import BINARY, I32, I64, LIST, STRUCT, Struct, number, signed, spelled

# fields of the structs of a footer and of a page, by number
PATH, UNPACKED, PACKED, DATA, DICTIONARY = 3, 6, 7, 9, 11

_PLAIN, _RLE, _DELTAS = 0, 3, 5  # encodings
_TYPES: dict[type[pl.DataType], int] = {pl.Float64: 5, pl.Int64: 2, pl.UInt32: 1}
_BLOCK, _PARTS = 128, 4  # deltas in a block, and the parts that each has a width of its own


class Chunk(NamedTuple):
    """One column of a row group: its pages, and what a footer says about it."""

    pages: bytes
    about: Struct


def chunk(series: pl.Series) -> Chunk | None:
    """The chunk of a column, if it is one of those that are written here."""
    if series.dtype not in (pl.Float64, pl.Int64, pl.UInt32) or series.null_count():
        return None
    values = series.to_numpy()
    if series.dtype == pl.Float64:
        return _chunk(series, _PLAIN, values.data)
    deltas = _deltas(values)
    return _chunk(series, _DELTAS, deltas) if deltas else None


def _deltas(values: npt.NDArray[np.int64]) -> bytes | None:
    """Integers of which each is the one before and always the same."""
    if len(values) < 2:
        return None
    first, step = int(values[0]), int(values[1]) - int(values[0])
    last = first + step * (len(values) - 1)
    most = 2 ** (8 * values.itemsize - 1)  # of what a reader takes for a number with a sign
    if int(values[-1]) != last or max(first, last, abs(step)) >= most:
        return None
    if not (values[1:] - values[:-1] == np.array(step).astype(values.dtype)).all():
        return None
    head = number(_BLOCK) + number(_PARTS) + number(len(values)) + signed(first)
    return head + (signed(step) + bytes(_PARTS)) * -(-(len(values) - 1) // _BLOCK)


def _chunk(series: pl.Series, encoding: int, body: bytes | memoryview) -> Chunk:
    height = len(series)
    there = number(height << 1) + b"\1"  # one run: no row lacks its value
    levels = len(there).to_bytes(4, "little") + there
    size = len(levels) + (len(body) if isinstance(body, bytes) else body.nbytes)
    said: Struct = {1: (I32, height), 2: (I32, encoding), 3: (I32, _RLE), 4: (I32, _RLE)}
    head = spelled({1: (I32, 0), 2: (I32, size), 3: (I32, size), 5: (STRUCT, said)})
    about: Struct = {
        1: (I32, _TYPES[type(series.dtype)]),
        2: (LIST, (I32, [encoding, _RLE])),
        PATH: (LIST, (BINARY, [series.name.encode()])),
        4: (I32, 0),  # not compressed
        5: (I64, height),
        UNPACKED: (I64, len(head) + size),
        PACKED: (I64, len(head) + size),
        DATA: (I64, 0),
    }
    return Chunk(b"".join([head, levels, body]), about)
