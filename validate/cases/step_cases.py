"""Configurations as the step model takes them: shapes spelled out, what nobody prints assumed.

A row keeps everything it says; only nulls are filled. The assumptions are those of `ASSUMED`, in
words, so that a forecast can say what it rests on.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl
from assay.model.machines.datasheets import machines
from assay.model.step.memory import holds
from assay.model.transformer.parallel import faults, stage_layers
from assay.model.transformer.shapes import Model, resolve, shapes
from assay.model.transformer.training_run import Run, run

ASSUMED = (
    "a run that names a public model has its shape; one of a table that names a size alone that of "
    "the usual dense model of that size",
    "heads of 128, of 64 up to a width of 1024",
    "one GPU per tensor- and pipeline-parallel rank where nothing says otherwise; "
    "data-parallel what is left",
    "the software of the program and the year that the row names, else of what it uses: "
    "fully sharded PyTorch's, everything else Megatron's, with the attention kernel of its time",
    "sharded as the software does; an optimizer over the data-parallel ranks on Hopper and later, "
    "elsewhere where memory asks for it, and weights too where that is not enough",
    "as few layers computed again as memory asks for; all of them without fused attention",
    "sequence parallelism wherever fused attention and tensor parallelism meet",
    "experts whole on their ranks where they are spread over some, else split like the rest",
    "experts of a mixture spread over as many data-parallel ranks as divide them",
)
"""Assumptions where a row says nothing, in the order in which they are applied."""

CUSTOMARY, SPREAD = "customary_shape", "shape_spread"
"""Columns that a frame may have: the public model whose shape is assumed of one that is called by
its size alone, and by how much a rate may be another for that, half of a range of logarithms."""

MODERN = ("hopper", "blackwell", "cdna3", "cdna4")

FROM_SHAPE = {
    "hidden": lambda shape: shape.hidden,
    "layers": lambda shape: shape.layers,
    "heads": lambda shape: shape.heads,
    "kv_heads": lambda shape: shape.kv_heads,
    "ffn_hidden": lambda shape: shape.ffn_hidden,
    "vocab": lambda shape: shape.vocab,
}


_LAYOUT = pl.col("tp") * pl.col("pp") * pl.col("cp")
"""Ranks of one replica; of more than there are accelerators no run is made, and it says so."""


GIVEN = ("machine", "dtype", "gpus", "seq_len", "micro_batch", "global_batch")
"""Columns without which no run is made of a row, and which `completed` fills in none."""


def with_runs(wide: pl.DataFrame) -> pl.DataFrame:
    """The rows that `training_run.run` may make a run of; of the others it never does."""
    held = [pl.col(name).is_not_null() for name in GIVEN if name in wide.columns]
    return wide.filter(held if len(held) == len(GIVEN) else pl.lit(value=False))


def completed(wide: pl.DataFrame) -> pl.DataFrame:
    """The frame with every column that `training_run.run` may read, as far as it is known."""
    table = _named(_with_columns(wide))
    generation = {name: one.generation for name, one in machines().items()}
    modern = (
        pl.col("machine").replace_strict(generation, default=None, return_dtype=pl.String)
        .is_in(MODERN).fill_null(value=False)
    )  # fmt: skip
    head = pl.when(pl.col("hidden") > 1024).then(128).otherwise(64)
    table = table.with_columns(
        heads=pl.coalesce("heads", pl.col("hidden") // head),
        tp=pl.col("tp").fill_null(1),
        pp=pl.col("pp").fill_null(1),
        cp=pl.col("cp").fill_null(1),
    ).with_columns(
        dp=pl.coalesce("dp", (pl.col("gpus") // _LAYOUT).clip(lower_bound=1)),
    )  # fmt: skip
    return _with_policies(_with_experts(table).with_columns(modern=modern))


def _with_experts(table: pl.DataFrame) -> pl.DataFrame:
    """Ranks that share the experts of mixtures that do not say; null where there are no experts."""
    routed = {
        name: shape.experts.routed for name, shape in shapes().items() if shape.experts is not None
    }
    found = []
    for ep, name, own, dp, cp in table.select("ep", "model", "experts", "dp", "cp").iter_rows():
        experts = routed.get(name) or own or 1
        found.append(math.gcd(experts, (dp or 1) * cp) if ep is None and experts > 1 else ep)
    return table.with_columns(ep=pl.Series(found, dtype=pl.Int64))


WHY: Mapping[str, str] = {
    "heads": ASSUMED[1], "tp": ASSUMED[2], "pp": ASSUMED[2], "cp": ASSUMED[2], "dp": ASSUMED[2],
    "attention": ASSUMED[3], "zero_stage": ASSUMED[4], "recompute": ASSUMED[5],
    "sequence_parallel": ASSUMED[6], "ep": ASSUMED[8],
}  # fmt: skip
"""Fields that the step model needs and that a row may leave out, each with its assumption."""

FILLED: dict[str, pl.DataType] = {
    "case": pl.String(), "name": pl.String(), "value": pl.String(), "law": pl.String()
}  # fmt: skip


def filled(wide: pl.DataFrame) -> pl.DataFrame:
    """Everything that the step model takes of its cases and their rows leave out; see `FILLED`.

    Cases that it has no run for are left out.
    """
    found = []
    able = with_runs(wide)
    if able.is_empty():
        return pl.DataFrame(schema=FILLED)
    given = _with_columns(able).select("case", *WHY).iter_rows(named=True)
    for bare, row in zip(given, completed(able).iter_rows(named=True), strict=True):
        built = run(row) if any(bare[name] is None for name in WHY) else None
        if built is None or faults(built, gpus_given=row["gpus"]):
            continue
        taken = {**row, "attention": built.kernels.attention,
                 "sequence_parallel": built.layout.sequence_parallel}  # fmt: skip
        found += [
            (bare["case"], name, str(taken[name]).lower(), law)
            for name, law in WHY.items()
            if bare[name] is None and taken[name] is not None
        ]
    return pl.DataFrame(found, schema=FILLED, orient="row")


class Policy(NamedTuple):
    """Sharding and recomputation of a run: its ZeRO stage, a policy, the share of layers under it.

    Units: a share.
    """

    zero_stage: int
    recompute: str
    recomputed: float


def _with_policies(table: pl.DataFrame) -> pl.DataFrame:
    """Sharding and recomputation of rows that do not say: see `ASSUMED`."""
    found: dict[str, list[object]] = {name: table[name].to_list() for name in Policy._fields}
    unsaid = pl.col("zero_stage").is_null() | pl.col("recompute").is_null()
    said = [
        name
        for name, kind in table.schema.items()
        if name not in (*PLACE, "gpu") and not kind.is_nested()
    ]
    rows = table.with_row_index("_row").filter(unsaid)
    alike = rows.group_by(said, maintain_order=True).agg("_row")
    for row in alike.iter_rows(named=True):
        for name, value in _policy(row)._asdict().items():
            for at in row["_row"]:
                found[name][at] = value
    filled = {name: pl.Series(each, dtype=POLICY[name]) for name, each in found.items()}
    return table.with_columns(**filled).drop("modern")


POLICY = {"zero_stage": pl.Int64, "recompute": pl.String, "recomputed": pl.Float64}


def _policy(row: Mapping[str, Any]) -> Policy:
    """The least sharding and recomputation with which a run fits; the most where none does."""
    least = int(row["modern"] and (row["dp"] or 1) > 1)
    again, share = row["recompute"], row["recomputed"]
    whole = 1.0 if share is None else share
    stage = least if row["zero_stage"] is None else row["zero_stage"]
    plain = {**row, "recompute": again or "full"}
    one = run({**plain, "zero_stage": stage})
    if one is None or faults(one):
        fused = one is None or one.software.attention != "unfused"
        return Policy(stage, again or ("none" if fused else "full"), whole)
    if row["zero_stage"] is None:  # what is sharded may tell the program
        each = {at: run({**plain, "zero_stage": at}) for at in _stages(one, least)}
        stage = next((at for at, found in each.items() if found and holds(found)), stage)
        one = each.get(stage) or one
    if again is not None:
        return Policy(stage, again, whole)
    layers = stage_layers(one.model.layers, one.pp)[0]
    if one.software.attention == "unfused":
        return Policy(stage, "full", 1.0)
    if holds(_again(one, 0.0)):
        return Policy(stage, "none", 1.0)
    # one layer alone is whole while it is computed again: fewer than that saves nothing
    fewest = bisect_left(range(layers), 1, lo=1, key=lambda few: holds(_again(one, few / layers)))
    return Policy(stage, "full", fewest / layers)


def _stages(one: Run, least: int) -> list[int]:
    """ZeRO stages that the run's program may have, least first; split models shard no weights."""
    ranks, split = one.dp * one.layout.cp, one.layout.tp * one.pp > 1
    if ranks == 1:
        return [least]
    begin = max(least, one.software.shards[0])
    return [each for each in range(begin, 4) if each in (begin, 1) or (each == 3 and not split)]


