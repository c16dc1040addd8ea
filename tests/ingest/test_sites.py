"""Job logs of other sites and versions: what each prints, against a reader of twenty lines.

The lines are written by hand, in the shapes that the code of each framework prints.
"""

from __future__ import annotations

import re

import polars as pl
import pytest
from assay.ingest.schema.terminals import terminal
from assay.ingest.source.opening import Source, source
from assay.ingest.source.prefixes import alone, peel, region
from hypothesis import example, given
from hypothesis import strategies as st

from .test_job_logs import parse

COMMON = (
    "learning rate: 3.000E-06 | global batch size:    16 | lm loss: 9.065170E+00 | "
    "loss scale: 1.0 | grad norm: 4.203 | number of skipped iterations:   0 | "
    "number of nan iterations:   0 |"
)
ITERATIONS = {
    "megatron 2019": " iteration      100/  320000 | elapsed time per iteration (ms): 512.3 | "
    "learning rate 1.500E-04 | lm loss 6.482731E+00 | loss scale 65536.0 |",
    "megatron 2.0, BERT": " iteration      200/  320000 | elapsed time per iteration (ms): 510.1 | "
    "learning rate: 1.500E-04 | lm loss: 6.1E+00 | sop loss: 0.69 | loss scale: 65536.0 | "
    "number of skipped iterations:   0 | number of nan iterations:   0 |",
    "megatron 2.6": " iteration        1/ 500000 | consumed samples:          512 | "
    f"elapsed time per iteration (ms): 13311.9 | {COMMON[:-1]}| num zeros: 0.0 | "
    "params norm: 3021.5 |",
    "megatron-core 0.5": " [2024-06-02 10:02:12] iteration       71/     100 | consumed samples: "
    "        9088 | elapsed time per iteration (ms): 4361.6 | "
    f"throughput per GPU (TFLOP/s/GPU): 301.6 | {COMMON}",
    "megatron-core 0.14": " [2025-06-02 10:02:12.123456] iteration       72/     100 | "
    "consumed samples:         9216 | elapsed time per iteration (ms): 4361.6 | "
    "throughput per GPU (TFLOP/s/GPU): 301.6 | energy per GPU (J/iter/GPU): 3012.2 | "
    "power per GPU (W/GPU): 690.1 | mtp_1 loss: 2.35E+00 | load_balancing_loss: 1.02E+00 | "
    f"seq_load_balancing_loss: 1.01E+00 | {COMMON}",
    "gpt-neox": " samples/sec: 7.799 | iteration       34/   10000 | "
    "elapsed time per iteration (ms): 4103.1 | learning rate: 2.111E-06 | "
    "approx flops per GPU: 112.9TFLOPS | lm_loss: 1.118665E+01 | loss scale: 4096.0 | "
    "number of skipped iterations:   0 | number of nan iterations:   0 |",
    "nemo 2": "Training epoch 0, iteration 3/99 | lr: 1.5e-07 | global_batch_size: 256 | "
    "global_step: 3 | reduced_train_loss: 10.45 | train_step_timing in s: 12.31 | "
    "consumed_samples: 1024",
    "rocm": "[20251023 12:39:12][rank-63/64][INFO ] [--------trainer.py:2382] :  iteration "
    "      12/      50 | consumed samples: 6144 | elapsed time per iteration (ms): 8400.2/8512.9 | "
    "hip mem usage/free/total/usage_ratio: 180.10GB/75.88GB/255.98GB/70.36% | "
    "throughput per GPU (TFLOP/s/GPU): 402.7/397.4 | "
    f"tokens per GPU (tokens/s/GPU): 7801.2/7700.1 | {COMMON}",
    "rocm, one mean": " iteration       10/      50 | consumed samples:         2560 | "
    "elapsed time per iteration (ms): 8400.2 | mem usages: 0.7036 | "
    f"throughput per GPU (TFLOP/s/GPU): 402.7 | tokens/GPU/s: 7801.2 | {COMMON}",
    "megatron-deepspeed": " iteration       10/   1000 | consumed samples:          160 | "
    "consumed tokens:       327680 | elapsed time per iteration (ms): 2210.4 | moe loss: 1.0E-02 | "
    f"actual seqlen:  2048 | {COMMON} samples per second: 7.238 | "
    "tokens per gpu per second (tgs): 1853.061 | TFLOPs: 77.13 |",
    "megatron-deepspeed, logger": "[2025-03-02 10:11:12,131415][I][megatron/training_log:402:"
    "training_log]  iteration=    4200/   90000 | consumed_samples=     4300800 | "
    "elapsed_time_per_iteration_ms=2210.4 | learning_rate=1.5e-05 | global_batch_size= 1024 | "
    "lm loss=3.120331 | loss_scale=1.0 | actual_seqlen= 4096 | samples_per_second=463.2 | "
    "tokens_per_gpu_per_second_tgs=3902.114 | [LM]TFLOPs=61.20 | [DS]TFLOPs=63.14 |",
    "ascend": " iteration        5/    2000 | consumed samples:          160 | "
    f"elapsed time per iteration (ms): 46513.7 | {COMMON} actual seqlen:  4096 |",
    "a fork that prints tokens": " iteration        5/    2000 | consumed samples:          160 | "
    f"elapsed time per iteration (ms): 465.7 | rate (tokens/sec): 5678.9 | {COMMON}",
    "another that prints two rates": " iteration        6/    2000 | TFLOPs per GPU: 150.2 | "
    f"elapsed time per iteration (ms): 465.7 | hardware TFLOPs: 180.1 | MFU: 48.1% | {COMMON}",
}  # fmt: skip

