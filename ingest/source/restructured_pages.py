"""Pages of reStructuredText in Markdown's spelling, so that all who read prose and tables see one.

In: the lines of a page as they stand on disk. Out: as many lines. A title above a rule has signs in
front; blocks of code, given by a directive or by two colons, stand between fences; remarks stand
where the page does; literals and links in a text have Markdown's signs; and tables whose cells
span nothing have bars between their cells, whatever they were drawn or listed with: each row where
it begins, and a bar alone on its further lines. Tables that span are left to docutils, and those
with a title to whom reads directives; so is what is no page of it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple
from unicodedata import east_asian_width

from assay.ingest.schema.terminals import deferred
from assay.ingest.source.soft_wraps import Seam, Seams

_SIGN = re.compile(
    rb"(?m)^[ \t]*\.\. (?:code(?:-block)?|sourcecode|(?:list-|csv-)?table|note|warning|tip|hint"
    rb"|important|contents|toctree|math|image|figure|tabs?|tab-set|_[\w .-]{1,80}:)(?:::|[ \t\r]*$)"
)
"""A directive that only pages of reStructuredText have."""

_RULED = re.compile(rb"(?m)^\S.{0,200}\n([=~^*\"'+-])\1{3,}[ \t\r]*$")

_DRAWN = re.compile(rb"(?m)^[ \t]*(?:={2,}(?: +={2,})+|\+(?:={2,}\+)+)[ \t\r]*$")

_RULES = ("above", "below the header")
"""Rules of a simple table that is not yet at its end."""

_MARKDOWN = re.compile(rb"(?m)^(?:#{1,6} \S|```|[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*\|)")

_DIRECTIVE = deferred(r"( {0,12})\.\. ([a-z][\w-]{1,30})::(?: +(\S.{0,400}))?\s*")

_OPTION = deferred(r"\s+:([a-z][\w-]{0,30}):\s*(.{0,400})")

_CODE = ("code", "code-block", "sourcecode", "highlight", "parsed-literal", "prompt", "console")

_PRINTED = ("text", "none", "output", "log")
"""Languages of blocks of code that show what a program printed, which is read where it stands."""

_REMARKS = (
    "note", "warning", "tip", "hint", "important", "attention", "caution", "danger", "seealso",
    "versionadded", "versionchanged", "tab-set", "tabs", "container", "only", "topic", "epigraph",
)  # fmt: skip
"""Directives around what a page says."""

_TITLED = ("admonition", "rubric", "dropdown", "tab", "tab-item", "group-tab", "centered")
"""Directives in front of a title."""

_RULE = deferred(r"([=~^\"'`#*+:._-])\1{2,}\s*")

SHORT = 0.75
"""Part of a title's width that the rule below it has at least."""

_SIMPLE = deferred(r" *={2,}(?: +={2,})+ *")

_GRID = deferred(r" *\+(?:-{2,}\+)+ *")

_ITEM = deferred(r"( *)(\* +-|-)(?: +(\S.*))?\s*")

_INLINE = deferred(
    r"``(?P<literal>[^`]{1,300})``"
    r"|:doc:`(?P<page>[^`<>]{1,300}?)(?: <(?P<file>[^`<>\s]{1,300})>)?`"
    r"|:[a-z][\w:+-]{0,30}:`(?P<role>[^`<>]{1,300}?)(?: <[^`<>]{1,300}>)?`"
    r"|`(?P<link>[^`<>]{1,300}?) <(?P<to>[^`<>\s]{1,300})>`__?"
    r"|(?<![`\w])`(?P<named>[^`<>]{1,300})`__?(?!\w)"
)

_NUMBERED = deferred(r"( *)#\. (?=\S)")


Options = dict[str, tuple[str, int]]
"""Values of the options of a directive, and the line of each."""

GOES_ON = "|"
"""A line of a table that holds nothing of its own: a rule between two rows, or a further line of
the row above it."""


class _Piece(NamedTuple):
    """Some letters of a line, and where they stood; those that are signs alone stand nowhere."""

    text: str
    line: int = -1
    offset: int = 0


Cells = Sequence[Sequence[_Piece]]
"""The cells of a row."""


