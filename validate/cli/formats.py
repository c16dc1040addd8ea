"""`assay formats [NAME] | new | test`: what can be read, and formats of one's own.

A name behind `assay formats` is looked up as `assay formats show NAME` does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import (
    Debug,
    Force,
    Refusal,
    complain,
    guarded,
    refuse_existing,
    write,
)
from assay.validate.cli.machines import coloured, screen_width
from assay.validate.cli.options import FormatFiles
from assay.validate.cli.options import formats as known_formats
from typer.core import TyperGroup

if TYPE_CHECKING:
    from assay.validate.report.layout import Section

STDIN = "-"


class _OrName(TyperGroup):
    """A group in which a word that is no command is the name of a format."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first word, or `show` of it."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["show", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="formats",
    cls=_OrName,
    help="List the formats that can be read, or the columns of one; describe one's own.",
    invoke_without_command=True,
)


@app.callback()
def every(context: typer.Context) -> None:
    """List the formats that can be read, or the columns of one; describe one's own."""
    if context.invoked_subcommand is None:
        _overview(debug=False)


@guarded
def _overview(*, debug: bool) -> Exit:
    from assay.ingest.reference.describe import summary
    from assay.validate.report.layout import Column, Section, Table

    heads = [Column("format"), Column("numbers are"), Column("reads")]
    rows = [[fmt.name, fmt.origin, summary(fmt)] for fmt in known_formats()]
    ends = [
        "`assay formats NAME` lists the columns of one, with unit, kind, spellings and checks.",
        "`assay formats new` describes one that is not among them, from a pasted line.",
    ]
    _print([Section("Formats", [Table(heads, rows), *ends])])
    return Exit.OK


@app.command()
@guarded
def show(
    name: Annotated[str, typer.Argument(help="One format, column by column.")],
    format_file: FormatFiles = None,
    debug: Debug = False,
) -> Exit:
    """List the columns of one format."""
    from assay.ingest.formats.own.fault import nearest
    from assay.ingest.reference.describe import columns, summary
    from assay.validate.report.layout import Column, Section, Table

    known = {fmt.name: fmt for fmt in known_formats(format_file)}
    if name not in known:
        raise Refusal(f"{name!r} is no format{nearest(name, [*known, 'new', 'test'])}")
    rows = [
        [c.column, c.type, c.unit, c.kind, _few(c.spelled), c.check, c.meaning]
        for c in columns(known[name])
    ]
    heads = [Column("column"), Column("type"), Column("unit"), Column("kind"),
             Column("printed as", flexible=True), Column("check"),
             Column("meaning", flexible=True)]  # fmt: skip
    _print([Section(f"{name}: {summary(known[name])}", [Table(heads, rows)])])
    return Exit.OK


def _few(labels: tuple[str, ...], most: int = 4) -> str:
    return ", ".join(labels[:most]) + (", …" if len(labels) > most else "")


@app.command()
@guarded
def new(
    line: Annotated[
        str | None,
        typer.Argument(
            metavar="LINE", help="A pasted line, a log or a table in a file, or - for stdin."
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the format: a-z, 0-9 and _.")
    ] = "my_format",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the description to FILE.toml."),
    ] = None,
    force: Force = False,
    debug: Debug = False,
) -> Exit:
    """Guess a format from pasted lines or a table; print its description (TOML), which passes its
    test."""
    from assay.ingest.formats.own.draft import draft, guessed
    from assay.ingest.formats.own.fault import BadFormat
    from assay.ingest.formats.own.recognised import are_steps, recognised
    from assay.ingest.formats.own.table_draft import table_draft

    refuse_existing([output] if output else [], force=force)
    lines = _pasted(line)
    try:
        drawn = None if are_steps(lines) else table_draft(lines, name)
    except BadFormat as fault:
        raise Refusal(str(fault)) from None
    if drawn is not None:
        _give(drawn, output, "one table")
        return Exit.OK
    found = guessed(recognised(lines))
    if found is None:
        message = "no labelled numbers are found in what was pasted; a grammar can read other lines"
        raise Refusal(f"{message} (docs/own-formats.md)", Exit.NOTHING)
    try:
        text = draft(found, name)
    except BadFormat as fault:
        raise Refusal(str(fault)) from None
    _give(text, output, f"{len(found.columns)} columns, from {len(found.lines)} sample line(s)")
    for other in _claimants("\n".join(found.lines)):
        complain(f"{other} claims such lines already: used together, neither is believed")
    return Exit.OK


def _give(text: str, output: Path | None, made: str) -> None:
    """Print a description, or write it and say what it was made of."""
    if output is None:
        typer.echo(text, nl=False)
    else:
        write(output, text)
        complain(f"{output}: {made}")


def _pasted(line: str | None) -> list[str]:
    if line is None or line == STDIN:
        if line is None and sys.stdin.isatty():
            complain("paste one or more lines, then end with Ctrl-D")
        return sys.stdin.buffer.read().decode("utf-8", "replace").splitlines()
    path = Path(line)
    try:
        if not path.is_file():
            return line.splitlines()
        with path.open("rb") as file:
            return file.read(2**20).decode("utf-8", "replace").splitlines()
    except OSError as fault:
        if "=" in line or " " in line:  # too long for a file name: a pasted line
            return line.splitlines()
        raise Refusal(f"{line} cannot be read: {fault.strerror or fault}") from None


def _claimants(text: str) -> list[str]:
    from assay.ingest.formats.own.trial import claimants

    return claimants(text, known_formats())


@app.command("test")
@guarded
def trial_of(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A format's description (TOML).")],
    logs: Annotated[
        list[str] | None, typer.Argument(metavar="LOG", help="Logs to try it on.")
    ] = None,
    debug: Debug = False,
) -> Exit:
    """Read a format's samples and compare; then say what it reads in LOGs, and what not."""
    from assay.ingest.formats.own.fault import BadFormat
    from assay.ingest.formats.own.trial import Trial, described, tried
    from assay.validate.report.trial_section import samples, trial

    try:
        fmt, faults = described(file)
    except BadFormat as fault:
        raise Refusal(str(fault)) from None
    _print([samples(fmt, len(faults))])
    for each in faults:
        complain(str(each))
    others = [each for each in known_formats() if each.name != fmt.name]
    worst = Exit.GATE if faults else Exit.OK
    for log in logs or ():
        found = tried(fmt, log, others)
        if not isinstance(found, Trial):
            raise Refusal(str(found))
        _print(trial(found))
        if not found.rows and worst is Exit.OK:
            worst = Exit.NOTHING
    return worst


def _print(sections: list[Section]) -> None:
    from assay.validate.report.terminal import render

    typer.echo(render(sections, width=screen_width(), colour=coloured()), nl=False)


def register(parent: typer.Typer) -> None:
    """Add the group of commands."""
    parent.add_typer(app)
