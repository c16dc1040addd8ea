"""Every text that a value holds, each once: what a redactor has to look at.

In: values made of frames, texts, bytes, tuples, mappings and dataclasses. Out: pairs of a name (of
the column or key, where it may say what the text is) and the text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import polars as pl
from assay.ingest.types import Format

PAIRS = (("name", "value"), ("name", "text"), ("field", "text"))
"""Columns of which one names what the other holds."""

TELLING = r"[A-Za-z@~]|[0-9]\.[0-9]|:[0-9A-Fa-f]*:"
"""Texts without a match (dates, numbers) name nobody."""


def telling(column: pl.Series) -> pl.Series:
    """The different texts of a column that may name somebody."""
    texts = column.unique().drop_nulls()
    return texts.filter(texts.str.contains(TELLING))


def holds_text(dtype: pl.DataType) -> bool:
    """Whether there is text somewhere in a column of that type."""
    if isinstance(dtype, pl.List):
        return holds_text(dtype.inner)  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):
        return any(holds_text(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return dtype in (pl.String, pl.Binary)


def texts(*values: Any) -> Iterator[tuple[str | None, str]]:
    """Every text of the values, once, with the name of its column or key where it has one."""
    seen = set()
    for pair in _texts(values):
        if pair not in seen:
            seen.add(pair)
            yield pair


def _texts(value: Any, name: str | None = None) -> Iterator[tuple[str | None, str]]:
    if isinstance(value, Enum | Format):
        return
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, bytes):
        yield name, value.decode("utf-8", "surrogateescape")
    elif isinstance(value, pl.DataFrame):
        yield from _of_frame(value)
    elif isinstance(value, pl.Series):
        yield from _of_column(value)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _texts(key)
            yield from _texts(one, key if isinstance(key, str) else None)
        if isinstance(value.get("name"), str) and isinstance(value.get("text"), str):
            yield value["name"], value["text"]
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _texts(one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _texts(getattr(value, field.name))


def _of_frame(frame: pl.DataFrame) -> Iterator[tuple[str | None, str]]:
    for column in frame:
        yield from _of_column(column)
    for name, value in PAIRS:
        if frame.schema.get(name) == frame.schema.get(value) == pl.String:
            yield from frame.select(name, value).unique().drop_nulls().sort(name, value).iter_rows()


def _of_column(column: pl.Series) -> Iterator[tuple[str | None, str]]:
    if column.dtype == pl.String:
        for text in telling(column):
            yield "host" if column.name == "host" else None, text
    elif holds_text(column.dtype):
        for row in column:
            yield from _texts(row.to_list() if isinstance(row, pl.Series) else row)
