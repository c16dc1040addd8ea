"""From records to accepted rows: typed, validated, and every refusal with its reason.

A cell that does not decode, or fails a check of its column, costs itself where its column is
optional: it is left empty, with a diagnostic, and the row stands. A row is refused where such a
cell must be there, or says which configuration was measured; the other rows stand.

Values that were not simply printed in their row, and cells that hold something else than a value,
are kept in `PROVENANCE`, one row each.

pandera says which row fails which check; that costs milliseconds per frame, and nearly every frame
passes. So the same checks are first put as one expression over all columns (`passes`): where it is
true, pandera would find nothing; where it is false, or a check is not among those that are known
here, pandera is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import pandera.errors
import pandera.polars as pa
import polars as pl
from assay.ingest.numbers.printed import printed
from assay.ingest.schema.decoding import decode, expected
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.record import Cell, Code, Diagnostic, Record, Schema, Span

OTHER = pl.List(pl.Struct({"name": pl.String, "text": pl.String}))

BASE_TYPES: dict[str, pl.DataType] = {
    "source": pl.String(),
    "line": pl.UInt32(),
    "column": pl.UInt32(),
    "host": pl.String(),
    "rank": pl.String(),
    "timestamp": pl.String(),
    "mark": pl.String(),
    "other": OTHER,
}

PROVENANCE: dict[str, pl.DataType] = {
    "source": pl.String(),
    "line": pl.UInt32(),  # of the row, or of the first row of many
    "column": pl.UInt32(),  # where the row begins in it: several rows may share a line
    "last_line": pl.UInt32(),  # of many: it holds for every row of the frame from line to here
    "frame": pl.String(),
    "field": pl.String(),
    "state": pl.String(),  # value, outcome, unknown, missing
    "value_origin": pl.String(),  # printed, context, inferred, assumed, corrected
    "kind": pl.String(),  # where it differs from the column's
    "text": pl.String(),
    "from_line": pl.UInt32(),  # where the value stands, if it does
    "law": pl.String(),  # what an inferred or assumed value rests on
    "low": pl.Float64(),  # the printed interval, where the kind differs from the column's
    "high": pl.Float64(),
}


class Accepted(NamedTuple):
    """The good rows, the positions of the bad ones, and their faults with the row of each.

    `emptied` are cells of good rows that were left empty, by row and field, each with its reason.
    """

    frame: pl.DataFrame
    bad: set[int]
    refused: list[Diagnostic]
    rows: list[int]
    emptied: dict[tuple[int, str], Diagnostic]


def raw_frame(sources: Sequence[str], records: Sequence[Record], schema: Schema) -> pl.DataFrame:
    """Records as a raw frame: text per column, with scales where a cell has one; `decode` types it.

    `sources` names the source of each record.
    """
    data: dict[str, Any] = {
        "source": list(sources),
        "line": [record.line for record in records],
        "column": [record.column for record in records],
        "mark": [record.mark for record in records],
    }
    for name in ("host", "rank", "timestamp"):
        data[name] = [record.prefix.get(name) for record in records]
    types = {name: dtype for name, dtype in BASE_TYPES.items() if name != "other"}
    columns = _cells(records)
    for name in fields(schema):
        if name not in columns:
            continue
        cells = columns[name]
        data[name] = [cell.text if cell and cell.state == "value" else None for cell in cells]
        types[name] = pl.String()
        if any(cell and cell.scale != 1.0 and cell.state == "value" for cell in cells):
            held = (cell if cell and cell.state == "value" else None for cell in cells)
            data[f"{name}@scale"] = [cell.scale if cell else None for cell in held]
            types[f"{name}@scale"] = pl.Float64()
    return pl.DataFrame(data, schema=types).with_columns(other=_others(records))


def alike_frame(source: str, record: Record, schema: Schema) -> pl.DataFrame:
    """The same of all rows that one record stands for."""
    alike = record.alike
    assert alike is not None
    one = raw_frame([source], [record], schema).drop("line", "other")
    other = [
        pl.struct(name=pl.lit(label), text=alike.others.get(at, pl.lit(text)))
        for at, (label, text) in enumerate(record.other)
    ]
    frame = pl.DataFrame({"line": alike.lines}).join(one, how="cross")
    return frame.with_columns(
        *(texts.alias(name) for name, texts in alike.texts.items() if one[name][0] is not None),
        other=pl.concat_list(other).cast(OTHER) if other else pl.lit([], dtype=OTHER),
    )


def _cells(records: Sequence[Record]) -> dict[str, list[Cell | None]]:
    """Column → its cell in each record; columns that no record has are not there."""
    columns: dict[str, list[Cell | None]] = {}
    for row, record in enumerate(records):
        for name, cell in record.cells.items():
            if name not in columns:
                columns[name] = [None] * len(records)
            columns[name][row] = cell
    return columns


def complete(raw: pl.DataFrame) -> pl.DataFrame:
    """A raw frame with every base column, those that were not given as null."""
    missing = {
        name: pl.lit(None, dtype=dtype) for name, dtype in BASE_TYPES.items() if name not in raw
    }
    if "other" in raw.columns:
        raw = raw.with_columns(pl.col("other").cast(OTHER))
    return raw.with_columns(**missing)


def _others(records: Sequence[Record]) -> pl.Series:
    """The cells nobody declares, one list per record; built flat, since nested lists are slow."""
    flat = [(row, *pair) for row, record in enumerate(records) for pair in record.other]
    if not flat:
        return pl.Series("other", [[]], dtype=OTHER).new_from_index(0, len(records))
    rows = pl.DataFrame({"row": pl.int_range(len(records), eager=True)})
    cells = pl.DataFrame(
        flat, schema={"row": pl.Int64, "name": pl.String, "text": pl.String}, orient="row"
    )
    lists = cells.group_by("row").agg(other=pl.struct("name", "text"))
    joined = rows.join(lists, on="row", how="left", maintain_order="left")["other"]
    return joined.cast(OTHER).fill_null([])


def provenance(frame: str, records: Iterable[tuple[str, Record]], schema: Schema) -> pl.DataFrame:
    """One row per cell that is not a plain value printed in its own row; records by source."""
    specs = fields(schema)
    rows = [
        _provenance_row(source, frame, record, name, cell, specs[name])
        for source, record in records
        for name, cell in record.cells.items()
        if name in specs and not _plain(record, cell)
    ]
    # by columns: from rows, polars looks at each value on its own
    columns = [*zip(*rows, strict=True)] or [()] * len(PROVENANCE)
    return pl.DataFrame(dict(zip(PROVENANCE, columns, strict=True)), PROVENANCE)


def alike_provenance(source: str, frame: str, record: Record, schema: Schema) -> pl.DataFrame:
    """The same for all rows that one record stands for."""
    alike, specs = record.alike, fields(schema)
    assert alike is not None
    found = [pl.DataFrame(schema=PROVENANCE)]
    for name, cell in record.cells.items():
        if name not in specs or _plain(record, cell):
            continue
        row = _provenance_row(source, frame, record, name, cell, specs[name])
        one = pl.DataFrame([row], PROVENANCE, orient="row")
        own: dict[str, Any] = {"line": alike.lines}
        if cell.line == record.line:
            own["from_line"] = alike.lines
        if name in alike.texts:
            own["text"] = alike.texts[name]
        if name in alike.texts and cell.kind is not None and row[-1] is not None:
            ends = [printed(text, cell.kind, cell.scale) for text in alike.texts[name]]
            own |= {"low": [each.low for each in ends], "high": [each.high for each in ends]}
        rows = pl.DataFrame(own, {each: PROVENANCE[each] for each in own})
        found.append(rows.join(one.drop(list(own)), how="cross").select(list(PROVENANCE)))
    return pl.concat(found)


def _plain(record: Record, cell: Cell) -> bool:
    here = cell.line == record.line and cell.value_origin == "printed"
    return here and cell.state == "value" and cell.kind is None


def _provenance_row(
    source: str, frame: str, record: Record, name: str, cell: Cell, spec: FieldSpec
) -> tuple[Any, ...]:
    low = high = None
    if cell.kind is not None and cell.state == "value" and spec.numeric:
        _, low, high = printed(cell.text, cell.kind, cell.scale)
    return (
        source, record.line, record.column, None, frame, name, cell.state, cell.value_origin,
        cell.kind, cell.text, cell.line or None, cell.law, low, high,
    )  # fmt: skip


def by_row(said: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Provenance with an entry for each row of the frames: what holds for many rows, spread."""
    many = said.filter(pl.col("last_line").is_not_null())
    if many.is_empty():
        return said
    spread = [
        _spread(many.filter(pl.col("frame") == name), frame) for name, frame in frames.items()
    ]
    single = said.filter(pl.col("last_line").is_null())
    by = ("source", "line", "frame", "field")
    return pl.concat([single, *spread]).sort(by, maintain_order=True)


