"""Cases of a reading as a frame: the configuration that rows do not print themselves, once.

In: a reading. Out: for every stretch of rows that are bound alike its first and last line, the
number of its case, and the values bound to it: those of the configuration that stand elsewhere
than in the row. Rows that are bound alike are of one case, however many they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.lines.rows import BoundRows, Stream
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.reading import Reading

BOUND: dict[str, pl.DataType] = {
    name: spec.dtype for name, spec in fields(Configuration).items() if spec.configuration
}
"""Columns of the configuration, with their types."""

CASES: dict[str, pl.DataType] = {
    "source": pl.String(),
    "case": pl.UInt32(),  # number of the case in its source, from 1
    "frame": pl.String(),
    "line": pl.UInt32(),  # of the first row
    "last_line": pl.UInt32(),  # of the last one
    "rows": pl.UInt32(),
    **BOUND,
}


def case_frame(reading: Reading) -> pl.DataFrame:
    """Every stretch of rows that are bound alike; see `CASES`."""
    parts = [pl.DataFrame(schema=CASES).drop("case")]
    for name, frame in reading.frames.items():
        if set(BOUND) <= set(frame.columns) and frame.height:
            parts.append(_stretches(_bound_rows(name, frame, reading.provenance)))
    for name, stream in reading.streams.items():
        if isinstance(stream, Stream) and set(BOUND) <= set(stream.types):
            said = reading.provenance.filter(pl.col("last_line").is_null())
            runs = _runs(name, reading.accounting[0].source, stream.runs)
            others = [_bound_rows(name, stream.others, said)] if stream.others.height else []
            parts.append(_stretches(pl.concat([parts[0], *others, *runs])))
    return _numbered(pl.concat(parts))


def _bound_rows(name: str, frame: pl.DataFrame, provenance: pl.DataFrame) -> pl.DataFrame:
    """Rows of a frame, or stretches of them, with the values that stand elsewhere, else null."""
    elsewhere = (pl.col("value_origin") != "printed") | (pl.col("from_line") != pl.col("line"))
    said = provenance.filter(
        (pl.col("frame") == name) & pl.col("field").is_in(list(BOUND)) & elsewhere
    )
    single = said.filter(pl.col("last_line").is_null())
    ranged = said.filter(pl.col("last_line").is_not_null())
    free = np.ones(frame.height, dtype=np.bool_)
    found = list(_ranges(name, frame, ranged, free))
    rest = frame.filter(pl.Series(free)) if found else frame
    if single.is_empty():
        found += [_stretch(name, part, {}) for part in _consecutive(rest, free)]
        return pl.concat(found)
    place = ("source", "line", "column")
    flags = single.group_by(place).agg(held="field")
    rows = rest.select(*place, *BOUND).join(
        flags, on=list(place), how="left", maintain_order="left"
    )
    own = rows.select(
        "source", frame=pl.lit(name), line="line", last_line="line", rows=pl.lit(1, pl.UInt32),
        **{n: pl.when(pl.col("held").list.contains(n)).then(n) for n in BOUND},
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
            row = frame.select(names).row(at, named=True)
            yield _stretch(name, frame.slice(at, to - at), row)


def _consecutive(rest: pl.DataFrame, free: npt.NDArray[np.bool_]) -> Iterator[pl.DataFrame]:
    """Rows of one source that no other row stands between, of those that are left."""
    if rest.is_empty():
        return
    gaps = np.diff(np.flatnonzero(free)) > 1
    apart = gaps | (rest["source"][1:] != rest["source"][:-1]).to_numpy()
    edges = [0, *(np.flatnonzero(apart) + 1).tolist(), rest.height]
    for begin, end in pairwise(edges):
        yield rest.slice(begin, end - begin)


def _stretch(name: str, rows: pl.DataFrame, values: Mapping[str, Any]) -> pl.DataFrame:
    """Rows that follow each other with what is bound to all of them."""
    row = {"source": rows["source"][0], "frame": name, "line": rows["line"][0],
           "last_line": rows["line"][-1], "rows": rows.height}  # fmt: skip
    row |= {n: values.get(n) for n in BOUND}
    return pl.DataFrame([row], schema={n: CASES[n] for n in _COLUMNS})


_COLUMNS = [name for name in CASES if name != "case"]


def _runs(name: str, source: str, runs: Sequence[BoundRows]) -> Iterator[pl.DataFrame]:
    """Each run of rows that were read by columns, with the values bound to it."""
    for run in runs:
        values = {n: each[0] for n, each in run.values.items() if n in BOUND}
        row = {"source": source, "frame": name, "line": run.first, "last_line": run.last,
               "rows": run.height} | {n: values.get(n) for n in BOUND}  # fmt: skip
        yield pl.DataFrame([row], schema={n: CASES[n] for n in _COLUMNS})


def _stretches(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows that follow each other and are bound alike, as one."""
    ordered = rows.sort("source", "line", maintain_order=True)
    keyed = ordered.with_columns(stretch=pl.struct("source", *BOUND).rle_id())
    return keyed.group_by("stretch", maintain_order=True).agg(
        pl.col("source", "frame", "line").first(), pl.col("last_line").max(), pl.col("rows").sum(),
        pl.col(list(BOUND)).first(),
    ).select(*_COLUMNS)  # fmt: skip


def _numbered(stretches: pl.DataFrame) -> pl.DataFrame:
    """Stretches with the number of their case: those bound alike in one source are one."""
    ordered = stretches.sort("source", "line", "frame", maintain_order=True)
    kinds = ordered.select("source", *BOUND).unique(maintain_order=True).with_columns(
        case=pl.int_range(1, pl.len() + 1).over("source").cast(pl.UInt32)
    )  # fmt: skip
    joined = ordered.join(
        kinds, on=["source", *BOUND], how="left", nulls_equal=True, maintain_order="left"
    )
    return joined.select(*CASES)
