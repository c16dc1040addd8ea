"""One of many small inputs whose lines were looked at together: what was found on its own.

In: the lines of the input that may matter, peeled, and where records may begin among them. Out: the
`Region` of each format, the lines that may state something, the tally of those nobody claims. All
of it is what the queries of `folding` and `ledger` find in the input alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from assay.ingest.lines.candidates import NOTHING, Edges, Open, marked
from assay.ingest.pipeline.noise import Tally
from assay.ingest.schema.format import Format, Region
from assay.ingest.schema.record import Line
from assay.ingest.source.blocks import Mask, Places
from assay.ingest.source.opening import Source


@dataclass(frozen=True)
class Peeled:
    """Lines of one source without their prefixes, in order; a number may stand in several."""

    every: Sequence[Line] = ()

    @cached_property
    def numbered(self) -> Mapping[int, Sequence[Line]]:
        """The same by number."""
        found: dict[int, list[Line]] = {}
        for line in self.every:
            found.setdefault(line.number, []).append(line)
        return found


@dataclass(frozen=True)
class Looked:
    """Line numbers of one source; `lines` by whether glued records were taken apart."""

    source: Source
    numbers: Places  # of the lines that are left
    lines: Mapping[bool, Peeled]
    begun: Mapping[str, Places]  # by format that begins: where a record, or a document, may
    edges: Mapping[tuple[str, str], Edges]  # by format and head that opens something, among those
    worth: Callable[[], Places]  # may state something
    worth_headed: Callable[[], Places]  # the same with headings, and the lines around them
    closing: Places  # among the last, may tell of the end of a run
    blank: Mask  # of all lines of the source
    suspicious: Callable[[], Places]

    def region(self, fmt: Format, *, met: bool, without: Set[int]) -> Region:
        """The lines that a format looks at, those `without` apart; `met`: its document opens."""
        if fmt.behind:
            free = self._without(without) if fmt.name in self.begun else []
            seen = self._candidates(fmt, frozenset(free)) if free else []
        elif fmt.lines == "single":
            seen = [line for line in self._candidates(fmt, None) if line not in without]
        elif met and without.isdisjoint(self._left):
            return Region(self.source, self.lines[fmt.glued].every)
        else:
            seen = self._without(without) if met else []
        return Region(self.source, self.peeled(seen, glued=fmt.glued and not fmt.behind))

    def stating(self, *, headings: bool) -> Sequence[Line]:
        """The lines that may state something, peeled, and those of headings if asked for."""
        return self.peeled((self.worth_headed if headings else self.worth)().tolist())

    def unspoken(self, spoken: Set[int]) -> Tally:
        """Tally of the lines that nothing has been said of."""
        rest = self._without(spoken)
        if not rest:
            return Tally()
        blank = int(self.blank[np.array(rest) - 1].sum())
        odd = set(self.suspicious().tolist())
        return Tally(blank, len(rest) - blank, tuple(line for line in rest if line in odd))

    def peeled(self, numbers: Iterable[int], *, glued: bool = False) -> list[Line]:
        """The lines of these numbers without their prefixes."""
        lines = self.lines[glued].numbered
        return [line for number in numbers for line in lines[number]]

    @cached_property
    def _left(self) -> list[int]:
        left: list[int] = self.numbers.tolist()
        return left

    def _without(self, lines: Set[int]) -> list[int]:
        """The lines that are left, but for these."""
        return [line for line in self._left if line not in lines]

    def _candidates(self, fmt: Format, among: Set[int] | None) -> list[int]:
        """The lines that a format may look at, of those `among`."""
        begins = self.begun[fmt.name].tolist() if fmt.name in self.begun else ()
        begun = [n for n in begins if among is None or n in among]
        if not begun or (fmt.lines == "single" and not fmt.reach):
            return begun
        numbers = self.numbers if among is None else np.array(sorted(among))
        if fmt.lines != "single":
            return [*numbers.tolist()]
        held = np.zeros(len(numbers), np.bool_)
        held[np.searchsorted(numbers, begun)] = True
        for head, reach in fmt.reach.items():
            found = self.edges.get((fmt.name, head), NOTHING)
            if among is not None:
                found = Edges(*(lines[np.isin(lines, begun)] for lines in found))
            held |= marked(found, reach, Open(), numbers)
        return [*numbers[held].tolist()]
