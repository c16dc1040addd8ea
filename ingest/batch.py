"""Many small sources at once: what costs by the query is done once for all of them.

In: sources as `carved` leaves them. Out: one reading, the same as of each alone, put together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
from assay.ingest.accept import PROVENANCE
from assay.ingest.carved import Carved
from assay.ingest.ledger import account
from assay.ingest.merge import merge
from assay.ingest.pipeline import accepted, finished, overridden
from assay.ingest.types import Diagnostic, Format, Reading, Span


def finished_together(sources: Sequence[Carved], formats: Sequence[Format]) -> Reading:
    """Types and checks of many sources; those with rows of columns are finished by themselves."""
    apart = [each for each in sources if any(each.rows.values())]
    others = [each for each in sources if not any(each.rows.values())]
    return merge([_records(others, formats), *(finished(each, formats) for each in apart)])


def _records(sources: Sequence[Carved], formats: Sequence[Format]) -> Reading:
    frames: dict[str, pl.DataFrame] = {}
    origins = [pl.DataFrame(schema=PROVENANCE)]
    for fmt in formats:
        mine = [(each, folded) for each in sources for one, folded in each.folds if one is fmt]
        for name, schema in fmt.schemas.items() if mine else ():
            frame, origin = accepted(mine, fmt, name, schema)
            origins.append(origin)
            if frame.height or origin.height:
                frames[name] = frame
    left = _standing(sources)  # lines may be refused by a format whose turn came later
    return Reading(
        frames={name: left(frame) for name, frame in frames.items()},
        provenance=left(pl.concat(origins)).sort("source", "line", "frame", "field"),
        refused=tuple(d for e in sources for d in sorted(e.ledger.diagnostics, key=_place)),
        remarks=tuple(d for e in sources for d in sorted(e.ledger.remarks, key=_place)),
        accounting=tuple(account(each.source, each.found, each.ledger) for each in sources),
        raw={
            d.span: each.found.raw(d.span.line) for each in sources for d in each.ledger.diagnostics
        },
        overridden=tuple(
            said
            for each in sources
            for fmt, folded in each.folds
            for said in overridden(each.source, fmt, folded, [])
        ),
        formats=tuple(formats),
    )


def _place(diagnostic: Diagnostic) -> Span:
    return diagnostic.span


def _standing(sources: Sequence[Carved]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """What takes the rows of refused lines out of a frame."""
    lost = [(each.source.name, line) for each in sources for line in each.ledger.refused]
    if not lost:
        return lambda frame: frame
    types = {"source": pl.String, "line": pl.UInt32}
    bad = pl.DataFrame(lost, schema=types, orient="row")
    return lambda frame: frame.join(bad, on=list(types), how="anti", maintain_order="left")
