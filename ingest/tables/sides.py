"""Columns that stand side by side in a table: a group for each observation of a row.

In: a grid and a schema. Out: groups, told by the labels of their columns: one that begins or ends
with a size, a device, a format or a way (`16B MFU`, `TFLOPs (A100)`, `step time, no overlap`), one
that spans others, or one that returns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

from assay.ingest.columns.composite import layout, named, recipe
from assay.ingest.columns.headers import (
    GENERIC,
    PARTS_OF_MEMORY,
    Column,
    generic,
    header,
    plain,
)
from assay.ingest.columns.subject import SERVING, TALLIED, says_how, spread
from assay.ingest.columns.titles import SIZED, family_named, model_named, names_format
from assay.ingest.grids.grid import LONGEST, Grid
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Line, Schema
from assay.ingest.tables.documents import MACHINE, explained, meant, unmarked
from assay.ingest.tables.header_rows import counts, quantities
from assay.ingest.tables.units_beside import by_unit_above, rated_of
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.program_names import program_named
from assay.ingest.vocabulary.words import ALTERS, DEVICE, english, of_one_device, split

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


def repeated(grid: Grid, schema: Schema) -> tuple[Group, ...]:
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


def spanned(grid: Grid, schema: Schema) -> tuple[Group, ...]:
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
    alone = len(sides) == 1 and not quantities([c for n, c in enumerate(shared) if n not in own])
    alone = alone and bool(named(next(iter(sides))))  # the device of all that was measured
    if (len(sides) < 2 and not alone) or not once or not set.intersection(*map(set, told)):
        return ()
    for at, (over, under) in enumerate(zip(upper, below, strict=False)):
        alike = {name for name, label in zip(upper, below, strict=False) if label == under}
        if at not in own and over in sides and under and alike == sides.keys():
            own[at] = header([under], schema)[0]  # a setting of its own: `Layout`
            sides[over][at] = own[at]
    rest = common(shared, own)
    return tuple(Group(rest, side, name, named(name), min(side)) for name, side in sides.items())


def under_one(grid: Grid, schema: Schema, above: Sequence[Line] = ()) -> tuple[Group, ...]:
    """Groups of columns that names in a second header row tell apart below one label: `Iteration
    time (s)` over `Full recompute` and `Ours`. What stands in no group is of the one that the text
    above says, or of nobody known."""
    if len(grid.heads) != 2:
        return ()
    upper, lower = ([plain(cell.text) for cell in row.cells] for row in grid.heads)
    if len(upper) != len(lower):
        return ()
    columns = [
        _in_unit(text, schema, printed_unit(grid, at)) if text else Column("", None)
        for at, text in enumerate(upper)
    ]
    own = {
        at: (under, replace(column, label=f"{over} {under}"))
        for at, (over, under, column) in enumerate(zip(upper, lower, columns, strict=True))
        if under and under != over and upper.count(over) > 1
        and column.spec is not None and column.spec.quantity
    }  # fmt: skip
    names = {name for name, _ in own.values()}
    if not _rectangular(own.values()) or any(header([n], schema)[0].spec for n in names):
        return ()
    if any(map(spread, names)):
        return ()  # statistics of one run
    shared = header([over if under in ("", over) else f"{over} {under}" for over, under in
                     zip(upper, lower, strict=True)], schema)  # fmt: skip
    for at, column in enumerate(shared):
        if at not in own and column.spec is not None and column.spec.quantity:
            shared[at] = Column(column.label, None)
            if side := _of_side(column, names, above):
                own[at] = side, column
    sides = _by_name((name, at, column) for at, (name, column) in own.items())
    return _beside_each_other(common(shared, own), sides, schema)


def _beside_each_other(
    rest: Common, sides: Mapping[str, dict[int, Column]], schema: Schema
) -> tuple[Group, ...]:
    """A group for each name of several, with what it says; one that says no model and no device
    beside others that do is of another than the text names."""
    told = {name: {**named_side(name, schema), **_said_by(name)} for name in sides}
    unsaid = dict.fromkeys(
        {"model", "gpu"} & {field for each in told.values() for field in each}, ""
    )
    return tuple(
        Group(rest, side, name, unsaid | told[name], min(side)) for name, side in sides.items()
    )


def _said_by(name: str) -> dict[str, str]:
    """Values that the name of a side gives."""
    of_model = {"model": name} if name in (model_named(name), family_named(name)) else {}
    return {**of_model, **recipe("", name), **named(name)}


def _by_name(own: Iterable[tuple[str, int, Column]]) -> dict[str, dict[int, Column]]:
    """Name of a group → its own columns by their places."""
    found: dict[str, dict[int, Column]] = {}
    for name, at, column in own:
        found.setdefault(name, {})[at] = column
    return found


def grouped(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """Groups of columns whose labels begin or end with what tells them apart."""
    labels = [plain(text) for text in grid.header()]
    told = _alike_named(
        [apart(label, schema, printed_unit(grid, at)) for at, label in enumerate(labels)]
    )
    sides = _of_one_device(_by_name((each[0], at, each[1]) for at, each in enumerate(told) if each))
    free = {at: label for at, label in enumerate(labels) if told[at] is None}
    sides = {name: own | _in_short(name, free, schema) for name, own in sides.items()}
    sides = _with_settings(sides, labels, schema)
    shared = header(labels, schema)
    placed = {at for own in sides.values() for at in own}
    mine = {name for own in sides.values() for name in _fields(own)}
    rest_said = all(c.spec is not None or at in placed for at, c in enumerate(shared) if at)
    if not sides or (len(sides) == 1 and not (rest_said and len(placed) >= TWO)):
        return ()
    for at, column in enumerate(shared):
        if column.spec is not None and column.spec.quantity and at not in placed:
            if column.spec.name in mine or column.spec.name not in OF_NOBODY:
                return ()
            shared[at] = Column(column.label, None)  # it cannot be of all of them
    rest = common(shared, placed)
    groups = []
    for name, own in sides.items():
        held = [column.spec.name for column in own.values() if column.spec]
        if len(held) != len(set(held)):
            return ()
        groups.append(Group(rest, own, name, named_side(name, schema), min(own)))
    return tuple(groups)


def with_unknown_devices(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Groups, those as devices that are known by no name and of which the same was measured as of
    one that is known: `QT-300 tokens/s | QT-300 memory | H100 tokens/s | H100 memory`."""
    known = {
        frozenset(_fields(each.own)) for each in groups
        if {name for name, text in (each.said or {}).items() if text} == {"gpu"}
    }  # fmt: skip

    def told(group: Group) -> Group:
        said = {text for text in (group.said or {}).values() if text}
        device = _NUMBERED.fullmatch(group.label) and said <= {group.label}
        alike = device and frozenset(_fields(group.own)) in known
        return replace(group, said={"gpu": group.label}) if alike else group

    return tuple(map(told, groups)) if known else tuple(groups)