def _spread(many: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """An entry for each row that those of one frame hold for."""
    if many.is_empty() or frame.is_empty():
        return many.clear()
    ends = many.select("source", first="line", last_line="last_line").unique(maintain_order=True)
    rows = (
        frame.select("source", "line", "column")
        .sort("line")
        .join_asof(
            ends.sort("first"),
            left_on="line",
            right_on="first",
            by="source",
            check_sortedness=False,
        )
    )
    spread = rows.filter(pl.col("line") <= pl.col("last_line")).join(
        many.drop("column").rename({"line": "first"}), on=["source", "first", "last_line"]
    )
    return spread.with_columns(last_line=pl.lit(None, pl.UInt32)).select(many.columns)


Place = Callable[[int, str], tuple[int, int] | None]
"""Row and field → line and column of the cell, for diagnostics; None: where the record is."""


def accept(
    raw: pl.DataFrame,
    schema: Schema,
    place: Place | None = None,
    proven: Set[str] = frozenset(),
    *,
    costs: Literal["cell", "row"] = "cell",
) -> Accepted:
    """Decode and validate a raw frame: the rows that stand, and a diagnostic per row that does not.

    `place` says where a cell stands; without it a diagnostic points at its record. `bad` holds the
    positions of the refused rows in `raw`. Cells of the columns in `proven` match their terminals.
    `costs` is what a bad cell takes with it where its column is optional.
    """
    decoded = decode(raw, schema, proven)
    specs = fields(schema)
    refused: list[Diagnostic] = []
    emptied: dict[tuple[int, str], Diagnostic] = {}
    rows: list[int] = []
    bad: set[int] = set()

    def spared(name: str) -> bool:
        spec = specs.get(name) if costs == "cell" else None
        return spec is not None and spec.optional

    for each in decoded.faults.iter_rows(named=True):
        fault = _undecodable(raw, each, schema, place)
        if spared(each["field"]):  # what does not decode is null already
            emptied[each["row"], each["field"]] = _emptied(fault)
        else:
            bad.add(each["row"])
            rows.append(each["row"])
            refused.append(fault)
    frame = decoded.frame.with_row_index("row")
    good = frame.filter(~pl.col("row").is_in(sorted(bad))) if bad else frame
    failures = _failures(good.drop("row"), schema)
    spare = [
        (int(good["row"][at]), name, message) for at, name, message in failures if spared(name)
    ]
    if spare:
        for row, name, message in spare:
            fault = _out_of_range(raw, row, name, message, place)
            emptied[row, name] = _emptied(fault)
        frame = _without(frame, [(row, name) for row, name, _ in spare])
        good = frame.filter(~pl.col("row").is_in(sorted(bad))) if bad else frame
        failures = _failures(good.drop("row"), schema)
    for at, name, message in failures:
        row = int(good["row"][at])
        bad.add(row)
        rows.append(row)
        refused.append(_out_of_range(raw, row, name, message, place))
    emptied = {(row, name): fault for (row, name), fault in emptied.items() if row not in bad}
    stands = frame.filter(~pl.col("row").is_in(sorted(bad))) if bad else frame
    return Accepted(stands.drop("row"), bad, refused, rows, emptied)


def _without(frame: pl.DataFrame, cells: Sequence[tuple[int, str]]) -> pl.DataFrame:
    """A typed frame without the values of some cells, given by row and field."""
    rows: dict[str, list[int]] = {}
    for row, name in cells:
        for column in (name, f"{name}_ulp"):
            if column in frame.columns:
                rows.setdefault(column, []).append(row)
    return frame.with_columns(
        pl.when(~pl.col("row").is_in(those)).then(pl.col(name)).alias(name)
        for name, those in rows.items()
    )


UNSET = frozenset({"/", "-", "--", "...", "…", "?", "n/a", "na", "none", "null"})
"""Words and numbers that programs print where a value has not been set."""

_MINUS_ONE = re.compile(r"-1(?:\.0*)?(?:[eE][-+]?0+)?")
"""The same in a column that holds nothing below zero."""


def _emptied(fault: Diagnostic) -> Diagnostic:
    """Why a cell is empty: its value is not set yet, or cannot be."""
    text = fault.text.strip()
    if text.casefold() in UNSET or _MINUS_ONE.fullmatch(text):
        name = fault.message.partition(" ")[0]
        message = f"{name} was {text!r}, which says that it is not set yet; it is left empty"
        return Diagnostic(fault.span, Code.UNSET, message, fault.text)
    return fault.of_a_cell()


def _failures(frame: pl.DataFrame, schema: Schema) -> list[tuple[int, str, str]]:
    """Row, column and message of every check that fails; pandera on an eager frame, lazily."""
    if passes(frame, schema):
        return []
    try:
        _checked(schema, frame).validate(frame, lazy=True)
    except pandera.errors.SchemaErrors as faults:
        cases = faults.failure_cases
        assert isinstance(cases, pl.DataFrame)
        ours = cases.filter(pl.col("index").is_null())
        if not ours.is_empty():  # a column-level fault is a bug of the schema, not of the input
            raise
        return [
            (row["index"], row["column"] or "", _said(row["check"], row["failure_case"]))
            for row in cases.unique(["index", "column", "check"], maintain_order=True)
            .sort("index", maintain_order=True)
            .iter_rows(named=True)
        ]
    return []


def check(frame: pl.DataFrame, schema: Schema, names: Sequence[str]) -> bool:
    """Whether these columns of a typed frame pass the checks of their own."""
    if passes(frame.select(names), schema, partial=True):
        return True
    try:
        columns = _part(schema, tuple(names)).columns
        pa.DataFrameSchema(columns).validate(frame.select(names))
    except pandera.errors.SchemaError:
        return False
    return True


def _checked(schema: Schema, frame: pl.DataFrame) -> pa.DataFrameSchema:
    """The part of a schema that a frame can fail: a nullable column without a value cannot."""
    nulls = frame.null_count().row(0, named=True)
    specs = fields(schema)
    return _part(
        schema,
        tuple(n for n, spec in specs.items() if not spec.nullable or nulls[n] < frame.height),
    )


@lru_cache(maxsize=256)
def _part(schema: Schema, names: tuple[str, ...]) -> pa.DataFrameSchema:
    whole = schema.to_schema()
    columns = {name: column for name, column in whole.columns.items() if name in names}
    return pa.DataFrameSchema(columns, checks=whole.checks)


_WORDS = {
    "greater_than_or_equal_to": "at least",
    "greater_than": "more than",
    "less_than_or_equal_to": "at most",
    "less_than": "less than",
    "in_range": "in the range",
}


def _said(check: str, case: object) -> str:
    name, _, arguments = check.partition("(")
    if name == "not_nullable":
        return "is missing"
    words = f"{_WORDS.get(name, name.replace('_', ' '))} {arguments.rstrip(')')}".strip()
    return f"was {case}, expected {words}" if case is not None else f"expected {words}"


def _span(raw: pl.DataFrame, row: int, name: str, place: Place | None) -> Span:
    line, column = (place and place(row, name)) or (raw["line"][row], raw["column"][row])
    return Span(raw["source"][row], line, column)


def _undecodable(
    raw: pl.DataFrame, fault: dict[str, Any], schema: Schema, place: Place | None
) -> Diagnostic:
    spec = fields(schema)[fault["field"]]
    message = f"{spec.name} was {fault['text']!r}, expected {expected(spec, fault['text'])}"
    span = _span(raw, fault["row"], spec.name, place)
    return Diagnostic(span, Code.UNDECODABLE, message, fault["text"])


def _out_of_range(
    raw: pl.DataFrame, row: int, name: str, message: str, place: Place | None
) -> Diagnostic:
    text = raw[name][row] if name in raw.columns else ""
    span = _span(raw, row, name, place)
    return Diagnostic(span, Code.OUT_OF_RANGE, f"{name} {message}".strip(), str(text or ""))


Put = Callable[[pl.Expr, Mapping[str, Any]], pl.Expr]

KNOWN: Mapping[str, Put] = {
    "greater_than_or_equal_to": lambda value, by: value >= by["min_value"],
    "greater_than": lambda value, by: value > by["min_value"],
    "less_than_or_equal_to": lambda value, by: value <= by["max_value"],
    "less_than": lambda value, by: value < by["max_value"],
    "isin": lambda value, by: value.is_in(list(by["allowed_values"])),
}
"""pandera's name of a check → the same for one value; a value that is missing passes."""


def passes(frame: pl.DataFrame, schema: Schema, *, partial: bool = False) -> bool:
    """True where no row can fail; False where pandera has to be asked.

    A NaN is left to pandera, for which it is missing, in range or out of range, as the check goes.
    With `partial`, columns that the frame does not have are not asked for.
    """
    names = tuple(name for name in fields(schema) if name in frame.columns) if partial else None
    asked, held = _asked(schema, names), frame.schema
    if asked is None or any(held.get(name) != kind for name, kind in asked[0].items()):
        return False
    return bool(frame.select(asked[1]).item()) if frame.height else True


@lru_cache(maxsize=256)
def _asked(
    schema: Schema, names: tuple[str, ...] | None = None
) -> tuple[dict[str, pl.DataType], pl.Expr] | None:
    """The types of a schema's columns and all its checks as one; None where one is not known."""
    whole = schema.to_schema()
    if whole.checks or whole.unique:
        return None
    types, all_pass = {}, [pl.lit(value=True)]
    specs = fields(schema)
    for name in specs if names is None else names:
        spec = specs[name]
        column, value = whole.columns[name], pl.col(name)
        types[name] = spec.dtype
        if column.unique or any(check.name not in KNOWN for check in column.checks):
            return None
        if not column.nullable:
            all_pass.append(value.null_count() == 0)
        if spec.dtype.is_float():
            all_pass.append(~value.is_nan().any())
        # all() passes over what is missing
        all_pass += [
            KNOWN[check.name](value, check.statistics or {}).all() for check in column.checks
        ]
    return types, pl.all_horizontal(all_pass)
