"""Output of the collective benchmarks of NCCL (`all_reduce_perf` and its like).

In: a document with a header `# size count type redop …` and rows below it. Out: one record per
message size, or two where it is measured in place as well. Operation, devices and ranks come from
the lines of the same run above, ranks that are not all listed from its command, where the two
bandwidths of its rows do not contradict; where none of them names the operation, the words right
above the table do, or a reduction is told by its size: count × width, or that times the ranks. A
row with fewer values than labels has them below the ends of their own.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pandera.polars as pa
from assay.ingest.lines.lark import Token, Tree, parse_line
from assay.ingest.numbers.printed import whole
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span
from assay.ingest.source.posts import author_of

MICRO, GIGA = 1e-6, 1e9

WIDTH = {"float": 4, "half": 2, "bfloat16": 2, "double": 8, "int8": 1, "uint8": 1, "int32": 4,
         "uint32": 4, "int64": 8, "uint64": 8, "f8e4m3": 1, "f8e5m2": 1}  # fmt: skip
"""Bytes of an element by the name in the column `type`."""


class NcclTests(pa.DataFrameModel):
    """One message size: a collective whose result goes elsewhere, or in place of what was sent."""

    gpu: str = named(meaning="device of every rank, if all have the same")
    op: str = named(["op"], meaning="operation")
    ranks: int = logged(kind="exact", ge=1, nullable=True)
    ranks_per_node: int = logged(kind="exact", ge=1, nullable=True)
    dtype: str = named(["type"])
    redop: str = named(["redop"], meaning="how elements are reduced")
    bytes: int = logged(["size"], kind="exact", unit="B", ge=0)
    elements: int = logged(["count"], kind="exact", ge=0)
    in_place: bool = logged(
        kind="exact", nullable=True,
        meaning="whether the result takes the place of what was sent; null beside no other time",
    )  # fmt: skip
    time: float = logged(
        {"time": MICRO}, unit="s", quantity="time", gt=0, nullable=True,
        meaning="time of the collective",
    )  # fmt: skip
    algbw: float = logged(
        {"algbw": GIGA}, unit="B/s", ge=0, nullable=True, meaning="bytes over time"
    )
    busbw: float = logged(
        {"busbw": GIGA}, unit="B/s", ge=0, nullable=True, meaning="bytes on the wire over time"
    )
    wrong: int = logged(["#wrong"], kind="exact", ge=0, nullable=True, meaning="wrong elements")

    class Config:
        """Scope and subject of the rows."""

        metadata = {
            "rows": "kernel",
            "scope": "collective",
            "subject": ("op", "ranks", "elements", "bytes"),
        }


FIELDS = {
    "size": ("bytes", 1.0), "count": ("elements", 1.0), "type": ("dtype", 1.0),
    "redop": ("redop", 1.0), "time": ("time", MICRO), "algbw": ("algbw", GIGA),
    "busbw": ("busbw", GIGA), "#wrong": ("wrong", 1.0),
}  # fmt: skip
"""Column label → field and factor; from the second `time` on they are of the in-place one."""

_OF_A_TIME = {"time", "algbw", "busbw", "wrong"}
"""Fields that are printed again for the collective in place."""

_ROW = re.compile(r"\s*[0-9]+\s+[0-9]+\s+(?:[a-z][a-z0-9]+|[0-9]+(?:\.[0-9]+)?)\s+\S")

_PROGRAM = re.compile(r"\b([a-z_]+)_perf(?:_mpi)?\b")

_NAMED = re.compile(r"#+\s*(?:\./|build/)*([a-z_]+)_perf(?:_mpi)?(?:\s+-.*)?")
"""A comment that is the name of the program, with its options or without."""

_DECORATION = re.compile(r"#\s+(?:out-of-place|in-place|\(B\))")

_IN_PLACE_FIRST = re.compile(r"#\s+in-place\s+out-of-place")

_WITHOUT_HASH = re.compile(
    r"\s*(?:Collective test starting|nThread [0-9]|Using devices|Rank +[0-9]+ +(?:Group|Pid)"
    r"|out-of-place|in-place|size +count +(?:type|time)|\(B\) +\(elements\))"
)

_BEGINS = ("nThread", "Using devices")
"""First line of a run, behind the one that names its operation, if there is one."""

_TITLE = re.compile(r"#{1,6} (?!.*(?:\b[Rr]ank +[0-9]|nThread|[Uu]sing devices|nGpus))")
"""A comment that may be the heading of a section."""

_ENDS = ("Out of bounds values", "Avg bus bandwidth")


@dataclass
class _Run:
    """Operation, devices and labels, as the lines above a table print them."""

    operation: Cell | None = None
    command: str = ""  # that started it
    at: Line | None = None  # where that stands
    devices: list[tuple[Line, str, str, str]] = field(default_factory=list)
    """Line, rank, host, device."""
    labels: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # columns in which they end
    reversed: bool = False  # whether the collective in place is printed first
    least: int = 0  # ranks of each process: its threads and their devices
    above: tuple[Line, ...] = ()  # words above its table, of its own post
    author: str = ""  # of the post, in a thread
    follows: bool = False  # another table, behind words, whose command was named before it
    since: int = 0  # last row of the table before
    records: list[Record] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether every rank is listed: none is left out between two, nor behind the last."""
        listed = sorted(int(rank) for _, rank, _, _ in self.devices)
        return listed == list(range(len(listed))) and len(listed) >= self.least


