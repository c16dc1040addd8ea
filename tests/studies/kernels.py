"""Times of kernels: matrix products, attention and collectives on measured GPUs.

Whole groups are held out: (n, k) pairs of products, whole models, (seq, heads, kv_heads) of
attention, message sizes of collectives. Two halves: each is fitted once and scored once, so every
row is predicted by parameters that have not seen its group. Errors are in percent.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from assay.model.fit import kernel_fit
from assay.model.fit.groups import SEED, folds
from assay.model.fit.learnt import Calibrated
from assay.model.kernels import gemm
from assay.model.kernels.kernel import Floats, Kernel, inputs, rows, with_facts
from assay.model.machines.datasheets import machine
from assay.model.stacks.stack import lent
from assay.validate.calibrate.kernel_stacks import GROUPS, labels, part
from assay.validate.score.statistics import bootstrap, errors, mape

from tests.studies import measured
from tests.studies.entries import Entry

FOLDS = 2

HELD_OUT_MODELS = ("Llama-2-70b-hf", "Qwen-72B")

LARGE = (pl.col("m") >= 512) & (pl.col("n") >= 1024) & (pl.col("k") >= 1024)

LONG_SEQ = pl.col("seq") >= 1024

MEBIBYTE = pl.col("bytes") >= 2**20

HEAVY = 2.0 * pl.col("b") * pl.col("m") * pl.col("n") * pl.col("k") >= 20e9

ALL = pl.lit(True)

Score = Callable[[Floats], float]


def entries() -> list[Entry]:
    """Figures of every kernel model on the measured kernel times; none without ASSAY_CORPUS."""
    corpus = os.environ.get("ASSAY_CORPUS")
    if not corpus:
        print("kernels: skipped, ASSAY_CORPUS names no folder with measured/", file=sys.stderr)
        return []
    folder = Path(corpus)
    found = [*_gemm(folder), *_others(folder), *_vidur(folder), *_transfer(folder)]
    return [entry for entry in found if entry.n > 0]


def median(error: Floats) -> float:
    """Median absolute error."""
    return float(np.median(np.abs(error)))


def held_out(frame: pl.DataFrame, scope: str, kernel: Kernel | None = None) -> pl.DataFrame:
    """`frame` with predicted, low and high of each row from the half that it is not in."""
    groups = labels(frame, GROUPS[scope])
    halves = []
    for mask in folds(groups, FOLDS):
        scored, fitted = frame.filter(mask), frame.filter(~mask)
        halves.append(predicted(part(fitted, scope, origin="", kernel=kernel, draws=0), scored))
    return pl.concat(halves)


def predicted(one: Calibrated, frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with the predicted time and its 90 % interval."""
    seconds = one.time(inputs(one.kernel, with_facts(frame)))
    empty = np.full(len(seconds), np.nan)
    low, high = one.interval.bounds(seconds) if one.interval else (empty, empty)
    return frame.with_columns(
        predicted=pl.Series(seconds), low=pl.Series(low), high=pl.Series(high)
    )


def entry(name: str, frame: pl.DataFrame, groups: tuple[str, ...], score: Score = mape) -> Entry:
    """One figure over the rows of `frame`, with its bootstrap interval over groups."""
    if frame.is_empty():
        return Entry(name, float("nan"), "%", 0)
    error = errors(frame["predicted"].to_numpy(), frame["time"].to_numpy())
    low, high = bootstrap(error, labels(frame, groups), score)
    return Entry(name, 100 * score(error), "%", len(error), 100 * low, 100 * high)


def coverage(name: str, frames: list[pl.DataFrame]) -> Entry:
    """Share of rows whose time lies in the 90 % interval."""
    inside = [frame.select(pl.col("time").is_between("low", "high")) for frame in frames]
    if not inside:
        return Entry(name, float("nan"), "%", 0)
    hit = pl.concat(inside).to_series()
    share, n = float(hit.mean() or 0.0), len(hit)  # type: ignore[arg-type]
    half = 1.96 * float(np.sqrt(share * (1 - share) / n))
    return Entry(name, 100 * share, "%", n, 100 * (share - half), 100 * (share + half))


def _say(name: str, frame: pl.DataFrame, fitted: int, how: str) -> None:
    """Print the basis of a figure: folds, seed, rows and peaks."""
    one, kind = machine(frame["machine"][0]), frame["dtype"][0]
    print(
        f"# {name}: {how}, seed {SEED}, {fitted} rows fitted, {frame.height} scored, "
        f"peaks {one.peak(kind) / 1e12:g} TFLOP/s {kind} and {one.memory_bandwidth / 1e9:g} GB/s"
    )


