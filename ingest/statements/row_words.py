"""Settings that a row of a table says in words of its own: its labels, its remarks, its footnotes.

In: the records of tables, before anything around them is bound to them. Out: the same, with what
their words say. A setting that they speak of in words that are not understood is unknown: whatever
is said of all rows is not said of this one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from assay.ingest.columns.composite import sequence_switched
from assay.ingest.columns.number_formats import OF_A_PART
from assay.ingest.columns.row_texts import device_of, own_words, shares_nothing, spoken_in
from assay.ingest.columns.spoken_of import BATCHES, MACHINES
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.command_lines import command, overrides
from assay.ingest.statements.phrases import phrases
from assay.ingest.vocabulary.devices import SIGN, devices, only, signed
from assay.ingest.vocabulary.recomputation import how_much_named, how_much_told
from assay.ingest.vocabulary.sharding_names import sharding_labelled
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

_CHANGES = deferred(
    r"\b(?:no|not|without|w/o?|off|disabled?|remov\w+|drop\w*|from|to|vs\.?|than|instead|half|halv\w+"
    r"|doubl\w+|twice|up to|or|if|when|until|above|below|oom\w*|fail\w*|needs?|except|but|while"
    r"|faster|slower|better|worse|would|could|taken out|lost|replac\w+|swapp\w+|exclud\w+|missing"
    r"|drained|spare|dead|broken|fewer"
    r"|(?:nodes?|cards?|GPUs?|hosts?) (?:(?:is|are|was|were|went) )?down)\b"
    r"|->|→|=>|[<>≤≥~]|^\W*[-–—]\s?[A-Za-z]",
    re.IGNORECASE,
)
"""Words beside which a number is perhaps not that of the row."""

_FORCED = deferred(r"\b(?:had|has|have|needed|needs) to (?=be\b|use|run)", re.IGNORECASE)
"""Words of a row that ran otherwise than the rest because it must: `had to use a batch of 2`."""

_BUT_FOR_LAYERS = deferred(
    r"\b(?:except|but|apart|aside)(?: (?:for|in|from))? (?:the |both )?(?:(?:first|last|final|input"
    r"|output|top|bottom|and|or|the|two|few|[0-9]{1,2}|transformer|LM|attention)[ -]){0,8}"
    r"(?:layers?|blocks?|embeddings?|heads?|norms?|layer ?norms?|routers?|softmax)\b",
    re.IGNORECASE,
)
"""Parts of a model that have another format than all others, as is usual: the row has it still."""

_TELLS = deferred(
    r"\b(?:at|after|before|dies?|died|die|crash\w*|killed|hang\w*|hung|start\w*|steps?|iter\w*|epochs?"
    r"|is|was|are|were|see|same|like|this|that|only|about|around|max(?:ed|im\w*)?|largest|fits?"
    r"|spike\w*)\b",
    re.IGNORECASE,
)
"""Words of a remark in a cell that tells of a run, and does not set it: `dies at batch 37`."""

_IN_FORMAT = deferred(
    rf"\W*({NUMBER_FORMAT})(?=\W*$|\s*[(,;+&]|\s+(?:with|training|autocast|mixed|compute|recipe"
    r"|linears?|linear layers?|gemms?|mat-?muls?|(?:tensor|row|block)-?wise|per-tensor|delayed"
    r"|(?:current|dynamic|static|block) scaling)\b)",
    re.IGNORECASE,
)
"""A label that begins with the format that its row ran in: `fp8 (TE, hybrid)`."""

_ON_EACH = deferred(
    r"\W*(?:(?:with|at|only|just|here|ran|run|used|batch(?:es)?|of) )*([0-9]{1,4}) "
    r"(?:per|on each|to a) (?:GPU|device|accelerator|card|rank)(?: (?:fit(?:s|ted)?"
    r"|here|only|now|works|worked"
    r"|possible|in this (?:run|row|case)|instead))*\W*",
    re.IGNORECASE,
)
"""A remark that is how much each device took at once, and nothing else: `only 2 per GPU fitted`."""

SETTINGS = {
    "gpu", "gpus", "nodes", "gpus_per_node", "dtype", "seq_len", "tp", "pp", "dp", "cp", "ep", "vp",
    "micro_batch", "global_batch", "global_batch_tokens", "batch_size", "accumulation",
    "zero_stage", "sharding", "recompute", "activation_checkpointing", "attention",
    "sequence_parallel",
}  # fmt: skip
"""Fields that a row's own words settle; its model has columns of its own."""


