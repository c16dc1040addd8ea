"""Copies among inputs of one measurement: whole inputs, log lines, timed products.

In: the numbers and cases of all inputs. Out: frames of `REPEAT`. What was measured once and is
there twice must not count twice, nor may a model be fitted on the one to predict the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import polars as pl
from assay.ingest.schema.reading import Accounting
from assay.validate.arithmetic.repeats import FINE, REPEAT
from assay.validate.cases.cases import CONFIGURED
from assay.validate.cases.observe import case_of

LINE = ("iteration", "step_time", "lm_loss")
"""Fields that the lines of one iteration share in every file that has them, and in no others."""

PRODUCT = ("subject", "machine", "dtype", "time")


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
    wanted = [name for names in groups for name in names]
    of = [_by_source(frame, wanted) for frame in (observations, *frames)]
    found = [pl.DataFrame(schema=REPEAT)]
    for first, *others in groups:
        for other in others:
            if all(_alike(held.get(first), held.get(other)) for held in of):
                there = of[0][other].filter(pl.col("origin") != "estimated").select("case")
                first_case = pl.lit(first) + pl.col("case").str.slice(len(other))
                copied = there.unique().select("case", of=first_case, how=pl.lit("copy"))
                found.append(copied.sort("case"))
    return pl.concat(found)


def relogged(frames: Mapping[str, pl.DataFrame], configuration: pl.DataFrame) -> pl.DataFrame:
    """Every line of an iteration that another input prints too: ranks of a job, a quoted log.

    Those of the input that tells more of what ran are kept.
    """
    found = [pl.DataFrame(schema=REPEAT)]
    told = pl.sum_horizontal(pl.col(CONFIGURED).is_not_null())
    known = configuration.group_by("source").agg(weight=told.sum())
    for frame in frames.values():
        if set(LINE) <= set(frame.columns) and frame["source"].n_unique() > 1:
            lines = frame.select("source", "line", *LINE, case=case_of()).drop_nulls(LINE)
            found.append(_elsewhere(lines.join(known, on="source"), LINE))
    return pl.concat(found)


def remeasured(observations: pl.DataFrame, gemm: pl.DataFrame) -> pl.DataFrame:
    """Every product whose time another input prints too, finely and to the last digit.

    Those of the longer input are kept.
    """
    fine = (pl.col("high") - pl.col("low")) / pl.col("value") <= FINE
    times = observations.filter((pl.col("scope") == "gemm") & (pl.col("quantity") == "time") & fine)
    if times["source"].n_unique() < 2:
        return pl.DataFrame(schema=REPEAT)
    table = gemm.drop_nulls("machine").join(times.select("case", time="value"), on="case")
    return _elsewhere(table.with_columns(weight=pl.len().over("source")), PRODUCT)


def _elsewhere(table: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Rows whose key a source of more `weight` has, or of an earlier name.

    Within one source, what is equal was measured twice.
    """
    ordered = table.sort("weight", "source", "line", descending=[True, False, False])
    first = ordered.unique(key, keep="first", maintain_order=True)
    again = table.join(first.select(*key, of="case", at="source"), on=key)
    elsewhere = again.filter(pl.col("source") != pl.col("at"))
    return elsewhere.select("case", "of", how=pl.lit("again")).sort("case")


def _by_source(frame: pl.DataFrame, sources: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Rows of a frame by source, for each of `sources`."""
    parts = frame.filter(pl.col("source").is_in(sources)).partition_by("source", as_dict=True)
    return {str(name): part for (name,), part in parts.items()}


def _alike(one: pl.DataFrame | None, other: pl.DataFrame | None) -> bool:
    """Whether two sources give the same, but for what is named after them."""
    if one is None or other is None:
        return one is other
    names = pl.exclude("source", "case", "group")
    return one.select(names).equals(other.select(names))
