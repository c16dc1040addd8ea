"""Times of single kernels on one machine, as a step model asks for them.

The stack of the machine gives kernels and parameters. What no stack can know is decided here by
rule: products whose rows start off a 16-byte boundary run on the plain fp32 units. The correction
by neighbouring shapes is left out: it knows single products of measured sizes only, and what it
leaves is part of the residuals.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from assay.model.fit.learnt import Calibrated
from assay.model.kernels import gemm
from assay.model.kernels.kernel import Columns, Floats
from assay.model.machines.datasheets import Machine, machine
from assay.model.stacks.stack import Stack, stack_for


@dataclass(frozen=True)
class KernelTimes:
    """The kernels of one machine with the parameters of its stack."""

    stack: Stack

    def gemm(self, table: Columns) -> Floats:
        """Seconds of the products of `gemm.SHAPE` columns."""
        return self.stack.part("gemm").time(table)

    def attention(self, table: Columns) -> Floats:
        """Seconds of fused attention kernels, forward."""
        return self.stack.part("attention").time(table)

    def collective(self, table: Columns) -> Floats:
        """Seconds of collectives."""
        return self.stack.part("collective").time(table)

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
    return KernelTimes(Stack(stack.machine, parts | {"gemm": _aligned(stack, parts["gemm"])}))


def _aligned(stack: Stack, part: Calibrated) -> Calibrated:
    """The products with the rate of misaligned ones, unless it was measured."""
    if "misaligned" not in part.values or "misaligned" not in part.weak:
        return part
    share = misaligned_share(machine(stack.machine))
    return replace(part, values=part.values | {"misaligned": share})


def misaligned_share(accelerator: Machine) -> float:
    """What a misaligned 16-bit product reaches of the tensor peak: the fp32 peak of plain cores.

    Without 16-byte rows the library falls back to kernels that multiply in fp32 units.

    >>> round(misaligned_share(machine("A100-80g")), 4)
    0.0625
    """
    peaks = accelerator.peaks
    sixteen = peaks.get("fp16") or peaks.get("bf16")
    if sixteen is None or "fp32" not in peaks:
        return gemm.MISALIGNED.start
    return peaks["fp32"] / sixteen
