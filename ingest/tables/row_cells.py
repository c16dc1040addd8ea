"""Cells of a row put where their columns say: under a field, apart into several, or kept as text.

In: a cell of a grid and the column that it stands in. Out: the record, with what the cell says of
it. A cell that no column declares may be a layout, a machine or a calculation; what it says counts
where no column of its own says it. A memory that may be of several devices is unknown, and one that
a device has is none that a run took.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log2

from assay.ingest.columns.cells import (
    GENERATION_LAW,
    LISTED_LAW,
    amount,
    bare_cell,
    bare_number,
    chips_of,
    counted,
    generation,
    listed,
    numeric_cell,
    of_the_device,
    other,
    quantity,
    slices,
    text_cell,
)
from assay.ingest.columns.column_cells import each_row
from assay.ingest.columns.composite import (
    UNSET,
    Calculation,
    batch_in_tokens,
    calculation,
    called,
    composed,
    file_named,
    layout,
    machine,
    mentioned,
    model_in_format,
    named,
    numbers,
    options,
    product,
    recipe,
    remark,
    run_named,
    settings,
    size_alone,
    times,
)
from assay.ingest.columns.headers import (
    OF_ANY_MEMORY,
    SCALES,
    Column,
    generic,
    plain,
    unlinked,
)
from assay.ingest.columns.subject import times_an_epoch
from assay.ingest.columns.titles import (
    SIZED,
    counted_before_name,
    family_named,
    length_named,
    model_named,
)
from assay.ingest.grids.grid import LONGEST, Grid, GridCell
from assay.ingest.numbers.units import SUFFIXES, UNITS, unit
from assay.ingest.prose.counted_machines import machines
from assay.ingest.schema.fields import FieldSpec
from assay.ingest.schema.record import REMEMBERED, Cell, Diagnostic, Record, Span, ValueOrigin
from assay.ingest.tables import captions
from assay.ingest.vocabulary.card_counts import slices_in
from assay.ingest.vocabulary.devices import Device, devices, only, several
from assay.ingest.vocabulary.networks import names_network, network_named
from assay.ingest.vocabulary.program_names import program_named
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, normalise
from assay.ingest.vocabulary.words import DEVICE, english, split

RATES_OF_CELLS = (
    "step_time", "tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s", "step_rate", "item_rate",
)  # fmt: skip
"""Fields that a column called `Throughput` may fill, as its cells say."""

SUM = re.compile(r"[0-9]\s*\\?[*×+]\s*[0-9]")
"""A cell that is a sum or a product: none of its numbers is the cell's own."""

_FACTOR = re.compile(r"[~≈]?\s*[0-9][0-9.]*\s*(?:[xX×])?")
"""A factor: `1.16×`, `2.3`."""

NOTHING = re.compile(r"[\s\\/*`–—-]*")
"""A cell that holds nothing, whatever it is drawn with."""

_BEHIND_NAME = re.compile(r"[^()]*[A-Za-z0-9]\s*(?:\(([^()]{2,40})\)|[-_ ](FSDP[12]?|HSDP))")


def fill(
    record: Record, column: Column, cell: GridCell, at: Span, factors: Sequence[str]
) -> Diagnostic | None:
    """Put a cell of a row where its column says; what no column declares may be a layout, and one
    of devices may count them and their nodes."""
    found = _put(record, column, cell, at, factors)
    devices_in = column.spec is not None and column.spec.name in ("gpu", "gpus", "nodes")
    of_nodes = column.spec is not None and column.spec.name == "nodes"
    if of_nodes and (told := _NODES_TIMES.fullmatch(cell.text)):
        for name, text in told.groupdict().items():
            if text is not None:
                record.cells[name] = Cell(text, at.line, at.column)
        return None
    if devices_in and not column.listed and not bare_number(cell.text):
        counted = _count_machines(record, cell.text, at)
        return None if counted else found
    if column.spec is not None and column.spec.name == "gpus_per_node" and cell.text:
        counted = not bare_number(cell.text) and _count_of_each(record, cell.text, at)
        return None if counted else found
    return found


def _put(
    record: Record, column: Column, cell: GridCell, at: Span, factors: Sequence[str]
) -> Diagnostic | None:
    _length(record, column, cell.text, at)
    if not bare_number(cell.text) and _put_counted(record, column, cell.text, at):
        return None
    if column.spec is None:
        other(record, column, cell.text, at)
        said = numbers(plain(cell.text)) if column.degrees else []
        if said and len(said) == len(column.degrees):
            for name, text in zip(column.degrees, said, strict=True):
                record.cells.setdefault(name, Cell(text, at.line, at.column))
            return None
        _take_apart(record, cell.text, at, column.label, factors)
        for name, text in recipe(column.label, plain(cell.text)).items():
            if name != "sharding" or not _of_devices(record, 1):  # of one, nothing is shared
                record.cells.setdefault(name, worth(name, text, at.line, at.column))
    elif column.listed:
        _count_listed(record, column, cell.text, at)
    elif column.by_cells and not only(plain(cell.text)):
        record.other.append((column.label, cell.text))  # `JEDI` among devices
    elif column.spec.name == "speedup" and not _FACTOR.fullmatch(plain(cell.text)):
        record.other.append((column.label, cell.text))  # `+16%`, `baseline`: no factor
    elif column.spec.numeric and bare_number(cell.text):
        numeric_cell(record, column.spec, bare_cell(cell.text, column, at), cell.text)
    elif column.spec.numeric:
        return _fill_number(record, column, cell, at)
    elif cell.text:
        _fill_text(record, column.spec, cell.text, at)
    return None


