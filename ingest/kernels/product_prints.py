"""Products that oneDNN's benchdnn, CUTLASS, composable_kernel, Proton and tutorials print in lines
of their own.

In: the lines of a document. Out: each product with its sizes, its time and its rate, where the work
that the sizes make over the time is the printed rate. One whose numbers do not agree is not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from assay.ingest.kernels.settings_around import format_said, names_products
from assay.ingest.numbers.printed import printed
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.tables.csv_sections import timed

CLOSE = 0.01
"""How far a printed rate may be from the work over the time, apart from their digits."""

Product = tuple[Record, tuple[Line, ...]]
"""A product and the lines that it was read from."""

_SIZE = deferred(r"\s*Problem Size: ([0-9]+)x([0-9]+)x([0-9]+)(?:x([0-9]+))?\s*")

_RUNTIME = deferred(r"\s*Avg runtime ?: ([0-9.]+(?:e[+-]?[0-9]+)?) ms\s*")

_RATE = deferred(r"\s*([GT])FLOPS ?: ([0-9.]+(?:e[+-]?[0-9]+)?)\s*")

_GIGA = {"G": 1e9, "T": 1e12}

NEAR = 4
"""Lines between the size of a product and its time, at most: how tiles are put in order."""


def printed_products(lines: Sequence[Line]) -> Iterator[Product]:
    """Every product that one of these programs printed."""
    for program in _PROGRAMS:
        yield from program(lines)


def of_cutlass(lines: Sequence[Line]) -> Iterator[Product]:
    """Each product of an example of CUTLASS.

    Source: examples/48_hopper_warp_specialized_gemm of CUTLASS and those after it, which print
    `m x n x k`, of several products how many behind them, milliseconds and GFLOPS.
    """
    for at, line in enumerate(lines):
        if "Problem Size: " not in line.text or not (size := _SIZE.fullmatch(line.text)):
            continue
        for after in range(at + 1, min(at + NEAR, len(lines) - 1)):
            if _SIZE.fullmatch(lines[after].text):
                break
            time = _RUNTIME.fullmatch(lines[after].text)
            rate = _RATE.fullmatch(lines[after + 1].text) if time else None
            if time is None or rate is None:
                continue
            sizes = {n: _cell(line, size, i) for i, n in enumerate("mnkb", 1) if size[i]}
            known = {
                "time": _cell(lines[after], time, 1)._replace(scale=1e-3),
                "flops_rate": _cell(lines[after + 1], rate, 2)._replace(scale=_GIGA[rate[1]]),
            }
            if agree(sizes | known):
                record = Record(line.number, sizes | known, line.column, prefix=line.prefix)
                yield record, (line, lines[after], lines[after + 1])
            break


_OF_PROFILER = deferred(r"\s*(Provider|Operation|Arguments|Runtime|Math): +(\S.*?)\s*")

_MORE = deferred(r"\s*--[a-z_]+=\S+(?:\s+--[a-z_]+=\S+)*(?:\s+\\)?\s*")
"""Arguments that go on from the line above."""

_ARGUMENT = deferred(r"--(m|n|k|batch_count|A|B)=([a-z0-9]+)(?=[:\s]|$)")

_SIZES = {"m": "m", "n": "n", "k": "k", "batch_count": "b"}

_MEASURES = {"Runtime": ("time", " ms", 1e-3), "Math": ("flops_rate", " GFLOP/s", 1e9)}


def of_cutlass_profiler(lines: Sequence[Line]) -> Iterator[Product]:
    """Each product of the profiler of CUTLASS, as it prints them without `--output`.

    Source: media/docs/profiler.md of CUTLASS: a problem begins with its provider, and ends with its
    rate in GFLOP/s; other kinds of operations have no `m`, `n` and `k`.
    """
    told, used, cells = "", list[Line](), dict[str, Cell]()
    for line in lines:
        found = _OF_PROFILER.fullmatch(line.text) if ": " in line.text else None
        if found is not None and found[1] == "Provider":
            told, used, cells = found[1], [line], {}
        if found is None and (told != "Arguments" or not _MORE.fullmatch(line.text)):
            continue
        told = found[1] if found is not None else told
        used.append(line)
        if told == "Operation" and found is not None:
            cells["kernel"] = _cell(line, found, 2)
        elif told == "Arguments":
            cells |= _arguments(line)
        elif found is not None and told in _MEASURES:
            name, unit, scale = _MEASURES[told]
            cell = _cell(line, found, 2)
            number = cell.text.removesuffix(unit).strip()
            cells[name] = cell._replace(text=number, scale=scale)
        if told == "Math" and set("mnk") < cells.keys() and "time" in cells and agree(cells):
            first = used[0]
            record = Record(first.number, cells, first.column, prefix=first.prefix)
            yield _of_operands(record), (*used,)


def _arguments(line: Line) -> dict[str, Cell]:
    """Sizes of a product and formats of its operands."""
    return {
        _SIZES.get(found[1], found[1]): _cell(line, found, 2)
        for found in _ARGUMENT.finditer(line.text)
    }


def _of_operands(record: Record) -> Record:
    """The record with the one format of both operands, or both of them."""
    one, other = (record.cells.pop(name, None) for name in "AB")
    if one is not None and other is not None:
        same = one.text == other.text
        record.cells["dtype"] = one if same else one._replace(text=f"{one.text}x{other.text}")
    return record


_TUTORIAL = deferred(
    r"\s*Average elapsed time: \(\s*([0-9.]+)\s*\) s(?:econd)?, performance: "
    r"\(\s*([0-9.]+)\s*\) ([GT])FLOPS\. size: \(([0-9]+)\)\.\s*"
)

_RUN = deferred(r"\s*Running kernel (\S+) on device [0-9]+\.?\s*")


def of_tutorials(lines: Sequence[Line]) -> Iterator[Product]:
    """Each square product of the tutorials that write SGEMM step by step.

    Source: sgemm.cu of github.com/siboehm/SGEMM_CUDA and of those that go by it.
    """
    kernel = dict[str, Cell]()
    for line in lines:
        if "Running kernel" in line.text and (run := _RUN.fullmatch(line.text)):
            kernel = {"kernel": _cell(line, run, 1)._replace(value_origin="stated")}
        elif "elapsed time: (" in line.text and (found := _TUTORIAL.fullmatch(line.text)):
            cells = {name: _cell(line, found, 4) for name in "mnk"}
            cells["time"] = _cell(line, found, 1)
            cells["flops_rate"] = _cell(line, found, 2)._replace(scale=_GIGA[found[3]])
            if agree(cells):
                cells = kernel | cells
                yield Record(line.number, cells, line.column, prefix=line.prefix), (line,)


_LENGTHS = deferred(
    r"\s*(?P<name>[abc](?:_g)?_[mnk]_[mnk]): dim [23], "
    r"lengths \{(?P<sizes>[0-9]+(?:, [0-9]+){1,2})\}.*"
)

_PERF = deferred(
    r"\s*Perf: +(?P<time>[0-9.]+) ms, (?P<rate>[0-9.]+) TFlops, (?P<moved>[0-9.]+) GB/s"
    r"(?:, (?P<kernel>[A-Za-z_]\w*).*)?\s*"
)

_OF_CK_TILE = deferred(
    r".*\bM ?= ?(?P<m>[0-9]+) N ?= ?(?P<n>[0-9]+) K ?= ?(?P<k>[0-9]+) .*: "
    r"(?P<time>[0-9.]+) ms, (?P<rate>[0-9.]+) TFlops, (?P<moved>[0-9.]+) GB/s,?\s*"
)


def of_composable_kernel(lines: Sequence[Line]) -> Iterator[Product]:
    """Each product of an example or of the profiler of composable_kernel, whose operands stand in
    front of all its kernels; the best of them is one of these.

    Source: profiler/include/profiler/profile_gemm_impl.hpp and example/ck_tile/03_gemm.
    """
    sizes = dict[str, Cell]()
    for line in lines:
        if "lengths {" in line.text and (told := _LENGTHS.fullmatch(line.text)):
            names = told["name"].replace("_g", "_b").split("_")[1:]
            found = dict(zip(names, told["sizes"].split(", "), strict=False))
            sizes = {} if told["name"].startswith("a") else sizes
            sizes |= {name: Cell(size, line.number, line.column, value_origin="stated")
                      for name, size in found.items()}  # fmt: skip
            continue
        if "TFlops, " not in line.text or "Best Perf" in line.text:
            continue
        of_sizes = _PERF.fullmatch(line.text)
        whole = None if of_sizes else _OF_CK_TILE.fullmatch(line.text)
        if of_sizes is None and whole is None:
            continue
        said = of_sizes or whole
        assert said is not None
        cells = dict(sizes) if of_sizes else {name: _cell(line, said, name) for name in "mnk"}
        for name, group, scale in _OF_PERF:
            cells[name] = _cell(line, said, group)._replace(scale=scale)
        if of_sizes and of_sizes["kernel"]:
            cells["kernel"] = _cell(line, of_sizes, "kernel")
        if set("mnk") <= cells.keys() and agree(cells):
            yield Record(line.number, cells, line.column, prefix=line.prefix), (line,)


_OF_PERF = (("time", "time", 1e-3), ("flops_rate", "rate", 1e12), ("bandwidth", "moved", 1e9))

_TEMPLATE = deferred(r"\s*Output template: (perf,[^\s]+)\s*")

_MATMUL = deferred(
    r"--matmul (?:\S+ )*?(?P<left>[0-9]+(?:x[0-9]+)+):(?P<right>[0-9]+(?:x[0-9]+)+)"
    r"(?:_n?\S+)?\s*$"
)

_DTYPES = deferred(r" --dt=([a-z0-9_]+)(?::([a-z0-9_]+):[a-z0-9_]+)? ")

_CLOCKS = ("%0time%", "%-time%")
"""The mean of all calls, or the fastest, in milliseconds; rates stand under the same sign."""


def of_benchdnn(lines: Sequence[Line]) -> Iterator[Product]:
    """Each product of benchdnn; what its columns are, the line above them says.

    Source: tests/benchdnn/doc/knobs_perf_report.md of oneDNN: times are in milliseconds,
    `%Gops%` are the operations of a problem in billions.
    """
    names: list[str] = []
    for line in lines:
        if told := _TEMPLATE.fullmatch(line.text):
            names = told[1].split(",")
        elif line.text.startswith("perf,") and names.count("%prb%") == 1:
            record = _of_line(line, _columns(line.text.rstrip(), names))
            if record is not None:
                yield record, (line,)


def _columns(text: str, names: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Texts of a line by their names, each with its place; commas of a problem are its own."""
    parts = text.split(",")
    more = len(parts) - len(names)
    if more < 0:
        return {}
    at = names.index("%prb%")
    parts = [*parts[:at], ",".join(parts[at : at + more + 1]), *parts[at + more + 1 :]]
    found, begin = dict[str, tuple[str, int]](), 0
    for name, part in zip(names, parts, strict=True):
        found[name] = part, begin
        begin += len(part) + 1
    return found


