"""Legends of the letters that labels are put together of, in plain letters: `t is tensor parallel,
p pipeline parallel; rc stands for full recomputation`; `t 为张量并行,p 为流水并行`.

In: the text of a paragraph. Out: each sign with what it stands for, what rows are without it, and
where that is said. Letters alone are words of many things, so that a sentence is a legend only
where it names the numbers of two signs or more, one right behind the other; then what it says of
others, `带 rc 的表示打开全重计算`, is of signs as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.columns.footnotes import said_of_others, without_others
from assay.ingest.schema.terminals import deferred

_SIGN = r"[A-Za-z]{1,6}"

_CLAUSE = deferred(
    rf"\s*(?:(?:and|while|以及|并且|和|及|또|그리고|また)\s?)?(?:the )?"
    r"(?:(?:names? |labels? |those |runs? |ones )?"
    r"(?:with|ending (?:in|with)|带有?|含有?|有|加)\s?)?"
    rf"(?P<sign>{_SIGN})(?:\s?(?:的|后缀的?|(?:for|in) (?:the )?names?|suffix|付き))?"
    rf"(?:(?P<verb>\s?(?:=|:|：|->|→)|\s(?:is|are|means?|stands? for|denotes?|marks|for|gives)\b"
    rf"|\s?(?:代表|表示|指的?是|即|为|是|就是)|\s?(?:は|が|는|은)(?![ぁ-ん]))"
    rf"|(?P<elided>)(?=\s(?:the|how many)\s))"
    rf"\s*(?P<meaning>[^=\s][^=]{{1,70}}?)\s*"
)
"""A clause that says what a sign stands for; the verb may be that of the clause before."""

_INTRODUCED = deferred(
    r".{0,60}?(?:[:：(（]\s?|[\u3040-\u9fff]の\s?|[\uac00-\ud7a3]\s)"
    r"(?=[A-Za-z]{1,6}\b|[A-Za-z]{1,6}\s?[^\x00-\x7f])"
)
"""Words in front of the first clause: `策略的命名规则:`, `Names (`."""

_SEPARATOR = deferred(
    r"[,，;；、](?![0-9])|[.。](?=\s|$)|。"
    r"|\sand(?=\s[A-Za-z]{1,6}(?:\s?[=:]|\s(?:is|means?|stands? for|denotes?)\b))"
)

_COPULA = deferred(
    r"\s?(?:です|である|입니다|이다|を表す|を表します|를 뜻합니다|를 뜻한다|を意味する)$"
)

LEAST = 2
"""Signs with numbers that a legend explains."""


class Explained(NamedTuple):
    """A sign, what it stands for and what rows are without it, and where the text says so."""

    name: str
    meaning: str
    without: str
    begin: int
    end: int


def explained(text: str, names_number: Callable[[str], bool]) -> Iterator[Explained]:
    """The signs that the legends of a paragraph explain; `names_number` is of what a meaning names.

    >>> known = {"tensor parallel", "micro batch"}.__contains__
    >>> [(e.name, e.meaning) for e in explained("t is tensor parallel, mb micro batch.", known)]
    []
    >>> [*explained("Names: t = tensor parallel, mb = micro batch.", known)][1]
    Explained(name='mb', meaning='micro batch', without='', begin=27, end=44)
    """
    for sentence in (*_sentences(text), *_in_brackets(text)):
        found: list[Explained] = []
        for begin, end in sentence:
            if together := _told_together(text, begin, end):
                found += together
            elif told := _told(text, begin, end, first=not found):
                found.append(told)
        numbers = [names_number(each.meaning) for each in found]
        names = {each.name for each in found}
        beside = any(one and other for one, other in pairwise(numbers))
        if sum(numbers) >= LEAST and beside and len(names) == len(found):
            yield from found


_BRACKETS = deferred(r"[(（\[]([^()（）\[\]]{5,160})[)）\]]")


def _in_brackets(text: str) -> Iterator[Sequence[tuple[int, int]]]:
    """The clauses of brackets that explain signs: `a weekly run (b = global batch, s = seq)`."""
    for inside in _BRACKETS.finditer(text) if text.count("=") >= LEAST else ():
        begin, end = inside.span(1)
        first = _CLAUSE.match(text, begin, end) or _TOGETHER.match(text, begin, end)
        if first and inside[1].count("=") >= LEAST:
            signs = [*_SEPARATOR.finditer(text, begin, end)]
            begins = [begin, *(sign.end() for sign in signs)]
            yield [*zip(begins, [*(sign.start() for sign in signs), end], strict=True)]


_TOGETHER = deferred(
    rf"\s*(?P<signs>{_SIGN}(?:/{_SIGN}){{1,3}}) ?[=:] ?"
    r"(?P<meant>[^=/]{2,40}(?:/[^=/]{2,40}){1,3})"
)
"""Signs with a stroke between, and what each of them stands for: `t/p = tensor/pipeline`."""


def _told_together(text: str, begin: int, end: int) -> list[Explained]:
    """The meanings that one clause gives to several signs; none where it has fewer, or more."""
    found = _TOGETHER.fullmatch(text, begin, end)
    signs, meant = (found["signs"].split("/"), found["meant"].split("/")) if found else ([], [])
    if len(signs) != len(meant):
        return []
    return [
        Explained(sign, meaning.strip(" `*"), "", begin, end)
        for sign, meaning in zip(signs, meant, strict=True)
    ]


def _told(text: str, begin: int, end: int, *, first: bool) -> Explained | None:
    """The meaning that one clause gives a sign; the first one has a verb."""
    opening = _INTRODUCED.match(text, begin, end) if first else None
    for at in (opening.end(), begin) if opening else (begin,):
        found = _CLAUSE.fullmatch(text, at, end)
        found = found or _CLAUSE.fullmatch(text[:end].rstrip(" )）"), at)
        if found:
            break
    if found is None or (first and not found["verb"]):
        return None
    meaning = _COPULA.sub("", found["meaning"].strip(" `*"))
    own = without_others(meaning).strip(" (（,，")
    return Explained(found["sign"], own, said_of_others(meaning), at, end)


def _sentences(text: str) -> Iterator[Sequence[tuple[int, int]]]:
    """The clauses of each sentence, by where they begin and end; what is in brackets is whole."""
    held: list[tuple[int, int]] = []
    begin = depth = last = 0
    for each in [*_SEPARATOR.finditer(text), None]:
        stop = each.start() if each else len(text)
        depth += sum((c in "(（") - (c in ")）") for c in text[last:stop])
        last = stop
        ends = each is None or each[0] in (".", "。")
        if depth > 0 and not ends:
            continue
        held.append((begin, stop))
        begin = each.end() if each else stop
        if ends:
            yield held
            held, depth = [], 0
