"""Logs of many trainers: the records that each holds, counted and looked at by hand.

The figures stand in the notes of the corpus or were read off the documents by eye; the naive
readers below share nothing with the product but the text.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, open_source

from tests.conftest import mostly_slow

Wanted = tuple[str, str, int, dict[str, tuple[Any, Any]]]
"""Document, frame, records, and the first and the last value of some columns."""

T = 1e12

WILD: list[Wanted] = [
    ("meg-aws-slurm/README.md", "megatron_iteration", 6,
     {"iteration": (25, 3), "step_time": (0.087, 243.3444), "lm_loss": (10.86954, None)}),
    ("meg-tunib-nb/07.ipynb", "megatron_iteration", 100,
     {"iteration": (10, 1000), "step_time": (1.21, 0.2309), "lm_loss": (None, 6.47617)}),
    ("meg-tunib-txt/07.log", "megatron_iteration", 100,
     {"iteration": (10, 1000), "step_time": (1.21, 0.2309), "lm_loss": (None, 6.47617)}),
    ("meg-reshape/reshaping-log.md", "megatron_iteration", 16,
     {"step_time": (215.82, 141.69), "model_flops_rate": (145.31 * T, 147.55 * T)}),
    ("megds-llama-note/llama-note.md", "megatron_iteration", 6,
     {"iteration": (1, 2500), "step_time": (4.2208, 1.2064), "lm_loss": (10.65542, 12.54951)}),
    ("meg-alcf-cooldown/cooldown.md", "megatron_iteration", 7, {}),
    ("meg-tr8b/chronicles.md", "megatron_iteration", 19, {}),
    ("meg-bridge/with-ngc-pytorch-25.06-cleanup.md", "step_rate", 1, {"step_time": (4.65, 4.65)}),
    ("primus-gdn/gdn-guide.md", "megatron_iteration", 1,
     {"iteration": (4700, 4700), "step_time": (1.4608, 1.4608), "lm_loss": (3.3632, 3.3632)}),
    ("nemo2-aws-k8s/README.md", "megatron_iteration", 5,
     {"step_time": (46.86, 46.81), "lm_loss": (11.03, 11.02), "consumed_samples": (10240, 25088)}),
    ("nemo1-bionemo/README.md", "generic_step", 4,
     {"batch": (34103, 34112), "step_rate": (1.73, 1.73), "loss": (2.51, 2.52),
      "validation_loss": (2.51, 2.51), "step": (None, None)}),
    ("hf-ezpz/index.md", "trainer_step", 16,
     {"loss": (2.5586, 2.3369), "token_rate": (7201.711, 50512.468), "epoch": (0.01, 1.0),
      "consumed_tokens": (196608, 19660800)}),
    ("hf-esm2/README.md", "trainer_step", 5,
     {"loss": (2.9859, 2.6591), "epoch": (0.16, 0.82),
      "grad_norm": (0.9704080820083618, 0.5596509575843811)}),
    ("ds-chat-step3/step3.log", "generic_step", 476,
     {"step_time": (7.99, 3.85), "samples_per_s": (8.01, 16.62),
      "samples_per_s_average": (8.01, 16.79)}),
    ("ds-chat-step3/step3.log", "deepspeed_throughput", 47, {}),
    ("ds-chat-step3/step3.log", "deepspeed_schedule", 94, {}),
    ("ds-chat-step3/step3.log", "deepspeed_overflow", 14, {}),
    ("ds-cifar/cifar-10.md", "deepspeed_throughput", 13,
     {"samples_per_s_average": (1292.6411179579866, None)}),
    ("titan-aws/README.md", "trainer_step", 18,
     {"step": (1990, 1990), "loss": (3.437, 3.4255), "tokens_per_gpu_per_s": (6785, 7865),
      "mfu": (0.3973, 0.4606), "max_reserved": (68.57 * 2**30, None)}),
    ("titan-aurora/aurora.md", "trainer_step", 105,
     {"step": (1, 105), "loss": (10.8595, 5.3256), "tokens_per_gpu_per_s": (149, 6647),
      "mfu": (0.0047, 0.2069), "flops_rate_per_gpu": (1.39 * T, 61.68 * T)}),
    ("maxtext-doc/logs.md", "trainer_step", 13,
     {"step": (0, 9), "step_time": (44.923, 5.669), "flops_rate_per_gpu": (17.022 * T, 134.884 * T),
      "tokens_per_gpu_per_s": (1094.129, 8670.184), "loss": (12.038, 9.58)}),
    ("mlperf-google-gpt3/result_0.txt", "mlperf_event", 76, {}),
    ("mlperf-juniper-lora/result_0.txt", "mlperf_event", 72, {}),
    ("mlperf-gpt3-h100-n64/result_0.txt", "mlperf_event", 1041, {}),
    ("mlperf-gpt3-h100-n96/result_0.txt", "mlperf_event", None, {}),  # type: ignore[list-item]
    ("mlperf-gpt3-h100-n192/result_0.txt", "mlperf_event", None, {}),  # type: ignore[list-item]
    ("mlperf-gpt3-h100-n448/result_0.txt", "mlperf_event", None, {}),  # type: ignore[list-item]
    ("modded-1b/log.txt", "generic_step", 5041,
     {"step": (0, 5000), "elapsed": (0.465, 8586.623), "step_time_average": (None, 1.72077)}),
    ("litgpt-doc/0_to_litgpt.md", "generic_step", 10,
     {"step": (1, 10), "step_time": (0.82031, 0.60303), "loss": (1.646, 1.524)}),
    ("internevo-doc/usage.md", "trainer_step", 6,
     {"step": (0, 5), "tokens_per_gpu_per_s": (1424.64, 4262.67), "flops_rate_per_gpu":
      (63.27010355651958 * T, None), "loss": (11.634403228759766, None),
      "consumed_tokens": (131072, 786432)}),
    ("fairseq-fsdp/README.md", "trainer_step", 20,
     {"step": (1, 10), "loss": (16.475, 16.548), "loss_scale": (4, 1)}),
    ("composer-aws/README.md", "trainer_step", 1,
     {"step": (1, 1), "total_steps": (300000000, 300000000), "loss": (12.0, 12.0)}),
    ("fsdp-aws/README.md", "generic_step", 18,
     {"step": (0, 5), "samples_per_s": (4.88, 16.59), "loss": (11.61653, 10.02562)}),
    ("nccl-aws/README.md", "nccl_tests", 136, {}),
    ("arb-bs-n16/n16.txt", "all_reduce_trial", 320,
     {"duration": (1.4238, 1.162), "busbw": (44.247e9 / 8, 54.216e9 / 8)}),
]  # fmt: skip


@cache
def wild(path: Path) -> Reading:
    opened = open_source(path)
    assert isinstance(opened, Source)
    return read_source(opened, FORMATS)


def document(corpus: Path, name: str) -> Path:
    return corpus / "corpus" / "wild" / "log" / name


def _same(got: Any, want: Any) -> bool:
    if want is None:
        return True
    return got == pytest.approx(want, rel=1e-12) if got is not None else False


@pytest.mark.parametrize(
    ("name", "frame", "count", "ends"),
    mostly_slow(WILD, 2),
    ids=[f"{each[0]}-{each[1]}" for each in WILD],
)
def test_every_record_of_a_wild_log(
    corpus: Path, name: str, frame: str, count: int | None, ends: dict[str, tuple[Any, Any]]
) -> None:
    reading = wild(document(corpus, name))
    (account,) = reading.accounting
    whole = account.claimed + account.refused + account.blank + account.not_ours
    assert whole == account.lines
    found = reading.frames[frame]
    if count is None:
        text = document(corpus, name).read_text(encoding="utf-8")
        events = [event(line) for line in text.splitlines() if ":::MLLOG" in line]
        count = sum(each["key"] not in SETTINGS for each in events)
    assert found.height == count
    for column, (first, last) in ends.items():
        values = found[column].to_list()
        assert _same(values[0], first), (column, values[0])
        assert _same(values[-1], last), (column, values[-1])
    # nothing else in the document is taken for a step
    told = {each[1] for each in WILD if each[0] == name}
    assert {"generic_step", "trainer_step"} & set(reading.frames) <= told


# --- naive readers: a regular expression or json, and nothing of the product


def event(line: str) -> dict[str, Any]:
    held: dict[str, Any] = json.loads(line.split(":::MLLOG", 1)[1])
    return held


SETTINGS = {
    "submission_benchmark", "submission_division", "submission_org", "submission_platform",
    "submission_status", "global_batch_size", "train_samples", "eval_samples", "seed",
    "opt_learning_rate_warmup_factor", "opt_learning_rate_training_steps", "lora_alpha",
    "opt_adamw_weight_decay", "opt_gradient_clip_norm", "opt_base_learning_rate", "lora_rank",
    "gradient_accumulation_steps", "max_sequence_length", "opt_name", "opt_weight_decay",
    "opt_learning_rate_warmup_steps", "opt_learning_rate_decay_steps", "opt_end_learning_rate",
    "opt_learning_rate_decay_schedule", "opt_adam_epsilon", "opt_adam_beta_1", "opt_adam_beta_2",
    "init_checkpoint_step", "trained_samples",
}  # fmt: skip

NAIVE: list[tuple[str, str, dict[str, float]]] = [
    (
        "maxtext-doc/logs.md",
        r"completed step: (?P<step>\d+), seconds: (?P<step_time>[\d.]+), TFLOP/s/device: "
        r"(?P<flops_rate_per_gpu>[\d.]+), Tokens/s/device: (?P<tokens_per_gpu_per_s>[\d.]+), "
        r".*loss: (?P<loss>[\d.]+)",
        {"flops_rate_per_gpu": T},
    ),
    (
        "titan-aurora/aurora.md",
        r"step:\s+(?P<step>\d+)\s+loss:\s+(?P<loss>[\d.]+)\s+grad_norm:\s+(?P<grad_norm>[\d.]+)"
        r"\s+memory:\s+(?P<max_reserved>[\d.]+)GiB.*tps: (?P<tokens_per_gpu_per_s>[\d,]+)\s+"
        r"tflops: (?P<flops_rate_per_gpu>[\d.]+)\s+mfu: (?P<mfu>[\d.]+)%",
        {"max_reserved": 2.0**30, "flops_rate_per_gpu": T, "mfu": 0.01},
    ),
    (
        "titan-aws/README.md",
        r"step:\s+(?P<step>\d+)\s+\S*loss:\s+(?P<loss>[\d.]+)\s+\S*memory:\s+(?P<max_reserved>[\d.]+)GiB"
        r".*tps: (?P<tokens_per_gpu_per_s>[\d,]+)\s+\S*mfu: (?P<mfu>[\d.]+)%",
        {"max_reserved": 2.0**30, "mfu": 0.01},
    ),
    (
        "modded-1b/log.txt",
        r"^step:(?P<step>\d+)/(?P<total_steps>\d+) (?:train_loss:(?P<loss>[\d.]+)|"
        r"val_loss:(?P<validation_loss>[\d.]+)) train_time:(?P<elapsed>\d+)ms "
        r"step_avg:(?P<step_time_average>[\d.]+|nan)ms",
        {"elapsed": 1e-3, "step_time_average": 1e-3},
    ),
    (
        "fsdp-aws/README.md",
        r"Batch (?P<step>\d+) Loss: (?P<loss>[\d.]+), Speed: (?P<samples_per_s>[\d.]+) "
        r"samples/sec, lr: (?P<learning_rate>[\d.]+)",
        {},
    ),
    (
        "litgpt-doc/0_to_litgpt.md",
        r"Epoch (?P<epoch>\d+) \| iter (?P<step>\d+) .*loss train: (?P<loss>[\d.]+).*"
        r"iter time: (?P<step_time>[\d.]+) ms",
        {"step_time": 1e-3},
    ),
    (
        "internevo-doc/usage.md",
        r"tflops=(?P<flops_rate_per_gpu>[\d.]+),step=(?P<step>\d+),loss=(?P<loss>[\d.]+),tgs "
        r"\(tokens/gpu/second\)=(?P<tokens_per_gpu_per_s>[\d.]+),lr=(?P<learning_rate>[\d.e-]+),"
        r"loss_scale=(?P<loss_scale>[\d.]+),grad_norm=(?P<grad_norm>[\d.]+).*num_consumed_tokens="
        r"(?P<consumed_tokens>\d+)",
        {"flops_rate_per_gpu": T},
    ),
    (
        "fairseq-fsdp/README.md",
        r'train_inner \| .*"loss": "(?P<loss>[\d.]+)".*"num_updates": "(?P<step>\d+)", "lr": '
        r'"(?P<learning_rate>[\de.-]+)", "gnorm": "(?P<grad_norm>[\d.]+)", "loss_scale": '
        r'"(?P<loss_scale>[\d.]+)"',
        {},
    ),
    (
        "ds-chat-step3/step3.log",
        r"\|E2E latency=(?P<step_time>[\d.]+)s.*CurSamplesPerSec=(?P<samples_per_s>[\d.]+) "
        r"\|AvgSamplesPerSec=(?P<samples_per_s_average>[\d.]+)",
        {},
    ),
]


@pytest.mark.parametrize(("name", "pattern", "scales"), NAIVE, ids=[each[0] for each in NAIVE])
def test_every_value_is_the_naive_one(
    corpus: Path, name: str, pattern: str, scales: dict[str, float]
) -> None:
    path = document(corpus, name)
    frames = wild(path).frames
    frame = frames["trainer_step" if "trainer_step" in frames else "generic_step"]
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    naive = {at: found for at, line in enumerate(lines, 1) if (found := re.search(pattern, line))}
    assert frame["line"].to_list() == list(naive)
    for row in frame.iter_rows(named=True):
        for column, text in naive[row["line"]].groupdict().items():
            want = None if text is None else float(text.replace(",", "")) * scales.get(column, 1)
            got = row[column]
            assert (got is None) == (want is None), (row["line"], column)
            if want is not None and not math.isnan(want):
                assert got == pytest.approx(want, rel=1e-12), (row["line"], column)


@pytest.mark.parametrize("nodes", [64, 96, 192, 448])
def test_statistics_of_a_submission_are_those_of_json(corpus: Path, nodes: int) -> None:
    path = document(corpus, f"mlperf-gpt3-h100-n{nodes}/result_0.txt")
    events = [event(line) for line in path.read_text().splitlines() if ":::MLLOG" in line]
    times = [
        each["value"]["train_step_timing"]
        for each in events
        if each["key"] == "tracked_stats" and "train_step_timing" in each["value"]
    ]
    frame = wild(path).frames["mlperf_event"]
    assert frame["step_time"].drop_nulls().to_list() == times
    accuracy = [each["value"] for each in events if each["key"] == "eval_accuracy"]
    assert frame["eval_accuracy"].drop_nulls().to_list() == accuracy
    batch = {each["value"] for each in events if each["key"] == "global_batch_size"}
    assert set(frame.filter(pl.col("step_time").is_not_null())["global_batch"]) == batch


def test_the_bench_of_2021_is_put_together_by_its_arithmetic(corpus: Path) -> None:
    frame = wild(document(corpus, "arb-bs-n16/n16.txt")).frames["all_reduce_trial"]
    payload, share = frame["duration"] * frame["algbw"], frame["busbw"] / frame["algbw"]
    assert ((payload / 8e9 - 1).abs() < 1e-4).all()
    assert ((share / (63 / 64) - 1).abs() < 1e-5).all()  # 64 ranks
