"""Timers that a log prints, beside the parts of a step that the model predicts.

In: the timers of a run's settled steps. Out: the median seconds of each, and the parts of the step
model that happen while it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.validate.cases.jobs import of_run
from assay.validate.cases.step_frames import StepRows

WORK = ("compute", "attention", "memory", "exchange", "waiting")
"""Parts of the step model that a rank's own work on its micro-batches is made of."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "forward-backward": (*WORK, "handover", "bubble"),
    "forward-compute": WORK,
    "backward-compute": WORK,
    "forward-recv": ("handover", "bubble"),
    "forward-send": ("handover",),
    "backward-recv": ("handover", "bubble"),
    "backward-send": ("handover",),
    "forward-send-backward-recv": ("handover", "bubble"),
    "backward-send-forward-recv": ("handover", "bubble"),
    "backward-params-all-reduce": ("gradients",),
    "backward-embedding-all-reduce": ("gradients",),
    "grads-all-reduce": ("gradients",),
    "grads-reduce-scatter": ("gradients",),
    "all-grads-sync": ("gradients",),
    "params-all-gather": ("gradients",),
    "embedding-grads-all-reduce": ("gradients",),
    "layernorm-grads-all-reduce": ("exchange",),
    "optimizer": ("optimizer",),
    "step": ("optimizer",),
    "forward": WORK,
    "fwd": WORK,
    "backward": (*WORK, "gradients"),
    "bwd": (*WORK, "gradients"),
    "backward_inner": WORK,
    "bwd_inner": WORK,
    "backward_allreduce": ("gradients",),
    "bwd_allreduce": ("gradients",),
    "batch-generator": (),
}
"""Timer → the parts that happen while it runs. Names: Megatron-LM's timers, DeepSpeed's engine."""

SHARES: Mapping[str, float] = {
    "forward-compute": 1 / 3, "backward-compute": 2 / 3, "forward": 1 / 3, "fwd": 1 / 3,
    "backward": 2 / 3, "bwd": 2 / 3, "backward_inner": 2 / 3, "bwd_inner": 2 / 3,
}  # fmt: skip
"""Share of the work of a step: a backward pass multiplies twice what a forward pass does."""


INNER: Mapping[str, str] = {"backward": "backward_inner", "bwd": "bwd_inner"}
"""Timer of DeepSpeed → the one inside it that leaves the reduction of gradients out."""


class Measured(NamedTuple):
    """A timer of one step: seconds, the median over the settled steps."""

    timer: str
    seconds: float


class Beside(NamedTuple):
    """A timer beside the seconds that the step model gives what happens while it runs."""

    timer: str
    seconds: float
    predicted: float


def measured(reading: Reading, run: str, steady: StepRows) -> list[Measured]:
    """The timers of a run over its settled steps, longest first.

    A timer block stands below the line of its step: it belongs to the last step above it.
    """
    frames = [] if steady.is_empty() else list(of_run(reading, "timer", run))
    if not frames:
        return []
    first = steady["line"].min()
    rows = [
        frame.filter(pl.col("line") >= first).select(
            "timer",
            seconds=pl.coalesce(each for each in ("maximum", "time") if each in frame.columns),
        )
        for frame in frames
    ]  # fmt: skip
    table = pl.concat(rows).drop_nulls()
    middle = table.group_by("timer").agg(pl.col("seconds").median())
    return [Measured(*row) for row in middle.sort("seconds", "timer", descending=True).iter_rows()]


def parts_of(timers: Sequence[Measured], predicted: Mapping[str, float]) -> list[Beside]:
    """The timers that are parts of a step, each beside its prediction."""
    found = []
    known = dict(timers)
    for timer, seconds in timers:
        if timer in PARTS and INNER.get(timer) not in known:
            share = SHARES.get(timer, 1.0)
            expected = sum(
                predicted.get(part, 0.0) * (share if part in WORK else 1.0) for part in PARTS[timer]
            )
            found.append(Beside(timer, seconds, expected))
    return found


class Group(NamedTuple):
    """Parts of a step that the same timers measure; None where no timer does."""

    part: str
    predicted: float
    seconds: float | None
    timers: tuple[str, ...]


GROUPS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "work on micro-batches": (
        WORK,
        (
            "forward-compute", "backward-compute", "forward", "backward", "fwd", "bwd",
            "backward_inner", "bwd_inner",
        ),
    ),
    "waiting for other stages": (
        ("handover", "bubble"),
        (
            "forward-recv", "forward-send", "backward-recv", "backward-send",
            "forward-send-backward-recv", "backward-send-forward-recv",
        ),
    ),
    "gradients": (
        ("gradients",),
        (
            "backward-params-all-reduce", "backward-embedding-all-reduce", "grads-all-reduce",
            "grads-reduce-scatter", "all-grads-sync", "params-all-gather",
            "embedding-grads-all-reduce", "backward_allreduce", "bwd_allreduce",
        ),
    ),
    "optimizer": (("optimizer",), ("optimizer", "step")),
}  # fmt: skip
"""Purpose of a part of a step → parts of the step model, and the timers that measure them."""


def grouped(timers: Sequence[Measured], predicted: Mapping[str, float]) -> list[Group]:
    """The parts of a step, the largest first; in groups where timers tell of them."""
    every = dict(timers)
    seconds = {name: value for name, value in every.items() if INNER.get(name) not in every}
    if not any(name in seconds for _, names in GROUPS.values() for name in names):
        single = [Group(part, value, None, ()) for part, value in predicted.items() if value > 0]
        return sorted(single, key=lambda one: -one.predicted)
    found = []
    for title, (parts, names) in GROUPS.items():
        held = tuple(sorted((name for name in names if name in seconds),
                            key=lambda name: -seconds[name]))  # fmt: skip
        found.append(
            Group(
                title,
                sum(predicted.get(part, 0.0) for part in parts),
                sum(seconds[name] for name in held) if held else None,
                held,
            )
        )
    return sorted(found, key=lambda one: -max(one.predicted, one.seconds or 0.0))
