"""Lines of a DeepFlow dump, one handler a kind, gathered until the dump is whole.

In: lines as `Said`, in order. Out: a `Dump` with its records by name. Lines that carry no name of
their own wait for the next line that does; what cannot be told apart after a missing line (which
of two intensities, which of four reload triples) is left out, not guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assay.ingest.formats.deepflow.deepflow_frames import SCALES
from assay.ingest.lines.lark import Tree
from assay.ingest.lines.linewise import Lines, Said, kind
from assay.ingest.numbers.printed import amount_of_digits
from assay.ingest.schema.record import Cell, Record

MEMORY = "Total|Embedding|Hidden|Softmax|Projection|Weight|Activation|Pointwise"

RATES = {
    "Throughput": "peak_flops",
    "Memory Bandwidth": "memory_bandwidth",
    "Memory Size": "memory_size",
    "L2 Bandwidth": "l2_bandwidth",
    "L2 Size": "l2_size",
    "Shared Memory Size": "shared_memory_size",
    "Interconnection Bandwidth": "interconnect_bandwidth",
}

LATER = ("L3", "L1", "L0", "Intra-node", "Inter-node")
"""Label beginnings that only the second generation prints."""

LINES = Lines("deepflow_dump", (
    kind("reload_head_line", r"(?:gmem|l2mem): reload_", open_end=False),
    kind("reload_line", r"[0-9]+ [0-9]+ [0-9]+\s*$"),
    kind("inflection_line", r"inflection_point:"),
    kind("intensity_line", r"comp_int:"),
    kind("gemm_work_line", r"\w+ GEMM_flop(?:_t)?:"),
    kind("gemm_time_line", r"\w+ GEMM_time(?:_t)?:"),
    kind("gradient_work_line", r"\(\w+\) (?:gradclip|applyGrad)_flop:"),
    kind("gradient_time_line", r"\(\w+\) (?:gradclip|applyGrad)_time:"),
    kind("point_work_line", r"(?:\(gr\) )?\w+ point_flop:"),
    kind("point_time_line", r"(?:\(gr\) )?(?:\w+ )?point_time:"),
    kind("embedding_line", r"(?:\(gr\) )?Embedding_mem:"),
    kind("parts_line", r"Cf:\s"),
    kind("factor_line", r"!+\*+factor:"),
    kind("transfer_line", r"R1: "),
    kind("reduction_line", r"(?:\(gr\) )?allReduce_flop:"),
    kind("degrees_line", r"dp: [0-9]+, lp:"),
    kind("overflow_line", r"Memory Overflow Rate \("),
    kind("parameters_line", r"#Parameters:|Params \(Billion\):"),
    kind("rate_line", rf"(?:{'|'.join((*RATES, *LATER))})\b[A-Za-z ]*:", generic=True),
    kind("memory_line", rf"(?:{MEMORY}) Memory:", open_end=False, generic=True),
    kind("step_time_line", r"Time:", generic=True),
    kind("next_time_line", r"time_per_step:", generic=True),
    kind("rule_line", r"={4,}\s*$", open_end=False, generic=True),
    kind("component_line", r"#?[A-Za-z_]+:\s", open_end=False, generic=True),
))  # fmt: skip


@dataclass
class Dump:
    """One dump in the making: its records by name, and what waits for the line that names it."""

    first: int
    totals: dict[str, Cell] = field(default_factory=dict)
    degrees: list[str] = field(default_factory=list)
    rows: dict[tuple[str, str], Record] = field(default_factory=dict)
    hardware: list[tuple[str, Said]] = field(default_factory=list)
    pairs: list[dict[str, Cell]] = field(default_factory=list)
    reloads: list[tuple[str, Said | None]] = field(default_factory=list)
    point: str = ""  # the pointwise kernel whose time comes next
    components: list[Record] = field(default_factory=list)
    title: str = ""  # the banner above
    per_shard: bool = False  # whether that banner is about model shards

    @property
    def later(self) -> bool:
        """Whether a line of this dump belongs to the second generation only."""
        return bool(self.components) or any(name.startswith(LATER) for name, _ in self.hardware)

    def row(self, frame: str, name: str, line: int, column: int = 1) -> Record:
        """The record of `name` in `frame`, made where there is none."""
        key = (frame, name)
        if key not in self.rows:
            named = {"name": Cell(name, line, column)}
            self.rows[key] = Record(line, named, column, f"deepflow_{frame}")
        return self.rows[key]

    def give_pairs(self, record: Record, expected: tuple[str, ...]) -> None:
        """Hand waiting intensities to a record, in order; none unless their number fits."""
        if len(self.pairs) == len(expected):
            for pair, suffix in zip(self.pairs, expected, strict=True):
                record.cells |= {f"{name}{suffix}": cell for name, cell in pair.items()}
        self.pairs = []


def work_cells(said: Said, *names: str) -> dict[str, Cell]:
    """The cells of `names` that the line prints; `gmem` and `l2mem` are columns in bytes."""
    columns = {"gmem": "gmem_bytes", "l2mem": "l2mem_bytes", "gmem_t": "gmem_bytes_t"}
    found = ((columns.get(name, name), said.cell(name)) for name in names)
    return {name: cell for name, cell in found if cell is not None}


def _gemm(dump: Dump, said: Said) -> None:
    record = dump.row("gemm", said.text("name") or "", said.line.number, said.line.column)
    record.cells |= work_cells(said, "flop", "gmem", "l2mem", "flop_t", "gmem_t", "time", "time_t")
    if said.kind.rule == "gemm_time_line":
        return
    dump.give_pairs(record, ("", "_t"))
    order = ["gmem", "l2mem", "gmem", "l2mem"]
    if [level for level, triple in dump.reloads if triple] == order == [r[0] for r in dump.reloads]:
        for index, (level, triple) in enumerate(dump.reloads):
            if triple is None:
                continue
            name = f"{said.text('name')} {level}{' transposed' if index > 1 else ''}"
            row = dump.row("reload", name, triple.line.number, triple.line.column)
            row.cells |= work_cells(triple, "reload_ab", "reload_ac", "reload_bc")
    dump.reloads = []


def _gradient(dump: Dump, said: Said) -> None:
    steps = {"gradclip": "gradclip", "applyGrad": "apply_grad"}
    name = f"{steps[said.text('step') or '']}_{(said.text('part') or '').lower()}"
    record = dump.row("kernel", name, said.line.number, said.line.column)
    record.cells |= work_cells(said, "flop", "bytes", "time")
    if said.kind.rule != "gradient_work_line":
        return
    if name.startswith("gradclip") and len(dump.pairs) == 2:
        record.cells |= dump.pairs.pop()  # printed second; the first waits for applyGrad
    else:
        dump.give_pairs(record, ("",))


def _point(dump: Dump, said: Said) -> None:
    if said.kind.rule == "point_time_line":
        if dump.point and (cell := said.cell("time")):
            dump.row("kernel", dump.point, said.line.number).cells["time"] = cell
        dump.point = ""
        return
    way = "backward" if said.has("backward") else "forward"
    dump.point = f"{(said.text('part') or '').lower()}_{way}"
    record = dump.row("kernel", dump.point, said.line.number, said.line.column)
    record.cells |= work_cells(said, "flop", "bytes")
    dump.give_pairs(record, ("",))


def _other_kernel(dump: Dump, said: Said) -> None:
    way = "backward" if said.has("backward") else "forward"
    name = f"embedding_{way}" if said.kind.rule == "embedding_line" else "all_reduce"
    record = dump.row("kernel", name, said.line.number, said.line.column)
    record.cells |= work_cells(said, "flop", "bytes")


def _waiting(dump: Dump, said: Said) -> None:
    """Lines that belong to the next line with a name."""
    rule = said.kind.rule
    if rule == "reload_head_line":
        dump.reloads.append((said.text("level") or "", None))
    elif rule == "reload_line" and dump.reloads and dump.reloads[-1][1] is None:
        dump.reloads[-1] = (dump.reloads[-1][0], said)
    elif rule == "inflection_line":
        dump.pairs.append(work_cells(said, "inflection"))
    elif rule == "intensity_line":
        if not dump.pairs or "intensity" in dump.pairs[-1]:
            dump.pairs.append({})
        dump.pairs[-1] |= work_cells(said, "intensity")


def _parts(dump: Dump, said: Said) -> None:
    for entry in said.tree.find_data("entry"):
        key, *_, time = (part for part in entry.children if isinstance(part, Tree))
        name = said.of(key)
        record = dump.row("part", name.text, said.line.number, name.column)
        record.cells["time"] = said.of(time)


def _degrees(dump: Dump, said: Said) -> None:
    keys = [cell.text for cell in said.cells("key")]
    for key, cell in zip(keys, said.cells("count"), strict=True):
        if not key.endswith("_type"):
            dump.degrees.append(cell.text)
        if key in ("dp", "lp"):
            dump.totals[key] = cell
    largest = max(dump.degrees, key=amount_of_digits)
    dump.totals["parallel_degree"] = Cell(largest, said.line.number, said.line.column)


def scaled(said: Said, name: str, unit: str | None) -> Cell | None:
    """A number in SI by its printed unit; None where the unit is not one of the estimator's."""
    scale = 1.0 if unit is None else SCALES.get(unit.strip("()"))
    return None if scale is None else said.cell(name, scale=scale)


