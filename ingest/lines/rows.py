"""Rows that were read column by column: in memory, or in a file until they are wanted.

`Rows` hold what their lines print, `BoundRows` a run of them with what is bound to all of these. A
`Stream` gives the rows of a frame in order, a block at a time, with those that the fold gave.
Columns of one value, or of none, are told from the others (`alike`): what costs by the row is done
once for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from assay.ingest.lines.template import Layout
from assay.ingest.schema.acceptance import BASE_TYPES
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Schema

SUPERSEDED = "superseded"


@dataclass(frozen=True, eq=False)
class Rows:
    """Accepted rows of one layout, in order, without what is bound from outside.

    `alike` are the columns that have one value in all of them, in a frame of one row; `rising` the
    first and last value of integers that rise from row to row, as far as that is quickly told.
    """

    layout: Layout
    held: pl.DataFrame | Path
    alike: pl.DataFrame
    height: int
    first: int  # line of the first row
    last: int
    rising: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, layout: Layout, frame: pl.DataFrame) -> Rows:
        """Rows in memory; there is at least one."""
        same = alike(frame) if frame.height > 1 else []
        # made anew: a slice would keep all of its column
        row = dict(zip(frame.columns, frame.row(0), strict=True))
        one = pl.DataFrame([pl.Series(n, [row[n]], dtype=frame.schema[n]) for n in same])
        rest, line = frame.drop(same), frame["line"]
        whole = [name for name, kind in rest.schema.items() if kind == pl.Int64]
        rising = {name: ends for name in whole if (ends := _rising(rest[name]))}
        return cls(layout, rest, one, frame.height, int(line[0]), int(line[-1]), rising)

    @property
    def own(self) -> pl.DataFrame:
        """The columns that are not alike in all rows, the line among them."""
        if isinstance(self.held, pl.DataFrame):
            return self.held
        return pl.read_ipc(self.held.read_bytes())

    @property
    def lines(self) -> pl.Series:
        """The lines of the rows."""
        return self.some(["line"])["line"]

    def some(self, names: Sequence[str]) -> pl.DataFrame:
        """The lines of the rows, and those of the named columns that such lines print."""
        alike = [name for name in names if name in self.alike]
        held = self.held
        if isinstance(held, Path):
            known = pl.read_ipc_schema(held)
            own = [name for name in names if name in known and name != "line"]
            frame = pl.read_ipc(held.read_bytes(), columns=["line", *own])
        else:
            frame = held.select("line", *(n for n in names if n in held.columns and n != "line"))
        return frame.with_columns(_literal(self.alike[name]) for name in alike)

    def frame(self, begin: int = 0, height: int | None = None) -> pl.DataFrame:
        """The columns that such lines print, of some of them."""
        some = self.own.slice(begin, height)
        return some.with_columns(_literal(series) for series in self.alike)

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return int(self.held.estimated_size()) if isinstance(self.held, pl.DataFrame) else 0

    def put_away(self, path: Path) -> Rows:
        """These rows, moved from memory to a file."""
        self.own.write_ipc(path)
        return replace(self, held=path)


def _literal(series: pl.Series) -> pl.Expr:
    return pl.lit(series).first().alias(series.name)


def _rising(series: pl.Series) -> tuple[int, int] | None:
    """The first and the last of integers of which each is above the one before."""
    if series.dtype != pl.Int64 or series.null_count():
        return None
    values = series.to_numpy()
    return (int(values[0]), int(values[-1])) if (values[1:] > values[:-1]).all() else None


@dataclass(frozen=True, eq=False)
class BoundRows:
    """A run of rows that are bound alike: the cells bound to each, and their values by column."""

    rows: Rows
    begin: int
    height: int
    first: int  # line of the first row
    bound: Mapping[str, Cell] = field(default_factory=dict)
    values: Mapping[str, pl.Series] = field(default_factory=dict)
    said: Mapping[str, Cell] = field(default_factory=dict)  # by the nearest statement above
    again: frozenset[int] = frozenset()  # lines of rows that a later one repeats

    @cached_property
    def last(self) -> int:
        """The line of the last row."""
        if self.begin + self.height == self.rows.height:
            return self.rows.last
        return int(self.rows.lines[self.begin + self.height - 1])

    def rising(self, name: str) -> tuple[int, int] | None:
        """The first and the last integer of a printed column in which each is above the others."""
        if self.height == self.rows.height:
            return self.rows.rising.get(name)
        printed = self.rows.some([name]).slice(self.begin, self.height)
        return _rising(printed[name]) if name in printed else None

    @property
    def frame(self) -> pl.DataFrame:
        """The rows with what is bound to them and the marks they bear."""
        frame = self.rows.frame(self.begin, self.height)
        if self.again:
            repeated = pl.col("line").is_in(sorted(self.again))
            frame = frame.with_columns(mark=pl.when(repeated).then(pl.lit(SUPERSEDED)))
        return frame.with_columns(
            pl.lit(value).first().alias(name) for name, value in self.values.items()
        )


def types_of(schema: Schema) -> dict[str, pl.DataType]:
    """Every column of a frame of `schema` and its type, units in the last place included."""
    types = dict(BASE_TYPES)
    for spec in fields(schema).values():
        types[spec.name] = spec.dtype
        if spec.has_ulp:
            types[f"{spec.name}_ulp"] = pl.Float64()
    return types


@dataclass(frozen=True)
class Stream:
    """Rows of one table in order of lines: those of `runs`, made into frames, and `others`."""

    types: Mapping[str, pl.DataType]
    runs: Sequence[BoundRows]
    others: pl.DataFrame
    frame_of: Callable[[BoundRows], pl.DataFrame]
    height: int
    by: Sequence[str] = ("line",)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows, a few blocks of lines at a time; a column may be lacking where it is empty."""
        above = 0
        for group in overlapping(self.runs):
            below = max(run.last for run in group)
            yield self._sorted([self._others(above, below), *map(self.frame_of, group)])
            above = below
        yield self._sorted([self._others(above, 2**32 - 1)])

    def only(self, wanted: pl.Expr) -> Stream:
        """This stream with only the wanted among its other rows."""
        others = self.others.filter(wanted)
        return replace(self, others=others, height=self.height - self.others.height + others.height)

    def whole(self) -> pl.DataFrame:
        """All rows at once."""
        return widened(pl.concat(self.frames(), how="diagonal"), self.types)

    def _others(self, above: int, below: int) -> pl.DataFrame:
        return self.others.filter(pl.col("line").is_between(above + 1, below))

    def _sorted(self, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
        held = [part for part in parts if part.height] or list(parts)[:1]
        if len(held) == 1:
            return held[0]
        return pl.concat(held, how="diagonal").sort(self.by, maintain_order=True)


def overlapping(runs: Sequence[BoundRows]) -> Iterator[list[BoundRows]]:
    """Runs in order, those together whose lines lie among each other."""
    group: list[BoundRows] = []
    last = 0
    for run in sorted(runs, key=lambda run: run.first):
        if group and run.first > last:
            yield group
            group = []
        group.append(run)
        last = max(last, run.last)
    if group:
        yield group


def alike(frame: pl.DataFrame) -> list[str]:
    """The columns in which all values are one, bit for bit, as far as that is quickly told.

    What was made of one value is not spread out for it. Of lists those are told that are empty.
    """
    missing = frame.null_count().row(0)
    ends = zip(frame.columns, missing, frame.row(0), frame.row(-1), strict=True)
    maybe = {name: first for name, n, first, last in ends if not n and first == last}
    lists = [name for name, value in maybe.items() if isinstance(value, list)]
    others = [name for name in maybe if name not in lists]
    counts = frame.select(
        pl.col(others).n_unique(), *(pl.col(name).list.len().max() + 1 for name in lists)
    )
    one = [name for name in counts.columns if counts.item(0, name) == 1]
    # zeros of both signs are one to polars
    zeros = [name for name in one if isinstance(maybe[name], float) and not maybe[name]]
    return [name for name in one if name not in zeros or not _signs(frame[name])]


def _signs(zeros: pl.Series) -> bool:
    """Whether zeros differ in their signs."""
    signs = np.signbit(zeros.to_numpy())
    return bool((signs != signs[0]).any())


def widened(frame: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The frame with all these columns, in their order; what it lacks is unknown."""
    lacking = types.keys() - set(frame.columns)
    unknown = (pl.lit(None, dtype=types[name]).alias(name) for name in lacking)
    return frame.with_columns(unknown).select(list(types))
