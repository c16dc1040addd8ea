"""How far a predicted step may lie from a measured one: a campaign's effect and a row's.

Errors of one campaign (a site, a software and a period) hang together: its clocks, its library
versions and its network are the same in every row. So the logarithm of observed over predicted has
two normal parts, one drawn once a campaign and one a row. What a run does not say, and kernels that
were measured on another machine, widen the first; rows of the same campaign narrow it.

Source: the campaigns of tests/studies/campaigns.py, docs/model.md.
"""

from __future__ import annotations

import math

from assay.model.stacks.kernel_times import KernelTimes
from assay.model.transformer.training_run import Run

CAMPAIGN, ROW = 0.09, 0.10
"""Standard deviations of log(observed/predicted). Twelve campaigns that were looked at have 0.045
and 0.100 (`make accuracy`, `campaigns.spread.*`). Campaigns that nobody looked at lie farther off,
so the first is doubled."""

ASSUMED, BORROWED, MIXTURE = 1.4, 1.2, 1.6
"""Factors on the campaign's part: nothing names the software; kernels of another machine; experts,
whose use is uneven and whose libraries differ most."""

TAIL = 1.645
"""Standard deviations of a normal variable on either side of 90 % of it."""


def half_width(run: Run, times: KernelTimes, seen: int = 0) -> float:
    """90 % half-width of log(observed/predicted), after `seen` rows of the same campaign.

    >>> from assay.model.stacks.kernel_times import kernel_times
    >>> from assay.model.transformer.training_run import run
    >>> row = dict(machine="A100-80g", dtype="fp16", gpus=384, hidden=14336, layers=72, heads=64,
    ...            seq_len=2048, vocab=250880, tp=8, pp=6, dp=8, micro_batch=4, global_batch=2048,
    ...            recompute="full", software="megatron-2021")
    >>> [round(half_width(run(row), kernel_times("A100-80g"), seen), 2) for seen in (0, 1, 10)]
    [0.22, 0.2, 0.17]
    """
    campaign = CAMPAIGN * math.prod(factor for factor, _ in reasons(run, times))
    left = campaign**2 * ROW**2 / (ROW**2 + seen * campaign**2)
    return TAIL * math.sqrt(left + ROW**2)


def reasons(run: Run, times: KernelTimes) -> list[tuple[float, str]]:
    """Factors by which the campaign's part of this run is wider, and why."""
    found = []
    if run.software.reason.startswith("assumed"):
        found.append((ASSUMED, f"software {run.software.reason}"))
    measured = times.stack.part("gemm").machine
    if measured != run.machine.name:
        found.append((BORROWED, f"products measured on {measured}"))
    if run.model.experts is not None:
        found.append((MIXTURE, "a mixture of experts"))
    return found
