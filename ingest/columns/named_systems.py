"""Systems that a document names in a table of what they have: `| | Island N | Island A |`.

In: the lines of a document and a grid whose labels begin with the names of such systems. Out: the
grid with the device of each in the place of its name, where every system has one and no two the
same: a reader of `Island N` below `bus bandwidth` looks above for what that is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import Grid
from assay.ingest.grids.pipe_tables import pipe_tables
from assay.ingest.schema.record import Line
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import normalise

_OF_DEVICES = {"accelerator", "accelerators", "gpu", "gpus", "device", "devices", "accelerator(s)",
               "gpumodel", "gputype", "npu", "npus", "chip", "chips", "加速卡", "显卡"}  # fmt: skip
"""Labels of what computes in a system, in a table of what it has."""

_COUNT = re.compile(r"^[0-9]{1,2} ?[x×*] ?|,.*$|\(.*$")
"""How many of them a system has, and what is said of them behind their name."""

SEVERAL = 2

FAR = 400
"""Lines above a table among which that of the systems stands."""


def with_devices(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid with devices for the names of the systems that have them, in front of its labels."""
    labels = [plain(label) for label in grid.header()]
    if grid.labels or len(grid.heads) != 1 or any(map(only, labels)):
        return grid
    told = _systems(lines[max(0, grid.begin - FAR) : grid.begin], labels)
    if len(told) < SEVERAL or len({*told.values()}) < len(told):
        return grid
    made = [_with_its_device(label, told) for label in labels]
    head = grid.heads[0]
    cells = (cell._replace(text=text) for cell, text in zip(head.cells, made, strict=True))
    return replace(grid, heads=(replace(head, cells=tuple(cells)),))


def _with_its_device(label: str, told: Mapping[str, str]) -> str:
    """A label with the device of the system that it begins with."""
    for name in sorted(told, key=len, reverse=True):
        rest = label[len(name) :]
        if label.startswith(name) and not rest[:1].isalnum():
            return f"{told[name]}{rest}"
    return label


def _systems(lines: Sequence[Line], labels: Sequence[str]) -> dict[str, str]:
    """Name of a system → its device, of those that labels begin with."""
    found = dict[str, str]()
    for grid in pipe_tables(lines) if any("|" in line.text for line in lines) else ():
        if grid.labels or len(grid.heads) != 1:
            continue
        names = [plain(label) for label in grid.header()]
        whole = [[plain(cell.text) for cell in row.cells] for row in grid.rows]
        whole = [texts for texts in whole if len(texts) == len(names)]
        for texts in whole:
            if normalise(texts[0]) in _OF_DEVICES:
                found |= dict(zip(names[1:], texts[1:], strict=True))
        columns = [at for at, name in enumerate(names) if at and normalise(name) in _OF_DEVICES]
        if len(columns) == 1:
            found |= {texts[0]: texts[columns[0]] for texts in whole}
    held = {name: _device(text) for name, text in found.items()
            if name and any(label.startswith(name) for label in labels)}  # fmt: skip
    return {name: device for name, device in held.items() if device} if all(held.values()) else {}


def _device(text: str) -> str:
    """The one device that a cell names and nothing else, without how many there are; empty where it
    names none."""
    bare = _COUNT.sub("", _COUNT.sub("", text.strip(), count=1)).strip()
    one = only(bare)
    return bare if one is not None and not one.start and one.end == len(bare) else ""