def _of_line(line: Line, columns: Mapping[str, tuple[str, int]]) -> Record | None:
    """The product of a line of benchdnn."""
    clock = next((name for name in _CLOCKS if name in columns), "")
    rate = clock.replace("time", "Gflops")
    if not clock or rate not in columns:
        return None
    problem, begin = columns["%prb%"]
    found = _MATMUL.search(problem)
    sizes = _operands(found["left"], found["right"]) if found else {}
    if found is None or not sizes:
        return None
    place = line.column + begin + found.start("left")
    cells = {name: Cell(size, line.number, place) for name, size in sizes.items()}
    if (types := _DTYPES.search(problem)) and types[1] == (types[2] or types[1]):
        cells["dtype"] = Cell(types[1], line.number, line.column + begin + types.start(1))
    known = dict[str, Cell]()
    for name, column, scale in (("time", clock, 1e-3), ("flops_rate", rate, 1e9)):
        text, at = columns[column]
        if not re.fullmatch(r"[0-9.]+(?:e[+-]?[0-9]+)?", text):
            return None
        known[name] = Cell(text, line.number, line.column + at, scale)
    if not agree(cells | known):
        return None
    return Record(line.number, cells | known, line.column, prefix=line.prefix)


def _operands(left: str, right: str) -> dict[str, str]:
    """The sizes of a product of [b, m, k] by [b, k, n]; none where they do not fit."""
    one, other = left.split("x"), right.split("x")
    if len(one) != len(other) or one[:-2] != other[:-2] or one[-1] != other[-2]:
        return {}
    many = math.prod(map(int, one[:-2]))
    return {"m": one[-2], "n": other[-1], "k": one[-1]} | ({"b": str(many)} if one[2:] else {})