COLUMNS = {  # label without case, blanks and punctuation → column, factor
    "consumedsamples": ("consumed_samples", 1), "consumedtokens": ("consumed_tokens", 1),
    "elapsedtimeperiterationms": ("step_time", 1e-3), "traintimingins": ("step_time", 1),
    "trainsteptimingins": ("step_time", 1), "learningrate": ("learning_rate", 1),
    "lr": ("learning_rate", 1), "globalbatchsize": ("global_batch", 1), "lmloss": ("lm_loss", 1),
    "reducedtrainloss": ("lm_loss", 1), "sop loss": ("sop_loss", 1), "lossscale": ("loss_scale", 1),
    "gradnorm": ("grad_norm", 1), "numzeros": ("num_zeros", 1), "paramsnorm": ("params_norm", 1),
    "soploss": ("sop_loss", 1), "loadbalancingloss": ("load_balancing_loss", 1),
    "numberofskippediterations": ("skipped_iterations", 1),
    "numberofnaniterations": ("nan_iterations", 1), "samplespersecond": ("samples_per_s", 1),
    "samples/sec": ("samples_per_s", 1), "actualseqlen": ("actual_seq_len", 1),
    "throughputpergputflop/s/gpu": ("model_flops_rate", 1e12), "tflops": ("model_flops_rate", 1e12),
    "tflopspergpu": ("model_flops_rate", 1e12), "approxflopspergpu": ("model_flops_rate", 1e12),
    "tokenspergpupersecondtgs": ("tokens_per_gpu_per_s", 1), "memusages": ("memory_fraction", 1),
    "tokens/gpu/s": ("tokens_per_gpu_per_s", 1), "ratetokens/sec": ("tokens_per_s", 1),
    "tokenspergputokens/s/gpu": ("tokens_per_gpu_per_s", 1),
    "energypergpuj/iter/gpu": ("energy_per_gpu", 1), "powerpergpuw/gpu": ("power_per_gpu", 1),
}  # fmt: skip


def naive(line: str) -> tuple[dict[str, float], set[str]]:
    """Columns and values of one line, and the labels that no column has."""
    known: dict[str, float] = {}
    other = set()
    head = re.search(r"iteration\s*=?\s*(\d+)/\s*(\d+)", line)
    assert head is not None
    known["iteration"], known["train_iters"] = float(head[1]), float(head[2])
    begin = 0 if "|" in line[: head.start()] else head.start()
    for cell in line[begin:].replace(head[0], "").split("|"):
        said = re.fullmatch(r"\s*(.*?)\s*(?:[:=]\s*|\s)([0-9.]\S*)\s*", cell)
        if said is None:
            continue
        column = COLUMNS.get(re.sub(r"[\s_():\[\]]", "", said[1]).lower())
        value = re.match(r"[0-9.]+(?:[eE][+-][0-9]+)?", said[2])
        assert value is not None
        if column is None:
            other.add(said[1])
        else:
            known[column[0]] = float(value[0]) * column[1]
    return known, other


@pytest.mark.parametrize("site", ITERATIONS)
def test_every_value_of_a_line_is_found(site: str) -> None:
    reading = parse(ITERATIONS[site] + "\n")
    assert (reading.refused, reading.remarks) == ((), ())
    row = reading.frames["megatron_iteration"].row(0, named=True)
    known, other = naive(ITERATIONS[site])
    assert len(known) >= 5
    for column, value in known.items():
        assert row[column] == pytest.approx(value, rel=1e-12), column
    kept = {cell["name"] for cell in row["other"]}
    assert {label for label in other if "mem usage/free" not in label} == kept


