"""Settings of sentences that name some of the models of a document, and not that of a row.

In: the rows of a document's tables, with what its text says of them, and its lines. Out: the same
rows, without the settings of sentences that name the models of other rows, and not theirs: `For
Sparrow we set the micro-batch to 64.` A sentence that speaks of all rows, or of the others, takes
nothing from any; one that gives each model its own value gives a row that of its model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set

from assay.ingest.binding.mentions import paragraphs_of, sizes_in
from assay.ingest.prose.scopes import in_range, meant, scoped, size_of
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred

_OF_OTHERS = deferred(
    r"\b(?:all|every\w*|each|both|others?|rest|remaining|same|any|throughout|except|apart|besides"
    r"|unless)\b|所有|全部|均|各|其[他余它]|都|すべて|全て|모든|\b(?:alle|allen|tous|toutes|todos|todas)\b",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of more rows than it names."""

_OF_THE_RUN = {"model", "model_size", "parameters", "network"}
"""Fields that a sentence gives for itself, and not to the models that it names."""


def but_for_unnamed(records: Iterable[Record], lines: Sequence[Line], tabled: Set[int]) -> None:
    """Take from rows, in place, what a sentence says that names the models of others alone."""
    rows = [each for each in records if each.tabled]
    models = {model for each in rows if (model := _called(each))}
    if len(models) < TWO or len(models) > MOST_MODELS:
        return
    held = {
        line.number: each
        for each in paragraphs_of(lines, tabled, tabled) if not each.heading for line in each.lines
    }  # fmt: skip
    for row in rows:
        model = _called(row)
        for name, cell in list(row.cells.items()):
            paragraph = held.get(cell.line) if _is_told(name, cell, row) else None
            sentence = paragraph.sentence_of(cell) if paragraph else ""
            if sentence and (apart := _APART.search(sentence)):
                if model in _named(apart["whom"], models):
                    del row.cells[name]
                    continue
                sentence = sentence[: apart.start()] + sentence[apart.end() :]
            those = _named(_beside(cell, sentence), models) if sentence else set[str]()
            own = {
                each.rows: each.value for each in scoped(sentence, models) if each.field == name
            } if those else {}  # fmt: skip
            if value := _own(own, model):
                row.cells[name] = cell._replace(text=value, scale=1.0)
            elif those and model not in those and not _OF_OTHERS.search(sentence):
                del row.cells[name]


def _own(told: Mapping[str, str], model: str) -> str | None:
    """The value that a sentence gives a model, by its name or by a range of sizes that it is of."""
    sizes = [size for each in sizes_in(model) if (size := size_of(each))]
    ranged = (
        value for rows, value in told.items() if any(in_range(size, rows) for size in sizes)
    )  # fmt: skip
    return told.get(model) or next(ranged, None)


def _called(row: Record) -> str:
    """The model of a row, or else the size that it prints; empty where it has neither."""
    model, size = row.cells.get("model"), row.cells.get("model_size")
    if model is None and size is not None and size.value_origin == "printed":
        return size.text
    return model.text if model is not None else ""


_APART = deferred(
    r"[0-9][0-9,]*[kK]?,? but [0-9][0-9,]*[kK]?(?: \w+)? (?:for|in|on|with) (?P<whom>[^;.()]{1,60})"
)
"""Behind a value of all other rows, those that have another: `TP 2, but 4 for the 30B`."""

_BRACKETS = re.compile(r"[(（][^()（）]*[)）]")


def _beside(cell: Cell, sentence: str) -> str:
    """The words of a sentence that are about a cell: what brackets add is about what is in them."""
    outside = _BRACKETS.sub(" ", sentence)
    return outside if cell.text in outside else sentence


def _named(sentence: str, models: Set[str]) -> set[str]:
    """The models that a sentence names by words of their names, or by their sizes."""
    sizes = sizes_in(sentence)
    return meant(sentence, models) | {each for each in models if sizes & sizes_in(each)}


TWO = 2

MOST_MODELS = 60
"""Models of a document, beyond which no sentence is about one."""


def _is_told(name: str, cell: Cell, row: Record) -> bool:
    """Whether the text says a setting of a row; of one whose model nobody knows, from afar."""
    near = _called(row) and cell.value_origin != "printed"
    return (
        bool(near or cell.value_origin == "assumed") and cell.state == "value" and cell.line > 0
        and cell.line != row.line and name not in _OF_THE_RUN
    )  # fmt: skip
