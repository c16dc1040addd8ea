"""Configuration that stands outside its rows: the statements of a document.

A statement is a line that is nothing but configuration: assignments, `20 nodes, 2 replicas`, a
heading that names a device or a number format. `assay.ingest.statements.binding` says what rows
make of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from assay.ingest.lines.lark import Token, Tree, parse_line
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import FieldSpec, by_label
from assay.ingest.schema.record import Cell, Diagnostic, Line, Span, Statement
from assay.ingest.statements.command_lines import command, composed_name
from assay.ingest.tables.titles import counted_devices, device_named, format_named
from assay.ingest.vocabulary.terms import normalise

_HEADING = re.compile(r"\s*(#{1,6})\s+\S")

_WORTH_PARSING = re.compile(
    r"[=:]\s*\"?\S|\bis\s+[0-9]|--[A-Za-z]|[_-][a-z]+[0-9]+[_-]|[0-9]\s*(?:node|replica|gpu|GPU)|^\s*#{1,6}\s"
)

_FENCE = re.compile(r"\s*(?:```|~~~)")

_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")

_BRACKETS = re.compile(r"^\s*(?:\[[^\[\]]*\]\s*)+")

_LABELS = ("KEY", "PHRASE", "SUBJECT")

_SWITCH = {"1": "True", "0": "False", "true": "True", "false": "False"}
"""Words that switch a thing on or off in a command or a statement."""

_MAX_STATEMENT = 300


@dataclass
class Context:
    """The statements of one document, and what the side file and the caller assume."""

    statements: list[Statement] = field(default_factory=list)
    sections: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)  # by heading line
    assumed: Mapping[str, Cell] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)


def read_context(
    source: str, lines: Sequence[Line], taken: set[int], assumed: Mapping[str, Cell]
) -> Context:
    """The statements among `lines` that no format has claimed."""
    context = Context(assumed=assumed)
    path: list[tuple[int, int]] = []  # (level, line) of the open headings
    fenced = _fenced(lines)
    for line in lines:
        heading = None if line.number in fenced else _HEADING.match(line.text)
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
            if statement is None and (said := command(line)):
                statement = Statement(line.number, section, said)
            if statement is None and (said := composed_name(line)):
                statement = Statement(line.number, section, said, of_run=True)
            if statement:
                context.statements.append(statement)
    return context


def _fenced(lines: Sequence[Line]) -> set[int]:
    """Lines between two fences: a `#` there is a comment and no heading."""
    fences = [line.number for line in lines if _FENCE.match(line.text)]
    inside = zip(fences[::2], fences[1::2], strict=False)
    spans = iter(inside)
    found: set[int] = set()
    begin, end = next(spans, (0, 0))
    for line in lines:
        while end and line.number > end:
            begin, end = next(spans, (0, 0))
        if begin < line.number < end:
            found.add(line.number)
    return found


def _statement(source: str, line: Line, section: tuple[int, ...]) -> Statement | None:
    span = Span(source, line.number, line.column)
    tree = parse_line("context", "statement_line", _bare(line.text), span)
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


def _bare(text: str) -> str:
    """A line without links, what loggers put in brackets before it, and a shell's sign that it goes
    on."""
    return _BRACKETS.sub("", _LINK.sub(r"\1", text)).strip().removesuffix("\\").rstrip()


def _title(line: Line, section: tuple[int, ...]) -> Statement | None:
    """The one device, how many of it, and the one number format that a heading names."""
    said = {
        "gpu": device_named(line.text),
        "gpus": counted_devices(line.text),
        "dtype": format_named(line.text),
    }
    values = {
        name: Cell(text, line.number, line.column + line.text.index(text))
        for name, text in said.items()
        if text is not None
    }
    return Statement(line.number, section, values) if values else None


def _values(body: Tree[Token], line: Line) -> list[tuple[str, Cell]]:
    """Field and cell of everything a statement says that a configuration has a column for."""
    found: list[tuple[str, Cell]] = []
    for part in body.find_pred(lambda _: True):
        tokens = {t.type: t for t in part.children if isinstance(t, Token)}
        if part.data in ("assignment", "pair", "sentence"):
            label = next(tokens[kind] for kind in _LABELS if kind in tokens)
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
    if spec.dtype == pl.Boolean:
        word = _SWITCH.get(text.casefold())
        return None if word is None else Cell(word, line.number, line.column)
    if not spec.numeric:
        return Cell(text, line.number, line.column)
    digits, scale = text.replace(",", ""), 1.0
    if digits[-1] in SUFFIXES:
        digits, scale = digits[:-1], SUFFIXES[digits[-1]]
    if not re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", digits):
        return None
    if not float(digits) and spec.name != "zero_stage":
        return None  # no count of anything is zero
    return Cell(digits, line.number, line.column, scale, "nominal" if scale != 1.0 else None)


def _number(text: str) -> float:
    return float(text[:-1]) * SUFFIXES[text[-1]]