def _memory(dump: Dump, said: Said) -> None:
    name = (said.text("part") or "").lower()
    column = "memory_per_shard" if dump.per_shard else "memory"
    rows = [row for (kind, _), row in dump.rows.items() if kind == "memory" and column in row.cells]
    if name == "total" and any(row.cells["name"].text == "total" for row in rows):
        name = "total_of_kinds"  # printed again above weight, activation and pointwise
    record = dump.row("memory", f"{name}@{said.line.number}", said.line.number, said.line.column)
    record.cells["name"] = Cell(name, said.line.number, said.line.column)
    if cell := scaled(said, "number", said.text("rate_unit")):
        record.cells[column] = cell


def _hardware(dump: Dump, said: Said) -> None:
    dump.hardware.append((said.text("label") or "", said))


def _total(dump: Dump, said: Said) -> None:
    source, column, scale = TOTALS[said.kind.rule]
    if said.kind.rule == "overflow_line" and (dump.per_shard or "Per Model" in said.line.text):
        column = "memory_overflow_per_shard"
    if cell := said.cell(source, scale=scale):
        dump.totals[column] = cell


def _component(dump: Dump, said: Said) -> None:
    """A run of numbers: each is a row of its own, in the column of its unit.

    A component prints `util` several times, each after what is used.
    """
    used = ""
    for measure in said.tree.find_data("measure"):
        key, number, *unit = (part for part in measure.children if isinstance(part, Tree))
        printed = said.of(unit[0]).text.strip("()") if unit else ""
        name = said.of(key)
        what = f"{used} util" if name.text == "util" and used else name.text
        used = name.text
        record = Record(said.line.number, {}, name.column, "deepflow_component")
        record.cells["subject"] = name._replace(text=f"{dump.title}/{what}")
        column = COLUMNS_OF[printed]
        record.cells[column] = said.of(number, scale=SCALES.get(printed, 1.0))
        dump.components.append(record)