def _put_counted(record: Record, column: Column, text: str, at: Span) -> bool:
    """Put a number that has what it counts behind it, and those beside it, where a cell is nothing
    else: `1,024 sequences of 2,048 tokens` under a batch."""
    name = column.spec.name if column.spec else _BATCH_UNSAID.get(normalise(column.label), "")
    told = counted(name, text, at) if name else {}
    for field, cell in told.items():
        if field == name:
            record.cells[field] = cell
        else:
            record.cells.setdefault(field, cell)
    return bool(told)


_BATCH_UNSAID = {"batch": "batch_size", "batches": "batch_size", "批大小": "batch_size"}
"""Labels of batches that say less than what their cells count."""

_COUNTED = ("gpus", "nodes", "gpus_per_node")

_OF_SEVERAL = re.compile(
    r"\b(?:or|to|and|vs|oder|und|et|ou|y|o|e)\b|[+/~→;]|\.\."
    r"|(?<![A-Za-z0-9])[0-9]+\s*[-–]\s*[0-9]|(?i:\b(?:pods?|slices?)\b)|\b[0-9]+ of [0-9]"
)
"""Between numbers of which none is that of the devices, or by a number of pods of them."""

_STAGE = re.compile(
    r"\bZeRO[ -]?(?:stage[ -]?)?([0-3])(?![\w.]|\s*(?:/|or|and|to|vs)\s*[0-9])", re.I
)
"""A stage of ZeRO in the name of a program: `DeepSpeed ZeRO-3`."""

_IN_FRONT = re.compile(r"[\s*_`]*[0-9][0-9,]*\s*\(")
"""A count of its own that a cell begins with, beside a remark: `16 (2 nodes)`."""

_INSTANCES = re.compile(r"([0-9]+) ?[x×*] ?(?=[a-z]{1,3}[0-9]+[a-z]*\.[0-9a-z]+)")

_OF_EACH = re.compile(r"\b(?:each|every|per|a)\b|[各每]", re.IGNORECASE)


def _count_machines(record: Record, text: str, at: Span) -> bool:
    """Whether a cell that names a machine counts its devices or nodes, `2 DGX A100 (16 GPUs)`, as a
    sentence would; they are the row's where no column counts them."""
    said = counts_in(plain(text)) if len(text) <= LONGEST else {}
    counts_nodes = "nodes" in said and _here(record, "gpus", at) and not _IN_FRONT.match(text)
    if counts_nodes and said.get("gpus") != record.cells["gpus"].text:
        del record.cells["gpus"]  # `2x HGX H100`, `4 x p5.48xlarge (32 H100)`
    elif _here(record, "gpus", at) and _of_each_node(record.cells["gpus"].text, said):
        del record.cells["gpus"]  # `4 × V100 per node`, `Multi-node: 4 × 8 H100`
    for name, word in said.items():
        if name not in record.cells or _open(record, name, at):
            record.cells[name] = Cell(word, at.line, at.column)
    if said and names_network(text) and (network := network_named(text)):
        record.cells.setdefault("network", Cell(network.text, at.line, at.column))
    device = only(plain(text)) if said else None
    if device is not None:
        record.cells.setdefault("gpu", Cell(device.text, at.line, at.column))
    if said and _here(record, "gpu", at) and not _named_by_size(record.cells["gpu"].text):
        _without_counts(record, device, plain(text))
    return bool(said)


def _of_each_node(count: str, said: Mapping[str, str]) -> bool:
    """Whether a number of devices is what a text says of each node, and there may be several."""
    return said.get("gpus_per_node") == count != said.get("gpus") and said.get("nodes") != "1"


def _without_counts(record: Record, device: Device | None, text: str) -> None:
    """Leave of a cell that counts machines the device that it names; of one that names none,
    `128 GPUs`, nothing."""
    gpu = record.cells["gpu"]
    if device is None:
        del record.cells["gpu"]
        record.other.append(("gpu", text))
        return
    behind = _MEMORY_BEHIND.match(text, device.end)
    name = text[device.at : behind.end()] if behind and not device.memory else device.text
    record.cells["gpu"] = gpu._replace(text=name)


_MEMORY_BEHIND = re.compile(r" ?\([0-9]{2,3} ?GB?\)| [0-9]{2,3} ?GB\b")
"""The memory of a device behind its name: `L40S (48GB)`."""


def _named_by_size(text: str) -> bool:
    """Whether a device is a slice, whose name counts its chips: `2x v6e-64`."""
    return bool(slices_in(text)) or slices(text)


