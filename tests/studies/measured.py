"""The measured kernel tables, as frames: machine, dtype, `time` in s, and the shape columns.

They are read like any input. The tables name a GPU but not its memory; `GPUS` says which machine
each was, from its publisher.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from assay.ingest.inputs.read import read
from assay.model.kernels.collective import encode
from assay.model.machines.dtypes import dtype

GPUS = {"a100": "A100-80g", "h100": "H100", "h200": "H200", "b200": "B200", "a40": "A40"}
"""Machine behind each name of the tables: the A100 of all of them has 80 GB and 2039 GB/s."""

ELEMENT = 2.0
"""Bytes of one element of the collective tables (fp16)."""


def table(folder: Path, name: str, gpu: str) -> pl.DataFrame:
    """Rows of `measured/<name>` that were measured on `gpu`, in SI units; empty if not there."""
    path = folder / "measured" / name
    if not path.is_file():
        return pl.DataFrame()
    (frame,) = read([path]).reading.frames.values()
    rows = frame.filter(pl.col("gpu").str.to_lowercase() == gpu, pl.col("time") > 0)
    names = {text: dtype(text) for text in rows["dtype"].drop_nulls().unique()}
    known = pl.col("dtype").replace_strict(names, default=None, return_dtype=pl.String)
    return rows.with_columns(machine=pl.lit(GPUS[gpu]), dtype=known.fill_null("fp16"))


def gemm(folder: Path, gpu: str) -> pl.DataFrame:
    """Products with 16 ≤ m on one GPU."""
    return table(folder, f"gemm_{gpu}_bf16.csv", gpu)


def xla(folder: Path, gpu: str) -> pl.DataFrame:
    """Products and batched products timed by another library and team."""
    return table(folder, f"xla2606_{gpu.upper()}_bf16.csv", gpu)


def vidur(folder: Path, gpu: str) -> pl.DataFrame:
    """Products of the layers of Llama-family models; `model` is the part of `kernel` before ':'."""
    rows = table(folder, "vidur_gemm_sample.csv", gpu)
    if rows.is_empty():
        return rows
    return rows.with_columns(model=pl.col("kernel").str.split(":").list.first())


def attention(folder: Path, gpu: str) -> pl.DataFrame:
    """Forward attention, causal, one GPU."""
    return table(folder, f"attention_{gpu}_bf16.csv", gpu)


def collective(folder: Path, gpu: str) -> pl.DataFrame:
    """Collectives in one node; `elements` counts elements (formulas of the collectives)."""
    rows = table(folder, f"collective_{gpu}_fp16.csv", gpu)
    if rows.is_empty():
        return rows
    return encode(rows.with_columns(bytes=pl.col("elements") * ELEMENT))
