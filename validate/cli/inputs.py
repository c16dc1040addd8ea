"""What every command that reads inputs says about them on stderr, and which codes that means."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.validate.cli.exits import Exit, parse_max_bad, too_many
from assay.validate.cli.guard import Refusal, complain

if TYPE_CHECKING:
    from assay.ingest.read import Outcome

WORTH_A_WORD = 10_000_000
"""Bytes of input from which reading takes long enough to say so."""

Limit = tuple[float, bool]


def limit(text: str) -> Limit:
    """`--max-bad` as given; Refusal where it is neither a number of lines nor a share."""
    try:
        return parse_max_bad(text)
    except ValueError:
        raise Refusal(
            f"--max-bad is a number of lines or a share such as 1%, not {text!r}"
        ) from None


def announce(paths: Sequence[str]) -> None:
    """A word on stderr before long work, where somebody watches."""
    if not sys.stderr.isatty():
        return
    from assay.ingest.read import inputs

    files = [Path(path) for path in inputs(paths)]
    size = sum(path.stat().st_size for path in files if path.is_file())
    if size > WORTH_A_WORD:
        complain(f"reading {len(files):,} input(s), {size / 1e6:,.0f} MB")


def judge(outcome: Outcome, paths: Sequence[str], allowed: Limit) -> list[Exit]:
    """The codes of a reading: nothing opened, nothing recognised, too much refused."""
    from assay.validate.nearest import unrecognised

    codes = []
    accounts = outcome.reading.accounting
    claimed, refused = (sum(getattr(a, name) for a in accounts) for name in ("claimed", "refused"))
    for fault in outcome.unreadable:
        complain(str(fault))
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
