"""How many ranks a measured collective has: what commands start, and what bandwidths prove.

In: the text of a command or of words above a table; the two bandwidths of its rows. Out: ranks, and
how many of them share a node. The bus bandwidth of a collective is its algorithm bandwidth times a
factor of the ranks alone, so that a table tells them, or tells that what was said is of another.
Ranks side by side, `8 GPUs: time | 8 GPUs: busbw | 32 GPUs: time | …`, are rows of their own. What
ranks exchange of their experts' tokens is a collective of as many ranks as experts are spread over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import Grid, GridRow
from assay.ingest.numbers.printed import printed, whole
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred


def _of_others(ranks: int) -> float:
    return (ranks - 1) / ranks


RATIOS: Mapping[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2.0 * _of_others(n), "all_gather": _of_others,
    "reduce_scatter": _of_others, "all_to_all": _of_others, "alltoall": _of_others,
    "gather": _of_others, "scatter": _of_others,
}  # fmt: skip
"""Bus bandwidth over algorithm bandwidth of a collective of so many ranks, as nccl-tests count.

Source: doc/PERFORMANCE.md of nccl-tests.
"""


def ratio_of(op: str, ranks: int) -> float | None:
    """The ratio of an operation, however it is written, between so many ranks; None of others.

    >>> ratio_of("AllReduce", 4), ratio_of("all-to-all", 2), ratio_of("broadcast", 8)
    (1.5, 0.5, 1.0)
    """
    name = re.sub(r"[^a-z]", "", op.casefold().removesuffix("_perf"))
    if name in ("broadcast", "reduce", "sendrecv"):
        return 1.0
    ratio = next((each for known, each in RATIOS.items() if known.replace("_", "") == name), None)
    return ratio(ranks) if ratio and ranks > 1 else None


MOST_RANKS = 512
"""Ranks beyond which their ratio says no more how many they are."""

LAW = "bus bandwidth over algorithm bandwidth tells the ranks of a collective"

_BARE_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


def told_by_ratio(op: str, pairs: Sequence[tuple[str, str]]) -> int | None:
    """The one number of ranks at which every pair of printed bandwidths, of the algorithm and of
    the bus, agrees; None where several are, or none."""
    fits = [n for n in range(2, MOST_RANKS + 1) if agrees(op, n, pairs)]
    return fits[0] if len(fits) == 1 else None


def agrees(op: str, ranks: int, pairs: Sequence[tuple[str, str]]) -> bool | None:
    """Whether every pair of bandwidths is one of so many ranks; None where nothing tells."""
    ratio = RATIOS.get(op)
    if ratio is None or not pairs or ranks < 1:
        return None
    if not all(map(_BARE_NUMBER.fullmatch, (text for pair in pairs for text in pair))):
        return None
    factor = ratio(ranks)
    found = [(printed(one), printed(other)) for one, other in pairs]
    return all(a.low * factor <= b.high and b.low <= a.high * factor for a, b in found)


_LAUNCHED = deferred(
    r"\b(?:mpi(?:run|exec)(?:\.\w+|_rsh)?|aprun)\b(?: [^|;&]*?)?? -(?:np?|-np)[ =]([0-9]{1,9})\b"
    r"|\b(?:srun|flux run)\b(?: [^|;&]*?)?? (?:-n ?|--ntasks[ =])([0-9]{1,9})\b"
    r"|\bnccom-test\b(?: [^|;&]*?)?? -r[ =]([0-9]{1,9})\b|(?<![\w-])--nworkers[ =]([0-9]{1,9})\b"
)
"""How many processes a command starts; of cores of Neuron, the workers of its own benchmark."""

_ON_NODES = deferred(
    r"\b(?:srun|flux run)\b(?: [^|;&]*?)?? (?:-N ?|--nodes[ =])([0-9]{1,9})\b"
    r"|\b(?:torchrun|torch\.distributed\.(?:run|launch))\b(?: [^|;&]*?)?? "
    r"--(?:nnodes[ =]([0-9]{1,9})\b(?!:)|standalone\b)"
)

_ON_EACH = deferred(
    r"\bsrun\b(?: [^|;&]*?)?? --ntasks-per-node[ =]([0-9]{1,9})\b"
    r"|\bmpi(?:run|exec)(?:\.\w+)?\b(?: [^|;&]*?)?? (?:-N|--?npernode|-ppn)[ =]([0-9]{1,9})\b"
    r"|\bmpi(?:run|exec)\b(?: [^|;&]*?)? (?:--map-by )ppr:([0-9]{1,9}):node\b"
    r"|\b(?:torchrun|torch\.distributed\.(?:run|launch))\b(?: [^|;&]*?)?? "
    r"--nproc[-_]per[-_]node[ =]([0-9]{1,9})\b"
)
"""On how many nodes Slurm or PyTorch starts processes, and how many a launcher starts on each."""


def launched(text: str) -> dict[str, str]:
    """How many processes a command starts, and how many on each node where it says so.

    >>> launched("mpirun -np 32 ./all_reduce_perf -b 1M -n 50"), launched("srun -N 4 -n 16 ./x")
    ({'ranks': '32'}, {'ranks': '16'})
    >>> launched("nccom-test -r 64 -b 8 -e 1GB allr"), launched("nccom-test --nworkers=2 allg")
    ({'ranks': '64'}, {'ranks': '2'})
    >>> launched("torchrun --nnodes=2 --nproc_per_node=4 allgather.py")
    {'ranks': '8', 'ranks_per_node': '4'}
    """
    each, many = _ON_EACH.search(text), _ON_NODES.search(text)
    of_node = next(filter(None, each.groups())) if each else ""
    told = {"ranks_per_node": of_node} if of_node else {}
    if whole := _LAUNCHED.search(text):
        return {"ranks": next(filter(None, whole.groups()))} | told
    nodes = (many[1] or many[2] or "1") if many else ""  # `--standalone` is on one
    return {"ranks": str(int(nodes) * int(of_node))} | told if nodes and of_node else {}


_OF_A_PROCESS = deferred(r" (?:-t|--nthreads|-g|--ngpus)[ =]?([0-9]{1,9})\b")


def of_a_process(command: str) -> int:
    """How many ranks each process of a benchmark of NCCL has: its threads times their devices."""
    many = 1
    for found in _OF_A_PROCESS.findall(command):
        many *= int(found)
    return many


def amount(cell: Cell) -> float:
    """The number of a cell in the unit of its column."""
    return float(cell.text) * cell.scale


def sizes_apart(records: Sequence[Record], operations: Set[str]) -> None:
    """Keep sizes as they are printed, in calls of operations of which a program prints what goes
    from each rank."""
    for record in records:
        if record.cells["op"].text in operations and (size := record.cells.pop("bytes", None)):
            record.other.append(("bytes of each rank", size.text))


OFF = 0.02
"""How far a time and a bandwidth may be from the size of a message, apart from their digits."""


def unproven_apart(records: Sequence[Record]) -> None:
    """Take the size that the text above says away from calls whose bandwidth over their time is of
    another: of one rank's part of the message."""
    for record in records:
        cells = record.cells
        if "time" not in cells or "bytes" not in cells or cells["bytes"].value_origin != "stated":
            continue
        ranks = whole(cells["ranks"].text) if "ranks" in cells else None
        ratio = ratio_of(cells["op"].text, ranks) if ranks else None
        size, took = amount(cells["bytes"]), _around(cells["time"])
        rates = [(cells["algbw"], 1.0)] if "algbw" in cells else []
        rates += [(cells["busbw"], ratio)] if ratio and "busbw" in cells else []
        made = [(took[0] * rate[0] / by, took[1] * rate[1] / by)
                for cell, by in rates for rate in [_around(cell)]]  # fmt: skip
        if any(not low * (1 - OFF) <= size <= high * (1 + OFF) for low, high in made):
            size_said = cells.pop("bytes")
            record.other.append(("size said above", size_said.text))


