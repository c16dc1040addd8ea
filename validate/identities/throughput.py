"""How fast each case ran, from the most precise number that says it; and whether the others agree.

GBS/t, samples/s, tokens/s and tokens/s per GPU say one thing in four ways. The one printed with the
narrowest interval is taken; each of the others must meet what it implies.
"""

from __future__ import annotations

import polars as pl
from assay.validate.identities.check import checks

SAYS: dict[str, pl.Expr] = {
    "step_time": pl.col("global_batch") / pl.col("x"),
    "samples_per_s": pl.col("x"),
    "tokens_per_s": pl.col("x") / pl.col("seq_len"),
    "tokens_per_gpu_per_s": pl.col("x") * pl.col("gpus") / pl.col("seq_len"),
}
"""Sequences per second of the whole job, from x under each of its names."""

IMPLIES: dict[str, tuple[pl.Expr, str]] = {
    "step_time": (pl.col("global_batch") / pl.col("x"), "GBS / samples per second"),
    "samples_per_s": (pl.col("x"), "GBS / step time, or tokens per second / sequence length"),
    "tokens_per_s": (pl.col("x") * pl.col("seq_len"), "samples per second × sequence length"),
    "tokens_per_gpu_per_s": (
        pl.col("x") * pl.col("seq_len") / pl.col("gpus"), "tokens per second / GPUs"
    ),
}  # fmt: skip
"""Each number again from sequences per second x, and the law it follows."""

NEEDED = ("case", "source", "line", "group", "global_batch", "seq_len", "gpus")


def sayings(observations: pl.DataFrame, configuration: pl.DataFrame) -> pl.DataFrame:
    """Every printed number that says how fast a case ran: samples, samples_low, samples_high."""
    known = observations.filter(pl.col("quantity").is_in(list(SAYS))).select(
        "case", "quantity", "value", "low", "high", "unit"
    )
    table = known.join(configuration.select(NEEDED), on="case", how="inner", maintain_order="left")
    parts = []
    for quantity, says in SAYS.items():
        mine = table.filter(pl.col("quantity") == quantity)
        ends = [
            mine.with_columns(x=pl.col(end)).select(says).to_series() for end in ("low", "high")
        ]
        middle = mine.with_columns(x=pl.col("value")).select(says).to_series()
        parts.append(
            mine.with_columns(
                samples=middle,
                samples_low=pl.min_horizontal(*ends),
                samples_high=pl.max_horizontal(*ends),
            )
        )
    return (
        pl.concat(parts)
        .filter(pl.col("samples").is_not_null())
        .with_columns(width=(pl.col("samples_high") - pl.col("samples_low")) / pl.col("samples"))
    )


def best(said: pl.DataFrame) -> pl.DataFrame:
    """The most precise saying of each case, as case, says, samples, samples_low, samples_high."""
    return (
        said.sort("case", "width", "quantity", maintain_order=True)
        .unique("case", keep="first", maintain_order=True)
        .select("case", "samples", "samples_low", "samples_high", says="quantity")
    )


def agreeing(said: pl.DataFrame) -> pl.DataFrame:
    """CHECK rows: what the most precise saying of a case implies for each of the others."""
    table = said.select(
        *NEEDED, "quantity", "unit", printed="value", low="low", high="high"
    ).join(best(said), on="case", maintain_order="left")  # fmt: skip
    table = table.filter(pl.col("quantity") != pl.col("says"))
    parts = []
    for quantity, (implied, law) in IMPLIES.items():
        mine = table.filter(pl.col("quantity") == quantity)
        low, middle, high = (
            mine.with_columns(x=pl.col(end)).select(implied.alias(end)).to_series()
            for end in ("samples_low", "samples", "samples_high")
        )
        parts.append(
            mine.with_columns(
                implied=middle,
                implied_low=pl.min_horizontal(low, high),
                implied_high=pl.max_horizontal(low, high),
                formula_id=pl.lit(law),
                inputs=pl.concat_list("says"),
                solved=pl.lit(False),
                tried=pl.lit(1),
            )
        )
    return checks(pl.concat(parts).filter(pl.col("implied").is_not_null()))
