"""Sections as Markdown: stable, one table row a line, so that two reports can be diffed."""

from __future__ import annotations

from collections.abc import Iterable

from assay.validate.report.layout import Section, Table
from assay.validate.report.safe import markdown as safe


def render(sections: Iterable[Section], *, title: str = "assay report") -> str:
    """The whole report as one document."""
    blocks = [f"# {title}"]
    for section in sections:
        blocks.append(f"## {safe(section.title)}")
        for part in section.parts:
            blocks.append(_table(part) if isinstance(part, Table) else safe(part))
    return "\n\n".join(blocks) + "\n"


def _table(table: Table) -> str:
    heads = " | ".join(safe(column.heading) for column in table.columns)
    rule = " | ".join("---:" if column.align == ">" else "---" for column in table.columns)
    rows = [" | ".join(safe(cell) for cell in row) for row in table.rows]
    return "\n".join(f"| {line} |" for line in (heads, rule, *rows))
