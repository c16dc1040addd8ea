"""Time of fused attention on one accelerator: operations, traffic, tiles and grouped queries.

Columns in: batch, seq, heads, kv_heads, head_dim, optionally kv_seq (default seq) and causal (1,
the default, or 0), and machine facts. Seconds out. `tiled` is the forward kernel of a stack, as
inference tables measure it; `trained` the kernels that training programs call, forward and backward
apart, by generation and architecture: their figures stand in `attention_kernels.toml`. Formulas:
docs/kernels.md.

Source: operations and traffic are those of FlashAttention (Dao et al. 2022; Dao 2023); rates of
`trained` are published ones, fixtures/anchors/attention_training.csv names them.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.model.frames import PREDICTION, predictions
from assay.model.kernels.kernel import (
    Columns,
    Floats,
    Kernel,
    Parameter,
    Values,
    inputs,
    rows,
    with_facts,
)
from assay.model.machines.datasheets import machine

SHAPE = ("batch", "seq", "heads", "kv_heads", "head_dim", "peak", "memory_bandwidth", "sms",
         "itemsize")  # fmt: skip

OPTIONAL = ("kv_seq", "causal")

BACKWARD = 2.5
"""Operations of the backward pass over the forward's: five products (the scores again, and four
gradients) instead of two."""

GENERATIONS = ("flash1", "triton1", "flash2", "flash3", "cudnn")
"""Fused kernels that training programs call, in the order in which they came."""

BLOCK = 128
"""Queries of one thread block."""

CALL = 6e-6
"""Seconds of a published rate that go into the call: of 10 µs a profile shows 4 (141 tokens of
BERT on H100, where the work is small)."""

WIDE = 128
"""Head size from which on a kernel's rate is the same."""


def flop(table: Columns) -> Floats:
    """Operations of both products, 4·b·h·s·s_kv·d; a causal mask leaves half of them.

    With more keys than queries (a cache) the mask only cuts the corner of the new positions.
    """
    queries, keys = table["seq"], _keys(table)
    masked = table.get("causal", np.ones_like(queries)) * queries * queries / 2.0
    pairs = queries * keys - masked
    return 4.0 * table["batch"] * table["heads"] * table["head_dim"] * pairs


def query_traffic(table: Columns) -> Floats:
    """Bytes of Q and of the result, each read or written once."""
    width = table["heads"] * table["head_dim"] * table["itemsize"]
    return 2.0 * table["batch"] * table["seq"] * width


def key_traffic(table: Columns) -> Floats:
    """Bytes of K and V, each once: kv_heads of them are shared by groups of query heads."""
    width = table["kv_heads"] * table["head_dim"] * table["itemsize"]
    return 2.0 * table["batch"] * _keys(table) * width


def traffic(table: Columns) -> Floats:
    """Bytes that must cross the memory at least once: Q, K, V and the result."""
    return query_traffic(table) + key_traffic(table)


def roofline(table: Columns, values: Values) -> Floats:
    """t = max(F/P, B/BW)."""
    return np.maximum(flop(table) / table["peak"], traffic(table) / table["memory_bandwidth"])


def tiled(table: Columns, values: Values) -> Floats:
    """Work over all multiprocessors, the longest tile of one of them, and the traffic.

    compute = (all^p + last^p)^(1/p): `all` is F at `compute` of the peak, `last` one tile of `tile`
    queries against every key on one multiprocessor, p = `balance` how well the two overlap (1: the
    last tile comes on top). The traffic is added, K and V counting `kv_reads` times: heads that
    share them do not all find them in the cache. Long kernels lose up to `throttle` of the clock.
    """
    rate = values["compute"] * table["peak"]
    every = flop(table) / rate
    last = 4.0 * values["tile"] * _keys(table) * table["head_dim"] * table["sms"] / rate
    power = values["balance"]
    top = np.maximum(every, last)
    compute = top * ((every / top) ** power + (last / top) ** power) ** (1.0 / power)
    moved = query_traffic(table) + values["kv_reads"] * key_traffic(table)
    busy = compute + moved / (values["memory"] * table["memory_bandwidth"])
    sunk = 1.0 + values["throttle"] * np.minimum(busy / 1e-3, 1.0)
    return values["launch"] + busy * sunk


