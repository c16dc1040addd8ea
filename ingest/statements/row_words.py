"""Settings that a row of a table says in words of its own: its labels, its remarks, its footnotes.

In: the records of tables, before anything around them is bound to them. Out: the same, with what
their words say. A setting that they speak of in words that are not understood is unknown: whatever
is said of all rows is not said of this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.ingest.columns.number_formats import OF_A_PART
from assay.ingest.columns.row_texts import device_of, own_words, spoken_in
from assay.ingest.columns.spoken_of import BATCHES
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.phrases import phrases
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

_CHANGES = deferred(
    r"\b(?:no|not|without|w/o?|off|disabled?|remov\w+|drop\w*|from|to|vs\.?|than|instead|half|halv\w+"
    r"|doubl\w+|twice|up to|or|if|when|until|above|below|oom\w*|fail\w*|needs?|except|but|while)\b"
    r"|->|→|=>|[<>≤≥~]|^\W*[-–—]\s?[A-Za-z]",
    re.IGNORECASE,
)
"""Words beside which a number is perhaps not that of the row."""

_FORCED = deferred(r"\b(?:had|has|have|needed|needs) to (?=be\b|use|run)", re.IGNORECASE)
"""Words of a row that ran otherwise than the rest because it must: `had to use a batch of 2`."""

_TELLS = deferred(
    r"\b(?:at|after|before|dies?|died|die|crash\w*|killed|hang\w*|hung|start\w*|steps?|iter\w*|epochs?"
    r"|is|was|are|were|see|same|like|this|that|only|about|around|max\w*|largest|fits?|spike\w*)\b",
    re.IGNORECASE,
)
"""Words of a remark in a cell that tells of a run, and does not set it: `dies at batch 37`."""

_IN_FORMAT = deferred(
    rf"\W*({NUMBER_FORMAT})(?=\W*$|\s*[(,;+&]|\s+(?:with|training|autocast|mixed|compute|recipe"
    r"|linears?|linear layers?|gemms?|mat-?muls?)\b)",
    re.IGNORECASE,
)
"""A label that begins with the format that its row ran in: `fp8 (TE, hybrid)`."""

_ON_EACH = deferred(
    r"\W*(?:(?:with|at|only|just|here|ran|run|used|batch(?:es)?|of) )*([0-9]{1,4}) "
    r"(?:per|on each|to a) (?:GPU|device|card|rank)(?: (?:fit(?:s|ted)?|here|only|now|works|worked"
    r"|possible|in this (?:run|row|case)|instead))*\W*",
    re.IGNORECASE,
)
"""A remark that is how much each device took at once, and nothing else: `only 2 per GPU fitted`."""

SETTINGS = {
    "gpu", "gpus", "nodes", "gpus_per_node", "dtype", "seq_len", "tp", "pp", "dp", "cp", "ep", "vp",
    "micro_batch", "global_batch", "global_batch_tokens", "batch_size", "accumulation",
    "zero_stage", "recompute", "activation_checkpointing",
}  # fmt: skip
"""Fields that a row's own words settle; its model has columns of its own."""


SAME_FACT = {
    "nodes": ("gpus",), "gpus": ("nodes",),
    "model_size": ("parameters",), "parameters": ("model_size",),
    "recompute": ("activation_checkpointing",), "activation_checkpointing": ("recompute",),
}  # fmt: skip
"""A row that prints one of these needs no statement about the other."""


def settle(rows: Iterable[Record]) -> None:
    """Fill in what the words of rows say of their settings; unknown is what they leave open.

    Rows come from the top down: `+ fp8` and, below it, `+ larger batch` both ran in fp8.
    """
    added: dict[str, Cell] = {}
    last = 0
    for row in rows:
        if not row.tabled:
            continue
        labels = [text for label, text in row.other if label != "column"][:2]
        if len(labels) > 1 and _NUMBERED.fullmatch(labels[0]):
            labels = labels[1:]  # `| 3 | + fused kernels |`
        goes_on = _ADDS.match("".join(labels[:1])) is not None or any(
            _ADDED_UP.search(n) for n, _ in row.other
        )
        if not goes_on or row.line > last + FAR:
            added = {}
        last = row.line
        said = _said(row)
        for name, cell in {**added, **said}.items():
            held = row.cells.get(name)
            if held is None or (held.value_origin == "stated" and held.line < row.line):
                row.cells[name] = cell
        if goes_on:
            own = {n: c for n, c in row.cells.items() if n in SETTINGS and c.state == "value"}
            added |= {
                name: cell._replace(state="unknown") for name, cell in {**own, **said}.items()
            }


