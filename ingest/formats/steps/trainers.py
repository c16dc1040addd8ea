"""Trainers whose lines are known: what a label means there, by the trainer's own source.

In: a line taken apart. Out: the `Trainer` whose line it is, if it is one of `trainers.toml`, and
the meaning of its pairs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from assay.ingest.formats.steps.step_shapes import Found
from assay.ingest.formats.steps.step_words import Meaning, words
from assay.ingest.numbers.units import unit


@dataclass(frozen=True)
class Trainer:
    """A trainer's line: the labels that it has, and what some of them mean.

    `columns` gives for a label the column, and the factor to its unit where the trainer says it.
    Where it is `counted`, each plain line of a step has a count and what it counts up to.
    """

    name: str
    seen: str
    labels: frozenset[str]
    form: str
    columns: Mapping[str, tuple[str, float | None]]
    counted: bool

    def sums_up(self, found: Found) -> bool:
        """Whether a line of this trainer tells of a whole epoch: no count stands in it with its
        total."""
        totals = any(pair.total for pair, _ in found.places)
        return self.counted and found.said.form == "plain" and not totals

    def meanings(self, found: Found) -> list[Meaning | None]:
        """The meaning of each pair of a line of this trainer."""
        return [
            self._meaning(_key(pair.label), known)
            for (pair, _), known in zip(found.places, found.meanings, strict=True)
        ]

    def _meaning(self, label: str, known: Meaning | None) -> Meaning | None:
        if label not in self.columns:
            return known
        name, scale = self.columns[label]
        if not name:
            return None
        if scale is None:
            scale = known.scale if known is not None else 1.0
        return Meaning(name, scale, training=True, typed=True, order=-1)


def trainer_of(found: Found) -> Trainer | None:
    """The trainer that prints such a line; None where none is known."""
    held = {_key(pair.label) for pair, _ in found.places}
    for each in trainers():
        if each.labels <= held and (not each.form or each.form == found.said.form):
            return each
    return None


@cache
def trainers() -> tuple[Trainer, ...]:
    """Every trainer of the file, in its order."""
    text = (files("assay.ingest.formats.steps") / "trainers.toml").read_text(encoding="utf-8")
    return tuple(
        Trainer(
            name,
            said["seen"],
            frozenset(said["labels"]),
            said.get("form", ""),
            {label: _column(column) for label, column in said["columns"].items()},
            said.get("counted", False),
        )
        for name, said in tomllib.loads(text).items()
    )


def _column(text: str) -> tuple[str, float | None]:
    """`step_time, s`: a column, and the factor of the unit that the number has there."""
    name, _, printed = text.partition(", ")
    known = unit(printed) if printed else None
    return name, known.scale if known is not None else None


def _key(label: str) -> str:
    return " ".join(words(label))
