"""Frame of checked arithmetic: a printed number beside the one that other printed numbers imply."""

from __future__ import annotations

import polars as pl
from assay.model.formulas.registry import FORMULAS
from assay.model.frames import PREDICTION

CHECK: dict[str, pl.DataType] = {
    "case": pl.String(),
    "source": pl.String(),
    "line": pl.UInt32(),
    "group": pl.String(),
    "quantity": pl.String(),
    "formula_id": pl.String(),
    "printed": pl.Float64(),
    "low": pl.Float64(),  # the interval of the printed number
    "high": pl.Float64(),
    "implied": pl.Float64(),
    "implied_low": pl.Float64(),  # the intervals of its inputs, carried through the formula
    "implied_high": pl.Float64(),
    "unit": pl.String(),
    "inputs": pl.List(pl.String()),  # printed quantities that the implied value comes from
    "solved": pl.Boolean(),  # an unknown of the case was solved from this very number
    "exchanged": pl.Boolean(),  # the row is an earlier one with time and rate exchanged
    "usual": pl.String(),  # the formula of the rows around, where this one follows another
    "tried": pl.UInt32(),  # formulas that were tried
    "peak_flops": pl.Float64(),
    "peak_source": pl.String(),
}

PROPORTIONS = (
    LABELLED := "a multiple of the size label",
    PER_TOKEN := "one number of FLOP per token for each model",
)
"""Ways of counting that know no formula, in words where a formula has its id."""

TOUCHING = 1e-12
"""Relative slack for the rounding of our own doubles where two intervals just touch."""


def equal() -> pl.Expr:
    """Whether the printed number and the implied one agree at the printed precision."""
    slack = pl.col("printed").abs() * TOUCHING
    return (pl.col("implied_low") <= pl.col("high") + slack) & (
        pl.col("implied_high") >= pl.col("low") - slack
    )


def units_off() -> pl.Expr:
    """How many units of the last printed place lie between the two, 0 where they agree."""
    unit = pl.col("high") - pl.col("low")
    below = (pl.col("low") - pl.col("implied_high")) / unit
    above = (pl.col("implied_low") - pl.col("high")) / unit
    return pl.when(equal()).then(0.0).otherwise(pl.max_horizontal(below, above).ceil())


def checks(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` as CHECK: columns in order, those it lacks as null."""
    lacking = {name: pl.lit(None, dtype=kind) for name, kind in CHECK.items() if name not in frame}
    if "exchanged" in lacking:
        lacking["exchanged"] = pl.lit(False)
    return frame.with_columns(**lacking).select(
        pl.col(name).cast(kind) for name, kind in CHECK.items()
    )


def as_predictions(found: pl.DataFrame) -> pl.DataFrame:
    """CHECK rows as predictions: paired with what is printed, and never scored.

    The model is the formula id; for throughput, which follows from other throughput, it is
    `throughput`, and for rates that are in proportion to it `proportion`.
    """
    basis = {formula_id: formula.basis for formula_id, formula in FORMULAS.items()}
    fitted = dict.fromkeys(PROPORTIONS, "assay.validate.arithmetic.proportional.candidates")
    names = dict.fromkeys(PROPORTIONS, "proportion") | {name: name for name in basis}
    return found.select(
        case="case",
        scope=pl.lit("configuration"),
        subject=pl.lit(""),
        quantity="quantity",
        value="implied",
        low="implied_low",
        high="implied_high",
        unit="unit",
        model=pl.col("formula_id").replace_strict(
            names, default="throughput", return_dtype=pl.String
        ),
        basis=pl.col("formula_id").replace_strict(
            basis | fitted,
            default="assay.validate.arithmetic.speed_relations.samples",
            return_dtype=pl.String,
        ),
        inputs="inputs",
    ).select(pl.col(name).cast(kind) for name, kind in PREDICTION.items())
