"""`--redact`: what a command writes, stderr included, says nothing of who, where and which key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from assay.validate.cli.guard import speak_through

if TYPE_CHECKING:
    from assay.ingest.redact import Redactor

Redact = Annotated[
    bool,
    typer.Option(
        "--redact", help="Leave out names of users and hosts, addresses, home paths and keys."
    ),
]


def redactor(*values: Any) -> Redactor:
    """What stands for the names in all that will be written; stderr goes through it from now on."""
    from assay.ingest.redact import Redactor

    made = Redactor(*values)
    speak_through(made.text)
    return made
