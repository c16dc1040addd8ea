"""Configurations as the step model takes them: shapes spelled out, what nobody prints assumed.

A row keeps everything it says; only nulls are filled. The assumptions are those of `ASSUMED`, in
words, so that a forecast can say what it rests on.
"""

from __future__ import annotations

import polars as pl
from assay.model.machines.datasheets import machines
from assay.model.step.memory import holds
from assay.model.transformer.parallel import faults
from assay.model.transformer.shapes import Model, resolve, shapes
from assay.model.transformer.training_run import Run, run

ASSUMED = (
    "a run that names a public model has its shape",
    "heads of 128, of 64 up to a width of 1024",
    "one GPU per tensor- and pipeline-parallel rank where nothing says otherwise; "
    "data-parallel what is left",
    "the software of the program and the year that the row names, else of what it uses: "
    "fully sharded PyTorch's, everything else Megatron's, with the attention kernel of its time",
    "no recomputation with fused attention where memory holds the activations, full one else",
    "sequence parallelism wherever fused attention and tensor parallelism meet",
    "an optimizer sharded over the data-parallel ranks on Hopper and later",
)
"""Assumptions where a row says nothing, in the order in which they are applied."""

MODERN = ("hopper", "blackwell", "cdna3", "cdna4")

FROM_SHAPE = {
    "hidden": lambda shape: shape.hidden,
    "layers": lambda shape: shape.layers,
    "heads": lambda shape: shape.heads,
    "kv_heads": lambda shape: shape.kv_heads,
    "ffn_hidden": lambda shape: shape.ffn_hidden,
    "vocab": lambda shape: shape.vocab,
}


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
        dp=pl.coalesce("dp", pl.col("gpus") // (pl.col("tp") * pl.col("pp") * pl.col("cp"))),
    )  # fmt: skip
    stage = pl.when(modern & (pl.col("dp") > 1)).then(1).otherwise(0)
    return _recomputed(table.with_columns(zero_stage=pl.coalesce("zero_stage", stage)))


def _recomputed(table: pl.DataFrame) -> pl.DataFrame:
    """The recomputation of a row that does not say: see `ASSUMED`."""
    found: list[str] = table["recompute"].to_list()
    known: dict[tuple[object, ...], str] = {}
    for at in table["recompute"].is_null().arg_true():
        row = table.row(at, named=True)
        key = tuple(
            value
            for name, value in row.items()
            if name not in PLACE and not isinstance(value, list)
        )
        if key not in known:
            one = run(row | {"recompute": "none"})
            known[key] = "none" if one is None or _keeps(one) else "full"
        found[at] = known[key]
    return table.with_columns(recompute=pl.Series(found, dtype=pl.String))


def _keeps(one: Run) -> bool:
    """Whether a run need not recompute: its attention keeps no scores, and its tensors fit."""
    return one.software.attention != "unfused" and (bool(faults(one)) or holds(one))


PLACE = ("case", "source", "line", "frame", "group", "consumed")
"""Columns that say where a row stands, not what ran."""


def _with_columns(wide: pl.DataFrame) -> pl.DataFrame:
    """Columns that a frame may lack, as nulls."""
    kinds = {
        "model": pl.String, "attention": pl.String, "eager": pl.Boolean, "gated": pl.Boolean,
        "sequence_parallel": pl.Boolean, "recompute": pl.String, "machine": pl.String,
        "dtype": pl.String, "launch": pl.String, "framework": pl.String, "software": pl.String,
    }  # fmt: skip
    numbers = (
        "hidden", "layers", "heads", "kv_heads", "ffn_hidden", "vocab", "seq_len", "gpus", "tp",
        "pp", "cp", "ep", "vp", "dp", "micro_batch", "global_batch", "zero_stage", "gpus_per_node",
    )  # fmt: skip
    lacking = (kinds | dict.fromkeys(numbers, pl.Int64)).items()
    return wide.with_columns(
        pl.lit(None, dtype=kind).alias(name) for name, kind in lacking if name not in wide.columns
    )


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """Shapes of named models filled in; `model` keeps only names whose whole shape holds."""
    known: dict[str, Model] = {}
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
