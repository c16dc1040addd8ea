"""Columns whose labels leave open what they are, by a sentence above their table.

In: a grid and the texts above it. Out: the same with `Batch` as the batch of each device, or of the
whole job, where the text says so: `Batch size is per GPU.` And with the unit of a memory in its
label, with `reserved` where that is what was read, with labels of memory for words of PyTorch's
allocator, for a bare unit of bytes, and for what was measured beside its estimate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from math import prod

from assay.ingest.columns.composite import named, size_alone
from assay.ingest.columns.headers import RESERVED, Column, header, plain
from assay.ingest.columns.subject import names_rates
from assay.ingest.columns.titles import SIZED, family_of_sizes, model_named
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.grids.ratios import COMPARED
from assay.ingest.schema.record import REMEMBERED, Schema
from assay.ingest.vocabulary.attention_names import names_attention
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.recomputation import (
    OF_A_PART,
    how_much_again,
    kept_by_policy,
    speaks_of_it,
)
from assay.ingest.vocabulary.terms import configured_by, normalise
from assay.ingest.vocabulary.words import english

Above = Callable[[], Sequence[str]]
"""The texts above a table: they are put together where a label asks for what they say."""


_OPEN = frozenset(map(normalise, (
    "batch", "batchsize", "bs", "bsz", "mini-batch", "mini-batch size", "батч", "размер батча",
    "train batch size", "train batch", "train bs", "train bsz",
    "批大小", "批次大小", "批量大小",
    "Batchgröße", "taille de lot", "taille de batch", "tamaño de lote", "バッチサイズ", "배치",
    "배치 크기", "バッチ", "批次",
)))  # fmt: skip
"""Labels of a batch that say nothing of whose it is."""

_OF_BATCHES = ("batch", "батч", "bs", "批", "lot", "バッチ")
"""One of these is in every text that speaks of batches."""

_BARE = {"batch", "батч", "배치", "バッチ", "批次"}
"""Those that name no size."""

_OF_WHAT = re.compile(
    r"\s+(?:[(\[](?:in )?|in )(?:seqs?|sequences|samples|images|imgs|examples|sentences)[)\]]?$",
    re.IGNORECASE,
)
"""Of what a batch is, behind the word for it: `Batch (seqs)`."""

_DEVICES = (
    r"(?:GPU|device|card|rank|chip|NPU|TPU|HPU|accelerator|GCD|tile|core"
    r"|data[- ]parallel (?:rank|replica|worker|process))"
)

_IS = (
    r"(?:is|are|was|were|means?|refers? to|=)(?: (?:always|all|given|stated|quoted|listed|counted"
    r"|reported|specified|shown|understood|meant|in (?:sequences|samples|images|examples)"
    r"|the (?:size|number|one|batch(?: ?size)?)))*"
)

_SUBJECT = (
    r"(?<!\bglobal )(?<!\btotal )(?<!\beffective )(?<!\beval )"
    r"\b(?:batch(?:[ _-]?sizes?)?|bs|(?<!\bmicro[ _-])bsz)[`*_\"]*"
)

_AXIS = r"\b(?:columns?|rows?|header|across|down)(?:\s?[:=]| (?:is|are|gives?|shows?|holds?))?\s"
"""In front of the name of an axis: `Rows: GPUs. Columns: batch size per GPU.`"""

_OF_ONE = re.compile(
    rf"{_SUBJECT} {_IS} [`*_]*(?:per[ -]|for (?:each|one|a single) |of (?:each|one|a single) "
    rf"|on (?:each|one|a single) |that of (?:each|one) ){_DEVICES}\b"
    rf"|{_SUBJECT} {_IS} (?:the )?[`*_]*(?:per[ -]{_DEVICES}|local|micro)[ -]batch"
    rf"|{_SUBJECT} {_IS} (?:the )?(?:number of |how many )[\w ]{{1,24}} "
    rf"(?:on|per|for|in|of) (?:(?:one|an?|each|every|a single) )?{_DEVICES}\b"
    rf"|\bbatch[ _-]?sizes?[`*_\"]* [(（](?:always |all )?(?:per|on each|of each)[ -]"
    rf"{_DEVICES}[)）]"
    rf"|(?:^\W*|{_AXIS})(?:the |all |our )?batch(?:[ -]?sizes?)?(?:,| (?:given|stated|quoted))? "
    rf"(?:per|on each) {_DEVICES}\W*$"
    r"|\bбатч\w*(?: \w+)? (?:указан\w*|дан\w*|считается|—|-) (?:на|для) (?:одну |каждую |одной )?"
    r"(?:видео)?(?:карт[уы]|GPU)"
    r"|(?<![局总体])(?<![局总体] )(?<!global )(?<!total )(?:batch(?:[ _-]?size)?|批(?:次|量)?大小)"
    r"[`*]{0,2}\s*(?:(?:均|都)?(?:为|是|指)|[（(：:])\s*"
    r"(?:单卡|每卡|每[张块个]?(?:显卡|卡|GPU))(?![^，。；,;]{0,12}倍)"
    r"|\bbatchgrößen? (?:gilt|ist|sind|gelten|versteht sich|bezieht sich auf) (?:je|pro) "
    r"(?:GPU|Karte|Grafikkarte)|\btailles? de (?:lot|batch) (?:est|sont) (?:donnée?s? )?par "
    r"(?:GPU|carte)|\btamaño de lote es por (?:GPU|tarjeta)"
    r"|(?:バッチ(?:サイズ)?|列)は ?(?:すべて|全て)?(?:1 ?)?"
    r"(?:GPU|カード|デバイス)(?: ?1 ?[枚台基])?"
    r" ?(?:あたり|当たり|ごと)(?:の(?:バッチ|サイズ|値)|です|。|、|$)",
    re.IGNORECASE,
)
"""A sentence by which the batches of a table are those of each device."""

_OF_ALL = re.compile(
    rf"{_SUBJECT} {_IS} (?:the )?[`*_]*(?:global|in total|total|summed|over all|across all"
    rf"|for all|of all|of the whole job|(?:the )?number of [\w ]{{1,24}} in (?:an?|the|one) "
    r"(?:global|total) batch)\b"
    rf"|\bcolumn (?:{_IS}|gives|holds|shows|lists) (?:the )?[`*_]*(?:global|total) batch\b"
    rf"|{_AXIS}(?:the )?(?:global|total) batch(?:[ -]?sizes?)?\W*$"
    r"|批(?:次|量)?大小(?:均|都)?(?:为|是|指)(?:全局|总)"
    r"|(?:(?<!マイクロ)バッチ(?:サイズ)?|列)は ?(?:すべて|全て)?"
    r"(?:全体(?!で)|グローバル|合計|総バッチ)",
    re.IGNORECASE,
)
"""A sentence by which the batches of a table are those of the whole job."""

_NOT = re.compile(
    r"\b(?:not|unless|except|but|if|when|where|some)\b|\bне\b"
    r"|では?(?:ない|なく|ありません)|不是|并非",
    re.IGNORECASE,
)

_SENTENCE = re.compile(r"(?<=[.;。!])\s*(?=\S)")


def with_batch_scopes(
    grid: Grid, schema: Schema, above: Callable[[], Sequence[str]], legend: Mapping[str, str]
) -> Grid:
    """The grid with its one column of a batch as that of a device, or of the job, as all sentences
    say that speak of it, or of a device as steps of accumulation beside it do; with its size for a
    `Batch` of runs of which none does, nor `legend`. One of the job may stand beside that of each
    device."""
    if not grid.heads or grid.labels:
        return grid
    last = grid.heads[-1]
    bare = (_OF_WHAT.sub("", plain(cell.text)) for cell in last.cells)
    names = [normalise(text) for text in bare]
    of_batches = [name in _OPEN or any(map(name.__contains__, _BARE)) for name in names]
    open_ones = [at for at, name in enumerate(names) if name in _OPEN]
    if len(open_ones) != 1:
        return grid
    (at,) = open_ones
    told = {whose for text in above() for whose in whose_batch(text)}
    told = told or ({"micro"} if _accumulated(grid, at, names) else set())
    cells = [*last.cells]
    others = {
        configured_by(plain(cells[n].text)) for n, of in enumerate(of_batches) if of and n != at
    }
    beside = told == {"global"} and others == {"micro_batch"}
    if len(told) > 1 or not (beside or sum(of_batches) == 1):
        return grid
    open_ = names[at] in _BARE and plain(cells[at].text) not in legend and _sized(grid, at)
    if not told and not (open_ and names_rates(grid.header(), schema)):
        return grid
    cells[at] = cells[at]._replace(text=" ".join([*told, "batch size"]))
    return _last_labelled(grid, cells)


def _accumulated(grid: Grid, at: int, names: Sequence[str]) -> bool:
    """Whether batches become larger as there are fewer of them in a step, by a column of steps of
    accumulation: `batch | accumulation` over `1 | 16` and `2 | 8`."""
    steps = [n for n, name in enumerate(names) if configured_by(name) == "accumulation"]
    rows = [row for row in grid.rows if len(row.cells) == len(names)] if len(steps) == 1 else []
    sizes = {(_count(row.cells[at].text), _count(row.cells[steps[0]].text)) for row in rows}
    return len(sizes) > 1 and all(map(all, sizes)) and len({a * b for a, b in sizes}) == 1


def _sized(grid: Grid, at: int) -> bool:
    """Whether the cells of a column are whole numbers that do not count its rows."""
    sizes = [_count(row.cells[at].text) if at < len(row.cells) else 0 for row in grid.rows]
    counts = len(sizes) > 1 and all(b - a == 1 for a, b in pairwise(sizes))
    return bool(sizes) and all(sizes) and not counts


_LETTER = re.compile(r"([BT])(?:\s*\(-[bt]\))?")

_OF_A_STEP = re.compile(r"total[ _]batch(?:[ _]size)?(?:\s*\(-d\))?", re.IGNORECASE)

_LEAST_LENGTH = 64


def with_letters(grid: Grid) -> Grid:
    """The grid with `B` and `T` for what they are to programs of the kind of nanoGPT, sequences of
    a device and tokens of each, where their numbers may be that; and with tokens for the total
    batch of a step that is a multiple of both."""
    if not grid.heads or grid.labels:
        return grid
    grid = _with_options(_with_global_batches(_with_micro_batches(_without_progress(grid))))
    last, told = grid.heads[-1], dict[str, int]()
    labels = [plain(cell.text) for cell in last.cells]
    for at, label in enumerate(labels):
        if letter := _LETTER.fullmatch(label):
            told[letter[1]] = at if letter[1] not in told else -1
    if told.keys() != {"B", "T"} or min(told.values()) < 0:
        return grid
    rows = [row for row in grid.rows if len(row.cells) == len(labels)]
    sizes, lengths = ([_count(row.cells[told[name]].text) for row in rows] for name in "BT")
    if not rows or not all(sizes) or any(n < _LEAST_LENGTH or n % 16 for n in lengths):
        return grid
    names = {told["B"]: "micro batch size", told["T"]: "sequence length"}
    for at, label in enumerate(labels):
        totals = [_count(row.cells[at].text) for row in rows]
        many = zip(totals, sizes, lengths, strict=True)
        if _OF_A_STEP.fullmatch(label) and all(n and n % (b * t) == 0 for n, b, t in many):
            names[at] = "global batch (tokens)"
    cells = tuple(
        cell._replace(text=names.get(at, cell.text)) for at, cell in enumerate(last.cells)
    )
    return _last_labelled(grid, cells)


_OPTION = re.compile(r"-(?:b|bs)")

_STEP_IN_TOKENS = re.compile(
    r"(?:global|total)[ _]batch(?:[ _]size)? ?[(\[,]? ?(?:in )?tok(?:en)?s?[)\]]?", re.IGNORECASE
)


def _with_options(grid: Grid) -> Grid:
    """The grid with batches for `-b`, the option of a program, over small whole numbers, and with
    micro-batches for `B` beside the tokens of a step, which are a multiple of each."""
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    options = [n for n, label in enumerate(labels) if _OPTION.fullmatch(label)]
    letters = [n for n, label in enumerate(labels) if label == "B"]
    totals = [n for n, label in enumerate(labels) if _STEP_IN_TOKENS.fullmatch(label)]
    told = dict.fromkeys(options if len(options) == 1 else (), "batch size")
    if len(letters) == len(totals) == 1:
        told[letters[0]] = "micro batch size"
    for at in (*told,):
        rows = [row.cells for row in grid.rows if len(row.cells) == len(labels)]
        sizes = [_count(cells[at].text) for cells in rows]
        mine = bool(sizes) and all(0 < size <= _MOST_AT_ONCE for size in sizes)
        if mine and at in letters:
            of_all = [_count(cells[totals[0]].text) for cells in rows]
            many = zip(of_all, sizes, strict=True)
            mine = all(total and total % (_LEAST_LENGTH * size) == 0 for total, size in many)
        if not mine:
            del told[at]
    return _with_labels(grid, told)


_MOST_AT_ONCE = 1024
"""Sequences of a micro-batch beyond which numbers under `mb` may be megabytes."""

_MB = re.compile(r"mb|(?i:dev(?:ice)?[ _-]?mb|mb ?/ ?dev(?:ice)?)")

_ACCUMULATES = re.compile(
    r"(?:grad(?:ient)?s?\.?[ _-]?)?accum(?:\.|ulat\w+)?(?:[ _-]steps?)?|ga|gas", re.IGNORECASE
)


_STEPS_DONE = re.compile(r"(?:batch(?:es)?|steps?|iter(?:ation)?s?)", re.IGNORECASE)

_MICRO_DONE = re.compile(r"(?:num[ _]?)?micro[ _-]?batches", re.IGNORECASE)


def _without_progress(grid: Grid) -> Grid:
    """The grid without micro-batches that are counted from the start of the run, as many times the
    steps done beside them in every row: those of a step are not so many."""
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    steps = [n for n, label in enumerate(labels) if _STEPS_DONE.fullmatch(label)]
    micro = [n for n, label in enumerate(labels) if _MICRO_DONE.fullmatch(label)]
    rows = [row.cells for row in grid.rows if len(row.cells) == len(labels)]
    if not len(steps) == len(micro) == 1 or len(rows) <= 1:
        return grid
    done = [(_count(cells[steps[0]].text), _count(cells[micro[0]].text)) for cells in rows]
    rising = all(a < b for (a, _), (b, _) in pairwise(done))
    if not rising or not done[0][0] or len({many / step for step, many in done}) != 1:
        return grid
    return _with_labels(grid, {micro[0]: "micro-batches done"})


def _with_micro_batches(grid: Grid) -> Grid:
    """The grid with micro-batches for `mb`, or `DevMB`, over small whole numbers, beside steps of
    accumulation: elsewhere it may be a memory."""
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    named = [n for n, label in enumerate(labels) if _MB.fullmatch(label)]
    at = named[0] if len(named) == 1 else -1
    if at < 0 or not any(map(_ACCUMULATES.fullmatch, labels)):
        return grid
    sizes = [_count(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    if not sizes or not all(0 < size <= _MOST_AT_ONCE for size in sizes):
        return grid
    return _with_labels(grid, {at: "micro batch size"})


def _with_global_batches(grid: Grid) -> Grid:
    """The grid with global batches for `global` over multiples of the micro-batches beside it:
    `micro | global | dp`."""
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    at = labels.index("global") if labels.count("global") == 1 else -1
    micro = next((n for n, x in enumerate(labels) if configured_by(x) == "micro_batch"), -1)
    if at < 0 or micro < 0:
        return grid
    rows = [row for row in grid.rows if len(row.cells) == len(labels)]
    sizes = [tuple(_count(row.cells[n].text) for n in (at, micro)) for row in rows]
    if not sizes or not all(all(pair) and pair[0] % pair[1] == 0 for pair in sizes):
        return grid
    return _with_labels(grid, {at: "global batch size"})


_AGAIN = (
    r"(?:(?:grad(?:ient)?|act(?:ivation)?)s?\.?[ _-]?)?"
    r"(?:check-?pointing|ch?kpt|checkpoints?|GC|recomp(?:\.|ute|utation)?|remat)"
)

_OF_ACTS = (
    r"(?:check-?point(?:ing|ed)?|ch?kpt|recomp(?:\.|ute)?|remat)[ _-]act(?:ivation)?s?\.?"
    r"|activations?[ _-](?:check-?point(?:ing|s)?|ckpt|recompute)"
)
"""Names of recomputation with the activations behind the word, as of options: `ckpt_act`."""

_SWITCH = re.compile(
    r"check-?pointing|ckpt|checkpoints?|GC|recomp(?:\.|ute)?|grad(?:ient)?s?\.?[ _-]?ch?kpt"
    rf"|{_OF_ACTS}",
    re.I,
)

_IN_SEQUENCE = re.compile(r"seq(?:uence)?\.?[ _-]?par(?:\.|all?(?:el)?(?:ism)?\.?)?|SP", re.I)
"""Labels over switches of sequence parallelism: `seq-par`, `SP`; over numbers they are of a
degree."""

_ATTENTION = {"attention", "attn", "attn.", "att."}
"""Labels of attention, whatever of it: of its kernel, where all cells name one."""

_SWITCH_OF_ALL = re.compile(
    rf"full[ _-](?:{_AGAIN}|AC)|(?:{_AGAIN}|AC) ?[(\[,]? ?full[)\]]?", re.IGNORECASE
)
"""A label over switches of whether all is computed again: `full act. ckpt`."""

_NOT_ALL = re.compile(r"\bselectiv|\bpartial|部分重|选择性", re.IGNORECASE)
"""Words of a table or a text by which less than all may be computed again."""

_SWITCHED = re.compile(
    r"yes|no|on|off|true|false|[yn✓✔✗✘✅❌]|none|full|selective|never|always|except[_ -]last"
    r"|-|–|—",
    re.IGNORECASE,
)

_OF_LAYERS = re.compile(
    r"(?:(?:the|all|every|each|half|some|only|other|first|last|of|[0-9]{1,3}(?:st|nd|rd|th)?)"
    r"[ _-]){0,3}(?:transformer[ _-])?(?:blocks?|layers?)",
    re.IGNORECASE,
)
"""Parts that are computed again, under a label of that beside switches: `every 2nd block`."""


_FIRST_OF_TWO = {
    "params": re.compile(
        r"total ?(?:/|\(|and) ?activ\w* ?(?:params?|parameters)?\)?|(?:params?|parameters|size) ?"
        r"\(?total ?(?:/|and) ?activ\w*\)?",
        re.IGNORECASE,
    ),
    "experts": re.compile(
        r"(?:#|num(?:ber of)? )?experts? ?(?:\(top-?k\)|/ ?top-?k)", re.IGNORECASE
    ),
}
"""Labels of two numbers, the second of them in use: `Total / Active Params`, `Experts (topk)`."""

_TWO_NUMBERS = re.compile(r"([0-9][0-9,.]*\s?[BM]?)\s*(?:/|\()\s*[0-9][0-9,.]*\s?[BM]?\s*\)?")


_AND_SHARED = re.compile(r"([0-9]{1,4}) ?(?:\+|,|and) ?[0-9]{1,2} shared", re.IGNORECASE)
"""Experts that tokens are routed to, and those that all of them go to."""


def with_first_of_two(grid: Grid) -> Grid:
    """The grid with the first of two numbers under labels that name both, the whole and what of it
    is in use: `46.7B / 12.9B`, `8 (2)`; of experts those that are routed to: `64 + 2 shared`."""
    if not grid.heads or grid.labels:
        return grid
    last, names = grid.heads[-1], dict[int, str]()
    rows = [row for row in grid.rows if len(row.cells) == len(last.cells)]
    for at, cell in enumerate(last.cells):
        label = plain(cell.text)
        name = next((n for n, form in _FIRST_OF_TWO.items() if form.fullmatch(label)), None)
        texts = [plain(row.cells[at].text) for row in rows]
        if name and rows and all(map(_TWO_NUMBERS.fullmatch, texts)):
            names[at] = name
        elif configured_by(label) == "experts" and any(map(_AND_SHARED.fullmatch, texts)):
            names[at] = label
    if not names:
        return grid

    def first(row: GridRow) -> GridRow:
        cells = list(row.cells)
        for at in names if len(cells) == len(last.cells) else ():
            text = plain(cells[at].text)
            found = _TWO_NUMBERS.fullmatch(text) or _AND_SHARED.fullmatch(text)
            cells[at] = cells[at]._replace(text=found[1].strip()) if found else cells[at]
        return replace(row, cells=tuple(cells))

    cells = tuple(c._replace(text=names.get(n, c.text)) for n, c in enumerate(last.cells))
    heads = (*grid.heads[:-1], replace(last, cells=cells))
    return replace(grid, heads=heads, rows=tuple(map(first, grid.rows)))


_OF_NO_RATE = re.compile(
    r"(?:GPU|device|node|card)?[ -]?(?:hours?|days?|price|cost|count|nodes|GPUs|cards"
    r"|memory size)\b",
    re.IGNORECASE,
)


def with_one_device(grid: Grid) -> Grid:
    """The grid with a column for the one device that several labels begin with, and these without
    it: `Model | A100 tokens/s/GPU | A100 MFU`. Those of two devices are sides, whether or not the
    name of the other one is known: `QT-30 tokens/s/GPU`."""
    labels = [plain(label) for label in grid.header()] if grid.heads else []
    named = {at: found for at, label in enumerate(labels) if (found := devices(label))}
    if grid.labels or len(named) < SEVERAL or len({each[0].text for each in named.values()}) > 1:
        return grid
    rest = {at: labels[at][each[0].end :].strip(" :-–") for at, each in named.items()}
    if any(
        len(each) > 1 or each[0].at or not rest[at] or _OF_NO_RATE.match(rest[at])
        for at, each in named.items()
    ):
        return grid
    others = [label for at, label in enumerate(labels) if at not in named]
    if any(label.endswith(f" {each}") for each in rest.values() for label in others):
        return grid  # another one stands beside it, whose name says nothing
    device = next(iter(named.values()))[0].text
    last = grid.heads[-1]
    cells = [c._replace(text=rest.get(at, c.text)) for at, c in enumerate(last.cells)]
    first = next(iter(named))
    heads = [
        replace(row, cells=(*row.cells, row.cells[first]._replace(text="")))
        if len(row.cells) == len(labels) else row
        for row in grid.heads[:-1]
    ]  # fmt: skip
    final = replace(last, cells=(*cells, last.cells[first]._replace(text="GPU")))
    rows = [
        replace(row, cells=(*row.cells, row.cells[first]._replace(text=device)))
        if len(row.cells) == len(labels) else row
        for row in grid.rows
    ]  # fmt: skip
    return replace(grid, heads=(*heads, final), rows=tuple(rows))


SEVERAL = 2
"""Labels that begin with one device, before it is that of the table."""

_SPLIT_BY = {"tensor": "tp", "pipeline": "pp", "data": "dp", "expert": "ep", "context": "cp"}

_A_DEGREE = re.compile(r"[0-9]{1,4}|\W*")


def with_degrees_in_words(grid: Grid) -> Grid:
    """The grid with the short names of degrees over columns of whole numbers that have one word
    each for what is split: `world_size,tensor,pipeline,data`."""
    labels = [normalise(plain(label)) for label in grid.header()] if grid.heads else []
    if grid.labels or not {"tensor", "pipeline"} <= {*labels}:
        return grid
    at = {n: _SPLIT_BY[label] for n, label in enumerate(labels) if label in _SPLIT_BY}
    rows = (row for row in grid.rows if len(row.cells) == len(labels))
    if len({*at.values()}) < len(at) or not all(
        _A_DEGREE.fullmatch(plain(row.cells[n].text)) for row in rows for n in at
    ):
        return grid
    last = grid.heads[-1]
    cells = tuple(c._replace(text=at.get(n, c.text)) for n, c in enumerate(last.cells))
    return _last_labelled(grid, cells)


def with_models(grid: Grid) -> Grid:
    """The grid with the label of a model over a column of workloads, most of which name one, by its
    size or as a public one, or of names, all of which are one's or stand beside what identifies it,
    where no other column does: `workload | llama3.1-8b-pretrain`, `Name | R50-FPN`. Numbers under
    `model id` name none."""
    labels = [normalise(plain(label)) for label in grid.header()] if grid.heads else []
    sizes = [at for at, label in enumerate(grid.header()) if family_of_sizes(plain(label))]
    if len(sizes) == 1 and not grid.labels:
        grid = _with_labels(grid, {sizes[0]: "model size"})
    corner = not grid.labels and labels[:1] == [""] and labels.count("") == 1
    of_models = _WORKLOADS | _NAMES | _CONFIGS | _BACKBONES | _SIZES
    if grid.labels or not (corner or {*labels} & of_models):
        return grid
    detectors = [at for at, label in enumerate(labels) if label in _DETECTORS]
    if len(detectors) == 1 and {*labels} & _BACKBONES:  # `Method | Backbone`: a network in a model
        inner = {n: "its backbone" for n, label in enumerate(labels) if label in _BACKBONES}
        return _with_labels(grid, {detectors[0]: "model", **inner})
    rows = [row for row in grid.rows if len(row.cells) == len(labels)]
    texts = [[text for row in rows if (text := plain(row.cells[at].text))]
             for at in range(len(labels))]  # fmt: skip
    ids = [
        at
        for at, label in enumerate(labels)
        if label in _IDENTIFIERS and texts[at] and all(map(_NUMBERED.fullmatch, texts[at]))
    ]
    told = dict.fromkeys(ids, "id")
    named = [at for at, label in enumerate(labels) if label in _WORKLOADS]
    models = [t for t in (texts[named[0]] if len(named) == 1 else ())
              if _A_MODEL.match(t) or _names_a_model(t)]  # fmt: skip
    if len(named) == 1 and 2 * len(models) <= len(rows):
        named = []
    named = named or [at for at, label in enumerate(labels) if label in _NAMES
                      and texts[at] and (ids or all(map(_names_a_model, texts[at])))]  # fmt: skip
    named = named or [at for at, label in enumerate(labels) if label in _CONFIGS
                      and len({*texts[at]}) == len(rows) > 1
                      and all(map(_OF_A_NETWORK.fullmatch, texts[at]))]  # fmt: skip
    named = named or [at for at, label in enumerate(labels) if label in _SIZES
                      and texts[at] and all(map(_is_a_name, texts[at]))]  # fmt: skip
    if not named and corner and len(texts[0]) == len(rows) > 1 and all(map(_is_a_model, texts[0])):
        named = [0]
    if len(named) == 1 and not any(_of_a_model(n) for at, n in enumerate(labels) if at not in told):
        told[named[0]] = "model"
    return _with_labels(grid, told) if told else grid


def _is_a_name(text: str) -> bool:
    """Whether a text is the name of a model, its size with it, and no size alone."""
    return not size_alone(text) and model_named(text) == text


_SIZES = {
    "modelsize", "parameters", "params", "modelparameters", "模型参数量", "模型参数", "参数量",
    "参数规模", "模型规模", "模型大小",
}  # fmt: skip
"""Labels of how large models are, below which some tables name the models."""


def with_lengths(grid: Grid) -> Grid:
    """The grid with the label of sequence lengths over the one column of lengths, where all of
    these are whole multiples of 128 and no other column has such: `Batch | Length | tokens/s`."""
    labels = [normalise(plain(label)) for label in grid.header()] if grid.heads else []
    at = next((n for n, label in enumerate(labels) if label in _LENGTHS), None)
    if grid.labels or at is None or not _IN_TOKENS.search(" ".join(labels)):
        return grid
    if any(configured_by(label) == "seq_len" for label in labels):
        return grid
    texts = [plain(row.cells[at].text).replace(",", "") for row in grid.rows
             if len(row.cells) == len(labels) and row.cells[at].text.strip()]  # fmt: skip
    counts = [_count(text) for text in texts]
    if not counts or any(count < LEAST_LENGTH or count % LEAST_LENGTH for count in counts):
        return grid
    return _with_labels(grid, {at: "sequence length"})


_LENGTHS = frozenset(map(normalise, (
    "length", "len", "Länge", "longueur", "longitud", "長さ", "길이", "长度",
)))  # fmt: skip

_IN_TOKENS = re.compile(r"tok|batch|step|schritt|pas\b|スループット|토큰|词元")

LEAST_LENGTH = 128
"""Tokens of which lengths of sequences in training are multiples."""


def _with_labels(grid: Grid, told: Mapping[int, str]) -> Grid:
    """The grid with other labels over some of its columns."""
    last = grid.heads[-1]
    return _relabelled(
        grid, [c._replace(text=told.get(n, c.text)) for n, c in enumerate(last.cells)]
    )


def with_variants(grid: Grid, titles: Iterable[str]) -> Grid:
    """The grid with `variant` over a column of models none of whose cells names one, one of them
    being the baseline, where a heading around the table names the model of all: below `Tuning
    Llama-2-7B faster`, `Model | Trainer (baseline) | Fused blocks`."""
    labels = [normalise(plain(label)) for label in grid.header()] if grid.heads else []
    if grid.labels or labels.count("model") != 1 or not any(map(model_named, titles)):
        return grid
    at = labels.index("model")
    texts = [text for row in grid.rows if len(row.cells) == len(labels)
             if (text := plain(row.cells[at].text))]  # fmt: skip
    named = any(len(t) > LONGEST or _MAY_NAME.search(t) or model_named(t) for t in texts)
    if named or not any(map(_A_BASELINE.search, texts)):
        return grid
    last = grid.heads[-1]
    cells = tuple(c._replace(text="variant") if n == at else c for n, c in enumerate(last.cells))
    return _last_labelled(grid, cells)


_A_BASELINE = re.compile(r"\b(?:baseline|vanilla|unmodified|stock)\b", re.IGNORECASE)
"""A word of a row with which the others are compared."""

_MAY_NAME = re.compile(
    r"[0-9](?!-?bit)|(?:BERT|GPT|Net|[Ff]ormer)\b|(?:T5|ViT|LL[Aa]MA|Llama|OPT|BLOOM|Falcon|Mi[sx]tral"
    r"|Gemma|Phi|Qwen|DeepSeek|Pythia|MPT|Nemotron|Granite|OLMo)\b|(?i:\b(?:cnn|rnn|gru|lstm|mamba"
    r"|rwkv|hyena|mlp|moe|dense|u-?net|dit|vae|tiny|small|base|medium|large|huge|xl)\b)"
)
"""A name of a model, perhaps, or of a kind or size of them."""


def model_in_corner(grid: Grid) -> tuple[str, GridCell] | None:
    """The model that the label over the names of the rows is, and its cell, where every one of
    these is a layout, a machine or a number, or begins with its name and goes on with numbered
    parts: `BERT | ours | theirs`, below it `tp2_pp4_mb8` or `bert_L24_b8`; a name with its size,
    `Mistral 7B`, is that of all rows that name no other. Devices may be counted behind it."""
    if not grid.heads or grid.labels or not grid.heads[-1].cells:
        return None
    cell = grid.heads[-1].cells[0]
    label = _ON_SO_MANY.sub("", plain(cell.text))
    model = label if _A_FAMILY.fullmatch(label) or model_named(label) == label else None
    if (file := _ON_TOP_OF.search(plain(cell.text))) and model_named(file[1]) == file[1]:
        return file[1], cell
    texts = [plain(row.cells[0].text) for row in grid.rows if row.cells and not row.blank]
    if model is None or not texts or len(label) > LONGEST:
        return None
    said = [named(text) or _in_parts(text, model) for text in texts]
    apart = any({"model", "model_size"} & told.keys() for told in said)
    sure = model_named(label) == label and SIZED.search(label) and not any(map(model_named, texts))
    return (model, cell) if (sure or all(said)) and not apart else None


_ON_TOP_OF = re.compile(
    r"\b(?:on top of|overrides? (?:of|to|for|in)|(?:relative|compared|changes?|added) to|base)\b:? "
    r"`?(?:[\w.-]{1,40}/){0,4}([A-Za-z][\w.-]{2,40}?)\.(?:ya?ml|toml|json|gin|py)\b",
    re.IGNORECASE,
)
"""A label over what is changed of a configuration that is called after its model."""

_ON_SO_MANY = re.compile(
    r"(?:, ?| ?[(（]| on | @ ?| [–—-] )"
    r"(?:[0-9]+ ?[x×]? ?(?:GPUs?|NPUs?|cards?|devices?|nodes?|卡|机)"
    r"|[0-9]+n[0-9]+[gc])(?:[, /x×]+[0-9]+ ?(?:GPUs?|NPUs?|cards?|devices?|nodes?|卡))?[)）]?$",
    re.IGNORECASE,
)
"""Behind the name of a model: how many devices the rows below it have, `BERT, 8 GPUs`."""


def _in_parts(name: str, model: str) -> dict[str, str]:
    """The model of a name of a run that begins with it, and has numbered parts behind it; its size
    where one of these says it, so that it is of another model than the others."""
    first, *parts = re.split(r"[_\s]+", name)
    numbered = [part for part in parts if _NUMBERED_PART.fullmatch(part)]
    if first.casefold() != model.casefold() or len(numbered) < LEAST_NUMBERED:
        return {}
    size = next((part for part in parts if size_alone(part)), None)
    return {"model_size": size} if size else {"name": first}


_NUMBERED_PART = re.compile(
    r"[A-Za-z]{1,8}[0-9]{1,6}(?:[A-Za-z]{1,4}[0-9]{1,6}){0,5}|[0-9]+x[0-9]+"
)

LEAST_NUMBERED = 2
"""Numbered parts of the name of a run that is put together of settings."""


_A_FAMILY = re.compile(
    r"(?:(?:Ro|Al|De)?BERTa?|ALBERT|GPT|T5|ViT|LL[Aa]MA|Llama|OPT|BLOOM|Falcon|Mistral|Mixtral|Gemma"
    r"|Phi|Qwen|DeepSeek|Pythia|MPT|Nemotron|Granite|OLMo|Baichuan|ChatGLM|GLM|InternLM|Yi|Swin)"
    r"(?:[- ]?v?[0-9](?:\.[0-9])?)?"
)
"""A family of models by its name, with its generation or without: `GPT-2`."""


def _is_a_model(text: str) -> bool:
    """Whether a text without a label is the name of a model, by which it is published perhaps.

    >>> _is_a_model("meta-llama/Llama-2-7b-hf"), _is_a_model("GPT-2"), _is_a_model("7B")
    (True, True, False)
    """
    name = _TUNED.sub("", _PUBLISHED.sub("", text))
    return bool(_OF_A_FAMILY.fullmatch(name)) or model_named(name) == name


_PUBLISHED = re.compile(r"[A-Za-z][\w-]{1,39}/(?=[A-Za-z])")
"""In front of the name of a model: who published it."""

_TUNED = re.compile(r"(?:-(?:hf|base|chat|it|instruct|v0\.[0-9]))+$", re.IGNORECASE)
"""Behind it: in which form."""

_OF_A_FAMILY = re.compile(
    rf"{_A_FAMILY.pattern}(?:[-_ ](?:tiny|mini|small|base|medium|large|huge|xl|xxl|v[0-9]|uncased"
    r"|cased)){0,2}",
    re.IGNORECASE,
)
"""One of its models: `bert-large-uncased`, `gpt2-xl`."""

_WITH_ITS_SIZE = re.compile(r"[A-Za-z][\w.-]{0,24} ?\([0-9]+(?:\.[0-9]+)?[BM]\)")
"""A name that nobody knows, and how large it is: `d12 (124M)`."""


_ADDED = re.compile(r"(?:\+|&|w/ )\s?[A-Za-z\u0080-\uffff]")
"""How a row begins that is the one above it with something added."""


def with_added(grid: Grid) -> Grid:
    """The grid with the label of variants over a column of models whose rows add to those above
    them: `stock`, `+ flash`. Where a row that is added to names a model, those below it
    are of that one."""
    labels = [plain(label) for label in grid.header()] if grid.heads else []
    named = [at for at, label in enumerate(labels) if configured_by(label) == "model"]
    if len(named) != 1 or grid.labels or len(grid.heads[-1].cells) != len(labels):
        return grid
    (at,) = named
    rows = [row for row in grid.rows if len(row.cells) == len(labels)]
    added = [_ADDED.match(plain(row.cells[at].text)) is not None for row in rows]
    if not any(added) or all(added) or added[0]:
        return grid
    texts = [plain(row.cells[at].text) for row in rows]
    bases = [text for text, more in zip(texts, added, strict=True) if not more and text]
    last = grid.heads[-1]
    if not all(model_named(text) for text in bases):
        cells = [*last.cells]
        cells[at] = cells[at]._replace(text="variant")
        return _last_labelled(grid, cells)
    base = rows[0].cells[at]
    found = list[GridRow]()
    for row in grid.rows:
        if len(row.cells) != len(labels):
            found.append(row)
            continue
        own = row.cells[at]
        base = base if _ADDED.match(plain(own.text)) else own
        mine = (*row.cells[:at], own._replace(text=base.text), *row.cells[at + 1 :], own)
        found.append(replace(row, cells=mine))
    heads = [
        replace(row, cells=(*row.cells, row.cells[at])) if len(row.cells) == len(labels) else row
        for row in grid.heads[:-1]
    ]
    label = last.cells[at]._replace(text="variant")
    final = replace(last, cells=(*last.cells, label))
    return replace(grid, heads=(*heads, final), rows=tuple(found))


def _of_a_model(label: str) -> bool:
    """Whether a label is that of a model, and none of `_WORKLOADS`."""
    return label not in _WORKLOADS and configured_by(label) == "model"


def _names_a_model(text: str) -> bool:
    """Whether a text is nothing but the name of a model, or of its network of images.

    >>> _names_a_model("Cascade R-CNN R101-FPN"), _names_a_model("run 7")
    (True, False)
    >>> _names_a_model("gpt2-xl"), _names_a_model("d12 (124M)"), _names_a_model("ours (v2)")
    (True, True, False)
    >>> _names_a_model("openai/whisper-small"), _names_a_model("out/step-100")
    (True, False)
    """
    if len(text) > LONGEST:
        return False
    text = _OWNER.sub("", text)
    forms = (_OF_IMAGES, _OF_A_FAMILY, _WITH_ITS_SIZE)
    return any(form.fullmatch(text) for form in forms) or model_named(text) == text


_OWNER = re.compile(r"[A-Za-z0-9][\w.-]{1,40}/(?=[A-Za-z][\w.-]*$)")
"""Whose a model is, in front of its name where it is published."""

_WORKLOADS = {
    "workload", "benchmark", "tower", "image tower", "vision tower", "encoder", "vision encoder",
    "image encoder", "arch", "architecture", "network", "net",
}  # fmt: skip
"""Labels of what is run: of a model, where the cells name some."""

_NAMES = {"name", "names", "checkpoint", "checkpoints", "basecheckpoint", "weights", "repo",
          "repository", "hubid", "variant", "名称", "名字"}  # fmt: skip
"""Labels of what is named, whatever it is."""

_BACKBONES = {"backbone", "backbones", "骨干", "骨干网络", "主干网络", "バックボーン", "백본"}
_DETECTORS = {"method", "methods", "detector", "approach", "方法", "算法", "检测器", "手法"}
"""Labels of a network, and of the model that it is inside of, where both stand."""

_CONFIGS = {"config", "configs", "configname", "configfile", "configuration", "配置", "配置文件"}
"""Labels of what a model is trained from, by which zoos of models call it."""

_OF_A_NETWORK = re.compile(
    r"(?:(?:cascade_)?(?:mask|faster|fast|cascade|sparse|grid|libra|dynamic|keypoint)[_-]?rcnn|retinanet"
    r"|fcos|(?:(?:deformable|conditional|dab)[_-])?detr|dino|yolo(?:v[0-9]+|x|f)?|upernet|pspnet|fcn"
    r"|deeplab(?:v[0-9])?(?:_?plus)?|segformer|mask2?former|htc|rpn|ssd(?:[0-9]{3})?|centernet|atss"
    r"|panoptic[_-]fpn|pointrend|solo(?:v2)?|swin|vit|deit|beit|mae|convnext|resnet|resnext|regnet"
    r"|efficientnet|mobilenet|densenet|hrnet|tsn|tsm|slowfast|i3d|x3d|unet)"
    r"(?:[0-9]{1,3}[a-z]?)?(?:(?:[_-]|[0-9](?=v[0-9]))[A-Za-z0-9.]{1,12}){0,9}"
    r"(?: ?\[[0-9a-z]{1,2}\]| ?\*{1,3})?",
    re.IGNORECASE,
)
"""A configuration that is called as its network of images is, perhaps with the sign of a note:
`mask_rcnn_r50_fpn_gn [1]`."""

_IDENTIFIERS = set(map(normalise, ("model id", "model ids", "model key", "model hash")))
"""Labels of what a model is found by where it is published: a number, or its name."""

_NUMBERED = re.compile(r"[0-9][0-9a-f_-]{3,40}")

_BACKBONE = (
    r"(?:R(?:N|esNet-?)?-?(?:18|34|50|101|152)|X-?(?:101|152)|RX-?(?:50|101)|(?:V2-)?(?:19|39|99)"
    r"|(?:Swin|ViT|ConvNeXt|PVT|MViT|HRNet)(?:v2)?-?(?:Ti?|S|B|L|H|W[0-9]{2}))"
    r"(?:-(?:[0-9]{1,2}x[0-9]{1,2}d|GN|DCN))?(?:-(?:C4|DC5|FPN|BiFPN|PAFPN))?"
)

_DETECTOR = (
    r"(?:(?:Fast|Faster|Mask|Cascade|Cascade Mask|Keypoint|Sparse|Panoptic) ?R-CNN|RetinaNet|FCOS"
    r"|RPN|(?:[A-Z]\w+ )?DETR|Mask2?Former|PanopticFPN)"
)

_OF_IMAGES = re.compile(rf"(?:{_DETECTOR}[ -])?{_BACKBONE}|{_DETECTOR}")
"""A network of images by its parts: `Mask R-CNN R50-FPN`, `X101-FPN`."""

_A_MODEL = re.compile(
    r"[A-Za-z][A-Za-z0-9.]*[- _](?:[A-Za-z0-9.]+[- _])*?[0-9]+(?:\.[0-9]+)?[bBmM](?![A-Za-z0-9])"
    r"|[A-Z][A-Za-z]{1,9}[0-9]?[-_ ](?:Ti|[TSMBLHGg]|XL|XXL|So400m|SO400M)/[0-9]{1,2}(?![0-9])"
)
"""A model by its size, or by its name and the pixels of its patches: `ViT-L/14`."""


_WAYS = {"mode", "policy", "strategy", "granularity", "setting", "option", "scheme", "modus"}
"""Labels of a way to do what the title of a table names."""


def _ways_to_recompute(texts: Set[str], titles: Above) -> bool:
    """Whether cells say how much of something is done, and the titles of their table that it is of
    recomputation: `none`, `selective` and `full` below `Activation checkpointing policy`."""
    told = {how_much_again(text) for text in texts if not OF_A_PART.search(text)}
    much = len(told) > 1 and told <= {"none", "selective", "full"}
    return much and any(map(speaks_of_it, titles()))


def with_switches(grid: Grid, above: Above = lambda: (), titles: Above = lambda: ()) -> Grid:
    """The grid with what labels in short are of, as their cells say: recomputation for `ckpt` over
    switches or policies of JAX, or for `Policy` below `titles` that name it, nodes for `Instances`
    over whole numbers. Where all is computed again or not, `full ckpt`, nothing is where it is not,
    if neither the table nor the text speaks of less than all."""
    if not grid.heads or grid.labels:
        return grid
    grid = _with_nodes_down(_beside_references(_without_bits(grid)))
    last = grid.heads[-1]
    rows = [row for row in grid.rows if len(row.cells) == len(last.cells)]

    def switches(at: int) -> bool:
        texts = {plain(row.cells[at].text) for row in rows} - {""}
        of_layers = {text for text in texts if _OF_LAYERS.fullmatch(text)}
        switched = texts - of_layers
        return bool(switched) and len(texts) > 1 and all(map(_is_switch, switched))

    def of_its_cells(at: int, cell: GridCell) -> GridCell:
        label = plain(cell.text).lstrip("-")  # `--ckpt`: by its option
        if _SWITCH.fullmatch(label) and switches(at):
            return cell._replace(text=_AGAIN_LABEL)
        if _IN_SEQUENCE.fullmatch(label) and switches(at):
            return cell._replace(text="sequence parallel")
        texts = {plain(row.cells[at].text) for row in rows} - {""}
        ways = label.casefold() in _WAYS and _ways_to_recompute(texts, titles)
        if texts and (ways or all(map(kept_by_policy, texts))):
            return cell._replace(text="recompute")
        if label.casefold() in _ATTENTION and texts and all(map(names_attention, texts)):
            return cell._replace(text="attention algorithm")
        if _OF_DEVICES.fullmatch(label) and texts and all(map(_is_device, texts)):
            return cell._replace(text="GPU")
        if label.casefold() == "batch" and _sizes_of_batches(texts):
            return cell._replace(text="batch size")
        if _OF_A_DEVICE.fullmatch(label) and _in_bytes_alone(texts):
            return cell._replace(text="GPU memory")
        counted = english(label).casefold() == "instances" and rows
        if counted and all(_count(row.cells[at].text) for row in rows):
            return cell._replace(text="nodes")
        return cell

    of_all = [
        at for at, cell in enumerate(last.cells)
        if _SWITCH_OF_ALL.fullmatch(plain(cell.text)) and switches(at)
    ]  # fmt: skip
    cells = tuple(of_its_cells(at, cell) for at, cell in enumerate(last.cells))
    if len(of_all) == 1:
        return _with_all_again(grid, of_all[0], above)
    if cells == last.cells:
        return grid
    again = {
        at for at, cell in enumerate(cells) if cell.text == _AGAIN_LABEL != last.cells[at].text
    }
    return _explained(_relabelled(grid, cells), again, above)


_KINDS = {"npu", "gpu", "昇腾", "ascend"}

_REFERENCES = {"参考": "参考性能", "reference": "reference performance"}


def _beside_references(grid: Grid) -> Grid:
    """The grid with what a kind of devices reached for its name over more than anybody counts, in
    front of a column of what others did: `NPU | 参考` over `2849 | 2874`."""
    last = grid.heads[-1]
    labels = [plain(cell.text).casefold() for cell in last.cells]
    at = next((n for n in range(1, len(labels)) if labels[n] in _REFERENCES), 0)
    if not at or labels[at - 1] not in _KINDS:
        return grid
    texts = [plain(row.cells[at - 1].text) for row in grid.rows if len(row.cells) > at]
    numbers = [float(text) for text in texts if _A_SPEED.fullmatch(text)]
    if all(number == 1.0 or number % PAIR == 0.0 for number in numbers):  # none, or counts
        return grid
    cells = list(last.cells)
    reference = _REFERENCES[labels[at]]
    reached = reference.replace("reference", cells[at - 1].text).replace("参考", cells[at - 1].text)
    cells[at - 1 : at + 1] = [
        cells[at - 1]._replace(text=reached), cells[at]._replace(text=reference),
    ]  # fmt: skip
    return _relabelled(grid, tuple(cells))


_A_SPEED = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,4})?")

PAIR = 2
"""Devices that runs on more than one have at the least, and a multiple of."""


def _with_nodes_down(grid: Grid) -> Grid:
    """The grid with nodes for `instances` in front of a row of whole numbers, as in a table whose
    metrics stand below each other."""

    def told(row: GridRow) -> GridRow:
        first, *rest = row.cells
        if not rest or english(plain(first.text)).casefold() != "instances":
            return row
        counted = all(_count(cell.text) for cell in rest)
        return replace(row, cells=(first._replace(text="nodes"), *rest)) if counted else row

    if not any("nstan" in row.cells[0].text for row in grid.rows if row.cells):
        return grid
    return replace(grid, rows=tuple(told(row) if row.cells else row for row in grid.rows))


_BITS = {"0": "no", "1": "yes"}

_CIRCLES = {
    **dict.fromkeys(("O", "o", "○", "◯", "〇", "⭕", "◎"), "yes"),
    **dict.fromkeys(("X", "x", "×", "✕", "✗", "❌"), "no"),
}

_SIGNS_OF_SWITCHES = {*_BITS, *_CIRCLES}
"""Signs that say whether something was on; a cross alone may mark what was."""

_BY_BITS = re.compile(
    rf"-{{0,2}}(?:use[ _-])?(?:(?!checkpoints?$){_AGAIN}|AC|{_OF_ACTS})", re.IGNORECASE
)
"""Labels of recomputation over 0 and 1, which under others may count layers, or numbers of files
under `checkpoint`."""


def _without_bits(grid: Grid) -> Grid:
    """The grid with words for the bits of columns that say whether activations are computed again,
    some of whose rows do and others do not, and for circles and crosses of any column that has both
    and nothing else, as tables in Korean and Japanese say yes and no."""
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    rows = [row for row in grid.rows if len(row.cells) == len(labels)]
    words = dict[int, Mapping[str, str]]()
    for at, label in enumerate(labels) if any(map(_signs_a_switch, rows)) else ():
        texts = {plain(row.cells[at].text) for row in rows}
        if texts <= _CIRCLES.keys() and {_CIRCLES[text] for text in texts} == {*_BITS.values()}:
            words[at] = _CIRCLES
        elif texts == _BITS.keys() and _BY_BITS.fullmatch(label):
            words[at] = _BITS
    if not words:
        return grid

    def told(row: GridRow) -> GridRow:
        cells = (
            cell._replace(text=words[at].get(plain(cell.text), cell.text)) if at in words else cell
            for at, cell in enumerate(row.cells)
        )
        return replace(row, cells=tuple(cells))

    return replace(grid, rows=tuple(map(told, grid.rows)))


def _signs_a_switch(row: GridRow) -> bool:
    """Whether a cell of a row is a sign that may say yes or no."""
    return any(cell.text.strip() in _SIGNS_OF_SWITCHES for cell in row.cells)


def _is_switch(text: str) -> bool:
    """Whether a cell says, in whatever language, that something is on or off.

    >>> _is_switch("except last"), _is_switch("否"), _is_switch("12")
    (True, True, False)
    """
    return _SWITCHED.fullmatch(text) is not None or how_much_again(text) is not None


_OF_DEVICES = re.compile(
    r"devs?|accelerators|box|rig|on|(?:[GNTHXD][PC]U|GCD|device|chip|card|accelerator|hardware)"
    r"[ _-](?:types?|models?|names?|kinds?|SKUs?|versions?|generations?|variants?|family|used)"
    r"|(?:type|kind|model|name)s? of (?:the )?(?:[GNTHXD][PC]U|device|chip|card|accelerator)s?",
    re.IGNORECASE,
)
"""Labels of devices over nothing but the names of such; of others over anything else."""


def _is_device(text: str) -> bool:
    """Whether a cell is the name of a device and nothing else.

    >>> _is_device("RTX A6000"), _is_device("84.2"), _is_device("A100 vs H100")
    (True, False, False)
    """
    found = devices(text)
    return len(found) == 1 and found[0].text == text


_OF_A_DEVICE = re.compile(
    r"(?:max\.? |peak )?(?:GPU|HBM|NPU|device|card)[ _-](?:M|max|peak|used|usage)\.?", re.IGNORECASE
)
"""Labels of what a device held, where the cells are in bytes: `GPU M` over `51GB`."""

_ONE_SIZE = re.compile(r"[~≈<>]?\s?[0-9][0-9.,]*\s?[KMG]i?B")


def _in_bytes_alone(texts: Set[str]) -> bool:
    """Whether all numbers among some texts are of bytes."""
    numbers = [text for text in texts if any(map(str.isdigit, text))]
    return bool(numbers) and all(map(_ONE_SIZE.fullmatch, numbers))


def _sizes_of_batches(texts: Set[str]) -> bool:
    """Whether numbers under `Batch` are how large each was, and do not count them one by one.

    >>> _sizes_of_batches({"8", "16", "24"}), _sizes_of_batches({"1", "2", "3"})
    (True, False)
    >>> _sizes_of_batches({"1", "4"}), _sizes_of_batches({"1", "101"})
    (True, False)
    """
    sizes = sorted(map(_count, texts))
    steps = {b - a for a, b in pairwise(sizes)}
    doubled = all(size > 0 and size & (size - 1) == 0 for size in sizes)
    no_count = bool(sizes) and (sizes[0] % 2 == 0 or len(steps) > 1 or doubled)
    return len(sizes) > 1 and sizes[0] > 0 and no_count and steps != {1}


_AGAIN_LABEL = "activation checkpointing"

_EXPLAINED = re.compile(
    r"[`'\"“‘]{1,2}(?P<word>[\w .-]{1,24})[`'\"”’]{1,2},? (?:means )?(?:"
    r"(?P<full>(?:re-?comput(?:es|ing)|checkpoint(?:s|ing)|re-?materiali[sz](?:es|ing)) "
    r"(?:all|every|each|the whole|whole)(?: the)? (?:transformer |encoder |decoder )?"
    r"(?:blocks?|layers?)\b(?! (?:but|except)))"
    r"|(?P<none>(?:keeps|stores|saves|keeping) (?:all|every|each) (?:of the )?activations?\b"
    r"(?! (?:but|except|of))))",
    re.IGNORECASE,
)
"""The work that a word of such a column stands for, as the text says: `` `blocks`"
" checkpoints every block``."""


