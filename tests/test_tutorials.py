"""Tutorials: every command in them is run, and what it prints is what stands there.

A block fenced as `console` holds commands after `$ ` and their output, standard error included.
`…` in the output stands for anything. Commands of one page run in one folder, in order.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = sorted([*(ROOT / "docs").glob("tutorial*.md"), *(ROOT / "docs").glob("own-*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def steps(page: Path) -> Iterator[tuple[str, str]]:
    """The commands of a page, each with the output that is expected of it."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        assert block.startswith("$ "), f"{page.name}: a block that begins with no command"
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def fits(expected: str, printed: str) -> bool:
    """Whether the output is as expected; `…` stands for anything.

    >>> fits("1 passed in …\\n", "1 passed in 0.31s\\n"), fits("a\\n", "b\\n")
    (True, False)
    """
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    return re.fullmatch(pattern, printed, re.S) is not None


LONG = {"tutorial.md", "tutorial-golden.md"}
"""Pages of more than a few seconds."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in LONG else [])
        for page in PAGES
    ],
)
def test_a_tutorial_does_what_it_says(page: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    here = Path(sys.executable).parent
    path = f"{here}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "LC_ALL": "C", "COLUMNS": "120"}
    for command, expected in steps(page):
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        assert fits(expected, done.stdout), f"$ {command}\n{done.stdout}\nexpected:\n{expected}"


def test_there_are_tutorials() -> None:
    assert PAGES
