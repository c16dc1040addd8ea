"""Findings about rows of one configuration: differences, exchanges, repeats, copies.

Two rows are of one configuration when nothing that both know differs: printed and bound columns,
columns no schema declares, remarks. A difference is judged by the document's own noise: the median
difference of its other repeats of the same or a neighbouring date.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl
from assay.validate.arithmetic import repeats as again
from assay.validate.arithmetic.printed_runs import UNITS, label
from assay.validate.arithmetic.rated_rows import RATE
from assay.validate.arithmetic.repeats import COMPARED, NOMINAL, SPEED, shape_in
from assay.validate.cases.cases import CONFIGURED
from assay.validate.cases.memo import once
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number, Severity

BEYOND = 3.0
"""Times the median repeat difference that still is noise."""

FLOOR = {"memory": 0.10}

DEFAULT_FLOOR = 0.03
"""Differences below this are never worth a word."""

MEASURED = ("step_time", "tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s", "memory")
"""Quantities of which a difference is told."""

SURE = 3.0
"""Decades against accident before equal numbers are a copy."""


def differing(evidence: Evidence) -> list[Finding]:
    """Pairs of one configuration, table and date that differ by more than the noise."""
    held, found = pairs(evidence), []
    worth = [held.difference(name) > FLOOR.get(name, DEFAULT_FLOOR) for name in MEASURED]
    for pair in held.which(held.comparable() & np.any(worth, axis=0) & held.told()):
        said, loud = [], False
        for name in MEASURED:
            difference = pair.difference(name)
            if difference is None or difference <= FLOOR.get(name, DEFAULT_FLOOR):
                continue
            usual = noise(evidence, name, pair)
            known = usual is not None or (name == "memory" and measured_noise(evidence))
            loud |= known and difference > BEYOND * (usual or 0.0)
            beside = f", repeats differ by {100 * usual:.2g} %" if usual is not None else ""
            said.append((name, f"{label(name)} differs by {100 * difference:.2g} %{beside}"))
        if said:
            if (count := held.crowd.get(pair.one["case"])) is not None:
                said.append(("", f"one of {count:,} rows, compared with {TOLD} behind it"))
            found.append(_differing(evidence, pair, said, "warning" if loud else "note"))
    return found


def _differing(
    evidence: Evidence, pair: Pair, said: list[tuple[str, str]], severity: Severity
) -> Finding:
    rows = (pair.one, pair.other)
    names = [name for name, _ in said if name]
    if "step_time" not in names and pair.one["step_time"] and pair.other["step_time"]:
        names.append("step_time")
    memory = "memory" in names
    why = "; a memory that far apart means that one micro-batch or layout is mislabelled"
    return Finding(
        law="same-configuration",
        kind="statistical",
        severity=severity,
        spans=tuple(evidence.span(row["case"]) for row in rows),
        observed=tuple(number(row, name) for name in names for row in rows),
        implied=(),
        explanation=f"same configuration and {'date' if pair.one['date'] else 'table'}: "
        + ", ".join(text for _, text in said)
        + (why if memory else ""),
        meaning="Use neither as the measurement of this configuration before it is repeated.",
        cases=tuple(row["case"] for row in rows),
    )  # fmt: skip


def exchanged(evidence: Evidence) -> list[Finding]:
    """Time and rate exchanged, shown by another row of the same configuration."""
    found = []
    for pair in exchanged_pairs(evidence):
        first, row = pair.one, pair.other
        found.append(
            Finding(
                law="exchanged-cells",
                kind="identity",
                severity="error",
                spans=(evidence.span(row["case"]), evidence.span(first["case"])),
                observed=(number(row, "step_time"), number(row, RATE)),
                implied=(number(first, "step_time"), number(first, RATE)),
                explanation=(
                    f"step time and TFLOPs are exchanged: line {first['line']} is the same "
                    f"configuration with {first['step_time']:g} s and {first[RATE] / TERA:g} "
                    "TFLOPs, and their product cannot tell"
                ),
                meaning="Do not use the time or the rate of this row.",
                cases=(row["case"],),
                quantities=SPEED,
                correction=(
                    (row["case"], "step_time", first["step_time"]),
                    (row["case"], RATE, first[RATE]),
                ),
            )
        )
    return found


def repeats(evidence: Evidence) -> list[Finding]:
    """A measurement printed again."""
    found = []
    for pair in repeated(evidence):
        first, row = pair.one, pair.other
        date = row["date"] != first["date"] and None not in (row["date"], first["date"])
        found.append(
            Finding(
                law="repeat",
                kind="statistical",
                severity="note",
                spans=(evidence.span(row["case"]), evidence.span(first["case"])),
                observed=tuple(number(row, n) for n in SPEED if row[n] is not None),
                implied=(),
                explanation=f"the measurement of {_place(first, row)}, printed again"
                + (f" with another date ({row['date']}, there {first['date']})" if date else ""),
                meaning="Count it once in any statistic.",
                cases=(row["case"],),
            )
        )
    return found


def _place(first: Row, row: Row) -> str:
    """Where a row stands, as told beside another."""
    line = f"line {first['line']}"
    return line if first["source"] == row["source"] else f"{line} of {first['source']}"


def copied(evidence: Evidence) -> list[Finding]:
    """Equal measurements of rows whose printed configurations differ, beyond accident."""
    found, names = [], _known(evidence)
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in published(evidence):
        groups[row["source"], row["group"]].append(row)
    for rows in groups.values():
        known: dict[tuple[Any, ...], Row] = {}
        spreads = _spreads(rows)
        accident = log10(max(1, len(rows) * (len(rows) - 1) / 2))
        for row in rows:
            speed = measured(row)
            if speed.count(None) == len(speed):
                continue
            first = known.setdefault((*speed, row["memory"]), row)
            if first is row or _decades(spreads, row) - accident < SURE:
                continue
            if not alike(first, row, names) and _both_print(first, row):
                found.append(_copied(evidence, first, row))
    return found


def _both_print(one: Row, other: Row) -> list[str]:
    """Configuration values that both rows print and that differ."""
    both = set(one["printed"]) & set(other["printed"])
    return [n for n in CONFIGURED if n in both and n not in NOMINAL and one[n] != other[n]]


def _spreads(rows: list[Row]) -> dict[str, float]:
    """How far apart the values of each quantity are that rows print."""
    held = {n: [row[n] for row in rows if row[n] is not None] for n in QUANTITIES}
    return {name: max(values) - min(values) for name, values in held.items() if values}


def _decades(spreads: Mapping[str, float], row: Row) -> float:
    """How unlikely it is that another row prints the same: one speed, and the memory."""
    found = {}
    for name in QUANTITIES:
        if row[name] is None:
            continue
        spread, place = spreads[name], row[f"{name}_place"]
        if place and spread > place:
            found[name] = log10(spread / place)
    return max([found.get(n, 0.0) for n in SPEED]) + found.get("memory", 0.0)


def _copied(evidence: Evidence, first: Row, row: Row) -> Finding:
    names = _both_print(first, row)
    return Finding(
        law="copied-row",
        kind="statistical",
        severity="warning",
        spans=(evidence.span(row["case"]), evidence.span(first["case"])),
        observed=tuple(number(row, n) for n in SPEED if row[n] is not None),
        implied=(),
        explanation=f"every measured value of line {first['line']}, where "
        + ", ".join(f"{label(n)} is {first[n]} and not {row[n]}" for n in names[:3]),
        meaning="One of the two rows was not measured as it says; use neither alone.",
        cases=(row["case"], first["case"]),
    )


class Row(dict[str, Any]):
    """A row of a table: `COLUMNS`, of which those that no row of a reading knows are left out."""

    def __missing__(self, name: str) -> None:
        if name not in _COLUMNS:
            raise KeyError(name)


CORE = ("source", "model", "parameters", "hidden", "layers", "seq_len", "gpus", "tp", "pp", "dp",
        "cp", "ep", "micro_batch", "global_batch")  # fmt: skip

REPEATS = 3
"""Pairs of other repeats that measure the noise of a document."""

TERA = 1e12


@dataclass(frozen=True)
class Pair:
    """Two rows of one configuration, the earlier one first."""

    one: Row
    other: Row

    def difference(self, name: str) -> float | None:
        """Relative difference of a quantity, None where one row lacks it."""
        a, b = self.one[name], self.other[name]
        return None if a is None or b is None else abs(a - b) / min(a, b)


Places = np.ndarray[Any, np.dtype[np.int64]]
Figures = np.ndarray[Any, np.dtype[np.float64]]
Which = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows of one configuration, as places in `rows`: a document may hold a million."""

    rows: list[Row]
    one: Places
    other: Places
    dates: Mapping[str, Mapping[str, int]]
    crowd: Mapping[str, int]  # by case, the rows of its configuration where not all are compared

    def which(self, asked: Which) -> Iterator[Pair]:
        """Those that are asked for, in order."""
        for one, other in zip(self.one[asked], self.other[asked], strict=True):
            yield Pair(self.rows[one], self.rows[other])

    def difference(self, name: str) -> Figures:
        """Relative difference of a quantity for each pair, NaN where a row lacks it."""
        held = _figures(row[name] for row in self.rows)
        one, other = held[self.one], held[self.other]
        return np.abs(one - other) / np.minimum(one, other)

    def comparable(self) -> Which:
        """For each whether it is `comparable`."""
        held = _numbered((row["date"], row["group"]) for row in self.rows)
        same: Which = held[self.one] == held[self.other]
        return same

    def told(self) -> Which:
        """For each whether a difference is told: in a crowd of the `TOLD` rows behind each."""
        crowded = np.array([row["case"] in self.crowd for row in self.rows], dtype=bool)
        near: Which = ~crowded[self.one] | (self.other - self.one <= TOLD)
        return near

    def neighbours(self) -> Which:
        """For each whether both rows are of neighbouring dates, or both of none."""
        held = _figures(
            None if row["date"] is None else self.dates[row["source"]][row["date"]]
            for row in self.rows
        )
        one, other = held[self.one], held[self.other]
        return (np.isnan(one) & np.isnan(other)) | (np.abs(one - other) <= 1)


