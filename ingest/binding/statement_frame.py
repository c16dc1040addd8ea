"""Statements of a document as a frame: what each says of which field, where, and for which rows.

In: the statements of sources. Out: a row for each field of each of them, in the order of lines.
What a statement means for a row is decided later (`assay.ingest.binding.binder`); what looks
like one and was not understood is a row too, of strength `open`.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

import polars as pl
from assay.ingest.binding.comparing import MODEL
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Cell, Statement
from assay.ingest.vocabulary.terms import terms

STATEMENTS: dict[str, pl.DataType] = {
    "source": pl.String(),
    "line": pl.UInt32(),
    "column": pl.UInt32(),
    "field": pl.String(),
    "value": pl.Float64(),  # of a number that is understood, in its unit
    "text": pl.String(),  # as printed
    "unit": pl.String(),
    "basis": pl.String(),  # what one value is of: model, device, node, job
    "scope": pl.String(),  # the rows that it speaks for: table, section, file, job
    "strength": pl.String(),  # run, stated, labelled, backward, open
    "section": pl.UInt32(),  # line of the innermost heading around it
}

BASES = {"micro_batch": "device", "accumulation": "device", "gpus_per_node": "node"}
"""Fields whose one value is not of the whole job and not of the model."""

OPEN = "open"
"""Strength of a statement that no value could be made of."""

OF_THE_MODEL = (*MODEL, "ffn_hidden", "seq_len", "attention")


def statement_frame(said: Iterable[tuple[str, Iterable[Statement]]]) -> pl.DataFrame:
    """Every field of every statement of some sources, source by source; see `STATEMENTS`."""
    specs = fields(Configuration)
    rows: list[tuple[Any, ...]] = []
    for source, statements in said:
        own = [
            _row(source, each, name, cell)
            for each in statements
            for name, cell in each.values.items()
            if name in specs and specs[name].configuration
        ]
        rows += sorted(own, key=itemgetter(1, 2, 3))  # line, column, field
    return pl.DataFrame(rows, schema=STATEMENTS, orient="row")


def open_statements(reading: Reading) -> pl.DataFrame:
    """Statements of a reading that no value could be made of; see `STATEMENTS`."""
    if reading.statements is None:
        return pl.DataFrame(schema=STATEMENTS)
    return reading.statements.filter(pl.col("strength") == OPEN)


def _row(source: str, said: Statement, name: str, cell: Cell) -> tuple[Any, ...]:
    spec = fields(Configuration)[name]
    value = None
    if spec.numeric and cell.state == "value":
        try:
            value = float(cell.text) * cell.scale
        except ValueError:
            value = None
    term = terms().get(name)
    return (
        source, cell.line or said.line, cell.column, name, value, cell.text,
        spec.unit or (term.unit if term else None), _basis(name), _scope(said),
        _strength(said, cell), said.section[-1] if said.section else None,
    )  # fmt: skip


def _basis(name: str) -> str:
    return "model" if name in OF_THE_MODEL else BASES.get(name, "job")


def _scope(said: Statement) -> str:
    """The rows that a statement speaks for."""
    if said.of_run:
        return "job"
    if said.caption or said.subject:
        return "table"
    return "section" if said.section and not said.environment else "file"


def _strength(said: Statement, cell: Cell) -> str:
    """How a statement stands to others of its field."""
    if cell.state == "unknown":
        return OPEN
    if said.of_run:
        return "run"
    if said.backward:
        return "backward"
    return "stated" if said.size is None else "labelled"
