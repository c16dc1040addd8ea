"""What a job says of its own configuration: argument dumps, layout lines, its devices.

In: Megatron's dump between two ruled lines, DeepSpeed's dump with JSON over several lines, lines
such as `using world size: …`, and nvidia-smi's table. Out: one record per argument, one per run,
one per device; and statements that bind the configuration to the rows of the run. Lines of others
may stand between those of a dump.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cache

import pandera.polars as pa
from assay.ingest import arguments as names
from assay.ingest.arguments import Argument
from assay.ingest.formats.configuration import Configuration
from assay.ingest.parse import Token, Tree, parse_line, terminal, texts
from assay.ingest.schema import logged, named
from assay.ingest.types import (
    Cell,
    Code,
    Diagnostic,
    Folded,
    Format,
    Line,
    Record,
    Region,
    Span,
    Statement,
)

RANK_ARGUMENTS = ("rank", "local_rank", "global_rank")
"""Arguments that differ between the ranks of one run."""

_END = "end of arguments"
_BEGIN = re.compile(r"-{5,} arguments -{5,}")
_DEEPSPEED = re.compile(r"config\.py:[0-9]+:print")
_UPDATED = re.compile(r"\.{2,}(?:updated|default)$")
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]* (?:\.+|) ?")


class Arguments(pa.DataFrameModel):
    """One argument of one run, as printed and typed."""

    run: str = named(nullable=False, meaning="the run: <source name>#<line where it begins>")
    dump: str = named(nullable=False, meaning="who prints it: megatron, deepspeed, or a line")
    name: str = named(nullable=False, meaning="its name; inside JSON with the names around it")
    value: str = named(meaning="its value as printed; null where nothing is")
    type: str = named(meaning="int, float, bool, none, list, dict or str")
    number: float = logged(kind="binary", nullable=True, meaning="its value, if a number")


class Runs(Configuration):
    """One run of a job, with the configuration that its own lines state."""

    run: str = named(nullable=False, meaning="<source name>#<line where it begins>")
    framework: str = named(meaning="megatron, megatron-deepspeed or deepspeed")
    digest: str = named(meaning="of all its arguments but ranks: equal for equal configurations")


class Devices(pa.DataFrameModel):
    """One device of a node, as nvidia-smi lists it."""

    index: int = logged(kind="exact", ge=0)
    device: str = named(meaning="its name, cut off by nvidia-smi where it is long")
    memory: float = logged({"total": 2.0**20}, kind="truncated", unit="B", gt=0, nullable=True)


@dataclass
class _Run:
    """A run while its lines are read."""

    line: int
    megatron: dict[str, Argument] = field(default_factory=dict)
    deepspeed: dict[str, Argument] = field(default_factory=dict)
    lines: dict[str, Cell] = field(default_factory=dict)  # what single lines say
    last: int = 0

    def cells(self) -> dict[str, Cell]:
        """Its configuration: Megatron's word counts before DeepSpeed's, a dump's before a line's.

        The vocabulary is the other way round: the line that pads it knows better.
        """
        found = names.deepspeed(self.deepspeed) | self.lines | names.megatron(self.megatron)
        return names.closed(found)


@dataclass
class _Reader:
    """The state of the fold: the open run, the open dump, the JSON around a line."""

    region: Region
    folded: Folded
    runs: list[_Run] = field(default_factory=list)
    in_dump: int | None = None  # line where the open dump began
    path: list[str] | None = None  # open JSON objects, outermost first
    devices: dict[int, Record] = field(default_factory=dict)
    device: Record | None = None

    def run(self, line: Line, *, new: bool) -> _Run:
        """The open run; a new one where the open one already has what `line` begins."""
        if new or not self.runs:
            self.runs.append(_Run(line.number))
        self.runs[-1].last = line.number
        return self.runs[-1]

    def claim(self, line: Line) -> None:
        self.folded.claimed.add(line.number)

    def add(self, line: Line, dump: str, name: str, text: str, at: int) -> None:
        """One argument: a record, and an entry of its run."""
        record = Record(line.number, {}, line.column, "arguments", prefix=line.prefix)
        run = f"{self.region.source.name}#{self.runs[-1].line}"
        kind = _type(text)
        cells = {"run": run, "dump": dump, "name": name, "type": kind}
        record.cells = {key: Cell(value, line.number, line.column) for key, value in cells.items()}
        if text:
            record.cells["value"] = Cell(text, line.number, at)
        if kind in ("int", "float"):
            record.cells["number"] = Cell(text, line.number, at)
        self.folded.records.append(record)
        self.claim(line)


@cache
def _number() -> re.Pattern[str]:
    return re.compile(terminal("NUMBER"))


def _type(text: str) -> str:
    if text in ("None", "null", ""):
        return "none"
    if text.lower() in ("true", "false"):
        return "bool"
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return "int"
    if _number().fullmatch(text):
        return "float"
    return {"[": "list", "(": "list", "{": "dict"}.get(text[0], "str")


def fold(region: Region) -> Folded:
    """Every argument, run and device of a region, and the statements that bind them."""
    reader = _Reader(region, Folded())
    for line in region.lines:
        for rule in (_dump, _deepspeed, _layout, _device):
            if rule(reader, line):
                break
    for run in reader.runs:
        _finish(reader, run)
    return reader.folded


def _parsed(reader: _Reader, rule: str, line: Line) -> dict[str, str] | None:
    span = Span(reader.region.source.name, line.number, line.column)
    tree = parse_line("arguments", rule, line.text.rstrip(), span)
    return None if isinstance(tree, Diagnostic) else texts(tree)


def _dump(reader: _Reader, line: Line) -> bool:
    """Megatron's dump: its first line, its last, and the arguments between."""
    if _BEGIN.match(line.text) and _parsed(reader, "begin_line", line) is not None:
        reader.run(line, new=bool(reader.runs and reader.runs[-1].megatron))
        reader.in_dump = line.number
        reader.claim(line)
        return True
    if reader.in_dump is None:
        return False
    if _END in line.text and _parsed(reader, "end_line", line) is not None:
        reader.runs[-1].last = line.number
        reader.in_dump = None
        reader.claim(line)
        return True
    if not _DOTTED.match(line.text) or "location" in line.prefix:
        return False
    return _argument(reader, line, "megatron")