_NUMBERED = re.compile(r"[A-Z]{1,4}[ -]?[A-Z]{0,3}[0-9]{2,4}[A-Z]{0,3}(?:[ -]?[0-9]{2,3} ?GB)?")
"""A name of capital letters and a number, as devices have."""


def _in_short(name: str, free: Mapping[int, str], schema: Schema) -> dict[int, Column]:
    """Further columns of a side that is named at length once, and in short in a `free` label, of no
    side yet: `Birch MFU` beside `Birch (H100) tok/s/GPU`."""
    short = _BRACKET_BEHIND.sub("", name)
    found = dict[int, Column]()
    for at, label in free.items() if short != name else ():
        rest = label.removeprefix(short)
        if rest != label and rest.startswith(" "):
            (column,) = header([rest.strip()], schema)
            if column.spec is not None and column.spec.quantity:
                found[at] = replace(column, label=label)
    return found


_BRACKET_BEHIND = re.compile(r"\s*\([^()]*\)$")


def _with_settings(
    sides: dict[str, dict[int, Column]], labels: Sequence[str], schema: Schema
) -> dict[str, dict[int, Column]]:
    """Sides with what each of them was set to in columns of its own, where all have one: `H100 MBS`
    beside `H100 tokens/s`, `MBS (H100)`."""
    placed = {at for own in sides.values() for at in own}
    free = {at: label for at, label in enumerate(labels) if at not in placed}
    found = set_apart(list(sides), free, schema)
    return {name: own | found.get(name, {}) for name, own in sides.items()}


def set_apart(
    names: Sequence[str], labels: Mapping[int, str], schema: Schema
) -> dict[str, dict[int, Column]]:
    """Columns by the one of several names that each label has beside a setting, where all names
    have the same ones: `H100 MBS`, `MBS (A100)`; or where a sign tells the name from the setting,
    or one name has several: `Without CP: TFLOPS | With CP: TP | With CP: TFLOPS`. Names among which
    some are such labels count without them."""
    found: dict[str, dict[int, Column]] = {name: {} for name in names}
    for at, label in labels.items() if len(names) > 1 else ():
        for name in names:
            rest = _beside_name(label, name) if name in label and name != label else ""
            if rest:
                (column,) = header([rest], schema)
                if column.spec is not None and column.spec.configuration:
                    found[name][at] = replace(column, label=label)
    placed = {column.label for own in found.values() for column in own.values()}
    found = {name: own for name, own in found.items() if name not in placed}
    held = [sorted(_fields(own)) for own in found.values()]
    if not placed or any(len(fields) != len({*fields}) for fields in held):
        return {}
    once = sum(map(len, found.values())) == len(placed)
    told = once and all(
        len(own) > 1 or all(_signed_apart(column.label, name) for column in own.values())
        for name, own in found.items()
    )
    return found if told or all(fields == held[0] for fields in held) else {}


def _signed_apart(label: str, name: str) -> bool:
    """Whether a sign tells a name from the rest of a label: `H100: MBS`, `MBS (H100)`."""
    return (
        name.startswith(("(", "["))
        or re.search(
            rf"^{re.escape(name)}\s*(?::|[-–—]\s)|(?::|,|\s[-–—])\s+{re.escape(name)}$"
            rf"|[(\[]{re.escape(name)}[)\]]$",
            label,
        )
        is not None
    )


def _beside_name(label: str, name: str) -> str:
    """Words of a label before or behind the name of a side; empty where it has not that name."""
    for form in (rf"{re.escape(name)}(?:[:,]?\s+|\s+[-–—]\s+|\s*(?=\())(.+)",
                 rf"(.+?)(?:,?\s+|\s+[-–—]\s+){re.escape(name)}",
                 rf"(.+?)\s*[(\[]{re.escape(name)}[)\]]"):  # fmt: skip
        if found := re.fullmatch(form, label):
            return found[1].strip(" ()")
    return ""


def _of_one_device(sides: dict[str, dict[int, Column]]) -> dict[str, dict[int, Column]]:
    """The same with two sides as one that name one device, at length and in short, and have no
    quantity in common: `H20-96G ms/iter | H20 TFLOP/s/GPU`."""
    found: dict[str, dict[int, Column]] = {}
    for name, own in sides.items():
        device = only(name)
        other = next(
            (
                each for each, held in found.items()
                if (one := only(each)) and one.key == device.key
                and not _fields(held) & _fields(own)
            ), None,
        ) if device else None  # fmt: skip
        if other is None:
            found[name] = own
        else:
            found[max(name, other, key=len)] = found.pop(other) | own
    return found


def _fields(own: Mapping[int, Column]) -> set[str]:
    """Names of the fields of some columns."""
    return {column.spec.name for column in own.values() if column.spec}


def _alike_named(
    told: Sequence[tuple[str, Column] | None],
) -> list[tuple[str, Column] | None]:
    """The same under one name where names give runs the same values: `FP8` and `fp8`."""
    first: dict[tuple[tuple[str, str], ...], str] = {}
    for each in told:
        if each and (values := named(each[0])):
            first.setdefault(tuple(values.items()), each[0])
    return [each and (first.get(tuple(named(each[0]).items()), each[0]), each[1]) for each in told]


