"""The pytest plugin, run as its users run it; and our own fixtures through it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.own.installed import known
from assay.validate.golden.folder import update
from assay.validate.golden.forecast import settings

from tests.conftest import FIXTURES, ROOT

TABLE = "gpu,dtype,m,n,k,time_us\nH100,bf16,4096,4096,4096,250.5\n"


def run_pytest(where: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *map(str, arguments)]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("good", "bad", "lost"):
        (logs / f"{name}.csv").write_text(TABLE)
    list(update(logs, settings()))
    (logs / "bad.csv").write_text(TABLE.replace("250.5", "250.6"))
    (logs / "lost.csv").unlink()
    return tmp_path


def test_one_test_per_file_with_the_diff_as_its_message(folder: Path) -> None:
    done = run_pytest(folder, "--assay-golden", "logs", "-v", "--junitxml=out.xml")
    assert done.returncode == 1
    assert "logs::good.csv PASSED" in done.stdout
    assert "logs::bad.csv FAILED" in done.stdout
    assert "logs::lost.golden FAILED" in done.stdout
    assert "reading: gemm_table.time was 0.0002505 s, is 0.0002506 s\n" in done.stdout
    assert "\n-time: 0.0002505 s\n+time: 0.0002506 s\n" in done.stdout
    assert "no input: the golden has no input beside it" in done.stdout
    assert "Traceback" not in done.stdout
    assert "2 failed, 1 passed" in done.stdout
    assert 'name="good.csv"' in (folder / "out.xml").read_text()


def test_items_can_be_chosen_and_refused_lines_need_leave(folder: Path) -> None:
    (folder / "logs" / "good.csv").write_text(TABLE + "H100,bf16,64,64,many,3.1\n")
    list(update(folder / "logs", settings(), replacing=True))
    arguments = ("--assay-golden", "logs", "-k", "good")
    refused = run_pytest(folder, *arguments)
    assert refused.returncode == 1
    assert "1 refused lines, 0 allowed (--assay-max-bad)" in refused.stdout
    assert run_pytest(folder, *arguments, "--assay-max-bad", "1").returncode == 0


def test_a_folder_without_inputs_is_a_wrong_usage(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, "--assay-golden", ".").returncode == 4


def test_pytest_starts_as_quickly_as_without_it(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "def pytest_sessionfinish(session):\n"
        "    heavy = {'polars', 'pandera', 'lark', 'numpy', 'typer'} & set(sys.modules)\n"
        "    assert session.config.pluginmanager.has_plugin('assay')\n"
        "    assert not heavy, heavy\n"
    )
    done = run_pytest(tmp_path, "test_nothing.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_our_own_fixtures_stand() -> None:
    arguments: list[str | Path] = []
    for fmt in FORMATS:
        arguments += ["--assay-golden", FIXTURES / fmt.name]
    done = run_pytest(FIXTURES, *arguments)
    assert done.returncode == 0, done.stdout


def test_every_fixture_has_its_golden() -> None:
    from assay.validate.golden.folder import cases

    for fmt in FORMATS:
        for case in cases(FIXTURES / fmt.name):
            assert case.input is not None
            assert case.golden.is_file(), case.name


def test_formats_of_ones_own_are_read(tmp_path: Path) -> None:
    own = ROOT / "examples" / "own_format" / "swift_format" / "swift_step.toml"
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").write_text("step=1 loss=2.5\n")
    list(update(logs, settings(formats=known((str(own),)))))
    assert run_pytest(tmp_path, "--assay-golden", "logs", "--assay-format", own).returncode == 0
    without = run_pytest(tmp_path, "--assay-golden", "logs", "--assay-format", tmp_path / "no.toml")
    assert without.returncode == 1
    assert "no.toml: cannot be read as a format" in without.stdout
