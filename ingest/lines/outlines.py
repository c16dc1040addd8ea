"""Lines that differ in numbers alone: what one of them says, another says with its own numbers.

In: a text, and the cells that it says. Out: its outline, which such lines share, and a `Form` that
gives each of them its cells. Documents and programs say the same of one run after the other, and to
understand a sentence costs most of what it costs to read it.

A number that stands apart and has three digits or more is a value to all who read sentences: they
ask how many digits it has, and whether another one is the same. Names of devices and rates of
networks are told by their numbers, so that texts which may hold some are outlines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import NamedTuple

from assay.ingest.schema.record import REMEMBERED, Cell
from assay.ingest.vocabulary.devices import may_name
from assay.ingest.vocabulary.networks import names_network

_NUMBER = re.compile(r"(?<![\w.,/$%^-])[1-9][0-9]{2,8}(?![\w/%^]|[.,:–-]\w)")

_WORD = re.compile(r"[A-Za-z][\w-]*")
"""Letters and digits together, which are the same in all texts of an outline: `TP8`, `tp8-pp4`."""

_BLANK = "\0"
"""A digit that may be any other."""

_DIGIT = re.compile("[0-9]")

MOST = 4096
"""Outlines that are remembered at a time."""


LONGEST = 1000
"""Characters of a text beyond which none has its outline."""


def outline(text: str) -> str:
    """A text without the digits of its numbers, but for which of them are the same.

    >>> one = outline("hidden 1024, seq 2048")
    >>> [one == outline(f"hidden {said}, seq 8192") for said in ("4096", "8192", "512")]
    [True, False, False]
    >>> outline("12 layers on 128 A100")
    '12 layers on 128 A100'
    """
    return _outline(text) if len(text) <= LONGEST else text


@lru_cache(maxsize=REMEMBERED)  # a line is asked as a title and as a statement
def _outline(text: str) -> str:
    numbers = _NUMBER.findall(text)
    if not numbers or _BLANK in text or may_name(text) or names_network(text):
        return text
    blank = _NUMBER.sub(lambda found: _BLANK * len(found[0]), text)
    if len(numbers) == len(set(numbers)):
        return blank
    return blank + _BLANK + "".join(chr(numbers.index(number)) for number in numbers)


class Form(NamedTuple):
    """The cells that a text says, and where in it those stand that have a number of it."""

    cells: Mapping[str, Cell]
    own: tuple[tuple[str, int, int], ...]

    def said_by(self, text: str, line: int) -> dict[str, Cell]:
        """The cells that another text of the same outline says, on its line."""
        found = {name: Cell(cell[0], line, *cell[2:]) for name, cell in self.cells.items()}
        for name, begin, end in self.own:
            found[name] = Cell(text[begin:end], *found[name][1:])
        return found


def form(text: str, cells: Mapping[str, Cell], column: int) -> Form | None:
    """The form of a text that begins in a column and says some cells; None where one of these has
    digits that do not stand at its place, or a part of a number: they may be worked out.

    >>> said = {"hidden": Cell("1024", 1, 8)}
    >>> told = form("hidden 1024", said, 1)
    >>> told.said_by("hidden 4096", 9)["hidden"][:3]
    ('4096', 9, 8)
    >>> form("hidden 1024", {"hidden": Cell("2048", 1, 8)}, 1)
    """
    numbers = [found.span() for found in _NUMBER.finditer(text)]
    if outline(text) == text:
        return Form(cells, ())
    own = []
    for name, cell in cells.items():
        begin = cell.column - column
        end = begin + len(cell.text)
        if begin == 0 and len(numbers) == 1 and text[slice(*numbers[0])] == cell.text:
            begin, end = numbers[0]  # of all of a line with one number
        if begin < 0 or text[begin:end] != cell.text:
            word = _WORD.match(text, max(0, begin))
            if _DIGIT.search(cell.text) and not (word and cell.text in word[0]):
                return None
            continue
        inside = [span for span in numbers if begin < span[1] and span[0] < end]
        if any(first < begin or last > end for first, last in inside):
            return None
        if inside:
            own.append((name, begin, end))
    return Form(cells, tuple(own))


def once(ask: Callable[[str], bool]) -> Callable[[str], bool]:
    """A question about texts that is asked of one text of each outline."""
    known: dict[str, bool] = {}

    @wraps(ask)
    def told(text: str) -> bool:
        key = outline(text)
        if key not in known:
            if len(known) >= MOST:
                known.clear()
            known[key] = ask(text)
        return known[key]

    return told


def by_outline(read: Callable[[str], Mapping[str, Cell]]) -> Callable[[str], Mapping[str, Cell]]:
    """A reader of texts, whose cells count columns from 0, that reads one text of each outline."""
    known: dict[str, Form | None] = {}

    @wraps(read)
    def told(text: str) -> Mapping[str, Cell]:
        key = outline(text)
        if key in known:
            held = known[key]
            return read(text) if held is None else held.said_by(text, 0)
        cells = read(text)
        if len(known) >= MOST:
            known.clear()
        known[key] = form(text, cells, 0)
        return cells

    return told
