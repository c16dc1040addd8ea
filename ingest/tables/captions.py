"""Lines above a table and the runs of it: device, how many of it, number format, adapters.

In: the lines between a heading and a table. Out: cells by field, the nearest line first. A line
counts if a label stands in front (`- System: DGX-H100`, `**Hardware**: 8x A100 80GB`), if it names
a number format as the precision of what it shows (`… tasks at FP8 precision`), or if it is the
caption of the table, right above it (`**Llama on 8x H100 (BF16)**`, `Table 3: …`); what names two
devices or two formats names none.

Runs that train adapters alone (LoRA and what follows it) are told by the cells of a row, or by
these lines: such a run makes no gradients of the frozen weights, two thirds of the arithmetic of
one that trains them all; a text that names both kinds says nothing of one row.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache

from assay.ingest.columns.cells import chips_of
from assay.ingest.columns.other_runs import (
    but_for_others,
    of_the_table_above,
    of_these_runs,
    sentences,
)
from assay.ingest.columns.titles import (
    counted_devices,
    device_named,
    devices_in_all,
    format_named,
    model_named,
    settings_named,
    titled,
    without_some,
)
from assay.ingest.columns.turns import turned
from assay.ingest.prose.counted_machines import machines
from assay.ingest.prose.scopes import WHOSE, scoped
from assay.ingest.schema.record import REMEMBERED, Cell, Line, Record
from assay.ingest.vocabulary.devices import SIGN, only, signed

_LABELLED = re.compile(
    r"[\s>*+_`-]*(?:(?:test|training|benchmark)\s+)?"
    r"(?:systems?|hardware|gpus?|devices?|accelerators?|machines?|platform|cluster)\b"
    r"[^:|]{0,24}:(.+)",
    re.IGNORECASE,
)

_PRECISION = re.compile(
    r"\b(?:at|in|with|using)\s+(?:pure\s+)?((?:bf16|bfloat16|fp(?:8|16|32)|float16))\s+"
    r"(?:mixed[ -])?precision\b",
    re.IGNORECASE,
)

_OF_THE_TABLE = re.compile(
    r"\btables?\b.{0,20}\b(?:below|shows?|provides?|lists?)\b|\b(?:following|next) table\b",
    re.IGNORECASE,
)
"""A sentence that says what the table below it shows."""

_INTRODUCES = re.compile(
    r"\b(?:results?|throughputs?|performance|speeds?|benchmarks?|benchmarked|measure[sd]?|measurements"
    r"|train(?:ed|ing)?|pre-?train(?:ed|ing)?|scaling|efficiency|numbers|runs?|ran)\b"
    r"|(?<![0-9] )\b(?:(?:tokens?|samples?|images?)(?:/| per )|TFLOP|(?:TGS|MFU|HFU)\b)"
    r"|性能|吞吐|训练|微调|显存|下表|测试|对比|结果|显卡|スループット|学習|測定",
    re.IGNORECASE,
)
"""Words of a sentence that introduces the table right below it."""

_ELSEWHERE = re.compile(
    r"\b(?:than|vs\.?|versus|compared|unlike|instead|inference|serving|above|previous(?:ly)?|other"
    r"|another|future|planned?|will|not|without|can be|could|would|should)\b",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of something beside the table below it."""

_DIRECTIVE = re.compile(
    r"\s*(?:\.\. (?!tab(?:-item)?::)[a-z-]+::|:[a-z-]+:|<table|<div|<t[rhd]|```|~~~)", re.IGNORECASE
)
"""A line that only opens what the table below it stands in."""

_CAPTION = re.compile(
    r"\s*(?:\*\*[^*]+\*\*(?:\s*[(（].*[)）])?|__[^_]+__"
    r"|(?:<details[^<>]*>\s*)?<summary>.*</summary>|===[!+]? \"[^\"]+\"|\.\. tab(?:-item)?:: .*"
    r"|[_*]*Table [0-9]+(?:[_*]*[.:]|\*\*).*)[\s:]*"
)

