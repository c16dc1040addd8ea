"""Tables as other documents print them: headers, units, cells, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Code
from assay.ingest.source.opening import Source, source


def read(text: str) -> Reading:
    whole = source("a.md", text.encode())
    assert isinstance(whole, Source)
    return read_source(whole, FORMATS)


def one(header: str, cell: str) -> dict[str, Any]:
    """The one row of a table with one column of interest."""
    reading = read(f"| {header} | Sec/it |\n|---|---|\n| {cell} | 1.0 |\n")
    assert reading.refused == ()
    return reading.frames["markdown_table"].row(0, named=True)


@pytest.mark.parametrize(
    ("header", "cell", "field", "value"),
    [
        ("Memory (GiB)", "2", "memory", 2.0 * 2**30),
        ("Memory", "45.5GiB(47.8%)", "memory", 45.5 * 2**30),
        ("Mem", "67GB", "memory", 67e9),
        ("Tokens / sec / GPU", "12,325", "tokens_per_gpu_per_s", 12325.0),
        ("Model TFLOP / sec / GPU", "714", "model_flops_rate", 714e12),
        ("**TFLOPs**", "**98.5**", "model_flops_rate", 98.5e12),
        ("Throughput (samples/s)", "5.7", "samples_per_s", 5.7),
        ("Throughput (T/s/GPU)", "5.7", "tokens_per_gpu_per_s", 5.7),
        ("Throughput", "13812 tokens/s", "tokens_per_s", 13812.0),
        ("MFU (%)", "40.5", "mfu", 0.405),
        ("MFU", "~13%", "mfu", 0.13),
        ("MFU", "0.4088", "mfu", 0.4088),
        ("MFU\\*", "0.4096", "mfu", 0.4096),
        ("MFU*", "0.4096", "mfu", 0.4096),
        ("Seq Len", "8k", "seq_len", 8192),
        ("\\#GPUs", "1,024", "gpus", 1024),
        ("#-GPUs", "64", "gpus", 64),
        ("Size", "7.5B", "model_size", 7.5e9),
        ("ZeRO", "ZeRO-3", "zero_stage", 3),
        ("MBS", "8[^note]", "micro_batch", 8),
        ("GPU", "8xA100_80GB", "gpus", 8),
        ("ActCkpt", "TRUE", "activation_checkpointing", True),
        ("Activation Checkpointing", "selective", "recompute", "selective"),
        ("Seq<br>Length", "`2048`", "seq_len", 2048),
        ("FSDP", "64", "sharding", "FULL_SHARD"),
        ("FSDP", "0", "sharding", None),
        ("Parallelism", "FSDP 32, TP 8", "dp", 32),
        ("Parallelism", "FSDP 32, TP 8", "sharding", "FULL_SHARD"),
        ("Techniques", "FSDP + torch.compile + Float8", "dtype", "Float8"),
        ("Techniques", "torch.compile + Float8 + Async TP", "dtype", "Float8"),
        ("Model", "Llama3-70B-FSDP", "sharding", "FULL_SHARD"),
        ("Model", "Llama3-70B-FSDP", "model", "Llama3-70B-FSDP"),
        ("Model", "Llama3-70B (FSDP)", "model", "Llama3-70B"),
        ("VP", "n/a", "vp", None),
        ("VP", "&nbsp;", "vp", None),
    ],
)
def test_headers_and_cells(header: str, cell: str, field: str, value: object) -> None:
    got = one(header, cell)[field]
    assert got == (pytest.approx(value, rel=1e-14) if isinstance(value, float) else value)


def test_a_column_of_utilisations_above_one_is_in_percent() -> None:
    reading = read("| MFU | HFU |\n|-|-|\n| 0.9 | 0.5 |\n| 43.1 | 0.6 |\n")
    table = reading.frames["markdown_table"]
    assert table["mfu"].to_list() == pytest.approx([0.009, 0.431])
    assert table["hfu"].to_list() == [0.5, 0.6]


def test_one_utilisation_above_one_among_fractions_is_its_own_fault() -> None:
    text = "| MFU | HFU |\n|-|-|\n| 0.41 | 0.4 |\n| 0.38 | 0.5 |\n| 4.2 | 41 |\n| 0.40 | 39 |\n"
    table = read(text).frames["markdown_table"]
    assert table["mfu"].to_list() == [0.41, 0.38, 4.2, 0.40]
    assert table["hfu"].to_list() == pytest.approx([0.004, 0.005, 0.41, 0.39])


def test_whole_numbers_of_a_measured_column_may_be_rounded_or_cut() -> None:
    reading = read("| tokens/s | Sec/it |\n|-|-|\n| 410 | 1 |\n| 33414 | 2.5 |\n")
    said = reading.provenance.select("line", "field", "kind", "low", "high").rows()
    assert said == [
        (3, "tokens_per_s", "nominal", 409.5, 411.0),
        (4, "tokens_per_s", "nominal", 33413.5, 33415.0),
    ]


def test_a_time_printed_as_throughput_is_told_by_its_unit() -> None:
    row = read("| DP | Throughput |\n|---|---|\n| 4 | 661ms |\n").frames["markdown_table"]
    assert row["step_time"].to_list() == [0.661]


def test_a_repeated_label_keeps_both_columns() -> None:
    text = "| GPUType | Sec/it | GPUType |\n|-|-|-|\n| 8xA100_80GB | 1.0 | a100_80gb |\n"
    row = read(text).frames["markdown_table"].row(0, named=True)
    assert row["gpu"] == "A100_80GB"
    assert row["other"] == [{"name": "GPUType (2)", "text": "a100_80gb"}]


def test_a_column_nobody_declares_is_kept() -> None:
    assert one("Techniques", "1D FSDP")["other"] == [{"name": "Techniques", "text": "1D FSDP"}]


def test_a_bare_number_under_memory_has_no_unit_and_no_value() -> None:
    reading = read("| Mem | Sec/it |\n|---|---|\n| 80 | 1.0 |\n")
    assert reading.frames["markdown_table"]["memory"].to_list() == [None]
    assert reading.provenance.row(0, named=True)["state"] == "unknown"


@pytest.mark.parametrize(
    ("row", "code", "message"),
    [
        ("| 8 | 1.0 | 2 |", Code.CELL_COUNT, "3 cells, the header has 2"),
        ("| 8 |", Code.CELL_COUNT, "1 cells, the header has 2"),
        ("| 8 | quick |", Code.UNDECODABLE, "step_time was 'quick', expected a number in s"),
        ("| 8.5 | 1.0 |", Code.UNDECODABLE, "tp was '8.5', expected an integer"),
        ("| 0 | 1.0 |", Code.OUT_OF_RANGE, "tp was 0, expected at least 1"),
    ],
)
def test_a_bad_row_is_refused_alone(row: str, code: Code, message: str) -> None:
    reading = read(f"| TP | Sec/it |\n|---|---|\n| 4 | 2.0 |\n{row}\n| 2 | 3.0 |\n")
    assert reading.frames["markdown_table"]["tp"].to_list() == [4, 2]
    assert len(reading.refused) == 1
    fault = reading.refused[0]
    assert (fault.span.line, fault.code) == (4, code)
    assert message in fault.message


def test_a_measurement_that_cannot_be_costs_its_cell() -> None:
    reading = read("| TP | Sec/it |\n|---|---|\n| 4 | 2.0 |\n| 8 | -3.0 |\n| 2 | -1.0 |\n")
    assert reading.frames["markdown_table"]["step_time"].to_list() == [2.0, None, None]
    assert reading.refused == ()
    assert [(each.span.line, each.code) for each in reading.remarks] == [
        (4, Code.OUT_OF_RANGE), (5, Code.UNSET),
    ]  # fmt: skip


def test_a_row_without_outer_bars_may_end_with_an_empty_cell() -> None:
    reading = read("TP | Sec/it | Mem\n---|---|---\n4 | OOM |\n4 | 2.0 | 1GB\n")
    assert reading.refused == ()
    table = reading.frames["markdown_table"]
    assert table.select("outcome", "memory").rows() == [("OOM", None), (None, 1e9)]


def test_a_row_cut_at_the_end_of_the_input_is_refused() -> None:
    reading = read("| TP | Sec/it |\n|---|---|\n| 4 | 2.0 |\n| 8 | 2")
    assert [fault.code for fault in reading.refused] == [Code.TRUNCATED]


@pytest.mark.parametrize(
    "text",
    [
        "| repo | commit |\n|---|---|\n| torch | 2.8 |\n",  # no measured quantity
        "| Sec/it | TFLOPs |\n| 1 | 2 |\n",  # no alignment row
        "Sec/it is | the thing\n",
        "| TP | Sec/it |\n|---|---|---|\n| 1 | 2 |\n",  # header and alignment differ
    ],
)
def test_what_is_no_table_of_ours_is_left_alone(text: str) -> None:
    reading = read(text)
    assert reading.frames == {}
    assert reading.refused == ()
    assert reading.accounting[0].claimed == 0


STATEMENTS = [
    ("NHIDDEN=4096 / NLAYERS=36", {"hidden": 4096, "layers": 36}),
    ("HIDDEN=4096; NLAYERS=36", {"hidden": 4096, "layers": 36}),
    ("### Nodes=4 DP=1 TP=4 PP=4", {"nodes": 4, "dp": 1, "tp": 4, "pp": 4}),
    ("- **Sequence length**: 8192", {"seq_len": 8192}),
    ("* Global batch size: 1,024", {"global_batch": 1024}),
    ("**TP=2, PP=4**", {"tp": 2, "pp": 4}),
    ("export NHEADS=32", {"heads": 32}),
    ("NHIDDEN=64/NLAYERS=2", {"hidden": 64, "layers": 2}),
    ("## 8x A100 80GB", {"gpu": "A100 80GB", "gpus": 8}),
    ("## Pre-training on DGX-H100 (BF16)", {"gpu": "H100", "dtype": "BF16"}),
    ("# A100 experiments", {"gpu": "A100"}),
    ("- 20 nodes, 2 replicas", {"nodes": 20, "dp": 2}),
    ("7B model: TP=1, PP=1, VOCAB=250k", {"tp": 1, "vocab": 250_000, "model_size": 7e9}),
]


@pytest.mark.parametrize(("line", "bound"), STATEMENTS)
def test_statements_are_bound_and_claimed(line: str, bound: dict[str, object]) -> None:
    reading = read(f"{line}\n\n| EP | Sec/it |\n|---|---|\n| 1 | 2.0 |\n")
    row = reading.frames["markdown_table"].row(0, named=True)
    assert {name: row[name] for name in bound} == bound
    assert set(reading.provenance["value_origin"]) == {"stated"}
    assert set(reading.provenance["from_line"]) == {1}
    assert reading.accounting[0].claimed == 4


@pytest.mark.parametrize(
    "line",
    [
        "So it is TP=8 or PP=12 that wins.",
        "NHEADS=108 breaks constraints",
        "nhidden % 128 = 0",
        "nhidden = 108*8*c = 864*c",
        "here `NHIDDEN = 2**9*3**3`",
        "* DP=4, PP=12, MBS=4: 123 secs/it | 130 TFLOPS",
        "## fp16 against bf16",
        "* ZS = ZERO_STAGE",
    ],
)
def test_prose_binds_nothing(line: str) -> None:
    reading = read(f"{line}\n\n| EP | Sec/it |\n|---|---|\n| 1 | 2.0 |\n")
    assert reading.provenance.is_empty()
    assert reading.accounting[0].not_ours == 1


def test_a_statement_replaces_its_own_keys_only_and_ends_with_its_section() -> None:
    table = "| EP | Sec/it |\n|---|---|\n| 1 | 2.0 |\n"
    text = f"# a\n\nTP=2, PP=4\n\nTP=8\n\n{table}\n# b\n\n{table}\n"
    rows = read(text).frames["markdown_table"].select("tp", "pp").rows()
    assert rows == [(8, 4), (None, None)]


def test_a_table_with_metrics_in_its_first_column_is_turned() -> None:
    reading = read(
        "training\n\n| Axis | ours | theirs | Δ |\n|---|---|---|---|\n"
        "| Per-iteration time (avg over 4768 iters) | **1434.6 ms** | 1431.6 ms | −0.2 % |\n"
        "| TFLOP/s/GPU | — | 642 | — |\n| Loss | 3.35 | 3.36 | +0.2 % |\n"
    )
    rows = reading.frames["markdown_table"].sort("column")
    assert rows["step_time"].to_list() == pytest.approx([1.4346, 1.4316])
    assert rows["model_flops_rate"].to_list() == [None, 642e12]
    assert rows["line"].to_list() == [5, 5]
    assert rows["column"].to_list() == [46, 62]
    (note,) = reading.accounting[0].tables
    assert (note.read, note.syntax) == (2, "markdown")


def test_columns_of_two_sizes_are_two_observations_of_a_row() -> None:
    reading = read(
        "| GPUs | 7B MFU | 13B MFU | 7B tokens/s/GPU | 13B tokens/s/GPU |\n|-|-|-|-|-|\n"
        "| 8 | 41% | 43.5% | 3,100 | 1,700 |\n| 16 | OOM | 42% | OOM | 1,650 |\n"
    )
    rows = reading.frames["markdown_table"].sort("line", "column").rows(named=True)
    said = [(r["gpus"], r["model_size"], r["mfu"], r["tokens_per_gpu_per_s"]) for r in rows]
    assert said == [
        (8, 7e9, pytest.approx(0.41), 3100.0),
        (8, 13e9, pytest.approx(0.435), 1700.0),
        (16, 7e9, None, None),
        (16, 13e9, pytest.approx(0.42), 1650.0),
    ]
    assert rows[2]["outcome"] == "OOM"


def test_what_was_not_understood_is_said() -> None:
    reading = read("| thing | weight (kg) |\n|-|-|\n| a | 7 |\n\n| TP | Sec/it | zeal |\n|-|-|-|\n"
                   "| 4 | 2.0 | 9 |\n")  # fmt: skip
    first, second = reading.accounting[0].tables
    assert (first.line, first.rows, first.read) == (1, 1, 0)
    assert first.not_understood == ("weight (kg)",)
    assert (second.understood, second.not_understood) == (("TP", "Sec/it"), ("zeal",))


def test_a_rate_that_one_of_many_devices_could_reach_alone_is_of_nobody() -> None:
    text = "Training on 8xH100 GPUs\n\n| Model | Peak Memory (GB) | tokens/second |\n|-|-|-|\n"
    row = "| Llama3-8b | 47.65 | {} |\n"
    pretrain = "# Pretraining\n"
    doubtful = read(pretrain + text + row.format(6150)).frames["markdown_table"]
    assert doubtful["tokens_per_s"].to_list() == [None]
    of_all = read(pretrain + text + row.format(49200)).frames["markdown_table"]
    assert of_all["tokens_per_s"].to_list() == [49200.0]


def test_what_a_run_prints_of_itself_says_nothing_of_a_table_below() -> None:
    log = "using world size: 64, data-parallel-size: 4, tensor-model-parallel size: 4, " \
          "pipeline-model-parallel size: 4\n"  # fmt: skip
    table = "\n| Model | GBS | Sec/it |\n|-|-|-|\n| a | 8 | 2.0 |\n"
    row = read(log + table).frames["markdown_table"].row(0, named=True)
    assert (row["tp"], row["pp"], row["dp"]) == (None, None, None)


def test_configurations_come_from_a_table_that_names_the_runs() -> None:
    reading = read(
        "| case | num_nodes | tensor_model_parallel_size |\n|-|-|-|\n| run-a | 2 | 4 |\n"
        "| run-b | 4 | 8 |\n\n| case | Sec/it |\n|-|-|\n| run-b | 1.5 |\n| run-a | 2.5 |\n"
    )
    rows = reading.frames["markdown_table"].select("step_time", "nodes", "tp").rows()
    assert rows == [(1.5, 4, 8), (2.5, 2, 4)]


@pytest.mark.parametrize(("columns", "rows", "told"), [(300, 170, 0), (20, 3, 60)])
def test_a_table_of_more_sides_than_any_is_said_not_to_be_read(
    columns: int, rows: int, told: int
) -> None:
    labels = "".join(f" MBS={at + 1} |" for at in range(columns))
    body = "".join(f"| {at + 1} |{' 10.5 |' * columns}\n" for at in range(rows))
    title = "# Throughput (tokens/s) on H100"
    reading = read(f"{title}\n\n| TP |{labels}\n|{' - |' * (columns + 1)}\n{body}")
    read_rows = reading.frames.get("markdown_table")
    assert (0 if read_rows is None else read_rows.height) == told
    capped = [each for each in reading.remarks if each.code == Code.CAPPED]
    assert len(capped) == (not told)
    assert all("not read: more than 50,000 observations" in each.message for each in capped)


PAGE = "<table><tr><th>GPUs</th><th>Sec/it</th></tr>{}<tr><td>8</td><td>10.5</td></tr></table>"


def test_a_title_between_rows_of_one_line_does_not_make_the_line_blank() -> None:
    reading = read(PAGE.format("<tr><td colspan=2>Runs of May</td></tr>") + "\n")
    (account,) = reading.accounting
    assert (account.claimed, account.blank) == (1, 0)
    assert reading.frames["markdown_table"]["step_time"].to_list() == [10.5]


def test_a_document_may_end_with_a_table_inside_another() -> None:
    reading = read(PAGE.format(f"<tr><td>{PAGE.format('')}</td></tr>"))
    assert reading.accounting[0].claimed == 1
    assert 10.5 in reading.frames["markdown_table"]["step_time"]


SHEET = """LLM training perf,,,,,,,,
,,H20 x8,,,L40S x8,,,
Model,GBS,Layout,Step time [ms],TFLOPS/card,Layout,Step time [ms],TFLOPS/card,Remark
Qwen2-7B,128,TP2PP1DP4,26937,117.6,TP4PP2DP1,44058,71.9,recompute on L40S
Llama2-13B,64,TP4PP1DP2,22391,121.0,TP4PP2DP1,40558,66.8,
"""


def test_machines_above_the_header_of_a_sheet() -> None:
    whole = source("sheet.csv", SHEET.encode())
    assert isinstance(whole, Source)
    found = read_source(whole, FORMATS).frames["markdown_table"].sort("line", "column")
    assert found["tp"].to_list() == [2, 4, 4, 4]  # each machine has a layout of its own
    assert found["step_time"].to_list() == pytest.approx([26.937, 44.058, 22.391, 40.558])
    assert found["gpu"].to_list() == ["H20", "L40S"] * 2  # whatever a remark names
