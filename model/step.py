"""The time of a training step, bottom-up: kernels and transfers of a rank, laid out in a schedule.

    T = pace · (m · longest + (all stages − longest) / v) + gradients + tied + optimizer

m micro-batches run through PP stages (1F1B); `longest` is the stage that sets the pace: its layers,
what it hands over, and on the last one the output head. With v chunks per stage (interleaving) the
pipeline fills v times faster. A layer takes its kernels and collectives; a host that waits for each
kernel adds `overhead` to every layer and micro-batch, one that runs ahead makes it a floor. A fully
sharded layer takes no less than its gathers and scatters. Seconds; formulas: docs/model.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from assay.model.configurations import Run, run
from assay.model.frames import predictions
from assay.model.kernel import Columns, Floats, Kernel, Parameter, Values
from assay.model.kernel_times import KernelTimes, kernel_times
from assay.model.parallel import faults, stage_layers
from assay.model.step_exchange import exchange
from assay.model.step_work import work

SHAPE = (
    "layer_matrix", "layer_plain", "layer_attention", "layer_memory", "layer_exchange",
    "layer_net", "shard_link", "shard_net", "head_matrix", "head_plain", "head_memory",
    "head_exchange", "first_exchange",
    "handover_link", "handover_net", "gradient_link", "gradient_net", "tied_net", "optimizer",
    "layers", "layers_first", "layers_last", "stages", "micro_batches", "chunks", "blocking",
    "later", "network_share",
)  # fmt: skip
"""Columns of a component table: seconds at the stack's rates, then the schedule; `later` marks rows
after a change of the hardware."""


def components(runs: Sequence[Run], times: KernelTimes | None = None) -> dict[str, Floats]:
    """The component table of runs, in their order; without `times` those of each run's machine.

    Raises ValueError where a layout does not divide the model (`parallel.faults` says it all).
    """
    found = {name: np.empty(len(runs)) for name in SHAPE}
    for name in dict.fromkeys(one.machine.name for one in runs):
        mine = np.array([at for at, one in enumerate(runs) if one.machine.name == name])
        part = _components([runs[at] for at in mine], times or kernel_times(name))
        for column, values in part.items():
            found[column][mine] = values
    return found


def _components(runs: Sequence[Run], times: KernelTimes) -> dict[str, Floats]:
    done, sent = work(runs, times), exchange(runs, times)
    stages = [stage_layers(one.model.layers, one.pp) for one in runs]
    numbers = {
        "layers": [one.model.layers for one in runs],
        "layers_first": [each[0] for each in stages],
        "layers_last": [each[-1] for each in stages],
        "stages": [one.pp for one in runs],
        "micro_batches": [one.micro_batches for one in runs],
        "chunks": [one.interleave for one in runs],
        "blocking": [one.launch == "blocking" for one in runs],
        "later": [0.0 for _ in runs],
        "network_share": [times.network_share for _ in runs],
    }
    return {
        "layer_matrix": done.layer_matrix,
        "layer_plain": done.layer_plain,
        "layer_attention": done.layer_attention,
        "layer_memory": done.layer_memory,
        "layer_exchange": sent.layer,
        "layer_net": sent.layer_net,
        "shard_link": sent.shard_link,
        "shard_net": sent.shard_net,
        "head_matrix": done.head_matrix,
        "head_plain": done.head_plain,
        "head_memory": done.head_memory,
        "head_exchange": sent.head,
        "first_exchange": sent.first,
        "handover_link": sent.handover_link,
        "handover_net": sent.handover_net,
        "gradient_link": sent.gradient_link,
        "gradient_net": sent.gradient_net,
        "tied_net": sent.tied_net,
        "optimizer": sent.optimizer,
    } | {name: np.array(values, dtype=float) for name, values in numbers.items()}


def breakdown(table: Columns, values: Values) -> dict[str, Floats]:
    """Seconds of a step by what they are spent on; they add up to `step_time`.

    compute, attention, memory and exchange are those of the stage that sets the pace, over all
    micro-batches; bubble is what the pipeline's filling and draining adds; waiting is the overhead
    of launching and what sharding could not hide.
    """
    parts = _layer(table, values)
    layer = parts["time"]
    head, first = _head(table, values), table["first_exchange"]
    handover = table["handover_link"] + table["handover_net"] / table["network_share"]
    end = table["layers_last"] * layer + head + np.where(table["stages"] == 1, first, 0.0)
    begin = table["layers_first"] * layer + first
    longest = np.maximum(end, begin) + handover
    every = table["layers"] * layer + head + first + table["stages"] * handover
    steady = table["micro_batches"] * longest
    pace = np.where(table["later"] > 0, values["pace"], 1.0)
    last = end >= begin
    layers = np.where(last, table["layers_last"], table["layers_first"])
    times = pace * table["micro_batches"]
    share = np.where(last, 1.0, 0.0)
    seconds = {
        "compute": times * (
            values["slowdown"] * (layers * table["layer_matrix"] + share * table["head_matrix"])
            + values["plain"] * (layers * table["layer_plain"] + share * table["head_plain"])
        ),
        "attention": times * layers * values["attention"] * table["layer_attention"],
        "memory": times * (layers * table["layer_memory"] + share * table["head_memory"]),
        "exchange": times * layers * parts["exchange"],
        "handover": times * handover,
        "bubble": pace * (every - longest) / table["chunks"],
        "gradients": table["gradient_link"]
        + (table["gradient_net"] + table["tied_net"]) / values["network"],
        "optimizer": table["optimizer"],
    }  # fmt: skip
    seconds["waiting"] = pace * steady - sum(
        seconds[name] for name in ("compute", "attention", "memory", "exchange", "handover")
    )
    return seconds


def step_time(table: Columns, values: Values) -> Floats:
    """Seconds of one iteration for rows of `SHAPE`."""
    parts = breakdown(table, values)
    return np.asarray(sum(parts.values(), np.zeros(len(table["layers"]))))


def _layer(table: Columns, values: Values) -> dict[str, Floats]:
    """Seconds of one layer and micro-batch, and those of its collectives."""
    exchange = table["layer_exchange"] + table["layer_net"] / values["network"]
    busy = (
        values["slowdown"] * table["layer_matrix"]
        + values["plain"] * table["layer_plain"]
        + values["attention"] * table["layer_attention"]
        + table["layer_memory"]
        + exchange
    )
    overhead = values["overhead"]
    launched = np.where(table["blocking"] > 0, busy + overhead, np.maximum(busy, overhead))
    shard = table["shard_link"] + table["shard_net"] / values["network"]
    return {"time": np.maximum(launched, shard), "exchange": exchange}


def _head(table: Columns, values: Values) -> Floats:
    matrix = values["slowdown"] * table["head_matrix"] + values["plain"] * table["head_plain"]
    return matrix + table["head_memory"] + table["head_exchange"]


STEP = Kernel(
    "step",
    "configuration",
    SHAPE,
    (
        Parameter("slowdown", "1", 1.15, 0.7, 2.5, "products in a step over products alone"),
        Parameter("overhead", "s", 1e-3, 1e-5, 3e-2, "launching, per layer and micro-batch"),
        Parameter("network", "1", 0.6, 0.05, 1.2, "share of the network cards that is reached"),
        Parameter("attention", "1", 1.15, 0.5, 4.0, "fused attention in a step over alone"),
        Parameter(
            "plain", "1", 0.35, 0.1, 1.5, "misaligned products over their time in fp32 units"
        ),
        Parameter("pace", "1", 1.0, 0.7, 1.4, "all but the network over an earlier epoch"),
    ),
    step_time,
)
"""Residual parameters: what kernels measured alone cannot know. At most three are fitted to one
campaign, `pace` where a campaign's hardware changed; the others keep their starts."""


def predict(
    cases: pl.DataFrame,
    values: Values | None = None,
    *,
    spread: float | None = None,
    label: str = "",
) -> pl.DataFrame:
    """Step times of a case frame; rows that `configurations.run` cannot build have none.

    `spread` is the 90 % half-width of log(observed/predicted): it gives low and high.
    """
    built = [(row["case"], run(row)) for row in cases.iter_rows(named=True)]
    fit = [(case, one) for case, one in built if one is not None and not faults(one)]
    frame = pl.DataFrame({"case": [case for case, _ in fit]}, schema={"case": pl.String})
    seconds = np.empty(0)
    if fit:
        seconds = step_time(components([one for _, one in fit]), STEP.starts | dict(values or {}))
    factor = None if spread is None else float(np.exp(spread))
    return predictions(
        frame.with_columns(time=pl.Series(seconds, dtype=pl.Float64)),
        pl.col("time"),
        low=None if factor is None else pl.col("time") / factor,
        high=None if factor is None else pl.col("time") * factor,
        scope="configuration",
        quantity="step_time",
        unit="s",
        model=label or STEP.name,
        basis=STEP.basis,
    )
