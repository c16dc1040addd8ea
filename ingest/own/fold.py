"""Lines of a user's format to records, by the convention of `assay.ingest.records`.

A line is a record's if it begins with one of the heads, behind what `before` describes. It is read
with the first start rule that takes it; where none does, it is refused for the reason of the rule
that came farthest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.ingest.parse import Grammar, parse_line
from assay.ingest.records import Kind, take
from assay.ingest.types import Diagnostic, Folded, Line, Region, Schema, Span


@dataclass(frozen=True)
class Fold:
    """What makes records of the lines of one format; called with a region."""

    name: str
    heads: tuple[str, ...]
    before: str
    grammar: Grammar
    starts: Sequence[str]
    schema: Schema

    @cached_property
    def _begins(self) -> re.Pattern[str]:
        heads = "|".join(map(re.escape, self.heads))
        return re.compile(rf"\s*(?:{self.before})\s*(?={heads})")

    def __call__(self, region: Region) -> Folded:
        """Every line of a region that begins as a record does."""
        folded = Folded(parts=set())
        for line in region.lines:
            if begins := self._begins.match(line.text):
                at = begins.end()
                own = line._replace(text=line.text[at:], column=line.column + at)
                kind = Kind(self._rule(region, own), "", self.name, self.schema)
                take(folded, region, own, self.grammar, kind)
        folded.parts = None  # a line is one format's whole: nothing else may be read from it
        return folded

    def _rule(self, region: Region, line: Line) -> str:
        """The start rule that reads a line, or the one whose refusal says most."""
        if len(self.starts) == 1:
            return self.starts[0]
        span = Span(region.source.name, line.number, line.column)
        farthest, best = -1, self.starts[0]
        for start in self.starts:
            tree = parse_line(self.grammar, start, line.text.rstrip(), span)
            if not isinstance(tree, Diagnostic):
                return start
            if tree.span.column > farthest:
                farthest, best = tree.span.column, start
        return best
