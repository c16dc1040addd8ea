"""A table as a grid, whatever it is written in: header rows, rows, cells with place and spans.

Adapters make grids of lines: `pipe_tables` (Markdown), `html_tables`, `delimited` (CSV and TSV),
`restructured` (reStructuredText), `aligned` (plain text), `compared` (timers of PyTorch),
`json_records`, `wiki_tables`, `latex_tables`; `table_rows` makes records of grids. Before that rows
of rules and columns that say nothing of a run are set aside (`without_fillers`, `without_asides`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from itertools import pairwise
from typing import Literal, NamedTuple

from assay.ingest.schema.record import Line
from assay.ingest.vocabulary.label_forms import LONGEST_LABEL, in_words
from assay.ingest.vocabulary.terms import NUMBER_FORMAT
from assay.ingest.vocabulary.words import said

Syntax = Literal["markdown", "html", "csv", "tsv", "rst", "text", "json", "wiki", "latex"]

MARKED_UP = ("html", "rst", "json", "wiki", "latex")
"""Syntaxes whose tables have lines that are no rows: tags, rules, brackets."""


LONGEST = 1000
"""Characters of a cell beyond which it is prose: no number, label or layout is as long."""


def shown(text: str) -> str:
    """The text of a cell as it is shown: signs for their entities, blanks for each kind of them.

    >>> shown("Step&nbsp;time&nbsp;(s)"), shown("8&times;A100"), shown("S&P, `a && b`, A&#x26;B")
    ('Step time (s)', '8×A100', 'S&P, `a && b`, A&B')
    """
    if "&" in text:
        text = _ENTITY.sub(lambda found: unescape(found[0]), text)
    return text if text.isascii() else text.translate(_BLANKS)


_ENTITY = re.compile(r"&#?[A-Za-z0-9]{2,8};")

_BLANKS = str.maketrans({"\u00a0": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\u202f": " ",
                         "\u200b": None})  # fmt: skip

BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
"""Where a line of a cell ends in HTML."""


class GridCell(NamedTuple):
    """One cell; `line` and `column` are where its text begins, both from 1.

    A cell that spans rows or columns stands at every place that it covers.
    """

    text: str
    line: int
    column: int
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of cells; `line` is the first line of it.

    Adapters give as many cells as are written: whether there are too many is asked by who reads.
    """

    line: Line
    cells: tuple[GridCell, ...]
    beside: tuple[tuple[str, str], ...] = ()  # label and text of what only numbers it

    @property
    def blank(self) -> bool:
        """Whether no cell holds anything."""
        for cell in self.cells:  # noqa: SIM110 - asked of every row: a generator costs more
            if cell.text:
                return False
        return True

    @property
    def empty(self) -> bool:
        """Whether it is nothing but one cell that holds nothing."""
        return len(self.cells) <= 1 and self.blank

    @property
    def one(self) -> bool:
        """Whether one cell stands over all columns, as a title inside a table does."""
        cells = self.cells
        return len(cells) > 1 and cells[0] == cells[1] and cells.count(cells[0]) == len(cells)


