"""From pasted lines to what they are made of: separator, labels, values, units.

In: lines as a log prints them. Out: a `Guess`, or None where they hold no labelled numbers. Nothing
that a line does not show is guessed: a number without a unit stays without one, and what a column
is compared with is left to its author.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl
from assay.ingest.carve import peel
from assay.ingest.own.found import Found, columns, number_of
from assay.ingest.own.grammar import CELLS, DICTIONARY, cells
from assay.ingest.parse import Grammar, Tree, parse_line
from assay.ingest.types import Diagnostic, Span
from assay.ingest.units import unit

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
    """What lines seem to be made of: cells, or what a `grammar` says; `before` is an expression."""

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
    """What most of `lines` are made of; None where no cells with numbers are found."""
    given = [line.rstrip() for line in lines if line.strip()][:LOOKED_AT]
    pairs = list(zip(given, _peeled(given), strict=True))
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


def _peeled(lines: Sequence[str]) -> list[str]:
    """Lines without what launchers and loggers put in front."""
    frame = pl.DataFrame(
        {"line": range(1, len(lines) + 1), "text": list(lines)},
        schema={"line": pl.UInt32, "text": pl.String},
    )
    return peel(frame).group_by("line", maintain_order=True).first()["text"].to_list()


def _made(
    separators: tuple[str, ...], assign: str, grammar: str | None, read: Sequence[_Read]
) -> Guess | None:
    """What the lines are if this is how they are written: those with the head that says most."""
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
