"""A step line of a time and a rate: `Step Time : 5.20s GPU utilization: 402.1TFLOP/s/GPU`.

In: such lines, and NeMo's progress bars whose bracket holds `train_step_timing in s=`. Out: one
record per line, in two frames. A bar is drawn again until the next step has logged.
"""

from __future__ import annotations

from assay.ingest.lines.records import Kind, fold_lines
from assay.ingest.lines.rows import SUPERSEDED
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import logged
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Record


class StepRate(Configuration):
    """Time of one step, and model FLOPs per second and GPU by the framework's own formula."""

    step_time: float = logged(unit="s", quantity="step_time", gt=0, role="time")
    model_flops_rate: float = logged(
        ["rate"], unit="flop/s", quantity="model_flops_rate", gt=0, nullable=True
    )

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


class StepProgress(Configuration):
    """Values of the last logged step, as a progress bar shows them."""

    step: int = logged(
        ["global_step"], kind="exact", ge=0, nullable=True, role="counter",
        meaning="steps before it",
    )  # fmt: skip
    step_time: float = logged(
        {"train_step_timing in s": 1}, unit="s", quantity="step_time", gt=0, nullable=True,
        role="time",
    )  # fmt: skip
    lm_loss: float = logged(["reduced train loss", "loss"], nullable=True, role="loss")
    consumed_samples: int = logged(["consumed_samples"], kind="exact", ge=0, nullable=True)

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


KINDS = (
    Kind("step_line", "HEAD", "step_rate", StepRate),
    Kind("progress_line", "PROGRESS_HEAD", "step_progress", StepProgress),
)


def fold(region: Region) -> Folded:
    """Every such line; a bar that is drawn again for the same step is superseded by the last."""
    folded = fold_lines(region, "step_rate", KINDS)
    last: dict[tuple[str | None, str | None], Record] = {}
    for record in folded.records:
        if record.frame != "step_progress" or "step" not in record.cells:
            continue
        who = (record.prefix.get("host"), record.prefix.get("rank"))
        before = last.get(who)
        if before and before.cells["step"].text == record.cells["step"].text:
            before.mark = SUPERSEDED
        last[who] = record
    return folded


FORMAT = Format(
    name="step_rate",
    heads=("GPU utilization:", "train_step_timing in s="),
    schemas={"step_rate": StepRate, "step_progress": StepProgress},
    origin="measured",
    fold=fold,
    glued=True,
)
