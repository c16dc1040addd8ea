"""Prints of kernel benchmarks, by the habits of their programs: labels, units, layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs.read import read

UNITS = """kernel_name,kernel_provider,metric_name,metric_unit,x_name,x_label,x_value,value,settings
rms_norm,liger,speed,ms,H,hidden size,4096,0.125,"{""M"": 2048, ""dtype"": ""torch.bfloat16""}"
swiglu,liger,speed,us,T,sequence length,8192,1325.5,"{""bsz"": 4, ""hidden_size"": 2048}"
"""

PROVIDED = """kernel,provider,pass,M,N,latency_us_p50,latency_us_p20,GB/s,peak_mem_mb
layer_norm,quack,fwd,32768,4096,141.2,140.8,3801.3,1024
"""

UNDER_ITS_NAME = """## RMSNorm

| hidden | torch (us) | ours (us) | GB/s (ours) |
|---|---|---|---|
| 4096 | 92.1 | 33.0 | 2033 |
"""

SDPA = """100%|####| 12/12 [00:41<00:00,  3.46s/it]
  batch_size    num_heads    q_seq_len    embed_dim  is_causal    forward_time (us)
------------  -----------  -----------  -----------  -----------  -------------------
          16           16         1024         2048  False                    433.882
           4           16         4096         2048  True                     822.891
"""

DEEPBENCH = """
    m       n      k      precision        time (usec)
 1760     16    1760         half             21
 1760   7000    1760         half            566
"""

HCCL = """mpirun -f hostfile -n 16 ./bin/all_reduce_test -b 8K -e 2G -f 4 -d fp32 -o sum -p 8
data_size(Bytes):             | aveg_time(us):      | alg_bandwidth(GB/s):      | check_result:
8192                          | 84.79               | 0.09662                   | success
32768                         | 86.31               | 0.37965                   | success
"""

TRITONBENCH = """   (M, N, K)    aten_matmul-latency    aten_matmul-tflops
------------  ---------------------  --------------------
(64, 64, 64)      0.020404 (±1.70%)               841.985
(96, 96, 96)      0.099019 (±3.21%)               1388.01
"""

NETWORKS = """**Table 4.** NCCL all-to-all bus bandwidth on the two networks.

