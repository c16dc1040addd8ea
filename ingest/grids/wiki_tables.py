"""Tables of wikis and of AsciiDoc as grids: MediaWiki, DokuWiki, Jira, MoinMoin, Textile, Creole.

In: the lines of a document. Out: a `Grid` for each table. MediaWiki and AsciiDoc have blocks, whose
cells may stand on lines of their own and span others; the rest have a line for each row, the header
told by its signs: `^ a ^ b ^`, `||a||b||`, `|_. a |_. b |`, `|= a |= b |`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.ingest.grids.grid import (
    LONGEST,
    Grid,
    GridCell,
    GridRow,
    Ragged,
    SpansError,
    laid_out,
)
from assay.ingest.schema.record import Line

MOST_LINES = 5000
"""Lines that a block may take."""

AGAIN = 4
"""Times as many lines as a document has that are followed in it, for blocks that may never end."""

_OPENS = re.compile(r"[\s:*#]{0,8}\{\|(?!\})")

_CLOSES = re.compile(r"\s*\|\}")

_ATTRIBUTES = re.compile(r"[^|\[\]{}<>]{0,200}=[^|\[\]{}<>]{0,200}\|(?!\|)")

_SPAN = re.compile(r"\b(row|col)span\s*=\s*[\"']?\s*([0-9]{1,4})", re.IGNORECASE)

_MARKUP = (
    (re.compile(r"<ref[^<>]*/>|<ref[^<>]*>[^<>]*</ref>", re.IGNORECASE), ""),
    (re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]"), r"\1"),
    (re.compile(r"\[(?:https?:)?//[^\s\]]+\s+([^\[\]]+)\]"), r"\1"),
    (re.compile(r"\[([^\[\]|]+)\|(?:https?:)?//[^\[\]\s]+\]"), r"\1"),
    (re.compile(r"'{2,5}"), ""),
    (re.compile(r"\{color(?::[^{}]*)?\}"), ""),
    (re.compile(r"</?(?:nowiki|small|big|span|center|code|tt)\b[^<>]*>", re.IGNORECASE), ""),
)
"""Marks of a text that are no part of it, and what stays of them."""

_BREAK = re.compile(r"<br\s*/?>|\\\\(?=\s|$)", re.IGNORECASE)


def wiki_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table of a document that is written as wikis have them."""
    at, left = 0, AGAIN * len(lines) + MOST_LINES
    while at < len(lines):
        text = lines[at].text
        grid = None
        if "{|" in text and left > 0 and _OPENS.match(text):
            grid = _of_mediawiki(lines, at)
            left -= grid.end - at if grid else min(MOST_LINES, len(lines) - at)
        elif text.startswith("|===") and not text.strip("|="):
            grid = _of_asciidoc(lines, at)
        elif text.lstrip()[:1] in ("|", "^"):
            grid = _of_lines(lines, at)
        if grid:
            yield grid
        at = grid.end if grid else at + 1


@dataclass
class _Row:
    cells: list[Ragged] = field(default_factory=list)
    heads: int = 0  # how many of them are labels


def _bare(text: str) -> str:
    """A text without the marks around its words."""
    if len(text) > LONGEST:
        return text.strip()
    for form, kept in _MARKUP:
        text = form.sub(kept, text)
    return _BREAK.sub(" ", text).strip()


def _cell(text: str, line: Line, offset: int) -> Ragged:
    """A cell with its spans, by its text and where that stands in its line."""
    told = _ATTRIBUTES.match(text)
    spans = (
        {name[:3].casefold(): int(count) for name, count in _SPAN.findall(told[0])} if told else {}
    )
    begin = told.end() if told else 0
    own = text[begin:]
    place = line.column + offset + begin + len(own) - len(own.lstrip())
    return Ragged(_bare(own), line.number, place, spans.get("row", 1), spans.get("col", 1))


def _of_mediawiki(lines: Sequence[Line], begin: int) -> Grid | None:
    """The table that `{|` opens; None of one that never ends."""
    rows, caption, depth = [_Row()], "", 0
    for at in range(begin + 1, min(len(lines), begin + MOST_LINES)):
        line, text = lines[at], lines[at].text.lstrip()
        offset = len(line.text) - len(text)
        if depth or text.startswith("{|"):  # another table in a cell
            depth += (text.startswith("{|")) - (text.startswith("|}"))
        elif _CLOSES.match(text):
            return _grid(lines, begin, at + 1, rows, caption)
        elif text.startswith("|+"):
            told = _ATTRIBUTES.match(text[2:])
            caption = _bare(text[2 + (told.end() if told else 0) :])
        elif text.startswith("|-"):
            rows.append(_Row())
        elif text[:1] in ("|", "!"):
            _cells_of(rows[-1], text, line, offset)
        elif rows[-1].cells and text:
            last = rows[-1].cells[-1]
            rows[-1].cells[-1] = last._replace(text=f"{last.text} {_bare(text)}".strip())
    return None


