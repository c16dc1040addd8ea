"""Documents with tables: their texts, their grids, and what stands above each of them.

In: the lines of an input. Out: the texts that it holds, the grids of each in order, and the `Place`
of a grid: its heading, the headings around that, and the lines between them and the table. And what
a document explains of its tables: labels with what they stand for, the fields of the factors of a
product in cells (`d x m x p`), names with the devices that they stand for.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, groupby, pairwise

from assay.ingest.columns.headers import GENERIC, in_letters, plain
from assay.ingest.columns.titles import counted_devices, devices_in_all
from assay.ingest.grids.aligned import aligned_tables, ruled_tables
from assay.ingest.grids.compared import compared
from assay.ingest.grids.delimited import (
    GROUPS,
    decimal_commas,
    delimited,
    delimited_blocks,
    named_table,
    with_points,
)
from assay.ingest.grids.drawn import barred_tables, drawn_tables
from assay.ingest.grids.grid import (
    LONGEST,
    Grid,
    GridRow,
    apart,
    unset,
    with_labels_in_words,
    with_rows_of_formats,
    without_asides,
    without_fillers,
)
from assay.ingest.grids.html_tables import html_tables
from assay.ingest.grids.indexed import indexed_tables
from assay.ingest.grids.json_records import begins_json, fenced_records, json_records, named_json
from assay.ingest.grids.latex_tables import latex_tables
from assay.ingest.grids.pipe_tables import pipe_tables
from assay.ingest.grids.restructured import rst_tables
from assay.ingest.grids.second_heads import with_units_below
from assay.ingest.grids.stacked import stacked_tables
from assay.ingest.grids.value_blocks import (
    labelled_lines,
    listed_values,
    numbers_by_name,
    results_of_one_run,
    summed_up,
    value_blocks,
)
from assay.ingest.grids.wiki_tables import wiki_tables
from assay.ingest.numbers.units import unit
from assay.ingest.prose.counted_operations import of_hardware
from assay.ingest.prose.degree_letters import DEGREES, letters_in
from assay.ingest.prose.keys import keyed, of_one_device
from assay.ingest.prose.quoted_labels import quoted_labels
from assay.ingest.prose.scopes import paragraphs
from assay.ingest.schema.record import REMEMBERED, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import of_set_up, underlines
from assay.ingest.source.notebook import is_notebook, markdown_cells, outputs, printed
from assay.ingest.tables import captions
from assay.ingest.vocabulary.devices import SIGN, device_at, devices, only, signed
from assay.ingest.vocabulary.terms import configured_by, terms
from assay.ingest.vocabulary.words import european, said

_HEADING = re.compile(
    r"\s*#{1,6}\s+\S.*|\s*\*\*[^*]+\*\*:?\s*$|\s*={2,40}\s[^=]*[^=\s]\s+={2,40}\s*$"
)

LONGEST_ABOVE = 4000
"""Characters of a line above a table beyond which it says nothing of it."""

NEAR = 50
"""Lines above a table, below its heading, that may name its quantity or its devices."""


def documents(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """The texts that an input holds: itself, or what a notebook says and prints, and its frames."""
    if not is_notebook(lines):
        yield closed_up(lines)
        return
    yield sorted([*markdown_cells(lines), *printed(lines)], key=lambda line: line.number)
    pages = (each for each in outputs(lines) if each.kind == "html")
    for _, page in groupby(pages, key=lambda each: each.output):
        yield [Line(each.number, each.text, each.column, {}) for each in page]


def closed_up(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines with one blank line where several follow each other, as those of a page do whose
    paragraphs were joined: what stands above a table is not farther from it for them.

    >>> [line.number for line in closed_up([Line(n, t, 1, {}) for n, t in enumerate("a  b ", 1)])]
    [1, 2, 4, 5]
    """
    kept = [line for above, line in pairwise(lines) if line.text.strip() or above.text.strip()]
    return [*lines[:1], *kept] if len(kept) + 1 < len(lines) else lines


def grids(lines: Sequence[Line], name: str, *, declared: bool = False) -> Iterator[Grid]:
    """Every table of a document, in order; `name` is that of its input. Where somebody has
    declared what the columns are, no label says that its points are ambiguous."""
    if (named_json(name) or begins_json(lines)) and (held := list(json_records(lines))):
        yield from held
        return
    if named_table(name) and (whole := list(delimited(lines, named=True))):
        yield from (list(delimited_blocks(lines)) if any(map(_in_sections, whole)) else ()) or whole
        return
    held = marked(lines)
    held = held + list(delimited_blocks(lines)) if held else list(delimited(lines, named=False))
    each: Iterable[Grid] = map(_under_title, apart(held or list(delimited_blocks(lines))))
    if not declared:
        held = [*map(with_labels_in_words, map(with_units_below, each))]
        again = _spoken_of_again(held)
        each = (without_asides(without_fillers(grid), again=again) for grid in held)
        each = map(with_rows_of_formats, each)
    found = map(_in_digits, map(_undivided, map(_in_strokes, map(_bracketed, each))))
    yield from _all_pointed(found, lines, declared=declared)


def _spoken_of_again(grids: Iterable[Grid]) -> set[str]:
    """The labels that open both tables of measurements and others, which speak of their rows."""
    opened: tuple[set[str], set[str]] = set(), set()
    for grid in grids:
        label, *others = grid.header() or ("",)
        opened[any(map(_is_measured, others))].add(label)
    return opened[0] & opened[1]


def _is_measured(label: str) -> bool:
    """Whether a label says a quantity, not a setting."""
    found = said(label)
    return found is not None and found.field not in _SETTINGS


_SETTINGS = frozenset(name for name, term in terms().items() if term.role == "configuration")


def _in_sections(grid: Grid) -> bool:
    """Whether a sheet holds tables below each other: a row begins with the first label of its
    header, and has other labels behind that."""
    labels = grid.header()
    return any(
        len(row.cells) > 1
        and row.cells[0].text == labels[0]
        and row.cells[-1].text != labels[-1]
        and not any(_DIGIT.match(cell.text) for cell in row.cells)
        for row in grid.rows
    )


def _under_title(grid: Grid) -> Grid:
    """A grid with the title that stands over all of its labels, in one cell, for its caption."""
    if len(grid.heads) < len(("title", "labels")) or not grid.heads[0].one or grid.labels:
        return grid
    title = plain(grid.heads[0].cells[0].text)
    caption = f"{grid.caption.rstrip(' .:')}. {title}" if grid.caption else title
    return replace(grid, heads=grid.heads[1:], caption=caption)


def _bracketed(grid: Grid) -> Grid:
    """A grid with the units of its labels in round brackets: `Memory, GB` and `Memory [GB]`."""
    if not grid.heads or grid.labels:
        return grid
    last = grid.heads[-1]
    cells = tuple(cell._replace(text=_bracketed_label(cell.text)) for cell in last.cells)
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


def _bracketed_label(label: str) -> str:
    """A label with its unit in round brackets; whose other words are in brackets stays.

    >>> [*map(_bracketed_label, ("Memory, GB", "eager [tokens/s]", "step time, min"))]
    ['Memory (GB)', 'eager (tokens/s)', 'step time, min']
    """
    told = _LABEL_AND_UNIT.fullmatch(label)
    behind = (told["bare"] or told["square"]) if told else ""
    if told is None or behind in _OTHER_WORDS or unit(behind) is None:
        return label
    return f"{told['label']} ({behind})"


_LABEL_AND_UNIT = re.compile(
    r"(?P<label>[^,()\[\]]{1,60}?)"
    r"(?:, (?P<bare>[^ ,()\[\]]{1,20})|\s?\[(?P<square>[^,()\[\]]{1,20})\])"
)

_OTHER_WORDS = {"B", "h", "min", "x", "X", "×"}
"""Units that behind a comma may be something else: `step time, min` beside `step time, max`."""


def _undivided(grid: Grid) -> Grid:
    """A grid whose thousands stand without blanks or bars between them, in its header as below it:
    `38 420`, `**7 858**`, `4 213 (31.5)`, `38_420`; blanks of plain text keep cells apart."""
    cells = (cell for row in (*grid.heads, *grid.rows) for cell in row.cells)
    if grid.syntax == "text" or not any(map(_IN_THOUSANDS.match, (c.text for c in cells))):
        return grid

    def of_row(row: GridRow) -> GridRow:
        return replace(row, cells=tuple(
            cell._replace(text=_BLANK.sub("", cell.text[: m.end(1)]) + cell.text[m.end(1) :])
            if (m := _IN_THOUSANDS.match(cell.text)) else cell
            for cell in row.cells
        ))  # fmt: skip

    return replace(grid, heads=tuple(map(of_row, grid.heads)), rows=tuple(map(of_row, grid.rows)))


_IN_THOUSANDS = re.compile(
    r"[*_~≈ ]{0,4}((?<![0-9])[1-9][0-9]{0,2}(?:[ _\u00a0\u2009\u202f][0-9]{3}){1,3})"
    r"(?:[.,][0-9]{1,3})?[*_ ]{0,4}"
    r"(?:[(\[（][^()\[\]（）]{1,24}[)\]）][*_ ]{0,4})?$"
)
"""A number with blanks or bars between its thousands, and what stands in brackets behind it."""

_BLANK = re.compile(r"[\s_]")


def _in_strokes(grid: Grid) -> Grid:
    """A grid whose cells have strokes for the words in the units of their numbers: `4,100 tokens/s
    per GPU`, `150 TFLOP/s per GPU`, `3.1 samples per second`."""
    if not any("per " in cell.text for row in grid.rows for cell in row.cells):
        return grid

    def short(text: str) -> str:
        found = _PER.fullmatch(text) if "per " in text and len(text) <= LONGEST_UNIT else None
        if found is None:
            return text
        per = "/s" if found[3] or found[2].endswith("/s") else ""
        return f"{found[1]}{found[2].removesuffix('/s')}{per}{'/GPU' if found[4] else ''}"

    rows = (
        replace(row, cells=tuple(cell._replace(text=short(cell.text)) for cell in row.cells))
        for row in grid.rows
    )
    return replace(grid, rows=tuple(rows))


