"""Rows of a grid to records, by the labels of a schema, whatever the grid was written in.

In: the lines of a document. Out: one record per data row of each table that names a measured
quantity. Filler rows are blank; a row with a cell too many or too few is refused, and so is an
unfinished last row. Each table is noted, with what was understood of it and what was not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain, dropwhile, takewhile
from typing import NamedTuple

from assay.ingest.columns.cells import (
    bare_number,
    chips_of,
    may_have_failed,
    outcome_and_date,
    outcome_of_note,
)
from assay.ingest.columns.column_cells import (
    Above,
    amounts_again,
    as_printed,
    bare_times,
    devices_of_nodes,
    in_bytes,
    in_short,
    of_datasheets,
    of_each,
    of_processes,
    of_whom,
    parts_of_steps,
    rates,
    replica_batches,
    scales,
    times_of_steps,
    unitless_memory,
    unitless_times,
    unnamed,
    unsaid_units,
    whole_numbers,
    whose_batches,
)
from assay.ingest.columns.composite import (
    calculation,
    called,
    model_of_side,
    remark,
    set_behind,
)
from assay.ingest.columns.footnotes import (
    NEAR,
    WITHIN,
    Note,
    footnotes,
    may_be_noted,
    noted,
    notes_below,
    raised,
    unspoken,
    without_marks,
)
from assay.ingest.columns.format_columns import (
    flash_columns,
    format_columns,
    switch_flash,
    switch_format,
    without_said_formats,
)
from assay.ingest.columns.headers import Column, generic, plain
from assay.ingest.columns.number_formats import EVERY, all_mixed, mixed_format, names_mixed
from assay.ingest.columns.open_labels import (
    estimates_beside,
    model_in_corner,
    sizes_said,
    with_added,
    with_bare_sizes,
    with_batch_scopes,
    with_degrees_in_words,
    with_first_of_two,
    with_lengths,
    with_letters,
    with_measured_memory,
    with_memory_in_remarks,
    with_memory_units,
    with_models,
    with_one_device,
    with_partitions,
    with_reserved,
    with_switches,
    with_tokens_of_shapes,
    with_variants,
)
from assay.ingest.columns.row_texts import spoken_of_itself
from assay.ingest.columns.spoken_of import settled_nearer
from assay.ingest.columns.subject import (
    BOUNDS,
    RATES,
    TALLIED,
    about_training,
    described,
    many_devices,
    measured,
    measures,
    name_rows,
    named_for_training,
    names_batch,
    names_rate,
    of_no_training,
    of_runs,
    served_here,
    spread,
    summary,
    titled_otherwise,
    trained_here,
)
from assay.ingest.columns.titles import (
    SIZED,
    SIZES,
    counted_before_name,
    counted_devices,
    family_first,
    family_named,
    family_of_sizes,
    format_named,
    length_named,
    model_named,
    names_format,
    of_another_size,
    of_its_devices,
    size_of_heading,
)
from assay.ingest.grids.delimited import SAMPLE, Sheet, sheet, uncommented, without_signs
from assay.ingest.grids.grid import LONGEST, MARKED_UP, Grid, GridCell, GridRow
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.prose.counted_operations import of_hardware
from assay.ingest.prose.degree_letters import with_degrees
from assay.ingest.schema.format import Folded, Region, TableNote
from assay.ingest.schema.record import (
    Cell,
    Code,
    Diagnostic,
    Line,
    Record,
    Schema,
    Span,
    State,
    Statement,
)
from assay.ingest.source.headings import headed
from assay.ingest.source.inline_markup import in_markdown
from assay.ingest.source.table_footers import footer
from assay.ingest.tables import captions
from assay.ingest.tables.documents import (
    OF_HARDWARE,
    Place,
    asked_allocator,
    documents,
    explained,
    explained_times,
    factors,
    grids,
    hardware_of,
    legend,
    listed_machines,
    no_room,
    one_of,
    units_of_code,
)
from assay.ingest.tables.header_rows import carried, with_dittos
from assay.ingest.tables.keyed import (
    MOST_PLAIN,
    SetUps,
    Stated,
    configured,
    is_of_set_up,
    join,
    joined,
    keyed,
    machines_of,
    models_of,
    runs_like,
    shapes_of,
    stated,
)
from assay.ingest.tables.long_tables import IrregularError, ways
from assay.ingest.tables.named_above import (
    SENTENCE_END,
    beside,
    heard_in,
    named_rate,
    of_set_up_alone,
)
from assay.ingest.tables.no_runs import (
    bracketed_guess,
    foreseen,
    guessed_above,
    is_guess,
    made_ready,
    signed_so,
    signs_of_guesses,
)
from assay.ingest.tables.other_meanings import doubtless
from assay.ingest.tables.pairs import (
    annotated,
    with_rates_in_short,
    with_settings_apart,
    without_sign,
)
from assay.ingest.tables.row_cells import (
    NOTHING,
    RATES_OF_CELLS,
    SIZE_BEHIND,
    capacities,
    counts_in,
    fill,
    is_silent,
    memory_of_whom,
    under_its_family,
    worth,
)
from assay.ingest.tables.sides import Group
from assay.ingest.tables.turned import names_in_one_column, turned_grid, unpivoted
from assay.ingest.tables.units_beside import (
    names_metrics,
    of_all_below,
    of_the_job,
    runs_in_long_form,
    with_bare_rates,
    with_batches_of_tokens,
    with_check_marks,
    with_metrics_apart,
    with_outcomes,
    with_rate_units,
    with_rates_of_things,
    with_scopes,
    with_units_in_english,
)
from assay.ingest.tables.views import View, in_unit_of_page, views
from assay.ingest.vocabulary.card_counts import counted_chips
from assay.ingest.vocabulary.devices import devices, only
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, SCALED
from assay.ingest.vocabulary.words import counted

_DIGIT = re.compile("[0-9]")

_LETTER = re.compile(r"[^\W\d_]")


def table_rows(region: Region, schema: Schema) -> Folded:
    """The rows of every table of a document whose columns are those of `schema`."""
    folded, trained = Folded(), False
    for lines in documents(region.lines):
        long = sheet(lines, region.source.name)
        try:
            if long is not None:
                _document(region, headed(in_markdown(lines[:SAMPLE])), schema, folded, long)
                continue
        except IrregularError:
            pass
        # what a notebook shows is of what it says
        trained = _document(region, headed(in_markdown(lines)), schema, folded, trained=trained)
    return folded


def _document(
    region: Region,
    lines: Sequence[Line],
    schema: Schema,
    folded: Folded,
    long: Sheet | None = None,
    *,
    trained: bool = False,
) -> bool:
    """Every table of some lines; of a long one the lines are its first ones. Returns whether they
    are about training, if `trained` does not say that what they are a part of is.

    Raises IrregularError where the rows of a long one have to be read one by one.
    """
    found = (
        [long.grid]
        if long
        else [names_in_one_column(grid, schema) for grid in grids(lines, region.source.name)]
    )
    bounds = [] if long else [(grid.begin, grid.end) for grid in found]
    place, at = Place(over=captions.numbered_over(lines, bounds)), 0
    tables, before = list[_Table](), dict[tuple[str, ...], Before]()
    labelled = set[tuple[str, ...]]()  # as tables of runs are
    often, spoken, serving = about_training(lines)
    called = "".join(named_for_training(grid, region.source.name, len(lines)) for grid in found)
    known = Known(
        legend(lines) | units_of_code(region.lines) if found else {},
        trained or often,
        factors(lines) if found else (),
        footnotes(lines) if found else {},
        no_room(lines) if found else frozenset(),
        signs_of_guesses(lines) if found else frozenset(),
        notes_below(lines) if found else {},
        spoken,
        mixed_format(line.text for line in lines) if found else "",
        serving,
        sizes_said(line.text for line in lines if len(line.text) <= LONGEST) if found else (),
        asked_allocator(region.lines) if found else (),
        called=called,
    )
    read_one = False
    for grid in found:
        passed = with_degrees(lines[at : grid.begin], known.legend)
        sheet_of_its_own = grid.syntax in ("csv", "tsv") and grid.end == len(lines)
        place.pass_over(
            list(map(uncommented, passed))
            if sheet_of_its_own
            else without_signs(passed, region.source.name)
        )
        since = lines[min(at, len(lines) - 1)].number if at else 0  # one may lie in another
        at = max(at, grid.end)
        if not read_one:
            known = known._replace(whose=(*known.whose, *of_all_below(passed)))
        of_runs_too = known._replace(
            trained=known.trained or grid.header() in labelled,
            legend={**explained_times(lines, grid, found[0].begin), **known.legend},
        )
        table = _Table(
            region, lines, grid, schema, place, of_runs_too, long, since=since, before=before
        )
        table.read(folded)
        if table.records and not read_one:  # what its own section says holds there alone
            read_one, own = True, "\n".join(text for each in place.around[1:] for text in each[1])
            known = known._replace(whose=[text for text in known.whose if text not in own])
        if table.records and len(grid.header()) >= TELLING:
            labelled.add(grid.header())
        if not table.records and (kinds := hardware_of(grid)):
            known = known._replace(hardware=(*known.hardware, (outermost(place.titles), kinds)))
        if table.records:
            said = [line for line in place.near if heard_in(line.text).phrases]
            said = said or [line for line in place.declared() if heard_in(line.text).phrases]
            told = Before(place.heading, said)
            before |= {_in_any_format(grid.header()): told} if said else {}
            before[_around(place.titles)] = Before(
                place.heading,
                [line for line in (*place.near, *table.caption) if _measured_in(line)],
            )
        tables.append(table)
    _configure(tables, region.source.name, schema, folded, known.legend)
    read = [table for table in tables if table.records]
    begins = [table.grid.begin for table in read]
    name = region.source.name
    settings = [
        Stated([], [], []) if table.records else stated(table.grid, schema, name)
        for table in tables
    ]  # fmt: skip
    _without_idle_nodes(settings, read)
    set_ups = SetUps(
        (table.titles, bool(table.records), {n: c.text for v in each.plain for n, c in v.items()})
        for table, each in zip(tables, settings, strict=True)
    )
    for table, each in zip(tables, settings, strict=True):
        if not table.records:
            at = bisect_right(begins, table.grid.begin)
            after = read[at] if at < len(read) else None
            _state(each, set_ups.spoken_for(table.titles), after, folded)
            if is_of_set_up(table.titles) or len(each.plain) > 1:
                section = tuple(line.number for line in set_ups.spoken_for(table.titles))
                folded.pairs += [(line, section) for line in each.in_words]
    met = [table for table in tables if table.records or table.grid.remark != "alone"]
    folded.tables += [table.note() for table in met]
    return known.trained


def _configure(
    tables: Sequence[_Table],
    source: str,
    schema: Schema,
    folded: Folded,
    legend: Mapping[str, str],
) -> None:
    """Give rows what a table of configurations says of them by their names."""
    measured = [(table.records, table.about) for table in tables if table.records]
    bare = [table for table in tables if measured and not table.records]
    found = [keyed(source, table.grid, turned_grid(table.grid), schema, legend) for table in bare]
    for table, held, used in zip(bare, found, configured(measured, found), strict=True):
        if held and used:
            folded.claimed.update(used)
            table.filled, table.read_rows = set(held.columns), len(held.rows)
    rest = [table for table in bare if not table.filled]
    others = [
        joined(source, table.grid, turned_grid(table.grid), schema, legend, table.about)
        for table in rest
    ]
    for table, other, used in zip(rest, others, join(measured, others), strict=True):
        if other and used:
            folded.claimed.update(used)
            table.filled, table.read_rows = set(other.columns), len(other.rows)
    own = models_of([records for records, _ in measured])
    folded.claimed.update(*configured(measured, [own]))
    every = models_of([records for records, _ in measured], by_size=True)
    folded.models, folded.machines = shapes_of([*found, every]), machines_of(found)
    for held, records, title in runs_like(measured, schema):
        folded.claimed.update(held.configure(records, title))


def _state(told: Stated, titles: Sequence[Line], below: _Table | None, folded: Folded) -> None:
    """Statements of a table of labels and values, for the rows under `titles`; what it says under a
    condition is of the rows of the first table below it."""
    section = tuple(line.number for line in titles)
    for values in told.plain:
        cell = next(iter(values.values()))
        folded.statements.append(Statement(cell.line, section, values))
    for record in below.records if told.given and below else ():
        for condition, values in told.given:
            held = {name: record.cells[name].text for name in condition if name in record.cells}
            if held == condition:
                for name, cell in values.items():
                    record.cells.setdefault(name, cell)
                    folded.claimed.add(cell.line)


def _without_idle_nodes(settings: Sequence[Stated], read: Sequence[_Table]) -> None:
    """Leave out how many nodes a machine has, in a document whose rows print several counts of
    them, each less than that: no run is said to have had them all."""
    printed = {
        float(record.cells["nodes"].text)
        for table in read for record in table.records
        if "nodes" in record.cells and record.cells["nodes"].text.isdecimal()
    }  # fmt: skip
    for values in (values for told in settings for values in told.plain if len(printed) > 1):
        nodes = values.get("nodes")
        if nodes and nodes.text.isdecimal() and float(nodes.text) > max(printed):
            del values["nodes"]
    for told in settings:
        told.plain[:] = [values for values in told.plain if values]


OF_THE_MIX = "the document says in which format it mixes precisions"


class Before(NamedTuple):
    """The heading of a table that was read, and the lines about it that say what it measures."""

    heading: str
    said: Sequence[Line]


_SAME_AS_THERE = re.compile(
    r"\W*(?:(?:the )?same (?:settings?|set-?up|conditions|measurements?|quantity|again)|as above"
    r"|同上|(?:设置|条件)同上|(?:条件|設定)は同じ|gleiche (?:Einstellungen|Bedingungen))",
    re.IGNORECASE,
)
"""How a line above a table begins that was measured as the one before it."""


def _measured_in(line: Line) -> bool:
    """Whether a line names a quantity in which a table may measure."""
    heard = heard_in(line.text)
    return bool(heard.phrases or heard.of_memory)


def _around(titles: Sequence[Line]) -> tuple[str, ...]:
    """The headings around that of a table, by their places."""
    return tuple(str(title.number) for title in titles[:-1])


def _in_any_format(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels without the number formats that they name: one table of `TF32`, the next of `FP32`."""
    return tuple(_A_FORMAT.sub("", label) for label in labels)


