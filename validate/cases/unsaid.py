"""Values that tables leave out and a model of the step cannot do without: batches, vocabularies,
the shapes of models that have no name but their size.

In: cases after every law has looked at them, and what is printed of them. Out: the same with fewer
nulls, each value `assumed` and with its reason; so also whose a batch is of which nobody says it.
No identity is checked with what stands here, and what would move a prediction by more than its
interval stays unknown: a step's time is proportional to its batch, a rate hardly depends on it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

import polars as pl
from assay.model.machines.datasheets import machines
from assay.model.transformer.parameters import parameters
from assay.model.transformer.shapes import Model, shapes
from assay.validate.cases.cases import Cases
from assay.validate.cases.rules import Rule, fill
from assay.validate.cases.step_cases import CUSTOMARY, SPREAD

RATES = ("samples_per_s", "tokens_per_s", "tokens_per_gpu_per_s", "model_flops_rate", "mfu", "hfu")
"""Quantities that hardly depend on how many micro-batches a step has, where nothing is a pipeline:
gradients and the update are a few hundredths of a step."""

PRODUCTIVE = 8192
"""Tokens of a micro-batch beyond which a layer's products gain nothing by more of them: 64 tiles of
128 rows fill every wave of the multiprocessors."""

GPT_VOCABULARY, LLAMA_VOCABULARY = 50_257, 32_000
"""Of GPT-2's and of Llama's tokenizer."""

SMALL_SHARE = 0.1
"""Of a layer's products, all layers: a projection onto a vocabulary beyond that is not assumed."""


def with_unsaid(cases: Cases, observations: pl.DataFrame) -> Cases:
    """The cases with what `RULES` can assume of them; `observations` are their printed numbers.

    Rows of tables alone: a log says of itself what ran.
    """
    tables = [held.name for held in cases.reading.with_rows("table")]
    rows = cases.configuration.filter(pl.col("frame").is_in(tables))
    if rows.is_empty():
        return cases
    rated = observations.filter(pl.col("quantity").is_in(RATES))["case"].unique()
    timed = observations.filter(pl.col("quantity") == "step_time")["case"].unique()
    rows, shaped = _with_customary(rows)
    rows = rows.join(_of_a_step(observations), on="case", how="left", maintain_order="left")
    rows = rows.with_columns(_counted=_counted_by_rates())
    rows = rows.with_columns(
        _rated=pl.col("case").is_in(rated.implode()) & ~pl.col("case").is_in(timed.implode()),
        _whose=pl.coalesce("_counted", _whose()),
    )
    told = pl.when(pl.col("gpus") != 1).then("_whose")  # that of one device is that of all as well
    alike = told.drop_nulls().unique().over("group", mapping_strategy="join")
    rows = rows.with_columns(
        _whose=pl.coalesce("_whose", pl.when(alike.list.len() == 1).then(alike.list.first()))
    )
    filled, origins = fill(rows, RULES)
    taken = filled.select(
        "case", CUSTOMARY, SPREAD, *(pl.col(name).alias(f"_{name}") for name in ASSUMED)
    )
    wide = cases.configuration.join(taken, on="case", how="left", maintain_order="left")
    wide = wide.with_columns(pl.coalesce(name, f"_{name}").alias(name) for name in ASSUMED)
    wide = wide.drop(f"_{name}" for name in ASSUMED)
    return cases.with_values(wide, pl.concat([origins, shaped.select(origins.columns)]))


class _Customary(NamedTuple):
    """The usual one among the public dense models of a size, and how far these lie apart."""

    model: Model
    spread: float  # half of the range of the logarithm of their parameters
    among: int


WIDEST = 0.26
"""The same beyond which no shape is assumed: a forecast's own interval."""

