"""Settings of the rows that a clause begins with the label of: `SFT uses ZeRO stage 3; LoRA runs on
a single GPU`, `SFT 采用 ZeRO-3；LoRA 为单卡训练`, `Config A: TP 4, micro-batch 2`.

In: the records of tables, and the lines of their document. Out: the same rows, with what clauses
that begin with a label of theirs say; and these clauses, which are of no other rows. What all rows
of a table are called is none of such a label. A letter or a number is one where its column counts
cases, behind a word for these; or alone in front of a colon, where the text so explains two. Where
a clause corrects (`Erratum: run C used micro batch 1, not 2`), what it says stands instead of what
the row prints.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from assay.ingest.grids.grid import LONGEST
from assay.ingest.legends.label_signs import (
    CORRECTING,
    Explanation,
    give,
    paragraphs,
    placed,
    put,
    settings_of,
)
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.values import said
from assay.ingest.vocabulary.languages import in_english
from assay.ingest.vocabulary.program_names import program_named

_ENDS = deferred(
    r"[;；。]|\.(?=\s|$)|[,，] ?(?:(?:and|but|while|whereas) (?=[A-Z`*])|而(?=[A-Za-z ]))"
)
"""Where one clause ends and the next begins."""

_BEGINS = deferred(
    r"[\W_]*(?:(?:in|during) (?:(?:the|our) )?"
    r"|(?:the|our|all|for|with|and|but|while|其中|对于?) ?)?[`*\"“]{0,2}",
    re.I,
)

_CORRECTS = deferred(
    r"[\W_]*(?:(?:correction|corrigendum|erratum|errata|corrected)\b(?: \([^()]{1,40}\))?"
    r"[\s*_:.,–—-]{1,6}"
    r"|(?:please )?note(?: that)?\b,? )",
    re.IGNORECASE,
)
"""How a sentence begins that corrects, or that adds to what a table prints."""

_CONTRAST = deferred(
    r",? (?:and )?(?:not|instead of|rather than)(?: (?:the|printed|stated|listed|as|with)){0,2}"
    r" [0-9][0-9,]*\b(?: as (?:printed|stated|listed|shown|reported)\b)?",
    re.IGNORECASE,
)
"""Behind the right number, the wrong one."""

_VERB = deferred(
    r"[`*\"”]{0,2}(?:[ -](?:rows?|runs?|training|tuning|fine-?tuning|experiments?|versions?|variant"
    r"|one)){0,2}[`*]{0,2},? ?"
    r"(?:(?:actually|in fact|accidentally|by (?:accident|mistake)|mistakenly) )?"
    r"(?=(?:uses?|used|runs?|ran|is|are|was|were|trains?|trained|needs?|takes?|took|has|have|had"
    r"|means?|adds?|added|with|on|in|we)\b|采用|使用|(?:均|都)?为(?!了)|均|都|用|在|跑|开启|启用|关闭)",
    re.IGNORECASE,
)
"""Behind a label, and in front of what the rows of that label have."""

_COLON = deferred(r"[`*\"”)]{0,3}\s?(?:[:：=]|[–—-](?=\s))[*_]{0,2}\s?(?=[^\s|])")
"""Between a label and its settings."""

_CASE = (
    r"(?:config(?:uration)?|set-?up|setting|run|case|variant|experiment|exp|layout|recipe|option"
    r"|scheme|strategy|plan|job|test|trial|row|entry|配置|方案|实验)"
)

_OF_CASES = deferred(rf"(?:{_CASE}s?(?: ?(?:id|no\.?|name|#))?|#|id|name|no\.?|)", re.IGNORECASE)
"""Labels of a column of cases."""

_A_SIGN = re.compile(r"[(#]?([a-z]|[a-z]?[0-9]{1,2})\)?")
"""A letter or a number that a case is called by."""

_NAMED_CASE = deferred(
    rf"\s*[*_]{{0,2}}(?:(?:in|the|for|with|and|while|but) ){{0,2}}[`*]{{0,2}}{_CASE} ?"
    r"[`*(\"“#]{0,3}(?P<sign>[A-Za-z]|[A-Za-z]?[0-9]{1,2})(?![\w.])",
    re.IGNORECASE,
)
"""A case by its sign, and the word for it: `Config A`, `the run (b)`; none of an item of a list,
which may be one of those that all rows share."""

_SIGN_ALONE = deferred(r"\s*[`*(\"“]{0,3}(?P<sign>[A-Z][0-9]?)(?![\w.])")

_COMMA = re.compile(r"[,，] ?(?:(?:and|but|while|whereas) )?| (?:and|while|whereas|but) ")

_PERHAPS = deferred(
    r"\b(?:would|could|can|should|may|might|if|than|unlike|until|before|earlier|later|instead|not"
    r"|except|faster|slower|both|respectively|also|planned|meant|supposed|intended|listed|printed"
    r"|reported|shown|labell?ed|stuck|queued?|todo|failed|crashed|missing|pending)\b|可以|如果|若|除|比|也|分别|不",
    re.IGNORECASE,
)
"""Words of a clause that is perhaps of no run, or of others too."""

_CODE = deferred(r"`([A-Za-z_][\w.]{0,40})\s*[=:]\s*[\"']?([\w.]{1,24})[\"']?`")

LONGEST_LABEL = 32

SHORTEST_LABEL = 2

_IS_NAME = re.compile(r"[A-Za-z][^|,;]*[A-Za-z0-9)]")


_OF_A_SIDE = deferred(
    r"(?:(?:the|our|open[- ]source) )?(?:baseline|reference|ref|ours|optimi[sz]ed|tuned|stock"
    r"|default|before|after|old|new)|(?:我们|开源|社区|优化)?(?:基线|基准|参考|优化[前后]|改造[前后]|自研)",
    re.IGNORECASE,
)
"""Names of rows and columns that tell two programs apart and are of none."""

_ITS_PROGRAM = deferred(
    r"\s*(?:is|are|was|were|uses?|used|runs?|ran|with|on|采用|使用|(?:均|都)?为|用)?"
    r"[\s`*\[\"“]*(?:(?:the|an?|our|plain|stock|vanilla|upstream|unmodified|official|open[- ]source"
    r"|NVIDIA|社区版|官方|原生|开源)[\s的]*){0,3}[`*\[]*",
    re.IGNORECASE,
)
"""Words in front of the program that a name stands for."""


class _Saying(NamedTuple):
    label: str
    bare: bool  # a letter with nothing in front
    corrects: bool
    values: Mapping[str, str]
    said: Explanation


def tell(
    records: Sequence[Record], lines: Sequence[Line]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows, in place, what clauses say that begin with their labels; the lines that said it,
    and the clauses."""
    rows = [row for row in records if row.tabled and row.alike is None]
    called = [_labels(row) for row in rows]
    every = {label for labels in called for label in labels}
    used, explained = set[int](), list[Explanation]()
    sayings = list(_sayings(lines, every)) if every else []
    if len({each.label for each in sayings if each.bare}) < len("AB"):
        sayings = [each for each in sayings if not each.bare]
    heads = [line.number for line in lines if line.text.startswith("#")] if sayings else []
    for saying in sayings:
        section = bisect_right(heads, saying.said.line)
        here = [
            (row, labels) for row, labels in zip(rows, called, strict=True)
            if bisect_right(heads, row.line) == section
        ]  # fmt: skip
        mine = [row for row, labels in here if saying.label in labels]
        if not 0 < len(mine) < len(here) or _is_of_one(saying, mine):
            continue
        for row, _ in here:
            row.cells = {n: c for n, c in row.cells.items() if not _is_in(c, row, saying.said)}
        for row in mine:
            (put if saying.corrects else give)(row, saying.values)
        used.add(saying.said.line)
        explained.append(saying.said)
    return used, explained


