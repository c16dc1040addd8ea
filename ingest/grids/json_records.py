"""JSON documents as grids: lists of objects, data frames, objects by name, lines of objects.

In: the lines of a document that is JSON from end to end, or in each of its lines, or between
fences. Out: a `Grid` for each table in it, wherever it stands: a list of objects (one a row, its
keys the columns), a frame of `columns` and `data`, an object of lists of the same length or of
columns by row, objects of the same keys by the names of rows; and the document itself, where it is
one flat object. Objects inside the object of a row are flattened, their keys joined by points
(`config.tp`); numbers keep their digits. Lists and lines that count steps are a log, no table.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

from assay.ingest.grids.grid import MOST_PLACES, Grid, GridCell, GridRow
from assay.ingest.grids.value_blocks import of_results
from assay.ingest.schema.format import uncompressed
from assay.ingest.schema.record import Line
from assay.ingest.vocabulary.terms import COUNTERS, configured_by, normalise

LARGEST = 8 * 2**20
"""Characters of a document beyond which it is a recording, no table."""

DEEPEST = 3
"""Objects inside each other whose keys are labels."""

SPARSEST = 16
"""Places for each cell that is written beyond which objects share too few keys to be a table."""

_BLANK = " \t\r\n"

_READER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)


def named_json(name: str) -> bool:
    """Whether an input is called a JSON document, compressed or not."""
    return uncompressed(name).endswith(".json")


def begins_json(lines: Sequence[Line]) -> bool:
    """Whether lines may be those of a document, or of an object each."""
    return bool(lines) and lines[0].text.lstrip(_BLANK + "\ufeff")[:1] in ("{", "[")


def json_records(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table of a document, in order; nothing of what is no JSON."""
    if not lines or sum(len(line.text) + 1 for line in lines) > LARGEST:
        return
    text = "\n".join(line.text for line in lines)
    if not text.strip(_BLANK + "\ufeff"):
        return
    starts = [0, *accumulate(len(line.text) + 1 for line in lines)]
    place = _Place(lines, starts)
    try:
        found = list(_tables(text))
    except (ValueError, RecursionError, IndexError):  # it ends inside a value
        return
    for table in found:
        heads = list(dict.fromkeys(key for row in table.rows for key in row.cells))
        written = sum(len(row.cells) for row in table.rows)
        if len(heads) < 2 or len(heads) * len(table.rows) > MOST_PLACES + SPARSEST * written:
            continue
        first = place.at(table.begin)
        head = GridRow(place.line(table.begin), tuple(GridCell(key, *first) for key in heads))
        rows = tuple(_row(row, heads, place) for row in table.rows)
        end = bisect_right(starts, table.end - 1)
        begin = bisect_right(starts, table.begin) - 1
        remark: Literal["", "alone"] = "alone" if table.alone else ""
        yield Grid("json", begin, end, (head,), rows, remark=remark, exact=False)


_FENCE = re.compile(r"\s{0,8}(?:```|~~~)(?:json(?:l|c|lines)?|ndjson)?\s*", re.IGNORECASE)

_CLOSED = re.compile(r"\s{0,8}(?:```|~~~)\s*")


