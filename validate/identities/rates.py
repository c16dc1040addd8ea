"""Printed rates and utilisations against printed throughput, under whose formula.

Which formula a document used is rarely said. For each table (or log) the formulas that its columns
can feed are tried, and the one that reproduces most rows at the printed precision is taken; between
equals the one that reproduces more of the whole document, then the first of the registry; where
none reproduces a row, the nearest. What was chosen and how many were tried is kept. Two unknowns
are solved on the way: a layer count that one formula makes a whole number, and the padded
vocabulary behind a nominal one.
"""

from __future__ import annotations

import polars as pl
from assay.model.formulas import FORMULAS
from assay.model.inverse import layer_bounds
from assay.model.machine import machines
from assay.model.throughput import per_gpu
from assay.model.utilisation import DEFAULTS, flop_per_sequence
from assay.validate.identities.check import checks, equal

RATE = "model_flops_rate"
COUNTS: dict[str, tuple[str, ...]] = {
    RATE: ("mfu", "hfu"),
    "mfu_weights": ("mfu_star",),
    "mfu": ("mfu",),
    "hfu_weights": ("hfu_star",),
    "hfu": ("hfu",),
}
"""Printed quantity → what the formulas that may lie behind it count."""

PROVEN = 3
"""Rows of a document a formula must reproduce before a row of another table may be its."""

PADDING = 128
"""Megatron pads the vocabulary to a multiple of this times TP."""


def family(formula_id: str) -> str:
    """Formulas that a document uses together: the four of one year's tables, else one alone.

    >>> family("mosaic-2022.hfu*"), family("megatron-core.plain.gqa.dense.full")
    ('mosaic-2022', 'megatron-core.plain.gqa.dense.full')
    """
    return formula_id.partition(".")[0] if formula_id.startswith("mosaic") else formula_id


def rated(observations: pl.DataFrame, configuration: pl.DataFrame, speed: pl.DataFrame,
          vocabulary: pl.DataFrame) -> pl.DataFrame:  # fmt: skip
    """Every printed rate with its case, its throughput, its peak and its vocabulary candidates."""
    peaks = [(n, d, p, f"{n} {d} dense") for n, m in machines().items() for d, p in m.peaks.items()]
    named = {"machine": pl.String, "dtype": pl.String, "peak": pl.Float64, "peak_source": pl.String}
    return (
        observations.filter(pl.col("quantity").is_in(list(COUNTS)))
        .select("case", "quantity", "unit", printed="value", low="low", high="high")
        .join(configuration, on="case", how="inner", maintain_order="left")
        .join(speed, on="case", how="inner", maintain_order="left")
        .join(vocabulary, on="case", how="left", maintain_order="left")
        .join(pl.DataFrame(peaks, schema=named, orient="row"), on=["machine", "dtype"],
              how="left", maintain_order="left")
        .filter(pl.col("experts").fill_null(1) <= 1)  # no formula here counts a mixture
        .with_columns(
            peak=pl.when(pl.col("quantity") == RATE).then(1.0).otherwise(pl.col("peak")),
            stated_layers=pl.col("layers"),
        )
    )  # fmt: skip


def chosen(table: pl.DataFrame) -> pl.DataFrame:
    """CHECK columns, layers_found and vocab_found for every row of `table`, one formula a group."""
    tried = _tried(_vocabularies(table))
    if tried.is_empty():
        return tried.select("case").clear()
    marked = tried.with_columns(
        hit=equal(), family=pl.col("formula_id").map_elements(family, return_dtype=pl.String)
    )
    apart = (pl.col("printed") / pl.col("implied")).log().abs()
    here = (
        marked.group_by("source", "group", "family")
        .agg(hits=pl.col("hit").sum(), order=pl.col("order").min(), apart=apart.median())
        .with_columns(apart=pl.when(pl.col("hits") == 0).then("apart").otherwise(0.0))
    )
    everywhere = marked.group_by("source", "family").agg(all_hits=pl.col("hit").sum())
    ranked = here.join(everywhere, on=["source", "family"]).sort(
        "source", "group", "hits", "all_hits", "apart", "order",
        descending=[False, False, True, True, False, False],
    )  # fmt: skip
    winner = ranked.unique(["source", "group"], keep="first", maintain_order=True)
    count = pl.col("family").n_unique().over("case", "quantity").alias("tried")
    marked = marked.with_columns(count).join(
        winner.select("source", "group", usual="family"), on=["source", "group"]
    )
    return _one_each(marked, everywhere)