@dataclass(frozen=True)
class Grid:
    """A table: `begin` and `end` are positions among the lines that it was found in."""

    syntax: Syntax
    begin: int
    end: int
    heads: tuple[GridRow, ...]
    rows: tuple[GridRow, ...]
    caption: str = ""
    remark: Literal["", "commented", "nested", "spans", "alone"] = ""  # spans: see `MOST_PLACES`
    closed: bool = False  # whether its rows end with a bar, so that one that does not is cut
    exact: bool = True  # whether a row with a cell too few is a fault of the row
    labels: tuple[str, ...] = field(default=())  # of its columns, where other than `heads` say
    series: str = ""  # unit of the columns whose labels only name what was run
    fillers: tuple[int, ...] = ()  # lines of rows that were left out, as they hold nothing

    @property
    def width(self) -> int:
        """Columns, as its last header row has them."""
        return len(self.heads[-1].cells) if self.heads else 0

    def header(self) -> tuple[str, ...]:
        """The label of each column, those of several header rows put together.

        >>> line = Line(1, "", 1, {})
        >>> over = GridCell("TFLOPs", 1, 1, columns=2)
        >>> low = (GridCell("A100", 2, 1), GridCell("H100", 2, 6))
        >>> Grid("html", 0, 2, (GridRow(line, (over, over)), GridRow(line, low)), ()).header()
        ('TFLOPs A100', 'TFLOPs H100')
        """
        return self._header

    @cached_property
    def _header(self) -> tuple[str, ...]:
        if self.labels:
            return self.labels
        return tuple(
            " ".join(dict.fromkeys(cell.text for cell in stack if cell.text))
            for stack in zip(*(row.cells for row in self.heads), strict=False)
        )

    def turned(self) -> Grid:
        """The same with rows for columns: a table whose metrics stand in its first column."""
        every = [*self.heads, *self.rows]
        columns = list(zip(*(row.cells for row in every), strict=True))
        rows = [
            GridRow(every[0].line._replace(number=cells[0].line, column=cells[0].column), cells)
            for cells in columns[1:]
        ]
        head = GridRow(every[0].line, columns[0])
        return replace(self, heads=(head,), rows=tuple(rows), labels=())


class Ragged(NamedTuple):
    """A cell as it is written, before spans are laid out."""

    text: str
    line: int
    column: int
    rows: int
    columns: int


MOST_COLUMNS = 1000
"""Columns that one cell may span: HTML allows no more."""

MOST_PLACES = 50_000
"""Places that cells may span beyond their own: no table that is read is as large."""


class SpansError(Exception):
    """Cells that span more than `MOST_PLACES` places."""


def laid_out(rows: Sequence[Sequence[Ragged]]) -> list[tuple[GridCell, ...]]:
    """Every place of a grid, of rows whose cells span rows and columns to the right and below.

    Raises SpansError where they span more places than `MOST_PLACES`.

    >>> wide, low = Ragged("a", 1, 1, 2, 1), Ragged("b", 1, 5, 1, 1)
    >>> [[cell.text for cell in row] for row in laid_out([[wide, low], [low]])]
    [['a', 'b'], ['a', 'b']]
    """
    held: dict[int, tuple[GridCell, int]] = {}  # column → cell of a row above, rows it still spans
    found = []
    written = places = 0
    for at, row in enumerate(rows):
        cells: dict[int, GridCell] = {}
        column = 0
        for each in row:
            while column in held:
                column += 1
            most = max(1, min(each.columns, MOST_COLUMNS))
            down = max(1, min(each.rows or len(rows), len(rows) - at))
            cell = GridCell(each.text, each.line, each.column, down, most)
            written, places = written + 1, places + most
            if places > written + MOST_PLACES:
                raise SpansError
            for place in range(column, column + most):
                cells[place] = cell
                if down > 1:
                    held[place] = (cell, down)
            column += most
        for place, (cell, _) in held.items():
            cells.setdefault(place, cell)
        places += len(held)
        if places > written + MOST_PLACES:
            raise SpansError
        held = {place: (cell, left - 1) for place, (cell, left) in held.items() if left > 1}
        last = max(cells, default=-1)
        empty = GridCell("", row[0].line if row else 0, 1)
        found.append(tuple(cells.get(place, empty) for place in range(last + 1)))
    return found


def unset(grid: Grid) -> Grid:
    """A grid whose cells have no signs of Markdown around all of their text: a row in bold, names
    in ticks and links are what they are without, and stand where they begin with them; in which
    face a row is set, its line says.
    A row of one cell alone, which its face may make a title, and code that assigns stay as set.

    >>> texts = ("**`7B`**", "[*12,5*](a.log)", "**a** (**b**)", "`tp: 2`")
    >>> row = GridRow(Line(2, "", 1, {}), tuple(GridCell(text, 2, 3) for text in texts))
    >>> [row] = unset(Grid("markdown", 0, 3, (), (row,))).rows
    >>> [(cell.text, cell.column) for cell in row.cells]
    [('7B', 3), ('12,5', 3), ('**a** (**b**)', 3), ('`tp: 2`', 3)]
    """
    if not any(cell.text[-1:] in _ENDS for row in grid.rows for cell in row.cells):
        return grid
    rows = (
        replace(row, cells=tuple(map(_unset, row.cells)))
        if sum(cell.text != "" for cell in row.cells) > 1 and not row.one else row
        for row in grid.rows
    )  # fmt: skip
    return replace(grid, rows=tuple(rows))


