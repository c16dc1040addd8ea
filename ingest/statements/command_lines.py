"""Configuration in the command that started a job, and in names that jobs give to their output.

In: a line of a document. Out: field → cell of every option, assignment or part of a name that the
vocabulary knows. A value that is a shell's variable is said and not known: the cell is unknown, so
that no older statement speaks in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import by_label, fields
from assay.ingest.schema.record import Cell, Line
from assay.ingest.vocabulary.terms import normalise

_OPTION = re.compile(r"(?<![\w-])--([A-Za-z][\w.-]*)(?:=|\s+)[\"']?((?!-)[^\s\"'\\]+)")

_ALONE = re.compile(r"(?<![\w-])--standalone(?![\w-])")

_VARIABLE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)=[\"']?(\$[^\s]*)\s*\\?\s*")

_WHOLE = re.compile(r"[0-9]+")

_NAME = re.compile(r"[A-Za-z0-9./_=+-]{12,}")

_PART = re.compile(
    r"(?:^|[-_/])(ws|nl|hs|nh|mbs?|gbs?|seq|sl|tp|pp|dp|cp|ep|stage)([0-9]+)(?=[-_/.]|$)"
)

_FORMAT = re.compile(r"(?<=[-_/])(?:bf16|fp16|fp32|fp8)(?=[-_/.]|$)")

PARTS = {
    "ws": "gpus", "nl": "layers", "hs": "hidden", "nh": "heads", "mb": "micro_batch",
    "mbs": "micro_batch", "gb": "global_batch", "gbs": "global_batch", "seq": "seq_len",
    "sl": "seq_len", "tp": "tp", "pp": "pp", "dp": "dp", "cp": "cp", "ep": "ep",
    "stage": "zero_stage",
}  # fmt: skip
"""Parts of names put together of values: `ws3072-ds-stage1-nl12-hs2048-mb1-seq8192-gb6144`."""

FEWEST = 4
"""Parts of a name that must be known before it is taken for one that says a configuration."""


def command(line: Line) -> dict[str, Cell]:
    """Configuration that options of a command, or an assignment of a variable, state."""
    found: dict[str, Cell] = {}
    for option in _OPTION.finditer(line.text):
        if cell := _value(option[1], option[2], line, option.start(2)):
            found |= cell
    if found and _ALONE.search(line.text):
        at = line.text.index("--standalone")
        found["nodes"] = Cell("1", line.number, line.column + at, law="--standalone")
    if assigned := _VARIABLE.fullmatch(line.text):
        found |= _value(assigned[1], assigned[2], line, assigned.start(2)) or {}
    return found


def _value(key: str, text: str, line: Line, at: int) -> Mapping[str, Cell] | None:
    known = by_label(Configuration).get(normalise(key))
    if known is None or not fields(Configuration)[known[0].name].dtype.is_integer():
        return None
    cell = Cell(text, line.number, line.column + at)
    if _WHOLE.fullmatch(text):
        return {known[0].name: cell}
    return {known[0].name: cell._replace(state="unknown")} if "$" in text else None


def composed_name(line: Line) -> dict[str, Cell]:
    """Configuration in a name put together of values, if enough of its parts are known.

    >>> said = composed_name(Line(1, "out/m-ws64-nl12-hs2048-tp1/events", 1, {}))
    >>> {name: cell.text for name, cell in said.items()}
    {'gpus': '64', 'layers': '12', 'hidden': '2048', 'tp': '1'}
    """
    for name in _NAME.finditer(line.text):
        parts = list(_PART.finditer(name[0]))
        said = {
            PARTS[part[1]]: Cell(part[2], line.number, line.column + name.start() + part.start(2))
            for part in parts
        }
        if len(said) >= FEWEST and len(said) == len(parts):
            return said | _format(name[0], line, name.start())
    return {}


def _format(name: str, line: Line, at: int) -> dict[str, Cell]:
    """The number format among the parts of a name, if there is one."""
    found = list(_FORMAT.finditer(name))
    if len(found) != 1:
        return {}
    return {"dtype": Cell(found[0][0], line.number, line.column + at + found[0].start())}
