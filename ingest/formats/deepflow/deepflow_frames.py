"""The frames of a DeepFlow dump: a row per GEMM, kernel, part, memory line, chip, component, dump.

`dump` is the first line of the dump that a row belongs to: the case. Sizes and rates are printed in
powers of 1024 under decimal names ("GB/s" is 2³⁰ B/s), and before the derate; `Tflops` are decimal.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.schema.fields import logged, named

SCALES = {
    "Tflops": 1e12,
    "KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40,
    "MB/s": 2.0**20, "GB/s": 2.0**30, "TB/s": 2.0**40,
    "Ghz": 1e9, "GHz": 1e9, "mm2": 1e-6, "watt": 1.0, "%": 0.01,
}  # fmt: skip
"""Printed unit → factor to SI as this estimator means it."""


def count(quantity: str, unit: str, meaning: str = "") -> int:
    """A column of whole numbers printed in full."""
    field: int = logged(kind="exact", quantity=quantity, unit=unit, nullable=True, meaning=meaning)
    return field


def full(quantity: str, unit: str, meaning: str = "") -> float:
    """A column of floats printed in full."""
    field: float = logged(
        kind="binary", quantity=quantity, unit=unit, nullable=True, meaning=meaning
    )
    return field


def rounded(quantity: str, unit: str, meaning: str = "") -> float:
    """A column of rounded floats."""
    field: float = logged(quantity=quantity, unit=unit, nullable=True, meaning=meaning)
    return field


class OfDump(pa.DataFrameModel):
    """Column that every frame of a dump has: the line where the dump begins."""

    dump: int = logged(kind="exact", ge=1, meaning="first line of the dump")


class DeepflowGemm(OfDump):
    """One matrix product; columns in `_t` belong to its transposed orientation."""

    name: str = named(nullable=False, meaning="the product: Cf, Cb_act, …")
    flop: int = count("flop", "flop")
    gmem_bytes: int = count("gmem_bytes", "B", "DRAM traffic")
    l2mem_bytes: int = count("l2mem_bytes", "B", "L2 traffic")
    time: float = full("time", "s", "launch included")
    flop_t: int = count("flop_t", "flop")
    gmem_bytes_t: int = count("gmem_bytes_t", "B")
    time_t: float = full("time_t", "s", "of the orientation that was not chosen")
    intensity: float = rounded("intensity", "flop/B")
    inflection: float = rounded("inflection", "flop/B", "where bytes stop to bound")
    intensity_t: float = rounded("intensity_t", "flop/B")
    inflection_t: float = rounded("inflection_t", "flop/B")

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "estimate", "scope": "gemm", "subject": ("name",), "case": "dump"}


class DeepflowReload(OfDump):
    """How often the operands of a product are moved, at one cache level and in one orientation."""

    name: str = named(nullable=False, meaning="product, cache level, and whether transposed")
    reload_ab: int = count("reload_ab", "1")
    reload_ac: int = count("reload_ac", "1")
    reload_bc: int = count("reload_bc", "1")

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "estimate", "scope": "gemm", "subject": ("name",), "case": "dump"}


class DeepflowKernel(OfDump):
    """One pointwise, gradient or embedding kernel."""

    name: str = named(nullable=False, meaning="hidden_forward, gradclip_softmax, …")
    flop: int = count("flop", "flop")
    bytes: int = count("bytes", "B")
    time: float = full("time", "s")
    intensity: float = rounded("intensity", "flop/B")
    inflection: float = rounded("inflection", "flop/B")

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "estimate", "scope": "pointwise", "subject": ("name",), "case": "dump"}


class DeepflowPart(OfDump):
    """One part of a step, from the `Cf:` line."""

    name: str = named(nullable=False, meaning="Cf, Cb, R, softmax_f, …")
    time: float = full("time", "s")

    class Config:
        """Scope and subject of the rows."""

        metadata = {
            "rows": "estimate",
            "scope": "configuration",
            "subject": ("name",),
            "case": "dump",
        }


class DeepflowMemory(OfDump):
    """One line of the memory requirement, per data shard or per model shard of it."""

    name: str = named(nullable=False, meaning="total, or a part or kind of it")
    memory: float = rounded("memory", "B", "per data shard")
    memory_per_shard: float = rounded("memory_per_shard", "B", "per model shard of a data shard")

    class Config:
        """Scope and subject of the rows."""

        metadata = {
            "rows": "estimate",
            "scope": "configuration",
            "subject": ("name",),
            "case": "dump",
        }


class DeepflowMachine(OfDump):
    """The chip of a dump: rates before the derate."""

    peak_flops: float = rounded("peak_flops", "flop/s")
    memory_bandwidth: float = rounded("memory_bandwidth", "B/s")
    memory_size: float = rounded("memory_size", "B")
    l2_bandwidth: float = rounded("l2_bandwidth", "B/s")
    l2_size: float = rounded("l2_size", "B")
    shared_memory_size: float = rounded("shared_memory_size", "B")
    interconnect_bandwidth: float = rounded("interconnect_bandwidth", "B/s")

    class Config:
        """Scope and case of the rows."""

        metadata = {"rows": "estimate", "scope": "machine", "case": "dump"}


class DeepflowComponent(OfDump):
    """One number of a second-generation chip; nothing predicts these yet."""

    subject: str = named(nullable=False, meaning="component and name, joined by a slash")
    flops: float = rounded("peak_flops", "flop/s")
    area: float = rounded("area", "m²")
    power: float = rounded("power", "W")
    frequency: float = rounded("frequency", "Hz")
    bandwidth: float = rounded("bandwidth", "B/s")
    capacity: float = rounded("capacity", "B")
    share: float = rounded("share", "1")
    number: float = rounded("number", "1", "printed without a unit")

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "estimate", "scope": "machine", "subject": ("subject",), "case": "dump"}


class DeepflowDump(OfDump):
    """One dump: totals and degrees of parallelism."""

    generation: int = logged(kind="exact", nullable=True, meaning="1 prints GEMMs, 2 components")
    parameters: float = rounded("parameters", "1")
    step_time: float = rounded("step_time", "s")
    next_step_time: float = logged(nullable=True, unit="s", meaning="printed as time_per_step")
    memory_overflow: float = rounded("memory_overflow", "1", "needed over present memory")
    memory_overflow_per_shard: float = rounded("memory_overflow_per_shard", "1")
    parallel_degree: int = logged(
        kind="exact", ge=1, nullable=True, meaning="the largest degree of any kind"
    )
    dp: int = logged(["dp"], kind="exact", ge=1, nullable=True, meaning="data-parallel degree")
    lp: int = logged(["lp"], kind="exact", ge=1, nullable=True, meaning="layer-parallel degree")
    factor: int = logged(kind="exact", nullable=True, meaning="of an all-reduce")

    class Config:
        """Scope and case of the rows."""

        metadata = {"rows": "estimate", "scope": "configuration", "case": "dump"}
