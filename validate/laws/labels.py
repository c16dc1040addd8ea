"""Size labels and parameter counts against what the shape gives.

A label is nominal: `200B` is 199.1 B without embeddings and 202.7 B with them. It is wrong
only where no way of counting comes near it. A printed count may be of gated, grouped, tied or
expert layers; it is wrong only where none of them explains it, and its neighbours are explained.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from assay.model.transformer.parameters import gpt_layer
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number, Severity

LAW = "size-label"

COUNTS = "parameters-of-shape"

NEAR = 0.05
"""Up to here a label is only rounded its own way."""

FAR = 0.20
"""From here on no reading of the label saves it."""

FEWEST, MOST_OF_PLAIN = 0.55, 20.0
"""Parameters per 12h²+13h of a layer: grouped queries have less, hundreds of experts more."""

WORDS = 600_000
"""Rows of embeddings, both ends and positions, that no vocabulary exceeds."""

EXPLAINED = 0.8
"""Share of a document's counts, of three at least, that must be explained before one is wrong."""

MOST = 0.5
"""Share of a document's labels that must be near before one that is not means anything."""


def size_labels(evidence: Evidence) -> list[Finding]:
    """Labels far from 12Lh² with and without embeddings, where most labels of the document fit."""
    runs = evidence.runs
    if runs.is_empty():
        return []
    hidden, layers = (pl.col(name).cast(pl.Float64) for name in ("hidden", "layers"))
    plain = layers * gpt_layer(hidden)
    embedded = plain + pl.col("vocab").cast(pl.Float64) * hidden
    label = pl.col("model_size")
    place = pl.lit(10.0).pow((label.log10() - 1e-9).floor() - _digits(label) + 1)
    table = (
        runs.filter(label.is_not_null() & plain.is_not_null() & (pl.col("ep").fill_null(1) == 1))
        .filter(pl.col("ffn_hidden").is_null() & pl.col("kv_heads").is_null())
        .with_columns(plain=plain, embedded=embedded, low=label - place / 2, high=label + place)
    )
    off = [
        pl.max_horizontal(pl.col("low") / pl.col(n), pl.col(n) / pl.col("high")) - 1.0
        for n in ("plain", "embedded")
    ]
    table = table.with_columns(off=pl.min_horizontal(*off))
    fits = (pl.col("off") <= NEAR).mean().over("source") >= MOST
    table = table.filter(fits & (pl.col("off") > NEAR))
    return [_finding(evidence, row) for row in table.iter_rows(named=True)]


def counts(evidence: Evidence) -> list[Finding]:
    """Printed parameter counts that no layers of the printed width and depth have."""
    runs = evidence.runs
    if runs.is_empty():
        return []
    hidden, layers, said = (
        pl.col(name).cast(pl.Float64) for name in ("hidden", "layers", "parameters")
    )
    printed = pl.all_horizontal(
        pl.col("printed").list.contains(name) for name in ("hidden", "layers", "parameters")
    )
    plain = layers * gpt_layer(hidden)
    table = (
        runs.filter(printed & (pl.col("ep").fill_null(1) == 1))
        .with_columns(least=FEWEST * plain, most=MOST_OF_PLAIN * plain + WORDS * hidden)
        .with_columns(fits=said.is_between("least", "most"))
        .with_columns(
            share=pl.col("fits").mean().over("source"), n=pl.col("fits").sum().over("source")
        )
        .filter(~pl.col("fits") & (pl.col("share") >= EXPLAINED) & (pl.col("n") >= 3))
    )
    return [_count(evidence, row) for row in table.iter_rows(named=True)]


def _count(evidence: Evidence, row: dict[str, Any]) -> Finding:
    said, plain = float(row["parameters"]), float(row["least"]) / FEWEST
    return Finding(
        law=COUNTS,
        kind="identity",
        severity="warning",
        spans=(evidence.span(row["case"]),),
        observed=(Number("parameters", said, said, said, "1"),),
        implied=(Number("parameters", plain, float(row["least"]), float(row["most"]), "1"),),
        explanation=(
            f"{said / 1e9:.4g} B parameters, where {row['layers']} layers of {row['hidden']} have "
            f"about {plain / 1e9:.3g} B and a vocabulary"
        ),
        meaning="Ask which of parameters, hidden size and layers is of another model.",
        cases=(row["case"],),
    )


def _digits(label: pl.Expr) -> pl.Expr:
    """Significant digits of a label: 200B has one, 18B two, 1.3B two."""
    count = pl.lit(1)
    for digits in (1, 2, 3):
        unit = pl.lit(10.0).pow((label.log10() - 1e-9).floor() - digits + 1)
        exact = ((label / unit) - (label / unit).round()).abs() < 1e-6
        count = count + (~exact).cast(pl.Int32)
    return count


def _finding(evidence: Evidence, row: dict[str, float | str | None]) -> Finding:
    far = float(row["off"] or 0.0) > FAR
    severity: Severity = "warning" if far else "note"
    counts = [float(row[n]) for n in ("plain", "embedded") if row[n] is not None]  # type: ignore[arg-type]
    size, low, high = (float(row[n] or 0.0) for n in ("model_size", "low", "high"))
    return Finding(
        law=LAW,
        kind="identity",
        severity=severity,
        spans=(evidence.span(str(row["case"])),),
        observed=(Number("model_size", size, low, high, "1"),),
        implied=(Number("parameters", counts[-1], min(counts), max(counts), "1"),),
        explanation=(
            f"the label says {size / 1e9:g} B, {row['layers']} layers of {row['hidden']} have "
            + " to ".join(f"{count / 1e9:.1f} B" for count in counts)
        ),
        meaning="Take the size from the shape, and ask whether the layers or the label are stale.",
        cases=(str(row["case"]),),
    )
