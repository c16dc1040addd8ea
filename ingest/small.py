"""Small documents, many at once: what costs by the query is done once for all of them.

In: sources and formats. Out: each source as `assay.ingest.pipeline.carved` leaves it, or None where
it is none of these: plain text in which a document format opens, and no format of single lines has
a head. Their lines are looked at and peeled under each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.carve import PREFIX_COLUMNS, opens, peel
from assay.ingest.carved import Carved, folded
from assay.ingest.scan import Scan
from assay.ingest.source import Source
from assay.ingest.types import Cell, Format, Line, Region

SMALL = 2**20
"""Bytes beyond which a source is worth queries of its own."""
_UNCLEAN = (b"\r", b"\x1b", b"\x00")


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
    if any(each in data for each in _UNCLEAN):
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
    single = [head for fmt in formats if fmt.lines == "single" for head in fmt.heads]
    apart = lines.having(frame["text"].str.contains_any(single)) if single else set()
    met = {
        fmt.name: lines.having(opens(frame["text"], fmt))
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
    """What was peeled off each line, by column."""
    names = [name for name in PREFIX_COLUMNS if peeled[name].count()]
    if not names:
        return [{} for _ in range(peeled.height)]
    where = peeled.select(names).iter_rows()
    return [{name: said for name, said in zip(names, row, strict=True) if said} for row in where]
