"""Pages of Markdown with their headings in one spelling: `## Title`, whatever stands around it.

In: the lines of a page as they stand on disk. Out: as many lines, in which Markdown's signs stand
in front of a title that is underlined, between tags of HTML, in the front matter or, where nothing
else parts a page, in bold type; and no heading has signs, anchors, pictures or bold type around its
words. Tags that only lay out what is between them are blank, and so are the signs of a page that is
quoted as a whole. Blocks of code of HTML stand between fences, and its paragraphs apart: what has
no line of its own for it is a part of one, behind a carriage return. Blocks of code stay as they
are, and so does what is no page: what a program prints under its titles makes none of them a
heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import unescape

from assay.ingest.schema.terminals import deferred

_PAGE = re.compile(
    rb"^[ >]{0,8}(?:#{1,6} |`{3}|<(?:table|pre|h[1-6])[ >]"
    rb"|\|? ?:?-+:? ?(?:\| ?:?-+:? ?)*\|[ |:-]{0,400}$)",
    re.MULTILINE | re.IGNORECASE,
)
"""A line that only pages of Markdown have: a heading, the rule below a header, a tag of HTML."""

_INVITES = (
    r"(?:(?:click|press|tap)(?: here)?(?: (?:to|for))?|expand|collapse|show|view|see|open|toggle"
    r"|details?|more|unfold|点击(?:此处)?|点我|展开|折叠|查看(?:更多)?|詳細|クリックして展開|펼치기"
    r"|더 ?보기)(?: ?(?:to|and|the|all|full|more|details?|tables?|results?|numbers|expand|collapse"
    r"|show|view|see|open|unfold|hide|here|me|it|this|展开|查看|详情|结果|表格|全部|更多|折叠)){0,6}"
)
"""The words of a summary that tell nothing of what is below it: `Click to expand`."""

_LAYOUT = deferred(
    r"\s*(?:(?:</?(?:div|center|details|section)(?:\s[^<>]{0,200})?>|<br\s*/?>"
    r"|<!--(?:(?!-->).){0,400}-->"
    rf"|<summary[^<>]{{0,80}}>(?:<[^<>]{{1,40}}>){{0,3}}[^\w<]{{0,4}}{_INVITES}"
    r"[^\w<]{0,4}(?:<[^<>]{1,40}>){0,3}</summary>)\s*)+",
    re.IGNORECASE,
)
"""A line of tags that lay out what is between them, or that nobody sees."""

_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")

_FRAME = deferred(r"\s*<pre(?:\s[^<>]{0,200})?>\s*(?:<code(?:\s[^<>]{0,200})?>)?", re.IGNORECASE)

_FRAME_END = deferred(r"\s*(?:</code>)?\s*</pre>", re.IGNORECASE)

_ROOT = deferred(r"\s*<(?:!doctype html|html|body)\b", re.IGNORECASE)

_PARAGRAPH = deferred(r"\s*<(?:p|ul|ol|dl|table)(?:\s[^<>]{0,200})?>", re.IGNORECASE)

_RULE = re.compile(r"(?:={3,}|-{3,})\s*")

_SIGNS = {"=": "# ", "-": "## "}
"""The signs of a heading of the level that a rule gives its title."""

_TITLE = deferred(
    r" {0,3}(?!(?:[-*+>]|[0-9]+[.)]) |[|<#:]|\*\*[^*]+\*\*[:.]?$)\S.{0,200}[^\W_]\W{0,3}"
)

_APART = re.compile(r"\S(?: {2,}|\t)\S|\|")
"""Words of a header of a table are kept apart; those of a heading are not."""

_HEADING = re.compile(r"( {0,3}#{1,6}[ \t]+)(\S.*?)\s*")

_TAGGED = deferred(
    r"\s*(<h([1-6])(?:\s[^<>]{0,200})?>)\s*((?:(?!</?h[1-6]).)*\S)\s*</h\2>\s*", re.IGNORECASE
)

_ENDS = deferred(
    r"[ \t]+#{1,6}$|[ \t]*\{[ \t]{0,4}(?:[#.][\w:.-]{1,80}[ \t]{0,4}){1,4}\}$|[ \t]*¶$"
    r"|[ \t]*\[[#¶🔗]\]\(#[^()\s]{0,120}(?: \"[^\"]{0,80}\")?\)$|[ \t]*<a\s[^<>]{0,200}></a>$"
)
"""Signs behind the words of a heading: closing signs, an anchor, the link to it."""

_BEGINS = deferred(
    r"(?:<a\s[^<>]{0,200}>\s*</a>\s*|:[a-z][a-z0-9_]{1,30}:\s+"
    r"|[\u2600-\u2704\u2706-\u2712\u2719-\u274b\u274f-\u27bf\u2b50\U0001f000-\U0001faff]"
    r"[\ufe0f\u200d\U0001f000-\U0001faff]{0,6}\s*)+(?=\S)"
)
"""Signs in front of them: anchors and pictures, but no ticks and crosses."""

_AROUND = (
    deferred(r"(\*\*|__)(?!\s)(?P<words>(?:(?!\*\*|__|`).)+)(?<!\s)\1(?P<end>:?)"),
    deferred(r"\[(?P<words>[^\[\]]+)\]\(#[^()\s]{0,120}\)(?P<end>:?)"),
)
"""Bold type of a whole heading, and its link to itself."""

_QUOTED = deferred(r" {0,3}> ?")

MOST = 0.75
"""Part of the lines of a page that is quoted as a whole; the others say who wrote it."""

_TITLED = deferred(r"title\s*:\s*([\"']?)(?P<title>\S.{0,200}?)\1\s*")

_PUBLISHED = deferred(
    r"(?:title|layout|date|tags|categor(?:y|ies)|authors?|description|permalink|slug|weight|draft"
    r"|sidebar_\w+|nav_\w+|parent|image|toc|math|lastmod|keywords|pin|comments)\s*:.*|\s*- \S+\s*"
)
"""Lines of front matter that tell of a page and not of what it says."""


def page(begin: bytes) -> Callable[[bytes], bytes] | None:
    r"""The function that writes the headings of a page that begins so in one spelling; None where
    there is nothing to do, or no page.

    It is called with one chunk of whole lines after the other.

    >>> page(b"Results\n=======\n\n| GPUs | MFU |\n|---|---|\n")(b"Results\n=======\n")
    b'# Results\n\n'
    >>> page(b"Results\n=======\n\nloss 2.1\n") is None
    True
    """
    if _PAGE.search(begin) and _Page().spelled(begin) != begin:
        return _Page().spelled
    return None


@dataclass
class _Page:
    """Where the lines so far end: inside a block of code, which ends with this sign, or outside."""

    begun: bool = False
    quoted: bool = False
    fence: str = ""
    bold: bool | None = None  # whether nothing but bold type tells its sections apart
    framed: bool = False  # inside a block of code of HTML
    closing: bool = False  # behind the last line of one
    html: bool = False  # a page of HTML, whose paragraphs need no blank line

    def spelled(self, data: bytes) -> bytes:
        """The lines with every heading as `#` and its words alone."""
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        if not self.begun:
            self.begun, self.quoted = True, _is_quoted(lines)
            self.html = any(_ROOT.match(line) for line in lines)
            _put_front(lines)
        if self.quoted:
            lines = [_QUOTED.sub("", line, count=1) for line in lines]
        lines = [self._unframed(line) for line in lines]
        outside = list[int]()
        for at, line in enumerate(lines):
            if sign := _FENCE.match(line):
                if not self.fence:
                    self.fence = sign[1]
                elif sign[1].startswith(self.fence) and line.strip() == sign[1]:
                    self.fence = ""
            elif not self.fence and line[:1] not in ("|", ""):
                _spell(lines, at)
                outside.append(at)
        if self.bold is None:
            self.bold = not any(lines[at].startswith("##") for at in outside)
        if self.bold:
            _head_in_bold(lines, outside)
        return "\n".join(lines).encode("utf-8", "surrogateescape")

    def _unframed(self, line: str) -> str:
        """A line of a block of code of HTML between fences, which stand on parts of lines."""
        before, self.closing = "```\r" * self.closing, False
        opened = None if self.framed or self.fence else _FRAME.match(line)
        if not opened and not self.framed:
            apart = self.html and _PARAGRAPH.match(line) is not None
            return before + "\r" * apart + line
        text = line[opened.end() :] if opened else line
        if opened:  # as wide as its tags, so that columns stay
            before += "```".ljust(opened.end() - 1) + "\r"
        closed = _FRAME_END.search(text)
        self.framed, self.closing = closed is None, closed is not None
        code = text[: closed.start()] if closed else text
        return before + unescape(code)


def _spell(lines: list[str], at: int) -> None:
    """Write one line outside of code as Markdown has it, and the title that it is a rule below."""
    line = lines[at]
    end = "\r" * line.endswith("\r")
    if _RULE.fullmatch(line):
        if at and _is_title(lines[at - 1], lines[at - 2] if at > 1 else "", line):
            lines[at - 1] = _SIGNS[line[0]] + _bare(lines[at - 1].strip()) + end
            lines[at] = end
    elif heading := _HEADING.fullmatch(line):
        lines[at] = heading[1] + _bare(heading[2]) + end
    elif "<" not in line:
        return
    elif _LAYOUT.fullmatch(line):
        lines[at] = end
    elif tagged := _TAGGED.fullmatch(line):
        signs = f"{'#' * int(tagged[2])} ".ljust(len(tagged[1]))
        lines[at] = signs + _bare(tagged[3]) + end


_IN_BOLD = deferred(
    r"(\*\*|__)(?!\s|(?:Table|Tab\.|Figure|Fig\.|Note|表|图|図) ?)"
    r"(?:(?!\*\*|__|`).){1,80}(?<![\s.:,;])\1\s*"
)
"""A line that is all in bold type, and no caption with a number or a sentence."""


def _head_in_bold(lines: list[str], outside: Sequence[int]) -> None:
    """Write lines in bold type that stand alone as headings, unless all are captions of tables."""
    found, captions = list[int](), True
    for at in outside:
        around = (*lines[max(0, at - 1) : at], *lines[at + 1 : at + 2])
        if _IN_BOLD.fullmatch(lines[at]) and not any(line.strip() for line in around):
            found.append(at)
            below = next((line.lstrip() for line in lines[at + 1 : at + 4] if line.strip()), "|")
            captions &= below.startswith(("|", "<t"))
    for at in found if len(found) > 1 and not captions else ():
        line = lines[at].rstrip()
        lines[at] = "## " + line[2:-2] + lines[at][len(line) :]


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
    """The words of a heading, without what stands in front of them, behind or around them.

    >>> _bare("Results ##"), _bare("Results {#results .unnumbered}"), _bare("**Results**")
    ('Results', 'Results', 'Results')
    >>> _bare(":rocket: Results"), _bare("[Results](#results)"), _bare("Results [¶](#r)")
    ('Results', 'Results', 'Results')
    >>> _bare("C#"), _bare("**7B** and **13B**"), _bare("✅ Flash")
    ('C#', '**7B** and **13B**', '✅ Flash')
    >>> _bare("TRAINING ON 8X H100 GPUS")
    'training on 8x H100 GPUs'
    """
    title = (
        _ENDS.sub("", _BEGINS.sub("", title, count=1) if _BEGINS.match(title) else title) or title
    )
    for form in _AROUND:
        if whole := form.fullmatch(title):
            title = whole["words"] + whole["end"]
    return _SHOUTED.sub(_spoken, title) if title.isupper() else title


_SHOUTED = deferred(
    r"\b(?:[GNTX]PUS|NODES?|CARDS?|CHIPS?|MACHINES?|SERVERS?|AN?|THE|AND|OF|ON|WITH|FOR|IN|PER|EACH"
    r"|TRAINING)\b|(?<=[0-9])X\b"
)
"""Words of a heading in capitals that are no names."""


def _spoken(word: re.Match[str]) -> str:
    """Such a word as it stands in other headings: `GPUs`, `nodes`, the `x` of `8x A100`."""
    return f"{word[0][:-1]}s" if word[0].endswith("PUS") else word[0].lower()


def _is_quoted(lines: Sequence[str]) -> bool:
    """Whether all of a page is quoted, but for a few lines that say whose it is."""
    said = [line for line in lines if line.strip()]
    return sum(line.lstrip().startswith(">") for line in said) > MOST * len(said)


def _put_front(lines: list[str]) -> None:
    """Write the title of front matter as a heading of its page, which may have it below again."""
    if lines[0].strip() != "---":
        return
    last = next((at for at, line in enumerate(lines[1:60], 1) if line.strip() == "---"), 0)
    if not last:
        return
    below = {line[2:].strip() for line in lines[last:] if line.startswith("# ")}
    for at in range(last + 1):
        line = lines[at].strip()
        titled = _TITLED.fullmatch(line)
        if titled and titled["title"] not in below:
            lines[at] = "# " + titled["title"]
        elif at in (0, last) or _PUBLISHED.fullmatch(line):
            lines[at] = ""
