"""How a run is laid out on its accelerators: which groups there are, and what they share.

Ranks are numbered tensor, then context, then data, then pipeline (the order of Megatron and of
DeepSpeed's pipelines), node after node. A group whose members sit on several nodes shares the
network cards of each with the other groups that leave it. `faults` says, with the numbers, why a
configuration cannot exist.

Units: ranks, an accelerator each. Source: the rank order of Megatron-LM (Narayanan et al. 2021);
docs/model.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from assay.model.transformer.parameters import ParameterCount, parameters
from assay.model.transformer.passes import RECOMPUTE
from assay.model.transformer.training_run import Run

ZERO_STAGES = (0, 1, 2, 3)

LAUNCHES = ("async", "blocking")

SLOWEST = 1e6
"""B/s, 8 Mb/s: less than the first Ethernet had: a smaller figure has another unit."""


class Group(NamedTuple):
    """One of the groups that a rank belongs to.

    `ranks` members, `inside` of them on one node, `sharing` groups at a node's network cards at a
    time. All members on one node: `inside` = `ranks`, and the network is not used.
    """

    ranks: int
    inside: int
    sharing: int

    @property
    def leaves_node(self) -> bool:
        """Whether its ring crosses the network."""
        return self.inside < self.ranks


def group(ranks: int, stride: int, per_node: int) -> Group:
    """The group of `ranks` members that are `stride` ranks apart, `per_node` of them a node.

    >>> group(4, 8, 8)  # data-parallel under TP 8: one member a node, eight rings share its cards
    Group(ranks=4, inside=1, sharing=8)
    >>> group(8, 4, 8)  # under TP 4: two members a node, four rings
    Group(ranks=8, inside=2, sharing=4)
    >>> group(8, 1, 8)
    Group(ranks=8, inside=8, sharing=1)
    """
    inside = max(1, min(ranks, per_node // stride))
    return Group(ranks, inside, max(1, per_node // inside))


def tensor_group(run: Run) -> Group:
    """The ranks that share one layer's matrices."""
    return group(run.layout.tp, 1, run.gpus_per_node)


def context_group(run: Run) -> Group:
    """The ranks that share one sequence."""
    return group(run.layout.cp, run.layout.tp, run.gpus_per_node)


def expert_group(run: Run) -> Group:
    """The ranks that share one layer's experts."""
    return group(run.layout.ep, run.layout.experts_split, run.gpus_per_node)


def gradient_group(run: Run) -> Group:
    """The ranks that hold the same parameters: data-parallel and context-parallel together."""
    return group(run.dp * run.layout.cp, run.layout.tp, run.gpus_per_node)