def _gemm(folder: Path) -> Iterator[Entry]:
    """Products on four GPUs: the calibrated model, and what it has to beat."""
    bands = []
    for gpu in ("a100", "h100", "h200", "b200"):
        frame = measured.gemm(folder, gpu)
        if frame.is_empty():
            continue
        pair, how = GROUPS["gemm"], f"{FOLDS} folds by (n, k)"
        large = frame.filter(LARGE)
        every = held_out(frame, "gemm")
        bands.append(every)
        _say(f"gemm.{gpu}", every.filter(LARGE), frame.height // FOLDS, how)
        yield entry(f"gemm.{gpu}", every.filter(LARGE), pair)
        yield entry(f"gemm_all.{gpu}", every.filter(pl.col("m") >= 16), pair, median)
        roof = predicted(_unfitted(gemm.ROOFLINE, frame), large)
        yield entry(f"gemm_roofline.{gpu}", roof, pair)
        for name in ("b3", "c5", "c7"):
            fitted = _plain(large, gemm.KERNELS[name])
            yield entry(f"gemm_{name}.{gpu}", fitted, pair)
    yield coverage("coverage.gemm", bands)
    for gpu in ("h100", "b200"):
        frame = measured.xla(folder, gpu)
        if not frame.is_empty():
            scored = held_out(frame, "gemm")
            _say(f"xla.{gpu}", scored, frame.height // FOLDS, f"{FOLDS} folds by (n, k)")
            yield entry(f"xla.{gpu}", scored, GROUPS["gemm"])


def _plain(frame: pl.DataFrame, kernel: Kernel) -> pl.DataFrame:
    """`frame` with times of the bare formula, without neighbours, each half from the other."""
    table = inputs(kernel, with_facts(frame))
    seconds, groups = frame["time"].to_numpy(), labels(frame, GROUPS["gemm"])
    found = np.empty(len(seconds))
    for mask in folds(groups, FOLDS):
        fit = kernel_fit.fit(kernel, rows(table, ~mask), seconds[~mask], groups[~mask], draws=0)
        found[mask] = fit.time(rows(table, mask))
    return frame.with_columns(predicted=pl.Series(found))


def _unfitted(kernel: Kernel, frame: pl.DataFrame) -> Calibrated:
    """A kernel without parameters, to be scored like the others."""
    return Calibrated(kernel, {}, {}, {}, (), frame["machine"][0], frame["dtype"][0], "datasheet")


def _others(folder: Path) -> Iterator[Entry]:
    """Attention and collectives."""
    scopes = (
        ("attention", measured.attention, LONG_SEQ, "(seq, heads, kv_heads)"),
        ("collective", measured.collective, MEBIBYTE, "message size"),
    )
    for scope, read, large, by in scopes:
        bands = []
        for gpu in ("a100", "h100", "h200"):
            frame = read(folder, gpu)
            if frame.is_empty():
                continue
            every = held_out(frame, scope)
            bands.append(every)
            name = f"{scope}.{gpu}"
            _say(name, every.filter(large), frame.height // FOLDS, f"{FOLDS} folds by {by}")
            yield entry(name, every.filter(large), GROUPS[scope])
        yield coverage(f"coverage.{scope}", bands)


def _vidur(folder: Path) -> Iterator[Entry]:
    """Layers of Llama-family models: two models held out whole, the others fitted."""
    for gpu in ("a100", "h100", "a40"):
        frame = measured.vidur(folder, gpu)
        if frame.is_empty():
            continue
        away = pl.col("model").is_in(HELD_OUT_MODELS)
        fitted, scored = frame.filter(~away), frame.filter(away & (pl.col("m") >= 512))
        one = part(fitted, "gemm", origin="", groups=("model",), draws=0)
        _say(f"vidur.{gpu}", scored, fitted.height, "2 of 7 models held out")
        yield entry(f"vidur.{gpu}", predicted(one, scored), ("n", "k"))


def _transfer(folder: Path) -> Iterator[Entry]:
    """H100 parameters on other machines with only datasheet figures exchanged."""
    source = measured.gemm(folder, "h100")
    if source.is_empty():
        return
    one = part(source, "gemm", origin="", draws=0)
    for gpu in ("h200", "b200"):
        frame = measured.gemm(folder, gpu).filter(HEAVY)
        target = machine(measured.GPUS[gpu])
        moved = replace(lent(one, machine("H100"), target), near=None)
        _say(f"transfer.{gpu}", frame, source.height, "H100 parameters, no row of the target")
        yield entry(f"transfer.{gpu}", predicted(moved, frame), ("n", "k"))