def by_brackets(grid: Grid, schema: Schema, above: Sequence[Line] = ()) -> tuple[Group, ...]:
    """Groups of columns of one quantity that a remark tells apart, in brackets or behind a comma:
    `TFLOPS (ours)`, `Step time, full recompute (s)`; or a name in front of one unit: `ours
    (tokens/s)`. Of several remarks on one device each is its name: `MFU (A100 80GB, 400 Gb/s)`.
    """
    labels = [plain(text) for text in grid.header()]
    may = [at for at, label in enumerate(labels) if _may_be_remarked(label)]
    if len(may) < TWO:
        return ()
    set_up = {c.spec.name for c in header(labels, schema) if c.spec and c.spec.configuration}
    timed = any(_OF_STEPS.search(line.text) for line in above)
    how = bool(set_up - TALLIED) or says_how(grid)
    own = {
        at: told for at in may
        if (told := _remarked(labels[at], schema, told=how, timed=timed))
    }  # fmt: skip
    if not _rectangular(own.values()) and not _models_apart(own.values()):
        named_by = {at: only(name) for at, (name, _) in own.items()}
        own = {at: (device.text, own[at][1]) for at, device in named_by.items() if device}
        if not _rectangular(own.values()) or len(own) < len(named_by):
            return ()
    every = {name: set(split(name)) for name, _ in own.values()}
    models = _of_models(every, list(own.values()))
    for at, label in enumerate(labels):
        if at not in own and (mine := _with_one_of(label, every, schema)):
            own[at] = mine
    own |= _behind_each(labels, own, schema)
    shared = header(labels, schema)
    for at, column in enumerate(shared):
        compares = column.spec is not None and column.spec.name == "speedup"
        if at not in own and column.spec is not None and (column.spec.quantity or compares):
            side = _of_side(column, every, above)  # it cannot be of all of them
            shared[at] = Column(column.label, None)
            if side:
                own[at] = side, column
    sides = _with_settings(
        _by_name((name, at, column) for at, (name, column) in own.items()), labels, schema
    )
    rest = common(shared, {at for each in sides.values() for at in each})
    return tuple(
        Group(
            rest,
            sides[name],
            name,
            {**({"model": name} if name in models else {}), **_said_by(name),
             **named_side(name, schema)},
            next(iter(sides[name])),
        )
        for name in every
    )  # fmt: skip


