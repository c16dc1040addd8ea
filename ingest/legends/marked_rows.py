"""Settings of rows with a sign or a cell, and of those without it, as one sentence says of both:
`not recomputed, except in the rows marked †, which use full recomputation`; ``rows with `nf4`
weights are QLoRA, the others LoRA``.

In: the records of tables, and the lines of their document. Out: the same rows, with what such a
sentence says of them; and these sentences, which are of no other rows. Notes that begin with their
sign are read with the rows that point to them (`assay.ingest.columns.footnotes`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.columns.footnotes import said_of_others, without_others
from assay.ingest.columns.other_runs import sentences
from assay.ingest.grids.grid import LONGEST
from assay.ingest.legends.label_signs import (
    CORRECTING,
    Explanation,
    give_its_own,
    paragraphs,
    placed,
    put,
    settings_of,
)
from assay.ingest.legends.noted_rows import OFF
from assay.ingest.schema.record import Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.tables.captions import FIELD, named
from assay.ingest.vocabulary.recomputation import how_much_told

_SIGN_WORDS = {"asterisk": "*", "star": "*", "dagger": "†", "double dagger": "‡"}
"""Signs by their names."""

_CALLED = "|".join(_SIGN_WORDS)

_SIGN = r"[`\"“'(]{0,2}(?P<sign>[†‡§¶]{1,2}|\\?\*|\([A-Za-z]{1,8}\))[`\"”')]{0,2}"

_ROWS = r"(?:rows?|runs?|lines?|ones|entries|models?|those|configurations?|cases|results)"

_MARKED = deferred(
    rf"(?:the )?(?:{_ROWS} )?(?:(?:that|which) (?:are|is) )?"
    rf"(?:marked|flagged|labell?ed) (?:with |by )?(?:an? )?{_SIGN}(?!\w)"
    rf"|(?:the |all )?(?:{_ROWS} (?:with|having|(?:that|which) (?:have|carry))"
    rf"|(?:{_ROWS} )?(?:(?:that|which) (?:are|is) )?(?:marked|flagged) (?:with|by)) (?:an? )?"
    rf"(?P<called>{_CALLED})s?\b(?: \([*†‡]\))?|(?:the |all )?(?P<starred>starred) {_ROWS}\b",
    re.IGNORECASE,
)
"""Rows that a sign marks, or a sign that is called by its name: `rows with an asterisk`."""

_WITH_CELL = deferred(
    rf"(?:the |all )?(?:{_ROWS} )(?:(?:with|using|that (?:say|have|show|use|list|are)"
    r"|(?:whose|where) (?:the )?[\w -]{2,24} (?:is|says|shows)|labell?ed|called) (?:an? )?)"
    r"(?P<quote>[`\"“*]{1,2})(?P<cell>[^`\"”“*|]{1,30})[`\"”*]{1,2}"
    r"(?: (?!(?:are|is|were|was)\b)[\w/-]{2,20}){0,4}?,?"
    r"(?= (?:(?:are|were|use[sd]?|ran|run|have|had|train(?:ed)?|with)\b)|:)",
    re.IGNORECASE,
)
"""Rows with a cell of a text that the sentence quotes."""

_EMPHASIS = (
    r"[*_]{0,3}(?P<face>bold(?:face)?|italics?)(?:[ -]?(?:faced|type|font|print)|ed"
    r"|i[sz]ed)?[*_]{0,3}"
)

_SHAPED = (
    r"(?:rows?|runs?|lines?|ones|entries|configurations?|cases|results|numbers|figures|values)"
)

_EMPHASISED = deferred(
    rf"\b(?:the |all )?{_SHAPED}(?: (?:that|which) are)?(?: (?:set|shown|printed|written|typeset"
    rf"|marked|given))? in {_EMPHASIS}(?![\w*])"
    rf"|(?<![\w-])(?:the |all )?{_EMPHASIS.replace('<face>', '<face2>')} {_SHAPED}\b"
    rf"|^\W{{0,4}}{_EMPHASIS.replace('<face>', '<face3>')}(?= ?[:=] )",
    re.IGNORECASE,
)
"""Rows that are set in another face than others: `rows in italics`, `**Bold** rows`."""

_PLAIN_ONES = deferred(
    r"\b(?:the |all )?(?:(?:plain|upright|regular|normal|roman|unemphasi[sz]ed"
    rf"|(?:non|un|not)[ -]?(?:bold|italic)(?:ed|i[sz]ed)?) (?:{_SHAPED}|type|print|text|font)"
    r"|plain|upright|roman)\b(?=\W+\w)(?! text)",
    re.IGNORECASE,
)
"""Rows that are not, as such a sentence calls them."""

_PRAISED = deferred(
    r"\b(?:best|fast\w+|highest|lowest|top|slowest|worst|optim\w+|recommended|winn\w+|better"
    r"|improve\w*|peak|maxim\w+|minim\w+)\b",
    re.IGNORECASE,
)
"""Words of another reason to set a number in bold."""

_OURS = deferred(
    r"^[\s>*_`-]*(?:ours|our (?:own )?(?:rows?|runs?|numbers?|results?|system|entry|entries"
    r"|measurements?)|this work)(?: \([^()]{1,40}\))?[*_`]*(?:: | (?:uses?|used|(?:is|are|was|were"
    r"|ran)(?: (?:run|trained|measured|obtained|taken))? (?:with|in|on|using|at)|has|have|had)\b)",
    re.IGNORECASE,
)
"""How a sentence begins on the rows of a table that its authors measured: `Ours: 64 A100, …`."""

_IS_OURS = deferred(r"\bours\b|\bthis work\b|^\W*(?:we|us)\W*$|本文|我们", re.IGNORECASE)
"""A cell of such a row."""

OURS = "ours"

_TURNS = {"first": 0, "top": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4,
          "last": -1, "bottom": -1, "final": -1}  # fmt: skip

_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "2": 2, "3": 3, "4": 4, "5": 5}

_IN_PLACE = deferred(
    rf"(?:(?P<alone>(?<=\bbut )|(?<=\bexcept )|(?<=[,;] )|(?<=\band ))|)"
    rf"\bthe (?P<turn>{'|'.join(_TURNS)})(?: (?P<many>{'|'.join(_COUNTS)}))?"
    r"(?: (?:rows?|lines?|entr(?:y|ies)|configurations?|runs?|ones?)"
    r"|(?(alone)(?= (?:use[sd]?|ran|runs?|ha[sd]|have|with|without|at|on|of|is|are|was|were)\b)"
    r"|(?!)))"
    r"(?: (?:of|in) (?:the|this) table)?"
    r"(?! (?:of(?! [0-9])|in|shows?|gives?|lists?"
    r"|(?:is|are|was|were)(?! (?:with|run|trained|done|at|on)\b))\b)"
    r"|\bthe (?:(?P<half>upper|lower|top|bottom) half(?! of (?!(?:the|this) table\b))"
    r"|(?P<half2>first|second|last) half(?= of (?:the|this) (?:table|rows)\b))"
    r"(?: of (?:the|this) (?:table|rows)\b)?",
    re.IGNORECASE,
)
"""Rows by their place in their table: `the last row`, `the first two rows`, `the upper half`;
beside others in the same sentence the word for rows may be left out: `and the third uses TP 4`."""

_LAST_HALVES = ("lower", "bottom", "second", "last")

_OF_US = deferred(r"\b(?:[Oo]urs?|[Tt]his work)\b")

_WITH_NOUN = re.compile(r" (?:rows?|lines?|entr(?:y|ies)|configurations?|runs?|ones?)\b", re.I)

_A_VALUE = deferred(r"\W*(?:(?:with|at|on|in|of) )?(?P<n>[0-9][0-9,]*)(?: instead)?\W*")

_EXCEPT = deferred(
    r",?\s*\(?(?:except|but(?: not)?|other than|apart from|save|unless)(?: (?:in|for|on))?\s*$",
    re.IGNORECASE,
)
"""Words in front of them, behind what is said of all others."""

_EVERY = deferred(
    r"\W*(?:(?:all|everything|every (?:one|row|run)|each (?:row|run)|(?:all )?(?:of )?(?:the )?"
    r"(?:rows|runs|others))\W*)+",
    re.IGNORECASE,
)
"""All rows, in front of what but some of them have: `All but the last row use …`."""

_OPPOSITE = {
    ("recompute", "none"): ("activation_checkpointing", "True"),
    ("activation_checkpointing", "True"): ("recompute", "none"),
    ("sequence_parallel", "True"): ("sequence_parallel", "False"),
    ("sequence_parallel", "False"): ("sequence_parallel", "True"),
}
"""Settings of rows that are left out of those with a switch."""

_WITHOUT = {**_OPPOSITE, ("recompute", "full"): ("recompute", "none")}
"""Settings of rows that are said to be without what others have."""

_THEY = deferred(
    r"\W*(?:(?:which|that|where|these|they|and|we|with|use[sd]?|are|were|run|ran|have|had|was|is)\s)+",
    re.IGNORECASE,
)

_AGAIN = ("recompute", "activation_checkpointing")


class _Saying(NamedTuple):
    sign: str
    by_cell: bool  # the sign is the text of a cell, or the face of its letters
    place: tuple[int, int]  # of which row in its table, and of how many; of none where there are 0
    marked: Mapping[str, str]
    others: Mapping[str, str]
    said: Explanation
    corrects: bool  # what the marked rows print


def tell(
    records: Sequence[Record], lines: Sequence[Line]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows, in place, what is said of those with a sign and of those without; the lines that
    said it, and the sentences."""
    used, explained = set[int](), list[Explanation]()
    rows = [row for row in records if row.tabled and row.alike is None]
    sayings = list(_sayings(lines)) if rows else []
    texts = {line.number: line.text for line in lines} if sayings else {}
    heads = [number for number, text in texts.items() if text.startswith("#")]
    for saying in sayings:
        section = bisect_right(heads, saying.said.line)
        own = [row for row in rows if bisect_right(heads, row.line) == section]
        below = [row for row in rows if row.line > saying.said.line]
        here = own or below  # what stands over all tables is of all that follow
        lines_of = _in_place(here, *saying.place) if saying.place[1] else set[int]()
        having = [
            row for row in here
            if (row.line in lines_of if saying.place[1]
                else _is_marked(row, texts.get(row.line, ""), saying))
        ]  # fmt: skip
        if not having or (saying.by_cell and len(having) == len(here)):
            continue
        marked = {id(row) for row in having}
        for row in here:
            if id(row) not in marked:
                give_its_own(row, saying.others)
            else:
                (put if saying.corrects else give_its_own)(row, saying.marked)
        used.add(saying.said.line)
        explained.append(saying.said)
    return used, explained


