"""Small inputs, many at once: what costs by the query is done once for all of them.

In: sources and formats. Out: each source as `assay.ingest.pipeline.folding.carved` leaves it, or
None where columns read it faster or its text needs cleaning. Their lines are looked at and peeled
under each other. `finished_together` makes one reading of what was carved, the same as of each
alone, put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.binding.statement_frame import statement_frame
from assay.ingest.lines.candidates import NOTHING, Edges, Open, edges, marked, openings, opens
from assay.ingest.pipeline.folding import Carved, folded, has_steps
from assay.ingest.pipeline.ledger import account
from assay.ingest.pipeline.looked import Looked, Peeled
from assay.ingest.pipeline.merge import merge
from assay.ingest.pipeline.noise import (
    Tally,
    closings,
    empty,
    interest,
    may_state,
    suspicious,
)
from assay.ingest.pipeline.scan import FEW, Scan
from assay.ingest.pipeline.source_reading import accepted, finished, overridden
from assay.ingest.schema.acceptance import PROVENANCE
from assay.ingest.schema.format import LAST, Format
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Cell, Diagnostic, Line, Span
from assay.ingest.source.blocks import BARE, BLANKS, SPELLED, Mask, Places
from assay.ingest.source.carriers import carrier
from assay.ingest.source.headings import around_headings
from assay.ingest.source.opening import FIRST, Source
from assay.ingest.source.pages import page
from assay.ingest.source.prefixes import NOBODY, holds, peel
from assay.ingest.statements.worth import WORTH

SMALL = 2**20
"""Bytes beyond which a source is worth queries of its own."""

_UNCLEAN = (b"\r", b"\x1b", b"\x00", b"\xef\xbb\xbf", *SPELLED, *BARE, *BLANKS)


def small_inputs(
    sources: Sequence[tuple[Source, Mapping[str, Cell]]],
    formats: Sequence[Format],
    copies: Set[int] = frozenset(),
) -> list[Carved | None]:
    """Everything about each source but types and checks of its records, in order.

    Of sources that have `copies`, by their places, only documents: others are read once for all.
    """
    read = ((at, plain(source)) for at, (source, _) in enumerate(sources))
    texts = {at: text for at, text in read if text is not None}
    scans: dict[int, Scan] = {}
    if any(texts.values()):
        looked = _Look.of([sources[at][0] for at in texts], [*texts.values()], formats)
        scans = {at: scan for at, scan in zip(texts, looked.scans(), strict=True)
                 if scan and (scan.met or at not in copies)}  # fmt: skip
    return [
        folded(source, scan, formats, said) if (scan := scans.get(at)) else None
        for at, (source, said) in enumerate(sources)
    ]


def plain(source: Source) -> bytes | None:
    """A whole small source, if its lines need no cleaning; what is known of it then is known."""
    data = b"".join(source.chunks())
    if len(data) > SMALL or source.fault or not _is_text(data):
        return None
    if any(each in data for each in _UNCLEAN) or carrier(data):
        return None
    source.open_end = bool(data) and not data.endswith(b"\n")
    source.height = data.count(b"\n") + source.open_end
    if len(data) < FIRST:
        data = source.spelled(data)
        return None if b"\r" in data else data
    return spelled(data) if (spelled := page(data[:FIRST])) else data


def _is_text(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


@dataclass(frozen=True)
class _Look:
    """The lines of several sources under each other: `at` counts through, from 0."""

    sources: Sequence[Source]
    formats: Sequence[Format]
    frame: pl.DataFrame  # at, text
    ends: npt.NDArray[np.int64]  # of each source: one behind its last line
    plain: bool  # all of it is ASCII

    @classmethod
    def of(
        cls, sources: Sequence[Source], texts: Sequence[bytes], formats: Sequence[Format]
    ) -> _Look:
        """The lines of sources, whose texts are given."""
        whole = b"".join(each if each.endswith(b"\n") else each + b"\n" for each in texts if each)
        frame = pl.read_lines(whole, name="text").with_row_index("line")
        ends = np.cumsum([source.height for source in sources])
        return cls(sources, formats, frame, ends, whole.isascii())

    def scans(self) -> Iterator[Scan | None]:
        """The scan of each source; None for those with many records, or nothing to read."""
        met, rest = self._met, ~self._left
        kept = self._kept
        places = np.searchsorted(kept["line"].to_numpy(), [0, *self.ends])
        begins = np.concatenate([[0], self.ends[:-1]])
        own = kept["line"].to_numpy() - np.repeat(begins, np.diff(places)) + 1
        kept = kept.with_columns(line=pl.Series(own.astype(np.uint32)))
        many = self._counts(self._hits["line"]) >= FEW
        for at, (source, span) in enumerate(zip(self.sources, pairwise(places), strict=True)):
            if many[at]:
                yield None
                continue
            names = frozenset(name for name, those in met.items() if at in those)
            yield Scan(
                source,
                kept.slice(span[0], span[1] - span[0]),
                met=names,
                rest=Tally() if names else self._tally(at, rest),
                looked=self._looked(at, own[slice(*span)]),
            )

    def _span(self, at: int) -> tuple[int, int]:
        """Where the lines of a source begin and end."""
        return (int(self.ends[at - 1]) if at else 0), int(self.ends[at])

    def _of(self, lines: Places) -> list[int]:
        """The sources of these lines."""
        found: list[int] = np.searchsorted(self.ends, lines, side="right").tolist()
        return found

    def _own(self, lines: Places) -> Sequence[Places]:
        """Of all such lines, in order, those of each source, by their numbers in it."""
        if not len(lines):  # nearly all formats have none
            return [NOTHING.opens] * len(self.sources)
        cuts = np.searchsorted(lines, [0, *self.ends])
        begins = np.concatenate([[0], self.ends[:-1]])
        return np.split(lines - np.repeat(begins, np.diff(cuts)) + 1, cuts[1:-1])

    def _edges_own(self, found: Edges) -> Sequence[Edges]:
        """The edges of each source, by the numbers of its lines."""
        return list(map(Edges, self._own(found.opens), self._own(found.closes)))

    def _counts(self, lines: pl.Series) -> Places:
        """How many of these lines each source has."""
        found: Places = np.diff(np.searchsorted(lines.to_numpy(), [0, *self.ends]))
        return found

    def _mask(self, lines: pl.Series) -> Mask:
        there = np.zeros(self.frame.height, np.bool_)
        there[lines.to_numpy()] = True
        return there

    @cached_property
    def _single(self) -> list[Format]:
        return [fmt for fmt in self.formats if fmt.lines == "single"]

    @cached_property
    def _some(self) -> pl.DataFrame:
        """The lines that may matter to anybody."""
        found = holds(self.frame["text"], *interest(self.formats), plain=self.plain)
        return self.frame.filter(found)

    def _with(self, formats: Sequence[Format]) -> pl.DataFrame:
        """The lines on which something of these formats may begin."""
        some = self._some
        return some.filter(holds(some["text"], *openings(formats), plain=self.plain))

    @cached_property
    def _hits(self) -> pl.DataFrame:
        return self._with(self._single)

    @cached_property
    def _blank(self) -> Mask:
        found: Mask = empty(self.frame["text"], plain=self.plain).to_numpy()
        return found

    @cached_property
    def _suspicious(self) -> Sequence[Places]:
        """The suspicious lines of each source."""
        _, odd = suspicious(self._some["text"], plain=self.plain)
        return self._own(self._some["line"].filter(odd).to_numpy().astype(np.int64))

    @cached_property
    def _headed(self) -> dict[str, pl.DataFrame]:
        """Format of single lines → the lines with one of its heads."""
        texts = self._hits["text"]
        return {
            fmt.name: self._hits.filter(texts.str.contains_any(list(fmt.heads)))
            for fmt in self._single
        }

    @cached_property
    def _begun(self) -> dict[str, Places]:
        """Format → the lines on which a record of it, or a document, may begin."""
        found: dict[str, pl.DataFrame] = {}
        for fmt in self._single:
            held = self._headed[fmt.name]
            found[fmt.name] = (
                held
                if fmt.opens is None or held.is_empty()
                else held.filter(holds(held["text"], fmt.opens, plain=self.plain))
            )
        some = self._some
        found |= {
            fmt.name: some.filter(opens(some["text"], fmt, plain=self.plain))
            for fmt in self.formats
            if fmt.lines == "document"
        }
        return {name: held["line"].to_numpy().astype(np.int64) for name, held in found.items()}

    @cached_property
    def _edges(self) -> dict[tuple[str, str], Edges]:
        """Format of single lines and head → where something opens and closes below heads."""
        return {
            (fmt.name, head): edges(held, head, reach) if held.height else NOTHING
            for fmt in self._single
            for held in [self._headed[fmt.name]]
            for head, reach in fmt.reach.items()
        }

    @cached_property
    def _edges_begun(self) -> dict[tuple[str, str], Edges]:
        """The same on lines where a record may begin."""
        return {
            (name, head): Edges(*(each[np.isin(each, self._begun[name])] for each in found))
            for (name, head), found in self._edges.items()
        }

    @cached_property
    def _met(self) -> dict[str, set[int]]:
        """Document format → the sources that it looks at."""
        return {
            fmt.name: {
                *self._of(self._begun[fmt.name]),
                *(at for at, source in enumerate(self.sources) if fmt.named(source.name)),
            }
            for fmt in self.formats
            if fmt.lines == "document"
        }

    @cached_property
    def _left(self) -> Mask:
        """Lines for the folds, and for the binder: all of a source at which a document looks."""
        left = np.zeros(self.frame.height, np.bool_)
        for at in {at for those in self._met.values() for at in those}:
            left[slice(*self._span(at))] = True
        some = self._some.filter(pl.Series(~left[self._some["line"].to_numpy()]))
        if some.height:
            left[some["line"].filter(may_state(some["text"], plain=self.plain)).to_numpy()] = True
        for fmt in self._single:
            left[self._begun[fmt.name]] = True
            for head, reach in fmt.reach.items():
                if not len(self._edges[fmt.name, head].opens):
                    continue
                for at, mine in enumerate(self._edges_own(self._edges[fmt.name, head])):
                    if len(mine.opens):
                        begin, end = self._span(at)
                        lines = np.arange(1, end - begin + 1)
                        left[begin:end] |= marked(mine, reach, Open(), lines)
        return left | self._closing

    @cached_property
    def _closing_own(self) -> Sequence[Places]:
        return self._own(np.flatnonzero(self._closing))

    @cached_property
    def _closing(self) -> Mask:
        """Those of the last lines of sources with steps that may tell of the end of a run."""
        which = np.zeros(self.frame.height, np.bool_)
        wanted = closings(self.formats)
        steps = [fmt for fmt in self.formats if has_steps(fmt)] if wanted else []
        begun = [self._of(self._begun[fmt.name]) for fmt in steps if fmt.name in self._begun]
        met = (self._met.get(fmt.name, ()) for fmt in steps)
        for begin, end in map(self._span, {*chain.from_iterable([*begun, *met])}):
            which[max(begin, end - LAST) : end] = True
        if not which.any():
            return which
        last = self.frame.filter(pl.Series(which))
        found = holds(last["text"], *wanted, plain=self.plain)
        return self._mask(last["line"].filter(found))

    def _tally(self, at: int, which: Mask) -> Tally:
        """Tally of the lines of a source that nobody wants."""
        begin, end = self._span(at)
        mine = which[begin:end]
        blank = int((self._blank[begin:end] & mine).sum())
        odd = [line for line in self._suspicious[at].tolist() if mine[line - 1]]
        return Tally(blank, int(mine.sum()) - blank, tuple(odd))

    @cached_property
    def _kept(self) -> pl.DataFrame:
        """The lines for the folds, and for the binder."""
        return self.frame.filter(pl.Series(self._left))

    @cached_property
    def _states(self) -> Mask:
        """Those of them that may state something."""
        found = holds(self._kept["text"], *WORTH, plain=self.plain)
        mask: Mask = found.to_numpy()
        return mask

    @cached_property
    def _worth(self) -> Sequence[Places]:
        """The lines of each source that may state something."""
        return self._own(self._kept["line"].to_numpy()[self._states].astype(np.int64))

    @cached_property
    def _worth_headed(self) -> Sequence[Places]:
        """The same with headings in any spelling, and the lines around those."""
        at = self._kept["line"].to_numpy().astype(np.int64)
        of = np.searchsorted(self.ends, at, side="right")
        return self._own(at[self._states | around_headings(self._kept["text"], of)])

    @cached_property
    def _lines(self) -> dict[bool, list[Peeled]]:
        """The peeled lines of each source, without and with glued ones taken apart.

        The latter where a format begins that asks for it.
        """
        glued = np.zeros(len(self.sources), np.bool_)
        for fmt in self._single:
            if fmt.glued:
                glued[self._of(self._begun[fmt.name])] = True
        wanted = self._left & np.repeat(glued, np.diff([0, *self.ends]))
        return {
            False: self._peeled(self._left, glued=False),
            True: self._peeled(wanted, glued=True),
        }

    def _peeled(self, which: Mask, *, glued: bool) -> list[Peeled]:
        """The lines of each source that a mask marks."""
        if not which.any():
            return [Peeled()] * len(self.sources)
        peeled = peel(self.frame.filter(pl.Series(which)), glued=glued)
        at = peeled["line"].to_numpy()
        begins = np.concatenate([[0], self.ends[:-1]])
        numbers = at - begins[np.searchsorted(self.ends, at, side="right")] + 1
        names = [name for name in peeled.columns[3:] if peeled[name].count()]
        prefixes: Iterable[Mapping[str, str]] = repeat(NOBODY, peeled.height)
        if names:
            where = peeled.select(names).iter_rows()
            prefixes = ({n: s for n, s in zip(names, said, strict=True) if s} for said in where)
        rows = zip(numbers.tolist(), peeled["text"].to_list(), peeled["column"].to_list(),
                   prefixes, strict=True)  # fmt: skip
        every = [*map(Line._make, rows)]
        cuts = np.searchsorted(at, [0, *self.ends]).tolist()
        return [Peeled(every[begin:end]) for begin, end in pairwise(cuts)]

    def _looked(self, at: int, numbers: Places) -> Looked:
        """All that was found on the lines of one source."""
        each = self._each
        return Looked(
            source=self.sources[at],
            numbers=numbers,
            lines={how: every[at] for how, every in self._lines.items()},
            begun={name: own[at] for name, own in each.begun.items() if len(own[at])},
            edges={key: own[at] for key, own in each.edges.items() if len(own[at].opens)},
            worth=lambda: self._worth[at],
            worth_headed=lambda: self._worth_headed[at],
            closing=self._closing_own[at],
            blank=self._blank[slice(*self._span(at))],
            suspicious=lambda: self._suspicious[at],
        )

    @cached_property
    def _each(self) -> _Each:
        return _Each(
            {name: self._own(lines) for name, lines in self._begun.items() if len(lines)},
            {key: self._edges_own(found) for key, found in self._edges_begun.items()
             if len(found.opens)},
        )  # fmt: skip


class _Each(NamedTuple):
    """Places where something begins on the lines of each source, by its place; see `Looked`."""

    begun: Mapping[str, Sequence[Places]]
    edges: Mapping[tuple[str, str], Sequence[Edges]]


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
        provenance=left(pl.concat(origins)).sort(
            "source", "line", "frame", "field", maintain_order=True
        ),
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
        statements=statement_frame((each.source.name, each.statements) for each in sources),
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
