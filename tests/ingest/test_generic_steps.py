"""Step records of trainers without a format: by the shape of a file, whatever the syntax."""

from __future__ import annotations

import math
import re

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.steps.step_shapes import COMPARED
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source


def read(text: str) -> Reading:
    opened = source("run.log", text.encode())
    assert isinstance(opened, Source)
    reading = read_source(opened, FORMATS)
    (account,) = reading.accounting
    parts = account.claimed + account.refused + account.blank + account.not_ours
    assert parts == account.lines
    return reading


def rows(text: str) -> pl.DataFrame:
    frames = read(text).frames
    known = frames.get("trainer_step")
    if known is not None:
        assert "generic_step" not in frames
        assert known["mark"].null_count() == known.height
        assert known["trainer"].null_count() == 0
        return known
    frame = frames.get("generic_step", pl.DataFrame())
    if frame.height:
        assert set(frame["mark"]) == {"generic"}
        assert frame["words"].null_count() == 0
    return frame


def job(line: str, first: int = 10, many: int = 6, stride: int = 10) -> str:
    """Lines of one shape: `{n}` counts, `{l}` falls, `{t}` varies, `{r}` rises."""
    out = []
    for at in range(many):
        values = {
            "n": first + at * stride, "l": f"{9.5 - at / 8:.4f}",
            "t": f"{2.41 + (at * 7 % 5) / 100:.3f}", "r": f"{30 + 24.1 * at:.1f}",
            "g": f"{1.2 + at / 9:.3f}", "m": f"{1712.5 + (at * 3 % 4):.1f}",
        }  # fmt: skip
        out.append(re.sub(r"\{(\w)\}", lambda found, values=values: str(values[found[1]]), line))
    return "\n".join(out) + "\n"


