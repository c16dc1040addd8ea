"""Laws of per-layer tables: shares of a whole, and sizes and times that cannot be below zero."""

from __future__ import annotations

from typing import Any

import polars as pl
from assay.ingest.types import Span
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, Number

SHARE = "share-above-one"
NEGATIVE = "negative-size"
SHARES = ("frac_t_comm_fwd", "frac_t_comm_bwd", "comm_share")


def shares(evidence: Evidence) -> list[Finding]:
    """Shares outside [0, 1] and negative numbers of layer tables."""
    found = []
    for name, frame in evidence.reading.frames.items():
        if not name.startswith("layer_") or frame.is_empty():
            continue
        for column, kind in frame.schema.items():
            if column.endswith("_ulp") or not kind.is_numeric():
                continue
            if column in SHARES:
                for row in frame.filter(pl.col(column) > 1.0 + 1e-6).iter_rows(named=True):
                    text = f"{column} of {row['layer']} is {row[column]:g}: no share exceeds 1"
                    found.append(_finding(SHARE, row, column, 1.0, text))
            for row in frame.filter(pl.col(column) < 0).iter_rows(named=True):
                text = f"{column} of {row['layer']} is {row[column]:g}, below zero"
                found.append(_finding(NEGATIVE, row, column, 0.0, text))
    return found


def _finding(law: str, row: dict[str, Any], column: str, limit: float, text: str) -> Finding:
    value = float(row[column])
    return Finding(
        law=law,
        kind="identity",
        severity="error",
        spans=(Span(row["source"], row["line"], row["column"] or 1),),
        observed=(Number(column, value, value, value, "1"),),
        implied=(Number(column, limit, 0.0, float(max(limit, 0.0)), "1"),),
        explanation=text,
        meaning="Do not use the cell; its parts were computed from something else.",
    )