def _count_of_each(record: Record, text: str, at: Span) -> bool:
    """Whether a cell under the devices of a node says which they are: `4 × A100 80GB`."""
    said = counts_in(plain(text)) if len(text) <= LONGEST else {}
    device, count = only(plain(text)), said.get("gpus") or said.get("gpus_per_node")
    if device is None or count is None or "nodes" in said:
        return False
    record.cells["gpus_per_node"] = Cell(count, at.line, at.column)
    record.cells.setdefault("gpu", Cell(device.text, at.line, at.column))
    return True


@lru_cache(maxsize=REMEMBERED)  # rows repeat their machines
def counts_in(text: str) -> Mapping[str, str]:
    """Devices and nodes that a name of machines counts, each where it gives them one number.

    >>> counts_in("2 nodes (16 H100)"), counts_in("2x p4d.24xlarge"), counts_in("8 or 16 A100")
    ({'nodes': '2', 'gpus': '16'}, {'nodes': '2'}, {})
    """
    if names_network(text) and (network := network_named(text)):
        text = text.replace(network.text, " ")
    text = _PER_NODE.sub(r"\g<each> \g<what> per node", _INSTANCES.sub(r"\1 ", text))
    text = _NODES_AND_ALL.sub(r"\1, ", text)
    if not re.search("[0-9]|one|single", text) or several(text) or _OF_SEVERAL.search(text):
        return {}
    if grouped := _GROUPED.fullmatch(text):
        nodes, each, every = grouped["nodes"], grouped["each"], grouped["all"].replace(",", "")
        if int(nodes) * int(each) == int(every):
            return {"nodes": nodes, "gpus_per_node": each, "gpus": every}
    said: dict[str, set[str]] = {}
    for part in machines(text):
        said.setdefault(part.name, set()).add(part.word)
    if "nodes" in said and "," in text and not (_OF_EACH.search(text) or _NODES_OF.search(text)):
        said.pop("gpus_per_node", None)  # `2 nodes, 16x H100`: of these, or of each of them
    return {name: min(said[name]) for name in said if name in _COUNTED and len(said[name]) == 1}


_NODES_OF = re.compile(
    r"\b(?:nodes?|servers?|machines?|hosts?|boxes) ?(?:of|with|each|[x×(]) ?[0-9]", re.IGNORECASE
)
"""Machines right in front of the devices of each: `2 nodes of 8 H100, NVLink`."""

_NODES_TIMES = re.compile(
    r"\s*(?P<nodes>[0-9]{1,4}) ?(?:[x×*] ?(?P<gpus_per_node>[1-9]|1[0-6])"
    r"|(?:[x×] ?)?[DH]GX(?: boxes| systems)?)\s*"
)
"""Nodes times the devices of each, or of a maker, under a label of nodes: `4 x 8`, `2 DGX`."""

_GROUPED = re.compile(
    r"(?P<all>[0-9][0-9,]{0,6})(?: (?:GPU|NPU|GCD|card|device|chip)s)? ?"
    r"\((?P<nodes>[0-9]{1,4}) ?[x×*] ?(?P<each>[1-9]|1[0-6])\)",
    re.IGNORECASE,
)
"""Devices as nodes times those of each: `64 (8x8)`."""

_PER_NODE = re.compile(
    r"(?P<each>[0-9]{1,2}) ?[x×*] ?(?P<what>[A-Z][\w -]{2,24}?) ?/ ?(?:node|host|server|machine)\b",
    re.IGNORECASE,
)
"""Devices of each node: `4×A100/node`."""


_NODES_AND_ALL = re.compile(
    r"([0-9]+ (?:nodes?|hosts?|servers?)) ?/ ?(?=[0-9]+ (?:GPU|NPU|GCD|card|device|chip)s?\b)", re.I
)
"""Nodes, and all their devices behind a stroke: `16 nodes / 128 GPUs`."""


def _here(record: Record, name: str, at: Span) -> bool:
    """Whether a value of a row was printed in one place, as it stands there."""
    cell = record.cells.get(name)
    return cell is not None and (cell.line, cell.column, cell.law) == (at.line, at.column, None)


def _open(record: Record, name: str, at: Span) -> bool:
    """Whether a value of a row that was printed in one place is not understood yet."""
    return _here(record, name, at) and record.cells[name].state == "unknown"


