"""A module gives no two things one name: the later would stand in for the one before, unseen."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("grammars", "ingest", "model", "validate")
    for path in (ROOT / folder).rglob("*.py")
)


@pytest.mark.parametrize("path", MODULES)
def test_a_module_gives_no_name_twice(path: str) -> None:
    names = Counter[str]()
    for each in ast.parse((ROOT / path).read_text("utf-8")).body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            names[each.name] += not each.decorator_list
        elif isinstance(each, ast.Assign):
            names.update(name.id for name in each.targets if isinstance(name, ast.Name))
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            names[each.target.id] += each.value is not None
    assert not [name for name, count in names.items() if count > 1 and name != "_"]