_A_FORMAT = re.compile(rf"\b{NUMBER_FORMAT}\b")

TELLING = 3
"""Labels that tell a table with the same ones to be of the same things; fewer are anybody's."""


class Known(NamedTuple):
    """Sayings of a whole document about its tables: abbreviations, whether it is about training."""

    legend: Mapping[str, str]
    trained: bool
    factors: tuple[str, ...] = ()  # of products in cells: `d x m x p`
    notes: Mapping[str, str] = {}
    no_room: Set[str] = frozenset()  # signs of rows that were out of memory
    guessed: Set[str] = frozenset()  # signs of rows that were not measured
    noted: Mapping[str, Sequence[Note]] = {}  # footnotes by the signs of rows
    spoken: bool = False  # of training, and not more of serving
    mixed: str = ""  # the format of its runs in mixed precision
    serving: bool = False  # whether it is about that
    sizes: Sequence[str] = ()  # texts that say what its memories are
    allocator: Sequence[str] = ()  # what its code asks the allocator of a device
    whose: Sequence[str] = ()  # texts above its tables of runs that say whose all their rates are
    hardware: Sequence[tuple[int, Mapping[str, str]]] = ()  # devices by their kinds, by headings
    called: str = ""  # a file of nothing but a table, for training


def outermost(titles: Sequence[Line]) -> int:
    """The line of the outermost heading of some; 0 where there is none."""
    return titles[0].number if titles else 0


