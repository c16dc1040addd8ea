"""A disk that takes no more: a message that says so, exit 2, and nothing half-written."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adversarial.inputs import log_lines
from tests.conftest import mostly_slow

LIMIT = 8_000
"""Bytes that a file may have: less than any output of the log below."""

PROGRAM = "from assay.validate.cli import app; app()"


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def assay(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    # -B: modules that Python writes would be cut as well, and found by all other tests
    return subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM, *map(str, arguments)],
        stderr=subprocess.PIPE, text=True, check=False, **options,  # type: ignore[call-overload]
    )  # fmt: skip


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("full") / "long.log"
    path.write_text(log_lines(600))
    return path


@pytest.mark.parametrize(
    ("command", "output"),
    mostly_slow(
        [("ingest", "out"), ("report", "r.html"), ("export", "out.duckdb"), ("report", "r.json"),
         ("export", "folder")], 3
    ),
)  # fmt: skip
def test_what_cannot_be_written_is_not_there(
    log: Path, tmp_path: Path, command: str, output: str
) -> None:
    if output.endswith(".duckdb"):
        pytest.importorskip("duckdb")
    into = tmp_path / output
    if output == "folder":
        into.mkdir()
    more = ["--to", "csv"] if output == "folder" else []
    done = assay(command, log, "-o", into, *more, preexec_fn=limited)
    assert done.returncode == 2, done.stderr
    said = ("larger than it may be", "too large", "no space is left")
    assert any(words in done.stderr for words in said), done.stderr
    assert "Traceback" not in done.stderr
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(".parts" in path.parts and path.suffix == ".json" for path in kept), kept
    if command != "report":  # which keeps nothing that a later run would find
        again = assay(command, log, "-o", into, *more)
        assert again.returncode in (0, 4), again.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
@pytest.mark.parametrize("command", mostly_slow(["check", "report", "formats"], 3))
def test_a_screen_that_takes_nothing(log: Path, command: str) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        paths = [] if command == "formats" else [log]
        done = assay(command, *paths, stdout=full)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("no space is left on the device") == 1
    assert "Exception ignored" not in done.stderr
