r"""Tables of LaTeX as grids: `tabular`, `tabularx`, `tabulary`, `longtable` and their like.

In: the lines of a document. Out: a `Grid` for each. Rows end with `\\`, cells stand between `&`,
`\multicolumn` and `\multirow` span; the header is what stands above the first rule between rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.ingest.grids.grid import (
    LONGEST,
    Grid,
    GridCell,
    GridRow,
    Ragged,
    SpansError,
    laid_out,
)
from assay.ingest.numbers.units import typeset
from assay.ingest.schema.record import Line

_BEGIN = re.compile(r"\\begin\{(tabular[xy*]?|longtable|tblr|tabularray)\}")

MOST_LINES = 2000
"""Lines that a table may take."""

AGAIN = 4
"""Times as many lines as a document has that are followed in it, for tables that may never end."""

_RULE = re.compile(
    r"\s*\\(?:(toprule|hline|midrule|bottomrule|specialrule|Xhline)(?:\s*(?:\[[^\[\]]*\]"
    r"|\{[^{}]*\}))*|(?:cmidrule|cline|addlinespace|noalign|rowcolor|arrayrulecolor)"
    r"(?:\s*(?:\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}))*"
    r"|(?:endfirsthead|endhead|endfoot|endlastfoot|centering|small|footnotesize|scriptsize)(?![a-z]))"
)

_SPANNING = re.compile(
    r"\s*\\(?:multicolumn\s*\{(?P<wide>[0-9]{1,3})\}\s*\{(?:[^{}]|\{[^{}]*\})*\}"
    r"|multirow(?:\[[^\[\]]*\])?\s*\{(?P<deep>-?[0-9]{1,3})\}(?:\[[^\[\]]*\])?\s*\{[^{}]*\}"
    r"(?:\[[^\[\]]*\])?)\s*\{"
)

_COMMENT = re.compile(r"(?<!\\)%.*$")

_MARKS = (
    (re.compile(r"\\(?:footnotemark|footnote|cite\w*|label|ref|textsuperscript|tnote)"
                r"(?:\[[^\[\]]*\])?\{[^{}]*\}|\\footnotemark\[[^\[\]]*\]"), ""),
    (re.compile(r"(?<=[A-Za-z)}%])\s?\$\s?\^\s*\{?\s*(?:\\(?:d?dagger|ast|star)|\*{1,3}|[†‡§a-h])"
                r"\s*\}?\s*\$"), ""),
    (re.compile(r"\\(?:cellcolor|textcolor|color|rowcolor)(?:\[[^\[\]]*\])?\{[^{}]*\}"), ""),
    (re.compile(r"\\(?:makecell|thead|shortstack)(?:\[[^\[\]]*\])?"), ""),
    (re.compile(r"\\num(?:\[[^\[\]]*\])?\{([^{}]*)\}"), r"\1"),
    (re.compile(r"(?<=[0-9}]\$)\^\s*\{?\s*(?:\\(?:d?dagger|ast|star)|\*{1,3}"
                r"|[a-h](?![A-Za-z]))"), ""),
    (re.compile(r"_\s*\{?\s*(?=\\pm|±)"), " "),
    (re.compile(r"(?<=[\w$%)}] )\\(?:(?:long)?rightarrow|Rightarrow|to)(?=[\s$]{1,4}[\w~])"
                r"|(?<=[\w$%)}])\\(?:(?:long)?rightarrow|Rightarrow|to)(?=[\s$]{1,4}[\w~])"), "→"),
    (re.compile(r"\\(?:up|down|right|left)arrow"), ""),
    (re.compile(r"\\times"), "x"), (re.compile(r"\\pm"), " ± "),
    (re.compile(r"\\sim|\\approx"), "~"),
    (re.compile(r"\\(?:Delta)"), "Δ"), (re.compile(r"\\(?:mu|micro)(?![a-z])"), "µ"),
    (re.compile(r"\\(?:checkmark|cmark)"), "✓"), (re.compile(r"\\xmark"), "✗"),
    (re.compile(r"\{,\}"), ","), (re.compile(r"\\,(?=[0-9]{3})"), ","),
    (re.compile(r"\\[,;:! ]|~"), " "), (re.compile(r"\\([%#&_${}])"), r"\1"),
    (re.compile(r"---?"), "–"), (re.compile(r"\\\\"), " "),
    (re.compile(r"\\[A-Za-z]+\*?\s*"), ""), (re.compile(r"[{}$]"), ""),
)  # fmt: skip
"""Commands and signs of a cell, and what stays of them."""

_CAPTION = re.compile(r"\\caption\*?(?:\[[^\[\]]*\])?\{")


class _Piece(NamedTuple):
    """A part of a table: a cell, the end of one row, or a rule."""

    text: str
    line: Line
    offset: int
    kind: str  # "cell", "end", "rule"


def latex_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table of a document."""
    at, left = 0, AGAIN * len(lines) + MOST_LINES
    while at < len(lines):
        begins = left > 0 and "\\begin{" in lines[at].text
        found = _BEGIN.search(lines[at].text) if begins else None
        grid = _table(lines, at, found) if found else None
        if found:
            left -= grid.end - at if grid else min(MOST_LINES, len(lines) - at)
        if grid:
            yield grid
        at = grid.end if grid else at + 1