def _explained(grid: Grid, again: Set[int], above: Above) -> Grid:
    """The grid with how much is computed again for words of some columns that the text explains."""
    words = {
        found["word"].casefold(): "full" if found["full"] else "none"
        for text in (above() if again else ()) for found in _EXPLAINED.finditer(text)
    }  # fmt: skip
    if not words:
        return grid

    def told(row: GridRow) -> GridRow:
        cells = tuple(
            cell._replace(text=words.get(plain(cell.text).casefold(), cell.text))
            if at in again else cell
            for at, cell in enumerate(row.cells)
        )  # fmt: skip
        return replace(row, cells=cells)

    return replace(grid, rows=tuple(map(told, grid.rows)))


_REMARKS = {"note", "notes", "remark", "remarks", "comment", "comments"}

_AS_A_SIZE = re.compile(r"([0-9][0-9.,]*\s?[GM]i?B)(?=\s*$|\s*[,;(])")

_SIZES_IN_REMARKS = re.compile(
    r"\b(?:memory|mem|VRAM|HBM)\b(?: \([^()]{1,60}\)| [a-z]+){0,4},? (?:is |are |stands? )?"
    r"(?:in|under) (?:the )?(?P<where>notes?|remarks?|comments?)\b",
    re.IGNORECASE,
)
"""That the memory of rows stands in their remarks: `memory (max over ranks) in the notes`."""