class _Table:
    """One grid on its way to records."""

    def __init__(
        self,
        region: Region,
        lines: Sequence[Line],
        grid: Grid,
        schema: Schema,
        place: Place,
        known: Known,
        long: Sheet | None = None,
        *,
        since: int = 0,
        before: Mapping[tuple[str, ...], Before] = {},
    ) -> None:
        self.region, self.lines, self.grid, self.place = region, lines, grid, place
        self.long, self.since, self.signs = long, since, known.guessed
        self._notes = {} if long else known.noted
        if long and known.noted and may_be_noted(long.cells):
            raise IrregularError
        self.titles, self.factors, self.group = place.titles, known.factors, ""
        self._over = lines[grid.begin]  # the row that says `group`
        self._of_training = known.trained or self._trained
        self._mixed, self._hardware = known.mixed, known.hardware
        head = lines[grid.begin]
        opening = grid.caption.rstrip(" .:") + ":"  # a caption opens its table
        said = with_degrees([head._replace(text=opening)], known.legend)
        self.caption = [*said] if grid.caption else self._caption_below()
        near = (*place.titles[-1:], *self._near(since), *self.caption)
        self.about = " ".join(line.text for line in near if len(line.text) <= LONGEST)
        self._pointed = [] if long else list(self._notes_of_all(near))
        told_below = [] if long else [*(note.line for note in self._pointed), *self._said_below()]
        above = (*told_below, *self._as_before(before, near), *near)
        if long and names_metrics(grid):
            raise IrregularError
        grid = without_said_formats(
            with_settings_apart(
                with_metrics_apart(runs_in_long_form(unpivoted(grid, schema), schema), schema),
                schema,
            ),
            schema,
            [*(line.text for line in place.titles[-1:]), grid.caption],
        )
        labelled = annotated(
            with_rates_in_short(carried(with_dittos(grid, schema), schema)),
            schema,
            known.legend,
            known.notes,
        )
        labelled = with_scopes(
            labelled,
            schema,
            lambda: [
                *known.whose,
                *place.texts(),
                place.heading,
                grid.caption,
                *(line.text for line in told_below),
                *([] if long else self._explained_below()),
            ],
            lambda: [line.text for line in (*place.near, *told_below)],
        )
        labelled = with_batch_scopes(
            with_models(
                with_switches(
                    with_added(
                        with_letters(
                            with_first_of_two(
                                with_lengths(
                                    with_tokens_of_shapes(
                                        with_degrees_in_words(with_one_device(labelled))
                                    )
                                )
                            )
                        )
                    ),
                    lambda: [*place.texts(), *(line.text for line in (*place.near, *told_below))],
                    lambda: [place.heading, *(line.text for line in self.caption)],
                )
            ),
            schema,
            lambda: [
                *(line.text for line in (*place.near, *told_below)),
                *place.texts(),
                grid.caption,
                *([] if long else self._explained_below()),
            ],
            known.legend,
        )
        labelled = with_outcomes(
            with_memory_in_remarks(
                with_partitions(
                    with_variants(
                        with_check_marks(with_units_in_english(labelled, schema), schema),
                        [line.text for line in place.titles],
                    ),
                    lambda: [*place.texts(), *(line.text for line in place.near)],
                ),
                lambda: [line.text for line in place.near],
            ),
            schema,
            known.no_room,
        )
        explained_near = cache(lambda: [*place.texts(), *self._explained_below()])
        labelled = with_memory_units(labelled, schema, explained_near)
        labelled = with_memory_units(labelled, schema, lambda: known.sizes)
        labelled = with_reserved(labelled, schema, explained_near)
        labelled = with_bare_sizes(
            labelled,
            schema,
            lambda: [
                *(line.text for line in (*place.titles, *place.near)),
                *known.allocator,
                *known.sizes,
            ],
        )
        self.beside_estimates = estimates_beside(
            labelled, lambda: [*(line.text for line in place.titles), *place.texts()]
        )
        labelled = with_measured_memory(labelled) if self.beside_estimates else labelled
        labelled = with_rate_units(
            with_rates_of_things(labelled), lambda: [line.text for line in place.near]
        )
        labelled = with_bare_rates(
            with_batches_of_tokens(with_rate_units(labelled, place.texts), place.texts)
        )
        self.view, self.ours, self.capped = View(labelled, ()), False, ""
        hardware = not self._of_the_model() and (
            OF_HARDWARE in known.legend or self._of_hardware(explained_near)
        )
        of_labels = self._notes_of_labels(grid)
        for each in chain(
            views(labelled, schema, above, known.legend, place.declared(), of_labels),
            in_unit_of_page(labelled, schema, place.measured(), place.heading),
        ):
            if each.beyond:
                self.capped = each.beyond
                break
            view = doubtless(_of_training(each), schema, hardware=hardware)
            self.view = self.view if self.view.groups else view
            if self._holds(view, known):
                self.view, self.ours = view, True
                break
        self.filled: set[str] = set()  # labels of columns that filled a field of some row
        self.read_rows = 0
        self._known: dict[int, dict[str, _Held]] = {}  # of each column: texts and what they are
        self.records: list[Record] = []
        self.emptied: list[Diagnostic] = []  # cells of rows that stand without them

    def _holds(self, view: View, known: Known) -> bool:
        """Whether the rows of a grid, looked at so, are runs."""
        corner = view.columns()[0].label if view.turned and view.columns() else ""
        if _ASIDE.search(corner) or (view.turned and self._cut()) or self._guessed:
            return False
        labels, names = (
            self.grid.header(),
            [row.cells[0].text for row in self.grid.rows if row.cells],
        )
        if described(labels) or described(names) or any(each.endswith(BOUNDS) for each in labels):
            return False
        groups = [group for group in view.groups if measures(group.present())]
        if made_ready(self.place.heading):
            groups = [group for group in groups if _configured(group)]
        return any(
            of_runs(
                group.present(),
                self.place.heading or known.called,
                document=known.trained or self._trained,
                spoken=known.spoken and not self._served,
                told=partial(_told, group, view),
                several=lambda: self._several,
                rated_near=lambda: names_rate(self.place.near),
                stepped=lambda: names_batch(self.place.near),
                serving=known.serving,
            )
            for group in groups
        )

    def _near(self, since: int) -> list[Line]:
        """The lines above the table, below its heading; none of those above the table before it, at
        line `since`, where what stands between them is of more than how its runs ran."""
        near = [*self.place.near]
        between = [line for line in near if line.number >= since]
        own = any(not of_set_up_alone(line) for line in between if line.text.strip())
        return between if own else near

    def _as_before(
        self, before: Mapping[tuple[str, ...], Before], near: Sequence[Line]
    ) -> Sequence[Line]:
        """Lines about a table with the same labels before this one, `before`, where all that
        stands above this one is with what it ran: `## FP8`, `Same models on two nodes`, or its
        heading is that of the other but for a name: `## Box B` behind `## Box A`. The same of a
        table that is set up as the one before it in the section around both."""
        if any(_SAME_AS_THERE.match(line.text) for line in near):
            there = before.get(_around(self.place.titles))
            return there.said if there and not any(map(_measured_in, near)) else ()
        told = before.get(_in_any_format(self.grid.header()))
        said = [line for line in near if line.text.strip()] if told else []
        if told and said and beside(told.heading, self.place.heading):
            said = [line for line in said if line.text != self.place.heading]
        return told.said if told and all(map(of_set_up_alone, said)) and near else ()

    def _notes_of_all(self, near: Sequence[Line]) -> Iterator[Note]:
        """The footnotes that the heading of the table, or the line that opens it, points to."""
        last = next((line for line in reversed(near) if line.text.strip()), None)
        over = {line.number: unspoken(line.text) for line in (*near[:1], last) if line is not None}
        found = noted(over.values(), self._notes, self._last.number)
        yield from (note for note in found if note.kind != WITHIN)  # which explains a sign of rows

    def _notes_of_labels(self, grid: Grid) -> dict[str, str]:
        """Notes of the labels that point to them."""
        return {
            without_sign(label): " ".join(note.line.text for note in notes)
            for label in (grid.header() if self._notes else ())
            if (notes := list(noted([label], self._notes, self._last.number)))
        }

    def _said_below(self) -> list[Line]:
        """The sentences right below the table that say of all its numbers in what they are, where
        no other table follows them: `Numbers are TFLOPS per GPU.`"""
        below = [
            line for line in self.lines[self.grid.end : self.grid.end + 6] if line.text.strip()
        ]
        below = [line for line in below if not line.text.lstrip().startswith(("```", "~~~"))]
        if not below or _MAY_OPEN.search(below[0].text) or len(below[0].text) > LONGEST:
            return []
        if len(below) > 1 and _OPENS_GRID.match(below[1].text):
            return []
        if unit := _UNIT_IN_BRACKETS.fullmatch(below[0].text):
            return [below[0]._replace(text=f"{unit[1]}:")]  # as if it opened the table
        sentences = SENTENCE_END.split(below[0].text)
        return [below[0]._replace(text=text) for text in sentences if _OF_ALL_NUMBERS.match(text)]

    def _caption_below(self) -> list[Line]:
        """The numbered caption right below the table, as the line that opens it: in a document
        whose captions stand so, or with no table below it and none over this one."""
        if self.long:
            return []
        below = [
            line for line in self.lines[self.grid.end : self.grid.end + 6] if line.text.strip()
        ]
        line = below[0] if below else None
        if line is None or not captions.numbered(line) or len(line.text) > LONGEST:
            return []
        over = next((x for x in reversed(self.place.near) if x.text.strip()), None)
        titled = over is not None and captions.numbered(over) and over.number >= self.since
        of_next = len(below) > 1 and _OPENS_GRID.match(below[1].text) is not None
        if self.place.over and (titled or of_next):
            return []
        return [line._replace(text=line.text.rstrip(" *_.:") + ":")]

    def _explained_below(self) -> list[str]:
        """The line right below the table where it is a note, or in brackets: `(Mem in GiB.)`; or
        begins with the label of a column: ```batch_size`` is per GPU.``"""
        for line in self.lines[self.grid.end : self.grid.end + 4]:
            if line.text.strip() and not line.text.lstrip().startswith(("```", "~~~")):
                about = _A_NOTE.match(line.text) or self._begins_with_label(line.text)
                return [line.text] if about else []
        return []

    def _begins_with_label(self, text: str) -> bool:
        """Whether a line says what a column of the table is, by its label."""
        said = _LABEL_IS.match(text) if len(text) <= LONGEST else None
        labels = {plain(label).casefold() for label in self.grid.header()} if said else set()
        return said is not None and said[1].casefold() in labels

    def _of_hardware(self, near: Callable[[], Sequence[str]]) -> bool:
        """Whether the text around the table, or a note that a label of it points to, says that its
        rates of operations count what is computed again."""
        labels = [text for text in self.grid.header() if "FLOP" in text.upper()]
        if not labels:
            return False
        notes = noted(labels, self._notes, self._last.number)
        return any(of_hardware(f"FLOPS: {note.line.text}") for note in notes) or any(
            map(of_hardware, near())
        )

    def _of_the_model(self) -> bool:
        """Whether a note that a label of a rate of operations points to says that these are the
        model's, whatever the text says of others."""
        labels = [text for text in self.grid.header() if "FLOP" in text.upper()]
        notes = noted(labels, self._notes, self._last.number) if labels else ()
        return any(_MODEL_OPERATIONS.match(note.line.text) for note in notes)

    @cached_property
    def _guessed(self) -> bool:
        """Whether what stands above the table says that its rows are estimates, or no training."""
        return guessed_above(
            self.place.heading,
            self.titles,
            [line for line in self.place.near if line.number >= self.since],
            beside_estimates=self.beside_estimates,
        )

    @cached_property
    def _served(self) -> bool:
        return served_here([*self.place.titles, *self.place.near])

    @cached_property
    def _trained(self) -> bool:
        """Whether the text above the table speaks of training, or the note right below it."""
        above = [*self.place.titles, *self.place.near]
        return trained_here(above) or (not served_here(above) and trained_here(self._note_below))

    @cached_property
    def _note_below(self) -> Sequence[Line]:
        """The paragraph right below the table, unless it opens another one."""
        if self.long:
            return []
        below = self.lines[self.grid.end : self.grid.end + MOST_OF_A_NOTE]
        rest = list(dropwhile(lambda line: not line.text.strip(), below))
        note = list(takewhile(lambda line: bool(line.text.strip()), rest))
        behind = rest[len(note) : len(note) + 2]
        opens = any(_OPENS_GRID.match(line.text) for line in (*note, *behind))
        return [] if opens or any(_MAY_OPEN.search(line.text) for line in note) else note

    @cached_property
    def _several(self) -> bool:
        lines = (*self.place.titles[-1:], *self.place.near)
        return any(many_devices(line.text) for line in lines)

    @cached_property
    def _sides(self) -> dict[str, str]:
        found = explained([*self.place.titles[-1:], *self.place.near])
        here = [told for at, told in self._hardware if at == outermost(self.titles)]
        for kind in {kind for told in here for kind in told} - found.keys():
            devices_of_it = {told[kind] for told in here if kind in told}
            if len(devices_of_it) == 1:
                found |= dict.fromkeys((kind,), *devices_of_it)
        return found

    @cached_property
    def _listed(self) -> dict[str, str]:
        """Devices of the machines that a list around the table names."""
        return {} if self.long else listed_machines(self.place.texts())

    def _machine_of(self, record: Record) -> Cell | None:
        """The device of the one machine of the document that a cell of a row names."""
        named = {
            self._listed[plain(text)] for _, text in record.other if plain(text) in self._listed
        }
        if len(named) != 1:
            return None
        return Cell(named.pop(), record.line, record.column, value_origin="stated")

    def _cut(self) -> bool:
        return any(
            self.region.source.cut(line.number)
            for line in self.lines[self.grid.begin : self.grid.end]
        )

    def read(self, folded: Folded) -> None:
        """Put the rows into `folded`, unless none of them holds a measured number after all."""
        if not self.ours:
            if self.capped:
                folded.remarks.append(self._capped())
            if self.long and self.grid.width <= MOST_PLAIN:  # its rows may say something else
                raise IrregularError
            return
        held, columns, place = Folded(), self.view.columns(), self.place
        if self.long:
            # rows that are read one by one tell whose a number is, and in which unit
            asked = (bare_times, unitless_times, unitless_memory, in_short)
            if any(ask(columns) for ask in asked):
                raise IrregularError
            self._ways(self.long, held)
        else:
            for row in self.view.grid.rows:
                self._row(row, held)
            name_rows(held.records, columns)
            in_bytes(held.records, columns)
        _spare(held)
        others = [len(record.other) for record in held.records]
        self.filled -= capacities(held.records, columns)
        if not measured(held.records, len(held.refused), columns, ranges=self._of_training):
            return
        if not self.long and of_datasheets(held.records, self._measures):
            return
        self._bind(self._said_of_all(held), held)
        whose_batches(held.records)
        parts_of_steps(held.records, columns)
        self.filled.update(replica_batches(held.records, columns))
        scales(held.records, columns)
        devices_of_nodes(held.records, columns)
        amounts_again(held.records)
        above = Above(
            place.devices, place.names, lambda: of_the_job([line.text for line in place.near])
        )
        rates(held.records, columns, above)
        of_processes(held.records, columns)
        of_whom(held.records, columns, above)
        memory_of_whom(held.records, columns)
        of_each(held.records, columns)
        unnamed(held.records, lambda: named_rate([*place.titles[-1:], *place.near]))
        self.filled.update(times_of_steps(held.records, columns))
        unsaid_units(held.records, columns)
        as_printed(held.records, columns)
        whole_numbers(held.records, columns)
        if self.long and others != [len(record.other) for record in held.records]:
            raise IrregularError
        self.read_rows = len({place for record in held.records for place in record.places()})
        self.records = held.records
        folded.records += held.records
        folded.refused += held.refused
        folded.remarks += [*held.remarks, *self.emptied]
        folded.blank |= held.blank | {*self.view.grid.fillers}
        folded.claimed |= self._claimed(held)
        folded.shared |= held.shared

    def _said_of_all(self, held: Folded) -> dict[str, Cell]:
        """Settings of all rows, as headings, captions and the note below the table say them."""
        said = self.place.above.said(self.place.titles)
        for line in self.caption:
            said |= captions.told(line)
        if captions.FIELD not in said and not any(captions.FIELD in r.cells for r in held.records):
            said |= captions.trained_below(self._note_below)
        return said

    @cached_property
    def _foot(self) -> Sequence[Line]:
        """Words below the rows of the table, inside it, that are of all of it; no notes."""
        found = [] if self.long else footer(self.lines[self.grid.begin : self.grid.end])
        return [line for line in found if not line.text.lstrip().startswith("<sup")]

    def _capped(self) -> Diagnostic:
        """Says that a table is not read."""
        head = self.lines[self.grid.begin]
        span = Span(self.region.source.name, head.number, head.column)
        return Diagnostic(span, Code.CAPPED, f"not read: {self.capped}", head.text[:LONGEST])

    def _claimed(self, held: Folded) -> set[int]:
        """Lines of the header and of the rows that were read, tags and rules among them."""
        grid = self.view.grid
        rows = {line for record in held.records for line, _ in record.places()}
        noted = {note.number for record in held.records for note, _ in record.noted}
        parts = {n.line.number for notes in self._notes.values() for n in notes if n.kind == WITHIN}
        rows |= noted - held.blank - parts
        lost = {fault.span.line for fault in held.refused} | (held.blank - rows)
        if grid.syntax in (*MARKED_UP, "text") or self.view.turned:
            here = {line.number for line in self.lines[grid.begin : grid.end]}
            return (here | rows | held.claimed) - lost
        rule = {self.lines[grid.begin + 1].number} if grid.syntax == "markdown" else set()
        heads = {row.line.number for row in grid.heads}
        return rule | heads | rows | held.claimed

    def _ways(self, long: Sheet, held: Folded) -> None:
        """Put the rows of a long table into `held`, those that are written alike together.

        Raises IrregularError where they have to be read one by one.
        """
        view = self.view
        (group,) = view.groups if len(view.groups) == 1 else (None,)
        if view.turned or view.melted or group is None or group.at is not None:
            raise IrregularError
        switched = bool(self._format_columns or self._flash_columns)
        if view.grid.rows != long.grid.rows or switched:
            raise IrregularError  # what a column of formats says depends on all of its cells

        def read(row: GridRow) -> Record | Diagnostic | None:
            apart = row.blank or _title(row, group.width) or _sums_up(row, view)
            found = None if apart else self._record(row, group)
            if self.emptied:  # of this row alone
                self.emptied, found = [], None
            return None if isinstance(found, Record) and self._aside(found) else found

        found = ways(long, group.present(), read, self.factors)
        held.records += found.records
        for row in sorted(found.others, key=lambda row: row.line.number):
            self._row(row, held)
            if self.group:  # what it says is of the rows below it
                raise IrregularError

    def _row(self, row: GridRow, held: Folded) -> None:
        grid, line, source = self.view.grid, row.line, self.region.source
        width = self.view.groups[0].width
        if self.view.turned and row.cells and spread(row.cells[0].text):
            return
        if row.blank or row.one or _title(row, width) or _sums_up(row, self.view):
            held.blank.add(line.number)
            self.group = " ".join(
                cell.text for cell in row.cells if not NOTHING.fullmatch(cell.text)
            )
            self._over = line._replace(text=plain(self.group))
        elif len(row.cells) != width and (grid.exact or len(row.cells) > width):
            message = f"{len(row.cells)} cells, the header has {width}"
            span = Span(source.name, line.number, line.column)
            held.refused.append(Diagnostic(span, Code.CELL_COUNT, message, line.text))
        elif grid.closed and source.cut(line.number) and not line.text.rstrip().endswith("|"):
            message = "the input ends inside this row, expected '|'"
            span = Span(source.name, line.number, line.column + len(line.text))
            held.refused.append(Diagnostic(span, Code.TRUNCATED, message, line.text))
        elif self.signs and signed_so([cell.text for cell in row.cells], self.signs):
            return  # not measured, as a note says
        else:
            groups = [
                group for group in self.view.groups if not _of_a_guess(row, group, self.signs)
            ]
            found = [self._record(row, group) for group in groups]
            held.refused += [each for each in found if isinstance(each, Diagnostic)]
            held.records += [
                each for each in found
                if isinstance(each, Record) and self._says(each) and not self._aside(each)
            ]  # fmt: skip

    def _aside(self, record: Record) -> bool:
        """Whether a row, or the title among the rows above it, says that nothing was trained."""
        titled = bool(self.group and titled_otherwise(self.group))
        return titled or of_no_training(record) or foreseen(record, self._measures)

    def _says(self, record: Record) -> bool:
        """Whether a row that was a column, or a cell or a side of one, has a measured number: a
        column of changes has none, and a dash in a table of two axes, or of sides, is of nothing
        that ran; but a side may have failed."""
        sides = len(self.view.groups) > 1
        if not self.view.turned and not self.view.melted:
            held = [record.cells[name] for name in self._measures & record.cells.keys()]
            return not (sides and held) or may_have_failed(record) or not all(map(_dashed, held))
        measures = self._measures
        states: Sequence[str] = ("value", "unknown", "outcome")
        states = ("value",) if self.view.turned else states
        if self.view.turned and sides:
            states = ("value", "outcome")
        return any(n in measures and c.state in states for n, c in record.cells.items())

    @cached_property
    def _format_columns(self) -> Mapping[str, str]:
        """Labels of columns that switch a number format on."""
        return format_columns(self.view.places.items(), self._texts_of_rows)

    @cached_property
    def _flash_columns(self) -> Set[str]:
        """Labels of columns that switch fused attention on or off."""
        return flash_columns(self.view.places.items(), self._texts_of_rows)

    @cached_property
    def _texts_of_rows(self) -> Sequence[Sequence[str]]:
        """The cells of all rows but those that are titles."""
        rows = self.view.grid.rows
        return [[cell.text for cell in row.cells] for row in rows if not row.one and not row.blank]

    @cached_property
    def _measures(self) -> set[str]:
        """Fields that a row may hold a measured number in."""
        columns = self.view.columns()
        own = {c.spec.name for c in columns if c.spec and c.spec.quantity}
        return own | {"outcome", *RATES_OF_CELLS}

    def _record(self, row: GridRow, group: Group) -> Record | Diagnostic | None:
        """One observation of a row; None where its group has nothing in this row."""
        line = row.line
        record = Record(line.number, {}, line.column, prefix=line.prefix, tabled=True)
        if group.at is not None:
            if group.at >= len(row.cells) or not row.cells[group.at].text:
                return None
            record.line, record.column = row.cells[group.at].line, row.cells[group.at].column
        faults = self._fill(record, row, group)
        if fault := next((each for each, costly in faults if costly), None):
            return fault
        if faults and not measured([record], 0, ()):
            return faults[0][0]
        self.emptied += [fault.of_a_cell() for fault, _ in faults]
        if self.view.turned and (first := self._first_measured(record, group)):
            record.line, record.column = first.line, first.column
        if self.view.turned:
            self._of_its_name(record, row.cells[0], group)
        if group.label:
            self._of_its_side(record, group)
        model = model_named(self.group) if self.group and "model" not in record.cells else None
        if model:
            record.cells["model"] = Cell(model, line.number, line.column, value_origin="stated")
        elif "model" not in record.cells and (named := self._of_family(record)):
            record.cells["model"] = named
            record.cells |= self._size_below if named is self._sized_below else {}
        under_its_family(record)
        self._on_its_device(record)
        record.mark = "commented" if self.grid.remark == "commented" else record.mark
        if not self.long:
            switch_format(record, self._format_columns)
            switch_flash(record, self._flash_columns)
            _in_its_format(record)
        _of_its_own(record, group)
        outcome_and_date(record, self._measures)
        captions.mark(record)
        record.noted = self._noted(row, group)
        outcome_of_note(record, self._measures)
        return record

    def _of_its_name(self, record: Record, name: GridCell, group: Group) -> None:
        """Fill a record that was a column with the devices that its label counts: `Throughput on
        128x H100 GPUs`."""
        first = group.placed[0][1]
        if first.spec is not None or first.degrees or "gpus" in record.cells:
            return
        if (count := counted_devices(plain(name.text))) and devices(name.text):
            record.cells["gpus"] = Cell(count, name.line, name.column, value_origin="stated")
            if "gpu" not in record.cells and (device := only(name.text)):
                told = Cell(device.text, name.line, name.column, value_origin="stated")
                record.cells["gpu"] = told

    @cached_property
    def _corner_counts(self) -> Mapping[str, Cell]:
        """The device of all rows, how many, and the format, where the label over their names says
        two things of them: `22B, A100-80G`, `overrides (TPU v5p, 8 chips)`."""
        heads = self.view.grid.heads
        if self.view.turned or self.view.melted or not (heads and heads[-1].cells):
            return {}
        cell, first = heads[-1].cells[0], next(iter(self.view.columns()), None)
        label = plain(cell.text)
        if first is None or first.spec is not None or len(label) > LONGEST:
            return {}
        behind = _BEHIND_LABEL.search(label)
        rest = called(behind[1], alone=True) if behind else {}
        told = called(label) or (rest if "gpu" in rest else {})
        return {
            name: Cell(text, cell.line, cell.column, value_origin="stated")
            for name, text in told.items() if name in ("gpu", "gpus", "nodes", "dtype")
        }  # fmt: skip

    @cached_property
    def _measured_on(self) -> Mapping[str, Cell]:
        """How many devices all rows ran on, where the labels of what was measured say one count
        between them: `tokens/s (8 GPUs)`."""
        heads = self.view.grid.heads
        if self.view.turned or self.view.melted or not heads:
            return {}
        told = {count: cell for cell in heads[-1].cells if (count := counted(plain(cell.text)))}
        if len(told) != 1:
            return {}
        ((count, cell),) = told.items()
        return {"gpus": Cell(count, cell.line, cell.column, value_origin="stated")}

    def _on_its_device(self, record: Record) -> None:
        """Put the device that a row means in the place of its kind, or of the name of a machine."""
        for name, cell in {**self._measured_on, **self._corner_counts}.items():
            if is_silent(record, name):
                record.cells[name] = cell
        if (gpu := record.cells.get("gpu")) and (device := self._sides.get(one_of(gpu.text))):
            record.cells["gpu"] = gpu._replace(text=device, value_origin="stated")
        elif gpu and one_of(gpu.text) in _KINDS:
            record.cells["gpu"] = gpu._replace(state="unknown")
        elif gpu is None and (machine := self._machine_of(record)):
            record.cells["gpu"] = machine
        elif self._counted is not None and gpu is None and {"gpus", "nodes"} & record.cells.keys():
            record.cells["gpu"] = self._counted

    def _noted(self, row: GridRow, group: Group) -> Sequence[tuple[Line, bool]]:
        """The footnotes that signs in a row point to, the title in a row over it, and the words
        that its table ends with; and whether each is surely of all of it."""
        over = [(self._over, True)] if self.group and len(self.group) <= LONGEST else []
        over += [(line, True) for line in self._foot]
        if not self._notes:
            return over
        view = self.view
        over += [(note.line, True) for note in self._pointed]
        own = group.at is None and not view.melted
        texts = [(row.cells[at].text, own or at not in group.own)
                 for at, _ in group.placed if at < len(row.cells)]  # fmt: skip
        if self.grid.syntax == "latex" and own:
            lines = {cell.line for cell in row.cells} & self._texts.keys()
            texts += [(raised(self._texts[number]), True) for number in lines]
        if self.grid.syntax == "html":  # whose cells have no signs any more
            numbers = {cell.line for cell in row.cells} & self._texts.keys()
            apart = [] if own or len(numbers) > 1 else _CELL_OF.split(self._texts[row.line.number])
            if own:
                texts += [(self._texts[n], True) for n in numbers]
            elif len(apart) == len(row.cells) + 1:
                placed = [at for at, _ in group.placed]
                texts += [(apart[at + 1], at not in group.own) for at in placed]
        end = self._last.number
        found = [
            (note.line, of_row and not view.turned and _own_note(note, end))
            for text, of_row in texts
            for note in noted([text], self._notes, end)
        ]
        return found + over

    @cached_property
    def _texts(self) -> Mapping[int, str]:
        """The lines of the table by their numbers."""
        return {line.number: line.text for line in self.lines[self.grid.begin : self.grid.end]}

    @cached_property
    def _counted(self) -> Cell | None:
        """The device whose number a column holds, as its label says: `H100 GPUs`."""
        heads = self.view.grid.heads
        for column in self.view.columns() if heads else ():
            if column.spec is not None and column.spec.name in ("gpus", "nodes"):
                device, head = only(column.label), heads[-1]
                return device and Cell(
                    device.text, head.line.number, head.line.column, value_origin="stated"
                )
        return None

    def _of_its_side(self, record: Record, group: Group) -> None:
        """Fill a record with what the label of its group says."""
        head = self.view.grid.heads[-1].cells[group.at or 0]
        record.other.append(("column", group.label))
        named, behind = set_behind(group.label)
        undivided = {name for name, text in (group.said or {}).items() if text == "1"} & _DEGREES
        # `without CP` beside `CP | with CP`
        record.cells = {name: c for name, c in record.cells.items() if name not in undivided}
        for name, told in _of_slices(group.label, head).items():
            record.cells.setdefault(name, told)
        for name, text in {**behind, **(group.said or {})}.items():
            unsaid = Cell(group.label, head.line, head.column, state="unknown")
            told = worth(name, text, head.line, head.column, "stated") if text else unsaid
            record.cells.setdefault(name, told)
        if "gpu" not in record.cells and (device := self._sides.get(one_of(group.label))):
            record.cells["gpu"] = Cell(device, head.line, head.column, value_origin="stated")
        if "gpu" not in record.cells and (shown := devices(group.label)):
            one = only(group.label)  # it is of this one, whatever stands above says
            cell = Cell(group.label, head.line, head.column, value_origin="stated")
            record.cells["gpu"] = (
                cell._replace(text=one.text, column=head.column + shown[0].at)
                if one
                else cell._replace(state="unknown")
            )
        if "model" not in record.cells and (of_model := model_of_side(named)):
            record.cells["model"] = Cell(of_model, head.line, head.column, value_origin="stated")
        if "seq_len" not in record.cells and (length := length_named(group.label)):
            told = Cell(length, head.line, head.column, value_origin="stated")
            record.cells["seq_len"] = told
        for name, word in counts_in(plain(group.label)).items():  # `2 x 8 A100`
            said = Cell(word, head.line, head.column, value_origin="stated")
            record.cells.setdefault(name, said)
        if "gpus" not in record.cells and (count := counted_before_name(group.label)):
            record.cells["gpus"] = Cell(count, head.line, head.column, value_origin="stated")
        labels = self.view.grid.header()
        counts = {
            found[1] for at, column in group.placed
            if column.spec is not None and column.spec.quantity
            and (found := _ON_DEVICES.search(plain(labels[at])))
        }  # fmt: skip
        if len(counts) == 1 and "gpus" not in record.cells:
            record.cells["gpus"] = Cell(counts.pop(), head.line, head.column, value_origin="stated")
        dtype = record.cells.get("dtype")
        if dtype and names_mixed(group.label) and _FULL.fullmatch(dtype.text.strip()):
            dtype = dtype._replace(state="unknown")  # what the machine computes in without it
            record.cells["dtype"] = dtype
        if self._mixed and (dtype is None or dtype.state == "unknown") and names_mixed(group.label):
            record.cells["dtype"] = Cell(
                self._mixed, head.line, head.column, value_origin="stated", law=OF_THE_MIX,
            )  # fmt: skip
        elif "dtype" not in record.cells and names_format(group.label):
            kind = format_named(group.label)
            cell = Cell(kind or group.label, head.line, head.column, value_origin="stated")
            record.cells["dtype"] = cell if kind else cell._replace(state="unknown")

    def _fill(self, record: Record, row: GridRow, group: Group) -> list[tuple[Diagnostic, bool]]:
        """Fill a record with the cells of a row: their faults, and whether each costs the row."""
        faults, side = [], bool(group.label and devices(group.label))
        for place, column in _calculated_last(group.placed, row):
            cell = row.cells[place]
            known = self._known.setdefault(id(column), {})
            if cell.text in known:
                if held := known[cell.text]:
                    name, scale, kind, state = held
                    record.cells[name] = Cell(cell.text, cell.line, cell.column, scale, kind, state)
                continue
            numeric = column.spec is not None and column.spec.numeric
            if numeric and (is_guess(cell.text) or bracketed_guess(cell.text, self.signs)):
                continue
            if self._notes and (not numeric or devices(cell.text)):  # `8x V100*`
                cell = self._unmarked(cell)
            if side and column.spec is None and place not in group.own and devices(cell.text):
                record.other.append((column.label, cell.text))  # of one side, and not said which
                continue
            before, at = len(record.cells), Span(self.region.source.name, cell.line, cell.column)
            if fault := fill(record, column, cell, at, self.factors):
                costly = column.spec is None or not column.spec.optional
                faults.append((fault._replace(text=row.line.text), costly))
            if len(record.cells) > before:
                self.filled.add(column.label)
                _keep(known, column, cell.text, record)
        record.other += row.beside
        return faults

    def _unmarked(self, cell: GridCell) -> GridCell:
        """A cell without the signs of notes behind its name."""
        return cell._replace(text=without_marks(cell.text, self._notes, self._last.number))

    def _first_measured(self, record: Record, group: Group) -> Cell | None:
        """The first cell of a row that was a column with a measured number: there it stands."""
        names = [c.spec.name for _, c in group.placed if c.spec and c.spec.quantity]
        names += ["step_time", *RATES] if any(generic(c) for _, c in group.placed) else []
        return next((record.cells[name] for name in names if name in record.cells), None)

    @cached_property
    def _corner(self) -> Cell | None:
        """The model that the corner of the table names, as a cell."""
        found = None if self.view.turned or self.view.melted else model_in_corner(self.view.grid)
        if found is None:
            return None
        model, cell = found
        return Cell(model, cell.line, cell.column, value_origin="stated")

    def _of_family(self, record: Record) -> Cell | None:
        """The model that the corner of the table names; that of a row that prints its size, under a
        heading that names the family."""
        if self._corner:
            return self._corner
        size = record.cells.get("model_size")
        if size is None and "parameters" not in record.cells and self._sized_below:
            return self._sized_below
        if self._family is None or size is None or size.state != "value":
            return None
        family, line, column = self._family
        sign = next((sign for sign, scale in SUFFIXES.items() if scale == size.scale), "")
        return Cell(f"{family} {size.text}{sign}", line, column, value_origin="stated")

    @cached_property
    def _sized_below(self) -> Cell | None:
        """The model of a size that is all the heading names, below one that names its family."""
        *_, around, own = [None, None, *self.titles]
        size = size_of_heading(own.text) if own else None
        family = around and size and (family_named(around.text) or family_first(around.text))
        if not family or around is None:
            return None
        return Cell(f"{family} {size}", around.number, around.column, value_origin="stated")

    @cached_property
    def _size_below(self) -> dict[str, Cell]:
        """The size that is all the heading names."""
        own = self.titles[-1]
        size = size_of_heading(own.text) or ""
        at, scale = own.column + own.text.find(size), SUFFIXES[size[-1]]
        return {"model_size": Cell(size[:-1], own.number, at, scale, value_origin="stated")}

    @cached_property
    def _family(self) -> tuple[str, int, int] | None:
        """The family of models that a label names over their sizes, or the heading, and where."""
        for head in self.grid.heads[-1:]:
            for cell in head.cells:
                if family := family_of_sizes(plain(cell.text)):
                    return family, cell.line, cell.column
        for title in self.titles[-1:]:
            if family := family_named(title.text) or family_first(title.text):
                return family, title.number, title.column
        return None

    def _bind(self, said: Mapping[str, Cell], held: Folded) -> None:
        titles = {line.number for line in self.place.titles}
        last = captions.lead(self.place.near)
        opened = (last.number, last.text) if last and captions.stands_over(last) else None
        if opened is not None:
            apart = settled_nearer(said, dict([opened]))
            said = {name: cell for name, cell in said.items() if name not in apart}
        for record in held.records:
            record.opened = opened
            spoken = spoken_of_itself(record) if said else frozenset()
            for name, cell in of_its_devices(said, record.cells).items():
                if name in spoken or (name != "dtype" and self._of_another_size(record, cell.line)):
                    continue
                if is_silent(record, name) and not _sized(record, name):
                    record.cells[name] = cell
                    if cell.line not in titles:  # which say more than that, and of more than this
                        held.claimed.add(cell.line)
                        held.shared.add(cell.line)
        self._mix(held.records)

    def _mix(self, records: Sequence[Record]) -> None:
        """Give rows that say no format, nor their table's labels, the one in which the document
        mixes precisions, where a line right above them says that they ran in mixed precision."""
        near = (line for line in self.place.near if line.number >= self.since)
        line = next(filter(lambda each: all_mixed(each.text), near), None)
        if not self._mixed or line is None or any("dtype" in r.cells for r in records):
            return
        for record in records:
            record.cells["dtype"] = Cell(
                self._mixed, line.number, line.column, value_origin="stated", law=OF_THE_MIX
            )

    def _of_another_size(self, record: Record, number: int) -> bool:
        """Whether a line above names a model of another size than a row has."""
        text = next((line.text for line in self.place.near if line.number == number), "")
        return of_another_size(text, record.cells)

    def note(self) -> TableNote:
        """A note on the table: which of its columns filled a field, which did not."""
        grid = self.view.grid if self.read_rows else self.grid
        labels = [column.label for column in self.view.columns()] if self.read_rows else []
        labels = labels or [plain(text) for text in grid.header()]
        digits = self.long.with_digits if self.long else _with_digits(grid)
        shown = [plain(text) for text in grid.header()]
        taken = self.filled if self.read_rows else set()
        left = [
            label for label, said in zip(shown, digits, strict=True) if said and label not in taken
        ]
        left += self._beside() if self.read_rows else []
        return TableNote(
            self.lines[self.grid.begin].number,
            grid.syntax,
            tuple(shown),
            rows=self.long.rows_with_digits if self.long
            else sum(any(_DIGIT.search(cell.text) for cell in row.cells) for row in grid.rows),
            read=self.read_rows,
            understood=tuple(label for label in dict.fromkeys(labels) if label in taken),
            not_understood=tuple(left),
            last=(self.long.lines[-1] if self.long else self._last).number,
            remark=grid.remark,
        )  # fmt: skip

    @property
    def _last(self) -> Line:
        return self.lines[min(self.grid.end, len(self.lines)) - 1]

    def _beside(self) -> list[str]:
        """Labels of columns that were read, and whose cells mostly have more numbers in brackets
        behind the one that was."""
        found = []
        for at, column in self.view.first.values():
            if column.spec is None or not column.spec.numeric or column.label not in self.filled:
                continue
            texts = [row.cells[at].text for row in self.view.grid.rows if at < len(row.cells)]
            said = [text for text in texts if len(text) <= LONGEST and _DIGIT.search(text)]
            more = [
                text
                for text in said
                if _BRACKETED.fullmatch(plain(text))
                and not (remark(plain(text)) or SIZE_BEHIND.search(text))
            ]
            if len(more) * 2 >= len(said) > 0:
                found.append(f"{column.label} (numbers in brackets)")
        return found


