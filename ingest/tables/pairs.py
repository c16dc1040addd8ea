"""Grids made plainer before they are looked at: columns of pairs, units apart, headers in two rows.

In: a grid. Out: the same with two columns for each whose cells hold two numbers (`51.3% / 400`,
`3,124 (51.3%)`), under the two labels that its header names (`MFU / TFLOPS`, `TFLOP/s/GPU (MFU)`)
or that the text above the table gives (`tokens per second per GPU, MFU in brackets`). A column is
taken apart only if most of its cells are pairs and both labels are known to be measured: elsewhere
what stands in brackets is a remark. Units in a column or in the text above go to their labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeGuard

from assay.ingest.columns.headers import Column, header, plain
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.numbers.units import unit
from assay.ingest.schema.record import Line, Schema
from assay.ingest.tables.documents import explained, meant
from assay.ingest.vocabulary.words import SAID_WHOSE, of_one_device, said, split

_BESIDE = re.compile(r"(.+?)\s*[(（\[]([^()（）\[\]]+)[)）\]]")

_STROKE = re.compile(r"(.+?)\s+[/|&]\s+(.+)|([^/]+)/([^/]+)")

_NUMBER = r"[~≈]?\s*\**\s*[0-9][0-9.,]*[^()/]*?"

_IN_BRACKETS = re.compile(rf"({_NUMBER}(?:/[A-Za-z/]+)?)\s*[(（\[]\s*({_NUMBER})[)）\]]\W*")

_NAMED = {
    re.compile(
        rf"({_NUMBER}(?:/[A-Za-z/]+)?)\s*[(（\[,]\s*(?:{name}[:= ]\s*)?"
        rf"([0-9][0-9.]*\s*%)\s*(?:{name})?[)）\]]?"
    ): name
    for name in ("MFU", "HFU")
}
"""Cells that name their second number themselves: `8,381 (59.9% MFU)`."""

_BY_STROKE = re.compile(rf"({_NUMBER})\s*/\s*({_NUMBER})")

_DIGIT = re.compile("[0-9]")

_APART = re.compile(r"[(（\[/]|,.*%")

_SAID = re.compile(
    r"\b(MFU|HFU)\b.{0,40}\b(?:bracket|parenthes)|(?:括号|括弧).{0,20}(MFU|HFU)", re.I
)

_SHARED = re.compile(
    r"\b(?:tokens?|samples?|sequences?)(?:\s*/\s*|\s+per\s+)[A-Za-z]+(?:(?:\s*/\s*|\s+per\s+)[A-Za-z]+)?"
    r"|\bT?FLOPS?(?:/[A-Za-z]+)*|\bTGS\b",
    re.IGNORECASE,
)


_Parts = Callable[[GridCell, int], tuple[str, str]]


def parted(
    grid: Grid,
    schema: Schema,
    above: Sequence[Line],
    side: Callable[[str], str | None] = lambda _: None,
) -> Grid:
    """A grid with two columns for each whose cells are pairs of two measured quantities.

    `side` tells a label that only says how its column was run, in words that are read as one.
    """
    if not grid.heads or grid.labels or not grid.rows:
        return grid
    heads = grid.heads[-1].cells
    found: dict[int, tuple[str, str]] = {}
    whole = grid.header()
    settings = set[int]()  # columns whose new labels say all that stood above them
    for at, cell in enumerate(heads):
        texts = [row.cells[at].text for row in grid.rows if at < len(row.cells)]
        form = _form(texts)
        labels = _labels(plain(cell.text), form, schema, above) if form else None
        if not labels and (setting := side(plain(whole[at]))):
            labels = _by_units(texts, setting, schema)
            settings.add(at)
        if labels:
            found[at] = labels
    if not found:
        return grid
    last = _row(grid.heads[-1], found, lambda cell, at: found[at])
    upper = [
        _row(row, found, lambda cell, at: ("", "") if at in settings else (cell.text, cell.text))
        for row in grid.heads[:-1]
    ]
    rows = tuple(_row(row, found, lambda cell, at: _two(cell.text)) for row in grid.rows)
    return replace(grid, heads=(*upper, last), rows=rows)


def _form(texts: Sequence[str]) -> re.Pattern[str] | None:
    """How most cells of a column are pairs; None where they are not."""
    held = [text for text in texts if len(text) <= LONGEST and _DIGIT.search(text)]
    if 2 * sum(_APART.search(text) is not None for text in held) <= len(held):
        return None  # most are one number: there may be many of them
    said = [plain(text) for text in held]
    for form in (*_NAMED, _IN_BRACKETS, _BY_STROKE):
        name = _NAMED.get(form, "")
        pairs = sum(name in text and form.fullmatch(text) is not None for text in said)
        if pairs and pairs * 2 > len(said):
            return form
    return None


def _labels(
    label: str, form: re.Pattern[str], schema: Schema, above: Sequence[Line]
) -> tuple[str, str] | None:
    """The labels of both numbers, where each names a quantity, and not the same."""
    if form in _NAMED:
        return (label, _NAMED[form]) if _quantity(label, schema) else None
    if found := _BESIDE.fullmatch(label):
        both = found[1], found[2]
    elif form is _BY_STROKE and (found := _STROKE.fullmatch(label)):
        both = (found[1], found[2]) if found[1] else (found[3], found[4])
    else:
        both = "", ""
    names = [_quantity(each, schema) for each in both]
    if all(names) and names[0] != names[1]:
        return both
    if form is _IN_BRACKETS and not names[0] and (told := _as_written(above, schema)):
        return f"{label} {told[0]}", f"{label} {told[1]}"
    share = {(m[1] or m[2]).upper() for line in above for m in _SAID.finditer(line.text)}
    if form is not _IN_BRACKETS or len(share) != 1 or "(" in label:
        return None
    beside = f"{label} {share.pop()}"
    if _quantity(label, schema):
        return label, beside.rsplit(maxsplit=1)[-1]
    named = {m[0] for line in above for m in _SHARED.finditer(line.text) if _quantity(m[0], schema)}
    return (f"{label} {named.pop()}", beside) if len(named) == 1 else None


_WRITTEN = re.compile(
    r"[`\"“「『]([^`\"“”「」『』()（）]{1,40}?)\s*[(（]([^`()（）]{1,40})[)）][`\"”」』]"
)


def _as_written(above: Sequence[Line], schema: Schema) -> tuple[str, str] | None:
    """The two quantities of cells that the text above a table shows as a pattern: cells are
    "TFLOP/s/GPU (seconds per iteration)"."""
    found = {
        (m[1].strip(), m[2].strip())
        for line in above
        if len(line.text) <= LONGEST
        for m in _WRITTEN.finditer(line.text)
        if _quantity(m[1].strip(), schema) and _quantity(m[2].strip(), schema)
    }
    one, other = found.pop() if len(found) == 1 else ("", "")
    return (one, other) if _quantity(one, schema) != _quantity(other, schema) else None


_UNIT = r"[A-Za-z%µ]+(?:/[A-Za-z]+){0,2}"

_BY_UNITS = re.compile(
    rf"([~≈]?\s*[0-9][0-9.,]*\s*({_UNIT}))\s*[/|,;&+]\s*([~≈]?\s*[0-9][0-9.,]*\s*({_UNIT}))"
)
"""Cells with two numbers, each with its unit: `29.8GB / 1.1s/it`."""


def _by_units(texts: Sequence[str], setting: str, schema: Schema) -> tuple[str, str] | None:
    """Labels of two quantities that most cells name by their units, run in one setting."""
    held = [text for text in texts if len(text) <= LONGEST and _DIGIT.search(text)]
    found = [match for text in held if (match := _BY_UNITS.fullmatch(plain(text)))]
    units = {(match[2], match[4]) for match in found}
    if len(units) != 1 or 2 * len(found) <= len(held):
        return None
    one, other = (_of_unit(each, schema) for each in units.pop())
    return (
        (f"{one} - {setting}", f"{other} - {setting}") if one and other and one != other else None
    )


def _of_unit(printed: str, schema: Schema) -> str | None:
    """A label of the one quantity that is printed in a unit: `s/it`, `GB`; None for a mere time."""
    measure = unit(printed)
    if printed in ("G", "GiB", "GB", "MB", "MiB") or (measure and measure.si == "B"):
        return "Memory"
    if _quantity(printed, schema) == "step_time":
        return "Step time"
    return printed if "/" in printed and _quantity(printed, schema) else None


def _quantity(label: str, schema: Schema) -> str | None:
    if not label:
        return None
    (column,) = header([label], schema)
    return column.spec.name if column.spec and column.spec.quantity else None


def _two(text: str) -> tuple[str, str]:
    """Both parts of a cell; a cell that is no pair stands in the first column."""
    bare = plain(text) if len(text) <= LONGEST else text
    if units := _BY_UNITS.fullmatch(bare):
        return units[1], units[3]
    forms = (*_NAMED, _IN_BRACKETS, _BY_STROKE)
    found = next((match for form in forms if (match := form.fullmatch(bare))), None)
    return (found[1], found[2]) if found else (text, "")


def _row(row: GridRow, found: dict[int, tuple[str, str]], parts: _Parts) -> GridRow:
    cells: list[GridCell] = []
    for at, cell in enumerate(row.cells):
        if at not in found:
            cells.append(cell)
            continue
        one, other = parts(cell, at)
        shift = max(0, cell.text.find(other)) if other else 0
        cells += [cell._replace(text=one), cell._replace(text=other, column=cell.column + shift)]
    return replace(row, cells=tuple(cells))


_SIGN = re.compile(
    r"(?:<sup>\s*([0-9a-z*†‡]{1,2})\s*</sup>|\[\^([0-9a-z*†‡]{1,2})\]|([¹²³⁴-⁹†‡§]))\W*$"
)

_DEVICES = r"(?:GPU|device|card|accelerator|chip|NPU|rank|tile|worker)"

_OF_ONE = re.compile(rf"\b(?:per|each|for one|of one|a single)\s+{_DEVICES}\b", re.IGNORECASE)

_OF_ALL = re.compile(
    rf"\b(?:over|across|of|for|on|from)\s+all\s+(?:the\s+)?(?:[0-9]+\s+)?{_DEVICES}s\b"
    r"|\b(?:in total|total|aggregated?|global|summed|whole job)\b",
    re.IGNORECASE,
)

_OF_OTHERS = re.compile(r"\bper\s+(?:node|host|replica|user|core|server|machine)\b", re.IGNORECASE)


def annotated(
    grid: Grid, schema: Schema, legend: Mapping[str, str], notes: Mapping[str, str]
) -> Grid:
    """The grid with its labels as footnotes complete them (`Tokens/sec²`: per device), and with
    what a legend's short word stands for where that makes a label clear: `BF16 TF`."""
    if not grid.heads or grid.labels or not (legend or notes):
        return grid
    last = grid.heads[-1]
    cells = [
        cell._replace(text=_complete(cell.text, schema, legend, notes))
        if len(cell.text) <= LONGEST
        else cell
        for cell in last.cells
    ]
    grid = replace(grid, heads=(*grid.heads[:-1], replace(last, cells=tuple(cells))))
    if not any(map(of_one_device, legend.values())):
        return grid
    return replace(grid, rows=tuple(_with_meant_units(row, legend) for row in grid.rows))


