"""`assay golden update|check|tolerances`: regression files for a user's own logs.

`update` and `check` write them and hold them against what is read now; `tolerances` says how far
repeated runs lie apart, and which tolerance follows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from assay.validate.cli.exits import Exit, first, too_many
from assay.validate.cli.gate_options import Junit
from assay.validate.cli.guard import (
    Debug,
    Force,
    Refusal,
    complain,
    guarded,
    refuse_existing,
    say,
    write,
)
from assay.validate.cli.inputs import Limit, MaxBad, limit
from assay.validate.cli.options import FormatFiles, formats

if TYPE_CHECKING:
    from assay.validate.golden.folder import Case, Checked
    from assay.validate.golden.tolerances import Spread

Folders = Annotated[list[Path], typer.Argument(metavar="DIR", help="Folders of inputs.")]

Item = TypeVar("Item")

golden = typer.Typer(
    name="golden",
    help="Keep what is read from logs as golden files beside them, and say when it changes.",
    no_args_is_help=True,
)


@golden.command()
@guarded
def update(
    folders: Folders,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUANTITY=P%|SIZE|any|none",
            help="How far a quantity may move; recorded in the goldens. May be repeated.",
        ),
    ] = None,
    format_file: FormatFiles = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Overwrite goldens that change; the diff is shown.")
    ] = False,
    debug: Debug = False,
) -> Exit:
    """Write the golden of every input in DIR; those that would change only with --yes."""
    from assay.validate.golden import folder
    from assay.validate.golden.compare import Cause
    from assay.validate.golden.model_entries import settings

    counts = {"written": 0, "unchanged": 0, "held back": 0, "none": 0}
    codes = []
    known = formats(format_file)
    unused: list[frozenset[str]] = []
    for root, cases in _cases(folders):
        try:
            found = folder.update(
                root, settings(formats=known), replacing=yes, tolerances=_tolerances(tolerance)
            )
            for made in _progress(found, len(cases)):
                counts[made.outcome] += 1
                _say(made)
                if made.outcome != "none":
                    unused.append(made.unused)
                if made.reason and made.reason.cause is Cause.UNREADABLE:
                    codes.append(Exit.REFUSED)
        except ValueError as fault:
            raise Refusal(str(fault)) from None
        except OSError as fault:
            raise Refusal(f"{fault.filename} cannot be written: {fault.strerror}") from None
    for name in sorted(frozenset.intersection(*unused)) if unused else ():
        complain(f"--tolerance {name}: no value of that name is in any of the inputs")
    if counts["held back"]:
        complain(f"{counts['held back']} goldens would change and were left; --yes accepts them")
        codes.append(Exit.GATE)
    if not counts["written"] + counts["unchanged"] + counts["held back"]:
        codes.append(Exit.NOTHING)
    complain(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count))
    return first(codes)


def _say(made: object) -> None:
    """The diff of a golden that changes on stdout; of a new one only its name."""
    from assay.validate.golden.folder import Updated

    assert isinstance(made, Updated)
    if made.reason:
        complain(f"{made.case.name}: {made.reason}")
    elif made.outcome == "written" and not made.changed:
        say(f"new: {made.case.golden.as_posix()}")
    elif made.outcome in ("written", "held back"):
        say(made.diff)


def _tolerances(items: list[str] | None) -> dict[str, str]:
    stated = {}
    for item in items or ():
        quantity, equals, text = item.rpartition("=")
        if not (quantity and equals and text):
            raise Refusal(f"--tolerance {item!r}: expected QUANTITY=3%, QUANTITY=0.5s or =any")
        stated[quantity.strip()] = text.strip()
    return stated


@golden.command()
@guarded
def check(
    folders: Folders,
    max_bad: MaxBad = "0",
    format_file: FormatFiles = None,
    junit: Junit = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of text.")
    ] = False,
    force: Force = False,
    debug: Debug = False,
) -> Exit:
    """Compare every input in DIR with its golden; a difference fails, with its diff."""
    from assay.validate.golden import folder
    from assay.validate.golden.model_entries import settings

    allowed = limit(max_bad)
    if junit:
        refuse_existing([junit], force=force)
    cases = [case for _, held in _cases(folders) for case in held]
    reading = settings(formats=formats(format_file))
    found = list(_progress((folder.check(case, reading) for case in cases), len(cases)))
    _tell(found, as_json=as_json)
    if junit:
        write(junit, _xml(found))
    return _settled(found, allowed)


def _tell(found: Sequence[Checked], *, as_json: bool) -> None:
    differing = [each for each in found if each.difference.reasons]
    if as_json:
        document = [
            {
                "name": each.case.name,
                "golden": each.case.golden.as_posix(),
                "refused": each.refused,
                "reasons": [
                    {"cause": reason.cause, "message": reason.message}
                    for reason in each.difference.reasons
                ],
                "diff": each.difference.diff,
            }
            for each in found
        ]
        typer.echo(json.dumps(document, indent=1))
        return
    for each in differing:
        for reason in each.difference.reasons:
            say(f"{each.case.golden.as_posix()}: {reason}")
        if each.difference.diff:
            say(each.difference.diff)
    complain(f"{len(found) - len(differing)} of {len(found)} goldens stand")


def _settled(found: Sequence[Checked], allowed: Limit) -> Exit:
    from assay.validate.golden.compare import Cause

    causes = [{reason.cause for reason in each.difference.reasons} for each in found]
    claimed, refused = (sum(getattr(each, n) for each in found) for n in ("claimed", "refused"))
    codes = [Exit.GATE if cause else Exit.OK for cause in causes]
    if claimed + refused == 0:
        complain("nothing is recognised in any input, so that nothing is checked")
        codes.append(Exit.NOTHING)
    if any(Cause.UNREADABLE in cause for cause in causes):
        codes.append(Exit.REFUSED)
    if too_many(refused, claimed, allowed):
        complain(f"refused {refused:,} of {claimed + refused:,} lines; --max-bad allows fewer")
        codes.append(Exit.REFUSED)
    return first(codes)


def _xml(found: Sequence[Checked]) -> str:
    from assay.validate.report.junit import Result, junit

    return junit(
        "assay golden check",
        [
            Result(
                suite="golden",
                name=each.case.name,
                failure="; ".join(map(str, each.difference.reasons)),
                details=each.difference.diff,
            )
            for each in found
        ],
    )


def _cases(roots: Sequence[Path]) -> list[tuple[Path, list[Case]]]:
    """The cases of each folder; Refusal where one is no folder, or holds no input."""
    from assay.validate.golden.folder import cases

    try:
        found = [(root, cases(root)) for root in roots]
    except NotADirectoryError as fault:
        raise Refusal(str(fault)) from None
    empty = [str(root) for root, held in found if not any(case.input for case in held)]
    if empty:
        raise Refusal(f"no input in {', '.join(empty)}", Exit.NOTHING)
    return found


def _progress(items: Iterable[Item], count: int) -> Iterator[Item]:
    """The items, with a bar on stderr where somebody watches and it takes a while."""
    if count < 50 or not sys.stderr.isatty():
        yield from items
        return
    with typer.progressbar(items, length=count, file=sys.stderr) as bar:
        yield from bar


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    golden.command()(tolerances)
    app.add_typer(golden)


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
    from assay.ingest.inputs.read import read
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
    from assay.validate.score.gates import percent

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
