"""Tables of per-layer estimates in three dresses: CSV, HTML, and the wrapped text of a data frame.

In: lines of a document or of a notebook's output. Out: a `Table`: header and rows as text with the
place of every cell, and the lines it takes. Nothing is typed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

from assay.ingest.source.notebook import Shown

NAMES = ("layer", "name")
"""Labels of the column that names the layer, always the first after the index."""

PROOF = ("flops_fwd", "flops_bwd")

MISSING = ("", "NaN", "None", "nan", "<NA>")


class Text(NamedTuple):
    """The text of a cell and where it stands."""

    text: str
    number: int
    column: int


@dataclass
class Table:
    """Header labels and rows; every row has the cells of the header, the index left out."""

    number: int
    labels: list[str]
    rows: list[list[Text]] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    odd: list[tuple[int, int, int]] = field(default_factory=list)  # line, column, cells: refused
    size: int = 1  # how many of the lines given it takes


def is_header(labels: Sequence[str]) -> bool:
    """Whether labels are those of a per-layer table.

    >>> is_header(["layer", "flops_fwd"]), is_header(["name", "price"])
    (True, False)
    """
    return bool(labels) and labels[0] in NAMES and any(name in labels for name in PROOF)


def csv_table(lines: Sequence[Shown], at: int) -> Table | None:
    """The CSV table whose header is line `at`: an unnamed index column, then the labels."""
    labels = lines[at].text.strip().split(",")  # the index has no label, or pandas' own
    if len(labels) < 3 or not is_header(labels[1:]):
        return None
    table = Table(lines[at].number, labels[1:], lines={lines[at].number})
    for line in lines[at + 1 :]:
        if not re.match(r"\s*[0-9]+,", line.text):
            break
        cells, begin = [], 0
        for part in line.text.rstrip("\n").split(","):
            cells.append(Text(part.strip(), line.number, line.column + begin))
            begin += len(part) + 1
        _add(table, cells[1:], line)
        table.size += 1
    return table


def _add(table: Table, cells: list[Text], line: Shown) -> None:
    if len(cells) == len(table.labels):
        table.rows.append(cells)
        table.lines.add(line.number)
    else:
        table.odd.append((line.number, line.column, len(cells)))


class _Rows(HTMLParser):
    """Cells of one HTML table, row by row, with the line each begins on."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[Text]] = []
        self.line: Shown | None = None
        self.cell: list[str] | None = None
        self.done = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows and self.line:
            self.cell = []
            at = self.line.column + self.getpos()[1]
            self.rows[-1].append(Text("", self.line.number, at))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None:
            self.rows[-1][-1] = self.rows[-1][-1]._replace(text="".join(self.cell).strip())
            self.cell = None
        elif tag == "table":
            self.done = True

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)


def html_table(lines: Sequence[Shown], at: int) -> Table | None:
    """The HTML table that begins on line `at`; a row cut by the end of the input is left out."""
    parser, used = _Rows(), []
    for line in lines[at:]:
        if line.kind != "html" or parser.done:
            break
        parser.line = line
        parser.feed(line.text + "\n")
        used.append(line)
    rows = [row for row in parser.rows if row]
    labels = [cell.text for cell in rows[0][1:]] if rows else []
    if not is_header(labels):
        return None
    whole = rows[1:] if parser.done else rows[1:-1]
    table = Table(used[0].number, labels, lines={line.number for line in used}, size=len(used))
    for row in whole:
        if len(row) == len(labels) + 1:
            table.rows.append(row[1:])
        else:
            table.odd.append((row[0].number, row[0].column, len(row) - 1))
    return table


def plain_table(lines: Sequence[Shown], at: int) -> Table | None:
    """The printed data frame that begins on line `at`: blocks of columns, the index repeated.

    Columns are set flush right under their labels; a block that goes on ends its header in `\\`.
    """
    first = _labels(lines[at].text)
    if not first or first[0][0] not in NAMES:
        return None
    table = Table(lines[at].number, [])
    begin, held = at, list[list[Text]]()
    while at < len(lines) and (labels := _labels(lines[at].text)):
        block = _block(lines, at, [end for _, end in labels])
        if table.labels and len(block) != len(held):
            break
        table.labels += [label for label, _ in labels]
        held = [old + new for old, new in zip(held, block, strict=True)] if held else block
        table.lines |= {line.number for line in lines[at : at + len(block) + 1]}
        goes_on = lines[at].text.rstrip().endswith("\\")
        at += len(block) + 1
        table.size = at - begin
        while at < len(lines) and not lines[at].text.strip():
            at += 1
        if not goes_on:
            break
    table.rows = held
    return table if is_header(table.labels) and held else None


def _labels(text: str) -> list[tuple[str, int]]:
    """The labels of a block's header and where each ends; empty where the line is none."""
    body = text.rstrip().removesuffix("\\").rstrip()
    if not body.startswith(" ") or not re.fullmatch(r"(?:\s+[A-Za-z_]\w*)+", body):
        return []
    return [(found[0], found.end()) for found in re.finditer(r"\S+", body)]


def _block(lines: Sequence[Shown], at: int, ends: list[int]) -> list[list[Text]]:
    """The rows under a header: an index, then a cell that ends under each label."""
    rows = []
    for line in lines[at + 1 :]:
        index = re.match(r"[0-9]+", line.text)
        if index is None or len(line.text.rstrip()) > ends[-1] + 1:
            break
        begin, cells = index.end(), []
        for end in ends:
            text = line.text[begin:end]
            lead = len(text) - len(text.lstrip())
            cells.append(Text(text.strip(), line.number, line.column + begin + lead))
            begin = end
        rows.append(cells)
    return rows
