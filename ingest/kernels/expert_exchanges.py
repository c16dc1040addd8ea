"""Exchanges of experts' tokens between ranks: collectives of all ranks that hold the experts.

In: the grid of a table, and the lines around it. Out: the grid with labels as other collectives
have them, `dispatch time (us)`, and bare numbers below; and the ranks that the text says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import Grid, GridRow
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred

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
    if len(named) < BOTH:
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


BOTH = 2
"""Exchanges of experts' tokens: out to the experts, and back."""


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