| # GPUs | MPFT busbw (GB/s) | MRFT busbw (GB/s) |
|---|---|---|
| 32 | 58.47 | 58.52 |
"""


def rows(path: Path, text: str, frame: str) -> list[dict[str, Any]]:
    path.write_text(text)
    found = read([path]).reading.frames.get(frame)
    return [] if found is None else found.sort("line", "column").rows(named=True)


def test_times_in_two_units_and_settings_by_row(tmp_path: Path) -> None:
    norm, swiglu = rows(tmp_path / "bench.csv", UNITS, "operator_table")
    assert (norm["time"], swiglu["time"]) == (pytest.approx(1.25e-4), pytest.approx(1.3255e-3))
    assert (norm["hidden"], norm["dtype"], norm["seq"]) == (4096, "bfloat16", None)
    assert (swiglu["hidden"], swiglu["batch"], swiglu["seq"]) == (2048, 4, 8192)


def test_the_median_among_quantiles_beside_a_bandwidth(tmp_path: Path) -> None:
    (found,) = rows(tmp_path / "bench.csv", PROVIDED, "operator_table")
    assert (found["operator"], found["kernel"]) == ("layer_norm", "quack")
    assert found["time"] == pytest.approx(141.2e-6)
    assert (found["bandwidth"], found["memory"]) == (3801.3e9, 1024e6)


def test_a_table_under_the_name_of_its_operator(tmp_path: Path) -> None:
    torch, ours = rows(tmp_path / "bench.md", UNDER_ITS_NAME, "operator_table")
    assert (torch["operator"], torch["kernel"], torch["hidden"]) == ("RMSNorm", "torch", 4096)
    assert (ours["time"], ours["bandwidth"]) == (pytest.approx(33e-6), 2033e9)


@pytest.mark.parametrize("table", ["| model | time (s) |", "| epochs | time (ms) |"])
def test_times_of_something_else_under_such_a_name(tmp_path: Path, table: str) -> None:
    text = f"## MoE\n\n{table}\n|---|---|\n| 4 | 92.1 |\n"
    assert rows(tmp_path / "bench.md", text, "operator_table") == []


def test_a_header_right_below_a_bar_of_progress(tmp_path: Path) -> None:
    first, last = rows(tmp_path / "sdpa.txt", SDPA, "attention_table")
    assert (first["seq"], first["direction"], first["causal"]) == (1024, "forward", False)
    assert last["time"] == pytest.approx(822.891e-6)


def test_labels_that_end_right_behind_their_numbers(tmp_path: Path) -> None:
    first, last = rows(tmp_path / "gemm.txt", DEEPBENCH, "gemm_table")
    assert (first["m"], first["n"], first["k"]) == (1760, 16, 1760)
    assert last["time"] == pytest.approx(566e-6)


def test_bars_without_a_rule(tmp_path: Path) -> None:
    first, last = rows(tmp_path / "hccl.log", HCCL, "collective_table")
    assert (first["op"], first["ranks"], first["bytes"]) == ("all_reduce", 16, 8192)
    assert (last["time"], last["algbw"]) == (pytest.approx(86.31e-6), 0.37965e9)


def test_spreads_behind_times_of_named_kernels(tmp_path: Path) -> None:
    first, _ = rows(tmp_path / "tb.out", TRITONBENCH, "gemm_table")
    assert (first["kernel"], first["m"]) == ("aten_matmul", 64)
    assert (first["time"], first["flops_rate"]) == (pytest.approx(20.404e-6), 841.985e12)


def test_bandwidths_of_networks_side_by_side(tmp_path: Path) -> None:
    first, last = rows(tmp_path / "a2a.md", NETWORKS, "collective_table")
    assert (first["busbw"], last["busbw"], last["ranks"]) == (58.47e9, 58.52e9, 32)
    assert first["bytes"] is None
    assert last["other"] == [{"name": "column", "text": "MRFT"}]


MM_FLOPS = """NVIDIA A100-SXM4-80GB, torch.float16
{order}
Elapsed time for 8192x4096x12288: 0.0033
Throughput (in TFLOP/s) for 8192x4096x12288: 249.891
Elapsed time for attention_prob (2048x128x2048, b=128): 0.0010
"""

FLAG_GEMS = """GPU 0: NVIDIA A100-SXM4-40GB
Operator: mm  Performance Test (dtype=torch.float16, mode=cuda,level=core)
Status      Torch Latency (ms)   Gems Latency (ms)        Gems Speedup        TFLOPS  Size Detail
--------------------------------------------------------------------------------------------------
SUCCESS               0.431518            0.469976               0.918       219.329  {first}
SUCCESS               0.014832            0.016974               0.874       126.516  {last}
"""

PARAM = """
      COMMS-RES-all_gather-float32    total-size (B)     Latency(us):p50         p75    BusBW(GB/s)
      COMMS-RES-all_gather-float32          16777216               641.2       648.9         25.348
      COMMS-RES-all_gather-float32          67108864              1980.7      2004.5         32.823
"""


@pytest.mark.parametrize(
    ("order", "sizes"),
    [("", (8192, 12288, 4096)), ("Sizes are MxNxK", (8192, 4096, 12288))],
)
def test_a_product_in_two_lines(tmp_path: Path, order: str, sizes: tuple[int, ...]) -> None:
    text = MM_FLOPS.replace("{order}", order)
    one, batched = rows(tmp_path / "mm.out", text, "gemm_table")
    assert (one["m"], one["n"], one["k"]) == sizes
    assert (one["time"], one["flops_rate"]) == (0.0033, pytest.approx(249.891e12))
    assert (one["gpu"], one["dtype"]) == ("A100-SXM4-80GB", "float16")
    assert (batched["b"], batched["time"], batched["flops_rate"]) == (128, 0.001, None)


def test_a_rate_is_of_the_kernel_whose_time_makes_it(tmp_path: Path) -> None:
    sizes = "[torch.Size([8192, 4096]), torch.Size([4096, 1536])]"
    square = "[torch.Size([1024, 1024]), torch.Size([1024, 1024])]"
    text = FLAG_GEMS.replace("{first}", sizes).replace("{last}", square)
    found = rows(tmp_path / "gems.log", text, "gemm_table")
    assert [(row["kernel"], row["flops_rate"]) for row in found] == [
        ("Torch", None), ("Gems", 219.329e12), ("Torch", None), ("Gems", 126.516e12),
    ]  # fmt: skip
    assert (found[0]["m"], found[0]["n"], found[0]["k"]) == (8192, 1536, 4096)


def test_a_label_names_the_collective(tmp_path: Path) -> None:
    text = "mpirun -np 32 ./comms.py --backend nccl --collective all_reduce\n" + PARAM
    first, _ = rows(tmp_path / "comms.log", text, "collective_table")
    assert (first["op"], first["ranks"], first["bytes"]) == ("all_gather", 32, 16777216)
    assert (first["time"], first["busbw"]) == (pytest.approx(641.2e-6), 25.348e9)


ONECCL = """# Benchmarking: allreduce
# #processes: 12
#------------------------------------------------------------

        #bytes    #repetitions        t_min[usec]        t_max[usec]        t_avg[usec]
          2048              20              41.70              43.12              42.31
         32768              20              44.06              45.73              44.88