def ranks_proved(records: Sequence[Record]) -> None:
    """Give calls the ranks that their sizes, times and bandwidths of the bus prove, where the text
    above says others, of another run or of a node: one number that all rows agree in."""
    held = [each.cells for each in records]
    if len(held) < len(("one", "other")) or any(
        not {"time", "busbw", "bytes", "ranks"} <= cells.keys()
        or cells["ranks"].value_origin != "stated" or cells["bytes"].value_origin == "stated"
        for cells in held
    ):  # fmt: skip
        return
    if any(_fits(cells, whole(cells["ranks"].text) or 0, OFF) for cells in held):
        return
    fits = [n for n in range(2, MOST_RANKS + 1) if all(_fits(cells, n) for cells in held)]
    for cells in held if len(fits) == 1 else ():
        law = "the bus bandwidth of a size over its time is one between so many ranks"
        solved = cells["ranks"]._replace(text=str(fits[0]), value_origin="solved", law=law)
        cells["ranks"] = solved


def _fits(cells: Mapping[str, Cell], ranks: int, off: float = 0.0) -> bool:
    """Whether the bandwidth of a call is that of its size and its time between so many ranks, or
    `off` by a part of it."""
    ratio = ratio_of(cells["op"].text, ranks)
    if ratio is None:
        return False
    took, rate = _around(cells["time"]), _around(cells["busbw"])
    moved = amount(cells["bytes"]) * ratio
    return took[0] * rate[0] * (1 - off) <= moved <= took[1] * rate[1] * (1 + off)


