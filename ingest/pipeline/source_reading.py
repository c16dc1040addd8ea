"""One input through all formats: what they make of it is typed, checked and accounted for.

In: a source. Out: its `Reading`: validated frames with their provenance, refusals, the account of
its lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import polars as pl
from assay.ingest.binding.bound_rows import bound_provenance, contradicted
from assay.ingest.binding.comparing import overridden as contradicting
from assay.ingest.binding.restate import restated
from assay.ingest.binding.statement_frame import statement_frame
from assay.ingest.lines.rows import BoundRows, Stream, types_of
from assay.ingest.pipeline.folding import Carved, carved
from assay.ingest.pipeline.ledger import account
from assay.ingest.pipeline.merge import merge
from assay.ingest.pipeline.scan import Engine
from assay.ingest.schema.acceptance import (
    PROVENANCE,
    Place,
    accept,
    alike_frame,
    alike_provenance,
    complete,
    provenance,
    raw_frame,
)
from assay.ingest.schema.format import Folded, Format, Made
from assay.ingest.schema.reading import Accounting, Overridden, Reading
from assay.ingest.schema.record import Cell, Record, Schema, Span
from assay.ingest.source.opening import Source


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
    read for as long as the folder is there. What is no text of lines is read by its own format.
    """
    if (known := met(source, formats, assumed or {})) is not None:
        return made_together([known], formats)
    return finished(carved(source, formats, assumed, engine=engine, spool=spool), formats)


class Met(NamedTuple):
    """An input that is no text of lines, and what the first format that knows it made of it."""

    source: Source
    fmt: Format
    made: Made
    assumed: Mapping[str, Cell]


def met(source: Source, formats: Sequence[Format], assumed: Mapping[str, Cell]) -> Met | None:
    """An input that is no text of lines, as the first format knows it; None of one that is."""
    for fmt in formats:
        if fmt.read is not None and (made := fmt.read(source)) is not None:
            return Met(source, fmt, made, assumed)
    return None


def made_together(found: Sequence[Met], formats: Sequence[Format]) -> Reading:
    """The reading of such inputs: the records of those of which the same is assumed at once."""
    alike: dict[object, list[Met]] = {}
    for each in found:
        alone = None if each.made.records else each.source.name
        alike.setdefault((alone, tuple(sorted(each.assumed.items()))), []).append(each)
    parts = (restated(_made(those, formats), those[0].assumed) for those in alike.values())
    return merge([*parts])


def _made(found: Sequence[Met], formats: Sequence[Format]) -> Reading:
    """Typed and checked frames of what formats made, and the account of each input.

    Only an input that stands alone may have frames already.
    """
    frames = {name: frame for each in found for name, frame in each.made.frames.items()}
    refused = [fault for each in found for fault in each.made.refused]
    remarks = [remark for each in found for remark in each.made.remarks]
    lost: Counter[str] = Counter()  # by the name of the input
    for fmt in formats:
        mine = [(met.source.name, one) for met in found if met.fmt is fmt
                for one in met.made.records]  # fmt: skip
        for at, (name, schema) in enumerate(fmt.schemas.items() if mine else ()):
            rows = [each for each in mine if (each[1].frame or ("" if at else name)) == name]
            if not rows:
                continue
            sources, records = [source for source, _ in rows], [record for _, record in rows]
            raw = complete(raw_frame(sources, records, schema))
            taken = accept(raw, schema, _cells(records))
            frames[name] = taken.frame.sort("source", "line", maintain_order=True)
            refused += taken.refused
            remarks += taken.emptied.values()
            lost.update(sources[row] for row in taken.bad)
    return Reading(
        frames=frames,
        provenance=pl.DataFrame(schema=PROVENANCE),
        refused=tuple(refused),
        remarks=tuple(remarks),
        accounting=tuple(_account(each, lost[each.source.name]) for each in found),
        raw={span: text for each in found for span, text in each.made.raw.items()},
        formats=tuple(formats),
    )


def _account(met: Met, lost: int) -> Accounting:
    """The account of an input of which so many records were refused by types and checks."""
    made = met.made
    refused = len(made.refused) + lost
    return Accounting(
        source=met.source.name,
        sha256=met.source.sha256,
        lines=made.claimed + made.not_ours + len(made.refused),
        claimed=made.claimed - lost,
        refused=refused,
        blank=0,
        not_ours=made.not_ours,
        of="event",
    )


def _cells(records: Sequence[Record]) -> Place:
    """Where each cell stands, on whichever line of its record."""

    def place(row: int, name: str) -> tuple[int, int] | None:
        cell = records[row].cells.get(name)
        return (cell.line, cell.column) if cell else None

    return place


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
    bound = (_bound(source, name, stream, rows, formats) for name, stream in streams.items())
    origin = pl.concat([pl.concat(origins).filter(lost), *bound]).sort(by, maintain_order=True)
    if not found.spooled:
        whole = {name: stream.whole() for name, stream in streams.items()}
        if ledger.refused:
            whole = {name: frame.filter(lost) for name, frame in whole.items()}
        streams = {}
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
        statements=statement_frame([(source.name, carved.statements)]),
    )


