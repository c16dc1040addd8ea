"""Everything that laws look at, worked out once: the run frame, the relations, the formulas."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Span
from assay.validate.arithmetic.following import Choice, Followed
from assay.validate.arithmetic.implied import Arithmetic
from assay.validate.cases.cases import Cases, cases
from assay.validate.cases.observe import about
from assay.validate.cases.solved_shape import with_shapes


@dataclass
class Evidence:
    """A reading and its cases, and lazily what follows from them."""

    reading: Reading
    cases: Cases
    arithmetic: Arithmetic
    memo: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, reading: Reading, worked: Arithmetic | None = None) -> Evidence:
        """The evidence in a reading; `worked` is its arithmetic if that has been done already."""
        if worked is None:
            worked = Arithmetic.of(with_shapes(cases(reading, about(reading.formats))))
        return cls(reading, worked.given, worked)

    @property
    def runs(self) -> pl.DataFrame:
        """The run frame, with layers and vocabularies that formulas single out filled in."""
        return self.arithmetic.runs

    @property
    def checked(self) -> pl.DataFrame:
        """Every relation of every run; see `relations.CHECKED`."""
        return self.arithmetic.checked

    @property
    def choices(self) -> list[tuple[Followed, Choice]]:
        """Every choice of a formula with the rows it is about."""
        return self.arithmetic.choices

    def span(self, case: str) -> Span:
        """Address of a run: its source and line."""
        return self._spans[case]

    @cached_property
    def _spans(self) -> dict[str, Span]:
        columns = self.runs.select("case", "source", "line", "column").iter_rows()
        return {case: Span(source, line, column or 1) for case, source, line, column in columns}

    def row(self, case: str) -> pl.DataFrame:
        """The run frame of one run."""
        return self.runs.slice(self._places[case], 1)

    @cached_property
    def _places(self) -> dict[str, int]:
        held = list(enumerate(self.runs["case"]))
        return {case: place for place, case in reversed(held)}  # the first of one case

    def headings(self, source: str, line: int) -> dict[str, tuple[float, Span]]:
        """Column → value and place of what is said above a row that prints it otherwise."""
        return self._headings.get((source, line), {})

    @cached_property
    def _headings(self) -> dict[tuple[str, int], dict[str, tuple[float, Span]]]:
        held: dict[tuple[str, int], dict[str, tuple[float, Span]]] = {}
        for each in self.reading.overridden:
            held.setdefault((each.source, each.line), {})[each.field] = (each.value, each.at)
        return held
