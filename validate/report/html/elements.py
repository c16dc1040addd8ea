"""Sections, tables, lists and plots as HTML. Text in, elements out; every text goes through `html`.

Tables have a caption and scopes, and scroll inside themselves where a screen is narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.validate.report.html import svg
from assay.validate.report.html.plots import Plot
from assay.validate.report.layout import Column, Items, Part, Section, Table
from assay.validate.report.safe import html, visible

KEPT = 24
"""Characters of a cell that is not broken."""


def section(name: str, title: str, parts: Sequence[str]) -> str:
    """A part of the page that the contents link to."""
    body = "\n".join(parts)
    heading = f'<h2 id="{name}-title">{html(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">\n{heading}\n{body}\n</section>'


def block(found: Section, *, heading: bool = True) -> str:
    """A section of the report under a smaller heading; a detail is folded."""
    body = "\n".join(part(each, found.title) for each in found.parts)
    if found.detail:
        return f"<details>\n<summary>{html(found.title)}</summary>\n{body}\n</details>"
    return f"<h3>{html(found.title)}</h3>\n{body}" if heading else body


def part(found: Part, title: str) -> str:
    """A paragraph, a list or a table; a table without a caption of its own
    is named `title`, as its section is."""
    if isinstance(found, Table):
        return table(found, title)
    if isinstance(found, Items):
        return items([html(each) for each in found.items])
    return f"<p>{html(found)}</p>"


def items(found: Sequence[str]) -> str:
    """A list of what is HTML already."""
    return "<ul>\n" + "\n".join(f"<li>{each}</li>" for each in found) + "\n</ul>"


def table(found: Table, title: str, kind: str = "") -> str:
    """A table that can be scrolled by keyboard, with its caption and the scope of its headings.

    Where it has no caption of its own, `title` stands above it already, and is only read aloud.
    `kind` is a class of the style sheet.
    """
    caption = found.caption or title
    named = f' class="{kind}"' if kind else ""
    hidden = "" if found.caption else ' class="aloud"'
    aligned = [_class(column, at, found.rows) for at, column in enumerate(found.columns)]
    heads = "".join(
        f'<th scope="col"{how}>{html(column.heading)}</th>'
        for column, how in zip(found.columns, aligned, strict=True)
    )
    rows = "\n".join(f"<tr>{_cells(row, aligned)}</tr>" for row in found.rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{html(caption)}">\n'
        f"<table{named}>\n<caption{hidden}>{html(caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _class(column: Column, at: int, rows: Sequence[Sequence[str]]) -> str:
    """Numbers stand to the right; short words stay whole, what may be long is broken anywhere."""
    if column.align == ">":
        return ' class="n"'
    if column.flexible:
        return ' class="f"'
    return ' class="k"' if all(len(row[at]) <= KEPT for row in rows) else ""


def _cells(row: Sequence[str], aligned: Sequence[str]) -> str:
    cells = [f"<td{how}>{html(cell)}</td>" for cell, how in zip(row, aligned, strict=True)]
    cells[0] = f'<th scope="row"{aligned[0]}>{html(row[0])}</th>'
    return "".join(cells)


def plot(found: Plot) -> str:
    """A drawing with its caption and, folded, its table; without the extra the table alone."""
    held = table(found.table, found.title)
    words = f"<figcaption><b>{html(found.title)}</b>. {html(found.about)}</figcaption>".replace(
        ". </fig", "</fig"
    )
    if not svg.available():
        said = f"<p>{html(found.about)}</p>\n" if found.about else ""
        return f"<h3>{html(found.title)}</h3>\n{said}{held}"
    drawing = svg.drawn(found.chart(), visible(found.title))
    return (
        f'<figure>\n{words}\n<div class="wide" tabindex="0" role="region" '
        f'aria-label="Plot: {html(found.title)}">{drawing}</div>\n'
        f"<details>\n<summary>The same as a table</summary>\n{held}\n</details>\n"
        "</figure>"
    )