def of_one_model(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """The one column of a rate that is headed by the name of what ran, beside what that ran with,
    in a table that measures nothing else: `ResNet-50 (img/s)`."""
    labels = [plain(text) for text in grid.header()]
    shared = header(labels, schema)
    set_up = {c.spec.name for c in shared if c.spec and c.spec.configuration}
    if quantities(shared) or not set_up - TALLIED or any(map(generic, shared)):
        return ()
    forms = {at: form for at, label in enumerate(labels) if (form := _REMARKED.fullmatch(label))}
    found = {
        at: (form[1], rate) for at, form in forms.items()
        if (_NAME_OF_A_MODEL.fullmatch(form[1]) or model_named(form[1]) == form[1])
        and _names_a_way(form[1]) and (rate := _rate_of(form[1], form[2], schema))
    }  # fmt: skip
    if len(found) != 1:
        return ()
    ((at, (name, rate)),) = found.items()
    own = {at: replace(rate, label=labels[at])}
    return (Group(common(shared, own), own, name, _said_by(name), at),)


_NAME_OF_A_MODEL = re.compile(r"[A-Z]\w*(?:[-/ ]\w+)*?[-/ ]?v?[0-9]+\w*|[A-Z]\w*-[A-Z]\w*")


def _behind_each(
    labels: Sequence[str], own: Mapping[int, tuple[str, Column]], schema: Schema
) -> dict[int, tuple[str, Column]]:
    """The side of columns whose label returns behind the first column of each side: `ours
    (tokens/s) | Memory (GB) | theirs (tokens/s) | Memory (GB)`."""
    firsts = sorted({name: at for at, (name, _) in reversed([*own.items()])}.values())
    found: dict[int, tuple[str, Column]] = {}
    for label in dict.fromkeys(labels):
        places = [at for at, each in enumerate(labels) if each == label and at not in own]
        if len(places) != len(firsts) or not firsts:
            continue
        ends = [*firsts[1:], len(labels)]
        (column,) = header([label], schema)
        known = column.spec is not None and column.spec.quantity is not None
        if known and all(a < at < b for a, at, b in zip(firsts, places, ends, strict=True)):
            found |= {at: (own[first][0], column) for first, at in zip(firsts, places, strict=True)}
    return found


_OF_STEPS = re.compile(
    r"\b(?:time|latency|duration|seconds)\s+(?:per|of (?:a|one|each))\s+(?:training )?"
    r"(?:step|iter(?:ation)?)\b|\b(?:step|iter(?:ation)?)[ -](?:time|latency|duration)s?\b"
    r"|单步(?:耗时|时间)|迭代时间|イテレーション時間|ステップ時間",
    re.IGNORECASE,
)
"""A text whose table holds times of a step."""


@lru_cache(maxsize=1024)  # a document has the same header again and again
def _may_be_remarked(label: str) -> bool:
    """Whether a label has a form in which a remark stands in it: most have none."""
    forms = (_REMARKED, _BEHIND_COMMA, _OF_WHAT)
    return any(form.fullmatch(label) for form in forms)


TWO = 2
"""Columns that are told apart, at least."""


def _remarked(
    label: str, schema: Schema, *, told: bool, timed: bool = False
) -> tuple[str, Column] | None:
    """The remark by which a column of a quantity is one of several, and the column without it; a
    time is that of a step where the text above says so (`timed`)."""
    (whole,) = header([label], schema)
    found = _REMARKED.fullmatch(label)
    printed = found[2].replace("卡", "GPU") if found else ""
    rate = _rate_of(found[1], printed, schema, told=told) if found and not whole.spec else None
    asked = found and timed and rate is None and whole.spec is None
    if found and asked and found[2] in ("ms", "s", "sec") and _names_a_way(found[1]):
        (rate,) = header([f"step time ({found[2]})"], schema)
    if found and rate:
        return found[1], replace(rate, label=label)
    apart = [(found[1], found[2])] if found and unit(found[2]) is None else []
    if whole.spec is None and (behind := _BEHIND_COMMA.fullmatch(label)):
        last = behind[3] or ""
        in_unit = unit(last.strip("()[]")) is not None
        apart.append((f"{behind[1]} {last}", behind[2]) if in_unit
                     else (behind[1], f"{behind[2]} {last}".strip()))  # fmt: skip
        apart.append((f"{behind[2]} {last}", behind[1]))  # `SMP v2: samples/second`
    how = _OF_WHAT.fullmatch(label) if whole.spec is None else None
    if how and not set(split(english(how[2]))) & (_NO_SIDE - {"net"}):  # `U-Net`
        apart.append((f"{how[1]} {how[3] or ''}", how[2]))
    for base, name in apart:
        (column,) = header([base.strip()], schema)
        words = set(split(_OPTION.sub(" ", SIZED.sub(" ", name)))) if len(name) > 1 else set()
        known = column.spec is not None and column.spec.quantity is not None
        if whole.spec is column.spec and whole.unit_known and not column.unit_known:
            continue  # what the remark says is the unit
        if known and whole.spec is None and words & PARTS_OF_MEMORY:
            continue
        if known and not words & (ALTERS | (_OF_PARTS if set(label) & set(",:") else set())):
            return name, replace(column, label=label)
    return None


def by_names(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """Groups of columns of one quantity that words in front of it or behind tell apart, where no
    column has it alone: `Vanilla TP TPS | Async TP TPS`."""
    labels = [plain(text) for text in grid.header()]
    shared = header(labels, schema)
    own = {
        at: told
        for at, label in enumerate(labels)
        if shared[at].spec is None and (told := _worded(label, schema))
    }
    if not _have_one_in_common(own.values()):
        return ()
    held = {column.spec.name for _, column in own.values() if column.spec}
    for at, column in enumerate(shared):
        if column.spec is not None and column.spec.quantity:
            if column.spec.name in held or column.spec.name not in OF_NOBODY:
                return ()
            shared[at] = Column(column.label, None)  # it cannot be of all of them
    names = {name for name, _ in own.values()}
    if len(own) == len(names) and any("delta" in split(name) for name in names):
        return ()  # a difference, not the machine of that name
    for at, label in enumerate(labels):  # `LOMO memory (GB)` beside `AdamW TGS | LOMO TGS`
        if at not in own and shared[at].spec is None:
            of_one = next(filter(None, (of_name(label, name, schema) for name in names)), None)
            own |= {at: of_one} if of_one else {}
    held |= {column.spec.name for _, column in own.values() if column.spec}
    for at, label in enumerate(labels):
        of_one = None
        if at not in own and shared[at].spec is None:
            of_one = _by_a_part(label, names, schema)
        if of_one and of_one[1].spec and of_one[1].spec.name in held:
            own[at] = of_one
    sides = _by_name((name, at, column) for at, (name, column) in own.items())
    sides = _with_settings(sides, labels, schema)
    placed = {at for each in sides.values() for at in each}
    return _beside_each_other(common(shared, placed), sides, schema)


def _by_a_part(label: str, names: Collection[str], schema: Schema) -> tuple[str, Column] | None:
    """The column of a label that names a side by its first or its last word, which no other side
    has: `ring memory` beside `Ulysses TGS | Ulysses memory | zig-zag ring TGS`."""
    told = list[tuple[str, Column]]()
    for name in names:
        words = name.split()
        theirs = {word for other in names if other != name for word in other.split()}
        for part in dict.fromkeys((words[0], words[-1])) if len(words) > 1 else ():
            lettered = len(part) > len("of") and part not in theirs and any(map(str.isalpha, part))
            if lettered and not set(split(english(part))) & (_NO_SIDE | PARTS_OF_MEMORY):
                found = of_name(label, part, schema)
                told += [(name, found[1])] if found else []
    return told[0] if len(told) == 1 else None


def with_quantities_beside(groups: Sequence[Group], schema: Schema) -> tuple[Group, ...]:
    """Groups with further quantities that a label says to be of one of them: `Peak memory, v2`
    beside `v1 | v2`."""
    held = {c.spec.name for group in groups for c in group.own.values() if c.spec}
    found: dict[int, tuple[str, Column]] = {}
    same = len(groups) > 1 and all(group.common == groups[0].common for group in groups)
    for at, column in groups[0].common.columns if same else ():
        told = [
            each for group in groups
            if column.spec is None and (each := of_name(column.label, group.label, schema))
        ]  # fmt: skip
        if len(told) == 1 and told[0][1].spec and told[0][1].spec.name not in held:
            found[at] = told[0]
    if not found:
        return tuple(groups)
    rest = groups[0].common
    rest = Common(rest.width, tuple(each for each in rest.columns if each[0] not in found))
    return tuple(
        replace(group, common=rest, own={
            **group.own, **{at: each for at, (name, each) in found.items() if name == group.label}
        })
        for group in groups
    )  # fmt: skip


def of_name(label: str, name: str, schema: Schema) -> tuple[str, Column] | None:
    """The column of a label that begins or ends with a name, of the quantity beside it."""
    found = _WITH_UNIT_BEHIND.fullmatch(label)
    if label.startswith(f"{name} "):
        rest = label[len(name) :].strip(" -–—:,/")
    elif found and found[1].endswith(f" {name}"):  # `peak memory before (GiB)`
        rest = f"{found[1][: -len(name)].strip(' -–—:,/')}{found[2] or ''}"
    elif label.endswith((f") {name}", f"), {name}", f"): {name}")):  # `peak memory (GiB) before`
        rest = label[: -len(name)].strip(" -–—:,/")
    elif label.endswith(f"({name})"):  # `peak memory (after)`
        rest = label[: -len(name) - 2].strip(" -–—:,/")
    else:
        return None
    (column,) = header([rest], schema)
    known = column.spec is not None and column.spec.quantity is not None
    return (name, replace(column, label=label)) if known else None


def _worded(label: str, schema: Schema) -> tuple[str, Column] | None:
    """The words of a label that are a name, and the column of the rest, which is all a rate, a
    time of a step or a utilisation: `Vanilla TP tokens/s`, `Step time baseline (ms)`."""
    if (dashed := _DASHED.fullmatch(label)) and " - " in label:  # `peak memory - LoRA`
        (column,) = header([f"{dashed[1]}{dashed[3] or ''}"], schema)
        of_parts = set(split(english(dashed[2]))) & (_NO_SIDE | PARTS_OF_MEMORY)
        if column.spec is not None and column.spec.name == "memory" and not of_parts:
            return dashed[2], replace(column, label=label)
    for named_by, rest in _divided(label):
        (column,) = header([rest], schema)
        if column.spec is None or column.spec.name not in _OF_SIDES:
            continue
        small = set(split(english(_OF_A_SIZE.sub("", SIZED.sub(" ", named_by)))))
        lettered = any(map(str.isalpha, named_by)) or _A_VERSION.fullmatch(named_by)
        may_be = {"delta"} if column.spec.name == "step_time" else {"delta", *_COMPILED}
        if not small & (_NO_SIDE - may_be) and lettered:
            return named_by.strip(" -–—:,/"), replace(column, label=label)
        return None
    return None


def _divided(label: str) -> Iterator[tuple[str, str]]:
    """Words at the end of a label that may be a name, and the rest of it with its unit: the fewest
    first, those in front before those behind. A remark in brackets that is no unit parts them.

    >>> [*_divided("0.8.2 (bf16) tok/s/GPU")]
    [('0.8.2 (bf16)', 'tok/s/GPU')]
    >>> [*_divided("step (ms) before")]
    [('step', 'before (ms)'), ('before', 'step (ms)')]
    """
    inner = _WITH_UNIT_WITHIN.fullmatch(label)
    if inner and not unit(inner[2][1:-1]):
        yield f"{inner[1]} {inner[2]}", inner[3]
        return
    found = _WITH_UNIT_BEHIND.fullmatch(f"{inner[1]} {inner[3]} {inner[2]}" if inner else label)
    words = found[1].split() if found else []
    behind = (found[2] or "") if found else ""
    for cut in range(1, len(words) if len(words) <= MOST_WORDS else 0):
        yield " ".join(words[:cut]), " ".join(words[cut:]) + behind
        yield " ".join(words[-cut:]), " ".join(words[:-cut]) + behind


_OF_A_SIZE = re.compile(r"(?<=[A-Za-z])-(?:Ti|[TSBLHGM]|XL)(?:/[0-9]+)?\b")
"""The size of a model behind its name, by a letter: `DeiT-B`."""

_COMPILED = {"compile"}
"""How a model was run, in front of a rate or behind it; a time of it is of the compiler."""

OF_NOBODY = {"memory", "max_reserved"}
"""Quantities that a table has once beside rates of several sides: of which nobody knows."""

_A_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){1,3}(?:(?:rc|a|b|\.dev|\.post)[0-9]+)?")
"""The number of a version, as a name: `tok/s 0.10.4`."""

_WITH_UNIT_BEHIND = re.compile(r"([^()\[\]]+?)(\s*[(\[][^()\[\]]+[)\]])?")

_WITH_UNIT_WITHIN = re.compile(r"([^()\[\]]+?)\s*([(\[][^()\[\]]+[)\]])\s+([^()\[\]]+)")
"""A label with its unit before its last words: `step (ms) before`."""

_OF_SIDES = {
    "tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s", "item_rate", "step_time",
    "step_rate", "model_flops_rate", "mfu", "hfu",
}  # fmt: skip
"""Quantities that names tell apart; parts of a memory have names as well."""

_BEHIND_COMMA = re.compile(r"([^,:]+)[,:]\s+([^,:]+?)(?:\s*([(\[][^()\[\]]+[)\]]))?")


_OF_WHAT = re.compile(
    r"((?:[\w-]+ ){0,2}(?:throughput|speed|performance|[a-z]+/s(?:ec)?))"
    r"(?:,| (?:for|of|with|without|using|at|on|in)|(?= @)) ([^()\[\]]+?)"
    r"(?:\s*([(\[][^()\[\]]+[)\]]))?",
    re.IGNORECASE,
)
"""A rate and of what it is, or how it was run: `Throughput for U-Net @ 256x256 (images/s)`."""

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


def _have_one_in_common(told: Iterable[tuple[str, Column]]) -> bool:
    """Whether several names all have some quantity, each once; one of them may have more:
    `ms/step before | ms/step after | img/s after`."""
    pairs = [(name, column.spec.name) for name, column in told if column.spec]
    held = {name: {field for each, field in pairs if each == name} for name, _ in pairs}
    once = len(set(pairs)) == len(pairs)
    return once and len(held) > 1 and bool(set.intersection(*held.values()))


def _models_apart(told: Iterable[tuple[str, Column]]) -> bool:
    """Whether several names are of models each, whose rates count what each reads: `ResNet-50
    (img/s) | BERT (seq/s)`. One of them is known; what reads something else is another."""
    pairs = [(name, column.spec.name) for name, column in told if column.spec]
    names, held = {name for name, _ in pairs}, {field for _, field in pairs}
    every = len(_models_among(names)) == len(names) or (len(held) > 1 and _one_is_model(names))
    return len(pairs) == len(names) > 1 and held <= _THINGS and every


def _models_among(names: Collection[str]) -> list[str]:
    """The names that are those of models."""
    return [
        name for name in names
        if (model := model_named(name) or family_named(name))
        and (model == name or (_IDENTIFIER.fullmatch(name) and name.startswith(f"{model}_")))
    ]  # fmt: skip


_IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+){0,4}")
"""A model with how it was made ready, as a column of a file is called: `bert_base_squad`."""


