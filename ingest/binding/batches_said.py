"""Batches that are said of rows, as those of whom their document says that its batches are.

In: rows to which everything around them is bound, and the lines of their document. Out: the same
rows, with the batch of a device, or of the job, for one that a caption or a sentence gave them
without saying whose it is, where the document defines above its tables what it counts: `"Batch" is
the number of sequences per card`. Columns of batches are labelled so before they are read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence, Set

from assay.ingest.columns.open_labels import whose_batch
from assay.ingest.grids.grid import LONGEST
from assay.ingest.prose.scopes import paragraphs
from assay.ingest.schema.record import Line, Record

_FIELDS = {"micro": "micro_batch", "global": "global_batch"}

_SIZES = {"micro_batch", "global_batch", "global_batch_tokens"}


def settle_batches(records: Sequence[Record], lines: Sequence[Line], tabled: Set[int]) -> set[int]:
    """Give rows, in place, the batches that are said of them as whose they are; the lines that say
    whose."""
    open_ = [
        row for row in records
        if row.tabled and (cell := row.cells.get("batch_size")) is not None
        and cell.value_origin == "stated" and cell.state == "value"
        and not _SIZES & row.cells.keys()
    ]  # fmt: skip
    told = _defined(lines, tabled) if open_ else {}
    if len(told) != 1:
        return set()
    ((whose, defined),) = told.items()
    for row in open_:
        row.cells[_FIELDS[whose]] = row.cells.pop("batch_size")
    return defined


def _defined(lines: Sequence[Line], tabled: Set[int]) -> dict[str, set[int]]:
    """Whose the batches of a document are, as its definitions say that stand above its tables, in a
    section without any; nothing where one of a section with tables says something else."""
    heads = [line.number for line in lines if line.text.startswith("#")]
    with_tables = {bisect_right(heads, row) for row in tabled}
    first = min(tabled, default=0)
    told: dict[str, set[int]] = {}
    plain = ((line.number, line.text) for line in lines
             if len(line.text) <= LONGEST and not line.text.lstrip().startswith("|"))  # fmt: skip
    for numbers, text in paragraphs(plain):
        for whose in whose_batch(text):
            general = numbers[0] < first and bisect_right(heads, numbers[0]) not in with_tables
            told.setdefault(whose if general else f"of some {whose}", set()).update(numbers)
    agree = len({word.removeprefix("of some ") for word in told}) == 1
    return {word: at for word, at in told.items() if word in _FIELDS and agree}