def _around(cell: Cell) -> tuple[float, float]:
    """The least and the most that a number may be, as its digits leave it open."""
    number = printed(cell.text)
    return number.low * cell.scale, number.high * cell.scale


_OF_RANKS = re.compile(
    r"(?:(?:W|world[ _]?size|n?ranks|n?gpus|np) ?= ?(?P<named>[0-9]{1,5})(?![0-9])"
    r"|(?P<many>[0-9]{1,5}) ?(?:GPUs?|ranks?|devices?|processes|procs|[卡张])(?![A-Za-z]))"
    r" ?[:：,/|–-]? ?(?P<rest>\S.*)",
    re.IGNORECASE,
)
"""A number of ranks in front of what is measured of as many: `8 GPUs: busbw`, `W=8 (us)`."""

SEVERAL = 2


def ranks_apart(grid: Grid) -> Grid:
    """The grid with a row for each number of ranks that labels have in front of the same names; any
    other as it is."""
    if not grid.heads or grid.labels:
        return grid
    labels = [plain(label) for label in grid.header()]
    matched = {at: told for at, label in enumerate(labels) if (told := _OF_RANKS.fullmatch(label))}
    found = {at: (each["named"] or each["many"], each["rest"]) for at, each in matched.items()}
    many = list(dict.fromkeys(count for count, _ in found.values()))
    sides = {n: {rest: at for at, (count, rest) in found.items() if count == n} for n in many}
    names = list(sides[many[0]]) if many else []
    if len(many) < SEVERAL or any(list(side) != names for side in sides.values()):
        return grid
    rest = [at for at in range(len(labels)) if at not in found]
    head = grid.heads[0]

    def row_of(row: GridRow, count: str, own: list[int]) -> GridRow:
        first = row.cells[own[0]]
        cells = (*(row.cells[at] for at in rest), first._replace(text=count))
        line = row.line._replace(column=first.column)
        return replace(row, line=line, cells=(*cells, *(row.cells[at] for at in own)))

    rows = tuple(
        row_of(row, n, list(sides[n].values()))
        for row in grid.rows if len(row.cells) == len(labels) for n in many
    )  # fmt: skip
    cells = row_of(head, "ranks", list(sides[many[0]].values())).cells
    bare = [
        cell._replace(text=name) for cell, name in zip(cells[-len(names) :], names, strict=True)
    ]
    head = replace(head, cells=(*cells[: -len(names)], *bare))
    return replace(grid, heads=(head,), rows=rows)


_OF_EXPERTS = re.compile(
    r"(?P<op>dispatch ?(?:\+|&|and) ?combine|d ?\+ ?c|dispatch|combine)(?![A-Za-z+])"
    r"[ _:/-]*(?P<rest>.*)",
    re.IGNORECASE,
)
"""An exchange of the tokens of experts, in front of what was measured of it."""

