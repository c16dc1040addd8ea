"""One join: what was printed against what was predicted, and what is left over on either side."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from assay.model.frames import KEY, PREDICTION
from assay.validate.cases.observe import OBSERVATION
from assay.validate.predict.predictions import Unjoinable

PAIR: dict[str, pl.DataType] = OBSERVATION | {
    "predicted": pl.Float64(),
    "predicted_low": pl.Float64(),
    "predicted_high": pl.Float64(),
    "model": pl.String(),
    "basis": pl.String(),
    "inputs": pl.List(pl.String()),
    "error": pl.Float64(),  # predicted / observed − 1; null where a zero was printed for a non-zero
}


@dataclass(frozen=True)
class Comparison:
    """`pairs` of all models; `unpredicted`: observations no model predicted; `unobserved`."""

    pairs: pl.DataFrame
    unpredicted: pl.DataFrame
    unobserved: pl.DataFrame


def compare(observed: pl.DataFrame, predicted: pl.DataFrame) -> Comparison:
    """Join on `KEY`, once per model; both sides carry `value` in the same SI unit.

    Raises Unjoinable where units differ or a model predicts one number twice.
    """
    parts = [
        _joined(observed, predicted.filter(pl.col("model") == model))
        for model in predicted["model"].unique(maintain_order=True)
    ]
    pairs = pl.concat([pl.DataFrame(schema=PAIR), *parts])
    return Comparison(
        pairs=pairs,
        unpredicted=observed.join(predicted, on=KEY, how="anti", maintain_order="left").select(
            *OBSERVATION
        ),
        unobserved=predicted.join(observed, on=KEY, how="anti", maintain_order="left"),
    )


def _joined(observed: pl.DataFrame, predicted: pl.DataFrame) -> pl.DataFrame:
    """The pairs of one model."""
    twice = predicted.select(KEY).is_duplicated()
    if twice.any():
        row = predicted.filter(twice).row(0, named=True)
        raise Unjoinable(
            f"{row['model']} predicts {row['quantity']} of {row['case']} "
            f"{row['subject']} more than once"
        )
    theirs = predicted.select(
        *KEY, "model", "basis", "inputs", predicted="value", predicted_low="low",
        predicted_high="high", unit_predicted="unit",
    )  # fmt: skip
    pairs = observed.join(theirs, on=KEY, validate="m:1", maintain_order="left")
    odd = pairs.filter(pl.col("unit") != pl.col("unit_predicted"))
    if not odd.is_empty():
        row = odd.row(0, named=True)
        raise Unjoinable(
            f"{row['model']} gives {row['quantity']} of {row['case']} in "
            f"{row['unit_predicted']}, observed is {row['unit']}"
        )
    ratio = pl.col("predicted") / pl.col("value")
    same = pl.col("predicted") == pl.col("value")
    error = pl.when(same).then(0.0).when(pl.col("value") != 0).then(ratio - 1.0)
    return pairs.with_columns(error=error).select(*PAIR)


__all__ = ["PREDICTION", "Comparison", "compare"]
