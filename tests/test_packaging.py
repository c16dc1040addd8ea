"""Declarations of pyproject.toml against the files in the tree."""

from __future__ import annotations

import fnmatch
import tomllib
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

TOP = ("grammars", "ingest", "model", "validate")


def setuptools() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return dict(tomllib.load(file)["tool"]["setuptools"])


def name(folder: Path) -> str:
    return "assay." + folder.relative_to(ROOT).as_posix().replace("/", ".")


def folders() -> list[Path]:
    return sorted(path.parent for top in TOP for path in (ROOT / top).rglob("__init__.py"))


def test_packages_are_those_of_the_tree() -> None:
    assert sorted(setuptools()["packages"]) == sorted(name(folder) for folder in folders())


def test_every_folder_with_modules_is_a_package() -> None:
    for top in TOP:
        for module in (ROOT / top).rglob("*.py"):
            assert (module.parent / "__init__.py").exists(), f"{module.parent} has no __init__.py"


def test_every_data_file_is_packaged() -> None:
    declared = setuptools()["package-data"]
    for top in TOP:
        for path in (ROOT / top).rglob("*"):
            if path.is_dir() or path.suffix in {".py", ".pyc"}:
                continue
            owner = next(parent for parent in path.parents if (parent / "__init__.py").exists())
            inside = path.relative_to(owner).as_posix()
            patterns = declared.get(name(owner), [])
            assert any(fnmatch.fnmatch(inside, pattern) for pattern in patterns), (
                f"{path.relative_to(ROOT)} is in no package-data of {name(owner)}"
            )


def test_every_declared_pattern_of_code_exists() -> None:
    for package in setuptools()["package-data"]:
        folder = ROOT / package.removeprefix("assay.").replace(".", "/")
        assert folder.is_dir(), f"package-data names {package}, which is no folder"


def test_every_top_package_is_typed() -> None:
    for top in TOP:
        assert (ROOT / top / "py.typed").exists(), f"{top} has no py.typed"


def test_assay_itself_is_a_namespace() -> None:
    assert not (ROOT / "assay").exists()
