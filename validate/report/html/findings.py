"""Findings on the page: a table of places, gravest first; signs and words, not colours, say how
grave."""

from __future__ import annotations

from assay.validate.assess import Report
from assay.validate.identities.finding import SEVERITIES, Finding
from assay.validate.report.figures import consequences
from assay.validate.report.html.elements import items, table
from assay.validate.report.layout import Column, Table, count
from assay.validate.report.safe import html

SIGNS = {"error": "✖", "warning": "▲", "note": "●"}
HEADS = ("law", "what", "see also", "what to do")
SHOWN = 200
"""Findings of one severity that are listed."""


def listed(report: Report) -> list[str]:
    """One table per severity, notes folded; what they did to the figures below."""
    found = []
    for severity in SEVERITIES:
        some = [each for each in report.findings if each.severity == severity]
        if not some:
            continue
        heading = f"{SIGNS[severity]} {count(len(some), severity)}"
        rows = [_row(each) for each in some[:SHOWN]]
        if len(some) > SHOWN:
            rows.append([f"… {len(some) - SHOWN:,} more in the JSON report", *[""] * 4])
        columns = [Column("at", flexible=True), *(Column(name) for name in HEADS)]
        body = table(Table(columns, rows), f"Findings: {count(len(some), severity)}", "stacked")
        if severity == "note":
            found.append(f"<details>\n<summary>{html(heading)}</summary>\n{body}\n</details>")
        else:
            found.append(f"<h3>{html(heading)}</h3>\n{body}")
    said = [html(each) for each in consequences(report)]
    return [*found, items(said)] if said else found


def _row(finding: Finding) -> list[str]:
    also = ", ".join(f"{span.line}" if span.source == finding.spans[0].source
                     else f"{span.source}:{span.line}" for span in finding.spans[1:])  # fmt: skip
    first = finding.spans[0]
    return [
        f"{first.source}:{first.line}", finding.law, finding.explanation,
        f"line {also}" if also else "", finding.meaning,
    ]  # fmt: skip
