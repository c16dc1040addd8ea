"""Bandwidths of a collective, as small benchmarks of PyTorch print them.

In: three lines a trial and rank (`duration:`, `algo throughput:`, `busbw:`), as the version of 2021
prints them; or `The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 4 ranks):` and
the two lines below it, or a table of payloads under `… over 4 ranks (…):`. Out: one record per
trial, or per payload, whose time follows from payload and bandwidth and is not made up here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pandera.polars as pa
from assay.ingest.lines.lark import Token, Tree, parse_line
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span

BINARY = {"B": 1.0, "KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40,
          "KIB": 2.0**10, "MIB": 2.0**20, "GIB": 2.0**30, "TIB": 2.0**40}  # fmt: skip
"""Payloads of a table: powers of two, whatever the unit is called (its legend says so)."""

DECIMAL = BINARY | {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
"""Payload of the sentence."""

GIGA = 1e9


class AllReduceBench(pa.DataFrameModel):
    """One payload of one collective."""

    gpu: str = named(meaning="device, as the environment lines name it")
    op: str = named(meaning="operation", nullable=False)
    ranks: int = logged(kind="exact", ge=1)
    bytes: float = logged(kind="nominal", unit="B", ge=0, meaning="payload of one rank")
    algbw: float = logged(
        {"algbw": GIGA}, unit="B/s", quantity="algorithm_bandwidth", ge=0, nullable=True,
        meaning="payload over time",
    )  # fmt: skip
    busbw: float = logged(
        {"busbw": GIGA}, unit="B/s", quantity="bus_bandwidth", ge=0, nullable=True,
        meaning="bytes on the wire over time",
    )  # fmt: skip

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "kernel", "scope": "collective", "subject": ("op", "ranks", "bytes")}


BIT = 1 / 8


class AllReduceTrial(pa.DataFrameModel):
    """One trial as one rank saw it; of what, and of how many ranks, nobody says."""

    duration: float = logged(unit="s", gt=0)
    algbw: float = logged(unit="B/s", gt=0, meaning="payload over time")
    busbw: float = logged(unit="B/s", gt=0, meaning="bytes on the wire over time")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "note"}


_TRIAL = {"duration:": "duration", "algo throughput:": "algbw", "busbw:": "busbw"}

_TRIAL_RULES = {"duration": "duration_line", "algbw": "throughput_line", "busbw": "bus_line"}

_SCALES = {"duration": 1.0, "algbw": BIT, "busbw": GIGA * BIT}

ALIKE = 1e-3
"""How far payload, or ranks, of two trials of one benchmark differ by rounding."""

_DEVICE = re.compile(r"hardware:.*?name='([^']+)'")

_RULER = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*$")


@dataclass
class _State:
    """Values that stand above a record and belong to it: its table, its device, its bandwidths."""

    said: dict[str, Cell] = field(default_factory=dict)
    device: Cell | None = None
    record: Record | None = None  # waits for its two bandwidths
    labels: tuple[str, ...] = ()  # of the table that is open
    trials: list[Record] = field(default_factory=list)  # that wait for a line
    ratios: dict[str, float] = field(default_factory=dict)  # of a whole trial, by its last line


def fold(region: Region) -> Folded:
    """Every payload of a document."""
    folded = Folded()
    state = _State()
    for line in region.lines:
        if device := _DEVICE.search(line.text):
            place = line.column + device.start(1)
            state.device = Cell(device[1], line.number, place, value_origin="stated")
            folded.claimed.add(line.number)
        elif (name := _trial_line(line.text)) and not (state.record and name == "busbw"):
            _take_trial(region, line, name, state, folded)
        elif rule := _rule(line.text, state):
            _take(region, line, rule, state, folded)
        elif state.labels and _RULER.match(line.text):
            folded.claimed.add(line.number)
        elif line.text.strip():
            state.labels, state.record = (), None
    for trial in state.trials:
        for cell in trial.cells.values():
            folded.claimed.discard(cell.line)
            span = Span(region.source.name, cell.line, trial.column)
            message = "the trial has not all of its three lines"
            folded.refused.append(Diagnostic(span, Code.INCOMPLETE, message, cell.text))
    folded.records.sort(key=lambda record: record.line)
    return folded


def _trial_line(text: str) -> str | None:
    plain = text.strip()
    name = next((name for head, name in _TRIAL.items() if plain.startswith(head)), None)
    return None if name == "busbw" and not plain.endswith("Gbps") else name


def _take_trial(region: Region, line: Line, name: str, state: _State, folded: Folded) -> None:
    """One line of a trial. Ranks print at once: lines belong together whose arithmetic agrees.

    Duration times throughput is the payload, bus over algorithm bandwidth a function of the ranks:
    both are one number in all trials of a job.
    """
    span = Span(region.source.name, line.number, line.column)
    tree = parse_line("all_reduce_bench", _TRIAL_RULES[name], line.text.strip(), span)
    waiting = [each for each in state.trials if name not in each.cells]
    if isinstance(tree, Diagnostic):
        folded.refused.append(tree._replace(text=line.text))
        return
    number = next(part for part in tree.children if isinstance(part, Tree)).children[0]
    assert isinstance(number, Token)
    shift = line.column + len(line.text) - len(line.text.lstrip())
    cell = Cell(str(number), line.number, shift + (number.start_pos or 0), _SCALES[name])
    if name == "duration":
        state.trials.append(Record(line.number, {name: cell}, line.column, "all_reduce_trial",
                                   prefix=line.prefix))  # fmt: skip
        folded.claimed.add(line.number)
        return
    before = "duration" if name == "algbw" else "algbw"
    waiting = [each for each in waiting if before in each.cells]
    trial = _fitting(waiting, before, name, cell, state)
    if trial is None:
        message = f"no {before} above that this {name} belongs to"
        folded.refused.append(Diagnostic(span, Code.INCOMPLETE, message, line.text))
        return
    trial.cells[name] = cell
    folded.claimed.add(line.number)
    if name == "busbw":
        state.trials.remove(trial)
        folded.records.append(trial)


def _fitting(
    waiting: list[Record], before: str, name: str, cell: Cell, state: _State
) -> Record | None:
    """The trial that a line belongs to; of several the one whose ratio is that of the others."""

    def ratio(each: Record) -> float:
        value = float(cell.text) * cell.scale
        other = float(each.cells[before].text) * each.cells[before].scale
        return value * other if name == "algbw" else value / other

    known = state.ratios.get(name)
    if known is None and len(waiting) == 1:
        state.ratios[name] = ratio(waiting[0])
        return waiting[0]
    if known is None or not waiting:
        return None
    best = min(waiting, key=lambda each: abs(ratio(each) / known - 1))
    return best if abs(ratio(best) / known - 1) <= ALIKE else None


def _rule(text: str, state: _State) -> str | None:
    """The kind of line `text` can be here."""
    plain = text.strip()
    if plain.startswith("The average bandwidth of "):
        return "payload_line" if " payload " in plain else "ranks_line"
    if plain.startswith(("algbw:", "busbw:")) and state.record:
        return "bandwidth_line"
    if plain.startswith("|") and state.said and "busbw" in plain:
        return "header_line"
    return "sized_line" if state.labels and re.match(r"\|\s*[0-9]", plain) else None


def _take(region: Region, line: Line, rule: str, state: _State, folded: Folded) -> None:
    span = Span(region.source.name, line.number, line.column)
    tree = parse_line("all_reduce_bench", rule, line.text.strip(), span)
    if isinstance(tree, Diagnostic):
        if rule != "header_line":
            folded.refused.append(tree._replace(text=line.text))
        if rule in ("payload_line", "ranks_line"):  # what is said above is not about what follows
            state.said, state.labels, state.record = {}, (), None
        return
    shift = line.column + len(line.text) - len(line.text.lstrip())
    parts = [(part.data, part.children) for part in tree.children if isinstance(part, Tree)]
    cells = [
        (str(name), _cell(name, children, line, shift=shift, rule=rule)) for name, children in parts
    ]
    if rule == "header_line":
        state.labels = tuple(cell.text for _, cell in cells)
        folded.claimed.add(line.number)
        return
    _fill(line, rule, cells, state, folded)


def _fill(
    line: Line, rule: str, cells: list[tuple[str, Cell]], state: _State, folded: Folded
) -> None:
    """Put the cells of one line where they belong."""
    if rule == "bandwidth_line":
        assert state.record is not None
        state.record.cells[line.text.strip()[:5]] = cells[0][1]
        folded.claimed.add(line.number)
        return
    folded.claimed.add(line.number)
    if rule == "sized_line":
        names = ("bytes", *state.labels[1:])
        found = {name: cell for name, (_, cell) in zip(names, cells, strict=False)}
        _record(line, {**state.said, **found}, state, folded)
        return
    said = {{"operation": "op", "size": "bytes"}.get(name, name): cell for name, cell in cells}
    state.labels, state.record = (), None
    if rule == "payload_line":
        state.said = {}
        state.record = _record(line, said, state, folded)
    else:
        state.said = {name: cell._replace(value_origin="stated") for name, cell in said.items()}


def _record(line: Line, cells: dict[str, Cell], state: _State, folded: Folded) -> Record:
    device = {"gpu": state.device} if state.device else {}
    record = Record(line.number, {**device, **cells}, line.column, prefix=line.prefix)
    folded.records.append(record)
    return record


def _cell(
    name: str, children: list[Token | Tree[Token]], line: Line, shift: int, rule: str
) -> Cell:
    """A part of a line as a cell; sizes and rates with the factor of their unit."""
    token = children[0]
    assert isinstance(token, Token)
    column = shift + (token.start_pos or 0)
    scale = 1.0
    if name == "size":
        units = DECIMAL if rule == "payload_line" else BINARY
        scale = units[str(children[1]).strip().upper()]
    elif name == "rate":
        scale = GIGA
    return Cell(str(token), line.number, column, scale)


FORMAT = Format(
    name="all_reduce_bench",
    heads=("The average bandwidth of ", "algo throughput: "),
    schemas={"all_reduce_bench": AllReduceBench, "all_reduce_trial": AllReduceTrial},
    origin="measured",
    fold=fold,
    lines="document",
    binds=False,
)
