"""Sequence lengths that the numbers of their rows decide, or take back.

A statement speaks for its rows until they contradict it. In: the run frame, the origins of its
values. Out: one `Decided` for each group of rows with one statement, or of one table without any,
whose numbers have something to say.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.model.formulas.registry import Formula
from assay.validate.arithmetic.counting import formulas_for
from assay.validate.arithmetic.following import of_one_gpu, with_speed
from assay.validate.arithmetic.rated_rows import RATE, Array, Rows, arrays, rows_of
from assay.validate.arithmetic.unknowns import counter
from assay.validate.cases.search import (
    NOTHING,
    Candidate,
    Clue,
    Decision,
    Readings,
    Spoken,
    decide_by,
    readings,
)

FIELD = "seq_len"

BOUNDS = (64.0, 2.0**20)
"""The shortest and the longest sequence that is thinkable."""

USUAL = tuple(Candidate(2.0**power, "a power of two") for power in range(7, 20))
"""Lengths that are tried where no statement survives."""

MOST_ROWS = 64
"""Rows of a group that are asked: a long log says the same again and again."""

MOST_STATED = 32
"""Lengths stated in one document that are tried for a group of rows, the nearest ones."""

GRID = 2049
"""Lengths at which rates are worked out; between them they are interpolated."""

REFERENCE = 1024
"""Length that stands in where none is known, while others are tried."""

WEAK = "assumed"
"""Origin of a statement that stands elsewhere: it gives way to columns as they are named, where one
that speaks for its rows stands as long as some basis of the columns agrees with it."""

_BASES = ("gpus", "dp", "nodes")
"""Counts that a rate may be per, instead of per job, or the other way round."""


@dataclass(frozen=True)
class Decided:
    """Answer for one group of rows: `value` replaces `held`, None takes it back."""

    cases: tuple[str, ...]
    held: float | None
    line: int | None  # of the statement that `held` is from
    value: int | None
    decision: Decision
    rows: tuple[str, ...]  # cases by the number of their row in the decision
    stated: int  # lengths that the document states, of which `MOST_STATED` are tried

    @property
    def law(self) -> str:
        """The reason, in words."""
        said = [
            f"{each.candidate.value:g} ({each.candidate.origin}) is excluded by "
            f"{each.law} in line {self.line_of(each.row)}"
            for each in self.decision.eliminated
        ]
        if self.stated > MOST_STATED:
            said.append(f"of {self.stated:,} lengths stated the {MOST_STATED} nearest were tried")
        if self.value is None:
            left = ", ".join(f"{each.value:g}" for each in self.decision.survivors) or "none tried"
            return "; ".join([f"not decided: {left} would fit", *said])
        kept = f"the only length that {self.decision.rows} different rows leave"
        return "; ".join([kept, *said])

    def line_of(self, row: int) -> str:
        """The line of a row."""
        return self.rows[row].rpartition("#")[2].partition(":")[0]


def decided(table: pl.DataFrame, origins: pl.DataFrame) -> list[Decided]:
    """Every group of rows whose numbers decide their sequence length, or take it back."""
    if table.is_empty():
        return []
    said = origins.filter(pl.col("name") == FIELD).select(
        "case", _origin="value_origin", _line="line", _law="law"
    )
    known = table.join(said, on="case", how="left", maintain_order="left").filter(
        ~pl.col("printed").list.contains(FIELD) & (pl.col("_law") != STATED).fill_null(value=True)
    )
    groups = list(_groups(known))
    if not groups:
        return []
    some = [at[:: max(1, len(at) // MOST_ROWS)] for at in groups]
    asked, stated = _Asked(known[np.concatenate(some)]), _stated(origins)
    cases, names = known["case"].rechunk(), asked.table["case"].to_list()
    told = known[[int(at[0]) for at in groups]]
    ends = np.cumsum([0, *map(len, some)])
    against = asked.against(told[FIELD], ends[:-1])
    firsts = told.select("source", "line", FIELD, "_line", "_origin").iter_rows()
    heads = [
        (source, _Head(row, held, line, origin, *own))
        for (source, row, held, line, origin), own in zip(firsts, against, strict=True)
    ]
    speaking = np.logical_or.reduceat(asked.speaking, ends[:-1]).tolist()
    found = []
    for at, span, speaks, (source, head) in zip(
        groups, pairwise(ends.tolist()), speaking, heads, strict=True
    ):
        rows = slice(*span)
        if speaks and (one := _decided(head, asked, rows, stated[source])):
            line, held, value, best = one
            many = len(stated[source].first)
            found.append(Decided((*cases[at],), held, line, value, best, (*names[rows],), many))
    return found


def _groups(known: pl.DataFrame) -> Iterator[Array]:
    """Positions of the rows of each group: of one statement, or of one table without any."""
    by = ["source", "_line", "_origin"]
    table = pl.when(pl.col("_line").is_null()).then("group")
    groups = (
        known.select(*by, FIELD, _table=table, _at=pl.int_range(pl.len()))
        .with_columns(_first=pl.col("_at").min().over(by))
        .group_by(*by, "_table", maintain_order=True)
        .agg("_at", pl.col("_first").first(), _held=pl.col(FIELD).drop_nulls().n_unique())
        .filter(pl.col("_line").is_null() | (pl.col("_held") == 1))
        .sort("_first", maintain_order=True)
    )
    return (positions.to_numpy() for positions in groups["_at"])


STATED = "stated by the user"


class _Stated:
    """Every length that one document states: the first line that does, and what each line says."""

    def __init__(self) -> None:
        self.first: dict[float, tuple[int, Candidate]] = {}
        self.at: dict[int, list[Candidate]] = {}

    def add(self, value: float, line: int) -> None:
        """Note that a line states a length."""
        said = Candidate(value, f"line {line}")
        self.first.setdefault(value, (line, said))
        self.at.setdefault(line, []).append(said)

    @cached_property
    def ordered(self) -> list[tuple[int, Candidate]]:
        """Each length behind its first line, by lines."""
        return sorted(self.first.values(), key=itemgetter(0))

    def near(self, line: int | None, row: int) -> list[Candidate]:
        """Each length once: from `line` if that states it, and that one first.

        Of more than `MOST_STATED` those whose lines stand nearest to `row`.
        """
        rest: Iterable[tuple[int, Candidate]] = self.first.values()
        if len(self.first) > MOST_STATED:
            place = bisect_left(self.ordered, row, key=itemgetter(0)) - MOST_STATED // 2
            begin = max(0, min(place, len(self.first) - MOST_STATED))
            rest = self.ordered[begin : begin + MOST_STATED]
        own = [] if line is None else self.at.get(line, [])
        found: dict[float, Candidate] = {}
        for each in (*own, *(each for _, each in rest)):
            found.setdefault(each.value, each)
        return list(found.values())


def _stated(origins: pl.DataFrame) -> defaultdict[str, _Stated]:
    """Source → the lengths that it states."""
    of = pl.col("case").str.extract("^(.*)#")
    said = origins.filter(pl.col("name") == FIELD).drop_nulls("line")
    found = defaultdict[str, _Stated](_Stated)
    told = said.select(of, "value", "line").unique(maintain_order=True)
    for source, value, line in told.iter_rows():
        found[source].add(float(value), line)
    return found


@dataclass(frozen=True)
class _Asked:
    """Rows that are asked, of all groups together, and what they leave of a sequence length."""

    table: pl.DataFrame

    @cached_property
    def plain(self) -> Spoken:
        """Relations that hold a length, as their columns are named."""
        return Spoken.of(self._clues[0])

    @cached_property
    def based(self) -> Spoken:
        """The same under every basis."""
        return Spoken.of(self._clues[1])

    def against(self, held: pl.Series, starts: Array) -> list[tuple[bool, bool]]:
        """Whether each group, by the length that it holds, contradicts that as its columns are
        named, and whether it does so under every basis."""
        sizes = np.diff(np.append(starts, self.table.height))
        values = np.repeat(held.cast(pl.Float64).to_numpy(), sizes)
        named, every = (each.contradicts(values, starts) for each in (self.plain, self.based))
        return list(zip(named.tolist(), every.tolist(), strict=True))

    def rated(self, rows: slice) -> Clue | None:
        """Their printed rates under each formula; None where they say nothing."""
        some = Clue(self._rates.law, self._rates.windows[:, :, rows])
        said = np.isfinite(some.windows).any(axis=(1, 2))
        return Clue(some.law, some.windows[said]) if said.any() else None

    @cached_property
    def speaking(self) -> Array:
        """Which rows print anything that a length is a part of."""
        rated = (self.table[RATE] > 0) & self.table[FIELD].is_not_null()
        found: Array = rated.fill_null(value=False).to_numpy() | self.based.told
        return found

    @cached_property
    def _clues(self) -> tuple[list[Clue], list[Clue]]:
        return _clues(self.table)

    @cached_property
    def _rates(self) -> Clue:
        return _rates(self.table)


class _Head(NamedTuple):
    """The first row of a group: its line, the length that the group holds, from where and as what,
    and whether its rows contradict that length as their columns are named, or however they are.

    Units: a length in tokens.
    """

    row: int
    held: int | None
    line: int | None
    origin: str | None
    against: bool
    always: bool


def _decided(
    head: _Head, asked: _Asked, span: slice, said: _Stated
) -> tuple[int | None, int | None, int | None, Decision] | None:
    """The answer for one group of rows, of which those in `span` of all are asked.

    Out: the line that states its length, the length held, the one that is decided, the decision.
    """
    held, line = head.held, head.line
    if held is None:
        best = _first_decided(said.near(line, head.row), asked.based.over(span))
    else:
        best = _against(head, said, asked, span)
    if best.value is not None:
        return line, held, int(best.value), best
    if held is None:
        return None
    if best is NOTHING and (rated := asked.rated(span)) is not None:
        best = _first_decided(said.near(line, head.row), readings([rated]))
    if best.rows > 1 and best.contradicts(held) and best.survivors:
        return line, held, None, best
    return None


def _against(head: _Head, said: _Stated, asked: _Asked, span: slice) -> Decision:
    """The decision by columns as they are named, where that contradicts the length that is held
    and, unless it is held weakly, no basis of the columns agrees with it."""
    own = [] if head.line is None else said.at.get(head.line, [])
    one = any(each.value == head.held for each in own)
    if one and not head.against:
        return NOTHING
    stated = said.near(head.line, head.row)
    one = any(each.value == head.held for each in stated)
    if one and not head.against:
        return NOTHING
    if head.origin != WEAK and not (one and head.always):
        return NOTHING
    best = _first_decided(stated, asked.plain.over(span))
    return best if head.held is not None and best.contradicts(head.held) else NOTHING


def _first_decided(stated: Sequence[Candidate], said: Readings | None) -> Decision:
    """The decision between what is stated; where nothing of that survives, with usual lengths."""
    told = {each.value for each in stated}
    usual = [each for each in USUAL if each.value not in told]
    return decide_by(said, stated, BOUNDS, otherwise=usual)


def _clues(rows: pl.DataFrame) -> tuple[list[Clue], list[Clue]]:
    """Relations that hold a sequence length: as their columns are named, and under every basis."""
    wanted = [
        pl.col(f"{name}_{end}")
        for name in ("samples_per_s", "step_time", "tokens_per_s", "tokens_per_gpu_per_s")
        for end in ("low", "high")
    ]
    counts = [pl.col(each) for each in ("global_batch", "global_batch_tokens", *_BASES)]
    held = list(arrays(rows, [*wanted, *counts]))
    samples, times, tokens, each = (np.array(held[at : at + 2]) for at in (0, 2, 4, 6))
    batch, batch_tokens, *bases = held[8:]
    gpus = bases[0]
    speeds = {"samples/s": samples, "GBS / step time": batch / times[::-1]}
    rates = {"tokens/s": tokens, "tokens/s per GPU · GPUs": each * gpus}
    plain, based = [], []
    for rate, most in rates.items():
        for speed, least in speeds.items():
            window = most / least[::-1]
            law = f"{rate} = {speed} · sequence length"
            plain.append(Clue(law, window[None]))
            factors = (factor for base in bases for factor in (base, 1.0 / base))
            based.append(Clue(law, np.array([window, *(window * each for each in factors)])))
    both = np.array([[batch_tokens / batch] * 2])
    whole = Clue("GBS in tokens = GBS · sequence length", both)
    return [*plain, whole], [*based, whole]


def _rates(rows: pl.DataFrame) -> Clue:
    """Printed rates as a relation: under each formula, the lengths that every row leaves open."""
    known = with_speed(of_one_gpu(rows.with_columns(pl.col(FIELD).fill_null(REFERENCE))))
    rated = rows_of(known, RATE)
    windows = []
    for formula in formulas_for(RATE) if rated is not None else ():
        if rated is not None and {FIELD} <= set(formula.inputs) <= set(rated.inputs):
            window = np.full((2, rows.height), np.nan)
            with np.errstate(divide="ignore", invalid="ignore"):  # of rows that lack an input
                window[:, rated.index.astype(int)] = _windows(rated, formula)
            windows.append(window)
    shape = (len(windows), 2, rows.height)
    return Clue("the printed rate by a known formula", np.array(windows).reshape(shape))


def _windows(rows: Rows, formula: Formula) -> Array:
    """Shortest and longest sequence under which each row prints its rate: [2, n]."""
    tokens = np.array([says.startswith("tokens") for says in rows.table["says"]])
    stated = rows.inputs[FIELD]
    layers = rows.inputs.get("layers", np.full(len(stated), np.nan))

    def least(length: Array) -> Array:
        return implied(length, 0)

    def most(length: Array) -> Array:
        return implied(length, 2)

    def implied(length: Array, end: int) -> Array:
        share = np.where(tokens, stated / length, 1.0) / rows.gpus
        flops = count(layers, rows.vocab[end], {FIELD: length})
        made: Array = flops * share * rows.samples[end]
        return made

    count = counter(rows, formula)

    shortest, longest = _length(most, rows.printed[0]), _length(least, rows.printed[2])
    known = np.isfinite(shortest) & np.isfinite(longest)
    found: Array = np.where(known, [shortest, longest], np.nan)
    return found


def _length(rate: Callable[[Array], Array], printed: Array) -> Array:
    """Length at which a rate, which grows with it, is as printed; the ends where it is beyond.

    On a grid of `GRID` lengths, and between two of them along the logarithms.
    """
    grid = np.geomspace(*BOUNDS, GRID)
    below, above = np.zeros(len(printed), int), np.full(len(printed), GRID - 1)
    first, last = rate(grid[below]), rate(grid[above])
    while (above - below > 1).any():
        middle = (below + above) // 2
        under = rate(grid[middle]) <= printed
        below, above = np.where(under, middle, below), np.where(under, above, middle)
    low, high = np.log(rate(grid[below])), np.log(rate(grid[above]))
    scale, said = np.log(grid), np.log(printed)
    found = (scale[above] - scale[below]) / (high - low) * (said - low) + scale[below]
    found = np.where(printed >= last, scale[-1], np.where(printed < first, scale[0], found))
    known = np.isfinite(np.log(first)) & np.isfinite(np.log(last)) & ~np.isnan(said)
    return np.array(np.where(known, np.exp(found), np.nan))


def lengths(found: Sequence[Decided]) -> Iterator[tuple[str, int | None, str]]:
    """Case, length and law of every decided row."""
    for each in found:
        for case in each.cases:
            yield case, each.value, each.law
