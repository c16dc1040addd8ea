"""Work of one rank on one micro-batch: a run in, kernel calls and seconds by kind out.

Calls of many runs are collected first and timed at once per machine, because a kernel model works
on columns. Seconds are sums over forward, gradients and recomputation.

Source: docs/model.md, on what a rank executes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from assay.model.kernels.gemm import misaligned
from assay.model.kernels.kernel import Floats
from assay.model.kernels.kernel import rows as rows_of
from assay.model.machines.dtypes import ITEMSIZE, NARROW
from assay.model.stacks.kernel_times import KernelTimes, plain_rate
from assay.model.transformer.decoder import block_operations, blocks, logits
from assay.model.transformer.operations import Attention, Gemm, Operation
from assay.model.transformer.parallel import layer_parameters
from assay.model.transformer.passes import Passes, passes
from assay.model.transformer.traffic import Traffic, layer_traffic
from assay.model.transformer.training_run import Run


def forwards(run: Run) -> float:
    """Times that a layer's forward pass runs in a micro-batch, the mean of layers.

    Full recomputation runs it again in `recomputed` of the layers; selective recomputation repeats
    the attention core alone, or a share of the products that the software says. Units: a count.
    """
    return 1.0 + again(run)


def again(run: Run) -> float:
    """Share of a layer's forward pass that is computed again; see `forwards`. Units: a share."""
    shares = {"full": run.recomputed, "selective": run.software.selective}
    return shares.get(run.recompute, 0.0)


AUTOCAST = {"forward": 16.0, "backward": 18.0}
"""Bytes an element that a norm under automatic casting moves beyond a fused one of 16-bit values
(4 forward, 6 backward): cast to fp32 (2 + 4), normed (4 + 4) and cast back (4 + 2); its gradient
cast (2 + 4), the norm's own pass (8 + 4) and cast back (4 + 2)."""

EAGER = {"forward": 30.0, "backward": 60.0}
"""The same of a norm in single operators on fp32: cast (2 + 4), square (4 + 4), mean (4), product
(4 + 4), cast (4 + 2) and weight (2 + 2), less the fused 4; backward each of them twice."""

ROTATED, GATED = {"forward": 18.0, "backward": 18.0}, {"forward": 4.0, "backward": 10.0}
"""Bytes an element of queries and keys, and one of the MLP's width, that single operators move
beyond fused ones: two products, a turn (negated half and joined) and a sum for 4; activation
and product apart for 6."""

PAIRS = 4
"""Sequences times heads of a rank come in multiples of this, or Megatron's fused softmax does not
apply (`FusedScaleMaskSoftmax.is_kernel_available`); five operators widen, scale, mask, raise and
narrow, and six take the gradient back."""

UNMERGED = {"forward": 32.0, "backward": 34.0}
"""Bytes a score that these move beyond the fused softmax: 6 + 8 + 8 + 8 + 6 for 4 forward."""

FP8_SHARE = 0.95
"""Products of 8-bit values reach this much of their peak over what 16-bit ones reach of theirs:
1.90 and 1.92 times the rate, quantised beforehand, on H200 NVL and B300 (Transformer Engine's
documentation, GEMM profiling; 15,872 tokens, widths of 4,096 and 16,384)."""

SCALING = {"delayed": (1.0, 1.0), "current": (1.94, 1.0), "mx": (1.84, 0.95), "block": (2.78, 1.0)}
"""By how 8-bit values are scaled: time of their casts over that under delayed scaling, and rate of
their products over that of tensor-wise factors. Same tables: casts of a layer take 2.19 ms delayed
and 3.50 current on H200 NVL (6.10 by blocks, slower products counted), 0.99, 2.34 and 1.82 in MX on
B300, where MX products take 7.16 ms for 6.81."""

FP4_SHARE = 0.58
"""The same of 4-bit values: 3.48 times the rate of 16-bit ones, of a peak 6 times theirs, on B300
(same tables)."""

