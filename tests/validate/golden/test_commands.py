"""`assay golden …` from the outside: exit codes, what stands on stdout, what is written."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from assay.model.kernels import gemm
from assay.validate.cli import app
from assay.validate.predict.forecasts import Asked
from assay.validate.predict.models import MODELS
from typer.testing import CliRunner, Result

from tests.conftest import mostly_slow

TABLE = "gpu,dtype,m,n,k,time_us\nH100,bf16,4096,4096,4096,250.5\nH100,bf16,64,64,64,3.10\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["golden", *map(str, arguments)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two inputs with the goldens that the command writes beside them."""
    root = tmp_path_factory.mktemp("whole") / "logs"
    (root / "deep").mkdir(parents=True)
    (root / "gemm.csv").write_text(TABLE)
    (root / "deep" / "gemm.csv").write_text(TABLE)
    made = run("update", root)
    assert made.exit_code == 0
    assert made.stdout.splitlines() == [
        f"new: {root}/deep/gemm.golden",
        f"new: {root}/gemm.golden",
    ]
    return root


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of them, to change."""
    return Path(shutil.copytree(whole, tmp_path / "logs"))


def test_goldens_stand_until_something_changes(folder: Path) -> None:
    stands = run("check", folder)
    assert (stands.exit_code, stands.stdout) == (0, "")
    (folder / "gemm.csv").write_text(TABLE.replace("250.5", "250.6"))
    differs = run("check", folder)
    assert differs.exit_code == 1
    assert differs.stdout.startswith(
        f"{folder}/gemm.golden: reading: gemm_table.time was 0.0002505 s, is 0.0002506 s\n"
        f"--- {folder}/gemm.golden\n+++ {folder}/gemm.csv\n@@ "
    )
    held = run("update", folder)
    assert held.exit_code == 1
    assert "\n-time: 0.0002505 s\n+time: 0.0002506 s\n" in held.stdout
    assert "1 goldens would change and were left; --yes accepts them" in held.stderr
    assert run("update", folder, "--yes").exit_code == 0
    assert run("check", folder).exit_code == 0


def test_predictions_are_part_of_a_golden(folder: Path) -> None:
    text = (folder / "gemm.golden").read_text()
    assert "[predicted]\n" in text
    assert 'machine: "H100"\n' in text
    assert "gemm.time by roofline: 0.000138" in text


def test_a_constant_of_a_registered_model_is_caught(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faster(asked: Asked) -> pl.DataFrame:
        return gemm.predict(asked.cases.gemm).with_columns(pl.col("value") * 0.999)

    changed = [
        dataclasses.replace(model, predict=faster)
        if (model.name, model.scope) == ("roofline", "gemm")
        else model
        for model in MODELS
    ]
    monkeypatch.setattr("assay.validate.golden.model_entries.MODELS", changed)
    differs = run("check", folder)
    assert differs.exit_code == 1
    assert "model: predicts otherwise for the same input: gemm.time by roofline was" in (
        differs.stdout
    )
    assert "reading:" not in differs.stdout


def test_a_tolerance_is_recorded_and_used(folder: Path) -> None:
    assert run("update", folder, "--tolerance", "time=2%", "--yes").exit_code == 0
    (folder / "gemm.csv").write_text(TABLE.replace("250.5", "254.9"))
    assert run("check", folder).exit_code == 0
    (folder / "gemm.csv").write_text(TABLE.replace("250.5", "256.9"))
    assert run("check", folder).exit_code == 1


def test_a_tolerance_for_nothing_is_told(folder: Path) -> None:
    made = run("update", folder, "--tolerance", "step_time=2%", "--tolerance", "time=2%", "--yes")
    assert made.exit_code == 0
    assert "--tolerance step_time: no value of that name is in any of the inputs" in made.stderr
    assert "--tolerance time:" not in made.stderr


@pytest.mark.parametrize("text", mostly_slow(["time", "time=", "=3%", "time=much", "time=-3%"]))
def test_what_is_no_tolerance_is_a_wrong_usage(folder: Path, text: str) -> None:
    before = (folder / "gemm.golden").read_bytes()
    assert run("update", folder, "--yes", "--tolerance", text).exit_code == 2
    assert (folder / "gemm.golden").read_bytes() == before


def test_inputs_that_are_not_identified_fail_the_check(folder: Path) -> None:
    (folder / "notes.txt").write_text("nothing of ours\n")
    assert run("update", folder).exit_code == 0
    differs = run("check", folder)
    assert differs.exit_code == 1
    assert "not identified: no format knows a line of its 1 (tried megatron_iteration" in (
        differs.stdout
    )


def test_a_golden_without_an_input_fails_the_check(folder: Path) -> None:
    (folder / "gemm.csv").unlink()
    differs = run("check", folder)
    assert differs.exit_code == 1
    assert f"{folder}/gemm.golden: no input: the golden has no input beside it" in differs.stdout


def test_nothing_to_check_is_no_success(tmp_path: Path) -> None:
    assert run("check", tmp_path).exit_code == 4
    assert run("update", tmp_path).exit_code == 4
    (tmp_path / "notes.txt").write_text("nothing of ours\n")
    assert run("check", tmp_path).exit_code == 4
    assert run("update", tmp_path).exit_code == 4
    assert run("check", tmp_path / "missing").exit_code == 2
    assert run("tolerances", tmp_path / "missing").exit_code == 2


def test_refused_lines_need_leave_unless_the_golden_holds_them(folder: Path) -> None:
    (folder / "gemm.csv").write_text(TABLE + "H100,bf16,64,64,many,3.1\n")
    assert run("check", folder).exit_code == 3
    assert run("update", folder, "--yes").exit_code == 0
    assert run("check", folder).exit_code == 0
    (folder / "gemm.csv").write_text(TABLE + "H100,bf16,64,64,few,3.1\n")
    assert run("check", folder).exit_code == 3
    assert run("update", folder, "--yes").exit_code == 0
    assert run("check", folder, "--max-bad", "1").exit_code == 0
    assert run("check", folder, "--max-bad", "50%").exit_code == 0
    assert run("check", folder, "--max-bad", "all").exit_code == 2


def test_an_unreadable_input_among_others(folder: Path) -> None:
    (folder / "broken.csv.gz").write_bytes(b"\x1f\x8b" + bytes(20))
    assert run("update", folder).exit_code == 3
    differs = run("check", folder)
    assert differs.exit_code == 3
    assert "unreadable: not a readable gzip stream" in differs.stdout


def test_junit_and_json_say_the_same(folder: Path, tmp_path: Path) -> None:
    (folder / "gemm.csv").write_text(TABLE.replace("250.5", "250.6"))
    target = tmp_path / "golden.xml"
    differs = run("check", folder, "--junit", target, "--json")
    assert differs.exit_code == 1
    found = json.loads(differs.stdout)
    assert [(each["name"], len(each["reasons"])) for each in found] == [
        ("deep/gemm.csv", 0),
        ("gemm.csv", 1),
    ]
    suite = ElementTree.parse(target).getroot()[0]
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    assert suite[1][0].text == found[1]["diff"]
    assert run("check", folder, "--junit", target).exit_code == 2
    assert run("check", folder, "--junit", target, "--force").exit_code == 1


def test_tolerances_of_repeated_runs(tmp_path: Path) -> None:
    for at, time in enumerate(("250.5", "251.0", "249.9", "250.2")):
        (tmp_path / f"run{at}.csv").write_text(TABLE.replace("250.5", time))
    found = run("tolerances", tmp_path)
    assert found.exit_code == 0
    assert found.stdout.splitlines()[1].split()[:3] == ["time", "4", "2"]
    assert f"assay golden update {tmp_path} --yes --tolerance time=" in found.stdout
    (only,) = json.loads(run("tolerances", tmp_path, "--json").stdout)
    assert (only["quantity"], only["runs"], only["false_alarms"]) == ("time", 4, 0.01)
    wide = json.loads(run("tolerances", tmp_path, "--json", "--false-alarms", "10%").stdout)
    assert wide[0]["gate"] < only["gate"]
    assert run("tolerances", tmp_path, "--false-alarms", "0%").exit_code == 2
    assert run("tolerances", tmp_path / "run0.csv").exit_code == 4