def _one_is_model(names: Collection[str]) -> bool:
    """Whether names may all be of models, as one of them is, and none is of something else."""
    alike = all(name[:1].isupper() for name in names) or all(map(_IDENTIFIER.fullmatch, names))
    others = (recipe("", name) or named(name) or program_named(name) for name in names)
    return alike and bool(_models_among(names)) and not any(others)


def _of_models(names: Collection[str], told: Collection[tuple[str, Column]]) -> dict[str, str]:
    """Models by the names of sides that are told apart by them: most are known ones, or they do not
    count the same things."""
    known = _models_among(names)
    if 2 * len(known) > len(names) or _models_apart(told):
        return {name: name for name in names} if _one_is_model(names) else {}
    return {}


_THINGS = {"samples_per_s", "item_rate", "tokens_per_s"}

_THOSE_OF = re.compile(r"\b(?:is|are|was|were) (?:those|that|the ones?) of (?:the )?([^.;]+)")


def _of_side(column: Column, names: Collection[str], above: Sequence[Line]) -> str | None:
    """The one of several sides that the text above says a column is of: `MFU is that of ours.`"""
    assert column.spec is not None
    for line in above:
        for text in re.split(r"(?<=[.;])\s", unmarked(line.text)):
            said_of = _THOSE_OF.search(text)
            meant = column.spec.name in text.casefold() or column.label in text
            meant |= column.spec.name in ("mfu", "hfu") and "utilizations" in text.casefold()
            side = said_of[1].strip().casefold() if said_of and meant else ""
            if found := next((name for name in names if name.casefold() == side), None):
                return found
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


