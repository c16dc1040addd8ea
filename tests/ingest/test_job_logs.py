"""Job outputs as they lie on the disk: what ran, under which configuration, and every number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.read import read
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source

from ..conftest import FIXTURES, ROOT

LOGS = "corpus/megatron_log"
COUNTS = {  # iterations and memory reports of each job output
    "meg_gpt2_base_n16_dp1_tp4_pp16-1809577.out": (9, 64),
    "meg_gpt2_base_n8_dp1_tp4_pp8-1809562.out": (20, 32),
    "meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out": (20, 16),
    "meg_ds_3d_gpt2_perf_n16-ds-off.out": (62, 64),
    "meg_ds_zero_gpt2_perf_n16_nbs48_ms48.out": (3, 1),
    "meg_gpt2_perf_n16.out": (3, 0),
    "hf_ds_gpt2_perf_n16_bs4-mbs8.out": (0, 0),
}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out": {
        "hidden": 6144, "layers": 40, "heads": 32, "seq_len": 1024, "vocab": 50688, "tp": 4,
        "pp": 4, "dp": 1, "gpus": 16, "micro_batch": 1, "global_batch": 4, "dtype": "fp16",
        "recompute": "full", "gpu": "Tesla V100-SXM2... 32510MiB",
    },
    "meg_ds_3d_gpt2_perf_n16-ds-off.out": {
        "hidden": 8192, "layers": 64, "ffn_hidden": 32768, "tp": 4, "pp": 16, "dp": 1, "gpus": 64,
        "micro_batch": 4, "global_batch": 1024, "accumulation": 256, "zero_stage": 0, "gpu": None,
    },
    "meg_ds_zero_gpt2_perf_n16_nbs48_ms48.out": {
        "hidden": 8192, "layers": 64, "tp": 4, "pp": 1, "dp": 16, "gpus": 64, "micro_batch": 48,
        "global_batch": 768, "zero_stage": 3, "recompute": "full", "dtype": "fp16", "gpu": None,
    },
}  # fmt: skip


def parse(text: str | bytes, name: str = "a.log") -> Reading:
    whole = source(name, text.encode() if isinstance(text, str) else text)
    assert isinstance(whole, Source)
    return read_source(whole, FORMATS)


def naive(data: bytes) -> list[tuple[int, str, float]]:
    """Values of a log by twenty lines of code: line, column of the frame, value in its unit."""
    wanted = {
        "consumed_samples": (r"consumed samples:\s+(\d+)", 1.0),
        "step_time": (r"elapsed time per iteration \((m?)s\):\s+([\d.]+)", 1.0),
        "learning_rate": (r"learning rate:\s+([\d.Ee+-]+)", 1.0),
        "lm_loss": (r"lm[ _-]loss:\s+([\d.Ee+-]+)", 1.0),
        "grad_norm": (r"grad norm:\s+([\d.]+)", 1.0),
        "loss_scale": (r"loss scale:\s+([\d.]+)", 1.0),
        "skipped_iterations": (r"number of skipped iterations:\s+(\d+)", 1.0),
        "model_flops_rate": (r"TFLOPs:\s+([\d.]+)", 1e12),
    }
    found = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if head := re.search(r"iteration\s+(\d+)/\s*\d+ \|", line):
            found.append((number, "iteration", float(head[1])))
            for name, (pattern, scale) in wanted.items():
                if (hit := re.search(pattern, line)) and not line.endswith(hit[0]):
                    milli = 1e-3 if hit[1] == "m" else 1.0
                    found.append((number, name, float(hit.groups()[-1]) * scale * milli))
    return found


@pytest.mark.parametrize("name", COUNTS)
def test_every_record_of_a_job_is_read(corpus: Path, name: str) -> None:
    reading = read([corpus / LOGS / name]).reading
    heights = {frame: rows.height for frame, rows in reading.frames.items()}
    assert (heights.get("megatron_iteration", 0), heights.get("megatron_memory", 0)) == COUNTS[name]
    assert reading.refused == ()


@pytest.mark.parametrize("share", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_whatever_a_naive_reader_finds_is_found(corpus: Path, share: int) -> None:
    paths = [*sorted((corpus / LOGS).iterdir())[share::2], *FIXTURES.rglob("*.log")]
    compared = 0
    for path in paths:
        rows = read([path]).reading.frames.get("megatron_iteration")
        for line, field, value in naive(path.read_bytes()):
            assert rows is not None
            row = rows.row(by_predicate=pl.col("line") == line, named=True)
            assert row[field] == pytest.approx(value, rel=1e-12), (path, line, field)
            compared += 1
    assert compared > 300


def test_nothing_that_talks_about_iterations_is_a_record(corpus: Path, tmp_path: Path) -> None:
    allowed = {"002": 6}  # the prequel quotes six lines
    for path in sorted((corpus / "corpus" / "seeds").iterdir()):
        frames = read([path]).reading.frames
        rows = frames["megatron_iteration"].height if "megatron_iteration" in frames else 0
        assert rows == allowed.get(path.name[:3], 0)
    lines = [fmt for fmt in FORMATS if fmt.name.startswith(("megatron", "deepspeed"))]
    for folder in ("ingest", "model", "validate", "grammars"):
        sources = [p for p in (ROOT / folder).rglob("*") if p.suffix in {".py", ".lark", ".toml"}]
        whole = tmp_path / f"{folder}.txt"
        whole.write_text("\n\n".join(path.read_text() for path in sorted(sources)))
        for name, frame in read([whole], formats=lines).reading.frames.items():
            assert frame.is_empty(), (name, frame["line"].to_list())


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_configuration_comes_from_the_log(corpus: Path, name: str) -> None:
    reading = read([corpus / LOGS / name]).reading
    rows, runs = reading.frames["megatron_iteration"], reading.frames["runs"]
    assert runs.height == 1
    for field, value in CONFIGURATIONS[name].items():
        assert set(rows[field].to_list()) == {value}, field
        assert runs[field].to_list() == [value], field
    bound = reading.provenance.filter(pl.col("field") == "hidden", pl.col("frame") != "runs")
    assert set(bound["value_origin"]) == {"stated"}
    assert bound["from_line"].null_count() == 0


def test_arguments_are_typed() -> None:
    frame = read([FIXTURES / "arguments" / "gpt2_52b_zero3.log"]).reading.frames["arguments"]
    said = {(r["dump"], r["name"]): (r["value"], r["type"]) for r in frame.iter_rows(named=True)}
    assert said["megatron", "adam_eps"] == ("1e-08", "float")
    assert said["megatron", "apply_residual_connection_post_layernorm"] == ("False", "bool")
    assert said["megatron", "bert_load"] == ("None", "none")
    assert said["deepspeed", "world_size"] == ("16", "int")
    assert said["deepspeed", "zero_config.sub_group_size"] == ("1.000000e+12", "float")
    assert said["deepspeed", "json.zero_optimization.stage"] == ("3", "int")
    assert said["deepspeed", "tensorboard_output_path"] == (None, "none")


def test_a_second_job_in_one_file_is_a_second_run() -> None:
    data = (FIXTURES / "arguments" / "gpt2_18b_v100.log").read_text()
    other = data.replace("num_layers ...................................... 40",
                         "num_layers ...................................... 48")  # fmt: skip
    reading = parse(data + other)
    assert reading.frames["runs"]["layers"].to_list() == [40, 48]
    assert len(set(reading.frames["runs"]["digest"])) == 2
    rows = reading.frames["megatron_iteration"]
    assert rows["layers"].to_list() == [40] * 20 + [48] * 20


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("elapsed time per iteration (ms): 8400.2/8512.9",
         {"step_time": 8.4002, "step_time_average": 8.5129}),
        ("hip mem usage/free/total/usage_ratio: 180.10GB/75.88GB/255.98GB/70.36%",
         {"memory_used": 180.10 * 2**30, "memory_free": 75.88 * 2**30,
          "memory_total": 255.98 * 2**30, "memory_fraction": 0.7036}),
        ("throughput per GPU (TFLOP/s/GPU): 402.7/397.4",
         {"model_flops_rate": 402.7e12, "model_flops_rate_average": 397.4e12}),
        ("iteration time: 98.412 s samples/sec: 10.4",
         {"step_time": 98.412, "samples_per_s": 10.4}),
        ("approx flops per GPU: 112.9TFLOPS | lm_loss: 1.118665E+01",
         {"model_flops_rate": 112.9e12, "lm_loss": 11.18665}),
        ("elapsed_time_per_iteration_ms=2210.4 | learning_rate=1.5e-05 | lm loss=3.120331",
         {"step_time": 2.2104, "learning_rate": 1.5e-05, "lm_loss": 3.120331}),
        ("elapsed time per iteration (us): 5000", {"step_time": 0.005}),
        ("grad norm: nan | loss scale: inf",
         {"grad_norm": float("nan"), "loss_scale": float("inf")}),
        ("tokens per gpu per second(tgs): 633.832 | actual seq length: 2048",
         {"tokens_per_gpu_per_s": 633.832, "actual_seq_len": 2048}),
        ("power per GPU (W/GPU): 512.3 | skipped samples: 4", {"power_per_gpu": 512.3}),
    ],
)  # fmt: skip
def test_shapes_of_cells(cells: str, expected: dict[str, float]) -> None:
    reading = parse(f" iteration       10/    1000 | {cells} |\n")
    assert reading.refused == ()
    row = reading.frames["megatron_iteration"].row(0, named=True)
    for field, value in expected.items():
        assert row[field] == pytest.approx(value, nan_ok=True), field


def test_fields_of_tomorrow_are_kept() -> None:
    reading = parse(
        "iteration 1/ 2 | lm loss: 1.0 | mtp_9 loss: 2.5 | shards: a/b | lm loss: 7 |\n"
    )
    other = reading.frames["megatron_iteration"]["other"][0].to_list()
    assert [tuple(cell.values()) for cell in other] == [
        ("mtp_9 loss", "2.5"), ("shards", "a/b"), ("lm loss", "7")]  # fmt: skip


PREFIXES = [
    "", " ", "        ", "[default7]: ", " [default7]: ", "`[default7]: ", "3:  ",
    "3:  [2024-06-02 10:02:12] ", "[node0137:0]: [2024-06-02 10:02:12] ",
    "[2024-06-02 10:02:12.123456] ",
    "[2025-03-02 10:11:12,131415][I][megatron/training_log:402:training_log]  ",
    "[2024-06-02 10:02:12][INFO][training:1609] -  ",
    "[20251023 12:39:12][rank-63/64][INFO ] [--------trainer.py:2382] :  ",
    ">    ", "stdout: ", "worker-1: ", "actor-multi-node-worker-0: ", "10.7.21.246: ",
    " 45%|####5     | 9/20 [00:12<00:15,  1.39s/it] ", "[rank0]: ", "[1,0]<stdout>: ",
    "(TrainWorker pid=1234, ip=10.0.0.1) ", "2024-06-02 10:02:12,123 - INFO - ", "[NeMo I x] ",
    "2024-06-02 10:02:12,123 - megatron.training - INFO - ", "06/02/2024 10:02:12 - INFO - main - ",
    "2024-06-02 10:02:12 | INFO | megatron.training | ",
    "\x1b[36m", "noise\r", " samples/sec: 7.799 | ",
]  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes(prefix: str) -> None:
    reading = parse(f"{prefix}iteration       34/   10000 | lm loss: 1.5 |\n")
    assert reading.refused == ()
    assert reading.frames["megatron_iteration"].select("iteration", "lm_loss").rows() == [(34, 1.5)]


@pytest.mark.parametrize(
    "line",
    [
        "at iteration 10/ 1000 | the loss was: 3 |",
        'print(f"iteration {i}/{n} | loss: {x}")',
        "- `iteration 10/ 1000 | lm loss: 1.0 |` is such a line",
        """find . -type f -name "*out" -exec perl -lne 'm|elapsed time per iteration ... | sort""",
        "for iteration 10/1000 the time was 5 s",
        '"iteration 10/ 1000 | lm loss: 1.0 |"',
        "see iteration 3/4 | and more",
        "the validation loss at iteration 100 | was fine",
        "measured memory (MB) | of all ranks",
    ],
)
def test_what_is_no_record(line: str) -> None:
    assert parse(line + "\n").frames == {}


