"""A format as its TOML file says it: checked key by key, before anything is built from it.

In: the text of a file. Out: a `Description`, or `BadFormat` that names file, line, key and what was
expected there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, cast, get_args

import polars as pl
from assay.grammars.toml import toml
from assay.ingest.formats.own.fault import BadFormat, line_of, nearest
from assay.ingest.formats.own.own_tables import Tables
from assay.ingest.formats.own.safety import runaway
from assay.ingest.numbers.units import UNITS, unit
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Origin
from assay.ingest.vocabulary.terms import Role

NAME = re.compile(r"[a-z][a-z0-9_]*")

TYPES: dict[str, type] = {"float": float, "integer": int, "text": str, "bool": bool}

TYPE_OF = {pl.Float64(): "float", pl.Int64(): "integer", pl.String(): "text", pl.Boolean(): "bool"}

_KIND_OF = {"float": "decimal", "integer": "exact", "text": "exact", "bool": "exact"}

CHECKS = ("ge", "gt", "le", "lt", "isin")

COLUMN_KEYS = ("labels", "type", "kind", "unit", "quantity", "role", "nullable", "meaning",
               "terminal", *CHECKS)  # fmt: skip

KEYS = ("name", "about", "origin", "heads", "before", "separator", "assign", "grammar",
        "grammar_file", "tables", "scope", "columns", "samples")  # fmt: skip

SIDE_KEYS = ("configuration", "where")
"""Keys of a side file beside those of a description."""

TABLES_KEYS = ("header", "transpose", "melt", "split", "values")

MELT_KEYS = ("labels", "name", "value", "unit")

SAMPLE_KEYS = ("line", "table", "values")

SCOPES = ("configuration", "gemm", "attention", "collective")

Value = str | int | float | bool


@dataclass(frozen=True)
class Column:
    """One column: `labels` as printed, each with a factor, or with the unit of a bare number."""

    name: str
    labels: Mapping[str, float | str]
    type: type
    kind: str
    unit: str | None = None
    quantity: str | None = None
    role: Role | None = None
    nullable: bool = True
    meaning: str = ""
    terminal: str | None = None
    checks: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """A line of the format, and the value of every column that is read from it."""

    line: str
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Description:
    """All that a file says; `grammar` is Lark text, or None where `separator` and `assign` do."""

    path: str
    text: str
    name: str
    about: str
    origin: Origin
    heads: tuple[str, ...]
    before: str
    separators: tuple[str, ...]
    assign: str | None
    grammar: str | None
    grammar_file: str | None
    scope: str
    columns: tuple[Column, ...]
    samples: tuple[Sample, ...]
    tables: Tables | None = None
    inputs: tuple[str, ...] = ()  # the only ones whose tables it describes; none: any

    def fault(self, message: str, *path: str | int) -> BadFormat:
        """The error for one key, at the line where it stands."""
        return BadFormat(_message(self.path, self.text, message, path))


def _message(path: str, text: str, message: str, at: Sequence[str | int]) -> str:
    key = ".".join(str(part) for part in at)
    return f"{path}:{line_of(text, *at)}: {f'{key}: ' if key else ''}{message}"


class _Reader:
    """One table of the document, and where it stands: every getter checks and complains."""

    def __init__(self, path: str, text: str, table: Mapping[str, Any], at: tuple[str | int, ...]):
        self.path, self.text, self.table, self.at = path, text, table, at

    def fail(self, message: str, *key: str | int) -> NoReturn:
        raise BadFormat(_message(self.path, self.text, message, (*self.at, *key)))

    def only(self, known: Sequence[str]) -> None:
        for key in self.table:
            if key not in known:
                self.fail(f"is no key of a format{nearest(key, known)}", key)

    def string(self, key: str, default: str | None = None) -> str:
        value = self.table.get(key, default)
        if not isinstance(value, str):
            self.fail(f"expected a text in quotes{_got(value)}", key)
        return value

    def optional(self, key: str) -> str | None:
        return self.string(key) if key in self.table else None

    def strings(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, ())
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            self.fail(f"expected a list of texts{_got(value)}", key)
        return tuple(value)

    def choice(self, key: str, known: Sequence[str], default: str) -> str:
        value = self.string(key, default)
        if value not in known:
            self.fail(f"expected one of {', '.join(known)}; got {value!r}", key)
        return value

    def inner(self, key: str | int, value: Any) -> _Reader:
        if not isinstance(value, dict):
            self.fail(f"expected a table{_got(value)}", key)
        return _Reader(self.path, self.text, value, (*self.at, key))


def _got(value: object) -> str:
    return "; it is missing" if value is None else f"; got {value!r}"


def describe(path: str, text: str) -> Description:
    """The description in `text`; `path` names it in messages and says where a grammar file is.

    Raises BadFormat for anything that is not as it should be.
    """
    try:
        document = toml(text)
    except tomllib.TOMLDecodeError as fault:
        place = re.search(r"line ([0-9]+), column ([0-9]+)", str(fault))
        where = f"{path}:{place[1]}:{place[2]}" if place else path
        raise BadFormat(f"{where}: not TOML: {fault}") from None
    return describe_document(path, text, document)


def describe_document(
    path: str, text: str, document: Mapping[str, Any], *, name: str = ""
) -> Description:
    """The description in a TOML document that is parsed already; `text` is its source.

    With a `name` it is the side file of an input of that name: beside its configuration stands what
    the tables of the input hold, and neither its own name nor samples need to.
    """
    top = _Reader(path, text, document, ())
    top.only((*KEYS, *SIDE_KEYS) if name else KEYS)
    beside, name = bool(name), top.string("name", name or None)
    if not NAME.fullmatch(name):
        top.fail(f"expected lower-case letters, digits and `_`; got {name!r}", "name")
    heads = top.strings("heads")
    tables = _tables(top) if "tables" in top.table else None
    if tables is not None and "heads" not in top.table:
        heads = tables.header
    if not heads or not all(head.strip() for head in heads):
        top.fail('expected what lines of this format begin with, such as ["step="]', "heads")
    origin: Any = top.choice("origin", get_args(Origin), "measured")
    return Description(
        path=path, text=text, name=name, about=top.string("about", f"Lines of {name}."),
        origin=origin, heads=heads, before=_expression(top, "before"),
        **_making(top), scope=top.choice("scope", SCOPES, "configuration"),
        columns=_columns(top), tables=tables,
        samples=() if beside and "samples" not in top.table else _samples(top),
    )  # fmt: skip


def _tables(top: _Reader) -> Tables:
    """Which tables are meant, and what is done to them before their cells are read."""
    said = top.inner("tables", top.table["tables"])
    said.only(TABLES_KEYS)
    header = said.strings("header")
    if not header or not all(label.strip() for label in header):
        said.fail(
            'expected labels that a table must have, such as ["nodes", "step time"]', "header"
        )
    transpose = said.table.get("transpose", False)
    if not isinstance(transpose, bool):
        said.fail(f"expected true or false{_got(transpose)}", "transpose")
    found = Tables(header, transpose, split=_split(said), values=_texts(said, "values"))
    return replace(found, **_melt(said)) if "melt" in said.table else found


def _melt(tables: _Reader) -> dict[str, Any]:
    said = tables.inner("melt", tables.table["melt"])
    said.only(MELT_KEYS)
    factor = said.optional("unit")
    known = unit(factor) if factor else None
    if factor and known is None:
        said.fail(f"{factor!r} is no unit{nearest(factor, UNITS)}", "unit")
    return {
        "melt": _texts(said, "labels"), "melt_name": said.string("name"),
        "melt_value": said.string("value"), "melt_unit": known.scale if known else 1.0,
    }  # fmt: skip


def _texts(said: _Reader, key: str) -> dict[str, str]:
    """A table of texts; numbers and truths as they would be printed."""
    table = said.inner(key, said.table.get(key, {})).table
    for name, value in table.items():
        if not isinstance(value, (str, int, float, bool)):
            said.fail(f"expected a text or a number{_got(value)}", key, name)
    return {name: str(value) for name, value in table.items()}


def _split(said: _Reader) -> dict[str, str]:
    table = said.inner("split", said.table.get("split", {}))
    for label in table.table:
        expression = table.string(label)
        try:
            groups = re.compile(expression).groupindex
        except re.error as fault:
            table.fail(f"no regular expression: {fault}", label)
        if not groups:
            table.fail("expected groups that are named as columns: (?P<tp>[0-9]+)", label)
        if why := runaway(expression):
            table.fail(why, label)
    return dict(table.table)


def _expression(top: _Reader, key: str) -> str:
    value = top.string(key, "")
    try:
        re.compile(value)
    except re.error as fault:
        top.fail(f"no regular expression: {fault}", key)
    return value


def _making(top: _Reader) -> dict[str, Any]:
    """How a line is cut: separator and assign, or a grammar, here or beside this file."""
    grammar, file = top.optional("grammar"), top.optional("grammar_file")
    separators, assign = top.strings("separator"), top.optional("assign")
    every = ("grammar", "grammar_file", "separator", "tables")
    ways = [key for key in every if key in top.table]
    if len(ways) != 1:
        ask = "expected either `separator` and `assign`, `grammar`, `grammar_file`, or [tables]"
        top.fail(f"{ask}; got {' and '.join(ways) or 'none of them'}", *ways[1:2])
    if "separator" in ways and not (separators and all(separators)):
        top.fail("expected what stands between cells, or a list of such texts", "separator")
    if separators and not assign:
        top.fail("expected, beside `separator`, what stands between label and value", "assign")
    if not separators and assign is not None:
        top.fail("stands beside `separator` only: a grammar says it itself", "assign")
    if file is not None:
        try:
            grammar = (Path(top.path).parent / file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            top.fail(f"cannot be read: {getattr(fault, 'strerror', None) or fault}", "grammar_file")
    return {
        "grammar": grammar, "grammar_file": file, "separators": separators, "assign": assign,
    }  # fmt: skip


def _columns(top: _Reader) -> tuple[Column, ...]:
    tables = top.inner("columns", top.table.get("columns"))
    if not tables.table:
        tables.fail("expected at least one table [columns.NAME]")
    return tuple(_column(name, tables.inner(name, each)) for name, each in tables.table.items())


def _column(name: str, said: _Reader) -> Column:
    said.only(COLUMN_KEYS)
    if not NAME.fullmatch(name):
        said.fail("a column is named by lower-case letters, digits and `_`")
    known = fields(Configuration).get(name)
    usual = TYPE_OF.get(known.dtype, "float") if known else "float"
    kind = said.choice("type", tuple(TYPES), usual)
    nullable = said.table.get("nullable", True)
    if not isinstance(nullable, bool):
        said.fail(f"expected true or false{_got(nullable)}", "nullable")
    return Column(
        name=name, labels=_labels(said), type=TYPES[kind],
        kind=said.string("kind", known.kind if known else _KIND_OF[kind]),
        unit=said.optional("unit") or (known.unit if known else None),
        quantity=said.optional("quantity"), role=_role(name, said),
        nullable=nullable, meaning=said.string("meaning", ""),
        terminal=said.optional("terminal"), checks=_checks(said, TYPES[kind]),
    )  # fmt: skip


_USUAL: Mapping[str, Role] = {
    "iteration": "counter", "step": "counter", "train_iters": "schedule",
    "total_steps": "schedule", "lm_loss": "loss", "loss": "loss",
    "skipped_iterations": "skipped", "nan_iterations": "nan",
}  # fmt: skip
"""Roles of columns by the names that packaged formats give them."""


def _role(name: str, said: _Reader) -> Role | None:
    """Purpose of a column, as it is said, or as its name usually has it."""
    if "role" not in said.table:
        return _USUAL.get(name)
    roles = [role for role in get_args(Role) if role != "configuration"]
    return cast("Role", said.choice("role", roles, "label"))


def _labels(said: _Reader) -> dict[str, float | str]:
    """Labels as printed; where none is given, the column has the name that is printed."""
    value = said.table.get("labels", str(said.at[-1]))
    if isinstance(value, str):
        return {value: 1.0}
    if isinstance(value, list) and all(isinstance(label, str) for label in value):
        return dict.fromkeys(value, 1.0)
    if isinstance(value, dict) and all(
        isinstance(v, (int, float, str)) and not isinstance(v, bool) for v in value.values()
    ):
        return {str(label): v if isinstance(v, str) else float(v) for label, v in value.items()}
    said.fail(
        'expected the label as printed, a list of labels, or labels with the unit of a bare number '
        f'or a factor, such as {{ "mem" = "GiB" }}{_got(value)}', "labels",
    )  # fmt: skip


def _checks(said: _Reader, kind: type) -> dict[str, Any]:
    found = {}
    for check in CHECKS:
        if check not in said.table:
            continue
        value = said.table[check]
        if check == "isin":
            if not isinstance(value, list) or not value:
                said.fail(f"expected a list of values{_got(value)}", check)
        elif kind in (str, bool) or isinstance(value, bool) or not isinstance(value, (int, float)):
            said.fail(f"expected a number, and a column of numbers{_got(value)}", check)
        found[check] = value
    return found


def _samples(top: _Reader) -> tuple[Sample, ...]:
    value = top.table.get("samples", [])
    if not isinstance(value, list) or not value:
        top.fail("expected at least one [[samples]] with `line` and `values`: "
                 "a format without a sample is not a format", "samples")  # fmt: skip
    found = []
    for at, each in enumerate(value):
        said = _Reader(top.path, top.text, {str(at): each}, ("samples",)).inner(at, each)
        said.only(SAMPLE_KEYS)
        values = said.inner("values", said.table.get("values")).table
        for name, one in values.items():
            if not isinstance(one, (str, int, float, bool)):
                said.fail(f"expected a number, a text or true or false{_got(one)}", "values", name)
        key = "table" if "tables" in top.table else "line"
        found.append(Sample(said.string(key).rstrip("\r\n"), dict(values)))
    return tuple(found)
