"""Measured training runs of many sites, one frame a campaign.

In: documents below the folder that `ASSAY_CORPUS` names, and fixtures. Out: case frames as
`configurations.run` takes them after `step_cases.completed`, with the measured `step_time` (s) and
a `group` whose rows stand or fall together. A column that a document does not print is filled only
with what the document, its repository at that commit or the model's public shape says; the
comment beside it names which. Everything else is left to the product's own assumptions.
"""

from __future__ import annotations

import csv
import functools
import json
import os
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from tests.studies.anchors import anchors
from tests.studies.step_rows import logs, mosaic

CORPUS = "ASSAY_CORPUS"
H100, A100_80, A100_40 = "H100", "A100-80g", "A100-40g"


def corpus() -> Path | None:
    """The folder of real documents, if the environment names one that exists."""
    named = os.environ.get(CORPUS)
    return Path(named) if named and Path(named).is_dir() else None


def cells(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Heading and cells of every body row of the pipe tables of a document."""
    heading, header = "", None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        if not line.lstrip().startswith("|"):
            header = None
            continue
        row = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if header is None:
            header = row
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in row):
            yield heading, dict(zip(header, row, strict=False))


MPT = {
    "125m": (768, 12, 12), "350m": (1024, 24, 16), "760m": (1536, 24, 12), "1b": (2048, 24, 16),
    "3b": (2560, 32, 20), "7b": (4096, 32, 32), "13b": (5120, 40, 40), "30b": (7168, 48, 56),
    "70b": (8192, 80, 64),
}  # fmt: skip
"""Hidden size, layers, heads: llm-foundry's configurations; every NumParams cell confirms the first
two, and a vocabulary of 50,368."""


def foundry(root: Path, *, machines: tuple[str, ...], precision: str) -> pl.DataFrame:
    """MosaicML's tables of late 2023 on their own cluster: FSDP, fused attention, bf16 or fp8.

    SHARD_GRAD_OP keeps the gathered weights until the backward pass: ZeRO-2.
    """
    spelled = {"h100_80gb": H100, "a100_80gb": A100_80, "a100_40gb": A100_40}
    rows: list[dict[str, Any]] = []
    for _, cell in cells(root / "corpus/wild/table/llm-foundry/README.md"):
        machine, dtype = spelled[cell["GPU"]], cell["Precision"].removeprefix("amp_")
        if machine not in machines or dtype != precision:
            continue
        hidden, layers, heads = MPT[cell["Model"]]
        tokens = int(cell["GlobalBatchSize (T)"])
        rows.append({
            "case": f"{cell['Model']}/{cell['SeqLen (T)']}/{cell['# GPUs']}/{len(rows)}",
            "group": f"{cell['Model']}/{cell['SeqLen (T)']}",
            "machine": machine, "dtype": dtype, "gpus": int(cell["# GPUs"]), "hidden": hidden,
            "layers": layers, "heads": heads, "seq_len": int(cell["SeqLen (T)"]), "vocab": 50368,
            "micro_batch": int(cell["MicroBatchSize"]),
            "global_batch": int(cell["GlobalBatchSize"]),
            "zero_stage": 3 if cell["Sharding Strategy"] == "FULL_SHARD" else 2,
            "recompute": "full" if cell["Activation Checkpointing"] == "True" else "none",
            "reduce_dtype": "fp32" if cell["MP Mode"] == "DEFAULT" else "bf16",
            "node_bandwidth": 200e9 if machine != H100 else 400e9,  # "1600 Gbps", headings
            "tp": 1, "pp": 1, "framework": "composer", "date": "2023-11",
            "step_time": tokens / float(cell["Throughput (T/s)"]),
        })  # fmt: skip
    return pl.DataFrame(rows)


def vtrain(root: Path) -> pl.DataFrame:
    """1,440 configurations on one node of up to eight A100-80g, Megatron-LM; see the MANIFEST."""
    path = root / "corpus/wild/table/vtrain-single/ground_truth_single.csv"
    with path.open(encoding="utf-8-sig", newline="") as stream:
        table = list(csv.DictReader(stream))
    rows = []
    for number, cell in enumerate(table):
        rows.append({
            "case": f"row {number + 2}", "group": f"TP {cell['tensor parallelism']}",
            "machine": A100_80, "dtype": "fp16", "gpus": int(cell["# GPUs"]),
            "hidden": int(cell["hidden size"]), "layers": int(cell["# layers"]),
            "heads": int(cell["attention heads"]), "seq_len": int(cell["sequence length"]),
            "vocab": 50257, "micro_batch": int(cell["micro batch"]),
            "global_batch": int(cell["global batch"]), "tp": int(cell["tensor parallelism"]),
            "dp": int(cell["data parallelism"]), "pp": int(cell["pipeline parallelism"]),
            "zero_stage": 0, "recompute": "full", "framework": "megatron", "date": "2022-06",
            "step_time": float(cell["iteration time (ms)"]) / 1e3,
        })  # fmt: skip
    return pl.DataFrame(rows)


def nemo(root: Path) -> pl.DataFrame:
    """NeMo 24.07 on DGX-H100, FP8, twelve pretraining rows."""
    rows = []
    path = root / "corpus/wild/table/nemo-perf-2407/performance_summary.md"
    for _, cell in cells(path):
        if "VP" not in cell:
            continue  # fine-tuning
        gpus, sequence = int(cell["#-GPUs"]), int(cell["Sequence Length"])
        tp, pp, cp = (int(cell[name]) for name in ("TP", "PP", "CP"))
        batch = int(cell["GBS"])
        rows.append({
            "case": f"{cell['Model']}/{gpus}", "group": cell["Model"], "model": cell["Model"],
            "machine": H100, "dtype": "fp8", "gpus": gpus, "global_batch": batch,
            "micro_batch": int(cell["MBS"]), "seq_len": sequence, "tp": tp, "pp": pp, "cp": cp,
            "dp": gpus // (tp * pp * cp), "vp": int(cell["VP"]), "framework": "nemo",
            "date": "2024-07",
            "step_time": batch * sequence / (float(cell["Tokens / sec / GPU"]) * gpus),
        })  # fmt: skip
    return pl.DataFrame(rows)


def mlperf(root: Path) -> pl.DataFrame:
    """GPT-3 175B on 512 to 3,584 H100; layout from FACTS.md, median of `train_step_timing`."""
    rows = []
    for nodes, batch in ((64, 2048), (96, 3072), (192, 3072), (448, 2688)):
        path = root / f"corpus/wild/log/mlperf-gpt3-h100-n{nodes}/result_0.txt"
        times = []
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            at = line.find(":::MLLOG ")
            if at < 0 or "train_step_timing" not in line:
                continue
            times.append(json.loads(line[at + 9 :])["value"]["train_step_timing"])
        rows.append({
            "case": f"n{nodes}", "group": f"n{nodes}", "model": "GPT-3-175B", "machine": H100,
            "dtype": "fp8", "gpus": 8 * nodes, "global_batch": batch, "micro_batch": 1,
            "seq_len": 2048, "tp": 4, "pp": 8, "vp": 12, "dp": nodes // 4, "zero_stage": 1,
            "sequence_parallel": True, "recompute": "none", "tp_overlap": True,
            "framework": "nemo", "date": "2023-05", "step_time": statistics.median(times),
        })  # fmt: skip
    return pl.DataFrame(rows)


INTERNLM = {
    "machine": A100_80, "dtype": "bf16", "hidden": 4096, "layers": 32, "heads": 32,
    "ffn_hidden": 11008, "vocab": 103168, "gated": True, "seq_len": 2048, "pp": 1,
    "node_bandwidth": 50e9, "framework": "internevo", "date": "2023-11",
}  # fmt: skip
"""InternLM-7B: its public configuration; 4 x 100 Gb/s a node stands in the document."""


def internevo(root: Path) -> pl.DataFrame:
    """TP x ZeRO-1 on 8 to 1,024 GPUs, and the two tables with a rate and TFLOP/s.

    Left out: the row whose rate and TFLOP/s disagree, and rates that stand in both kinds of table
    although they are of different runs.
    """
    path = root / "corpus/wild/table/internevo-perf/train_performance.md"
    rows: list[dict[str, Any]] = []
    grid: set[tuple[int, str]] = set()
    for _, cell in cells(path):
        if "并行配置" in cell:
            tp, zero = map(int, re.findall(r"=(-?\d+)", cell.pop("并行配置")))
            for gpus, rate in ((int(name.removesuffix("卡")), text) for name, text in cell.items()):
                grid.add((gpus, rate))
                rows.append(_internlm(gpus, tp, zero, 2 * tp, 4, "none", float(rate), "grid"))
        elif "TGS" in cell:
            gpus, rate = int(cell["GPU Num"]), cell["TGS"]
            stated, tokens = float(cell["TFLOPS"]), float(rate)
            full = cell["Activation Ckpt"] == "TRUE"
            if (gpus, rate) in grid or (full and abs(stated / tokens * 3314 / 193 - 1) > 0.02):
                continue
            rows.append(
                _internlm(gpus, 1, int(cell["Zero1"]), int(cell["Micro Bsz"]),
                          int(cell["Micro Num"]), "full" if full else "none", tokens, "list")
            )  # fmt: skip
    return pl.DataFrame(rows)


def _internlm(
    gpus: int, tp: int, zero: int, micro: int, count: int, recompute: str, rate: float, table: str
) -> dict[str, Any]:
    dp = gpus // tp
    batch = micro * count * dp
    return INTERNLM | {
        "case": f"{table}/{gpus}/{tp}/{zero}/{micro}/{count}/{recompute}",
        "group": f"{table}/{recompute}/{gpus}", "gpus": gpus, "tp": tp, "dp": dp,
        "micro_batch": micro, "global_batch": batch, "recompute": recompute, "zero_stage": 1,
        "shard_ranks": dp if zero < 0 else min(zero, dp), "attention": "flash",
        "sequence_parallel": False, "step_time": batch * 2048 / (rate * gpus),
    }  # fmt: skip


MIXTURES = {"DeepSeek V3 671B": "DeepSeek-V3", "Qwen3 MoE 30B": "Qwen3-30B-A3B"}
"""Names in that table that are not those of the models' own projects."""


def automodel(root: Path) -> pl.DataFrame:
    """NeMo AutoModel's mixtures on H100, bf16, FSDP2 and DeepEP; router balanced by force."""
    rows = []
    path = root / "corpus/wild/table/automodel-perf/performance-summary.mdx"
    for heading, cell in cells(path):
        if "Time per Global Step (s)" not in cell or cell["Model"].startswith(("Llama", "Qwen2")):
            continue
        del heading
        gpus, pp = int(cell["#GPUs"]), int(cell["PP"])
        ep = min(gpus // pp, 64) if cell["EP"] == "-" else int(cell["EP"])  # DeepEP needs some
        rows.append({
            "case": f"{cell['Model']}/{gpus}", "group": cell["Model"],
            "model": MIXTURES.get(cell["Model"], cell["Model"]), "machine": H100, "dtype": "bf16",
            "gpus": gpus, "global_batch": int(cell["GBS"]), "micro_batch": int(cell["MBS"]),
            "seq_len": int(cell["Seq Length"]), "tp": 1, "pp": pp, "dp": gpus // pp, "ep": ep,
            "vp": 1 if cell["VP"] == "-" else int(cell["VP"]), "zero_stage": 3,
            "framework": "automodel", "date": "2025-10",
            "step_time": float(cell["Time per Global Step (s)"]),
        })  # fmt: skip
    return pl.DataFrame(rows)


def prequel() -> pl.DataFrame:
    """BigScience's chronicle of early 2022 (seed 002), as the protocol corrects it."""
    return anchors()


READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "foundry.h100": lambda root: foundry(root, machines=(H100,), precision="bf16"),
    "foundry.h100_fp8": lambda root: foundry(root, machines=(H100,), precision="fp8"),
    "foundry.a100": lambda root: foundry(root, machines=(A100_80, A100_40), precision="bf16"),
    "vtrain.single": vtrain,
    "nemo2407": nemo,
    "mlperf.gpt3": mlperf,
    "internevo": internevo,
    "automodel.moe": automodel,
    "v100": lambda root: logs(),
    "seed002": lambda root: prequel(),
    "seed004": lambda root: mosaic("fixtures/markdown_table/mosaic_2022.md"),
    "tables2023": lambda root: mosaic(root / "corpus/mfu_table/mosaic_2023_tables.md"),
}
"""Every campaign by name, in the order of its figures."""


@functools.cache
def campaigns() -> dict[str, pl.DataFrame]:
    """Every campaign's frame; empty where no corpus is at hand."""
    root = corpus()
    return {} if root is None else {name: read(root) for name, read in READERS.items()}