_OF_A_PROCESS = re.compile(r"nThread (\d+),? nGpus (\d+)")


NEAR = 20
"""Lines above a table, of words, that may say how many ranks it is of."""

LONGEST = 4000
"""Characters of a command, however many lines it goes on for."""


def fold(region: Region) -> Folded:
    """Every table of a document, each with the operation and devices of the lines above it."""
    folded = Folded()
    runs = [_Run()]
    words = deque[Line](maxlen=NEAR)
    command, last, author = "", 0, ""
    for line in region.lines:
        run = runs[-1]
        if line.text.lstrip().startswith("#") or _WITHOUT_HASH.match(line.text):
            spoken = any(each.number > last and _SPOKEN.match(each.text) for each in words)
            run = _comment(region, line, run, folded, spoken)
            if _TITLE.match(line.text) and line.number not in folded.claimed:
                words.append(line)
            if run.labels and not run.above:
                run.above, run.since, run.author = tuple(words), last, author
        elif run.labels and _ROW.match(line.text):
            _row(region, line, run, folded)
            last = line.number
        else:
            command = f"{command[:-1]} {line.text}" if command.endswith("\\") else line.text
            command = command[:LONGEST]
            if told := author_of(line.text):
                opens = not author and not last
                author = told
                if not opens:  # the title of a thread is of its first post
                    words.clear()
                    run = _Run()
            words.append(line)
            if found := _PROGRAM.search(line.text):
                operation = _operation(found[1], line, line.column + found.start())
                run = _Run(operation, command, line)
        if run is not runs[-1]:
            runs.append(run)
    for at, run in enumerate(runs):
        _settle(run, [each for each in runs[:at] if each.records and each.author == run.author])
    return folded


def _operation(text: str, line: Line, column: int) -> Cell:
    return Cell(text, line.number, column, value_origin="stated")


_SPOKEN = re.compile(r"#{2,6} \S|(?:\*\*|\s*(?:[-*] |[0-9]\. )?)[A-Z][^|=]{0,200}[a-z]{2} [^|=]*$")
"""Words between two tables, and no line that a program printed among the rows of one."""


def _comment(region: Region, line: Line, run: _Run, folded: Folded, spoken: bool) -> _Run:
    """A line of `#`: what it says goes into `run`; one that begins a run makes a new one, as does a
    header behind words that were `spoken` since the last row.

    Nothing that was said of a run holds for the next one, whose operation may be another.
    """
    text = line.text.strip()
    text = text if text.startswith("#") else f"# {text}"
    if text.lstrip("# ").startswith(_BEGINS):
        run = _Run() if run.labels or run.devices else run
        if each := _OF_A_PROCESS.search(text):
            run.least = (whole(each[1]) or 1) * (whole(each[2]) or 1)
        return run
    if text.lstrip("# ").startswith(_ENDS):
        return _Run()
    rules = (("Collective test starting", "started_line"), ("Rank", "device_line"),
             ("size", "header_line"))  # fmt: skip
    rule = next((name for word, name in rules if text.lstrip("# ").startswith(word)), None)
    if rule is None:
        if _DECORATION.match(text):
            folded.claimed.add(line.number)
            run.reversed |= _IN_PLACE_FIRST.match(text) is not None
        elif not run.labels and run.operation is None and (named := _NAMED.fullmatch(text)):
            run.operation = _operation(named[1], line, line.column + named.start(1))
        return run
    span = Span(region.source.name, line.number, line.column)
    tree = parse_line("nccl_tests", rule, text, span)
    if isinstance(tree, Diagnostic):
        return run  # a comment that only begins like one of ours
    folded.claimed.add(line.number)
    tokens = [
        part.children[0]
        for part in tree.children
        if isinstance(part, Tree) and isinstance(part.children[0], Token)
    ]
    words = [str(token) for token in tokens]
    if rule == "started_line":
        found = _operation(words[0].removesuffix("_perf"), line, line.column)
        begun = run.labels or run.devices
        return _Run(found) if begun else _Run(found, run.command, run.at)
    if rule == "device_line":
        if whole(words[0]) is not None:
            run.devices.append((line, words[0], words[1], words[2]))
    else:
        shift = line.column + len(line.text.rstrip()) - len(text)
        if run.records and spoken:
            held = run
            run = _Run(held.operation, held.command, held.at, follows=True)
            run.reversed = held.reversed
        run.labels = words
        run.ends = [shift + (token.end_pos or 0) for token in tokens]
    return run


