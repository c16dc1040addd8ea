"""Configuration that stands outside its rows, bound to them with the line it came from.

A statement is a line that is nothing but configuration: assignments, `20 nodes, 2 replicas`, a
heading that names a device or a number format. A row's value is looked for in this order:

1. its own cell;
2. what its run prints of itself: argument dumps and layout lines, the last first (`context`);
   then the nearest statement above in its section, then in the sections around it (`context`); one
   labelled with a model size speaks only for rows of that size, where the row has a size;
3. the last model line above in another section, for what belongs to a model and not to a layout
   (`assumed`), unless its hidden size contradicts the row's: then all of that line is dropped;
4. a statement below that says it holds above too (`assumed`);
5. what every statement of the document says alike (`assumed`), again for the model alone;
6. the side file, and what the caller states (`assumed`).

What is found nowhere is unknown. A statement replaces earlier values of its own keys only.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.ingest.formats.configuration import Configuration
from assay.ingest.parse import Token, Tree, parse_line
from assay.ingest.schema import FieldSpec, by_label, fields, normalise
from assay.ingest.types import Cell, Diagnostic, Line, Record, Span, Statement, ValueOrigin
from assay.ingest.units import SUFFIXES

OF_THE_MODEL = ("hidden", "heads", "kv_heads", "ffn_hidden", "seq_len", "vocab")
"""What a model line says of the model itself and may carry beyond its section. Layers are not among
them: depth is what a table of layouts tunes, and a guess there is a wrong number."""

UNIFORM = ("seq_len", "vocab")
"""What may hold for a whole document if all its statements agree."""

SAME_FACT = {"nodes": ("gpus",), "gpus": ("nodes",)}
"""A row that prints one of these needs no statement about the other."""

ASSUMED_LAWS = {
    "model": "the last model line above, in another section",
    "backward": "a later statement that says it holds above too",
    "uniform": "every statement of the document says so",
}

_HEADING = re.compile(r"\s*(#{1,6})\s+\S")
_WORTH_PARSING = re.compile(r"[=:]\s*\"?\S|[0-9]\s*(?:node|replica|gpu|GPU)|^\s*#{1,6}\s")
_MAX_STATEMENT = 300

# A title is about everything below it: `## Pre-training on DGX-H100 (BF16)`. A device whose name
# leaves its memory open (A100, V100) is not taken from a title.
_TITLE_DEVICE = re.compile(
    r"(?<![A-Za-z0-9])(?:GB[23]00|H[128]00|H20|B[123]00|MI[0-9]{3}[AX]?|L40S?|A40|A800"
    r"|[AV]100[ _-]?(?:SXM[0-9]?[ _-]?)?[0-9]{2} ?GB)(?![A-Za-z0-9])"
)
_TITLE_DTYPE = re.compile(r"(?<![A-Za-z0-9])(?:[Bb][Ff]16|[Ff][Pp](?:8|16|32))(?![A-Za-z0-9])")


@dataclass
class Context:
    """The statements of one document, and what the side file and the caller assume."""

    statements: list[Statement] = field(default_factory=list)
    sections: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)  # by heading line
    assumed: Mapping[str, Cell] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    heard: dict[tuple[int, tuple[int, ...]], dict[str, Cell]] = field(default_factory=dict)

    def nearest(self, line: int) -> Mapping[str, Cell]:
        """Field → the nearest cell that a statement above `line` in the same section holds."""
        count = bisect_left(self.statements, line, key=lambda statement: statement.line)
        key = (count, self.section(line))
        if key not in self.heard:
            said: dict[str, Cell] = {}
            for statement in reversed(self.statements[:count]):
                if statement.section == key[1]:
                    said = {**statement.values, **said}
            self.heard[key] = said
        return self.heard[key]

    def section(self, line: int) -> tuple[int, ...]:
        """The headings above `line`, outermost first."""
        best: tuple[int, ...] = ()
        for at, path in self.sections:
            if at > line:
                break
            best = path
        return best


def read_context(
    source: str, lines: Sequence[Line], taken: set[int], assumed: Mapping[str, Cell]
) -> Context:
    """The statements among `lines` that no format has claimed."""
    context = Context(assumed=assumed)
    path: list[tuple[int, int]] = []  # (level, line) of the open headings
    for line in lines:
        heading = _HEADING.match(line.text)
        if heading and line.number not in taken:
            level = len(heading[1])
            path = [*(p for p in path if p[0] < level), (level, line.number)]
            context.sections.append((line.number, tuple(number for _, number in path)))
        if line.number in taken or len(line.text) > _MAX_STATEMENT:
            continue
        if _WORTH_PARSING.search(line.text):
            section = tuple(number for _, number in path)
            statement = _statement(source, line, section)
            if statement is None and heading:
                statement = _title(line, section)
            if statement:
                context.statements.append(statement)
    return context


def _statement(source: str, line: Line, section: tuple[int, ...]) -> Statement | None:
    span = Span(source, line.number, line.column)
    tree = parse_line("context", "statement_line", line.text.strip(), span)
    if isinstance(tree, Diagnostic):
        return None
    body = next(part for part in tree.children if isinstance(part, Tree))
    values = dict(_values(body, line))
    if not values:
        return None
    label = next((str(s.children[0]) for s in body.find_data("size")), None)
    size = _number(label) if label else None
    if label:
        cell = Cell(label[:-1], line.number, line.column, SUFFIXES[label[-1]])
        values["model_size"] = cell
    return Statement(line.number, section, values, size, body.data == "backward")


def _title(line: Line, section: tuple[int, ...]) -> Statement | None:
    """The one device and the one number format that a heading names among other words."""
    values = {}
    for name, pattern in (("gpu", _TITLE_DEVICE), ("dtype", _TITLE_DTYPE)):
        found = {match[0].casefold(): match for match in pattern.finditer(line.text)}
        if len(found) == 1:
            match = next(iter(found.values()))
            values[name] = Cell(match[0], line.number, line.column + match.start())
    return Statement(line.number, section, values) if values else None


def _values(body: Tree[Token], line: Line) -> list[tuple[str, Cell]]:
    """Field and cell of everything a statement says that a configuration has a column for."""
    found: list[tuple[str, Cell]] = []
    for part in body.find_pred(lambda _: True):
        tokens = {t.type: t for t in part.children if isinstance(t, Token)}
        if part.data in ("assignment", "pair"):
            label = tokens.get("KEY", tokens.get("PHRASE"))
            known = by_label(Configuration).get(normalise(str(label)))
            cell = _cell(known[0], str(tokens["VALUE"]).strip('"'), line) if known else None
            if known and cell:
                found.append((known[0].name, cell))
        elif part.data == "count":
            name = tokens["COUNTED"].strip().lower().rstrip("s")
            spec = {"node": "nodes", "replica": "dp", "gpu": "gpus"}[name]
            found.append((spec, Cell(str(tokens["INT"]), line.number, line.column)))
        elif part.data == "device":
            found.append(("gpu", Cell(tokens["DEVICE"].strip(), line.number, line.column)))
            if "INT" in tokens:
                found.append(("gpus", Cell(str(tokens["INT"]), line.number, line.column)))
        elif part.data == "dtype":
            found.append(("dtype", Cell(str(tokens["DTYPE"]), line.number, line.column)))
    return found


def _cell(spec: FieldSpec, text: str, line: Line) -> Cell | None:
    if not spec.numeric:
        return Cell(text, line.number, line.column)
    digits, scale = text.replace(",", ""), 1.0
    if digits[-1] in SUFFIXES:
        digits, scale = digits[:-1], SUFFIXES[digits[-1]]
    if not re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", digits):
        return None
    return Cell(digits, line.number, line.column, scale, "nominal" if scale != 1.0 else None)


def _number(text: str) -> float:
    return float(text[:-1]) * SUFFIXES[text[-1]]


def bind(records: Sequence[Record], context: Context) -> None:
    """Fill the configuration cells of `records` from `context`, in place, nearest first."""
    names = [name for name, spec in fields(Configuration).items() if spec.configuration]
    for record in records:
        for name, cell in _found(record, context):
            if name in names and _open(record, name):
                record.cells[name] = cell
                if cell.line:  # 0: from a side file or the caller
                    context.used.add(cell.line)
        record.overridden = _overridden(record, context)


def _overridden(record: Record, context: Context) -> dict[str, Cell]:
    """What the nearest statement above, in the same section, says otherwise than the row."""
    return {
        name: cell
        for name, cell in context.nearest(record.line).items()
        if (own := record.cells.get(name)) is not None
        and own.line == record.line
        and own.state == cell.state == "value"
        and _differ(own, cell)
    }


def _differ(own: Cell, said: Cell) -> bool:
    """Whether two cells hold different numbers; words are no matter here."""
    try:
        return float(own.text) * own.scale != float(said.text) * said.scale
    except ValueError:
        return False


def _open(record: Record, name: str) -> bool:
    """Whether a row still lacks a field: no cell, or a cell that says nothing."""
    cell = record.cells.get(name)
    return cell is None or cell.state == "missing"


def _found(record: Record, context: Context) -> list[tuple[str, Cell]]:
    """Every value that could be bound to a row, in the order of precedence."""
    row = dict(record.cells)
    found: list[tuple[str, Cell]] = []

    def take(values: Mapping[str, Cell], origin: ValueOrigin, law: str | None) -> None:
        for name, cell in values.items():
            held = row.get(name)
            if held is not None and held.state != "missing":
                continue
            if any(other in record.cells for other in SAME_FACT.get(name, ())):
                continue
            row[name] = cell
            own = cell.value_origin if origin == "context" != cell.value_origin else None
            said = origin if own in (None, "printed") else own
            found.append((name, cell._replace(value_origin=said, law=law or cell.law)))

    section = context.section(record.line)
    above = [s for s in context.statements if s.line < record.line]
    for statement in reversed(above):
        if statement.of_run:
            take(statement.values, "context", None)
    for depth in range(len(section), -1, -1):
        for statement in reversed(above):
            if statement.section == section[:depth] and _speaks_for(statement, row):
                take(statement.values, "context", None)
    last = next((s for s in reversed(above) if s.size is not None), None)
    if last is not None and not _contradicts(last, row):
        take(_only(last.values, OF_THE_MODEL), "assumed", ASSUMED_LAWS["model"])
    for statement in context.statements:
        if statement.backward and statement.line > record.line:
            take(statement.values, "assumed", ASSUMED_LAWS["backward"])
    take(_uniform(context.statements), "assumed", ASSUMED_LAWS["uniform"])
    take(context.assumed, "assumed", None)
    return found


def _speaks_for(statement: Statement, row: Mapping[str, Cell]) -> bool:
    """A labelled model line speaks for rows of its size; without a size column, for all."""
    size = row.get("model_size")
    if statement.size is None or size is None or size.state != "value":
        return True
    return float(size.text) * size.scale == statement.size


def _contradicts(statement: Statement, row: Mapping[str, Cell]) -> bool:
    held, said = row.get("hidden"), statement.values.get("hidden")
    if held is None or said is None or held.state != "value":
        return False
    return float(held.text) * held.scale != float(said.text) * said.scale


def _only(values: Mapping[str, Cell], names: Sequence[str]) -> dict[str, Cell]:
    return {name: cell for name, cell in values.items() if name in names}


def _uniform(statements: Sequence[Statement]) -> dict[str, Cell]:
    said: dict[str, dict[Any, Cell]] = {}
    for statement in statements:
        for name, cell in _only(statement.values, UNIFORM).items():
            said.setdefault(name, {}).setdefault((cell.text, cell.scale), cell)
    return {name: next(iter(by.values())) for name, by in said.items() if len(by) == 1}
