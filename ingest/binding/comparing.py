"""Comparisons of what is said with what a row says itself, and of statements with each other."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from math import prod
from typing import Any

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.titles import (
    LARGEST_NODE,
    differs,
    of_another_size,
    size_of,
)
from assay.ingest.schema.record import Cell, Record, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.row_words import SETTINGS
from assay.ingest.statements.values import saying
from assay.ingest.vocabulary.devices import devices, is_one_of, only

MODEL = (
    "model", "model_size", "parameters", "hidden", "layers", "heads", "kv_heads", "ffn_hidden",
    "vocab", "experts", "gated",
)  # fmt: skip
"""Fields that belong to a model: a heading that names another one ends what was said of them."""

MOST_OF_A_NODE = 72
"""Devices of the largest node, one rack that is one."""

BEHIND = 3
"""Lines between a table and the caption below it."""

HEADED = 2
"""Lines of a header, which stand between a caption above a table and its first row."""

Said = Mapping[str, Cell]

Section = tuple[int, ...]


def reach(section: Section, over: Set[Section]) -> Section:
    """The section whose rows are meant by what a section says of all runs: the innermost around it
    of those `over` rows, which is itself if it has any; all of the document where none is.

    >>> reach((1, 4, 6), {(1,), (1, 4)}), reach((1, 9), {(1,), (1, 4)})
    ((1, 4), (1,))
    """
    return next((section[:d] for d in range(len(section), 0, -1) if section[:d] in over), ())


def over_rows(sections: Iterable[Section]) -> Set[Section]:
    """The sections over rows that stand in some sections, and these."""
    return {section[:d] for section in sections for d in range(1, len(section) + 1)}


def captioned(statements: Sequence[Statement], lines: Sequence[int]) -> dict[int, tuple[Said, int]]:
    """Row → what the caption of its table says, and the line of the caption.

    It stands right above its table, the header and its rule between them, unless the first of the
    document that stands at one table only stands below it.
    """
    held, found, rows = set(lines), dict[int, tuple[Said, int]](), sorted(lines)
    for each in (statement for statement in statements if statement.until):
        mine = rows[bisect_left(rows, each.since or each.line) : bisect_right(rows, each.until)]
        for row in mine:  # one table may have a title and a note
            found[row] = {**found.get(row, ({}, 0))[0], **each.values}, each.line
    free = (each for each in statements if each.caption and not each.until)
    ends = [(each, *_tables_at(each.line, held)) for each in free]
    sides = [(over, under) for _, over, under in ends if bool(over) != bool(under)]
    above = not sides or not sides[0][0]
    for statement, over, under in ends:
        row, step = (under, 1) if above or not over else (over, -1)
        while row in held:
            found[row] = statement.values, statement.line
            row += step
    return found


def _tables_at(line: int, held: Set[int]) -> tuple[int, int]:
    """The last row of the table right above a caption and the first of that below; 0 for none."""
    over = next((line - n for n in range(1, BEHIND + 1) if line - n in held), 0)
    under = next((line + n for n in range(1, BEHIND + HEADED + 1) if line + n in held), 0)
    return over, under


def host(printed: Sequence[Statement]) -> dict[str, Cell]:
    """The device that a notebook prints, and that it is one, where a listing of all names one."""
    said = agreed(printed, ("gpu", "gpus"))
    listed = [each for each in printed if each.of_run or "gpus" in each.values]
    if len(listed) == 1 and "gpu" in said:
        return {**said, "gpus": said["gpu"]._replace(text="1")}
    return only_of(said, ("gpu",))


def of_its_batch(values: Said, nearer: Cell | None) -> Said:
    """Values without batches that are other ones than what is said nearer by a row, of one device
    or of all."""
    if nearer is None:
        return values
    return {
        name: cell for name, cell in values.items()
        if name not in ("micro_batch", "global_batch") or not differ(nearer, cell)
    }  # fmt: skip


def unlike(one: Cell, other: Cell) -> bool:
    """Whether two cells say something else of one field."""
    return (one.text, one.scale, one.state) != (other.text, other.scale, other.state)


def turned(name: str, told: Cell | None, held: Said) -> str | None:
    """The other field of one fact that is held to be on where a cell says that it is off, or off
    where it is on: `gradient_checkpointing: true` and, nearer, `with recomputation off`.

    >>> turned("recompute", Cell("none", 9, 1), {"activation_checkpointing": Cell("True", 1, 1)})
    'activation_checkpointing'
    """
    other = _OTHER_SWITCH.get(name)
    cell = held.get(other) if other else None
    if told is None or cell is None:
        return None
    return other if (cell.text.casefold() in _OFF) != (told.text.casefold() in _OFF) else None


_OTHER_SWITCH = {
    "recompute": "activation_checkpointing",
    "activation_checkpointing": "recompute",
}

_OFF = {"none", "false", "off", "no"}


_IDENTIFIER = deferred(r"[a-z][a-z0-9]*(?:[_.-][a-z0-9]+)+")

_ACTIVE = deferred(r"[-_ ]A[0-9]+(?:\.[0-9]+)?B(?![A-Za-z0-9])", re.IGNORECASE)
"""The parameters of a mixture of experts that a token meets, behind the name: `-A3B`."""

_BETWEEN_NAMES = deferred(r"[\s_./-]+")


def same_in_code(said: Cell | None, held: Cell | None) -> bool:
    """Whether a model is called by an identifier that is its name in other signs, or without how
    many parameters are active: `dit_l2` where it is `DiT-L/2`, `wren_moe_30b` where it is
    `Wren-MoE-30B-A3B`."""
    if said is None or held is None or not _IDENTIFIER.fullmatch(said.text):
        return False
    whole = _ACTIVE.sub("", held.text)
    own, name = (_BETWEEN_NAMES.sub("", each).casefold() for each in (said.text, whole))
    return own == name and (whole != held.text or "_" in said.text)


def overridden(record: Record, said: Said) -> dict[str, Cell]:
    """Cells of the nearest statement above, in the same section, that differ from the row's own."""
    return {
        name: cell
        for name, cell in said.items()
        if (own := record.cells.get(name)) is not None
        and own.line == record.line
        and own.state == cell.state == "value"
        and differ(own, cell)
    }


