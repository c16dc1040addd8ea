"""Tables of many authors against what stands in them, copied by hand: rows, first and last row.

A wanted row is one with a measured time, rate, memory or utilisation of training, or what happened
instead. What is not read is said to be not understood; `UNREAD` gives the reason, document by
document.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs.read import read
from assay.ingest.schema.reading import Reading

T, G, M, K = 1e12, 1e9, 2.0**20, 2.0**30

Said = Mapping[str, object]


class Wanted:
    """What is wanted of a document: rows, the first and the last of them, refusals."""

    def __init__(
        self, syntax: str, rows: int, first: Said, last: Said, *, read: int = 0, refused: int = 0
    ) -> None:
        self.syntax, self.rows, self.first, self.last = syntax, rows, first, last
        self.read, self.refused = read or rows, refused


def at(line: int, **values: object) -> dict[str, object]:
    return {"line": line, **values}


WANTED = {
    "alcf-small/AuroraGPT-small.md": Wanted(
        "markdown", 12,
        at(9, layers=4, model_size=1.98e9, tokens_per_gpu_per_s=8018.0, model_flops_rate=66.75 * T),
        at(20, layers=18, model_size=2.45e9, tokens_per_gpu_per_s=4363.0,
           model_flops_rate=65.38 * T),
    ),
    "ao-training/training.md": Wanted(
        "markdown", 12,
        # 8 devices, and a rate that one of them could reach: whose it is, the header does not say
        at(61, model="Llama3-8b", memory=47.65 * G, tokens_per_s=None, dtype="bfloat16"),
        at(317, model="Llama3-8b", memory=33.72 * G),
    ),
    "auroragpt/AuroraGPT-70B.md": Wanted(
        "markdown", 48,
        at(36, nodes=8, gpus=96, pp=8, dp=12, tp=1, micro_batch=1, accumulation=1,
           global_batch=12, outcome="OOM", model_flops_rate=None),
        at(184, nodes=16, dp=192, tp=1, micro_batch=1, global_batch=192,
           model_flops_rate=97.2 * T, samples_per_s=3.77),
    ),
    "automodel-perf/performance-summary.mdx": Wanted(
        "markdown", 16,
        at(16, gpus=64, global_batch=512, micro_batch=2, accumulation=4, seq_len=4096, tp=1, pp=1,
           cp=1, ep=64, vp=None, step_time=7.286, model_flops_rate=334 * T,
           tokens_per_gpu_per_s=4497.0),
        at(40, gpus=16, global_batch=32, tp=2, step_time=3.95, model_flops_rate=277 * T,
           tokens_per_gpu_per_s=2072.89, trained_part="LoRA"),
    ),
    "bigs-gpt2/gpt2.md": Wanted(
        "markdown", 85,
        at(73, gpus=16, model_size=7.5e9, dp=1, pp=4, accumulation=4, micro_batch=1,
           global_batch=4, step_time=0.661, model_flops_rate=23.2 * T),
        at(487, gpus=64, model_size=52e9, zero_stage=2, outcome="OOM", step_time=None),
    ),
    "bigs-tr8/tr8-104B.md": Wanted(
        "markdown", 10,
        at(19, nodes=32, tp=4, pp=32, dp=1, micro_batch=1, model_flops_rate=54.5 * T,
           step_time=None),  # `Speed` has no unit
        at(87, nodes=32, tp=4, pp=32, dp=1, micro_batch=1, model_flops_rate=38.6 * T),
    ),
    "colossal-readme/README.md": Wanted(
        "markdown", 4,
        at(69, gpu="H200", gpus=8, model_size=7e9, zero_stage=2, dp=8, seq_len=4096,
           samples_per_s=17.13, model_flops_rate=534.18 * T, memory=119040.02 * M),
        at(72, gpu="H200", gpus=16, model_size=70e9, zero_stage=1, dp=2, tp=2, pp=4,
           samples_per_s=5.66, model_flops_rate=811.79 * T, memory=100072.02 * M),
    ),
    "colossal-zb/zerobubble_pipeline_parallelism.md": Wanted(
        "html", 6, at(170, samples_per_s=15.27), at(178, samples_per_s=14.44)
    ),
    "dlperf-gpt/README.md": Wanted(
        "markdown", 28,
        at(303, nodes=1, gpus_per_node=1, dp=1, tp=1, pp=1, micro_batch=2, accumulation=1,
           global_batch=2, hidden=1536, heads=16, layers=16, memory=11066 * M, samples_per_s=4.92,
           model_flops_rate=49.43 * T),
        at(323, nodes=4, gpus_per_node=8, dp=2, tp=8, pp=2, micro_batch=8, accumulation=32,
           global_batch=512, hidden=2304, heads=24, layers=24, memory=10708 * M,
           samples_per_s=35.62, model_flops_rate=33.62 * T),
        read=18,  # ten lines of a log in bars: batches, throughput and latency without a unit
    ),
    "ds-autotuning/README.md": Wanted(
        "markdown", 24,  # eight models, three columns each
        at(55, model="DistilBERT", parameters=66000000, samples_per_s=5161.902, accumulation=1,
           micro_batch=256, zero_stage=None),
        at(62, model="DeBERTa", parameters=1500000000, samples_per_s=162.395, zero_stage=1,
           accumulation=1, micro_batch=11),
    ),
    "ezpz-compare/comparison.md": Wanted(
        "markdown", 2,
        at(18, micro_batch=1, gpus=8, global_batch=8, seq_len=8192, samples_per_s=1.958,
           tokens_per_s=2004.87, tokens_per_gpu_per_s=250.61),
        at(18, micro_batch=1, gpus=24, global_batch=24, seq_len=8192, samples_per_s=8.021,
           tokens_per_s=2737.98, tokens_per_gpu_per_s=114.08),
    ),
    "flagperf-gpt3/README.md": Wanted(
        "markdown", 8,
        at(86, gpu="A100 80GB", nodes=1, gpus=8, tokens_per_gpu_per_s=4410.0, memory=66.27 * G,
           tokens_per_s=None),
        at(94, gpu="A100 80GB", nodes=1, gpus=8, tokens_per_gpu_per_s=1643.0, memory=None),
    ),
    "flagperf-llama3/README.md": Wanted(
        "markdown", 14,
        at(60, gpu="A100", nodes=1, gpus=8, dtype="bf16", pp=2, dp=4, tp=1, mfu=0.569,
           tokens_per_gpu_per_s=3698.7),
        at(77, gpu="A100", gpus=8, pp=4, dp=1, tp=2, mfu=0.468, tokens_per_gpu_per_s=3042.7),
    ),
    "fsdp-qlora/benchmarks_03_2024.md": Wanted(
        "markdown", 33,
        at(34, seq_len=512, memory=4.98 * K, trained_part="QLoRA", step_time=None),
        at(164, seq_len=24576, memory=22.54 * K, trained_part="QLoRA"),
        read=24,  # nine rows have the time of a whole run alone
    ),
    "internevo-perf/train_performance.md": Wanted(
        "markdown", 78,
        at(7, gpus=8, tokens_per_gpu_per_s=4078.0, model_flops_rate=193 * T),
        at(145, model="20B", gpus=16, tp=1, pp=16, memory=52 * G),
    ),
    "libai-bench/Benchmark.md": Wanted(
        "html", 88,
        at(61, layers=24, dtype="fp16", micro_batch=24, global_batch=24, nodes=1, gpus_per_node=1,
           samples_per_s=46.91),
        at(595, layers=24, dtype="fp16", micro_batch=64, global_batch=1024, nodes=4,
           gpus_per_node=8, activation_checkpointing=True, samples_per_s=178.2),
        read=87, refused=1,  # `13.3 samples/`
    ),
    "litgpt-finetune/README.md": Wanted(
        "markdown", 53,
        at(12, model="falcon-7b", seq_len=512, micro_batch=1, gpu="A10G", gpus=1,
           memory=16.69 * G, trained_part="lora"),
        at(79, model="tiny-llama", seq_len=512, micro_batch=8, gpu="A10G", gpus=1,
           memory=16.24 * G, trained_part="qlora"),
    ),
    "litgpt-thunder/README.md": Wanted(
        "markdown", 13,
        at(551, gpus=8, step_time=0.45657, memory=22.13 * G),
        at(566, gpus=1, step_time=0.33192, memory=25.19 * G),
    ),
    "llm-foundry/README.md": Wanted(
        "markdown", 216,
        at(75, model="70b", seq_len=2048, gpus=512, gpu="h100_80gb", mfu=0.4125, hfu=0.55,
           model_flops_rate=408 * T, micro_batch=8, accumulation=1, global_batch=4096,
           samples_per_s=251.0, tokens_per_s=515636.0, tokens_per_gpu_per_s=1007.0,
           parameters=64862437376),
        at(309, model="125m", seq_len=512, gpus=8, gpu="a100_40gb", mfu=0.4026, hfu=0.4026,
           tokens_per_gpu_per_s=156735.0, parameters=124131840),
    ),
    "maxtext-v5e/README.md": Wanted(
        "markdown", 24,
        at(23, model_size=16e9, gpus=256, model_flops_rate=120 * T, mfu=0.611),
        at(28, model_size=128e9, gpus=8192, model_flops_rate=91 * T, mfu=0.4625),
    ),
    "maxtext-v5p/README.md": Wanted(
        "markdown", 16,
        at(23, gpus=64, model_flops_rate=328 * T, mfu=0.7147),
        at(58, gpus=4096, model_flops_rate=279 * T, mfu=0.6083),
    ),
    "mindspeed-llama2/README.md": Wanted(
        "markdown", 8,
        at(259, model="LLaMA2-7B", tokens_per_gpu_per_s=4241.0, step_time=30.9,
           model_flops_rate=131.96 * T),
        at(1045, model="LLaMA2-70B", tokens_per_gpu_per_s=430.0),
    ),
    "nemo-launcher/README.md": Wanted(
        "markdown", 16,
        at(50, model="GPT3-175B", gpus=512, global_batch=2048, micro_batch=1, seq_len=2048, tp=4,
           pp=8, cp=1, tokens_per_gpu_per_s=741.0, model_flops_rate=797 * T),
        at(76, model="LLAMA2-70B", gpus=8, tp=2, pp=4, tokens_per_gpu_per_s=2470.0,
           model_flops_rate=681 * T, trained_part="LoRA"),
    ),
    "nemo-perf-2407/performance_summary.md": Wanted(
        "markdown", 18,
        at(14, model="GPT3-5B", gpus=64, global_batch=2048, micro_batch=4, seq_len=2048, vp=1,
           tokens_per_gpu_per_s=23574.0, model_flops_rate=770 * T),
        at(42, model="LLAMA2-70B", gpus=8, tp=2, pp=4, tokens_per_gpu_per_s=2621.0,
           model_flops_rate=722 * T, trained_part="LoRA"),
    ),
    "te-llama-nb/tutorial_accelerate_hf_llama_with_te.ipynb": Wanted(
        "markdown", 9, at(309, dtype="BF16", step_time=0.248), at(745, dtype="FP8", step_time=0.185)
    ),
    "torchgpipe-rst/benchmarks.rst": Wanted(
        "rst", 24,  # five of memory, of one device or of all: nobody says
        at(44, parameters=362200000, memory=None, item_rate=None),
        at(163, item_rate=411.662, samples_per_s=None),  # `/s` of nothing named
    ),
    "torchtune-readme/README.md": Wanted(
        "markdown", 18,
        at(125, model="Llama 3.1 8B", gpus=1, gpu="4090", memory=18.9 * K, tokens_per_s=1650.0),
        at(156, memory=4.6 * K, tokens_per_s=8035.0),
    ),
    "verl-dpsk/dpsk.md": Wanted(
        "markdown", 4,
        at(64, gpus=96, memory=66 * G, mfu=0.19, step_time=1700.0,
           trained_part="reinforcement learning"),
        at(75, gpus=32, nodes=4, tp=1, pp=1, ep=8, mfu=0.31),
    ),
    "vtrain-single/ground_truth_single.csv": Wanted(
        "csv", 1440,
        at(2, gpus=2, global_batch=16, micro_batch=8, hidden=1024, heads=16, layers=24,
           seq_len=1024, tp=1, dp=1, pp=2, step_time=0.372160408),
        at(1441, gpus=4, global_batch=64, micro_batch=8, hidden=1024, heads=16, layers=24,
           seq_len=1024, tp=1, dp=4, pp=1, step_time=0.474725583),
    ),
}  # fmt: skip

UNREAD = {
    "ds-commopt/README.md": "times without a unit, and a rate of samples of a length of their own",
    "mlperf-summary/summary.csv": "minutes to train, no rate",
    "te-gemm/gemm_profiling.rst": "products, which are rows of another frame (below)",
}
"""Documents that give no row, each with the reason."""

OF_KERNELS = {"liger-csv/all_benchmark_data_cutedsl.csv", "vidur-allreduce/all_reduce.csv"}
"""Documents whose rows are calls of kernels (below)."""


@cache
def reading(path: Path) -> Reading:
    return read([path]).reading


def rows(found: Reading) -> list[dict[str, Any]]:
    frame = found.frames.get("markdown_table")
    return [] if frame is None else frame.sort("source", "line", "column").rows(named=True)


def equal(row: dict[str, Any], said: Said) -> None:
    for name, value in said.items():
        wanted = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        assert row[name] == wanted, name


@pytest.mark.parametrize("name", sorted(WANTED))
def test_first_and_last_rows(name: str, corpus: Path) -> None:
    found, wanted = reading(corpus / "corpus" / "wild" / "table" / name), WANTED[name]
    held = rows(found)
    assert len(held) == wanted.read
    assert len(found.refused) == wanted.refused
    equal(held[0], wanted.first)
    equal(held[-1], wanted.last)


@pytest.mark.parametrize("name", sorted(UNREAD))
def test_what_gives_no_row_is_said(name: str, corpus: Path) -> None:
    found = reading(corpus / "corpus" / "wild" / "table" / name)
    assert rows(found) == []
    silent = [note for note in found.accounting[0].tables if note.rows and not note.read]
    assert silent
    assert all(note.header and note.not_understood for note in silent)


def test_products_in_plain_text_are_read_in_the_order_that_the_document_names(corpus: Path) -> None:
    path = corpus / "corpus" / "wild" / "table" / "te-gemm" / "gemm_profiling.rst"
    frame = reading(path).frames["gemm_table"].sort("line", "column")
    held = frame.select("line", "gpu", "dtype", "m", "n", "k", "time").rows()
    assert len(held) == 12
    assert held[0] == (78, "B300 SXM6", "BF16", 15872, 12288, 4096, pytest.approx(1.071e-3))
    assert held[-1] == (81, "B300 SXM6", "NVFP4", 15872, 4096, 16384, pytest.approx(0.649e-3))


def test_a_metric_in_each_row_is_a_measured_operator(corpus: Path) -> None:
    path = corpus / "corpus" / "wild" / "table" / "liger-csv" / "all_benchmark_data_cutedsl.csv"
    found = reading(path)
    frame = found.frames["operator_table"].sort("line", "column")
    assert frame.height == 165
    assert frame["time"].count() == 132
    # 2,048 rows of 32,000 numbers of 8 bytes: megabytes of 1,024s, as the digits prove
    row = frame.row(56, named=True)
    assert (row["line"], row["model"], row["time"]) == (58, "llama_2_7b", None)
    assert row["memory"] == 500.04150390625 * M
    said = found.provenance.filter(frame="operator_table", field="memory")
    assert set(said["value_origin"]) == {"solved"}


def test_collectives_of_a_profiler_are_in_its_units(corpus: Path) -> None:
    path = corpus / "corpus" / "wild" / "table" / "vidur-allreduce" / "all_reduce.csv"
    found = reading(path)
    frame = found.frames["collective_table"].sort("line")
    assert frame.height == 1988
    last = frame.row(-1, named=True)
    assert (last["op"], last["ranks"], last["bytes"], last["time"]) == (
        "all_reduce", 4, 67108864, pytest.approx(2.063e-3),
    )  # fmt: skip
    assert set(found.provenance.filter(field="time")["value_origin"]) == {"assumed"}


def test_every_document_is_spoken_of(corpus: Path) -> None:
    folder = corpus / "corpus" / "wild" / "table"
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == WANTED.keys() | UNREAD.keys() | OF_KERNELS


def test_nine_of_ten_wanted_rows_are_read() -> None:
    for syntax in ("markdown", "html", "csv", "rst"):
        mine = [each for each in WANTED.values() if each.syntax == syntax]
        assert sum(each.read for each in mine) >= 0.9 * sum(each.rows for each in mine)
