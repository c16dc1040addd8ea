"""Rows of tables that print an earlier measurement again, once more or with values exchanged.

A repeat is no second measurement. Two rows of a document are one measurement when everything
printed of their speed is equal and no configuration value that both know differs. So are two rows
of different documents (an older version and a newer, say) where they know what ran and their speed
is printed finely enough to be no coincidence; the document that knows more is kept. Where step time
and rate of a later row are those of an earlier one exchanged, the product of the two cannot show
it; the later row is the copy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import polars as pl
from assay.validate.arithmetic.printed_speed import SAYS
from assay.validate.arithmetic.tries import RATE
from assay.validate.cases.cases import CONFIGURED

REPEAT: dict[str, pl.DataType] = {
    "case": pl.String(),
    "of": pl.String(),  # the case that printed it first
    "how": pl.String(),  # again, exchanged, copy (of a whole input)
}

TERA = 1e12
"""Rates are printed in TFLOP/s beside seconds: what an exchange swaps."""

TOLD = ("hidden", "layers", "gpus", "global_batch")
"""Fields that tell one job from others, wherever it is told of."""

FINE = 2e-3
"""Width of a printed number, relative to it, above which two measurements may well agree."""

Row = dict[str, Any]

Key = tuple[Any, ...]


def repeats(observations: pl.DataFrame, configuration: pl.DataFrame) -> pl.DataFrame:
    """Every published row that repeats an earlier row, of its document or of another."""
    width = (pl.col("high") - pl.col("low")) / pl.col("value")
    printed = observations.filter(
        pl.col("quantity").is_in([*SAYS, RATE]) & (pl.col("origin") == "published")
    )
    finest = printed.group_by("case").agg(width=width.min())
    values = printed.pivot(on="quantity", index="case", values="value", maintain_order=True)
    knows = pl.sum_horizontal(pl.col(CONFIGURED).is_not_null()).sum().over("source")
    table = (
        configuration.join(values, on="case")
        .join(finest, on="case")
        .with_columns(knows=knows)
        .sort("knows", "source", "line", descending=[True, False, False])
    )
    known: defaultdict[Key, list[Row]] = defaultdict(list)
    found = []
    for row in table.iter_rows(named=True):
        keys = list(_keys(row))
        for key, how in keys:
            first = next((old for old in known[key] if _compatible(old, row)), None)
            if first is not None:
                found.append((row["case"], first["case"], how))
                break
        else:
            for key in {key for key, how in keys if how == "again"}:
                known[key].append(row)
    return pl.DataFrame(found, schema=REPEAT, orient="row").sort("case", maintain_order=True)


def _keys(row: Row) -> Iterator[tuple[Key, str]]:
    """Keys of a row's printed speed: anywhere, in its document, with time and rate exchanged."""
    values = {name: row.get(name) for name in (*SAYS, RATE)}
    shape = tuple(row[name] for name in TOLD)
    if None not in shape and row["width"] <= FINE:
        yield (*shape, *values.values()), "again"
    yield (row["source"], *values.values()), "again"
    time, rate = values["step_time"], values[RATE]
    if time is not None and rate is not None and time != rate / TERA:
        values |= {"step_time": round(rate / TERA, 9), RATE: round(time * TERA, 0)}
        yield (row["source"], *values.values()), "exchanged"


def _compatible(one: Row, other: Row) -> bool:
    """Whether no value that both rows know differs; a size label is no configuration."""
    return all(
        one[name] is None or other[name] is None or one[name] == other[name]
        for name in CONFIGURED
        if name != "model_size"
    )
