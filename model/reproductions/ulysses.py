"""A Ulysses attention trace: sizes, flop and peak memory of sequence-parallel attention.

In: `TRACE_CASE` (one row per trace: the header) and `TRACE_LINE` (one row per line that prints a
tensor, an operation, flop or memory, in order). Out: elements and bytes of every tensor, the
dimensions that its label stands for, the flop of every attention product and the peak memory lines.
Lines come from one rank: sizes are per rank, flop are totals over all P ranks. `Current memory
allocation` is not predicted: the tensors named leave tens of MB unexplained.

Units: elements, bytes, flop. Source: recomputed from the trace; DeepSpeed-Ulysses (Jacobs et al.
2023, arXiv 2309.14509) for the exchanges between ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import polars as pl
from assay.model.frames import PREDICTION
from assay.model.machines.dtypes import ITEMSIZE, dtype
from assay.model.reproductions.ulysses_labels import dimensions, evaluate, solve, symbols
from assay.model.reproductions.ulysses_memory import Event, Held, peaks, workspace

MODEL = "ulysses"

BASIS = "assay.model.reproductions.ulysses.predict"

HEADER = {
    "seq_len": "N",
    "hidden": "d",
    "heads": "h",
    "p": "P",
    "tp": "TP",
    "dp": "DP",
    "hp": "HP",
    "sp": "SP",
    "layers": "L",
    "ffn_hidden": "d'",
}
"""Header column → the symbol that labels use for it."""

TRACE_CASE: dict[str, pl.DataType] = {
    "case": pl.String(),
    **{name: pl.Int64() for name in HEADER},
    "dtype": pl.String(),
}

TRACE_LINE: dict[str, pl.DataType] = {
    "case": pl.String(),
    "line": pl.Int64(),
    "section": pl.String(),
    "kind": pl.String(),  # tensor, operation, equation, contiguous, flops, peak, current
    "subject": pl.String(),  # unique within the case for every line that prints a number
    "text": pl.String(),  # of operations and equations
    "name": pl.String(),
    "label": pl.String(),
    "shape": pl.List(pl.Int64()),
    "low": pl.Float64(),  # interval of a printed peak, bytes
    "high": pl.Float64(),
}

_Row = tuple[str, str, str, float, float | None, float | None, str, list[str]]


def known_symbols(case: Mapping[str, Any]) -> dict[str, int]:
    """Symbols that the header states: tokens, widths in elements, heads, layers, ranks.

    >>> known_symbols({"seq_len": 8, "hidden": None})
    {'N': 8}
    """
    return {symbol: case[name] for name, symbol in HEADER.items() if case.get(name) is not None}


def tensor_figures(
    lines: Sequence[Mapping[str, Any]], known: Mapping[str, int], itemsize: int | None
) -> Iterator[_Row]:
    """Elements and bytes of each tensor from its shape, its dimensions from its label.

    `lines` are rows of `TRACE_LINE` that print a tensor; `itemsize` is bytes per element.

    Symbols without a header line are solved from the first label that has them; the dimensions of
    that tensor are then consumed and not predicted.
    """
    solved = solve([(line["label"] or "", line["shape"]) for line in lines], known)
    everything = {**known, **{name: value for name, (value, _) in solved.items()}}
    for index, line in enumerate(lines):
        elements = prod(line["shape"])
        yield ("tensor", line["subject"], "elements", elements, None, None, "1", ["shape"])
        if itemsize:
            size = elements * itemsize
            yield ("tensor", line["subject"], "bytes", size, None, None, "B", ["shape"])
        for axis, dimension in enumerate(dimensions(line["label"] or "")):
            used = {solved[name][1] for name in symbols(dimension) if name in solved}
            size_of = evaluate(dimension, everything)
            if size_of is None or index in used:
                continue
            inputs = [f"shape of {lines[at]['subject']}" for at in sorted(used)]
            yield ("tensor", line["subject"], f"dim{axis}", size_of, None, None, "1", inputs)


_PRODUCT = re.compile(r"\b([A-Za-z]\w*)\s+x\s+([A-Za-z]\w*)|\b([a-z]+)x([A-Za-z]\w*'?)")


def products(equation: str) -> list[tuple[str, str]]:
    """Left and right operand of every product in an equation.

    >>> products("q = input x Q, k = input x K"), products("A=qxk'")
    ([('input', 'Q'), ('input', 'K')], [('q', "k'")])
    """
    return [(a or c, b or d) for a, b, c, d in _PRODUCT.findall(equation)]


def attention_flops(equation: str, weights: set[str], known: Mapping[str, int]) -> int | None:
    """Flop of the products of one equation over all ranks.

    Source: a product with a weight is a projection of all N tokens, 2·N·d² (three of them make
    6·N·d²); a product of two activations is scores or context of all heads, 2·N²·d.

    >>> attention_flops("A = q_ x k_t", {"Q"}, {"N": 60_000, "d": 16384})
    117964800000000
    """
    tokens, width = known.get("N"), known.get("d")
    found = products(equation)
    if tokens is None or width is None or not found:
        return None
    return sum(2 * tokens * width * (width if right in weights else tokens) for _, right in found)


def _weights(lines: Sequence[Mapping[str, Any]]) -> set[str]:
    """Tensors that hold no tokens: listed before the first operation, without N in their label."""
    found = set()
    for line in lines:
        if line["kind"] in ("operation", "equation"):
            break
        if line["kind"] == "tensor" and line["name"] != "input":
            named = {s for part in dimensions(line["label"] or "") for s in symbols(part)}
            if "N" not in named:
                found.add(line["name"])
    return found


def flops_figures(lines: Sequence[Mapping[str, Any]], known: Mapping[str, int]) -> Iterator[_Row]:
    """Flop lines of one attention section, each from the equation above it."""
    weights, equation = _weights(lines), ""
    for line in lines:
        if line["kind"] == "operation":
            equation = ""
        elif line["kind"] == "equation":
            equation = line["text"]
        elif line["kind"] == "flops":
            count = attention_flops(line["text"] or equation, weights, known)
            if count is not None:
                yield ("gemm", line["subject"], "flop", count, None, None, "flop", [])


def _events(lines: Sequence[Mapping[str, Any]]) -> list[Event]:
    return [
        Event(
            kind=line["kind"],
            text=line["text"] or "",
            name=line["name"] or "",
            shape=tuple(line["shape"] or ()),
            label=line["label"] or "",
            low=line["low"] or 0.0,
            high=line["high"] or 0.0,
        )
        for line in lines
    ]


def peak_figures(lines: Sequence[Mapping[str, Any]], itemsize: int) -> Iterator[_Row]:
    """Bytes of the peak lines of the first section, the workspace fitted from its other peaks.

    A value that holds the workspace has an interval. `itemsize` is bytes per element.
    """
    printed = [line for line in lines if line["kind"] == "peak"]
    held = peaks(_events(lines), itemsize)
    for index, (line, one) in enumerate(zip(printed, held, strict=True)):
        if one is None:
            continue
        others = _others(printed, held, index) if one.workspace else []
        span = workspace([interval for _, interval in others]) if one.workspace else (0.0, 0.0)
        if span is None:
            continue
        low, high = (one.bytes + x for x in span)
        fitted = one.workspace
        inputs = [f"peak_memory of {subject}" for subject, _ in others]
        yield (
            "configuration", line["subject"], "peak_memory", (low + high) / 2,
            low if fitted else None, high if fitted else None, "B", inputs,
        )  # fmt: skip


def _others(
    printed: Sequence[Mapping[str, Any]], held: Sequence[Held | None], index: int
) -> list[tuple[str, tuple[float, float]]]:
    """Every other peak line that holds the workspace, less its tensors."""
    return [
        (line["subject"], (line["low"] - one.bytes, line["high"] - one.bytes))
        for at, (line, one) in enumerate(zip(printed, held, strict=True))
        if at != index and one is not None and one.workspace and line["low"] is not None
    ]


def later_peaks(before: _Row, lines: Sequence[Mapping[str, Any]], itemsize: int) -> Iterator[_Row]:
    """Bytes of the peak lines of a later section, while it needs less than the peak `before`.

    A peak never falls. What a later section itself needs is only known as far as its tensors are
    printed: where they would pass the old peak there is no prediction.
    """
    needed = 0
    for line in lines:
        if line["kind"] == "tensor":
            needed += prod(line["shape"]) * itemsize
        elif line["kind"] == "peak":
            if needed >= before[3]:
                return
            scope, _, quantity, value, low, high, unit, inputs = before
            yield (scope, line["subject"], quantity, value, low, high, unit, inputs)


def trace_figures(case: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> Iterator[_Row]:
    """Every figure of one trace: a `TRACE_CASE` row and its `TRACE_LINE` rows, in order."""
    known = known_symbols(case)
    try:
        itemsize = int(ITEMSIZE[dtype(case["dtype"])]) if case["dtype"] else None
    except LookupError:
        itemsize = None
    yield from tensor_figures([line for line in lines if line["kind"] == "tensor"], known, itemsize)
    sections: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        sections.setdefault(line["section"] or "", []).append(line)
    last: _Row | None = None
    for name, inside in sections.items():
        attention = "attention" in name.lower()
        if attention:
            yield from flops_figures(inside, known)
        if not itemsize:
            continue
        if last is None and attention:
            rows = list(peak_figures(inside, itemsize))
        else:
            rows = list(later_peaks(last, inside, itemsize)) if last else []
        yield from rows
        last = rows[-1] if rows else last


def header_figures(case: Mapping[str, Any]) -> Iterator[_Row]:
    """Heads and tokens of one GPU, from the header's totals."""
    ranks = case["p"]
    for quantity, total in (("heads_per_gpu", case["heads"]), ("tokens_per_gpu", case["seq_len"])):
        if ranks and total is not None:
            yield ("configuration", "", quantity, total // ranks, None, None, "1", [])


def predict(traces: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Predictions for every trace; a line that nothing explains has none.

    Columns: `TRACE_CASE` and `TRACE_LINE` in, those of `frames.PREDICTION` out, in SI.

    >>> predict(pl.DataFrame(schema=TRACE_CASE), pl.DataFrame(schema=TRACE_LINE)).is_empty()
    True
    """
    of_case = {
        str(key[0]): group.sort("line").rows(named=True)
        for key, group in lines.group_by("case", maintain_order=True)
    }
    rows: list[tuple[object, ...]] = []
    for case in traces.iter_rows(named=True):
        figures = [*header_figures(case), *trace_figures(case, of_case.get(case["case"], []))]
        for scope, subject, quantity, value, low, high, unit, inputs in figures:
            key = (case["case"], scope, subject, quantity)
            rows.append((*key, float(value), low, high, unit, MODEL, BASIS, inputs))
    return pl.DataFrame(rows, schema=PREDICTION, orient="row").unique(
        ["case", "scope", "subject", "quantity"], keep="first", maintain_order=True
    )