def _calculated_last(
    placed: Sequence[tuple[int, Column]], row: GridRow
) -> Sequence[tuple[int, Column]]:
    """The columns of a row that it has cells of, those last whose cells show how their numbers were
    had: what their factors are, other cells say."""
    held = [each for each in placed if each[0] < len(row.cells)]
    shown = {
        at for at, column in held
        if column.spec is None and "=" in row.cells[at].text
        and calculation(plain(row.cells[at].text))
    }  # fmt: skip
    return sorted(held, key=lambda each: each[0] in shown) if shown else held


def _dashed(cell: Cell) -> bool:
    """Whether a cell of a number holds a dash, or nothing."""
    return cell.state == "missing" and not cell.text.strip(" -–—−")


_BEHIND_LABEL = re.compile(
    r"(?:[(（\[]|^[A-Za-z]{3,16}(?: on|,|:| [–-]) )([^()（）\[\]]{2,80}?)[)）\]]?\W*$"
)
"""Brackets behind a label, or what a word is on: `change, 4x L4`."""

_CELL_OF = re.compile(r"<t[dh]\b[^<>]*>", re.IGNORECASE)
"""Where a cell of a row of HTML begins, on a line that holds all of them."""


def _own_note(note: Note, end: int) -> bool:
    """Whether a note is a remark on rows of a table that ends at a line; what stands behind a
    number in brackets may be a source: `[2] Trained in fp16.` right below the table is none."""
    if note.kind != "listed":
        return True
    return note.line.number <= end + NEAR and _A_SOURCE.search(note.line.text) is None


