"""Letters that a document has for degrees of parallelism: `t, p and d are the tensor, pipeline and
data parallel sizes`.

In: texts and lines. Out: each letter with the label that its degree has elsewhere, and the same
lines with the names of degrees for their letters: `TP=8` for `$t = 8$`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from assay.ingest.columns.headers import in_letters
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

DEGREES = {"TP", "PP", "DP", "CP", "EP", "SP", "VP", "MFU", "HFU"}

_KIND = (
    r"(?:(?:tensor|model|pipeline|data|context|sequence|expert|virtual[ -]pipeline)(?![ -]model))"
    r"(?:[ -]?parallel(?:ism)?)?|(?:张量|流水线|数据|上下文|序列|专家)(?:并行)?"
)

_A_LETTER = r"[*_`$(]{0,3}(?<![A-Za-z_])([A-Za-z](?:_\{?[A-Za-z]{1,3}\}?)?)(?![A-Za-z])[*_`$)]{0,3}"

_MANY_LETTERS = (
    r"(?:[*_`$(]{0,3}(?<![A-Za-z])[A-Za-z](?:_\{?[A-Za-z]{1,3}\}?)?(?![A-Za-z])[*_`$)]{0,3}"
)

_LISTED_LETTERS = deferred(
    rf"({_MANY_LETTERS}(?:, ?(?:and )?| ?& ?| and |、|和|/)){{1,5}}{_MANY_LETTERS})) ?"
    r"(?:,? ?(?:are|denotes?|stands? for|represents?|mean|give|refer to|be|=|:|分别(?:是|为|表示"
    r"|代表)?|表示|代表)) ?"
    r"(?:the |our )?(?:degrees? of |sizes? of |number of )?"
    rf"((?:(?:{_KIND})[-]?(?:, ?(?:and )?| ?& ?| and |、|和|/)?\s?){{2,6}})"
    r"(?:(?:[- ]?parallel(?:ism|ization)?)?[ -]?(?:degrees?|sizes?|dimensions?|ways?|ranks"
    r"|groups)?|并行)"
)
"""Letters one after another, and the kinds of parallelism that they are the degrees of: `$t$, $p$
and $d$ denote the tensor-, pipeline- and data-parallel degrees`."""

_ONE_LETTER = deferred(
    r"(?<![·×*/+=^])(?<![·×*/+=^] )(?<!dot )(?<!times )"
    rf"{_A_LETTER} ?(?:,? ?(?:is|are|denotes|stands for|represents|be|=|:)) ?(?:the |our )?"
    r"(?:degree of |size of |number of )?"
    rf"((?:tensor|model|pipeline|data|context|sequence|expert)[- ](?:model[- ])?parallel)"
    r"(?:ism)?(?![- ]?(?:micro|batch|rank\b|group\b|speed|effici|time|comm))"
    rf"|{_A_LETTER} ?(?:,? ?(?:is|denotes|stands for|be|=|:)) ?(?:the )?(?:number of )?"
    r"(pipeline stages)\b"
    r"|((?:tensor|pipeline|data|context|expert)(?:[- ](?:model[- ])?parallel(?:ism)?)?)"
    r"(?: (?:degree|size))?,? ?(?:\$([A-Za-z](?:_\{?[A-Za-z]{1,3}\}?)?)\$"
    r"|\([*_`$]{0,2}([A-Za-z](?:_[A-Za-z]{1,3})?)[*_`$]{0,2}\))"
)
"""One letter and its kind: `$t$ is the tensor-parallel size`, `tensor (t)`."""


_GOES_ON = deferred(
    rf"(?:,| and|;) {_A_LETTER},? (?:the|for the|for) "
    r"((?:tensor|model|pipeline|data|context|sequence|expert)[- ](?:model[- ])?parallel)"
)
"""A further letter behind one that was said to be a degree: `, $p$ the pipeline parallel size`."""


_A_VALUE = r"\$([A-Za-z])\s?=\s?[0-9]{1,4}"

_VALUED = re.compile(r"\$[A-Za-z] ?= ?[0-9]")
"""In every line that gives a letter its value."""

_WITH_VALUE = deferred(
    r"((?:tensor|pipeline|data|context|expert)[- ](?:model[- ])?parallel)(?:ism)?"
    rf"(?: (?:degree|size))?,? \(?{_A_VALUE}\b"
    rf"|{_A_VALUE}\$(?: |-way )(pipeline|tensor|data|expert)[- ](?:parallel(?:ism)?|stages|ranks)"
)
"""A letter with its value beside what it is the degree of: `tensor parallelism ($t=8$)`, `$p=8$
pipeline stages`."""


def degrees_by_letter(text: str) -> dict[str, str]:
    """Letters that a text says to be degrees of parallelism, each with the label of its kind.

    >>> degrees_by_letter("Here $t$ and $p_p$ denote the tensor- and pipeline-parallel degrees.")
    {'t': 'TP', 'p_p': 'PP'}
    >>> degrees_by_letter("t, p and d are the tensor, pipeline and data parallel sizes")
    {'t': 'TP', 'p': 'PP', 'd': 'DP'}
    >>> degrees_by_letter("where $t$ is the tensor-parallel size and $p$ is the number of GPUs")
    {'t': 'TP'}
    >>> degrees_by_letter("*$p$: pipeline stages, $b$: micro-batch.*")
    {'p': 'PP'}
    """
    text = _TAGS.sub("`", text) if "<" in text and len(text) <= LONGEST else text
    found, outright = dict[str, str](), False
    for told in _LISTED_LETTERS.finditer(text) if len(text) <= LONGEST else ():
        letters = re.findall(_A_LETTER, told[1].replace(" and ", ", ").replace("和", ", "))
        kinds = [_kind(each) for each in re.findall(_KIND, told[2], re.IGNORECASE)]
        if len(letters) == len(kinds) == len(set(kinds)) and all(kinds):
            found |= dict(zip(map(_bare, letters), kinds, strict=True))
    if found or len(text) > LONGEST:
        return found
    for told in _ONE_LETTER.finditer(text):
        letter = _bare(next(told[at] for at in (1, 3, 6, 7) if told[at]))
        kind = _kind(told[2] or told[4] or told[5])
        outright |= "parallel" in told[0] or told[4] is not None
        if kind and found.get(letter, kind) == kind:
            found[letter] = kind
    for told in _GOES_ON.finditer(text) if found and outright else ():
        found.setdefault(_bare(told[1]), _kind(told[2]))
    return found if outright or {"TP", "PP"} <= set(found.values()) else {}


def _with_values(text: str) -> Iterator[tuple[str, str]]:
    """Letters beside whose values it is said what they are the degrees of, and their kinds.

    >>> list(_with_values("tensor parallelism ($t=8$) with $p=4$ pipeline stages"))
    [('t', 'TP'), ('p', 'PP')]
    >>> list(_with_values("on $p=4$ ranks"))
    []
    """
    for told in _WITH_VALUE.finditer(text):
        yield told[2] or told[3], _kind(told[1] or told[4])


_TAGS = re.compile(r"</?(?:code|i|em|b|strong|var|tt)>|</?(?:p|li|td|div|span)>")


def with_degrees(lines: Sequence[Line], told: Mapping[str, str]) -> Sequence[Line]:
    """Lines with the names of degrees for the letters that their document has for them, `told`:
    `TP=4` for `$t=4$`.

    >>> with_degrees([Line(1, "($t=4$, $d = 2$) on 8", 1, {})], {"t": "TP", "d": "DP"})[0].text
    '(TP=4, DP=2) on 8'
    """
    signs = {
        sign: kind for sign, kind in told.items() if kind in DEGREES and len(sign) <= LONGEST_SIGN
    }
    if not signs:
        return lines
    every = "|".join(map(re.escape, sorted(signs, key=len, reverse=True)))
    form = re.compile(
        rf"\$?(?:<(?:i|em|code|var)>)?[*_`]?(?<![A-Za-z_])({every})(?![A-Za-z_])[*_`]?(?:</(?:i|em|code|var)>)?"
        r"\$?(?:&nbsp;|\s){0,2}=(?:&nbsp;|\s){0,2}\$?([0-9]{1,4})(?![0-9.])\$?"
    )
    return [
        line._replace(text=form.sub(lambda m: f"{signs[m[1]]}={m[2]}", line.text))
        if "=" in line.text and len(line.text) <= LONGEST
        else line
        for line in lines
    ]


LONGEST_SIGN = 5
"""Letters of a symbol that stands for a degree of parallelism: `p_p`."""


def _bare(letter: str) -> str:
    return re.sub(r"[*`$(){}]", "", letter)


def _kind(text: str) -> str:
    """The label of the degrees of a kind of parallelism."""
    word = text.casefold()
    return next((label for kind, label in _DEGREES_OF.items() if word.startswith(kind)), "")


_DEGREES_OF = {
    "tensor": "TP", "model": "TP", "virtual": "VP", "pipeline": "PP", "data": "DP",
    "context": "CP", "sequence": "SP", "expert": "EP", "张量": "TP", "流水线": "PP",
    "数据": "DP", "上下文": "CP", "序列": "SP", "专家": "EP",
}  # fmt: skip


def letters_in(lines: Sequence[Line]) -> dict[str, str]:
    """The letters that a document says to be degrees, each with the label of its kind; none of
    those that it says to be of several kinds."""
    found: dict[str, set[str]] = {}
    for line in lines:
        if any(map(line.text.__contains__, ("aral", "ipeline stages", "并行"))):
            for letter, kind in degrees_by_letter(in_letters(line.text)).items():
                found.setdefault(letter, set()).add(kind)
        for letter, kind in _with_values(line.text) if _VALUED.search(line.text) else ():
            found.setdefault(letter, set()).add(kind)
    return {letter: kinds.pop() for letter, kinds in found.items() if len(kinds) == 1}
