"""Markdown tables: header and rows to records, by the labels of a schema.

In: the lines of a document. Out: one record per data row of each table that names a measured
quantity. Filler rows are blank; a row with a cell too many or too few is refused, and so is an
unfinished last row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from assay.ingest.lines.lark import Token, parse_line
from assay.ingest.schema.format import Folded, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Schema, Span
from assay.ingest.tables import captions
from assay.ingest.tables.cells import numeric_cell, other, outcome_and_date, quantity, text_cell
from assay.ingest.tables.column_cells import percentages, rates, whole_numbers
from assay.ingest.tables.headers import Column, header
from assay.ingest.tables.subject import measured, name_rows, of_runs

_ALIGNMENT = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")

_HEADING = re.compile(r"\s*#{1,6}\s+\S.*|\s*\*\*[^*]+\*\*:?\s*$")

_HERE = Span("", 0, 1)


def fold(schema: Schema) -> Callable[[Region], Folded]:
    """The fold of a table format whose columns are those of `schema`."""

    def run(region: Region) -> Folded:
        return _fold(region, schema)

    return run


def _fold(region: Region, schema: Schema) -> Folded:
    folded = Folded()
    lines = region.lines
    heading, above, titles = "", captions.Above(), list[Line]()
    at = 1
    while at < len(lines):
        if not _begins_table(lines[at - 1], lines[at]):
            if said := _heading(lines[at - 1].text):
                heading = said
            if said and said.lstrip().startswith("#"):
                above, titles = captions.Above(), captions.nested(titles, lines[at - 1])
            else:
                above.add(lines[at - 1])
            at += 1
            continue
        body = at + 1
        while body < len(lines) and _is_row(lines[body]):
            body += 1
        heads = 2
        columns = header((text for text, _ in _cells(lines[at - 1].text)), schema)
        if body > at + 1 and (both := _two_rows(lines[at - 1], lines[at + 1])):
            joined = header(both, schema)
            if _quantities(joined) > _quantities(columns):
                columns, heads = joined, 3
        width = len(_cells(lines[at].text))
        if len(columns) == width and of_runs(columns, heading):
            head = lines[at - 1 : at - 1 + heads]
            rows = lines[at - 1 + heads : body]
            _table(region, head, rows, columns, above.said(titles), folded)
        at = body + 1
    return folded


def _open_ended(text: str, *, closed: bool) -> bool:
    """Whether the last cell of a row is empty: `8 | OOM |` under a header without outer bars."""
    bare = text.strip()
    return not closed and bare.endswith("|") and not bare.startswith("|")


def _two_rows(top: Line, below: Line) -> list[str]:
    """Labels that stand in two rows, the upper ones over several columns; none where the second
    row may be one of numbers."""
    upper = [text.strip() for text, _ in _cells(top.text)]
    lower = [text.strip() for text, _ in _cells(below.text)]
    if len(upper) != len(lower) or sum(map(bool, lower)) < 2 or re.search("[0-9]", "".join(lower)):
        return []
    labels, over = [], ""
    for first, second in zip(upper, lower, strict=True):
        over = first or over
        labels.append(f"{over} {second}" if second else first)
    return labels


def _quantities(columns: Sequence[Column]) -> int:
    return sum(column.spec is not None and column.spec.quantity is not None for column in columns)


def _heading(text: str) -> str | None:
    """The text of a heading, or of a line in bold that stands for one."""
    found = _HEADING.match(text)
    return found[0] if found else None


def _begins_table(head: Line, rule: Line) -> bool:
    if "|" not in head.text or "-" not in rule.text or not _ALIGNMENT.fullmatch(rule.text):
        return False
    return "|" in rule.text and len(_cells(head.text)) == len(_cells(rule.text))


def _is_row(line: Line) -> bool:
    return "|" in line.text and not line.text.isspace()


@lru_cache(maxsize=4096)
def _cells(text: str) -> tuple[tuple[str, int], ...]:
    """The cells of a row, each with its offset in the line."""
    tree = parse_line("markdown_table", "row_line", text.rstrip(), _HERE)
    if isinstance(tree, Diagnostic):
        return ()
    tokens = [token for token in tree.children if isinstance(token, Token)]
    return tuple(
        (str(token).removesuffix("|") if token.type == "CELL" else str(token), token.start_pos or 0)
        for token in tokens
        if token.type != "LEAD"
    )


def _table(
    region: Region,
    head: Sequence[Line],
    rows: Sequence[Line],
    columns: Sequence[Column],
    said: Mapping[str, Cell],
    folded: Folded,
) -> None:
    """Put a table into `folded`, unless no row of it holds a measured number after all.

    `said` is what the lines above it say of all its rows.
    """
    source = region.source
    closed = head[0].text.rstrip().endswith("|")
    held = Folded()
    for line in rows:
        cells = _cells(line.text)
        if _open_ended(line.text, closed=closed):
            cells = (*cells, ("", len(line.text.rstrip())))
        if all(not text.strip() for text, _ in cells):
            held.blank.add(line.number)
        elif len(cells) != len(columns):
            message = f"{len(cells)} cells, the header has {len(columns)}"
            span = Span(source.name, line.number, line.column)
            held.refused.append(Diagnostic(span, Code.CELL_COUNT, message, line.text))
        elif closed and source.cut(line.number) and not line.text.rstrip().endswith("|"):
            message = "the input ends inside this row, expected '|'"
            span = Span(source.name, line.number, line.column + len(line.text))
            held.refused.append(Diagnostic(span, Code.TRUNCATED, message, line.text))
        elif record := _record(source.name, line, cells, columns, held):
            held.records.append(record)
    name_rows(held.records, columns)
    if not measured(held.records, len(held.refused), columns):
        return
    for record in held.records:
        for name, cell in said.items():
            if _silent(record, name):
                record.cells[name] = cell
                folded.claimed.add(cell.line)
    percentages(held.records, columns)
    rates(held.records, columns)
    whole_numbers(held.records, columns)
    folded.records += held.records
    folded.refused += held.refused
    folded.blank |= held.blank
    folded.claimed |= {line.number for line in head} | {record.line for record in held.records}


def _silent(record: Record, name: str) -> bool:
    """Whether a row says nothing of a field, nor of what settles it: nodes where GPUs are counted,
    all weights where adapters are trained."""
    held = record.cells.get(name)
    if name == "gpus" and "nodes" in record.cells:
        return False
    if name == captions.FIELD and captions.trains_all(record):
        return False
    return held is None or held.state == "missing"


def _record(
    source: str,
    line: Line,
    cells: Sequence[tuple[str, int]],
    columns: Sequence[Column],
    folded: Folded,
) -> Record | None:
    record = Record(line.number, {}, line.column, prefix=line.prefix)
    for (text, offset), column in zip(cells, columns, strict=True):
        lead = len(text) - len(text.lstrip())
        at = Span(source, line.number, line.column + offset + lead)
        if column.spec is None:
            other(record, column, text.strip(), at)
        elif column.spec.numeric:
            cell = quantity(text.strip(), column, at)
            if isinstance(cell, Diagnostic):
                folded.refused.append(cell._replace(text=line.text))
                return None
            numeric_cell(record, column.spec, cell, text.strip())
        elif text.strip():
            text_cell(record, column.spec, text, at)
    outcome_and_date(record)
    captions.mark(record)
    return record
