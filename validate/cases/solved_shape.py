"""The shape of a model that a row does not spell out: from its parameter count, or from its name.

A count of ten digits leaves no choice: for the tied GPT family of `parameters.mosaic` exactly one
pair of width and depth gives it. Where none or several do, nothing is inferred. A public name has
its published shape, which is assumed, unless the row prints something else.
"""

from __future__ import annotations

import polars as pl
from assay.model.transformer.parameters import gpt_layer, parameters
from assay.model.transformer.shapes import Model, resolve, shapes
from assay.validate.cases.cases import Cases
from assay.validate.cases.rules import ORIGINS

VOCABULARIES = (50257, 50304, 50368, 50432)
"""GPT-2's vocabulary, plain and padded to multiples of 64 or 128 or more."""

WIDTHS = range(64, 32768 + 1, 64)

LAW_OF_NAMES = "the published shape of the model of that name"

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
    """Shapes of rows that print none: by their parameter count, else by a public name."""
    return _by_name(_by_count(cases))


NAMED = ("hidden", "layers", "heads", "kv_heads", "ffn_hidden", "vocab", "experts", "gated")
"""Fields that the public name of a model stands for."""

_KINDS = {"gated": pl.Boolean}


APART = 2
"""How many times as large a model is that is another one of its family."""


def _size(model: Model) -> float | None:
    """Parameters of a model, each of which a row may mean by its size: unknown of experts, of which
    it may mean those that are used."""
    return None if model.experts else float(parameters(model).total)


def _part(model: Model, name: str) -> int | None:
    if name == "experts":
        return model.experts.routed if model.experts is not None else None
    return getattr(model, name)  # type: ignore[no-any-return]


def _by_name(cases: Cases) -> Cases:
    """Fill in the published shape that a model's name stands for, where a row leaves it out."""
    wide = cases.configuration
    known = {}
    for name in wide["model"].drop_nulls().unique().sort():
        try:
            known[name] = shapes()[resolve(name)]
        except LookupError:
            continue
    if not known:
        return cases
    published = pl.DataFrame(
        [
            {"model": name, "size": _size(one)}
            | {f"{part}_found": _part(one, part) for part in NAMED}
            for name, one in known.items()
        ],
        schema={"model": pl.String, "size": pl.Float64}
        | {f"{part}_found": _KINDS.get(part, pl.Int64) for part in NAMED},
    )
    wide = wide.join(published, on="model", how="left", maintain_order="left")
    as_large = pl.all_horizontal(
        (pl.col(part) / pl.col("size")).is_between(1 / APART, APART).fill_null(value=True)
        for part in ("parameters", "model_size")
    )
    found = [f"{part}_found" for part in NAMED]
    wide = wide.with_columns(pl.when(as_large).then(pl.col(name)).alias(name) for name in found)
    wide = wide.drop("size")
    fits = pl.all_horizontal(
        pl.col(part).is_null() | (pl.col(part) == pl.col(f"{part}_found"))
        for part in ("hidden", "layers", "heads")
    )
    return _filled(cases, wide, NAMED, when=fits, value_origin="assumed", law=LAW_OF_NAMES)


def _filled(
    cases: Cases,
    wide: pl.DataFrame,
    names: tuple[str, ...],
    *,
    when: pl.Expr,
    value_origin: str,
    law: str,
) -> Cases:
    """`cases` with nulls of `names` filled from the columns `<name>_found` of `wide`."""
    fresh = {name: when & pl.col(name).is_null() for name in names}
    origins = [pl.DataFrame(schema=ORIGINS)] + [
        wide.filter(fresh[name] & pl.col(f"{name}_found").is_not_null()).select(
            case="case",
            name=pl.lit(name),
            value=pl.col(f"{name}_found").cast(pl.String),
            value_origin=pl.lit(value_origin),
            line=pl.lit(None, dtype=pl.UInt32),
            law=pl.lit(law),
        )
        for name in names
    ]
    filled = wide.with_columns(
        pl.when(fresh[name]).then(f"{name}_found").otherwise(name).alias(name) for name in names
    ).drop(f"{name}_found" for name in names)
    return cases.with_values(filled, pl.concat(origins))


def _by_count(cases: Cases) -> Cases:
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
    unspelled = pl.col("hidden").is_null() & pl.col("layers").is_null()
    return _filled(cases, wide, names, when=unspelled, value_origin="solved", law=LAW)
