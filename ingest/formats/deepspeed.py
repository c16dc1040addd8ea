"""DeepSpeed's own lines: steps, throughput, memory, schedule, rate, overflows.

In: lines of DeepSpeed's loggers. Out: one record per line, in one frame per kind of line.
DeepSpeed divides bytes by 1024³ and prints `GB`.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.lines.records import Kind, folding
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Format

GIB_AS_GB = 2.0**30 / 1e9


class DeepspeedStep(Configuration):
    """A step, as the pipeline engine prints it; Megatron prints the same step in its own line."""

    step: int = logged(kind="exact", ge=0, role="counter")
    lm_loss: float = logged(["lm loss", "loss"], nullable=True, role="loss")
    step_time: float = logged({"iter time (s)": 1}, unit="s", gt=0, nullable=True, role="time")
    samples_per_s: float = logged(["samples/sec"], unit="sample/s", gt=0, nullable=True)

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


class DeepspeedThroughput(pa.DataFrameModel):
    """Throughput of all ranks, and the memory of the one that prints."""

    epoch: int = logged(kind="exact", ge=0, nullable=True)
    micro_step: int = logged(
        kind="exact", ge=0, nullable=True, meaning="micro-steps of the epoch before the line"
    )
    global_step: int = logged(
        kind="exact", ge=0, nullable=True, role="counter",
        meaning="updates since the start, where it is printed",
    )  # fmt: skip
    samples_per_s: float = logged(
        ["CurrSamplesPerSec"], kind="binary", unit="sample/s", ge=0, nullable=True
    )
    samples_per_s_average: float = logged(
        ["SamplesPerSec", "RunningAvgSamplesPerSec"], kind="binary", unit="sample/s", ge=0,
        nullable=True, meaning="since the start",
    )  # fmt: skip
    allocated: float = logged(
        {"MemAllocated": GIB_AS_GB}, kind="fixed(2)", unit="B", ge=0, nullable=True
    )
    max_allocated: float = logged(
        {"MaxMemAllocated": GIB_AS_GB}, kind="fixed(2)", unit="B", ge=0, nullable=True
    )

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "rank"}


class DeepspeedMemory(pa.DataFrameModel):
    """Memory of the rank that prints, between two points of its program, and of its host."""

    allocated: float = logged(
        {"allocated": GIB_AS_GB}, kind="fixed(2)", unit="B", ge=0, nullable=True
    )
    max_allocated: float = logged(
        {"max allocated": GIB_AS_GB}, kind="fixed(2)", unit="B", ge=0, nullable=True
    )
    reserved: float = logged(
        {"reserved": GIB_AS_GB}, kind="fixed(2)", unit="B", ge=0, nullable=True
    )
    max_reserved: float = logged(
        {"max reserved": GIB_AS_GB}, kind="fixed(0)", unit="B", ge=0, nullable=True
    )
    host_used: float = logged(
        {"host used": GIB_AS_GB}, kind="fixed(2)", unit="B", ge=0, nullable=True
    )
    host_fraction: float = logged(["host fraction"], unit="1", ge=0, nullable=True)

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "rank"}


class DeepspeedSchedule(pa.DataFrameModel):
    """Steps done and skipped, learning rates and momenta of the parameter groups."""

    step: int = logged(kind="exact", ge=0)
    skipped: int = logged(kind="exact", ge=0, nullable=True)
    learning_rates: str = named()
    momenta: str = named()

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "note"}


class DeepspeedFlops(pa.DataFrameModel):
    """A rate by DeepSpeed's own formula, recomputation included, and the size of the model."""

    flops_rate: float = logged({"tera flops": 1e12}, unit="flop/s", ge=0)
    parameters: float = logged(["parameters"], kind="decimal", gt=0, nullable=True)

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "note"}


class DeepspeedOverflow(pa.DataFrameModel):
    """A step that is skipped because its gradients overflow."""

    loss_scale: float = logged(ge=0)
    reduced_to: float = logged(ge=0, nullable=True)

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "note"}


KINDS = (
    Kind("step_line", "STEP_HEAD", "deepspeed_step", DeepspeedStep),
    Kind("rate_line", "RATE_HEAD", "deepspeed_throughput", DeepspeedThroughput),
    Kind("memory_line", "MEMORY_HEAD", "deepspeed_memory", DeepspeedMemory),
    Kind("host_line", "HOST_HEAD", "deepspeed_memory", DeepspeedMemory),
    Kind("schedule_line", "SCHEDULE_HEAD", "deepspeed_schedule", DeepspeedSchedule),
    Kind("flops_line", "FLOPS_HEAD", "deepspeed_flops", DeepspeedFlops),
    Kind("overflow_line", "OVERFLOW_HEAD", "deepspeed_overflow", DeepspeedOverflow),
)

FORMAT = Format(
    name="deepspeed",
    heads=(
        "SamplesPerSec=", "Max_MA ", "CPU Virtual Memory:", "skipped=", "iter time (s):",
        "Effective Tera Flops", "OVERFLOW!", "overflow!", "Overflow detected.",
    ),
    schemas={kind.frame: kind.schema for kind in KINDS},
    origin="measured",
    fold=folding("deepspeed", KINDS),
)  # fmt: skip