def _argument(reader: _Reader, line: Line, dump: str) -> bool:
    parts = _parsed(reader, "argument_line", line)
    if parts is None:
        return False
    if reader.region.cut(line):
        span = Span(reader.region.source.name, line.number, line.column)
        message = f"the input ends inside the argument {parts['name']!r}"
        reader.folded.refused.append(Diagnostic(span, Code.TRUNCATED, message, line.text))
        return True
    name = parts["name"]
    text = _UPDATED.sub("", parts.get("value", ""))
    at = line.column + len(line.text.rstrip()) - len(parts.get("value", ""))
    run = reader.run(line, new=False)
    reader.add(line, dump, name, text, at)
    getattr(run, dump).setdefault(name, Argument(text, line.number, at))
    if dump == "deepspeed" and text in ("{", "["):
        reader.path = [name]
    return True


def _deepspeed(reader: _Reader, line: Line) -> bool:
    """DeepSpeed's dump: lines with its location, and the JSON that follows some of them."""
    if _DEEPSPEED.search(line.prefix.get("location", "")):
        if _parsed(reader, "opening_line", line) is not None:
            reader.run(line, new=bool(reader.runs and reader.runs[-1].deepspeed))
            reader.claim(line)
            return True
        if not reader.runs:
            reader.run(line, new=True)
        text = line.text.replace("json = {", "json  {")
        return _argument(reader, line._replace(text=text), "deepspeed")
    if reader.path is None:
        return False
    return _json(reader, line)


def _json(reader: _Reader, line: Line) -> bool:
    parts = _parsed(reader, "json_line", line)
    if parts is None or ("key" not in parts and "closed" not in parts):
        return False
    assert reader.path is not None
    key = parts.get("key", "").strip().strip('"')
    if "closed" in parts:
        reader.path.pop()
        reader.claim(line)
        if not reader.path:
            reader.path = None
    elif "opened" in parts:
        reader.path.append(key)
        reader.claim(line)
    else:
        text = parts["item"].strip().removesuffix(",").rstrip().strip('"')
        at = line.column + line.text.find(text)
        reader.add(line, "deepspeed", ".".join([*reader.path, key]), text, at)
    return True


_LAYOUT = {
    "using world size": "world_line",
    "padded vocab": "vocab_line",
    "using torch.": "dtype_line",
    "setting number of micro": "accumulation_line",
}