def replica_group(run: Run) -> Group:
    """The ranks that hold the same routed experts."""
    split = run.layout.ep * run.layout.experts_split
    ranks = max(1, run.dp * run.layout.cp * run.layout.tp // split)
    return group(ranks, split, run.gpus_per_node)


def shard_group(run: Run) -> Group:
    """The ranks that share one optimizer: all of the gradient group, or the first few of it."""
    every = run.dp * run.layout.cp
    ranks = min(run.shard_ranks or every, every)
    return group(ranks, run.layout.tp, run.gpus_per_node)


def stage_stride(run: Run) -> int:
    """Ranks from one pipeline stage to the next."""
    return run.layout.tp * run.layout.cp * run.dp


def stages_leave_node(run: Run) -> bool:
    """Whether some hand-over between stages crosses the network: the slowest one sets the pace."""
    return run.pp > 1 and stage_stride(run) * run.pp > run.gpus_per_node


def gpus(run: Run) -> int:
    """Accelerators of the run: TP·CP·PP·DP, a definition.

    Experts are split over ranks of the data-parallel group and add none.
    """
    return stage_stride(run) * run.pp


def stage_layers(layers: int, pp: int) -> tuple[int, ...]:
    """Layers of each stage; where they do not divide, the first stages have one more.

    >>> stage_layers(80, 9)
    (9, 9, 9, 9, 9, 9, 9, 9, 8)
    """
    each, more = divmod(layers, pp)
    return tuple(each + int(stage < more) for stage in range(pp))


def counted(run: Run) -> ParameterCount:
    """Parameters of the whole model."""
    return parameters(run.model)


def layer_parameters(run: Run) -> float:
    """Parameters of a mean layer on one tensor-parallel rank, experts divided among EP."""
    return dense_parameters(run) + expert_parameters(run)


def dense_parameters(run: Run) -> float:
    """Parameters of a mean layer that every data-parallel rank holds."""
    every = counted(run)
    dense = every.attention + every.mlp + every.norms + every.router
    return dense / run.layout.tp / run.model.layers


def expert_parameters(run: Run) -> float:
    """Parameters of this rank's routed experts in a mean layer."""
    split = run.layout.experts_split * run.layout.ep
    return counted(run).experts / split / run.model.layers


def stage_parameters(run: Run) -> float:
    """Parameters of the heaviest stage on one rank: its layers and an embedding."""
    return shared_parameters(run) + stage_experts(run)


def shared_parameters(run: Run) -> float:
    """Parameters of the heaviest stage that every data-parallel rank holds."""
    every = counted(run)
    layers = stage_layers(run.model.layers, run.pp)[0]
    ends = every.embedding + every.positions if run.pp > 1 else every.embedding + every.head
    return layers * dense_parameters(run) + ends / run.layout.tp


def stage_experts(run: Run) -> float:
    """Parameters of this rank's routed experts in the heaviest stage."""
    return stage_layers(run.model.layers, run.pp)[0] * expert_parameters(run)


def faults(run: Run, *, gpus_given: int | None = None) -> tuple[str, ...]:
    """Why the run cannot exist, one sentence with its numbers each; empty where it can.

    `gpus_given` is the number of accelerators the run claims to use.
    """
    degrees = (run.layout.tp, run.layout.cp, run.layout.ep, run.pp, run.dp, run.interleave)
    if min(*degrees, run.micro_batch, run.micro_batches) < 1:
        return ("every degree and every batch is at least 1",)
    return (*_count_faults(run, gpus_given), *_shape_faults(run), *_expert_faults(run),
            *_policy_faults(run))  # fmt: skip


def _count_faults(run: Run, given: int | None) -> list[str]:
    said, total = [], gpus(run)
    tp, cp, pp, dp = run.layout.tp, run.layout.cp, run.pp, run.dp
    if given is not None and total != given:
        said.append(f"TP {tp} x CP {cp} x PP {pp} x DP {dp} = {total} GPUs, the run has {given}")
    cards = run.node_bandwidth
    if total > run.gpus_per_node and cards is None:
        nodes = math.ceil(total / run.gpus_per_node)
        said.append(
            f"{total} GPUs are {nodes} nodes of {run.gpus_per_node}, and no network bandwidth of a "
            f"node is known"
        )
    elif total > run.gpus_per_node and cards is not None and cards < SLOWEST:
        said.append(f"a network of {cards:g} B/s a node is below {SLOWEST:g} B/s, the least known")
    beside = min(total, run.gpus_per_node)
    if beside > 1 and run.machine.link_bandwidth is None:
        said.append(f"{beside} GPUs share a node, and no link bandwidth between them is known")
    return said


def _shape_faults(run: Run) -> list[str]:
    model, tp, cp = run.model, run.layout.tp, run.layout.cp
    tokens, said = run.micro_batch * run.seq_len // cp, []
    if model.heads % tp:
        said.append(f"{model.heads} heads do not divide among TP {tp}")
    if model.kv_heads > tp and model.kv_heads % tp:
        said.append(f"{model.kv_heads} kv heads do not divide among TP {tp}")
    if model.ffn_hidden % tp:
        said.append(f"an MLP width of {model.ffn_hidden} does not divide among TP {tp}")
    if run.seq_len % cp:
        said.append(f"{run.seq_len} tokens do not divide among CP {cp}")
    elif run.layout.sequence_parallel and tokens % tp:
        said.append(f"{tokens} tokens do not divide among TP {tp} under sequence parallelism")
    if run.pp * run.interleave > model.layers:
        said.append(
            f"{model.layers} layers are fewer than PP {run.pp} x {run.interleave} chunks of a stage"
        )
    if run.interleave > 1 and run.pp == 1:
        said.append(f"{run.interleave} chunks per stage need a pipeline; PP is 1")
    return said


def _expert_faults(run: Run) -> list[str]:
    model, ep = run.model, run.layout.ep
    ranks = run.dp * run.layout.cp * run.layout.tp
    if model.experts is None:
        return [f"EP {ep} on {model.name or 'a model'} without experts"] if ep > 1 else []
    if model.experts.routed % ep:
        return [f"{model.experts.routed} experts do not divide among EP {ep}"]
    return [f"EP {ep} does not divide the {ranks} ranks of a stage"] if ranks % ep else []


def _policy_faults(run: Run) -> list[str]:
    said = []
    if run.zero_stage not in ZERO_STAGES:
        said.append(f"ZeRO stage {run.zero_stage} is none of 0, 1, 2, 3")
    if run.recompute not in RECOMPUTE:
        said.append(f"recompute {run.recompute!r} is none of {', '.join(RECOMPUTE)}")
    if run.launch not in LAUNCHES:
        said.append(f"launch {run.launch!r} is none of {', '.join(LAUNCHES)}")
    return said


def check(run: Run, *, gpus_given: int | None = None) -> Run:
    """The run itself. Raises ValueError with every fault where it cannot exist on its GPUs."""
    said = faults(run, gpus_given=gpus_given)
    if said:
        raise ValueError("this configuration cannot exist: " + "; ".join(said))
    return run