def _fill_text(record: Record, spec: FieldSpec, text: str, at: Span) -> None:
    """Put a text where its column says, and what stands in brackets behind a model's name; what
    options of a command say, where a cell is nothing else."""
    if (bare := plain(text)).startswith("--"):
        record.other.append((spec.name, text))
        for name, value in options(bare).items():
            record.cells.setdefault(name, worth(name, value, at.line, at.column))
        return
    if spec.name == "model" and (degrees := layout(bare)) and set(degrees) <= _DEGREES:
        record.other.append((spec.name, text))  # how the one model was split: `TP8 PP1`
        for name, value in degrees.items():
            record.cells.setdefault(name, worth(name, value, at.line, at.column))
        return
    told = _in_brackets(text) if spec.name == "model" else {}
    told |= recipe("sharding", plain(text)) if spec.name == "sharding" else {}  # `stage2`
    if spec.name == "program" and (stage := _STAGE.search(text)):
        record.cells.setdefault("zero_stage", Cell(stage[1], at.line, at.column))
    for name, value in told.items():
        record.cells.setdefault(name, worth(name, value, at.line, at.column))
    bare = text.rpartition("(")[0].strip() or text if told else text
    if spec.name == "model" and (remarked := _name_and_remark(plain(bare))):
        record.other.append((spec.name, remarked[1]))
        for name, value in layout(remarked[1]).items():
            record.cells.setdefault(name, Cell(value, at.line, at.column))
        bare = remarked[0]
    if formatted := model_in_format(plain(bare)) if spec.name == "model" else None:
        record.cells.setdefault("dtype", worth("dtype", formatted["dtype"], at.line, at.column))
        record.other.append((spec.name, plain(bare)))  # as another table may call it
        bare = formatted["model"]
    bare = _of_settings(record, plain(bare), at) if spec.name == "model" else bare
    if size := size_alone(plain(bare)) if spec.name == "model" else None:
        record.cells.setdefault("model_size", worth("model_size", size, at.line, at.column))
    bare = _which_trains(record, plain(bare)) if spec.name == "program" else bare
    compared = _AS_REFERENCE.fullmatch(plain(bare)) if spec.name == "gpu" else None
    if compared and only(compared[1]):
        record.other.append((spec.name, compared[2]))
        bare = compared[1]
    text_cell(record, spec, bare, at)


def _which_trains(record: Record, text: str) -> str:
    """The one item of a list of software that is a program to train with, elsewhere all of it:
    `PyTorch 2.1, CUDA 12.1, Megatron-LM 23.08`."""
    every = text.split(", ")
    trained = [each for each in every if program_named(each)] if len(every) > 1 else []
    if len(trained) != 1:
        return text
    record.other.append(("program", text))
    return trained[0]


def _of_settings(record: Record, text: str, at: Span) -> str:
    """The model that a cell names before settings of its run, `Kite-7B TP4 PP2`, which the row is
    given; elsewhere all of the cell."""
    parts = composed(text)
    if "model" not in parts or not set(parts) - {"model", "model_size", "dtype"}:
        return text
    record.other.append(("model", text))  # as another table may call it
    for name, value in parts.items():
        if name != "model":
            record.cells.setdefault(name, worth(name, value, at.line, at.column))
    return parts["model"]


_DEGREES = {"tp", "pp", "dp", "cp", "ep", "vp"}

_AS_REFERENCE = re.compile(
    r"(\S.*?)\s*[(（\[]?\s*(参考值?|对照|基准|对比|参照|リファレンス|参考値|\breference|\bbaseline|\bref\.?)"
    r"[)）\]]?",
    re.IGNORECASE,
)
"""A device, and behind its name that others are compared with it: `A800 (reference)`."""


def under_its_family(record: Record) -> None:
    """Name the model of a row, which prints no more of it than its size, by the family that a
    column of its own names, `Model family | Model` over `Sparrow | 7B`, or the label over it:
    `LLaMA` over `7B`."""
    model, size = record.cells.get("model"), record.cells.get("model_size")
    if model is None and size is None and (name := _sized_below_family(record)):
        record.cells["model"] = Cell(name, record.line, record.column, value_origin="stated")
        return
    if (model and not size_alone(plain(model.text))) or size is None or size.state != "value":
        return
    names = [plain(text) for label, text in record.other if _A_FAMILY.fullmatch(english(label))]
    if len(names) != 1 or not _A_NAME.fullmatch(names[0]):
        return
    sign = next((sign for sign, scale in SUFFIXES.items() if scale == size.scale), "")
    name = f"{names[0]} {plain(model.text) if model else f'{size.text}{sign}'}"
    record.cells["model"] = Cell(name, record.line, record.column, value_origin="stated")


def _sized_below_family(record: Record) -> str:
    """The family that the label of a column of a row names, and the size in it; empty where there
    is no such column, or several."""
    sized = [(label, size) for label, text in record.other if (size := size_alone(plain(text)))]
    names = [f"{family} {size}" for label, size in sized if (family := family_named(label))]
    return names[0] if len(sized) == len(names) == 1 else ""


_A_FAMILY = re.compile(r"\W*(?:(?:model|LLM) (?:family|series)|family)\W*", re.IGNORECASE)

_A_NAME = re.compile(r"[A-Za-z][\w .+-]{1,30}|[\u4e00-\u9fff]{2,10}[0-9.]{0,4}")


def _name_and_remark(text: str) -> tuple[str, str] | None:
    """The name of a model, and what a cell says behind it of its run: `HuBERT-Base, packed`,
    `18B, 4 NICs`."""
    name, comma, rest = text.partition(", ")
    if not comma:
        name, comma, rest = text.partition(" + ")
    named = model_named(name) == name or (size_alone(name) and not size_alone(rest))
    return (name, rest) if comma and rest and named else None


