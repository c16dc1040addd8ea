"""Rates and utilisations of every run under every formula of the registry, as intervals.

In: the rows that print one quantity. Out: per candidate (a formula, for a utilisation with a
peak) the implied interval of each row. Layers and vocabularies that no row prints are solved on the
way, under each formula for itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from assay.model.formulas.registry import FORMULAS, Formula
from assay.model.machines.datasheets import machines
from assay.validate.arithmetic import proportional
from assay.validate.arithmetic.rated_rows import COUNTS, RATE, Array, Candidate, Rows, other_mlp
from assay.validate.arithmetic.unknowns import counter, layers_of, padded

ALSO = {RATE: ("mfu_star",), "mfu": ("mfu_star",), "hfu": ("hfu_star",)}
"""Further formulas that such a column may count: weight products alone are a common short cut."""


def formulas_for(quantity: str) -> Iterator[Formula]:
    """The formulas that may lie behind a printed quantity."""
    counts = (*COUNTS[quantity], *ALSO.get(quantity, ()))
    return (each for each in FORMULAS.values() if each.quantity in counts)


def candidates(rows: Rows) -> list[Candidate]:
    """Every formula, with every peak the rows leave open, that some row has the inputs of."""
    found, named = [], peaks(rows)
    for formula in formulas_for(rows.quantity):
        if not set(formula.inputs) <= set(rows.inputs):
            continue
        for name, peak in named:
            candidate = _candidate(rows, formula, name, peak)
            if np.isfinite(candidate.implied[1]).any():
                found.append(candidate)
    return [*found, *proportional.candidates(rows)]


def again(candidate: Candidate, rows: Rows) -> Candidate | None:
    """A candidate's formula and peak over other rows; None where those lack an input."""
    if candidate.factors is not None:
        return proportional.again(candidate, rows)
    formula = FORMULAS[candidate.formula_id]
    if not set(formula.inputs) <= set(rows.inputs):
        return None
    named = dict(peaks(rows))
    if candidate.peak not in named:
        return None
    return _candidate(rows, formula, candidate.peak, named[candidate.peak])


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
    vocabulary = padded(rows, formula, scale)
    layers, solved, width = layers_of(rows, formula, scale, vocabulary)
    count = counter(rows, formula)
    implied = np.array(
        [count(layers, vocabulary[end]) * scale * rows.samples[end] for end in range(3)]
    )
    spread = (implied[2] - implied[0] + rows.printed[2] - rows.printed[0]) / rows.printed[1]
    chance = np.clip(np.where(solved, np.maximum(width, spread / 0.5), spread / 0.5), 1e-6, 1.0)
    return Candidate(
        formula.formula_id, name, implied, vocabulary[1], chance, layers, solved, peak,
        other_mlp(formula.formula_id, rows.table),
    )  # fmt: skip
