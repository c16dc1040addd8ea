"""From what was read to kernel cases: products, attention, collectives, each with its machine.

Frames of any format whose rows are about such a kernel become one frame per scope with the columns
its models ask for; the measured time comes along where one is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.model.kernels import pointwise
from assay.model.kernels.collective import OPERATIONS, operation
from assay.model.machines.datasheets import candidates, machines, resolve
from assay.model.machines.dtypes import ITEMSIZE, dtype
from assay.validate.cases.observe import About, case_of, subject_of

SHAPES: dict[str, tuple[str, ...]] = {
    "gemm": ("b", "m", "n", "k"),
    "attention": ("batch", "seq", "kv_seq", "heads", "kv_heads", "head_dim", "causal", "direction",
                  "kernel"),
    "collective": ("op", "ranks", "ranks_per_node", "bytes", "elements"),
    "pointwise": ("bytes",),
}  # fmt: skip
"""Columns of a kernel's shape; a frame need not have all of them."""

DEFAULTS: dict[str, dict[str, pl.Expr]] = {
    "gemm": {"b": pl.lit(1)},
    "attention": {
        "batch": pl.lit(1),
        "kv_seq": pl.col("seq"),
        "kv_heads": pl.col("heads"),
        "causal": pl.lit(True),
    },
    "collective": {"ranks_per_node": pl.min_horizontal("ranks", pl.col("machine").replace_strict(
        {name: one.gpus_per_node for name, one in machines().items()}, default=None,
        return_dtype=pl.Float64))},
    "pointwise": {},
}  # fmt: skip
"""Values of a shape where a column says nothing: a group fills the usual node of its machine."""

ELEMENT = "fp16"
"""Format of the elements of a collective whose table does not say: what tables of them use."""


def kernel_cases(
    reading: Reading, frames: Mapping[str, About], *, machine: str | None = None
) -> dict[str, pl.DataFrame]:
    """One frame per scope: case, subject, source, line, machine, dtype, time and the shape.

    `frames` are given by `observe.about`; `machine` is assumed where an input does not name its
    device, and chosen where the printed name leaves it open. Rows whose machine stays unknown have
    null there. `time` is in s, null where none is printed.
    """
    found: dict[str, list[pl.DataFrame]] = {scope: [] for scope in SHAPES}
    for name, frame in reading.frames.items():
        what = frames[name]
        kernels = what.scope in SHAPES and "gpu" in frame.columns  # others name no shape
        if kernels and not frame.is_empty():
            found[what.scope].append(_cases(frame, what, machine))
    return {
        scope: pl.concat(parts, how="diagonal_relaxed") for scope, parts in found.items() if parts
    }


def _cases(frame: pl.DataFrame, what: About, machine: str | None) -> pl.DataFrame:
    named = _names(frame["gpu"], lambda text: _device(text, machine))
    types = _names(frame["dtype"], dtype) if "dtype" in frame.columns else {}
    empty = pl.lit(None, dtype=pl.String)
    spelled = pl.col("dtype") if "dtype" in frame.columns else empty
    device = pl.col("gpu").replace_strict(named, default=None, return_dtype=pl.String)
    shape = {
        name: pl.col(name) if name in frame.columns else pl.lit(None) for name in SHAPES[what.scope]
    }
    table = frame.select(
        case=case_of(),
        subject=subject_of(what.subject),
        source="source",
        line="line",
        machine=pl.when(pl.col("gpu").is_null()).then(pl.lit(machine)).otherwise(device),
        dtype=spelled.replace_strict(types, default=None, return_dtype=pl.String),
        time=pl.col("time") if "time" in frame.columns else pl.lit(None, dtype=pl.Float64),
        **(shape | _observed_by_profiler(frame, what)),
    )
    filled = DEFAULTS[what.scope].items()
    table = table.with_columns(pl.coalesce(name, value).alias(name) for name, value in filled)
    if what.scope == "pointwise":  # bytes are counted, whatever they mean
        table = table.with_columns(pl.col("dtype").fill_null(ELEMENT))
    return _messages(table) if what.scope == "collective" else table


def forward(cases: pl.DataFrame) -> pl.DataFrame:
    """Without backward passes, which no model here has been measured against."""
    if "direction" not in cases.columns:
        return cases
    back = pl.col("direction").cast(pl.String).fill_null("").str.contains("(?i)back|bwd")
    return cases.filter(~back)


def _observed_by_profiler(frame: pl.DataFrame, what: About) -> dict[str, pl.Expr]:
    """Columns that a trace tells beyond shapes.

    Times of products are those of kernels by themselves, and their operands lie in memory as it
    says; kernels that stream reach their kind's share of the memory bandwidth.
    """
    if what.scope == "gemm" and "layout" in frame.columns:
        turned = pl.col("layout").str.starts_with("t").cast(pl.Float64)
        return {"a_transposed": turned.fill_null(0.0), "alone": pl.lit(1.0)}
    if what.scope == "pointwise" and "kernel" in frame.columns:
        kinds = ((name, pointwise.kind(name)) for name in frame["kernel"].drop_nulls().unique())
        shares = {name: pointwise.KINDS[kind] for name, kind in kinds if kind}
        share = pl.col("kernel").replace_strict(shares, default=None, return_dtype=pl.Float64)
        return {"share": share}
    return {}


def _messages(table: pl.DataFrame) -> pl.DataFrame:
    """Collectives with bytes, and with the operation under its canonical name and as a code."""
    names = _names(table["op"], operation)
    codes = {name: float(place) for place, name in enumerate(OPERATIONS)}
    op = pl.col("op").replace_strict(names, default=None, return_dtype=pl.String)
    width = pl.col("dtype").replace_strict(ITEMSIZE, default=None, return_dtype=pl.Float64)
    size = pl.coalesce(pl.col("bytes").cast(pl.Float64), pl.col("elements") * width)
    return table.with_columns(dtype=pl.col("dtype").fill_null(ELEMENT)).with_columns(
        op=op,
        operation=op.replace_strict(codes, default=None, return_dtype=pl.Float64),
        bytes=size,
    )


def _device(text: str, stated: str | None) -> str:
    return stated if stated in candidates(text) else resolve(text)


def _names(printed: pl.Series, canonical: Callable[[str], str]) -> dict[str, str]:
    """Printed text → canonical name, for those that have one."""
    found = {}
    for text in printed.drop_nulls().unique().sort():
        try:
            found[text] = canonical(text)
        except LookupError:
            continue
    return found
