"""`assay state PATH`: what was understood of an input, as a side file to correct."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Debug, Force, Refusal, guarded, refuse_existing, write
from assay.validate.cli.inputs import Machine
from assay.validate.cli.options import FormatFiles, Given, formats, given


@guarded
def state(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A log, a table, a document.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.toml", help="Write it there instead."),
    ] = None,
    machine: Machine = None,
    stated: Given = None,
    format_file: FormatFiles = None,
    force: Force = False,
    debug: Debug = False,
) -> Exit:
    """Write what was understood of a configuration, and what is missing, as a side file."""
    from assay.ingest.inputs.paths import shown
    from assay.model.machines.datasheets import resolve
    from assay.validate.plan.state_file import state as text_of
    from assay.validate.score.assess import assess

    refuse_existing([output] if output else [], force=force)
    if not Path(path).is_file():
        raise Refusal(f"{path} cannot be opened: it is no file")
    try:
        found = assess(
            [path],
            machine=resolve(machine) if machine else None,
            given=given(stated),
            models=["constant_mfu"],
            formats=formats(format_file),
        )
        text = text_of(found.cases, shown(path))
    except LookupError as fault:
        if type(fault) is not LookupError:
            raise
        raise Refusal(str(fault.args[0]), Exit.NOTHING) from None
    if output:
        write(output, text)
    else:
        typer.echo(text, nl=False)
    return Exit.OK


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(state)
