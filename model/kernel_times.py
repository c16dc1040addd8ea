"""Times of single kernels on one machine, as a step model asks for them.

One `KernelTimes` per machine says what a product, an attention kernel, a collective and a pass over
memory take. The stack of the machine gives the parameters; what no stack can know is decided here
by rule: products whose rows start off a 16-byte boundary run on the plain fp32 units.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from assay.model import attention, collective, gemm, pointwise
from assay.model.kernel import Columns, Floats, Kernel, Values
from assay.model.machine import Machine


@dataclass(frozen=True)
class KernelTimes:
    """Kernel models by scope with their values; `whose` names the measurements behind them."""

    kernels: Mapping[str, tuple[Kernel, Values]]
    whose: str

    def gemm(self, table: Columns) -> Floats:
        """Seconds of the products of `gemm.SHAPE` columns."""
        return self._time("gemm", table)

    def attention(self, table: Columns) -> Floats:
        """Seconds of fused attention kernels, forward."""
        return self._time("attention", table)

    def collective(self, table: Columns) -> Floats:
        """Seconds of collectives."""
        return self._time("collective", table)

    @property
    def memory_share(self) -> float:
        """Share of the memory bandwidth that streaming kernels reach."""
        return self.kernels["pointwise"][1]["memory"]

    @property
    def network_share(self) -> float:
        """Share of the network cards that one transfer between neighbours reaches."""
        return self.kernels["collective"][1]["network"]

    def _time(self, scope: str, table: Columns) -> Floats:
        kernel, values = self.kernels[scope]
        return kernel.time(table, values)


GEMM_DEFAULT = {
    "compute": 0.928, "memory": 0.577, "l2": 3.18e10, "fill": 209.0, "launch": 1.15e-6,
    "softness": 0.931, "throttle": 0.0876,
}  # fmt: skip
"""c7 fitted to the A100 products of shared/measured with m >= 512 and n, k >= 1024 (3.7 % MAPE)."""


@functools.cache
def kernel_times(name: str) -> KernelTimes:
    """The kernel times of a machine by its name."""
    from assay.model.machine import machine  # noqa: PLC0415

    accelerator = machine(name)
    kernels: dict[str, tuple[Kernel, Values]] = {
        "gemm": (gemm.C7, GEMM_DEFAULT),
        "attention": (attention.TILED, attention.TILED.starts),
        "collective": (collective.COLLECTIVE, collective.COLLECTIVE.starts),
        "pointwise": (pointwise.STREAMED, pointwise.STREAMED.starts),
    }
    kernel, values = kernels["gemm"]
    kernels["gemm"] = (kernel, dict(values) | {"misaligned": misaligned_share(accelerator)})
    return KernelTimes(kernels, "defaults")


def misaligned_share(accelerator: Machine) -> float:
    """What a misaligned 16-bit product reaches of the tensor peak: the fp32 peak of plain cores.

    Without 16-byte rows the library falls back to kernels that multiply in fp32 units.

    >>> from assay.model.machine import machine
    >>> round(misaligned_share(machine("A100-80g")), 4)
    0.0625
    """
    peaks = accelerator.peaks
    sixteen = peaks.get("fp16") or peaks.get("bf16")
    if sixteen is None or "fp32" not in peaks:
        return gemm.MISALIGNED.start
    return peaks["fp32"] / sixteen
