"""Headers in several rows or columns: groups over labels, names carried down, axes of counts.

In: a grid. Out: the same with one label over each column, or with the count that a cell is of in a
column of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeGuard

from assay.ingest.columns.headers import Column, generic, header, plain
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.numbers.units import unit
from assay.ingest.schema.record import Line, Schema
from assay.ingest.tables.named_above import SENTENCE_END
from assay.ingest.vocabulary.devices import only


def carried(grid: Grid, schema: Schema) -> Grid:
    """The grid with names and settings of its first columns in the rows below that leave them
    blank: `7B | AdamW`, then ` | SGD`. A row with one cell is a title, and a file of separated
    values means what it leaves out, unless it was written by hand."""
    if not grid.heads or grid.labels:
        return grid
    if grid.syntax not in ("markdown", "rst", "text", "latex") and not _named_once(grid):
        return grid
    if all(row.cells and row.cells[0].text for row in grid.rows):
        return grid
    columns = header(grid.header(), schema)
    free = [at for at, c in enumerate(columns) if c.spec is None or not c.spec.quantity]
    first = next((n for n in range(grid.width + 1) if n not in free), 0)
    above: tuple[GridCell, ...] = ()
    rows, same = [], True
    for row in grid.rows:
        filled = sum(bool(cell.text) for cell in row.cells)
        if row.blank or row.one or filled < _LEAST_FILLED:
            above = ()
        elif (
            above
            and not row.cells[0].text
            and len(row.cells) == len(above)
            and any(map(str.isalpha, above[0].text))  # a number left out is not printed
            and not _TICKED.fullmatch(above[0].text)
        ):
            blank = next((at for at, cell in enumerate(row.cells) if cell.text), 0)
            held = min(blank, first)
            rows.append(replace(row, cells=(*above[:held], *row.cells[held:])))
            same = False
            above = rows[-1].cells
            continue
        if filled >= _LEAST_FILLED:
            above = row.cells
        rows.append(row)
    return grid if same else replace(grid, rows=tuple(rows))


def with_dittos(grid: Grid, schema: Schema) -> Grid:
    """The grid with names and settings in the cells that only say that they are those of the row
    above: `同上`, `〃`, `ditto`. What was measured is left as it stands."""
    if not grid.heads or not any(_DITTO.fullmatch(c.text) for row in grid.rows for c in row.cells):
        return grid
    columns = header(grid.header(), schema)
    taken = {at for at, c in enumerate(columns) if generic(c) or (c.spec and c.spec.quantity)}
    rows: list[GridRow] = []
    above: tuple[GridCell, ...] = ()
    for row in grid.rows:
        cells = row.cells
        if len(cells) == len(above):
            cells = tuple(
                above[at] if at not in taken and _DITTO.fullmatch(cell.text) else cell
                for at, cell in enumerate(cells)
            )
        above = () if row.blank or row.one else cells
        rows.append(replace(row, cells=cells))
    return replace(grid, rows=tuple(rows))


_DITTO = re.compile(
    r"[-–—/\s]{0,4}(?:[\"”“″〃]|''|,,|``|&quot;)[-–—/\s]{0,4}"
    r"|[(（]?(?:同上|上同|同前|ditto|dito|dto\.?|[ií]dem|do\.|id\.|(?:(?:the )?same )?as above"
    r"|(?:see )?above|(?:wie|siehe) oben|s\. ?o\."
    r"|상동|위와 (?:같음|동일)|то же|上と同じ|同じ)[)）]?",
    re.IGNORECASE,
)
"""Signs and words for what stands in the row above."""


def _named_once(grid: Grid) -> bool:
    """Whether the first column of separated values has each name once over the rows that it is of,
    as sheets do that are written by hand: a program that leaves names out repeats others."""
    if grid.syntax not in ("csv", "tsv"):
        return False
    texts, alike, above = list[str](), False, ""
    for row in grid.rows:
        if row.one or sum(bool(cell.text) for cell in row.cells) < _LEAST_FILLED:
            above = ""  # a title begins another part
            continue
        texts.append(row.cells[0].text)
        alike |= bool(above) and texts[-1] == above
        above = texts[-1] or above
    names = sum(map(bool, texts))
    left_out = len(texts) - names
    few = min(names, left_out) < _LEAST_FILLED or left_out * FEW_NAMES < names
    return bool(texts and texts[0]) and not few and not alike


FEW_NAMES = 2
"""So many times more names than rows without one are none that stand over these."""

_TICKED = re.compile(r"[\W_]*(?:x|y|yes|true|on|best|new|ours)?[\W_]*", re.IGNORECASE)
"""A sign that something is so, and is not where it is missing."""

_LEAST_FILLED = 2
"""Cells of a row that is no title."""


def _names_and_values(grid: Grid) -> bool:
    """Whether a grid of two columns has no label over the second, and names in the first, each
    once: Markdown asks for a header where there is none."""
    if grid.width != len(("name", "value")) or grid.heads[-1].cells[1].text:
        return False
    names = [row.cells[0].text for row in grid.rows if row.cells]
    return len({*names}) == len(names) and all(any(map(str.isalpha, name)) for name in names)


def headed(grid: Grid, schema: Schema, side: Callable[[str], object]) -> Grid:
    """The grid with its first row for a second header, where that names more quantities, or holds
    nothing but what each column was run with below a label over all of them: a `side`, or the
    numbers that its corner or that label counts."""
    upper = _over(grid, side, schema)
    if not upper or _names_and_values(grid):
        return grid
    row = grid.rows[0]
    counted = _counted_below(upper, row, schema)
    if (counted and _metrics_down(grid, counted, schema)) or _setting_down(grid, schema):
        return grid
    if counted:
        cells = (
            over._replace(text=label) if label else over
            for over, label in zip(upper.cells, counted, strict=True)
        )
        return replace(grid, heads=(replace(upper, cells=tuple(cells)),), rows=grid.rows[1:])
    below = _bracketed(upper, _by_corner(row, schema))
    joined = replace(grid, heads=(upper, below), rows=grid.rows[1:])
    lower = [cell.text for cell in below.cells]
    told = [
        _measures(both, schema) or _measures(own, schema)
        for both, own in zip(joined.header(), lower, strict=True)
    ]
    more = sum(told) > sum(_measures(each, schema) for each in grid.header())
    named = _names_below(upper, grid.rows[0])
    told_so = more or _has_numbers(lower) or named or _units_alone([*map(plain, lower)])
    return joined if told_so else grid


_NOTHING = {"", "-", "–", "—"}
"""Cells that say nothing."""


def _units_alone(row: Sequence[str]) -> bool:
    """Whether a row has nothing but units, in brackets or not, and perhaps a device.

    >>> _units_alone(["", "(ms)", "%"]), _units_alone(["", "x", "x"]), _units_alone(["7B", "s"])
    (True, False, False)
    """
    told = [text.strip("()[] ") for text in row if text not in _NOTHING]
    found = [unit(text) for text in told if not _is_device(text)]
    sure = all(text.casefold() not in ("x", "×") for text in row)
    return sure and all(found) and any(each.si != "1" for each in found if each)


def with_labels_told(grid: Grid, schema: Schema, above: Sequence[Line]) -> Grid:
    """The grid with what a sentence right above it lists, one quantity for each of its columns, for
    its labels, where its header is of nothing: `Seconds per step, then peak memory` over `ZeRO-2 |
    7.62 s | 71.3 GB`. The first column may have names alone, of which nothing is said."""
    if len(grid.heads) != 1 or not grid.heads[0].blank or grid.labels or grid.width < FEWEST_TOLD:
        return grid
    rows = [row for row in grid.rows if not row.blank]
    if not rows or any(len(row.cells) != grid.width for row in rows):
        return grid
    if not all(any(map(str.isalpha, row.cells[0].text)) for row in rows):
        return grid
    near = [line.text for line in above if line.text.strip()][-1:]
    sentences = [
        _LEAD.sub("", each) for text in near if len(text) <= LONGEST
        for each in (*SENTENCE_END.split(text.strip()), text)
    ]  # fmt: skip
    listed = (sign.split(each) for each in sentences for sign in (_LISTED, _STRONG))
    labels_of = ([_IN_PERCENT.sub(" (%)", part.strip(" *_`.:：。")) for part in parts]
                 for parts in listed)  # fmt: skip
    told = {tuple(parts) for parts in labels_of if _tells(parts, grid.width, schema)}
    if len(told) != 1:
        return grid
    labels = told.pop()
    head = grid.heads[0]
    names = ("",) * (grid.width - len(labels))
    cells = (c._replace(text=t) for c, t in zip(head.cells, (*names, *labels), strict=True))
    return replace(grid, heads=(replace(head, cells=tuple(cells)),))


def _tells(parts: Sequence[str], width: int, schema: Schema) -> bool:
    """Whether parts of a sentence are the labels of the columns of a table, or of all but the first
    one, each of another quantity."""
    if not 0 <= width - len(parts) <= 1 or len(parts) < FEWEST_TOLD - 1:
        return False
    measured = parts if len(parts) < width else parts[1:]
    columns = header(measured, schema)
    names = {column.spec.name for column in columns if column.spec and column.spec.quantity}
    return len(names) == len(measured)


FEWEST_TOLD = 3
"""Columns of a table without labels whose order a sentence says: names, and two quantities."""

_LEAD = re.compile(
    r"^\s*(?:>\s*)?(?:the )?(?:(?:columns|numbers|values|figures|fields|cells)"
    r"(?: (?:are|give|show|hold|list|from left to right))*|from left to right|left to right"
    r"|each (?:row|line)(?: (?:is|gives|shows|has|lists|holds))?|[各每]列(?:依次)?[为是]?|列)"
    r"(?: (?:are|in order))?\s*[:：,，]?\s*",
    re.IGNORECASE,
)
"""How a sentence begins that lists the columns of a table."""

_IN_PERCENT = re.compile(r",?\s+(?:in|as) (?:an? )?(?:percent(?:age)?s?|%)$", re.IGNORECASE)

_STRONG = re.compile(
    r"\s*(?:[,;，；](?:\s*(?:and|then|and then)\b)?|\b(?:and )?then\b)\s*(?:the\b)?\s*"
)
"""Signs between items that stand between no words of one: `tokens per second and GPU; MFU`."""

_LISTED = re.compile(
    r"\s*(?:[,;，、；](?:\s*(?:and|then|and then)\b)?|\b(?:and then|and|then)\b|\s[|/]\s"
    r"|(?:以?及|和|然后))\s*(?:(?:the|its)\b)?\s*",
    re.IGNORECASE,
)

_DIGIT = re.compile("[0-9]")

_REMARK = re.compile(r"[(\[][^()\[\]]*[A-Za-z][^()\[\]]*[)\]]")
"""A cell in brackets as a whole: `(H100)` below `GPUs`."""


def _has_numbers(row: Sequence[str]) -> bool:
    """Whether a cell of a row may hold a number: those in names of devices, and in brackets around
    a whole cell, tell of the label above.

    >>> _has_numbers(["", "(H100)", "tok/s"]), _has_numbers(["", "H100", "(% of 989)"])
    (False, False)
    >>> _has_numbers(["GPT-2", "A100 (8)"]), _has_numbers(["7B", ""]), _has_numbers(["(12)"])
    (True, True, True)
    """
    told = (text for each in row if _DIGIT.search(text := plain(each)))
    return not all(_REMARK.fullmatch(text) or _is_device(text) for text in told)


def _is_device(text: str) -> bool:
    device = only(text)
    return device is not None and device.text == text


def _counts_of(label: str, row: Sequence[str], schema: Schema) -> bool:
    """Whether a label is of a setting that is counted, and other cells are numbers of it."""
    if not label or not all(map(_WHOLE.fullmatch, row)):
        return False
    (column,) = header([label], schema)
    return counts(column) or (column.spec is not None and column.spec.name == "seq_len")


def _by_corner(row: GridRow, schema: Schema) -> GridRow:
    """A row of numbers behind the name of what they count, with that name in front of each:
    `GPUs | 1 | 8` is `GPUs 1`, `GPUs 8`."""
    corner, *others = (plain(cell.text) for cell in row.cells)
    if not _counts_of(corner, [text for text in others if text], schema):
        return row
    first, *cells = row.cells
    labelled = (c._replace(text=f"{corner} {plain(c.text)}") if c.text else c for c in cells)
    return replace(row, cells=(first._replace(text=""), *labelled))


def _counted_below(upper: GridRow, lower: GridRow, schema: Schema) -> list[str]:
    """Labels of columns below one that names what the numbers of the second row count, `Number of
    GPUs` over `8`, and empty ones for the others; nothing where there is none."""
    pairs = [(plain(a.text), plain(b.text)) for a, b in zip(upper.cells, lower.cells, strict=True)]
    under = [under for _, under in pairs if under]
    names = {over for over, under in pairs if under}
    if len(names) != 1 or not _counts_of(next(iter(names)), under, schema):
        return []
    return [f"{over} {under}" if under else "" for over, under in pairs]


def _metrics_down(grid: Grid, counted: Sequence[str], schema: Schema) -> bool:
    """Whether the cells left of some columns name what their rows measure."""
    first = next(at for at, label in enumerate(counted) if label)
    return any(
        _measures(plain(cell.text), schema) for row in grid.rows[1:] for cell in row.cells[:first]
    )


def _setting_down(grid: Grid, schema: Schema) -> bool:
    """Whether the first row is one setting of the columns beside its name, and what the other rows
    measure stands below that: `GPU | H100 | B200` over `Tokens/s | 5362 | 10087`."""
    names = [plain(row.cells[0].text) for row in grid.rows if row.cells and not row.one]
    if plain(grid.heads[0].cells[0].text) or not names or not names[0]:
        return False
    (first,) = header(names[:1], schema)
    setting = first.spec is not None and first.spec.configuration
    return setting and any(_measures(name, schema) for name in names[1:])


def _bracketed(upper: GridRow, lower: GridRow) -> GridRow:
    """The second row of a header with brackets around units that stand alone below a label."""
    cells = (
        cell._replace(text=f"({cell.text})") if over.text and unit(plain(cell.text)) else cell
        for over, cell in zip(upper.cells, lower.cells, strict=True)
    )
    return replace(lower, cells=tuple(cells))


def _names_below(over: GridRow, under: GridRow) -> bool:
    """Whether the first row has nothing but names below labels that return, or that stand over
    several columns, and each another; in front of them is what the first columns are."""
    upper = [plain(cell.text) for cell in over.cells]
    lower = [plain(cell.text) for cell in under.cells]
    first = next((at for at, text in enumerate(upper) if text), len(upper))
    named = [pair for pair in zip(upper[first:], lower[first:], strict=True) if pair[1]]
    alone = all(over and upper.count(over) > 1 for over, _ in named)
    return alone and len(set(named)) == len(named) > 1


def _measures(label: str, schema: Schema) -> bool:
    return bool(label) and quantities(header([label], schema)) > 0


def _over(grid: Grid, side: Callable[[str], object], schema: Schema) -> GridRow | None:
    """The header of a grid whose first row may be a second one: each label over the columns to its
    right that have none; None where that row may be one of numbers."""
    if len(grid.heads) != 1 or not grid.rows or any(c.columns > 1 for c in grid.heads[0].cells):
        return None
    upper, lower = grid.heads[0].cells, [cell.text for cell in grid.rows[0].cells]
    if len(upper) != len(lower) or sum(map(bool, lower)) < 2:
        return None
    if _has_numbers(lower) and not _of_sides(grid, [*map(plain, lower)], side, schema):
        return None
    cells: list[GridCell] = []
    for cell, below in zip(upper, lower, strict=True):
        cells.append(cells[-1] if cells and below and not cell.text else cell)
    return replace(grid.heads[0], cells=tuple(cells))


def _of_sides(
    grid: Grid, lower: Sequence[str], side: Callable[[str], object], schema: Schema
) -> bool:
    """Whether each cell of a row under a header of fewer labels is what its column was run with."""
    upper = [plain(cell.text) for cell in grid.heads[0].cells]
    corner, own = lower[0], [text for text in lower[1:] if text]
    over = list(accumulate(upper, _held))
    below = [pair for pair in zip(over[1:], lower[1:], strict=True) if pair[1]]
    if not own or len(set(below)) < len(below) or all(upper[1:]):
        return False
    if all(map(_WHOLE.fullmatch, own)):
        named = corner or below[0][0]
        return _counts_of(named, own, schema)
    return (not corner or not _DIGIT.search(corner)) and all(map(side, own))


def _held(above: str, text: str) -> str:
    """The label over a column: its own, or the last one left of it."""
    return text or above


def quantities(columns: Sequence[Column]) -> int:
    """How many columns are of a measured quantity."""
    return sum(column.spec is not None and column.spec.quantity is not None for column in columns)


_OF_BOTH = re.compile(r"(.+?)(?:\s*\(|:\s+)([^():]+?)\s*(?:\band\b|/|,|&)\s*([^()]+?)\)?")

_BOTH = re.compile(r"([0-9][0-9.,]*[kKMB]?)\s*(?:and|/|,|&)\s+([0-9][0-9.,]*[kKMB]?)")


def shared_out(grid: Grid, sides: Sequence[str], known: Callable[[str], bool]) -> Grid:
    """The grid with two columns for each whose label says that it is of both `sides`, by names that
    are `known`, and whose cells have a number for each, or one for both: `Batch size (TF32 and
    FP16)`, `64 and 128`.
    """
    if not grid.heads or grid.labels or len(sides) != 2:
        return grid
    told = [_OF_BOTH.fullmatch(plain(cell.text)) for cell in grid.heads[-1].cells]
    both = {at: found for at, found in enumerate(told)
            if found and known(found[2]) and known(found[3]) and found[2] != found[3]}  # fmt: skip
    if not both:
        return grid
    shown = [side.casefold() for side in sides]
    crossed = {  # columns that name the sides the other way round than the table has them
        at for at, found in both.items()
        if found[2].casefold() == shown[1] or found[3].casefold() == shown[0]
    }  # fmt: skip

    def doubled(row: GridRow, *, head: bool) -> GridRow:
        cells: list[GridCell] = []
        for at, cell in enumerate(row.cells):
            one = other = cell.text
            if at in both and head:
                one, other = (f"{both[at][1]} - {side}" for side in sides)
            elif at in both and (found := _BOTH.fullmatch(plain(cell.text))):
                one, other = found[2 if at in crossed else 1], found[1 if at in crossed else 2]
            cells += [cell._replace(text=text) for text in ((one, other) if at in both else (one,))]
        return replace(row, cells=tuple(cells))

    upper = [doubled(row, head=False) for row in grid.heads[:-1]]
    rows = tuple(doubled(row, head=False) for row in grid.rows)
    return replace(grid, heads=(*upper, doubled(grid.heads[-1], head=True)), rows=rows)


def named_by_both(grid: Grid) -> tuple[str, ...]:
    """The labels of two columns that the label of another says it is of: `Batch (FP32 / AMP)`
    beside `FP32` and `AMP`."""
    labels = [plain(cell.text) for cell in grid.heads[-1].cells] if grid.heads else []
    told = {found.groups()[1:] for label in labels if (found := _OF_BOTH.fullmatch(label))}
    sides = [(one, other) for one, other in told if {one, other} <= set(labels) and one != other]
    return sides[0] if len(sides) == 1 else ()


def of_its_side(label: str, sides: Sequence[str]) -> tuple[str, str] | None:
    """The quantity of a column of such a grid, and the side that it is of."""
    base, sign, side = label.rpartition(" - ")
    return (base, side) if sign and side in sides else None


_AXES = re.compile(r"([^\\/|×]+?)(?:\s*(?:\\+|╲|×)\s*|\s+(?:[/|x]|vs\.?|versus)\s+)([^\\/|×]+)")
"""The corner of a table with a quantity of two axes: `Model \\ GPUs`, `seq len ↓ / MBS →`."""

_OF_AXES = {
    "batch": "batch size", "batches": "batch size", "b": "batch size", "length": "sequence length",
    "len": "sequence length", "lengths": "sequence length", "s": "sequence length",
}  # fmt: skip
"""Names of an axis beside another, which say less where they stand alone."""

_COUNT = re.compile(r"([0-9][0-9,]*)(?:\s?(k)(?![A-Za-z]))?(?:\s*[A-Za-z]{2,})?", re.IGNORECASE)


LEAST_LENGTH = 16
"""Tokens below which nothing is trained on sequences."""


def _too_short(column: Column, numbers: Sequence[re.Match[str] | None]) -> bool:
    """Whether numbers are said to be lengths, and are none."""
    if column.spec is None or column.spec.name != "seq_len":
        return False
    return any(int(_number_of(each, "seq_len")) < LEAST_LENGTH for each in numbers if each)


def _number_of(label: re.Match[str], name: str) -> str:
    """The number that a label counts, lengths in powers of two; empty where it is in thousands of
    anything else."""
    if label[2]:
        return str(int(label[1].replace(",", "")) * 1024) if name == "seq_len" else ""
    return label[1].replace(",", "")


def counts(column: Column | None) -> TypeGuard[Column]:
    """Whether the numbers of a column are whole ones of a configuration."""
    spec = column.spec if column is not None else None
    return spec is not None and spec.configuration and spec.kind == "exact"


def axes(
    grid: Grid, columns: Sequence[Column], schema: Schema
) -> tuple[Column, list[dict[str, str]]] | None:
    """The first column and what the labels of the others give, where the corner names both axes.

    It names rows before columns, but where only the first of the two can be the numbers above.
    """
    corner = _AXES.fullmatch(grid.header()[0].strip("*` "))
    labels = [_COUNT.fullmatch(column.label) for column in columns[1:]]
    if corner is None or not all(labels):
        return None
    names = (text.strip(" ↓→") for text in corner.groups())
    down, across = header([_OF_AXES.get(name.casefold(), name) for name in names], schema)
    first = [row.cells[0].text for row in grid.rows if row.cells]
    named = not any(map(_COUNT.fullmatch, first))
    if "→" in corner[1] or "↓" in corner[2] or (named and not counts(across) and counts(down)):
        down, across = across, down
    if _too_short(across, labels):
        down, across = across, down  # `batch \ seq` over `1 | 2 | 4`
    if _too_short(down, [_COUNT.fullmatch(plain(text)) for text in first]):
        return None
    if not counts(across) or across.spec is None:
        return None
    name = across.spec.name
    told = [{name: _number_of(label, name)} for label in labels if label]
    return (replace(down, label=columns[0].label), told) if all(t[name] for t in told) else None


def over_counts(
    grid: Grid, columns: Sequence[Column]
) -> tuple[Column, list[dict[str, str]]] | None:
    """The first column and what the labels of the others give, where its label names what they
    count and its cells name rows: `batch size | 8 | 16`."""
    corner = columns[0]
    labels = [_WHOLE.fullmatch(column.label) for column in columns[1:]]
    first = [plain(row.cells[0].text) for row in grid.rows if row.cells]
    if not counts(corner) or corner.spec is None or not all(labels) or not first:
        return None
    if any(not any(map(str.isalpha, text)) for text in first):
        return None
    if not corner.spec.dtype.is_integer():
        return None  # what is switched on and off in its cells
    name = corner.spec.name
    told = [{name: label[0].replace(",", "")} for label in labels if label]
    return Column(corner.label, None), told


_ACROSS = re.compile(
    r"(?<!summed )(?<!added up )(?<!aggregated )(?<!averaged )(?<!total )(?<!sum )(?<!mean )"
    r"\b(?:vs\.?|versus|against|by|over|across|depending on|as a function of|columns?(?::| =)?"
    r"|(?:columns?|header|top row)(?: are| is| shows?| gives?| holds?| counts?)"
    r"|with (?:different|increasing|growing)"
    r"|(?:for|at|of) (?:each|different|several|all|various))\s+"
    r"(?:the\s+)?((?:numbers? of |# ?|no\. of )?[A-Za-z][\w-]*(?: [A-Za-z][\w-]*){0,2})",
    re.IGNORECASE,
)
"""Titles that say what the numbers over the columns count: `Throughput vs. number of GPUs`; none
that are of one device each, `tokens per GPU`, or of all of them together, `summed over GPUs`."""

_RANGE = re.compile(
    r"((?:[A-Za-z][\w-]* ){0,3})(?:of |from |between |= ?)?(?<![\w.,])([0-9][0-9,]*)"
    r"(?: to | ?[-–] ?| through | and | up to )"
    r"([0-9][0-9,]*)(?![\w%]|\.[0-9])((?: [A-Za-z][\w-]*){0,2})"
)
"""Numbers from one to another, and the words beside them: `on 8 to 512 GPUs`."""


def across(
    columns: Sequence[Column], above: Sequence[Line], schema: Schema
) -> list[dict[str, str]]:
    """Configuration that whole numbers over all columns but the first give, or `on` and `off`,
    where the text above names what they count or switch; nothing for each where it does not."""
    labels = [_WHOLE.fullmatch(column.label) for column in columns[1:]]
    if not labels or not all(labels):
        return _switched(columns[1:], above, schema)
    numbers = [label[0].replace(",", "") for label in labels if label]
    names = {
        name for line in above for found in _ACROSS.findall(_MARKS.sub("", line.text))
        if (name := _counted(found.split(), schema))
    }  # fmt: skip
    names = names or {
        name for line in above for before, first, last, behind in _RANGE.findall(line.text)
        if [first.replace(",", ""), last.replace(",", "")] == [numbers[0], numbers[-1]]
        and (name := _counted(behind.split(), schema) or _counted_last(before.split(), schema))
    }  # fmt: skip
    if len(names) != 1:
        return [{} for _ in labels]
    (name,) = names
    return [{name: number} for number in numbers]


def _switched(
    columns: Sequence[Column], above: Sequence[Line], schema: Schema
) -> list[dict[str, str]]:
    """The setting that is on or off in each of some columns so labelled, by the text above."""
    words = [column.label.strip("*` ").casefold() for column in columns]
    if {*words} not in ({"on", "off"}, {"yes", "no"}, {"with", "without"}):
        return [{} for _ in columns]
    names = {
        name for line in above for found in _ACROSS.findall(_MARKS.sub("", line.text))
        if (name := _switch_named(found.split(), schema))
    }  # fmt: skip
    if len(names) != 1:
        return [{} for _ in columns]
    (name,) = names
    return [{name: str(word in ("on", "yes", "with"))} for word in words]


def _switch_named(words: Sequence[str], schema: Schema) -> str | None:
    """The field of what is on or off that the first of some words name, as many as do."""
    texts = [" ".join(words[:most]) for most in range(len(words), 0, -1)]
    named = (column.spec for text in texts for column in header([text], schema))
    return next((spec.name for spec in named if spec and spec.name in _SWITCHED), None)


_SWITCHED = {"activation_checkpointing", "sequence_parallel"}
"""Fields that are on and off over the columns of a table."""


def _counted(words: Sequence[str], schema: Schema) -> str | None:
    """The field of whole numbers that the first of some words name, as many of them as do."""
    named = (_named_whole(words[:most], schema) for most in range(len(words), 0, -1))
    return next(filter(None, named), None)


def _counted_last(words: Sequence[str], schema: Schema) -> str | None:
    """The same of the last of some words, but of a preposition at their end."""
    while words and words[-1].casefold() in _PREPOSITIONS:
        words = words[:-1]
    named = (_named_whole(words[at:], schema) for at in range(len(words)))
    return next(filter(None, named), None)


def _named_whole(words: Sequence[str], schema: Schema) -> str | None:
    """The field of whole numbers that some words name, all of them: one of several, or devices."""
    text = " ".join(words)
    if text.casefold().removesuffix("s") in _DEVICE_OR_NODE:
        text = f"number of {text.removesuffix('s')}s"
    for column in header([text, text.removesuffix("s")], schema):
        if counts(column) and column.spec and column.spec.name in _OVER_COLUMNS:
            return column.spec.name
    return None


_MARKS = re.compile(r"[*`]")

_PREPOSITIONS = {"on", "for", "with", "at", "from", "between", "of", "over", "using", "the", "in"}

_DEVICE_OR_NODE = {
    "gpu", "device", "node", "chip", "card", "npu", "accelerator", "tpu", "gcd", "rank",
}  # fmt: skip

_OVER_COLUMNS = {
    "gpus", "nodes", "tp", "pp", "dp", "cp", "ep", "vp", "micro_batch", "global_batch",
    "batch_size", "accumulation", "seq_len",
}  # fmt: skip
"""Fields that are varied over the columns of a table."""


def counted_above(labels: Sequence[str], above: Sequence[Line]) -> list[dict[str, str]]:
    """Devices or nodes of each of some labels that are numbers, where a text above counts just
    these: `1x | 2x | 4x` below `with 1, 2 and 4 cards in the box`."""
    found = [_TIMES.fullmatch(label) for label in labels]
    numbers = [each[1] or each[2] for each in found if each]
    if len(numbers) < len(("one", "another")) or len(numbers) < len(labels):
        return []
    for line in above if len({*numbers}) == len(numbers) else ():
        for told in _LISTED_COUNTS.finditer(line.text) if len(line.text) <= LONGEST else ():
            if {*re.findall("[0-9]+", told[1])} == {*numbers}:
                name = "nodes" if told[2].casefold() in ("node", "machine", "server") else "gpus"
                return [{name: number} for number in numbers]
    return []


_TIMES = re.compile(r"([1-9][0-9]{0,4}) ?[x×]?|[x×] ?([1-9][0-9]{0,4})")

_LISTED_COUNTS = re.compile(
    r"(?<![\w.,-])((?:[0-9]{1,5}(?:,? and |,? or |, ?| ?/ ?)){1,8}[0-9]{1,5}) (?:[A-Za-z-]{2,12} )?"
    r"(GPU|card|device|accelerator|chip|NPU|GCD|node|machine|server)s\b",
    re.IGNORECASE,
)


def corner(
    grid: Grid, columns: Sequence[Column], schema: Schema
) -> tuple[Column, list[dict[str, str]]]:
    """The first column by the first of two names in its label, and what the labels of the others
    give by the second: `GPU \\ Network`."""
    found = _CORNER.fullmatch(grid.header()[0].strip("*` "))
    told = [dict[str, str]() for _ in columns[1:]]
    if found is None:
        return columns[0], told
    down, across = header([found[1], found[2]], schema)
    if down.spec is None or not down.spec.configuration or down.spec == across.spec:
        return columns[0], told
    if across.spec is not None and across.spec.name in _NAMED:
        told = [{across.spec.name: column.label} for column in columns[1:]]
    return replace(down, label=columns[0].label), told


_CORNER = re.compile(r"([^\\/|]+?)\s*(?:\\+|╲)\s*([^\\/|]+)")

_NAMED = {"model", "gpu"}
"""Fields whose values are names, and whatever stands over a column is one."""

_WHOLE = re.compile(r"[0-9][0-9,]*")