def _cells_of(row: _Row, text: str, line: Line, offset: int) -> None:
    """Put the cells of a line of MediaWiki into their row."""
    head, place = text[0] == "!", 1
    for part in re.split(r"(\|\||!!)" if head else r"(\|\|)", text[1:]):
        if part not in ("||", "!!"):
            row.cells.append(_cell(part, line, offset + place))
            row.heads += head
        place += len(part)


def _grid(
    lines: Sequence[Line], begin: int, end: int, rows: Sequence[_Row], caption: str
) -> Grid | None:
    """A grid of rows; its header is what stands in cells of labels alone, or else the first row."""
    rows = [row for row in rows if row.cells]
    try:
        laid = laid_out([row.cells for row in rows])
    except SpansError:
        return None
    if len(rows) < len(("header", "row")):
        return None
    heads = next((at for at, row in enumerate(rows) if row.heads < len(row.cells)), len(rows)) or 1
    if heads == len(rows):
        heads = 1  # all of them are labels: so is the first column
    width = max(map(len, laid[:heads]))
    by_number = {line.number: line for line in lines[begin:end]}
    made = [
        GridRow(by_number[row.cells[0].line], _filled_up(cells, width))
        for row, cells in zip(rows, laid, strict=True)
    ]
    return Grid("wiki", begin, end, tuple(made[:heads]), tuple(made[heads:]), caption, exact=False)


def _filled_up(cells: tuple[GridCell, ...], width: int) -> tuple[GridCell, ...]:
    """As many cells as a header has, where a row may be shorter."""
    last = cells[-1]._replace(text="", rows=1, columns=1)
    return (*cells, *(last for _ in range(width - len(cells))))


_SPECIFIED = re.compile(
    r"(?:(?:([0-9]{1,3})?(?:\.([0-9]{1,3}))?\+)?[<^>]?(?:\.[<^>])?[adehlmsv]?)\|"
)
"""Signs before the text of a cell of AsciiDoc: how far it spans, how it is set."""

_COLUMNS = re.compile(r"\[.*?cols\s*=\s*\"([^\"]*)\"")

_HEADED = re.compile(r"\[.*?(?:options\s*=\s*\"[^\"]*header|%[\w%]*header)")


def _of_asciidoc(lines: Sequence[Line], begin: int) -> Grid | None:
    """The table between two lines of `|===`: as many cells a row as its first line, or what stands
    above it, has columns."""
    end = begin + 1
    while end < len(lines) and lines[end].text.rstrip() != lines[begin].text.rstrip():
        end += 1
        if end > begin + MOST_LINES:
            return None
    body = [line for line in lines[begin + 1 : end] if line.text.strip()]
    if end == len(lines) or not body:
        return None
    above = [line.text.strip() for line in lines[max(0, begin - 3) : begin]]
    settings = " ".join(text for text in above[-2:] if text.startswith("["))
    caption = next((t[1:] for t in above if t.startswith(".") and t[1:2].strip(". ")), "")
    cells, first = list[Ragged](), 0
    for line in body:
        found = list(_SPECIFIED.finditer(line.text))
        ends = [*(sign.start() for sign in found[1:]), len(line.text)]
        for sign, end_of_cell in zip(found, ends, strict=False):
            text = line.text[sign.end() : end_of_cell]
            place = line.column + sign.end() + len(text) - len(text.lstrip())
            down, wide = int(sign[2] or 1), int(sign[1] or 1)
            cells.append(Ragged(_bare(text.replace("*", "")), line.number, place, down, wide))
        if not found and cells:
            cells[-1] = cells[-1]._replace(text=f"{cells[-1].text} {line.text.strip()}".strip())
        first = first or sum(cell.columns for cell in cells)
    told = _COLUMNS.search(settings)
    width = _count(told[1]) if told else first
    rows = _of_width(cells, width)
    if width < len(("one", "another")) or not rows:
        return None
    blank = lines[begin + 1 : end][1:2] and not lines[begin + 2].text.strip()
    headed = bool(blank) or _HEADED.search(settings) is not None
    rows[0].heads = len(rows[0].cells) if headed else 0
    return _grid(lines, begin, end + 1, rows, caption)