def _in_place(rows: Sequence[Record], turn: int, many: int) -> set[int]:
    """The lines of so many rows of one table, from the first or the last on; of several tables, or
    of one with other lines between its rows, none."""
    held = sorted({row.line for row in rows})
    if many == HALF and len(held) % 2:
        return set()
    many = len(held) // 2 if many == HALF else many
    if len(held) < max(many + 1, turn + many) or len({b - a for a, b in pairwise(held)}) != 1:
        return set()
    return set(held[turn : turn + many] if turn >= 0 else held[turn - many + 1 :])


HALF = -1
"""So many rows as half of their table has."""


def _is_marked(row: Record, text: str, saying: _Saying) -> bool:
    """Whether a row, whose line is `text`, has the sign or the cell that a sentence speaks of."""
    if saying.sign in _FACES:
        return _is_set_in(text, _FACES[saying.sign])
    if not saying.by_cell:
        return _has(text, saying.sign)
    cells = [*(cell.text for cell in row.cells.values()), *(text for _, text in row.other)]
    if saying.sign == OURS:
        return any(map(_IS_OURS.search, cells))
    return any(cell.strip(' `*"').casefold() == saying.sign.casefold() for cell in cells)


_FACES = {
    "*bold": re.compile(r"(?:\*\*|__)\S.*(?:\*\*|__)|<(b|strong)>.*</\1>|\\textbf\{[^{}]*\}"),
    "*ital": re.compile(
        r"(?:\*(?!\*)|_(?!_)|\*\*\*|___)\S.*[*_]|<(i|em)>.*</\1>|\\(?:textit|emph)\{[^{}]*\}"
    ),
}
"""How a face is called, and a cell that is set in it."""

