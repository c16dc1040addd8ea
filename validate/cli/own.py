"""`--format FILE`: what commands that read inputs know beside the packaged formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.guard import Refusal

if TYPE_CHECKING:
    from assay.ingest.types import Format

FormatFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--format", metavar="FILE", help="Read lines of this format too (TOML); may be repeated."
    ),
]


def formats(files: Sequence[str] | None = None) -> tuple[Format, ...]:
    """Every format there is: packaged, installed, and those of `files`.

    Refusal where one cannot be used.
    """
    from assay.ingest.own.fault import BadFormat
    from assay.ingest.own.installed import known

    try:
        return known(tuple(files or ()))
    except BadFormat as fault:
        raise Refusal(str(fault)) from None
