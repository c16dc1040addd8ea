"""How a column is declared: spelling, unit, kind and check, at one place.

A frame is a pandera model whose fields are made by `logged` (printed by the record itself under
labels of its own), `measured` (a quantity that the vocabulary knows by the column's name),
`configured` (a configuration value, printed in the record or bound from outside) or `named`
(text). The metadata comes back as `FieldSpec`, which is all that the decoder, the observer, the
documentation and the binder know of a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, cast

import pandera.polars as pa
import polars as pl
from assay.ingest.numbers.printed import is_kind
from assay.ingest.schema.record import Origin, Schema
from assay.ingest.vocabulary.terms import Per, Role, normalise, terms

Rows = Literal[
    "step", "table", "timer", "rank", "parameters", "run", "argument", "device", "event",
    "validation", "kernel", "call", "launch", "interval", "estimate", "total", "note",
]  # fmt: skip
"""Meaning of the rows of a frame, which `Config.metadata["rows"]` of its schema says: a step of a
run, a row of a table, seconds of a part of a step, memory of a rank, parameters, what a run states,
one argument of it, a device of a node, an event of a job's life, a loss on held-out data, a
measured kernel; of a trace the calls of one shape, one activity of a device, a step of a device;
a number of an estimator; totals of a whole training; or something else beside these. Downstream
asks for it, never for a name.
"""


@dataclass(frozen=True)
class FieldSpec:
    """One column: what it is called in print, what it means, how it is checked."""

    name: str
    dtype: pl.DataType
    kind: str
    unit: str | None
    spellings: Mapping[str, float]  # normalised label → factor from the printed unit to `unit`
    labels: tuple[str, ...]  # the same labels as printed
    own: Mapping[str, float]  # those of them that the schema declares, the vocabulary's left out
    terminal: str
    nullable: bool
    quantity: str | None  # what is observed in this column, if anything
    subject: str | None  # the subject of that observation inside its case
    configuration: bool
    meaning: str
    role: Role | None = None  # what the column is for, see the vocabulary
    per: Per | None = None  # of whom or of what its numbers are
    known: bool = False  # whether the vocabulary says how it is spelled
    checks: tuple[str, ...] = field(default=())

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.dtype.is_numeric()

    @property
    def optional(self) -> bool:
        """Whether a record stands without it; one of another configuration is another record."""
        return self.nullable and not self.configuration

    @property
    def has_ulp(self) -> bool:
        """Whether one unit in the last printed place is kept in a column beside it."""
        return self.numeric and self.kind not in ("exact", "binary")


class _Unchanged(dict[str, Any]):
    """Metadata of a column: it never changes, and pandera copies it twice for each schema."""

    def __deepcopy__(self, _: object) -> _Unchanged:
        return self


def _spelled(spellings: Mapping[str, float] | Iterable[str]) -> dict[str, float]:
    pairs = spellings if isinstance(spellings, Mapping) else dict.fromkeys(spellings, 1.0)
    return {label: float(scale) for label, scale in pairs.items()}


def logged(
    spellings: Mapping[str, float] | Iterable[str] = (),
    *,
    kind: str = "decimal",
    unit: str | None = None,
    quantity: str | None = None,
    subject: str | None = None,
    terminal: str | None = None,
    meaning: str = "",
    configuration: bool = False,
    role: Role | None = None,
    per: Per | None = None,
    known: bool = False,
    **checks: Any,
) -> Any:
    """A column that records print under one of `spellings`, each with its factor to `unit`.

    `quantity` makes it an observation; `role` and `per` say what it is for and its basis; `known`
    adds the spellings that the vocabulary has under the column's name. `checks` are pandera's
    (`ge=0`, `nullable=True`, …). Raises ValueError for an unknown kind.
    """
    if not is_kind(kind):
        raise ValueError(f"{kind!r} is no kind of number")
    metadata = _Unchanged(
        spellings=_spelled(spellings),
        kind=kind,
        unit=unit,
        quantity=quantity,
        subject=subject,
        terminal=terminal,
        meaning=meaning,
        configuration=configuration,
        role=role,
        per=per,
        known=known,
    )
    return pa.Field(metadata=metadata, **checks)


def configured(
    spellings: Mapping[str, float] | Iterable[str] = (), *, kind: str = "exact", **options: Any
) -> Any:
    """A configuration value: nullable, exact unless said otherwise, bindable from context.

    Without spellings it has those of the vocabulary.
    """
    options.setdefault("nullable", True)
    known = not spellings
    return logged(spellings, kind=kind, configuration=True, known=known, **options)


def measured(*, kind: str = "decimal", **options: Any) -> Any:
    """A measured quantity of the vocabulary: unit, role, basis and spellings are told there."""
    options.setdefault("nullable", True)
    return logged(kind=kind, known=True, quantity=OWN_NAME, **options)


OWN_NAME = "="
"""As a quantity: the name of the column itself."""


def named(spellings: Iterable[str] = (), **options: Any) -> Any:
    """A text column: a name, a date, a note."""
    options.setdefault("nullable", True)
    known = bool(options.get("configuration")) and not spellings
    return logged(spellings, kind="exact", known=known, **options)


_TERMINALS = {"integer": "INT", "float": "NUMBER", "bool": "BOOL", "text": "TEXT"}


def _terminal(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return _TERMINALS["integer"]
    if dtype.is_float():
        return _TERMINALS["float"]
    return _TERMINALS["bool"] if dtype == pl.Boolean else _TERMINALS["text"]


@cache
def fields(schema: Schema) -> dict[str, FieldSpec]:
    """The columns of a pandera model, in the order of declaration."""
    columns = schema.to_schema().columns
    specs = {}
    for name, column in columns.items():
        meta = column.metadata or {}
        dtype = column.dtype.type if hasattr(column.dtype, "type") else column.dtype
        dtype = dtype() if isinstance(dtype, type) else dtype
        own = meta.get("spellings", {})
        term = terms()[name] if meta.get("known") else None
        spellings = own if term is None else own | dict(term.labels)
        quantity = meta.get("quantity")
        specs[name] = FieldSpec(
            name=name,
            dtype=dtype,
            kind=meta.get("kind", "exact"),
            unit=meta.get("unit") or (term.unit if term else None),
            spellings={normalise(label): scale for label, scale in spellings.items()},
            labels=tuple(spellings),
            own={normalise(label): scale for label, scale in own.items()},
            terminal=meta.get("terminal") or _terminal(dtype),
            nullable=column.nullable,
            quantity=name if quantity == OWN_NAME else quantity,
            subject=meta.get("subject"),
            configuration=bool(meta.get("configuration")),
            meaning=meta.get("meaning", ""),
            role=meta.get("role") or (term.role if term else None),
            per=meta.get("per") or (term.per if term else None),
            known=term is not None,
            checks=tuple(str(check) for check in column.checks),
        )
    return specs


def about_rows(schema: Schema) -> Mapping[str, Any]:
    """Everything that a schema says of its rows as a whole."""
    return getattr(schema.Config, "metadata", None) or {}


@cache
def rows_of(schema: Schema, origin: Origin) -> Rows:
    """Meaning of the rows of a frame.

    Of a schema that does not say it, measured rows that count steps or tell a step's time are
    steps, and all others notes.
    """
    said = about_rows(schema)
    if "rows" in said:
        return cast("Rows", said["rows"])
    steps = any(spec.role == "counter" or spec.quantity == "step_time"
                for spec in fields(schema).values())  # fmt: skip
    told = origin == "measured" and said.get("scope", "configuration") == "configuration"
    return "step" if steps and told else "note"


@cache
def by_label(schema: Schema) -> dict[str, tuple[FieldSpec, float]]:
    """Normalised label → the column it belongs to and its factor.

    Raises ValueError where two columns of one schema claim a label.
    """
    table: dict[str, tuple[FieldSpec, float]] = {}
    for spec in fields(schema).values():
        for label, scale in spec.spellings.items():
            if label in table:
                raise ValueError(f"{label!r} is claimed by {table[label][0].name} and {spec.name}")
            table[label] = (spec, scale)
    return table


def labelled(texts: pl.Series, schema: Schema) -> pl.Series:
    """The texts in which some label of a schema may stand before a separator.

    Whatever is found to be a metric of the schema by its label is among them.
    """
    words, alone = _ends(schema)
    plain = without_html(texts)
    bare = plain.str.replace_all(_BETWEEN, "").str.to_lowercase()
    found = bare.str.contains(rf"{words}(?:{_SEPARATOR})") | plain.str.contains(alone)
    # brackets behind a label may hold anything
    at = (~found & plain.str.contains("(", literal=True)).arg_true()
    if not len(at):
        return found
    return found.scatter(at, bare.gather(at).str.contains(rf"{words}(?s:.)*(?:{_SEPARATOR})"))


@cache
def _ends(schema: Schema) -> tuple[str, str]:
    """The last words of labels, in polars' syntax.

    Of those that are found wherever they stand, in texts without what may stand between their
    letters; and of those that are words alone, in texts as they are, a separator behind them.
    """
    labels = (label for spec in fields(schema).values() for label in spec.labels)
    ends = sorted({_end(word) for label in labels for word in _whole(label)})
    words = (re.escape(end) for end in ends if end[0] != _ALONE)
    alone = (f"{_BETWEEN}*".join(map(re.escape, end[1:])) for end in ends if end[0] == _ALONE)
    behind = rf"(?:{_BETWEEN}|\([^()]*\))*(?:{_SEPARATOR})"
    return (
        f"(?:{'|'.join(words)})",
        rf"(?i:(?:^|[^a-z0-9])(?:{'|'.join(alone)})){behind}",
    )


def without_html(texts: pl.Series) -> pl.Series:
    """Texts with a blank in place of each `&nbsp;` and `<br>` of HTML."""
    held = texts.str.contains_any(["&nbsp;", "<br"])
    return texts.str.replace_all(_HTML, " ") if held.any() else texts


_HTML = "&nbsp;|<br */?>"

_BETWEEN = r'[\s_\-#.()\[\]`\\*"\']'

_SEPARATOR = "[=:：]|is"

_ALONE = " "


def _end(label: str) -> str:
    """The last letters of a label, at least four; all of a shorter one, which is a word alone."""
    if not label.isascii():  # of another alphabet
        return re.sub(_BETWEEN, "", label.lower())
    words = list(re.finditer("[a-z0-9]+", label.lower()))
    sizes = [len(word[0]) for word in words]
    count = next((n for n in range(1, len(words)) if sum(sizes[-n:]) >= 4), len(words))
    # what `normalise` keeps stands between the words of `samples/sec`
    end = "".join(re.findall("[a-z0-9/*%]", label.lower()[words[-count].start() : words[-1].end()]))
    return end if sum(sizes[-count:]) >= 4 else _ALONE + end


def _whole(label: str) -> list[str]:
    """A label, and what is left of it without a unit in brackets."""
    bare = re.sub(r"[\s_]*\([^()]*\)\s*$", "", label)
    return [label, bare] if bare else [label]