def _figures(values: Iterable[float | None]) -> Figures:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _numbered(values: Iterable[object]) -> Places:
    """Equal values under equal numbers, 0 for None."""
    numbers: dict[object, int] = {None: 0}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


QUANTITIES = (*SPEED, "memory")
"""Quantities that rows print, each with its interval and the place of its last digit."""

COLUMNS = (
    "case", "source", "line", "group", "date", "remark", "others", "printed", *COMPARED,
    *QUANTITIES, *(f"{name}_{part}" for name in QUANTITIES for part in ("low", "high", "place")),
)  # fmt: skip
"""Columns of a run frame that laws of several rows ask for."""

_COLUMNS = frozenset(COLUMNS)


@once
def _frame(evidence: Evidence) -> pl.DataFrame:
    """Rows of tables, with `COLUMNS`."""
    rows = again.published(evidence.runs, evidence.reading)
    return rows.select(COLUMNS) if rows.height else rows


@once
def published(evidence: Evidence) -> list[Row]:
    """Rows of tables, each with what is known of it."""
    rows = _frame(evidence)
    some = rows.select(each.name for each in rows if each.null_count() < rows.height)
    return [Row(zip(some.columns, values, strict=True)) for values in some.iter_rows()]


@once
def _known(evidence: Evidence) -> list[str]:
    """Fields of `COMPARED` that some row of a table knows."""
    rows = _frame(evidence)
    return [name for name in COMPARED if rows.height and rows[name].null_count() < rows.height]


