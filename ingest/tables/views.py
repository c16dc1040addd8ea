"""How a grid is to be looked at, so that each of its rows is an observation, or several.

In: a grid, a schema and the lines above. Out: `View`s, the plain one first. A table whose metrics
stand in its first column is turned; columns that stand side by side are a group each (`sides`); and
columns headed by configurations alone hold the one quantity that the lines above the table name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from types import MappingProxyType

from assay.ingest.columns.cells import SHORT_SIZES, of_the_device
from assay.ingest.columns.composite import called, remark
from assay.ingest.columns.headers import (
    EACH,
    GENERIC,
    OF_EACH,
    STEPS,
    Column,
    generic,
    header,
    plain,
)
from assay.ingest.columns.open_labels import held_or_ran_out
from assay.ingest.columns.subject import SERVING, numberless, says_how
from assay.ingest.columns.titles import SIZED, settings_named
from assay.ingest.grids.grid import LONGEST, MOST_PLACES, Grid, GridRow
from assay.ingest.grids.ratios import comparing, in_ratio, number_in
from assay.ingest.numbers.units import unit
from assay.ingest.prose.counted_operations import AGAIN, NONE_AGAIN
from assay.ingest.prose.degree_letters import DEGREES
from assay.ingest.prose.keys import in_order
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.record import Line, Schema
from assay.ingest.tables.documents import (
    ANOTHER,
    MACHINE,
    OF_A_MACHINE,
    SEVERAL_MACHINES,
    SHARE_OF_PEAK,
    unmarked,
)
from assay.ingest.tables.header_rows import (
    across,
    axes,
    corner,
    counted_above,
    counts,
    headed,
    named_by_both,
    of_its_side,
    over_counts,
    quantities,
    shared_out,
    with_labels_told,
)
from assay.ingest.tables.named_above import (
    SENTENCE_END,
    declares,
    heard_in,
    meant_above,
    numbers_alone,
    of_a_node,
    of_set_up_alone,
    opened,
    opened_labels,
    opens_table,
    said_above,
)
from assay.ingest.tables.pairs import parted
from assay.ingest.tables.sides import (
    A_WAY,
    DIGIT,
    FAILED,
    OF_NOBODY,
    Common,
    Group,
    apart,
    by_brackets,
    by_cells,
    by_generic,
    by_names,
    by_sides,
    common,
    grouped,
    named_side,
    names_a_side,
    of_name,
    of_one_model,
    printed_unit,
    repeated,
    set_apart,
    spanned,
    under_one,
    with_quantities_beside,
    with_unknown_devices,
)
from assay.ingest.tables.turned import (
    grouped_below,
    metrics_down,
    sectioned_below,
    turned_grid,
)
from assay.ingest.tables.units_beside import (
    unit_of_all,
    whose_rates,
    with_unit_column,
    with_units,
)
from assay.ingest.vocabulary.terms import configured_by, normalise
from assay.ingest.vocabulary.words import (
    ALTERS,
    DEVICE,
    Said,
    english,
    of_one_device,
    said,
    split,
)

MOST_WIDE = 10_000
"""Columns beyond which no table is of runs: a sweep's export has some thousands."""


@dataclass(frozen=True)
class View:
    """A grid, its groups, whether its rows were columns, whether each cell is a measurement."""

    grid: Grid
    groups: tuple[Group, ...]
    turned: bool = False
    melted: bool = False

    @property
    def beyond(self) -> str:
        """The bound of a table that is read which this one does not keep; empty where it does."""
        if self.grid.width > MOST_WIDE:
            return f"more than {MOST_WIDE:,} columns"
        groups = len(self.groups)
        most = max(len(self.grid.rows), len(self.groups[0].common.columns)) if groups > 1 else 0
        if groups * most > MOST_PLACES:
            return f"more than {MOST_PLACES:,} observations stand side by side in its rows"
        return ""

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

    @cached_property
    def told(self) -> bool:
        """Whether its cells say how each of its rows was run."""
        return says_how(self.grid)

    def columns(self) -> list[Column]:
        """Every column once, those of the first group that has it."""
        return [column for _, column in self.first.values()]


