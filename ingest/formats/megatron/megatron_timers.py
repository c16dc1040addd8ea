"""Megatron's timers: how long each part of an iteration takes.

In: `time (ms) | name: value | …` on one line, or a block under `time across ranks (ms):` with one
line per timer. Out: one record per timer.
"""

from __future__ import annotations

import re
from functools import cache

import pandera.polars as pa
from assay.ingest.lines.lark import terminal_of
from assay.ingest.lines.records import Kind, fold_lines, take
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Reach, Region
from assay.ingest.schema.record import Cell, Line


class MegatronTimers(pa.DataFrameModel):
    """One timer of one iteration, or of the time before the first."""

    timer: str = named(nullable=False, meaning="its name")
    time: float = logged({"time": 1e-3}, unit="s", ge=0, nullable=True, meaning="on one rank")
    minimum: float = logged(
        {"minimum": 1e-3}, unit="s", ge=0, nullable=True, meaning="of all ranks"
    )
    maximum: float = logged(
        {"maximum": 1e-3}, unit="s", ge=0, nullable=True, meaning="of all ranks"
    )

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "timer"}


_FRAME = ("megatron_timers", MegatronTimers)

LINE = Kind("timers_line", "HEAD", *_FRAME, rows=True)

ENTRY = Kind("entry_line", "HEAD", *_FRAME)

OF_RANK = Kind("rank_line", "HEAD", *_FRAME)

_ENTRY = re.compile(r"[A-Za-z][^|:]*? ?\.{2,}: *(?:\(|[0-9])")

_OF_RANK = re.compile(r"rank +[0-9]+: *[0-9.]+\s*$")

_NAME = re.compile(r"([A-Za-z][A-Za-z0-9 _/-]*):\s*$")


@cache
def _block() -> re.Pattern[str]:
    return re.compile(rf"{terminal_of('megatron_timers', 'RANKS')}\s*$")


def fold(region: Region) -> Folded:
    """Every timer of a region."""
    folded = fold_lines(region, "megatron_timers", [LINE])
    inside = False
    name: tuple[str, Line] | None = None  # of the timer whose ranks follow, one line each
    for line in region.lines:
        if line.number in folded.claimed:
            continue
        if _block().match(line.text):
            inside, name = True, None
            folded.claimed.add(line.number)
        elif inside and _ENTRY.match(line.text):
            take(folded, region, line, "megatron_timers", ENTRY)
        elif inside and name and _OF_RANK.match(line.text):
            take(folded, region, line, "megatron_timers", OF_RANK)
            text, above = name
            folded.records[-1].cells["timer"] = Cell(text, line.number, above.column)
            folded.claimed.add(above.number)
        elif inside and (said := _NAME.match(line.text)):
            name = (said[1], line)
        elif not line.text.strip():
            continue
        elif not line.prefix:
            inside = False
    return folded


FORMAT = Format(
    name="megatron_timers",
    heads=("time (ms)", "across ranks (ms):"),
    schemas={"megatron_timers": MegatronTimers},
    origin="measured",
    fold=fold,
    reach={r"across ranks \(ms\):": Reach(200)},
    glued=True,
    binds=False,
)