def shapes(name: str) -> dict[str, pl.DataFrame]:
    reading = read([FIXTURES / name / "shapes.log"]).reading
    assert (reading.refused, reading.remarks) == ((), ())
    return dict(reading.frames)


def test_timers_of_one_line_and_of_a_block() -> None:
    rows = shapes("megatron_timers")["megatron_timers"]
    assert rows.height == 16
    assert rows.filter(pl.col("line") == 4)["timer"].to_list() == [
        "forward", "backward", "backward-backward", "batch generator"]  # fmt: skip
    assert rows.filter(pl.col("line").is_in([5, 6]))["rank"].to_list() == ["0", "0", "3", "3"]
    block = rows.filter(pl.col("line").is_in([8, 11])).select("timer", "minimum", "maximum").rows()
    assert block == [("forward-backward", 26.09439, 26.09509), ("forward-backward", None, 26.09509)]
    each = rows.filter(pl.col("line") > 13).select("timer", "rank", "time").rows()
    assert [(a, b) for a, b, _ in each] == [("forward-compute", "0"), ("forward-compute", "1")]


def test_parameter_counts_and_theoretical_memory() -> None:
    frames = shapes("megatron_parameters")
    rows = frames["megatron_parameters"]
    glued = rows.filter(pl.col("line") == 2)
    assert glued.select("tp_rank", "pp_rank", "count").rows() == [
        (2, 14, 805560320), (3, 14, 805560320)]  # fmt: skip
    assert rows.filter(pl.col("line") == 4)["rounded"].item() == pytest.approx(52.005e9)
    total = frames["megatron_theory"]["total"].to_list()
    assert total == [None, pytest.approx(37461.17 * 2**20)]