FP4_CAST = 2.7
"""Time of casting to 4 bits, with its transforms and rounding, over that to 8: 2.69 ms a layer on
B300 where 8 bits take 0.99 (same tables)."""

CAST_BYTES = 4.0
"""An element quantised in a pass of its own: 2 read, 1 and its transposed copy written."""

CAST_SHARE = 0.54
"""Of the memory bandwidth, which such a pass reaches: by the same tables a layer's 5.0 GB of casts
(inputs, gradients, weights; delayed scaling) take 2.19 ms on H200 NVL, 0.47, and 0.99 ms on B300,
0.63; geometric mean."""

HOST_PER_KERNEL = 51e-6
"""Seconds of the host between two kernels of an eager PyTorch program: the geometric mean of what
four profiler traces have, 27.4, 31.6, 75.4 and 103 µs (decoders on two hosts, smaller models)."""

MASK = 0.5
"""Size of a dropout mask relative to a tensor of 16-bit elements."""


SPLIT_ROWS = ("proj", "fc2", "mamba_out")
"""Ends of the names of products whose rows of weights are split among tensor-parallel ranks."""


class Call(NamedTuple):
    """An operation of run `run`, `times` times as often as its own count says.

    `transposed`: the first factor of a weight gradient lies in memory the other way round.
    """

    run: int
    operation: Operation
    times: float
    transposed: bool = False


@dataclass(frozen=True)
class Work:
    """Seconds for one layer (mean over layers) and for the output head, one micro-batch each."""

    layer_matrix: Floats  # products on tensor cores
    layer_plain: Floats  # misaligned products, on the plain cores
    layer_attention: Floats
    layer_memory: Floats
    head_matrix: Floats
    head_plain: Floats
    head_memory: Floats
    layer_launch: Floats  # of the host


def work(runs: Sequence[Run], times: KernelTimes) -> Work:
    """Kernel seconds of every run; all runs use one machine and its `times`."""
    layers: list[Call] = []
    heads: list[Call] = []
    for index, run in enumerate(runs):
        layers += layer_calls(index, run)
        heads += head_calls(index, run)
    size = len(runs)
    layer_matrix, layer_plain = _gemm_seconds(layers, runs, times, size)
    head_matrix, head_plain = _gemm_seconds(heads, runs, times, size)
    bandwidth = np.array([run.machine.memory_bandwidth for run in runs]) * times.memory_share
    return Work(
        layer_matrix=layer_matrix,
        layer_plain=layer_plain,
        layer_attention=_attention_seconds(layers, runs, times, size),
        layer_memory=np.array([_moved(run) for run in runs]) / bandwidth
        + np.array([cast_seconds(run) for run in runs]),
        head_matrix=head_matrix,
        head_plain=head_plain,
        head_memory=np.array([head_bytes(run) for run in runs]) / bandwidth,
        layer_launch=HOST_PER_KERNEL * np.array([layer_kernels(run) for run in runs]),
    )


def layer_calls(index: int, run: Run) -> list[Call]:
    """Operations of one layer, all passes; a mixture's dense and sparse layers weighted."""
    found = []
    at = {"micro_batch": run.micro_batch, "seq_len": run.seq_len}
    for block, share in blocks(run.model):
        forward = block_operations(run.model, run.layout, run.kernels, block, **at)
        for policy, part in _policies(run):
            every = _in_parts(run, _trained(run, _stopped(run, passes(forward, recompute=policy))))
            found += _calls(index, every, share * part)
    return found


def _stopped(run: Run, every: Passes) -> Passes:
    """The passes without the product that ends a layer, where computing again stops before it.

    Its result is needed by no gradient, unless experts' results are weighted after it.
    """
    last = every.recompute[-1:]
    if run.software.early_stop and any(isinstance(one, Gemm) and not _at_once(one) for one in last):
        return every._replace(recompute=every.recompute[:-1])
    return every


