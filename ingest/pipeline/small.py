"""Small documents, many at once: what costs by the query is done once for all of them.

In: sources and formats. Out: each source as `assay.ingest.pipeline.folding.carved` leaves it, or
None where it is none of these: plain text in which a document format opens, and no format of single
lines has a head. Their lines are looked at and peeled under each other. `finished_together` makes
one reading of what was carved, the same as of each alone, put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.lines.candidates import opens
from assay.ingest.pipeline.folding import Carved, folded
from assay.ingest.pipeline.ledger import account
from assay.ingest.pipeline.merge import merge
from assay.ingest.pipeline.scan import Scan
from assay.ingest.pipeline.source_reading import accepted, finished, overridden
from assay.ingest.schema.acceptance import PROVENANCE
from assay.ingest.schema.format import Format, Region
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Cell, Diagnostic, Line, Span
from assay.ingest.source.blocks import BARE, SPELLED
from assay.ingest.source.carriers import carrier
from assay.ingest.source.opening import Source
from assay.ingest.source.prefixes import PREFIX_COLUMNS, peel
from assay.ingest.statements.statement_frame import STATEMENTS, statement_frame

SMALL = 2**20
"""Bytes beyond which a source is worth queries of its own."""

_UNCLEAN = (b"\r", b"\x1b", b"\x00", *SPELLED, *BARE)


@dataclass(frozen=True)
class _Lines:
    """The lines of several sources under each other: `line` counts through, from 1."""

    frame: pl.DataFrame
    ends: npt.NDArray[np.int64]  # of each source: its last line

    def having(self, hit: pl.Series) -> set[int]:
        """The sources, from 0, that have one of the lines that are hit."""
        at = hit.arg_true().to_numpy() + 1
        return set(np.searchsorted(self.ends, at).tolist())


def small_documents(
    sources: Sequence[tuple[Source, Mapping[str, Cell]]], formats: Sequence[Format]
) -> list[Carved | None]:
    """Everything about each source but types and checks of its records, in order."""
    texts = {at: text for at, (source, _) in enumerate(sources) if (text := plain(source))}
    scans = dict(zip(texts, _scans([sources[at][0] for at in texts], [*texts.values()], formats),
                     strict=True))  # fmt: skip
    return [
        folded(source, scan, formats, said) if (scan := scans.get(at)) else None
        for at, (source, said) in enumerate(sources)
    ]


def plain(source: Source) -> bytes | None:
    """A whole small source, if its lines need no cleaning; what is known of it then is known."""
    data = b"".join(source.chunks())
    if not 0 < len(data) <= SMALL or source.fault or not data.isascii():
        return None
    if any(each in data for each in _UNCLEAN) or carrier(data):
        return None
    source.open_end = not data.endswith(b"\n")
    source.height = data.count(b"\n") + source.open_end
    return data


def _scans(
    sources: Sequence[Source], texts: Sequence[bytes], formats: Sequence[Format]
) -> Iterator[Scan | None]:
    """The scan of each source; None where a line may be a record of its own, or no format opens."""
    if not sources:
        return
    whole = b"".join(text if text.endswith(b"\n") else text + b"\n" for text in texts)
    frame = pl.read_lines(whole, name="text").with_row_index("line", offset=1)
    heights = [source.height for source in sources]
    lines = _Lines(frame, np.cumsum(heights))
    single = [
        head for fmt in formats if fmt.lines == "single" and not fmt.behind for head in fmt.heads
    ]
    apart = lines.having(frame["text"].str.contains_any(single)) if single else set()
    met = {
        fmt.name: lines.having(opens(frame["text"], fmt))
        | {at for at, source in enumerate(sources) if fmt.named(source.name)}
        for fmt in formats
        if fmt.lines == "document"
    }
    glued = {fmt.glued for fmt in formats if fmt.name in met and met[fmt.name] - apart}
    peeled = {how: _regions(sources, lines, glued=how) for how in glued}
    numbers = np.concatenate([np.arange(1, height + 1, dtype=np.uint32) for height in heights])
    frame = frame.with_columns(line=pl.Series(numbers))
    for at, (source, end) in enumerate(zip(sources, lines.ends.tolist(), strict=True)):
        mine = frozenset(name for name, those in met.items() if at in those)
        if at in apart or not mine:
            yield None
            continue
        held = frame.slice(end - source.height, source.height)
        regions = {how: peeled[how][at] for how in glued}
        yield Scan(source, held, met=mine, regions=regions)


def _regions(sources: Sequence[Source], lines: _Lines, *, glued: bool) -> list[Region]:
    """The peeled lines of each source."""
    peeled = peel(lines.frame, glued=glued)
    ends = peeled["line"].search_sorted(pl.Series(lines.ends), side="right").to_list()
    above = np.repeat([0, *lines.ends[:-1]], np.diff([0, *ends]))
    numbers = (peeled["line"].to_numpy() - above).tolist()
    rows = zip(numbers, peeled["text"].to_list(), peeled["column"].to_list(), _prefixes(peeled),
               strict=True)  # fmt: skip
    every = list(starmap(Line, rows))
    return [
        Region(source, every[begin:end])
        for source, begin, end in zip(sources, [0, *ends[:-1]], ends, strict=True)
    ]


def _prefixes(peeled: pl.DataFrame) -> list[dict[str, str]]:
    """Prefixes that were peeled off each line, by column."""
    names = [name for name in PREFIX_COLUMNS if peeled[name].count()]
    if not names:
        return [{} for _ in range(peeled.height)]
    where = peeled.select(names).iter_rows()
    return [{name: said for name, said in zip(names, row, strict=True) if said} for row in where]


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
        statements=pl.concat(
            [statement_frame(each.source.name, each.statements) for each in sources]
            or [pl.DataFrame(schema=STATEMENTS)]
        ),
    )


def _place(diagnostic: Diagnostic) -> Span:
    return diagnostic.span


def _standing(sources: Sequence[Carved]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Function that takes the rows of refused lines out of a frame."""
    lost = [(each.source.name, line) for each in sources for line in each.ledger.refused]
    if not lost:
        return lambda frame: frame
    types = {"source": pl.String, "line": pl.UInt32}
    bad = pl.DataFrame(lost, schema=types, orient="row")
    return lambda frame: frame.join(bad, on=list(types), how="anti", maintain_order="left")