def test_lines_of_deepspeed() -> None:
    frames = shapes("deepspeed")
    memory = frames["deepspeed_memory"]
    assert memory["max_reserved"].to_list() == [2 * 2.0**30, None]
    assert memory["host_fraction"].to_list() == [None, pytest.approx(0.208)]
    assert frames["deepspeed_throughput"]["samples_per_s_average"].to_list() == [
        83.48609168106144, 16.25]  # fmt: skip
    assert frames["deepspeed_step"].select("step", "step_time", "samples_per_s").rows() == [
        (1, 150.471, 6.805)]  # fmt: skip
    assert frames["deepspeed_flops"].select("flops_rate", "parameters").rows() == [
        (pytest.approx(41.31e12), pytest.approx(52.005e9))]  # fmt: skip
    assert frames["deepspeed_overflow"]["reduced_to"].to_list() == [128.0, 32768.0]
    assert frames["deepspeed_schedule"]["skipped"].to_list() == [0, 1]


def test_step_lines_of_another_trainer() -> None:
    rows = shapes("step_rate")["step_rate"]
    assert rows.select("step_time", "model_flops_rate").rows() == [
        (5.2, pytest.approx(402.1e12)), (1.42, pytest.approx(713.5e12))]  # fmt: skip


def test_validation_lines() -> None:
    text = (
        " validation loss at iteration 100 | lm loss value: 8.0E+00 | lm loss PPL: 3.0E+03 | \n"
        "[default7]:valid loss at iteration 45000 | lm loss value: 2.3E+00 |\n"
        " validation loss at the end of training for val data | lm loss value: 2.1E+00 |\n"
        " validation results at iteration 7 | lm_loss value: 2.0E+00 | lm_loss_ppl value: 7.4 |\n"
        " validation loss at iteration 9 on test set | lm loss value: 1.9E+00 |\n"
    )
    rows = parse(text).frames["megatron_validation"]
    assert rows["iteration"].to_list() == [100, 45000, None, 7, 9]
    assert rows["lm_loss"].to_list() == [8.0, 2.3, 2.1, 2.0, 1.9]
    assert rows["moment"].to_list() == [
        None, None, "the end of training for val data", None, "on test set"]  # fmt: skip
