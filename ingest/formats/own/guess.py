"""From pasted lines to what they are made of: separator, labels, values, columns with units.

In: lines as a log prints them. Out: a `Guess`, or None where they hold no labelled numbers, with
one `Found` per column that can be made of its labels and values. Nothing that a line does not show
is guessed: a number without a unit stays without one, and what a column is compared with is left to
its author.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import polars as pl
from assay.ingest.formats.own.grammar import CELLS, DICTIONARY, cells
from assay.ingest.lines.lark import Grammar, Tree, parse_line
from assay.ingest.numbers.units import Unit, unit
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.record import BASE, Diagnostic, Span
from assay.ingest.schema.terminals import terminal
from assay.ingest.source.prefixes import peel
from assay.ingest.vocabulary.terms import normalise

SEPARATORS = (("|",), (";",), ("\t",), (", ",), (",",), (" - ",), (" / ",), (": ", ", "), (" ",))

ASSIGNS = ("=", ":", "->", " ")

LOOKED_AT = 500

SHOWN = 3
"""Lines that become samples: the first of each layout."""

_BEFORE = re.compile(r"^(.*[\s>\])\-|:])([A-Za-z_][^\s>\])|]*)$", re.DOTALL)

_PLAIN = re.compile(r"[A-Za-z_#][\w ./%()#*+\-\[\]]*")


class Cell(NamedTuple):
    """One cell of a line: its label, and the value as printed."""

    label: str
    value: str


@dataclass(frozen=True)
class Guess:
    """Guess how lines are written: in cells, or as a `grammar` reads; `before` is an expression."""

    separators: tuple[str, ...]
    assign: str
    grammar: str | None
    heads: tuple[str, ...]
    before: str
    columns: tuple[Found, ...]
    lines: tuple[str, ...]  # one per layout, as samples
    score: int = field(default=0, compare=False)


class _Read(NamedTuple):
    """A line: what stands before its record, what it begins with, and its cells."""

    line: str
    before: str
    head: str
    cells: list[Cell]


def guess(lines: Iterable[str]) -> Guess | None:
    """Guess how most of `lines` are written; None where no cells with numbers are found."""
    given = [line.rstrip() for line in lines if line.strip()][:LOOKED_AT]
    pairs = list(zip(given, peeled(given), strict=True))
    found = [_made((), "", DICTIONARY, [_dictionary(*pair) for pair in pairs])]
    for separators in SEPARATORS:
        if not all(any(each in bare for _, bare in pairs) for each in separators):
            continue
        for assign in ASSIGNS:
            lacks = assign.strip() and not any(assign in bare for _, bare in pairs)
            if lacks or any(assign.strip() and assign in each for each in separators):
                continue
            grammar = Grammar(cells(separators, assign))
            read = [_labelled(grammar, assign, *pair) for pair in pairs]
            found.append(_made(separators, assign, None, read))
    good = [each for each in found if each is not None and each.score > 0]
    return max(good, key=lambda each: each.score, default=None)


def peeled(lines: Sequence[str]) -> list[str]:
    """Lines without what launchers and loggers put in front."""
    frame = pl.DataFrame(
        {"line": range(1, len(lines) + 1), "text": list(lines)},
        schema={"line": pl.UInt32, "text": pl.String},
    )
    return peel(frame).group_by("line", maintain_order=True).first()["text"].to_list()


def _made(
    separators: tuple[str, ...], assign: str, grammar: str | None, read: Sequence[_Read]
) -> Guess | None:
    """Guess for lines that are written in this way: those with the head that says most."""
    least = 1 if len(read) == 1 else 2
    heads = Counter(each.head for each in read if _numbers(each.cells) >= least)
    if not heads:
        return None
    best = max(heads, key=lambda one: sum(_numbers(e.cells) for e in read if e.head == one))
    mine = [each for each in read if each.head == best]
    layouts: dict[tuple[str, ...], _Read] = {}
    values: dict[str, list[str]] = {}
    for each in mine:
        layouts.setdefault(tuple(cell.label for cell in each.cells), each)
        for cell in each.cells:
            values.setdefault(cell.label, []).append(cell.value)
    found = columns(values)
    befores = {_pattern(each.before) for each in mine}
    if not any(column.type != "text" for column in found):
        return None
    return Guess(
        separators, assign, grammar, (best,),
        befores.pop() if len(befores) == 1 else ".{0,200}?", found,
        tuple(each.line for each in list(layouts.values())[:SHOWN]),
        sum(_worth(cell, first=at == 0) for each in mine for at, cell in enumerate(each.cells)),
    )  # fmt: skip


def _dictionary(line: str, bare: str) -> _Read:
    """A line that ends with a dictionary, as Python or JSON writes it."""
    begin = bare.find("{")
    held = _cells(Grammar(DICTIONARY), "dict_line", bare[begin:]) if begin >= 0 else []
    if not held:
        return _Read(line, "", "", [])
    end = bare.find(held[0].label, begin) + len(held[0].label) + 1
    return _Read(line, bare[:begin], bare[begin:end], held)


def _labelled(grammar: Grammar, assign: str, line: str, bare: str) -> _Read:
    """A line of labelled cells; its record begins with a number, or with a plain label."""
    held = _cells(grammar, CELLS, bare)
    at = next(
        (n for n, cell in enumerate(held) if number_of(cell.value) or _PLAIN.fullmatch(cell.label)),
        None,
    )
    if at is None:
        return _Read(line, "", "", [])
    label = held[at].label
    apart = None if _PLAIN.fullmatch(label) else _BEFORE.match(label)
    name = apart[2] if apart else label
    begin = bare.find(label) + (len(apart[1]) if apart else 0)
    head = f"{name}{assign}" if assign.strip() and f"{name}{assign}" in line else name
    return _Read(line, bare[:begin], head, [Cell(name, held[at].value), *held[at + 1 :]])


def _worth(cell: Cell, *, first: bool) -> int:
    """How well a cell speaks for the way it was read."""
    if not _PLAIN.fullmatch(cell.label) or (unit(cell.label.split()[0]) and " " in cell.label):
        return -4
    words = 0 if first else len(cell.label.split()) - 1
    return (2 if number_of(cell.value) else -1 if cell.value else -2) - words


def _cells(grammar: Grammar, start: str, text: str) -> list[Cell]:
    tree = parse_line(grammar, start, text.strip(), Span("", 1))
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
    return sum(number_of(cell.value) is not None for cell in held)


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


COUNTERS = {"step", "steps", "iter", "iteration", "it", "epoch", "batch", "globalstep", "nstep"}

_MEASURED = re.compile(r"(?i)time|^dt$|elapsed|mem|rate|through|speed|band|flop|tok|bytes|util")

_LABEL_UNIT = re.compile(r"(.+?)(?:\s*[(\[]([^()\[\]]+)[)\]]|_([A-Za-z]+))$")

_PER = re.compile(r"(?i)[ _]per(?:[ _]|$)")

_TIMED = re.compile(r"(?i)time|elapsed|dur|took|wall|latency|eta")

ENDINGS = {"ms", "us", "ns", "sec", "secs", "seconds", "gb", "gib", "mb", "mib", "tb", "tib",
           "kib", "tflops"}  # fmt: skip

SHORT = {"s", "min", "minutes", "h", "hours"}
"""Ends of labels that are units: those that can be nothing else, and those of times alone."""


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
class Number:
    """Kind of a printed number: whether whole, its unit, whether it is like `120/1000`."""

    whole: bool
    unit: str | None = None  # as printed
    total: bool = False


@cache
def _value() -> re.Pattern[str]:
    number = rf"(?:{terminal('GROUPED')}|{terminal('NUMBER')})"
    return re.compile(rf"({number})(?:\s?([A-Za-zµ%][A-Za-z_/%]*))?(?:\s*\([^()]*\))?")


def number_of(text: str) -> Number | None:
    """Kind of number that a value is; None where it is no number."""
    if re.fullmatch(r"[0-9]+\s*/\s*[0-9]+", text):
        return Number(whole=True, total=True)
    found = _value().fullmatch(text)
    if found is None or (found[2] and unit(found[2]) is None):
        return None
    whole = re.fullmatch(r"[+-]?[0-9]+", found[1]) is not None
    return Number(whole=whole, unit=found[2])


def columns(values: Mapping[str, Sequence[str]]) -> tuple[Found, ...]:
    """The columns of cells; none for a label that now has numbers and now text."""
    found: list[Found] = []
    for label, printed in values.items():
        held = [text for text in printed if text]
        numbers = [number_of(text) for text in held]
        if not held or not normalise(label):
            continue
        totals = [number.total for number in numbers if number is not None]
        if any(totals) and (not all(totals) or _said_unit(label)):
            continue  # `40/80` in some unit: which of the two is it
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


def _numeric(label: str, numbers: list[Number]) -> Found:
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
    rate = _PER.sub("/", label)
    if (known := unit(rate)) and known.si != "1" and len(rate) > 2:
        return rate, known
    apart = _LABEL_UNIT.fullmatch(label)
    if apart is None or _PER.search(f"{apart[1]} "):
        return None
    if (name := apart[3]) and name.casefold() not in ENDINGS:  # `loss_min` is no time
        short = name.casefold() in SHORT and _TIMED.search(apart[1])
        if not short:
            return None
    name = apart[2] or apart[3]
    known = unit(name)
    return (name, known) if known else None


LOGGED = "logged_"
"""Before a name that a configuration column has: `gpu=0` may be an index, and no device."""

NAMES = {"token/s": "tokens_per_s", "sample/s": "samples_per_s", "flop/s": "flops_rate"}


def _named(label: str, known: Unit | None = None) -> str:
    """A name for a column: its label in lower case, without its unit."""
    if known is not None and unit(_PER.sub("/", label)) is not None and known.si in NAMES:
        one = known.si == "token/s" and "gpu" in label.casefold()
        return "tokens_per_gpu_per_s" if one else NAMES[known.si]
    apart = _LABEL_UNIT.fullmatch(label)
    if apart and known is not None and _said_unit(label) and not _PER.search(label):
        label = apart[1]
    name = re.sub(r"[^a-z0-9]+", "_", label.casefold()).strip("_")
    name = name if name and name[0].isalpha() else f"column_{name}".rstrip("_")
    return f"{LOGGED}{name}" if name in Configuration.__fields__ else name