def _again(one: Run, share: float) -> Run:
    return replace(one, recompute="full" if share else "none", recomputed=share)


PLACE = ("case", "source", "line", "frame", "group", "consumed")
"""Columns that say where a row stands, not what ran."""


def _with_columns(wide: pl.DataFrame) -> pl.DataFrame:
    """Columns that a frame may lack, as nulls."""
    kinds: dict[str, type[pl.DataType]] = {
        "model": pl.String, "attention": pl.String, "eager": pl.Boolean, "gated": pl.Boolean,
        "sequence_parallel": pl.Boolean, "recompute": pl.String, "machine": pl.String,
        "dtype": pl.String, "launch": pl.String, "framework": pl.String, "software": pl.String,
        "recomputed": pl.Float64,
    }  # fmt: skip
    numbers = (
        "hidden", "layers", "heads", "kv_heads", "ffn_hidden", "vocab", "seq_len", "gpus", "tp",
        "pp", "cp", "ep", "vp", "dp", "micro_batch", "global_batch", "zero_stage", "gpus_per_node",
        "experts",
    )  # fmt: skip
    lacking = (kinds | dict.fromkeys(numbers, pl.Int64)).items()
    return wide.with_columns(
        pl.lit(None, dtype=kind).alias(name) for name, kind in lacking if name not in wide.columns
    )


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """Shapes of named models filled in; `model` keeps only names whose whole shape holds."""
    known: dict[str, Model] = {}
    if CUSTOMARY in table.columns:
        table = table.with_columns(model=pl.coalesce(CUSTOMARY, "model"))
    for text in table["model"].drop_nulls().unique():
        try:
            known[text] = shapes()[resolve(text)]
        except LookupError:
            continue  # a name of their own: the row must spell its shape out

    def column(name: str) -> pl.Expr:
        values = {text: FROM_SHAPE[name](shape) for text, shape in known.items()}
        found = pl.col("model").replace_strict(values, default=None, return_dtype=pl.Int64)
        return pl.coalesce(name, found)

    names = {text: shape.name for text, shape in known.items()}
    gated = {text: shape.gated for text, shape in known.items()}
    spelled = pl.col("model").replace_strict(names, default=None, return_dtype=pl.String)
    given = {name: table[name] for name in FROM_SHAPE}
    filled = table.with_columns(
        **{name: column(name) for name in FROM_SHAPE},
        gated=pl.coalesce(
            "gated",
            pl.col("model").replace_strict(gated, default=None, return_dtype=pl.Boolean),
        ),
        model=spelled,
    )
    # where the row contradicts the named shape, its own numbers stand and the name goes
    same = pl.lit(value=True)
    for name in ("hidden", "layers", "heads"):
        shape = {one.name: FROM_SHAPE[name](one) for one in known.values()}
        meant = pl.col("model").replace_strict(shape, default=None, return_dtype=pl.Int64)
        printed = pl.Series(name, given[name])
        same = same & (printed.is_null() | (printed == meant).fill_null(value=False))
    return filled.with_columns(model=pl.when(same).then("model"))
