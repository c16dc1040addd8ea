"""Sections as text for a terminal: aligned, no wider than asked, coloured only where it helps."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.validate.report.layout import Items, Part, Section, Table
from assay.validate.report.safe import visible

BOLD, DIM, OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"

NARROWEST = 16

GAP = "  "


def render(sections: Iterable[Section], *, width: int = 100, colour: bool = False) -> str:
    """The whole report; `width` in columns. Without `colour` no escape sequence is written."""
    bold, off = (BOLD, OFF) if colour else ("", "")
    blocks = []
    for section in sections:
        title = textwrap.wrap(visible(section.title), max(width, 40), subsequent_indent="  ",
                              break_long_words=False, break_on_hyphens=False)  # fmt: skip
        lines = [f"{bold}{line}{off}" for line in title or [""]]
        for at, part in enumerate(section.parts):
            if at and (isinstance(part, Table) or isinstance(section.parts[at - 1], Table)):
                lines.append("")
            lines += _part(part, width, colour=colour)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _part(part: Part, width: int, *, colour: bool) -> list[str]:
    if isinstance(part, Table):
        return _table(part, width, colour=colour)
    said = part.items if isinstance(part, Items) else [part]
    return [line for text in said for line in _paragraph(text, width)]


def _paragraph(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        visible(text), max(width, 40), initial_indent="  ", subsequent_indent="    ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _table(table: Table, width: int, *, colour: bool) -> list[str]:
    """The table, whole: one that is too wide loses columns, and says which behind it."""
    table, gone = _narrowed(table, width - 2)
    rows = [[visible(cell) for cell in row] for row in table.rows]
    heads = [visible(column.heading) for column in table.columns]
    sizes = _sizes(table, width - 2)
    aligns = [column.align for column in table.columns]
    dim, off = (DIM, OFF) if colour else ("", "")
    lines = [f"  {dim}{_line(heads, sizes, aligns)}{off}"]
    lines += [f"  {_line(row, sizes, aligns)}" for row in rows]
    if gone:
        lines += _paragraph(f"Not shown for want of room: {', '.join(gone)}.", width)
    return lines


def _narrowed(table: Table, width: int) -> tuple[Table, list[str]]:
    """The table without the columns that do not fit, and what those are called.

    Spare ones go first and are not missed; then the last ones, but never the first two.
    """
    spare = [at for at, column in enumerate(table.columns) if column.spare]
    keep = list(range(len(table.columns)))
    gone: list[str] = []
    held = table
    while _sum(_sizes(held, width)) > width and len(keep) > KEPT:
        out = spare.pop() if spare else keep[-1]
        keep.remove(out)
        gone = gone if table.columns[out].spare else [table.columns[out].heading, *gone]
        rows = [[row[at] for at in keep] for row in table.rows]
        held = replace(table, columns=[table.columns[at] for at in keep], rows=rows)
    return held, [name for name in gone if name]


KEPT = 2
"""Columns that are shown however narrow the screen is."""


def _sizes(table: Table, width: int) -> list[int]:
    """Widths of the columns, the flexible ones shortened as far as needed."""
    cells = [[column.heading for column in table.columns], *table.rows]
    sizes = [max(_width(visible(row[at])) for row in cells) for at in range(len(table.columns))]
    return _fit(sizes, [column.flexible for column in table.columns], width)


def _sum(sizes: Sequence[int]) -> int:
    return sum(sizes) + len(GAP) * (len(sizes) - 1)


def _fit(sizes: list[int], flexible: Sequence[bool], width: int) -> list[int]:
    """Column widths, the flexible ones shortened, the widest first, until the line fits."""
    sizes = list(sizes)
    while _sum(sizes) > width:
        widest = max(
            (i for i, flex in enumerate(flexible) if flex and sizes[i] > NARROWEST),
            key=lambda i: sizes[i],
            default=None,
        )
        if widest is None:
            break
        sizes[widest] -= 1
    return sizes


def _line(cells: Sequence[str], sizes: Sequence[int], aligns: Sequence[str]) -> str:
    padded = []
    for cell, size, align in zip(cells, sizes, aligns, strict=True):
        text = _shortened(cell, size)
        gap = " " * (size - _width(text))
        padded.append(gap + text if align == ">" else text + gap)
    return GAP.join(padded).rstrip()


def _shortened(text: str, size: int) -> str:
    """The end of a text that is too long: of a path and line, the end is what tells."""
    if _width(text) <= size:
        return text
    kept = text
    while kept and _width(kept) > size - 1:
        kept = kept[1:]
    return "…" + kept


def _width(text: str) -> int:
    """Columns that a text takes on a terminal: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
