"""Two ingests into one folder at once: the later one is refused, and the first one's is whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from assay.ingest.inputs import parts
from assay.ingest.inputs.parts import ALL, Share, alone

from tests.adversarial.test_full_disk import PROGRAM
from tests.adversarial.test_killed import held
from tests.cli.conftest import Run

pytestmark = pytest.mark.skipif(parts.fcntl is None, reason="this system has no locks of folders")

SLOW = f"""
import time
from assay.ingest.inputs import parts

def wait(*_):
    print("read", flush=True)
    time.sleep(60)

parts.consolidate = wait
{PROGRAM}
"""
"""assay that waits before it puts parts together."""


def test_the_later_one_is_refused(assay: Run, log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = subprocess.Popen(
        [sys.executable, "-c", SLOW, "ingest", log, "-o", out], stdout=subprocess.PIPE
    )
    assert first.stdout is not None
    assert first.stdout.readline() == b"read\n"
    there = held(out)
    for more in ([], ["--share", "1/2"], ["--redact"], ["--force"]):
        done = assay("ingest", log, "-o", out, *more)
        assert done.code == 2, done.err
        assert f"another ingest is writing {out}: let it end, or name another folder" in done.err
    assert held(out) == there
    first.kill()  # the lock goes with it
    first.wait()
    first.stdout.close()
    assert assay("ingest", log, "-o", out).code == 0
    assert assay("ingest", log, "-o", tmp_path / "whole").code == 0
    assert held(out) == held(tmp_path / "whole")


def test_shares_write_beside_each_other(tmp_path: Path) -> None:
    with alone(tmp_path, Share(1, 2)), alone(tmp_path, Share(2, 2)):
        whole = alone(tmp_path, ALL)
        with pytest.raises(FileExistsError, match="another ingest is writing"):
            whole.__enter__()
    with alone(tmp_path, ALL):
        pass