_NUMBERED = re.compile(
    r"\s*[_*]*(?:Table |表 ?)[0-9]+(?![0-9])(?! (?-i:[a-z])|(?:给出|列出|展示|显示|中|是|为|可))",
    re.IGNORECASE,
)
"""How the caption of a table begins that documents number, above all of them or below."""

_BULLET = re.compile(r"(?:[-*+•]|[0-9]{1,2}[.)]) ")


BESIDE = 3
"""Lines between a table and the caption that it has."""


def numbered_over(lines: Sequence[Line], tables: Sequence[tuple[int, int]]) -> bool:
    """Whether the numbered captions of a document stand over its tables, which begin and end so:
    the first that stands at one table alone tells, and where none does they stand over them."""
    begins, ends = (sorted(places) for places in zip(*tables, strict=True)) if tables else ([], [])
    for at, line in enumerate(lines) if tables else ():
        if not ("able " in line.text or "表" in line.text) or not _NUMBERED.match(line.text):
            continue
        under = bisect_right(begins, at) < bisect_right(begins, at + BESIDE)
        if under != (bisect_right(ends, at - BESIDE) < bisect_right(ends, at)):
            return under
    return True


def numbered(line: Line) -> bool:
    """Whether a line begins as the numbered caption of a table does."""
    return _NUMBERED.match(line.text) is not None


class Above:
    """The lines between a heading and the tables under it, each looked at once for all of them.

    `over`: whether numbered captions of the document stand over their tables.
    """

    def __init__(self, *, over: bool = True) -> None:
        self._over = over
        self._new: list[Line] = []
        self._nearest: Line | None = None  # that is not empty
        self._below_table = False
        self._named_above = False  # whether the table above the next line has a caption over it
        self._said: dict[str, Cell] = {}
        self._trained: dict[str, Cell] | None = None
        self._last: Line | None = None  # that is not empty, nor the directive of a table
        self._lead: Line | None = None  # the same, nor an item of a list

    def add(self, line: Line) -> None:
        """Take in the next line."""
        if line.text.strip() and self._below_table:
            self._below_table = False
            if not self._over and _NUMBERED.match(line.text) and not self._named_above:
                return  # the caption of the table above it
            if of_the_table_above(line.text):
                return
        own = but_for_others(self._nearest, line)
        if line.text.strip():
            self._nearest = line
        self._new.append(own)

    def pass_table(self) -> None:
        """Take in that a table ends here."""
        last, self._below_table = self._nearest, True
        self._named_above = last is not None and _NUMBERED.match(last.text) is not None

    def said(self, titles: Sequence[Line]) -> dict[str, Cell]:
        """Field → cell of what the lines so far say of a table below them.

        Later lines replace earlier ones. What is trained the nearest line says that speaks of it,
        else the nearest of the headings `titles`.
        """
        for line in self._new:
            self._said = {n: c for n, c in self._said.items() if n not in turned(line.text)}
            self._said |= _said(line)
            if _says_what_is_trained(line):
                self._trained = _cell(line)
            if line.text.strip() and not _DIRECTIVE.match(line.text):
                self._last = line
                self._lead = self._lead if _ITEM.match(line.text) else line
        self._new.clear()
        found = dict(self._said)
        if self._lead is not self._last and self._lead is not None and opens(self._lead):
            found |= {n: cell for n, cell in told(self._lead).items() if n != "gpu"}
        if self._last is not None and opens(self._last):
            found |= told(self._last)
        if "gpu" in found and "gpus" not in found and (chips := chips_of(found["gpu"])):
            found["gpus"] = chips._replace(value_origin="solved" if chips.law else "stated")
        if self._trained is not None:
            return found | self._trained
        title = next((line for line in reversed(titles) if _says_what_is_trained(line)), None)
        return found | _cell(title) if title else found


