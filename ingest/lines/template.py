"""A template of lines with labelled cells: learnt from a line that a format's fold has read.

In: one line. Out: a `Layout`: which text of the line is a label and which a value, and the regular
expression each value must match: the terminal of its column for a bare number, else the text of the
example with other digits in it. A layout is believed only if the fold, given the line with other
numbers in it, finds these numbers at the same places. `split` takes other lines apart by it: a raw
frame (see `assay.ingest.schema.decoding`) of those that are proven to be of it, and the rest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl
from assay.ingest.schema.acceptance import OTHER
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.format import Format, Region
from assay.ingest.schema.record import Line, Record, Schema
from assay.ingest.schema.terminals import terminal
from assay.ingest.source.opening import Source
from assay.ingest.source.prefixes import PLACES, alone

CANONICAL = "(?:0|[1-9][0-9]*)"
"""An integer whose digits are those of its value: records are told apart by it."""

_PRINTABLE = re.compile(r"[ -~]+")

_DIGITS = re.compile(r"[0-9]+")

_COLUMNS = ("host", "rank", "timestamp")

_DECIDING = ("model_size", "hidden")  # what is bound to a row depends on their values


class Value(NamedTuple):
    """One value: the label before it, blanks between them taken off, and what it matches, whole."""

    before: str
    pattern: str
    field: str = ""  # the column it belongs to; empty: one that no column declares
    scale: float = 1.0


class Segment(NamedTuple):
    """Text between two separators: values with their labels, then what follows the last."""

    values: tuple[Value, ...]
    after: str


@dataclass(frozen=True)
class Layout:
    """Lines that are read alike: labels as they are spelled, values by their patterns.

    `lead` matches what launchers and loggers put in front: its digits may differ, its width may
    not; `places` are the columns in it, with start and length. `others` are the cells that no
    column declares: the label, and its text if that is fixed, or the number of its value among
    those without a column.
    """

    separator: str
    lead: str
    width: int
    places: tuple[tuple[str, int, int], ...]
    segments: tuple[Segment, ...]
    others: tuple[tuple[str, str | int], ...]
    example: str  # the record, from its own first character

    @property
    def values(self) -> list[Value]:
        """Every value of a line, in order."""
        return [value for segment in self.segments for value in segment.values]

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that such a line prints."""
        return tuple(value.field for value in self.values if value.field)


Found = list[tuple[Layout, pl.DataFrame]]
"""Rows by layout."""


def proven(layout: Layout, schema: Schema) -> frozenset[str]:
    """The columns whose cells match their terminals, since their patterns say so."""
    specs = fields(schema)
    numbers = {"INT": {CANONICAL, terminal("INT")}, "NUMBER": {CANONICAL, terminal("NUMBER")}}
    return frozenset(
        value.field
        for value in layout.values
        if value.field and value.pattern in numbers.get(specs[value.field].terminal, ())
    )


class _Place(NamedTuple):
    """A value in the example: from where to where, which column, which factor."""

    start: int
    end: int
    field: str
    scale: float


class _Read(NamedTuple):
    """A line, and the record that the fold makes of it."""

    line: Line
    record: Record
    text: str


def learn(fmt: Format, source: Source, number: int, text: str) -> Layout | None:
    """The layout of one line, or None where the fold of `fmt` must read its like one by one."""
    read = _read(fmt, source, number, text)
    layout = _layout(fmt, read) if read else None
    if read is None or layout is None:
        return None
    other = _read(fmt, source, number, _with_other_numbers(fmt, read))
    again = _layout(fmt, other) if other else None
    if again is None or replace(again, example=layout.example) != layout:
        return None
    return layout


def _read(fmt: Format, source: Source, number: int, text: str) -> _Read | None:
    """The record that the fold makes of this line alone; None if it makes another thing of it."""
    if not _PRINTABLE.fullmatch(text):
        return None
    lines = alone(number, text, glued=fmt.glued)
    if len(lines) != 1:
        return None
    folded = fmt.fold(Region(source, lines))
    odd = folded.refused or folded.remarks or folded.blank or folded.statements or folded.raw
    if odd or len(folded.records) != 1 or folded.claimed != {number}:
        return None
    record = folded.records[0]
    main = record.frame in ("", next(iter(fmt.schemas)))
    plain = record.line == number and record.mark is None and main
    printed = all(
        cell._replace(text="", column=1, scale=1.0) == cell.__class__("", number)
        for cell in record.cells.values()
    )
    return _Read(lines[0], record, text) if plain and printed else None


