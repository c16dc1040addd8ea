"""The pytest plugin, run as its users run it, but for its start inside this process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from assay.ingest.formats.own.installed import known
from assay.validate.golden.folder import update
from assay.validate.golden.model_entries import settings

from tests.conftest import ROOT

TABLE = "gpu,dtype,m,n,k,time_us\nH100,bf16,4096,4096,4096,250.5\n"


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run_pytest(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """pytest in a folder with some arguments: its exit code and what it prints."""

    def run(where: Path, *arguments: str | Path) -> tuple[int, str]:
        with monkeypatch.context() as here:
            here.chdir(where)
            plain = ("-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(where))
            code = pytest.main([*plain, *map(str, arguments)])
        return int(code), capfd.readouterr().out

    return run


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


def test_one_test_per_file_with_the_diff_as_its_message(folder: Path, run_pytest: Run) -> None:
    code, out = run_pytest(folder, "--assay-golden", "logs", "-v", "--junitxml=out.xml")
    assert code == 1
    assert "logs::good.csv PASSED" in out
    assert "logs::bad.csv FAILED" in out
    assert "logs::lost.golden FAILED" in out
    assert "reading: gemm_table.time was 0.0002505 s, is 0.0002506 s\n" in out
    assert "\n-time: 0.0002505 s\n+time: 0.0002506 s\n" in out
    assert "no input: the golden has no input beside it" in out
    assert "Traceback" not in out
    assert "2 failed, 1 passed" in out
    assert 'name="good.csv"' in (folder / "out.xml").read_text()


@pytest.mark.slow
def test_items_can_be_chosen_and_refused_lines_need_leave(folder: Path, run_pytest: Run) -> None:
    (folder / "logs" / "good.csv").write_text(TABLE + "H100,bf16,64,64,many,3.1\n")
    arguments = ("--assay-golden", "logs", "-k", "good")
    code, out = run_pytest(folder, *arguments)
    assert code == 1
    assert "1 refused lines, 0 allowed (--assay-max-bad)" in out
    assert "refused lines" not in run_pytest(folder, *arguments, "--assay-max-bad", "1")[1]
    list(update(folder / "logs", settings(), replacing=True))
    assert run_pytest(folder, *arguments)[0] == 0


def test_a_folder_without_inputs_is_a_wrong_usage(tmp_path: Path, run_pytest: Run) -> None:
    assert run_pytest(tmp_path, "--assay-golden", ".")[0] == 4


def test_pytest_starts_as_quickly_as_without_it(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "def pytest_sessionfinish(session):\n"
        "    heavy = {'polars', 'pandera', 'lark', 'numpy', 'typer'} & set(sys.modules)\n"
        "    assert session.config.pluginmanager.has_plugin('assay')\n"
        "    assert not heavy, heavy\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_nothing.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_formats_of_ones_own_are_read(tmp_path: Path, run_pytest: Run) -> None:
    own = ROOT / "examples" / "own_format" / "swift_format" / "swift_step.toml"
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").write_text("step=1 loss=2.5\n")
    list(update(logs, settings(formats=known((str(own),)))))
    assert run_pytest(tmp_path, "--assay-golden", "logs", "--assay-format", own)[0] == 0
    missing = tmp_path / "no.toml"
    code, out = run_pytest(tmp_path, "--assay-golden", "logs", "--assay-format", missing)
    assert code == 1
    assert "no.toml: cannot be read as a format" in out
