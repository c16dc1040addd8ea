"""Bandwidths and latencies of copies, as benchmarks of memory and of links print them, and of other
operators in a line each.

In: the lines of a document. Out: a record for each pair of devices in a matrix of nvbandwidth,
p2pBandwidthLatencyTest or rocm-bandwidth-test, for each row of bandwidthTest, of clpeak and of
STREAM and its like, for each convolution that MIOpen's driver sums up, and for each call with its
bandwidth and its time in one line. What is copied is named by the title, or by the line that says
what runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.ingest.columns.titles import device_named
from assay.ingest.kernels.kernel_headings import LIBRARIES, operator_in
from assay.ingest.kernels.settings_around import format_said
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.tables.csv_sections import timed

LONGEST = 200
"""Characters of a title or a header of such a table."""

Copies = tuple[list[Record], list[Line]]
"""Records of a table, and the lines that they were read from."""

_SIGNS = deferred(
    r"Running |Device|andwidth|atency|Function  |Transfer Size|^\s*(?:Using|Precision)"
)
"""Found in the lines from which something of a table is learnt."""

_RUNNING = deferred(r"\s*Running (\w+)\.?\s*")

_TITLE = deferred(
    r"\s*(?P<what>\S.*?(?:bandwidth|latency)\b.*?)(?: Matrix)? \(?(?P<unit>GB/s|us|ns)\)?\s*", re.I
)

_UNITS = {
    "gb/s": ("bandwidth", 1e9), "us": ("time", 1e-6), "ns": ("time", 1e-9),
    "mb/s": ("bandwidth", 1e6), "mbytes/sec": ("bandwidth", 1e6), "tb/s": ("bandwidth", 1e12),
}  # fmt: skip

_PLACES = deferred(r"\s*(D[\\/]D|[CG]PU)?\s*([0-9]+(?:\s+[0-9]+)*)\s*")

_PAIRS = deferred(r"\s*[0-9]+(?:\s+(?:[0-9]+\.[0-9]+|N/A))+\s*")

_DEVICE = deferred(r"\s*Device:? ?[0-9]+[:,] .*")

_USING = deferred(r"\s*Using (?:[A-Za-z]+ )?device:? .*|\s*Precision: +([a-z]+)\s*")
"""Lines of BabelStream above its one table: the device and the format of its arrays."""

_FUNCTIONS = deferred(r"\s*Function\s+(?P<unit>MBytes/sec|Best Rate MB/s)\s.*", re.IGNORECASE)

_FUNCTION = deferred(r"\s*([A-Z][A-Za-z]+):?\s+([0-9]+\.[0-9]+)(?:\s+[0-9]+\.[0-9]+)+\s*")

_TRANSFER = deferred(r"\s*Transfer Size \(Bytes\)\s+Bandwidth ?\((?P<unit>[GM]B/s)\)\s*")

_TRANSFERRED = deferred(r"\s*([0-9]+)\s+([0-9]+\.[0-9]+)\s*")

_PEAKS = deferred(
    r"\s*(?P<what>[A-Z]\w+ (?:memory )?bandwidth|(?P<format>half|single|double)-precision compute)"
    r" \((?P<unit>GBPS|GFLOPS|TFLOPS)\)\s*",
    re.IGNORECASE,
)
"""Title of a section of clpeak, whose GBPS are bytes; that of integers counts other operations."""

_PEAK = deferred(
    r"\s*(?P<name>[a-z]\w*(?: \w+)*(?: ?\([a-z ]+\))?) *: (?P<number>[0-9]+\.[0-9]+)\s*"
)

_OF_PEAKS = {
    "gbps": ("bandwidth", 1e9), "gflops": ("flops_rate", 1e9), "tflops": ("flops_rate", 1e12),
}  # fmt: skip

_FORMATS = {"half": "fp16", "single": "fp32", "double": "fp64"}

_OF_PLATFORM = deferred(r"\s*Device: (\S.*?)\s*")
"""The device of clpeak's sections, below the line of its platform."""

