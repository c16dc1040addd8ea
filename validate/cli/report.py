"""`assay report PATH…`: the main job."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli import gate_options
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
from assay.validate.cli.inputs import Jobs, Limit, Machine, MaxBad, judge, limit
from assay.validate.cli.machines import OwnMachines, coloured, screen_width
from assay.validate.cli.options import FormatFiles, Given, Redact, formats, given, redactor
from assay.validate.cli.progress import progress

if TYPE_CHECKING:
    from assay.ingest.schema.format import Format
    from assay.model.stacks.stack import Stack
    from assay.validate.score.assess import Report

WRITERS = (".html", ".md", ".json", ".parquet")

SORTS = ("error", "step-time", "mfu", "memory", "steps")
"""Orders of many runs on the first screen; a test holds them to `sections.ORDERS`."""


@guarded
def report(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files, folders or globs; - is stdin."),
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write FILE.html, .md or .json as well, or the runs as FILE.parquet.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of text.")
    ] = False,
    machine: Machine = None,
    stated: Given = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Score this model only; may be repeated."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Score these predictions too (CSV or Parquet)."),
    ] = None,
    stack: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Calibrated kernels, as `assay calibrate` writes them."),
    ] = None,
    keep_contradicted: Annotated[
        bool, typer.Option("--keep-contradicted", help="Score rows that contradict themselves.")
    ] = False,
    apply_corrections: Annotated[
        bool,
        typer.Option("--apply-corrections", help="Score them with what the arithmetic implies."),
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print every section, not the first screen.")
    ] = False,
    sort: Annotated[
        str, typer.Option(metavar="BY", help=f"Order of many runs: {', '.join(SORTS)}.")
    ] = "error",
    all_rows: Annotated[
        bool, typer.Option("--all-rows", help="Score steps that have not settled too.")
    ] = False,
    rows: Annotated[
        bool,
        typer.Option("--rows", help="Hold every row of long inputs, and write them to JSON too."),
    ] = False,
    jobs: Jobs = None,
    max_memory: MaxMemory = None,
    max_bad: MaxBad = "1%",
    format_file: FormatFiles = None,
    max_mape: gate_options.MaxMape = None,
    max_bias: gate_options.MaxBias = None,
    require: gate_options.Required = None,
    baseline: gate_options.Baseline = None,
    junit: gate_options.Junit = None,
    redact: Redact = False,
    example: Annotated[
        bool, typer.Option("--example", help="Report on the samples that come with assay.")
    ] = False,
    force: Force = False,
    own_machines: OwnMachines = None,
    debug: Debug = False,
) -> Exit:
    """Compare what was printed with what models predict, and say how far apart they are."""
    paths = _inputs(paths or [], example=example)
    outputs = list(output or [])
    _check_order(sort)
    allowed = limit(max_bad)
    _check_outputs(outputs, force=force)
    refuse_existing([junit] if junit else [], force=force)
    asked = gate_options.gates(max_mape, max_bias, require, baseline, junit)
    found = _assess(
        paths, machine, given(stated), list(model or []), predictions, stack,
        formats(format_file),
        workers=jobs, keep_contradicted=keep_contradicted,
        apply_corrections=apply_corrections, all_rows=all_rows,
        # what is told of single rows, by the caller or by arithmetic, needs each of them
        every_row=rows or predictions is not None or apply_corrections,
    )  # fmt: skip
    command = _command(
        paths, machine=machine, set=stated, model=model, predictions=predictions, stack=stack,
        format=format_file, keep_contradicted=keep_contradicted,
        apply_corrections=apply_corrections, all_rows=all_rows, rows=rows,
    )  # fmt: skip
    shown = found
    if redact:
        hidden = redactor(found, paths)
        shown, asked = hidden.redacted(found), hidden.redacted(asked)
        shown = replace(shown, hide=hidden.text)
        command = [hidden.text(word) for word in command]
    _write(shown, outputs, command, as_json=as_json, order=None if full else sort)
    return first(
        [settle(found, paths, allowed), gate_options.settle(shown, asked, list(model or []))]
    )


def _inputs(paths: list[str], *, example: bool) -> list[str]:
    from assay.validate.samples import samples

    if not (paths or example):
        raise Refusal("report on what? Give a PATH, or --example for the samples of assay")
    return [*paths, *(samples() if example else [])]


def _check_order(order: str) -> None:
    if order not in SORTS:
        raise Refusal(f"--sort {order}: runs are put in order by {', '.join(SORTS)}")


def _command(paths: list[str], **options: object) -> list[str]:
    """The words that make the same report again: inputs, and the options that change figures."""
    words = ["assay", "report", *paths]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif isinstance(value, list):
            words += [word for each in value for word in (option, str(each))]
        elif value:
            words += [option, str(value)]
    return words


def _check_outputs(outputs: list[Path], *, force: bool) -> None:
    for path in outputs:
        if path.suffix not in WRITERS:
            raise Refusal(f"{path}: a report is written as {', '.join(WRITERS)}")
    refuse_existing(outputs, force=force)


def _assess(
    paths: list[str],
    machine: str | None,
    stated: dict[str, str],
    models: list[str],
    predictions: Path | None,
    stack: Path | None,
    known: tuple[Format, ...],
    *,
    workers: int | None,
    keep_contradicted: bool,
    apply_corrections: bool,
    all_rows: bool,
    every_row: bool,
) -> Report:
    from assay.model.machines.datasheets import resolve
    from assay.validate.predict.predictions import Unjoinable
    from assay.validate.score.assess import assess

    try:
        name = resolve(machine) if machine else None
        with progress(paths) as bar:
            return assess(
                paths,
                machine=name,
                given=stated,
                models=models,
                predictions=predictions,
                formats=known,
                stack=_stack(stack),
                workers=workers,
                watch=bar,
                keep_contradicted=keep_contradicted,
                apply_corrections=apply_corrections,
                all_rows=all_rows,
                every_row=every_row,
            )
    except LookupError as fault:
        if type(fault) is not LookupError:  # a KeyError is a bug of ours, not an unknown name
            raise
        raise Refusal(str(fault.args[0])) from None
    except Unjoinable as fault:
        raise Refusal(str(fault)) from None


def _stack(path: Path | None) -> Stack | None:
    """The stack that a file holds."""
    from assay.model.stacks.stack import load

    if path is None:
        return None
    try:
        return load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise Refusal(f"{path}: {fault}") from None


def _write(
    found: Report, outputs: list[Path], command: list[str], *, as_json: bool, order: str | None
) -> None:
    """Write the files, then print JSON, every section, or the first screen in that order."""
    from assay.validate.report import json_document, terminal
    from assay.validate.report.sections import screen, sections

    for path in outputs:
        write(path, _text(found, path.suffix, command))
    if as_json:
        sys.stdout.write(json_document.dumps(found))
    else:
        shown = sections(found) if order is None else screen(found, order)
        sys.stdout.write(terminal.render(shown, width=screen_width(), colour=coloured()))
    sys.stdout.flush()


def _text(found: Report, suffix: str, command: list[str]) -> str | bytes:
    """The report as a file of that kind."""
    from assay.validate.report import json_document, markdown
    from assay.validate.report.html import page, svg
    from assay.validate.report.sections import sections

    if suffix == ".parquet":
        from assay.validate.runs.record_frame import parquet
        from assay.validate.runs.run_record import records

        return parquet(records(found))
    if suffix == ".json":
        return json_document.dumps(found)
    if suffix == ".md":
        return markdown.render(sections(found))
    if not svg.available():
        complain(svg.MISSING)
    return page.render(found, command)


def settle(found: Report, paths: list[str], allowed: Limit) -> Exit:
    """The exit code of a report, with a word on stderr for each reason."""
    codes = judge(found.outcome, paths, allowed)
    joined = not (found.comparison.pairs.is_empty() and found.checks.is_empty())
    if found.outcome.reading.accounting and not joined and Exit.NOTHING not in codes:
        complain("nothing to join: no printed number has a prediction; the report says why")
        codes.append(Exit.NOTHING)
    return first(codes)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)