def _order(folds: Sequence[tuple[Format, Folded]]) -> list[str]:
    return [name for fmt, _ in folds for name in fmt.schemas]


def _stream(frame: pl.DataFrame, rows: Sequence[BoundRows], schema: Schema) -> Stream:
    """The rows of one frame in order: those that the fold gave and those of the columns."""
    height = frame.height + sum(run.height for run in rows)
    types = types_of(schema)
    others = frame if frame.width else pl.DataFrame(schema=types)
    return Stream(types, rows, others, lambda run: run.frame, height)


def _bound(
    source: Source,
    name: str,
    stream: Stream,
    rows: Mapping[str, Sequence[BoundRows]],
    formats: Sequence[Format],
) -> pl.DataFrame:
    """Provenance of what was bound to the columns of one frame."""
    fmt = next(fmt for fmt in formats if name == next(iter(fmt.schemas)))
    return bound_provenance(
        source.name, name, rows[fmt.name], stream.others["line"], fmt.schemas[name]
    )


def overridden(
    source: Source, fmt: Format, folded: Folded, rows: Sequence[BoundRows]
) -> list[Overridden]:
    """Where rows print something else than statements that speak for them say."""
    main = next(iter(fmt.schemas))
    found = [
        Overridden(source.name, row.line, row.frame or main, name,
                   float(cell.text) * cell.scale, Span(source.name, cell.line, cell.column))
        for record in folded.records
        for row in (record.each() if record.overridden else ())
        for name, cell in contradicting(row, record.overridden).items()
    ]  # fmt: skip
    found += contradicted(source.name, main, rows, fmt.schemas[main])
    return sorted(found, key=lambda each: each.line)


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
    many = [(source, record) for source, record in held if record.alike]
    held = [(source, record) for source, record in held if not record.alike]
    raws = [raw_frame([source for source, _ in held], [r for _, r in held], schema)] if held else []
    raws += [alike_frame(source, record, schema) for source, record in many]
    if name == main:
        for each, folded in sources:
            stands = ~pl.col("line").is_in(sorted(each.ledger.refused))
            raws += [raw.filter(stands) for raw in folded.raw]
    if not raws:
        return pl.DataFrame(), pl.DataFrame(schema=PROVENANCE)
    raw = pl.concat(map(complete, raws), how="diagonal")
    taken = accept(raw, schema, _places([record for _, record in [*held, *many]]))
    ledgers = {each.source.name: each.ledger for each, _ in sources}
    shared = taken.frame.filter(pl.col("line").is_in(raw["line"].gather(taken.rows).implode()))
    beside = set(shared.select("source", "line").iter_rows())
    lost: set[tuple[str, int]] = set()
    for fault, row in zip(taken.refused, taken.rows, strict=True):
        source, line = raw["source"][row], raw["line"][row]
        if (source, line) in beside:
            ledgers[source].remarks.append(fault.of_one())
            continue
        ledgers[source].diagnostics.append(fault)
        lost.add((source, line))
    for (row, empty), remark in taken.emptied.items():
        ledgers[remark.span.source].remarks.append(remark)
        if row < len(held):
            held[row][1].cells.pop(empty, None)
    for source, line in lost:
        ledgers[source].claimed.pop(line, None)
        ledgers[source].refused[line] = fmt.name
    kept = [each for row, each in enumerate(held) if row not in taken.bad]
    frame = taken.frame.sort("source", "line", maintain_order=True)
    origin = provenance(name, kept, schema)
    if many:
        said = [alike_provenance(source, name, record, schema) for source, record in many]
        spared = [(*raw.select("source", "line").row(row), of) for row, of in taken.emptied]
        gone = pl.DataFrame(spared, _EMPTIED, orient="row")
        stand = pl.concat(said).join(gone, on=list(_EMPTIED), how="anti", maintain_order="left")
        bad = pl.DataFrame(sorted(lost), _LOST, orient="row")
        stand = stand.join(bad, on=list(_LOST), how="anti", maintain_order="left")
        origin = pl.concat([origin, stand])
    return frame, origin


_LOST = {"source": pl.String, "line": pl.UInt32}

_EMPTIED = {**_LOST, "field": pl.String}


def _places(records: Sequence[Record]) -> Place:
    """Where the cells of the first rows stand, those made of records; None for the others.

    What a row has from a line above it is refused where the row stands: one line of several rows
    cannot be refused once for each.
    """

    ends = list(accumulate(len(each.alike.lines) if each.alike else 1 for each in records))

    def place(row: int, name: str) -> tuple[int, int] | None:
        at = bisect_right(ends, row)
        record = records[at] if at < len(records) else None
        cell = record.cells.get(name) if record else None
        if record is None or cell is None or not cell.line or cell.value_origin != "printed":
            return None
        if record.alike and cell.line == record.line:
            nth = row - (ends[at - 1] if at else 0)
            return int(record.alike.lines[nth]), record.alike.place(nth, name)
        return cell.line, cell.column

    return place