def views(
    grid: Grid,
    schema: Schema,
    above: Sequence[Line],
    labels: Mapping[str, str],
    declared: Sequence[Line] = (),
    noted: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[View]:
    """Every way to look at a grid, the plain one first; `labels` are what its legend explains,
    `declared` what the sections around its own say of what they measure, `noted` what footnotes say
    of labels."""
    if grid.width > MOST_WIDE:
        return iter([View(grid, ())])
    if numberless(grid, schema):
        return iter([_plain(grid, schema, labels)])
    ways = _ways(grid, schema, list(_sentences(above)), labels, declared, noted)
    return (
        replace(view, groups=with_unknown_devices(with_quantities_beside(view.groups, schema)))
        for view in ways
    )


def in_unit_of_page(
    grid: Grid, schema: Schema, measured: Sequence[Line], heading: str
) -> Iterator[View]:
    """The view of a grid by the machines that its columns are of, in the unit that texts about the
    set-up give all numbers of a page: of rows that say how they were laid out, or below a heading
    about speed, as no prices, losses and hours are."""
    if not measured or grid.labels or grid.width > MOST_WIDE or _OF_OTHERS.search(heading):
        return
    fields = {c.spec.name for c in header(grid.header(), schema) if c.spec is not None}
    if not (fields & _LAID_OUT or _OF_SPEED.search(heading)):
        return
    if groups := by_sides(grid, schema, list(_sentences(measured))):
        yield View(grid, groups)


_LAID_OUT = {"tp", "pp", "dp", "cp", "ep", "micro_batch", "global_batch"}

_OF_SPEED = re.compile(
    r"throughput|training (?:speed|performance)|\btok(?:en)?s|吞吐|训练(?:速度|性能)", re.I
)

_OF_OTHERS = re.compile(
    r"\b(?:loss|accuracy|perplexity|price|cost|power|energy|hours?|latency|memory|inference|decod"
    r"|speed-?up|efficiency|MFU)|精度|损失|收敛|价格|成本|功耗|显存|推理|加速比|利用率",
    re.I,
)
"""Words of a heading whose numbers are not in the unit of the page."""


def _ways(
    grid: Grid,
    schema: Schema,
    above: Sequence[Line],
    labels: Mapping[str, str],
    declared: Sequence[Line],
    noted: Mapping[str, str],
) -> Iterator[View]:
    """The views of a grid that may hold something measured."""

    around = (*above, *declared)
    shown = dict(enumerate(plain(label) for label in grid.header()))
    again = {
        shown[n]: f"{how['recompute'].replace('none', 'no')} recompute"
        for n, how in _recomputed(shown, around).items()
    }

    def side(label: str) -> str | None:
        if named_side(label, schema):
            return label
        if label in again:
            return again[label]
        length = _length(label).get("seq_len")
        lengths = length is not None and (_over_lengths(grid) or _of_lengths_told(grid, around))
        return f"seq_len {length}" if lengths else None

    told_of = with_labels_told(grid, schema, above)
    whole = headed(with_unit_column(told_of, schema), schema, side)
    grid = parted(whole, schema, above, side)
    grid = parted(whole, schema, around, side) if grid is whole and declared else grid
    in_two = grid.header() != whole.header()
    grid = _of_its_rows(grid) if in_two and _over_lengths(whole) else grid
    labels = {**labels, **_implied(grid, above, labels), **_shares(grid, above, labels)}
    labels |= _listed_in_order(grid, above) | _latencies(grid, schema)
    grid = _with_rates(with_units(grid, schema, above), above)
    labels |= _opened_by(grid, schema, _under_headings(above, declared), labels)
    labels |= _declared_of(grid, schema, above, declared)
    told = dict.fromkeys(
        each[0] for at, label in enumerate(grid.header())
        if (each := apart(plain(label), schema, printed_unit(grid, at)))
    )  # fmt: skip
    shared = shared_out(grid, tuple(told), lambda name: names_a_side(name, schema))
    if metrics_down(grid, schema):
        yield from _ways_across(grid, schema, above, labels)
    yield from _side_by_side(grid, shared, schema, above, declared)
    if groups := _beside_measured(grid, schema, above, noted):
        yield View(grid, groups, melted=True)
    yield _used(_plain(grid, schema, labels), above)
    if groups := grouped(shared, schema):
        yield View(shared, groups)
    if groups := by_names(grid, schema):
        yield View(grid, groups)
    yield from _ways_across(grid, schema, above, labels)
    yield from _methods_down(whole, schema, above, declared, side)
    if groups := by_cells(grid, schema) or of_one_model(grid, schema):
        yield View(grid, groups)
    yield from _by_text(grid, schema, above, declared)
    if groups := _by_remarks(grid, schema, above):
        yield View(grid, groups)


def _side_by_side(
    grid: Grid, shared: Grid, schema: Schema, above: Sequence[Line], declared: Sequence[Line]
) -> Iterator[View]:
    """The views of a grid whose header tells several runs apart; `shared` has a column for each of
    them where one column is of two."""
    if groups := repeated(grid, schema):
        yield View(grid, groups)
    if groups := _all_apart(grid, schema):
        yield View(grid, groups)
    if groups := spanned(grid, schema) or under_one(grid, schema, above):
        yield View(grid, groups)
    if groups := by_brackets(grid, schema, _with_declared(above, declared)):
        yield View(grid, groups)
    if shared is not grid and (groups := grouped(shared, schema)):
        yield View(shared, groups)
    if groups := by_sides(grid, schema, above) or by_generic(grid, schema, above):
        yield View(grid, groups)


def _all_apart(grid: Grid, schema: Schema) -> tuple[Group, ...]:
    """The groups of a grid by the names at the ends of its labels, where something can be read of
    its columns without them and no rate of these is of the row alone: `BF16 tokens/s | BF16 MFU |
    FP8 tokens/s | FP8 MFU`, of which `BF16 MFU` is a label as well."""
    columns = enumerate(header(grid.header(), schema))
    alone = {at: c.spec.name for at, c in columns if c.spec and c.spec.quantity}
    if not alone:
        return ()
    if {*alone.values()} <= OF_NOBODY:
        return grouped(grid, schema) or by_names(grid, schema)
    groups = grouped(grid, schema)
    rest = alone.keys() - {at for group in groups for at in group.own}
    return () if {alone[at] for at in rest} - OF_NOBODY else groups


def _ways_across(
    grid: Grid, schema: Schema, above: Sequence[Line], labels: Mapping[str, str]
) -> Iterator[View]:
    """The views of a grid whose rows are its columns."""
    if other := sectioned_below(grid):
        other = _of_settings(with_units(other, schema, above), schema)
        yield _used(replace(_plain(other, schema, labels), turned=True), above)
    elif other := turned_grid(grid):
        other = _of_settings(with_units(other, schema, above), schema)
        if groups := by_brackets(other, schema, above) or by_names(other, schema):
            yield View(other, groups, turned=True)
        of_runs = _used(_plain(_of_lengths(other, above), schema, labels), above)
        yield _of_corner(replace(of_runs, turned=True))
    if other := grouped_below(grid):
        yield replace(_plain(other, schema, labels), turned=True)


def _methods_down(
    grid: Grid,
    schema: Schema,
    above: Sequence[Line],
    declared: Sequence[Line],
    side: Callable[[str], str | None],
) -> Iterator[View]:
    """The views of a grid whose first rows are settings of its columns, and whose others are what
    ran with them, of which the text around it says in what its numbers are: `Sequence length | 32K`
    over `CP | 4` and `Ring | 4213 (31.5)`."""
    other = turned_grid(grid) if len(grid.rows) > 1 and not grid.labels else None
    columns = header(other.header(), schema) if other else []
    settings = [at for at, c in enumerate(columns) if c.spec and c.spec.configuration]
    if other is None or not settings or settings[0] or quantities(columns):
        return
    if not all(row.cells and _A_COUNT.fullmatch(plain(row.cells[0].text)) for row in other.rows):
        return
    if all(_BARE_COUNT.fullmatch(c.label) for n, c in enumerate(columns) if n not in settings):
        return  # the corner may name them: `Batch size` over `512`, beside `1 GPU | 4 GPUs`
    told = parted(other, schema, (*above, *declared), side)
    if told is not other:
        groups = grouped(told, schema) or by_names(told, schema) or by_brackets(told, schema)
    else:
        numeric = all(c.spec.numeric for n in settings if (c := columns[n]).spec)
        groups = _by_caption(other, schema, above, declared) if numeric else ()
    if groups:
        yield View(told, groups, turned=True, melted=told is other)


_A_COUNT = re.compile(
    r"(?:[A-Za-z]{1,12} ?[=:x×]? ?)?[0-9][0-9.,]*\s?(?:[kKMB]|tokens|(?:GPU|node|chip|TPU|NPU)s?)?"
)
"""A value that a setting has in a column: `32K`, `bs 4`."""

_BARE_COUNT = re.compile(r"[0-9][0-9.,]*\s?[kKM]?")


def _by_text(
    grid: Grid, schema: Schema, above: Sequence[Line], declared: Sequence[Line]
) -> Iterator[View]:
    """The views of a grid of which the text around it says what it measures."""
    if sides := named_by_both(grid):
        apart_ = shared_out(grid, sides, sides.__contains__)
        told = _by_caption(apart_, schema, above, declared, sides)
        if groups := _each_its_own(told, sides, schema):
            yield View(apart_, groups, melted=True)
    alone = _sides_alone(grid, schema)
    opening = next((line.text for line in reversed(above) if line.text.strip()), "")
    if (
        alone
        and not _of_a_number(opening)
        and (groups := _by_caption(alone, schema, above, declared))
    ):
        yield View(alone, groups, melted=True)
    by_text = _by_caption(grid, schema, above, declared)
    by_text = by_text or _by_ratio(grid, schema, above, declared)
    if groups := by_text or _by_opening(grid, schema, _under_headings(above, declared)):
        yield View(grid, groups, melted=True)


def _by_opening(grid: Grid, schema: Schema, around: Sequence[Line]) -> tuple[Group, ...]:
    """The group of a table of one set-up, which its one column without a meaning is called by,
    beside settings alone: of the one quantity with which the text begins that opens it."""
    columns = header(grid.header(), schema)
    free = [n for n, c in enumerate(columns) if n and c.spec is None and not c.degrees]
    settings = [c for n, c in enumerate(columns) if n not in free and (n or c.spec)]
    if len(free) != 1 or not settings or not all(map(_sets, settings)) or len(grid.heads) != 1:
        return ()
    (at,), label = free, columns[free[0]].label
    told = opened(around) if _names_one(label) and numbers_alone(grid, at) else ()
    if len(told) != 1 or any(_GUESSED.search(line.text) for line in around):
        return ()
    if told[0].said.field not in fields(schema) or whose_rates(
        [line.text for line in around], told[0].said.field
    ):
        return ()
    most = told[0].said.field == "memory"
    own = {at: _of_quantity(label, told[0].said, schema, most=most)}
    return (Group(common(columns, own), own, label, named_side(label, schema), at),)


def _sets(column: Column) -> bool:
    """Whether a column holds what was set, or degrees of parallelism."""
    return bool(column.degrees or (column.spec and column.spec.configuration))


def _names_one(label: str) -> bool:
    """Whether a label may be the name of a set-up, and is that of no setting and no quantity."""
    return (
        _NAMES.search(label) is not None
        and not _OF_A_SET_UP.fullmatch(label)
        and not comparing(["", label])
        and not set(split(english(label))) & (_COUNTERS | _OTHER_THINGS - DEVICE)
    )


def _sides_alone(grid: Grid, schema: Schema) -> Grid | None:
    """The grid with an empty column for the names of its rows, where it has one row, of numbers
    alone, and a name over each: `0.11.2 | 0.12.0 | 0.12.0 + fix` over `6.94 | 8.22 | 6.83`."""
    rows = [row for row in grid.rows if not row.blank]
    if grid.labels or len(grid.heads) != 1 or len(rows) != 1 or rows[0].one:
        return None
    labels, cells = grid.header(), [plain(cell.text) for cell in rows[0].cells]
    if len(cells) != len(labels) or not all(map(_SIDE_OR_NONE.fullmatch, cells)):
        return None
    if not _NUMERAL.fullmatch(cells[0]) or any(c.spec or c.degrees for c in header(labels, schema)):
        return None

    def wider(row: GridRow) -> GridRow:
        return replace(row, cells=(row.cells[0]._replace(text=""), *row.cells))

    return replace(grid, heads=(wider(grid.heads[0]),), rows=(wider(rows[0]),))


def _of_a_number(text: str) -> bool:
    """Whether a text gives a number in the unit that it names, and declares nothing: `it ran at
    3200 tokens/s:`."""
    bare = unmarked(text)
    places = (bare.find(phrase) for phrase in heard_in(text).phrases)
    return any(at > 0 and _ENDS_IN_NUMBER.search(bare[max(0, at - 16) : at]) for at in places)


_ENDS_IN_NUMBER = re.compile(r"[0-9]\s?[kKM]?\s?$")

_SIDE_OR_NONE = re.compile(
    r"[~≈]?\s*[0-9][0-9.,]*(?:\s*±\s*[0-9.,]+)?|[-–—]+|(?:cuda[ _-]?)?oom", re.IGNORECASE
)


def _with_declared(above: Sequence[Line], declared: Sequence[Line]) -> Sequence[Line]:
    """The lines above a table, behind those that speak of all tables of the sections around it
    where its own say only with what it ran."""
    said = (line for line in above if line.text.strip())
    return (*declared, *above) if declared and all(map(of_set_up_alone, said)) else above


_A_RATE_OF = re.compile(r"(?:throughput|performance|speed) [-–—] [^()]+", re.IGNORECASE)
"""A label of how fast a side was, without its unit: `Throughput - TF32`."""


def _with_rates(grid: Grid, above: Sequence[Line]) -> Grid:
    """The grid with the unit of the one rate that the text above names behind labels of how fast
    each side was."""
    asked = {cell.text for cell in (grid.heads[-1].cells if grid.heads else ())
             if _A_RATE_OF.fullmatch(plain(cell.text))}  # fmt: skip
    phrases = {each for line in above for each in heard_in(line.text).phrases} if asked else ()
    rates = {each: found.field for each in phrases if (found := said(each))}
    if grid.labels or not rates or len(set(rates.values())) > 1:
        return grid
    last = grid.heads[-1]
    cells = tuple(
        cell._replace(text=f"{plain(cell.text)} ({min(rates)})") if cell.text in asked else cell
        for cell in last.cells
    )
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


def _sentences(above: Sequence[Line]) -> Iterator[Line]:
    """Lines above a table, of long ones each sentence."""
    for line in above:
        if len(line.text) <= LONGEST:
            yield line
        else:
            yield from (line._replace(text=text) for text in SENTENCE_END.split(line.text))


_ZERO = re.compile(r"\bZeRO\b|\bDeepSpeed stage|\bzero[_-](?:optimization|stage)\b", re.IGNORECASE)


_STAGES = dict.fromkeys(("Stage", "stage", "STAGE", "Stages", "stages"), "ZeRO stage")

_OF_ZERO = frozenset("0123")
"""Numbers of the stages that ZeRO has."""


_SPEED = re.compile(r"\btrain(?:ing)?\b[\s-]*\bspeed\b", re.IGNORECASE)


_OF_BATCHES = re.compile(
    r"(?:(?:avg\.?|average|mean|median) )?(?:training )?"
    r"(?:time (?:per|/) ?(?:global )?batch|(?:global )?batch time)\s*[(\[,]? ?(?:in )?"
    r"(ms|s|secs?|seconds|milliseconds)[)\]]?"
    r"|(ms|s|secs?|seconds) ?(?:/|per) ?(?:global )?batch",
    re.IGNORECASE,
)
"""A time of a batch, which is that of a step where nothing is accumulated over several."""


_ACCUMULATED = re.compile(r"accum|micro-?batch|梯度累积|累加", re.IGNORECASE)


_ONE_MACHINE = re.compile(
    r"单机(?!多机)|单节点|(?i:(?<!per )(?<!from )\b(?:one|single|1)[ -](?:single[ -])?"
    r"(?:[\w-]+ )?(?:node|machine|server|host|box)\b(?! (?:to|vs|has|holds|contains|is)\b))"
)
"""Words of runs on one machine, whose rate is that of the run."""

_PER_MACHINE = re.compile(
    r"\s*(?:[(\[](?:per |(?:for )?the )?(?:whole |full |entire |single |one |1 )?"
    r"(?:node|machine|server|host|box)[)\]]"
    r"|(?:/|\bper\b)\s*(?:node|machine|server|host|box)(?![A-Za-z])|,\s*(?:whole |full |entire )?"
    r"(?:node|machine|server|host|box)$)",
    re.IGNORECASE,
)
"""The same in the label of a rate in English: `samples/s (node)`, `tokens/s/node`."""

_TIME_IN = {"Time in s": "step time (s)", "Time in ms": "step time (ms)"}


def _on_one(grid: Grid, above: Sequence[Line]) -> bool:
    """Whether the text above a table says that its runs are on one machine, and neither it nor the
    table speaks of several."""
    texts = [line.text for line in above]
    if not any(map(_ONE_MACHINE.search, texts)):
        return False
    cells = (cell.text for row in (*grid.heads, *grid.rows) for cell in row.cells)
    return not any(map(SEVERAL_MACHINES.search, (*texts, *cells)))


def _of_all(label: str) -> str:
    """The label of a rate of a machine as that of a rate of the job."""
    if MACHINE.search(label):
        return f"{MACHINE.sub('', label).replace('()', '').strip()} (total)"
    whole = _PER_MACHINE.sub("", label) if _PER_MACHINE.search(label) else label
    rated = said(whole) if whole != label else None
    return f"{whole} (total)" if rated and rated.field in _OF_GENERIC else label


def _implied(grid: Grid, above: Sequence[Line], legend: Mapping[str, str]) -> dict[str, str]:
    """Labels that are clear below a text that names what they are of: stages of ZeRO, a time below
    `TRAIN - SPEED - RESULTS`, a rate of a machine where there is one."""
    labels = (*grid.header(), *(row.cells[0].text for row in grid.rows if row.cells))
    asked = any("tage" in label and plain(label) in _STAGES for label in labels)
    named = asked and any(_ZERO.search(line.text) for line in above)
    told = _STAGES if named and _holds_stages(grid) else {}
    batches = {
        plain(label): f"step time ({found[1] or found[2]})"
        for label in labels
        if "atch" in label and (found := _OF_BATCHES.fullmatch(plain(label)))
    }
    if batches and not any(map(_ACCUMULATED.search, (*labels, *(line.text for line in above)))):
        told = {**told, **batches}
    of_one = any(MACHINE.search(label) or _PER_MACHINE.search(label) for label in labels)
    if of_one and (OF_A_MACHINE in legend or _on_one(grid, above)):
        told = {**told, **{plain(label): _of_all(plain(label)) for label in labels}}
    if _TIME_IN.keys().isdisjoint(labels) or not any(_SPEED.search(line.text) for line in above):
        return told
    return {**told, **_TIME_IN}


def _holds_stages(grid: Grid) -> bool:
    """Whether the numbers below or beside a label of stages are those that stages of ZeRO have, and
    none of a longer pipeline."""
    at = next((n for n, label in enumerate(grid.header()) if plain(label) in _STAGES), None)
    texts = (
        [cell.text for row in grid.rows for cell in row.cells[1:] if row.cells[0].text in _STAGES]
        if at is None else [row.cells[at].text for row in grid.rows if at < len(row.cells)]
    )  # fmt: skip
    numbers = [text for text in map(plain, texts) if text.isdecimal()]
    return _OF_ZERO.issuperset(numbers)


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
    if not bare or len(bare) != sum(DIGIT.search(cell) is not None for cell in cells):
        return {}
    heard = [heard_in(line.text) for line in above]
    near = [each for each in heard if each.phrases] or [heard_in(line.text) for line in declared]
    phrases = {phrase for each in near if not each.of_kernels for phrase in each.phrases}
    told = {phrase: found for phrase in phrases if (found := said(phrase))}
    rated = {found.field for found in told.values()}
    held = {c.spec.name for c in columns if c.spec}
    if len(rated) != 1 or rated & held or not rated <= _OF_GENERIC:
        return {}
    if of_one_device(labels[fast[0]]) and not any("_gpu_" in field for field in rated):
        return {}
    return {labels[fast[0]]: min(told)}


def _under_headings(above: Sequence[Line], declared: Sequence[Line]) -> Sequence[Line]:
    """The lines above a table, below the headings around its own that say what its tables are of;
    sentences there may open other tables."""
    return (*(line for line in declared if line.text.lstrip().startswith("#")), *above)


def _opened_by(
    grid: Grid, schema: Schema, around: Sequence[Line], labels: Mapping[str, str]
) -> dict[str, str]:
    """Labels that say nothing themselves, as the text that opens their table says it of them."""
    if any(_GUESSED.search(line.text) for line in around):
        return {}
    return opened_labels(grid, schema, around, labels)


def _listed_in_order(grid: Grid, above: Sequence[Line]) -> dict[str, str]:
    """Labels with what the text above says of the columns one after another: `Columns: number of
    nodes, step time in s, peak GB.`"""
    if not any("olumns" in line.text for line in above):
        return {}
    shown = [plain(label) for label in grid.header()]
    told = in_order(" ".join(line.text.strip() for line in above), len(shown))
    return {label: meant for label, meant in zip(shown, told, strict=False) if meant}


_LATENCY = re.compile(
    r"latency(?: ?[(\[,]? ?(?:in )?(ms|s|sec|seconds|milliseconds) ?[)\]]?)?", re.IGNORECASE
)

_IN_TIME = re.compile(r"([0-9][0-9,]*(?:\.[0-9]+)?)\s*[(\[]?\s*(ms|s|sec|seconds)?\s*[)\]]?")

_WHOLE = 0.002
"""Share by which a batch may differ from a whole number: its rate and its time are rounded."""

FEWEST_BATCHES = 2


def _latencies(grid: Grid, schema: Schema) -> dict[str, str]:
    """A label of latency as that of the time of a step, where it is the time of as many samples as
    the rate beside it counts in it: of a whole number of them in every row, and of several ones."""
    labels = [plain(text) for text in grid.header()]
    timed = [(at, found) for at, label in enumerate(labels) if (found := _LATENCY.fullmatch(label))]
    columns = header(labels, schema) if len(timed) == 1 else []
    names = [column.spec.name if column.spec else "" for column in columns]
    rated = [at for at, name in enumerate(names) if name in _OF_SAMPLES]
    if len(rated) != 1 or "step_time" in names:
        return {}
    ((at, found),) = timed
    sizes = [
        size for row in grid.rows if max(at, rated[0]) < len(row.cells)
        if (size := _batch(row.cells[at].text, row.cells[rated[0]].text, found[1] or ""))
    ]  # fmt: skip
    if not all(map(isfinite, sizes)):  # numbers of more digits than any rate has
        return {}
    batches = {round(size) for size in sizes if size < _TELLING}
    odd = [size for size in sizes if abs(size - round(size)) > _WHOLE * size or size < 1]
    told = {labels[at]: f"step time ({found[1] or 'ms'})"}
    return told if len(batches) >= FEWEST_BATCHES and not odd else {}


def _batch(time: str, rate: str, unit_of: str) -> float:
    """Number of things in a time at a rate; 0 where either is no number or the time has no unit."""
    taken, counted = (_IN_TIME.fullmatch(plain(text)) for text in (time, rate))
    if taken is None or counted is None or not (unit_of := taken[2] or unit_of):
        return 0.0
    seconds = float(taken[1].replace(",", "")) * (1e-3 if unit_of.startswith("m") else 1.0)
    return seconds * float(counted[1].replace(",", ""))


_OF_SAMPLES = {"samples_per_s", "item_rate"}

_TELLING = 0.2 / _WHOLE
"""A batch beyond which any product is about a whole number."""


_NUMERAL = re.compile(r"[~≈]?\s*[0-9][0-9.,'’]*(?:\s*±\s*[0-9.,]+)?")


_OF_GENERIC = {"tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s", "item_rate"}


_OF_PEAK = re.compile(
    r"(?:(?:(?:GPU|achieved) )?(?:throughput|performance|efficiency) ?[(\[,]? ?)?"
    r"(?:%|percent(?:age)?|fraction|share) of (?:the )?(?:theoretical |hardware )?peak"
    r"(?: (?:[TP]?FLOPS?|[TP]?FLOP/s|teraFLOPS?|performance|compute))?(?: ?[(\[]%[)\]])?[)\]]?",
    re.IGNORECASE,
)


def _shares(grid: Grid, above: Sequence[Line], labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of a share of the peak, which is of the model's operations where none is repeated, of
    the hardware's where what is computed again is counted, or what the document says it is."""
    firsts = (row.cells[0].text for row in grid.rows if row.cells)
    found = [
        label for text in (*grid.header(), *firsts) if _OF_PEAK.fullmatch(label := plain(text))
    ]
    said = " ".join(line.text for line in above) if found else ""
    none, again = NONE_AGAIN.search(said), AGAIN.search(said)
    meant = labels.get(SHARE_OF_PEAK, "")
    if not meant and bool(none) != bool(again):
        meant = "MFU" if none else "HFU"
    elif not meant and not again and any(_is_share(grid, label, said) for label in found):
        meant = "MFU"
    percent = re.compile("%|percent", re.IGNORECASE)
    return {label: f"{meant} (%)" if percent.search(label) else meant for label in found if meant}


_PEAK_SAID = re.compile(
    r"\bpeak\b[^.;|]{0,40}?(?<![\w.,])([0-9]{2,5}(?:\.[0-9]+)?) ?T(?:era)?FLOP"
    r"|(?<![\w.,])([0-9]{2,5}(?:\.[0-9]+)?) ?T(?:era)?FLOP[A-Za-z/]*(?: \w+)? peak\b",
    re.IGNORECASE,
)
"""The peak of a device, as a text says it: `Peak assumed 1307 TFLOP/s`."""

_SHARE_AND_RATE = re.compile(r"\s*([0-9]{1,4}(?:\.[0-9]+)?) ?%?\s*")


def _is_share(grid: Grid, label: str, text: str) -> bool:
    """Whether each number under a label is the share that the rate of another column, which is no
    rate of the hardware, has in the peak that a text says."""
    told = {float(found[1] or found[2]) for found in _PEAK_SAID.finditer(text)}
    heads = grid.header()
    at = [place for place, head in enumerate(heads) if plain(head) == label]
    rates = [place for place, head in enumerate(heads) if _FLOPS_OF_ONE.search(head)]
    if len(told) != 1 or len(at) != 1 or len(rates) != 1 or _OF_THE_DEVICE.search(heads[rates[0]]):
        return False
    (peak,) = told
    texts = [(row.cells[rates[0]].text, row.cells[at[0]].text) for row in grid.rows
             if max(*at, *rates) < len(row.cells)]  # fmt: skip
    pairs = [(_SHARE_AND_RATE.fullmatch(rate), _SHARE_AND_RATE.fullmatch(share))
             for rate, share in texts]  # fmt: skip
    known = [(float(rate[1]), float(share[1])) for rate, share in pairs if rate and share]
    return bool(known) and all(abs(100 * rate / peak - share) < _ROUNDED for rate, share in known)


_FLOPS_OF_ONE = re.compile(r"T(?:era)?FLOP", re.IGNORECASE)

_OF_THE_DEVICE = re.compile(r"\b(?:hardware|HFU|executed|kernel)\b", re.IGNORECASE)

_ROUNDED = 0.15
"""Points of a share that rounding leaves open."""


def _plain(grid: Grid, schema: Schema, labels: Mapping[str, str]) -> View:
    under = [cell.text for cell in grid.heads[-1].cells] if len(grid.heads) > 1 else []
    columns = _explained(grid.header(), schema, labels, under)
    for at in _over_several(grid):
        if (spec := columns[at].spec) is not None and spec.quantity:
            columns[at] = Column(columns[at].label, None)
    return View(grid, (Group(common(columns)),))


def _over_several(grid: Grid) -> list[int]:
    """Places of labels right of which numbers stand below none: they may be of them all."""
    labels = [plain(text) for text in grid.header()]
    bare = [at for at, label in enumerate(labels) if at and not label and labels[at - 1]]
    return [
        at - 1 for at in bare
        if any(at < len(row.cells) and DIGIT.search(plain(row.cells[at].text)) for row in grid.rows)
    ]  # fmt: skip


def _of_corner(view: View) -> View:
    """A turned view whose runs are all of what the corner of the table says: `8B on B200, BF16`."""
    (group,) = view.groups
    first = group.present()[0]
    told = called(first.label, alone=True) if first.spec is None and not first.degrees else {}
    return replace(view, groups=(replace(group, label=first.label, said=told),)) if told else view


_TAKEN = re.compile(
    r"(?:单卡|每卡)(?:峰值|最大)?显存(?:占用|峰值|使用|消耗)|(?:单卡|每卡)(?:峰值|最大)显存"
    r"|\b(?:(?:peak|max(?:imum)?) (?:GPU )?(?:memory|VRAM)(?: usage)?"
    r"|(?:memory|VRAM) (?:usage|consumption|footprint))"
    r" (?:per|(?:of|on) (?:a|one|each)) (?:GPU|device|card)\b",
    re.IGNORECASE,
)
"""Words of a line whose table holds what runs took of the memory of one device."""


def _used(view: View, above: Sequence[Line]) -> View:
    """The view with its memory as the most that a run took of one device, where the line that
    opens the table says so."""
    opening = opens_table(above)
    if opening is None or not _TAKEN.search(opening.text) or _GUESSED.search(opening.text):
        return view
    (group,) = view.groups
    columns = [
        replace(each, most=True) if each.spec and each.spec.name == "memory" else each
        for each in group.present()
    ]
    return replace(view, groups=(Group(common(columns)),))


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
    columns = [
        Column(column.label, None) if labels.get(plain(text)) == ANOTHER else column
        for column, text in zip(columns, texts, strict=True)
    ]
    told = header([labels.get(plain(text), text) for text in texts], schema)
    held = {column.spec.name for column in columns if column.spec}
    return [
        other
        if own.spec is not None and other.label == f"{own.label} total"
        else replace(own, by_cells=True)
        if generic(other) and not generic(own) and own.spec is None and MACHINE.search(own.label)
        else replace(other, label=own.label)
        if (own.spec is not None and own.spec is other.spec and _says_more(own, other))
        or (own.spec and other.spec and other.spec.name in _OF_ONE.get(own.spec.name, ()))
        or (own.spec and other.spec and len(plain(text)) == 1)
        or (plain(text) in DEGREES and own.spec and _is_measured(other) and not _is_measured(own))
        or (
            own.spec is None
            and (other.degrees or (other.spec is not None and other.spec.name not in held))
        )
        else own
        for own, other, text in zip(columns, told, texts, strict=True)
    ]


def _is_measured(column: Column) -> bool:
    return column.spec is not None and column.spec.quantity is not None


def _says_more(own: Column, other: Column) -> bool:
    """Whether a legend says in what the numbers of a column are that does not say so itself."""
    counted = own.spec is not None and own.spec.name in ("parameters", "model_size")
    return not own.unit_known or (counted and own.scale == 1.0 != other.scale)


_OF_ONE = {
    "tokens_per_s": {"tokens_per_gpu_per_s"}, "samples_per_s": {"samples_per_gpu_per_s"},
    "batch_size": {"micro_batch", "global_batch"},
}  # fmt: skip
"""Fields that leave open whose a number is, and what a legend may say that an abbreviation is."""


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


def _over_lengths(grid: Grid) -> bool:
    """Whether the corner of a grid names lengths over its columns: `模型 \\ 长度`."""
    found = _BOTH_AXES.fullmatch(grid.header()[0].strip("*` ")) if grid.heads else None
    return found is not None and _A_LENGTH.fullmatch(english(found[2].strip(" ↓→"))) is not None


def _of_its_rows(grid: Grid) -> Grid:
    """A grid with the first of two names in its corner for its first column."""
    last = grid.heads[-1]
    found = _BOTH_AXES.fullmatch(grid.header()[0].strip("*` "))
    first = last.cells[0]._replace(text=found[1].strip(" ↓→")) if found else last.cells[0]
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=(first, *last.cells[1:]))))