def with_memory_in_remarks(grid: Grid, above: Above) -> Grid:
    """The grid with a column of memory for sizes with which remarks begin, where the text says that
    it stands there; elsewhere it may be how much a device has."""
    labels = [plain(label).casefold() for label in grid.header()] if grid.heads else []
    named = [at for at, label in enumerate(labels) if label in _REMARKS]
    if len(named) != 1 or grid.labels or len(grid.heads) > 1:
        return grid
    (at,) = named
    rows = [row for row in grid.rows if len(row.cells) == len(labels)]
    if len(rows) < len(grid.rows) or any("mem" in label for label in labels):
        return grid
    if not any(_AS_A_SIZE.match(plain(row.cells[at].text)) for row in rows):
        return grid
    where = {found["where"] for text in above() for found in _SIZES_IN_REMARKS.finditer(text)}
    if not {each.casefold().rstrip("s") for each in where} & {labels[at].rstrip("s")}:
        return grid

    def told(row: GridRow) -> GridRow:
        cell = row.cells[at]
        size = _AS_A_SIZE.match(plain(cell.text))
        return replace(row, cells=(*row.cells, cell._replace(text=size[1] if size else "")))

    head = grid.heads[0]
    label = head.cells[at]._replace(text="GPU memory")
    return replace(
        grid,
        heads=(replace(head, cells=(*head.cells, label)),),
        rows=tuple(map(told, grid.rows)),
    )


