"""From pasted lines to what they are made of: separator, labels, values, units.

In: lines as a log prints them. Out: a `Guess`, or None where they hold no labelled numbers. Nothing
that a line does not show is guessed: a number without a unit stays without one, and what a column
is compared with is left to its author.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import polars as pl
from assay.ingest.carve import peel
from assay.ingest.formats.configuration import Configuration
from assay.ingest.own.grammar import CELLS, cells
from assay.ingest.parse import Grammar, Tree, parse_line, terminal
from assay.ingest.schema import normalise
from assay.ingest.types import BASE, Diagnostic, Span
from assay.ingest.units import Unit, unit

SEPARATORS = (("|",), (";",), ("\t",), (", ",), (",",), (" - ",), (" / ",), (": ", ", "), (" ",))
ASSIGNS = ("=", ":", "->", " ")
LOOKED_AT = 500
SHOWN = 3
"""Lines that become samples: the first of each layout."""

COUNTERS = {"step", "steps", "iter", "iteration", "it", "epoch", "batch", "globalstep", "nstep"}
_BEFORE = re.compile(r"^(.*[\s>\])\-|:])([A-Za-z_][^\s>\])|]*)$", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_#][\w ./%()#*+\-\[\]]*")
_MEASURED = re.compile(r"(?i)time|^dt$|elapsed|mem|rate|through|speed|band|flop|tok|bytes|util")
_LABEL_UNIT = re.compile(r"(.+?)(?:\s*[(\[]([^()\[\]]+)[)\]]|_([A-Za-z]+))$")


class Cell(NamedTuple):
    """One cell of a line: its label, and the value as printed."""

    label: str
    value: str


@dataclass(frozen=True)
class Found:
    """One column to be: where its unit is known, `factor` is the printed unit's name or None."""

    name: str
    label: str
    type: str
    unit: str | None = None
    factor: str | None = None
    total: bool = False  # `120/1000`: a second column holds what it counts up to
    remark: str = ""


@dataclass(frozen=True)
class Guess:
    """What lines seem to be made of; `before` is a regular expression."""

    separators: tuple[str, ...]
    assign: str
    heads: tuple[str, ...]
    before: str
    columns: tuple[Found, ...]
    lines: tuple[str, ...]  # one per layout, as samples
    score: int = field(default=0, compare=False)


def guess(lines: Iterable[str]) -> Guess | None:
    """What most of `lines` are made of; None where no cells with numbers are found."""
    given = [line.rstrip() for line in lines if line.strip()][:LOOKED_AT]
    bare = _peeled(given)
    best: Guess | None = None
    for separators in SEPARATORS:
        if not all(any(each in line for line in bare) for each in separators):
            continue
        for assign in ASSIGNS:
            told = assign.strip() and not any(assign in line for line in bare)
            if told or any(assign.strip() and assign in each for each in separators):
                continue
            found = _under(separators, assign, given, bare)
            if found is not None and found.score > 0 and (best is None or found.score > best.score):
                best = found
    return best


def _peeled(lines: Sequence[str]) -> list[str]:
    """Lines without what launchers and loggers put in front."""
    frame = pl.DataFrame(
        {"line": range(1, len(lines) + 1), "text": list(lines)},
        schema={"line": pl.UInt32, "text": pl.String},
    )
    return peel(frame).group_by("line", maintain_order=True).first()["text"].to_list()


def _under(
    separators: tuple[str, ...], assign: str, given: list[str], bare: list[str]
) -> Guess | None:
    """What the lines are if this is how their cells are written."""
    grammar = Grammar(cells(separators, assign))
    read = [
        _Read(line, *_begun(text, _cells(grammar, text)))
        for line, text in zip(given, bare, strict=True)
    ]
    least = 1 if len(read) == 1 else 2
    heads = Counter(each.label for each in read if _numbers(each.cells) >= least)
    if not heads:
        return None
    best = max(heads, key=lambda one: sum(_numbers(e.cells) for e in read if e.label == one))
    mine = [each for each in read if each.label == best]
    layouts: dict[tuple[str, ...], _Read] = {}
    values: dict[str, list[str]] = {}
    for each in mine:
        layouts.setdefault(tuple(cell.label for cell in each.cells), each)
        for cell in each.cells:
            values.setdefault(cell.label, []).append(cell.value)
    columns = _columns(values)
    befores = {_pattern(each.before) for each in mine}
    if not columns or not any(column.type != "text" for column in columns):
        return None
    before = befores.pop() if len(befores) == 1 else ".{0,200}?"
    literal = assign if assign.strip() and f"{best}{assign}" in mine[0].line else ""
    return Guess(
        separators, assign, (f"{best}{literal}",), before, columns,
        tuple(each.line for each in list(layouts.values())[:SHOWN]),
        sum(_worth(cell, first=at == 0) for each in mine for at, cell in enumerate(each.cells)),
    )  # fmt: skip


class _Read(NamedTuple):
    """A line: what stands before its record, the first label, and its cells."""

    line: str
    before: str
    label: str
    cells: list[Cell]


def _begun(text: str, held: list[Cell]) -> tuple[str, str, list[Cell]]:
    """Where the record begins: at the first cell with a number, or with a plain label."""
    at = next(
        (n for n, cell in enumerate(held) if _number(cell.value) or _PLAIN.fullmatch(cell.label)),
        None,
    )
    if at is None:
        return "", "", []
    label = held[at].label
    apart = None if _PLAIN.fullmatch(label) else _BEFORE.match(label)
    name = apart[2] if apart else label
    begin = text.find(label) + (len(apart[1]) if apart else 0)
    return text[:begin], name, [Cell(name, held[at].value), *held[at + 1 :]]


