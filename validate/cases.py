"""From wide frames to the cases that models take, and where each value of a case came from.

Configuration frames (rows that say what ran) become one frame with the columns of
`model.frames.CONFIGURATION_CASE` and more; product frames become `GEMM_CASE`. A value that is not
printed is filled by a rule below, each with its law; what no rule gives stays null. `ORIGINS` holds
one row per known value, so that a report can say what was printed, bound, inferred or assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import polars as pl
from assay.ingest.formats.configuration import Configuration
from assay.ingest.schema import fields
from assay.ingest.types import Reading
from assay.model.frames import CONFIGURATION_CASE, GEMM_CASE
from assay.model.machine import candidates, dtype, machines, resolve
from assay.validate.observe import About, about, case_of, observe, subject_of

ORIGINS: dict[str, pl.DataType] = {
    "case": pl.String(),
    "name": pl.String(),
    "value": pl.String(),
    "value_origin": pl.String(),
    "line": pl.UInt32(),  # where the value stands, if it does
    "law": pl.String(),
}

CONFIGURED = tuple(name for name, spec in fields(Configuration).items() if spec.configuration)
PLACE = ("case", "source", "line", "frame", "group")
"""Columns beside the configuration: `group` is the table or the run a row stands in."""

UNANIMOUS = 0.75
"""Share of a source's rows that must agree before their layout says how many GPUs a node has."""


@dataclass(frozen=True)
class Cases:
    """Everything that models may be asked about in one reading.

    `configuration`: `PLACE`, the columns of `Configuration`, machine, and `consumed` (printed
    quantities that went into the case itself). `gemm`: GEMM_CASE with source, line and group.
    `memo` keeps what follows from the reading alone, for several models ask for it.
    """

    configuration: pl.DataFrame
    gemm: pl.DataFrame
    origins: pl.DataFrame
    reading: Reading
    unresolved: Mapping[str, str] = field(default_factory=dict)  # printed device → why not known
    memo: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    def once(self, name: str, make: Callable[[Cases], pl.DataFrame]) -> pl.DataFrame:
        """What `make` says of the reading, made once; it may look at nothing else."""
        if name not in self.memo:
            self.memo[name] = make(self)
        return self.memo[name]

    def with_values(self, configuration: pl.DataFrame, origins: pl.DataFrame) -> Cases:
        """The same cases with values filled in later, and what they rest on."""
        known = self.origins.join(origins, on=["case", "name"], how="anti", maintain_order="left")
        joined = pl.concat([known, origins.select(*ORIGINS)])
        return replace(self, configuration=configuration, origins=joined.sort("case", "name"))


def observed_in(known: Cases) -> pl.DataFrame:
    """Every printed number of the reading, see `observe`; worked out once."""
    return known.once(
        "observations", lambda these: observe(these.reading, about(these.reading.formats))
    )


class Rule(NamedTuple):
    """How a column is filled where nothing says it: `value` over the columns of the case frame."""

    name: str
    value: pl.Expr
    law: str
    value_origin: str = "inferred"


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


_SHARDED = pl.col("sharding").is_not_null()
_ZERO_OF = {"FULL_SHARD": 3, "HYBRID_SHARD": 3, "SHARD_GRAD_OP": 2, "NO_SHARD": 0}

