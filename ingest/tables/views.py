"""How a grid is to be looked at, so that each of its rows is an observation, or several.

In: a grid and a schema. Out: a `View`: the columns of each group of measurements that stand side by
side in a row. A table whose metrics stand in its first column is turned; a label that begins or
ends with a size, a device or a number of devices (`16B MFU`, `TFLOPs (A100)`) belongs to a group of
its own; columns headed by names alone, with a rate and its unit in each cell, are a group each; and
columns headed by configurations alone hold the one quantity that the lines above the table name.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

from assay.ingest.grids.grid import LONGEST, MOST_COLUMNS, MOST_PLACES, Grid, GridRow
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.record import Line, Schema
from assay.ingest.tables.cells import of_the_device
from assay.ingest.tables.composite import named, recipe, remark
from assay.ingest.tables.documents import SHARE_OF_PEAK
from assay.ingest.tables.headers import GENERIC, STEPS, Column, generic, header, plain
from assay.ingest.tables.pairs import (
    across,
    axes,
    by_unit_above,
    counts,
    headed,
    over_counts,
    parted,
    quantities,
    shared_out,
    with_unit_column,
    with_units,
)
from assay.ingest.tables.subject import SERVING, TALLIED
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import normalise
from assay.ingest.vocabulary.words import ALTERS, Said, english, of_one_device, said, split

MOST_TURNED = 64
"""Columns of a table that may be rows of a turned one."""


MOST_WORDS = 16
"""Words of a label beyond which it is a sentence, and no part of it a group."""


class Common(NamedTuple):
    """The columns of every group, each behind its place, and how many there are of all."""

    width: int
    columns: tuple[tuple[int, Column], ...]


def common(columns: Sequence[Column], own: Container[int] = ()) -> Common:
    """Those of some columns that are no group's `own`."""
    return Common(
        len(columns), tuple((at, each) for at, each in enumerate(columns) if at not in own)
    )


@dataclass(frozen=True)
class Group:
    """The columns of one observation of a row: everybody's, and its own by their places.

    `said` is what the label of the group names, by field; `at` the column that tells where the
    observation stands, None where that is the row.
    """

    common: Common
    own: Mapping[int, Column] = field(default_factory=dict)
    label: str = ""
    said: Mapping[str, str] | None = None
    at: int | None = None

    @property
    def width(self) -> int:
        """How many columns its table has."""
        return self.common.width

    @cached_property
    def placed(self) -> tuple[tuple[int, Column], ...]:
        """The columns that are its own or everybody's, each behind its place, in order."""
        if not self.own:
            return self.common.columns
        return tuple(sorted((*self.common.columns, *self.own.items()), key=itemgetter(0)))

    def present(self) -> list[Column]:
        """The same without their places."""
        return [column for _, column in self.placed]


@dataclass(frozen=True)
class View:
    """A grid, its groups, whether its rows were columns, whether each cell is a measurement."""

    grid: Grid
    groups: tuple[Group, ...]
    turned: bool = False
    melted: bool = False

    @property
    def beyond(self) -> bool:
        """Whether the table has more observations side by side than any that is read."""
        if len(self.groups) < 2:
            return False
        most = max(len(self.grid.rows), len(self.groups[0].common.columns))
        return len(self.groups) * most > MOST_PLACES

    @cached_property
    def places(self) -> dict[int, Column]:
        """Place → the first group's column that stands there, group by group."""
        return {at: each for group in self.groups[::-1] for at, each in group.placed}

    @cached_property
    def first(self) -> dict[str, tuple[int, Column]]:
        """Label → place and column, of the first group that has it, group by group."""
        found: dict[str, tuple[int, Column]] = {}
        for group in self.groups:
            for at, column in group.placed:
                found.setdefault(column.label, (at, column))
        return found

    def columns(self) -> list[Column]:
        """Every column once, those of the first group that has it."""
        return [column for _, column in self.first.values()]


def views(
    grid: Grid,
    schema: Schema,
    above: Sequence[Line],
    labels: Mapping[str, str],
    declared: Sequence[Line] = (),
) -> Iterator[View]:
    """Every way to look at a grid, the plain one first; `labels` are what its legend explains,
    `declared` what the sections around its own say of what they measure."""

    above = list(_sentences(above))

    def side(label: str) -> str | None:
        if _named_side(label, schema):
            return label
        length = _length(label).get("seq_len")
        lengths = length is not None and any(_LENGTHS.search(line.text) for line in above)
        return f"seq_len {length}" if lengths else None

    grid = parted(headed(with_unit_column(grid), schema), schema, above, side)
    labels = {**labels, **_implied(grid, above), **_shares(grid, above, labels)}
    grid = with_units(grid, schema, above)
    labels |= _declared_of(grid, schema, above, declared)
    if groups := _repeated(grid, schema):
        yield View(grid, groups)
    if groups := _spanned(grid, schema):
        yield View(grid, groups)
    if groups := _by_brackets(grid, schema, above):
        yield View(grid, groups)
    if groups := _by_sides(grid, schema, above):
        yield View(grid, groups)
    yield _plain(grid, schema, labels)
    told = dict.fromkeys(
        each[0] for at, label in enumerate(grid.header())
        if (each := _apart(plain(label), schema, _printed_unit(grid, at)))
    )  # fmt: skip
    shared = shared_out(grid, tuple(told), lambda name: _side(name, schema))
    if groups := _grouped(shared, schema):
        yield View(shared, groups)
    if other := turned_grid(grid):
        yield replace(_plain(other, schema, labels), turned=True)
    if other := grouped_below(grid):
        yield replace(_plain(other, schema, labels), turned=True)
    if groups := _by_cells(grid, schema):
        yield View(grid, groups)
    if groups := _by_caption(grid, schema, above, declared):
        yield View(grid, groups, melted=True)
    if groups := _by_remarks(grid, schema, above):
        yield View(grid, groups)


