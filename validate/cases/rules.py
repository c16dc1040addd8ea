"""Laws that fill what nobody prints of a case: from its other values, or from what is usual.

In: the frame of cases. Out: the same with fewer nulls, and the origin of each value filled in, with
the law that gave it. What no rule gives stays null.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl
from assay.model.machines.datasheets import machines

ORIGINS: dict[str, pl.DataType] = {
    "case": pl.String(),
    "name": pl.String(),
    "value": pl.String(),
    "value_origin": pl.String(),
    "line": pl.UInt32(),  # where the value stands, if it does
    "law": pl.String(),
}

FULL_NODES = "full nodes of as many GPUs as is said"

UNANIMOUS = 0.75
"""Share of a source's rows that must agree before their layout says how many GPUs a node has."""


class Rule(NamedTuple):
    """How a column is filled where nothing says it: `value` over the columns of the case frame."""

    name: str
    value: pl.Expr
    law: str
    value_origin: str = "solved"


def _whole(quotient: pl.Expr) -> pl.Expr:
    """The quotient where it is a positive whole number, else null."""
    near = quotient.round()
    fits = ((quotient - near).abs() < 1e-9) & (near >= 1)
    return pl.when(fits).then(near).cast(pl.Int64, strict=False)


def _layout(*names: str) -> pl.Expr:
    """Product of parallel degrees; a context-parallel degree nobody prints is one."""
    product = pl.col("cp").fill_null(1)
    for name in names:
        product = product * pl.col(name)
    return product


_ZERO_OF = {"FULL_SHARD": 3, "HYBRID_SHARD": 3, "SHARD_GRAD_OP": 2, "NO_SHARD": 0}

# `FSDP` without a strategy is no such run: it is often beside tensor parallelism
_SHARDED = pl.col("sharding").str.to_uppercase().is_in(_ZERO_OF.keys())

RULES: tuple[Rule, ...] = (
    Rule("gpus", pl.col("nodes") * pl.col("gpus_per_node"), "nodes × GPUs per node"),
    Rule("tp", pl.when(_SHARDED).then(1), "a run that only shards has no tensor parallelism",
         "assumed"),
    Rule("pp", pl.when(_SHARDED).then(1), "a run that only shards has no pipeline", "assumed"),
    Rule("gpus", _layout("tp", "pp", "dp"), "DP·TP·PP·CP"),
    Rule("gpus_per_node", _whole(pl.col("gpus") / pl.col("nodes")), "GPUs / nodes"),
    Rule("dp", _whole(pl.col("gpus") / _layout("tp", "pp")), "GPUs / (TP·PP·CP)"),
    Rule("global_batch", _whole(pl.col("global_batch_tokens") / pl.col("seq_len")),
         "tokens of an iteration / sequence length"),
    Rule("global_batch", pl.col("micro_batch") * pl.col("accumulation") * pl.col("dp"),
         "MBS·GA·DP"),
    Rule("accumulation", _whole(pl.col("global_batch") / (pl.col("micro_batch") * pl.col("dp"))),
         "GBS / (MBS·DP)"),
    Rule("recompute",
         pl.when(pl.col("activation_checkpointing")).then(pl.lit("full"))
         .when(~pl.col("activation_checkpointing")).then(pl.lit("none")),
         "activation checkpointing is full recomputation"),
    Rule("zero_stage",
         pl.col("sharding").str.to_uppercase().replace_strict(_ZERO_OF, default=None,
                                                              return_dtype=pl.Int64),
         "the ZeRO stage that shards the same"),
)  # fmt: skip
"""Applied in this order, each to the rows that still lack the value."""