def _with_meant_units(row: GridRow, legend: Mapping[str, str]) -> GridRow:
    """A row whose cells print rates of one device as such, where a legend says of their short unit
    that it is: `261.25 (TPS)`."""
    cells = tuple(
        cell._replace(text=f"{found[1]} tokens/s/GPU")
        if len(cell.text) <= LONGEST
        and (found := _IN_SHORT.fullmatch(plain(cell.text)))
        and (told := legend.get(found[2]))
        and (meaning := said(told)) and meaning.field == "tokens_per_gpu_per_s"
        else cell
        for cell in row.cells
    )  # fmt: skip
    return replace(row, cells=cells)


_IN_SHORT = re.compile(r"([~≈]?\s*[0-9][0-9.,]*)\s*\(?([A-Za-z]{2,5})\)?")


def _complete(
    text: str, schema: Schema, legend: Mapping[str, str], notes: Mapping[str, str]
) -> str:
    if plain(text) in _SHORT_RATES and any(map(_OF_ONE_DEVICE.search, notes.values())):
        return f"{text} per GPU"  # as a footnote of the document says of its rates
    sign = _SIGN.search(text)
    note = notes.get(next(filter(None, sign.groups()))) if sign else None
    if sign and note:
        text = _noted(plain(text[: sign.start()]), note)
    whole = legend.get(plain(text), "")
    if whole and header([text], schema)[0].spec is None and header([whole], schema)[0].degrees:
        return whole  # `d x m x p`
    words = plain(text).split() if legend else []
    if any(legend.get(word) == f"{word} per GPU" for word in words) and not of_one_device(text):
        return f"{text} per GPU"
    short = len(words) > 1 and not legend.keys().isdisjoint(words)
    if not short or header([text], schema)[0].spec is not None:
        return text
    return " ".join(legend.get(word, word) for word in words)


