"""`assay export`: what is written where, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Run


def test_a_folder_holds_a_file_per_frame(assay: Run, log: Path, tmp_path: Path) -> None:
    done = assay("export", log, "-o", tmp_path / "out", "--to", "csv")
    assert done.code == 0, done.err
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [
        "cases.csv", "megatron_iteration.csv", "provenance.csv", "quarantine.csv", "sources.csv",
        "statements.csv",
    ]  # fmt: skip
    assert done.out.splitlines()[0].endswith("megatron_iteration.csv")
    again = assay("export", log, "-o", tmp_path / "out", "--to", "csv")
    assert again.code == 2
    assert "--force" in again.err
    assert assay("export", log, "-o", tmp_path / "out", "--to", "csv", "--force").code == 0


def test_a_file_is_written_as_its_name_says(assay: Run, log: Path, tmp_path: Path) -> None:
    assert assay("export", log, "-o", tmp_path / "run.ndjson").code == 0
    rows = [json.loads(line) for line in (tmp_path / "run.ndjson").read_text().splitlines()]
    assert [row["iteration"] for row in rows] == [10, 20, 30]


def test_stdout_is_data(assay: Run, log: Path) -> None:
    done = assay("export", log, "-o", "-", "--to", "csv", "--frame", "sources")
    assert done.out.splitlines()[0].startswith("source,sha256,lines")
    assert done.out.splitlines()[1].endswith("3,3,0,0,0,0")


def test_an_ingested_folder_gives_the_same(assay: Run, log: Path, tmp_path: Path) -> None:
    assert assay("ingest", log, "-o", tmp_path / "frames").code == 0
    texts = [assay("export", path, "-o", "-", "--to", "ndjson").out
             for path in (log, tmp_path / "frames")]  # fmt: skip
    assert texts[0] == texts[1]


def test_several_frames_do_not_fit_into_one_file(
    assay: Run, log: Path, table: Path, tmp_path: Path
) -> None:
    done = assay("export", log, table, "-o", tmp_path / "run.csv")
    assert done.code == 2
    assert "markdown_table" in done.err
    assert "megatron_iteration" in done.err
    assert not (tmp_path / "run.csv").exists()


def test_what_cannot_be_written_is_said(assay: Run, log: Path, tmp_path: Path) -> None:
    for arguments, why in (
        (["-o", tmp_path / "out"], "--to csv, ndjson or duckdb"),
        (["-o", tmp_path / "a.csv", "--to", "ndjson"], "names a csv file"),
        (["-o", "-", "--to", "duckdb"], "one file"),
        (["-o", tmp_path / "a.csv", "--frame", "nope"], "is no frame"),
        (["-o", tmp_path / "a.csv", "--frame", "gemm_table"], "holds no row here"),
        (["-o", tmp_path / "no" / "a.csv"], "cannot be written"),
    ):
        done = assay("export", log, *arguments)
        assert (done.code, why in done.err) == (2, True), done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.log"]


def test_nothing_recognised_writes_nothing(assay: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    assert assay("export", tmp_path / "a.txt", "-o", tmp_path / "a.csv").code == 4
    assert not (tmp_path / "a.csv").exists()


def test_without_the_extra_one_line_names_it(log: Path, tmp_path: Path) -> None:
    """A real interpreter in which the library cannot be imported."""
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from assay.validate.cli import app\n"
        f"app(['export', {str(log)!r}, '-o', {str(tmp_path / 'a.duckdb')!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "assay: writing DuckDB needs the extra: pip install 'assay[duckdb]'\n"
    assert not (tmp_path / "a.duckdb").exists()
