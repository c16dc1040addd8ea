"""Time of a mixture of experts on one rank: grouped products, and the exchange of their tokens.

Columns in: tokens, hidden, width (of one expert on this rank, gated: three matrices), topk, experts
(of the layer), ranks (that share them), optionally skew (exponent of a power law of popularity, 0
for even use) and tuned (1 where the library has a configuration for these experts), and machine
facts. Seconds out, for the busiest rank. Formulas and their figures: docs/kernels.md.

Source: tiles and paddings of SGLang's fused Triton kernel as its measured times tell them, and a
dispatch once to each rank; docs/kernels.md, "Mixtures of experts".
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
from assay.model.kernels.gemm import aligned
from assay.model.kernels.kernel import Columns, Floats, Kernel, Parameter, Values

SHAPE = ("tokens", "hidden", "width", "topk", "experts", "ranks", "peak", "memory_bandwidth",
         "itemsize")  # fmt: skip
OPTIONAL = ("skew", "tuned")

BLOCKS = (16.0, 32.0, 64.0, 128.0)
"""Rows of a tile: an expert's tokens fill whole tiles."""

DEFAULT_SMALL, DEFAULT = 0, 2
"""Places in `BLOCKS` of what a library without a configuration takes, for fewer tokens than experts
and for more."""

COLUMNS = 64.0
"""Columns of a tile."""

DIVISOR = 16
"""Elements: a kernel compiled at run time loads vectors only from dimensions that this divides."""

SPREAD = 0.5
"""Variance of an expert's tokens over their mean."""

DRAWS = 15
SEED = 1
MATRICES = 3.0


def flop(table: Columns) -> Floats:
    """Operations on the busiest rank where all ranks are used alike: 2·3·pairs·hidden·width."""
    pairs = table["tokens"] * table["topk"] / table["ranks"]
    return 2.0 * MATRICES * pairs * table["hidden"] * table["width"]


def grouped(table: Columns, values: Values) -> Floats:
    """Products of all experts of a rank, with the passes around them.

    compute: rows of whole tiles (`occupied`) at `compute` of the peak, less where few columns fill
    a tile (`narrow`) and where dimensions keep loads short (`loads`, a power); memory: the weights
    of the experts in use; (compute^joint + memory^joint)^(1/joint) of both. Where a library has no
    configuration for so few tokens, tiles of 16 rows run at `small` of the rate and hide behind the
    weights. A tuned kernel takes the best tile, its rate growing as rows/(rows + 64·`tile`).
    Gathering, activating and summing pass over every pair once more.
    """
    pairs, active, *rows = _occupied(table)
    hidden, width = table["hidden"], table["width"]
    load = aligned({"n": width, "k": width, "m": width, "itemsize": np.ones_like(width)})
    slow = (DIVISOR / load) ** values["loads"] * (1.0 + values["narrow"] * COLUMNS / width)
    columns = hidden * _filled(2.0 * width) + width * _filled(hidden)
    each = 2.0 * columns * slow / table["peak"]
    few = table["tokens"] <= table["experts"] / table["ranks"]
    plain = np.where(
        few,
        rows[DEFAULT_SMALL] / (values["small"] * values["compute"]),
        rows[DEFAULT] / values["compute"],
    )
    growing = [
        count * (block + COLUMNS * values["tile"]) / block
        for block, count in zip(BLOCKS, rows, strict=True)
    ]
    tuned = np.min(growing, axis=0) / values["tuned"]
    known = np.nan_to_num(table.get("tuned", np.zeros(1))) > 0
    compute = each * np.where(known, tuned, plain)
    bandwidth = values["memory"] * table["memory_bandwidth"]
    weights = active * MATRICES * hidden * width * table["itemsize"] / bandwidth
    joint = np.where(few & ~known, JOINT_SMALL, values["joint"])
    top = np.maximum(compute, weights)
    both = top * ((compute / top) ** joint + (weights / top) ** joint) ** (1.0 / joint)
    around = hidden * (1.0 + 1.0 / table["topk"]) + MATRICES * width
    busy = both + values["passes"] * pairs * around * table["itemsize"] / bandwidth
    sunk = 1.0 + values["throttle"] * np.minimum(busy / 1e-3, 1.0)
    return values["launch"] + busy * sunk