#------------------------------------------------------------
# Benchmarking: allgatherv
# #processes: 12
#------------------------------------------------------------

        #bytes    #repetitions        t_min[usec]        t_max[usec]        t_avg[usec]
       2097152              20             187.26             193.55             190.02
       8388608              20             640.91             655.83             647.38
"""


def test_each_operation_stands_above_its_table(tmp_path: Path) -> None:
    first, _, gather, _ = rows(tmp_path / "ccl.txt", ONECCL, "collective_table")
    assert (first["op"], first["ranks"], first["bytes"]) == ("all_reduce", 12, 2048)
    assert first["time"] == pytest.approx(42.31e-6)
    assert (gather["op"], gather["bytes"]) == ("all_gather", None)  # printed for each rank
    assert {"name": "bytes of each rank", "text": "2097152"} in gather["other"]
    assert {"name": "t_min[usec]", "text": "187.26"} in gather["other"]


CK_TILE = """GPU[0]          : Card Series:           AMD Instinct MI300X
[fp16|batch|bshd] b:4, h:16/2, s:4096/1024, d:128/128, scale_s:0.0883883, bias:n, p_drop:0, lse:0, \
squant:0, mask:b, v:r, 0.741 ms, 371.05 TFlops, 362.41 GB/s
[bf16|batch|bshd] b:1, h:16/16, s:512/512, d:128/128, scale:0.0883883, bias:n, dbias:0, p_drop:0, \
s_randval:0, deterministic:0, mask:n, 2.390 ms, 287.53 TFlops, 224.61 GB/s
[bf16|batch|bshd] b:1, h:16/16, s:512/512, d:128/128, scale_s:0.08, bias:n, mask:b(127:0), \
v:r, 2.390 ms, 287.53 TFlops, 224.61 GB/s
"""


def test_calls_of_ck_tile(tmp_path: Path) -> None:
    fwd, bwd = rows(tmp_path / "fmha.log", CK_TILE.replace("\\\n", ""), "attention_table")
    assert (fwd["heads"], fwd["kv_heads"], fwd["seq"], fwd["kv_seq"]) == (16, 2, 4096, 1024)
    assert (fwd["dtype"], fwd["causal"], fwd["direction"]) == ("fp16", True, "fwd")
    assert (fwd["time"], fwd["flops_rate"]) == (pytest.approx(0.741e-3), 371.05e12)
    assert (bwd["direction"], bwd["causal"], bwd["dtype"]) == ("bwd", False, "bf16")


MSCCLPP = """$ mpirun -np 8 python3 ./python/mscclpp_benchmark/allreduce_bench.py
+-----------+-----------+--------------+----------------+-------------------+----------+
|    Size   | Time (us) | AlgBW (GB/s) | NCCL Time (us) | NCCL AlgBW (GB/s) | Speed Up |
+-----------+-----------+--------------+----------------+-------------------+----------+
|  2.0 KiB  |    6.04   |     0.34     |     13.87      |        0.15       |   2.30   |
|  1.0 MiB  |   22.66   |    46.27     |     39.37      |       26.63       |   1.74   |
+-----------+-----------+--------------+----------------+-------------------+----------+
"""


def test_a_library_beside_another(tmp_path: Path) -> None:
    own, nccl = rows(tmp_path / "bench.txt", MSCCLPP, "collective_table")[2:]
    assert (own["op"], own["ranks"], own["bytes"]) == ("all_reduce", 8, 2**20)
    assert (own["time"], own["algbw"]) == (pytest.approx(22.66e-6), 46.27e9)
    assert (nccl["time"], nccl["algbw"]) == (pytest.approx(39.37e-6), 26.63e9)
    assert {"name": "column", "text": "NCCL"} in nccl["other"]


LAYER = """op,pass,m,n,k,dtype,time_us,tflops
input_rmsnorm,fwd,,,,bf16,30.1,
qkv_proj,fwd,8192,1280,8192,bf16,277.1,620.0
flash_attn,bwd,,,,bf16,799.1,430.0
"""


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_calls_of_other_kinds_among_products(tmp_path: Path, separator: str) -> None:
    text = LAYER.replace(",", separator)
    if separator == "|":
        lines = [f"| {line} |" for line in text.replace("||||", "| - | - | - |").splitlines()]
        text = "\n".join([lines[0], "|---" * 8 + "|", *lines[1:]]) + "\n"
    path = tmp_path / ("a.md" if separator == "|" else "a.csv")
    (product,) = rows(path, text, "gemm_table")
    assert (product["m"], product["n"], product["k"]) == (8192, 1280, 8192)
    norm, attention = rows(path, text, "operator_table")
    assert (norm["operator"], norm["time"]) == ("input_rmsnorm", pytest.approx(30.1e-6))
    assert (attention["operator"], attention["direction"]) == ("flash_attn", "bwd")
    assert (attention["time"], attention["flops_rate"]) == (pytest.approx(799.1e-6), 430e12)
    assert not read([path]).reading.refused


UNORDERED = """# {title}