def said_below(backward: Sequence[Statement]) -> list[dict[str, Cell]]:
    """Values of the statements that hold above too, from each of them on; the first counts."""
    found: list[dict[str, Cell]] = [{}]
    for statement in reversed(backward):
        said = {name: cell for name, cell in statement.values.items()
                if is_said(cell) or name not in found[-1]}  # fmt: skip
        found.append(found[-1] | said)
    return found[::-1]


def differ(own: Cell, said: Cell) -> bool:
    """Whether two cells hold different numbers; words are no matter here."""
    numbers = number_of(own), number_of(said)
    return None not in numbers and numbers[0] != numbers[1]


def is_said(cell: Cell | None) -> bool:
    """Whether a field is spoken for: a cell that is left blank says nothing."""
    return cell is not None and cell.state != "missing"


def says_apart(said: Cell, cell: Cell | None) -> bool:
    """Whether a field is spoken for, and not by the line that says another beside it."""
    return is_said(cell) and not (
        cell is not None and cell.value_origin == "stated" and cell.line == said.line
    )


def as_asked(cell: Cell) -> tuple[str, float, int]:
    """A cell as binding asks of it: its number and, where its row does not print it, its line."""
    return cell.text, cell.scale, -1 if cell.value_origin == "printed" else cell.line


def on_what(values: Said) -> dict[str, Cell]:
    """The devices among values, and how many."""
    return {name: values[name] for name in ("gpu", "gpus") if name in values}


def says_more(name: str, own: Cell | None, said: Cell) -> bool:
    """Whether a field is spoken for, and not by what is said, or by the kind of it."""
    return is_said(own) and not (
        _names_the_same(own, said) or (name == "gpu" and _of_kind_named(own, said))
    )


def _names_the_same(own: Cell | None, said: Cell) -> bool:
    """Whether a row leaves open between this value and the one of all rows: `+ bf16` above it."""
    if own is None or own.state != "unknown" or said.state != "value":
        return False
    return (own.text.casefold(), own.scale) == (said.text.casefold(), said.scale)


def _of_kind_named(own: Cell | None, said: Cell) -> bool:
    """Whether a device is the one whose kind alone a row knows: `A100-80GB` for `A100 nodes`."""
    if own is None or own.state != "unknown" or said.state != "value":
        return False
    mine, others = (
        {each.key.partition(".")[0] for each in devices(cell.text)} for cell in (own, said)
    )
    return bool(mine) and mine == others


