"""Width and depth from a parameter count printed in full.

A count of ten digits leaves no choice: for the tied GPT family of `parameters.mosaic` exactly one
pair of width and depth gives it. Where none or several do, nothing is inferred.
"""

from __future__ import annotations

import polars as pl
from assay.model.parameters import gpt_layer
from assay.validate.cases import ORIGINS, Cases

VOCABULARIES = (50257, 50304, 50368, 50432)
"""GPT-2's vocabulary, plain and padded to multiples of 64 or 128 or more."""

WIDTHS = range(64, 32768 + 1, 64)
LAW = "the only width and depth whose count is the printed number of parameters"


def shape(parameters: int, seq_len: int) -> tuple[int, int, int] | None:
    """Width, layers and vocabulary of the GPT with exactly so many parameters, if there is one.

    >>> shape(12926786560, 16384)
    (5120, 40, 50257)
    """
    found = []
    for vocab in VOCABULARIES:
        for width in WIDTHS:
            left = parameters - (vocab + seq_len + 2) * width
            if left > 0 and left % gpt_layer(width) == 0:
                found.append((width, left // int(gpt_layer(width)), vocab))
    return found[0] if len(found) == 1 else None


def with_shapes(cases: Cases) -> Cases:
    """Hidden size, layers and vocabulary of rows that print a parameter count and no shape."""
    wide = cases.configuration
    bare = wide.filter(
        pl.col("hidden").is_null() & pl.col("layers").is_null()
        & pl.col("parameters").is_not_null() & pl.col("seq_len").is_not_null()
    )  # fmt: skip
    pairs = bare.select("parameters", "seq_len").unique(maintain_order=True)
    rows = [
        (count, seq, *solved)
        for count, seq in pairs.iter_rows()
        if (solved := shape(count, seq)) is not None
    ]
    names = ("hidden", "layers", "vocab")
    kinds = dict.fromkeys(("parameters", "seq_len", *(f"{n}_found" for n in names)), pl.Int64)
    solved_shapes = pl.DataFrame(rows, schema=kinds, orient="row")
    wide = wide.join(solved_shapes, on=["parameters", "seq_len"], how="left", maintain_order="left")
    fresh = pl.col("hidden").is_null() & pl.col("layers").is_null()
    origins = [pl.DataFrame(schema=ORIGINS)] + [
        wide.filter(fresh & pl.col(name).is_null() & pl.col(f"{name}_found").is_not_null()).select(
            case="case",
            name=pl.lit(name),
            value=pl.col(f"{name}_found").cast(pl.String),
            value_origin=pl.lit("inferred"),
            line=pl.lit(None, dtype=pl.UInt32),
            law=pl.lit(LAW),
        )
        for name in names
    ]
    filled = wide.with_columns(
        pl.when(fresh).then(pl.coalesce(name, f"{name}_found")).otherwise(name).alias(name)
        for name in names
    ).drop(f"{name}_found" for name in names)
    return cases.with_values(filled, pl.concat(origins))
