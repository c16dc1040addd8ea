"""What every formula of the registry makes of every run: intervals of rate or utilisation.

In: the run frame. Out: per printed quantity the rows it stands in and, per candidate (a formula,
for a utilisation with a peak), the implied interval of each row. Layers that no row prints are
solved here: the whole number that most rows of a model need, under each formula for
itself. So is the padded vocabulary behind a nominal one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from assay.model.formulas import FORMULAS, Formula
from assay.model.machine import machines
from assay.model.utilisation import DEFAULTS
from assay.validate.identities.rates import COUNTS, PADDING, RATE

Array = np.ndarray[Any, np.dtype[Any]]

ALSO = {RATE: ("mfu_star",), "mfu": ("mfu_star",), "hfu": ("hfu_star",)}
"""What else such a column may count: weight products alone are a common short cut."""

MODEL = ("source", "model", "model_size", "parameters", "hidden")
"""Rows alike in these are of one model, so that their layer counts are one."""


@dataclass(frozen=True)
class Rows:
    """The rows that print one quantity, with the bounds of their speed, as arrays."""

    quantity: str
    index: Array  # positions in the run frame
    printed: Array  # low, value, high of the printed number: [3, n]
    place: Array
    samples: Array  # low, value, high of sequences per second: [3, n]
    gpus: Array
    inputs: dict[str, Array]
    vocab: Array  # low, value, high: [3, n]
    models: Array  # a number per model
    table: pl.DataFrame


@dataclass(frozen=True)
class Candidate:
    """One formula (and peak) over all rows of `Rows`; nan where it lacks an input."""

    formula_id: str
    peak: str  # as a label; empty for a rate
    implied: Array  # low, value, high: [3, n]
    vocab: Array  # what went in
    chance: Array  # how likely a row agrees by accident, at most 1
    layers: Array  # the layer count that went in
    solved: Array  # whether that count was solved from these very rows
    factor: tuple[float, float, float] | None = None  # what it was found to be a multiple by


def rows_of(table: pl.DataFrame, quantity: str, speed: pl.DataFrame) -> Rows | None:
    """The rows of the run frame that print `quantity` and know speed and GPUs."""
    known = table.with_row_index("at").join(speed, on="case", how="inner", maintain_order="left")
    known = known.filter(
        pl.col(quantity).is_not_null() & pl.col("gpus").is_not_null() & (pl.col(quantity) > 0)
    )
    known = known.filter(~_of_experts())
    if known.is_empty():
        return None
    ends = ("_low", "", "_high")
    vocab = [
        pl.coalesce(pl.col("vocab_low"), pl.col("vocab").cast(pl.Float64)),
        pl.col("vocab").cast(pl.Float64),
        pl.coalesce(pl.col("vocab_high"), pl.col("vocab").cast(pl.Float64)),
    ]
    return Rows(
        quantity=quantity,
        index=known["at"].to_numpy().astype(float),
        printed=np.array([_array(known[f"{quantity}{end}"]) for end in ends]),
        place=_array(known[f"{quantity}_place"]),
        samples=np.array([_array(known[f"samples{end}"]) for end in ends]),
        gpus=_array(known["gpus"]),
        inputs=_inputs(known),
        vocab=np.array([_array(known.select(each).to_series()) for each in vocab]),
        models=_array(known.select(pl.struct(MODEL).rank("dense")).to_series()),
        table=known,
    )


_EXPERTS = r"(?i)\bmoe\b|expert|[0-9]x[0-9]+ ?[bm]\b"


def _of_experts() -> pl.Expr:
    """Rows about mixtures of experts, whose operations no column that is read here counts."""
    said = pl.col("others").list.join(" ").str.contains(_EXPERTS).fill_null(value=False)
    named = pl.col("model").str.contains(_EXPERTS).fill_null(value=False)
    return said | named | (pl.col("ep").fill_null(1) > 1)


def _array(series: pl.Series) -> Array:
    return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _inputs(known: pl.DataFrame) -> dict[str, Array]:
    """Every input that some formula takes and the frame has, with the frame's defaults."""
    names = {name for formula in FORMULAS.values() for name in formula.inputs}
    held = {
        name: _array(known[name])
        for name in sorted(names)
        if name in known.columns and known[name].dtype.is_numeric()
    }
    policy = known["recompute"].cast(pl.String).str.to_lowercase()
    done = policy.replace_strict({"full": 1.0, "none": 0.0}, default=None, return_dtype=pl.Float64)
    held["recomputed"] = _array(done)
    for name, (needs, default) in DEFAULTS.items():
        stated = held.get(name, np.full(known.height, np.nan))
        fallback: Any = default(*(held[each] for each in needs))
        held[name] = np.where(np.isnan(stated), fallback, stated)
    return held


def formulas_for(quantity: str) -> Iterator[Formula]:
    """The formulas that may lie behind a printed quantity."""
    counts = (*COUNTS[quantity], *ALSO.get(quantity, ()))
    return (each for each in FORMULAS.values() if each.quantity in counts)


