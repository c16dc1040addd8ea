"""Messages on stderr about the inputs of a command, and the exit codes that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from assay.validate.cli.exits import Exit, parse_max_bad, too_many
from assay.validate.cli.guard import Refusal, complain
from assay.validate.cli.options import machine_names

if TYPE_CHECKING:
    from assay.ingest.schema.reading import Outcome

Paths = Annotated[
    list[str], typer.Argument(metavar="PATH", help="Files, folders or globs; - is stdin.")
]

Machine = Annotated[
    str | None,
    typer.Option(
        "--machine",
        metavar="NAME",
        help="Machine of the inputs that do not name theirs.",
        autocompletion=machine_names,
    ),
]

MaxBad = Annotated[
    str,
    typer.Option("--max-bad", metavar="N|P%", help="Refused lines that are still acceptable."),
]

Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", metavar="N", min=1,
                 help="Processes that read inputs; what the work is worth if not given."),
]  # fmt: skip

Limit = tuple[float, bool]


def limit(text: str) -> Limit:
    """`--max-bad` as given; Refusal where it is neither a number of lines nor a share."""
    try:
        return parse_max_bad(text)
    except ValueError:
        raise Refusal(
            f"--max-bad is a number of lines or a share such as 1%, not {text!r}"
        ) from None


def judge(outcome: Outcome, paths: Sequence[str], allowed: Limit) -> list[Exit]:
    """The codes of a reading: nothing opened, nothing recognised, too much refused."""
    from assay.ingest.inputs.nearest import unrecognised
    from assay.ingest.schema.reading import cut_short

    codes = []
    accounts = outcome.reading.accounting
    claimed, refused = (sum(getattr(a, name) for a in accounts) for name in ("claimed", "refused"))
    for fault in outcome.unreadable:
        complain(str(fault))
    for each in cut_short(outcome.reading):
        complain(each)
    if not accounts:
        complain(f"no input could be opened: {', '.join(paths)}")
        codes.append(Exit.USAGE)
    elif outcome.unreadable:
        codes.append(Exit.REFUSED)
    if accounts and claimed + refused == 0:
        complain(unrecognised(outcome))
        codes.append(Exit.NOTHING)
    if too_many(refused, claimed, allowed):
        complain(f"refused {refused:,} of {claimed + refused:,} lines; --max-bad allows fewer")
        codes.append(Exit.REFUSED)
    return codes