def _row(region: Region, line: Line, run: _Run, folded: Folded) -> None:
    span = Span(region.source.name, line.number, line.column)
    tree = parse_line("nccl_tests", "row_line", line.text, span)
    if isinstance(tree, Diagnostic):
        folded.refused.append(tree._replace(text=line.text))
        return
    values = [
        part.children[0]
        for part in tree.children
        if isinstance(part, Tree) and isinstance(part.children[0], Token)
    ]
    told = list(zip(run.labels, values, strict=False))
    if len(values) != len(run.labels):
        told = _below_labels(run, line, values)
    if not told:
        message = f"{len(values)} values, the header has {len(run.labels)} columns"
        folded.refused.append(Diagnostic(span, Code.CELL_COUNT, message, line.text))
        return
    records = _halves(line, told, run)
    run.records += records
    folded.records += records
    folded.claimed.add(line.number)


def _below_labels(run: _Run, line: Line, values: Sequence[Token]) -> list[tuple[str, Token]]:
    """The values of a row that has nothing in some columns, each with the label that ends where it
    does, give or take a column, and labels without one with nothing; nothing where one of them ends
    elsewhere."""
    nothing = Token("VALUE", "")
    below = {
        at: value
        for value in values
        for at, end in enumerate(run.ends)
        if abs(line.column + (value.end_pos or 0) - end) <= 1
    }
    if len(below) != len(values):
        return []
    return [(label, below.get(at, nothing)) for at, label in enumerate(run.labels)]


def _halves(line: Line, values: Sequence[tuple[str, Token]], run: _Run) -> list[Record]:
    """The call of a row whose result goes elsewhere, and the one in place where it is printed."""
    shared = Record(line.number, {}, line.column, prefix=line.prefix)
    halves, timed = list[dict[str, Cell]]([{}]), False
    for label, token in values:
        name, scale = FIELDS.get(label, ("", 1.0))
        if name == "time" and timed:
            halves.append({})
        timed |= name == "time"
        if not str(token):
            continue
        if not name:
            shared.other.append((label, str(token)))
            continue
        cell = Cell(str(token), line.number, line.column + (token.start_pos or 0), scale)
        if name not in _OF_A_TIME:
            shared.cells.setdefault(name, cell)
            continue
        if name != "wrong" or token.isdigit():
            halves[-1].setdefault(name, cell)
    records = []
    for at, own in enumerate(halves[:2]):
        if "time" not in own:
            continue
        column = own["time"].column if at else line.column
        record = Record(line.number, {**shared.cells, **own}, column, prefix=line.prefix)
        record.other = list(shared.other)
        if len(halves) > 1:
            record.cells["in_place"] = Cell(str(bool(at) != run.reversed), line.number, column)
        records.append(record)
    return records


def _settle(run: _Run, before: Sequence[_Run]) -> None:
    """Give every row of a run the operation, device and ranks that the lines above it say, or that
    the run `before` had of which they say that it was the same.

    Several devices of one rank are several runs that print at once: nobody knows whose row it is.
    """
    if not run.records:
        return
    again = _again(run, before)
    said = (
        (_said_above(run) if run.follows else None)
        or (run.operation if _reduces(run) else None)
        or _said_above(run)
        or again.get("op")
        or _reduced_by_all(run)
    )
    alone = len({rank for _, rank, _, _ in run.devices}) == len(run.devices)
    told: dict[str, Cell] = {}
    if run.devices and alone:
        line, _, _, device = run.devices[0]
        if len({name for _, _, _, name in run.devices}) == 1:
            told["gpu"] = Cell(device, line.number, line.column, value_origin="stated")
    elif not run.devices:
        told = _machine(run)
    if alone:
        told |= _listed(run) if _lists_all(run) else _claimed(run, said)
    told = {name: again[name] for name in ("gpu",) if name in again} | told
    ranks = int(told["ranks"].text) if "ranks" in told else 0
    for record in run.records:
        operation = said or _told_by_size(record, ranks)
        record.cells |= told | ({"op": operation} if operation else {})