def _count_listed(record: Record, column: Column, text: str, at: Span) -> None:
    """Count the devices that a cell lists by their numbers, and keep the list."""
    if numbered := listed(plain(text)):
        count = Cell(str(len(numbered)), at.line, at.column, value_origin="solved")
        record.cells["gpus"] = count._replace(law=LISTED_LAW)
    record.other.append((column.label, text))


def _length(record: Record, column: Column, text: str, at: Span) -> None:
    """Note the length of its sequences that the name of a row says, where no column does."""
    if column.spec is not None and column.spec.name != "model":
        return
    if (length := length_named(plain(text))) is not None:
        record.cells.setdefault("seq_len", Cell(length, at.line, at.column))


def _in_brackets(text: str) -> dict[str, str]:
    """Fields that brackets behind the name of a model give its run: `Llama-3 70B (64 GPUs)`; how it
    is sharded without them too: `Llama3-70B-FSDP`."""
    held = _BEHIND_NAME.fullmatch(text.strip()) if "(" in text or "SDP" in text else None
    beside = held[1] or "" if held else ""
    said = named(beside or held[2]) or settings(beside) if held else {}
    if products := _PRODUCTS_IN.fullmatch(beside):
        said = {"dtype": products[1], **said}
    by_letters = (
        held is not None
        and _A_SIZE.fullmatch(beside) is not None
        and _SIZED_BY_LETTERS.search(held[0][: held.start(1)]) is not None
    )
    return {n: v for n, v in said.items() if n != "model_size" or by_letters}


_PRODUCTS_IN = re.compile(
    rf"(?:in |with |using )?({NUMBER_FORMAT})(?: (?:linears?|linear layers?|matmuls?|gemms?|compute"
    r"|training|recipe|autocast|(?:tensor|row|block|channel)-?wise|(?:delayed |current )?scaling))*"
    r"(?:, ?(?:(?:tensor|row|block|channel)-?wise|(?:delayed|current|dynamic)(?: scaling)?"
    r"|linears only))?",
    re.IGNORECASE,
)
"""Brackets that say in which format products of a run are: `(fp8 linears)`."""

_A_SIZE = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,3})? ?[BM]", re.IGNORECASE)

_SIZED_BY_LETTERS = re.compile(
    r"[A-Za-z0-9][ _-](?:[SMLBHG]|XS|XXS|XL|XXL|tiny|small|base|medium|large|huge|giant|nano|mini)"
    r"(?:[/-][0-9]{1,2})?\s*\($",
    re.IGNORECASE,
)
"""The name of a model by letters or words for its size, which has its number behind it:
`Conformer-M (31M)`."""


def _fill_number(record: Record, column: Column, cell: GridCell, at: Span) -> Diagnostic | None:
    """Put a number that is more than its digits where its column says."""
    assert column.spec is not None
    text = "" if NOTHING.fullmatch(unlinked(cell.text)) else cell.text
    ways = times(text) if column.spec.unit == "B" else []
    mine = next((one for one, many in ways if _of_devices(record, many)), "")
    text = mine or (ways[0][0] if ways else text)
    if "=" in text and column.spec.unit != "B" and (shown := calculation(plain(text))):
        text = f"{shown.text} {shown.unit}".strip()  # what it comes to, in its column
    found = quantity(text, column, at)
    if isinstance(found, Diagnostic):
        if _prints_its_rate(column, text):  # `52,862 tokens/sec` under `sentence/sec`
            other(record, Column("throughput", None, by_cells=True), text, at)
            return None
        if not SUM.search(text):
            return found
        found = Cell(text, at.line, at.column, state="unknown")
    if column.spec.unit == "B" and (host := of_the_device(text)[1]):
        record.other.append((f"{column.label} (host)", host))
    if ways and not mine:
        found = found._replace(state="unknown")
    told = remark(plain(text))
    if told and found.state == "outcome":  # `OOM (mbs=1, zero3)`
        found = found._replace(text=found.text.partition("(")[0].strip())
    numeric_cell(record, column.spec, found, text)
    for name, value in told.items():
        record.cells.setdefault(name, Cell(value, at.line, at.column))
    size = SIZE_BEHIND.search(text) if column.spec.quantity and column.spec.unit != "B" else None
    if size and (measure := unit(size[2])):
        held = Cell(size[1].replace(",", ""), at.line, at.column, measure.scale)
        record.cells.setdefault("memory", held)
    return None


SIZE_BEHIND = re.compile(r"[0-9][^()]{0,20}\(~?([0-9][0-9,]*(?:\.[0-9]+)?) ?([MG]i?B)\)\s*$")
"""A memory in brackets behind a rate or a time: `19.4 (27.8 GB)`."""


_RATE = re.compile(r"[~≈]?\s*[0-9][0-9.,]*\s*([A-Za-z]+(?:/|\s+per\s+)[A-Za-z]+)")

_OF_A_JOB = {"tokens_per_s", "samples_per_s", "item_rate"}


