"""`assay golden tolerances DIR…`: how far repeated runs lie apart, and the tolerance for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Debug, Refusal, complain, guarded, say
from assay.validate.cli.own import FormatFiles, formats

if TYPE_CHECKING:
    from assay.validate.golden.tolerances import Spread


@guarded
def tolerances(
    paths: Annotated[
        list[str], typer.Argument(metavar="DIR", help="Repeated runs of one configuration.")
    ],
    false_alarms: Annotated[
        str,
        typer.Option(metavar="P%", help="Share of unchanged runs that may fail, per quantity."),
    ] = "1%",
    format_file: FormatFiles = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of text.")
    ] = False,
    debug: Debug = False,
) -> Exit:
    """Say how far repeated runs lie apart, and which tolerance follows for a golden of them."""
    from assay.ingest.read import read
    from assay.validate.golden import tolerances as golden_tolerances
    from assay.validate.golden.agree import tolerance

    known = formats(format_file)
    try:
        share = tolerance(false_alarms).size
        outcome = read(paths, formats=known)
        found = golden_tolerances.spreads(outcome.reading, share)
    except ValueError as fault:
        raise Refusal(f"--false-alarms: {fault}") from None
    for unreadable in outcome.unreadable:
        complain(str(unreadable))
    if not outcome.reading.accounting:
        return Exit.USAGE
    if not found:
        complain("no record stands in two runs, so that nothing can be said of their spread")
        return Exit.NOTHING
    if as_json:
        typer.echo(json.dumps([vars(each) for each in found], indent=1))
    else:
        _spread_table(found, paths)
    return Exit.REFUSED if outcome.unreadable else Exit.OK


def _spread_table(found: Sequence[Spread], paths: Sequence[str]) -> None:
    from assay.validate.gates import percent

    head = ("quantity", "runs", "records", "between", "within", "gate", "beyond", "matched by")
    rows = [
        (
            each.quantity, str(each.runs), str(each.records), percent(each.between),
            percent(each.within), percent(each.gate), f"{each.beyond} of {each.pairs}",
            each.matched,
        )
        for each in found
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say(line.rstrip())
    typer.echo(
        "\nbetween, within: one standard deviation, run against run and value against value. gate: "
        f"at most {percent(found[0].false_alarms)}\nof unchanged runs fail by it, per quantity and "
        "file, if runs are independent and deviations normal;\nbeyond: pairs of values of these "
        "runs that lie further apart than the gate.\n"
    )
    options = " ".join(f"--tolerance {each.quantity}={percent(each.gate)}" for each in found)
    say(f"assay golden update {' '.join(paths)} --yes {options}")