SHAPES = {
    "iter {n}: loss {l}, time {m}ms, mfu 31.20%": {"loss": 9.5, "step_time": 1.7125, "mfu": 0.312},
    "step {n} | loss: {l} | lr 8.57e-07 | norm: {g} | dt: {m}ms | tok/sec: 20800.12": {
        "loss": 9.5, "learning_rate": 8.57e-7, "step_time": 1.7125, "tokens_per_s": 20800.12,
    },
    "step {n}/19560 | loss {l} (+nanz)| norm {g} (+nanz)| lr 8.6e-05 | 52.1% bf16 MFU | "
    "249,533 tok/s": {
        "total_steps": 19560, "loss": 9.5, "token_rate": 249533,
    },
    "iter {n}: loss {l}, speed: 123.5 toks/s/device": {"tokens_per_gpu_per_s": 123.5},
    "epoch: 1 step: {n}, loss is {l}; per step time: {m} ms": {
        "epoch": 1, "loss": 9.5, "step_time": 1.7125,
    },
    "09/12 10:20:30 - mmengine - INFO - Iter(train) [ {n}/1000]  lr: 1.0000e-04  eta: 0:10:00  "
    "time: 0.3500  memory: 12345  loss: {l}": {
        "total_steps": 1000, "learning_rate": 1e-4, "loss": 9.5, "memory": None, "step_time": None,
    },
    "[INFO] - loss: {l}, learning_rate: 1e-05, global_step: {n}, "
    "interval_samples_per_second: 10.5, interval_tokens_per_second_per_device: 2048.25": {
        "samples_per_s": 10.5, "tokens_per_gpu_per_s": 2048.25, "loss": 9.5,
    },
    '{"step": {n}, "loss": {l}, "lr": 0.0001, "tokens_per_sec": 12345.5, "step_time_s": {t}}': {
        "token_rate": 12345.5, "step_time": 2.41, "loss": 9.5,
    },
    '{"_step": {n}, "_timestamp": 1.7e9, "train/loss": {l}, "train/grad_norm": {g}}': {
        "loss": 9.5, "grad_norm": 1.2,
    },
    "{'loss': {l}, 'grad_norm': {g}, 'global_step/max_steps': '{n}/900', 'memory(GiB)': 12.5, "
    "'train_speed(iter/s)': 0.31}": {"loss": 9.5, "memory": 12.5 * 2**30, "step_rate": 0.31},
    "step:{n} - actor/entropy:0.4 - perf/throughput:1234 - timing_s/step:{t} - actor/lr:1e-06 - "
    "train/loss:{l}": {"step_time": 2.41, "learning_rate": None, "loss": 9.5},
    "Training:  1%|▏         | {n}/9000 [00:30<09:30, 1.50s/it, loss={l}, v_num=3]": {
        "loss": 9.5, "step_time_average": 1.5, "total_steps": 9000,
    },
    "Epoch 0:  12%|█▏ | {n}/1000 [01:00<07:20, 2.00it/s, v_num=0, train_loss_step={l}]": {
        "epoch": 0, "step_rate": 2.0, "loss": 9.5,
    },
    "Iteration: {n}, Loss: {l}, Throughput: 123.4 samples/s, Time/iter: {t}s": {
        "samples_per_s": 123.4, "step_time": 2.41, "loss": 9.5,
    },
    "step {n} | 1.23 s/step | 31,402 tok/s | {l} loss": {"step_time": 1.23, "token_rate": 31402},
    "step={n} elapsed={r}s step_time={m}ms loss={l} peak_memory=61.5GB": {
        "elapsed": 30.0, "step_time": 1.7125, "loss": 9.5, "memory": 61.5e9,
    },
    "step={n} time={r}s loss={l}": {"elapsed": 30.0, "step_time": None},
    "step={n} step_time=1.5 loss={l}": {"step_time": None, "loss": 9.5},
    "step {n} tokens/s/gpu 4321.5 tflops/gpu 401.2 loss {l}": {
        "tokens_per_gpu_per_s": 4321.5, "flops_rate_per_gpu": 401.2e12,
    },
    "step_avg:{m}ms step:{n}/20344 train_loss:{l}": {"step_time_average": 1.7125},
    # words in front of a label, counts that stand right behind theirs, durations
    "step {n} loss {l} avg step time {t}s avg tokens/s 120321": {
        "step_time_average": 2.41, "step_time": None, "token_rate": None, "tokens_per_s": None,
    },
    "step {n} loss {l} max mem allocated 61.25 GiB reserved 70.5 GiB step_time {t} s": {
        "max_allocated": 61.25 * 2**30, "allocated": None, "reserved": 70.5 * 2**30,
    },
    "step {n} loss {l} val step loss 5.1 grad_norm {g}": {"validation_loss": 5.1, "loss": 9.5},
    "global_step{n} loss {l} grad_norm {g} samples/sec 31.4": {"samples_per_s": 31.4},
    "[iter{n}/900] loss: {l}, {t} s/iter": {"total_steps": 900, "step_time": 2.41},
    "step {n} loss {l} step_time 0:00:02.514000": {"step_time": 2.514},
    "[step={n}/900]: LR (group 0)={g}, loss={l}": {"learning_rate": 1.2, "loss": 9.5},
    # of one device or in percent, times under the label of a count, rules around a line
    "step:{n} loss:{l} tok/s:31402 tok/s/dev:3925 mfu:41.2": {
        "token_rate": 31402, "tokens_per_gpu_per_s": 3925, "mfu": 0.412,
    },
    "step {n} loss {l} mfu 0.412": {"loss": 9.5, "mfu": 0.412},
    "step {n} loss {l} mfu 0.041": {"loss": 9.5, "mfu": None},  # or in percent
    "iter {n} loss={l} Model FLOPs utilization: 41.2% TFLOPS total 3298.4": {
        "loss": 9.5, "mfu": 0.412, "flops_rate": None, "flops_rate_per_gpu": None,
    },
    "step {n} loss {l} ppl 13359.7 tok/s 251.2k tok/s/gpu 31.4k": {
        "token_rate": 251.2e3, "tokens_per_gpu_per_s": 31.4e3,
    },
    "step {n} loss {l} speed 4321 tok/s 8 GPUs": {"token_rate": 4321},
    "iter {n} loss {l} samples/s 53.1 tokens/s 31402 tflops/gpu 412.3 TFLOPS": {
        "samples_per_s": 53.1, "token_rate": 31402, "flops_rate_per_gpu": 412.3e12,
    },
    "===> step {n} | elapsed {r} s | step {t} s | loss {l} | 31402 tok/s (8 GPUs)": {
        "step_time": 2.41, "elapsed": 30.0, "tokens_per_s": 31402,
    },
    "step {n}] loss={l} aux={'learner/gradient_norm': {g}, 'learner/lr_schedule': 1e-7}":
        {"loss": 9.5, "grad_norm": 1.2, "learning_rate": 1e-7},
    "[{n}/900] loss={l} timing/seqs_per_second=12.5 timing/seqs_per_second_per_core=0.5": {
        "samples_per_s": 12.5,
    },
    "Update {n}: loss={l} | optim0_lr0=2.0e-05 | l2_grads {g} | {t}s/update": {
        "step_time": 2.41, "learning_rate": 2e-5, "grad_norm": 1.2,
    },
    # counts in sentences, norms between bars, what there is of a memory, times of several steps
    "i={n} loss={l} |g|={g} tok/s=31221 mfu 0.41": {"loss": 9.5, "grad_norm": 1.2, "mfu": 0.41},
    "Minibatch loss at step {n}: {l} (lr 0.1)": {"loss": 9.5, "learning_rate": 0.1},
    "training loss at iteration {n} = {l}; wall {r}": {"loss": 9.5, "elapsed": None},
    "After {n} steps: loss = {l}, speed = 31402 tokens/s": {"loss": 9.5, "token_rate": 31402},
    "Processed {n} batches, avg loss {l}, {t} s per batch": {"loss": 9.5, "step_time": 2.41},
    "step {n} loss {l} ({m} ms/step, mem=61.5/80.0GB)": {"memory": 61.5e9, "step_time": 1.7125},
    "Iter {n} : Loss {l} : Iter time {t}s : 33473.61 tokens/s": {
        "step_time": 2.41, "token_rate": 33473.61,
    },
    "10 steps took {t}s; step {n} loss {l}": {"step_time": None, "step_time_average": 0.241},
    "step {n} loss {l}, took {t}s for 10 steps": {"step_time": None, "step_time_average": 0.241},
    "step {n} loss {l} time 0:00:02.41": {"loss": 9.5, "elapsed": None},
    "iter {n} total {t}s fwd 0.8s bwd 1.2s step 0.3s loss {l}": {"step_time": None, "loss": 9.5},
    "iter {n} fwd 0.8s bwd 1.2s iter time {t}s loss {l}": {"step_time": 2.41, "loss": 9.5},
    "step {n} loss {l} tokens_seen 30720 tokens/s 31402": {
        "consumed_tokens": 30720, "token_rate": 31402,
    },
    '{"level": "info", "msg": "train", "iter": {n}, "metrics": {"loss": {l}, "iter_time_ms": {m}}}':
        {"loss": 9.5, "step_time": 1.7125},
}  # fmt: skip


