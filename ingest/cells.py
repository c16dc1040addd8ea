"""Separator-delimited lines, vectorised: a header says the columns, polars splits the rows.

The fast path of the two engines: rows that split into as many cells as the header, none of them
quoted, become a raw frame at once; the others go to Lark, line by line. What a cell may hold is
proved later, against the terminal of its column, the same for both paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl


class Split(NamedTuple):
    """`raw`: line, column, one text column per name; `rest`: line and column of what Lark reads."""

    raw: pl.DataFrame
    rest: list[tuple[int, int]]


def split(lines: pl.DataFrame, names: Sequence[str], separator: str, quote: str = '"') -> Split:
    """Cells of `lines` (columns line, column, text) under `names`; blanks around cells are dropped.

    >>> lines = pl.DataFrame({"line": [2, 3], "column": [1, 1], "text": ["8, 9", "8"]})
    >>> split(lines, ["m", "n"], ",").raw.row(0), split(lines, ["m", "n"], ",").rest
    ((2, 1, '8', '9'), [(3, 1)])
    """
    whole = (pl.col("text").str.count_matches(separator, literal=True) == len(names) - 1) & ~(
        pl.col("text").str.contains(quote, literal=True)
    )
    fits = lines.filter(whole)
    raw = fits.select(
        pl.exclude("text"),
        pl.col("text").str.split_exact(separator, len(names) - 1).struct.rename_fields(list(names)),
    ).unnest("text")
    stripped = pl.col(list(names)).str.strip_chars()
    filled = pl.when(stripped.str.len_bytes() > 0).then(stripped).name.keep()
    return Split(raw.with_columns(filled), lines.filter(~whole).select("line", "column").rows())
