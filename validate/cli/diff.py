"""`assay diff A B`: what differs between two runs."""

from __future__ import annotations

import json
import sys
from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Debug, MaxMemory, Refusal, complain, guarded
from assay.validate.cli.machines import coloured, screen_width
from assay.validate.cli.options import FormatFiles, formats

if TYPE_CHECKING:
    from assay.validate.runs.differences import Difference, Gate


@guarded
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A log, a folder of one job, or a glob.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The one to compare with it.")],
    fail_if: Annotated[
        list[str] | None,
        typer.Option("--fail-if", metavar="GATE", help="End with 1 if so: 'step_time>+5%'."),
    ] = None,
    machine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Machine, where the logs name none.")
    ] = None,
    format_file: FormatFiles = None,
    max_memory: MaxMemory = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    debug: Debug = False,
) -> Exit:
    """Compare the last run of A with the last run of B: arguments, figures, and their noise."""
    from assay.model.machines.datasheets import resolve
    from assay.validate.cli.one_run import last_run
    from assay.validate.runs.differences import difference, gate

    try:
        gates = [gate(text) for text in fail_if or []]
        name = resolve(machine) if machine else None
    except (ValueError, LookupError) as fault:
        raise Refusal(str(fault.args[0])) from None
    known = formats(format_file)
    one, reading_a = last_run(a, name, known)
    other, reading_b = last_run(b, name, known)
    found = difference(one, other, reading_a, reading_b)
    if as_json:
        from assay.validate.report.json_document import finite

        sys.stdout.write(json.dumps(finite(_document(found)), indent=1, allow_nan=False) + "\n")
    else:
        _print(found)
    return _settle(found, gates)


def _settle(found: Difference, gates: list[Gate]) -> Exit:
    code = Exit.OK
    changes = {change.name: change for change in found.changes}
    for gate in gates:
        change = changes.get(gate.name)
        if change is None:
            known = ", ".join(changes) or "none"
            raise Refusal(f"--fail-if {gate.text}: both runs have no {gate.name}; known: {known}")
        if gate.fails(change.change):
            moved = f"changed by {100 * change.change:+.2f} %"
            said = "is no number in one of the runs" if isnan(change.change) else moved
            complain(f"{gate.text}: {gate.name} {said}")
            code = Exit.GATE
    return code


def _document(found: Difference) -> dict[str, object]:
    return {
        "a": found.a.case,
        "b": found.b.case,
        "configuration": [row._asdict() for row in found.configuration],
        "arguments": [row._asdict() for row in found.arguments],
        "changes": [{**c._asdict(), "beyond_noise": c.beyond_noise} for c in found.changes],
    }


def _print(found: Difference) -> None:
    from assay.validate.report.layout import (
        Column,
        Section,
        Table,
        figure,
        percent,
        place,
        told_apart,
    )
    from assay.validate.report.terminal import render

    sides = [Column("a", flexible=True), Column("b", flexible=True)]
    sections = []
    for title, rows in (("Configuration", found.configuration), ("Arguments", found.arguments)):
        cells = [[name, one if one is not None else "–", other if other is not None else "–"]
                 for name, one, other in rows]  # fmt: skip
        table = Table([Column("name", flexible=True), *sides], cells)
        sections.append(Section(f"{title} that differ ({len(cells)})", [table] if cells else []))
    words = {True: "beyond noise", False: "within noise", None: "noise unknown"}
    cells = [
        [c.name, figure(c.a, c.unit), figure(c.b, c.unit),
         percent(c.change, signed="+"), percent(c.noise), words[c.beyond_noise]]
        for c in found.changes
    ]  # fmt: skip
    heads = [Column("figure"), Column("a", ">"), Column("b", ">"), Column("change", ">"),
             Column("noise", ">"), Column("so")]  # fmt: skip
    names = told_apart([found.a.source, found.b.source])
    one, other = (names[run.source] + place(run.case.removeprefix(run.source))
                  for run in (found.a, found.b))  # fmt: skip
    sections.append(Section(f"{one} and {other}", [Table(heads, cells)]))
    sys.stdout.write(render(sections, width=screen_width(), colour=coloured()))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(diff)