def more_of_the_same(held: Cell | None, said: Cell | None) -> bool:
    """Whether a device that a document says of a row is said more fully elsewhere in it, with as
    much memory: `-C a100-40g` of a node with `A100-SXM4-40GB`.

    >>> here, node = Cell("a100-40g", 9, 1), Cell("A100-SXM4-40GB", 3, 1)
    >>> more_of_the_same(here, node), more_of_the_same(node, here)
    (True, False)
    >>> more_of_the_same(here, node._replace(text="A100-SXM4-80GB"))
    False
    """
    if held is None or said is None or held.state != "value" or said.state != "value":
        return False
    mine, theirs = devices(held.text), devices(said.text)
    if not (len(mine) == len(theirs) == 1) or mine[0].memory != theirs[0].memory:
        return False
    one = only(f"{held.text}; {said.text}")
    return one is not None and one.text == theirs[0].text != mine[0].text


def of_its_model(values: Said, own: Said) -> Said:
    """Values without those of a model of another size than a row's, and what its line says."""
    model = values.get("model")
    if model is None or not (model.line and of_another_size(model.text, own)):
        model = values.get("model_size")
        if model is None or not _sized_otherwise(model, own):
            return values
    return {
        name: cell for name, cell in values.items()
        if name not in MODEL and cell.line != model.line
    }  # fmt: skip


def _sized_otherwise(size: Cell, own: Said) -> bool:
    """Whether the model of a row has another size than a statement says of the runs it is of."""
    said = number_of(size) if size.state == "value" and size.line else None
    printed = size_of(own)
    return said is not None and printed is not None and differs(said, printed)


def contradicts(statement: Statement, row: Said) -> bool:
    """Whether a statement is of a model of another hidden size than the row's."""
    held, said = row.get("hidden"), statement.values.get("hidden")
    if held is None or said is None or held.state != "value":
        return False
    return differ(held, said)


def of_others(cell: Cell | None, titled: Set[str]) -> bool:
    """Whether a line names none of the devices that the heading of a row does; what its reader
    states has no line, and no other devices in mind than the row's."""
    named = devices(cell.text) if cell is not None and cell.line else ()
    return bool(named) and not any(is_one_of(each, titled) for each in named)


_COUNTED_TOGETHER = {"gpus": "nodes", "nodes": "gpus"}


def of_another_count(name: str, cell: Cell, said: Said, row: Said) -> bool:
    """Whether a line counts devices and their nodes, and a nearer one other nodes or devices."""
    other = _COUNTED_TOGETHER.get(name, "")
    theirs, held = said.get(other), row.get(other)
    if theirs is None or held is None or theirs.line != cell.line or held.line == cell.line:
        return False
    return differ(held, theirs) and not may_hold(name, cell, said, row)


def counts_both(row: Said) -> bool:
    """Whether a row prints its nodes and all their devices, and so how many each has."""
    return is_said(row.get("gpus")) and is_said(row.get("nodes"))


def shared_otherwise(of_each: Cell, found: Said) -> bool:
    """Whether a nearer line counts nodes and all their devices, and so another number on each:
    `4 boards per node`, and below it `all 8 devices of one node`."""
    nodes, gpus = found.get("nodes"), found.get("gpus")
    if nodes is None or gpus is None or nodes.line != gpus.line or gpus.line <= of_each.line:
        return False
    few, many, each = (number_of(cell) if cell.state == "value" else None
                       for cell in (nodes, gpus, of_each))  # fmt: skip
    return bool(few and many and each) and many != (few or 0) * (each or 0)


def apart_from_layout(found: dict[str, Cell], own: Said) -> dict[str, Cell]:
    """Values bound to a row, without devices that cannot be shared as the row prints: `8 GPUs` are
    none for 2 x 4 x 2 ranks; and without degrees that cannot share the devices that it prints:
    `TP=8, PP=4` are none of a run on 8."""
    gpus, ran_on = found.get("gpus"), own.get("gpus")
    many = number_of(gpus) if gpus is not None else None
    if gpus is not None and many and many % _ranks(own, own.keys()):
        return {
            name: cell for name, cell in found.items()
            if name not in ("gpus", "nodes") or cell.line != gpus.line
        }  # fmt: skip
    said = found.keys() & set(_SHARING) - own.keys()
    many = number_of(ran_on) if said and ran_on is not None and is_said(ran_on) else None
    if many and many % (_ranks(found, said) * _ranks(own, own.keys() - {"dp"})):
        return {name: cell for name, cell in found.items() if name not in said}
    return found


_SHARING = ("tp", "pp", "cp")
"""Degrees of which each rank of a run has its place, however the others are called."""


