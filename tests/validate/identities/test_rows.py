"""Rows that miss a relation: how grave it is, and what one odd cell does to its column."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.read import read
from assay.validate.findings import findings
from assay.validate.identities.finding import Finding


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
