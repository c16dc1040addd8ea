"""Long tables of separated values: rows that differ in digits alone are read as one of them is.

In: a `Sheet`, whose cells stand in columns. Out: one `Record` for all of its rows that are written
alike, with the digits of each: their words, outcomes and empty cells are the same; what these are
is for who reads a row. Rows of another width, with quotes or with a fault are read one by one;
where rows are too unlike each other, all of them are (`IrregularError`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from assay.ingest.columns.cells import SYSTEMS, asks_for_memory, bare_number
from assay.ingest.columns.composite import calculation
from assay.ingest.columns.headers import OF_EACH, Column, plain
from assay.ingest.columns.subject import numbering, summary
from assay.ingest.grids.delimited import Sheet, cell_places
from assay.ingest.grids.grid import GridCell, GridRow
from assay.ingest.schema.record import Alike, Diagnostic, Record, Span
from assay.ingest.tables import captions
from assay.ingest.tables.row_cells import CORNERS, NOTHING, fill
from assay.ingest.vocabulary.terms import normalise

FEW_WAYS, ROWS_OF_A_WAY = 20, 50
"""Ways in which rows may be written, and rows that each further one must have on average."""

_BARE = r"^[0-9]+(?:\.[0-9]+)?$"

_NUMBER = r"^([0-9]+(?:\.[0-9]+)?)(\s*[A-Za-zµ%/]+)?$"


class IrregularError(Exception):
    """A table whose rows have to be read one by one."""


Read = Callable[[GridRow], Record | Diagnostic | None]
"""A row → its record, the fault of it, or None where it is no row of measurements."""


@dataclass
class Ways:
    """The rows of a sheet, by the ways in which they are written.

    `records` stand for all rows of a way; `others` are rows to be read one by one.
    """

    records: list[Record]
    others: list[GridRow]


def ways(
    whole: Sheet, columns: Sequence[Column | None], read: Read, factors: Sequence[str]
) -> Ways:
    """Every way in which rows of a sheet are written, read once.

    Raises IrregularError where the ways are too many, or rows speak of each other.
    """
    _alone(whole, columns)
    cells = whole.cells
    most = FEW_WAYS + cells.height // ROWS_OF_A_WAY
    keys = [
        key.alias(f"{name}@key")
        for name, column in zip(cells.columns[1:], columns, strict=True)
        if column is not None and (key := _key(column, cells[name], factors, most)) is not None
    ]
    keyed = cells.with_columns(keys)
    names = [name for name in keyed.columns[cells.width :] if _varies(keyed[name])]
    if names and keyed.select(pl.struct(names).n_unique()).item() > most:
        raise IrregularError
    groups = keyed.partition_by(names, maintain_order=True) if names else [keyed]
    found = Ways([], list(whole.odd))
    for group in groups:
        row = whole.row(group["at"][0])
        record = read(row)
        if isinstance(record, Record):
            _stand_for(record, row, group, whole, columns)
            found.records.append(record)
        else:
            found.others += [whole.row(at) for at in group["at"]]
    return found


def _alone(whole: Sheet, columns: Sequence[Column | None]) -> None:
    """Raise IrregularError where what a row is depends on the digits of more than one cell."""
    for name, column in zip(whole.cells.columns[1:], columns, strict=True):
        if column is None:
            continue
        counted = column.spec is not None and column.spec.quantity is not None
        first = whole.cells[name].head(3).to_list()
        if column.rank == OF_EACH or column.listed or normalise(column.label) == "lbs":
            raise IrregularError
        if counted and numbering(first) and numbering(whole.cells[name].to_list()):
            raise IrregularError


def _key(column: Column, texts: pl.Series, factors: Sequence[str], most: int) -> pl.Expr | None:
    """Key of rows that are read alike, of one column; None where all of them have it in common.

    Raises IrregularError where it alone shows that there are more than `most` ways.
    """
    text, spec = pl.col(texts.name), column.spec
    if spec is None and _says_by_number(column):
        return text
    if spec is not None and (not spec.numeric or spec.name == "global_batch"):
        return text  # more sequences than any batch has are of unknown meaning
    bare = texts.str.contains(_BARE)
    if bare.all() and texts.str.contains("[1-9]").all():
        return None
    if spec is None:
        silent = _silent_of(texts.filter(~bare).unique(maintain_order=True), most, column, factors)
        key = pl.when(text.is_in(silent)).then(pl.lit("\0")).otherwise(text) if silent else text
        return pl.when(bare).then(_digit(text)).otherwise(key)
    number, unit = text.str.extract(_NUMBER, 1), text.str.extract(_NUMBER, 2)
    if spec.name == "gpus":  # `8 A100` are devices of a name
        return pl.when(bare).then(_digit(text)).otherwise(text)
    folded = pl.concat_str(_digit(number), unit.fill_null(""))
    return pl.when(number.is_not_null()).then(folded).otherwise(text)


def _varies(texts: pl.Series) -> bool:
    return bool((texts != texts[0]).any())


def _digit(number: pl.Expr) -> pl.Expr:
    """One digit for a number: 0 is none to some columns."""
    nothing = (
        pl.when(number.str.contains(".", literal=True)).then(pl.lit("0.0")).otherwise(pl.lit("0"))
    )
    return pl.when(number.str.contains("[1-9]")).then(pl.lit("1")).otherwise(nothing)


def _says_by_number(column: Column) -> bool:
    """Whether a column that no field declares may say more by a number than how much it is."""
    label = normalise(column.label)
    free = not column.label or label in CORNERS or label in SYSTEMS
    return free or bool(column.degrees) or asks_for_memory(column.label)


def _silent_of(texts: pl.Series, most: int, column: Column, factors: Sequence[str]) -> list[str]:
    """Those of different texts that say nothing of their rows; each other one is a way of its own.

    Raises IrregularError where those are more than `most`.
    """
    silent: list[str] = []
    for at, text in enumerate(texts):
        if _silent(text, column, factors):
            silent.append(text)
        elif at - len(silent) >= most:
            raise IrregularError
    return silent


def _silent(text: str, column: Column, factors: Sequence[str]) -> bool:
    """Whether a text says nothing of its row: a name, a time of day."""
    if NOTHING.fullmatch(text) or summary(text) or calculation(plain(text)):
        return False
    alone = Record(0, {}, other=[])
    fill(alone, column, GridCell(text, 0, 1), Span("", 0, 1), factors)
    if alone.cells or alone.other != [(column.label, text)] or captions.trains_all(alone):
        return False
    captions.mark(alone)
    return not alone.cells


def _stand_for(
    record: Record,
    row: GridRow,
    group: pl.DataFrame,
    whole: Sheet,
    columns: Sequence[Column | None],
) -> None:
    """Make the record of a row that of all rows of its way."""
    texts: dict[str, pl.Series] = {}
    others: dict[int, pl.Series] = {}
    entries = list(record.other)
    for at, (column, cell) in enumerate(zip(columns, row.cells, strict=True)):
        own = group[f"c{at}"]
        if column is None or not _varies(own):
            continue
        if column.spec is None:
            others[entries.index((column.label, cell.text))] = own
            continue
        held = record.cells.get(column.spec.name)
        digits = own if bare_number(cell.text) else own.str.extract(_NUMBER, 1)
        if held is None or held.column != cell.column or held.text not in (digits[0], cell.text):
            raise IrregularError
        texts[column.spec.name] = digits if held.text == digits[0] else own
    numbers = [whole.lines[at].number for at in group["at"]]
    lines = pl.Series("line", numbers, dtype=pl.UInt32)
    stands = _standing(record, row)

    def place(at: int, name: str) -> int:
        line = whole.lines[int(group["at"][at])]
        if name not in stands:
            return line.column
        number, behind = stands[name]
        return line.column + cell_places(line.text, whole.separator)[number] + behind

    record.alike = Alike(lines, texts, others, place)


def _standing(record: Record, row: GridRow) -> Mapping[str, tuple[int, int]]:
    """The cell of a row in which each field stands, and how far behind its beginning."""
    found: dict[str, tuple[int, int]] = {}
    starts = [cell.column for cell in row.cells]
    for name, cell in record.cells.items():
        if cell.line == record.line and cell.column >= starts[0]:
            number = max(n for n, start in enumerate(starts) if start <= cell.column)
            found[name] = number, cell.column - starts[number]
    return found
