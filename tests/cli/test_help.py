"""Help is quick, complete, and what the documentation says."""

from __future__ import annotations

import subprocess
import sys

import pytest
from assay.validate.cli import app
from assay.validate.cli.commands import COMMANDS, of
from assay.validate.cli.reference import commands, page
from typer.testing import CliRunner

from tests.cli.conftest import Run
from tests.conftest import ROOT, mostly_slow

PROBE = """
import sys
sys.argv = ["assay", *{arguments!r}]
from assay.validate.cli import app
from assay.validate.cli.commands import COMMANDS, of
try:
    app()
except SystemExit:
    pass
heavy = {{"polars", "pandera", "lark", "numpy", "scipy"}}
print("HEAVY", sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "path", mostly_slow([[], *commands(app)]), ids=lambda path: " ".join(path) or "assay"
)
def test_help_imports_nothing_heavy(path: list[str]) -> None:
    code = PROBE.format(arguments=[*path, "--help"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Usage: assay" in done.stdout
    assert "HEAVY []" in done.stderr


def test_the_page_of_commands_is_up_to_date() -> None:
    said = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert said == page(), "python -m assay.validate.cli.reference > docs/cli.md"


def test_no_arguments_show_the_help(assay: Run) -> None:
    done = assay()
    assert "Usage: assay" in done.out + done.err


def test_an_unknown_option_is_a_usage_error(assay: Run) -> None:
    assert assay("report", "--bogus", "x").code == 2


def test_a_command_alone_is_the_command_among_all() -> None:
    runner = CliRunner()
    for name in COMMANDS:
        alone = runner.invoke(of(name), [name, "--help"], prog_name="assay")
        among = runner.invoke(app, [name, "--help"], prog_name="assay")
        assert alone.output == among.output
        assert alone.output.startswith(f"Usage: assay {name} ")
        wrong = [name, "--no-such-option"]
        assert runner.invoke(of(name), wrong).output == runner.invoke(app, wrong).output


def test_one_command_imports_no_other() -> None:
    code = (
        "import sys; sys.argv = ['assay', 'machines', '--help']\n"
        "from assay.validate.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name.endswith('.cli.golden')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: assay machines" in done.stdout
    assert done.stderr.strip() == "[]"


def test_nothing_is_tidied_before_the_end() -> None:
    """What a command leaves behind is the system's to take back, in one piece."""
    code = (
        "import atexit, gc, sys; sys.argv = ['assay', '--version']\n"
        "atexit.register(lambda: print(len(gc.get_objects()), gc.get_freeze_count() > 10_000))\n"
        "from assay.validate.cli import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    left, frozen = done.stdout.splitlines()[-1].split()
    assert int(left) < 100
    assert frozen == "True"


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [name for name in COMMANDS if f"assay {name}" not in text]


def test_the_version_is_told_by_any_program(assay: Run) -> None:
    from importlib.metadata import version

    assert assay("--version").out == f"assay {version('assay')}\n"