def fenced_records(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table of results between the fences of a text; settings of a run are no table."""
    at = 0
    while at < len(lines):
        begin = at = at + 1
        if not _FENCE.fullmatch(lines[at - 1].text) or not begins_json(lines[begin : begin + 1]):
            continue
        while at < len(lines) and not _CLOSED.fullmatch(lines[at].text):
            at += 1
        for grid in json_records(lines[begin:at]):
            if of_results([label.rpartition(".")[2] for label in grid.header()]):
                yield replace(grid, begin=grid.begin + begin, end=grid.end + begin)


class _Cell(NamedTuple):
    text: str
    at: int  # in the text of the document


@dataclass(frozen=True)
class _Row:
    begin: int
    cells: Mapping[str, _Cell]  # by label


class _Table(NamedTuple):
    begin: int
    end: int
    rows: Sequence[_Row]
    alone: bool = False  # whether it is one object, as a file of settings is


@dataclass(frozen=True)
class _Place:
    """Lines and columns of places in the text."""

    lines: Sequence[Line]
    starts: Sequence[int]

    def line(self, place: int) -> Line:
        return self.lines[bisect_right(self.starts, place) - 1]

    def at(self, place: int) -> tuple[int, int]:
        number = bisect_right(self.starts, place) - 1
        return self.lines[number].number, self.lines[number].column + place - self.starts[number]


def _tables(text: str) -> Iterator[_Table]:
    """Every table of a document, or of lines of one object each."""
    begin = _past(text, 0)
    value, end = _READER.raw_decode(text, begin)
    behind = _past(text, end)
    if behind < len(text):  # a line of its own for each object
        rows = []
        while begin < len(text):
            value, end = _READER.raw_decode(text, begin)
            if not isinstance(value, dict):
                return
            rows.append(_object(text, begin, value))
            begin = _past(text, end)
            if len(rows) in EARLY and _history(rows):  # of many lines the first ones tell
                return
        if not _history(rows):
            yield _Table(_past(text, 0), end, rows)
        return
    found = list(_inside(text, begin, value, DEEPEST))
    yield from found
    if not found and isinstance(value, dict) and not _counts(value):
        yield _Table(begin, end, [_object(text, begin, value)], alone=True)


def _inside(text: str, begin: int, value: Any, depth: int) -> Iterator[_Table]:
    """The tables of a value that begins there: itself, or those of its keys."""
    _, end = _READER.raw_decode(text, begin)
    if isinstance(value, list):
        if value and all(isinstance(each, dict) for each in value):
            items = _items(text, begin)
            yield _Table(begin, end, [_object(text, at, each) for at, each in items])
        return
    if not isinstance(value, dict):
        return
    rows = _frame(text, begin, value) or _columns(text, begin, value) or _named(text, begin, value)
    if rows:
        yield _Table(begin, end, rows)
    elif depth:
        for _, at, each in _entries(text, begin):
            if isinstance(each, (dict, list)):
                yield from _inside(text, at, each, depth - 1)


def _frame(text: str, begin: int, value: dict[str, Any]) -> list[_Row]:
    """The rows of `{"columns": [...], "data": [[...], ...]}`, as data frames are split."""
    labels, data = value.get("columns"), value.get("data")
    if not isinstance(labels, list) or not isinstance(data, list) or not data:
        return []
    if not all(isinstance(row, list) and len(row) == len(labels) for row in data):
        return []
    (at,) = (at for key, at, _ in _entries(text, begin) if key == "data")
    names = [str(each) for each in labels]
    rows = []
    for first, _ in _items(text, at):
        cells = zip(names, _items(text, first), strict=True)
        rows.append(_Row(first, {name: _Cell(_said(each), at) for name, (at, each) in cells}))
    return rows if len(set(names)) == len(names) else []


def _columns(text: str, begin: int, value: dict[str, Any]) -> list[_Row]:
    """The rows of an object of columns: lists of one length, or objects whose keys count rows."""
    inner = list(value.values())
    if len(inner) < 2 or not all(isinstance(each, (list, dict)) for each in inner):
        return []
    if _counts(value) or len({len(each) for each in inner}) > 1 or not inner[0]:
        return []
    flat = (each.values() if isinstance(each, dict) else each for each in inner)
    if any(isinstance(cell, (list, dict)) for each in flat for cell in each):
        return []
    keys = {tuple(each) for each in inner if isinstance(each, dict)}
    if len(keys) > 1 or not all(key.isdecimal() for each in keys for key in each):
        return []
    if keys and any(isinstance(each, list) for each in inner):
        return []
    rows: list[dict[str, _Cell]] = [{} for _ in inner[0]]
    for label, at, each in _entries(text, begin):
        places = _items(text, at) if isinstance(each, list) else (
            (place, cell) for _, place, cell in _entries(text, at)
        )  # fmt: skip
        for row, (place, cell) in zip(rows, places, strict=True):
            row[label] = _Cell(_said(cell), place)
    return [_Row(min(cell.at for cell in row.values()), row) for row in rows]


def _named(text: str, begin: int, value: dict[str, Any]) -> list[_Row]:
    """The rows of an object of objects of the same keys: a row each, by its name."""
    inner = list(value.values())
    if len(inner) < 2 or not all(isinstance(each, dict) and each for each in inner):
        return []
    if any(each.keys() != inner[0].keys() for each in inner):
        return []
    rows = []
    for name, at, each in _entries(text, begin):
        quoted = text.rfind('"', begin, text.rfind(":", begin, at))
        own = _object(text, at, each).cells
        if "name" in own or not any(cell.text for cell in own.values()):
            return []
        rows.append(_Row(at, {"name": _Cell(name, max(begin, quoted - len(name))), **own}))
    return rows


def _counts(labels: Iterable[str]) -> bool:
    """Whether a label counts steps: what it stands beside is a history."""
    return any(normalise(label) in COUNTERS for label in labels)


def _history(rows: Sequence[_Row]) -> bool:
    """Whether lines of objects count steps; the steps that each of several runs took are no count
    where every line says in settings of its own which run it is."""
    counted = {label for row in rows for label in row.cells if _counts([label])}
    if not counted:
        return False
    every = set.intersection(*(set(row.cells) for row in rows))
    settings = {label for label in every if configured_by(label.rpartition(".")[2])}
    told = [{row.cells[label].text for row in rows} for label in settings - counted]
    differing = [texts for texts in told if len(texts) > 1]
    if len(settings) < SETTINGS or (len(rows) > 1 and not differing):
        return True
    if any(not any(map(_COUNT.fullmatch, texts)) for texts in differing):
        return False  # several models, devices, formats
    for label in counted:
        counts = [float(row.cells[label].text) for row in rows
                  if label in row.cells and _COUNT.fullmatch(row.cells[label].text)]  # fmt: skip
        if counts and len(rows) > 1 and all(one < other for one, other in pairwise(counts)):
            return True
    return False


EARLY = (1, 16)
"""Lines after which it is looked whether they count steps."""

_COUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")

SETTINGS = 2
"""Settings that each line has where lines are of several runs; one at least differs."""


def _entries(text: str, begin: int) -> Iterator[tuple[str, int, Any]]:
    """Key, place of the value and value of each entry of the object that begins there."""
    at = _past(text, begin + 1)
    while text[at] != "}":
        key, at = _READER.raw_decode(text, at)
        at = _past(text, _past(text, at) + 1)
        value, end = _READER.raw_decode(text, at)
        yield key, at, value
        at = _past(text, end)
        at = _past(text, at + 1) if text[at] == "," else at


def _items(text: str, begin: int) -> Iterator[tuple[int, Any]]:
    """Place and value of each item of the list that begins there."""
    at = _past(text, begin + 1)
    while text[at] != "]":
        value, end = _READER.raw_decode(text, at)
        yield at, value
        at = _past(text, end)
        at = _past(text, at + 1) if text[at] == "," else at


def _past(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK + "\ufeff":
        at += 1
    return at


def _object(text: str, begin: int, value: dict[str, Any]) -> _Row:
    """A row of the values of an object; each stands where its value does."""
    cells, at = {}, begin
    for path, key, said in _flat(value, "", DEEPEST):
        quoted = json.dumps(key, ensure_ascii=False)
        found = text.find(quoted, at)
        at = _past(text, text.find(":", found + len(quoted)) + 1) if found >= 0 else at
        cells[path] = _Cell(said, at)
    return _Row(begin, cells)


def _flat(value: dict[str, Any], above: str, depth: int) -> Iterator[tuple[str, str, str]]:
    for key, each in value.items():
        if isinstance(each, dict) and depth:
            yield from _flat(each, f"{above}{key}.", depth - 1)
        elif not isinstance(each, (dict, list)):
            yield f"{above}{key}", key, _said(each)


def _said(value: Any) -> str:
    return "" if value is None else str(value)


def _row(row: _Row, heads: Sequence[str], place: _Place) -> GridRow:
    """A row with a cell under every label."""
    own = place.at(row.begin)
    cells = tuple(
        GridCell(row.cells[key].text, *place.at(row.cells[key].at)) if key in row.cells
        else GridCell("", *own)
        for key in heads
    )  # fmt: skip
    return GridRow(place.line(row.begin)._replace(column=own[1]), cells)