def _is_of_one(saying: _Saying, rows: Sequence[Record]) -> bool:
    """Whether a clause tells one of the rows of its label by what they print themselves: `(Aurora
    on 8 nodes: stuck in the queue)`, beside rows of Aurora on 1, 2 and 8 nodes."""
    for name, text in saying.values.items():
        printed = {
            cell.text for row in rows
            if (cell := row.cells.get(name)) and cell.value_origin == "printed"
        }  # fmt: skip
        if text in printed and len(printed) > 1:
            return True
    return False


def _is_in(cell: Cell, row: Record, said: Explanation) -> bool:
    """Whether a cell has been taken out of a clause, as if it were of all rows."""
    return (
        cell.value_origin == "stated"
        and cell.line != row.line
        and any(
            cell.line == line and begin < cell.column <= end for line, begin, end in said.places
        )
    )


def _labels(row: Record) -> frozenset[str]:
    """The names of a row, by its first columns, with what is added to them and without: `Stage 3`
    of `Stage 3: long context`; the sign of a case behind `CASE`."""
    every = (*row.other[:2], *(each for each in row.other[2:] if each[0] == "column"))
    texts = [(name, text.strip(" *`").casefold()) for name, text in every]
    texts += [(name, _REMARK.split(text, maxsplit=1)[0]) for name, text in texts]
    signs = [
        f"{CASE}{sign[1]}" for name, text in texts
        if (sign := _A_SIGN.fullmatch(text)) and _OF_CASES.fullmatch(name.strip(" *`"))
    ]  # fmt: skip
    names = (
        text for _, text in texts
        if SHORTEST_LABEL <= len(text) <= LONGEST_LABEL
        and (_IS_NAME.fullmatch(text) or _OF_A_SIDE.fullmatch(text))
    )  # fmt: skip
    return frozenset((*names, *signs))


