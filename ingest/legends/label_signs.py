"""Signs in the labels of rows that the text of their document explains with settings.

In: the records of tables, and the lines of their document. Out: the same rows, with what the signs
of their labels stand for: `pipe-4` where ``pipe-k`` stands for a pipeline on ``k`` GPUs; and the
lines without these explanations, which say nothing of rows that have not the sign. A sign that all
rows have, or none, is left alone, but for one with numbers in labels that are put together of such,
`L24_b4` where `L` is the number of layers; and so is one that is the name of a setting itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, pairwise
from typing import NamedTuple

from assay.ingest.columns.composite import layout, named, run_named
from assay.ingest.columns.row_texts import own_words
from assay.ingest.columns.titles import model_named
from assay.ingest.grids.grid import LONGEST
from assay.ingest.legends.bare_legends import explained
from assay.ingest.prose.degree_letters import degrees_by_letter
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.phrases import phrases
from assay.ingest.statements.row_words import SETTINGS
from assay.ingest.vocabulary.attention_names import attention_told
from assay.ingest.vocabulary.recomputation import how_much_named
from assay.ingest.vocabulary.terms import configured_by

_WORD = r"[\w+=./<>{}-]{1,24}"

_SIGN = (
    rf"(?:``(?P<a>{_WORD})``|`(?P<b>{_WORD})`|\*\*(?P<c>{_WORD})(?P<colon>:?)\*\*"
    rf"|(?<!\*)\*(?P<d>{_WORD})\*(?!\*)|[\"“](?P<e>{_WORD})[\"”])"
)

_QUOTED = rf"(?:``{_WORD}``|`{_WORD}`|\*\*{_WORD}:?\*\*|(?<!\*)\*{_WORD}\*(?!\*)|[\"“]{_WORD}[\"”])"
"""A sign among several."""

_OUTRIGHT = (
    r"(?:stands? for|means?|denotes?|marks|refers? to|is short for|indicates|表示|代表|指的?是)"
)

_CASES = r"(?:rows?|runs?|cases?|entries|experiments?|variants?|configs?|configurations?)"

_EXPLAINS = deferred(
    rf"(?:^|(?<=[\s(])(?<!without )){_SIGN}(?(colon)(?: ?(?:\(?(?:suffix|prefix)\)?))?)"
    rf"(?: (?:in (?:a|the) (?:name|label)s?|(?P<those>{_CASES})(?: \([^()]{{1,40}}\))?))?"
    rf"(?P<verb>\s?(?:[:=–—]|\s-(?=\s))|\s?{_OUTRIGHT}\b|\s(?:is|are|use|uses|ran|run|have|has)\b"
    r"|\s(?:when|if|where)(?=\s(?:`[\w.]+ ?= ?\w+`|(?:gradient|activation|full|selective)\b"
    r"|[A-Za-z ]{3,40} (?:is|was|were) (?:on|used|enabled|active)\b))"
    r"|(?P<elided>)(?=\swith(?:out)?\b|\s(?:the|its|an?|how many)\s[a-z])"
    r"|(?(those)(?=\s[a-z]{2})|(?!)))\s*"
)
"""A sign, and the word behind which its meaning stands: ``pipe-k`` stands for; the word may be that
of the sign before: `"a" is without recomputation, "b" with full recomputation`."""

_BARE_ITEM = deferred(
    r"\s*(?:[-*+•]|[0-9]{1,2}[.)])\s+"
    r"(?P<a>[A-Za-z][\w+-]{0,15})(?P<verb> ?[:=–—]| -(?=\s))\s+"
)
"""An item of a list that begins with a sign in plain letters: `- ac: activation checkpointing`."""

_IN_TURN = deferred(
    rf"(?:^|(?<=[\s(]))(?P<signs>{_QUOTED}(?:, {_QUOTED})*,? (?:and|&) {_QUOTED})"
    r"(?P<says> [^.;0-9`*\"“”]{2,80}? )"
    r"(?P<values>[0-9]{1,5}(?:, [0-9]{1,5})*,? (?:and|&) [0-9]{1,5})"
    r"(?P<rest> [^.;`*\"“”]{2,120})(?=[.;]|$)"
)
"""Signs, and as many numbers of what each of them stands for: ``pipe-2`` and ``pipe-4`` split it
into 2 and 4 stages."""

_IN_KIND = deferred(
    rf"(?:^|(?<=[\s(]))(?P<signs>{_QUOTED}(?:(?:, |,? (?:and|&|or) ){_QUOTED}){{1,12}})"
    r" [^.;0-9`*\"“”]{0,80}?\b(?:the |a )?(?:corresponding|respective|same|given|that"
    r"|as indicated) (?:number|count) of (?P<counted>[A-Za-z -]{3,40}?)(?=[.,;)]|$)"
)
"""Signs with numbers, and of what these are the number: ``pipe-2`` and ``pipe-4`` run with the
corresponding number of partitions."""

_ITEM_OF_SEVERAL = deferred(
    rf"\s*(?:[-*+•]|[0-9]{{1,2}}[.)])\s+(?P<signs>{_QUOTED}(?:\s?[/,]\s?{_QUOTED}){{1,5}}):?\s?[:=–—]?\s+(?P<meant>\S.*)"
)
"""An item of a list that explains several signs: ``- `b` / `B`: micro batch / global batch``."""

_BARE = r"[A-Za-z][\w+]{0,11}"

_BARE_OF_SEVERAL = deferred(
    rf"\s*(?:[-*+•]|[0-9]{{1,2}}[.)])\s+(?P<signs>{_BARE}(?:(?:\s?[/,]\s?|\s(?:and|or)\s){_BARE}){{1,5}})"
    r"(?:\s?[:=–—]|\s-(?=\s))\s*(?P<meant>\S.*)"
)
"""The same with signs in plain letters: `- bsN, gaN: batch per card, accumulation steps`."""

_ENDS = deferred(r"[.;。；](?=\s|$)")

_WITHOUT_IT = deferred(
    r"[(,;.]? ?\b(?:the |all )?"
    r"(?:(?:cases|rows|runs|labels|names|entries|experiments|those|ones) )?"
    r"without (?:it\b|(?:this|that|the) (?:sign|mark|suffix|letters?)\b"
    rf"|[`*\"“]{{1,2}}(?P<again>{_WORD})[`*\"”]{{1,2}}),?:? ?"
    r"(?P<rest>[^().;]{3,120})[).;]?",
    re.IGNORECASE,
)
"""Words of a meaning on the rows that have not its sign: `(cases without it run without ...)`."""

_OFF = r"(?:off|false|not (?:used|set|enabled)|disabled|none)"

_OTHERWISE = deferred(
    rf"[,;.(（]{{0,2}} ?(?:(?:and|it is|which is) )?(?:{_OFF}"
    r" (?:otherwise|elsewhere|(?:if|when|where) (?:it(?:['’]s| is)? )?"
    r"(?:not |isn['’]t |is ?n['’]t |absent\b|missing\b)[^().;]{0,20}"
    r"(?:\b(?:names?|labels?|there|listed|given|rows?|present|folder)\b)?"
    r"|unless (?:it is |it['’]s )?(?:in the (?:name|label)|named|listed|given|there))"
    rf"|(?:otherwise|else|if absent|absent|missing)[,:=]? (?:it (?:is|was) |means )?"
    rf"(?:{_OFF}|without(?: it)?))[)）.;]?",
    re.IGNORECASE,
)
"""Words of a meaning by which rows that have not its sign are without it: `(false otherwise)`."""

_NOT_AGAIN = "no activation recomputation"
"""Said of rows that have not a sign of recomputation."""

_PLACE = deferred(r"(?<=[-_=])[A-Za-z]$|<\w{1,12}>$|\{\w{1,12}\}$|(?<=[a-z])[NXK]$")
"""Letters for a number in a sign: `pipe-k`, `tp<N>`."""

_OF_SEVERAL = deferred(r"(?:[a-z×_-]{0,8}(?:[A-Z](?![A-Z])|<\w{1,12}>|\{\w{1,12}\})){2,6}")
"""A sign with several numbers: `dXtYpZ`, `NxM`."""

_NUMBERS = re.compile(r"([A-Z]|<\w{1,12}>|\{\w{1,12}\})")

_BETWEEN_NAMES = re.compile(r"\s*[/×,]\s*(?:and\s+)?|\s+(?:x|and)\s+")

_PLAIN = deferred(r"\s*(?:[|#>]|<t|<h[1-6]\b|```|~~~|\.\. |[-=~+]{3})")
"""How a line begins that is no prose."""

_ITEM = re.compile(r"\s*(?:[-*+•]|[0-9]{1,2}[.)])\s")

MOST = 12
"""Lines of a paragraph that explains signs."""


class Sign(NamedTuple):
    """A sign of labels, what it stands for, and where that is said."""

    form: re.Pattern[str]
    letters: tuple[str, ...]  # that stand for the numbers of the sign, in the meaning as well
    fields: tuple[str, ...]  # what the numbers of the sign are, where its meaning says no more
    meaning: str
    without: str  # what rows have that have not the sign
    line: int
    places: tuple[tuple[int, int, int], ...]  # line, and where in it the explanation is
    outright: bool
    name: str = ""


class Explanation(NamedTuple):
    """Settings that a part of a text says of some rows, and where it stands."""

    values: Mapping[str, str]
    line: int
    places: tuple[tuple[int, int, int], ...]


def tell(records: Sequence[Record], lines: Sequence[Line]) -> tuple[set[int], list[Sign]]:
    """Give rows of tables, in place, what the signs of their labels stand for; the lines that said
    it, and the signs."""
    rows = [record for record in records if record.tabled and record.alike is None]
    labels = [
        [w.line for w in own_words(row) if w.line.number == row.line] + _names_of_settings(row)
        for row in rows
    ]
    if not any(labels):
        return set(), []
    telling = [sign for sign in _signs(lines) if _tells_apart(sign, labels)]
    used: set[int] = set()
    heads = [line.number for line in lines if line.text.startswith("#")] if telling else []
    sections = _sections(telling, rows, labels, heads)
    for row, texts in zip(rows, labels, strict=True) if telling else ():
        section = bisect_right(heads, row.line)
        near = [sign for sign in telling if sign not in sections or section in sections[sign]]
        for name, (text, line) in _told(near, texts).items():
            held = row.cells.get(name)
            if held is not None and not _is_sign(held.text, name, telling):
                continue
            if name == AGAIN[1] and AGAIN[0] in row.cells:
                continue
            row.cells[name] = Cell(text, row.line, row.column, value_origin="stated")
            used.add(line)
    return used, telling


def _sections(
    signs: Sequence[Sign],
    rows: Sequence[Record],
    labels: Sequence[Sequence[Line]],
    heads: Sequence[int],
) -> Mapping[Sign, set[int]]:
    """The sections with rows that have a sign, of those signs that say something of the others; a
    legend in a section without tables is of all of them."""
    tables = {bisect_right(heads, row.line) for row in rows}
    return {
        sign: {
            bisect_right(heads, row.line) for row, texts in zip(rows, labels, strict=True)
            if any(sign.form.search(text.text) for text in texts)
        }
        for sign in signs if sign.without and bisect_right(heads, sign.line) in tables
    }  # fmt: skip


def _names_of_settings(row: Record) -> list[Line]:
    """The words of a row in columns of how much it computes again and of what it ran on, which a
    text may explain: a partition that is called by the device of its nodes."""
    cells = [cell for name in AGAIN if (cell := row.cells.get(name)) and cell.state == "value"]
    gpu = row.cells.get("gpu")
    cells += [gpu] if gpu and gpu.line == row.line and gpu.value_origin == "printed" else []
    return [Line(cell.line, cell.text, cell.column, {}) for cell in cells]


def _is_sign(text: str, name: str, signs: Sequence[Sign]) -> bool:
    """Whether the text of a cell of how much is computed again is a sign, and no more."""
    return name in AGAIN and any(sign.form.fullmatch(text.strip(' `*"')) for sign in signs)


def _told(signs: Sequence[Sign], labels: Sequence[Line]) -> dict[str, tuple[str, int]]:
    """Settings that the signs of a row stand for, and what is said of rows without those that it
    has not, each with the line that says it; nothing of what two of them say in two ways."""
    met = [(sign, found) for sign in signs for text in labels
           if (found := sign.form.search(text.text))]  # fmt: skip
    numbered = sum(len(sign.fields) + len(sign.letters) for sign, _ in met) >= LEAST
    met = [each for each in met if numbered or not each[0].fields]
    having = [sign for sign, _ in met]
    composed = numbered or any(len(layout(text.text)) >= LEAST for text in labels)
    others = [
        (sign, settings_of(sign.without)) for sign in signs
        if sign.without and sign not in having
        and (composed or any(abs(sign.line - other.line) <= MOST for other in having))
    ]  # fmt: skip
    direct = _once((sign, _meant(sign, found)) for sign, found in met)
    if numbered:
        direct = {**_formats(labels), **direct}
    direct = {**_rest(labels, having), **direct}
    said = {name for sign, found in met for name in _meant(sign, found)}
    return direct | {n: told for n, told in _once(others).items() if n not in said}


LEAST = 2
"""Settings of a label that is put together of signs."""


def _formats(labels: Sequence[Line]) -> dict[str, tuple[str, int]]:
    """The one number format that is a part of a label which is put together of signs."""
    parts = {part for text in labels for part in re.split(r"[\s_,;+/]+", text.text)}
    found = [kind for part in parts if (kind := named(part).get("dtype"))]
    return {"dtype": (found[0], labels[0].number)} if len(found) == 1 else {}


def _rest(labels: Sequence[Line], signs: Sequence[Sign]) -> dict[str, tuple[str, int]]:
    """The other parts of a label beside its signs, where all are known: a model, a layout."""
    found: dict[str, tuple[str, int]] = {}
    for label in labels:
        rest = label.text.strip(" `*")
        for sign in signs:
            rest = sign.form.sub("", rest)
        if rest != label.text.strip(" `*"):
            bare = _JOINTS.sub(lambda joint: joint[0][0], rest).strip("_-+. ")
            said = run_named(bare) or layout(bare)
            said = said or ({"model": bare} if bare and model_named(bare) == bare else {})
            found |= {name: (text, label.number) for name, text in said.items()}
    return found


_JOINTS = re.compile(r"[-_+]{2,}")


def _once(said: Iterable[tuple[Sign, Mapping[str, str]]]) -> dict[str, tuple[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for sign, values in said:
        for name, text in values.items():
            found.setdefault(name, {}).setdefault(text, sign.line)
    return {name: next(iter(texts.items())) for name, texts in found.items() if len(texts) == 1}


AGAIN = ("recompute", "activation_checkpointing")
"""Fields of which the first says more than the other."""


def without(lines: Sequence[Line], signs: Iterable[Sign | Explanation]) -> Sequence[Line]:
    """The lines with blanks for what they say of some signs."""
    places: dict[int, list[tuple[int, int]]] = {}
    for sign in signs:
        for number, begin, end in sign.places:
            places.setdefault(number, []).append((begin, end))
    if not places:
        return lines
    return [
        line._replace(text=_blanked(line.text, places[line.number]))
        if line.number in places else line
        for line in lines
    ]  # fmt: skip


def _blanked(text: str, places: Iterable[tuple[int, int]]) -> str:
    for begin, end in places:
        text = f"{text[:begin]}{' ' * (min(end, len(text)) - begin)}{text[end:]}"
    return text


def _tells_apart(sign: Sign, labels: Sequence[Sequence[Line]]) -> bool:
    """Whether some rows have a sign and others have not, and its meaning says of them a setting."""
    having = sum(any(sign.form.search(text.text) for text in texts) for texts in labels)
    if having and (sign.fields or len(sign.letters) > 1):
        return True  # by its numbers
    if not 0 < having < len(labels):
        return False
    numbers = ("2",) * len(sign.letters)
    return sign.outright or bool(
        settings_of(_with_numbers(sign, numbers)) or settings_of(sign.without)
    )


def _meant(sign: Sign, found: re.Match[str]) -> Mapping[str, str]:
    if sign.fields:
        texts = [str(int(each[:-1]) * 1024) if each[-1] in "kK" else each
                 for each in found.groups()]  # fmt: skip
        return dict(zip(sign.fields, texts, strict=True))
    return settings_of(_with_numbers(sign, found.groups()))


def _with_numbers(sign: Sign, numbers: Sequence[str]) -> str:
    """The meaning of a sign with its numbers for the letters that stand for them."""
    meaning = sign.meaning
    for letter, digits in zip(sign.letters, numbers, strict=False):
        meaning = _letter(letter).sub(digits, meaning)
    return meaning


def settings_of(text: str, also: Set[str] = frozenset()) -> Mapping[str, str]:
    """Settings that a meaning says, each once, and fields of a model, `also`, where it is of one.

    >>> settings_of("has 8 experts, TP 2"), settings_of("has 8 experts, TP 2", {"experts"})
    ({'tp': '2'}, {'experts': '8', 'tp': '2'})
    """
    told = phrases(Line(0, text, 1, {}), least=1) if text else {}
    said = {
        name: cell.text if cell.scale == 1.0 else f"{float(cell.text) * cell.scale:.0f}"
        for name, cell in told.items()
        if (name in SETTINGS or name in also) and cell.state == "value"
        and (cell.scale == 1.0 or name in _SIZES)
    }  # fmt: skip
    if not {"gpus", "dp", "tp"} & said.keys():
        if "pp" in said and _EACH_ON_ITS_OWN.search(text):
            said["gpus"] = said["pp"]
        elif said.get("pp", "1") == "1" and _ON_ONE_DEVICE.search(text):
            said["gpus"] = "1"
    if "attention" not in said and (kernel := attention_told(text)):
        said["attention"] = kernel
    much = how_much_named(text.strip(" .;,")) if not said and text else None
    return {"recompute": much} if much and much != "on" else said


_SIZES = {"model_size", "parameters"}
"""Fields of a number with a sign behind it: `125M`."""


def give_its_own(row: Record, told: Mapping[str, str]) -> None:
    """Give a row, in place, settings that a text says of it and of others not, instead of those
    that a heading or a caption says of all rows."""
    names = {*told, *(AGAIN if not told.keys().isdisjoint(AGAIN) else ())}
    row.cells = {
        name: cell for name, cell in row.cells.items()
        if name not in names or cell.value_origin != "stated" or cell.line == row.line
    }  # fmt: skip
    give(row, told)


def give(row: Record, told: Mapping[str, str]) -> None:
    """Add to a row, in place, settings that a text says of it and that it has not, by any name."""
    for name, text in told.items():
        same = AGAIN if name in AGAIN else (name,)
        if not any(other in row.cells for other in same):
            row.cells[name] = Cell(text, row.line, row.column, value_origin="stated")


CORRECTING = deferred(
    r"(?<![A-Za-z])(?:correction|corrigendum|errat(?:um|a)|corrected|wrong(?:ly)?|mistake"
    r"|mistaken(?:ly)?|typo|actually|in fact|by accident|accidentally)(?![A-Za-z])",
    re.IGNORECASE,
)
"""Words of a sentence whose settings stand instead of those that a table prints."""


def put(row: Record, told: Mapping[str, str]) -> None:
    """Give a row, in place, settings that a text says it has, whatever the row prints."""
    names = {*told, *(AGAIN if not told.keys().isdisjoint(AGAIN) else ())}
    row.cells = {name: cell for name, cell in row.cells.items() if name not in names}
    give(row, told)


_UNLIKE = deferred(
    r",? \b(?:than|unlike|in contrast|as opposed|compared|whereas|while|instead of|rather)\b"
)
"""Words behind which a meaning speaks of what has not its sign."""


_ONE_STAGE = deferred(r"\b(as|in|of|with|has|is) (?:only )?(?:a single|one) (?:pipeline )?stage\b")
"""A pipeline of one stage."""


_STAGES = deferred(r"(?<!pipeline )\b(?:(?:model |pipeline )?partitions|stages)\b")
"""Stages of a pipeline, in other words."""


_A_DEVICE = r"(?:GPU|device|accelerator|card|chip|GCD|NPU|XPU|TPU)"

_EACH_ON_ITS_OWN = deferred(
    rf"\b(?:each|every)(?: (?:stage|one)| of (?:them|these|which))?(?: (?:is|runs?|sits?|lives?"
    rf"|placed|put))* on (?:(?:an?|one) (?:separate )?{_A_DEVICE}(?: of its own)?"
    rf"|its own {_A_DEVICE})\b"
    rf"|\bone (?:stage (?:per|on each|for each) {_A_DEVICE}|{_A_DEVICE} (?:per|for each|for every)"
    r" stage)\b",
    re.IGNORECASE,
)
"""Words of a pipeline with as many devices as stages."""

_ON_ONE_DEVICE = deferred(
    rf"\bon (?:one|1|a single) {_A_DEVICE}\b(?! (?:each|per|of each))", re.IGNORECASE
)


def meanings(lines: Sequence[Line]) -> Mapping[str, str]:
    """The meaning of each sign that the text of a document explains, by the sign."""
    told: dict[str, str] = {}
    for sign in _signs(lines):
        told.setdefault(sign.name.strip("-_+. "), sign.meaning.strip(" ,.;:"))
    return told


def _signs(lines: Sequence[Line]) -> Iterator[Sign]:
    """The signs that the paragraphs of a document explain."""
    headings = [[line] for line in lines if _NAMES_SIGNS.match(line.text)]
    for paragraph in (*headings, *paragraphs(lines)):
        text = " ".join(line.text for line in paragraph)
        if defined := [*_defined(paragraph)] or [*_in_plain_letters(paragraph, text)]:
            yield from defined
            continue
        if several := _ITEM_OF_SEVERAL.fullmatch(text) or _BARE_OF_SEVERAL.fullmatch(text):
            stop = _ENDS.search(text, several.start("meant"))
            end = stop.end() if stop else len(text)
            places = tuple(placed(paragraph, 0, end))
            for one in _together(several["signs"], text[several.start("meant") : end]):
                yield one._replace(line=places[0][0], places=places)
            continue
        turns = list(_IN_TURN.finditer(text))
        yield from _counted_in(paragraph, text, turns)
        bare = _BARE_ITEM.match(text)
        found = [bare] if bare else _explained(text, turns)
        unit = ""  # of the numbers that the signs before stand for
        for at, each in reversed([*enumerate(found)]):
            following = found[at + 1].start() if at + 1 < len(found) else len(text)
            stop = _ENDS.search(text, each.end(), following)
            end = stop.end() if stop else following
            name = next(word for key in "abcde" if (word := each.groupdict().get(key)))
            more = _WITHOUT_IT.match(text, end, following)
            end = more.end() if more and more["again"] in (None, name) else end
            more = _OTHERWISE.match(text, max(end - 1, 0), following)
            end = more.end() if more else end
            meaning = text[each.end() : end]
            if other := _UNLIKE.search(meaning):
                meaning = meaning[: other.start()]
            if number := _A_NUMBER_ALONE.fullmatch(meaning):
                meaning = f"{number[1]}{unit}"
            told = _NUMBER_FIRST.match(meaning)
            unit = told[1] if told else ""
            if "pipe" in text.casefold():
                meaning = _ONE_STAGE.sub(r"\1 1 pipeline stages", meaning)
                meaning = _STAGES.sub("pipeline stages", meaning)
            if sign := _sign(name, meaning, each["verb"]):
                places = tuple(placed(paragraph, each.start(), end))
                yield sign._replace(line=places[0][0], places=places)


def _counted_in(
    paragraph: Sequence[Line], text: str, turns: Iterable[re.Match[str]]
) -> Iterator[Sign]:
    """The signs of a paragraph that it explains together: each with a number of its own, or all as
    one with theirs."""
    for each in _IN_KIND.finditer(text):
        if sign := _of_a_kind(each):
            places = tuple(placed(paragraph, *each.span()))
            yield sign._replace(line=places[0][0], places=places)
    for each in turns:
        places = tuple(placed(paragraph, *each.span()))
        for name, meaning in _in_turn(each):
            if sign := _sign(name, meaning, ""):
                yield sign._replace(line=places[0][0], places=places)


def _of_a_kind(found: re.Match[str]) -> Sign | None:
    """The sign with a number that several signs are, of which a text says that they have as many of
    something: None where they begin otherwise, or it is not said of what.

    >>> text = "`pipe-1`, `-2` and `-4` run with the corresponding number of partitions."
    >>> [_meant(sign, sign.form.search("pipe-8")) for each in _IN_KIND.finditer(text)
    ...  if (sign := _of_a_kind(each))]
    [{'pp': '8'}]
    """
    names = [next(filter(None, each)).strip() for each in _NAMED.findall(found["signs"])]
    (first, *others) = [_DIGITS_LAST.sub("", name) for name in names]
    numbered = all(name[-1:].isdigit() for name in names)
    fields = _fields(found["counted"], 1)
    if not (numbered and first and fields and all(e and first.endswith(e) for e in others)):
        return None
    return _sign(f"{first}N", f"{fields[0]} = N", ":")


_NAMES_SIGNS = re.compile(
    r"(?:#|\s*\.\. (?:[a-z]+-)?table::)[^(]{0,160}"
    r"\([^()=:]{1,12}[=:][^()=:]{1,80}[=:][^()]{1,80}\)\s*$"
)
"""A heading, a comment, or the title of a table that explains signs in brackets at its end."""


def _in_plain_letters(paragraph: Sequence[Line], text: str) -> Iterator[Sign]:
    """The signs that a paragraph explains without quoting them: `t is tensor parallel, p ...`."""
    if _BARE_ITEM.match(text) or _EXPLAINS.search(text):
        return
    for each in explained(text, lambda meaning: bool(_fields(meaning, 1))):
        if sign := _sign(each.name, each.meaning, ":"):
            places = tuple(placed(paragraph, each.begin, each.end))
            without = each.without or sign.without
            yield sign._replace(line=places[0][0], places=places, without=without)


def _defined(paragraph: Sequence[Line]) -> Iterator[Sign]:
    """The signs that a list of definitions explains: a term on a line of its own, and below it,
    indented or behind a colon, what it stands for. None of another paragraph."""
    first = paragraph[0].column
    terms = [at for at, line in enumerate(paragraph)
             if line.column <= first and not _DEFINITION.match(line.text)]  # fmt: skip
    if not terms or terms[0] or len(paragraph) < len(terms) * 2:
        return
    bounds = list(pairwise([*terms, len(paragraph)]))
    named = [_TERM.fullmatch(paragraph[begin].text.strip()) for begin, _ in bounds]
    if not all(named) or any(end - begin < len("td") for begin, end in bounds):
        return
    for (begin, end), term in zip(bounds, named, strict=True):
        meaning = " ".join(line.text.strip(" :") for line in paragraph[begin + 1 : end])
        name = next(filter(None, term.groups())) if term else ""
        if sign := _sign(name, meaning, ":"):
            places = tuple((line.number, 0, len(line.text)) for line in paragraph[begin:end])
            yield sign._replace(line=paragraph[begin].number, places=places)


_DEFINITION = deferred(r"(?: {2,}|\t|:\s+)\S")

_TERM = deferred(
    rf"``({_WORD})``|`({_WORD})`|\*\*({_WORD})\*\*|\*({_WORD})\*|([A-Za-z][\w+.-]{{0,23}})"
)

_A_NUMBER_ALONE = deferred(r"\s*([0-9]+(?:,[0-9]{3})*)\s*(?:,|/|&|,? ?\b(?:and|or)\b)?\s*")

_NUMBER_FIRST = deferred(r"\s*[0-9][0-9,]*( [A-Za-z][^0-9.;()]{2,60})")
"""A number and what it counts, which the signs in front leave out: `` `4k` = 4096 and `8k` = 8192
tokens``."""


def _explained(text: str, turns: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Where a paragraph explains a sign by itself, and not among others in turn."""
    found: list[re.Match[str]] = []
    for each in _EXPLAINS.finditer(text):
        if any(turn.start() <= each.start() < turn.end() for turn in turns):
            continue
        if each["elided"] is not None:
            before = text[found[-1].end() : each.start()] if found else ""
            if not before.rstrip(' "“`*').endswith((",", ", and", "and")) or _ENDS.search(before):
                continue
        found.append(each)
    return found


