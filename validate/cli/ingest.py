"""`assay ingest PATH… -o DIR` and `assay formats [NAME]`: text to frames, and what can be read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit, first
from assay.validate.cli.guard import Debug, Force, Refusal, complain, guarded
from assay.validate.cli.inputs import judge, limit
from assay.validate.cli.machines import coloured, screen_width
from assay.validate.cli.redaction import Redact, redactor

if TYPE_CHECKING:
    from assay.ingest.read import Outcome

_EVERY = "`assay formats NAME` lists the columns of one, with unit, kind, spellings and checks."
SHOWN = 20
"""Refusals that are printed; all of them are in the quarantine."""


@guarded
def ingest(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files, folders or globs; - is stdin.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write; new or ours.")
    ],
    max_bad: Annotated[
        str, typer.Option(metavar="N|P%", help="Refused lines that are still acceptable.")
    ] = "1%",
    redact: Redact = False,
    force: Force = False,
    debug: Debug = False,
) -> Exit:
    """Read inputs into Parquet: a file per frame, provenance, quarantine, manifest."""
    from assay.ingest.read import read
    from assay.ingest.write import save

    allowed = limit(max_bad)
    if output.exists() and not output.is_dir():
        raise Refusal(f"{output} is a file, and a folder is needed")
    if output.exists() and any(output.iterdir()) and not force:
        raise Refusal(f"{output} is not empty; --force replaces an earlier ingest")
    outcome = read(paths)
    shown = redactor(outcome, paths).redacted(outcome) if redact else outcome
    codes = judge(outcome, paths, allowed)
    if outcome.reading.accounting:
        try:
            save(shown.reading, output)
        except OSError as fault:
            raise Refusal(str(fault)) from None
        _say(shown, output)
    return first(codes)


def _say(outcome: Outcome, output: Path) -> None:
    reading = outcome.reading
    for fault in reading.refused[:SHOWN]:
        complain(str(fault))
    if len(reading.refused) > SHOWN:
        rest = len(reading.refused) - SHOWN
        complain(f"… and {rest:,} more refusals, all in {output / 'quarantine.parquet'}")
    for name in outcome.unrecognised:
        complain(f"{name}: no format knows a line of it")
    for name, frame in reading.frames.items():
        typer.echo(f"{output / name}.parquet\t{frame.height}")
    typer.echo(f"{output / 'quarantine.parquet'}\t{len(reading.refused)}")


@guarded
def formats(
    name: Annotated[str | None, typer.Argument(help="One format, column by column.")] = None,
    debug: Debug = False,
) -> Exit:
    """List the formats that can be read, or the columns of one."""
    from assay.ingest.describe import columns, summary
    from assay.ingest.formats import FORMATS
    from assay.validate.report.layout import Column, Section, Table
    from assay.validate.report.terminal import render

    known = {fmt.name: fmt for fmt in FORMATS}
    if name is not None and name not in known:
        raise Refusal(f"{name!r} is no format; those are {', '.join(known)}")
    if name is None:
        heads = [Column("format"), Column("numbers are"), Column("reads")]
        rows = [[fmt.name, fmt.origin, summary(fmt)] for fmt in FORMATS]
        section = Section("Formats", [Table(heads, rows), _EVERY])
    else:
        rows = [
            [c.column, c.type, c.unit, c.kind, _few(c.spelled), c.check, c.meaning]
            for c in columns(known[name])
        ]
        heads = [Column("column"), Column("type"), Column("unit"), Column("kind"),
                 Column("printed as", flexible=True), Column("check"),
                 Column("meaning", flexible=True)]  # fmt: skip
        section = Section(f"{name}: {summary(known[name])}", [Table(heads, rows)])
    typer.echo(render([section], width=screen_width(), colour=coloured()), nl=False)
    return Exit.OK


def _few(labels: tuple[str, ...], most: int = 4) -> str:
    return ", ".join(labels[:most]) + (", …" if len(labels) > most else "")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(ingest)
    app.command()(formats)
