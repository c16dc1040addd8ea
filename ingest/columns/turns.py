"""Lines that say what differs from here on: `we moved to H100s`, `same, but half the batch`.

In: a line of prose. Out: the settings that it speaks of as different from those above it. What was
said of them before holds no longer, whether or not the line is understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache

from assay.ingest.columns.other_runs import IS_OPEN, of_these_runs, sentences
from assay.ingest.columns.spoken_of import spoken_of
from assay.ingest.schema.record import REMEMBERED, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import devices, only

_DONE = (
    r"(?:moved|switched|swapped|went|changed|rented|borrowed|bought|got|halved|doubled|tripled"
    r"|quadrupled|quartered|raised|lowered|increased|decreased|reduced|dropped|cut|bumped|shortened"
    r"|lengthened|extended|upgraded|downgraded|migrated|replaced|removed|added|enabled|disabled"
    r"|reverted|returned|abandoned"
    r"|turned|traded|paid|grew|shrank|scaled|repeated|reran|re-ran|tripled)"
)

TURNS = (
    r"(?i:"
    rf"\b(?:we|I|and|then|have|has|had|was|were|been)(?: also| then| now| just| even)? {_DONE}\b"
    rf"|(?:^|[:–—-] ?)\W*{_DONE}\b"
    r"|^\W*now\b|\bnow (?:is|are|on|with|in|at|using|uses?|runs?|[0-9])\b"
    r"|\b(?:is|are|was|were|runs?|ran|uses?|using|with|on|at|but|and) now\b|\bthis time\b"
    r"|\botherwise (?:like|as|the same|identical|unchanged|everything|same)\b"
    r"|\b(?:same|identical(?:ly)?|as (?:before|above)|like (?:before|above)|unchanged|all else"
    r"|everything else)\b[^.;]{0,60}\b(?:except|but|only|other than|apart from|save)\b"
    r"|\b(?:same|(?:as|like) (?:before|above))\b[^.;]{0,30}?"
    r"\b(?:with|at|on|in) (?:an? )?(?:[0-9]|longer|shorter)"
    r"|\b(?:not|no longer) (?:(?:the )?same as|identical to|as|like|those|what it was) "
    r"(?:in )?(?:above|before|(?:the )?(?:previous|last|first|table|section)\b)"
    r"|\bexcept (?:that|with|on|now)\b|\bthe only (?:change|difference)s?\b"
    r"|\b(?:up from|(?:went|go) up to|(?:down|back|over) (?:to|from)) \S{0,12} ?[0-9]"
    r"|\bfrom (?:here|now|then|th(?:is|at) point) on|\bsince then\b"
    r"|\b(?:is|are|was|runs?|ran|uses?|went|fell) (?:[\w-]+ ){0,2}(?:again|back (?:to|in|on))\b"
    r"|\bdiffer(?:s|ent|ence)?\b[^.;]{0,24}:"
    r"|\b(?:rented|borrowed)\b|\binstead(?:[.,;:)]|$)"
    r"|\b(?:newer?|older?|other|another|different|second|bigger)"
    r" (?:[\w-]+ )?(?:machine|box|server|cluster|node|workstation|system|card|GPU|partition)s?\b"
    r"|\b(?:jetzt|nun|diesmal|stattdessen|umgestiegen|gewechselt|halbiert|verdoppelt|gemietet)\b"
    r"|\b(?:maintenant|cette fois|désormais|passés?|remplacée?s?|doublée?s?|réduite?s?|louée?s?)\b"
    r"|\b(?:ahora|esta vez|cambiamos|duplicamos)\b"
    r"|改为|改用|换成|换到|这次|切换|升级|今回|変更|切り替え|倍に|半分|(?:有効|無効|オン|オフ)にした(?:結果|とき|時|場合))"
)
"""Found in every line that may say what differs from here on, in polars' syntax."""

_TURN = deferred(TURNS)


def may_turn(text: str) -> bool:
    """Whether a line may say what differs from here on: a quick look."""
    return _TURN.search(text) is not None


