"""Sections on the trial of a user's format: its samples, and what it reads from a log."""

from __future__ import annotations

from collections.abc import Sequence

from assay.ingest.formats.own.own_format import OwnFormat
from assay.ingest.formats.own.trial import Trial
from assay.ingest.schema.record import Diagnostic
from assay.validate.report.layout import Column, Section, Table

SHOWN = 8
WIDE = 70


def samples(fmt: OwnFormat, faults: int) -> Section:
    """How the samples of a format went."""
    assert fmt.said is not None
    count = len(fmt.said.samples)
    told = "differ" if faults else "read as they say" if count > 1 else "reads as it says"
    number = f"{faults} value(s) of {count}" if faults else f"{count}"
    lines = [f"{number} sample line(s): {told}."]
    return Section(f"{fmt.name}: {fmt.said.path}", list(lines))


def trial(found: Trial) -> list[Section]:
    """Sections on one log that a format was tried on: rows, lines left over, other claimants."""
    a = found.account
    counts = Table(
        [Column("lines", ">"), Column("rows", ">"), Column("refused", ">"), Column("not ours", ">"),
         Column("suspicious", ">")],
        [[str(n) for n in (a.lines, found.rows, a.refused, a.not_ours, len(a.suspicious))]],
    )  # fmt: skip
    others = ", ".join(f"{rows} of {name}" for name, rows in found.frames.items())
    notes = [f"Other formats read: {others}."] if others else []
    sections = [Section(f"{found.name}", [counts, *notes])]
    if found.rows:
        heads = [Column("column"), Column("unit"), Column("filled", ">"), Column("from", ">"),
                 Column("to", ">")]  # fmt: skip
        rows = [[c.name, c.unit, f"{c.filled} of {found.rows}", _cut(c.low, 24), c.high]
                for c in found.columns]  # fmt: skip
        sections.append(Section("Columns", [Table(heads, rows)]))
    if found.other:
        rows = [[_cut(name, 40), str(n), _cut(text, 30)] for name, n, text in found.other[:SHOWN]]
        heads = [Column("label"), Column("cells", ">"), Column("first value")]
        sections.append(
            Section("Labels that no column declares (kept in `other`)", [Table(heads, rows)])
        )
    sections += _faults("Refused lines and cells", found.refused)
    sections += _faults("Claimed by another format too: neither is believed", found.shared)
    if found.passed:
        rows = [[str(line), _cut(text, WIDE)] for line, text in found.passed[:SHOWN]]
        title = f"Hold a head, but do not begin with it ({len(found.passed)})"
        table = Table([Column("line", ">"), Column("text")], rows)
        sections.append(Section(title, [table]))
    return sections


def _faults(title: str, faults: Sequence[Diagnostic]) -> list[Section]:
    if not faults:
        return []
    rows = [[str(d.span.line), str(d.span.column), d.message] for d in faults[:SHOWN]]
    heads = [Column("line", ">"), Column("column", ">"), Column("why")]
    return [Section(f"{title} ({len(faults)})", [Table(heads, rows)])]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
