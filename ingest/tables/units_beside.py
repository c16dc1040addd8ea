"""Units that stand beside their columns: in a column of their own, in the text above, in cells.

In: a grid and the lines above it. Out: the same with the unit, or the scope, in the label that it
is of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import NamedTuple

from assay.ingest.columns.column_cells import OF_NOBODY
from assay.ingest.columns.composite import named
from assay.ingest.columns.headers import Column, generic, header, plain
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.numbers.units import in_english, unit
from assay.ingest.schema.record import REMEMBERED, Line, Schema
from assay.ingest.tables.csv_sections import LONGEST_OUTCOME, NO_ROOM_ELSEWHERE
from assay.ingest.tables.documents import OF_A_MACHINE, explained, meant, unmarked
from assay.ingest.vocabulary.attention_names import switches_flash
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.program_names import program_named
from assay.ingest.vocabulary.terms import normalise
from assay.ingest.vocabulary.words import ALTERS, SAID_WHOSE, english, of_one_device, split

Above = Callable[[], Sequence[str]]
"""The texts above a table: they are put together where a label asks for what they say."""

A_DEVICE = r"(?:GPU|GCD|device|card|accelerator|chip|NPU|TPU|HPU|XPU|DCU|rank|tile|worker)(?! core)"

_A_PART = r"(?:node|host|server|machine|core|TPU core|socket|process|instance|replica|pod|tray)"
"""Words of more than a device, or of less: whose rates are nobody knows then."""


_RATES_ARE = (
    r"\b(?:tokens?(?:\s*/\s*|\s+per\s+)s(?:ec(?:ond)?)?|tok/s|tps|(?:samples?|images?|img)/s(?:ec)?"
    r"|throughputs?|rates|speeds?|numbers"
    r"|values|figures|results)\b"
    r"(?:(?!\b(?:is|are|was|were|T?FLOPS?(?:/s)?|MFU|memory|time|latency)\b)[^.;:|]){0,40}?"
    r"\b(?:is|are|was|were)\s+"
    r"(?:(?:all|always|given|reported|measured|quoted|shown|those|that)\s+)*"
    r"(?:as (?!if\b|not\b)[^.,;:|()]{1,40}, (?:i\.e\.,? |that is,? ))?"
)

_RATES_IN = (
    r"^(?!.*\b(?:brackets?|parenthes[ei]s|columns?|rows?|lines?|reach\w*|than|not|unlike)\b)[\W_]*"
    r"(?:(?:all|the|our|these|training|measured|average|mean|note:?) )*"
    r"(?:throughputs?|rates|speeds?|numbers|values|figures|results|performance|TPS)\b"
    r"[^.;:|0-9]{0,40}?(?:\b(?:in|as|is|are|of)|[:=])\s+"
    r"(?:tok(?:en)?s?|samples?|sequences?|words?)(?:\s*/\s*|\s+per\s+)s(?:ec(?:ond)?)?"
    r"(?:\s*/\s*|,?\s+(?:and )?per[ -])"
)
"""The beginning of a sentence that says of all rates what they are per second, and of what."""

_OPENING = (
    r"^[\W_]*(?:(?:all|the|our|training|mean|average|note:?) )*"
    r"(?:(?:numbers|values|figures|results|throughputs?|rates|speeds?|performance)\W{0,3})?"
    r"per[ -]"
)

_OF_NO_RATE = (
    r"(?!.{0,16}\b(?:batch\w*|bs|mem\w*|VRAM|HBM|peak|max|cost|price|power|TDP|util\w*|T?FLOP\w*|MFU"
    r"|time|latency|bandwidth|micro\w*|mini\w*|[a-z]+_[a-z_]+)\b)(?!s?[ =:]*[0-9])"
)
"""The beginning of a text that says of all numbers below it whose they are, `Per-GPU numbers:`, and
what it may not go on with."""

_EACH_OF_ONE = re.compile(
    rf"{_RATES_ARE}[`\"']*(?:(?:tokens?|samples?) per s(?:ec(?:ond)?)? )?"
    rf"(?:per|for (?:one|each|a single)|of (?:one|each|a single))[\s-]+{A_DEVICE}\b"
    rf"|{_OPENING}{A_DEVICE}\b{_OF_NO_RATE}"
    rf"|\btokens (?:is|are|were) counted (?:per|for each|on each|of one|on one) {A_DEVICE}\b"
    rf"|{_RATES_IN}{A_DEVICE}\b(?=\W*(?:$|[.,;:(]))"
    r"|(?:吞吐量?|速度|性能|tokens/s)[^。；;|]{0,8}?(?:均|都)?(?:为|是|指)(?:单卡|每卡)",
    re.IGNORECASE,
)
"""A sentence that says of all rates of a table that they are of one device."""

_SUMMED = (
    r"(?:(?:GPU|카드) ?[0-9]{1,5} ?[장개대]를? ?을? ?|(?:전체|모든) (?:GPU|카드)(?:를|을|의) ?)"
    r"(?:모두 )?(?:합한|합산한|더한|합친) ?(?:값|수치|결과)"
    r"|(?:全|すべての)? ?GPU ?(?:[0-9]{1,5} ?[枚基台])?の?(?:合計|総和|合算)(?:した)?(?:値|数値)?"
    r"(?=です|である|。|で)"
    r"|[0-9]{1,5} ?[张張]?卡的?(?:合计|总和|之和)"
)
"""Words of a sum over all devices: `GPU 4장을 합한 값`, `全GPUの合計`."""

_OF_THE_WHOLE = re.compile(
    rf"{_RATES_ARE}(?:(?:the )?(?:sum|total) (?:over|of|across)|(?:of|for) the (?:whole|entire)"
    r"|(?:summed |aggregated )?(?:over|across) all|for all|(?:the )?(?:total|aggregate)d?)\b"
    r"|(?:吞吐量?|速度|性能|tokens/s)[^。；;|]{0,8}?(?:均|都)?(?:为|是|指)[^。；;|]{0,8}"
    r"(?:合计|总和|所有卡|全部卡|整机|集群整体)"
    rf"|{_SUMMED}",
    re.IGNORECASE,
)
"""A sentence that says of all rates of a table that they are of the whole job."""

_OF_EACH_NODE = re.compile(
    rf"{_RATES_ARE}(?:(?:tokens?|samples?) per s(?:ec(?:ond)?)? )?"
    rf"(?:per|of each|for each|for (?:one|a single))[ -]{_A_PART}\b"
    rf"|{_RATES_IN}{_A_PART}\b|{_OPENING}{_A_PART}\b{_OF_NO_RATE}"
    r"|\b(?:numbers|values|figures|rates|throughputs?|speeds?)\b[^.;|]{0,24}"
    r"\baveraged? (?:over|across)"
    rf" (?:all |the |[0-9]+ )*{A_DEVICE}s\b",
    re.IGNORECASE,
)
"""A sentence that says of all rates of a table that they are of a node: whose nobody knows then."""

_OF_THE_JOB = re.compile(
    r"\b(?:throughputs?|tokens?(?:\s*/\s*|\s+per\s+)s(?:ec(?:ond)?)?|tok/s|rates?|speeds?)\b[^.;|]{0,24}?"
    r"\b(?:of|over|across|for) (?:the (?:whole|entire) (?:job|run|cluster)"
    rf"|all (?:the )?(?:[0-9]+ )?{A_DEVICE}s)\b|{_SUMMED}",
    re.IGNORECASE,
)
"""A text whose table holds rates of all devices: `Each cell is the throughput of the whole job`."""


def of_the_job(texts: Sequence[str]) -> bool:
    """Whether a text above a table says that its rates are of all devices, and none that they are
    of one.

    >>> of_the_job(["Each cell is the throughput of the whole job in tokens per second."])
    True
    """
    told = set(map(_job_or_one, texts))
    return any(job for job, _ in told) and not any(one for _, one in told)


@lru_cache(maxsize=REMEMBERED)
def _job_or_one(text: str) -> tuple[bool, bool]:
    """Whether a line says of rates that they are of the job, and whether that they are of one."""
    if len(text) > LONGEST:
        return False, False
    return _OF_THE_JOB.search(text) is not None, _EACH_OF_ONE.search(text) is not None


def of_all_below(lines: Sequence[Line]) -> tuple[str, ...]:
    """Texts that say of all rates below them, or of their page, whose they are: they hold for every
    section where they stand above all tables of runs.

    >>> of_all_below([Line(1, "All numbers below are **per GCD**, and where we write GPU", 1, {})])
    ('All numbers below are **per GCD**, and where we write GPU',)
    >>> of_all_below([Line(1, "The numbers are per GPU.", 1, {})])
    ()
    """
    return tuple(
        line.text for line in lines
        if len(line.text) <= LONGEST and _OF_ALL_BELOW.search(line.text) and _scope(line.text)
    )  # fmt: skip


_OF_ALL_BELOW = re.compile(
    r"\b(?:all|the|our|these)\b[^.;:|]{0,24}?\b(?:throughputs?|rates|speeds?|numbers|values|figures"
    r"|results|tokens?(?:/| per )s(?:ec(?:ond)?)?)\b[^.;:|]{0,16}?"
    r"\b(?:below|here|throughout|everywhere|(?:in|on) (?:this|the whole) "
    r"(?:page|document|report|README|repo(?:sitory)?|wiki|post|article|file|guide))\b",
    re.IGNORECASE,
)


_RATES_OF_ALL = {"tokens_per_s", "samples_per_s", "item_rate"}


_OF_A_SETTING = re.compile(r"\W*per_[a-z]", re.IGNORECASE)


def with_scopes(grid: Grid, schema: Schema, above: Above, near: Above) -> Grid:
    """The grid with the rates of its columns of one device, or of all, as the nearest sentence
    above says that speaks of it: `All tokens/second below are per GPU.`; from afar to near.
    """
    grid = _with_strokes(grid, schema, above)
    if not grid.heads or grid.labels or not _rates_of_all(_lowest(grid), schema):
        return _with_scopes_of_sides(grid, schema, above, near)
    told = _whose(above, near)
    last, cells = grid.heads[-1], []
    if told is None or (
        told.listed and any(_is_of_one(plain(c.text), schema) and "/" in c.text for c in last.cells)
    ):
        return grid
    if told.of_all_numbers and any(_is_of_one(plain(cell.text), schema) for cell in last.cells):
        told = told._replace(whose=OF_NOBODY)  # of that device are those labelled so alone
    multiples = _multiples(grid, schema) if told.whose == OF_NOBODY else set[int]()
    for at, cell in enumerate(last.cells):
        label = plain(cell.text)
        (column,) = header([label], schema) if label else (Column("", None),)
        meant = column.spec is not None and column.spec.name in told.fields
        if label and told.whose != "(total)" and generic(column):
            meant = _rated_by_cells(grid, at) in told.fields
        whose = {*split(label), *split(english(label))} & SAID_WHOSE or _IN_TOTAL.search(label)
        of_whom = "(total)" if at in multiples else told.whose
        text = f"{label} {of_whom}" if meant and not whose else cell.text
        known = text == cell.text or told.whose != "(total)" or header([text], schema)[0].spec
        cells.append(cell._replace(text=text) if known else cell)
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=tuple(cells))))


def _with_strokes(grid: Grid, schema: Schema, above: Above) -> Grid:
    """The grid with strokes in labels of rates that are written as names of variables, where the
    text above has the same with strokes: `utt_s` below `utt/s over all GPUs`. Elsewhere that may be
    the seconds of an utterance."""
    labels = {plain(cell.text) for cell in grid.heads[-1].cells} if grid.heads else set[str]()
    names = {label for label in labels if _IN_UNDERSCORES.fullmatch(label)}
    names = {name for name in names if header([name], schema)[0].spec is None}
    told = " ".join(text for text in above() if len(text) <= LONGEST).casefold() if names else ""
    spelt = {name: name.replace("_", "/") for name in names}
    spelt = {n: rate for n, rate in spelt.items() if rate.casefold() in _WORD.findall(told)}
    if not spelt or any(header([rate], schema)[0].spec is None for rate in spelt.values()):
        return grid
    last = grid.heads[-1]
    cells = tuple(cell._replace(text=spelt.get(plain(cell.text), cell.text)) for cell in last.cells)
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


_IN_UNDERSCORES = re.compile(r"[a-z]{2,16}_s(?:ec)?(?:_[a-z]{3,6})?", re.IGNORECASE)

_WORD = re.compile(r"[^\s,;:()`*]{1,40}")


def _whose(above: Above, near: Above) -> _Scope | None:
    """Whose the rates of a table are, as the nearest text above says that speaks of it, or as those
    of its own section, `near`, name them."""
    said = next(filter(None, map(_scope, reversed(above()))), None)
    return said or next(filter(None, map(_as_listed, reversed(near()))), None)


def whose_rates(texts: Sequence[str], field: str) -> str:
    """Whose the rates of a field are, as words behind a label, by the nearest text above a table
    that says it of all its rates; empty where none does."""
    told = next(filter(None, map(_scope, reversed(texts))), None)
    return told.whose if told is not None and field in told.fields else ""


def _with_scopes_of_sides(grid: Grid, schema: Schema, above: Above, near: Above) -> Grid:
    """The grid with the rates of several sides of one device where the nearest sentence above says
    so: `MI325X tokens/s | MI355X tokens/s`."""
    last = grid.heads[-1] if grid.heads and not grid.labels else None
    labels = [plain(cell.text) for cell in last.cells] if last else []
    rates = {at: m for at, label in enumerate(labels) if (m := _RATE_OF_A_SIDE.fullmatch(label))}
    if last is None or len(rates) < len(("one", "another")):
        return grid
    if len({m["rate"] for m in rates.values()}) > 1 or any(_is_of_one(x, schema) for x in labels):
        return grid
    told = _whose(above, near)
    (column,) = header([next(iter(rates.values()))["rate"]], schema)
    if told is None or told.whose != "per GPU" or column.spec is None:
        return grid
    if column.spec.name not in told.fields:
        return grid
    cells = tuple(
        cell._replace(text=f"{m['front'] or ''}{m['rate']} per GPU{m['behind'] or ''}")
        if (m := rates.get(at)) else cell
        for at, cell in enumerate(last.cells)
    )  # fmt: skip
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


_RATE_OF_A_SIDE = re.compile(
    r"(?P<front>[^()/|]{1,40}?[ :] ?)?"
    r"(?P<rate>(?:tok(?:en)?s?|samples?|seq(?:uence)?s?|images?|imgs?)(?:/| per )s(?:ec(?:ond)?)?)"
    r"(?P<behind> ?[(,@][^()/|]{1,40}[)]?)?",
    re.IGNORECASE,
)
"""A label of a rate before or behind the name of whose it is."""


_IN_TOTAL = re.compile("总|整体|全局|集群|全体|合計")
"""In a label: its numbers are of all devices."""


def _is_of_one(label: str, schema: Schema) -> bool:
    """Whether a label says of what was measured that it is of one device; `GPUs` counts them."""
    if not label or not of_one_device(label):
        return False
    (column,) = header([label], schema)
    return column.spec is None or not column.spec.configuration


def _multiples(grid: Grid, schema: Schema) -> set[int]:
    """Columns whose numbers are whole multiples, some of them several times, of those in the one
    column that is labelled as of one device: the rates of all devices."""
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    ones = [at for at, label in enumerate(labels) if _is_of_one(label, schema)]
    found = set[int]()
    for at in range(len(labels)) if len(ones) == 1 else ():
        pairs = [(_digits(row.cells[at].text), _digits(row.cells[ones[0]].text))
                 for row in grid.rows if len(row.cells) == len(labels)]  # fmt: skip
        ratios = [whole / one for whole, one in pairs if whole and one and whole / one < inf]
        near = [abs(ratio / max(round(ratio), 1) - 1) < _ROUNDED for ratio in ratios]
        if at not in ones and len(near) > 1 and all(near) and max(map(round, ratios)) > 1:
            found.add(at)
    return found


_ROUNDED = 0.004
"""Share by which the product of a rounded rate and its devices may differ from what is printed."""


def _digits(text: str) -> float | None:
    digits = plain(text).replace(",", "")
    return float(digits) if _PLAIN.fullmatch(digits) else None


_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _lowest(grid: Grid) -> tuple[str, ...]:
    """Texts of the last header row of a grid."""
    return tuple(cell.text for cell in grid.heads[-1].cells)


@lru_cache(maxsize=256)  # a document has the same header again and again
def _rates_of_all(texts: tuple[str, ...], schema: Schema) -> bool:
    """Whether a label of some is by itself that of a rate of all devices."""
    columns = [header([label], schema)[0] for text in texts if (label := plain(text))]
    return any(
        generic(column) or (column.spec is not None and column.spec.name in _RATES_OF_ALL)
        for column in columns
    )


def _rated_by_cells(grid: Grid, at: int) -> str | None:
    """The field of the rate of all devices whose unit the cells of a column print."""
    texts = (row.cells[at].text for row in grid.rows if at < len(row.cells))
    found = {each.casefold() for text in texts if len(text) <= LONGEST
             for each in _PRINTED_RATE.findall(text)}  # fmt: skip
    kinds = {"samples_per_s" if each.startswith("s") else "tokens_per_s" for each in found}
    return kinds.pop() if len(kinds) == 1 else None


_PRINTED_RATE = re.compile(r"[0-9]\s*[kKM]?\s*(tok|tps\b|wps\b|samples|seq)", re.IGNORECASE)
"""The beginning of a unit of rates behind a number."""


_OF_RATES = re.compile(r"tok|sampl|seq|throughput|rate|speed|perf|吞吐|速度|性能", re.IGNORECASE)

_A_MACHINE = re.compile(rf"{OF_A_MACHINE}|\b(?:node|machine|server|box|host|instance)\b")

_OR_OF_A_JOB = re.compile(r" ?(?:/|\(|or) ?(?:of )?(?:the )?(?:whole |entire )?(?:job|run)\b", re.I)
"""Words behind a machine by which it is that of the job: `the whole server/job`."""

_OF_TOKENS = re.compile(r"[^|]*?(?:tok|\btps\b)", re.IGNORECASE)


class _Scope(NamedTuple):
    """Whose rates are, as words behind a label, and the fields that it is said of."""

    whose: str
    fields: frozenset[str]
    of_all_numbers: bool
    """Whether it is said of numbers of any kind, of one device: `All values are per GPU.`"""
    listed: bool = False
    """Whether it is only what a text names among the columns: `MFU and tokens/s per GPU`."""


_RATE_OF_EACH = re.compile(
    r"(?P<front>^|[,:;(]\s*|\b(?:and|are|in|as|is|give|list|show|report|measure|mean|median)\s+)"
    r"(?:(?:the|our|training|measured|mean|average|median) ){0,3}"
    r"[*_`]{0,2}(?P<things>tok(?:en)?s?|samples?|seq(?:uence)?s?|images?|imgs?)"
    r"(?:\s?/\s?|\s+per\s+)s(?:ec(?:ond)?)?"
    rf"(?:\s?/\s?|,?\s+(?:and\s+)?per[ -]){A_DEVICE}[*_`]{{0,2}}"
    r"(?=\s*(?:[.,;:)(]|$)|\s+(?:and|as|with|over|for|on|in|when|while|during)\b)",
    re.IGNORECASE,
)
"""An item of a sentence that is a rate of one device and nothing else."""

_RATE_OF_JOB = re.compile(
    r"(?:^|[,:;(–—]\s*|\b(?:and|are|in|as|is|give|list|show|report|measure|mean|median)\s+)"
    r"[*_`]{0,2}(?P<things>tok(?:en)?s?|samples?|seq(?:uence)?s?|images?|imgs?)"
    r"(?:\s?/\s?|\s+per\s+)s(?:ec(?:ond)?)?[*_`]{0,2},? [*_`(]{0,2}"
    r"(?:(?:of|for|over) the (?:whole|entire|full) (?:job|run|cluster)"
    rf"|(?:of|for|over|across|summed over|added over) all (?:the )?(?:[0-9]+ )?{A_DEVICE}s"
    r"(?: together)?)\b",
    re.IGNORECASE,
)
"""The same of a rate of the whole job: `tokens/s of the whole job`."""

_TELLS = re.compile(
    r"\b(?:reach\w*|achiev\w*|g[eo]ts?|than|from|drops?|falls?|rises?|improv\w*|only|about|up to"
    r"|vs|versus|compared?|unlike|not|if|total|whole|all (?:the )?(?:GPUs|devices|cards)|inference"
    r"|serving|generat\w+|decod\w+|multipl\w+|divid\w+)\b|[0-9]\s?[kKM]?\s?(?:tok|sampl|seq|ima?g)"
    r"(?!\w* (?:per|in (?:each|a)) (?:sample|sequence|document|row)\b)",
    re.IGNORECASE,
)
"""Words of a sentence that tells of a rate or compares it, and declares nothing."""

_A_RATE_OF_THINGS = re.compile(
    r"\b(?:tok(?:en)?s?|samples?|seq(?:uence)?s?|images?|imgs?)(?:\s?/\s?|\s+per\s+)s(?:ec(?:ond)?)?\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=REMEMBERED)
def _as_listed(text: str) -> _Scope | None:
    """Whose the rates below a text are that names a rate of each device among what it measures.

    >>> _as_listed("Columns: micro batch size (MBS), TFLOP/s per GPU, tokens/s per GPU.").whose
    'per GPU'
    >>> _as_listed("tokens/s and tokens/s per GPU"), _as_listed("We reach 900 tokens/s per GPU.")
    (None, None)
    >>> _as_listed("Table B - Llama-3.2-3B, tokens/s of the whole job").whose
    '(total)'
    """
    if len(text) > LONGEST or "|" in text or not _A_RATE_OF_THINGS.search(text):
        return None
    bare = unmarked(text)
    for sentence in _SENTENCE_END.split(bare):
        of_one = [*_RATE_OF_EACH.finditer(sentence)]
        found = of_one or [*_RATE_OF_JOB.finditer(sentence)]
        rest = sentence[: found[0].start()] + sentence[found[0].end() :] if found else sentence
        if len(found) != 1 or _TELLS.search(sentence if of_one else rest):
            continue
        if len(_A_RATE_OF_THINGS.findall(bare)) != 1:
            return None
        tokens = found[0]["things"].casefold().startswith("tok")
        rated = {"tokens_per_s"} if tokens else {"samples_per_s", "item_rate"}
        whose = "per GPU" if of_one else "(total)"
        return _Scope(whose, frozenset(rated), of_all_numbers=False, listed=True)
    return None


_SENTENCE_END = re.compile(r"(?<=[.;。；])\s+|(?<=[。；])")


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _scope(text: str) -> _Scope | None:
    """Whose the rates below a text are, and which; None where it does not say, as the name of a
    setting does not: `per_device_parallelism: -1`."""
    bare = "" if _OF_A_SETTING.match(text) else unmarked(text)
    one, whole = _EACH_OF_ONE.search(bare), _OF_THE_WHOLE.search(bare)
    node = _OF_EACH_NODE.search(bare)
    found = one or whole or node
    if found is None or sum(map(bool, (one, whole, node))) > 1:
        return None
    of_one_machine = whole is not None and _A_MACHINE.search(bare, whole.start(), whole.end() + 9)
    if of_one_machine and _OR_OF_A_JOB.match(bare, of_one_machine.end()):
        of_one_machine = None
    tokens, samples = _OF_TOKENS.match(found[0]) is not None, "sampl" in found[0].casefold()
    rated = {"tokens_per_s"} if tokens else {"samples_per_s"} if samples else _RATES_OF_ALL
    of_node = node is not None or of_one_machine
    whose = "per GPU" if one else f"({OF_A_MACHINE})" if of_node else "(total)"
    of_any = one is not None and _OF_RATES.search(found[0]) is None
    return _Scope(whose, frozenset(rated), of_any)


def with_unit_column(grid: Grid, schema: Schema) -> Grid:
    """The grid with the units of its second column behind the labels of its first, or those of
    another one behind the numbers of the one column that only says that something was fast."""
    grid = _with_units_of_rows(_with_units_beside(_with_speeds_of_bars(grid, schema)), schema)
    second = plain(grid.heads[-1].cells[1].text) if grid.heads and grid.width > 2 else ""
    if second.casefold() not in _CALLED_UNITS or grid.labels:
        return grid
    rows = [row for row in grid.rows if len(row.cells) > 1]
    made = []
    for row in rows:
        first, behind = row.cells[0], plain(row.cells[1].text)
        text = f"{first.text} [{behind}]" if unit(behind) else first.text
        made.append(replace(row, cells=(first._replace(text=text), *row.cells[2:])))
    heads = [replace(row, cells=(row.cells[0], *row.cells[2:])) for row in grid.heads]
    return (
        replace(grid, heads=tuple(heads), rows=tuple(made)) if len(rows) == len(grid.rows) else grid
    )


def _with_speeds_of_bars(grid: Grid, schema: Schema) -> Grid:
    """The grid with the speeds of whole bars of progress, where each cell of a column is one:
    `120/900 [02:11<14:12, 1.09s/it]`."""
    if not grid.heads or grid.labels:
        return grid
    columns = header([plain(cell.text) for cell in grid.heads[-1].cells], schema)
    for at, column in enumerate(columns):
        cells = [row.cells[at] for row in grid.rows if at < len(row.cells)]
        bars = [_BAR.fullmatch(plain(cell.text)) for cell in cells if len(cell.text) <= LONGEST]
        if not bars or len(bars) < len(grid.rows) or not all(bars):
            continue
        if _OF_OTHER_BARS.search(column.label):
            continue
        said = {cell: bar[1] for cell, bar in zip(cells, bars, strict=True) if bar}
        grid = replace(grid, rows=tuple(
            replace(row, cells=tuple(
                cell._replace(text=said[cell]) if n == at else cell
                for n, cell in enumerate(row.cells)
            ))
            for row in grid.rows
        ))  # fmt: skip
        if column.spec is None:
            head = grid.heads[-1]
            labels = tuple(
                cell._replace(text="speed") if n == at else cell
                for n, cell in enumerate(head.cells)
            )
            grid = replace(grid, heads=(*grid.heads[:-1], replace(head, cells=labels)))
    return grid


_BAR = re.compile(
    r"(?:[^\[\]|]{0,40}[0-9]{1,3}%[^\[\]]{0,60})?[0-9]{1,9}/[0-9?]{1,9}"
    r" ?\[[0-9:]{4,9}<[0-9:?]{1,9}, {0,4}"
    r"([0-9]{1,6}(?:\.[0-9]{1,3})? ?(?:it/s|s/it))[^\[\]]{0,80}\]"
)

_OF_OTHER_BARS = re.compile(
    r"\b(?:eval|valid|val\b|test|infer|predict|gener|sampl|download|load|token|map|data|prepar"
    r"|preproc|compil|cach)",
    re.IGNORECASE,
)
"""Labels of what is no training, and has bars as well."""


_CALLED_UNITS = ("unit", "units", "单位", "単位")


def _with_units_of_rows(grid: Grid, schema: Schema) -> Grid:
    """The grid with each row's unit behind its number, or its numbers where several columns say of
    whom they are: `A speed | B speed | Unit` over `812 | 1,410 | images/s`."""
    if not grid.heads or grid.labels:
        return grid
    labels = [plain(text).casefold() for text in _lowest(grid)]
    units = [at for at, label in enumerate(labels) if at > 1 and label in _CALLED_UNITS]
    columns = header(labels, schema) if units else []
    fast = {
        at for at, column in enumerate(columns)
        if generic(column) or (column.spec is None and rated_of(column.label))
    }  # fmt: skip
    if len(units) != 1 or not fast:
        return grid
    (at,) = units

    def with_its_own(row: GridRow) -> GridRow:
        printed = plain(row.cells[at].text) if len(row.cells) == len(labels) else ""
        if not unit(printed):
            return row
        return replace(row, cells=tuple(
            cell._replace(text=f"{cell.text} {printed}")
            if n in fast and cell.text.strip()[-1:].isdigit() else cell
            for n, cell in enumerate(row.cells)
        ))  # fmt: skip

    return replace(grid, rows=tuple(map(with_its_own, grid.rows)))


_RATED_OF = re.compile(
    r"(?:(?P<before>\S.{0,40}?)[ _-]+)?(?:throughput|speed|performance|perf)"
    r"(?:[ ,:_-]+(?:of |on |with |for )?(?P<behind>[^()]{1,40}))?",
    re.IGNORECASE,
)


def rated_of(label: str) -> str:
    """The name of whom a label says that something was fast, and nothing else; empty where it says
    no name, or more.

    >>> rated_of("T2 throughput"), rated_of("Throughput, ours"), rated_of("throughput")
    ('T2', 'ours', '')
    """
    found = _RATED_OF.fullmatch(label) if len(label) <= MOST_NAMED else None
    name = (found["before"] or found["behind"] or "") if found else ""
    both = found is not None and found["before"] and found["behind"]
    words = set(split(english(name))) if len(name) > 1 else set()  # `B` beside `A`
    return "" if both or words & NO_NAMES else name


MOST_NAMED = 60
"""Letters of a label that names of whom a rate is."""

NO_NAMES = ALTERS | {
    "inference", "generation", "decode", "prefill", "serving", "eval", "evaluation", "data",
    "network", "disk", "read", "write", "io", "loader", "peak", "memory", "relative", "efficiency",
}  # fmt: skip
"""Words before a rate that make it another one."""

_UNIT_OF = re.compile(r"((?:\w+\.)*train(?:\.\w+)*)\.unit")

_BESIDE_UNITS = {
    ("latency", "mean"): "step time ({})", ("throughput", "value"): "throughput ({})",
    ("memory", "max_allocated"): "max memory allocated ({})",
}  # fmt: skip
"""Of what, and what of it, a report of training says beside its unit: `train.latency.unit`."""


def _with_units_beside(grid: Grid) -> Grid:
    """The grid with labels for the values whose unit stands in another column of each row, as the
    reports of optimum-benchmark have it."""
    labels = list(grid.header())
    units = {
        found[1]: at for at, label in enumerate(labels) if (found := _UNIT_OF.fullmatch(label))
    }
    if not units or grid.labels:
        return grid
    for at, label in enumerate(labels):
        path, _, what = label.rpartition(".")
        form = _BESIDE_UNITS.get((path.rpartition(".")[2], what))
        if path in units and form:
            printed = {row.cells[units[path]].text for row in grid.rows if len(row.cells) > at}
            printed.discard("")
            if len(printed) == 1 and unit(one := printed.pop()):
                labels[at] = form.format(one)
    return replace(grid, labels=tuple(labels)) if labels != list(grid.header()) else grid


_VALUES = ("pval", "metricvalue", "value", "measurement", "result", "performance", "数值", "值")

_METRICS = ("pvar", "metricname", "metric", "measure", "quantity")

_ANYTHING = ("", "item", "items", "name", "what", "property", "parameter", "field", "setting",
             "key", "attribute", "variable", "characteristic", "项目", "指标", "参数")  # fmt: skip
"""Labels of metrics and settings alike, in front of a value and its unit and nothing else."""

_UNITS = ("punit", "metricunit", "unit", "units", "单位")

_OF_KERNELS = {"kernel", "kernelname", "operator", "op", "opname"}
"""Labels of tables whose rows are calls, which are read elsewhere (`ingest/kernels`)."""


def names_metrics(grid: Grid) -> bool:
    """Whether the rows of a grid may name what each has measured, beside one value and its unit."""
    value, metric, in_unit = _of_metrics(grid.header())[1]
    return value is not None and not (metric is None and in_unit is None)


MOST_METRICS = 16
"""Names of what one table measured."""


def with_metrics_apart(grid: Grid, schema: Schema) -> Grid:
    """The grid with a column for each metric that its rows name beside one value and its unit:
    `step_time, 6.2, s` below `pvar, pval, punit`, `8891.4, tokens/s/gpu` below `performance,
    metric`."""
    labels, places = _of_metrics(grid.header())
    value, metric, in_unit = places
    if value is None or not names_metrics(grid) or grid.labels or len(grid.heads) > 1:
        return grid
    named = [(_text(row, metric), _text(row, in_unit)) for row in grid.rows]
    if metric is not None and labels[metric] in _ANYTHING and len({u for _, u in named}) == 1:
        places, metric = (value, None, in_unit), None  # of things that are measured alike
        named = [(None, unit_) for _, unit_ in named]
    others = grid.width - sum(at is not None for at in places)
    if metric is not None and not others and len({name for name, _ in named}) == len(named):
        return _of_one_run(grid, metric, value, in_unit)
    meant = {each: _metric(*each, schema) for each in set(named)} if len(set(named)) <= 64 else {}
    told = list(dict.fromkeys(label for each in named if (label := meant.get(each))))
    if not told or len(told) > MOST_METRICS or any(normalise(each) in labels for each in told):
        return grid
    gone = {at for at in places if at is not None} if all(meant.values()) else set[int]()

    def row_of(row: GridRow, texts: Sequence[str], *, apart: bool = False) -> GridRow:
        kept = (
            cell._replace(text="") if apart and at == value else cell
            for at, cell in enumerate(row.cells) if at not in gone
        )  # fmt: skip
        return replace(row, cells=(*kept, *(row.cells[value]._replace(text=t) for t in texts)))

    def apart(row: GridRow, own: str | None) -> GridRow:
        texts = [row.cells[value].text if own == label else "" for label in told]
        return row_of(row, texts, apart=own is not None) if len(row.cells) == grid.width else row

    rows = tuple(apart(row, meant[each]) for row, each in zip(grid.rows, named, strict=True))
    return replace(grid, heads=(row_of(grid.heads[0], told),), rows=rows)


def runs_in_long_form(grid: Grid, schema: Schema) -> Grid:
    """The grid with a row for each of its runs and a column for each name, where each row has one
    setting of a run or one quantity: `r1,num_gpus,16,` above `r1,iteration_time,3.41,s`. A row that
    names no run is of the one above; no run has a name twice, as logs of steps have, and each has
    settings and quantities, as groups of these have not.
    """
    labels, (value, name, in_unit) = _of_metrics(grid.header())
    if value is None or grid.labels or len(grid.heads) > 1:
        return grid
    if name is None:
        name = next((at for at, label in enumerate(labels) if label and label in _ANYTHING), None)
    keys = [at for at in range(grid.width) if at not in (value, name, in_unit)]
    rows = [row for row in grid.rows if not row.blank and not row.one]
    if name is None or not keys or any(len(row.cells) != grid.width for row in rows):
        return grid
    runs = dict[tuple[str, ...], list[tuple[str, GridRow]]]()
    run = tuple[str, ...]()
    units = {plain(row.cells[name].text): each for row in rows if (each := _text(row, in_unit))}
    for row in rows:
        run = own if any(own := tuple(row.cells[at].text for at in keys)) else run
        text = plain(row.cells[name].text)
        of_it = _text(row, in_unit) or units.get(text)  # no run out of memory took seconds
        runs.setdefault(run, []).append((f"{text} ({of_it})" if of_it else text, row))
    told = list(dict.fromkeys(label for own in runs.values() for label, _ in own))
    if len(told) > MOST_METRICS or any(len(own) != len({*dict(own)}) for own in runs.values()):
        return grid
    columns = dict(zip(told, header(told, schema), strict=True))
    specs = {label: column.spec for label, column in columns.items() if column.spec}
    measured = {label for label, spec in specs.items() if spec.quantity}
    settled = {label for label, column in columns.items() if label not in measured
               and (column.degrees or label in specs)}  # fmt: skip
    if 2 * len(measured | settled) < len(told):
        return grid
    if not all({*dict(own)} & measured and {*dict(own)} & settled for own in runs.values()):
        return grid  # of groups of settings
    made = []
    for of_run in runs.values():
        by_name, first = dict(of_run), of_run[0][1]
        line = next((row.line for label, row in of_run if label in measured), first.line)
        blank = GridCell("", line.number, line.column)
        held = (by_name[each].cells[value] if each in by_name else blank for each in told)
        made.append(GridRow(line, (*(first.cells[at] for at in keys), *held)))
    head = grid.heads[0]
    names = (head.cells[name]._replace(text=each) for each in told)
    cells = (*(head.cells[at] for at in keys), *names)
    return replace(grid, heads=(replace(head, cells=cells),), rows=tuple(made), closed=False)


def _of_one_run(grid: Grid, metric: int, value: int, in_unit: int | None) -> Grid:
    """A grid that names each metric once and has nothing beside, which is of one run: its names,
    each with its unit, beside the values."""

    def row_of(row: GridRow, *, head: bool = False) -> GridRow:
        if len(row.cells) != grid.width:
            return row
        name, unit_, own = row.cells[metric], _text(row, in_unit), row.cells[value]
        if not head and unit_ and (device := only(unit_)) and device.text == unit_:
            own, unit_ = own._replace(text=f"{own.text} {unit_}"), None  # `32 | A100` counts them
        text = name.text if head or not unit_ else f"{plain(name.text)} ({unit_})"
        return replace(row, cells=(name._replace(text=text), own))

    heads = tuple(row_of(row, head=True) for row in grid.heads)
    return replace(grid, heads=heads, rows=tuple(map(row_of, grid.rows)))


@lru_cache(maxsize=256)  # a document has the same header again and again
def _of_metrics(header: tuple[str, ...]) -> tuple[Sequence[str], Sequence[int | None]]:
    """Labels as they are compared, and where those of a value, its metric and its unit stand; no
    value is one of a kernel."""
    labels = [normalise(plain(label)) for label in header]
    places = [next((labels.index(name) for name in names if name in labels), None)
              for names in (_VALUES, _METRICS, _UNITS)]  # fmt: skip
    if len(labels) == len(places) and labels[0] in _ANYTHING and None not in places[::2]:
        places[1] = 0 if places[1] is None else places[1]
    return labels, [None, None, None] if _OF_KERNELS & set(labels) else places


def _text(row: GridRow, at: int | None) -> str | None:
    return plain(row.cells[at].text) if at is not None and at < len(row.cells) else None


def _metric(name: str | None, in_unit: str | None, schema: Schema) -> str | None:
    """The label of a metric with its unit, where it names what is measured; None where not."""
    both = f"{name} ({in_unit})" if name and in_unit else None
    for label in (both, name) if name else (in_unit,):
        (column,) = header([label], schema) if label else (Column("", None),)
        spec = column.spec
        if spec is not None and spec.quantity is not None and column.unit_known:
            return label
    return None


_ALL_IN = re.compile(
    r"\((?:units?: ?)?(ms|s|sec|secs|seconds|milliseconds)\)"
    r"|\b(?:times?|all values|durations?)\b.{0,30}\b(?:in|are) (ms|s|sec|seconds|milliseconds)\b"
    r"|(?:,| in) (ms|sec|seconds|milliseconds)\s*:\s*$",
    re.IGNORECASE,
)


def with_units(grid: Grid, schema: Schema, above: Sequence[Line]) -> Grid:
    """The grid with the unit of times that its heading or caption says, where its labels do not."""
    near = [line.text for line in (*above[:1], *above[-3:]) if len(line.text) <= LONGEST]
    grid = _with_times_of_steps(_with_unit_of_memory(grid, near), schema, near)
    units = {
        (m[1] or m[2] or m[3]).casefold() for text in near for m in _ALL_IN.finditer(text)
    }  # fmt: skip
    if len(units) != 1 or grid.labels or not grid.heads:
        return grid
    said_once = f"({units.pop()})".replace("milliseconds", "ms")
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    own = header(labels, schema)
    if any(map(_OF_STEPS.search, near)):
        labels = [_A_TIME.sub("step time", label) for label in labels]
    told = header([f"{label} {said_once}" for label in labels], schema)
    parts = {"forward", "backward"} <= {word for label in labels for word in split(label)}
    if any(c.spec is not None and c.spec.name == "step_time" and c.unit_known for c in own):
        return grid  # what is said is of that column
    cells = [
        cell._replace(text=f"{label} {said_once}")
        if (_timed(before, after) and (parts or not _numbers_steps(grid, at, label)))
        or (before.spec is None and label != before.label and not _UNIT_OF_ITS_OWN.search(label))
        else cell
        for at, (cell, label, before, after) in enumerate(
            zip(grid.heads[-1].cells, labels, own, told, strict=True)
        )
    ]
    return replace(grid, heads=(*grid.heads[:-1], replace(grid.heads[-1], cells=tuple(cells))))


_UNIT_OF_ITS_OWN = re.compile(r"[(\[][^()\[\]]+[)\]]\s*$")


def _with_times_of_steps(grid: Grid, schema: Schema, near: Sequence[str]) -> Grid:
    """The grid with its times as those of a step, where a caption or the beginning of a sentence
    above says what they are of and no label does: `Iteration time and peak memory.` over `time
    (ms) | mem (GB)`; once, or once below each label of another header row."""
    if not grid.heads or grid.labels:
        return grid
    last = grid.heads[-1]
    labels = [plain(cell.text) for cell in last.cells]
    texts = [text.replace("*", "").replace("_", " ") for text in near]
    found = {at: unit_ for at, label in enumerate(labels) if (unit_ := _bare_time(label, labels))}
    said_in = {_in_short(m[1] or m[2]) for text in texts for m in _STEPS_IN.finditer(text)}
    if alone := not found and len(said_in) == 1:
        unit_ = min(said_in)
        found = {at: unit_ for at, label in enumerate(labels) if _ONLY_TIME.fullmatch(label)}
    over = {plain(grid.heads[0].cells[at].text) for at in found if len(grid.heads) > 1}
    if not found or (len(found) > 1 and len(over) != len(found)):
        return grid
    if not (alone or any(map(_TIMES_STEPS.search, texts))) or any(map(_TIMES_OTHERS.search, texts)):
        return grid
    if _A_KIND.fullmatch(labels[0]) or any(map(_A_SHARE.fullmatch, labels)):
        return grid
    if any(c.spec is not None and c.spec.name == "step_time" for c in header(labels, schema)):
        return grid
    cells = tuple(
        cell._replace(text=f"step time ({found[at]})") if at in found else cell
        for at, cell in enumerate(last.cells)
    )
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


def _bare_time(label: str, labels: Sequence[str]) -> str:
    """The unit of a label that is a time of nobody knows what; empty where it is none, or a letter
    alone beside labels that are no units."""
    found = _TIME_IN_UNIT.fullmatch(english(label).strip()) if len(label) <= MOST_NAMED else None
    if found is None:
        return ""
    told = next(filter(None, found.groups()), "")
    if found[2] and label != label.casefold():
        return ""  # `S` beside `M` and `L`
    beside = any(other != label and unit(other) for other in labels)
    return "" if label == "s" and not beside else _in_short(told)


def _in_short(printed: str) -> str:
    return "ms" if printed.casefold().startswith("m") else "s"


_TIME_IN_UNIT = re.compile(
    r"(?:(?:avg\.?|average|mean|median|elapsed|wall|wall[- ]clock|training|train|exec(?:ution)?"
    r"|run) ?){0,3}(?:time|latency|duration|walltime|runtime) ?(?:[(\[/,] ?)?(?:in )?"
    r"(ms|msecs?|milliseconds?|s|secs?|seconds?) ?[)\]]?|(ms|msec|secs?|seconds|milliseconds|s)"
    r"|(?:measured|observed|actual)(?: time)? ?[(\[](ms|msec|s|secs?|seconds|milliseconds)[)\]]",
    re.IGNORECASE,
)
"""A label of a time with its unit, and of nothing that took it."""

_A_STEP = r"(?:(?:train(?:ing)?|optimi[sz]er|global|full|whole) )?(?:step|iter(?:ation)?)s?"

_IN_SECONDS = r"(ms|msecs?|milliseconds?|s|secs?|seconds?)"

_STEPS_IN = re.compile(
    r"(?:(?:^|[(:;,|]|[.] )[\W_]{0,8}"
    r"|\b(?:tim(?:e|ing)s?|durations?|all|everything|numbers|values|figures|results)"
    r"(?: (?:is|are|given|measured|shown|reported|all))*(?: in)? )"
    rf"{_IN_SECONDS} ?(?:/|per) ?{_A_STEP}\b"
    rf"|\b(?:{_A_STEP}[ -](?:tim(?:e|ing)|latency|duration)s?|times? per {_A_STEP})"
    rf"(?: (?:is|are|was|were|given|measured|reported|shown))*,? (?:in |\(){_IN_SECONDS}\b",
    re.IGNORECASE,
)
"""A text that says in what the times of steps below it are: `ms per iteration`."""

_ONLY_TIME = re.compile(
    r"(?:(?:avg\.?|average|mean|median|elapsed|wall[- ]clock) ?)?"
    r"(?:time|timing|duration|elapsed)s?",
    re.IGNORECASE,
)
"""A label of a time of nobody knows what, without a unit."""

_TIMES_STEPS = re.compile(
    r"(?:(?:^|[(:;,|]|\. )[\W_]{0,8}"
    r"|\b(?:(?:shows?|reports?|gives?|lists?|compares?|measured?|is|are|and)"
    r"|(?:comparison|overview|summary|measurements?) of) )"
    r"(?:(?!val|eval|infer|test|gener|sampl|roll|decod|prefill|first|last|warm|ideal|expect"
    r"|predict|estimat|simul|theor|reduc|relativ)(?-i:[A-Z])[\w.-]{1,24} (?=step|iter))?"
    r"(?:(?:the|all|our|average|avg\.?|mean|median|measured|wall[- ]clock|elapsed|training|absolute"
    r"|typical|end-to-end|numbers|values|times?|are|is|peak memory and|throughput and) ){0,4}"
    rf"(?:{_A_STEP}[ -](?:tim(?:e|ing)|latency|duration)s?\b"
    rf"|(?:wall[- ]clock )?(?:time|latency|duration|seconds|milliseconds|ms|s|sec)s?"
    rf" ?(?:/|per|(?:of|for) (?:an?|one|each)) ?{_A_STEP}\b)"
    r"|(?:单步|每步|单次迭代|每次迭代|迭代)(?:的)?(?:平均)?(?:耗时|时间|用时)"
    r"|(?:ステップ|イテレーション|反復)(?:の)?(?:平均)?(?:所要)?時間"
    r"|(?:스텝|이터레이션)(?:당)? ?(?:평균 )?(?:소요 ?)?시간",
    re.IGNORECASE,
)
"""A text that declares that the times below it are of steps."""

_TIMES_OTHERS = re.compile(
    r"\b(?:kernel|forward|backward|optimi[sz]er|communication|comm|all-?reduce|attention|mlp|layer"
    r"|epoch|save|saving|load|loading|checkpoint|startup|compile|compilation|data|bubble|overhead"
    r"|exposed|idle|share|part|fraction|per (?:layer|block|call|micro-?batch|token|sample|epoch))"
    r"(?: \w+)? times?\b|\btimes? (?:to|until|per (?:layer|block|call|micro-?batch|token|sample"
    r"|epoch)|of (?:an?|one|each|the) (?:kernel|layer|block|forward|backward|epoch|attention|call))"
    r"|\b(?:percent|%|share|fraction|part|rest|reduc\w+|breakdown|split) (?:of|in) (?:the )?"
    r"(?:step|iter(?:ation)?)[ -]time|\b(?:step|iter(?:ation)?)[ -]time (?:breakdown|composition"
    r"|by (?:part|component|category|operat(?:ion|or)|kernel|op))s?\b"
    r"|(?:耗时|时间|用时)(?:的)?(?:拆解|分解|拆分|构成|组成|占比|分布)|時間の?(?:内訳|構成)"
    r"|시간(?:의)? ?(?:구성|내역|분해)",
    re.IGNORECASE,
)
"""A text that speaks of the times of other things."""

_A_SHARE = re.compile(
    r"(?:(?:time|step|relative) )?(?:share|percent(?:age)?|fraction|proportion)"
    r"(?: of (?:the |a )?(?:total|whole|step|iteration)(?: time)?)?(?: ?[(\[]%[)\]])?"
    r"|(?:%|pct) ?of (?:the |a )?(?:total|whole|step|iteration)(?: time)?"
    r"|(?:时间|耗时)?占比(?: ?[(（]%[)）])?|割合|比率|비율|비중",
    re.IGNORECASE,
)
"""A label of what share of a step a time is: the times beside it are of parts of one."""

_A_KIND = re.compile(
    r"(?:part|component|category|operation|operator|op|kernel)s?|类别|算子|组件|部分|区間|処理|구간",
    re.IGNORECASE,
)
"""A label over the names of parts of a step."""


_MEMORY_IN = re.compile(
    r"\bmem(?:ory)?(?: (?:usage|use|consumption|footprint))?,? ?(?:[(\[]|in )([GM]i?B)\b",
    re.IGNORECASE,
)

_OF_ANOTHER_TABLE = re.compile(r"\b(?:next|other|following) table|table after\b", re.IGNORECASE)

_A_MEMORY = re.compile(r"(?:peak|max(?:imum)?)?[ _.]?mem(?:ory)?", re.IGNORECASE)


def _with_unit_of_memory(grid: Grid, near: Sequence[str]) -> Grid:
    """The grid with the unit of memory that its caption says, where a label is that word alone."""
    near = [text for text in near if not _OF_ANOTHER_TABLE.search(text)]
    units = {found for text in near for found in _MEMORY_IN.findall(text)}
    if len(units) != 1 or grid.labels or not grid.heads:
        return grid
    last, unit = grid.heads[-1], units.pop()
    cells = tuple(
        cell._replace(text=f"{plain(cell.text)} ({unit})")
        if _A_MEMORY.fullmatch(plain(cell.text))
        else cell
        for cell in last.cells
    )
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


_OF_STEPS = re.compile(
    r"\bper[- ](?:iteration|step)\b[\w -]{0,24}\btimes?\b|\btimes? per (?:iteration|step)\b"
    r"|^[^.;:]{0,24}\b(?:iteration|step)[- ]times?\b",
    re.IGNORECASE,
)
"""A caption of a table of times of a step: `Per-iteration wall-clock time (Unit: seconds)`."""

_A_TIME = re.compile(r"(?<!\bstep )(?<!\biteration )\btime$", re.IGNORECASE)


def with_units_in_english(grid: Grid, schema: Schema) -> Grid:
    """The grid with units in Chinese, Japanese and Korean put into English, in cells of what is
    measured: `96 样本/秒`."""
    if all(cell.text.isascii() for row in grid.rows for cell in row.cells) or not grid.heads:
        return grid
    free = {n for n, column in enumerate(header(grid.header(), schema)) if _is_measured(column)}
    names = header((plain(row.cells[0].text) if row.cells else "" for row in grid.rows), schema)
    rows = tuple(
        replace(row, cells=tuple(
            cell._replace(text=in_english(cell.text) or cell.text)
            if at in free or (at and _is_measured(name)) else cell
            for at, cell in enumerate(row.cells)
        ))
        for row, name in zip(grid.rows, names, strict=True)
    )  # fmt: skip
    return replace(grid, rows=rows)


def with_check_marks(grid: Grid, schema: Schema) -> Grid:
    """The grid with its marks of yes and no as they are usually printed, in columns of a switch:
    `√` beside `×`, `○` beside `×`."""
    if not grid.heads or not any(cell.text in _YES for row in grid.rows for cell in row.cells):
        return grid
    marks = dict.fromkeys(_YES, "✓") | dict.fromkeys(_NO, "✗")
    rows = [list(row.cells) for row in grid.rows]
    for at, column in enumerate(header(grid.header(), schema)):
        held = {row[at].text for row in rows if at < len(row)} - {"", "-", "—"}
        kept = "✓" if column.spec and column.spec.name == "recompute" else ""  # not how much
        if _is_switch(column) and held & _YES and held <= marks.keys() | {"✓", "✗"}:
            for row in rows:
                if at < len(row) and (mark := marks.get(row[at].text)):
                    row[at] = row[at]._replace(text=row[at].text if mark == kept else mark)
    return replace(grid, rows=tuple(
        replace(row, cells=tuple(cells)) for row, cells in zip(grid.rows, rows, strict=True)
    ))  # fmt: skip


_YES, _NO = {"√", "☑", "○", "◯", "〇"}, {"×", "✕", "✖", "╳", "☒"}
"""Marks of check boxes, and those of tables in Chinese and Japanese."""


def _is_switch(column: Column) -> bool:
    spec, label = column.spec, english(column.label)
    known = spec is not None and (spec.terminal == "BOOL" or spec.name == "recompute")
    return known or switches_flash(normalise(label)) or bool(named(label))


def _is_measured(column: Column) -> bool:
    return generic(column) or bool(column.spec and column.spec.quantity)


def with_outcomes(grid: Grid, schema: Schema, signs: Set[str]) -> Grid:
    """The grid with `OOM` for the signs by which its document says so, or for what another language
    has for it, where rows have numbers beside them that are no configuration."""
    elsewhere = {
        text for row in grid.rows for cell in row.cells
        if len(cell.text) <= LONGEST_OUTCOME
        and not (cell.text.isascii() and not _MAY_BE_NO_ROOM.search(cell.text))
        and not (cell.text.isascii() and _AS_IT_IS.match(plain(cell.text)))
        and NO_ROOM_ELSEWHERE.fullmatch(text := plain(cell.text))
    }  # fmt: skip
    signs = {*signs, *elsewhere}
    if not signs or not grid.heads:
        return grid
    columns = header(grid.header(), schema)
    free = {n for n, c in enumerate(columns) if n and not (c.spec and not c.spec.quantity)}
    rows = tuple(
        replace(row, cells=tuple(
            cell._replace(text="OOM") if at in free and plain(cell.text) in signs else cell
            for at, cell in enumerate(row.cells)
        ))
        for row in grid.rows
    )  # fmt: skip
    return replace(grid, rows=rows)


_AS_IT_IS = re.compile(r"[\s(-]*(?:cuda[ _-]?)?(?:oom|out[ _-]of[ _-]memory)(?![A-Za-z0-9])", re.I)
"""How a cell begins whose outcome is read as it is printed."""

_MAY_BE_NO_ROOM = re.compile(
    r"[Ss]peicher|[Pp]asst|[Mm]emoria|[Gg]eheugen|[Cc]abe|tient|[Mm]emory|_MEMORY|EXHAUST"
    r"|OOM[- ]?[Kk]|[:( ]OOM|VRAM|HBM|fit\b"
)
"""In a cell of ASCII that may say in another language, or at length, that memory was not enough."""


_RATED_IN = re.compile(
    r"(速度|吞吐[量率]?|性能|\bips|\b(?:speed|throughput))s?(?:的)?\s?(?:单位)?"
    r"\s*(?:(?:[^。；;|]{1,40}[，,、（(])?单位\s*)?(?:均?为|是|[:：]|(?<=单位)|(?<=单位 )"
    r"|\b(?:is|are)(?: in)?\b)"
    r"\s*[*_`]*((?:[A-Za-z]+|样本|词元|[条张])(?:\s*/\s*(?:[A-Za-z]+|[卡秒]))+)",
    re.IGNORECASE,
)
"""The unit that a text gives rates by the word that their labels have: `速度单位是 tokens/s/卡`."""


_RATED_IN_WORDS = re.compile(
    r"\b(speed|throughput)s?(?: (?:is|are|was|were))?(?: (?:given|measured|reported|counted|printed"
    r"|listed|shown))?,? in (?:training )?(tokens|samples|sequences|images|frames|clips|utterances"
    r"|examples|sentences|videos)"
    r"(?: ?\((?:or|and) [a-z]{1,24}\)|(?: or|/) ?[a-z]{1,24})?,? (?:per|a|each|every) second"
    r"(?P<of>,? (?:per|and|on each|of each|of one|for each|for one)(?: (?:per|one|each|a))? "
    r"(?P<each>GPU|device|card|accelerator|chip|NPU|HPU)\b)?",
    re.IGNORECASE,
)
"""The same in words: `throughput in clips (or images) per second`."""


@lru_cache(maxsize=REMEMBERED)
def _rated_in(text: str) -> tuple[tuple[str, str], ...]:
    """Words that a line gives units of rates to, each with its unit."""
    if len(text) > LONGEST:
        return ()
    return (
        *((each[1].casefold(), each[2].replace("卡", "GPU")) for each in _RATED_IN.finditer(text)),
        *(
            (each[1].casefold(), f"{each[2].casefold()}/s{'/GPU' if each['each'] else ''}")
            for each in _RATED_IN_WORDS.finditer(text)
        ),
    )


@lru_cache(maxsize=1024)  # a document has the same labels again and again
def _ends_as_rate(text: str) -> bool:
    """Whether a label ends in a word to which a text gives a unit."""
    return plain(text).casefold().endswith(_RATED_BY)


_RATED_BY = ("速度", "吞吐", "吞吐量", "吞吐率", "性能", "speed", "throughput", "ips")


_WHOLE_BATCH = r"(?:(?:global|total|effective)[ _-]?(?:batch(?:[ _-]?size)?|bsz|bs)|GBS)"

_IS_OF_TOKENS = re.compile(
    rf"(?<![\w-]){_WHOLE_BATCH}[*_`\"'”’]*\s*"
    r"(?:[:：=–—]|\b(?:is|are|means|counts)\b|[的为是指]|单位)"
    r"(?:(?!sequence|sample|\bnot\b|序列|样本)[^.。;；|0-9/]){0,60}?"
    r"(?:\b(?:in|of) tokens|\(tokens\)|\btokens (?:processed|seen|consumed"
    r"|(?:per|in|of) (?:(?:a|one|each|every|the) )?(?:global )?(?:step|iteration|batch|update)s?)"
    r"|(?<![A-Za-z])(?:tokens?|词元)(?: ?的)?(?: ?[总个]?数量?|(?=\s*(?:[。，,]|$))))"
    r"(?! ?/ ?s| per s)",
    re.IGNORECASE,
)
"""Words by which a column of batches is of tokens: `Global Bsz: the number of tokens of a step`."""


def with_batches_of_tokens(grid: Grid, above: Above) -> Grid:
    """The grid with its batches of the job as those of tokens, where a text above says so."""
    if not grid.heads or grid.labels:
        return grid
    last = grid.heads[-1]
    whole = {at for at, cell in enumerate(last.cells)
             if re.fullmatch(_WHOLE_BATCH, plain(cell.text), re.IGNORECASE)}  # fmt: skip
    if not whole or not any(_IS_OF_TOKENS.search(text) for text in above()):
        return grid
    cells = [cell._replace(text=f"{plain(cell.text)} (tokens)") if at in whole else cell
             for at, cell in enumerate(last.cells)]  # fmt: skip
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=tuple(cells))))


def with_rate_units(grid: Grid, above: Above) -> Grid:
    """The grid with the unit of rates behind labels that end in the word to which a text above
    gives one: `4090 速度`, `Megatron-LM 吞吐率`."""
    if not grid.heads or grid.labels or not any(map(_ends_as_rate, _lowest(grid))):
        return grid
    told = {found for text in above() for found in _rated_in(text)}
    if len(told) != 1:
        return grid
    ((word, printed),) = told
    last = grid.heads[-1]
    labels = [plain(cell.text) for cell in last.cells]
    names = [label[: -len(word)].strip() for label in labels if label.casefold().endswith(word)]
    known = [name for name in names if only(name) or program_named(name)]
    alone = names == [""]
    if not alone and len(known) < len(names) and (not known or not all(names)):
        return grid
    cells = [
        cell._replace(text=f"{label} ({printed})")
        if label.casefold().endswith(word) and label[: -len(word)].strip() in names
        else cell
        for cell, label in zip(last.cells, labels, strict=True)
    ]
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=tuple(cells))))


_THINGS = re.compile(
    r"(?:training )?(tokens|samples|sequences|images|frames|clips|utterances|examples|sentences"
    r"|videos|pairs)",
    re.IGNORECASE,
)
"""Labels of what is counted, and nothing more."""

_EACH_SECOND = re.compile(
    r"([~≈]?\s*[0-9][0-9.,]*\s?[kKM]?)\s?(?:/\s?s(?:ec(?:ond)?)?\.?|(?:per|a) sec(?:ond|\.)?)"
)


def with_rates_of_things(grid: Grid) -> Grid:
    """The grid with the label of a rate over things that its cells count a second: `Images` over
    `96.2/s`."""
    if not grid.heads or grid.labels:
        return grid
    last = grid.heads[-1]
    rated = _counted_each_second(
        grid, [at for at, cell in enumerate(last.cells) if _THINGS.fullmatch(plain(cell.text))]
    )
    if not rated:
        return grid
    cells = tuple(
        cell._replace(text=f"{plain(cell.text)}/s") if at in rated else cell
        for at, cell in enumerate(last.cells)
    )
    heads = (*grid.heads[:-1], replace(last, cells=cells))
    return replace(grid, heads=heads, rows=_bare(grid, rated))


_IN_A_RATE = re.compile(
    r".*[(\[][a-z]{2,12}(?: ?/ ?| per )s(?:ec(?:ond)?)?"
    r"(?:(?: ?/ ?| per |, )[a-z ]{2,12})?[)\]]",
    re.IGNORECASE,
)
"""A label with the unit of a rate in brackets: `Throughput (samples/s)`."""


def with_bare_rates(grid: Grid) -> Grid:
    """The grid without *a second* behind numbers whose label has the whole unit: `61.4/s` below
    `Throughput (samples/s)`, in brackets there or in the text above."""
    if not grid.heads or grid.labels:
        return grid
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    named = [at for at, label in enumerate(labels) if _IN_A_RATE.fullmatch(label)]
    rated = _counted_each_second(grid, named)
    return replace(grid, rows=_bare(grid, rated)) if rated else grid


def _counted_each_second(grid: Grid, places: Sequence[int]) -> set[int]:
    """The columns among some whose numbers are all a second: `96.2/s`."""
    texts = {
        at: [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)] for at in places
    }
    return {
        at for at, held in texts.items()
        if (numbers := [text for text in held if _DIGIT.search(text)])
        and all(map(_EACH_SECOND.fullmatch, numbers))
    }  # fmt: skip


def _bare(grid: Grid, rated: Set[int]) -> tuple[GridRow, ...]:
    """The rows of a grid with the bare numbers of columns that count a second."""

    def bare(row: GridRow) -> GridRow:
        cells = tuple(
            cell._replace(text=found[1])
            if at in rated and (found := _EACH_SECOND.fullmatch(plain(cell.text)))
            else cell
            for at, cell in enumerate(row.cells)
        )
        return replace(row, cells=cells)

    return tuple(map(bare, grid.rows))


_DIGIT = re.compile("[0-9]")


_COUNTER = re.compile(r"steps?|iter(?:ation)?s?", re.IGNORECASE)


def _numbers_steps(grid: Grid, at: int, label: str) -> bool:
    """Whether a column numbers steps: called a step and nothing more, and whole numbers alone."""
    cells = [row.cells[at].text.strip() for row in grid.rows if at < len(row.cells)]
    return _COUNTER.fullmatch(label) is not None and all(cell.isdecimal() for cell in cells if cell)


def _timed(own: Column, told: Column) -> bool:
    """Whether a column is one of times of a step once its label has a unit."""
    known = own.spec is not None and (own.unit_known or own.spec.name != "step_time")
    return not known and told.spec is not None and told.spec.name == "step_time"


_UNIT_OF_ALL = re.compile(
    r"(?:单位(?:均?为|是|[:：])?|\b(?i:units?|performance|throughput|numbers|values|figures|results)\b"
    r"[^.;|]{0,40}?(?:\b(?:in|is|are)\b|:))\s*[*`]*"
    r"([A-Za-z]+(?:/(?:[A-Za-z]+|卡))+|[A-Za-z]+ per sec(?:ond)?(?: per (?:GPU|device))?\b)"
)
"""The unit that a text gives everything in the table below it."""


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _of_everything(text: str) -> tuple[str, ...]:
    """Units that a line gives everything in the table below it."""
    found = _UNIT_OF_ALL.findall(text) if len(text) <= LONGEST else ()
    return tuple(each.replace("卡", "GPU").replace(" per ", "/") for each in found)


def unit_of_all(above: Sequence[Line]) -> str | None:
    """The one unit in which the text above a table says that all its numbers are.

    >>> unit_of_all([Line(1, "Values are tokens/s/GPU; MFU is given for v0.14.", 1, {})])
    'tokens/s/GPU'
    """
    units = {found for line in above for found in _of_everything(line.text)}
    return units.pop() if len(units) == 1 else None


_OWN = {"性能", "吞吐", "吞吐量"}
"""Labels of the machines that a document is about, beside a column of others."""

_OF_WHOM = re.compile(
    r"性能|吞吐量?|(?<![A-Za-z])(?:performance|throughput|perf|speed)(?![A-Za-z])", re.I
)


_COMPARED = re.compile(
    r"speed-?up|scaling|efficiency|ratio|relative|improve|gain|increase|\bvs\b|\bto\b|%|加速|提升|效率",
    re.IGNORECASE,
)
"""A label of what two rates are to each other: `Throughput speedup (TF32 to mixed precision)`."""

_SIZED = re.compile(r"\([^()]+\)$")
"""Something in brackets behind a name, which is a part of it."""

_IN_ITS_UNIT = re.compile(r"\([^()]*/[^()]*\)$")


def _same(own: Column, other: Column) -> bool:
    """Whether two columns are of the same quantity."""
    return own.spec is not None and other.spec is not None and own.spec.name == other.spec.name


def by_unit_above(
    grid: Grid, schema: Schema, above: Sequence[Line]
) -> list[tuple[str, int, str, Column]]:
    """Name, place, device and column of each side whose unit the text above a table says; the
    device is empty where nothing says which."""
    printed = unit_of_all(above)
    if printed is None:
        return []
    (column,) = header([f"throughput ({printed})"], schema)
    if column.spec is None or not column.spec.quantity:
        return []
    told, sides = explained(above), []
    whole = [plain(text) for text in grid.header()]
    same = [_same(each, column) for each in header(whole, schema)]
    labels = [
        _IN_ITS_UNIT.sub("", label).strip() if alike or label.endswith(f"({printed})") else label
        for label, alike in zip(whole, same, strict=True)
    ]
    for at, (label, own) in enumerate(zip(labels, header(labels, schema), strict=True)):
        name = _OF_WHOM.sub(" ", label).strip(" _-:：")
        name = name if _SIZED.search(name) else name.strip(" _-:：()（）")
        device = meant(name, told) or meant(label, told)
        of_whom = _OF_WHOM.search(label) is not None
        if _IN_ITS_UNIT.search(label) or _COMPARED.search(label):
            continue
        named_so = own.spec is None or (device and _same(own, column))
        if named_so and (device or of_whom) and (device or name or label in _OWN):
            sides.append((name or label, at, device or "", replace(column, label=label)))
    rest = [label for at, label in enumerate(whole) if at not in {at for _, at, _, _ in sides}]
    if labels != whole and any(name in label for name, *_ in sides for label in rest):
        return []  # of each there is more than a rate, whose own units stand in the labels
    mine = {at for _, at, _, _ in sides}
    left = any(
        at not in mine
        and own.spec is None
        and not _COMPARED.search(own.label)
        and _all_numbers(grid, at)
        for at, own in enumerate(header(whole, schema))
    )
    return sides if len(sides) > 1 or (all(dev for _, _, dev, _ in sides) and not left) else []


def _all_numbers(grid: Grid, at: int) -> bool:
    """Whether a column holds numbers and nothing else."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    return bool(texts) and all(_digits(text) is not None for text in texts)
