"""Per-layer transformer estimates: tables, their sums, and the lines that say of which model.

In: text with CSV tables or printed data frames, or a notebook with HTML or text output. Out: one
row per layer and one per sum. The case comes from the nearest `model:` and `parallelization:`
lines above; what they do not say stays unknown. Whether times are in ms or s follows from the
table itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assay.ingest.formats.layers.layer_frames import TABLE_KIND, LayerEstimate, LayerTotal
from assay.ingest.formats.layers.layer_tables import (
    MISSING,
    Table,
    Text,
    csv_table,
    html_table,
    plain_table,
)
from assay.ingest.lines.lark import Token
from assay.ingest.lines.linewise import Lines, Said, kind
from assay.ingest.numbers.units import unit as unit_of
from assay.ingest.schema.fields import FieldSpec, by_label
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span
from assay.ingest.source.notebook import Shown, is_notebook, outputs
from assay.ingest.vocabulary.terms import normalise

LINES = Lines("layer_estimates", (
    kind("model_line", r"model: \w"),
    kind("parallel_line", r"parallelization: \w"),
    kind("heading_line", r"\*{3,} .*layer estimates", open_end=False),
    kind("share_line", r"time spend in comms ="),
    kind("iteration_line", r"time for 1 itr(?: *[(\[][a-z]+[)\]])? *="),
    kind("consumed_line", r"mem consumed ="),
    kind("dtype_line", r"dtype: ", open_end=False),
    kind("sum_line", r"[A-Za-z_]\w* +-?[0-9][0-9.eE+-]*\s*$"),
), alike=False)  # fmt: skip

SAID = {
    "batch size": "batch",
    "seq length": "seq_len",
    "embed": "hidden",
    "attention heads": "heads",
    "depth": "depth",
    "m1": "m1",
    "m2": "m2",
}
"""Key of a `model:` or `parallelization:` line → column."""

BLOCKS = {"mlp": "mlp", "sa": "attention", "selfattention": "attention"}

MLP_LAYERS = ("fc1", "fc2")

SCIENTIFIC = re.compile(r"[eE]")

PLAUSIBLE = (1e13, 1e16)
"""Flop/s of the matrix units of any accelerator that ran such a model: a factor of 1000 wide, so
that of milliseconds and seconds only one can be meant."""


@dataclass
class _Document:
    """Where the reading stands: what the lines above have said."""

    source: str
    folded: Folded = field(default_factory=Folded)
    case: dict[str, Cell] = field(default_factory=dict)
    block: Cell | None = None
    tables: list[tuple[Table, float | None]] = field(default_factory=list)
    total: Record | None = None
    sums: list[Said] = field(default_factory=list)

    def bound(self, line: int) -> dict[str, Cell]:
        """The case as cells of a row."""
        cells = {n: c._replace(value_origin="stated") for n, c in self.case.items()}
        if self.tables:
            cells["table"] = Cell(str(self.tables[-1][0].number), line)
        if self.block is not None:
            cells["block"] = self.block._replace(value_origin="stated")
        return cells


def fold(region: Region) -> Folded:
    """Tables where they begin, all else line by line."""
    lines = _shown(region)
    document, at, printed = _Document(region.source.name), 0, -1
    while at < len(lines):
        line = lines[at]
        table = _table(lines, at, skip=line.output == printed)
        if table is not None:
            if line.kind == "html":
                printed = line.output
            if not (line.kind == "plain" and line.output == printed):
                _rows(document, table)
            document.folded.claimed |= table.lines
            at += table.size
            continue
        _said(document, region, line)
        at += 1
    return document.folded if document.tables or document.case else Folded()


_PEELED = 400
"""Characters in front of a line that count: what is overwritten on a screen may be far longer."""


def _shown(region: Region) -> list[Shown]:
    if is_notebook(region.lines):
        return outputs(region.lines)
    # a data frame is aligned by column, so what was peeled off in front counts as blanks
    return [
        Shown(line.number, 1, " " * min(line.column - 1, _PEELED) + line.text, "text", -2)
        for line in region.lines
    ]


def _table(lines: Sequence[Shown], at: int, *, skip: bool) -> Table | None:
    """The table that begins here; the text of a frame already read as HTML is read and dropped."""
    text, kind_of = lines[at].text, lines[at].kind
    if kind_of == "html":
        return html_table(lines, at) if "<table" in text else None
    if text.count(",") > 1:
        return csv_table(lines, at)
    if re.match(r"\s+(?:layer|name)\s", text):
        return plain_table(lines, at)
    return None


def _said(document: _Document, region: Region, shown: Shown) -> None:
    text = shown.text.lstrip()
    line = Line(shown.number, text, shown.column + len(shown.text) - len(text), {})
    said = LINES.read(line, region.source, quoted=shown.output >= 0)
    if isinstance(said, Diagnostic):
        document.folded.refused.append(said._replace(text=shown.text))
    if not isinstance(said, Said):
        if shown.text.strip():
            document.sums = []
        return
    rule = said.kind.rule
    if rule == "sum_line":
        document.sums.append(said)
        return
    if rule == "dtype_line":
        _sums(document, said)
        return
    document.sums = []
    if rule in ("model_line", "parallel_line"):
        if rule == "model_line":
            document.case, document.block = {}, None
        keys = [cell.text.strip() for cell in said.cells("key")]
        for key, value in zip(keys, said.cells("value"), strict=True):
            if key in SAID:
                document.case[SAID[key]] = value
    elif rule == "heading_line":
        name = (said.text("block") or "").strip().casefold()
        cell = said.cell("block")
        document.block = cell._replace(text=BLOCKS[name]) if cell and name in BLOCKS else None
    elif not _closing(document, said):
        return
    document.folded.claimed.add(said.line.number)


def _rows(document: _Document, table: Table) -> None:
    columns = _columns(table)
    unit, kind_of = _unit(table, columns), _printed(table, columns)
    document.tables.append((table, unit))
    document.total = None
    block = _block_of(table)
    if document.block is None and block is not None:
        document.block = Cell(block, table.number, value_origin="solved", law="its layers")
    for cells in table.rows:
        record = Record(cells[0].number, {}, cells[0].column, "layer_estimates")
        record.cells |= document.bound(cells[0].number)
        for text, label, column in zip(cells, table.labels, columns, strict=True):
            if column is None:
                record.other.append((label, text.text))
            else:
                cell = _cell(text, *column, unit)
                own = cell.state == "value" and column[0].kind == TABLE_KIND and cell.kind is None
                record.cells[column[0].name] = cell._replace(kind=kind_of(text)) if own else cell
        document.folded.records.append(record)
    for number, at, width in table.odd:
        message = f"{width} cells, the header has {len(table.labels)}"
        span = Span(document.source, number, at)
        document.folded.refused.append(Diagnostic(span, Code.CELL_COUNT, message))
    document.block = None


_DIGITS = 15
"""Significant digits of a number that is printed in full."""

_ENOUGH = 10
"""Numbers of a table whose decimals show to how many it was rounded."""


def _printed(
    table: Table, columns: Sequence[tuple[FieldSpec, float] | None]
) -> Callable[[Text], str | None]:
    """The kind of a number by its own digits and those of its table; None where it is the usual.

    All numbers of a printed frame are rounded to as many decimals as the longest of them has; one
    of 15 digits or more is printed in full.
    """
    found = [
        len(cells[at].text.partition(".")[2])
        for cells in table.rows
        for at, column in enumerate(columns)
        if column is not None and column[0].numeric and _PLAIN.fullmatch(cells[at].text)
        and len(_significant(cells[at].text)) < _DIGITS
    ]  # fmt: skip
    most = max(found, default=0)
    usual = most == int(TABLE_KIND[6:-1]) or (most < int(TABLE_KIND[6:-1]) and len(found) < _ENOUGH)

    def kind_of(text: Text) -> str | None:
        if not _PLAIN.fullmatch(text.text):
            return None
        if len(_significant(text.text)) >= _DIGITS:
            return "binary"
        return None if usual else f"fixed({most})"

    return kind_of


_PLAIN = re.compile(r"[+-]?[0-9]+\.[0-9]+")


def _significant(text: str) -> str:
    return text.lstrip("+-0.").replace(".", "")


def _block_of(table: Table) -> str | None:
    names = {cells[0].text for cells in table.rows}
    if not names:
        return None
    return "mlp" if names & set(MLP_LAYERS) else "attention"


def _columns(table: Table) -> list[tuple[FieldSpec, float] | None]:
    """The column of each label. Where the times of a pass come in parts, `t_fwd` is their sum."""
    known = by_label(LayerEstimate)
    split = "t_fwd_comm" in table.labels
    renamed = {"t_fwd": "t_total_fwd", "t_bwd": "t_total_bwd"} if split else {}
    return [known.get(normalise(renamed.get(label, label))) for label in table.labels]


def _cell(text: Text, spec: FieldSpec, scale: float, unit: float | None) -> Cell:
    at = (text.number, text.column)
    if text.text in MISSING:
        return Cell(text.text, *at, state="missing")
    if not spec.numeric:
        return Cell(text.text, *at)
    if spec.unit == "s":
        if unit is None:
            return Cell(text.text, *at, state="unknown", law="neither ms nor s follows")
        scale = unit
    if text.text.startswith("["):
        return Cell(text.text, *at, state="unknown", law="a list of volumes")
    return Cell(text.text, *at, scale, "decimal" if SCIENTIFIC.search(text.text) else None)


def _unit(table: Table, columns: Sequence[tuple[FieldSpec, float] | None]) -> float | None:
    """Factor from printed times to seconds: the one under which a matrix unit is plausible.

    Taken from the layer with most flop that is bound by them. None where no layer tells.
    """
    named = {column[0].name: at for at, column in enumerate(columns) if column is not None}
    best = (0.0, 0.0)
    for cells in table.rows:
        value = {name: _number(cells[at].text) for name, at in named.items()}
        spent = value.get("t_comp_fwd")
        if spent is None and (value.get("intensity") or 0.0) > 1.0:
            spent = (value.get("t_total_fwd") or 0.0) - (value.get("t_comm_fwd") or 0.0)
        best = max(best, (value.get("flops_fwd") or 0.0, spent or 0.0))
    flop, spent = best
    fits = [
        unit
        for unit in (1e-3, 1.0)
        if spent > 0 and PLAUSIBLE[0] <= flop * 1e12 / (spent * unit) < PLAUSIBLE[1]
    ]
    return fits[0] if len(fits) == 1 else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _sums(document: _Document, said: Said) -> None:
    """A series above its `dtype:` line: the sums of the table above."""
    sums, document.sums = document.sums, []
    known = by_label(LayerTotal)
    names = [one.text("column") or "" for one in sums]
    if not document.tables or not any(normalise(name) in known for name in names):
        return
    table, unit = document.tables[-1]
    record = _total(document, sums[0])
    split = "t_fwd_comm" in table.labels
    renamed = {"t_fwd": "t_total_fwd", "t_bwd": "t_total_bwd"} if split else {}
    for name, one in zip(names, sums, strict=True):
        document.folded.claimed.add(one.line.number)
        column = known.get(normalise(renamed.get(name, name)))
        (number,) = one.tree.scan_values(lambda t: isinstance(t, Token) and t.type == "NUMBER")
        at = one.line.column + (number.start_pos or 0)
        text = Text(one.printed(number), one.line.number, at)
        if column is None:
            record.other.append((name, text.text))
        else:
            record.cells[column[0].name] = _cell(text, *column, unit)
    document.folded.claimed.add(said.line.number)


def _total(document: _Document, said: Said, layer: str = "total") -> Record:
    """The record of the sums of the table above, made where there is none."""
    held = document.total
    if held is None or held.cells["layer"].text != layer:
        held = Record(said.line.number, {}, said.line.column, "layer_total")
        held.cells |= document.bound(said.line.number)
        held.cells["layer"] = Cell(layer, said.line.number)
        document.folded.records.append(held)
        document.total = held
    return held


def _closing(document: _Document, said: Said) -> bool:
    """A share, an iteration time or a memory line: it belongs to the tables above."""
    if not document.tables:
        return False
    unit = document.tables[-1][1]
    if said.kind.rule == "share_line":
        if cell := said.cell("number"):
            _total(document, said).cells["comm_share"] = cell
        return True
    record = _total(document, said, "iteration")
    if said.kind.rule == "consumed_line":
        if cell := said.cell("number", scale=1e9):
            record.cells["memory_consumed"] = cell
    elif cell := _iteration(said, unit):
        record.cells["iteration_time"] = cell
    return True


def _iteration(said: Said, table: float | None) -> Cell | None:
    """The time of an iteration: in the unit that it is printed with, else in that of the table."""
    printed = said.text("unit")
    measure = unit_of(printed) if printed else None
    scale = measure.scale if measure else None if printed else table
    return said.cell("number", scale=scale) if scale is not None else None


FORMAT = Format(
    name="layer_estimates",
    heads=("flops_fwd", "layer estimates **", "model: batch size =", "time spend in comms ="),
    schemas={"layer_estimates": LayerEstimate, "layer_total": LayerTotal},
    origin="estimated",
    fold=fold,
    lines="document",
    unwraps=True,
)
