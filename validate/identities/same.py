"""Findings about rows of one configuration: differences, exchanges, repeats, copies."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from assay.validate.cases import CONFIGURED
from assay.validate.identities.alike import (
    NOMINAL,
    SPEED,
    TERA,
    Pair,
    Row,
    alike,
    comparable,
    exchanged_pairs,
    measured,
    measured_noise,
    noise,
    number,
    pairs,
    published,
    repeated,
)
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, Severity
from assay.validate.identities.runs import label
from assay.validate.identities.tries import RATE

BEYOND = 3.0
"""Times the median repeat difference that still is noise."""

FLOOR = {"memory": 0.10}
DEFAULT_FLOOR = 0.03
"""Differences below this are never worth a word."""

SURE = 3.0
"""Decades against accident before equal numbers are a copy."""


def differing(evidence: Evidence) -> list[Finding]:
    """Pairs of one configuration, table and date that differ by more than the noise."""
    found = []
    for pair in pairs(evidence):
        if not comparable(pair.one, pair.other):
            continue
        said, loud = [], False
        for name in (
            "step_time",
            "tokens_per_s",
            "tokens_per_gpu_per_s",
            "samples_per_s",
            "memory",
        ):
            difference = pair.difference(name)
            if difference is None or difference <= FLOOR.get(name, DEFAULT_FLOOR):
                continue
            usual = noise(evidence, name, pair)
            known = usual is not None or (name == "memory" and measured_noise(evidence))
            loud |= known and difference > BEYOND * (usual or 0.0)
            beside = f", repeats differ by {100 * usual:.2g} %" if usual is not None else ""
            said.append((name, f"{label(name)} differs by {100 * difference:.2g} %{beside}"))
        if said:
            found.append(_differing(evidence, pair, said, "warning" if loud else "note"))
    return found


def _differing(
    evidence: Evidence, pair: Pair, said: list[tuple[str, str]], severity: Severity
) -> Finding:
    rows = (pair.one, pair.other)
    names = [name for name, _ in said]
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
                explanation=f"the measurement of line {first['line']}, printed again"
                + (f" with another date ({row['date']}, there {first['date']})" if date else ""),
                meaning="Count it once in any statistic.",
                cases=(row["case"],),
            )
        )
    return found


def copied(evidence: Evidence) -> list[Finding]:
    """Equal measurements of rows whose printed configurations differ, beyond accident."""
    found = []
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in published(evidence):
        groups[row["source"], row["group"]].append(row)
    for rows in groups.values():
        known: dict[tuple[Any, ...], Row] = {}
        for row in rows:
            if all(value is None for value in measured(row)):
                continue
            key = (*measured(row), row["memory"])
            first = known.setdefault(key, row)
            if first is row or alike(first, row) or not _both_print(first, row):
                continue
            decades = _decades(rows, row)
            if decades - np.log10(len(rows) * (len(rows) - 1) / 2) >= SURE:
                found.append(_copied(evidence, first, row))
    return found


def _both_print(one: Row, other: Row) -> list[str]:
    """Configuration values that both rows print and that differ."""
    both = set(one["printed"]) & set(other["printed"])
    return [n for n in CONFIGURED if n in both and n not in NOMINAL and one[n] != other[n]]


def _decades(rows: list[Row], row: Row) -> float:
    """How unlikely it is that another row prints the same: one speed, and the memory."""
    found = {}
    for name in (*SPEED, "memory"):
        if row[name] is None:
            continue
        values = [each[name] for each in rows if each[name] is not None]
        spread, place = max(values) - min(values), row[f"{name}_place"]
        if place and spread > place:
            found[name] = float(np.log10(spread / place))
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
