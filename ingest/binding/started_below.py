"""Commands that a document shows below a table, as those that its rows were started with.

In: statements of such commands, and what a row prints. Out: what all commands say alike that may
have started that row: those that say nothing otherwise than it does. A switch that one command
alone has may be of some of the rows, and is of none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.ingest.binding.comparing import (
    OF_A_MODEL,
    Said,
    Section,
    differ,
    differs_from,
    only_of,
    without,
)
from assay.ingest.schema.record import Cell, Statement
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
