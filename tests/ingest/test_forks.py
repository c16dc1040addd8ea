"""Lines as forks of Megatron, DeepSpeed and NeMo print them: each number as it is meant."""

from __future__ import annotations

from typing import Any

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source


def parse(text: str) -> Reading:
    whole = source("a.log", text.encode())
    assert isinstance(whole, Source)
    return read_source(whole, FORMATS)


def row(line: str, frame: str = "megatron_iteration") -> dict[str, Any]:
    """The one row that a line gives, nothing refused."""
    reading = parse(line + "\n")
    assert reading.refused == ()
    return reading.frames[frame].row(0, named=True)


def iteration(cells: str) -> dict[str, Any]:
    return row(f" iteration       10/    1000 | {cells} |")


def others(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(cell["name"], cell["text"]) for cell in found["other"] or []]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # the loss of the language model is not the sum it is a part of
        ("loss: 5.55 | lm loss: 5.51 | moe loss: 0.04", {"lm_loss": 5.51}),
        ("lm loss: 5.51 | loss: 5.55", {"lm_loss": 5.51}),
        ("loss: 5.55", {"lm_loss": 5.55}),
        # a rate of all GPUs is no rate of one
        ("throughput (flops): 3.11e+15", {"model_flops_rate": None}),
        ("throughput (TFLOPS): 3110.5", {"model_flops_rate": None}),
        ("tokens/sec: 512.5 tok/s | rate (tokens/s/GPU): 64", {"tokens_per_s": 512.5}),
        ("throughput (tokens/s): 4096 | throughput (tokens/s/GPU): 512",
         {"tokens_per_s": 4096, "tokens_per_gpu_per_s": 512}),
        ("throughput (tflops/sec/GPU) : 230.5 | throughput (token/sec/GPU) : 512.5",
         {"model_flops_rate": 230.5e12, "tokens_per_gpu_per_s": 512.5}),
        # without a unit nobody knows whether it is seconds
        ("iteration time: 1834.5", {"step_time": None}),
        ("iteration time: 1834.5 ms", {"step_time": 1.8345}),
        ("compute per GPU (TFLOP/s/GPU): 615.5 (avg 610.2)",
         {"model_flops_rate": 615.5e12, "model_flops_rate_average": 610.2e12}),
        ("tokens/s/GPU inst/harmonic mean: 25032.8/22288.1",
         {"tokens_per_gpu_per_s": 25032.8, "tokens_per_gpu_per_s_average": 22288.1}),
        ("tokens_per_gpu_per_second: 4096.25 /s", {"tokens_per_gpu_per_s": 4096.25}),
        # NeMo 2 prints bytes, ms-swift what the allocator reserved
        ("max_memory_reserved: 140129599488 | max_memory_allocated: 107693703168 | "
         "TFLOPS_per_GPU: 1.831e+03",
         {"max_reserved": 140129599488, "max_allocated": 107693703168,
          "model_flops_rate": 1831e12}),
        ("memory(GiB): 55.25 | elapsed time: 1h 2m 3s", {"max_reserved": 55.25 * 2**30}),
        ("tokens per second: 12k", {"tokens_per_s": 12000}),
        ("Tokens per second per GPU (Tok/s/GPU): 2645.8", {"tokens_per_gpu_per_s": 2645.8}),
        ("iteration time (us): 5000 | tokens per second (tok/s/GPU): 51.5",
         {"step_time": 0.005, "tokens_per_s": None}),
        ("model size: 6.658 B params", {"model_size": 6.658e9}),
        ("global_batch_size: 1.02K | elapsed_time_per_iteration_ms: 11.5K | tokens_per_sec: 22.8K"
         " | tokens_per_sec_per_gpu: 1.9K | model_tflops_per_gpu: 38.3",
         {"global_batch": None, "step_time": 11.5, "tokens_per_s": 22800,
          "tokens_per_gpu_per_s": 1900, "model_flops_rate": 38.3e12}),
    ],
)  # fmt: skip
def test_cells_of_training_lines(cells: str, expected: dict[str, float | None]) -> None:
    found = iteration(cells)
    for name, value in expected.items():
        assert found[name] == (None if value is None else pytest.approx(value)), name


def test_what_no_column_is_sure_of_is_kept_as_printed() -> None:
    assert others(iteration("throughput (flops): 3.11e+15")) == [("throughput (flops)", "3.11e+15")]
    assert others(iteration("iteration time: 1834.5")) == [("iteration time", "1834.5")]
    assert others(iteration("loss: 5.55 | lm loss: 5.51")) == [("loss", "5.55")]
    assert others(iteration("grad norm: - | loss scale: ...")) == [
        ("grad norm", "-"), ("loss scale", "...")]  # fmt: skip
    assert others(iteration("ETA Time: 1 day, 2:03:04")) == [("ETA Time", "1 day, 2:03:04")]
    amount = iteration("lm loss: 1.5 | 120.45 TFLOP/s per GPU | grad norm: 2.5")
    assert (others(amount), amount["grad_norm"]) == ([("", "120.45 TFLOP/s per GPU")], 2.5)