def _worth(cell: Cell, *, first: bool) -> int:
    """How well a cell speaks for the way it was read."""
    if not _PLAIN.fullmatch(cell.label) or (unit(cell.label.split()[0]) and " " in cell.label):
        return -4
    words = 0 if first else len(cell.label.split()) - 1
    return (2 if _number(cell.value) else -1 if cell.value else -2) - words


def _cells(grammar: Grammar, text: str) -> list[Cell]:
    tree = parse_line(grammar, CELLS, text.strip(), Span("", 1))
    if isinstance(tree, Diagnostic):
        return []
    found = []
    for part in tree.children:
        if isinstance(part, Tree):
            tokens = [str(token) for token in part.scan_values(lambda value: True)]
            value = tokens[-1].strip() if part.data == "metric" else ""
            found.append(Cell(tokens[0].strip(), value))
    return found


def _numbers(held: list[Cell]) -> int:
    return sum(_number(cell.value) is not None for cell in held)


def _pattern(before: str) -> str:
    """A regular expression for what stands in front of a record, other numbers in it.

    >>> _pattern("[rank 12] trainer - ")
    '\\\\[rank\\\\s+[0-9]+\\\\]\\\\s+trainer\\\\s+\\\\-\\\\s+'
    """
    parts = re.split(r"(\s+|[0-9]+)", before.lstrip())
    return "".join(
        r"\s+" if part.isspace() else "[0-9]+" if part.isdigit() else re.escape(part)
        for part in parts
    )


@dataclass(frozen=True)
class _Number:
    whole: bool
    unit: str | None = None  # as printed
    total: bool = False


@cache
def _value() -> re.Pattern[str]:
    number = rf"(?:{terminal('GROUPED')}|{terminal('NUMBER')})"
    return re.compile(rf"({number})(?:\s?([A-Za-zµ%][A-Za-z_/%]*))?(?:\s*\([^()]*\))?")


def _number(text: str) -> _Number | None:
    """What a value says of itself if it is a number; None where it is none."""
    if re.fullmatch(r"[0-9]+\s*/\s*[0-9]+", text):
        return _Number(whole=True, total=True)
    found = _value().fullmatch(text)
    if found is None or (found[2] and unit(found[2]) is None):
        return None
    whole = re.fullmatch(r"[+-]?[0-9]+", found[1]) is not None
    return _Number(whole=whole, unit=found[2])


def _columns(values: dict[str, list[str]]) -> tuple[Found, ...]:
    found: list[Found] = []
    for label, printed in values.items():
        held = [text for text in printed if text]
        numbers = [_number(text) for text in held]
        if not held or not normalise(label):
            continue
        if all(number is not None for number in numbers):
            column = _numeric(label, [number for number in numbers if number is not None])
        elif any(number is not None for number in numbers):
            continue  # now a number and now a text: its author must say
        else:
            column = Found(_named(label), label, "text")
        if column.name.startswith(LOGGED):
            plain = column.name.removeprefix(LOGGED)
            ask = f"call it {plain!r} if it is that configuration value of the run"
            column = replace(column, remark=ask)
        names = {other.name for other in found}
        while column.name in names or column.name in BASE or column.name.endswith("_ulp"):
            column = replace(column, name=f"{column.name}_")
        found.append(column)
    return tuple(found)


def _numeric(label: str, numbers: list[_Number]) -> Found:
    total = all(number.total for number in numbers)
    printed = next((number.unit for number in numbers if number.unit), None)
    known = unit(printed) if printed else None
    bare = any(number.unit is None for number in numbers)
    said = _said_unit(label)
    counts = normalise(label) in COUNTERS or total
    if known is not None:
        usual = printed if known.scale != 1 or known.si != "1" else None
        return Found(_named(label, known), label, "float", known.si, usual if bare or said is None
                     else None)  # fmt: skip
    if said is not None:
        return Found(_named(label, said[1]), label, "float", said[1].si, said[0])
    whole = all(number.whole for number in numbers)
    kind = "integer" if whole and counts else "float"
    remark = "no unit is printed: say it here if this has one" if _MEASURED.search(label) else ""
    return Found(_named(label), label, kind, total=total, remark=remark)


def _said_unit(label: str) -> tuple[str, Unit] | None:
    """The unit that a label names: all of it (`tok/s`), in brackets, or at its end (`time_ms`)."""
    if (known := unit(label)) and (known.si != "1" and len(label) > 2):
        return label, known
    apart = _LABEL_UNIT.fullmatch(label)
    name = (apart[2] or apart[3]) if apart else None
    known = unit(name) if name else None
    return (name, known) if name and known else None


LOGGED = "logged_"
"""Before a name that a configuration column has: `gpu=0` may be an index, and no device."""

NAMES = {"token/s": "tokens_per_s", "sample/s": "samples_per_s", "flop/s": "flops_rate"}


def _named(label: str, known: Unit | None = None) -> str:
    """A name for a column: its label in lower case, without its unit."""
    if known is not None and unit(label) is not None and known.si in NAMES:
        return NAMES[known.si]
    apart = _LABEL_UNIT.fullmatch(label)
    if apart and known is not None and unit(apart[2] or apart[3]):
        label = apart[1]
    name = re.sub(r"[^a-z0-9]+", "_", label.casefold()).strip("_")
    name = name if name and name[0].isalpha() else f"column_{name}".rstrip("_")
    return f"{LOGGED}{name}" if name in Configuration.__fields__ else name
