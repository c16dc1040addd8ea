"""Sections as text for a terminal: aligned, no wider than asked, coloured only where it helps."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.validate.report.layout import Column, Items, Part, Section, Table
from assay.validate.report.safe import visible

BOLD, DIM, OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"

NARROWEST = 24

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
    """The table; one that is too wide loses spare columns, then goes on below itself."""
    table = _without_spare(table, width - 2)
    rows = [[visible(cell) for cell in row] for row in table.rows]
    heads = [visible(column.heading) for column in table.columns]
    sizes = [max(map(_width, cells)) for cells in zip(heads, *rows, strict=True)]
    sizes = _fit(sizes, [column.flexible for column in table.columns], width - 2)
    dim, off = (DIM, OFF) if colour else ("", "")
    lines: list[str] = []
    for shown in _pieces(sizes, table.columns, width - 2):
        picked = [sizes[at] for at in shown]
        aligns = [table.columns[at].align for at in shown]
        head = _line([heads[at] for at in shown], picked, aligns)
        lines += [""] if lines else []
        lines.append(f"  {dim}{head}{off}")
        lines += [f"  {_line([row[at] for at in shown], picked, aligns)}" for row in rows]
    return lines


def _without_spare(table: Table, width: int) -> Table:
    """The table without as many of its spare columns, the last first, as do not fit."""
    spare = [at for at, column in enumerate(table.columns) if column.spare]
    while spare and not _fits(table, width):
        gone = spare.pop()
        keep = [at for at in range(len(table.columns)) if at != gone]
        rows = [[row[at] for at in keep] for row in table.rows]
        table = replace(table, columns=[table.columns[at] for at in keep], rows=rows)
    return table


def _fits(table: Table, width: int) -> bool:
    """Whether all columns stand beside each other, the flexible ones shortened."""
    cells = [[column.heading for column in table.columns], *table.rows]
    sizes = [max(_width(visible(row[at])) for row in cells) for at in range(len(table.columns))]
    return _sum(_fit(sizes, [column.flexible for column in table.columns], width)) <= width


def _pieces(sizes: Sequence[int], columns: Sequence[Column], width: int) -> list[list[int]]:
    """Which columns stand beside each other: all, or as many as fit behind those that name a row.

    A row is named by the words it begins with, two at most, as far as they leave half the width.
    """
    every = list(range(len(sizes)))
    if _sum(sizes) <= width:
        return [every]
    words = next((at for at, column in enumerate(columns) if column.align == ">"), len(columns))
    names = every[: min(words, 2)]
    while len(names) > 1 and _sum([sizes[at] for at in names]) > width // 2:
        names.pop()
    pieces: list[list[int]] = []
    for at in every[len(names) :]:
        if pieces and _sum([sizes[one] for one in [*pieces[-1], at]]) <= width:
            pieces[-1].append(at)
        else:
            pieces.append([*names, at])
    return pieces or [every]


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
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
