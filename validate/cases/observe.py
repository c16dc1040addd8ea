"""From wide frames to observations: one row per printed number that has a quantity.

Everything here comes from the schemas: which columns are observed, in which unit and kind, and what
the rows are about. Nothing knows a format. A cell that holds an outcome, something unknown or
nothing gives no observation; values are SI as the frames hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from assay.ingest.numbers.printed import interval
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Schema

OBSERVATION: dict[str, pl.DataType] = {
    "case": pl.String(),  # <source>#<line>
    "scope": pl.String(),
    "subject": pl.String(),
    "quantity": pl.String(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "unit": pl.String(),
    "kind": pl.String(),
    "origin": pl.String(),  # measured, published, estimated
    "value_origin": pl.String(),  # printed, stated, solved, assumed, corrected
    "formula_id": pl.String(),  # of a utilisation or rate, once one is known
    "source": pl.String(),
    "line": pl.UInt32(),
    "column": pl.UInt32(),
}

DEFAULT_SCOPE = "configuration"

SEPARATOR = "x"
"""Joins the columns of a subject: a product is 1x4096x4096x4096."""


@dataclass(frozen=True)
class About:
    """Scope and subject of the rows of a frame: the columns that name it."""

    scope: str
    subject: tuple[str, ...]
    origin: str
    schema: Schema
    case: str | None = None  # the column that holds the first line of a row's block

    @property
    def fields(self) -> Mapping[str, FieldSpec]:
        """The columns, worked out when they are asked for: most formats are not met."""
        return fields(self.schema)


def about(formats: Iterable[Format]) -> dict[str, About]:
    """Scope, subject columns and origin of every frame that `formats` can give."""
    found = {}
    for fmt in formats:
        for frame, schema in fmt.schemas.items():
            said: Mapping[str, Any] = getattr(schema.Config, "metadata", None) or {}
            subject = said.get("subject", ())
            found[frame] = About(
                scope=said.get("scope", DEFAULT_SCOPE),
                subject=(subject,) if isinstance(subject, str) else tuple(subject),
                origin=said.get("origin", fmt.origin),
                schema=schema,
                case=said.get("case"),
            )
    return found


def observe(reading: Reading, frames: Mapping[str, About]) -> pl.DataFrame:
    """Every printed number with a quantity, sorted by source, line and column of its schema."""
    parts = [pl.LazyFrame(schema=OBSERVATION)]
    said = _said(reading)
    for name, frame in reading.frames.items():
        if frame.is_empty():
            continue
        cased = frame.with_columns(case=case_in(frames[name])).lazy()
        parts += [
            _observed(cased, frames[name], spec, said.get((name, spec.name)))
            for spec in frames[name].fields.values()
            if spec.quantity and spec.name in frame.columns
        ]
    whole = pl.concat(parts).sort("source", "line", maintain_order=True)
    return whole.collect(engine="in-memory")


def _said(reading: Reading) -> dict[tuple[object, ...], pl.DataFrame]:
    """Frame and column → what is known of its values beyond the value."""
    held = reading.provenance.select(
        "frame", "field", "source", "line", "column", "state", "value_origin", said_kind="kind",
        said_low="low", said_high="high",
    )  # fmt: skip
    return held.partition_by("frame", "field", as_dict=True, include_key=False)


def case_of() -> pl.Expr:
    """The case of a row of a whole frame: its source and its line.

    Of several records on one line the later ones have their column too.

    >>> rows = pl.DataFrame({"source": ["a", "a"], "line": [7, 7], "column": [1, 40]})
    >>> rows.select(case_of()).to_series().to_list()
    ['a#7', 'a#7:40']
    """
    first = pl.col("column").rank("ordinal").over("source", "line") == 1
    place = pl.format("{}#{}", "source", "line")
    return pl.when(first).then(place).otherwise(pl.format("{}:{}", place, "column"))


def case_in(what: About) -> pl.Expr:
    """The case of a row of a frame: its own, or that of the block whose first line it holds."""
    return case_of() if what.case is None else pl.format("{}#{}", "source", what.case)


def subject_of(columns: tuple[str, ...]) -> pl.Expr:
    """Name of a row's subject inside its case; a batch that is not printed is one product.

    >>> row = pl.DataFrame({"b": [None], "m": [8], "n": [16]}, schema_overrides={"b": pl.Int64})
    >>> row.select(subject_of(("b", "m", "n"))).item()
    '1x8x16'
    """
    if not columns:
        return pl.lit("")
    return pl.concat_str(
        [pl.col(name).cast(pl.String).fill_null("1" if name == "b" else "") for name in columns],
        separator=SEPARATOR,
    )


SAID = {
    "state": pl.String(), "value_origin": pl.String(), "said_kind": pl.String(),
    "said_low": pl.Float64(), "said_high": pl.Float64(),
}  # fmt: skip


def _observed(
    frame: pl.LazyFrame, what: About, spec: FieldSpec, said: pl.DataFrame | None
) -> pl.LazyFrame:
    """The observations of one column, which nothing is `said` of or something."""
    printed = frame.filter(pl.col(spec.name).is_not_null(), pl.col("mark").ne_missing("superseded"))
    if said is None:
        known = {name: pl.lit(None, kind) for name, kind in SAID.items()}
        printed = printed.with_columns(**known)
    else:
        row = ["source", "line", "column"]
        first = said.lazy().unique(row, keep="first", maintain_order=True)
        printed = printed.join(first, on=row, how="left", maintain_order="left")
    value = pl.col(spec.name).cast(pl.Float64)
    ulp = pl.col(f"{spec.name}_ulp") if spec.has_ulp else pl.lit(0.0)
    low, high = interval(value, ulp, spec.kind)
    own = pl.lit(spec.subject) if spec.subject is not None else subject_of(what.subject)
    return printed.filter(pl.col("state").fill_null("value") == "value").select(
        case="case",
        scope=pl.lit(what.scope),
        subject=own,
        quantity=pl.lit(spec.quantity),
        value=value,
        low=pl.coalesce("said_low", low),
        high=pl.coalesce("said_high", high),
        unit=pl.lit(spec.unit or "1"),
        kind=pl.coalesce("said_kind", pl.lit(spec.kind)),
        origin=pl.lit(what.origin),
        value_origin=pl.coalesce("value_origin", pl.lit("printed")),
        formula_id=pl.lit(None, dtype=pl.String),
        source=pl.col("source"),
        line=pl.col("line"),
        column=pl.col("column"),
    )
