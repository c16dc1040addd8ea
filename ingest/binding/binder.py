"""Configuration bound to the rows it speaks for, with the line it came from.

A row's value is looked for in this order:

1. its own cell;
2. what its run prints of itself: argument dumps and layout lines, the last first (`context`); the
   caption right below its table, and blocks of statements under the name that the row has; then the
   nearest statement above in its section, then in the sections around it (`context`); one labelled
   with a model size speaks only for rows of that size, where the row has a size;
3. the last model line above in another section, for what belongs to a model and not to a layout
   (`assumed`), unless its hidden size contradicts the row's: then all of that line is dropped;
4. a statement below that says it holds above too (`assumed`); then what all statements below it,
   in its own section, say alike (`assumed`): notes under a table; for the model alone;
5. for a step of a run, what all statements above say alike that stand in no other run's section;
   what is said under a heading about machines; what every statement of the document says alike, for
   the model alone; the one device that the document names, for rows of tables; the one model that
   it spells out, for rows that name none (`assumed`);
6. the side file, and what the caller states (`assumed`).

What is found nowhere is unknown. A statement replaces earlier values of its own keys only. Rows are
asked for from the top down, so that a document costs what its rows and statements cost.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain
from math import inf, log2

from assay.ingest.binding.batches_said import of_a_micro_batch, of_tokens
from assay.ingest.binding.comparing import (
    MODEL,
    Said,
    Section,
    agreed,
    agreed_below,
    apart_from_layout,
    apart_from_nodes,
    as_asked,
    captioned,
    contradicts,
    counts_both,
    differ,
    differs_from,
    fewest_devices,
    host,
    is_said,
    may_hold,
    more_of_the_same,
    of_another_count,
    of_its_batch,
    of_its_model,
    of_other_batches,
    of_others,
    of_own_models,
    of_own_tables,
    on_what,
    only_of,
    over_rows,
    overridden,
    reach,
    said_below,
    same_in_code,
    says_apart,
    says_more,
    shared_otherwise,
    turned,
    unlike,
    without,
)
from assay.ingest.binding.started_below import StartedBelow, called, is_below, shown_by_model
from assay.ingest.columns.cells import fills, number_of
from assay.ingest.columns.row_texts import shares_nothing
from assay.ingest.columns.spoken_of import settled_nearer
from assay.ingest.columns.titles import (
    OF_A_RUN,
    OF_DEVICES,
    SIZED,
    SIZES,
    line_of_other,
    of_another_run,
    of_its_devices,
)
from assay.ingest.numbers.printed import Printed, printed
from assay.ingest.prose.only_device import LAW
from assay.ingest.prose.only_model import LAW as OF_MODEL
from assay.ingest.prose.only_model import OF_FAMILY
from assay.ingest.prose.only_program import LAW as OF_PROGRAM
from assay.ingest.prose.scopes import in_range, is_range, size_of
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Record, Statement, ValueOrigin
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import of_set_up, part_of_set_up
from assay.ingest.statements.context import ARCHITECTURE, SPELLED_OUT, Context, architectures
from assay.ingest.statements.row_words import ADDS, SAME_FACT, SETTINGS, settle, sign_of, signs_of
from assay.ingest.tables.captions import ON_IT
from assay.ingest.vocabulary.devices import devices, of_systems, only
from assay.ingest.vocabulary.program_names import (
    OF_IMPLEMENTATIONS,
    OF_PROGRAMS,
    is_library,
    program_named,
)
from assay.ingest.vocabulary.terms import normalise
from assay.ingest.vocabulary.words import split

OF_THE_MODEL = ("hidden", "heads", "kv_heads", "ffn_hidden", "seq_len", "vocab")
"""Fields of a model line that describe the model itself and may hold beyond its section. Layers
are not among them: depth is what a table of layouts tunes, and a guess there is a wrong number."""

UNIFORM = ("seq_len", "vocab", "program")
"""Fields that hold for a whole document if all its statements agree."""

NOTED = (*UNIFORM, "gpu")
"""Fields that notes under a table, in its section, may say of it; those of which it is told that
they stand below all tables of their section say every setting."""

ASSUMED_LAWS = {
    "model": "the last model line above, in another section",
    "backward": "a later statement that says it holds above too",
    "section": "the statements below, in the same section, say so",
    "uniform": "every statement of the document says so",
    "above": "every statement above says so",
    "machines": "the document says so of its machines",
    "architecture": "the one model that the document spells out",
}

OF_MACHINES = ("gpu", "gpus_per_node", "network")
"""Fields that a description of machines settles for rows of tables, which vary the others."""

COUNTED = {"gpus", "nodes", "gpus_per_node"}
"""Fields in which rows of one set-up may differ."""

OF_A_SHAPE = ("layers", "hidden", "heads", "kv_heads", "ffn_hidden", "vocab", "parameters")
"""Fields of how the one model of a page is built."""

NAMING = ("model", "model_size", "parameters", "hidden", "layers")
"""Fields of a row that say which model it is."""

MOST_KEPT = 1000
"""Rows of tables that were bound and are kept: those that say alike stand near each other."""

_ASKED = ("model", "model_size", "parameters", "hidden", "gpu", "gpus", "nodes")
"""Fields of a row whose texts, and where they stand if it does not print them, say what speaks for
it; of the others only whether it has them."""


def _the_only(spelled: Sequence[dict[str, Cell]]) -> dict[str, Cell]:
    """The model that alone is spelled out; nothing where several are."""
    return spelled[0] if len(spelled) == 1 else {}


@cache
def _configured() -> frozenset[str]:
    return frozenset(n for n, spec in fields(Configuration).items() if spec.configuration)


class Binder:
    """Answers what is bound to a row, and what is said above it, for rows from the top down."""

    def __init__(
        self, context: Context, rows: Sequence[Record] = (), names: Iterable[Sequence[str]] = ()
    ) -> None:
        self.context = context
        every = sorted(context.statements, key=lambda statement: statement.line)
        self._captions = captioned(every, [row.line for row in rows if row.tabled])
        named = {_alike(n) for n in {*chain.from_iterable(names), *self._of_devices}} - {""}
        self._subjects: dict[tuple[str, Section | None], dict[str, Cell]] = {}
        for each in every:
            if (subject := _subject(each, named)) in named or each.here:
                key = subject, each.section if each.here else None
                self._subjects.setdefault(key, {}).update(each.values)
        self._models, self._ranges = _named_as_rows(every, rows), _ranges(every)
        captions = {at for _, at in self._captions.values()}
        self.statements = [
            each for each in every
            if each.line not in captions
            and not each.here
            and not each.until
            and _subject(each, named) not in named
        ]  # fmt: skip
        self._machines = agreed(
            [each for each in self.statements if each.environment and not each.host], None
        )
        self._host = host([each for each in self.statements if each.host])
        self._device = {"gpu": context.device} if context.device else {}
        self._architecture = _the_only(list(architectures(self.statements)))
        self._above: dict[Section, dict[str, Cell | None]] = {}
        self._met: set[Section] = set()  # sections with steps of a run
        self._titled: dict[int, frozenset[str]] = {}
        self._alike: tuple[int, Section, dict[str, Cell]] | None = None
        self._headed = {
            each.line: True
            for each in self.statements
            if each.line in self.context.titles and {"model", "model_size"} & set(each.values)
        }
        self._lines = [statement.line for statement in self.statements]
        self._headings = [line for line, _ in context.sections]
        self._backward = [
            each for each in self.statements if each.backward and not self._of_model(each)
        ]
        self._said_below: dict[Section, tuple[list[int], list[dict[str, Cell]]]] = {}
        of_all = [statement for statement in self.statements if not statement.of_run]
        self._uniform = self._said_of_all(of_all, rows)
        self._lengths = self._lengths_below(rows)
        self._set_up = self._set_up_below([row for row in rows if row.tabled], of_all)
        self._own_vocabularies = of_own_models(of_all, self._headed)
        self._own, self._with_rows = self._of_own_tables(of_all, rows)
        self._over = over_rows(map(self.section, context.measured))
        self._taken = 0  # statements that stand above the row last asked for
        self._of_run: dict[str, Cell] = {}
        self._dumped: set[str] = set()  # fields of the last dump that spells its model out
        self._of_one = {  # lines that a run prints of itself
            cell.line
            for each in self.statements
            if each.of_run and not each.environment
            for cell in each.values.values()
        }
        self._commands: dict[int, dict[str, Cell]] = {}  # by the lines on which they begin
        for each in self.statements:
            if begun := context.commands.get(each.line):
                self._commands.setdefault(begun, {}).update(each.values)
        self._started = StartedBelow(self.statements, context.commands)
        self._said: dict[Section, dict[float | None, dict[str, tuple[int, Cell]]]] = {}
        self._any: dict[Section, dict[str, Cell]] = {}
        self._last: Statement | None = None
        self._notes: dict[Section, tuple[list[int], list[dict[str, Cell]]]] = {}
        self._in_section: dict[Section, list[Statement]] = {}
        for statement in self.statements:
            self._in_section.setdefault(statement.section, []).append(statement)
        self._beside = {  # the devices that a line names beside how a run was shared among them
            line: on_what(each.values)
            for each in self.statements
            for line in {each.line, *(cell.line for cell in each.values.values())}
            if each.values.keys() & {*OF_A_RUN, "dtype"}
        }
        self._fewest = fewest_devices(rows)
        self._says_anything = bool(
            every or context.assumed or context.device or context.model or context.programs
        )
        self._here: tuple[int, int, Section] | None = None  # where the row last asked for stands
        self._tabled: dict[Hashable, dict[str, Cell]] = {}  # what rows of tables there are bound to

    def _said_of_all(
        self, statements: Sequence[Statement], rows: Sequence[Record]
    ) -> dict[str, Cell]:
        """The values that statements say alike, if one does that stands not below the heading of a
        model, or names one beside rows that do, and is of no training but what was measured."""
        named = any("model" in row.cells for row in rows if row.tabled)
        every = {id(each): self._plain(self._of_rows_above(each)) for each in statements}
        of_rows = agreed([
            every[id(each)] for each in statements
            if not (self._of_no_row(each) or (named and "model" in each.values))
        ], UNIFORM)  # fmt: skip
        whole = agreed([*every.values()], UNIFORM)
        return {n: c for n, c in of_rows.items() if n in whole}

    def _of_own_tables(
        self, statements: Sequence[Statement], rows: Sequence[Record]
    ) -> tuple[Set[str], Set[Section]]:
        """Fields that sections say of their own tables alone, and the sections with tables."""
        sections = {self.section(row.line) for row in rows if row.tabled}
        return of_own_tables(UNIFORM, statements, sections), sections

    def _lengths_below(
        self, rows: Sequence[Record]
    ) -> dict[Section, dict[tuple[str, float, str], Cell]]:
        """Lengths that rows of tables print, each once, by every section that they stand in."""
        found: dict[Section, dict[tuple[str, float, str], Cell]] = {}
        for row in rows:
            if row.tabled and (cell := row.cells.get("seq_len")) is not None:
                path, key = self.section(row.line), (cell.text, cell.scale, cell.state)
                for depth in range(len(path) + 1):
                    found.setdefault(path[:depth], {}).setdefault(key, cell)
        return found

    def _set_up_below(
        self, rows: Sequence[Record], statements: Sequence[Statement]
    ) -> dict[Section, tuple[dict[str, Cell], Set[str]]]:
        """Settings that sections about the set-up below all tables say, by the headings around
        them, and the fields that no statement and no row says otherwise."""
        posts = {*self.context.comments}  # whose rows are of who wrote them
        own = [row for row in rows if posts.isdisjoint(self.section(row.line))] or rows
        last = max((line for row in own for line, _ in row.places()), default=math.inf)
        below: dict[Section, list[Statement]] = {}
        for each in statements:
            path = self.section(each.line) if each.line > last else ()
            path = path if own is rows or posts.isdisjoint(path) else ()
            title = self.context.titles.get(path[-1], "") if path else ""
            around = each.section[:-1] if each.section == path else each.section
            if path and (of_set_up(title) or part_of_set_up(title)):
                below.setdefault(around, []).append(each)
        if not below:
            return {}
        settings = sorted({*SETTINGS, *(() if any(map(_names_its_model, rows)) else OF_A_SHAPE)})
        said = agreed(statements, settings).items()
        whole = {name: cell for name, cell in said if cell.state == "value"}
        for row in rows:
            for name in [n for n, cell in whole.items() if differs_from(row.cells.get(n), cell)]:
                del whole[name]
        return {around: (agreed(told, settings), whole.keys()) for around, told in below.items()}

    def _set_up_of(self, section: Section, row: Said) -> dict[str, Cell]:
        """Settings said below all tables of the set-up of a row, where nothing said of that is
        otherwise."""
        return {
            name: cell
            for around, (told, alike) in self._set_up.items() if section[: len(around)] == around
            if not any(_is_other(n, row.get(n), told[n]) for n in told.keys() - COUNTED)
            for name, cell in told.items() if name in alike
        }  # fmt: skip

    def _of_model(self, statement: Statement) -> bool:
        """Whether a statement stands below the heading of a model, whose every run it is of, in a
        document with more of them."""
        return len(statement.section) > 1 and statement.section[-1] in self._headed

    def _of_no_row(self, statement: Statement) -> bool:
        """Whether a statement stands below the heading of a model, or of what is no training that
        was measured."""
        titles = (self.context.titles.get(at, "") for at in statement.section[1:])
        return self._of_model(statement) or any(map(_OF_NO_TRAINING.search, titles))

    def _plain(self, statement: Statement) -> Statement:
        """A statement without the program that a heading names, which is of what stands below, and
        without FSDP, with which rows of other sections may not have been spread."""
        program = statement.values.get("program")
        of_all = statement.line not in self.context.titles
        if program is None or (of_all and program.text != "fsdp"):
            return statement
        return replace(statement, values=without(statement.values, ("program",)))

    @property
    def edges(self) -> list[int]:
        """Lines at which what is bound may change: rows between two of them are bound alike."""
        return sorted({*self._lines, *self._headings})

    def section(self, line: int) -> Section:
        """The headings above `line`, outermost first."""
        count = bisect_right(self._headings, line)
        return self.context.sections[count - 1][1] if count else ()

    def nearest(self, line: int) -> Said:
        """Field → the nearest cell that a statement above `line` in the same section holds."""
        self._go_to(line)
        return self._any.get(self.section(line), {})

    def formats_of(self, line: int, names: Sequence[str]) -> Iterator[Cell]:
        """Number formats that the section of a line says of rows with one of some names."""
        section = self.section(line)
        for name in names:
            said = self._subjects.get((_alike(name), section), {})
            if "dtype" in said:
                yield said["dtype"]

    def bound(
        self,
        line: int,
        own: Said,
        opened: tuple[int, str] | None = None,
        *,
        tabled: bool = False,
        names: Sequence[str] = (),
    ) -> dict[str, Cell]:
        """Cells bound to a row that prints `own`, nearest first; `line` may not go back.

        `names` are those under which the document may speak of the row. What one run prints of
        itself says nothing of a row of a table. Rows of tables between the same lines that say
        alike what binding asks of a row are bound once.
        """
        self._go_to(line)
        if not self._says_anything:
            return {}
        if not tabled:
            return self._bound(line, own, None, tabled=False, names=names)
        here = self._taken, bisect_right(self._lines, line), self.section(line)
        if here != self._here or len(self._tabled) > MOST_KEPT:
            self._here, self._tabled = here, {}
        key = (
            self._captions.get(line, ({}, 0))[1],
            opened,
            tuple(names),
            tuple([(name, cell.state) for name, cell in own.items()]),
            tuple([as_asked(cell) for name in _ASKED if (cell := own.get(name)) is not None]),
        )
        if key not in self._tabled:
            self._tabled[key] = self._bound(line, own, opened, tabled=True, names=names)
        return apart_from_layout(dict(self._tabled[key]), own)

    def _bound(
        self,
        line: int,
        own: Said,
        opened: tuple[int, str] | None,
        *,
        tabled: bool,
        names: Sequence[str],
    ) -> dict[str, Cell]:
        row = dict(own)
        found: dict[str, Cell] = {}
        sized = tabled and "model" in own and SIZED.search(own["model"].text) is not None

        titled = frozenset[str]()  # devices that the headings so far name
        section = self.section(line)

        def take(values: Said, origin: ValueOrigin, law: str | None) -> None:
            if not values:
                return
            other = bool(titled) and of_others(values.get("gpu"), titled)
            mine = self._of_its_run(values, own, row) if tabled else values
            mine = of_its_batch(mine, found.get("batch_size"))
            mine = (
                without(
                    mine,
                    {
                        *settled_nearer(mine, self._nearer(section, opened)),
                        *self._of_the_machine(mine, own, section),
                    },
                )
                if tabled
                else mine
            )
            for name, cell in of_its_devices(mine, row if tabled else own).items():
                if (
                    (other and name in OF_DEVICES)
                    or _spoken_for(name, found.get(name, row.get(name)), cell)
                    or of_another_count(name, cell, mine, row)
                    or (name == "global_batch_tokens" and of_other_batches(cell, own, values))
                ):
                    continue
                facts = (own.get(fact) for fact in SAME_FACT.get(name, ()))
                if (
                    any(map(partial(says_apart, cell), facts))
                    and not may_hold(name, cell, mine, row)
                ) or ((sized and name in SIZES) or turned(name, cell, row)):
                    continue
                if name == "gpus_per_node" and (
                    (counts_both(own) and not fills(cell, own)) or shared_otherwise(cell, found)
                ):
                    continue
                row[name] = cell
                stated = cell.value_origin if origin == "stated" != cell.value_origin else None
                said = origin if stated in (None, "printed") else stated
                if name in _configured():
                    found[name] = cell._replace(value_origin=said, law=law or cell.law)

        take({} if tabled else self._of_run, "stated", None)
        take(self._captions.get(line, ({}, 0))[0], "stated", None)
        called = () if is_said(own.get("model")) else self._titled_model(section)
        called = (*names, *called, *self._titled_device(section, own))
        for name in (*called, *self._in_range(called)):
            for depth in range(len(section), -1, -1):
                take(self._subjects.get((_alike(name), section[:depth]), {}), "stated", None)
            take(self._but_for_here(_alike(name), section), "stated", None)
        apart = False  # whether a heading has named another model than those around it
        for depth in range(len(section), -1, -1):
            said = self._speaking(section[:depth], row)
            take(without(said, MODEL) if apart else said, "stated", None)
            titled = titled or self._devices_of(section[depth - 1] if depth else 0)
            apart |= bool(depth) and bool(self._headed.get(section[depth - 1]))
        if self._last is not None and not contradicts(self._last, row):
            take(only_of(self._last.values, OF_THE_MODEL), "assumed", ASSUMED_LAWS["model"])
        take(self._of_all_below(section, line), "assumed", ASSUMED_LAWS["backward"])
        take(_of_this_run(self._below(section, line), row), "assumed", ASSUMED_LAWS["section"])
        if tabled:
            started = self._started.said_of(section, line, row)
            take(started, "assumed", ASSUMED_LAWS["section"])
        for values, law in self._of_document(section, row, tabled=tabled):
            take(values, "assumed", law)
        if not any(is_said(own.get(name)) for name in NAMING):
            take(self._architecture, "assumed", ASSUMED_LAWS["architecture"])
        apart_from_nodes(found, own)
        take(self.context.assumed_in(section), "assumed", None)
        take(self.context.assumed.everywhere, "assumed", None)
        return found

    def _of_all_below(self, section: Section, line: int) -> Said:
        """Settings of statements below a row that say to hold above too, but for those of another
        section with tables of its own."""
        if section not in self._said_below:
            own = [
                each for each in self._backward
                if each.outright or (of := reach(each.section, self._over)) == section[: len(of)]
            ]  # fmt: skip
            self._said_below[section] = [each.line for each in own], said_below(own)
        lines, said = self._said_below[section]
        return said[bisect_right(lines, line)]

    def _of_the_machine(self, said: Said, own: Said, section: Section) -> Sequence[str]:
        """Fields that count the devices of the one machine that stands above all sections, of which
        rows of some table ran on a part: nobody says then how many a row took that has no count."""
        one, gpus = said.get("nodes"), said.get("gpus")
        if one is None or gpus is None or one.line != gpus.line or number_of(one) != 1:
            return ()
        above = len(self.section(gpus.line)) <= 1 < len(section)
        part = above and self._fewest < (number_of(gpus) or 0)
        return ("gpus", "nodes") if part and not is_said(own.get("gpus")) else ()

    def _but_for_here(self, name: str, section: Section) -> Said:
        """Cells that the document says of rows of a name, without those of another section with
        rows of its own where the section of a row has others for all of its rows, or where the name
        is that of a device: each section may have run something else on it."""
        said = self._subjects.get((name, None), {})
        here = self._any.get(section, {}) if said and len(section) > 1 else {}
        of_device = bool(said) and only(name) is not None
        return {
            field: cell for field, cell in said.items()
            if not (field in here or of_device)
            or (other := self.section(cell.line)) == section
            or (field not in here and other == section[: len(other)])
            or other not in self._with_rows
        }  # fmt: skip

    def _in_range(self, names: Sequence[str]) -> list[str]:
        """The ranges of models that a row is of, by the sizes among its names."""
        sizes = [size for name in names if (size := size_of(name))] if self._ranges else []
        return [each for each in self._ranges if any(in_range(size, each) for size in sizes)]

    def _of_document(
        self, section: Section, row: Said, *, tabled: bool
    ) -> Iterator[tuple[Said, str]]:
        """The statements of the whole document on a row, and by which law; asked for one by one,
        as what is taken of one is told to the next."""
        if tabled:
            yield self._host, ASSUMED_LAWS["machines"]
        else:
            yield self._alike_above(section), ASSUMED_LAWS["above"]
        set_up = self._set_up_of(section, row) if tabled else {}
        machines = only_of(self._machines, OF_MACHINES) if tabled else self._machines
        yield {**set_up, **machines}, ASSUMED_LAWS["machines"]
        programs = self.context.programs if tabled else {}
        at = next((at for at in reversed(section) if at in programs), 0)
        if tabled or not self._met_others(section):
            apart = tabled and ("seq_len" in self._own or self._is_apart(section))
            dropped = {"seq_len"} if apart else set[str]()
            if tabled and self._own_vocabularies and is_said(row.get("model")):
                dropped.add("vocab")
            if "program" in self._own or self._names_another(self._uniform.get("program")):
                dropped.add("program")
            alike = without(self._uniform, dropped)
            mine = {name: cell for name, cell in alike.items() if self._means(cell, section)}
            yield mine if tabled else alike, ASSUMED_LAWS["uniform"]
        if tabled:
            device = {n: cell for n, cell in self._device.items() if self._means(cell, section)}
            yield device, LAW
            model = self.context.model
            if model and not any(is_said(row.get(name)) for name in _naming(model)):
                yield {"model": model}, model.law or OF_MODEL
            formats = self.context.formats
            other = formats.get(section[-1] if section else 0) or formats.get(0)
            yield ({"dtype": other} if other else {}), ASSUMED_LAWS["uniform"]
            named = programs.get(at)
            yield {"program": named} if named and self._means(named, section) else {}, OF_PROGRAM

    def _means(self, cell: Cell, section: Section) -> bool:
        """Whether rows of a section may be meant by a cell that names no rows: it stands above it,
        or where what is said of all runs is of these (`reach`)."""
        said = self.section(cell.line)
        of = reach(said, self._over)
        return said < section or section[: len(of)] == of

    def _is_apart(self, section: Section) -> bool:
        """Whether the length of all statements is that of other rows: of another table below the
        heading, or of a command that starts one of several that the document measures."""
        length = self._uniform.get("seq_len")
        of_one = length is not None and length.line in self.context.commands
        return self._are_apart(self._uniform, () if of_one else section)

    def _names_another(self, program: Cell | None) -> bool:
        """Whether the document, or a section of it, says to train with another program than one."""
        name = program.text.partition(" ")[0] if program else ""
        return any(each.text.partition(" ")[0] != name for each in self.context.programs.values())

    def _of_its_run(self, values: Said, own: Said, row: Said) -> Said:
        """Values without what a run prints of itself, what is said of a model of another size than
        a row of a table has or of the model of other rows, and how runs on other devices were
        shared among these.

        A sentence above a table that prints its devices is of all of them.
        """
        itself = any(cell.value_origin == "printed" for cell in on_what(own).values())
        machines = {} if itself else {**on_what(values), **on_what(row)}
        return {
            name: cell
            for name, cell in of_its_model(values, own).items()
            if cell.line not in self._of_one
            and not self._on_others(cell.line, own.get("model"))
            and not (name in OF_A_RUN and of_another_run(self._beside.get(cell.line, {}), machines))
            and not (name in OF_A_RUN and self._starts_another(cell.line, {**row, **own}))
            and not (name == "dtype" and self._on_another(cell.line, machines))
            and not line_of_other(self.context.commands_on.get(cell.line), own.get("gpu"))
        }

    def _on_others(self, line: int, own: Cell | None) -> bool:
        """Whether a line names a model as other rows do, and not as a row does."""
        theirs = self._models.get(line)
        if theirs is None or own is None or own.value_origin != "printed":
            return False
        mine = called(own.text)
        return theirs not in mine and mine not in theirs

    def _nearer(self, section: Section, opened: tuple[int, str] | None) -> dict[int, str]:
        """The headings above a row, and what opens its table, by their lines."""
        found = {at: self.context.titles.get(at, "") for at in section}
        return found | ({opened[0]: opened[1]} if opened else {})

    def _starts_another(self, line: int, own: Said) -> bool:
        """Whether a line is of a command that starts another run than that of a row: more than one
        setting of it is otherwise there, where a sweep turns one."""
        command = self._commands.get(self.context.commands.get(line, 0), {})
        alone = only_of(command, (*OF_A_RUN, *COUNTED)).items()
        return sum(differs_from(own.get(name), cell) for name, cell in alone) > 1

    def _on_another(self, line: int, machines: Said) -> bool:
        """Whether a line names other devices than a row's: what it ran in they need not."""
        theirs = only_of(self._beside.get(line, {}), ("gpu",))
        return bool(theirs) and of_another_run(theirs, only_of(machines, ("gpu",)))

    def _titled_model(self, section: Section) -> list[str]:
        """Names of the model that the innermost heading that names one does."""
        for depth in range(len(section), 0, -1):
            said = self._any.get(section[:depth], {})
            if found := _named_by(said.get("model"), said.get("model_size")):
                return found
        return []

    @cached_property
    def _of_devices(self) -> dict[str, str]:
        return _device_by_device(self.context.statements)

    def _titled_device(self, section: Section, own: Said) -> Sequence[str]:
        """Names under which the document speaks of the device that alone the innermost heading that
        names one does, for a row that prints none."""
        if is_said(own.get("gpu")) or not self._of_devices:
            return ()
        for heading in reversed(section):
            if titled := self._devices_of(heading):
                return [n for n, key in self._of_devices.items() if titled == {key}]
        said = self._any.get(section, {}).get("gpu")
        on = only(said.text) if said and said.state == "value" else None
        return [name for name, key in self._of_devices.items() if on and on.key == key]

    def _devices_of(self, heading: int) -> frozenset[str]:
        """Devices that a heading names."""
        if heading not in self._titled:
            title = self.context.titles.get(heading, "")
            self._titled[heading] = frozenset(
                each.key for each in devices(title) or of_systems(title)
            )
        return self._titled[heading]

    def use(self, cells: Iterable[Cell]) -> None:
        """Note the lines whose values were used; 0 is a side file or the caller."""
        self.context.used.update(cell.line for cell in cells if cell.line)

    def _speaking(self, section: Section, row: Said) -> Said:
        """Statements of one section for a row of its size, nearest first.

        A statement labelled with a model size speaks for rows of that size, and for those without
        one; these then are of the size of the nearest such statement.
        """
        every = self._any.get(section, {})
        held = row.get("model_size")
        size = every.get("model_size") if held is None or held.state == "missing" else held
        if size is None or size.state != "value":
            return every
        by_size = self._said.get(section, {None: {}})
        found = dict(by_size[None])
        for name, (turn, cell) in by_size.get(number_of(size), {}).items():
            if name not in found or turn > found[name][0]:
                found[name] = turn, cell
        return {name: cell for name, (_, cell) in found.items()}

    def _below(self, section: Section, line: int) -> Said:
        """Cells of the model that notes under a row, in its own section, say."""
        if not section and self.context.sections:
            return {}
        if section not in self._notes:
            mine = [
                self._of_rows_above(each)
                for each in self._in_section.get(section, ())
                if not each.of_run
                and (each.since or not each.size)
                and not is_below(each, self.context.commands)
            ]
            self._notes[section] = [each.line for each in mine], agreed_below(mine, NOTED)
        lines, agreed = self._notes[section]
        said = agreed[bisect_right(lines, line)]
        return without(said, ("seq_len",)) if self._are_apart(said, section) else said

    def _of_rows_above(self, statement: Statement) -> Statement:
        """A statement without what it says of runs that came after those in the tables above it."""
        if not (names := self.context.later.get(statement.line)):
            return statement
        return replace(statement, values=without(statement.values, tuple(names)))

    def _are_apart(self, said: Said, section: Section) -> bool:
        """Whether rows of tables below a heading print other lengths of sequences than is said: it
        is that of another table."""
        length = said.get("seq_len")
        every = self._lengths.get(section, {}).values()
        return length is not None and any(differs_from(cell, length) for cell in every)

    def _alike_above(self, section: Section) -> dict[str, Cell]:
        """Values that statements above say alike, those of other runs' sections aside."""
        self._met.add(section)
        if self._alike is None or self._alike[:2] != (self._taken, section):
            said: dict[str, Cell | None] = {}
            for other, values in self._above.items():
                if other in self._met and other != section[: len(other)]:
                    continue
                for name, cell in values.items():
                    held = said.setdefault(name, cell)
                    if held is None or cell is None or unlike(held, cell):
                        said[name] = None
            known = {name: cell for name, cell in said.items() if cell is not None}
            self._alike = self._taken, section, known
        return self._alike[2]

    def _met_others(self, section: Section) -> bool:
        """Whether another run's steps stand in a section of their own."""
        return any(other != section for other in self._met)

    def _go_to(self, line: int) -> None:
        count = bisect_left(self._lines, line)
        if count < self._taken:
            self._above.clear()
            self._taken, self._of_run, self._said, self._any, self._last = 0, {}, {}, {}, None
            self._dumped = set()
        for turn in range(self._taken, count):
            self._hear(self.statements[turn], turn)
        self._taken = count

    def _hear(self, statement: Statement, turn: int) -> None:
        values, size = statement.values, statement.size
        above = self._above.setdefault(statement.section, {})
        for name, cell in values.items():
            held = above.setdefault(name, cell)
            if held is None or cell.state != "value" or unlike(held, cell):
                above[name] = None
        if statement.of_run:
            self._begin(statement)
            self._of_run.update(values)
        if size is not None:
            self._last = statement
        if statement.host:
            return  # of all that was measured, and of no section
        self._leave(statement)
        known = self._any.get(statement.section, {}).get("model")
        if "model" in values and same_in_code(values["model"], known):
            values = without(values, ("model",))
        here = self._any.setdefault(statement.section, {})
        for other in [turned(name, cell, here) for name, cell in values.items()]:
            if other:
                del here[other]
        if more_of_the_same(values.get("gpu"), here.get("gpu")):
            values = {**values, "gpu": here["gpu"]}
        here.update(values)
        by_size = self._said.setdefault(statement.section, {None: {}})
        by_size.setdefault(size, {}).update((name, (turn, values[name])) for name in values)

    def _leave(self, statement: Statement) -> None:
        """Forget how many there were of another device than the one that a section goes on with."""
        held = self._any.get(statement.section, {})
        other = line_of_other(held.get("gpu"), statement.values.get("gpu"))
        for name in OF_DEVICES if other else ():
            if name in held and held[name].line == other:
                del held[name]
                for by_size in self._said.get(statement.section, {}).values():
                    by_size.pop(name, None)

    def _begin(self, statement: Statement) -> None:
        """Forget what an earlier job's dump said and the dump of this one leaves out."""
        values = statement.values
        if len(values.keys() & set(ARCHITECTURE)) < SPELLED_OUT:
            return
        for name in self._dumped - values.keys():
            self._of_run.pop(name, None)
            self._any.get(statement.section, {}).pop(name, None)
            self._above.get(statement.section, {}).pop(name, None)
            for by_size in self._said.get(statement.section, {}).values():
                by_size.pop(name, None)
        self._dumped = set(values)


