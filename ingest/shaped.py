"""Rows from the bytes of lines of known shapes.

In: lines of one shape, some at a time. Out: a `Part` for each, and the rows of all parts that are
of one layout, in the order of their lines. A column that has one value in all of them is made of
that value alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.accept import OTHER
from assay.ingest.block import Mask, Places
from assay.ingest.digits import ZERO, decoded
from assay.ingest.layout import Layout
from assay.ingest.shape import Shape, Text
from assay.ingest.split import others
from assay.ingest.words import Bytes, Lines

_SHORT = 2  # digits of a rank or a host

Column = npt.NDArray[Any]
"""A value for each row, or one for all."""


class Part(NamedTuple):
    """Some lines of one shape: where they stand, their columns, and which are sound; None: all."""

    at: Places
    columns: dict[str, Column]
    texts: dict[str, Bytes]
    sound: Mask | None

    @property
    def are_sound(self) -> Mask:
        """Whether each of them is."""
        return np.ones(len(self.at), np.bool_) if self.sound is None else self.sound


def part_of(shape: Shape, at: Places, lines: Lines) -> Part:
    """What some lines of a shape say; `at` is where they stand in their block."""
    columns: dict[str, Column] = {}
    sound: Mask | None = None
    words = shape.words.read(lines)
    for number in shape.numbers:
        values, ulp, fits = decoded(number, words, lines)
        columns[number.name] = np.asarray(values)
        if number.spec.has_ulp:
            columns[f"{number.name}_ulp"] = np.asarray(ulp, np.float64)
        if fits is not None:
            sound = fits if sound is None else sound & fits
    texts = {text.name: lines.rows[:, text.start : text.end].copy() for text in shape.texts}
    return Part(at, columns, texts, sound)


def rows_of(
    layout: Layout,
    found: Sequence[tuple[Shape, Sequence[Part]]],
    source: str,
    first: int,
    names: Sequence[str],
) -> pl.DataFrame:
    """The rows of one layout that need no parser, in a block whose first line is number `first`.

    They have those of the named columns that such lines print, in this order.
    """
    parts = [part for _, some in found for part in some]
    at = np.concatenate([part.at for part in parts])
    columns = {name: _joined(parts, name) for name in parts[0].columns}
    several = (pl.Series(name, values) for name, values in columns.items() if values.ndim)
    line = pl.Series("line", at + first, dtype=pl.UInt32)
    frame = pl.DataFrame([line, *several, *_texts(found)])
    if any(part.sound is not None for part in parts):
        frame = frame.filter(pl.Series(np.concatenate([part.are_sound for part in parts])))
    if not (at[1:] > at[:-1]).all():
        frame = frame.sort("line")
    none = _literal(pl.Series([[]], dtype=OTHER))
    made = {
        **{name: _alike(values) for name, values in columns.items() if not values.ndim},
        "source": _literal(pl.Series([source], dtype=pl.String)),
        "column": _literal(pl.Series([layout.width + 1], dtype=pl.UInt32)),
        "other": others(layout) if layout.others else none,
    }
    held = set(frame.columns)
    return frame.select(
        made[name].alias(name) if name in made else pl.col(name)
        for name in names
        if name in made or name in held
    )


def _literal(value: pl.Series) -> pl.Expr:
    return pl.lit(value).first()


def _alike(value: Column) -> pl.Expr:
    """A column of one value."""
    return pl.lit(value.item(), dtype=pl.Int64 if value.dtype.kind == "i" else pl.Float64)


def _joined(parts: Sequence[Part], name: str) -> Column:
    """The values of a column in all parts, or the one value that it has in all of them."""
    values = [part.columns[name] for part in parts]
    if not any(each.ndim for each in values) and len({each.tobytes() for each in values}) == 1:
        return values[0]
    return np.concatenate(
        [
            each if each.ndim else np.full(len(part.at), each)
            for each, part in zip(values, parts, strict=True)
        ]
    )


def _texts(found: Sequence[tuple[Shape, Sequence[Part]]]) -> Iterator[pl.Series]:
    """The texts of lines of one layout."""
    for number, text in enumerate(found[0][0].texts):
        each = [_text(shape, shape.texts[number], parts) for shape, parts in found]
        yield pl.concat(each).alias(text.name)


def _text(shape: Shape, text: Text, parts: Sequence[Part]) -> pl.Series:
    """The texts at one place, each spelling made once."""
    place = slice(text.start, text.end)
    low = shape.low[place]
    digits = np.flatnonzero(low < shape.high[place])
    if not len(digits):
        only = low.tobytes().decode("ascii")
        height = sum(len(part.at) for part in parts)
        return pl.Series(text.name, [only], dtype=pl.String).new_from_index(0, height)
    cells = np.concatenate([part.texts[text.name] for part in parts])
    if len(digits) <= _SHORT:  # each number that may stand there, spelled
        tens = 10 ** np.arange(len(digits) - 1, -1, -1)
        which = (cells[:, digits] - np.uint8(ZERO)).astype(np.int64) @ tens
        every = np.tile(low, (10 ** len(digits), 1))
        every[:, digits] += (np.arange(len(every))[:, None] // tens % 10).astype(np.uint8)
        known = [said.tobytes().decode("ascii") for said in every]
    else:
        spelled = np.ascontiguousarray(cells).view(f"S{len(low)}").reshape(-1)
        each, which = np.unique(spelled, return_inverse=True)
        known = [said.decode("ascii") for said in each.tolist()]
    return pl.Series(text.name, known, dtype=pl.String).gather(which)
