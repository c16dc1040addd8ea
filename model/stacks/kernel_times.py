"""Times of single kernels on one machine, as a step model asks for them.

The stack of the machine gives kernels and parameters, its datasheet the facts. The correction by
neighbouring shapes is left out: it knows single products of measured sizes only, and what it
leaves is part of the residuals.

Source: docs/kernels.md.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from assay.model.kernels.attention import training_time
from assay.model.kernels.kernel import Columns, Floats
from assay.model.machines.datasheets import Machine, machine
from assay.model.stacks.stack import Stack, stack_for


@dataclass(frozen=True)
class KernelTimes:
    """The kernels of one machine with the parameters of its stack."""

    stack: Stack

    def gemm(self, table: Columns) -> Floats:
        """Seconds of the products of `gemm.SHAPE` columns.

        A column `plain` says how fast the library of a row multiplies misaligned rows outside the
        tensor cores (flop/s, nan where it has tensor-core kernels for them); where it says nothing
        the machine does, and else the libraries of today are meant.
        """
        own = machine(self.stack.machine)
        facts = {"clock": own.clock, "plain": own.plain_misaligned}
        size = len(table["m"])
        known = {name: np.full(size, np.nan if one is None else one) for name, one in facts.items()}
        said = table.get("plain", known["plain"])
        plain = np.where(np.isnan(said), known["plain"], said)
        return self.stack.part("gemm").time(known | dict(table) | {"plain": plain})

    def attention(
        self,
        table: Columns,
        kernels: str | npt.NDArray[np.str_] | None = None,
        direction: str = "forward",
    ) -> Floats:
        """Seconds of one pass of fused attention.

        `kernels` names the one of each row (`attention.GENERATIONS`): times are then those of
        training programs, a backward pass with all its products. Without it they are those of the
        stack, which has measured the forward pass of inference alone.
        """
        if kernels is None:
            return self.stack.part("attention").time(table)
        architecture = machine(self.stack.machine).generation
        return training_time(table, kernels, architecture, direction)

    def collective(self, table: Columns) -> Floats:
        """Seconds of collectives."""
        return self.stack.part("collective").time(table)

    def experts(self, table: Columns) -> Floats:
        """Seconds of the grouped products of a mixture's layer on its busiest rank, forward."""
        return self.stack.part("moe").time(table)

    def exchange(self, table: Columns) -> Floats:
        """Seconds of one way of an exchange of tokens inside a node."""
        return self.stack.part("moe_exchange").time(table)

    @property
    def in_step(self) -> bool:
        """Whether products were timed inside a training step, and not alone."""
        return self.stack.part("gemm").in_step

    @property
    def memory_share(self) -> float:
        """Share of the memory bandwidth that streaming kernels reach."""
        return self.stack.part("pointwise").values["memory"]

    @property
    def network_share(self) -> float:
        """Share of the network cards that one transfer between neighbours reaches."""
        return self.stack.part("collective").values["network"]

    @property
    def whose(self) -> str:
        """Machines whose measurements the times rest on."""
        return ", ".join(dict.fromkeys(part.machine for part in self.stack.parts.values()))


@functools.cache
def kernel_times(name: str) -> KernelTimes:
    """The kernel times of a machine from its packaged or borrowed stack, by its name."""
    return from_stack(stack_for(name))


def with_own(name: str, own: Stack | None) -> KernelTimes:
    """The kernel times of a machine, scope by scope from a user's own stack where it has them."""
    scopes = {"gemm", "attention", "collective", "pointwise"} & set(own.parts if own else ())
    if own is None or not scopes:
        return kernel_times(name)
    shipped = stack_for(name)
    return from_stack(Stack(name, {**shipped.parts, **{one: own.parts[one] for one in scopes}}))


def from_stack(stack: Stack) -> KernelTimes:
    """The kernel times that a stack gives."""
    parts = {scope: replace(part, near=None) for scope, part in stack.parts.items()}
    return KernelTimes(Stack(stack.machine, parts))


def plain_rate(accelerator: Machine) -> float:
    """Rate in flop/s at which the libraries of 2022 multiply 16-bit rows off a 16-byte boundary.

    They take kernels outside the tensor cores, which accumulate at the fp32 peak. nan where the
    datasheet gives none: then today's kernels are meant.

    >>> plain_rate(machine("A100-80g")) / 1e12
    19.5
    """
    return accelerator.peaks.get("fp32", float("nan"))
