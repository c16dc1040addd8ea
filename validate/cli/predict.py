"""`assay predict CONFIG|PATH` and `assay calibrate PATH…`: steps that have not run yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Debug, Force, Refusal, guarded, refuse_existing, write


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
        str, typer.Option(metavar="NAME", help="The accelerator, under any name a log prints.")
    ],
    stack: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Residuals of the site, as `assay calibrate` writes."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of text.")
    ] = False,
    debug: Debug = False,
) -> Exit:
    """Step time of configurations that have not run yet: interval, breakdown, memory."""
    from assay.validate.predict import Unpredictable, lines, predictions

    if not Path(path).exists():
        raise Refusal(f"{path} cannot be opened: there is no such file")
    try:
        found = predictions(path, machine, stack)
    except Unpredictable as fault:
        raise Refusal(str(fault), Exit.NOTHING) from None
    except (LookupError, ValueError, OSError) as fault:
        raise Refusal(str(fault.args[0]) if fault.args else str(fault)) from None
    if as_json:
        typer.echo(json.dumps(found, indent=1))
    else:
        for one in found:
            typer.echo("\n".join(lines(one)))
    return Exit.OK


@guarded
def calibrate(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Logs or tables of steps that have run.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The stack to write (TOML).")
    ],
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Machine of the inputs that do not name theirs; of several, the one to fit.",
        ),
    ] = None,
    force: Force = False,
    debug: Debug = False,
) -> Exit:
    """Fit the residuals of the step model to a site's printed steps and write them as a stack."""
    from assay.model.stack import dump
    from assay.validate.predict import Unpredictable
    from assay.validate.step_calibrate import calibrate as fitted

    refuse_existing([output], force=force)
    try:
        found = fitted(paths, machine)
    except Unpredictable as fault:
        raise Refusal(str(fault), Exit.NOTHING) from None
    except LookupError as fault:
        raise Refusal(str(fault.args[0])) from None
    write(output, dump(found))
    return Exit.OK


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(predict)
    app.command()(calibrate)
