"""Blocks of lines that are one record: a head of counts, or a dictionary, and what stands below.

In: lines and where to look. Out: a `Found` of several lines, or None. A block holds one label and
value a line: `[step=10/739328,epoch=0]` with `    train/CrossEntropyLoss=9.5` below it,
`step: 100` with `loss: 5.1`, or a dictionary that is written over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.formats.steps.step_pairs import Pair, Said, said
from assay.ingest.formats.steps.step_shapes import LEAST, Found
from assay.ingest.formats.steps.step_words import meaning, words
from assay.ingest.schema.format import Reach
from assay.ingest.schema.record import Line

LONGEST = 120
"""Lines of a block."""
_LONGEST_HEAD = 200  # characters

_COUNTS = (
    r"(?:[A-Za-z_]*(?:batch|step|iter(?:ation)?|epoch)\w*\s*[=: ]\s*[0-9,]+(?:/[0-9,]+)?[\s,|;]*)+"
)

_HEAD = re.compile(rf"^\s*\[?\s*(?P<counts>{_COUNTS})\]?\s*:?\s*$", re.IGNORECASE)
"""A line that holds nothing but counts."""

_LOGGED_HEAD = re.compile(
    rf"^\S[^\[\]]*\s\[\s*(?P<counts>{_COUNTS})(?:eta=[^\[\]]*)?\]\s*$", re.IGNORECASE
)
"""One that ends with counts in brackets, behind what a logger prints."""

_BODY = re.compile(r"^\s*[-|*]?\s*[A-Za-z][^:=|]{0,70}(?:\([^()]*\))?\s*[:=]\s*\S[^:=]{0,40}$")

_DICT = re.compile(r"^\s*\{\s*(['\"])[^'\"]+\1:\s*[^{}\[\]]+,\s*$")

_DICT_BODY = re.compile(r"^\s*(['\"])[^'\"]+\1:\s*[^{}]+?(?P<end>\}?),?\s*$")

BLOCK_HEADS = {
    r"(?:[Bb]atch|[Ss]tep|[Ii]ter(?:ation)?)\s?[=: ]\s?[0-9,]+(?:/[0-9,]+)?"
    r"(?:[,;\s]+epoch\s?[=:]\s?[0-9./]+)?(?:,eta=[^\[\]]*)?\]?:?\s*$": Reach(LONGEST),
    r"\{\s*['\"][A-Za-z_/ .-]+['\"]: *[0-9.eE+-]+, *$": Reach(LONGEST, r"\}\s*$"),
}
"""Beginnings of blocks, and how many lines may belong to one."""


def block_at(lines: Sequence[Line], at: int) -> Found | None:
    """The block that begins at a line; None where none does."""
    head = lines[at]
    if len(head.text) > _LONGEST_HEAD:
        return None
    if "{" in head.text and _DICT.match(head.text):
        return _dictionary(lines, at)
    counts = _HEAD.match(head.text) or _LOGGED_HEAD.match(head.text)
    if counts is None:
        return None
    what = said(counts["counts"])
    if what is None or any(meaning(p.label) is None for p in what.pairs):
        return None
    shift = counts.start("counts")
    places = [(pair._replace(start=pair.start + shift), head) for pair in what.pairs]
    held = [head]
    for line in lines[at + 1 : at + LONGEST]:
        if not _goes_on(held[-1], line) or not _BODY.match(line.text):
            break
        if _HEAD.match(line.text) and _first_label(line.text) == _first_label(head.text):
            break
        more = said(line.text)
        if more is not None and len(more.pairs) > 2:
            break
        held.append(line)  # or a word under a label
        places += [(pair, line) for pair in more.pairs] if more else []
    return _block(held, places)


def _dictionary(lines: Sequence[Line], at: int) -> Found | None:
    """A dictionary over several lines, to its closing brace."""
    held = [lines[at]]
    places: list[tuple[Pair, Line]] = []
    for line in lines[at + 1 : at + LONGEST]:
        body = _DICT_BODY.match(line.text)
        if body is None or not _goes_on(held[-1], line):
            return None
        held.append(line)
        if body["end"]:
            break
    else:
        return None
    for line in held:
        more = said(line.text.replace("{", " ", 1) if line is held[0] else line.text)
        places += [(pair, line) for pair in more.pairs] if more else []
    return _block(held, places)


def _block(held: list[Line], places: list[tuple[Pair, Line]]) -> Found | None:
    if len(held) < LEAST:
        return None
    fields = {found.field for pair, _ in places if (found := meaning(pair.label, pair.behind))}
    if not fields & {"loss", "validation_loss"} or "step" not in fields:
        return None
    return Found(held, Said(tuple(pair for pair, _ in places), "block"), places, block=True)


def _goes_on(last: Line, line: Line) -> bool:
    """Whether a line stands right below another of the same rank."""
    below = line.number in (last.number, last.number + 1)
    return below and line.prefix.get("rank") == last.prefix.get("rank")


def _first_label(text: str) -> tuple[str, ...]:
    """The words before the first number of a line."""
    return words(re.split("[0-9]", text, maxsplit=1)[0])