_METRICS = deferred(r"(?:(?:avg_)?(?:[a-z]+[0-9]*/s|time/[mun]?s|[a-z_]+/[a-z%]+) ?)+")

_METRIC = deferred(r"(?P<rate>[gt])flops?(?:8|16|32)?/s|(?:avg_)?time/(?P<time>[mun]?s)")

_OF_A_TREE = deferred(
    r"[│ ]*[├└]─ (?P<numbers>(?:[0-9.]+|nan) (?:(?:[0-9.]+|nan) )*)(?P<name>[A-Za-z]\w*)"
    r" \[M=(?P<m>[0-9]+), N=(?P<n>[0-9]+), K=(?P<k>[0-9]+)\]\s*"
)

_IN_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def of_proton(lines: Sequence[Line]) -> Iterator[Product]:
    """Each product whose sizes a branch of a tree of Proton says, below the metrics of all.

    Times sum up all calls of a branch: one is read where it makes the printed rate, which is that
    of any of them. Source: the viewer of triton-lang/triton's third_party/proton.
    """
    labels, told = list[str](), dict[str, Cell]()
    for at, line in enumerate(lines):
        if "/" in line.text and _METRICS.fullmatch(line.text.strip()):
            labels, told = line.text.split(), _format_above(lines[max(0, at - FAR) : at])
        found = _OF_A_TREE.fullmatch(line.text) if labels and "─ " in line.text else None
        numbers = found["numbers"].split() if found else []
        if found is None or len(numbers) != len(labels):
            continue
        cells = {"kernel": _cell(line, found, "name"), **{n: _cell(line, found, n) for n in "mnk"}}
        for label, number in zip(labels, numbers, strict=True):
            metric = _METRIC.fullmatch(label) if number != "nan" else None
            if metric is not None:
                place = line.column + found.start("numbers")
                scales = {"time": _IN_SECONDS.get(metric["time"] or ""),
                          "flops_rate": _GIGA.get((metric["rate"] or "").upper())}  # fmt: skip
                cells |= {name: Cell(number, line.number, place, scale)
                          for name, scale in scales.items() if scale}  # fmt: skip
        if "time" in cells and ("flops_rate" not in cells or not agree(cells)):
            del cells["time"]
        if "flops_rate" in cells:
            yield Record(line.number, told | cells, line.column, prefix=line.prefix), (line,)


