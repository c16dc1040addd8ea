"""Rows of tables that print an earlier measurement again, once more or with values exchanged.

A repeat is no second measurement. Two rows of a document are one measurement when everything
printed of their speed is equal and no configuration value that both know differs. So are two rows
of different documents (an older version and a newer, say) where they know what ran and their speed
is printed finely enough to be no coincidence; the document that knows more is kept. Of a single
number that is coarse and no step time, columns that no schema declares must be equal too. Where
step time and rate of a later row are those of an earlier one exchanged, the product of the two
cannot show it; the later row is the copy. Laws and scores ask here: a row is a repeat for both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Set
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.ingest.vocabulary.devices import only
from assay.validate.arithmetic.printed_speed import SAYS
from assay.validate.arithmetic.rated_rows import RATE
from assay.validate.cases.cases import CONFIGURED
from assay.validate.cases.observe import about

REPEAT: dict[str, pl.DataType] = {
    "case": pl.String(),
    "of": pl.String(),  # the case that printed it first
    "how": pl.String(),  # again, exchanged, copy (of a whole input)
}

TERA = 1e12
"""Rates are printed in TFLOP/s beside seconds: what an exchange swaps."""

SPEED = (*SAYS, RATE)
"""Columns in which a row prints its speed."""

COMPARED = (*CONFIGURED, "dtype_said")
"""Fields in which two rows may differ: FP8-CS is not FP8-MX, though both are fp8."""

NOMINAL = ("model_size",)
"""Labels: they say nothing about what ran where the shape of the model is known."""

TOLD = ("hidden", "layers", "gpus", "global_batch")
"""Fields that tell one job from others, wherever it is told of."""

FINE = 2e-3
"""Width of a printed number, relative to it, above which two measurements may well agree."""

Row = dict[str, Any]

Key = tuple[Any, ...]


def published(runs: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Rows of tables in a run frame; lines of a log are iterations, each its own measurement."""
    known = about(reading.formats)
    tables = sorted(name for name, what in known.items() if what.origin == "published")
    if runs.is_empty():
        return pl.DataFrame(schema={"case": pl.String})
    return runs.filter(pl.col("frame").is_in(tables))


def repeats(runs: pl.DataFrame) -> pl.DataFrame:
    """Every published row of a run frame that repeats an earlier one, of its document or another.

    See `REPEAT`; `runs` are what `published` gives.
    """
    if runs.is_empty():
        return pl.DataFrame(schema=REPEAT)
    filled = [name for name in COMPARED if runs[name].null_count() < runs.height]
    width = [(pl.col(f"{n}_high") - pl.col(f"{n}_low")) / pl.col(n) for n in SPEED]
    table = runs.select(
        "case",
        "source",
        "line",
        "others",
        "remark",
        *filled,
        *SPEED,
        width=pl.min_horizontal(width),
        told=pl.sum_horizontal(pl.col(CONFIGURED).is_not_null()).sum().over("source"),
    ).sort("told", "source", "line", descending=[True, False, False], maintain_order=True)
    if "gpu" in filled:
        table, filled = _devices_apart(table), [*filled, *_OF_A_DEVICE]
    known: defaultdict[Key, FirstAlike] = defaultdict(by_configuration)
    found = []
    for row in table.iter_rows(named=True):
        keys = list(_keys(row))
        knows = frozenset([name for name in filled if row[name] is not None])
        for key, how in keys:
            first = known[key].first(row, knows)
            if first is not None:
                found.append((row["case"], first["case"], how))
                break
        else:
            for key in {key for key, how in keys if how == "again"}:
                known[key].add(row, knows)
    return pl.DataFrame(found, schema=REPEAT, orient="row").sort("case", maintain_order=True)


_OF_A_DEVICE = ("gpu_memory", "gpu_form")


def _devices_apart(table: pl.DataFrame) -> pl.DataFrame:
    """A table with the kind, the memory and the form of its devices in columns of their own: one
    that is called `A100` may be an `A100 80GB`."""
    texts = table["gpu"].drop_nulls().unique().to_list()
    named = {text: only(text) for text in texts}
    parts = {
        "gpu": {text: one.key if one else text for text, one in named.items()},
        "gpu_memory": {text: one.memory or None for text, one in named.items() if one},
        "gpu_form": {text: one.form or None for text, one in named.items() if one},
    }
    return table.with_columns(
        pl.col("gpu").replace_strict(part, default=None, return_dtype=pl.String).alias(name)
        for name, part in parts.items()
    )


def _keys(row: Row) -> Iterator[tuple[Key, str]]:
    """Keys of a row's printed speed: anywhere, in its document, with time and rate exchanged."""
    values = {name: row[name] for name in SPEED}
    printed = [name for name, value in values.items() if value is not None]
    fine = row["width"] is not None and row["width"] <= FINE
    if not printed:
        return
    telling = fine or "step_time" in printed or len(printed) > 1
    beside = () if telling else (*sorted(row["others"] or ()), row["remark"])
    shape = tuple([row.get(name) for name in TOLD])
    if None not in shape and fine:
        yield (*shape, *values.values()), "again"
    yield (row["source"], *values.values(), *beside), "again"
    time, rate = values["step_time"], values[RATE]
    if time is not None and rate is not None and time != rate / TERA:
        values |= {"step_time": round(rate / TERA, 9), RATE: round(time * TERA, 0)}
        yield (row["source"], *values.values()), "exchanged"


Known = frozenset[str]
"""The columns whose values a row knows."""


class FirstAlike:
    """Rows, and the first of them in which nothing differs that both it and another row know.

    It is looked up, not looked for: rows that know the same columns are held by the values of
    those that the other row knows too; `compared` says which of these count.
    """

    def __init__(self, compared: Callable[[Known], Known] = lambda names: names) -> None:
        self._compared = compared
        self._rows: dict[Known, list[tuple[int, Row]]] = {}
        self._firsts: dict[tuple[Known, Known], Firsts] = {}
        self._count = 0

    def add(self, row: Row, knows: Known) -> None:
        """Take in a row, behind all others; `knows` are the columns whose values it has."""
        numbered = (self._count, row)
        self._count += 1
        self._rows.setdefault(knows, []).append(numbered)
        for (whose, _), firsts in self._firsts.items():
            if whose == knows:
                firsts.rows.setdefault(firsts.values(row), numbered)

    def first(self, row: Row, knows: Known) -> Row | None:
        """The first row that is alike this one."""
        found = []
        for whose, rows in self._rows.items():
            names = self._compared(knows & whose)
            firsts = self._firsts.get((whose, names))
            if firsts is None:
                firsts = self._firsts[whose, names] = Firsts({}, values_of(names))
                for numbered in rows:
                    firsts.rows.setdefault(firsts.values(numbered[1]), numbered)
            if (old := firsts.rows.get(firsts.values(row))) is not None:
                found.append(old)
        return min(found, key=itemgetter(0))[1] if found else None


class Firsts(NamedTuple):
    """The first row of all that have the same values of some columns, and what these are."""

    rows: dict[object, tuple[int, Row]]
    values: Callable[[Row], object]


@cache
def values_of(names: Known) -> Callable[[Row], object]:
    """A function that gives the values of these columns of a row."""
    return itemgetter(*sorted(names)) if names else lambda _: None


def by_configuration() -> FirstAlike:
    """Rows, to be found by what two of them both know of their configuration."""
    return FirstAlike(lambda both: both.difference(NOMINAL) if shape_in(both) else both)


def shape_in(known: Set[str]) -> bool:
    """Whether these columns are the shape of a model."""
    return {"hidden", "layers"} <= known or "parameters" in known
