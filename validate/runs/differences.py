"""Two runs side by side: which arguments differ, and which figures beyond the noise of both."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.validate.runs.run import Run

SIGNIFICANT = 3.0
"""A change counts as one beyond so many times the spread of both runs together."""

PLACES = ("rank", "local_rank", "global_rank")
"""Arguments that differ between ranks, not between runs."""


class Argument(NamedTuple):
    """One argument whose value differs; None where a run does not print it."""

    name: str
    a: str | None
    b: str | None


class Change(NamedTuple):
    """One figure of both runs; `change` is b/a − 1, `noise` the spread of both together."""

    name: str
    unit: str
    a: float
    b: float
    change: float
    noise: float | None

    @property
    def beyond_noise(self) -> bool | None:
        """Whether the change is more than noise; None where no noise is known."""
        return None if self.noise is None else abs(self.change) > SIGNIFICANT * self.noise


@dataclass(frozen=True)
class Difference:
    """Differences between two runs."""

    a: Run
    b: Run
    configuration: Sequence[Argument]
    arguments: Sequence[Argument]
    changes: Sequence[Change]


def difference(a: Run, b: Run, reading_a: Reading, reading_b: Reading) -> Difference:
    """Every argument and every figure of two runs, compared."""
    configured = _differing(
        {name: str(value) for name, value in a.configuration.items()},
        {name: str(value) for name, value in b.configuration.items()},
    )
    printed = _differing(_arguments(reading_a, a), _arguments(reading_b, b))
    changes = [
        _change(name, a, b) for name in a.metrics if name in b.metrics and a.metrics[name].value
    ]
    return Difference(a, b, configured, printed, changes)


def _arguments(reading: Reading, run: Run) -> dict[str, str]:
    mine = pl.col("run") == run.case, ~pl.col("name").is_in(PLACES)
    return {
        f"{dump}.{name}": value or ""
        for held in reading.with_rows("argument")
        for dump, name, value in held.frame.filter(mine).select("dump", "name", "value").iter_rows()
    }


def _differing(a: Mapping[str, str], b: Mapping[str, str]) -> list[Argument]:
    names = sorted({*a, *b})
    return [Argument(n, a.get(n), b.get(n)) for n in names if a.get(n) != b.get(n)]


def _change(name: str, a: Run, b: Run) -> Change:
    one, other = a.metrics[name], b.metrics[name]
    first, second = float(one.value or 0.0), float(other.value or 0.0)
    noise = None
    if one.noise is not None and other.noise is not None:
        noise = math.hypot(one.noise, other.noise)
    return Change(name, one.unit, first, second, second / first - 1, noise)


_GATE = re.compile(r"\s*([a-z_]+)\s*(>=|<=|>|<)\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*%\s*")

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le
}  # fmt: skip


class Gate(NamedTuple):
    """`step_time>+5%`: fails where the change of a figure stands so to the limit."""

    text: str
    name: str
    relation: str
    limit: float

    def fails(self, change: float) -> bool:
        """Whether a relative change crosses the limit; one that is no number does."""
        return math.isnan(change) or _COMPARE[self.relation](change, self.limit)


def gate(text: str) -> Gate:
    """A gate as written; ValueError where it is none.

    >>> gate("step_time>+5%").fails(0.06), gate("mfu<-2%").fails(-0.01)
    (True, False)
    """
    said = _GATE.fullmatch(text)
    if said is None:
        raise ValueError(f"{text!r} is no gate; one looks like 'step_time>+5%' or 'mfu<-2%'")
    return Gate(text.strip(), said[1], said[2], float(said[3]) / 100.0)
