"""`assay calibrate PATH… -o stack.toml`: a machine's kernels and the residuals of a site."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit, first
from assay.validate.cli.guard import (
    Debug,
    Force,
    Refusal,
    complain,
    guarded,
    refuse_existing,
    write,
)
from assay.validate.cli.inputs import MaxBad, judge, limit
from assay.validate.cli.options import FormatFiles, formats, machine_names

if TYPE_CHECKING:
    import polars as pl
    from assay.ingest.schema.reading import Outcome
    from assay.model.fit.learnt import Calibrated
    from assay.model.stacks.stack import Stack

STEPS = "configuration"
"""The scope of rows that say how long a step took."""


@guarded
def calibrate(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="Measured kernels, or logs and tables of steps."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Stack to write, FILE.toml.")
    ],
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Machine of the inputs, where they name none or several.",
            autocompletion=machine_names,
        ),
    ] = None,
    format_file: FormatFiles = None,
    max_bad: MaxBad = "1%",
    force: Force = False,
    debug: Debug = False,
) -> Exit:
    """Fit kernel models and residuals of steps to what was measured on one machine."""
    from assay.ingest.inputs.read import read
    from assay.model.machines.datasheets import resolve
    from assay.model.stacks.stack import dump
    from assay.validate.cases.kernel_cases import kernel_cases
    from assay.validate.cases.observe import about

    allowed = limit(max_bad)
    refuse_existing([output], force=force)
    try:
        name = resolve(machine) if machine else None
    except LookupError as fault:
        raise Refusal(str(fault.args[0])) from None
    stated = {"gpu": name} if name else {}
    outcome = read(paths, stated=stated, formats=formats(format_file))
    codes = judge(outcome, paths, allowed)
    frames = about(outcome.reading.formats)
    built = _stack(kernel_cases(outcome.reading, frames, machine=name), name)
    if built is None or any(frames[one].scope == STEPS for one in outcome.reading.frames):
        built = _with_steps(built, outcome, paths, name)
    write(output, dump(built))
    for scope, part in built.parts.items():
        typer.echo(_summary(scope, part))
    return first(codes)


def _with_steps(built: Stack | None, outcome: Outcome, paths: list[str], name: str | None) -> Stack:
    """`built` with the residuals of the printed steps, where the step model can build some."""
    from assay.model.stacks.stack import Stack
    from assay.validate.calibrate.site_residuals import residuals
    from assay.validate.plan.planning import Unpredictable
    from assay.validate.score.assess import understand

    try:
        steps = residuals(understand(outcome, machine=name), paths)
    except Unpredictable as fault:
        if built is None:
            message = f"no measured kernel of a known machine was read, and {fault}"
            raise Refusal(message, Exit.NOTHING) from None
        return built
    if built is not None and built.machine != steps.machine:
        told = f"kernels of {built.machine} and steps of {steps.machine}"
        raise Refusal(f"the inputs hold {told}: choose one with --machine")
    return steps if built is None else Stack(built.machine, {**built.parts, **steps.parts})


def _stack(cases: dict[str, pl.DataFrame], name: str | None) -> Stack | None:
    """The stack of the one machine that the cases are about."""
    import polars as pl
    from assay.validate.calibrate import kernel_stacks as fitting
    from assay.validate.cases.kernel_cases import forward
    from assay.validate.predict.kernel_forecasts import digests

    timed = {
        scope: frame.filter(pl.col("time") > 0, pl.col("machine").is_not_null())
        for scope, frame in cases.items()
    }
    found = sorted({one for frame in timed.values() for one in frame["machine"].unique()})
    if name is None and len(found) > 1:
        raise Refusal(f"the inputs measure {', '.join(found)}: choose one with --machine")
    chosen = name or (found[0] if found else None)
    parts = {}
    for scope, frame in timed.items():
        mine = forward(frame.filter(pl.col("machine") == chosen))
        if mine.is_empty():
            continue
        kind = mine["dtype"].drop_nulls().value_counts(sort=True)["dtype"][0]
        if mine["dtype"].n_unique() > 1:
            complain(f"{scope}: several number formats; {kind} is calibrated")
        rows = mine.filter(pl.col("dtype") == kind).drop("share", strict=False)
        wanted = fitting.KERNELS[scope].parameters
        if rows.height < len(wanted):
            told = f"{rows.height} shapes cannot tell {len(wanted)} parameters"
            complain(f"{scope}: {told}; left as it is")
            continue
        sources = sorted({Path(source).name for source in rows["source"].unique()})
        digest = tuple(digests(rows, scope))
        parts[scope] = replace(fitting.part(rows, scope, origin=", ".join(sources)), seen=digest)
    return fitting.stack(str(chosen), parts) if parts else None


def _summary(scope: str, part: Calibrated) -> str:
    """One calibrated kernel as lines: each parameter with its interval, and what stays open."""
    lines = [f"{scope}: {part.kernel.name} for {part.machine} {part.dtype}, {part.rows} rows"]
    for one in part.kernel.parameters:
        value, low, high = (found[one.name] for found in (part.values, part.low, part.high))
        weak = "  not identifiable from these rows" if one.name in part.weak else ""
        unit = "" if one.unit == "1" else f" {one.unit}"
        lines.append(f"  {one.name:<15}{value:>10.4g}{unit}  [{low:.4g}, {high:.4g}]{weak}")
    if part.entangled:
        lines.append(f"  entangled, only their combination is known: {', '.join(part.entangled)}")
    if not math.isnan(part.condition):
        lines.append(f"  condition of the fit {part.condition:.3g}")
    return "\n".join(lines)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(calibrate)
