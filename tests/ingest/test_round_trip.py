"""Print random values in a random layout, read them back: same values, same kinds, right lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

FLOATS = st.floats(1e-3, 0.99e6, allow_nan=False)  # from 1e6 TFLOPs on, a rate is in FLOP/s
PLACES = st.integers(0, 5)
COUNTS = st.integers(1, 10**6)
PREFIXES = st.sampled_from(
    ["", " ", "    ", "[default7]: ", "0: ", "[2024-06-02 10:02:12] ", "[node0137:0]: ",
     "[2025-03-02 10:11:12,131415][I][megatron/training_log:402:training_log]  ", "worker-1: "]
)  # fmt: skip


def read(text: str) -> Reading:
    whole = source("printed", text.encode())
    assert isinstance(whole, Source)
    return read_source(whole, FORMATS)


def inside(row: dict[str, Any], field: str, value: float, scale: float) -> bool:
    """Whether the true value lies in the printed interval, in the field's unit."""
    slack = row[f"{field}_ulp"] / 2 * (1 + 1e-9)
    return bool(abs(row[field] - value * scale) <= slack)


TABLE_COLUMNS: dict[str, tuple[str, float]] = {
    "Sec/it": ("step_time", 1.0),
    "step time (ms)": ("step_time", 1e-3),
    "TFLOPs": ("model_flops_rate", 1e12),
    "Mem (GiB)": ("memory", 2.0**30),
    "tokens/s": ("tokens_per_s", 1.0),
    "**TPS/GPU**": ("tokens_per_gpu_per_s", 1.0),
}
SHAPES = {"TP": "tp", "GBS": "global_batch", "Layers": "layers", "\\#GPUs": "gpus"}


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, list[tuple[int, dict[str, tuple[float, float]]]]]:
    """A document with one table, and what each of its rows says: line, field → value, scale."""
    measured = draw(st.lists(st.sampled_from(list(TABLE_COLUMNS)), min_size=1, unique=True))
    if {"Sec/it", "step time (ms)"} <= set(measured):
        measured.remove("Sec/it")
    # `TFLOPs` or `Mem` alone are anybody's: of runs where something says how they ran
    shapes = draw(st.sets(st.sampled_from(list(SHAPES)), min_size=1))
    labels = draw(st.permutations([*measured, *sorted(shapes)]))
    pad: Callable[[str], str] = draw(
        st.sampled_from(
            [lambda c: c, lambda c: f" {c} ", lambda c: f"  {c}", lambda c: f"{c:>12} "]
        )
    )
    left, right = draw(st.sampled_from([("|", "|"), ("|", ""), ("", "|")]))
    lines = ["words"] * draw(st.integers(0, 3)) + [""]

    def row(cells: list[str]) -> str:
        return left + "|".join(map(pad, cells)) + right

    rule = draw(st.sampled_from(["---", ":--", "--:", ":-:"]))
    lines += [row(list(labels)), row([rule] * len(labels))]
    if len(labels) == 1 and "|" not in lines[-1]:
        return "", []
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        said: dict[str, tuple[float, float]] = {}
        cells = []
        for label in labels:
            if label in SHAPES:
                count = draw(COUNTS)
                if label == "GBS":  # a batch of more sequences is one of tokens
                    count = min(count, 2**18)
                said[SHAPES[label]] = (count, 1.0)
                cells.append(draw(st.sampled_from([str(count), f"**{count}**", f"{count}[^1]"])))
                continue
            field, scale = TABLE_COLUMNS[label]
            value, places = draw(FLOATS), draw(PLACES)
            if field == "model_flops_rate":  # more than any device reaches is of several, and less
                value = min(max(value, 1.0), 5000.0)  # than any is what a model costs
            text = f"{value:.{places}f}"
            if float(text) == 0:
                value, text = 1.0, "1"
            grouped = f"{value:,.{places}f}" if value >= 1000 else text
            said[field] = (value, scale)
            cells.append(draw(st.sampled_from([text, grouped, f"`{text}`"])))
        lines.append(row(cells))
        rows.append((len(lines), said))
    return "\n".join([*lines, "", "words"]), rows