_DEGREE = re.compile(
    r"#? ?(?:EP|ranks?|GPUs?|expert[ -]parallel(?:ism|ity)?)"
    r"(?:[ _]?(?:size|degree|ranks?|world[ _]?size))?",
    re.IGNORECASE,
)
"""A label of how many ranks experts are spread over."""

_TIME_OF_EXPERTS = re.compile(
    r"(?:avg\.?|average|mean|median|total|p50|总|平均)?[ _]?"
    r"(?:time|latency|lat|延迟|时延|耗时|时间)?",
    re.IGNORECASE,
)

_RATE_OF_EXPERTS = re.compile(
    r"(?:rdma|network|net|alg(?:o(?:rithm)?)?|网络|算法)?[ _]?"
    r"(?:bw|bandwidth|throughput|带宽|吞吐量?)?",
    re.IGNORECASE,
)
"""Bandwidths of all that is sent over the time, none of a part of it: `bottleneck bandwidth`."""

_WITH_UNIT = re.compile(
    r"(?P<name>.*?)[ _]?[(\[]?(?P<unit>[mun]s|µs|[GT]i?B(?:/s|ps|/sec))?[)\]]?", re.IGNORECASE
)

_A_NUMBER = re.compile(
    r"[~≈]? ?(?P<number>[0-9][0-9,]*(?:\.[0-9]+)?) ?(?P<unit>[mun]s|µs|[GT]i?B/s)?"
    r"(?: ?[(\[](?:RDMA|NVLink|IB|EFA|RoCE)[)\]])?"
)


def experts_apart(grid: Grid) -> Grid:
    """The grid of exchanges of experts' tokens between ranks with labels as other collectives have
    them, and bare numbers: `Dispatch 延迟 | Dispatch BW | Combine 延迟 | …`, or
    `Dispatch #EP | Latency | RDMA bandwidth | Combine #EP | Latency | …`. Any other as it is, and
    one that says no bandwidth."""
    if not grid.heads or grid.labels or len(grid.heads) != 1:
        return grid
    labels, rows = [plain(label) for label in grid.header()], grid.rows
    told, degrees = _exchanges(labels)
    named = {op for op, _ in told.values()}
    if not named and not degrees:
        return grid
    if any(len(row.cells) != len(labels) for row in rows):
        return grid
    if not named:
        return _in_rows(grid, labels, degrees)
    if len(named) < SEVERAL:
        return grid
    made = {at: name for at, each in told.items()
            if (name := _label_of(*each, [plain(row.cells[at].text) for row in rows]))}  # fmt: skip
    if not any("algbw" in name for name in made.values()) or len({*made.values()}) < len(made):
        return grid
    ranks = [[plain(row.cells[at].text) for row in rows] for at in degrees]
    if any(each != ranks[0] for each in ranks):
        return grid  # one of so many ranks, the other of more
    names = made | ({degrees[0]: "ranks"} if degrees else {})
    return _rewritten(grid, names, set(made), set(degrees[1:]))


def _in_rows(grid: Grid, labels: Sequence[str], degrees: Sequence[int]) -> Grid:
    """The same of a table with a row for each exchange: `EP | op | latency (us) | bandwidth`."""
    texts = [[plain(row.cells[at].text) for row in grid.rows] for at in range(len(labels))]
    ops = [at for at, each in enumerate(texts) if each and all(map(_AN_EXCHANGE.fullmatch, each))]
    if len(ops) != 1 or len(degrees) != 1:
        return grid
    names = {at: name.removeprefix("dispatch ") for at, label in enumerate(labels)
             if at not in (*ops, *degrees)
             and (name := _label_of("dispatch", label, texts[at]))}  # fmt: skip
    if not any("algbw" in name for name in names.values()) or len({*names.values()}) < len(names):
        return grid
    bare = {*names, *degrees}
    return _rewritten(grid, names | {ops[0]: "op", degrees[0]: "ranks"}, bare, set())


