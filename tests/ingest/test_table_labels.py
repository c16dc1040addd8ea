"""Headers said in words, cells that are no one number, and tables of other trades."""

from __future__ import annotations

from typing import Any

import pytest
from assay.ingest.vocabulary.words import said

from .test_tables import read


def one(header: str, cell: str) -> dict[str, Any]:
    """The one row of a table of runs with one column of interest."""
    reading = read(f"| {header} | MFU |\n|---|---|\n| {cell} | 0.4 |\n")
    assert reading.refused == ()
    return reading.frames["markdown_table"].row(0, named=True)


@pytest.mark.parametrize(
    ("label", "field", "scale"),
    [
        ("TFLOPs/sec/GPU", "model_flops_rate", 1e12),
        ("Model TFLOPs/sec/GPU", "model_flops_rate", 1e12),
        ("TFLOP/s/device", "model_flops_rate", 1e12),
        ("per-GPU TFLOPs", "model_flops_rate", 1e12),
        ("PFLOP/s/GPU", "model_flops_rate", 1e15),
        ("Median TPS/GPU", "tokens_per_gpu_per_s", 1.0),
        ("tok/s/device", "tokens_per_gpu_per_s", 1.0),
        ("tokens / GPU / second", "tokens_per_gpu_per_s", 1.0),
        ("Tokens/s (per GPU)", "tokens_per_gpu_per_s", 1.0),
        ("Throughput per GPU (tokens/s)", "tokens_per_gpu_per_s", 1.0),
        ("TGS (tokens/gpu/sec)", "tokens_per_gpu_per_s", 1.0),
        ("tokens/s (8 GPUs)", "tokens_per_s", 1.0),
        ("tokens/s job", "tokens_per_s", 1.0),
        ("Tokens/s (k)", "tokens_per_s", 1e3),
        ("Throughput (K tokens/s)", "tokens_per_s", 1e3),
        ("Ktok/s", "tokens_per_s", 1e3),
        ("seq/s", "samples_per_s", 1.0),
        ("ms/iter", "step_time", 1e-3),
        ("s / it", "step_time", 1.0),
        ("step p50 (ms)", "step_time", 1e-3),
        ("Time per Global Step (s)", "step_time", 1.0),
        ("BF16 MFU", "mfu", 1.0),
        ("MFU %", "mfu", 0.01),
        ("Peak VRAM (GB)", "memory", 1e9),
        ("max mem GiB", "memory", 2.0**30),
        ("GPU count", "gpus", 1.0),
        ("Packed Sequence Length", "seq_len", 1.0),
        ("Seq Len (k)", "seq_len", 1024.0),
        ("Params (B)", "parameters", 1e9),
        ("Model Size (B)", "model_size", 1e9),
        ("Effective batch size", "global_batch", 1.0),
        ("Global Batch (M tokens)", "global_batch_tokens", 1e6),
        ("batch size per device", "micro_batch", 1.0),
        ("Tokens/s ↑", "tokens_per_s", 1.0),
        ("throughput rate (tokens/s/p)", "tokens_per_gpu_per_s", 1.0),
        ("single-step time (s/step)", "step_time", 1.0),
        ("floating point operation (TFLOPs/s)", "model_flops_rate", 1e12),
        ("tokens吞吐 (tokens/s/p)", "tokens_per_gpu_per_s", 1.0),
        ("样本吞吐 (samples/s)", "samples_per_s", 1.0),
        ("吞吐量 (TFLOP/s/GPU)", "model_flops_rate", 1e12),
        ("最大显存 (MB)", "memory", 1e6),
        ("单步耗时 (ms)", "step_time", 1e-3),
        ("GPU 数", "gpus", 1.0),
        ("samples/s/GPU", "samples_per_gpu_per_s", 1.0),
        ("throughput rate (samples/s/p)", "samples_per_gpu_per_s", 1.0),
        ("it/s", "step_rate", 1.0),
        ("images/sec", "item_rate", 1.0),
        ("Time for 100 steps (s)", "step_time", 0.01),
        ("ms per 10 iterations", "step_time", 1e-4),
        ("No. of nodes", "nodes", 1.0),
        ("Tokens/s (x10^6)", "tokens_per_s", 1e6),
        ("tokens/s [10³]", "tokens_per_s", 1e3),
        ("Tokens / day", "tokens_per_s", 1 / 86_400),
        ("Per-GPU tokens/s", "tokens_per_gpu_per_s", 1.0),
        ("单卡 tokens/s", "tokens_per_gpu_per_s", 1.0),
        ("Tensor MP size", "tp", 1.0),
        ("Zeit pro Schritt (s)", "step_time", 1.0),
        ("temps par itération (ms)", "step_time", 1e-3),
        ("スループット (tokens/s/GPU)", "tokens_per_gpu_per_s", 1.0),
        ("Tput (tok/s)", "tokens_per_s", 1.0),
        ("Thousand tokens/s", "tokens_per_s", 1e3),
        ("ex/s", "samples_per_s", 1.0),
        ("Sustained TFLOPS", "model_flops_rate", 1e12),
        ("算力 (TFLOPs/卡)", "model_flops_rate", 1e12),
        ("Memory consumption (GB)", "memory", 1e9),
        ("VRAM使用量 (GB)", "memory", 1e9),
        ("训练 MFU", "mfu", 1.0),
        ("单卡训练吞吐量 (tokens/s)", "tokens_per_gpu_per_s", 1.0),
        ("1 GPU あたり tokens/s", "tokens_per_gpu_per_s", 1.0),
    ],
)
def test_a_label_of_known_words_is_a_column(label: str, field: str, scale: float) -> None:
    found = said(label)
    assert found is not None
    assert (found.field, found.scale) == (field, scale)