def _names_its_model(row: Record) -> bool:
    """Whether a row prints which model it is of."""
    return any(row.cells[name].line == row.line for name in NAMING if name in row.cells)


def _is_other(name: str, own: Cell | None, said: Cell) -> bool:
    """Whether a row has another value of a field than is said: a device in fewer words is none."""
    if name == "gpu" and own is not None and own.state == said.state == "value":
        held, told = (set(_GIGABYTES.findall(cell.text)) for cell in (own, said))
        return line_of_other(own, said) != 0 or bool(held and told and held != told)
    return differs_from(own, said)


_OF_NO_TRAINING = deferred(
    r"\b(?:inference|serving|deploy\w*|eval\w*|generation|future|planned|upcoming|in progress"
    r"|next (?:steps?|runs?)|related work|defaults?|recommend\w*)\b|推理|部署|推論|추론",
    re.IGNORECASE,
)

_GIGABYTES = re.compile(r"([0-9]+) ?G(?:i?B|o)?\b", re.IGNORECASE)


def _device_by_device(statements: Iterable[Statement]) -> dict[str, str]:
    """The names, as they are compared, of devices of which some line says settings one by one, with
    their keys: what it says of one is never of the rows of another, nor of all."""
    found: dict[int, dict[str, str]] = {}
    for each in statements:
        if each.subject and not each.here and (device := only(each.subject)):
            found.setdefault(each.line, {})[_alike(each.subject)] = device.key
    several = [names for names in found.values() if len(set(names.values())) > 1]
    return {name: key for names in several for name, key in names.items()}