_PARTITIONS = re.compile(
    r"(?:#|no\.|num(?:ber)?\.?)?(?: ?of)? ?(partition|stage|pipeline stage)s", re.IGNORECASE
)

_OF_A_PIPELINE = re.compile(
    r"\bpipelines? (?:of|with|has|into|in|over) [^.]{0,30}\b(?:partitions?|stages?)\b"
    r"|\b(?:partitions?|stages?) of (?:the|a|our) pipeline\b"
    r"|\bpipeline(?:[- ]parallel)?[- ](?:partitions|stages)\b",
    re.IGNORECASE,
)

_ON_ITS_OWN = re.compile(
    r"(?<!than )\b(?:one|1|a single) (?:pipeline )?(partition|stage) "
    r"(?:per|on (?:each|every)|for (?:each|every)|to a) (?:GPU|device|card|accelerator)\b"
    r"|\b(?:each|every|one) (?:pipeline )?(?P<behind>partition|stage) (?:(?:is |was |always )*"
    r"(?:runs |placed |lives |sits |kept |put )?on|has|gets|takes|fills|occupies) "
    r"(?:exactly |just )?(?:one|its own|a single|an own|a separate) "
    r"(?:GPU|device|card|accelerator)\b",
    re.IGNORECASE,
)
"""That a part of a pipeline has a device for itself: `exactly one partition per GPU`."""