_SIZED = re.compile(
    r"(?:(gpt|mpt|opt)[- ]?[23]?|llm|transformer|dense|decoder|model)?[- ]*"
    r"([0-9]+(?:\.[0-9]+)?)([bt])"
    r"(?:[- ]*(?:model|params?|parameters|dense|gpt))?",
    re.IGNORECASE,
)
"""A model that is called by nothing but its size: `7B`, `GPT 30B`."""

_NAMED = re.compile(r"-([0-9]+(?:\.[0-9]+)?)([BT])(?![0-9])")


@cache
def _of_size() -> dict[float, list[Model]]:
    """The public dense models by the size in their names, in billions, the smallest first."""
    found: dict[float, list[Model]] = {}
    for name, model in shapes().items():
        sized = _NAMED.search(name)
        if sized and model.experts is None and model.hybrid is None and model.latent is None:
            found.setdefault(_billions(sized[1], sized[2]), []).append(model)
    return {size: sorted(each, key=_total) for size, each in found.items()}


def _total(model: Model) -> int:
    return parameters(model).total


def _billions(digits: str, sign: str) -> float:
    return float(digits) * (1000.0 if sign in "Tt" else 1.0)


@cache
def customary(size: float, *, plain: bool) -> _Customary | None:
    """The usual dense model of `size` billions; None where public ones differ too much.

    Of those with a gated MLP, or without a gate where it is `plain`, if there are such, the middle
    one with the width and depth that most of them all have.
    """
    every = _of_size().get(size, [])
    alike = [model for model in every if model.gated != plain] or every
    if not alike:
        return None
    spread = math.log(_total(every[-1]) / _total(every[0])) / 2.0
    if spread > WIDEST:
        return None
    pairs = Counter((model.hidden, model.layers) for model in every)
    most = max(pairs[model.hidden, model.layers] for model in alike)
    usual = [model for model in alike if pairs[model.hidden, model.layers] == most]
    return _Customary(usual[(len(usual) - 1) // 2], spread, len(every))


def _called(row: dict[str, object]) -> _Customary | None:
    """The model that a size for a name means; None where a row has another name, or experts."""
    text, size = str(row["model"] or "").strip(), row["model_size"]
    named = _SIZED.fullmatch(text) if text else None
    if (text and named is None) or (size is None and named is None):
        return None
    if named is not None:
        return customary(_billions(named[2], named[3]), plain=named[1] is not None)
    return customary(round(float(str(size)) / 1e9, 3), plain=False)


def _with_customary(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows with `CUSTOMARY` and `SPREAD` of models that are called by their size, and the
    origins of the former; their own columns stay as they are."""
    bare = pl.col("hidden").is_null() & pl.col("layers").is_null()
    dense = (pl.col("experts").fill_null(1) <= 1) & (pl.col("ep").fill_null(1) <= 1)
    told = []
    asked = rows.filter(bare & dense).select("case", "model", "model_size")
    for row in asked.iter_rows(named=True):
        if found := _called(row):
            law = (
                f"the usual one among {found.among} public dense models that are called by this "
                "size, for predictions alone"
            )
            told.append((row["case"], found.model.name, found.spread, law))
    types = {"case": pl.String, CUSTOMARY: pl.String, SPREAD: pl.Float64, "law": pl.String}
    table = pl.DataFrame(told, schema=types, orient="row")
    origins = table.select(
        "case", name=pl.lit(CUSTOMARY), value=CUSTOMARY, value_origin=pl.lit("assumed"),
        line=pl.lit(None, dtype=pl.UInt32), law="law",
    )  # fmt: skip
    return rows.join(table.drop("law"), on="case", how="left", maintain_order="left"), origins


_SPLIT = pl.col("tp").fill_null(1) * pl.col("pp").fill_null(1) * pl.col("cp").fill_null(1)

_WHOLE = pl.when(pl.col("gpus") % _SPLIT == 0).then(pl.col("gpus") // _SPLIT)

_REPLICAS = pl.coalesce("dp", _WHOLE)

_OWN = pl.when(pl.col("global_batch") % _REPLICAS == 0).then(pl.col("global_batch") // _REPLICAS)
"""Sequences of a replica in a step."""

_ALONE = pl.col("pp").fill_null(1) == 1


def _whose() -> pl.Expr:
    """Whether a `batch_size` is that of `one` replica or of `all`; null where it may be either."""
    batch, replicas = pl.col("batch_size"), _REPLICAS
    counted = pl.coalesce("accumulation", 1) * replicas
    beside = pl.col("micro_batch").is_not_null() | pl.col("global_batch").is_not_null()
    return (
        pl.when(batch == pl.col("global_batch")).then(pl.lit("all"))
        .when(batch == pl.col("micro_batch")).then(pl.lit("one"))
        .when(batch.is_null() | replicas.is_null() | beside).then(None)
        .when(pl.col("gpus") == 1).then(pl.lit("one"))
        .when((replicas == 1) & ~_ALONE).then(pl.lit("all"))
        .when((_states() <= _memory()) & (_states() + _passing() > _memory())).then(pl.lit("all"))
        .when((_states() + _passing() <= _memory()) & ((replicas == 1) | (batch % counted > 0)))
        .then(pl.lit("one"))
    )  # fmt: skip


def _of_a_step(observations: pl.DataFrame) -> pl.DataFrame:
    """Amounts of a step of each case by its own time and rates: the columns case and those of
    `_A_STEP`, in sequences and in tokens, null where one of the two is not printed."""
    wide = (
        observations.filter(pl.col("quantity").is_in(["step_time", *_A_STEP.values()]))
        .filter(pl.col("value") > 0)
        .pivot("quantity", index="case", values="value", aggregate_function="first")
    )
    taken = [
        (pl.col(rate) * pl.col("step_time") if {rate, "step_time"} <= {*wide.columns}
         else pl.lit(None, dtype=pl.Float64)).alias(name)
        for name, rate in _A_STEP.items()
    ]  # fmt: skip
    return wide.select("case", *taken)


_A_STEP = {
    "_sequences": "samples_per_s", "_device_sequences": "samples_per_gpu_per_s",
    "_tokens": "tokens_per_s", "_device_tokens": "tokens_per_gpu_per_s",
}  # fmt: skip
"""A rate by what it gives in the time of a step."""

NEAR = 0.06
"""How far the mean of a rate lies from that of a step's time at most; the two readings of a batch,
between which this tells, differ by a factor of two or more."""


def _counted_by_rates() -> pl.Expr:
    """Whose a `batch_size` is by the sequences of a step that its time and rates give: of `one`
    replica, a micro-batch, or of `all`; null where they give neither, or both are the same."""
    batch, counted = pl.col("batch_size"), pl.coalesce("accumulation", 1) * _REPLICAS
    sequences = pl.coalesce(
        "_sequences", pl.col("_device_sequences") * pl.col("gpus"),
        pl.col("_tokens") / pl.col("seq_len"),
        pl.col("_device_tokens") * pl.col("gpus") / pl.col("seq_len"),
    )  # fmt: skip
    beside = pl.col("micro_batch").is_not_null() | pl.col("global_batch").is_not_null()
    return (
        pl.when(beside | (counted < 2)).then(None)
        .when((sequences / batch - 1).abs() < NEAR).then(pl.lit("all"))
        .when((sequences / (batch * counted) - 1).abs() < NEAR).then(pl.lit("one"))
    )  # fmt: skip


def _passing() -> pl.Expr:
    """Bytes that `batch_size` sequences leave with a replica's rank between forward and backward,
    whatever is computed again: of a layer its 16-bit input, and 16-bit logits."""
    tokens = pl.col("batch_size").cast(pl.Float64) * pl.col("seq_len")
    inputs = 2.0 * tokens * pl.col("layers") * pl.col("hidden") / _SPLIT
    return inputs + 2.0 * tokens * pl.col("vocab").fill_null(0) / pl.col("tp").fill_null(1)


def _states() -> pl.Expr:
    """Bytes of 16 a parameter, shared by all.

    Beyond a device's memory they are elsewhere or not all trained (offloading, LoRA), and memory
    says nothing of the batch.
    """
    return 16.0 * 12.0 * pl.col("layers") * pl.col("hidden").pow(2) / pl.col("gpus")


def _memory() -> pl.Expr:
    """Bytes of each case's accelerator; null where it is not known."""
    known = {name: one.memory_bytes for name, one in machines().items()}
    return pl.col("machine").replace_strict(known, default=None, return_dtype=pl.Float64)


def _productive() -> pl.Expr:
    """The most sequences that divide a replica's, within `PRODUCTIVE` tokens; at least 1."""
    found = pl.lit(1, dtype=pl.Int64)
    for size in (2, 4, 8, 16, 32, 64):
        fits = (_OWN % size == 0) & (size * pl.col("seq_len") <= PRODUCTIVE)
        found = pl.when(fits).then(size).otherwise(found)
    return pl.when(_OWN.is_not_null() & pl.col("seq_len").is_not_null()).then(found)


def _vocabulary() -> pl.Expr:
    size = pl.when("gated").then(LLAMA_VOCABULARY).otherwise(GPT_VOCABULARY)
    share = size / (12 * pl.col("layers") * pl.col("hidden"))
    return pl.when(share < SMALL_SHARE).then(size)


ASSUMED = ("micro_batch", "global_batch", "vocab")
"""Columns that `RULES` fill."""

RULES: tuple[Rule, ...] = (
    Rule("micro_batch", pl.when(pl.col("_counted") == "one").then("batch_size"),
         "a step's time and rates give as many sequences on each replica"),
    Rule("global_batch", pl.when(pl.col("_counted") == "all").then("batch_size"),
         "a step's time and rates give as many sequences"),
    Rule("global_batch",
         pl.when(pl.col("_counted") == "one")
         .then(pl.col("batch_size") * pl.coalesce("accumulation", 1) * _REPLICAS),
         "MBS·GA·DP, as a step's time and rates have it"),
    Rule("micro_batch", pl.when(pl.col("_whose") == "one").then("batch_size"),
         "a batch that does not divide among replicas, or of the only one, is one replica's, and "
         "so in the rest of its table", "assumed"),
    Rule("global_batch", pl.when(pl.col("_whose") == "all").then("batch_size"),
         "a batch that no replica has memory for, or of one pipeline, is a step's, and so in the "
         "rest of its table", "assumed"),
    Rule("global_batch", pl.col("micro_batch") * pl.col("accumulation") * _REPLICAS,
         "MBS·GA·DP, where data-parallel is all that no other degree takes", "assumed"),
    Rule("global_batch",
         pl.when("_rated").then(
             pl.when(_ALONE & pl.col("accumulation").is_null())
             .then(pl.col("micro_batch") * _REPLICAS)),
         "MBS·DP: no accumulation is printed, and a rate hardly depends on it", "assumed"),
    Rule("micro_batch",
         pl.when(_OWN % pl.col("accumulation") == 0).then(_OWN // pl.col("accumulation")),
         "GBS/(DP·GA)", "assumed"),
    Rule("micro_batch", pl.when(_ALONE & pl.col("accumulation").is_null()).then(_productive()),
         f"as many sequences of a replica's as make up {PRODUCTIVE:,} tokens: more gain nothing",
         "assumed"),
    Rule("micro_batch",
         pl.when(~_ALONE & pl.col("accumulation").is_null() & _OWN.is_not_null()).then(1),
         "one sequence: what keeps a pipeline's bubble smallest", "assumed"),
    Rule("vocab", _vocabulary(),
         "GPT-2's 50,257 words, or Llama's 32,000 under a gated MLP: a small share of its work",
         "assumed"),
)  # fmt: skip
"""Applied in this order, each to the cases that still lack the value."""
