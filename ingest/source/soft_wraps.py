"""Paragraphs that were broken into lines of some width, each in one line again.

In: the lines of a document with tables, as they stand on disk. Out: as many lines; the first of a
paragraph holds all of its words, and those that it went on in are empty. Whether its author broke
the lines at 80 columns or not at all is no matter for what it says, so all who read prose see one
form of it. A break is one of width where the first word of the next line had no room in this one,
by the widest line of the paragraph; lines that stop short of it are lines on purpose (an address,
a list without signs, a record), and stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from unicodedata import east_asian_width

NARROWEST = 24
"""Columns that lines are broken at, at least."""

MOST = 60
"""Lines of a paragraph."""

_TABLE = re.compile(
    rb"(?m)^[ \t>*-]*\|?[ \t]*:?-{2,}:?[ \t]*\||<t[rdh][ \t>]|^[ \t]*\+={3,}\+"
    rb"|^[ \t]*(?:={3,} +={3,}|-{3,} {2,}-{3,})|^[ \t]*\.\. (?:list-table|csv-table|table)::"
    rb"|^\|={3,}[ \t\r]*$|\\begin\{tabular"
)
"""Signs of a table in one syntax or another."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

_ITEM = re.compile(r"\s*(?:[-*+•] +|[0-9]{1,2}[.)] +)(?=\S)")

_OPENS = re.compile(r"\s*<(?:p|li|dd)(?:\s[^<>]*)?>(?=\s*\S)", re.IGNORECASE)

_NO_PROSE = re.compile(
    r"#{1,6}\s|>|\.\.(?:\s|$)|:[\w-]+:(?!`)|[|+]|(?:[-=~^_*\"'`#]{2,}\s*)+$"
    r"|<(?!https?:)|\\|%|\$ |>>>|(?!\{[\w:-]+\}`)[{}@&]|!\[|//|--\w"
    r"|\[\^?[\w.*†‡-]{1,4}\][: ]|(?:export|python3?|torchrun|srun|sbatch) "
    r"|\(?(?:\*(?!\*?[^*\s][^*]*\*)|[†‡§¶\u00b2\u00b3\u00b9\u1d2c-\u1dbf\u2070-\u209c])"
)
"""How a line begins that is no prose, or begins something of its own."""

_LAID_OUT = re.compile(r"[^\s.?!](?: {2,}|\t)\S|\||[.?!] {3,}\S")
"""A line with columns."""

_MEANT = re.compile(r"  $|\\$|(?:<br ?/?>|</(?:p|li|dd|div|h[1-6])>)\s*$", re.IGNORECASE)
"""An end of a line that its author meant."""

_LABEL = re.compile(r"(?:\*\*|__)?[\w()./-]+(?: [\w()./-]+){0,4}(?:\*\*|__)? ?(?:[:=：]|\*\*)")
"""How a line begins that is a record, where the one above has come to an end."""

_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]")

_ENDED = re.compile(r"[.!?。！？;；:：][)\"'”’*_`]*$")


def holds_tables(begin: bytes) -> bool:
    """Whether an input that begins so is a document with tables, and no log."""
    return _TABLE.search(begin) is not None


class Seam(NamedTuple):
    """Where a line begins that was joined to those above it: in their text, and on disk."""

    at: int
    line: int
    column: int


Seams = Mapping[int, Sequence[Seam]]
"""The seams of paragraphs, by the line that each begins in."""


def joined(data: bytes) -> tuple[bytes, Seams]:
    r"""Lines of a document, each paragraph that was broken at some width on its first, and where
    its others begin there.

    >>> text, seams = joined(b"We train on eight nodes with 8\nH100 each, in bf16.\n")
    >>> text.decode(), seams[1]
    ('We train on eight nodes with 8 H100 each, in bf16.\n\n', [Seam(at=31, line=2, column=1)])
    >>> joined(b"8 nodes of 8 H100 each\nBF16\nand a third line\n")[1]
    {}
    """
    lines, seams = rejoined(data.decode("utf-8", "surrogateescape").split("\n"))
    return "\n".join(lines).encode("utf-8", "surrogateescape") if seams else data, seams


def rejoined(lines: Sequence[str]) -> tuple[Sequence[str], Seams]:
    """The same of lines that are cut already."""
    found = list(lines)
    seams = dict[int, Sequence[Seam]]()
    for first, last in _paragraphs(lines):
        found[first], seams[first + 1] = _whole(lines, first, last)
        found[first + 1 : last + 1] = [""] * (last - first)
    return found, seams


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and last line of each run of lines that were one."""
    for first, stop in _prose(lines):
        widths = [_width(line.rstrip()) for line in lines[first:stop]]
        widest, begin = max(widths), first
        for at in range(first + 1, stop + 1):
            if at < stop and _broken(lines[at - 1], lines[at], widths[at - 1 - first], widest):
                continue
            if at - 1 > begin:
                yield begin, at - 1
            begin = at


def _prose(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where lines of prose follow each other: the first, and the one behind the last."""
    first, inset, fence = 0, -1, ""
    for at, line in enumerate([*lines, ""]):
        text = line.strip()
        edge = _FENCE.match(line)
        if inset >= 0 and (edge or at - first >= MOST or not _goes_on(line, text, inset)):
            yield first, at
            inset = -1
        if edge and not fence:
            fence = edge[1]
        elif edge and edge[1].startswith(fence):
            fence = ""
        elif not fence and inset < 0:
            first, inset = at, _inset(line, text)
        if inset >= 0 and _MEANT.search(line.rstrip("\r")):
            yield first, at + 1
            inset = -1


def _inset(line: str, text: str) -> int:
    """The column in which the words of a paragraph begin that a line opens; -1 if it opens none."""
    item = _ITEM.match(line) or _OPENS.match(line)
    rest = line[item.end() :] if item else text
    if not rest.strip() or _NO_PROSE.match(rest) or _LAID_OUT.search(rest):
        return -1
    if item:
        return item.end()
    return -1 if line[0].isspace() else 0


def _goes_on(line: str, text: str, inset: int) -> bool:
    """Whether a line may carry on a paragraph whose words begin in some column."""
    if not text or _ITEM.match(line) or _NO_PROSE.match(text) or _LAID_OUT.search(text):
        return False
    return len(line) - len(line.lstrip()) <= inset


def _broken(line: str, below: str, width: int, widest: int) -> bool:
    """Whether the break between two lines of a paragraph is one of its width."""
    below = below.lstrip()
    own = _LABEL.match(below) and (_ENDED.search(line.rstrip()) or _LABEL.match(line.lstrip()))
    if own or widest < NARROWEST:
        return False
    if below[0].islower() and not _ENDED.search(line.rstrip()) and not _LABEL.match(below):
        return True  # in the middle of a sentence
    word = below[0] if _WIDE.match(below) else below.split(maxsplit=1)[0]
    return width + (not _WIDE.match(below)) + _width(word) > widest


def _width(text: str) -> int:
    wide = 0 if text.isascii() else sum(east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide


def _whole(lines: Sequence[str], first: int, last: int) -> tuple[str, list[Seam]]:
    """Some lines in one, and where all but the first of them begin in it."""
    text, seams = lines[first].rstrip(), list[Seam]()
    for number, line in enumerate(lines[first + 1 : last + 1], first + 2):
        more = line.strip()
        text += "" if _WIDE.match(text[-1:]) and _WIDE.match(more) else " "
        seams.append(Seam(len(text), number, line.index(more) + 1))
        text += more
    return text + ("\r" if lines[last].endswith("\r") else ""), seams
