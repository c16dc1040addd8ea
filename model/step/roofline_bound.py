"""The time of a training step if everything ran at its datasheet rate: a bound, not a forecast.

Every kernel takes the longer of its operations at peak and its bytes at memory bandwidth; ring
collectives of the tensor-parallel group run at the links' rate, activations between stages and the
gradients at a GPU's share of the network cards where their group leaves a node. The pipeline
schedule is 1F1B: (m − 1 + PP) slots of the longest stage.

Source: docs/formulas.md, on baselines.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.model.machines.datasheets import Machine
from assay.model.machines.dtypes import ITEMSIZE
from assay.model.transformer.decoder import layer, logits
from assay.model.transformer.operations import Operation
from assay.model.transformer.parameters import parameters
from assay.model.transformer.passes import passes
from assay.model.transformer.traffic import Traffic, layer_traffic, logits_traffic
from assay.model.transformer.training_run import Run

OPTIMIZER_BYTES = 30
"""Adam in mixed precision: master, two moments (read, written), gradient, weight, one clearing."""

RECOMPUTED = {"none": 1, "selective": 1, "full": 2}
"""Forward passes of a layer's norms and activations."""


def kernel_time(operation: Operation, machine: Machine) -> float:
    """Seconds of one operation: the longer of operations at peak and compulsory bytes at bandwidth.

    >>> from assay.model.machines.datasheets import machine
    >>> from assay.model.transformer.operations import Gemm
    >>> round(kernel_time(Gemm("fc1", 4096, 4096, 4096), machine("A100-80g")) * 1e6, 1)
    440.5
    """
    moved = operation.elements * ITEMSIZE[operation.dtype]
    return max(operation.flop / machine.peak(operation.dtype), moved / machine.memory_bandwidth)


def layer_time(run: Run) -> float:
    """Seconds of one layer and micro-batch, all passes, with its tensor-parallel collectives."""
    forward = layer(
        run.model, run.layout, run.kernels, micro_batch=run.micro_batch, seq_len=run.seq_len
    )
    moved = layer_traffic(
        run.model, run.layout, run.kernels, micro_batch=run.micro_batch, seq_len=run.seq_len
    )
    forwards = RECOMPUTED[run.recompute]
    compute = sum(_total(each, run.machine) for each in passes(forward, recompute=run.recompute))
    memory = _moved(moved, forwards) / run.machine.memory_bandwidth
    return compute + memory + _ring(run, forwards + 1)


def logits_time(run: Run) -> float:
    """Seconds of the output projection and its loss for one micro-batch, all passes."""
    product = logits(
        run.model, run.layout, run.kernels, micro_batch=run.micro_batch, seq_len=run.seq_len
    )
    loss = logits_traffic(
        run.layout,
        run.kernels,
        micro_batch=run.micro_batch,
        seq_len=run.seq_len,
        columns=product.n,
    )
    compute = sum(_total(each, run.machine) for each in passes([product]))
    return compute + _moved([loss], 1) / run.machine.memory_bandwidth


def step_time(run: Run) -> float:
    """Seconds of one iteration; ValueError where the layout does not divide the model."""
    slots = run.micro_batches - 1 + run.pp
    stage = (run.model.layers * layer_time(run) + logits_time(run)) / run.pp
    own = parameters(run.model).total / (run.layout.tp * run.pp)
    updated = own / run.dp if run.zero_stage else own
    optimizer = OPTIMIZER_BYTES * updated / run.machine.memory_bandwidth
    return slots * (stage + _between_stages(run)) + _gradients(run, own) + optimizer


def _total(operations: Iterable[Operation], machine: Machine) -> float:
    return sum(kernel_time(each, machine) for each in operations)


def _moved(traffic: Iterable[Traffic], forwards: int) -> float:
    return sum(forwards * each.forward + each.backward for each in traffic)


def _activation_bytes(run: Run) -> float:
    return run.micro_batch * run.seq_len * run.model.hidden * ITEMSIZE[run.kernels.dtype]


def _rate(run: Run, ranks: int) -> float:
    """B/s of one GPU in a group of `ranks` neighbours: the node's links, or its share of cards."""
    rate = run.machine.link_bandwidth if ranks <= run.gpus_per_node else run.network_per_gpu
    if rate is None:
        raise ValueError(f"{run.machine.name}: no rate is known between {ranks} GPUs")
    return rate


def _ring(run: Run, times: int) -> float:
    """Two all-reduces of the activations in each of `times` passes of a layer."""
    tp = run.layout.tp
    if tp == 1:
        return 0.0
    return 2 * times * 2 * (tp - 1) / tp * _activation_bytes(run) / _rate(run, tp)


def _between_stages(run: Run) -> float:
    """Activations on, gradients back; ranks are numbered by TP, then DP, then stage."""
    if run.pp == 1:
        return 0.0
    return 2 * _activation_bytes(run) / _rate(run, run.layout.tp * run.dp * run.pp)


def _gradients(run: Run, own: float) -> float:
    """One ring all-reduce of the gradients, or the scatter and gather that move as much."""
    if run.dp == 1:
        return 0.0
    volume = 2 * (run.dp - 1) / run.dp * own * ITEMSIZE[run.kernels.dtype]
    return volume / _rate(run, run.layout.tp * run.dp)
