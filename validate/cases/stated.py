"""Values that the user states of every run of an input: the last word, whatever a document prints.

In: the frame of cases as it is printed and bound, and values by configuration column. Out: the same
with these values in every row, their origins, and which printed values they overrule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl
from assay.ingest.binding.restate import typed
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.record import Cell
from assay.validate.cases.programs import PROGRAM, implied, stated

LAW = "stated by the user"


class Overruled(NamedTuple):
    """A printed value that a stated one overrules: in how many rows, and in which first."""

    name: str
    stated: str
    printed: str
    rows: int
    first: str


def values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Stated values by column, each as its column holds it.

    Raises ValueError where one does not fit its column.

    >>> values({"seq_len": "2048", "gated": True})
    {'seq_len': 2048, 'gated': True}
    >>> values({"program": "NeMo 24.07"})
    {'framework': 'nemo', 'date': '2024-07', 'program': 'NeMo 24.07'}
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in PROGRAM:
            found[name] = stated(name, value)
            continue
        text = str(value)
        found[name] = typed(name, Cell(text, 0), Configuration)[name]
    return implied(str(found.get("program", ""))) | found


def overrule(
    wide: pl.DataFrame, origins: pl.DataFrame, given: Mapping[str, Any]
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[Overruled, ...]]:
    """The cases and their origins with the stated values, and what they overrule."""
    if not given or wide.is_empty():
        return wide, origins, ()
    said: list[Overruled] = []
    parts = [origins.filter(~pl.col("name").is_in(list(given)))]
    for name, value in given.items():
        other = wide.filter(pl.col(name) != value)
        for (printed,), rows in other.group_by(name, maintain_order=True):
            first = f"{rows['source'][0]}:{rows['line'][0]}"
            said.append(Overruled(name, str(value), str(printed), rows.height, first))
        wide = wide.with_columns(pl.lit(value, wide.schema[name]).alias(name))
        parts.append(
            wide.select(
                case="case", name=pl.lit(name), value=pl.lit(str(value)),
                value_origin=pl.lit("assumed"), line=pl.lit(None, dtype=pl.UInt32),
                law=pl.lit(LAW),
            )
        )  # fmt: skip
    return wide, pl.concat(parts), tuple(said)
