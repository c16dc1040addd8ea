"""Running the command line inside the test process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from assay.validate.cli import app
from typer.testing import CliRunner

Run = Callable[..., "Ran"]

IRON = (
    " iteration       {n}/    1000 | consumed samples: {s} | elapsed time per iteration (ms): "
    "5837.9 | global batch size:     4 | lm loss: 6.1E+00 | number of skipped iterations:   0 |\n"
)


class Ran:
    """Result of a command: exit code, stdout, stderr."""

    def __init__(self, arguments: Sequence[str], stdin: bytes | None = None) -> None:
        found = CliRunner().invoke(app, list(arguments), input=stdin, env={"COLUMNS": "200"})
        self.code = found.exit_code
        self.out = found.stdout
        self.err = found.stderr
        assert "Traceback" not in self.out + self.err


@pytest.fixture
def assay() -> Run:
    def run(*arguments: object, stdin: bytes | None = None) -> Ran:
        return Ran([str(argument) for argument in arguments], stdin)

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of three iterations, read without a complaint."""
    path = tmp_path / "good.log"
    path.write_text("".join(IRON.format(n=n, s=4 * n) for n in (10, 20, 30)))
    return path


TABLE = """\
| GPUs | TP | PP | DP | MBS | GBS | Sec/it | TFLOPs |
| ---: | -: | -: | -: | --: | --: | -----: | -----: |
|    8 |  8 |  1 |  1 |   1 |  64 |  10.50 |  50.10 |
|   16 |  8 |  2 |  1 |   1 |  64 |   6.25 |  45.20 |
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.md"
    path.write_text(TABLE)
    return path
