"""Footnotes of tables: signs behind labels and in rows, and what the lines below say of them.

In: the lines of a document, and the cells of a row. Out: what the notes say, by their signs; and of
a row the notes that its signs point to. `[^a]`, `^a`, `¹`, `<sup>1</sup>`, `*`, `†`, `(+)` and
`[1]_` are signs. A star is one only where a line right below its table begins with it: elsewhere it
is a bullet.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import NamedTuple

import polars as pl
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

_FOOTNOTE = re.compile(
    r"[\s>*+-]*(?:<(?:p|li|small|div)[^<>]*>\s*)?"
    r"(?:<sup>\s*([0-9a-z*†‡]{1,2})\s*</sup>|\[\^?([0-9a-z*†‡]{1,2})\]:?|([¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§]{1,2})"
    r"|\^([a-z1-9*†‡])(?=[\s:.)]))"
    r"[\s:.)]*(\S.{4,200})"
)


def footnotes(lines: Sequence[Line]) -> dict[str, str]:
    """Sign of a footnote → what it says, of those that a document has below its tables.

    >>> footnotes([Line(1, "² per device, averaged over one epoch<br>", 1, {})])
    {'²': 'per device, averaged over one epoch<br>'}
    """
    found: dict[str, str] = {}
    for line in lines:
        text = line.text.rstrip()
        if len(text) <= LONGEST and (note := _FOOTNOTE.fullmatch(text)):
            found.setdefault(next(filter(None, note.groups())), note[note.re.groups])
    return found


_TEX_SIGN = r"(?:\\d?dagger|\\ast|\\star|\*{1,3}|[†‡§]|[a-h1-9](?![A-Za-z0-9]))"

_IN_TEX = (
    r"(?:\\(?:tnote|textsuperscript|footnotemark|footnotetext)\s*[\[{]\s*"
    r"|(?=\$\s?(?:\{\})?\^\s*\{?\s*[^${}]{1,9}\}?\s*\$))"
    rf"[{{}}^$\s]{{0,6}}(?P<sign>{_TEX_SIGN}(?:\s?,\s?{_TEX_SIGN}){{0,3}})\s*[\]}}$]{{1,3}}"
)
"""The sign of a note as LaTeX sets it: `\\tnote{a}`, `$^{\\dagger}$`."""

_TEX_MARK = deferred(_IN_TEX)

_NAMES_IN_TEX = {"\\dagger": "†", "\\ddagger": "‡", "\\ast": "*", "\\star": "*"}


def raised(text: str) -> str:
    """A row of LaTeX with its signs of notes as HTML has them.

    >>> raised("low\\\\tnote{a} & $12^3$ & 8$^{\\\\dagger,b}$")
    'low<sup>a</sup> & $12^3$ & 8<sup>†</sup><sup>b</sup>'
    """
    return _TEX_MARK.sub(
        lambda mark: "".join(
            f"<sup>{_NAMES_IN_TEX.get(sign.strip(), sign.strip())}</sup>"
            for sign in mark["sign"].split(",")
        ),
        text,
    )


_NOTE = re.compile(
    r"(?P<lead>[\s>#]*(?:[*+-]\s+)?(?:\.\.\s+)?(?:\\multicolumn\{[0-9]+\}\{[^{}]*\}\{\s*)?"
    r"(?:\\(?:footnotesize|scriptsize|small)\s+)?(?:<(?!sup\b)[^<>]*>\s*)*)"
    r"(?:<sup[^<>]*>\s*(?:<a[^<>]*>\s*)?[(\[]?(?P<raised>[\w*†‡§]{1,3})[)\]]?\s*(?:</a>\s*)?</sup>"
    r"|\[\^(?P<named>[\w*†‡-]{1,24})\]|\[#?(?P<listed>[\w*-]{1,12})\](?=:|\s)"
    r"|\^(?P<caret>[a-z1-9*†‡])(?:\^|(?=[\s:.)]))"
    rf"|{_IN_TEX.replace('<sign>', '<tex>')}|\\item\s*\[[\s$]*(?P<item>{_TEX_SIGN})[\s$]*\]"
    r"|\((?P<bracketed>[+#*~°†‡]{1,2})\)|(?P<sign>[¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§]{1,2})|\\?(?P<star>\*{1,3}|\\\*{1,3})(?![*\w]*\*))"
    r"[\s:.)={]*(?P<text>[^\s*].{2,400})"
)

_RAISED = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠ", "123456789abcdef")

_TAGS = re.compile(r"<[^<>]*>")


class Note(NamedTuple):
    """A footnote: where it stands, what it says, and what kind of sign points to it."""

    line: Line
    kind: str


def notes_below(lines: Sequence[Line]) -> dict[str, list[Note]]:
    """Sign of a footnote → every line of a document that begins with it.

    >>> page = ["[^big]: 8 GPUs.", "† in fp16", "\\\\* with batch 4", "*Table 1*", ".. [2] in FP8"]
    >>> told = notes_below([Line(n, text, 1, {}) for n, text in enumerate(page)])
    >>> {sign: [note.line.text for note in each] for sign, each in told.items()}
    {'big': ['8 GPUs.'], '†': ['in fp16'], '*': ['with batch 4'], '2': ['in FP8']}
    >>> page = ["All in bf16, unless marked with † (fp16).", "Rows with ‡ ran on 16 GPUs."]
    >>> told = notes_below([Line(n, text, 1, {}) for n, text in enumerate(page)])
    >>> {sign: [note.line.text for note in each] for sign, each in told.items()}
    {'†': ['fp16'], '‡': ['ran on 16 GPUs.']}
    >>> page = ["\\\\item[a] FP8; the others BF16", "$^{\\\\dagger}$ with TP 4"]
    >>> told = notes_below([Line(n, text, 1, {}) for n, text in enumerate(page)])
    >>> {sign: [note.line.text for note in each] for sign, each in told.items()}
    {'a': ['FP8; the others BF16'], '†': ['with TP 4']}
    >>> page = ["1. in fp16", "2. in bf16"]
    >>> list(notes_below([Line(n, text, 1, {}) for n, text in enumerate(page)]))
    ['1', '2']
    """
    found: dict[str, list[Note]] = {}
    for line in chain.from_iterable(map(_broken, lines)):
        if _MAY_MARK.search(line.text) and len(line.text) <= LONGEST:
            for told in _MARKED.finditer(line.text):
                part = "inner" if told["inner"] else "rest"
                said = line._replace(text=told[part], column=line.column + told.start(part))
                found.setdefault(told["sign"].translate(_RAISED), []).append(Note(said, WITHIN))
        if _MAY_NOTE.match(line.text) and len(line.text) <= LONGEST:
            note = _NOTE.fullmatch(line.text.rstrip())
            kind = note.lastgroup and next(k for k in _KINDS if note[k]) if note else None
            if note and kind and not (kind == "star" and note["text"].endswith("*")):
                sign = _NAMES_IN_TEX.get(note[kind], note[kind].replace("\\", ""))
                sign = sign.translate(_RAISED)
                plain = _TAGS.sub(lambda tag: " " * len(tag[0]), note["text"]).rstrip()
                said = line._replace(text=plain, column=line.column + note.start("text"))
                found.setdefault(sign, []).append(Note(said, kind))
    for sign, each in _counted(lines).items():
        found.setdefault(sign, each)
    return found


def _counted(lines: Sequence[Line]) -> dict[str, list[Note]]:
    """The items of numbered lists by their numbers: those of a list that begins with the first and
    goes on, as the steps of a recipe do as well; only cells with their numbers tell them apart."""
    found: dict[str, list[Note]] = {}
    held: list[Note] = []

    def close() -> None:
        for number, note in enumerate(held if len(held) > 1 else (), 1):
            found.setdefault(str(number), []).append(note)
        held.clear()

    for line in lines:
        item = _ITEM.fullmatch(line.text) if len(line.text) <= LONGEST else None
        if item is None:
            if line.text.strip():
                close()
            continue
        if int(item[1]) != len(held) + 1:
            close()
        if int(item[1]) == len(held) + 1:
            said = line._replace(text=item[2].rstrip(), column=line.column + item.start(2))
            held.append(Note(said, COUNTED))
    close()
    return found


COUNTED = "counted"
"""Kind of a note that is an item of a numbered list."""

_ITEM = re.compile(r"\s{0,3}\(?([1-9])[.)]\s+(\S.{3,400})")


def _broken(line: Line) -> Iterator[Line]:
    """The parts of a line that are lines where HTML is shown: `in bf16<br><sup>a</sup> in fp8`."""
    if "<br" not in line.text or "<sup" not in line.text or len(line.text) > LONGEST:
        yield line
        return
    begin = 0
    for end in _BREAK.finditer(line.text):
        yield line._replace(text=line.text[begin : end.start()], column=line.column + begin)
        begin = end.end()


_BREAK = deferred(r"<br\s*/?>|$", re.IGNORECASE)

WITHIN = "within"
"""Kind of a note that is a part of a line which says more."""

_MAY_MARK = re.compile(r"[\w,(] [`\"'“]?[¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§]")

_MARKED = re.compile(
    r"\b(?:mark(?:ed|s)?|flagged|denoted|labell?ed|rows?|runs?|models?|entries|ones|those|numbers)"
    r"(?: (?:with|by|as))?(?: an?| the)? [`\"'“]?(?P<sign>[¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§])[`\"'”]?"
    r"(?:\s*[(（](?P<inner>[^()（）]{4,160})[)）]|(?:\s*[:,=–—]\s*|\s+)(?P<rest>[^.;。；\s(](?:[^.;。；]|\.(?=\S))"
    r"{4,200}\.?))",
    re.IGNORECASE,
)
"""A sentence that says what a sign stands for: `unless marked with † (two nodes, 16 GPUs)`."""

_KINDS = ("raised", "named", "listed", "caret", "tex", "item", "bracketed", "sign", "star")

_MAY_NOTE = re.compile(r"[\s>#+.-]*(?:[<\[*\\$¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§]|\([+#*~°†‡]|\^[\w*†‡][\s:.)^])")

_SIGNS = re.compile(
    r"<sup[^<>]*>\s*(?:<a[^<>]*>\s*)?[(\[]?([\w*†‡§]{1,3})[)\]]?\s*(?:</a>\s*)?</sup>"
    r"|\[\^([\w*†‡-]{1,24})\]|\[#?([\w*-]{1,12})\]_?(?=(?:\W{0,3}\[#?[\w*-]{1,12}\]_?){0,3}\W*$)"
    r"|\(([+#*~°†‡]{1,2})\)$|(?<=[A-Za-z])\s?\(([1-9])\)$|(?<![0-9]\^)(?<!10)([¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§])"
    r"|(?<=[\w)%\]\s.†‡§])\\?(\*{1,3})(?=[†‡§]{0,2}$)"
    r"|(?:(?<=[A-Za-z0-9)%])\^([a-z*†‡])|(?<=[A-Za-z)%]{2})\^([1-9]))$"
    r"|(?<=[\w)%^])\^([a-z1-9*†‡])\^"
)

_SEVERAL = re.compile(
    r"(?P<open><sup[^<>]*>|\[[\^#]?)(?P<signs>\s*[\w*†‡§]{1,3}(?:\s?,\s?\^?[\w*†‡§]{1,3}){1,4}\s*)"
    r"(?P<close></sup>|\]_?)"
)
"""Signs of several notes in one: `<sup>a,b</sup>`, `[1, 2]`."""


def _each_alone(text: str) -> str:
    return _SEVERAL.sub(
        lambda found: "".join(
            f"{found['open']}{sign.strip(' ^')}{found['close']}"
            for sign in found["signs"].split(",")
        ),
        text,
    )


_EMPHASIS = re.compile(r"(\*{1,3})(?=\S)([^*]+?)(?<=\S)\1")

NEAR = 6
"""Lines below a table within which a star begins a footnote of it."""

_REACH = {"star": NEAR, COUNTED: 2 * NEAR}
"""Kinds of notes that are of a table right above them alone, and how far below it they stand."""


def noted(texts: Iterable[str], notes: Mapping[str, Sequence[Note]], end: int) -> Iterator[Note]:
    """The notes that the signs in the cells of a row point to; its table ends at line `end`."""
    for text in texts if notes else ():
        if len(text) > LONGEST or not _MAY_SIGN.search(text):
            continue
        for found in _SIGNS.finditer(_each_alone(_EMPHASIS.sub(r"\2", text)).strip()):
            sign = next(filter(None, found.groups())).translate(_RAISED)
            each = notes.get(sign, ())
            at = bisect_left(each, end, key=lambda note: note.line.number)
            below = each[at] if at < len(each) else None
            if below and below.line.number <= end + _REACH.get(below.kind, below.line.number):
                yield below
            elif each and not below and each[-1].kind not in ("star", "listed", COUNTED):
                yield each[-1]


def unspoken(text: str) -> str:
    """A text with blanks for the signs that it speaks of: they point to no note of its own.

    >>> unspoken("No recomputation, except where marked with ¹."), unspoken("on two nodes¹")
    ('No recomputation, except where marked with  .', 'on two nodes¹')
    """
    return _SPOKEN.sub(lambda found: " " * len(found[0]), text) if _MAY_SIGN.search(text) else text


_SPOKEN = deferred(
    r"(?:(?<=\bwith )|(?<=\bwithout )|(?<=\bby )|(?<=\ba )|(?<=\bthe )|(?<=\bis )|(?<=\bare )"
    r"|(?<=\bhas )|(?<=\bhave )|(?<=\bsee )|(?<=\bno )|(?<=标)|(?<=标 )|(?<=标有)|(?<=标有 )"
    r"|(?<=带)|(?<=带 )|(?<=标注)|(?<=标注 ))[`\"'“]?"
    r"(?:<sup[^<>]*>[^<>]{1,6}</sup>|\[\^?[\w*†‡-]{1,12}\]|\([+#*~°†‡]{1,2}\)"
    r"|[¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§]|\\?\*{1,3}(?![\w*]))"
    r"[`\"'”]?",
    re.IGNORECASE,
)
"""A sign that a sentence is about: `marked with ¹`, `rows with a †`."""

_MAY_SIGN = re.compile(r"<sup|\[|[*¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§]|\([+#~°1-9]|\^[a-z1-9]\^?$")


def without_marks(text: str, notes: Mapping[str, Sequence[Note]], end: int) -> str:
    """A name without the signs of notes at its end, of a table that ends at line `end`.

    >>> notes = notes_below([Line(3, "* in fp16", 1, {}), Line(4, "[1] with batch 4", 1, {})])
    >>> without_marks("Qwen2-7B*", notes, 2), without_marks("r50_fpn [1]", notes, 2)
    ('Qwen2-7B', 'r50_fpn')
    >>> without_marks("A*", notes, 4), without_marks("r50 [2]", notes, 2)
    ('A*', 'r50 [2]')
    """
    if not notes or len(text) > LONGEST or not _MAY_SIGN.search(text):
        return text
    bare = text.rstrip()
    while found := _LAST_SIGN.search(bare):
        if found.start() == 0 or not any(noted([f"x{found[0].strip()}"], notes, end)):
            break
        bare = bare[: found.start()].rstrip(" ,\\")
    return bare if bare != text.rstrip() else text


_LAST_SIGN = re.compile(
    r"(?:<sup[^<>]*>\s*(?:<a[^<>]*>\s*)?[(\[]?[\w*†‡§]{1,3}[)\]]?\s*(?:</a>\s*)?</sup>"
    r"|<sup[^<>]*>[\w*†‡§]{1,3}(?:\s?,\s?[\w*†‡§]{1,3}){1,4}</sup>"
    r"|\^[a-z1-9*†‡]\^"
    r"|\s?\[\^[\w*†‡-]{1,24}\]|\s\[#?[\w*-]{1,12}(?:, ?[\w*-]{1,3}){0,4}\]_?"
    r"|\s?\([+#*~°†‡]{1,2}\)|(?<=[A-Za-z])\s?\([1-9]\)|(?<!10)[¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ†‡§]"
    r"|(?<=[A-Za-z0-9)%])\^[a-z*†‡]|(?<=[A-Za-z)%]{2})\^[1-9]"
    r"|(?<!\*)\*{1,3})$"
)
"""The sign of a note at the end of a name."""


def may_be_noted(cells: pl.DataFrame) -> bool:
    """Whether a sign of a footnote may stand in a cell of a sheet."""
    texts = cells.select(pl.col(pl.String).str.contains(_MAY_SIGN.pattern).any())
    return any(texts.row(0))


_OTHER_ROWS = deferred(
    r"\b(?:all )?(?:the |our |of the )?(?:other|remaining) (?:rows|runs|models|ones|entries|numbers"
    r"|cells|lines|configurations|results|measurements|jobs|sizes|networks)\b"
    r"|\b(?:all )?(?:the )?others\b|\beverything else\b|\ball else\b"
    r"|(?<=[;,.:(] )elsewhere\b(?!,? (?:in|on|at)\b)"
    r"|\bthe rest\b(?! of (?:the|this|its|our) (?:epoch|run|training|time|memory"
    r"|layers|step|model|page))"
    r"|其[余餘他它](?:的)?(?:各?行|模型|配置|实验|結果|结果)?[均都]?"
    r"|(?:それ|その他|他の(?:行|モデル|結果|もの|実験))(?:以外)?(?:は|では)|それ以外(?:の[^\s、。]{1,6})?は?"
    r"|나머지(?: ?(?:모델|행|결과|실험))?(?:들)?(?:은|는)?|다른 (?:모델|행|결과)(?:들)?(?:은|는)?",
    re.IGNORECASE,
)

_MARKS = (
    r"(?:foot-?notes?|notes?|marks?|marker|stars?|asterisks?|daggers?|symbols?|superscripts?|signs?"
    r"|[`\"“]?(?:[*†‡§¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ]|\[\^?[\w*†‡]{1,3}\]|<sup>[^<>]{1,4}</sup>)[`\"”]?|\\\*)"
    r"(?![\w-]| of\b)"
)

_ROWS = (
    r"(?:rows|runs|models|names|ones|entries|numbers|lines|configs|configurations|results|networks"
    r"|cases|values)"
)

_UNMARKED = deferred(
    rf"(?:\b(?:all )?(?:the )?{_ROWS} )?(?:(?:that |which )?(?:have|has|are) )?"
    rf"\b(?:without|with no|no) (?:an? |the |any |such an? )?{_MARKS}(?: (?:at|behind|beside|after"
    rf"|next to|on|in) (?:the|its|their)(?: \w+)? (?:names?|labels?|rows?))?"
    rf"|\b(?:if|when|where|wherever) (?:there is|there['’]s|a (?:row|name|model) has|the name has"
    rf"|it has) (?:no|not an?) {_MARKS}(?: (?:at|behind|beside|after|next to|on|in) "
    rf"(?:the|its|their)(?: model)? (?:names?|labels?|rows?|table))?"
    rf"|\b(?:unless|except)(?: (?:where|when|if|for (?:the |those )?(?:{_ROWS}|those|what is)"
    rf"(?: that are)?))? (?:there is |it has |a (?:row|name|model) has |with )?"
    rf"(?:(?:it is |is |are |has been )?(?:marked|flagged|denoted|indicated) (?:with|by) )?"
    rf"(?:an? |the )?{_MARKS}"
    r"(?:(?: at the name)? says? (?:otherwise|so|something else))?"
    rf"|\b(?:all )?(?:the )?un-?marked {_ROWS}"
    r"|(?:没有|無|无|不带|未带|未标(?:注|记)?|未加)(?:星号|\*|†|标记|标注|脚注|註記)?的?(?:行|模型|配置|结果|实验|項目)[均都]?"
    r"|(?:印|\*|†|※|注|アスタリスク|脚注)の?(?:ない|無い|なし(?:の)?|付いていない|ついていない)(?:行|モデル|もの|結果)は?"
    r"|(?:별표|표시|각주|\*|†)(?:가|이)? ?없는 ?(?:모델|행|항목|결과|것|실험)(?:들)?(?:은|는)?",
    re.IGNORECASE,
)
"""Rows whose names have no sign of a note: `models without an asterisk`, `별표가 없는 모델은`."""

_CLAUSE = deferred(r"[.;。；](?=\s|$)|[。；]|[(（)）]|,\s(?:but |while |whereas |and )?|，")
"""Between the clauses of a note."""


def of_other_rows(text: str) -> re.Match[str] | None:
    """Where a note on some rows begins to speak of all the others.

    >>> found = of_other_rows("With recomputation. All the other rows run without it.")
    >>> found[0] if found else None
    'All the other rows'
    """
    return _OTHER_ROWS.search(text) or _UNMARKED.search(text)


def without_others(text: str) -> str:
    """A note on some rows without the clause that is of all the others, and what follows.

    >>> without_others("gradient checkpointing (it is off for the others)")
    'gradient checkpointing '
    >>> without_others("batch 2, the rest with batch 4"), without_others("batch 2")
    ('batch 2', 'batch 2')
    """
    found = of_other_rows(text)
    if found is None:
        return text
    begins = [each.start() for each in _CLAUSE.finditer(text, 0, found.start())]
    return text[: begins[-1] if begins else found.start()]


def said_of_others(text: str) -> str:
    """The clause of a note that is of all the other rows, without the words that name these.

    >>> said_of_others("checkpointing on (it is off for the others)")
    'it is off for'
    >>> said_of_others("재계산을 켠 결과. 별표가 없는 모델은 재계산 없이 학습했습니다.")
    '재계산 없이 학습했습니다'
    >>> said_of_others("in fp16; the rest is in bf16"), said_of_others("in fp16")
    ('is in bf16', '')
    """
    found = of_other_rows(text)
    if found is None:
        return ""
    begin, end = clause_around(text, found)
    return f"{text[begin : found.start()]}{text[found.end() : end]}".strip(" ,:：、，.")


def clause_around(text: str, found: re.Match[str]) -> tuple[int, int]:
    """Where the clause of some words of a text begins and ends; what they open is of it: `for the
    others, it is off`."""
    begin = max([each.end() for each in _CLAUSE.finditer(text, 0, found.start())], default=0)
    stop = _CLAUSE.search(text, found.end())
    opens = not text[begin : found.start()].strip() and stop is not None
    if opens and stop and stop[0][0] in ",，" and not text[found.end() : stop.start()].strip():
        stop = _CLAUSE.search(text, stop.end())
    end = stop.start() if stop else len(text)
    alone = not f"{text[begin : found.start()]}{text[found.end() : end]}".strip()
    if begin and alone and _CONDITION.match(found[0]):  # `No recomputation, except with ¹.`
        before = [each.end() for each in _CLAUSE.finditer(text, 0, found.start())][:-1]
        begin = max(before, default=0)
    return begin, end


_CONDITION = deferred(r"unless|except|if|when|where", re.IGNORECASE)


def unmarked(text: str) -> re.Match[str] | None:
    """The words of a sentence on rows whose names have no sign of a note.

    >>> found = unmarked("Training is in fp32 if there is no footnote at the name.")
    >>> found[0] if found else None
    'if there is no footnote at the name'
    >>> unmarked("without notes of the meeting") and unmarked("All models are in bf16.")
    """
    return _UNMARKED.search(text)


_OF_A_SIGN = deferred(r"\s*(?:(?P<star>(?:\\\*){1,3}|\*{2,3}(?=\s))|\((?P<key>[1-9a-h])\)) ?(?=\w)")
"""How a note begins that is one by its sign, whatever rows there are."""

_BEARS_STAR = deferred(r"[\w)%.\]] ?\\?\*(?!\w)")


def unborne(lines: Sequence[Line], rows: Set[int]) -> set[int]:
    """The notes right below `rows` of a table whose sign no other line has: whose they are, nobody
    knows.

    >>> texts = "| 7B | 12 |", "", "(1) with FP8", "(2) with TP 2", "as in (2)"
    >>> unborne([Line(n, text, 1, {}) for n, text in enumerate(texts, 1)], {1})
    {3}
    """
    notes: dict[int, re.Match[str]] = {}
    last = 0  # the last line with text
    for line in lines:
        if (last in rows or last in notes) and (found := _OF_A_SIGN.match(line.text)):
            notes[line.number] = found
        last = line.number if line.text.strip() else last
    if not notes:
        return set()
    others = [line.text for line in lines if line.number not in notes]
    starred = any(map(_BEARS_STAR.search, others))
    return {
        number
        for number, found in notes.items()
        if not (starred if found["star"] else _is_borne(found["key"], others))
    }


def _is_borne(key: str, texts: Iterable[str]) -> bool:
    raised = "¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰ"["123456789abcdefgh".index(key)]
    signs = f"({key})", f"[{key}]", f"^{key}", f"^{{{key}", f">{key}<", f"[^{key}]", raised
    return any(sign in text for text in texts for sign in signs)