_SHORT_RATES = {"TPS", "tps", "WPS", "wps"}

_OF_ONE_DEVICE = re.compile(
    rf"\btokens(?:\s+per\s+|\s*/\s*)s(?:ec(?:ond)?)?(?:\s+per\s+|\s*/\s*){_DEVICES}\b",
    re.IGNORECASE,
)


_RATES_ARE = (
    r"\b(?:tokens?(?:\s*/\s*|\s+per\s+)s(?:ec(?:ond)?)?|tok/s|samples?/s(?:ec)?|throughputs?|rates|speeds?|numbers"
    r"|values|figures|results)\b[^.;:|]{0,40}?\b(?:is|are|was|were)\s+"
    r"(?:(?:all|always|given|reported|measured|quoted|shown|those|that)\s+)*"
)

_EACH_OF_ONE = re.compile(
    rf"{_RATES_ARE}(?:per|for (?:one|each|a single)|of (?:one|each|a single))\s+{_DEVICES}\b"
    r"|(?:吞吐量?|速度|性能|tokens/s)[^。；;|]{0,8}?(?:均|都)?(?:为|是|指)(?:单卡|每卡)",
    re.IGNORECASE,
)
"""A sentence that says of all rates of a table that they are of one device."""

_OF_THE_WHOLE = re.compile(
    rf"{_RATES_ARE}(?:(?:the )?(?:sum|total) (?:over|of|across)|of the whole"
    r"|(?:summed |aggregated )?(?:over|across) all|for all|(?:the )?(?:total|aggregate)d?)\b"
    r"|(?:吞吐量?|速度|性能|tokens/s)[^。；;|]{0,8}?(?:均|都)?(?:为|是|指)[^。；;|]{0,8}"
    r"(?:合计|总和|所有卡|全部卡|整机|集群整体)",
    re.IGNORECASE,
)
"""A sentence that says of all rates of a table that they are of the whole job."""

