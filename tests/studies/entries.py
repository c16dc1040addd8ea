"""One figure of `build/accuracy.json`, and the file as a whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """A figure with its sample size and interval; errors are in percent.

    `n` counts the scored rows. `low` and `high` bound `value`; None where no interval exists.
    """

    name: str
    value: float
    unit: str
    n: int
    low: float | None = None
    high: float | None = None


def write(entries: Iterable[Entry], path: Path) -> None:
    """Write the whole list at once: a reader sees the old file or the new one, never a part.

    Raises ValueError when two entries share a name.
    """
    rows = [entry._asdict() for entry in entries]
    names = [row["name"] for row in rows]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"names used twice: {', '.join(twice)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    os.replace(part, path)


def line(entry: Entry) -> str:
    """One figure as a line of the printed list.

    >>> line(Entry("baseline.roofline.peak", 39.8, "%", 85, 35.0, 44.0))
    'baseline.roofline.peak                            39.8 %     [35, 44]  n=85'
    """
    bounds = "" if entry.low is None else f"  [{entry.low:.4g}, {entry.high:.4g}]"
    return f"{entry.name:<48}{entry.value:>6.4g} {entry.unit:<4}{bounds}  n={entry.n}"
