"""Kernel tables whose headings say of which calls they are, and cells that mention settings."""

from __future__ import annotations

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.source.opening import Source, source


def frames(text: str) -> dict[str, pl.DataFrame]:
    opened = source("a.md", text.encode())
    assert isinstance(opened, Source)
    return dict(read_source(opened, FORMATS).frames)


def table(*rows: str) -> str:
    head, *body = (f"| {row} |" for row in rows)
    return "\n".join([head, "|" + "-|" * (rows[0].count("|") + 1), *body, ""])


def test_nodes_by_devices_in_a_heading_are_the_ranks() -> None:
    text = "## reduce_scatter_perf, 4 x 8 A100\n\n"
    text += table("size (B) | time (us) | busbw (GB/s)", "4194304 | 130.5 | 31.13")
    row = frames(text)["collective_table"].row(0, named=True)
    assert (row["op"], row["ranks"], row["bytes"]) == ("reduce_scatter", 32, 4194304)


@pytest.mark.parametrize(
    ("bandwidth", "size"), [("167.77", 2**28), ("160.0", 256 * 10**6), ("190.2", None)]
)
def test_megabytes_are_what_the_bandwidth_makes_of_them(bandwidth: str, size: int | None) -> None:
    text = "## 通信测试 (2 机 16 卡 A800)\n\n"
    text += table(
        "算子 | 数据量(MB) | 时延(us) | 算法带宽(GB/s)", f"AllReduce | 256 | 1600 | {bandwidth}"
    )
    found = frames(text)
    if size is None:
        assert not found
    else:
        row = found["collective_table"].row(0, named=True)
        assert (row["ranks"], row["bytes"]) == (16, size)


def test_settings_of_attention_stand_in_its_heading() -> None:
    text = "## Attention on H100, 24 heads, head dim 64, batch size 2, fp16\n\n"
    text += table("seq | FA3 fwd (ms) | FA3 bwd (ms)", "2048 | 0.11 | 0.31")
    rows = frames(text)["attention_table"].sort("column")
    said = rows.select("seq", "heads", "head_dim", "batch", "causal", "direction").rows()
    assert said == [(2048, 24, 64, 2, None, "fwd"), (2048, 24, 64, 2, None, "bwd")]
    other = text.replace("fp16", "not causal, fp16")
    assert frames(other)["attention_table"]["causal"].to_list() == [False, False]


def test_settings_among_words_of_a_cell() -> None:
    text = table(
        "Recipe | GPUs | step time (s)", "DDP, seq 2048 | 8 | 1.5", "LoRA, seq 4k | 8 | 1.2"
    )
    assert frames(text)["markdown_table"]["seq_len"].to_list() == [2048, 4096]


@pytest.mark.parametrize(
    "text",
    [
        "Sizes: M = 31 x 512, N = 4\nm=4, n=4, k=4 took a while (1.2 ms)\n",
        "dim 2048\n### headdim=0, seqlen=512, batch_size=4, nheads=x ###\nA: 1.0ms\n",
        "We take M = 15,872, N = 4,096 and K = 4,096 from the model.\n\nIn all ~19 TFLOPS\n",
        "M = 15,872, N = 4,096, K = 4,096\nSo much for sizes.\nLayer: ~19 TFLOPS\n",
        "[0]:a,b,c,d,e,m,n,k,us,\n1,2\n[1]:a\n",
        "[--- t ---]\n | a\n1 threads: ---\n x | 1\n",
    ],
)
def test_lines_that_are_nearly_calls_are_no_rows_and_no_fault(text: str) -> None:
    assert all(frame.is_empty() for frame in frames(text).values())
