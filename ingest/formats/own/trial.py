"""A format tried: its samples, and what it reads from a log beside all other formats.

In: a file, and an input. Out: a `Trial`: rows, how each column is filled, what is refused, which
labels no column declares, who else claims a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from assay.ingest.formats.own.description import describe
from assay.ingest.formats.own.fault import BadFormat
from assay.ingest.formats.own.own_format import OwnFormat, build, read_text
from assay.ingest.formats.own.samples import differences
from assay.ingest.lines.candidates import candidates
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Accounting
from assay.ingest.schema.record import CELLS, Code, Diagnostic
from assay.ingest.source.opening import open_source, source


@dataclass(frozen=True)
class Filled:
    """One column in the rows that were read: how many have it, and from where to where."""

    name: str
    unit: str
    filled: int
    low: str
    high: str


@dataclass(frozen=True)
class Trial:
    """Result of a format on one input. `passed`: lines with a head that are no record of it."""

    name: str
    fmt: OwnFormat
    account: Accounting
    rows: int
    columns: Sequence[Filled]
    other: Sequence[tuple[str, int, str]]  # label that no column declares, how often, one value
    refused: Sequence[Diagnostic]
    passed: Sequence[tuple[int, str]]
    shared: Sequence[Diagnostic]  # lines that another format claims too
    frames: dict[str, int]  # rows of other formats


def described(file: str | Path) -> tuple[OwnFormat, list[BadFormat]]:
    """The format of a file, and everything that its samples say otherwise.

    Raises BadFormat where there is no format to test.
    """
    fmt = build(describe(Path(file).as_posix(), read_text(file)))
    assert fmt.said is not None
    return fmt, list(differences(fmt.said, fmt))


def tried(fmt: OwnFormat, log: str, others: Iterable[Format]) -> Trial | Diagnostic:
    """Read an input with `fmt` beside `others`; a diagnostic where the input cannot be opened."""
    opened = open_source(log)
    if isinstance(opened, Diagnostic):
        return opened
    reading = read_source(opened, [*others, fmt])
    frame = reading.frames.get(fmt.name, pl.DataFrame())
    emptied = [d for d in reading.remarks if d.code in CELLS]
    mine = [d for d in (*reading.refused, *emptied) if d.code is not Code.AMBIGUOUS]
    shared = [d for d in reading.refused if d.code is Code.AMBIGUOUS and _names(fmt, d)]
    rows_of_tables = fmt.said is not None and fmt.said.tables is not None
    heads = candidates(opened.lines.select("line", "text").filter(not rows_of_tables), fmt)
    spoken = {d.span.line for d in reading.refused}
    spoken |= {line for each in reading.frames.values() for line in each["line"]}
    passed = [(line, text) for line, text in heads.rows() if line not in spoken]
    begun = {d.span.line for d in mine} & (spoken if rows_of_tables else set(heads["line"]))
    return Trial(
        name=opened.name, fmt=fmt, account=reading.accounting[0], rows=frame.height,
        columns=_filled(fmt, frame), other=_others(frame),
        refused=[d for d in mine if d.span.line in begun], passed=passed, shared=shared,
        frames={n: f.height for n, f in reading.frames.items() if n != fmt.name and f.height},
    )  # fmt: skip


def claimants(text: str, others: Sequence[Format]) -> list[str]:
    """The formats that claim a line of `text`, by name."""
    opened = source("<pasted>", text.encode("utf-8") + b"\n")
    if isinstance(opened, Diagnostic):
        return []
    exact = [each for each in others if not each.behind]
    reading = read_source(opened, exact)
    return [
        each.name
        for each in exact
        if any(name in reading.frames and reading.frames[name].height for name in each.schemas)
    ]


def _names(fmt: OwnFormat, fault: Diagnostic) -> bool:
    return fmt.name in fault.message.replace(";", " ").split()


def _filled(fmt: OwnFormat, frame: pl.DataFrame) -> list[Filled]:
    assert fmt.said is not None
    own = {column.name for column in fmt.said.columns}
    found = []
    specs = fields(fmt.schemas[fmt.name])
    for name, spec in sorted(specs.items(), key=lambda item: item[0] not in own):
        held = frame[name].drop_nulls() if name in frame.columns else pl.Series([])
        if name not in own and held.is_empty():
            continue
        ends = [held.min(), held.max()] if len(held) and spec.numeric else [None, None]
        low, high = (f"{end:.6g}" if isinstance(end, (int, float)) else "" for end in ends)
        if len(held) and not spec.numeric:
            low = str(held[0])
        found.append(Filled(name, spec.unit or "", len(held), low, high))
    return found


def _others(frame: pl.DataFrame) -> list[tuple[str, int, str]]:
    if "other" not in frame.columns:
        return []
    counts: Counter[str] = Counter()
    example: dict[str, str] = {}
    for cells in frame["other"].drop_nulls():
        for cell in cells:
            counts[cell["name"]] += 1
            example.setdefault(cell["name"], cell["text"])
    return [(name, count, example[name]) for name, count in counts.most_common()]
