"""Plots before they are drawn: words, table, and how to draw; and thinned points, where there
are too many to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl
from assay.validate.report.layout import Table
from assay.validate.score.accuracy import TRUE
from assay.validate.score.assess import Report

MOST_POINTS = 1500
"""Marks of one plot; the eye sees no more, and the file stays small."""

MOST_ROWS = 200
"""Rows of the table of a plot."""


@dataclass(frozen=True)
class Plot:
    """A drawing, what it shows, and the same as a table. `chart` needs the extra `plots`."""

    title: str
    about: str
    table: Table
    chart: Callable[[], Any]


def thinned(frame: pl.DataFrame, by: str, most: int = MOST_POINTS) -> tuple[pl.DataFrame, str]:
    """At most `most` rows, evenly over the order of `by`, and the words that say so.

    The first and the last stay. Nothing is said where nothing was left out.
    """
    if frame.height <= most:
        return frame, ""
    ordered = frame.sort(by, maintain_order=True).with_row_index("at")
    step = (frame.height - 1) / (most - 1)
    kept = ordered[sorted({round(step * n) for n in range(most)})].drop("at")
    return kept, f" {most:,} of {frame.height:,} points are drawn, evenly over the sizes."


def first_rows(rows: list[list[str]], most: int = MOST_ROWS) -> list[list[str]]:
    """The rows a table shows, the last of them counting the rest."""
    return counted(rows[:most], len(rows))


def counted(rows: list[list[str]], every: int) -> list[list[str]]:
    """The rows, and one that counts what is left of `every`."""
    if len(rows) >= every or not rows:
        return rows
    rest = f"… {every - len(rows):,} more in the JSON report"
    return [*rows, [rest, *[""] * (len(rows[0]) - 1)]]


def short_names(names: Iterable[str], most: int) -> dict[str, str]:
    """Names without the folders that all share, cut at the front, still one of a kind.

    >>> short_names(["runs/a/x.log", "runs/b/x.log"], 20)
    {'runs/a/x.log': 'a/x.log', 'runs/b/x.log': 'b/x.log'}
    """
    names = list(dict.fromkeys(names))
    parts = [name.split("/") for name in names]
    shared = 0
    while all(len(part) > shared + 1 for part in parts) and len({p[shared] for p in parts}) == 1:
        shared += 1
    found: dict[str, str] = {}
    for name, part in zip(names, parts, strict=True):
        text = "/".join(part[shared:])
        text = text if len(text) <= most else f"…{text[-most:]}"
        while text in found.values():
            text += "′"
        found[name] = text
    return found


def models(report: Report) -> list[str]:
    """Models scored against truth, in one order for all plots: baselines after the others."""
    baselines = {model.name for model in report.models if model.baseline}
    scored = report.scored.filter(pl.col("origin").is_in(TRUE))["model"].unique().sort().to_list()
    known = dict.fromkeys(model.name for model in report.models)
    named = [*(name for name in known if name in scored),
             *(name for name in scored if name not in known)]  # fmt: skip
    return sorted(named, key=lambda name: name in baselines)


def judged(report: Report, pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs of models that are no baselines; all pairs where there are only baselines."""
    baselines = sorted({model.name for model in report.models if model.baseline})
    own = pairs.filter(~pl.col("model").is_in(baselines))
    return pairs if own.is_empty() else own
