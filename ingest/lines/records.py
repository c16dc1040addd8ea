"""Formats whose records are single lines: what a line is, its grammar says; the rest, its schema.

A kind of line is a start rule of its format's grammar. Its tree is read by convention: a rule with
the name of a column (or of one of its labels) holds that column's value, `metric` holds a label and
a value, `label` a label without one, and each `row` is a record of its own. `rank` goes to the
column that every frame has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from assay.ingest.lines.lark import (
    Shape,
    Token,
    Tree,
    parse_alike,
    parse_line,
    shape,
    terminal_of,
)
from assay.ingest.lines.metrics import cell, column, put
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Folded, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Schema, Span


class Kind(NamedTuple):
    """One kind of line: its start rule, the terminal that claims it, and where its records go."""

    rule: str
    head: str
    frame: str
    schema: Schema
    rows: bool = False  # whether a line may hold several records, or none
    alike: bool = False  # whether its grammar tells no digits apart, as linewise says of its own


def folding(grammar: str, kinds: Sequence[Kind]) -> Callable[[Region], Folded]:
    """The fold of a format that is nothing but kinds of lines."""
    return partial(fold_lines, grammar=grammar, kinds=kinds)


def fold_lines(region: Region, grammar: str, kinds: Sequence[Kind]) -> Folded:
    """Every line that begins with the head of a kind: its records, or why there are none."""
    folded = Folded(parts=set())
    for line in region.lines:
        for kind in kinds:
            if _head(grammar, kind.head).match(line.text):
                take(folded, region, line, grammar, kind)
                break
    return folded


@cache
def _head(grammar: str, name: str) -> re.Pattern[str]:
    return re.compile(terminal_of(grammar, name))


def take(folded: Folded, region: Region, line: Line, grammar: str, kind: Kind) -> None:
    """Parse one line as `kind` and add its records, or the refusal, to `folded`."""
    span, text = Span(region.source.name, line.number, line.column), line.text.rstrip()
    key = (grammar, kind.rule, shape(text)) if kind.alike and not region.cut(line) else None
    if key is not None and (known := _KNOWN.get(key)):
        _claim(folded, line, [known.record(line)])
        return
    parse = parse_alike if kind.alike else parse_line
    tree = parse(grammar, kind.rule, text, span)
    if isinstance(tree, Diagnostic):
        folded.refused.append(tree._replace(text=line.text))
        return
    rows = [part for part in tree.children if isinstance(part, Tree) and part.data == "row"]
    cut = region.cut(line) and not isinstance(tree.children[-1], Token)
    # told by their names: trees are compared deeply, a line of them with each of its rows
    shared = Tree(tree.data, [part for part in tree.children if not _is(part, "row")])
    if kind.rows:  # filled in for each row, so nothing stays of what says nothing
        shared.children = [part for part in shared.children
                           if isinstance(part, Tree) and not _cut_label(part)]  # fmt: skip
    records = []
    for row in rows if kind.rows else [shared]:
        record = Record(line.number, {}, line.column, kind.frame, prefix=dict(line.prefix))
        if row is not shared:
            record.column += next(_tokens(row)).start_pos or 0
            _fill(record, line, kind.schema, shared)
        _fill(record, line, kind.schema, row)
        records.append(record)
    _shorten(folded, region, line, records, tree, cut=cut)
    if key is not None and len(_KNOWN) < MOST_KNOWN and (like := _like(line, records, shared)):
        _KNOWN[key] = like
    _claim(folded, line, records)


def _claim(folded: Folded, line: Line, records: Sequence[Record]) -> None:
    folded.records += records
    folded.claimed.add(line.number)
    assert folded.parts is not None
    folded.parts.add((line.number, line.column))


class _Like(NamedTuple):
    """The record of a line whose digits alone are others: its frame, and each cell with the place
    of its text, all of which is the cell's."""

    frame: str
    cells: Mapping[str, tuple[Cell, int, int]]

    def record(self, line: Line) -> Record:
        """The record of another line of the shape."""
        number, column, text = line.number, line.column, line.text
        cells = {
            name: Cell(text[start:end], number, column + start, known.scale, known.kind)
            for name, (known, start, end) in self.cells.items()
        }
        return Record(number, cells, column, self.frame, prefix=dict(line.prefix))


_KNOWN: dict[tuple[str, str, Shape], _Like] = {}

MOST_KNOWN = 4096
"""Shapes of lines of which it is remembered what their records are like."""


def _like(line: Line, records: Sequence[Record], tree: Tree[Token]) -> _Like | None:
    """The record that lines of a shape share but for digits; None where those may change more."""
    parts = [part for part in tree.children if isinstance(part, Tree)]
    tokens = [list(_tokens(part)) for part in parts]
    ends = {each[0].start_pos: each[-1].end_pos for each in tokens if each}
    if len(records) != 1 or len(records[0].cells) != len(parts):
        return None
    record, cells = records[0], {}
    for name, known in record.cells.items():
        start = known.column - line.column
        end = ends.get(start) or start
        if known.text != line.text[start:end] or known.state != "value":
            return None
        cells[name] = known, start, end
    said = record.other or record.spelled or record.mark or record.prefix != line.prefix
    return None if said else _Like(record.frame, cells)


def _is(part: Token | Tree[Token], name: str) -> bool:
    return isinstance(part, Tree) and part.data == name


def _cut_label(part: Token | Tree[Token] | None) -> bool:
    return part is not None and (_is(part, "label") or _is(part, "unset"))


def _tokens(tree: Tree[Token]) -> Iterator[Token]:
    return (leaf for leaf in tree.scan_values(lambda value: isinstance(value, Token)))


def _fill(record: Record, line: Line, schema: Schema, tree: Tree[Token]) -> None:
    for part in tree.children:
        if isinstance(part, Token):
            continue
        tokens = list(_tokens(part))
        if not tokens:
            continue
        at = line.column + (tokens[0].start_pos or 0)
        text = "".join(tokens).strip()
        if part.data in ("metric", "pair"):
            at = line.column + (tokens[-1].start_pos or 0)
            put(record, schema, tokens[0].strip(), str(tokens[-1]), at)
        elif part.data == "label":
            record.other.append((str(tokens[0]).strip(), ""))
        elif part.data == "rank":
            record.prefix = {**record.prefix, "rank": text}
        elif found := column(schema, part.data):
            spec, scale = found
            record.cells[spec.name] = cell(spec, text, scale, line.number, at)
        elif part.data in fields(schema):
            spec = fields(schema)[part.data]
            record.cells[spec.name] = cell(spec, text, 1.0, line.number, at)
        else:
            _fill(record, line, schema, part)


def _shorten(
    folded: Folded, region: Region, line: Line, records: list[Record], tree: Tree[Token], *,
    cut: bool,
) -> None:  # fmt: skip
    """Mark a record that stops inside a label, or inside the last value of a cut input."""
    last = next((part for part in reversed(tree.children) if isinstance(part, Tree)), None)
    label = _cut_label(last) and last is tree.children[-1]
    if not records or not (label or cut):
        return
    record = records[-1]
    if label:
        name = str(next(_tokens(last))) if last else ""
        record.other = [cell for cell in record.other if cell[0] != name.strip()]
    elif record.cells and len(records) == 1:
        name, _ = record.cells.popitem()
    else:
        name = "the last value"
        records.pop()
    record.mark = "truncated"
    span = Span(region.source.name, line.number, line.column + len(line.text.rstrip()))
    message = f"the record is cut off at {name!r}; the cells before it stand"
    folded.remarks.append(Diagnostic(span, Code.TRUNCATED, message, line.text))
