"""Labels that sentences in several languages explain: `„Batch“ ist die Batchgröße je GPU`; and the
comments of a script behind its arguments: `SP=${12}  # 是否使用序列并行`.

In: the lines of a document. Out: the label of a column that stands in quotes, or is an argument →
the setting that the words behind it name, in English. What names no setting of ours is left out,
and so is a label that two sentences explain otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.attention_names import switches_flash
from assay.ingest.vocabulary.terms import configured_by, normalise
from assay.ingest.vocabulary.words import english

_OPENS = r"(?:&quot;|&ldquo;|&bdquo;|[\"“„”«»「『`]|\*\*|‘‘|``)"

_SIGNS = r"[^\s\"“”„«»「」『』`*&;|=]"

_IS = (
    r"(?:\s?(?:一[栏列])?\s?(?:均|即)?(?:为|是指|是|指的是|指|表示|代表)"  # Chinese
    r"|\s?(?:とは|は|が|の列は|列は)\s?、?"  # Japanese
    r"|\s?(?:은|는|란|이란|열은)\s"  # Korean
    r"|\s(?:ist|sind|bezeichnet|bedeutet|meint|steht für|gibt an,?|nennt)\s"
    r"|\s(?:est|sont|désigne|signifie|indique|représente)\s"
    r"|\s(?:es|son|é|são|significa|indica|designa|è|sta per)\s"
    r"|\s(?:is|are|means|denotes|stands for|refers to|says|tells|shows|gives)\s"
    r"|\s?[:：=]\s?|\s[–—-]\s)"
)
"""Words between a label and what it is."""

_EXPLAINED = deferred(
    rf"{_OPENS}(?P<label>{_SIGNS}{{1,16}}(?: {_SIGNS}{{1,12}})?)"
    r"(?:&quot;|&rdquo;|&ldquo;|[\"”“»«」』`]|\*\*|’’|``)"
    rf"{_IS}(?P<meant>[^,;.。，；、()（）|<>\"“”„«»「」『』`*=]{{2,60}})"
)

_LEADS = deferred(
    r"^(?:whether (?:or not )?(?:to (?:use|enable) )?|if "
    r"|(?:de[rnm]|die|das|dessen|ob) |l['’]|(?:les?|la|si) "
    r"|(?:el|los|o|a|il|lo) |(?:the|an?) |是否(?:优先)?(?:使用|启用|开启|打开|采用)?了?|有无|是指)",
    re.IGNORECASE,
)
"""Articles, and words that ask whether, before what a label is."""

_TAILS = deferred(
    r"(?:\s?(?:사용|적용|활성화)?\s?여부(?:를 (?:뜻|의미)\w*)?\s?(?:이며|입니다|이다|임|로|고)?"
    r"|\s?(?:을|를)? ?(?:뜻|의미)\w*|\s?(?:입니다|이다|이고|이며|임)"
    r"|\s?(?:の(?:有無|使用)|を(?:使った|使う|有効にした|用いた)か(?:どうか)?|(?:を|の)(?:意味|こと)\w*)?"
    r"\s?(?:です|である|とする|します|する)?"
    r"|\s?(?:的)?(?:开关|与否|是否(?:开启|启用|打开|使用)|的意思)"
    r"|\s(?:is|was|were|are) (?:used|on|enabled|active)|\s(?:vor|nach|ohne|bei)(?: .*)?"
    r"|\s(?:aktiv|an|eingeschaltet|benutzt|verwendet)(?: ist| war| wurde)?"
    r"|\s(?:avant|sans|antes|sin|before|without)(?: .*)?"
    r"|\s(?:est|está) (?:activé|activad[oa])\w*)$",
    re.IGNORECASE,
)
"""Words behind it that leave a setting what it is."""

_MARKS = '"“„”«「『`'

_ARGUMENT = deferred(
    r"\s*(?:export )?(?P<label>[A-Z][A-Z_]{0,23})=\$\{?[0-9]{1,2}\}?\s+#\s*"
    r"(?P<meant>[^:：#|,，;；(（]{2,40}?)\s*(?:[:：,，;；(（].*)?"
)
"""A variable of a script that an argument fills, with what it is as a comment."""


def quoted_labels(lines: Iterable[Line]) -> dict[str, str]:
    """Labels that sentences explain with settings, each with its setting in English.

    >>> text = "„Batch“ ist die Batchgröße je GPU vor der Akkumulation, „T“ steht für Temperatur."
    >>> quoted_labels([Line(1, text, 1, {})])
    {'Batch': 'batch size per GPU'}
    >>> text = '"GC"는 그래디언트 체크포인팅 사용 여부, "MB"는 마이크로배치입니다.'
    >>> quoted_labels([Line(1, text, 1, {})])
    {'GC': 'activation checkpointing', 'MB': 'micro batch size'}
    """
    found: dict[str, set[str]] = {}
    for line in lines:
        if len(line.text) <= LONGEST and (
            any(mark in line.text for mark in _MARKS)
            or any(mark in line.text for mark in ("quot;", "**", "=$"))
        ):
            for label, meant in _explained(line.text):
                found.setdefault(label, set()).add(meant)
    return {label: each.pop() for label, each in found.items() if len(each) == 1}


def _explained(text: str) -> Iterator[tuple[str, str]]:
    """The labels that a line explains, each with the setting that it says."""
    argument = _ARGUMENT.fullmatch(text) if "=$" in text else None
    for told in [argument] if argument else _EXPLAINED.finditer(text):
        if meant := _setting(told["meant"].strip()):
            yield told["label"], meant


def _setting(text: str) -> str:
    """The setting that a text names, as a label in English; empty where it names none."""
    for words in (text, _LEADS.sub("", text)):
        for bare in (words, _TAILS.sub("", words)):
            named = english(bare.strip())
            if configured_by(named) or switches_flash(normalise(named)):
                return named
    return ""
