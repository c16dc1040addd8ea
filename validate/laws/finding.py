"""Finding of a law: a number that its own document or its arithmetic contradicts.

A finding names the numbers it is about (`observed`), what the others say they should be
(`implied`), and, where the arithmetic singles one out, the cause. Its severity says what it
means for a user: an `error` cannot be right as printed, a `warning` needs a decision, a `note` is
worth knowing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import polars as pl
from assay.ingest.schema.record import Span

Kind = Literal["identity", "convention", "statistical"]

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The gravest first."""

MOST_SPANS = 4


class Number(NamedTuple):
    """A value with the interval that its digits, or those of its inputs, leave open."""

    quantity: str
    value: float
    low: float
    high: float
    unit: str


class Finding(NamedTuple):
    """One contradiction: where, how grave, what stands there, what would follow."""

    law: str
    kind: Kind
    severity: Severity
    spans: tuple[Span, ...]  # of the numbers involved, at most four
    observed: tuple[Number, ...]
    implied: tuple[Number, ...]
    explanation: str  # the cause where the arithmetic singles one out, else what does not meet
    meaning: str  # what a user of the number should do
    cases: tuple[str, ...] = ()  # the rows it is about
    quantities: tuple[str, ...] = ()  # the printed quantities of those rows that cannot be trusted
    correction: tuple[tuple[str, str, float], ...] = ()  # case, column, value: what would be right

    def __str__(self) -> str:
        return f"{self.spans[0]}: {self.severity}: {self.law}: {self.explanation}"


_NUMBER = pl.Struct({name: pl.String if name in ("quantity", "unit") else pl.Float64
                     for name in Number._fields})  # fmt: skip

FINDING: dict[str, pl.DataType] = {
    "law": pl.String(),
    "class": pl.String(),
    "severity": pl.String(),
    "spans": pl.List(pl.String),
    "observed": pl.List(_NUMBER),
    "implied": pl.List(_NUMBER),
    "explanation": pl.String(),
    "meaning": pl.String(),
}


def as_dict(finding: Finding) -> dict[str, object]:
    """A finding as JSON writes it: the columns of `FINDING`."""
    return {
        "law": finding.law,
        "class": finding.kind,
        "severity": finding.severity,
        "spans": [str(span) for span in finding.spans],
        "observed": [number._asdict() for number in finding.observed],
        "implied": [number._asdict() for number in finding.implied],
        "explanation": finding.explanation,
        "meaning": finding.meaning,
    }


def frame(findings: Iterable[Finding]) -> pl.DataFrame:
    """Findings as a frame of `FINDING`."""
    return pl.DataFrame([as_dict(each) for each in findings], schema=FINDING)


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by source and line, the gravest first where several stand at one place."""
    return sorted(
        findings, key=lambda f: (f.spans[0], SEVERITIES.index(f.severity), f.law, f.spans[1:])
    )


def at_least(findings: Iterable[Finding], severity: Severity) -> list[Finding]:
    """Findings of that severity or a graver one."""
    wanted = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return [finding for finding in findings if finding.severity in wanted]