_SAME = re.compile(
    r"\b(?:(?:the |my )?same|identical|unchanged) (?:[\w-]+ ){0,2}?(?:command|cmd|nodes?|machines?"
    r"|hosts?|boxe?s?|set-?up|settings?|hardware|servers?|systems?|config\w*|cluster|gpus?|test|run"
    r"|benchmark)\b"
    r"(?! (?:problem|issue|here|as (?:you|yours|@)))",
    re.IGNORECASE,
)
"""Found above a run of the command, or on the machines, of the one before: `same nodes`."""

_BY_COMMAND = re.compile(
    r"(?:same|identical|unchanged) (?:[\w-]+ ){0,2}?(?:command|cmd|set-?up|settings?|config"
    r"|test|run|benchmark)",
    re.IGNORECASE,
)


def _again(run: _Run, before: Sequence[_Run]) -> dict[str, Cell]:
    """The device of the run before, of the same author, and its operation where the command was the
    same too, if the words above a run say so."""
    near = [line for line in run.above if line.number > run.since and len(line.text) <= LONGEST]
    if not before or not any(_SAME.search(line.text) for line in near):
        return {}
    cells = before[-1].records[0].cells
    names = ["op"] if any(_BY_COMMAND.search(line.text) for line in near) else []
    told = {name: cells[name] for name in (*names, "gpu") if name in cells}
    if "op" in told and not _may_do(run, told["op"].text):
        told.pop("op")
    return told


def _reduces(run: _Run) -> bool:
    """Whether a run may be of the operation that was named: nothing is reduced by none."""
    none = any(r.cells["redop"].text == "none" for r in run.records if "redop" in r.cells)
    return not (none and run.operation is not None and run.operation.text in _REDUCE)


def _reduced_by_all(run: _Run) -> Cell | None:
    """A reduction that has no root and whose size is count × width is an all-reduce, where its
    bandwidths are those of one of so many ranks."""
    from assay.ingest.kernels.collective_ranks import told_by_ratio  # noqa: PLC0415, few logs

    for record in run.records:
        reduced = "redop" in record.cells and record.cells["redop"].text not in ("", "none")
        counted = {"dtype", "bytes", "elements"} <= record.cells.keys()  # or digits are torn
        if not reduced or not counted or _share(record) != 1 or ("root", "-1") not in record.other:
            return None
    if not told_by_ratio("all_reduce", _bandwidths(run)):
        return None
    first, law = run.records[0], "size = count × width of a reduction without a root: all-reduce"
    return Cell("all_reduce", first.line, first.column, value_origin="solved", law=law)


def _lists_all(run: _Run) -> bool:
    """Whether a run lists every rank: one alone has nothing to send, over no bus."""
    several = any(re.search("[1-9]", busbw) for _, busbw in _bandwidths(run))
    return bool(run.devices) and run.whole and (len(run.devices) > 1 or not several)


_COMPARES = re.compile(
    r"\b(?:than|unlike|compared|versus|vs|instead|against|before)\b", re.IGNORECASE
)


def _machine(run: _Run) -> dict[str, Cell]:
    """The one device that the sentence or heading right above a run names, or else its command and
    all words above; of several none."""
    own = [line for line in run.above if line.number > run.since and len(line.text) <= LONGEST]
    said = [line for line in own if line.text.strip() and not line.text.lstrip().startswith("```")]
    last = [line for line in said[-1:] if _SPOKEN.match(line.text)]
    if last and not _COMPARES.search(last[0].text) and (told := _only_device(last)):
        return told
    lines = [*run.above, *([run.at] if run.at else [])]
    return _only_device([line for line in lines if len(line.text) <= LONGEST])


def _only_device(lines: Sequence[Line]) -> dict[str, Cell]:
    from assay.ingest.columns.titles import device_named  # noqa: PLC0415, few logs have any
    from assay.ingest.vocabulary.devices import only, several  # noqa: PLC0415

    found = {
        device.key + device.form: Cell(said, line.number, line.column, value_origin="stated")
        for line in lines
        if (said := device_named(line.text)) and (device := only(said))
    }
    if len(found) != 1 or any(several(line.text) for line in lines):
        return {}
    return {"gpu": next(iter(found.values()))}


