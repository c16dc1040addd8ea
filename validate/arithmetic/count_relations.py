"""Relations between counts: parallel degrees and GPUs, batches, accumulation, tokens.

All are exact. GPUs that were themselves filled in from the degrees are no evidence against them.
"""

from __future__ import annotations

import polars as pl
from assay.validate.arithmetic.relations import Relation

DEGREES = "parallel degrees = GPUs"

BATCH = "GBS = MBS × accumulation × DP"

TOKENS = "GBS in tokens = GBS × sequence length"

DIVIDED = "parallel degrees divide the GPUs"


def _f(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Float64)


def _said(*names: str) -> pl.Expr:
    """Whether a row prints each of `names` itself."""
    return pl.all_horizontal(pl.col("printed").list.contains(name) for name in names)


STATED_GPUS = pl.coalesce(
    pl.when(pl.col("printed").list.contains("gpus")).then(_f("gpus")),
    pl.when(pl.col("printed").list.contains("nodes") & ~pl.col("printed").list.contains("gpus"))
    .then(_f("nodes") * _f("gpus_per_node")),
)  # fmt: skip
"""GPUs as the row says them: counted, or nodes times the GPUs of a node."""

_PRODUCT = _f("tp") * _f("pp") * _f("cp").fill_null(1.0)

_REPLICAS = pl.when(_said("dp")).then(_f("dp")).otherwise(STATED_GPUS / _PRODUCT)


def _steps() -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Accumulation steps of GBS: exactly GBS / (MBS·DP), or rounded up from it."""
    steps = _f("global_batch") / (_f("micro_batch") * _REPLICAS)
    return steps.floor(), steps, steps.ceil()


_KNOWN = pl.lit(1.0)

for _name in ("dp", "tp", "pp", "cp"):
    _KNOWN = _KNOWN * pl.when(_said(_name)).then(_f(_name)).otherwise(1.0)

NEARLY_ALL = 0.74
"""Share of rows, three of four, that keep what accident often keeps as well."""

RELATIONS: tuple[Relation, ...] = (
    Relation(
        DEGREES,
        "stated_gpus",
        ("gpus", "nodes", "dp", "tp", "pp", "cp"),
        ((_f("dp") * _PRODUCT),) * 3,
        needs=_said("dp", "tp", "pp"),
    ),
    Relation(
        BATCH,
        "accumulation",
        ("accumulation", "global_batch", "micro_batch", "dp", "gpus"),
        _steps(),
        needs=_said("accumulation", "global_batch", "micro_batch")
        & (_said("dp") | _said("tp", "pp") | (pl.col("sharding").is_not_null())),
    ),
    Relation(
        TOKENS,
        "global_batch_tokens",
        ("global_batch_tokens", "global_batch", "seq_len"),
        ((_f("global_batch") * _f("seq_len")),) * 3,
        needs=_said("global_batch_tokens", "global_batch", "seq_len"),
    ),
    Relation(
        DIVIDED,
        "stated_gpus",
        ("gpus", "nodes", "dp", "tp", "pp", "cp"),
        ((STATED_GPUS / _KNOWN).ceil() * _KNOWN,) * 3,
        needs=~_said("dp", "tp", "pp") & (_KNOWN > 1),
        share=NEARLY_ALL,
    ),
)


def prepared(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with the GPUs that each row states."""
    return table.with_columns(stated_gpus=STATED_GPUS)
