"""Rows of one configuration: repeats, exchanged values, differences beyond the repeat noise.

Two rows are of one configuration when nothing that both know differs: printed and bound columns,
columns no schema declares, remarks. A difference is judged by the document's own noise: the median
difference of its other repeats of the same or a neighbouring date.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from assay.validate.cases import CONFIGURED
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Number
from assay.validate.identities.runs import UNITS
from assay.validate.identities.throughput import SAYS
from assay.validate.identities.tries import RATE
from assay.validate.observe import about

Row = dict[str, Any]

CORE = ("source", "model", "parameters", "hidden", "layers", "seq_len", "gpus", "tp", "pp", "dp",
        "cp", "ep", "micro_batch", "global_batch")  # fmt: skip
NOMINAL = ("model_size",)
"""Labels: they say nothing about what ran."""

SPEED = (*SAYS, RATE)
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


def published(evidence: Evidence) -> list[Row]:
    """Rows of tables; lines of a log are iterations, each its own measurement."""
    if "rows" not in evidence.memo:
        known = about(evidence.reading.formats)
        tables = {name for name, what in known.items() if what.origin == "published"}
        runs = evidence.runs
        if not runs.is_empty():
            runs = runs.filter(pl.col("frame").is_in(sorted(tables)))
        evidence.memo["rows"] = runs.to_dicts()
    found: list[Row] = evidence.memo["rows"]
    return found


def measured(row: Row) -> tuple[Any, ...]:
    """What a row prints of its speed."""
    return tuple(row[name] for name in SPEED)


def alike(one: Row, other: Row, *, but: tuple[str, ...] = ()) -> bool:
    """Whether no configuration value that both rows know differs, `but` for some."""
    return all(
        one[name] is None or other[name] is None or one[name] == other[name]
        for name in (*CONFIGURED, "dtype_said")
        if name not in (*(NOMINAL if _shaped(one, other) else ()), *but)
    )


def _shaped(one: Row, other: Row) -> bool:
    """Whether both rows know the shape of their model, so that a label says nothing more."""
    return any(
        all(row[name] is not None for row in (one, other) for name in names)
        for names in (("hidden", "layers"), ("parameters",))
    )


def same_columns(one: Row, other: Row) -> bool:
    """Whether undeclared columns and remarks leave two rows comparable."""
    return (
        set(one["others"] or ()) == set(other["others"] or ()) and one["remark"] == other["remark"]
    )


def pairs(evidence: Evidence) -> list[Pair]:
    """Pairs of one configuration with different measurements, neither exchanged nor repeated."""
    if "pairs" not in evidence.memo:
        skip = {case for pair in exchanged_pairs(evidence) for case in (pair.other["case"],)}
        skip |= {pair.other["case"] for pair in repeated(evidence)}
        buckets = _buckets(row for row in published(evidence) if row["case"] not in skip)
        evidence.memo["pairs"] = [
            Pair(one, other)
            for rows in buckets.values()
            for one, other in combinations(rows[:50], 2)
            if alike(one, other) and same_columns(one, other) and measured(one) != measured(other)
        ]
    found: list[Pair] = evidence.memo["pairs"]
    return found


def _buckets(rows: Iterator[Row] | list[Row]) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in CORE)].append(row)
    return found


def repeated(evidence: Evidence) -> list[Pair]:
    """Rows that print an earlier row's measurement again, each with the first of it."""
    if "repeated" not in evidence.memo:
        known: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        found = []
        for row in published(evidence):
            values = measured(row)
            if sum(value is not None for value in values) == 0 or (
                row["step_time"] is None and (sum(value is not None for value in values) < 2)
            ):
                continue
            key = (row["source"], values)
            first = next((old for old in known[key] if alike(old, row)), None)
            if first is not None:
                found.append(Pair(first, row))
            else:
                known[key].append(row)
        evidence.memo["repeated"] = found
    result: list[Pair] = evidence.memo["repeated"]
    return result


def exchanged_pairs(evidence: Evidence) -> list[Pair]:
    """Rows whose time and rate are those of another row of their configuration, exchanged."""
    if "exchanged" not in evidence.memo:
        known: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        found = []
        for row in published(evidence):
            time, rate = row["step_time"], row[RATE]
            if time is None or rate is None or round(rate / TERA, 9) == time:
                continue
            key = (row["source"], round(rate / TERA, 9), round(time, 9))
            first = next((old for old in known[key] if alike(old, row)), None)
            if first is not None:
                found.append(Pair(first, row))
            known[row["source"], round(time, 9), round(rate / TERA, 9)].append(row)
        evidence.memo["exchanged"] = found
    result: list[Pair] = evidence.memo["exchanged"]
    return result


def noise(evidence: Evidence, name: str, without: Pair | None = None) -> float | None:
    """Median difference of other repeats of neighbouring dates; None where they are too few."""
    near = [
        pair.difference(name)
        for pair in pairs(evidence)
        if pair is not without and _neighbours(evidence, pair)
    ]
    known = [each for each in near if each is not None]
    return float(np.median(known)) if len(known) >= REPEATS else None


def measured_noise(evidence: Evidence) -> bool:
    """Whether the document repeats itself often enough to know its noise."""
    return any(noise(evidence, name) is not None for name in SPEED)


def _neighbours(evidence: Evidence, pair: Pair) -> bool:
    source = pair.one["source"]
    key = f"dates {source}"
    if key not in evidence.memo:
        known = {row["date"] for row in published(evidence) if row["source"] == source}
        evidence.memo[key] = sorted(date for date in known if date is not None)
    dates: list[str] = evidence.memo[key]
    one, other = pair.one["date"], pair.other["date"]
    if one is None or other is None:
        return one is other
    return abs(dates.index(one) - dates.index(other)) <= 1


def comparable(one: Row, other: Row) -> bool:
    """Whether a difference is worth a word: one date where there are dates, else one table."""
    if one["date"] is not None or other["date"] is not None:
        return bool(one["date"] == other["date"] and one["group"] == other["group"])
    return bool(one["group"] == other["group"])


def number(row: Row, name: str) -> Number:
    """A printed value of a row with its interval."""
    return Number(name, row[name], row[f"{name}_low"], row[f"{name}_high"], UNITS[name])
