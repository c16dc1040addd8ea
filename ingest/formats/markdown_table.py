"""Tables of throughput, topology and utilisation, in whatever syntax; one row is one run.

A table is ours when its header names a measured quantity. Header spellings drift within a
document, so columns are found by label, unit in brackets or not; a label that occurs twice gets a
number, a column nobody declares is kept in `other`. Cells are numbers, outcomes (`OOM`), known
unknowns (`GB`, `xxxx`) or missing, and never one for the other.
"""

from __future__ import annotations

from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Format
from assay.ingest.tables.table_rows import fold


class MarkdownTable(Configuration):
    """One row of a table: times and rates are what the document says of one run."""

    step_time: float = logged(
        [
            "Sec/it", "s/it", "sec/iter", "secs/it", "seconds/iteration", "seconds per iteration",
            "time per iteration", "elapsed time per iteration", "step time", "iteration time",
            "iter time", "time/iter", "time/step", "s/step", "sec/step",
        ],
        unit="s", quantity="step_time", gt=0, nullable=True, meaning="time of one iteration",
    )  # fmt: skip
    model_flops_rate: float = logged(
        dict.fromkeys(
            [
                "TFLOPs", "TFLOP/s", "TFLOPs/GPU", "TFLOP/s/GPU", "TFLOP/sec/GPU",
                "TFLOPs per GPU", "TFLOPs/s/GPU", "achieved TFLOPs", "model TFLOPs", "model TFLOP",
                "model TFLOP/s/GPU", "model TFLOP/sec/GPU", "TFLOPs/s", "per-GPU TFLOPs",
                "throughput per GPU (TFLOP/s/GPU)", "compute per GPU",
            ],
            1e12,
        ),
        unit="flop/s", quantity="model_flops_rate", gt=0, nullable=True,
        meaning="model FLOPs per second and GPU, by the document's own formula",
    )  # fmt: skip
    memory: float = logged(
        [
            "Mem", "Memory", "max mem", "max memory", "peak memory", "peak mem", "GPU memory",
            "memory usage", "peak memory usage", "memory per GPU",
            "max memory allocated", "memory allocated",
        ],
        unit="B", quantity="memory", gt=0, nullable=True, meaning="memory of one GPU",
    )  # fmt: skip
    tokens_per_s: float = logged(
        ["Throughput (T/s)", "tokens/s", "tokens/sec", "tok/s", "TPS", "tokens per second", "WPS"],
        unit="token/s", quantity="tokens_per_s", gt=0, nullable=True, meaning="tokens per second",
    )  # fmt: skip
    tokens_per_gpu_per_s: float = logged(
        [
            "GPUThroughput (T/s/GPU)", "TPS/GPU", "tokens/s/GPU", "tokens/sec/GPU", "tok/s/GPU",
            "tokens per second per GPU", "tokens per GPU per second", "TGS", "WPS/GPU",
            "median TPS/GPU", "Throughput (T/s/GPU)",
        ],
        unit="token/s", quantity="tokens_per_gpu_per_s", gt=0, nullable=True,
        meaning="tokens per second and GPU",
    )  # fmt: skip
    samples_per_s: float = logged(
        ["Throughput (S/s)", "samples/s", "samples/sec", "samples per second", "sequences/s"],
        unit="sample/s", quantity="samples_per_s", gt=0, nullable=True,
        meaning="sequences per second",
    )  # fmt: skip
    mfu_weights: float = logged(
        ["MFU*"], unit="1", quantity="mfu_weights", ge=0, nullable=True,
        meaning="model FLOPs utilisation of the weight products alone",
    )  # fmt: skip
    mfu: float = logged(
        ["MFU", "model FLOPs utilisation", "model FLOPs utilization"],
        unit="1", quantity="mfu", ge=0, nullable=True, meaning="model FLOPs utilisation",
    )  # fmt: skip
    hfu_weights: float = logged(
        ["HFU*"], unit="1", quantity="hfu_weights", ge=0, nullable=True,
        meaning="hardware FLOPs utilisation of the weight products alone",
    )  # fmt: skip
    hfu: float = logged(
        ["HFU", "hardware FLOPs utilisation", "hardware FLOPs utilization"],
        unit="1", quantity="hfu", ge=0, nullable=True, meaning="hardware FLOPs utilisation",
    )  # fmt: skip
    trained_part: str = named(meaning="what is trained where not all weights are: LoRA")
    date: str = named(meaning="date in the notes, as printed")
    outcome: str = named(meaning="what happened instead of a measurement: OOM, fail, may hang")
    notes: str = named(["Notes", "note", "comment", "comments", "remarks"])


FORMAT = Format(
    name="markdown_table",
    heads=("|", "<table", "<TABLE", "==", "+-"),
    opens=r"^[^|-]*(?:\|[|: \t-]*-|[: \t]*-[: \t-]*\|)[|: \t-]*$"  # an alignment row
    r"|(?i:<table[\s>])|^\s*=+(?: +=+)+\s*$",  # HTML, a rule of reStructuredText
    suffixes=(".csv", ".tsv", ".rst", ".ipynb"),
    schemas={"markdown_table": MarkdownTable},
    origin="published",
    fold=fold(MarkdownTable),
    lines="document",
)