_NO_SIDE = ALTERS | SERVING | GENERIC | _BESIDE_TRAINING | _OF_PARTS | {
    "warmup", "compile", "initial", "cold", "best", "worst", "fastest", "slowest", "raw", "net",
    "useful", "effective", "hardware", "paper", "reported", "claimed", "rollout", "actor",
    "critic", "reward", "sampling", "sample", "reference", "ref", "per", "single", "model",
    "prior", "cumulative", "instantaneous", "moving", "smoothed", "local", "server", "goodput",
    "encoder", "decoder", "generator", "discriminator", "embedding", "rank", "stage", "layer",
    "lower", "upper", "bound", "limit", "estimate", "calculated", "modelled", "modeled",
    "analytical", "roofline", "goal", "nominal", "advertised", "datasheet", "vendor", "required",
}  # fmt: skip
"""Words in front of a quantity that make it another one, or one that is none of a run."""


def _rate_of(name: str, printed: str, schema: Schema, *, told: bool = False) -> Column | None:
    """The column of a rate by its unit alone, where what stands in front is only a name; operations
    are a rate where their table is `told` to be one of runs."""
    measure = unit("tokens/s") if printed in _SHORT else unit(printed)
    known = header([name, printed], schema)
    of_model = model_named(name) == name  # `ViT-B/16 (img/s)`
    words = set() if of_model else set(split(english(SIZED.sub(" ", name))))  # `Llama-7B`
    timed = measure is not None and measure.si == "s"
    signed = "/" in printed or printed in _SHORT
    signed |= told and measure is not None and measure.si == "flop/s"
    rate = known[1].spec if measure and signed and (
        measure.si.endswith("/s") or timed
    ) else None  # fmt: skip
    if rate is None or not rate.quantity or known[0].spec or generic(known[0]):
        return None
    return None if words & (ALTERS | SERVING | GENERIC | _BESIDE_TRAINING) else known[1]


_SHORT = {"TGS", "TPS", "WPS"}
"""Rates of tokens by three letters: `Megatron-LM (TGS)`."""

_REMARKED = re.compile(r"(.+?)\s*\(([^()]+)\)")


def _names_a_way(name: str) -> bool:
    """Whether no word of a name is of a part of a step, or of another quantity."""
    return not set(split(english(name))) & (_NO_SIDE | {"total", "time"})


def names_a_side(name: str, schema: Schema) -> bool:
    """Whether a name is of what may stand side by side: a size, a device, a format, a way."""
    bare = name.strip()
    return bool(
        named_side(name, schema) or named(name) or _MIXED.fullmatch(bare) or A_WAY.fullmatch(bare)
    )


_MIXED = re.compile(r"(?:mixed[ -]precision|AMP|mixed)", re.IGNORECASE)
"""A side of a table whose number format is not said."""


_DASHED = re.compile(r"([^()\[\]]+?)(?:\s+[-–—:]\s+|,\s+)([^()\[\]]+?)(\s*[(\[][^()\[\]]+[)\]])?")


def apart(label: str, schema: Schema, printed: str = "") -> tuple[str, Column] | None:
    """The words at an end of a label that tell its group, and the column of the rest; `printed` is
    the unit that its cells print, for a rest that says none: `Throughput - TF32`."""
    words = label.split()
    if len(words) > MOST_WORDS:
        return None
    if (dashed := _DASHED.fullmatch(label)) and names_a_side(dashed[2], schema):
        # `Step time, BF16 (s)`; `MFU - A100 (8 GPUs)`
        counted = dashed[3] and "gpus" in named(f"{dashed[2]}{dashed[3]}")
        name, behind = (f"{dashed[2]}{dashed[3]}", "") if counted else (dashed[2], dashed[3] or "")
        column = _in_unit(f"{dashed[1]}{behind}", schema, printed)
        if column.spec is not None and (column.spec.quantity or column.spec.configuration):
            return name, replace(column, label=label)
    for cut in range(1, len(words)):
        for name, rest in (
            (" ".join(words[:cut]), " ".join(words[cut:])),
            (" ".join(words[cut:]), " ".join(words[:cut])),
        ):
            if named(name) or _device_behind(name):
                column = _in_unit(rest, schema, printed)
                if column.spec is not None and column.spec.quantity:
                    return name.strip(" -–—:,/"), replace(column, label=label)
    return None


def _device_behind(name: str) -> bool:
    """Whether a name is of a machine whose device stands behind it: `JUWELS Booster (A100)`."""
    found = _BEHIND.fullmatch(name)
    return found is not None and "gpu" in named(found[1])


def by_sides(grid: Grid, schema: Schema, above: Sequence[Line]) -> tuple[Group, ...]:
    """A group for each device whose performance stands in a column of its own."""
    sides = by_unit_above(grid, schema, above)
    if not sides:
        return ()
    columns = header(grid.header(), schema)
    rest = common(columns, {at for _, at, _, _ in sides})
    return tuple(
        Group(rest, {at: column}, name, {} if _of_a_format(name) else {"gpu": device}, at)
        for name, at, device, column in sides
    )


def _of_a_format(name: str) -> bool:
    """Whether a side is of how numbers are kept, and of no machine: `TF32`, `mixed precision`."""
    return names_format(name) or re.search(r"\b(?:precision|AMP)\b", name) is not None


def _in_unit(label: str, schema: Schema, printed: str) -> Column:
    """The column of a label; of one that only says that something was fast in the unit that its
    cells print."""
    (column,) = header([label], schema)
    if printed and generic(column):
        (told,) = header([f"{label} ({printed})"], schema)
        return told
    return column


