"""Sentences of HTML and LaTeX in the signs of Markdown, which all who look for what is said know.

In: the lines of a document. Out: the same, those outside of tables, code and scripts without their
tags: `<li><b>mb</b>: micro-batch</li>` is `- **mb**: micro-batch`. Headings and tables keep their
tags: others read these. Sentences in italics stand upright. What LaTeX puts around words and
between digits is taken out as well: `491{,}520 tokens on 8~A100` has one number of each. A line
begins where its first letter stood; what stands behind a tag in the middle of it is told a few
letters too far to the left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

from assay.ingest.numbers.units import typeset
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

_SIGNS = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "tt": "`", "kbd": "`",
}  # fmt: skip

_TAG = deferred(
    r"</?(?P<name>b|strong|i|em|code|tt|kbd|p|li|ul|ol|div|span|a|small|big|u|mark|section|main"
    r"|article|header|footer|body|html|blockquote|abbr|var|font|center)"
    r"(?=[\s>/])[^<>]{0,300}>",
    re.IGNORECASE,
)

_CLOSED = deferred(r"<([a-z]{1,10})(?=[\s>])[^<>]{0,300}>[^<>]*</\1>", re.IGNORECASE)
"""An element within a line; a place in a template, `tp<T>pp<P>`, is none."""

_TYPESET = (
    (deferred(r"\\(?:texttt|textbf|textit|textsc|textsf|emph|mathrm|text|num)\{([^{}]{0,80})\}"),
     r"\1"),
    (deferred(r"(?<=[0-9])(?:\{,\}|\\,)(?=[0-9]{3}(?![0-9]))"), ","),
    (deferred(r"\$?\b([0-9]{1,4})\s?\$?\\times(?![a-z])\s?\$?\s?(?=~?[A-Z])"), r"\1x "),
    (deferred(r"(?<=[\w)])~(?=[A-Za-z\\$(]|(?<=[a-z]~)[0-9])|(?<=[0-9])\\,(?=[A-Z])"), " "),
    (deferred(r"(?<=\w)\\(?=_)"), ""),
    (deferred(r"(?<!\w)\$(?=([0-9][0-9,.]*(?: ?[x%])?)\$)\1\$(?!\w)"), r"\1"),
)  # fmt: skip
"""Signs that LaTeX writes between digits, between a number and its noun and around words, with
the rest of them: a tie stands behind a word or a number, no sign of "about" does: `8~A100`."""

_KEPT = re.compile(r"<(/?)(table|pre|script|style)(?=[\s>])", re.IGNORECASE)
"""Where text begins or ends that is left as it is."""

_HEADING = re.compile(r"\s*<h[1-6][\s>]", re.IGNORECASE)

_ENTITY = re.compile(r"&(?:#[0-9]{1,6}|#x[0-9a-fA-F]{1,5}|[A-Za-z]{2,8});")


def in_markdown(lines: Sequence[Line]) -> list[Line]:
    """The lines, those of HTML and LaTeX in prose with signs of Markdown in place of their tags.

    >>> [line] = in_markdown([Line(1, "<li><b>mb</b>: micro-batch &times; GPU</li>", 1, {})])
    >>> line.text, line.column
    ('- **mb**: micro-batch × GPU', 1)
    >>> [line] = in_markdown([Line(1, "  <p>All runs use <em>bf16</em>.</p>", 1, {})])
    >>> line.text, line.column
    ('All runs use *bf16*.', 6)
    >>> in_markdown([Line(1, r"491{,}520 on $8\\times$ \\texttt{A100}~GPUs", 1, {})])[0].text
    '491,520 on 8x A100 GPUs'
    """
    found, depth = [_untyped(line) for line in lines], 0
    for at, line in enumerate(found):
        if "<" not in line.text and not ("&" in line.text and _ENTITY.search(line.text)):
            continue
        if line.text.lstrip().startswith("|"):  # a row of a table in Markdown
            continue
        inside, kept = depth, False
        for each in _KEPT.finditer(line.text):
            kept = True
            depth = max(depth - 1, 0) if each[1] else depth + 1
        if inside or kept or _HEADING.match(line.text):
            continue
        if _opened(line.text) or _CLOSED.search(line.text):
            found[at] = _without_tags(line)
        elif "</" not in line.text and _ENTITY.search(line.text):
            found[at] = line._replace(text=unescape(line.text).replace("\xa0", " "))
    _upright(found)
    return found


def without_italics(lines: Sequence[Line]) -> list[Line]:
    """The lines, paragraphs of sentences all in italics without the signs around them.

    >>> [line.text for line in without_italics([Line(1, "_On one A100 in bf16._", 1, {})])]
    ['On one A100 in bf16.']
    """
    found = list(lines)
    _upright(found)
    return found


def set_in_italics(text: str) -> bool:
    """Whether a line may begin a paragraph that is all in italics."""
    return _BEGINS_ITALICS.match(text) is not None


_BEGINS_ITALICS = re.compile(r"(\s{0,8}(?:[-+>*] |[0-9]{1,2}[.)] )?)(?:\*(?!\*)|_(?!_))(?=\S)")

_ENDS_ITALICS = re.compile(r"[.!?:。：)](?P<sign>[*_])\s*$")

_SET_OFF = {"*": re.compile(r"\*"), "_": re.compile(r"(?<!\w)_|_(?!\w)")}

MOST_ITALIC = 20
"""Lines of a paragraph in italics."""


def _upright(lines: list[Line]) -> None:
    """Take the signs off paragraphs that are sentences all in italics, in place: they say what they
    say in any face.

    >>> said = [Line(1, "_All runs use bf16", 1, {}), Line(2, "on 8 GPUs._", 1, {})]
    >>> _upright(said), [(line.text, line.column) for line in said]
    (None, [('All runs use bf16', 2), ('on 8 GPUs.', 1)])
    """
    fenced = False
    for at, line in enumerate(lines):
        fenced ^= line.text.lstrip().startswith(("```", "~~~"))
        opened = None if fenced else _BEGINS_ITALICS.match(line.text)
        if opened is None or (at and _goes_on(lines[at - 1].text, opened[1])):
            continue
        end = at
        while end + 1 < min(len(lines), at + MOST_ITALIC) and lines[end + 1].text.strip():
            if _ENDS_ITALICS.search(lines[end].text):
                break
            end += 1
        closed = _ENDS_ITALICS.search(lines[end].text)
        text = "\n".join(each.text for each in lines[at : end + 1])[len(opened[1]) :]
        sign = text[0]
        if (closed is None or closed["sign"] != sign or len(text) > LONGEST or "|" in text
                or len(_SET_OFF[sign].findall(text)) != len("__")):  # fmt: skip
            continue
        lines[end] = lines[end]._replace(text=lines[end].text[: closed.start("sign")])
        bare = f"{opened[1]}{lines[at].text[opened.end() :]}"
        lines[at] = lines[at]._replace(text=bare, column=line.column + (not opened[1]))


def _goes_on(above: str, lead: str) -> bool:
    """Whether a line goes on with the paragraph of the one above it."""
    return bool(above.strip()) and not lead.strip()


def _untyped(line: Line) -> Line:
    """A line without what LaTeX puts around words and between digits; the row of a table as it
    is."""
    text = line.text
    if not any(map(text.__contains__, "\\~{")) or len(text) > LONGEST or _ROW.search(text):
        return line
    text = typeset(text)
    for form, kept in _TYPESET:
        text = form.sub(kept, text)
    return line._replace(text=text)


_ROW = re.compile(r"(?<!\\)&|^\s*\|")

LONGEST = 4000
"""Letters of a line that may be prose."""


def _without_tags(line: Line) -> Line:
    """A line with signs in place of its tags."""
    item = False

    def sign(tag: re.Match[str]) -> str:
        nonlocal item
        name = tag["name"].casefold()
        item |= name == "li" and not tag[0].startswith("</")
        return _SIGNS.get(name, " " if name in ("p", "li") else "")

    opening = _LEADING.match(line.text)
    plain = _TAG.sub(sign, line.text)
    text = unescape(plain).replace("\xa0", " ").strip()
    begin = opening.end() if opening else 0
    if item:
        return line._replace(text=f"- {text}")
    return line._replace(text=text, column=line.column + begin)


def _opened(text: str) -> bool:
    """Whether a line begins with a tag of prose."""
    found = _LEADING.match(text)
    return found is not None and found[0].strip() != ""


_LEADING = deferred(
    r"\s*(?:<(?:p|li|div|span|small|section|main|article|body|blockquote)(?:\s[^<>]{0,200})?>\s*)*",
    re.IGNORECASE,
)
"""Tags in front of the first letter of a line."""