def _rewritten(grid: Grid, names: Mapping[int, str], bare: Set[int], gone: Set[int]) -> Grid:
    """The grid with names of columns, numbers without their units in some, and without others."""

    def row_of(row: GridRow) -> GridRow:
        cells = ((cell, _A_NUMBER.fullmatch(plain(cell.text)) if at in bare else None)
                 for at, cell in enumerate(row.cells) if at not in gone)  # fmt: skip
        return replace(row, cells=tuple(
            cell._replace(text=found["number"]) if found else cell for cell, found in cells
        ))  # fmt: skip

    (head,) = grid.heads
    cells = (cell._replace(text=names.get(at, cell.text))
             for at, cell in enumerate(head.cells) if at not in gone)  # fmt: skip
    return replace(
        grid, heads=(replace(head, cells=tuple(cells)),), rows=tuple(map(row_of, grid.rows))
    )


_AN_EXCHANGE = re.compile(
    r"(?:(?:low[- ]latency|normal|ll|intranode|internode)[ _-])?(?:dispatch|combine)", re.IGNORECASE
)


def _exchanges(labels: Sequence[str]) -> tuple[dict[int, tuple[str, str]], list[int]]:
    """Column → which exchange it is of, and what was measured of it; and the columns of ranks."""
    told, degrees, over = dict[int, tuple[str, str]](), list[int](), ""
    for at, label in enumerate(labels):
        found = _OF_EXPERTS.fullmatch(label)
        if found is None and over and not _DEGREE.fullmatch(label):
            told[at] = over, label
        elif found is None:
            degrees += [at] if _DEGREE.fullmatch(label) else []
        elif _DEGREE.fullmatch(found["rest"]):
            over = found["op"]
            degrees.append(at)
        else:
            told[at] = found["op"], found["rest"]
    return told, degrees


def _label_of(op: str, label: str, texts: Sequence[str]) -> str:
    """The label of what was measured of an exchange, in the unit that it says or all cells do; ""
    of what is neither a time nor a bandwidth of all that was sent."""
    said = _WITH_UNIT.fullmatch(label)
    numbers = [found for text in texts if (found := _A_NUMBER.fullmatch(text))]
    units = {each["unit"] or "" for each in numbers}
    own = (said["unit"] or "") if said else ""
    if said is None or not numbers or len(units) > 1:
        return ""
    unit_of = own or units.pop()
    exchange = op.casefold() if op.isalpha() else op
    if unit_of.endswith("s") and "/" not in unit_of and "B" not in unit_of:
        return f"{exchange} time ({unit_of})" if _TIME_OF_EXPERTS.fullmatch(said["name"]) else ""
    whole = unit_of and _RATE_OF_EXPERTS.fullmatch(said["name"])
    return f"{exchange} algbw ({unit_of})" if whole else ""


_SO_MANY_EXPERTS = deferred(
    r"(?<![\w.-])([0-9]{1,4})[ -]?EP(?!\w)|(?<!\w)#?(?:EP|expert[ -]parallel(?:ism)?)"
    r"(?:[ _-]?(?:size|degree|ranks?))?(?: ?[=:] ?| (?:of )?|(?=[0-9]))([0-9]{1,4})(?![\w.])"
)
"""Over how many ranks experts are spread: `16 EP`, `EP=32`."""


def ranks_of_experts(grid: Grid, lines: Sequence[Line]) -> dict[str, Cell]:
    """The ranks of exchanges of experts' tokens, which the first of some lines that speaks of them
    says in one way."""
    if not any(EXCHANGE.match(label) for label in map(plain, grid.header())):
        return {}
    for line in lines:
        found = {one or other for one, other in _SO_MANY_EXPERTS.findall(line.text)}
        if len(found) > 1:
            return {}
        if found:
            return {"ranks": Cell(found.pop(), line.number, line.column, value_origin="stated")}
    return {}


EXCHANGE = re.compile(
    r"(dispatch(?: ?(?:\+|&|and) ?combine)?|combine|d ?\+ ?c)(?= (?:time|algbw) \()", re.IGNORECASE
)
"""The label of an exchange of experts' tokens, in front of what was measured of it."""