@lru_cache(maxsize=REMEMBERED)  # tables ask the lines above them, and so do statements
def turned(text: str) -> frozenset[str]:
    """The settings that a line speaks of as different from those above it.

    >>> sorted(turned("Same as above, but the context is twice as long."))
    ['seq_len']
    >>> sorted(turned("H100s! Otherwise like before.")), sorted(turned("FP8 is fast on H100."))
    (['gpu'], [])
    >>> sorted(turned("The A100 has 80 GB. Then I added a flag."))
    []
    >>> sorted(turned("The sequence length is not as above."))
    ['seq_len']
    >>> sorted(turned("Compared to last year we now see more tokens."))
    []
    >>> sorted(turned("Where a row has another batch, it is `micro_batch` that I changed."))
    []
    >>> sorted(turned("Since then we added [QDoRA](https://example.org/fsdp-qdora.html)."))
    []
    """
    if not may_turn(text):
        return frozenset()
    text = _ADDRESS.sub("]", text) if "](" in text else text
    own = _WHICH_KEY.sub(" ", of_these_runs(text))
    parts = [part for part in sentences(own) if may_turn(part)]
    found = frozenset[str]().union(*map(spoken_of, parts))
    if _SWITCHED_BELOW.search(own):  # what, the sentence before says
        found |= spoken_of(text) & _SWITCHES
    if not parts or not devices(_HAS_MEMORY.sub(" ", own)):
        return found
    return found | {"gpu"}


_ADDRESS = re.compile(r"\]\([^()\s]*\)")
"""Where a link leads: its words say nothing of runs."""

_WHICH_KEY = deferred(
    r"\b(?:it|this|that)(?: is| was|['’]s) (?:only |just |always )?`[^`]{1,60}`,? (?:that |which )?"
    r"(?:(?:I|we)(?: have)?|was|is) (?:changed|varied|turned|raised|lowered|set)\b"
)
"""Words that tell which key of a file the rows of a table change, each as it says."""

_SWITCHED_BELOW = deferred("以下は[^。]{0,40}(?:有効|無効|オン|オフ)にした")

_SWITCHES = frozenset({"recompute", "attention", "sequence_parallel"})

_HAS_MEMORY = deferred(
    r"\b[A-Z][\w-]*(?: [A-Z0-9][\w-]*){0,2} (?:has|have|comes? with|offers?) (?:only )?"
    r"[0-9]+ ?Gi?B\b"
)
"""Memory of a device: `MI210 has 64 GB`, which says nothing of what runs are on."""


_WHAT_STANDS = r"(?:tables?|sections?|figures?|charts?|pages?|blocks?|results|numbers|measurements)"

_LATER = deferred(
    r"(?i:^\W*(?:(?:much |a (?:bit|week|month|day) |weeks |months |days )?later(?: on)?"
    r"|afterwards|subsequently|thereafter|after (?:that|this)|since then)\b"
    r"(?! (?:rows?|lines?|columns?|entr(?:y|ies))\b)"
    rf"|\b(?:next|following) (?:[\w-]+ )?{_WHAT_STANDS}\b"
    rf"|\b{_WHAT_STANDS} (?:right |just |directly )?(?:below|that follow|to follow)"
    r"|^\W*(?:(?:here )?below|next)(?:,|:| (?:are|is|come|we|I)\b)(?! (?:\w+ ){0,3}(?:settings"
    r"|set-?up|config\w*|hyper-?param\w*|flags|options|commands?|scripts?|hardware)\b)"
    rf"|^\W*{_WHAT_STANDS}\b[^.;:]{{0,40}}? (?:follows?|(?:is|are) (?:shown|given|listed"
    r"|reported|found) (?:below|next))\W*$"
    r"|\b(?:we|I) (?:now|next) (?:turn|look|move|go|come|consider|repeat|compare)\b"
    r"|^\W*(?:the )?same\b[^.;]{2,60}:\W*$"
    r"|^\W*(?:with|on|using) (?!(?:all|every|each|both|these|our|the)\b)[^.;:]{1,60}:\W*$"
    r"|^\W*(?:for|in|during) (?:the|our) (?:actual |real )?(?:final|full|production|main|actual"
    r"|real|long) (?:(?:pre-?)?training )?(?:(?:pre-?)?training|runs?|jobs?|models?)\b,? ?(?:we|I"
    r"|it|the|[0-9]|was|were|used?)\b"
    r"|^\W*(?:the|our) (?:final|production|released|real) (?:[\w-]+ )?(?:runs?|jobs?|models?"
    r"|checkpoints?) (?:later )?(?:uses?|used|took|takes|ran|runs|(?:was|were|is|are) (?:then "
    r"|later )?(?:trained|run))\b"
    r"|^\W*(?:the )?same (?:runs?|models?|code|jobs?|set-?ups?|configurations?|benchmarks?"
    r"|experiments?) (?:on|with|at|in)\b"
    rf"|\b(?:we|I)(?: have)? (?:later|then|afterwards|subsequently|since) (?:also )?{_DONE}\b"
    rf"|\b(?:we|I) {_DONE}\b[^.;]{{0,40}}\b(?:later|afterwards|subsequently)\b"
    r"|^\W*(?:später|danach|ensuite|plus tard|par la suite|más tarde|después|luego"
    r"|mais tarde|depois|in seguito|позже|затем)\b"
    r"|^\W*(?:后来|後來|之后|之後|随后|隨後|再后来|その後|のちに|이후|나중에)"
    r"|^\W*(?:换成|改用|改为|换到|切换到|打开|开启|关闭|加上|去掉)"
    r"[^。；，,]{1,40}[后後](?![续来端])"
    r"|^[^。；，,：:]{1,24}(?:换成|改用|改为|换到|切换到|打开|开启|关闭|加上|去掉)[^。；，,]{1,40}[后後](?=[，,]))"
)