FAR = 20
"""Lines above a tree that may say the format of its products."""


def _format_above(lines: Sequence[Line]) -> dict[str, Cell]:
    """The last format that some lines say."""
    for line in reversed(lines):
        if named := format_said(line.text):
            return {"dtype": Cell(named, line.number, line.column, value_origin="stated")}
    return {}


_FLOPS = deferred(
    r"(?<![\w.,])([0-9]{1,12}(?:\.[0-9]{1,12})?(?:e[+-]?[0-9]{1,3})?)"
    r" ?([MGT])FLOP[Ss]?(?:/s(?:ec)?)?\b",
    re.IGNORECASE,
)

_TOOK = deferred(
    r"(?<![\w.,])([0-9]{1,9}(?:\.[0-9]{1,12})?(?:e[+-]?[0-9]{1,3})?) ?"
    r"(s|secs?|seconds?|ms|msecs?|milliseconds?|us|µs|usecs?|microseconds?)\b",
    re.IGNORECASE,
)

_ORDER = deferred(
    r"(?<![\w.=])(?:order|(?:matrix )?size|dim(?:ension)?|n)(?: ?[=:] ?| (?:of )?)"
    r"([0-9]{2,6})(?![\w.]|[,.][0-9]| ?[x×*])"
    r"|(?<![\w.×])([0-9]{2,6}) ?[x×*] ?\2(?!\w|\.[0-9]| ?[x×*])",
    re.IGNORECASE,
)
"""The one size of square matrices in a line on their product: `order 512`, `N=512`, `512x512`."""