SAME_FACT = {
    "nodes": ("gpus",), "gpus": ("nodes",),
    "model_size": ("parameters",), "parameters": ("model_size",),
    "recompute": ("activation_checkpointing",), "activation_checkpointing": ("recompute",),
}  # fmt: skip
"""A row that prints one of these needs no statement about the other."""


def settle(rows: Iterable[Record], adds_up: Callable[[int], bool]) -> None:
    """Fill in what the words of rows say of their settings; unknown is what they leave open.

    Rows come from the top down: `+ fp8` and, below it, `+ larger batch` both ran in fp8 where the
    document says so of the lines that `adds_up` does; else nobody knows of the second.
    """
    added: dict[str, Cell] = {}
    last, step = 0, -1
    rows = list(rows)
    saved = [row.line for row in rows if any(_SAVED.search(f"{n} {text}") for n, text in row.other)]
    plain = _plain(rows)
    for row in rows:
        if not row.tabled:
            continue
        labels = _labels(row)
        before, step = step, -1
        if len(labels) > 1 and _NUMBERED.fullmatch(labels[0]):
            step = int(_DIGITS.sub("", labels[0]) or -1)
            labels = labels[1:]  # `| 3 | + fused kernels |`
        climbs = before >= 0 and step == before + 1  # rows that are numbered are steps, perhaps
        goes_on = ADDS.match("".join(labels[:1])) is not None or any(
            _ADDED_UP.search(n) for n, _ in row.other
        )
        if not (goes_on or climbs or adds_up(row.line)) or row.line > last + FAR:
            added = {}
        last = row.line
        said = {
            **_turned(row, added),
            **_said(row),
            **_again(row, saved),
            **plain.get(row.line, {}),
        }
        for name, cell in {**added, **said}.items():
            if (other := _otherwise_said(name, cell, row)) and name in said:
                del row.cells[other]  # what explains a part of the label is not of all of it
            held = row.cells.get(name)
            if held is None or (held.value_origin == "stated" and held.line < row.line):
                row.cells[name] = cell
        if goes_on or adds_up(row.line) or (said and step >= 0):
            own = {
                name: cell for name, cell in row.cells.items()  # what stands over a column is of it
                if name in SETTINGS and cell.state == "value" and cell.line >= row.line
            }  # fmt: skip
            own = own if goes_on or adds_up(row.line) else {}
            kept = adds_up(row.line) and "outcome" not in row.cells  # who keeps what fails?
            added |= {
                name: cell._replace(value_origin="stated" if kept else cell.value_origin,
                                    state=cell.state if kept else "unknown")
                for name, cell in {**own, **said}.items()
            }  # fmt: skip


def _otherwise_said(name: str, cell: Cell, row: Record) -> str:
    """The field by which a row has been told the opposite of how much its words say it computes
    again: `FA2 + ckpt`, where `FA2` keeps all activations; empty where there is none."""
    if name not in ("recompute", "activation_checkpointing"):
        return ""
    (other,) = SAME_FACT[name]
    held = row.cells.get(other)
    if held is None or held.value_origin != "stated" or "value" not in (held.state, cell.state):
        return ""
    off = {each.text.casefold() in ("none", "false") for each in (held, cell)}
    return other if len(off) == 2 else ""


def _plain(rows: Sequence[Record]) -> dict[int, dict[str, Cell]]:
    """Settings off in rows that have nothing more than others of their table, by lines: `plain`,
    above `+ layers checkpointed`. Of what is added in an amount, `+ full recompute`, they may have
    another."""
    again = [
        row for row in rows if row.tabled
        for text in _labels(row)[:1]
        if ADDS.match(text) and not _AMOUNTS.search(text)
        and how_much_named(text.lstrip(_ADDING)) in ("full", "on")
    ]  # fmt: skip
    return {
        row.line: {"recompute": Cell("none", row.line, row.column, value_origin="stated")}
        for row in rows if row.tabled and any(map(_PLAIN.fullmatch, _labels(row)[:1]))
        and not {"recompute", "activation_checkpointing"} & row.cells.keys()
        and any(row.line < each.line <= row.line + FAR for each in again)
    } if again else {}  # fmt: skip


def _labels(row: Record) -> list[str]:
    """The name of a row, by its first columns."""
    return [text for label, text in row.other if label != "column"][:2]