@pytest.mark.parametrize("line", SHAPES)
def test_a_shape_is_read_whatever_its_syntax(line: str) -> None:
    frame = rows(job(line))
    assert frame.height == 6
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    for name, value in SHAPES[line].items():
        got = frame[name][0]
        assert (got is None) if value is None else math.isclose(got, value, rel_tol=1e-12), name


NO_STEPS = [
    "Downloading: 45%|####5     | {n}/100 [00:10<00:12, 3.40MB/s]",
    "[{n}/20] Building CXX object src/a.cc.o",
    "Step {n}/12 : RUN pip install torch",
    "PASSED tests/test_step.py::test_loss[{n}] ({t}s)",
    "Iteration {n}: {t} us/op",
    "batch {n} of files copied in {t} s",
    "Nov 22 05:12:{n} host kernel: [  {r}] usb 1-1: new device number {n}",
    "Progress: resolved {n}, reused {n}, downloaded 3, added 0",
    "+    print(f'step {n} loss {loss:.3f} time {t}s')",
    "    assert model.loss({n}) == {l}  # step {n}",
    "    logger.info('step: %d loss: {l} lr: %e', {n})",
    "total {n} tasks, {n} done, elapsed: {r}s",
    "#{n} 12.3 Get:1 http://host/ubuntu jammy/main amd64 pkg {n} [12.3 kB]",
    "epoch {n}",
    "Evaluating at step {n}: loss={l} acc=0.12",
    "Test set: step {n}, Average loss: {l}, Accuracy: 9912/10000 (99%)",
]


@pytest.mark.parametrize("line", NO_STEPS)
def test_other_programs_print_no_steps(line: str) -> None:
    assert rows(job(line)).height == 0


def test_two_lines_are_no_shape_but_one_with_units_is() -> None:
    assert rows(job("iter {n} loss {l}", many=2)).height == 0
    assert rows(job("iter {n} loss {l} tps: 6,785 memory: 68.57GiB(86.69%)", many=1)).height == 1


def test_rows_of_one_count_in_brackets_are_one_record() -> None:
    frame = rows(job("[{n}] l2_params = 121.7\n[{n}] l2_grads = {g}\n[{n}] training_loss = {l}"))
    assert frame["batch"].to_list() == [10, 20, 30, 40, 50, 60]
    assert (frame["loss"][0], frame["grad_norm"][0]) == (9.5, 1.2)


def test_a_quantity_on_a_line_of_its_own_is_of_the_step_that_it_counts() -> None:
    frame = rows(job("step {n}: loss {l}, tokens/s 31402\nstep {n}: time: {r} s"))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["elapsed"][0] == 30.0


