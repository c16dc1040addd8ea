"""Calls of kernels that a benchmark prints one by one, in lines of its own words.

In: the lines of a document and the kind of table. Out: one record per measurement. What was called
stands as `name=value` in the line itself (`(m=64, n=2112, k=7168): 4 us | 484 TFLOPS`) or in a line
above those of several kernels (`### headdim=128, seqlen=8192 ###`), or as `name:value` as ck_tile's
examples write it (`s:512/256` are queries and keys); device and number format stand in the lines
before. A line with two times that nothing tells apart is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from assay.ingest.columns.titles import device_named, format_named
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.kernels.kernel_headings import LIBRARIES, names_operator
from assay.ingest.kernels.settings_around import (
    OF_ATTENTION,
    format_said,
    letters_of_attention,
    of_own_calls,
)
from assay.ingest.numbers.printed import whole
from assay.ingest.schema.fields import FieldSpec, by_label, fields
from assay.ingest.schema.format import Folded
from assay.ingest.schema.record import Cell, Line, Record, Schema
from assay.ingest.schema.terminals import deferred
from assay.ingest.tables.csv_sections import CsvTable, timed
from assay.ingest.vocabulary.devices import several
from assay.ingest.vocabulary.terms import normalise

_PAIR = deferred(
    r"(?<![\w.])([A-Za-z][A-Za-z_]*) ?= {0,8}([0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[A-Za-z0-9_]+)"
    r"(?![\w.]*\()(?!,[0-9])(?! ?[x×*/] ?[0-9])"
)

_GOES_ON = deferred(r"\b(?:fwd|bwd|forward|backward|OOM|out of memory|nan)\b", re.IGNORECASE)
"""Found in a line below settings that measures nothing, and after which others still do."""

_SIZES = {
    "m": deferred(r"(?<![\w.])[mM] ?(?:= ?[nN] ?= ?[kK] ?)?[=:] *[0-9]"),
    "seq": deferred(
        r"(?<![\w.])(?:n_ctx|seq[a-z_]*) ?= *[0-9]|, s:[0-9]+/[0-9]+, d:[0-9]"
        r"|(?<![\w.])[hsnlt] ?= ?[0-9]+[, /]{1,2}[hsnlt] ?= ?[0-9]+[, /]{1,2}d ?= ?[0-9]",
        re.IGNORECASE,
    ),
}
"""Found where a call of a kind of table is named, by a size that no such call is without."""

_FLOPS = r"[TGP](?:FLOPS|FLOPs|Flops|FLOP/s|FLOPs/s|FLOPS/s|flops|flop/s)"

_MEASURED = deferred(
    r"(?<![\w.,])([0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?) ?"
    rf"(ms|us|µs|usec|msec|ns|sec|{_FLOPS})(?![\w/])(?! ?[:=] ?[0-9])"
    rf"|(?<![\w.])({_FLOPS}) ?[:=] {{0,4}}([0-9]+(?:\.[0-9]+)?)(?![\w.]|,[0-9])"
)
"""A number in front of its unit, or a rate behind it."""

_RATES = {"G": 1e9, "T": 1e12, "P": 1e15}

_DIRECTION = deferred(
    r"(?<![A-Za-z])(fwd ?\+ ?bwd|forward ?\+ ?backward|fwd|bwd|forward|backward)(?![A-Za-z])"
)

_PASS = deferred(
    r"(?<![\w.-])(fwd(?: ?\+ ?|_?)bwd|forward(?: ?\+ ?|_)backward|fwd|bwd|forward|backward)"
    r"(?![\w-]|['\"`]? ?=)",
    re.IGNORECASE,
)
"""The pass that a line of settings names, and no switch: `mode = 'fwd'`, no `backward=False`."""

_NOT = deferred(r"\b(?:no|not|without|skip\w*|excl\w*) ", re.IGNORECASE)

_ASIDE = deferred(r"\([^()=]*\)")

_OF_NO_CALL = deferred(
    r"[0-9] ?(?:[mun]s|µs|[mu]?sec) (?:of|to|faster|slower|more|less|later|longer|ago|for the)\b"
    r"|^[\s>*#\[-]{0,8}(?:total|set-?up|init\w*|warm-?up|compil(?:ing|ation)|build\w*|load\w*|overall|elapsed"
    r"|sum|copy|host|h2d|d2h|verif\w*|check\w*|launch\w*)\b",
    re.IGNORECASE,
)
"""Found in a line below settings that is a sentence, or of something else than their call."""

_IS_A_RATE = deferred(rf"\( ?[0-9][0-9,.]{{0,12}} ?{_FLOPS} ?\)")
"""Nothing but a rate in brackets, behind the time that it follows from."""

_IS_A_TIME = deferred(r"\( ?[0-9][0-9,.]{0,12} ?(?:ms|us|µs|usec|msec|ns) ?\)")

_BRACKETED = deferred(r"\s*\(([A-Za-z][\w.+-]*(?:\(\w+\)[\w.+-]*)?)\):")
"""The name of a kernel in brackets, in front of all that is said of it."""

_NAME = deferred(r"[\s>*#-]*([A-Za-z][\w.+-]*(?: [\w.+\[\]-]+){0,2}?)\s*"
                 r"(?:\(|:|$|(?<=\s\s)(?=(?:[A-Za-z]{1,8} ?= ?){1,3}[0-9]))")  # fmt: skip

_NO_NAME = {"time", "throughput", "performance", "perf", "latency", "average", "avg", "mean",
            "median", "result", "elapsed", "duration", "tflops", "speed", "execution",
            "bandwidth", "memory", "runtime"}  # fmt: skip

_WIDTH = deferred(r"\bdim(?:ension)? ?[=:]? ?([0-9]+)\b")
"""Heads times the size of each, which a benchmark of attention may hold constant."""

_GROUPED = deferred(r"\b(?:num_)?groups? ?=|_per_group ?=|\bexperts? ?=")
"""Settings of calls that are many products, of sizes that a line does not say."""

_DECODES = deferred(r"(?<![A-Za-z])decod(?:e|ing)(?![A-Za-z])", re.IGNORECASE)

_TITLED = deferred(r"\s*(?:[$#>]|python3? |={2}|-{2}).*[A-Za-z]")
"""Beginning of a command, or of a title."""

_OF_A_TABLE = deferred(r"\s*(?:\S{1,40}\s+)?[0-9][0-9.,]*(?:\s+[0-9][0-9.,]*){2,40}\s*")
"""A row of numbers, behind a name perhaps."""

SHORT = 160
"""Characters of a line that names the machine of what follows, and is no sentence about others."""


@dataclass
class _Told:
    """Facts of the calls below, that the lines so far say."""

    facts: dict[str, Cell] = field(default_factory=dict)
    call: dict[str, Cell] = field(default_factory=dict)  # of the last line of settings
    at: Line | None = None  # that line
    width: int = 0
    decoding: bool = False  # tokens one by one, as a title or a command says


def printed_calls(lines: Sequence[Line], table: CsvTable, folded: Folded) -> None:
    """Put every call that a line prints with its time or rate into `folded`."""
    named = next(sign for name, sign in _SIZES.items() if name in fields(table.schema))
    if not any(named.search(line.text) for line in lines if len(line.text) <= LONGEST):
        return
    told = _Told()
    wanted = frozenset[str]().union(*(need for need in table.needs))
    sizes = wanted - {"time", "flops_rate"}
    for line in lines:
        if line.number in folded.claimed or len(line.text) > LONGEST:
            continue
        said = dict(_pairs(line, table.schema)) if "=" in line.text else {}
        said = _letters(line, table.schema) | _of_a_product(line, table.schema) | said
        said = said or _of_ck_tile(line, table.schema)
        grouped = bool(said) and _GROUPED.search(line.text) is not None
        measured = [*_segments(line, table.schema)]
        if (told.decoding or _DECODES.search(line.text)) and "kv_heads" in fields(table.schema):
            grouped = True  # of one query beside a context
        if said.keys() & sizes and not measured:
            said |= _pass(line) if "direction" in fields(table.schema) else {}
            told.call, told.at = ({} if grouped or not _plain(line) else said), line
            continue
        if not measured:
            if line.text.strip() and not _GOES_ON.search(line.text) and not _rules_off(line, told):
                told.call = {}
            _take_in(told, line, table.schema)
            continue
        call = said if said.keys() & sizes else told.call | said
        if (
            grouped
            or not _whole(call, table)
            or (call is not said and _OF_NO_CALL.search(line.text))
        ):
            continue
        shared = {**told.facts, **_format(line, table.schema), **_heads(told, call), **call}
        records = [
            Record(
                line.number,
                {**shared, **_of_its_name(own, shared, table.schema), **own},
                line.column,
                prefix=line.prefix,
            )
            for own in measured
            if any(float(own[name].text) for name in _SPEEDS if name in own)
        ]
        folded.records += records
        (folded.claimed if records else folded.blank).add(line.number)
        if told.at is not None and call is not said:
            folded.claimed.add(told.at.number)


_STEP = deferred(
    r"(?P<name>[A-Za-z_]{1,16}) ?[=:] {0,8}(?P<size>[0-9]{1,7}[kK]?|True|False)(?![\w.])"
    r"|(?:(?P<pass>fwd ?\+ ?bwd|forward ?\+ ?backward|fwd|bwd|forward|backward)(?: time)?"
    r"(?:[:=]| ?[:=]?(?= )))? {0,12}"
    rf"(?:(?P<number>[0-9]{{1,9}}(?:\.[0-9]{{1,9}})?) ?(?P<unit>ms|us|µs|usec|msec|{_FLOPS})"
    r"(?![\w/])|(?P<end>OOM|oom|out of memory|n/?a|-{1,3}|fail(?:ed)?)(?!\w))"
)
"""A setting, or a measurement of a pass: `S= 1024`, `fwd    0.132 ms`, `bwd OOM`."""

_WHO_FIRST = deferred(
    r"\s{0,8}[\[(]?(?P<who>[A-Za-z][\w.+-]{0,30}(?: [A-Za-z(][\w.+()-]{0,20}){0,3})?"
    r"[\])]?[ :,|]{1,12}(?=[A-Za-z_]{1,16} ?[=:])"
)
"""Who computed, in front of settings."""

_APART = " ,;|/\t"


def printed_passes(lines: Sequence[Line]) -> Iterator[Grid]:
    """A grid for each run of lines that a loop over settings prints, who computed perhaps, what was
    called and the times or rates of its passes: `flash  S= 1024  fwd 0.132 ms   bwd 0.412 ms`."""
    run, begin = list[_Printed](), 0
    for at, line in enumerate(lines):
        told = _printed(line)
        if run and (told is None or told.keys() != run[0].keys()):
            yield from _run(lines, begin, run)
            run = []
        if told is not None:
            begin = begin if run else at
            run.append(told)
    yield from _run(lines, begin, run)


class _Printed(NamedTuple):
    """Who computed, settings by name and measurements by pass and unit of one line."""

    who: GridCell
    settings: dict[str, GridCell]
    measured: dict[tuple[str, str], GridCell]

    def keys(self) -> tuple[bool, tuple[str, ...]]:
        """Whether someone is named, and the names of the settings: alike in all lines of a run."""
        return bool(self.who.text), tuple(self.settings)


def _printed(line: Line) -> _Printed | None:
    """The parts of a line that holds nothing else; None of any other."""
    text = line.text.rstrip()
    if not 0 < len(text) <= SHORT or not ("=" in text or ":" in text):
        return None
    first = _WHO_FIRST.match(text)
    at = first.end() if first else 0
    who = GridCell((first["who"] or "") if first else "", line.number, line.column)
    settings, measured = dict[str, GridCell](), dict[tuple[str, str], GridCell]()
    while at < len(text):
        if text[at] in _APART:
            at += 1
            continue
        step = _STEP.match(text, at)
        if step is None or step.end() == at:
            return None
        key = step["pass"] or "", step["unit"] or ""
        group = "size" if step["name"] else "number" if step["number"] else "end"
        cell = GridCell(step[group], line.number, line.column + step.start(group))
        if step["name"] in settings or (not step["name"] and key in measured):
            return None
        if step["name"] and measured:
            return None  # settings of another call
        if step["name"]:
            settings[step["name"]] = cell
        else:
            measured[key] = cell
        at = step.end()
    return _Printed(who, settings, _of_their_pass(measured)) if settings and measured else None


def _of_their_pass(measured: dict[tuple[str, str], GridCell]) -> dict[tuple[str, str], GridCell]:
    """The measurements of a line with those that name no pass as of its one pass:
    `fwd 0.62 ms 430 TFLOPS`."""
    passes = {word for word, _ in measured if word}
    if len(passes) != 1 or not next(iter(measured))[0]:
        return measured
    word = passes.pop()
    return {(word, unit): cell for (_, unit), cell in measured.items()}


def _run(lines: Sequence[Line], begin: int, run: Sequence[_Printed]) -> Iterator[Grid]:
    """The grid of some such lines; none of a single one, nor of heads, whose calls say all that
    they are of."""
    names = {OF_ATTENTION.get(normalise(name), "") for name in run[0].settings} if run else set()
    keys = list(dict.fromkeys(key for each in run for key in each.measured if key[1]))
    if len(run) < TWO or {"heads", "head_dim"} & names or not keys:
        return
    units = dict(keys)
    if len(units) < len(keys) and any(not unit for each in run for _, unit in each.measured):
        return
    called = bool(run[0].who.text)
    of_operators = called and all(names_operator(each.who.text) for each in run)
    front = ["operator" if of_operators else "implementation"] if called else []
    labels = [
        *front,
        *run[0].settings,
        *(f"{word or _BARE[u[1:] == 's']} ({u})" for word, u in keys),
    ]
    line = lines[begin]
    rows = []
    for place, each in enumerate(run):
        own = lines[begin + place]
        blank = GridCell("", own.number, own.column)
        said = (each.measured.get(key) or each.measured.get((key[0], ""), blank) for key in keys)
        rows.append(GridRow(own, (*([each.who] if called else []), *each.settings.values(), *said)))
    head = GridRow(line, tuple(GridCell(label, line.number, line.column) for label in labels))
    yield Grid("text", begin, begin + len(run), (head,), tuple(rows), exact=False)


TWO = 2

_BARE = {True: "time", False: "throughput"}

_SPEEDS = ("time", "flops_rate")


def _rules_off(line: Line, told: _Told) -> bool:
    """Whether a line is the rule right below a line of settings."""
    below = told.at is not None and line.number == told.at.number + 1
    return below and not line.text.strip("-=*# ")


MOST_WORDS = 3
"""Words beside its settings of a line that ends with a full stop and is no sentence."""


def _plain(line: Line) -> bool:
    """Whether a line is made of its settings, and is no sentence that mentions some."""
    if _OPENS.fullmatch(line.text):
        return True
    rest = _PAIR.sub("", _OF_A_PRODUCT.sub("", line.text))
    if line.text.rstrip().endswith(".") and len(rest.split()) > MOST_WORDS:
        return False
    return sum(c.isalpha() for c in rest) <= sum(len(m[0]) for m in _PAIR.finditer(line.text))


_SET = r"[\[(]?[A-Za-z_]{1,16} ?[=:] ?[\w.]{1,16}[\])]?"

_OPENS = deferred(
    r"[\s>*#=\[(-]{0,12}(?:now )?(?:running|run|benchmark(?:ing|s)?|test(?:ing|s)?|profil(?:e|ing)"
    r"|timing|measuring|evaluating|problem|case|config(?:uration)?|shape|gemm|mat-?mul|attention)\b"
    r"(?: [A-Za-z][\w.-]{0,24}){0,5}[ :([-]{1,4}"
    rf"{_SET}(?:[ ,;]{{1,3}}{_SET}){{1,11}}[\s:.)\]=*#-]{{0,12}}",
    re.IGNORECASE,
)
"""A line that says what is run below it, with the settings of that at its end:
`Running GEMM benchmarks with M=64, N=128, K=256`."""


def _whole(call: Mapping[str, Cell], table: CsvTable) -> bool:
    """Whether a call says its sizes; of attention, sizes of heads stand for how many they are."""
    held = {*call, *_SPEEDS} | ({"heads"} if "head_dim" in call else set())
    return all(held & need for need in table.needs)


def _pairs(line: Line, schema: Schema) -> Iterator[tuple[str, Cell]]:
    """The fields that a line gives as `name=value`, each said once."""
    known = _settings(schema)
    found = [(m, known.get(normalise(m[1]))) for m in _PAIR.finditer(line.text)]
    held = [(m, spec) for m, spec in found if spec is not None]
    names = [spec.name for _, spec in held]
    for match, spec in held:
        text = match[2].replace(",", "")
        if names.count(spec.name) == 1 and (not spec.numeric or _counts(text)):
            yield spec.name, Cell(text, line.number, line.column + match.start(2))


def _letters(line: Line, schema: Schema) -> dict[str, Cell]:
    """The sizes of attention that letters which stand together say: `B=2 H=32 S=4096 D=128`."""
    if "kv_heads" not in fields(schema) or line.text.count("=") < len("hsd"):
        return {}
    told = letters_of_attention(line.text)
    return {name: Cell(size, line.number, line.column) for name, size in told.items()}


_OF_A_PRODUCT = deferred(
    r"(?<![\w.=])[mM] ?= ?[nN] ?= ?[kK] ?[=:] ?(?P<all>[0-9]{1,7})(?![\w.]|,[0-9])"
    r"|(?<![\w.])[mM] ?: ?(?P<m>[0-9]{1,7})[,;| ]{1,3}[nN] ?: ?(?P<n>[0-9]{1,7})[,;| ]{1,3}"
    r"[kK] ?: ?(?P<k>[0-9]{1,7})(?![\w.])"
)
"""Sizes of a product in other ways than as pairs: `M=N=K=2048`, `M: 64, N: 32, K: 16`."""


def _of_a_product(line: Line, schema: Schema) -> dict[str, Cell]:
    """The sizes of the one product that a line says so; of any other line none."""
    found = [*_OF_A_PRODUCT.finditer(line.text)] if "m" in fields(schema) else []
    if len(found) != 1:
        return {}
    place = line.column + found[0].start()
    return {n: Cell(found[0]["all"] or found[0][n], line.number, place) for n in "mnk"}


_CK_TILE = deferred(
    r"\[(?:fp|bf)[0-9a-z]+\|batch\|[a-z]+\] b:(?P<batch>[0-9]+),"
    r" h:(?P<heads>[0-9]+)/(?P<kv_heads>[0-9]+),"
    r" s:(?P<seq>[0-9]+)/(?P<kv_seq>[0-9]+), d:(?P<head_dim>[0-9]+)/(?P=head_dim),"
    r"(?: [a-z_]+:[^\s,]*,)* mask:(?P<mask>n|[tb](?:\(-1:0\))?)(?=[,\s])"
)
"""A call of ck_tile's example `fmha`: heads and lengths of queries and of keys, sizes of heads.

