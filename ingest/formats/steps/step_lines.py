"""The frames of step records: what a step's line says, as far as labels and units tell."""

from __future__ import annotations

from collections.abc import Mapping

from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.record import Schema


class StepLine(Configuration):
    """A step as a line of any trainer prints it, as far as labels and units tell."""

    step: int = logged(
        kind="exact", ge=0, nullable=True, role="counter", meaning="count of steps, as printed"
    )
    step_rounded: float = logged(ge=0, nullable=True, meaning="the same, printed in few digits")
    total_steps: int = logged(
        kind="exact", ge=0, nullable=True, role="schedule", meaning="what it counts up to"
    )
    batch: int = logged(
        kind="exact",
        ge=0,
        nullable=True,
        meaning="count of a bar or bracket without a word for it, beside a step if there is one",
    )
    epoch: float = logged(ge=0, nullable=True)
    loss: float = logged(
        nullable=True, role="loss", meaning="of training, whatever the trainer minimises"
    )
    validation_loss: float = logged(nullable=True)
    learning_rate: float = logged(nullable=True)
    grad_norm: float = logged(nullable=True)
    loss_scale: float = logged(ge=0, nullable=True)
    consumed_samples: float = logged(ge=0, nullable=True, meaning="since the start")
    consumed_tokens: float = logged(ge=0, nullable=True, meaning="since the start")
    step_time: float = logged(
        unit="s", quantity="step_time", gt=0, nullable=True, role="time",
        meaning="time of one step",
    )  # fmt: skip
    step_time_average: float = logged(unit="s", gt=0, nullable=True, meaning="mean of several")
    elapsed: float = logged(unit="s", ge=0, nullable=True, meaning="time since some start")
    step_rate: float = logged(
        unit="1/s", ge=0, nullable=True, meaning="steps per second, smoothed where a bar shows it"
    )
    samples_per_s: float = logged(unit="sample/s", quantity="samples_per_s", ge=0, nullable=True)
    samples_per_s_average: float = logged(unit="sample/s", ge=0, nullable=True)
    samples_per_gpu_per_s: float = logged(
        unit="sample/s", quantity="samples_per_gpu_per_s", ge=0, nullable=True
    )
    tokens_per_s: float = logged(
        unit="token/s", quantity="tokens_per_s", ge=0, nullable=True, meaning="of all devices"
    )
    tokens_per_gpu_per_s: float = logged(
        unit="token/s", quantity="tokens_per_gpu_per_s", ge=0, nullable=True
    )
    token_rate: float = logged(
        unit="token/s", ge=0, nullable=True, meaning="of whom, and since when, nobody says"
    )
    flops_rate_per_gpu: float = logged(
        unit="flop/s", ge=0, nullable=True, meaning="of one device, by the trainer's own formula"
    )
    flops_rate: float = logged(
        unit="flop/s", ge=0, nullable=True, meaning="of one device or of all: nobody says"
    )
    mfu: float = logged(
        unit="1", ge=0, nullable=True, meaning="share of a peak, by the trainer's own formula"
    )
    memory: float = logged(unit="B", ge=0, nullable=True, meaning="under a label without more")
    allocated: float = logged(unit="B", ge=0, nullable=True)
    max_allocated: float = logged(unit="B", ge=0, nullable=True)
    reserved: float = logged(unit="B", ge=0, nullable=True)
    max_reserved: float = logged(unit="B", ge=0, nullable=True)


class GenericStep(StepLine):
    """A step of a trainer that nobody has written down."""

    words: str = named(meaning="the labels that made the line a record, and how many are like it")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


class TrainerStep(StepLine):
    """A step of a trainer whose line is known: every label means what its source says."""

    trainer: str = named(meaning="whose line it is")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


class TrainerSummary(Configuration):
    """Totals of a whole training or evaluation, as a Hugging Face Trainer prints them: no steps."""

    phase: str = named(meaning="training, evaluation or prediction")
    epoch: float = logged(["epoch"], ge=0, nullable=True)
    loss: float = logged(
        ["train loss", "eval loss"], nullable=True, meaning="mean of the whole part"
    )
    elapsed: float = logged(
        ["train runtime", "eval runtime"], unit="s", ge=0, nullable=True, meaning="of the part"
    )
    samples_per_s: float = logged(
        ["train samples per second", "eval samples per second"], unit="sample/s", ge=0,
        nullable=True, meaning="of all devices, over the part",
    )  # fmt: skip
    step_rate: float = logged(
        ["train steps per second", "eval steps per second"], unit="1/s", ge=0, nullable=True,
        meaning="steps per second over the part",
    )  # fmt: skip
    token_rate: float = logged(
        ["train tokens per second"], unit="token/s", ge=0, nullable=True,
        meaning="over the part; of whom, its versions tell differently",
    )  # fmt: skip

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "total"}


SCHEMAS: Mapping[str, Schema] = {
    "trainer_step": TrainerStep,
    "generic_step": GenericStep,
    "trainer_summary": TrainerSummary,
}
"""Frames of step records, by name."""