LONGEST_UNIT = 60
"""Characters of a cell that is a number with its unit."""

_PER = re.compile(
    r"([~≈]?[0-9][0-9.,]{0,12} ?[kKM]? ?)"
    r"((?:tok(?:en)?s?|samples?|seq(?:uence)?s?|im(?:a?ge?)?s?)(?:/s)?|[GTP]FLOPs?(?:/s)?"
    r"|[GTP]FLOPS)( per s(?:ec(?:ond)?)?)?"
    r"( per (?:GPU|GCD|[HXNTD]PU|device|chip|card|accelerator))?"
)


def _in_digits(grid: Grid) -> Grid:
    """A grid whose cells have numbers for formulas that are numbers: `$5.51\\times10^{5}$`."""
    if not any("$" in cell.text for row in grid.rows for cell in row.cells):
        return grid
    rows = (
        replace(row, cells=tuple(
            cell._replace(text=in_letters(cell.text)) if "$" in cell.text else cell
            for cell in row.cells
        ))
        for row in grid.rows
    )  # fmt: skip
    return replace(grid, rows=tuple(rows))


def marked(lines: Sequence[Line]) -> list[Grid]:
    """Every table of a text that signs or blanks keep apart from the text around it; of two that
    share lines the one that stands first here is meant."""
    found = [
        *html_tables(lines),
        *wiki_tables(lines),
        *pipe_tables(lines),
        *compared(lines),
        *drawn_tables(lines),
        *barred_tables(lines),
        *rst_tables(lines),
        *latex_tables(lines),
        *ruled_tables(lines),
        *indexed_tables(lines),
        *aligned_tables(lines),
        *stacked_tables(lines),
        *value_blocks(lines),
        *listed_values(lines),
        *results_of_one_run(lines),
        *labelled_lines(lines),
        *summed_up(lines),
        *numbers_by_name(lines),
        *fenced_records(lines),
    ]
    return [*map(unset, found)]


def _all_pointed(found: Iterable[Grid], lines: Sequence[Line], *, declared: bool) -> Iterator[Grid]:
    """Grids with points for commas; where other tables of their document, or its text, have commas
    for points, one whose numbers with points are all in groups of three has thousands: `4.910`
    images/s below `Imagens/s`, above `61,4`."""
    short = [line.text for line in lines if len(line.text) <= LONGEST and "omma" in line.text]
    declares = any(map(_DECLARES_COMMAS.search, short))
    grids = [(grid, pointed(grid, so=declares)) for grid in found]
    in_groups = [pointed is grid and _in_groups(grid) for grid, pointed in grids]
    so = any(in_groups) and (
        any(pointed is not grid for grid, pointed in grids)
        or any(_SAID_SO.search(line.text) for line in lines if len(line.text) <= LONGEST)
    )
    for (_, grid), open_ in zip(grids, in_groups, strict=True):
        yield _in_thousands(grid, so=so, declared=declared) if open_ else grid


def _in_thousands(grid: Grid, *, so: bool, declared: bool) -> Grid:
    """A grid of numbers with points for which others of its document have commas; where nothing
    says so, or some of them are never counted in thousands, with labels that nothing is called by
    over those of which nobody knows: `4.910` images/s, where nothing else has a comma."""
    labels = grid.header()
    texts = [[row.cells[at].text.strip(" *_`") for row in grid.rows if at < len(row.cells)]
             for at in range(len(labels))]  # fmt: skip
    open_ = {at for at, column in enumerate(texts) if any(map(GROUPS.fullmatch, column))}
    decimal = {at for at in open_ if _OF_DECIMALS.search(labels[at])}
    if so and not decimal:
        return replace(grid, rows=tuple(map(with_points, grid.rows)))
    if declared or not grid.heads or grid.labels:
        return grid
    last = grid.heads[-1]
    cells = tuple(
        cell._replace(text=f"ambiguous points: {cell.text}") if at in open_ - decimal else cell
        for at, cell in enumerate(last.cells)
    )
    return replace(grid, heads=(*grid.heads[:-1], replace(last, cells=cells)))


_OF_DECIMALS = re.compile(
    r"(?<![A-Za-z/])(?:s|sek|secs?|h|[GT]i?B|Go)(?![\w/])|(?:Sekunden|segundos|secondes|secondi)\b|%"
    r"|MFU|[TP]FLOP",
    re.IGNORECASE,
)
"""In a label of what is never counted in thousands: seconds of a step, gigabytes, shares."""


def _in_groups(grid: Grid) -> bool:
    """Whether a grid has numbers with points below labels in another language, and each point may
    be one between thousands."""
    if not any(map(european, grid.header())):
        return False
    cells = (cell for row in grid.rows for cell in row.cells if "." in cell.text)
    texts = [cell.text.strip(" *_`") for cell in cells]
    numbers = [text for text in texts if _POINTED.fullmatch(text)]
    return bool(numbers) and all(map(GROUPS.fullmatch, numbers))


_POINTED = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)+(?:\s*[A-Za-zµ%/]+)?")

_SAID_SO = re.compile(
    r"(?<![\w.,])[0-9]{1,3}(?:\.[0-9]{3})*,[0-9]{1,2}(?![0-9,]|\.[0-9])[\s*_]*"
    r"(?:%|[x×]\b|[GMT]i?B\b|Go\b|ms\b|TFLOP|(?:Sekunden|Stunden|Minuten|segundos|horas|minutos"
    r"|secondes|heures|secondi|ore|veces|vezes|fois|volte|[Mm]illi|[Mm]io|[Mm]rd|Prozent|Punkte)\w*)"
)
"""A number of a text with a comma for its point, and what it is of."""

_OF_TENTHS = re.compile(r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})(?:\s*[A-Za-zА-Яа-я%]+)?")

_GROUPED = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+(?:\s*[A-Za-zА-Яа-я%]+)?")
"""A number with points for commas and a comma for its point: `48.211,5`."""


_DECLARES_COMMAS = re.compile(
    r"\b(?:decimal commas?|commas? (?:is|are) (?:the )?decimal|Dezimalkomma)\b", re.IGNORECASE
)
"""A text says of its numbers that they have commas for points."""


def pointed(grid: Grid, *, so: bool = False) -> Grid:
    """A grid with points for commas where its numbers have commas: `10,9` below labels in German or
    French, beside `24.100`, is 10.9 beside 24,100, and `1.482,6` is none but 1482.6 anywhere. So is
    `10,9` under a measured quantity in any language, and every number where the text says `so`.
    Where other columns have points, as sizes of models do, each is asked by itself: `1.3B | 41,3`.
    """
    texts = [cell.text for row in grid.rows for cell in row.cells]
    signs = [_GROUPED] if any("," in text and "." in text for text in texts) else []
    signs += [_OF_TENTHS] if so or any(map(european, grid.header())) or _tenths(grid) else []
    signs += [_OF_THOUSANDTHS] if so else []
    if not any(sign.fullmatch(text) for sign in signs for text in texts):
        return grid
    if decimal_commas(grid.rows):
        return replace(grid, rows=tuple(with_points(row) for row in grid.rows))
    columns = [[row.cells[at].text for row in grid.rows if at < len(row.cells)]
               for at in range(grid.width)]  # fmt: skip
    mine = {
        at for at, column in enumerate(columns)
        if any(sign.fullmatch(text) for sign in signs for text in column)
        and not any("." in text and _DIGIT.search(text) for text in column)
    }  # fmt: skip
    return replace(grid, rows=tuple(with_points(row, mine) for row in grid.rows))


_DIGIT = re.compile("[0-9]")


def _tenths(grid: Grid) -> bool:
    """Whether all numbers below the label of a measured quantity, two or more, have a comma before
    one or two last digits, which part no thousands."""
    for at, label in enumerate(grid.header()):
        column = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        numbers = [text for text in column if _DIGIT.search(text)]
        if len(numbers) > 1 and all(map(_TENTHS.fullmatch, numbers)) and said(label):
            return True
    return False


_TENTHS = re.compile(r"[1-9]?[0-9]{1,3},[0-9]{1,2}(?:\s*[A-Za-z%/]+)?|[1-9][0-9]{3,5},[0-9]{1,2}")

_OF_THOUSANDTHS = re.compile(r"[0-9]+,[0-9]{3}(?:\s*[A-Za-zА-Яа-я%]+)?")