def restructured(begin: bytes) -> bool:
    """Whether a page that begins so is written in reStructuredText.

    >>> restructured(b"Runs\\n====\\n\\n==== ===\\nGPUs MFU\\n==== ===\\n8    40\\n==== ===\\n")
    True
    >>> restructured(b"# Runs\\n\\n+------+\\n"), restructured(b"==== ====\\nloss 2.1\\n")
    (False, False)
    """
    if b"::" not in begin and b"==" not in begin:
        return False
    if _MARKDOWN.search(begin):
        return False
    if _SIGN.search(begin):
        return True
    rules = [found[0].strip() for found in _DRAWN.finditer(begin)]
    return bool(rules) and (
        len(rules) > len(_RULES) or b"+" in rules[0] or _RULED.search(begin) is not None
    )


def in_markdown(data: bytes) -> tuple[bytes, Seams]:
    r"""The lines of such a page in Markdown's spelling, and where the words of each stood.

    >>> text, places = in_markdown(b"Runs\n====\n\nWith ``--tp 8``.\n")
    >>> text.decode(), places[1]
    ('# Runs\n\n\nWith `--tp 8`.\n', [Seam(at=2, line=1, column=1)])
    """
    text, end = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n"), "\n"
    page = _Page(text.removesuffix(end).split("\n"))
    page.spell()
    spelled = "\n".join(page.lines) + end * text.endswith(end)
    return spelled.encode("utf-8", "surrogateescape"), page.places()


