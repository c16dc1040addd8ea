"""Columns whose label names a field, and which hold something else: so their cells, or the columns
beside them, say.

In: a view of a grid. Out: the same with such columns as what their cells are. Under `TP` stand true
positives where `FP` stands beside it, under `Size` 7 and 13 are no numbers of parameters, `GFLOPs`
below any rate of an accelerator are what one pass of a model costs, and whole numbers under `GPU`
are how many there were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from assay.ingest.columns.cells import amount, bare_number, listed, quantity, slices
from assay.ingest.columns.headers import Column, plain
from assay.ingest.columns.titles import names_format
from assay.ingest.grids.grid import LONGEST, Grid, GridRow
from assay.ingest.prose.counted_operations import of_hardware
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Schema, Span
from assay.ingest.tables.row_cells import mostly_odd, of_ways
from assay.ingest.tables.views import View
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import normalise
from assay.ingest.vocabulary.words import split

_Cells = list[tuple[str, Cell]]
"""Texts of a column that are numbers of its field, and what they are."""


def meant_otherwise(view: View) -> set[int]:
    """Places of the columns of a view that hold something else than their label says."""
    labels = {normalise(column.label) for column in view.columns()}
    found = set()
    for at, column in view.places.items():
        name = column.spec.name if column.spec else ""
        asked = _ASKED.get(name)
        cells = list(_numbers(view, at, column)) if asked else []
        if _BESIDE.get(name, set()) & labels or (asked and cells and asked(view, column, cells)):
            found.add(at)
    return found


_OF_ANSWERS = {"fp", "fn", "tn", "recall", "f1", "f1score"}

_BESIDE = {
    "tp": _OF_ANSWERS, "pp": _OF_ANSWERS, "cp": _OF_ANSWERS,
    "nodes": {"edges", "#edges", "numedges", "vertices", "avgdegree", "arcs"},
}  # fmt: skip
"""Fields, and labels beside which theirs is another thing: true positives, nodes of a graph."""


def _numbers(view: View, at: int, column: Column) -> Iterator[tuple[str, Cell]]:
    for row in view.grid.rows:
        text = plain(row.cells[at].text) if at < len(row.cells) and not row.one else ""
        if not text or len(text) > LONGEST:
            continue
        found = quantity(text, column, _NOWHERE)
        if isinstance(found, Cell) and found.state == "value":
            yield text, found


_NOWHERE = Span("", 0, 1)


LEAST_RATE = 1e12
"""flop/s that an accelerator which trains goes beyond."""

_OPERATIONS = re.compile(r"(?:[A-Za-z]+ )?[GT]?FLOPs?", re.IGNORECASE)


def _of_no_model(view: View, column: Column, cells: _Cells) -> bool:
    """Whether operations are not those that a model needs a second: what is computed again is
    counted too, or they are what one pass of it costs."""
    return of_hardware(column.label) or _costs(view, column, cells)


def _costs(view: View, column: Column, cells: _Cells) -> bool:
    """Whether operations that no label says to be of a second are those of one pass of a model, in
    a table that says of none how it was laid out."""
    if any(each.spec and each.spec.name in _LAYOUT for each in view.places.values()):
        return False
    return _OPERATIONS.fullmatch(column.label) is not None and all(
        amount(cell) < LEAST_RATE for _, cell in cells
    )


_LAYOUT = {"tp", "pp", "dp", "cp", "ep", "gpus", "nodes", "global_batch"}
"""Settings of runs that lists of models do not have."""

LEAST_PARAMETERS = 10_000
"""Parameters that every model which anyone times has."""


def _in_no_unit(view: View, column: Column, cells: _Cells) -> bool:
    """Whether sizes of models are in millions or billions that nobody says, or of something else:
    `Size` of 7 and 13, of images of 224."""
    return all(bare_number(text) for text, _ in cells) and any(
        amount(cell) < LEAST_PARAMETERS for _, cell in cells
    )


CAPACITIES = {8, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 95, 96, 120, 128, 141, 144, 180, 192,
              256, 288}  # fmt: skip
"""Gigabytes that accelerators have."""

_TAKEN = {"peak", "max", "maximum", "used", "usage", "allocated", "consumption", "footprint",
          "reserved", "taken", "required", "occupied"}  # fmt: skip


def _of_the_machine(view: View, column: Column, cells: _Cells) -> bool:
    """Whether gigabytes beside devices are what each of them has, and not what a run took."""
    if column.most or _TAKEN & set(split(column.label)):
        return False
    if not all(amount(cell) in _SIZES for _, cell in cells):
        return False
    sides = [
        at for at, each in view.places.items()
        if each.spec and each.spec.name in ("gpu", "gpus") and _names_devices(view, at)
    ]  # fmt: skip
    mine = {at for at, each in view.places.items() if each is column}
    return any(_settles(view, side, min(mine)) for side in sides if mine)


_SIZES = {float(size) * unit for size in CAPACITIES for unit in (1e9, 2.0**30)}


def _names_devices(view: View, at: int) -> bool:
    texts = [plain(row.cells[at].text) for row in view.grid.rows if at < len(row.cells)]
    return any(texts) and all(only(text) for text in texts if text)


def _settles(view: View, side: int, at: int) -> bool:
    """Whether cells in one place go with those in another, of which there are several."""
    pairs = {
        (plain(row.cells[side].text), plain(row.cells[at].text))
        for row in view.grid.rows
        if max(side, at) < len(row.cells)
    }
    return len({first for first, _ in pairs}) == len(pairs) > 1


_BOUNDED_BY = {"tp": "heads", "pp": "layers"}
"""Fields that no degree of their kind goes beyond."""


def _of_no_layout(view: View, column: Column, cells: _Cells) -> bool:
    """Whether degrees of parallelism are more than a model has heads or layers."""
    name = column.spec.name if column.spec else ""
    mine = next(at for at, each in view.places.items() if each is column)
    for at, each in view.places.items():
        if each.spec and each.spec.name == _BOUNDED_BY.get(name):
            pairs = [(_count(row, mine), _count(row, at)) for row in view.grid.rows]
            known = [(degree, most) for degree, most in pairs if degree and most]
            if known and 2 * sum(degree > most for degree, most in known) > len(known):
                return True
    return False


def _count(row: GridRow, at: int) -> int:
    text = plain(row.cells[at].text) if at < len(row.cells) else ""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else 0


_DIGITS = 6


_ASKED: dict[str, Callable[[View, Column, _Cells], bool]] = {
    "model_flops_rate": _of_no_model, "model_size": _in_no_unit, "parameters": _in_no_unit,
    "memory": _of_the_machine, **dict.fromkeys(("tp", "pp", "dp", "cp", "ep"), _of_no_layout),
}  # fmt: skip


def doubtless(view: View, schema: Schema, *, hardware: bool = False) -> View:
    """The same without columns whose cells mostly are something else: `81.2%` under `Memory`; of
    devices where a column of their numbers holds their names; and of operations that are the
    hardware's, `hardware`, where no label says that they are the model's."""
    odd = {at for at, column in view.places.items() if mostly_odd(column, view.grid, at)}
    odd |= {at for at, column in view.places.items() if of_ways(column, view.grid, at)}
    odd |= _of_devices(view) | meant_otherwise(view)
    odd |= {at for at, column in view.places.items() if _counts(column, view.grid, at)}
    odd |= {at for at, column in view.places.items() if _lists(column, view.grid, at)}
    odd |= {at for at, column in view.places.items() if _of_no_format(column, view.grid, at)}
    odd |= {at for at, column in view.places.items() if hardware and _of_any_flops(column)}
    if not odd:
        return view

    def known(columns: Iterable[tuple[int, Column]]) -> Iterator[tuple[int, Column]]:
        for at, column in columns:
            yield at, _as_held(column, view.grid, at, schema) if at in odd else column

    every = view.groups[0].common
    rest = every._replace(columns=tuple(known(every.columns)))
    groups = [replace(each, common=rest, own=dict(known(each.own.items()))) for each in view.groups]
    return replace(view, groups=tuple(groups))


def _of_any_flops(column: Column) -> bool:
    """Whether a column is of operations a second that its label does not call the model's."""
    rated = column.spec is not None and column.spec.name == "model_flops_rate"
    return rated and "model" not in column.label.casefold()


