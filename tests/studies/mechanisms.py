"""Each mechanism of the step model left out in turn: what it does to every campaign.

`python -m tests.studies.mechanisms` prints, for each, the error of every campaign without it less
the error with it, in points (positive: it helps there), the mean over campaigns and its standard
error. Nothing is fitted. A mechanism stays where the mean exceeds one standard error, or where it
rests on a measurement of itself, which the last column names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from unittest.mock import patch

import numpy as np
from assay.model import schedule
from assay.model.kernels import attention
from assay.model.machines import software
from assay.model.machines.datasheets import Machine
from assay.model.step import exchange, work
from assay.validate.cases import step_cases
from assay.validate.score.statistics import mape

from tests.studies.box import PERCENT, boxed
from tests.studies.campaigns import campaigns

Patch = Callable[[], AbstractContextManager[object]]

STARTS = schedule.STEP.starts


@contextmanager
def _residual(name: str, value: float) -> Iterator[None]:
    with patch.dict(STARTS, {name: value}), patch("tests.studies.box.STEP", _Fixed()):
        yield


class _Fixed:
    """The step model with whatever `STARTS` holds now."""

    starts = STARTS

    @staticmethod
    def time(table: Mapping[str, np.ndarray], values: Mapping[str, float]) -> np.ndarray:
        return schedule.step_time(table, {**values, **STARTS})


@contextmanager
def _hidden() -> Iterator[None]:
    read = software._with_parts

    def plain(stack: software.SoftwareStack, row: Mapping[str, object]) -> software.SoftwareStack:
        from dataclasses import replace

        return replace(read(stack, row), hidden=frozenset())

    with patch.object(software, "_with_parts", plain):
        yield


@contextmanager
def _joined_loss() -> Iterator[None]:
    """Passes of the loss joined, as if by a compiler, in every program."""
    with patch.object(work, "head_bytes", lambda run: 24.0 * work.head(run).m * work.head(run).n):
        yield


@contextmanager
def _inference() -> Iterator[None]:
    """Attention by FlashAttention 2 everywhere, whatever the library and the date."""
    real = attention.training_time

    def one(table: Mapping[str, np.ndarray], kernels: object, *rest: str) -> np.ndarray:
        del kernels
        return real(table, "flash2", *rest)

    with patch("assay.model.stacks.kernel_times.training_time", one):
        yield


MECHANISMS: dict[str, tuple[Patch, str]] = {
    "attention by generation": (_inference, "kernel benchmarks"),
    "8-bit share of products": (lambda: patch.object(work, "FP8_SHARE", 1.0), "TE's GEMM tables"),
    "casts to 8 bits": (lambda: patch.object(work, "cast_seconds", lambda run: 0.0),
                        "TE's GEMM tables"),
    "norms under autocast": (
        lambda: patch.object(work, "AUTOCAST", {"forward": 0.0, "backward": 0.0}), "bytes"),
    "accumulation": (lambda: patch.dict(software.ACCUMULATION,
                                        dict.fromkeys(software.ACCUMULATION, 0.0)), "bytes"),
    "loss in single operators": (_joined_loss, "Megatron's source"),
    "launch": (lambda: patch.object(work, "HOST_PER_KERNEL", 0.0), "profiler traces"),
    "softmax without a kernel": (lambda: patch.object(work, "PAIRS", 1), "Megatron's source"),
    "overlap": (_hidden, "documentation"),
    "products in parts": (lambda: patch.object(work, "_in_parts", lambda run, every: every),
                          "tables of products"),
    "recomputation stops early": (lambda: patch.object(work, "_stopped", lambda run, every: every),
                                  "PyTorch's documentation"),
    "copies of shards": (lambda: patch.object(work, "copied_bytes", lambda run: 0.0), "bytes"),
    "waiting of rings": (lambda: patch.object(exchange, "_waiting", lambda code, group: 0.0),
                         "NCCL's table"),
    "exchange of tokens": (lambda: patch.object(exchange, "SWAP_SHARE", 0.6), "DeepEP's README"),
    "links of a mesh": (
        lambda: patch.object(Machine, "link_among", lambda self, ranks: self.link_bandwidth),
        "datasheets"),
    "recomputation by memory": (lambda: patch.object(step_cases, "holds", lambda run: True),
                                "what ran has fitted"),
    "slowdown": (lambda: _residual("slowdown", 1.0), "one scalar, pooled"),
}  # fmt: skip
"""By what is left out: how, and the measurement that it rests on."""


def without(left_out: Patch) -> dict[str, float]:
    """The error of every campaign, in percent, with a mechanism left out."""
    with left_out():
        return {name: PERCENT * mape(boxed(frame).error) for name, frame in campaigns().items()}


def main() -> None:
    """Print the table."""
    base = {name: PERCENT * mape(boxed(frame).error) for name, frame in campaigns().items()}
    print("| left out | " + " | ".join(base) + " | mean | ± | rests on |")
    print("| --- |" + " --: |" * (len(base) + 2) + " --- |")
    print("| (with all: error, %) | " + " | ".join(f"{one:.1f}" for one in base.values())
          + f" | {np.mean(list(base.values())):.1f} | | |")  # fmt: skip
    for name, (left_out, evidence) in MECHANISMS.items():
        more = np.array([error - base[each] for each, error in without(left_out).items()])
        spread = float(more.std(ddof=1) / np.sqrt(len(more)))
        cells = " | ".join("" if abs(one) < 0.05 else f"{one:+.1f}" for one in more)
        print(f"| {name} | {cells} | {more.mean():+.2f} | {spread:.2f} | {evidence} |")


if __name__ == "__main__":
    main()
