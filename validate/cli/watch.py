"""`assay watch FILE`: a summary of a log that grows."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Debug, MaxMemory, Refusal, complain, guarded
from assay.validate.cli.machines import screen_width
from assay.validate.cli.options import FormatFiles, formats

if TYPE_CHECKING:
    from assay.ingest.schema.format import Format

SHARE = 10.0
"""Reading may take one part in so many of the time: a long log is looked at less often."""

CLEAR = "\x1b[H\x1b[2J"


@guarded
def watch(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A log; it may grow or be replaced.")
    ],
    machine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Machine, where the log names none.")
    ] = None,
    interval: Annotated[
        float, typer.Option(metavar="S", min=0.05, help="Seconds between looks, at least.")
    ] = 2.0,
    updates: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Stop after so many summaries.")
    ] = None,
    format_file: FormatFiles = None,
    max_memory: MaxMemory = None,
    debug: Debug = False,
) -> Exit:
    """Show how a run does, again whenever its log changes; Ctrl-C ends it."""
    from assay.model.machines.datasheets import resolve

    try:
        name = resolve(machine) if machine else None
    except LookupError as fault:
        raise Refusal(str(fault.args[0])) from None
    known = formats(format_file)
    if not path.is_file():
        raise Refusal(f"{path}: no such file")
    seen: tuple[int, int, int] | None = None
    shown = 0
    try:
        while updates is None or shown < updates:
            now = _state(path)
            took = 0.0
            if now is not None and now != seen:
                began = time.monotonic()
                _show(path, name, known)
                # the first look imports and builds what the others find: it says nothing of theirs
                took = time.monotonic() - began if shown else 0.0
                shown += 1
                seen = now
            if updates is None or shown < updates:
                time.sleep(max(interval, SHARE * took))
    except KeyboardInterrupt:
        complain("stopped")
    return Exit.OK


def _state(path: Path) -> tuple[int, int, int] | None:
    """State of a log that changes as it grows, is truncated or replaced; None while it is away."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _show(path: Path, machine: str | None, known: tuple[Format, ...]) -> None:
    from assay.validate.report.layout import Section
    from assay.validate.report.sections import live
    from assay.validate.report.terminal import render
    from assay.validate.score.assess import assess

    report = assess([path], machine=machine, formats=known)
    if not report.outcome.reading.accounting:
        raise Refusal("; ".join(map(str, report.outcome.unreadable)) or f"{path}: nothing to read")
    section = live(report) or Section(f"{path}: no step yet")
    clear = CLEAR if sys.stdout.isatty() else ""
    sys.stdout.write(clear + render([section], width=screen_width()) + "\n")
    sys.stdout.flush()


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(watch)
