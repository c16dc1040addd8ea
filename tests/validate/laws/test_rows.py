"""Rows that miss a relation: how grave it is, and what one odd cell does to its column."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.validate.laws.finding import Finding
from assay.validate.laws.laws import findings


def table(columns: str, rows: list[str]) -> str:
    count = columns.count("|") + 1
    body = [f"| {row} |" for row in (columns, " | ".join(["---"] * count), *rows)]
    return "\n".join(body) + "\n"


def found_in(folder: Path, text: str) -> list[Finding]:
    path = folder / "t.md"
    path.write_text(text)
    return [f for f in findings(read([path]).reading) if f.law != "formula"]


def said(found: list[Finding]) -> list[tuple[int, str, str]]:
    return [(f.spans[0].line, f.severity, f.law) for f in found]


SPEEDS = ["64 | 7.96 | 8.0", "128 | 8.17 | 15.7", "512 | 7.91 | 64.7", "1024 | 8.03 | 127.5"]


@pytest.mark.parametrize(
    ("last", "severity"),
    [("31.2", "note"), ("31.8", "error"), ("32", "error"), ("3.1", "error"), ("62.1", "error")],
)
def test_three_units_of_the_columns_last_place_are_rounding(
    tmp_path: Path, last: str, severity: str
) -> None:
    rows = [*SPEEDS, f"256 | 8.24 | {last}"]
    found = found_in(tmp_path, table("GBS | Sec/it | samples/s", rows))
    assert said(found) == [(7, severity, "samples-per-second")]


def test_three_units_of_a_single_digit_are_no_rounding(tmp_path: Path) -> None:
    rows = ["64 | 7.96 | 8", "128 | 8.17 | 16", "256 | 8.03 | 32", "16 | 7.94 | 4"]
    found = found_in(tmp_path, table("GBS | Sec/it | samples/s", rows))
    assert said(found) == [(6, "error", "samples-per-second")]


def test_one_long_number_gives_the_others_no_digits(tmp_path: Path) -> None:
    """Zeros at the end are no digits, whatever stands in one wrong cell of the column."""
    rows = ["64 | 7.96 | 16000", "128 | 8.04 | 33000", "256 | 7.93 | 66000", "512 | 8.11 | 129000",
            "1024 | 7.77 | 20123.456"]  # fmt: skip
    text = table("GBS | Sec/it | tokens/s | SEQ_LEN", [f"{row} | 2048" for row in rows])
    assert said(found_in(tmp_path, text)) == [(7, "error", "tokens-per-second")]


@pytest.mark.parametrize("steps", [2, 7, 9])
def test_accumulation_is_exact(tmp_path: Path, steps: int) -> None:
    rows = ["64 | 1 | 8 | 8 | 9.1", "128 | 1 | 8 | 16 | 18.2", "256 | 2 | 8 | 16 | 35.3",
            f"256 | 4 | 8 | {steps} | 34.4"]  # fmt: skip
    found = found_in(tmp_path, table("GBS | MBS | DP | GA | Sec/it", rows))
    assert said(found) == [(6, "error", "batch-accumulation")]


COUNTED = ["1024 | 24 | 355000000 | 9.1", "2048 | 24 | 1313000000 | 8.2",
           "4096 | 32 | 6700000000 | 7.3", "5120 | 40 | 13000000000 | 6.4"]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "count"),
    [("516 | 40 | 13000000000 | 6.5", "about 0.128 B"), ("4096 | 320 | 670000000 | 7.2", "64.4 B")],
)
def test_parameters_that_no_layers_have(tmp_path: Path, row: str, count: str) -> None:
    found = found_in(tmp_path, table("NHIDDEN | NLAYERS | Params | Sec/it", [*COUNTED, row]))
    assert said(found) == [(7, "warning", "parameters-of-shape")]
    assert count in found[0].explanation


def test_parameters_of_other_layers_are_left_alone(tmp_path: Path) -> None:
    """Grouped queries, gates, experts, large vocabularies and untied ends have theirs."""
    rows = [*COUNTED, "896 | 24 | 494000000 | 5.1", "8192 | 80 | 70553706496 | 4.2",
            "2048 | 18 | 2506172416 | 3.3", "4096 | 32 | 46702792704 | 8.3"]  # fmt: skip
    assert found_in(tmp_path, table("NHIDDEN | NLAYERS | Params | Sec/it", rows)) == []


def of_one_model(rates: list[str]) -> str:
    """Rows of a model of unknown shape whose rate is 0.0631 TFLOPs per token/s."""
    speeds = ["3313.2", "3190.7", "3081.4", "2977.9", "3240.5", "3402.8"]
    rows = [
        f"Wombat-X | 4096 | {16 * 2**at} | {speed} | {rate}"
        for at, (speed, rate) in enumerate(zip(speeds, rates, strict=True))
    ]
    return table("Model | Seq | GPUs | tokens/s/GPU | TFLOPs", rows)


KEPT = ["209.06", "201.33", "194.44", "187.91", "204.48", "214.72"]


def test_one_model_has_one_number_of_flop_per_token(tmp_path: Path) -> None:
    assert found_in(tmp_path, of_one_model(KEPT)) == []
    wrong = [*KEPT[:3], "197.91", *KEPT[4:]]
    (finding,) = found_in(tmp_path, of_one_model(wrong))
    assert said([finding]) == [(6, "error", "flop-per-token")]
    assert finding.implied[0].value == pytest.approx(187.91e12, rel=1e-4)
    assert "model" in finding.explanation


def test_a_rate_per_gpu_needs_no_number_of_gpus(tmp_path: Path) -> None:
    text = of_one_model([*KEPT[:3], "197.91", *KEPT[4:]])
    bare = text.replace("GPUs", "MBS")
    assert said(found_in(tmp_path, bare)) == [(6, "error", "flop-per-token")]


def test_what_may_count_otherwise_is_no_contradiction(tmp_path: Path) -> None:
    """Another sequence length, a remark or a word beside it may be another count."""
    text = of_one_model([*KEPT[:3], "197.91", *KEPT[4:]])
    assert found_in(tmp_path, text.replace("4096 | 128 |", "8192 | 128 |")) == []
    lines = [f"{line} {'off' if '197.91' in line else 'on'} |" for line in text.splitlines()[2:]]
    head = text.splitlines()[0] + " Fused |"
    other = "\n".join([head, "|" + " --- |" * 6, *lines]) + "\n"
    assert found_in(tmp_path, other) == []


def test_three_rows_prove_no_number_of_flop_per_token(tmp_path: Path) -> None:
    lines = of_one_model([*KEPT[:3], "197.91", *KEPT[4:]]).splitlines(keepends=True)
    assert found_in(tmp_path, "".join([*lines[:2], *lines[4:7]])) == []


def test_degrees_divide_the_gpus(tmp_path: Path) -> None:
    rows = ["64 | 8 | 2 | 9.1", "96 | 8 | 3 | 8.7", "128 | 4 | 8 | 8.3", "100 | 8 | 4 | 7.9"]
    found = found_in(tmp_path, table("GPUs | TP | PP | Sec/it", rows))
    assert said(found) == [(6, "error", "parallel-degrees")]
    assert "no multiple" in found[0].explanation
    assert found_in(tmp_path, table("GPUs | TP | PP | Sec/it", rows[2:])) == []


RATES = ["64 | 620771 | 9700", "128 | 1241542 | 9700", "32 | 164554 | 5142", "16 | 82277 | 5142",
         "256 | 536676 | 2096", "512 | 542108 | 1059"]  # fmt: skip


def of_rates(rows: list[str]) -> str:
    return table("GPUs | Tokens/s | Tokens/s/GPU", rows)


def test_a_rate_per_gpu_needs_no_sequence_length(tmp_path: Path) -> None:
    assert found_in(tmp_path, of_rates(RATES)) == []
    found = found_in(tmp_path, of_rates([*RATES[:2], "32 | 164554 | 2571", *RATES[3:]]))
    assert said(found) == [(5, "error", "rate-per-gpu")]


def test_columns_that_are_exchanged_throughout(tmp_path: Path) -> None:
    rows = [" | ".join([row.split(" | ")[at] for at in (0, 2, 1)]) for row in RATES]
    (finding,) = found_in(tmp_path, of_rates(rows))
    assert said([finding]) == [(3, "warning", "definition")]
    assert "the two columns are exchanged" in finding.explanation


def test_a_rate_per_node_is_a_definition(tmp_path: Path) -> None:
    numbers = [(int(gpus), int(job)) for gpus, job, _ in (row.split(" | ") for row in RATES)]
    rows = [f"{gpus} | {job} | {8 * job / gpus:.0f}" for gpus, job in numbers]
    (finding,) = found_in(tmp_path, of_rates(rows))
    assert said([finding]) == [(3, "note", "definition")]
    assert "per node of 8" in finding.explanation
    rows[3] = RATES[3]
    assert (6, "error", "rate-per-gpu") in said(found_in(tmp_path, of_rates(rows)))


def test_a_device_of_open_memory_has_its_peak(tmp_path: Path) -> None:
    rows = ["A100 | 64 | 151", "A100 | 128 | 162", "A100 | 256 | 401", "H100 | 256 | 401"]
    found = found_in(tmp_path, table("GPU | GPUs | TFLOPs/GPU", rows))
    assert said(found) == [(5, "error", "rate-above-peak")]


def test_hfu_is_not_below_mfu(tmp_path: Path) -> None:
    rows = ["64 | 46.1% | 57.0%", "128 | 47.9% | 47.9%", "256 | 51.9% | 41.3%"]
    found = found_in(tmp_path, table("GPUs | MFU | HFU", rows))
    assert said(found) == [(5, "warning", "hfu-below-mfu")]
    both = table("GPUs | HFU | MFU", [rows[0], rows[0].replace("64", "128")])
    assert found_in(tmp_path, both) == [], "what all rows do is a name"


STEP = (
    " iteration {n}/ 4768 | elapsed time per iteration (ms): {time} | TFLOP/s/GPU: 633.7"
    " | tokens per GPU (tokens/s/GPU): {rate} | lm loss: 3.36E+00 |\n"
)

STATED = (
    " > using world size: 1, data-parallel-size: 1\n"
    "python pretrain_gpt.py --seq-length 8192 --global-batch-size 32 --micro-batch-size 4\n"
)


@pytest.mark.parametrize(
    ("rate", "errors"), [("180743.2", 0), ("179452.0", 0), ("190000.0", 1), ("170000.0", 1)]
)
def test_a_rate_beside_an_instant_and_a_mean_may_be_of_either(
    tmp_path: Path, rate: str, errors: int
) -> None:
    means = (1452.0, 1447.1, 1449.3, 1455.8, 1450.9)
    text = STATED + "".join(
        STEP.format(n=4100 + 100 * at, time=f"1460.8/{mean}", rate=f"{32 * 8192e3 / mean:.1f}")
        for at, mean in enumerate(means)
    )
    text += STEP.format(n=4700, time="1460.8/1450.4", rate=rate)
    assert sum(f.severity == "error" for f in found_in(tmp_path, text)) == errors


def test_a_column_that_varies_is_not_contradicted_by_a_statement_of_one_of_its_values(
    tmp_path: Path,
) -> None:
    rows = ["16 | 1 | 4 | 4 | 1 | 4 | 0.66", "64 | 1 | 16 | 4 | 1 | 4 | 1.44",
            "256 | 4 | 16 | 4 | 1 | 4 | 1.83"]  # fmt: skip
    text = "DP_SIZE=1\n\n" + table("GPUs | DP | PP | GA | MBS | GBS | Sec/it", rows)
    assert said(found_in(tmp_path, text)) == [(7, "error", "batch-accumulation")]


@pytest.mark.parametrize(
    ("last", "wrong"), [("1.81x", []), ("1.8x", []), ("1.31x", ["speedup-of-rows"]), ("+81%", [])]
)
def test_a_speedup_is_a_ratio_of_rows(tmp_path: Path, last: str, wrong: list[str]) -> None:
    rows = ["8 | 33.1 | 1.00x", "8 | 38.4 | 1.16x", "8 | 41.0 | 1.24x", "8 | 52.0 | 1.57x",
            f"8 | 60.0 | {last}"]  # fmt: skip
    found = found_in(tmp_path, table("MBS | Samples/s | Speedup", rows))
    assert [f.law for f in found if f.severity == "error"] == wrong


def test_a_speedup_may_be_of_times_and_begins_anew_with_each_row_of_one(tmp_path: Path) -> None:
    rows = ["8 | 12.0 | 1.0", "8 | 8.0 | 1.5", "8 | 6.0 | 2.0", "4 | 20.0 | 1.0", "4 | 10.0 | 2.0",
            "4 | 8.0 | 2.9"]  # fmt: skip
    found = found_in(tmp_path, table("GPUs | Sec/it | Speed up", rows))
    mine = [f for f in found if f.law == "speedup-of-rows"]
    assert said(mine) == [(8, "error", "speedup-of-rows")]
