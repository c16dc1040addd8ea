"""Times of mixtures of experts: grouped products and their exchange, whole shapes held out.

A shape is a layer: hidden size, expert width, experts and experts per token. Whether the library
had a tuned configuration for the experts of a rank is a fact of the library that no table prints:
`tuned` reads it off the times, one bit for each pair of experts and width, and `experts.h100.blind`
does without for the pairs that no other shape has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.model.fit import kernel_fit
from assay.model.fit.learnt import Calibrated, Interval
from assay.model.kernels import experts
from assay.model.kernels.kernel import Columns, Floats, Kernel, inputs, rows, with_facts

from tests.studies.entries import Entry

LAYER = ("hidden", "inter_size", "experts", "topk")
POPULARITY = {"balanced": 0.0, "power_law_1.01": 1.01, "power_law_1.2": 1.2}
PAIR = ("own", "width")
RANKS = 8.0
SOME = 1500
"""Rows that a fit looks at."""


def products(folder: Path) -> pl.DataFrame:
    """Grouped products on one H100; `own` are the experts of a rank; empty if not there."""
    path = folder / "measured" / "moe_h100_bf16.csv"
    if not path.is_file():
        return pl.DataFrame()
    read = pl.read_csv(path).rename(
        {"num_tokens": "tokens", "hidden_size": "hidden", "num_experts": "experts",
         "moe_ep_size": "ranks"}
    )  # fmt: skip
    wide = read.with_columns(
        width=pl.col("inter_size") // pl.col("moe_tp_size"),
        own=pl.col("experts") // pl.col("ranks"),
        skew=pl.col("distribution").replace_strict(POPULARITY, return_dtype=pl.Float64),
        machine=pl.lit("H100"),
        dtype=pl.lit("bf16"),
    )
    shape = (*experts.SHAPE[:6], "skew", "own", "inter_size", "machine", "dtype")
    return wide.group_by(*shape, maintain_order=True).agg(time=pl.col("latency_ms").median() / 1e3)


def exchanges(folder: Path) -> pl.DataFrame:
    """Both ways of exchanges among the eight H100 of a node; `time` in s; empty if not there."""
    path = folder / "measured" / "moe_exchange_h100.csv"
    if not path.is_file():
        return pl.DataFrame()
    read = pl.read_csv(path)
    ways = [
        read.select(
            tokens="num_token", hidden="hidden_size", topk="num_topk", experts="num_experts",
            sms=pl.col(f"{way}_sms").cast(pl.Float64), time=pl.col(f"{way}_transmit_us") / 1e6,
            dispatch=pl.lit(float(way == "dispatch")), ranks=pl.lit(RANKS),
            machine=pl.lit("H100"), dtype=pl.lit("bf16"),
        )
        for way in ("dispatch", "combine")
    ]  # fmt: skip
    return pl.concat(ways)


def tuned(frame: pl.DataFrame, fit: kernel_fit.Fit) -> pl.DataFrame:
    """The pairs of experts and width whose times are nearer to those of a tuned kernel."""
    table = inputs(experts.GROUPED, with_facts(frame))
    missed = {
        name: np.minimum(np.abs(np.log(time / frame["time"].to_numpy())), 1.0)
        for name, time in (
            (kind, fit.time({**table, "tuned": np.full(frame.height, kind == "with")}))
            for kind in ("with", "without")
        )
    }
    told = frame.select(PAIR).with_columns(**{name: pl.Series(v) for name, v in missed.items()})
    means = told.group_by(PAIR).agg(pl.col("with").mean(), pl.col("without").mean())
    return means.filter(pl.col("with") < pl.col("without")).select(PAIR)


def marked(frame: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """`frame` with `tuned`: 1.0 for the rows whose pair of experts and width is in `pairs`."""
    known = pairs.with_columns(tuned=pl.lit(1.0))
    joined = frame.drop("tuned", strict=False).join(
        known, on=PAIR, how="left", maintain_order="left"
    )
    return joined.with_columns(pl.col("tuned").fill_null(0.0))


def learnt(frame: pl.DataFrame) -> tuple[kernel_fit.Fit, pl.DataFrame]:
    """A fit to `frame`, and the pairs that it takes for tuned, one after the other twice."""
    work = 6.0 * pl.col("tokens") * pl.col("topk") * pl.col("hidden") * pl.col("width")
    visited = pl.max_horizontal(pl.col("ranks") / pl.col("topk"), pl.lit(1.0))
    rate = (work / visited / pl.col("time")).median()
    full = pl.col("tokens") * pl.col("topk") / pl.col("ranks") / pl.col("own") >= FULL
    even = pl.col("skew") == 0
    pairs = frame.filter(full & even).group_by(PAIR).agg(rate=rate)
    pairs = pairs.filter(pl.col("rate") > HALFWAY).select(PAIR)
    for _ in range(2):
        fit = _fit(experts.GROUPED, marked(frame, pairs), LAYER)
        pairs = tuned(frame, fit)
    return fit, pairs


FULL = 64
"""Pairs of an expert from which on the rate of a rank tells its kernel."""

HALFWAY = 3.2e14
"""flop/s between what a rank reaches without a configuration (230) and with one (440 to 590)."""


def _fit(kernel: Kernel, frame: pl.DataFrame, groups: tuple[str, ...]) -> kernel_fit.Fit:
    every, seconds = _table(kernel, frame), frame["time"].to_numpy()
    some = np.sort(np.random.default_rng(1).permutation(len(seconds))[:SOME])
    return kernel_fit.fit(
        kernel, rows(every, some), seconds[some], np.arange(len(some)), starts=1, draws=0
    )


def _table(kernel: Kernel, frame: pl.DataFrame) -> Columns:
    return inputs(kernel, with_facts(frame))


def held_out(frame: pl.DataFrame) -> Iterator[tuple[Floats, Floats]]:
    """Errors on each layer from the others: with the configurations known, and without."""
    layers = frame.select(pl.struct(LAYER).rank("dense")).to_series().to_numpy()
    for layer in np.unique(layers):
        scored, fitted = frame.filter(layers == layer), frame.filter(layers != layer)
        fit, others = learnt(fitted)
        seconds = scored["time"].to_numpy()
        yield tuple(
            fit.time(_table(experts.GROUPED, marked(scored, pairs))) / seconds - 1.0
            for pairs in (tuned(scored, fit), others)
        )


def parts(folder: Path) -> dict[str, Calibrated]:
    """Both kernels fitted to all rows, with the interval of the errors on layers held out."""
    found = {}
    if not (frame := products(folder)).is_empty():
        fit, _ = learnt(frame)
        errors = np.concatenate([known for known, _ in held_out(frame)])
        found["moe"] = _part(fit, errors, "moe_h100_bf16.csv")
    if not (frame := exchanges(folder)).is_empty():
        fit = _fit(experts.EXCHANGE, frame, ("hidden",))
        found["moe_exchange"] = _part(
            fit, np.concatenate(list(_exchanged(frame))), "moe_exchange_h100.csv"
        )
    return found


def _part(fit: kernel_fit.Fit, errors: Floats, table: str) -> Calibrated:
    low, high = (float(one) for one in 1.0 / (1.0 + np.quantile(errors, (0.95, 0.05))))
    return Calibrated(
        fit.kernel,
        fit.values,
        fit.values,
        fit.values,
        fit.identifiability.weak,
        "H100",
        "bf16",
        f"{table}: ai-dynamo aiconfigurator tables, Apache-2.0",
        len(errors),
        interval=Interval((np.inf,), (low,), (high,)),
    )


def entries() -> list[Entry]:
    """Figures of grouped products and of exchanges; none without ASSAY_CORPUS."""
    corpus = os.environ.get("ASSAY_CORPUS")
    folder = Path(corpus) if corpus else None
    found: list[Entry] = []
    if folder is None:
        return found
    if not (frame := products(folder)).is_empty():
        known, blind = zip(*held_out(frame), strict=True)
        found += [_entry("moe.h100", known), _entry("moe.h100.blind", blind)]
    if not (frame := exchanges(folder)).is_empty():
        found.append(_entry("moe_exchange.h100", list(_exchanged(frame))))
    return found


def _exchanged(frame: pl.DataFrame) -> Iterator[Floats]:
    layers = frame.select(pl.struct("hidden", "topk", "experts").rank("dense")).to_series()
    for fold in range(3):
        mask: npt.NDArray[np.bool_] = layers.to_numpy() % 3 == fold
        fit = _fit(experts.EXCHANGE, frame.filter(~mask), ("hidden",))
        scored = frame.filter(mask)
        yield fit.time(_table(experts.EXCHANGE, scored)) / scored["time"].to_numpy() - 1.0


def _entry(name: str, errors: list[Floats] | tuple[Floats, ...]) -> Entry:
    """Mean absolute error over all rows; the interval is that over layers."""
    each = np.array([np.abs(one).mean() for one in errors])
    every = np.abs(np.concatenate(errors))
    half = 1.96 * each.std(ddof=1) / np.sqrt(len(each))
    middle = float(every.mean())
    low, high = (100 * (middle + sign * half) for sign in (-1, 1))
    return Entry(name, 100 * middle, "%", len(every), float(low), float(high))