_RATES_OF_ALL = {"tokens_per_s", "samples_per_s"}


def with_scopes(grid: Grid, schema: Schema, texts: Sequence[str]) -> Grid:
    """The grid with the rates of its columns of one device, or of all, as the nearest sentence
    above says that speaks of it: `All tokens/second below are per GPU.`; `texts` from afar to near.
    """
    if not grid.heads or grid.labels:
        return grid
    told = next(filter(None, map(_scope, reversed(texts))), None)
    if told is None:
        return grid
    last, cells = grid.heads[-1], []
    for cell in last.cells:
        label = plain(cell.text)
        (column,) = header([label], schema) if label else (Column("", None),)
        meant = column.spec is not None and column.spec.name in told.fields
        whose = set(split(label)) & SAID_WHOSE
        cells.append(cell._replace(text=f"{label} {told.whose}") if meant and not whose else cell)
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=tuple(cells))))


class _Scope(NamedTuple):
    """Whose rates are, as words behind a label, and the fields that it is said of."""

    whose: str
    fields: frozenset[str]


@lru_cache(maxsize=1024)  # every table asks the lines above it, which tables share
def _scope(text: str) -> _Scope | None:
    """Whose the rates below a text are, and which; None where it does not say."""
    bare = text.replace("*", "").replace("_", " ") if len(text) <= LONGEST else ""
    one, whole = _EACH_OF_ONE.search(bare), _OF_THE_WHOLE.search(bare)
    found = one or whole
    if found is None or (one and whole):
        return None
    tokens, samples = "tok" in found[0].casefold(), "sampl" in found[0].casefold()
    rated = {"tokens_per_s"} if tokens else {"samples_per_s"} if samples else _RATES_OF_ALL
    return _Scope("per GPU" if one else "(total)", frozenset(rated))


def _noted(label: str, note: str) -> str:
    """A label with whose it is, as its footnote says first, where it does not itself."""
    told = {"per GPU": _OF_ONE, "(total)": _OF_ALL, "per node": _OF_OTHERS}
    found = {said: match.start() for said, form in told.items() if (match := form.search(note))}
    if not found or of_one_device(label):
        return label
    return f"{label} {min(found, key=lambda said: found[said])}"