_SIGNS = ("*", "_", "`")

_ENDS = (*_SIGNS, ")")

_LINK = re.compile(r"\[(?![\^!])([^\[\]]+)\]\([^()\s]{1,400}\)")
"""A cell that is a link: where it goes says nothing of its row."""

_HOME = re.compile(r"\[[A-Za-z][\w.-]{2,30}\]\(https?://[^/()\s]{1,80}(?:/[\w-]{1,40}){0,2}/?\)")
"""A name with its home: it is a program's, as no name of a run is."""

_ASSIGNS = re.compile(r"`[^`]*[A-Za-z_][\w.]* ?[:=] ?\w")

_SET = re.compile(r"(\*{1,3}|_{1,3}|`{1,2})(?=\S)((?:(?!\1).)+)(?<=\S)\1")


def _unset(cell: GridCell) -> GridCell:
    if cell.text[:1] == "[" and len(cell.text) <= LONGEST and not _HOME.fullmatch(cell.text):
        link = _LINK.fullmatch(cell.text)
        cell = cell._replace(text=link[1].strip()) if link else cell
    while cell.text[-1:] in _SIGNS and len(cell.text) <= LONGEST:
        found = _SET.fullmatch(cell.text)
        if found is None or _ASSIGNS.match(cell.text):
            break
        cell = cell._replace(text=found[2])
    return cell


def apart(grids: Sequence[Grid]) -> Iterator[Grid]:
    """Grids in the order of their lines; of two that share lines the one found first stands, but
    for tables of HTML or JSON, which may share a line."""
    taken: dict[int, Syntax] = {}
    kept = []
    for grid in grids:
        places = range(grid.begin, grid.end)
        beside = grid.syntax if grid.syntax in ("html", "json") else None
        if grid.remark == "nested" or all(taken.get(at, beside) == beside for at in places):
            taken.update(dict.fromkeys(places, grid.syntax))
            kept.append(grid)
    yield from sorted(kept, key=lambda grid: (grid.begin, grid.end))


_STATISTICS = (
    r"(?:median|p[0-9]{2}|min(?:imum)?|max(?:imum)?|best|worst|std(?:ev)?|last|first|total|peak)"
)
"""Words for numbers of the same besides means."""


def without_fillers(grid: Grid) -> Grid:
    """The grid without rows that hold nothing, or rules alone, and without the mean of its rows
    below them: below the titles among rows, which they end, they stay, and hold nothing."""
    filler = [row.blank or _is_rule(row) for row in grid.rows]
    filler[-1:] = [filler[-1] or _is_average(grid)] if filler else []
    if not any(filler):
        return grid
    if not any(not row.blank and _is_title(row) for row in grid.rows):
        kept = (row for row, no in zip(grid.rows, filler, strict=True) if not no)
        gone = (row.line.number for row, no in zip(grid.rows, filler, strict=True) if no)
        return replace(grid, rows=tuple(kept), fillers=(*grid.fillers, *gone))
    return replace(grid, rows=tuple(
        _emptied(row) if no else row for row, no in zip(grid.rows, filler, strict=True)
    ))  # fmt: skip


