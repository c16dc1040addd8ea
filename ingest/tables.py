"""Markdown tables: header and rows to records, by the labels of a schema.

In: the lines of a document. Out: one record per data row of each table that names a measured
quantity. Filler rows are blank; a row with a cell too many or too few is refused; an unfinished
last row too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.ingest.parse import parse_line
from assay.ingest.schema import FieldSpec, by_label, normalise
from assay.ingest.types import Cell, Code, Diagnostic, Folded, Line, Record, Region, Schema, Span
from assay.ingest.units import SUFFIXES, unit
from lark import Token, Tree

_ALIGNMENT = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_DECORATION = re.compile(r"\[\^[^\]]*\]|<br ?/?>|&nbsp;|`|\\")
_EMPHASIS = re.compile(r"(\*\*|__)(.+?)\1")
_BRACKET = re.compile(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]\s*")
_HERE = Span("", 0, 1)

RATES = {"s": "step_time", "flop/s": "model_flops_rate", "token/s": "tokens_per_s"}
"""A column that only says `Throughput` is told by the unit of its cells."""


@dataclass(frozen=True)
class Column:
    """One column of a table: its label, the field it fills, the factor to that field's unit."""

    label: str
    spec: FieldSpec | None
    scale: float = 1.0
    unit_known: bool = True  # whether a bare number of this column has a unit


def fold(schema: Schema) -> Callable[[Region], Folded]:
    """The fold of a table format whose columns are those of `schema`."""

    def run(region: Region) -> Folded:
        return _fold(region, schema)

    return run


def _fold(region: Region, schema: Schema) -> Folded:
    folded = Folded()
    lines = region.lines
    at = 1
    while at < len(lines):
        if not _begins_table(lines[at - 1], lines[at]):
            at += 1
            continue
        body = at + 1
        while body < len(lines) and _is_row(lines[body]):
            body += 1
        columns = header(lines[at - 1].text, schema)
        width = len(_cells(lines[at].text))
        if len(columns) == width and any(_measures(column) for column in columns):
            _table(region, lines[at - 1 : body], columns, folded)
        at = body + 1
    return folded


def _measures(column: Column) -> bool:
    """Whether a column holds a measured quantity, or says so by the unit of its cells."""
    return bool(column.spec and column.spec.quantity) or normalise(column.label) == "throughput"


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


def header(text: str, schema: Schema) -> list[Column]:
    """The columns that a header row names; a label that occurs twice gets `(2)`."""
    columns: list[Column] = []
    taken: dict[str, int] = {}
    filled: set[str] = set()
    for cell, _ in _cells(text):
        label = _DECORATION.sub("", _EMPHASIS.sub(r"\2", cell.replace("<br>", " "))).strip()
        taken[label] = taken.get(label, 0) + 1
        shown = label if taken[label] == 1 else f"{label} ({taken[label]})"
        column = _column(label, shown, schema)
        if column.spec and column.spec.name in filled:
            column = Column(shown, None)
        if column.spec:
            filled.add(column.spec.name)
        columns.append(column)
    return columns


def _column(label: str, shown: str, schema: Schema) -> Column:
    known = by_label(schema)
    if found := known.get(normalise(label)):
        spec, scale = found
        return Column(shown, spec, scale, unit_known=spec.unit != "B")
    bracket = _BRACKET.fullmatch(label)
    if bracket and (found := known.get(normalise(bracket[1]))):
        spec, _ = found
        measure = unit(bracket[2])
        if measure and measure.si == spec.unit:
            return Column(shown, spec, measure.scale)
        if spec.unit is None or not measure:  # `Layers (total)`: a remark, not a unit
            return Column(shown, spec, found[1], unit_known=spec.unit != "B")
    return Column(shown, None)


def _table(
    region: Region, lines: Sequence[Line], columns: Sequence[Column], folded: Folded
) -> None:
    head, rule, *rows = lines
    folded.claimed |= {head.number, rule.number}
    source = region.source
    closed = head.text.rstrip().endswith("|")
    records = []
    for line in rows:
        cells = _cells(line.text)
        if all(not text.strip() for text, _ in cells):
            folded.blank.add(line.number)
        elif len(cells) != len(columns):
            message = f"{len(cells)} cells, the header has {len(columns)}"
            span = Span(source.name, line.number, line.column)
            folded.refused.append(Diagnostic(span, Code.CELL_COUNT, message, line.text))
        elif closed and source.cut(line.number) and not line.text.rstrip().endswith("|"):
            message = "the input ends inside this row, expected '|'"
            span = Span(source.name, line.number, line.column + len(line.text))
            folded.refused.append(Diagnostic(span, Code.TRUNCATED, message, line.text))
        else:
            record = _record(source.name, line, cells, columns, folded)
            if record:
                records.append(record)
    _percentages(records, columns)
    folded.records += records
    folded.claimed |= {record.line for record in records}


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
            _other(record, column, text.strip(), at)
        elif column.spec.numeric:
            cell = quantity(text.strip(), column, at)
            if isinstance(cell, Diagnostic):
                folded.refused.append(cell._replace(text=line.text))
                return None
            record.cells[column.spec.name] = cell
        elif text.strip():
            record.cells[column.spec.name] = Cell(plain(text), at.line, at.column)
    _outcome_and_date(record)
    return record