def candidates(rows: Rows) -> list[Candidate]:
    """Every formula, with every peak the rows leave open, that some row has the inputs of."""
    found = []
    for formula in formulas_for(rows.quantity):
        if not set(formula.inputs) <= set(rows.inputs):
            continue
        for name, peak in peaks(rows):
            candidate = _candidate(rows, formula, name, peak)
            if np.isfinite(candidate.implied[1]).any():
                found.append(candidate)
    return [*found, *_proportional(rows)]


LABELLED = "a multiple of the size label"


def _proportional(rows: Rows) -> Iterator[Candidate]:
    """Rates as size label · sequence · samples/s over GPUs, times what most rows of a source have.

    How a document of few columns counts: 8·P·s with the label for P. The factor itself is theirs.
    """
    size = _array(rows.table["model_size"])
    if rows.quantity != RATE or np.isfinite(size).sum() < FACTOR_ROWS:
        return
    length = rows.inputs["seq_len"]
    work = size * np.where(np.isnan(length), 1.0, length) * rows.samples / rows.gpus
    low, high = rows.printed[0] / work[2], rows.printed[2] / work[0]
    factor = np.full((3, len(size)), np.nan)
    sources = rows.table["source"].to_numpy()
    for source in dict.fromkeys(sources):
        mine = (sources == source) & np.isfinite(low) & np.isfinite(high)
        if len({*zip(low[mine], high[mine], strict=True)}) < FACTOR_ROWS:
            continue
        votes = [int(((low <= x) & (high >= x) & mine).sum()) for x in low[mine]]
        best = low[mine][int(np.argmax(votes))]
        agree = mine & (low <= best) & (high >= best)
        ends = low[agree].max(), high[agree].min()
        factor[:, mine] = np.array([[ends[0]], [(ends[0] + ends[1]) / 2], [ends[1]]])
    implied = factor * work
    spread = (implied[2] - implied[0] + rows.printed[2] - rows.printed[0]) / rows.printed[1]
    chance = np.clip(spread / 0.5, 1e-6, 1.0)
    layers = np.full(len(size), np.nan)
    if np.isfinite(implied[1]).any():
        yield Candidate(
            LABELLED, "", implied, rows.vocab[1], chance, layers,
            np.zeros(len(size), dtype=bool), _one_factor(factor),
        )  # fmt: skip


def _one_factor(factor: Array) -> tuple[float, float, float] | None:
    """The factor, where all documents at hand have one."""
    known = factor[:, np.isfinite(factor[1])]
    if known.size == 0 or not np.allclose(known, known[:, :1], rtol=1e-9):
        return None
    return float(known[0, 0]), float(known[1, 0]), float(known[2, 0])


FACTOR_ROWS = 4
"""Different rows before a factor common to them means anything."""


def again(candidate: Candidate, rows: Rows) -> Candidate | None:
    """The same formula and peak over other rows; None where those lack an input."""
    if candidate.formula_id == LABELLED:
        return _labelled_again(candidate, rows)
    formula = FORMULAS[candidate.formula_id]
    if not set(formula.inputs) <= set(rows.inputs):
        return None
    named = dict(peaks(rows))
    if candidate.peak not in named:
        return None
    return _candidate(rows, formula, candidate.peak, named[candidate.peak])


def _labelled_again(candidate: Candidate, rows: Rows) -> Candidate | None:
    """The factor of the size label, as it was found, over other rows of the same document."""
    if candidate.factor is None:
        return None
    length = rows.inputs["seq_len"]
    size = _array(rows.table["model_size"])
    work = size * np.where(np.isnan(length), 1.0, length) * rows.samples / rows.gpus
    nothing = np.zeros(len(size))
    implied = np.array(candidate.factor)[:, None] * work
    return Candidate(
        LABELLED, "", implied, rows.vocab[1], nothing + 1.0, nothing, nothing.astype(bool)
    )


def peaks(rows: Rows) -> list[tuple[str, Array]]:
    """Name and flop/s per row of the peaks that a utilisation may be a share of.

    Where the device is known its own, by number format where that is open; else every peak there
    is. nan where a peak is not a row's.
    """
    if rows.quantity == RATE:
        return [("", np.ones(len(rows.gpus)))]
    named, types = rows.table["machine"], rows.table["dtype"]
    known = machines()
    found = []
    for each in (*WIDTHS, ""):
        values = [
            known[m].peaks.get(d or each, np.nan) if m is not None and bool(d) != bool(each)
            else np.nan
            for m, d in zip(named, types, strict=True)
        ]  # fmt: skip
        found.append((f"{each or 'the stated'} peak", np.array(values, dtype=float)))
    halves = [
        known[m].peaks.get("fp8", np.nan) / 2 if m is not None and d in ("bf16", "fp16") else np.nan
        for m, d in zip(named, types, strict=True)
    ]
    found.append(("half the fp8 peak", np.array(halves, dtype=float)))
    unnamed = named.is_null().to_numpy()
    every = {p for one in known.values() for d, p in one.peaks.items() if d in WIDTHS}
    found += [
        (f"{value / 1e12:g} TFLOP/s", np.where(unnamed, value, np.nan)) for value in sorted(every)
    ]
    return [(name, peak) for name, peak in found if np.isfinite(peak).any()]


