"""Programs of runs: what ran, when, and its switches, which no column of a document holds.

In: a reading, or values that a user states. Out: columns that `training_run.run` takes beside those
of `Configuration`. The program is the one whose dump or whose lines an input has; its date is the
row's own, else that of the input's first line with one.
"""

from __future__ import annotations

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.model.machines.software import frameworks, stacks, year
from assay.model.step.work import SCALING
from assay.model.transformer.parallel import LAUNCHES
from assay.model.transformer.training_run import ADAPTERS

PROGRAM: dict[str, pl.DataType] = {
    "framework": pl.String(),  # of software.toml
    "date": pl.String(),  # YYYY-MM, or longer
    "software": pl.String(),  # a stack of software.toml
    "eager": pl.Boolean(),
    "reduce_dtype": pl.String(),
    "tp_overlap": pl.Boolean(),
    "ep_overlap": pl.Boolean(),
    "scaling": pl.String(),  # of 8-bit values
    "launch": pl.String(),
    "node_bandwidth": pl.Float64(),  # B/s
    "shard_ranks": pl.Int64(),
    "expert_tp": pl.Int64(),
    "recomputed": pl.Float64(),  # share of layers
    "head_dim": pl.Int64(),
    "experts_per_token": pl.Int64(),
    "expert_ffn_hidden": pl.Int64(),
    "shared_ffn_hidden": pl.Int64(),
    "dense_layers": pl.Int64(),
    "trained_part": pl.String(),  # lora: adapters beside frozen weights
}
"""Columns beside those of `Configuration`; absent ones are null."""

NAMES = ("framework", "trainer")
"""Columns of frames that say whose program printed their rows."""

SWITCH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def stated(name: str, value: object) -> object:
    """A value of a column of `PROGRAM` as the column holds it; ValueError says what would fit.

    >>> stated("tp_overlap", "yes"), stated("node_bandwidth", "4e11"), stated("date", "2024-07")
    (True, 400000000000.0, '2024-07')
    """
    kind, text = PROGRAM[name], str(value).strip()
    known = {
        "framework": frameworks(), "software": tuple(stacks()), "trained_part": ADAPTERS,
        "scaling": tuple(SCALING), "launch": LAUNCHES,
    }.get(name)  # fmt: skip
    if known is not None and text.lower() not in known:
        raise ValueError(f"{name} {text!r} is none of {', '.join(known)}")
    if name == "date" and year(text) is None:
        raise ValueError(f"date {text!r} is no year or month, such as 2024-07")
    if kind == pl.String():
        return text.lower() if known else text
    if kind == pl.Boolean():
        if text.lower() not in SWITCH:
            raise ValueError(f"{name} {text!r} is none of {', '.join(SWITCH)}")
        return SWITCH[text.lower()]
    try:
        number = int(text) if kind == pl.Int64() else float(text)
    except ValueError:
        raise ValueError(f"{name} {text!r} is no number") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name} is {number}, expected a number from 0 on")
    return number


def with_programs(wide: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The cases with the columns of `PROGRAM`, program and date as far as inputs say them."""
    held = [frame for frame in reading.frames.values() if not frame.is_empty()]
    program = _first(held, NAMES).select("source", framework="said")
    date = _first(held, ("date", "timestamp")).select("source", date="said")
    return (
        wide.join(program, on="source", how="left", maintain_order="left")
        .join(date, on="source", how="left", maintain_order="left")
        .with_columns(
            pl.lit(None, dtype=kind).alias(name)
            for name, kind in PROGRAM.items()
            if name not in ("framework", "date", *wide.columns)
        )
    )


def _first(frames: list[pl.DataFrame], names: tuple[str, ...]) -> pl.DataFrame:
    """The first value of any of these columns in each source: columns source and said."""
    parts = [
        frame.select(pl.col("source").cast(pl.String), "line", said=pl.col(name).cast(pl.String))
        for frame in frames
        for name in names
        if {"source", "line", name} <= set(frame.columns)
    ]
    if not parts:
        return pl.DataFrame(schema={"source": pl.String, "said": pl.String})
    every = pl.concat(parts, how="vertical_relaxed").drop_nulls("said")
    return every.sort("source", "line").unique("source", keep="first").select("source", "said")
