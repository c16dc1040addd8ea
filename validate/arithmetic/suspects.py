"""Suspects: a cell of a row and a value that would satisfy every relation of the row.

In: a row of the run frame that misses a relation. Candidates are values that have a reason: what a
heading says, what an otherwise equal row prints, an exchange with another cell, the cell above or
below, a slip of digits or units. Each is put in its place and the whole row is tried again; what
satisfies everything is an explanation. Nothing is explained by a number without a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from assay.ingest.schema.record import Span
from assay.validate.arithmetic import count_relations, speed_relations
from assay.validate.arithmetic.counting import again
from assay.validate.arithmetic.following import Choice, hits, of_one_gpu, with_speed
from assay.validate.arithmetic.printed_runs import MEASURED, label
from assay.validate.arithmetic.rated_rows import rows_of
from assay.validate.arithmetic.relations import Relation, relation_key, tried

RELATIONS: tuple[Relation, ...] = (*count_relations.RELATIONS, *speed_relations.RELATIONS)

COUNTS = ("global_batch", "global_batch_tokens", "micro_batch", "accumulation", "dp", "tp", "pp",
          "cp", "gpus", "nodes", "hidden", "layers", "seq_len", "parameters")  # fmt: skip
"""Configuration cells that may be wrong."""

SLIPS = {
    1e3: "1000 times", 1e-3: "a thousandth of", 1e6: "a million times", 1e-6: "a millionth of",
    10.0: "10 times", 0.1: "a tenth of", 100.0: "100 times", 0.01: "a hundredth of",
    2.0: "twice", 0.5: "half", 4.0: "four times", 0.25: "a quarter of", 8.0: "eight times",
    0.125: "an eighth of",
}  # fmt: skip
"""By how much cells are wrong where people slip: units, digits, replicas."""

SWAPS = ({"dp", "tp", "pp", "cp", "nodes", "gpus"}, {"global_batch", "micro_batch"},
         {"hidden", "layers", "seq_len"})  # fmt: skip
"""Counts that stand in for each other; others would trade a number for one of another meaning."""

REASONS = ("heading", "alike", "exchanged", "copied", "slip", "digits")
"""Kinds of explanation, the most telling first."""


@dataclass(frozen=True)
class Suspect:
    """A change of one or two cells and its reason."""

    changes: tuple[tuple[str, float], ...]  # column, value
    reason: str
    text: str
    at: Span | None = None  # where the right value stands, if it does

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns that change."""
        return tuple(name for name, _ in self.changes)


class Told(NamedTuple):
    """Evidence that a suspect draws on: headings, other rows of the table, the whole document."""

    headings: dict[str, tuple[float, Span]]
    group: pl.DataFrame
    document: pl.DataFrame


def suspects(row: dict[str, Any], cells: Sequence[str], told: Told) -> Iterator[Suspect]:
    """Every change with a reason, of the cells that the missed relations share."""
    printed = [name for name in cells if _printed(row, name)]
    yield from _headings(printed, told)
    yield from _alike(row, printed, told)
    yield from _exchanged(row, printed)
    yield from _copied(row, printed, told)
    for name in printed:
        value = float(row[name])
        for factor, words in SLIPS.items():
            new = value / factor
            if name in MEASURED or (new >= 1 and new == round(new)):
                text = f"{label(name)} is {words} what the rest of the row needs"
                yield Suspect(((name, new),), "slip", text)


def _printed(row: dict[str, Any], name: str) -> bool:
    if row.get(name) is None:
        return False
    return name in MEASURED or (name in COUNTS and name in row["printed"])


def _headings(printed: Sequence[str], told: Told) -> Iterator[Suspect]:
    """A statement above that contradicts a column, where no row of it prints what is stated: a
    column that has that value elsewhere says with intent what each of its rows has."""
    for name in printed:
        if name in told.headings:
            value, at = told.headings[name]
            if (told.group[name] == value).any():
                continue
            text = f"{label(name)} is {value:g} by the statement above"
            yield Suspect(((name, value),), "heading", text, at)


def _alike(row: dict[str, Any], printed: Sequence[str], told: Told) -> Iterator[Suspect]:
    """A layout that other rows of the document use, but for one degree."""
    degrees = [n for n in ("gpus", "nodes", "dp", "tp", "pp", "cp") if row.get(n) is not None]
    for name in printed:
        if name not in degrees:
            continue
        rest = [n for n in degrees if n != name and (n in row["printed"])]
        if len(rest) < 2:  # one degree in common is no layout
            continue
        same = told.document.filter(
            pl.all_horizontal([pl.col(n) == row[n] for n in rest])
            & (pl.col(name) != row[name])
            & pl.col("printed").list.contains(name)
        )
        for value in same[name].unique().drop_nulls().sort().to_list():
            line = same.filter(pl.col(name) == value)["line"][0]
            where = f"line {line} has that layout"
            text = f"{label(name)}={value:g} satisfies the row ({where})"
            yield Suspect(((name, float(value)),), "alike", text)


