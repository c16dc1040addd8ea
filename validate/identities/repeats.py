"""Rows that print an earlier measurement again, once more or with values exchanged, and copies.

A repeat is no second measurement. Two rows of a document are one measurement when everything
printed of their speed is equal and no configuration value that both know differs. So are two rows
of different documents (an older version and a newer, say) where they know what ran and their speed
is printed finely enough to be no coincidence; the document that knows more is kept. Where step time
and rate of a later row are those of an earlier one exchanged, the product of the two cannot show
it; the later row is the copy. Lines of one log are never repeats: each is an iteration of its own.
An input with the bytes of another, of which the same is known otherwise, is a copy: nothing in it
was measured again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import polars as pl
from assay.ingest.types import Accounting
from assay.validate.cases import CONFIGURED
from assay.validate.identities.throughput import SAYS
from assay.validate.identities.tries import RATE

REPEAT: dict[str, pl.DataType] = {
    "case": pl.String(),
    "of": pl.String(),  # the case that printed it first
    "how": pl.String(),  # again, exchanged, copy
}

TERA = 1e12
"""Rates are printed in TFLOP/s beside seconds: what an exchange swaps."""

TOLD = ("hidden", "layers", "gpus", "global_batch")
"""What tells one job from others, wherever it is told of."""

FINE = 2e-3
"""Width of a printed number, relative to it, above which two measurements may well agree."""

MANY = 2
"""Inputs; in one alone, a product that is measured twice is measured twice."""

Row = dict[str, Any]
Key = tuple[Any, ...]


def repeats(observations: pl.DataFrame, configuration: pl.DataFrame) -> pl.DataFrame:
    """Every row that repeats an earlier row, of its document or of another."""
    width = (pl.col("high") - pl.col("low")) / pl.col("value")
    printed = observations.filter(
        pl.col("quantity").is_in([*SAYS, RATE]) & pl.col("origin").is_in(["measured", "published"])
    ).unique(["case", "quantity"], keep="first", maintain_order=True)
    finest = printed.group_by("case", "origin").agg(width=width.min())
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
    """What is printed of a row's speed, there and anywhere, and with time and rate exchanged.

    Lines of one log are never alike.
    """
    values = {name: row.get(name) for name in (*SAYS, RATE)}
    shape = tuple(row[name] for name in TOLD)
    if None not in shape and row["width"] <= FINE:
        yield (*shape, *values.values()), "again"
    if row["origin"] != "published":
        return
    yield (row["source"], *values.values()), "again"
    time, rate = values["step_time"], values[RATE]
    if time is not None and rate is not None and time != rate / TERA:
        values |= {"step_time": round(rate / TERA, 9), RATE: round(time * TERA, 0)}
        yield (row["source"], *values.values()), "exchanged"


def _compatible(one: Row, other: Row) -> bool:
    """Whether no value that both rows know differs, and they are not lines of one log."""
    if one["origin"] == other["origin"] == "measured" and one["source"] == other["source"]:
        return False
    return all(
        one[name] is None or other[name] is None or one[name] == other[name]
        for name in CONFIGURED
        if name != "model_size"
    )


def remeasured(observations: pl.DataFrame, gemm: pl.DataFrame) -> pl.DataFrame:
    """Every product whose time another input prints too, as finely and to the last digit."""
    fine = (pl.col("high") - pl.col("low")) / pl.col("value") <= FINE
    times = observations.filter((pl.col("scope") == "gemm") & (pl.col("quantity") == "time") & fine)
    if times["source"].n_unique() < MANY:
        return pl.DataFrame(schema=REPEAT)
    key = ["subject", "machine", "dtype", "value"]
    table = gemm.drop_nulls("machine").join(times.select("case", "value"), on="case")
    first = table.sort("source", "line").unique(key, keep="first", maintain_order=True)
    again = table.join(first.select(*key, of="case", at="source"), on=key)
    elsewhere = again.filter(pl.col("source") != pl.col("at"))
    return elsewhere.select("case", "of", how=pl.lit("again")).sort("case")


def copies(
    observations: pl.DataFrame, frames: Sequence[pl.DataFrame], accounts: Iterable[Accounting]
) -> pl.DataFrame:
    """Every measured or published number's case in an input that is a copy of another.

    `frames` are those of cases: inputs of equal bytes whose cases differ, for a side file or
    another companion says otherwise, are no copies.
    """
    known = set(observations.filter(pl.col("origin") != "estimated")["source"].unique())
    named: defaultdict[str, list[str]] = defaultdict(list)
    for account in accounts:
        if account.source in known:
            named[account.sha256].append(account.source)
    groups = [sorted(names) for names in named.values() if len(names) > 1]
    of = [_by_source(frame, [name for names in groups for name in names])
          for frame in (observations, *frames)]  # fmt: skip
    found = [pl.DataFrame(schema=REPEAT)]
    for first, *others in groups:
        for other in others:
            if all(_alike(held.get(first), held.get(other)) for held in of):
                there = of[0][other].filter(pl.col("origin") != "estimated").select("case")
                first_case = pl.lit(first) + pl.col("case").str.slice(len(other))
                copied = there.unique().select("case", of=first_case, how=pl.lit("copy"))
                found.append(copied.sort("case"))
    return pl.concat(found)


def _by_source(frame: pl.DataFrame, sources: Sequence[str]) -> dict[str, pl.DataFrame]:
    """What a frame holds of each of these."""
    parts = frame.filter(pl.col("source").is_in(sources)).partition_by("source", as_dict=True)
    return {str(name): part for (name,), part in parts.items()}


def _alike(one: pl.DataFrame | None, other: pl.DataFrame | None) -> bool:
    """Whether two sources give the same, but for what is named after them."""
    if one is None or other is None:
        return one is other
    names = pl.exclude("source", "case", "group")
    return one.select(names).equals(other.select(names))