def _counts(column: Column, grid: Grid, at: int) -> bool:
    """Whether a column of machines holds whole numbers that name none: how many there were."""
    if column.spec is None or column.spec.name != "gpu":
        return False
    texts = {plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one}
    return bool(texts - {""}) and all(map(_COUNT.fullmatch, texts - {""}))


_COUNT = re.compile(r"(?![2345]0[5-9]0$)[0-9]{1,5}")


_INDEX = r"(?:cuda:)?(?:0|[1-9][0-9]?)"

_LISTED = re.compile(rf"[\[(]?\s*{_INDEX}(?:\s*,\s*{_INDEX})*\s*[\])]?")

_NUMBERS_OF_DEVICES = {
    "cudavisibledevices", "hipvisibledevices", "visibledevices", "gpuids", "gpuid", "deviceids",
    "deviceid", "gpuindices", "deviceindices",
}  # fmt: skip
"""Labels that say that their cells are numbers of devices."""


def _lists(column: Column, grid: Grid, at: int) -> bool:
    """Whether a column of devices lists them by their numbers, as `CUDA_VISIBLE_DEVICES` does: `0`
    and `0,1`; a column of how many there were begins at no 0."""
    name = column.spec.name if column.spec else ""
    if name not in ("gpu", "gpus") and normalise(column.label) not in _NUMBERS_OF_DEVICES:
        return False
    texts = {plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one}
    texts -= {""}
    if not any("," in text for text in texts) or not all(map(_LISTED.fullmatch, texts)):
        return False
    lists = [listed(text) for text in texts]
    return any("0" in each for each in lists) and all(len(set(each)) == len(each) for each in lists)


