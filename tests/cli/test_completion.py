"""Shells complete commands, options and machines, quickly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = """
import sys
from assay.validate.cli import app
try:
    app(prog_name="assay")
finally:
    heavy = {"polars", "pandera", "lark", "numpy", "scipy"}
    print("HEAVY", sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def completed(words: str) -> list[str]:
    """Completions that bash would offer for the last of these words, asked of a real process."""
    asked = {"_ASSAY_COMPLETE": "complete_bash", "COMP_WORDS": words,
             "COMP_CWORD": str(len(words.split(" ")) - 1)}  # fmt: skip
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True,
                          check=False, env={**os.environ, **asked})  # fmt: skip
    assert "HEAVY []" in done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("assay re", {"report"}),
        ("assay golden ", {"update", "check", "tolerances"}),
        ("assay report --max", {"--max-bad", "--max-mape", "--max-bias"}),
        ("assay report --machine H1", {"H100"}),
        ("assay export --to ", {"csv", "ndjson", "duckdb"}),
    ],
)
def test_a_shell_completes(words: str, offered: set[str]) -> None:
    assert offered <= set(completed(words))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str) -> None:
    command = [Path(sys.executable).parent / "assay", "--show-completion", shell]
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the argument counts, not ours
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **named}
    )
    assert done.returncode == 0, done.stderr
    assert "_ASSAY_COMPLETE" in done.stdout