def told(line: Line) -> dict[str, Cell]:
    """Field → cell of what the caption that belongs to a table says of it, and of no other run."""
    cells = _told(line)
    own = of_these_runs(line.text) if cells else line.text
    cells = cells if own == line.text else _told(line._replace(text=own))
    if cells and (divided := scoped(line.text)):  # among rows, whose names it says
        apart = {*WHOSE, *(each.field for each in divided)}
        return {name: cell for name, cell in cells.items() if name not in apart}
    return cells


def _told(line: Line) -> dict[str, Cell]:
    cells = {name: cell._replace(value_origin="stated") for name, cell in titled(line).items()}
    if "gpus" not in cells and (count := devices_in_all(line.text)):
        cells |= _cells(line, {"gpus": count})
    if "gpus" in cells and _of_each_node(cells["gpus"].text, line.text):
        del cells["gpus"]
    if "gpu" not in cells and _SAME.search(line.text) and (device := only(line.text)):
        cells |= _cells(line, {"gpu": device.text})  # and no other that the text names before
    opens = _ENDING.sub("", line.text).endswith((":", "：")) and "gpu" not in cells
    if opens and (device := only(line.text)):  # which of its sizes, others say
        cells |= _cells(line, {"gpu": device.text})
        law = ON_IT if _ON_IT.search(signed(without_some(line.text))) else None
        cells["gpu"] = cells["gpu"]._replace(state="unknown", law=law)
    return cells


@lru_cache(maxsize=REMEMBERED)
def _of_each_node(count: str, text: str) -> bool:
    """Whether a number of devices is that of each of the nodes that a text counts.

    >>> _of_each_node("8", "across the 16 hosts (8 GPUs apiece)"), _of_each_node("8", "on 8 A100")
    (True, False)
    """
    told = {part.name: part.word for part in machines(text)}
    of_each = told.get("gpus_per_node") == count and told.get("nodes") != "1"
    return of_each and told.get("gpus") != count


ON_IT = "the line that opens the table says on what it ran"

_ON_IT = re.compile(
    rf"\b(?:on|sur|auf|pour)(?: (?:an?|the|our|une?|la partition|den?|einer?))? {SIGN}",
    re.IGNORECASE,
)

_ENDING = re.compile(r"(?:</\w+>|[\s*_])+$")
"""Marks and tags behind the last sign of a line."""

_SAME = re.compile(r"\bthe same\b.*\bon\b|^\s*same\b.*\bon\b|同样的?.*[在用]", re.IGNORECASE)
"""A line that opens a table of the same on another machine."""


_ITEM = re.compile(r"\s*(?:[-*+•]|[0-9]{1,2}[.)]) ")
"""An item of a list, which may stand between a table and the line that opens it."""


def lead(lines: Sequence[Line]) -> Line | None:
    """The line that a table stands under: the last, or the one above the list that is the last."""
    told = [line for line in lines if line.text.strip()]
    above = next((line for line in reversed(told) if not _ITEM.match(line.text)), None)
    if above is not None and above.text.rstrip().endswith(":"):
        return above
    return told[-1] if told else None


def is_caption(line: Line) -> bool:
    """Whether a line right above a table is its caption: in bold, numbered, or the name of what
    opens at a click."""
    return _CAPTION.fullmatch(line.text) is not None


def opens(line: Line) -> bool:
    """Whether a line right above a table is its caption, or introduces it."""
    return is_caption(line) or _introduces(line)


def stands_over(line: Line) -> bool:
    """Whether a line right above a table is of that, whatever it says: `Without TP:`."""
    text = line.text.strip()
    if len(text) > LONGEST_LEAD:
        return is_caption(line)
    return is_caption(line) or text.endswith((":", "：")) or _RUN_IN.match(text) is not None