def test_a_unit_of_one_gpu_is_no_value_under_a_rate_of_all() -> None:
    reading = parse(" iteration 10/ 1000 | tokens/sec: 512.5 tokens/s/GPU |\n")
    assert reading.frames["megatron_iteration"]["tokens_per_s"].to_list() == [None]
    assert len(reading.remarks) == 1


def test_a_text_where_a_model_size_is_expected_costs_its_line_alone() -> None:
    text = (
        "20B model: TP=8\niteration 1/ 9 | model size: large |\niteration 2/ 9 | lm loss: 1.5 |\n"
    )
    reading = parse(text)
    assert [each.span.line for each in reading.refused] == [2]
    assert reading.frames["megatron_iteration"]["tp"].to_list() == [8]


@pytest.mark.parametrize("lead", ["==> ", "i.pretrain/0 ", "ain_fp8_mx/3  [2025-12-22 15:18:33] ",
                                  "i.pretrain/0 [default0]:", "Epoch 0: ",
                                  "01/17/2024 13:47:27 [INFO|DP=0|PP=1|TP=0|node-1]: ",
                                  "[default0]:[INFO|DP=0|PP=1|TP=0]: "])  # fmt: skip
def test_leads_of_training_lines(lead: str) -> None:
    found = row(f"{lead}iteration       34/   10000 | lm loss: 1.5 |")
    assert (found["iteration"], found["lm_loss"]) == (34, 1.5)


def test_step_line_behind_a_role() -> None:
    line = "ain_fp8_mx/0 Step Time : 9.09s GPU utilization: 663.5MODEL_TFLOP/s/GPU"
    assert row(line, "step_rate")["model_flops_rate"] == pytest.approx(663.5e12)


def test_a_count_of_parameters_glued_to_a_training_line() -> None:
    text = "iteration 1/ 9 | lm loss: 1 |Total number of parameters in billions: 6.9\n"
    reading = parse(text)
    assert others(reading.frames["megatron_iteration"].row(0, named=True)) == []
    assert reading.frames["megatron_parameters"]["rounded"].to_list() == [pytest.approx(6.9e9)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[Rank 0] (after 1 iterations) memory (GB) | mem-allocated-gigabytes: 51.072 | "
         "mem-reserved-gigabytes: 216.89 | mem-max-allocated-gigabytes: 194.41 | "
         "mem-max-reserved-gigabytes: 217.5 | mem-alloc-retires: 0",
         {"iteration": 1, "allocated": 51.072e9, "max_allocated": 194.41e9, "reserved": 216.89e9,
          "max_reserved": 217.5e9}),
        ("[Rank 3] memory (MB) | allocated: 9635.11 | max allocated: 45006.98",
         {"iteration": None, "moment": None, "max_allocated": 45006.98 * 2**20}),
        ("after 100 iterations memory (MB) | allocated: 9.5 | max allocated: 12.5 | "
         "cached: 13.0 | max cached: 14.0",
         {"iteration": 100, "reserved": 13 * 2**20, "max_reserved": 14 * 2**20}),
    ],
)  # fmt: skip
def test_memory_reports(line: str, expected: dict[str, float | None]) -> None:
    found = row(line, "megatron_memory")
    for name, value in expected.items():
        assert found[name] == (None if value is None else pytest.approx(value)), name


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (" validation loss at iteration 100 | LM loss: 1.234560E+00 | LM PPL: 3.436E+00",
         {"iteration": 100, "lm_loss": 1.23456, "lm_ppl": 3.436}),
        ("0: validation loss at iteration 238 [english] | lm loss value: 1.262 |",
         {"iteration": 238, "moment": "[english]", "lm_loss": 1.262}),
    ],
)  # fmt: skip
def test_validation(line: str, expected: dict[str, Any]) -> None:
    found = row(line, "megatron_validation")
    assert {name: found[name] for name in expected} == expected


def test_loss_of_a_step_and_what_it_is_made_of() -> None:
    line = "steps: 200 loss: 5.5508 lm loss: 5.5103 moe loss: 0.0405 iter time (s): 0.936"
    found = row(line, "deepspeed_step")
    assert (found["lm_loss"], found["step_time"]) == (5.5103, 0.936)
    assert others(found) == [("loss", "5.5508"), ("moe loss", "0.0405")]


def test_deepspeed_without_what_some_loggers_leave_out() -> None:
    line = "RunningAvgSamplesPerSec=4954.5, CurrSamplesPerSec=109021.5, MemAllocated=0.15GB"
    assert row(line, "deepspeed_throughput")["samples_per_s"] == 109021.5
    line = ("[deepspeed] fp16 dynamic loss scale overflow! Skipping step. Attempted loss scale: "
            "65536.0, reducing to 32768.0")  # fmt: skip
    assert row(line, "deepspeed_overflow")["reduced_to"] == 32768.0


