"""The arithmetic of a reading: what printed numbers imply for each other, and for the cases.

In: cases and observations. Out: the cases with what arithmetic could fill in, and every check.
Nothing here is a score: an implied value is made of printed ones. What contradicts itself is for
`assay.validate.laws.laws` to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from assay.validate.arithmetic import printed_speed, rates
from assay.validate.arithmetic.identity_check import checks, equal
from assay.validate.arithmetic.tries import RATE
from assay.validate.cases.cases import Cases
from assay.validate.cases.rules import ORIGINS
from assay.validate.cases.solved_shape import with_shapes


@dataclass(frozen=True)
class Arithmetic:
    """`cases` completed; `observations` with formula ids; `checks`."""

    cases: Cases
    observations: pl.DataFrame
    checks: pl.DataFrame


def arithmetic(cases: Cases, observations: pl.DataFrame) -> Arithmetic:
    """Check what can be checked, and fill in what only one value can satisfy."""
    cases = with_shapes(cases)
    said = printed_speed.sayings(observations, cases.configuration)
    table = rates.rated(
        observations, cases.configuration, printed_speed.best(said), _nominal_vocabularies(cases)
    )
    rows = rates.chosen(table)
    found = pl.concat([printed_speed.agreeing(said), rates.as_checks(rows)]).sort(
        "source", "line", "quantity", maintain_order=True
    )
    if "formula_id" in rows.columns:
        cases = _with_vocabulary(_with_layers(cases, rows), rows)
        cases = _with_recomputation(cases, rows)
        ids = rows.select("case", "quantity", "formula_id")
        observations = observations.drop("formula_id").join(
            ids, on=["case", "quantity"], how="left", maintain_order="left"
        ).select(observations.columns)  # fmt: skip
    return Arithmetic(_consumption(cases, rows), observations, found)


def _nominal_vocabularies(cases: Cases) -> pl.DataFrame:
    """case, vocab_low, vocab_high where the vocabulary is printed as a label such as 250k."""
    said = cases.reading.provenance.filter(
        (pl.col("field") == "vocab") & (pl.col("kind") == "nominal")
    )
    row = ["source", "line"]  # a statement of the vocabulary speaks for a whole line
    held = said.select(*row, vocab_low="low", vocab_high="high").unique(row, maintain_order=True)
    runs = cases.configuration.select("case", *row)
    return (
        runs.join(held, on=row, maintain_order="left").drop(row).unique("case", maintain_order=True)
    )


def _filled(
    cases: Cases, name: str, found: pl.DataFrame, *, value_origin: str, law: pl.Expr
) -> Cases:
    """`cases` with column `name` replaced from `found` (case, and the value as `name`)."""
    held = cases.configuration.join(
        found.select("case", _found=name), on="case", how="left", maintain_order="left"
    )
    origins = found.select(
        case="case",
        name=pl.lit(name),
        value=pl.col(name).cast(pl.String),
        value_origin=pl.lit(value_origin),
        line=pl.lit(None, dtype=pl.UInt32),
        law=law,
    ).select(*ORIGINS)
    wide = held.with_columns(pl.coalesce("_found", name).alias(name)).drop("_found")
    return cases.with_values(wide, origins)


def _solved(rows: pl.DataFrame) -> pl.DataFrame:
    """Cases whose layers follow from their rate, and in how many distinct rows of their size."""
    if "formula_id" not in rows.columns:
        return pl.DataFrame(schema={"case": pl.String, "layers": pl.Int64, "alike": pl.UInt32})
    alike = ["source", "hidden", "model_size", "layers_found"]
    return rows.filter(
        pl.col("solved") & equal() & (pl.col("quantity") == RATE)
    ).select(
        "case", "says", "formula_id", layers="layers_found",
        alike=pl.struct("printed", "samples").n_unique().over(alike),
    )  # fmt: skip


def _with_layers(cases: Cases, rows: pl.DataFrame) -> Cases:
    solved = _solved(rows)
    law = pl.format(
        "the only layer count that reproduces the printed rate under {} ({} row(s) of this size)",
        "formula_id", "alike",
    )  # fmt: skip
    return _filled(cases, "layers", solved, value_origin="inferred", law=law)


COUNTS_RECOMPUTATION = {"narayanan-eq3": "full", "narayanan-eq3-stored": "none"}
"""Formulas that their code chooses by whether activations are recomputed, and which way."""


def _with_recomputation(cases: Cases, rows: pl.DataFrame) -> Cases:
    """Fill in recomputation from the formula that reproduces a rate; where all such rows of a
    document agree, for its other rows too."""
    unsaid = cases.configuration.filter(pl.col("recompute").is_null())
    policy = pl.col("formula_id").replace_strict(
        COUNTS_RECOMPUTATION, default=None, return_dtype=pl.String
    )
    said = (
        rows.filter(equal() & (pl.col("quantity") == RATE) & ~pl.col("solved"))
        .with_columns(recompute=policy)
        .drop_nulls("recompute")
    )
    inferred = said.join(unsaid, on="case", how="semi").select("case", "recompute", "formula_id")
    law = pl.format("{}, which reproduces the printed rate, counts it so", "formula_id")
    cases = _filled(cases, "recompute", inferred, value_origin="inferred", law=law)
    alike = said.group_by("source").agg(
        pl.col("recompute").first(), pl.col("recompute").n_unique().alias("ways"), pl.len()
    )
    rest = (
        unsaid.drop("recompute")
        .join(inferred, on="case", how="anti")
        .join(alike.filter((pl.col("ways") == 1) & (pl.col("len") >= rates.PROVEN)), on="source")
    )
    law = pl.lit("as in all rows of the document whose rate tells")
    return _filled(cases, "recompute", rest, value_origin="assumed", law=law)


def _with_vocabulary(cases: Cases, rows: pl.DataFrame) -> Cases:
    """The padded vocabulary goes to every case of the document with the same nominal one."""
    used = rows.filter(pl.col("vocab_low").is_not_null() & pl.col("vocab_found").is_not_null())
    padded = (
        used.select("source", "case", padded="vocab_found")
        .join(cases.configuration.select("case", "vocab"), on="case")
        .filter(pl.col("padded") != pl.col("vocab"))
        .select("source", "vocab", "padded")
        .unique()
    )
    nominal = _nominal_vocabularies(cases).select("case")
    found = (
        cases.configuration.join(nominal, on="case", how="semi", maintain_order="left")
        .join(padded, on=["source", "vocab"], maintain_order="left")
        .select("case", vocab="padded")
    )
    law = pl.lit("the multiple of 128·TP within the printed label that most printed rates need")
    return _filled(cases, "vocab", found, value_origin="inferred", law=law)


def _consumption(cases: Cases, rows: pl.DataFrame) -> Cases:
    """The column `consumed`: printed quantities of the row itself that went into its case.

    A layer count that a second row of the same size gives as well owes nothing to this row's time.
    """
    alone = pl.when(pl.col("alike") < 2).then(pl.concat_list(pl.lit(RATE), "says"))
    used = _solved(rows).select(
        "case", consumed=alone.otherwise(pl.concat_list(pl.lit(RATE)))
    ) if "formula_id" in rows.columns else pl.DataFrame(
        schema={"case": pl.String, "consumed": pl.List(pl.String)}
    )  # fmt: skip
    nothing = pl.lit([], dtype=pl.List(pl.String))
    wide = cases.configuration.join(used, on="case", how="left", maintain_order="left")
    wide = wide.with_columns(pl.col("consumed").fill_null(nothing))
    return cases.with_values(wide, pl.DataFrame(schema=ORIGINS))


__all__ = ["Arithmetic", "arithmetic", "checks"]
