"""The time of a training step, bottom-up: runs in, the seconds of their parts and their steps out.

Kernels and transfers of a rank come from its machine's stack; `model.schedule` lays them out.

Source: docs/model.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from assay.model.frames import predictions
from assay.model.kernels.kernel import Floats, Values
from assay.model.schedule import SHAPE, STEP, step_time
from assay.model.stacks.kernel_times import KernelTimes, kernel_times
from assay.model.step.exchange import exchange
from assay.model.step.work import forwards, work
from assay.model.transformer.parallel import counted, faults, stage_layers, stage_parameters
from assay.model.transformer.training_run import Run, run


def components(runs: Sequence[Run], times: KernelTimes | None = None) -> dict[str, Floats]:
    """The component table of runs, in their order; without `times` those of each run's machine.

    Raises ValueError where a layout does not divide the model (`parallel.faults` says it all).

    Columns: `schedule.SHAPE`, a row a run; seconds and counts.
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
    alone = STEP.starts["slowdown"] if times.in_step else 1.0  # what the schedule multiplies by
    stages = [stage_layers(one.model.layers, one.pp) for one in runs]
    numbers = {
        "layers": [one.model.layers for one in runs],
        "layers_first": [each[0] for each in stages],
        "layers_last": [each[-1] for each in stages],
        "stages": [one.pp for one in runs],
        "micro_batches": [one.micro_batches for one in runs],
        "chunks": [one.interleave for one in runs],
        "blocking": [one.launch == "blocking" for one in runs],
        "backward": [backward(one) for one in runs],
        "tail": [counted(one).embedding / one.layout.tp / stage_parameters(one) for one in runs],
        "after": [one.software.prefetch == "after" for one in runs],
        "hide_gradients": ["gradients" in one.software.hidden for one in runs],
        "hide_swap": [_beside(one) for one in runs],
        "hide_context": [one.software.library == "te" for one in runs],
        "pieces": [one.layout.cp for one in runs],
        "hide_weights": ["weights" in one.software.hidden for one in runs],
        "later": [0.0 for _ in runs],
        "network_share": [times.network_share for _ in runs],
    }
    return {
        "layer_matrix": done.layer_matrix / alone,
        "layer_plain": done.layer_plain,
        "layer_attention": done.layer_attention,
        "layer_memory": done.layer_memory,
        "layer_exchange": sent.layer,
        "layer_net": sent.layer_net,
        "layer_swap": sent.swap,
        "context_link": sent.context_link,
        "context_net": sent.context_net,
        "layer_launch": done.layer_launch,
        "shard_link": sent.shard_link,
        "shard_net": sent.shard_net,
        "scatter_link": sent.scatter_link,
        "scatter_net": sent.scatter_net,
        "head_matrix": done.head_matrix / alone,
        "head_plain": done.head_plain,
        "head_memory": done.head_memory,
        "head_exchange": sent.head,
        "first_exchange": sent.first,
        "handover_link": sent.handover_link,
        "handover_net": sent.handover_net,
        "gradient_link": sent.gradient_link,
        "gradient_net": sent.gradient_net,
        "weight_link": sent.weight_link,
        "weight_net": sent.weight_net,
        "tied_net": sent.tied_net,
        "optimizer": sent.optimizer,
    } | {name: np.array(values, dtype=float) for name, values in numbers.items()}


SENDERS = 20.0 / 132.0
"""Share of the multiprocessors that do nothing but send and receive tokens while others compute: 20
of Hopper's, DeepEP's default and what DeepSeek-V3's report has (arXiv 2412.19437, 3.2.2)."""


def _beside(run: Run) -> float:
    """How much longer kernels take beside which tokens travel; 0 where they do not."""
    exchanged = "experts" in run.software.hidden and run.layout.ep > 1
    return SENDERS / (1.0 - SENDERS) if exchanged else 0.0


def backward(run: Run) -> float:
    """Share of a layer's time after its forward pass: two products of three, and what is repeated.

    Frozen weights have one product of two. Source: definition.
    """
    times, gradients = forwards(run), 1.0 if run.frozen else 2.0
    return (times - 1.0 + gradients) / (times + gradients)


def predict(
    cases: pl.DataFrame,
    values: Values | None = None,
    *,
    spread: float | None = None,
    label: str = "",
) -> pl.DataFrame:
    """Step times of a case frame; rows that `training_run.run` cannot build have none.

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