MOST_WORDS = 4
"""Lines of words right above a table, one of which may name its operation."""

_REDUCE = ("all_reduce", "reduce_scatter", "reduce")

_SHARED_OUT = ("reduce_scatter", "all_gather", "all_to_all", "alltoall")
"""Operations whose count is what goes to one rank, or comes from it."""


def _said_above(run: _Run) -> Cell | None:
    """The one operation that words right above a table name, or else the heading over it; none
    that its column of reductions or its sizes rule out."""
    from assay.ingest.kernels.kernel_headings import OPERATION, canonical  # noqa: PLC0415

    lines = [line for line in run.above if re.search("[A-Za-z]", line.text)]
    near = [line for line in lines if line.number > run.since and not _TITLE.match(line.text)]
    headings = [line for line in lines if _TITLE.match(line.text) and OPERATION.search(line.text)]
    for line in [*reversed(near[-MOST_WORDS:]), *headings[-1:]]:
        found = list(OPERATION.finditer(line.text))
        if len({canonical(each) for each in found}) > 1:
            return None
        if found:
            said = _operation(canonical(found[0]), line, line.column + found[0].start())
            return said if _may_do(run, said.text) else None
    return None


def _may_do(run: _Run, operation: str) -> bool:
    """Whether the rows of a run may be of an operation: by whether anything is reduced, and by
    what their sizes are of their counts."""
    for record in run.records:
        reduced = (
            record.cells["redop"].text not in ("", "none") if "redop" in record.cells else None
        )
        if reduced is not None and reduced != (operation in _REDUCE):
            return False
        share = _share(record)
        if share is not None and (share >= 2) != (operation in _SHARED_OUT):
            return False
    return True


def _share(record: Record) -> float | None:
    """How often the elements of a row go into its size."""
    cells = record.cells
    width = WIDTH.get(cells["dtype"].text) if "dtype" in cells else None
    size, count = cells["bytes"].text, cells["elements"].text
    if not width or not (_SIZE.fullmatch(size) and _SIZE.fullmatch(count)) or not int(count):
        return None
    return int(size) / (int(count) * width)


def _shared_out(run: _Run, operation: Cell | None) -> dict[str, Cell]:
    """The ranks among which the sizes of all rows are shared out, if their operation does so."""
    if operation is None or operation.text not in _SHARED_OUT:
        return {}
    shares = {_share(record) for record in run.records}
    ranks = shares.pop() if len(shares) == 1 else None
    if ranks is None or ranks < 2 or ranks % 1:
        return {}
    first, law = run.records[0], "size = count × width × ranks"
    many = Cell(str(int(ranks)), first.line, first.column, value_origin="solved", law=law)
    return {"ranks": many}


def _listed(run: _Run) -> dict[str, Cell]:
    """Ranks, and those of each node, of a run that lists every one."""
    line, _, _, _ = run.devices[0]
    hosts = [host for _, _, host, _ in run.devices]
    said = {"ranks": len(hosts)}
    if len(per_node := {hosts.count(host) for host in hosts}) == 1:
        said["ranks_per_node"] = per_node.pop()
    return {name: Cell(str(many), line.number, line.column, value_origin="stated")
            for name, many in said.items()}  # fmt: skip


def _claimed(run: _Run, said: Cell | None) -> dict[str, Cell]:
    """Ranks of a run that lists some of them or none: what its command starts, the last that it
    lists, or what words above it say, where the bandwidths of its rows are those of so many; else
    what these alone tell."""
    # few logs have such a run
    from assay.ingest.kernels.collective_ranks import (  # noqa: PLC0415
        LAW,
        agrees,
        told_by_ratio,
    )  # fmt: skip

    pairs, shared = _bandwidths(run), _shared_out(run, said)
    for told, known in _claims(run):
        ranks = int(told["ranks"].text)
        if shared and shared["ranks"].text != told["ranks"].text:
            continue
        operation = said or _told_by_size(run.records[0], ranks)
        proved = agrees(operation.text, ranks, pairs) if operation else None
        if proved or (known and proved is None):
            return told
        if known:
            return {}  # it was another run's
    if shared:
        return shared
    only = told_by_ratio(said.text, pairs) if said else None
    if not only or not _may_be(run, only):
        return {} if only else _by_itself(run, said)
    first = run.records[0]
    return {"ranks": Cell(str(only), first.line, first.column, value_origin="solved", law=LAW)}