def _prints_its_rate(column: Column, text: str) -> bool:
    """Whether a cell prints a rate of other things than its column's, with its unit."""
    found = _RATE.fullmatch(plain(text)) if len(text) <= LONGEST else None
    measure = unit(found[1]) if found else None
    of_job = column.spec is not None and column.spec.name in _OF_A_JOB
    return of_job and measure is not None and measure.si in ("token/s", "sample/s", "item/s")


def _of_devices(record: Record, count: float) -> bool:
    """Whether a number is that of the devices that the row has, or that its layout is made of."""
    known = {name: amount(cell) for name, cell in record.cells.items() if cell.state == "value"}
    if "gpus" not in record.cells and known.get("dp"):
        return known["dp"] * math.prod(known.get(name, 1.0) for name in ("tp", "pp", "cp")) == count
    return known.get("gpus") == count


def _put_calculated(record: Record, shown: Calculation, text: str, at: Span) -> None:
    """Fill in the rate of a device that a cell calculates, and its factors."""
    measure = unit(shown.unit)
    if not (measure and measure.si == "token/s" and shown.divisor):
        return
    if _of_devices(record, shown.divisor):
        rate = Cell(shown.text, at.line, at.column, measure.scale)
        record.cells.setdefault("tokens_per_gpu_per_s", rate)
        for name, factor in _rate_and_length(record, text).items():
            record.cells.setdefault(name, Cell(factor, at.line, at.column))


_OF_SEQUENCES = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*[*x×]\s*([0-9]{3,6})\s*[/÷]")


def _rate_and_length(record: Record, text: str) -> dict[str, str]:
    """Sequences a second and how long they are, of a calculation of tokens a second of a device,
    where the row says that the second factor is no batch in tokens: it has that length, or such
    batches are of many.

    >>> row = Record(1, {"global_batch_tokens": Cell("4", 1, scale=1e6)})
    >>> _rate_and_length(row, "7.31 * 4096 / 8 = 3743 tokens/s")
    {'samples_per_s': '7.31', 'seq_len': '4096'}
    >>> _rate_and_length(Record(1, {}), "7.31 * 4096 / 8 = 3743 tokens/s")
    {}
    """
    found = _OF_SEQUENCES.match(text)
    known = {name: amount(record.cells[name]) for name in ("seq_len", "global_batch_tokens")
             if name in record.cells and record.cells[name].state == "value"}  # fmt: skip
    if found is None or not known:
        return {}
    length = float(found[2])
    mine = known.get("seq_len", length) == length
    mine = mine and ("seq_len" in known or known["global_batch_tokens"] >= OF_MANY * length)
    return {"samples_per_s": found[1], "seq_len": found[2]} if mine else {}


OF_MANY = 4
"""Sequences of a batch, from which on one of them is not all of it."""


def _take_apart(record: Record, text: str, at: Span, label: str, factors: Sequence[str]) -> None:
    """Fill in layout and machine from a cell that no column declares; other columns go before.

    In a column without a label a cell may be nothing but a size or a number of devices.
    """
    bare = plain(text)
    if (bare_number(bare) or _measured(bare)) and not devices(bare):
        return  # a count or an amount of anything
    if shown := calculation(bare):
        _put_calculated(record, shown, bare, at)
        return
    if slices(bare) and "gpu" not in record.cells:
        named_by = Cell(bare, at.line, at.column)
        record.cells["gpu"] = named_by._replace(
            text=f"TPU {generation(bare)}", value_origin="solved", law=GENERATION_LAW
        )
        if chips := chips_of(named_by):
            record.cells.setdefault("gpus", chips)
        return
    said = layout(bare)
    if said:
        said |= product(bare, factors)
    free = not label or normalise(label) in CORNERS | SCALES
    said = said or options(bare) or machine(bare) or settings(bare) or called(bare, alone=free)
    said = said or dict(composed(bare)) or mentioned(bare) or run_named(bare)
    if not said and normalise(label) in OF_SITES and len(bare) <= LONGEST and (one := only(bare)):
        said = {"gpu": one.text}
    free = free and _OF_NODES.search(bare) is None
    if free and not said and len(bare) <= LONGEST and (count := counted_before_name(bare)):
        said = {"gpus": count, **({"gpu": one.text} if (one := only(bare)) else {})}
    if "gpus" in said and len(bare) <= LONGEST:
        said = dict(_recounted(said, bare))
    if not said and normalise(label) in OF_FILES:
        said = file_named(bare)
    tokens, sign = batch_in_tokens(bare)
    if tokens:
        batch = Cell(tokens, at.line, at.column, SUFFIXES.get(sign, 1.0))
        record.cells.setdefault("global_batch_tokens", batch)
    first = _FIRST_PART.match(bare) if free and "model" not in said else None
    if first and model_named(first[1]) == first[1] and not SIZED.search(bare, first.end()):
        said = {**said, "model": first[1]}  # `SDXL, batch 8 per GPU`
    for name, value in said.items():
        record.cells.setdefault(name, worth(name, value, at.line, at.column))


