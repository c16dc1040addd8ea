"""An update that is killed leaves whole goldens only, and a second one completes it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from assay.validate.golden.document import parse
from assay.validate.golden.folder import PART, SUFFIX, Settings, update

UPDATE = """
import sys
from pathlib import Path
from assay.validate.golden.folder import Settings, update
for made in update(Path(sys.argv[1]), Settings()):
    pass
"""


@pytest.mark.parametrize("count", [24, pytest.param(2000, marks=pytest.mark.slow)])
def test_killed_in_the_middle(tmp_path: Path, count: int) -> None:
    for at in range(count):
        row = f"H100,bf16,4096,4096,{64 * (at + 1)},{at + 1}.50\n"
        (tmp_path / f"{at:04d}.csv").write_text(f"gpu,dtype,m,n,k,time_us\n{row}")
    process = subprocess.Popen([sys.executable, "-c", UPDATE, str(tmp_path)])
    while process.poll() is None and len(list(tmp_path.glob(f"*{SUFFIX}"))) < count // 4:
        time.sleep(0.01)
    process.kill()
    process.wait()
    killed = sorted(tmp_path.glob(f"*{SUFFIX}"))
    assert count // 4 <= len(killed) < count, "the update was not killed in its middle"
    whole = [path.read_text() for path in killed]
    assert not any(parse(text).edited for text in whole)
    (tmp_path / f".0000{PART}").write_text("assay gol")  # what a kill inside a write leaves
    outcomes = [made.outcome for made in update(tmp_path, Settings())]
    assert outcomes == ["unchanged"] * len(killed) + ["written"] * (count - len(killed))
    assert [path.read_text() for path in killed] == whole
    assert not list(tmp_path.glob(f".*{PART}"))
    goldens = list(tmp_path.glob(f"*{SUFFIX}"))
    assert len(goldens) == count
    assert not any(parse(path.read_text()).edited for path in goldens)
