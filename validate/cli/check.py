"""`assay check PATH…`: contradictions in the numbers themselves."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit, first
from assay.validate.cli.guard import (
    Debug,
    Force,
    MaxMemory,
    Refusal,
    complain,
    guarded,
    refuse_existing,
    write,
)
from assay.validate.cli.inputs import Jobs, Machine, MaxBad, Paths, judge, limit
from assay.validate.cli.machines import OwnMachines, coloured, screen_width
from assay.validate.cli.options import FormatFiles, Given, Redact, formats, given, redactor
from assay.validate.cli.progress import progress

if TYPE_CHECKING:
    from assay.ingest.schema.format import Format
    from assay.ingest.schema.reading import Outcome
    from assay.validate.laws.exemptions import Exemption
    from assay.validate.laws.finding import Finding


class Severity(StrEnum):
    """Least severity that is shown, or that makes the command fail."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@guarded
def check(
    paths: Paths,
    severity: Annotated[
        Severity, typer.Option(help="Show findings this grave or graver, and fail on them.")
    ] = Severity.WARNING,
    law: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Look for breaches of this law only; repeatable."),
    ] = None,
    ignore: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Known findings with their reasons (TOML)."),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write what is shown as a file for --ignore, and end with 0."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list instead of text.")
    ] = False,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0 as well.")
    ] = None,
    machine: Machine = None,
    stated: Given = None,
    jobs: Jobs = None,
    max_memory: MaxMemory = None,
    max_bad: MaxBad = "1%",
    format_file: FormatFiles = None,
    redact: Redact = False,
    force: Force = False,
    own_machines: OwnMachines = None,
    debug: Debug = False,
) -> Exit:
    """Say where printed numbers contradict their own document or arithmetic."""
    allowed = limit(max_bad)
    refuse_existing([path for path in (write_baseline, sarif) if path], force=force)
    known = _known(ignore)
    outcome, found = _findings(
        paths, machine, given(stated), tuple(law or ()), formats(format_file), jobs
    )
    if redact:
        hidden = redactor(outcome, found, paths)
        found, known = hidden.redacted(found), hidden.redacted(known)
    found, covering = _left(found, known, ignore)
    from assay.validate.laws.finding import at_least

    shown = at_least(found, severity.value)
    if write_baseline:
        _baseline(write_baseline, shown, covering)
    was_read = any(frame.height for frame in outcome.reading.frames.values())
    _write(shown, sarif, as_json=as_json, was_read=was_read)
    codes = judge(outcome, paths, allowed)
    if shown and write_baseline is None:
        codes.append(Exit.GATE)
    return first(codes)


def _known(path: Path | None) -> tuple[Exemption, ...]:
    from assay.validate.laws.exemptions import Unreadable, load

    try:
        return load(path) if path else ()
    except Unreadable as fault:
        raise Refusal(str(fault)) from None


def _findings(
    paths: list[str],
    machine: str | None,
    said: dict[str, str],
    laws: tuple[str, ...],
    known_formats: tuple[Format, ...],
    workers: int | None,
) -> tuple[Outcome, list[Finding]]:
    from assay.ingest.inputs.read import read
    from assay.model.machines.datasheets import resolve
    from assay.validate.arithmetic.implied import Arithmetic
    from assay.validate.cases.cases import cases
    from assay.validate.cases.observe import about
    from assay.validate.cases.solved_shape import with_shapes
    from assay.validate.laws.laws import findings

    try:
        name = resolve(machine) if machine else None
        with progress(paths) as bar:
            stated = {"gpu": name} if name else {}
            outcome = read(
                paths, stated=stated, formats=known_formats, workers=workers, watch=bar, long=True
            )
        frames = about(outcome.reading.formats)
        known = with_shapes(cases(outcome.reading, frames, machine=name, given=said))
        return outcome, findings(outcome.reading, Arithmetic.of(known), laws=laws)
    except LookupError as fault:
        raise Refusal(str(fault.args[0])) from None


def _left(
    found: list[Finding], known: tuple[Exemption, ...], path: Path | None
) -> tuple[list[Finding], list[Exemption]]:
    """The findings no entry covers, and the entries that cover one; the others are named."""
    from assay.validate.laws.exemptions import without

    left, unused = without(found, known)
    for each in unused:
        complain(f"{path}: {each.law} at {each.file}:{each.line} is not found any more")
    return left, [each for each in known if each not in unused]


def _baseline(path: Path, shown: list[Finding], covering: list[Exemption]) -> None:
    """Write the shown findings after those that --ignore covered, which keep their reasons."""
    from assay.validate.laws import exemptions

    write(path, exemptions.dumps([*covering, *map(exemptions.exempted, shown)]))


def _write(shown: list[Finding], sarif: Path | None, *, as_json: bool, was_read: bool) -> None:
    """Write what is shown; that nothing was found is said only of what was read."""
    from assay.validate.report import contradictions
    from assay.validate.report import sarif as sarif_writer

    if sarif:
        write(sarif, sarif_writer.dumps(shown))
    if as_json:
        sys.stdout.write(contradictions.dumps(shown))
    else:
        width = screen_width() if sys.stdout.isatty() else None
        sys.stdout.write(contradictions.render(shown, colour=coloured(), width=width))
    sys.stdout.flush()
    if shown or was_read:
        complain(contradictions.summary(shown))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)
