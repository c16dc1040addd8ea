"""Columns that switch a number format on, or say in which one mixed precision computes.

In: the columns of a table, its cells, and a row. Out: the format that the row ran in: `use_fp16` of
1, `amp` of `bf16`. A row that has all of them off ran in none of these, and in nobody knows which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from assay.ingest.columns.headers import Column, plain
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Cell, Record
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

_SWITCH = re.compile(
    r"-{0,2}(?:(?:use|with|enable|is|train|amp)[-_ ]?)?(fp16|bf16|fp8|tf32|float16|bfloat16)"
    r"(?:[-_ ](?:enabled|on|amp|training))?\??"
    r"|(?:AMP|autocast|mixed[-_ ]precision) ?[(\[](fp16|bf16|float16|bfloat16)[)\]]\??",
    re.IGNORECASE,
)
"""A label of what is on or off: `use-fp16`, `AMP (bf16)`."""

_MIXED = re.compile(
    r"(?:use[-_ ])?(?:AMP|autocast|mixed[-_ ]?precision)(?:[-_ ](?:d?type|mode|precision))?",
    re.IGNORECASE,
)
"""A label of what mixed precision computes in: `amp`."""

_FORMAT = re.compile(NUMBER_FORMAT, re.IGNORECASE)

ON = {"1", "yes", "y", "true", "on", "✓", "✔", "✅", "x", "是", "enabled"}

OFF = {"0", "no", "n", "false", "off", "none", "✗", "✘", "❌", "×", "-", "–", "—", "", "否",
        "disabled"}  # fmt: skip

_WIDE = {"tf32"}
"""Formats of products that none of a narrower one needs."""


def format_columns(
    columns: Iterable[tuple[int, Column]], rows: Iterable[Sequence[str]]
) -> Mapping[str, str]:
    """Labels of such columns, each with the format that it switches on; empty where its cells name
    one. A column is such a one only if every cell of it is.

    >>> columns = enumerate(Column(label, None) for label in ("use-fp16", "amp", "bf16"))
    >>> format_columns(columns, [["1", "bf16", "2.5"], ["0", "none", "1"]])
    {'use-fp16': 'fp16', 'amp': ''}
    """
    held, found = list(rows), dict[str, str]()
    for at, column in columns:
        label = plain(column.label) if column.spec is None and len(column.label) <= LONGEST else ""
        switch = _SWITCH.fullmatch(label) if label else None
        if not switch and not _MIXED.fullmatch(label):
            continue
        texts = {plain(row[at]).casefold() for row in held if at < len(row)}
        named = {text for text in texts if _FORMAT.fullmatch(text)}
        known = ON | OFF if switch else ON | OFF | named
        if texts <= known and texts - OFF:
            found[column.label] = (switch[1] or switch[2]).lower() if switch else ""
    return found


def switch_format(record: Record, told: Mapping[str, str]) -> None:
    """Fill in the number format that a row has on, by `format_columns`: unknown where it has them
    all off, or several on."""
    if not told or "dtype" in record.cells:
        return
    said = [(told[label], plain(text).casefold()) for label, text in record.other if label in told]
    on = {kind or text for kind, text in said
          if (text in ON if kind else _FORMAT.fullmatch(text))}  # fmt: skip
    narrow = on - _WIDE or on
    if len(narrow) == 1:
        record.cells["dtype"] = Cell(narrow.pop(), record.line, record.column)
    elif on or any(text in OFF for _, text in said):
        text = " ".join(text for _, text in said) or "off"
        record.cells["dtype"] = Cell(text, record.line, record.column, state="unknown")
