"""`assay export PATH… -o FILE`: frames for other tools, as CSV, NDJSON or a DuckDB file."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit, first
from assay.validate.cli.guard import Debug, Force, MaxMemory, Refusal, guarded, refuse_existing
from assay.validate.cli.inputs import Jobs, MaxBad, judge, limit
from assay.validate.cli.options import FormatFiles, Redact, formats, redactor
from assay.validate.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from assay.ingest.schema.format import Format


class To(StrEnum):
    """Kinds of file that can be written."""

    CSV = "csv"
    NDJSON = "ndjson"
    DUCKDB = "duckdb"


@guarded
def export(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="Files, folders, globs, or what `ingest` wrote."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|DIR",
            help="FILE.duckdb, FILE.csv, FILE.ndjson, a folder, or - for stdout.",
        ),
    ],
    to: Annotated[To | None, typer.Option(help="What to write into a folder or to stdout.")] = None,
    frame: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="This frame only; may be repeated.")
    ] = None,
    max_bad: MaxBad = "1%",
    format_file: FormatFiles = None,
    jobs: Jobs = None,
    max_memory: MaxMemory = None,
    redact: Redact = False,
    force: Force = False,
    debug: Debug = False,
) -> Exit:
    """Write what is read for other tools: CSV, NDJSON, or a DuckDB file with a table per frame."""
    allowed = limit(max_bad)
    kind = _kind(output, to)
    if not output.is_dir():
        refuse_existing([output], force=force)
    from assay.ingest.inputs.read import read
    from assay.validate.export.writers import tables

    with progress(paths) as bar:
        outcome = read(paths, formats=formats(format_file), workers=jobs, watch=bar)
    reading = outcome.reading
    if redact:
        reading = redactor(outcome, paths).redacted(reading)
    codes = judge(outcome, paths, allowed)
    if Exit.USAGE in codes or Exit.NOTHING in codes:
        return first(codes)
    chosen = _chosen(tables(reading), frame)
    _write(chosen, output, kind, reading.formats, force=force)
    return first(codes)


def _kind(output: Path, to: To | None) -> To:
    """Kind of file to write: as asked, or by the name of the output."""
    from assay.validate.export.writers import SUFFIXES

    named = SUFFIXES.get(output.suffix) if not output.is_dir() else None
    if to is None and named is None:
        raise Refusal(f"{output}: say what to write, --to csv, ndjson or duckdb")
    if to is not None and named is not None and to.value != named:
        raise Refusal(f"{output} names a {named} file, and --to asks for {to.value}")
    if to is To.DUCKDB and (output.is_dir() or str(output) == "-"):
        raise Refusal("a DuckDB database is one file: -o FILE.duckdb")
    return to or To(named or "")


def _chosen(found: dict[str, pl.DataFrame], asked: list[str] | None) -> dict[str, pl.DataFrame]:
    from assay.ingest.reference.json_schema import frames

    for name in asked or []:
        if name not in found:
            here = ", ".join(found)
            why = "holds no row here" if name in frames() else "is no frame"
            raise Refusal(f"frame {name!r} {why}; there are {here}")
    return {name: found[name] for name in asked} if asked else found


def _write(
    frames: dict[str, pl.DataFrame],
    output: Path,
    kind: To,
    known: Sequence[Format],
    *,
    force: bool,
) -> None:
    from assay.validate.export.writers import (
        SUFFIXES,
        WRITERS,
        Missing,
        beside,
        write_duckdb,
        write_folder,
    )

    try:
        if kind is To.DUCKDB:
            write_duckdb(frames, output, known)
        elif str(output) == "-":
            sys.stdout.write(WRITERS[kind.value](_only(frames)))
        elif output.suffix in SUFFIXES and not output.is_dir():
            text = WRITERS[kind.value](_only(frames))
            with beside(output) as part:
                part.write_text(text, encoding="utf-8", newline="")
        else:
            files = [output / f"{name}.{kind.value}" for name in frames]
            refuse_existing(files, force=force)
            for path in write_folder(frames, output, kind.value):
                typer.echo(path)
    except Missing as fault:
        raise Refusal(str(fault)) from None
    except OSError as fault:
        raise Refusal(f"{output} cannot be written: {fault.strerror or fault}") from None


def _only(frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The one frame that fits into one file: the one that was asked for, or the one there is."""
    from assay.ingest.reference.json_schema import BESIDE

    main = [name for name in frames if name not in BESIDE] or list(frames)
    if len(main) > 1:
        raise Refusal(f"one file holds one frame: choose with --frame from {', '.join(frames)}, "
                      "or give a folder")  # fmt: skip
    return frames[main[0]]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(export)