_LETTERED = re.compile(r"([A-Za-z]) ?= ?([0-9]{1,4})")


def with_partitions(grid: Grid, above: Above) -> Grid:
    """The grid with the degree of a pipeline over its partitions, `Partitions` over `n=4`, where
    the text says that it is cut into those; and with its devices beside, if each has its own."""
    if not grid.heads or grid.labels:
        return grid
    last = grid.heads[-1]
    labels = [plain(cell.text) for cell in last.cells]
    named = [at for at, label in enumerate(labels) if _PARTITIONS.fullmatch(label)]
    if len(named) != 1 or any(configured_by(label) == "pp" for label in labels):
        return grid
    (at,) = named
    rows = [row for row in grid.rows if len(row.cells) == len(labels)]
    texts = [plain(row.cells[at].text) for row in rows]
    signs = {found[1] for text in texts if (found := _LETTERED.fullmatch(text))}
    whole = all(_LETTERED.fullmatch(text) or text.isdecimal() for text in texts)
    said = " ".join(above()) if rows and whole and len(signs) < 2 else ""
    alone = any(
        (found[1] or found["behind"]).casefold() in labels[at].casefold()
        for found in _ON_ITS_OWN.finditer(said)
    )
    if not alone and not _OF_A_PIPELINE.search(said):
        return grid
    counted = any(configured_by(label) in ("gpus", "nodes", "dp") for label in labels)
    beside = alone and not counted

    def told(row: GridRow) -> GridRow:
        if len(row.cells) != len(labels):
            return row
        cell = row.cells[at]
        text = plain(cell.text)
        lettered = _LETTERED.fullmatch(text)
        number = cell._replace(text=lettered[2] if lettered else text)
        return replace(row, cells=(
            *row.cells[:at], number, *row.cells[at + 1 :], *([number] if beside else [])
        ))  # fmt: skip

    label = last.cells[at]
    heads = [
        row if len(row.cells) != len(labels) else replace(row, cells=(
            *row.cells, *([row.cells[at]] if beside else [])
        ))
        for row in grid.heads[:-1]
    ]  # fmt: skip
    final = replace(last, cells=(
        *last.cells[:at], label._replace(text="PP"), *last.cells[at + 1 :],
        *([label._replace(text="GPUs")] if beside else []),
    ))  # fmt: skip
    return replace(grid, heads=(*heads, final), rows=tuple(map(told, grid.rows)))


