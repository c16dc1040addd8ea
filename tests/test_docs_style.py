"""Docstrings name what they describe, and names in docstrings and pages are those of the tree."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FOLDERS = ("ingest", "model", "validate", "tests/studies")

ENTRY_POINTS = {"assay.formats", "assay.models"}
"""Names in backticks that are groups of entry points, and no modules."""


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring: of modules, classes, functions, and below assignments."""
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():
            match each:
                case ast.Expr(value=ast.Constant(value=str(said))):
                    yield each.lineno, said.strip()


def riddles(text: str) -> list[int]:
    """Lines of docstrings that begin with "What " or say "Both."."""
    return [
        line
        for line, said in docstrings(text)
        if said.startswith("What ") or said.rstrip(".") == "Both"
    ]


def files() -> list[str]:
    """Modules of the product, by their path from the root."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def test_no_docstring_is_a_riddle() -> None:
    """No docstring makes its reader ask what is meant."""
    found = {path: riddles((ROOT / path).read_text("utf-8")) for path in files()}
    assert not [
        f"{path}:{line}: say what it is: a noun or a verb first"
        for path, lines in found.items()
        for line in lines
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('"""What a rank sends."""', [1]),
        ('def f():\n    """Both."""', [2]),
        ('A = 1\n"""What is fitted."""', [2]),
        ('class A:\n    """Both orientations."""', []),
        ('B = "What is fitted."', []),
    ],
)
def test_riddles_are_found(text: str, lines: list[int]) -> None:
    """Every place where a docstring can stand is looked at, and no other string."""
    assert riddles(text) == lines


def stands(name: str) -> bool:
    """Whether a dotted name is a module of the package, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_dotted_names_in_docstrings_exist() -> None:
    """Modules and functions that a docstring points at have not moved away."""
    named = {
        (path, name)
        for path in files()
        for _, said in docstrings((ROOT / path).read_text("utf-8"))
        for name in re.findall(r"`(assay(?:\.\w+)+)`", said)
    }
    assert len(named) > 10
    assert not sorted(
        f"{path}: `{name}`" for path, name in named if name not in ENTRY_POINTS and not stands(name)
    )


def test_paths_in_pages_exist() -> None:
    """A page names files and folders as they are called now."""
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    named = {
        (page.name, path)
        for page in pages
        for path in re.findall(
            r"`((?:grammars|ingest|model|validate|tests)/[\w./*-]+)`", page.read_text("utf-8")
        )
    }
    assert len(named) > 10
    assert not sorted(f"{page}: `{path}`" for page, path in named if not any(ROOT.glob(path)))
