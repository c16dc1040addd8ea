"""The schedule of a training step: seconds of its parts in, seconds of the step out.

    T = pace · (m · longest + (all stages − longest) / v) + gradients + tied + optimizer

m micro-batches run through PP stages (1F1B); `longest` is the stage that sets the pace: its layers,
what it hands over, and on the last one the output head. With v chunks per stage (interleaving) the
pipeline fills v times faster. A layer takes its kernels and collectives; a host that waits for each
kernel adds its own time to every layer and micro-batch, one that runs ahead makes it a floor and
leaves gaps, `exposed`. A fully sharded layer's weights are gathered beside the pass before, or
after it; its gradients are scattered beside the next backward pass. What a stack hides of gradients
and weights runs beside the last backward and the first forward pass, but for a layer or embedding.
Seconds; formulas: docs/model.md.

Source: docs/model.md; 1F1B and interleaving, Narayanan et al., arXiv 2104.04473.
"""

from __future__ import annotations

import numpy as np
from assay.model.kernels.kernel import Columns, Floats, Kernel, Parameter, Values

SHAPE = (
    "layer_matrix", "layer_plain", "layer_attention", "layer_memory", "layer_exchange",
    "layer_net", "layer_swap", "context_link", "context_net", "layer_launch", "shard_link",
    "shard_net", "scatter_link", "scatter_net",
    "head_matrix", "head_plain", "head_memory",
    "head_exchange", "first_exchange",
    "handover_link", "handover_net", "gradient_link", "gradient_net", "weight_link", "weight_net",
    "tied_net", "optimizer", "backward", "tail", "after", "hide_gradients", "hide_weights",
    "hide_swap", "hide_context", "pieces",
    "layers", "layers_first", "layers_last", "stages", "micro_batches", "chunks", "blocking",
    "later", "network_share",
)  # fmt: skip
"""Columns of a component table: seconds at the stack's rates, then the schedule; `backward` is the
share of a layer's time after its forward pass; `tail` that of an embedding in what a rank holds,
whose gradient comes last and whose weights are needed first; `after`, `hide_gradients` and
`hide_weights` say what the software does, `hide_swap` by how much tokens that travel beside the
kernels of another micro-batch slow these (0: they do not), `hide_context` whether the ring of keys
runs beside attention, which it cuts into `pieces`; `later` marks rows after a change of the
hardware."""


def breakdown(table: Columns, values: Values) -> dict[str, Floats]:
    """Seconds of a step by what they are spent on; they add up to `step_time`.

    compute, attention, memory and exchange are those of the stage that sets the pace, over all
    micro-batches; bubble is what the pipeline's filling and draining adds; waiting is the overhead
    of launching and what sharding could not hide.
    """
    parts = _layer(table, values)
    layer = parts["time"]
    head, first = _head(table, values), table["first_exchange"]
    handover = table["handover_link"] + table["handover_net"] / table["network_share"]
    end = table["layers_last"] * layer + head + np.where(table["stages"] == 1, first, 0.0)
    begin = table["layers_first"] * layer + first
    longest = np.maximum(end, begin) + handover
    every = table["layers"] * layer + head + first + table["stages"] * handover
    steady = table["micro_batches"] * longest
    pace = np.where(table["later"] > 0, values["pace"], 1.0)
    last = end >= begin
    layers = np.where(last, table["layers_last"], table["layers_first"])
    times = pace * table["micro_batches"]
    share = np.where(last, 1.0, 0.0)
    seconds = {
        "compute": times * (
            values["slowdown"] * (layers * table["layer_matrix"] + share * table["head_matrix"])
            + layers * table["layer_plain"]
            + share * values["odd_head"] * table["head_plain"]
        ),
        "attention": times * layers * values["attention"] * table["layer_attention"],
        "memory": times * (layers * table["layer_memory"] + share * table["head_memory"]),
        "exchange": times * layers * parts["exchange"],
        "handover": times * handover,
        "bubble": pace * (every - longest) / table["chunks"],
        "gradients": _step_traffic(table, values, layers * parts["time"], layers)
        + table["tied_net"] / values["network"],
        "optimizer": table["optimizer"],
    }  # fmt: skip
    seconds["waiting"] = pace * steady - sum(
        seconds[name] for name in ("compute", "attention", "memory", "exchange", "handover")
    )
    return seconds


