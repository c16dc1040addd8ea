"""Logs of many trainers, a sample of each: which records they hold, and what their numbers mean.

The samples in `trainers/` are written after the print statements of the trainers, with numbers of
our own; none is anybody's log. What must come out was written down beside them, before they were
read. A value that stands under no column here must not be there: a number whose unit nobody prints
is no time.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.read import read as read_inputs
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Accounting, Reading
from assay.ingest.source.opening import Source, open_source

from tests.ingest.collected_trainers import COLLECTED
from tests.ingest.further_trainers import FURTHER
from tests.ingest.launched_trainers import GB, GENERIC, GIB, KNOWN, LAUNCHED, MEGATRON, MIB, T
from tests.ingest.scripted_trainers import SCRIPTED

SAMPLES = Path(__file__).parent / "trainers"

Columns = dict[str, list[Any]]

TRAINERS: dict[str, tuple[str, Columns]] = LAUNCHED | FURTHER | COLLECTED | SCRIPTED | {
    "accelerate_fsdp": (GENERIC, {
        "step": [2, 3, 4], "loss": [1.812, 1.712, 1.692],
        "step_time_average": [10.01, 9.71, 9.69], "step_time": []}),
    "alpa": (GENERIC, {
        "step": [10, 20, 30], "loss": [6.812, 6.1022, 5.719], "flops_rate_per_gpu": [],
        "token_rate": [14012.33, 19210.01, 19222.48],
        "flops_rate": [36.2 * T, 49.63 * T, 49.66 * T],
        "step_time": []}),
    "automodel": (KNOWN, {
        "step": [1, 2, 3], "tokens_per_s": [9120.12, 21120.12, 21220.12],
        "tokens_per_gpu_per_s": [1140.02, 2640.02, 2652.52],
        "max_allocated": [31.2 * GIB, 33.2 * GIB, 33.2 * GIB]}),
    "axolotl": (KNOWN, {
        "loss": [1.3312, 1.2901, 1.3115, 1.2544], "learning_rate": [2e-5, 4e-5, 6e-5, 8e-5],
        "step": []}),
    "big_vision": (GENERIC, {
        "step": [100, 200, 300], "total_steps": [90000] * 3, "loss": [6.81, 6.51, 6.31]}),
    "bmtrain": (KNOWN, {
        "step": [1, 2, 3, 4], "step_time": [9.812, 2.113, 2.1092, 2.111],
        "loss": [10.9812, 10.971, 10.9022, 10.812], "loss_scale": [1048576.0] * 4}),
    "bridge_new": (MEGATRON, {"iteration": [2, 3], "step_time": [6.1204, 6.0901]}),
    "build_nanogpt": (KNOWN, {
        "step": [0, 1, 2, 3], "step_time": [29.41322, 0.3621, 0.36151, 0.36174],
        "tokens_per_s": [17824.91, 1447909.0, 1450272.26, 1449350.12],
        "grad_norm": [15.3593, 14.882, 13.1127, 10.902]}),
    "cerebras": (GENERIC, {
        "step": [50, 100, 150, 200], "samples_per_s": [None, 68.41, 68.31, 68.54],
        "loss": [8.3125, 7.25, 6.53125, 6.09375]}),
    "composer": (KNOWN, {
        "step": [1, 2, 3], "loss": [12.0192, 11.8341, 11.1177], "mfu": [None, 0.4012, 0.403],
        "tokens_per_s": [None, 158658.9111, 159383.552], "step_rate": [None, 0.1513, 0.152],
        "tokens_per_gpu_per_s": [None, 19832.3639, 19922.944],
        "max_reserved": [52.427 * GB, 61.13 * GB, None], "consumed_tokens": [0, 1048576, None]}),
    "deepspeed_chat_sft": (KNOWN, {
        "step_time": [2.91, 0.88, 0.87, 0.87], "samples_per_s": [22.01, 72.8, 73.6, 73.63],
        "flops_rate_per_gpu": [18.2 * T, 60.21 * T, 60.87 * T, 60.9 * T]}),
    "detectron2": (KNOWN, {
        "step": [19, 39, 59], "step_time": [0.361, 0.3671, 0.366],
        "step_time_average": [0.3721, 0.369, 0.3688], "max_allocated": [4120 * MIB] * 3}),
    "diffusers": (GENERIC, {
        "step": [10, 11, 12], "total_steps": [15000] * 3, "loss": [0.121, 0.0872, 0.211],
        "step_time_average": [2.41, 2.4, 2.4], "step_time": []}),
    "dllogger": (GENERIC, {
        "step": [10, 20, 30], "loss": [10.812, 9.812, 8.712],
        "learning_rate": [48e-5, 96e-5, 144e-5]}),
    "easylm": (GENERIC, {
        "step": [0, 50, 100], "loss": [10.6812, 8.9912, 7.812],
        "grad_norm": [1.8912, 1.211, 0.902]}),
    "fairseq2": (GENERIC, {
        "step": [10, 20, 30], "loss": [2.1312, 1.912, 1.7922], "elapsed": [21, 39, 57],
        "memory": [41.21 * GIB] * 3, "step_time": []}),
    "fairseq_plain": (KNOWN, {
        "step": [100, 200, 300], "loss": [16.102, 13.921, 12.014], "step_rate": [2.48, 2.5, 2.5],
        "tokens_per_s": [81203.2, 82010.7, 82044.1], "elapsed": [52, 92, 132]}),
    "fms_fsdp": (KNOWN, {
        "step": [100, 200, 300], "step_time": [2.3412, 2.339, 2.3401],
        "step_time_average": [2.392, 2.3655, 2.357],
        "tokens_per_gpu_per_s": [3499.06, 3502.35, 3500.7], "max_reserved": [62134419456] * 3,
        "consumed_tokens": [104857600, 209715200, 314572800]}),
    "gpt_neox": (MEGATRON, {"iteration": [10, 20], "step_time": [3.8801, 3.8482]}),
    "hf_json_state": (KNOWN, {
        "loss": [10.8513, 10.7002, 10.412], "token_rate": [81234.5, 83110.2, 83502.9],
        "consumed_tokens": [524288, 1048576, 1572864], "step": []}),
    "hf_trainer": (KNOWN, {
        "step": [10, 20, 30], "total_steps": [400] * 3, "loss": [2.3104, 1.9822, 1.8417],
        "step_time": []}),
    "imagenet_pytorch": (KNOWN, {
        "batch": [1, 11, 21, 31], "epoch": [0] * 4, "step_time": [6.812, 0.221, 0.223, 0.221],
        "step": []}),
    "internevo": (KNOWN, {
        "step": [0, 1, 2], "tokens_per_gpu_per_s": [1018.12, 4076.29, 4087.3],
        "flops_rate_per_gpu": [45.2131 * T, 181.022 * T, 181.5104 * T],
        "consumed_tokens": [131072, 262144, 393216]}),
    "jsonl_metrics": (GENERIC, {
        "step": [1, 2, 3], "loss": [10.912, 10.812, 10.601], "step_time": [],
        "mfu": [0.181, 0.501, 0.502],
        "tokens_per_gpu_per_s": [8378.9, 23213.9, 23263.4], "tokens_per_s": [],
        "max_allocated": [41.2 * GB, 41.9 * GB, 41.9 * GB]}),
    "keras2": (GENERIC, {
        "batch": [469] * 3, "step_time": [0.121, 0.119, 0.119], "loss": [6.221, 5.4401, 5.112],
        "validation_loss": [5.812, 5.302, 5.1121], "step": []}),
    "keras3": (GENERIC, {
        "step": [100, 200, 1875], "step_time": [0.114, 0.113, 0.113],
        "loss": [9.812, 8.912, 6.812]}),
    "kubectl_custom": (GENERIC, {
        "step": [100, 200, 300], "step_time": [0.912, 0.91, 0.911],
        "tokens_per_gpu_per_s": [8982, 9002, 8992], "memory": [61.2 * GIB] * 3}),
    "levanter": (GENERIC, {
        "step": [100, 200, 300], "step_rate": [1.2] * 3, "loss": [8.91, 7.4, 6.83]}),
    "libai": (GENERIC, {
        "step": [99, 199, 299], "step_time": [0.4121, 0.4101, 0.41],
        "samples_per_s": [77.65, 78.03, 78.05], "consumed_samples": [3200, 6400, 9600]}),
    "lightning_new": (GENERIC, {
        "step": [100, 200, 250], "step_rate": [2.48, 2.48, 2.49], "loss": [6.12, 5.81, 5.66],
        "token_rate": [4.06e4, 4.07e4, 4.07e4], "validation_loss": [None, None, 5.71]}),
    "lightning_old": (GENERIC, {
        "step": [10, 20, 30], "loss": [9.12, 8.45, 7.9], "step_time_average": [2.17] * 3}),
    "lingua": (KNOWN, {
        "step": [10, 20, 30], "step_time": [0.2921, 0.2849, 0.2845],
        "tokens_per_gpu_per_s": [5.61e4, 5.75e4, 5.76e4],
        "flops_rate_per_gpu": [3.91e14, 4.01e14, 4.02e14], "mfu": []}),
    "lit_gpt_2023": (GENERIC, {
        "step": [0, 1, 2, 3], "step_time": [4.02111, 0.81244, 0.81092, 0.90237]}),
    "litgpt_pretrain": (GENERIC, {
        "step": [16, 32, 48, 64], "step_time": [1.3921, 1.38871, 1.39033, 1.4019]}),
    "llamafactory": (KNOWN, {
        "loss": [1.482, 1.391, 1.3207, 1.3311], "epoch": [0.03, 0.05, 0.08, 0.1],
        "token_rate": [], "step": []}),
    "llmc": (KNOWN, {
        "step": [1, 2, 3, 4], "step_time": [3.05636, 2.8912, 2.89044, 2.89107],
        "mfu": [0.426, 0.451, 0.451, 0.451], "token_rate": [171541, 181340, 181365, 181359]}),
    "llmc_cpu": (GENERIC, {
        "step": [0, 1, 2, 3], "step_time": [2.341118042, 2.219407031, 2.20193011, 2.207224931]}),
    "logfmt": (GENERIC, {
        "step": [10, 20, 30], "step_time": [0.9124, 0.9109, 0.9112],
        "token_rate": [143642, 143878, 143831]}),
    "maxtext": (KNOWN, {
        "step": [0, 1, 2, 3], "step_time": [25.12, 3.412, 2.118, 2.12],
        "flops_rate_per_gpu": [16.301 * T, 120.01 * T, 193.333 * T, 193.151 * T],
        "tokens_per_gpu_per_s": [326.114, 2401.0, 3867.8, 3864.151]}),
    "megatron_fork_aistack": (GENERIC, {
        "step": [100, 200, 300], "step_time": [3.412, 3.401, 3.402],
        "tokens_per_gpu_per_s": [4801.2, 4816.7, 4815.3],
        "flops_rate_per_gpu": [212.4 * T, 213.1 * T, 213.0 * T]}),
    "megatron_new": (MEGATRON, {
        "iteration": [10, 20], "step_time": [5.6123, 5.5709],
        "model_flops_rate": [401.2 * T, 404.2 * T]}),
    "metaseq": (KNOWN, {
        "step": [1, 2, 3], "tokens_per_s": [101221, 102410, 102399], "step_rate": [0.05] * 3,
        "allocated": [21.3 * GIB] * 3, "loss": [14.901, 14.812, 14.701]}),
    "mindformers": (KNOWN, {
        "step": [2, 4, 6], "step_time": [37.531, 5.302, 5.3], "loss": [10.644, 10.631, 10.602],
        "flops_rate_per_gpu": [23.102 * T, 163.502 * T, 163.564 * T]}),
    "mindspore_plain": (GENERIC, {
        "step": [100] * 3, "epoch": [1, 2, 3], "loss": [9.812, 8.1031, 7.552]}),
    "mmengine": (KNOWN, {
        "step": [10, 20, 30, 40], "step_time": [5.163, 5.0976, 5.1002, 5.109],
        "max_allocated": [31204 * MIB] * 4, "grad_norm": [None, None, 0.812, 0.7012]}),
    "mmengine_epoch": (KNOWN, {
        "batch": [100, 200, 300], "epoch": [1] * 3, "step_time": [0.342, 0.3101, 0.3094],
        "step": []}),
    "modded_nanogpt": (GENERIC, {
        "step": [0, 1, 2, 3, 4, 125], "elapsed": [0, 0.111, 0.24, 0.372, 0.509, 16.112],
        "step_time": []}),
    "ms_swift": (KNOWN, {
        "step": [5, 10, 15], "total_steps": [935] * 3, "step_rate": [0.1541, 0.1604, 0.1622],
        "memory": [17.64 * GIB, 18.02 * GIB, 18.02 * GIB], "elapsed": [32, 62, 92]}),
    "nanogpt": (KNOWN, {
        "step": [0, 10, 20, 30, 40], "step_time": [54.12033, 1.31209, 1.31087, 1.31143, 1.31102],
        "mfu": [None, None, 0.412, 0.4119, 0.412]}),
    "nanot5": (GENERIC, {
        "step": [100, 200, 300], "total_steps": [65536] * 3, "step_time": [0.812, 0.81, 0.811]}),
    "nanotron": (MEGATRON, {
        "iteration": [1, 2, 3], "step_time": [29.1, 5.62, 0.981],
        "tokens_per_s": [72.1e3, 373e3, 374e3], "tokens_per_gpu_per_s": [1130, 5830, 5840]}),
    "nemo1_bar": ("step_progress", {
        "step": [4, 5, 6], "step_time": [8.11, 8.09, 8.1], "consumed_samples": [640, 768, 896]}),
    "nemo2_line": (MEGATRON, {
        "iteration": [0, 1, 2, 3], "step_time": [31.77, 8.914, 8.902, 8.897]}),
    "neuron_nxd": (GENERIC, {
        "batch": [0, 1, 2, 3], "loss": [10.812, 10.802, 10.772, 10.702], "samples_per_s": []}),
    "olmo": (KNOWN, {
        "step": [1, 2, 3], "tokens_per_gpu_per_s": [None, 9871, 10022],
        "grad_norm": [11.2204, 10.0127, 9.441],
        "loss": [11.4012, 11.292, 11.1003], "max_allocated": [41206e6, 42011e6, 42011e6],
        "consumed_tokens": [4194304, 8388608, 12582912], "step_rate": [None, 0.6024, 0.6117]}),
    "olmo_core": (KNOWN, {
        "step": [10, 20], "tokens_per_gpu_per_s": [9017, 9030], "mfu": [0.4123, 0.4129],
        "step_rate": [0.5503, 0.5511], "loss": [10.98, 10.21]}),
    "opennmt": (GENERIC, {
        "step": [100, 200, 300], "elapsed": [47, 94, 141], "token_rate": [], "step_time": []}),
    "openrlhf": (GENERIC, {
        "step": [10, 20, 30], "loss": [1.9, 1.8, 1.75], "step_time_average": [6.19] * 3}),
    "paddle_gpt": (GENERIC, {
        "step": [1, 2, 3], "step_rate": [0.19, 0.95, 0.95], "token_rate": [1542, 7741, 7747],
        "tokens_per_gpu_per_s": [1542, 7741, 7747]}),
    "paddlenlp": (KNOWN, {
        "step": [1, 2, 3], "samples_per_s": [12.1154, 34.5455, 34.5381], "step_time": [],
        "max_allocated": [23.117 * GIB, 23.12 * GIB, 23.12 * GIB],
        "tokens_per_gpu_per_s": [3101.55, 8843.65, 8841.74],
        "step_rate": [0.0473, 0.1349, 0.1349]}),
    "picotron": (KNOWN, {
        "step": [1, 2, 3], "tokens_per_s": [120.1e3, 301.2e3, 302e3],
        "mfu": [0.1821, 0.456, 0.4572],
        "tokens_per_gpu_per_s": [15e3, 37.7e3, 37.8e3], "consumed_tokens": [1e6, 2.1e6, 3.1e6],
        "memory": [40.12 * GB, 44.3 * GB, 44.3 * GB]}),
    "primus": (MEGATRON, {"iteration": [3, 4], "step_time": [9.1204, 9.1012]}),
    "rich_handler": (GENERIC, {
        "step": [100, 200, 300], "step_time": [1.102, 1.099, 1.1], "memory": [61.2 * GIB] * 3,
        "tokens_per_gpu_per_s": [29731, 29812, 29785]}),
    "rwkv": (GENERIC, {
        "step": [10, 11, 12], "step_time_average": [1.43, 1.34, 1.27], "loss": [10.8, 10.7, 10.5]}),
    "slime": (GENERIC, {"step": [0, 1, 2], "loss": [0.0021, 0.0018, 0.0031]}),
    "smp_fsdp": (GENERIC, {
        "step": [0, 1, 2], "samples_per_s": [5.11, 21.22, 21.3],
        "flops_rate_per_gpu": [48.1 * T, 199.71 * T, 200.46 * T]}),
    "srun_plain": (GENERIC, {
        "step": [50, 100, 150], "step_time": [0.812, 0.81, 0.811],
        "samples_per_s": [315.3, 316.0, 315.7]}),
    "t5x": (GENERIC, {
        "step": [1000, 2000, 3000], "step_time": [0.912, 0.91, 0.911], "step_rate": []}),
    "tf_estimator": (GENERIC, {
        "step": [0, 100, 200, 300], "loss": [10.312, 9.812, 9.112, 8.812], "step_time": []}),
    "timm": (KNOWN, {
        "batch": [0, 50, 100], "epoch": [0] * 3, "step_time": [8.12, 0.412, 0.41], "step": [],
        "samples_per_s": [126.11, 2485.43, 2497.56]}),
    "torchtitan": (KNOWN, {
        "step": [1, 10, 20], "tokens_per_gpu_per_s": [661, 6390, 6427],
        "flops_rate_per_gpu": [38.31 * T, 370.05 * T, 372.18 * T], "mfu": [0.0387, 0.3742, 0.3763],
        "max_reserved": [44.11 * GIB, 51.85 * GIB, 51.85 * GIB]}),
    "torchtune_log": (GENERIC, {
        "step": [1, 2, 3], "tokens_per_gpu_per_s": [1402.51, 1711.03, 1706.24],
        "step_time_average": [3.61, 3.18, 3.05]}),
    "trl_grpo": (KNOWN, {
        "loss": [0.0, 0.0001, 0.0002], "consumed_tokens": [152110, 301210, 452011], "step": []}),
    "verl": (KNOWN, {
        "step": [1, 2, 3], "step_time": [118.7, 114.2, 114.6],
        "tokens_per_gpu_per_s": [684.1, 708.5, 707.2],
        "max_allocated": [61.2 * GIB, 61.3 * GIB, 61.3 * GIB], "mfu": []}),
    "wandb_history": (KNOWN, {"step": [1, 2, 3], "step_time": [3.912, 1.412, 1.409]}),
    "whitespace_table": (GENERIC, {
        "step": [1, 2, 3, 4], "loss": [10.912, 10.812, 10.612, 10.412],
        "step_time": [3.9121, 1.4124, 1.4098, 1.41]}),
    "xtuner_v1": (KNOWN, {
        "step": [1, 2, 3], "step_time": [25.1, 10.85, 10.86],
        "tokens_per_gpu_per_s": [1302, 3010, 3013], "total_steps": [1200] * 3}),
}  # fmt: skip
"""Sample → the frame of its steps, and columns with all their values; none where it is empty."""


@cache
def all_of_them() -> Reading:
    """All samples, read at once: one by one they take three times as long."""
    return read_inputs(SAMPLES / f"{name}.log" for name in TRAINERS).reading


@cache
def by_source(frame: str) -> dict[str, pl.DataFrame]:
    """The rows of each sample in a frame."""
    held = all_of_them().frames[frame].partition_by("source", as_dict=True, maintain_order=True)
    return {Path(str(source)).stem: rows for (source,), rows in held.items()}


@cache
def accounts() -> dict[str, Accounting]:
    return {Path(each.source).stem: each for each in all_of_them().accounting}


@pytest.mark.parametrize("name", TRAINERS)
def test_the_steps_of_a_trainer(name: str) -> None:
    account = accounts()[name]
    whole = account.claimed + account.refused + account.blank + account.not_ours
    assert whole == account.lines
    assert account.refused == 0
    kind, columns = TRAINERS[name]
    frame = by_source(kind)[name]
    for column, wanted in columns.items():
        values = frame[column].to_list()
        if not wanted:
            assert frame[column].null_count() == frame.height, (column, values)
            continue
        assert len(values) == len(wanted), (column, values)
        for got, want in zip(values, wanted, strict=True):
            assert (got is None) == (want is None), (column, values)
            assert got is None or got == pytest.approx(want, rel=1e-12), (column, values)


@pytest.mark.parametrize("name", list(TRAINERS)[::20])
def test_a_sample_alone_is_read_as_among_others(name: str) -> None:
    opened = open_source(SAMPLES / f"{name}.log")
    assert isinstance(opened, Source)
    kind, _ = TRAINERS[name]
    alone, among = read_source(opened, FORMATS).frames[kind], by_source(kind)[name]
    assert alone.equals(among)


def test_every_sample_is_expected() -> None:
    assert {path.stem for path in SAMPLES.glob("*.log")} == set(TRAINERS)


@pytest.mark.parametrize("name", TRAINERS)
def test_every_value_is_printed_where_it_is_said_to_be(name: str) -> None:
    lines = (SAMPLES / f"{name}.log").read_text(encoding="utf-8").split("\n")
    for frame in (KNOWN, GENERIC):
        rows = by_source(frame).get(name)
        if rows is None:
            continue
        for row in rows.select("line", pl.col("loss").drop_nulls().implode()).iter_rows():
            assert 1 <= row[0] <= len(lines)
        for line, loss in rows.select("line", "loss").drop_nulls().iter_rows():
            below = "\n".join(lines[line - 1 : line + 120])
            printed = [
                float(text) for text in re.findall(r"[0-9]+\.?[0-9]*(?:e[-+]?[0-9]+)?", below)
            ]
            assert loss in printed
