"""Exit codes of every command, and which one wins."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the commands."""

    OK = 0
    GATE = 1  # accuracy, golden, diff, findings at or above the asked severity
    USAGE = 2  # or no input could be opened
    REFUSED = 3  # more refused lines than --max-bad, or an input among many that is unreadable
    NOTHING = 4  # nothing recognised, or nothing to join
    BUG = 70  # ours


ORDER = (Exit.BUG, Exit.USAGE, Exit.NOTHING, Exit.REFUSED, Exit.GATE, Exit.OK)


def first(codes: Iterable[Exit]) -> Exit:
    """The code that a command ends with when several apply.

    >>> first([Exit.GATE, Exit.REFUSED]).name, first([]).name
    ('REFUSED', 'OK')
    """
    found = set(codes)
    return next((code for code in ORDER if code in found), Exit.OK)


def parse_max_bad(text: str) -> tuple[float, bool]:
    """`N` or `P%` as (limit, whether it is a share); ValueError for anything else.

    >>> parse_max_bad("1%"), parse_max_bad("3")
    ((0.01, True), (3.0, False))
    """
    number = text.strip()
    share = number.endswith("%")
    value = float(number[:-1]) / 100.0 if share else float(int(number))
    if not (value >= 0.0 and (not share or value <= 1.0)):
        raise ValueError(text)
    return value, share


def too_many(refused: int, claimed: int, limit: tuple[float, bool]) -> bool:
    """Whether refused lines are more than allowed; the share is of claimed and refused lines.

    >>> too_many(1, 99, (0.01, True)), too_many(2, 98, (0.01, True))
    (False, True)
    """
    allowed, share = limit
    total = claimed + refused
    return refused > allowed * total if share else refused > allowed