def _table(lines: Sequence[Line], begin: int, opened: re.Match[str]) -> Grid | None:
    """The table that a line opens; None of one that never ends, or spans too much."""
    closing = f"\\end{{{opened[1]}}}"
    end = next(
        (at + 1 for at in range(begin, min(len(lines), begin + MOST_LINES))
         if closing in lines[at].text), None,
    )  # fmt: skip
    if end is None:
        return None
    rows, rules = _rows(_pieces(lines, begin, end, opened.end(), closing))
    rows = [row for row in rows if any(cell.text for cell in row)]
    try:
        laid = laid_out(rows)
    except SpansError:
        return None
    if len(rows) < len(("header", "row")) or max(map(len, laid)) < len(("one", "another")):
        return None
    titles = int(_is_title(laid))
    between = [at for at in rules if titles < at < len(rows)]
    heads = between[0] if between and between[0] <= MOST_HEADS else 1 + titles
    width = max(map(len, laid[:heads]))
    by_number = {line.number: line for line in lines[begin:end]}
    made = [
        GridRow(
            by_number[row[0].line],
            (*cells, *(GridCell("", cells[-1].line, cells[-1].column)
                       for _ in range(width - len(cells)))),
        )
        for row, cells in zip(rows, laid, strict=True)
    ]  # fmt: skip
    made[:heads] = _without_blanks(made[:heads])
    return Grid(
        "latex", begin, end, tuple(made[:heads]), tuple(made[heads:]),
        _caption(lines, begin, end), exact=False,
    )  # fmt: skip


MOST_HEADS = 3
"""Rows of a header."""


def _is_title(laid: Sequence[Sequence[GridCell]]) -> bool:
    """Whether one cell stands over all columns of the first row, with words behind it in each cell
    of a row of labels that is no row of numbers."""
    first, rest = laid[0], laid[1:]
    alone = len(first) > 1 and len(set(first)) == 1 and len(rest) > 1
    return alone and not any(_NUMBER.fullmatch(cell.text) for cell in rest[0][1:])


_NUMBER = re.compile(r"[\W]*[0-9][0-9.,]*\W*(?:[kKM%]|GB)?")


def _without_blanks(heads: Sequence[GridRow]) -> list[GridRow]:
    return [row for row in heads if not row.blank] or list(heads)


