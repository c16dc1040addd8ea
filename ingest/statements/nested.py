"""Configuration in objects that a line holds whole: JSON, or a dictionary as Python prints it.

In: a line of a document. Out: field → cell of every value that the vocabulary knows, however deep
it stands, but for what stands under a key of something else than the model's training. Two values
that say a field differently say nothing of it.

The fences of blocks, and keys that open a dump in lines below each other, say what a line is in.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from assay.ingest.schema.record import Cell, Line, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import underlines
from assay.ingest.statements.values import known, of_whom, said
from assay.ingest.vocabulary.sectioned_keys import ASIDE, in_section
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

ENDS = r"[\w\"'\]}]\}\s*$"
"""How a line ends that holds an object, in polars' syntax."""

LONGEST = 20_000
"""Letters of a line beyond which nothing is looked for in it."""

_HOLDS = re.compile(rf"\{{\s*[\"'][A-Za-z_].*{ENDS}")

_LEAST = 3
"""Known values that make an object one of configuration."""

_ABOUT = ("event", "type", "name", "phase", "mode", "split", "kind", "stage")
"""Keys whose words say what an object is about."""


def nested(line: Line) -> dict[str, Cell]:
    """Configuration in the object that a line ends with, if enough of its values are known.

    >>> text = "config: {'model': {'n_layer': 24, 'n_head': 16}, 'train': {'seq_len': 2048}}"
    >>> {name: cell.text for name, cell in nested(Line(1, text, 1, {})).items()}
    {'layers': '24', 'heads': '16', 'seq_len': '2048'}
    >>> nested(Line(1, "{'loss': 2.1, 'epoch': 0.02}", 1, {}))
    {}
    """
    if len(line.text) > LONGEST or not (found := _HOLDS.search(line.text)):
        return {}
    held = _object(line.text[found.start() :].strip())
    said_by: dict[str, dict[str, Cell]] = {}
    for key, label, text in _values(held) if isinstance(held, dict) else ():
        at = max(0, line.text.find(key))
        for name, cell in said(label, text, line, at).items():
            said_by.setdefault(name, {})[cell.text] = cell
    if len(said_by) < _LEAST:
        return {}
    one = {name: next(iter(each.values())) for name, each in said_by.items() if len(each) == 1}
    return of_whom(one, line.text)


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _values(held: dict[Any, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    """Keys, what they say with the keys around them, and values as texts, of all objects in this
    one that are not of something else."""
    about = (str(held[key]) for key in _ABOUT if isinstance(held.get(key), str))
    if any(ASIDE.search(each) for each in about):
        return
    of_model = any(known(str(key)) in ("layers", "heads") for key in held)
    for key, value in held.items():
        where = f"{path}.{key}"
        if ASIDE.search(where):
            continue
        if isinstance(value, dict):
            yield from _values(value, where)
        elif isinstance(value, (str, int, float)):
            *around, name = where.strip(".").split(".")
            label = "hidden_dim" if name == "dim" and of_model else in_section(around, name)
            yield name, label or name, str(value)


HEADING = deferred(r"\s*(#{1,6})\s+\S")

_FENCE = deferred(r"\s*(?:```|~~~)")


PLACED = r"(?:[A-Z]+ )?[0-9-]+ [0-9:.]+ [\w./]+:[0-9]+\]"

_PLACED = deferred(PLACED)
"""A date and a line of a program before a bracket: `05-02 11:00:00 main.py:55]`."""

_OPENS = deferred(r"\s*[\"']?([A-Za-z_][\w.-]*)[\"']?\s*(?:[:=]\s*(?:[\w.]*[\[({])?|[({])\s*$")

_OPENS_WITH = deferred(r"[\s{(]*[\"']?([A-Za-z_]\w*)[\"']?\s*[:=]\s*[\w.]*[\[({]\s*[\"'\w]")
"""A key that opens what begins on its line."""

_OPENING = frozenset(":=[({")
"""One of these is in every line that opens something."""

_CLOSING = frozenset("])}")

_TABLE = deferred(r"\s*\[\[?([\w.-]+)\]\]?\s*$")

_PLAIN_WORDS = deferred(
    r"\b(?:models?|architectures?|config(?:uration)?s?|settings?|hyper-?parameters?|arguments?|info|"
    r"yaml|json|toml)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Block:
    """A block between fences: where it begins, and the name that the line above gives it."""

    begin: int
    subject: str


def blocks_in(lines: Sequence[Line]) -> dict[int, Block]:
    """The block that a line stands in, by line; a `#` there is a comment and no heading."""
    found: dict[int, Block] = {}
    block: Block | None = None
    above = ""
    literal: tuple[int, Block] | None = None  # of reStructuredText, by how far its opener stands in
    for line in lines:
        inward = line.column + len(line.text) - len(line.text.lstrip())
        if literal and line.text.strip() and inward <= literal[0]:
            literal = None
        if literal and block is None:
            if line.text.strip():
                found[line.number] = literal[1]
            continue
        if block is None and _LITERAL.match(line.text):
            literal = inward, Block(line.number, _subject(above))
        if _FENCE.match(line.text) and (block or not underlines(line.text, above)):
            block = None if block else Block(line.number, _subject(above))
        elif block:
            found[line.number] = block
        elif line.text.strip():
            above = line.text
    return found if block is None else {n: b for n, b in found.items() if b is not block}


_LITERAL = re.compile(r"\s*\.\. (?:code-block|code|sourcecode|parsed-literal)::")
"""A directive of reStructuredText that opens code, which stands in."""


_SENTENCE = re.compile(r"[。！；，、]|[一-鿿]{13}")
"""Signs of a sentence in letters without blanks, which is no name."""


def _subject(above: str) -> str:
    """The name that a line above a block gives it: `- Llama3 Architecture:`, `- **BERT Model**`,
    `<summary>bert_large</summary>`, `**zero3.json**`; or the one of the row whose code it opens.

    >>> _subject("To reproduce the 7B row:"), _subject("All runs. YAML of the `moe` run:")
    ('7B', 'moe')
    >>> _subject("7B 启动参数（pretrain_7b.sh）："), _subject("To run the benchmark:")
    ('7B', '')
    """
    text = above.strip()
    named = re.search(
        r"\*\*([^*]+)\*\*:?$|<summary>([\w.-]{0,60}[0-9][\w.-]{0,20})</summary>$", text
    )
    if file := _OF_FILE.fullmatch(text):
        return file[1]
    if (row := _OF_ROW.search(text)) and not _OF_ANY.fullmatch(row[row.lastindex or 0]):
        return row[row.lastindex or 0]
    if size := _one_size(text):
        return size
    if not named and not text.endswith(":"):
        return ""
    if named and named[2]:
        return named[2]
    plain = _PLAIN_WORDS.sub(" ", named[1] if named else text)
    if _SENTENCE.search(plain):
        return ""
    words = re.sub(r"[*_`#>:\"?]+|^\s*[-+]\s", " ", plain).split()
    return " ".join(words) if 0 < len(words) <= 3 and len(words) < len(plain) else ""


def _one_size(text: str) -> str:
    """The model of the one size that a short line names which opens code, where it is of no other.

    >>> _one_size("The 13B model was trained with:"), _one_size("Befehl für Finch-13B:")
    ('13B', 'Finch-13B')
    >>> _one_size("Command of the 7B, the others are alike:"), _one_size("13B on 8 GPUs:")
    ('', '')
    """
    if len(text) > LONGEST_OPENER or not _OPENER_ENDS.search(text):
        return ""
    if _OF_MORE.search(text) or not _OPENS_CODE.search(text):
        return ""
    sizes = {*_OF_SIZE.findall(text)}
    return sizes.pop() if len(sizes) == 1 else ""


LONGEST_OPENER = 90
"""Letters of a line that is no more than what opens code."""

_OPENER_ENDS = re.compile(r"(?:[:：]|</summary>)[*_\s]*$")

_OF_SIZE = re.compile(
    r"(?<![\w.,-])((?:[A-Za-z][\w.]{0,20}[-_]){0,3}[0-9]{1,4}(?:\.[0-9]{1,2})?[BbM])(?![\w-])"
)

_OPENS_CODE = re.compile(
    r"\b(?:commands?|scripts?|config(?:uration)?|YAML|JSON|TOML|flags|settings|arguments|args"
    r"|options|recipe|overrides|launch(?:ed)?|started|trained|ran|run|row|example"
    r"|Befehl|Aufruf|commande|comando)\b|[Ff]or the [0-9.]+[BM] model:|参数|脚本|命令|配置|设置"
    r"|コマンド|スクリプト|設定|명령|스크립트|설정",
    re.IGNORECASE,
)
"""Words of a line over code."""

_OF_MORE = re.compile(
    r"\b(?:others?|all|each|every|both|any|same|except|only|rest|smaller|larger|bigger|vs|versus"
    r"|than|if|can|could|e\.g|similar\w*|like|instead|not|tokens?|data\w*|up to|from|to|or"
    r"|alle|andere|tous|autres|todos)\b|其[他余它]|所有|全部|全て|すべて|모든",
    re.IGNORECASE,
)
"""Words of a line that is of more than one model."""

_OF_FILE = re.compile(
    r"[\s*_`#>-]*([\w.-]{1,60}\.(?:json|ya?ml|toml|sh|py|cfg|conf))[*_`]*[:：]?[*_]*"
)
"""A line that is the name of a file, and of the row that was run with it."""

_CODE = (
    r"(?:(?:[Ll]aunch|[Ss]tart|[Tt]raining|[Rr]un|[Ff]ull|[Ee]xact|[Ww]hole|[Cc]omplete) ?){0,2}"
    r"(?:[Cc]ommands?|[Ss]cripts?|[Ll]ine|YAML|[Yy]aml|JSON|[Jj]son|TOML|[Cc]onfig(?:uration)?"
    r"|[Ss]ettings|[Aa]rguments|[Aa]rgs|[Ff]lags|[Oo]ptions|[Rr]ecipe|[Oo]verrides|[Ii]nvocation)"
    r"(?: line| file)?"
)

_CALLED = (
    r"[`*\"“'‘]{0,3}([A-Za-z0-9][\w.+-]{0,40}(?: [\w.+-]{1,20})??)[`*\"”'’]{0,3}"
    r"(?: |(?<=[0-9][BM])(?=[\s:：*_]*$))"
)

_KIND = (
    r"(?:(?:row|run|line|entry|result|number|case|experiment|job|variant|measurement|set-?up"
    r"|model)s?|(?<=[BM]))"
)

_OF_ROW = re.compile(
    rf"(?:^|[\s,;.(])(?:{_CODE}(?: (?:that was |we )?used)? (?:of|for|behind)"
    rf" (?:the )?{_CALLED}{_KIND}"
    rf"|[Tt]o (?:reproduce|repeat|re-?run|get|obtain|launch|start|run) (?:the )?{_CALLED}{_KIND}"
    r"(?: (?:run|use|call|type|with|as follows))?)(?: \([^()]{1,60}\))?[:：*_]*$"
    r"|^[\s*_#>-]*([A-Za-z0-9][\w.+-]{0,40}) ?的?(?:启动|训练|运行|执行)?(?:参数|脚本|命令|配置)"
    r"(?:如下)?(?:[（(][^（）()]{1,80}[）)])?[:：*_]*$"
)
"""A line that opens the code of one row, or of those of one model."""

_OF_ANY = re.compile(
    r"(?:the|all|each|every|both|these|those|this|that|our|same|other|first|last|best|models?"
    r"|following|above|below|training|test|benchmark|single|full|main|default|whole|\w+ing)\b.{0,30}",
    re.IGNORECASE,
)
"""Words in front of a row that name none."""


@dataclass
class Nest:
    """Keys around a line of a dump, by how far they stand in; or the table of a TOML file."""

    open: list[tuple[int, str]] = field(default_factory=list)
    last: int = 0
    block: Block | None = None
    braced: int = -1  # how far the line before stands in, where it ends with a brace that it opens

    def aside(self, line: Line, block: Block | None) -> bool:
        """Whether a line stands under a key of something else than the model's training."""
        of_text = block is None and HEADING.match(line.text)
        if line.number > self.last + 40 or of_text or block is not self.block:
            self.open.clear()
            self.braced = -1
        self.last, self.block = line.number, block
        placed = _PLACED.match(line.text) if "]" in line.text else None
        begin = placed.end() if placed else 0
        rest = line.text[begin:]
        inward = line.column + begin + len(rest) - len(rest.lstrip())
        if "[" in line.text and (table := _TABLE.match(line.text)):
            self.open = [(-1, table[1])]
            return False
        if line.text.strip():
            self._close(inward, rest.strip())
        found = any(ASIDE.search(key) for _, key in self.open)
        if _OPENING.isdisjoint(rest):
            return found
        if opens := _OPENS.match(rest):
            self.open.append((inward, opens[1]))
        elif opens := _OPENS_WITH.match(rest):
            goes_on = rest.count("{") + rest.count("(") > rest.count("}") + rest.count(")")
            if goes_on:
                self.open.append((inward, opens[1]))
            all_of_it = goes_on or rest.rstrip(" ,;.\\")[-1:] in _CLOSING
            found = found or (all_of_it and ASIDE.search(opens[1]) is not None)
        return found

    def _close(self, inward: int, text: str) -> None:
        """Leave the keys that a line does not stand below: those that stand as far in as it, but
        for one whose brace is open and that holds lines which do not stand further in."""
        closes = text[:1] in _CLOSING
        if self.open and self.braced == inward and not closes:
            self.open[-1] = (inward - 1, self.open[-1][1])
        while self.open and self.open[-1][0] >= inward:
            self.open.pop()
        if closes and self.open and self.open[-1][0] == inward - 1:
            self.open.pop()
        self.braced = inward if text[-1:] == "{" and _OPENS.match(text) else -1

    def said_by(self, line: Line) -> dict[str, Cell]:
        """Configuration that a line of a block says with the keys around it: `tensor = 2` below
        `[parallel]`, or `parallel: {tensor: 2}`."""
        text = line.text
        if self.block is None or len(text) > LONGEST_PAIR or _SEPARATING.isdisjoint(text):
            return {}
        inward = line.column + len(text) - len(text.lstrip())
        around = [word for at, key in self.open if at < inward for word in key.split(".")]
        if held := _HOLDS_PAIRS.fullmatch(text):
            found: dict[str, Cell] = {}
            within = [*around, *held[1].split(".")]
            pairs = _PAIR_WITHIN.finditer(text, held.start(2), held.end(2))
            for inner in () if any(map(ASIDE.search, within)) else pairs:
                value = inner[2].strip("\"'")
                told = _of_key(within, inner, line)
                found |= told or said(inner[1], value, line, inner.start(2))
            return found
        if noted := _NOTED.fullmatch(text):
            return {"dtype": Cell(noted[1], line.number, line.column + noted.start(1))}
        pair = _PAIR.fullmatch(text)
        return _of_key(around, pair, line) if pair else {}


def _of_key(around: Sequence[str], pair: re.Match[str], line: Line) -> dict[str, Cell]:
    """Configuration that a key says with the sections around it, and those before its dots."""
    *own, key = pair[1].split(".")
    label = None if ASIDE.search(pair[1]) else in_section([*around, *own], key)
    return said(label, pair[2].strip("\"'"), line, pair.start(2)) if label else {}


LONGEST_PAIR = 300
"""Letters of a line of a configuration that another makes a part of."""

_SEPARATING = frozenset(":=")

_VALUE = r"(\"[^\"]*\"|'[^']*'|[^\s\"'{}\[\](),#]+)"

_PAIR_WITHIN = deferred(rf"[\"']?([A-Za-z_][\w.-]*)[\"']?\s*[:=]\s*{_VALUE}")

_PAIR = deferred(rf"\s*[\"']?([A-Za-z_][\w.-]*)[\"']?\s*[:=]\s*{_VALUE}\s*,?\s*(?:(?:#|//).*)?")

_NOTED = deferred(
    r"\s*[\"']?(?:use_|enable_)?(?:amp|mixed_precision|autocast)[\"']?\s*[:=]\s*(?:true|True|1)\s*,?"
    rf"\s*(?:#|//)\s*({NUMBER_FORMAT})\W*"
)
"""A switch of mixed precision, with a remark which format that is: `use_amp: true  # fp16`."""

_HOLDS_PAIRS = deferred(
    r"\s*[\"']?([A-Za-z_][\w.-]*)[\"']?\s*[:=]\s*(?:dict\(|\{)([^{}()]*)[})]\s*,?\s*(?:(?:#|//).*)?"
)
"""A key and an object of one level: `mesh: {data: 8, tensor: 4}`."""


def of_jobs(
    statements: Sequence[Statement], blocks: Mapping[int, Block], texts: Mapping[int, str]
) -> list[Statement]:
    """The statements, with the `train_batch_size` of DeepSpeed's configurations as that of the job.

    Its own key for the batch of a device, or for what is sharded, in the same block says whose
    configuration it is. Nor do they have a stage of what a line beside shards over one device.
    """
    statements = [each for each in map(partial(_but_unsharded, texts), statements) if each.values]
    theirs = [blocks[n] for n, text in texts.items() if n in blocks and _OF_DEEPSPEED.search(text)]
    return [
        replace(each, values={
            "global_batch" if name == "batch_size" else name: cell
            for name, cell in each.values.items()
        })
        if "batch_size" in each.values and "global_batch" not in each.values
        and "train_batch_size" in texts.get(each.line, "")
        and any(blocks.get(each.line) is block for block in theirs)
        else each
        for each in statements
    ]  # fmt: skip


def _but_unsharded(texts: Mapping[int, str], statement: Statement) -> Statement:
    """A statement without the stage of sharding where a line beside its own has the degree 1."""
    at = statement.line
    if "zero_stage" not in statement.values or "shard" not in texts.get(at, ""):
        return statement
    if not any(_UNSHARDED.match(texts.get(line, "")) for line in range(at - 2, at + 3)):
        return statement
    values = {name: cell for name, cell in statement.values.items() if name != "zero_stage"}
    return replace(statement, values=values)


_UNSHARDED = deferred(r"\s*[\"']?sharding_(?:parallel_)?(?:degree|size)[\"']?\s*[:=]\s*1(?![0-9])")
"""A line of a configuration by which nothing is sharded, whatever the stage beside it."""

_OF_DEEPSPEED = deferred(r"[\"'](?:train_micro_batch_size_per_gpu|zero_optimization)[\"']\s*:")