@dataclass
class Place:
    """The text above a table: its heading, the lines below that, the headings around it."""

    heading: str = ""
    above: captions.Above = field(default_factory=captions.Above)
    titles: list[Line] = field(default_factory=list)
    near: deque[Line] = field(default_factory=lambda: deque(maxlen=NEAR))
    fenced: bool = False
    around: list[tuple[Line, list[str]]] = field(default_factory=list)  # headings, texts below them
    set_ups: dict[tuple[int, ...], list[str]] = field(default_factory=dict)
    """Texts below the last heading about the set-up, by the headings around it."""
    number: int = 0
    """Of the last line taken in."""
    over: bool = True
    """Whether numbered captions stand over their tables."""

    def __post_init__(self) -> None:
        self.above = self._captioned()

    def _captioned(self) -> captions.Above:
        return captions.Above(over=self.over)

    def declared(self) -> list[Line]:
        """Headings around its own that say over what their tables are, `Memory by sequence length`,
        and sentences below these that say in what a document measures."""
        found = [heading for heading, _ in self.around[:-1] if _OVER_WHAT.search(heading.text)]
        for heading, texts in self.around[:-1]:
            sentences = _SENTENCE.split(" ".join(texts))
            found += [heading._replace(text=s) for s in sentences if _DECLARES.search(s)]
        return found

    def measured(self) -> list[Line]:
        """Texts below headings about the set-up beside its own that give a rate its unit."""
        if not self.around:
            return []
        path, (heading, _) = tuple(title.number for title, _ in self.around), self.around[-1]
        return [
            heading._replace(text=text) for at, texts in self.set_ups.items()
            if path[: len(at)] == at for text in texts if "/s" in text or "per s" in text
        ]  # fmt: skip

    def texts(self) -> list[str]:
        """The texts below headings about the set-up beside its own, below its heading and those
        around that, as far as they are kept; the lines above it where it has no heading."""
        path = tuple(heading.number for heading, _ in self.around)
        set_up = [each for at, each in self.set_ups.items() if path[: len(at)] == at]
        every = [*set_up, *(texts for _, texts in self.around)]
        if not self.around:  # no heading at all
            every.append([line.text.strip() for line in self.near])
        return [text for texts in every for text in texts if len(text) <= LONGEST]

    def devices(self) -> int:
        """How many devices the lines above name, or else the headings around them; 0 where that is
        no one number."""
        for lines in (self.near, self.titles):
            found = {count for line in lines if (count := _devices_on(line.text))}
            if found:
                return int(found.pop().replace(",", "")) if len(found) == 1 else 0
        return 0

    def names(self) -> str:
        """All that the headings around a table and the lines above it say."""
        return "\n".join(line.text for line in (*self.titles, *self.near))

    def pass_over(self, lines: Sequence[Line]) -> None:
        """Take in lines that are no table; what stands in a block of code is no heading."""
        if lines and self.number and lines[0].number > self.number + 1:
            self.above.pass_table()
        for line in lines:
            if len(line.text) > LONGEST_ABOVE:
                continue
            above = self.around[-1][0] if self.around else line
            ruled = line.number == above.number + 1 and underlines(line.text, above.text)
            if line.text.lstrip().startswith(("```", "~~~")) and not ruled:
                self.fenced = not self.fenced
            said = None if self.fenced else _heading(line.text)
            if said:
                self.heading = said
            if said and said.lstrip().startswith("="):
                self.near.clear()  # what a program printed before is of another part
            if said and said.lstrip().startswith("#"):
                self.above, self.titles = self._captioned(), captions.nested(self.titles, line)
                kept = {title.number for title in self.titles}
                for depth, (title, texts) in enumerate(self.around):
                    if title.number not in kept and of_set_up(title.text.strip(" #*:")):
                        path = tuple(heading.number for heading, _ in self.around[:depth])
                        self.set_ups[path] = texts
                self.around = [each for each in self.around if each[0].number in kept]
                self.around.append((line, []))
                self.near.clear()
            else:
                whole, texts = self._carried_on(line), self.around[-1][1] if self.around else []
                if whole is not line and texts:
                    texts[-1] = whole.text.strip()
                elif self.around and len(texts) < NEAR:
                    texts.append(line.text.strip() or ".")
                self.above.add(line)
                self.near.append(whole)

    def _carried_on(self, line: Line) -> Line:
        """The line; behind the one above it, which is taken away, where that breaks off in a
        sentence that goes on here."""
        last, above = self.near[-1] if self.near else None, self.number
        self.number = line.number
        if last is None or self.fenced or line.number != above + 1 or not _GOES_ON.match(line.text):
            return line
        text = f"{last.text} {line.text.strip()}"
        if len(text) > LONGEST or not _BROKEN_OFF.fullmatch(last.text):
            return line
        self.near.pop()
        return last._replace(text=text)


_BROKEN_OFF = re.compile(r"(?!\s*(?:[|<#:]|\.\.|\+[-=]|[-=*_]{3})).{60,}[^\s.!?:;。！？：；|>\\]")
"""A line of prose that ends within a sentence, where its author's editor broke it."""

_GOES_ON = re.compile(r"\s{0,6}(?![-*+>|<#:~`]{1,3}\s|[|<#]|[0-9]+[.)]\s|\.\.\s|```|~~~)\S")

_SENTENCE = re.compile(r"(?<=[.;:])\s+")

_DECLARES = re.compile(
    r"\b(?:throughputs?|speeds?|performance|rates?|numbers?|values?|figures?|cells?|results?"
    r"|entries|times?|tables?|columns?)\b.{0,60}?\b(?:in|are|is|as|gives?|shows?|lists?|report(?:ed|s)?)\b",
    re.IGNORECASE,
)
"""A sentence that says in what the numbers below it are."""


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _devices_on(text: str) -> str | None:
    """How many devices a line names; one node is none of them."""
    text = _ONE_NODE.sub(" ", text)
    return counted_devices(text) or devices_in_all(text)


_ONE_NODE = re.compile(r"\b(?:single|one|1)[- ]node\b", re.IGNORECASE)


def _heading(text: str) -> str | None:
    """The text of a heading, or of a line in bold that stands for one."""
    found = _HEADING.match(text)
    return found[0] if found else None


_LEGEND = re.compile(
    r"[\s>*+-]*(?:(?:Legend|Key|Columns|Headers|Abbreviations|Notation|Units)\s?:\s+)?[`'\"“]?"
    r"\*{0,2}([A-Za-z][A-Za-z0-9_]{0,11}(?:/[A-Za-z]{1,5}){0,2})\*{0,2}[`'\"”]?\s*"
    r"(?:(?:below|here|columns?|in (?:the|all|these|this|both) (?:[a-z]+ )?tables?(?: below)?)"
    r" (?=is |means |denotes |stands ))?"
    r"(?::|：|=|--|–|—|\b(?:is|means|denotes|stands for|refers to)\b)\s*(?!\d)(.{4,160})"
)
"""A word and what it stands for, which is no number: a log says `step: 2/5100` in every line."""


_OVER_WHAT = re.compile(
    r"\b(?:by|over|across|against|vs\.?|versus) (?:the )?(?:sequence|context|batch|micro-?batch)"
    r"(?:[ -](?:lengths?|sizes?))?\s*$",
    re.IGNORECASE,
)

_OF_MEMORY = re.compile(
    r"(?<![A-Za-z])(mem|memory|显存(?:占用|用量|使用量)?|メモリー?|메모리|VRAM|vram)(?![A-Za-z])"
    r"(?! +\|[^|]*\bmem\b)"
    r"[^。.]{0,60}?"
    r"(?:单位[为是：:]?|単位(?:は|が|を|：|:)?|단위(?:는|:)?|\b[Uu]nits?(?: is| are|:)?)"
    r"\s*[`*]{0,2}([GM]i?B)(?![A-Za-z])"
)
"""A line that says in which unit a column of memory is: `mem … 显存，单位为GiB`; the sign of a row
of metrics and not its name, `メモリ | mem | … 単位は GiB`."""

_IN_BRACKETS = re.compile(
    r"(?:^|[，,；;、])\s*(显存)(?:占用|均?为|是|指"
    r"|取)[^。；;，,]{0,16}[（(]([GM]i?B)[)）]"
)
"""The same where the unit stands in brackets: `显存为峰值（GB）`."""

_OF_STEPS = re.compile(
    r"(?:单步|每(?:一?步|次迭代|轮迭代|个?(?:step|iter))|迭代|\b(?:step|iteration)\b|ステップ|스텝)"
    r"[^。|]{0,12}?(?:耗时|时间|用时|时长|時間|시간|\btime\b)"
    r".{0,80}?(?:单位[为是：:]?|単位(?:は|が|を|：|:)?|단위(?:는|:)?|\b[Uu]nits?(?: is| are|:)?)"
    r"\s*[`*]{0,2}(毫秒|秒|ミリ秒|밀리초|초|ms|s|milliseconds|seconds)(?![A-Za-z])"
)
"""A line that says in which unit times of a step are: `单步耗时 | iter | …，单位为秒`."""

_NAME_OF_STEPS = re.compile(
    r"(?:\|\s*|^[\s>*+-]*)[`*]{0,3}(?!(?i:units?)\b)([A-Za-z][A-Za-z_]{0,15})[`*]{0,3}\s*(?=[,，、(（|：:=]|$)"
)
"""The short name of what such a line is of, in a cell of its own or in front of all."""

_OF_RATES = re.compile(
    r"(吞吐[量率]?|训练速度|速度)(?:的|[^。；;|]{1,40}[，,、（(])?单位均?[为是：: ]\s*[`*]{0,2}"
    r"([A-Za-z]+(?:/[A-Za-z]+)+)(/卡|[（(](?:单|每)卡)?"
)
"""A line that says in which unit rates are: `吞吐率单位为 samples/s（全部 GPU 合计）`."""

_PER_DEVICE = re.compile(
    r"(?<![A-Za-z])(wps|WPS|tps|TPS)[)）*`]*(?:(?:\s+(?:is|are)(?:\s+\w+)?|\s*[:=,(])?\s+"
    r"[*_`]*per[ -](?:GPU|device|chip|accelerator|card|NPU)\b"
    r"|\s*[(（](?=[^()（）]{0,80}\bsec(?:ond)?\b)"
    r"(?:(?!\b(?:is|are|total|whole|all|divided?|not|or per|memory|MFU|T?FLOPS?)\b)"
    r"[^()（）|;:]){0,120}?\bper[ -](?:GPU|device|chip|accelerator|card|NPU)[*_`]*[)）]"
    r"|\s*[，,]?\s*(?:指的?是?|即|均?为|是)\s*(?:单|每)(?:张|个)?(?:卡|芯片|[NGT]PU)"
    r"|(?:(?!\b(?:total|whole|all|columns?)\b)[^.。]){0,120}?"
    r"\b(?:is|are|was|were) (?:already |then )?(?:divided|normali[sz]ed) by (?:the )?"
    r"(?:(?:total )?number of (?:GPU|device|chip|accelerator|card|NPU)s"
    r"|(?:GPU|device|chip|accelerator|card|NPU) count|world[ _]size)\b)"
)
"""A text that says of whom a rate is: `words per second (wps) per GPU`, `WPS is per GPU`,
`WPS (words per second, **per GPU**)`, `wps is words per second; it is divided by the number of
GPUs`."""

