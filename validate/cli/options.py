"""Options that commands share: `--format`, `--redact`, and machines that a shell completes.

Completion runs on every TAB, so nothing heavy is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from assay.validate.cli.guard import Refusal, speak_through

if TYPE_CHECKING:
    from assay.ingest.redact.redact import Redactor
    from assay.ingest.schema.format import Format

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
    from assay.ingest.formats.own.fault import BadFormat
    from assay.ingest.formats.own.installed import known

    try:
        return known(tuple(files or ()))
    except BadFormat as fault:
        raise Refusal(str(fault)) from None


Given = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE",
        help="State a configuration value of every run; it overrules what is printed. May be "
        "repeated.",
    ),
]  # fmt: skip


def given(pairs: Sequence[str] | None) -> dict[str, str]:
    """Values that `--set` states, by configuration column. Raises Refusal for unknown pairs."""
    if not pairs:
        return {}
    from assay.ingest.inputs.paths import named
    from assay.validate.cases.programs import PROGRAM
    from assay.validate.cases.stated import values

    said = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise Refusal(f"--set is KEY=VALUE, such as seq_len=2048, not {pair!r}")
        if key.strip() in said:
            raise Refusal(f"--set states {key.strip()} twice")
        said[key.strip()] = value.strip()
    try:
        found = named(said, PROGRAM)
        values(found)
    except ValueError as fault:
        raise Refusal(f"--set: {fault}") from None
    return found


Redact = Annotated[
    bool,
    typer.Option(
        "--redact", help="Leave out names of users and hosts, addresses, home paths and keys."
    ),
]


def redactor(*values: Any) -> Redactor:
    """Redactor of all that will be written; stderr goes through it from now on."""
    from assay.ingest.redact.redact import Redactor

    made = Redactor(*values)
    speak_through(made.text)
    return made


def machine_names(begun: str) -> list[str]:
    """Known machines whose names begin like that."""
    from assay.model.machines.datasheets import machines

    return [name for name in machines() if name.startswith(begun)]
