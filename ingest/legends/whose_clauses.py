"""Whose a setting is in a sentence that names some rows: `TP=2 for 13B, TP=8 PP=2 for 30B`.

In: a sentence, a place in it, and where it names what rows are called by. Out: the names whose rows
may have what stands there. Nothing is read here: what a sentence gives rows in words of its own is
told elsewhere (`one_but_others`, `models_in_turn`, `conditioned`); this takes from the other rows
what is not said of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.schema.record import Cell
from assay.ingest.schema.terminals import deferred


class Naming(NamedTuple):
    """A name in a sentence, by its place, and the number of the rows that it is of."""

    begin: int
    end: int
    key: int


_LISTS = deferred(
    r"(?:\W|\b(?:and|or|as well as|both|the|und|et|models?|runs?|rows?|ones?|sizes?)\b|[和与及、])*"
    r"(?:\b(?!for|with|on|at|in|is|are|was|to|by|but|except|than|vs|not|un)[A-Za-z]{2,10}\W{0,2})?",
    re.IGNORECASE,
)
"""Letters between names that share one saying: `7B, 13B and the 30B`."""

OTHERS = deferred(
    r"\b(?:(?:for|on|in) )?(?:(?:all )?the |all )?(?:others?|rest|remaining"
    r"|(?:larg|small|bigg)er(?= (?:models?|ones?)\b))"
    r"(?: (?:two|three|four|models?|sizes?|runs?|ones?|rows?|configurations?))*\b"
    r"|\beverything else\b|其[余他它]",
    re.IGNORECASE,
)
"""All rows that a sentence does not name."""

_ALL_BUT = deferred(
    r"\b(?P<all>all|every(?:thing|one)?)(?: (?:of the )?(?:models?|runs?|rows?|sizes?))?,?"
    r" (?:but|except(?: for)?|other than|apart from) (?:for )?(?:the )?$",
    re.IGNORECASE,
)

_OF_ITS_OWN = deferred(r" ?(?:models?|ones?|runs?|rows?)?(?: ?\(|, ?wh(?:ich|ere|ose)\b)")
"""Behind the one that is not as all others: what it is."""

NEAR = 30
"""Letters between names that share what is said."""

_BREAKS = deferred(
    r"[,;:()]\s(?!which\b|where\b|whose\b)|[;()，；。：（）]|\s[-–—]\s|[.]\s|\s/\s"
    r"|\b(?:and|while|whereas|but|with the exception|except|instead|unless|versus|vs|than)\b|而|但",
    re.IGNORECASE,
)
"""Where one part of a sentence ends."""

_OF_ALL = deferred(
    r"\b(?:all|both|each|every\w*|always|through-?out|same|any|these|those|across|common|fixed"
    r"|constant|shared|identical|kept)\b|[均都皆全各]|相同|一致|同样",
    re.IGNORECASE,
)
"""Words by which a part of a sentence goes beyond the rows named before it."""

_BUT_FOR = deferred(
    r"\b(?:except\w*|but|apart from|other than|excluding|save for|unless|besides|instead"
    r"|exception)\b|[(（]|除",
    re.IGNORECASE,
)

_BEHIND_IT = deferred(r"\W*(?:(?:also|only|just|and) )?(?:for|on|with|in|at|用于)\b", re.IGNORECASE)
"""How a part begins whose name is that of what stands before it: `PP=2, for 30B`."""


def may_be_of(
    sentence: str, at: int, names: Sequence[Naming], every: frozenset[int]
) -> frozenset[int]:
    """The numbers of the rows, among `every`, that a value at a place in a sentence may be of.

    >>> text = "Parallelism: 7B DP only, 13B TP2, 30B TP4 PP2."
    >>> names = [Naming(text.index(f"{n}B"), text.index(f"{n}B") + 3, n) for n in (7, 13, 30)]
    >>> every = frozenset({7, 13, 30})
    >>> sorted(may_be_of(text, text.index("PP2"), names, every))
    [30]
    >>> text = "All use ZeRO stage 2 (stage 3 for 30B)."
    >>> sorted(may_be_of(text, 19, [Naming(35, 38, 30)], every))
    [7, 13]
    """
    groups = _groups(sentence, names, every)
    if not groups:
        return every
    edges = _edges(sentence, groups)
    begin = max((edge for edge in edges if edge <= at), default=0)
    end = min((edge for edge in edges if edge > at), default=len(sentence))
    inside = [group for group in groups if begin <= group[0] < end]
    if inside:
        return frozenset().union(*(keys for _, _, keys in inside))
    before = [group for group in groups if group[1] <= begin]
    behind = [group for group in groups if group[0] >= end]
    if not before:
        return _before_names(sentence, end, behind[0], every)
    if _OF_ALL.search(sentence, begin, end):
        return every
    owners = before[-1][2]
    if behind and _BEHIND_IT.match(sentence, end, behind[0][0]):
        owners |= behind[0][2]
    return owners


def parts_of(
    sentence: str, names: Sequence[Naming], every: frozenset[int]
) -> tuple[str, Sequence[tuple[int, int, frozenset[int]]]]:
    """The parts of a sentence that name the rows they are of: where each begins and ends, and these
    rows; and the sentence with a word for what is named: `up to 13B` is no number and no doubt.

    >>> text = "7B needs TP=2, the others do not"
    >>> parts_of(text, [Naming(0, 2, 7)], frozenset({7, 13}))
    ('it has   TP=2, it         do not', [(0, 13, frozenset({7})), (13, 32, frozenset({13}))])
    """
    groups = _groups(sentence, names, every)
    edges = [0, *sorted(_edges(sentence, groups)), len(sentence)]
    found = list[tuple[int, int, frozenset[int]]]()
    for begin, end in pairwise(edges):
        inside = [keys for first, _, keys in groups if begin <= first < end]
        others = [keys for first, _, keys in groups if not begin <= first < end]
        if len(inside) == 1 and all(map(inside[0].isdisjoint, others)):
            found.append((begin, end, inside[0]))
    for begin, end, _ in groups:
        sentence = f"{sentence[:begin]}{'it'.ljust(end - begin)}{sentence[end:]}"
    plain = _NEEDS.sub(_as_had, sentence) if groups else sentence
    return plain, found


_NEEDS = deferred(
    r"\b(?:need(?:s|ed)?|require[sd]?)\b(?! (?:at least|about|around|more|less|twice|roughly))",
    re.IGNORECASE,
)
"""Words for settings that rows had, or there were no such rows."""


def _as_had(found: re.Match[str]) -> str:
    return ("used" if found[0].endswith("ed") else "has").ljust(len(found[0]))


def as_before(before: Mapping[str, Cell], part: str) -> Mapping[str, Cell]:
    """The setting of a part of a sentence that has a number alone beside the name, where the part
    before has one setting: `8 GPUs for 7B, 16 for 13B`. Names are `it` (`parts_of`).

    >>> as_before({"gpus": Cell("8", 0)}, ", 16 for it ")["gpus"].text
    '16'
    >>> as_before({"gpus": Cell("8", 0)}, ", 42% for it ")
    {}
    """
    if len(before) != 1:
        return {}
    ((field, cell),) = before.items()
    found = _A_NUMBER.fullmatch(part)
    if found is None or not cell.text.replace(",", "").isdecimal():
        return {}
    return {field: cell._replace(text=found["number"], column=found.start("number"), scale=1.0)}


_A_NUMBER = deferred(
    r"(?:\W|\b(?:for|on|with|and|the|to|uses?|used|needs?|needed|takes?|took|is|was|in|at|a|model"
    r"|models|runs?|ran|trained|it|of|only|just|even|got|gets|had|has)\b)*?"
    r"(?<![\w.,])(?P<number>[0-9]{1,6})(?![.,]?[0-9]|\s*(?:%|[kKMBx×]\b|[-–/]))"
    r"(?:[^\w%]|\b(?:for|on|with|and|the|in|at|a|models?|runs?|ones?|of|used|it|respectively)\b)*",
    re.IGNORECASE,
)
"""A part of a sentence that says a number of what is named in it, and nothing else."""


def _groups(
    sentence: str, names: Sequence[Naming], every: frozenset[int]
) -> list[tuple[int, int, frozenset[int]]]:
    """Names that share what is said of them, each by where they begin and end; those that are named
    nowhere else are `the others`."""
    found: list[tuple[int, int, frozenset[int]]] = []
    called = [(name.begin, name.end, frozenset({name.key})) for name in names]
    rest = every - {name.key for name in names}
    called += [(*each.span(), rest) for each in OTHERS.finditer(sentence) if names and rest]
    for name in names:
        if before := _ALL_BUT.search(sentence, 0, name.begin):
            theirs = _OF_ITS_OWN.match(sentence, name.end)
            end = before.end("all") if theirs else name.end
            called.append((before.start(), end, every - {name.key}))
    at = dict[tuple[int, int], frozenset[int]]()
    for begin, end, keys in called:  # one word may name several
        at[begin, end] = at.get((begin, end), frozenset()) | keys
    for (begin, end), keys in sorted(at.items()):
        first, last, named = found[-1] if found else (-1, -1, keys)
        if begin < last:
            continue
        if last >= 0 and begin - last <= NEAR and _are_one(sentence, first, last, begin, end):
            found[-1] = (first, end, named | keys)
        else:
            found.append((begin, end, keys))
    return found


_COMPARED = deferred(
    r"[^\w,;.]*(?:(?:GPUs?|cards?|nodes?|servers?|machines?|models?|runs?|上|卡)\s*)?"
    r"(?:(?:,? (?:and|as well as|und|et)|[,;]) (?:also )?(?:on|with|for|in|at|auf|sur)"
    r"|vs\.?|versus|against|(?P<with>with|to|mit)|以及|[与和跟及])(?![A-Za-z])\s*"
    r"(?:(?:在|the|an?|one|[0-9]+ ?[x×]|[0-9]+ (?=[A-Z])|单机|[0-9]+ ?[卡张台块])[*`\s]*)*[*`(]*",
    re.IGNORECASE,
)
"""Words between two names that a sentence puts beside each other: `on A and on B`, `A with B`."""

_COMPARES = deferred(
    r"\bcompar\w+[^,;.:]*$|\bvergl\w+[^,;.:]*$|(?:比较|对比)[^，。；,;]*$", re.IGNORECASE
)

_COUNTS = deferred(r"[0-9]+ ?(?:[x×]|[卡张台块机]|(?:GPU|NPU|card|node|server|machine)s?\b)")

_ONE_OF_TWO = deferred(r"\b(?:latter|former|respectively|each)\b|[前后]者|分别", re.IGNORECASE)


def _are_one(sentence: str, first: int, last: int, begin: int, end: int) -> bool:
    """Whether names that begin at `first` and end at `last` share what is said with the one behind:
    of two that are compared, neither has numbers of its own beside it.

    >>> text = "We compare 8x A800 with 8x H800, TP=2."
    >>> _are_one(text, 14, 18, 27, 31)
    True
    >>> text = "TP=2 on A800 and on H800 TP=4."
    >>> _are_one(text, 8, 12, 20, 24)
    False
    """
    if _LISTS.fullmatch(sentence, last, begin):
        return True
    beside = _COMPARED.fullmatch(sentence, last, begin)
    if beside is None or _ONE_OF_TWO.search(sentence):
        return False
    if beside["with"] and not _COMPARES.search(sentence, 0, first):
        return False
    edges = [each.start() for each in _BREAKS.finditer(sentence) if each.start() >= end]
    before = max((e.end() for e in _BREAKS.finditer(sentence, 0, first)), default=0)
    sides = sentence[before:first], sentence[end : min(edges, default=len(sentence))]
    return not all(any(map(str.isdigit, _COUNTS.sub("", side))) for side in sides)


def _edges(sentence: str, groups: Sequence[tuple[int, int, frozenset[int]]]) -> list[int]:
    """Where the parts of a sentence begin, none within names that belong together."""
    return [
        each.start() for each in _BREAKS.finditer(sentence)
        if not any(a <= each.start() < b for a, b, _ in groups)
        and not (each[0].strip() in _OPEN and _ends_at(sentence, each.start(), groups))
    ]  # fmt: skip


_OPEN = (":", "(", "：", "（")
"""Signs behind a name by which what follows is of it."""


def _ends_at(sentence: str, at: int, groups: Sequence[tuple[int, int, frozenset[int]]]) -> bool:
    """Whether names end right before a place: what is said of them begins there."""
    return any(b <= at and not sentence[b:at].strip(" *`") for _, b, _ in groups)


def _before_names(
    sentence: str, end: int, group: tuple[int, int, frozenset[int]], every: frozenset[int]
) -> frozenset[int]:
    """The rows that a part of a sentence may be of which ends where the first names are still to
    come: those of these names alone (`batch 4 (7B)`), all but these (`all 2 (30B: 1)`), or all."""
    first, last, keys = group
    if not _BUT_FOR.search(sentence, end, first):
        return every
    own = _IN_BRACKETS.match(sentence, end, first) and _CLOSES.match(sentence, last)
    return keys if own else every - keys


_IN_BRACKETS = deferred(r"\s*[(（](?:for |the |on )*$")

_CLOSES = deferred(r"[^0-9()（）]{0,12}[)）]")
"""Behind names in brackets that nothing else is said of."""
