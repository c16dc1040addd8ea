"""The page of all commands: `python -m assay.validate.cli.reference > docs/cli.md`.

It is made of what `--help` prints; a test holds the page equal to it.
"""

from __future__ import annotations

import sys

import typer
from assay.validate.cli import app
from typer.testing import CliRunner

HEAD = """# Commands

Generated from `--help` by `python -m assay.validate.cli.reference > docs/cli.md`.

Standard output is data, standard error is progress and diagnostics. Exit codes, the first that
applies:

| code | means |
| ---: | --- |
| 70 | a bug of assay: one line, `--debug` shows the traceback |
| 2 | usage, or no input could be opened |
| 4 | nothing recognised, or nothing to join |
| 3 | more refused lines than `--max-bad`, or one input among many is unreadable |
| 1 | a gate failed |
| 0 | none of these |

[Exit codes and messages](messages.md) explains them one by one.

A shell completes commands, options and machines after `assay --install-completion` and a new shell;
`assay --show-completion` prints the script to be put where a site keeps such files.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, _section("assay", [])]
    parts += [_section(f"assay {' '.join(path)}", path) for path in commands(app)]
    return "\n".join(parts)


def commands(group: typer.Typer, above: tuple[str, ...] = ()) -> list[list[str]]:
    """Every command as the words that call it, groups before what they hold."""
    found = []
    for command in group.registered_commands:
        if not command.hidden:
            name = command.name or command.callback.__name__.replace("_", "-")  # type: ignore[union-attr]
            found.append([*above, name])
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            name = str(inner.name or inner.typer_instance.info.name)
            found += [[*above, name], *commands(inner.typer_instance, (*above, name))]
    return sorted(found)


def _section(title: str, path: list[str]) -> str:
    shown = CliRunner().invoke(
        app, [*path, "--help"], prog_name="assay", env={"COLUMNS": "100", "TERM": "dumb"}
    )
    text = "\n".join(line.rstrip() for line in shown.output.strip("\n").splitlines())
    return f"## `{title}`\n\n```\n{text}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
