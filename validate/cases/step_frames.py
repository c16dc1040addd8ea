"""Frames whose rows are steps of a run, under one set of names.

In: a reading. Out: its frames of steps, each with the columns of `COLUMNS`, whatever its schema
calls what has their role. Formats are told apart by what their schemas say, never by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.reading import Held, Long, Reading
from assay.ingest.vocabulary.terms import Role
from assay.validate.cases.observe import case_of

COLUMNS: Mapping[str, Role] = {
    "iteration": "counter", "train_iters": "schedule", "lm_loss": "loss",
    "skipped_iterations": "skipped", "nan_iterations": "nan",
}  # fmt: skip
"""Column of a frame of steps → the role of the field that it holds."""

TIME = "step_time"
"""Column that holds the time of a step: the field with this quantity, else of the role time."""

PACES = (TIME, "samples_per_s", "tokens_per_s", "tokens_per_gpu_per_s", "token_rate", "step_rate")
"""Columns that tell how fast a step was, in the order in which they are believed."""


class OnDisk:
    """Steps of one long input in order, as a frame has them: columns are read when asked for.

    `columns` are those of the file and those that all frames of steps have.
    """

    def __init__(self, long: Long, spelled: Mapping[str, str], held: pl.DataFrame) -> None:
        self.long = long
        self._spelled = {name: name for name in _columns_of(long)} | dict(spelled)
        self._untold = tuple(n for n in (TIME, f"{TIME}_ulp") if n not in self._spelled)
        self._held = held  # the rows that the reading holds, with their case and place (at)
        self._begin, self._end = 0, long.height
        self._chosen: npt.NDArray[np.bool_] | None = None

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return [*self._spelled, *self._untold]

    @property
    def height(self) -> int:
        """Number of rows."""
        if self._chosen is not None:
            return int(np.count_nonzero(self._chosen))
        return self._end - self._begin

    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self.height

    def portions(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Columns of the rows, some at a time."""
        told = {name: self._spelled[name] for name in names if name in self._spelled}
        wanted = list(dict.fromkeys(told.values())) or ["line"]
        more = {name: pl.col(column) for name, column in told.items() if name != column} | {
            name: pl.lit(None, pl.Float64) for name in names if name in self._untold
        }
        for begin, part in self.long.portions(wanted, self._begin, self._end):
            rows = part.with_columns(**more).select(names)
            if self._chosen is not None:
                at = begin - self._begin
                rows = rows.filter(pl.Series(self._chosen[at : at + part.height]))
            yield rows

    def select(self, names: Sequence[str]) -> pl.DataFrame:
        """Columns of all rows."""
        return pl.concat(self.portions(names))

    def __getitem__(self, name: str) -> pl.Series:
        """One column of all rows."""
        return self.select([name])[name]

    def held(self) -> pl.DataFrame:
        """Those of the rows that the reading holds, with their case."""
        mine = self._held.filter(pl.col("at").is_between(self._begin, self._end - 1))
        if self._chosen is None:
            return mine
        return mine.filter(pl.Series(self._chosen[mine["at"].to_numpy() - self._begin]))

    def one_value(self, name: str) -> bool:
        """Whether a column has one value in all rows of the input."""
        return name in self._untold or self._spelled[name] in self.long.single.columns

    def slice(self, begin: int, length: int) -> OnDisk:
        """So many rows from a place on."""
        if self._chosen is None:
            begin = min(self._begin + begin, self._end)
            return self._with(begin, min(begin + length, self._end), None)
        at = np.flatnonzero(self._chosen)[begin : begin + length]
        first, last = (int(at[0]), int(at[-1]) + 1) if len(at) else (0, 0)
        return self._with(self._begin + first, self._begin + last, self._chosen[first:last])

    def filter(self, wanted: pl.Series) -> OnDisk:
        """The rows that are flagged."""
        flags = wanted.to_numpy()
        if self._chosen is not None:
            chosen = self._chosen.copy()
            chosen[self._chosen] = flags
            flags = chosen
        return self._with(self._begin, self._end, flags)

    def without(self, others: OnDisk) -> OnDisk:
        """The rows that are not among others of the same input."""
        left = np.ones(self._end - self._begin, np.bool_) if self._chosen is None else (
            self._chosen.copy()
        )  # fmt: skip
        begin = max(others._begin - self._begin, 0)
        end = max(others._end - self._begin, 0)
        some = others._chosen
        theirs = slice(max(self._begin - others._begin, 0), self._end - others._begin)
        left[begin:end] &= False if some is None else ~some[theirs]
        return self._with(self._begin, self._end, left)

    def whole(self) -> pl.DataFrame:
        """All of it in memory, with the case of the rows that have one."""
        rows = self.select(self.columns)
        case = pl.repeat(None, rows.height, dtype=pl.String, eager=True)
        held = self.held()
        return rows.with_columns(case=case.scatter(held["at"].to_list(), held["case"]))

    def _with(self, begin: int, end: int, chosen: npt.NDArray[np.bool_] | None) -> OnDisk:
        other = copy(self)
        other._begin, other._end, other._chosen = begin, end, chosen
        return other


StepRows = pl.DataFrame | OnDisk
"""Rows of steps, in memory or not."""