def trained(table: Columns, values: Values) -> Floats:
    """A kernel of a training program: its rate, what each block loses, blocks over multiprocessors.

    rate = compute·narrow^log2(128/d)·(`masked` under a causal mask) of the peak, d up to 128; of a
    whole block `fill` keys' worth of time goes into starting and ending it, whatever the sequence.
    A column `window` is how many of the last keys a query sees (infinite: all of them): its block
    meets those that it covers and half of the one on its edge in vain.
    Blocks have `BLOCK` queries and meet keys by the `BLOCK`, the last of either as long as the
    others; they spread evenly over the multiprocessors, and fewer than these leave some idle. A
    column `products` counts operations over the forward's (`BACKWARD`), `pieces` the kernels into
    which keys that arrive one part after the other cut a pass: every block starts in each of them.
    """
    blocks: Floats = np.ceil(table["seq"] / BLOCK)
    keys: Floats = np.ceil(_keys(table) / BLOCK) * BLOCK
    whole = {**table, "seq": blocks * BLOCK, "kv_seq": keys}
    whole["causal"] = (  # the same share of all pairs is masked, however the blocks are filled up
        table.get("causal", np.ones(1)) * (table["seq"] / _keys(table)) * (keys / whole["seq"])
    )
    narrow = values["narrow"] ** np.log2(WIDE / np.minimum(table["head_dim"], WIDE))
    masked = np.where(table.get("causal", np.ones(1)) > 0, values["masked"], 1.0)
    rate = values["compute"] * narrow * masked * table["peak"]
    pairs = table["batch"] * table["heads"]
    queries = 4.0 * pairs * table["head_dim"] * whole["seq"]
    every: Floats = flop(whole) / queries  # keys of a query, on average
    share = np.minimum(table.get("window", np.full(1, np.inf)) / keys, 1.0)
    near = keys * (share - share * share / 2.0) + BLOCK / 2.0
    visited = np.where(share < 1.0, np.minimum(every, near), every)
    work: Floats = table.get("products", np.ones(1)) * visited * queries
    idle = np.maximum(1.0, table["sms"] / (pairs * blocks))
    pieces = table.get("pieces", np.ones(1))
    compute: Floats = work * (1.0 + values["fill"] * pieces / visited) * idle / rate
    moved = table.get("products", np.ones(1)) * traffic(table) / table["memory_bandwidth"]
    spent: Floats = values["launch"] * pieces + np.maximum(compute, moved)
    return spent


def generation(text: str) -> str:
    """The kernel that a program's words or a profile's name of it mean; LookupError lists them.

    >>> generation("flash_attn 2.3.2"), generation("FlashAttention-3"), generation("flash1")
    ('flash2', 'flash3', 'flash1')
    >>> generation("triton"), generation("cuDNN fused attention")
    ('triton1', 'cudnn')
    >>> generation("void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<...>")
    'flash2'
    """
    plain = re.sub(r"[\s_-]+", "", text.lower())
    named = re.match(r"(?:torch|sdpa)?flash(?:attn|attention)?v?([0-9])?", plain)
    if "cudnn" in plain or plain == "fused":
        return "cudnn"
    if "triton" in plain:
        return "triton1"
    if known := compiled(text):
        return known
    if named is None:
        raise LookupError(f"no attention kernel is called {text!r}; known are {GENERATIONS}")
    number = named.group(1) or "2"
    return f"flash{min(max(int(number), 1), 3)}"


def compiled(text: str) -> str | None:
    """The kernel that a profile calls so; None for names of other kernels.

    >>> compiled("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x64x128")
    'cudnn'
    >>> compiled("attn_fwd"), compiled("flash_attn 2.3.2")
    ('triton1', None)
    """
    plain = text.lower().replace("_", "")
    return next((name for mark, name in NAMES.items() if mark in plain), None)


NAMES = {
    "cudnngenerated": "cudnn",
    "flashattnfwdsm90": "flash3",
    "flashattnbwdsm90": "flash3",
    "flashfwd": "flash2",
    "flashbwd": "flash2",
    "fmhafwdloop": "flash1",
    "fmhabwddqdkdvloop": "flash1",
    "attnfwd": "triton1",
    "bwdkerneldkdv": "triton1",
    "bwdkerneldq": "triton1",
}
"""Parts of the names of compiled kernels, without underscores: of the projects themselves, of
PyTorch, of cuDNN and of Triton, whose kernels PyTorch takes on AMD's machines (AOTriton)."""


def training_time(
    table: Columns,
    kernels: str | npt.NDArray[np.str_],
    architecture: str,
    direction: str = "forward",
) -> Floats:
    """Seconds of one pass of attention under the kernel of each row (one of `GENERATIONS`).

    `direction` is forward or backward, the latter with all its five products; LookupError for
    other words.
    """
    if direction not in ("forward", "backward"):
        raise LookupError(f"a pass is forward or backward, not {direction!r}")
    table = {**table, "products": np.ones(len(table["batch"]))}
    if direction == "backward":
        table["products"] = table["products"] * BACKWARD
    named = np.broadcast_to(np.asarray(kernels), table["batch"].shape)
    seconds = np.empty(len(named))
    for name in np.unique(named):
        mine = named == name
        seconds[mine] = trained(rows(table, mine), figures(str(name), architecture, direction))
    return seconds


def figures(name: str, architecture: str, direction: str) -> dict[str, float]:
    """Parameters of `trained` for one kernel, architecture and pass.

    An architecture without figures takes those of the one it is most like, in shares of the peak
    that FlashAttention 2 reaches on either; a kernel that does not run there is that one.
    """
    if name not in GENERATIONS:
        raise LookupError(f"no attention kernel is called {name!r}; known are {GENERATIONS}")
    known = _kernels()
    near = str(known["like"].get(architecture, architecture))
    own, common = known[name], known["flash2"]
    near = near if near in common else "hopper"
    if near in own:
        return _parameters(own[near][direction])
    if name in known["newer"]:
        return _parameters(common[near][direction])
    share = common[near][direction]["compute"] / common["ampere"][direction]["compute"]
    found = _parameters(own["ampere"][direction])
    return found | {"compute": found["compute"] * share}


