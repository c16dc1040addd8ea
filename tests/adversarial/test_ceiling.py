"""What needs more memory than there may be is refused by its name, and nothing is half-written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs import ceiling, read
from assay.ingest.inputs.ceiling import held, watched
from assay.ingest.source.opening import Source

from tests.adversarial.inputs import log_lines
from tests.adversarial.test_full_disk import assay
from tests.cli.conftest import Ran
from tests.conftest import mostly_slow

pytestmark = pytest.mark.skipif(not held(), reason="this system does not tell what a process holds")

TOO_FEW = "60M"
"""Less than reading anything takes."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run.log"
    path.write_text(log_lines(300))
    return path


@pytest.mark.parametrize(
    ("command", "output"),
    mostly_slow([("ingest", "out"), ("export", "out.csv"), ("report", "")], 3),
)
def test_more_than_there_may_be_is_refused(
    log: Path, tmp_path: Path, command: str, output: str
) -> None:
    into = ["-o", tmp_path / output] if output else []
    into += ["--frame", "megatron_iteration"] if output == "out.csv" else []
    done = assay(command, log, *into, "--max-memory", TOO_FEW, stdout=subprocess.PIPE)
    assert done.returncode == 2, done.stderr
    assert "it needs more memory than the 60 MB that there are (--max-memory)" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["run.log"]
    again = assay(command, log, *into, stdout=subprocess.PIPE)
    assert again.returncode in (0, 4), again.stderr


@pytest.mark.parametrize("size", ["12x", "0", "-1G", "", "G"])
def test_a_size_that_is_none(log: Path, size: str) -> None:
    done = Ran(["check", str(log), "--max-memory", size])
    assert done.code == 2
    assert "--max-memory is a size such as 8G or 500M, not" in done.err


def test_the_other_inputs_are_read(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read.read_source

    def greedy(opened: Source, *more: Any, **said: Any) -> Any:
        kept = []
        while opened.name.endswith("greedy.log"):
            kept.append(b"x" * 2**20)
        return whole(opened, *more, **said)

    def apart(*_: object) -> None:
        raise RuntimeError  # each input is read alone then

    (tmp_path / "greedy.log").write_text(log_lines(10))
    monkeypatch.setattr(read, "read_source", greedy)
    monkeypatch.setattr(read, "small_inputs", apart)
    monkeypatch.setattr(ceiling, "BEYOND", 100.0)  # this process has to go on
    with watched(held() + 200_000_000):
        outcome = read.read([tmp_path / "greedy.log", log])
    (fault,) = outcome.unreadable
    assert fault.span.source.endswith("greedy.log")
    assert "it needs more memory than the" in fault.message
    assert outcome.reading.frames["megatron_iteration"].height == 300


def test_a_call_that_does_not_come_back_ends_the_process() -> None:
    program = (
        "import time\n"
        "from assay.ingest.inputs.ceiling import Ceiling, held, watched\n"
        "with watched(held() + 50_000_000):\n"
        "    Ceiling.reading = 'huge.log'\n"
        "    kept = bytes(1) * 400_000_000\n"
        "    time.sleep(30)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=25
    )
    assert done.returncode == 2, done.stderr
    assert "assay: huge.log: it needs more memory than the" in done.stderr


def test_what_is_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    free = ceiling.there()
    assert free is not None
    assert free > 0
    monkeypatch.setattr(ceiling, "there", lambda: 10**9)
    assert ceiling.default() == 750_000_000
