"""Registered models as functions of cases and observations.

A fitted model never sees the row it predicts: its parameters come from other tables, logs or weight
shapes of the same machine, whole groups held out together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.model.fit import kernel_fit
from assay.model.fit.groups import halves
from assay.model.frames import CONFIGURATION_CASE, PREDICTION
from assay.model.kernels import gemm
from assay.model.kernels.kernel import columns, rows, with_facts
from assay.model.stacks.stack import Stack
from assay.model.step import baselines
from assay.validate.arithmetic import printed_speed
from assay.validate.cases.cases import Cases
from assay.validate.predict import flop_rates

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Asked:
    """Input of the models: the cases, what was printed of them, and what of that counts.

    `counted` leaves out repeats and numbers that their own row contradicts; models are fitted on it
    alone.
    """

    cases: Cases
    observations: pl.DataFrame
    counted: pl.DataFrame
    machine: str | None = None  # what the caller says of inputs that do not name theirs
    stack: Stack | None = None  # calibrated kernels that the caller names
    beside: Cases | None = None  # those with runs of adapters beside frozen weights, if any

    def with_adapters(self) -> Asked:
        """The same question about runs of adapters too, for models that know frozen weights."""
        return self if self.beside is None else replace(self, cases=self.beside)

    @cached_property
    def sayings(self) -> pl.DataFrame:
        """Every printed number that says how fast a case ran; see `printed_speed.sayings`."""
        return printed_speed.sayings(self.observations, self.cases.configuration)

    @cached_property
    def speed(self) -> pl.DataFrame:
        """The most precise of those that count, per case; see `printed_speed.best`."""
        return printed_speed.best(printed_speed.sayings(self.counted, self.cases.configuration))

    @cached_property
    def rated(self) -> pl.DataFrame:
        """How cases count that print a FLOP rate and no speed; see `flop_rates.counted`."""
        return flop_rates.counted(self.observations, self.cases.configuration)


Forecast = Callable[[Asked], pl.DataFrame]

Bound = Callable[[pl.DataFrame], pl.DataFrame]

MAY_MATTER = (
    "model", "cp", "ep", "vp", "experts", "gated", "sequence_parallel", "attention", "launch",
    "node_bandwidth",
)  # fmt: skip
"""Columns beyond the case frame that a step model looks at where they are there."""

MIN_SHAPES = 8
"""Weight shapes that a machine must have been measured on before half of them are fitted."""


def gemm_roofline(asked: Asked) -> pl.DataFrame:
    """Datasheet roofline of every product with a known machine and dtype."""
    cases = asked.cases
    if cases.gemm.is_empty():
        return pl.DataFrame(schema=PREDICTION)
    return with_rates(gemm.predict(cases.gemm), asked)


def gemm_b3(asked: Asked) -> pl.DataFrame:
    """b3, each half of the (n, k) pairs predicted by a fit on the other half, per machine."""
    seconds = asked.counted.filter(
        (pl.col("scope") == "gemm") & (pl.col("quantity") == "time")
    ).select("case", seconds="value")
    table = with_facts(
        asked.cases.gemm.join(seconds, on="case", how="inner", maintain_order="left")
    ).filter(pl.all_horizontal(pl.col(name).is_not_null() for name in gemm.SHAPE))
    parts = [pl.DataFrame(schema=PREDICTION)]
    for _, mine in table.group_by("machine", "dtype", maintain_order=True):
        weights = mine.select(pl.format("{}x{}", "n", "k")).to_series().to_numpy()
        if len(np.unique(weights)) < MIN_SHAPES:
            continue
        for fitted, scored in _both_ways(halves(weights)):
            shape = columns(mine, gemm.SHAPE)
            found = kernel_fit.fit(
                gemm.B3, rows(shape, fitted), mine["seconds"].to_numpy()[fitted], weights[fitted],
                draws=0,
            )  # fmt: skip
            chosen = mine.filter(pl.Series(scored)).select(asked.cases.gemm.columns)
            parts.append(gemm.predict(chosen, gemm.B3, found.values, label="b3_fitted"))
    return with_rates(pl.concat(parts), asked)


def with_rates(times: pl.DataFrame, asked: Asked) -> pl.DataFrame:
    """Times of products; where a case prints its rate and no time, the rate instead."""
    printed = asked.observations.filter(pl.col("scope") == "gemm").select("case", "quantity")
    rated, timed = (
        printed.filter(pl.col("quantity") == name).select("case") for name in ("flops_rate", "time")
    )
    only = rated.join(timed, on="case", how="anti")
    flop = 2.0 * pl.col("b") * pl.col("m") * pl.col("n") * pl.col("k")
    rates = (
        times.join(only, on="case", how="semi", maintain_order="left")
        .join(asked.cases.gemm.select("case", "b", "m", "n", "k"), on="case", maintain_order="left")
        .with_columns(
            value=flop / pl.col("value"),
            low=flop / pl.col("high"),
            high=flop / pl.col("low"),
            quantity=pl.lit("flops_rate"),
            unit=pl.lit("flop/s"),
        )
    )
    rest = times.join(only, on="case", how="anti", maintain_order="left")
    return pl.concat([rest.select(*PREDICTION), rates.select(*PREDICTION)])


def _both_ways(halves: tuple[Mask, Mask]) -> tuple[tuple[Mask, Mask], tuple[Mask, Mask]]:
    one, other = halves
    return (one, other), (other, one)


def constant_mfu(cases: pl.DataFrame) -> pl.DataFrame:
    """`baselines.constant_mfu`, also where only the number of heads is unknown.

    Where keys and values have as many heads as queries, the operations do not depend on how many.
    """
    unknown = pl.col("heads").is_null() & pl.col("kv_heads").is_null()
    heads = pl.when(unknown).then(1).otherwise("heads").cast(pl.Int64)
    dense = cases  # what a mixture of experts does, its row does not say
    if "experts" in cases.columns:
        dense = cases.filter(pl.col("experts").fill_null(1) <= 1)
    return baselines.constant_mfu(dense.with_columns(heads=heads))


def bound(model: Bound) -> Forecast:
    """A model of step times that needs no measurement, and the throughput that follows."""

    def forecast(asked: Asked) -> pl.DataFrame:
        return with_throughput(once_per_configuration(asked.cases.configuration, model), asked)

    return forecast


def held_out(model: Bound, name: str) -> Forecast:
    """`bound` with one scalar, the share of the bound, fitted on the machine's other groups."""

    def forecast(asked: Asked) -> pl.DataFrame:
        cases = asked.cases
        bounds = once_per_configuration(cases.configuration, model)
        table = (
            bounds.join(
                cases.configuration.select("case", "machine", "group", "global_batch"), on="case",
                maintain_order="left",
            )
            .join(
                asked.speed.select("case", "samples"), on="case", how="left", maintain_order="left"
            )
            .with_columns(observed=pl.col("global_batch") / pl.col("samples"))
        )  # fmt: skip
        table = held_together(table, "observed")
        fitted = table.join(
            _shares(table), on=["machine", "part"], maintain_order="left"
        ).with_columns(pl.col("value") / pl.col("share"), model=pl.lit(name))
        return with_throughput(fitted.select(*PREDICTION), asked)

    return forecast


