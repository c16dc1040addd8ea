"""Messages between processes, as benchmarks of networks print them: OSU's, Intel's, perftest.

In: the lines of a document. Out: a record for each size of a message, under the operation that the
title names, and notes on tables of what is neither a message from one process to another nor a
collective of so many as its command starts: both directions together, several pairs at once.
Megabytes that a program counts in 1,024s or 1,000s are those that the rate of its messages proves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.ingest.kernels.collective_ranks import LAW, launched, told_by_ratio
from assay.ingest.kernels.kernel_headings import library_above
from assay.ingest.numbers.printed import printed, whole
from assay.ingest.schema.format import Folded, TableNote
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred

_TITLE = deferred(
    r"#\s*OSU MPI(?:_(?P<side>Put|Get))?(?:-\w+)? (?P<osu>[A-Z][A-Za-z_ /-]+?) Test\b.*"
    r"|[-=*#$> ]*(?:\S*/)?osu_(?P<tool>latency|bw|bibw|mbw_mr|multi_lat)\b(?: -\w \S+| [DH])*"
    r"(?: \([^()]*\))?[-=*: ]*"
    r"|#\s*Benchmarking:? (?P<imb>PingPong|PingPing|[A-Z][a-z_]+)\s*"
    r"|Collective: +(?P<ucc>[A-Za-z_]+)\s*"
    r"|(?P<perftest>RDMA_Write|RDMA_Read|Send) (?P<rest>[A-Za-z ]*)Test\s*",
    re.IGNORECASE,
)
"""Title of a table, with what is done.

Source: osu_latency and osu_bw of the OSU micro-benchmarks (sizes in bytes, MB of 10^6), PingPong of
the Intel MPI benchmarks, ib_write_bw and its like of linux-rdma/perftest; ucc_perftest of openucx
says bandwidths of a bus, and not of how many ranks.
"""

_ONE_WAY = {"latency", "bandwidth", "non-blocking latency", "bw", "pingpong"}
"""Tests whose numbers are of one message in one direction."""

_OF_TOOLS = {"latency", "bw"}

_HEADER = deferred(
    r"(?:# ?Size|#bytes)\s{2,}\S.*|#bytes #(?:iterations|repetitions)\s.*"
    r"|Count\s+Size\s+Time, us\s.*",
    re.IGNORECASE,
)

_APART = deferred(r"\s{2,}|(?<=\]) +|(?<=\S) +(?=#)")
"""Between two labels: blanks, of which one is enough behind a unit and in front of a sign."""

_ROW = deferred(
    r"\s*[0-9]+\s+[0-9]+(?:\.[0-9]*)?(?:\s+[\w.]+)*(?P<rest>\s+(?:←|<[-=]+|//|#) .*|\s*)"
)
"""Numbers below the labels, and what somebody wrote behind them."""

_WORD = deferred(r"\S+")

_TIMES = {
    "latency (us)": 1e-6, "avg latency(us)": 1e-6, "t_typical[usec]": 1e-6, "t[usec]": 1e-6,
    "t_avg[usec]": 1e-6,
}  # fmt: skip

_RATES = {
    "bandwidth (mb/s)": (1e6,),
    "bw average[mb/sec]": (1e6, 2.0**20),
    "bw average[mib/sec]": (2.0**20,),
    "bw average[gb/sec]": (1e9 / 8,),
}
"""Bytes per second that one of a bandwidth may be: perftest writes `Gb` for bits, and `MB` for
what it counts in 1,024s."""

_BETWEEN = ("# Datatype", "avg ")
"""Lines between a header and its rows."""

_OF_ANOTHER_PROCESS = deferred(r"\[[\w.-]+[:,][^\]]*\].*")
"""A message of a process between the rows that another prints: `[node-4:rank_1][…] …`."""

_MESSAGES = "msgrate[mpps]"

FAR = 40
"""Lines between a title and its table: the settings of a connection."""


@dataclass
class _Table:
    """Title, header and rows of a table."""

    operation: str
    title: Line
    head: Line
    labels: list[str]
    rows: list[tuple[Line, list[re.Match[str]]]] = field(default_factory=list)
    said: dict[str, Cell] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether every row has a number below each label."""
        return all(len(texts) == len(self.labels) for _, texts in self.rows)

    def note(self) -> TableNote:
        """A note on a table of which no row is read."""
        labels = tuple(self.labels)
        return TableNote(
            self.head.number, "text", labels, len(self.rows), 0, (), labels,
            self.rows[-1][0].number,
        )  # fmt: skip


