"""What was read: lines and what became of them, refusals, and the values of configurations."""

from __future__ import annotations

from collections import Counter

import polars as pl
from assay.validate.assess import Report
from assay.validate.report.layout import Column, Section, Table, count, percent, safe, spans

SHOWN = 12
SAMPLED = 3


def read(report: Report) -> Section:
    """Every input with its lines: claimed, refused, blank, not ours."""
    columns = [Column("input", "<", flexible=True)] + [
        Column(name, ">")
        for name in ("lines", "claimed", "refused", "blank", "not ours", "suspicious")
    ]
    rows = [
        [a.source, *(f"{n:,}" for n in (a.lines, a.claimed, a.refused, a.blank, a.not_ours)),
         f"{len(a.suspicious):,}"]
        for a in report.outcome.reading.accounting
    ]  # fmt: skip
    section = Section("What was read", [Table(columns, rows)])
    frames = report.outcome.reading.frames
    rows_of = [f"{count(f.height, 'row')} of {name}" for name, f in frames.items() if f.height]
    section.parts.append("Read: " + (", ".join(rows_of) if rows_of else "nothing") + ".")
    section.parts.extend(_states(report))
    for account in report.outcome.reading.accounting:
        if account.suspicious:
            some = list(account.suspicious[: 4 * SAMPLED])
            more = len(account.suspicious) - len(some)
            section.parts.append(
                f"{account.source}: {count(len(account.suspicious), 'line')} not ours with a "
                f"number beside a performance unit: {spans(some)}"
                + (f" and {more} more" if more else "")
            )
    for name in report.outcome.unrecognised:
        section.parts.append(f"{name}: no format knows a line of it.")
    for fault in report.outcome.unreadable:
        section.parts.append(str(fault))
    section.parts.extend([f"{remark}" for remark in report.outcome.reading.remarks[:SHOWN]])
    return section


def _states(report: Report) -> list[str]:
    """Cells of measured columns that hold no value: outcomes, unknowns, nothing."""
    said = report.outcome.reading.provenance.filter(pl.col("state") != "value")
    counts = said.group_by("state").len().sort("state")
    if counts.is_empty():
        return []
    words = {"outcome": "an outcome (OOM, fail)", "unknown": "a known unknown", "missing": "empty"}
    each = [f"{n:,} {words.get(state, state)}" for state, n in counts.iter_rows()]
    return ["Cells without a number: " + ", ".join(each) + "."]


def refused(report: Report) -> Section | None:
    """Every refusal, by code, and the first of them."""
    faults = report.outcome.reading.refused
    if not faults:
        return None
    codes = Counter(str(fault.code) for fault in faults)
    section = Section("Refused lines")
    section.parts.append(", ".join(f"{n:,} {code}" for code, n in sorted(codes.items())) + ".")
    section.parts.extend(str(fault) for fault in faults[:SHOWN])
    if len(faults) > SHOWN:
        section.parts.append(f"… and {len(faults) - SHOWN:,} more.")
    return section


def configurations(report: Report) -> Section | None:
    """Where the values of the configurations came from, and the laws behind them."""
    wide = report.cases.configuration
    if wide.is_empty():
        return None
    kinds = ("printed", "context", "inferred", "assumed", "corrected")
    counts = report.cases.origins.group_by("name").agg(
        *((pl.col("value_origin") == kind).sum().alias(kind) for kind in kinds)
    )
    rows = [
        [name, *(f"{n:,}" if n else "" for n in values), f"{wide.height - sum(values):,}"]
        for name, *values in counts.sort("name").iter_rows()
    ]
    columns = [Column("value"), *(Column(kind, ">") for kind in (*kinds, "unknown"))]
    section = Section(f"Configurations of {count(wide.height, 'run')}", [Table(columns, rows)])
    laws = (
        report.cases.origins.drop_nulls("law")
        .filter(pl.col("value_origin") != "context")
        .group_by("value_origin", "law")
        .agg(pl.col("name").unique().sort(), pl.len())
        .sort("value_origin", "law")
    )
    for origin, law, names, n in laws.iter_rows():
        section.parts.append(f"{origin}: {', '.join(names)} ({n:,}) by: {law}")
    for text, why in sorted(report.cases.unresolved.items()):
        section.parts.append(f"unknown device or number format {safe(text)!r}: {why}")
    return section


def assumptions(report: Report) -> Section | None:
    """How much assumed values matter: the error of the rows that rest on each of them."""
    assumed = report.cases.origins.filter(pl.col("value_origin") == "assumed").select(
        "case", "name", "value"
    )
    pairs = report.scored.select("case", "quantity", "model", "error")
    if assumed.is_empty() or pairs.is_empty():
        return None
    rows = []
    size = pl.col("error").abs().mean()
    for (quantity, model), mine in pairs.group_by("quantity", "model", maintain_order=True):
        for (name,), cases in assumed.group_by("name", maintain_order=True):
            resting = mine.join(cases, on="case", how="semi")
            others = mine.join(cases, on="case", how="anti")
            if resting.is_empty() or others.is_empty():
                continue
            rows.append(
                [str(quantity), str(model), str(name), f"{resting.height:,}",
                 percent(resting.select(size).item()), f"{others.height:,}",
                 percent(others.select(size).item())]
            )  # fmt: skip
    everywhere = [
        f"{name} ({', '.join(sorted(set(cases['value'])))})"
        for (name,), cases in assumed.group_by("name", maintain_order=True)
        if pairs.join(cases, on="case", how="anti").is_empty()
    ]
    section = Section("Assumed values, and how much they matter")
    if everywhere:
        section.parts.append("Every scored row rests on: " + ", ".join(sorted(everywhere)) + ".")
    if rows:
        columns = [Column("quantity"), Column("model"), Column("assumed"), Column("rows", ">"),
                   Column("MAPE", ">"), Column("others", ">"),
                   Column("their MAPE", ">")]  # fmt: skip
        section.parts.append(Table(columns, sorted(rows)))
    return section if section.parts else None
