"""Relations between the numbers of one row, and whether each row satisfies them.

A relation says what one printed number follows from; it may have variants (a rate per job or per
GPU), and a document keeps to one. `evaluate` gives `CHECKED`: one row per run and relation, with
the printed interval, the implied one, and whether they meet. A relation that most rows of a
document break is another definition than ours: it is not believed there, unless it holds by
definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.validate.arithmetic.rated_rows import Array

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
    "key": pl.String(),  # of the relation: `relation_key`
}

SLACK = 1e-12
"""Relative slack for the rounding of our own doubles."""

MAJORITY = 0.5

ENOUGH = 3
"""Rows of a group before it may follow a variant of its own."""


@dataclass(frozen=True, eq=False)
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
    defined: bool = False  # whether it holds by definition: then no row need keep it


def relation_key(relation: Relation) -> str:
    """Name of a relation among those of one run."""
    return f"{relation.law}|{'|'.join(relation.cells)}|{relation.quantity}"


class Tried(NamedTuple):
    """One variant of a relation over the rows that have what it needs, as arrays; nan is null."""

    relation: Relation
    variant: str
    at: Array  # positions in the table
    printed: Array  # low, value, high: [3, n]
    place: Array
    implied: Array  # low, value, high: [3, n]

    @property
    def gap(self) -> Array:
        """How far apart the two intervals are; below zero where they overlap."""
        found: Array = np.fmax(self.implied[0] - self.printed[2], self.printed[0] - self.implied[2])
        return found

    @property
    def slack(self) -> Array:
        """The gap up to which two intervals count as touching."""
        found: Array = np.abs(self.printed[1]) * SLACK
        return found


def tried(table: pl.DataFrame, relations: Mapping[Relation, Sequence[str]]) -> Iterator[Tried]:
    """Every relation in every one of its variants that are asked for, where some row feeds it.

    All relations are asked at once which rows they need, and each that has some is one query more.
    """
    if table.is_empty():
        return
    needs = table.select(
        (pl.col(each.quantity).is_not_null() & each.needs).alias(str(number))
        for number, each in enumerate(relations)
    )
    for number, (relation, names) in enumerate(relations.items()):
        rows = needs[str(number)].fill_null(value=False).to_numpy()
        if rows.any():
            yield from _tried(table, relation, names, np.flatnonzero(rows))


def _tried(
    table: pl.DataFrame, relation: Relation, names: Sequence[str], rows: Array
) -> Iterator[Tried]:
    exact = f"{relation.quantity}_place" not in table.columns
    value = pl.col(relation.quantity)
    printed = [value] * 3 if exact else [
        pl.col(f"{relation.quantity}_low"), value, pl.col(f"{relation.quantity}_high")
    ]  # fmt: skip
    place = pl.lit(0.0) if exact else pl.col(f"{relation.quantity}_place")
    factors = [relation.variants.get(name, pl.lit(1.0)) for name in names]
    wanted = [*printed, place, *relation.implied, *factors]
    held = (
        table.select(each.cast(pl.Float64).alias(str(at)) for at, each in enumerate(wanted))
        .to_numpy()[rows]
        .T
    )
    for name, factor in zip(names, held[7:], strict=True):
        implied = held[4:7] * factor
        kept = np.isfinite(implied[1]) & (implied[1] > 0)
        yield Tried(
            relation, name, rows[kept], held[:3, kept], held[3, kept], implied[:, kept]
        )  # fmt: skip


def evaluate(table: pl.DataFrame, relations: Sequence[Relation]) -> pl.DataFrame:
    """`CHECKED` for every row of `table` that has what a relation needs."""
    asked = {each: ("", *each.variants) for each in relations}
    parts = [_checked(each) for each in tried(table, asked)]
    if not parts:
        return pl.DataFrame(schema=CHECKED)
    rows = table.select("case", "source", "group", "line")
    found = rows[np.concatenate([part["at"].to_numpy() for part in parts])]
    return _followed(found.hstack(pl.concat(parts).drop("at")))


def _checked(tried: Tried) -> pl.DataFrame:
    """The columns of `CHECKED` that do not name the row, and `at`, where it stands."""
    relation, gap, slack = tried.relation, tried.gap, tried.slack
    least, implied, most = tried.implied
    low, value, high = tried.printed
    unit = np.fmax(tried.place, most - least)
    rounded = tried.place > 0  # a count is exact however many counts it follows from
    with np.errstate(divide="ignore", invalid="ignore"):  # of what `where` does not take
        off = np.where(gap <= slack, 0.0, np.where(rounded, gap / unit, np.inf))
        apart = np.maximum(gap / np.fmin(high, most), 0.0)
    numbers = {
        "printed": value, "low": low, "high": high, "place": tried.place, "implied": implied,
        "implied_low": least, "implied_high": most, "off": off, "apart": apart,
    }  # fmt: skip
    held = pl.DataFrame({"at": tried.at, "gap": gap, "slack": slack, **numbers}, nan_to_null=True)
    said = {
        "law": relation.law, "quantity": relation.quantity, "variant": tried.variant,
        "cells": list(relation.cells), "key": relation_key(relation), "share": relation.share,
        "usual": tried.variant == "", "defined": relation.defined,
    }  # fmt: skip
    return held.select(
        "at", *numbers, *(pl.lit(each).alias(name) for name, each in said.items()),
        hit=pl.col("gap") <= pl.col("slack"),
    )  # fmt: skip


def _followed(tried: pl.DataFrame) -> pl.DataFrame:
    """Per group the variant most rows follow; believed where more than `share` of them do.

    A row that is alone in its document convicts itself only of what accident rarely keeps. What
    holds by definition is believed wherever no variant of it fits more rows.
    """
    counts = tried.group_by(
        "key", "source", "group", "variant", "usual", "share", "defined", maintain_order=True
    ).agg(hits=pl.col("hit").sum(), rows=pl.len())  # fmt: skip
    everywhere = counts.group_by("key", "source", "variant").agg(
        all_hits=pl.col("hits").sum(), all_rows=pl.col("rows").sum()
    )
    ranked = counts.join(everywhere, on=["key", "source", "variant"], maintain_order="left").sort(
        "source", "group", "hits", "all_hits", "usual", descending=[False, False, True, True, True],
        maintain_order=True,
    )  # fmt: skip
    best = ranked.unique(["key", "source", "group"], keep="first", maintain_order=True)
    share = pl.col("share")
    here = (pl.col("hits") > share * pl.col("rows")) & (pl.col("rows") >= ENOUGH)
    there = (pl.col("all_hits") > share * pl.col("all_rows")) & (pl.col("all_hits") >= 2)
    alone = (pl.col("all_rows") < ENOUGH) & pl.col("usual") & (share <= MAJORITY)
    best = best.select(
        "key", "source", "group", "variant",
        believed=(pl.col("defined") & pl.col("usual"))
        | pl.when(pl.col("rows") >= ENOUGH).then(here)
        .otherwise(there | (alone & (pl.col("all_rows") == 1))),
    )  # fmt: skip
    return tried.join(
        best, on=["key", "source", "group", "variant"], how="inner", maintain_order="left"
    ).select(*CHECKED)