def test_another_process_that_counts_the_same_steps_has_no_record_of_its_own() -> None:
    frame = rows(job(
        "Step {n} | Time: 46.12s | Reward: 0.43 | Throughput: 22318.5 tokens/s\n"
        "Step {n} | Time: {t}s | Loss: {l} | LR: 1.00e-06 | Throughput: 21647 tokens/s", stride=1
    ))  # fmt: skip
    assert frame["step"].to_list() == [10, 11, 12, 13, 14, 15]
    assert (frame["loss"][0], frame["token_rate"][0]) == (9.5, 21647)


def test_what_stands_right_below_each_count_and_above_none_is_of_it() -> None:
    below = "Epoch: 0 | Step: {n} | Actor Loss: {l}\nEnd-to-End => Latency: {t}s, Samples/sec: 5.00"
    frame = rows(job(below + "\n------"))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["samples_per_s"].to_list() == [5.0] * 6
    assert rows(job(below)).filter(pl.col("step").is_not_null())["samples_per_s"].is_null().all()


def test_a_number_in_front_that_rises_is_a_count_and_no_rank() -> None:
    frame = rows(job(" {n}: {l}, {g} avg loss, 0.001 rate, {t} seconds, 64 images", stride=1))
    assert frame["batch"].to_list() == [10, 11, 12, 13, 14, 15]
    assert frame["rank"].null_count() == 6
    assert (frame["loss"][0], frame["step_time"][0]) == (9.5, 2.41)
    ranks = rows(job("{n}: loss {l}, lr 3.0e-04, tokens/s 31402", first=0, many=8, stride=1))
    assert ranks["rank"].to_list() == [str(rank) for rank in range(8)]
    assert ranks["batch"].null_count() == 8
    launched = rows(job("0: step {n} loss {l} tokens/s 31402"))
    assert launched["step"].to_list() == [10, 20, 30, 40, 50, 60]


def test_a_duration_since_the_start_may_begin_in_seconds_alone() -> None:
    times = ["40s", "1m 16s", "1m 52s", "2m 45s"]
    lines = [f"step {10 * n} loss {9 - n}.5 Wall Time: {time}" for n, time in enumerate(times, 1)]
    assert rows("\n".join(lines) + "\n")["elapsed"].to_list() == [40.0, 76.0, 112.0, 165.0]


def test_a_rate_of_nothing_is_none() -> None:
    frame = rows(job("Step {n} | Loss: {l} | Throughput: 0 tokens/s | MFU: 0.0%"))
    assert (frame["token_rate"].null_count(), frame["mfu"].null_count()) == (6, 6)


def test_columns_under_labels_with_single_blanks() -> None:
    frame = rows("epoch iter loss time\n" + job("0 {n} {l} {t}"))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert (frame["loss"][0], frame["step_time"].null_count()) == (9.5, 6)


def test_a_block_under_a_head_of_counts_is_one_record() -> None:
    body = (
        "[step={n}/739328,epoch=0]\n    optim/total_grad_norm=0.9\n    train/CrossEntropyLoss={l}\n"
        "    throughput/total_tokens=419,430,400\n    throughput/device/tokens_per_second=8,743"
    )
    frame = rows(job(body))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["loss"][0] == 9.5
    assert frame["tokens_per_gpu_per_s"][0] == 8743
    flat = job(
        "step: {n}\nloss: {l}\nLR: 0.0001\ncurrent throughput (token per gpu per sec): 2,500"
    )
    assert rows(flat)["step"].to_list() == [10, 20, 30, 40, 50, 60]


RATES = {
    "tokens/s (all gpus)": ("tokens_per_s", 812.5), "tokens/s (8 GPUs)": ("tokens_per_s", 812.5),
    "tokens/s/gpu": ("tokens_per_gpu_per_s", 812.5), "tokens/s (64 x H100)": None,
    "tokens_per_second(M)": ("token_rate", 812.5e6), "Ktok/s": ("token_rate", 812.5e3),
    "samples/s (k)": ("samples_per_s", 812.5e3),
    "train tokens/s": ("token_rate", 812.5), "rollout tokens/s": None, "tokens/s/node": None,
    "max tokens/s": None, "generation_tokens_per_sec": None, "tokens/s std": None,
    "dataloader samples/s": None, "peak tflops/gpu": None, "theoretical TFLOPS": None,
    "pinned memory (GB)": None,
}  # fmt: skip


@pytest.mark.parametrize("label", RATES)
def test_a_rate_is_what_all_words_of_its_label_say(label: str) -> None:
    frame = rows(job(f"step: {{n}}, loss: {{l}}, {label}: 812.5"))
    held = {
        name: frame[name][0]
        for name in frame.columns
        if frame[name].null_count() == 0
        and name not in ("source", "line", "column", "mark", "words", "other", "step", "loss")
        and not name.endswith("_ulp")
    }
    wanted = RATES[label]
    assert held == ({} if wanted is None else {wanted[0]: pytest.approx(wanted[1])})