_FORMED = re.compile(r"([A-Za-z][A-Za-z /_-]*[A-Za-z])\s*[ =:]\s*[0-9][0-9,]*")


def _of_no_format(column: Column, grid: Grid, at: int) -> bool:
    """Whether a column of number formats holds a setting and its number in each cell, `Batch size
    4,096`: the corner of a turned table, which says what its rows are."""
    if column.spec is None or column.spec.name != "dtype":
        return False
    texts = {plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one}
    return bool(texts - {""}) and all(
        len(text) <= LONGEST and _FORMED.fullmatch(text) and not names_format(text)
        for text in texts - {""}
    )


def _numbered(texts: Sequence[str]) -> bool:
    """Whether whole numbers are those of single devices, and not of how many: one after the other
    from 0, or more than two from 1."""
    found = sorted({int(text) for text in texts if text})
    ordered = found == list(range(found[0], found[0] + len(found)))
    return found[0] == 0 or (ordered and found[0] == 1 and len(found) > 2)


def _of_devices(view: View) -> set[int]:
    """The one column whose label says nothing and whose cells mostly are names of devices, where no
    other names them: `Tag` over `H100`, `A100`."""
    if any(column.spec is not None and column.spec.name == "gpu" for column in view.columns()):
        return set()
    found = set()
    for at, column in view.places.items():
        if column.spec is not None or column.by_cells or column.degrees:
            continue
        texts = [plain(row.cells[at].text) for row in view.grid.rows if at < len(row.cells)]
        named = [
            text for text in texts
            if (one := only(text)) and one.text == text and not slices(text)
        ]  # fmt: skip
        if len(set(named)) > 1 and 3 * len(named) >= 2 * len(texts):
            found.add(at)
    return found if len(found) == 1 else set()


def _as_held(column: Column, grid: Grid, at: int, schema: Schema) -> Column:
    """A column by its cells, which are not what its label says."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one]
    if column.spec is not None and column.spec.name == "gpu" and _counts(column, grid, at):
        return Column(column.label, None if _numbered(texts) else fields(schema)["gpus"])
    if _lists(column, grid, at):
        return Column(column.label, fields(schema)["gpus"], listed=True)
    counted = column.spec is not None and column.spec.name == "gpus"
    named = (counted and all(only(text) for text in texts if text)) or column.spec is None
    spec = fields(schema)["gpu"] if named else None
    return Column(column.label, spec, by_cells=named and not counted)