def hardware_records(dump: Dump) -> list[Record]:
    """The chip as one row, or, in the second generation, each of its lines as a component."""
    chip: Record | None = None
    rows = []
    for label, said in dump.hardware:
        unit = said.text("rate_unit")
        cell = scaled(said, "number", unit)
        if cell is None:
            continue
        at = (said.line.number, said.line.column)
        if dump.later:
            subject = Cell(f"{HARDWARE}/{label}", *at)
            cells = {"subject": subject, COLUMNS_OF[unit or ""]: cell}
            rows.append(Record(at[0], cells, at[1], "deepflow_component"))
        else:
            chip = chip or Record(at[0], {}, at[1], "deepflow_machine")
            chip.cells[RATES[label]] = cell
    return rows if chip is None else [chip, *rows]


def proven_capacities(records: list[Record]) -> None:
    """Capacities of banks in the unit that makes as many of them the size of a memory.

    The estimator prints kibibytes under `(GB)`: 256 banks of `32.00 (GB)` are its 8 MB of L1. Where
    the printed unit makes no size of the chip, and one of the others does, that one is taken.
    """
    held = {record.cells["subject"].text: record.cells for record in records
            if record.frame == "deepflow_component" and "subject" in record.cells}  # fmt: skip
    sizes = {
        subject.partition("/")[2]: cells["capacity"]
        for subject, cells in held.items()
        if subject.startswith(f"{HARDWARE}/") and "capacity" in cells
    }
    for subject, cells in held.items():
        title, _, name = subject.rpartition("/")
        banks = held.get(f"{title}/num_banks", {}).get("number")
        cell = cells.get("capacity")
        if name != "bank_capacity" or cell is None or banks is None:
            continue
        if _makes(banks, cell, cell.scale, sizes):
            continue
        for printed in ("KB", "MB"):
            if label := _makes(banks, cell, SCALES[printed], sizes):
                law = f"as many banks are the {label}: printed under another unit, in {printed}"
                cells["capacity"] = cell._replace(
                    scale=SCALES[printed], value_origin="corrected", law=law
                )


