"""The one model that the author of a document says to train, for rows of which nothing nearer says
what they train.

In: the lines of a document. Out: a cell with the model, where a sentence says that its author
trains or adapts it, and every line of the document that names a model by such a name names this
one; or with the family of models of which its title says that its runs are, and no line names
another. None where a second one is named, or the document is a thread of several authors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from assay.ingest.columns.titles import families_in, family_of_page, model_named
from assay.ingest.grids.grid import LONGEST
from assay.ingest.prose.only_device import THREAD
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred

LAW = "the one model that the document says to train"

OF_FAMILY = "the one family of models that the document names, in its title"

_TRAINED = deferred(
    r"\b(?:I|we|my task was|our task was)\b(?P<how>[^.;:!?]{0,40}?)"
    r"\b(?:adapt|fine-?tun|pre-?train|post-?train|train|specialis|specializ|extend|align|distil)"
    r"(?:e|l|ed|ing)?"
    r" (?:(?:a|an|the|my|our|plain|whole|pretrained) ){0,2}[`*_]{0,2}(?=[A-Za-z0-9])",
    re.IGNORECASE,
)
"""How a sentence says which model its author trains, in front of its name."""

_OTHERWISE = re.compile(
    r"\b(?:not|never|n['’]t|cannot|could|can|would|will|(?-i:may)|might|should|if|before|previous\w*|earlier"
    r"|once|later|next|plan\w*|also|instead|than|last (?:post|time|article|part))\b",
    re.IGNORECASE,
)
"""Words of a sentence that is perhaps of other runs."""

_ENDS = re.compile(r"[.;!?](?: |$)")


def only_model(lines: Sequence[Line], tabled: Set[int]) -> Cell | None:
    """The one model of a document, `tabled` being rows of its tables; its cell is one by `LAW`.

    >>> texts = ["Last week we had to fine-tune BERT-large for contracts.", "| 12 | 3.1 |"]
    >>> lines = [Line(n, text, 1, {}) for n, text in enumerate(texts, 1)]
    >>> only_model(lines, {2}).text, only_model([*lines, Line(3, "T5-base is small.", 1, {})], {2})
    ('BERT-large', None)
    """
    told: list[Cell] = []
    for line in lines:
        if line.number not in tabled and len(line.text) <= LONGEST:
            if THREAD.search(line.text):
                return None
            told += [cell] if (cell := _trained(line)) else []
    if not told:
        return _family(lines)
    named = (model_named(line.text) for line in lines if len(line.text) <= LONGEST)
    names = {name.casefold() for name in [*named, *(cell.text for cell in told)] if name}
    return told[0] if len(names) == 1 else None


def _family(lines: Sequence[Line]) -> Cell | None:
    """The family that the title of a document names and no line of it another, or a model.

    >>> lines = [Line(n, text, 1, {}) for n, text in enumerate(["# GPT2 Experiments", "12 s"], 1)]
    >>> _family(lines).text, _family([*lines, Line(3, "Unlike GPT-3, it fits.", 1, {})])
    ('GPT2', None)
    """
    title = next((line for line in lines if _TITLE.match(line.text)), None)
    family = family_of_page(title.text) if title else None
    if family is None or title is None:
        return None
    own = family.replace("-", "").replace(" ", "").casefold()
    for line in lines:
        text = _OF_WORDS.sub(" ", line.text[:LONGEST])
        if (
            model_named(text)
            or _SIZED_HEADING.match(text)
            or any(not own.startswith(each) for each in families_in(text))
        ):
            return None
    return Cell(family, title.number, title.column + title.text.index(family), law=OF_FAMILY)


_TITLE = re.compile(r"# \S")

_OF_WORDS = re.compile(
    r"\b[\w/.:-]{0,80}(?:vocab|merges|[Tt]okenizer|BPE|bpe)[\w.-]*"
    r"|\b[\w.-]{1,30}[ -]tokenizer\b"
)
"""Names of what splits a text into tokens, by the model that it was made for: `gpt2-vocab.json`."""

_SIZED_HEADING = re.compile(r"#{2,6} (?:[0-9.]{1,6} )?[0-9]{1,4}(?:\.[0-9]{1,2})?[BM]\b")
"""A heading of a size: those of one family, and perhaps what is none."""


def _trained(line: Line) -> Cell | None:
    """The model that a sentence of a line says its author trains."""
    found = _TRAINED.search(line.text)
    if found is None:
        return None
    begin = max((end.end() for end in _ENDS.finditer(line.text, 0, found.start())), default=0)
    end = _ENDS.search(line.text, found.end())
    sentence = line.text[begin : end.start() if end else None]
    model = None if _OTHERWISE.search(sentence) else model_named(sentence)
    if model is None or not line.text.startswith(model, found.end()):
        return None
    return Cell(model, line.number, line.column + found.end(), law=LAW)
