"""A format added as CONTRIBUTING.md says touches five places, and nothing else needs to know it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

MODULE = '''"""Step lines of the Lantern trainer: `lantern 120> dt 512.5 ms, rate 51234 tok/s`.

In: such lines. Out: one record per line.
"""

from __future__ import annotations

from assay.ingest.lines.records import Kind, fold_lines
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import logged
from assay.ingest.schema.format import Folded, Format, Region


class LanternStep(Configuration):
    """Time and rate of one step."""

    step: int = logged(kind="exact", ge=0)
    step_time: float = logged(["dt"], unit="s", quantity="step_time", gt=0)
    tokens_per_s: float = logged(["rate"], unit="token/s", quantity="tokens_per_s", gt=0)


KINDS = (Kind("step_line", "HEAD", "lantern_step", LanternStep),)


def fold(region: Region) -> Folded:
    """Every such line of a region."""
    return fold_lines(region, "lantern_step", KINDS)


FORMAT = Format(
    name="lantern_step",
    heads=("lantern ",),
    schemas={"lantern_step": LanternStep},
    origin="measured",
    fold=fold,
)
'''
GRAMMAR = r"""// lantern_step.lark — step lines of the Lantern trainer
step_line: "lantern " step ">" metric ("," metric)*
step: INT
metric: KEY VALUE
claim_line: HEAD
HEAD.9: /lantern [0-9]+>/
KEY: /\s*[a-z]+\s+/
VALUE: /[^,]+/
%import .common (INT)
"""
LOG = "".join(f"lantern {n}> dt 51{n}.5 ms, rate 5123{n} tok/s\n" for n in (1, 2, 3))
ABOUT = '[origin]\nlicence = "Apache-2.0"\nnotes = "lines of our own"\n'
STEPS = """
import runpy, sys
sys.argv = ["describe", "docs/formats"]
runpy.run_module("assay.ingest.reference.describe", run_name="__main__")
from assay.validate.cli import app
app(["golden", "update", "fixtures/lantern_step"])
"""


def test_a_format_touches_five_places(tmp_path: Path) -> None:
    for name in ("grammars", "ingest", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "assay").mkdir()
    for name in ("grammars", "ingest"):
        (tmp_path / "assay" / name).symlink_to(tmp_path / name)
    for name in ("model", "validate"):
        (tmp_path / "assay" / name).symlink_to(ROOT / name)
    before = tree(tmp_path)

    fixture = tmp_path / "fixtures" / "lantern_step"
    fixture.mkdir(parents=True)
    (fixture / "own.log").write_text(LOG)
    (fixture / "own.toml").write_text(ABOUT)
    (tmp_path / "grammars" / "lantern_step.lark").write_text(GRAMMAR)
    (tmp_path / "ingest" / "formats" / "lantern_step.py").write_text(MODULE)
    registry = tmp_path / "ingest" / "formats" / "__init__.py"
    text = registry.read_text().replace("    step_rate,\n", "    lantern_step,\n    step_rate,\n")
    text = text.replace(
        "    step_rate.FORMAT,\n", "    step_rate.FORMAT,\n    lantern_step.FORMAT,\n"
    )
    registry.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", STEPS], cwd=tmp_path, env=environment, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    after = tree(tmp_path)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    folders = ("fixtures/lantern_step/", "docs/formats/lantern_step/")
    places = {next((f for f in folders if name.startswith(f)), name) for name in changed}
    assert places == {
        "fixtures/lantern_step/",
        "grammars/lantern_step.lark",
        "ingest/formats/lantern_step.py",
        "ingest/formats/__init__.py",
        "docs/formats/lantern_step/",
    }
    golden = after["fixtures/lantern_step/own.golden"].decode()
    assert golden.count("step_time: 0.51") == 3
    assert "docs/formats/lantern_step/lantern_step.schema.json" in after


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of the copied folders, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for name in ("grammars", "ingest", "docs", "fixtures")
        for path in (folder / name).rglob("*")
        if path.is_file()
    }