def _pieces(
    lines: Sequence[Line], begin: int, end: int, offset: int, closing: str
) -> Iterator[_Piece]:
    """The parts of a table, whatever stands on which line."""
    held, depth, place = "", 0, (lines[begin], offset)
    opening = True  # the columns' own description is no cell
    for at in range(begin, end):
        line = lines[at]
        text = re.sub(r"(?<!\\)%.*$", "", line.text) if "%" in line.text else line.text
        text = text.split(closing)[0] if closing in text else text
        n = offset if at == begin else 0
        if at > begin and not held.strip():
            place = line, 0
        while n < len(text):
            if not depth and not held.strip() and (rule := _RULE.match(text, n)) and not opening:
                yield _Piece(rule[1] or "", line, n, "rule")
                n = rule.end()
                place = line, n
                continue
            sign = text[n]
            if not depth and text.startswith("\\\\", n) and not opening:
                yield _Piece(held, *place, "cell")
                yield _Piece("", line, n, "end")
                spaced = re.compile(r"\\\\\*?(?:\[[^\[\]]*\])?").match(text, n)
                n = spaced.end() if spaced else n + 2
                held, place = "", (line, n)
                continue
            if text[n : n + 2] in ("\\&", "\\{", "\\}", "\\\\"):
                held, n = held + text[n : n + 2], n + 2
                continue
            if sign == "&" and not depth and not opening:
                yield _Piece(held, *place, "cell")
                held, n = "", n + 1
                place = line, n
                continue
            depth += (sign == "{") - (sign == "}")
            if opening and not depth and sign == "}" and _may_begin(text, n + 1):
                opening, held, n = False, "", n + 1
                place = line, n
                continue
            held, n = held + sign, n + 1
        held += " "
    if held.strip():
        yield _Piece(held, *place, "cell")
        yield _Piece("", lines[end - 1], 0, "end")


def _may_begin(text: str, at: int) -> bool:
    """Whether the columns are described: no other group follows, as one does behind a width."""
    return not text[at:].lstrip().startswith("{")


def _rows(pieces: Iterator[_Piece]) -> tuple[list[list[Ragged]], list[int]]:
    """Rows of cells with their spans, and behind how many of them rules stand."""
    rows, rules, row = list[list[Ragged]](), list[int](), list[Ragged]()
    deep = dict[int, int]()  # column → rows that a cell above still spans
    for piece in pieces:
        if piece.kind == "rule":
            if piece.text:
                rules.append(sum(any(cell.text for cell in each) for each in rows))
        elif piece.kind == "end":
            rows.append(_without_spanned(row, deep))
            row = []
        else:
            row.append(_cell(piece))
    return rows, rules


def _without_spanned(row: Sequence[Ragged], deep: dict[int, int]) -> list[Ragged]:
    """A row without the blank cells that stand below one that spans them."""
    kept, at = list[Ragged](), 0
    for cell in row:
        below = deep.get(at, 0)
        if below and not cell.text:
            deep[at] = below - 1
        else:
            kept.append(cell)
            deep.pop(at, None)
            if cell.rows > 1:
                deep.update(dict.fromkeys(range(at, at + cell.columns), cell.rows - 1))
        at += cell.columns
    return kept


def _cell(piece: _Piece) -> Ragged:
    text, wide, deep = piece.text, 1, 1
    while len(text) <= LONGEST and (found := _SPANNING.match(text)):
        wide = max(wide, int(found["wide"] or 1))
        deep = max(deep, int(found["deep"] or 1))
        text = text[found.end() :].rstrip().removesuffix("}")
    lead = len(piece.text) - len(piece.text.lstrip())
    if piece.line.text.find(piece.text.strip()[:8], piece.offset) < 0:
        lead = 0
    return Ragged(
        _bare(text), piece.line.number, piece.line.column + piece.offset + lead, deep, wide
    )


def _bare(text: str) -> str:
    """A text without its commands."""
    if len(text) > LONGEST:
        return text.strip()
    text = typeset(_COMMENT.sub("", text))
    for form, kept in _MARKS:
        text = form.sub(kept, text)
    return " ".join(text.split())


def _caption(lines: Sequence[Line], begin: int, end: int) -> str:
    """The caption of the float that a table stands in."""
    first = last = -1
    for at in range(begin, max(-1, begin - 12), -1):
        if "\\begin{table" in lines[at].text or "\\begin{wraptable" in lines[at].text:
            first = at
            break
        if at < begin and "\\end{" in lines[at].text:
            break
    if first < 0:
        return ""
    ends = ("\\end{table", "\\end{wraptable")
    below = range(end, min(len(lines), end + 12))
    last = next((at for at in below if any(map(lines[at].text.__contains__, ends))), end)
    text = " ".join(line.text for line in (*lines[first:begin], *lines[end:last]))
    found = _CAPTION.search(text)
    if found is None:
        return ""
    depth, at = 1, found.end()
    while at < len(text) and depth:
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    return _bare(text[found.end() : at - 1])