def _recounted(said: Mapping[str, str], text: str) -> Mapping[str, str]:
    """The words of a cell, devices of each node as such, and dies for modules that they are of."""
    if dies := _IN_DIES.search(text):
        return {**said, "gpus": dies[1]}  # `128 MI250X (256 GCDs)`
    counts = counts_in(text)
    if not _of_each_node(said["gpus"], counts):
        return said
    return {**{name: word for name, word in said.items() if name != "gpus"}, **counts}


_IN_DIES = re.compile(r"[(,=] ?([0-9]{1,6}) GCDs?\b")

_FIRST_PART = re.compile(r"([A-Za-z][\w./ -]{1,40}?)(?:, | \()")

_OF_NODES = re.compile(r"\b[0-9]+ ?(?:nodes|hosts|machines|servers)\b", re.IGNORECASE)
"""Several nodes, whose devices beside them may be those of each."""

_AMOUNT = re.compile(r"[~≈]?\s*[0-9][0-9.,]*\s*([A-Za-zµ]+(?:/[A-Za-z]+)*)")


def _measured(text: str) -> bool:
    """Whether a cell is a number and its unit, one that is no sign of a size: `16B` may be one.

    >>> _measured("12.5 tokens/s/GPU"), _measured("16B"), _measured("8x"), _measured("17 ms")
    (True, False, False, True)
    """
    found = _AMOUNT.fullmatch(text) if len(text) <= LONGEST else None
    measure = unit(found[1]) if found else None
    return measure is not None and measure.si not in ("B", "1")


OF_SITES = {
    "queue", "partition", "slurmpartition", "nodetype", "cluster", "supercomputer", "platform",
    "fila", "cola", "particion", "partición", "partição", "warteschlange", "kolejka", "partycja",
    "队列", "分区",
}  # fmt: skip
"""Labels of columns of where a run was, whose names say on which devices: `gpu_v100`."""

OF_FILES = {
    "config", "configfile", "configuration", "conf", "cfg", "recipe", "script", "yaml", "file",
    "配置文件", "脚本",
}  # fmt: skip
"""Labels of columns whose cells name the file that a row was configured by."""

CORNERS = {
    "metric",
    "metrics",
    "item",
    "quantity",
    "指标",
    "項目",
    "指標",
    "config",
    "configuration",
    "parameter",
    "hyperparameter",
    "hyperparameters",
    "setting",
    "settings",
}
"""Labels of a column that holds what the columns of a turned table were headed with."""


def worth(name: str, text: str, line: int, column: int, origin: ValueOrigin = "printed") -> Cell:
    """A value that was taken out of a longer text; `16B` is a size with a factor."""
    if name == "model_size":
        return Cell(text[:-1], line, column, SUFFIXES[text[-1]], None, value_origin=origin)
    if text in UNSET:  # nor is it what others say
        return Cell(text, line, column, state="unknown", value_origin=origin)
    return Cell(text, line, column, value_origin=origin)


def is_silent(record: Record, name: str) -> bool:
    """Whether a row says nothing of a field, nor of what settles it: nodes where GPUs are counted,
    all weights where adapters are trained."""
    held = record.cells.get(name)
    if name == "gpus" and "nodes" in record.cells:
        return False
    if name == captions.FIELD and captions.trains_all(record):
        return False
    if name == captions.FIELD and held is not None and held.value_origin == "solved":
        return True  # a column of ranks says of adapters that there are some, not which
    return held is None or held.state == "missing"


def mostly_odd(column: Column, grid: Grid, at: int) -> bool:
    """Whether most cells in one place are no number where their column wants one."""
    if column.spec is None or not column.spec.numeric:
        return False
    rows = [row for row in grid.rows if at < len(row.cells) and not row.one]
    texts = [row.cells[at].text for row in rows if row.cells[at].text]
    texts_odd = [text for text in texts if not bare_number(text)]
    # of a table of one row, words in front are what the row is called
    called = at == 0 and len(rows) == 1 and column.spec.configuration
    few = 1 if called and all(map(_WORDS.fullmatch, texts)) else _FEW
    if len(texts_odd) < few:
        return False
    odd = sum(count for text, count in Counter(texts_odd).items() if _odd(text, column))
    return odd >= few and 2 * odd > len(texts)


_WORDS = re.compile(r"[`*]*[A-Za-z][A-Za-z-]+(?:[ ,]+[A-Za-z][A-Za-z-]+)+[`*]*")
"""More than a word, and no number."""


_WAY = re.compile(
    r"(?:HF|Hugging ?Face|TE|Transformer[ -]?Engine|(?:Py)?Torch|JAX|TensorFlow|DDP|FSDP2?"
    r"|DeepSpeed|ZeRO|Megatron(?:-LM)?|NeMo|Unsloth|Liger|[Vv]anilla|[Nn]ative|[Ee]ager|[Bb]aseline"
    r"|torch\.compile|[Cc]ompiled?|[Nn]aive|[Oo]urs|[Oo]riginal|[Oo]ptimi[sz]ed)(?![\w-])"
)
"""Way to train something, at the beginning of a cell."""

