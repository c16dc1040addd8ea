"""Documents that are a table of separated values as grids: CSV, TSV, values between semicolons.

In: the lines of a document. Out: its `Grid`, or none. A header may hold any labels; whether a
document is a table at all is told by its name, or by its rows: nearly all of them have as many
cells as the header.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice, pairwise
from typing import NamedTuple

import polars as pl
from assay.ingest.grids.aligned import MEASURES, ROWS
from assay.ingest.grids.grid import Grid, GridCell, GridRow, Syntax
from assay.ingest.numbers.units import unit
from assay.ingest.schema.format import uncompressed
from assay.ingest.schema.record import Line
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import COUNTERS, normalise

SEPARATORS = (",", "\t", ";")

SUFFIXES = (".csv", ".tsv")

REGULAR = 0.9
"""The least share of rows that have as many cells as the header, in a document with another name"""


def named_table(name: str) -> bool:
    """Whether an input is called a table of separated values, compressed or not."""
    return uncompressed(name).endswith(SUFFIXES)


def delimited(lines: Sequence[Line], *, named: bool) -> Iterator[Grid]:
    """The table that a document is; `named` says that its name says so: then it may hold several
    below each other."""
    ends = [*_further(lines), len(lines)] if named else [len(lines)]
    for begin, end in zip([0, *ends], ends, strict=False):
        yield from _delimited(lines[:end], begin, named=named)


def _delimited(lines: Sequence[Line], begin: int, *, named: bool) -> Iterator[Grid]:
    """The table that the lines from one on are."""
    said = (at for at in range(begin, len(lines)) if _says(lines[at], _data(lines, at)))
    first = next(said, None)
    if first is None:
        return
    bars = _bars([line.text for line in lines[first : first + 2]]) if named else None
    first = _below_titles(lines, first) if named and bars is None else first
    separator = bars or separator_of(lines[first].text)
    if separator is None:
        return
    if separator == "\t" and any(line.column > 1 for line in lines[first:]):
        lines = [*lines[:first], *_with_empty_cells(lines[first:])]
    overs = _all_over(lines[first : first + 3], separator) if named else []
    rows = list(_rows(lines, first, separator))
    uppers, rows = rows[: len(overs)], rows[len(overs) :]
    head, width = rows[0], len(rows[0].cells)
    free = normalise(head.cells[-1].text) in _OF_REMARKS
    rows = [_joined(row, width, separator) for row in rows] if free else rows
    rows = [head, *(_filled_up(row, head) for row in rows[1:])]
    if begin:
        width, rows = _without_empty_ends(rows)
        head = rows[0]
    data, below = _apart_from_comments([row for row in rows[1:] if not row.empty], width)
    body = [_title(_remark(row, width), width) for row in data]
    if not body or not _labels(head):
        return
    if not named and all(_ITEM.match(row.line.text) for row in body):
        return  # a list whose items hold commas
    even = sum(len(row.cells) == len(head.cells) for row in body) / len(body)
    if even < REGULAR and not (named and even > 0.5):
        return
    if separator == ";" and decimal_commas(body):
        body = [with_points(row) for row in body]
    syntax: Syntax = "tsv" if separator == "\t" else "csv"
    texts = tuple(cell.text for cell in head.cells)
    labels = tuple(_TRIAL.sub("", text) for text in texts) if "datetime_start" in texts else ()
    if len(set(labels)) < len(labels):
        labels = ()
    heads = [head]
    for upper, over in zip(reversed(uppers), reversed(overs), strict=True):
        nothing = head.cells[0]._replace(text="", line=upper.line.number)
        spans = tuple(upper.cells[at] if at >= 0 else nothing for at in over)
        heads.insert(0, replace(upper, cells=spans))
    note = _said_below(below) if below else _note_below(body)
    rows = body if below else body[:-1] if note else body
    rows += [] if note else [_remark(replace(row, cells=()), width) for row in below]
    yield Grid(syntax, first, len(lines), tuple(heads), tuple(rows), labels=labels, caption=note)


def _further(lines: Sequence[Line]) -> list[int]:
    """Where further tables of a sheet begin: at the titles, if any, above a row of labels that
    stands below an empty row or a title, and above a row with numbers."""
    sign = _sign_of_most(lines[:MOST_FURTHER])
    rows = [[cell.strip() for cell in _filled(line, sign)] for line in lines[:MOST_FURTHER]]
    wide = [at for at, cells in enumerate(rows) if len(cells) > 1]
    known: set[str] = set()
    found: list[int] = []
    for above, at, below in zip(wide, wide[1:], wide[2:], strict=False):
        known |= {*rows[above]} if _all_labels(rows[above]) else set()
        if not found and not any(any(map(_number, rows[n])) for n in wide if n < at):
            continue  # the first table has no row yet
        own = len(known & {*rows[at]}) > 1 or MEASURES.search("  ".join(rows[at]))
        next_to = below == at + 1 and any(map(_number, rows[below]))
        if above < at - 1 and own and next_to and _all_labels(rows[at]):
            found.append(next(n for n in range(above + 1, at + 1) if rows[n]))
    return found


MOST_FURTHER = 2000
"""Lines of a sheet among which further tables begin: who writes by hand writes no more."""


def _all_labels(cells: Sequence[str]) -> bool:
    """Whether the cells of a row may all be labels: none is a number or how a run ended."""
    return len({*cells}) == len(cells) and all(
        any(map(str.isalpha, cell)) and not _number(cell) and not _HOW_IT_ENDED.fullmatch(cell)
        for cell in cells
    )


def _without_empty_ends(rows: Sequence[GridRow]) -> tuple[int, list[GridRow]]:
    """The rows of a further table without the cells that are empty in all behind its last label,
    as its sheet is as wide as the widest; and how many cells are left."""
    width = max(at for row in rows for at, cell in enumerate(row.cells, 1) if cell.text)
    return width, [replace(row, cells=row.cells[:width]) for row in rows]


_ITEM = re.compile(r"\s{0,3}(?:[-*+•]|[0-9]{1,2}[.)]) \S")


def _filled_up(row: GridRow, head: GridRow) -> GridRow:
    """A row that stops behind how its run ended, with nothing in the cells that are left: `oom`
    under `status`, which is the last that the program wrote of it."""
    many = len(row.cells)
    if not 1 < many < len(head.cells):
        return row
    last, label = row.cells[-1], head.cells[many - 1].text
    if not _HOW_IT_ENDED.fullmatch(last.text) or not (
        _OF_AN_END.search(label) or MEASURES.search(label)
    ):
        return row
    left = last._replace(text="", column=row.line.column + len(row.line.text))
    return replace(row, cells=row.cells + (left,) * (len(head.cells) - many))


_HOW_IT_ENDED = re.compile(
    r"(?:cuda[ _-]?)?(?:oom|out[ _-]of[ _-]memory)(?: error)?|fail(?:ed|ure)?|crash(?:ed)?"
    r"|time-?out|timed out|killed|error",
    re.IGNORECASE,
)

_OF_AN_END = re.compile(
    r"(?<![A-Za-z])(?:status|state|result|outcome|error|exit|failure|exception)(?![A-Za-z])",
    re.IGNORECASE,
)
"""In the label of a column that says how a run ended."""


def _with_empty_cells(lines: Sequence[Line]) -> list[Line]:
    """Lines between tabs with the empty cells in front that were taken for an indentation, where
    they then have as many cells as most lines."""
    whole = [
        line if any(line.prefix.values()) or line.column == 1
        else line._replace(text="\t" * (line.column - 1) + line.text, column=1)
        for line in lines
    ]  # fmt: skip
    widths = Counter(line.text.count("\t") for line in whole if line.text)
    width = widths.most_common(1)[0][0] if widths else 0
    return [
        filled if filled.text.count("\t") == width else line
        for line, filled in zip(lines, whole, strict=True)
    ]


MOST_TITLES = 20
"""Lines above the header of a sheet that say what it is of."""


def _below_titles(lines: Sequence[Line], first: int) -> int:
    """The header of a sheet whose first lines have one cell with text each, a title or a remark."""
    begin = lines[first : first + MOST_TITLES]
    sign = _sign_of_most(begin)
    most = max(len(_filled(line, sign)) for line in begin)
    wide = [at for at, line in enumerate(begin, first) if 2 * len(_filled(line, sign)) > most]
    if wide and wide[0] > first + 1 and len(_all_over(lines[wide[0] - 2 : wide[0] + 1], sign)) > 1:
        wide[0] -= 2
    elif wide and wide[0] > first and _all_over(lines[wide[0] - 1 : wide[0] + 1], sign):
        wide[0] -= 1
    titles = wide and all(
        len(_filled(line, sign)) < 2 or _groups(line, lines[wide[0]], sign)
        for line in lines[first : wide[0]]
    )
    apart = most > 2 or (
        sign == "\t" and not any("\t" in line.text for line in lines[first : wide[0]])
    )
    return wide[0] if titles and apart else first


def _sign_of_most(lines: Sequence[Line]) -> str:
    """The sign that separates values in most of some lines, and that into most where several do: a
    title has commas of its own."""
    widths = {sign: [len(_filled(line, sign)) for line in lines] for sign in SEPARATORS}
    return max(SEPARATORS, key=lambda sign: (sum(n > 1 for n in widths[sign]), max(widths[sign])))


def _groups(upper: Line, lower: Line, sign: str) -> bool:
    """Whether a line above a header has names in it, each over the first of several labels, all of
    which say by themselves what they are: `Setup,,,Result,` over `Model,GPU,seq len,s/iter,MFU`."""
    names, labels = (separated(line.text, sign) for line in (upper, lower))
    over = [name for name in names if name.strip()]
    apart = [label.strip() for label in labels if label.strip()]
    clear = len(names) == len(labels) and len(set(apart)) == len(apart) >= 2 * len(over)
    return clear and not any(map(_number, (*over, *apart)))


def _all_over(lines: Sequence[Line], sign: str) -> list[list[int]]:
    """Which columns stand under each name of the lines above a header, one or two of them, the
    uppermost first; nothing where the first line is the header."""
    texts = [[text.strip() for text in separated(line.text, sign)] for line in lines]
    if len(texts) == len(("names", "names", "labels")) and (low := _over(texts[1], texts[2])):
        named = [f"{texts[1][at] if at >= 0 else ''} {label}".strip()
                 for at, label in zip(low, texts[2], strict=True)]  # fmt: skip
        if high := _over(texts[0], named):
            return [high, low]
    over = _over(texts[0], texts[1]) if texts[1:] else []
    return [over] if over else []


def _over(names: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Which columns stand under each name of a line above a header, where the same labels return
    under every one of two names or more: of each column the place of its name, -1 for none."""
    begins = [at for at, name in enumerate(names) if name]
    if len(begins) < 2 or len(names) != len(labels) or any(map(_number, names)):
        return []
    width = begins[1] - begins[0]
    below = [labels[at : at + width] for at in begins]
    apart = all(b - a >= width for a, b in pairwise(begins))
    if width < 2 or not apart or below.count(below[0]) < len(below) or not all(below[0]):
        return []
    return [max((b for b in begins if b <= at < b + width), default=-1)
            for at in range(len(labels))]  # fmt: skip