def printed_unit(grid: Grid, at: int) -> str:
    """The unit of a rate that most cells of a column print; empty where they are in no one."""
    cells = [row.cells[at].text for row in grid.rows if at < len(row.cells) and not row.one]
    held = [plain(cell) for cell in cells if len(cell) <= LONGEST and DIGIT.search(cell)]
    units = [found[1] for cell in held if (found := _RATE.fullmatch(cell))]
    return units[0] if len(set(units)) == 1 and 3 * len(units) >= 2 * len(held) else ""


DIGIT = re.compile("[0-9]")


_GENERIC = re.compile(r"\b(?:training|throughput|speed|performance)\b", re.IGNORECASE)


_RATE = re.compile(r"[~≈]?\s*[0-9][0-9.,'’]*\s*([A-Za-z]+(?:/|\s+per\s+)[A-Za-z]+)\.?")


_NO_RUN = re.compile(r"[-–—/]+|n/?a", re.IGNORECASE)
"""A cell of a set-up that was not run."""


_OF_RUNS = {
    "sample/s": "samples_per_s", "item/s": "item_rate", "token/s": "tokens_per_s", "s": "step_time",
    "memory": "memory",
}  # fmt: skip


def by_cells(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """A group for each column headed by a name whose cells are rates with their unit."""
    columns = header(grid.header(), schema)
    found: dict[int, Column] = {}
    tuned = _ways_to_tune(grid, columns)
    for at, column in enumerate(columns):
        if generic(column) or (column.spec is not None and column.spec.quantity):
            continue
        if MACHINE.search(column.label):
            continue  # of a node, of how many nobody says
        words = set(split(column.label))
        cells = [row.cells[at].text for row in grid.rows if at < len(row.cells) and not row.one]
        short = [plain(cell) for cell in cells if len(cell) <= LONGEST]
        units = [match[1] for cell in short if (match := _RATE.fullmatch(cell))]
        known = {measure.si for each in units if (measure := unit(each))}
        if not known:
            units = [match[1] for cell in short if (match := _OF_ONE.fullmatch(cell))]
            known = {told for each in units if (told := _of_one_device_in(each, schema))}
        if not known and at in tuned:
            known, units = {"memory"}, [cell for cell in short if _A_SIZE.fullmatch(cell)]
        filled = [
            cell for cell in cells
            if cell and not FAILED.match(plain(cell)) and not _NO_RUN.fullmatch(plain(cell))
        ]  # fmt: skip
        if len(units) * 3 < len(filled) * 2 or words & (ALTERS | SERVING):
            continue
        if len(known) > 1 and known <= _OF_THINGS and len(units) == len(filled):
            found[at] = Column(column.label, None, by_cells=True)  # each row of things of its own
        if len(known) != 1:
            continue
        told = known.pop()
        field = _OF_RUNS.get(told, told if told in _OF_SIDES else None)
        if field is not None:
            spec = fields(schema)[field]
            found[at] = Column(column.label, spec, unit_known=False, most=field == "memory")
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
            named(_GENERIC.sub(" ", column.label)) or named_side(column.label, schema), at,
        )
        for at, column in found.items()
    )  # fmt: skip


def _ways_to_tune(grid: Grid, columns: Sequence[Column]) -> Collection[int]:
    """The columns of the ways to tune a model, `Full | LoRA | QLoRA`, of a table of sizes in which
    runs have no room: the sizes are what the others took of a device."""
    ways = {at for at, column in enumerate(columns) if _TUNED.fullmatch(column.label.strip())}
    cells = [plain(row.cells[at].text) for row in grid.rows for at in ways if at < len(row.cells)]
    ended = any(FAILED.match(cell) for cell in cells)
    sizes = all(_A_SIZE.fullmatch(cell) for cell in cells if cell and not FAILED.match(cell))
    return ways if ended and sizes and len(ways) > 1 else set()


_TUNED = re.compile(
    r"(?:full(?:[ -](?:parameters?|model))?(?:[ -](?:fine-?)?tun(?:ing|ed|e)|[ -]FT)?"
    r"|(?:Q-?)?(?:LoRA|DoRA)|(?:prefix|prompt|P|BitFit)[ -]?tuning)"
    r"(?: ?\([^()]{1,24}\)|[ ,+]{1,3}[\w -]{1,24})?",
    re.IGNORECASE,
)

_A_SIZE = re.compile(r"[~≈]?[0-9]{1,4}(?:\.[0-9]+)? ?[MG]i?B(?: (?:GPU|VRAM))?")

_OF_THINGS = {"token/s", "sample/s", "item/s"}
"""Units of rates that count what a model reads: images of one, tokens of another."""


def by_generic(grid: Grid, schema: Schema, above: Sequence[Line]) -> tuple[Group, ...]:
    """A group for each of several columns that only say that something was fast, of a device or of
    a reference, and whose cells print their unit: `NPU performance | reference performance`."""
    columns = header(grid.header(), schema)
    sides = [
        at for at, column in enumerate(columns)
        if column.spec is None and _with_their_unit(grid, at) and (
            _only_fast(column.label)
            or (rated_of(column.label) and not apart(column.label, schema, printed_unit(grid, at)))
        )
    ]  # fmt: skip
    if len(sides) < 2 or any(c.spec is not None and c.spec.quantity for c in columns):
        return ()
    told, rest = explained(above), common(columns, sides)
    groups = []
    for at in sides:
        label, own = columns[at].label, replace(columns[at], by_cells=True)
        name = rated_of(label)
        device = meant(_OF_SPEED.sub("", label).strip(), told) or meant(name, told) or ""
        own_way = {**recipe("", name), **named(name), **named_side(name, schema)}
        how = own_way if name and not device else {"gpu": device}
        groups.append(Group(rest, {at: own}, label, how, at))
    return tuple(groups)


def _only_fast(label: str) -> bool:
    """Whether a label only says that something was fast, of whom perhaps."""
    words = set(split(english(label)))
    return bool(words & GENERIC) and not words - GENERIC - DEVICE - {"reference", "baseline"}


_OF_SPEED = re.compile(
    r"(?:性能|吞吐量?|速度|スループット|performance|throughput|speed)\s*$", re.IGNORECASE
)