def _count(columns: str) -> int:
    """How many columns a setting has: `1,2,2`, `3*`."""
    parts = [re.match(r"\s*([0-9]{1,2})\*", part) for part in columns.split(",")]
    return sum(int(found[1]) if found else 1 for found in parts)


def _of_width(cells: Sequence[Ragged], width: int) -> list[_Row]:
    """Rows that fill their width, with what spans them from above; nothing where they do not."""
    rows, left, below = [_Row()], width, list[int]()
    for cell in cells:
        if left <= 0:
            rows.append(_Row())
            left = width - (below.pop(0) if below else 0)
        rows[-1].cells.append(cell)
        left -= cell.columns
        below += [0] * (cell.rows - 1 - len(below))
        for n in range(cell.rows - 1):
            below[n] += cell.columns
    return rows if left == 0 else []


_RULE = re.compile(r"[\s|:^+=-]*")


def _of_lines(lines: Sequence[Line], begin: int) -> Grid | None:
    """The table of a row a line that begins with one of labels."""
    head = _signed(lines[begin].text)
    below = lines[begin + 1].text if begin + 1 < len(lines) else ""
    if head is None or len(head[1]) < len(("one", "another")) or _RULE.fullmatch(below):
        return None
    sign, _ = head
    rows, end = [_Row()], begin
    for at in range(begin, min(len(lines), begin + MOST_LINES)):
        line, text = lines[at], lines[at].text
        if text.lstrip()[:1] not in ("|", "^"):
            break
        found = _signed(text) if at == begin else None
        parts = found[1] if found else _parts(text, sign)
        row = rows[-1] if at == begin else _Row()
        row.cells = [_cell(part, line, offset) for part, offset in parts]
        row.heads = len(row.cells) if found else 0
        if at > begin:
            rows.append(row)
        end = at + 1
    return _grid(lines, begin, end, rows, "")


_SIGNED = (
    ("^", re.compile(r"\s*\^[^|^]*\^[^|]*\^\s*"), re.compile(r"\^")),
    ("||", re.compile(r"\s*\|\|[^|]+(?:\|\|[^|]+)+\|\|\s*"), re.compile(r"\|\|")),
    ("_.", re.compile(r"\s*\|_[^|]{0,4}\.[^|]+(?:\|_[^|]{0,4}\.[^|]+)+\|\s*"), re.compile(r"\|")),
    ("=", re.compile(r"\s*\|=[^|]+(?:\|=[^|]+)+\|?\s*"), re.compile(r"\|")),
)
"""How the labels of a table of lines are told, and what keeps them apart."""

_SET = re.compile(r"\s*(?:_[^\s.|]{0,4}\.\s|=|<[^<>|]{1,40}>)")
"""Words in front of a label or a cell that say how it is set."""


def _signed(text: str) -> tuple[str, list[tuple[str, int]]] | None:
    """The sign of a line of labels, and these with where they stand; None of another line."""
    for sign, form, keeps_apart in _SIGNED if len(text) <= LONGEST else ():
        if form.fullmatch(text):
            return sign, _between(text, keeps_apart)
    return None


def _between(text: str, sign: re.Pattern[str]) -> list[tuple[str, int]]:
    """The texts between signs of a line, each with its place."""
    found = list(sign.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    parts = [(text[a.end() : b], a.end()) for a, b in zip(found, ends, strict=True)]
    if parts and not parts[-1][0].strip():
        parts.pop()
    return [_unset(part, place) for part, place in parts]


def _unset(part: str, place: int) -> tuple[str, int]:
    """A cell without how it is set, and without the marks of a bold one."""
    told = _SET.match(part)
    begin = told.end() if told else 0
    own = part[begin:]
    bold = re.fullmatch(r"\s*([*=])([^*=]+)\1?\s*", own)
    if bold:
        return bold[2], place + begin + bold.start(2)
    return own, place + begin


def _parts(text: str, sign: str) -> list[tuple[str, int]]:
    """The cells of a row below labels that are told by a sign."""
    if sign == "||" and text.lstrip().startswith("||") and text.rstrip().endswith("||"):
        return _between(text, re.compile(r"\|\|"))
    return _between(text, re.compile(r"\|\||\||\^" if sign == "^" else r"\|\|?"))
