"""Words in the last rows of tables that are of the whole table: `<tfoot>`, a row over all columns.

In: the lines of one table, from its first to its last. Out: such words as lines of prose, as wide
as they were, each note in them a line of its own. A row of totals is no such words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

_ROW = deferred(r"<tr\b[^<>]*>", re.IGNORECASE)

_CELL = deferred(r"<t[dh]\b[^<>]*>", re.IGNORECASE)

_OVER_ALL = deferred(r"<t[dh]\b[^<>]*\bcolspan\s*=\s*[\"']?[2-9]", re.IGNORECASE)

_TAGS = deferred(
    r"</?(?:table|thead|tbody|tfoot|tr|t[dh]|p|small|em|strong|[ib]|span|div|font|center|br|hr)\b"
    r"[^<>]*>",
    re.IGNORECASE,
)

_BROKEN = deferred(r"<br\s*/?>|(?<=[.;])\s+(?=<sup\b)", re.IGNORECASE)
"""Between what is said of the whole table and a note on some of its rows."""

_WORD = re.compile(r"[^\W\d_]{2,}")

LEAST = 3
"""Words of what is no name of a group of rows, and no total."""

MOST = 60
"""Lines at the end of a table in which its last row begins."""


def footer(table: Sequence[Line]) -> Sequence[Line]:
    """The words below the rows of a table, inside it, as lines of prose.

    >>> rows = ["<tr><td>A</td><td>5</td></tr>", "<tr><td colspan=2>All runs in bf16.</td></tr>"]
    >>> [line.text.strip() for line in footer([Line(n, row, 1, {}) for n, row in enumerate(rows)])]
    ['All runs in bf16.']
    >>> rows = ["| A | 5 |", "| All of them ran in bf16 | |"]
    >>> [line.text.strip() for line in footer([Line(n, row, 1, {}) for n, row in enumerate(rows)])]
    ['All of them ran in bf16']
    >>> [*footer([Line(1, "<tr><td colspan=2>Llama 8B</td></tr>", 1, {})])]
    []
    """
    if table and table[-1].text.lstrip().startswith("|"):
        held = list(_piped(table))
    else:
        held = list(_marked_up(table))
    words = sum(len(_WORD.findall(line.text)) for line in held)
    return held if words >= LEAST else []


def _piped(table: Sequence[Line]) -> Iterator[Line]:
    """The last row of a table of pipes, where all but its first cell is empty."""
    last = table[-1]
    first, *others = last.text.strip().strip("|").split("|")
    if len(table) > 1 and others and not any(other.strip() for other in others) and first.strip():
        yield last._replace(text=re.sub(r"[|*]", " ", last.text))


def _marked_up(table: Sequence[Line]) -> Iterator[Line]:
    """The last row of an HTML table, where it is one cell over several columns."""
    begin = next(
        (at for at in range(len(table) - 1, max(-1, len(table) - 1 - MOST), -1)
         if _ROW.search(table[at].text)), None,
    )  # fmt: skip
    if begin is None:
        return
    opened = [*_ROW.finditer(table[begin].text)][-1]
    texts = [table[begin].text[opened.end() :], *(line.text for line in table[begin + 1 :])]
    cells = sum(len(_CELL.findall(text)) for text in texts)
    if cells != 1 or not any(_OVER_ALL.search(text) for text in texts):
        return
    for at, line in enumerate(table[begin:]):
        start = opened.end() if at == 0 else 0
        text = " " * start + line.text[start:]
        for piece in _pieces(text):
            bare = _TAGS.sub(lambda tag: " " * len(tag[0]), piece)
            if bare.strip():
                yield line._replace(text=bare)


def _pieces(text: str) -> Iterator[str]:
    """The words on all rows, and each note, at its place in the line."""
    begin = 0
    for end in _BROKEN.finditer(text):
        yield " " * begin + text[begin : end.start()]
        begin = end.end()
    yield " " * begin + text[begin:]
