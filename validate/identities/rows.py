"""Rows that print a rate or utilisation, as arrays: what formulas are tried on.

In: the run frame. Out: `Rows` per printed quantity, with the bounds of the speed of each row and
every input that some formula takes; `Candidate`, what one way of counting makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from assay.model.formulas import FORMULAS
from assay.model.utilisation import DEFAULTS

Array = np.ndarray[Any, np.dtype[Any]]

Bounds = tuple[float, float, float]
"""Low, value, high."""

MODEL = ("source", "model", "model_size", "parameters", "hidden")
"""Rows alike in these are of one model, so that their layer counts are one."""


@dataclass(frozen=True)
class Rows:
    """The rows that print one quantity, with the bounds of their speed, as arrays."""

    quantity: str
    index: Array  # positions in the run frame
    printed: Array  # low, value, high of the printed number: [3, n]
    place: Array
    samples: Array  # low, value, high of sequences per second: [3, n]
    gpus: Array
    inputs: dict[str, Array]
    vocab: Array  # low, value, high: [3, n]
    models: Array  # a number per model
    table: pl.DataFrame


@dataclass(frozen=True)
class Candidate:
    """One formula (and peak) over all rows of `Rows`; nan where it lacks an input."""

    formula_id: str
    peak: str  # as a label; empty for a rate
    implied: Array  # low, value, high: [3, n]
    vocab: Array  # what went in
    chance: Array  # how likely a row agrees by accident, at most 1
    layers: Array  # the layer count that went in
    solved: Array  # whether that count was solved from these very rows
    factors: Mapping[tuple[Any, ...], Bounds] | None = None  # of a proportion, by what shares one


def rows_of(table: pl.DataFrame, quantity: str, speed: pl.DataFrame) -> Rows | None:
    """The rows of the run frame that print `quantity` and know speed and GPUs."""
    known = table.with_row_index("at").join(speed, on="case", how="inner", maintain_order="left")
    known = known.filter(
        pl.col(quantity).is_not_null() & pl.col("gpus").is_not_null() & (pl.col(quantity) > 0)
    )
    known = known.filter(~_of_experts())
    if known.is_empty():
        return None
    ends = ("_low", "", "_high")
    vocab = [
        pl.coalesce(pl.col("vocab_low"), pl.col("vocab").cast(pl.Float64)),
        pl.col("vocab").cast(pl.Float64),
        pl.coalesce(pl.col("vocab_high"), pl.col("vocab").cast(pl.Float64)),
    ]
    return Rows(
        quantity=quantity,
        index=known["at"].to_numpy().astype(float),
        printed=np.array([array(known[f"{quantity}{end}"]) for end in ends]),
        place=array(known[f"{quantity}_place"]),
        samples=np.array([array(known[f"samples{end}"]) for end in ends]),
        gpus=array(known["gpus"]),
        inputs=_inputs(known),
        vocab=np.array([array(known.select(each).to_series()) for each in vocab]),
        models=array(known.select(pl.struct(MODEL).rank("dense")).to_series()),
        table=known,
    )


_EXPERTS = r"(?i)\bmoe\b|expert|[0-9]x[0-9]+ ?[bm]\b"


def _of_experts() -> pl.Expr:
    """Rows about mixtures of experts, whose operations no column that is read here counts."""
    said = pl.col("others").list.join(" ").str.contains(_EXPERTS).fill_null(value=False)
    named = pl.col("model").str.contains(_EXPERTS).fill_null(value=False)
    return said | named | (pl.col("ep").fill_null(1) > 1)


def array(series: pl.Series) -> Array:
    """Numbers of a column, nan where there are none."""
    return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _inputs(known: pl.DataFrame) -> dict[str, Array]:
    """Every input that some formula takes and the frame has, with the frame's defaults."""
    names = {name for formula in FORMULAS.values() for name in formula.inputs}
    held = {
        name: array(known[name])
        for name in sorted(names)
        if name in known.columns and known[name].dtype.is_numeric()
    }
    policy = known["recompute"].cast(pl.String).str.to_lowercase()
    done = policy.replace_strict({"full": 1.0, "none": 0.0}, default=None, return_dtype=pl.Float64)
    held["recomputed"] = array(done)
    for name, (needs, default) in DEFAULTS.items():
        stated = held.get(name, np.full(known.height, np.nan))
        fallback: Any = default(*(held[each] for each in needs))
        held[name] = np.where(np.isnan(stated), fallback, stated)
    return held
