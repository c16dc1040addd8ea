"""Functions that pytest-benchmark times, a row of its table each, those of PyTorch's timers, of its
benchmark of operators and of Google's benchmark, and kernels in the summaries of nvprof and iprof.

In: the lines of a document. Out: a record for each function, with the median of its rounds, or
their mean where the table has no median. The header gives the unit of every time; behind each
number of several functions stands in brackets how many times the best one it is. A timer prints a
measurement in lines of its own: what was run, how, and the median, or its only number. Of nvprof
and iprof it is the mean time of each kernel and copy on a device; calls of the interface on the
host, which the same tables list, are none.

Source: pytest_benchmark/table.py, whose columns `--benchmark-columns` chooses; `Measurement` of
torch/utils/benchmark/utils/common.py; the summary mode of nvprof, with a column of types since
CUDA 9 and a section each before; tables of github.com/argonne-lcf/THAPI, a section each of the host
and of the devices.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred

_HEADER = deferred(r"\s*Name \(time in (s|ms|us|ns)\)\s{2,}(\S.*?)\s*")

_SCALES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

_ROW = deferred(r"\s*(\S+(?: \S+)*?)\s{2,}((?:[0-9(>][^\s]*(?:\s+|$))+)")

_NUMBER = deferred(r"([0-9][0-9,]*(?:\.[0-9]+)?(?:;[0-9,]+)?)(?: \([^()]*\))?(?:\s+|$)")

_MEASUREMENT = "<torch.utils.benchmark.utils.common.Measurement object at "

_TIME = deferred(r"\s*(?:Median: )?([0-9]+(?:\.[0-9]+)?) (ns|us|ms|s)\s*")

_RUNS = deferred(r"\s*[0-9]+ measurements?, [0-9]+ runs .*")

MOST_LINES = 12
"""Lines of a measurement, with those of what sets it up."""

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
        for row in map(lines.__getitem__, range(at + 1, len(lines))):
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


def measurements(lines: Sequence[Line]) -> Iterator[tuple[list[Record], list[Line]]]:
    """The record of each measurement of a timer, and its lines; of none that shows two times."""
    for at, line in enumerate(lines):
        if not line.text.lstrip().startswith(_MEASUREMENT) or at + 1 >= len(lines):
            continue
        used = [line]
        for each in lines[at + 1 : at + MOST_LINES]:
            used.append(each)
            if _RUNS.fullmatch(each.text):
                break
        times = [(each, found) for each in used if (found := _TIME.fullmatch(each.text))]
        name = lines[at + 1]
        if len(times) == 1 and _RUNS.fullmatch(used[-1].text) and float(times[0][1][1]):
            [(timed, found)] = times
            record = Record(line.number, {}, line.column, prefix=line.prefix)
            text = name.text.strip()
            place = name.column + len(name.text) - len(name.text.lstrip())
            record.cells["operator"] = Cell(text, name.number, place)
            place = timed.column + found.start(1)
            record.cells["time"] = Cell(found[1], timed.number, place, _SCALES[found[2]])
            yield [record], used


_NAMED = deferred(r"\s*# Name: (\S+)\s*")

_PASSED = deferred(
    r"\s*(Forward|Backward)(?: \w+)? Execution Time \((us|ms)\) ?: ?([0-9]+(?:\.[0-9]+)?)\s*"
)


def operator_benchmarks(lines: Sequence[Line]) -> Iterator[tuple[list[Record], list[Line]]]:
    """The record of each pass that PyTorch's benchmark of operators timed, and its lines."""
    told, name = list[Line](), list[Cell]()
    for line in lines:
        found = _PASSED.fullmatch(line.text) if " Execution Time (" in line.text else None
        if named := _NAMED.fullmatch(line.text) if "# Name: " in line.text else None:
            told = [line]
            name = [Cell(named[1], line.number, line.column + named.start(1))]
        elif found and name and float(found[3]) and line.number - told[0].number <= MOST_LINES:
            place = line.column + found.start(3)
            time = Cell(found[3], line.number, place, _SCALES[found[2]])
            way = Cell(found[1].casefold(), line.number, line.column + found.start(1))
            cells = {"operator": name[0], "direction": way, "time": time}
            yield [Record(line.number, cells, line.column, prefix=line.prefix)], [*told, line]


_OF_GOOGLE = deferred(r"\s*Benchmark\s+Time\s+CPU\s+Iterations(?:\s+UserCounters\.\.\.)?\s*")

_BENCHMARKED = deferred(
    r"\s*(?P<operator>\S.*?)\s+(?P<time>[0-9.]+(?:e[+-]?[0-9]+)?) (?P<unit>[mun]?s)"
    r"\s+(?P<cpu>[0-9.]+(?:e[+-]?[0-9]+)?) (?P=unit)\s+(?P<many>[0-9]+)(?:\s+(?P<more>\S.*?))?\s*"
)

_COUNTED = re.compile(r"([\w/-]+)=(\S+)")

_OF_SEVERAL = re.compile(r"(.*)_(mean|median|stddev|cv|min|max)")
"""Name of a statistic over repetitions, which may stand above it."""


