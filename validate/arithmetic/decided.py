"""Sequence lengths that the numbers of their rows decide, or take back.

A statement speaks for its rows until they contradict it. In: the run frame, the origins of its
values. Out: one `Decided` for each group of rows with one statement, or of one table without any,
whose numbers have something to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from assay.model.formulas.registry import Formula
from assay.validate.arithmetic.counting import formulas_for
from assay.validate.arithmetic.following import of_one_gpu, with_speed
from assay.validate.arithmetic.rated_rows import RATE, Array, Rows, arrays, rows_of
from assay.validate.arithmetic.unknowns import counter
from assay.validate.cases.search import NOTHING, Candidate, Clue, Decision, decide

FIELD = "seq_len"

BOUNDS = (64.0, 2.0**20)
"""The shortest and the longest sequence that is thinkable."""

USUAL = tuple(Candidate(2.0**power, "a power of two") for power in range(7, 20))
"""Lengths that are tried where no statement survives."""

MOST_ROWS = 64
"""Rows of a group that are asked: a long log says the same again and again."""

GRID = 2049
"""Lengths at which rates are worked out; between them they are interpolated."""

REFERENCE = 1024
"""Length that stands in where none is known, while others are tried."""

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

    @property
    def law(self) -> str:
        """The reason, in words."""
        said = [
            f"{each.candidate.value:g} ({each.candidate.origin}) is excluded by "
            f"{each.law} in line {self.line_of(each.row)}"
            for each in self.decision.eliminated[:3]
        ]
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
    found = []
    for _, rows in known.group_by("source", "_line", "_origin", maintain_order=True):
        held = rows[FIELD].drop_nulls().unique()
        if rows["_line"][0] is None:
            parts = [part for _, part in rows.group_by("group", maintain_order=True)]
        else:
            parts = [rows] if len(held) == 1 else []
        for part in parts:
            one = _decided(part, _stated(origins, part["source"][0], part["_line"][0]))
            if one is not None:
                found.append(one)
    return found


STATED = "stated by the user"


def _stated(origins: pl.DataFrame, source: str, line: int | None) -> list[Candidate]:
    """Every length that the document states anywhere, with a line that does: `line` if it can."""
    of = pl.col("case").str.starts_with(f"{source}#")
    said = origins.filter((pl.col("name") == FIELD) & of).drop_nulls("line")
    near = pl.col("line").ne_missing(pl.lit(line, dtype=pl.UInt32))  # the rows' own first
    first = said.sort(near, maintain_order=True).unique("value", keep="first", maintain_order=True)
    return [
        Candidate(float(value), f"line {line}")
        for value, line in first.select("value", "line").iter_rows()
    ]


def _decided(rows: pl.DataFrame, stated: Sequence[Candidate]) -> Decided | None:
    asked = rows.gather_every(max(1, rows.height // MOST_ROWS))
    plain, based = _clues(asked)
    held = rows[FIELD][0]
    cases, names = tuple(rows["case"]), tuple(asked["case"])
    line = rows["_line"][0]
    if held is None:
        best = _first_decided(stated, based)
    else:
        best = _first_decided(stated, plain)
        if not best.contradicts(held) or not decide(stated, based, BOUNDS).contradicts(held):
            best = NOTHING
    if best.value is not None:
        return Decided(cases, held, line, int(best.value), best, names)
    if held is None:
        return None
    if best is NOTHING and (rated := _rates(asked)) is not None:
        best = _first_decided(stated, [rated])
    if best.rows > 1 and best.contradicts(held) and best.survivors:
        return Decided(cases, held, line, None, best, names)
    return None


def _first_decided(stated: Sequence[Candidate], clues: Sequence[Clue]) -> Decision:
    """The decision between what is stated; where nothing of that survives, with usual lengths."""
    found = decide(stated, clues, BOUNDS)
    if found.survivors or (found is NOTHING and stated):
        return found
    told = {each.value for each in stated}
    more = decide([*stated, *(each for each in USUAL if each.value not in told)], clues, BOUNDS)
    return more if more.survivors else found


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
            plain.append(Clue(law, {"": window}))
            factors = {f"{way} {name}": base if way == "times" else 1.0 / base
                       for name, base in zip(_BASES, bases, strict=True)
                       for way in ("times", "per")}  # fmt: skip
            based.append(Clue(law, {"": window, **_under(window, factors)}))
    whole = Clue(
        "GBS in tokens = GBS · sequence length", {"": np.array([batch_tokens / batch] * 2)}
    )
    return [*plain, whole], [*based, whole]


def _under(window: Array, factors: Mapping[str, Array]) -> dict[str, Array]:
    return {name: window * factor for name, factor in factors.items()}


def _rates(rows: pl.DataFrame) -> Clue | None:
    """Printed rates as a relation: under each formula, the lengths that every row leaves open."""
    known = with_speed(of_one_gpu(rows.with_columns(pl.col(FIELD).fill_null(REFERENCE))))
    rated = rows_of(known, RATE)
    if rated is None:
        return None
    grid = np.geomspace(*BOUNDS, GRID)
    readings = {}
    for formula in formulas_for(RATE):
        if {FIELD} <= set(formula.inputs) <= set(rated.inputs):
            window = np.full((2, rows.height), np.nan)
            window[:, rated.index.astype(int)] = _windows(rated, formula, grid)
            if np.isfinite(window).any():
                readings[formula.formula_id] = window
    return Clue("the printed rate by a known formula", readings) if readings else None


def _windows(rows: Rows, formula: Formula, grid: Array) -> Array:
    """Shortest and longest sequence under which each row prints its rate: [2, n]."""
    tokens = np.array([says.startswith("tokens") for says in rows.table["says"]])
    stated = rows.inputs[FIELD]
    layers = rows.inputs.get("layers", np.full(len(stated), np.nan))
    wide = replace(rows, inputs=rows.inputs | {FIELD: grid[:, None]})
    count = counter(wide, formula)
    share = np.where(tokens, stated / grid[:, None], 1.0) / rows.gpus
    implied = [count(layers, rows.vocab[end]) * share * rows.samples[end] for end in (0, 2)]
    found = np.full((2, len(stated)), np.nan)
    scale = np.log(grid)
    for row in range(len(stated)):
        low, high = (np.log(end[:, row]) for end in implied)
        if np.isfinite(low).all() and np.isfinite(high).all():
            first, last = np.log(rows.printed[0, row]), np.log(rows.printed[2, row])
            found[:, row] = np.exp(
                [np.interp(first, high, scale), np.interp(last, low, scale)]
            )  # both grow with the length
    return found


def lengths(found: Sequence[Decided]) -> Iterator[tuple[str, int | None, str]]:
    """Case, length and law of every decided row."""
    for each in found:
        for case in each.cases:
            yield case, each.value, each.law
