"""Dumps of all arguments of a job, line by line: Megatron's, DeepSpeed's, NeMo's.

In: Megatron's dump between two ruled lines, DeepSpeed's with JSON over several lines, NeMo's and
Megatron-Bridge's as YAML under a ruled heading. Out: one record per argument, and the runs that
they belong to. Lines of others may stand between those of a dump with dots.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from assay.ingest.lines.lark import parse_alike, texts
from assay.ingest.schema.format import Folded, Reach, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span
from assay.ingest.schema.terminals import terminal
from assay.ingest.statements import argument_names as names
from assay.ingest.statements.argument_names import Argument

HEADS = ("- arguments -", "- end of arguments -", ":print]", "print_user_config]", "onfiguration ")

REACH = {
    "- arguments -": Reach(3000, closed="- end of arguments -"),
    r":print(?:_user_config)?\]": Reach(80),
    r"[*-]{5,} \w+ [Cc]onfiguration [*-]{5,}": Reach(2000),
}

_END = "end of arguments"

_BEGIN = re.compile(r"-{5,} arguments -{5,}")

_DEEPSPEED = re.compile(r"config\.py:[0-9]+:print")

_UPDATED = re.compile(r"\.{2,}(?:updated|default)$|(?<=[\]})])(?:updated|default)$")

_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]* (?:\.+|) ?")

_YAML = re.compile(r"[*-]{5,} \w+ [Cc]onfiguration [*-]{5,}")


@dataclass
class Run:
    """A run while its lines are read: what each dump says, by name; what single lines say."""

    line: int
    said: dict[str, dict[str, Argument]] = field(
        default_factory=lambda: {"megatron": {}, "deepspeed": {}, "nemo": {}}
    )
    lines: dict[str, Cell] = field(default_factory=dict)
    last: int = 0

    def cells(self) -> dict[str, Cell]:
        """Its configuration: Megatron's word counts before DeepSpeed's, a dump's before a line's.

        The vocabulary is the other way round: the line that pads it knows better.
        """
        found = names.deepspeed(self.said["deepspeed"]) | self.lines
        found |= names.megatron(self.said["megatron"]) | names.nemo(self.said["nemo"])
        return names.closed(found)


@dataclass
class Reader:
    """The state of the fold: the open run, the open dump, the JSON or YAML around a line."""

    region: Region
    folded: Folded
    runs: list[Run] = field(default_factory=list)
    in_dump: int | None = None  # line where the open dump began
    path: list[str] | None = None  # open JSON objects, outermost first
    keys: list[tuple[int, str]] | None = None  # open YAML keys with their indents

    def run(self, line: Line, *, new: bool) -> Run:
        """The open run; a new one where the open one already has what `line` begins."""
        if new or not self.runs:
            self.runs.append(Run(line.number))
        self.runs[-1].last = line.number
        return self.runs[-1]

    def has(self, *dumps: str) -> bool:
        """Whether the open run has one of these dumps."""
        return bool(self.runs) and any(self.runs[-1].said[dump] for dump in dumps)

    def claim(self, line: Line) -> None:
        """Take a line."""
        self.folded.claimed.add(line.number)

    def parsed(self, rule: str, line: Line) -> dict[str, str] | None:
        """Texts of a line by name, by a rule of the grammar; None where the rule does not fit."""
        span = Span(self.region.source.name, line.number, line.column)
        tree = parse_alike("arguments", rule, line.text.rstrip(), span)
        return None if isinstance(tree, Diagnostic) else texts(tree)

    def cut(self, line: Line, name: str) -> bool:
        """Refuse the argument `name` where the input ends inside its line."""
        if not self.region.cut(line):
            return False
        span = Span(self.region.source.name, line.number, line.column)
        message = f"the input ends inside the argument {name!r}"
        self.folded.refused.append(Diagnostic(span, Code.TRUNCATED, message, line.text))
        return True

    def add(self, line: Line, dump: str, name: str, text: str, at: int) -> None:
        """One argument: a record of its run."""
        record = Record(line.number, {}, line.column, "arguments", prefix=line.prefix)
        run = f"{self.region.source.name}#{self.runs[-1].line}"
        kind = type_of(text)
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


def type_of(text: str) -> str:
    """The type of a printed value.

    >>> type_of("1e-05"), type_of("true"), type_of("None"), type_of("['p2p']"), type_of("0.9.1")
    ('float', 'bool', 'none', 'list', 'str')
    """
    if text in ("None", "null", ""):
        return "none"
    if text.lower() in ("true", "false"):
        return "bool"
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return "int"
    if _number().fullmatch(text):
        return "float"
    return {"[": "list", "(": "list", "{": "dict"}.get(text[0], "str")


def megatron(reader: Reader, line: Line) -> bool:
    """Megatron's dump: its first line, its last, and the arguments between."""
    if _BEGIN.match(line.text) and reader.parsed("begin_line", line) is not None:
        reader.run(line, new=reader.has("megatron"))
        reader.in_dump = line.number
        reader.claim(line)
        return True
    if reader.in_dump is None:
        return False
    if _END in line.text and reader.parsed("end_line", line) is not None:
        reader.runs[-1].last = line.number
        reader.in_dump = None
        reader.claim(line)
        return True
    if not _DOTTED.match(line.text) or _DEEPSPEED.search(line.prefix.get("location", "")):
        return False
    return _argument(reader, line, "megatron")


