"""Columns of batches whose labels leave open whose they are, by a sentence above their table.

In: a grid and the texts above it. Out: the same with `Batch` as the batch of each device, or of the
whole job, where the text says so: `Batch size is per GPU.`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from assay.ingest.columns.headers import plain
from assay.ingest.columns.subject import names_rates
from assay.ingest.grids.grid import LONGEST, Grid
from assay.ingest.schema.record import REMEMBERED, Schema
from assay.ingest.vocabulary.terms import normalise

_OPEN = frozenset(map(normalise, (
    "batch", "batchsize", "bs", "bsz", "батч", "размер батча", "批大小", "批次大小", "批量大小",
    "Batchgröße", "taille de lot", "taille de batch", "tamaño de lote", "バッチサイズ", "배치",
    "배치 크기", "バッチ", "批次",
)))  # fmt: skip
"""Labels of a batch that say nothing of whose it is."""

_OF_BATCHES = ("batch", "батч", "bs", "批", "lot", "バッチ")
"""One of these is in every text that speaks of batches."""

_BARE = {"batch", "батч", "배치", "バッチ", "批次"}
"""Those that name no size."""

_DEVICES = r"(?:GPU|device|card|rank|chip|NPU|TPU|HPU|accelerator|GCD|tile|core)"

_IS = (
    r"(?:is|are|was|were|means?|refers? to|=)(?: (?:always|all|given|stated|quoted|listed|counted"
    r"|reported|specified|shown|understood|meant|the (?:size|number|one|batch(?: ?size)?)))*"
)

_SUBJECT = r"(?<!\bglobal )(?<!\btotal )(?<!\beffective )\b(?:batch(?:[ -]?sizes?)?|bs)[`*_\"]*"

_OF_ONE = re.compile(
    rf"{_SUBJECT} {_IS} [`*_]*(?:per[ -]|for (?:each|one|a single) |of (?:each|one|a single) "
    rf"|on (?:each|one|a single) |that of (?:each|one) ){_DEVICES}\b"
    rf"|{_SUBJECT} {_IS} (?:the )?[`*_]*(?:per[ -]{_DEVICES}|local|micro)[ -]batch"
    r"|\bбатч\w*(?: \w+)? (?:указан\w*|дан\w*|считается|—|-) (?:на|для) (?:одну |каждую |одной )?"
    r"(?:видео)?(?:карт[уы]|GPU)"
    r"|(?:batch ?size|批(?:次|量)?大小)\s*(?:(?:均|都)?(?:为|是|指)|[（(：:])\s*"
    r"(?:单卡|每卡|每[张块个]?(?:显卡|卡|GPU))"
    r"|\bbatchgrößen? (?:gilt|ist|sind|gelten|versteht sich|bezieht sich auf) (?:je|pro) "
    r"(?:GPU|Karte|Grafikkarte)|\btailles? de (?:lot|batch) (?:est|sont) (?:donnée?s? )?par "
    r"(?:GPU|carte)|\btamaño de lote es por (?:GPU|tarjeta)"
    r"|バッチサイズは(?:1 ?)?(?:GPU|カード)(?: ?1 ?[枚台基])?(?:あたり|当たり|ごと)",
    re.IGNORECASE,
)
"""A sentence by which the batches of a table are those of each device."""

_OF_ALL = re.compile(
    rf"{_SUBJECT} {_IS} (?:the )?[`*_]*(?:global|in total|total|summed|over all|across all"
    rf"|for all|of all|of the whole job)\b",
    re.IGNORECASE,
)
"""A sentence by which the batches of a table are those of the whole job."""

_NOT = re.compile(r"\b(?:not|unless|except|but|if|when|where|some)\b|\bне\b", re.IGNORECASE)

_SENTENCE = re.compile(r"(?<=[.;。!])\s*(?=\S)")


def with_batch_scopes(
    grid: Grid, schema: Schema, above: Callable[[], Sequence[str]], legend: Mapping[str, str]
) -> Grid:
    """The grid with its one column of a batch as that of a device, or of the job, as all sentences
    say that speak of it; with its size for a `Batch` of runs of which none does, nor `legend`."""
    if not grid.heads or grid.labels:
        return grid
    last = grid.heads[-1]
    names = [normalise(plain(cell.text).replace("<br>", " ")) for cell in last.cells]
    if sum(name in _OPEN or any(map(name.__contains__, _BARE)) for name in names) != 1:
        return grid
    at = next((at for at, name in enumerate(names) if name in _OPEN), None)
    told = {whose for text in above() for whose in _whose(text)} if at is not None else set()
    if at is None or len(told) > 1:
        return grid
    cells = [*last.cells]
    open_ = names[at] in _BARE and plain(cells[at].text) not in legend and _sized(grid, at)
    if not told and not (open_ and names_rates(grid.header(), schema)):
        return grid
    cells[at] = cells[at]._replace(text=" ".join([*told, "batch size"]))
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=tuple(cells))))


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
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


def _count(text: str) -> int:
    """A whole number as it is printed; 0 where a text is none."""
    bare = plain(text).replace(",", "")
    return int(bare) if bare.isdecimal() and len(bare) <= _MOST_DIGITS else 0


_MOST_DIGITS = 9


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _whose(text: str) -> frozenset[str]:
    """Whose batches are, in the words of labels, as the sentences of a text say.

    >>> _whose("Batch size is per GPU. All on 8 GPUs."), _whose("batch sizes are global")
    (frozenset({'micro'}), frozenset({'global'}))
    >>> _whose("The global batch size is per GPU times 8."), _whose("Batch size is not per GPU.")
    (frozenset(), frozenset())
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