_A_SOURCE = re.compile(
    r"https?:|www\.|\bet al\b|\barXiv\b|\bdoi\b|\b(?:19[5-9]|20[0-3])[0-9]\b"
    r"|[\"“][A-Z][^\"”]{12,}[\"”]"
    r"|\bProc(?:\.|eedings)|\]\([^)]*\)|^\s*(?:[A-Z]\. ?)+[A-Z][a-z]+",
)
"""Signs of a citation."""

_Held = tuple[str, float, str | None, State]
"""A plain number of a column: its field, its scale, its kind, its state."""

MOST_KNOWN = 10_000
"""Different numbers of a column of which it is kept what they are: the next rows say them again."""


def _keep(known: dict[str, _Held], column: Column, text: str, record: Record) -> None:
    """Note what a number and nothing else is in its column: the same in each of its rows, unless
    other cells of the row are asked."""
    spec = column.spec
    if spec is None or spec.name in _ASKING or column.by_cells or len(known) >= MOST_KNOWN:
        return
    cell = record.cells.get(spec.name)
    if cell is not None and cell.text == text and bare_number(text) and spec.numeric:
        known[text] = spec.name, cell.scale, cell.kind, cell.state


_ASKING = {"speedup", "global_batch"}
"""Fields of which a number is told by more than its column."""