Source: example/ck_tile/01_fmha of composable_kernel: `mask:n` is none, `t` and `b` are causal from
one corner or the other, with a window behind them unless that is open; `dbias` is of the backward.
"""


def _of_ck_tile(line: Line, schema: Schema) -> dict[str, Cell]:
    """The fields of a call of ck_tile's attention; of any other line none."""
    found = _CK_TILE.match(line.text) if "kv_heads" in fields(schema) else None
    if found is None:
        return {}
    said = {
        name: Cell(text, line.number, line.column + found.start(name))
        for name, text in found.groupdict().items()
    }
    mask = said.pop("mask")
    said["causal"] = mask._replace(text=str(mask.text != "n"))
    word = "bwd" if " dbias:" in found[0] else "fwd"
    law = "ck_tile prints `dbias` of backward passes alone"
    return said | {"direction": mask._replace(text=word, value_origin="solved", law=law)}


def _pass(line: Line) -> dict[str, Cell]:
    """The one pass that a line of settings names of all calls below it."""
    found = [*_PASS.finditer(line.text)]
    if len(found) != 1 or _NOT.search(line.text):
        return {}
    return {"direction": Cell(found[0][1], line.number, line.column + found[0].start(1))}


def _counts(text: str) -> bool:
    """Whether a text is a whole number above none."""
    return text.isdecimal() and text.strip("0") != ""