_BETWEEN_CELLS = re.compile(r"(?<!\\)[|&]|\\\\|</?t[dhr]\b[^<>]*>")


def _is_set_in(text: str, face: re.Pattern[str]) -> bool:
    """Whether the cells of a row are set in a face: its first and half of all, or all others.

    >>> _is_set_in("| **1** | **19,870** |", _FACES["*bold"])
    True
    >>> _is_set_in("| 7B | **19,870** | 44% |", _FACES["*bold"])
    False
    >>> _is_set_in("| **1** | 2 |", _FACES["*ital"]), _is_set_in("| *1* | *2* |", _FACES["*ital"])
    (False, True)
    """
    cells = [cell.strip() for cell in _BETWEEN_CELLS.split(text)] if len(text) <= LONGEST else []
    held = [face.fullmatch(cell) is not None for cell in cells if cell]
    return len(held) > 1 and ((held[0] and 2 * sum(held) >= len(held)) or all(held[1:]))


def _has(text: str, sign: str) -> bool:
    """Whether a row of a table has a sign at the end of a word."""
    if sign != "*":
        return sign in text
    return _STARRED.search(text) is not None


_STARRED = re.compile(r"(?<![*\s|])\\?\*(?=\s*(?:\||$|,|<))(?!\*)")


def _sayings(lines: Sequence[Line]) -> Iterator[_Saying]:
    """The sentences on rows with a sign, with what they say of these and of the others."""
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        told = any(form.search(text) for form in _NAMING)
        if len(text) > LONGEST or not told:
            continue
        at, last = 0, ""
        for sentence in sentences(text):
            begin, at = at, at + len(sentence)
            earlier, last = last, sentence
            for found, sign, start, stop in _named_in(sentence, begin):
                opens, ends = (begin + each for each in found.span())
                behind = text[ends:stop]
                if sign in _FACES:
                    behind = _PLAIN_ONES.sub("the others", behind)
                marked, others = _told(text[start:opens], behind, earlier)
                earlier = text[start:stop] if start == begin else earlier  # its first clause
                if marked or others:
                    end = start + len(text[start:stop].rstrip())
                    places = tuple(placed(paragraph, start, end))
                    said = Explanation(marked, places[0][0], places)
                    by_cell = bool(sign) and "sign" not in found.re.groupindex
                    corrects = CORRECTING.search(text, start, stop) is not None
                    place = _place(found)
                    yield _Saying(sign, by_cell, place, marked, others, said, corrects)