_RUN_IN = re.compile(
    r"(?:Phase|Stage|Part|Case|Set-?up|Config(?:uration)?|Run|Series|Scenario|Experiment|Variant"
    r"|Model|System|Cluster|Machine|Round|Step|Exp)\.? ?(?:[0-9]{1,3}|[A-Z]|[IVX]{1,4})[.:,)] +\S"
    r"|(?:(?:And )?[Nn]ow(?: with)?|Next|This time|Here)\b"
)
"""How a paragraph begins that says of what its table is: `Phase 2. Batch per GPU is 8`."""

LONGEST_LEAD = 100
"""Letters of a line that does nothing but open the table below it."""


def _introduces(line: Line) -> bool:
    """Whether a line right above a table introduces it: `Throughput on A100-40GB nodes:`."""
    text = line.text.strip()
    if len(text) > LONGEST or _ELSEWHERE.search(text) or text.startswith("|"):
        return False
    if _BULLET.match(text):
        return text.endswith((":", "："))  # one of several
    return text.endswith((":", "：")) or _INTRODUCES.search(text) is not None


LONGEST = 300
"""Characters of a line beyond which it is no introduction."""


def _title(text: str) -> dict[str, str | None]:
    count = counted_devices(text) or devices_in_all(text)
    return {
        "gpu": device_named(text),
        "gpus": None if count and _of_each_node(count, text) else count,
        "dtype": format_named(text),
        "model": model_named(text),
        **settings_named(text),
    }


def _said(line: Line) -> dict[str, Cell]:
    values = _values(line.text)
    if values and (own := of_these_runs(line.text)) != line.text:
        values = _values(own)
    return _cells(line, values)


@lru_cache(maxsize=REMEMBERED)  # set-ups repeat their lines
def _values(text: str) -> Mapping[str, str | None]:
    """Values that a line gives the table below it, by field."""
    if labelled := _LABELLED.fullmatch(text.rstrip()):
        values = _title(labelled[1])
        return {} if values["gpu"] is None else values
    if _OF_THE_TABLE.search(text) and device_named(text):
        return _title(text)
    named = {match[1].casefold(): match[1] for match in _PRECISION.finditer(text)}
    alone = len(named) == 1 and format_named(text) is not None
    return {"dtype": next(iter(named.values()))} if alone else {}


def _cells(line: Line, values: Mapping[str, str | None]) -> dict[str, Cell]:
    return {
        name: Cell(text, line.number, line.column, value_origin="stated")
        for name, text in values.items()
        if text is not None
    }


FIELD = "trained_part"

_ADAPTERS = re.compile(
    r"(?<![A-Za-z0-9])(?:[a-z]{1,2}-?)?(?:lora|dora)(?![A-Za-z])"
    r"|(?<![A-Za-z0-9])peft(?![A-Za-z0-9]|[ =]{1,2}v?[0-9])"
    r"|(?<![A-Za-z0-9-])(?:p|prefix|prompt)[- ]?tuning(?: ?v2)?(?![A-Za-z0-9])",
    re.IGNORECASE,
)

_TRAINED_BY = re.compile(
    rf"(\S.*?)(?:\s*[,/+–—-]\s*|\s+)?(?:with\s+)?[(\[]?(?:{_ADAPTERS.pattern})"
    r"(?:[ -]?(?:fine-?tun(?:ing|ed|e)|tun(?:ing|ed)|training|adapters?))?[)\]]?",
    re.IGNORECASE,
)
"""A name, and the adapters that were trained of it: `Llama-3.1-8B LoRA`, `7B (QLoRA)`."""

_REINFORCED = re.compile(
    r"\brollouts?\b|\brewards?\b|\bresponse[ _]length\b|\bactor\b|\b(?:GRPO|PPO)\b", re.IGNORECASE
)
"""Words of columns beside which a step holds generation as well: it is none of training alone."""

REINFORCED = "reinforcement learning"

_WHOLE = re.compile(
    r"(?<![A-Za-z])(?:full(?![_ -]shard)|sft|pre-?train(?:ing|ed)?)(?![A-Za-z])", re.IGNORECASE
)