def with_rows_of_formats(grid: Grid) -> Grid:
    """The grid with a row for each of two number formats that one row has measured, the second in
    brackets: `FP8 (BF16)` beside `1639 (1062)`; what has no brackets is of both.

    >>> cells = (GridCell("FP8 (BF16)", 3, 3), GridCell("64", 3, 16), GridCell("163 (106)", 3, 21))
    >>> rows = with_rows_of_formats(Grid("text", 0, 1, (), (GridRow(Line(3, "", 3, {}), cells),)))
    >>> [[cell.text for cell in row.cells] for row in rows.rows]
    [['FP8', '64', '163'], ['BF16', '64', '106']]
    """
    rows = [each for row in grid.rows for each in _of_both_formats(row)]
    return replace(grid, rows=tuple(rows)) if len(rows) > len(grid.rows) else grid


def _of_both_formats(row: GridRow) -> Iterator[GridRow]:
    """A row, or the two that stand in it."""
    told = any(_TWO_FORMATS.fullmatch(cell.text) for cell in row.cells if "(" in cell.text)
    pairs = [_ONE_AND_OTHER.fullmatch(cell.text) if told else None for cell in row.cells]
    if not any(pair and pair["number"] for pair in pairs):
        yield row
        return
    for part in ("one", "other"):
        cells = (
            cell._replace(text=pair[part], column=cell.column + pair.start(part)) if pair else cell
            for pair, cell in zip(pairs, row.cells, strict=True)
        )
        yield replace(row, cells=tuple(cells))


_A_FORMAT = rf"{NUMBER_FORMAT}(?:[-_ ][A-Za-z]{{1,12}})?"

_TWO_FORMATS = re.compile(rf"{_A_FORMAT} ?\({_A_FORMAT}\)")

_ONE_AND_OTHER = re.compile(
    rf"(?P<one>{_A_FORMAT}|(?P<number>[0-9][0-9.,]*|n/a|-|OOM)) "
    rf"?\((?P<other>{_A_FORMAT}|[0-9][0-9.,]*|n/a|-|OOM)\)"
)
"""A part of one format, and one of the other: `1639 (1062)`, `n/a (4)`."""


def _is_average(grid: Grid) -> bool:
    """Whether the last row has the means of the others, and no name or setting of its own."""
    if len(grid.rows) <= len(("one", "other")) or len(grid.rows[-1].cells) <= len(("mean",)):
        return False
    *names, last = (row.cells[0].text.strip("*_` :") if row.cells else "" for row in grid.rows)
    told = [cell.text for cell in grid.rows[-1].cells[1:] if cell.text]
    return (
        _AVERAGE.fullmatch(last) is not None
        and all(map(_OF_NUMBERS.fullmatch, told))
        and not any(map(_STATISTIC.fullmatch, names))
    )


_AVERAGE = re.compile(r"(?:geo(?:metric)?[ -]?)?mean|average|avg\.?|平均", re.IGNORECASE)

_STATISTIC = re.compile(rf"{_STATISTICS}\.?|sum|variance|n|count|平均|最大|最小", re.IGNORECASE)

_OF_NUMBERS = re.compile(r"[*_~≈+]{0,4}-?[0-9][0-9.,]*(?: ?[A-Za-zµ%×/]{1,14})?[*_]{0,4}|[-–—]")


def _is_rule(row: GridRow) -> bool:
    """Whether all cells of a row are drawn, or stand for more rows: `| --- | --- |`, `| … | … |`"""
    return len(row.cells) > 1 and all(_RULE.fullmatch(cell.text) for cell in row.cells)


_RULE = re.compile(r":?[-–—]{2,}:?|={2,}|_{2,}|\*{3,}|\.{3}|…|⋮|&#8942;|\\?vdots")


def _emptied(row: GridRow) -> GridRow:
    return replace(row, cells=tuple(cell._replace(text="") for cell in row.cells))


FEWEST_LABELS = 2
"""Columns that a table has at least besides those that are set aside."""


