"""Rows that differ in one knob only: memory grows with the micro-batch, time with the batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, cycle, pairwise
from statistics import median

from assay.validate.arithmetic.printed_runs import UNITS
from assay.validate.arithmetic.rated_rows import RATE
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number, Severity
from assay.validate.laws.same_configuration import (
    CORE,
    Row,
    alike,
    comparable,
    measured_noise,
    noise,
    number,
    published,
    same_columns,
)

MEMORY_FALLS = 0.10
"""A fall of memory that allocators and rounding to GB do not explain."""

TIME_OFF = 0.10
"""A step time this far beyond what fill and drain of a pipeline explain."""

STEADY = 10.0
"""Micro-batches that everything paid once a step (optimizer, reduction) may cost at most."""

SUPERLINEAR = 0.25

ALL_PAIRS = 50
"""Rows that are alike but for one knob, of which every two are compared."""


def _sets(evidence: Evidence, knob: str) -> list[tuple[Row, Row]]:
    """Pairs of one table and date, alike but for one knob, the smaller value first."""
    free = (knob, "accumulation", "global_batch_tokens")
    buckets = defaultdict(list)
    for row in published(evidence):
        if row[knob] is not None and knob in row["printed"]:
            buckets[(*(row[n] for n in CORE if n != knob), row["group"])].append(row)
    found = []
    for rows in buckets.values():
        for one, other in _pairs(rows, knob):
            if one[knob] == other[knob] or not comparable(one, other):
                continue
            if alike(one, other, but=free) and same_columns(one, other):
                found.append((one, other) if one[knob] < other[knob] else (other, one))
    return found


def _pairs(rows: Sequence[Row], knob: str) -> Iterable[tuple[Row, Row]]:
    """Every two of a few rows; of more than `ALL_PAIRS` each with one of the next larger value."""
    if len(rows) <= ALL_PAIRS:
        return combinations(rows, 2)
    of_value = defaultdict(list)
    for row in rows:
        of_value[row[knob]].append(row)
    return (
        (smaller, larger)
        for low, high in pairwise(sorted(of_value))
        for smaller, larger in _one_to_one(of_value[low], of_value[high])
    )


def _one_to_one(few: Sequence[Row], many: Sequence[Row]) -> Iterable[tuple[Row, Row]]:
    """Each of the more numerous ones with one of the others, in turns."""
    if len(few) > len(many):
        return zip(few, cycle(many), strict=False)
    return zip(cycle(few), many, strict=False)


def memory_falls(evidence: Evidence) -> list[Finding]:
    """Less memory at a larger micro-batch."""
    found = []
    for small, large in _sets(evidence, "micro_batch"):
        if small["memory"] is None or large["memory"] is None:
            continue
        if small["memory_low"] <= large["memory_high"] * (1.0 + MEMORY_FALLS):
            continue
        odd, usual = _odd_memory(evidence, small, large)
        severity: Severity = "warning" if measured_noise(evidence) else "note"
        peers = f"; rows of the same layout elsewhere say {_gb(usual)}" if usual else ""
        implied = (Number("memory", median(usual), min(usual), max(usual), "B"),) if usual else ()
        other = large if odd is small else small
        found.append(
            Finding(
                law="memory-in-micro-batch",
                kind="statistical",
                severity=severity,
                spans=(evidence.span(odd["case"]), evidence.span(other["case"])),
                observed=(number(odd, "memory"), number(other, "memory")),
                implied=implied,
                explanation=(
                    f"{small['memory'] / 1e9:g} GB at MBS {small['micro_batch']} is above "
                    f"{large['memory'] / 1e9:g} GB at MBS {large['micro_batch']}{peers}"
                ),
                meaning="Do not size a run by this memory; the time beside it is not in doubt.",
                cases=(odd["case"],),
                quantities=("memory",),
            )
        )
    return found


def _gb(values: list[float]) -> str:
    low, high = min(values) / 1e9, max(values) / 1e9
    return f"{low:g} GB" if low == high else f"{low:g} to {high:g} GB"


def _odd_memory(evidence: Evidence, *rows: Row) -> tuple[Row, list[float]]:
    """Of two rows the one farther from rows of the same layout, and what those print."""
    layout = ("source", "tp", "pp", "dp", "micro_batch", "gpus")
    said = []
    for row in rows:
        peers = [
            each["memory"] for each in published(evidence)
            if each is not row and each["memory"] is not None
            and all(each[n] == row[n] for n in layout)
            and (each["group"] != row["group"])
        ]  # fmt: skip
        off = abs(row["memory"] / median(peers) - 1.0) if peers else 0.0
        said.append((off, row, peers))
    off, row, peers = max(said, key=lambda each: each[0])
    return (row, peers) if off > 0 else (rows[0], [])


def time_in_batch(evidence: Evidence) -> list[Finding]:
    """Step times that do not follow the batch: too long for fewer samples, or too short."""
    found = []
    for small, large in _sets(evidence, "global_batch"):
        span = _expected(small, large)
        if span is None or small["step_time"] is None or large["step_time"] is None:
            continue
        ratio = small["step_time"] / large["step_time"]
        usual = noise(evidence, "step_time")
        slack = max(TIME_OFF, 3.0 * (usual or 0.0))
        least, most = span[0] * (1.0 - SUPERLINEAR), span[1] * (1.0 + slack)
        if least <= ratio <= most:
            continue
        found.append(_time(evidence, (small, large), span, "warning" if usual else "note"))
    return found


def _expected(small: Row, large: Row) -> tuple[float, float] | None:
    """Least and most of the ratio of two times, from the micro-batches of each."""
    held = (small["micro_batch"], small["dp"], small["pp"])
    if any(value is None for value in held):
        return None
    micro, dp, pp = held
    steps = [row["global_batch"] / (micro * dp) for row in (small, large)]
    once = pp - 1 + STEADY
    return steps[0] / steps[1], (steps[0] + once) / (steps[1] + once)


def _time(
    evidence: Evidence, rows: tuple[Row, Row], span: tuple[float, float], severity: Severity
) -> Finding:
    small, large = rows
    odd = _odd_rate(evidence, small, large)
    other = large if odd is small else small
    factors = span if odd is small else (1 / span[1], 1 / span[0])
    low, high = (other["step_time"] * each for each in factors)
    fewer = 1.0 - small["global_batch"] / large["global_batch"]
    return Finding(
        law="time-in-batch",
        kind="statistical",
        severity=severity,
        spans=(evidence.span(odd["case"]), evidence.span(other["case"])),
        observed=(number(odd, "step_time"), number(other, "step_time")),
        implied=(Number("step_time", (low + high) / 2, low, high, UNITS["step_time"]),),
        explanation=(
            f"GBS {small['global_batch']} takes {small['step_time']:g} s, GBS "
            f"{large['global_batch']} {large['step_time']:g} s: {100 * fewer:.0f} % fewer samples, "
            f"{100 * (1 - small['step_time'] / large['step_time']):.0f} % less time"
        ),
        meaning="One of the two batches or times is not what ran; leave the row out of a fit.",
        cases=(odd["case"],),
    )


def _odd_rate(evidence: Evidence, *rows: Row) -> Row:
    """Of two rows the one whose rate is farther from the others of their table."""
    rates = [each[RATE] for each in published(evidence)
             if each["group"] == rows[0]["group"] and each[RATE] is not None]  # fmt: skip
    if not rates or any(row[RATE] is None for row in rows):
        return rows[0]
    middle = median(rates)
    return max(rows, key=lambda row: abs(row[RATE] / middle - 1.0))