_ALL_TUNED = re.compile(
    r"\bfull(?:[ -](?:parameters?|model|weights?))?[ -]*(?:fine-?[ ]?tun\w*|FT|SFT)\b"
    r"(?!.*\b(?:lora|vs|versus|and)\b)",
    re.IGNORECASE,
)
"""Of every weight: `Full finetune with FSDP:`."""

_BESIDE = re.compile(
    r"(?<![A-Za-z])(?:no|non|not|without|w/o|unlike|vs|versus|than)(?![A-Za-z])", re.IGNORECASE
)

_NONE = re.compile(r"(?:0|no|none|false|off|full|n/?a|[-–—✗✘❌×\s])*", re.IGNORECASE)

_HEADING = re.compile(r"\s*(#{1,6})\s")

_STATED = re.compile(
    r"\b(?:us(?:es?|ed|ing)|with|via)\s+(?:[^.;:|]{2,60}?\s(?:and|plus|\+)\s+)?\W{0,2}"
    r"(?:(?:q-?)?lora|dora|peft(?! v?[0-9]))\b(?!['’]s)(?! (?:are|is|was|were|both)\b)"
    r"|^[\s>*+_`-]*(?:(?:PEFT|(?:fine-?)?tuning|adapter|training)[ _-])?"
    r"(?:method|task|tuning|training|recipe|mode|type)\b[^:|]{0,24}:"
    r"|\b(?:fine-?tun\w*|train\w*)\b(?:[^.;:|()]|\.(?=[0-9])){0,60}\((?:q-?)?(?:lora|dora)\b(?=[,)])"
    r"|(?:使用|采用|用|基于|通过|进行|做的?(?:是|都是)?|[均都全]为|全部是)\s?(?:q-?)?(?:lora|dora)(?![^。；;]{0,20}(?:对比|相比|之外))"
    r"|[微精]调(?:方[式法]|类型)?\s?(?:[:：]|[均都]?[为是])\s?(?:q-?)?(?:lora|dora)"
    r"|[0-9]b[\w-]{0,24} ?\+ ?(?:q-?)?(?:lora|dora)\b"
    r"|^[\s>*+_`\"-]*(?:q-?)?(?:lora|dora)\b[^:|.?]{0,90}[:：][\s*_]*$"
    r"|^[\s>*+_`-]*(?:all|every\w*)\b(?: (?!but|except|full)[\w-]+){0,4}? (?:q-?)?"
    r"(?:lora|dora)\b(?!.*\b(?:but|except|apart|unless)\b)"
    r"|^[\s>*+_`-]*(?:[48]-bit )?(?:q-?)?(?:lora|dora)[ -](?:fine-?tun(?:ing|ed)|tuning|training"
    r"|SFT|runs?)\b(?!.*\b(?:is|can|could|needs?|than|vs|supports?|supported|available|not)\b)"
    r"|^[\s>*+_`-]*(?:we )?(?:only )?(?:train(?:ed)? )?(?:only )?(?:the )?(?:q-?)?(?:lora|dora) "
    r"(?:adapters?|weights|matrices|layers|parameters)(?:(?<=[a-z]) only\b| (?:are|were|is|was|get"
    r"|receive) (?:trained|updated|tuned|learned|gradients))"
    r"|^[\s>*+_`-]*(?:q-?)?(?:lora|dora)\b[ ,(:]{1,2}(?:with |of |adapters? )?(?:rank|r|alpha)\b"
    r"(?: of)? ?[=:]? ?[0-9](?!.*\b(?:vs|versus|than|can|could|needs?|supports?|gives?|takes?)\b)"
    r"|^[\s>*+_`-]*PEFT: ?[*_`]*(?:q-?)?(?:lora|dora)\b",
    re.IGNORECASE,
)
"""A statement of what is trained: `All runs are LoRA`, `QLoRA fine-tuning of 7B on one L4`."""