def _in_parts(run: Run, every: Passes) -> Passes:
    """The products that tensor-parallel traffic runs beside, cut among its ranks by tokens.

    Forward all are: a part is multiplied as it arrives, or leaves as it is done. Backward those are
    whose input gradients need all tokens at once (after attention, down from an MLP); traffic of
    the others runs beside a whole product. Source: Transformer Engine's methods of overlap by
    product (`ring_exchange`, `pipeline`, `bulk`).
    """
    parts, tokens = run.layout.tp, run.micro_batch * run.seq_len // run.layout.cp
    if parts == 1 or not run.layout.sequence_parallel or "tensor" not in run.software.hidden:
        return every

    def cut(one: Operation) -> Operation:
        if isinstance(one, Attention) or _at_once(one) or one.m != tokens:
            return one  # what sees a rank's own tokens alone waits for nobody
        return replace(one, m=one.m // parts, count=one.count * parts)

    return every._replace(
        forward=tuple(cut(one) for one in every.forward),
        dgrad=tuple(cut(one) if one.name.endswith(SPLIT_ROWS) else one for one in every.dgrad),
        recompute=tuple(cut(one) for one in every.recompute),
    )


def _trained(run: Run, every: Passes) -> Passes:
    """The passes without gradients of frozen weights; what adapters beside them do is left out."""
    if not run.frozen:
        return every
    kept = tuple(one for one in every.wgrad if isinstance(one, Gemm) and not one.weight)
    return every._replace(wgrad=kept)


def _policies(run: Run) -> list[tuple[str, float]]:
    """Policies of recomputation and the share of layers under each."""
    share = again(run)
    rest = "none" if run.recompute == "full" else run.recompute
    every = [("full", share), (rest, 1.0 - share)]
    return [one for one in every if one[1] > 0.0]


def head_calls(index: int, run: Run) -> list[Call]:
    """The output projection and its gradients.

    Shapes of products in rows of m, n, k: tokens and columns of the vocabulary.
    """
    return _calls(index, _trained(run, passes([head(run)])), 1.0)


def head(run: Run) -> Gemm:
    """The output projection; a run that only shards (ZeRO-3, FSDP) does not pad its vocabulary.

    An odd vocabulary then makes the largest product of a small model a misaligned one.
    """
    product = logits(
        run.model, run.layout, run.kernels, micro_batch=run.micro_batch, seq_len=run.seq_len
    )
    if run.zero_stage == 3 and run.layout.tp == 1:
        return replace(product, n=run.model.vocab)
    return product


def _calls(index: int, every: Passes, share: float) -> list[Call]:
    return [
        Call(index, operation, share, group is every.wgrad)
        for group in every
        for operation in group
    ]


def layer_bytes(run: Run) -> float:
    """Bytes that norms, activations, softmax, residuals and dropout of one layer move."""
    moved = _parameter_gradients(run)
    at = {"micro_batch": run.micro_batch, "seq_len": run.seq_len}
    for block, share in blocks(run.model):
        width = _visited_width(run) if block.mlp == "sparse" else None
        rows = layer_traffic(run.model, run.layout, run.kernels, width=width, block=block, **at)
        moved += share * _passes(rows, forwards(run))
        moved += share * _permuted(run) if block.mlp == "sparse" else 0.0
    if run.kernels.attention == "unfused":
        moved += _dropout(run)
        if _unmerged(run):
            moved += _beyond(run, UNMERGED, _scores(run) * ITEMSIZE[run.kernels.dtype])
    if run.software.norms == "autocast":
        moved += 2.0 * _beyond(run, AUTOCAST, _own(run))
    if run.software.norms == "eager":
        moved += _eager(run)
    return moved


def _beyond(run: Run, each: Mapping[str, float], tensor: float) -> float:
    """Bytes of all passes, `each` an element of a tensor of so many bytes."""
    passes = forwards(run) * each["forward"] + each["backward"]
    return tensor / ITEMSIZE[run.kernels.dtype] * passes


def _eager(run: Run) -> float:
    """Bytes that norms, rotary positions and gates of single operators move beyond fused ones."""
    model = run.model
    column = activation_bytes(run) / model.hidden / run.layout.tp
    moved = 2.0 * _beyond(run, EAGER, _own(run))
    if model.positions == "rotary":
        heads = (model.heads + model.kv_heads) * model.head_dim
        moved += _beyond(run, ROTATED, column * heads)
    if model.gated:
        width = sum(
            share * (_visited_width(run) if block.mlp == "sparse" else model.ffn_hidden)
            for block, share in blocks(model)
            if block.mlp
        )
        moved += _beyond(run, GATED, column * width)
    return moved


def _permuted(run: Run) -> float:
    """Every token copied to each of its experts and summed from them, and both back again."""
    experts = run.model.experts
    if experts is None:
        return 0.0
    own = activation_bytes(run) * run.layout.experts_split / run.layout.tp
    own *= (experts.latent or run.model.hidden) / run.model.hidden
    copies = 2.0 * (1 + experts.per_token) * own  # one side once, the other k times
    return copies * (forwards(run) + 1)


def cast_seconds(run: Run) -> float:
    """Seconds for what norms, activations and their gradients do not quantise while they write.

    Forward the result of attention; backward the gradients of both blocks' results and of the
    queries, keys and values. Where activations are kernels of their own, also what they write, and
    the gradients of what they read.
    """
    if run.kernels.linear_dtype not in NARROW:
        return 0.0
    model = run.model
    rows = run.micro_batch * run.seq_len / run.layout.cp
    columns = (2 * model.heads + 2 * model.kv_heads) * model.head_dim / run.layout.tp
    if run.software.casts == "apart":
        columns += model.mlp_matrices * model.ffn_hidden / run.layout.tp
    moved = CAST_BYTES * rows * (columns + 2.0 * model.hidden)
    times = SCALING[run.software.scaling][0]
    if run.kernels.linear_dtype == "fp4":
        times = FP4_CAST
    return times * moved / (CAST_SHARE * run.machine.memory_bandwidth)


def _moved(run: Run) -> float:
    """Bytes that all passes of a mean layer move outside its products and attention."""
    return layer_bytes(run) + accumulated_bytes(run) + copied_bytes(run)


def copied_bytes(run: Run) -> float:
    """Bytes that copies of weights and gradients move, where each parameter is sharded by itself.

    Gathered weights are copied out of what arrived, before either pass; gradients into what is
    scattered, in its format. Source: FSDP2 of PyTorch (`foreach_all_gather_copy_out`,
    `reduce_scatter_copy_in`); FSDP1's flat parameters need none.
    """
    if run.zero_stage < 3 or not run.software.copies:
        return 0.0
    gathered = 2.0 * 2.0 * run.software.gathered
    scattered = 0.0 if run.frozen else ITEMSIZE[run.kernels.dtype] + run.software.reduced
    return (gathered + scattered) * layer_parameters(run)


def accumulated_bytes(run: Run) -> float:
    """Bytes that adding up the gradients of a mean layer moves in a micro-batch."""
    if run.frozen:
        return 0.0
    times = 1.0 if run.software.accumulation == "product32" else 1.0 - 1.0 / run.micro_batches
    return times * run.software.accumulated * layer_parameters(run)


def layer_kernels(run: Run) -> float:
    """Kernels of one layer that the host launches for one micro-batch, all passes.

    Forward: four products, two norms, an activation, two additions, of attention one fused kernel
    or two products, a softmax and a dropout, and three that turn heads. Backward: each product
    twice, a norm and an addition of biases twice, attention twice, and additions to gradients.
    Rotary positions are two kernels either way; tensor-parallel ranks communicate twice each way.
    Single operators (`eager`): four more for each norm and each rotation, one for a gate. A layer
    of one block has half of them.
    """
    unfused = run.kernels.attention == "unfused"
    rotary = 2 if run.model.positions == "rotary" else 0
    shared = 2 if run.layout.tp > 1 else 0
    core = 4 if unfused else 1
    matrices = 4 + (4 if run.kernels.linear_dtype in NARROW else 0)
    forward = matrices + 2 + 1 + 2 + core + 3 + rotary + shared
    tensors = 12 if run.model.biases == "all" else 6
    added = tensors if run.software.accumulation.startswith("added") else 0
    biases = 4 if run.model.biases == "all" else 0
    backward = 2 * matrices + 4 + 1 + 2 + biases + 2 * core + 3 + rotary + shared + added
    if unfused and _unmerged(run):
        forward, backward = forward + 4, backward + 5
    if run.software.norms == "eager":
        apart = 2 * 4 + rotary * 4 + (1 if run.model.gated else 0)
        forward, backward = forward + apart, backward + 2 * apart
    every = float(forwards(run) * forward + backward)
    return every * run.model.blocks_per_layer / 2.0


def head_bytes(run: Run) -> float:
    """Bytes of the cross-entropy, both passes, as the software makes them."""
    product = head(run)
    return run.software.cross_entropy * product.m * product.n


def activation_bytes(run: Run) -> float:
    """One activation of the width of the model, all tokens of a micro-batch on a rank."""
    rows = run.micro_batch * run.seq_len / run.layout.cp
    return rows * run.model.hidden * ITEMSIZE[run.kernels.dtype]


def _scores(run: Run) -> float:
    """Elements of the attention scores of a rank."""
    return run.micro_batch * run.model.heads / run.layout.tp * run.seq_len**2 / run.layout.cp


def _unmerged(run: Run) -> bool:
    """Whether attention in separate products has no fused softmax either."""
    pairs = run.micro_batch * run.model.heads // run.layout.tp
    return run.software.name == "megatron-2021" and pairs % PAIRS > 0


def _dropout(run: Run) -> float:
    """Dropout of the attention probabilities and of the two outputs, as unfused stacks have it.

    Forward fused with the addition of the residual it only writes a mask; backward it is a pass.
    """
    elements = _scores(run) * ITEMSIZE[run.kernels.dtype]
    times = forwards(run)
    outputs = 2.0 * _own(run) * (MASK * times + 2.0 + MASK)
    return (2.0 + MASK) * elements * (times + 1) + outputs


def _parameter_gradients(run: Run) -> float:
    """Activations read once more for the gradients of norms (input and gradient) and of biases."""
    if run.frozen:
        return 0.0
    model, own = run.model, _own(run)
    moved = 2.0 * model.blocks_per_layer * own
    if model.biases == "none":
        return moved
    split = activation_bytes(run) / run.layout.tp / model.hidden
    moved += split * (model.heads + 2 * model.kv_heads) * model.head_dim
    if model.biases == "all":
        moved += 2.0 * own + split * (model.mlp_matrices - 1) * model.ffn_hidden
    return moved


def _own(run: Run) -> float:
    """Bytes of an activation outside the products: a share of it under sequence parallelism."""
    return activation_bytes(run) / (run.layout.tp if run.layout.sequence_parallel else 1)


def _visited_width(run: Run) -> int:
    """MLP width that a token visits in a sparse layer, to the multiple that TP needs."""
    experts = run.model.experts
    if experts is None:
        return run.model.ffn_hidden
    width = experts.per_token * experts.ffn_hidden + experts.shared_ffn_hidden
    return width - width % run.layout.tp


def _passes(rows: Iterable[Traffic], times: float) -> float:
    return float(sum(times * each.forward + each.backward for each in rows))


def _gemm_seconds(
    calls: Iterable[Call], runs: Sequence[Run], times: KernelTimes, size: int
) -> tuple[Floats, Floats]:
    """Seconds of products on tensor cores, and of misaligned ones on plain cores."""
    chosen = [(one, one.operation) for one in calls if isinstance(one.operation, Gemm)]
    aligned, plain = np.zeros(size), np.zeros(size)
    if not chosen:
        return aligned, plain
    at = np.array([one.run for one, _ in chosen])
    table = {
        "b": np.array([float(op.count) if _at_once(op) else 1.0 for _, op in chosen]),
        "m": np.array([float(op.m) for _, op in chosen]),
        "n": np.array([float(op.n) for _, op in chosen]),
        "k": np.array([float(op.k) for _, op in chosen]),
        "a_transposed": np.array([float(one.transposed) for one, _ in chosen]),
        "plain": np.array([_plain(runs[one.run]) for one, _ in chosen]),
    } | _facts(chosen, runs)
    repeats = np.array([one.times * (1.0 if _at_once(op) else op.count) for one, op in chosen])
    share = np.array([_narrow_share(runs[one.run], op.dtype) for one, op in chosen])
    seconds = times.gemm(table) * repeats / share
    odd = misaligned(table) & ~np.isnan(table["plain"])
    np.add.at(aligned, at[~odd], seconds[~odd])
    np.add.at(plain, at[odd], seconds[odd])
    return aligned, plain


def _narrow_share(run: Run, dtype: str) -> float:
    """Share of its peak that a product of `dtype` reaches, over that which 16-bit ones reach."""
    if dtype == "fp8":
        return FP8_SHARE * SCALING[run.software.scaling][1]
    return FP4_SHARE if dtype == "fp4" else 1.0


def _plain(run: Run) -> float:
    """Rate of misaligned products, flop/s; nan where the libraries have tensor-core kernels."""
    return plain_rate(run.machine) if run.software.misaligned == "plain" else float("nan")


def _at_once(product: Gemm) -> bool:
    """Whether all of its count run as one kernel: products of activations, and grouped experts."""
    return not product.weight or product.name.startswith("expert_")


def _attention_seconds(
    calls: Iterable[Call], runs: Sequence[Run], times: KernelTimes, size: int
) -> Floats:
    chosen = [(one, one.operation) for one in calls if isinstance(one.operation, Attention)]
    total = np.zeros(size)
    if not chosen:
        return total
    table = {
        "batch": np.array([float(op.batch) for _, op in chosen]),
        "seq": np.array([float(op.queries) for _, op in chosen]),
        "kv_seq": np.array([float(op.keys) for _, op in chosen]),
        "heads": np.array([float(op.heads) for _, op in chosen]),
        "kv_heads": np.array([float(op.kv_heads) for _, op in chosen]),
        "causal": np.array([op.keys / op.queries if op.causal else 0.0 for _, op in chosen]),
        "head_dim": np.array([(op.qk_dim + op.v_dim) / 2.0 for _, op in chosen]),
        "pieces": np.array([float(runs[one.run].layout.cp) for one, _ in chosen]),
        "window": np.array([float(op.window or np.inf) for _, op in chosen]),
    } | _facts(chosen, runs)
    at = np.array([one.run for one, _ in chosen])
    weights = np.array([one.times for one, _ in chosen])
    generation = np.array([runs[one.run].software.attention for one, _ in chosen])
    back = np.array([op.products != (1, 1) for _, op in chosen])
    for direction, mask in (("forward", ~back), ("backward", back)):
        if mask.any():
            spent = times.attention(rows_of(table, mask), generation[mask], direction)
            np.add.at(total, at[mask], spent * weights[mask])
    return total


def _facts(chosen: Sequence[tuple[Call, Operation]], runs: Sequence[Run]) -> dict[str, Floats]:
    machines = [runs[one.run].machine for one, _ in chosen]
    return {
        "peak": np.array(
            [machine.peak(op.dtype) for machine, (_, op) in zip(machines, chosen, strict=True)]
        ),
        "memory_bandwidth": np.array([machine.memory_bandwidth for machine in machines]),
        "sms": np.array([float(machine.sms) for machine in machines]),
        "l2_bytes": np.array([machine.l2_bytes for machine in machines]),
        "itemsize": np.array([float(ITEMSIZE[op.dtype]) for _, op in chosen]),
    }