def test_overflow_of_newer_optimizers() -> None:
    line = "[Rank 0] Overflow detected. Skipping step. Attempted loss scale: 512, reducing to 256.0"
    found = row(line, "deepspeed_overflow")
    assert (found["loss_scale"], found["reduced_to"]) == (512, 256)


def run(arguments: dict[str, str]) -> dict[str, Any]:
    """The run of a dump of Megatron's arguments."""
    lines = "".join(
        f"  {name} {'.' * (48 - len(name))} {text}\n" for name, text in arguments.items()
    )
    rule = "------------------------ arguments ------------------------\n"
    end = "-------------------- end of arguments ---------------------\n"
    return parse(rule + lines + end).frames["runs"].row(0, named=True)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"bf16": "True", "fp16": "False", "fp8": "hybrid"}, {"dtype": "fp8"}),
        ({"bf16": "True", "fp16": "False", "fp8": "None"}, {"dtype": "bf16"}),
        ({"bf16": "True", "fp8": "False", "fp8_hybrid": "True"}, {"dtype": "bf16"}),
        ({"bf16": "True", "fp8_hybrid": "True", "fp8_e4m3": "False"}, {"dtype": "fp8"}),
        ({"bf16": "True", "fp8": "None", "fp4": "e2m1"}, {"dtype": "fp4"}),
        ({"num_attention_heads": "64", "num_key_value_heads": "8"}, {"heads": 64, "kv_heads": 8}),
    ],
)
def test_arguments(arguments: dict[str, str], expected: dict[str, Any]) -> None:
    found = run(arguments)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("lines", "dtype"),
    [
        ("model:\n  fp8: null\nmixed_precision: bf16_with_fp8_current_scaling_mixed\n", "fp8"),
        ("model:\n  fp8: hybrid\nmixed_precision: bf16_mixed\n", "fp8"),
        ("model:\n  fp8: null\nmixed_precision: bf16_mixed\n", "bf16"),
    ],
)
def test_formats_of_yaml_dumps(lines: str, dtype: str) -> None:
    text = "------- Task Configuration -------\n" + lines + "----------------------------------\n"
    assert parse(text).frames["runs"]["dtype"].to_list() == [dtype]


def test_a_layout_whose_degrees_lack_a_comma() -> None:
    line = ("using world size: 8, data-parallel size: 4, context-parallel size: 1 "
            "tensor-model-parallel size: 2, pipeline-model-parallel size: 1")  # fmt: skip
    found = row(line, "runs")
    assert [found[name] for name in ("gpus", "dp", "cp", "tp", "pp")] == [8, 4, 1, 2, 1]


def test_what_another_rank_says_behind_the_last_timer() -> None:
    text = (
        "(min, max) time across ranks (ms):\n"
        "    train/valid/test-data-iterators-setup ..........: (8140.10, 8140.19)training ...\n"
    )
    reading = parse(text)
    assert reading.refused == ()
    found = reading.frames["megatron_timers"].row(0, named=True)
    assert (found["minimum"], found["maximum"]) == (pytest.approx(8.1401), pytest.approx(8.14019))


def bar(step: int, seconds: float, *, more: str = "") -> str:
    return (
        f"Epoch 0: :   {step}%|#         | {step}/99 [00:20<10:00,{more} v_num=n_6, "
        f"reduced_train_loss=9.5, global_step={step}.00, train_step_timing in s={seconds}]"
    )


def test_a_progress_bar_that_is_drawn_again_is_one_step() -> None:
    text = "\r".join([bar(0, 9.5), bar(1, 3.1), bar(1, 3.1), bar(2, 3.2, more=" 4.0s/it,")]) + "\n"
    reading = parse(text + "Epoch 0:  50%|#####     | 5/10 [00:20<00:20,  4.0s/it, loss=3.1]\n")
    rows = reading.frames["step_progress"]
    assert rows.select("step", "step_time", "mark").rows() == [
        (0, 9.5, None), (1, 3.1, "superseded"), (1, 3.1, None), (2, 3.2, None)]  # fmt: skip
    # the bar whose time is rounded is nobody's but the reader of any trainer's steps
    assert reading.frames["generic_step"]["step"].to_list() == [5]


def test_a_counter_that_was_rounded_is_unknown() -> None:
    line = bar(7, 3.5).replace("v_num=n_6", "consumed_samples=1.63e+6, v_num=")
    found = row(line, "step_progress")
    assert (found["step"], found["step_time"], found["consumed_samples"]) == (7, 3.5, None)
    assert others(found) == [("consumed_samples", "1.63e+6"), ("v_num", "")]
