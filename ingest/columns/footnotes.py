"""Footnotes of tables: signs behind labels and in rows, and what the lines below say of them.

In: the lines of a document, and the cells of a row. Out: what the notes say, by their signs; and of
a row the notes that its signs point to. `[^a]`, `¹`, `<sup>1</sup>`, `*`, `†`, `(+)` and `[1]_`
are signs. A star is one only where a line right below its table begins with it: elsewhere it is a
bullet.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

_FOOTNOTE = re.compile(
    r"[\s>*+-]*(?:<(?:p|li|small|div)[^<>]*>\s*)?"
    r"(?:<sup>\s*([0-9a-z*†‡]{1,2})\s*</sup>|\[\^?([0-9a-z*†‡]{1,2})\]:?|([¹²³⁴-⁹†‡§]{1,2}))"
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
            found.setdefault(next(filter(None, note.groups())), note[4])
    return found


_NOTE = re.compile(
    r"(?P<lead>[\s>#]*(?:[*+-]\s+)?(?:\.\.\s+)?(?:<(?!sup\b)[^<>]*>\s*)*)"
    r"(?:<sup[^<>]*>\s*(?:<a[^<>]*>\s*)?[(\[]?(?P<raised>[\w*†‡§]{1,3})[)\]]?\s*(?:</a>\s*)?</sup>"
    r"|\[\^(?P<named>[\w*†‡-]{1,24})\]|\[#?(?P<listed>[\w*-]{1,12})\](?=:|\s)"
    r"|\((?P<bracketed>[+#*~°†‡]{1,2})\)|(?P<sign>[¹²³⁴-⁹†‡§]{1,2})|\\?(?P<star>\*{1,3}|\\\*{1,3})(?![*\w]*\*))"
    r"[\s:.)=]*(?P<text>[^\s*].{3,400})"
)

_RAISED = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹", "123456789")

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
    """
    found: dict[str, list[Note]] = {}
    for line in lines:
        if _MAY_MARK.search(line.text) and len(line.text) <= LONGEST:
            for told in _MARKED.finditer(line.text):
                part = "inner" if told["inner"] else "rest"
                said = line._replace(text=told[part], column=line.column + told.start(part))
                found.setdefault(told["sign"].translate(_RAISED), []).append(Note(said, WITHIN))
        if _MAY_NOTE.match(line.text) and len(line.text) <= LONGEST:
            note = _NOTE.fullmatch(line.text.rstrip())
            kind = note.lastgroup and next(k for k in _KINDS if note[k]) if note else None
            if note and kind and not (kind == "star" and note["text"].endswith("*")):
                sign = note[kind].replace("\\", "").translate(_RAISED)
                plain = _TAGS.sub(lambda tag: " " * len(tag[0]), note["text"]).rstrip()
                said = line._replace(text=plain, column=line.column + note.start("text"))
                found.setdefault(sign, []).append(Note(said, kind))
    return found


WITHIN = "within"
"""Kind of a note that is a part of a line which says more."""

_MAY_MARK = re.compile(r"[\w,(] [`\"'“]?[¹²³⁴-⁹†‡§]")

_MARKED = re.compile(
    r"\b(?:mark(?:ed|s)?|flagged|denoted|labell?ed|rows?|runs?|models?|entries|ones|those|numbers)"
    r"(?: (?:with|by|as))?(?: an?| the)? [`\"'“]?(?P<sign>[¹²³⁴-⁹†‡§])[`\"'”]?"
    r"(?:\s*[(（](?P<inner>[^()（）]{4,160})[)）]|(?:\s*[:,=–—]\s*|\s+)(?P<rest>[^.;。；\s(](?:[^.;。；]|\.(?=\S))"
    r"{4,200}\.?))",
    re.IGNORECASE,
)
"""A sentence that says what a sign stands for: `unless marked with † (two nodes, 16 GPUs)`."""

_KINDS = ("raised", "named", "listed", "bracketed", "sign", "star")

_MAY_NOTE = re.compile(r"[\s>#+.-]*(?:[<\[*\\¹²³⁴-⁹†‡§]|\([+#*~°†‡])")

_SIGNS = re.compile(
    r"<sup[^<>]*>\s*(?:<a[^<>]*>\s*)?[(\[]?([\w*†‡§]{1,3})[)\]]?\s*(?:</a>\s*)?</sup>"
    r"|\[\^([\w*†‡-]{1,24})\]|\[#?([\w*-]{1,12})\]_?(?=\W*$)"
    r"|\(([+#*~°†‡]{1,2})\)$|(?<![0-9]\^)(?<!10)([¹²³⁴-⁹†‡§])|(?<=[\w)%\]\s.])\\?(\*{1,3})$"
)

_EMPHASIS = re.compile(r"(\*{1,3})(?=\S)([^*]+?)(?<=\S)\1")

NEAR = 6
"""Lines below a table within which a star begins a footnote of it."""


def noted(texts: Iterable[str], notes: Mapping[str, Sequence[Note]], end: int) -> Iterator[Note]:
    """The notes that the signs in the cells of a row point to; its table ends at line `end`."""
    for text in texts if notes else ():
        if len(text) > LONGEST or not _MAY_SIGN.search(text):
            continue
        for found in _SIGNS.finditer(_EMPHASIS.sub(r"\2", text).strip()):
            sign = next(filter(None, found.groups())).translate(_RAISED)
            each = notes.get(sign, ())
            at = bisect_left(each, end, key=lambda note: note.line.number)
            below = each[at] if at < len(each) else None
            if below and (below.kind != "star" or below.line.number <= end + NEAR):
                yield below
            elif each and not below and each[-1].kind not in ("star", "listed"):
                yield each[-1]


_MAY_SIGN = re.compile(r"<sup|\[|[*¹²³⁴-⁹†‡§]|\([+#~°]")


def may_be_noted(cells: pl.DataFrame) -> bool:
    """Whether a sign of a footnote may stand in a cell of a sheet."""
    texts = cells.select(pl.col(pl.String).str.contains(_MAY_SIGN.pattern).any())
    return any(texts.row(0))


_OTHER_ROWS = deferred(
    r"\b(?:all )?(?:the |our |of the )?(?:other|remaining) (?:rows|runs|models|ones|entries|numbers"
    r"|lines|configurations|results|measurements|jobs|sizes)\b"
    r"|\ball (?:the )?others\b|\beverything else\b"
    r"|其[余他](?:行|模型|配置|实验|结果)?[均都]?",
    re.IGNORECASE,
)


def of_other_rows(text: str) -> re.Match[str] | None:
    """Where a note on some rows begins to speak of all the others.

    >>> found = of_other_rows("With recomputation. All the other rows run without it.")
    >>> found[0] if found else None
    'All the other rows'
    """
    return _OTHER_ROWS.search(text)