def portions(rows: StepRows, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Columns of the rows, a bounded number at a time where they are not in memory."""
    return iter([rows]) if isinstance(rows, pl.DataFrame) else rows.portions(names)


def flags(rows: StepRows, wanted: pl.Expr) -> pl.Series:
    """Whether each row is wanted, by its own columns."""
    parts = portions(rows, list(dict.fromkeys(wanted.meta.root_names())))
    return pl.concat(part.select(wanted).to_series() for part in parts)


def held_of(rows: StepRows) -> pl.DataFrame:
    """The rows that are cases."""
    return rows if isinstance(rows, pl.DataFrame) else rows.held()


def cases_of(rows: StepRows) -> pl.Series:
    """The cases of those rows that have one."""
    return present(held_of(rows)["case"])


def present(values: pl.Series) -> pl.Series:
    """The values that are not null. There may be thousands of runs, so it takes a query only where
    some are and others are not."""
    nulls = values.null_count()
    if nulls == len(values):
        return values.slice(0, 0)
    return values.drop_nulls() if nulls else values


def unsaid(rows: StepRows, name: str) -> bool:
    """Whether no row in memory says anything of a column, which takes no query to know."""
    return isinstance(rows, pl.DataFrame) and rows[name].null_count() == rows.height


def together(cases: Sequence[pl.Series]) -> pl.DataFrame:
    """The cases of several runs in one frame: run (which of them, counted from 0) and case."""
    none = pl.Series("case", [], pl.String)
    names = [each if each.dtype == pl.String else each.cast(pl.String) for each in cases]
    runs = np.repeat(np.arange(len(names), dtype=np.uint32), [len(each) for each in names])
    return pl.DataFrame({"run": runs, "case": pl.concat([none, *names])})


def sources_of(rows: StepRows) -> list[str]:
    """The inputs that rows come from."""
    return [rows.long.source] if isinstance(rows, OnDisk) else rows["source"].unique().to_list()


def varies(rows: StepRows, name: str) -> bool:
    """Whether a column that there is has several values."""
    if isinstance(rows, OnDisk) and rows.one_value(name):
        return False
    return rows[name].n_unique() > 1


class StepFrame(NamedTuple):
    """Steps that one format reads.

    `restarts`: its format knows iterations that a restart prints again, so that a count which falls
    is no other job.
    """

    name: str
    rows: StepRows
    restarts: bool


def step_frames(reading: Reading) -> Iterator[StepFrame]:
    """The frames of steps that hold any; the first that a run has is believed.

    Long inputs come by themselves, with every row.
    """
    steps = list(_steps(reading))
    yield from _rates(reading, steps)
    yield from steps


def _steps(reading: Reading) -> Iterator[StepFrame]:
    for held in reading.with_rows("step"):
        counter = _first(held, "counter")
        restarts = counter is not None and counter.name in held.format.repeats
        long = [each for each in reading.long if each.frame == held.name]
        short = ~pl.col("source").is_in([each.source for each in long])
        rest = held._replace(frame=held.frame.filter(short)) if long else held
        if rest.frame.height:
            rows = rest.frame.with_columns(**_added(rest, rest.frame.columns))
            yield StepFrame(held.name, rows, restarts)
        for each in long:
            yield StepFrame(held.name, _every(held, each), restarts)


def _rates(reading: Reading, steps: Sequence[StepFrame]) -> Iterator[StepFrame]:
    """Rates that a rank prints by the count of steps, of inputs whose `steps` tell no pace."""
    for held in reading.with_rows("rank"):
        counter, paces = _first(held, "counter"), _paces(held.frame.columns)
        if counter is None or not paces:
            continue
        told = [each.rows if isinstance(each.rows, OnDisk) else _told(each.rows) for each in steps]
        sources = list(chain.from_iterable(map(sources_of, told)))
        rows = _told(held.frame).filter(
            ~pl.col("source").is_in(sources) & pl.col(counter.name).is_not_null()
        )
        if rows.height:
            added = _added(held._replace(frame=rows), rows.columns)
            yield StepFrame(held.name, rows.with_columns(**added), restarts=False)


def _paces(columns: Sequence[str]) -> list[str]:
    return [name for name in PACES if name in columns]


def _told(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that tell how fast they were."""
    paces = _paces(rows.columns)
    return rows.filter(pl.any_horizontal(pl.col(paces).is_not_null())) if paces else rows.clear()


def _every(held: Held, long: Long) -> OnDisk:
    """All rows of a long input."""
    mine = held.frame.filter(pl.col("source") == long.source)
    at = long.kept.select("line", "column", "at")
    mine = mine.with_columns(**_added(held, mine.columns), case=case_of())
    known = mine.join(at, on=["line", "column"], maintain_order="left")
    names = _columns_of(long)
    spelled = {name: one.meta.root_names() for name, one in _added(held, names).items()}
    return OnDisk(long, {name: roots[0] for name, roots in spelled.items() if roots}, known)


def _columns_of(long: Long) -> list[str]:
    """The columns of the file of a long input."""
    return list(pl.read_parquet_schema(long.file))


def _added(held: Held, columns: Sequence[str]) -> dict[str, pl.Expr]:
    """The columns that all frames of steps have, of a frame that has these."""
    specs = fields(held.schema).values()
    timed = next((one for one in specs if one.quantity == TIME), None) or _first(held, "time")
    wanted = {name: _first(held, role) for name, role in COLUMNS.items()} | {TIME: timed}
    added = {
        f"{name}{end}": pl.col(f"{spec.name}{end}")
        for name, spec in wanted.items()
        for end in ("", "_ulp")
        if spec is not None and name not in columns
        if f"{spec.name}{end}" in columns
    }
    nothing = pl.lit(None, pl.Float64)
    untold = {name: nothing for name in (TIME, f"{TIME}_ulp") if name not in columns}
    return untold | added


def _first(held: Held, role: Role) -> FieldSpec | None:
    """The first field of a role that the frame holds."""
    there = (one for one in fields(held.schema).values() if one.name in held.frame.columns)
    return next((one for one in there if one.role == role), None)