def measured(row: Row) -> tuple[Any, ...]:
    """Printed speed of a row."""
    found: tuple[Any, ...] = _SPEED(row)
    return found


_SPEED = itemgetter(*SPEED)


def alike(
    one: Row, other: Row, names: Sequence[str] = COMPARED, *, but: tuple[str, ...] = ()
) -> bool:
    """Whether no configuration value that both rows know differs, `but` for some; `names` are the
    fields that some row knows."""
    apart = [
        name
        for name in names
        if one[name] is not None and other[name] is not None and one[name] != other[name]
    ]
    if not apart:
        return True
    free = (*(NOMINAL if _shaped(one, other) else ()), *but)
    return all(name in free for name in apart)


def _shaped(one: Row, other: Row) -> bool:
    """Whether both rows know the shape of their model, so that a label says nothing more."""
    return shape_in({name for name in SHAPE if None not in (one[name], other[name])})


def same_columns(one: Row, other: Row) -> bool:
    """Whether undeclared columns and remarks leave two rows comparable."""
    return (
        set(one["others"] or ()) == set(other["others"] or ()) and one["remark"] == other["remark"]
    )


@once
def pairs(evidence: Evidence) -> Pairs:
    """Pairs of one configuration with different measurements, neither exchanged nor repeated."""
    skip = {case for pair in exchanged_pairs(evidence) for case in (pair.other["case"],)}
    skip |= {pair.other["case"] for pair in repeated(evidence)}
    buckets: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in published(evidence):
        if row["case"] not in skip:
            buckets[tuple(row[name] for name in CORE)].append(row)
    rows = [row for bucket in buckets.values() for row in bucket]
    behind = [len(bucket) - place for bucket in buckets.values() for place in range(len(bucket))]
    one, other = _different(rows, _known(evidence), np.array(behind, dtype=np.int64))
    crowds = (bucket for bucket in buckets.values() if len(bucket) > ALL_PAIRS)
    crowd = {row["case"]: len(bucket) for bucket in crowds for row in bucket}
    return Pairs(rows, one, other, _dates(evidence), crowd)


ALL_PAIRS = 50
"""Rows of one configuration of which every two are compared; of more, each with the next ones."""

TOLD = 3
"""Rows behind each of more than those of which a difference is told: all would fill pages."""


SHAPE = ("parameters", "hidden", "layers")
"""Fields that `shape_in` asks for."""