| Shape | Time (us) | TFLOPS |
|---|---|---|
| 8192x1280x8192 | 277.1 | {rate} |
| {last}x8192x1024 | 232.9 | 590.1 |
"""


@pytest.mark.parametrize(
    ("title", "rate", "last", "count"),
    [
        ("H100", 620.0, 8192, 2),
        ("H100", 310.0, 8192, 0),  # of something else
        ("bf16 GEMM on H100", 310.0, 8192, 2),
        ("H100", 620.0, 4096, 0),
    ],
)
def test_products_in_an_order_that_nobody_says(
    tmp_path: Path, title: str, rate: float, last: int, count: int
) -> None:
    text = UNORDERED.format(title=title, rate=rate, last=last)
    found = rows(tmp_path / "a.md", text, "operator_table")
    assert [(row["operator"], row["time"]) for row in found] == [
        ("gemm", pytest.approx(277.1e-6)), ("gemm", pytest.approx(232.9e-6)),
    ][:count]  # fmt: skip
    assert not rows(tmp_path / "a.md", text, "gemm_table")
    assert all({"name": "Shape", "text": "8192x1280x8192"} in row["other"] for row in found[:1])


def test_square_products_have_no_order(tmp_path: Path) -> None:
    text = "| Problem size | cuBLAS TFLOPS |\n|---|---|\n| 4096x4096x4096 | 700.1 |\n"
    (square,) = rows(tmp_path / "a.md", text, "gemm_table")
    assert (square["m"], square["n"], square["k"], square["kernel"]) == (4096, 4096, 4096, "cuBLAS")


OSU = """+ srun --nodes=2 --ntasks-per-node=8 ./osu_{program} -d rocm -f

# OSU MPI-ROCM {title} Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4096                     34.82             34.16             35.27         200
1048576                 214.60            210.52            217.39         200
"""


@pytest.mark.parametrize(
    ("program", "title", "op", "size"),
    [
        ("allreduce", "Allreduce", "all_reduce", 2**20),
        ("alltoall", "All-to-All Personalized Exchange", "all_to_all", None),
    ],
)
def test_the_osu_micro_benchmarks(
    tmp_path: Path, program: str, title: str, op: str, size: int | None
) -> None:
    text = OSU.format(program=program, title=title)
    _, last = rows(tmp_path / "osu.out", text, "collective_table")
    assert (last["op"], last["bytes"], last["ranks"]) == (op, size, 16)
    assert (last["ranks_per_node"], last["time"]) == (8, pytest.approx(214.6e-6))


FINDER = """** Dtype: torch.bfloat16
- _CudaDeviceProperties(name='NVIDIA H200', major=9, minor=0, total_memory=143156MB)

     1 |  701.8 TFLOPS @ 4096x4096x4096       | best:  701.8 TFLOPS @ 4096x4096x4096
     2 |  679.0 TFLOPS @ 4096x4096x14336      | best:  701.8 TFLOPS @ 4096x4096x4096
