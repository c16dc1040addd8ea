"""Commands that a document shows away from a table, as those that its rows were started with.

In: statements of such commands, and what a row prints. Out: what all commands say alike that may
have started that row: those that say nothing otherwise than it does. Below a table, a switch that
one command alone has may be of some of the rows, and is of none of them. Sections that show how to
run one model each are of the rows of tables whose every row is of a model that has such a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from assay.ingest.binding.comparing import (
    OF_A_MODEL,
    Said,
    Section,
    agreed,
    differ,
    differs_from,
    only_of,
    without,
)
from assay.ingest.schema.record import REMEMBERED, Cell, Record, Statement
from assay.ingest.statements.context import Context
from assay.ingest.statements.row_words import SETTINGS
from assay.ingest.statements.values import saying

_COUNTS = ("gpu", "gpus", "nodes", "gpus_per_node", "dp")

_APART = ("gpu", "gpus_per_node", "dtype")
"""Fields that are not compared by their texts."""

_SWITCHES = ("attention", "recompute", "activation_checkpointing", "zero_stage", "sharding",
             "sequence_parallel", "accumulation")  # fmt: skip


@dataclass
class _Command:
    """One command: the first row that it may have started, and what it says."""

    since: int
    line: int
    values: dict[str, Cell] = field(default_factory=dict)


class StartedBelow:
    """The commands below tables of a document, by their sections."""

    def __init__(self, statements: Sequence[Statement], begun: Mapping[int, int]) -> None:
        self._of: dict[Section, dict[int, _Command]] = {}
        for each in statements:
            if is_below(each, begun):
                first = begun[each.line]
                here = self._of.setdefault(each.section, {})
                here.setdefault(first, _Command(each.since, first)).values.update(each.values)

    def said_of(self, section: Section, line: int, own: Said) -> dict[str, Cell]:
        """Settings that commands below a row say which may have started it."""
        every = [
            each for each in self._of.get(section, {}).values() if each.since <= line < each.line
        ]
        mine = [each for each in every if not _of_another_run(each.values, own)]
        names = [*SETTINGS, *OF_A_MODEL]
        told = [without(only_of(each.values, names), _COUNTS) for each in mine]
        alike = {
            name: cell for name, cell in (told[0].items() if told else ())
            if cell.state == "value"
            and all(name in each and saying(each[name]) == saying(cell) for each in told)
        }  # fmt: skip
        return without(alike, _SWITCHES) if len(every) == 1 else alike


def is_below(statement: Statement, begun: Mapping[int, int]) -> bool:
    """Whether a statement is of a command below the rows that it started."""
    return bool(statement.since) and not statement.until and statement.line in begun


def _of_another_run(command: Said, own: Said) -> bool:
    """Whether a command says a setting otherwise than a row prints it."""
    names = [name for name in command if name in SETTINGS and name not in _APART]
    said, printed = command.get("dtype"), own.get("dtype")
    if said and printed and _format(said) != _format(printed):
        return True
    if any(differs_from(own.get(name), command[name]) for name in names):
        return True
    each, many = command.get("gpus_per_node"), own.get("gpus")
    if each is None or many is None or "nodes" in command:
        return False
    return "value" == each.state == many.state and differ(each, many)


def _format(cell: Cell) -> str:
    """A number format in its short spelling: `bf16` for `BFloat16`."""
    return cell.text.casefold().replace("bfloat", "bf").replace("float", "fp").replace("-", "")


@dataclass(frozen=True)
class _Shown:
    """How one model is run, as a section of its own shows it."""

    model: str
    values: Mapping[str, Cell]

    def fits(self, row: Record) -> bool:
        """Whether a row is of that model, and has no setting otherwise."""
        if (model := row.cells.get("model")) is None or called(model.text) != self.model:
            return False
        own = {n: c for n, c in row.cells.items() if c.value_origin != "assumed"}
        return not _of_another_run(self.values, own)


FEWEST = 2
"""Models that have a section each, and settings that such a section says."""

LAW = "the section on how its model is run says so"


def shown_by_model(context: Context, rows: Sequence[Record]) -> None:
    """Fill settings of rows of tables, in place, that the sections on how to run their models show:
    `### Run Finch 13B on 8 chips`, a command below it, and a table of all models elsewhere."""
    shown = list(_sections_of_models(context, rows))
    if len({each.model for each in shown}) < FEWEST:
        return
    for _, group in groupby(rows, key=lambda row: (_section_at(context, row.line), row.opened)):
        table = list(group)
        mine = [[each for each in shown if each.fits(row)] for row in table]
        if not all(mine) or len({each.model for many in mine for each in many}) < FEWEST:
            continue
        for row, many in zip(table, mine, strict=True):
            told = agreed([Statement(0, (), dict(each.values)) for each in many], None)
            for name, cell in told.items():
                held = row.cells.get(name)
                if cell.state == "value" and (held is None or held.value_origin == "assumed"):
                    row.cells[name] = cell._replace(value_origin="assumed", law=LAW)
                    context.used.add(cell.line)


def _sections_of_models(context: Context, rows: Sequence[Record]) -> Iterator[_Shown]:
    """The sections without tables of runs that are of one model each and say how it is run."""
    tabled = {at for row in rows for at in _section_at(context, row.line)}
    by_section: dict[Section, list[Statement]] = {}
    for each in context.statements:
        if each.section and not (each.of_run or each.subject or each.until):
            by_section.setdefault(each.section, []).append(each)
    for section, said in by_section.items():
        names = {called(each.values["model"].text) for each in said if "model" in each.values}
        values = agreed(said, [*SETTINGS - {"gpu"}])
        of_all = agreed(by_section.get(section[:-1], ()), [*SETTINGS - {"gpu"}])
        headed = any(each.line == section[-1] and "model" in each.values for each in said)
        if section[-1] not in tabled and headed and len(names) == 1 and len(values) >= FEWEST:
            yield _Shown(names.pop(), of_all | values)


def _section_at(context: Context, line: int) -> Section:
    """The headings above a line, outermost first."""
    return next((path for at, path in reversed(context.sections) if at <= line), ())


def called(name: str) -> str:
    """A model's name as it is compared: `Llama-2-7b-hf` is `LLaMA 2 7B`."""
    return letters(_VARIANT.sub("", name.rpartition("/")[2].casefold()))


@lru_cache(maxsize=REMEMBERED)  # each row of a table is asked beside the same clauses
def letters(text: str) -> str:
    """The letters and numbers of a text alone, in which names of models are looked for."""
    return _SIGNS.sub("", text.casefold())


_SIGNS = re.compile(r"[^a-z0-9.]+")

_VARIANT = re.compile(r"[-_ ](?:hf|base|instruct|chat|it|v[0-9](?:\.[0-9])?)$")
"""The end of a name that says for whom or from where a model is, and not how large it is."""
