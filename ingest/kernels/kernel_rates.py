"""Columns of times and of rates of the same calls, side by side in a table of kernels.

In: the columns of a grid that are told, and the grid. Out: the same with times whose label says
more than a number format, where the rate of that format proves them; and with rates of nobody named
behind the first time of their kind; grouped products that are proved so; and a column for each
collective that a label names, `all_reduce | all_gather` below `Bus bandwidth in GB/s`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import Grid
from assay.ingest.kernels.kernel_headings import OPERATION, canonical
from assay.ingest.kernels.kernel_labels import BREAKS, SIZED, Column, at_an_end, measured_as
from assay.ingest.numbers.printed import printed
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Schema
from assay.ingest.vocabulary.terms import normalise

BARE_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")

NEAR = 0.005
"""How far a rate may be from its product over its time."""


def of_formats(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with times of products in a format of which a rate tells that they are those of the
    whole call: `FP8 rowwise (us)` beside `FP8 TFLOPS`."""
    made = list(columns)
    sizes = {each.spec.name: at for at, each in enumerate(columns)
             if each.spec is not None and each.spec.name in ("b", "m", "n", "k")}  # fmt: skip
    if not {"m", "n", "k"} <= sizes.keys():
        return made
    rates = {each.aside["dtype"].casefold(): at for at, each in enumerate(columns)
             if each.spec is not None and each.spec.name == "flops_rate"
             and list(each.aside) == ["dtype"]}  # fmt: skip
    for at, label in enumerate(map(plain, grid.header())):
        sized = SIZED.fullmatch(label) if rates and columns[at] == Column() else None
        found = at_an_end(sized[1]) if sized else None
        if sized is None or found is None or found.lastgroup != "dtype":
            continue
        name = (sized[1][: found.start()] + sized[1][found.end() :]).strip(BREAKS)
        told, rate = measured_as(f"time ({sized[2]})", schema), rates.get(found[0].casefold())
        if rate is None or told is None or not told.scale or not name:
            continue
        if _proved(grid, list(sizes.values()), (at, told.scale), (rate, columns[rate].scale)):
            aside = {"dtype": found[0], "kernel": name}
            made[at], made[rate] = replace(told, aside=aside), replace(made[rate], aside=aside)
    return made


_GROUPS = {"groups", "numgroups", "ngroups", "group", "numberofgroups"}


def of_groups(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of grouped products with as many rows each, `#Groups | M per group | N | K`, where
    time and rate of every row prove that it counts all groups."""
    made = list(columns)
    labels = [normalise(plain(label)) for label in grid.header()]
    if "mpergroup" not in labels or "m" not in fields(schema):
        return made
    groups = [at for at, label in enumerate(labels) if label in _GROUPS]
    held = {each.spec.name: at for at, each in enumerate(columns) if each.spec is not None}
    if len(groups) != 1 or {"m", "b"} & held.keys() or not held.keys() >= _OF_A_CALL:
        return made
    (many,), rows, time, rate = groups, labels.index("mpergroup"), held["time"], held["flops_rate"]
    sizes = [many, rows, held["n"], held["k"]]
    if _proved(grid, sizes, (time, columns[time].scale), (rate, columns[rate].scale)):
        made[many], made[rows] = Column(fields(schema)["b"]), Column(fields(schema)["m"])
    return made


_OF_A_CALL = {"n", "k", "time", "flops_rate"}


_ONE_SIZE = {"n", "size", "dim", "matrixsize", "matrixsizen", "matrixdim", "sizen", "nnn", "order",
             "矩阵大小", "矩阵维度", "矩阵规模", "problemsize", "matrix"}  # fmt: skip


def of_squares(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with the one size of a table as that of square products, where times and rates of
    all rows prove it: `N | ms | GFLOPS`."""
    made = list(columns)
    labels = [normalise(plain(label)) for label in grid.header()]
    held = {each.spec.name for each in columns if each.spec is not None}
    places = [at for at, label in enumerate(labels) if label in _ONE_SIZE]
    if "m" not in fields(schema) or len(places) != 1 or held & {"m", "k", "b"}:
        return made
    if any(each.sizes for each in columns) or not {"time", "flops_rate"} <= held:
        return made
    pairs = [
        ((at, one.scale), (to, other.scale))
        for at, one in enumerate(columns) if one.spec and one.spec.name == "time"
        for to, other in enumerate(columns) if other.spec and other.spec.name == "flops_rate"
        if one.aside == other.aside
    ]  # fmt: skip
    if pairs and all(_proved(grid, places * 3, *each) for each in pairs):
        made[places[0]] = Column(sizes="mnk")
    return made


def _proved(
    grid: Grid, sizes: Sequence[int], time: tuple[int, float], rate: tuple[int, float]
) -> bool:
    """Whether the work of every product is its time times its rate."""
    seen = False
    for row in grid.rows:
        texts = [plain(cell.text) for cell in row.cells]
        if len(texts) != grid.width:
            continue
        if not all(BARE_NUMBER.fullmatch(texts[at]) for at in (*sizes, time[0], rate[0])):
            return False
        work = 2.0 * math.prod(_amount(texts[at]) for at in sizes)
        took, did = (printed(texts[at]) for at in (time[0], rate[0]))
        unit_of = time[1] * rate[1]
        least, most = took.low * did.low * unit_of, took.high * did.high * unit_of
        if not least * (1 - NEAR) <= work <= most * (1 + NEAR):
            return False
        seen = True
    return seen


def _amount(text: str) -> float:
    return float(text.replace(",", ""))


def with_their_rates(columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with each rate that names no kernel given to the one whose time stands right in front
    of it, the first of its direction and format: `splash fwd (ms) | fwd TFLOP/s | XLA fwd (ms)`.

    Products need none of it: their time tells their rate.
    """
    made = list(columns)
    if "m" in fields(schema):
        return made
    timed = [(at, _beside(each), "kernel" in each.aside) for at, each in enumerate(columns)
             if each.spec is not None and each.spec.name == "time"]  # fmt: skip
    for at, each in enumerate(columns):
        if each.spec is None or each.spec.name != "flops_rate" or "kernel" in each.aside:
            continue
        alike = [place for place, beside, _ in timed if beside == each.aside]
        if alike and alike[0] == at - 1 and "kernel" in columns[at - 1].aside:
            made[at] = replace(each, aside=columns[at - 1].aside)
    return made


def _beside(column: Column) -> dict[str, str]:
    """All that sets a column apart but its kernel."""
    return {name: word for name, word in column.aside.items() if name != "kernel"}


def of_operations(
    grid: Grid, columns: Sequence[Column], bare: Column | None, schema: Schema
) -> list[Column]:
    """The columns of operations: of the bandwidth that a label says, or else the text above; in
    its unit where a label has one."""
    made = list(columns)
    for at, label in enumerate(map(plain, grid.header())):
        free = made[at] == Column() or list(made[at].aside) == ["column"]
        found = OPERATION.match(label) if free else None
        if found is None:
            continue
        rest = label[found.end() :].strip(" _-:,")
        told = measured_as(rest, schema) if rest else bare
        sized = SIZED.fullmatch(label)
        if told is None and bare is not None and sized and not sized[1][found.end() :].strip():
            own = measured_as(f"busbw ({sized[2]})", schema)
            told = replace(bare, scale=own.scale) if own is not None else None
        if told is not None and told.scale and told.spec and told.spec.name in ("busbw", "algbw"):
            made[at] = replace(told, aside={**told.aside, "op": canonical(found)})
    return made
