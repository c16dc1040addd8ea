"""Rates in proportion to throughput: `PROPORTIONS`, ways of counting that know no formula.

A multiple of the size label: how a document of few columns counts, 8·P·s with the
label for P. And one number of FLOP per token for each model: whatever formula a document follows,
rows of one model and sequence length share it. The factors are what most rows need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from assay.validate.arithmetic.identity_check import LABELLED, PER_TOKEN, PROPORTIONS
from assay.validate.arithmetic.rated_rows import RATE, Array, Bounds, Candidate, Rows, array
from assay.validate.cases.cases import CONFIGURED

FACTOR_ROWS = 4
"""Different rows before a factor common to them means anything."""

LAYOUT = {"gpus", "nodes", "gpus_per_node", "dp", "tp", "pp", "vp", "cp", "sp", "micro_batch",
          "global_batch", "global_batch_tokens", "accumulation", "zero_stage",
          "sharding"}  # fmt: skip
"""Fields that may differ between rows of one model, their FLOP per token being the same."""

Key = tuple[Any, ...]


def candidates(rows: Rows) -> Iterator[Candidate]:
    """The proportions that enough rows follow."""
    for name in PROPORTIONS:
        keys, work = _keys(name, rows), _work(name, rows)
        low, high = rows.printed[0] / work[2], rows.printed[2] / work[0]
        factors = {}
        used = np.zeros(len(keys), dtype=bool)
        number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
        numbers = np.array([number[key] for key in keys])
        fed = np.isfinite(low) & np.isfinite(high)
        for key, place in number.items():
            mine = fed & (numbers == place)
            if key is None:
                continue
            if len({*zip(low[mine], high[mine], strict=True)}) < FACTOR_ROWS:
                continue
            factors[key], agree = _consensus(low, high, mine)
            used[agree[np.argmin((high - low)[agree])]] = True
        if factors:
            yield _candidate(name, rows, factors, used)


def again(candidate: Candidate, rows: Rows) -> Candidate:
    """A candidate's factors applied to other rows; a row of something else misses them."""
    return _candidate(
        candidate.formula_id, rows, candidate.factors or {}, np.zeros(len(rows.gpus), dtype=bool),
        elsewhere=0.0,
    )  # fmt: skip


def _candidate(
    name: str, rows: Rows, factors: Mapping[Key, Bounds], used: Array, elsewhere: float = np.nan
) -> Candidate:
    nothing = (elsewhere,) * 3
    held = [factors.get(key, nothing) if key is not None else nothing for key in _keys(name, rows)]
    implied = np.array(held, dtype=float).reshape(-1, 3).T * _work(name, rows)
    spread = (implied[2] - implied[0] + rows.printed[2] - rows.printed[0]) / rows.printed[1]
    chance = np.where(used, 1.0, np.clip(spread / 0.5, 1e-6, 1.0))  # a factor costs one row
    layers = np.full(len(rows.gpus), np.nan)
    return Candidate(
        name, "", implied, rows.vocab[1], chance, layers, np.zeros(len(layers), dtype=bool),
        np.ones(len(layers)), factors=factors,
    )  # fmt: skip


def _consensus(low: Array, high: Array, mine: Array) -> tuple[Bounds, Array]:
    """The factor most rows need, and the positions of those rows."""
    starts = low[mine]
    votes = np.searchsorted(np.sort(starts), starts, "right") - np.searchsorted(
        np.sort(high[mine]), starts, "left"
    )
    best = starts[int(np.argmax(votes))]
    agree = np.flatnonzero(mine & (low <= best) & (high >= best))
    ends = float(low[agree].max()), float(high[agree].min())
    return (ends[0], (ends[0] + ends[1]) / 2, ends[1]), agree


def _work(name: str, rows: Rows) -> Array:
    """Work that the rate is in proportion to: low, value, high of [3, n]."""
    length = rows.inputs["seq_len"]
    if name == PER_TOKEN:
        return np.asarray(length * rows.samples / rows.gpus)
    size = array(rows.table["model_size"])
    return np.asarray(size * np.where(np.isnan(length), 1.0, length) * rows.samples / rows.gpus)


def _keys(name: str, rows: Rows) -> list[Key | None]:
    """Key of the rows that share a factor; None for rows that cannot say."""
    table = rows.table
    if name == LABELLED:
        rated = rows.quantity == RATE
        sized = table["model_size"].is_not_null()
        return [
            (source,) if rated and known else None
            for source, known in zip(table["source"], sized, strict=True)
        ]
    named = ("model", "model_size", "parameters", "hidden")
    said = table.select(
        pl.any_horizontal(pl.col(each).is_not_null() for each in named)
        & pl.col("seq_len").is_not_null()
    ).to_series()
    columns = ["source", *(n for n in CONFIGURED if n not in LAYOUT), "dtype_said", "remark"]
    columns = [each for each in dict.fromkeys(columns) if each in table.columns]
    others = table["others"].to_list()
    return [
        (*key, _words(said_beside)) if known else None
        for key, said_beside, known in zip(table.select(columns).rows(), others, said, strict=True)
    ]


def _words(others: list[str] | None) -> tuple[str, ...]:
    """Undeclared columns of a row that hold words: they may say what its rate counts."""
    return tuple(each for each in others or () if re.search("=.*[A-Za-z]", each))