def plain(text: str) -> str:
    """A text cell without emphasis, code marks and footnotes."""
    return _DECORATION.sub("", _EMPHASIS.sub(r"\2", text)).strip()


def _other(record: Record, column: Column, text: str, at: Span) -> None:
    """A column no field declares: kept as text, unless the unit of its cell tells what it is."""
    if normalise(column.label) == "throughput":
        parsed = _quantity_tree(text)
        word = _word(parsed) if parsed else None
        measure = unit(word) if word else None
        if parsed and measure and (name := RATES.get(measure.si)):
            record.cells[name] = Cell(
                _number(parsed).replace(",", ""), at.line, at.column, measure.scale
            )
            return
    if text:
        record.other.append((column.label, text))


@lru_cache(maxsize=4096)
def _parse_quantity(text: str) -> Tree[Token] | Diagnostic:
    return parse_line("table_cell", "quantity_cell", text, _HERE)


def _quantity_tree(text: str) -> Tree[Token] | None:
    tree = _parse_quantity(text)
    if isinstance(tree, Diagnostic):
        return None
    child = tree.children[0]
    return child if isinstance(child, Tree) and child.data == "quantity" else None


def _number(tree: Tree[Token]) -> str:
    kinds = ("NUMBER", "GROUPED")
    return next(str(t) for t in tree.children if isinstance(t, Token) and t.type in kinds)


def _word(tree: Tree[Token]) -> str | None:
    return next((str(t) for t in tree.children if isinstance(t, Token) and t.type == "WORD"), None)


def quantity(text: str, column: Column, at: Span) -> Cell | Diagnostic:
    """One numeric cell: a number with its scale, an outcome, an unknown or a missing value."""
    spec = column.spec
    assert spec is not None
    tree = _parse_quantity(text)
    if isinstance(tree, Diagnostic):
        return _not_a_number(spec, text, at)
    child = tree.children[0] if tree.children else None
    what = child.data if isinstance(child, Tree) else "missing"
    if what in ("outcome", "missing"):
        return Cell(text, at.line, at.column, state="outcome" if what == "outcome" else "missing")
    assert isinstance(child, Tree)
    if what == "unknown":
        token = child.children[0]
        known = isinstance(token, Token) and token.type == "UNKNOWN"
        if known or unit(str(token)):
            return Cell(text, at.line, at.column, state="unknown")
        return _not_a_number(spec, text, at)
    scaled = _scale(child, column)
    if scaled is None:
        return _not_a_number(spec, text, at)
    scale, kind = scaled
    if scale == 0.0:  # a number without its unit, in a column that has none
        return Cell(text, at.line, at.column, state="unknown")
    digits = _number(child).replace(",", "")
    return Cell(digits, at.line, at.column, scale, kind)


def _scale(tree: Tree[Token], column: Column) -> tuple[float, str | None] | None:
    """Factor to the field's unit and overriding kind; None where the unit is not the field's."""
    spec = column.spec
    assert spec is not None
    word = _word(tree)
    rough = any(isinstance(t, Token) and t.type == "APPROX" for t in tree.children)
    kind = "nominal" if rough and spec.kind != "nominal" else None
    if word is None:
        return (column.scale if column.unit_known else 0.0), kind
    measure = unit(word)
    if measure and measure.si == spec.unit and spec.kind != "nominal":
        return measure.scale, kind
    if word in SUFFIXES and spec.unit != "B":
        return SUFFIXES[word] * column.scale, None if spec.kind == "nominal" else "nominal"
    return None


def _not_a_number(spec: FieldSpec, text: str, at: Span) -> Diagnostic:
    wanted = f"a number in {spec.unit}" if spec.unit not in (None, "1") else "a number"
    message = f"{spec.name} was {text!r}, expected {wanted}, an outcome such as OOM, or nothing"
    return Diagnostic(at, Code.UNDECODABLE, message)


def _outcome_and_date(record: Record) -> None:
    """The outcome of a row, from whichever cell says it; the date that its notes begin with."""
    for cell in list(record.cells.values()):
        if cell.state == "outcome" and "outcome" not in record.cells:
            record.cells["outcome"] = cell._replace(text=plain(cell.text), state="value")
    notes = record.cells.get("notes")
    if notes is None:
        return
    tree = parse_line("table_cell", "notes_cell", notes.text, _HERE)
    if isinstance(tree, Diagnostic):
        return
    for child in tree.children:
        if not isinstance(child, Tree) or child.data not in ("date", "outcome"):
            continue
        if child.data not in record.cells:
            text = str(child.children[0]).strip()
            record.cells[child.data] = Cell(text, notes.line, notes.column)


def _percentages(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """A utilisation above 1 is a percentage: the whole column is, and is marked so."""
    for column in columns:
        spec = column.spec
        if spec is None or spec.unit != "1" or column.scale != 1.0:
            continue
        cells = [r.cells[spec.name] for r in records if spec.name in r.cells]
        bare = [c for c in cells if c.state == "value" and c.scale == 1.0]
        if not any(float(c.text.replace(",", "")) > 1.0 for c in bare):
            continue
        for record in records:
            cell = record.cells.get(spec.name)
            if cell and cell.state == "value" and cell.scale == 1.0:
                law = "a utilisation above 1 is printed in percent"
                record.cells[spec.name] = cell._replace(scale=0.01, law=law)
