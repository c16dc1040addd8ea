"""`assay ingest` and `assay formats`, as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from ..conftest import FIXTURES


def assay(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [Path(sys.executable).parent / "assay", *map(str, arguments)],
        input=stdin, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def test_frames_are_written_and_listed(tmp_path: Path) -> None:
    done = assay("ingest", FIXTURES / "markdown_table", "-o", tmp_path / "out")
    assert done.returncode == 0
    assert f"{tmp_path / 'out' / 'markdown_table.parquet'}\t197" in done.stdout
    assert pl.read_parquet(tmp_path / "out" / "markdown_table.parquet").height == 197


def test_stdin_is_an_input(tmp_path: Path) -> None:
    data = (FIXTURES / "megatron_iteration" / "bloom_176b.log").read_bytes()
    done = assay("ingest", "-", "-o", tmp_path / "out", stdin=data)
    assert done.returncode == 0
    frame = pl.read_parquet(tmp_path / "out" / "megatron_iteration.parquet")
    assert set(frame["source"]) == {"<stdin>"}


def test_an_earlier_ingest_needs_force(tmp_path: Path) -> None:
    assert assay("ingest", FIXTURES / "gemm_table", "-o", tmp_path).returncode == 0
    again = assay("ingest", FIXTURES / "gemm_table", "-o", tmp_path)
    assert again.returncode == 2
    assert "--force replaces an earlier ingest" in again.stderr
    assert assay("ingest", FIXTURES / "gemm_table", "-o", tmp_path, "--force").returncode == 0


def test_refusals_beyond_the_limit_end_with_three_and_are_written_first(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("| TP | Sec/it |\n|---|---|\n| 8 | 1.0 |\n| 8 | slow |\n")
    done = assay("ingest", tmp_path / "a.md", "-o", tmp_path / "out")
    assert done.returncode == 3
    assert f"{tmp_path / 'a.md'}:4:7: undecodable: step_time was 'slow'" in done.stderr
    assert pl.read_parquet(tmp_path / "out" / "quarantine.parquet").height == 1
    allowed = assay("ingest", tmp_path / "a.md", "-o", tmp_path / "out2", "--max-bad", "1")
    assert allowed.returncode == 0


def test_formats_are_listed_and_described() -> None:
    assert "markdown_table" in assay("formats").stdout
    assert "required, ≥ 1" in assay("formats", "gemm_table").stdout
    unknown = assay("formats", "parquet")
    assert unknown.returncode == 2
    assert "'parquet' is no format" in unknown.stderr


@pytest.mark.parametrize("command", ["ingest", "report", "machines"])
def test_help_says_what_a_command_does(command: str) -> None:
    done = assay(command, "--help")
    assert done.returncode == 0
    assert "--debug" in done.stdout