_WORLD = {
    "world size": "gpus",
    "data-parallel-size": "dp",
    "data-parallel size": "dp",
    "model-parallel size": "tp",
    "tensor-model-parallel size": "tp",
    "pipeline-model-parallel size": "pp",
    "context-parallel size": "cp",
}


def _layout(reader: _Reader, line: Line) -> bool:
    """Single lines about the layout, the vocabulary, the number format, the accumulation."""
    rule = next((rule for head, rule in _LAYOUT.items() if line.text.startswith(head)), None)
    if rule is None:
        return False
    span = Span(reader.region.source.name, line.number, line.column)
    tree = parse_line("arguments", rule, line.text.rstrip(), span)
    if isinstance(tree, Diagnostic):
        return False
    dump_seen = bool(reader.runs and (reader.runs[-1].megatron or reader.runs[-1].deepspeed))
    run = reader.run(line, new=rule == "world_line" and dump_seen)
    said = _world(tree, line) if rule == "world_line" else {
        name: Cell(text, line.number, line.column + line.text.find(text))
        for name, text in texts(tree).items()
    }  # fmt: skip
    for name, cell in said.items():
        if name != "unpadded":
            run.lines.setdefault({"padded": "vocab"}.get(name, name), cell)
    reader.claim(line)
    return True


def _world(tree: Tree[Token], line: Line) -> dict[str, Cell]:
    found = {}
    for metric in tree.find_data("metric"):
        label, _, value = metric.children
        name = _WORLD.get(str(label))
        if name and isinstance(value, Token):
            at = line.column + (value.start_pos or 0)
            found[name] = Cell(str(value), line.number, at)
    return found


def _device(reader: _Reader, line: Line) -> bool:
    """nvidia-smi's two lines of a device: its name, then its memory."""
    if "MiB / " not in line.text and not re.search(r"\| 0000[0-9A-F]{4}:", line.text):
        return False
    if (parts := _parsed(reader, "device_line", line)) is not None:
        record = Record(line.number, {}, line.column, "devices", prefix=line.prefix)
        for name in ("index", "device"):
            at = line.column + line.text.find(parts[name])
            record.cells[name] = Cell(parts[name].strip(), line.number, at)
        reader.folded.records.append(record)
        reader.device = record
        reader.claim(line)
        return True
    parts = _parsed(reader, "memory_line", line)
    if parts is None or reader.device is None:
        return False
    at = line.column + line.text.rfind(parts["total"] + "MiB")
    reader.device.cells["memory"] = Cell(parts["total"], line.number, at, 2.0**20)
    device = reader.device.cells["device"]
    full = device._replace(text=f"{device.text} {parts['total']}MiB")
    if device.text.endswith("..."):
        law = "nvidia-smi cuts the name; its memory says the rest"
        full = full._replace(value_origin="inferred", law=law)
    reader.folded.statements.append(Statement(line.number, (), {"gpu": full}, of_run=True))
    reader.device = None
    reader.claim(line)
    return True


def _finish(reader: _Reader, run: _Run) -> None:
    """The record of a run, and the statement that binds its configuration to the rows below."""
    cells = run.cells()
    name = f"{reader.region.source.name}#{run.line}"
    column = next(line.column for line in reader.region.lines if line.number == run.line)
    record = Record(run.line, dict(cells), column, "runs")
    frameworks = (bool(run.megatron), bool(run.deepspeed))
    framework = {(True, False): "megatron", (True, True): "megatron-deepspeed",
                 (False, True): "deepspeed"}.get(frameworks)  # fmt: skip
    said = [f"{key}={value.text}" for dump in (run.megatron, run.deepspeed)
            for key, value in sorted(dump.items()) if key not in RANK_ARGUMENTS]  # fmt: skip
    digest = hashlib.sha256("\n".join(said).encode()).hexdigest()[:12] if said else None
    for key, text in (("run", name), ("framework", framework), ("digest", digest)):
        if text:
            record.cells[key] = Cell(text, run.line, column)
    reader.folded.records.append(record)
    reader.folded.statements.append(Statement(run.last, (), cells, of_run=True))


FORMAT = Format(
    name="arguments",
    heads=(
        "- arguments -", "- end of arguments -", ":print]", "using world size", "using torch.",
        "> padded vocab", "setting number of micro", "MiB / ", "| 0000",
    ),
    schemas={"arguments": Arguments, "runs": Runs, "devices": Devices},
    origin="published",
    fold=fold,
    reach={"- arguments -": 3000, r":print\]": 80},
)  # fmt: skip