JOINT_SMALL = 4.0
"""How well the weights hide the multiplying where tiles are small: nearly the greater of both."""


def exchange(table: Columns, values: Values) -> Floats:
    """One way of an exchange inside a node: every token goes once to each rank that it visits.

    A column `dispatch` is 1 for the way out, with one byte an element, and 0 for the way back, with
    two; `sms` says how many multiprocessors copy (a fact of the call, not of the machine). The rate
    is that of the links or that of the copying ones, whichever is less.
    """
    out = table["dispatch"] > 0
    visited = table["ranks"] * (1.0 - _avoided(table))
    copies = visited * ((table["ranks"] - 1.0) + values["own"]) / table["ranks"]
    volume = table["tokens"] * table["hidden"] * np.where(out, 1.0, 2.0) * copies
    link = values["link"] * table["link_bandwidth"]
    copying = values["copy"] * table["sms"]
    rate = (link**-3.0 + copying**-3.0) ** (-1.0 / 3.0)
    per_pair = values["pair"] * table["tokens"] * table["topk"] / table["sms"]
    start = np.where(out, values["start"], values["start"] + values["back"])
    return start + volume / rate + np.where(out, per_pair, 0.0)


def _avoided(table: Columns) -> Floats:
    """Probability that none of a token's experts is on a given rank, experts drawn unlike."""
    missed = np.ones_like(table["tokens"])
    own = table["experts"] / table["ranks"]
    for place in range(int(np.max(table["topk"], initial=0.0))):
        left = table["experts"] - place
        share = np.maximum(left - own, 0.0) / np.maximum(left, 1.0)
        missed = np.where(place < table["topk"], missed * share, missed)
    return missed


def _filled(size: Floats) -> Floats:
    """Columns in whole tiles."""
    return np.ceil(size / COLUMNS) * COLUMNS


def _occupied(table: Columns) -> list[Floats]:
    """Per row of `table`: pairs on the busiest rank, experts in use, rows of tiles by `BLOCKS`."""
    skew = np.nan_to_num(table.get("skew", np.zeros(1)))
    columns = (table["tokens"], table["experts"], table["ranks"], table["topk"], skew)
    rows = np.broadcast_arrays(*columns)
    found = [occupied(*map(float, row)) for row in zip(*rows, strict=True)]
    return list(np.array(found, dtype=np.float64).reshape(-1, 2 + len(BLOCKS)).T)


