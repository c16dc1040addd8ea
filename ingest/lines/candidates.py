"""Lines that a format may look at: those that begin its records, and those below within reach.

Finding heads is a literal scan over the whole column; all else happens on what is left, so that a
log of noise costs a scan and no more. What is open under the last of several openings is open until
as many closings have come: ranks print their dumps into each other. What is never closed is open as
far as its reach goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.ingest.schema.fields import without_html
from assay.ingest.schema.format import Format, Reach
from assay.ingest.source.blocks import Mask, Places, series
from assay.ingest.source.prefixes import holds


class Edges(NamedTuple):
    """Line numbers where something opens, and where it closes."""

    opens: Places
    closes: Places

    def joined(self, other: Edges) -> Edges:
        """Edges of this and of `other` together, each once and in order."""
        if not (len(other.opens) or len(other.closes)):
            return self
        return Edges(*(np.union1d(mine, more) for mine, more in zip(self, other, strict=True)))

    def among(self, stands: Mask, first: int) -> Edges:
        """Edges on the lines that `stands`, a mask of the lines from `first` on, marks."""
        return Edges(*(lines[stands[lines - first]] for lines in self))


class Open(NamedTuple):
    """Documents that are open at some line: how many, and where the last of them began."""

    many: int = 0
    last: int = 0


NOTHING = Edges(np.zeros(0, np.int64), np.zeros(0, np.int64))


def edges(lines: pl.DataFrame, head: str, reach: Reach, *, above: bool = False) -> Edges:
    """Where lines (line, text) open and close what `head` opens.

    Where nothing is opened, here or `above`, nothing is closed.
    """

    if lines.is_empty():
        return NOTHING

    def found(pattern: str) -> Places:
        return lines["line"].filter(lines["text"].str.contains(pattern)).to_numpy().astype(np.int64)

    opens = found(head)
    closed = reach.closed if above or len(opens) else None
    return Edges(opens, found(closed) if closed else NOTHING.closes)


def spans(edges: Edges, reach: Reach, above: Open, end: int) -> Iterator[tuple[int, int]]:
    """First and last line of what is within reach, up to line `end`; `above` is open before."""
    count, last = above
    for line, opens in _events(edges):
        if count:
            yield last, min(line, last + reach.lines)
        count, last = (count + 1, line) if opens else (max(count - 1, 0), last)
    if count:
        yield last, min(end, last + reach.lines)


def after(edges: Edges, above: Open) -> Open:
    """Documents that are open behind these edges."""
    count, last = above
    for line, opens in _events(edges):
        count, last = (count + 1, line) if opens else (max(count - 1, 0), last)
    return Open(count, last)


def marked(edges: Edges, reach: Reach, above: Open, lines: Places) -> Mask:
    """Mask of the lines, given in order, that are within reach."""
    within = np.zeros(len(lines), np.bool_)
    if len(lines):
        for begin, end in spans(edges, reach, above, int(lines[-1])):
            within[np.searchsorted(lines, begin) : np.searchsorted(lines, end, "right")] = True
    return within


def _events(edges: Edges) -> list[tuple[int, bool]]:
    opens = [(line, True) for line in edges.opens.tolist()]
    return sorted(opens + [(line, False) for line in edges.closes.tolist()])


def candidates(lines: pl.DataFrame, fmt: Format) -> pl.DataFrame:
    """The lines (line, text) a format may look at; none where no head occurs."""
    lines = lines.select("line", "text")
    if fmt.lines == "document":
        return lines if opening(lines["text"], fmt) else lines.clear()
    first = begun(lines, fmt)
    if first.is_empty():
        return first
    held = lines["line"].is_in(first["line"].implode())
    begin, numbers = lines.filter(held), lines["line"].to_numpy().astype(np.int64)
    for head, reach in fmt.reach.items():
        held |= series(marked(edges(begin, head, reach), reach, Open(), numbers))
    return lines.filter(held)


def openings(formats: Sequence[Format]) -> tuple[str, ...]:
    """Patterns one of which is found in every line that begins a record of one of these formats,
    or opens a document of it."""
    literals = (re.escape(head).replace(r"\ ", " ") for fmt in formats for head in fmt.heads
                if fmt.opens is None)  # fmt: skip
    return (*filter(None, ["|".join(literals)]), *(fmt.opens for fmt in formats if fmt.opens))


def begun(lines: pl.DataFrame, fmt: Format) -> pl.DataFrame:
    """The lines (line, text) on which a record of a format of single lines may begin."""
    if lines.is_empty():
        return lines
    held = lines["text"].str.contains_any(list(fmt.heads))
    if not held.any():  # as with most formats
        return lines.clear()
    found = lines.filter(held)
    return found if fmt.opens is None else found.filter(holds(found["text"], fmt.opens))


def opening(texts: pl.Series, fmt: Format) -> bool:
    """Whether a line with a head of a document format opens a document of it."""
    return bool(opens(texts, fmt).any())


def opens(texts: pl.Series, fmt: Format, *, plain: bool = False) -> pl.Series:
    """The lines with a head of a document format that open a document of it; `plain`: of ASCII.

    A row of a table also does where it would with its labels as they are shown.
    """
    found = _opens(texts, fmt, plain=plain)
    at = texts.str.contains_any(list(MARKED)).arg_true()
    if not len(at):
        return found
    shown = without_html(texts.gather(at)).str.replace_all(r"\*\*|`", "")
    return found.scatter(at, found.gather(at) | _opens(shown, fmt, plain=plain))


MARKED = ("| **", "|**", "| `", "|`", "&nbsp;", "<br")
"""Signs of rows with marks around the words of labels, or between them."""

IN_MARKS = "|".join(re.escape(mark).replace(r"\ ", " ") for mark in MARKED)


def _opens(texts: pl.Series, fmt: Format, *, plain: bool) -> pl.Series:
    held = texts.str.contains_any(list(fmt.heads))
    if fmt.opens is None or not held.any():
        return held
    at = held.arg_true()
    found = holds(texts.gather(at), fmt.opens, plain=plain)
    if not found.all() and fmt.lines == "document":
        found |= holds(in_bars(texts.gather(at)), fmt.opens)
    return held.scatter(at, found)


def in_bars(texts: pl.Series) -> pl.Series:
    """Lines as the rows of tables that they are in other syntaxes, with a bar around every cell; as
    they are where they stand in a string of a notebook.

    >>> rows = ['    "| M | N |\\\\n",', "M | N", "<tr><th>M</th> <th>N</th></tr>", "   * - M"]
    >>> in_bars(pl.Series(rows)).to_list()
    ['| M | N |', '| M | N |', '| M | N |', '| M |']
    """
    at = texts.str.contains_any(list(_MAY_BAR), ascii_case_insensitive=True).arg_true()
    if not len(at):
        return texts
    # `scatter` writes in place, and the texts are others'
    return texts.clone().scatter(at, [_in_bars(text) for text in texts.gather(at)])


def _in_bars(text: str) -> str:
    for form, row in _IN_BARS:
        text = form.sub(row, text)
    return text


_MAY_BAR = ('\\n"', "<t", " | ", "- ")

_IN_BARS = (
    (re.compile(r'^\s+(?:"source": ?\[)?"(.*)\\n",?\s*$'), r"\1"),
    (re.compile(r"</t[hd]>\s*<t[hd](?:\s[^<>]*)?>", re.IGNORECASE), " | "),
    (
        re.compile(
            r"^\s*(?:<t(?:able|head|body|r)(?:\s[^<>]*)?>\s*)*<t[hd](?:\s[^<>]*)?>", re.IGNORECASE
        ),
        "| ",
    ),
    (re.compile(r"</t[hd]>\s*(?:</t(?:able|head|body|r)>\s*)*$", re.IGNORECASE), " |"),
    (re.compile(r"^\s{0,8}([^|:=\s][^|:=]*(?: \| [^|:=]*[^|:=\s])+)\s*$"), r"| \1 |"),
    (re.compile(r"^\s{2,}(?:\* )?- ([^|:=]{1,80})$"), r"| \1 |"),
)
"""Rows of notebooks, of HTML, of Markdown without outer bars, of lists of reStructuredText."""
