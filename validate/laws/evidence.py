"""Everything that laws look at, worked out once: the run frame, the relations, the formulas."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Span
from assay.validate.arithmetic import count_relations
from assay.validate.arithmetic.following import Choice, Followed, followed
from assay.validate.arithmetic.printed_runs import runs
from assay.validate.arithmetic.relations import evaluate
from assay.validate.arithmetic.suspects import RELATIONS
from assay.validate.cases.cases import Cases, cases
from assay.validate.cases.observe import about
from assay.validate.cases.solved_shape import with_shapes


@dataclass
class Evidence:
    """A reading and its cases, and lazily what follows from them."""

    reading: Reading
    cases: Cases
    memo: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, reading: Reading, known: Cases | None = None) -> Evidence:
        """The evidence in a reading; `known` are its cases where they have been made already."""
        return cls(reading, known or with_shapes(cases(reading, about(reading.formats))))

    @cached_property
    def runs(self) -> pl.DataFrame:
        """The run frame, with layers and vocabularies that formulas single out filled in."""
        return _filled(self._bare, self.followed)

    @cached_property
    def _bare(self) -> pl.DataFrame:
        table = runs(self.reading, self.cases)
        return count_relations.prepared(table) if not table.is_empty() else table

    @cached_property
    def followed(self) -> list[Followed]:
        """Which formulas the tables follow, per printed quantity."""
        return followed(self._bare)

    @cached_property
    def checked(self) -> pl.DataFrame:
        """Every relation of every run; see `relations.CHECKED`."""
        return evaluate(self.runs, RELATIONS)

    @cached_property
    def choices(self) -> list[tuple[Followed, Choice]]:
        """Every choice with the rows it is about."""
        return [(each, choice) for each in self.followed for choice in each.choices]

    @cached_property
    def inferred(self) -> pl.DataFrame:
        """case, layers, formula_id: layer counts that a believed formula singles out."""
        kinds = {"case": pl.String, "layers": pl.Int64, "formula_id": pl.String}
        rows = [
            (case, int(layers), choice.candidate.formula_id)
            for each, choice in self.choices
            if choice.believed or choice.proven
            for case, layers, solved in zip(
                each.rows.table["case"].gather(choice.at),
                choice.candidate.layers[choice.at],
                choice.candidate.solved[choice.at],
                strict=True,
            )
            if solved and isfinite(layers)
        ]
        found = pl.DataFrame(rows, schema=kinds, orient="row")
        return found.unique("case", keep="first", maintain_order=True)

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


def _filled(table: pl.DataFrame, known: list[Followed]) -> pl.DataFrame:
    """Solved layers and padded vocabularies in the run frame, for the rows that lacked them."""
    if table.is_empty():
        return table
    layers: dict[str, int] = {}
    vocab: dict[str, int] = {}
    for each in known:
        names = each.rows.table["case"]
        for choice in each.choices:
            if not (choice.believed or choice.proven):
                continue
            for at in choice.at:
                one, other = choice.candidate.layers[at], choice.candidate.vocab[at]
                if choice.candidate.solved[at] and isfinite(one):
                    layers[names[int(at)]] = int(one)
                if isfinite(other) and each.rows.vocab[2, at] > each.rows.vocab[0, at]:
                    vocab[names[int(at)]] = int(other)
    found = [
        pl.col("case").replace_strict(held, default=None, return_dtype=pl.Int64)
        for held in (layers, vocab)
    ]
    table = table.with_columns(
        layers=pl.coalesce("layers", found[0]), _padded=found[1], inferred_layers=found[0]
    )
    padded = pl.col("_padded").is_not_null() & (pl.col("_padded") != pl.col("vocab"))
    return table.with_columns(
        vocab=pl.coalesce("_padded", "vocab"),
        vocab_low=pl.when(~padded).then("vocab_low"),
        vocab_high=pl.when(~padded).then("vocab_high"),
    ).drop("_padded")
