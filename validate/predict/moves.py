"""How far a predicted step would move if an assumed value were the next likely one.

In: the configuration of cases. Out: `MOVES`, a row for each case and each field that nobody states
and the step model fills in. A value that moves little need not be looked up.
"""

from __future__ import annotations

import polars as pl
from assay.model.stacks.stack import Stack
from assay.validate.cases.step_cases import completed
from assay.validate.predict.step_forecast import runs_of, seconds_of

MOVES: dict[str, pl.DataType] = {
    "case": pl.String(),
    "name": pl.String(),
    "assumed": pl.String(),
    "next": pl.String(),  # the next likely value
    "step_time": pl.Float64(),  # predicted with it over predicted without, less one
}

_HEAD = pl.col("hidden") // pl.col("heads")

NEXT: dict[str, pl.Expr] = {
    "heads": pl.when(_HEAD == 128).then(pl.col("hidden") // 64).otherwise(pl.col("hidden") // 128),
    "recompute": pl.when(pl.col("recompute") == "none").then(pl.lit("full"))
    .otherwise(pl.lit("none")),
    "zero_stage": pl.when(pl.col("zero_stage") == 0).then(1).otherwise(0),
}  # fmt: skip
"""Field that is assumed where nobody states it → the value it would have otherwise."""


def moves(configuration: pl.DataFrame, own: Stack | None = None) -> pl.DataFrame:
    """`MOVES` of every case that the step model predicts; `own` is the caller's stack."""
    found = [pl.DataFrame(schema=MOVES)]
    if configuration.is_empty():
        return found[0]
    filled = completed(configuration)
    before = _predicted(configuration, own, "before")
    for name, expression in NEXT.items():
        said = configuration[name] if name in configuration.columns else None
        other = filled.select(_next=expression)["_next"]
        moved = other.is_not_null() & (other != filled[name]).fill_null(value=True)
        if said is not None:
            moved &= said.is_null()
        if not moved.any():
            continue
        kind = filled.schema[name]
        changed = configuration.with_columns(other.cast(kind).alias(name)).filter(moved)
        told = filled.filter(moved).select(
            "case", name=pl.lit(name), assumed=pl.col(name).cast(pl.String)
        ).with_columns(other.filter(moved).cast(pl.String).alias("next"))  # fmt: skip
        after = _predicted(changed, own, "after")
        found.append(
            told.join(before, on="case", maintain_order="left")
            .join(after, on="case", maintain_order="left")
            .with_columns(step_time=pl.col("after") / pl.col("before") - 1.0)
            .select(*MOVES)
        )
    return pl.concat(found)


def _predicted(configuration: pl.DataFrame, own: Stack | None, name: str) -> pl.DataFrame:
    """case, and the predicted seconds of its step as `name`."""
    known = runs_of(configuration, own)
    return known.frame.select("case").with_columns(pl.Series(name, seconds_of(known, own)))
