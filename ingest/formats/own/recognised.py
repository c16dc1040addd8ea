"""The lines of a log that are worth a format: the steps that the generic reader recognised.

In: the lines of a log. Out: those of one shape, without what carries them. Where no line is a step
of a trainer, they are the most frequent of those that hold a number beside a unit and that nobody
reads, and otherwise all of them, as pasted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.source.opening import Source, source

FEW = 3
"""Lines up to which they were pasted one by one, each meant."""

_NUMBERS = re.compile(r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?")


def recognised(lines: Sequence[str]) -> list[str]:
    """The lines of a log that are worth a format, in order."""
    if len(lines) <= FEW:
        return list(lines)
    opened = source("pasted", "\n".join(lines).encode())
    if not isinstance(opened, Source):
        return list(lines)
    reading = read_source(opened, FORMATS)
    lines = [text for block in opened.blocks() for text in block.lines["text"]]
    for frame, why in (("generic_step", "words"), ("trainer_step", "trainer")):
        rows = reading.frames.get(frame, pl.DataFrame())
        if rows.height:
            reason = rows[why].mode().sort()[0]
            numbers = rows.filter(pl.col(why) == reason)["line"].unique().sort().to_list()
            break
    else:
        (account,) = reading.accounting
        numbers = _alike(lines, account.suspicious)
    return [lines[number - 1] for number in numbers if number <= len(lines)] or list(lines)


def are_steps(lines: Sequence[str]) -> bool:
    """Whether the lines of a log hold steps of a trainer, though commas may stand in them."""
    opened = source("pasted", "\n".join(lines).encode())
    if not isinstance(opened, Source) or len(lines) < FEW:
        return False
    frames = read_source(opened, FORMATS).frames
    return any(
        frame["line"].n_unique() >= FEW
        for name, frame in frames.items()
        if name in ("generic_step", "trainer_step")
    )


def _alike(lines: Sequence[str], numbers: Sequence[int]) -> list[int]:
    """Of the lines with these numbers those of the most frequent shape, digits put aside."""
    held = [(number, _shape(lines[number - 1])) for number in numbers if number <= len(lines)]
    if not held:
        return []
    often = Counter(shape for _, shape in held).most_common(1)[0][0]
    return [number for number, shape in held if shape == often]


def _shape(line: str) -> str:
    return _NUMBERS.sub("0", " ".join(line.split()))
