"""Settings that the code of a notebook says of its runs: the model it builds, the devices it has.

In: the lines of a notebook, and one of them. Out: field → cell; the model where a variable that is
called so is built by a name, `net = zoo.build("resunet3d")`; the device that a cell has printed and
its count where the code above says that it prints both, one behind the other: `NVIDIA A40 1` below
`print(torch.cuda.get_device_name(0), torch.cuda.device_count())`. A number beside a device alone
may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import SIGN, only, signed

LAW = "the code above prints the device and how many there are"


def in_notebook(lines: Sequence[Line], at: int) -> dict[str, Cell]:
    """Settings that a line of a notebook says, as code or by the code that printed it."""
    return built_model(lines[at]) | printed_host(lines, at)


_BUILDS = deferred(
    r"\s*\"?\s*(?:self\.)?(?:model|net|network|backbone) ?= ?(?:[A-Za-z_]\w*\.){0,4}"
    r"(?:\w*build\w*|\w*create\w*|get_\w*|\w*load\w*|make_\w*|from_pretrained|from_name|from_config)"
    r"\((?:\w+ ?= ?)?\\?[\"'](?:[\w.-]+/)?([A-Za-z][\w.-]{2,60})\\?[\"'](?=\s*[,)])"
)
"""A model that is built by its name."""


def built_model(line: Line) -> dict[str, Cell]:
    """The model that a line of code builds by its name, where that is more than a word.

    >>> line = Line(7, "net = zoo.build('resunet3d', classes=4)", 1, {})
    >>> {name: (cell.text, cell.column) for name, cell in built_model(line).items()}
    {'model': ('resunet3d', 18)}
    >>> built_model(Line(8, "model = zoo.build('unet')", 1, {}))
    {}
    """
    found = _BUILDS.match(line.text) if "(" in line.text and "=" in line.text else None
    if found is None or not re.search("[0-9]", found[1]):
        return {}
    return {"model": Cell(found[1], line.number, line.column + found.start(1))}


_NAME = r"get_device_name\([^()]*\)|get_device_properties\([^()]*\)\.name"

_COUNT = r"(?:[a-z]+\.){0,3}device_count\(\)"

_NAME_FIRST = deferred(rf"(?:{_NAME})\s*,\s*{_COUNT}")

_COUNT_FIRST = deferred(rf"{_COUNT}\s*,\s*(?:[a-z]+\.){{0,3}}(?:{_NAME})")

_COUNT_BEHIND = deferred(rf"{SIGN} ([0-9]{{1,2}})(?![\w.])")

_COUNT_BEFORE = deferred(rf"(?<![\w.])([0-9]{{1,2}}) {SIGN}")

_CELL = '"cell_type"'

FARTHEST = 40
"""Lines between a line of output and the code that prints it."""


def printed_host(lines: Sequence[Line], at: int) -> dict[str, Cell]:
    """The device that a line of output names, and how many there are, as the code above says.

    >>> code = '"print(torch.cuda.get_device_name(0), torch.cuda.device_count())"'
    >>> lines = [Line(1, code, 1, {}), Line(2, "NVIDIA A40 2", 1, {}), Line(3, "A100 7 us", 1, {})]
    >>> {name: cell.text for name, cell in printed_host(lines, 1).items()}
    {'gpu': 'A40', 'gpus': '2'}
    >>> printed_host(lines[1:], 0)
    {}
    """
    line = lines[at]
    device = only(line.text) if len(line.text) < LONGEST else None
    if device is None:
        return {}
    for above in reversed(lines[max(0, at - FARTHEST) : at]):
        if _CELL in above.text:
            return {}
        behind = _NAME_FIRST.search(above.text) is not None
        if behind or _COUNT_FIRST.search(above.text):
            found = (_COUNT_BEHIND if behind else _COUNT_BEFORE).search(signed(line.text))
            if found is None or found[1] == "0":
                return {}
            count = Cell(found[1], line.number, line.column + found.start(1), law=LAW)
            return {"gpu": Cell(device.text, line.number, line.column, law=LAW), "gpus": count}
    return {}


LONGEST = 120
"""Letters of a line that prints devices and little else."""
