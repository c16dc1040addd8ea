"""Thirty kills of an ingest at moments that are drawn: what is resumed equals what is not."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.adversarial.inputs import csv_sections, log_lines, prefixes, tables, timers_on_a_line
from tests.adversarial.test_full_disk import PROGRAM

KILLS = 30

SMALL = f"from assay.ingest.inputs import chunks; chunks.MANY = 5; {PROGRAM}"
"""assay with a part for every five inputs, so that a dozen parts are under way."""

KINDS = {"log": log_lines, "md": tables, "out": prefixes, "csv": csv_sections,
         "txt": timers_on_a_line}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs of five kinds, enough of them for several parts."""
    made = tmp_path_factory.mktemp("many")
    for at in range(60):
        suffix = list(KINDS)[at % len(KINDS)]
        (made / f"run-{at:02}.{suffix}").write_text(KINDS[suffix](40 + at))
    return made


def started(folder: Path, output: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SMALL, "ingest", str(folder), "-o", str(output), "-j", "2"]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def held(output: Path) -> dict[str, bytes]:
    return {path.relative_to(output).as_posix(): path.read_bytes()
            for path in sorted(output.rglob("*")) if path.is_file()}  # fmt: skip


@pytest.mark.slow
def test_thirty_kills(folder: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    began = time.monotonic()
    code = started(folder, whole).wait()
    assert code in (0, 3)  # of refused lines
    usual = time.monotonic() - began
    wanted, draw, midway = held(whole), random.Random(7), 0
    for at in range(KILLS):
        output = tmp_path / f"out-{at}"
        running = started(folder, output)
        time.sleep(draw.uniform(0, 1.1 * usual))
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        there = held(output) if output.exists() else {}
        if there == wanted:  # it had ended before it was killed
            shutil.rmtree(output)
            continue
        midway += bool(there)
        assert started(folder, output).wait() == code, at
        assert held(output) == wanted, at
        shutil.rmtree(output)
    assert midway >= KILLS // 5, f"only {midway} of {KILLS} kills met a folder half done"