def _subject(statement: Statement, named: Set[str]) -> str:
    """The name of the rows of a statement as it is compared, or else their number or letter."""
    plain = _alike(statement.subject)
    return plain if plain in named or statement.here else _alike(sign_of(statement.subject))


def _alike(name: str) -> str:
    """A name as it is compared: documents vary case, blanks and strokes, and `1.3B` is no `13B`."""
    return _STROKES.sub("", name).casefold()


_STROKES = re.compile(r"[\s_*`'\"–-]+")


def bind(records: Iterable[Record], context: Context) -> None:
    """Fill the configuration cells of `records` from `context`, in place, nearest first."""
    rows = sorted(records, key=lambda record: record.line)
    names = [_names(row) for row in rows]
    settle(rows, context.adds_up)
    binder = Binder(context, rows, names)
    sides = any(program_named(side) for side in {dict(row.other).get("column", "") for row in rows})
    machines = {
        (binder.section(row.line), label) for row in rows for label, text in row.other
        if normalise(label) in OF_PROGRAMS and (of_systems(text) or devices(text))
    }  # fmt: skip
    networks = {
        each.values["network"].line: each.values["gpu"] for each in context.statements
        if {"network", "gpu"} <= each.values.keys()
    }  # fmt: skip
    for record, own in zip(rows, names, strict=True):
        said = binder.nearest(record.line)
        here = {label for section, label in machines if section == binder.section(record.line)}
        _of_its_name(record, own, binder)
        _but_for_said_anew(record, said, binder.section(record.line))
        bound = binder.bound(
            record.line, record.cells, record.opened, tabled=record.tabled, names=own
        )
        if (length := _by_its_rates(record, bound.get("seq_len"))) is not None:
            bound["seq_len"] = length
        for name, cell in bound.items():
            if shares_nothing(record, name):
                continue
            if name == "batch_size" and _of_another_batch(record, cell):
                continue
            if name == "micro_batch" and _takes_another(record, cell, bound):
                continue
            if name == "gpu" and cell.law == LAW and _on_a_system(record):
                continue
            if name == "network" and _of_other_devices(record, bound, networks.get(cell.line)):
                continue
            if (
                name == "model"
                and cell.law in (OF_MODEL, OF_FAMILY)
                and _names_what_it_trains(record)
            ):
                continue
            if name == "program" and _with_another(record, cell, here, sides=sides):
                continue
            if not _spoken_for(name, record.cells.get(name), cell):
                record.cells[name] = cell
                binder.use([cell])
        of_a_micro_batch(record.cells)
        of_tokens(record.cells)
        if (gpu := record.cells.get("gpu")) and gpu.state == "unknown" and _names_one(gpu):
            record.cells["gpu"] = gpu._replace(state="value")  # nobody says which of its sizes
        many = record.alike is not None and any(name in record.cells for name in said)
        record.overridden = dict(said) if many else overridden(record, said)
    shown_by_model(context, [row for row in rows if row.tabled])