_A_LENGTH = re.compile(
    r"(?:max(?:imum)? )?(?:seq(?:uence)?s?|seqlen|ctx|context|长度|length)[ _-]?"
    r"(?:len(?:gth)?s?|window)?",
    re.IGNORECASE,
)

_LENGTHS = re.compile(r"\b(?:sequences?|seq(?:len)?|contexts?)\b|序列", re.IGNORECASE)

_BATCHES = re.compile(r"\b(?:batch|[gm]?bs)(?:es| ?size)?\b|批", re.IGNORECASE)

_OF_OTHERS_IN_K = re.compile(
    r"\bvocab|\btokens? (?:per|/) ?(?:batch|step|update)|\bbatch(?:es)? of\b|\bresolution|词表",
    re.IGNORECASE,
)
"""Words of what else has powers of two in thousands."""


def _of_lengths_told(grid: Grid, above: Sequence[Line]) -> bool:
    """Whether lengths that head columns are such: the text around says of them, or there are
    several in letters, `8K | 16K | 32K`, and it says of nothing else that is counted so."""
    labels = [plain(label) for label in grid.header()]
    both = _BOTH_AXES.fullmatch(labels[0].strip("*` ")) if labels else None
    if both and _BATCHES.search(both[2]) and not _LENGTHS.search(labels[0]):
        return False
    if any(map(_IN_TOKENS.search, labels)):  # of a sequence, or of a batch
        return _named_lengths(above) and not any("seq_len" in settings_named(x.text) for x in above)
    if any(_LENGTHS.search(line.text) for line in above):
        return True
    in_k = [label for label in labels if _IN_LETTERS.fullmatch(label) and _length(label)]
    return len(in_k) > 1 and not any(_OF_OTHERS_IN_K.search(line.text) for line in above)


