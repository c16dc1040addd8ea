"""Operators that are no product, attention or collective, as kernel libraries print them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs.read import read

METRICS = """kernel_name,kernel_provider,metric_name,metric_unit,x_name,x_label,x_value,value,gpu
rms_norm,liger,speed,ms,H,hidden size,4096,0.125,NVIDIA H100
rms_norm,torch,speed,ms,H,hidden size,4096,0.500,NVIDIA H100
rms_norm,liger,memory,MB,H,hidden size,4096,{memory},NVIDIA H100
"""

EXCHANGE = """num_token,hidden_size,num_experts,num_topk,dispatch_us,combine_us,min_us
64,7168,256,8,61.5,118.2,60.1
128,7168,256,8,,131.0,64.9
"""

SUMMARY = """Time (%),Total Time (ns),Instances,Avg (ns),Name
61.0,1285934112,960,1339514.7,"void kernel<128, 4>(float)"
39.0,463741231,480,966127.6,rope
"""

CURVES = """softmax-performance (GB/s):
         N      Triton       Torch
0    256.0  480.623953  702.811831
1    384.0  612.312342  823.122345
"""

VIDUR = """,time_stats.emb.mean,time_stats.emb.median,time_stats.rope.median,n_embd,num_tokens
0,0.0101,0.0099,0.021,4096,4096
"""


def rows(path: Path, text: str) -> list[dict[str, Any]]:
    path.write_text(text)
    frame = read([path]).reading.frames.get("operator_table")
    return [] if frame is None else frame.sort("line", "column").rows(named=True)


@pytest.mark.parametrize(
    ("printed", "held"),
    [
        ("500.04150390625", 500.04150390625 * 2**20),  # no whole number of bytes in 1,000s
        ("500.04", 500.04e6),  # nothing proves it
        ("500.0415039", 500.0415039e6),  # rounded: whole in neither
    ],
)
def test_a_metric_in_each_row(tmp_path: Path, printed: str, held: float) -> None:
    found = rows(tmp_path / "bench.csv", METRICS.replace("{memory}", printed))
    assert [row["time"] for row in found] == [pytest.approx(1.25e-4), pytest.approx(5e-4), None]
    assert [row["memory"] for row in found] == [None, None, pytest.approx(held, rel=1e-12)]
    assert {row["hidden"] for row in found} == {4096}
    assert [row["kernel"] for row in found] == ["liger", "torch", "liger"]


def test_times_that_are_named_by_their_operator(tmp_path: Path) -> None:
    found = rows(tmp_path / "exchange.csv", EXCHANGE)
    assert [(row["operator"], row["tokens"], row["time"]) for row in found] == [
        ("dispatch", 64, pytest.approx(61.5e-6)),
        ("combine", 64, pytest.approx(118.2e-6)),
        ("combine", 128, pytest.approx(131e-6)),
    ]
    assert {"name": "min_us", "text": "60.1"} in found[0]["other"]


def test_the_summary_of_a_profiler_says_the_mean_of_its_calls(tmp_path: Path) -> None:
    found = rows(tmp_path / "summary.csv", SUMMARY)
    assert [row["operator"] for row in found] == ["void kernel<128, 4>(float)", "rope"]
    assert found[1]["time"] == pytest.approx(966127.6e-9)


def test_curves_are_of_the_operator_in_their_title(tmp_path: Path) -> None:
    found = rows(tmp_path / "softmax.txt", CURVES)
    assert [row["operator"] for row in found] == ["softmax"] * 4
    assert [row["kernel"] for row in found] == ["Triton", "Torch"] * 2
    assert found[0]["bandwidth"] == pytest.approx(480.623953e9)


def test_a_profiler_whose_units_are_its_own_says_that_they_are_assumed(tmp_path: Path) -> None:
    found = rows(tmp_path / "mlp.csv", VIDUR)
    assert [(row["operator"], row["time"]) for row in found] == [
        ("emb", pytest.approx(9.9e-6)), ("rope", pytest.approx(21e-6)),
    ]  # fmt: skip
    said = read([tmp_path / "mlp.csv"]).reading.provenance.filter(field="time")
    assert set(said["value_origin"]) == {"assumed"}


@pytest.mark.parametrize(
    "text",
    [
        "op,m,n,k,time_us\ngemm,512,512,512,11.2\n",  # products have a frame of their own
        "provider,model,gpus,step_time_ms\nours,7B,8,812\ntheirs,7B,8,934\n",  # training
        "operator,time\nrope,12.5\n",  # in which unit?
        "operator,calls\nrope,12\n",  # nothing measured
    ],
)
def test_what_is_no_operator_or_has_no_unit(tmp_path: Path, text: str) -> None:
    assert rows(tmp_path / "table.csv", text) == []


def test_a_table_of_kernels_is_one_of_operators_and_no_run(tmp_path: Path) -> None:
    path = tmp_path / "kernels.md"
    path.write_text(
        "| Kernel | Time (us) | TFLOPS | Memory BW (GB/s) |\n|-|-|-|-|\n| eager | 56 | 4 | 336 |\n"
    )
    frames = read([path]).reading.frames
    assert {name for name, frame in frames.items() if frame.height} == {"operator_table"}
    (row,) = frames["operator_table"].rows(named=True)
    assert (row["kernel"], row["time"]) == ("eager", pytest.approx(56e-6))
