"""Time of collectives: ring, tree and in-network, inside one node and across nodes.

Columns in: operation (a code of `OPERATIONS`), bytes (of the whole message: what every rank holds
after an all-gather, before a reduce-scatter, on both sides of an all-reduce or all-to-all), ranks,
and machine facts; optionally ranks_per_node (default: all ranks in one node) and sharing, the
number of groups that use a node's network cards at the same time (default: as many as fill the
node, so that each accelerator has its part of the cards). Seconds out.

Source: docs/kernels.md; bus bandwidth as the tests of NCCL define it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.model.frames import predictions
from assay.model.kernels.kernel import (
    Columns,
    Floats,
    Kernel,
    Parameter,
    Values,
    inputs,
    with_facts,
)

OPERATIONS = ("all_gather", "all_reduce", "all_to_all", "reduce_scatter", "p2p")
"""Codes are positions in this tuple."""

SPELLINGS = {"alltoall": "all_to_all", "allreduce": "all_reduce", "allgather": "all_gather",
             "reducescatter": "reduce_scatter", "sendrecv": "p2p", "send_recv": "p2p",
             "allr": "all_reduce", "allg": "all_gather", "redsct": "reduce_scatter"}  # fmt: skip

SHAPE = ("operation", "bytes", "ranks", "link_bandwidth", "in_network")

OPTIONAL = ("ranks_per_node", "sharing", "node_bandwidth", "gpus_per_node")

GATHER, REDUCE, SWAP, SCATTER, PAIR = range(len(OPERATIONS))


def operation(text: str) -> str:
    """Canonical name of an operation; LookupError lists the names.

    >>> operation("alltoall"), operation("AllReduce"), operation("all-gather")
    ('all_to_all', 'all_reduce', 'all_gather')
    """
    plain = text.strip().lower().replace("-", "_").removesuffix("_perf").removesuffix("_")
    plain = SPELLINGS.get(plain.replace("_", ""), SPELLINGS.get(plain, plain))
    if plain in OPERATIONS:
        return plain
    raise LookupError(f"no collective is called {text!r}; known are {', '.join(OPERATIONS)}")


def wire_bytes(code: Floats, size: Floats, ranks: Floats) -> Floats:
    """Bytes that each rank sends around a ring, or straight to its peers for an all-to-all.

    all-reduce 2·(n−1)/n·S, all-gather, reduce-scatter and all-to-all (n−1)/n·S, point to point S.

    >>> wire_bytes(np.array([1.0, 0.0, 4.0]), np.array([8.0, 8.0, 8.0]), np.array([4.0, 4.0, 2.0]))
    array([12.,  6.,  8.])
    """
    others = (ranks - 1.0) / ranks
    share = np.where(code == REDUCE, 2.0 * others, others)
    return size * np.where(code == PAIR, 1.0, share)


def bus_bandwidth(code: Floats, size: Floats, ranks: Floats, seconds: Floats) -> Floats:
    """B/s in one direction of one rank: comparable with the link whatever operation and ranks."""
    return wire_bytes(code, size, ranks) / seconds


def ring_steps(code: Floats, ranks: Floats) -> Floats:
    """Messages that wait for each other: 2·(n−1) for an all-reduce, none in an all-to-all.

    Units: a count, for each row of operations and ranks n.
    """
    once = ranks - 1.0
    at_once = (code == SWAP) | (code == PAIR)
    return np.where(at_once, 0.0, np.where(code == REDUCE, 2.0 * once, once))


def pipelined(volume: Floats, bandwidth: Floats, segment: float) -> Floats:
    """Time of a volume through a pipeline cut into the best number of segments.

    More segments fill the pipeline sooner and each costs `segment` seconds: at the optimum
    V/B + 2·√(segment·V/B).
    """
    plain = volume / bandwidth
    return np.asarray(plain + 2.0 * np.sqrt(segment * plain))


def ring(table: Columns, values: Values) -> Floats:
    """Latency, steps, pipelined transfer over the slowest part of the ring, and the own share.

    The own share S/n is copied inside the device. Where the ring leaves the node, all its bytes
    cross the node's network cards, which `sharing` groups use at once.
    """
    code, size, ranks = table["operation"], table["bytes"], table["ranks"]
    volume = wire_bytes(code, size, ranks)
    steps = values["latency"] + values["step"] * ring_steps(code, ranks)
    link = table["link_bandwidth"]
    time = steps + pipelined(volume, values["link"] * link, values["segment"])
    own = np.where(code == PAIR, 0.0, size / ranks)
    time = time + own / (values["copy"] * link)
    return np.maximum(time, steps + _network(table, volume, values))


def tree(table: Columns, values: Values) -> Floats:
    """All-reduce up and down a binary tree of nodes, each node a chain of its ranks.

    2·(⌈log₂ nodes⌉ + r − 1) steps; every rank sends the whole message twice. Inside one node that
    is a ring's latency at a greater volume, so only groups of several nodes gain.
    """
    ranks, inside = table["ranks"], table.get("ranks_per_node", table["ranks"])
    height = np.ceil(np.log2(np.maximum(ranks / inside, 1.0))) + inside - 1.0
    steps = values["latency"] + values["step"] * 2.0 * height
    volume = 2.0 * table["bytes"]
    moved = pipelined(volume, values["link"] * table["link_bandwidth"], values["segment"])
    return steps + np.maximum(moved, _network(table, volume, values))


def in_network(table: Columns, values: Values) -> Floats:
    """All-reduce in the switch of one node: a rank sends S to be added and S/n to be shared.

    Units: seconds, from columns of bytes and ranks.
    """
    volume = table["bytes"] * (1.0 + 1.0 / table["ranks"])
    bandwidth = values["switch"] * table["link_bandwidth"]
    return values["switch_latency"] + pipelined(volume, bandwidth, values["segment"])


def collective(table: Columns, values: Values) -> Floats:
    """The fastest algorithm that the operation, the machine and the layout allow.

    Units: seconds, a row each, from columns of bytes and ranks.
    """
    time = ring(table, values)
    reduce = table["operation"] == REDUCE
    time = np.where(reduce, np.minimum(time, tree(table, values)), time)
    switched = reduce & (table["in_network"] > 0) & (table["ranks"] > 2) & ~_leaves_node(table)
    return np.where(switched, np.minimum(time, in_network(table, values)), time)


def _leaves_node(table: Columns) -> npt.NDArray[np.bool_]:
    inside = table.get("ranks_per_node", table["ranks"])
    return np.asarray(table["ranks"] > inside, dtype=np.bool_)


def _network(table: Columns, volume: Floats, values: Values) -> Floats:
    """Seconds on the network cards of one node; 0 where the group stays inside a node.

    A ring leaves a node once, whatever it holds of it; in an all-to-all each of its r ranks sends
    the part that is meant for the n − r ranks elsewhere.
    """
    away = _leaves_node(table)
    if not away.any():
        return np.zeros_like(volume)
    ranks, inside = table["ranks"], table.get("ranks_per_node", table["ranks"])
    swap = table["operation"] == SWAP
    crossing = np.where(swap, inside * table["bytes"] * (ranks - inside) / ranks, volume)
    fill = table.get("gpus_per_node", inside) / inside
    sharing = table.get("sharing", np.maximum(fill, 1.0))
    share = table.get("node_bandwidth", np.full_like(volume, np.nan)) / sharing
    return np.where(away, crossing / (values["network"] * share), 0.0)


COLLECTIVE = Kernel(
    "collective",
    "collective",
    SHAPE,
    (
        Parameter("latency", "s", 6e-6, 1e-7, 1e-4, "time of an empty collective"),
        Parameter("step", "s", 6e-7, 1e-9, 1e-5, "each further message of a ring"),
        Parameter("segment", "s", 3e-6, 1e-8, 1e-4, "cost of one more segment of the pipeline"),
        Parameter("link", "1", 0.85, 0.2, 1.05, "share of the link bandwidth that is reached"),
        Parameter("copy", "1", 2.5, 0.3, 50.0, "own share: copy speed over link bandwidth"),
        Parameter("switch", "1", 0.72, 0.2, 1.05, "share of the link for in-network reduction"),
        Parameter("switch_latency", "s", 3e-5, 1e-6, 2e-4, "time of an empty in-network reduction"),
        Parameter("network", "1", 0.7, 0.1, 1.0, "share of the network cards that is reached"),
    ),
    collective,
    OPTIONAL,
)


def encode(cases: pl.DataFrame) -> pl.DataFrame:
    """`cases` with the names in its column `op` as codes in a column `operation`."""
    names = {name: operation(name) for name in cases["op"].unique().drop_nulls()}
    codes = {name: float(OPERATIONS.index(known)) for name, known in names.items()}
    return cases.with_columns(operation=pl.col("op").replace_strict(codes, return_dtype=pl.Float64))


def predict(cases: pl.DataFrame, values: Values | None = None, *, label: str = "") -> pl.DataFrame:
    """Prediction frame for a frame with case, machine, dtype, op, bytes and ranks.

    >>> one = pl.DataFrame({"case": ["a"], "machine": ["H100"], "dtype": ["fp16"],
    ...                     "op": ["all_reduce"], "bytes": [2**29], "ranks": [8]})
    >>> predict(one)["value"].round(4).to_list()
    [0.002]
    """
    table = with_facts(encode(cases))
    time = collective(inputs(COLLECTIVE, table), values or COLLECTIVE.starts)
    return predictions(
        table.with_columns(time=pl.Series(time)),
        pl.col("time"),
        scope="collective",
        quantity="time",
        unit="s",
        model=label or COLLECTIVE.name,
        basis=COLLECTIVE.basis,
    )