def fill(wide: pl.DataFrame, rules: tuple[Rule, ...]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`wide` with nulls filled by the rules, and the origins of what was filled."""
    found, kinds = [pl.DataFrame(schema=ORIGINS)], wide.schema
    for rule in rules:
        given = wide.select(rule.value.cast(kinds[rule.name], strict=False).alias("v"))["v"]
        fresh = wide[rule.name].is_null() & given.is_not_null()
        if not fresh.any():
            continue
        wide = wide.with_columns(pl.coalesce(rule.name, given).alias(rule.name))
        found.append(
            wide.filter(fresh).select(
                case="case",
                name=pl.lit(rule.name),
                value=pl.col(rule.name).cast(pl.String),
                value_origin=pl.lit(rule.value_origin),
                line=pl.lit(None, dtype=pl.UInt32),
                law=pl.lit(rule.law),
            )
        )
    return wide, pl.concat(found)


def full_nodes() -> Rule:
    """Nodes where their devices are said and those of the job: it fills them, or has one."""
    few = pl.col("gpus") <= pl.col("gpus_per_node")
    nodes = pl.when(few).then(1).otherwise(_whole(pl.col("gpus") / pl.col("gpus_per_node")))
    known = pl.col("gpus").is_not_null() & pl.col("gpus_per_node").is_not_null()
    return Rule("nodes", pl.when(known).then(nodes), FULL_NODES, "assumed")


def nodes_elsewhere(nodes: pl.Series) -> Rule:
    """GPUs per node where other rows of the document on the same machine all say one number;
    `nodes` marks the cases with one that is not understood."""
    said = pl.col("gpus_per_node")
    least, most = said.min().over("source", "machine"), said.max().over("source", "machine")
    several = (pl.col("nodes") > 1) & (pl.col("gpus") != pl.col("nodes") * least)
    told = (least == most) & pl.col("machine").is_not_null() & ~pl.lit(nodes)
    return Rule(
        "gpus_per_node", pl.when(told & ~several.fill_null(value=False)).then(least),
        "as the document says of this machine elsewhere", "assumed",
    )  # fmt: skip


def node_rule(wide: pl.DataFrame) -> Rule:
    """GPUs per node where nobody says it, but the layouts of a source nearly all agree on it."""
    ratio = _whole(_layout("tp", "pp", "dp") / pl.col("nodes"))
    most = ratio.mode().sort().first().over("source")
    agree = (ratio == most).sum().over("source") / ratio.count().over("source")
    enough = (agree >= UNANIMOUS) & (ratio.count().over("source") >= 3)
    return Rule(
        "gpus_per_node",
        pl.when(pl.col("nodes").is_not_null() & enough).then(most),
        "DP·TP·PP / nodes, as nearly all rows of the document have it",
    )


def machine_rules(said: pl.Series, nodes: pl.Series) -> tuple[Rule, ...]:
    """Rules for the usual node and number format of a case's machine.

    In the place of what is printed, known or not, nothing is assumed, and no node that several
    would hold other devices of than the case has: `said` marks the cases with
    a number format, `nodes` those with a node's number of GPUs that is not understood.
    """
    # a superchip of one device is the part of a node that has several, as often as a whole one
    usual = {
        name: int(one.gpus_per_node) for name, one in machines().items()
        if one.gpus_per_node and one.gpus_per_node > 1
    }  # fmt: skip
    known = pl.col("machine").replace_strict(usual, default=None, return_dtype=pl.Int64)
    several = pl.col("nodes") > 1  # of one node a job may have some devices
    apart = (several & (pl.col("gpus") != pl.col("nodes") * known)).fill_null(value=False)
    half = {
        name: "bf16" if "bf16" in one.peaks else "fp16"
        for name, one in machines().items()
        if {"bf16", "fp16"} & set(one.peaks)
    }
    sixteen = pl.col("machine").replace_strict(half, default=None, return_dtype=pl.String)
    return (
        Rule(
            "gpus_per_node",
            pl.when(~pl.lit(nodes) & ~apart).then(
                pl.when((pl.col("nodes") == 1) & (pl.col("gpus") > known))
                .then("gpus")
                .otherwise(known)
            ),
            "the machine's usual node",
            "assumed",
        ),
        Rule(
            "dtype",
            pl.when(~pl.lit(said)).then(sixteen),
            "training in 16 bits, where nothing says otherwise",
            "assumed",
        ),
    )
