"""Configuration as a job prints it: argument dumps, layout lines, its devices.

In: dumps of Megatron, DeepSpeed and NeMo (`argument_dumps`), and single lines such as `using world
size: …` or those of nvidia-smi (`layout_lines`). Out: one record per argument, one per run, one per
device; and statements that bind the configuration to the rows of the run.
"""

from __future__ import annotations

import hashlib

import pandera.polars as pa
from assay.ingest.formats.arguments import argument_dumps as dumps
from assay.ingest.formats.arguments import layout_lines as layouts
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Record, Statement

RANK_ARGUMENTS = ("rank", "local_rank", "global_rank")
"""Arguments that differ between the ranks of one run."""


class Arguments(pa.DataFrameModel):
    """One argument of one run, as printed and typed."""

    run: str = named(nullable=False, meaning="the run: <source name>#<line where it begins>")
    dump: str = named(nullable=False, meaning="who prints it: megatron, deepspeed or nemo")
    name: str = named(nullable=False, meaning="its name; inside JSON or YAML with those around it")
    value: str = named(meaning="its value as printed; null where nothing is")
    type: str = named(meaning="int, float, bool, none, list, dict or str")
    number: float = logged(kind="binary", nullable=True, meaning="its value, if a number")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "argument"}


class Runs(Configuration):
    """One run of a job, with the configuration that its own lines state."""

    run: str = named(nullable=False, meaning="<source name>#<line where it begins>")
    framework: str = named(meaning="megatron, megatron-deepspeed, deepspeed or nemo")
    digest: str = named(meaning="of all its arguments but ranks: equal for equal configurations")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "run"}


class Devices(pa.DataFrameModel):
    """One device of a node, as nvidia-smi lists it."""

    index: int = logged(kind="exact", ge=0)
    device: str = named(meaning="its name, cut off by nvidia-smi where it is long")
    memory: float = logged({"total": 2.0**20}, kind="truncated", unit="B", gt=0, nullable=True)

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "device"}


def fold(region: Region) -> Folded:
    """Every argument, run and device of a region, and the statements that bind them."""
    reader = dumps.Reader(region, Folded())
    devices = layouts.Devices()
    for line in region.lines:
        for rule in (dumps.megatron, dumps.deepspeed, dumps.nemo, layouts.layout, devices.read):
            if rule(reader, line):
                break
    columns = {line.number: line.column for line in region.lines} if reader.runs else {}
    for run in reader.runs:
        _finish(reader, run, columns[run.line])
    return reader.folded


def _finish(reader: dumps.Reader, run: dumps.Run, column: int) -> None:
    """The record of a run, and the statement that binds its configuration to the rows below."""
    cells = run.cells()
    name = f"{reader.region.source.name}#{run.line}"
    record = Record(run.line, dict(cells), column, "runs")
    frameworks = (bool(run.said["megatron"]), bool(run.said["deepspeed"]))
    framework = {(True, False): "megatron", (True, True): "megatron-deepspeed",
                 (False, True): "deepspeed"}.get(frameworks)  # fmt: skip
    if run.said["nemo"]:
        framework = "nemo"
    said = [f"{key}={value.text}" for dump in run.said.values()
            for key, value in sorted(dump.items()) if key not in RANK_ARGUMENTS]  # fmt: skip
    digest = hashlib.sha256("\n".join(said).encode()).hexdigest()[:12] if said else None
    for key, text in (("run", name), ("framework", framework), ("digest", digest)):
        if text:
            record.cells[key] = Cell(text, run.line, column)
    reader.folded.records.append(record)
    reader.folded.statements.append(Statement(run.last, (), cells, of_run=True))


FORMAT = Format(
    name="arguments",
    heads=(*dumps.HEADS, *layouts.HEADS),
    schemas={"arguments": Arguments, "runs": Runs, "devices": Devices},
    origin="published",
    fold=fold,
    reach=dumps.REACH,
)
