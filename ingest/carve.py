"""From lines to regions: prefixes peeled, candidates found, one region per format.

A format sees the lines that hold one of its heads (`lines="single"`), or every line of a source in
which a head occurs (`lines="document"`). Finding heads is a literal scan over the whole column; all
else happens on what is left, so that a log of noise costs a scan and no more.
"""

from __future__ import annotations

from functools import cache

import polars as pl
from assay.ingest.parse import terminal
from assay.ingest.source import Source
from assay.ingest.types import Format, Line, Region

PREFIXES = (
    "HOST_RANK",
    "LOCAL_RANK",
    "HOST",
    "WORKER",
    "SRUN_RANK",
    "TIMESTAMP",
    "LEVEL",
    "LOCATION",
    "DASHED",
    "RANK",
    "STREAM",
    "LOGGER",
    "QUOTE",
)
"""Terminals of `common.lark` that may stand before a record, in any combination."""

PREFIX_COLUMNS = ("host", "rank", "timestamp")
_WHERE = {
    "host": (r"\[([A-Za-z][A-Za-z0-9._-]*):[0-9]+\]:", r"((?:[0-9]{1,3}\.){3}[0-9]{1,3}):"),
    "rank": (
        r"\[[A-Za-z][A-Za-z0-9._-]*:([0-9]+)\]:",
        r"\[default([0-9]+)\]",
        r"\[rank-?([0-9]+)",
        r"worker-([0-9]+):",
        r"(?:^|\s)([0-9]+):\s",
    ),
    "timestamp": (r"\[([0-9]{4}-?[0-9]{2}-?[0-9]{2}[ T][0-9:]{8}(?:[.,][0-9]+)?)\]",),
}


@cache
def prefix_pattern() -> str:
    """One regular expression for any run of prefixes, put together from `common.lark`."""
    alternatives = "|".join(f"(?:{terminal(name)})" for name in PREFIXES)
    return rf"^\s*(?:{alternatives})*\s*"


def candidates(source: Source, fmt: Format) -> pl.DataFrame:
    """The lines a format may look at: columns line and text; empty where no head occurs."""
    lines = source.lines.select("line", "text")
    hits = lines.filter(pl.col("text").str.contains_any(list(fmt.heads)))
    if fmt.opens is not None:
        hits = hits.filter(pl.col("text").str.contains(fmt.opens))
    if hits.is_empty() or fmt.lines == "single":
        return hits
    return lines


def peel(lines: pl.DataFrame) -> pl.DataFrame:
    """Take launcher and logger prefixes off: columns line, text, column, host, rank, timestamp.

    A line with a carriage return inside holds what a terminal would have overwritten: each part is
    a line of its own here, with the number of the line it stands in.
    """
    parted = _at_returns(lines)
    prefix = pl.col("text").str.extract(f"({prefix_pattern()})")
    width = prefix.str.len_chars().fill_null(0)
    return parted.with_columns(prefix=prefix, width=width).select(
        "line",
        pl.col("text").str.slice(pl.col("width")),
        column=(pl.col("offset") + pl.col("width") + 1).cast(pl.UInt32),
        **{
            name: pl.coalesce(*(pl.col("prefix").str.extract(pattern) for pattern in patterns))
            for name, patterns in _WHERE.items()
        },
    )


def _at_returns(lines: pl.DataFrame) -> pl.DataFrame:
    whole = lines.with_columns(offset=pl.lit(0, dtype=pl.UInt32))
    returned = pl.col("text").str.contains("\r", literal=True)
    torn = whole.filter(returned)
    if torn.is_empty():
        return whole
    rows = []
    for line, text, _ in torn.iter_rows():
        at = 0
        for part in text.split("\r"):
            rows.append((line, part, at))
            at += len(part) + 1
    parts = pl.DataFrame(rows, schema=whole.schema, orient="row")
    return pl.concat([whole.filter(~returned), parts]).sort("line", "offset")


def region(source: Source, peeled: pl.DataFrame) -> Region:
    """The peeled lines as `Line` values."""
    lines = [
        Line(line, text, column, {k: v for k, v in zip(PREFIX_COLUMNS, where, strict=True) if v})
        for line, text, column, *where in peeled.iter_rows()
    ]
    return Region(source, lines)
