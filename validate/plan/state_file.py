"""A side file for an input: what was understood of its configuration, and what is missing.

In: what was read and understood of one input. Out: TOML whose values are commented out, each with
where it comes from; what a prediction needs and nobody says stands last, with who prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath

import polars as pl
from assay.validate.cases.cases import CONFIGURED, Cases
from assay.validate.predict.models import STEP_NEEDS
from assay.validate.predict.required import hint

MOST = 4
"""Values of one column that are listed where runs differ."""

NEEDED = (*("gpu" if name == "machine" else name for name in STEP_NEEDS), "recompute")


def state(cases: Cases, source: str) -> str:
    """The side file of one source, as text.

    Raises LookupError where nothing in it says what ran.
    """
    wide = cases.configuration.filter(pl.col("source") == source)
    if wide.is_empty():
        raise LookupError(f"{source}: no run was found whose configuration could be stated")
    name = PurePosixPath(source)
    lines = [
        f"# What was understood of {name.name}, and what is missing, of {wide.height:,} rows.",
        f"# As {name.stem}.toml beside it, what is not commented out fills what the input leaves",
        "# open; `--set KEY=VALUE` overrules what it prints.",
        "[configuration]",
        *_known(cases, wide),
        *_missing(wide),
    ]
    return "\n".join(lines) + "\n"


def _known(cases: Cases, wide: pl.DataFrame) -> Iterator[str]:
    """A line for every column that some row has: its value, or its values, with their origin."""
    origins = cases.origins.filter(pl.col("case").is_in(wide["case"].implode()))
    for name in CONFIGURED:
        held = wide[name].drop_nulls()
        if held.is_empty():
            continue
        counts = held.value_counts(sort=True).sort("count", name, descending=[True, False])
        of = "" if len(held) == wide.height else f", of {len(held):,} rows"
        if counts.height == 1:
            value = _toml(counts[name][0])
            yield f"# {name} = {value}  # {_origin(origins, name)}{of}"
            continue
        said = [f"{_toml(value)} ({rows:,} rows)" for value, rows in counts.head(MOST).iter_rows()]
        more = counts.height - MOST
        rest = f" and {more} more" if more > 0 else ""
        yield f"# {name} differs: {', '.join(said)}{rest}{of}"


def _origin(origins: pl.DataFrame, name: str) -> str:
    """Where the values of a column come from: the most frequent origin, its law or its line."""
    mine = origins.filter(pl.col("name") == name)
    if mine.is_empty():
        return "not told"
    said = mine.group_by("value_origin", "law", maintain_order=True).agg(
        pl.len(), line=pl.col("line").min()
    )
    first = said.sort("len", descending=True, maintain_order=True).row(0, named=True)
    if first["law"]:
        return f"{first['value_origin']}: {first['law']}"
    return f"{first['value_origin']}, first in line {first['line']}"


def _missing(wide: pl.DataFrame) -> Iterator[str]:
    """Fields that a prediction of a step needs and some row lacks, with who prints each."""
    for name in NEEDED:
        lacks = wide[name].null_count()
        if name == "gpu":
            lacks = wide["machine"].null_count()
        if not lacks:
            continue
        rows = "" if lacks == wide.height else f" of {lacks:,} rows"
        yield f"# missing{rows}: {hint('machine' if name == 'gpu' else name)}"
        yield f"# {name} = "


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
