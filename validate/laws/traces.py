"""Laws of a Ulysses trace: shapes, elements, bytes, symbolic labels, flop, peak memory.

A tensor line says one thing in four ways; what two of them agree on convicts the third.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import Any

import polars as pl
from assay.ingest.schema.record import Span
from assay.model.reproductions.ulysses import known_symbols
from assay.model.reproductions.ulysses_labels import dimensions, evaluate, solve
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number

ELEMENTS = "elements-of-shape"

BYTES = "bytes-of-elements"

LABEL = "label-of-shape"

PEAK = "peak-memory-falls"

ITEMSIZES = (1, 2, 4, 8)

Row = Mapping[str, Any]


def _frame(evidence: Evidence, name: str) -> pl.DataFrame:
    return evidence.reading.frames.get(name, pl.DataFrame())


def tensors(evidence: Evidence) -> list[Finding]:
    """Elements against shapes, bytes against elements, labels against shapes."""
    frame = _frame(evidence, "ulysses_tensor")
    if frame.is_empty():
        return []
    headers = {
        (row["source"], row["trace"]): row
        for row in _frame(evidence, "ulysses_trace").iter_rows(named=True)
    }
    found = []
    for (source, trace), rows in frame.group_by("source", "trace", maintain_order=True):
        lines = [row for row in rows.to_dicts() if not _ENDLESS.search(row["shape"])]
        header = headers.get((source, trace), {})
        found += _elements(lines) + _bytes(lines) + _labels(lines, known_symbols(header))
    return found


_ENDLESS = re.compile("[0-9]{16}|(?:,[^,]*){9}")
"""A shape that no tensor has, and whose elements may be more than a float holds."""


def shape(row: Row) -> tuple[int, ...]:
    """The dimensions of a tensor line."""
    inside = row["shape"].strip("[]() ")
    return tuple(int(part) for part in inside.split(",") if part.strip())


def _elements(lines: list[dict[str, Any]]) -> list[Finding]:
    return [
        _finding(
            ELEMENTS, row, [_count("elements", row["elements"])],
            [_count("elements", prod(shape(row)))],
            f"{row['shape']} holds {prod(shape(row)):,} elements, {row['elements']:,} are printed",
        )
        for row in lines
        if row["elements"] is not None and row["elements"] != prod(shape(row))
    ]  # fmt: skip


def _bytes(lines: list[dict[str, Any]]) -> list[Finding]:
    """Bytes of one element are what most tensors of the trace say."""
    votes: Counter[int] = Counter()
    for row in lines:
        votes.update(size for size in ITEMSIZES if _holds(row, size))
    if not votes:
        return []
    size, count = votes.most_common(1)[0]
    if count * 2 <= len(lines):
        return []
    found = []
    for row in lines:
        if _holds(row, size) or row["elements"] is None or row["bytes"] is None:
            continue
        implied = float(size * row["elements"])
        found.append(
            _finding(
                BYTES, row, [_size(row)], [Number("bytes", implied, implied, implied, "B")],
                f"{row['elements']:,} elements of {size} bytes, as in {count} of {len(lines)} "
                f"tensors, are {implied / 1e6:g} MB and not {row['bytes'] / 1e6:g} MB",
            )
        )  # fmt: skip
    return found


def _holds(row: Row, size: int) -> bool:
    if row["elements"] is None or row["bytes"] is None:
        return False
    value, place = row["bytes"], row["bytes_ulp"] or 0.0
    return bool(value - place / 2 <= size * row["elements"] <= value + place)


def _labels(lines: list[dict[str, Any]], stated: dict[str, int]) -> list[Finding]:
    known = {**stated, **_solved(lines, stated)}
    found = []
    for row in lines:
        said = dimensions(row["label"] or "")
        size = shape(row)
        if not said:
            continue
        values = [evaluate(each, known) for each in said]
        if None in values:
            continue
        if len(said) != len(size):
            text = f"{row['label']} has {len(said)} dimensions, {row['shape']} has {len(size)}"
            found.append(_finding(LABEL, row, [], [], text))
            continue
        wrong = [i for i, value in enumerate(values) if value != size[i]]
        if wrong:
            found.append(_label(lines, row, wrong, values, size, known))
    return found


def _label(
    lines: list[dict[str, Any]], row: dict[str, Any], wrong: list[int],
    values: list[int | None], size: tuple[int, ...], known: dict[str, int],
) -> Finding:  # fmt: skip
    said = dimensions(row["label"])
    parts = []
    for at in wrong:
        right = sorted(
            {
                each
                for other in lines
                for each in dimensions(other["label"] or "")
                if evaluate(each, known) == size[at] and each != said[at]
            },
            key=len,
        )
        hint = f", which is {right[0]} elsewhere" if right else ""
        parts.append(f"{said[at]} is {values[at]:,}, the shape has {size[at]:,}{hint}")
    agree = row["elements"] == prod(size)
    tail = "; elements and bytes agree with the shape" if agree and row["bytes"] else ""
    return _finding(
        LABEL, row,
        [_count(f"dim{at}", size[at]) for at in wrong],
        [_count(f"dim{at}", int(values[at] or 0)) for at in wrong],
        f"{row['label']}: {'; '.join(parts)}{tail}",
    )  # fmt: skip


def _solved(lines: list[dict[str, Any]], stated: dict[str, int]) -> dict[str, int]:
    """Symbols no header states, each as most of the labels have it."""
    votes: dict[str, Counter[int]] = {}
    for row in lines:
        one = solve([(row["label"] or "", shape(row))], stated)
        for name, (value, _) in one.items():
            votes.setdefault(name, Counter())[value] += 1
    return {name: count.most_common(1)[0][0] for name, count in votes.items()}


def peaks(evidence: Evidence) -> list[Finding]:
    """Peak memory that is below an earlier peak of the same trace."""
    frame = _frame(evidence, "ulysses_memory")
    if frame.is_empty():
        return []
    found = []
    for _, rows in frame.group_by("source", "trace", maintain_order=True):
        before: dict[str, Any] | None = None
        for row in rows.filter(pl.col("peak_memory").is_not_null()).iter_rows(named=True):
            place = row["peak_memory_ulp"] or 0.0
            if before is not None and row["peak_memory"] + place < before["peak_memory"] - place:
                earlier = _memory(before)
                text = (
                    f"a peak of {row['peak_memory'] / 1e9:g} GB after one of "
                    f"{before['peak_memory'] / 1e9:g} GB at line {before['line']}"
                )
                found.append(_finding(PEAK, row, [_memory(row)], [earlier], text, before))
            elif before is None or row["peak_memory"] > before["peak_memory"]:
                before = row
    return found


def _count(name: str, value: int) -> Number:
    return Number(name, float(value), float(value), float(value), "1")


def _size(row: Row) -> Number:
    place = row["bytes_ulp"] or 0.0
    return Number("bytes", row["bytes"], row["bytes"] - place / 2, row["bytes"] + place, "B")


def _memory(row: Row) -> Number:
    value, place = row["peak_memory"], row["peak_memory_ulp"] or 0.0
    return Number("peak_memory", value, value - place / 2, value + place, "B")


def _finding(
    law: str, row: Row, observed: list[Number], implied: list[Number], text: str,
    other: Row | None = None,
) -> Finding:  # fmt: skip
    spans = [Span(each["source"], each["line"], each["column"] or 1)
             for each in (row, other) if each is not None]  # fmt: skip
    return Finding(
        law=law,
        kind="identity",
        severity="error",
        spans=tuple(spans),
        observed=tuple(observed),
        implied=tuple(implied),
        explanation=text,
        meaning="Do not use the line for sizes before it is clear which of its numbers is meant.",
        cases=(f"{row['source']}#{row['trace']}",),
    )