_IS_PER_DEVICE = re.compile(
    r"(?<![A-Za-z/])([A-Za-z]+/s(?:ec)?)(?:/[A-Za-z])?[*`_]*\s+(?:is|are)(?:\s+\w+)?\s+"
    r"[*_`]*per[ -](?:GPU|device|chip|accelerator|card|NPU|GCD)\b"
)
"""The same of a rate by its unit: `img/s/G is per GPU`."""

_RATE = (
    r"(?:tokens?|words?|samples?|sequences?|images?)(?:\s*/\s*|\s+per\s+)[A-Za-z]+"
    r"(?:(?:\s*/\s*|\s+per\s+)[A-Za-z]+)?"
)

_NAMED_SO = re.compile(
    rf"(?<![A-Za-z])({_RATE})\s*[(（][*`\"]*([A-Za-z]{{2,6}})[*`\"]*[)）]"
    rf"|(?<![A-Za-z,;\t])([A-Za-z]{{2,6}})[*`\"]*\s*[(（]\s*({_RATE})\s*[)）,;](?![,;\t]\S)",
    re.IGNORECASE,
)
"""A rate and its abbreviation, one in brackets behind the other: `tokens per second per GPU (TPS)`;
no label of a file of separated values, which is of another thing."""

_UNIT_BEHIND = re.compile(
    r"(?<![\w-])(throughput|speed)s?"
    r"(?: (?:is|are|was|were) (?!(?:higher|lower|better|worse|up|down)\b)"
    r"(?:(?!\b(?:inference|serving|generat\w+|decod\w+|prompt|than)\b)"
    r"(?:[^()|.;:0-9]|(?<=all |the )[0-9]{1,4}(?= [A-Z]))){1,60}?)?"
    rf" ?[(（][*`]*({_RATE})[*`]*[)）]",
    re.IGNORECASE,
)
"""The unit of a table's rate in brackets behind what is said of it: `Throughput is of all four GPUs
together (tokens/s)`."""

_BRACKET = re.compile("[(（]")

SHARE_OF_PEAK = "% of peak"

_SHARE = re.compile(
    r"(?:%|percent(?:age)?|fraction|share) of (?:the )?(?:\w+ )?peak\b[^.;]{0,40}?"
    r"(?:\b(?:is|are|means|equals)\b|=|i\.e\.,?)[^.;]{0,20}?\b(MFU|HFU)\b",
    re.IGNORECASE,
)
"""A sentence that says what a share of the peak is: `so the percentage of peak is an MFU`."""

_OF_THE_MODEL = re.compile(
    r"\b[TP]?flop(?:/|s\b|s/)\S*\s+(?:are|is|means?|refers? to|counts?)\s+"
    r"[*_]*model\s?[*_]*\s*flop",
    re.IGNORECASE,
)
"""A sentence that says of all operations of its document that they are the model's."""

OF_HARDWARE = "hardware FLOPs"
"""Rates of operations of a document that says of them that they count what is computed again."""

OF_A_MACHINE = "整机"
"""A rate of a whole machine: that of the job in a document whose runs are on one."""

MACHINE = re.compile(r"[\s,，、]*(?:整机|单机|每机|单节点|每节点)(?![多0-9])的?[\s,，、]*")
"""Words for a whole machine in the label of a rate: `吞吐(samples/s,整机)`, `单机吞吐`."""

_OF_WHOLE_MACHINE = re.compile(
    r"整机|[单每](?:机|节点)|\b(?:whole|entire) (?:node|machine|server|box|host|instance)\b"
)

SEVERAL_MACHINES = re.compile(
    r"(?:多|双|两|二|三|四|八|十|[2-9]|[0-9]{2,})\s*(?:台|机(?![器制])|个?节点)|节点数|机器数|集群"
    r"|\bmulti-?node\b|(?i:\bnodes\b)"
    r"|(?i:\b(?:across|over|between|several|multiple|many|all|both|two|three|four|eight|[2-9]|[0-9]{2,})"
    r" (?:[\w-]+ ){0,2}(?:machines|servers|hosts)\b)"
)
"""Words of runs on several machines; products of a maker are `servers` as well."""


def _of_a_machine(lines: Sequence[Line]) -> bool:
    """Whether a document speaks of rates of a machine and nowhere of several machines."""
    return any(_OF_WHOLE_MACHINE.search(line.text) for line in lines) and not any(
        SEVERAL_MACHINES.search(line.text) for line in lines
    )


_WITHOUT = re.compile(
    r"[ ,]+(?:without|not counting|excluding|computed|(?:as|just as) (?:reported|printed|logged"
    r"|shown|given|measured|written|it (?:is|stands))|taken from|read from"
    r"|\(?(?:from|in) (?:the|our|its) (?:train(?:ing)? )?logs?)\b.*"
)
"""Words that a legend adds to a quantity that it is named by."""

MOST_MEANT = 80
"""Letters of what a short word stands for."""

_MARKS = re.compile(r"[*`]")
"""Signs of emphasis in what a legend says."""

_FACTORS = re.compile(r"\W*([a-z](?: ?[x×] ?[a-z]){1,3})\W*")

_FACTOR = re.compile(r"\W*([a-z])\W*:\s*([A-Za-z][\w -]+)")

_FACTORS_BESIDE = re.compile(
    r"\W*?(?<![\w])(?P<product>[A-Za-z](?: ?[x×*·] ?[A-Za-z]){1,3})[*`_\")\]]{0,3}\s*"
    r"(?:[:=–—]| -(?= )|\bis\b|\bare\b|\bmeans\b|\bstands for\b)[*`_\s]*"
    r"(?P<meant>[A-Za-z][A-Za-z() ,*`_×·-]{3,120}?)[\s.;]*"
)
"""A product of letters and, behind it, one of what they stand for, or a list of that."""

_TIMES = re.compile(r"\s+[x×*·]\s+|\s*[×·]\s*|,\s*(?:and\s+)?|\s+and\s+")

_SIZED = re.compile(r"(?<=parallel) (?:sizes?|degrees?|ways?|dimensions?|world size)$")


def factors(lines: Sequence[Line]) -> tuple[str, ...]:
    """Fields that a legend gives the factors of a product: `d x m x p`, and each letter below it.

    >>> said = ["- **d x m x p**:", "- d: data-parallel-size", "- m: tensor-parallel-size"]
    >>> said += ["- p: pipeline parallel"]
    >>> factors([Line(n, text, 1, {}) for n, text in enumerate(said)])
    ('dp', 'tp', 'pp')
    """
    for at, line in enumerate(lines):
        if named := _beside(line.text):
            return named
        if not (found := _FACTORS.fullmatch(line.text)):
            continue
        letters = re.findall("[a-wyz]", found[1])
        found_in = [
            _FACTOR.fullmatch(each.text) for each in lines[at + 1 : at + 1 + 2 * len(letters)]
        ]
        told = {each[1]: configured_by(each[2].strip()) for each in found_in if each}
        names = tuple(told.get(letter) or "" for letter in letters)
        if all(names):
            return names
    return ()


def _beside(text: str) -> tuple[str, ...]:
    """Fields that a line gives the factors of a product itself.

    >>> _beside("- **d x t x p**: data parallel size x tensor parallel size x pipeline stages")
    ('dp', 'tp', 'pp')
    >>> _beside("`d x m x p`: data-parallel, tensor-model-parallel and pipeline-parallel size")
    ('dp', 'tp', 'pp')
    >>> _beside("- **m x n**: rows x columns"), _beside("- `a x b`: data parallel x data parallel")
    ((), ())
    """
    if len(text) > LONGEST or not ("aral" in text or "DP" in text):
        return ()
    found = _FACTORS_BESIDE.fullmatch(text)
    parts = _TIMES.split(found["meant"].strip()) if found else []
    letters = re.findall("[A-Za-wyz]", found["product"]) if found else []
    if len(parts) != len(letters) or not parts:
        return ()
    if re.search(r"parallel\w*$", parts[-1]):  # `data x tensor x pipeline parallelism`
        parts = [
            f"{part} parallel" if part.isalpha() and part.islower() else part for part in parts
        ]
    names = tuple(_degree(part) for part in parts)
    return names if all(names) and len(set(names)) == len(names) else ()


def _degree(text: str) -> str:
    """The field of a degree of parallelism by its name; empty for what is none."""
    name = configured_by(_SIZED.sub("", text.strip(" *`_").casefold()))
    return name if name in ("tp", "pp", "dp", "cp", "ep", "vp") else ""


def explained_times(lines: Sequence[Line], grid: Grid, first: int) -> dict[str, str]:
    """Bare labels of times as the text around a table explains them: `Time is per iteration` in its
    section, or in front of the `first` table of the document.

    >>> lines = [Line(1, "Times are of one training step.", 1, {})]
    >>> table = [Line(n, text, 1, {}) for n, text in enumerate(("|Time|a|", "|---|---|", "|1|2|"))]
    >>> grid = next(iter(grids([*lines, *table], "a.md")))
    >>> sorted(explained_times(lines, grid, 1))
    ['Time', 'Times', 'time']
    """
    if not any("time" in label.casefold() for label in grid.header()):
        return {}
    begin, end = max(0, grid.begin - 1), grid.end
    while begin and not lines[begin].text.startswith("#"):
        begin -= 1
    while end < len(lines) and not lines[end].text.startswith("#"):
        end += 1
    texts = (line.text for line in (*lines[:first], *lines[begin:end]) if "ime" in line.text)
    so = any(
        (found := _TIMES_ARE.match(sentence)) and _OF_A_STEP.match(sentence, found.end())
        for text in texts if len(text) <= LONGEST
        for sentence in _ENDED.split(text)
    )  # fmt: skip
    return dict.fromkeys(("Time", "Times", "time"), "time per step") if so else {}


