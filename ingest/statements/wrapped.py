"""Sentences that go on in the next line of a document.

In: two lines of prose, one below the other. Out: field → cell of what the sentence over both says.
`… in bf16` and, below it, `on A100 GPUs with Megatron-LM.` is one sentence about A100 GPUs.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.phrases import MEASURED, OF_ONE, phrases
from assay.ingest.vocabulary.devices import devices

_OPEN = deferred(r"^(?!\s*[|>#]).{40,}[^\s.:;!?|。：；]\s*$")
"""A line of prose as wide as a page, whose sentence does not end with it."""

_GOES_ON = deferred(r"^ {0,3}[a-z(][\w()-]*(?: [\w(]|, |\.$)")
"""A line that begins in the middle of a sentence: no key of a dump, no bullet."""

_COUNTS = deferred(r"( *[a-z]\w* ?[=:]? ?)[0-9]")
"""A word and its number: where two lines begin with the same word they are records, as `step 7`
below `step 6` is, and no sentence."""

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
    if not (_OPEN.match(before.text) and _GOES_ON.match(line.text)):
        return {}
    counted = _COUNTS.match(line.text)
    if counted and before.text.startswith(counted[1]) and _COUNTS.match(before.text):
        return {}
    begin = max((found.end() for found in _END.finditer(before.text)), default=0)
    stop = _END.search(line.text)
    head = before.text[begin:].rstrip()
    whole = f"{head} {line.text[: stop.end() if stop else None]}"
    if MEASURED.search(whole) or OF_ONE.search(whole):
        return {}
    above = len(head) + 1
    return {
        name: cell._replace(column=line.column + cell.column - above)
        for name, cell in phrases(Line(line.number, whole, 0, {})).items()
        if cell.column >= above
    }


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
