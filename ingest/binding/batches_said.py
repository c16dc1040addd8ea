"""Batches that are said of rows, as those of whom their document says that its batches are.

In: rows to which everything around them is bound, and the lines of their document. Out: the same
rows, with the batch of a device, or of the job, for one that a caption or a sentence gave them
without saying whose it is, where the document defines above its tables what it counts: `"Batch" is
the number of sequences per card`. Columns of batches are labelled so before they are read.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from assay.ingest.binding.speeds_proven import LAW as OF_A_STEP
from assay.ingest.columns.cells import number_of
from assay.ingest.columns.open_labels import whose_batch
from assay.ingest.grids.grid import LONGEST
from assay.ingest.prose.scopes import paragraphs
from assay.ingest.schema.configuration import MOST_SEQUENCES
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred

_FIELDS = {"micro": "micro_batch", "global": "global_batch"}

_SIZES = {"micro_batch", "global_batch", "global_batch_tokens"}


def settle_batches(records: Sequence[Record], lines: Sequence[Line], tabled: Set[int]) -> set[int]:
    """Give rows, in place, the batches that are said of them as whose they are; the lines that say
    whose."""
    for row in records:
        of_a_micro_batch(row.cells)
        of_tokens(row.cells)
        of_the_job(row.cells)
    texts = {line.number: line.text for line in lines}
    open_ = [
        row for row in records
        if row.tabled and (cell := row.cells.get("batch_size")) is not None
        and (cell.value_origin == "stated" or _overrides(texts.get(cell.line, ""), cell))
        and cell.state == "value" and not _SIZES & row.cells.keys()
    ]  # fmt: skip
    told = list(_defined(lines)) if open_ else []
    if len({each.whose for each in told}) != 1:
        return set()
    heads = [line.number for line in lines if line.text.startswith("#")]
    with_tables = {bisect_right(heads, row) for row in tabled}
    first, used = min(tabled, default=0), set[int]()
    for row in open_:
        mine = bisect_right(heads, row.line)
        for each in told:
            section = bisect_right(heads, each.lines[0])
            general = each.lines[0] < first and section not in with_tables
            if general or (section == mine and each.lines[0] < row.line):
                row.cells[_FIELDS[each.whose]] = row.cells.pop("batch_size")
                used.update(each.lines)
                break
    return used


def of_a_micro_batch(cells: dict[str, Cell]) -> None:
    """Rename a batch that steps of accumulation cannot share: it is what a device takes at once."""
    size, steps = cells.get("batch_size"), cells.get("accumulation")
    if size is None or steps is None or not size.state == steps.state == "value":
        return
    whole, count = number_of(size), number_of(steps)
    micro = cells.get("micro_batch")
    if micro is not None and micro[:3] == size[:3] and count and (whole or 0) % count:
        del cells["batch_size"]  # it was said of the row once more
        return
    if micro is not None or size.value_origin == "printed" or not (whole and count):
        return
    if count > 1 and whole % count:
        cells["micro_batch"] = cells.pop("batch_size")._replace(law=OF_STEPS)


OF_STEPS = "its steps of accumulation share no such batch"


def of_the_job(cells: dict[str, Cell]) -> None:
    """Make a batch that is said without saying whose that of the job, where it is made of several
    micro-batches of each of the replicas that a row prints: `BS=1024` over `DP` and `MBS`."""
    size = cells.get("batch_size")
    held = [cells.get(name) for name in ("micro_batch", "dp")]
    known = all(each is not None and each.state == "value" for each in (size, *held))
    if size is None or size.value_origin == "printed" or not known or _TOKENS in cells:
        return
    whole = number_of(size) or 0
    at_once = math.prod(number_of(each) or 0 for each in held if each is not None)
    if at_once and whole > at_once and whole % at_once == 0 and "accumulation" not in cells:
        del cells["batch_size"]
        cells.setdefault("global_batch", size)


_TOKENS = "global_batch_tokens"


def of_tokens(cells: dict[str, Cell]) -> None:
    """Put a batch that is stated, and larger than any of sequences, where its tokens stand, as
    whole sequences of the row's length: `total_batch_size=524288` of sequences of 1,024, or `batch
    524,288`, which no device takes at once. One that a row prints is of tokens where its length and
    its micro-batches multiply to it: 4,096 × 4 × 1 on 8 devices are 131,072."""
    length = cells.get("seq_len")
    if length is None:
        return
    for name in ("global_batch", "batch_size"):
        batch = cells.get(name)
        if batch is None:
            continue
        many, long = number_of(batch._replace(state="value")), number_of(length)
        if not many or not long or many % long:
            continue
        said = batch.value_origin != "printed" and many > MOST_SEQUENCES
        said &= batch.state == "value"
        if said or (name == "global_batch" and _in_a_step(cells) == many / long):
            del cells[name]
            cells.setdefault("global_batch_tokens", batch._replace(state="value"))


def _in_a_step(cells: Mapping[str, Cell]) -> float | None:
    """The sequences of a step by its micro-batches; None where a row prints not all of them."""
    if not {"micro_batch", "accumulation", "gpus", "tp"} <= cells.keys():
        return None
    held = {n: cells[n] for n in (*_PER_DEVICE, *_SHARED) if n in cells}
    many = {name: number_of(cell) for name, cell in held.items()}
    if not all(many.values()):
        return None
    step = math.prod(many[n] or 1 for n in _PER_DEVICE)
    return step / math.prod(many[n] or 1 for n in _SHARED if n in many)


_PER_DEVICE = ("micro_batch", "accumulation", "gpus")

_SHARED = ("tp", "pp", "cp")


def by_other_rows(records: Sequence[Record]) -> None:
    """Make, in place, batches those of whom the other rows of their tables prove them to be."""
    as_the_others(records)
    of_each_device(records)


def of_each_device(records: Sequence[Record]) -> None:
    """Make, in place, the batches of rows that print them beside steps of accumulation those of one
    device, where they make the global batch of some rows with the steps and all devices, each of
    which has the whole model, and of none another."""
    open_ = [
        row for row in records
        if row.tabled and row.alike is None and "micro_batch" not in row.cells
        and {"batch_size", "accumulation"} <= row.cells.keys()
        and row.cells["batch_size"].value_origin == "printed"
        and row.cells["accumulation"].value_origin == "printed"
    ]  # fmt: skip
    told = {told for row in open_ if (told := _makes_all(row.cells)) is not None}
    for row in open_ if told == {True} else ():
        row.cells["micro_batch"] = row.cells.pop("batch_size")._replace(law=OF_ALL_DEVICES)


OF_ALL_DEVICES = "with the steps and all devices it makes the global batch"


def _makes_all(cells: Mapping[str, Cell]) -> bool | None:
    """Whether the batch of a row, its steps and devices make its global batch; None where it says
    not all of them, or one device holds a part of the model."""
    names = ("batch_size", "accumulation", "gpus", "global_batch")
    numbers = [number_of(c) for name in names if (c := cells.get(name)) and c.state == "value"]
    if len(numbers) < len(names) or None in numbers or {"tp", "pp", "cp"} & cells.keys():
        return None
    size, steps, devices, whole = (number or 0 for number in numbers)
    return size * steps * devices == whole if devices > 1 else None


def beside_micro_batches(records: Sequence[Record]) -> None:
    """Make, in place, batches that are said of rows beside the micro-batches that these print those
    of the job, where in some row they can be nothing else, and no row has one that its replicas
    could not share.

    They are in a row without replicas, where all replicas take just as much at once, or where the
    printed rate and time of a step need as many tokens.
    """
    open_ = [
        row for row in records
        if row.tabled and row.alike is None and "global_batch" not in row.cells
        and {"batch_size", "micro_batch"} <= row.cells.keys()
        and row.cells["batch_size"].value_origin == "stated"
        and row.cells["micro_batch"].text != row.cells["batch_size"].text
    ]  # fmt: skip
    told = [_over_micro_batches(row.cells) for row in open_]
    if True in told and False not in told:
        for row in open_:
            row.cells["global_batch"] = row.cells.pop("batch_size")._replace(law=OF_REPLICAS)


OF_REPLICAS = "it is that of all replicas, which take micro-batches of it"


def _over_micro_batches(cells: Mapping[str, Cell]) -> bool | None:
    """Whether the batch of a row is that of the job; None where it may be that of each replica."""
    whole, micro = number_of(cells["batch_size"]), number_of(cells["micro_batch"])
    if not whole or not micro or whole % micro:
        return False
    replicas = _replicas(cells)
    if replicas and whole % (micro * replicas):
        return False
    seconds = cells.get("step_time")
    proven = seconds is not None and seconds.law == OF_A_STEP
    return True if proven or replicas == 1 or replicas == whole / micro else None


def _replicas(cells: Mapping[str, Cell]) -> float | None:
    """How many replicas of the model a row has: said, or what its layout leaves of its devices."""
    named = ("dp", "gpus", "nodes", "gpus_per_node")
    many = {name: number_of(cells[name]) for name in named if name in cells}
    if many.get("dp"):
        return many["dp"]
    devices = many.get("gpus") or (many.get("nodes") or 0) * (many.get("gpus_per_node") or 0)
    shared = [number_of(cells[name]) for name in _SHARED if name in cells]
    return devices / math.prod(each or 1 for each in shared) if shared and devices else None


def as_the_others(records: Sequence[Record]) -> None:
    """Make, in place, the batch that a row says of itself, and not whose, that of whom the text
    says the batch of the other rows of its table is, which it has instead: `LoRA, batch 8` below
    `2 per GPU unless noted`."""
    rows = sorted((r for r in records if r.tabled and r.alike is None), key=lambda row: row.line)
    table: list[Record] = []
    for row in [*rows, None]:
        if row is not None and (not table or row.line - table[-1].line <= NEAR):
            table.append(row)
            continue
        _as_most(table)
        table = [row] if row is not None else []


NEAR = 3
"""Lines between two rows of one table: one is a name of a group."""


def _as_most(table: Sequence[Record]) -> None:
    """The same of the rows of one table."""
    own = [row for row in table if _of_itself(row)]
    others = [row for row in table if "batch_size" not in row.cells]
    said = {(name, cell.line) for row in others for name in _SIZES & row.cells.keys()
            if (cell := row.cells[name]).line != row.line}  # fmt: skip
    printed = any(_SIZES & row.cells.keys() == set() for row in others)
    if not own or not others or printed or len(own) + len(others) < len(table):
        return
    ((kind, line),) = said if len(said) == 1 else {("", 0)}
    for row in own if kind else ():
        held = {n: row.cells[n] for n in _SIZES & row.cells.keys() if row.cells[n].state == "value"}
        few = (number_of(row.cells["batch_size"]) or 0) <= MOST_SEQUENCES
        if few and kind == "global_batch_tokens":
            continue  # `batch 8` below `0.5M tokens per step` counts no tokens
        if held.keys() <= {kind} and all(cell.line == line for cell in held.values()):
            row.cells[kind] = row.cells.pop("batch_size")


def _of_itself(row: Record) -> bool:
    """Whether words of a row say a batch."""
    held = row.cells.get("batch_size")
    return held is not None and held.line == row.line and held.state == "value"


class _Definition(NamedTuple):
    """Whose batches are, as a paragraph says on its lines."""

    whose: str
    lines: Sequence[int]


def _defined(lines: Sequence[Line]) -> Iterator[_Definition]:
    """Definitions, by paragraphs of a document, of whose its batches are."""
    plain = ((line.number, line.text) for line in lines
             if len(line.text) <= LONGEST and not line.text.lstrip().startswith("|"))  # fmt: skip
    for numbers, text in paragraphs(plain):
        for whose in whose_batch(text):
            yield _Definition(whose, list(numbers))


_OVERRIDE = deferred(r"[|\s`]*(?:[\w.-]+[.])?batch_?size[ =]", re.IGNORECASE)


def _overrides(text: str, cell: Cell) -> bool:
    """Whether a cell of a row is an option that sets a batch: `data.batch_size=64`."""
    return _OVERRIDE.match(text, max(cell.column - 1, 0)) is not None
