"""How fast each case ran, from the most precise number that says it.

GBS/t, samples/s, tokens/s and tokens/s per GPU say one thing in four ways. The one printed with the
narrowest interval is taken; whether the others meet it is for `speed_relations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

_BATCH, _LENGTH, _GPUS = pl.col("global_batch"), pl.col("seq_len"), pl.col("gpus")

SAYS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "step_time": lambda x: _BATCH / x,
    "samples_per_s": lambda x: x,
    "tokens_per_s": lambda x: x / _LENGTH,
    "tokens_per_gpu_per_s": lambda x: x * _GPUS / _LENGTH,
}
"""Sequences per second of the whole job, from x under each of its names."""

NEEDED = ("case", "source", "line", "group", "global_batch", "seq_len", "gpus")


def sayings(observations: pl.DataFrame, configuration: pl.DataFrame) -> pl.DataFrame:
    """Every printed number that says how fast a case ran: samples, samples_low, samples_high."""
    known = observations.filter(pl.col("quantity").is_in(list(SAYS))).select(
        "case", "quantity", "value", "low", "high", "unit"
    )
    table = known.join(configuration.select(NEEDED), on="case", how="inner", maintain_order="left")
    low, middle, high = (_each(SAYS, end) for end in ("low", "value", "high"))
    return (
        table.with_columns(
            samples=middle,
            samples_low=pl.min_horizontal(low, high),
            samples_high=pl.max_horizontal(low, high),
        )
        .filter(pl.col("samples").is_not_null())
        .with_columns(width=(pl.col("samples_high") - pl.col("samples_low")) / pl.col("samples"))
        .sort(_place(), maintain_order=True)
    )


def _each(formulas: Mapping[str, Callable[[pl.Expr], pl.Expr]], x: str) -> pl.Expr:
    """The formula of each row's quantity over the column `x`."""
    value = pl.lit(None, dtype=pl.Float64)
    for quantity, formula in formulas.items():
        value = pl.when(pl.col("quantity") == quantity).then(formula(pl.col(x))).otherwise(value)
    return value


def _place() -> pl.Expr:
    """The place of each row's quantity among `SAYS`."""
    places = {quantity: place for place, quantity in enumerate(SAYS)}
    return pl.col("quantity").replace_strict(places, return_dtype=pl.Int8)


def best(said: pl.DataFrame) -> pl.DataFrame:
    """The most precise saying of each case, as case, says, samples, samples_low, samples_high."""
    return (
        said.sort("case", "width", "quantity", maintain_order=True)
        .unique("case", keep="first", maintain_order=True)
        .select("case", "samples", "samples_low", "samples_high", says="quantity")
    )
