"""Long inputs: which of their rows are held in memory, and for how many others each stands.

In: every row of a frame of steps, in a file. Out: the rows that tell something that others do not
(where a stretch of equal configuration begins and ends, values that no neighbour has, numbers that
do not belong together as those beside them do), and of the others an even share. A relation between
two measured numbers of rows that are alike has one constant: a row is odd where its own interval
leaves out the one in the middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.schema.fields import FieldSpec
from assay.ingest.schema.reading import Long
from assay.ingest.store import parquet

LONG = 10_000
"""Rows of a frame and an input from which not all of them are held in memory."""

FIRST, LAST = 100, 20
"""Rows at the ends of a stretch that are held: a run begins with its warm-up."""

ENDS = 3
"""Rows with the greatest and the least of anything that are held."""

ODD = 400
"""Odd rows that are held; of more an even share."""

SHARE = 20
"""Rows like all others that are held for each odd one, so that few stay few."""

LEAST = 1_500
"""Rows like all others that are held at least."""

SLACK = 1e-12
"""Of our own doubles."""

MOST_STRETCHES = 1_000
"""Stretches of equal configuration up to which rows are left out."""

BESIDE = ("source", "line", "column", "host", "rank", "timestamp", "mark", "other")

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def sifted(
    source: str, frame: str, file: Path, specs: Mapping[str, FieldSpec], also: Iterable[int],
    home: object = None,
) -> tuple[pl.DataFrame, Long] | None:  # fmt: skip
    """The rows of a file that are held in memory, and what they stand for.

    `also` are lines whose rows are held in any case. None where too much of it differs.
    """
    scan = pl.scan_parquet(file)
    single, varying = _constant(scan)
    stretch = _stretches(scan, [n for n in varying if n in specs and specs[n].configuration])
    if stretch[-1] >= MOST_STRETCHES:
        return None
    measured = [n for n in varying if n in specs and specs[n].quantity and specs[n].numeric
                and not specs[n].configuration]  # fmt: skip
    line = scan.select("line").collect()["line"].to_numpy()
    told = _told(scan, measured, varying, specs, stretch)
    kind = _kinds(scan, varying, specs, measured, stretch, told)
    told |= np.isin(line, np.fromiter(also, dtype=np.uint32))
    hold, weight, alike = _chosen(kind, told, stretch)
    hold = np.isin(line, line[hold])  # records that share a line are held together
    held = _gathered(scan, single, varying, np.flatnonzero(hold))
    kept = held.select("line", "column", rows=pl.Series(np.maximum(weight[hold], 1.0)))
    return held, Long(source, frame, file, kept, single, alike, home)


def _constant(scan: pl.LazyFrame) -> tuple[pl.DataFrame, list[str]]:
    """A row of the columns that have one value throughout, and the names of the others."""
    names = [name for name, kind in scan.collect_schema().items() if not kind.is_nested()]
    same = [name for part in _portions(names) for name in _alone(scan, part)]
    single = scan.select(same).head(1).collect()
    return single, [name for name in scan.collect_schema() if name not in same]


AT_ONCE = 12
"""Columns that are in memory together."""


def _portions(names: Sequence[str]) -> Iterator[Sequence[str]]:
    yield from (names[at : at + AT_ONCE] for at in range(0, len(names), AT_ONCE))


def _alone(scan: pl.LazyFrame, names: Sequence[str]) -> Iterator[str]:
    """Those of the columns that have one value in every row, or none."""
    ends = [pl.col(names).min(), pl.col(names).max().name.suffix(">"),
            pl.col(names).null_count().name.suffix("?"), pl.len().alias("#")]  # fmt: skip
    row = scan.select(ends).collect(engine="streaming").row(0, named=True)
    for n in names:
        one = row[n] == row[f"{n}>"] and row[f"{n}?"] == 0
        if one or row[f"{n}?"] == row["#"]:
            yield n


def _stretches(scan: pl.LazyFrame, names: Sequence[str]) -> npt.NDArray[np.uint32]:
    """For each row the number of its stretch of equal configuration, from 0."""
    height = scan.select(pl.len()).collect().item()
    changes = np.zeros(height, dtype=bool)
    for name in names:
        differs = pl.col(name).ne_missing(pl.col(name).shift())
        changes |= scan.select(differs).collect().to_series().to_numpy()
    changes[:1] = False
    return np.cumsum(changes, dtype=np.uint32)


def _kinds(
    scan: pl.LazyFrame, varying: Sequence[str], specs: Mapping[str, FieldSpec],
    measured: Sequence[str], stretch: npt.NDArray[np.uint32], told: Flags,
) -> npt.NDArray[np.uint32]:  # fmt: skip
    """For each row 0 where it is like most, else a number for the ways in which it is odd.

    Of two numbers that belong together the rows that leave their constant the least room are marked
    in `told`: a formula that these keep is kept by all.
    """
    kind = np.zeros(len(stretch), dtype=np.uint32)
    places = [name for name in ("mark", "host", "rank") if name in varying]
    for name in [*places, *(n for n in varying if n in specs)]:
        held = pl.col(name)
        odd = held.is_null() if name != "mark" else held.is_not_null()
        flags = scan.select(odd).collect().to_series()
        if name in specs and specs[name].dtype.is_float():
            finite = scan.select(held.is_finite()).collect().to_series().fill_null(value=True)
            kind = _also(kind, ~finite.to_numpy())
        held_so = flags.to_numpy()
        kind = _also(kind, ~held_so if 2 * int(held_so.sum()) > len(held_so) else held_so)
    for one, other in combinations(measured, 2):
        timed = (specs[one].unit == "s") != (specs[other].unit == "s")
        low, high = _together(scan, specs[one], specs[other], times=timed)
        middle = _middle((low + high) / 2, stretch)
        with np.errstate(invalid="ignore"):
            apart = (low > middle) | (high < middle)
        kind = _also(kind, apart)
        for room in (low - middle, middle - high):
            told[_greatest(np.where(apart | np.isnan(room), -np.inf, room))] = True
    return kind


def _also(kind: npt.NDArray[np.uint32], odd: Flags) -> npt.NDArray[np.uint32]:
    """The kinds of rows where some are odd in one more way."""
    if not odd.any():
        return kind
    _, again = np.unique(kind * 2 + odd, return_inverse=True)
    return again.astype(np.uint32)


def _together(
    scan: pl.LazyFrame, one: FieldSpec, other: FieldSpec, *, times: bool
) -> tuple[Floats, Floats]:
    """Logarithms between which the product of two columns lies, or their quotient.

    A number may be rounded or cut. Not a number where one of the two is none above zero.
    """
    a, b = (_ends(spec) for spec in (one, other))
    low, high = (a[0] * b[0], a[1] * b[1]) if times else (a[0] / b[1], a[1] / b[0])
    table = scan.select(low=low.log(), high=high.log()).collect()
    return (table["low"].fill_null(float("nan")).to_numpy() - SLACK,
            table["high"].fill_null(float("nan")).to_numpy() + SLACK)  # fmt: skip


def _ends(spec: FieldSpec) -> tuple[pl.Expr, pl.Expr]:
    """The least and the greatest number that is printed as a column has it, above zero."""
    value = pl.col(spec.name).cast(pl.Float64)
    unit = pl.col(f"{spec.name}_ulp") if spec.has_ulp else pl.lit(0.0)
    low = value - unit / 2
    return pl.when(low > 0).then(low), pl.when(low > 0).then(value + unit)


def _greatest(values: Floats) -> npt.NDArray[np.intp]:
    """Places of the greatest few."""
    count = min(ENDS, len(values))
    return np.argpartition(values, len(values) - count)[len(values) - count :]


def _middle(values: Floats, stretch: npt.NDArray[np.uint32]) -> Floats | float:
    """The median of each row's stretch."""
    if not stretch[-1]:
        return float(np.nanmedian(values)) if np.isfinite(values).any() else float("nan")
    table = pl.DataFrame({"v": values, "s": stretch}).with_columns(pl.col("v").fill_nan(None))
    middle = table.select(pl.col("v").median().over("s")).to_series()
    return middle.fill_null(float("nan")).to_numpy()