def _in_turn(found: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Each of several signs with what is said of it, where there are as many numbers as signs."""
    names = [next(filter(None, each.groups())) for each in _NAMED.finditer(found["signs"])]
    values = _NUMBER.findall(found["values"])
    if len(names) == len(values):
        for name, value in zip(names, values, strict=True):
            yield name, f"{found['says']}{value}{found['rest']}".strip()


_NAMED = deferred(rf"``({_WORD})``|`({_WORD})`|\*\*({_WORD})\*\*|\*({_WORD})\*|[\"“]({_WORD})[\"”]")

_NUMBER = re.compile(r"[0-9]+")


def _sign(name: str, meaning: str, verb: str) -> Sign | None:
    """A sign by its name; none of what is a number, or the name of a setting."""
    other = _WITHOUT_IT.search(meaning)
    without = other["rest"] if other and other["again"] in (None, name) else ""
    rest = _WITHOUT_IT.sub(" ", meaning) if without else meaning
    if not without and (off := _OTHERWISE.search(meaning)):
        rest = meaning[: off.start()] + meaning[off.end() :]
        again = {*settings_of(rest.strip(" .;,()")).items()} - {("recompute", "none")}
        without = _NOT_AGAIN if again and {name for name, _ in again} <= {*AGAIN} else ""
    core = name.strip("-_+()=./")
    pieces, letters = _pieces(core)
    fields: tuple[str, ...] = ()
    if not letters or not all(_letter(each).search(rest) for each in letters):
        fields = _fields(_AND_LAST.sub("", rest.strip(" .;,()")), len(letters) or 1)
        pieces = pieces if fields and letters else [core, ""] if fields else [core]
        letters = ()
    known = configured_by(pieces[0].rstrip("-_="))
    switch = known in AGAIN and len(pieces[0]) <= LONGEST_SWITCH
    if not re.search("[A-Za-z]", "".join(pieces)) or (known and not (switch or fields)):
        return None
    flags = re.IGNORECASE if len(pieces[0]) > SHORT else re.NOFLAG
    number = "([0-9]{1,5}[kK]?)" if fields == ("seq_len",) else "([0-9]{1,5})"
    equals = "(?: ?= ?)?" if fields and pieces[0][-1:].isalpha() else ""
    written = f"{equals}{number}".join(map(re.escape, pieces))
    begins, ends = _ALONE if len(fields) != 1 else _AMONG_OTHERS
    form = re.compile(rf"{_NOT}{begins}{written}{ends}", flags)
    outright = re.fullmatch(rf"\s?{_OUTRIGHT}", verb) is not None
    return Sign(form, letters, fields, rest, without, 0, (), outright, name)


def _pieces(core: str) -> tuple[list[str], tuple[str, ...]]:
    """The letters that stand for numbers in a sign, and what is written around them.

    >>> _pieces("dXtY"), _pieces("pipe-k"), _pieces("ac")
    ((['d', 't', ''], ('X', 'Y')), (['pipe-', ''], ('k',)), (['ac'], ()))
    """
    if _OF_SEVERAL.fullmatch(core):
        parts = _NUMBERS.split(core)
        return parts[::2], tuple(part.strip("<>{}") for part in parts[1::2])
    if place := _PLACE.search(core):
        return [core[: place.start()], ""], (place[0].strip("<>{}"),)
    return [core], ()


def _letter(letter: str) -> re.Pattern[str]:
    """The letter for a number where a meaning names it, in signs or without."""
    return re.compile(rf"[`*$<{{]{{0,2}}(?<![\w-]){re.escape(letter)}(?![\w-])[`*$>}}]{{0,2}}")


def _fields(meaning: str, many: int) -> tuple[str, ...]:
    """Fields of as many whole numbers, where a meaning does nothing but name them in turn.

    >>> _fields("number of layers", 1), _fields("data, tensor and pipeline parallel size", 3)
    (('layers',), ('dp', 'tp', 'pp'))
    >>> _fields("micro batch / global batch", 2), _fields("a note on the cluster", 1)
    (('micro_batch', 'global_batch'), ())
    """
    if len(meaning) > LONGEST_NAMES:
        return ()
    meaning = _OF_ONE.sub("", meaning)
    parts = [meaning] if many == 1 else _BETWEEN_NAMES.split(meaning)
    told = [_field(part) for part in parts] if len(parts) == many else []
    if not told or not all(told):
        dummies = "abcdefg"[:many]
        degrees = degrees_by_letter(f"{', '.join(dummies)} are the {meaning}") if many > 1 else {}
        told = [degrees.get(letter, "").casefold() for letter in dummies]
    return tuple(told) if all(told) and len(set(told)) == many else ()


def field_of_numbers(name: str) -> str:
    """The field of whole numbers that some words name; empty where they name none.

    >>> field_of_numbers("micro batch"), field_of_numbers("date")
    ('micro_batch', '')
    """
    return next(iter(_fields(name, 1)), "")


_AND_LAST = re.compile(r",? (?:and|or|while)$")
"""A word between what one sign and the next stand for."""

_OF_ONE = deferred(
    rf",? (?:of|per|for|on) (?:an?|one|each|every|a single) {_A_DEVICE}(?![\w-])", re.IGNORECASE
)
"""Words on whose a number is that change nothing: `the micro batch of one GPU`."""

LONGEST_NAMES = 80
"""Letters of what names the numbers of a sign."""

_OF_MODELS = {"layers", "hidden", "heads"}


def _field(name: str) -> str:
    """The field of a whole number by its name; empty for what is none."""
    if re.search("[0-9]", name):
        return ""  # it says one
    if (short := name.strip(" `*").casefold()) in _IN_SHORT:
        return _IN_SHORT[short]
    for form, field in _COUNTED.items():
        if form.fullmatch(short):
            return field
    told = phrases(Line(0, f"{name.strip()} = 2", 1, {}), least=1)
    known = [field for field, cell in told.items() if cell.text == "2" and cell.scale == 1.0]
    return known[0] if len(known) == len(told) == 1 and known[0] in SETTINGS | _OF_MODELS else ""


_IN_SHORT = {
    "tensor": "tp", "pipeline": "pp", "pipe": "pp", "data": "dp", "seq": "seq_len",
    "seqlen": "seq_len", "seq len": "seq_len", "context": "seq_len", "ctx": "seq_len",
    "sequence": "seq_len",
}  # fmt: skip
"""Names of settings that in a legend of numbers are short for one: `t = tensor`."""

_COUNTED = {
    re.compile(r"(?:(?:the )?number of )?(?:model |pipeline )?(?:partitions|stages)"): "pp",
    re.compile(
        r"(?:(?:the )?number of )?micro-?batches"
        r"(?: (?:per|in|of|for) (?:(?:an?|one|each|every|the) )?(?:mini-?)?batch)?"
    ): "accumulation",
}
"""Fields by what a legend of numbers counts: `m: number of micro-batches per mini-batch`."""


def _together(signs: str, meant: str) -> Iterator[Sign]:
    """Signs that one item of a list explains, each with its part of what they mean."""
    names = [each.strip("`*: ") for each in re.split(r"[/,]|\s(?:and|or)\s", signs)]
    meant = meant.strip(" .;")
    stems = {_DIGITS_LAST.sub("", name) for name in names}
    if len(stems) == 1 and stems.isdisjoint(names) and _fields(meant, 1):
        names, parts = [f"{stems.pop()}N"], [meant]  # `z2, z3: ZeRO stage`
    elif _fields(meant, len(names)):
        parts = _BETWEEN_NAMES.split(meant)
    else:
        parts = _ALTERNATIVES.split(meant)
        parts = parts if len(parts) == len(names) else []
    for name, part in zip(names, parts, strict=False):
        if sign := _sign(name, part, ":"):
            yield sign


_DIGITS_LAST = re.compile(r"[0-9]+$")

_ALTERNATIVES = re.compile(r",? or |[,/;] | and ")
"""Between what one and the other of several signs stand for."""


_NOT = "".join(
    rf"(?<!\b{word})"
    for word in ("no[ -]", "not ", "non-", "w/o ", "without ", "vs ", r"vs\. ", "than ")
)
"""Not in front of a sign: its row has something else."""

_ALONE = (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])")

_AMONG_OTHERS = (
    r"(?<![A-Za-z])(?<![0-9]\.)",
    r"(?![0-9])(?![A-Za-z]{1,6}(?![A-Za-z0-9]))(?![kKMG](?![0-9]))",
)
"""Letters around a sign with its number: `m2` in `t8p4m2g512`, not in `m2x` or `m2k`."""

LONGEST_SWITCH = 5
"""Letters of a sign that is short for what it switches on: `ac`, `ckpt`; more are its name."""

SHORT = 3
"""Letters of a sign whose case counts."""


def placed(paragraph: Sequence[Line], begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The parts of lines that a part of their paragraph, joined by blanks, is."""
    starts = [0, *accumulate(len(line.text) + 1 for line in paragraph)]
    for line, start in zip(paragraph, starts, strict=False):
        first, last = max(begin - start, 0), min(end - start, len(line.text))
        if first < last:
            yield line.number, first, last


def paragraphs(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Paragraphs of prose, and items of lists, each by its lines; no code."""
    held: list[Line] = []
    code = False
    for line in (*lines, Line(0, "", 0, {})):
        fence = line.text.lstrip().startswith(("```", "~~~"))
        code = code != fence
        plain = code or fence or not line.text.strip() or len(line.text) > LONGEST
        plain = plain or _PLAIN.match(line.text) is not None
        if held and (plain or _ITEM.match(line.text) or line.number != held[-1].number + 1):
            if len(held) <= MOST:
                yield held
            held = []
        if not plain:
            held.append(line)
