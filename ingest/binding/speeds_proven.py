"""Columns of how fast something was, without a unit, whose numbers the rates beside them prove to
be the seconds of a step: `Speed | TFlops` over `256 | 54.5`.

In: the records of tables, bound, and the lines of their document. Out: the same rows with a
`step_time`, which names its law. The operations of a step are those of all devices, rate times
time; if they are the same multiple of parameters times tokens in every row of the table, six, or
eight where activations are computed again, the number is in seconds, and of one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.headers import GENERIC
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.terms import normalise

LAW = "with the printed rate it makes 6 or 8 operations for each parameter and token of a step"

NEAR = 0.03
"""Share by which rounded sizes, batches and rates leave the multiple open."""

LEAST = 2
"""Rows that are not the same, of which one alone may fit by chance."""

APART = 2
"""Lines between two rows of one table: one is a name of a group, or empty."""

_NUMBER = deferred(r"[`*\s]*[~≈]?\s*([0-9]{1,6}(?:\.[0-9]{1,4})?)[`*\s]*")

_TIMES = ("time", "speed", "iteration", "latency")


def settle_speeds(records: Sequence[Record], lines: Sequence[Line]) -> dict[int, str]:
    """Give rows of tables, in place, the times that their columns of speed are proven to be; the
    label of the column by the line of each.

    A table with a row that does not fit is left alone; so is one whose only row does where no other
    of the document has the same.
    """
    rows = [row for row in records if row.tabled and row.alike is None and _asks(row)]
    texts = {line.number: line for line in lines} if rows else {}
    proven: dict[str, list[tuple[Record, str]]] = {}
    for (_, label), group in groupby(_with_labels(rows), key=lambda each: each[:2]):
        table = [(row, found) for _, _, row, found in group]
        if _is_law([_multiple(row, float(found)) for row, found in table]):
            proven.setdefault(label, []).extend(table)
    told: dict[int, str] = {}
    for label, every in proven.items():
        if len({(found, row.cells["model_flops_rate"].text) for row, found in every}) < LEAST:
            continue
        for row, found in every:
            place = _place(texts.get(row.line), found) or row.column
            row.cells["step_time"] = Cell(found, row.line, place, law=LAW)
            row.other = [
                each for each in row.other if (each[0], each[1].strip(" `*")) != (label, found)
            ]
            told[row.line] = label
    return told


def _asks(row: Record) -> bool:
    """Whether a row has a rate of operations, and nothing else that is measured of a step."""
    rate = row.cells.get("model_flops_rate")
    others = {"step_time", "tokens_per_s", "samples_per_s", "tokens_per_gpu_per_s", "step_rate"}
    return rate is not None and rate.state == "value" and not others & row.cells.keys()


def _with_labels(rows: Sequence[Record]) -> Iterator[tuple[int, str, Record, str]]:
    """Rows with the label and the number of their one column of speed, and the table they are of:
    its first line."""
    first = last = 0
    for row in sorted(rows, key=lambda row: row.line):
        found = [
            (label, number[1]) for label, text in row.other
            if normalise(label) in GENERIC.union(_TIMES) and (number := _NUMBER.fullmatch(text))
        ]  # fmt: skip
        first = row.line if row.line > last + APART else first
        last = row.line
        if len(found) == 1:
            yield first, found[0][0], row, found[0][1]


def _multiple(row: Record, seconds: float) -> float | None:
    """Operations of a step for each parameter and token, if the number of a row is its seconds."""
    cells = row.cells
    size = _of(cells, "parameters", "model_size")
    tokens = _of(cells, "global_batch_tokens")
    batch, length = _of(cells, "global_batch", "batch_size"), _of(cells, "seq_len")
    tokens = tokens or (batch * length if batch and length else None)
    rate = _of(cells, "model_flops_rate")
    devices = _devices(cells)
    if not (size and tokens and rate and devices and seconds):
        return None
    return rate * devices * seconds / (size * tokens)


def _devices(cells: Mapping[str, Cell]) -> float | None:
    """All devices of a row: counted, those of its nodes, or those that its layout needs."""
    if (count := _of(cells, "gpus")) is not None:
        return count
    nodes, each = _of(cells, "nodes"), _of(cells, "gpus_per_node")
    if nodes and each:
        return nodes * each
    degrees = [_of(cells, name) for name in ("tp", "pp", "dp")]
    if any(degree is None for degree in degrees):
        return None
    tp, pp, dp = (degree or 1 for degree in degrees)
    return tp * pp * dp * (_of(cells, "cp") or 1)


def _of(cells: Mapping[str, Cell], *names: str) -> float | None:
    """The number of the first of some fields that a row has."""
    for name in names:
        cell = cells.get(name)
        if cell is not None and cell.state == "value" and (value := number_of(cell)) is not None:
            return value
    return None


def _is_law(multiples: Sequence[float | None]) -> bool:
    """Whether numbers are all about six, or all about eight; of most rows they are known."""
    known = [each for each in multiples if each is not None]
    return len(known) > len(multiples) / 2 and any(
        all(abs(each / law - 1) <= NEAR for each in known) for law in (6, 8)
    )


def _place(line: Line | None, text: str) -> int | None:
    """Where the one cell of a line stands that is nothing but a text."""
    cells = [] if line is None else [
        found for found in _CELL.finditer(line.text) if found[1].strip("`*") == text.strip("`*")
    ]  # fmt: skip
    if line is None or len(cells) != 1:
        return None
    marks = len(cells[0][1]) - len(cells[0][1].lstrip("`*"))
    return cells[0].start(1) + marks + line.column


_CELL = deferred(r"(?:(?<=\|)|^|(?<=,)|(?<=\t)|(?<=  ))\s*([^\s|,]+)\s*(?=\||$|,|\t|  )")
