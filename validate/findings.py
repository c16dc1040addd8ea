"""What printed numbers say against each other: misses, layouts that do not fit, repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl
from assay.validate.cases import Cases
from assay.validate.identities.check import equal, units_off

NEAR = 20
"""Misses of so many units of the last place are told in units, larger ones as a ratio."""

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """A printed number contradicts its own document or its arithmetic, or repeats another one.

    `kind` is the class: identity (arithmetic that must hold), convention (another formula than the
    rest), statistical (unlikely, not impossible).
    """

    law: str
    kind: Literal["identity", "convention", "statistical"]
    severity: Severity
    spans: tuple[str, ...]
    observed: float | None
    implied: float | None
    explanation: str


def findings(
    cases: Cases, checks: pl.DataFrame, repeats: pl.DataFrame, contradicted: pl.DataFrame
) -> list[Finding]:
    """Everything found, by source and line."""
    found = [
        *_misses(checks, set(contradicted["case"])),
        *_layouts(cases),
        *_repeats(repeats),
    ]
    return sorted(found, key=lambda finding: (_place(finding.spans[0]), finding.law))


def _place(span: str) -> tuple[str, int]:
    source, _, line = span.rpartition(":")
    return source, int(line)


def _span(case: str) -> str:
    source, _, line = case.rpartition("#")
    return f"{source}:{line}"


def _misses(checks: pl.DataFrame, contradicted: set[str]) -> list[Finding]:
    missed = checks.with_columns(off=units_off()).filter(~equal())
    found = []
    for row in missed.iter_rows(named=True):
        ratio = row["printed"] / row["implied"] if row["implied"] else float("nan")
        severity: Severity = "error" if row["case"] in contradicted else "note"
        found.append(
            Finding(
                f"{row['quantity']}: {row['formula_id']}",
                "identity",
                severity,
                (f"{row['source']}:{row['line']}",),
                row["printed"],
                row["implied"],
                _said(row["inputs"], ratio, row["off"]),
            )
        )
    return found


def _said(inputs: list[str], ratio: float, off: float) -> str:
    source = ", ".join(inputs)
    if off <= NEAR:
        word = "unit" if off == 1 else "units"
        return f"{off:.0f} {word} of the last printed place off what follows from {source}"
    return f"printed is {ratio:.4g} of what follows from {source}"


def _layouts(cases: Cases) -> list[Finding]:
    fixed = cases.origins.filter(pl.col("value_origin") == "corrected")
    return [
        Finding("layout: DP·TP·PP·CP = GPUs", "identity", "error", (_span(row["case"]),), None,
                float(row["value"]), row["law"])
        for row in fixed.iter_rows(named=True)
    ]  # fmt: skip


def _repeats(repeats: pl.DataFrame) -> list[Finding]:
    return [
        Finding(
            "repeat", "identity" if row["exchanged"] else "statistical",
            "error" if row["exchanged"] else "note",
            (_span(row["case"]), _span(row["of"])), None, None,
            "prints an earlier row again with step time and TFLOPs exchanged"
            if row["exchanged"] else "prints an earlier measurement again",
        )
        for row in repeats.iter_rows(named=True)
    ]  # fmt: skip
