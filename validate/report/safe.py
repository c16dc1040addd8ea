"""Text from an input, made safe for the medium that shows it. Text in, text out.

Labels, values, file names and lines of a log are written by others. No writer shows them without
one of these functions, and nothing else in assay escapes text. Each keeps ordinary text as it is,
and shows what is not ordinary instead of dropping it.

| medium | function | what could go wrong there |
|---|---|---|
| terminal, one line | `visible` | escape sequences, bidi overrides, endless words |
| terminal, our own lines around it | `lines` | the same |
| Markdown | `markdown` | markup, cells that end early, people who are called by name |
| HTML and SVG | `html` | elements, attributes, scripts |
| XML | `xml` | characters that XML cannot hold |
| JSON | `json_text` | characters that a terminal obeys when the file is printed |
| SARIF messages | `sarif` | links |
| CSV | `csv` | formulas that a spreadsheet would run |
"""

from __future__ import annotations

import re
from html import escape

LONGEST = 500
"""Characters of one word that people are shown; no path that is worth reading is longer."""

_WORD = re.compile(rf"\S{{{LONGEST + 1},}}")

_UNUSUAL = re.compile(r"[^\x00-\x7e]")

_MARKUP = re.compile(r"[\\`*\[\]<|&~$]|^[#>]|#(?=\w)|(?<!\w)_|_(?!\w)")

_CALLS = re.compile(r"(?:@|\\#)(?=\w)|:(?=//)|\bwww(?=\.)", re.IGNORECASE)

_LISTED = re.compile(r"^( {0,3})(?:([-+=])|([0-9]{1,9})([.)]))(?=\s|$|[-=])")

_FORMULA = frozenset("=+-@\t\r\n＝＋－＠'")

_NUMBER = re.compile(
    r"[+-]?(?:[0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s?%?|[+-]?(?:inf|nan)",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """One line of text, without anything that a terminal would obey or a line would break at.

    Control and format characters, separators other than a space, surrogates and unassigned code
    points are spelled out; a word of more than `LONGEST` characters is cut in its middle.

    >>> visible("a\\x1b[31mb\\n")
    'a\\\\x1b[31mb\\\\n'
    >>> len(visible("x" * 100_000)) < 600
    True
    """
    if len(text) > LONGEST:
        text = _WORD.sub(_cut, text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _spelled(char) for char in text)


def _cut(word: re.Match[str]) -> str:
    text, kept = word.group(), LONGEST // 2
    return f"{text[:kept]}…[{len(text) - 2 * kept:,} characters]…{text[-kept:]}"


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def lines(text: str) -> str:
    """Several lines of our own with text of inputs in them: only the line ends between them count.

    >>> lines("one\\ntwo\\rthree")
    'one\\ntwo\\\\rthree'
    """
    return "\n".join(map(visible, text.split("\n")))


def markdown(text: str) -> str:
    """Text that shows as it is: no markup, no list, no cell end, no link, and nobody is notified.

    Code hosts turn `@name`, `#12` and addresses into links after escapes are resolved; an empty
    comment inside keeps them text.

    >>> markdown("a|b*"), markdown("- x"), markdown("@octocat")
    ('a\\\\|b\\\\*', '\\\\- x', '@<!-- -->octocat')
    """
    said = _MARKUP.sub(r"\\\g<0>", visible(text).strip())
    said = _LISTED.sub(lambda at: f"{at[1]}{at[3] or ''}\\{at[2] or at[4]}", said)
    return _CALLS.sub(lambda at: f"{at.group()}<!-- -->", said)


def html(text: str) -> str:
    """Text for an element or for an attribute in quotes.

    >>> html('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(visible(text), quote=True)


def xml(text: str) -> str:
    """Text that XML 1.0 can hold; the writer of the tree still escapes markup. Lines are kept."""
    return lines(text)


def json_text(text: str) -> str:
    r"""A JSON document that says the same in characters that are safe to print.

    >>> print(json_text('["a\x9b31m\u202e", "µ"]'))
    ["a\u009b31m\u202e", "µ"]
    """
    return text if text.isascii() and "\x7f" not in text else _UNUSUAL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def sarif(text: str) -> str:
    """Text of a SARIF message, in which `[words](target)` would be a link (SARIF 2.1.0, 3.11.6).

    >>> sarif("see [this](http://x)")
    'see [this\\\\](http://x)'
    """
    return visible(text).replace("](", "\\](")


def csv(text: str) -> str:
    """The text of a CSV cell; a spreadsheet must not run it as a formula. Numbers stay numbers.

    Text that begins with an apostrophe gets one more, so that taking one off gives the text back.

    >>> csv("=cmd|' /C calc'!A0"), csv("-1.5"), csv("-2+3")
    ("'=cmd|' /C calc'!A0", '-1.5', "'-2+3")
    """
    start = text.lstrip(" ")[:1]
    return f"'{text}" if start in _FORMULA and start and not _NUMBER.fullmatch(text) else text
