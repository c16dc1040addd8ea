"""Tables of kernels in every syntax: a row is a measured call, or several.

In: the lines of a document and the kind of table. Out: one record per time or rate. A label may
name a number format, a library or a direction beside what was measured (`BF16 TFLOPS`, `cuBLAS
(TFLOPS)`, `bwd (ms)`): such a column is a measurement of its own in each row. Operation, ranks and
device may stand in the heading above a table, or in the lines between.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from assay.ingest.grids.delimited import delimited, long_and_even, tool_csv
from assay.ingest.grids.grid import Grid, GridCell, GridRow, apart
from assay.ingest.grids.json_records import begins_json, json_records
from assay.ingest.kernels.kernel_headings import (
    BANDWIDTH,
    measured_above,
    of_curves,
    said_above,
)
from assay.ingest.numbers.printed import printed
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import FieldSpec, by_label, fields
from assay.ingest.schema.format import Folded
from assay.ingest.schema.record import Cell, Line, Record, Schema
from assay.ingest.tables.csv_sections import CsvTable, timed
from assay.ingest.tables.documents import marked
from assay.ingest.tables.headers import plain
from assay.ingest.vocabulary.terms import meaning, normalise
from assay.ingest.vocabulary.words import split

_FORMATS = r"(?:mx|nv)?(?:b?f|fp|bf|tf|int)(?:loat)?[0-9]{1,2}(?:_?e[0-9]m[0-9])?"

_LIBRARIES = (
    r"cublas(?:lt)?|rocblas|hipblas(?:lt)?|cutlass|triton|(?:py)?torch(?:\.compile)?|eager|cudnn"
    r"|sdpa|flex(?:attention)?|flash(?:-?attn|-?attention)?(?:-?[1-4])?|fa-?[1-4]|xformers|deepgemm"
    r"|tilelang|ck|aiter|te|marlin|thunderkittens|oneccl|nccl|rccl|ours|baseline|naive|vanilla"
)
"""Names under which times of the same call stand side by side."""

_ASIDE = re.compile(
    rf"(?P<dtype>{_FORMATS})|(?P<kernel>{_LIBRARIES})|(?P<direction>forward|backward|fwd|bwd)",
    re.IGNORECASE,
)

_PROVIDED = re.compile(r"([a-z][a-z0-9_]*)-tflops")
"""Rate of a kernel, as TritonBench labels it: `aten_matmul-tflops`."""

_BREAKS = " _-:,()[]/"

_SIZED = re.compile(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]\s*")

_NUMBER = re.compile(
    r"((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([KMGT](?:i?B)?|B)?"
)

_SQUARE = re.compile(r"(?:[a-z ]+\()?=?m ?= ?n ?= ?k\)?", re.IGNORECASE)

_PRODUCT = re.compile(
    r"(?:[a-z ]*\()?([mnk]) ?[x×*, ] ?([mnk]) ?[x×*, ] ?([mnk])\)?", re.IGNORECASE
)

_BYTES = {"B": 1.0, "bytes": 1.0, "byte": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}

_BY_PLACE = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4, "K": 1, "M": 2, "G": 3, "T": 4}

_LOOSE = {
    "size": "bytes", "payload": "bytes", "messagesize": "bytes", "msgsize": "bytes",
    "datasize": "bytes", "数据量": "bytes", "数据大小": "bytes", "消息大小": "bytes",
    "throughput": "algbw",
    "算法带宽": "algbw", "总线带宽": "busbw", "algbw": "algbw", "algobw": "algbw", "busbw": "busbw",
}  # fmt: skip
"""Labels of columns whose numbers mean nothing without a unit, in brackets or in each cell."""

_TIMES = {"time", "duration", "latency", "elapsed", "runtime", "gputime", "kerneltime",
          "devicetime", "meantime", "avgtime", "averagetime", "mediantime"}  # fmt: skip
"""Labels of times whose unit stands in each cell, in one us and in the next ms."""

_PLACES = re.compile(r"[\s_(]*\b(out[- _]of[- _]place|in[- _]place)\b\)?[\s_]*", re.IGNORECASE)
"""Where nccl-tests puts the result: it measures both, and a call is the one out of place."""

_IN_ENGLISH = {"算子": "op", "集合通信": "op", "通信算子": "op"}

_RATE_WORDS = {"throughput", "performance", "perf", "rate", "speed", "achieved", "compute",
               "computation"}  # fmt: skip

BEGIN = 50
"""Lines of separated values that tell whether their header names a call."""

OF_RUNS = {"layers", "hidden", "gpus", "nodes", "tp", "pp", "micro_batch", "global_batch", "model",
           "parameters", "model_size"}  # fmt: skip
"""Columns of training runs: a time beside them is no kernel's."""


