"""Runs that train adapters alone, the weights of the model frozen: LoRA and what follows it.

In: the cells of a row, the headings and lines above its table. Out: the cell that says so. Such a
run makes no gradients of the frozen weights, two thirds of the arithmetic of one that trains them
all; a text that names both kinds says nothing of one row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.captions import is_caption
from assay.ingest.types import Cell, Line, Record

FIELD = "trained_part"

_ADAPTERS = re.compile(
    r"(?<![A-Za-z0-9])(?:[a-z]{1,2}-?)?(?:lora|dora)(?![A-Za-z])|(?<![A-Za-z0-9])peft(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?<![A-Za-z])(?:full|sft|pre-?train(?:ing|ed)?)(?![A-Za-z])", re.IGNORECASE)
_BESIDE = re.compile(
    r"(?<![A-Za-z])(?:no|non|not|without|w/o|unlike|vs|versus|than)(?![A-Za-z])", re.IGNORECASE
)
_NONE = re.compile(r"(?:0|no|none|false|off|full|n/?a|[-–—✗✘❌×\s])*", re.IGNORECASE)
_HEADING = re.compile(r"\s*(#{1,6})\s")
_STATED = re.compile(
    r"\b(?:us(?:es?|ed|ing)|with|via)\s+\W{0,2}(?:(?:q-?)?lora|dora|peft)\b"
    r"|^[\s>*+_`-]*(?:method|task|tuning|training|recipe|mode)\b[^:|]{0,24}:",
    re.IGNORECASE,
)


def named(text: str) -> str | None:
    """The adapters that a text names as what is trained; None where it names more than them.

    >>> named("Finetuning (LoRA)"), named("QLoRA r=8"), named("LoRA vs full"), named("Explora 2")
    ('LoRA', 'QLoRA', None, None)
    """
    found = {match[0].casefold(): match[0] for match in _ADAPTERS.finditer(text)}
    alone = len(found) == 1 and not _WHOLE.search(text) and not _BESIDE.search(text)
    return next(iter(found.values())) if alone else None


def mark(record: Record) -> None:
    """Note in a row that it trains adapters, if one of its cells or columns says so."""
    texts = [(name, cell.text) for name, cell in record.cells.items() if name in ("model", "notes")]
    for label, text in [*texts, *record.other]:
        held = named(text) or (None if _NONE.fullmatch(text) else named(label))
        if held and not _WHOLE.search(text):
            record.cells[FIELD] = Cell(held, record.line, record.column)
            return


def trains_all(record: Record) -> bool:
    """Whether a row says that it trains every weight, or is one of pre-training."""
    texts = [cell.text for name, cell in record.cells.items() if name in ("model", "notes")]
    return any(_WHOLE.search(text) for text in [*texts, *(text for _, text in record.other)])


def above(titles: Sequence[Line], lines: Sequence[Line]) -> dict[str, Cell]:
    """What the lines above a table say of all its rows, else the headings, the nearest first."""
    for line in [*reversed(lines), *reversed(titles)]:
        said = _ADAPTERS.search(line.text) or _WHOLE.search(line.text)
        speaks = _HEADING.match(line.text) or is_caption(line) or _STATED.search(line.text)
        if said and speaks:
            return _cell(line)
    return {}


def _cell(line: Line) -> dict[str, Cell]:
    held = named(line.text)
    at = (line.number, line.column)
    return {FIELD: Cell(held, *at, value_origin="context")} if held else {}


def nested(titles: Sequence[Line], heading: Line) -> list[Line]:
    """The headings a line stands under, once `heading` stands above it too."""
    return [each for each in titles if _depth(each) < _depth(heading)] + [heading]


def _depth(line: Line) -> int:
    found = _HEADING.match(line.text)
    return len(found[1]) if found else 7
