"""Traffic of one rank: collectives of a layer, hand-overs between stages, gradients, optimizer.

Seconds by kind, separated into what runs on the links of a node and what crosses its network cards:
the latter stand at the full rate of the cards, divided among the groups that leave the node, and a
step model divides them by the share that is reached.

Source: docs/model.md, on what a rank sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from assay.model.kernels.collective import GATHER, REDUCE, SCATTER, SWAP
from assay.model.kernels.kernel import Floats
from assay.model.machines.dtypes import ITEMSIZE
from assay.model.stacks.kernel_times import KernelTimes
from assay.model.step.work import activation_bytes, again, forwards
from assay.model.transformer.parallel import (
    Group,
    context_group,
    counted,
    dense_parameters,
    expert_group,
    expert_parameters,
    gradient_group,
    group,
    replica_group,
    shard_group,
    shared_parameters,
    stage_experts,
    stages_leave_node,
    tensor_group,
)
from assay.model.transformer.training_run import Run

OPTIMIZER_BYTES = 30.0
"""Adam in mixed precision, per parameter: read gradient 2, master 4, moments 8; written master 4,
moments 8, weight 2, cleared gradient 2."""

NETWORK_STEP = 14e-6
"""Seconds of one message of a ring between nodes: NCCL's own table for its simple protocol over a
network (src/graph/tuning.cc)."""

NODE_STEP = 6e-7
"""Seconds of one between neighbours in a node: what measured collectives of A100, H100 and H200
tell (parameter `step` of their stacks)."""


SWAP_SHARE = 0.88
"""Of its network cards, that an exchange of tokens reaches: DeepEP's README has 58 and 51 GB/s a
rank among 32 and 64 ranks, its own node's tokens counted, of 50 GB/s that each has."""


@dataclass(frozen=True)
class Exchange:
    """Seconds. `layer` and `head` and `first` on links; `*_net` at the full rate of the cards."""

    layer: Floats  # per layer and micro-batch: tensor groups
    layer_net: Floats  # the same, where those groups leave the node
    swap: Floats  # per layer and micro-batch: tokens to their experts and back
    context_link: Floats  # per layer and micro-batch: keys and values around a context group
    context_net: Floats
    shard_link: Floats  # fully sharded, per gather of a layer's weights
    shard_net: Floats
    scatter_link: Floats  # fully sharded, per layer and micro-batch: its gradients
    scatter_net: Floats
    head: Floats  # per micro-batch: gradient of the head's input
    first: Floats  # per micro-batch: the embedding's output
    handover_link: Floats  # per micro-batch and stage: activations on, gradients back
    handover_net: Floats
    gradient_link: Floats  # per step
    gradient_net: Floats
    weight_link: Floats  # per step: gathered weights of an optimizer's shards
    weight_net: Floats
    tied_net: Floats  # per step: the two copies of a tied embedding
    optimizer: Floats  # per step


def exchange(runs: Sequence[Run], times: KernelTimes) -> Exchange:
    """Seconds of every run; all runs use one machine and its `times`."""
    calls = _Calls(times, runs)
    for index, run in enumerate(runs):
        _of_layer(calls, index, run)
        _of_shards(calls, index, run)
        _of_step(calls, index, run)
    return Exchange(**calls.seconds())


