"""A step line of a time and a rate: `Step Time : 5.20s GPU utilization: 402.1TFLOP/s/GPU`.

In: such lines. Out: one record per line.
"""

from __future__ import annotations

from assay.ingest.formats.configuration import Configuration
from assay.ingest.records import Kind, folding
from assay.ingest.schema import logged
from assay.ingest.types import Format


class StepRate(Configuration):
    """Time of one step, and model FLOPs per second and GPU by the framework's own formula."""

    step_time: float = logged(unit="s", quantity="step_time", gt=0)
    model_flops_rate: float = logged(
        ["rate"], unit="flop/s", quantity="model_flops_rate", gt=0, nullable=True
    )


KINDS = (Kind("step_line", "HEAD", "step_rate", StepRate),)


FORMAT = Format(
    name="step_rate",
    heads=("GPU utilization:",),
    schemas={"step_rate": StepRate},
    origin="measured",
    fold=folding("step_rate", KINDS),
    glued=True,
)