MOST_PARTS = 32
"""Parts into which the groups of a machine are dealt, each predicted by a fit on the others."""


def held_together(table: pl.DataFrame, time: str) -> pl.DataFrame:
    """The table with `part`: which groups (columns machine, group) are held out together.

    Each alone, up to `MOST_PARTS` groups of a machine; of more, those that are so many apart: a fit
    for each would take a time that grows with their square, and hardly see other rows. Groups in
    which the column `time` holds nothing, as those of copies, are a part of their own: they change
    no fit.
    """
    groups = table.group_by("machine", "group", maintain_order=True).agg(
        told=pl.col(time).is_not_null().any()
    )
    turn = (pl.col("told").cum_sum().over("machine").cast(pl.Int64) - 1) % MOST_PARTS
    parts = groups.select("machine", "group", part=pl.when("told").then(turn).otherwise(-1))
    return table.join(
        parts, on=["machine", "group"], how="left", nulls_equal=True, maintain_order="left"
    )


def _shares(table: pl.DataFrame) -> pl.DataFrame:
    """Machine and part → the share of the bound that the machine's other groups reach."""
    known = table.drop_nulls(["observed", "value"])
    found = []
    for (machine, part), _ in table.group_by("machine", "part", maintain_order=True):
        others = known.filter((pl.col("machine") == machine) & (pl.col("part") != part))
        if not others.is_empty():
            share = baselines.fit_share(others["value"].to_numpy(), others["observed"].to_numpy())
            found.append((machine, part, share))
    kinds = {"machine": pl.String, "part": pl.Int64, "share": pl.Float64}
    return pl.DataFrame(found, schema=kinds, orient="row")


