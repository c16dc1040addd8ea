"""Titles that the markup of a document gives to one table: what they say is of its rows alone.

In: a line and those below it. Out: the last line of the table that the line is the title of: a
`caption` of HTML, or the directive of reStructuredText that a table stands in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

_CAPTION = deferred(r"\s*(?:<[^<>]*>\s*)*?<caption\b", re.IGNORECASE)

_DIRECTIVE = deferred(r"\s*\.\. (?:table|csv-table|list-table)::\s*\S")

_END = "</table"

LONGEST_TABLE = 2000
"""Lines of such a table: beyond them its end is not looked for."""


def table_end(lines: Sequence[Line], at: int) -> int:
    """The number of the last line of the table whose title stands at `at`; 0 where none does.

    >>> page = [".. table:: Runs on H100", "", "   === ===", "", "Of others."]
    >>> lines = [Line(n, text, 1, {}) for n, text in enumerate(page, 1)]
    >>> table_end(lines, 0), table_end(lines, 4)
    (4, 0)
    """
    text = lines[at].text
    if "::" in text and _DIRECTIVE.match(text):
        return _indented(lines[at : at + LONGEST_TABLE])
    if "<" in text and "caption" in text.casefold() and _CAPTION.match(text):
        below = lines[at : at + LONGEST_TABLE]
        ends = (each.number for each in below if _END in each.text.casefold())
        return next(ends, below[-1].number)
    return 0


def _indented(below: Sequence[Line]) -> int:
    """The last of the lines that are empty, or indented deeper than the first."""
    margin = _margin(below[0])
    last = below[0].number
    for line in below[1:]:
        if line.text.strip() and _margin(line) <= margin:
            break
        last = line.number
    return last


def _margin(line: Line) -> int:
    return line.column + len(line.text) - len(line.text.lstrip())