def _filled(line: Line, sign: str) -> list[str]:
    return [cell for cell in separated(line.text, sign) if cell.strip()]


def _remark(row: GridRow, width: int) -> GridRow:
    """A comment in words between the rows, with fewer cells than these, as the title of those below
    it: it says what holds from there on."""
    text = row.line.text
    if len(row.cells) >= width or not text.lstrip().startswith("#"):
        return row
    bare = uncommented(row.line)
    return replace(row, cells=(GridCell(bare.text, bare.number, bare.column),) * width)


_OF_REMARKS = {
    "remark", "remarks", "note", "notes", "comment", "comments", "description", "details", "reason",
    "message", "info", "observations", "bemerkung", "bemerkungen", "anmerkung", "anmerkungen",
    "kommentar", "hinweis", "remarque", "remarques", "commentaire", "commentaires", "notas",
    "nota", "comentario", "comentarios", "observaciones", "osservazioni", "备注", "说明", "注释",
    "備考", "コメント", "비고",
}  # fmt: skip
"""Labels of a last column of free text, which may hold the sign that keeps cells apart."""


def _joined(row: GridRow, width: int, separator: str) -> GridRow:
    """A row with more cells than the header with all behind as one remark, where that begins in
    words: a number there may be half of one with a comma."""
    first, text = row.cells[width - 1 : width], row.line.text
    if not first or len(row.cells) == width or '"' in text or not _IN_WORDS.match(first[0].text):
        return row
    whole = text[first[0].column - row.line.column :].strip()
    alike = whole.replace(separator, "") == "".join(text.split(separator)[width - 1 :]).strip()
    return (
        replace(row, cells=(*row.cells[: width - 1], first[0]._replace(text=whole)))
        if alike
        else row
    )