def _sentences(above: Sequence[Line]) -> Iterator[Line]:
    """Lines above a table, of long ones each sentence."""
    for line in above:
        if len(line.text) <= LONGEST:
            yield line
        else:
            yield from (line._replace(text=text) for text in _END.split(line.text))


_END = re.compile(r"(?<=[.;。；])\s+|(?<=[。；])")

_ZERO = re.compile(r"\bZeRO\b|\bDeepSpeed stage", re.IGNORECASE)


_STAGES = {"Stage": "ZeRO stage", "stage": "ZeRO stage"}


_SPEED = re.compile(r"\btrain(?:ing)?\b[\s-]*\bspeed\b", re.IGNORECASE)

_TIME_IN = {"Time in s": "step time (s)", "Time in ms": "step time (ms)"}


def _implied(grid: Grid, above: Sequence[Line]) -> dict[str, str]:
    """Labels that are clear below a text that names what they are of: stages of ZeRO, a time below
    `TRAIN - SPEED - RESULTS`."""
    labels = (*grid.header(), *(row.cells[0].text for row in grid.rows if row.cells))
    asked = any("tage" in label and plain(label) in _STAGES for label in labels)
    told = _STAGES if asked and any(_ZERO.search(line.text) for line in above) else {}
    if _TIME_IN.keys().isdisjoint(labels) or not any(_SPEED.search(line.text) for line in above):
        return told
    return {**told, **_TIME_IN}


def _declared_of(
    grid: Grid, schema: Schema, above: Sequence[Line], declared: Sequence[Line]
) -> dict[str, str]:
    """A phrase of the text around a table for its one column that only says that something was
    fast, where the numbers of that column are bare: `Throughput`."""
    labels = [plain(text) for text in grid.header()]
    columns = header(labels, schema)
    fast = [at for at, column in enumerate(columns) if generic(column)]
    if len(fast) != 1 or normalise(columns[fast[0]].label) in STEPS:
        return {}
    cells = [plain(r.cells[fast[0]].text) for r in grid.rows if fast[0] < len(r.cells)]
    bare = [cell for cell in cells if _NUMERAL.fullmatch(cell)]
    if not bare or len(bare) != sum(_DIGIT.search(cell) is not None for cell in cells):
        return {}
    heard = [_heard(line.text) for line in above]
    near = [each for each in heard if each.phrases] or [_heard(line.text) for line in declared]
    phrases = {phrase for each in near if not each.of_kernels for phrase in each.phrases}
    told = {phrase: found for phrase in phrases if (found := said(phrase))}
    rated = {found.field for found in told.values()}
    held = {c.spec.name for c in columns if c.spec}
    if len(rated) != 1 or rated & held or not rated <= _OF_GENERIC:
        return {}
    if of_one_device(labels[fast[0]]) and not any("_gpu_" in field for field in rated):
        return {}
    return {labels[fast[0]]: min(told)}


_NUMERAL = re.compile(r"[~≈]?\s*[0-9][0-9.,]*(?:\s*±\s*[0-9.,]+)?")

_OF_GENERIC = {"tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s", "item_rate"}

_OF_PEAK = re.compile(
    r"(?:(?:(?:GPU|achieved) )?(?:throughput|performance|efficiency) ?[(\[,]? ?)?"
    r"(?:%|percent(?:age)?|fraction|share) of (?:the )?(?:theoretical |hardware )?peak"
    r"(?: (?:[TP]?FLOPS?|[TP]?FLOP/s|teraFLOPS?|performance|compute))?(?: ?[(\[]%[)\]])?[)\]]?",
    re.IGNORECASE,
)

_NONE_AGAIN = re.compile(
    r"\bno (?:activations? (?:are|is|were) recomput|(?:activation |gradient )?re-?comput"
    r"|(?:activation|gradient) checkpoint)|\bnothing (?:is|was) recomputed"
    r"|\bwithout (?:any |full |selective )?(?:activation |gradient )?re-?comput"
    r"|\bwithout (?:activation|gradient) checkpoint"
    r"|\brecomput(?:e|ation) (?:is |was )?(?:off|disabled|not used)"
    r"|\bmodel FLOPs? utili[sz]ation",
    re.IGNORECASE,
)
"""Words by which hardware's operations are those of the model: none is done again."""


_AGAIN = re.compile(
    r"(?<!no )(?<!not )(?<!without )\b(?:operations of (?:the )?)?(?:activation )?recomput\w+"
    r"(?: operations)? (?:is|are|was|were) (?:also )?(?:counted|included)"
    r"|(?<!not )\b(?:includ(?:es|ing)|counts|counting) (?:the )?(?:operations of )?(?:the )?"
    r"(?:activation )?recomput|\bhardware FLOPs utili[sz]ation",
    re.IGNORECASE,
)
"""Words by which what is computed again is counted as well."""


