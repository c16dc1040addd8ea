"""Long inputs: which of their rows are held in memory, and for how many others each stands.

In: every row of a frame of steps, in a file. Out: the rows that tell something that others do not
(where a stretch of equal configuration begins and ends, values that no neighbour has, numbers that
do not belong together as those beside them do), and of the others an even share. A relation between
two measured numbers of rows that are alike has one constant: a row is odd where its own interval
leaves out the one in the middle.

Of millions of rows a few bytes each are in memory: marks, and one column while it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

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

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint32]
Places = npt.NDArray[np.intp]


def sifted(
    source: str, frame: str, file: Path, specs: Mapping[str, FieldSpec], also: Iterable[int],
    home: object = None,
) -> tuple[pl.DataFrame, Long] | None:  # fmt: skip
    """The rows of a file that are held in memory, and what they stand for.

    `also` are lines whose rows are held in any case. None where too much of it differs.
    """
    scan = pl.scan_parquet(file)
    height = scan.select(pl.len()).collect().item()
    single, varying = _constant(scan, height)
    stretch = _stretches(
        scan, [n for n in varying if n in specs and specs[n].configuration], height
    )
    if stretch is None:
        return None
    measured = [n for n in varying if n in specs and specs[n].quantity and specs[n].numeric
                and not specs[n].configuration]  # fmt: skip
    told = _told(scan, measured, varying, specs, stretch)
    kind = _kinds(scan, varying, specs, measured, stretch, told)
    line = _column(scan, pl.col("line"), height, np.uint32)
    told |= _among(line, np.fromiter(also, dtype=np.uint32))
    hold, alike = _chosen(kind, told, stretch)
    stands = _stands(hold, told, alike)
    more = _among(line, line[hold])  # records that share a line are held together
    rows = np.ones(int(np.count_nonzero(more)))
    rows[hold[more]] = np.maximum(stands, 1.0)
    at = np.flatnonzero(more)
    held = _gathered(scan, single, varying, at)
    kept = held.select("line", "column", rows=pl.Series(rows), at=pl.Series(at.astype(np.uint32)))
    return held, Long(source, frame, file, kept, single, alike, home)


def _pieces(height: int) -> Iterator[slice]:
    """Places of the rows that are in memory together, in order."""
    return (slice(at, min(at + parquet.ROWS, height)) for at in range(0, height, parquet.ROWS))


def _parts(scan: pl.LazyFrame, height: int, *wanted: str | pl.Expr) -> Iterator[pl.DataFrame]:
    """Values of each piece of the rows, as they are wanted."""
    columns = scan.select(wanted)
    for piece in _pieces(height):
        yield columns.slice(piece.start, piece.stop - piece.start).collect(engine="in-memory")


def _column(
    scan: pl.LazyFrame, wanted: pl.Expr, height: int, dtype: type[np.generic]
) -> npt.NDArray[Any]:
    """One number or flag of every row."""
    found = np.empty(height, dtype)
    for piece, part in zip(_pieces(height), _parts(scan, height, wanted), strict=True):
        found[piece] = part.to_series().to_numpy()
    return found


def _among(line: Numbers, wanted: Numbers) -> Flags:
    """Whether each line is one of those that are wanted."""
    found = np.zeros(len(line), dtype=bool)
    for piece in _pieces(len(line)):
        found[piece] = np.isin(line[piece], wanted)
    return found


def _constant(scan: pl.LazyFrame, height: int) -> tuple[pl.DataFrame, list[str]]:
    """A row of the columns that have one value throughout, and the names of the others."""
    names = [name for name, kind in scan.collect_schema().items() if not kind.is_nested()]
    groups = [names[at : at + AT_ONCE] for at in range(0, len(names), AT_ONCE)]
    same = [name for group in groups for name in _alone(scan, group, height)]
    single = scan.select(same).head(1).collect()
    return single, [name for name in scan.collect_schema() if name not in same]


AT_ONCE = 12
"""Columns that are in memory together."""


def _alone(scan: pl.LazyFrame, names: Sequence[str], height: int) -> Sequence[str]:
    """Those of the columns that have one value in every row, or none."""
    left = names
    first: dict[str, object] = {}
    for piece in _pieces(height):
        part = scan.select(left).slice(piece.start, piece.stop - piece.start)
        found = _values(part.collect(engine="in-memory"))
        left = [n for n in left if n in found and first.setdefault(n, found[n]) == found[n]]
    return left


def _values(part: pl.DataFrame) -> dict[str, object]:
    """The value of each column that has one in every row, or None where it has one in no row."""
    ends = [pl.all().min(), pl.all().max().name.suffix(">"), pl.all().null_count().name.suffix("?")]
    row = part.select(ends).row(0, named=True)
    return {
        n: row[n]
        for n in part.columns
        if (row[n] == row[f"{n}>"] and row[f"{n}?"] == 0) or row[f"{n}?"] == part.height
    }


def _stretches(
    scan: pl.LazyFrame, names: Sequence[str], height: int
) -> npt.NDArray[np.uint16] | None:
    """For each row the number of its stretch of equal configuration, from 0.

    None where they are `MOST_STRETCHES` or more.
    """
    changes = np.zeros(height, dtype=bool)
    for name in names:
        changes |= _against_before(scan, height, name, lambda now, old: now.ne_missing(old))
    changes[:1] = False
    if np.count_nonzero(changes) >= MOST_STRETCHES:
        return None
    return np.cumsum(changes, dtype=np.uint16)


def _against_before(
    scan: pl.LazyFrame, height: int, name: str, test: Callable[[pl.Expr, pl.Expr], pl.Expr]
) -> Flags:
    """Whether a test of a column holds of each row and the one before; where it is known."""
    found = np.zeros(height, dtype=bool)
    last = pl.DataFrame()
    flag = test(pl.col(name), pl.col(name).shift()).fill_null(value=False)
    for piece, part in zip(_pieces(height), _parts(scan, height, name), strict=True):
        both = pl.concat([last, part]) if last.height else part
        found[piece] = both.select(flag).to_series().to_numpy()[last.height :]
        last = part.tail(1)
    return found


def _kinds(
    scan: pl.LazyFrame, varying: Sequence[str], specs: Mapping[str, FieldSpec],
    measured: Sequence[str], stretch: npt.NDArray[np.uint16], told: Flags,
) -> Numbers:  # fmt: skip
    """For each row 0 where it is like most, else a number for the ways in which it is odd.

    Of two numbers that belong together the rows that leave their constant the least room are marked
    in `told`: a formula that these keep is kept by all.
    """
    height = len(stretch)
    kind = np.zeros(height, dtype=np.uint32)
    places = [name for name in ("mark", "host", "rank") if name in varying]
    for name in [*places, *(n for n in varying if n in specs)]:
        column = pl.col(name)
        odd = column.is_null() if name != "mark" else column.is_not_null()
        if name in specs and specs[name].dtype.is_float():
            _also(kind, _column(scan, ~column.is_finite().fill_null(value=True), height, np.bool_))
        held_so = _column(scan, odd, height, np.bool_)
        _also(kind, ~held_so if 2 * int(held_so.sum()) > height else held_so)
    for one, other in combinations(measured, 2):
        _also(kind, _apart(scan, specs[one], specs[other], stretch, told))
    return kind


def _also(kind: Numbers, odd: Flags) -> None:
    """Tell rows apart of which some are odd in one more way."""
    if odd.any():
        kind *= 2
        kind += odd
        _numbered(kind)


def _numbered(codes: Numbers) -> int:
    """Put 0, 1, 2 … in place of the codes that there are, in their order; how many they are."""
    there = np.zeros(int(codes.max()) + 1, dtype=bool)
    for piece in _pieces(len(codes)):
        there[codes[piece]] = True
    numbers = np.cumsum(there, dtype=np.uint32) - np.uint32(1)
    for piece in _pieces(len(codes)):
        codes[piece] = numbers[codes[piece]]
    return int(numbers[-1]) + 1


def _apart(
    scan: pl.LazyFrame, one: FieldSpec, other: FieldSpec, stretch: npt.NDArray[np.uint16],
    told: Flags,
) -> Flags:  # fmt: skip
    """Rows whose two numbers leave out the constant of their stretch; see `_kinds` for `told`."""
    height = len(stretch)
    wanted = _together(one, other)
    values = np.empty(height)
    for piece, part in zip(_pieces(height), _parts(scan, height, *wanted), strict=True):
        low, high = _bounds(part)
        values[piece] = (low + high) / 2
    middle = _middles(values, stretch)
    del values
    apart = np.zeros(height, dtype=bool)
    least: tuple[_Greatest, _Greatest] = (_Greatest(), _Greatest())
    for piece, part in zip(_pieces(height), _parts(scan, height, *wanted), strict=True):
        low, high = _bounds(part)
        own = middle[stretch[piece]]
        with np.errstate(invalid="ignore"):
            apart[piece] = out = (low > own) | (high < own)
        for some, room in zip(least, (low - own, own - high), strict=True):
            some.add(np.where(out | np.isnan(room), -np.inf, room), piece.start)
    for some in least:
        told[some.places] = True
    return apart


def _together(one: FieldSpec, other: FieldSpec) -> tuple[pl.Expr, pl.Expr]:
    """Logarithms between which the product of two columns lies, or their quotient.

    A number may be rounded or cut. Null where one of the two is none above zero.
    """
    a, b = (_ends(spec) for spec in (one, other))
    times = (one.unit == "s") != (other.unit == "s")
    low, high = (a[0] * b[0], a[1] * b[1]) if times else (a[0] / b[1], a[1] / b[0])
    return low.log().alias("low"), high.log().alias("high")


def _bounds(part: pl.DataFrame) -> tuple[Floats, Floats]:
    """Both ends, with room for our own doubles; not a number where there are none."""
    filled = part.fill_null(float("nan"))
    return filled["low"].to_numpy() - SLACK, filled["high"].to_numpy() + SLACK


def _ends(spec: FieldSpec) -> tuple[pl.Expr, pl.Expr]:
    """The least and the greatest number that is printed as a column has it, above zero."""
    value = pl.col(spec.name).cast(pl.Float64)
    unit = pl.col(f"{spec.name}_ulp") if spec.has_ulp else pl.lit(0.0)
    low = value - unit / 2
    return pl.when(low > 0).then(low), pl.when(low > 0).then(value + unit)


class _Greatest:
    """Places of the greatest few of numbers that come in pieces."""

    def __init__(self) -> None:
        self._values: Floats = np.empty(0)
        self.places: Places = np.empty(0, dtype=np.intp)

    def add(self, values: Floats, begin: int) -> None:
        """Look at the numbers of the rows from a place on; one that is not counts for nothing."""
        count = min(ENDS, len(values))
        some = np.argpartition(values, len(values) - count)[len(values) - count :]
        found = np.concatenate([self._values, values[some]])
        places = np.concatenate([self.places, some + begin])
        best = np.lexsort((places, -found))[:ENDS]
        self._values, self.places = found[best], places[best]


def _middles(values: Floats, stretch: npt.NDArray[np.uint16]) -> Floats:
    """The median of each stretch, of its numbers; `values` are put in another order."""
    begins = np.searchsorted(stretch, np.arange(int(stretch[-1]) + 2, dtype=np.uint32))
    parts = [values[begin:end] for begin, end in pairwise(begins.tolist())]
    return np.array([
        np.nanmedian(part, overwrite_input=True) if np.isfinite(part).any() else np.nan
        for part in parts
    ])  # fmt: skip


def _told(
    scan: pl.LazyFrame, measured: Sequence[str], varying: Sequence[str],
    specs: Mapping[str, FieldSpec], stretch: npt.NDArray[np.uint16],
) -> Flags:  # fmt: skip
    """Rows that are held whatever they are like: ends of stretches, extremes, counts that fall."""
    height = len(stretch)
    told = np.zeros(height, dtype=bool)
    told[:FIRST] = told[-LAST:] = True
    begins = np.flatnonzero(np.diff(stretch)) + 1
    for away in (-1, 0, 1):
        told[np.clip(begins + away, 0, height - 1)] = True
    for name in measured:
        told[_extremes(scan, name, height)] = True
    for name in varying:
        if name in specs and specs[name].role == "counter":
            at = np.flatnonzero(_against_before(scan, height, name, lambda now, old: now <= old))
            at = at[:: max(1, len(at) // ODD)]
            told[at] = told[np.maximum(at - 1, 0)] = True
    return told


def _extremes(scan: pl.LazyFrame, name: str, height: int) -> Places:
    """Places of the least and the greatest few numbers of a column."""
    least, most = _Greatest(), _Greatest()
    value = pl.col(name).cast(pl.Float64).fill_nan(None)
    for piece, part in zip(_pieces(height), _parts(scan, height, value), strict=True):
        there = part.to_series()
        for found, numbers in ((least, -there), (most, there)):
            found.add(numbers.fill_null(-np.inf).to_numpy(), piece.start)
    return np.concatenate([least.places, most.places])


def _chosen(
    kind: Numbers, told: Flags, stretch: npt.NDArray[np.uint16]
) -> tuple[Flags, npt.NDArray[np.unsignedinteger]]:
    """Which rows are held, and for each row the number of those that it is alike to.

    Where odd rows are many, they and the others are thinned out alike. `kind` is used up.
    """
    hold = told.copy()
    odd = int(np.count_nonzero(kind))
    usual = len(kind) - odd
    thinned = max(1, -(-odd // ODD))
    few = SHARE * odd <= usual or thinned == 1
    most = max(LEAST, SHARE * min(odd, ODD)) if few else usual // thinned
    for number in range(int(kind.max()) + 1):
        at = np.flatnonzero(kind == number)
        hold[at[:: thinned if number else max(1, -(-usual // max(1, most)))]] = True
    alike = kind
    alike *= np.uint32(int(stretch[-1]) + 1)
    alike += stretch
    count = _numbered(alike)
    _one_of_each(hold, told, alike, count)
    small: npt.NDArray[np.unsignedinteger] = alike.astype(np.min_scalar_type(count - 1))
    return hold, small


def _one_of_each(hold: Flags, told: Flags, alike: Numbers, count: int) -> None:
    """Hold the first of those that are alike where none is held but what is `told`."""
    lacking = np.bincount(alike[hold & ~told], minlength=count) == 0
    for piece in _pieces(len(alike)):
        if not lacking.any():
            return
        rest = np.flatnonzero(~told[piece])
        numbers, at = np.unique(alike[piece][rest], return_index=True)
        new = lacking[numbers]
        hold[piece.start + rest[at[new]]] = True
        lacking[numbers] = False


def _stands(hold: Flags, told: Flags, alike: npt.NDArray[np.unsignedinteger]) -> Floats:
    """For how many rows each that is held stands: what is told stands for itself."""
    among = np.zeros(int(alike.max()) + 1)
    for piece in _pieces(len(alike)):
        among += np.bincount(alike[piece], minlength=len(among))
    own = np.bincount(alike[told], minlength=len(among))
    sharing = np.bincount(alike[hold & ~told], minlength=len(among))
    with np.errstate(divide="ignore", invalid="ignore"):  # of what is held row by row
        share = (among - own) / sharing
    return np.where(told[hold], 1.0, share[alike[hold]])


def _gathered(
    scan: pl.LazyFrame, single: pl.DataFrame, varying: Sequence[str], at: Places
) -> pl.DataFrame:
    """The rows at these places, whole, with their columns in order."""
    order = list(scan.collect_schema())
    parts = list(_groups(scan, varying, at))
    same = (pl.lit(single[name]).first().alias(name) for name in single.columns)
    return pl.concat(parts).with_columns(same).select(order).rechunk()


def _groups(scan: pl.LazyFrame, varying: Sequence[str], at: Places) -> Iterator[pl.DataFrame]:
    for number in np.unique(at // parquet.ROWS).tolist():
        begin = number * parquet.ROWS
        mine = at[(at >= begin) & (at < begin + parquet.ROWS)] - begin
        rows = scan.select(varying).slice(begin, parquet.ROWS).collect(engine="in-memory")
        yield rows[mine.tolist()]