def messages(lines: Sequence[Line], folded: Folded) -> set[int]:
    """Put every message of these benchmarks into `folded`, and a note on what is none; the lines
    that were read, and those of OSU's tables, under whose operation alone no other command's ranks
    may be put."""
    known = set[int]()
    for record, printed_in in _of_habana(lines):
        folded.records.append(record)
        folded.claimed |= printed_in
        known |= printed_in
    for table in _tables([line for line in lines if line.number not in folded.claimed]):
        records = list(_records(table)) if table.operation and table.whole else []
        if records and _OF_MPI.match(table.title.text.strip()):
            above = [line for line in lines if line.number < table.title.number]
            titles = {line.number for line in above if _OF_MPI.match(line.text.strip())}
            if library := library_above([each for each in above if each.number not in titles]):
                for record in records:
                    record.cells["library"] = library
        folded.records += records
        printed_in = {table.head.number, *(line.number for line, _ in table.rows)}
        known |= printed_in if records or "OSU MPI" in table.title.text else set()
        if records:
            folded.claimed |= printed_in
        elif table.rows:
            folded.tables.append(table.note())
    return known


_CALLED = deferred(
    r"\[BENCHMARK\]\s+hccl(?P<op>[A-Z][A-Za-z]+)\((?=.*\bdata_?size=(?P<bytes>[0-9]+))"
    r"(?=.*\bdtype=(?P<dtype>\w+)).*\)\s*", re.IGNORECASE
)  # fmt: skip

_WENT = deferred(r"\[BENCHMARK\]\s+(?:(?P<busbw>NW)|Algo) Bandwidth\s*:\s*([0-9.]+) GB/s\s*")


def _of_habana(lines: Sequence[Line]) -> Iterator[tuple[Record, set[int]]]:
    """Collectives as hccl_demo prints them, a call and its two bandwidths below each other; these
    prove how many ranks there were."""
    for at, line in enumerate(lines):
        called = _CALLED.fullmatch(line.text) if "[BENCHMARK]" in line.text else None
        op = _OF_HABANA.get(called["op"].casefold()) if called else None
        if called is None or op is None:
            continue
        cells = {"op": Cell(op, line.number, line.column + called.start("op"))}
        for name in ("bytes", "dtype") if op in _OF_ALL.values() else ("dtype",):
            cells[name] = Cell(called[name], line.number, line.column + called.start(name))
        used = {line.number}
        for below in lines[at + 1 : at + 3]:
            if went := _WENT.fullmatch(below.text):
                name, place = "busbw" if went["busbw"] else "algbw", below.column + went.start(2)
                cells[name] = Cell(went[2], below.number, place, 1e9)
                used.add(below.number)
        both = [cells[name].text for name in ("algbw", "busbw") if name in cells]
        if len(both) == len(("algbw", "busbw")):
            if ranks := told_by_ratio(op, [(both[0], both[1])]):
                told = Cell(str(ranks), line.number, line.column, value_origin="solved", law=LAW)
                cells["ranks"] = told
            yield Record(line.number, cells, line.column, prefix=line.prefix), used


_OF_HABANA = {"allreduce": "all_reduce", "reduce": "reduce", "broadcast": "broadcast",
              "allgather": "all_gather", "reducescatter": "reduce_scatter",
              "alltoall": "all_to_all"}  # fmt: skip


_OF_OPENUCX = "ucc_perftest "

_OF_MPI = deferred(r"# ?(?:OSU MPI|Benchmarking)", re.IGNORECASE)
"""The beginning of a title of a program that calls a library of MPI."""

_RUNS = deferred(r"(?<![A-Za-z0-9_])osu_([a-z_]+)(?![A-Za-z0-9_])")
"""The program of OSU's that a command starts."""

_SO_MANY = deferred(r"#\s*#processes = ([0-9]+)")
"""Below a title of Intel's: of how many processes."""

_TYPE = deferred(r"Datatype: +([a-z]+[0-9]+)")


def _tables(lines: Sequence[Line]) -> Iterator[_Table]:
    """Every table below a title of one of the programs."""
    title, operation, table = None, "", None
    said = dict[str, Cell]()
    for line in _commands_whole(lines):
        text = line.text.strip()
        if command := _started(line, text):
            said = command
        elif title is not None and (named := _TYPE.fullmatch(text)):
            said["dtype"] = Cell(named[1], line.number, line.column, value_origin="stated")
        elif title is not None and (many := _SO_MANY.fullmatch(text)):
            said["ranks"] = Cell(many[1], line.number, line.column, value_origin="stated")
        if table is not None and (row := _ROW.fullmatch(line.text)):
            table.rows.append((line, [*_WORD.finditer(line.text, 0, row.start("rest"))]))
        elif table is not None and (
            not text or text.startswith(_BETWEEN) or _OF_ANOTHER_PROCESS.fullmatch(text)
        ):
            if text.split() == _OF_UCC.split():
                table.labels = ["Count", "Size", *(f"{one} {two}" for one, two in _TWICE)]
            continue
        elif found := _TITLE.fullmatch(text) if " " in text[:16] else None:
            if table is not None:
                yield table
            title, operation, table = line, _operation(found), None
        elif title is not None and line.number - title.number <= FAR and _HEADER.fullmatch(text):
            table = _Table(operation, title, line, _APART.split(text), said=said)
            said = {}
        elif table is not None:
            yield table
            title, table = None, None
    if table is not None:
        yield table


