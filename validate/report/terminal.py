"""Sections as text for a terminal: aligned, no wider than asked, coloured only where it helps."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

from assay.validate.report.layout import Items, Part, Section, Table
from assay.validate.report.safe import visible

BOLD, DIM, OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"
NARROWEST = 12
GAP = "  "


def render(sections: Iterable[Section], *, width: int = 100, colour: bool = False) -> str:
    """The whole report; `width` in columns. Without `colour` no escape sequence is written."""
    bold, off = (BOLD, OFF) if colour else ("", "")
    blocks = []
    for section in sections:
        lines = [f"{bold}{visible(section.title)}{off}"]
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
    rows = [[visible(cell) for cell in row] for row in table.rows]
    heads = [column.heading for column in table.columns]
    sizes = [max(map(_width, cells)) for cells in zip(heads, *rows, strict=True)]
    sizes = _fit(sizes, [column.flexible for column in table.columns], width - 2)
    aligns = [column.align for column in table.columns]
    dim, off = (DIM, OFF) if colour else ("", "")
    head = _line(heads, sizes, aligns)
    return [f"  {dim}{head}{off}", *(f"  {_line(row, sizes, aligns)}" for row in rows)]


def _fit(sizes: list[int], flexible: Sequence[bool], width: int) -> list[int]:
    """Column widths, the flexible ones shortened, the widest first, until the line fits."""
    sizes = list(sizes)
    while sum(sizes) + len(GAP) * (len(sizes) - 1) > width:
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
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
