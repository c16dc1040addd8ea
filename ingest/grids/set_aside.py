"""Columns of a grid that say nothing of how its rows ran, nor how fast: set aside.

In: a grid. Out: the same without the column that only counts its rows (`#` over 1, 2, 3), without
columns of who ran them, of which state of a program, and of what was learned (`Owner`, `Commit`,
`Loss`), and without those that are empty. Each row keeps what stood there as `beside`, for a text
that speaks of it by that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from assay.ingest.grids.grid import Grid, GridRow


def without_fillers(grid: Grid) -> Grid:
    """The grid without rows that hold nothing, or rules alone: below the titles among rows, which
    they end, they stay, and hold nothing."""
    filler = [row.blank or _is_rule(row) for row in grid.rows]
    if not any(filler):
        return grid
    if not any(not row.blank and _is_title(row) for row in grid.rows):
        kept = (row for row, no in zip(grid.rows, filler, strict=True) if not no)
        return replace(grid, rows=tuple(kept))
    return replace(grid, rows=tuple(
        _emptied(row) if no else row for row, no in zip(grid.rows, filler, strict=True)
    ))  # fmt: skip


def _is_rule(row: GridRow) -> bool:
    """Whether all cells of a row are drawn, or stand for more rows: `| --- | --- |`, `| … | … |`"""
    return len(row.cells) > 1 and all(_RULE.fullmatch(cell.text) for cell in row.cells)


_RULE = re.compile(r":?[-–—]{2,}:?|={2,}|_{2,}|\*{3,}|\.{3}|…|⋮|&#8942;|\\?vdots")


def _emptied(row: GridRow) -> GridRow:
    return replace(row, cells=tuple(cell._replace(text="") for cell in row.cells))


FEWEST_LABELS = 2
"""Columns that a table has at least besides those that are set aside."""


def without_asides(grid: Grid, *, learned: bool = True) -> Grid:
    """The grid without columns that number its rows, say nothing of them by their labels, or are
    empty; `learned` is whether what was learned says nothing, as beside calls of kernels it may."""
    if grid.labels or not grid.heads or not grid.rows:
        return grid
    labels = [label.strip("*_` ") for label in grid.header()]
    behind = range(1, len(labels))
    aside = {at for at in behind if _SAYS_NOTHING.fullmatch(labels[at])}
    aside |= {at for at in behind if learned and _LEARNED.fullmatch(labels[at])}
    aside |= {at for at in behind if labels[at] and _is_empty(grid, at, labels[at])}
    first = {0} if labels and _numbers_rows(grid, labels[0]) else set[int]()
    if len(labels) - len(aside | first) >= FEWEST_LABELS:
        aside |= first
    if not aside or len(labels) - len(aside) < FEWEST_LABELS:
        return grid
    heads = tuple(_kept(row, aside) for row in grid.heads)
    return replace(grid, heads=heads, rows=tuple(_behind(labels, row, aside) for row in grid.rows))


_SAYS_NOTHING = re.compile(
    r"(?:git )?(?:commit|sha|rev(?:ision)?|hash)(?: ?(?:hash|id|sha))?|PR|pull request|issue"
    r"|(?:(?:training|run) )?(?:logs?|links?|URL)(?: ?(?:file|link)s?)?"
    r"|(?:W&B|wandb|tensorboard)(?: ?(?:run|link|logs?))?"
    r"|(?:run |random )?seeds?|(?:run|start(?:ed)?) date|date(?: (?:run|added))?"
    r"|(?:slurm )?(?:job|run)[ _-]?id|(?:run |submitted |measured |tested )by"
    r"|(?:(?:avg\.?|average|mean|peak|max\.?|GPU|board) ){0,2}"
    r"(?:power(?: draw)?|temp(?:erature)?|energy)(?: ?[(\[][^()\[\]]{1,12}[)\]])?"
    r"|LR|(?:(?:peak|max\.?) )?learning rate|weight decay|dropout|warm-?up(?: steps)?|学习率"
    r"|owner|author|contributor|submitter|reporter|contact"
    r"|提交|日志|链接|日期|作者|贡献者|随机种子|日付|担当者?|ログ|リンク",
    re.IGNORECASE,
)
"""A label over who ran something, when, at which state of a program, and where that is kept; over
what no speed hangs on, and what it drew."""

_LEARNED = re.compile(
    r"(?:(?:final|train(?:ing)?|val(?:idation)?|eval(?:uation)?|test|LM|last|min|best)[. ]+){0,2}"
    r"(?:loss|perplexity|PPL)|(?:训练|验证|最终)?(?:损失|困惑度)|loss ?值|損失",
    re.IGNORECASE,
)
"""A label over what came of training."""

_NUMBERS_ROWS = re.compile(
    r"#|№|n[or]\.?|idx|index|row(?: ?(?:#|no\.?|number))?|s\.? ?no\.?|sl\.?(?: ?no\.?)?"
    r"|序号|编号|番号|번호|連番|順番",
    re.IGNORECASE,
)
"""A label over the numbers of rows."""


def _numbers_rows(grid: Grid, label: str) -> bool:
    """Whether the first column numbers the rows of a grid, and says so, or counts them from 0 under
    no label, as the index of a frame does."""
    if label and not _NUMBERS_ROWS.fullmatch(label):
        return False
    texts = [row.cells[0].text for row in grid.rows if row.cells and not _is_title(row)]
    held = [text.strip("*_` .)") for text in texts if text]
    first = int(held[0]) if held and held[0] in ("0", "1") else -1
    counted = first >= 0 and held == [str(first + n) for n in range(len(held))]
    return counted and (bool(label) or (first == 0 and len(held) >= FEWEST_OF_A_FRAME))


FEWEST_OF_A_FRAME = 3
"""Numbers in a row that only an index has; two may be switches, off and on."""


def _is_empty(grid: Grid, at: int, label: str) -> bool:
    """Whether a column holds nothing, in any row; of remarks a dash is nothing."""
    remarks = _OF_REMARKS.fullmatch(label) is not None
    for row in grid.rows:
        text = row.cells[at].text if at < len(row.cells) else ""
        if text and not (remarks and _NONE.fullmatch(text)):
            return False
    return True


_OF_REMARKS = re.compile(r"(?:re)?marks?|notes?|comments?|备注|说明|備考", re.IGNORECASE)

_NONE = re.compile(r"[-–—/]+|n/?a|none", re.IGNORECASE)


def _is_title(row: GridRow) -> bool:
    """Whether nothing but one cell of a row holds something, the first."""
    return row.one or not any(cell.text for cell in row.cells[1:])


def _kept(row: GridRow, aside: Set[int]) -> GridRow:
    return replace(row, cells=tuple(cell for at, cell in enumerate(row.cells) if at not in aside))


def _behind(labels: Sequence[str], row: GridRow, aside: Set[int]) -> GridRow:
    """A row without the cells that say nothing, which stand beside it; a title moves to where the
    row begins without them."""
    first = row.cells[:1]
    kept = _kept(row, aside)
    if _is_title(row):
        moved = 0 in aside and first and not row.one and not _A_NUMBER.fullmatch(first[0].text)
        return replace(kept, cells=(*first, *kept.cells[1:])) if moved else kept
    beside = tuple(
        (labels[at], row.cells[at].text) for at in sorted(aside)
        if at < len(row.cells) and row.cells[at].text
    )  # fmt: skip
    return replace(kept, beside=beside)


_A_NUMBER = re.compile(r"[*_`]*[0-9]*[*_`.)]*")