def without_asides(grid: Grid, *, learned: bool = True, again: Set[str] = frozenset()) -> Grid:
    """The grid without columns that number its rows, say nothing of them by their labels, or are
    empty; `learned` is whether what was learned says nothing, as beside calls of kernels it may,
    `again` are labels by whose numbers other tables speak of the same rows."""
    if grid.labels or not grid.heads or not grid.rows:
        return grid
    labels = [label.strip("*_` ") for label in grid.header()]
    behind = range(1, len(labels))
    aside = {at for at in behind if _SAYS_NOTHING.fullmatch(labels[at])}
    aside |= {at for at in behind if learned and _LEARNED.fullmatch(labels[at])}
    aside |= {at for at in behind if labels[at] and _is_empty(grid, at, labels[at])}
    first = {0} if labels and _numbers_rows(grid, labels[0], again) else set[int]()
    if len(labels) - len(aside | first) >= FEWEST_LABELS:
        aside |= first
    if not aside or len(labels) - len(aside) < FEWEST_LABELS:
        return grid
    heads = tuple(_kept(row, aside) for row in grid.heads)
    return replace(grid, heads=heads, rows=tuple(_behind(labels, row, aside) for row in grid.rows))


def with_labels_in_words(grid: Grid, *, calls: bool = False) -> Grid:
    """The grid with its labels in words (`in_words`), and without what says that numbers are means
    where labels are not known with it, but where another has something else of the same; a mean in
    microseconds is of `calls`."""
    if not grid.heads or grid.labels or grid.width > MOST_COLUMNS:
        return grid
    texts = [cell.text for row in grid.heads for cell in row.cells]
    short = [text for text in texts if len(text) <= LONGEST_LABEL]
    others = {_A_STATISTIC.sub("", text).casefold() for text in short if not _A_MEAN.search(text)}

    def of_cell(cell: GridCell) -> GridCell:
        text = _A_MEAN.sub("", cell.text) if len(cell.text) <= LONGEST_LABEL else cell.text
        kept = text != cell.text and (
            not _LETTER.search(text)
            or text.casefold() in others
            or said(cell.text) is not None
            or (not calls and _OF_CALLS.search(text) is not None)
        )
        text = in_words(cell.text if kept else text)
        return cell if text == cell.text else cell._replace(text=text)

    heads = [replace(row, cells=tuple(map(of_cell, row.cells))) for row in grid.heads]
    return replace(grid, heads=tuple(_without_groups(heads)))


def _without_groups(heads: Sequence[GridRow]) -> Iterator[GridRow]:
    """Header rows without names of groups that say nothing of their columns (`Configuration` over
    some, `Performance` over the others), and without those that hold nothing else."""
    for row, below in pairwise(heads):
        if len(row.cells) != len(below.cells):
            yield row
            continue
        cells = tuple(
            cell._replace(text="") if under.text != cell.text and _GROUP.fullmatch(cell.text)
            else cell
            for cell, under in zip(row.cells, below.cells, strict=True)
        )  # fmt: skip
        pairs = zip(cells, below.cells, strict=True)
        if cells == row.cells or any(cell.text not in ("", under.text) for cell, under in pairs):
            yield replace(row, cells=cells)
    yield heads[-1]


_GROUP = re.compile(
    r"(?:(?:model|training|train|run|experiment(?:al)?) )?(?:config(?:uration)?s?|settings?|set-?up"
    r"|parameters|hyper-?parameters)|(?:(?:training|measured) )?(?:performance|results?|metrics?)"
    r"|measure(?:d|ments?)|(?:训练)?(?:配置|性能|结果|指标)|設定|結果",
    re.IGNORECASE,
)
"""The name of a group of columns that says nothing of them."""

_OF_CALLS = re.compile(r"[(\[](?:us|[µμ]s|ns)[)\]]")

_A_MEAN = re.compile(
    r"^(?:avg\.?|average|mean) (?=[a-z]{3})|(?<=\S) ?[(\[](?:avg\.?|average|mean)[)\]]$",
    re.IGNORECASE,
)
"""Words for means, in front of a label or behind it."""

_A_STATISTIC = re.compile(
    rf"^{_STATISTICS}\.? (?=\S)|(?<=\S) ?[(\[]{_STATISTICS}\.?[)\]]$", re.IGNORECASE
)
"""Words for something else of the same numbers."""