def _ranks(said: Said, names: Set[str]) -> float:
    """Devices among which degrees of some names share a model, as far as these are numbers."""
    ranks = 1.0
    for name in (*_SHARING, "dp"):
        cell = said.get(name) if name in names else None
        if cell is not None and cell.state == "value":
            ranks *= number_of(cell) or 1.0
    return ranks


ABOUT = 0.1
"""Share by which the tokens of a step are rounded: `4M` are 4,194,304."""


def of_other_batches(tokens: Cell, own: Said, beside: Said) -> bool:
    """Whether the sequences of a step that a row prints, and their length, are other tokens, or
    others than those that are said `beside` the tokens."""
    batch, length = own.get("global_batch"), own.get("seq_len")
    usual = beside.get("global_batch")
    if batch and usual and usual.line == tokens.line and differs_from(batch, usual):
        return True
    if batch is None or length is None:
        return False
    many, long, said = (number_of(cell) for cell in (batch, length, tokens))
    return bool(many and long and said) and abs((many or 0) * (long or 0) - (said or 0)) > (
        ABOUT * (said or 0)
    )


def apart_from_nodes(found: dict[str, Cell], own: Said) -> None:
    """Take out what was said of nodes or of devices in another place than the other of them, where
    no nodes can hold so many: `on one node (8 GPUs)`, and then `on 128 GPUs`; or those hold as many
    each; nodes that all together have not the devices that a row prints; and the devices of a node
    of which a row prints that it ran on fewer."""
    nodes, gpus = found.get("nodes"), found.get("gpus")
    of_each, ran_on = found.get("gpus_per_node"), own.get("gpus")
    if of_each is not None and ran_on is not None and is_said(ran_on):
        many, few = number_of(of_each), number_of(ran_on)
        if many and few and few < many:
            del found["gpus_per_node"]
    if nodes is not None and is_said(own.get("gpus")):
        of_each = found.get("gpus_per_node", own.get("gpus_per_node"))
        each = number_of(of_each) if of_each else None
        many, few = number_of(own["gpus"]), number_of(nodes)
        if many and few and (many % few or (each and many != each * few)):
            del found["nodes"]
        return
    if nodes is None or gpus is None or "gpus" in own:
        return
    if nodes.line != gpus.line:
        _at_two_places(nodes, gpus, found)
    if "nodes" in found and "gpus" in found and "gpus_per_node" in found:
        few, many, each = (number_of(found[name]) for name in ("nodes", "gpus", "gpus_per_node"))
        if few and many and each and many != few * each:
            del found["gpus_per_node"]  # boards of two devices each, perhaps


def _at_two_places(nodes: Cell, gpus: Cell, found: dict[str, Cell]) -> None:
    """Take out the farther of nodes and devices where no such nodes have so many."""
    many, few, of_each = number_of(gpus), number_of(nodes), found.get("gpus_per_node")
    each = number_of(of_each) if of_each is not None and of_each.line == nodes.line else None
    if (
        many
        and few
        and (many % few or many / few > MOST_OF_A_NODE or (each and many != each * few))
    ):
        found.pop("nodes" if nodes.line < gpus.line else "gpus")


def of_own_tables(
    names: Sequence[str], statements: Sequence[Statement], tables: Set[Section]
) -> set[str]:
    """Those of some fields that are said in one section alone, or of programs in some, which have
    tables of their own, where other sections have tables as well: they are of those, and not of the
    whole document."""
    found = set[str]()
    for name in names:
        every = [each for each in statements if name in each.values]
        said = {each.section for each in every}
        few = len(said) == 1 or (said and name == "program")
        of_all = any(each.backward for each in every)  # of all of them, as it says
        if few and not of_all and said < tables and () not in said:
            found.add(name)
    return found


def of_own_models(statements: Sequence[Statement], headed: Mapping[int, bool]) -> bool:
    """Whether vocabularies are said below headings alone that name a model, whose they are."""
    said = [each for each in statements if "vocab" in each.values]
    return bool(said) and all(any(headed.get(n) for n in each.section) for each in said)


def may_hold(name: str, cell: Cell, said: Said, row: Said) -> bool:
    """Whether nodes that a line speaks of hold the devices of a row: there was one, and it has no
    fewer, or they have so many each, as it says."""
    held, each = row.get("gpus"), said.get("gpus_per_node")
    many = number_of(held) if held is not None and held.state == "value" else None
    nodes = number_of(cell) if name == "nodes" and cell.state == "value" else None
    if not many or not nodes:
        return False
    of_each = number_of(each) if each is not None and each.state == "value" else None
    if nodes == 1:
        return many <= (of_each or LARGEST_NODE)  # perhaps on some of its devices
    return bool(of_each) and many == nodes * (of_each or 0)


