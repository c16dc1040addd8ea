"""Training lines that a hard wrap or another rank has torn apart: found, and put together.

A piece continues a record only if the seam makes sense: the torn cell is, joined, a metric that the
schema knows with a value that reads, and neither side is such a record alone. Pieces of other
ranks, other records and empty lines in between are passed over. What is put together is marked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from assay.ingest.lines.lark import terminal_of
from assay.ingest.lines.metrics import cell, declared
from assay.ingest.schema.record import Line, Schema
from assay.ingest.schema.terminals import terminal

REACH = 12
"""Lines after the first piece that are looked at."""

_SEPARATOR = re.compile(r"[:=]")

DIGITS = re.compile(r"[0-9.eE+-]*")


@dataclass(frozen=True)
class Pieces:
    """A record and the lines it stands on; `starts` are the offsets of the pieces in `text`."""

    text: str
    lines: tuple[Line, ...]
    starts: tuple[int, ...] = (0,)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column in the input of a character of `text`."""
        which = max(i for i, start in enumerate(self.starts) if start <= offset)
        line = self.lines[which]
        return line.number, line.column + offset - self.starts[which]


def whole(lines: Sequence[Line], schema: Schema) -> Pieces:
    """The record that begins with the first of `lines`, with whatever pieces of it follow."""
    first = lines[0]
    text = first.text.rstrip()
    pieces, starts = [first], [0]
    widths = [first.column + len(first.text)]
    for line in lines[1 : 1 + REACH]:
        more = line.text.strip()
        if not more or line.number == first.number or _foreign(first, line):
            continue
        if begins_record(more):
            break
        if begins_any(more):
            continue
        even = len(widths) > 1 and len(set(widths)) == 1
        if not continues(text, more, schema, even=even):
            break
        widths.append(line.column + len(line.text))
        lead = len(line.text) - len(line.text.lstrip())
        pieces.append(line._replace(text=more, column=line.column + lead))
        starts.append(len(text))
        text += more
    return Pieces(text, tuple(pieces), tuple(starts))


def _foreign(first: Line, line: Line) -> bool:
    """Whether a line comes from another rank or host than the record's first piece."""
    return any(
        line.prefix.get(name) not in (None, first.prefix.get(name)) for name in ("host", "rank")
    )


def begins_record(text: str) -> bool:
    """Whether a training line begins here, be it with a metric in front of its head."""
    return _begins()[0].match(text) is not None


def begins_any(text: str) -> bool:
    """Whether any record of a job begins here."""
    return _begins()[1].match(text) is not None


@cache
def _begins() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How a training line begins, and how any record of a job begins."""
    head = terminal_of("megatron_iteration", "HEAD")
    return re.compile(rf"(?:[^|:=]*[:=][^|]*\|\s*)?{head}"), re.compile(terminal("SEAM"))


def continues(text: str, more: str, schema: Schema, *, even: bool = False) -> bool:
    """Whether `more` goes on where `text` stops; `even`: the pieces so far are equally wide."""
    cells = more.split("|")
    torn = text.rsplit("|", 1)[-1].strip()
    first = cells[0].strip()
    if any(not _SEPARATOR.search(inner) for inner in cells[1:-1] if inner.strip()):
        return False
    if not torn:
        return _known(first, schema)
    if not _SEPARATOR.search(torn) or _SEPARATOR.split(torn, maxsplit=1)[1].strip() == "":
        return _known(torn + first, schema) or _known(f"{torn} {first}", schema)
    if not first:
        return len(cells) > 1 and _known(cells[1].strip(), schema)
    if not DIGITS.fullmatch(first) or not _known(torn + first, schema):
        return False
    return len(cells) > 1 or even


def _known(text: str, schema: Schema) -> bool:
    """Whether a cell is a metric of the schema with a value that reads."""
    label, found, value = text.partition(":")
    if not found:
        label, found, value = text.partition("=")
    spec = declared(schema, label) if found else None
    if spec is None or not value.strip():
        return False
    held = cell(spec[0], value.strip(), spec[1], 1, 1).text
    return not spec[0].numeric or _value(spec[0].terminal).fullmatch(held) is not None


@cache
def _value(name: str) -> re.Pattern[str]:
    return re.compile(terminal(name))