_ENDS = deferred(r"\s*(\S.*?) Bandwidth, [0-9]+ Device\(s\).*")
"""Title of bandwidthTest, a few lines above its header."""

NEAR = 4


class _Named(NamedTuple):
    """The operator of a table, and the quantity that its numbers are."""

    operator: Cell
    quantity: str
    scale: float


def copies(lines: Sequence[Line]) -> Iterator[Copies]:
    """Every table of these programs."""
    running, devices, own = None, dict[str, Cell](), dict[str, Cell]()
    for at, line in enumerate(lines):
        if len(line.text) > LONGEST or not _SIGNS.search(line.text):
            continue
        if found := _RUNNING.fullmatch(line.text):
            running = _cell(line, found, 1)
        elif _DEVICE.fullmatch(line.text) and (name := device_named(line.text)):
            devices.setdefault(name, Cell(name, line.number, line.column, value_origin="stated"))
        elif _USING.fullmatch(line.text):
            for field, told in (("gpu", device_named), ("dtype", format_said)):
                if word := told(line.text):
                    own[field] = Cell(word, line.number, line.column, value_origin="stated")
        elif table := _table(lines, at, running):
            running = None if _TITLE.fullmatch(line.text) else running
            for record in table[0] if len(devices) == 1 else ():
                record.cells["gpu"] = next(iter(devices.values()))
            for record in table[0] if _FUNCTIONS.fullmatch(line.text) else ():
                record.cells = own | record.cells
            own = {}
            yield table


def peaks_of_devices(lines: Sequence[Line]) -> Iterator[Copies]:
    """Every section of clpeak, on the device above it."""
    device = dict[str, Cell]()
    for at, line in enumerate(lines):
        if "Device: " in line.text and (found := _OF_PLATFORM.fullmatch(line.text)):
            named = _cell(line, found, 1)._replace(value_origin="stated")
            device = {"gpu": named} if _of_platform(lines, at) else device
        elif device and "PS)" in line.text and (title := _PEAKS.fullmatch(line.text)):
            yield from _of_peaks(lines, at, title, device)


def _of_platform(lines: Sequence[Line], at: int) -> bool:
    """Whether a device is one of clpeak: a platform stands above it, or its driver below."""
    above, below = lines[max(0, at - 1)].text.lstrip(), lines[min(at + 1, len(lines) - 1)].text
    return above.startswith("Platform:") or below.lstrip().startswith("Driver version")


def _of_peaks(
    lines: Sequence[Line], at: int, title: re.Match[str], device: dict[str, Cell]
) -> Iterator[Copies]:
    """The rows of a section of clpeak: widths of vectors, or calls that copy."""
    quantity, scale = _OF_PEAKS[title["unit"].casefold()]
    shared = {**device, "operator": _cell(lines[at], title, "what")._replace(value_origin="stated")}
    if title["format"]:
        word = _FORMATS[title["format"].casefold()]
        shared["dtype"] = shared["operator"]._replace(text=word)
    used, records = [lines[at]], list[Record]()
    for line in map(lines.__getitem__, range(at + 1, len(lines))):
        found = _PEAK.fullmatch(line.text) if len(line.text) <= LONGEST else None
        if found is None:
            break
        number = _cell(line, found, "number")._replace(scale=scale)
        record = Record(line.number, {**shared, quantity: number}, line.column, prefix=line.prefix)
        record.other.append(("name", found["name"]))
        records.append(record)
        used.append(line)
    if records:
        yield records, used


def _table(lines: Sequence[Line], at: int, running: Cell | None) -> Copies | None:
    """The table whose title or header stands at a line."""
    text = lines[at].text
    if title := _TITLE.fullmatch(text):
        named = _named(running or _cell(lines[at], title, "what"), title["unit"])
        return _matrices(lines, at + 1, named)
    if header := _FUNCTIONS.fullmatch(text):
        unit = header["unit"].rpartition(" ")[2]
        return _listed(lines, at + 1, _named(_cell(lines[at], header, "unit"), unit), _FUNCTION)
    if header := _TRANSFER.fullmatch(text):
        above = [(line, _ENDS.fullmatch(line.text)) for line in lines[max(0, at - NEAR) : at]]
        for line, found in above[::-1]:
            if found is not None:
                named = _named(_cell(line, found, 1), header["unit"])
                return _listed(lines, at + 1, named, _TRANSFERRED)
    return None


