"""Account of the lines of a source: claimed, refused, blank or not ours.

In: what the scan left and what formats, binder and checks made of it. Out: `Accounting`: lines are
claimed, refused, blank or not ours, each once.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

import polars as pl
from assay.ingest.pipeline.noise import Tally, tally, total
from assay.ingest.pipeline.scan import Scan
from assay.ingest.schema.format import TableNote
from assay.ingest.schema.reading import Accounting
from assay.ingest.schema.record import Diagnostic
from assay.ingest.source.opening import Source


@dataclass
class Ledger:
    """Fate of each line of one source."""

    claimed: dict[int, str] = field(default_factory=dict)  # line → format
    refused: dict[int, str] = field(default_factory=dict)
    blank: set[int] = field(default_factory=set)
    owned: set[int] = field(default_factory=set)  # of formats before all others
    parts: set[tuple[int, int]] = field(default_factory=set)  # of lines that formats share
    diagnostics: list[Diagnostic] = field(default_factory=list)
    remarks: list[Diagnostic] = field(default_factory=list)
    tables: list[tuple[str, TableNote]] = field(default_factory=list)  # by the format that met them


def account(source: Source, found: Scan, ledger: Ledger) -> Accounting:
    """The account of one source; lines that nobody has spoken of are counted here."""
    # a line of several parts, at carriage returns, is what the worst of them is
    refused = ledger.refused.keys()
    claimed = ledger.claimed.keys() - refused
    filler = ledger.blank - claimed - refused
    spoken = refused | claimed | filler | found.read
    looked = found.looked
    left = looked.unspoken(spoken) if looked else _unspoken(found.lines, spoken)
    sums = total([found.rest, left])
    # a line whose words were joined to those above it is what they are, and not blank
    gone = {seam.line: first for first, seams in source.seams.items() for seam in seams}
    gone |= _rules(source, ledger.claimed)
    gone = {line: first for line, first in gone.items() if line not in claimed | refused}
    used = sum(first in claimed for first in gone.values())
    return Accounting(
        source=source.name,
        sha256=source.sha256,
        lines=source.height,
        claimed=len(claimed) + used + (0 if found.met else found.taken),
        refused=len(refused),
        blank=len(filler) + sums.blank - len(gone),
        not_ours=sums.not_ours + len(gone) - used,
        suspicious=tuple(sorted(sums.suspicious)),
        tables=_of_nobody_else(ledger),
    )


def _rules(source: Source, claimed: Mapping[int, str]) -> dict[int, int]:
    """Lines that hold nothing once their page was spelled anew, and that of which each was a part:
    the one with its words, or the row of a table beside its rule; 0 for the rule of a title."""
    moved = {seam.line: first for first, seams in source.moved.items() for seam in seams}
    found = dict[int, int]()
    for line in source.emptied:
        beside = [n for n in (line - 1, line + 1) if claimed.get(n, "context") != "context"]
        found[line] = moved.get(line) or next(iter(beside), 0)
    return found


def _of_nobody_else(ledger: Ledger) -> tuple[TableNote, ...]:
    """The tables that were met, but for those whose lines another format reads."""
    return tuple(
        note
        for name, note in ledger.tables
        if note.read
        or all(
            ledger.claimed.get(line, name) in (name, "context")
            for line in range(note.line, note.last + 1)
        )
    )


def _unspoken(lines: pl.DataFrame, spoken: Set[int]) -> Tally:
    """Tally of the lines that nothing has been said of."""
    if lines.height > SHORT:
        return tally(lines.filter(~pl.col("line").is_in(sorted(spoken))))
    pairs = zip(lines["line"].to_list(), lines["text"].to_list(), strict=True)
    rest = [(line, text) for line, text in pairs if line not in spoken]
    told = [(line, text) for line, text in rest if text]  # what is empty need not be asked
    if not told:
        return Tally(blank=len(rest))
    others = tally(pl.DataFrame(told, schema=lines.schema, orient="row"))
    return total([Tally(blank=len(rest) - len(told)), others])


SHORT = 10_000
"""Lines up to which a loop is faster than queries."""