_IN_WORDS = re.compile(r"\W*[^\W\d_]")


def _note_below(rows: Sequence[GridRow]) -> str:
    """The remark that the last row of a sheet makes on all that stand above it, in one cell."""
    cells = rows[-1].cells if len(rows) > 1 else ()
    if not cells or not (len(cells) == 1 or rows[-1].one) or _OF_SOME.search(cells[0].text):
        return ""
    found = _NOTE.match(cells[0].text)
    return cells[0].text[found.end() :] if found and " " in cells[0].text.strip("# ") else ""


def _apart_from_comments(
    rows: Sequence[GridRow], width: int
) -> tuple[Sequence[GridRow], Sequence[GridRow]]:
    """The rows of a sheet, and the comments that it ends with, two or more or with commas of their
    own: what was commented out has as many cells as a row, and numbers."""
    end = len(rows)
    while end > 1 and _is_comment(rows[end - 1], width):
        end -= 1
    alone = len(rows) - end == 1 and len(rows[-1].cells) == 1
    return (rows, []) if alone else (rows[:end], rows[end:])


def _is_comment(row: GridRow, width: int) -> bool:
    numbers = any(_number(cell.text.lstrip("# ")) for cell in row.cells)
    return row.line.text.lstrip().startswith("#") and not (len(row.cells) == width and numbers)