def _of_lengths(grid: Grid, above: Sequence[Line]) -> Grid:
    """The grid with a label for its first column where that has none and holds lengths, as the text
    above says: `32K`, `1M`, which are no sizes of models; or bare numbers below a text that names
    lengths and says of no batch that it differs."""
    if not grid.heads or grid.labels or not any(_LENGTHS.search(line.text) for line in above):
        return grid
    last = grid.heads[-1]
    texts = [plain(row.cells[0].text) for row in grid.rows if row.cells]
    counts = [_IN_LETTERS.fullmatch(text) for text in texts]
    in_k = any(found and found[2] in "kK" for found in counts)
    bare = len(texts) > 1 and all(map(_length, texts)) and _named_lengths(above)
    if plain(last.cells[0].text) or not ((in_k and all(counts)) or bare):
        return grid
    if not bare and any(found and int(found[1]) & (int(found[1]) - 1) for found in counts):
        return grid  # no powers of two
    cells = (last.cells[0]._replace(text="Sequence length"), *last.cells[1:])
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


def _named_lengths(above: Sequence[Line]) -> bool:
    """Whether the text above a table names lengths of sequences, and says of no batch that it
    differs."""
    texts = [line.text for line in above if line.text.strip()]
    return any(map(_OF_LENGTHS.search, texts)) and not any(map(_OF_OTHER_BATCHES.search, texts))