"""


def test_a_product_beside_the_best_so_far(tmp_path: Path) -> None:
    _, last = rows(tmp_path / "finder.txt", FINDER, "gemm_table")
    assert (last["m"], last["n"], last["k"]) == (4096, 4096, 14336)
    assert (last["gpu"], last["dtype"], last["flops_rate"]) == ("H200", "bfloat16", 679e12)


GOOGLE = """{"context": {"host_name": "node12", "num_cpus": 64}, "benchmarks": [
 {"name": "BM_Norm/4096", "iterations": 512, "real_time": 2.21e+02, "cpu_time": 2.20e+02,
  "time_unit": "us"},
 {"name": "BM_Norm/8192", "iterations": 64, "real_time": 1.65e+03, "cpu_time": 1.64e+03,
  "time_unit": "us"}]}
"""


@pytest.mark.parametrize(
    "text",
    [
        GOOGLE,
        "name,iterations,real_time,cpu_time,time_unit\nBM_Norm/4096,512,221,220,us\n"
        "BM_Norm/8192,64,1650,1640,us\n",
    ],
)
def test_a_benchmark_of_google_s(tmp_path: Path, text: str) -> None:
    path = tmp_path / ("bench.json" if text == GOOGLE else "bench.csv")
    first, last = rows(path, text, "operator_table")
    assert (first["operator"], first["time"]) == ("BM_Norm/4096", pytest.approx(221e-6))
    assert last["time"] == pytest.approx(1.65e-3)


def test_sizes_of_a_product_in_another_order(tmp_path: Path) -> None:
    text = DEEPBENCH.replace("m       n      k ", "m       k      n ")
    _, last = rows(tmp_path / "gemm.txt", text, "gemm_table")
    assert (last["m"], last["n"], last["k"]) == (1760, 1760, 7000)


CUTLASS = """NVIDIA H800, 1980 MHz, 700.00 W
  Disposition: Passed
  Problem Size: 128x14336x4096
  Avg runtime: 0.0879087 ms
  GFLOPS: 171000
  Problem Size: 128x14336x4096x2
  Rasterization: Heuristic with a maximum CTA swizzle of 1
  Avg runtime: 0.1758174 ms
  GFLOPS: {rate}