def _spoken_for(name: str, held: Cell | None, cell: Cell) -> bool:
    """Whether what a row holds leaves nothing to say: no device that it does not print itself, and
    that is named in full here."""
    aside = name == "gpu" and held is not None and held.value_origin != "printed"
    return says_more(name, held, cell) and not (aside and more_of_the_same(held, cell))


def _of_its_name(record: Record, names: Sequence[str], binder: Binder) -> None:
    """Take out the number format that the line above a table says of all rows where the same line
    says another of this one: `bf16 (fp16 on the T4)`."""
    held = record.cells.get("dtype")
    if held is None or held.value_origin != "stated":
        return
    if any(each.line == held.line for each in binder.formats_of(record.line, names)):
        del record.cells["dtype"]


def _but_for_said_anew(record: Record, said: Said, section: Section) -> None:
    """Take out settings that a table in front of the heading of a row says of it where its own
    section says another: `the same, but with a micro-batch of 1`; a batch of all devices holds
    another number of those then."""
    heading = section[-1] if section else 0
    above = {
        name: cell for name, cell in record.cells.items()
        if cell.value_origin == "stated" and cell.line < heading
    }  # fmt: skip
    for name in sorted(_ANEW & said.keys() & above.keys()):
        own, cell = above[name], said[name]
        nearer = heading <= cell.line < record.line
        if nearer and own.state == cell.state == "value" and differ(own, cell):
            for each in {name, *_HELD_BY.get(name, ())} & above.keys():
                record.cells.pop(each, None)