_OF_LENGTHS = re.compile(
    r"\b(?:long(?:er|[- ])?[ -]?(?:sequences?|contexts?)|(?:sequence|context)s?[ -]lengths?"
    r"|seq[ _-]?lens?"
    r"|context (?:window|size)s?|longueurs? de s[eé]quence|Sequenzl[äa]ngen?"
    r"|longitud(?:es)? de secuencia)\b"
    r"|(?:序列|上下文)长度|长(?:序列|上下文)|シーケンス長|系列長|コンテキスト長|시퀀스 길이",
    re.IGNORECASE,
)

_OF_OTHER_BATCHES = re.compile(
    r"\b(?:different|various|varying|several|increasing|larger|growing|by|over|across|vs\.?|versus|per)"
    r" (?:the )?(?:global |total |micro[- ]?)?batch|\bbatch(?:es| sizes)\b|不同(?:的)?批",
    re.IGNORECASE,
)
"""Words of a text whose numbers may be sizes of batches."""


_IN_LETTERS = re.compile(r"([1-9][0-9]{0,3}) ?([kKM])")


_OF_LENGTH = re.compile(r"\b(?:seq(?:uence)?s?|seqlen|ctx|context|len(?:gth)?|tokens)\b|[=_:]")

_IN_TOKENS = re.compile(r"^[0-9]{3,7}[ -]tokens$|^[0-9]{1,4} ?[kK][ -]tokens$")
"""A label of so many tokens: `4096 tokens`."""


def _of_settings(grid: Grid, schema: Schema) -> Grid:
    """A turned grid whose first column has one setting and its number in each cell, `Batch size
    128`, with the numbers under the setting's name."""
    found = [_NUMBERED.fullmatch(plain(row.cells[0].text)) for row in grid.rows if row.cells]
    names = {each[1] for each in found if each}
    if len(names) != 1 or not all(found) or not grid.heads:
        return grid
    name, corner = names.pop(), plain(grid.heads[-1].cells[0].text)
    (column,) = header([name], schema)
    if not counts(column) or normalise(name) in map(normalise, grid.header()):
        return grid
    if (over := header([corner], schema)[0].spec) is not None and over.name != "dtype":
        return grid
    head = grid.heads[-1]
    rows = tuple(
        replace(row, cells=(row.cells[0]._replace(text=each[2]), *row.cells[1:]))
        for row, each in zip((row for row in grid.rows if row.cells), found, strict=True)
        if each
    )
    first = head.cells[0]._replace(text=name)
    return replace(
        grid, heads=(*grid.heads[:-1], replace(head, cells=(first, *head.cells[1:]))), rows=rows
    )


_NUMBERED = re.compile(r"([A-Za-z][A-Za-z /_-]*[A-Za-z])\s*[ =:]\s*([0-9][0-9,]*)")


def _length(label: str) -> dict[str, str]:
    """The sequence length that a label is: `4k`, `seq 4096`; nothing but powers of two."""
    found = re.fullmatch(r"([0-9]{1,15}) ?(k)?", _OF_LENGTH.sub(" ", label.casefold()).strip())
    count = int(found[1]) * (1024 if found[2] else 1) if found else 0
    return {"seq_len": str(count)} if count >= 128 and not count & (count - 1) else {}


def _by_caption(
    grid: Grid,
    schema: Schema,
    above: Sequence[Line],
    declared: Sequence[Line] = (),
    shared: Sequence[str] = (),
) -> tuple[Group, ...]:
    """A group for each column headed by a configuration, of the one quantity named above, or else
    of the one in which the text around the section says that it measures; settings of each of the
    sides `shared` stand in columns of their own."""
    columns = _without_budgets(header(grid.header(), schema), above)
    if len(columns) < 3 or quantities(columns) or _are_settings(grid, schema):
        return ()
    grid = replace(grid, rows=tuple(row for row in grid.rows if not row.one))  # no notes
    mixed_in = [n for n, c in enumerate(columns) if n and _of_mixed(grid, n, c, schema)]
    unset = {n for n, c in enumerate(columns) if n and _measured_with(grid, n, c)} | {*mixed_in}
    columns = [Column(c.label, None) if n in unset else c for n, c in enumerate(columns)]
    settings = [0, *(n for n, c in enumerate(columns) if n and c.spec and c.spec.configuration)]
    ratios = comparing([column.label for column in columns])
    columns = [Column(c.label, None) if n in ratios else c for n, c in enumerate(columns)]
    free = [
        n for n in range(len(columns))
        if n not in settings and n not in ratios and not _in_words_alone(grid, n)
        and not _of_gains(grid, n)
        and not _OF_A_SET_UP.fullmatch(columns[n].label)
        and not set(split(columns[n].label)) & _COUNTERS
        and not of_its_side(columns[n].label, shared)
    ]  # fmt: skip
    free = _without_those_beside(free, columns, schema)
    labels = {n: columns[n].label for n in free}
    set_up = set_apart(list(labels.values()), labels, schema)
    sides = free = [n for n in free if not any(n in own for own in set_up.values())]
    named_by: dict[int, Mapping[str, str]] = {
        n: named_side(columns[n].label, schema) for n in sides
    }
    named_by |= {n: {"dtype": ""} for n in mixed_in}
    labels = {n: columns[n].label for n in sides}
    named_by |= _stages_of_zero(labels, above) | _recomputed(labels, above)
    if not any(named_by.values()):
        sides = list(range(1, len(columns)))
        if listed := counted_above([column.label for column in columns[1:]], above):
            named_by = dict(zip(sides, listed, strict=True))
        elif told := axes(grid, columns, schema) or over_counts(grid, columns):
            columns = [told[0], *columns[1:]]
            named_by = dict(zip(sides, told[1], strict=True))
        elif axis := _other_axis(grid, columns, schema):
            columns = [axis[0], *(Column(name, None) for name in axis[1])]
        if not any(named_by.values()):
            sides = free  # beside `Model | Method`
            named_by |= _by_numbers(grid, columns, sides, _with_headings(above, declared), schema)
    found = _named_above(above, declared, schema)
    if found is None and held_or_ran_out(grid, sides, [line.text for line in above]):
        found = said("GPU memory")
    if found is None:
        return ()
    spec = fields(schema)[found.field]
    others = [columns[n].label for n in sides if not named_by.get(n)]
    kinds = {frozenset(named_by[n]) for n in sides if named_by.get(n)}
    machines = {frozenset({"gpu"}), frozenset({"gpu", "gpus"})}
    ways = kinds and all(map(A_WAY.fullmatch, others))
    mixed = len(kinds) > 1 and kinds != machines and not kinds <= _OF_SHARDING
    proved = (not ways or mixed) and (
        _each_in_its_unit(grid, sides, spec)
        or (
            found.unit_known
            and (
                _all_said(columns, sides, above)
                or (
                    _of_set_ups(columns, sides)
                    and _all_said(columns, sides, _with_declared(above, declared))
                )
            )
            and _numbers(grid, sides, above)
            and _alike_in_size(grid, sides)
        )
    )
    if not proved and (not ways or mixed):
        return ()
    if (len(settings) > 1 and len(sides) < 2) or any(_GUESSED.search(x.text) for x in above):
        return ()
    if not proved and not found.unit_known and not _mostly_with_units(grid):
        return ()
    first, over = corner(grid, columns, schema)
    rest = common([first, *columns[1:]], set(sides).union(*set_up.values()))
    most = found.field == "memory"
    own = {at: _of_quantity(columns[at].label, found, schema, most=most) for at in sides}
    return tuple(
        Group(
            rest, {at: column, **set_up.get(column.label, {})}, column.label,
            {**over[at - 1], **(named_by.get(at) or {})}, at,
        )
        for at, column in own.items()
    )  # fmt: skip


