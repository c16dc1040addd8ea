"""Table headers: which column fills which field, in which unit.

In: the text of a header cell. Out: a `Column`. A label is found with or without its unit in
brackets; a column that only says `Throughput` is told by the unit of its header or of its cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.ingest.schema import FieldSpec, by_label, fields, normalise
from assay.ingest.types import Schema
from assay.ingest.units import unit

_DECORATION = re.compile(r"\[\^[^\]]*\]|<br ?/?>|&nbsp;|`|\\")
_EMPHASIS = re.compile(r"(\*\*|__)(.+?)\1")
_BRACKET = re.compile(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]\s*")

GENERIC = {"throughput", "gputhroughput", "speed", "performance", "perf"}
RATES = {
    ("s", False): "step_time",
    ("flop/s", False): "model_flops_rate",
    ("flop/s", True): "model_flops_rate",
    ("token/s", False): "tokens_per_s",
    ("token/s", True): "tokens_per_gpu_per_s",
    ("sample/s", False): "samples_per_s",
}
"""A column that only says `Throughput` is told by the unit of its header or of its cells: SI unit
and whether it is per GPU → field."""


@dataclass(frozen=True)
class Column:
    """One column of a table: its label, the field it fills, the factor to that field's unit."""

    label: str
    spec: FieldSpec | None
    scale: float = 1.0
    unit_known: bool = True  # whether a bare number of this column has a unit


def plain(text: str) -> str:
    """A text cell without emphasis, code marks and footnotes."""
    return _DECORATION.sub("", _EMPHASIS.sub(r"\2", text)).strip()


def header(labels: Iterable[str], schema: Schema) -> list[Column]:
    """The columns that a header row names; a label that occurs twice gets `(2)`."""
    columns: list[Column] = []
    taken: dict[str, int] = {}
    filled: set[str] = set()
    for cell in labels:
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
    if bracket and (name := rate(bracket[1], bracket[2])):
        spec = fields(schema)[name]
        measure = unit(bracket[2])
        assert measure is not None
        return Column(shown, spec, measure.scale)
    if bracket and (found := known.get(normalise(bracket[1]))):
        spec, _ = found
        measure = unit(bracket[2])
        if measure and measure.si == spec.unit:
            return Column(shown, spec, measure.scale)
        if spec.unit is None or not measure:  # `Layers (total)`: a remark, not a unit
            return Column(shown, spec, found[1], unit_known=spec.unit != "B")
    return Column(shown, None)


def rate(label: str, printed_unit: str) -> str | None:
    """The field of a generic column, by a unit; None where the label or the unit is another."""
    measure = unit(printed_unit)
    if measure is None or normalise(label) not in GENERIC:
        return None
    per_gpu = "gpu" in normalise(label) or "gpu" in printed_unit.casefold()
    return RATES.get((measure.si, per_gpu))


def measures(column: Column) -> bool:
    """Whether a column holds a measured quantity, or says so by the unit of its cells."""
    return bool(column.spec and column.spec.quantity) or normalise(column.label) in GENERIC