@pytest.mark.parametrize(
    "label",
    [
        "Peak TFLOPs", "TFLOPs (total)", "TFLOPs (8 GPUs)", "TFLOPs/step", "FLOPs/token", "PFLOPs",
        "hardware TFLOPs", "tokens/s per node", "tokens/s/node", "Total tokens",
        "tokens/step", "step time p90", "step p90 (ms)", "Step", "Latency (ms)",
        "Memory BW (GB/s)", "CPU memory (GB)", "Memory saved", "Peak memory reserved (GB)",
        "MFU change", "Target MFU", "Active params (B)", "mini batch size", "Input length", "GPU",
        "Median TPS change", "Total Step time(s)", "理论峰值 (TFLOPS)", "相对 step time (ms)",
        "Total iterations (ms)", "nodes per second", "Average of 0 steps (s)",
    ],
)  # fmt: skip
def test_one_word_more_is_another_quantity(label: str) -> None:
    assert said(label) is None


@pytest.mark.parametrize(
    ("header", "cell", "field", "value"),
    [
        ("GBS", "16.0000", "global_batch", 16),
        ("Params (B)", "1.3", "parameters", 1_300_000_000),
        ("Params (B)", "7B", "parameters", 7_000_000_000),
        ("Seq Len (k)", "8", "seq_len", 8192),
        ("Tokens/s (k)", "12.5", "tokens_per_s", 12500.0),
        ("Tokens/s (k)", "12.5k", "tokens_per_s", 12500.0),
        ("GBS (tokens)", "4096000", "global_batch", None),
        ("Global batch", "4M", "global_batch", None),
        ("Global batch", "4M", "global_batch_tokens", 4_000_000),
        ("GBS", "4194304", "global_batch", None),
        ("GBS", "2 Mi", "global_batch", None),
        ("TFLOPs (total)", "3200", "model_flops_rate", None),
        ("Memory (CPU)", "100GB", "memory", None),
        ("Memory (total)", "640GB", "memory", None),
        ("TFLOPs (relative)", "120", "model_flops_rate", None),
        ("TFLOPs (x1000)", "0.12", "model_flops_rate", None),
        ("Tokens/s (x10^6)", "0.31", "tokens_per_s", 310000.0),
        ("Tokens/s (per GPU)", "7000", "tokens_per_s", None),
        ("Tokens/s [node]", "7000", "tokens_per_s", None),
        ("Step time (std)", "0.02", "step_time", None),
        ("Step time", "899", "step_time", None),  # seconds or milliseconds, nobody says
        ("Step time", "899 ms", "step_time", 0.899),
        ("Step", "27.5 s", "step_time", 27.5),
        ("Mean step", "~211 ms", "step_time", 0.211),
        ("Step", "27", "step_time", None),
        ("GPUs", "8×H100", "gpus", 8),
        ("GPUs", "64 A100 80GB", "gpu", "A100 80GB"),
        ("TFLOPs/GPU", "[842](https://example.org/runs)", "model_flops_rate", 842e12),
        ("TFLOPs/GPU", "842<sup>1</sup>", "model_flops_rate", 842e12),
        ("TFLOPs/GPU", "579.2 (+11.7%)", "model_flops_rate", 579.2e12),
        ("TFLOPs/GPU", "512 ± 3", "model_flops_rate", 512e12),
        ("TFLOPs/GPU", "<del>500</del> 512", "model_flops_rate", 512e12),
        ("TFLOPs/GPU", "38-43", "model_flops_rate", None),
        ("TFLOPs/GPU", "3e2", "model_flops_rate", 300e12),
        ("TFLOPs/GPU", ">800", "model_flops_rate", None),
        ("TFLOPs/GPU", "736 → 834", "model_flops_rate", None),
        ("Tokens/s/GPU", "2100–2800", "tokens_per_gpu_per_s", None),
        ("Peak mem", "200.8 / 203.7 GiB", "memory", None),
        ("Peak mem (MiB)", "0.00", "memory", None),
        ("MBS", "4+GA2", "micro_batch", None),
        ("Step time (s)", "+3.7%", "step_time", None),
        ("Step time (s)", "— (OOM)", "outcome", "OOM"),
        ("Peak mem", "OOM in the first forward", "outcome", "OOM in the first forward"),
        ("Grad Ckpt", "No", "activation_checkpointing", False),
    ],
)
def test_what_a_label_and_a_cell_say_together(
    header: str, cell: str, field: str, value: object
) -> None:
    got = one(header, cell)[field]
    assert got == (pytest.approx(value, rel=1e-14) if isinstance(value, float) else value)


