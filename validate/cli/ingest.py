"""`assay ingest PATH… -o DIR`: text to frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit, first
from assay.validate.cli.guard import Debug, Force, MaxMemory, Refusal, complain, guarded
from assay.validate.cli.inputs import Jobs, MaxBad, Paths, judge, limit
from assay.validate.cli.options import FormatFiles, Redact, given, redactor
from assay.validate.cli.options import formats as known_formats
from assay.validate.cli.progress import progress

if TYPE_CHECKING:
    import polars as pl
    from assay.ingest.inputs.parts import Ingested, Share
    from assay.ingest.inputs.workers import Engine
    from assay.ingest.schema.reading import Accounting

SHOWN = 20
"""Refusals that are printed; all of them are in the quarantine."""


@guarded
def ingest(
    paths: Paths,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write; new or ours.")
    ],
    jobs: Jobs = None,
    max_memory: MaxMemory = None,
    share: Annotated[
        str | None,
        typer.Option(metavar="K/N", help="Ingest the K-th of N shares, as a job array does."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="dask=ADDRESS", help="Read on a Dask cluster (extra: assay[dask])."),
    ] = None,
    max_bad: MaxBad = "1%",
    format_file: FormatFiles = None,
    stated: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="State a configuration value where none is printed. May be repeated.",
        ),
    ] = None,
    redact: Redact = False,
    force: Force = False,
    debug: Debug = False,
) -> Exit:
    """Read inputs into Parquet: a file per frame, statements, cases, provenance, quarantine.

    An ingest that was interrupted goes on where it was.
    """
    from assay.ingest.inputs.dask_engine import NoEngine
    from assay.ingest.inputs.parts import Another, keep
    from assay.ingest.inputs.parts import ingest as ingest_parts
    from assay.ingest.inputs.read import read, recipe
    from assay.ingest.store.disk import disk_is_full
    from assay.ingest.store.load import Unusable

    allowed = limit(max_bad)
    mine = _share(share)
    if redact and share:
        raise Refusal("--redact needs all inputs at once: pseudonyms are the same throughout")
    _check_output(output, force=force)
    how = recipe(given(stated), known_formats(format_file))
    try:
        with progress(paths) as bar:
            if redact:
                outcome = read(paths, formats=how.formats, workers=jobs, watch=bar)
                how = replace(how, formats=outcome.reading.formats)
                done = keep(redactor(outcome, paths).redacted(outcome), output, how)
            else:
                done = ingest_parts(
                    paths, output, how, engine=_engine(engine, jobs), share=mine, watch=bar
                )
    except (OSError, Unusable, NoEngine, Another) as fault:
        if disk_is_full(fault):
            raise
        raise Refusal(str(fault)) from None
    _say(done, output)
    return first(judge(done.outcome, paths, allowed))


def _engine(text: str | None, jobs: int | None) -> Engine:
    from assay.ingest.inputs.dask_engine import cluster
    from assay.ingest.inputs.workers import processes

    if text is None:
        return processes(jobs)
    kind, _, address = text.partition("=")
    if kind != "dask" or not address:
        raise Refusal(f"--engine is dask=ADDRESS, such as dask=tcp://login1:8786, not {text!r}")
    return cluster(address)


def _share(text: str | None) -> Share:
    from assay.ingest.inputs.parts import ALL, Share

    if text is None:
        return ALL
    number, _, tasks = text.partition("/")
    if not (number.isdecimal() and tasks.isdecimal() and 1 <= int(number) <= int(tasks)):
        raise Refusal(f"--share is K/N with K from 1 to N, not {text!r}")
    return Share(int(number), int(tasks))


def _check_output(output: Path, *, force: bool) -> None:
    from assay.ingest.store.write import MANIFEST, is_saved

    if output.exists() and not output.is_dir():
        raise Refusal(f"{output} is a file, and a folder is needed")
    finished = (output / MANIFEST).is_file()
    unfinished = is_saved(output) and not finished
    if output.exists() and any(output.iterdir()) and not (unfinished or force):
        raise Refusal(f"{output} is not empty; --force replaces an earlier ingest")


def _say(done: Ingested, output: Path) -> None:
    refusals = _refusals(done)
    for fault in refusals[:SHOWN].iter_rows():
        complain("{}:{}:{}: {}: {}".format(*fault))
    if refusals.height > SHOWN:
        rest = refusals.height - SHOWN
        complain(f"… and {rest:,} more refusals, all in {output / 'quarantine.parquet'}")
    left = [text for each in done.outcome.reading.accounting for text in _left(each)]
    for text in left[:SHOWN]:
        complain(text)
    if len(left) > SHOWN:
        complain(f"… and {len(left) - SHOWN:,} more tables not understood, or not wholly")
    empty, nothing = done.outcome.empty, done.outcome.unrecognised
    for name in nothing[:SHOWN]:
        complain(f"{name}: {'empty' if name in empty else 'no format knows a line of it'}")
    if len(nothing) > SHOWN:
        complain(f"… and {len(nothing) - SHOWN:,} more inputs of which no format knows a line")
    if done.resumed:
        complain(f"{done.resumed:,} input(s) had been read before and are unchanged")
    for name, rows in done.rows.items():
        typer.echo(f"{output / name}.parquet\t{rows}")
    if done.rows:
        typer.echo(f"{output / 'quarantine.parquet'}\t{refusals.height}")


def _left(account: Accounting) -> list[str]:
    """Sentences on what was not understood of the tables of an input."""
    from assay.ingest.schema.reading import table_left

    return [text for note in account.tables if (text := table_left(account.source, note))]


def _refusals(done: Ingested) -> pl.DataFrame:
    import polars as pl
    from assay.ingest.store.write import QUARANTINE

    said = ["source", "line", "column", "code", "message"]
    found = [
        pl.read_parquet(folder / "quarantine.parquet").filter("refused").select(said)
        for folder in done.folders
    ]
    return pl.concat([pl.DataFrame(schema=QUARANTINE).select(said), *found])


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ingest)