def without(values: Said, names: Collection[str]) -> dict[str, Cell]:
    """Values of other fields than these."""
    return {name: cell for name, cell in values.items() if name not in names}


def fewest_devices(rows: Sequence[Record]) -> float:
    """The fewest devices that a row of a table says it ran on; without any, more than all."""
    said = (row.cells["gpus"] for row in rows if row.tabled and "gpus" in row.cells)
    return min(filter(None, map(number_of, said)), default=math.inf)


def only_of(values: Said, names: Sequence[str]) -> dict[str, Cell]:
    """Values of these fields."""
    return {name: cell for name, cell in values.items() if name in names}


OF_A_MODEL = ("model", "model_size", "parameters", "layers", "hidden", "heads", "kv_heads")
"""Fields of the model that a note below tables says all of their rows are of."""


def agreed_below(statements: Sequence[Statement], names: Sequence[str]) -> list[dict[str, Cell]]:
    """Cells that the statements from each of them on agree about, the first of them first."""
    said: dict[str, dict[Any, Cell]] = {}
    found: list[dict[str, Cell]] = [{}]
    for statement in reversed(statements):
        told = (*names, *SETTINGS, *OF_A_MODEL) if statement.since else names
        for name, cell in only_of(statement.values, told).items():
            said.setdefault(name, {})[saying(cell)] = cell
        alike = {name: next(iter(by.values())) for name, by in said.items() if len(by) == 1}
        found.append({name: cell for name, cell in alike.items() if cell.state == "value"})
    return found[::-1]


def differs_from(own: Cell | None, said: Cell) -> bool:
    """Whether a row prints another value of a field than one that is said of all."""
    return own is not None and own.state == "value" and saying(own) != saying(said)


def agreed(statements: Sequence[Statement], names: Sequence[str] | None) -> dict[str, Cell]:
    """Cells of some fields, or all, that all statements which speak of them say alike."""
    said: dict[str, dict[Any, Cell]] = {}
    for statement in statements:
        for name, cell in (only_of(statement.values, names) if names else statement.values).items():
            said.setdefault(name, {}).setdefault(saying(cell), cell)
    return {name: next(iter(by.values())) for name, by in said.items() if len(by) == 1}


SHARES = {
    "gpus", "nodes", "tp", "pp", "dp", "cp", "ep", "vp", "micro_batch", "global_batch",
    "batch_size", "global_batch_tokens", "accumulation",
}  # fmt: skip
"""Fields of how a run was shared among devices: a clause on another run says none of them."""


def consistent(found: dict[str, Cell], held: Mapping[str, Cell]) -> dict[str, Cell]:
    """The cells that were found, but for those that contradict the counts of a row."""
    whole = {
        name: number_of(cell)
        for name, cell in {**held, **found}.items() if cell.state == "value"
        and name in SHARES | {"gpus_per_node"}
    }  # fmt: skip
    get = whole.get
    doubtful = set[str]()
    gpus, nodes, each = get("gpus"), get("nodes"), get("gpus_per_node")
    some = gpus and each and nodes == 1 and gpus < each  # of the devices of the one node
    if gpus and nodes and not some and gpus != nodes * (each or _of_a_node(gpus, nodes)):
        doubtful |= {"nodes", "gpus_per_node"} if "gpus" in held else {"gpus", "nodes"}
    if gpus and each and gpus < each:  # on a part of such a node
        doubtful.add("gpus_per_node")
    shares = [get(name) or 1 for name in ("tp", "pp", "cp")]
    split = prod(shares)
    devices_ = gpus or (nodes * each if nodes and each else None)
    if devices_ and (devices_ % split or (get("dp") and devices_ != split * (get("dp") or 1))):
        doubtful |= {"tp", "pp", "cp", "dp", "gpus", "nodes", "gpus_per_node"}
    batch, micro = get("global_batch"), get("micro_batch")
    dp = get("dp") or (devices_ / split if devices_ and not devices_ % split else 1)
    if batch and micro and batch % (micro * dp):
        doubtful |= {"global_batch", "micro_batch"}
    return {name: cell for name, cell in found.items() if name not in doubtful}


def _of_a_node(gpus: float, nodes: float) -> float:
    """Devices of a node, by all of them, where so many are usual; else 0."""
    each = gpus / nodes
    return each if each in (1, 2, 4, 8, 16) else 0
