"""Readings put together, and a reading under another name.

Whatever the order in which inputs were read, what comes out is in the order of their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl
from assay.ingest.schema.acceptance import PROVENANCE
from assay.ingest.schema.reading import Outcome, Reading
from assay.ingest.schema.record import Code, Diagnostic, Span


def together(outcomes: Iterable[Outcome]) -> Outcome:
    """Many outcomes as one. A source that two of them hold is taken from the first, with a word."""
    readings: list[Reading] = []
    unreadable: list[Diagnostic] = []
    held: dict[str, str] = {}  # source → digest of its content
    for outcome in outcomes:
        unreadable += outcome.unreadable
        accounts = outcome.reading.accounting
        again = {a.source for a in accounts if a.source in held}
        unreadable += [twice(a.source) for a in accounts if held.get(a.source) != a.sha256
                       and a.source in again]  # fmt: skip
        held.update((a.source, a.sha256) for a in accounts if a.source not in again)
        readings.append(_without(outcome.reading, again) if again else outcome.reading)
    return Outcome(merge(readings), tuple(sorted(set(unreadable))))


def twice(name: str) -> Diagnostic:
    """Diagnostic for an input that is there twice with different content."""
    message = "is there twice, as an input and in an ingested folder; the first is taken"
    return Diagnostic(Span(name, 1), Code.UNREADABLE, message)


def _without(reading: Reading, sources: set[str]) -> Reading:
    kept = ~pl.col("source").is_in(sorted(sources))

    def others(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        return tuple(d for d in diagnostics if d.span.source not in sources)

    return Reading(
        frames={name: frame.filter(kept) for name, frame in reading.frames.items()},
        provenance=reading.provenance.filter(kept),
        refused=others(reading.refused),
        remarks=others(reading.remarks),
        accounting=tuple(a for a in reading.accounting if a.source not in sources),
        raw={span: text for span, text in reading.raw.items() if span.source not in sources},
        overridden=tuple(each for each in reading.overridden if each.source not in sources),
        formats=reading.formats,
        long=tuple(each for each in reading.long if each.source not in sources),
        statements=None if reading.statements is None else reading.statements.filter(kept),
    )


def merge(readings: Sequence[Reading]) -> Reading:
    """Many readings as one: frames concatenated, all sorted by source and line.

    Only one that stands alone may have streams.
    """
    names = sorted({name for reading in readings for name in reading.frames})
    frames = {
        name: _sorted([r.frames[name] for r in readings if name in r.frames], "source", "line")
        for name in names
    }
    parts = [r.provenance for r in readings] or [pl.DataFrame(schema=PROVENANCE)]
    overridden = (each for r in readings for each in r.overridden)
    said = [r.statements for r in readings if r.statements is not None]
    return Reading(
        frames=frames,
        provenance=_sorted(parts, "source"),
        refused=_by_source(d for r in readings for d in r.refused),
        remarks=_by_source(d for r in readings for d in r.remarks),
        accounting=tuple(
            sorted((a for r in readings for a in r.accounting), key=lambda a: a.source)
        ),
        raw={span: text for r in readings for span, text in r.raw.items()},
        overridden=tuple(sorted(overridden, key=lambda each: each.source)),
        formats=tuple({fmt.name: fmt for r in readings for fmt in r.formats}.values()),
        streams={name: stream for r in readings for name, stream in r.streams.items()},
        long=tuple(sorted((each for r in readings for each in r.long), key=lambda e: e.source)),
        statements=_sorted(said, "source") if said else None,
    )


def _sorted(parts: Sequence[pl.DataFrame], *by: str) -> pl.DataFrame:
    """Frames of several readings as one, in order; that of one reading is in order."""
    if len(parts) == 1:
        return parts[0]
    return pl.concat(parts, how="diagonal").sort(by, maintain_order=True)


def _by_source(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(diagnostics, key=lambda diagnostic: diagnostic.span.source))


def renamed(reading: Reading, name: str) -> Reading:
    """The reading of one source as it would be under another name.

    Besides the column `source`, an address `<name>#<line>` in a text column is the name's.
    """
    (account,) = reading.accounting
    old = account.source

    def moved(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        return tuple(d._replace(span=d.span._replace(source=name)) for d in diagnostics)

    return Reading(
        frames={frame: _readdressed(table, old, name) for frame, table in reading.frames.items()},
        provenance=_readdressed(reading.provenance, old, name),
        refused=moved(reading.refused),
        remarks=moved(reading.remarks),
        accounting=(replace(account, source=name),),
        raw={span._replace(source=name): text for span, text in reading.raw.items()},
        overridden=tuple(
            each._replace(source=name, at=each.at._replace(source=name))
            for each in reading.overridden
        ),
        formats=reading.formats,
        long=tuple(replace(each, source=name) for each in reading.long),
        statements=None
        if reading.statements is None
        else _readdressed(reading.statements, old, name),
    )


def _readdressed(frame: pl.DataFrame, old: str, new: str) -> pl.DataFrame:
    if frame.is_empty():
        return frame
    texts = [n for n, kind in frame.schema.items() if kind == pl.String and n != "source"]
    held = any(frame[name].str.contains(f"{old}#", literal=True).any() for name in texts)
    address, moved = f"^{re.escape(old)}#([0-9]+)$", new.replace("$", "$$") + "#${1}"
    told = [pl.col(texts).str.replace(address, moved)] if held else []
    return frame.with_columns(*told, source=pl.lit(new, pl.String))
