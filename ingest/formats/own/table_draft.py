"""A table as the text of a description: labels with what is known of them, commented, tested.

In: lines that hold a table. Out: TOML whose sample is the head of that table; None where there is
none. A label that is known (`assay formats markdown_table` lists them) has its quantity, one that
shows its unit has that; what other columns mean is their author's to say.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.ingest.columns.cells import quantity
from assay.ingest.columns.headers import Column, header, plain
from assay.ingest.formats.markdown_table import MarkdownTable
from assay.ingest.formats.own.description import describe
from assay.ingest.formats.own.fault import BadFormat
from assay.ingest.formats.own.own_format import build, tested
from assay.ingest.formats.own.samples import read
from assay.ingest.grids.grid import Grid
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.record import Diagnostic, Line, Span
from assay.ingest.schema.terminals import terminal
from assay.ingest.tables.csv_sections import timed
from assay.ingest.tables.documents import grids
from assay.ingest.vocabulary.terms import normalise

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")

_IN_BRACKETS = re.compile(r".*[(\[]([^()\[\]]+)[)\]]\s*")

ROWS = 2
"""Rows of the table that become the sample."""

_TYPES = {"Int64": "integer", "Float64": "float", "String": "text", "Boolean": "bool"}


@dataclass(frozen=True)
class _Drawn:
    """One column of a draft: its lines, and the label it is for."""

    name: str
    label: str
    lines: tuple[str, ...]


def _labelled(grid: Grid) -> bool:
    """Whether the columns of a table can be told by their labels: those of aligned text only where
    each has one, as no sign stands between them, and above its values, as in no list."""
    labels = grid.header()
    if grid.syntax != "text":
        return any(labels)
    return all(labels) and grid.heads[-1].line.number < grid.rows[0].line.number


def table_draft(texts: Sequence[str], name: str) -> str | None:
    """The description of the first table with labels of a text, tested; None where there is none.

    Raises BadFormat where `name` cannot be, or no row reads as one of it.
    """
    lines = [Line(number, text, 1, {}) for number, text in enumerate(texts, 1)]
    grid = next(
        (each for each in grids(lines, "", declared=True) if each.rows and _labelled(each)), None
    )
    if grid is None:
        return None
    columns = _columns(grid)
    sample = _sample(texts, grid)
    if any(column.label not in sample for column in columns):  # of several rows of the header
        begins = tuple(
            dict.fromkeys(plain(each.text) for each in grid.heads[-1].cells if each.text)
        )
    else:
        begins = ()
    made = build(describe(f"{name}.toml", _text(name, columns, sample, {}, begins)))
    row = read(made, sample)
    if isinstance(row, str):
        raise BadFormat(f"{name}: no row reads as one of it: {row}")
    text = _text(name, columns, sample, row, begins)
    tested(f"{name}.toml", text)
    return text


def _sample(texts: Sequence[str], grid: Grid) -> str:
    """The head of a table and its first rows; all of one whose rows are not lines, and the line
    above one that is none without it: the name of a figure."""
    if grid.syntax in ("html", "rst"):
        return "\n".join(texts[grid.begin : grid.end])
    last = grid.rows[min(ROWS, len(grid.rows)) - 1].line.number
    own = texts[grid.begin : last]
    alone = any(
        grids([Line(number, text, 1, {}) for number, text in enumerate(own, 1)], "", declared=True)
    )
    return "\n".join(own if alone else texts[max(0, grid.begin - 1) : last])


def _columns(grid: Grid) -> list[_Drawn]:
    labels = [*map(plain, grid.header())]
    known = header(grid.header(), MarkdownTable)
    taken: set[str] = set()
    drawn: list[_Drawn] = []
    for at, (label, column) in enumerate(zip(labels, known, strict=True)):
        cells = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        cells = [text for text in cells if text]
        if not label or not cells or normalise(label) in taken:
            continue
        taken.add(normalise(label))
        spec = column.spec
        others = {each.name for each in drawn}
        if spec is not None and spec.name not in others and _fits(column, spec, cells):
            drawn.append(_known(label, spec, column.scale, sure=column.unit_known))
        else:
            drawn.append(_unknown(label, cells, others))
    return drawn


def _fits(column: Column, spec: FieldSpec, cells: Sequence[str]) -> bool:
    """Whether cells are such as the label promises; plain numbers are no label of a size."""
    if spec.name == "model_size" and all(map(_is_number, cells)):
        return False
    known = replace(column, scale=1.0 if math.isnan(column.scale) else column.scale)
    if spec.kind == "exact" and spec.configuration and any(map(_HAS_A_PART.fullmatch, cells)):
        return False  # a count in a unit that its label does not say
    truth = re.compile(terminal(spec.terminal)) if str(spec.dtype) == "Boolean" else None
    if truth is not None and not all(map(truth.fullmatch, cells)):
        return False  # `selective` is a way
    return not spec.numeric or not any(
        isinstance(quantity(text, known, Span("", 0, 1)), Diagnostic) for text in cells[:ROWS]
    )


_HAS_A_PART = re.compile(r"[0-9,]*\.[0-9]*[1-9][0-9]*")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _known(label: str, spec: FieldSpec, scale: float, *, sure: bool) -> _Drawn:
    lines = [f"[columns.{spec.name}]"]
    if scale != 1.0 and not math.isnan(scale):
        lines.append(f"labels = {{ {_quoted(label)} = {scale!r} }}   # factor to {spec.unit}")
    else:
        remark = "" if sure else f'   # a bare number is in {spec.unit}: {{ "{label}" = "ms" }} …'
        lines.append(f"labels = [{_quoted(label)}]{remark}")
    kind = _TYPES[str(spec.dtype)]
    if kind != "float":
        lines.append(f'type = "{kind}"')
    if spec.unit is not None and not spec.configuration:
        lines.append(f'unit = "{spec.unit}"')
    if spec.quantity:
        lines.append(f'quantity = "{spec.quantity}"')
    return _Drawn(spec.name, label, tuple(lines))


def _unknown(label: str, cells: Sequence[str], names: set[str]) -> _Drawn:
    name = re.sub(r"[^a-z0-9]+", "_", label.casefold()).strip("_")
    name = name if name[:1].isalpha() else f"column_{name}".rstrip("_")
    own = name
    while own in names or own in fields(MarkdownTable) or own in _RESERVED:
        own = f"{own}_2"
    lines = [f"[columns.{own}]"]
    numeric = all(map(_is_number, cells))
    printed = _IN_BRACKETS.fullmatch(label)
    measure = unit(printed[1]) if printed else None
    seconds = timed(label)
    if numeric and seconds is not None:
        lines += [f"labels = {{ {_quoted(label)} = {seconds!r} }}   # factor to s", 'unit = "s"']
    elif numeric and measure and printed:
        lines.append(f"labels = {{ {_quoted(label)} = {_quoted(printed[1])} }}")
        lines.append(f'unit = "{measure.si}"')
    elif label != own:
        lines.append(f"labels = [{_quoted(label)}]")
    whole = numeric and all(text.replace(",", "").lstrip("+-").isdigit() for text in cells)
    if not numeric:
        lines.append('type = "text"')
    elif whole and seconds in (None, 1.0) and (measure is None or measure.scale == 1.0):  # no 71 %
        lines.append('type = "integer"')
    if numeric and not whole and seconds is None and measure is None:
        lines.append('# unit = "s"   and   labels = { "…" = "ms" }   if it is a time in ms')
    return _Drawn(own, label, tuple(lines))


_RESERVED = {"source", "line", "column", "host", "rank", "timestamp", "mark", "other"}


def _text(
    name: str,
    columns: Sequence[_Drawn],
    sample: str,
    row: dict[str, object],
    begins: Sequence[str] = (),
) -> str:
    labels = ", ".join(_quoted(column.label) for column in columns)
    head = [
        f"# Try it:  assay formats test {name}.toml TABLE",
        f"# Use it:  assay report TABLE --format {name}.toml",
        f"name = {_quoted(name)}",
        f"about = {_quoted(f'Rows of {name}.')}",
        'origin = "measured"        # or "published", or "estimated" for what another model says',
        *([f"heads = [{', '.join(map(_quoted, begins))}]"] if begins else []),
        "",
        "[tables]",
        f"header = [{labels}]   # labels that a table must have; fewer of them match more tables",
        '# values = { gpu = "H100", nodes = 4 }   # what holds for every row, and no column says',
    ]
    for column in columns:
        head += ["", *column.lines]
    values = ", ".join(f"{key} = {_value(value)}" for key, value in row.items())
    head += ["", "[[samples]]", f"table = {_block(sample)}", f"values = {{ {values} }}"]
    return "\n".join(head) + "\n"


def _block(text: str) -> str:
    """Several lines as TOML, as they stand where that can be."""
    plainly = "'''" not in text and all(each.isprintable() or each in "\t\n" for each in text)
    return f"'''\n{text}\n'''" if plainly else _quoted(text)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    assert isinstance(value, (int, float))
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


def _quoted(text: str) -> str:
    """A text as TOML; what a terminal might take for a command stands as its number."""
    held = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in held)
