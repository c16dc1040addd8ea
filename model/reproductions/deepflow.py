"""The DeepFlow estimator, first generation: every number of a dump from its configuration.

In: `DUMP_CASE` frames, one row per dump with the configuration that stands beside it. Out:
predictions for the nine GEMMs (flop, bytes, reloads, intensity, time), the pointwise and gradient
kernels, the embedding, the parts of a step, memory, chip and the whole step. Only parallel degrees
of one are defined; a row with another degree, or with an unknown value, has no prediction.

Source: DeepFlow, first generation; formulas recomputed from its dumps (docs/estimators.md). Units
are SI: flop, bytes, seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from assay.model.frames import PREDICTION
from assay.model.reproductions.deepflow_gemm import (
    MEMORY_LATENCY,
    Gemm,
    Rates,
    Tiles,
    gemm_times,
    gemm_work,
    roofline,
)
from assay.model.reproductions.deepflow_memory import requirement
from assay.model.reproductions.deepflow_workload import (
    Chip,
    Kernel,
    Power,
    Technology,
    Workload,
    chip_from_power,
    embedding_bytes,
    gemms,
    gradients,
    parameters,
    pointwise,
)

MODEL = "deepflow"

BASIS = "assay.model.reproductions.deepflow.predict"

WORKLOAD_COLUMNS = (
    "batch",
    "vocabulary",
    "layers",
    "width",
    "projection",
    "sequence",
    "precision",
    "gates",
    "adds",
    "non_linear",
)

TECHNOLOGY_COLUMNS = tuple(Technology.__dataclass_fields__)

POWER_COLUMNS = ("tdp", "core", "dram", "l2", "shared")

DUMP_CASE: dict[str, pl.DataType] = {
    "case": pl.String(),
    **{name: pl.Int64() for name in WORKLOAD_COLUMNS},
    "launch_overhead": pl.Float64(),
    **{name: pl.Float64() for name in (*TECHNOLOGY_COLUMNS, *POWER_COLUMNS)},
    "parallel_degree": pl.Int64(),  # the largest degree of any kind; 1: nothing is split
}


class Figure(NamedTuple):
    """One number of an estimate, in the SI `unit` that it names."""

    scope: str
    subject: str
    quantity: str
    value: float
    unit: str


def gemm_counts(gemm: Gemm, tiles: Tiles, precision: int) -> Iterator[Figure]:
    """Flop, bytes, reloads and intensity of one GEMM: what needs no rate.

    Reloads have a subject per cache level and orientation. Intensity is printed for both
    orientations, the transposed one as `intensity_t`.

    >>> from assay.model.reproductions.deepflow_gemm import Gemm, Tiles
    >>> figures = gemm_counts(Gemm("Cf", 512, 39936, 79872), Tiles(512, 2048), 4)
    >>> [int(f.value) for f in figures if f.quantity == "gmem_bytes"]
    [25681723392]
    """
    first, second = gemm_work(gemm, tiles, precision)
    yield Figure("gemm", gemm.name, "flop", first.flop, "flop")
    yield Figure("gemm", gemm.name, "gmem_bytes", first.gmem, "B")
    yield Figure("gemm", gemm.name, "l2mem_bytes", first.l2mem, "B")
    for suffix, turned, one in (("", "", first), ("_t", " transposed", second)):
        yield Figure("gemm", gemm.name, f"intensity{suffix}", one.intensity, "flop/B")
        for level, count in (("gmem", one.gmem_reloads), ("l2mem", one.l2mem_reloads)):
            for operand in ("ab", "ac", "bc"):
                subject, times = f"{gemm.name} {level}{turned}", getattr(count, operand)
                yield Figure("gemm", subject, f"reload_{operand}", times, "1")


def gemm_time(gemm: Gemm, tiles: Tiles, precision: int, rates: Rates) -> Iterator[Figure]:
    """Time of one GEMM, launch included, and the inflection printed for both orientations.

    A dump that prefers the transposed orientation prints that one's flop and bytes under names in
    `_t`, and beside `GEMM_time_t` still the time of the other: that number is `time_t`. Nothing but
    the inflection where the L2 rate is needed and unknown. Units: s, flop, B, flop/B.
    """
    both = gemm_work(gemm, tiles, precision)
    first, second = gemm_times(*both, rates)
    inflection = rates.flops / rates.memory_bandwidth
    for suffix in ("", "_t"):
        yield Figure("gemm", gemm.name, f"inflection{suffix}", inflection, "flop/B")
    if first is None or second is None:
        return
    yield Figure("gemm", gemm.name, "time", min(first, second), "s")
    if second < first:
        yield Figure("gemm", gemm.name, "flop_t", both[1].flop, "flop")
        yield Figure("gemm", gemm.name, "gmem_bytes_t", both[1].gmem, "B")
        yield Figure("gemm", gemm.name, "time_t", first, "s")


def kernel_counts(kernels: Iterable[Kernel]) -> Iterator[Figure]:
    """Flop, bytes and intensity (flop per byte) of kernels. Flop are cut to integers as printed."""
    for kernel in kernels:
        yield Figure("pointwise", kernel.name, "flop", int(kernel.flop), "flop")
        yield Figure("pointwise", kernel.name, "bytes", int(kernel.bytes), "B")
        yield Figure("pointwise", kernel.name, "intensity", kernel.flop / kernel.bytes, "flop/B")


def kernel_time(kernel: Kernel, rates: Rates) -> float:
    """Seconds of a pointwise kernel with its launches; L2 plays no part."""
    seconds = roofline(kernel.flop, kernel.bytes, rates)
    assert seconds is not None  # only L2 traffic can be unknown
    return seconds + kernel.launches * rates.overhead


def kernel_times(kernels: Iterable[Kernel], rates: Rates) -> Iterator[Figure]:
    """Time (s) and inflection (flop per byte) of pointwise kernels."""
    for kernel in kernels:
        yield Figure("pointwise", kernel.name, "time", kernel_time(kernel, rates), "s")
        inflection = rates.flops / rates.memory_bandwidth
        yield Figure("pointwise", kernel.name, "inflection", inflection, "flop/B")


def embedding_time(work: Workload, rates: Rates) -> float:
    """Seconds of the embedding in one direction: its bytes, the memory latency and one launch."""
    return embedding_bytes(work) / rates.memory_bandwidth + MEMORY_LATENCY + rates.overhead


def step_parts(work: Workload, tiles: Tiles, rates: Rates) -> dict[str, float]:
    """Seconds of the parts of a step, as the `Cf:` line names them; absent where a GEMM is unknown.

    Source: each part is its GEMMs and its pointwise kernel; R clips and applies the gradient of the
    hidden weight.
    """
    spent: dict[str, float] = {}
    for gemm in gemms(work):
        first, second = gemm_times(*gemm_work(gemm, tiles, work.precision), rates)
        if first is not None and second is not None:
            spent[gemm.name] = min(first, second)
    kernels = [*pointwise(work), *gradients(work)]
    spent |= {kernel.name: kernel_time(kernel, rates) for kernel in kernels}
    recipe = {
        "Cf": ("Cf", "hidden_forward"),
        "Cb": ("Cb_act", "Cb_wt", "hidden_backward"),
        "R": ("apply_grad_hidden", "gradclip_hidden"),
        "softmax_f": ("softmax_f", "softmax_forward"),
        "softmax_b": ("softmax_b_wt", "softmax_b_act", "softmax_backward"),
        "projection_f": ("projection",),
        "projection_b": ("projection_b_wt", "projection_b_act"),
        "apply_softmax": ("apply_grad_softmax", "gradclip_softmax"),
    }
    made = {part: sum(spent[n] for n in of) for part, of in recipe.items() if set(of) <= set(spent)}
    made["embedding_f"] = made["embedding_b"] = embedding_time(work, rates)
    return made


STEP_PARTS = ("softmax_f", "softmax_b", "embedding_f", "embedding_b", "apply_softmax")
"""Parts that a step pays once; the projection is left out, 0.551 s in the first dump published."""


def step_time(work: Workload, part: dict[str, float]) -> float | None:
    """Seconds of one step; None where a part is unknown.

    Source: softmax, embedding and the softmax gradient once, L·S cells forward and backward, then
    the hidden gradient R. Where R takes longer than a backward cell it is what the backward pass
    waits for: L·(S − 2) + L + 1 cells and L times R.
    """
    if not {*STEP_PARTS, "Cf", "Cb", "R"} <= set(part):
        return None
    once = sum(part[name] for name in STEP_PARTS)
    layers, steps = work.layers, work.sequence
    forward = (layers + layers * (steps - 1)) * part["Cf"]
    if part["Cb"] >= part["R"]:
        return once + forward + (layers + layers * (steps - 1)) * part["Cb"] + part["R"]
    return once + forward + (layers + layers * (steps - 2) + 1) * part["Cb"] + layers * part["R"]


def step_figures(work: Workload, tiles: Tiles, rates: Rates) -> Iterator[Figure]:
    """Seconds of the parts of the step and of the step itself, as far as they are known."""
    part = step_parts(work, tiles, rates)
    for name, seconds in part.items():
        if name != "apply_softmax":  # part of the step, but not of the line
            yield Figure("configuration", name, "time", seconds, "s")
    whole = step_time(work, part)
    if whole is not None:
        yield Figure("configuration", "", "step_time", whole, "s")


def count_figures(work: Workload) -> Iterator[Figure]:
    """Figures of the dimensions alone: flop and bytes of kernels, parameters, bytes of memory."""
    yield from kernel_counts((*pointwise(work), *gradients(work)))
    for name in ("embedding_forward", "embedding_backward"):
        yield Figure("pointwise", name, "bytes", embedding_bytes(work), "B")
    yield Figure("configuration", "", "parameters", parameters(work), "1")
    needed = requirement(work)
    for name, size in (*needed.items(), ("total_of_kinds", needed["total"])):
        yield Figure("configuration", name, "memory", size, "B")
        yield Figure("configuration", name, "memory_per_shard", size, "B")  # one shard is all


def chip_figures(chip: Chip) -> Iterator[Figure]:
    """The printed chip: rates before the derate; one chip alone has no interconnect."""
    yield Figure("machine", "", "peak_flops", chip.peak_flops, "flop/s")
    yield Figure("machine", "", "memory_bandwidth", chip.peak_memory_bandwidth, "B/s")
    yield Figure("machine", "", "memory_size", chip.memory_size, "B")
    yield Figure("machine", "", "l2_bandwidth", chip.l2_bandwidth, "B/s")
    yield Figure("machine", "", "l2_size", chip.l2_size, "B")
    yield Figure("machine", "", "shared_memory_size", chip.shared_size, "B")
    yield Figure("machine", "", "interconnect_bandwidth", 0.0, "B/s")


def estimate(work: Workload, chip: Chip) -> list[Figure]:
    """Every number of a dump, in SI.

    Raises ValueError for a chip without shared memory or without DRAM or core power, on which the
    estimator itself stops.
    """
    if not chip.rates.flops or not chip.rates.memory_bandwidth:
        raise ValueError("DeepFlow divides by the core and the DRAM rate")
    tiles = chip.tiles(work.precision)
    figures = [*count_figures(work), *chip_figures(chip)]
    for gemm in gemms(work):
        figures += gemm_counts(gemm, tiles, work.precision)
        figures += gemm_time(gemm, tiles, work.precision, chip.rates)
    figures += kernel_times((*pointwise(work), *gradients(work)), chip.rates)
    figures += step_figures(work, tiles, chip.rates)
    needed = requirement(work)["total"] / chip.memory_size
    for quantity in ("memory_overflow", "memory_overflow_per_shard"):
        figures.append(Figure("configuration", "", quantity, needed, "1"))
    return figures


class Estimate(NamedTuple):
    """The figures of one case, and the printed numbers they consumed."""

    case: str
    figures: Sequence[Figure]
    inputs: tuple[str, ...] = ()


def as_predictions(estimates: Sequence[Estimate], *, basis: str) -> pl.DataFrame:
    """Figures of many cases as a prediction frame, built by columns: there are 200 per dump."""
    figures = [figure for each in estimates for figure in each.figures]
    of = np.repeat(np.arange(len(estimates)), [len(each.figures) for each in estimates])
    cases = pl.Series([each.case for each in estimates], dtype=pl.String)
    inputs = pl.Series([list(each.inputs) for each in estimates], dtype=PREDICTION["inputs"])
    known = {
        "scope": [figure.scope for figure in figures],
        "subject": [figure.subject for figure in figures],
        "quantity": [figure.quantity for figure in figures],
        "value": [float(figure.value) for figure in figures],
        "unit": [figure.unit for figure in figures],
    }
    types = {name: PREDICTION[name] for name in known}
    return pl.DataFrame(known, schema=types).select(
        case=cases.gather(of), scope="scope", subject="subject", quantity="quantity", value="value",
        low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64), unit="unit",
        model=pl.lit(MODEL), basis=pl.lit(basis), inputs=inputs.gather(of),
    )  # fmt: skip


def configured(row: dict[str, Any]) -> tuple[Workload, Chip]:
    """Workload and chip of one row of a `DUMP_CASE` frame. Raises KeyError for a missing column."""
    technology = Technology(**{name: row[name] for name in TECHNOLOGY_COLUMNS})
    power = Power(**{name: row[name] for name in POWER_COLUMNS})
    work = Workload(**{name: row[name] for name in WORKLOAD_COLUMNS})
    return work, chip_from_power(power, technology, row["launch_overhead"])


def predict(cases: pl.DataFrame) -> pl.DataFrame:
    """Predictions for every dump whose configuration is whole and splits nothing.

    Columns: `DUMP_CASE`, SI, in; those of `frames.PREDICTION` out.

    >>> predict(pl.DataFrame(schema=DUMP_CASE)).is_empty()
    True
    """
    whole = cases.select(*DUMP_CASE).drop_nulls().filter(pl.col("parallel_degree") == 1)
    known: dict[tuple[object, ...], list[Figure]] = {}  # a sweep says the same again and again
    found = []
    for row in whole.iter_rows(named=True):
        said = tuple(row.values())[1:]
        try:
            figures = known[said] if said in known else estimate(*configured(row))
        except (ValueError, ZeroDivisionError):
            continue  # the estimator itself prints nothing for such a chip
        known[said] = figures
        found.append(Estimate(row["case"], figures))
    return as_predictions(found, basis=BASIS)
