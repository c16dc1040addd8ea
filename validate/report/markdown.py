"""Sections as Markdown: stable, one table row a line, so that two reports can be diffed.

What few readers want more than once is folded: code hosts show `<details>`, and nothing else of it
is HTML.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.validate.report.layout import Items, Part, Section, Table
from assay.validate.report.safe import html
from assay.validate.report.safe import markdown as safe


def render(sections: Iterable[Section], *, title: str = "assay report") -> str:
    """The whole report as one document."""
    blocks = [f"# {title}"]
    for section in sections:
        body = [_part(part) for part in section.parts]
        if section.detail:
            summary = f"<summary>{html(section.title)}</summary>"
            blocks += [f"<details>\n{summary}", *body, "</details>"]
        else:
            blocks += [f"## {safe(section.title)}", *body]
    return "\n\n".join(blocks) + "\n"


def _part(part: Part) -> str:
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Items):
        return "\n".join(f"- {safe(each)}" for each in part.items)
    return safe(part)


def _table(table: Table) -> str:
    heads = " | ".join(safe(column.heading) for column in table.columns)
    rule = " | ".join("---:" if column.align == ">" else "---" for column in table.columns)
    rows = [" | ".join(safe(cell) for cell in row) for row in table.rows]
    return "\n".join(f"| {line} |" for line in (heads, rule, *rows))
