"""One input through all formats: carve, fold, bind, accept, account.

Every line of the input ends in exactly one of four sums: claimed, refused, blank, not ours. Nothing
here knows a format; formats are data and a fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import polars as pl
from assay.ingest.accept import (
    PROVENANCE,
    Place,
    accept,
    complete,
    provenance,
    raw_frame,
)
from assay.ingest.binding import bind
from assay.ingest.bound_rows import (
    UnlikeError,
    bind_rows,
    bound_provenance,
    contradicted,
    unbound,
)
from assay.ingest.carve import candidates, peel, region
from assay.ingest.context import read_context
from assay.ingest.ledger import Ledger, account
from assay.ingest.repeats import superseded
from assay.ingest.rows import BoundRows, Rows, Stream, types_of
from assay.ingest.scan import Engine, Scan, scan
from assay.ingest.source import Source
from assay.ingest.types import (
    Cell,
    Code,
    Diagnostic,
    Folded,
    Format,
    Overridden,
    Reading,
    Record,
    Region,
    Schema,
    Span,
)


@dataclass
class Carved:
    """One source on its way: what the formats made of it, and what became of its lines."""

    source: Source
    found: Scan
    folds: list[tuple[Format, Folded]]
    rows: dict[str, list[BoundRows]]
    ledger: Ledger


def read_source(
    source: Source,
    formats: Sequence[Format],
    assumed: Mapping[str, Cell] | None = None,
    *,
    engine: Engine = "auto",
    spool: Path | None = None,
) -> Reading:
    """Read one source with the given formats; `assumed` are values of a side file or the caller.

    With a folder `spool`, rows of a long input are kept there and come as `streams`, which can be
    read for as long as the folder is there.
    """
    return finished(carved(source, formats, assumed, engine=engine, spool=spool), formats)


def carved(
    source: Source,
    formats: Sequence[Format],
    assumed: Mapping[str, Cell] | None = None,
    *,
    engine: Engine = "auto",
    spool: Path | None = None,
) -> Carved:
    """Everything about one source but types and checks of the records that folds gave."""
    found = scan(source, formats, engine, spool)
    try:
        return folded(source, found, formats, assumed or {})
    except UnlikeError:
        return folded(source, scan(source, formats, "folds"), formats, assumed or {})


def folded(
    source: Source, found: Scan, formats: Sequence[Format], assumed: Mapping[str, Cell]
) -> Carved:
    """What the formats make of a source that has been scanned."""
    ledger = Ledger(remarks=list(source.remarks))
    for fault in source.refused:
        ledger.refused[fault.span.line] = "source"
        ledger.diagnostics.append(fault)
    folds = [(fmt, folded) for fmt in formats if (folded := _folded(source, found, fmt, ledger))]
    rows = _bind(source, found, folds, assumed, ledger)
    for fmt, folded in folds:
        if fmt.repeats:
            _mark_repeats(source, fmt, folded.records, rows, ledger)
    return Carved(source, found, folds, rows, ledger)


def finished(carved: Carved, formats: Sequence[Format]) -> Reading:
    """Types and checks of what was carved: the reading of one source."""
    source, found, folds, rows, ledger = (
        carved.source, carved.found, carved.folds, carved.rows, carved.ledger,
    )  # fmt: skip
    frames: dict[str, pl.DataFrame] = {}
    streams: dict[str, Stream] = {}
    origins = [pl.DataFrame(schema=PROVENANCE)]
    for fmt, folded in folds:
        for name, schema in fmt.schemas.items():
            frame, origin = accepted([(carved, folded)], fmt, name, schema)
            origins.append(origin)
            mine = rows.get(fmt.name, []) if name == next(iter(fmt.schemas)) else []
            if mine:
                streams[name] = _stream(frame, mine, schema)
            elif frame.height or origin.height:
                frames[name] = frame
    lost = ~pl.col("line").is_in(sorted(ledger.refused))  # by a format whose turn came later
    frames = {name: frame.filter(lost) for name, frame in frames.items()}
    streams = {name: stream.only(lost) for name, stream in streams.items()}
    by = ("source", "line", "frame", "field")
    origin = pl.concat(origins).filter(lost).sort(by)
    streams |= _origins(source, folds, rows, origin)
    if not found.spooled:
        whole = {name: stream.whole().filter(lost) for name, stream in streams.items()}
        origin, streams = whole.pop("provenance", origin), {}
        frames = {name: (frames | whole)[name] for name in _order(folds) if name in frames | whole}
    return Reading(
        frames=frames,
        provenance=origin,
        refused=tuple(sorted(ledger.diagnostics, key=lambda d: d.span)),
        remarks=tuple(sorted(ledger.remarks, key=lambda d: d.span)),
        accounting=(account(source, found, ledger),),
        raw={d.span: found.raw(d.span.line) for d in ledger.diagnostics},
        overridden=tuple(
            each
            for fmt, folded in folds
            for each in overridden(source, fmt, folded, rows.get(fmt.name, []))
        ),
        formats=tuple(formats),
        streams=streams,
    )


def _order(folds: Sequence[tuple[Format, Folded]]) -> list[str]:
    return [name for fmt, _ in folds for name in fmt.schemas]


def _stream(frame: pl.DataFrame, rows: Sequence[BoundRows], schema: Schema) -> Stream:
    """The rows of one frame in order: those that the fold gave and those of the columns."""
    height = frame.height + sum(run.height for run in rows)
    types = types_of(schema)
    others = frame if frame.width else pl.DataFrame(schema=types)
    held = {name for run in rows for name in run.columns}
    held |= {column.name for column in others if column.null_count() < others.height}
    empty = [name for name in types if name not in held]
    return Stream(types, rows, others, lambda run: run.frame, height, empty=empty)


def _origins(
    source: Source,
    folds: Sequence[tuple[Format, Folded]],
    rows: Mapping[str, Sequence[BoundRows]],
    others: pl.DataFrame,
) -> dict[str, Stream]:
    """Provenance of everything, if columns were bound to."""
    of = {
        run: (next(iter(fmt.schemas.items())))
        for fmt, _ in folds
        for run in rows.get(fmt.name, [])
        if run.bound
    }
    if not of:
        return {}
    height = others.height + sum(run.height * len(run.bound) for run in of)

    def frame_of(run: BoundRows) -> pl.DataFrame:
        return bound_provenance(source.name, of[run][0], run, of[run][1])

    by = ("source", "line", "frame", "field")
    return {"provenance": Stream(PROVENANCE, list(of), others, frame_of, height, by)}


def _mark_repeats(
    source: Source,
    fmt: Format,
    records: Sequence[Record],
    rows: dict[str, list[BoundRows]],
    ledger: Ledger,
) -> None:
    lines, remarks = superseded(fmt, source.name, records, rows.get(fmt.name, []))
    ledger.remarks += remarks
    if lines:
        rows[fmt.name] = [replace(run, again=frozenset(lines)) for run in rows[fmt.name]]


def overridden(
    source: Source, fmt: Format, folded: Folded, rows: Sequence[BoundRows]
) -> list[Overridden]:
    main = next(iter(fmt.schemas))
    found = [
        Overridden(source.name, record.line, record.frame or main, name,
                   float(cell.text) * cell.scale, Span(source.name, cell.line, cell.column))
        for record in folded.records
        for name, cell in record.overridden.items()
    ]  # fmt: skip
    found += contradicted(source.name, main, rows, fmt.schemas[main])
    return sorted(found, key=lambda each: each.line) if rows else found


def _folded(source: Source, found: Scan, fmt: Format, ledger: Ledger) -> Folded | None:
    """What a format makes of a source; a line that another format has is ambiguous."""
    rows = found.rows.get(fmt.name, [])
    seen = _seen_by(source, found, fmt)
    if not seen.lines and not rows:
        return None
    folded = fmt.fold(seen)
    for line, column in _seen(found, rows):
        folded.claimed.add(line)
        if folded.parts is not None:
            folded.parts.add((line, column))
    double = _double(fmt, folded, ledger)
    for line in double:
        other = ledger.claimed.pop(line)
        message = f"claimed by {other} and by {fmt.name}; neither is believed"
        ledger.diagnostics.append(Diagnostic(Span(source.name, line), Code.AMBIGUOUS, message))
        ledger.refused[line] = fmt.name
    for line in folded.claimed - set(double) - ledger.refused.keys():
        ledger.claimed[line] = fmt.name
    for fault in folded.refused:
        if fault.span.line not in double:
            ledger.refused[fault.span.line] = fmt.name
            ledger.diagnostics.append(fault)
            ledger.claimed.pop(fault.span.line, None)
    ledger.blank |= folded.blank
    ledger.remarks += folded.remarks
    return folded


def _seen_by(source: Source, found: Scan, fmt: Format) -> Region:
    """The lines that a format looks at."""
    if found.regions:
        return found.regions[fmt.glued] if fmt.name in found.met else Region(source, ())
    single = fmt.lines == "single"
    hits = candidates(found.lines, fmt) if single else found.lines.filter(fmt.name in found.met)
    if hits.is_empty():
        return Region(source, (), found.read)
    return region(source, peel(hits, glued=fmt.glued), found.read)


def _seen(found: Scan, rows: Sequence[Rows]) -> Iterable[tuple[int, int]]:
    """Rows whose lines another format may look at too: line and column."""
    if not found.met:
        return
    for each in rows:
        yield from each.frame.select("line", "column").iter_rows()


def _double(fmt: Format, folded: Folded, ledger: Ledger) -> list[int]:
    """Lines that another format has claimed too, unless each holds a part of its own there."""
    mine = folded.parts or set()
    lines = folded.claimed | {d.span.line for d in folded.refused}
    double = lines & ledger.claimed.keys()
    if folded.parts is not None:
        both = {line for line, column in mine if (line, column) in ledger.parts}
        whole = ledger.claimed.keys() - {line for line, _ in ledger.parts}
        double = (double & both) | (double & whole)
    ledger.parts |= mine
    return sorted(double)


def _bind(
    source: Source,
    found: Scan,
    folds: Sequence[tuple[Format, Folded]],
    assumed: Mapping[str, Cell],
    ledger: Ledger,
) -> dict[str, list[BoundRows]]:
    """Bind configuration outside the records; the lines that were used are claimed."""
    rows = {fmt.name: [unbound(each) for each in found.rows.get(fmt.name, [])] for fmt, _ in folds}
    binding = [(fmt, folded) for fmt, folded in folds if fmt.binds]
    if not any(folded.records or rows[fmt.name] for fmt, folded in binding):
        return rows
    text = pl.col("text")
    worth = found.lines.filter(
        text.str.contains(r"[=:]\s*\S|^\s*#")
        | text.str.contains(r"(?i)[0-9]\s*(?:node|replica|gpu)")
    )
    taken = ledger.claimed.keys() | ledger.refused.keys() | ledger.blank | found.read
    context = read_context(source.name, region(source, peel(worth)).lines, set(taken), assumed)
    context.statements += chain.from_iterable(f.statements for _, f in folds)
    context.statements.sort(key=lambda statement: statement.line)
    bind(chain.from_iterable(folded.records for _, folded in binding), context)
    for fmt, _ in binding:
        if fmt.name in found.rows:
            main = next(iter(fmt.schemas.values()))
            rows[fmt.name] = bind_rows(found.rows[fmt.name], context, main)
    for line in context.used:
        ledger.claimed[line] = "context"
    return rows


def accepted(
    sources: Sequence[tuple[Carved, Folded]], fmt: Format, name: str, schema: Schema
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The accepted rows of one frame and their provenance; refused rows go to the ledgers."""
    main = next(iter(fmt.schemas))
    held = [
        (each.source.name, record)
        for each, folded in sources
        for record in folded.records
        if (record.frame or main) == name and record.line not in each.ledger.refused
    ]
    raws = [raw_frame([source for source, _ in held], [r for _, r in held], schema)] if held else []
    if name == main:
        for each, folded in sources:
            stands = ~pl.col("line").is_in(sorted(each.ledger.refused))
            raws += [raw.filter(stands) for raw in folded.raw]
    if not raws:
        return pl.DataFrame(), pl.DataFrame(schema=PROVENANCE)
    raw = pl.concat(map(complete, raws), how="diagonal")
    taken = accept(raw, schema, _places([record for _, record in held]))
    ledgers = {each.source.name: each.ledger for each, _ in sources}
    for fault in taken.refused:
        ledgers[fault.span.source].diagnostics.append(fault)
    lost = {(raw["source"][row], raw["line"][row]) for row in taken.bad}
    for source, line in lost:
        ledgers[source].claimed.pop(line, None)
        ledgers[source].refused[line] = fmt.name
    kept = [(source, record) for source, record in held if (source, record.line) not in lost]
    frame = taken.frame.sort("source", "line", maintain_order=True)
    return frame, provenance(name, kept, schema)


def _places(records: Sequence[Record]) -> Place:
    """Where the cells of the first rows stand, those made of records; None for the others.

    What a row has from a line above it is refused where the row stands: one line of several rows
    cannot be refused once for each.
    """

    def place(row: int, name: str) -> tuple[int, int] | None:
        cell = records[row].cells.get(name) if row < len(records) else None
        own = cell and cell.line and cell.value_origin == "printed"
        return (cell.line, cell.column) if cell and own else None

    return place


__all__ = ["Carved", "Region", "carved", "finished", "read_source"]