def _named(operator: Cell, unit: str) -> _Named:
    quantity, scale = _UNITS[unit.casefold()]
    return _Named(operator._replace(value_origin="stated"), quantity, scale)


def _matrices(lines: Sequence[Line], at: int, named: _Named) -> Copies | None:
    """The numbers of the matrices below a title, each with the device of its row and its column."""
    used, records = list[Line](), list[Record]()
    while (at := _behind_blank(lines, at)) < len(lines):
        head = _PLACES.fullmatch(lines[at].text)
        columns = head[2].split() if head is not None else []
        places = [*_rows(lines, at + 1, len(columns))]
        rows = [lines[place] for place in places]
        if head is None or not rows or columns != [str(n) for n in range(len(columns))]:
            break
        for line in rows:
            row, *cells = re.finditer(r"\S+", line.text)
            for cell, column in zip(cells, columns, strict=True):
                if cell[0] != "N/A" and float(cell[0]):
                    record = _record(line, cell, named)
                    record.other += [("row", row[0]), ("column", column)]
                    record.other += [("clock", head[1])] if head[1] in ("CPU", "GPU") else []
                    records.append(record)
        used += [lines[at], *rows]
        at = places[-1] + 1
    return (records, used) if records else None


def _rows(lines: Sequence[Line], at: int, width: int) -> Iterator[int]:
    """Places of the rows of a matrix, which empty lines may keep apart."""
    while (at := _behind_blank(lines, at)) < len(lines):
        if not _PAIRS.fullmatch(lines[at].text) or len(lines[at].text.split()) != width + 1:
            return
        yield at
        at += 1


def _behind_blank(lines: Sequence[Line], at: int) -> int:
    """The line at a place, or the next if it is empty."""
    return at + 1 if at < len(lines) and not lines[at].text.strip() else at


def _listed(
    lines: Sequence[Line], at: int, named: _Named, row: re.Pattern[str]
) -> Copies | None:  # fmt: skip
    """The rows below a header, of functions by their names or of sizes."""
    used, records = [lines[at - 1]], list[Record]()
    for place in range(at, len(lines)):
        line = lines[place]
        found = row.fullmatch(line.text)
        if found is None:
            break
        record = Record(line.number, {}, line.column, prefix=line.prefix)
        record.cells["operator"] = named.operator
        if found[1].isdecimal():
            record.other.append(("Transfer Size (Bytes)", found[1]))
        else:
            record.cells["operator"] = _cell(line, found, 1)
        record.cells[named.quantity] = _cell(line, found, 2)._replace(scale=named.scale)
        if time := _sure_time(lines[at - 1], line, found):
            record.cells["time"] = time
        records.append(record)
        used.append(line)
    return (records, used) if records else None


def _sure_time(header: Line, row: Line, found: re.Match[str]) -> Cell | None:
    """The time of a function whose least and mean are printed alike; the rate is of the least."""
    labels = _TIMES_OF.findall(header.text)
    times = [*re.finditer(r"\S+", row.text[found.end(2) :])]
    if len(labels) != len(times):
        return None
    told = {label[:2].casefold(): each for label, each in zip(labels, times, strict=True)}
    if (
        not {"mi", "av"} <= told.keys()
        or told["mi"][0] != told["av"][0]
        or not float(told["mi"][0])
    ):
        return None
    place = row.column + found.end(2) + told["mi"].start()
    return Cell(told["mi"][0], row.number, place, 1.0)


_TIMES_OF = deferred(r"\b(Min|Max|Average|Avg)\b(?: time| \(sec\))?", re.IGNORECASE)


