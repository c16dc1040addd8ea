"""One of many small inputs whose lines were looked at together: what was found on its own.

In: the lines of the input that may matter, peeled, and where records may begin among them. Out: the
`Region` of each format, the lines that may state something, the tally of those nobody claims. All
of it is what the queries of `folding` and `ledger` find in the input alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from assay.ingest.lines.candidates import Edges, Open, marked
from assay.ingest.pipeline.noise import Tally
from assay.ingest.schema.format import Format, Region
from assay.ingest.schema.record import Line
from assay.ingest.source.blocks import Places
from assay.ingest.source.opening import Source


@dataclass(frozen=True)
class Looked:
    """Line numbers of one source; `lines` by whether glued records were taken apart."""

    source: Source
    numbers: Places  # of the lines that are left
    lines: Mapping[bool, Mapping[int, Sequence[Line]]]
    begun: Mapping[str, Sequence[int]]  # by format: where a record, or a document, may begin
    edges: Mapping[tuple[str, str], Edges]  # by format and head, among those
    worth: Sequence[int]  # may state something
    blank: Set[int]
    suspicious: Set[int]

    def region(self, fmt: Format, *, met: bool, without: Set[int]) -> Region:
        """The lines that a format looks at, those `without` apart; `met`: its document opens."""
        if fmt.behind:
            free = [line for line in self.numbers.tolist() if line not in without]
            seen = self._candidates(fmt, frozenset(free)) if free else []
        elif fmt.lines == "single":
            seen = [line for line in self._candidates(fmt, None) if line not in without]
        else:
            seen = [line for line in self.numbers.tolist() if line not in without] if met else []
        return Region(self.source, self.peeled(seen, glued=fmt.glued and not fmt.behind))

    def stating(self) -> Sequence[Line]:
        """The lines that may state something, peeled."""
        return self.peeled(self.worth)

    def unspoken(self, spoken: Set[int]) -> Tally:
        """Tally of the lines that nothing has been said of."""
        rest = [line for line in self.numbers.tolist() if line not in spoken]
        blank = sum(line in self.blank for line in rest)
        odd = (line for line in rest if line in self.suspicious)
        return Tally(blank, len(rest) - blank, tuple(odd))

    def peeled(self, numbers: Iterable[int], *, glued: bool = False) -> list[Line]:
        """The lines of these numbers without their prefixes."""
        return [line for number in numbers for line in self.lines[glued][number]]

    def _candidates(self, fmt: Format, among: Set[int] | None) -> list[int]:
        """The lines that a format may look at, of those `among`."""
        begun = [n for n in self.begun.get(fmt.name, ()) if among is None or n in among]
        if not begun or (fmt.lines == "single" and not fmt.reach):
            return begun
        numbers = self.numbers if among is None else np.array(sorted(among))
        if fmt.lines != "single":
            return [*numbers.tolist()]
        held = np.zeros(len(numbers), np.bool_)
        held[np.searchsorted(numbers, begun)] = True
        for head, reach in fmt.reach.items():
            found = self.edges[fmt.name, head]
            if among is not None:
                found = Edges(*(lines[np.isin(lines, begun)] for lines in found))
            held |= marked(found, reach, Open(), numbers)
        return [*numbers[held].tolist()]
