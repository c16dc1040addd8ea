"""Memory of one rank at its fullest: parameters, gradients, optimizer, activations, logits. Bytes.

What a formula can count is counted per stage, and the fullest stage is the answer. What the
allocator reserves beyond that is a share that the software stack says, or, fitted to measured
maxima of a site, an affine term, `Reserve`. What a process takes before its first tensor, its
kernels and the channels of its collectives, lessens the room (`room`). Sources: Korthikanti et al.
2022 (activations of a layer, table 2), the ZeRO paper (bytes per parameter and stage), and the
1F1B schedule and pipeline buffers of DeepSpeed.

Source: docs/model.md, on memory; activations, Korthikanti et al., arXiv 2205.05198.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from assay.model.machines.dtypes import ITEMSIZE, NARROW
from assay.model.step.work import activation_bytes, again, head
from assay.model.transformer.parallel import (
    counted,
    dense_parameters,
    expert_parameters,
    gradient_group,
    layer_parameters,
    replica_group,
    stage_layers,
)
from assay.model.transformer.training_run import Run

MASTER = 4.0
"""Of the optimizer's bytes a parameter, the master weights: the only ones that are there before
the first update. Moments, and a widened gradient where there is one, come with it; a sharding
optimizer has them from the start."""

GATHERED = 2.0
"""Units of a fully sharded model that are whole at a time: the one that runs and the next."""

USABLE = 2**30 / 1e9 * 0.988
"""Bytes that tensors can have of every byte that a datasheet prints: its gigabytes are 2^30 bytes,
and frameworks report 79.10 of 80, 39.56 of 40, 31.75 of 32, 139.8 of 141 and 178.4 of 180 as total
capacity of H100, A100, V100, H200 and B200."""

COMMUNICATOR = {"pair": 544 * 2.0**20, "more": 688 * 2.0**20}
"""Bytes of the channels of one NCCL communicator: measured with two, three and four A100 on NVLink
(github.com/NVIDIA/nccl, issue 964), where every rank more than three needs no more."""

LOSS_SCALE = 0.02
"""Relative misses beyond this count linearly: printed sizes are whole gigabytes."""


class Memory(NamedTuple):
    """Bytes on the fullest rank by what holds them."""

    weights: float
    gradients: float
    optimizer: float
    activations: float
    logits: float
    buffers: float  # gathered weights, gradients on their way
    updating: float = 0.0  # of optimizer and buffers, what the first update brings; counted there

    @property
    def total(self) -> float:
        """Everything that is counted; a measured maximum lies above it.

        Units: bytes.
        """
        return sum(self) - self.updating

    @property
    def parts(self) -> dict[str, float]:
        """Parts that add up to the total, bytes by name."""
        return {name: size for name, size in self._asdict().items() if name != "updating"}

    @property
    def first_step(self) -> float:
        """The same in the first step, where the update's tensors come after the backward pass.

        Units: bytes.
        """
        states = self.weights + self.gradients + self.optimizer
        return max(states, self.total - self.updating)


@dataclass(frozen=True)
class Reserve:
    """Fragmentation and workspaces: measured = offset + factor · counted."""

    offset: float  # B
    factor: float

    def peak(self, counted_bytes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Bytes a monitor would show."""
        return self.offset + self.factor * counted_bytes


def reserved(run: Run, held: float) -> float:
    """Bytes that the allocator takes from the device for tensors of `held` bytes."""
    return held * (1.0 + run.software.reserve)


def room(run: Run) -> float:
    """Bytes of the device memory that the tensors of a run can have.

    Not those of the kernels that its software loads, nor those of its communicators, which the
    device holds beside them.
    """
    joined = sum(COMMUNICATOR["pair" if ranks == 2 else "more"] for ranks in groups(run))
    apart = run.software.loaded + (joined if run.software.channels else 0.0)
    return run.machine.memory_bytes * USABLE - apart


