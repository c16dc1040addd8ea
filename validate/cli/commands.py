"""The commands of `assay`, put together: all of them, or the one that is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated

import typer

COMMANDS = (
    "report", "check", "state", "ingest", "export", "golden", "predict", "calibrate", "machines",
    "formats", "diff", "watch",
)  # fmt: skip
"""In the order of the help; each is a module of that name, which adds what is called so."""


def of(*names: str) -> typer.Typer:
    """The program with the commands of those names."""
    made = typer.Typer(
        name="assay",
        help="Read the numbers that training jobs and performance models print, and say how far "
        "apart they are.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    made.callback()(_group)
    for name in names:
        import_module(f"assay.validate.cli.{name}").register(made)
    return made


def _group(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version of assay, and end.", is_eager=True,
                           callback=lambda asked: _version() if asked else None)
    ] = False,
) -> None:  # fmt: skip
    """Options before any command. A program of one command would not take its name without them."""


def _version() -> None:
    from importlib.metadata import version

    typer.echo(f"assay {version('assay')}")
    raise typer.Exit


@cache
def whole() -> typer.Typer:
    """The program with all of them."""
    return of(*COMMANDS)