def _shares(grid: Grid, above: Sequence[Line], labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of a share of the peak, which is of the model's operations where none is repeated, of
    the hardware's where what is computed again is counted, or what the document says it is."""
    firsts = (row.cells[0].text for row in grid.rows if row.cells)
    found = [
        label for text in (*grid.header(), *firsts) if _OF_PEAK.fullmatch(label := plain(text))
    ]
    said = " ".join(line.text for line in above) if found else ""
    none, again = _NONE_AGAIN.search(said), _AGAIN.search(said)
    meant = labels.get(SHARE_OF_PEAK, "")
    if not meant and bool(none) != bool(again):
        meant = "MFU" if none else "HFU"
    percent = re.compile("%|percent", re.IGNORECASE)
    return {label: f"{meant} (%)" if percent.search(label) else meant for label in found if meant}


def _plain(grid: Grid, schema: Schema, labels: Mapping[str, str]) -> View:
    under = [cell.text for cell in grid.heads[-1].cells] if len(grid.heads) > 1 else []
    return View(grid, (Group(common(_explained(grid.header(), schema, labels, under))),))


def _repeated(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """Groups of a table that is set in several columns of the page: all labels again and again."""
    labels = [plain(text) for text in grid.header()]
    for times in range(2, len(labels) // 2 + 1):
        width = len(labels) // times
        if len(labels) % times or labels != labels[:width] * times or not all(labels[:width]):
            continue
        own = header(labels[:width], schema)
        if not quantities(own):
            return ()
        nobodys = Common(len(labels), ())
        return tuple(
            Group(nobodys, dict(enumerate(own, at * width)), at=at * width) for at in range(times)
        )
    return ()


def _spanned(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """Groups of columns under labels of their own in a row above: the same quantities in each."""
    if len(grid.heads) < 2:
        return ()
    upper = [plain(cell.text) for cell in grid.heads[0].cells]
    below = replace(grid, heads=grid.heads[1:], labels=()).header()
    shared = header(grid.header(), schema)
    own: dict[int, Column] = {}
    for at, (over, under) in enumerate(zip(upper, below, strict=False)):
        (column,) = header([under], schema) if under else (Column("", None),)
        if over and over != plain(under) and column.spec is not None and column.spec.quantity:
            own[at] = replace(column, label=shared[at].label)
    sides = _by_name((upper[at], at, column) for at, column in own.items())
    told = [[c.spec.name for c in side.values() if c.spec] for side in sides.values()]
    once = all(len(fields_of) == len(set(fields_of)) for fields_of in told)
    if len(sides) < 2 or not once or not set.intersection(*map(set, told)):
        return ()
    rest = common(shared, own)
    return tuple(Group(rest, side, name, named(name), min(side)) for name, side in sides.items())


def _by_name(own: Iterable[tuple[str, int, Column]]) -> dict[str, dict[int, Column]]:
    """Name of a group → its own columns by their places."""
    found: dict[str, dict[int, Column]] = {}
    for name, at, column in own:
        found.setdefault(name, {})[at] = column
    return found


def _explained(
    texts: Sequence[str], schema: Schema, labels: Mapping[str, str], under: Sequence[str] = ()
) -> list[Column]:
    """Columns of labels; one that says nothing itself is what the legend says of it, or what the
    lowest of several header rows, `under`, says alone."""
    columns = header(texts, schema)
    if len(under) == len(columns):
        columns = _lowest(columns, under, schema)
    if not labels:
        return columns
    told = header([labels.get(plain(text), text) for text in texts], schema)
    held = {column.spec.name for column in columns if column.spec}
    return [
        replace(other, label=own.label)
        if (own.spec is not None and not own.unit_known and own.spec is other.spec)
        or (
            own.spec is None
            and (other.degrees or (other.spec is not None and other.spec.name not in held))
        )
        else own
        for own, other in zip(columns, told, strict=True)
    ]


def _lowest(columns: Sequence[Column], under: Sequence[str], schema: Schema) -> list[Column]:
    """Columns whose label together says nothing by the lowest label alone, where it says that once
    and the words above it make it nothing else: `Parallelism TP`."""
    texts = [plain(text) for text in under]
    own = header(texts, schema)
    held = {column.spec.name for column in columns if column.spec}
    count = [column.spec.name for column in own if column.spec]
    found = []
    for column, low, text in zip(columns, own, texts, strict=True):
        upper = set(split(column.label)) - set(split(text))
        clear = low.spec is not None and low.spec.name not in held and not upper & ALTERS - {"t"}
        if column.spec is None and clear and low.spec and count.count(low.spec.name) == 1:
            found.append(replace(low, label=column.label))
        else:
            found.append(column)
    return found


def turned_grid(grid: Grid) -> Grid | None:
    """The grid with rows for columns, where it is a full rectangle of rows that say something."""
    rows = tuple(row for row in grid.rows if not row.blank and not row.one)
    widths = {len(row.cells) for row in (*grid.heads, *rows)}
    if len(widths) != 1 or len(grid.heads) != 1 or not 2 <= grid.width <= MOST_TURNED:
        return None
    if not 0 < len(rows) <= MOST_COLUMNS:
        return None
    return replace(grid, rows=rows, closed=False).turned()


def grouped_below(grid: Grid) -> Grid | None:
    """The grid with a row for each column and each name in its first one, where the second names
    metrics: `5B | Tokens per second | …`, `5B | Time per step (s) | …`, `20B | Tokens per …`.

    A name stands at one of its rows or at each. What all columns share in their header is the
    label of what tells them apart: `Nodes` over `1`, `2`, `4`.
    """
    rows = [row for row in grid.rows if not row.blank and not row.one]
    if not 1 <= len(grid.heads) <= 2 or not 4 <= grid.width <= MOST_TURNED or len(rows) < 2:
        return None
    if any(len(row.cells) != grid.width for row in (*grid.heads, *rows)):
        return None
    grid, rows = _with_counts_over(grid, rows)
    groups: list[list[GridRow]] = []
    for row in rows:
        name, held = row.cells[0].text, groups[-1] if groups else []
        again = any(plain(each.cells[1].text) == plain(row.cells[1].text) for each in held)
        if not groups or again or (name and name not in ("", _named_in(held)) and _named_in(held)):
            groups.append([])
        groups[-1].append(row)
    metrics = [[plain(row.cells[1].text) for row in group] for group in groups]
    every = list(dict.fromkeys(label for group in metrics for label in group))
    if any(len(set(group)) < max(2, len(group)) for group in metrics) or not all(every):
        return None
    if len(groups) * len(every) > 2 * len(rows) or not all(map(_named_in, groups)):
        return None
    return _one_for_each(grid, groups, metrics, every)


def _named_in(group: Sequence[GridRow]) -> str:
    """The one name that stands in the first cells of some rows; empty where there is none."""
    return next((row.cells[0].text for row in group if row.cells[0].text), "")


def _with_counts_over(grid: Grid, rows: list[GridRow]) -> tuple[Grid, list[GridRow]]:
    """A grid and its rows, the first of whole numbers alone taken into its header, where that has
    one label over all of them: `#Nodes` over `1`, `2`, `4`."""
    first, upper = rows[0].cells, grid.heads[0].cells
    names = [plain(cell.text) for cell in upper[2:] if cell.text]
    counted = all(plain(cell.text).isdecimal() for cell in first[2:])
    if len(grid.heads) > 1 or len(names) != 1 or not counted or first[0].text or first[1].text:
        return grid, rows
    over = replace(
        grid.heads[0], cells=(*upper[:2], *(c._replace(text=names[0]) for c in upper[2:]))
    )
    return replace(grid, heads=(over, rows[0]), rows=grid.rows[1:]), rows[1:]


def _one_for_each(
    grid: Grid,
    groups: Sequence[Sequence[GridRow]],
    metrics: Sequence[Sequence[str]],
    every: Sequence[str],
) -> Grid:
    """A row for each group of rows and each column right of the second, a column a metric."""
    low, line = grid.heads[-1].cells, grid.heads[-1].line
    shared = {plain(cell.text) for cell in grid.heads[0].cells[2:]} if len(grid.heads) > 1 else {""}
    axis = shared.pop() if len(shared) == 1 else ""
    labels = grid.header() if not axis else [cell.text for cell in low]
    head = (low[0], low[1]._replace(text=axis), *(low[1]._replace(text=name) for name in every))
    found = []
    for group, held in zip(groups, metrics, strict=True):
        for at in range(2, grid.width):
            own = dict(zip(held, (row.cells[at] for row in group), strict=True))
            first = group[0].cells[at]
            place = line._replace(number=first.line, column=first.column)
            values = (own.get(name, first._replace(text="")) for name in every)
            name = next((row.cells[0] for row in group if row.cells[0].text), group[0].cells[0])
            cells = (name, low[at]._replace(text=labels[at]), *values)
            found.append(GridRow(place, cells))
    return replace(grid, heads=(GridRow(line, head),), rows=tuple(found), labels=(), closed=False)


def _grouped(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """Groups of columns whose labels begin or end with what tells them apart."""
    labels = [plain(text) for text in grid.header()]
    told = _alike_named(
        [_apart(label, schema, _printed_unit(grid, at)) for at, label in enumerate(labels)]
    )
    sides = _by_name((each[0], at, each[1]) for at, each in enumerate(told) if each)
    shared = header(labels, schema)
    if len(sides) < 2 or any(
        column.spec is not None and column.spec.quantity and not each
        for column, each in zip(shared, told, strict=True)
    ):
        return ()
    rest = common(shared, {at for at, each in enumerate(told) if each})
    groups = []
    for name, own in sides.items():
        held = [column.spec.name for column in own.values() if column.spec]
        if len(held) != len(set(held)):
            return ()
        groups.append(Group(rest, own, name, _named_side(name, schema), min(own)))
    return tuple(groups)


def _alike_named(
    told: Sequence[tuple[str, Column] | None],
) -> list[tuple[str, Column] | None]:
    """The same under one name where names give runs the same values: `FP8` and `fp8`."""
    first: dict[tuple[tuple[str, str], ...], str] = {}
    for each in told:
        if each and (values := named(each[0])):
            first.setdefault(tuple(values.items()), each[0])
    return [each and (first.get(tuple(named(each[0]).items()), each[0]), each[1]) for each in told]


def _by_brackets(grid: Grid, schema: Schema, above: Sequence[Line] = ()) -> tuple[Group, ...]:
    """Groups of columns of one quantity that a remark tells apart, in brackets or behind a comma:
    `TFLOPS (ours)`, `Step time, full recompute (s)`; or a name in front of one unit: `ours
    (tokens/s)`. Of several remarks on one device each is its name: `MFU (A100 80GB, 400 Gb/s)`.
    """
    labels = [plain(text) for text in grid.header()]
    set_up = {c.spec.name for c in header(labels, schema) if c.spec and c.spec.configuration}
    how = bool(set_up - TALLIED)
    own = {
        at: told for at, label in enumerate(labels) if (told := _remarked(label, schema, told=how))
    }
    if not _rectangular(own.values()):
        named_by = {at: only(name) for at, (name, _) in own.items()}
        own = {at: (device.text, own[at][1]) for at, device in named_by.items() if device}
        if not _rectangular(own.values()) or len(own) < len(named_by):
            return ()
    every = {name: set(split(name)) for name, _ in own.values()}
    for at, label in enumerate(labels):
        if at not in own and (mine := _with_one_of(label, every, schema)):
            own[at] = mine
    shared = header(labels, schema)
    for at, column in enumerate(shared):
        compares = column.spec is not None and column.spec.name == "speedup"
        if at not in own and column.spec is not None and (column.spec.quantity or compares):
            side = _of_side(column, every, above)  # it cannot be of all of them
            shared[at] = Column(column.label, None)
            if side:
                own[at] = side, column
    sides = _by_name((name, at, column) for at, (name, column) in own.items())
    rest = common(shared, own)
    return tuple(
        Group(rest, sides[name], name, recipe("", name) | named(name), next(iter(sides[name])))
        for name in every
    )


def _remarked(label: str, schema: Schema, *, told: bool) -> tuple[str, Column] | None:
    """The remark by which a column of a quantity is one of several, and the column without it."""
    (whole,) = header([label], schema)
    found = _REMARKED.fullmatch(label)
    rate = _rate_of(found[1], found[2], schema, told=told) if found and not whole.spec else None
    if found and rate:
        return found[1], replace(rate, label=label)
    apart = [(found[1], found[2])] if found else []
    if whole.spec is None and (behind := _BEHIND_COMMA.fullmatch(label)):
        last = behind[3] or ""
        in_unit = unit(last.strip("()[]")) is not None
        apart.append((f"{behind[1]} {last}", behind[2]) if in_unit
                     else (behind[1], f"{behind[2]} {last}".strip()))  # fmt: skip
    for base, name in apart:
        (column,) = header([base.strip()], schema)
        words = set(split(_OPTION.sub(" ", name)))
        known = column.spec is not None and column.spec.quantity is not None
        if known and not words & (ALTERS | (_OF_PARTS if set(label) & set(",:") else set())):
            return name, replace(column, label=label)
    return None


_BEHIND_COMMA = re.compile(r"([^,:]+)[,:]\s+([^,:]+?)(?:\s*([(\[][^()\[\]]+[)\]]))?")

_OPTION = re.compile(r"\b[a-z]+(?:_[a-z]+)+(?:=\w+)?")
"""The name of an option, whose words say nothing of a column: `reshard_after_forward=True`."""

_OF_PARTS = {
    "compute", "communication", "comm", "data", "optimizer", "overhead", "exposed", "loading",
    "attention", "mlp", "first", "last", "idle", "bubble", "overlap", "kernel", "kernels",
}  # fmt: skip
"""Words behind a comma of what is a part of a step."""


def _rectangular(told: Iterable[tuple[str, Column]]) -> bool:
    """Whether several names each have the same quantities, each once."""
    pairs = [(name, column.spec.name) for name, column in told if column.spec]
    names, held = {name for name, _ in pairs}, {field for _, field in pairs}
    return len(set(pairs)) == len(pairs) == len(names) * len(held) and len(names) > 1


_THOSE_OF = re.compile(r"\b(?:is|are|was|were) (?:those|that|the ones?) of (?:the )?([^.;]+)")


def _of_side(column: Column, names: Container[str], above: Sequence[Line]) -> str | None:
    """The one of several sides that the text above says a column is of: `MFU is that of ours.`"""
    assert column.spec is not None
    for line in above:
        for text in re.split(r"(?<=[.;])\s", _bare(line.text)):
            said_of = _THOSE_OF.search(text)
            meant = column.spec.name in text.casefold() or column.label in text
            if said_of and meant and said_of[1].strip() in names:
                return said_of[1].strip()
    return None


_WITH = re.compile(r"(.+?)\s+(?:with|using|under|for|w/)\s+([^()\[\]]+?)(\s*[(\[][^()\[\]]+[)\]])?")

_NOT = {"no", "not", "without", "w", "o", "off", "non"}


def _with_one_of(
    label: str, names: Mapping[str, set[str]], schema: Schema
) -> tuple[str, Column] | None:
    """The one of several sides that a label is of, and its column: `peak VRAM with checkpointing`
    beside `no checkpointing` and `gradient checkpointing`; `names` with the words of each."""
    found = _WITH.fullmatch(label)
    words = set(split(found[2])) if found else set()
    mine = [
        name for name, own in names.items()
        if words and words <= own and not (own - words) & _NOT
    ]  # fmt: skip
    if found is None or len(mine) != 1:
        return None
    (column,) = header([f"{found[1]}{found[3] or ''}"], schema)
    known = column.spec is not None and column.spec.quantity is not None
    return (mine[0], replace(column, label=label)) if known else None


_BESIDE_TRAINING = {
    "eval", "evaluation", "val", "validation", "test", "infer", "data", "dataloader", "loader",
    "io", "read", "write", "disk", "network", "input", "output",
}  # fmt: skip
"""Words of rates that are none of a step."""


def _rate_of(name: str, printed: str, schema: Schema, *, told: bool = False) -> Column | None:
    """The column of a rate by its unit alone, where what stands in front is only a name; operations
    are a rate where their table is `told` to be one of runs."""
    measure = unit(printed)
    known, words = header([name, printed], schema), set(split(english(name)))
    timed = measure is not None and measure.si == "s"
    signed = "/" in printed or (told and measure is not None and measure.si == "flop/s")
    rate = known[1].spec if measure and signed and (
        measure.si.endswith("/s") or timed
    ) else None  # fmt: skip
    if rate is None or not rate.quantity or known[0].spec or generic(known[0]):
        return None
    return None if words & (ALTERS | SERVING | GENERIC | _BESIDE_TRAINING) else known[1]


_REMARKED = re.compile(r"(.+?)\s*\(([^()]+)\)")


def _side(name: str, schema: Schema) -> bool:
    bare = name.strip()
    return bool(
        _named_side(name, schema) or named(name) or _MIXED.fullmatch(bare) or _A_WAY.fullmatch(bare)
    )


_MIXED = re.compile(r"(?:mixed[ -]precision|AMP|mixed)", re.IGNORECASE)
"""A side of a table whose number format is not said."""

_DASHED = re.compile(r"([^()\[\]]+?)(?:\s+[-–—:]\s+|,\s+)([^()\[\]]+?)(\s*[(\[][^()\[\]]+[)\]])?")


def _apart(label: str, schema: Schema, printed: str = "") -> tuple[str, Column] | None:
    """The words at an end of a label that tell its group, and the column of the rest; `printed` is
    the unit that its cells print, for a rest that says none: `Throughput - TF32`."""
    words = label.split()
    if len(words) > MOST_WORDS:
        return None
    if (dashed := _DASHED.fullmatch(label)) and _side(dashed[2], schema):
        # `Step time, BF16 (s)`
        column = _in_unit(f"{dashed[1]}{dashed[3] or ''}", schema, printed)
        if column.spec is not None and (column.spec.quantity or column.spec.configuration):
            return dashed[2], replace(column, label=label)
    for cut in range(1, len(words)):
        for name, rest in (
            (" ".join(words[:cut]), " ".join(words[cut:])),
            (" ".join(words[cut:]), " ".join(words[:cut])),
        ):
            if named(name):
                column = _in_unit(rest, schema, printed)
                if column.spec is not None and column.spec.quantity:
                    return name, replace(column, label=label)
    return None


def _by_sides(grid: Grid, schema: Schema, above: Sequence[Line]) -> tuple[Group, ...]:
    """A group for each device whose performance stands in a column of its own."""
    sides = by_unit_above(grid, schema, above)
    columns = header(grid.header(), schema)
    rest = common(columns, {at for _, at, _, _ in sides})
    return tuple(
        Group(rest, {at: column}, name, {"gpu": device}, at) for name, at, device, column in sides
    )


def _in_unit(label: str, schema: Schema, printed: str) -> Column:
    """The column of a label; of one that only says that something was fast in the unit that its
    cells print."""
    (column,) = header([label], schema)
    if printed and generic(column):
        (told,) = header([f"{label} ({printed})"], schema)
        return told
    return column


def _printed_unit(grid: Grid, at: int) -> str:
    """The unit of a rate that most cells of a column print; empty where they are in no one."""
    cells = [row.cells[at].text for row in grid.rows if at < len(row.cells) and not row.one]
    held = [plain(cell) for cell in cells if len(cell) <= LONGEST and _DIGIT.search(cell)]
    units = [found[1] for cell in held if (found := _RATE.fullmatch(cell))]
    return units[0] if len(set(units)) == 1 and 3 * len(units) >= 2 * len(held) else ""


_DIGIT = re.compile("[0-9]")

_GENERIC = re.compile(r"\b(?:training|throughput|speed|performance)\b", re.IGNORECASE)

_RATE = re.compile(r"[~≈]?\s*[0-9][0-9.,]*\s*([A-Za-z]+(?:/|\s+per\s+)[A-Za-z]+)\.?")

_OF_RUNS = {"sample/s": "samples_per_s", "token/s": "tokens_per_s", "s": "step_time"}


def _by_cells(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """A group for each column headed by a name whose cells are rates with their unit."""
    columns = header(grid.header(), schema)
    found: dict[int, Column] = {}
    for at, column in enumerate(columns):
        if generic(column) or (column.spec is not None and column.spec.quantity):
            continue
        words = set(split(column.label))
        cells = [row.cells[at].text for row in grid.rows if at < len(row.cells) and not row.one]
        short = [plain(cell) for cell in cells if len(cell) <= LONGEST]
        units = [match[1] for cell in short if (match := _RATE.fullmatch(cell))]
        known = {measure.si for each in units if (measure := unit(each))}
        filled = [cell for cell in cells if cell and not _FAILED.match(plain(cell))]
        if len(known) != 1 or len(units) * 3 < len(filled) * 2 or words & (ALTERS | SERVING):
            continue
        field = _OF_RUNS.get(known.pop())
        if field is not None:
            found[at] = Column(column.label, fields(schema)[field], unit_known=False)
    if not found:
        return ()
    first, *others = found.values()
    for at, column in enumerate(columns):
        alike = all(other.spec is first.spec for other in others)
        if at and at not in found and alike and _ran_out(grid, at, column):
            found[at] = replace(first, label=column.label)
    rest = common(columns, found)
    return tuple(
        Group(
            rest, {at: column}, column.label,
            named(_GENERIC.sub(" ", column.label)) or _named_side(column.label, schema), at,
        )
        for at, column in found.items()
    )  # fmt: skip


def _ran_out(grid: Grid, at: int, column: Column) -> bool:
    """Whether a column that says nothing by its label holds nothing but runs out of memory."""
    cells = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one]
    ends = [_FAILED.match(cell) is not None for cell in cells if cell]
    return column.spec is None and not generic(column) and bool(ends) and all(ends)


_PHRASE = re.compile(
    r"\b(?:tokens?|samples?|sequences?|images?|imgs?)(?:\s*/\s*|\s+per\s+)"
    r"(?:gpu|device|npu|sec(?:ond)?|s)\b"
    r"(?:(?:\s*/\s*|\s+per\s+|\s+and\s+)(?:gpu|gcd|card|chip|device|npu|p|sec(?:ond)?|s)\b)?|\bTGS\b|\bMFU\b|\bTFLOPS?\b"
    r"|\b(?:(?:step|iter(?:ation)?)[ -]time|time per (?:step|iter(?:ation)?))\b"
    r"(?:\s*[(\[](?:ms|s|sec|seconds|milliseconds)[)\]]| in (?:ms|s|seconds|milliseconds)\b)?",
    re.IGNORECASE,
)


_OF_MEMORY = re.compile(
    r"\b(?:peak|max(?:imum)?)\s+(?:GPU\s+)?(?:memory|VRAM)(?:\s+(?:usage|per\s+GPU))?\b"
    r"(?:\s*[(\[][MG]i?B[)\]]|\s+in\s+[MG]i?B\b)?"
    r"|\b(?:GPU\s+memory|VRAM)(?=\s+(?:is |was )?(?:required|needed|usage|use[ds]?|consumption"
    r"|footprint|consumed|taken))"
    r"|(?:(?:单卡|每卡)?(?:峰值|最大)|单卡|每卡)显存",
    re.IGNORECASE,
)

_LENGTHS = re.compile(r"\b(?:sequences?|seq(?:len)?|contexts?)\b|序列", re.IGNORECASE)


_OF_LENGTH = re.compile(r"\b(?:seq(?:uence)?s?|seqlen|ctx|context|len(?:gth)?)\b|[=_:]")


def _length(label: str) -> dict[str, str]:
    """The sequence length that a label is: `4k`, `seq 4096`; nothing but powers of two."""
    found = re.fullmatch(r"([0-9]+) ?(k)?", _OF_LENGTH.sub(" ", label.casefold()).strip())
    count = int(found[1]) * (1024 if found[2] else 1) if found else 0
    return {"seq_len": str(count)} if count >= 128 and not count & (count - 1) else {}


def _by_caption(
    grid: Grid, schema: Schema, above: Sequence[Line], declared: Sequence[Line] = ()
) -> tuple[Group, ...]:
    """A group for each column headed by a configuration, of the one quantity named above, or else
    of the one in which the text around the section says that it measures."""
    columns = header(grid.header(), schema)
    if len(columns) < 3 or quantities(columns):
        return ()
    settings = [0, *(n for n, c in enumerate(columns) if n and c.spec and c.spec.configuration)]
    ratios = [n for n, column in enumerate(columns) if n and _compares(column.label)]
    columns = [Column(c.label, None) if n in ratios else c for n, c in enumerate(columns)]
    sides = [n for n in range(len(columns)) if n not in settings and n not in ratios]
    sides = [n for n in sides if not _in_words_alone(grid, n)]
    named_by = {n: _named_side(columns[n].label, schema) for n in sides}
    if not any(named_by.values()):
        sides = list(range(1, len(columns)))
        if told := axes(grid, columns, schema) or over_counts(grid, columns):
            columns = [told[0], *columns[1:]]
            named_by = dict(zip(sides, told[1], strict=True))
        elif any(_LENGTHS.search(line.text) for line in above):
            named_by = {n: _length(columns[n].label) for n in sides}
        if not any(named_by.values()):
            named_by = dict(zip(sides, across(columns, above, schema), strict=True))
        if not any(named_by.values()):
            sides = [n for n in range(len(columns)) if n not in settings and n not in ratios]
    found = _named_above(above)
    if found is None and not any(_heard(line.text).phrases for line in above):
        found = _named_above(declared)
    if found is None or found.field not in fields(schema):
        return ()
    spec = fields(schema)[found.field]
    others = [columns[n].label for n in sides if not named_by.get(n)]
    kinds = {frozenset(named_by[n]) for n in sides if named_by.get(n)}
    machines = {frozenset({"gpu"}), frozenset({"gpu", "gpus"})}
    ways = kinds and all(map(_A_WAY.fullmatch, others))
    proved = not ways and (
        _each_in_its_unit(grid, sides, spec)
        or (found.unit_known and _all_said(columns, sides, above) and _numbers(grid, sides))
    )
    if not (ways or proved) or (ways and len(kinds) > 1 and kinds != machines):
        return ()
    if (len(settings) > 1 and len(sides) < 2) or any(_GUESSED.search(x.text) for x in above):
        return ()
    if not proved and not found.unit_known and not _mostly_with_units(grid):
        return ()
    rest, most = common(columns, set(sides)), found.field == "memory"
    own = {
        at: Column(columns[at].label, spec, found.scale, found.unit_known, most=most)
        for at in sides
    }  # fmt: skip
    return tuple(
        Group(rest, {at: column}, column.label, named_by.get(at), at) for at, column in own.items()
    )


_GUESSED = re.compile(r"\bestimat|\btheoretical|估算|估计|理论", re.IGNORECASE)
"""Words of a text whose table was not measured."""


def _each_in_its_unit(grid: Grid, sides: Sequence[int], spec: FieldSpec) -> bool:
    """Whether each of some columns holds numbers with a unit of one quantity and outcomes, and
    nothing else: their headers are names of set-ups."""
    found = 0
    for at in sides:
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        for text in texts:
            if not text or _NONE.fullmatch(text):
                continue
            number = _IN_UNIT.fullmatch(of_the_device(text)[0]) if len(text) <= LONGEST else None
            measure = unit(number[1]) if number else None
            if not (measure and measure.si == spec.unit) and not _FAILED.match(text):
                return False
            found += measure is not None
    return found > 1


_SAID_OF_ALL = re.compile(
    r"\b(?:numbers|values|figures|cells|entries|all results)\b.{0,24}?\b(?:in|is|are|give)\b",
    re.IGNORECASE,
)
"""A sentence that says in what everything in the table below it is."""

_OTHER_THINGS = ALTERS | SERVING | GENERIC | {
    "loss", "accuracy", "acc", "score", "bleu", "epoch", "epochs", "step", "steps", "layers",
    "memory", "vram", "hours", "days", "cost", "price", "power", "version", "seed", "id", "bubble",
    "batch", "lr", "efficiency", "utilization", "mfu", "hfu", "tokens", "samples", "run", "rank",
    "micro", "experts", "heads", "hidden", "size", "length", "ppl", "perplexity", "bits",
}  # fmt: skip
"""Words of a column that is of something else than a set-up."""


def _all_said(columns: Sequence[Column], sides: Sequence[int], above: Sequence[Line]) -> bool:
    """Whether the text above says in what all numbers are, and columns are names of set-ups."""
    told = any(
        _SAID_OF_ALL.search(_bare(line.text)) and _heard(line.text).phrases for line in above
    )
    labels = [columns[n].label for n in sides]
    return told and len(sides) > 1 and all(
        columns[n].spec is None and not columns[n].degrees and re.search(r"[^\W\d_]", label)
        and not set(split(english(label))) & _OTHER_THINGS
        for n, label in zip(sides, labels, strict=True)
    )  # fmt: skip


def _numbers(grid: Grid, sides: Sequence[int]) -> bool:
    """Whether some columns hold numbers without a unit, outcomes, and nothing else."""
    texts = [plain(r.cells[n].text) for n in sides for r in grid.rows if n < len(r.cells)]
    return all(
        not text or _NONE.fullmatch(text) or _NUMERAL.fullmatch(text) or _FAILED.match(text)
        for text in texts
    )


_IN_UNIT = re.compile(r"[~≈]?\s*[0-9][0-9.,]*\s*([A-Za-z%µ]+(?:/[A-Za-z]+)*)")

_FAILED = re.compile(r"(?:cuda )?(?:oom|out of memory)\b", re.IGNORECASE)

_NONE = re.compile(r"[-–—/]+|n/?a|none", re.IGNORECASE)


def _in_words_alone(grid: Grid, at: int) -> bool:
    """Whether a column holds nothing but words: how each row was run, and no measurement."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    return bool(texts) and all(text.isascii() and text.isalpha() for text in texts)


_COMPARED = re.compile(
    r"\b(?:speed-?ups?|ratio|gain|relative|rel\.?|vs\.?|improvement|factor|delta|scaling"
    r"|efficiency)(?![A-Za-z])|[Δ÷]|\S\s+/\s+\S",
    re.IGNORECASE,
)


def _compares(label: str) -> bool:
    """Whether a column compares others: `MI300X / H100`, `speedup`."""
    return _COMPARED.search(label) is not None


_OF_SAMPLES = re.compile(
    r"\b(?:samples?|sequences?|sentences?)(?:\s*/\s*|\s+per\s+|\s+a\s+)(?:s|sec|second)\b",
    re.IGNORECASE,
)


_A_WAY = re.compile(
    r"(?:DDP|FSDP2?|HSDP|SDP|DP|TP|PP|SP|CP|EP|MP|OSS|ZeRO|PyTorch|baseline|ours|eager|default|none)"
    r"(?: ?\+ ?(?:DDP|FSDP2?|TP|PP|SP|CP|EP|AC|offload))*",
    re.IGNORECASE,
)
"""A way to run, beside others that say what they set: `DDP` beside `ZeRO-2`."""


def named_rate(above: Sequence[Line]) -> str | None:
    """The field of a rate in `/s` whose things the text above names: sequences; None if it names
    no such thing, or others as well."""
    things = {thing for line in above for thing in _rated(line.text)}
    return "samples_per_s" if things == {"samples_per_s"} else None


@lru_cache(maxsize=1024)  # every table asks the lines above it, which tables share
def _rated(text: str) -> frozenset[str]:
    """Fields of the things that a line names with a rate."""
    things = {told.field for phrase in _PHRASE.findall(text) if (told := said(phrase))}
    return frozenset(things | {"samples_per_s"} if _OF_SAMPLES.search(text) else things)


@lru_cache(maxsize=65_536)  # every view of a table asks all of its labels again
def _named_side(label: str, schema: Schema) -> Mapping[str, str]:
    """Values that a label gives: `MBS=4`, `GPUs 8`, or in brackets behind it `Cluster B (A100)`."""
    behind = _BEHIND.fullmatch(label)
    if found := named(label) or (named(behind[1]) if behind else {}):
        return found
    if (form := _OF_A_FORM.fullmatch(label)) and set(found := named(form[1])) == {"gpu"}:
        return {"gpu": label}
    counted = _COUNTED.fullmatch(label)
    column = header([counted[1]], schema)[0] if counted else None
    if counted is None or not counts(column) or column.spec is None:
        return {}
    return {column.spec.name: counted[2].replace(",", "")}


_OF_A_FORM = re.compile(
    r"(\S.*?)\s*\((?:GCD|die|card|module|chip|PCI-?e|SXM[0-9]?|NVL|OAM|[0-9]+ ?GB)\)", re.IGNORECASE
)
"""A device and its form in brackets: `MI250 (GCD)`."""

_BEHIND = re.compile(r"[^()]+\(([^()]+)\)\s*")

_COUNTED = re.compile(r"([^=:]*?[^=:\s])\s*[=: ]\s*([0-9][0-9,]*)")


def _named_above(above: Sequence[Line]) -> Said | None:
    """The one quantity that the lines above a table name, and that is no kernel's."""
    heard = [each for line in above if not (each := _heard(line.text)).of_kernels]
    found = [told for each in heard for phrase in each.phrases if (told := said(phrase))]
    found = found or [told for each in heard for m in each.of_memory if (told := said(m))]
    return found[0] if len({told.field for told in found}) == 1 else None


class _Heard(NamedTuple):
    """Phrases of rates and of memory in a line, and whether it is of kernels."""

    phrases: tuple[str, ...]
    of_memory: tuple[str, ...]
    of_kernels: bool


@lru_cache(maxsize=1024)  # every table asks the lines above it, which tables share
def _heard(text: str) -> _Heard:
    """Phrases in a line, asked once."""
    bare = _bare(text)
    of_kernels = _OF_KERNELS.search(text) is not None
    return _Heard(tuple(_PHRASE.findall(bare)), tuple(_OF_MEMORY.findall(bare)), of_kernels)


def _bare(text: str) -> str:
    """A line without signs of emphasis: `tokens per second **per GPU**`; "" of one too long."""
    return text.replace("*", "").replace("_", " ") if len(text) <= LONGEST else ""


_OF_KERNELS = re.compile(
    r"\b(?:mat-?mul|gemm|attention|kernels?|softmax|(?:rms|layer)-?norm|swiglu|all-?(?:reduce|gather)"
    r"|bandwidth|inference|decod(?:e|ing)|prefill|serving)\b",
    re.IGNORECASE,
)


def _mostly_with_units(grid: Grid) -> bool:
    """Whether most numbers right of the first column have a unit behind them: `8.1 GB`."""
    texts = [plain(c.text) for row in grid.rows for c in row.cells[1:] if len(c.text) <= LONGEST]
    held = [text for text in texts if re.search("[0-9]", text)]
    return 2 * sum(_WITH_UNIT.fullmatch(text) is not None for text in held) > len(held)


_WITH_UNIT = re.compile(r"[~≈]?\s*[0-9][0-9.,]*\s*[A-Za-zµ]+")


def _by_remarks(grid: Grid, schema: Schema, above: Sequence[Line]) -> tuple[Group, ...]:
    """A group for each column whose numbers have a layout in brackets, of the quantity above."""
    columns = header(grid.header(), schema)
    if quantities(columns) or (found := _named_above(above)) is None:
        return ()
    spec = fields(schema)[found.field]
    own: dict[int, Column] = {}
    for at, column in enumerate(columns):
        cells = [plain(r.cells[at].text) for r in grid.rows if at < len(r.cells) and not r.one]
        told = sum(bool(remark(text)) for text in cells)
        if column.spec is None and told * 3 >= len(cells) * 2 > 0:
            own[at] = Column(column.label, spec, found.scale)
    rest = common(columns, own)
    return tuple(Group(rest, {at: column}, column.label, {}, at) for at, column in own.items())
