"""Pages of Markdown with their headings in one spelling: `## Title`, whatever stands around it.

In: the lines of a page as they stand on disk. Out: as many lines, in which an underlined title
has Markdown's signs in front and nothing below it, and a heading has no signs, anchors or bold type
around its words. Blocks of code stay as they are, and so does what is no page of Markdown: what a
program prints under its titles makes none of them a heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_PAGE = re.compile(
    rb"^[ >]{0,8}(?:#{1,6} |\|? ?:?-+:? ?(?:\| ?:?-+:? ?)*\|[ |:-]{0,400}$|<(?:table|h[1-6])[ >])",
    re.MULTILINE | re.IGNORECASE,
)
"""A line that only pages of Markdown have: a heading, the rule below a header, a tag of HTML."""

_UNLIKE = re.compile(
    rb"^(?:={3,}|-{3,})[ \t\r]*$|^#{1,6} .*(?:#|\}|\*\*|__)[ \t\r]*$"
    rb"|^[ \t]*<(?:div|center|details|summary|br|section|!--)|\S<br */?>[ \t\r]*$", re.MULTILINE
)
"""What there is to do on a page: a rule that may be below a title, a heading with an end, a tag
that only lays something out."""

_LAYOUT = re.compile(
    r"\s*(?:(?:</?(?:div|center|details|section)(?:\s[^<>]{0,200})?>|<br\s*/?>"
    r"|<!--(?:(?!-->).){0,400}-->"
    r"|<summary[^<>]{0,80}>(?:<[^<>]{1,40}>)*[^\w<]*"
    r"(?:(?:click|press|tap)(?: here)?(?: (?:to|for))?|expand|collapse|show|view|see|open|toggle|details?|more"
    r"|unfold|点击(?:此处)?|点我|展开|折叠|查看(?:更多)?|詳細|クリックして展開|펼치기|더 ?보기)"
    r"(?: ?(?:to|and|the|all|full|more|details?|tables?|results?|numbers|expand|collapse|show|view"
    r"|see|open|unfold|hide|here|me|it|this|展开|查看|详情|结果|表格|全部|更多|折叠))*"
    r"[^\w<]*(?:<[^<>]{1,40}>)*</summary>)\s*)+",
    re.IGNORECASE,
)
"""A line of tags that lay out what is between them, or that nobody sees."""

_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")

_SIGNS = {"=": "# ", "-": "## "}
"""The signs of a heading of the level that a rule gives its title."""

_RULE = re.compile(r"(?:={3,}|-{3,})\s*")

_TITLE = re.compile(r" {0,3}(?!(?:[-*+>]|[0-9]+[.)]) |[|<#:]|\*\*[^*]+\*\*[:.]?$)\S.*[^\W_]\W{0,3}")

_APART = re.compile(r"\S(?: {2,}|\t)\S|\|")
"""Words of a header of a table are kept apart; those of a heading are not."""

_HEADING = re.compile(r"( {0,3}#{1,6}[ \t]+)(\S.*?)\s*")

_CLOSING = re.compile(r"[ \t]+#{1,6}$")

_ANCHOR = re.compile(r"[ \t]*\{[ \t]{0,4}(?:[#.][\w:.-]{1,80}[ \t]{0,4}){1,4}\}$")

_STRONG = re.compile(r"(\*\*|__)(?!\s)((?:(?!\*\*|__|`).)+)(?<!\s)\1(:?)$")


def page(begin: bytes) -> Callable[[bytes], bytes] | None:
    r"""The function that writes the headings of a page that begins so in one spelling; None where
    there is nothing to do, or no page.

    It is called with one chunk of whole lines after the other.

    >>> page(b"Results\n=======\n\n| GPUs | MFU |\n|---|---|\n")(b"Results\n=======\n")
    b'# Results\n\n'
    >>> page(b"Results\n=======\n\nloss 2.1\n") is None
    True
    """
    if _UNLIKE.search(begin) and _PAGE.search(begin):
        return _Page().spelled
    return None


@dataclass
class _Page:
    """Where the lines so far end: inside a block of code, which ends with this sign, or outside."""

    fence: str = ""

    def spelled(self, data: bytes) -> bytes:
        """The lines with every heading as `#` and its words alone."""
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        for at, line in enumerate(lines):
            if sign := _FENCE.match(line):
                if not self.fence:
                    self.fence = sign[1]
                elif sign[1].startswith(self.fence) and line.strip() == sign[1]:
                    self.fence = ""
            elif self.fence:
                continue
            elif _RULE.fullmatch(line):
                if at and _is_title(lines[at - 1], lines[at - 2] if at > 1 else "", line):
                    lines[at - 1] = _SIGNS[line[0]] + _bare(lines[at - 1])
                    lines[at] = line[len(line.rstrip()) :].strip(" \t")
            elif "<" in line and _LAYOUT.fullmatch(line):
                lines[at] = "\r" * line.endswith("\r")
            elif heading := _HEADING.fullmatch(line):
                end = line[len(line.rstrip()) :]
                lines[at] = heading[1] + _bare(heading[2]) + end
        return "\n".join(lines).encode("utf-8", "surrogateescape")


def _is_title(line: str, above: str, rule: str) -> bool:
    """Whether a line is the title that a rule is below."""
    text = line.strip()
    if above.strip() or _APART.search(text) or not _TITLE.fullmatch(line.rstrip()):
        return False
    # a rule between two parts of a page may follow a sentence
    return rule[0] == "=" or len(rule.strip()) > SHORTEST or text[-1] not in ".。:：;,"


SHORTEST = 3
"""Signs of a rule that parts paragraphs."""


def _bare(title: str) -> str:
    """The words of a heading, without what ends them, or stands around them.

    >>> _bare("Results ##"), _bare("Results {#results .unnumbered}"), _bare("**Results**")
    ('Results', 'Results', 'Results')
    >>> _bare("C#"), _bare("**7B** and **13B**")
    ('C#', '**7B** and **13B**')
    """
    title = _ANCHOR.sub("", _CLOSING.sub("", title.strip())) or title
    return _STRONG.sub(r"\2\3", title) if _STRONG.match(title) else title