PREFIXES = {
    "node-12: ": {"host": "node-12"},
    "node-12: [default3]: ": {"host": "node-12", "rank": "3"},
    "gpu-st-p4d-24xlarge-7: [2024-05-01 12:00:00,123] ": {"host": "gpu-st-p4d-24xlarge-7"},
    "2024-05-01 12:00:00.123 | INFO     | __main__:training_log:1234 - ": {
        "timestamp": "2024-05-01 12:00:00.123"},
    "INFO 2024-05-01 12:00:00 training.py:744] ": {"timestamp": "2024-05-01 12:00:00"},
    "I0501 12:00:00.123456 12345 training.py:744] ": {},
    "May 01 12:00:00 host-1 trainer[123]: ": {},
    "2024-05-01T12:00:00.123456789+00:00 stdout F ": {},
    "x3004c0s7b0n0.hsn.cm.site.org 15: ": {
        "host": "x3004c0s7b0n0.hsn.cm.site.org", "rank": "15"},
    "nid001234 3: ": {"host": "nid001234", "rank": "3"},
    '2024-05-01T12:00:00Z {app="train", pod="train-0"} ': {"timestamp": "2024-05-01T12:00:00"},
    "2024-05-01T12:00:00Z job/algo-1-1714557600 [1,mpirank:3,algo-1]<stdout>:": {"rank": "3"},
    "2024-05-01T12:00:00Z ": {"timestamp": "2024-05-01T12:00:00"},
}  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    "record",
    [" iteration       34/   10000 | lm loss: 1.5 |",
     "(after 20 iterations) memory (MB) | allocated: 1.5 | max allocated: 2.5",
     " validation loss at iteration 100 | lm loss value: 8.017406E+00 |",
     "time (ms) | forward-compute: 378.78",
     " > number of parameters on (tensor, pipeline) model parallel rank (0, 1): 3178459136"],
)  # fmt: skip
def test_launchers_and_loggers_in_front(prefix: str, record: str) -> None:
    reading = parse(f"{prefix}{record}\n")
    assert (reading.refused, reading.accounting[0].claimed) == ((), 1)
    (frame,) = reading.frames.values()
    for name, text in PREFIXES[prefix].items():
        assert frame[name].to_list() == [text]


@pytest.mark.parametrize("line", ["step1: 5", "NODES1: 12", "epoch3: iteration of 4/5 |"])
def test_a_label_is_no_host(line: str) -> None:
    assert parse(line + "\n").frames == {}
    assert re.match(terminal("HOSTNAME"), line)


def test_memory_reports_of_all_kinds() -> None:
    rows = parse(
        "[Rank 0] (after 2 iterations) memory (MB) | allocated: 1.50 | max allocated: 2.50 | "
        "reserved: 3.00 | max reserved: 4.00 | total device memory used: 77000.00\n"
        "(after 10 iterations) memory (MB) | allocated: 1.5 | max allocated: 2.5\n"
        "[Rank 7] after training is done memory (MB) | allocated: 1.5 | max allocated: 2.5\n"
    ).frames["megatron_memory"]
    assert rows.select("rank", "iteration", "moment").rows() == [
        ("0", 2, None), (None, 10, None), ("7", None, "after training is done")]  # fmt: skip
    assert rows["max_allocated"].to_list() == [2.5 * 2**20] * 3
    assert rows["max_allocated_ulp"][0] == pytest.approx(0.01 * 2**20)
    assert rows["other"][0].to_list()[0]["text"] == "77000.00"


def test_counts_and_footprints_of_megatron_core() -> None:
    frames = parse(
        "Number of parameters in transformer block in billions:  6.25\n"
        "Number of parameters in embedding layers in billions: 0.21\n"
        "Total number of parameters in billions: 6.46\n"
        "Number of active parameters in most loaded shard in billions: 0.8318\n"
        "Activation memory footprint per transformer layer: 168.0 MB\n"
        "Activation memory footprint per transformer layer (precise, without SP): 200.0 MB\n"
        "Theoretical memory footprints: weight and optimizer=7120.31 MB, activation=1234.56 MB, "
        "total=8354.87 MB\n"
    ).frames
    assert frames["megatron_parameters"]["rounded"].to_list() == [6.25e9, 0.21e9, 6.46e9, 0.8318e9]
    theory = frames["megatron_theory"]
    assert theory["activation_per_layer"].to_list() == [168 * 2.0**20, 200 * 2.0**20, None]
    assert theory["total"][2] == pytest.approx(8354.87 * 2**20)