_HELD_BY = {
    "micro_batch": ("global_batch", "global_batch_tokens"),
    "accumulation": ("global_batch", "global_batch_tokens"),
    "global_batch": ("accumulation", "global_batch_tokens"),
}
"""Settings that another one of a row makes other ones, too."""

_ANEW = {
    "micro_batch", "global_batch", "batch_size", "accumulation", "seq_len",
    "tp", "pp", "cp", "ep", "vp", "zero_stage",
}  # fmt: skip
"""Settings that a section may turn against what a table in front of it says."""


def _names_one(gpu: Cell) -> bool:
    """Whether a cell is the one device that the line which opens a table says its rows ran on."""
    one = only(gpu.text) if gpu.law == ON_IT else None
    return one is not None and one.text == gpu.text


def _of_another_batch(record: Record, said: Cell) -> bool:
    """Whether a batch is neither that of a replica nor that of all, by those that a row prints: it
    holds no whole number of its micro-batches, or more than all of its sequences."""
    size = number_of(said) if said.state == "value" else None
    cells = (record.cells.get(name) for name in ("micro_batch", "global_batch"))
    micro, whole = (number_of(cell) if cell and cell.state == "value" else None for cell in cells)
    return bool(size and ((micro and size % micro) or (whole and size > whole)))


