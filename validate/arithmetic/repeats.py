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
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import polars as pl
from assay.validate.arithmetic.printed_speed import SAYS
from assay.validate.arithmetic.rated_rows import RATE
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
    known: defaultdict[Key, FirstAlike] = defaultdict(lambda: FirstAlike(_CONFIGURATION))
    found = []
    for row in table.iter_rows(named=True):
        keys = list(_keys(row))
        for key, how in keys:
            first = known[key].first(row)
            if first is not None:
                found.append((row["case"], first["case"], how))
                break
        else:
            for key in {key for key, how in keys if how == "again"}:
                known[key].add(row)
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


Known = frozenset[str]
"""The columns whose values a row knows."""


class FirstAlike:
    """Rows, and the first of them in which nothing differs that both it and another row know.

    It is looked up, not looked for: rows that know the same columns of `names` are held by the
    values of those that the other row knows too; `compared` says which of these count.
    """

    def __init__(self, names: Sequence[str], compared: Callable[[Known], Known] = lambda n: n):
        self._names, self._compared = names, compared
        self._rows: dict[Known, list[tuple[int, Row]]] = {}
        self._firsts: dict[tuple[Known, Known], dict[Key, tuple[int, Row]]] = {}
        self._count = 0

    def add(self, row: Row) -> None:
        """Take in a row, behind all others."""
        knows, numbered = self._known(row), (self._count, row)
        self._count += 1
        self._rows.setdefault(knows, []).append(numbered)
        for (whose, names), firsts in self._firsts.items():
            if whose == knows:
                firsts.setdefault(self._values(row, names), numbered)

    def first(self, row: Row) -> Row | None:
        """The first row that is alike this one."""
        knows, found = self._known(row), []
        for whose, rows in self._rows.items():
            names = self._compared(knows & whose)
            firsts = self._firsts.get((whose, names))
            if firsts is None:
                firsts = self._firsts[whose, names] = {}
                for numbered in rows:
                    firsts.setdefault(self._values(numbered[1], names), numbered)
            if (old := firsts.get(self._values(row, names))) is not None:
                found.append(old)
        return min(found, key=itemgetter(0))[1] if found else None

    def _known(self, row: Row) -> Known:
        return frozenset(name for name in self._names if row[name] is not None)

    def _values(self, row: Row, names: Known) -> Key:
        return tuple(row[name] for name in self._names if name in names)


_CONFIGURATION = tuple(name for name in CONFIGURED if name != "model_size")
"""A size label is no configuration."""