def carried(grid: Grid, schema: Schema) -> Grid:
    """The grid with names and settings of its first columns in the rows below that leave them
    blank: `7B | AdamW`, then ` | SGD`. A row with one cell is a title, and a file of separated
    values means what it leaves out."""
    if grid.syntax not in ("markdown", "rst", "text") or not grid.heads or grid.labels:
        return grid
    columns = header(grid.header(), schema)
    free = [at for at, c in enumerate(columns) if c.spec is None or not c.spec.quantity]
    first = next((n for n in range(grid.width + 1) if n not in free), 0)
    above: tuple[GridCell, ...] = ()
    rows = []
    for row in grid.rows:
        filled = sum(bool(cell.text) for cell in row.cells)
        if row.blank or row.one or filled < _LEAST_FILLED:
            above = ()
        elif (
            above
            and not row.cells[0].text
            and len(row.cells) == len(above)
            and not _TICKED.fullmatch(above[0].text)
        ):
            blank = next((at for at, cell in enumerate(row.cells) if cell.text), 0)
            held = min(blank, first)
            rows.append(replace(row, cells=(*above[:held], *row.cells[held:])))
            above = rows[-1].cells
            continue
        if filled >= _LEAST_FILLED:
            above = row.cells
        rows.append(row)
    return replace(grid, rows=tuple(rows))


_TICKED = re.compile(r"[\W_]*(?:x|y|yes|true|on|best|new|ours)?[\W_]*", re.IGNORECASE)
"""A sign that something is so, and is not where it is missing."""

_LEAST_FILLED = 2
"""Cells of a row that is no title."""


def with_unit_column(grid: Grid) -> Grid:
    """The grid with the units of its second column behind the labels of its first."""
    grid = _with_units_beside(grid)
    second = plain(grid.heads[-1].cells[1].text) if grid.heads and grid.width > 2 else ""
    if second.casefold() not in ("unit", "units", "单位", "単位") or grid.labels:
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


_ALL_IN = re.compile(
    r"\((ms|s|sec|secs|seconds|milliseconds)\)"
    r"|\b(?:times?|all values|durations?)\b.{0,30}\b(?:in|are) (ms|s|sec|seconds|milliseconds)\b",
    re.IGNORECASE,
)


def with_units(grid: Grid, schema: Schema, above: Sequence[Line]) -> Grid:
    """The grid with the unit of times that its heading or caption says, where its labels do not."""
    near = [line.text for line in (*above[:1], *above[-3:]) if len(line.text) <= LONGEST]
    units = {(m[1] or m[2]).casefold() for text in near for m in _ALL_IN.finditer(text)}
    if len(units) != 1 or grid.labels or not grid.heads:
        return grid
    said_once = f"({units.pop()})".replace("milliseconds", "ms")
    labels = [plain(cell.text) for cell in grid.heads[-1].cells]
    own = header(labels, schema)
    told = header([f"{label} {said_once}" for label in labels], schema)
    if any(c.spec is not None and c.spec.name == "step_time" and c.unit_known for c in own):
        return grid  # what is said is of that column
    cells = [
        cell._replace(text=f"{label} {said_once}")
        if _timed(before, after) and not _numbers_steps(grid, at, label)
        else cell
        for at, (cell, label, before, after) in enumerate(
            zip(grid.heads[-1].cells, labels, own, told, strict=True)
        )
    ]
    return replace(grid, heads=(*grid.heads[:-1], replace(grid.heads[-1], cells=tuple(cells))))


_IN_BYTES = (
    r"[*_`\"' ]*(?:is|are|was|means?|=|:|为|：)(?:[^.;|]|\.(?=\S)){0,80}?"
    r"(?:\bin |单位为? ?)([GM]i?B)\b"
)


_BYTES = re.compile(r"(?:in|单位为?) ?[GM]i?B", re.IGNORECASE)
"""In every text that does; most documents have none."""


def with_memory_units(grid: Grid, schema: Schema, above: Sequence[str]) -> Grid:
    """The grid with the unit of memories that a text above gives a label: `*Max memory* is what
    the allocator took, in GB`."""
    near = [text for text in above if _BYTES.search(text)]
    if not grid.heads or grid.labels or not near:
        return grid
    last, cells = grid.heads[-1], []
    for cell in last.cells:
        label = plain(cell.text)
        (column,) = header([label], schema) if label else (Column("", None),)
        if column.spec is not None and column.spec.name == "memory" and not column.unit_known:
            form = re.compile(rf"(?<!\w){re.escape(label)}{_IN_BYTES}", re.IGNORECASE)
            units = {found for text in near for found in form.findall(text)}
            text = f"{label} ({units.pop()})" if len(units) == 1 else cell.text
            cells.append(cell._replace(text=text))
        else:
            cells.append(cell)
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=tuple(cells))))


