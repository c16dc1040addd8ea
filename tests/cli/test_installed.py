"""Formats and models that other packages bring along, found by their entry points.

The examples are laid out as pip installs them: modules on the path, a folder of metadata beside.
"""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay.ingest.formats.own.installed import installed as formats
from assay.validate.predict.outside import installed as models

from tests.cli.conftest import Run
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"
LOG = EXAMPLES / "own_format" / "swift.log"


def install(example: Path, site: Path) -> None:
    """Install a pure package as pip does: its modules, name, version and entry points."""
    project = tomllib.loads((example / "pyproject.toml").read_text())["project"]
    for path in example.iterdir():
        if path.is_dir() and (path / "__init__.py").exists():
            shutil.copytree(path, site / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.suffix == ".py":
            shutil.copy(path, site)
    name = project["name"].replace("-", "_")
    metadata = site / f"{name}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{point} = {value}" for point, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")


def forget() -> None:
    """Forget the installed packages, which are looked up once per process."""
    formats.cache_clear()
    models.cache_clear()
    for name in ("swift_format", "half_peak"):
        sys.modules.pop(name, None)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, in which packages are installed."""
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    forget()
    yield path
    forget()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "gemm.csv"
    path.write_text(
        "gpu,dtype,m,n,k,time_us\nH100-80g,bf16,4096,4096,4096,210\nH100-80g,bf16,8192,4096,4096,402\n"
    )
    return path


def test_an_installed_format_is_read_without_being_asked_for(
    assay: Run, site: Path, tmp_path: Path
) -> None:
    install(EXAMPLES / "own_format", site)
    done = assay("report", LOG, "--json", "--model", "step")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["sources"][0]["claimed"] == 15
    assert document["sources"][0]["not_ours"] == 2
    assert {pair["quantity"] for pair in document["pairs"]} >= {"tokens_per_s"}
    done = assay("ingest", LOG, LOG.parent / "pyproject.toml", "-o", tmp_path / "o", "-j", 2)
    assert done.code == 0, done.err
    shutil.rmtree(site)
    forget()
    without = assay("report", tmp_path / "o", "--json", "--model", "step")
    assert json.loads(without.out)["accuracy"] == document["accuracy"]


def test_an_installed_model_is_scored_beside_the_packaged_ones(
    assay: Run, site: Path, table: Path
) -> None:
    install(EXAMPLES / "own_model", site)
    chosen = ("--model", "half_peak", "--model", "roofline")
    done = assay("report", table, "--json", *chosen)
    assert done.code == 0, done.err
    rows = {
        row["model"]: row["n"]
        for row in json.loads(done.out)["accuracy"]
        if row["quantity"] == "time"
    }
    assert rows == {"half_peak": 2, "roofline": 2}
    typo = assay("report", table, "--model", "half_peek")
    assert typo.code == 2
    assert "no model is called 'half_peek'; did you mean 'half_peak'?" in typo.err


def test_a_step_model_is_compared_with_the_printed_rate(assay: Run, site: Path) -> None:
    install(EXAMPLES / "own_model", site)
    install(EXAMPLES / "own_format", site)
    done = assay("report", LOG, "--json", "--model", "six_n")
    assert done.code == 0, done.err
    (pair, *_) = [p for p in json.loads(done.out)["pairs"] if p["model"] == "six_n"]
    parameters = 12 * 32 * 4096**2
    assert pair["quantity"] == "tokens_per_s"
    assert pair["predicted"] == pytest.approx(8 * 0.5 * 312e12 / (6 * parameters), rel=1e-9)


BAD = {
    "dict": ("{'case': []}", "gave a dict; expected a polars DataFrame"),
    "lacks": ("good.drop('unit')", "gave no column 'unit'"),
    "extra": ("good.with_columns(qantity=pl.lit('time'))", "did you mean 'quantity'?"),
    "text": ("good.with_columns(value=pl.lit('fast'))", "column 'value' is String; expected Float"),
    "nan": ("good.with_columns(value=pl.lit(float('nan')))", "value is no finite number for"),
    "unit": ("good.with_columns(unit=pl.lit('ms'))", "time is in s; it gave 'ms'"),
    "scope": ("good.with_columns(scope=pl.lit('layer'))", "gave scope 'layer'; it was asked for"),
    "case": ("good.with_columns(case=pl.lit('x#1')).head(1)", "predicts 'x#1', which it was not"),
    "twice": ("pl.concat([good, good])", "predicts time of "),
    "bounds": ("good.with_columns(low=pl.col('value') * 2)", "low and high do not enclose value"),
    "raises": ("1 / 0", "failed: ZeroDivisionError: division by zero"),
}


@pytest.mark.parametrize("name", ["unit", "raises"])
def test_a_bad_answer_is_refused_by_name(assay: Run, site: Path, table: Path, name: str) -> None:
    install(EXAMPLES / "own_model", site)
    code = (site / "half_peak.py").read_text()
    body, message = BAD[name]
    code += f"\n\ndef bad(cases):\n    good = half_peak(cases)\n    return {body}\n\n\n"
    code += 'MODEL = Model(bad, scope="gemm")\n'
    (site / "half_peak.py").write_text(code)
    done = assay("report", table, "--model", "half_peak")
    assert done.code == 2
    assert "the model 'half_peak'" in done.err
    assert message in done.err


def test_what_cannot_be_loaded_names_its_package(assay: Run, site: Path) -> None:
    install(EXAMPLES / "own_format", site)
    install(EXAMPLES / "own_model", site)
    file = site / "swift_format" / "swift_step.toml"
    file.write_text(file.read_text().replace("origin", "orgin"))
    done = assay("check", LOG)
    assert done.code == 2
    assert "the format 'swift_step' of the installed package assay-swift-format" in done.err
    assert "did you mean 'origin'?" in done.err
    forget()
    (site / "swift_format" / "__init__.py").write_text("import nowhere_to_be_found\n")
    assert "cannot be imported: ModuleNotFoundError" in assay("check", LOG).err