_QUOTED = deferred(r"(?<!\w)(['\"])([^'\"]{2,80})\1(?!\w)")

_IN_FRONT = deferred(r"\s*([A-Za-z][^,:;|=]{1,60}?)\s*[,:]\s")

_OF_A_DEVICE = deferred(
    r"[-=#*> ]{0,20}(?:using |on )?(?:opencl |compute |gpu )?device(?: name)?"
    r"(?: ?[:=] ?(?=[^,]{2,80}$)|(?= ['\"]))\s{0,4}(?P<quote>['\"]?)"
    r"(?P<name>[^'\"=|]{2,80}?)(?P=quote)"
    r"(?: (?P<word>start(?:s|ed)?|begins?|done|ends?|finished))?[-=#*< ]{0,20}",
    re.IGNORECASE,
)
"""A line that says which device computes what stands below it, or that it is done."""

LONGEST = 400
"""Characters of the longest line that a program prints of one product."""


def of_lines(lines: Sequence[Line]) -> Iterator[Product]:
    """Each square product that a line says in words, with its one size, its time and its rate:
    `OpenCL, matrix mul 'tiled', order 512, 0.0150 seconds at 17895.7 MFLOPS`."""
    device = dict[str, Cell]()
    for line in lines:
        if "evice" in line.text and (named := _OF_A_DEVICE.fullmatch(line.text.rstrip())):
            ended = (named["word"] or "").casefold().startswith(("done", "end", "finish"))
            cell = _cell(line, named, "name")._replace(value_origin="stated")
            device = {} if ended else {"gpu": cell}
        elif "flop" in line.text.casefold() and len(line.text) <= LONGEST:
            cells = _of_words(line)
            if cells and agree(cells):
                cells = device | cells
                yield Record(line.number, cells, line.column, prefix=line.prefix), (line,)


def _of_words(line: Line) -> dict[str, Cell]:
    """The product that a line says in words; nothing where it says more than one."""
    if not names_products(line.text) or "|" in line.text:
        return {}
    text = _QUOTED.sub(lambda found: " " * len(found[0]), line.text)  # `'tiles of size 16'`
    rates, times = [*_FLOPS.finditer(text)], [*_TOOK.finditer(text)]
    sizes = [*_ORDER.finditer(text)]
    if not len(rates) == len(times) == len(sizes) == 1:
        return {}
    seconds = timed(times[0][2])
    group = 1 if sizes[0][1] else 2
    cells = {name: _cell(line, sizes[0], group) for name in "mnk"}
    cells["time"] = _cell(line, times[0], 1)._replace(scale=seconds or 0.0)
    cells["flops_rate"] = _cell(line, rates[0], 1)._replace(scale=_MEGA[rates[0][2].upper()])
    if dtype := format_said(line.text):
        cells["dtype"] = Cell(dtype, line.number, line.column)
    quoted = [*_QUOTED.finditer(line.text)]
    in_front = _IN_FRONT.match(line.text)
    if len(quoted) == 1:
        cells["kernel"] = _cell(line, quoted[0], 2)
    elif in_front and not quoted and not names_products(in_front[1]):
        cells["kernel"] = _cell(line, in_front, 1)
    return cells if seconds else {}


_MEGA = {"M": 1e6, **_GIGA}


def _cell(line: Line, found: re.Match[str], group: int | str) -> Cell:
    return Cell(found[group], line.number, line.column + found.start(group))


def agree(cells: Mapping[str, Cell]) -> bool:
    """Whether the work of a product over its time is its rate, as far as their digits go."""
    work = 2.0 * math.prod(float(cells[name].text) for name in "bmnk" if name in cells)
    try:
        numbers = [printed(cells[name].text) for name in _MADE]
    except ValueError:  # `1.2.3`
        return False
    work /= math.prod(cells[name].scale for name in _MADE)
    least, most = math.prod(n.low for n in numbers), math.prod(n.high for n in numbers)
    return bool(0.0 < least * (1.0 - CLOSE) <= work <= most * (1.0 + CLOSE))


_MADE = ("time", "flops_rate")

_PROGRAMS = (of_cutlass, of_cutlass_profiler, of_composable_kernel, of_tutorials, of_benchdnn,
             of_proton, of_lines)  # fmt: skip