def _said_below(comments: Sequence[GridRow]) -> str:
    """The words of the comments below a sheet on all rows; none where one may be of some alone."""
    bare = [uncommented(row.line).text.strip(" .") for row in comments]
    of_some = any(_OF_SOME.search(_RAN_WITH.sub(" ", text)) for text in bare)
    return "" if of_some else ". ".join(filter(None, bare))


_RAN_WITH = re.compile(r"\b(?:trained|ran|run|measured|made|obtained|collected|built) with\b", re.I)

_NOTE = re.compile(
    r"#+\s*(?=\S)|\W{0,3}(?:notes?|settings?|setup|config(?:uration)?|all(?= runs)|remarks?|注|备注"
    r"|Anmerkung|Hinweis)(?:\s?[:.：]|(?= runs))\s*",
    re.IGNORECASE,
)


_OF_SOME = re.compile(
    r"\b(?:rows?|lines?|entr(?:y|ies)|(?:run|job|case)s? #?[0-9]|first|last|third|except|but|only"
    r"|crash\w*|fail\w*|killed|OOM|oom|skipped|re-?run|todo|with|without|when|if|would|next|baseline"
    r"|repeated|others?|some|most)\b|[*†‡?]|行|除|其余",
    re.IGNORECASE,
)
"""In a remark that may be of some rows alone: `run 3 crashed on 64 GPUs`."""


def _title(row: GridRow, width: int) -> GridRow:
    """A row in which one cell alone says something, in words, as that cell: a title."""
    said = [cell for cell in row.cells if cell.text]
    words = len(said) == 1 and len(row.cells) == width > 2 and " " in said[0].text
    return replace(row, cells=tuple(said)) if words else row


_TRIAL = re.compile(r"(?:params|user_attrs|system_attrs)_")
"""In front of a label: what Optuna tried, and what was noted of the trial."""


FEWEST = 3
"""Labels of a header among other lines, and at least so many words it is."""

LONGEST_LABEL = 40

_OF_CODE = re.compile(r"[={}\[\];|]|: |\.$")
"""Signs of code and of prose, in no header."""