_LETTER = re.compile(r"[^\W\d_]")

_SAYS_NOTHING = re.compile(
    r"(?:git )?(?:commit|sha|rev(?:ision)?|hash)(?: ?(?:hash|id|sha))?|PR|pull request|issue"
    r"|(?:(?:training|run) )?(?:logs?|links?|URL)(?: ?(?:file|link)s?)?"
    r"|(?:W&B|wandb|tensorboard)(?: ?(?:run|link|logs?))?"
    r"|(?:run |random )?seeds?|(?:run|start(?:ed)?) date|date(?: (?:run|added))?"
    r"|(?:slurm )?(?:job|run)[ _-]?id|(?:run |submitted |measured |tested )by"
    r"|(?:(?:avg\.?|average|mean|peak|max\.?|GPU|board) ){0,2}"
    r"(?:power(?: draw)?|temp(?:erature)?|energy)(?: ?[(\[][^()\[\]]{1,12}[)\]])?"
    r"|(?:(?:total|training|cloud|est\.?) ){0,2}costs?(?: ?/ ?run)?"
    r"(?: ?[(\[][^()\[\]]{1,12}[)\]])?"
    r"|LR|(?:(?:peak|max\.?) )?learning rate|weight decay|dropout|warm-?up(?: steps)?|学习率"
    r"|owner|author|contributor|submitter|reporter|contact"
    r"|提交|日志|链接|日期|作者|贡献者|随机种子|日付|担当者?|ログ|リンク",
    re.IGNORECASE,
)
"""A label over who ran something, when, at which state of a program, and where that is kept; over
what no speed hangs on, and what it drew."""

_LEARNED = re.compile(
    r"(?:(?:final|train(?:ing)?|val(?:id(?:ation)?)?|dev|eval(?:uation)?|test|LM|last|min|best|avg"
    r"|average|mean|overall)[. ]+){0,2}"
    r"(?:loss|perplexity|PPL|score|acc(?:uracy)?\.?|top-?[15](?: acc(?:uracy)?\.?)?|F1|BLEU|ROUGE"
    r"(?:-L)?|FID|WER|AUC|mAP|mIoU|(?:box|mask) AP|EM|exact match|reward|MMLU|GSM8K|HellaSwag)"
    r"(?: ?[(\[](?:%|[↑↓]|avg\.?)[)\]]| ?[↑↓])?"
    r"|(?:(?:training|total|number of|num\.?|# ?(?:of)?) ){0,2}epochs(?: trained)?"
    r"|(?:训练|验证|最终)?(?:损失|困惑度|准确率|精度得分)|loss ?值|損失|正解率",
    re.IGNORECASE,
)
"""A label over what came of training."""

_NUMBERS_ROWS = re.compile(
    r"#|№|n[or]\.?|idx|index|row(?: ?(?:#|no\.?|number))?|s\.? ?no\.?|sl\.?(?: ?no\.?)?"
    r"|序号|编号|番号|번호|連番|順番",
    re.IGNORECASE,
)
"""A label over the numbers of rows."""

_NAMED_BY_NUMBER = re.compile(
    r"id|(?:run|exp(?:eriment|\.)?|trial|test|entry|config(?:uration)?|set-?up|case)"
    r"(?: ?(?:#|no\.?|number|id))?",
    re.IGNORECASE,
)
"""A label over numbers that may be the names of rows."""


def _numbers_rows(grid: Grid, label: str, again: Set[str]) -> bool:
    """Whether the first column numbers the rows of a grid, and says so."""
    named = label not in again and _NAMED_BY_NUMBER.fullmatch(label)
    if not named and not _NUMBERS_ROWS.fullmatch(label):
        return False
    texts = [row.cells[0].text for row in grid.rows if row.cells and not _is_title(row)]
    held = [text.strip("*_` .)") for text in texts if text]
    first = int(held[0]) if held and held[0] in ("0", "1") else -1
    return first >= 0 and held == [str(first + n) for n in range(len(held))]


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
