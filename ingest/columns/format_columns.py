"""Columns that switch a number format or fused attention on, or say what AMP computes in.

In: the columns of a table, its cells, and a row. Out: the format that the row ran in: `use_fp16` of
1, `amp` of `bf16`. A row that has all of them off ran in none of these, and in nobody knows which.
And how it computed attention: `FlashAttention` of `yes`, or of `no`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from assay.ingest.columns.headers import Column, header, plain
from assay.ingest.columns.number_formats import EVERY
from assay.ingest.grids.grid import LONGEST, Grid
from assay.ingest.schema.record import Cell, Line, Record, Schema
from assay.ingest.vocabulary.attention_names import switches_flash
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, normalise

_SWITCH = re.compile(
    r"-{0,2}(?:[A-Za-z_]\w{0,24}[./]){0,3}(?:(?:use|with|enable|is|train|amp)[-_ ]?)?"
    r"(fp16|bf16|fp8|tf32|float16|bfloat16)"
    r"(?:[-_ ](?:enabled|on|amp|training))?\??"
    r"|(?:AMP|autocast|mixed[-_ ]precision) ?[(\[](fp16|bf16|float16|bfloat16)[)\]]\??",
    re.IGNORECASE,
)
"""A label of what is on or off: `use-fp16`, `AMP (bf16)`, `config.bf16`."""

_MIXED = re.compile(
    r"(?:use[-_ ])?(?:AMP|autocast|mixed[-_ ]?precision)(?:[-_ ](?:d?type|mode|precision))?"
    r"|混合精度(?:训练)?|혼합 ?정밀도",
    re.IGNORECASE,
)
"""A label of what mixed precision computes in: `amp`."""

_FORMAT = re.compile(
    rf"(?:(?:yes|on|true|✓|✔|✅|是|开启?|启用)\s*[(（,:：]?\s*)?(?P<kind>{NUMBER_FORMAT})\s*[)）]?",
    re.IGNORECASE,
)
"""A cell that names what a row computes in, and says perhaps that this is on: `yes (fp16)`."""

ON = {"1", "yes", "y", "true", "on", "✓", "✔", "✅", "x", "是", "开", "开启", "启用", "あり",
      "enabled"}  # fmt: skip

OFF = {"0", "no", "n", "false", "off", "none", "✗", "✘", "❌", "×", "-", "–", "—", "", "否",
        "关", "关闭", "无", "なし", "disabled"}  # fmt: skip

_WIDE = {"tf32"}
"""Formats of products that none of a narrower one needs."""


def format_columns(
    columns: Iterable[tuple[int, Column]], rows: Iterable[Sequence[str]]
) -> Mapping[str, str]:
    """Labels of such columns, each with the format that it switches on; empty where its cells name
    one. A column is such a one only if every cell of it is.

    >>> columns = enumerate(Column(label, None) for label in ("use-fp16", "amp", "bf16"))
    >>> format_columns(columns, [["1", "bf16", "2.5"], ["0", "none", "1"]])
    {'use-fp16': 'fp16', 'amp': ''}
    """
    held, found = list(rows), dict[str, str]()
    for at, column in columns:
        label = plain(column.label) if column.spec is None and len(column.label) <= LONGEST else ""
        switch = _SWITCH.fullmatch(label) if label else None
        if not switch and not _MIXED.fullmatch(label):
            continue
        texts = {plain(row[at]).casefold() for row in held if at < len(row)}
        named = {text for text in texts if _FORMAT.fullmatch(text)}
        known = ON | OFF if switch else ON | OFF | named
        if texts <= known and texts - OFF:
            found[column.label] = (switch[1] or switch[2]).lower() if switch else ""
    return found


def switch_format(record: Record, told: Mapping[str, str]) -> None:
    """Fill in the number format that a row has on, by `format_columns`: unknown where it has them
    all off, or several on."""
    if not told or "dtype" in record.cells:
        return
    said = [(told[label], plain(text).casefold()) for label, text in record.other if label in told]
    named = [(kind, text, _FORMAT.fullmatch(text)) for kind, text in said]
    on = {kind or (found["kind"] if found else "") for kind, text, found in named
          if (text in ON if kind else found)}  # fmt: skip
    narrow = on - _WIDE or on
    if len(narrow) == 1:
        record.cells["dtype"] = Cell(narrow.pop(), record.line, record.column)
    elif on or any(text in OFF for _, text in said):
        text = " ".join(text for _, text in said) or "off"
        record.cells["dtype"] = Cell(text, record.line, record.column, state="unknown")


_FLASH_IN_SHORT = re.compile(r"(?:use|with)?fa[1-4]?")

_CROSSES = {"x", "×"}
"""Signs of what is on in some tables, and off in others."""


_DASHES = {"-", "–", "—"}


def flash_columns(
    columns: Iterable[tuple[int, Column]], rows: Iterable[Sequence[str]]
) -> frozenset[str]:
    """Labels of columns that switch fused attention on or off, in words of nothing else.

    >>> columns = list(enumerate(Column(label, None) for label in ("FlashAttention", "FA2")))
    >>> sorted(flash_columns(columns, [["yes", "2.7.4"], ["no", "2.8.0"]]))
    ['FlashAttention']
    """
    held, found = list(rows), set[str]()
    for at, column in columns:
        label = normalise(plain(column.label)) if len(column.label) <= LONGEST else ""
        if column.spec or not (switches_flash(label) or _FLASH_IN_SHORT.fullmatch(label)):
            continue
        texts = {plain(row[at]).casefold() for row in held if at < len(row)}
        if texts <= (ON | OFF) - _CROSSES and texts & ON:
            found.add(column.label)
    return frozenset(found)


def switch_flash(record: Record, labels: Set[str]) -> None:
    """Fill in how a row computes attention, by the one column of `flash_columns` that it has; of a
    dash nobody knows whether it is off, or nothing is known of it."""
    texts = [plain(text).casefold() for label, text in record.other if label in labels]
    if len(texts) == 1 and texts[0] and "attention" not in record.cells:
        kernel = "flash" if texts[0] in ON else "unfused"
        cell = Cell(kernel, record.line, record.column)
        dash = cell._replace(text=texts[0], state="unknown")
        record.cells["attention"] = dash if texts[0] in _DASHES else cell


_IN_LABEL = re.compile(
    rf"^({NUMBER_FORMAT})\s+(?=\S)|,?\s*\(({NUMBER_FORMAT})\)|,\s*({NUMBER_FORMAT})(?=\s*[(\[]|$)"
    rf"|\s+(?:in |-\s?|[–—]\s?)?({NUMBER_FORMAT})(?=\s*[(\[]|$)",
    re.IGNORECASE,
)
"""A number format at an end of a label, or in front of its unit: `Step time, FP8 (s)`."""


def without_said_formats(grid: Grid, schema: Schema, headings: Iterable[str]) -> Grid:
    """The grid with the labels of quantities without the one number format that they say, where the
    `headings` of its table say that one as well: `Step time, FP8 (s)` below `## FP8`. Elsewhere it
    is not known whether the columns beside it are in that format."""
    if not grid.heads or grid.labels:
        return grid
    cells = grid.heads[-1].cells
    told = {
        at: found for at, cell in enumerate(cells)
        if len(cell.text) <= LONGEST and (found := _IN_LABEL.search(plain(cell.text)))
    }  # fmt: skip
    kinds = {next(filter(None, found.groups())).casefold() for found in told.values()}
    if len(kinds) != 1 or len(told) == len(cells):
        return grid
    if {found.casefold() for text in headings for found in EVERY.findall(text)} != kinds:
        return grid
    rests = {
        at: f"{found.string[: found.start()]}{found.string[found.end() :]}".strip()
        for at, found in told.items()
    }
    if not all(_is_measured(rest, schema) for rest in rests.values()):
        return grid
    bare = tuple(each._replace(text=rests.get(at, each.text)) for at, each in enumerate(cells))
    return replace(grid, heads=(*grid.heads[:-1], replace(grid.heads[-1], cells=bare)))


def _is_measured(label: str, schema: Schema) -> bool:
    (column,) = header([label], schema)
    return column.spec is not None and column.spec.quantity is not None


def two_formats(label: str, above: Sequence[Line]) -> tuple[str, str, str] | None:
    """The rest of a label without the two number formats of its cells, and these in their order, as
    it names them, `TFLOPS, BF16 (FP8)`, or else the last line above the table that does.

    >>> two_formats("TFLOPS/GPU, BF16 / FP8", ()), two_formats("TFLOPS, FP8", ())
    (('TFLOPS/GPU', 'BF16', 'FP8'), None)
    >>> two_formats("TFLOPS", [Line(1, "Numbers are of BF16, with FP8 in brackets.", 1, {})])
    ('TFLOPS', 'BF16', 'FP8')
    """
    if found := _TWO.search(label):
        rest = f"{label[: found.start()]} {label[found.end() :]}".replace("()", "")
        return " ".join(rest.split()).strip(" ,:;–—-"), found[1], found[2]
    for text in (line.text for line in reversed(above) if len(line.text) <= LONGEST):
        one, other, *more = *_A_FORMAT.findall(text), "", ""
        if not other or any(more):
            continue
        if told := _TWO.search(text):
            return label, told[1], told[2]
        if told := _IN_BRACKETS.search(text):
            aside = told[1] or told[2]
            return label, other if aside == one else one, aside
    return None


_SPELLED = rf"(?<![\w-]){NUMBER_FORMAT}(?:-[A-Z]{{2}})?(?!\w)"

_A_FORMAT = re.compile(_SPELLED)

_TWO = re.compile(rf"({_SPELLED}) ?[(/|] ?({_SPELLED})\)?")
"""Two formats as cells have what was measured in them: `BF16 (FP8)`."""

_IN_BRACKETS = re.compile(
    rf"({_SPELLED})(?: [a-z]+){{0,3}} (?:in|within|inside) (?:the )?(?:brackets|parenthes[ei]s)"
    rf"|(?:brackets|parenthes[ei]s)\W{{0,2}}(?: ?[a-z]+){{0,4}} ?({_SPELLED})"
)
"""The format of what stands in brackets: `with FP8 in brackets`, `those in parentheses for FP8`."""