_TYPED = re.compile(
    r"(?<![\w-])(?:(?:--)?(?:sft|train|tuner|finetuning|peft)_type[\"']?\s{0,2}[=: ]"
    r"|^\s*adapter:)\s{0,2}[\"']?((?:q-?)?(?:lora|dora))\b",
    re.IGNORECASE,
)
"""An option of trainers for what they train: `--sft_type lora`, `adapter: qlora`."""

_LIST_OF_IT = re.compile(
    r"[\s>*_`]*(?:[A-Za-z][\w .-]{1,30}, )?((?:q-?)?(?:lora|dora)|p-?tuning(?: v2)?)"
    r"(?: (?:with|on|of) [^,.|()]{2,40}| \([^()|]{2,40}\)){0,2}(?:, |，)(?=[^|]*[0-9])"
    r"(?![^.|]*\b(?:is|was|are|were|has|can|needs?|gives?|takes?|fits?|runs?|uses?)\b)",
    re.IGNORECASE,
)
"""A list of settings that begins with what is trained: `QLoRA with FSDP, batch size 1`."""

_ITEM_OF_A_LIST = re.compile(
    r"[\s>*_`+-]*(?=[^|]*(?:\b[bt]?f(?:loat|p)?[0-9]{1,2}\b|[0-9]+ (?:GPU|tok|card|node|step)|\bseq"
    r"|\bbatch|\bbs\b|\bmbs\b|\bcontext|\brank\b|\bzero))"
    r"(?:(?:all (?:of )?(?:the )?runs|all|set-?up|settings?|training|config\w*|common):[*_]* )?"
    r"(?:(?:[^,.|:;]|\.(?=\w)){1,40}, ){1,8}((?:q-?)?(?:lora|dora))"
    r"(?: (?:(?:of |with )?(?:rank|r|alpha) ?[=:]? ?[0-9]+|\([^()|]{2,40}\)))?(?=, |\.?\s*$|\. )",
    re.IGNORECASE,
)
"""A list of settings with what is trained among them: `2 GPUs, bf16, QLoRA`."""

_NO_LIST = re.compile(
    r"\b(?:is|was|are|were|has|have|can|could|needs?|gives?|takes?|fits?|supports?|supported|adds?"
    r"|added|methods?|features?|such as|like|compar\w+|we|it|you|they)\b",
    re.IGNORECASE,
)


def _listed(text: str) -> re.Match[str] | None:
    """The part that is trained, as an item of a list of settings names it.

    >>> _listed("2 GPUs, DDP, bf16, QLoRA.")[1], _listed("a toolkit, llm, LoRA, qwen2")
    ('QLoRA', None)
    >>> _listed("We support bf16, LoRA, FSDP."), _listed("bf16, LoRA and full tuning")
    (None, None)
    """
    first = _LIST_OF_IT.match(text)
    if first and not _NO_LIST.search(text, 0, first.start(1)):
        return first
    alone = named(text) is not None and _NO_LIST.search(text) is None
    return _ITEM_OF_A_LIST.match(text) if alone else None


def named(text: str) -> str | None:
    """The adapters that a text names as what is trained; None where it names more than them.

    >>> named("Finetuning (LoRA)"), named("QLoRA r=8"), named("LoRA vs full"), named("Explora 2")
    ('LoRA', 'QLoRA', None, None)
    """
    if not _ADAPTERS.search(text):
        return None
    found = {match[0].casefold(): match[0] for match in _ADAPTERS.finditer(text)}
    if len(found) > 1:
        found.pop("peft", None)  # of which kind, another word says
    alone = len(found) == 1 and not _WHOLE.search(text) and not _BESIDE.search(text)
    return next(iter(found.values())) if alone else None


def whole(text: str) -> bool:
    """Whether a text says that all weights are tuned, and of no adapters.

    >>> whole("are full fine-tuning"), whole("use LoRA"), whole("full shards")
    (True, False, False)
    """
    return _ALL_TUNED.search(text) is not None and not _ADAPTERS.search(text)


