"""Sentences that go on in the next line of a document, and items of lists of settings.

In: two lines of prose, one below the other; a line and what opened the list that it is an item of.
Out: field → cell of what the sentence over both says, or the item: `… in bf16` and, below it, `on
A100 GPUs with Megatron-LM.` is one sentence about A100 GPUs; `- bf16` says below `Setup:` all that
a sentence would.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.ingest.columns.other_runs import of_these_runs
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.phrases import MEASURED, OF_ONE, phrases
from assay.ingest.vocabulary.devices import devices

_OPEN = deferred(
    r"^(?!\s*[|>#]).{40,}[^\s.:;!?|。：；]\s*$"
    r"|^ {0,3}[A-Z][^|>#:=]{15,40}\b(?:with|on|of|in|and|at|using)\s*$"
)
"""A line of prose as wide as a page whose sentence does not end with it, or one that cannot."""

_GOES_ON = deferred(
    r"^ {0,3}(?:[a-z(][\w()-]*(?: [\w(]|, |\.$)"
    r"|(?:\(?`{1,2}[^`]{1,60}`{1,2}\)?|--[a-z][\w=-]*)(?:,| [\w(]|\.$))"
)
"""A line that begins in the middle of a sentence: no key of a dump, no bullet."""

_COUNTS = deferred(r"( *[a-z]\w* ?[=:]? ?)[0-9]")
"""A word and its number: where two lines begin with the same word they are records, as `step 7`
below `step 6` is, and no sentence."""

_MAY_SAY = re.compile(
    r"[GNTHIx]PUs?\b|GCD|[Cc]ards?\b|[Cc]hips|[Nn]ode|[Ss]erver|[Bb]atch|\bbs\b|[Ss]eq|[Ll]ength"
    r"|[Cc]ontext|ctx|okens\b|recision|[bft][fp][0-9p]|float|AMP|layers|hidden|heads|aralleli|way\b"
    r"|Z[eE]RO|ccumul|\b[TPDCE]P\b|=|images|samples|sequences|devices|ranks|xperts|vocab"
)
"""Found in every sentence that says a setting of a run, but for one that names a device."""

_END = deferred(r"[a-z0-9)`*]\. (?=[A-Z`*])|。")


def carried_on(before: Line, line: Line) -> dict[str, Cell]:
    """Fields that a sentence which begins in the line before says in this one.

    >>> above = "We train a 13B model with 40 layers at sequence length 2048 in bf16"
    >>> said = carried_on(Line(3, above, 1, {}), Line(4, "on A100 GPUs with Megatron-LM.", 1, {}))
    >>> said["gpu"].text, said["gpu"].line, said["gpu"].column
    ('A100', 4, 4)
    >>> carried_on(Line(3, f"step 6 {above}", 1, {}), Line(4, "step 7 on A100 GPUs here", 1, {}))
    {}
    """
    if line.number != before.number + 1 or line.prefix or before.prefix:
        return {}
    text, before, line = line.text, _unmarked(before), _unmarked(line)
    begins = line.text if "<" not in text else " ".join(line.text.split()).replace(" ,", ",")
    if not (_OPEN.match(before.text) and _GOES_ON.match(begins)):
        return {}
    counted = _COUNTS.match(line.text)
    if counted and before.text.startswith(counted[1]) and _COUNTS.match(before.text):
        return {}
    begin = max((found.end() for found in _END.finditer(before.text)), default=0)
    stop = _END.search(line.text)
    head = before.text[begin:].rstrip()
    whole = f"{head} {line.text[: stop.end() if stop else None]}"
    if not (_MAY_SAY.search(whole) or devices(whole)):
        return {}
    if MEASURED.search(whole) or OF_ONE.search(whole):
        return {}
    above, told = len(head) + 1, phrases(Line(line.number, whole, 0, {}))
    first = before.column + begin  # where the sentence begins
    return {
        name: cell._replace(column=line.column + cell.column - above)
        if cell.column >= above
        else cell._replace(line=before.number, column=first + cell.column)
        for name, cell in told.items()
    }


def _unmarked(line: Line) -> Line:
    """A line with blanks for tags of HTML, but for those that end a paragraph."""
    if "<" not in line.text or "</p" in line.text.removesuffix("</p>"):
        return line
    return line._replace(text=_TAG.sub(lambda tag: " " * len(tag[0]), line.text).strip("\n"))


_TAG = deferred(r"</?(?:a|b|i|p|em|strong|code|span|sub|sup)(?:\s[^<>]*)?>", re.IGNORECASE)


@dataclass
class Items:
    """Whether the list that the next item is in says how things were set up."""

    headed: bool = False  # by the heading above
    opened: bool = False  # by the line above
    aside: bool = False  # of something else than training, by the line above

    def said_by(self, line: Line, *, heading: bool) -> dict[str, Cell]:
        """Fields that a line says as an item of such a list; nothing of a line that is none."""
        item = _ITEM.match(line.text) is not None
        if heading or not item:
            blank = self.aside and not line.text.strip()  # between a line and its list
            self.aside = blank or (not heading and _OF_ELSE.match(line.text) is not None)
        if heading:
            self.headed = self.opened = _OF_MACHINES.fullmatch(line.text) is not None
        elif line.text.strip() and not item:
            if not line.text.startswith(("  ", "\t")):
                self.opened = self.headed or _OPENS.match(line.text) is not None
        elif self.opened and line.text.strip() and not line.prefix:
            return _said_by(line)
        return {}


_OF_MACHINES = deferred(
    r"[#\s\d.*]*(?:(?:the|our|training|experiment(?:al)?|benchmark(?:ing)?|test|common"
    r"|hardware|software|system|general|shared) (?:and )?)*(?:set-?up|environment|hardware"
    r"|settings|test ?bed|machines?|conditions)\W*"
    r"|[#\s\d.*]*(?:测试|实验|训练|硬件|実験|計測|測定)?(?:环境|環境|条件)\W*",
    re.IGNORECASE,
)
"""Headings over what things ran on, and not over what a program could be told."""

_OPENS = deferred(
    r"\W*(?:[\w'/-]+ ){0,5}(?:set-?up|settings?|config(?:uration)?|hardware|environment|conditions"
    r"|test ?bed|specs?|details)\b(?!.*\b(?:inference|serving|eval\w*|recommend\w*|require\w*"
    r"|support\w*|planned|options?|minim\w+|previous|other)\b)[^.?!]{0,60}[:：][\s*_]*"
    r"(?:</?\w+>\s*)*$",
    re.IGNORECASE,
)

_OF_ELSE = deferred(
    r"[^.?!|]{0,80}?\b(?:inference|serving|eval\w*|decod\w+|deploy\w*|recommended|requirements"
    r"|minimum|planned|demo)\b[^.?!|]{0,60}[:：][\s*_]*$",
    re.IGNORECASE,
)
"""A line that opens a list of what is of no training."""

_ITEM = deferred(r"\s*(?:[-*+•] |[0-9]{1,2}[.)] |<li\b)")

_OPTION = deferred(r"--[a-z]|\b(?:enable|use|set|pass|whether|default|if|see|run|install)\b", re.I)

MOST_WORDS = 16
"""Words of an item that is one of settings, and no paragraph."""


def _said_by(line: Line) -> dict[str, Cell]:
    plain = line._replace(text=of_these_runs(_unmarked(line).text))
    if len(plain.text.split()) > MOST_WORDS or _OPTION.search(plain.text):
        return {}
    if MEASURED.search(plain.text) or OF_ONE.search(plain.text):
        return {}
    return phrases(plain, least=1)


_PROSE = deferred(r"(?!\s*(?:[|>#*+-]|[0-9]+[.)] ))\s*\S.{8,}")

_STOP = deferred(r"[.!?;:](?:\s|$)")


def names_another(lines: Sequence[Line], at: int) -> bool:
    """Whether the sentence that a line is in names another device in the line above or below it.

    >>> page = ["The instances are g3.8xlarge (2 Tesla M60, 16 GB) and", "g4dn.4xlarge (1 T4)."]
    >>> names_another([Line(n, text, 1, {}) for n, text in enumerate(page, 1)], 1)
    True
    """
    own = {each.key for each in devices(lines[at].text)}
    if not own or not _PROSE.fullmatch(lines[at].text):
        return False
    above, text = lines[at - 1].text if at else "", lines[at].text
    below = lines[at + 1].text if at + 1 < len(lines) else ""
    tail = _STOP.split(above)[-1] if _PROSE.fullmatch(above) else ""
    goes_on = _STOP.split(text)[-1].strip() != ""
    head = _STOP.split(below)[0] if goes_on and _PROSE.fullmatch(below) else ""
    last = {each.key for each in devices(_STOP.split(text)[-1])}
    first = {each.key for each in devices(_STOP.split(text)[0])}
    over = {each.key for each in devices(tail)} if first else set()
    under = {each.key for each in devices(head)} if last else set()
    return bool((over | under) - own)
