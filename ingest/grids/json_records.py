"""Lists of JSON objects as grids: one object a row, its keys the columns.

In: the lines of a document that is JSON from end to end. Out: a `Grid` for each list of objects in
it, at the top or as the value of a key. Objects inside an object are flattened, their keys joined
by points (`config.tp`); numbers keep their digits. Lines of one object each are a log, not a table.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.schema.format import uncompressed
from assay.ingest.schema.record import Line

LARGEST = 8 * 2**20
"""Characters of a document beyond which it is a recording, no table."""

DEEPEST = 3
"""Objects inside each other whose keys are labels."""

_BLANK = " \t\r\n"

_READER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)


def named_json(name: str) -> bool:
    """Whether an input is called a JSON document, compressed or not."""
    return uncompressed(name).endswith(".json")


def json_records(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every list of objects of a document, in order; nothing of what is no JSON."""
    if not lines or sum(len(line.text) + 1 for line in lines) > LARGEST:
        return
    text = "\n".join(line.text for line in lines)
    if text.lstrip(_BLANK + "\ufeff")[:1] not in ("[", "{"):
        return
    starts = [0, *accumulate(len(line.text) + 1 for line in lines)]
    try:
        found = list(_lists(text))
    except (ValueError, RecursionError, IndexError):  # it ends inside a value
        return
    for begin, end, objects in found:
        heads = list(dict.fromkeys(key for _, each in objects for key in each))
        if len(heads) < 2:
            continue
        rows = tuple(_row(text, at, each, heads, lines, starts) for at, each in objects)
        first = _at(begin, lines, starts)
        labels = tuple(GridCell(key, *first) for key in heads)
        head = GridRow(lines[bisect_right(starts, begin) - 1], labels)
        last = bisect_right(starts, end - 1)
        yield Grid("json", bisect_right(starts, begin) - 1, last, (head,), rows, exact=False)


_Objects = list[tuple[int, dict[str, tuple[str, str]]]]
"""Where each object begins, and what it says: label → its last key, the text of its value."""


def _lists(text: str) -> Iterator[tuple[int, int, _Objects]]:
    """Begin, end and objects of each list: of the document itself, or of a key of it."""
    at = _past(text, 0)
    if text[at] == "[":
        objects, end = _objects(text, at)
        if objects:
            yield at, end, objects
        return
    at = _past(text, at + 1)
    while at < len(text) and text[at] == '"':
        _, at = _READER.raw_decode(text, at)
        at = _past(text, _past(text, at) + 1)
        if text[at] == "[":
            objects, end = _objects(text, at)
            if objects:
                yield at, end, objects
            at = end
        else:
            _, at = _READER.raw_decode(text, at)
        at = _past(text, at)
        at = _past(text, at + 1) if text[at : at + 1] == "," else len(text)


def _objects(text: str, begin: int) -> tuple[_Objects, int]:
    """The objects of a list with where each begins, and the end of it; none where it has others."""
    found: _Objects = []
    at, alone = _past(text, begin + 1), True
    while text[at] != "]":
        value, end = _READER.raw_decode(text, at)
        alone = alone and isinstance(value, dict)
        if alone:
            found.append((at, {path: (key, said) for path, key, said in _flat(value, "", DEEPEST)}))
        at = _past(text, end)
        at = _past(text, at + 1) if text[at] == "," else at
    return found if alone else [], at + 1


def _past(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK + "\ufeff":
        at += 1
    return at


def _flat(value: dict[str, Any], above: str, depth: int) -> Iterator[tuple[str, str, str]]:
    for key, each in value.items():
        if isinstance(each, dict) and depth:
            yield from _flat(each, f"{above}{key}.", depth - 1)
        elif not isinstance(each, (dict, list)):
            yield f"{above}{key}", key, "" if each is None else str(each)


def _row(
    text: str,
    begin: int,
    held: dict[str, tuple[str, str]],
    heads: Sequence[str],
    lines: Sequence[Line],
    starts: Sequence[int],
) -> GridRow:
    """A row of the values of an object under every key; each stands where its value does."""
    places, at = {}, begin
    for path, (key, _) in held.items():
        quoted = json.dumps(key, ensure_ascii=False)
        found = text.find(quoted, at)
        at = _past(text, text.find(":", found + len(quoted)) + 1) if found >= 0 else at
        places[path] = _at(at, lines, starts)
    own = _at(begin, lines, starts)
    cells = tuple(GridCell(held.get(key, ("", ""))[1], *places.get(key, own)) for key in heads)
    line = lines[bisect_right(starts, begin) - 1]
    return GridRow(line._replace(column=own[1]), cells)


def _at(place: int, lines: Sequence[Line], starts: Sequence[int]) -> tuple[int, int]:
    """Line and column of a place in the text, both from 1."""
    number = bisect_right(starts, place) - 1
    return lines[number].number, lines[number].column + place - starts[number]