def _parameters(entry: Mapping[str, Any]) -> dict[str, float]:
    return {one.name: float(entry.get(one.name, one.start)) for one in TRAINED.parameters}


@functools.cache
def _kernels() -> Mapping[str, Any]:
    text = (resources.files(__package__) / "attention_kernels.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _keys(table: Columns) -> Floats:
    return table.get("kv_seq", table["seq"])


ROOFLINE = Kernel("attention_roofline", "attention", SHAPE, (), roofline, OPTIONAL)

TILED = Kernel(
    "attention_tiled",
    "attention",
    SHAPE,
    (
        Parameter("compute", "1", 0.65, 0.1, 1.05, "share of the dense peak that is reached"),
        Parameter("memory", "1", 0.8, 0.1, 1.2, "share of the memory bandwidth that is reached"),
        Parameter("kv_reads", "1", 1.5, 0.5, 20.0, "times that K and V are fetched"),
        Parameter("launch", "s", 1e-5, 1e-7, 1e-4, "time of an empty kernel"),
        Parameter("tile", "1", 80.0, 8.0, 512.0, "queries of one tile"),
        Parameter("balance", "1", 2.0, 1.0, 8.0, "1: the last tile comes on top; high: it hides"),
        Parameter("throttle", "1", 0.02, 1e-4, 0.5, "slow-down of kernels longer than 1 ms"),
    ),
    tiled,
    OPTIONAL,
)
TRAINED = Kernel(
    "attention_trained",
    "attention",
    SHAPE,
    (
        Parameter("compute", "1", 0.5, 0.05, 1.0, "share of the dense peak, heads of 128"),
        Parameter("narrow", "1", 0.9, 0.3, 2.0, "rate with heads of 64 over heads of 128"),
        Parameter("fill", "1", 150.0, 1.0, 2000.0, "keys worth of time that a block costs"),
        Parameter("masked", "1", 0.95, 0.5, 1.1, "rate per operation under a causal mask"),
        Parameter("launch", "s", 1e-5, 1e-7, 1e-4, "time of an empty kernel"),
    ),
    trained,
    (*OPTIONAL, "products", "pieces", "window"),
)
KERNELS = {kernel.name: kernel for kernel in (ROOFLINE, TILED, TRAINED)}
"""Every attention model by name."""


def predict(
    cases: pl.DataFrame,
    kernel: Kernel = ROOFLINE,
    values: Values | None = None,
    *,
    label: str = "",
) -> pl.DataFrame:
    """Prediction frame of forward times for a frame with case, machine, dtype and the shape.

    `label` names the model in the frame (default: the kernel's name).

    >>> one = pl.DataFrame({"case": ["a"], "machine": ["H100"], "dtype": ["bf16"], "batch": [1],
    ...                     "seq": [8192], "heads": [32], "kv_heads": [8], "head_dim": [128]})
    >>> predict(one)["value"].round(6).to_list()
    [0.000556]
    """
    table = with_facts(cases)
    time = kernel.time(inputs(kernel, table), values or kernel.starts)
    return predictions(
        table.with_columns(time=pl.Series(time)),
        pl.col("time"),
        scope="attention",
        quantity="time",
        unit="s",
        model=label or kernel.name,
        basis=kernel.basis,
    )


def predict_compiled(cases: pl.DataFrame, *, label: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Times of cases whose column `kernel` is a profile's name of a training kernel, and the rest.

    A pass is backward where the name or the column `direction` says so. A profile times the kernel
    and not the call (`CALL`).
    """
    if "kernel" not in cases.columns:
        return pl.DataFrame(schema=PREDICTION), cases
    names = {text: compiled(text) for text in cases["kernel"].drop_nulls().unique()}
    said = pl.concat_str("kernel", "direction", separator=" ", ignore_nulls=True)
    told = cases.with_columns(
        generation=pl.col("kernel").replace_strict(names, default=None, return_dtype=pl.String),
        backward=said.str.contains("(?i)back|bwd|bprop"),
    )
    parts = [pl.DataFrame(schema=PREDICTION)]
    for (name, accelerator, back), alike in told.drop_nulls("generation").group_by(
        "generation", "machine", "backward", maintain_order=True
    ):
        table = with_facts(alike)
        time = training_time(
            inputs(TRAINED, table),
            str(name),
            machine(str(accelerator)).generation,
            "backward" if back else "forward",
        )
        parts.append(
            predictions(
                table.with_columns(time=pl.Series(time - CALL)),
                pl.col("time"),
                scope="attention",
                quantity="time",
                unit="s",
                model=label,
                basis=f"{training_time.__module__}.{training_time.__qualname__}",
            )
        )
    rest = told.filter(pl.col("generation").is_null()).drop("generation", "backward")
    return pl.concat(parts), rest
