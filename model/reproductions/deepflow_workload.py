"""DeepFlow's workload and chip: a stacked LSTM language model, a chip bought from a power budget.

Source: DeepFlow, first generation; formulas recomputed from its dumps and the `exp_config.yaml`
beside them. Everything is for parallel degrees of one. Units are SI throughout: bytes are bytes
even where the estimator prints GiB as "GB".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from assay.model.reproductions.deepflow_gemm import DERATE, Gemm, Rates, Tiles, tile_edge

GATES, ADDS, NON_LINEAR = 4, 8, 5
"""LSTM: four gates, and the additions and non-linear functions of one cell."""


@dataclass(frozen=True)
class Workload:
    """Dimensions of the model and of one step, in elements; `precision` is bytes per element."""

    batch: int
    vocabulary: int
    layers: int
    width: int
    projection: int
    sequence: int
    precision: int
    gates: int = GATES
    adds: int = ADDS
    non_linear: int = NON_LINEAR

    @property
    def gate_width(self) -> int:
        """Columns of the recurrent weight: all gates side by side."""
        return self.gates * self.width


@dataclass(frozen=True)
class Technology:
    """Energy per byte moved and per flop (J); what one stack or bank holds and moves (B, B/s)."""

    dram_energy: float
    l2_energy: float
    shared_energy: float
    flop_energy: float
    stack_capacity: float
    stack_bandwidth: float
    l2_bank_capacity: float
    l2_bank_bandwidth: float
    shared_bank_capacity: float
    shared_bank_bandwidth: float


@dataclass(frozen=True)
class Power:
    """Thermal design power in watts and the share of it that each part gets."""

    tdp: float
    core: float
    dram: float
    l2: float
    shared: float


@dataclass(frozen=True)
class Chip:
    """Chip that a power budget buys, before the derate; `rates` are after it.

    Units: flop/s, B/s, B.
    """

    peak_flops: float
    peak_memory_bandwidth: float
    memory_size: float
    l2_bandwidth: float
    l2_size: float
    shared_size: float
    rates: Rates

    def tiles(self, precision: int) -> Tiles:
        """Tile edges of both cache levels for elements of `precision` bytes."""
        return Tiles(tile_edge(self.l2_size, precision), tile_edge(self.shared_size, precision))


def chip_from_power(power: Power, technology: Technology, launch_overhead: float) -> Chip:
    """Rates and capacities that a power budget buys.

    Units: W, J, B, B/s, s.
    Source: rate = share · TDP / energy; capacity = rate / bank rate · bank capacity; the kernels
    see 0.7 of the core and DRAM rates, the L2 rate whole.

    >>> gib = 2**30
    >>> technology = Technology(6e-12 * 8, 5e-15 * 8, 1e-15 * 8, 119e-13, 4 * gib, 225 * gib,
    ...                         32 * 1024, 4000 * gib, 32 * 1024, 4000 * gib)
    >>> power = Power(300, 0.2592, 0.2592, 0.16896000000000005, 0.20275200000000007)
    >>> chip = chip_from_power(power, technology, 37e-6)
    >>> round(chip.rates.flops / 1e12, 3), round(chip.rates.memory_bandwidth / 1e12, 3)
    (4.574, 1.134)
    >>> chip.tiles(4)
    Tiles(l2=512, shared=2048)
    """
    core, dram = power.core * power.tdp, power.dram * power.tdp
    throughput = core / technology.flop_energy * DERATE
    memory_bandwidth = dram / technology.dram_energy * DERATE
    l2_bandwidth = power.l2 * power.tdp / technology.l2_energy
    shared_bandwidth = power.shared * power.tdp / technology.shared_energy
    stacks = memory_bandwidth / DERATE / technology.stack_bandwidth
    return Chip(
        peak_flops=throughput / DERATE,
        peak_memory_bandwidth=memory_bandwidth / DERATE,
        memory_size=stacks * technology.stack_capacity,
        l2_bandwidth=l2_bandwidth,
        l2_size=l2_bandwidth / technology.l2_bank_bandwidth * technology.l2_bank_capacity,
        shared_size=shared_bandwidth
        / technology.shared_bank_bandwidth
        * technology.shared_bank_capacity,
        rates=Rates(throughput, memory_bandwidth, l2_bandwidth, launch_overhead),
    )


@lru_cache(maxsize=16)  # a step asks for them several times
def gemms(work: Workload) -> tuple[Gemm, ...]:
    """The nine products of one step under the names that a dump prints.

    Shapes: hidden [B, 2D] × [2D, G·D], softmax [B·S, D] × [D, V], projection [B·S, D] × [D, P], and
    the two gradients of each.

    >>> gemms(Workload(512, 800_000, 2, 19968, 2048, 20, 4))[0]
    Gemm(name='Cf', a=512, b=39936, c=79872)
    """
    batch, wide, tokens = work.batch, 2 * work.width, work.batch * work.sequence
    gates, width = work.gate_width, work.width
    return (
        Gemm("Cf", batch, wide, gates),
        Gemm("Cb_act", batch, gates, wide),
        Gemm("Cb_wt", wide, batch, gates),
        Gemm("softmax_f", tokens, width, work.vocabulary),
        Gemm("softmax_b_wt", width, tokens, work.vocabulary),
        Gemm("softmax_b_act", tokens, work.vocabulary, width),
        Gemm("projection", tokens, width, work.projection),
        Gemm("projection_b_wt", work.projection, tokens, width),
        Gemm("projection_b_act", tokens, work.projection, width),
    )


@dataclass(frozen=True)
class Kernel:
    """A kernel bound by its flop or its DRAM bytes, with the number of launches it pays for."""

    name: str
    flop: float
    bytes: float
    launches: int


@lru_cache(maxsize=16)
def pointwise(work: Workload) -> tuple[Kernel, ...]:
    """The four pointwise kernels of one step.

    Source: hidden forward (adds + non-linear) flop per width and 3·adds + 2·non-linear transfers;
    its backward counts them per gate and adds the weight gradient, 2D·G·D flop and *three bytes* of
    it, where three elements are meant; softmax forward 3V − 1 flop and 7V transfers per token,
    backward 5V and 11V. 15 launches for hidden, 4 for softmax.

    >>> [k.flop for k in pointwise(Workload(512, 800_000, 2, 19968, 2048, 20, 4))]
    [132907008.0, 3222994944.0, 24575989760, 40960000000]
    """
    cell, tokens = work.batch * work.width, work.batch * work.sequence
    steps = work.adds + work.non_linear
    transfers = 3 * work.adds + 2 * work.non_linear
    weight = 2 * work.width * work.gate_width
    element, vocabulary = work.precision, work.vocabulary
    return (
        Kernel("hidden_forward", float(cell * steps), float(element * cell * transfers), 15),
        Kernel(
            "hidden_backward",
            cell * steps / work.gates + weight,
            element * cell * transfers / work.gates + 3 * weight,
            15,
        ),
        Kernel(
            "softmax_forward", tokens * (3 * vocabulary - 1), element * tokens * 7 * vocabulary, 4
        ),
        Kernel("softmax_backward", 5 * tokens * vocabulary, element * tokens * 11 * vocabulary, 4),
    )


@lru_cache(maxsize=16)
def gradients(work: Workload) -> tuple[Kernel, ...]:
    """Clipping and applying the gradients of the three weights; no launch is charged.

    Shapes: hidden [2D, G·D], projection [D, P], softmax [D, V].
    Source: clipping 4 flop and 3 transfers per element, applying 3 flop and 7 transfers.

    >>> gradients(Workload(512, 800_000, 2, 19968, 2048, 20, 4))[0]
    Kernel(name='gradclip_hidden', flop=12759072768, bytes=38277218304, launches=0)
    """
    sizes = {
        "hidden": 2 * work.width * work.gate_width,
        "projection": work.width * work.projection,
        "softmax": work.width * work.vocabulary,
    }
    kernels = []
    for name, size in sizes.items():
        kernels.append(Kernel(f"gradclip_{name}", 4 * size, 3 * size * work.precision, 0))
        kernels.append(Kernel(f"apply_grad_{name}", 3 * size, 7 * size * work.precision, 0))
    return tuple(kernels)


def embedding_bytes(work: Workload) -> int:
    """Bytes read and written by the embedding in one direction, 2·B·S·D elements.

    >>> embedding_bytes(Workload(512, 800_000, 2, 19968, 2048, 20, 4))
    1635778560
    """
    return 2 * work.batch * work.width * work.sequence * work.precision


def parameters(work: Workload) -> int:
    """Parameters: embedding, biased recurrent layers, projection, biased softmax over D.

    Source: V·D + (2D + 1)·G·D·L + D·P + (D + 1)·V.

    >>> parameters(Workload(512, 800_000, 2, 19968, 2048, 20, 4))
    38370190592
    """
    hidden = (2 * work.width + 1) * work.gate_width * work.layers
    softmax = (work.width + 1) * work.vocabulary
    return work.vocabulary * work.width + hidden + work.width * work.projection + softmax
