"""Jupyter notebooks as lines of output: what was printed, and which line of the file it stands in.

In: the lines of an `.ipynb` file, whole or cut short. Out: `Shown` values: the text of one output
line, its place, its kind (`text`, `html`, `plain`) and the output it belongs to. Sources are not
output.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from assay.ingest.schema.record import Line
from assay.ingest.source.pages import page
from assay.ingest.source.soft_wraps import rejoined

KEYS = {"text": "text", "text/html": "html", "text/plain": "plain"}

_KEY = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*:\s*(.*)$')

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

_OPENED = re.compile(
    r'\s*(?:"(?:outputs|data)"\s*:\s*(?:\[\s*)?)?\{(?:\s*"[\w/]{1,40}"\s*:\s*'
    r'(?:"[^"\\]{0,80}"|\{[^{}]{0,200}\}|[0-9]{1,9}|null)\s*,){0,6}'
    r'\s*(?:"data"\s*:\s*\{\s*)?"(source|text|text/html|text/plain)"\s*:\s*(.*)$'
)
"""A cell or an output that is opened on one line, or its data, with the keys before that of its
lines."""

_CELL = re.compile(r'\s*\{?\s*"cell_type"\s*:\s*"(\w+)"')

_ENDS = re.compile(r"\s*\][\]},\s]*")
"""The end of a list of lines, and of what it stands in."""


def _key(text: str) -> re.Match[str] | None:
    """The key whose value begins in a line."""
    return _OPENED.match(text) or _KEY.match(text)


class Shown(NamedTuple):
    """One line of output; `output` counts the outputs of the notebook."""

    number: int
    column: int
    text: str
    kind: str
    output: int


def is_notebook(lines: Sequence[Line]) -> bool:
    """Whether the lines are the JSON of a notebook.

    >>> is_notebook([Line(1, '{"cells": []}', 1, {})])
    True
    """
    head = "".join(line.text for line in lines[:3]).replace(" ", "")
    return head.startswith("{") and any('"cells"' in line.text for line in lines[:50])


def outputs(lines: Sequence[Line]) -> list[Shown]:
    """Every line of every output, in order; strings on lines of their own, as notebooks are saved.

    A notebook saved on one line is read as one document, with the line that holds it.
    """
    shown = list(_by_line(lines))
    return shown if shown else list(_whole(lines))


def _by_line(lines: Sequence[Line]) -> Iterator[Shown]:
    kind, output = "", 0
    for line in lines:
        if '"output_type"' in line.text or line.text.strip() in ('"data": {', '"data":{'):
            output += 1
        key = _key(line.text)
        rest, at = line.text, 0
        if key:
            kind = KEYS.get(key[1], "")
            rest, at = key[2], key.start(2)
        for string in _STRING.finditer(rest) if kind else ():
            for text in _decoded(string[0]).splitlines():
                yield Shown(line.number, line.column + at + string.start(), text, kind, output)
        if (
            kind
            and rest.strip().rstrip(",").endswith(("]", "}"))
            and not _STRING.fullmatch(rest.strip().rstrip(","))
        ):
            kind = ""


def _decoded(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


_BETWEEN = 10_000
"""Characters between two outputs of a notebook on one line that are looked through."""


def _whole(lines: Sequence[Line]) -> Iterator[Shown]:
    """Outputs of a notebook whose strings do not stand on lines of their own."""
    try:
        document = json.loads("\n".join(line.text for line in lines))
    except (ValueError, RecursionError):
        return
    cells: list[dict[str, Any]] = document.get("cells", []) if isinstance(document, dict) else []
    cells = [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    outputs = [output for cell in cells for output in cell.get("outputs") or ()]
    held = [output for output in outputs if isinstance(output, dict)]
    at = 0
    for number, output in enumerate(held):
        for name, value in {**(output.get("data") or {}), "text": output.get("text", "")}.items():
            text = "".join(map(str, value)) if isinstance(value, list) else value
            if name in KEYS and isinstance(text, str):
                for part in text.splitlines():
                    printed = json.dumps(part)[1:-1]
                    near = at + len(printed) + _BETWEEN
                    at = max(lines[0].text.find(printed, at, near), at + 1)
                    yield Shown(lines[0].number, at, part, KEYS[name], number)


def markdown_cells(lines: Sequence[Line]) -> list[Line]:
    """The text of every Markdown cell, each line where it stands in the file, and each paragraph
    that was broken at some width (`soft_wraps`) where it begins.

    One that is saved on one line has no such lines: what it says stands there already (`carriers`).
    """
    found: list[Line] = []
    kind, inside = "", False
    for line in lines:
        key = _key(line.text)
        rest, at = line.text, 0
        if key:
            kind = cell[1] if (cell := _CELL.match(line.text)) else kind
            inside = key[1] == "source" and kind == "markdown"
            rest, at = key[2], key.start(2)
        if not inside:
            continue
        for string in _STRING.finditer(rest):
            for text in _decoded(string[0]).splitlines():
                column = line.column + at + string.start() + 1
                found.append(Line(line.number, text, column, line.prefix))
        if rest.strip().rstrip(",}").endswith("]") and not _STRING.fullmatch(rest.strip(" ,")):
            inside = False
            found.append(Line(line.number, "", line.column, line.prefix))
    texts, _ = rejoined(_as_pages([line.text for line in found]))
    return [line._replace(text=text) for line, text in zip(found, texts, strict=True)]


def _as_pages(texts: Sequence[str]) -> Sequence[str]:
    """The lines of Markdown cells with their headings in one spelling, as those of a page."""
    data = "\n".join(texts).encode("utf-8", "surrogateescape")
    spelled = page(data)
    return spelled(data).decode("utf-8", "surrogateescape").split("\n") if spelled else texts


def above_outputs(lines: Sequence[Line]) -> dict[int, int]:
    """The line at which the outputs of a cell begin, for each line of its code that stands below
    them in the file: keys are saved in alphabetical order, and code runs before it prints."""
    found: dict[int, int] = {}
    begun, inside = 0, False
    for line in lines:
        key = _key(line.text)
        if key and key[1] == "cell_type":
            begun, inside = 0, False
        elif key and key[1] == "outputs":
            begun = line.number
        elif key and key[1] == "source":
            inside = begun > 0
        if inside:
            found[line.number] = begun
            inside = line.text.strip() not in ("]", "],")
    return found


def written(lines: Sequence[Line]) -> list[Line]:
    """The lines of a notebook with what its Markdown cells say in the place of their strings."""
    said = defaultdict[int, list[Line]](list)
    for line in markdown_cells(lines):
        if line.text:
            said[line.number].append(line)
    return [each for line in lines for each in said.get(line.number, (line,))]


def printed(lines: Sequence[Line]) -> list[Line]:
    """The lines that outputs printed as text, which carriers have put there (`carriers`), each
    output between two empty lines; what an output shows as HTML above that is left to it."""
    found: list[Line] = []
    inside, html = False, False
    for line in lines:
        if key := _key(line.text):
            html = key[1] == "text/html" or (html and key[1] not in ("data", "source", "text"))
            inside = key[1] in KEYS and not html and key[2].strip() == "["
        elif inside and _ENDS.fullmatch(line.text):
            inside = False
        elif inside:
            found.append(line)
            continue
        if found and found[-1].text:
            found.append(Line(line.number, "", line.column, line.prefix))
    return found
