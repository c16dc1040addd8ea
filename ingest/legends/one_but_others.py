"""Settings of the rows of one model that a text gives otherwise to all others: `XXL needs full
remat on 16 chips, the other rows are without remat`.

In: the records of tables, and the lines of their document. Out: the same rows, with what such a
sentence says of the rows of the model that it names, on as many devices as it says, and of the
others of the same section; and these sentences. Where no row is of that model, or all are, it says
nothing: nobody knows then which rows are the others.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.composite import named
from assay.ingest.columns.footnotes import clause_around, of_other_rows, said_of_others
from assay.ingest.columns.other_runs import sentences
from assay.ingest.legends.label_signs import (
    AGAIN,
    Explanation,
    give,
    paragraphs,
    placed,
    settings_of,
)
from assay.ingest.schema.record import Line, Record
from assay.ingest.schema.terminals import deferred

_ONE = deferred(
    r"\W*(?:(?:only|the|just) ){0,2}(?P<name>[\w.-]{2,20}(?: [\w.-]{1,12}){0,2}?)(?: models?)?"
    r" (?:needs|uses|has|takes|requires|needed|used|had|took|required|(?:runs|ran|is run|was run"
    r"|is|was|trains|was trained) (?:with|in))"
    r" (?P<what>[^,;]{3,80}?)"
    r"(?: on (?P<n>[0-9]{1,5}) (?:chips|GPUs|cards|devices|NPUs|accelerators|GCDs))?[ ,;:.(]*",
    re.IGNORECASE,
)
"""A clause on one model, and how many devices it was on."""

_TAGS = deferred(r"</?[a-z]{1,6}>")


class _Saying(NamedTuple):
    name: str
    devices: float
    one: Mapping[str, str]
    others: Mapping[str, str]
    said: Explanation


def tell(
    records: Sequence[Record], lines: Sequence[Line]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows, in place, what is said of one model and of all others; the lines that said it, and
    the sentences, which are of no other rows."""
    rows = [row for row in records if row.tabled and row.alike is None]
    used, explained = set[int](), list[Explanation]()
    sayings = list(_sayings(lines)) if rows else []
    heads = [line.number for line in lines if _HEADING.match(line.text)] if sayings else []
    for saying in sayings:
        section = bisect_right(heads, saying.said.line)
        here = [row for row in rows if bisect_right(heads, row.line) == section]
        mine = [row for row in here if _is_of(row, saying)]
        if not 0 < len(mine) < len(here):
            continue
        own = {id(row) for row in mine}
        for row in here:
            give(row, saying.one if id(row) in own else saying.others)
        used.add(saying.said.line)
        explained.append(saying.said)
    return used, explained


_HEADING = deferred(r"#{1,6} |<h[1-6]\b", re.IGNORECASE)


def _is_of(row: Record, saying: _Saying) -> bool:
    """Whether a row is of the model, and on as many devices, as a sentence says."""
    model, count = row.cells.get("model"), row.cells.get("gpus")
    called = re.split(r"[\s_/-]+", model.text.casefold()) if model else []
    words = re.split(r"[\s_/-]+", saying.name.casefold())
    found = bool(called) and any(
        called[at : at + len(words)] == words for at in range(len(called) - len(words) + 1)
    )
    return found and (
        not saying.devices or (count is not None and number_of(count) == saying.devices)
    )


def _sayings(lines: Sequence[Line]) -> Iterator[_Saying]:
    """Sentences of a document on one model and all others."""
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        at = 0
        for sentence in sentences(text) if of_other_rows(text) else ():
            begin, at = at, at + len(sentence)
            bare = _TAGS.sub(lambda tag: " " * len(tag[0]), sentence)
            other = of_other_rows(bare)
            first = clause_around(bare, other)[0] if other else 0
            one = _ONE.fullmatch(_BLANKS.sub(" ", bare[:first]))
            own = _settings(one["what"]) if one else {}
            rest = _settings(said_of_others(bare)) if own else {}
            if one and own and {*map(_fact, own)} == {*map(_fact, rest)}:
                places = tuple(placed(paragraph, begin, at))
                count = float(one["n"] or 0)
                yield _Saying(one["name"], count, own, rest, Explanation({}, places[0][0], places))


_BLANKS = deferred(r"\s+")


def _fact(name: str) -> str:
    return AGAIN[0] if name in AGAIN else name


def _settings(text: str) -> Mapping[str, str]:
    """Settings that a clause says, in words or as code."""
    bare = text.strip(" `,.;:")
    return settings_of(bare) or named(bare) or settings_of(_IS.sub("", bare))


_IS = deferred(r"^(?:(?:is|are|was|were|run|ran|go|do|have|trained|all) )+", re.IGNORECASE)