@dataclass(frozen=True)
class _Column:
    """The field that a column fills, the factor to its unit, and what sets it apart."""

    spec: FieldSpec | None = None
    scale: float = 1.0
    aside: Mapping[str, str] = field(default_factory=dict)
    sizes: str = ""  # letters of a product that its cells say, in order


def kernel_rows(lines: Sequence[Line], table: CsvTable, folded: Folded) -> None:
    """Put every table whose header names what is needed of a call into `folded`."""
    if not any(line.text and not line.text.isspace() for line in lines):
        return
    lines = _of_one_host(lines)
    order = cache(lambda: _order(lines))
    for grid in map(_with_units, apart(_grids(lines, table))):
        above = said_above(lines, grid, table.schema)
        above |= _ranks_of_ratio(grid, table.schema, above)
        bare = _bare(lines, grid, table.schema)
        if _of_bench(lines, grid):
            continue
        curves = bool(grid.series) or of_curves(lines, grid)
        if columns := _columns(grid, table, above, order, bare, curves=curves):
            columns = _binary(grid, _in_units(grid, columns))
        elif not (columns := _matrix(grid, table.schema, above, bare)):
            continue
        ours = [row for row in grid.rows if grid.syntax != "json" or _calls(row, columns, table)]
        records = [each for row in ours for each in _records(row, columns, above)]
        if "direction" in fields(table.schema):
            _directed(grid, columns, records)
        if records:
            folded.records += records
            folded.claimed |= _lines(lines, grid, records, ours)


_HOST = re.compile(r"([A-Za-z][\w.-]*[0-9]):(?: |$)")

MOST_LINES = 0.8
"""Share of lines in front of which a launcher has put the name of one host."""