class _Calls:
    """Collectives of many runs, timed together; what crosses the network is added up apart."""

    def __init__(self, times: KernelTimes, runs: Sequence[Run]) -> None:
        self.times, self.runs = times, runs
        self.rows: list[tuple[str, int, int, int, float, float, float]] = []
        self.plain = {name: np.zeros(len(runs)) for name in Exchange.__dataclass_fields__}

    def add(self, name: str, index: int, code: int, size: float, group: Group, count: float,
            pieces: float = 1.0) -> None:  # fmt: skip
        """`count` collectives of `size` bytes; on links, or to the network where they leave.

        `pieces` is into how many calls each is cut; every one waits for a ring of its own.
        """
        if group.ranks == 1 or count == 0 or size == 0:
            return
        run = self.runs[index]
        if not group.leaves_node:
            link = run.machine.link_among(group.ranks) or np.nan
            self.rows.append((name, index, code, group.ranks, size / pieces, count * pieces, link))
            return
        others = (group.ranks - 1) / group.ranks
        volume = size * (2.0 * others if code == REDUCE else others)
        cards = (run.node_bandwidth or np.nan) / group.sharing
        net = "layer_net" if name == "layer" else name.replace("_link", "_net")
        if code == SWAP:  # every rank's part for ranks elsewhere crosses the cards
            volume = group.inside * size * (group.ranks - group.inside) / group.ranks
            self.plain[name][index] += count * volume / (SWAP_SHARE * cards)
        else:
            self.plain[net][index] += count * volume / cards
        self.plain[name][index] += count * pieces * _waiting(code, group)

    def seconds(self) -> dict[str, Floats]:
        """Every kind of `Exchange` by name."""
        if self.rows:
            names, at, code, ranks, size, count, link = zip(*self.rows, strict=True)
            machine = [self.runs[index].machine for index in at]
            one = np.ones(len(at))
            spent = self.times.collective(
                {
                    "operation": np.array(code, dtype=float),
                    "bytes": np.array(size),
                    "ranks": np.array(ranks, dtype=float),
                    "ranks_per_node": np.array(ranks, dtype=float),
                    "sharing": one,
                    "link_bandwidth": np.array(link),
                    "in_network": np.array([float(each.in_network) for each in machine]),
                    "node_bandwidth": one * np.inf,
                }
            ) * np.array(count)
            for name, index, value in zip(names, at, spent, strict=True):
                self.plain[name][index] += value
        return self.plain


def _waiting(code: int, group: Group) -> float:
    """Seconds that messages between nodes wait for each other, of one collective.

    A ring passes every node; an all-reduce may take a tree of nodes instead.
    """
    nodes = group.ranks / group.inside
    if code == SWAP:
        return NETWORK_STEP
    ring = (nodes - 1.0) * NETWORK_STEP + (group.ranks - nodes) * NODE_STEP
    if code == REDUCE:
        return 2.0 * min(ring, float(np.ceil(np.log2(nodes))) * NETWORK_STEP)
    return ring


def _of_layer(calls: _Calls, index: int, run: Run) -> None:
    """Tensor: two sums per pass, as all-reduce or as gather and scatter; context; experts."""
    ranks, size = tensor_group(run), activation_bytes(run)
    sums = run.model.blocks_per_layer * (forwards(run) + 1)
    spared = again(run) if run.software.early_stop else 0.0  # the sum that ends a layer
    if "tensor" in run.software.hidden and run.layout.sequence_parallel:
        sums /= ranks.ranks  # products start with the first part: the others pass beside them
        spared /= ranks.ranks
    if run.layout.sequence_parallel:
        calls.add("layer", index, GATHER, size, ranks, sums)
        calls.add("layer", index, SCATTER, size, ranks, sums - spared)
    else:
        calls.add("layer", index, REDUCE, size, ranks, sums - spared)
    calls.add("head", index, REDUCE, size, ranks, 1.0)
    calls.add("first", index, REDUCE, size, ranks, 1.0)
    keys = 2.0 * size * run.model.kv_heads / run.model.heads / run.layout.tp * run.layout.cp
    around = forwards(run) + 2.0  # backward the keys again, and their gradients
    around *= run.model.attention_layers / run.model.layers
    calls.add("context_link", index, GATHER, keys, context_group(run), around)
    _of_experts(calls, index, run)


def _of_experts(calls: _Calls, index: int, run: Run) -> None:
    """Tokens to their experts and back, once to each node and there once to each rank.

    Both ways overlap, and the slower one counts.
    """
    experts, ranks = run.model.experts, expert_group(run)
    if experts is None or ranks.ranks == 1:
        return
    sparse = run.model.sparse_layers / run.model.layers
    passes = 2.0 * (forwards(run) + 1) * sparse
    size = activation_bytes(run) * run.layout.experts_split / run.layout.tp
    size *= (experts.latent or run.model.hidden) / run.model.hidden
    inside = group(ranks.inside, run.layout.experts_split, run.gpus_per_node)
    copies = size * visited(ranks.ranks, experts.per_token)
    if not ranks.leaves_node:
        calls.add("swap", index, SWAP, copies, inside, passes)
        return
    nodes = ranks.ranks // ranks.inside
    between = Group(nodes, 1, ranks.inside * ranks.sharing)
    crossing = size * min(visited(nodes, experts.per_token), experts.node_limit or nodes)
    on_links = copies / (run.machine.link_among(ranks.inside) or np.inf)
    if crossing * between.sharing / (run.node_bandwidth or np.nan) < on_links:
        calls.add("swap", index, SWAP, copies, inside, passes)
    else:  # tokens go on inside a node while others still arrive
        calls.add("swap", index, SWAP, crossing, between, passes)


