"""Tables that say how runs were configured, by the names under which other tables measure them.

In: the grids of a document. Out: `Keyed` tables: name of a row → its configuration cells. A table
of configurations has no measured column and names each of its rows once; the rows of another table
whose cells of one column are such names, all of them, ran as it says.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import NamedTuple

import polars as pl
from assay.ingest.columns.cells import counted, fills, number_of, quantity
from assay.ingest.columns.composite import degrees, layout
from assay.ingest.columns.headers import Column, header, plain
from assay.ingest.columns.open_labels import with_first_of_two
from assay.ingest.columns.subject import FOREIGN, served_here
from assay.ingest.columns.titles import SIZED, counted_devices, model_named
from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.prose.counted_machines import machines
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Diagnostic, Line, Record, Schema, Span
from assay.ingest.source.headings import NUMBERED, of_set_up, of_training, part_of_set_up
from assay.ingest.vocabulary.attention_names import attention_named
from assay.ingest.vocabulary.devices import (
    OF_EACH_NODE,
    SIGN,
    Device,
    devices,
    may_be_device,
    only,
    signed,
)
from assay.ingest.vocabulary.languages import in_english
from assay.ingest.vocabulary.networks import network_named
from assay.ingest.vocabulary.recomputation import how_much_again, switch
from assay.ingest.vocabulary.terms import configured_by, how_much
from assay.ingest.vocabulary.words import english, split

FEWEST = 2
"""Columns of configuration that make a table one of configurations, and rows that name runs."""


@dataclass(frozen=True)
class Keyed:
    """Name of a row → field → cell; `columns` are the labels that were understood."""

    rows: dict[str, dict[str, Cell]]
    columns: tuple[str, ...]
    models: dict[str, dict[str, Cell]] = field(default_factory=dict)
    """The names as models or as their sizes, where the table is of no machines."""
    counted: str = ""
    """The label of the names where these are numbers: rows of another table with as many have it,
    too."""
    machines: dict[str, dict[str, Cell]] = field(default_factory=dict)
    """How many devices a machine has, and its network, by the device, where no two machines have
    the same."""
    of_machines: bool = False

    def configure(self, records: Sequence[Record], title: str) -> set[int]:
        """Give rows what they are said to have run with, by their names or by the one that the
        `title` of their table says; returns the lines that say so."""
        each = [{**dict(_names(record)), **_known(record, self.rows)} for record in records]
        for label in [label for label, text in each[0].items() if self.called(text)]:
            names = [texts.get(label, "") for texts in each]
            if self.counted and (label != self.counted or {*names} != self.rows.keys()):
                continue
            if all(map(self.called, names)):
                break
        else:
            return self._of_one(records, title)
        used: set[int] = set()
        for record, name in zip(records, names, strict=True):
            record.cells |= _of_a_count(record, label, name)
            said = self.rows[self.called(name)]
            for named, cell in said.items():
                if named != "nodes" or not self.of_machines or _filled(record, said):
                    used |= _give(record, named, cell)
        return used

    def called(self, text: str) -> str:
        """The row that a name is of, or nothing: as it stands there, or the one machine whose name
        begins or ends with it, `JUWELS` for `JUWELS Booster`."""
        if text in self.rows or not self.of_machines or not _A_NAME.fullmatch(text):
            return text if text in self.rows else ""
        words = text.casefold().split()
        split_up = {name: name.casefold().split() for name in self.rows}
        found = [
            name for name, whole in split_up.items()
            if words in (whole[: len(words)], whole[-len(words) :])
        ]  # fmt: skip
        return found[0] if len(found) == 1 else ""

    def of_devices(self, records: Sequence[Record]) -> set[int]:
        """How many devices a machine has, and its network, for rows that print its device and no
        other machine has the same; returns the lines that say so."""
        used = set[int]()
        for record in records if self.machines else ():
            gpu = record.cells.get("gpu")
            device = only(gpu.text) if gpu else None
            told = self.machines.get(device.key, {}) if device else {}
            for name in told.keys() - record.cells.keys():
                used |= _give(record, name, told[name])
        return used

    def _of_one(self, records: Sequence[Record], title: str) -> set[int]:
        """The same for a table whose title names one row of this one, and whose rows name no model
        and no machine."""
        names = [name for name in self.rows if _in_title(name, title)]
        if len(names) != 1 or not self.models or any(map(_own_model, records)):
            return set()
        row = self.rows[names[0]]
        as_many = _counts_as_many(row, title)
        own = {
            n: c for n, c in row.items()
            if not _said_anew(n, title) or (as_many and n in _OF_DEVICES)
        }  # fmt: skip
        said = {**own, **self.models[names[0]]}
        return set[int]().union(
            *(_give(record, named, cell) for record in records for named, cell in said.items())
        )


_A_NAME = re.compile(r"[^\W\d_][\w-]{2,24}(?: [\w-]{1,16}){0,2}")
"""A text that may be a part of the name of a machine."""


def _give(record: Record, name: str, cell: Cell) -> set[int]:
    """Give a row a field, unless its own is nearer than what is said above both tables, which is of
    all rows, and this of one; the line that says it, if it does."""
    told = {each for each in ("gpus", "nodes") if _is_value(record.cells.get(each))}
    both = name == "gpus_per_node" and len(told) > 1
    if both and not fills(cell, record.cells):
        return set()  # a module of it has several
    own = record.cells.get(name)
    if own is not None and own.line >= min(cell.line, record.line):
        return set()
    record.cells[name] = cell
    return {cell.line}


def _is_value(cell: Cell | None) -> bool:
    return cell is not None and cell.state == "value"


def _filled(record: Record, said: Mapping[str, Cell]) -> bool:
    """Whether a row has the devices of all nodes of its machine, and not a part of them."""
    all_of_it = {"gpus": record.cells.get("gpus"), "nodes": said.get("nodes")}
    each = said.get("gpus_per_node")
    known = {name: cell for name, cell in all_of_it.items() if cell is not None}
    return each is not None and len(known) == len(all_of_it) and fills(each, known)


def _own_model(record: Record) -> bool:
    """Whether a row of a table prints its model, or how large that is."""
    cells = (record.cells.get(name) for name in ("model", "model_size", "parameters"))
    return any(cell is not None and cell.value_origin == "printed" for cell in cells)


def _in_title(name: str, title: str) -> bool:
    """Whether the words about a table name a row of another one: of a single letter as `(L)`, or
    with the word for what it is."""
    word = re.escape(name)
    named = rf"(?<![\w-]){word}(?![\w-]|\.[0-9])"
    if len(name) <= _SHORT:
        named = rf"\({word}\)|\b{word}[- ]model\b|\bmodel {word}\b"
    found = re.search(named, title)
    return found is not None and not _OF_OTHERS.search(title[: found.end()])


def _said_anew(field: str, title: str) -> bool:
    """Whether the words about a table speak of a setting, which is then not that of another run of
    the same model: `Larkspur-27B on 128 GPUs with a global batch of 384`."""
    words = _SPOKEN_OF.get(field)
    return words is not None and re.search(words, title, re.IGNORECASE) is not None


def _counts_as_many(row: Mapping[str, Cell], title: str) -> bool:
    """Whether the words about a table name no device and one number of them, that of a row of
    another table: `6.7B, the same 16 GPUs`."""
    counts = {found.replace(",", "") for found in _SO_MANY.findall(title)}
    gpus = row.get("gpus")
    return gpus is not None and counts == {gpus.text} and not devices(title)


_SO_MANY = re.compile(r"\b([0-9][0-9,]*) ?[x×]? ?(?:[GNTX]PUs?|GCDs|cards|devices|chips)\b")

_OF_DEVICES = {"gpu", "gpus", "gpus_per_node", "nodes", "dp"}

_SPOKEN_OF = {
    "gpus": r"[GNTX]PUs?\b|\bnodes?\b|\bcards?\b|卡|节点",
    "nodes": r"[GNTX]PUs?\b|\bnodes?\b|卡|节点",
    "dp": r"[GNTX]PUs?\b|\bnodes?\b|\bDP\b|卡|节点", "global_batch": r"batch|批|バッチ|배치|GBS",
    "batch_size": r"batch|批|バッチ|배치|[MG]BS", "micro_batch": r"batch|批|バッチ|배치|MBS",
    "accumulation": r"batch|批|accum", "tp": r"\bTP\b|tensor",
    "pp": r"\bPP\b|pipeline", "cp": r"\bCP\b|context.parallel", "ep": r"\bEP\b|expert.parallel",
    "seq_len": r"\bseq|context|length|序列|tokens",
    "dtype": r"\bFP?[0-9]|BF16|precision|精度", "recompute": r"recomput|checkpoint|重计算",
    "activation_checkpointing": r"recomput|checkpoint|重计算", "gpu": r"[GNTX]PUs?\b|[0-9]+ ?[x×]",
}  # fmt: skip
"""Words of a text that speaks of a setting."""

_OF_OTHERS = re.compile(
    r"\b(?:than|vs\.?|versus|unlike|compared (?:to|with)|(?:similar|relative|next) to"
    r"|as (?:for|with|in)|instead of|except|but for|not)\b[^.;:]{0,80}$",
    re.IGNORECASE,
)
"""Words before the name of a run that other runs are compared with."""

_SHORT = 2
"""Letters of names that are words of a text as well."""


_TIMES = re.compile(r"([0-9][0-9,]*) ?[x×*]? (?=[A-Za-z])|([0-9][0-9,]*) ?[x×*] ?(?=[A-Za-z])")
"""How many of a machine a cell counts in front of its name: `8 x g8.h100`."""


_NOTED = re.compile(r"(\S+) +\([^()]*\)")
"""A name with a remark on its run: `h100_n64 (VP 6)`."""


def _names(record: Record) -> list[tuple[str, str]]:
    """Texts by which a table of configurations may name a row, each behind its label."""
    model = record.cells.get("model")
    printed = model is not None and model.value_origin == "printed"
    own = [("", plain(model.text))] if model is not None and printed else []
    if own and len(sizes := SIZED.findall(own[0][1])) == 1:
        own.append(("", sizes[0].replace(" ", "").upper()))
    size = record.cells.get("model_size") or record.cells.get("parameters")
    if size is not None and size.value_origin == "printed" and not own:
        own = [
            ("", f"{size.text}{sign}") for sign, scale in SUFFIXES.items() if scale == size.scale
        ]
    counted = [(label, _TIMES.sub("", plain(text), count=1)) for label, text in record.other
               if _TIMES.match(plain(text))]  # fmt: skip
    noted = [(label, found[1]) for label, text in record.other
             if (found := _NOTED.fullmatch(plain(text)))]  # fmt: skip
    others = [(label, plain(text)) for label, text in record.other]  # `` `base-128` ``
    return [*own, *others, *counted, *noted]


def _known(record: Record, rows: Container[str]) -> dict[str, str]:
    """The texts of a row that name one of a table of configurations, by their labels."""
    return {label: text for label, text in reversed(_names(record)) if text in rows}


def _of_a_count(record: Record, label: str, name: str) -> dict[str, Cell]:
    """How many machines a row counts in front of the name of one."""
    text = plain(dict(record.other).get(label, ""))
    count = _TIMES.match(text)
    if count is None or text == name or "nodes" in record.cells:
        return {}
    many = (count[1] or count[2]).replace(",", "")
    return {"nodes": Cell(many, record.line, record.column)}


def keyed(
    source: str, grid: Grid, turned: Grid | None, schema: Schema, legend: Mapping[str, str]
) -> Keyed | None:
    """A grid as a table of configurations, as it stands or turned; None where it is none. `legend`
    are the labels that its document explains."""
    for each in (grid, turned):
        first = each and with_first_of_two(each)
        if first is not None and (found := _keyed(source, first, schema, legend)):
            return found
    return None


_CAN_RUN = re.compile(
    r"\W*(?:(?:runs?|tested|works?|fits?|supported) (?:on|in)|supports?|requires?|needs?)\b",
    re.IGNORECASE,
)
"""A label of what something can run on, which is not where the runs of other tables ran."""

_A_RATE = re.compile(
    r"\w ?/ ?(?:s|sec|second|秒|초)\b|\bper second\b|\b(?:throughput|latency)\b"
    r"|吞吐|延迟|スループット|レイテンシ|처리량|지연",
    re.IGNORECASE,
)
"""A label of what its own table measures, whatever that is of: `Output tokens/s`."""


_OF_MODELS = {"model", "model_size", "parameters"}
"""Columns of a table whose memory is that of its models, and not that of machines."""


def _keyed(source: str, grid: Grid, schema: Schema, legend: Mapping[str, str]) -> Keyed | None:
    columns = _explained(grid.header(), schema, legend)
    rows = [row for row in grid.rows if len(row.cells) == len(columns)]
    several = {n: held for n, c in enumerate(columns) if (held := c.degrees or _several(c.label))}
    if machines := _machines(columns, rows):
        (counts,) = header(["GPUs per node"], schema)
        columns = [counts if _OF_A_NODE.fullmatch(c.label) else c for c in columns]
    linked = {
        n for n, c in enumerate(columns)
        if machines and _OF_NETWORKS.fullmatch(plain(c.label))
    }  # fmt: skip
    parts = {*several, *machines, *linked}
    told = [n for n, c in enumerate(columns) if _configures(c) or n in parts]
    count = len(told) + sum(len(held) - 1 for held in several.values())
    measured = [c for c in columns if c.spec and c.spec.quantity]
    of_models = any(c.spec and c.spec.name in _OF_MODELS for c in columns)
    if machines and not of_models:  # how much a device holds, and could do
        measured = [c for c in measured if c.spec and c.spec.name != "memory"]
        measured = [c for c in measured if not _AT_MOST.search(plain(c.label))]
    able = any(_CAN_RUN.match(column.label) for column in columns)
    able |= not machines and any(_A_RATE.search(column.label) for column in columns)
    if not (count >= FEWEST or machines) or measured or able:
        return None
    foreign = set[str]().union(*(split(column.label) for column in columns)) & FOREIGN
    if foreign - (_OF_MACHINES if machines else set()):
        return None  # it measures something itself, of servers perhaps
    rows = [row for row in rows if any(row.cells[n].text for n in told)]
    at = _naming(columns, rows, told)
    if at is None:  # models by their sizes
        at = _of_sizes(columns, rows)
        told = [n for n in told if n != at]
    if at is None or not (told or machines):
        return None
    found: dict[str, dict[str, Cell]] = {}
    models: dict[str, dict[str, Cell]] = {}
    sizes = _sizes(columns, rows, {at, *told})
    of_each = [n for n, c in enumerate(columns) if n != at and c.spec and c.spec.name == "model"]
    fields_ = {c.spec.name for n in told if (c := columns[n]).spec}
    named = columns[at].spec is not None or bool(sizes) or bool(fields_ & {*_OF_A_MODEL})

    def said_at(n: int, cell: GridCell) -> dict[str, Cell]:
        if n in machines:
            return _of_machine(cell)
        if n in linked:
            return _of_network(cell)
        if n in several:
            return _each(several[n], cell)
        return _counted_in(columns[n], cell) | _configuration(source, columns[n], cell)

    for row in rows:
        cells = dict[str, Cell]()
        for n in (*told, *of_each):
            cells |= said_at(n, row.cells[n])
        for n in sizes if "parameters" not in cells else ():
            cells |= _of_size(row.cells[n])
        key = row.cells[at]
        for name in [plain(key.text), *_LISTED.split(plain(key.text))]:
            found.setdefault(name, cells)
            sure = named or SIZED.search(name) or model_named(name)
            models[name] = _called(name, key) if sure else {}  # of a machine, perhaps
    understood = tuple(columns[n].label for n in (*told, *of_each, *sizes))
    if machines:
        return Keyed(found, understood, {}, machines=_by_device(found), of_machines=True)
    counted = columns[at].label if all(map(str.isdecimal, found)) else ""
    return Keyed(found, understood, models, counted)


def _called(name: str, key: GridCell) -> dict[str, Cell]:
    """The model that a name is, or its size where it is nothing else."""
    size = _of_size(key) if _SIZE.fullmatch(name) else {}
    return size or {"model": Cell(name, key.line, key.column, value_origin="stated")}


def _explained(
    labels: Sequence[str], schema: Schema, legend: Mapping[str, str]
) -> Sequence[Column]:
    """The columns of labels, of those that leave open what they are what a legend says of them."""
    wide = len({configured_by(plain(label)) for label in labels} & _SHAPED) >= FEWEST
    known = ["hidden" if wide and plain(label).casefold() in _WIDTHS else label for label in labels]
    told = header([legend.get(plain(label), label) for label in known], schema)
    return [
        replace(other, label=own.label)
        if other.spec and _configures(other) and (own.spec is None or own.spec.name == "batch_size")
        else own
        for own, other in zip(header(labels, schema), told, strict=True)
    ]


_WIDTHS = {"width", "dim", "model dim", "model width", "dimension", "channels", "宽度", "维度",
           "寬度", "維度", "次元", "次元数", "차원"}  # fmt: skip
"""Labels of how wide a model is, beside those of what else it is built of."""

_SHAPED = {"layers", "heads", "kv_heads", "parameters", "model_size", "ffn_hidden"}


def _by_device(found: Mapping[str, Mapping[str, Cell]]) -> dict[str, dict[str, Cell]]:
    """How many devices each machine has, and its network, by its device; nothing of one that two
    machines have."""
    many = dict[str, list[dict[str, Cell]]]()
    for cells in {id(cells): cells for cells in found.values()}.values():
        device = only(cells["gpu"].text) if "gpu" in cells else None
        if device and "gpus_per_node" in cells:
            own = {n: cells[n] for n in ("gpus_per_node", "network") if n in cells}
            many.setdefault(device.key, []).append(own)
    return {key: each[0] for key, each in many.items() if len(each) == 1}


def _naming(columns: Sequence[Column], rows: Sequence[GridRow], told: Sequence[int]) -> int | None:
    """The first free column whose cells are words, or the numbers of runs, and another in each
    row."""
    for at, column in enumerate(columns):
        names = [plain(row.cells[at].text) for row in rows]
        words = all(re.search(r"[^\W\d_]", _POWER.sub("", name)) for name in names)
        words |= _OF_NUMBERS.fullmatch(plain(column.label)) is not None
        free = at not in told and (column.spec is None or column.spec.name == "model")
        if free and words and len(set(names)) == len(names) >= FEWEST:
            return at
    return None


_OF_NUMBERS = re.compile(
    r"(?:(?:run|exp(?:eriment)?|config(?:uration)?|case|setting|set-?up|job|trial|test|row)s?"
    r"[ _-]?)?(?:#|id|no\.?|nr\.?|num(?:ber)?|index)|run|exp(?:eriment)?|config(?:uration)?|case"
    r"|set-?up|setting|job|trial|编号|序号|实验|配置|番号|実験|번호",
    re.IGNORECASE,
)
"""A label of the numbers by which tables call their runs."""

_POWER = re.compile(r"[0-9][eE][+-]?[0-9]")
"""In a number that is no name: `3e-4`."""


def _of_sizes(columns: Sequence[Column], rows: Sequence[GridRow]) -> int | None:
    """The column of the sizes of models, another in each row."""
    for at, column in enumerate(columns):
        names = [plain(row.cells[at].text) for row in rows]
        sizes = column.spec is not None and column.spec.name in ("model_size", "parameters")
        if sizes and all(map(_SIZE.fullmatch, names)) and len(set(names)) == len(names) >= FEWEST:
            return at
    return None


def _configuration(source: str, column: Column, at: GridCell) -> dict[str, Cell]:
    """The field of a column with a cell of it, if that is a value."""
    if column.spec and column.spec.name in _OF_DEVICES and _IN_PARTS.search(at.text):
        return {}
    if _of_attention(column):
        return _labelled_alone(_pair(column.label, at), 1, Configuration)
    if column.spec is None and _OF_CHECKPOINTS.fullmatch(plain(column.label)):
        return _again(at)
    if column.spec and not column.spec.numeric:
        text = plain(at.text)
        name = how_much(column.spec.name, text) or column.spec.name
        word = name in _WORDS and _WORDS[name].fullmatch(text) is not None
        if not word and column.spec.name in _AGAIN:
            return _again(at)
        return {name: Cell(text, at.line, at.column, value_origin="stated")} if word else {}
    if column.spec and (told := counted(column.spec.name, at.text, Span("", at.line, at.column))):
        return {name: cell._replace(value_origin="stated") for name, cell in told.items()}
    text = _OF_WHAT.sub("", at.text) if column.spec and column.spec.name in _SHAPED else at.text
    cell = quantity(text, column, Span(source, at.line, at.column)) if column.spec else None
    if cell is None or isinstance(cell, Diagnostic) or cell.state != "value" or not column.spec:
        return {}
    return {column.spec.name: cell._replace(value_origin="stated")}


_AT_MOST = re.compile(r"\bpeak\b|\btheoretical|\bNVLink\b|峰值|理论|ピーク", re.IGNORECASE)
"""In a label beside machines: what a device could do."""


def _of_network(at: GridCell) -> dict[str, Cell]:
    """The network in a cell of a table of machines, as it is printed: `8x 400 Gb/s NDR`."""
    text = plain(at.text)
    found = network_named(text) or network_named(f"network: {text}")
    if found is None:
        return {}
    return {"network": Cell(found.text.removeprefix("network: "), at.line, at.column,
                            value_origin="stated")}  # fmt: skip


_OF_NETWORKS = re.compile(
    r"(?:inter-?(?:node|connect)(?: (?:network|interconnect))?|network(?:ing)?|fabric|NICs?)"
    r"|网络|互联|(?:机间|节点间)(?:网络|互联)?|ネットワーク|네트워크",
    re.IGNORECASE,
)
"""A label of what connects the nodes of a machine."""

_AGAIN = {"recompute", "activation_checkpointing"}


def _again(at: GridCell) -> dict[str, Cell]:
    """How much is computed again, by the word of a cell."""
    much = how_much_again(at.text)
    name, text = ("activation_checkpointing", "True") if much == "on" else ("recompute", much)
    return {name: Cell(text, at.line, at.column, value_origin="stated")} if text else {}


_IN_PARTS = re.compile(
    r"[0-9]\s*[(（]\s*[0-9]{1,4} (?:logical |compute )?(?:tiles|GCDs|dies|stacks|chiplets)\b",
    re.IGNORECASE,
)
"""Boards, and what programs may count in their place: `6 (12 tiles)`."""

_OF_WHAT = re.compile(
    r"(?<=[0-9]) (?:(?:encoder|decoder|transformer|attention|hidden)s?"
    r"(?: (?:layer|block|head|unit)s?)?|layers|blocks|heads)\s*$",
    re.IGNORECASE,
)
"""Layers, heads or units behind a number that counts them: `24 encoder`."""


def _counted_in(column: Column, at: GridCell) -> dict[str, Cell]:
    """The device whose number a column holds, as its label says: `A100-40GB GPUs`, `# H100`."""
    counts = column.spec is not None and column.spec.name in ("gpus", "gpus_per_node")
    device = only(column.label) if counts and plain(at.text).isdecimal() else None
    cell = Cell(device.text, at.line, at.column, value_origin="stated") if device else None
    return {"gpu": cell} if cell else {}


def _of_size(at: GridCell) -> dict[str, Cell]:
    """The size of a model in a cell: `57.4B`."""
    size = _SIZE.fullmatch(plain(at.text))
    scale = SUFFIXES[size[2].upper()] if size else 1.0
    cell = Cell(size[1], at.line, at.column, scale, value_origin="stated") if size else None
    return {"model_size": cell} if cell else {}


_LISTED = re.compile(r",\s*|\s+(?:and|&)\s+")
"""Between the names of several rows in one: `ada1, ada2`."""

_SIZE = re.compile(r"~?([0-9]+(?:\.[0-9]+)?) ?([BMbm])")


def _sizes(columns: Sequence[Column], rows: Sequence[GridRow], taken: Set[int]) -> list[int]:
    """The column of how large models are, by its cells alone, that no label calls those in use."""
    found = [
        n for n, column in enumerate(columns)
        if n not in taken and column.spec is None and not _IN_USE.search(plain(column.label))
        and all(_SIZE.fullmatch(plain(row.cells[n].text)) for row in rows)
    ]  # fmt: skip
    return found if len(found) == 1 else []


_IN_USE = re.compile(r"activ|_a\b|per|/|data|token|non-?emb|embed", re.IGNORECASE)


_OF_MACHINES = {"price", "tdp", "cores", "vcpu", "vcpus", "bandwidth", "bw", "shape"}
"""Words of columns that a table of machines has as well, beside their devices; some clouds call
their kinds of machines shapes."""


_OF_A_NODE = re.compile(
    r"(?:(?:#|count|number|qty) ?)?(?:per|/|a|each) ?(?:node|server|host|machine|system)",
    re.IGNORECASE,
)
"""A label beside devices that counts them: `accelerator | per node`."""


def _machines(columns: Sequence[Column], rows: Sequence[GridRow]) -> set[int]:
    """The one column whose cells name the devices of machines, each one: `8x A100 80GB`."""
    found = {
        n for n, column in enumerate(columns)
        if (column.spec is None or column.spec.name in ("gpu", "gpus", "gpus_per_node", "nodes"))
        and len(rows) >= FEWEST
        and all(_of_a_machine(plain(row.cells[n].text)) for row in rows)
        and any(only(plain(row.cells[n].text)) for row in rows)
    }  # fmt: skip
    found -= {0} if len(found) == FEWEST else set()  # machines called after what is in them
    return found if len(found) == 1 else set()


def _of_a_machine(text: str) -> bool:
    """Whether a cell names what computes in a machine: devices of one kind, or processors."""
    return only(text) is not None or _PROCESSORS.search(text) is not None


_PROCESSORS = re.compile(r"\b(?:EPYC|Xeon|CPUs?|Graviton|A64FX|Sapphire Rapids|Milan|Genoa)\b")


def machines_of(tables: Iterable[Keyed | None]) -> dict[str, dict[str, Cell]]:
    """Devices of machines, by their names, as tables of a document say it."""
    return {
        name: {n: cell for n, cell in cells.items() if n in ("gpu", "gpus_per_node", "network")}
        for table in tables if table and table.of_machines
        for name, cells in table.rows.items() if "gpu" in cells
    }  # fmt: skip


def _of_machine(at: GridCell) -> dict[str, Cell]:
    """The device of a machine, and how many of it the machine has."""
    text = plain(at.text)
    device, behind = only(text), _COUNTED.match(signed(text))
    if device is None:
        return {}
    cell = Cell(device.text, at.line, at.column, value_origin="stated")
    dies = _DIES.search(text)
    count = dies[1] if dies else counted_devices(text) or (behind[1] if behind else None)
    many = {"gpus_per_node": cell._replace(text=count.replace(",", ""))} if count else {}
    return {"gpu": cell, **many}


_DIES = re.compile(r"\(([0-9]{1,3}) (?:GCD|die|tile)s\)")
"""How many devices the modules of a machine are: `8x MI250X (16 GCDs)`."""

_COUNTED = re.compile(rf"([0-9]{{1,2}}) ?[x×]? ?(?:NVIDIA |AMD )?(?={SIGN})")


def _several(label: str) -> tuple[str, ...]:
    """Fields that a label names behind each other: `dims (hidden/layers/heads)`."""
    text = plain(label)
    inside = re.fullmatch(r"[\w ]{0,20}\(([^()]+)\)", text)
    parts = re.split(r"\s*[/×x,]\s+|\s*/\s*", inside[1] if inside else text)
    names = tuple(configured_by(part) or "" for part in parts)
    return names if len(names) >= FEWEST and all(names) and len(set(names)) == len(names) else ()


def _each(names: Sequence[str], at: GridCell) -> dict[str, Cell]:
    """The fields of such a label with the numbers of a cell."""
    numbers = re.split(r"\s*[/×x]\s*", plain(at.text).replace(",", ""))
    if len(numbers) != len(names) or not all(number.isdecimal() for number in numbers):
        return {}
    cell = Cell("", at.line, at.column, value_origin="stated")
    return {n: cell._replace(text=number) for n, number in zip(names, numbers, strict=True)}


def configured(
    measured: Sequence[tuple[Sequence[Record], str]], found: Sequence[Keyed | None]
) -> Iterator[set[int]]:
    """Give the rows of tables, each with the words about them, what is said of them; lines that say
    so, of each of `found`."""
    naming: defaultdict[str, list[tuple[Sequence[Record], str]]] = defaultdict(list)
    for records, title in measured:  # by a first row's names and the words of its title
        words = (word.rstrip(".-") for word in _WORDS_OF.findall(title))
        for text in {*(text for _, text in _names(records[0])), *words}:
            naming[text].append((records, title))
    told = {name for held in found if held for cells in held.rows.values() for name in cells}
    for held in found:
        used: set[int] = set()
        if held is not None:
            for records, _ in measured if held.machines else ():
                used |= held.of_devices(records)
            for name in filter(held.called, naming):
                for records, title in naming[name]:
                    used |= held.configure(records, title)
                # what knows all of it is not looked at again: every part may name its rows alike
                naming[name] = [each for each in naming[name] if _lacks(each[0], told)]
        yield used


@dataclass(frozen=True)
class Joined:
    """Settings that a table gives runs by what its first columns, `keys`, say of these: `GPU |
    Precision | TP | PP`; `columns` are its labels."""

    keys: tuple[str, ...]
    rows: tuple[dict[str, Cell], ...]
    columns: tuple[str, ...]

    def said_of(self, record: Record) -> dict[str, Cell]:
        """Cells of the one row that is of a run, as far as this says what it was; none where it
        does not say all that tells the rows apart, or several rows are of it."""
        if not all(name in record.cells for name in self.keys):
            return {}
        own = record.cells
        mine = [
            row for row in self.rows
            if all(_agrees(name, cell, own[name]) for name, cell in row.items() if name in own)
        ]  # fmt: skip
        return mine[0] if len(mine) == 1 else {}


def joined(
    source: str,
    grid: Grid,
    turned: Grid | None,
    schema: Schema,
    legend: Mapping[str, str],
    about: str,
) -> Joined | None:
    """A grid of settings alone, as it stands or turned, some of which say of which runs the others
    are; None where it is none, or the words `about` it are of serving."""
    if served_here([Line(0, about, 1, {})]):
        return None
    for each in (grid, turned):
        if each and each.heads and (found := _joined(source, each, schema, legend)):
            return found
    return None


def _joined(source: str, grid: Grid, schema: Schema, legend: Mapping[str, str]) -> Joined | None:
    columns = _explained(grid.header(), schema, legend)
    names = [_field_of(column) for column in columns]
    rows = [row for row in grid.rows if len(row.cells) == len(columns)]
    keys = tuple(takewhile(_TELLS.__contains__, names))
    known = all(
        _configures(column) or _BESIDE_SETTINGS.fullmatch(plain(column.label))
        for column in columns[len(keys) :]
    ) and len({*names} - {""}) == len([name for name in names if name])
    if not known or len(rows) < max(FEWEST, len(grid.rows)) or len(keys) == len(columns):
        return None
    if not keys or {*keys} <= {"model", "model_size"}:
        return None  # these are names
    found = list[dict[str, Cell]]()
    for row in rows:
        said = dict[str, Cell]()
        for column, at in zip(columns, row.cells, strict=True):
            if column.spec and column.spec.name in keys and not column.spec.numeric:
                text = plain(at.text)
                cell = Cell(text, at.line, at.column, value_origin="stated")
                said |= {column.spec.name: cell} if text else {}
            else:
                said |= _configuration(source, column, at)
        if not all(name in said for name in keys):
            return None
        found.append(said)
    apart = {tuple((found_of[n].text, found_of[n].scale) for n in keys) for found_of in found}
    labels = tuple(column.label for column in columns)
    return Joined(keys, tuple(found), labels) if len(apart) == len(found) else None


def _field_of(column: Column) -> str:
    """The field that a column is of, or nothing."""
    return "attention" if _of_attention(column) else column.spec.name if column.spec else ""


_TELLS = {"gpu", "gpus", "nodes", "dtype", "seq_len", "model", "model_size"}
"""Settings by which a table says of which runs the others of its settings are."""


def _agrees(name: str, cell: Cell, own: Cell) -> bool:
    """Whether a cell of such a table is of a run that has another cell in its place."""
    if own.state != "value":
        return False
    if fields(Configuration)[name].dtype.is_numeric():
        return number_of(cell) == number_of(own)
    if name == "gpu":
        one, other = only(cell.text), only(own.text)
        return one is not None and other is not None and one.key == other.key
    each = [text.strip().casefold() for text in re.split(r"[/,]| and | or ", cell.text)]
    return plain(own.text).casefold() in (*each, plain(cell.text).casefold())


def join(
    measured: Sequence[tuple[Sequence[Record], str]], found: Sequence[Joined | None]
) -> Iterator[set[int]]:
    """Give the rows of tables all of which such a table is of what it says of them; lines that say
    so, of each of `found`."""
    for held in found:
        used: set[int] = set()
        for records, _ in measured if held else ():
            told = [held.said_of(record) for record in records] if held else []
            for record, said in zip(records, told, strict=True) if all(told) else ():
                for name in said.keys() - record.cells.keys():
                    record.cells[name] = said[name]
                    used.add(said[name].line)
        yield used


_WORDS_OF = re.compile(r"[A-Za-z][\w.-]*|(?<![\w.])[0-9]+(?:\.[0-9]+)?[BM]\b")


def _lacks(records: Sequence[Record], names: Set[str]) -> bool:
    """Whether some row does not say one of these fields."""
    return any(not names <= record.cells.keys() for record in records)


_OF_A_MODEL = ("model", "model_size", "parameters", "hidden", "layers", "heads", "kv_heads",
               "ffn_hidden", "vocab", "experts")  # fmt: skip
"""Fields that say what a model is, of whatever a run of it does."""


_TOLD = ("printed", "stated")


def models_of(tables: Sequence[Sequence[Record]], *, by_size: bool = False) -> Keyed | None:
    """The models whose shapes rows of measured tables print beside their names, as a table of
    configurations would say them: a later table names one of them, and not how it is built. A name
    with two shapes says none. `by_size`: rows that print no name are called by their size."""
    shapes = defaultdict[str, list[dict[str, Cell]]](list)
    for record in (record for records in tables for record in records):
        if name := _own_name(record, by_size=by_size):
            own = {name: record.cells[name] for name in _OF_A_MODEL if name in record.cells}
            held = {n: cell for n, cell in own.items() if cell.value_origin in _TOLD}
            shapes[name].append(held)
    found = {name: _alike(cells) for name, cells in shapes.items()}
    rows = {name: {n: cell._replace(value_origin="stated") for n, cell in cells.items()}
            for name, cells in found.items() if cells}  # fmt: skip
    named = {n: {"model": cells["model"]} if "model" in cells else {} for n, cells in rows.items()}
    return Keyed(rows, (), named) if rows else None


def _own_name(record: Record, *, by_size: bool) -> str:
    """The model that a row prints, or its size where it prints no other name; else empty."""
    model = record.cells.get("model")
    size = record.cells.get("model_size") or record.cells.get("parameters")
    if model is not None:
        return plain(model.text) if model.value_origin == "printed" else ""
    if not by_size or size is None or size.value_origin != "printed":
        return ""
    return next((f"{size.text}{s}" for s, scale in SUFFIXES.items() if scale == size.scale), "")


def shapes_of(tables: Iterable[Keyed | None]) -> dict[str, dict[str, Cell]]:
    """Shapes of models, by their names or sizes, as tables of a document say it: the first of each,
    with what others add that say nothing of it otherwise.

    >>> shapes_of([None, Keyed({"7B": {"layers": Cell("32", 4), "tp": Cell("2", 4)}}, ())])["7B"]
    {'layers': Cell(text='32', line=4, column=1, scale=1.0, kind=None, state='value', \
value_origin='stated', law=None)}
    """
    found = dict[str, dict[str, Cell]]()
    for table in filter(None, tables):
        for name, cells in table.rows.items() if not table.of_machines else ():
            told = {**cells, **table.models.get(name, {})}
            shape = {n: c._replace(value_origin="stated") for n, c in told.items()
                     if n in _OF_A_MODEL}  # fmt: skip
            if "seq_len" in told and {"layers", "hidden"} <= shape.keys():
                shape["seq_len"] = told["seq_len"]._replace(value_origin="stated")
            if shape.keys() - {"model", "model_size"} or SIZED.search(name):
                held = found.setdefault(name, shape)
                if all(_same(held[n], shape[n]) for n in shape.keys() & held.keys()):
                    found[name] = {**shape, **held}
    return found


def _same(one: Cell, other: Cell) -> bool:
    return (one.text.casefold(), one.scale) == (other.text.casefold(), other.scale)


_AS_THERE = re.compile(
    r"\b(?:same|identical|as|like|from)\b[^.;|]{0,120}?\b(?:above"
    r"|(?:the|first|previous|last|preceding|main|upper) (?P<which>(?:[\w-]+ ){0,3})table"
    r"|table [0-9]+)\b"
    r"|(?:与|同)[^。；|]{0,24}(?:上文|上表|前表|表格?)[^。；|]{0,16}(?:一致|相同)|(?:配置|设置)同上",
    re.IGNORECASE,
)
"""Words about a table whose runs are set up as those of a table above it."""

_LIKE_THERE = re.compile(
    r"\b(?:settings?|set-?ups?|config\w*|layouts?|parallelism|job|runs?|models?|hyper-?param\w*"
    r"|everything|otherwise)\b|配置|设置",
    re.IGNORECASE,
)


def runs_like(
    measured: Sequence[tuple[Sequence[Record], str]], schema: Schema
) -> Iterator[tuple[Keyed, Sequence[Record], str]]:
    """Tables whose words say that their runs are set up as those of the table above them, each with
    what that one prints of its runs by the names of its rows; a setting of which two rows of one
    name say another is of none."""
    known = fields(schema)
    for at, ((above, _), (records, title)) in enumerate(pairwise(measured), 1):
        there = _AS_THERE.search(title)
        if there is None or not _LIKE_THERE.search(title):
            continue
        which = _bare(there["which"] or "")
        named = [rows for rows, other in measured[:at] if which and which in _bare(other)]
        before = measured[0][0] if "first table" in there[0].casefold() else above
        before = _on_device(named[-1] if named else before, there.string)
        runs = defaultdict[str, list[dict[str, Cell]]](list)
        for record in before:
            cells = {
                name: cell._replace(value_origin="stated") for name, cell in record.cells.items()
                if known[name].configuration and cell.state == "value"
            }  # fmt: skip
            sides = [text for label, text in record.other if label == "column"]
            for name in dict.fromkeys([*(text for _, text in _names(record)), *sides]):
                if any(map(str.isalpha, name)):
                    runs[name].append(cells)
        rows = {name: _in_common(cells) for name, cells in runs.items()}
        yield Keyed(rows, (), {name: {} for name in rows}), records, title


def _on_device(rows: Sequence[Record], title: str) -> Sequence[Record]:
    """The rows that print the one device that words about a later table name; all of them where
    it is no one, or none of theirs: `the H200 configuration from the first table`."""
    device = only(title)
    own = [(row, only(row.cells["gpu"].text)) for row in rows if "gpu" in row.cells]
    kept = [row for row, each in own if device and each and each.key == device.key]
    return kept or rows


def _bare(words: str) -> str:
    """Words as they are compared: `weak-scaling` is what `Weak scaling` is."""
    return words.replace("-", " ").strip().casefold()


def _in_common(runs: Sequence[Mapping[str, Cell]]) -> dict[str, Cell]:
    """The fields that all of some runs say alike."""
    first, *others = runs
    return {
        name: cell for name, cell in first.items()
        if all(
            name in each and (each[name].text, each[name].scale) == (cell.text, cell.scale)
            for each in others
        )
    }  # fmt: skip


def _alike(shapes: Sequence[Mapping[str, Cell]]) -> dict[str, Cell]:
    """The fields of all of some shapes, the first of each; nothing where two of them differ."""
    found = dict[str, Cell]()
    for cells in shapes:
        for name, cell in cells.items():
            before = found.setdefault(name, cell)
            if (before.text, before.scale) != (cell.text, cell.scale):
                return {}
    return found


class Stated(NamedTuple):
    """Configuration that a table of labels and values says: as it stands, and under a condition;
    and rows that may say some in words, each as a line, `Batch size: 4 per GPU`."""

    plain: list[dict[str, Cell]]
    given: list[tuple[dict[str, str], dict[str, Cell]]]
    in_words: list[Line]


def stated(grid: Grid, schema: Schema, source: str = "") -> Stated:
    """Configuration of a table whose first column is of labels: one value beside each, perhaps
    a remark; or a value for each layout that its header names (`tp=1`, `tp=2`).
    """
    found = Stated([], [], [])
    width, rows = grid.width, [row for row in grid.rows if not row.blank]
    if not 2 <= width <= (MOST_OF_ONE_ROW if len(rows) == 1 else MOST):
        return found
    layouts = [layout(plain(text)) for text in grid.header()[1:]]
    if all(layouts):
        held: list[dict[str, Cell]] = [{} for _ in layouts]
        for row in grid.rows:
            for n, cells in enumerate(held, 1):
                cells.update(_labelled(row, n, schema))
        found.given.extend(pair for pair in zip(layouts, held, strict=True) if pair[1])
        return found
    if len(rows) == 1 and (whole := _of_one_row(source, grid, rows[0], schema)):
        found.plain.append(whole)
        return found
    if width <= MOST_PLAIN and not (width > FEWEST and _side_by_side(rows, schema)):
        first = [row for row in grid.heads if _HAS_DIGIT.search(plain(row.cells[-1].text))]
        told = [(row, _labelled(row, 1, schema)) for row in (*first, *rows)]
        said = [cells for _, cells in told if cells]
        found.plain.extend(said if len(said) > len(first) else [])
        if width == FEWEST:
            found.in_words.extend(filter(None, (_as_line(row) for row, cells in told if not cells)))
    return found


def _as_line(row: GridRow) -> Line | None:
    """A row of a label and a value as the line that says it, its value where it stands; None where
    it is nothing but ticked, which a feature may be that no run used."""
    if len(row.cells) < FEWEST or _OF_ANOTHER.search(plain(row.cells[0].text)):
        return None
    label, value = (plain(cell.text).strip() for cell in row.cells[:FEWEST])
    if not (label and value) or _TICKED.fullmatch(value) or len(label) > LONGEST_KEY:
        return None
    at = row.cells[1]
    return Line(at.line, f"{label}: {value}", max(1, at.column - len(label) - 2), {})


_TICKED = re.compile(
    r"\W*(?:yes|no|true|false|on|off|enabled|disabled|支持|不支持|是|否)?\W*", re.IGNORECASE
)

LONGEST_KEY = 40
"""Letters of a label of one setting."""


_HAS_DIGIT = re.compile("[0-9]")
"""In a header that is the first pair itself: `Layers | 22`."""


def _of_one_row(source: str, grid: Grid, row: GridRow, schema: Schema) -> dict[str, Cell]:
    """The settings of a table of one row below labels of settings alone, `Layers | Hidden size`,
    but for what else a trainer is told; of what model it is, where it names one."""
    columns = header(grid.header(), schema)
    if len(columns) != len(row.cells):
        return {}
    held, told = dict[str, Cell](), 0
    for column, cell in zip(columns, row.cells, strict=True):
        said = _configuration(source, column, cell) if _configures(column) else {}
        said = said or _labelled(_pair(column.label, cell), 1, schema)
        told += bool(said) and not held.keys() & said.keys()
        told += not said and _BESIDE_SETTINGS.fullmatch(plain(column.label)) is not None
        held |= said
    return held if told == len(columns) and len(held) >= FEWEST else {}


_BESIDE_SETTINGS = re.compile(
    r"optimi[sz]er|lr|learning rate|(?:lr )?schedul\w*|warm-?up(?: steps)?|weight decay|dropout"
    r"|seed|data ?sets?|data|tokeni[sz]er|epochs?|(?:training |max )?steps|iterations|betas?"
    r"|clip\w*|activation(?: function)?|norm(?:ali[sz]ation)?|rope"
    r"|position(?:al)? (?:embedding|encoding)s?|head dim(?:ension)?|优化器|学习率|数据集",
    re.IGNORECASE,
)
"""Labels of what a trainer is told besides, which is none of the settings that are read here."""


def _side_by_side(rows: Sequence[GridRow], schema: Schema) -> bool:
    """Whether two columns of values are of one run each, and none of them is a remark: most rows
    that say a field in the first say it in the second as well."""
    both = [(_labelled(row, 1, schema), _labelled(row, 2, schema)) for row in rows]
    said = [other for one, other in both if one]
    return 2 * sum(map(bool, said)) > len(said)


MOST, MOST_PLAIN, MOST_OF_ONE_ROW = 9, 3, 16
"""Columns of a table of labels and values: for several layouts, with a remark, and of one row."""


def is_of_set_up(titles: Sequence[Line]) -> bool:
    """Whether the innermost of some headings is of the set-up, of a part of it below one that is,
    or of the training of the model that the one around it names."""
    if not titles or of_set_up(titles[-1].text) or _OF_THE_MODEL.fullmatch(titles[-1].text):
        return bool(titles)
    if len(titles) < 2:
        return False
    below_set_up = of_set_up(titles[-2].text)
    if below_set_up and part_of_set_up(titles[-1].text):
        return True
    of_model = below_set_up or model_named(titles[-2].text) is not None
    return of_model and of_training(titles[-1].text)


_OF_THE_MODEL = re.compile(
    rf"{NUMBERED}(?:(?:the|our) )?(?:model|architecture|network|模型|モデル|모델)"
    r"(?: (?:architecture|description|overview|shape|dimensions|and (?:training|data|batch)))?"
    r"[\s:#=*]*",
    re.IGNORECASE,
)
"""A heading over the one model of a page."""


class SetUps:
    """The headings of a document's tables, and which of them are of the set-up.

    In: the headings of each table, the outermost first, whether it has rows, and what it says of
    configurations.
    """

    def __init__(self, tables: Iterable[tuple[Sequence[Line], bool, Mapping[str, str]]]) -> None:
        self._with_rows: set[int] = set()
        self._said: dict[tuple[tuple[int, ...], str], set[str]] = defaultdict(set)
        self._apart: set[tuple[int, ...]] = set()
        for titles, has_rows, told in tables:
            numbers = tuple(title.number for title in titles)
            if has_rows:
                self._with_rows.update(numbers)
            if is_of_set_up(titles):
                self._hear(numbers[:-1], told)

    def _hear(self, around: tuple[int, ...], told: Mapping[str, str]) -> None:
        for name, text in told.items():
            said = self._said[around, name]
            said.add(text)
            if len(said) > 1:
                self._apart.add(around)

    def spoken_for(self, titles: Sequence[Line]) -> Sequence[Line]:
        """The headings around the rows that a table of labels and values speaks for, of its own.

        The innermost is left out where it is of the set-up, has no rows below it, and no two such
        tables beside each other say a setting in two ways; and so is each around it in turn.
        """
        while is_of_set_up(titles):
            rows = titles[-1].number in self._with_rows
            apart = tuple(title.number for title in titles[:-1]) in self._apart
            if rows or apart:
                break
            titles = titles[:-1]
        return titles


def _labelled(row: GridRow, at: int, schema: Schema) -> dict[str, Cell]:
    """The field that the first cell of a row names, with the value in another; or the several that
    it names or that the value says in words, of machines or of how a model is split up."""
    if len(row.cells) <= at or _OF_ANOTHER.search(plain(row.cells[0].text)):
        return {}
    in_words = _in_words(row.cells[0].text, row.cells[at])
    if len(in_words) > 1:
        return in_words
    return (
        _labelled_alone(row, at, schema)
        or _each(_several(row.cells[0].text) or degrees(plain(row.cells[0].text)), row.cells[at])
        or in_words
    )


_OF_ANOTHER = re.compile(
    r"\b(?:reference|baseline|compar(?:ed|ison|ing)|competing|other|previous|referenz|vergleich\w*"
    r"|référence|comparaison|referencia|comparación)\b"
    r"|参考|参照|对比|对照|比较|比較|対照|비교|참고",
    re.IGNORECASE,
)
"""In the label of a row about what the runs are compared with."""


def _in_words(label: str, at: GridCell) -> dict[str, Cell]:
    """Fields of a value that is no single one: `Hardware | 8 nodes, 8x H800 80GB each`,
    `Parallelism | TP1, PP1, EP8`."""
    text = _COMMA_OF_HAN.sub(", ", plain(at.text))
    split_up = layout(text)
    if split_up:
        parts = [*split_up.items()]
    elif _OF_A_MACHINE.search(label) or _OF_ONE_NODE.fullmatch(plain(label)):
        told = machines(in_english(plain(at.text)).text)
        parts = [*{(part.name, part.word): None for part in told if not part.weak}]
        if _OF_ONE_NODE.fullmatch(plain(label)) and "nodes" not in dict(parts):
            parts = [*{("gpus_per_node" if n == "gpus" else n, word): None for n, word in parts}]
        if len({name for name, _ in parts}) < len(parts):
            return {}  # of several machines
    else:
        return {}
    cell = Cell("", at.line, at.column, value_origin="stated")
    return {name: cell._replace(text=word.replace(",", "")) for name, word in parts}


_COMMA_OF_HAN = re.compile(r"\s*[、，；]\s*")

_OF_A_MACHINE = re.compile(
    r"\b(?:hardware|machines?|clusters?|servers?|accelerators?|devices?|nodes?|systems?|platform"
    r"|GPUs?|NPUs?|TPUs?|cards?|compute|resources?|environment|test ?bed)\b"
    r"|机器|硬件|服务器|集群|设备|节点|环境|显卡|算力|マシン|ハードウェア|サーバ|장비|서버|하드웨어|노드",
    re.IGNORECASE,
)
"""In the label of a row that says on what something ran."""


_OF_ONE_NODE = re.compile(
    r"(?:(?:each|every|one|per|compute|GPU) )?node(?: (?:type|hardware|config\w*))?"
    r"|(?:GPUs?|devices|accelerators|cards) (?:per|in each|of a|/) ?node"
    r"|(?:Rechen|GPU-)?Knoten|n(?:œ|oe)ud(?: de calcul)?|nodo|(?:单|每|计算)?节点(?:配置)?"
    r"|(?:計算)?ノード|노드",
    re.IGNORECASE,
)
"""A label of what one of several nodes has, however many of them ran."""

_OF_ATTENTION = re.compile(
    r"(?:attention|attn)[ _-]?(?:impl\.?|implementation|kernel|backend)?|attention-?implementierung"
    r"|注意力(?:机制|实现|计算|算子|后端)?|アテンション(?:実装)?|어텐션",
    re.IGNORECASE,
)
"""A label of how attention is computed."""

_MIXED = re.compile(
    r"(bf16|fp16|bfloat16|float16|fp8)[ ,-]{1,2}\(?(?:mixed(?:[ -]precision)?|AMP|autocast"
    r"|混合精度)\)?"
    r"|(?:mixed|AMP|autocast|混合精度|gemischt|mixte)[ -]?(?:precision)?,? ?"
    r"\(?(bf16|fp16|bfloat16|float16)\)?",
    re.IGNORECASE,
)
"""A number format with the word for what is computed in it and what is not: `bf16 mixed`."""


def _labelled_alone(row: GridRow, at: int, schema: Schema) -> dict[str, Cell]:
    """The one field that the first cell of a row names, with the value in another."""
    text, place = plain(row.cells[at].text), (row.cells[at].line, row.cells[at].column)
    label = plain(row.cells[0].text)
    known = _configured_by(label) or _explained_key(label)
    name = how_much("attention" if _OF_ATTENTION.fullmatch(label) else known, text)
    spec = fields(schema).get(name or "")
    if spec is None or not text:
        return {}
    if spec.name == "gpu":
        word = bool(re.fullmatch(r"(?![0-9]+ ?x )[\w .-]+", text)) and may_be_device(text)
        told = in_english(text).text.rstrip()
        of_each = OF_EACH_NODE.search(told)  # `H100 80GB × 8 per node`
        device, count = only(text), counted_devices(told[: of_each.start()] if of_each else told)
        if device and count and not word:  # `H100 80GB × 16`
            cell = Cell(device.text, place[0], place[1] + device.at, value_origin="stated")
            many = "gpus_per_node" if of_each else "gpus"
            return {"gpu": cell, many: cell._replace(text=count.replace(",", ""))}
        if not word and (apart := _DEVICE_AND_REMARK.fullmatch(text)) and device:
            return _with_its_remark(device, apart, place)
        if device is None and (own := _COUNTED_OF_NODE.fullmatch(text)):
            return _of_unknown_name(own, place)
    elif spec.name == "attention" or spec.dtype == pl.Boolean:
        meant = attention_named(text) if spec.name == "attention" else switch(text)
        return {spec.name: Cell(meant, *place, value_origin="stated")} if meant else {}
    else:
        how = how_much_again(text) if spec.name == "recompute" else None
        if how is not None and how != "on":
            return {"recompute": Cell(how, *place, value_origin="stated")}
        word = not spec.numeric and _WORDS.get(spec.name, _ANY).fullmatch(text) is not None
    if spec.name == "dtype" and (mixed := _MIXED.fullmatch(text)):
        text, word = mixed[1] or mixed[2], True
    if spec.dtype.is_integer() and (remarked := _BEFORE_REMARK.fullmatch(text)):
        text = remarked[1]
    if word or (spec.dtype.is_integer() and text.replace(",", "").isdecimal()):
        return {spec.name: Cell(text.replace(",", ""), *place, value_origin="stated")}
    return {}


def _configured_by(label: str) -> str | None:
    """The setting that a label names, in English or in another language."""
    return configured_by(label) or (None if label.isascii() else configured_by(english(label)))


def _explained_key(label: str) -> str | None:
    """The setting that a key names with its meaning in brackets behind it, where it names no other
    itself: `micro_num (gradient accumulation)`."""
    told = _KEY_AND_MEANING.fullmatch(label)
    meant = _configured_by(told["meaning"]) if told else None
    return meant if told and _configured_by(told["key"]) in (None, meant) else None


_KEY_AND_MEANING = re.compile(
    r"(?P<key>[A-Za-z]\w{0,20}[_.][\w.]{1,30}) ?\((?P<meaning>[^()]{2,40})\)"
)
"""A key of a program, which is no word, and what it means."""


def _with_its_remark(
    device: Device, apart: re.Match[str], place: tuple[int, int]
) -> dict[str, Cell]:
    """A device with what stands behind its name, and as many of it in each node as that says."""
    said = apart["name"].strip()
    if device.text not in said or not may_be_device(said):
        return {}
    cell = Cell(device.text, place[0], place[1] + device.at, value_origin="stated")
    each = _IN_EACH.fullmatch((apart["remark"] or "").strip())
    count = next(filter(None, each.groups()), None) if each else None
    if _OF_TWO_DIES.search(device.text) and "GCD" not in (apart["remark"] or ""):
        count = None  # of boards, or of what programs count
    return {"gpu": cell} | ({"gpus_per_node": cell._replace(text=count)} if count else {})


_DEVICE_AND_REMARK = re.compile(
    r"(?P<name>[\w .-]{2,40}?)\s?(?:[(（]\s?[0-9]{2,3} ?Gi?B(?: [A-Za-z0-9]{2,8})?\s?[)）])?"
    r"(?:\s?[,，;；、]\s?(?P<remark>[^,，;；]{1,40}))?\s?"
)
"""The name of a device, its memory in brackets perhaps, and a remark: `910B (64GB), 8 per node`."""

_COUNTED_OF_NODE = re.compile(
    r"(?P<count>[1-9][0-9]?) ?[x×*] ?(?P<name>[A-Za-z][\w.-]{1,20}(?: [\w.-]{1,12}){0,3}?)"
    r"\s?(?:/|per|in each|je|pro|par|por)\s?(?:node|server|host|machine|节点|服务器|机|ノード|노드"
    r"|Knoten|nœud|nodo)",
    re.IGNORECASE,
)
"""So many in each node of a device that is known by no name: `8 x QT-300 64GB / node`."""


def _of_unknown_name(own: re.Match[str], place: tuple[int, int]) -> dict[str, Cell]:
    if not may_be_device(own["name"]):
        return {}
    cell = Cell(own["name"], place[0], place[1] + own.start("name"), value_origin="stated")
    return {"gpu": cell, "gpus_per_node": cell._replace(text=own["count"])}


_OF_TWO_DIES = re.compile(r"MI250|Max 1[15]50|\bK80")

_IN_EACH = re.compile(
    r"(?:每个?(?:节点|台?服务器|台?机器?)|各ノード)\s?([1-9][0-9]?)\s?[卡张块枚基]?"
    r"|([1-9][0-9]?)(?: ?[x×]| (?:GPU|card|device|NPU|GCD|accelerator|chip|board)s?)?"
    r"(?: ?/ ?| (?:per|in (?:each|every|a)|on (?:each|every)|an?) )"
    r"(?:node|machine|server|host|box)",
    re.IGNORECASE,
)


_ANY = re.compile(r"[\w.-]+")

_BEFORE_REMARK = re.compile(
    r"([0-9]+(?:,[0-9]{3})*)(?:\s?[(（][^()（）]*[)）]"
    r"|\s?[,;，；、+]\s?(?:(?:with|mit|of which|davon|dont|其中|うち) )?"
    r"(?:top-?\s?[0-9]|[0-9]+ ?(?:of them )?(?:active|activated|shared|aktiv|actifs?|KV\b|key)"
    r"|GQA|MQA|grouped|packed|padded|(?:每个?token)?激活|共享|共有)[^,;，；]{0,40})",
    re.IGNORECASE,
)
"""A number with a remark behind it: `36 (GQA, 4 KV heads)`, `8, top-2`."""

_WORDS = {
    "model": re.compile(r"[A-Za-z][\w.-]*(?: [\w.-]+){0,3}"),
    "dtype": re.compile(r"(?:torch\.)?(?:bf16|fp16|fp32|fp8|bfloat16|float16)", re.IGNORECASE),
    "recompute": re.compile(r"(?i:true|false|full|selective|none|yes|no|on|off)"),
}


def _pair(label: str, at: GridCell) -> GridRow:
    """A cell of a column as a row of labels and values would have it."""
    return GridRow(Line(at.line, at.text, at.column, {}), (at._replace(text=label), at))


def _of_attention(column: Column) -> bool:
    """Whether a column says how attention is computed, by its label alone."""
    return _OF_ATTENTION.fullmatch(plain(column.label)) is not None


_OF_CHECKPOINTS = re.compile(
    r"check-?pointing|(?:grad|act)[.]?(?:ient|ivation)? ckpt", re.IGNORECASE
)
"""A label, among those of other settings, of whether activations are computed again."""


def _configures(column: Column) -> bool:
    spec = column.spec
    if _of_attention(column) or (spec is None and _OF_CHECKPOINTS.fullmatch(plain(column.label))):
        return True
    return spec is not None and spec.configuration and (spec.numeric or spec.name in _IN_WORDS)


_IN_WORDS = {"dtype", "recompute", "activation_checkpointing"}
"""Fields of a configuration that say a word."""
