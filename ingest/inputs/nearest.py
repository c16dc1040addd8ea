"""Message where nothing was recognised: the formats tried, and the one that came nearest."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from assay.ingest.lines.candidates import opening
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
    misses = [
        miss
        for name in outcome.unrecognised
        if (miss := nearest(name, outcome.reading.formats)) is not None
    ]
    return said + (f"; nearest miss: {max(misses)[1]}" if misses else "")


def nearest(name: str, formats: Iterable[Format]) -> tuple[int, str] | None:
    """Lines of an input that hold a head of some format, most first; None where none does."""
    source = open_source(name)
    if isinstance(source, Diagnostic):
        return None
    count: dict[str, int] = {}
    first: dict[str, int] = {}
    opened = {fmt.name for fmt in formats if fmt.lines == "single" or fmt.opens is None}
    for block in source.blocks():
        for fmt in (each for each in formats if each.heads and not each.behind):
            held = block.lines.filter(pl.col("text").str.contains_any(list(fmt.heads)))
            if not held.height:
                continue
            count[fmt.name] = count.get(fmt.name, 0) + held.height
            first.setdefault(fmt.name, held["line"][0])
            if fmt.name not in opened and opening(held["text"], fmt):
                opened.add(fmt.name)
    found = [
        (
            many,
            f"{fmt} ({many:,} {'line holds' if many == 1 else 'lines hold'} one of its heads, the "
            f"first at {name}:{first[fmt]}, but none is a record)",
        )
        for fmt, many in count.items()
        if fmt in opened
    ]
    return max(found, default=None)