_ITSELF = re.compile(
    r"\s*(?:[\w.@~:/()-]{0,60}[$%#>] ?)?(?:`|time |sudo |env )?"
    r"(?:[A-Z][A-Z0-9_]{0,40}=\S{1,80} ){0,8}"
    r"(?:[\w.~-]{0,40}/){0,8}[a-z_]{1,30}_perf(?:_mpi)? "
)
"""The beginning of a command that runs a benchmark by itself, with no launcher in front of it."""


def _by_itself(run: _Run, said: Cell | None) -> dict[str, Cell]:
    """The devices that a command gives to the one process it starts, of an operation whose two
    bandwidths are the same between any ranks; none where words above say another number."""
    from assay.ingest.kernels.collective_ranks import agrees  # noqa: PLC0415, few logs

    if said is None or run.at is None or not _ITSELF.match(run.command):
        return {}
    every = [told["ranks"] for told, _ in _claims(run)]
    own = next((each for each in every if each.line == run.at.number), None)
    if own is None or len({each.text for each in every}) != 1:
        return {}
    told = agrees(said.text, int(own.text), _bandwidths(run)) is not None
    return {} if told else {"ranks": own}


def _claims(run: _Run) -> Iterator[tuple[dict[str, Cell], bool]]:
    """The ranks of a run as its command, its list and words above say them, and whether that is
    known without a proof."""
    # few logs have such a run
    from assay.ingest.kernels.collective_ranks import launched, of_a_process  # noqa: PLC0415
    from assay.ingest.kernels.kernel_headings import processes  # noqa: PLC0415

    each = run.least or of_a_process(run.command)
    started = {name: int(text) * each for name, text in launched(run.command).items()}
    last = max((int(rank) for _, rank, _, _ in run.devices), default=-1) + 1
    said = [(run.at, started, True)] if started and "ranks" in started else []
    said += [(run.at, {"ranks": each}, False)] if each > 1 and not started else []
    said += [(run.devices[-1][0], {"ranks": last}, False)] if last > len(run.devices) else []
    for line in reversed(run.above):
        said += [(line, {name: many}, False) for name, text in processes(line.text)
                 if name == "ranks" and (many := whole(text))]  # fmt: skip
    for at, counts, known in said:
        place = at or run.devices[0][0] if run.devices else at
        if place is not None and _may_be(run, counts["ranks"]):
            yield {name: Cell(str(count), place.number, place.column, value_origin="stated")
                   for name, count in counts.items()}, known  # fmt: skip


def _may_be(run: _Run, ranks: int) -> bool:
    """Whether no listed rank, nor those of one process, are more than so many."""
    return ranks >= run.least and all(int(rank) < ranks for _, rank, _, _ in run.devices)


def _bandwidths(run: _Run) -> list[tuple[str, str]]:
    """The bandwidths of the algorithm and of the bus of each row, as printed."""
    cells = (record.cells for record in run.records)
    return [(each["algbw"].text, each["busbw"].text) for each in cells
            if {"algbw", "busbw"} <= each.keys()]  # fmt: skip


def _told_by_size(record: Record, ranks: int) -> Cell | None:
    """A reduction of count × width bytes is an all-reduce, times the ranks a reduce-scatter."""
    cells = record.cells
    if not {"dtype", "bytes", "elements", "redop"} <= cells.keys():
        return None  # a header without one of these columns
    width = WIDTH.get(cells["dtype"].text)
    size, count = cells["bytes"].text, cells["elements"].text
    if cells["redop"].text == "none" or not width or ranks < 2:
        return None
    if not (_SIZE.fullmatch(size) and _SIZE.fullmatch(count)):
        return None
    moved = int(count) * width
    names = {moved: "all_reduce", moved * ranks: "reduce_scatter"} if moved else {}
    if int(size) not in names:
        return None
    law = "size = count × width of a reduction: all-reduce; × ranks: reduce-scatter"
    return Cell(names[int(size)], record.line, record.column, value_origin="solved", law=law)


_SIZE = re.compile("[0-9]{1,18}")
"""A number of bytes or elements; a longer one is no size of anything."""


FORMAT = Format(
    name="nccl_tests",
    heads=("algbw",),
    schemas={"nccl_tests": NcclTests},
    origin="measured",
    fold=fold,
    lines="document",
    opens=r"(?:#\s+|^\s*)size\s+count\s+(?:type\s+(?:redop|root|time)|time\s+algbw)",
    binds=False,
)