def _takes_another(record: Record, said: Cell, bound: Said) -> bool:
    """Whether a row that prints its batch takes another at once than is said of all: it ran on one
    device, or nobody says on how many, and nothing says that it accumulates."""
    own = record.cells.get("batch_size")
    known = {**bound, **record.cells}
    steps, gpus = known.get("accumulation"), known.get("gpus")
    if own is None or own.value_origin != "printed" or (steps and number_of(steps) != 1):
        return False
    one = "nodes" not in known if gpus is None else number_of(gpus) == 1
    return one and differ(own, said)


def _of_other_devices(record: Record, bound: Said, beside: Cell | None) -> bool:
    """Whether a network is said of nodes of a device, `beside` it in one line, and a row ran on
    another one."""
    own = record.cells.get("gpu") or bound.get("gpu")
    ran, there = ({d.key for d in devices(each.text)} if each else set() for each in (own, beside))
    return bool(ran and there) and ran.isdisjoint(there)


def _on_a_system(record: Record) -> bool:
    """Whether a row names the machine that it ran on, whatever that has."""
    return any(
        _OF_SYSTEMS & {*split(label)} or _PROCESSOR.search(text) for label, text in record.other
    )


_OF_SYSTEMS = {
    "system", "systems", "cluster", "host", "machine", "server", "platform", "instance", "hardware",
    "device", "accelerator", "backend", "site", "partition", "node", "gpu", "机器", "集群", "硬件",
}  # fmt: skip
"""Words of labels over names of machines."""