_TIMES_ARE = re.compile(
    r"[\s>*+-]*(?:all )?(?:the )?[*`]{0,2}times?[*`]{0,2}(?: \((?:in )?[a-z]{1,12}\))?"
    r"(?:\s?[:=]| (?:is|are))"
    r" (?:(?:always|all|given|measured|reported|shown|taken|in [a-z]{1,12}|that|those)[ ,]+){0,3}"
    r"(?=(?:of|per|for) )",
    re.IGNORECASE,
)
"""In front of what times are of: `All times are per training step`."""


def legend(lines: Sequence[Line]) -> dict[str, str]:
    """Abbreviations that a document explains with a quantity: `tpgps`: tokens per GPU per second.

    >>> legend([Line(1, "  - `tpgps`: tokens per GPU per second", 1, {})])
    {'tpgps': 'tokens per GPU per second'}
    >>> legend([Line(1, "All is per GPU, so the percentage of peak is an MFU.", 1, {})])
    {'% of peak': 'MFU'}
    >>> legend([Line(1, "`d x m x p` is data x tensor(model) x pipeline parallelism", 1, {})])
    {'d x m x p': 'DP x TP x PP'}
    >>> legend([Line(1, "Key: b = micro-batch size, t/s/d = tokens per second per device.", 1, {})])
    {'b': 'micro-batch size', 't/s/d': 'tokens per second per device'}
    """
    found = {OF_A_MACHINE: "total"} if _of_a_machine(lines) else {}
    keys = keyed(lines)
    found |= of_one_device(keys) | keys
    for line in lines:
        if len(line.text) > LONGEST:
            continue
        line = line._replace(text=_NUMBER_OF_TABLE.sub("", line.text))  # noqa: PLW2901
        if "=" in line.text:
            named = {m[2]: m[1] for m in _BY_LETTER.finditer(line.text)}
            found |= {n: meant for n, meant in named.items() if configured_by(meant)}
        if "$" in line.text:
            named = _of_signs(_OF_FORMULAS, line.text)
            found |= {in_letters(n): meant for n, meant in named.items()}
            line = line._replace(text=in_letters(line.text))  # noqa: PLW2901
        if _TOLD_LETTER.search(line.text):
            named = _of_signs(_OF_BARE_LETTERS, line.text)
            found |= named if len(named) > 1 else {}
        if _SIGNED.search(line.text):
            told = {m[1]: m[2] for m in _OF_LETTERS.finditer(line.text) if configured_by(m[2])}
            found |= {label: meant for n, meant in told.items() for label in (n, f"*{n}*")}
        found |= _parameters_in(line.text)
        found |= _letters(line.text)
        found |= _marked_in(line.text)
        found |= _units_in(line.text) if line.text.startswith("#") else {}
        found |= {m[1]: m[2] for m in _ALIAS.finditer(line.text) if configured_by(m[2])}
        words = line.text.casefold()  # words of the patterns, which few lines have
        told = dict(reversed(list(_with_units(line.text, words))))  # the first of a name counts
        whose = {name: meant for name, meant in told.items() if meant == f"{name} per GPU"}
        found = {**told, **found, **whose}  # whose a rate is, behind what it is of
        if "peak" in words and (share := _SHARE.search(line.text)):
            found.setdefault(SHARE_OF_PEAK, share[1].upper())
        elif "flop" in words and _OF_THE_MODEL.search(line.text):
            found.setdefault(SHARE_OF_PEAK, "MFU")
        elif "flop" in words and of_hardware(line.text):
            found.setdefault(OF_HARDWARE, ANOTHER)
        text = _REMARK.sub("", line.text)
        for sentence in _ENDED.split(text) if _ENDS.search(text) else (text,):
            for name, meant in _entries(sentence):
                found.setdefault(name, meant)
    for name, meant in chain(_wrapped_entries(lines), _in_two_columns(lines), _noted(lines)):
        found.setdefault(name, meant)
    own = _same_everywhere(found, lines)
    return {**_times_in(lines), **quoted_labels(lines), **letters_in(lines), **own}


def _times_in(lines: Sequence[Line]) -> dict[str, str]:
    """Labels of times of a step that a document gives one unit in a sentence: `Time per batch is in
    seconds.`; none where it gives two.

    >>> _times_in([Line(1, "Step time is in seconds, MFU in percent.", 1, {})])["Step time"]
    'Step time (s)'
    >>> _times_in([Line(1, "Step time is in seconds. Step time is in ms.", 1, {})])
    {}
    """
    told = [
        (found[1].casefold(), "ms" if found[2].casefold().startswith("m") else "s")
        for line in lines if len(line.text) <= LONGEST
        for found in _TIMES_IN.finditer(line.text)
    ]  # fmt: skip
    units = {unit_ for _, unit_ in told}
    return {
        spelt: f"{spelt} ({unit_})"
        for name, unit_ in told if len(units) == 1
        for spelt in (name, name.capitalize(), name.title())
    }  # fmt: skip


_TIMES_IN = deferred(
    r"(?:^|[.;:] )[\W_]{0,6}(?:(?:the|all|our|average|mean|median) ){0,2}"
    r"((?:time per (?:step|iteration|batch)|(?:step|iteration|batch)[ -]times?))[`*\"]{0,2}"
    r" (?:is|are)(?: (?:all|always|given|measured|reported|shown|listed))* in"
    r" (ms|msec|milliseconds|s|secs?|seconds)\b(?! ?(?:per|/))",
    re.IGNORECASE,
)
"""A sentence that gives times of a step their unit."""


_NUMBER_OF_TABLE = re.compile(
    r"\s{0,4}[*_]{0,3}(?:Table|Tab\.|表) ?[0-9]{1,2}(?:[.:：][*_]{0,3}|[*_]{1,3}[.:：])"
    r"\s{0,3}[*_]{0,2}"
)
"""In front of what a caption explains: `**Table 1:** *wps = …`."""


_REMARK = re.compile(r"^#+ *(?=[a-z][\w/]{0,11}\s*(?:is|are|means|=|:)\s)")
"""The sign of a comment that explains a label: `# t is milliseconds per iteration`."""


def _of_signs(form: re.Pattern[str], text: str) -> dict[str, str]:
    """Meanings of signs in a line, with the power of ten in which their numbers are."""
    named = {m[1]: (m[2], m[3]) for m in form.finditer(text) if configured_by(m[2])}
    return {
        sign: f"{meant} ({power[0].upper()})" if power else meant
        for sign, (meant, power) in named.items()
    }


