"""Unknowns that rates single out: layer counts, and the vocabulary behind a nominal one.

Each formula solves them for itself: layers are the whole number that most rows of a model need, a
nominal vocabulary is the padded size under which most rows agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np
from assay.model.formulas.registry import FORMULAS, Formula
from assay.validate.arithmetic.rated_rows import Array, Rows, other_mlp

PADDING = 128
"""Megatron pads the vocabulary to a multiple of this times TP."""

AS_THEY_ARE: Mapping[str, Array] = MappingProxyType({})


class Counter(Protocol):
    """Flop per sequence by a formula."""

    def __call__(
        self, layers: Array, vocab: Array, others: Mapping[str, Array] = AS_THEY_ARE, /
    ) -> Array:
        """With these layers and vocabularies, and `others` of its inputs, row by row."""
        ...


def counter(rows: Rows, formula: Formula) -> Counter:
    """Flop per sequence, the inputs that it is not told as the rows have them."""

    def counted(by: Formula, told: Mapping[str, Array]) -> Array:
        case = {name: told[name] if name in told else rows.inputs[name] for name in by.inputs}
        return np.asarray(by.count(case), dtype=float)

    def count(layers: Array, vocab: Array, others: Mapping[str, Array] = AS_THEY_ARE, /) -> Array:
        told = {"layers": layers, "vocab": vocab, **others}
        found = counted(formula, told)
        if instead is None:
            return found
        return np.where(instead[1], counted(FORMULAS[instead[0]], told), found)

    instead = other_mlp(formula.formula_id, rows.table)
    return count


def padded(rows: Rows, formula: Formula, scale: Array) -> Array:
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
    layers, _, _ = layers_of(rows, formula, scale, vocab)
    count = counter(rows, formula)
    low = count(layers, vocab[0]) * scale * rows.samples[0]
    high = count(layers, vocab[2]) * scale * rows.samples[2]
    return int(((low <= rows.printed[2]) & (high >= rows.printed[0]) & mine).sum())


def layers_of(
    rows: Rows, formula: Formula, scale: Array, vocab: Array
) -> tuple[Array, Array, Array]:
    """Layers, whether they were solved, and how wide the window was that had to hold one."""
    stated = rows.inputs.get("layers", np.full(len(rows.gpus), np.nan))
    nothing = np.zeros(len(stated))
    if "layers" not in formula.inputs or "parameters" in formula.inputs:
        return stated, nothing.astype(bool), nothing
    missing = np.isnan(stated)
    if not missing.any():
        return stated, nothing.astype(bool), nothing
    count = counter(rows, formula)
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