def _layout(fmt: Format, read: _Read) -> Layout | None:
    assert fmt.cells is not None
    text, record, separator = read.text, read.record, fmt.cells.separator
    width = record.column - 1
    lead = text[:width]
    columns = _columns(text[: read.line.column - 1], record)
    found = _places(read, separator)
    if columns is None or found is None or separator in lead or width < read.line.column - 1:
        return None
    places, others = found
    segments, at, used = [], width, 0
    for part in text[width:].split(separator):
        inside = [p for p in places if at <= p.start and p.end <= at + len(part)]
        segment = _segment(fmt, text, at, at + len(part), inside)
        if segment is None:
            return None
        segments.append(segment)
        used += len(inside)
        at += len(part) + len(separator)
    if used != len(places):
        return None
    shape = re.sub("[0-9]", "[0-9]", re.escape(lead).replace(r"\ ", " "))
    return Layout(separator, shape, width, columns, tuple(segments), others, text[width:].rstrip())


def _segment(
    fmt: Format, text: str, start: int, end: int, inside: Sequence[_Place]
) -> Segment | None:
    """The labels and values between two separators."""
    schema = fields(next(iter(fmt.schemas.values())))
    values, at = [], start
    for place in inside:
        before = text[at : place.start].rstrip(" ")
        if at > start:  # between two values: blanks mean something beside a letter only
            bare = before.lstrip(" ")
            before = before if bare[:1].isalnum() else bare
            if not bare:
                return None
        alone = len(inside) == 1 and not text[place.end : end].strip(" ")
        if before[-1:].isalnum():  # nothing but blanks parts the value from its label
            before += " "
        pattern = _pattern(fmt, schema.get(place.field), text[place.start : place.end], alone=alone)
        spec = schema.get(place.field)
        bindable = spec is not None and (spec.configuration or spec.name in fmt.repeats)
        if pattern is None or (bindable and place.scale != 1.0) or place.field in _DECIDING:
            return None
        values.append(Value(before, pattern, place.field, place.scale))
        at = place.end
    return Segment(tuple(values), text[at:end].strip(" ") and text[at:end])


def _pattern(fmt: Format, spec: FieldSpec | None, text: str, *, alone: bool) -> str | None:
    """Expression for other lines at the place of `text`; `alone`: the only value of its cell."""
    if spec is not None and spec.name in fmt.repeats and spec.dtype != pl.String:
        whole = spec.dtype.is_integer() and re.fullmatch(CANONICAL, text)
        return CANONICAL if whole else None
    if not alone:
        return skeleton(text)
    if spec is not None and spec.numeric:
        return terminal(spec.terminal)
    number = terminal("NUMBER")
    return number if spec is None and re.fullmatch(number, text) else skeleton(text)


def skeleton(text: str) -> str:
    """`text` with any other digits in it, as a regular expression of polars.

    >>> skeleton("8400.2/8512.9")
    '[0-9]+\\\\.[0-9]+/[0-9]+\\\\.[0-9]+'
    """
    return _DIGITS.sub("[0-9]+", re.escape(text).replace(r"\ ", " "))


def _columns(prefix: str, record: Record) -> tuple[tuple[str, int, int], ...] | None:
    """Where in the prefix its columns stand; None where one comes from elsewhere."""
    found = []
    for name in _COLUMNS:
        said = record.prefix.get(name)
        if said is None:
            continue
        matches = (re.search(pattern, prefix) for pattern in PLACES[name])
        match = next((match for match in matches if match), None)
        if match is None or match[1] != said:
            return None
        found.append((name, match.start(1), len(said)))
    return tuple(found)


def _places(
    read: _Read, separator: str
) -> tuple[list[_Place], tuple[tuple[str, str | int], ...]] | None:
    """Where the values stand, in order, and the cells that no column declares."""
    text = read.text
    places = [
        _Place(cell.column - 1, cell.column - 1 + len(cell.text), name, cell.scale)
        for name, cell in read.record.cells.items()
    ]
    if any(text[p.start : p.end] != read.record.cells[p.field].text for p in places):
        return None
    others: list[tuple[str, str | int]] = []
    at, count = 0, 0
    for label, said in read.record.other:
        place = _other(text, at, label, said, separator)
        if place is None or any(p.start < place[1] and place[0] < p.end for p in places):
            return None
        at = place[1]
        others.append((label, count if said else ""))
        if said:
            places.append(_Place(*place, "", 1.0))
            count += 1
    places.sort()
    apart = all(a.end <= b.start for a, b in itertools.pairwise(places))
    return (places, tuple(others)) if apart else None