def _noted(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Labels whose raised number leads to a note that says their unit: `吞吐速度<sup>1</sup>` above
    ``1. 单位为 `tokens/card/sec` ``."""
    notes = {found[1]: found[2] for line in lines if (found := _UNIT_NOTE.match(line.text))}
    for line in lines if notes else ():
        for label, number in _RAISED.findall(line.text) if "|" in line.text else ():
            if number in notes:
                yield label.strip(" *`"), f"throughput ({notes[number]})"


_UNIT_NOTE = re.compile(
    r"\s*(?:[>*-]\s+)?(?:<sup>\s*|\[\^)?([0-9]{1,2})(?:\s*</sup>|\]:?|[.)、])\s*"
    r"单位(?:均?为|是|[:：])\s*[`*]{0,2}([A-Za-z]+(?:/[A-Za-z]+)+)"
)

_RAISED = re.compile(r"([^|<>\[\]]{1,24})(?:<sup>\s*|\[\^)([0-9]{1,2})(?:\s*</sup>|\])")


def _same_everywhere(found: Mapping[str, str], lines: Sequence[Line]) -> dict[str, str]:
    """A legend without words for how fast something was of which two sections say two units."""
    generic = {name for name in found if name.casefold() in GENERIC}
    for line in lines if generic else ():
        text = line.text[:LONGEST]
        for told in (*_IN_ITS_UNIT.finditer(text), *_UNIT_BEHIND.finditer(text)):
            generic = {n for n in generic if n.casefold() != told[1].casefold()
                       or said(told[2]) == said(found[n])}  # fmt: skip
    return {name: meant for name, meant in found.items()
            if name in generic or name.casefold() not in GENERIC}  # fmt: skip


_IN_ITS_UNIT = re.compile(
    r"\b(throughput|speed|performance|rate|pace)(?: (?:is|are|was|were|measured|given|reported))*"
    r" in ((?:thousand |million )?[a-z]{3,16}(?:/| per )[a-z]+(?:(?:/| per | and )[a-z]+)?)",
    re.IGNORECASE,
)
"""The unit of a table's rate, as the text above each says it."""


def _in_two_columns(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """The words that a list below `columns` explains, each in front of its meaning: `mem   peak
    allocated GB`."""
    open_ = False
    for line in lines:
        text = line.text
        if not text.strip() or len(text) > LONGEST:
            open_ = False
        elif _OF_COLUMNS.fullmatch(text):
            open_ = True
        elif open_ and (found := _BESIDE.fullmatch(text)):
            first = found[2].partition(":")[0].strip()
            meant = _meaning(found[2]) or _meaning(first) or (first if configured_by(first) else "")
            if meant:
                yield found[1], meant


_OF_COLUMNS = re.compile(
    r"\W*(?:the )?(?:columns|legend|abbreviations|keys?|fields|headers?|Spalten|Legende|colonnes"
    r"|列)\W*",
    re.IGNORECASE,
)

_BESIDE = re.compile(r"\s*([A-Za-z][\w/#%.-]{0,14})(?:\s{2,}|\s)([A-Za-z].{2,100})")


def _wrapped_entries(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """The words that sentences explain that go on in the line below."""
    texts = ((line.number, line.text) for line in lines
             if len(line.text) <= LONGEST and not line.text.lstrip().startswith("|"))  # fmt: skip
    for numbers, text in paragraphs(texts):
        if len(numbers) > 1 and _EXPLAINS.search(text):
            for sentence in _ENDED.split(text):
                yield from _entries(sentence)


_EXPLAINS = re.compile(r"[*`\"'“][*`\"'”]{0,3}\s(?:is|means|denotes|stands for|refers to|counts)\s")
"""A word that stands in signs, and that a sentence explains: `*acc* is the number of`."""


def _entries(sentence: str) -> Iterator[tuple[str, str]]:
    """The words that a sentence explains, each with its meaning. Where it spells out one short name
    of a degree as another thing, those beside it are of no layout either."""
    entries = _EQUATED.split(sentence)
    found = [_LEGEND.fullmatch(_last_clause(entry).rstrip(" .;")) for entry in entries]
    others = any(match and _is_another(match[1], match[2]) for match in found)
    for match in found:
        meant = _meaning(match[2]) if match else ""
        if match and not meant:
            meant = _of_its_unit(match[1], match[2])
        if match and meant and match[1] not in "Bb" and (size := unit(match[1])) and size.si == "B":
            meant = f"{meant} ({match[1]})"  # `gb` is the peak memory
        if match and meant:
            yield match[1], meant
        elif match and (
            _is_another(match[1], match[2]) or (others and _no_layout(*match.groups()))
        ):
            yield match[1], ANOTHER


def _is_another(short: str, text: str) -> bool:
    """Whether a text spells out the short name of a degree or a utilisation as another thing."""
    return short in DEGREES and _stands_for(short, text)


def _no_layout(short: str, text: str) -> bool:
    """Whether a text says of the short name of a degree something in words, and nothing of a
    layout."""
    return short in DEGREES and text[:1].isalpha() and not _OF_LAYOUT.search(text)


def _of_its_unit(unit_of: str, text: str) -> str:
    """The rate that a unit as a label counts, where a text says whose it is, or that it is a peak,
    or of a step: `tok/s = both cards together, GB = peak on the fuller card, ms = one step`."""
    if "/" in unit_of:
        whole = _TOGETHER.fullmatch(text) and said(f"{unit_of} total")
        return f"{unit_of} total" if whole else ""
    size = unit(unit_of)
    if size and size.si == "s":
        return f"time per step ({unit_of})" if _OF_A_STEP.match(text) else ""
    return "peak memory" if size and size.si == "B" and _A_PEAK.fullmatch(text) else ""


_CARDS = r"(?:GPUs|cards|devices|accelerators|chips|NPUs|GCDs|ranks)"

_TOGETHER = re.compile(
    rf"(?:(?:summed|added up|added|total(?:led)?|aggregated?|the sum|sum|together)\s)?"
    r"(?:(?:over|of|across|for|on|from)\s)?"
    rf"(?:both|all(?: of)?(?: the)?(?: [0-9a-z]{{1,5}})?)\s{_CARDS}"
    rf"(?:\s(?:together|combined|summed|added(?: up)?|in total|in sum))?",
    re.IGNORECASE,
)
"""Whose a rate is: `both cards together`, `summed over all GPUs`."""

_OF_A_STEP = re.compile(
    r"(?:(?:the )?(?:(?:median|mean|average|avg\.?|wall[- ]clock|total) )*"
    r"(?:(?:time|duration|latency|length) )?(?:of|for|per) )?"
    r"(?:(?:an?|one|each|every|a single|the (?:whole|full)) )?"
    r"(?:(?:full|whole|complete|global|optimi[sz]er|training) )*(?:step|iteration|update)\b"
    r"(?=\s*(?:$|[,.;(])|\s(?:incl|excl|with|over|averaged|as|from|between|on|without)\b"
    r"|\s(?:incl|excl)(?:\.|uding))",
    re.IGNORECASE,
)
"""A text that says that times are of a step: `one optimizer step incl. all micro-steps`."""

_A_PEAK = re.compile(
    r"(?:the )?(?:peak|maximum|max|highest|most)(?: (?:value|use|usage|allocated|reserved|taken))?"
    r"(?: (?:on|of|over|per|across|in)\b[a-z0-9 ]{1,30}"
    r"\b(?:GPUs?|cards?|devices?|chips?|ranks?|NPUs?|one))?",
    re.IGNORECASE,
)
"""A text that says how bytes of a device were counted, and not that they are memory."""

_EQUATED = re.compile(
    r"[,;]\s+(?=[*`\"']{0,2}[A-Za-z][A-Za-z0-9_]{0,11}(?:/[A-Za-z]{1,5}){0,2}[*`\"']{0,2}"
    r"(?: ?= ?|: )[A-Za-z])"
)
"""Between two words of one sentence that are explained: `TF = TFLOP/s per GPU, step = seconds`."""


def _parameters_in(text: str) -> dict[str, str]:
    """Labels of parameters in what a line says that they are counted in."""
    sized = _PARAMETERS_IN.search(text) if "aram" in text else None
    many = "M" if sized and sized[1].casefold().startswith("m") else "B"
    return dict.fromkeys(_CALLED_PARAMETERS, f"Params ({many})") if sized else {}


_PARAMETERS_IN = re.compile(
    r"\b(?:param(?:eter)?s?|(?:model|parameter) (?:sizes?|counts?))\b[*`_\"]{0,3}"
    r"(?:,? (?:(?:is|are|was|were|columns?|counts?|given|counted|listed|always) ){0,3}\(?in )"
    r"[*`_\"]{0,3}(millions?|M|billions?|B)\b(?![/-])",
    re.IGNORECASE,
)
"""A text that says in what parameters are counted: `Params are in M, FLOPs in G.`"""

_CALLED_PARAMETERS = (
    "Params", "params", "Param", "#Params", "# Params", "#params", "Param.", "Params.",
    "Parameters", "parameters", "# params", "#Param", "#param", "#Param.", "#Parameters",
    "# Parameters",
)  # fmt: skip

_BY_LETTER = deferred(
    r"\b((?:micro|global|local|mini)[- ]?batch(?:[ -]size)?|sequence length|context length"
    r"|hidden size|batch size per (?:GPU|device)) ([A-Za-z]) ?= ?[0-9]"
)
"""A letter that a setting is called by: `micro batch B=16`."""

_OF_FORMULAS = deferred(
    r"(\$[A-Za-z][\w{}\\]*\$)(?: ?[=:]|,)? ?(?:(?:be|is|are|denotes?|for|stands for) )?"
    r"(?:the |our )?"
    r"((?:[a-z][a-z-]* ){0,3}?(?:batch|micro-?batch|sequence length|context length|parameters"
    r"|accumulation steps|layers|hidden size|heads|experts|GPUs|devices|pipeline stages)"
    r"(?: size)?)\b(?: \(?in (billions?|millions?|[BM]\b))?"
)
"""A symbol and its meaning: `$B$ the global batch in sequences, $b$ the micro-batch`."""


_TOLD_LETTER = re.compile(
    r"(?<![\w$*`'’.-])[B-HJ-Zb-hj-z] (?:is|denotes|stands for|=) (?:the )?[a-z]"
)

_OF_BARE_LETTERS = deferred(
    r"(?<![\w$*`'’.-])([B-HJ-Zb-hj-z])(?: ?[=:] ?| (?:(?:is|denotes|stands for|for) )?)"
    r"(?:the |our )?"
    r"((?:[a-z][a-z-]* ){0,3}?(?:batch|micro-?batch|sequence length|context length|parameters"
    r"|accumulation steps|layers|hidden size|heads|experts|GPUs|devices|nodes|pipeline stages)"
    r"(?: size)?)\b(?: \(?in (billions?|millions?|[BM]\b))?"
)
"""The same of letters that nothing marks: `N is the number of parameters, B the global batch`."""

_SIGNED = re.compile(r"[*_`][A-Za-z][*_`]")

_OF_LETTERS = deferred(
    r"(?<![\w*`])[*_`]{1,3}([A-Za-z])[*_`]{1,3}[*_`]?\s*"
    r"(?::|=|–|—|\bis\b|\bdenotes\b|\bstands for\b)\s*(?:the |our )?"
    r"((?:[a-z][a-z-]* ){0,3}?(?:batch(?:[ -]size)?|micro-?batch(?:[ -]size)?|sequence length"
    r"|context length|accumulation steps|layers|hidden size|heads|experts|GPUs|devices))\b",
    re.IGNORECASE,
)
"""A letter in emphasis and its meaning: `*b*: micro-batch size, *B*: global batch size`."""


def units_of_code(lines: Sequence[Line]) -> dict[str, str]:
    """Units that code on a page makes of bytes of memory, where it takes powers of two for them.

    >>> units_of_code([Line(1, "peak = torch.cuda.max_memory_allocated() / 2**20", 1, {})])
    {'MB': 'MiB'}
    >>> units_of_code([Line(1, "mem = stats.memory_used / 1024 / 1024 / 1024", 1, {})])
    {'GB': 'GiB'}
    >>> units_of_code([Line(1, "max_memory_allocated() / 1e9", 1, {})])
    {}
    """
    found = dict[str, str]()
    for line in lines:
        if "memory" not in line.text or not (made := _BY_POWERS_OF_TWO.search(line.text)):
            continue
        thrice = made["power"] in ("30", "3") or made["again"] or made["whole"] == "1073741824"
        found |= {"GB": "GiB"} if thrice else {"MB": "MiB"}
    return found


def asked_allocator(lines: Sequence[Line]) -> Sequence[str]:
    """Questions of code on a page to the allocator of a device, as a text that speaks of memory.

    >>> asked_allocator([Line(1, "m = torch.cuda.max_memory_allocated() / 2**30", 1, {})])
    ('memory of the device',)
    """
    return ("memory of the device",) if any(_ALLOCATOR.search(line.text) for line in lines) else ()


_ALLOCATOR = re.compile(r"\bmax_memory_(?:allocated|reserved)\(|\bpeak_bytes_in_use\b")


_BY_POWERS_OF_TWO = re.compile(
    r"memory\w*[\"']?\]?(?:\([^()]*\))?\s*/+\s*\(?(?:(?:(?:2|1024)(?:\.0)?\s*\*\*|1\s*<<)\s*"
    r"(?P<power>[23]0|[23])\b|1024(?:\.0)?\s*[*/]\s*1024(?:\.0)?(?P<again>\s*[*/]\s*1024)?"
    r"|(?P<whole>1048576|1073741824))"
)


_EQUALS = re.compile(r"[A-Za-z]\w* ?= ?[a-z]")


def _last_clause(sentence: str) -> str:
    """The part behind the last semicolon of a sentence, where that says what a word equals:
    `1000 steps; qps = samples per second of all GPUs`."""
    first, _, last = sentence.rpartition(";")
    return last.strip() if first and _EQUALS.match(last.strip()) else sentence


_ALIAS = re.compile(r"`([a-z][\w ]{0,20})` (?:is|means|=) `([a-z]\w+)`")
"""A label and the setting of a program that it is: `batch` is `per_device_train_batch_size`."""

ANOTHER = "another thing"
"""Meaning of a label that names a field elsewhere, and not in this document."""

_OF_LAYOUT = re.compile(
    r"parallel|tensor|pipeline|degree|expert|context|virtual|stage|sequence|并行|並列|utili[sz]|flop"
    r"|shard|replica|ranks?\b|ways?\b",
    re.IGNORECASE,
)


def _stands_for(short: str, text: str) -> bool:
    """Whether a text spells out an abbreviation as something that is no layout and no utilisation.

    >>> _stands_for("EP", "number of epochs"), _stands_for("EP", "expert parallelism")
    (True, False)
    >>> _stands_for("MFU", "what we log as `throughput/mfu`")  # itself, again
    False
    """
    text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(short)}(?![A-Za-z0-9])", " ", text, flags=re.I)
    letters = r"(?:\w*|\w*\W+)".join(re.escape(letter) for letter in short)
    spelled = re.search(rf"\b{letters}", text, re.IGNORECASE) is not None
    return spelled and not _OF_LAYOUT.search(text)


_UNIT_WORDS = ("单位", "単位", "단위", "unit")


def _of_one(text: str, words: str) -> Iterator[tuple[str, str]]:
    """Names that a line says to be of one device, or of one step."""
    if ("wps" in words or "tps" in words) and (of_one := _PER_DEVICE.search(text)):
        for spelt in (of_one[1].upper(), of_one[1].lower()):
            yield spelt, f"{spelt} per GPU"
    if "per" in words and (of_one := _IS_PER_DEVICE.search(text)):
        yield of_one[0].split("*")[0].split()[0], f"{of_one[1]} per GPU"


def _with_units(text: str, words: str) -> Iterator[tuple[str, str]]:
    """Names that a line gives a unit, or a device, and what they mean with it."""
    in_units = any(word in words for word in _UNIT_WORDS)
    if in_units and (rated := _OF_RATES.search(text)):
        yield rated[1], f"throughput ({rated[2]}{'/GPU' if rated[3] else ''})"
    if in_units and (timed := _OF_STEPS.search(text)):
        size = "ms" if timed[1][:1] in "毫ミ밀m" else "s"
        if named := _NAME_OF_STEPS.search(text):
            yield named[1], f"step time ({size})"
    taken = _OF_MEMORY.search(text) if in_units else None
    taken = taken or (_IN_BRACKETS.search(text) if "显存" in words else None)
    if taken:
        yield taken[1], f"memory ({taken[2]})"
    yield from _of_one(text, words)
    in_cells = any(sign in words for sign in ("|", "<td", "<th"))
    if in_cells or not ("per " in words or "/s" in words) or not _BRACKET.search(words):
        return
    for told in _NAMED_SO.finditer(text):
        name, phrase = (told[2], told[1]) if told[2] else (told[3], told[4])
        for spelt in (name, name.upper(), name.lower()) if said(phrase) else ():
            yield spelt, phrase
    for rated in _UNIT_BEHIND.finditer(text):
        if said(rated[2]):
            yield rated[1], rated[2]


_ENDS = re.compile(r"[.;] |[；。]")

_ENDED = re.compile(r"(?<=[\w)])[.;] +(?=[A-Z*`]|[a-z]{1,6} ?= ?[a-z])|[；。]")


def _meaning(text: str) -> str:
    """The quantity that a short word stands for, and whose it is; empty where it is none."""
    whole = _WITHOUT.sub("", _MARKS.sub("", text))
    first, _, rest = whole.replace("，", ",").partition(",")
    whose = " per GPU" if _OF_ONE_CARD.match(rest) else ""
    ways = dict.fromkeys((whole, first + whose, _remarked(whole), _remarked(first)))
    short = [each for each in ways if len(each) <= MOST_MEANT]
    told = next(filter(said, short), "")
    return told or next((name for form, name in _DEFINITIONS if form.match(whole)), "")


def _remarked(text: str) -> str:
    """The words of a meaning in the order of labels, without what brackets add: `the mean time of
    one step in seconds` is `time per step in seconds`.

    >>> _remarked("seconds per iteration (one optimizer step)"), _remarked("the time of one step")
    ('seconds per iteration', 'time per step')
    """
    plain = _IN_ROUND.sub("", text).strip()
    if not (found := _TIME_OF_ONE.fullmatch(plain)):
        return plain
    size = found["unit"] or found["behind"]
    return f"time per {found['thing']}" + (f" in {size}" if size else "")


_IN_ROUND = re.compile(r"\s*\([^()]*\)")

_TIME_OF_ONE = re.compile(
    r"(?:the )?(?:(?:mean|average|median|measured|wall[- ]clock|total) )*(?:time|duration)"
    r"(?: in (?P<unit>seconds|milliseconds|ms|s))? (?:of|for|per|that) "
    r"(?:an?|one|each|every|a single)(?: (?:full|whole|complete|optimi[sz]er|training|global))*"
    r" (?P<thing>step|iteration|update)(?: takes)?(?:,? in (?P<behind>seconds|milliseconds|ms|s))?",
    re.IGNORECASE,
)


_DEFINITIONS = [
    (
        re.compile(
            r"(?:the )?(?:number of |how many )?"
            r"(?:(?:micro-?|mini-?)?batches|steps|passes|backward passes)"
            r" (?:that are |which are |are |we )?(?:accumulated?|summed)\b(?! over)",
            re.IGNORECASE,
        ),
        "gradient accumulation",
    ),
    (
        re.compile(
            r"(?:the )?(?:number of |how many )?"
            r"(?:sequences|samples|images|utterances|sentences|examples)"
            r" (?:on|per|for|in|of) (?:(?:one|an?|each|every|a single|1) )?"
            r"(?:GPU|device|card|chip|rank|NPU|accelerator)\b(?!\s*(?:per|a|each|and)\b)",
            re.IGNORECASE,
        ),
        "micro batch size",
    ),
    (
        re.compile(
            r"(?:what|(?:the )?(?:number of|how many) (?:sequences|samples|images|examples)"
            r"(?: that)?)"
            r" (?:\w+ ){0,4}?(?:in|into|through|per|at|of|for) "
            r"(?:(?:one|an?|each|every|a single|1) )?forward(?:[ /-](?:and[ -])?backward)?"
            r"(?:[ -]pass)?\b",
            re.IGNORECASE,
        ),
        "micro batch size",
    ),
    (
        re.compile(
            rf"(?:the )?how many (?:of (?:the|our|these) (?:\w+ )?)?{_CARDS}\b", re.IGNORECASE
        ),
        "number of GPUs",
    ),
]
"""Sentences that explain a word, each with the label that says the same."""


_OF_ONE_CARD = re.compile(r"\s*(?:单卡|每卡|per (?:GPU|device|card|NPU))")

_WITHOUT_ROOM = (
    r"(?:(?i:out[ -]of[ -](?:GPU |device )?memory|OOM(?:ed)?\b)|[显内]存(?:不足|溢出|不够)|爆显存"
    r"|メモリ不足|(?:did|does|do|would|could)(?:n['’]t| not) fit"
    r"(?= (?:on|in|into|are|were|is|was)\b|[\s*_]*(?:[.,;:)]|$)))"
)

_CROSSES = "[✗✘✖❌❎⛔🚫💥🔴🟥]\ufe0f?"

_A_SIGN = (
    rf"(-{{1,3}}|{_CROSSES}|[–—×xX/]|[nN]/?[aA]|[Nn]a[Nn]"
    r"|(?i:(?:an? |the )?(?:(?:en |em )?dash(?:es)?|hyphens?|cross(?:es)?|slash(?:es)?)(?![\w-])))"
)

_NO_ROOM = re.compile(
    rf"(?:^|[\s(>，。；,;])[*_`\"'“]*{_A_SIGN}[*_`\"'”]*\s*"
    r"(?:(?:rows?|cells?|entries|values|runs)\s*)?(?:in (?:the|this|these) tables?\s*)?"
    r"(?:means?|denotes?|indicates?|stands? for|marks?|are|is|were|was|ran|went|[=:：]|表示|代表"
    r"|为|是)"
    r"\s*(?:that )?(?:an? |the |where |what |runs that )?"
    rf"(?:[\w ]{{0,24}}\b)?{_WITHOUT_ROOM}"
    rf"|{_WITHOUT_ROOM}[\w ]{{0,24}}? (?:marked|shown|given|denoted|indicated|written|noted)"
    rf"(?: (?:as|with|by))? [*_`\"'“]*{_A_SIGN}(?=[*_`\"'”\s.,;:)]|$)"
    rf"|^[^|]*?({_CROSSES})[*_`\"'”]*(?:\s?[(–—-])?\s?(?:runs? |it )?{_WITHOUT_ROOM}(?=[^|]*$)"
)

_IN_WORDS = {
    "dash": ("-", "--", "–", "—"), "hyphen": ("-",), "cross": ("×", "✗", "x", "X"), "slash": ("/",),
}  # fmt: skip
"""Signs by their names."""


def no_room(lines: Sequence[Line]) -> frozenset[str]:
    """Signs by which a document says that memory was not enough.

    >>> sorted(no_room([Line(1, "**-** in the table means out of memory.", 1, {})]))
    ['-']
    >>> sorted(no_room([Line(1, "Runs that did not fit are marked with a cross.", 1, {})]))
    ['X', 'x', '×', '✗']
    >>> sorted(no_room([Line(1, "✅ fits, 💥 out of memory", 1, {}), Line(2, "|❌ OOM|", 1, {})]))
    ['💥']
    """
    texts = [line.text for line in lines if len(line.text) <= LONGEST]
    signs = (each for text in texts for found in _NO_ROOM.findall(text) for each in found if each)
    return frozenset(each for sign in signs for each in _signs(sign))


def _signs(text: str) -> tuple[str, ...]:
    """A sign, or those of its name."""
    named = _SIGN_NAMED.search(text) if len(text) > len("---") else None
    return _IN_WORDS[named[0].casefold()] if named else (text,)


_SIGN_NAMED = re.compile("|".join(_IN_WORDS), re.IGNORECASE)


_COMPOSED = re.compile(r"(?<![A-Za-z0-9])[a-z](?:\s?[x×/]\s?[a-z]){1,3}(?![A-Za-z0-9])")

_KINDS = {
    "data": "DP", "tensor": "TP", "model": "TP", "pipeline": "PP", "context": "CP", "expert": "EP",
}  # fmt: skip


def _letters(text: str) -> dict[str, str]:
    """A label of single letters that a line explains, one kind of parallelism for each."""
    found = _COMPOSED.search(text)
    if found is None:
        return {}
    words = re.findall("|".join(_KINDS), text[found.end() :], re.IGNORECASE)
    kinds = list(dict.fromkeys(_KINDS[word.casefold()] for word in words))
    letters = re.findall("[a-z]", found[0].replace(" x ", " ").replace("×", " "))
    return {found[0]: " x ".join(kinds)} if len(kinds) == len(letters) else {}


_UNITS_OF = re.compile(
    r"(?:^#+|[;,])\s*(\w+)\s*[:=]\s*([GM]i?B|seconds|milliseconds|ms|s)"
    r"(?: per (?:[GNT]PU|device|card))?\s*(?=[;,.]|$)"
)
"""A label and its unit in a comment over a sheet: `# memory: GB per NPU; step: seconds`."""


def _units_in(text: str) -> dict[str, str]:
    """Labels with their units, as a comment gives them."""
    pairs = _UNITS_OF.findall(text) if ":" in text or "=" in text else ()
    told = {name: f"{name} ({size})" for name, size in pairs}
    return {
        name: label for name, label in told.items() if (known := said(label)) and known.unit_known
    }


_MARKED = re.compile(r"(\*\*|`)([A-Za-z]{1,3})\1\s*(?:[:=–—]|is\b)\s*([^;*`]{4,80}?)\s*(?=[;.]|$)")

_ON_RANK = re.compile(r" (?:on|of) (?:rank 0|the first rank|(?:one|each) (?:GPU|device|rank))$")

_IN_PERCENT = re.compile(r",? in (?:percent|%)$")


def _marked_in(text: str) -> dict[str, str]:
    """Letters that a line explains one after another, each with its quantity: `**t**: seconds per
    step; **m**: peak GiB on rank 0`."""
    told = _MARKED.findall(text) if ";" in text and ("**" in text or "`" in text) else ()
    found = {
        name: _IN_PERCENT.sub(" (%)", _ON_RANK.sub("", meant.strip())) for _, name, meant in told
    }
    return {
        name: meant for name, meant in found.items() if (known := said(meant)) and known.unit_known
    }


_MEANS = re.compile(
    r"(?<![\w\u4e00-\u9fff-])([A-Za-z][\w-]*|[\u4e00-\u9fff]{2,6}?)[*`\"”』」]*"
    r"(?:这?一?[栏列]|\s+column)?"
    r"\s*(?:为|是|指|[=:：]|\b(?:is|are|means|stands for)\b)"
    rf"\s*(?:an? |the |[\u4e00-\u9fff]{{1,8}}\s*)?({SIGN})"
    rf"|([A-Za-z]+|[\u4e00-\u9fff]{{2}})\s*(?:性能|吞吐量?|速度)\s*(?:均)?(?:在|基于)\s*({SIGN})"
    r"|([A-Za-z]+) (?:devices?|GPUs?|cards?|accelerators?|machines?|systems?|platforms?)"
    rf" \((?:an? |the )?(?:NVIDIA |AMD )?({SIGN})"
)
"""A name and the device that it stands for: `NPU 为 Ascend 910B，参考为 A100 80GB`."""


_OF_BULLET = re.compile(
    r"\s*(?:[-*+]|[0-9]{1,2}[.)])\s+"
    r"\*{0,2}([A-Z][\w-]*(?: [\w-]+){0,2})\*{0,2}\s*[:：]\*{0,2}\s"
)
"""A bullet that begins with a name: `- **Delta**: quad nodes (4x A100-40GB)`."""


def explained(above: Sequence[Line]) -> dict[str, str]:
    """Names that the lines above a table explain as devices, each with its device; a name that
    they explain twice is none.

    >>> explained([Line(1, "NPU 为 Ascend 910B，参考为 A100 80GB，均为 BF16", 1, {})])
    {'npu': 'Ascend 910B', '参考': 'A100 80GB'}
    >>> explained([Line(1, "on Ascend NPUs and on the reference devices (A100, one node)", 1, {})])
    {'reference': 'A100'}
    """
    found: dict[str, set[str]] = {}
    for line in above:
        if len(line.text) > LONGEST or not devices(line.text):
            continue
        for told in _MEANS.finditer(signed(line.text)):
            name = told[1] or told[3] or told[5]
            device = device_at(line.text, told.start(next(n for n in (2, 4, 6) if told[n])))
            found.setdefault(one_of(_COLUMN.sub("", name)), set()).add(device.text)
        if (bullet := _OF_BULLET.match(line.text)) and (named := only(line.text)):
            found.setdefault(one_of(bullet[1]), set()).add(named.text)
    return {name: each.pop() for name, each in found.items() if len(each) == 1}


def listed_machines(texts: Sequence[str]) -> dict[str, str]:
    """Names that several items of a list explain as machines with devices of one kind each, and
    these devices.

    >>> listed_machines(["- **S1**: NVIDIA A100-PCIE-40GB x 4", "- **S2**: Tesla V100 x 8"])
    {'S1': 'A100-PCIE-40GB', 'S2': 'V100'}
    >>> listed_machines(["- **S1**: NVIDIA A100-PCIE-40GB x 4"])
    {}
    """
    found: dict[str, set[str]] = {}
    for text in texts:
        bullet = _OF_BULLET.match(text) if len(text) <= LONGEST else None
        if bullet and (device := only(text[bullet.end() :])):
            found.setdefault(bullet[1], set()).add(device.text)
    told = {name: each.pop() for name, each in found.items() if len(each) == 1}
    return told if len(told) > 1 else {}


def hardware_of(grid: Grid) -> dict[str, str]:
    """Kinds of devices that the rows of a table of labels and values give one device: `NPU | 8 x
    Ascend 910B`."""
    rows = [row for row in grid.rows if not row.blank and not row.one]
    if grid.width != PAIRED or not all(len(row.cells) == PAIRED for row in rows):
        return {}
    found: dict[str, set[str]] = {}
    for row in rows:
        label, text = (plain(cell.text) for cell in row.cells)
        if one_of(label) in KINDS and (device := only(text)):
            found.setdefault(one_of(label), set()).add(device.text)
    return {kind: each.pop() for kind, each in found.items() if len(each) == 1}


PAIRED = 2
"""Columns of a table of labels and values."""

KINDS = {"npu", "gpu", "tpu", "hpu", "xpu", "accelerator"}
"""Names of kinds of devices, one of which a document may mean."""

_COLUMN = re.compile(r"(?:这?一)?[栏列]$")
"""Behind the name of what a column has: `参考一栏为 A100`."""


def one_of(name: str) -> str:
    """A name as it is compared: in small letters, one of several."""
    return name.strip("*` ").casefold().removesuffix("s")


_IN_BRACKETS_BEHIND = re.compile(r"\s*[(（][^()（）]*[)）]?$")

_OF_ASCEND = re.compile(r"910|Ascend|Atlas|昇腾|\bMLU|\bDCU|\bBI-")
"""Devices that a document calls its NPUs, beside those of others that it refers to."""


def meant(name: str, told: Mapping[str, str]) -> str | None:
    """The device that a name is, or stands for; None where nothing says it.

    >>> meant("NPUs", {"npu": "Ascend 910B"}), meant("H100", {}), meant("ours", {})
    ('Ascend 910B', 'H100', None)
    """
    bare = one_of(_IN_BRACKETS_BEHIND.sub("", name))
    if device := told.get(one_of(name)) or told.get(bare):
        return device
    makers = [device for device in told.values() if _OF_ASCEND.search(device)]
    if bare in ("npu", "昇腾", "国产卡") and len(set(makers)) == 1:
        return makers[0]
    for part in (name, name.partition("(")[2].strip(" )")):
        if (own := only(part)) and own.end - own.start == len(part.strip()):
            return own.text
    sized = _OF_A_SIZE.fullmatch(name.strip())
    if sized and (own := only(sized[1])) and own.end - own.start == len(sized[1]):
        return f"{sized[1]} ({sized[2]})"
    return None


_OF_A_SIZE = re.compile(r"(\S.*?) ?[(（] ?([0-9]{2,3} ?G(?:i?B)?) ?[)）]?")
"""A device with its memory in brackets: `RTX 4090 (24GB)`."""


def unmarked(text: str) -> str:
    """A line without signs of emphasis: `tokens per second **per GPU**`; "" of one too long.

    >>> unmarked("images per second <b>per device</b>, <i>not</i> summed")
    'images per second per device, not summed'
    """
    if len(text) > LONGEST:
        return ""
    bare = _EMPHASIS.sub("", text) if "</" in text else text
    return bare.replace("*", "").replace("_", " ")


_EMPHASIS = re.compile(r"</?(?:b|i|u|em|strong|mark|code|tt)>", re.IGNORECASE)
"""Tags that stress words of a sentence."""