def _named_above(above: Sequence[Line], declared: Sequence[Line], schema: Schema) -> Said | None:
    """The one quantity that the text above a table names, or the unit in which its last line says
    that all its numbers are; none of a node."""
    found = meant_above(above, declared, schema)
    nearest = [line for line in above if line.text.strip()][-1:]
    nobodys = any(of_a_node(line.text) for line in nearest)
    if found is None and not nobodys and (rated := unit_of_all(nearest)):
        found = said(f"throughput ({rated})")
    if found is None or not found.unit_known:
        begins = opened(_under_headings(above, declared))
        found = begins[0].said if len(begins) == 1 else found
    return found if found is not None and found.field in fields(schema) else None


def _of_quantity(label: str, found: Said, schema: Schema, *, most: bool) -> Column:
    """The column of a label whose numbers are of the quantity that a text names; of one device,
    where no column has those of all."""
    known, of_all = fields(schema), EACH.get(found.field)
    column = Column(label, known[of_all or found.field], found.scale, found.unit_known, most=most)
    return replace(column, rank=OF_EACH) if of_all else column


def _by_numbers(
    grid: Grid,
    columns: Sequence[Column],
    sides: Sequence[int],
    above: Sequence[Line],
    schema: Schema,
) -> dict[int, dict[str, str]]:
    """Place → what the number over a column is of, as the text above says: a length, or a count."""
    lengths = _of_lengths_told(grid, above)
    told = {n: _length(columns[n].label) for n in sides} if lengths else {}
    if any(told.values()):
        return told
    headed_by = [columns[0], *(columns[n] for n in sides)]
    return dict(zip(sides, across(headed_by, above, schema), strict=True))


def _with_headings(above: Sequence[Line], declared: Sequence[Line]) -> Sequence[Line]:
    """The lines above a table, or the heading around its own that says over what its tables are,
    where none of these does."""
    over = [line for line in declared if line.text.lstrip().startswith("#")][-1:]
    named = any(_LENGTHS.search(x.text) or _OF_OTHER_BATCHES.search(x.text) for x in above)
    return above if named else [*over, *above]


def _other_axis(
    grid: Grid, columns: Sequence[Column], schema: Schema
) -> tuple[Column, list[str]] | None:
    """The first column, and a name for each other one, where the corner names both axes, and the
    one across is of whole numbers of something that no field holds: `batch \\ resolution`."""
    found = _BOTH_AXES.fullmatch(grid.header()[0].strip("*` "))
    if found is None or not all(_WHOLE_NUMBER.fullmatch(c.label) for c in columns[1:]):
        return None
    down, across_ = header([text.strip(" ↓→") for text in found.groups()], schema)
    if across_.spec is not None or not _NAMES.search(across_.label):
        return None
    first = replace(down, label=columns[0].label)
    return first, [f"{across_.label} {column.label}" for column in columns[1:]]


_BOTH_AXES = re.compile(r"([^\\/|]+?)\s*(?:\\+|╲)\s*([^\\/|]+)")

_WHOLE_NUMBER = re.compile(r"[0-9][0-9,]*")


def _each_its_own(
    groups: Sequence[Group], sides: Sequence[str], schema: Schema
) -> tuple[Group, ...]:
    """Groups with the settings that a label gives each of them: `Batch (FP32 / AMP)`."""
    found = []
    for group in groups:
        own, rest = dict(group.own), []
        for at, column in group.common.columns:
            told = of_its_side(column.label, sides)
            if told is None:
                rest.append((at, column))
            elif told[1] == group.label:
                own[at] = replace(header([told[0]], schema)[0], label=column.label)
        found.append(replace(group, common=Common(group.width, tuple(rest)), own=own))
    return tuple(found)


_COUNTERS = {"phase", "trial", "case", "index", "seed", "experiment", "exp"}
"""Words of a column that numbers its rows."""


def _beside_measured(
    grid: Grid, schema: Schema, above: Sequence[Line], noted: Mapping[str, str]
) -> tuple[Group, ...]:
    """The same for some columns of a table of which others say what they measure: each of those is
    of the set-up that its label names (`v0.13 | v0.14 | MFU (v0.14)`), or its footnote (`from the
    m = 64 runs`), or of the row alone."""
    columns = header(grid.header(), schema)
    measured = {n: c for n, c in enumerate(columns) if c.spec and c.spec.quantity}
    left = [n for n in range(len(columns)) if n not in measured]
    if grid.labels or not measured or len(left) < FEWEST_BESIDE or not grid.heads:
        return ()
    if any(map(generic, columns)):  # `Speed`, whose cells say what it is
        return ()
    groups = _by_caption(_of_columns(grid, left), schema, above)
    names = {column.spec.name for group in groups for column in group.own.values() if column.spec}
    told = {column.spec.name for column in measured.values() if column.spec}
    if len(groups) < len(("one", "another")) or names & told:
        return ()
    if any(columns[left[g.at]].spec for g in groups if g.at is not None and not g.said):
        return ()  # `Notes`
    held = {
        n: [group for group in groups if _names_it(text, group.label)]
        for n in measured
        for text in (f"{columns[n].label}; {noted.get(columns[n].label, '')}",)
    }
    nobodys = tuple((left[at], column) for at, column in groups[0].common.columns)
    common_ = Common(len(columns), nobodys)
    found = [
        Group(
            common_,
            {left[at]: column for at, column in group.own.items()}
            | {n: columns[n] for n in measured if held[n] == [group]},
            group.label,
            group.said,
            left[group.at] if group.at is not None else None,
        )
        for group in groups
    ]
    rest = {n: columns[n] for n in measured if not held[n]}
    return (*found, Group(common_, rest)) if rest else tuple(found)


FEWEST_BESIDE = 3
"""Columns beside those that say what they measure: names of rows, and two set-ups."""


def _names_it(label: str, name: str) -> bool:
    """Whether the label of a column names a set-up: `MFU (v0.14)`."""
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", label) is not None


def _of_columns(grid: Grid, kept: Sequence[int]) -> Grid:
    """A grid with some of its columns only."""

    def cut(row: GridRow) -> GridRow:
        return replace(row, cells=tuple(row.cells[n] for n in kept if n < len(row.cells)))

    return replace(grid, heads=tuple(map(cut, grid.heads)), rows=tuple(map(cut, grid.rows)))


_AGAIN = re.compile(
    r"(?:(?P<none>no|without|w/o|none)|(?P<how>selective|full))"
    r"(?: (?:activation |gradient )?(?:recomput\w*|(?:check-?point\w*|ckpt|AC)))?",
    re.IGNORECASE,
)

_OF_AGAIN = re.compile(
    r"recomput|check-?pointing|\bckpt\b|\b(?:no|full|selective) (?-i:AC)\b|重计算", re.IGNORECASE
)


def _recomputed(labels: Mapping[int, str], above: Sequence[Line]) -> dict[int, Mapping[str, str]]:
    """How much is computed again in columns that are called by it, where one of them or the text
    above says what it is: `no recompute | selective | full`."""
    found = {n: how for n, label in labels.items() if (how := _AGAIN.fullmatch(label))}
    named = any(map(_OF_AGAIN.search, (*labels.values(), *(line.text for line in above[-2:]))))
    if len(found) < len(("one", "another")) or not named:
        return {}
    return {n: {"recompute": (how["how"] or "none").casefold()} for n, how in found.items()}


_A_STAGE = re.compile(r"(?:ZeRO[ -]?)?stage[ -]?([0-3])|(no|without|w/o) ZeRO", re.IGNORECASE)

_ZERO_NAMED = re.compile(r"\bZeRO\b|\bDeepSpeed\b", re.IGNORECASE)


def _stages_of_zero(
    labels: Mapping[int, str], above: Sequence[Line]
) -> dict[int, Mapping[str, str]]:
    """The stage of ZeRO of columns that are called by it, where a label or the text above names
    ZeRO: `No ZeRO | Stage 1 | Stage 2`."""
    found = {n: stage for n, label in labels.items() if (stage := _A_STAGE.fullmatch(label))}
    named = any(map(_ZERO_NAMED.search, (*labels.values(), *(line.text for line in above))))
    if len(found) < len(("one", "another")) or not named:
        return {}
    return {n: {"zero_stage": stage[1] or "0"} for n, stage in found.items()}