def test_of_two_statistics_the_median_is_taken_and_the_mean_kept() -> None:
    text = "| Mean TPS/GPU | Median TPS/GPU | Max TPS/GPU |\n|-|-|-|\n| 780 | 782 | 799 |\n"
    row = read(text).frames["markdown_table"].row(0, named=True)
    assert row["tokens_per_gpu_per_s"] == 782.0
    kept = {one["name"]: one["text"] for one in row["other"]}
    assert kept == {"Mean TPS/GPU": "780", "Max TPS/GPU": "799"}


@pytest.mark.parametrize(
    "text",
    [
        "| Hardware | TFLOPS | Memory | Best For |\n|-|-|-|-|\n| H100 | 1000 | 80GB | LLMs |\n",
        "| Instance | vCPU | Memory | Price |\n|-|-|-|-|\n| big.24 | 96 | 1152 GiB | $32 |\n",
        "| GPU | Memory | TFLOPs/GPU |\n|-|-|-|\n| H100 | 80GB | 1979 |\n",
        "| Model | TTFT (ms) | Seq len | Tokens/s |\n|-|-|-|-|\n| a-7B | 142 | 64 | 42.6 |\n",
        "| Hardware | Tokens/s | Memory |\n|-|-|-|\n| RTX 4090 | 65 | 8GB |\n",
        "## Inference\n\n| GPUs | Tokens/s | Memory |\n|-|-|-|\n| 1 | 65 | 8GB |\n",
        "| HFU | alpha |\n|-|-|\n| 1 | 0.55 |\n| 2 | 0.56 |\n| 3 | 0.6 |\n",
        "| Category | Throughput |\n|-|-|\n| reads | 1000 MB/s |\n",
        "| Step | val_loss |\n|-|-|\n| 192 | 0.93 |\n",
        "| ZeRO stage | What is sharded | Memory |\n|-|-|-|\n| 1 | optimizer | ~0.5× |\n",
        "| Setup | Iteration Time |\n|-|-|\n| native | ~2-5 s |\n| docker | - |\n",
        "| Stage | MFU | Step time (ms) |\n|-|-|-|\n| 0 | | |\n| 1 | | |\n",
        "| Table | Positions | Peak memory (GB) |\n|-|-|-|\n| KQvK | 173 M | 0.38 |\n",
        "| cell | step time | tok/s |\n|-|-|-|\n| c1 | -2 / +3% | +3 |\n| c2 | -1 / +3% | +3 |\n",
        "| Framework | it/s | Samples/sec |\n|-|-|-|\n| a | 1.8-1.9 | 460-486 |\n",
        "| Component | Time/step | % of total |\n|-|-|-|\n| decoder | ~60ms | 24% |\n",
        "| System | Atoms | Time/step | Peak memory |\n|-|-|-|-|\n| a | 77 | 45 min | 2 GB |\n",
    ],
)
def test_a_table_of_another_trade_is_left_alone(text: str) -> None:
    reading = read(text)
    assert reading.frames == {}
    assert reading.refused == ()
    assert reading.accounting[0].claimed == 0


