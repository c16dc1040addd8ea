"""Programs that the rows or the columns of a table compare, by the labels of these: `Basalt (stage
3)` above `DeepSpeed (stage 3)`, where the document says that it is about Basalt.

In: the records of tables, and the programs that their document names. Out: the same rows, each with
the program that its label begins with, where the labels of one column begin with several. Of parts
that one program may be run with, `FSDP` above `DeepSpeed`, nothing is said, unless that of the
document stands among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from assay.ingest.columns.titles import model_named
from assay.ingest.schema.record import Cell, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.program_names import (
    OF_IMPLEMENTATIONS,
    OF_PROGRAMS,
    PARTS,
    Program,
    is_library,
    program_named,
)
from assay.ingest.vocabulary.terms import normalise

FAR = 8
"""Lines between two rows of one table at most."""

_ENDS = deferred(r"[\w.-]*(?=$|[\s*`)\]]*(?:$|[\s(,+:/\]]))")

_MARKS = re.compile(r"[\s*`\[(_]*")

_NAMED = deferred(
    r"\s*(?:\[(?P<linked>[A-Za-z][\w.-]{2,30})\]\([^()\s]{1,200}\)"
    r"|(?P<coined>[A-Za-z][\w.]{0,24}(?:[A-Z]|-[A-Z])[\w.-]{0,24}))\s*"
)
"""A cell that is one name, with a link or a capital inside."""


def settle(records: Sequence[Record], programs: Mapping[int, Cell]) -> None:
    """Give rows that compare programs, in place, the one that each names."""
    own = {cell.text.partition(" ")[0].casefold(): cell for cell in programs.values()}
    rows = [row for row in records if row.tabled and row.alike is None]
    for table in _tables(rows):
        for label in {name for row in table for name, _ in row.other}:
            told = [(row, text, _program(text, own)) for row, text in _texts(table, label)]
            _leave_ways_open(told, own)
            if {name for _, _, name in told} - PARTS - {""}:
                told = [(row, text, name or _numbered(text)) for row, text, name in told]
            names = {name for _, _, name in told} - {""}
            labelled = normalise(label) in OF_IMPLEMENTATIONS | OF_PROGRAMS
            here = labelled or not own or bool(names & own.keys())
            if len(names) < 2 - labelled or not here or not names - PARTS:
                continue
            for row, text, name in told:
                said = own[name].text if name in own else _in_full(name, text)
                said = said or _called(text, wanted=labelled)
                if said:
                    row.cells.setdefault("program", Cell(said, row.line, row.column))


def _leave_ways_open(told: Sequence[tuple[Record, str, str]], own: Mapping[str, Cell]) -> None:
    """Say of rows that are called by the way of another program, `Megatron-CP` beside `Basalt CP`
    in a document about Basalt, that nobody knows which program ran them."""
    if not any(name in own for _, _, name in told):
        return
    for row, text, name in told:
        way = "" if name else _program(_WAY.sub(" ", text), own)
        if way and way not in {"fsdp", *own}:
            row.cells["program"] = Cell(way, row.line, row.column, state="unknown")


_WAY = re.compile(r"(?<=[A-Za-z0-9])-(?=[A-Z])")
"""Between the name of a program and what is called after it: `DeepSpeed-Ulysses`."""


def _tables(rows: Sequence[Record]) -> Iterator[list[Record]]:
    """Rows of one table each, as those of which no program is printed in a column of its own."""
    held: list[Record] = []
    for row in sorted(rows, key=lambda row: row.line):
        if held and row.line > held[-1].line + FAR:
            yield held
            held = []
        held.append(row)
    if held:
        yield held


def _texts(table: Sequence[Record], label: str) -> Iterator[tuple[Record, str]]:
    for row in table:
        text = next((text for name, text in row.other if name == label), "")
        if text and "program" not in row.cells:
            yield row, text


def _program(text: str, own: Mapping[str, Cell]) -> str:
    """The program that a label begins with, by its name alone; empty where it names none."""
    begin = (_MARKS.match(text) or [""])[0]
    for name in own:
        if text.casefold().startswith(name, len(begin)) and _ENDS.match(
            text, len(begin) + len(name)
        ):
            return name
    told: Program | None = program_named(text)
    return told.name if told and told.at <= len(begin) else ""


def _in_full(name: str, text: str) -> str:
    """A program with the version that its label prints."""
    told = program_named(text)
    return told.text if told and told.name == name else name


def _numbered(text: str) -> str:
    """A name with its version, which beside the label of a program is one too, whoever knows it:
    `PEFT 0.12` beside `Unsloth 2024.8`."""
    found = _IN_VERSION.fullmatch(text)
    name = found["name"] if found else ""
    if found is None or model_named(name) or devices(name):
        return ""
    if is_library(name) and name.casefold() not in _TRAINING:
        return ""
    return f"{name} {found['version']}"


_TRAINING = {"peft", "accelerate", "transformers"}
"""Libraries with which a model is trained as it is with a program beside them."""


_IN_VERSION = deferred(
    r"[\s*`]*(?P<name>[A-Za-z][\w-]{2,24}(?: [A-Z][\w-]{2,24})?) "
    r"(?P<version>v?[0-9]{1,4}(?:\.[0-9]{1,3}){1,2})[*`]*(?:\s*\([^()]{1,60}\))?\s*"
)


def _called(text: str, *, wanted: bool) -> str:
    """The name of a program nobody knows, if a cell is one; else empty."""
    found = _NAMED.fullmatch(text) if wanted else None
    name = (found["linked"] or found["coined"]) if found else ""
    other = not name or is_library(name) or model_named(name) or devices(name)
    return "" if other else name