def _last_labelled(grid: Grid, cells: Iterable[GridCell]) -> Grid:
    """The grid with other cells in its last header row alone."""
    last = replace(grid.heads[-1], cells=tuple(cells))
    return replace(grid, heads=(*grid.heads[:-1], last))


def _relabelled(grid: Grid, cells: Sequence[GridCell]) -> Grid:
    """The grid with other labels in its last header row, and in rows above that have the same."""
    last = grid.heads[-1]
    heads = (
        replace(row, cells=tuple(
            own if cell.text == before.text else cell
            for own, cell, before in zip(cells, row.cells, last.cells, strict=True)
        ) if len(row.cells) == len(cells) else row.cells)
        for row in grid.heads
    )  # fmt: skip
    return replace(grid, heads=tuple(heads))


def _with_all_again(grid: Grid, at: int, above: Above) -> Grid:
    """The grid with how much is computed again in a column that says whether all is."""
    last = grid.heads[-1]
    texts = [cell.text for row in (*grid.heads, *grid.rows) for cell in row.cells]
    less = any(map(_NOT_ALL.search, texts)) or any(map(_NOT_ALL.search, above()))

    def told(row: GridRow) -> GridRow:
        text = plain(row.cells[at].text).casefold() if at < len(row.cells) else ""
        if text not in _ON and text not in _OFF:
            return row
        much = "full" if text in _ON else "" if less else "none"
        cells = [*row.cells]
        cells[at] = cells[at]._replace(text=much)
        return replace(row, cells=tuple(cells))

    cells = tuple(
        cell._replace(text="recompute") if n == at else cell for n, cell in enumerate(last.cells)
    )
    return replace(_relabelled(grid, cells), rows=tuple(map(told, grid.rows)))


def with_tokens_of_shapes(grid: Grid) -> Grid:
    """The grid with the length of a sequence over a column of tokens that are as many as the frames
    or pixels of a sample, in each row by about the same factor: `81 × 480 × 832 | 32760`."""
    labels = [plain(text).casefold() for text in _lowest(grid)] if grid.heads else []
    named = [at for at, label in enumerate(labels) if label in _TOKENS]
    rows = [row for row in grid.rows if len(row.cells) == len(labels)]
    if grid.labels or len(named) != 1 or len(rows) < FEWEST_SHAPES:
        return grid
    counts = [_count(row.cells[named[0]].text) for row in rows]
    for at in range(len(labels)) if all(counts) else ():
        shapes = [_PIXELS.fullmatch(plain(row.cells[at].text)) for row in rows]
        sizes = [prod(map(int, _DIGITS.findall(found[0]))) for found in shapes if found]
        if len(sizes) != len(rows) or len({*sizes}) < FEWEST_SHAPES:
            continue
        factors = [size / count for size, count in zip(sizes, counts, strict=True)]
        if max(factors) <= min(factors) * (1 + _ABOUT):
            last = grid.heads[-1]
            cells = tuple(
                cell._replace(text="sequence length") if n == named[0] else cell
                for n, cell in enumerate(last.cells)
            )
            return _last_labelled(grid, cells)
    return grid


_TOKENS = {"tokens", "# tokens", "#tokens", "num tokens", "n_tokens", "latent tokens", "令牌数"}

_PIXELS = re.compile(r"[0-9]{1,5}(?: ?[x×*] ?[0-9]{1,5}){1,2}(?: ?px)?")
"""Frames, height and width of a sample: `81 × 480 × 832`."""

_DIGITS = re.compile("[0-9]+")

