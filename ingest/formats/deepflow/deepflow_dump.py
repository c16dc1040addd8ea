"""Dumps of the DeepFlow estimator, both generations, whole or cut short.

In: a document with at least one line that only DeepFlow prints. Out: the frames of
`deepflow_frames` and, for a dump that lacks lines, a remark that names them. A dump ends at its
`time_per_step:` or `Params` line, or where a line comes again that a dump prints once.
"""

from __future__ import annotations

from assay.ingest.formats.deepflow.deepflow_frames import (
    DeepflowComponent,
    DeepflowDump,
    DeepflowGemm,
    DeepflowKernel,
    DeepflowMachine,
    DeepflowMemory,
    DeepflowPart,
    DeepflowReload,
)
from assay.ingest.formats.deepflow.deepflow_lines import (
    LINES,
    TAKE,
    Dump,
    hardware_records,
    proven_capacities,
)
from assay.ingest.lines.linewise import Said
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span

ONCE = {
    "parts_line": (),
    "parameters_line": (),
    "step_time_line": (),
    "gemm_work_line": ("name",),
    "gradient_work_line": ("step", "part"),
    "point_work_line": ("backward", "part"),
    "embedding_line": ("backward",),
}
"""Lines that a dump prints once, by what they say; one that comes again begins another dump."""

LAST = {1: ("next_time_line",), 2: ("parameters_line",)}


def fold(region: Region) -> Folded:
    """Read each line, put the lines of one dump together, and say what a dump lacks."""
    folded, dumps = Folded(), _Dumps()
    for line in region.lines:
        outcome = _read(line, region, dumps)
        if isinstance(outcome, Said):
            folded.claimed.add(line.number)
            dumps.take(outcome)
        elif outcome is not None:
            kept = dumps.doubtful if _generic(line) else folded.refused
            kept.append(outcome._replace(text=line.text))
        elif dumps.expects_title and line.text.strip():
            dumps.entitle(line.text.strip())
            folded.claimed.add(line.number)
    if not dumps.proven:
        return Folded(refused=folded.refused)
    folded.refused += dumps.doubtful
    for dump in dumps.finished():
        folded.records += _records(dump)
        folded.remarks += _lacking(dump, region.source.name)
    return folded


class _Dumps:
    """The dumps of one document, in order."""

    def __init__(self) -> None:
        self.done: list[Dump] = []
        self.open: Dump | None = None
        self.seen: set[str] = set()
        self.proven = False
        self.expects_title = False
        self.section = ""
        self.doubtful: list[Diagnostic] = []

    def take(self, said: Said) -> None:
        rule = said.kind.rule
        self.proven |= not said.kind.generic
        if rule == "rule_line":
            self.expects_title = not self.expects_title
            return
        self.expects_title = False
        if rule in ONCE:
            once = " ".join(
                [rule, *(said.text(name) or str(said.has(name)) for name in ONCE[rule])]
            )
            if once in self.seen:
                self.close()
            self.seen.add(once)
        if self.open is None:
            self.open = Dump(said.line.number)
        self.open.title, self.open.per_shard = self.section, "Per Model Shard" in self.section
        if rule in TAKE:
            TAKE[rule](self.open, said)
        if rule in LAST[2 if self.open.later else 1]:
            self.close()

    def entitle(self, text: str) -> None:
        self.section = text

    def close(self) -> None:
        if self.open is not None:
            self.done.append(self.open)
        self.open, self.seen, self.section = None, set(), ""

    def finished(self) -> list[Dump]:
        self.close()
        return self.done


def _read(line: Line, region: Region, dumps: _Dumps) -> Said | Diagnostic | None:
    """The line by its kind; a run of `key: value` only where components are listed."""
    return LINES.read(line, region.source, but="" if dumps.section else "component_line")


def _generic(line: Line) -> bool:
    kind = LINES.kind(line.text)
    return kind is None or kind.generic


def _records(dump: Dump) -> list[Record]:
    """The rows of one dump; its totals stand where the first of them is printed."""
    records = [*dump.rows.values(), *hardware_records(dump), *dump.components]
    proven_capacities(records)
    if dump.totals:
        first = min(dump.totals.values(), key=lambda cell: (cell.line, cell.column))
        generation = Cell("2" if dump.later else "1", dump.first, value_origin="solved")
        totals = {**dump.totals, "generation": generation}
        records.insert(0, Record(first.line, totals, first.column, "deepflow_dump"))
    for record in records:
        record.cells["dump"] = Cell(str(dump.first), record.line)
    return records


WANTED = {
    "gemm": (9, "GEMMs", ("flop", "time")),
    "reload": (36, "reload triples", ("reload_ab",)),
    "kernel": (12, "pointwise, gradient and embedding kernels", ("bytes",)),
    "part": (9, "parts of the step", ("time",)),
}
"""Frame → how many rows a whole dump has, what they are called, and what each must say."""


def _lacking(dump: Dump, source: str) -> list[Diagnostic]:
    """One remark that names what the dump lacks; none for a whole one."""
    missing = []
    if not dump.later:
        for frame, (expected, name, columns) in WANTED.items():
            rows = [row for (kind, _), row in dump.rows.items() if kind == frame]
            whole = sum(all(c in row.cells for c in columns) for row in rows)
            if whole < expected:
                missing.append(f"{expected - whole} of {expected} {name}")
    if not dump.hardware:
        missing.append("the hardware")
    if not any(kind == "memory" for kind, _ in dump.rows):
        missing.append("the memory requirement")
    names = {"parameters": "the number of parameters", "step_time": "Time"}
    missing += [said for name, said in names.items() if name not in dump.totals]
    if not missing:
        return []
    message = f"this dump lacks {', '.join(missing)}"
    return [Diagnostic(Span(source, dump.first), Code.INCOMPLETE, message)]


FORMAT = Format(
    name="deepflow_dump",
    heads=(
        "GEMM_flop", "GEMM_time", "comp_int:", "inflection_point:", "gradclip_", "applyGrad_",
        "point_flop:", "point_time:", "Embedding_mem:", "reload_AB", "Memory Overflow Rate (",
        "kp_hidden_dim1", "#Parameters:", "Params (Billion)", "*factor:", "allReduce_flop",
    ),
    schemas={
        "deepflow_dump": DeepflowDump,
        "deepflow_gemm": DeepflowGemm,
        "deepflow_reload": DeepflowReload,
        "deepflow_kernel": DeepflowKernel,
        "deepflow_part": DeepflowPart,
        "deepflow_memory": DeepflowMemory,
        "deepflow_machine": DeepflowMachine,
        "deepflow_component": DeepflowComponent,
    },
    origin="estimated",
    fold=fold,
    lines="document",
    binds=False,
)  # fmt: skip
