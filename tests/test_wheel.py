"""Files installed from a wheel and from an sdist: all of them, and no more than the core needs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, ROOT

CORE = {"docutils", "ijson", "lark", "msgspec", "numpy", "pandera", "polars", "scipy", "typer",
        "zstandard"}  # fmt: skip
HEAVY = ("altair", "dask", "distributed", "duckdb", "matplotlib", "pandas", "plotly", "pyarrow",
         "vl_convert")  # fmt: skip
SAMPLES = ROOT / "validate" / "samples"


def test_the_core_requires_no_plotting_no_dask_no_duckdb() -> None:
    asked = [text for text in requires("assay") or [] if "extra ==" not in text]
    assert {re.split(r"[\s\[<>=!~;]", text)[0] for text in asked} == CORE


def test_a_report_and_an_export_import_no_extra(tmp_path: Path) -> None:
    log = SAMPLES / "bloom_176b.log"
    code = (
        "import sys\n"
        "from assay.validate.cli import app\n"
        f"for words in (['report', {str(log)!r}], ['check', {str(log)!r}],\n"
        f"              ['export', {str(log)!r}, '-o', {str(tmp_path / 'a.csv')!r}]):\n"
        "    try: app(words)\n"
        "    except SystemExit: pass\n"
        f"print('HEAVY', sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "HEAVY []" in done.stderr, done.stderr


def test_the_samples_are_the_fixtures() -> None:
    names = sorted(
        path.name for path in SAMPLES.iterdir() if path.suffix in (".log", ".md", ".toml")
    )
    assert len(names) == 4
    for name in names:
        (origin,) = FIXTURES.rglob(name)
        assert (SAMPLES / name).read_bytes() == origin.read_bytes(), name
    assert sum(path.stat().st_size for path in SAMPLES.iterdir() if path.is_file()) < 50_000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel (made from the sdist, as an index would) and the sdist."""
    build = pytest.importorskip("build", reason="the package build is not installed")
    assert build
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode and "No matching distribution" in done.stdout + done.stderr:
        pytest.skip("no package index is at hand for the build's own requirements")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.mark.slow
def test_the_wheel_holds_every_file_and_nothing_else(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    tree = {
        f"assay/{path.relative_to(ROOT).as_posix()}"
        for top in ("grammars", "ingest", "model", "validate")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == tree


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_example_runs_in_an_empty_environment(
    built: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    pip = [str(tmp_path / "venv" / "bin" / "python"), "-m", "pip", "-q"]
    done = subprocess.run(
        [*pip, "install", "--disable-pip-version-check", str(built[kind])],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("no package index is at hand for the requirements")
    assert done.returncode == 0, done.stderr[-2000:]
    command = [str(tmp_path / "venv" / "bin" / "assay"), "report", "--example", "--full"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Accuracy per configuration" in done.stdout
    listed = subprocess.run([*pip, "list", "--format=freeze"], capture_output=True, text=True,
                            check=True)  # fmt: skip
    there = {line.split("==")[0].lower().replace("-", "_") for line in listed.stdout.splitlines()}
    assert not there & set(HEAVY), there
    missing = subprocess.run(
        [command[0], "export", "--to", "duckdb", "-o", "a.duckdb", str(SAMPLES / "bloom_176b.log")],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    assert "assay[duckdb]" in missing.stderr


def test_every_extra_but_the_tests_is_told_of() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    said = "\n".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    for extra in set(extras) - {"test"}:
        assert f"assay[{extra}]" in said, extra
