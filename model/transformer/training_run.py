"""One row of a configuration frame as a model, a layout and a machine.

Columns are those of `frames.CONFIGURATION_CASE`. Where a frame has them too, `gated` (the MLP has a
third matrix), `sequence_parallel`, `attention` (unfused, flash, or a generation of it),
`node_bandwidth` (B/s, one direction), `cp`, `ep`, `vp` (chunks of an interleaved stage), `launch`
(blocking or async), `shard_ranks` (that share an optimizer), `checkpoints` and the columns that
`software` reads are used; absent they are no, as the software has it, the machine's own figure, 1,
1, 1, async, all data-parallel ranks, on the device.
`experts` above 1 is a mixture, which a named shape or `experts_per_token`, `expert_ffn_hidden`,
`shared_ffn_hidden` and `dense_layers` spell out; `expert_tp` ranks share an expert's matrices.
`recomputed` is the share of layers that full recomputation computes again. `trained_part` of
`ADAPTERS` leaves the weights as they are.
A column `model` that names a shape of `shapes.toml` gives the whole shape.

Source: definition of the frame; machine facts are from machines.toml, which cites them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.model.machines.datasheets import Machine, machines
from assay.model.machines.dtypes import NARROW
from assay.model.machines.software import SoftwareStack, software
from assay.model.transformer.decoder import Kernels, Layout
from assay.model.transformer.shapes import Experts, Model, shapes

NEEDED = (
    "machine", "dtype", "gpus", "hidden", "layers", "heads", "seq_len", "vocab", "tp", "pp", "dp",
    "micro_batch", "global_batch", "recompute",
)  # fmt: skip


ADAPTERS = ("lora", "peft")
"""Words of `trained_part` for low-rank adapters beside frozen 16-bit weights (arXiv 2106.09685)."""


@dataclass(frozen=True)
class Run:
    """Everything about one training run that a step model asks for.

    Units: `seq_len` tokens, `micro_batch` sequences, degrees in ranks, bandwidths B/s.
    """

    model: Model
    layout: Layout
    kernels: Kernels
    machine: Machine
    dtype: str
    seq_len: int
    pp: int
    dp: int
    micro_batch: int
    micro_batches: int  # per step and pipeline
    gpus_per_node: int
    node_bandwidth: float | None  # B/s, one direction, all cards of a node; None: not known
    zero_stage: int
    recompute: str
    software: SoftwareStack
    interleave: int = 1  # chunks of layers per pipeline stage
    launch: str = "async"  # blocking: the host waits for every kernel
    checkpoints: str = "device"  # split among TP ranks, or on the host: inputs kept to recompute
    shard_ranks: int = 0  # ranks that share one optimizer; 0: all data-parallel ones
    frozen: bool = False  # weights get no gradients: adapters beside them are trained
    recomputed: float = 1.0  # share of the layers that full recomputation computes again

    @property
    def network_per_gpu(self) -> float | None:
        """Share of one GPU in its node's network cards, B/s in one direction; None: not known."""
        if self.node_bandwidth is None:
            return None
        return self.node_bandwidth / self.gpus_per_node


def run(row: Mapping[str, Any]) -> Run | None:
    """The run of one row; None where something needed is unknown or the shape contradicts itself.

    >>> row = dict(machine="A100-80g", dtype="fp16", gpus=384, hidden=14336, layers=72, heads=64,
    ...            seq_len=2048, vocab=250880, tp=8, pp=6, dp=8, micro_batch=4, global_batch=2048,
    ...            recompute="full")
    >>> run(row).micro_batches, run(row).model.ffn_hidden
    (64, 57344)
    >>> run(row | {"heads": None}) is None
    True
    """
    if any(row.get(name) is None for name in NEEDED):
        return None
    accelerator = machines().get(row["machine"])
    if accelerator is None or row["dtype"] not in accelerator.peaks:
        return None
    model = _model(row)
    if model is None:
        return None
    stack = software(row, accelerator)
    parallel = row.get("sequence_parallel")
    if parallel is None:
        parallel = row["tp"] > 1 and stack.attention != "unfused"
    ep, stage = row.get("ep") or 1, row.get("zero_stage") or 0
    layout = Layout(
        tp=row["tp"],
        cp=row.get("cp") or 1,
        ep=ep,
        expert_tp=row.get("expert_tp") or (1 if ep > 1 else None),
        sequence_parallel=bool(parallel),
    )
    return Run(
        model=model,
        layout=layout,
        kernels=Kernels(
            attention="unfused" if stack.attention == "unfused" else "flash",
            linear_dtype=row["dtype"],
            dtype="bf16" if row["dtype"] in NARROW else row["dtype"],
        ),
        machine=accelerator,
        dtype=row["dtype"],
        seq_len=row["seq_len"],
        pp=row["pp"],
        dp=row["dp"],
        micro_batch=row["micro_batch"],
        micro_batches=math.ceil(row["global_batch"] / (row["dp"] * row["micro_batch"])),
        gpus_per_node=int(accelerator.node(row.get("gpus_per_node")) or 1),
        node_bandwidth=accelerator.cards(row.get("gpus_per_node"), row.get("node_bandwidth")),
        zero_stage=stack.piped if stage == 3 and row["pp"] > 1 else stage,
        recompute=row["recompute"],
        interleave=row.get("vp") or 1,
        launch=row.get("launch") or "async",
        software=stack,
        checkpoints=row.get("checkpoints") or "device",
        shard_ranks=row.get("shard_ranks") or 0,
        frozen=(row.get("trained_part") or "").lower() in ADAPTERS,
        recomputed=1.0 if row.get("recomputed") is None else row["recomputed"],
    )


def _model(row: Mapping[str, Any]) -> Model | None:
    """The shape that the row names or spells out; None where its heads do not group.

    A row spells experts out where it says how many of them a token visits.
    """
    named = shapes().get(row.get("model") or "")
    if named is not None:
        return named
    kv_heads = row.get("kv_heads") or row["heads"]
    routed = row.get("experts") or 1
    if row["heads"] % kv_heads or (routed > 1 and row.get("experts_per_token") is None):
        return None
    experts = None
    if routed > 1:
        experts = Experts(
            routed=routed,
            per_token=row["experts_per_token"],
            ffn_hidden=row.get("expert_ffn_hidden") or row.get("ffn_hidden") or 4 * row["hidden"],
            shared_ffn_hidden=row.get("shared_ffn_hidden") or 0,
            dense_layers=row.get("dense_layers") or 0,
        )
    gated = bool(row.get("gated"))
    return Model(
        name=row.get("case", ""),
        hidden=row["hidden"],
        layers=row["layers"],
        heads=row["heads"],
        kv_heads=kv_heads,
        head_dim=row.get("head_dim") or row["hidden"] // row["heads"],
        ffn_hidden=row.get("ffn_hidden") or 4 * row["hidden"],
        vocab=row["vocab"],
        context=row["seq_len"],
        gated=gated,
        norm="rms" if gated else "layer",
        biases="none" if gated else "all",
        positions="rotary" if gated else "learned",
        tied=not gated,
        experts=experts,
    )
