"""Cases of a reading: the configuration that rows do not print themselves, once.

In: a reading, whose rows hold what is bound to them. Out: its rows as they are printed, each with
the number of its case; and a frame of the cases: for every stretch of rows that are bound alike its
first and last line, and the values bound to it, those of the configuration that stand elsewhere
than in the row. Rows that are bound alike are of one case, however many they are. `filled` gives
rows of a file what is bound to them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.lines.rows import BoundRows, Stream, types_of
from assay.ingest.schema.acceptance import BASE_TYPES
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Schema
from assay.ingest.source.blocks import series

BOUND: dict[str, pl.DataType] = {
    name: spec.dtype for name, spec in fields(Configuration).items() if spec.configuration
}
"""Columns of the configuration, with their types."""

VALUES: dict[str, pl.DataType] = {
    name: kind for name, kind in types_of(Configuration).items() if name not in BASE_TYPES
}
"""The same, each followed by its unit in the last place where it has one."""

CASES: dict[str, pl.DataType] = {
    "source": pl.String(),
    "case": pl.UInt32(),  # number of the case in its source, from 1
    "frame": pl.String(),
    "line": pl.UInt32(),  # of the first row
    "last_line": pl.UInt32(),  # of the last one
    "rows": pl.UInt32(),
    **VALUES,
}


def stored_types(schema: Schema) -> dict[str, pl.DataType]:
    """Every column of the file of a frame: where rows are of a case, its number is one."""
    types = types_of(schema)
    if not types.keys() >= BOUND.keys():
        return types
    return {**BASE_TYPES, "case": CASES["case"], **types}


class Cased(NamedTuple):
    """Rows as they are printed, each with the number of its case; and the cases, see `CASES`."""

    frames: Mapping[str, pl.DataFrame]
    streams: Mapping[str, Stream]
    cases: pl.DataFrame


def case_frame(reading: Reading) -> pl.DataFrame:
    """Every stretch of rows that are bound alike; see `CASES`."""
    return cased(reading).cases


def cased(reading: Reading) -> Cased:
    """The frames of a reading whose rows are of cases, without what is bound to them."""
    frames = {
        name: frame
        for name, frame in reading.frames.items()
        if set(BOUND) <= set(frame.columns) and frame.height
    }
    streams = {
        name: stream
        for name, stream in reading.streams.items()
        if isinstance(stream, Stream) and set(BOUND) <= set(stream.types)
    }
    said = reading.provenance
    single = said.filter(pl.col("last_line").is_null())
    parts = [pl.DataFrame(schema=_PLACED)]
    parts += [_bound_rows(name, frame, said) for name, frame in frames.items()]
    for name, stream in streams.items():
        if stream.others.height:
            parts.append(_bound_rows(name, stream.others, single))
        parts += _runs(name, reading.accounting[0].source, stream.runs)
    placed = _numbered(pl.concat(parts))
    return Cased(
        {name: _printed(frame, placed, name) for name, frame in frames.items()},
        {name: _printed_stream(stream, placed, name) for name, stream in streams.items()},
        _stretches(placed),
    )


def filled(rows: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    """Rows of a file with what their cases hold; without the number of these.

    Raises ValueError where a row is of no case.
    """
    if "case" not in rows.columns:
        return rows
    bound = cases.select("source", "case", *VALUES).unique(["source", "case"])
    held = [name for name in VALUES if bound[name].null_count() < bound.height]
    bound = bound.select("source", "case", *(pl.col(n).alias(f"{n}@") for n in held), known=True)
    joined = rows.join(bound, on=["source", "case"], how="left", maintain_order="left")
    if joined["known"].null_count():
        lost = joined.filter(pl.col("known").is_null()).row(0, named=True)
        raise ValueError(f"line {lost['line']} of {lost['source']} is of a case that is not there")
    given = joined.with_columns(pl.coalesce(n, f"{n}@").alias(n) for n in held)
    return given.select(name for name in rows.columns if name != "case")


_PLACED: dict[str, pl.DataType] = {
    **{name: kind for name, kind in CASES.items() if name != "case"},
    "at": pl.UInt32(),  # of the first row in its frame, or the number of the run
    "run": pl.Boolean(),
}


def _bound_rows(name: str, frame: pl.DataFrame, provenance: pl.DataFrame) -> pl.DataFrame:
    """Rows of a frame, or stretches of them, with the values that stand elsewhere, else null."""
    elsewhere = pl.col("value_origin") != "printed"  # a record of many lines prints on them all
    said = provenance.filter(
        (pl.col("frame") == name) & pl.col("field").is_in(list(BOUND)) & elsewhere
    )
    single = said.filter(pl.col("last_line").is_null())
    ranged = said.filter(pl.col("last_line").is_not_null())
    free = np.ones(frame.height, dtype=np.bool_)
    found = list(_ranges(name, frame, ranged, free))
    if single.is_empty():
        found += _consecutive(name, frame, free)
        return pl.concat(found)
    place = ("source", "line", "column")
    flags = single.group_by(place).agg(held="field")
    rows = frame.select(*place, *VALUES).with_row_index("at").filter(pl.Series(free))
    rows = rows.join(flags, on=list(place), how="left", maintain_order="left")
    own = rows.select(
        "source", frame=pl.lit(name), line="line", last_line="line", rows=pl.lit(1, pl.UInt32),
        **{n: pl.when(pl.col("held").list.contains(n.removesuffix("_ulp"))).then(n)
           for n in VALUES},
        at="at", run=False,
    )  # fmt: skip
    return pl.concat([*found, own])


def _ranges(
    name: str, frame: pl.DataFrame, said: pl.DataFrame, free: npt.NDArray[np.bool_]
) -> Iterator[pl.DataFrame]:
    """The stretches of a frame that ranges of lines are bound to; their rows are `free` no more."""
    if said.is_empty():
        return
    ends = said.group_by("source", "line", "last_line", maintain_order=True).agg("field")
    sources, lines = frame["source"], frame["line"].to_numpy()
    for source, first, last, names in ends.iter_rows():
        begin, end = sources.index_of(source), sources.len()
        if begin is None:
            continue
        if sources[-1] != source:
            end = begin + int((sources == source).sum())
        at = begin + int(np.searchsorted(lines[begin:end], first))
        to = begin + int(np.searchsorted(lines[begin:end], last, side="right"))
        if to > at:
            free[at:to] = False
            values = [n for n in VALUES if n.removesuffix("_ulp") in names]
            yield _stretch(name, frame, at, to, frame.select(values).row(at, named=True))


def _consecutive(
    name: str, frame: pl.DataFrame, free: npt.NDArray[np.bool_]
) -> Iterator[pl.DataFrame]:
    """Rows of one source that no other row stands between, of those that are left."""
    left = np.flatnonzero(free)
    if not len(left):
        return
    sources = frame["source"].filter(series(free))
    apart = (np.diff(left) > 1) | (sources[1:] != sources[:-1]).to_numpy()
    edges = [0, *(np.flatnonzero(apart) + 1).tolist(), len(left)]
    for begin, end in pairwise(edges):
        yield _stretch(name, frame, int(left[begin]), int(left[end - 1]) + 1, {})


def _stretch(
    name: str, frame: pl.DataFrame, at: int, to: int, values: Mapping[str, Any]
) -> pl.DataFrame:
    """Rows that follow each other with what is bound to all of them."""
    row = {"source": frame["source"][at], "frame": name, "line": frame["line"][at],
           "last_line": frame["line"][to - 1], "rows": to - at, "at": at, "run": False}  # fmt: skip
    return pl.DataFrame([row | {n: values.get(n) for n in VALUES}], schema=_PLACED)


def _runs(name: str, source: str, runs: Sequence[BoundRows]) -> Iterator[pl.DataFrame]:
    """Each run of rows that were read by columns, with the values bound to it."""
    for at, run in enumerate(runs):
        values = {n: each[0] for n, each in run.values.items() if n in VALUES}
        row = {"source": source, "frame": name, "line": run.first, "last_line": run.last,
               "rows": run.height, "at": at, "run": True}  # fmt: skip
        yield pl.DataFrame([row | {n: values.get(n) for n in VALUES}], schema=_PLACED)


def _numbered(placed: pl.DataFrame) -> pl.DataFrame:
    """Stretches with the number of their case: those bound alike in one source are one."""
    ordered = placed.sort("source", "line", "frame", "at", maintain_order=True)
    kinds = ordered.select("source", *VALUES).unique(maintain_order=True).with_columns(
        case=pl.int_range(1, pl.len() + 1).over("source").cast(pl.UInt32)
    )  # fmt: skip
    return ordered.join(
        kinds, on=["source", *VALUES], how="left", nulls_equal=True, maintain_order="left"
    )


def _stretches(placed: pl.DataFrame) -> pl.DataFrame:
    """Rows that follow each other and are of one case, as one; see `CASES`."""
    ordered = placed.sort("frame", "source", "line", maintain_order=True)
    keyed = ordered.with_columns(stretch=pl.struct("frame", "source", "case").rle_id())
    merged = keyed.group_by("stretch", maintain_order=True).agg(
        pl.col("source", "case", "frame", "line").first(), pl.col("last_line").max(),
        pl.col("rows").sum(), pl.col(list(VALUES)).first(),
    )  # fmt: skip
    return merged.sort("source", "line", "frame", maintain_order=True).select(*CASES)


def _printed(frame: pl.DataFrame, placed: pl.DataFrame, name: str) -> pl.DataFrame:
    """Rows with the number of their case and without what it holds."""
    mine = placed.filter((pl.col("frame") == name) & ~pl.col("run")).sort("at")
    held = [n for n in VALUES if mine[n].null_count() < mine.height]
    bound = mine.select("case", "rows", *(pl.col(n).is_not_null().alias(f"{n}@") for n in held))
    each = bound.select(pl.all().exclude("rows").repeat_by("rows").explode())
    rows = pl.concat([frame, each], how="horizontal")
    rows = rows.with_columns(pl.when(~pl.col(f"{n}@")).then(n).alias(n) for n in held)
    first = [n for n in BASE_TYPES if n in frame.columns]
    return rows.select(*first, "case", *(n for n in frame.columns if n not in first))


def _printed_stream(stream: Stream, placed: pl.DataFrame, name: str) -> Stream:
    """The same of rows that come some at a time."""
    mine = placed.filter((pl.col("frame") == name) & pl.col("run")).sort("at")
    numbers = zip(stream.runs, mine["case"], strict=True)
    runs = [
        replace(run, values={"case": pl.Series("case", [case], dtype=pl.UInt32)})
        for run, case in numbers
    ]
    others = _printed(stream.others, placed, name) if stream.others.height else stream.others
    types = {**BASE_TYPES, "case": CASES["case"], **stream.types}
    return replace(stream, types=types, runs=runs, others=others)