def _record(line: Line, number: re.Match[str], named: _Named) -> Record:
    place = line.column + number.start()
    cells = {
        "operator": named.operator,
        named.quantity: Cell(number[0], line.number, place, named.scale),
    }
    return Record(line.number, cells, place, prefix=line.prefix)


_STATS = "stats: "

_OF_STATS = {"GFLOPs": ("flops_rate", 1e9), "GB/s": ("bandwidth", 1e9), "timeMs": ("time", 1e-3),
             "name": ("operator", 1.0), "n": ("batch", 1.0)}  # fmt: skip


def driver_stats(lines: Sequence[Line]) -> Iterator[Copies]:
    """The record of each convolution that MIOpen's driver sums up in values below their labels:
    `stats: name, n, c, ..., GFLOPs, GB/s, timeMs`."""
    labels = list[str]()
    for line in lines:
        if _STATS not in line.text or len(line.text) > LONGEST or not line.text.startswith(_STATS):
            continue
        parts = [*re.finditer(r"[^,\s][^,]*", line.text[len(_STATS) :])]
        texts = [part[0].strip() for part in parts]
        if texts[:1] == ["name"]:
            labels = texts if {"timeMs", "GFLOPs"} <= {*texts} else []
            continue
        if not labels or len(texts) != len(labels):
            continue
        record = Record(line.number, {}, line.column, prefix=line.prefix)
        for label, text, part in zip(labels, texts, parts, strict=True):
            name, scale = _OF_STATS.get(label, ("", 1.0))
            place = line.column + len(_STATS) + part.start()
            if name and (name == "operator" or text.strip("0.")):
                record.cells[name] = Cell(text, line.number, place, scale)
            elif not name:
                record.other.append((label, text))
        if way := re.match("fwd|bwd", texts[0]):
            place = line.column + len(_STATS) + parts[0].start()
            record.cells["direction"] = Cell(way[0], line.number, place)
        yield [record], [line]


_MEASURED = deferred(
    r"(?<![\w.])(?:(?P<label>[A-Za-z][\w ]*?)\s*[:=]\s*)?(?P<number>[0-9]+(?:\.[0-9]+)?) ?"
    r"(?P<unit>[GTM]B/s|us|µs|ms|ns|msec|usec)(?![\w/])"
)
"""A bandwidth or a time of a call, behind its label or bare."""

_OF_EXTREMES = deferred(
    r"(?<![A-Za-z])(?:min|max|std|p[0-9]{2}|total|worst|best|peak)(?![A-Za-z])", re.I
)

_OF_A_CALL = deferred(
    r"(?:INFO:[\w.]+:|\[(?P<rank>[Rr]ank ?[0-9]+)\])?\s*"
    r"(?P<name>[A-Za-z][\w.+-]*(?: [\w.+-]+){0,4}?(?: \([A-Z0-9]+\))?)"
    r"(?: (?:bandwidth|bw|kernel|time|latency))?\s*[,:=(]\s*"
    r"(?=(?:[A-Za-z_]\w*\s?[:=] ?[\w.]+, ){0,16}[^,]{0,24}[0-9])",
    re.IGNORECASE,
)
"""The beginning of a print of one call: its name, and settings in pairs."""

_PASS = re.compile(r"(.*?)[ _]?(forward ?\+? ?backward|forward|backward|fwd|bwd)", re.IGNORECASE)

_OF_OTHERS = deferred(
    r"checkpoint|\b(?:load|sav|download|upload|copied|wrote|read from|disk|dataset|shard|all[_ -]?"
    r"(?:reduce|gather|to[_ -]?all)|reduce[_ -]?scatter|broadcast|send|recv|rdma"
    r"|tokens?/s|step|iter|epoch|read|writ|(?:pre)?fetch|offload|[hd]2[hd]|pcie|nvlink|xgmi|p2p|data|i/?o\b"
    r"|nic\b|network|infiniband|ping|link\b|host|swap|spill|cache(?!d)|queue|ssd|nvme|mount)",
    re.IGNORECASE,
)
"""Found in lines about files, links and networks, collectives and whole steps."""


