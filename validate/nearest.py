"""What to say where nothing was recognised: the formats tried, and the one that came nearest."""

from __future__ import annotations

from collections.abc import Iterable

from assay.ingest.carve import candidates
from assay.ingest.read import Outcome
from assay.ingest.source import open_source
from assay.ingest.types import Diagnostic, Format


def unrecognised(outcome: Outcome) -> str:
    """One sentence or two: how many lines, which formats, and the nearest miss if there is one."""
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
    found = []
    for fmt in formats:
        hits = candidates(source.lines, fmt)
        heads = hits.filter(hits["text"].str.contains_any(list(fmt.heads))) if len(hits) else hits
        if len(heads):
            word = "line holds" if len(heads) == 1 else "lines hold"
            found.append(
                (
                    len(heads),
                    f"{fmt.name} ({len(heads):,} {word} one of its heads, the first at "
                    f"{name}:{heads['line'][0]}, but none is a record)",
                )
            )
    return max(found, default=None)