def delimited_blocks(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table of separated values among other lines of a document: a header that says what was
    measured, and right below it rows with as many cells, mostly numbers; or one of systems, with
    the device of each. What counts steps is a log."""
    at = 0
    while at < len(lines):
        grid = _block(lines, at)
        if grid:
            yield grid
        at = grid.end if grid else at + 1


def _block(lines: Sequence[Line], at: int) -> Grid | None:
    text = lines[at].text.lstrip("\t")
    separator = next((sign for sign in ",\t" if text.count(sign) >= FEWEST - 1), None)
    told = MEASURES.search(text) or _OF_SYSTEMS.search(text)
    if separator is None or _OF_CODE.search(text) or not told:
        return None
    head = _row(_bare(lines[at]), separated(text, separator), separator)
    labels = [cell.text for cell in head.cells]
    if not _labels(head) or not all(0 < len(label) <= LONGEST_LABEL for label in labels):
        return None
    if any(normalise(label) in COUNTERS for label in labels):
        return None
    rows: list[GridRow] = []
    for below in range(at + 1, len(lines)):
        line = _bare(lines[below])
        cells = separated(line.text, separator) if separator in line.text else []
        if len(cells) != len(labels) or not any(map(_number, cells)):
            break
        rows.append(_row(line, cells, separator))
    said = [cell.text for row in rows for cell in row.cells if cell.text]
    measured = len(rows) >= ROWS and 2 * sum(map(_number, said)) >= len(said)
    if not (_names_devices(labels, rows) or (measured and MEASURES.search(text))):
        return None
    syntax: Syntax = "tsv" if separator == "\t" else "csv"
    return Grid(syntax, at, at + 1 + len(rows), (head,), tuple(rows))


_OF_SYSTEMS = re.compile(r"accelerator|\b(?:gpu|device)(?: (?:model|type))?\b", re.IGNORECASE)

_CALLED_DEVICES = {"accelerator", "gpu", "device", "gpumodel", "gputype", "acceleratortype"}


def _names_devices(labels: Sequence[str], rows: Sequence[GridRow]) -> bool:
    """Whether rows are systems: each has another name in front and the name of its device under
    the one label of these."""
    at = [n for n, label in enumerate(labels) if normalise(label) in _CALLED_DEVICES]
    names = {row.cells[0].text for row in rows}
    apart = len(names) == len(rows) > 1 and not any(map(_number, names))
    return apart and len(at) == 1 and all(only(row.cells[at[0]].text) for row in rows)


def _bare(line: Line) -> Line:
    """A line without the tabs that it is indented by."""
    bare = line.text.lstrip("\t")
    return line._replace(text=bare, column=line.column + len(line.text) - len(bare))


_TAGGED = re.compile(r"\s*(\[[0-9]+\]:)(?=[A-Za-z])")


def tool_csv(lines: Sequence[Line]) -> Iterator[Grid]:
    """Rows of separated values that hipBLASLt prints among other lines, each set of them under a
    header behind the number of a solution: `[0]:transA,transB,…`. One grid for equal headers."""
    heads: dict[tuple[str, ...], list[tuple[GridRow, list[GridRow]]]] = {}
    at = 0
    while at < len(lines):
        line, tag = lines[at], _TAGGED.match(lines[at].text)
        at += 1
        if tag is None or line.text.count(",") < FEWEST_TAGGED:
            continue
        behind = line._replace(text=line.text[tag.end() :], column=line.column + tag.end())
        head = replace(_row(behind, separated(behind.text, ","), ","), line=line)
        rows: list[GridRow] = []
        while at < len(lines) and not _TAGGED.match(lines[at].text):
            if len(cells := separated(lines[at].text, ",")) != len(head.cells):
                break
            rows.append(_row(lines[at], cells, ","))
            at += 1
        labels = tuple(cell.text for cell in head.cells)
        heads.setdefault(labels, []).append((head, rows))
    for labels, sections in heads.items():
        rows = [row for _, below in sections for row in below]
        if rows:
            first = next(n for n, line in enumerate(lines) if line is sections[0][0].line)
            tops = tuple(head for head, _ in sections)
            yield _of_one_format(Grid("csv", first, first + 1, tops, tuple(rows)), labels)


def _of_one_format(grid: Grid, labels: Sequence[str]) -> Grid:
    """The grid with the format of both operands, `bf16_r` say, as one more column."""
    if not {"a_type", "b_type"} <= set(labels):
        return grid
    a, b = labels.index("a_type"), labels.index("b_type")

    def typed(row: GridRow) -> GridRow:
        one, other = (row.cells[at].text.removesuffix("_r") for at in (a, b))
        cell = row.cells[a]._replace(text=one if one == other else f"{one}x{other}")
        return replace(row, cells=(*row.cells, cell))

    named = ("result_type" if label == "d_type" else label for label in labels)
    return replace(grid, rows=tuple(map(typed, grid.rows)), labels=(*named, "dtype"))


FEWEST_TAGGED = 8
"""Separators of a header behind such a number: these have dozens."""

LONG = 2000
"""Lines from which on a table of separated values is long: the first of its rows say what it is."""


def long_and_even(lines: Sequence[Line], begin: Grid) -> bool:
    """Whether a document is a long table of which `begin` is the beginning, and is nothing else:
    its lines have as many separators as the header."""
    separator = separator_of(begin.heads[0].line.text) or ","
    signs = begin.width - 1
    even = sum(line.text.count(separator) >= signs for line in lines)
    return len(lines) >= LONG and even >= REGULAR * len(lines)


SAMPLE = 1000
"""Lines of a long table that say what its columns are."""

_APART = '["\x00-\x08\x0b-\x1f\x7f-\x9f]'
"""Signs of lines that the reader of the library takes apart, and blanks that are none to all."""

GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+(\s*[A-Za-zА-Яа-яµ%/]*)")
"""A number with points between its thousands."""

_COMMA = re.compile(
    r"([+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{1,3}(?:[ \u00a0\u2009\u202f'’][0-9]{3})+|[0-9]+))"
    r",([0-9]+)(\s*[A-Za-zА-Яа-яµ%/]*)"
)
"""A number with a comma for its point, and points or blanks between its thousands."""

_POINT = re.compile(r"[+-]?[0-9,]*\.[0-9]+.*")


def decimal_commas(rows: Sequence[GridRow]) -> bool:
    """Whether numbers between semicolons have commas for points, and points for commas if any.

    Who writes semicolons does so since commas are taken; a number with a point that groups nothing
    says otherwise.
    """
    texts = [cell.text for row in rows for cell in row.cells]
    return any(_COMMA.fullmatch(text) for text in texts) and not any(
        _POINT.fullmatch(text) and not GROUPS.fullmatch(text) and not _COMMA.fullmatch(text)
        for text in texts
    )


def with_points(row: GridRow, columns: Container[int] | None = None) -> GridRow:
    """A row whose numbers with commas for points, in some columns or in all, are written with
    points."""
    return replace(row, cells=tuple(
        cell._replace(text=_pointed(cell.text)) if columns is None or at in columns else cell
        for at, cell in enumerate(row.cells)
    ))  # fmt: skip


def _pointed(text: str) -> str:
    """A number as the rest of the world writes it.

    >>> _pointed("2,41 s"), _pointed("27.194"), _pointed("1.482,6"), _pointed("7B")
    ('2.41 s', '27194', '1482.6', '7B')
    >>> _pointed("2 487,9"), _pointed("**0,25**")
    ('2487.9', '**0.25**')
    """
    if text.startswith("**") and text.endswith("**") and len(text) > len("****"):
        return f"**{_pointed(text[2:-2])}**"
    if GROUPS.fullmatch(text):
        return text.replace(".", "")
    found = _COMMA.fullmatch(text)
    return f"{_GROUPING.sub('', found[1])}.{found[2]}{found[3]}" if found else text


_GROUPING = re.compile(r"[.\s'’]")


def _data(lines: Sequence[Line], at: int) -> list[Line]:
    """The first two lines below a comment that are none; none where it is no comment itself."""
    if not lines[at].text.lstrip().startswith("#"):
        return []
    below = (line for line in islice(lines, at + 1, at + MOST_COMMENTS) if line.text.strip())
    return [*islice((line for line in below if not line.text.lstrip().startswith("#")), 2)]


MOST_COMMENTS = 64
"""Lines of comments in a row that may stand over a header."""


def uncommented(line: Line) -> Line:
    """A line above separated values without the sign of a comment: it is no heading; a title in
    quotes, for its commas, without these and the empty cells behind it.

    >>> uncommented(Line(1, '"tokens/s, 8x A100",,,', 1, {})).text
    'tokens/s, 8x A100'
    """
    bare = line.text.lstrip("# \t")
    quoted = _QUOTED.fullmatch(bare)
    column = line.column + len(line.text) - len(bare)
    if quoted:
        bare, column = quoted[1], column + quoted.start(1)
    return line._replace(text=bare, column=column)


_QUOTED = re.compile(r'"[# \t]*([^"]+)"[,;\t ]*')


_OF_A_SETTING = re.compile(r"#{1,3} *[A-Za-z][\w /-]{0,24}?\s*[:=]\s+\S")


def without_signs(lines: Sequence[Line], name: str, taken: Set[int] = frozenset()) -> list[Line]:
    """The lines, comments that follow each other without their signs: they are no headings in a
    plain text, nor where one of them gives a label its value: `# model: 8B`, `# node : 8 x A100`.
    """
    marks = [  # with how many lines are left out above each: not all that follow each other do so
        (sign[0], line.number - row) if (sign := _SIGN.match(line.text)) else ("", 0)
        for row, line in enumerate(lines)
    ]
    plain, found, at = name.endswith((".txt", ".log", ".out")), list(lines), 0
    for (mark, _), group in groupby(marks):
        begin, at = at, at + len(list(group))
        rows = range(begin, at) if mark and at - begin > 1 else ()
        if plain or any(_OF_A_SETTING.match(lines[row].text) for row in rows):
            for row in rows:
                if lines[row].number not in taken:
                    found[row] = uncommented(lines[row])
    return found


_SIGN = re.compile(r"#{1,3}(?= )")


def _says(line: Line, below: Sequence[Line]) -> bool:
    """Whether a line is neither empty nor a comment of words, with fewer cells than the data."""
    bare = line.text.strip()
    if not bare.startswith("#"):
        return bool(bare)
    cells = [[len(separated(each.text, s)) for s in SEPARATORS] for each in (line, *below[:1])]
    if below and _of_labels(below[0].text):
        said = _OF_A_SETTING.match(bare) is not None  # `# hardware: 4x V100, fp16, 512 tokens`
        own = MEASURES.search(line.text) is None and _of_a_header(below, any_labels=said)
        if max(cells[0]) != max(cells[-1]) or own:
            return False  # a remark above the header
    return max(cells[0]) > 1 and max(cells[0]) >= max(cells[-1])


def _of_a_header(lines: Sequence[Line], *, any_labels: bool = False) -> bool:
    """Whether the first of some lines names what was measured, or has `any_labels`, and the second
    has numbers of it: it is no row of units below a header that is a comment."""
    texts = [separated(each.text, separator_of(each.text) or ",") for each in lines]
    if len(texts) < len(("header", "row")) or len(texts[0]) != len(texts[1]):
        return False
    measured = any_labels or MEASURES.search(lines[0].text) is not None
    if not measured or not any(map(_number, texts[1])):
        return False
    of_units = all(unit(label.strip("()[] ")) for label in texts[0][1:])
    return not of_units and not any(label[:1].isdigit() for label in texts[0])


def _of_labels(text: str) -> bool:
    """Whether a line has several cells, and all of them are words."""
    cells = separated(text, sign) if (sign := separator_of(text)) else []
    return len(cells) > 1 and all(any(c.isalpha() for c in each) for each in cells)


def _bars(texts: Sequence[str]) -> str | None:
    """The bar, where it stands between the labels of the first line, not around them, and nothing
    else does, and as often in the second: `JobID|Elapsed|State`."""
    bare = texts[0].strip()
    around = bare.startswith("|") or bare.endswith("|")
    apart = "|" in bare and not around and separator_of(bare) is None
    return "|" if apart and texts[-1].count("|") == bare.count("|") else None


def separator_of(text: str) -> str | None:
    """The sign between the labels of a header; None where there is none."""
    counts = {each: len(separated(text, each)) for each in SEPARATORS}
    best = max(SEPARATORS, key=lambda each: counts[each])
    return best if counts[best] > 1 else None


def separated(text: str, separator: str) -> list[str]:
    """The cells of one line; none where one is longer than the reader of the library takes."""
    try:
        return next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def _labels(head: GridRow) -> bool:
    """Whether a row names columns: most of its cells are words."""
    words = sum(any(c.isalpha() for c in cell.text) for cell in head.cells)
    return words * 2 > len(head.cells) and not any(_number(cell.text) for cell in head.cells)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().casefold() not in ("nan", "inf", "infinity")


def _rows(lines: Sequence[Line], first: int, separator: str) -> Iterator[GridRow]:
    """Every record with the line that it begins on; a quoted cell may hold line ends."""
    at = first

    def texts() -> Iterator[str]:
        nonlocal at
        for line in lines[first:]:
            at += 1
            yield line.text + "\n"

    reader = csv.reader(texts(), delimiter=separator, skipinitialspace=True)
    while True:
        begin = at
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:  # a cell longer than the limit: the line is no row
            continue
        if cells:
            yield _row(lines[begin], cells, separator)


def table_row(line: Line, separator: str) -> GridRow | None:
    """One line as a row; None where a quoted cell of it goes on in the next."""
    reader = csv.reader([line.text + "\n", "\n"], delimiter=separator, skipinitialspace=True)
    cells = next(reader)
    return _row(line, cells, separator) if reader.line_num == 1 else None


def _row(line: Line, cells: Sequence[str], separator: str) -> GridRow:
    places = cell_places(line.text, separator)
    made = []
    for number, text in enumerate(cells):
        column = places[number] if number < len(places) else len(line.text)
        if one := _LIST_OF_ONE.fullmatch(text):
            text, column = one[1], column + one.start(1)  # noqa: PLW2901 - what it holds
        made.append(GridCell(text.strip(), line.number, line.column + column))
    return GridRow(line, tuple(made))


_LIST_OF_ONE = re.compile(r"\s*\['([^'\[\]]+)'\]\s*")
"""A list of one text, as Python writes it."""


def cell_places(text: str, separator: str) -> list[int]:
    """Where each cell of a line begins; a separator inside quotes separates nothing."""
    starts, quoted, begin = [0], False, True
    if '"' not in text:
        found, at = [], 0
        for cell in text.split(separator):
            bare = cell.lstrip(" ")
            found.append(at + (len(cell) - len(bare) if bare else 0))
            at += len(cell) + 1
        return found
    for at, letter in enumerate(text):
        if letter == '"' and (begin or quoted):
            quoted = not quoted
        elif letter == separator and not quoted:
            starts.append(at + 1)
            begin = True
            continue
        begin = begin and letter in ' "' and not quoted
    found = []
    for start, end in zip(starts, [*(start - 1 for start in starts[1:]), len(text)], strict=True):
        cell = text[start:end]
        lead = len(cell) - len(cell.lstrip(' "')) if cell.strip(' "') else 0
        found.append(start + lead)
    return found


class Split(NamedTuple):
    """`raw`: line, column, one text column per name; `rest`: line and column of what Lark reads."""

    raw: pl.DataFrame
    rest: list[tuple[int, int]]


def split(lines: pl.DataFrame, names: Sequence[str], separator: str, quote: str = '"') -> Split:
    """Cells of `lines` (columns line, column, text) under `names`; blanks around cells are dropped.

    >>> lines = pl.DataFrame({"line": [2, 3], "column": [1, 1], "text": ["8, 9", "8"]})
    >>> split(lines, ["m", "n"], ",").raw.row(0), split(lines, ["m", "n"], ",").rest
    ((2, 1, '8', '9'), [(3, 1)])
    """
    whole = (pl.col("text").str.count_matches(separator, literal=True) == len(names) - 1) & ~(
        pl.col("text").str.contains(quote, literal=True)
    )
    fits = lines.filter(whole)
    raw = fits.select(
        pl.exclude("text"),
        pl.col("text").str.split_exact(separator, len(names) - 1).struct.rename_fields(list(names)),
    ).unnest("text")
    stripped = pl.col(list(names)).str.strip_chars()
    filled = pl.when(stripped.str.len_bytes() > 0).then(stripped).name.keep()
    return Split(raw.with_columns(filled), lines.filter(~whole).select("line", "column").rows())


@dataclass(frozen=True)
class Sheet:
    """A long table: `grid` is that of its first rows, `cells` (at, c0, c1, …) those of the rows
    that are as wide as the header; `at` is a position among `lines`. `odd` are the other rows.
    """

    lines: Sequence[Line]
    grid: Grid
    separator: str
    cells: pl.DataFrame
    odd: Sequence[GridRow]

    @cached_property
    def with_digits(self) -> list[bool]:
        """Whether each column holds digits below its header."""
        return [
            _some(self.cells[name], "[0-9]")
            or any(_digits(row.cells[n : n + 1]) for row in self.odd if not row.one)
            for n, name in enumerate(self.cells.columns[1:])
        ]

    @cached_property
    def rows_with_digits(self) -> int:
        """How many rows hold a digit."""
        without = self.cells
        for name in reversed(self.cells.columns[1:]):  # few are left after the first columns
            without = without.filter(~pl.col(name).str.contains("[0-9]"))
        return self.cells.height - without.height + sum(_digits(row.cells) for row in self.odd)

    def row(self, at: int) -> GridRow:
        """One row, as the reader of the library has it."""
        found = table_row(self.lines[at], self.separator)
        assert found is not None
        return found


def _some(texts: pl.Series, pattern: str) -> bool:
    """Whether a pattern is found in some text; in most columns in one of the first."""
    few = texts.head(SAMPLE).str.contains(pattern).any()
    return bool(few or texts.slice(SAMPLE).str.contains(pattern).any())


def _digits(cells: Iterable[GridCell]) -> bool:
    return any(letter in "0123456789" for cell in cells for letter in cell.text)


def sheet(lines: Sequence[Line], name: str) -> Sheet | None:
    """The long table that a document is; None where it is none, or its rows hold line ends."""
    if len(lines) < LONG or not named_table(name) or any(line.prefix for line in lines):
        return None
    grid = next(delimited(lines[:SAMPLE], named=True), None)
    separator = separator_of(grid.heads[0].line.text) if grid else None
    if grid is None or separator in (None, ";") or len(grid.rows) < 2:
        return None
    assert separator is not None
    frame = pl.DataFrame(
        {"text": [line.text for line in lines[grid.begin + 1 :]]}, schema={"text": pl.String}
    )
    frame = frame.with_row_index("line", grid.begin + 1).with_columns(
        column=pl.lit(1, pl.UInt32), plain=~pl.col("text").str.contains(_APART)
    )
    if frame["text"].str.len_chars().gt(csv.field_size_limit()).any():
        return None
    names = [f"c{n}" for n in range(grid.width)]
    even, rest = split(frame.filter("plain").drop("plain"), names, separator)
    said = frame.filter(pl.col("text").str.strip_chars() != "")
    if even.height < REGULAR * said.height:
        return None
    others = sorted([*frame.filter(~pl.col("plain"))["line"], *(at for at, _ in rest)])
    odd = [table_row(lines[at], separator) for at in others if lines[at].text.strip()]
    rows = [_filled_up(row, grid.heads[-1]) for row in odd if row is not None]
    if len(rows) < len(odd):
        return None
    cells = even.select(pl.col("line").alias("at"), pl.col(names).fill_null(""))
    return Sheet(lines, grid, separator, cells, [row for row in rows if not row.empty])