_WHAT = re.compile(
    r"(?i:bert|gpt|llama|mistral|mixtral|qwen|gemma|\bphi|\bopt\b|bloom|falcon|\bt5|resnet|\bvit\b"
    r"|deepseek|pythia|mamba|diffusion|whisper|nemotron|granite|olmo)"
    r"|[0-9] ?[BM]\b|(?!(?i:FP|BF|TF|INT|FSDP|ZeRO|Float))[A-Z][A-Za-z]+[- ]?[0-9]"
)
"""Name of what was trained, anywhere in it: a family of models, a size, a name with its number."""


_CLASS = re.compile(
    r"\b[A-Z]\w*(?:Layer|Attention|MLP|Norm|Block|Linear|Embedding|ForCausalLM|Model)s?\b"
)
"""A part of a program, whatever it is called after: `LlamaDecoderLayer`."""


def of_ways(column: Column, grid: Grid, at: int) -> bool:
    """Whether a column of models holds ways to train one instead: `HF (baseline)`, `TE`."""
    if column.spec is None or column.spec.name != "model":
        return False
    texts = {plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one}
    return bool(texts - {""}) and all(
        len(text) <= LONGEST and _WAY.match(text) and not _WHAT.search(_CLASS.sub(" ", text))
        for text in texts - {""}
    )


_FEW = 2
"""Cells that are no number before their column is of something else."""


def _odd(text: str, column: Column) -> bool:
    if not isinstance(quantity(text, column, _NOWHERE), Diagnostic):
        return False
    if NOTHING.fullmatch(text) or SUM.search(text) or _prints_its_rate(column, text):
        return False
    memory = column.spec is not None and column.spec.unit == "B"
    return not memory or not times(text)


_NOWHERE = Span("", 0, 1)


_OF_A_DEVICE = DEVICE | {"peak", "max", "maximum", "vram", "hbm", "cuda", "allocated", "reserved"}
"""Words of a label that say a memory is of one device."""


_SIZES = {each.scale: name for name, each in UNITS.items() if each.si == "B" and "o" not in name}

OF_WHOM = "a memory beside sizes of models alone"


def memory_of_whom(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """A memory whose label does not say of whom, beside sizes of models alone, may be that of one
    device or of all that a model was spread over: it is of nobody known, unless the text of the
    document says on what the rows ran (`assay.ingest.binding.noted_memory`).
    """
    held = [c for c in columns if c.spec is not None and c.spec.quantity is not None]
    own = next((c for c in held if c.spec and c.spec.name == "memory"), None)
    known = {c.spec.name for c in columns if c.spec is not None and c.spec.configuration}
    if (
        own is None
        or len(held) > 1
        or any(generic(each) or times_an_epoch(each.label) for each in columns)
        or known - {"model", "model_size", "parameters"}
        or own.most
    ):
        return
    if set(split(own.label)) & _OF_A_DEVICE:
        return
    for record in records:
        cell = record.cells.get("memory")
        spread = any(name in record.cells for name in ("gpus", "tp", "pp", "zero_stage", "gpu"))
        if cell is not None and cell.state == "value" and not spread:
            record.other.append((own.label, f"{cell.text} {_SIZES.get(cell.scale, '')}".strip()))
            record.cells["memory"] = cell._replace(state="unknown", law=OF_WHOM)


_CARRIED = {
    2, 3, 4, 6, 8, 10, 11, 12, 15, 16, 20, 22, 24, 32, 40, 44, 45, 46, 48, 64, 72, 80, 94, 95, 96,
    98, 112, 120, 128, 141, 143, 144, 180, 183, 186, 188, 192, 256, 268, 279, 288,
}  # fmt: skip
"""Gigabytes that devices come with."""

ROWS_ALIKE = 2
"""Rows whose memories may be those of their devices, before they are taken so."""


def capacities(records: Sequence[Record], columns: Sequence[Column]) -> set[str]:
    """Take memories out of rows where they are those that their devices have: each as many whole
    gigabytes as devices come with, in all rows of a device as many, under a label that does not say
    that they were taken: `VRAM` of 24 GB beside an RTX 3090. Returns the labels of such columns.
    """
    own = next((c for c in columns if c.spec is not None and c.spec.name == "memory"), None)
    if own is None or own.most or set(split(english(own.label))) - OF_ANY_MEMORY:
        return set()
    held = [(r, r.cells["memory"]) for r in records if "memory" in r.cells]
    told = [(r, cell) for r, cell in held if cell.state == "value"]
    has: dict[str, set[float]] = {}
    for record, cell in each_row(told, "memory"):
        gpu = record.cells.get("gpu")
        size = amount(cell) / (2.0**30 if log2(cell.scale).is_integer() else 1e9)
        if gpu is None or size not in _CARRIED:
            return set()
        has.setdefault(gpu.text, set()).add(size)
    if len(told) < ROWS_ALIKE or any(len(sizes) > 1 for sizes in has.values()):
        return set()
    for record, cell in told:
        record.other.append((own.label, cell.text))
        del record.cells["memory"]
    return {own.label}