@cache
def _settings(schema: Schema) -> dict[str, FieldSpec]:
    """Label → column of what a call was made with; `name` and `op` are no kernel here."""
    return {
        label: spec for label, (spec, _) in by_label(schema).items()
        if spec.quantity is None and spec.name not in ("kernel", "direction", "gpu")
    }  # fmt: skip


def _outside(line: Line, numbers: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The measurements of a line outside brackets, and those that are all of some: rates, or times
    behind a rate where no time stands outside."""
    brackets = [*_ASIDE.finditer(line.text)]
    free = [m for m in numbers if not any(a.start() <= m.start() < a.end() for a in brackets)]
    rated_alone = bool(free) and all(_measure(m[2] or m[3])[0] == "flops_rate" for m in free)
    aside = [m.span() for m in brackets
             if not _IS_A_RATE.fullmatch(m[0])
             and not (rated_alone and _IS_A_TIME.fullmatch(m[0]))]  # fmt: skip
    return [m for m in numbers if not any(a <= m.start() < b for a, b in aside)
            and not line.text[: m.start()].rstrip().endswith("launch")]  # fmt: skip


def _segments(line: Line, schema: Schema) -> Iterator[dict[str, Cell]]:
    """The measurements of a line, those of one direction together; none of one with two times."""
    if not (numbers := [*_MEASURED.finditer(line.text)]):
        return
    numbers = _outside(line, numbers)
    if not numbers:
        return
    columns = fields(schema)
    marks = [*_DIRECTION.finditer(line.text)] if "direction" in columns else []
    kernel = _kernel(line, [*numbers[:1], *marks[:1]])
    if not marks and (beside := _beside(line, numbers)):
        yield from beside
        return
    begins = [m.start() for m in marks] or [0]
    ends = [*begins[1:], len(line.text)]
    for at, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        own: dict[str, Cell] = {}
        inside = [m for m in numbers if begin <= m.start() < end]
        for number in inside:
            unit, group = number[2] or number[3], 1 if number[2] else 4
            name, scale = _measure(unit)
            text = number[group].replace(",", "")
            own[name] = Cell(text, line.number, line.column + number.start(group), scale)
        if own and len(own) == len(inside):
            if marks:
                own["direction"] = Cell(marks[at][1], line.number, line.column + begin)
            yield kernel | own


_WHOSE = deferred(
    rf"(?<![\w-])(?P<who>{LIBRARIES}|ref(?:erence)?|custom|mine|this)"
    r"(?: kernel| time| \([^()]{1,20}\))?"
    r"(?: ?[:=] ?|  {0,8}| took )$",
    re.IGNORECASE,
)
"""The name of who computed, right in front of a measurement: `cuBLAS: `, `triton `."""


_OF_AN_OPERATOR = deferred(
    r"[\s>*#-]{0,8}\[?(?P<name>[A-Za-z][\w.+-]{0,30}(?: [A-Za-z][\w.+-]{0,20}){0,3}?)\]?"
    r"(?:[ :,]{1,3}(?P<pass>fwd ?\+ ?bwd|forward ?\+ ?backward|fwd|bwd|forward|backward))?"
    r"(?P<sizes> ?[(\[][^()\[\]]{1,80}[)\]]|(?:[ ,]{1,2}[A-Za-z_]{1,16} ?= ?[\w.]{1,16}){1,8}|)"
    r" ?[:|] ?",
    re.IGNORECASE,
)
"""A call with its sizes in brackets or in pairs, in front of who computed it."""


def operators_beside(lines: Sequence[Line]) -> Iterator[tuple[list[Record], list[Line]]]:
    """The records of each line that gives the times of an operator by several libraries:
    `rms_norm (M=8192, N=4096, bf16): torch 0.211 ms, triton 0.052 ms`."""
    device = dict[str, Cell]()
    for line in lines:
        if not 0 < len(line.text) <= LONGEST:
            continue
        if _DEVICE.search(line.text) and (name := device_named(line.text)):
            device = {"gpu": Cell(name, line.number, line.column, value_origin="stated")}
        numbers = [*_MEASURED.finditer(line.text)]
        found = _OF_AN_OPERATOR.match(line.text) if len(numbers) > 1 else None
        if found is None or not names_operator(found["name"].strip("_ ").replace("_", " ")):
            continue
        numbers = [m for m in numbers if m.start() >= found.end()]
        shared = {"operator": Cell(found["name"], line.number, line.column + found.start("name"))}
        if found["pass"]:
            place = line.column + found.start("pass")
            shared["direction"] = Cell(found["pass"], line.number, place)
        if word := format_said(found["sizes"]):
            shared["dtype"] = Cell(word, line.number, line.column + found.start("sizes"))
        made = _beside(line, numbers, found.end())
        pairs = [(one[1], one[2]) for one in _PAIR.finditer(found["sizes"])]
        records = [Record(line.number, {**device, **shared, **own}, line.column, other=list(pairs),
                          prefix=line.prefix) for own in made]  # fmt: skip
        if records:
            yield records, [line]


_DEVICE = deferred(r"GPU|NVIDIA|AMD|[Dd]evice|[Rr]unning on")


def _beside(line: Line, numbers: Sequence[re.Match[str]], first: int = 0) -> list[dict[str, Cell]]:
    """The measurements of several libraries, each behind its name and all of one quantity; none of
    a line with others: `cuBLAS 0.21 ms, Triton 0.23 ms`."""
    made = list[dict[str, Cell]]()
    for at, number in enumerate(numbers):
        begin = numbers[at - 1].end() if at else first
        named = _WHOSE.search(line.text[begin : number.start()])
        unit = number[2] or number[3]
        name, scale = _measure(unit)
        text = number[1 if number[2] else 4].replace(",", "")
        place = line.column + number.start(1 if number[2] else 4)
        cell = Cell(text, line.number, place, scale)
        if named is not None:
            who = Cell(named["who"], line.number, line.column + begin + named.start("who"))
            made.append({"kernel": who, name: cell})
        elif made and name not in made[-1] and line.text[begin : number.start()].strip(" (,") == "":
            made[-1][name] = cell
        else:
            return []
    names = {each["kernel"].text.casefold() for each in made}
    alike = len({frozenset(each) for each in made}) == 1
    return made if len(names) == len(made) > 1 and alike else []


def _measure(unit: str) -> tuple[str, float]:
    """The field that a unit is of, and the factor to its own."""
    if unit[1:].casefold().startswith("flop"):
        return "flops_rate", _RATES[unit[0]]
    return "time", timed(unit) or 1.0


def _kernel(line: Line, before: Sequence[re.Match[str]]) -> dict[str, Cell]:
    """The kernel whose name a line begins with."""
    end = min(match.start() for match in before)
    text = line.text[:end].rstrip() if before else ""
    mark = _MARK.match(text)
    found = _NAME.match(text, mark.end() if mark else 0) or _BRACKETED.match(text)
    if found is None or _NO_NAME & {normalise(word) for word in found[1].split()}:
        return {}
    return {"kernel": Cell(found[1], line.number, line.column + found.start(1))}


_MARK = deferred(
    r"[\s>*#\[-]{0,8}(?:test|case|bench(?:mark)?|kernel|result|impl(?:ementation)?|perf)\]?"
    r"(?: ?[0-9]{1,4})?\]? ?: {0,8}(?=[A-Za-z])|\s{0,8}\[[0-9]{1,3}/[0-9]{1,3}\] {1,4}(?=[A-Za-z])",
    re.IGNORECASE,
)
"""The word of a line for itself in front of the name of a kernel: `TEST: plain`, `[2/4] tiled`."""

_OF_BLAS = deferred(r"(?<![A-Za-z])([SHD])GEMM(?![A-Za-z])", re.IGNORECASE)

_OF_ELEMENTS = deferred(r"(?<![A-Za-z0-9])f(16|32|64)(?:x[1-8])?(?![A-Za-z0-9])(?!_?acc)")

_BITS = {"s": "32", "h": "16", "d": "64"}


def _of_its_name(
    own: Mapping[str, Cell], said: Mapping[str, Cell], schema: Schema
) -> dict[str, Cell]:
    """The number format in the name of the kernel of a product, as BLAS and those who write its
    kernels say it, where nothing else does: `sgemm_naive`, `tiled_f16x8`."""
    if "kernel" not in own or "dtype" in {*own, *said} or not {"m", "dtype"} <= {*fields(schema)}:
        return {}
    name = own["kernel"].text
    bits = {_BITS[letter.casefold()] for letter in _OF_BLAS.findall(name)}
    bits = bits or {*_OF_ELEMENTS.findall(name)}
    return {"dtype": own["kernel"]._replace(text=f"fp{bits.pop()}")} if len(bits) == 1 else {}


def _take_in(told: _Told, line: Line, schema: Schema) -> None:
    """Keep machine, format and width of the calls below that a line without a measurement says."""
    text = line.text
    if _TITLED.match(text):
        told.decoding = _DECODES.search(text) is not None
    if width := _WIDTH.search(text):
        told.width = int(width[1])
    if _OF_A_TABLE.fullmatch(text):
        return  # what a row says is of its own call
    own = of_own_calls(text) if len(text) > SHORT else text
    for name, named in (("gpu", device_named), ("dtype", format_said)):
        if name not in fields(schema):
            continue
        word = named(own)
        if (not own and named(text)) or (name == "gpu" and several(own or text)):
            told.facts.pop(name, None)
        elif word:
            told.facts[name] = Cell(word, line.number, line.column, value_origin="stated")


def _format(line: Line, schema: Schema) -> dict[str, Cell]:
    """The number format that a line of a call names."""
    text = _OF_RESULT.sub(" ", line.text) if "layout=" in line.text else line.text
    word = format_named(text) if "dtype" in fields(schema) else None
    return {"dtype": Cell(word, line.number, line.column)} if word else {}


_OF_RESULT = deferred(r"\blayout=\w+, (?:BF16|FP32|FP16)\b")
"""The format of what a product gives, as DeepGEMM prints it."""


def _heads(told: _Told, call: Mapping[str, Cell]) -> dict[str, Cell]:
    """How many heads there are, where the width of all of them is said above."""
    if "heads" in call or "head_dim" not in call or not told.width:
        return {}
    size = call["head_dim"]
    many, rest = divmod(told.width, whole(size.text) or told.width + 1)
    if rest or not many:
        return {}
    law = "heads times the size of each are the dimension"
    return {"heads": size._replace(text=str(many), value_origin="solved", law=law)}