WIDTHS = ("bf16", "fp16", "fp8", "tf32")
"""Number formats whose peak a utilisation of training may be a share of."""


def _candidate(rows: Rows, formula: Formula, name: str, peak: Array) -> Candidate:
    scale = 1.0 / (rows.gpus * peak)
    vocabulary = _padded(rows, formula, scale)
    layers, solved, width = _layers(rows, formula, scale, vocabulary)
    count = _counter(rows, formula)
    implied = np.array(
        [count(layers, vocabulary[end]) * scale * rows.samples[end] for end in range(3)]
    )
    spread = (implied[2] - implied[0] + rows.printed[2] - rows.printed[0]) / rows.printed[1]
    chance = np.clip(np.where(solved, np.maximum(width, spread / 0.5), spread / 0.5), 1e-6, 1.0)
    return Candidate(formula.formula_id, name, implied, vocabulary[1], chance, layers, solved)


Counter = Callable[[Array, Array], Array]


def _counter(rows: Rows, formula: Formula) -> Counter:
    """Flop per sequence over layers and vocabulary, the other inputs as the rows have them."""

    def count(layers: Array, vocab: Array) -> Array:
        case = {name: rows.inputs[name] for name in formula.inputs}
        if "layers" in case:
            case["layers"] = layers
        if "vocab" in case:
            case["vocab"] = vocab
        return np.asarray(formula.count(case), dtype=float)

    return count


def _padded(rows: Rows, formula: Formula, scale: Array) -> Array:
    """The vocabulary: as printed, or for a nominal one the padded size that most rows need."""
    nominal = rows.vocab[2] > rows.vocab[0]
    if "vocab" not in formula.inputs or not nominal.any():
        return rows.vocab
    chosen = rows.vocab.copy()
    for low, high in {(a, b) for a, b in zip(*rows.vocab[[0, 2]][:, nominal], strict=True)}:
        mine = nominal & (rows.vocab[0] == low) & (rows.vocab[2] == high)
        ranks = rows.inputs["tp"][mine]
        unit = PADDING * (int(np.nanmax(ranks)) if np.isfinite(ranks).any() else 1)
        sizes = list(range(-(-int(low) // unit) * unit, int(high), unit))
        hits = [_hits_with(rows, formula, scale, mine, size) for size in sizes]
        if hits and max(hits) > 0 and hits.count(max(hits)) == 1:
            chosen[:, mine] = sizes[hits.index(max(hits))]
    return chosen


def _hits_with(rows: Rows, formula: Formula, scale: Array, mine: Array, size: int) -> int:
    vocab = rows.vocab.copy()
    vocab[:, mine.astype(bool)] = size
    layers, _, _ = _layers(rows, formula, scale, vocab)
    count = _counter(rows, formula)
    low = count(layers, vocab[0]) * scale * rows.samples[0]
    high = count(layers, vocab[2]) * scale * rows.samples[2]
    return int(((low <= rows.printed[2]) & (high >= rows.printed[0]) & mine).sum())


def _layers(rows: Rows, formula: Formula, scale: Array, vocab: Array) -> tuple[Array, Array, Array]:
    """Layers, whether they were solved, and how wide the window was that had to hold one."""
    stated = rows.inputs.get("layers", np.full(len(rows.gpus), np.nan))
    nothing = np.zeros(len(stated))
    if "layers" not in formula.inputs or "parameters" in formula.inputs:
        return stated, nothing.astype(bool), nothing
    missing = np.isnan(stated)
    if not missing.any():
        return stated, nothing.astype(bool), nothing
    count = _counter(rows, formula)
    windows = []
    for end in (0, 2):
        none, one = (count(np.full(len(stated), each), vocab[end]) for each in (0.0, 1.0))
        wanted = rows.printed[end] / (scale * rows.samples[2 - end])
        windows.append((wanted - none) / (one - none))
    low, high = windows
    layers = stated.copy()
    for model in np.unique(rows.models[missing]):
        mine = missing & (rows.models == model) & np.isfinite(low) & np.isfinite(high)
        layers[mine] = _consensus(low[mine], high[mine])
    return layers, missing, high - low


def _consensus(low: Array, high: Array) -> float:
    """The whole number that lies in most windows; nan where none does or two do equally."""
    votes: dict[int, int] = {}
    pairs = {(float(a), float(b)) for a, b in zip(low, high, strict=True)}
    for first, last in pairs:  # the same measurement printed twice is one
        for number in range(max(1, int(np.ceil(first))), min(int(np.floor(last)), 2000) + 1):
            votes[number] = votes.get(number, 0) + 1
    if not votes:
        return float("nan")
    most = max(votes.values())
    best = [number for number, count in votes.items() if count == most]
    return float(best[0]) if len(best) == 1 else float("nan")