_PROCESSOR = deferred(r"(?<![A-Za-z])(?:CPU|Xeon|EPYC|[TNHIL]PU)(?![A-Za-z])")


_RATES = (("tokens_per_gpu_per_s", "samples_per_gpu_per_s"), ("tokens_per_s", "samples_per_s"))
"""Rates of tokens and of sequences, both of one device or both of all."""


def _by_its_rates(record: Record, said: Cell | None) -> Cell | None:
    """The length of a row's sequences where nothing says it of the row, or it is only assumed, and
    its own rates of tokens and of sequences give another: the power of two that they do, or
    unknown. None where they say nothing against it.

    Sequences may be shorter than they could be, and are never longer.
    """
    if said is None or "seq_len" in record.cells:
        return None
    length = number_of(said) if said.value_origin == "assumed" and said.state == "value" else None
    for pair in _RATES if length or said.state == "unknown" else ():
        tokens, samples = (_as_printed(record.cells.get(name)) for name in pair)
        if tokens is None or samples is None or samples.low <= 0:
            continue
        low, high = tokens.low / samples.high, tokens.high / samples.low
        if length and low <= length <= high:
            return None
        if not 0 < high < inf:
            continue
        own = 2 ** max(0, int(log2(high)))
        if own >= low:
            return Cell(str(own), record.line, record.column, value_origin="solved", law=OF_RATES)
        if length and low > length:
            return Cell(said.text, record.line, record.column, state="unknown")
    return None


