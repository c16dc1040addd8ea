"""The `exp_config.yaml` beside a DeepFlow dump: what was estimated, and on which budget.

In: nested `key: value` lines. Values may be numbers, numbers in quotes, sizes (`4 GB` means 4·2³⁰
B) or empty. Out: one record per file, bound to the dump of the same folder later; keys that no
column declares are kept in `other` under their full path.
"""

from __future__ import annotations

import re
from functools import cache

import pandera.polars as pa
from assay.ingest.formats.deepflow.deepflow_frames import SCALES
from assay.ingest.lines.linewise import Lines, Said, kind
from assay.ingest.numbers.printed import amount_of_digits
from assay.ingest.schema.fields import FieldSpec, by_label, logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span

LINES = Lines("deepflow_config", (kind("entry_line", ""),))

PROOF = ({"model_param"}, {"arch_param", "sw_param", "power_breakdown", "tech_param"})
"""Top-level keys: one of each set makes a file a configuration of this estimator."""

SCHEDULING = "scheduling_param"

PER_BYTE = 8.0
"""Energies are printed per bit."""


def number(path: str, *more: str, scale: float = 1.0, unit: str | None = None) -> float:
    """A column for a real value under one of the paths given."""
    spellings = dict.fromkeys((path, *more), scale)
    field: float = logged(spellings, kind="exact", unit=unit, nullable=True)
    return field


def whole(path: str, *more: str) -> int:
    """A column for a positive count under one of the paths given."""
    field: int = logged((path, *more), kind="exact", ge=1, nullable=True)
    return field


class DeepflowConfig(pa.DataFrameModel):
    """Model, step, launch overhead, technology and power shares of one estimate."""

    batch: int = whole("model_param.batch_size")
    vocabulary: int = whole("model_param.vocab_size")
    layers: int = whole("model_param.num_layers")
    width: int = whole("model_param.layer_size")
    projection: int = whole("model_param.projection")
    sequence: int = whole("model_param.seq_len")
    gates: int = whole("model_param.num_gates")
    non_linear: int = whole("model_param.num_non_linear")
    adds: int = whole("model_param.num_add")
    precision: int = whole("arch_param.precision", "sw_param.precision")
    launch_overhead: float = number(
        "arch_param.kernel_launch_overhead", "sw_param.kernel_launch_overhead", unit="s"
    )
    dram_energy: float = number("tech_param.DRAM_energy_per_bit_trans", scale=PER_BYTE, unit="J/B")
    l2_energy: float = number("tech_param.L2_energy_per_bit", scale=PER_BYTE, unit="J/B")
    shared_energy: float = number(
        "tech_param.shared_mem_energy_per_bit", scale=PER_BYTE, unit="J/B"
    )
    flop_energy: float = number("tech_param.core_energy_per_flop", unit="J/flop")
    link_energy: float = number("tech_param.internode_energy_per_bit", scale=PER_BYTE, unit="J/B")
    stack_capacity: float = number("tech_param.HBM_stack_capacity", unit="B")
    stack_bandwidth: float = number("tech_param.HBM_stack_bw", unit="B/s")
    l2_bank_capacity: float = number("tech_param.L2_bank_capacity", unit="B")
    l2_bank_bandwidth: float = number("tech_param.L2_bank_bw", unit="B/s")
    shared_bank_capacity: float = number("tech_param.shared_mem_bank_capacity", unit="B")
    shared_bank_bandwidth: float = number("tech_param.shared_mem_bank_bw", unit="B/s")
    line_latency: float = number("tech_param.line_latency", unit="s")
    tdp: float = number("power_breakdown.TDP", unit="W")
    core: float = number("power_breakdown.core", unit="1")
    dram: float = number("power_breakdown.DRAM", unit="1")
    l2: float = number("power_breakdown.L2", unit="1")
    shared: float = number("power_breakdown.shared_mem", unit="1")
    interconnect: float = number("power_breakdown.IB", unit="1")
    topology: str = named(["scheduling_param.topology"])
    parallel_degree: int = logged(
        kind="exact", ge=1, nullable=True, meaning="the largest degree under scheduling_param"
    )

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "note"}


def fold(region: Region) -> Folded:
    """One record from all lines; nothing where the top-level keys are another program's."""
    folded, record = Folded(), None
    path: list[tuple[int, str]] = []
    degrees: list[Cell] = []
    top: set[str] = set()
    for line in region.lines:
        said = _entry(line, region)
        if said is None:
            continue
        if isinstance(said, Diagnostic):
            folded.refused.append(said._replace(text=line.text))
            continue
        folded.claimed.add(line.number)
        name, depth, cell = said.text("key") or "", line.column, _value(said)
        path = [*(part for part in path if part[0] < depth), (depth, name)]
        top.add(path[0][1])
        record = record or Record(line.number, {}, line.column)
        full = ".".join(part for _, part in path)
        if cell is None:
            continue
        degree = _DEGREE.fullmatch(cell.text) and "type" not in name
        if degree and full.startswith(f"{SCHEDULING}."):
            degrees.append(cell)
        _put(record, full, cell)
    if record is None or not all(top & some for some in PROOF):
        return Folded()
    if degrees:
        record.cells["parallel_degree"] = max(degrees, key=lambda cell: amount_of_digits(cell.text))
    folded.records.append(record)
    return folded


_DEGREE = re.compile("[0-9]{1,18}")


def _entry(line: Line, region: Region) -> Said | Diagnostic | None:
    text = line.text.split("#", 1)[0].strip()
    if ":" not in text or text.startswith("-"):
        return None
    if region.source.cut(line.number) and not text.endswith(":"):
        span = Span(region.source.name, line.number, line.column)
        message = "the input ends inside this line: its value may be cut"
        return Diagnostic(span, Code.TRUNCATED, message)
    return LINES.read(line._replace(text=text), region.source, quoted=True)


def _value(said: Said) -> Cell | None:
    """The value of an entry, if it has one in a unit that is known."""
    size = said.text("size")
    scale = 1.0 if size is None else SCALES.get(size)
    cell = said.cell("number") or said.cell("word")
    if cell is None or scale is None:
        return None
    return cell._replace(text=cell.text.strip(), scale=scale)


def _put(record: Record, full: str, cell: Cell) -> None:
    spec, scale = _by_path().get(full.casefold(), (None, 1.0))
    if spec is None:
        record.other.append((full, cell.text))
    else:
        record.cells[spec.name] = cell._replace(scale=cell.scale * scale)


@cache
def _by_path() -> dict[str, tuple[FieldSpec, float]]:
    """Path of a key, in small letters → its column and the factor to the column's unit."""
    return {
        label.casefold(): (spec, scale)
        for spec, scale in by_label(DeepflowConfig).values()
        for label in spec.labels
    }


FORMAT = Format(
    name="deepflow_config",
    heads=("model_param:",),
    schemas={"deepflow_config": DeepflowConfig},
    origin="estimated",
    fold=fold,
    lines="document",
    binds=False,
)