def _configured(group: Group) -> bool:
    """Whether some column of a group, or its label, says how a run was configured."""
    return bool(group.said) or any(c.spec and c.spec.configuration for c in group.present())


def _told(group: Group, view: View) -> bool:
    """Whether a group of columns, or the cells beside it, say how its runs were run."""
    return bool(set(group.said or {}) - TALLIED) or view.told


_IN_FORMAT = re.compile(
    rf"(?:\+ ?|baseline[,:]? (?:in )?|plain |pure |with |in |use )?({NUMBER_FORMAT})"
    r"(?: (?:autocast|AMP|mixed(?: precision)?|training|baseline|only))?",
    re.IGNORECASE,
)
"""A name of a row that is the format that it ran in: `baseline fp32`, `+ bf16 autocast`."""

_A_PART_IN_FORMAT = re.compile(
    rf"({NUMBER_FORMAT})(?:{SCALED}| ?\((?:TE|torchao)\)| (?:linear|training|autocast|AMP"
    r"|mixed precision|matmuls?|GEMMs?|compute))?",
    re.IGNORECASE,
)
"""One of several things that the name of a row says it ran with: `compile + float8 (rowwise)`."""


def _among_parts(name: str) -> str | None:
    """The one number format that a name of several parts has for one of them.

    >>> _among_parts("mxfp8, no compile"), _among_parts("fp8 tensorwise"), _among_parts("fp8 KV")
    ('mxfp8', 'fp8', None)
    """
    if len({each[0].casefold() for each in EVERY.finditer(name)}) != 1:
        return None
    parts = map(_A_PART_IN_FORMAT.fullmatch, map(str.strip, _PLUS_OR_COMMA.split(name)))
    return next((found[1] for found in parts if found), None)


