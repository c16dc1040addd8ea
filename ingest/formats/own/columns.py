"""The columns of a user's format as a pandera model, like those of a packaged one.

In: a `Description`. Out: the model. Every frame of scope `configuration` has all configuration
columns beside its own, so that what stands above its lines is bound to them; their usual spellings
are left out, because `ep` may be an epoch here: only declared labels are read from a line.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any, get_type_hints

import pandera.polars as pa
from assay.ingest.formats import FORMATS
from assay.ingest.formats.attention_table import AttentionTable
from assay.ingest.formats.collective_table import CollectiveTable
from assay.ingest.formats.own.description import TYPE_OF, TYPES, Column, Description
from assay.ingest.formats.own.fault import nearest
from assay.ingest.numbers.printed import KINDS, is_kind
from assay.ingest.numbers.units import UNITS, unit
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import by_label, fields, logged
from assay.ingest.schema.record import BASE, Schema
from assay.ingest.schema.terminals import terminal
from assay.ingest.vocabulary.terms import normalise

GEMM_BASE = ("gpu", "dtype")

PRODUCT = ("m", "n", "k")

CALLS: dict[str, Schema] = {"attention": AttentionTable, "collective": CollectiveTable}
"""Schemas whose columns say what a measured call was of, by scope."""


@cache
def quantities() -> dict[tuple[str, str], str]:
    """Scope and quantity of every packaged column that is observed → its unit."""
    found: dict[tuple[str, str], str] = {}
    for fmt in FORMATS:
        for schema in fmt.schemas.values():
            said = getattr(schema.Config, "metadata", None) or {}
            scope = said.get("scope", "configuration")
            for spec in fields(schema).values():
                if spec.quantity:
                    found.setdefault((scope, spec.quantity), spec.unit or "1")
    return found


def schema(said: Description) -> Schema:
    """The pandera model of a description.

    Raises BadFormat for a column that cannot be.
    """
    hints = get_type_hints(Configuration)
    taken = hints if said.scope == "configuration" else dict.fromkeys(GEMM_BASE, str)
    body: dict[str, Any] = {}
    kinds: dict[str, type] = {}
    for name in (name for name in Configuration.__fields__ if name in taken):
        body[name], kinds[name] = _silent(Configuration, name), hints[name]
    if said.scope == "gemm":
        _product(said)
        body["b"], kinds["b"] = logged(kind="exact", ge=1, nullable=True), int
    if said.scope in CALLS:
        packaged = CALLS[said.scope]
        shape = get_type_hints(packaged)
        for name in (name for name in packaged.__fields__ if not fields(packaged)[name].quantity):
            body[name], kinds[name] = _silent(packaged, name), shape[name]
    owners: dict[str, str] = {}
    for column in said.columns:
        _check(said, column, owners)
        body[column.name], kinds[column.name] = _field(said, column), column.type
    body["Config"] = type("Config", (), {"metadata": _about(said)})
    body |= {"__annotations__": kinds, "__module__": __name__, "__doc__": said.about}
    metaclass: Any = type(Configuration)
    model: Schema = metaclass(said.name, (pa.DataFrameModel,), body)
    by_label(model)
    return model


def _about(said: Description) -> dict[str, Any]:
    if said.scope in CALLS:
        return dict(CALLS[said.scope].Config.metadata)
    subject = {"subject": ("b", *PRODUCT)} if said.scope == "gemm" else {}
    return {"scope": said.scope, **subject}


def _product(said: Description) -> None:
    for name in PRODUCT:
        if not any(column.name == name and column.type is int for column in said.columns):
            raise said.fault(f"a product needs the integer column {name!r}", "columns")


def _silent(of: Schema, name: str) -> Any:
    """A column of a packaged schema that no label of the line itself fills."""
    held = copy.copy(of.__fields__[name][1])
    held.metadata = {**(held.metadata or {}), "spellings": {}, "known": False}
    return held


def _field(said: Description, column: Column) -> Any:
    known = fields(Configuration).get(column.name)
    made = logged(
        {label: _factor(said, column, label) for label in column.labels},
        kind=column.kind, unit=column.unit, quantity=column.quantity, meaning=column.meaning,
        role=column.role, terminal=column.terminal, configuration=known is not None,
        nullable=column.nullable, **column.checks,
    )  # fmt: skip
    if known is not None:
        made.checks = [*Configuration.__fields__[column.name][1].checks, *made.checks]
    return made


def _factor(said: Description, column: Column, label: str) -> float:
    """Factor from a bare number under a label to the unit of the column: given, or a unit's."""
    factor = column.labels[label]
    if not isinstance(factor, str):
        return factor
    known = unit(factor)
    at = ("columns", column.name, "labels", label)
    if known is None:
        raise said.fault(f"{factor!r} is no unit{nearest(factor, UNITS)}", *at)
    if known.si != (column.unit or "1"):
        stands = column.unit or "none"
        raise said.fault(f"{factor!r} is in {known.si}, and the column's unit is {stands}", *at)
    return known.scale


def _check(said: Description, column: Column, owners: dict[str, str]) -> None:
    """Refuse a column whose name, type, kind, unit or labels cannot be."""
    at = ("columns", column.name)
    if column.name in BASE or column.name.endswith("_ulp"):
        raise said.fault("every frame has a column of this name already; choose another", *at)
    known = fields(Configuration).get(column.name)
    if known and column.type is not TYPES[TYPE_OF[known.dtype]]:
        wanted = f"a configuration column of this name holds {known.dtype}"
        raise said.fault(f"{wanted}, not {column.type.__name__}; choose another name", *at)
    if known and column.unit != known.unit:
        raise said.fault(f"the configuration column of this name is in {known.unit or 'no unit'}",
                         *at, "unit")  # fmt: skip
    if not is_kind(column.kind):
        raise said.fault(f"expected one of {', '.join(KINDS)}, fixed(n); got {column.kind!r}",
                         *at, "kind")  # fmt: skip
    _check_unit(said, column)
    if column.terminal is not None:
        _check_terminal(said, column)
    for label in column.labels:
        other = owners.setdefault(normalise(label), column.name)
        if other != column.name:
            raise said.fault(f"the label {label!r} belongs to {other!r} already", *at, "labels")


def _check_unit(said: Description, column: Column) -> None:
    at = ("columns", column.name, "unit")
    known = unit(column.unit) if column.unit else None
    if known and known.si != column.unit:
        ask = f'frames hold SI: write unit = "{known.si}"'
        raise said.fault(f'{ask}, and labels = {{ "…" = "{column.unit}" }} where bare numbers are '
                         f"in {column.unit}", *at)  # fmt: skip
    if column.quantity is None:
        return
    if column.type not in (float, int):
        raise said.fault("a quantity is a number", "columns", column.name, "quantity")
    usual = quantities().get((said.scope, column.quantity))
    if usual is not None and usual != (column.unit or "1"):
        got = f"got {column.unit!r}" if column.unit else "none is given"
        raise said.fault(f"the quantity {column.quantity!r} is in {usual}; {got}", *at)


def _check_terminal(said: Description, column: Column) -> None:
    at = ("columns", column.name, "terminal")
    try:
        terminal(column.terminal or "")
    except Exception:  # whatever Lark says, the name is none of common.lark
        raise said.fault(f"common.lark has no terminal {column.terminal!r}", *at) from None
