"""Message where nothing was recognised: the formats tried, and the one that came nearest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl
from assay.ingest.lines.candidates import opens
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Outcome
from assay.ingest.schema.record import Diagnostic
from assay.ingest.source.opening import open_source


def unrecognised(outcome: Outcome) -> str:
    """One sentence or two: how many lines, which formats, and the nearest miss if there is one."""
    if outcome.empty and set(outcome.unrecognised) == outcome.empty:
        names = sorted(outcome.empty)
        return f"nothing to read: {', '.join(names)} {'are' if len(names) > 1 else 'is'} empty"
    lines = sum(account.lines for account in outcome.reading.accounting)
    tried = ", ".join(fmt.name for fmt in outcome.reading.formats)
    said = f"recognised 0 of {lines:,} line{'' if lines == 1 else 's'}; tried {tried}"
    misses = list(_misses(outcome.unrecognised, outcome.reading.formats))
    return said + (f"; nearest miss: {max(misses)[1]}" if misses else "")


def _misses(names: Iterable[str], formats: Sequence[Format]) -> Iterator[tuple[int, str]]:
    """How many lines of an input hold a head of a format that opens there, and a sentence on it."""
    asked = [fmt for fmt in formats if fmt.heads and not fmt.behind]
    found: dict[tuple[str, str], tuple[int, int]] = {}  # format and input: lines, the first of them
    opened: set[tuple[str, str]] = set()
    for texts in _texts(names):
        for fmt in asked:
            held = texts.filter(pl.col("text").str.contains_any(list(fmt.heads)))
            if not held.height:
                continue
            lines = held.group_by("source").agg(pl.len(), first=pl.col("line").min())
            for name, many, first in lines.iter_rows():
                before = found.get((fmt.name, name), (0, first))
                found[fmt.name, name] = before[0] + many, before[1]
            sure = fmt.lines == "single" or fmt.opens is None
            open_ = held if sure else held.filter(opens(held["text"], fmt))
            opened |= {(fmt.name, name) for name in open_["source"].unique()}
    for (fmt_name, name), (many, first) in found.items():
        if (fmt_name, name) in opened:
            hold = "line holds" if many == 1 else "lines hold"
            where = f"the first at {name}:{first}, but none is a record"
            yield many, f"{fmt_name} ({many:,} {hold} one of its heads, {where})"


ENOUGH = 4 * 2**20
"""Bytes that are searched together: a search costs as much as many lines of small inputs do."""


def _texts(names: Iterable[str]) -> Iterator[pl.DataFrame]:
    """The lines of inputs (source, line, text): of many small ones, or of a block of a large."""
    held: list[pl.DataFrame] = []
    size = 0
    for name in names:
        source = open_source(name)
        if isinstance(source, Diagnostic):
            continue
        for block in source.blocks():
            held.append(block.lines.select(pl.lit(name).alias("source"), "line", "text"))
            size += len(block.data)
            if size > ENOUGH:
                yield pl.concat(held)
                held, size = [], 0
    if held:
        yield pl.concat(held)