def with_outcomes(grid: Grid, schema: Schema, signs: Set[str]) -> Grid:
    """The grid with `OOM` for the signs by which its document says so, where rows have numbers
    beside them that are no configuration."""
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


_COUNTER = re.compile(r"steps?|iter(?:ation)?s?", re.IGNORECASE)


def _numbers_steps(grid: Grid, at: int, label: str) -> bool:
    """Whether a column numbers steps: called a step and nothing more, and whole numbers alone."""
    cells = [row.cells[at].text.strip() for row in grid.rows if at < len(row.cells)]
    return _COUNTER.fullmatch(label) is not None and all(cell.isdecimal() for cell in cells if cell)


def _timed(own: Column, told: Column) -> bool:
    """Whether a column is one of times of a step once its label has a unit."""
    known = own.spec is not None and (own.unit_known or own.spec.name != "step_time")
    return not known and told.spec is not None and told.spec.name == "step_time"


def headed(grid: Grid, schema: Schema) -> Grid:
    """The grid with its first row for a second header, where that names more quantities."""
    upper = _over(grid)
    if not upper:
        return grid
    joined = replace(grid, heads=(upper, grid.rows[0]), rows=grid.rows[1:])
    lower = [cell.text for cell in grid.rows[0].cells]
    told = [
        _measures(both, schema) or _measures(own, schema)
        for both, own in zip(joined.header(), lower, strict=True)
    ]
    more = sum(told) > sum(_measures(each, schema) for each in grid.header())
    return joined if more or _names_below(grid) else grid


def _names_below(grid: Grid) -> bool:
    """Whether the first row has nothing but names below labels that return, and each another."""
    upper = [plain(cell.text) for cell in grid.heads[0].cells]
    lower = [plain(cell.text) for cell in grid.rows[0].cells]
    named = [(over, under) for over, under in zip(upper, lower, strict=True) if under]
    alone = all(over and upper.count(over) > 1 for over, _ in named)
    return alone and len(set(named)) == len(named) > 1


def _measures(label: str, schema: Schema) -> bool:
    return bool(label) and quantities(header([label], schema)) > 0


def _over(grid: Grid) -> GridRow | None:
    """The header of a grid whose first row may be a second one: each label over the columns to its
    right that have none; None where that row may be one of numbers."""
    if len(grid.heads) != 1 or grid.syntax == "html" or not grid.rows:
        return None
    upper, lower = grid.heads[0].cells, [cell.text for cell in grid.rows[0].cells]
    if len(upper) != len(lower) or sum(map(bool, lower)) < 2 or re.search("[0-9]", "".join(lower)):
        return None
    cells: list[GridCell] = []
    for cell, below in zip(upper, lower, strict=True):
        cells.append(cells[-1] if cells and below and not cell.text else cell)
    return replace(grid.heads[0], cells=tuple(cells))


def quantities(columns: Sequence[Column]) -> int:
    """How many columns are of a measured quantity."""
    return sum(column.spec is not None and column.spec.quantity is not None for column in columns)


_OF_BOTH = re.compile(r"(.+?)\s*\(([^()]+?)\s*(?:\band\b|/|,|&)\s*([^()]+?)\)")

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

    def doubled(row: GridRow, *, head: bool) -> GridRow:
        cells: list[GridCell] = []
        for at, cell in enumerate(row.cells):
            one = other = cell.text
            if at in both and head:
                one, other = (f"{both[at][1]} - {side}" for side in sides)
            elif at in both and (found := _BOTH.fullmatch(plain(cell.text))):
                one, other = found[1], found[2]
            cells += [cell._replace(text=text) for text in ((one, other) if at in both else (one,))]
        return replace(row, cells=tuple(cells))

    upper = [doubled(row, head=False) for row in grid.heads[:-1]]
    rows = tuple(doubled(row, head=False) for row in grid.rows)
    return replace(grid, heads=(*upper, doubled(grid.heads[-1], head=True)), rows=rows)


