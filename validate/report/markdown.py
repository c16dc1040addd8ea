"""Sections as Markdown: stable, one table row a line, so that two reports can be diffed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.validate.report.layout import Section, Table, safe

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#&~])")


def render(sections: Iterable[Section], *, title: str = "assay report") -> str:
    """The whole report as one document."""
    blocks = [f"# {title}"]
    for section in sections:
        blocks.append(f"## {escape(section.title)}")
        for part in section.parts:
            blocks.append(_table(part) if isinstance(part, Table) else escape(part))
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text that shows as it is: nothing of it is markup, a pipe does not end a cell.

    >>> escape("a|b*")
    'a\\\\|b\\\\*'
    """
    return _SPECIAL.sub(r"\\\1", safe(text))


def _table(table: Table) -> str:
    heads = " | ".join(escape(column.heading) for column in table.columns)
    rule = " | ".join("---:" if column.align == ">" else "---" for column in table.columns)
    rows = [" | ".join(escape(cell) for cell in row) for row in table.rows]
    return "\n".join(f"| {line} |" for line in (heads, rule, *rows))