_PLUS_OR_COMMA = re.compile("[+,，]")

_BRACKETED_FORMAT = re.compile(rf".*[^(]\(({NUMBER_FORMAT})\)\s*", re.IGNORECASE)


def _numbered(texts: Sequence[tuple[str, str]]) -> bool:
    """Whether the first text of a row only numbers it, and its name is the next: `| 0 | fp32 |`."""
    return len(texts) > 1 and _A_NUMBER.fullmatch(texts[0][1]) is not None


_A_NUMBER = re.compile(r"[\W_]*[0-9]{1,2}[\W_]*")


def _in_its_format(record: Record) -> None:
    """Fill in the number format that the name of a row is, or that stands in brackets behind its
    device: `T4 (fp16)`."""
    if "dtype" in record.cells:
        return
    gpu = record.cells.get("gpu")
    texts = record.other[1:] if _numbered(record.other) else record.other
    first = texts[0][1] if texts and texts[0][0] != "column" else ""
    found = _BRACKETED_FORMAT.fullmatch(gpu.text) if gpu and len(gpu.text) <= LONGEST else None
    if found is None and len(first) <= LONGEST:
        found = _IN_FORMAT.fullmatch(first.strip())
    kind = found[1] if found else _among_parts(first) if len(first) <= LONGEST else None
    if kind:
        record.cells["dtype"] = Cell(kind, record.line, record.column)


def _of_its_own(record: Record, group: Group) -> None:
    """Leave out an outcome that another column of the row says, where its own has a number."""
    ended = record.cells.get("outcome")
    if ended is None or group.at is None or ended.column == record.column:
        return
    names = [c.spec.name for c in group.present() if c.spec and c.spec.quantity]
    if any(name in record.cells and record.cells[name].state == "value" for name in names):
        del record.cells["outcome"]


def _sized(record: Record, name: str) -> bool:
    """Whether a row says by the name of its model what a caption would say of its size."""
    model = record.cells.get("model")
    return name in SIZES and model is not None and SIZED.search(model.text) is not None


_BRACKETED = re.compile(r"[~≈]?\s*[0-9][^()]*\([^()]*[0-9][^()]*\)\W*")