_NAMING = (_MARKED, _WITH_CELL, _IN_PLACE, _OF_US, _EMPHASISED)


def _named_in(sentence: str, begin: int) -> Iterator[tuple[re.Match[str], str, int, int]]:
    """The rows that a sentence names: the words for them, their sign, and where in the text that
    part of the sentence stands which is of them; `begin` is where the sentence does."""
    end = begin + len(sentence)
    if found := _MARKED.search(sentence):
        sign = found["sign"] or _SIGN_WORDS[(found["called"] or "star").casefold()]
        yield found, sign.lstrip("\\"), begin, end
    elif found := _WITH_CELL.search(sentence):
        yield found, found["cell"].strip(), begin, end
    elif found := _OURS.match(sentence):
        yield found, OURS, begin, end
    elif _EMPHASISED.search(sentence) and not _PRAISED.search(sentence):
        every = list(_EMPHASISED.finditer(sentence))
        for each, start, stop in _parts(sentence, every, begin):
            face = next(filter(None, each.groups()))[:4].casefold()
            yield each, f"*{face}", start, stop
    else:
        for each, start, stop in _clauses_on_places(sentence, begin):
            yield each, "", start, stop


def _clauses_on_places(sentence: str, begin: int) -> Iterator[tuple[re.Match[str], int, int]]:
    """The parts of a sentence that each name rows by their place, one part for each of them, and
    where in the text they stand; `begin` is where the sentence does."""
    found = list(_IN_PLACE.finditer(sentence))
    if found and found[0]["alone"] is not None and not _WITH_NOUN.search(found[0][0]):
        found = [each for each in found if _EXCEPT.search(sentence, 0, each.start())]
    yield from _parts(sentence, found, begin)