def _exchanged(row: dict[str, Any], printed: Sequence[str]) -> Iterator[Suspect]:
    others = [n for n in (*MEASURED, *COUNTS) if _printed(row, n)]
    for name in printed:
        for other in others:
            pair = {name, other}
            if name == other or (other in printed and name > other):
                continue
            ones, two = (shown(row, each) for each in (name, other))
            counts = pair & set(COUNTS)
            if counts and not any(pair <= swap for swap in SWAPS):
                continue
            if counts and not (ones == round(ones) and two == round(two)):
                continue
            changes = ((name, hidden(row, name, two)), (other, hidden(row, other, ones)))
            text = f"{label(name)} and {label(other)} are exchanged"
            yield Suspect(changes, "exchanged", text)


TERA, GIGA = 1e12, 1e9

_SHOWN = {"model_flops_rate": TERA, "memory": GIGA}


def shown(row: dict[str, Any], name: str) -> float:
    """A cell in the unit it is usually printed in."""
    return float(row[name]) / _SHOWN.get(name, 1.0)


def hidden(row: dict[str, Any], name: str, value: float) -> float:
    """A printed value in the unit of its column."""
    return value * _SHOWN.get(name, 1.0)


def _copied(row: dict[str, Any], printed: Sequence[str], told: Told) -> Iterator[Suspect]:
    lines = told.group["line"].to_list()
    here = lines.index(row["line"])
    for step, where in ((-1, "above"), (1, "below")):
        if not 0 <= here + step < len(lines):
            continue
        neighbour = told.group.row(here + step, named=True)
        for name in printed:
            if name in COUNTS and neighbour[name] not in (None, row[name]):
                at = Span(neighbour["source"], neighbour["line"], neighbour["column"])
                text = f"{label(name)} {neighbour[name]:g} of the row {where} satisfies the row"
                yield Suspect(((name, float(neighbour[name])),), "copied", text, at)


def satisfying(
    row: pl.DataFrame, tries: Sequence[Suspect], variants: dict[str, str], choices: Sequence[Choice]
) -> list[Suspect]:
    """Suspects of `tries` that, put into the row (a frame of one), satisfy all its relations."""
    if not tries:
        return []
    table = _changed(row, tries)
    good = np.ones(len(tries), dtype=bool)
    wanted = {
        each: (variants[key],) for each in RELATIONS if (key := relation_key(each)) in variants
    }
    for met in tried(table, wanted):
        good[met.at[met.gap > met.slack]] = False
    table = with_speed(of_one_gpu(table))
    fed = {each: rows_of(table, each) for each in {choice.quantity for choice in choices}}
    for choice in choices:
        rows = fed[choice.quantity]
        if rows is None:
            continue
        candidate = again(choice.candidate, rows)
        if candidate is None:
            good[rows.index.astype(int)] = False  # what cannot be tried again explains nothing
        else:
            good[rows.index[hits(rows, candidate) == 0].astype(int)] = False
    return [suspect for suspect, fine in zip(tries, good, strict=True) if fine]


def _changed(row: pl.DataFrame, tries: Sequence[Suspect]) -> pl.DataFrame:
    """The row once per suspect, with its changes."""
    changes = [dict(suspect.changes) for suspect in tries]
    names = list(dict.fromkeys(name for each in changes for name in each))
    new = {f"_{name}": [each.get(name) for each in changes] for name in names}
    table = row[[0] * len(tries)].hstack(pl.DataFrame(new, dict.fromkeys(new, pl.Float64)))
    changed, kinds = [], row.schema
    for name in names:
        value = pl.col(f"_{name}")
        columns = {name: value.cast(kinds[name], strict=False)}
        if name in MEASURED:
            share = value / row[name][0]
            columns |= {f"{name}_{end}": pl.col(f"{name}_{end}") * share
                        for end in ("low", "high", "place")}  # fmt: skip
        changed += [
            pl.when(value.is_not_null()).then(each).otherwise(column).alias(column)
            for column, each in columns.items()
        ]
    stated = count_relations.prepared(table.with_columns(changed).drop(new))
    return stated.with_columns(
        gpus=pl.coalesce(pl.col("stated_gpus").cast(pl.Int64, strict=False), "gpus")
    )
