"""Relations between the numbers that say how fast a run was: one speed under four names.

Whether a rate counts the job, a GPU or a replica is a document's own choice; it keeps to one.
"""

from __future__ import annotations

from itertools import combinations

import polars as pl
from assay.validate.arithmetic.relations import Relation

SAMPLES = "samples/s = GBS / step time"

TOKENS = "tokens/s = samples/s × sequence length"

PER_GPU = "tokens/s per GPU = tokens/s / GPUs"

_FACTORS: dict[str, tuple[pl.Expr, tuple[str, ...]]] = {
    "step_time": (pl.col("global_batch").cast(pl.Float64), ("global_batch",)),
    "samples_per_s": (pl.lit(1.0), ()),
    "tokens_per_s": (1.0 / pl.col("seq_len").cast(pl.Float64), ("seq_len",)),
    "tokens_per_gpu_per_s": (
        pl.col("gpus").cast(pl.Float64) / pl.col("seq_len").cast(pl.Float64),
        ("gpus", "seq_len"),
    ),
}  # fmt: skip
"""Sequences per second of the job: a column (for a time its inverse) times a factor of others."""

_LAWS = {
    ("step_time", "samples_per_s"): SAMPLES,
    ("samples_per_s", "tokens_per_s"): TOKENS,
    ("step_time", "tokens_per_s"): TOKENS,
    ("tokens_per_s", "tokens_per_gpu_per_s"): PER_GPU,
    ("samples_per_s", "tokens_per_gpu_per_s"): PER_GPU,
    ("step_time", "tokens_per_gpu_per_s"): PER_GPU,
}

_GPUS = pl.col("gpus").cast(pl.Float64)

EXCHANGED = "the rate of the job: the two columns are exchanged"

_VARIANTS = {
    "per GPU": 1.0 / _GPUS,
    "of the job": _GPUS,
    "per replica": 1.0 / pl.col("dp").cast(pl.Float64),
    "per node": 1.0 / pl.col("nodes").cast(pl.Float64),
}

_PER_GPU_VARIANTS = {
    **{f"per node of {gpus}": pl.lit(float(gpus)) for gpus in (4, 8, 16)},
    EXCHANGED: _GPUS * _GPUS,
}
"""Of tokens/s per GPU beside tokens/s alone: what is left when neither time nor batch is told."""


def samples(name: str, end: str) -> pl.Expr:
    """Sequences per second of the job that column `name` says; `end` is low, high or empty."""
    factor, _ = _FACTORS[name]
    if name == "step_time":
        flipped = {"low": "_high", "high": "_low", "": ""}[end]
        return factor / pl.col(f"{name}{flipped}")
    return factor * pl.col(f"{name}_{end}" if end else name)


def cells(name: str) -> tuple[str, ...]:
    """The columns that take part where `name` says the speed."""
    return (name, *_FACTORS[name][1])


def _relation(one: str, other: str) -> Relation:
    own, theirs = set(cells(one)), set(cells(other))
    both = own & theirs - {"gpus"}  # a sequence length on both sides drops out
    factor = _factor(other, both)
    implied = tuple(_says(one, end, both) / factor for end in ("low", "", "high"))
    shared = {"gpus"} & own & theirs
    taking_part = tuple(sorted((own | theirs) - both - shared))
    alone = {one, other} == {"tokens_per_s", "tokens_per_gpu_per_s"}
    return Relation(
        _LAWS[one, other], other, taking_part, (implied[0], implied[1], implied[2]),
        _VARIANTS | (_PER_GPU_VARIANTS if alone else {}),
        defined=_LAWS[one, other] == SAMPLES,
    )  # fmt: skip


def _factor(name: str, both: set[str]) -> pl.Expr:
    """Factor that `name` is multiplied by, without those that stand on both sides."""
    if "seq_len" in both:
        return pl.col("gpus").cast(pl.Float64) if name == "tokens_per_gpu_per_s" else pl.lit(1.0)
    return _FACTORS[name][0]


def _says(name: str, end: str, both: set[str]) -> pl.Expr:
    """`samples` of a column, in tokens where both sides are."""
    if "seq_len" in both:
        return _factor(name, both) * pl.col(f"{name}_{end}" if end else name)
    return samples(name, end)


RELATIONS: tuple[Relation, ...] = tuple(_relation(a, b) for a, b in combinations(_FACTORS, 2))
