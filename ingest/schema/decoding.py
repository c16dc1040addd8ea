"""From the text of cells to typed columns: the terminal proves it, polars casts it.

A raw frame has one row per record and, for each column of the schema that some record prints, a
text column of the same name; beside it, where needed, `<name>@scale` (factor to the column's unit)
and `<name>@kind` (a kind that overrides the column's). A cell whose text does not match the
terminal of its column is undecodable: polars alone would read `+1`, `007` or `1_000`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import NamedTuple

import polars as pl
from assay.ingest.numbers.printed import FIXED, last_place
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.record import BASE, Schema
from assay.ingest.schema.terminals import terminal


class Decoded(NamedTuple):
    """`frame`: the typed columns, row for row; `faults`: row, field, text of bad cells."""

    frame: pl.DataFrame
    faults: pl.DataFrame


_EXPECTED = {"INT": "an integer", "NUMBER": "a number", "BOOL": "True or False"}

_HELD = {"INT": "an integer of 64 bits", "NUMBER": "a number from 5e-324 to 1.8e308, or zero"}


def expected(spec: FieldSpec, text: str) -> str:
    """Words for the cells that a column expects; `text` is a cell that does not fit."""
    formed = re.fullmatch(terminal(spec.terminal), text) is not None
    words = (formed and _HELD.get(spec.terminal)) or _EXPECTED.get(spec.terminal)
    return words or spec.terminal.lower()


def decode(raw: pl.DataFrame, schema: Schema, proven: Set[str] = frozenset()) -> Decoded:
    """Type every column of `raw` that `schema` declares; columns no record prints are null.

    The cells of the columns in `proven` are known to match their terminals.
    """
    columns, proofs = _plan(schema, tuple(raw.columns), frozenset(proven))
    # a proof decides on the value, on its place and on what is bad: it is worked out once
    proved = raw.with_columns(proof.alias(f"{name}@proof") for name, proof in proofs.items())
    bad_cells = (
        (pl.col(name).is_not_null() & ~pl.col(f"{name}@proof")).alias(f"{name}@bad")
        for name in proofs
    )
    typed = proved.select(*columns.values(), *bad_cells)
    empty = pl.DataFrame(schema={"row": pl.UInt32, "field": pl.String, "text": pl.String})
    bad = [empty]
    for name in proofs:
        if typed[f"{name}@bad"].any():
            rows = raw.with_row_index("row").filter(typed[f"{name}@bad"])
            bad.append(rows.select("row", field=pl.lit(name), text=pl.col(name)))
    return Decoded(typed.select(list(columns)), pl.concat(bad))


@lru_cache(maxsize=512)
def _plan(
    schema: Schema, present: tuple[str, ...], proven: frozenset[str]
) -> tuple[dict[str, pl.Expr], dict[str, pl.Expr]]:
    """The typed columns of a raw frame with these columns, and the proofs that they ask for."""
    columns: dict[str, pl.Expr] = {name: pl.col(name) for name in BASE if name in present}
    proofs: dict[str, pl.Expr] = {}
    for name, spec in fields(schema).items():
        if name in columns:
            continue
        if name not in present:
            columns[name] = pl.lit(None, dtype=spec.dtype).alias(name)
            if spec.has_ulp:
                columns[f"{name}_ulp"] = pl.lit(None, dtype=pl.Float64).alias(f"{name}_ulp")
            continue
        value, ulp, proof = _typed(spec, present, proven=name in proven)
        proved = pl.when(f"{name}@proof")
        columns[name] = proved.then(value).alias(name)
        if ulp is not None:
            columns[f"{name}_ulp"] = proved.then(ulp).alias(f"{name}_ulp")
        proofs[name] = proof
    return columns, proofs


def _typed(
    spec: FieldSpec, present: Sequence[str], *, proven: bool
) -> tuple[pl.Expr, pl.Expr | None, pl.Expr]:
    """Value, unit in the last place and proof of one column, as expressions over the raw frame."""
    text = pl.col(spec.name)
    if spec.dtype == pl.String:
        return text, None, text.is_not_null()
    shape = text.str.contains(f"^(?:{terminal(spec.terminal)})$")
    if proven:
        shape = text.is_not_null()
    if spec.dtype == pl.Boolean:
        return text.str.to_lowercase().is_in(["true", "yes", "on", "✓", "✔", "✅"]), None, shape
    scaled = f"{spec.name}@scale" in present
    scale = pl.col(f"{spec.name}@scale").fill_null(1.0) if scaled else pl.lit(1.0)
    if spec.dtype.is_integer():
        return _integer(text, scale, shape, scaled=scaled)
    digits = text if proven else text.str.replace_all(",", "", literal=True)
    number = digits.cast(pl.Float64, strict=False)
    value = number * scale if scaled else number
    ulp = None
    if spec.has_ulp:
        fixed = FIXED.fullmatch(spec.kind)
        place = pl.lit(10.0 ** -int(fixed[1])) if fixed else last_place(digits)
        ulp = place * scale if scaled else place
    return value, ulp, shape & number.is_not_null() & _held(text, value)


def _held(text: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Whether a double holds the number: of others it would say that they are infinite, or zero."""
    infinite = text.str.ends_with("f") | text.str.ends_with("F")  # inf
    small = (value == 0) & text.str.contains(r"^[-+]?[0,.]*[1-9]")
    return (~value.is_infinite() | infinite) & ~small


def _integer(
    text: pl.Expr, scale: pl.Expr, shape: pl.Expr, *, scaled: bool
) -> tuple[pl.Expr, None, pl.Expr]:
    """Integers are read as integers: a double would lose digits beyond 2⁵³."""
    whole = text.str.strip_prefix("+").cast(pl.Int64, strict=False)
    if not scaled:
        return whole, None, shape & whole.is_not_null()
    # 250k, 1.3B: a count with a suffix, whole once it is multiplied out
    product = text.cast(pl.Float64, strict=False) * scale
    number = text.str.contains(f"^(?:{terminal('NUMBER')})$")
    near = 1e-9 + product.abs() * 1e-15  # 1.011 billion is a double beside a whole number
    fits = number & ((product - product.round()).abs() <= near) & (product.abs() < 2.0**63)
    value = (
        pl.when(shape & (scale == 1.0))
        .then(whole)
        .otherwise(product.round().cast(pl.Int64, strict=False))
    )
    return value, None, pl.when(scale == 1.0).then(shape & whole.is_not_null()).otherwise(fits)