_REMARK = re.compile(r":\s|\s[(–—-]")
"""Behind a name, and in front of what a cell adds to it."""

CASE = "case "


def _sayings(lines: Sequence[Line], labels: set[str] | frozenset[str]) -> Iterator[_Saying]:
    """Clauses of a document that begin with a label and say settings."""
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        if len(text) > LONGEST:
            continue
        low = text.casefold()
        near = {label for label in labels if label in low or label.startswith(CASE)}
        for begin, end in _clauses(paragraph, text, near) if near else ():
            opens = _CORRECTS.match(text, begin, end)
            clause = text[opens.end() if opens else begin : end]
            label, what = _begun(clause, near)
            corrects = CORRECTING.search(text, begin, end) is not None
            what = _CONTRAST.sub("", what, count=1) if corrects else what
            named = label.startswith(CASE) or _IS_NAME.fullmatch(label)
            values = _settings(what) if named and not _PERHAPS.search(what) else {}
            if _OF_A_SIDE.fullmatch(label):
                values = {**values, **_its_program(what)}
            if values:
                places = tuple(placed(paragraph, begin, end))
                bare = label.startswith(CASE) and not _NAMED_CASE.match(clause)
                said = Explanation(values, places[0][0], places)
                yield _Saying(label, bare, corrects, values, said)


def _clauses(paragraph: Sequence[Line], text: str, labels: set[str]) -> Iterator[tuple[int, int]]:
    """The parts of a paragraph between its stops, and in front of the signs of cases that begin
    lines or stand behind commas, as names of sides may."""
    sides = {label for label in labels if _OF_A_SIDE.fullmatch(label)}
    starts = list(accumulate((len(line.text) + 1 for line in paragraph[:-1]), initial=0))
    ends = [found.span() for found in _ENDS.finditer(text)]
    ends += [
        (start - 1, start) for start, line in zip(starts[1:], paragraph[1:], strict=True)
        if _case(line.text, labels)[0]
    ]  # fmt: skip
    ends += [
        found.span() for found in _COMMA.finditer(text)
        if (_NAMED_CASE.match(text, found.end()) and _case(text[found.end() :], labels)[0])
        or (sides and _begun(text[found.end() :], sides)[0])
    ]  # fmt: skip
    begin = 0
    for end, behind in sorted(ends):
        yield begin, end
        begin = behind
    yield begin, len(text)


def _case(clause: str, labels: set[str]) -> tuple[str, str]:
    """The sign of a case that a clause begins with, and the rest of it."""
    for form, behind in ((_NAMED_CASE, (_COLON, _VERB)), (_SIGN_ALONE, (_COLON,))):
        named = form.match(clause)
        label = f"{CASE}{named['sign'].casefold()}" if named else ""
        for verb in behind if named and label in labels else ():
            if found := verb.match(clause, named.end() if named else 0):
                return label, clause[found.end() :]
    return "", ""


def _begun(clause: str, labels: set[str]) -> tuple[str, str]:
    """The label that a clause begins with, and the rest of it; both empty where there is none."""
    if (told := _case(clause, labels))[0]:
        return told
    begins = _BEGINS.match(clause)
    at = begins.end() if begins else 0
    for label in sorted(labels, key=len, reverse=True):
        named = clause[at : at + len(label)].casefold() == label
        behind = _VERB.match(clause, at + len(label)) if named else None
        if named and behind is None and _OF_A_SIDE.fullmatch(label):
            behind = _COLON.match(clause, at + len(label))
        if behind:
            return label, clause[behind.end() :]
    return "", ""


def _its_program(text: str) -> Mapping[str, str]:
    """The program that the rest of a clause begins with: of a reference it is what that ran."""
    told = None if _PERHAPS.search(text) else program_named(text)
    begins = _ITS_PROGRAM.match(text)
    if told is None or begins is None or told.at > begins.end():
        return {}
    return {"program": told.text}


def _settings(text: str) -> Mapping[str, str]:
    """Settings that the rest of a clause says, in words or as code.

    >>> _settings("采用 `sharding=stage3`，单卡训练")
    {'gpus': '1', 'zero_stage': '3'}
    >>> _settings("runs on a single GPU with a micro batch of 2")
    {'gpus': '1', 'micro_batch': '2'}
    """
    coded = {
        name: cell.text for span in _CODE.finditer(text)
        for name, cell in said(span[1], span[2], Line(0, text, 1, {})).items()
        if cell.state == "value" and cell.scale == 1.0
    }  # fmt: skip
    return {**settings_of(in_english(text).text.strip(" ,.;:")), **coded}
