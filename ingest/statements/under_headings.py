"""Configuration that a side file assumes for the rows under one heading of a document.

In: cells by their field, with a heading and `UNDER` in front of those that hold under it alone, and
the titles of a document. Out: what holds everywhere, what holds under a title, and the headings
that no title has. A title has a heading where it holds its words, whatever their letters' case.
Headings are kept as a tree of their words, so that a title is looked through once for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import NamedTuple

from assay.ingest.schema.record import Cell
from assay.ingest.statements.nested import LONGEST

UNDER = "\n"
"""Between a heading and the field that is assumed for the rows under it alone."""

_WORD = re.compile(r"\w+")


class _Heading(NamedTuple):
    """A heading in small letters, and the signs before and behind its words."""

    text: str
    before: int
    behind: int


class _Node:
    """Headings that begin with the same words."""

    def __init__(self) -> None:
        self.further: dict[str, _Node] = {}
        self.ending: dict[str, _Heading] = {}  # by the heading as it is written


class UnderHeadings:
    """Values that are assumed, everywhere and under each heading."""

    def __init__(self, assumed: Mapping[str, Cell]) -> None:
        self.everywhere: dict[str, Cell] = {}
        self._cells: dict[str, list[tuple[int, str, Cell]]] = {}  # by heading, in their order
        self._tree = _Node()
        self._of_title: dict[str, frozenset[str]] = {}
        for at, (key, cell) in enumerate(assumed.items()):
            heading, under, name = key.partition(UNDER)
            if not under:
                self.everywhere[key] = cell
                continue
            if heading not in self._cells:
                self._add(heading)
            self._cells.setdefault(heading, []).append((at, name, cell))

    def __bool__(self) -> bool:
        """Whether anything is assumed."""
        return bool(self.everywhere or self._cells)

    def _add(self, heading: str) -> None:
        text = heading.strip(" #*:")
        words = list(_WORD.finditer(text))
        node = self._tree
        for word in words:
            node = node.further.setdefault(_small(word[0]), _Node())
        before, behind = (words[0].start(), len(text) - words[-1].end()) if words else (0, 0)
        node.ending[heading] = _Heading(_small(text), before, behind)

    def under(self, title: str) -> dict[str, Cell]:
        """Values for the rows under a title; of several for one field the first counts."""
        told = [each for heading in self._in(title) for each in self._cells[heading]]
        found: dict[str, Cell] = {}
        for _, name, cell in sorted(told, key=itemgetter(0)):
            found.setdefault(name, cell)
        return found

    def unmet(self, titles: Iterable[str]) -> list[str]:
        """Headings that none of the titles of a document has."""
        if not self._cells:
            return []
        met = frozenset[str]().union(*map(self._in, titles))
        return [heading for heading in self._cells if heading not in met]

    def _in(self, title: str) -> frozenset[str]:
        """The headings that a title has."""
        if title not in self._of_title:
            self._of_title[title] = frozenset(self._found(title) if self._cells else ())
        return self._of_title[title]

    def _found(self, title: str) -> Iterator[str]:
        if len(title) > LONGEST:
            return
        words = list(_WORD.finditer(title))
        small = [_small(word[0]) for word in words]
        for heading, held in self._tree.ending.items():  # of signs alone
            if re.search(rf"(?<!\w){re.escape(held.text)}(?!\w)", title):
                yield heading
        for at, first in enumerate(words):
            node, last = self._tree, at
            while last < len(words) and (further := node.further.get(small[last])):
                node = further
                for heading, held in node.ending.items():
                    begin, end = first.start() - held.before, words[last].end() + held.behind
                    alone = not _WORD.match(title, end) and not _WORD.match(title[:begin][-1:])
                    if begin >= 0 and alone and _small(title[begin:end]) == held.text:
                        yield heading
                last += 1


def _small(text: str) -> str:
    """A text in small letters, as texts are compared."""
    return text.translate(_DOTTED).casefold()


_DOTTED = str.maketrans("İı", "ii")