def _with_their_unit(grid: Grid, at: int) -> bool:
    """Whether the numbers of a column mostly print the unit of a rate or of a time."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one]
    held = [text for text in texts if len(text) <= LONGEST and DIGIT.search(text)]
    known = [found for text in held if (found := _WITH_UNIT.fullmatch(text)) and unit(found[1])]
    return len(known) * 3 >= len(held) * 2 > 0


_WITH_UNIT = re.compile(r"[~≈]?\s*[0-9][0-9.,'’]*\s*\(?([A-Za-z/.]+)\)?")


_OF_ONE = re.compile(
    r"[~≈]?\s*[0-9][0-9.,'’]*\s*[kK]?\s*([A-Za-z]+(?:(?: ?/ ?| per )[A-Za-z]+){1,3}|% ?[MH]FU)\.?"
)
"""A rate of one device, or a share of what it can do: `388.4 TFLOP/s/GPU`, `41.2% MFU`."""


@lru_cache(maxsize=256)
def _of_one_device_in(printed: str, schema: Schema) -> str | None:
    """The field of a unit of rates of one device, or of a share of its peak."""
    (column,) = header([printed.lstrip("% ")], schema)
    name = column.spec.name if column.spec is not None and column.spec.quantity else None
    of_one = of_one_device(printed) or printed.startswith("%")
    return name if of_one and name in _OF_SIDES else None


def _ran_out(grid: Grid, at: int, column: Column) -> bool:
    """Whether a column that says nothing by its label holds nothing but runs out of memory."""
    cells = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one]
    ends = [FAILED.match(cell) is not None for cell in cells if cell]
    return column.spec is None and not generic(column) and bool(ends) and all(ends)


FAILED = re.compile(
    r"(?:cuda[ _-]?)?(?:oom|out[ _-]of[ _-]memory)(?![A-Za-z0-9])"
    r"|(?:fail(?:ed|s|ure)?|crash(?:ed|es)?|errors?|time-?out|killed|hangs?|hung|dnf|nan"
    r"|did not (?:run|fit)|does not fit|(?:not |un)supported)\s*$",
    re.IGNORECASE,
)


A_WAY = re.compile(
    r"(?:DDP|FSDP2?|HSDP|SDP|DP|TP|PP|SP|CP|EP|MP|OSS|ZeRO|PyTorch|baseline|ours|eager|default|none)"
    r"(?: ?\+ ?(?:DDP|FSDP2?|TP|PP|SP|CP|EP|AC|offload))*",
    re.IGNORECASE,
)
"""A way to run, beside others that say what they set: `DDP` beside `ZeRO-2`."""


@lru_cache(maxsize=65_536)  # every view of a table asks all of its labels again
def named_side(label: str, schema: Schema) -> Mapping[str, str]:
    """Values that a label gives: `MBS=4`, `GPUs 8`, or in brackets behind it `Cluster B (A100)`."""
    behind = _BEHIND.fullmatch(label)
    if found := named(label) or (named(behind[1]) if behind else {}):
        return found
    if (form := _REMARKED.fullmatch(label)) and set(found := named(form[1])) == {"dtype"}:
        return found  # `FP8 (hybrid, delayed)`
    if (form := _OF_A_FORM.fullmatch(label)) and set(found := named(form[1])) == {"gpu"}:
        return {"gpu": label}
    if (worded := _IN_WORDS.fullmatch(label)) and set(found := named(worded[1])) == {"gpu"}:
        return found  # `MI300X (public release)`
    if (front := _IN_FRONT.fullmatch(label)) and set(found := named(front[1])) == {"dtype"}:
        return found if unit(front[2]) is None and header([label], schema)[0].spec is None else {}
    parts = re.split(r",\s+", label)
    if len(parts) == 1:
        return _counted_side(label, schema)
    told = [layout(part) or named(part) or _counted_side(part, schema) for part in parts]
    rest = [part for part, found in zip(parts, told, strict=True) if not found]
    every = [pair for found in told for pair in found.items()]
    if len({name for name, _ in every}) < len({*every}) or any(map(_HAS_DIGIT.search, rest)):
        return {}
    return dict(every)  # `DP=2, no overlap`, `TF32, BS 256`


def _counted_side(label: str, schema: Schema) -> Mapping[str, str]:
    """The setting that a label counts: `GPUs 8`, `BS 256`."""
    counted, whose = _COUNTED.fullmatch(label), ""
    if counted is None and (each := _COUNTED_OF_EACH.fullmatch(label)):
        counted, whose = each, " per GPU"
    column = header([f"{counted[1]}{whose}"], schema)[0] if counted else None
    if counted is None or column is None or column.spec is None:
        return {}
    if not counts(column) and column.spec.name != "seq_len":
        return {}
    return {column.spec.name: counted[2].replace(",", "")}


_HAS_DIGIT = re.compile("[0-9]")

_IN_FRONT = re.compile(r"([^()]+?)\s*\(([^()]+)\)")
"""A number format, and in brackets how: `FP8 (hybrid, delayed)`."""


_IN_WORDS = re.compile(
    r"([^()]+?)\s*\((?![^()]*(?:estimat|project|claim|vendor|sheet|spec|peak|theor|infer|serv|target"
    r"|predict|simulat|expect|goal|paper|reported|quoted|decod|generat))[a-z][a-z .,'-]+\)",
    re.IGNORECASE,
)
"""A name, and in brackets behind it words of how it was measured."""


_OF_A_FORM = re.compile(
    r"(\S.*?)\s*\((?:GCD|die|card|module|chip|PCI-?e|SXM[0-9]?|NVL|OAM|[0-9]+ ?GB)\)", re.IGNORECASE
)
"""A device and its form in brackets: `MI250 (GCD)`."""


_BEHIND = re.compile(r"[^()]+\(([^()]+)\)\s*")


_COUNTED = re.compile(r"([^=:]*?[^=:\s])\s*[=: ]\s*([0-9][0-9,]*)")

_COUNTED_OF_EACH = re.compile(
    r"((?:micro[ -]?|local )?(?:batch(?:[ _-]?size)?|bsz?))\s*[=: ]\s*([0-9]{1,5})"
    r" ?(?:per |/ ?|on each |each )(?:GPU|GCD|NPU|device|card|rank|chip)",
    re.IGNORECASE,
)
"""A batch and of whom it is: `bs=4 per GPU`, `batch size 8/device`."""
