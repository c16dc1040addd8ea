"""CSV headers of measured kernels: how a time, a rate and a batch are called elsewhere."""

from __future__ import annotations

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.source.opening import Source, source


def one(header: str, row: str) -> dict[str, object]:
    whole = source("a.csv", f"{header}\n{row}\n".encode())
    assert isinstance(whole, Source)
    return read_source(whole, FORMATS).frames["gemm_table"].row(0, named=True)


@pytest.mark.parametrize(
    ("label", "seconds"),
    [
        ("ms", 2e-3), ("time_ms", 2e-3), ("TimeMs", 2e-3), ("time (us)", 2e-6),
        ("mean_time_us", 2e-6), ("avg_us", 2e-6), ("p50_us", 2e-6), ("kernel_time_ns", 2e-9),
        ("latency [usec]", 2e-6), ("runtime_ms", 2e-3), ("seconds", 2.0),
    ],
)  # fmt: skip
def test_a_time_is_known_by_its_unit(label: str, seconds: float) -> None:
    assert one(f"M,N,K,{label}", "64,32,16,2")["time"] == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize("label", ["min_us", "std_us", "p90_us", "cublas_time_ms", "time", "avg"])
def test_what_says_more_or_less_than_a_time_is_none(label: str) -> None:
    row = one(f"M,N,K,{label},TFLOPS", "64,32,16,2,3")
    assert (row["time"], row["flops_rate"]) == (None, 3e12)


def test_the_first_of_two_times_counts_and_the_other_is_kept() -> None:
    row = one("M,N,K,mean_us,median_us", "64,32,16,2,3")
    assert row["time"] == pytest.approx(2e-6)
    assert row["other"] == [{"name": "median_us", "text": "3"}]


def test_a_batch_size_counts_products() -> None:
    assert one("batch_size,m,n,k,tflops_per_s", "16,64,32,16,3")["b"] == 16


def test_products_in_markdown_with_several_number_formats() -> None:
    text = (
        "| M | N | K | BF16 TFLOPS | FP8 TFLOPS | time (us) |\n|-|-|-|-|-|-|\n"
        "| 4,096 | 4096 | 4096 | 700.5 | 1,200 | |\n| 8192 | 8192 | 8192 | n/a | 1300 | 900 |\n"
    )
    whole = source("a.md", text.encode())
    assert isinstance(whole, Source)
    reading = read_source(whole, FORMATS)
    rows = reading.frames["gemm_table"].sort("line", "column")
    said = rows.select("line", "m", "dtype", "flops_rate", "time").rows()
    assert said == [
        (3, 4096, "BF16", 700.5e12, None),
        (3, 4096, "FP8", 1200e12, None),
        (4, 8192, None, None, 900e-6),
        (4, 8192, "FP8", 1300e12, None),
    ]
    assert "markdown_table" not in reading.frames
    assert reading.refused == ()
