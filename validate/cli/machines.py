"""`assay machines [NAME]`: the accelerators that assay knows, and where each figure stands."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Debug, Refusal, guarded
from assay.validate.cli.options import machine_names


def _learnt(path: Path | None) -> Path | None:
    from assay.model.machines.datasheets import learn

    try:
        learn(path)
    except (OSError, ValueError) as fault:
        raise typer.BadParameter(str(fault)) from None
    return path


OwnMachines = Annotated[
    Path | None,
    typer.Option(
        "--machines",
        metavar="FILE",
        callback=_learnt,
        help="Know the accelerators of this file too (TOML, in the form of machines.toml).",
    ),
]


@guarded
def machines(
    name: Annotated[
        str | None,
        typer.Argument(
            help="One machine, under any name a log prints.", autocompletion=machine_names
        ),
    ] = None,
    own: OwnMachines = None,
    debug: Debug = False,
) -> Exit:
    """List known machines, or the figures of one with their sources."""
    from assay.model.machines.datasheets import machine
    from assay.validate.report import machine_pages as pages
    from assay.validate.report.terminal import render

    if name is None:
        sections = [pages.overview()]
    else:
        try:
            sections = [pages.page(machine(name))]
        except LookupError as fault:
            raise Refusal(str(fault.args[0])) from None
    typer.echo(render(sections, width=screen_width(), colour=coloured()), nl=False)
    return Exit.OK


def screen_width() -> int:
    """Columns of the terminal, or COLUMNS; 120 where the output is none."""
    return shutil.get_terminal_size((120, 24)).columns


def coloured() -> bool:
    """Whether escape sequences belong into the output: a terminal, and no NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(machines)