_NUMBERED = re.compile(r"\W*(?:[Ss]tep |#|[Vv])?[0-9]{1,2}(?:\.[0-9])?\W*|[(]?[A-Za-z][.)]?")
"""The number of a row, in front of its label."""

_ADDS = deferred(
    r"\W*?(?:\+(?!\s*[0-9.,]+ ?(?:%|x|×)?\)?\s*$)|…|\.\.\.|&|↳|└|⊕"
    r"|\b(?:and|plus|then|also|additionally)\b)\s*\S",
    re.IGNORECASE,
)
"""A label of what its row has beside what the rows above it have: `+ fp8`, and no gain: `+16%`."""

_ADDED_UP = deferred(r"\bcumulativ|\bincremental|\baccumulated changes|累[积加计]", re.IGNORECASE)

FAR = 8
"""Lines between two rows of one table at most."""


def _said(record: Record) -> dict[str, Cell]:
    """Cells of what the words of a row say, but for fields that it prints."""
    found: dict[str, Cell] = {}
    sized = any(name in record.cells for name in BATCHES)
    device = device_of(record)
    for words in own_words(record):
        line, own = words.line, words.own
        spoken = spoken_in(words, device) - (frozenset(BATCHES) if sized else frozenset())
        if not spoken:
            continue
        held = sized or record.alike is not None
        if own and not held and (each := _ON_EACH.fullmatch(line.text)):
            cell = Cell(each[1], line.number, line.column + each.start(1), value_origin="stated")
            found.setdefault("micro_batch", cell)
        for part in _parts(line) if own and record.alike is None else ():
            if _CHANGES.search(_FORCED.sub(" ", part.text)):
                continue
            if line.number == record.line and _TELLS.search(part.text):
                continue
            for name, cell in _understood(part).items():
                if line.number != record.line:
                    cell = cell._replace(value_origin="stated")  # noqa: PLW2901
                if name not in record.cells and not (sized and name in BATCHES):
                    found.setdefault(name, cell)
        named = only(line.text) if "gpu" in spoken else None
        spoken -= {other for name in found for other in SAME_FACT.get(name, ())}
        for name in spoken - record.cells.keys() - found.keys():
            text = named.text.partition(".")[0] if named and name == "gpu" else line.text
            found[name] = Cell(text, line.number, line.column, state="unknown")
    return found


def _parts(line: Line) -> Iterator[Line]:
    """The parts of a text between its commas, each of which may say a setting."""
    begin = 0
    for end in _COMMA.finditer(line.text):
        yield line._replace(text=line.text[begin : end.start()], column=line.column + begin)
        begin = end.end()


_COMMA = deferred(r"[,;，；、](?:\s+|(?=[^\d\s]))|$")


def _understood(line: Line) -> dict[str, Cell]:
    found = {name: cell for name, cell in phrases(line, least=1).items() if name in SETTINGS}
    if "gpu" in found and (device := only(found["gpu"].text)):
        found["gpu"] = found["gpu"]._replace(text=device.text)
    if "dtype" not in found and (kind := _IN_FORMAT.match(line.text) or _in_brackets(line.text)):
        found["dtype"] = Cell(kind[1], line.number, line.column + kind.start(1))
    return found


_FORMAT_BEHIND = deferred(rf"[^()\[\]]*\w[^()\[\]]*[(\[]({NUMBER_FORMAT})(?:[)\]]\s*)?")

_OF_GRADIENTS = deferred(
    r"\bgrad(?:ient)?s?\.? (?:accumulation|checkpointing)|\bactivation checkpointing", re.IGNORECASE
)

_OF_ONE_PART = deferred(
    r"\b(?:\w*adam\w*|lamb|lion|muon|adafactor|sgd|attn|attention|kernels?|gemms?|kv|rope|scores?"
    r"|experts?|dispatch|gather|scatter|comms?|collectives?)\b",
    re.IGNORECASE,
)


def _in_brackets(text: str) -> re.Match[str] | None:
    """The format in brackets behind what a row is called, where that is no part of a run: `Vanilla
    training (fp32)`."""
    found = _FORMAT_BEHIND.fullmatch(text)
    before = _OF_GRADIENTS.sub(" ", text[: found.start(1)]) if found else ""
    return None if OF_A_PART.search(before) or _OF_ONE_PART.search(before) else found