def test_lines_of_newer_deepspeed() -> None:
    place = "[2024-01-01 10:00:00,123] [INFO] [{}] "
    reading = parse(
        place.format("loss_scaler.py:183:update_scale") + "[deepspeed] OVERFLOW! Rank 3 Skipping "
        "step. Attempted loss scale: 65536, but hysteresis is 2. Reducing hysteresis to 1\n"
        + place.format("stage3.py:1842:_overflow_clean_up") + "[deepspeed] OVERFLOW! Rank 0 "
        "Skipping step. Attempted loss scale: 65536, reducing to 32768\n"
        + place.format("logging.py:96:log_dist") + "[Rank 0] step=10, skipped=2, "
        "lr=[0.00015, 0.00015], mom=[(0.9, 0.95), (0.9, 0.95)]\n"
        + place.format("timer.py:215:stop") + "epoch=0/micro_step=10/global_step=10, "
        "RunningAvgSamplesPerSec=7.2, CurrSamplesPerSec=7.1, MemAllocated=12.3GB, "
        "MaxMemAllocated=40.5GB\n"
        + place.format("logging.py:96:log_dist") + "[Rank 0] time (ms) | fwd_microstep: 10.1 | "
        "bwd_microstep: 20.2 | step_microstep: 5.5\n"
        "steps: 10 loss: 6.8642 lr: 0.0001 iter time (s): 1.053 samples/sec: 972.1\n"
    )  # fmt: skip
    assert reading.refused == ()
    frames = reading.frames
    overflow = frames["deepspeed_overflow"]
    assert overflow.select("rank", "loss_scale", "reduced_to").rows() == [
        ("3", 65536.0, None), ("0", 65536.0, 32768.0)]  # fmt: skip
    assert frames["deepspeed_schedule"].select("step", "skipped").rows() == [(10, 2)]
    assert frames["deepspeed_throughput"]["max_allocated"].to_list() == [
        pytest.approx(40.5 * 2**30)]  # fmt: skip
    assert frames["megatron_timers"]["timer"].to_list() == [
        "fwd_microstep", "bwd_microstep", "step_microstep"]  # fmt: skip
    assert frames["deepspeed_step"].select("step", "step_time").rows() == [(10, 1.053)]


def test_validation_of_newer_versions() -> None:
    rows = parse(
        " validation loss at iteration 100 on validation set | lm loss value: 8.0E+00 | "
        "lm loss PPL: 3.0E+03 | \n"
        " test results at iteration 100 | lm_loss value: 7.5 | lm_loss_ppl value: 1.8E+03 |\n"
    ).frames["megatron_validation"]
    assert rows.select("iteration", "lm_loss", "lm_ppl").rows() == [
        (100, 8.0, 3000.0), (100, 7.5, 1800.0)]  # fmt: skip
    assert rows.filter(pl.col("other").list.len() > 0).is_empty()


def test_what_is_printed_for_nothing_and_for_next_to_nothing() -> None:
    reading = parse(
        " iteration 6/ 9 | elapsed time per iteration (ms): 46.7 | learning rate: None | "
        "throughput per GPU (TFLOP/s/GPU): 0.0 | lm loss: 0.000000E+00 |\n"
        " iteration 7/ 9 | elapsed time per iteration (ms): 46.7 | learning rate: 1.0E-05 | "
        "throughput per GPU (TFLOP/s/GPU): 0.1 | lm loss: nan |\n"
        " > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 1,234,567\n"
    )
    assert reading.refused == ()
    rows = reading.frames["megatron_iteration"]
    assert rows["learning_rate"].to_list() == [None, 1e-5]
    assert rows["model_flops_rate"].to_list() == [0.0, 1e11]
    assert [list(c.values()) for c in rows["other"][0].to_list()] == [["learning rate", "None"]]
    assert reading.frames["megatron_parameters"]["count"].to_list() == [1234567]


PIECES = st.sampled_from([
    "[2024-06-02 10:02:12] ", "[default3]:", "node-12: ", "worker-3: ", "0: ", "INFO ", "[", "]",
    "100%|#####|", " 3/9 [00:01<00:02]", "iteration 3/ 9 | lm loss: 1.0 |", "step: 3", "  ", ":",
    "[Rank 0] ", "(pid=3, ip=10.0.0.1) ", "I0602 10:02:12.123 3 train.py:9] ", "x = 1", "é", "|",
    "7",
])  # fmt: skip


@given(st.lists(PIECES, max_size=9).map("".join), st.booleans())
@example("# " * 2500, False)
def test_a_line_alone_is_peeled_as_among_others(text: str, glued: bool) -> None:
    schema = {"line": pl.UInt32, "text": pl.String}
    frame = pl.DataFrame({"line": [7], "text": [text]}, schema=schema)
    whole = source("a", b"")
    assert isinstance(whole, Source)
    assert alone(7, text, glued=glued) == region(whole, peel(frame, glued=glued)).lines