def _spare(held: Folded) -> None:
    """Refuse no line on which another row stands, and none twice: such a fault is a remark."""
    taken = {line for record in held.records for line, _ in record.places()}
    faults, held.refused = held.refused, []
    for fault in faults:
        if fault.span.line in taken:
            held.remarks.append(fault.of_one())
        else:
            held.refused.append(fault)
            taken.add(fault.span.line)


def _of_training(view: View) -> View:
    """The same without groups of columns that are of no training, `Fit | Predict`, or say how far
    values lie apart: `mean | std`; none where all are of passes, `forward | backward`."""
    whole = tuple(each for each in view.groups if not _A_PASS.fullmatch(each.label))
    groups = tuple(
        each for each in whole if not (titled_otherwise(each.label) or spread(each.label))
    )
    if not whole:
        return replace(view, groups=())
    return replace(view, groups=groups) if groups else view


_A_PASS = re.compile(
    r"(?:fwd?|bwd?|forward|backward|optim(?:izer)?)(?: (?:pass|step))?", re.IGNORECASE
)
"""A part of a step, whose times and rates are none of a run."""

_FULL = re.compile(r"(?:FP|float|TF)[ -]?32(?: only)?", re.IGNORECASE)

_DEGREES = {"tp", "pp", "cp", "ep"}
"""Settings of a side that was not divided so, whatever the column of the divided one holds."""

_ON_DEVICES = re.compile(
    r"[(（,] ?(?:on |all |over |with )?([0-9]{1,5}) ?[x×]? ?(?:GPUs|devices|cards|chips|NPUs"
    r"|[卡张])[)）]?$"
)
"""Behind a rate: on how many devices it is, `img/s (8 GPUs)`."""

_OF_ALL_NUMBERS = re.compile(
    r"[\s*_>(]*(?:note:? )?(?:all |the |our |these )*"
    r"(?:numbers|values|figures|cells|entries|results|throughputs?|speeds?|rates?|times|timings"
    r"|units?|tok(?:en)?s?/s(?:ec)?|TPS|samples/s(?:ec)?|images/s(?:ec)?|img/s|batch(?: ?size)?s?)"
    r"(?: (?:above|here|shown|reported|listed|given|numbers|values|in (?:the|this) table))*:?"
    r" (?:is|are|was|were|in|give|means?)\b"
    r"|[\s*_>（(]*(?:note:? )?(?:each|every) (?:cell|entry|value|number)"
    r" (?:is|gives|shows|lists|holds|reports)\b"
    r"|[\s*_>（(]*(?:[备附]?注[:：]\s*)?(?:表中|上表|以上)?(?:的|各|所有)?"
    r"(?:单元格|格内|(?:数据|数字)?格式|每(?:个|一)?格子?|数字|数值|单位)(?:内|里)?(?:的内容)?"
    r"\s?(?:[均都]?(?:依次)?[为是]|[:：])"
    r"|[\s*_>（(]*(?:各|それぞれの)(?:セル|マス|欄)(?:の値)?は|[\s*_>（(]*(?:表中の)?数値は(?:すべて)?",
    re.IGNORECASE,
)
"""A sentence that begins with all numbers of a table."""

MOST_OF_A_NOTE = 12
"""Lines below a table in which a note on it stands."""

_MAY_OPEN = re.compile(r"[:：]\s*$|^\s*(?:#|\||<table|\+[-=])")
"""A line below a table that belongs to what follows."""

_OPENS_GRID = re.compile(r"\s*(?:\||<table|\+[-=]|\.\. (?:list|csv)-table|[^|]+\|[^|]+\|)")
"""A line that begins another table."""

_UNIT_IN_BRACKETS = re.compile(
    r"\s*[(（*_]{1,2}((?:all |numbers |values )?(?:are )?(?:in )?"
    r"(?:tokens?|tok|samples?|sequences?|images?|imgs?)(?: ?/ ?| per )(?:s|sec|second)"
    r"(?:(?!\b(?:for|on|at|with)\b)[^,;.:()（）]){0,40})(?:[,;.][^()（）]{0,160})?[)）*_]{1,2}\s*",
    re.IGNORECASE,
)
"""A line in brackets that says in what the table above it is: `(samples per second in total)`."""

_A_NOTE = re.compile(
    r"\s*(?:[(（]|\*(?!\*)|Notes?\b|[备附]?注(?=[:：]))(?!.*[:：]\s*$)", re.IGNORECASE
)
"""A line below a table that is about it, and opens no other."""

_LABEL_IS = re.compile(
    r"\s*[`*\"“]{0,3}([A-Za-z#][\w# -]{1,30}?)[`*\"”]{0,3} (?:is|are|means?|counts?|holds?)\b"
    r"(?!.*:\s*$)"
)
"""The label of a column, and what it is."""

_KINDS = {"gpu", "npu", "tpu", "hpu", "xpu", "accelerator", "device", "card", "参考", "reference"}
"""Words in a column of machines that are the kind of one, or its part, and name none."""

_MODEL_OPERATIONS = re.compile(r"\W*(?:of |by |only |counts? )*(?:the )?model FLOP", re.IGNORECASE)
"""The beginning of a note by which rates of operations count the model's: `^a model FLOPs`."""

_ASIDE = re.compile(r"\b(?:eval(?:uation)?|inference|validation|serving)\b", re.IGNORECASE)
"""A corner of a table that says its metrics are not of training."""


def _with_digits(grid: Grid) -> list[bool]:
    """Whether each column holds digits below its header."""
    return [
        any(
            _DIGIT.search(row.cells[n].text)
            for row in grid.rows
            if n < len(row.cells) and not row.one
        )
        for n in range(len(grid.header()))
    ]


def _title(row: GridRow, width: int) -> bool:
    """Whether a row with a cell too few only says what the rows below it are of."""
    if _over_rows(row):
        return True
    if width < 3:
        return False
    if len(row.cells) >= width and not any(cell.text.startswith("-") for cell in row.cells):
        return False
    said = [cell.text for cell in row.cells if not NOTHING.fullmatch(cell.text)]
    if len(said) != 1:
        return False
    ruled = sum(set(cell.text) == {"-"} for cell in row.cells) * 2 >= width
    return ruled or (len(row.cells) < width and any(letter.isalpha() for letter in said[0]))


def _over_rows(row: GridRow) -> bool:
    """Whether a row is a label in bold type above cells that are empty: `| **8x H200** | | |`."""
    if len(row.cells) < 2 or "|" in row.cells[0].text or any(each.text for each in row.cells[1:]):
        return False
    return _IN_BOLD.fullmatch(row.cells[0].text) is not None


_IN_BOLD = re.compile(r"\s*(?:(\*{1,3}|__?)(?=\S)[^*|]+\1|<(b|strong|em|i)>[^<>]+</\2>)\s*:?\s*")


def _of_a_guess(row: GridRow, group: Group, signs: Set[str]) -> bool:
    """Whether a row is of a run that nobody made: a setting of it is foreseen, or all that would
    have been measured; by its own words, or by the signs of numbers that were not."""
    told = [
        (
            column.spec.quantity,
            is_guess(row.cells[at].text)
            or (column.spec.quantity is not None and bracketed_guess(row.cells[at].text, signs)),
        )
        for at, column in group.placed
        if column.spec is not None and at < len(row.cells) and row.cells[at].text
    ]
    measured_so = [guess for measure, guess in told if measure]
    foreseen_so = any(guess for measure, guess in told if not measure)
    return foreseen_so or (bool(measured_so) and all(measured_so))


def _sums_up(row: GridRow, view: View) -> bool:
    """Whether a row is the mean, or another summary, of those above it; an `N` beside a `Y` is a
    switch."""
    if view.turned or not row.cells or not summary(row.cells[0].text):
        return False
    firsts = {plain(each.cells[0].text) for each in view.grid.rows if each.cells}
    return not {"N", "Y"} <= firsts


_BATCH_OF_EACH = re.compile(
    r"\b(?:batch(?:[ -]size)?|bs) ?(?:of |[=:] ?)?([0-9]{1,5}) ?(?:/|per |a |on each )"
    r"(?:chip|GPU|NPU|TPU|HPU|device|card|rank|accelerator)\b",
    re.IGNORECASE,
)
"""How much each device takes at once, among other words: `v5e-64, batch 4 per chip`."""


def _of_slices(label: str, head: GridCell) -> dict[str, Cell]:
    """Chips of the one kind of slices that the label of a side names, `2x v6e-256` are 512, and the
    batch of each device in it."""
    cell = Cell(label, head.line, head.column, value_origin="stated")
    found: dict[str, Cell] = {}
    if chips := chips_of(cell):
        found["gpus"] = chips
    elif slices := counted_chips(label):
        found["gpus"] = cell._replace(
            text=str(slices[0]), value_origin="solved" if slices[2] else "stated", law=slices[2]
        )
    if batch := _BATCH_OF_EACH.search(label):
        found["micro_batch"] = cell._replace(text=batch[1])
    return found
