"""The gates of `assay report` from the outside: options, verdicts, exit codes, XML."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from assay.validate.cli import app
from typer.testing import CliRunner, Result

from tests.conftest import ROOT

ROWS = [
    (4096, 4096, 4096, 250.5), (8192, 4096, 4096, 480.2), (4096, 8192, 4096, 490.1),
    (2048, 4096, 4096, 140.7), (4096, 4096, 8192, 470.3), (1024, 4096, 4096, 80.9),
]  # fmt: skip


BARE = '{"accuracy": [{"scope": "gemm"}], "pairs": []}'


def table(scale: float = 1.0) -> str:
    rows = "".join(f"H100,bf16,{m},{n},{k},{t * scale:.1f}\n" for m, n, k, t in ROWS)
    return f"gpu,dtype,m,n,k,time_us\n{rows}"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    path = tmp_path / "gemm.csv"
    path.write_text(table())
    return path


def test_a_gate_decides_the_exit_code(measured: Path) -> None:
    kept = run(measured, "--max-mape", "gemm.time@roofline=90%")
    assert kept.exit_code == 0
    assert "passed: --max-mape gemm.time@roofline=90%: gemm.time@roofline (measured)" in kept.stderr
    missed = run(measured, "--max-mape", "gemm.time@roofline=0.1%", "--max-bias", "gemm=90%")
    assert missed.exit_code == 1
    assert "failed: --max-mape gemm.time@roofline=0.1%" in missed.stderr
    assert f"{measured}:" in missed.stderr
    assert "passed: --max-bias gemm=90%" in missed.stderr


def test_nothing_to_judge_is_no_success(measured: Path, tmp_path: Path) -> None:
    assert run(measured, "--max-mape", "layer=5%").exit_code == 4
    assert run(measured, "--require", "configuration.step_time>=80").exit_code == 4
    assert run(measured, "--require", "gemm.time>=80").exit_code == 1
    assert run(measured, "--require", "gemm.time>=6").exit_code == 0
    (tmp_path / "notes.txt").write_text("nothing of ours\n")
    assert run(tmp_path / "notes.txt", "--max-mape", "500%").exit_code == 4


def test_a_baseline_names_the_rows_that_did_it(measured: Path, tmp_path: Path) -> None:
    before = tmp_path / "before.json"
    assert run(measured, "-o", before).exit_code == 0
    assert run(measured, "--baseline", before).exit_code == 0
    measured.write_text(table().replace("480.2", "4802"))
    worse = run(measured, "--baseline", before)
    assert worse.exit_code == 1
    assert "failed: --baseline: gemm.time@roofline (measured): mape" in worse.stderr
    assert f"{measured}:3: 1x8192x4096x4096 is off by -9" in worse.stderr
    alone = run(measured, "--baseline", before, "--model", "constant_mfu")
    assert alone.exit_code == 4


def test_a_broken_baseline_is_a_wrong_usage(measured: Path, tmp_path: Path) -> None:
    for text in ("", "[]", "{}", '{"accuracy": 3, "pairs": []}', BARE):
        (tmp_path / "before.json").write_text(text)
        assert run(measured, "--baseline", tmp_path / "before.json").exit_code == 2
    assert run(measured, "--baseline", tmp_path / "missing.json").exit_code == 2


def test_what_is_no_gate_is_a_wrong_usage(measured: Path) -> None:
    assert run(measured, "--max-mape", "much").exit_code == 2
    assert run(measured, "--require", "gemm.time").exit_code == 2


def test_the_report_is_written_first_and_json_stays_json(measured: Path, tmp_path: Path) -> None:
    target, xml = tmp_path / "report.md", tmp_path / "report.xml"
    done = run(
        measured, "-o", target, "--json", "--junit", xml, "--max-mape", "@roofline=0.1%",
        "--max-mape", "layer=3%",
    )  # fmt: skip
    assert done.exit_code == 4
    assert target.is_file()
    assert json.loads(done.stdout)["accuracy"]
    suite = ElementTree.parse(xml).getroot()[0]
    assert int(suite.attrib["failures"]) >= 1
    assert suite.attrib["errors"] == "1"
    assert run(measured, "--junit", xml).exit_code == 2


def test_the_snippets_use_options_that_exist() -> None:
    text = (ROOT / "docs" / "golden.md").read_text(encoding="utf-8")
    blocks = [part.partition("```")[0] for part in text.split("```yaml\n")[1:]]
    assert len(blocks) == 2
    helps = {
        name: CliRunner().invoke(app, [*name.split(), "--help"]).output
        for name in ("report", "golden check")
    }
    commands = []
    github, gitlab = map(yaml.safe_load, blocks)
    commands += [step["run"] for step in github["jobs"]["golden"]["steps"] if "run" in step]
    commands += gitlab["logs"]["script"]
    ours = [command.split() for command in commands if command.startswith("assay ")]
    assert len(ours) == 4
    for words in ours:
        page = helps["golden check" if words[1] == "golden" else "report"]
        for word in words:
            if word.startswith("-"):
                assert word in page, f"{' '.join(words)}: {word}"
