"""Rows of a document that print an earlier measurement again, once more or with values exchanged.

A repeat is no second measurement. Two rows are one measurement when everything printed of its speed
is equal and no configuration value that both know differs. Where step time and rate of a later row
are those of an earlier one exchanged, the product of the two cannot show it; the later row is the
copy. Lines of a log are never repeats: each is an iteration of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import polars as pl
from assay.validate.cases import CONFIGURED
from assay.validate.identities.throughput import SAYS
from assay.validate.identities.tries import RATE

REPEAT: dict[str, pl.DataType] = {
    "case": pl.String(),
    "of": pl.String(),  # the case that printed it first
    "exchanged": pl.Boolean(),
}

TERA = 1e12
"""Rates are printed in TFLOP/s beside seconds: what an exchange swaps."""


def repeats(observations: pl.DataFrame, configuration: pl.DataFrame) -> pl.DataFrame:
    """Every published row that repeats an earlier row of its document."""
    speed = [*SAYS, RATE]
    printed = observations.filter(
        pl.col("quantity").is_in(speed) & (pl.col("origin") == "published")
    ).pivot(on="quantity", index="case", values="value", maintain_order=True)
    table = configuration.join(printed, on="case", how="inner").sort("source", "line")
    known: defaultdict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    found = []
    for row in table.iter_rows(named=True):
        for key, exchanged in _keys(row):
            first = next((old for old in known[key] if _compatible(old, row)), None)
            if first is not None:
                found.append((row["case"], first["case"], exchanged))
                break
        else:
            known[next(_keys(row))[0]].append(row)
    return pl.DataFrame(found, schema=REPEAT, orient="row")


def _keys(row: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """What is printed of a row's speed, then the same with time and rate exchanged."""
    values = {name: row.get(name) for name in (*SAYS, RATE)}
    yield (row["source"], *values.values()), False
    time, rate = values["step_time"], values[RATE]
    if time is not None and rate is not None and time != rate / TERA:
        values |= {"step_time": round(rate / TERA, 9), RATE: round(time * TERA, 0)}
        yield (row["source"], *values.values()), True


def _compatible(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether no value that both rows know differs; a size label is no configuration."""
    return all(
        one[name] is None or other[name] is None or one[name] == other[name]
        for name in CONFIGURED
        if name != "model_size"
    )
