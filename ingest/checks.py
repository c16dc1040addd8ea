"""Whether a typed frame passes its schema, in one query.

pandera says which row fails which check; that costs milliseconds per frame, and nearly every frame
passes. So the same checks are first put as one expression over all columns: where it is true,
pandera would find nothing; where it is false, or a check is not among those that are known here,
pandera is asked (see `assay.ingest.accept`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import polars as pl
from assay.ingest.schema import fields
from assay.ingest.types import Schema

Put = Callable[[pl.Expr, Mapping[str, Any]], pl.Expr]

KNOWN: Mapping[str, Put] = {
    "greater_than_or_equal_to": lambda value, by: value >= by["min_value"],
    "greater_than": lambda value, by: value > by["min_value"],
    "less_than_or_equal_to": lambda value, by: value <= by["max_value"],
    "less_than": lambda value, by: value < by["max_value"],
    "isin": lambda value, by: value.is_in(list(by["allowed_values"])),
}
"""pandera's name of a check → the same for one value; a value that is missing passes."""


def passes(frame: pl.DataFrame, schema: Schema, *, partial: bool = False) -> bool:
    """True where no row can fail; False where pandera has to be asked.

    A NaN is left to pandera, for which it is missing, in range or out of range, as the check goes.
    With `partial`, columns that the frame does not have are not asked for.
    """
    names = tuple(name for name in fields(schema) if name in frame.columns) if partial else None
    asked, held = _asked(schema, names), frame.schema
    if asked is None or any(held.get(name) != kind for name, kind in asked[0].items()):
        return False
    return bool(frame.select(asked[1]).item()) if frame.height else True


@lru_cache(maxsize=256)
def _asked(
    schema: Schema, names: tuple[str, ...] | None = None
) -> tuple[dict[str, pl.DataType], pl.Expr] | None:
    """The types of a schema's columns and all its checks as one; None where one is not known."""
    whole = schema.to_schema()
    if whole.checks or whole.unique:
        return None
    types, all_pass = {}, [pl.lit(value=True)]
    specs = fields(schema)
    for name in specs if names is None else names:
        spec = specs[name]
        column, value = whole.columns[name], pl.col(name)
        types[name] = spec.dtype
        if column.unique or any(check.name not in KNOWN for check in column.checks):
            return None
        if not column.nullable:
            all_pass.append(value.null_count() == 0)
        if spec.dtype.is_float():
            all_pass.append(~value.is_nan().any())
        # all() passes over what is missing
        all_pass += [
            KNOWN[check.name](value, check.statistics or {}).all() for check in column.checks
        ]
    return types, pl.all_horizontal(all_pass)