@settings(max_examples=examples(50), deadline=None)
@given(tables())
def test_tables(document: tuple[str, list[tuple[int, dict[str, tuple[float, float]]]]]) -> None:
    text, rows = document
    if not rows:
        return
    reading = read(text)
    assert reading.refused == ()
    table = reading.frames["markdown_table"]
    assert table["line"].to_list() == [line for line, _ in rows]
    for (_, said), row in zip(rows, table.iter_rows(named=True), strict=True):
        for field, (value, scale) in said.items():
            if field in SHAPES.values():
                assert row[field] == value
            elif row[field] is None and field == "tokens_per_s":  # of a model beyond all memory
                assert {"model_flops_rate", "memory", "gpus"} <= said.keys()
            elif row[field] is None:  # grows with the devices: not of one of them
                assert field == "model_flops_rate"
                assert "gpus" in said
                assert len(rows) >= 3
            else:
                assert inside(row, field, value, scale), (field, value, row[field])


METRICS: dict[str, tuple[str, float, str]] = {
    "elapsed time per iteration (ms)": ("step_time", 1e-3, "f"),
    "elapsed time per iteration (s)": ("step_time", 1.0, "f"),
    "elapsed_time_per_iteration_ms": ("step_time", 1e-3, "f"),
    "lm loss": ("lm_loss", 1.0, "E"),
    "lm-loss": ("lm_loss", 1.0, "E"),
    "lm_loss": ("lm_loss", 1.0, "e"),
    "TFLOPs": ("model_flops_rate", 1e12, "f"),
    "throughput per GPU (TFLOP/s/GPU)": ("model_flops_rate", 1e12, "f"),
    "learning rate": ("learning_rate", 1.0, "E"),
    "grad norm": ("grad_norm", 1.0, "f"),
    "tokens per gpu per second(tgs)": ("tokens_per_gpu_per_s", 1.0, "f"),
    "a field of tomorrow": ("", 1.0, "f"),
}


@st.composite
def iteration_lines(draw: st.DrawFn) -> tuple[str, int, dict[str, tuple[float, float]], int]:
    """One training line, its iteration, field → value, scale, and how many cells are unknown."""
    labels = draw(st.lists(st.sampled_from(list(METRICS)), min_size=1, unique=True))
    between = draw(st.sampled_from([": ", "=", ":", ": " + " " * 5]))
    said: dict[str, tuple[float, float]] = {}
    cells, unknown = [], 0
    for label in labels:
        field, scale, style = METRICS[label]
        if field and field in said:
            continue
        value, places = draw(FLOATS), draw(PLACES)
        text = f"{value:.{places}{style}}"
        if float(text) == 0:
            value, text = 1.0, "1"
        unknown += not field
        if field:
            said[field] = (value, scale)
        cells.append(f"{label}{between}{text}")
    number = draw(st.integers(0, 10**6))
    head = f"iteration{'=' if between == '=' else ' '}{number:8d}/{draw(COUNTS):8d}"
    end = draw(st.sampled_from([" |", "|", " | ", ""]))
    return draw(PREFIXES) + " | ".join([head, *cells]) + end, number, said, unknown


@settings(max_examples=examples(75), deadline=None)
@given(st.lists(iteration_lines(), min_size=1, max_size=5))
def test_iteration_lines(
    printed: list[tuple[str, int, dict[str, tuple[float, float]], int]],
) -> None:
    reading = read("\n".join(text for text, *_ in printed) + "\n")
    assert reading.refused == ()
    frame = reading.frames["megatron_iteration"]
    assert frame["line"].to_list() == list(range(1, len(printed) + 1))
    for (_, number, said, unknown), row in zip(printed, frame.iter_rows(named=True), strict=True):
        assert row["iteration"] == number
        assert len(row["other"]) == unknown
        for field, (value, scale) in said.items():
            assert inside(row, field, value, scale), (field, value, row[field])


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, FLOATS, PLACES), min_size=1, max_size=9))
def test_products(rows: list[tuple[int, int, int, float, int]]) -> None:
    lines = ["gpu,dtype,m,n,k,t_us"]
    lines += [f"H100,bf16,{m},{n},{k},{max(t, 1.0):.{p}f}" for m, n, k, t, p in rows]
    reading = read("\n".join(lines) + "\n")
    assert reading.refused == ()
    frame = reading.frames["gemm_table"]
    assert frame.select("m", "n", "k").rows() == [row[:3] for row in rows]
    for (_, _, _, t, _), row in zip(rows, frame.iter_rows(named=True), strict=True):
        assert inside(row, "time", max(t, 1.0), 1e-6)
    assert frame.select(pl.col("line").diff().drop_nulls().eq(1).all()).item()
