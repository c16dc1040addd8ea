"""Columns under a header: a line of labels, and below it lines with a number for each of them.

In: lines and where to look. Out: a `Found` for each line of numbers, its labels those of the
header. Blanks part the columns, or bars; a line that leaves one empty has the others where the
header has them. What follows behind the columns may be a progress bar, as YOLO prints them. The
table that a trainer shows in a notebook is one of HTML; each row of it is a `Found`, as long as its
cells are on lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.formats.steps.step_pairs import Pair, Said, said, values
from assay.ingest.formats.steps.step_shapes import Found
from assay.ingest.formats.steps.step_words import meaning
from assay.ingest.schema.format import Reach
from assay.ingest.schema.record import Line

_HEADER = (
    r"(?i:\b(?:epochs?|steps?|iter(?:ation)?s?)(?:\t|\s{2,}|\s*[|│┃])"
    r"(?:[^:={]*\b)?(?:[a-z_/ ]*loss|tok[a-z]*/s|time|lr)\b[^:={]*$)"
)

_PLAIN = (
    r"(?:^|[\]:] )(?:epoch|step|iter(?:ation)?|it)(?: (?:epoch|step|iter|batch|[a-z_]*loss"
    r"|iteration|lr|g(?:rad_?)?norm|acc(?:uracy)?|ppl|[a-z_]*time|dt|ms|[a-z_]*tok[a-z_]*/s|[a-z_]*mem|mfu|tflops"
    r"|[a-z_]*(?:time|dt|mem)[_(](?:m?s|sec|[gm]i?b)\)?)){2,}\s*$"
)
"""Labels with single blanks between them: `epoch iter loss time`."""

_SHOWN = r"<th[^<>]*>\s*(?:[Ss]tep|[Ee]poch|[Ii]ter(?:ation)?)s?\s*</th>"

COLUMN_HEADS = {
    f"{_HEADER}|{_PLAIN}": Reach(1_000_000),
    _SHOWN: Reach(1_000_000, "</table>"),
}
"""Headers of columns; what stands below one belongs to it as far as its columns go."""

_HEADS = re.compile(_HEADER)

_PLAIN_HEADS = re.compile(_PLAIN)

_TABLE = re.compile(_SHOWN)

_TAGS = re.compile(r"<(?P<tag>t[hd])\b[^<>]*>(?P<cell>[^<>]*)</t[hd]>|<(?P<row>tr|/table)\b")
"""Cells of a table of HTML, what begins a row, and the end."""

_LABELS = re.compile(r"[^\s|│┃]+(?:\s[^\s|│┃]+)*")

_CELLS = re.compile(r"[^\s|│┃]+")

_RULE = re.compile(r"[^\w]*$")

_BAR_BEHIND = re.compile(r":\s+[0-9]{1,3}%\s?\|")

LEAST_LABELS = 3


def columns_at(lines: Sequence[Line], at: int) -> tuple[list[Found], int]:
    """The lines of numbers under the header at a line, and where they end; none without one."""
    head = lines[at]
    if "<th" in head.text and _TABLE.search(head.text):
        return _shown(lines, at)
    plain = _PLAIN_HEADS.match(head.text)
    if not plain and not _HEADS.search(head.text):
        return [], at
    parted = (_CELLS if plain else _LABELS).finditer(head.text)
    labels = [(cell[0], _span(head, *cell.span())) for cell in parted]
    known = [what for label, _ in labels if (what := meaning(label))]
    counts = any(what.field in ("step", "epoch") for what in known)
    if len(labels) < LEAST_LABELS or not counts or not any(what.training for what in known):
        return [], at
    found: list[Found] = []
    for end in range(at + 1, len(lines)):
        if not found and _RULE.match(lines[end].text):
            continue
        row = _row(lines[end], labels)
        if row is None:
            return found, end
        found.append(row)
    return found, len(lines)


def _shown(lines: Sequence[Line], at: int) -> tuple[list[Found], int]:
    """The rows of a table of HTML whose header begins at a line, and where it ends."""
    labels: list[str] = []
    found: list[Found] = []
    row: list[tuple[str, int, Line]] = []
    for end in range(at, len(lines)):
        for tag in _TAGS.finditer(lines[end].text):
            if tag["tag"] == "th":
                labels.append(tag["cell"].strip())
            elif tag["tag"]:
                row.append((tag["cell"].strip(), tag.start("cell"), lines[end]))
            else:
                found += _in_html(row, labels)
                row = []
                if tag["row"] == "/table":
                    return found, end + 1 if found else at
    found += _in_html(row, labels)
    return found, len(lines) if found else at


def _in_html(row: Sequence[tuple[str, int, Line]], labels: Sequence[str]) -> list[Found]:
    """A row as what it says of a step; nothing where its header counts none, or names no loss."""
    known = [what for label in labels if (what := meaning(label))]
    counts = any(what.field in ("step", "epoch") for what in known)
    if len(row) != len(labels) or not (counts and any(what.field == "loss" for what in known)):
        return []
    places = [
        (pair, line)
        for (text, begin, line), label in zip(row, labels, strict=True)
        for pair in values(label, text, begin)
    ]
    on = list({line.number: line for _, _, line in row}.values())
    return [Found(on, Said(tuple(pair for pair, _ in places), "columns"), places, block=True)]


Label = tuple[str, tuple[int, int]]


def _span(line: Line, begin: int, end: int) -> tuple[int, int]:
    return line.column + begin, line.column + end


def _row(line: Line, labels: Sequence[Label]) -> Found | None:
    """A line of numbers, each under its label; None where it is none."""
    bar = _BAR_BEHIND.search(line.text)
    text = line.text[: bar.start()] if bar else line.text
    cells = [(cell[0], cell.start(), cell.end()) for cell in _CELLS.finditer(text)]
    pairs: list[Pair] = []
    for label, cell in _placed(line, cells, labels) or ():
        pairs += values(label, *cell)
    if len(pairs) < LEAST_LABELS or sum(not pair.total for pair in pairs) < len(cells):
        return None
    if bar is None:
        return Found([line], Said(tuple(pairs), "columns"), [(pair, line) for pair in pairs])
    begin = bar.start() + 1
    behind = said(line.text[begin:])
    for pair in behind.pairs if behind and behind.form == "bar" else ():
        pairs.append(pair._replace(start=pair.start + begin))
    return Found([line], Said(tuple(pairs), "bar"), [(pair, line) for pair in pairs])


def _placed(
    line: Line, cells: Sequence[tuple[str, int, int]], labels: Sequence[Label]
) -> list[tuple[str, tuple[str, int]]] | None:
    """Cells under their labels: one each in order, or where they stand; None where neither fits."""
    if len(cells) == len(labels):
        return [(label, cell[:2]) for (label, _), cell in zip(labels, cells, strict=True)]
    for side in (0, 1):
        known = {span[side]: label for label, span in labels}
        under = [known.get(_span(line, *cell[1:])[side]) for cell in cells]
        if all(under) and len(set(under)) == len(cells) >= LEAST_LABELS:
            return [(label or "", cell[:2]) for label, cell in zip(under, cells, strict=True)]
    return None