def visited(places: int, chosen: int) -> float:
    """Places of which at least one is among `chosen` drawn with replacement, on average.

    >>> round(visited(8, 8), 2)
    5.25

    Units: a count of places.
    """
    return places * (1.0 - (1.0 - 1.0 / places) ** chosen)


def _of_shards(calls: _Calls, index: int, run: Run) -> None:
    """ZeRO-3: a layer's weights are gathered for each pass, its gradients scattered once."""
    if run.zero_stage != 3:
        return
    for ranks, own in (
        (gradient_group(run), dense_parameters(run)),
        (replica_group(run), expert_parameters(run)),
    ):
        calls.add("shard_link", index, GATHER, own * run.software.gathered, ranks, 1.0)
        if not run.frozen:
            calls.add("scatter_link", index, SCATTER, own * run.software.reduced, ranks, 1.0)


def _of_gradients(
    calls: _Calls, index: int, run: Run, copies: Group, shards: Group, own: float
) -> None:
    """Gradients of `own` parameters summed over copies, weights gathered from shards."""
    stack = run.software
    size, weights = own * stack.reduced, own * stack.gathered
    layers = run.model.layers / run.pp
    pieces = max(1.0, np.ceil(size / stack.bucket)) if stack.bucket else layers
    whole = run.zero_stage == 0 or shards.ranks < copies.ranks or stack.bucket == np.inf
    apart = max(pieces, shards.ranks) if stack.broadcast else pieces  # to each rank its own
    if whole:
        calls.add("gradient_link", index, REDUCE, size, copies, 1.0, pieces)
    else:
        calls.add("gradient_link", index, SCATTER, size, copies, 1.0, apart)
    if run.zero_stage:
        calls.add("weight_link", index, GATHER, weights, shards, 1.0, apart)


def _of_step(calls: _Calls, index: int, run: Run) -> None:
    """Gradients summed over replicas, weights gathered from an optimizer's shards, the update.

    Where only some ranks share an optimizer, gradients are summed over all replicas and weights
    gathered among those few.
    """
    if run.zero_stage < 3 and not run.frozen:
        _of_gradients(calls, index, run, gradient_group(run), shard_group(run),
                      shared_parameters(run))  # fmt: skip
        copies = replica_group(run)
        _of_gradients(calls, index, run, copies, copies, stage_experts(run))
    updated = shared_parameters(run) / (shard_group(run).ranks if run.zero_stage else 1)
    updated += stage_experts(run) / (replica_group(run).ranks if run.zero_stage else 1)
    rate = run.machine.memory_bandwidth * calls.times.memory_share
    calls.plain["optimizer"][index] += 0.0 if run.frozen else OPTIMIZER_BYTES * updated / rate
    if run.pp == 1:
        return
    size = activation_bytes(run)
    replicas = max(1.0, run.gpus_per_node / run.layout.tp)
    if stages_leave_node(run):  # TP ranks send a part each and gather it on the other side
        cards = run.node_bandwidth or np.nan
        calls.plain["handover_net"][index] += size * replicas / cards  # both directions at once
        calls.add("handover_link", index, GATHER, size, tensor_group(run), 2.0)
    else:
        link = run.machine.link_among(2) or np.nan
        calls.plain["handover_link"][index] += size / link
    if run.model.tied and not run.frozen:
        copy = counted(run).embedding / run.layout.tp * ITEMSIZE[run.kernels.dtype]
        cards = (run.node_bandwidth or np.nan) / run.gpus_per_node
        calls.plain["tied_net"][index] += copy / cards if stages_leave_node(run) else 0.0