def test_a_heading_may_say_that_rates_are_of_training() -> None:
    table = "| Framework | Tokens/sec | Memory/GPU |\n|-|-|-|\n| a | 1.2M | 32 GB |\n"
    assert read(f"### Inference speed\n\n{table}").frames == {}
    row = read(f"### Training speed (8× A100)\n\n{table}").frames["markdown_table"]
    assert row.select("tokens_per_s", "memory", "gpus").row(0) == (1.2e6, 32e9, 8)


def test_labels_may_stand_in_two_rows() -> None:
    text = (
        "| Model | Throughput | | Memory | |\n|-|-|-|-|-|\n"
        "| | tokens/s/GPU | samples/s | peak (GB) | reserved (GB) |\n"
        "| a | 12000 | 11.7 | 60 | 70 |\n"
    )
    reading = read(text)
    row = reading.frames["markdown_table"].row(0, named=True)
    measured = row["tokens_per_gpu_per_s"], row["samples_per_s"], row["memory"]
    assert measured == (12000.0, 11.7, 60e9)
    assert row["max_reserved"] == 70e9
    assert reading.accounting[0].claimed == 4


def test_a_legend_may_say_what_is_in_gigabytes_and_a_name_may_end_in_a_number() -> None:
    text = (
        "`wps` is the number of tokens per second over all GPUs; "
        "`gb` is the peak memory of a GPU.\n"
        "\narch | GPUs | flags | wps | gb\n---|---|---|---|---\n"
        "lm_gpt3_1_3B | 8 | sharded | 36214 | 21.9\nlm_gpt3_13 | 8 | offload | 2173.9 | 19.5\n"
    )
    table = read(text).frames["markdown_table"]
    assert table["model"].to_list() == ["lm_gpt3_1_3B", "lm_gpt3_13"]
    assert table["tokens_per_s"].to_list() == [36214.0, 2173.9]
    assert table["memory"].to_list() == [21.9e9, 19.5e9]


def test_rates_may_be_of_items_as_the_text_says() -> None:
    text = (
        "### Training performance\n\nPerformance numbers (in items per second, summed over all "
        "GPUs) were averaged over an entire training epoch.\n\n"
        "| GPUs | Throughput - TF32 | Throughput - mixed precision |"
        " Throughput speedup (TF32 - mixed precision) | Weak scaling - TF32 |\n|-|-|-|-|-|\n"
        "| 1 | 12.04 | 23.67 | 1.97 | 1.00 |\n| 8 | 91.30 | 178.42 | 1.95 | 7.58 |\n"
    )
    table = read(text).frames["markdown_table"].sort("line", "column")
    assert table["item_rate"].to_list() == [12.04, 23.67, 91.3, 178.42]