FEWEST_SHAPES = 2
"""Shapes by which a number of tokens is seen to follow them."""

_ABOUT = 0.15
"""Share by which the pixels of a token differ: the first frame is by itself, and edges are cut."""


_ON, _OFF = (
    {"yes", "y", "on", "true", "✓", "✔", "✅"},
    {"no", "n", "off", "false", "✗", "✘", "❌"},
)
"""Words and signs of a switch."""


def _count(text: str) -> int:
    """A whole number as it is printed; 0 where a text is none."""
    bare = plain(text).replace(",", "")
    return int(bare) if bare.isdecimal() and len(bare) <= _MOST_DIGITS else 0


_MOST_DIGITS = 9


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def whose_batch(text: str) -> frozenset[str]:
    """Whose batches are, in the words of labels, as the sentences of a text say.

    >>> whose_batch("Batch size is per GPU. All on 8 GPUs."), whose_batch("batch sizes are global")
    (frozenset({'micro'}), frozenset({'global'}))
    >>> whose_batch("Rows are GPUs, columns the batch per GPU."), whose_batch("Rows: total batch.")
    (frozenset({'micro'}), frozenset({'global'}))
    >>> whose_batch("The batch is the number of utterances on one GPU.")
    frozenset({'micro'})
    >>> whose_batch("The global batch size is per GPU times 8.")
    frozenset()
    >>> whose_batch("Batch size is not per GPU."), whose_batch("Images/s. Batch size per card.")
    (frozenset(), frozenset({'micro'}))
    >>> whose_batch("Batch size is the global batch size.")
    frozenset({'global'})
    """
    low = text.casefold()
    if not any(word in low for word in _OF_BATCHES):
        return frozenset()
    found = set()
    for sentence in _SENTENCE.split(text):
        if len(sentence) > LONGEST or _NOT.search(sentence):
            continue
        found |= {"micro"} if _OF_ONE.search(sentence) else set()
        found |= {"global"} if _OF_ALL.search(sentence) else set()
    return frozenset(found)


def _lowest(grid: Grid) -> tuple[str, ...]:
    """Texts of the last header row of a grid."""
    return tuple(cell.text for cell in grid.heads[-1].cells)


_IN_BYTES = (
    r"(?:单位(?=[为是:： ])|[*_`\"' ]*)(?:is|are|was|means?|=|:|为|是|：|は|은|는|est|ist)"
    r"(?:[^.;|]|\.(?=\S)){0,80}?"
    r"(?:\bin |, ?|\(|单位为? ?|(?<=[为是：]) ?)([GM]i?B)\b"
)


_OF_ONE_IN = (
    r"(?: (?:of|on|per) (?:(?:an?|one|each|the|any|every) )?(?:[GN]PU|device|card|rank|chip),?)?"
    r" in ([GM]i?B)\b"
)

_IS_IN = (
    r"\s+is\s+`[^`|]{1,40}`\s*\(([GM]i?B)\)"
    r"|[*_`]{1,2},? (?:the |its )?(?:peak|max(?:imum)?|highest|most)\b[^.;,|]{0,40}?"
    r"\bin ([GM]i?B)\b"
)

_BYTES = re.compile(r"(?:in|单位为?|,|\() ?[GM]i?B", re.IGNORECASE)
"""In every text that does; most documents have none."""


def with_memory_units(grid: Grid, schema: Schema, above: Above) -> Grid:
    """The grid with the unit of memories that a text above gives a label: `*Max memory* is what
    the allocator took, in GB`."""
    if not grid.heads or grid.labels:
        return grid
    firsts = (row.cells[0].text for row in grid.rows if row.cells)
    labels = {plain(text).casefold() for text in _lowest(grid)}
    if not labels.isdisjoint(_OF_ALLOCATORS):
        grid = _with_named_memories(grid, above())
    if not any(_of_bare_memory(text, schema) for text in (*_lowest(grid), *firsts)):
        return grid
    near = [text for text in (*above(), grid.caption) if _BYTES.search(text)]
    if not near:
        return grid

    def told(cells: Sequence[GridCell]) -> tuple[GridCell, ...]:
        return tuple(
            cell._replace(text=_in_bytes(plain(cell.text), near) or cell.text)
            if _of_bare_memory(cell.text, schema) else cell
            for cell in cells
        )  # fmt: skip

    last = replace(grid.heads[-1], cells=told(grid.heads[-1].cells))
    rows = tuple(replace(row, cells=(*told(row.cells[:1]), *row.cells[1:])) for row in grid.rows)
    return replace(grid, heads=(*grid.heads[:-1], last), rows=rows)


def sizes_said(texts: Iterable[str]) -> tuple[str, ...]:
    """Those texts of a document that say what its memories are, wherever they stand.

    >>> sizes_said(['- "Peak mem" is that of rank 0, in GB.', "It has 80 GB of memory."])
    ('- "Peak mem" is that of rank 0, in GB.',)
    """
    return tuple(text for text in texts if _BYTES.search(text) and _SAYS_SIZES.match(text))


_SAYS_SIZES = re.compile(
    r"[\s>*+-]{0,8}(?:(?:all|the|our) )?[\"“`*_]{0,3}"
    r"(?:(?:peak|max(?:imum)?|GPU|device|train(?:ing)?) )*mem(?:ory)?\b"
    r"[\"”`*_]{0,3}[^.;:=|]{0,24}?(?:\b(?:is|are|means|in)\b|[:=—–])",
    re.IGNORECASE,
)
"""Beginning of a text that says of memories what they are."""


def with_reserved(grid: Grid, schema: Schema, above: Above) -> Grid:
    """The grid with `reserved` behind labels of memory where the nearest text above that says which
    of PyTorch's figures they are says so: `Peak memory is torch.cuda.max_memory_reserved.`"""
    if not grid.heads or grid.labels:
        return grid
    cells = [*grid.heads[-1].cells, *(row.cells[0] for row in grid.rows if row.cells)]
    bare = {cell.text for cell in cells if _of_one_memory(cell.text, schema)}
    if not bare or next(filter(None, map(_figure, reversed(above()))), None) != RESERVED:
        return grid

    def told(cells: Sequence[GridCell]) -> tuple[GridCell, ...]:
        return tuple(
            cell._replace(text=f"{plain(cell.text)} reserved") if cell.text in bare else cell
            for cell in cells
        )

    last = replace(grid.heads[-1], cells=told(grid.heads[-1].cells))
    rows = tuple(replace(row, cells=(*told(row.cells[:1]), *row.cells[1:])) for row in grid.rows)
    return replace(grid, heads=(*grid.heads[:-1], last), rows=rows)


_FIGURE = re.compile(
    r"(?<!host )(?<!CPU )(?<!system )\b(?:memory|mem|VRAM|memories)\b(?![_.(])"
    r"(?:[^.;|]|\.(?=\S)){0,60}?"
    r"(?:\b(?:is|are|was|were|means?|by|with|from|as|report(?:s|ed)?)\b|[=:(])"
    r"(?:[^.;|]|\.(?=\S)){0,40}?"
    r"(?:max_memory_(reserved|allocated)|(?<!not )\b(reserved|allocated)\b)"
    r"|\b(reserved|allocated) (?:GPU )?memory\b[^.;|]{0,24}\b(?:is|are|was) (?:shown|report|given)",
    re.IGNORECASE,
)
"""A sentence that says which figure of PyTorch's allocator memories are."""


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _figure(text: str) -> str | None:
    """The field of the figure that a line says memories to be; of several it says neither."""
    if len(text) > LONGEST or not ("reserved" in text or "allocated" in text):
        return None
    found = {next(filter(None, each)).casefold() for each in _FIGURE.findall(text)}
    both = _RESERVED.search(text) and _ALLOCATED.search(text)
    if len(found) != 1 or both:
        return "several" if found else None
    return RESERVED if found == {"reserved"} else "memory"


_RESERVED = re.compile(r"(?<!not )(?:\b|_)reserved")

_ALLOCATED = re.compile(r"(?<!not )(?<!than )(?:\b|_)allocated")


@lru_cache(maxsize=REMEMBERED)
def _of_one_memory(text: str, schema: Schema) -> bool:
    """Whether a cell is the label of a memory of a device, and says not how it was read."""
    if len(text) > LONGEST or not _OF_A_MEMORY.search(text) or _READ_SO.search(text):
        return False
    own, held = header([label := plain(text), f"{label} reserved"], schema)
    fields = [column.spec.name if column.spec else "" for column in (own, held)]
    return fields == ["memory", RESERVED]


_READ_SO = re.compile(r"alloc|smi|activ|nvml|reserv|resv|host|cpu|state|optim|weight", re.I)


def with_bare_sizes(grid: Grid, schema: Schema, above: Above) -> Grid:
    """The grid with a label that is nothing but a unit of bytes, beside a rate or a time, as that
    of a memory, where the text or a heading above speaks of memory, the cells say that it was
    not enough, or it stands right of that beside what is done to save memory: `GiB | s/step`,
    `recompute | s/step | GiB`; of several, each stands under another label."""
    if not grid.heads or grid.labels:
        return grid
    labels = [plain(text) for text in _lowest(grid)]
    bare = _bare_sizes(grid, labels, schema)
    fields = {c.spec.name for c in header(labels, schema) if c.spec and c.spec.quantity}
    fields |= {"step_time"} if _A_TIME.intersection(labels) else set()
    fields |= {"of a side"} if len(bare) > 1 else set()
    if not bare or not fields or "memory" in fields:
        return grid
    texts = above()
    spoken = any(map(_OF_MEMORY.search, texts)) or _ran_out(grid, range(len(labels)))
    binary = all("iB" in labels[at] for at in bare)  # files are told in GB as often
    spoken = spoken or (binary and _behind_savings(header(labels, schema), min(bare)))
    if not spoken or any(map(_OF_OTHERS.search, texts)):
        return grid
    last = grid.heads[-1]
    cells = tuple(cell._replace(text=bare.get(at, cell.text)) for at, cell in enumerate(last.cells))
    return _last_labelled(grid, cells)


def _behind_savings(columns: Sequence[Column], at: int) -> bool:
    """Whether right before a column something is measured, and a setting stands further left that
    is made for the sake of memory."""
    names = [column.spec.name if column.spec else "" for column in columns[:at]]
    before = columns[at - 1].spec if names else None
    return before is not None and bool(before.quantity) and not _SAVES.isdisjoint(names)


_SAVES = {"activation_checkpointing", "recompute", "zero_stage", "sharding", "trained_part"}
"""Settings by which memory is spared."""