def _other(text: str, at: int, label: str, said: str, separator: str) -> tuple[int, int] | None:
    """From where to where the value of an undeclared cell stands, behind position `at`."""
    edge = rf"(?:{re.escape(separator)}|\s|$)"
    if not label:
        alone = rf"(?<={re.escape(separator)})\s*({re.escape(said)})\s*(?={re.escape(separator)}|$)"
        match = re.compile(alone).search(text, at)
        return match.span(1) if match else None
    begin = rf"(?:^|(?<={re.escape(separator)})|(?<=\s)){re.escape(label)}\s*"
    value = rf"[:=]\s*({re.escape(said)})(?={edge})" if said else rf"[:=]?\s*()(?={edge})"
    match = re.compile(begin + value).search(text, at)
    return match.span(1) if match else None


def _with_other_numbers(fmt: Format, read: _Read) -> str:
    """The example with every digit of its values changed, none alike where that can be."""
    assert fmt.cells is not None
    found = _places(read, fmt.cells.separator)
    assert found is not None
    text = list(read.text)
    turn = 0
    for place in found[0]:
        for at in range(place.start, place.end):
            if text[at].isdigit():
                turn += 1
                text[at] = str((int(text[at]) + turn) % 9 + 1)
    return "".join(text)


def split(layout: Layout, lines: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Lines of this layout as a raw frame (see `raw_frame`) and those that are not of it.

    `lines` has the columns line and text, one row per line with as many separators as the layout.
    """
    names = [f"v{i}" for i in range(len(layout.values))]
    body = pl.col("text").str.slice(layout.width) if layout.width else pl.col("text")
    proofs = []
    if layout.width:
        head = pl.col("text").str.head(layout.width)
        proofs.append(head.str.contains(f"^{layout.lead}$"))
    parts = lines.select(
        "line", "text", part=body.str.split_exact(layout.separator, len(layout.segments) - 1)
    ).unnest("part")
    values: list[pl.Expr] = []
    for at, segment in enumerate(layout.segments):
        found, proof = _cells(pl.col(f"field_{at}"), segment)
        values += found
        proofs += proof
    cells = parts.select(
        "line",
        *(value.alias(name) for value, name in zip(values, names, strict=True)),
        *(pl.col("text").str.slice(start, n).alias(name) for name, start, n in layout.places),
        proven=pl.all_horizontal(proofs),
    )
    proven = cells["proven"].fill_null(value=False)
    return raw(layout, cells.filter(proven)), lines.filter(~proven)


def _cells(part: pl.Expr, segment: Segment) -> tuple[list[pl.Expr], list[pl.Expr]]:
    """The values of one segment, and what proves them."""
    if not segment.values:
        blank = part.str.strip_chars(" ") == ""
        return [], [part == segment.after if segment.after else blank]
    values, proofs, rest = [], [], part
    for at, value in enumerate(segment.values):
        if at == 0 and value.before:
            proofs.append(rest.str.starts_with(value.before))
            rest = rest.str.strip_prefix(value.before)
        text, after = rest, segment.after
        if at + 1 < len(segment.values):
            after = segment.values[at + 1].before
            halves = rest.str.splitn(after, 2)
            text, rest = halves.struct.field("field_0"), halves.struct.field("field_1")
        elif after:
            proofs.append(rest.str.ends_with(after))
            text = rest.str.strip_suffix(after)
        # beside a letter, as of a unit, blanks mean something: they are among the label then
        close = after.lstrip(" ")[:1].isalnum() or at + 1 == len(segment.values)
        bare = text.str.strip_chars_start(" ") if after and close else text.str.strip_chars(" ")
        values.append(bare)
        proofs.append(bare.str.contains(f"^(?:{value.pattern})$"))
    return values, proofs


def raw(layout: Layout, cells: pl.DataFrame) -> pl.DataFrame:
    """The proven cells under the names of their columns, with scales where a cell has one."""
    taken: dict[str, pl.Expr] = {name: pl.col(name) for name, _, _ in layout.places}
    for at, value in enumerate(layout.values):
        if value.field:
            taken[value.field] = pl.col(f"v{at}")
            if value.scale != 1.0:
                taken[f"{value.field}@scale"] = pl.lit(value.scale)
    if layout.others:
        taken["other"] = others(layout)
    column = pl.lit(layout.width + 1, dtype=pl.UInt32).alias("column")
    return cells.select("line", column, **taken)


def others(layout: Layout) -> pl.Expr:
    """The cells that no column declares, from the columns of their values."""
    undeclared = [pl.col(f"v{at}") for at, value in enumerate(layout.values) if not value.field]
    texts = [undeclared[s] if isinstance(s, int) else pl.lit(s) for _, s in layout.others]
    pairs = [
        pl.struct(name=pl.lit(label), text=text)
        for (label, _), text in zip(layout.others, texts, strict=True)
    ]
    return pl.concat_list(pairs).cast(OTHER).alias("other")
