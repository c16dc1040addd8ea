"""Laws of training logs: timers against their iteration, NaN against its counter."""

from __future__ import annotations

import re

import polars as pl
from assay.ingest.schema.record import Span
from assay.validate.cases.step_frames import portions, step_frames
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import MOST_SPANS, Finding, Number

TIMERS = "timers-above-total"

NAN = "nan-not-counted"

NEAR = 60
"""Lines after a training line in which timers are of its iteration."""

MARGIN = 1.02

FEW = 0.2
"""Share of a timer's lines above their iteration up to which the timer is per iteration at all."""

_OUTSIDE = re.compile("(?i)save|load|setup|eval|valid|checkpoint|init")


def timers(evidence: Evidence) -> list[Finding]:
    """Timers of an iteration that are longer than the iteration."""
    frames = [held.frame for held in evidence.reading.with_rows("timer")]
    told = ["source", "line", "step_time", "step_time_ulp"]
    lines = list(step_frames(evidence.reading)) if frames else []
    if not lines:
        return []
    steps = pl.concat(rows.select(told).drop_nulls("step_time") for _, rows, _ in lines)
    steps = steps.with_columns(of="line")
    inside = pl.concat(
        frame.filter(~pl.col("timer").str.contains(_OUTSIDE.pattern)).select(
            "source", "line", "column", "timer", spent=pl.coalesce("time", "maximum")
        )
        for frame in frames
    )
    joined = (
        inside.sort("line")
        .join_asof(steps.sort("line"), on="line", by="source", check_sortedness=False)
        .filter(pl.col("of").is_not_null() & (pl.col("line") - pl.col("of") <= NEAR))
        .with_columns(
            over=pl.col("spent") > (pl.col("step_time") + pl.col("step_time_ulp")) * MARGIN
        )
        .with_columns(share=pl.col("over").mean().over("source", "timer"))
        .filter(pl.col("over") & (pl.col("share") <= FEW))
        .sort("source", "line")
    )
    return [
        Finding(
            law=TIMERS,
            kind="identity",
            severity="error",
            spans=(Span(row["source"], row["line"], row["column"] or 1),
                   Span(row["source"], row["of"], 1)),
            observed=(Number(row["timer"], row["spent"], row["spent"], row["spent"], "s"),),
            implied=(Number("step_time", row["step_time"], 0.0,
                            row["step_time"] + row["step_time_ulp"], "s"),),
            explanation=f"{row['timer']} takes {row['spent']:g} s of an iteration of "
            f"{row['step_time']:g} s",
            meaning="One of the two is in another unit or of another iteration.",
            cases=(f"{row['source']}#{row['of']}",),
        )
        for row in joined.iter_rows(named=True)
    ]  # fmt: skip


PLACED = {"source": pl.String, "line": pl.UInt32, "column": pl.UInt32}
"""Where a row stands."""


def _unnumbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Places of steps whose loss or norm is no number, and that count no such step."""
    odd = pl.any_horizontal(
        pl.col(name).is_nan().fill_null(value=False) for name in ("lm_loss", "grad_norm")
    )
    none = (pl.col("nan_iterations") == 0) & (pl.col("skipped_iterations").fill_null(0) == 0)
    return rows.filter(odd & none).select(pl.col(name).cast(kind) for name, kind in PLACED.items())


def nans(evidence: Evidence) -> list[Finding]:
    """Lines with a loss or a norm that is no number, and a counter of such that stays at zero."""
    found = []
    wanted = {"lm_loss", "grad_norm", "nan_iterations", "skipped_iterations"}
    lines = [rows for _, rows, _ in step_frames(evidence.reading) if wanted <= set(rows.columns)]
    told = [*PLACED, *wanted]
    places = [_unnumbered(part) for rows in lines for part in portions(rows, told)]
    odd = pl.concat([pl.DataFrame(schema=PLACED), *places])
    for (source,), rows in odd.group_by("source", maintain_order=True):
        spans = [Span(str(source), line, column or 1)
                 for line, column in rows.select("line", "column").iter_rows()]  # fmt: skip
        count = Number("nan_iterations", 0.0, 0.0, 0.0, "1")
        implied = Number("nan_iterations", 1.0, 1.0, float("inf"), "1")
        found.append(
            Finding(
                law=NAN,
                kind="identity",
                severity="warning",
                spans=tuple(spans[:MOST_SPANS]),
                observed=(count,),
                implied=(implied,),
                explanation=f"loss or gradient norm is no number on {rows.height} "
                f"line{'s' if rows.height > 1 else ''} that count no such iteration",
                meaning="Do not trust the counter; look for what happened there.",
            )
        )
    return found