def signs_of(row: Record) -> list[str]:
    """The number or the letter by which a text may speak of a row, and its first labels.

    >>> signs_of(Record(1, {}, other=[("cmd", "(2)"), ("lr", "2")]))
    ['#2']
    """
    return [
        sign_of(text) for label, text in row.other[:2]
        if label != "column" and (_SIGN.fullmatch(text) is None or _OF_SIGNS.fullmatch(label))
    ]  # fmt: skip


def sign_of(text: str) -> str:
    """A number or a letter that a row is called by, without what stands around it; other labels as
    they are."""
    found = _SIGN.fullmatch(_KINDS.sub("", text))
    return f"#{found[1].casefold()}" if found else text.strip(" *`")


_KINDS = re.compile(
    r"^[\s*_`]*(?:run|row|case|exp(?:eriment)?|config|command|job|set-?up)\.? ?"
    r"(?=[#(]?[0-9A-Za-z]{1,2}\W*$)",
    re.IGNORECASE,
)
"""Words in front of the number or the letter of a row: `Run 1`."""


_SIGN = re.compile(r"[\s*_`(\[#]*([0-9]{1,2}|[A-Za-z])[\s*_`)\].:]*")

_OF_SIGNS = re.compile(
    r"\W*(?:(?:id|no|nr|num|number|cmd|commands?|runs?|exp(?:eriment)?s?|conf(?:ig)?s?|configuration"
    r"|cases?|rows?|jobs?|lines?|set-?ups?|settings?|scripts?|variants?|tests?|trials?|layouts?|what"
    r"|which|编号|序号|实验|配置|番号)\b\W*){0,2}",
    re.IGNORECASE,
)
"""Labels of columns that hold what rows are called by."""

_PLAIN = re.compile(
    r"\W*(?:plain|vanilla|bare|nothing(?: (?:added|extra|more))?|none of (?:it|them|these))\W*",
    re.IGNORECASE,
)

_AMOUNTS = re.compile(r"\b(?:full|selective)\w*\b", re.IGNORECASE)

_NUMBERED = re.compile(r"\W*(?:[Ss]tep |#|[Vv])?[0-9]{1,2}(?:\.[0-9])?\W*|[(]?[A-Za-z][.)]?")
"""The number of a row, in front of its label."""

_DIGITS = re.compile(r"\..*|[^0-9]")

ADDS = deferred(
    r"\W*?(?:\+(?!\s*[0-9.,]+ ?(?:%|x|×)?\)?\s*$)|…|\.\.\.|&|↳|└|⊕"
    r"|\b(?:and|plus|then|also|additionally)\b)\s*\S",
    re.IGNORECASE,
)
"""A label of what its row has beside what the rows above it have: `+ fp8`, and no gain: `+16%`."""

_ADDED_UP = deferred(r"\bcumulativ|\bincremental|\baccumulated changes|累[积加计]", re.IGNORECASE)

FAR = 8
"""Lines between two rows of one table at most."""


_NUMBERED_DEVICE = deferred(
    rf"[\s*_`]*{SIGN}[-_ #.]{{1,2}}(?:run[-_ #]?)?[0-9]{{1,3}}[a-z]?[\s*_`]*"
)
"""The name of one of several runs on a device, which counts none: `h100-03`."""

_INSTANCE = deferred(
    r"[\s*_`]*(?:ml\.)?[a-z]{1,4}[0-9][a-z0-9-]{0,8}\.(?:[0-9]{0,3}x?large|metal)[\s*_`]*"
)
"""The name of a cloud's machine, which does not say how many of them: `p5.48xlarge`."""