def test_a_row_of_words_is_no_second_header() -> None:
    text = "| Config | MFU | Notes |\n|-|-|-|\n| first | OOM | sad |\n| second | 41% | good |\n"
    table = read(text).frames["markdown_table"]
    assert table["outcome"].to_list() == ["OOM", None]


def test_a_system_may_name_its_device() -> None:
    text = "| system | MFU |\n|-|-|\n| Perl (A100-40GB) | 30% |\n| Sun (PVC) | 20% |\n"
    assert read(text).frames["markdown_table"]["gpu"].to_list() == ["A100-40GB", None]


@pytest.mark.parametrize(
    ("header", "row", "rate"),
    [
        ("| TFLOPS | MFU |", "| 3933 | 22.96% |", None),  # a share of 17 PFLOP/s: of 16 GPUs
        ("| TFLOPS | MFU |", "| 430 | 43.5% |", 430e12),
        ("| TFLOPs/GPU | MFU |", "| 3933 | 22.96% |", 3933e12),  # its own fault, see `check`
        ("| TFLOPS | GPUs |", "| 20000 | 64 |", None),
        ("| TFLOPS | GPUs |", "| 129000000 | 64 |", 129e6),  # in FLOP/s
    ],
)
def test_a_rate_that_no_device_has_is_of_all(header: str, row: str, rate: float | None) -> None:
    table = read(f"{header}\n|-|-|\n{row}\n").frames["markdown_table"]
    assert table["model_flops_rate"].to_list() == [rate]


@pytest.mark.parametrize(
    ("label", "rates", "held"),
    [
        ("TFLOPs/sec", (700, 2500, 4600), None),  # of all, and less of each the more there are
        ("TFLOPs/GPU", (700, 2500, 4600), 700e12),
        ("TFLOPs/sec", (140, 138, 129), 140e12),
    ],
)
def test_a_rate_that_grows_with_its_devices_is_of_all(
    label: str, rates: tuple[int, ...], held: float | None
) -> None:
    rows = [f"| 7B | {gpus} | {rate} |" for gpus, rate in zip((8, 32, 64), rates, strict=True)]
    table = "\n".join([f"| Model | GPUs | {label} |", "|-|-|-|", *rows, ""])
    assert read(table).frames["markdown_table"]["model_flops_rate"][0] == held


def test_a_larger_model_on_more_devices_may_be_faster_on_each() -> None:
    rows = "| 125M | 8 | 60 |\n| 1.3B | 16 | 110 |\n| 30B | 32 | 200 |\n"
    frame = read(f"| Size | GPUs | TFLOPs |\n|-|-|-|\n{rows}").frames["markdown_table"]
    assert frame["model_flops_rate"].to_list() == [60e12, 110e12, 200e12]


def test_a_size_in_words_costs_its_cell() -> None:
    table = "| Size | GPUs | TFLOPs |\n|-|-|-|\n| G/14 | 8 | 60 |\n| Large | 8 | 61 |\n"
    rows = read(table).frames["markdown_table"].select("model_size", "model_flops_rate").rows()
    assert rows == [(None, 60e12), (None, 61e12)]


@pytest.mark.parametrize(
    ("heading", "gpus", "gpu"),
    [
        ("### Throughput (8 × L40S)", 8, "L40S"),
        ("## Llama 3 on 64xH100", 64, "H100"),
        ("## From 8xH100 to 64xH100", None, "H100"),
        ("## 2 nodes of 8xH100", None, "H100"),
    ],
)
def test_a_heading_counts_its_devices(heading: str, gpus: int | None, gpu: str) -> None:
    row = read(f"{heading}\n\n| TP | MFU |\n|-|-|\n| 1 | 0.4 |\n").frames["markdown_table"]
    assert row.select("gpus", "gpu").row(0) == (gpus, gpu)