def test_a_line_below_one_that_counts_is_of_its_step() -> None:
    frame = rows(job("[{n}/2000] loss={l} lr=3.0e-04\n    step time: {m} ms"))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["step_time"][0] == pytest.approx(1.7125)
    apart = rows(job("step {n}: loss={l} lr=3.0e-04\n\n    step time: {m} ms"))
    assert apart.height == 6
    assert apart["step_time"].null_count() == 6


def test_a_line_with_a_number_of_its_own_is_of_the_step_with_that_count() -> None:
    perf = "2025-06-03 11:00:09 perf {n}: {'train_tflops': {m}, 'train_tok_per_s': 10{n}.5}"
    step = "2025-06-03 11:00:10 step {n}: {'train/loss': {l}, 'train/grad_norm': 0.4}"
    frame = rows(job(f"{perf}\n{step}", first=0, stride=1))
    assert frame["step"].to_list() == [0, 1, 2, 3, 4, 5]
    assert frame["token_rate"].to_list() == [100.5, 101.5, 102.5, 103.5, 104.5, 105.5]


def test_what_stands_between_two_records_may_be_of_either() -> None:
    perf = "2025-06-03 11:00:09 perf: tflops/gpu: {m}, tok_per_s: 10.5"
    step = "2025-06-03 11:00:10 step {n}: loss: {l}, grad_norm: 0.4"
    frame = rows(job(f"{perf}\n{step}"))
    assert frame["step"].drop_nulls().to_list() == [10, 20, 30, 40, 50, 60]
    with_step = frame.filter(pl.col("step").is_not_null())
    assert with_step["flops_rate_per_gpu"].null_count() == with_step.height


def test_a_number_in_the_label_of_a_time_says_of_how_many_steps_it_is() -> None:
    frame = rows(job("Iteration {n}: loss {l}, time for last 10 iterations: 12.74s, lr 1e-4"))
    assert frame["step_time_average"].to_list() == pytest.approx([1.274] * 6)
    assert frame["step_time"].null_count() == 6


def test_the_time_of_an_epoch_is_none_of_a_step_that_is_counted_within() -> None:
    text = "".join(
        f"Epoch {n}/10: train_loss=1.{9 - n}12 time={t}s steps=500\n"
        for n, t in enumerate((431.2, 412.1, 409.3, 415.2), start=1)
    )
    frame = rows(text)
    assert frame["epoch"].to_list() == [1, 2, 3, 4]
    assert frame["step_time"].null_count() == 4


def test_a_cell_that_says_validation_makes_no_step() -> None:
    text = job("Epoch 0 |   Training | Elapsed Time: 0:01:21 | Steps: {n} | Loss: {l}")
    frame = rows(text + "Epoch 0 | Validation | Elapsed Time: 0:00:31 | Steps: 40 | Loss: 5.1\n")
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["elapsed"].to_list() == [81.0] * 6


@pytest.mark.parametrize("line", [
    "Validation: step {n}: loss=9.9, time=1.1s", "[eval] step {n} | loss 9.9 | 1.1 s/step",
    "step {n} (val): loss 9.9, 1.1 s/step", "step {n} - validation: loss 9.9, 1.1 s/step",
    "[RANK 0]  validation loss at iteration {n} | loss: 9.9 | 1.1 s/step", "CV | step {n} loss 9.9",
    "[{n}] collection=training_eval/c4 loss=9.9, steps_per_second=2.1",
    "Epoch 0 Step {n} CV info lr 0.001 loss 9.9", "Eval at step {n}: loss 9.9, 1.1 s/step",
    "evaluation - epoch 1 - step {n} - loss 9.9",
])  # fmt: skip
def test_a_line_that_says_validation_first_makes_no_step(line: str) -> None:
    frame = rows(job("step {n}: loss {l}, val loss 9.7, {t} s/step\n" + line))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["step_time"][0] == 2.41
    assert frame["validation_loss"].to_list() == [9.7] * 6


def test_a_tab_behind_a_colon_parts_nothing() -> None:
    text = "".join(f"Train Epoch: \t{n}, Loss: \t{3 - n / 10:.4f}\n" for n in range(1, 5))
    assert rows(text)["loss"].to_list() == [2.9, 2.8, 2.7, 2.6]


def test_a_label_of_signs_alone_is_none() -> None:
    frame = rows(job("- {n} iterations × 1024 × 2048 = **10.0 B tokens**, step {n} loss: {l}"))
    assert frame["loss"][0] == 9.5