def printed_operators(lines: Sequence[Line]) -> Iterator[Copies]:
    """The record of each call of an operator that a line of its own prints with one bandwidth and
    one time: `Backward, B: 2048, D: 128, BW: 887.68 GB/s, T: 1512us`; several between bars.

    Source: FBGEMM's benchmarks of embeddings, DeepEP's tests, and the samples of CUDA.
    """
    device, title = dict[str, Cell](), dict[str, Cell]()
    for line in lines:
        if len(line.text) > LONGEST:
            continue
        if "B/s" not in line.text:
            title = _of_title(line) if line.text.strip(" -=") else title
            if _DEVICES.search(line.text) and (name := device_named(line.text)):
                device = {"gpu": Cell(name, line.number, line.column, value_origin="stated")}
            continue
        if _OF_OTHERS.search(line.text):
            continue
        begin, records = 0, list[Record]()
        for segment in line.text.split(" | "):
            record = _of_a_call(line, segment, begin)
            if record and (record := _by_whom(record, title)):
                record.cells = device | record.cells
                records.append(record)
            begin += len(segment) + len(" | ")
        if records:
            yield records, [line]


_DEVICES = deferred(r"GPU|NVIDIA|AMD|[Dd]evice")

_WHO = deferred(
    rf"(?:{LIBRARIES}|custom|mine|this|reference|ref|native|cuda|hip|(?:our |my |custom )?kernel"
    r"(?:[ _]?v?[0-9]{1,3})?|v[0-9]{1,3})",
    re.IGNORECASE,
)
"""A name of who computes, and of nothing that is computed."""


def _of_title(line: Line) -> dict[str, Cell]:
    """The operator, the number format and the device of the calls below a line that names one."""
    named = operator_in(line.text)
    word = format_said(line.text) if named else None
    told = {"operator": named, "dtype": word, "gpu": device_named(line.text) if named else None}
    return {name: Cell(text, line.number, line.column, value_origin="stated")
            for name, text in told.items() if text}  # fmt: skip


def _by_whom(record: Record, title: Mapping[str, Cell]) -> Record | None:
    """A call whose line begins with who computed it, of the operator that the line above those
    names; None where nothing says what it was of."""
    name = record.cells.get("operator")
    if name is None or not _WHO.fullmatch(name.text):
        return record
    if "operator" not in title:
        return None
    record.cells = {**title, **record.cells, "operator": title["operator"], "kernel": name}
    return record


def _of_a_call(line: Line, text: str, begin: int) -> Record | None:
    """The record of one call; None where two bandwidths or times may be meant, or none is."""
    named = _OF_A_CALL.match(text)
    if named is None:
        return None
    cells = dict[str, Cell]()
    for found in _MEASURED.finditer(text):
        if found["label"] and _OF_EXTREMES.search(found["label"]):
            continue
        what, scale = _UNITS.get(found["unit"].casefold(), ("time", 0.0))
        scale = scale or timed(found["unit"]) or 0.0
        if what in cells or not scale or not float(found["number"]):
            return None
        place = line.column + begin + found.start("number")
        cells[what] = Cell(found["number"], line.number, place, scale)
    place = line.column + begin + named.start("name")
    passed = _PASS.fullmatch(named["name"])
    if len(cells) < len(("bandwidth", "time")):
        return None
    if passed:
        cells["direction"] = Cell(passed[2], line.number, place + passed.start(2))
    if name := (passed[1] if passed else named["name"]).strip():
        cells["operator"] = Cell(name, line.number, place)
    record = Record(line.number, cells, place if begin else line.column, prefix=line.prefix)
    record.other += [("rank", named["rank"])] if named["rank"] else []
    record.other += [(one, other) for one, other in _PAIR.findall(text)]
    return record


_PAIR = deferred(r"(?<![\w])([A-Za-z_]\w*)\s?[:=] ?([A-Za-z]\w*|[0-9]+(?:\.[0-9]+)?)(?=,|$)")


def _cell(line: Line, found: re.Match[str], group: int | str) -> Cell:
    return Cell(found[group], line.number, line.column + found.start(group))
