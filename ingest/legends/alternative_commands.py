"""Commands of one block of code that run different things: `bash run_8b.sh  # micro batch 4` above
`bash run_70b.sh  # micro batch 1`.

In: the statements of a document, the records of its tables, and its lines. Out: the same statements
without what these commands say otherwise of a setting, for none of them is of all rows; and the
rows of the model whose size each command names, with what its line says. Commands that name no
sizes are those of rows that they fit (`assay.ingest.binding.started_below`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.titles import SIZED
from assay.ingest.grids.grid import LONGEST
from assay.ingest.legends.label_signs import give
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.command_lines import command
from assay.ingest.statements.context import Context
from assay.ingest.statements.phrases import phrases
from assay.ingest.statements.row_words import SETTINGS

_FENCE = re.compile(r"\s*(?:```|~~~)")

_COMMAND = deferred(
    r"\s*(?:[$>]\s+)?(?:[A-Z_]{2,20}=\S+ )*(?:bash|sh|python3?|torchrun|srun|sbatch|accelerate"
    r"|deepspeed|mpirun|\./\S+)\s+(?P<what>\S.*)"
)
"""A line that starts something."""

_SIZE = deferred(r"(?<![0-9A-Za-z.])([0-9]{1,4}(?:\.[0-9]{1,2})?)([bBmM])(?![A-Za-z0-9])")

_SCALES = {"b": 1e9, "m": 1e6}

_OF_CODE = deferred(r"[_/=.]")

SEVERAL = 2
"""Commands of a block."""


def settle(context: Context, records: Sequence[Record], lines: Sequence[Line]) -> set[int]:
    """Take from statements, in place, what commands of one block say in several ways, and give it
    to the rows of the sizes that they name; the lines of these commands."""
    used = set[int]()
    rows = [row for row in records if row.tabled and row.alike is None]
    for block in _blocks(lines) if rows else ():
        told = {line.number: _settings(line) for line in block}
        sizes = {line.number: _named(line) for line in block}
        each_of_one = None not in sizes.values() and len({*sizes.values()}) == len(sizes)
        apart = {
            name for name in SETTINGS
            if len({
                cell.text if cell else "" for values in told.values()
                if (cell := values.get(name)) or each_of_one  # what others do not say, either
            }) > 1
        }  # fmt: skip
        if not each_of_one:
            sizes = {at: size for at, size in sizes.items() if apart & told[at].keys()}
        if len(sizes) < SEVERAL or None in sizes.values() or len({*sizes.values()}) < len(sizes):
            continue
        context.statements = [
            replace(each, values={
                name: cell for name, cell in each.values.items()
                if not (name in apart and cell.line in told)
            })
            for each in context.statements
        ]  # fmt: skip
        used |= told.keys()
        for line in block:
            size = sizes.get(line.number)
            values = {n: c.text for n, c in told[line.number].items() if n in apart}
            for row in rows if size else ():
                if size in _sizes(row):
                    give(row, values)
    return used


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The commands of each block of code, where they are several."""
    held: list[Line] | None = None
    for line in lines:
        if _FENCE.match(line.text):
            if held is not None and len(held) >= SEVERAL:
                yield held
            held = [] if held is None else None
        elif held is not None and len(line.text) <= LONGEST and _COMMAND.match(line.text):
            held.append(line)


def _settings(line: Line) -> Mapping[str, Cell]:
    """Settings of a command, by its options and by the remark behind it."""
    text, _, remark = line.text.partition(" #")
    said = command(line._replace(text=text)) if "=" in text or "--" in text else {}
    told = phrases(line._replace(text=remark), least=1) if remark else {}
    return {
        name: cell for name, cell in {**told, **said}.items()
        if name in SETTINGS and cell.state == "value"
    }  # fmt: skip


def _named(line: Line) -> float | None:
    """The one size of a model that a command names."""
    plain = _OF_CODE.sub(" ", line.text.partition(" #")[0])
    sizes = {float(found[1]) * _SCALES[found[2].lower()] for found in _SIZE.finditer(plain)}
    return sizes.pop() if len(sizes) == 1 else None


def _sizes(row: Record) -> set[float]:
    """Sizes that a row gives its model, as a number or in its name."""
    found = {number for name in ("model_size", "parameters") if (cell := row.cells.get(name))
             and (number := number_of(cell)) is not None}  # fmt: skip
    model = row.cells.get("model")
    if model is not None and SIZED.search(model.text):
        found |= {float(m[1]) * _SCALES[m[2].lower()] for m in _SIZE.finditer(model.text)}
    return found