def step_time(table: Columns, values: Values) -> Floats:
    """Seconds of one iteration for rows of `SHAPE`."""
    parts = breakdown(table, values)
    return np.asarray(sum(parts.values(), np.zeros(len(table["layers"]))))


def _layer(table: Columns, values: Values) -> dict[str, Floats]:
    """Seconds of one layer and micro-batch, and those of its collectives."""
    attention = values["attention"] * table["layer_attention"]
    ring = table["context_link"] + table["context_net"] / values["network"]
    first = ring / np.maximum(table["pieces"], 1.0)  # it hides nowhere
    left = np.maximum(ring - attention, first)
    exchange = table["layer_exchange"] + table["layer_net"] / values["network"]
    exchange = exchange + np.where(table["hide_context"] > 0, left, ring)
    computed = (
        values["slowdown"] * table["layer_matrix"]
        + table["layer_plain"]
        + attention
        + table["layer_memory"]
    )
    computed = computed * (1.0 + table["hide_swap"])
    beside = np.where(table["hide_swap"] > 0, computed, 0.0)
    exchange = exchange + np.maximum(table["layer_swap"] - beside, 0.0)
    busy = computed + exchange
    host = values["overhead"] * table["layer_launch"]
    ahead = np.maximum(busy + values["exposed"], host)
    launched = np.where(table["blocking"] > 0, busy + host, ahead)
    backward = table["backward"] * launched
    gather = table["shard_link"] + table["shard_net"] / values["network"]
    scatter = table["scatter_link"] + table["scatter_net"] / values["network"]
    before = np.maximum(backward, gather + scatter)
    last = np.where(table["after"] > 0, gather + np.maximum(backward, scatter), before)
    return {"time": np.maximum(launched - backward, gather) + last, "exchange": exchange}


def _step_traffic(table: Columns, values: Values, stage: Floats, layers: Floats) -> Floats:
    """Seconds that gradients and gathered weights add; `stage`: a micro-batch's time on it."""
    spent = np.zeros_like(stage)
    for name, share in (("gradient", table["backward"]), ("weight", 1.0 - table["backward"])):
        whole = table[f"{name}_link"] + table[f"{name}_net"] / values["network"]
        left = np.maximum(whole - share * stage, whole * np.maximum(1.0 / layers, table["tail"]))
        spent = spent + np.where(table[f"hide_{name}s"] > 0, left, whole)
    return spent


def _head(table: Columns, values: Values) -> Floats:
    matrix = values["slowdown"] * table["head_matrix"] + values["odd_head"] * table["head_plain"]
    return matrix + table["head_memory"] + table["head_exchange"]


STEP = Kernel(
    "step",
    "configuration",
    SHAPE,
    (
        Parameter("slowdown", "1", 1.22, 0.7, 2.5, "products in a step over products alone"),
        Parameter("overhead", "1", 1.0, 0.01, 8.0, "host time of a kernel over that of traces"),
        Parameter("exposed", "s", 1e-6, 1e-7, 3e-2, "no kernel runs, per layer and micro-batch"),
        Parameter("network", "1", 0.6, 0.05, 1.2, "share of the network cards that is reached"),
        Parameter("attention", "1", 1.0, 0.5, 4.0, "fused attention in a step over alone"),
        Parameter("odd_head", "1", 0.35, 0.1, 1.5, "head over an odd vocabulary, over fp32 units"),
        Parameter("pace", "1", 1.0, 0.7, 1.4, "all but the network over an earlier epoch"),
    ),
    step_time,
)
"""Residual parameters: what kernels measured alone cannot know. At most three are fitted to one
campaign, `pace` where a campaign's hardware changed; the others keep their starts."""