@lru_cache(maxsize=REMEMBERED)
def later(text: str) -> frozenset[str]:
    """The settings that a line below a table says of runs that came after those above it.

    >>> sorted(later("Later we switched to bf16, 0.4 s per step."))
    ['dtype']
    >>> "gpu" in later("The next table shows the same on H100.")
    True
    >>> later("We use bf16. We then evaluated."), later("Later rows are in bf16.")
    (frozenset(), frozenset())
    """
    parts = [part for part in sentences(text) if _LATER.search(part)]
    return frozenset[str]().union(*map(spoken_of, parts))


def but_for_later(
    lines: Sequence[Line], rows: Set[int], printed: Set[str] = frozenset()
) -> Sequence[Line]:
    """Lines with blanks for what those below all `rows` of tables say of runs that came after, or
    that the document does not show: there is no table of these. What a run reached that is none of
    the values `printed` in rows is such a one.

    >>> below = "We use bf16. The next table is on", "16 GPUs. With FP8 the 7B gets 9.2."
    >>> lines = [Line(n, text, 1, {}) for n, text in enumerate(below, 1)]
    >>> [line.text.strip() for line in but_for_later(lines, {0})]
    ['We use bf16.', '']
    >>> [line.text.strip() for line in but_for_later(lines[1:], {0}, {"9.2"})]
    ['16 GPUs. With FP8 the 7B gets 9.2.']
    """
    last = max(rows, default=0)
    found = [line for line in lines if line.number <= last]
    for held in _wrapped(lines[len(found) :]):
        if held[0].prefix or held[0].text.startswith("#") or len(held[0].text) > LONGEST:
            found += held
            continue
        own = ""
        for part in sentences(" ".join(line.text for line in held)):
            more = len(held) > 1 and not of_these_runs(part).strip()
            own += " " * len(part) if more or _is_later(part, printed) else part
        begin = 0
        for line in held:
            text = own[begin : begin + len(line.text)]
            found.append(line if text == line.text else line._replace(text=text))
            begin += len(line.text) + 1
    return found


def _wrapped(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines, those together over which a sentence goes on."""
    held: list[Line] = []
    for line in lines:
        goes_on = held and line.number == held[-1].number + 1 and _OF_PROSE.match(line.text)
        if held and not (goes_on and len(held) < MOST and IS_OPEN.match(held[-1].text)):
            yield held
            held = []
        held.append(line)
    if held:
        yield held


LONGEST = 4000
"""Letters of a line of prose."""

MOST = 12
"""Lines of a paragraph that are taken together."""


def _is_later(sentence: str, printed: Set[str]) -> bool:
    if _LATER.search(sentence):
        return True
    reached = _REACHED.match(sentence)
    return reached is not None and reached["rate"].rstrip(".,") not in printed


_REACHED = deferred(
    r"(?i:\W*(?:with|on|using|at|in|under) [^.;:]{2,50}?,? (?:the|our|a) (?:\w+ )?"
    r"(?-i:[A-Z]?[\w.-]*[0-9][\w.]*)(?: models?)? (?:gets?|got|reach(?:es|ed)|achieve[sd]?|hits?"
    r"|runs? at|ran at|needs?|needed|takes?|took|uses?|does|did|goes to|went to|drops? to"
    r"|dropped to) (?:about |around |roughly |only |up to |~)?(?P<rate>[0-9][0-9.,]*))"
)
"""How a sentence begins on what a model reached: `With 16 GPUs the 7B reaches 24.1.`"""

_OF_PROSE = re.compile(r" {0,3}[\w(`]")
"""How a line of prose begins that may end the sentence of the one before."""


def turned_device(text: str) -> str:
    """The device that such a line names, if it is one; else all of its text."""
    device = only(of_these_runs(text))
    return device.text if device else text
