"""Rows that print a rate or utilisation, as arrays: what formulas are tried on.

In: the run frame. Out: `Rows` per printed quantity, with the bounds of the speed of each row and
every input that some formula takes; `Candidate`, what one way of counting makes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from assay.model.formulas.registry import FORMULAS
from assay.model.formulas.utilisation import DEFAULTS

Array = np.ndarray[Any, np.dtype[Any]]

RATE = "model_flops_rate"

COUNTS: dict[str, tuple[str, ...]] = {
    RATE: ("mfu", "hfu"),
    "mfu_weights": ("mfu_star",),
    "mfu": ("mfu",),
    "hfu_weights": ("hfu_star",),
    "hfu": ("hfu",),
}
"""Printed quantity → what the formulas that may lie behind it count."""

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
    peaks: Array  # flop/s that a utilisation is a share of, 1 for a rate
    instead: tuple[str, Array] | None = None  # the formula's sibling, and the rows that take it
    factors: Mapping[tuple[Any, ...], Bounds] | None = None  # of a proportion, by what shares one

    def formula_at(self, at: int) -> str:
        """Id of the formula that row `at` is computed by."""
        return self.instead[0] if self.instead and self.instead[1][at] else self.formula_id


def rows_of(table: pl.DataFrame, quantity: str) -> Rows | None:
    """The rows of the run frame that print `quantity` and know speed (`following.with_speed`) and
    GPUs."""
    known = table.with_row_index("at").filter(
        (pl.col(quantity) > 0)
        & pl.col("says").is_not_null()
        & pl.col("gpus").is_not_null()
        & ~_of_experts()
    )
    if known.is_empty():
        return None
    ends = ("_low", "", "_high")
    vocab = [pl.coalesce("vocab_low", "vocab"), pl.col("vocab"), pl.coalesce("vocab_high", "vocab")]
    fixed: list[pl.Expr] = [
        pl.col("at"),
        *(pl.col(f"{quantity}{end}") for end in ends),
        pl.col(f"{quantity}_place"),
        *(pl.col(f"samples{end}") for end in ends),
        pl.col("gpus"),
        *(each.alias(f"vocab{end}") for end, each in zip(ends, vocab, strict=True)),
        pl.struct(MODEL).rank("dense").alias("models"),
    ]
    at, *held = arrays(known, fixed)
    return Rows(
        quantity=quantity,
        index=at,
        printed=np.array(held[0:3]),
        place=held[3],
        samples=np.array(held[4:7]),
        gpus=held[7],
        inputs=inputs(known),
        vocab=np.array(held[8:11]),
        models=held[11],
        table=known,
    )


_EXPERTS = r"(?i)\bmoe\b|expert|[0-9]x[0-9]+ ?[bm]\b"


def _of_experts() -> pl.Expr:
    """Rows about mixtures of experts, whose operations no column that is read here counts."""
    said = pl.col("others").list.join(" ").str.contains(_EXPERTS).fill_null(value=False)
    named = pl.col("model").str.contains(_EXPERTS).fill_null(value=False)
    many = (pl.col("ep").fill_null(1) > 1) | (pl.col("experts").fill_null(1) > 1)
    return said | named | many


def array(series: pl.Series) -> Array:
    """Numbers of a column, nan where there are none."""
    return series.cast(pl.Float64).to_numpy()


def arrays(table: pl.DataFrame, wanted: Iterable[pl.Expr]) -> Iterator[Array]:
    """Values of the expressions, each as an array of doubles, nan where there is none."""
    held = table.select(each.cast(pl.Float64).alias(str(at)) for at, each in enumerate(wanted))
    return (array(series) for series in held)


def other_mlp(formula_id: str, table: pl.DataFrame) -> tuple[str, Array] | None:
    """A formula's sibling that counts the other kind of MLP, and the rows whose model has that.

    The kind is the model's own: rows of both kinds follow one way of counting.
    """
    kind = True if ".gated." in formula_id else False if ".plain." in formula_id else None
    if kind is None or "gated" not in table.columns:
        return None
    other = (table["gated"] != kind).fill_null(value=False).to_numpy()
    names = (".gated.", ".plain.") if kind else (".plain.", ".gated.")
    return (formula_id.replace(*names), other) if other.any() else None


INPUTS = sorted({name for formula in FORMULAS.values() for name in formula.inputs})

POLICIES = {"full": 1.0, "none": 0.0}
"""Forward passes done again, by what is recomputed; part of one is no whole number."""


def inputs(known: pl.DataFrame) -> dict[str, Array]:
    """Every input that some formula takes and the frame has, with the frame's defaults."""
    kinds = known.schema
    names = [name for name in INPUTS if name in kinds and kinds[name].is_numeric()]
    policy = pl.col("recompute").cast(pl.String).str.to_lowercase()
    done = policy.replace_strict(POLICIES, default=None, return_dtype=pl.Float64)
    held = dict(
        zip([*names, "recomputed"], arrays(known, [*map(pl.col, names), done]), strict=True)
    )
    for name, (needs, default) in DEFAULTS.items():
        stated = held.get(name, np.full(known.height, np.nan))
        fallback: Any = default(*(held[each] for each in needs))
        held[name] = np.where(np.isnan(stated), fallback, stated)
    return held