def google_benchmarks(lines: Sequence[Line]) -> Iterator[tuple[list[Record], list[Line]]]:
    """The record of each call of Google's benchmark, by its real time, or by the median or the mean
    of those that do not stand there, and its lines; counters are kept as printed.

    Source: src/console_reporter.cc of github.com/google/benchmark.
    """
    for at, line in enumerate(lines):
        if "Iterations" not in line.text or not _OF_GOOGLE.fullmatch(line.text):
            continue
        rows = dict[str, tuple[Line, re.Match[str]]]()
        used = [line]
        for row in map(lines.__getitem__, range(at + 1, len(lines))):
            found = _BENCHMARKED.fullmatch(row.text) if row.text.strip("- ") else None
            if found is not None:
                rows.setdefault(found["operator"], (row, found))
                used.append(row)
            elif rows or row.text.strip("- "):
                break
        meant = [name for name in rows if _is_meant(name, rows)]
        if records := [_of_a_benchmark(*rows[name]) for name in meant]:
            yield records, used


def _is_meant(name: str, names: Container[str]) -> bool:
    """Whether a call is believed: a statistic is only where no call and no better one stands."""
    of = _OF_SEVERAL.fullmatch(name)
    if of is None or of[2] == "median":
        return of is None or of[1] not in names
    return of[2] == "mean" and of[1] not in names and f"{of[1]}_median" not in names


def _of_a_benchmark(row: Line, found: re.Match[str]) -> Record:
    record = Record(row.number, {}, row.column, prefix=row.prefix)
    for name, scale in (("operator", 1.0), ("time", _SCALES[found["unit"]])):
        record.cells[name] = Cell(found[name], row.number, row.column + found.start(name), scale)
    record.other += [("CPU", f"{found['cpu']} {found['unit']}"), ("Iterations", found["many"])]
    record.other += _COUNTED.findall(found["more"] or "")
    return record


_SUMMARY = deferred(r"\s*(?P<type>Type\s+)?Time\(%\)\s+Time\s+Calls\s+Avg\s+Min\s+Max\s+Name\s*")

_ON_HOST = deferred(r"(?:==[0-9]+==)?\s*API calls:.*")

_OF_A_KERNEL = deferred(
    r"\s*(?:(?P<type>GPU activities|API calls):)?\s*(?P<share>[0-9.]+%)\s+(?P<total>[0-9.]+[mun]?s)"
    r"\s+(?P<calls>[0-9]+)\s+(?P<mean>[0-9.]+)(?P<unit>[mun]?s)\s+(?P<least>[0-9.]+[mun]?s)"
    r"\s+(?P<most>[0-9.]+[mun]?s)\s+(?P<name>\S.*?)\s*"
)

_LABELS = {"share": "Time(%)", "total": "Time", "calls": "Calls", "least": "Min", "most": "Max"}


def profiled(lines: Sequence[Line]) -> Iterator[tuple[list[Record], list[Line]]]:
    """The records of every summary, and the lines that they were read from."""
    for at, line in enumerate(lines):
        head = _SUMMARY.fullmatch(line.text) if "Time(%)" in line.text else None
        if head is None or (at and _ON_HOST.fullmatch(lines[at - 1].text)):
            continue
        records, used = list[Record](), [line]
        for row in map(lines.__getitem__, range(at + 1, len(lines))):
            found = _OF_A_KERNEL.fullmatch(row.text)
            if found is None or found["type"] == "API calls":
                break
            records.append(_of_a_kernel(row, found))
            used.append(row)
        if records:
            yield records, used


def _of_a_kernel(row: Line, found: re.Match[str]) -> Record:
    """The mean time of a kernel in a row of a summary, with the rest as printed."""
    record = Record(row.number, {}, row.column, prefix=row.prefix)
    for name, group, scale in (("operator", "name", 1.0), ("time", "mean", _SCALES[found["unit"]])):
        place = row.column + found.start(group)
        record.cells[name] = Cell(found[group], row.number, place, scale)
    record.other += [(label, found[group]) for group, label in _LABELS.items()]
    return record


_OF_IPROF = deferred(r"\s*Name \| +Time \| +Time\(%\) \| +Calls \| +Average \| +Min \| +Max \|\s*")

_ON_DEVICES = deferred(r"\s*Device profiling \|.*")
"""Title of the one section of iprof that is of what devices did."""

_ROW_OF_IPROF = deferred(
    r"\s*(?P<name>\S.*?) \| +(?P<total>[0-9.]+[mun]?s) \| +(?P<share>[0-9.]+%)"
    r" \| +(?P<calls>[0-9]+) \| +(?P<mean>[0-9.]+)(?P<unit>[mun]?s) \| +(?P<least>[0-9.]+[mun]?s)"
    r" \| +(?P<most>[0-9.]+[mun]?s) \|\s*"
)


def traced(lines: Sequence[Line]) -> Iterator[tuple[list[Record], list[Line]]]:
    """The records of every section of iprof on devices, and the lines that they were read from."""
    of_devices = False
    for at, line in enumerate(lines):
        if "profiling |" in line.text or line.text.lstrip().startswith("BACKEND_"):
            of_devices = _ON_DEVICES.fullmatch(line.text) is not None
        if not of_devices or "Time(%)" not in line.text or not _OF_IPROF.fullmatch(line.text):
            continue
        records, used = list[Record](), [line]
        for row in map(lines.__getitem__, range(at + 1, len(lines))):
            found = _ROW_OF_IPROF.fullmatch(row.text)
            if found is None:
                break
            if float(found["mean"]):
                records.append(_of_a_kernel(row, found))
                used.append(row)
        if records:
            yield records, used