def _of_one_host(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines without the name of a host that nearly all of them begin with."""
    first = [found[1] for line in lines[:BEGIN] if (found := _HOST.match(line.text))]
    if not first or first.count(first[0]) < len(first):
        return lines
    begin = f"{first[0]}:"
    if sum(line.text.startswith(begin) for line in lines) < MOST_LINES * len(lines):
        return lines
    return [_behind(line, begin) for line in lines]


def _behind(line: Line, begin: str) -> Line:
    text = line.text.removeprefix(begin)
    behind = text.removeprefix(" ") if text != line.text else text
    return line._replace(text=behind, column=line.column + len(line.text) - len(behind))


def _grids(lines: Sequence[Line], table: CsvTable) -> list[Grid]:
    """Every table of a document; separated values only where their header names a call."""
    if begins_json(lines) and (held := list(json_records(lines))):
        return held
    begin = next(delimited(lines[:BEGIN], named=False), None)
    long = begin is not None and long_and_even(lines, begin)
    if not long and (found := [*tool_csv(lines), *marked(lines)]):
        return found
    above = said_above(lines, begin, table.schema) if begin else {}
    called = begin is not None and _columns(begin, table, above, lambda: "")
    return list(delimited(lines, named=False)) if called else []


_IN_A_UNIT = re.compile(r"([0-9][0-9.,]*) ?([A-Za-zµ]+(?:/[A-Za-z]+)*)")


def _with_units(grid: Grid) -> Grid:
    """The grid with a unit that every cell of a column prints in its label: `10.3 us` below `Time`
    is 10.3 below `Time (us)`. Sizes keep theirs: those differ from row to row."""
    if grid.labels or not grid.heads:
        return grid
    told: dict[int, str] = {}
    for at, label in enumerate(grid.header()):
        cells = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        found = [_IN_A_UNIT.fullmatch(cell) for cell in cells if cell]
        units = {each[2] if each else "" for each in found}
        if len(units) == 1 and (name := units.pop()) and _SIZED.fullmatch(plain(label)) is None:
            measure = unit(name)
            if measure and measure.si in ("s", "flop/s"):
                told[at] = name
    if not told:
        return grid

    def bare(row: GridRow) -> GridRow:
        parts = [_IN_A_UNIT.fullmatch(plain(cell.text)) for cell in row.cells]
        cells = tuple(
            cell._replace(text=part[1]) if part is not None and at in told else cell
            for at, (cell, part) in enumerate(zip(row.cells, parts, strict=True))
        )
        return replace(row, cells=cells)

    head = grid.heads[-1]
    labels = tuple(
        cell._replace(text=f"{plain(cell.text)} ({told[at]})") if at in told else cell
        for at, cell in enumerate(head.cells)
    )
    return replace(grid, heads=(*grid.heads[:-1], replace(head, cells=labels)),
                   rows=tuple(map(bare, grid.rows)))  # fmt: skip


def _bare(lines: Sequence[Line], grid: Grid, schema: Schema) -> _Column | None:
    """The column of all bare numbers of a table: in the unit that it gives, or the text above."""
    columns = fields(schema)
    if grid.series:
        scale = timed(grid.series)
        return _Column(columns["time"], scale) if scale and "time" in columns else None
    told = measured_above(lines, grid, schema)
    return _Column(columns[told[0]], told[1]) if told else None


def _columns(
    grid: Grid,
    table: CsvTable,
    above: Mapping[str, Cell],
    order: Callable[[], str],
    bare: _Column | None = None,
    *,
    curves: bool = False,
) -> list[_Column]:
    """The columns of a table; none where they do not name what is needed of a call. A column that
    is told apart and says no more is of what the text above says, `bare`; and of `curves` every
    column that is none of the call's, behind those."""
    columns = [_placed(plain(label), table.schema, bare) for label in grid.header()]
    if any(column.spec and column.spec.name == "time" and column.scale for column in columns):
        columns = [_Column() if each.spec and each.spec.name == "time" and not each.scale else each
                   for each in columns]  # fmt: skip
    if curves and bare is not None:
        columns = _curves(grid, columns, bare)
    for at, label in enumerate(grid.header()):
        if normalise(plain(label)) in _UNORDERED and "m" in fields(table.schema):
            columns[at] = _Column(sizes=order() if len(set(order())) == 3 else "")
    held = [column.spec.name for column in columns if column.spec and not column.aside]
    held += [letter for column in columns for letter in column.sizes]
    product = {"m", "n", "k"} <= set(held)  # no run is told by these, beside its layout or not
    if len(held) != len(set(held)) or (not product and _of_runs(grid, table.schema)):
        return []
    every = {*held, *above, *(column.spec.name for column in columns if column.spec)}
    every |= {"heads"} if "head_dim" in above else set()  # of a width that is not said
    return columns if all(every & need for need in table.needs) else []


def _curves(grid: Grid, columns: Sequence[_Column], bare: _Column) -> list[_Column]:
    """Columns whose labels are names of kernels, behind the last that says what was called."""
    made = list(columns)
    last = max((at for at, column in enumerate(columns) if column.spec and not column.aside
                and not _says_how_fast(column.spec)), default=len(columns))  # fmt: skip
    for at, label in enumerate(grid.header()):
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        whole = not grid.series and all(re.fullmatch(r"[0-9]*(?:\.0*)?", text) for text in texts)
        if at > last and columns[at].spec is None and not whole and not _RATIO.search(label):
            made[at] = replace(bare, aside=_of_curve(plain(label)))
    return made


def _of_curve(label: str) -> dict[str, str]:
    """The kernel that a label names, apart from a number format beside it: `ours [FP16]`."""
    found = _at_an_end(label)
    if found is None or found.lastgroup != "dtype":
        return {"kernel": label}
    name = (label[: found.start()] + " " + label[found.end() :]).strip(_BREAKS)
    return {"dtype": found[0]} | ({"kernel": name} if name else {})


_RATIO = re.compile(r"(?i)speed-?up|ratio|relative|error|diff|%|\bvs\b")


def _of_bench(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether a table stands under the sentence of a benchmark that has a format of its own."""
    near = lines[max(0, grid.begin - 3) : grid.begin]
    return any(re.search(r"\bover \S+ ranks \(", line.text) for line in near)


def _of_runs(grid: Grid, schema: Schema) -> bool:
    own = by_label(schema)
    labels = [plain(label) for label in grid.header()]
    own_labels = own.keys() | (_LOOSE.keys() if "bytes" in fields(schema) else set())
    said = [meaning(label) for label in labels if normalise(label) not in own_labels]
    return any(each is not None and each.field in OF_RUNS for each in said)


def _placed(label: str, schema: Schema, bare: _Column | None) -> _Column:
    """The column of a label that may say where a collective puts its result."""
    found = _PLACES.search(label)
    if found is None:
        return _column(label, schema, bare)
    if found[1][0] in "iI":
        return _Column()
    return _column((label[: found.start()] + " " + label[found.end() :]).strip(), schema, bare)


def _column(label: str, schema: Schema, bare: _Column | None = None) -> _Column:
    if {"m", "n", "k"} <= set(fields(schema)):
        if _SQUARE.fullmatch(label):
            return _Column(sizes="mnk")
        if product := _PRODUCT.fullmatch(label):
            letters = "".join(product.groups()).casefold()
            return _Column(sizes=letters if len(set(letters)) == 3 else "")
    if named := _PROVIDED.fullmatch(label):
        rate = fields(schema).get("flops_rate")
        return _Column(rate, 1e12, {"kernel": named[1]}) if rate else _Column()
    aside: dict[str, str] = {}
    rest = label
    while True:
        if (told := _measured(rest, schema)) is not None:
            fits = not aside or (told.spec is not None and _says_how_fast(told.spec))
            return replace(told, aside=aside) if fits else _Column()
        found = _at_an_end(rest)
        if found is None or found.lastgroup in aside or found.lastgroup not in fields(schema):
            return _Column()
        aside[str(found.lastgroup)] = found[0]
        rest = (rest[: found.start()] + " " + rest[found.end() :]).strip(_BREAKS)
        rest = rest.replace("()", "").strip(_BREAKS)
        if not rest and bare is not None:
            return replace(bare, aside=aside)


def _at_an_end(text: str) -> re.Match[str] | None:
    """The name of a format, a library or a direction that a label begins or ends with."""
    for found in _ASIDE.finditer(text):
        before, behind = text[: found.start()], text[found.end() :]
        first = not before.strip(_BREAKS) and (not behind or behind[0] in _BREAKS)
        last = not behind.strip(_BREAKS) and (not before or before[-1] in _BREAKS)
        if first or last:
            return found
    return None


def _measured(label: str, schema: Schema) -> _Column | None:
    known, columns = by_label(schema), fields(schema)
    label = _IN_ENGLISH.get(label, label)
    if normalise(label) in known and normalise(label) not in _LOOSE:
        spec, scale = known[normalise(label)]
        return _Column(spec, scale)
    if (scale_of_time := timed(label)) is not None and "time" in columns:
        return _Column(columns["time"], scale_of_time)
    if normalise(label) in _TIMES and "time" in columns:
        return _Column(columns["time"], 0.0)
    sized = _SIZED.fullmatch(label)
    name, printed = (sized[1], sized[2]) if sized else (label, label)
    measure = unit(printed)
    plainly = not sized or set(split(name)) <= _RATE_WORDS
    if measure and measure.si == "flop/s" and "flops_rate" in columns and plainly:
        return _Column(columns["flops_rate"], measure.scale)
    loose = columns.get(_LOOSE.get(normalise(name), ""))
    if loose is not None:
        factors = BANDWIDTH if loose.unit == "B/s" else _BYTES
        return _Column(loose, factors.get(printed, 0.0)) if sized else _Column(loose, 0.0)
    if sized and normalise(name) in known and (spec := known[normalise(name)][0]).unit is None:
        return _Column(spec)
    return None


_RATIOS = {
    "all_reduce": lambda n: 2.0 * (n - 1) / n, "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n, "all_to_all": lambda n: (n - 1) / n,
}  # fmt: skip
"""Bus bandwidth over algorithm bandwidth of a collective of so many ranks, as nccl-tests count."""

MOST_RANKS = 512
"""Ranks beyond which their ratio says no more how many they are."""


def _ranks_of_ratio(grid: Grid, schema: Schema, above: Mapping[str, Cell]) -> dict[str, Cell]:
    """How many ranks there were, where nothing says it and the two bandwidths of every row do."""
    ratio = _RATIOS.get(above["op"].text) if "op" in above else None
    if ratio is None or "ranks" in above or not {"algbw", "busbw"} <= set(fields(schema)):
        return {}
    columns = [_column(plain(label), schema) for label in grid.header()]
    held = {column.spec.name: at for at, column in enumerate(columns) if column.spec}
    if "ranks" in held or not {"algbw", "busbw"} <= held.keys():
        return {}
    texts = [[plain(row.cells[held[n]].text) for n in ("algbw", "busbw")]
             for row in grid.rows if len(row.cells) == len(columns)]  # fmt: skip
    if not texts or not all(map(_BARE_NUMBER.fullmatch, (text for pair in texts for text in pair))):
        return {}
    pairs = [(printed(one), printed(other)) for one, other in texts]
    fits = [
        n for n in range(2, MOST_RANKS + 1)
        if all(a.low * ratio(n) <= b.high and b.low <= a.high * ratio(n) for a, b in pairs)
    ]  # fmt: skip
    if len(fits) != 1:
        return {}
    law = "bus bandwidth over algorithm bandwidth tells the ranks of a collective"
    head = grid.heads[-1].line
    return {"ranks": Cell(str(fits[0]), head.number, head.column, value_origin="solved", law=law)}


_BARE_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")

_OF_RANKS = re.compile(
    r"(?:(?P<nodes>[0-9]{1,5})[ -]?nodes?)?[ ,]*\(?(?:(?P<ranks>[0-9][0-9,]*) ?"
    r"(?:x ?)?(?:[GNTX]PUs?|ranks?|devices?|cards?|chips?|GCDs?))?\)?",
    re.IGNORECASE,
)


def _matrix(
    grid: Grid, schema: Schema, above: Mapping[str, Cell], bare: _Column | None
) -> list[_Column]:
    """The columns of a table of sizes by numbers of ranks, of the one quantity named above."""
    labels = [plain(label) for label in grid.header()]
    sized = _measured(labels[0], schema) if len(labels) > 1 else None
    if bare is None or bare.spec is None or sized is None or sized.spec is None:
        return []
    if sized.spec.name != "bytes" or "op" not in above:
        return []
    found = [_OF_RANKS.match(label) for label in labels[1:]]
    by_nodes = {each["nodes"]: each["ranks"] for each in found
                if each and each["nodes"] and each["ranks"]}  # fmt: skip
    columns, seen = [sized], set[str]()
    for label, each in zip(labels[1:], found, strict=True):
        ranks = (each["ranks"] or by_nodes.get(each["nodes"] or "")) if each else None
        if not ranks:
            columns.append(_Column())
            continue
        aside = {"ranks": ranks.replace(",", "")}
        if ranks in seen:  # `32 nodes, SHARP` beside `32 nodes (256 GPUs)`
            aside["column"] = label
        seen.add(ranks)
        columns.append(replace(bare, aside=aside))
    return _binary(grid, columns) if seen else []


_UNORDERED = {"shape", "gemmshape", "shapes", "problem", "problemsize"}

_ORDER = re.compile(r"(?<![A-Za-z])([MNK])\s?[x×]\s?([MNK])\s?[x×]\s?([MNK])(?![A-Za-z])")


def _order(lines: Sequence[Line]) -> str:
    """How a document writes products, `mkn` say; empty where it does not tell, or not one way."""
    found = {"".join(m).casefold() for line in lines for m in _ORDER.findall(line.text)}
    return found.pop() if len(found) == 1 else ""


_DECIMAL = {"KB": 1, "MB": 2, "GB": 3}

CLOSE = 0.01
"""How far a bandwidth may be from its size over its time: 1,000s and 1,024s differ by more."""


def _in_units(grid: Grid, columns: Sequence[_Column]) -> list[_Column]:
    """Sizes under `(MB)` in 1,000s or 1,024s, whichever gives the bandwidths that are printed."""
    made = list(columns)
    held = {column.spec.name: at for at, column in enumerate(columns) if column.spec}
    for at, (column, label) in enumerate(zip(columns, grid.header(), strict=True)):
        sized = _SIZED.fullmatch(plain(label))
        place = _DECIMAL.get(sized[2], 0) if sized else 0
        if not place or column.spec is None or column.spec.name != "bytes" or column.scale:
            continue
        if not {"time", "algbw"} <= held.keys():
            continue
        time, rate = (columns[held[name]].scale for name in ("time", "algbw"))
        rows = [
            [_amount(row, n) for n in (at, held["time"], held["algbw"])]
            for row in grid.rows
            if len(row.cells) == len(columns)
        ]
        found = [
            base
            for base in (1000.0, 1024.0)
            if rows
            and all(abs(size * base**place - t * time * bw * rate) <= CLOSE * t * time * bw * rate
                    for size, t, bw in rows)
        ]  # fmt: skip
        if len(found) == 1:
            made[at] = replace(column, scale=found[0] ** place)
    return made


def _amount(row: GridRow, at: int) -> float:
    found = _NUMBER.fullmatch(plain(row.cells[at].text))
    return float(found[1].replace(",", "")) if found and not found[2] else -1.0


def _binary(grid: Grid, columns: Sequence[_Column]) -> list[_Column]:
    """Sizes in KB, MB and GB that are all powers of two are counted in 1,024s; else unknown."""
    made = []
    for at, column in enumerate(columns):
        if column.spec is not None and column.spec.unit == "B":
            found = [_NUMBER.fullmatch(plain(row.cells[at].text)) for row in grid.rows
                     if at < len(row.cells) and row.cells[at].text]  # fmt: skip
            sized = [each for each in found if each and each[2] in _BY_PLACE and each[2] != "B"]
            numbers = [float(each[1].replace(",", "")) for each in sized]
            powers = all(n.is_integer() and int(n) & (int(n) - 1) == 0 for n in numbers)
            doubtful = numbers and (len(numbers) < 3 or not powers or not all(found))
            made.append(_Column() if doubtful else column)
        else:
            made.append(column)
    return made


def _records(row: GridRow, columns: Sequence[_Column], above: Mapping[str, Cell]) -> list[Record]:
    """The measurements of a row, those of one format, library and direction together."""
    if row.blank or row.one or len(row.cells) != len(columns):
        return []
    shared: dict[str, Cell] = {}
    own: dict[tuple[tuple[str, str], ...], Record] = {}
    for cell, column in zip(row.cells, columns, strict=True):
        text = plain(cell.text)
        if column.sizes:
            if not (said := _sizes(text, column.sizes, cell)):
                return []  # a size that is no number: nothing is known of the call
            shared |= said
        elif column.spec is None or not text:
            continue
        elif not column.spec.numeric:
            shared[column.spec.name] = Cell(text, cell.line, cell.column)
        elif (value := _value(text, column, cell)) is None:
            if not _says_how_fast(column.spec):
                return []
        elif _says_how_fast(column.spec):
            key = tuple(sorted(column.aside.items()))
            place = (cell.line, cell.column) if key else (row.line.number, row.line.column)
            record = own.setdefault(key, Record(place[0], {}, place[1]))
            record.cells.setdefault(column.spec.name, value)
        else:
            shared[column.spec.name] = value
    for key, record in own.items():
        _set_apart(record, key)
        record.cells = {**above, **shared, **record.cells}
    return list(own.values())


def _calls(row: GridRow, columns: Sequence[_Column], table: CsvTable) -> bool:
    """Whether an object has what is needed of a call of this kind: another may stand beside it."""
    own = {
        column.spec.name
        for cell, column in zip(row.cells, columns, strict=True)
        if column.spec is not None and cell.text
    }
    named = {column.spec.name for column in columns if column.spec is not None}
    return all(own & need for need in table.needs if named & need)


_DIRECTION = re.compile(r"(?:^|[\s_.-])(fwd|bwd|forward|backward)(?=$|[\s_.-])", re.IGNORECASE)


def _directed(grid: Grid, columns: Sequence[_Column], records: Sequence[Record]) -> None:
    """Give calls the direction that the name of their operation ends with: `attention_bwd`."""
    named = {
        row.line.number: {m[1]: cell for m in _DIRECTION.finditer(plain(cell.text))}
        for row in grid.rows
        for cell, column in zip(row.cells, columns, strict=False)
        if column.spec is None and _DIRECTION.search(plain(cell.text))
    }
    for record in records:
        told = named.get(record.line, {})
        if len(told) == 1 and "direction" not in record.cells:
            word, cell = next(iter(told.items()))
            record.cells["direction"] = Cell(word, cell.line, cell.column)


def _says_how_fast(spec: FieldSpec) -> bool:
    """Whether a field is of a measurement, one that nothing predicts among them."""
    return spec.quantity is not None or spec.unit == "flop/s"


def _set_apart(record: Record, key: Sequence[tuple[str, str]]) -> None:
    """Put into a record what the label of its column says beside the quantity."""
    for name, word in key:
        if name == "column":
            record.other.append((name, word))
        else:
            record.cells[name] = Cell(word, record.line, record.column)


def _sizes(text: str, letters: str, at: GridCell) -> dict[str, Cell]:
    text = text.replace(", None", "")  # TritonBench: no bias
    numbers = re.findall(r"[0-9][0-9,]*", text)
    if letters == "mnk" and len(numbers) == 1:
        numbers *= 3  # a square one
    if len(numbers) != len(letters) or re.search("[A-WYZa-wyz.]", text):
        return {}
    return {
        letter: Cell(number.replace(",", ""), at.line, at.column)
        for letter, number in zip(letters, numbers, strict=True)
    }


_LENGTHS = {"seq", "kv_seq"}
"""Lengths of sequences, whose k counts 1,024."""


def _value(text: str, column: _Column, at: GridCell) -> Cell | None:
    assert column.spec is not None
    scale = column.scale
    if column.spec.unit == "B/s" and (behind := text.lstrip("0123456789.,").strip()):
        text, scale = text.removesuffix(behind).rstrip(), BANDWIDTH.get(behind, 0.0)
    if column.spec.unit == "s" and not scale and (one := _IN_A_UNIT.fullmatch(text)):
        text, scale = one[1], timed(one[2]) or 0.0
    if column.spec.name in _LENGTHS and re.fullmatch("[0-9]{1,4}[kK]", text):
        return Cell(str(int(text[:-1]) * 1024), at.line, at.column)
    found = _NUMBER.fullmatch(text)
    if found is None or (found[2] and column.spec.unit != "B") or not (scale or found[2]):
        return None
    digits = found[1].replace(",", "")
    if column.spec.kind == "exact" and not column.spec.quantity and float(digits).is_integer():
        digits = str(int(float(digits)))  # data frames print counts as 1024.0
    if found[2]:
        place = _BY_PLACE[found[2].replace("i", "")]
        size = Cell(str(round(float(digits) * 1024**place)), at.line, at.column)
        if "i" in found[2] or not place:
            return size
        return size._replace(value_origin="solved", law="powers of two, counted in 1,024s")
    return Cell(digits, at.line, at.column, scale)


def _lines(
    lines: Sequence[Line], grid: Grid, records: Sequence[Record], ours: Sequence[GridRow]
) -> set[int]:
    here = lines[grid.begin : grid.end]
    if len(ours) < len(grid.rows):  # objects of other calls stand between these
        begins = sorted(row.line.number for row in grid.rows)
        every = {row.line.number for row in ours}
        return {
            line.number for line in here
            if (at := bisect_right(begins, line.number)) and begins[at - 1] in every
        }  # fmt: skip
    if grid.syntax in ("html", "rst", "json"):
        return {line.number for line in here if line.text.strip()}
    head = {row.line.number for row in grid.heads} | {lines[grid.begin].number}
    rule = {lines[grid.begin + 1].number} if grid.syntax == "markdown" else set()
    return head | rule | {record.line for record in records}
