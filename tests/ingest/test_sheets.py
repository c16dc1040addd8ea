"""Sheets and exports of trackers: titles above the header, settings in paths, units beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs.read import read

SHEET = """Throughput log{rest}
cluster: H100 SXM 80GB, 8 per node / bf16 / seq_len 8192 everywhere{rest}
{rest}
model{t}nodes{t}TP{t}step time (s){t}tok/s/GPU
Qwen2.5-7B{t}4{t}1{t}15.65{t}8375
Qwen2.5-7B{t}8{t}1{t}7.87{t}8327
the large one from here on{rest}
Qwen2.5-32B{t}8{t}4{t}35.69{t}1836
"""

TRACKED = """"Id","parameters/model","parameters/world_size","monitoring/gpu_name",\
"metrics/train/samples_per_second (last)","State"
"A-1","ViT-B-32","8","NVIDIA A100-SXM4-80GB","17504.27","Inactive"
"A-2","ViT-B-16","8","NVIDIA A100-SXM4-80GB","8025.08","Inactive"
"""

WATCHED = """TYPE;NAME;HYPER PARAMETERS/Args/model_name_or_path;HYPER PARAMETERS/Args/num_gpus;\
:monitor:machine/gpu_type;SCALARS/perf/step_time_sec (last);\
SCALARS/perf/tokens_per_sec_per_gpu (last);SCALARS/:monitor:gpu/gpu_0_mem_used_gb (max)
training;a-1;Qwen/Qwen2.5-7B;8;NVIDIA H100 80GB HBM3;0.8437;9710;62.8
training;a-2;Qwen/Qwen2.5-7B;4;NVIDIA L40S;;;
"""

OF_ONE_DEVICE = """"Name","num_gpus","train_samples_per_second","sys.gpu.0.peak_mem_gb",\
"sys.gpu.0.memory_percent"
"quail","4","19.159","33.48","83.1"
"""

SEARCHED = """rank,cfg,micro_bsz,global_bsz,seqlen,interval_sec,token_per_card_per_sec
1,DP8_TP4_PP2_CP1,1,512,4096,42.691,767.56
2,DP4_TP2_PP8_CP1,1,512,4096,{second},751.99
"""

REPORTED = """config.backend.model,config.environment.gpu,config.environment.gpu_count,\
config.scenario.training_arguments.per_device_train_batch_size,report.train.memory.unit,\
report.train.memory.max_allocated,report.train.latency.unit,report.train.latency.mean,\
report.train.latency.total,report.train.throughput.unit,report.train.throughput.value
bert,['NVIDIA A100-SXM4-80GB'],1,16,MB,9214.3,s,0.1934119,8.703536,samples/s,82.725
bert,['NVIDIA A100-SXM4-80GB'],1,32,MB,9999.3,s,0.3934119,17.7035,samples/s,81.339
"""

TUNED = """job_id,dp_degree,sharding_stage,mp_degree,pp_degree,micro_batch_size,num_gpus,\
global_batch_size,acc_steps,interval_samples_per_second,max_mem_usage
10,1,1,2,2,1,16,128,32,6.4127,71310MB
6,1,2,4,1,1,16,128,32,6.3861,73986MB
"""


def rows(path: Path, text: str) -> list[dict[str, Any]]:
    path.write_text(text)
    frame = read([path]).reading.frames.get("markdown_table")
    return [] if frame is None else frame.sort("line", "column").rows(named=True)


@pytest.mark.parametrize(("name", "sign"), [("log.tsv", "\t"), ("log.csv", ";")])
def test_a_sheet_with_titles_above_its_header_and_among_its_rows(
    tmp_path: Path, name: str, sign: str
) -> None:
    found = rows(tmp_path / name, SHEET.format(t=sign, rest=4 * sign))
    assert [row["line"] for row in found] == [5, 6, 8]
    assert [row["step_time"] for row in found] == [15.65, 7.87, 35.69]
    assert {(row["gpu"], row["seq_len"], row["dtype"]) for row in found} == {
        ("H100 SXM 80GB", 8192, "bf16")
    }


def test_memory_of_a_device_as_a_tracker_watches_it(tmp_path: Path) -> None:
    first, failed = rows(tmp_path / "clearml.csv", WATCHED)
    assert (first["model"], first["gpus"]) == ("Qwen/Qwen2.5-7B", 8)
    assert (first["gpu"], failed["gpu"]) == ("NVIDIA H100 80GB HBM3", "NVIDIA L40S")
    assert (first["step_time"], first["tokens_per_gpu_per_s"]) == (0.8437, 9710)
    assert (first["memory"], failed["memory"]) == (pytest.approx(62.8e9), None)
    (row,) = rows(tmp_path / "comet.csv", OF_ONE_DEVICE)
    assert (row["memory"], row["samples_per_s"]) == (pytest.approx(33.48e9), 19.159)
    assert {"name": "sys.gpu.0.memory_percent", "text": "83.1"} in row["other"]


@pytest.mark.parametrize(("second", "proved"), [("43.575", True), ("435.75", False)])
def test_an_interval_that_is_a_step_by_the_layout(
    tmp_path: Path, second: str, *, proved: bool
) -> None:
    found = rows(tmp_path / "search.csv", SEARCHED.format(second=second))
    assert [row["tokens_per_gpu_per_s"] for row in found] == [767.56, 751.99]
    assert found[0]["step_time"] == (42.691 if proved else None)


def test_labels_in_panels_of_a_tracker(tmp_path: Path) -> None:
    found = rows(tmp_path / "runs.csv", TRACKED)
    assert [row["samples_per_s"] for row in found] == [17504.27, 8025.08]
    assert [(row["model"], row["gpus"]) for row in found] == [("ViT-B-32", 8), ("ViT-B-16", 8)]
    assert {row["gpu"] for row in found} == {"NVIDIA A100-SXM4-80GB"}


def test_a_report_with_its_units_in_columns(tmp_path: Path) -> None:
    found = rows(tmp_path / "report.csv", REPORTED)
    assert [row["step_time"] for row in found] == [0.1934119, 0.3934119]
    assert [row["memory"] for row in found] == [pytest.approx(9214.3e6), pytest.approx(9999.3e6)]
    assert [row["micro_batch"] for row in found] == [16, 32]
    assert {row["gpu"] for row in found} == {"NVIDIA A100-SXM4-80GB"}


def test_units_that_differ_from_row_to_row_are_nobodys_label(tmp_path: Path) -> None:
    found = rows(tmp_path / "report.csv", REPORTED.replace("MB,9999.3", "GB,9.9993"))
    assert [row["memory"] for row in found] == [None, None]


def test_the_history_of_an_auto_tuner(tmp_path: Path) -> None:
    found = rows(tmp_path / "history.csv", TUNED)
    assert [(row["tp"], row["zero_stage"], row["samples_per_s"]) for row in found] == [
        (2, 1, 6.4127), (4, 2, 6.3861),
    ]  # fmt: skip


BELOW = """setup|GPUs|precision|iter time|throughput|throughput|memory
|||ms|tokens/s|tok/s/gpu|GiB
TP4|64|bf16|9875|106240|1660|61.25
TP8|64|fp8|7125|147274|2301|58.5
"""


@pytest.mark.parametrize(("suffix", "sign"), [("tsv", "\t"), ("csv", ",")])
def test_units_alone_below_the_labels_are_theirs(tmp_path: Path, suffix: str, sign: str) -> None:
    found = rows(tmp_path / f"runs.{suffix}", BELOW.replace("|", sign))
    assert [row["step_time"] for row in found] == [9.875, 7.125]
    assert [row["tokens_per_s"] for row in found] == [106240.0, 147274.0]
    assert [row["tokens_per_gpu_per_s"] for row in found] == [1660.0, 2301.0]
    assert [row["memory"] for row in found] == [61.25 * 2**30, 58.5 * 2**30]


def test_empty_cells_in_front_of_a_row_between_tabs_are_cells(tmp_path: Path) -> None:
    text = "model\tgpus\ttokens/s\tnote\nLlama-2-7B\t8\t26000\tfirst\n\t16\t51000\tsecond\n"
    text += "  \t\t51000\tthird\n"  # blanks beside them: too few cells, and so no row
    found = rows(tmp_path / "runs.tsv", text)
    assert [(row["gpus"], row["tokens_per_s"]) for row in found] == [(8, 26000.0), (16, 51000.0)]


COMMENTED = """# Training throughput
# hardware: 4 nodes x 8 NVIDIA H100 80GB HBM3, bf16
# seq_len=8192
# throughput is {whose}
tp,micro_batch,global_batch,tokens_per_sec,step_time_s
1,1,128,76810,13.64
2,2,128,71240,14.71
"""


@pytest.mark.parametrize(("whose", "rate"), [("of all GPUs", 76810.0), ("per node", None)])
def test_comments_above_values_are_no_headings(
    tmp_path: Path, whose: str, rate: float | None
) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(COMMENTED.format(whose=whose))
    reading = read([path]).reading
    row = reading.frames["markdown_table"].sort("line").row(0, named=True)
    assert (row["tokens_per_s"], row["step_time"]) == (rate, 13.64)
    told = {(each["field"], each["value"]) for each in reading.statements.rows(named=True)}
    assert {("gpus_per_node", 8.0), ("nodes", 4.0), ("seq_len", 8192.0)} <= told


LISTED = """"Name","State","Created","gpu_count","gpu_type","_step","perf/mfu","train/loss"
"sun-12","finished","2025-02-11T10:20:30.000Z","8","NVIDIA A100-SXM4-80GB","900","0.4512","2.11"
"oak-13","crashed","2025-02-11T11:30:30.000Z","8","NVIDIA A100-SXM4-80GB","0","",""
"sea-14","finished","2025-02-11T12:20:30.000Z","8","NVIDIA A100-SXM4-80GB","900","0.4011","2.12"
"""

OF_RUNS = """run,model,num_gpus,steps,step_time_s,tokens_per_sec
a,llama-7b,8,200,2.61,25100
b,llama-7b,16,{steps},2.70,48500
"""


def test_a_count_of_steps_that_does_not_rise_is_of_runs(tmp_path: Path) -> None:
    found = rows(tmp_path / "runs.csv", LISTED)
    assert [(row["mfu"], row["outcome"]) for row in found] == [
        (0.4512, None), (None, "crashed"), (0.4011, None)
    ]  # fmt: skip
    found = rows(tmp_path / "runs.csv", OF_RUNS.format(steps=200))
    assert [(row["model"], row["gpus"]) for row in found] == [("llama-7b", 8), ("llama-7b", 16)]
    assert rows(tmp_path / "runs.csv", OF_RUNS.format(steps=300)) == []  # a history of one run