def groups(run: Run) -> list[int]:
    """Ranks of every group that a rank of the first stage joins for collectives.

    One for each degree beyond 1; one of all parts of a model, for the norm of its gradients, where
    both tensors and stages are split; one of the first and the last stage, which sum the gradient
    of an embedding that is the output layer too. Source: Megatron-LM's parallel state.
    """
    tp, pp = run.layout.tp, run.pp
    degrees = [tp, pp, gradient_group(run).ranks, run.layout.ep]
    degrees += [tp * pp] * (tp > 1 and pp > 1)
    degrees += [2] * (pp > 1 and not counted(run).head)
    return [ranks for ranks in degrees if ranks > 1]


def holds(run: Run) -> bool:
    """Whether the device has room for the tensors of a run.

    What the allocator takes beyond them it gives back where they need the room, at a price.
    """
    return memory(run).total <= room(run)


def memory(run: Run) -> Memory:
    """Counted bytes of the fullest stage; of a pipeline that is the first or the last one.

    The first stage holds an activation set for every micro-batch in flight, the last one the
    logits of one micro-batch.
    """
    layers = stage_layers(run.model.layers, run.pp)
    first = _stage(run, layers[0], in_flight(run), first=True, last=run.pp == 1)
    if run.pp == 1:
        return first
    last = _stage(run, layers[-1], 1.0, first=False, last=True)
    return max(first, last, key=lambda one: one.total)


def stages(run: Run) -> tuple[Memory, ...]:
    """Counted bytes of a rank of every pipeline stage, first to last; see `memory`.

    A later stage holds as many activation sets fewer as stages lie before it.
    """
    if run.pp == 1:
        return (memory(run),)
    return tuple(
        _stage(run, layers, max(in_flight(run) - at, 1.0), first=at == 0, last=at == run.pp - 1)
        for at, layers in enumerate(stage_layers(run.model.layers, run.pp))
    )


def in_flight(run: Run) -> float:
    """Micro-batches whose activations the first stage holds at once.

    1F1B: one per stage, since stage 0 runs its first backward pass after PP forward ones (in
    DeepSpeed's TrainSchedule too, which has one more buffer for what is handed on). Interleaving:
    PP + (PP − 1)/v.
    """
    if run.pp == 1:
        return 1.0
    if run.interleave > 1:
        return min(run.pp + (run.pp - 1) / run.interleave, float(run.micro_batches))
    return float(min(run.pp, run.micro_batches))


def _stage(run: Run, layers: int, flight: float, *, first: bool, last: bool) -> Memory:
    every, shards = counted(run), gradient_group(run).ranks
    ends = (every.embedding + every.positions) * first + (every.head or every.embedding) * (
        last and (every.head > 0 or not first)
    )
    shared = dense_parameters(run) * layers + ends / run.layout.tp
    experts = expert_parameters(run) * layers
    own, split = shared + experts, shared / shards + experts / replica_group(run).ranks
    stack = run.software
    weights, gradients, optimizer = (2.0, 0.0, 0.0) if run.frozen else stack.states
    whole = [split if run.zero_stage >= stage else own for stage in (3, 2, 1)]
    if weights > 2.0:  # the master weights: PyTorch shards them, and 16-bit ones come and go
        whole = [split] * 3 if run.zero_stage else [own] * 3
    boundary = activation_bytes(run)
    if run.layout.sequence_parallel:
        boundary /= run.layout.tp
    handed = min(flight + stack.received, run.micro_batches) if run.pp > 1 else 0.0
    buffers = 2.0 * boundary * handed
    kept = {"device": 1.0, "split": 1.0 / run.layout.tp, "host": 0.0}[run.checkpoints]
    own_layer = layer_activations(run)
    share = again(run)
    held = layers * flight * (share * boundary * kept + (1.0 - share) * own_layer)
    held += own_layer if share else 0.0  # of the layer that is computed again
    logits = head(run)
    brought = max(optimizer - MASTER, 0.0) * whole[2] + (
        0.0 if run.zero_stage or run.frozen else own * stack.flattened
    )
    return Memory(
        weights=weights * whole[0],
        gradients=gradients * whole[1],
        optimizer=optimizer * whole[2],
        activations=held + buffers,
        logits=stack.logits * logits.m * logits.n if last else 0.0,
        buffers=_in_passing(run, own),
        updating=brought,
    )