NEITHER = np.False_
"""Where no row knows a field, no two rows do."""


def _different(rows: list[Row], known: list[str], behind: Places) -> tuple[Places, Places]:
    """Places of rows that are `alike`, of `same_columns`, and measured otherwise; `known` are the
    fields that some row knows.

    Each with those of its bucket that follow it most closely; `behind` says how many rows the
    bucket still has from a place on. Rows that are apart by as much are compared all at once.
    """
    held = {name: _numbered(row[name] for row in rows) for name in known}
    told = {name: numbers for name, numbers in held.items() if len(np.unique(numbers)) > 1}
    columns = _numbered((frozenset(row["others"] or ()), row["remark"]) for row in rows)
    speeds = _numbered(measured(row) for row in rows)
    found = np.zeros((len(rows), min(int(behind.max(initial=0)), ALL_PAIRS)), dtype=bool)
    for apart in range(1, found.shape[1]):
        one, other = slice(None, -apart), slice(apart, None)
        pairs = (behind[one] > apart) & (columns[one] == columns[other])
        pairs &= speeds[one] != speeds[other]
        for name, each in told.items():
            free = (each[one] == each[other]) | (each[one] == 0) | (each[other] == 0)
            if name in NOMINAL:
                both = {n: (held[n][one] != 0) & (held[n][other] != 0) for n in SHAPE if n in held}
                free |= both.get("parameters", NEITHER)
                free |= both.get("hidden", NEITHER) & both.get("layers", NEITHER)
            pairs &= free
        found[one, apart] = pairs
    places, distances = np.nonzero(found)
    return places, places + distances


@once
def _again(evidence: Evidence) -> dict[str, list[Pair]]:
    """How a row repeats another → the rows that do, each with the first of them."""
    rows = {row["case"]: row for row in published(evidence)}
    found: dict[str, list[Pair]] = {"again": [], "exchanged": []}
    for case, of, how in evidence.arithmetic.repeated.iter_rows():
        found[how].append(Pair(rows[of], rows[case]))
    return found


def repeated(evidence: Evidence) -> list[Pair]:
    """Rows that print an earlier row's measurement again, each with the first of it."""
    return _again(evidence)["again"]


def exchanged_pairs(evidence: Evidence) -> list[Pair]:
    """Rows whose time and rate are those of another row of their configuration, exchanged."""
    return _again(evidence)["exchanged"]


def noise(evidence: Evidence, name: str, without: Pair | None = None) -> float | None:
    """Median difference of other repeats of neighbouring dates; None where they are too few.

    `without` is one of `pairs`, which is left out.
    """
    known = _differences(evidence)[name]
    own = without.difference(name) if without and _neighbours(evidence, without) else None
    at = len(known) if own is None else int(np.searchsorted(known, own))
    count = len(known) - (own is not None)
    if count < REPEATS:
        return None
    low, high = (float(known[place + (place >= at)]) for place in ((count - 1) // 2, count // 2))
    return (low + high) / 2


@once
def _differences(evidence: Evidence) -> dict[str, Figures]:
    """Quantity → the differences of all repeats of neighbouring dates, in order."""
    held = pairs(evidence)
    near = held.neighbours()
    found = {name: held.difference(name)[near] for name in QUANTITIES}
    return {name: np.sort(each[~np.isnan(each)]) for name, each in found.items()}


def measured_noise(evidence: Evidence) -> bool:
    """Whether the document repeats itself often enough to know its noise."""
    return any(noise(evidence, name) is not None for name in SPEED)


@once
def _dates(evidence: Evidence) -> dict[str, dict[str, int]]:
    """Source → the dates that its rows print, each with its place in their order."""
    known: dict[str, set[str]] = defaultdict(set)
    for row in published(evidence):
        known[row["source"]] |= {row["date"]} - {None}
    return {
        source: {date: place for place, date in enumerate(sorted(dates))}
        for source, dates in known.items()
    }


def _neighbours(evidence: Evidence, pair: Pair) -> bool:
    dates = _dates(evidence)[pair.one["source"]]
    one, other = pair.one["date"], pair.other["date"]
    if one is None or other is None:
        return one is other
    return abs(dates[one] - dates[other]) <= 1


def comparable(one: Row, other: Row) -> bool:
    """Whether a difference is worth a word: one date where there are dates, else one table."""
    if one["date"] is not None or other["date"] is not None:
        return bool(one["date"] == other["date"] and one["group"] == other["group"])
    return bool(one["group"] == other["group"])


def number(row: Row, name: str) -> Number:
    """A printed value of a row with its interval."""
    return Number(name, row[name], row[f"{name}_low"], row[f"{name}_high"], UNITS[name])