def _parts(
    sentence: str, found: Sequence[re.Match[str]], begin: int
) -> Iterator[tuple[re.Match[str], int, int]]:
    """Each of some words, and the part of a text from them to the next ones; the first part begins
    with the sentence."""
    starts = [0, *(each.start() for each in found[1:]), len(sentence)]
    for each, (start, stop) in zip(found, pairwise(starts), strict=False):
        yield each, begin + start, begin + stop


def _told(before: str, behind: str, earlier: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Settings that a clause gives the rows that it names, and all others, by what stands before
    and behind their name.

    >>> _told("All but ", " use full recomputation", "")
    ({}, {'recompute': 'full'})
    >>> _told("All but ", " run without activation checkpointing.", "")
    ({'activation_checkpointing': 'True'}, {'recompute': 'none'})
    >>> _told("", " have sequence parallelism on, the others off.", "")
    ({'sequence_parallel': 'True'}, {'sequence_parallel': 'False'})
    """
    apart = _EXCEPT.search(before)
    if apart and _EVERY.fullmatch(before[: apart.start()]):
        others = _settings(_THEY.sub("", behind, count=1).strip(" ,.;:)"))
        return dict(_OPPOSITE[each] for each in others.items() if each in _OPPOSITE), others
    rest = before[: apart.start()] if apart else said_of_others(behind)
    others = _settings(rest.strip(" ,.;:)"))
    own = _THEY.sub("", without_others(behind), count=1).strip(" ,.;:)")
    marked = _settings(own) or _same_setting(before or earlier, own)
    if not others and len(marked) == 1 and OFF.fullmatch(rest):
        others = dict(_WITHOUT[each] for each in marked.items() if each in _WITHOUT)
    return marked, others or _same_setting(own, rest)


def _place(found: re.Match[str]) -> tuple[int, int]:
    """Which row of its table some words name, and how many."""
    if found.re.groupindex.get("turn") is None:
        return 0, 0
    if half := found["half"] or found["half2"]:
        return (-1 if half.casefold() in _LAST_HALVES else 0), HALF
    many = _COUNTS.get((found["many"] or "").casefold(), 1)
    return _TURNS[found["turn"].casefold()], many


def _same_setting(before: str, own: str) -> Mapping[str, str]:
    """A number that stands alone, as the setting that all rows have by what stands in front of it.

    >>> _same_setting("All rows use seq length 2048;", "4096"), _same_setting("Two runs:", "8")
    ({'seq_len': '4096'}, {})
    """
    value = _A_VALUE.fullmatch(own)
    numbered = [name for name, text in settings_of(before).items() if text.isdecimal()]
    return {numbered[0]: value["n"].replace(",", "")} if value and len(numbered) == 1 else {}


def _settings(text: str) -> Mapping[str, str]:
    """Settings of a clause, or how much it says to be computed again.

    >>> _settings("full recomputation"), _settings("Activations are not recomputed")
    ({'recompute': 'full'}, {'recompute': 'none'})
    """
    said = settings_of(text)
    if adapters := named(text):
        said = {**said, FIELD: adapters}
    much = None if any(name in said for name in _AGAIN) else how_much_told(text)
    return {**said, "recompute": much} if much and much != "on" else said