def _bare_sizes(grid: Grid, labels: Sequence[str], schema: Schema) -> dict[int, str]:
    """Place → label of a memory, of columns that say of it nothing but the unit: of one, of one in
    each of the groups below names of sides, or of sides each with a rate or a time beside it:
    `H100 tok/s | H100 GB | A100 tok/s | A100 GB`."""
    alone = [at for at, label in enumerate(labels) if _A_SIZE.fullmatch(label)]
    if len(alone) == 1:
        return {alone[0]: f"memory ({labels[alone[0]]})"}
    if alone:
        over = [plain(grid.heads[-2].cells[at].text) for at in alone] if len(grid.heads) > 1 else []
        apart = (
            all(over) and len({*over}) == len(alone) > 1 and len({labels[at] for at in alone}) == 1
        )
        return {at: f"memory ({labels[at]})" for at in alone} if apart else {}
    told = {at: m for at, label in enumerate(labels) if (m := _size_of_side(label))}
    if len(told) < len(("one", "another")) or len({size for _, size in told.values()}) > 1:
        return {}
    for at, (side, _) in told.items():
        others = (label for n, label in enumerate(labels) if n != at)
        rests = [rest for label in others if (rest := _beside_name(label, side))]
        rated = [c for c in header(rests, schema) if c.spec and c.spec.quantity]
        if not rated or _OF_OTHERS.search(side):
            return {}
    behind = all(_SIZE_FIRST.fullmatch(labels[at]) for at in told)
    commas = all(f"{side}, {size}" == labels[at] for at, (side, size) in told.items())
    comma = "," if commas else ""  # as the labels beside them have one
    return {at: f"memory ({size}), {side}" if behind else f"{side}{comma} memory ({size})"
            for at, (side, size) in told.items()}  # fmt: skip


def _size_of_side(label: str) -> tuple[str, str] | None:
    """The name of a side and the unit of bytes that a label is: `H100 GB`, `GB, fp32`."""
    if first := _SIZE_FIRST.fullmatch(label):
        return first[2], first[1]
    found = _SIZE_OF_SIDE.fullmatch(label)
    return (found[1], found[2]) if found else None


def _beside_name(label: str, name: str) -> str:
    """The words behind a name in a label, or in front of it; none where it has neither."""
    rest = label.removeprefix(name) if label.startswith(name) else label.removesuffix(name)
    rest = rest if len(rest) < len(label) else label.removesuffix(f"({name})")
    return rest.strip(" ,:–—-()") if len(rest) < len(label) else ""


def _ran_out(grid: Grid, places: Iterable[int]) -> bool:
    """Whether a cell of some columns says that memory was not enough."""
    return any(
        _NO_ROOM.match(plain(row.cells[at].text)) is not None
        for at in places for row in grid.rows if at < len(row.cells)
    )  # fmt: skip


def held_or_ran_out(grid: Grid, places: Iterable[int], above: Sequence[str]) -> bool:
    """Whether all that some columns hold is in bytes, or ran out of memory, as some of it did: that
    memory, of which no text around speaks as of another's."""
    places = [*places]
    texts = {plain(row.cells[at].text) for at in places for row in grid.rows if at < len(row.cells)}
    sizes = bool(texts) and all(len(text) <= LONGEST for text in texts) and _in_bytes_alone(texts)
    return sizes and _ran_out(grid, places) and not any(map(_OF_OTHERS.search, above))


_NO_ROOM = re.compile(
    r"[❌✗✘×]?\s*(?:cuda[ _-]?)?(?:oom|out[ _-]of[ _-]memory)(?![A-Za-z0-9])", re.IGNORECASE
)

_A_SIZE = re.compile("[GM]i?B")

_A_TIME = {"ms", "s", "sec", "seconds"}
"""Labels that are a unit of time and nothing more."""

_SIZE_OF_SIDE = re.compile(
    r"(\S[^()]{0,40}?[^\s,:–—-])(?<! [0-9]{2})(?<! [0-9]{3})"
    r"(?:[,:]? | [–—-] | ?(?=\())\(?([GM]i?B)\)?"
)
"""A label of a side, and a unit of bytes as words of their own: `H100 GB`, `A100 (GiB)`."""

_SIZE_FIRST = re.compile(r"([GM]i?B)(?:[,:] ?| [–—-] | ?(?=\())\(?([^()\s][^()]{0,40}?)\)?")
"""The same with the unit first: `GB, fp32`, `GiB (compiled)`."""

_OF_MEMORY = re.compile(
    r"\b(?:(?:GPU|device|peak|long-context|activation|training) )?memory\b"
    r"(?! (?:bandwidth|speed|clock|of the host|on the host))|\bVRAM\b|显存|\bSpeicher",
    re.IGNORECASE,
)

_OF_OTHERS = re.compile(
    r"\b(?:host|CPU|system|main|pinned|swap)[ -](?:memory|RAM)\b"
    r"|(?<!utils[./])\bcheckpoint(?!ing)|\bdisks?\b"
    r"|\bdata ?sets?\b|\bNVMe\b",
    re.IGNORECASE,
)
"""Words of bytes that are not in the memory of a device."""

_OF_ALLOCATORS = {
    "alloc": "max memory allocated", "allocated": "max memory allocated",
    "reserved": "max memory reserved", "resv": "max memory reserved", "rsvd": "max memory reserved",
}  # fmt: skip
"""Words of PyTorch's allocator that are labels by themselves, and what they mean where the text
says that they are of a memory."""

_OF_MEMORIES = re.compile(
    r"(?<![A-Za-z/])([A-Za-z]+(?:[`*]*\s*(?:/|,|&|\band\b)\s*[`*]*[A-Za-z]+){0,3})[`*]*\s*"
    r"(?:[:=–—]|\b(?:is|are)\b)(?=.*(?:memory|mem\b|VRAM|allocator))"
    r".{0,80}?(?:[,( ]|\bin )([GM]i?B)\b",
    re.IGNORECASE,
)
"""A line that says of labels that they are of a memory, and in which unit: `alloc/reserved:
torch.cuda.max_memory_*, GiB`."""


def _with_named_memories(grid: Grid, texts: Sequence[str]) -> Grid:
    """The grid with labels of memories for the words of the allocator that a text says are such."""
    told: dict[str, str] = {}
    for text in texts:
        found = _OF_MEMORIES.search(text) if _UNIT_OF_BYTES.search(text) else None
        for name in _NAME.findall(found[1].casefold()) if found else ():
            if found and name in _OF_ALLOCATORS:
                told[name] = f"{_OF_ALLOCATORS[name]} ({found[2]})"
    last = grid.heads[-1]
    cells = tuple(
        cell._replace(text=told.get(plain(cell.text).casefold(), cell.text)) for cell in last.cells
    )
    return _last_labelled(grid, cells) if told else grid


_NAME = re.compile("[A-Za-z]+")

_UNIT_OF_BYTES = re.compile(r"\b[GM]i?B\b")


def _of_bare_memory(text: str, schema: Schema) -> bool:
    """Whether a cell is the label of a memory without a unit."""
    if len(text) > LONGEST or not _OF_A_MEMORY.search(text) or COMPARED.search(text):
        return False
    return _is_bare_memory(plain(text), schema)


_OF_A_MEMORY = re.compile(r"m[eé]m|ram|hbm|speicher|存|メモリ|메모리", re.IGNORECASE)
"""In every label of a memory that says no unit; most cells have none."""


@lru_cache(maxsize=REMEMBERED)
def _is_bare_memory(label: str, schema: Schema) -> bool:
    words = label.split()
    parts = [label, *words[-1:], " ".join(words[:-1])]  # `4090 显存`, `peak mem before`
    columns = [header([part], schema)[0] for part in parts] if words else []
    column = next((each for each in columns if each.spec is not None), None)
    memory = column is not None and column.spec is not None and column.spec.name == "memory"
    return memory and column is not None and not column.unit_known


def _in_bytes(label: str, near: Sequence[str]) -> str | None:
    """A label of a memory without a unit with the one that a text gives it; None elsewhere."""
    words = label.split()
    last = words[-1]  # `4090 显存`
    if len(words) > 1 and not _OF_A_MEMORY.search(last):
        last = words[-2]  # `peak mem before`
    names = "|".join(map(re.escape, {label, last, "memory" if last == "mem" else last}))
    own = r"(?<!\w)(?<!CPU )(?<!host )(?<!system )"
    form = re.compile(rf"{own}(?:{names})(?:{_IN_BYTES}|{_OF_ONE_IN}|{_IS_IN})", re.IGNORECASE)
    units = {next(filter(None, each)) for text in near for each in form.findall(text)}
    return f"{label} ({units.pop()})" if len(units) == 1 else None


_OF_A_COLUMN = re.compile(
    r"(?:(est(?:imated|imate|\.)?|predicted|pred\.|modell?ed|theor(?:etical|y|\.))"
    r"|meas(?:ured|\.)?|actual|observed)\s*[(\[]([GM]i?B)[)\]]",
    re.IGNORECASE,
)
"""A label that says how a size was found and in which unit: `Est. [GB]`, `Measured (GiB)`."""

_MEMORY = re.compile(r"\bmemory\b|显存|メモリ", re.IGNORECASE)

_OTHER_SIZES = re.compile(
    r"\b(?:host|cpu|system|disk|storage|traffic|communicat\w+|volume|checkpoints?)\b"
    r"(?! (?:parallel|recomput))",
    re.IGNORECASE,
)
"""Words of sizes that are no memory of a device."""


def estimates_beside(grid: Grid, above: Above) -> bool:
    """Whether a grid has the memory that was measured beside its estimate, `Est. [GB]` there,
    below a text that is of memory."""
    if not grid.heads or grid.labels:
        return False
    if not any(map(_sized_in, _lowest(grid))):
        return False
    found = [_OF_A_COLUMN.fullmatch(plain(cell.text)) for cell in grid.heads[-1].cells]
    guessed = [each[2] for each in found if each and each[1]]
    taken = [each[2] for each in found if each and not each[1]]
    if len(taken) != 1 or guessed != taken:
        return False
    texts = above()
    return any(map(_MEMORY.search, texts)) and not any(map(_OTHER_SIZES.search, texts))


@lru_cache(maxsize=1024)  # a document has the same labels again and again
def _sized_in(text: str) -> bool:
    """Whether a label says how a size was found and in which unit."""
    return _OF_A_COLUMN.fullmatch(plain(text)) is not None


def with_measured_memory(grid: Grid) -> Grid:
    """A grid whose estimates stand beside what was measured with a label of memory for that."""
    last = grid.heads[-1]
    cells = tuple(
        cell._replace(text=f"measured memory ({found[2]})")
        if (found := _OF_A_COLUMN.fullmatch(plain(cell.text))) and not found[1]
        else cell
        for cell in last.cells
    )
    return _last_labelled(grid, cells)
