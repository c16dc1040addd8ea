"""Who may import whom, read from the source of every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("grammars", "ingest", "model", "validate")
FORBIDDEN = {
    "grammars": {"assay"},
    "model": {"assay.ingest", "assay.validate", "lark", "pandera", "typer"},
    "ingest": {"assay.model", "assay.validate", "typer"},
    "validate": set(),
}
"""Package → what none of its modules may import, at any place."""

ALONE = {
    "lark": ("ingest/parse.py", "ingest/cells.py"),
    "typer": ("validate/cli/",),
}
"""Library → where alone it may be imported."""


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_only_what_its_package_may(path: Path) -> None:
    where = name_of(path)
    for name in imports(path):
        for forbidden in FORBIDDEN[where.split("/")[0]]:
            assert not within(name, forbidden), f"{where} imports {name}"
        for library, homes in ALONE.items():
            if within(name, library):
                assert where.startswith(homes), f"{where} imports {name}; only {homes} may"


def test_heavy_libraries_stay_out_of_the_top_of_cli_modules() -> None:
    heavy = ("polars", "pandera", "lark", "numpy", "scipy", "assay.ingest", "assay.model")
    for path in (ROOT / "validate" / "cli").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            for name in names:
                assert not any(within(name, each) for each in heavy), f"{name_of(path)}: {name}"


def test_every_package_is_looked_at() -> None:
    assert {name_of(path).split("/")[0] for path in modules()} == set(PACKAGES)


@pytest.mark.parametrize("first", ["assay.ingest.read", "assay.ingest.context"])
def test_whoever_is_imported_first_finds_the_others(first: str) -> None:
    command = [sys.executable, "-c", f"import {first}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