def _argument(reader: Reader, line: Line, dump: str) -> bool:
    parts = reader.parsed("argument_line", line)
    if parts is None:
        return False
    name = parts["name"]
    if reader.cut(line, name):
        return True
    text = _UPDATED.sub("", parts.get("value", ""))
    at = line.column + len(line.text.rstrip()) - len(parts.get("value", ""))
    run = reader.run(line, new=False)
    reader.add(line, dump, name, text, at)
    run.said[dump].setdefault(name, Argument(text, line.number, at))
    if dump == "deepspeed" and text in ("{", "["):
        reader.path = [name]
    return True


def deepspeed(reader: Reader, line: Line) -> bool:
    """DeepSpeed's dump: lines with its location, and the JSON that follows some of them."""
    if _DEEPSPEED.search(line.prefix.get("location", "")):
        if reader.parsed("opening_line", line) is not None:
            reader.run(line, new=reader.has("deepspeed"))
            reader.claim(line)
            return True
        if not reader.runs:
            reader.run(line, new=True)
        text = line.text.replace("json = {", "json  {")
        return _argument(reader, line._replace(text=text), "deepspeed")
    if reader.path is None:
        return False
    return _json(reader, line)


def _json(reader: Reader, line: Line) -> bool:
    parts = reader.parsed("json_line", line)
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


def nemo(reader: Reader, line: Line) -> bool:
    """YAML under a ruled heading, to the first line that is none: keys under keys, by indent."""
    if _YAML.match(line.text) and reader.parsed("heading_line", line) is not None:
        reader.run(line, new=reader.has("megatron", "deepspeed", "nemo"))
        reader.keys = []
        reader.claim(line)
        return True
    if reader.keys is None or not line.text.strip() or line.prefix:
        return False
    parts = reader.parsed("yaml_line", line)
    outside = bool(reader.keys) and line.column < reader.keys[0][0]
    if parts is None or outside or ("dash" not in parts and "setting" not in parts):
        reader.keys = None if reader.keys else []  # before the first key others may speak
        return False
    return _setting(reader, line, parts)


def _setting(reader: Reader, line: Line, parts: dict[str, str]) -> bool:
    """One line of YAML: `key: value`, `key:` or `- item`."""
    assert reader.keys is not None
    key, item = parts.get("setting"), "dash" in parts
    base = reader.keys[0] if reader.keys else (line.column, "")
    # a list may stand as far left as its key
    above = [each for each in reader.keys if each[0] < line.column + item]
    name = ".".join(each for _, each in [*above, (0, key or "")] if each)
    if reader.cut(line, name):
        return True
    text = parts.get("value", "").strip().strip("\"'")
    at = line.column + len(line.text.rstrip()) - len(parts.get("value", ""))
    reader.keys = [*above, (line.column, key)] if key and not item else above
    reader.keys = reader.keys or [base]
    run = reader.run(line, new=False)
    if item or text:
        reader.add(line, "nemo", name, text, at)
        if not item:
            run.said["nemo"].setdefault(name, Argument(text, line.number, at))
    else:
        reader.claim(line)
    return True