def _said(record: Record) -> dict[str, Cell]:
    """Cells of what the words of a row say, but for fields that it prints."""
    found: dict[str, Cell] = {}
    sized = any(name in record.cells for name in BATCHES)
    device = device_of(record)
    for words in own_words(record):
        line = _of_its_device(_as_turned(words.line), record, device)
        own = words.own or (line.number == record.line and ADDS.match(line.text) is not None)
        outright = _outright(line)
        for name in outright.keys() - record.cells.keys():
            found.setdefault(name, outright[name])
        spoken = spoken_in(words, device) - (frozenset(BATCHES) if sized else frozenset())
        if _NUMBERED_DEVICE.fullmatch(signed(line.text)) or _INSTANCE.fullmatch(line.text):
            spoken -= frozenset(MACHINES) - {"gpu"}
        if not spoken:
            continue
        held = sized or record.alike is not None
        if own and not held and (each := _ON_EACH.fullmatch(line.text)):
            cell = Cell(each[1], line.number, line.column + each.start(1), value_origin="stated")
            found.setdefault("micro_batch", cell)
        for part in _parts(line) if own and record.alike is None else ():
            if _CHANGES.search(_BUT_FOR_LAYERS.sub(" ", _FORCED.sub(" ", part.text))):
                continue
            if line.number == record.line and _TELLS.search(part.text):
                continue
            for name, cell in _as_a_whole(_understood(part), line).items():
                if line.number != record.line:
                    cell = cell._replace(value_origin="stated")  # noqa: PLW2901
                    _forget_vague(found, name, record.line)
                apart = line.number != record.line and shares_nothing(record, name)
                if name not in record.cells and not (apart or (sized and name in BATCHES)):
                    found.setdefault(name, cell)
        named = only(line.text) if "gpu" in spoken else None
        spoken -= {other for name in found for other in SAME_FACT.get(name, ())}
        for name in spoken - record.cells.keys() - found.keys():
            text = named.text.partition(".")[0] if named and name == "gpu" else line.text
            found[name] = Cell(text, line.number, line.column, state="unknown")
    return found


def _as_a_whole(told: dict[str, Cell], line: Line) -> dict[str, Cell]:
    """Settings of a part of a line, devices and nodes as the whole of it counts them: `4 nodes, 8
    GPUs each`, `8xH100, 2 nodes`."""
    counted = told.keys() & _COUNTS
    if not counted or len(line.text) > LONGEST_LABEL:
        return told
    whole = phrases(line, least=1)
    if "nodes" not in whole:
        return told
    rest = {name: cell for name, cell in told.items() if name not in counted}
    return rest | {name: whole[name] for name in _COUNTS if name in whole}


_COUNTS = frozenset({"gpus", "nodes", "gpus_per_node"})


def _forget_vague(found: dict[str, Cell], name: str, line: int) -> None:
    """Leave out a setting that a row only hints at, where its footnote says it: `low precision¹`"""
    held = found.get(name)
    if held is not None and held.state == "unknown" and held.line == line:
        del found[name]


def _of_its_device(line: Line, record: Record, device: str) -> Line:
    """A note with blanks for the device that it is about, where that is the one of its row: `fp16
    on the V100.` It says nothing of that."""
    named = only(line.text) if device and line.number != record.line else None
    if named is None or named.key not in {each.key for each in devices(device)}:
        return line
    begin = _ON_IT.search(line.text, 0, named.start)
    if begin is None:
        return line
    head, rest = line.text[: begin.start()], line.text[named.end :].lstrip("s")
    return line._replace(text=head + rest.rjust(len(line.text) - len(head)))


_ON_IT = deferred(r" (?:on|for|with) (?:(?:the|our|all|this|that) )*$", re.IGNORECASE)


def _again(record: Record, saved: Sequence[int]) -> dict[str, Cell]:
    """How much a row computes again, where a part of its label is nothing but that: `no
    checkpointing`, `FP8, full recompute`; unknown near rows, `saved`, that speak of weights."""
    if {"recompute", "activation_checkpointing"} & record.cells.keys():
        return {}
    said = {
        much: part for words in own_words(record) for part in _parts(words.line)
        if (words.own or words.line.number == record.line)
        and (much := how_much_named(part.text.strip(_ADDING)))
    }  # fmt: skip
    if len(said) != 1:
        return {}
    ((much, part),) = said.items()
    if any(abs(line - record.line) <= FAR for line in saved):
        return {"recompute": Cell(part.text, part.number, part.column, state="unknown")}
    name, text = ("activation_checkpointing", "True") if much == "on" else ("recompute", much)
    return {name: Cell(text, part.number, part.column, value_origin="stated")}


_ADDING = " +&↳└⊕….。"
"""Signs in front of what a row has beside what the rows above it have, and at the end of a note."""

_SAVED = deferred(
    r"\b(?:check-?point|ckpt)\w*\b[^|]{0,40}?"
    r"\b(?:a?sync\w*|sav(?:e[sd]?|ing)|every [0-9]{2,}|to (?:disk|NVMe|S3|Lustre)|intervals?|min)\b"
    r"|\b(?:a?sync\w*|sav(?:e[sd]?|ing)|distributed|weights) (?:check-?point|ckpt)",
    re.IGNORECASE,
)
"""Labels of tables on weights that are saved, whose `no checkpointing` is of these."""