"""


@pytest.mark.parametrize(("rate", "count"), [("171000", 2), ("17100", 1)])
def test_products_of_an_example_of_cutlass(tmp_path: Path, rate: str, count: int) -> None:
    found = rows(tmp_path / "48.log", CUTLASS.replace("{rate}", rate), "gemm_table")
    assert len(found) == count  # a rate that is not the work over the time is read by nobody
    assert [found[0][name] for name in ("line", "m", "n", "k", "b")] == [3, 128, 14336, 4096, None]
    assert (found[0]["time"], found[0]["flops_rate"]) == (pytest.approx(8.79087e-5), 171e12)
    assert (found[0]["gpu"], found[-1]["b"]) == ("H800", 2 if count == 2 else None)


BENCHDNN = """Output template: perf,%engine%,%impl%,%name%,%prb%,%Gops%,%-time%,%-Gflops%
perf,gpu,jit:gemm:any,"down",--mode=P --matmul --engine=gpu --dt=bf16:bf16:bf16 \
4096x11008:11008x4096_n"down",369.367,1.52,243005
perf,gpu,jit:gemm:any,,--mode=P --matmul --dt=s8:f16:f16 --attr-scales=src:0:0.25,wei:0:2 \
8x128x64:8x64x256,0.0335544,0.01,3355.44
perf,gpu,jit:gemm:any,,--mode=P --matmul 8x128x64:8x32x256,0.0335544,0.01,3355.44
"""


def test_products_of_benchdnn(tmp_path: Path) -> None:
    text = BENCHDNN.replace("\\\n", "")
    down, batched = rows(tmp_path / "matmul.log", text, "gemm_table")
    assert [down[name] for name in ("m", "n", "k", "b", "dtype")] == [
        4096,
        4096,
        11008,
        None,
        "bf16",
    ]
    assert (down["time"], down["flops_rate"]) == (pytest.approx(1.52e-3), pytest.approx(243.005e12))
    assert [batched[name] for name in ("m", "n", "k", "b")] == [128, 256, 64, 8]


SIDE_BY_SIDE = """# nccl-tests all_reduce_perf, float sum, 4 nodes x 8 H20
size_bytes,{a}_time_us,{a}_algbw_GBps,{a}_busbw_GBps,{b}_time_us,{b}_algbw_GBps,{b}_busbw_GBps,errors
1048576,179.8,5.83,11.30,211.6,4.96,9.61,0
4194304,210.5,19.93,38.61,254.7,16.47,31.91,0
"""


@pytest.mark.parametrize(("names", "count"), [(("ib", "roce"), 4), (("min", "max"), 0)])
def test_networks_in_front_of_labels(tmp_path: Path, names: tuple[str, str], count: int) -> None:
    text = SIDE_BY_SIDE.replace("{a}", names[0]).replace("{b}", names[1])
    found = rows(tmp_path / "ar.csv", text, "collective_table")
    assert len(found) == count
    for row, network, time in zip(found, ["ib", "roce"] * 2, [179.8, 211.6], strict=False):
        assert (row["op"], row["ranks"], row["bytes"]) == ("all_reduce", 32, 1048576)
        assert row["time"] == pytest.approx(time * 1e-6)
        assert {"name": "column", "text": network} in row["other"]


NAMED_IN_FRONT = """,M,N,K,bf16_baseline_sim,bf16_baseline_ms,bf16_baseline_tflops,fp8_rowwise_sim,\
fp8_rowwise_ms,fp8_rowwise_tflops,fp8_rowwise_min_ms
0,128,8192,1024,0.0,0.012558,171.0052,13.6309,0.016393,131.0000,0.015
"""


def test_kernels_whose_name_stands_in_front_of_each_measurement(tmp_path: Path) -> None:
    page = tmp_path / "bench.csv"
    page.write_text(NAMED_IN_FRONT)
    found = read([page]).reading.frames["gemm_table"].sort("line", "column").rows(named=True)
    assert [(row["dtype"], row["kernel"]) for row in found] == [
        ("bf16", "baseline"), ("fp8", "rowwise")
    ]  # fmt: skip
    assert [row["time"] for row in found] == pytest.approx([12.558e-6, 16.393e-6])
    assert [row["flops_rate"] for row in found] == pytest.approx([171.0052e12, 131e12])


IN_HTML = """<h2>FlashAttention on H100, causal, head dimension 128</h2>
<table><thead><tr><th class="head"><p>seqlen</p></th>
<th class="head"><p>batch</p></th>
<th class="head"><p>FA2 fwd (TFLOPS)</p></th></tr></thead>
<tbody><tr><td><p>2048</p></td><td>8</td><td>309</td></tr></tbody></table>
<h2>Products</h2>
<table><tr><th><b>M</b></th><th><b>N</b></th><th><b>K</b></th><th>BF16 TFLOPS</th></tr>
<tr><td>4096</td><td>4096</td><td>4096</td><td>700.1</td></tr></table>
<h3>all_reduce on 16 GPUs</h3>
<table><tr><th>size (B)</th><th>time (us)</th><th>Bus bandwidth (GB/s)</th></tr>
<tr><td>1048576</td><td>60.25</td><td>32.5</td></tr></table>
"""


def test_in_html_each_is_of_its_own_heading(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    (attention,) = rows(page, IN_HTML, "attention_table")
    assert (attention["gpu"], attention["causal"], attention["flops_rate"]) == (
        "H100",
        True,
        309e12,
    )
    (product,) = rows(page, IN_HTML, "gemm_table")
    assert (product["gpu"], product["dtype"], product["flops_rate"]) == (None, "BF16", 700.1e12)
    (collective,) = rows(page, IN_HTML, "collective_table")
    assert (collective["op"], collective["ranks"]) == ("all_reduce", 16)
    assert collective["busbw"] == pytest.approx(32.5e9)
