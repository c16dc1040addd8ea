"""Number formats that a legend gives a column of yes and no: `` `amp` is float16, else float32``.

In: the records of tables, and the paragraphs of their document. Out: the same rows, with the format
that the legend of such a column says of its yes or of its no. A legend begins with the label of the
column; what it does not say of one of the two is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from assay.ingest.columns.format_columns import OFF, ON
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

_BEGINS = deferred(
    r"\s*(?:(?:[-*+•]|[0-9]{1,2}[.)])\s+)?"
    r"(?:the )?(?P<marks>[`*\"“_]{0,3})(?P<label>[A-Za-z][\w ./-]{0,24}?)"
    r"(?P<end>[`*\"”_]{0,3}:?[`*]{0,2})(?: column)?"
    r"(?:\s*[:=–—]|\s-\s|\s(?:is|means|says|stands for|marks|denotes|tells)\b|(?<=:)|(?<=:\*\*))",
    re.IGNORECASE,
)
"""The label that a sentence explains."""

_KINDS = deferred(rf"(?<![A-Za-z0-9])(?:full |plain )?({NUMBER_FORMAT})(?![A-Za-z0-9])")

_OFF_SAID = deferred(
    r"(?:(?:an? |the )?[`\"“'](?:no|off|false|0|none|-|–|✗|✘|❌)[`\"”']"
    r"|(?:no|off|false|✗|✘|❌)(?=\s?[=:→])"
    r"|\b(?:otherwise|else|without(?: it)?|if (?:it is )?(?:not|off)|when (?:it is )?off"
    r"|the others?|(?:where|when) not)\b)[^.;]{0,60}",
    re.IGNORECASE,
)
"""Words on rows that have it off, and what they say of these."""

_ENDED = re.compile(r"(?<=[.。])\s+(?=[A-Z`*])")

LONGEST = 300
"""Letters of a sentence of a legend."""


def tell(records: Iterable[Record], paragraphs: Iterable[Sequence[Line]]) -> set[int]:
    """Give rows, in place, the formats that legends say of their switches; the lines that did."""
    rows = [row for row in records if row.tabled and row.alike is None and _open(row)]
    labels = {label.casefold() for row in rows for label, text in row.other if _is_switch(text)}
    used = set[int]()
    legends = dict[str, tuple[Mapping[bool, str], int]]()
    for paragraph in paragraphs if labels else ():
        for label, told in _legends(" ".join(line.text for line in paragraph)):
            if label in labels:
                legends.setdefault(label, (told, paragraph[0].number))
    for row in rows if legends else ():
        for label, text in row.other:
            told, number = legends.get(label.casefold(), ({}, 0))
            if _is_switch(text) and (kind := told.get(_bare(text) in ON)):
                row.cells["dtype"] = Cell(kind, row.line, row.column, value_origin="stated")
                used.add(number)
    return used


def _open(row: Record) -> bool:
    """Whether a row prints no number format; its switch alone is none."""
    held = row.cells.get("dtype")
    return held is None or held.state == "unknown"


def _bare(text: str) -> str:
    return text.strip(" `*_").casefold()


def _is_switch(text: str) -> bool:
    return bool(_bare(text)) and _bare(text) in ON | OFF


def _legends(text: str) -> Iterable[tuple[str, Mapping[bool, str]]]:
    """Labels that sentences of a paragraph explain, with the formats of their yes and no.

    >>> [*_legends('- **AMP**: float16 autocast; a "no" stands for fp32')]
    [('amp', {True: 'float16', False: 'fp32'})]
    >>> [*_legends("`amp` is `torch.autocast` with bf16, else all is float32. `ckpt` is slow.")]
    [('amp', {True: 'bf16', False: 'float32'})]
    >>> [*_legends("`amp` is explained elsewhere; fp16 or bf16 is used.")]
    []
    """
    for sentence in _ENDED.split(text):
        begins = _BEGINS.match(sentence) if len(sentence) <= LONGEST else None
        if begins is None:
            continue
        meant = sentence[begins.end() :]
        off = _OFF_SAID.search(meant)
        kinds = {
            True: _KINDS.findall(meant[: off.start()] + ";" + meant[off.end() :] if off else meant),
            False: _KINDS.findall(off[0]) if off else [],
        }
        told = {on: each[0] for on, each in kinds.items() if len(set(each)) == 1}
        if told:
            yield begins["label"].casefold(), told