OF_RATES = "its tokens over its sequences per second"


def _as_printed(cell: Cell | None) -> Printed | None:
    """The interval of a number that a row prints; None of one that it does not."""
    if cell is None or cell.state != "value" or cell.value_origin != "printed":
        return None
    try:
        return printed(cell.text, cell.kind or "decimal", cell.scale)
    except ValueError:
        return None


def _naming(model: Cell) -> tuple[str, ...]:
    """Fields by which a row is of a model of its own: a family has those of every size."""
    return ("model",) if model.law == OF_FAMILY else NAMING


def _names_what_it_trains(record: Record) -> bool:
    """Whether a row says in a cell what it trains, in whatever words; a variant may be one of a
    run."""
    return any(
        _OF_MODELS & {*split(label)}
        and not ("variant" in split(label) and (ADDS.match(text) or _AS_IT_IS.match(text)))
        for label, text in record.other
    )


_AS_IT_IS = re.compile(r"\W*(?:baseline|default|stock|original|none|as is)\b", re.IGNORECASE)


_OF_MODELS = {
    "model", "models", "checkpoint", "variant", "network", "backbone", "architecture", "arch",
    "encoder", "模型", "モデル", "모델",
}  # fmt: skip
"""Words of labels over names of models."""


def _with_another(record: Record, cell: Cell, machines: Set[str], *, sides: bool) -> bool:
    """Whether a row names another program than the one that its document does; of columns side by
    side (`sides`: one of them is named by a program) each is of its own, and one that is called a
    reference is of what others ran. Labels over the names of `machines`, `System` over `Frontier`,
    are of none."""
    for label, text in record.other if record.tabled else ():
        if label == "column" and text.casefold() in ("参考", "reference"):
            return True
        if label in machines and program_named(text, any_case=True) is None:
            continue
        if normalise(label) in OF_PROGRAMS or (sides and label == "column"):
            own = program_named(text, any_case=True)
            if own is None and devices(text):
                continue  # a system of machines: `DGX-GB200`
            if own is None or own.text.partition(" ")[0] != cell.text.partition(" ")[0]:
                return True
        elif normalise(label) in OF_IMPLEMENTATIONS:
            own = program_named(text, any_case=True)
            called = own.text if own else text.strip(" *`")
            other = called.partition(" ")[0] != cell.text.partition(" ")[0]
            if other and (own or is_library(called.partition(" ")[0])):
                return True
    return False


def _ranges(statements: Sequence[Statement]) -> set[str]:
    """The ranges of models that statements are of."""
    return {each.subject for each in statements if each.here and is_range(each.subject)}


def _of_this_run(said: Said, row: Said) -> Said:
    """Cells without those of lines that say another device than a row's: what leads to a further
    table is of that one."""
    if not of_another_run(only_of(said, ("gpu",)), only_of(row, ("gpu",))):
        return said
    return {name: cell for name, cell in said.items() if cell.line != said["gpu"].line}


def _named_as_rows(every: Sequence[Statement], rows: Sequence[Record]) -> dict[int, str]:
    """The models that lines of statements name as rows of tables do, by these lines."""
    models = {called(cell.text) for row in rows if row.tabled and (cell := row.cells.get("model"))}
    return {
        each.line: name
        for each in every
        if (cell := each.values.get("model")) and (name := called(cell.text)) in models
    }


def _names(record: Record) -> list[str]:
    """Names under which a document may speak of a row: its model, labels of its first columns, the
    size of the model, its device, its number format and the side of the table that it is of."""
    if not record.tabled:
        return []
    size = record.cells.get("model_size", record.cells.get("parameters"))
    named = _named_by(record.cells.get("model"), size)
    gpu = record.cells.get("gpu")
    known = gpu is not None and gpu.state == "value"
    of_device = [gpu.text, *(each.key for each in devices(gpu.text))] if gpu and known else []
    kind = record.cells.get("dtype")
    of_format = [
        *([kind.text] if kind else []),
        *(text for label, text in record.other if label == "column"),
    ]
    labels = [label for label, _ in record.other[:2]]
    return [*named, *labels, *signs_of(record), *of_device, *of_format]


def _named_by(model: Cell | None, size: Cell | None) -> list[str]:
    """Names of a model by its cells: all of it, and its size."""
    names = [model.text] if model else []
    if size is not None and size.scale in _SIGNS:
        names.append(f"{size.text}{_SIGNS[size.scale]}")
    elif model and len(sizes := SIZED.findall(model.text)) == 1:
        names.append(sizes[0])
    family = _OF_A_FAMILY.match(model.text) if model else None
    return [*names, family[0]] if family and family[0] not in names else names


_OF_A_FAMILY = re.compile(r"[A-Z][A-Za-z]{3,}")
"""The beginning of a name of a model, by which a document speaks of several: `the Llama models`."""


_SIGNS = {1e9: "B", 1e6: "M"}
