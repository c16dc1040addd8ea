"""Who may import whom, read from the source of every module.

`ROOMS` is the order of the house (docs/architecture.md): a room imports itself and rooms above it,
wherever in a module the import stands. A module that stands in no room is one of its own.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("grammars", "ingest", "model", "validate")

ROOMS = (
    "grammars",
    "ingest/expressions",
    "ingest/numbers",
    "ingest/vocabulary",
    "ingest/schema",
    "ingest/source",
    "ingest/lines",
    "ingest/grids",
    "ingest/columns",
    "ingest/prose",
    "ingest/tables",
    "ingest/kernels",
    "ingest/statements",
    "ingest/legends",
    "ingest/binding",
    "ingest/formats",
    "ingest/pipeline",
    "ingest/formats/own",
    "ingest/store",
    "ingest/reference",
    "ingest/inputs",
    "ingest/redact",
    "model/frames.py",
    "model/machines",
    "model/transformer",
    "model/formulas",
    "model/kernels",
    "model/schedule.py",
    "model/fit",
    "model/stacks",
    "model/step",
    "model/reproductions",
    "validate/cases",
    "validate/arithmetic",
    "validate/predict",
    "validate/laws",
    "validate/score",
    "validate/runs",
    "validate/plan",
    "validate/calibrate",
    "validate/report",
    "validate/report/html",
    "validate/export",
    "validate/golden",
    "validate/results.py",
    "validate/api.py",
    "validate/samples",
    "validate/cli",
)
"""Every room of the product, top down."""

FORBIDDEN = {
    "grammars": {"assay"},
    "model": {"assay.ingest", "assay.validate", "lark", "pandera", "typer"},
    "ingest": {"assay.model", "assay.validate", "typer"},
    "validate": set(),
}
"""Package → what none of its modules may import, at any place."""

ALONE = {
    "lark": ("ingest/lines/", "ingest/columns/"),
    "typer": ("validate/cli/",),
}
"""Library → where alone it may be imported."""

LISTS = ("ingest/formats", "validate/cli")
"""Rooms that are lists: of formats and of commands."""

MOST_MODULES = 16


@cache
def modules() -> tuple[Path, ...]:
    return tuple(sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def held_by(package: str) -> list[Path]:
    """The modules of a package: never none."""
    found = [path for path in modules() if name_of(path).startswith(f"{package}/")]
    assert found
    return found


def dotted(path: Path) -> str:
    return "assay." + name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def by_name() -> dict[str, Path]:
    return {dotted(path): path for path in modules()}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Every module that a file imports, wherever in it."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imported(path: Path) -> set[Path]:
    """The modules of the product that a file imports, packages by their name alone."""
    found = {by_name()[name] for name in imports(path) if name in by_name()}
    whole = {other for other in found if other.name == "__init__.py"}
    used = {
        other
        for other in whole
        if any(dotted(each).startswith(f"{dotted(other)}.") for each in found - {other})
    }
    return found - used - {path}


def room(path: Path) -> str:
    """The room of a module: the longest that its path begins with."""
    name = name_of(path)
    inside = [one for one in ROOMS if name == one or name.startswith(f"{one}/")]
    return max(inside, key=len, default="")


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_only_what_its_package_may(package: str) -> None:
    for path in held_by(package):
        where = name_of(path)
        for name in imports(path):
            for forbidden in FORBIDDEN[package]:
                assert not within(name, forbidden), f"{where} imports {name}"
            for library, homes in ALONE.items():
                if within(name, library):
                    assert where.startswith(homes), f"{where} imports {name}; only {homes} may"


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_only_rooms_above_its_own(package: str) -> None:
    for path in held_by(package):
        mine = room(path)
        if not mine:
            assert path.name == "__init__.py", f"{name_of(path)} stands in no room"
            assert not imported(path), f"{name_of(path)} is a package's front: it imports nothing"
            continue
        for other in imported(path):
            theirs = room(other)
            assert not theirs or ROOMS.index(theirs) <= ROOMS.index(mine), (
                f"{name_of(path)} imports {name_of(other)}, but {theirs} stands below {mine}"
            )


@pytest.mark.parametrize("package", PACKAGES)
def test_no_private_name_crosses_modules(package: str) -> None:
    for path in held_by(package):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and within(node.module or "", "assay"):
                for alias in node.names:
                    assert not alias.name.startswith("_"), (
                        f"{name_of(path)}:{node.lineno} imports {alias.name} of {node.module}"
                    )


def test_modules_import_each_other_in_no_circle() -> None:
    """Whole modules, imports inside functions included."""
    done: set[Path] = set()

    def walk(path: Path, above: tuple[Path, ...]) -> None:
        assert path not in above, " → ".join(map(name_of, (*above, path)))
        if path not in done:
            for other in imported(path):
                walk(other, (*above, path))
            done.add(path)

    for path in modules():
        walk(path, ())


def test_no_file_name_stands_twice() -> None:
    names = Counter(path.name for path in modules() if path.name != "__init__.py")
    assert not [name for name, count in names.items() if count > 1]


def test_rooms_are_small() -> None:
    held = defaultdict(list)
    for path in modules():
        if path.name != "__init__.py":
            held[room(path)].append(path)
    assert set(ROOMS) - set(held) <= {"grammars", "validate/samples"}
    for one, files in held.items():
        assert one in LISTS or len(files) <= MOST_MODULES, f"{one} holds {len(files)} modules"


def test_heavy_libraries_stay_out_of_the_top_of_cli_modules() -> None:
    heavy = ("polars", "pandera", "lark", "numpy", "scipy", "assay.ingest", "assay.model")
    for path in (ROOT / "validate" / "cli").glob("*.py"):
        if "__main__" in path.read_text(encoding="utf-8"):
            continue  # a page that `make docs` writes; no command imports it
        for node in tree(path).body:
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


@pytest.mark.parametrize("first", ["assay.ingest.inputs.read", "assay.ingest.statements.context"])
def test_whoever_is_imported_first_finds_the_others(first: str) -> None:
    command = [sys.executable, "-c", f"import {first}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_reads_tables_is_not_imported_before_one_is_met() -> None:
    code = "import sys, assay.ingest.inputs.parts, assay.ingest.formats; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    readers = ("tables.documents", "kernels.kernel_rows", "tables.table_rows", "tables.views")
    assert not {f"assay.ingest.{name}" for name in readers} & set(done.stdout.split())
