"""Comparisons that `torch.utils.benchmark` prints as grids: times of several kernels side by side.

In: the lines of a document. Out: a `Grid` for each comparison. Its title stands in a line of
brackets and hyphens, its unit in a sentence below all that were printed at once; what a row is of
stands in its label, as words and as `name=value`, each of which becomes a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.schema.record import Line

_TITLE = re.compile(r"\s*\[-* (.+) -*\]\s*")
"""Between hyphens as far as it leaves room for them."""

_RULE = re.compile(r"\s*([0-9]+) threads?: -+\s*")

_UNIT = re.compile(r"\s*Times are in [a-z]+ \((ns|us|ms|s)\)\.\s*")

_SPREAD = re.compile(r"\s*\(! ?[0-9.]+%\)$")

_PAIR = re.compile(r"([A-Za-z][A-Za-z_]*)=([A-Za-z0-9_.]+)(?![\w(])")

_FORMAT = re.compile(r"(?<![\w=])(b?f(?:loat)?16|bfloat16|f(?:loat)?32|fp8)(?!\w)")

_OF_ATTENTION = {
    "B": "batch", "M": "seq_len", "Mq": "seq_len", "Mkv": "kv_seq_len", "H": "heads",
    "Hq": "heads", "Hkv": "kv_heads", "K": "head_dim",
}  # fmt: skip
"""Sizes of attention, as xFormers calls them."""

_IN_ORDER = re.compile(
    r"(?P<dtype>[bf]16|f32) (?P<B>[0-9]+)-(?P<M>[0-9]+)-(?P<H>[0-9]+)-(?P<K>[0-9]+), "
    r"(?=p=[0-9.]+, BiasT=(?P<bias>\w+)$)"
)
"""The same without their names, in the order of xFormers' benchmark: `f16 4-1024-16-64, p=0.0, …`.

Source: `sub_label` of xformers/benchmarks/benchmark_mem_eff_attention.py, `B-M-H-K`.
"""

_BIAS = {"NoneType": "False", "LowerTriangularMask": "True"}

_CLASS = re.compile(r"attn_bias=(?:<class ')?(?:[\w.]+\.)?(\w+)(?:'>)?\)?$")
"""The kind of a mask, as a name or as Python prints a class."""

_BACKWARD = re.compile(r"(?<![a-z])(?:bwd?|backward)(?![a-z])", re.IGNORECASE)

_FORWARD = re.compile(r"(?<![a-z])(?:fwd?|forward)(?![a-z])", re.IGNORECASE)

UNSAID = "?"

FAR = 400
"""Lines below a comparison in which its unit may stand, beyond others that share it."""


def compared(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every comparison, in order."""
    for at, line in enumerate(lines):
        begins = line.text.lstrip()[:2]
        named = begins == "[-" or (begins == "[ " and _is_ruled(lines, at))
        if named and (title := _TITLE.fullmatch(line.text)):
            grid = _grid(lines, at, title)
            if grid is not None:
                yield grid


def _is_ruled(lines: Sequence[Line], at: int) -> bool:
    """Whether below the header behind a line stands the rule of a comparison."""
    return at + 2 < len(lines) and _RULE.fullmatch(lines[at + 2].text) is not None


def _grid(lines: Sequence[Line], at: int, title: re.Match[str]) -> Grid | None:
    """The comparison below a title; None where it has no rows."""
    if at + 2 >= len(lines):
        return None
    head = _cells(lines[at + 1])
    end, body = at + 2, []
    threads = list[GridCell]()  # of all rows, and of those below each rule
    while end < len(lines):
        if rule := _RULE.fullmatch(lines[end].text):
            place = lines[end].column + rule.start(1)
            threads.append(GridCell(rule[1], lines[end].number, place))
        else:
            cells = _cells(lines[end])
            if len(cells) != len(head):
                break
            body.append((lines[end], cells, threads[-1:]))
        end += 1
    if len(head) < 2 or head[0].text or not body:
        return None
    told = [_told(cells[0], title[1], lines[at]) for _, cells, _ in body]
    if len({each.text for each in threads}) > 1:
        for each, (_, _, many) in zip(told, body, strict=True):
            each.update(zip(("threads",), many, strict=False))
    names = list(dict.fromkeys(name for each in told for name in each))
    labels = [head[0], *(head[0]._replace(text=name) for name in names), *head[1:]]
    nothing = GridCell("", lines[at].number, lines[at].column)
    rows = [
        GridRow(line, (cells[0], *(each.get(name, nothing) for name in names), *cells[1:]))
        for (line, cells, _), each in zip(body, told, strict=True)
    ]
    return Grid("text", at, end, (GridRow(lines[at + 1], tuple(labels)),), tuple(rows),
                caption=title[1], exact=False, series=_unit(lines, end))  # fmt: skip


def _cells(line: Line) -> list[GridCell]:
    """The cells of a line, with their places; the spread of a time is left out."""
    found, at = [], 0
    for text in line.text.split("|"):
        place = at + len(text) - len(text.lstrip())
        found.append(GridCell(_SPREAD.sub("", text.strip()), line.number, line.column + place))
        at += len(text) + 1
    return found


def _unit(lines: Sequence[Line], end: int) -> str:
    """The unit of all comparisons above the next sentence that gives one; `?` where none does."""
    below = (_UNIT.fullmatch(line.text) for line in lines[end : end + FAR])
    return next((found[1] for found in below if found), UNSAID)


def _told(label: GridCell, title: str, above: Line) -> dict[str, GridCell]:
    """Cells that the label of a row and the title hold, by the names of columns."""
    pairs = {m[1]: label._replace(text=m[2], column=label.column + m.start(2))
             for m in _PAIR.finditer(label.text)}  # fmt: skip
    attention, bias = "attention" in title.casefold(), _CLASS.search(title)
    if attention and (placed := _IN_ORDER.match(label.text)):
        bias = placed
        pairs = {name: label._replace(text=placed[name], column=label.column + placed.start(name))
                 for name in ("dtype", "B", "M", "H", "K")}  # fmt: skip
        pairs["dtype"] = pairs["dtype"]._replace(text=placed["dtype"].replace("b1", "bf1"))
    attention &= {"B", "K"} <= pairs.keys()
    if attention:
        pairs = {_OF_ATTENTION.get(name, name): cell for name, cell in pairs.items()}
    else:
        pairs = {name.casefold() if len(name) == 1 else name: each for name, each in pairs.items()}
    if (format_ := _FORMAT.search(label.text)) and "dtype" not in pairs:
        pairs["dtype"] = label._replace(text=format_[1], column=label.column + format_.start())
    said = {}
    if attention and bias and (kind := bias[bias.lastindex or 0]) in _BIAS:
        said["causal"] = _BIAS[kind]
    if attention:
        named = title if _BACKWARD.search(title) or _FORWARD.search(title) else label.text
        back, both = _BACKWARD.search(named), _FORWARD.search(named)
        said["direction"] = ("forward + backward" if both else "backward") if back else "forward"
    place = GridCell("", above.number, above.column)
    return pairs | {name: place._replace(text=text) for name, text in said.items()}