@functools.lru_cache(maxsize=65536)
def occupied(
    tokens: float, experts: float, ranks: float, topk: float, skew: float
) -> tuple[float, ...]:
    """Pairs on the busiest rank, its experts in use, and rows of tiles for each of `BLOCKS`.

    Of each token that visits a rank all `topk` pairs are counted, as the programs do that mask what
    is not theirs: those that belong elsewhere fall to one expert. Popularities of a power law are
    drawn from x^-skew between 1 and 0.8·tokens, the median of `DRAWS` draws counts.
    """
    own = max(int(experts // ranks), 1)
    if skew <= 0:
        even = np.full(own, tokens * topk / ranks / own)
        visiting = min(tokens, max(even.sum(), 1.0))
        return _tiles(even, np.minimum(even, 1.0), visiting * topk if ranks > 1 else 0.0)
    random = np.random.default_rng(SEED)
    most = max(0.8 * tokens, 1.0001)
    found = []
    for _ in range(DRAWS):
        drawn = ((most ** (1 - skew) - 1) * random.uniform(size=own * int(ranks)) + 1) ** (
            1 / (1 - skew)
        )
        share = np.minimum(drawn / drawn.sum() * tokens * topk, tokens)
        share = np.minimum(share * (tokens * topk / share.sum()), tokens).reshape(int(ranks), own)
        busiest = share[share.sum(axis=1).argmax()]
        pairs = float(busiest.sum())
        meeting = tokens * (1.0 - max(1.0 - pairs / (tokens * topk), 0.0) ** topk)
        visiting = max(min(meeting, pairs), min(1.0, pairs))
        extra = visiting * topk if ranks > 1 else 0.0
        found.append(_tiles(busiest, -np.expm1(-busiest), extra))
    return tuple(float(one) for one in np.median(found, axis=0))


def _tiles(load: Floats, used: Floats, counted: float) -> tuple[float, ...]:
    """Result of `occupied`, from the pairs of each expert and the share of times it has any."""
    foreign = max(counted - float(load.sum()), 0.0)
    each = load / np.maximum(used, 1e-9)
    rows = [
        float((_whole(each, block) * used).sum() + np.ceil(foreign / block)) * block
        for block in BLOCKS
    ]
    return float(load.sum()) + foreign, max(float(used.sum()), 1.0), *rows


def _whole(load: Floats, block: float) -> Floats:
    """Mean number of tiles that as many rows fill which spread about `load`."""
    first = np.maximum(np.floor(load / block) - 2.0, 0.0)
    found = np.maximum(first, 1.0)
    spread = np.maximum(np.sqrt(SPREAD * load), 1e-9)
    for further in range(6):
        edge = first + further
        found = found + np.where(edge >= 1.0, _above((edge * block + 0.5 - load) / spread), 0.0)
    return found


def _above(deviations: npt.NDArray[np.float64]) -> Floats:
    """Probability of more than so many standard deviations, to 1e-4 (logistic, Tocher's)."""
    capped = np.clip(deviations, -8.0, 8.0)
    return 1.0 / (1.0 + np.exp(1.5976 * capped + 0.07056 * capped**3))


GROUPED = Kernel(
    "moe_grouped",
    "moe",
    SHAPE,
    (
        Parameter("compute", "1", 0.26, 0.05, 1.0, "share of the peak without a configuration"),
        Parameter("tuned", "1", 1.0, 0.1, 3.0, "share of the peak in large tuned tiles"),
        Parameter("tile", "1", 1.5, 0.1, 10.0, "rows, in 64, that halve a tuned rate"),
        Parameter("small", "1", 0.25, 0.05, 1.0, "rate with tiles of 16 rows over that with 64"),
        Parameter("memory", "1", 0.9, 0.3, 1.1, "share of the memory bandwidth that is reached"),
        Parameter("joint", "1", 1.5, 1.0, 8.0, "1: weights come on top; high: they hide"),
        Parameter("narrow", "1", 0.5, 0.01, 3.0, "what few columns cost"),
        Parameter("loads", "1", 0.35, 0.01, 1.5, "power of what short loads cost"),
        Parameter("passes", "1", 2.0, 0.2, 8.0, "times that the pairs are read or written"),
        Parameter("throttle", "1", 0.05, 1e-4, 0.5, "slow-down of layers longer than 1 ms"),
        Parameter("launch", "s", 1e-5, 1e-6, 1e-4, "time of the empty kernels"),
    ),
    grouped,
    OPTIONAL,
)  # fmt: skip
EXCHANGE = Kernel(
    "moe_exchange",
    "moe_exchange",
    ("tokens", "hidden", "topk", "experts", "ranks", "dispatch", "sms", "link_bandwidth"),
    (
        Parameter("start", "s", 2.7e-5, 1e-6, 1e-3, "time of an empty exchange out"),
        Parameter("back", "s", 1.2e-5, 1e-7, 1e-3, "what the way back takes more"),
        Parameter("link", "1", 0.85, 0.1, 1.1, "share of the links that is reached"),
        Parameter("copy", "B/s", 1.6e10, 1e9, 1e11, "bytes that one multiprocessor copies"),
        Parameter("own", "1", 0.3, 0.01, 1.0, "cost of a rank's own tokens over those it sends"),
        Parameter("pair", "s", 3e-8, 1e-10, 1e-6, "time of one multiprocessor to place a pair"),
    ),
    exchange,
)
KERNELS = {kernel.name: kernel for kernel in (GROUPED, EXCHANGE)}
"""Kernels of mixtures by name."""
