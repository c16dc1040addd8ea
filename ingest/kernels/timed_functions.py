"""Functions that pytest-benchmark times, one in each row of its table.

In: the lines of a document. Out: a record for each function, with the median of its rounds, or
their mean where the table has no median. The header gives the unit of every time; behind each
number of several functions stands in brackets how many times the best one it is.

Source: pytest_benchmark/table.py, whose columns `--benchmark-columns` chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred

_HEADER = deferred(r"\s*Name \(time in (s|ms|us|ns)\)\s{2,}(\S.*?)\s*")

_SCALES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

_ROW = deferred(r"\s*(\S+(?: \S+)*?)\s{2,}((?:[0-9(>][^\s]*(?:\s+|$))+)")

_NUMBER = deferred(r"([0-9][0-9,]*(?:\.[0-9]+)?(?:;[0-9,]+)?)(?: \([^()]*\))?(?:\s+|$)")

_BELIEVED = ("Median", "Mean")


def timed_functions(lines: Sequence[Line]) -> Iterator[tuple[list[Record], list[Line]]]:
    """The records of every table, and the lines that they were read from."""
    for at, line in enumerate(lines):
        head = _HEADER.fullmatch(line.text) if "(time in " in line.text else None
        labels = re.split(r"\s{2,}", head[2]) if head is not None else []
        name = next((each for each in _BELIEVED if each in labels), "")
        if head is None or not name:
            continue
        records, used = list[Record](), [line]
        for row in lines[at + 1 :]:
            if (found := _ROW.fullmatch(row.text)) is None:
                if records or row.text.strip("- "):
                    break
                continue
            numbers = [*_NUMBER.finditer(row.text, found.start(2))]
            if len(numbers) != len(labels):
                break
            record = Record(row.number, {}, row.column, prefix=row.prefix)
            record.cells["operator"] = Cell(found[1], row.number, row.column + found.start(1))
            for label, number in zip(labels, numbers, strict=True):
                place = row.column + number.start()
                if label == name:
                    time = Cell(number[1].replace(",", ""), row.number, place, _SCALES[head[1]])
                    record.cells["time"] = time
                else:
                    record.other.append((label, number[1]))
            records.append(record)
            used.append(row)
        if records:
            yield records, used
