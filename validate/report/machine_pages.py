"""Pages about machines: an overview, and one machine with the source of every figure."""

from __future__ import annotations

from assay.model.machines.datasheets import Machine, machines
from assay.validate.report.layout import Column, Section, Table, quantity

UNITS = {
    "memory_bandwidth": "B/s",
    "memory_bytes": "B",
    "l2_bytes": "B",
    "link_bandwidth": "B/s",
    "node_bandwidth": "B/s",
}


def overview() -> Section:
    """Every machine with what most models ask for."""
    columns = [Column("machine"), Column("bf16 or fp16", ">"), Column("fp8", ">"),
               Column("memory", ">"), Column("bandwidth", ">"), Column("SMs", ">"),
               Column("link", ">"), Column("generation")]  # fmt: skip
    rows = []
    for one in machines().values():
        half = one.peaks.get("bf16") or one.peaks.get("fp16")
        rows.append(
            [
                one.name, quantity(half, "flop/s"), quantity(one.peaks.get("fp8"), "flop/s"),
                quantity(one.memory_bytes, "B"), quantity(one.memory_bandwidth, "B/s"),
                str(one.sms), quantity(one.link_bandwidth, "B/s"), one.generation,
            ]
        )  # fmt: skip
    notes = (
        "Dense peaks, datasheet figures; `assay machines NAME` names the source of each. A name "
        "may be given as logs print it: NVIDIA H100 80GB HBM3."
    )
    return Section("Machines", [Table(columns, rows), notes])


def page(one: Machine) -> Section:
    """One machine: every figure, whether it is assumed, and where it stands."""
    rows = [
        [
            name.replace("_", " ").replace("peak.", "peak "),
            quantity(fact.value, "flop/s" if name.startswith("peak.") else UNITS.get(name, "1")),
            fact.origin,
            fact.source,
        ]
        for name, fact in one.facts.items()
    ]
    columns = [Column("figure"), Column("value", ">"), Column("origin"), Column("source")]
    about = f"{one.vendor} {one.model}, generation {one.generation}"
    return Section(f"{one.name}: {about}", [Table(columns, rows)])
