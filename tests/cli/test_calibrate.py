"""`assay calibrate` and `assay report --stack`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from assay.model.stacks.stack import load

from tests.cli.conftest import Run
from tests.conftest import FIXTURES

TABLES = (FIXTURES / "attention_table", FIXTURES / "collective_table")


def test_measurements_become_a_stack_that_a_report_uses(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    done = assay("calibrate", *TABLES, "-o", path)
    assert done.code == 0, done.err
    assert "attention: attention_tiled for H100 bf16, 60 rows" in done.out
    said = " ".join(done.out.split())
    assert "network 0.7 [0.1, 1] not identifiable from these rows" in said
    stack = load(path.read_text())
    assert stack.machine == "H100"
    assert stack.part("collective").origin == "h100_fp16.csv"
    seen = assay("report", TABLES[0], "--stack", path, "--json")
    assert not [row for row in json.loads(seen.out)["accuracy"] if row["model"] == "stack"]
    told = " ".join(assay("report", TABLES[0], "--stack", path, "--full").out.split())
    assert "are fitted: the stack has seen them" in told
    table = pl.read_csv(TABLES[0] / "h100_bf16.csv")
    measured_again = table.with_columns(pl.col(table.columns[-1]) * 1.02)
    measured_again.write_csv(tmp_path / "again.csv")
    found = assay("report", tmp_path / "again.csv", "--stack", path, "--json")
    (score,) = [row for row in json.loads(found.out)["accuracy"] if row["model"] == "stack"]
    assert score["scope"] == "attention"
    assert score["mape"] < 0.1


def test_an_existing_stack_stays(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    assert assay("calibrate", TABLES[0], "-o", path).code == 2
    assert path.read_text() == "mine"


def test_several_machines_ask_for_a_choice(assay: Run, tmp_path: Path) -> None:
    text = (FIXTURES / "attention_table" / "h100_bf16.csv").read_text()
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "b.csv").write_text(text.replace("H100", "H200"))
    done = assay("calibrate", tmp_path, "-o", tmp_path / "stack.toml")
    assert done.code == 2
    assert "the inputs measure H100, H200: choose one with --machine" in done.err


def test_nothing_to_calibrate(assay: Run, tmp_path: Path) -> None:
    done = assay("calibrate", FIXTURES / "megatron_memory", "-o", tmp_path / "stack.toml")
    assert done.code == 4
    assert "no measured kernel of a known machine was read" in done.err
    assert not (tmp_path / "stack.toml").exists()


def test_a_bad_stack_is_a_usage_error(assay: Run, tmp_path: Path) -> None:
    (tmp_path / "stack.toml").write_text("[gemm]\n")
    done = assay("report", TABLES[0], "--stack", tmp_path / "stack.toml")
    assert done.code == 2
    assert "a stack names its machine" in done.err