def mark(record: Record) -> None:
    """Note in a row that it trains adapters, or what it generates, if a cell or column says so."""
    texts = [(name, cell.text) for name, cell in record.cells.items() if name in ("model", "notes")]
    if any(_REINFORCED.search(label) for label, _ in record.other):
        record.cells[FIELD] = Cell(REINFORCED, record.line, record.column)
        return
    for label, text in [*texts, *record.other]:
        held = named(text)
        if _WHOLE.search(text):
            continue
        if held is None and not _NONE.fullmatch(text) and (of_label := named(label)):
            law = "a column of adapters that is filled"
            record.cells[FIELD] = Cell(
                of_label, record.line, record.column, value_origin="solved", law=law
            )
            return
        if held:
            record.cells[FIELD] = Cell(held, record.line, record.column)
            if label == "model" and (name := _without_adapters(text)):
                record.cells["model"] = record.cells["model"]._replace(text=name)
            return


def _without_adapters(text: str) -> str | None:
    """The name of a model in front of the adapters that it was trained by, if it is nothing else.

    >>> _without_adapters("Llama-3.1-8B LoRA"), _without_adapters("Qwen2.5-7B (QLoRA fine-tuning)")
    ('Llama-3.1-8B', 'Qwen2.5-7B')
    >>> _without_adapters("LoRA"), _without_adapters("adapters of 8B")
    (None, None)
    """
    found = _TRAINED_BY.fullmatch(text.strip()) if len(text) <= LONGEST_LEAD else None
    return found[1] if found and model_named(found[1]) == found[1] else None


def trains_all(record: Record) -> bool:
    """Whether a row says that it trains every weight, or is one of pre-training."""
    texts = [cell.text for name, cell in record.cells.items() if name in ("model", "notes")]
    return any(_WHOLE.search(text) for text in [*texts, *(text for _, text in record.other)])


def _says_what_is_trained(line: Line) -> bool:
    """Whether a heading, a caption or a statement names adapters, or all weights."""
    if not (_ADAPTERS.search(line.text) or _WHOLE.search(line.text)):
        return False
    if line.text.rstrip(" *_").endswith((":", "：")) and _ALL_TUNED.search(line.text):
        return True
    stated = _STATED.search(line.text) or _listed(line.text) or _TYPED.search(line.text)
    return bool(_HEADING.match(line.text) or is_caption(line) or stated)


def _cell(line: Line) -> dict[str, Cell]:
    listed = _listed(line.text) or _TYPED.search(line.text)
    held = named(listed[1] if listed else line.text)
    at = (line.number, line.column)
    return {FIELD: Cell(held, *at, value_origin="stated")} if held else {}


def trained_below(note: Sequence[Line]) -> dict[str, Cell]:
    """The adapters that a note right below a table says all of its runs to train: `All runs are
    LoRA`, `QLoRA, batch size 2, one A100`."""
    for line in note:
        text = of_these_runs(line.text)
        if len(text) > LONGEST or _BESIDE_OTHERS.search(text) or not _ADAPTERS.search(text):
            continue
        for sentence in sentences(text):
            stated = _STATED.search(sentence) or _listed(sentence)
            if stated and (cell := _cell(line._replace(text=sentence))):
                return cell
    return {}


_BESIDE_OTHERS = re.compile(
    r"\b(?:same|then|also|instead|vs\.?|versus|than|while|whereas|rows?|marked|others?|except|but|for"
    r" (?:the )?[0-9]+B|respectively)\b",
    re.IGNORECASE,
)
"""Words by which a note is not of all rows over it, or of more than these."""


def nested(titles: Sequence[Line], heading: Line) -> list[Line]:
    """The headings a line stands under, once `heading` stands above it too."""
    return [each for each in titles if _depth(each) < _depth(heading)] + [heading]


def _depth(line: Line) -> int:
    found = _HEADING.match(line.text)
    return len(found[1]) if found else 7
