"""Memories of a table whose labels leave open of whom, or of what, they are.

In: the records of a table and its columns. Out: the same records; a memory that may be of several
devices is unknown, and one that a device has is none that a run took.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from assay.ingest.columns.cells import amount
from assay.ingest.columns.column_cells import each_row
from assay.ingest.columns.headers import Column, generic
from assay.ingest.numbers.units import UNITS
from assay.ingest.schema.record import Record
from assay.ingest.vocabulary.words import DEVICE, MEMORY, split

_OF_A_DEVICE = DEVICE | {"peak", "max", "maximum", "vram", "hbm", "cuda", "allocated", "reserved"}
"""Words of a label that say a memory is of one device."""


_SIZES = {each.scale: name for name, each in UNITS.items() if each.si == "B"}


def memory_of_whom(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """A memory whose label does not say of whom, beside sizes of models alone, may be that of one
    device or of all that a model was spread over: it is of nobody known.
    """
    held = [c for c in columns if c.spec is not None and c.spec.quantity is not None]
    own = next((c for c in held if c.spec and c.spec.name == "memory"), None)
    known = {c.spec.name for c in columns if c.spec is not None and c.spec.configuration}
    if (
        own is None
        or len(held) > 1
        or any(map(generic, columns))
        or known - {"model", "model_size", "parameters"}
        or own.most
    ):
        return
    if set(split(own.label)) & _OF_A_DEVICE:
        return
    for record in records:
        cell = record.cells.get("memory")
        spread = any(name in record.cells for name in ("gpus", "tp", "pp", "zero_stage", "gpu"))
        if cell is not None and cell.state == "value" and not spread:
            record.other.append((own.label, f"{cell.text} {_SIZES.get(cell.scale, '')}".strip()))
            record.cells["memory"] = cell._replace(state="unknown")


_CARRIED = {
    2, 3, 4, 6, 8, 10, 11, 12, 15, 16, 20, 22, 24, 32, 40, 44, 45, 46, 48, 64, 72, 80, 94, 95, 96,
    98, 112, 120, 128, 141, 143, 144, 180, 183, 186, 188, 192, 256, 268, 279, 288,
}  # fmt: skip
"""Gigabytes that devices come with."""

SEVERAL = 2
"""Rows whose memories may be those of their devices, before they are taken so."""

_OF_ANY_MEMORY = MEMORY | DEVICE | {"ram", "gb", "gib", "size", "per", "/", "each", "total"}
"""Words of a label that say nothing of how much of a memory was taken."""


def capacities(records: Sequence[Record], columns: Sequence[Column]) -> set[str]:
    """Take memories out of rows where they are those that their devices have: each as many whole
    gigabytes as devices come with, in all rows of a device as many, under a label that does not say
    that they were taken: `VRAM` of 24 GB beside an RTX 3090. Returns the labels of such columns.
    """
    own = next((c for c in columns if c.spec is not None and c.spec.name == "memory"), None)
    if own is None or own.most or set(split(own.label)) - _OF_ANY_MEMORY:
        return set()
    held = [(r, r.cells["memory"]) for r in records if "memory" in r.cells]
    told = [(r, cell) for r, cell in held if cell.state == "value"]
    has: dict[str, set[float]] = {}
    for record, cell in each_row(told, "memory"):
        gpu = record.cells.get("gpu")
        size = amount(cell) / (2.0**30 if log2(cell.scale).is_integer() else 1e9)
        if gpu is None or size not in _CARRIED:
            return set()
        has.setdefault(gpu.text, set()).add(size)
    if len(told) < SEVERAL or any(len(sizes) > 1 for sizes in has.values()):
        return set()
    for record, cell in told:
        record.other.append((own.label, cell.text))
        del record.cells["memory"]
    return {own.label}