def _told(
    scan: pl.LazyFrame, measured: Sequence[str], varying: Sequence[str],
    specs: Mapping[str, FieldSpec], stretch: npt.NDArray[np.uint32],
) -> Flags:  # fmt: skip
    """Rows that are held whatever they are like: ends of stretches, extremes, counts that fall."""
    height = len(stretch)
    told = np.zeros(height, dtype=bool)
    told[:FIRST] = told[-LAST:] = True
    begins = np.flatnonzero(np.diff(stretch)) + 1
    for away in (-1, 0, 1):
        told[np.clip(begins + away, 0, height - 1)] = True
    for name in measured:
        values = scan.select(pl.col(name).cast(pl.Float64)).collect().to_series()
        order = values.fill_nan(None).arg_sort(nulls_last=True).to_numpy()
        told[order[:ENDS]] = told[order[max(0, height - values.null_count() - ENDS) :]] = True
    for name in varying:
        if name in specs and specs[name].role == "counter":
            falls = scan.select(pl.col(name) <= pl.col(name).shift()).collect().to_series()
            at = np.flatnonzero(falls.fill_null(value=False).to_numpy())
            at = at[:: max(1, len(at) // ODD)]
            told[at] = told[np.maximum(at - 1, 0)] = True
    return told


def _chosen(
    kind: npt.NDArray[np.uint32], told: Flags, stretch: npt.NDArray[np.uint32]
) -> tuple[Flags, Floats, npt.NDArray[np.uint32]]:
    """Which rows are held, for how many of their like each of them stands, and what is alike.

    Where odd rows are many, they and the others are thinned out alike.
    """
    hold = told.copy()
    odd = int(np.count_nonzero(kind))
    thinned = max(1, -(-odd // ODD))
    usual = len(kind) - odd
    few = SHARE * odd <= usual or thinned == 1
    most = max(LEAST, SHARE * min(odd, ODD)) if few else usual // thinned
    for number in range(int(kind.max()) + 1):
        at = np.flatnonzero(kind == number)
        hold[at[:: thinned if number else max(1, -(-usual // max(1, most)))]] = True
    classes = kind.astype(np.uint64) * (int(stretch[-1]) + 1) + stretch
    _, found = np.unique(classes, return_inverse=True)
    alike = found.astype(np.uint32)
    among = np.bincount(alike)
    lacking = np.bincount(alike[hold & ~told], minlength=len(among)) == 0
    rest = np.flatnonzero(~told)
    first = np.full(len(among), -1)
    first[alike[rest][::-1]] = rest[::-1]
    hold[first[lacking & (first >= 0)]] = True
    own = np.bincount(alike[told], minlength=len(among))
    sharing = np.bincount(alike[hold & ~told], minlength=len(among))
    with np.errstate(divide="ignore", invalid="ignore"):  # of what is held row by row
        share = ((among - own) / sharing)[alike]
    return hold, np.where(told, 1.0, share), alike


def _gathered(
    scan: pl.LazyFrame, single: pl.DataFrame, varying: Sequence[str], at: npt.NDArray[np.intp]
) -> pl.DataFrame:
    """The rows at these places, whole, with their columns in order."""
    order = list(scan.collect_schema())
    parts = list(_groups(scan, varying, at))
    same = (pl.lit(single[name]).first().alias(name) for name in single.columns)
    return pl.concat(parts).with_columns(same).select(order).rechunk()


def _groups(
    scan: pl.LazyFrame, varying: Sequence[str], at: npt.NDArray[np.intp]
) -> Iterator[pl.DataFrame]:
    for number in np.unique(at // parquet.ROWS).tolist():
        begin = number * parquet.ROWS
        mine = at[(at >= begin) & (at < begin + parquet.ROWS)] - begin
        yield scan.select(varying).slice(begin, parquet.ROWS).collect()[mine.tolist()]
