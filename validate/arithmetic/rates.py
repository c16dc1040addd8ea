"""Printed rates and utilisations against printed throughput, under whose formula.

Which formula a document used is rarely said. For each table (or log) the formulas that its columns
can feed are tried, and the one that reproduces most rows at the printed precision is taken; between
equals the one that reproduces more of the whole document, then the first of the registry; where
none reproduces a row, the nearest. What was chosen and how many were tried is kept. Two unknowns
are solved on the way: a layer count that one formula makes a whole number, and the padded
vocabulary behind a nominal one.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from assay.model.formulas.registry import FORMULAS
from assay.model.machines.datasheets import machines
from assay.validate.arithmetic.identity_check import checks, equal
from assay.validate.arithmetic.tries import COUNTS, RATE, fed, meets, tries

PROVEN = 3
"""Rows of a document a formula must reproduce before a row of another table may be its."""

ROW = ("case", "source", "group", "line", "quantity", "printed", "low", "high")
"""Columns that tell rated rows and their numbers apart."""

ORDER = {formula_id: order for order, formula_id in enumerate(FORMULAS)}

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
        # no formula here counts a mixture
        .filter((pl.col("experts").fill_null(1) <= 1) & (pl.col("ep").fill_null(1) <= 1))
        .with_columns(
            peak=pl.when(pl.col("quantity") == RATE).then(1.0).otherwise(pl.col("peak"))
        )
    )  # fmt: skip


def chosen(table: pl.DataFrame) -> pl.DataFrame:
    """CHECK columns, layers_found and vocab_found for every row of `table`, one formula a group."""
    table = _vocabularies(table)
    tried = _tried(table)
    if tried.is_empty():
        return table.select("case").clear()
    marked = tried.with_columns(hit=equal())
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
    best = _one_each(marked, everywhere)
    return table[best["at"].to_numpy()].hstack(best.drop("at", *ROW))


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
    """Every row of `table` under every formula that its columns can feed: `ROW`, what follows, and
    `at`, where the row stands."""
    found = [each for each in tries(fed(table)) if len(each.at)]
    if not found:
        return table.clear()
    sizes = np.array([len(each.at) for each in found])
    low, value, high = np.concatenate([each.implied for each in found], axis=1)
    formulas = pl.DataFrame(
        {
            "formula_id": [each.formula.formula_id for each in found],
            "family": [family(each.formula.formula_id) for each in found],
            "order": [ORDER[each.formula.formula_id] for each in found],
            "_counts_vocab": ["vocab" in each.formula.inputs for each in found],
        }
    )
    implied = {
        "implied": value, "implied_low": low, "implied_high": high,
        "layers_found": np.concatenate([each.layers for each in found]),
    }  # fmt: skip
    return (
        table.select(*ROW, "vocab")
        .with_row_index("at")[np.concatenate([t.at for t in found])]
        .hstack(pl.DataFrame(implied, nan_to_null=True))
        .hstack(formulas[np.repeat(np.arange(len(found)), sizes)])
        .with_columns(
            layers_found=pl.col("layers_found").cast(pl.Int64),
            vocab_found=pl.when("_counts_vocab").then("vocab"),
            solved=pl.Series(np.concatenate([each.solved for each in found])),
        )
        .drop("_counts_vocab", "vocab")
    )


def _vocabularies(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with nominal vocabularies replaced by the padded size its rates single out."""
    nominal = table.filter(pl.col("vocab_low").is_not_null())
    kept = [table.filter(pl.col("vocab_low").is_null())]
    for _, rows in nominal.group_by("source", "vocab", maintain_order=True):
        unit = PADDING * int(rows["tp"].max() or 1)  # type: ignore[arg-type]
        first = -(-int(rows["vocab_low"][0]) // unit)
        sizes = [size * unit for size in range(first, int(rows["vocab_high"][0]) // unit + 1)]
        hits = _hits(rows, [size for size in sizes if size < rows["vocab_high"][0]])
        best = max(hits, key=lambda size: hits[size], default=None)
        alone = best is not None and sum(n == hits[best] for n in hits.values()) == 1
        label = int(rows["vocab"][0])
        if best is not None and alone and hits[best] > _hits(rows, [label])[label]:
            rows = rows.with_columns(vocab=pl.lit(best, dtype=pl.Int64))  # noqa: PLW2901
        kept.append(rows)
    return pl.concat(kept)


def _hits(rows: pl.DataFrame, sizes: list[int]) -> dict[int, int]:
    """How many numbers some formula reproduces with a vocabulary of each of `sizes`."""
    given = fed(rows)
    numbers = rows.select(pl.struct("case", "quantity").rank("dense")).to_series().to_numpy()
    return {
        size: len({number for one in tries(given, vocab=size)
                   for number in numbers[one.at[meets(given, one)]]})
        for size in sizes
    }  # fmt: skip


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
