"""Traces of sequence-parallel attention: header, tensors, operations, flop and memory, in order.

In: lines of one or more hosts; a prefix has been taken off and tells them apart. A trace begins at
a `my_rank` line, or at a host's first line. Out: one row per trace, per tensor, per flop line, per
memory line and per other line, each with the section and the operation it stands under. Lines come
from one rank: sizes are per rank, flop are totals.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.ingest.formats.ulysses.ulysses_frames import (
    DIMENSIONS,
    UlyssesEvent,
    UlyssesFlops,
    UlyssesMemory,
    UlyssesTensor,
    UlyssesTrace,
)
from assay.ingest.lines.lark import Token
from assay.ingest.lines.linewise import Lines, Said, kind
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Diagnostic, Record

LINES = Lines("ulysses_trace", (
    kind("rank_line", r"my_rank "),
    kind("tensor_line", r"[A-Za-z_][\w ()]*(?:\[[^\]]*\])?(?: shape)?: ?torch\.Size",
         open_end=False),
    kind("memory_line", r"(?:Peak|Current|Torch) memory allocation:", open_end=False),
    kind("per_gpu_line", r"head per GPU:", generic=True),
    kind("flops_line", r"(?:.*[=x].* )?flops: ", open_end=False, generic=True),
    kind("contiguous_line", r"is_contiguous:", generic=True),
    kind("ranks_line", r"[A-Z]{1,2} ranks:", open_end=False, generic=True),
    kind("nccl_line", r"NCCL version", generic=True),
    kind("section_line",
         r"(?:[0-9]D )?[A-Z][A-Za-z-]*(?: [A-Za-z]+)? (?:[Aa]ttention|[Pp]arallel)\s*$",
         generic=True),
    kind("equation_line", r"[A-Za-z_]\w* ?= ?\w+ ?x ?\w+", generic=True),
    kind("operation_line",
         r"(?:compute|transpose|reshape|all-to-all|all-gather|activation|softmax)\b"
         r"|[A-Za-z_][\w, ]* = all-", generic=True),
    kind("header_line",
         r"(?:seq length|hidden dim|num heads|num layers|num GPUs|inter size|inter dim|type"
         r"|[TDHS]?P|HP x SP): ", generic=True),
))  # fmt: skip

HEADER = {
    "seq length": "seq_len",
    "hidden dim": "hidden",
    "num heads": "heads",
    "num layers": "layers",
    "inter size": "ffn_hidden",
    "inter dim": "ffn_hidden",
    "num GPUs": "p",
    "type": "dtype",
    "P": "p",
    "TP": "tp",
    "DP": "dp",
    "HP": "hp",
    "SP": "sp",
    "HP x SP": "p",
}
"""Printed key → column of `UlyssesTrace`."""

BYTES = {"KB": 1e3, "MB": 1e6, "GB": 1e9}

FLOP = {"G": 1e9, "T": 1e12, "P": 1e15}


@dataclass
class Trace:
    """One trace in the making: its header row and where it stands."""

    first: int  # line of the trace's first line
    row: Record | None = None  # the header, where one is printed
    section: str = ""
    operation: str = ""
    equation: str = ""
    records: list[Record] = field(default_factory=list)
    subjects: dict[tuple[str, str], int] = field(default_factory=dict)

    def subject(self, frame: str, what: str) -> str:
        """A name for a line, unique in its frame: the section, what it is, a count if repeated."""
        name = f"{self.section}/{what}" if self.section else what
        times = self.subjects[frame, name] = self.subjects.get((frame, name), 0) + 1
        return name if times == 1 else f"{name} ({times})"

    def header(self, said: Said, cells: dict[str, Cell]) -> None:
        """Cells of the header row, which stands where its first line does."""
        at = (said.line.number, said.line.column)
        if self.row is None:
            self.row = Record(at[0], {}, at[1], "ulysses_trace", prefix=said.line.prefix)
            self.row.cells["trace"] = Cell(str(self.first), at[0])
        self.row.cells |= cells

    def add(self, frame: str, said: Said, cells: dict[str, Cell | None], what: str = "") -> None:
        """A record of `frame` with the section and operation it stands under."""
        at = (said.line.number, said.line.column)
        held = {name: cell for name, cell in cells.items() if cell is not None}
        record = Record(at[0], held, at[1], f"ulysses_{frame}", prefix=said.line.prefix)
        record.cells["trace"] = Cell(str(self.first), at[0])
        where = {"section": self.section, "operation": self.operation}
        if what:
            where["subject"] = self.subject(frame, what)
        record.cells |= {name: Cell(text, *at) for name, text in where.items() if text}
        self.records.append(record)


def fold(region: Region) -> Folded:
    """Every line by its kind; a document without a tensor or a rank line is not a trace."""
    folded, traces, done, proven = Folded(), {}, [], False
    for line in region.lines:
        said = LINES.read(line, region.source)
        if isinstance(said, Diagnostic):
            folded.refused.append(said._replace(text=line.text))
        if not isinstance(said, Said):
            continue
        folded.claimed.add(line.number)
        proven |= not said.kind.generic
        host = line.prefix.get("host", "")
        if host not in traces or said.kind.rule == "rank_line":
            traces[host] = Trace(line.number)
            done.append(traces[host])
        _take(traces[host], said)
    if not proven:
        return Folded()
    for trace in done:
        folded.records += [trace.row, *trace.records] if trace.row else trace.records
    return folded


def _take(trace: Trace, said: Said) -> None:
    rule = said.kind.rule
    if rule == "header_line":
        name = HEADER.get(said.text("key") or "")
        cell = said.cell("dtype") if name == "dtype" else said.cell("value")
        if name and cell:
            trace.header(said, {name: cell})
    elif rule in ("rank_line", "per_gpu_line"):
        names = ("my_rank", "ranks", "my_device", "devices", "heads_per_gpu", "tokens_per_gpu")
        trace.header(said, {name: cell for name in names if (cell := said.cell(name))})
    elif rule == "tensor_line":
        _tensor(trace, said)
    elif rule == "flops_line":
        equation = said.text("equation") or trace.equation
        scale = FLOP[(said.text("flop_unit") or "T")[0]]
        text = Cell(equation, said.line.number) if equation else None
        cells = {"flop": said.cell("flop", scale=scale), "equation": text}
        trace.add("flops", said, cells, trace.operation or equation or "flops")
    elif rule == "memory_line":
        which = "peak_memory" if said.text("which") == "Peak" else "current_memory"
        scale = BYTES[said.text("size_unit") or "GB"]
        cells = {which: said.cell("bytes", scale=scale)}
        trace.add("memory", said, cells, trace.operation or "inputs")
    else:
        _event(trace, said)


def _tensor(trace: Trace, said: Said) -> None:
    (token,) = said.tree.scan_values(lambda t: isinstance(t, Token) and t.type == "TENSOR_NAME")
    name = said.printed(token)
    sizes = list(said.cells("size"))
    shape = f"[{', '.join(cell.text for cell in sizes)}]"
    at = (said.line.number, said.line.column)
    label = said.cell("label")
    cells: dict[str, Cell | None] = {
        "name": Cell(name, *at),
        "label": label,
        "shape": Cell(shape, *at),
        "elements": said.cell("elements"),
        "bytes": said.cell("bytes", scale=BYTES[said.text("size_unit") or "GB"]),
    }
    cells |= {f"dim{axis}": cell for axis, cell in enumerate(sizes[:DIMENSIONS])}
    trace.add("tensor", said, cells, f"{name} {label.text}" if label else name)


def _event(trace: Trace, said: Said) -> None:
    text = said.line.text.strip()
    rule = said.kind.rule
    if rule == "section_line":
        trace.section, trace.operation, trace.equation = text, "", ""
    elif rule == "operation_line":
        trace.operation, trace.equation = text, ""
    elif rule == "equation_line":
        trace.equation = text
    at = (said.line.number, said.line.column)
    cells: dict[str, Cell | None] = {
        "kind": Cell(rule.removesuffix("_line"), *at),
        "text": Cell(text, *at),
    }
    trace.add("event", said, cells)


FORMAT = Format(
    name="ulysses_trace",
    heads=("torch.Size([", "my_rank ", "memory allocation:"),
    schemas={
        "ulysses_trace": UlyssesTrace,
        "ulysses_tensor": UlyssesTensor,
        "ulysses_flops": UlyssesFlops,
        "ulysses_memory": UlyssesMemory,
        "ulysses_event": UlyssesEvent,
    },
    origin="estimated",
    fold=fold,
    lines="document",
    binds=False,
)