def _of_mixed(grid: Grid, at: int, column: Column, schema: Schema) -> bool:
    """Whether a column is of runs in mixed precision, in whatever format, and holds no formats:
    `Mixed precision` over `2.03`."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    return (
        column.spec is not None
        and column.spec.name == "dtype"
        and names_a_side(column.label, schema)
        and any("." in text for text in texts)
        and all(_NUMERAL.fullmatch(text) or not DIGIT.search(text) for text in texts)
    )


def _measured_with(grid: Grid, at: int, column: Column) -> bool:
    """Whether a column holds what was measured with something on, and not whether it was:
    `Checkpointing` over `6.1 GB`."""
    if column.spec is None or column.spec.terminal != "BOOL":
        return False
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    return any(map(DIGIT.search, texts)) and all(
        not DIGIT.search(text) or _IN_UNIT.fullmatch(text) or "." in text for text in texts
    )


_OF_A_SET_UP = re.compile(
    r"(?:(?:tokens|samples|sequences|images) ?(?:per|/) ?(?:GPU|device|card|chip|NPU|rank|replica)"
    r"|(?:local |mini-?|total )?batch(?: ?size)?|micro-?batches|epochs?|steps|layers|rank|vocab"
    r"|bits?|precision bits|quanti[sz]ation|r|lora[ _-]?(?:r|rank)"
    r"|(?:sequences|samples|tokens|micro-?batches) ?(?:per|/|in (?:a|each)) ?(?:global )?(?:batch"
    r"|step|iteration))",
    re.IGNORECASE,
)
"""Labels of what was set and is no quantity, though no field is its own: `Tokens per GPU`."""


def _without_those_beside(
    free: Sequence[int], columns: Sequence[Column], schema: Schema
) -> list[int]:
    """Places of columns that may be sides without those whose labels say that they are of one of
    the others, and what: `peak memory after` beside `before | after`."""
    names = [columns[n].label for n in free] if len(free) <= MOST_SIDES else []
    beside = {
        n for n in free for name in names
        if name in columns[n].label and name != columns[n].label
        and of_name(columns[n].label, name, schema)
    }  # fmt: skip
    return [n for n in free if n not in beside]


MOST_SIDES = 32
"""Columns of a table beyond which none is of what another is called."""


_OF_SHARDING = {frozenset({"zero_stage"}), frozenset({"sharding"})}
"""Settings of ways to spread a model: some of them set the one, some the other."""


_BUDGETS = re.compile(r"\bmemory (?:constraint|budget|limit)s?\b", re.IGNORECASE)


def _without_budgets(columns: Sequence[Column], above: Sequence[Line]) -> list[Column]:
    """Columns without those of a memory that the text above says was only allowed."""
    budgets = any(_BUDGETS.search(line.text) for line in above)
    return [
        Column(each.label, None) if budgets and each.spec and each.spec.name == "memory" else each
        for each in columns
    ]


def _by_ratio(
    grid: Grid, schema: Schema, above: Sequence[Line], declared: Sequence[Line]
) -> tuple[Group, ...]:
    """A group for each of two columns of the quantity named above that are one, as their printed
    ratios prove: `Offload | Twin-Flow | Speedup`."""
    columns = header(grid.header(), schema)
    compares = comparing([column.label for column in columns])
    found = meant_above(above, declared, schema) if compares else None
    if found is None or any(_GUESSED.search(line.text) for line in above):
        return ()
    rows = [[plain(cell.text) for cell in row.cells] for row in grid.rows if not row.one]
    pair = in_ratio(rows, compares) or _in_ratio_though_named(rows, columns, compares)
    if pair is None or not found.unit_known or any(columns[at].spec for at in pair):
        return ()
    if any(_is_of_another(columns[at].label, found.field) for at in pair):
        return ()
    sides = [*pair, *_with_the_best(rows, columns, pair, compares, found.field)]
    columns = [Column(c.label, None) if at in compares else c for at, c in enumerate(columns)]
    rest, spec = common(columns, set(sides)), fields(schema)[found.field]
    own = {at: Column(columns[at].label, spec, found.scale) for at in sorted(sides)}
    return tuple(
        Group(rest, {at: column}, column.label, named_side(column.label, schema), at)
        for at, column in own.items()
    )


def _with_the_best(
    rows: Sequence[Sequence[str]],
    columns: Sequence[Column],
    pair: tuple[int, int],
    compares: Sequence[int],
    field: str,
) -> Iterator[int]:
    """Places of columns that stand beside two in a ratio to the best of several, as the others of
    these: of no other meaning, and with numbers like theirs in each row."""
    if not any(_TO_THE_BEST.search(columns[at].label) for at in compares):
        return
    low, high = pair
    for places in (range(low - 1, 0, -1), range(low + 1, high), range(high + 1, len(columns))):
        for at in places:
            other = columns[at].spec or _is_of_another(columns[at].label, field)
            if at in compares or other or not all(_alike_in_row(row, at, pair) for row in rows):
                break
            yield at


_TO_THE_BEST = re.compile(
    r"\b(?:best|fastest|strongest|closest|second|next)\b|最[优快强佳]|最速|次[优佳]", re.IGNORECASE
)
"""Words of a ratio to one of several: `Speedup (vs. best)`."""

_NEAR = 10.0
"""Times that numbers of one row and quantity differ at most."""


def _alike_in_row(row: Sequence[str], at: int, pair: tuple[int, int]) -> bool:
    """Whether a row has in one place a number near those of a pair, or no outcome."""
    text = row[at] if at < len(row) else ""
    if FAILED.match(text):
        return True
    told = [number_in(row[n]) for n in (at, *pair) if n < len(row)]
    held = [each for each in told[1:] if each]
    return bool(told and told[0]) and all(
        each / _NEAR <= (told[0] or 0.0) <= each * _NEAR for each in held
    )


def _is_of_another(label: str, name: str) -> bool:
    """Whether the label of a side names a unit or a quantity itself, which is not that of the field
    of a name: `ms/step before` below a text on images a second."""
    timed = set[str]() if name in ("step_time", "time") else {"time", "latency", "duration"}
    words = {word for word in _words_of_a_name(label) if len(word) > 1}  # `framework B`
    return bool(words & ((_OTHER_THINGS - DEVICE) | timed))


def _in_ratio_though_named(
    rows: Sequence[Sequence[str]], columns: Sequence[Column], compares: Sequence[int]
) -> tuple[int, int] | None:
    """The same of columns some of which only look as if they compared: `ratio=1.0`."""
    asked = [at for at in compares if not DIGIT.search(columns[at].label)]
    return in_ratio(rows, asked) if asked != list(compares) else None


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
            short = number is not None and spec.unit == "B" and number[1] in SHORT_SIZES
            mine = short or (measure is not None and measure.si == spec.unit)
            if not mine and not FAILED.match(text):
                return False
            found += mine
    return found > 1


_SAID_OF_ALL = re.compile(
    r"^\W*(?:(?:training )?(?:throughput|speed|performance),? (?:in )?)?"
    r"(?:tokens|samples|sequences|images)(?:/| per )s(?:ec(?:ond)?)?\b"
    r"(?:[ /]*(?:per )?(?:GPU|device))?(?=\W*$|[,;:(])"
    r"|\b(?:numbers|values|figures|cells|entries|all results|speeds|rates|throughputs|times)\b"
    r".{0,24}?\b(?:in|is|are|give)\b"
    r"|\b(?:each|every) (?:cell|entry|number)\b.{0,24}?\b(?:is|gives|shows|reports|holds)\b"
    r"|\b(?:metric|units?)\b\s*(?:[:=]|is\b|are\b)"
    r"|\b(?:measure|report|compare|show|list|give)s?\b.{0,40}?"
    r"\b(?:speeds?|throughputs?|performance|rates?|times?)\b.{0,24}?\bin\b"
    r"|\btable(?: [0-9]+)?(?: below)? (?:gives|shows|reports|lists) the\b.{0,24}\bthroughputs?\b"
    r"|(?:吞吐量?|速度|性能)?(?:的)?单位(?:均?为|是|[:：])|単位は"
    r"|表中(?:的)?(?:数值|数字|数据|值)?(?:均?为|是)|表中?の(?:値|数値|数字)は",
    re.IGNORECASE,
)
"""A sentence that says in what everything in the table below it is."""


_MEMORY_OF_ALL = re.compile(
    r"\W*(?:(?:the|all|peak|max(?:imum)?|GPU|training) )*(?:GPU )?(?:memory|VRAM)\b", re.IGNORECASE
)
"""How a sentence begins that is about the memory in the table below it."""

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
        _SAID_OF_ALL.search(unmarked(line.text)) and heard_in(line.text).phrases for line in above
    )
    told |= any(
        _MEMORY_OF_ALL.match(unmarked(line.text)) and heard_in(line.text).of_memory
        for line in above
    )
    compared = bool(comparing([column.label for column in columns]))
    if not told and not compared:
        told = any(map(declares, (line.text for line in above)))
    told |= _titled_so(above) or _named_with_it([columns[n].label for n in sides], above)
    last = None if compared else opens_table(above)
    if last and not _of_a_number(last.text):  # what it names is in the table
        told |= len(heard_in(last.text).phrases or heard_in(last.text).of_memory) == 1
    labels = [columns[n].label for n in sides]
    swept = {each[1] if (each := _SWEPT.fullmatch(label)) else "" for label in labels}
    one = len(swept) == 1 and "" not in swept  # whatever it stands for
    versions = _are_versions(labels, above)
    switched = {bare.casefold() for label in labels if (bare := _SWITCHED.sub("", label)) != label}
    one |= len(labels) == 2 and len(switched) == 1  # whatever it is
    return told and len(sides) > 1 and all(
        columns[n].spec is None and not columns[n].degrees
        and (versions or _NAMES.search(label))
        and (one or not _words_of_a_name(label.partition(" + ")[0]) & _OTHER_THINGS)
        for n, label in zip(sides, labels, strict=True)
    )  # fmt: skip


def _are_versions(labels: Sequence[str], above: Sequence[Line]) -> bool:
    """Whether all of some labels are versions of two numbers, one of which the text above names as
    one: `25.3 | 25.6` below `Marl 25.6`."""
    if not all(map(_TWO_PARTS.fullmatch, labels)):
        return False
    one = "|".join(re.escape(label) for label in labels)
    named = re.compile(
        rf"\b(?:[Vv]ersions?|[Rr]eleases?|(?!Table|Figure|Section|Chapter)[A-Z][a-z]\w+) v?"
        rf"(?:{one})(?![\w.%]|\s?(?:TFLOP|GB|ms|s|x|B|M|tok|it)\b)"
    )
    return any(named.search(line.text) for line in above if len(line.text) <= LONGEST)


_TWO_PARTS = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}")


def _named_with_it(labels: Sequence[str], above: Sequence[Line]) -> bool:
    """Whether a sentence above a table names the labels of all its sides, and says what they are:
    `"old"/"new" is seconds per iteration before and after`, `Eager and Compiled are tok/s`."""
    if len(labels) < len(("one", "another")) or not all(len(label) > 1 for label in labels):
        return False
    for line in above:
        if len(line.text) > LONGEST or labels[0].casefold() not in line.text.casefold():
            continue
        for sentence in SENTENCE_END.split(line.text):
            phrases = heard_in(sentence).phrases
            at = unmarked(sentence).find(phrases[0]) if len(phrases) == 1 else -1
            before = unmarked(sentence)[:at] if at > 0 else ""
            ends = [_end_of(label, before) for label in labels]
            if all(ends) and _ARE.fullmatch(before[max(ends) :]):
                return True
    return False


def _end_of(label: str, text: str) -> int:
    """Where a label ends that stands in a text as words of their own; 0 where it does not."""
    found = re.search(rf"(?<!\w){re.escape(unmarked(label))}(?!\w)", text, re.IGNORECASE)
    return found.end() if found else 0


_ARE = re.compile(
    r"[\W_]{0,4}(?:\([^()]{1,60}\)[\W_]{0,3})?"
    r"(?:(?:columns?|values|numbers|times?|figures|results|rows?|列)[\W_]{1,3}){0,2}"
    r"(?:(?:both|each|all|is|are|was|were|gives?|shows?|lists?|holds?|in|means?|report|stand for"
    r"|均为|都是|为|是"
    r"|the|an?|mean|average|median|measured|training|model|of)\b[\W_]{0,3}|[:=：]\s?){0,6}",
    re.IGNORECASE,
)
"""Words between the names of the sides of a table and what they are."""


def _titled_so(above: Sequence[Line]) -> bool:
    """Whether a title above a table names the one quantity of it, and all that stands between says
    only with what it ran."""
    said = [line for line in above if line.text.strip()]
    at = max((n for n, line in enumerate(said) if _titled_by_unit(line.text)), default=-1)
    return at >= 0 and all(map(of_set_up_alone, said[at + 1 :]))


def _titled_by_unit(text: str) -> bool:
    """Whether a line is a heading or a caption that names one quantity, in brackets or at its end:
    `## Pipeline schedules (tokens/s/GPU)`, `### Step time in ms`."""
    if len(text) > LONGEST or not _A_TITLE.match(text):
        return False
    phrases = heard_in(text).phrases
    bare = unmarked(text).rstrip(" #.:")
    return len(phrases) == 1 and bare.rstrip(" )]").endswith(phrases[0].rstrip(" )]"))


_A_TITLE = re.compile(r"\s*(?:#{1,6} |\*\*|={1,6} |h[1-6]\. |(?:Table|Tab\.|表)\s*[0-9IVX]+)")

_NAMES = re.compile(r"[^\W\d_]|^(?:[0-9]+(?:\.[0-9]+){2,3}(?: ?\+ ?#[0-9]+)*|#[0-9]+)$")
"""In the label of a set-up: a letter, or the number of a version, or of a change to it."""

_SWITCHED = re.compile(r"^(?:with|without|w/o?|no)\s+", re.IGNORECASE)
"""How the label of a set-up begins that has something which another has not."""

_SWEPT = re.compile(r"([A-Za-z][A-Za-z-]{0,15}(?: [a-z]{1,10})?)(?: ?= ?| )[0-9]+[kK]?")
"""A label of one value of something that a letter or a word stands for: `m = 16`, `batch 4`."""


def _words_of_a_name(label: str) -> set[str]:
    """The words of a label without letters behind the name of a model: `ViT-B/16`."""
    words = split(english(SIZED.sub(" ", label)))
    named = bool(words) and len(words[0]) > TWO_LETTERS
    return {word for word in words if not (named and len(word) == 1)}


TWO_LETTERS = 2


def _of_set_ups(columns: Sequence[Column], sides: Sequence[int]) -> bool:
    """Whether a column beside some says with what its rows ran, or on how much of it."""
    specs = [column.spec for at, column in enumerate(columns) if at not in sides]
    return any(spec is not None and spec.configuration for spec in specs)


_FARTHEST = 30.0
"""How many times more one set-up may reach than another in one row."""


def _alike_in_size(grid: Grid, sides: Sequence[int]) -> bool:
    """Whether the numbers of some columns may be of one quantity, row by row."""
    for row in grid.rows:
        texts = [plain(row.cells[n].text) for n in sides if n < len(row.cells)]
        found = [float(m[0].replace(",", "")) for t in texts if (m := _FIRST.search(t))]
        if found and max(found) > _FARTHEST * min(found):
            return False
    return True


_FIRST = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


def _numbers(grid: Grid, sides: Sequence[int], above: Sequence[Line]) -> bool:
    """Whether some columns hold numbers without a unit, outcomes, and nothing else; in brackets
    behind them what the text above says of it."""
    texts = [plain(r.cells[n].text) for n in sides for r in grid.rows if n < len(r.cells)]
    if any(_BRACKETS_ARE.search(line.text) for line in above):
        texts = [_BRACKETED.sub("", text) for text in texts]
    return all(
        not text or _NONE.fullmatch(text) or _NUMERAL.fullmatch(text) or FAILED.match(text)
        for text in texts
    )


_BRACKETS_ARE = re.compile(r"\b(?:in|number in) (?:brackets|parenthes[ei]s)\b|括号", re.IGNORECASE)

_BRACKETED = re.compile(r"\s*[(（][0-9][0-9,.]*(?: ?[A-Za-z]{1,3})?[)）]$")


_IN_UNIT = re.compile(r"[~≈]?\s*[0-9][0-9.,]*\s*([A-Za-z%µ]+(?:/[A-Za-z]+)*)")


_NONE = re.compile(r"[-–—/]+|n/?a|none", re.IGNORECASE)


def _are_settings(grid: Grid, schema: Schema) -> bool:
    """Whether the rows of a table are settings that have numbers, by their names, two of them at
    least: below `tp=2 | tp=4` stand their values, and nothing that was measured."""
    labels = {plain(row.cells[0].text) for row in grid.rows if row.cells and not row.one} - {""}
    named = {configured_by(label) for label in labels}
    known = fields(schema)
    return (
        len(named) > 1
        and all(name in known and known[name].numeric for name in named if name)
        and None not in named
    )


def _in_words_alone(grid: Grid, at: int) -> bool:
    """Whether a column holds nothing but words: how each row was run, and no measurement."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    held = [text for text in texts if text and not _NONE.fullmatch(text)]
    return bool(held) and all(
        (not _BEGINS_AS_NUMBER.match(text) or _DESCRIBES.match(text)) and not FAILED.match(text)
        for text in held
    )