def _one_each(marked: pl.DataFrame, everywhere: pl.DataFrame) -> pl.DataFrame:
    """One formula a row: its group's, unless only another one of the document reproduces it."""
    usual = pl.col("family") == pl.col("usual")
    fits = usual & pl.col("hit")
    proven = pl.col("all_hits") >= PROVEN
    other = ~usual & pl.col("hit") & ~pl.col("solved") & proven
    rank = pl.when(fits).then(0).when(other).then(1).when(usual).then(2)
    return (
        marked.join(everywhere, on=["source", "family"])
        .with_columns(rank=rank, unusual=~usual)
        .drop_nulls("rank")
        .sort("source", "line", "quantity", "rank", "all_hits", "order",
              descending=[False, False, False, False, True, False])
        .unique(["case", "quantity"], keep="first", maintain_order=True)
    )  # fmt: skip


def _tried(table: pl.DataFrame) -> pl.DataFrame:
    """Every row of `table` under every formula that its columns can feed."""
    known = set(table.columns) | set(DEFAULTS) | {"recomputed"}
    parts = []
    none = pl.lit(None, dtype=pl.Int64)
    for order, (formula_id, formula) in enumerate(FORMULAS.items()):
        wanted = [quantity for quantity, counts in COUNTS.items() if formula.quantity in counts]
        mine = table.filter(pl.col("quantity").is_in(wanted))
        if mine.is_empty() or not set(formula.inputs) <= known:
            continue
        mine = _with_layers(mine, formula_id)
        flop = flop_per_sequence(mine, formula_id)
        share = per_gpu(flop, pl.col("gpus").cast(pl.Float64)) / pl.col("peak")
        parts.append(
            mine.with_columns(
                implied=share * pl.col("samples"),
                implied_low=share * pl.col("samples_low"),
                implied_high=share * pl.col("samples_high"),
                formula_id=pl.lit(formula_id),
                order=pl.lit(order),
                layers_found=pl.col("layers"),
                vocab_found=pl.col("vocab") if "vocab" in formula.inputs else none,
                solved=pl.col("stated_layers").is_null() & pl.lit("layers" in formula.inputs),
            ).filter(pl.col("implied").is_not_null())
        )
    return pl.concat(parts) if parts else table.clear().with_columns(implied=pl.lit(0.0))


def _with_layers(table: pl.DataFrame, formula_id: str) -> pl.DataFrame:
    """Layers of rows that print none: the only whole number that reproduces the printed rate."""
    inputs = FORMULAS[formula_id].inputs
    if "layers" not in inputs or "parameters" in inputs or table["layers"].null_count() == 0:
        return table
    solved = layer_bounds(
        table,
        formula_id,
        rate=(pl.col("low") * pl.col("peak"), pl.col("high") * pl.col("peak")),
        samples_per_second=(pl.col("samples_low"), pl.col("samples_high")),
    )
    only = pl.when(pl.col("layers_low") == pl.col("layers_high")).then("layers_low")
    return solved.with_columns(layers=pl.coalesce("layers", only)).drop("layers_low", "layers_high")


def _vocabularies(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with nominal vocabularies replaced by the padded size its rates single out."""
    nominal = table.filter(pl.col("vocab_low").is_not_null())
    kept = [table.filter(pl.col("vocab_low").is_null())]
    for _, rows in nominal.group_by("source", "vocab", maintain_order=True):
        unit = PADDING * int(rows["tp"].max() or 1)  # type: ignore[arg-type]
        first = -(-int(rows["vocab_low"][0]) // unit)
        sizes = [size * unit for size in range(first, int(rows["vocab_high"][0]) // unit + 1)]
        hits = {size: _hits(rows, size) for size in sizes if size < rows["vocab_high"][0]}
        best = max(hits, key=lambda size: hits[size], default=None)
        alone = best is not None and sum(n == hits[best] for n in hits.values()) == 1
        if best is not None and alone and hits[best] > _hits(rows, int(rows["vocab"][0])):
            rows = rows.with_columns(vocab=pl.lit(best, dtype=pl.Int64))  # noqa: PLW2901
        kept.append(rows)
    return pl.concat(kept)


def _hits(rows: pl.DataFrame, size: int) -> int:
    """How many rows some formula reproduces with a vocabulary of `size`."""
    tried = _tried(rows.with_columns(vocab=pl.lit(size, dtype=pl.Int64)))
    if "formula_id" not in tried.columns:
        return 0
    return tried.filter(equal()).select("case", "quantity").unique().height


def as_checks(rows: pl.DataFrame) -> pl.DataFrame:
    """The chosen rows as CHECK; the peak stands only beside a utilisation."""
    if "formula_id" not in rows.columns:
        return checks(pl.DataFrame(schema={"case": pl.String}))
    share = pl.col("quantity") != RATE
    return checks(
        rows.with_columns(
            inputs=pl.concat_list("says"),
            usual=pl.when("unusual").then("usual"),
            peak_flops=pl.when(share).then("peak"),
            peak_source=pl.when(share).then("peak_source"),
        )
    )
