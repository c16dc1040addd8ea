"""Titles of one table, and notes on one: what they say is of its rows alone.

In: a line and those around it. Out: the lines of the table that the line is the title of, or speaks
of from below. Titles are a `caption` of HTML, the directive of reStructuredText that a table stands
in, and a line in bold, or with a colon behind it, where the next table has one of the same form
that does not go on from the first. Notes begin with what is above them: `These were run on A100.`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

from assay.ingest.columns.other_runs import of_the_table_above
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

_CAPTION = deferred(r"\s*(?:<[^<>]*>\s*)*?<caption\b", re.IGNORECASE)

_DIRECTIVE = deferred(r"\s*\.\. (?:table|csv-table|list-table)::\s*\S")

_END = "</table"

LONGEST_TABLE = 2000
"""Lines of such a table: beyond them its end is not looked for."""


def table_end(lines: Sequence[Line], at: int, rows: Set[int]) -> int:
    """The number of the last line of the table whose title stands at `at`; 0 where none does.
    `rows` are lines of tables, of which `lines` may lack some.

    >>> page = [".. table:: Runs on H100", "", "   === ===", "", "Of others."]
    >>> lines = [Line(n, text, 1, {}) for n, text in enumerate(page, 1)]
    >>> table_end(lines, 0, {3}), table_end(lines, 4, {3})
    (4, 0)
    >>> page = [Line(2, "<caption>On 8 H100</caption>", 1, {}), Line(9, "Of others.", 1, {})]
    >>> table_end(page, 0, {2, 3, 4, 5})
    5
    """
    text = lines[at].text
    if "::" in text and _DIRECTIVE.match(text):
        return _indented(lines[at : at + LONGEST_TABLE], rows)
    if "<" in text and "caption" in text.casefold() and _CAPTION.match(text):
        below = lines[at : at + LONGEST_TABLE]
        ends = (each.number for each in below if _END in each.text.casefold())
        return next(ends, 0) or _last(lines[at].number, rows, 1)
    return 0


def titles_table(text: str) -> bool:
    """Whether a line is the title of a table in its markup, whatever it says."""
    directive = "::" in text and _DIRECTIVE.match(text) is not None
    return directive or ("caption" in text.casefold() and _CAPTION.match(text) is not None)


def _indented(below: Sequence[Line], rows: Set[int]) -> int:
    """The last of the lines that are empty, or indented deeper than the first; the rows of the
    table may be missing among them, and so may all that is behind it."""
    margin = _margin(below[0])
    behind = (line for line in below[1:] if line.text.strip() and _margin(line) <= margin)
    first = next(behind, None)
    if first:
        return first.number - 1
    number = below[0].number
    begin = next((n for n in range(number, number + LONGEST_TABLE) if n in rows), 0)
    return _last(begin, rows, 1) if begin else number + LONGEST_TABLE


def _margin(line: Line) -> int:
    return line.column + len(line.text) - len(line.text.lstrip())


_BOLD = deferred(r"\s*(\*\*|__)[^*_|]+\1:?\s*(?:[(（][^()（）|]*[)）])?:?\s*$")

_COLON = deferred(
    r"\s*(?![-*+>#|<]\s|[0-9]+[.)]\s)[^|()（）]{3,80}[(（][^|()（）]+[)）]\s*[:：]\s*$"
)

_GOES_ON = deferred(
    r"[\W_]*(?:(?:and|now|then|the same|same|again|still)[ ,]+)*"
    r"(?:with|without|using|w/o?|on|for|at|no|same|when|if|after|adding|plus|enabling|single|multi|相同|使用|关闭|开启|其他)(?![A-Za-z])",
    re.IGNORECASE,
)
"""How a title begins of what differs from the table before in this alone."""

MOST_BETWEEN = 40
"""Lines between a table and the title of the next."""

APART = 3
"""Lines from a title to its table, or from a table to a note on it."""


def _form(text: str) -> str:
    """How a line that may be the title of a table is written; empty where it is none."""
    if "**" in text or "__" in text:
        return "bold" if _BOLD.match(text) else ""
    return "colon" if text.rstrip().endswith((":", "：")) and _COLON.match(text) else ""


def own_table(lines: Sequence[Line], at: int, rows: Set[int]) -> int:
    """The last line of the table right below the title at `at`, where the table before or the next
    has a title of the same form, and neither goes on from the other; 0 elsewhere. `rows` are lines
    of tables.

    >>> page = [Line(1, "**Small (TP=2)**", 1, {}), Line(7, "**Large (PP=4)**", 1, {})]
    >>> own_table(page, 0, {3, 4, 5, 9, 10, 11}), own_table(page, 1, {3, 4, 5, 9, 10, 11})
    (5, 11)
    >>> own_table([page[0], page[1]._replace(text="**With PP=4**")], 0, {3, 4, 5, 9, 10, 11})
    0
    """
    form = _form(lines[at].text)
    first = _right_below(lines[at].number, rows) if form else 0
    if not first:
        return 0
    end, behind = _last(first, rows, 1), lines[at + 1 : at + 1 + MOST_BETWEEN]
    before = lines[max(0, at - MOST_BETWEEN) : at][::-1]
    mine = not _GOES_ON.match(lines[at].text)
    above = _titled_next(before, rows, form) if mine else None
    below = _titled_next((line for line in behind if line.number > end), rows, form)
    return end if above or (below and not _GOES_ON.match(below.text)) else 0


def _titled_next(lines: Iterable[Line], rows: Set[int], form: str) -> Line | None:
    """The title of the next table, or of the one before, where it has this form; of no other
    section."""
    for line in lines:
        if line.text.lstrip().startswith("#"):
            return None
        if line.number not in rows and _right_below(line.number, rows):
            return line if _form(line.text) == form else None
    return None


def _right_below(line: int, rows: Set[int]) -> int:
    """The first line of the table that stands right below a line; 0 where none does."""
    return next((n for n in range(line + 1, line + APART + 1) if n in rows), 0)


def _last(line: int, rows: Set[int], step: int) -> int:
    """The line that a table ends with, up or down from one of it."""
    count = 0
    while line + step in rows and count < LONGEST_TABLE:
        line, count = line + step, count + 1
    return line


def table_of_all_rows(lines: Sequence[Line], at: int, rows: Set[int]) -> tuple[int, int] | None:
    """The first and the last line of the table whose rows the sentence at `at` is of, all of them:
    the one table of its section below it, where that stands before the next heading.

    >>> texts = ["All rows use a batch of 4, and", "4096 tokens.", "| - |", "## Next", "| - |"]
    >>> page = [Line(n, text, 1, {}) for n, text in enumerate(texts, 1)]
    >>> table_of_all_rows(page, 1, {3, 5}), table_of_all_rows(page, 3, {3, 5})
    ((3, 3), None)
    """
    if not _of_all_rows(lines, at):
        return None
    found: list[int] = []
    for line in lines[at + 1 : at + LONGEST_TABLE]:
        if line.number in rows:
            if found and line.number > found[-1] + NEXT_ROW:
                return None  # which of its tables it is of, the sentence does not say
            found.append(line.number)
        elif line.text.startswith("#"):
            break
    return (found[0], found[-1]) if found else None


def of_all_rows(text: str) -> bool:
    """Whether a sentence of a text is of all rows of the table that stands below it."""
    return _ALL_ROWS.search(text) is not None


def _of_all_rows(lines: Sequence[Line], at: int) -> bool:
    """Whether the line at `at`, or the sentence that goes on in it, is of all rows of a table."""
    if _ALL_ROWS.search(lines[at].text):
        return True
    for before in lines[max(0, at - MOST_OF_A_SENTENCE) : at][::-1]:
        number = lines[at].number
        if not before.text.strip() or not 0 < number - before.number <= MOST_OF_A_SENTENCE:
            return False
        if told := _ALL_ROWS.search(before.text):
            return _SENTENCE_ENDS.search(before.text, told.end()) is None
        if _SENTENCE_ENDS.search(before.text):
            return False
    return False


_ALL_ROWS = re.compile(
    r"(?:^|[.;:!] )\W{0,3}(?:All|Every|Each)(?: of the)? rows?\b"
    r"(?! (?:below|above|of this|adds?|keeps?|builds?|includes?|also)\b)"
)
"""How a sentence begins that is of the rows of a table: `All rows use bf16.`"""

_SENTENCE_ENDS = re.compile(r"[.!?](?:\s|$)")

MOST_OF_A_SENTENCE = 3
"""Lines over which a sentence goes on."""

NEXT_ROW = 2
"""Lines to the next row of one table at most, a rule or a row without values between them."""


def table_above(line: Line, rows: Set[int]) -> tuple[int, int] | None:
    """The first and the last line of the table that the line right below it speaks of.

    >>> table_above(Line(5, "These were run on A100.", 1, {}), {1, 2, 3})
    (1, 3)
    >>> table_above(Line(5, "These run on A100:", 1, {}), {1, 2, 3}) is None
    True
    """
    if not of_the_table_above(line.text):
        return None
    above = range(line.number - 1, line.number - APART - 1, -1)
    last = next((n for n in above if n in rows), 0)
    return (_last(last, rows, -1), last) if last else None