def test_brackets_behind_an_epoch_count_without_a_word() -> None:
    assert rows(job("#{n} loss={l} tok/s=314"))["batch"].to_list() == [10, 20, 30, 40, 50, 60]
    frame = rows(job("Train Epoch: 1 [{n}/60000 (1%)]\tLoss: {l}"))
    assert frame["step"].null_count() == 6
    assert frame["batch"].to_list() == [10, 20, 30, 40, 50, 60]


def test_a_list_under_a_count_is_an_epoch_and_a_batch_of_it() -> None:
    record = '{"type": "LOG", "step": [0, {n}], "data": {"train.loss": {l}, "train.lr": 0.25}}'
    text = job(record) + '{"type": "LOG", "step": [0], "data": {"train.loss": 9.2}}\n'
    frame = rows(text)
    assert frame["batch"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["step"].null_count() == frame.height == 6


def test_a_time_of_several_steps_is_their_mean() -> None:
    frame = rows(job("Step {n}: Ran 100 train steps in 41.21 secs, loss {l}"))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["step_time_average"].to_list() == pytest.approx([0.4121] * 6)
    assert frame["step_time"].null_count() == 6


def test_the_second_of_two_counts_that_a_rate_lies_between_is_the_step() -> None:
    line = "TimeHistory: 41.2 seconds, 310.45 examples/second between steps 0 and {n}"
    frame = rows(job(line, first=100, stride=100))
    assert frame["step"].to_list() == [100, 200, 300, 400, 500, 600]
    assert frame["samples_per_s"].to_list() == [310.45] * 6
    assert frame["step_time"].null_count() == 6


def test_counts_in_few_digits_are_steps_that_are_rounded() -> None:
    text = "".join(f"loss: 3.{9 - n}e+01, lr: 1e-06, step: {n}.00e+02\n" for n in range(1, 6))
    frame = rows(text)
    assert frame["step_rounded"].to_list() == [100, 200, 300, 400, 500]
    assert frame["step"].null_count() == 5


@pytest.mark.parametrize(
    ("printed", "seconds"),
    [("0:12:34.56", 754.56), ("1 day, 2:00:01.50", 93601.5), ("0:00:09", 9)],
)
def test_totals_below_their_heading_are_a_summary(printed: str, seconds: float) -> None:
    head = "***** train metrics *****\n  epoch                    =        1.0\n"
    body = f"  train_runtime            = {printed}\n  train_steps_per_second   =      0.538\n"
    (row,) = read(head + body + "Saved.\n").frames["trainer_summary"].to_dicts()
    assert (row["phase"], row["elapsed"], row["step_rate"]) == ("training", seconds, 0.538)


def test_totals_of_training_need_no_heading() -> None:
    rates = "train_samples_per_second =      9.216\ntrain_steps_per_second   =      0.144\n"
    (row,) = read(f"train_loss = 0.8713\n{rates}Saved.\n").frames["trainer_summary"].to_dicts()
    assert (row["phase"], row["samples_per_s"], row["step_rate"]) == ("training", 9.216, 0.144)
    settings = read("train_samples = 1000\ntrain_batch_size = 32\n")
    assert "trainer_summary" not in settings.frames


def test_a_frame_of_labels_and_values_is_one_record() -> None:
    body = "│ iter_s  {t} │\n│ training_iteration   {n} │\n│ loss      {l} │\n"
    frame = rows(job(f"╭────╮\n│ Training result │\n├────┤\n{body}╰────╯"))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["step_time"][0] == 2.41


def test_a_count_that_is_abbreviated_is_no_step() -> None:
    line = (
        "Epoch 0:  3%|▎ | {n}/1100000 [5:28:58<171:22:21,  1.73it/s, loss={l}, global_step=3.1e+4]"
    )
    frame = rows(job(line))
    assert frame["step"].null_count() == 6
    assert frame["batch"][0] == 10
    assert frame["step_rounded"][0] == 31000
    assert frame["step_rounded_ulp"][0] == 1000


def test_exact_formats_keep_their_lines() -> None:
    exact = " iteration {n}/ 1000 | elapsed time per iteration (ms): {m} | lm loss: {l} |"
    reading = read(job(exact) + job("iter {n}: loss {l}, lr 1e-4"))
    assert reading.frames["megatron_iteration"].height == 6
    assert reading.frames["generic_step"].height == 6


def clocked(every: int, value: str, line: str = "{c} step {n} loss {l}{t}", many: int = 41) -> str:
    """Lines a step apart, 1.2 s of day between them, of which some print a time."""
    out = []
    for n in range(many):
        seconds = 36000 + 1.2 * n
        clock = f"10:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
        time = f" time {eval(value, {'n': n}):.3f}s" if n % every == 0 and n else ""
        values = {"{c}": f"2025-05-03 {clock}", "{n}": str(n), "{l}": f"{9 - n / 50:.4f}"}
        text = line.replace("{t}", time)
        for name, said in values.items():
            text = text.replace(name, said)
        out.append(text)
    return "\n".join(out) + "\n"


def test_a_time_that_some_steps_print_is_of_one_or_of_all_since_then_as_the_clock_says() -> None:
    of_one = rows(clocked(10, "1.2 + n % 3 / 100"))
    assert of_one["step_time"].drop_nulls().to_list() == [1.21, 1.22, 1.2, 1.21]
    of_ten = rows(clocked(10, "12.0 + n % 3 / 100"))
    assert of_ten["step_time"].null_count() == of_ten.height
    assert of_ten["step_time_average"].drop_nulls().to_list() == pytest.approx(
        [1.201, 1.202, 1.2, 1.201]
    )


def test_a_time_that_some_steps_print_is_of_none_without_a_clock() -> None:
    frame = rows(clocked(10, "1.2 + n % 3 / 100", "step {n} loss {l}{t}"))
    assert frame.height == 41
    for name in ("step_time", "step_time_average", "elapsed"):
        assert name not in frame.columns or frame[name].null_count() == 41


def test_a_time_of_few_steps_that_rises_by_little_is_not_elapsed() -> None:
    frame = rows("".join(f"step {n} loss {9 - n}.5 dt: 0.{91 + n}s\n" for n in range(1, 5)))
    assert frame.height == 4
    assert frame["elapsed"].null_count() == 4


def test_kinds_of_lines_that_are_not_all_compared_are_told() -> None:
    """Each line has labels of its own; what is read stands, in some kinds and in many."""
    line = "step: {at}, loss: 2.5, {word}a: 1.5, {word}b: 2.5, {word}c: 3.5, {word}d: 4.5\n"
    letters = "bcdefghijklm"
    every = [a + b for a in letters for b in letters]
    for count, capped in ((COMPARED // 2, 0), (COMPARED + 9, 1)):
        text = "".join(line.format(at=at, word=word) for at, word in enumerate(every[:count]))
        told = [each for each in read(text).remarks if each.code == "capped"]
        assert len(told) == capped
        if told:
            assert told[0].message.startswith("this and 7 more kinds of lines are compared with")


def test_a_number_that_goes_on_as_the_time_of_day_does_is_elapsed() -> None:
    clock = "[10:{at:02}:00] step {n} loss {l:.2f} uptime {up:.1f}\n"
    text = "".join(clock.format(at=n, n=n, l=9 - n / 4, up=86.9 + 60.2 * n) for n in range(1, 7))
    assert rows(text)["elapsed"].to_list() == pytest.approx([86.9 + 60.2 * n for n in range(1, 7)])
    unknown = rows(re.sub(r"\[.*?\] ", "", text))
    assert unknown["elapsed"].null_count() == unknown.height == 6


def test_a_total_that_rises_is_the_batch_of_an_epoch() -> None:
    lines = job("TRAIN | steps/sec 1.2 | Batch 0/{n} loss {l} lr 1e-4") * 2
    text = lines[: len(lines) // 2] + lines[len(lines) // 2 :].replace("Batch 0", "Batch 1")
    frame = rows(text)
    assert frame["batch"].to_list() == [10, 20, 30, 40, 50, 60] * 2
    assert frame["step"].null_count() == frame["total_steps"].null_count() == 12


def test_losses_of_both_sets_are_an_evaluation_beside_lines_of_steps() -> None:
    both = "step {n}: train loss 9.{n}, val loss 9.8\n"
    assert rows(job(both)).height == 6
    frame = rows(job("iter {n}: loss {l}, lr 1e-4") + job(both))
    assert frame["loss"].to_list()[0] == 9.5
    assert frame.height == 6


def test_a_block_has_lines_of_others_above_it_and_a_part_of_validation_within() -> None:
    head = "========== Step {n}/900 ==========\nPreparing batch...\n"
    other = (
        "(Worker pid=4) WARNING 08-20 13:07:12 [sampler.py:69] freed 61.44 GiB, 3.17 GiB in use.\n"
    )
    aside = "Validation Results:\n  Scores:\n    - Loss: 3.5\n  - Total validation time: 9.1s\n"
    body = "Training Results:\n  - Loss: {l}\nTiming:\n  - Total step time: {t}s\n"
    frame = rows(job(head + other + aside + body))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["loss"][0] == 9.5
    assert frame["step_time"][0] == 2.41


def test_a_bar_that_is_drawn_again_behind_a_validation_is_of_one_step() -> None:
    bar = "Epoch {e}: {p}%|##| {n}/20 [00:12<01:28, {r}it/s, v_num=4, loss/train_step={l}{v}]"
    text, v = "", ""
    for e in range(3):
        if e:  # what the epoch before left
            text += bar.format(e=e, p=0, n=0, r="?", l=9.5 - e, v=v) + "\n"
        for n in (10, 20):
            text += bar.format(e=e, p=5 * n, n=n, r=1.9, l=9 - e - n / 40, v=v) + "\n"
        v = f", loss/val_step={9.1 - e}, loss/train_epoch={9.2 - e}"
        text += bar.format(e=e, p=100, n=20, r=1.8, l=9 - e - 0.5, v=v) + "\n"
    frame = rows(text)
    assert frame["step"].to_list() == [10, 20] * 3
    assert frame["loss"].to_list() == [8.75, 8.5, 7.75, 7.5, 6.75, 6.5]
    assert frame["step_rate"].to_list() == [1.9] * 6


def test_what_stands_under_a_word_of_validation_is_of_that() -> None:
    line = '{"step": {n}, "val": {"loss": 9.9, "ppl": 3.1}, "train": {"loss": {l}, "lr": 1e-4}}'
    frame = rows(job(line))
    assert frame["loss"][0] == 9.5
    assert frame["validation_loss"].to_list() == [9.9] * 6


def test_a_block_of_a_step_with_both_losses_is_no_summary() -> None:
    block = "Step {n}:\n    train_loss = {l}\n    eval_loss = 9.9\n    step_time = {t} sec\n"
    frame = rows(job(block))
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["step_time"][0] == 2.41
    assert frame["validation_loss"].to_list() == [9.9] * 6


def test_bars_of_what_a_model_generates_are_no_steps() -> None:
    bar = "Processed prompts: 100%|██| {n}/900 [00:17<00:00, 1.83it/s, est. speed input: {r} toks/s"
    frame = rows(job(bar + ", output: 112{n}.4 toks/s]"))
    assert frame.height == 0


def test_a_line_of_validation_alone_is_no_step_beside_steps() -> None:
    text = job("step:{n}/1770 train_loss:{l} train_time:{r}ms step_avg:{m}ms")
    frame = rows(text + "step:60/1770 val_loss:4.37 val_ppl:79.0\n")
    assert frame["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert frame["validation_loss"].null_count() == 6


def test_a_validation_with_an_average_over_training_says_something_of_training() -> None:
    text = job("step:{n}/1770 train_loss:{l} train_time:{r}ms step_avg:{m}ms")
    frame = rows(text + "step:60/1770 val_loss:4.37 train_time:999ms step_avg:94.01ms\n")
    assert frame["step_time_average"].null_count() == 0
    assert frame["validation_loss"].to_list()[-1] == 4.37


def test_a_line_with_a_part_of_validation_is_no_step_where_others_have_none() -> None:
    text = job("epoch 1 step {n} loss={l}, lr=1e-4, grad_norm={g}")
    both = "epoch 1 step 60 [train] loss=9.1, lr=1e-4, grad_norm=1.1 [valid] loss=8.8\n"
    assert rows(text + both)["step"].to_list() == [10, 20, 30, 40, 50, 60]
    assert rows(job(both.strip().replace("60", "{n}"))).height == 6


def test_an_evaluation_under_the_labels_of_a_step_is_none() -> None:
    step = "step:{0}00 smpl:{0}K ep:{0} epch:0.{0} loss:{0}.548 lr:1.0e-05 updt_s:0.13\n"
    text = "".join(step.format(at) for at in range(2, 7))
    found = rows(text + "step:600 smpl:6K ep:6 epch:0.6 ∑rwrd:12.4 success:0.0% eval_s:72.412\n")
    assert found["step"].to_list() == [200, 300, 400, 500, 600]
    bar = "Stepping through eval batches: 100%|█| 1/1 [01:12<00:00, 72.41s/it, success=4.0%]\n"
    assert rows(text + bar).height == found.height


def test_underscores_part_the_digits_of_a_count() -> None:
    lines = [f"it {n:_}/20_000 | {9 - n / 1000:.3f} nats | 390.{n % 7} ms | lr 1.80e-05\n"
             for n in range(980, 1060, 20)]  # fmt: skip
    found = rows("".join(lines))
    assert found["step"].to_list() == [980, 1000, 1020, 1040]
    assert found["total_steps"].to_list() == [20_000] * 4
