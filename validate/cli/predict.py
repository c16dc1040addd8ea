"""`assay predict CONFIG|PATH`: steps that have not run yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Debug, Refusal, guarded, say
from assay.validate.cli.machines import OwnMachines
from assay.validate.cli.options import Given, given, machine_names


@guarded
def predict(
    path: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG|PATH",
            help="A TOML file with a configuration, or a log or table that states some.",
        ),
    ],
    machine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The accelerator, under any name a log prints.",
            autocompletion=machine_names,
        ),
    ],
    stack: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Residuals of the site, as `assay calibrate` writes."),
    ] = None,
    stated: Given = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of text.")
    ] = False,
    own_machines: OwnMachines = None,
    debug: Debug = False,
) -> Exit:
    """Step time of configurations that have not run yet: interval, breakdown, memory."""
    from assay.validate.plan.planning import Unpredictable, lines, predictions

    if not Path(path).exists():
        raise Refusal(f"{path} cannot be opened: there is no such file")
    try:
        found = predictions(path, machine, stack, given(stated))
    except Unpredictable as fault:
        raise Refusal(str(fault), Exit.NOTHING) from None
    except (LookupError, ValueError, OSError) as fault:
        raise Refusal(str(fault.args[0]) if fault.args else str(fault)) from None
    if as_json:
        typer.echo(json.dumps(found, indent=1))
    else:
        for one in found:
            say("\n".join(lines(one)))
    return Exit.OK


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(predict)
