"""Single lines about the layout of a job and its devices.

In: `using world size: …`, degrees, the padded vocabulary, the number format, micro-batches, and
what nvidia-smi prints. Out: values of the open run; one record per device.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.ingest.formats.arguments.argument_dumps import Reader
from assay.ingest.lines.lark import Token, Tree, parse_line, texts
from assay.ingest.schema.record import Cell, Diagnostic, Line, Record, Span, Statement

HEADS = (
    "using world size", "using torch.", "> padded vocab", "setting number of micro", "MiB / ",
    "parallel with size ",
    "| 0000", "|   0000", "(UUID: GPU-",
)  # fmt: skip

_LAYOUT = {
    "using world size": "world_line",
    "NeoXArgs.": "world_line",
    "padded vocab": "vocab_line",
    "using torch.": "dtype_line",
    "setting number of micro": "accumulation_line",
    "initializ": "parallel_line",
}

_WORLD = {
    "world size": "gpus",
    "data-parallel size": "dp",
    "model-parallel size": "tp",
    "tensor-model-parallel size": "tp",
    "pipeline-model-parallel size": "pp",
    "context-parallel size": "cp",
}

_DEGREES = {"tensor": "tp", "pipeline": "pp", "context": "cp", "data": "dp", "expert": "ep"}
"""Degrees by their names; what is split without a name is split by tensors, as first it was."""

_NAME_ROW = re.compile(r"\| +0000[0-9A-F]{4}:")

CUT_LAW = "nvidia-smi cuts the name; its memory says the rest"


def layout(reader: Reader, line: Line) -> bool:
    """Single lines about the layout, the vocabulary, the number format, the accumulation."""
    rule = next((rule for head, rule in _LAYOUT.items() if line.text.startswith(head)), None)
    if rule is None:
        return False
    span = Span(reader.region.source.name, line.number, line.column)
    tree = parse_line("arguments", rule, line.text.rstrip(), span)
    if isinstance(tree, Diagnostic):
        return False
    begins = rule == "world_line" and reader.has("megatron", "deepspeed", "nemo")
    run = reader.run(line, new=begins)
    said = _world(tree, line) if rule == "world_line" else {
        name: Cell(text, line.number, line.column + line.text.find(text))
        for name, text in texts(tree).items()
    }  # fmt: skip
    if rule == "parallel_line":
        named = said.pop("degree", None)
        said = {_DEGREES[named.text if named else "tensor"]: said["size"]}
    for name, cell in said.items():
        if name != "unpadded":
            run.lines.setdefault({"padded": "vocab"}.get(name, name), cell)
    reader.claim(line)
    return True


def _world(tree: Tree[Token], line: Line) -> dict[str, Cell]:
    found = {}
    for metric in tree.find_data("metric"):
        label, _, value = metric.children
        name = _WORLD.get(str(label).replace("parallel-size", "parallel size"))
        if name and isinstance(value, Token) and value.type == "INT":
            at = line.column + (value.start_pos or 0)
            found[name] = Cell(str(value), line.number, at)
    return found


@dataclass
class Devices:
    """nvidia-smi's lines of devices: a name and, in the line below, a memory; or one of `-L`."""

    open: Record | None = None  # named in the line above

    def read(self, reader: Reader, line: Line) -> bool:
        """Take a line of a device."""
        if "(UUID: GPU-" in line.text:
            return self._listed(reader, line)
        if "MiB / " not in line.text and not _NAME_ROW.search(line.text):
            return False
        if (parts := reader.parsed("device_line", line)) is not None:
            self.open = _device(reader, line, parts)
            return True
        parts = reader.parsed("memory_line", line)
        if parts is None or self.open is None:
            return False
        at = line.column + line.text.rfind(parts["total"] + "MiB")
        self.open.cells["memory"] = Cell(parts["total"], line.number, at, 2.0**20)
        device = self.open.cells["device"]
        full = device._replace(text=f"{device.text} {parts['total']}MiB")
        if device.text.endswith("..."):
            full = full._replace(value_origin="solved", law=CUT_LAW)
        _say(reader, line, full)
        self.open = None
        reader.claim(line)
        return True

    def _listed(self, reader: Reader, line: Line) -> bool:
        parts = reader.parsed("list_line", line)
        if parts is None:
            return False
        name = _device(reader, line, parts).cells["device"]
        _say(reader, line, name)
        return True


def _say(reader: Reader, line: Line, name: Cell) -> None:
    """Note what a run prints of its device; what a notebook prints is of all that it measured."""
    whole = reader.region.source.name.endswith(".ipynb")
    said = Statement(line.number, (), {"gpu": name}, of_run=True, environment=whole, host=whole)
    reader.folded.statements.append(said)


def _device(reader: Reader, line: Line, parts: dict[str, str]) -> Record:
    """The record of one device."""
    record = Record(line.number, {}, line.column, "devices", prefix=line.prefix)
    for name in ("index", "device"):
        at = line.column + line.text.find(parts[name])
        record.cells[name] = Cell(parts[name].strip(), line.number, at)
    reader.folded.records.append(record)
    reader.claim(line)
    return record