RULES: tuple[Rule, ...] = (
    Rule("gpus", pl.col("nodes") * pl.col("gpus_per_node"), "nodes × GPUs per node"),
    Rule("tp", pl.when(_SHARDED).then(1), "a run that only shards has no tensor parallelism",
         "assumed"),
    Rule("pp", pl.when(_SHARDED).then(1), "a run that only shards has no pipeline", "assumed"),
    Rule("gpus", _layout("tp", "pp", "dp"), "DP·TP·PP·CP"),
    Rule("dp", _whole(pl.col("gpus") / _layout("tp", "pp")), "GPUs / (TP·PP·CP)"),
    Rule("global_batch", _whole(pl.col("global_batch_tokens") / pl.col("seq_len")),
         "tokens of an iteration / sequence length"),
    Rule("global_batch", pl.col("micro_batch") * pl.col("accumulation") * pl.col("dp"),
         "MBS·GA·DP"),
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


def cases(reading: Reading, frames: Mapping[str, About], *, machine: str | None = None) -> Cases:
    """The cases of a reading; `frames` as given by `observe.about`.

    `machine` is a known name that the caller states: it stands where a device is printed that it
    may mean, or none is.
    """
    runs = [
        (name, frame)
        for name, frame in reading.frames.items()
        if not frame.is_empty() and set(CONFIGURED) <= set(frame.columns)
    ]
    unresolved: dict[str, str] = {}
    wide = pl.concat([_empty(), *(_wide(name, frame) for name, frame in runs)])
    origins = pl.concat(
        [pl.DataFrame(schema=ORIGINS), *(_said(name, frame, reading) for name, frame in runs)]
    )
    wide = _named(wide, machine, unresolved)
    wide, found = fill(wide, (_node_rule(wide), *_machine_rules(), *RULES))
    products = [
        _products(name, frame, frames[name], machine, unresolved)
        for name, frame in reading.frames.items()
        if frames[name].scope == "gemm"
        and not frame.is_empty()
        and {"m", "n", "k", "gpu", "dtype"} <= set(frame.columns)
    ]
    gemm = pl.concat([pl.DataFrame(schema=_GEMM), *products])
    bare = Cases(wide, gemm, origins, reading, unresolved)
    return bare.with_values(wide, found)


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


_TYPES = {name: spec.dtype for name, spec in fields(Configuration).items()}
_GEMM = GEMM_CASE | {
    "source": pl.String(), "line": pl.UInt32(), "frame": pl.String(), "group": pl.String()
}  # fmt: skip


def _empty() -> pl.DataFrame:
    place = dict.fromkeys(PLACE, pl.String()) | {"line": pl.UInt32()}
    return pl.DataFrame(schema=place | {name: _TYPES[name] for name in CONFIGURED})


def _wide(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Configuration columns of one frame; rows whose lines follow each other are one group."""
    step = pl.col("line").cast(pl.Int64).diff().over("source").fill_null(1)
    begins = pl.when(step > 1).then(pl.col("line")).otherwise(None)
    start = pl.coalesce(begins.forward_fill().over("source"), pl.col("line").first().over("source"))
    block = pl.format("{}#{}", "source", start)
    group = block if name == "markdown_table" else pl.col("source")
    return frame.select(
        case=case_of(), source="source", line="line", frame=pl.lit(name), group=group,
        **{column: pl.col(column).cast(_TYPES[column]) for column in CONFIGURED},
    )  # fmt: skip


def _said(name: str, frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Where each configuration value of one frame came from."""
    said = reading.provenance.filter(pl.col("frame") == name).select(
        "source", "line", "value_origin", "from_line", "law", name="field"
    )  # fmt: skip
    long = (
        frame.select(
            "source",
            "line",
            *(pl.col(column).cast(pl.String) for column in CONFIGURED),
            case=case_of(),
        )
        .unpivot(index=["source", "line", "case"], variable_name="name")
        .drop_nulls("value")
    )
    on = ["source", "line", "name"]
    known = said.unique(on, keep="first", maintain_order=True)
    return long.join(known, on=on, how="left", maintain_order="left").select(
        case="case",
        name="name",
        value="value",
        value_origin=pl.col("value_origin").fill_null("printed"),
        line=pl.when(pl.col("value_origin").is_null()).then("line").otherwise("from_line"),
        law="law",
    )


def _mapping(
    texts: pl.Series, name: Callable[[str], str], unresolved: dict[str, str]
) -> dict[str, str]:
    """Printed spelling → canonical name for those that have one; the others with the reason."""
    known = {}
    for text in texts.drop_nulls().unique().sort():
        try:
            known[text] = name(text)
        except LookupError as fault:
            unresolved[text] = str(fault.args[0])
    return known


def _device(stated: str | None) -> Callable[[str], str]:
    """What a printed device is called; one that may be several is what the caller states."""

    def name(text: str) -> str:
        return stated if stated in candidates(text) else resolve(text)

    return name


def _named(wide: pl.DataFrame, stated: str | None, unresolved: dict[str, str]) -> pl.DataFrame:
    """The columns machine and canonical dtype, from what is printed."""
    devices = _mapping(wide["gpu"], _device(stated), unresolved)
    types = _mapping(wide["dtype"], dtype, unresolved)
    return wide.with_columns(
        machine=pl.col("gpu").replace_strict(devices, default=None, return_dtype=pl.String),
        dtype=pl.col("dtype").replace_strict(types, default=None, return_dtype=pl.String),
    )


def _node_rule(wide: pl.DataFrame) -> Rule:
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


def _machine_rules() -> tuple[Rule, ...]:
    usual = {name: int(one.gpus_per_node) for name, one in machines().items() if one.gpus_per_node}
    known = pl.col("machine").replace_strict(usual, default=None, return_dtype=pl.Int64)
    half = {
        name: "bf16" if "bf16" in one.peaks else "fp16"
        for name, one in machines().items()
        if {"bf16", "fp16"} & set(one.peaks)
    }
    sixteen = pl.col("machine").replace_strict(half, default=None, return_dtype=pl.String)
    return (
        Rule("gpus_per_node", known, "the machine's usual node", "assumed"),
        Rule("dtype", sixteen, "training in 16 bits, where nothing says otherwise", "assumed"),
    )


def _products(
    name: str,
    frame: pl.DataFrame,
    what: About,
    stated: str | None,
    unresolved: dict[str, str],
) -> pl.DataFrame:
    """GEMM cases of one frame; rows that share a weight matrix are one group."""
    devices = _mapping(frame["gpu"], _device(stated), unresolved)
    types = _mapping(frame["dtype"], dtype, unresolved)
    one = pl.lit(1, dtype=pl.Int64)
    return frame.select(
        case=case_of(),
        subject=subject_of(what.subject),
        machine=pl.when(pl.col("gpu").is_null())
        .then(pl.lit(stated))
        .otherwise(pl.col("gpu").replace_strict(devices, default=None, return_dtype=pl.String)),
        dtype=pl.col("dtype").replace_strict(types, default=None, return_dtype=pl.String),
        b=pl.col("b").fill_null(one) if "b" in frame.columns else one,
        m=pl.col("m").cast(pl.Int64),
        n=pl.col("n").cast(pl.Int64),
        k=pl.col("k").cast(pl.Int64),
        source="source",
        line="line",
        frame=pl.lit(name),
        group=pl.format("{}:{}x{}", "source", "n", "k"),
    )


__all__ = ["CONFIGURATION_CASE", "Cases", "Rule", "cases", "fill"]