class _Page:
    """The lines of a page while they are written anew."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._insets = [0] * len(lines)  # letters that were taken from the front of each
        self._seams = dict[int, list[Seam]]()
        self._marks: list[str] = []  # of titles, by their level
        self._items = 0  # of the numbered list so far

    def places(self) -> Seams:
        """Where the words of each line stood, by its number."""
        insets = enumerate(self._insets)
        whole: dict[int, Sequence[Seam]] = {
            n + 1: [Seam(0, n + 1, at + 1)] for n, at in insets if at
        }
        return whole | {at + 1: seams for at, seams in self._seams.items()}

    def spell(self) -> None:
        """Write all lines anew."""
        at = 0
        while at < len(self.lines):
            at = self._from(at)

    def _from(self, at: int) -> int:
        """Write what begins on a line; the line behind it."""
        line = self.lines[at]
        if not line.strip():
            return at + 1
        if line.lstrip().startswith(".. "):
            directive = _DIRECTIVE.fullmatch(line)
            return self._directive(at, directive) if directive else self._behind(at)
        if _SIMPLE.fullmatch(line) and (end := self._simple(at)):
            return end
        if _GRID.fullmatch(line) and (end := self._drawn(at)):
            return end
        return self._titled(at) or self._said(at)

    # ---- what a line is written as

    def _write(self, at: int, pieces: Sequence[_Piece]) -> None:
        """Put a line together of pieces of others."""
        text, seams = "", list[Seam]()
        for piece in pieces:
            if piece.line >= 0:
                column = self._insets[piece.line] + piece.offset + 1
                seams.append(Seam(len(text), piece.line + 1, column))
            text += piece.text
        self._seams[at] = seams
        self.lines[at] = text

    def _blank(self, first: int, end: int) -> None:
        for at in range(first, end):
            self.lines[at] = ""

    def _indent(self, at: int) -> int:
        return len(self.lines[at]) - len(self.lines[at].lstrip())

    def _behind(self, at: int) -> int:
        """The line behind what stands below a line and deeper, blank lines at its end left out."""
        indent, end = self._indent(at), at + 1
        for each in range(at + 1, len(self.lines)):
            if self.lines[each].strip():
                if self._indent(each) <= indent:
                    break
                end = each + 1
        return end

    def _dedent(self, first: int, end: int) -> None:
        """Put a block of lines as far to the left as its first stands in it."""
        held = [at for at in range(first, end) if self.lines[at].strip()]
        inset = min(map(self._indent, held), default=0)
        for at in held:
            self.lines[at] = self.lines[at][inset:]
            self._insets[at] += inset

    # ---- titles and texts

    def _titled(self, at: int) -> int:
        """Write a title with a rule below it, and perhaps above; 0 where there is none."""
        lines = self.lines
        over = _RULE.fullmatch(lines[at]) is not None
        title, rule = at + over, at + over + 1
        if rule >= len(lines) or not lines[title].strip() or _RULE.fullmatch(lines[title]):
            return 0
        text, drawn = lines[title].strip(), lines[rule].rstrip()
        if not _RULE.fullmatch(drawn) or (over and lines[at].rstrip() != drawn):
            return 0
        if len(drawn) < SHORT * _width(text) or (lines[title][0].isspace() and not over):
            return 0
        mark = drawn[0] * (1 + over)
        if mark not in self._marks:
            self._marks.append(mark)
        signs = "#" * min(6, self._marks.index(mark) + 1) + " "
        self._blank(at, title)
        self._write(title, [_Piece(signs), *_inline(text, title, self._indent(title))])
        self._blank(rule, rule + 1)
        return rule + 1

    def _said(self, at: int) -> int:
        """Write a line of text; a block of code that it announces stands between fences."""
        line = self.lines[at].rstrip()
        end = self._behind(at) if line.endswith("::") else at
        numbered = _NUMBERED.match(line)
        self._items = self._items + 1 if numbered else self._items * line[0].isspace()
        begin = numbered.end() if numbered else 0
        bare = line[begin : -2 if end > at + 1 and line.strip() == "::" else len(line)]
        if line.endswith("::") and line.strip() != "::":
            bare = bare.removesuffix(":")
        pieces = _inline(bare, at, begin)
        if numbered:
            pieces = [_Piece(f"{numbered[1]}{self._items}. "), *pieces]
        if end > at + 1:
            first = next(n for n in range(at + 1, end) if self.lines[n].strip())
            if first > at + 1:
                end = self._fence(first, end)
        if len(pieces) > 1 or bare != line:
            self._write(at, pieces)
        return max(end, at + 1)

    # ---- directives

    def _directive(self, at: int, found: re.Match[str]) -> int:
        """Write what a directive holds; the first line that is not yet written."""
        name, said = found[2], found[3] or ""
        end, first = self._behind(at), at + 1
        options: Options = {}
        while first < end and (option := _OPTION.fullmatch(self.lines[first])):
            options[option[1]] = option[2].strip(), first
            first += 1
        while first < end and not self.lines[first].strip():
            first += 1
        if name in _CODE and said in _PRINTED:
            return max(end, at + 1)
        if name in _CODE and first < end:
            self._blank(at, first)
            return self._fence(first, end, said)
        tables = {"list-table": self._listed, "csv-table": self._separated, "table": self._under}
        if name in tables:
            # a title is of its table alone, which is known by its directive
            begin = tables[name](at, first, end, options) if first < end and not said else -1
            self._blank(at, begin)
            return max(end, at + 1)
        if name not in (*_REMARKS, *_TITLED):
            return at + 1
        bold = "**" * (name in _TITLED and bool(said) and "**" not in said)
        self._blank(at, first)
        self._write(at, [_Piece(bold), *_inline(said, at, max(found.start(3), 0)), _Piece(bold)])
        self._dedent(first, end)
        return first

    def _fence(self, first: int, end: int, language: str = "") -> int:
        """Put fences around lines of code; the line behind them."""
        self._dedent(first, end)
        self.lines[first - 1] = f"```{language}".rstrip()
        if end < len(self.lines):
            self.lines[end] = "```"
        return end + 1

    # ---- tables

    def _under(self, _above: int, first: int, end: int, _options: Options) -> int:
        """Write the table that stands under a caption; where it begins, or -1 if its cells
        span something."""
        drawn = _GRID.fullmatch(self.lines[first]) is not None
        if not drawn and not _SIMPLE.fullmatch(self.lines[first]):
            return -1
        found = self._drawn(first) if drawn else self._simple(first)
        return first if found >= end else -1

    def _rows(self, rows: Sequence[tuple[int, int, Cells]], ruled: int) -> None:
        """Write rows between bars: the line of each, the one behind it, and its cells. The rule of
        the header is on a line of its own."""
        for at, end, cells in rows:
            begin = cells[0][0] if cells[0] else _Piece("", at)
            row = [begin._replace(text="| ")]
            for cell in cells:
                row += [*cell, _Piece(" | ")]
            self._write(at, [*row[:-1], _Piece(" |")])
            for each in range(at + 1, end):
                self.lines[each] = GOES_ON if at != rows[-1][0] else ""
        self.lines[ruled] = "|" + "---|" * len(rows[0][2])

    def _simple(self, at: int) -> int:
        """Write a simple table: three rules, a header of one line, a line for each row."""
        lines, indent = self.lines, self._indent(at)
        rules = [at]
        for each in range(at + 1, len(lines)):
            text = lines[each]
            if text.strip() and self._indent(each) < indent:
                return 0
            if text.strip() and not text.strip(" ="):
                rules.append(each)
                last = each + 1 == len(lines) or not lines[each + 1].strip()
                if last or len(rules) == 3:
                    break
        if len(rules) != 3 or rules[1] != at + 2 or rules[2] < rules[1] + 2:
            return 0
        columns = [found.span() for found in re.finditer("=+", lines[at])]
        if any([m.span() for m in re.finditer("=+", lines[n])] != columns for n in rules):
            return 0
        held = [n for n in range(at + 1, rules[2]) if n != rules[1] and lines[n].strip()]
        rows = [(n, n + 1, self._cut(n, columns)) for n in held]
        if not all(cells and cells[0] for _, _, cells in rows):
            return 0
        for each in range(rules[1] + 1, rules[2]):
            if not lines[each].strip():
                lines[each] = GOES_ON
        self._rows(rows, rules[1])
        self._blank(at, at + 1)
        self._blank(rules[2], rules[2] + 1)
        return rules[2] + 1

    def _cut(self, at: int, columns: Sequence[tuple[int, int]]) -> Cells:
        """The cells of a line below the columns of a rule; none where words stand between two.
        A wide letter is as wide as two, or else as one."""
        text = self.lines[at].rstrip()
        for wide in (True, False):
            edges = _edges(text) if wide else range(len(text) + 1)
            ends = [*(begin for begin, _ in columns[1:]), 1 << 20]
            spans = [(_at(edges, begin), _at(edges, end)) for (begin, _), end in
                     zip(columns, ends, strict=True)]  # fmt: skip
            gaps = [(_at(edges, end), _at(edges, begin)) for (_, end), (begin, _) in
                    pairwise(columns)]  # fmt: skip
            if text[: spans[0][0]].strip() or any(text[a:b].strip() for a, b in gaps):
                continue
            return [_cell(text[a:b], at, a) for a, b in spans]
        return ()

    def _drawn(self, at: int) -> int:
        """Write a table between plus signs whose rules all go through."""
        lines, rule = self.lines, self.lines[at].rstrip()
        end = at
        while end < len(lines) and lines[end].strip()[:1] in ("+", "|"):
            end += 1
        rules = [n for n in range(at, end) if lines[n].lstrip().startswith("+")]
        if rules[-1] != end - 1 or len(rules) < 3 or any(b == a + 1 for a, b in pairwise(rules)):
            return 0
        heads = [n for n in rules if "=" in lines[n]]
        if heads != rules[1:2] or any(lines[n].rstrip().replace("=", "-") != rule for n in rules):
            return 0
        corners = [found.start() for found in re.finditer(r"\+", rule)]
        rows = []
        for first, last in pairwise(rules):
            cut = [_between(lines[n], n, corners) for n in range(first + 1, last)]
            if not all(cut):
                return 0
            cells = [_joined(parts) for parts in zip(*cut, strict=True)]
            rows.append((first + 1, last, cells))
        if rows[0][1] != rules[1]:
            return 0
        for n in rules[2:-1]:
            lines[n] = GOES_ON
        first, last = rows[0][:2]
        self._rows([(last - 1, last, rows[0][2]), *rows[1:]], rules[1])
        self._blank(at, last - 1)
        self._blank(end - 1, end)
        return end

    def _listed(self, above: int, first: int, end: int, options: Options) -> int:
        """Write a list of lists; where it begins, or -1 if it has more
        than one header."""
        if options.get("header-rows", ("1",))[0] not in ("1", ""):
            return -1
        rows = list[tuple[int, list[list[_Piece]]]]()
        dash = -1
        for at in (n for n in range(first, end) if self.lines[n].strip()):
            text = self.lines[at].rstrip()
            item = _ITEM.fullmatch(text)
            if item and (item[2] != "-" or (rows and item.end(2) == dash)):
                dash = item.end(2)
                if item[2] != "-":
                    rows.append((at, []))
                rows[-1][1].append(_cell(item[3] or "", at, item.start(3)))
            elif not rows:
                return -1
            else:
                more = _cell(text, at, 0)
                cell = rows[-1][1][-1]
                rows[-1][1][-1] = [*cell, *([_Piece(" ")] if cell else []), *more]
        if len(rows) < 2 or len(rows[0][1]) < 2 or len({len(cells) for _, cells in rows}) > 1:
            return -1
        starts = [above, *(at for at, _ in rows[1:])]
        cells = [cells for _, cells in rows]
        self._rows([*zip(starts, [*starts[1:], end], cells, strict=True)], above + 1)
        return above

    def _separated(self, above: int, first: int, end: int, options: Options) -> int:
        """Write values between commas, a header of one line above them; where they begin."""
        given = "header" in options
        if "delim" in options or "file" in options or "url" in options or "quote" in options:
            return -1
        if options.get("header-rows", ("0" if given else "1",))[0] != str(int(not given)):
            return -1
        held = [n for n in range(first, end) if self.lines[n].strip()]
        found = [(at, _values(self.lines[at], at, 0)) for at in held]
        if given:
            header, at = options["header"]
            found.insert(0, (at, _values(self.lines[at], at, self.lines[at].find(header))))
        width = len(found[0][1]) if found else 0
        if len(found) < 2 or width < 2 or any(len(cells) != width for _, cells in found):
            return -1
        above = min(above, first - 2 + (not given))  # two lines for the header and its rule
        starts = [above, *(at for at, _ in found[1:])]
        cells = [cells for _, cells in found]
        self._rows([*zip(starts, [*starts[1:], end], cells, strict=True)], above + 1)
        return above


def _values(text: str, at: int, begin: int) -> Cells:
    """The cells of a line of values between commas."""
    try:
        texts = next(csv.reader([text[begin:].strip()], skipinitialspace=True), [])
    except csv.Error:
        return ()
    cells = []
    for each in texts:
        begin = max(text.find(each.strip(), begin), begin)
        cells.append(_cell(each, at, begin))
        begin += len(each.strip())
    return cells


def _between(text: str, at: int, corners: Sequence[int]) -> Cells:
    """The cells of a line of a drawn table; none where its bars do not stand below the corners."""
    text = text.rstrip()
    for wide in (True, False):
        edges = _edges(text) if wide else range(len(text) + 1)
        bars = [_at(edges, corner) for corner in corners]
        if all(text[bar : bar + 1] == "|" for bar in bars) and bars[-1] + 1 == len(text):
            return [_cell(text[a + 1 : b], at, a + 1) for a, b in pairwise(bars)]
    return ()


def _cell(text: str, at: int, begin: int) -> list[_Piece]:
    """The words of a cell, bars in them with a stroke in front."""
    bare = text.strip()
    begin += len(text) - len(text.lstrip())
    pieces = list[_Piece]()
    for n, part in enumerate(re.split(r"(?<!\\)\|", bare)):
        if n:
            pieces.append(_Piece("\\"))
            pieces.append(_Piece("|", at, begin - 1))
        pieces += _inline(part, at, begin) if part else ()
        begin += len(part) + 1
    return pieces


def _joined(parts: Cells) -> list[_Piece]:
    """The lines of a cell as one."""
    cell = list[_Piece]()
    for part in parts:
        cell += [*([_Piece(" ")] if cell and part else []), *part]
    return cell


def _inline(text: str, at: int, begin: int) -> list[_Piece]:
    """A text with Markdown's signs around literals and links."""
    pieces, last = list[_Piece](), 0
    for found in _INLINE.finditer(text) if "`" in text else ():
        if found.start() > last:
            pieces.append(_Piece(text[last : found.start()], at, begin + last))
        pieces += _signed(found, at, begin)
        last = found.end()
    if last < len(text) or not pieces:
        pieces.append(_Piece(text[last:], at, begin + last))
    return pieces


def _signed(found: re.Match[str], at: int, begin: int) -> Iterator[_Piece]:
    """A literal or a link, to another page as to its file."""
    name = {"to": "link", "file": "page"}.get(str(found.lastgroup), str(found.lastgroup))
    page = f"{found['file'] or found['page']}.rst"
    before, behind = {
        "literal": ("`", "`"),
        "link": ("[", f"]({found['to']})"),
        "page": ("[", f"]({page})"),
    }.get(name, ("", ""))
    yield _Piece(before)
    yield _Piece(found[name], at, begin + found.start(name))
    yield _Piece(behind)


def _edges(text: str) -> Sequence[int]:
    """The column in which each letter of a text begins, and the one behind its last."""
    edges = [0]
    for sign in text:
        edges.append(edges[-1] + 1 + (east_asian_width(sign) in "WF"))
    return edges


def _at(edges: Sequence[int], column: int) -> int:
    """The letter that begins in a column, or the first behind it."""
    return next((n for n, edge in enumerate(edges) if edge >= column), len(edges))


def _width(text: str) -> int:
    return _edges(text)[-1]
