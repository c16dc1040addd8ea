"""Relations between the numbers of one row, and whether each row satisfies them.

A relation says what one printed number follows from; it may have variants (a rate per job or per
GPU), and a document keeps to one. `evaluate` gives `CHECKED`: one row per run and relation, with
the printed interval, the implied one, and whether they meet. A relation that most rows of a
document break is another definition than ours: it is not believed there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

CHECKED: dict[str, pl.DataType] = {
    "case": pl.String(),
    "source": pl.String(),
    "group": pl.String(),
    "line": pl.UInt32(),
    "law": pl.String(),
    "quantity": pl.String(),  # the printed number that is tested
    "variant": pl.String(),
    "printed": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "place": pl.Float64(),
    "implied": pl.Float64(),
    "implied_low": pl.Float64(),
    "implied_high": pl.Float64(),
    "cells": pl.List(pl.String),  # columns of the row that take part
    "hit": pl.Boolean(),
    "off": pl.Float64(),  # units in the last place between the two intervals
    "apart": pl.Float64(),  # the same relative to the smaller of the two
    "believed": pl.Boolean(),  # whether the document keeps to this variant of the relation
    "usual": pl.Boolean(),  # whether the variant is the one the relation is named for
}

SLACK = 1e-12
"""Relative slack for the rounding of our own doubles."""

MAJORITY = 0.5
ENOUGH = 3
"""Rows of a group before it may follow a variant of its own."""


@dataclass(frozen=True)
class Relation:
    """`quantity` = `implied`, for rows that have every one of `cells`.

    `implied` maps low, value, high of the inputs through the formula: three expressions.
    """

    law: str
    quantity: str
    cells: tuple[str, ...]
    implied: tuple[pl.Expr, pl.Expr, pl.Expr]
    variants: Mapping[str, pl.Expr] = field(default_factory=dict)  # name → factor to `implied`
    needs: pl.Expr = field(default_factory=lambda: pl.lit(True))
    share: float = MAJORITY  # of the rows that must keep it before it is believed


def evaluate(table: pl.DataFrame, relations: Sequence[Relation]) -> pl.DataFrame:
    """`CHECKED` for every row of `table` that has what a relation needs."""
    parts = [pl.DataFrame(schema=CHECKED)]
    for relation in relations:
        rows = table.filter(pl.col(relation.quantity).is_not_null() & relation.needs)
        if rows.is_empty():
            continue
        tried = [
            _one(rows, relation, name, factor)
            for name, factor in {"": pl.lit(1.0), **relation.variants}.items()
        ]
        parts.append(_followed(pl.concat(tried), relation.share))
    return pl.concat(parts)


def _one(rows: pl.DataFrame, relation: Relation, variant: str, factor: pl.Expr) -> pl.DataFrame:
    name = relation.quantity
    exact = f"{name}_place" not in rows.columns
    value = pl.col(name).cast(pl.Float64)
    low, middle, high = (each * factor for each in relation.implied)
    return (
        rows.select(
            "case", "source", "group", "line",
            law=pl.lit(relation.law), quantity=pl.lit(name), variant=pl.lit(variant),
            printed=value,
            low=value if exact else pl.col(f"{name}_low"),
            high=value if exact else pl.col(f"{name}_high"),
            place=pl.lit(0.0) if exact else pl.col(f"{name}_place"),
            implied=middle, implied_low=low, implied_high=high,
            cells=pl.lit(list(relation.cells)),
        )
        .filter(pl.col("implied").is_finite() & (pl.col("implied") > 0))
        .pipe(judged)
        .with_columns(believed=pl.lit(True), usual=pl.lit(variant == ""))
        .select(*CHECKED)
    )  # fmt: skip


def judged(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with `hit` and `off`, from its two intervals and the place of the printed number."""
    slack = pl.col("printed").abs() * SLACK
    gap = pl.max_horizontal(
        pl.col("implied_low") - pl.col("high"), pl.col("low") - pl.col("implied_high")
    )
    unit = pl.max_horizontal("place", pl.col("implied_high") - pl.col("implied_low"))
    rounded = pl.col("place") > 0  # a count is exact however many counts it follows from
    off = pl.when(gap <= slack).then(0.0).when(rounded).then(gap / unit).otherwise(float("inf"))
    share = gap / pl.min_horizontal("high", "implied_high")
    return frame.with_columns(hit=gap <= slack, off=off, apart=share.clip(lower_bound=0.0))


def _followed(tried: pl.DataFrame, share: float) -> pl.DataFrame:
    """Per group the variant most rows follow; believed where more than `share` of them do.

    A row that is alone in its document convicts itself only of what accident rarely keeps.
    """
    counts = tried.group_by("source", "group", "variant", "usual", maintain_order=True).agg(
        hits=pl.col("hit").sum(), rows=pl.len()
    )
    everywhere = counts.group_by("source", "variant", maintain_order=True).agg(
        all_hits=pl.col("hits").sum(), all_rows=pl.col("rows").sum()
    )
    ranked = counts.join(everywhere, on=["source", "variant"], maintain_order="left").sort(
        "source", "group", "hits", "all_hits", "usual", descending=[False, False, True, True, True],
        maintain_order=True,
    )  # fmt: skip
    best = ranked.unique(["source", "group"], keep="first", maintain_order=True)
    here = (pl.col("hits") > share * pl.col("rows")) & (pl.col("rows") >= ENOUGH)
    there = (pl.col("all_hits") > share * pl.col("all_rows")) & (pl.col("all_hits") >= 2)
    alone = (pl.col("all_rows") < ENOUGH) & pl.col("usual") & pl.lit(share <= MAJORITY)
    best = best.select(
        "source", "group", "variant", _believed=pl.when(pl.col("rows") >= ENOUGH)
        .then(here).otherwise(there | (alone & (pl.col("all_rows") == 1))),
    )  # fmt: skip
    return (
        tried.join(best, on=["source", "group", "variant"], how="inner", maintain_order="left")
        .with_columns(believed="_believed")
        .select(*CHECKED)
    )