def once_per_configuration(wide: pl.DataFrame, model: Bound) -> pl.DataFrame:
    """Predictions for every case; a log of ten thousand iterations has one configuration."""
    if wide.is_empty():
        return pl.DataFrame(schema=PREDICTION)
    wanted = {*CONFIGURATION_CASE, *MAY_MATTER} - {"case"}
    same = [name for name in wide.columns if name in wanted]
    distinct = wide.unique(same, keep="first", maintain_order=True).select("case", *same)
    numbered = wide.select("case", *same).join(
        distinct.rename({"case": "first"}), on=same, nulls_equal=True, maintain_order="left"
    )
    found = model(distinct).rename({"case": "first"})
    return (
        numbered.select("case", "first").join(found, on="first", maintain_order="left")
        .select(*PREDICTION)
    )  # fmt: skip


def with_throughput(times: pl.DataFrame, asked: Asked) -> pl.DataFrame:
    """Step times; where a case prints no step time, the throughput that it prints most precisely.

    A case says its speed once, however many columns repeat it; where only a FLOP rate or a
    utilisation does, it is that, under its formula (see `flop_rates`).
    """
    configuration = asked.cases.configuration
    timed = asked.sayings.filter(pl.col("quantity") == "step_time").select("case")
    best = printed_speed.best(asked.sayings).select("case", "says")
    table = (
        times.join(timed, on="case", how="anti", maintain_order="left")
        .join(best, on="case", maintain_order="left")
        .join(configuration.select("case", "global_batch", "seq_len", "gpus"), on="case",
              maintain_order="left")
    )  # fmt: skip
    samples = pl.col("global_batch") / pl.col("value")
    tokens = samples * pl.col("seq_len")
    rates = {
        "samples_per_s": (samples, "sample/s"),
        "tokens_per_s": (tokens, "token/s"),
        "tokens_per_gpu_per_s": (tokens / pl.col("gpus"), "token/s"),
    }
    parts = [
        table.filter(pl.col("says") == quantity)
        .with_columns(
            value=value,
            low=value * pl.col("value") / pl.col("high"),
            high=value * pl.col("value") / pl.col("low"),
            quantity=pl.lit(quantity),
            unit=pl.lit(unit),
        )
        .select(*PREDICTION)
        for quantity, (value, unit) in rates.items()
        if not table.is_empty()
    ]
    parts.append(flop_rates.as_rates(times, asked.rated, configuration).select(*PREDICTION))
    said = pl.concat([table.select("case"), asked.rated.select("case")])
    rest = times.join(said, on="case", how="anti", maintain_order="left").select(*PREDICTION)
    return pl.concat([rest, *parts]).drop_nulls("value")
