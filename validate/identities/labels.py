"""Size labels against the parameters that the shape gives.

A label is nominal: `200B` is 199.1 B without embeddings and 202.7 B with them. It is wrong
only where no way of counting comes near it.
"""

from __future__ import annotations

import polars as pl
from assay.model.parameters import gpt_layer
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, Number, Severity

LAW = "size-label"
NEAR = 0.05
"""Up to here a label is only rounded its own way."""

FAR = 0.20
"""From here on no reading of the label saves it."""

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