_AXES = re.compile(r"([^\\/|]+?)(?:\s*(?:\\+|╲)\s*|\s+[/|]\s+)([^\\/|]+)")
"""The corner of a table with a quantity of two axes: `Model \\ GPUs`, `seq len ↓ / MBS →`."""

_COUNT = re.compile(r"([0-9][0-9,]*)(?:\s*[A-Za-z]+)?")


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
    down, across = (header([text.strip(" ↓→")], schema)[0] for text in corner.groups())
    first = [row.cells[0].text for row in grid.rows if row.cells]
    named = not any(map(_COUNT.fullmatch, first))
    if "→" in corner[1] or "↓" in corner[2] or (named and not counts(across) and counts(down)):
        down, across = across, down
    if not counts(across) or across.spec is None:
        return None
    name = across.spec.name
    told = [{name: label[1].replace(",", "")} for label in labels if label]
    return replace(down, label=columns[0].label), told


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
    name = corner.spec.name
    told = [{name: label[0].replace(",", "")} for label in labels if label]
    return Column(corner.label, None), told


_ACROSS = re.compile(
    r"\b(?:vs\.?|versus|against|by|over|across|for (?:each|different|several|all)|per)\s+"
    r"(?:the\s+)?(?:numbers? of |# ?|no\. of )?"
    r"(GPUs?|devices|nodes?|chips|cards|NPUs?|accelerators)\b",
    re.IGNORECASE,
)
"""Titles that say what the numbers over the columns count: `Throughput vs. number of GPUs`."""


def across(
    columns: Sequence[Column], above: Sequence[Line], schema: Schema
) -> list[dict[str, str]]:
    """Configuration that whole numbers over all columns but the first give, where the text above
    names what they count; nothing for each where it does not."""
    labels = [_WHOLE.fullmatch(column.label) for column in columns[1:]]
    words = {found.casefold() for line in above for found in _ACROSS.findall(line.text)}
    told = header([f"number of {word.rstrip('s')}s" for word in sorted(words)], schema)
    names = {column.spec.name for column in told if counts(column) and column.spec}
    if not all(labels) or len(names) != 1:
        return [{} for _ in labels]
    (name,) = names
    return [{name: label[0].replace(",", "")} for label in labels if label]


_WHOLE = re.compile(r"[0-9][0-9,]*")


_UNIT_OF_ALL = re.compile(
    r"(?:单位(?:均?为|是|[:：])?|\b(?:units?|performance|throughput|numbers|values|figures|results)\b"
    r"[^.;|]{0,40}?(?:\b(?:in|is|are)\b|:))\s*[*`]*([A-Za-z]+(?:/[A-Za-z]+)+)"
)
"""The unit that a text gives everything in the table below it."""


@lru_cache(maxsize=1024)  # every table asks the lines above it, which tables share
def _of_everything(text: str) -> tuple[str, ...]:
    """Units that a line gives everything in the table below it."""
    return tuple(_UNIT_OF_ALL.findall(text)) if len(text) <= LONGEST else ()


_OWN = {"性能", "吞吐", "吞吐量"}
"""Labels of the machines that a document is about, beside a column of others."""

_OF_WHOM = re.compile(
    r"性能|吞吐量?|(?<![A-Za-z])(?:performance|throughput|perf|speed)(?![A-Za-z])", re.I
)


def by_unit_above(
    grid: Grid, schema: Schema, above: Sequence[Line]
) -> list[tuple[str, int, str, Column]]:
    """Name, place, device and column of each side whose unit the text above a table says; the
    device is empty where nothing says which."""
    units = {found for line in above for found in _of_everything(line.text)}
    if len(units) != 1:
        return []
    (column,) = header([f"throughput ({units.pop()})"], schema)
    if column.spec is None or not column.spec.quantity:
        return []
    told, sides = explained(above), []
    labels = [plain(text) for text in grid.header()]
    for at, (label, own) in enumerate(zip(labels, header(labels, schema), strict=True)):
        name = _OF_WHOM.sub(" ", label).strip(" _-:：()（）")
        device = meant(name, told) or meant(label, told)
        of_whom = _OF_WHOM.search(label) is not None
        if own.spec is None and (device or of_whom) and (device or name or label in _OWN):
            sides.append((name or label, at, device or "", replace(column, label=label)))
    return sides if len(sides) > 1 or all(device for _, _, device, _ in sides) else []