def _in_passing(run: Run, own: float) -> float:
    """Whole weights and gradients of a fully sharded run, or the flattened copy of gradients."""
    stack, unit = run.software, layer_parameters(run)
    if run.zero_stage == 3:
        return unit * (GATHERED * stack.gathered + stack.reduced)
    if run.zero_stage and stack.states[0] > 2.0:
        return own * stack.gathered + unit * stack.reduced
    return 0.0 if run.zero_stage or run.frozen else own * stack.flattened


def layer_activations(run: Run) -> float:
    """Bytes that one layer keeps for its backward pass, for one micro-batch on one rank.

    16-bit s·b·h·(10 + 24/t + 5·a·s/(h·t)); the last term is the scores, kept by unfused attention
    without recomputation, and 2 of the 10 are masks of dropout. Sequence parallelism divides the 10
    by t too. A gated MLP of width f has (gates + 1)·f where the 4h-wide one has 2·4h of the 24.
    Products of 8-bit values keep their inputs so: a byte each for both blocks' and for the MLP's
    second product, one more for attention's result, which its kernel needs in 16 bits too. Fewer
    key and value heads keep less, latent attention what it expands; an expert's tokens are copies.
    """
    model, tp = run.model, run.layout.tp
    tokens = run.micro_batch * run.seq_len / run.layout.cp
    narrow = run.kernels.linear_dtype in NARROW
    half = ITEMSIZE[run.kernels.dtype] / 2.0
    shared = (
        ((10.0 if run.software.dropout else 8.0) - (2.0 if narrow else 0.0))
        * model.blocks_per_layer
        / 2.0
        * model.hidden
        / (tp if run.layout.sequence_parallel else 1)
    )
    inner, copies = _widths(run)
    split = (2.0 * _heads(run) + 2.0 * model.mlp_matrices * inner + 2.0 * copies) / tp
    if narrow:
        split += (model.hidden - inner) / tp
    scores = 0.0
    if run.kernels.attention == "unfused" and run.recompute != "selective":
        scores = 5.0 * model.heads * run.seq_len / tp
    return half * tokens * (shared + split + scores)


def _heads(run: Run) -> float:
    """Elements of queries, keys, values and the result of attention, for one token of a mean layer.

    In place of them a state space has its projected and convolved columns and its result.
    """
    model, latent = run.model, run.model.latent
    if latent is None:
        heads = (2.0 * model.heads + 2.0 * model.kv_heads) * model.head_dim
        inner = 0.0
        if model.hybrid is not None:
            inner = 2.0 * (model.hybrid.inner + model.hybrid.convolved)
        return (heads * model.attention_layers + inner * model.mamba_layers) / model.layers
    every = 2.0 * (latent.qk_dim + latent.rope_dim) + 2.0 * latent.v_dim
    return model.heads * every + latent.kv_rank + latent.rope_dim + (latent.q_rank or 0)


def _widths(run: Run) -> tuple[float, float]:
    """Of a mean layer, for one token: columns of the MLPs it visits, elements copied to experts."""
    model, experts = run.model, run.model.experts
    if experts is None:
        return float(model.ffn_hidden), 0.0
    dense, sparse = model.dense_layers / model.layers, model.sparse_layers / model.layers
    visited = experts.per_token * experts.ffn_hidden + experts.shared_ffn_hidden
    inner = dense * model.ffn_hidden + sparse * visited
    return inner, sparse * experts.per_token * (experts.latent or model.hidden)


def reserve(counted_bytes: npt.NDArray[np.float64], measured: npt.NDArray[np.float64]) -> Reserve:
    """The affine term fitted to measured maxima, robustly; ValueError with fewer than two.

    Units: bytes, in and out.
    """
    if len(measured) < 2:
        raise ValueError(f"two numbers need at least two measurements, not {len(measured)}")
    from scipy.optimize import least_squares  # noqa: PLC0415 - half a second, which no report needs

    def missed(point: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray((1e9 * point[0] + point[1] * counted_bytes) / measured - 1.0)

    found = least_squares(
        missed, [6.0, 1.0], bounds=([0.0, 0.5], [20.0, 2.0]), loss="soft_l1", f_scale=LOSS_SCALE
    )
    return Reserve(offset=1e9 * float(found.x[0]), factor=float(found.x[1]))