def _of_gains(grid: Grid, at: int) -> bool:
    """Whether a column without a label holds by how much others differ, and no more: `+13%`."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    held = [text for text in texts if text and not _NONE.fullmatch(text)]
    return not plain(grid.header()[at]) and bool(held) and all(map(_GAIN.fullmatch, held))


_GAIN = re.compile(r"[(]?(?:[+±−–-] ?[0-9]+(?:\.[0-9]+)? ?%|[0-9]+(?:\.[0-9]+)? ?[x×])[)]?")

_BEGINS_AS_NUMBER = re.compile(r"[~≈<>±+-]?\s*[0-9.]")

_DESCRIBES = re.compile(
    r"[0-9]+[a-z]{1,8}, [0-9]+ [a-z]{3}|[0-9]{3,4}p\b|[0-9]+ ?[x×] ?[0-9]+(?:\D|$)"
)
"""How a cell begins that has numbers in it and measures nothing: `480p, 81 frames`, `512x512`."""


def _mostly_with_units(grid: Grid) -> bool:
    """Whether most numbers right of the first column have a unit behind them: `8.1 GB`."""
    texts = [plain(c.text) for row in grid.rows for c in row.cells[1:] if len(c.text) <= LONGEST]
    held = [text for text in texts if re.search("[0-9]", text)]
    return 2 * sum(_WITH_UNIT.fullmatch(text) is not None for text in held) > len(held)


_WITH_UNIT = re.compile(r"[~≈]?\s*[0-9][0-9.,]*\s*[A-Za-zµ]+")


def _by_remarks(grid: Grid, schema: Schema, above: Sequence[Line]) -> tuple[Group, ...]:
    """A group for each column whose numbers have a layout in brackets, of the quantity above."""
    columns = header(grid.header(), schema)
    if quantities(columns) or (found := said_above(above)) is None:
        return ()
    spec = fields(schema)[found.field]
    own: dict[int, Column] = {}
    for at, column in enumerate(columns):
        cells = [plain(r.cells[at].text) for r in grid.rows if at < len(r.cells) and not r.one]
        told = sum(bool(remark(text)) for text in cells)
        cells = [text for text in cells if DIGIT.search(text)]  # `Not runnable`
        free = column.spec is None or column.spec.name == "program"  # `Trainer` over its numbers
        if free and told * 3 >= len(cells) * 2 > 0:
            own[at] = Column(column.label, spec, found.scale)
    rest = common(columns, own)
    return tuple(Group(rest, {at: column}, column.label, {}, at) for at, column in own.items())