def _outright(line: Line) -> dict[str, Cell]:
    """Values that a label says in a form of its own wherever it stands: options of a command,
    and the parts of the model that a rank has: `Interleaved, 2 chunks`."""
    told = command(line) if "--" in line.text else overrides(line)
    found = {name: cell for name, cell in told.items() if name in SETTINGS or name == "model"}
    if chunks := _CHUNKS.fullmatch(line.text):
        at = next(n for n in (1, 2) if chunks[n])
        found["vp"] = Cell(chunks[at], line.number, line.column + chunks.start(at))
    if shared := sharding_labelled(line.text):
        found.setdefault("sharding", Cell(shared[0], line.number, line.column + shared[1]))
    for part in _parts(line) if "SP" in line.text else ():
        if switch := sequence_switched(part.text.strip(_ADDING)):
            found["sequence_parallel"] = Cell(switch, part.number, part.column)
    if len(marks := list(_AGAIN_MARKED.finditer(line.text))) == 1:
        at = line.column + marks[0].start()
        if marks[0]["not"]:
            found.setdefault("recompute", Cell("none", line.number, at))
        elif not {"recompute", "activation_checkpointing"} & found.keys():
            found["activation_checkpointing"] = Cell("True", line.number, at)
    return found


_AGAIN_MARKED = deferred(
    r"(?<=\w) ?[(\[,](?: ?(?:with|w/|\+))? ?(?:(?P<not>no|without|w/o|-) ?)?"
    r"(?:(?:grad|act)[. -]?)?(?:ckpt(?:ing)?|(?-i:AC)|remat|checkpointing|recomp(?:ut(?:e|ation))?)"
    r"(?: (?:on|enabled))? ?(?=[)\],]|$)",
    re.IGNORECASE,
)
"""A mark on what a row is called, on whether its activations are computed again: `L/14 (ckpt)`."""


_CHUNKS = deferred(
    r"(?:[^0-9]|1F1B){0,24}interleav(?:ed|ing)[\w ]{0,24}[,(:]? ?(?:with )?([0-9]{1,2}) "
    r"(?:(?:model |virtual )?chunks|virtual (?:pipeline )?stages|stages per (?:rank|device|GPU))"
    r"(?: per (?:rank|stage|device|GPU))?\)?"
    r"|(?:[^0-9]|1F1B){0,24}interleav(?:ed|ing)[\w ]{0,24}[,(] ?(?:with )?(?:v|vp|vpp) ?= ?"
    r"([0-9]{1,2})\)?",
    re.IGNORECASE,
)
"""A label of a schedule of a pipeline, and how many parts of the model each rank has."""

_TURNED = deferred(
    r"(?P<old>(?:from )?(?:(?<![\w.,])[0-9][0-9,]*[kK]?|\b(?:full|selective|none|no)\b"
    rf"|(?<![\w-]){NUMBER_FORMAT}|ZeRO-[0-3]|(?:完全|全量?|选择性)(?:激活)?重计算))"
    r"\s?(?:→|->|=>|⇒|➔|改为|改成|换成|换为|变为|提高到|增大到|增加到|降到|减小到"
    r"|(?<=from [0-9]{1}) to|(?<=from [0-9]{2}) to)\s?(?=[\w*`])",
    re.IGNORECASE,
)
"""A value that a row turns into another one: `micro batch 1 → 2`, `full → selective recompute`."""


def _as_turned(line: Line) -> Line:
    """A label with blanks for values that are others in its row, where it has one of them."""
    if len(line.text) <= LONGEST_LABEL and (instead := _INSTEAD.search(line.text)):
        behind = line.text[instead.end() :]  # it stands beside the words that say what it is
        beside = str.rjust if behind.lstrip()[:1].isalnum() else str.ljust
        kept = beside(instead["new"], len(instead[0]))
        return line._replace(text=line.text[: instead.start()] + kept + behind)
    found = list(_TURNED.finditer(line.text)) if len(line.text) <= LONGEST_LABEL else []
    if len(found) != 1:
        return line
    begin, end = found[0].span()
    return line._replace(text=line.text[:begin] + " " * (end - begin) + line.text[end:])


