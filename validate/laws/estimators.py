"""Laws of published estimates: their reproduction, their shares, sizes and times below zero.

Where a reproduction agrees at the printed precision with nine of ten numbers of a dump, a table or
a trace, the tenth contradicts them: it was changed, or came from another run. A definition that is
the estimator's own is reproduced, so it is no miss here.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from assay.ingest.schema.record import Span
from assay.model.frames import KEY
from assay.validate.cases.cases import observed_in
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number, Severity
from assay.validate.predict import estimates
from assay.validate.predict.forecasts import Asked

LAW = "estimator-reproduced"

MOST = 0.9

LEAST = 20

SMALL = 3.0

FRAMES = {
    "deepflow_dump": estimates.deepflow_reproduced,
    "layer_estimates": estimates.layers_reproduced,
    "ulysses_trace": estimates.traces_reproduced,
}


def reproduced(evidence: Evidence) -> list[Finding]:
    """Numbers that miss a reproduction which gives the rest of their case."""
    held = [name for name in FRAMES if not evidence.reading.frames.get(name, _NONE).is_empty()]
    if not held:
        return []
    observed = observed_in(evidence.cases)
    asked = Asked(evidence.cases, observed, observed)
    pairs = pl.concat(
        [
            observed.join(FRAMES[name](asked), on=KEY, how="inner", suffix="_p",
                          maintain_order="left")
            for name in held
        ]
    )  # fmt: skip
    if pairs.is_empty():
        return []
    implied = [pl.coalesce(f"{end}_p", "value_p") for end in ("low", "high")]
    slack = pl.col("value").abs() * 1e-14
    gap = pl.max_horizontal(implied[0] - pl.col("high"), pl.col("low") - implied[1])
    unit = pl.max_horizontal(pl.col("high") - pl.col("low"), slack)
    table = (
        pairs.filter(~pl.col("quantity").str.starts_with("dim"))
        .filter(~pl.col("quantity").is_in(pl.col("inputs")))
        .with_columns(hit=gap <= slack, off=gap / unit, made_low=implied[0], made_high=implied[1])
        .with_columns(share=pl.col("hit").mean().over("case"), n=pl.len().over("case"))
        .filter(~pl.col("hit") & (pl.col("share") >= MOST) & (pl.col("n") >= LEAST))
    )
    return [_finding(row) for row in table.iter_rows(named=True)]


_NONE = pl.DataFrame()


def _finding(row: dict[str, object]) -> Finding:
    value, made = float(row["value"]), float(row["value_p"])  # type: ignore[arg-type]
    severity: Severity = "error" if float(row["off"]) > SMALL else "note"  # type: ignore[arg-type]
    unit = str(row["unit"])
    return Finding(
        law=LAW,
        kind="identity",
        severity=severity,
        spans=(Span(str(row["source"]), int(row["line"]), int(row["column"] or 1)),),  # type: ignore[call-overload]
        observed=(Number(str(row["quantity"]), value, float(row["low"]), float(row["high"]), unit),),  # type: ignore[arg-type]  # noqa: E501
        implied=(Number(str(row["quantity"]), made, float(row["made_low"]),  # type: ignore[arg-type]
                        float(row["made_high"]), unit),),  # type: ignore[arg-type]
        explanation=(
            f"{row['quantity']} of {row['subject'] or 'the whole'} is {value:.9g}, by the same "
            f"arithmetic as {row['share']:.1%} of its neighbours {made:.9g}"
        ),
        meaning="The line was changed or is of another run; use the others.",
        cases=(str(row["case"]),),
    )  # fmt: skip


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
                    found.append(_share_finding(SHARE, row, column, 1.0, text))
            for row in frame.filter(pl.col(column) < 0).iter_rows(named=True):
                text = f"{column} of {row['layer']} is {row[column]:g}, below zero"
                found.append(_share_finding(NEGATIVE, row, column, 0.0, text))
    return found


def _share_finding(law: str, row: dict[str, Any], column: str, limit: float, text: str) -> Finding:
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