def _makes(banks: Cell, bank: Cell, scale: float, sizes: dict[str, Cell]) -> str | None:
    """The label of the size that so many banks make, within the digits of both."""
    low, high = (float(banks.text.replace(",", "")) * end * scale for end in _ends(bank.text))
    for label, size in sizes.items():
        least, most = (end * size.scale for end in _ends(size.text))
        if low <= most and least <= high:
            return label
    return None


def _ends(text: str) -> tuple[float, float]:
    """Bounds of every number that is printed so."""
    value, place = float(text.replace(",", "")), 10.0 ** -len(text.partition(".")[2])
    return value - place / 2, value + place / 2


HARDWARE = "Hardware Configuration"

COLUMNS_OF = {
    "": "number", "%": "share", "mm2": "area", "watt": "power", "Ghz": "frequency",
    "GHz": "frequency", "Tflops": "flops", "KB": "capacity", "MB": "capacity", "GB": "capacity",
    "TB": "capacity", "MB/s": "bandwidth", "GB/s": "bandwidth", "TB/s": "bandwidth",
}  # fmt: skip
"""Printed unit → the column of `DeepflowComponent`."""

TOTALS = {
    "overflow_line": ("ratio", "memory_overflow", 1.0),
    "parameters_line": ("number", "parameters", 1e9),
    "step_time_line": ("step_time", "step_time", 1.0),
    "next_time_line": ("next_time", "next_step_time", 1.0),
    "factor_line": ("factor", "factor", 1.0),
}
"""Rule → the value it holds, its column in `DeepflowDump` and the factor to SI."""

TAKE: dict[str, Callable[[Dump, Said], None]] = {
    "reload_head_line": _waiting,
    "reload_line": _waiting,
    "inflection_line": _waiting,
    "intensity_line": _waiting,
    "gemm_work_line": _gemm,
    "gemm_time_line": _gemm,
    "gradient_work_line": _gradient,
    "gradient_time_line": _gradient,
    "point_work_line": _point,
    "point_time_line": _point,
    "embedding_line": _other_kernel,
    "reduction_line": _other_kernel,
    "parts_line": _parts,
    "degrees_line": _degrees,
    "memory_line": _memory,
    "rate_line": _hardware,
    "component_line": _component,
    **dict.fromkeys(TOTALS, _total),
}
"""Handler of each kind of line; a rule of `=` and a transfer line say nothing."""