def _turned(row: Record, added: dict[str, Cell]) -> dict[str, Cell]:
    """Settings of rows above that a row turns into another value without naming them: `selective
    instead of full`, `full -> selective` where they were computed again in full."""
    found: dict[str, Cell] = {}
    for words in own_words(row) if added else ():
        if told := _INSTEAD.search(words.line.text) or _TO_ANOTHER.search(words.line.text):
            new = Cell(told["new"], row.line, row.column, value_origin="stated")
            old = told["old"].casefold()
            found |= {name: new for name, cell in added.items() if cell.text.casefold() == old}
        if "recompute" in added.keys() - found.keys() and _AN_AMOUNT.search(words.line.text):
            found["recompute"] = Cell(words.line.text, row.line, row.column, state="unknown")
    return found


_AN_AMOUNT = deferred(r"\b(?:selective(?:ly)?|checkpoint\w*|ckpt|remat\w*)\b", re.IGNORECASE)
"""Words of how much is computed again: where they are not understood, it may be another amount."""


_TO_ANOTHER = deferred(
    rf"(?P<old>\b(?:full|selective|none|{NUMBER_FORMAT}))\s?(?:→|->|=>|⇒|➔)\s?"
    rf"(?P<new>full|selective|none|{NUMBER_FORMAT})(?![\w.-])",
    re.IGNORECASE,
)

_INSTEAD = deferred(
    rf"(?P<new>\b(?:full|selective|no|without|{NUMBER_FORMAT}|ZeRO-[0-3]|[0-9][0-9,]*[kK]?))"
    r" (?:instead of|rather than|in place of|in lieu of) (?:the )?"
    rf"(?P<old>full|selective|none|no|{NUMBER_FORMAT}|ZeRO-[0-3]|[0-9][0-9,]*[kK]?)(?![\w-]|\.\w)",
    re.IGNORECASE,
)
"""A value, and the one that a row has not: `selective instead of full recomputation`."""

LONGEST_LABEL = 80
"""Letters of a text that is the label of a row."""


def _parts(line: Line) -> Iterator[Line]:
    """The parts of a text between its commas, each of which may say a setting; degrees of a layout
    are one, which tell what each of them is: `mp=4, pp=2`."""
    begin = since = 0
    for end in _COMMA.finditer(line.text):
        degree = _DEGREE.fullmatch(line.text, since, end.start())
        since = end.end()
        if degree and _DEGREE.match(line.text, since):
            continue
        yield line._replace(text=line.text[begin : end.start()], column=line.column + begin)
        begin = end.end()


_DEGREE = deferred(r"(?:TP|MP|PP|DP|CP|EP|SP|VPP?) ?[=:] ?[0-9]{1,4}\b", re.IGNORECASE)
"""A degree of a layout: `mp=4`."""

_COMMA = deferred(r"[,;，；、](?:\s+|(?=[^\d\s]))|$")


def _understood(line: Line) -> dict[str, Cell]:
    found = {name: cell for name, cell in phrases(line, least=1).items() if name in SETTINGS}
    if "gpu" in found and (device := only(found["gpu"].text)):
        found["gpu"] = found["gpu"]._replace(text=device.text)
    if not {"recompute", "activation_checkpointing"} & found.keys() and not line.text.isascii():
        much = how_much_told(line.text)
        name, text = ("activation_checkpointing", "True") if much == "on" else ("recompute", much)
        found |= {name: Cell(text, line.number, line.column)} if text else {}
    if "dtype" not in found and (kind := _IN_FORMAT.match(line.text) or _in_brackets(line.text)):
        found["dtype"] = Cell(kind[1], line.number, line.column + kind.start(1))
    return found


_FORMAT_BEHIND = deferred(rf"[^()\[\]]*\w[^()\[\]]*[(\[]({NUMBER_FORMAT})(?:[)\]]\s*)?")

_OF_GRADIENTS = deferred(
    r"\bgrad(?:ient)?s?\.? (?:accumulation|checkpointing)|\bactivation checkpointing", re.IGNORECASE
)

_OF_ONE_PART = deferred(
    r"\b(?:\w*adam\w*|lamb|lion|muon|adafactor|sgd|attn|attention|kernels?|gemms?|kv|rope|scores?"
    r"|experts?|dispatch|gather|scatter|comms?|collectives?)\b",
    re.IGNORECASE,
)


def _in_brackets(text: str) -> re.Match[str] | None:
    """The format in brackets behind what a row is called, where that is no part of a run: `Vanilla
    training (fp32)`."""
    found = _FORMAT_BEHIND.fullmatch(text)
    before = _OF_GRADIENTS.sub(" ", text[: found.start(1)]) if found else ""
    return None if OF_A_PART.search(before) or _OF_ONE_PART.search(before) else found
