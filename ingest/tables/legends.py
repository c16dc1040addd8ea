"""Abbreviations that a document explains, for the labels and the products of its tables.

In: the lines of a document. Out: labels with what they stand for, and the fields of the factors of
a product in cells (`d x m x p`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Line
from assay.ingest.vocabulary.terms import configured_by
from assay.ingest.vocabulary.words import said

_LEGEND = re.compile(
    r"[\s>*+-]*`?\*{0,2}([A-Za-z][A-Za-z0-9_]{1,11})\*{0,2}`?\s*(?::|=|--|–|—|\bis\b|\bmeans\b)\s*(?!\d)(.{4,80})"
)
"""A word and what it stands for, which is no number: a log says `step: 2/5100` in every line."""


_FACTORS = re.compile(r"\W*([a-z](?: ?[x×] ?[a-z]){1,3})\W*")

_FACTOR = re.compile(r"\W*([a-z])\W*:\s*([A-Za-z][\w -]+)")


def factors(lines: Sequence[Line]) -> tuple[str, ...]:
    """Fields that a legend gives the factors of a product: `d x m x p`, and each letter below it.

    >>> said = ["- **d x m x p**:", "- d: data-parallel-size", "- m: tensor-parallel-size"]
    >>> said += ["- p: pipeline parallel"]
    >>> factors([Line(n, text, 1, {}) for n, text in enumerate(said)])
    ('dp', 'tp', 'pp')
    """
    for at, line in enumerate(lines):
        if not (found := _FACTORS.fullmatch(line.text)):
            continue
        letters = re.findall("[a-wyz]", found[1])
        said = [_FACTOR.fullmatch(each.text) for each in lines[at + 1 : at + 1 + 2 * len(letters)]]
        told = {each[1]: configured_by(each[2].strip()) for each in said if each}
        names = tuple(told.get(letter) or "" for letter in letters)
        if all(names):
            return names
    return ()


def legend(lines: Sequence[Line]) -> dict[str, str]:
    """Abbreviations that a document explains with a quantity: `tpgps`: tokens per GPU per second.

    >>> legend([Line(1, "  - `tpgps`: tokens per GPU per second", 1, {})])
    {'tpgps': 'tokens per GPU per second'}
    >>> legend([Line(1, "`d x m x p` is data x tensor(model) x pipeline parallelism", 1, {})])
    {'d x m x p': 'DP x TP x PP'}
    """
    found: dict[str, str] = {}
    for line in lines:
        if len(line.text) > LONGEST:
            continue
        found |= _letters(line.text)
        if (match := _LEGEND.fullmatch(line.text.rstrip(" .;"))) and said(match[2]):
            found.setdefault(match[1], match[2])
    return found


_COMPOSED = re.compile(r"(?<![A-Za-z0-9])[a-z](?:\s?[x×/]\s?[a-z]){1,3}(?![A-Za-z0-9])")

_KINDS = {
    "data": "DP", "tensor": "TP", "model": "TP", "pipeline": "PP", "context": "CP", "expert": "EP",
}  # fmt: skip


def _letters(text: str) -> dict[str, str]:
    """A label of single letters that a line explains, one kind of parallelism for each."""
    found = _COMPOSED.search(text)
    if found is None:
        return {}
    words = re.findall("|".join(_KINDS), text[found.end() :], re.IGNORECASE)
    kinds = list(dict.fromkeys(_KINDS[word.casefold()] for word in words))
    letters = re.findall("[a-z]", found[0].replace(" x ", " ").replace("×", " "))
    return {found[0]: " x ".join(kinds)} if len(kinds) == len(letters) else {}
