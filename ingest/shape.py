"""One spelling of a layout, made from one line: what is fixed in it, and where its values stand.

In: a layout and a line of it. Out: a `Shape`: every byte that is no digit fixed, a digit where one
stands, blanks or digits before an integer that stands behind blanks. None where a pattern of the
layout looks at the value of a digit otherwise than `assay.ingest.digits` does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.ingest.block import Mask
from assay.ingest.digits import (
    BLANK,
    MOST_DIGITS,
    NINE,
    ZERO,
    Number,
    behind_blanks,
    exponent_of,
    number_at,
    words_of,
)
from assay.ingest.layout import CANONICAL, Layout
from assay.ingest.schema import fields
from assay.ingest.types import Schema
from assay.ingest.words import SHORTEST, Bytes, Lines, Words

_TILDE = ord("~")
_PLAIN = re.compile(r"\[0-9\]|\{[0-9]+(?:,[0-9]*)?\}")


class Text(NamedTuple):
    """A text in its line, under the name it has among the cells of a layout."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Shape:
    """One spelling of a layout: the least and the greatest byte that may stand in each place.

    They differ where a digit stands, or a blank or a digit before others. `probe` is a place where
    eight bytes stand that are no digits, if there is one.
    """

    layout: Layout
    low: Bytes
    high: Bytes
    probe: int
    numbers: tuple[Number, ...]
    texts: tuple[Text, ...]

    def holds(self, lines: Lines) -> bool:
        """Whether all these lines are of this shape."""
        low, high = np.frombuffer(lines.low, np.uint8), np.frombuffer(lines.high, np.uint8)
        return bool((low >= self.low).all() and (high <= self.high).all())

    def which(self, lines: Lines) -> Mask:
        """Which of these lines are of this shape."""
        mine: Mask = np.all(lines.rows - self.low <= self.high - self.low, axis=1)
        return mine

    @cached_property
    def words(self) -> Words:
        """The words of all its numbers."""
        parts = (words_of(number) for number in self.numbers)
        powers = (exponent_of(number) for number in self.numbers)
        return Words.of([*(word for each in parts for word, _ in each), *filter(None, powers)])


def is_digit(data: Bytes) -> Mask:
    """Which bytes are digits."""
    return (data - np.uint8(ZERO)) < 10


def shape_of(layout: Layout, row: Bytes, schema: Schema) -> Shape | None:
    """The shape of one line of a layout; None where its like cannot be read from bytes."""
    if len(row) < SHORTEST or ((row < BLANK) | (row > _TILDE)).any():
        return None
    text = row.tobytes().decode("ascii")
    spans = _spans(layout, text)
    if spans is None or not _blind(layout.lead):
        return None
    specs = fields(schema)
    numbers: list[Number] = []
    texts = [Text(name, start, start + n) for name, start, n in layout.places]
    digit, floor = is_digit(row), layout.width
    for number, (value, (start, end)) in enumerate(zip(layout.values, spans, strict=True)):
        spec = specs.get(value.field)
        if value.pattern != CANONICAL and not _blind(value.pattern):
            return None
        if spec is None:
            texts.append(Text(f"v{number}", start, end))
        elif spec.dtype == pl.String:
            texts.append(Text(spec.name, start, end))
        else:
            scale = value.scale if value.scale != 1.0 else None
            found = number_at(spec, text, start, end, scale)
            if found is None:
                return None
            begin = behind_blanks(text, start, floor) if spec.dtype.is_integer() else start
            canonical = value.pattern == CANONICAL
            begin = max(begin, end - MOST_DIGITS)
            numbers.append(
                found._replace(whole=(begin, end), canonical=canonical, padded=begin < start)
                if begin < start
                else found._replace(canonical=canonical)
            )
            digit[begin:start] = True
        floor = end
    low = np.where(digit, np.uint8(ZERO), row)
    high = np.where(digit, np.uint8(NINE), row)
    for each in numbers:
        if each.padded:
            low[each.whole[0] : each.whole[1] - 1] = BLANK
    return Shape(layout, low, high, _probe(digit), tuple(numbers), tuple(texts))


def _blind(pattern: str) -> bool:
    """Whether a pattern takes any digit where it takes one."""
    return not re.search("[0-9]", _PLAIN.sub("", pattern))


def _probe(digit: Mask) -> int:
    """Where the first eight bytes begin that hold no digit; -1 where there are none."""
    edges = [-1, *np.flatnonzero(digit).tolist(), len(digit)]
    return next((a + 1 for a, b in pairwise(edges) if b - a > 8), -1)


def _spans(layout: Layout, text: str) -> list[tuple[int, int]] | None:
    """From where to where each value of a layout stands in a line of it."""
    spans = []
    at = layout.width
    parts = text[at:].split(layout.separator)
    if len(parts) != len(layout.segments):
        return None
    for part, segment in zip(parts, layout.segments, strict=True):
        begin = len(segment.values[0].before) if segment.values else 0
        for number in range(len(segment.values)):
            end, skipped = len(part) - len(segment.after), 0
            if number + 1 < len(segment.values):
                before = segment.values[number + 1].before
                end, skipped = part.find(before, begin), len(before)
            value = part[begin:end]
            left = begin + len(value) - len(value.lstrip(" "))
            spans.append((at + left, at + left + len(value.strip(" "))))
            begin = end + skipped
        at += len(part) + len(layout.separator)
    return spans
