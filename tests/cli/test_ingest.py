"""`assay ingest` and `assay formats`, as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import Run
from tests.conftest import FIXTURES


def installed(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """The command as it is installed, in a process of its own."""
    done = subprocess.run(
        [Path(sys.executable).parent / "assay", *map(str, arguments)],
        input=stdin, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def test_frames_are_written_and_listed(tmp_path: Path) -> None:
    done = installed("ingest", FIXTURES / "markdown_table", "-o", tmp_path / "out")
    assert done.returncode == 0
    assert f"{tmp_path / 'out' / 'markdown_table.parquet'}\t261" in done.stdout
    assert pl.read_parquet(tmp_path / "out" / "markdown_table.parquet").height == 261


def test_a_folder_is_reported_as_its_inputs(assay: Run, log: Path, tmp_path: Path) -> None:
    log.write_text("NHIDDEN=2048; NLAYERS=24; SEQ_LEN=1024; A100-80g\n" + log.read_text())
    table = tmp_path / "table.md"
    rows = "| GPUs | TP | Sec/it |\n|--|--|--|\n| 8 | 4 | 12.5 |\n| 16 | 4 | 6.5 |\n"
    table.write_text("# A100 80GB\n\nNHIDDEN=8192; NLAYERS=40\n\n" + rows)
    assay("ingest", log, table, "-o", tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "cases.parquet")["hidden"].to_list() == [2048, 8192]
    for name, paths in {"raw": [log, table], "folder": [tmp_path / "out"]}.items():
        assay("report", *paths, "-o", tmp_path / f"{name}.json")
    assert (tmp_path / "folder.json").read_bytes() == (tmp_path / "raw.json").read_bytes()


def test_stdin_is_an_input(tmp_path: Path) -> None:
    data = (FIXTURES / "megatron_iteration" / "bloom_176b.log").read_bytes()
    done = installed("ingest", "-", "-o", tmp_path / "out", stdin=data)
    assert done.returncode == 0
    frame = pl.read_parquet(tmp_path / "out" / "megatron_iteration.parquet")
    assert set(frame["source"]) == {"<stdin>"}


def test_an_earlier_ingest_needs_force(assay: Run, tmp_path: Path) -> None:
    assert assay("ingest", FIXTURES / "gemm_table", "-o", tmp_path).code == 0
    again = assay("ingest", FIXTURES / "gemm_table", "-o", tmp_path)
    assert again.code == 2
    assert "--force replaces an earlier ingest" in again.err
    assert assay("ingest", FIXTURES / "gemm_table", "-o", tmp_path, "--force").code == 0


def test_refusals_beyond_the_limit_end_with_three_and_are_written_first(
    assay: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("| TP | Sec/it |\n|---|---|\n| 8 | 1.0 |\n| 8 | slow |\n")
    done = assay("ingest", tmp_path / "a.md", "-o", tmp_path / "out")
    assert done.code == 3
    assert f"{tmp_path / 'a.md'}:4:7: undecodable: step_time was 'slow'" in done.err
    assert pl.read_parquet(tmp_path / "out" / "quarantine.parquet").height == 1
    allowed = assay("ingest", tmp_path / "a.md", "-o", tmp_path / "out2", "--max-bad", "1")
    assert allowed.code == 0


def test_formats_are_listed_and_described(assay: Run) -> None:
    assert "markdown_table" in assay("formats").out
    assert "required, ≥ 1" in assay("formats", "gemm_table").out
    unknown = assay("formats", "parquet")
    assert unknown.code == 2
    assert "'parquet' is no format" in unknown.err


@pytest.mark.parametrize("command", ["ingest", "report", "machines"])
def test_help_says_what_a_command_does(assay: Run, command: str) -> None:
    done = assay(command, "--help")
    assert done.code == 0
    assert "--debug" in done.out