LONGEST = 4000
"""Characters of a command, however many lines it goes on for."""


def _commands_whole(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines, the last one of a command that goes on from line to line as the whole of it."""
    begun = ""
    for line in lines:
        whole = f"{begun[:-1]} {line.text}" if begun else line.text
        begun = whole.rstrip() if whole.rstrip().endswith("\\") and len(whole) < LONGEST else ""
        if not begun:
            yield line._replace(text=whole)


def _started(line: Line, text: str) -> dict[str, Cell]:
    """How many processes a command starts, of ucc_perftest or of one of OSU's programs; there also
    which one, as the operation that a title below must name."""
    ran = _RUNS.search(text) if "osu_" in text else None
    if ran is None and _OF_OPENUCX not in text:
        return {}
    started = launched(text)
    told = started | {"op": _OF_OSU.get(ran[1], "")} if ran and started else started
    return {name: Cell(many, line.number, line.column, value_origin="stated")
            for name, many in told.items()}  # fmt: skip


_OF_UCC = "avg min max avg max min"

_TWICE = (("Time, us", "avg"), ("Time, us", "min"), ("Time, us", "max"),
          ("Bandwidth, GB/s", "avg"), ("Bandwidth, GB/s", "max"),
          ("Bandwidth, GB/s", "min"))  # fmt: skip
"""Labels of the times and bandwidths of ucc_perftest, in the second line of its header."""

_OF_ALL = {"allreduce": "all_reduce", "bcast": "broadcast", "reduce": "reduce"}
"""Collectives of which the printed size is that of the whole message, as they are called here."""

_FROM_EACH = {"allgather": "all_gather", "alltoall": "all_to_all",
              "reduce_scatter": "reduce_scatter"}  # fmt: skip
"""Those of which it is what goes from one rank to another."""

_OF_OSU = _OF_ALL | _FROM_EACH
"""Collectives of OSU's by the names of their programs."""

_OF_TITLES = {
    "broadcast": "broadcast", "all-to-all personalized exchange": "all_to_all",
    **{name: op for name, op in _OF_OSU.items() if name != "bcast"},
}  # fmt: skip
"""The same by what OSU's titles call them in front of `Latency`, and Intel's by themselves."""

_SIZED_BY_OSU = {*_OF_ALL.values(), "reduce_scatter"}
"""Those of which its size is that of the whole message."""

MOST_RANKS = 4096


def _of_a_bus(table: _Table) -> Iterator[Record]:
    """The rows of ucc_perftest with mean times and bandwidths; these prove how many ranks there
    were, being bytes on the bus over the time: of all-reduces twice (n - 1) / n of the message."""
    op = table.operation
    if len(table.labels) != len(("count", "size", *_TWICE)):
        return
    rows = [[float(text[0]) for text in texts] for _, texts in table.rows]
    started = table.said.get("ranks")
    every = range(2, MOST_RANKS + 1)
    ranks = [n for n in every if _fits_all(op, n, table.rows)]
    told = {"op": Cell(op, table.title.number, table.title.column, value_origin="stated")}
    told |= table.said
    if len(ranks) == 1 and (started is None or started.text != str(ranks[0])):
        place = table.head.number, table.head.column
        told["ranks"] = Cell(str(ranks[0]), *place, value_origin="solved", law=_OF_THE_BUS)
    elif started is None or whole(started.text) not in ranks:
        return
    for (line, texts), row in zip(table.rows, rows, strict=True):
        at = [line.column + text.start() for text in texts]
        cells = {"time": Cell(texts[2][0], line.number, at[2], 1e-6)}
        if row[5]:
            cells["busbw"] = Cell(texts[5][0], line.number, at[5], 1e9)
        if op in _OF_ALL.values():
            cells["bytes"] = Cell(texts[1][0], line.number, at[1])
        record = Record(line.number, told | cells, line.column, prefix=line.prefix)
        record.other += _others(table.labels, texts, {1, 2, 5} if "bytes" in cells else {2, 5})
        yield record


_OF_THE_BUS = "bytes on the bus over the mean time are the mean bandwidth between so many ranks"


def _fits_all(op: str, ranks: int, rows: Sequence[tuple[Line, list[re.Match[str]]]]) -> bool:
    """Whether every bandwidth is that of its size and mean time between so many ranks."""
    factor = 1.0 if op in _OF_ALL.values() else ranks - 1.0
    factor = 2.0 * (ranks - 1) / ranks if op == "all_reduce" else factor
    for _, texts in rows:
        took, rate = printed(texts[2][0]), printed(texts[5][0])
        moved = float(texts[1][0]) * factor * 1e-3
        low, high = moved / took.high * (1.0 - CLOSE), moved / took.low * (1.0 + CLOSE)
        if not low <= rate.high or not rate.low <= high:
            return False
    return True


_TIMED = " latency"


def _operation(title: re.Match[str]) -> str:
    """The operation that a title names; empty where it is more than one message in one direction,
    or another operation than the collectives that are known."""
    said = title.groupdict()
    if said["ucc"]:
        return _OF_ALL.get(said["ucc"].casefold()) or _FROM_EACH.get(said["ucc"].casefold(), "")
    if said["tool"]:
        return "sendrecv" if said["tool"].casefold() in _OF_TOOLS else ""
    what = (said["osu"] or said["imb"] or said["rest"]).strip().casefold()
    if what.endswith(_TIMED) or (said["imb"] and what not in _ONE_WAY):
        return "" if said["side"] else _OF_TITLES.get(what.removesuffix(_TIMED), "")
    if what not in _ONE_WAY:
        return ""
    return (said["side"] or said["perftest"] or "sendrecv").casefold()


def _records(table: _Table) -> Iterator[Record]:
    """The rows of a table, with the median or the mean of their times, or their bandwidth."""
    if table.title.text.lstrip().startswith("Collective:"):
        yield from _of_a_bus(table)
        return
    labels = [label.casefold() for label in table.labels]
    places = [at for at, label in enumerate(labels) if label in _TIMES or label in _RATES]
    if not places:
        return
    at, name = places[0], "time" if labels[places[0]] in _TIMES else "algbw"
    scale = _TIMES[labels[at]] if name == "time" else _proved(table, at, labels)
    told = _told(table)
    sized = table.operation == "sendrecv" or table.operation not in _OF_TITLES.values()
    sized |= table.operation in _SIZED_BY_OSU
    for line, texts in table.rows if "ranks" in told else ():
        if not scale or not float(texts[at][0]):
            continue
        cells = {
            name: Cell(texts[at][0], line.number, line.column + texts[at].start(), scale),
        }
        if sized:
            cells["bytes"] = Cell(texts[0][0], line.number, line.column + texts[0].start())
        record = Record(line.number, told | cells, line.column, prefix=line.prefix)
        record.other += _others(table.labels, texts, {0, at} if sized else {at})
        yield record


def _told(table: _Table) -> dict[str, Cell]:
    """The operation of a table and its ranks: two of a message from one to another, of a collective
    as many as the command above or the lines below its title say."""
    place = table.title.number, table.title.column
    op = Cell(table.operation, *place, value_origin="stated")
    if table.operation not in _OF_TITLES.values():
        law = "a message goes from one process to another"
        return {"op": op, "ranks": Cell("2", *place, value_origin="solved", law=law)}
    of_this = "op" not in table.said or table.said["op"].text == table.operation
    said = table.said if of_this else {}
    return {name: cell for name, cell in said.items() if name != "dtype"} | {"op": op}


def _others(
    labels: Sequence[str], texts: Sequence[re.Match[str]], taken: set[int]
) -> list[tuple[str, str]]:
    return [
        (label, text[0])
        for at, (label, text) in enumerate(zip(labels, texts, strict=False)) if at not in taken
    ]  # fmt: skip


def _proved(table: _Table, at: int, labels: Sequence[str]) -> float:
    """The factor of a bandwidth; of several that which the rate of messages proves, else none."""
    factors = _RATES[labels[at]]
    if _MESSAGES not in labels:
        return factors[0] if len(factors) == 1 else 0.0
    by = labels.index(_MESSAGES)
    fits = [each for each in factors if all(_fits(row, at, by, each) for _, row in table.rows)]
    return fits[0] if len(fits) == 1 else 0.0


CLOSE = 1e-3
"""How far a bandwidth may be from its messages, apart from the digits of both."""


def _fits(row: Sequence[re.Match[str]], at: int, by: int, factor: float) -> bool:
    """Whether bytes times millions of messages per second are a bandwidth in this unit."""
    rate, many = printed(row[at][0]), printed(row[by][0])
    size = float(row[0][0]) * 1e6 / factor
    low, high = size * many.low * (1.0 - CLOSE), size * many.high * (1.0 + CLOSE)
    return bool(low <= rate.high and rate.low <= high)
