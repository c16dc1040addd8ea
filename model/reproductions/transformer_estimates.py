"""The per-layer tables of transformer-perf-estimates: 14 rows × 31 cells, their sums and shares.

In: `LAYER_CASE` frames, one row per table: batch, sequence, width, heads, depth and the
tensor-parallel degree that the document states, the block the table is about, and a machine. Out:
one prediction per numeric cell in SI (flop, B, s). A machine without a fact that a cell needs, more
ranks than its links join, or a second kind of parallelism leave those cells unpredicted.

Work and traffic of a layer's parts (`Cost`, in flop and elements) are counted as the tables count:
b sequences of l tokens, width e, h heads on this rank; every product is 2k − 1 flop per output, k
multiplies and k − 1 adds. Source: transformer-perf-estimates; the tables are the truth, the code
printed above them is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from assay.model.frames import PREDICTION

MODEL = "transformer-perf-estimates"

BASIS = "assay.model.reproductions.transformer_estimates.predict"

ELEMENT, MASK = 2, 1
"""Bytes of an element and of a mask element."""

LAYER_CASE: dict[str, pl.DataType] = {
    "case": pl.String(),
    "block": pl.String(),  # mlp or attention
    "batch": pl.Int64(),
    "seq_len": pl.Int64(),
    "hidden": pl.Int64(),
    "heads": pl.Int64(),
    "depth": pl.Int64(),
    "m1": pl.Int64(),  # tensor-parallel degree
    "m2": pl.Int64(),  # the second degree; only 1 is defined
    "matrix_flops": pl.Float64(),  # flop/s of the matrix units in the 2-byte type
    "vector_flops": pl.Float64(),  # flop/s of the vector units in the 2-byte type
    "memory_bandwidth": pl.Float64(),  # B/s
    "link_bandwidth": pl.Float64(),  # B/s, both directions together
    "link_domain": pl.Int64(),  # ranks that the links join
}


@dataclass(frozen=True)
class Model:
    """Dimensions of a document's model: b, l, e, h, depth, and the tensor-parallel degree m.

    Units: sequences, tokens, elements, heads, layers, ranks.
    """

    batch: int
    seq_len: int
    hidden: int
    heads: int
    depth: int
    m: int


@dataclass(frozen=True)
class Peaks:
    """Rates in flop/s and B/s; `link_domain` is how many ranks the links join."""

    matrix_flops: float
    vector_flops: float
    memory_bandwidth: float
    link_bandwidth: float
    link_domain: int


@dataclass(frozen=True)
class Layer:
    """A row of a table: its cost in flop and elements, and the collective, if any, of each pass."""

    name: str
    cost: Cost
    comm_fwd_type: str | None = None
    comm_bwd_type: str | None = None


def mlp(model: Model) -> tuple[Layer, ...]:
    """Rows of the MLP table: fc1 and fc2 split over m, dropout of the output over the sequence.

    Shapes: fc1 [b·l, e] × [e, 4e/m], fc2 [b·l, 4e/m] × [4e/m, e].

    >>> [layer.name for layer in mlp(Model(1, 2048, 12288, 96, 96, 4))]
    ['fc1', 'act', 'dpr1', 'fc2', 'dpr2']
    """
    b, l, e, m = model.batch, model.seq_len, model.hidden, model.m  # noqa: E741
    inner = 4 * e // m
    return (
        Layer("fc1", linear(b, l, e, inner, bias=True), comm_bwd_type="reducescatter"),
        Layer("act", activation(b * l * inner)),
        Layer("dpr1", dropout(b * l * inner)),
        Layer("fc2", linear(b, l, inner, e, bias=True), comm_fwd_type="reducescatter"),
        Layer("dpr2", dropout(b * (l // m) * e), comm_bwd_type="allgather"),
    )


def self_attention(model: Model) -> tuple[Layer, ...]:
    """Rows of the attention table: heads split over m, norms and dropout over the sequence.

    Shapes: qkv [b·l, e] × [e, 3e/m], scores [l, q] × [q, l], out [b·l, e/m] × [e/m, e].

    >>> len(self_attention(Model(1, 2048, 12288, 96, 96, 4)))
    9
    """
    b, l, e, m = model.batch, model.seq_len, model.hidden, model.m  # noqa: E741
    heads, q = model.heads // m, model.hidden // model.heads
    norm = layer_norm(b, l // m, e)
    return (
        Layer("layer_norm_1", norm, comm_fwd_type="allgather"),
        Layer("qkv_proj", linear(b, l, e, 3 * e // m, bias=False), comm_bwd_type="reducescatter"),
        Layer("logits", logits(b, l, q, heads)),
        Layer("softmax", softmax(b, l, heads)),
        Layer("dropout_softmax", dropout(b * heads * l * l)),
        Layer("attend", attend(b, l, q, heads)),
        Layer("v_proj", linear(b, l, heads * q, e, bias=True), comm_fwd_type="reducescatter"),
        Layer("dropout", dropout(b * (l // m) * e), comm_bwd_type="allgather"),
        Layer("layer_norm_2", norm, comm_fwd_type="allgather"),
    )


BLOCKS = {"mlp": mlp, "attention": self_attention}

Cell = float | str | None


def sizes(cost: Cost) -> dict[str, Cell]:
    """The memory and flop cells of a row, bytes and flop; 2 bytes an element, 1 a mask element.

    >>> sizes(dropout(4))["total_mem_fwd"]
    20
    """
    mask = cost.mask * MASK
    kept = cost.activation_in if cost.stored is None else cost.stored
    other = cost.activation_other * ELEMENT + mask
    moved = cost.activation_in + cost.activation_out + cost.weights
    return {
        "flops_fwd": cost.flops_fwd,
        "activation_in_mem": cost.activation_in * ELEMENT,
        "activation_in_other_mem": other,
        "activation_out_mem": cost.activation_out * ELEMENT,
        "activation_buffer": kept * ELEMENT + mask,
        "weights_mem": cost.weights * ELEMENT,
        "total_mem_fwd": moved * ELEMENT + other,
        "flops_bwd": cost.flops_bwd,
        "activation_grad_mem": cost.activation_grad * ELEMENT,
        "weights_grad_mem": cost.weights * ELEMENT,
        "total_mem_bwd": cost.read_bwd * ELEMENT + mask,
    }


def collectives(layer: Layer, model: Model, peaks: Peaks) -> dict[str, Cell]:
    """The communication cells; a volume is b·l·e elements, without the (m − 1)/m of a ring.

    One rank alone does not communicate. Beyond the links' domain the time is unknown. Units: B, s.
    """
    volume = model.batch * model.seq_len * model.hidden * ELEMENT
    alone = model.m == 1
    kinds = {"fwd": layer.comm_fwd_type, "bwd": layer.comm_bwd_type}
    some = any(kinds.values()) and not alone
    linked = model.m <= peaks.link_domain
    cells: dict[str, Cell] = {
        "comm_size": model.m if any(kinds.values()) else None,
        "comm_topology": ("nvlink" if linked else None) if some else None,
    }
    for way, kind in kinds.items():
        moved = 0 if alone else volume
        cells[f"comm_{way}"] = moved if kind else None
        cells[f"comm_{way}_type"] = kind
        seconds = moved / peaks.link_bandwidth if linked else None
        cells[f"t_comm_{way}"] = seconds if kind and not alone else 0.0
    return cells


def row(layer: Layer, model: Model, peaks: Peaks) -> dict[str, Cell]:
    """All 31 cells of a row in SI; the time of a pass is the slower of flop and bytes, plus comm.

    >>> peaks, model = Peaks(312e12, 78e12, 1555e9, 600e9, 4), Model(1, 2048, 12288, 96, 96, 4)
    >>> cells = row(mlp(model)[0], model, peaks)
    >>> len(cells), round(1e3 * cells["t_total_bwd"], 6)
    (31, 4.047987)
    """
    cells: dict[str, Any] = {"layer": layer.name, **sizes(layer.cost)}
    cells |= collectives(layer, model, peaks)
    rate = peaks.matrix_flops if layer.cost.matrix else peaks.vector_flops
    for way in ("fwd", "bwd"):
        cells[f"t_comp_{way}"] = cells[f"flops_{way}"] / rate
        cells[f"t_mem_{way}"] = cells[f"total_mem_{way}"] / peaks.memory_bandwidth
        spent = max(cells[f"t_comp_{way}"], cells[f"t_mem_{way}"])
        sent = cells[f"t_comm_{way}"]
        cells[f"t_{way}"] = spent
        cells[f"t_total_{way}"] = None if sent is None else spent + sent
        cells[f"frac_t_comm_{way}"] = None if sent is None else sent / (spent + sent)
    cells["intensity"] = cells["t_comp_fwd"] / cells["t_mem_fwd"]
    return cells


def table(block: str, model: Model, peaks: Peaks) -> list[dict[str, Cell]]:
    """Every row of the table of one block, in SI. Raises KeyError but for mlp and attention."""
    return [row(layer, model, peaks) for layer in BLOCKS[block](model)]


SUMMED = (
    "activation_buffer",
    "weights_mem",
    "weights_grad_mem",
    "flops_fwd",
    "flops_bwd",
    "t_total_fwd",
    "t_total_bwd",
    "t_comm_fwd",
    "t_comm_bwd",
)


def totals(rows: list[dict[str, Cell]], depth: int) -> dict[str, Cell]:
    """Sums over the rows times depth, and the share of forward time spent in communication.

    None where a summed cell is unknown. Units: flop, B, s; the share is a fraction.
    """
    made: dict[str, Cell] = {}
    for name in SUMMED:
        cells = [cells[name] for cells in rows]
        known = [c for c in cells if isinstance(c, int | float)]
        made[name] = sum(known) * depth if len(known) == len(cells) else None
    spent, sent = made["t_total_fwd"], made["t_comm_fwd"]
    known_share = isinstance(spent, float) and isinstance(sent, float)
    made["comm_share"] = sent / spent if known_share else None  # type: ignore[operator]
    return made


UNITS = {
    "flops": "flop",
    "t_": "s",
    "comm_size": "1",
    "frac": "1",
    "intensity": "1",
    "comm_share": "1",
}


def unit(column: str) -> str:
    """SI unit of a column; what is neither flop, time nor a ratio is bytes.

    >>> unit("flops_fwd"), unit("t_comm_bwd"), unit("comm_fwd"), unit("frac_t_comm_fwd")
    ('flop', 's', 'B', '1')
    """
    return next((made for head, made in UNITS.items() if column.startswith(head)), "B")


def known(case: Mapping[str, Any]) -> tuple[Model, Peaks] | None:
    """Model and peaks of one `LAYER_CASE` row; None where something is unknown or undefined.

    Raises KeyError for a missing column.
    """
    if any(case[name] is None for name in LAYER_CASE) or case["m2"] != 1:
        return None
    if case["block"] not in BLOCKS or min(case["m1"], case["heads"], case["seq_len"]) < 1:
        return None
    if any(case[name] % case["m1"] for name in ("seq_len", "hidden", "heads")):
        return None  # a remainder is nobody's: the source floors, and no table shows how
    if case["hidden"] % case["heads"]:
        return None
    model = Model(*(case[n] for n in ("batch", "seq_len", "hidden", "heads", "depth", "m1")))
    return model, Peaks(*(case[name] for name in Peaks.__dataclass_fields__))


def cells_of(case: Mapping[str, Any]) -> Iterator[tuple[str, str, str, float, str]]:
    """Scope, subject, quantity, value and SI unit of every known number of a `LAYER_CASE` row."""
    if (said := known(case)) is None:
        return
    model, peaks = said
    rows = table(case["block"], model, peaks)
    for cells in [*rows, {"layer": "total", **totals(rows, model.depth)}]:
        for name, value in cells.items():
            if isinstance(value, int | float):
                yield "layer", str(cells["layer"]), name, float(value), unit(name)


def predict(cases: pl.DataFrame) -> pl.DataFrame:
    """Predictions for every table whose case is known; subject `total` holds the sums.

    Columns: `LAYER_CASE` in, those of `frames.PREDICTION` out, in SI.

    >>> predict(pl.DataFrame(schema=LAYER_CASE)).is_empty()
    True
    """
    rows: list[tuple[object, ...]] = [
        (case["case"], scope, subject, quantity, value, None, None, si, MODEL, BASIS, [])
        for case in cases.iter_rows(named=True)
        for scope, subject, quantity, value, si in cells_of(case)
    ]
    return pl.DataFrame(rows, schema=PREDICTION, orient="row")


@dataclass(frozen=True)
class Cost:
    """Work in flop and tensors in elements; `mask` is in mask elements, which are smaller."""

    flops_fwd: int
    flops_bwd: int
    activation_in: int
    activation_out: int
    activation_grad: int
    read_bwd: int  # elements moved by the backward pass
    activation_other: int = 0
    weights: int = 0
    mask: int = 0
    stored: int | None = None  # elements kept for the backward pass; None: the input
    matrix: bool = False  # runs on the matrix units


def linear(b: int, l: int, e: int, f: int, *, bias: bool) -> Cost:  # noqa: E741
    """A linear layer [b·l, e] × [e, f], with or without a bias of f.

    >>> linear(1, 2048, 12288, 12288, bias=True).flops_fwd
    618475290624
    """
    extra = b * l * f if bias else 0
    weights = e * f + (f if bias else 0)
    taken, made = b * l * e, b * l * f
    return Cost(
        flops_fwd=b * l * f * (2 * e - 1) + extra,
        flops_bwd=b * l * e * (2 * f - 1) + e * f * (2 * b * l - 1) + extra,
        activation_in=taken,
        activation_out=made,
        activation_grad=taken + made,
        read_bwd=2 * weights + taken + made + taken,
        weights=weights,
        matrix=True,
    )


def activation(n: int) -> Cost:
    """A non-linear function of n elements, one flop each way.

    >>> activation(4).read_bwd
    8
    """
    return Cost(n, n, n, n, activation_grad=n, read_bwd=2 * n)


def dropout(n: int) -> Cost:
    """Dropout of n elements under a mask of n elements, which is all that is kept.

    >>> dropout(4).mask
    4
    """
    return Cost(n, n, n, n, activation_grad=n, read_bwd=n, mask=n, stored=0)


def layer_norm(b: int, l: int, e: int) -> Cost:  # noqa: E741
    """Layer normalisation of [b·l, e] with scale and shift.

    >>> layer_norm(1, 512, 12288).flops_fwd
    56623104
    """
    n = b * l * e
    return Cost(
        flops_fwd=9 * n,
        flops_bwd=9 * n + 4 * b * l * (e - 1),
        activation_in=n,
        activation_out=n,
        activation_grad=2 * n,
        read_bwd=3 * n + 2 * e,
        weights=2 * e,
    )


def logits(b: int, l: int, q: int, h: int) -> Cost:  # noqa: E741
    """Attention scores, [l, q] × [q, l] for every sequence and head.

    >>> logits(1, 2048, 128, 24).flops_fwd
    25669140480
    """
    scores, heads = b * h * l * l, b * h * l * q
    return Cost(
        flops_fwd=scores * (2 * q - 1),
        flops_bwd=2 * heads * (2 * l - 1),
        activation_in=heads,
        activation_other=heads,
        activation_out=scores,
        activation_grad=2 * heads + scores,
        read_bwd=4 * heads + scores,
        stored=2 * heads,
        matrix=True,
    )


def softmax(b: int, l: int, h: int) -> Cost:  # noqa: E741
    """Softmax over the last dimension of [b, h, l, l].

    >>> softmax(1, 2048, 24).flops_fwd
    301940736
    """
    n, additions = b * h * l * l, b * h * l * (l - 1)
    return Cost(2 * n + additions, 3 * n + additions, n, n, activation_grad=2 * n, read_bwd=3 * n)


def attend(b: int, l: int, q: int, h: int) -> Cost:  # noqa: E741
    """Scores times values, [l, l] × [l, q] for every sequence and head.

    Source: the gradient of the activations counts one head tensor where two are made.

    >>> attend(1, 2048, 128, 24).flops_fwd
    25763512320
    """
    scores, heads = b * h * l * l, b * h * l * q
    forward = heads * (2 * l - 1)
    return Cost(
        flops_fwd=forward,
        flops_bwd=scores * (2 * q - 1) + forward,
        activation_in=scores,
        activation_other=heads,
        activation_out=heads,
        activation_grad=scores + heads,
        read_bwd=2 * scores + 2 * heads,
        stored=scores + heads,
        matrix=True,
    )
