"""Configuration that stands outside its rows: the statements of a document.

A statement is a line that is nothing but configuration: assignments, `20 nodes, 2 replicas`, a
heading that names a device or a number format. What rows make of them, `assay.ingest.binding` says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.ingest.formats.configuration import Configuration
from assay.ingest.parse import Token, Tree, parse_line
from assay.ingest.schema import FieldSpec, by_label, normalise
from assay.ingest.types import Cell, Diagnostic, Line, Span, Statement
from assay.ingest.units import SUFFIXES

_HEADING = re.compile(r"\s*(#{1,6})\s+\S")
_WORTH_PARSING = re.compile(r"[=:]\s*\"?\S|[0-9]\s*(?:node|replica|gpu|GPU)|^\s*#{1,6}\s")
_MAX_STATEMENT = 300

# A title is about everything below it: `## Pre-training on DGX-H100 (BF16)`. A device whose name
# leaves its memory open (A100, V100) is not taken from a title.
_TITLE_DEVICE = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=[0-9]x))(?:GB[23]00|H[128]00|H20|B[123]00|MI[0-9]{3}[AX]?|L40S?|A40|A800"
    r"|[AV]100[ _-]?(?:SXM[0-9]?[ _-]?)?[0-9]{2} ?GB)(?![A-Za-z0-9])"
)
_TITLE_COUNT = re.compile(
    r"(?<![A-Za-z0-9.,])([0-9][0-9,]*) ?[x×] ?"
    r"(?=(?:NVIDIA |AMD )?(?:[ABHLV][0-9]{2,3}|GB[0-9]{3}|MI[0-9]{3}))"
)
_NODES = re.compile(r"\bnodes?\b", re.IGNORECASE)
_TITLE_DTYPE = re.compile(r"(?<![A-Za-z0-9])(?:[Bb][Ff]16|[Ff][Pp](?:8|16|32))(?![A-Za-z0-9])")


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


def device_named(text: str) -> str | None:
    """The device that a line names, if it is one and its name says which.

    >>> device_named("Pre-training on DGX-H100 (BF16)"), device_named("H100 against H200")
    ('H100', None)
    """
    return _only_one(_TITLE_DEVICE, text)


def format_named(text: str) -> str | None:
    """The number format that a line names, if it is one."""
    return _only_one(_TITLE_DTYPE, text)


def counted_devices(text: str) -> str | None:
    """How many devices a line names (`8×H100`), if it is one number; nothing beside nodes.

    >>> counted_devices("Llama on 8x H100"), counted_devices("2 nodes of 8xH100")
    ('8', None)
    """
    return None if _NODES.search(text) else _only_one(_TITLE_COUNT, text)


def _only_one(pattern: re.Pattern[str], text: str) -> str | None:
    found = {match[match.lastindex or 0].casefold(): match for match in pattern.finditer(text)}
    if len(found) != 1:
        return None
    match = next(iter(found.values()))
    return match[match.lastindex or 0]


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
