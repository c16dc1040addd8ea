"""Tables of plain text as grids: cells below their labels, kept apart by blanks.

In: the lines of a document. Out: a `Grid` for each run of lines whose cells stand below the labels
of the line above them, as benchmarks and data frames print them; the index of a data frame has no
label. Two blanks or more keep cells apart, or a line of dashes gives the columns, as Pandoc's does.
A table has a label that says what was measured, and two rows: less may be a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.numbers.printed import whole
from assay.ingest.numbers.units import unit
from assay.ingest.schema.record import Line

_CELL = re.compile(r"\S+(?: \S+)*")

_NUMBER = re.compile(r"[~≈<>±+-]?[0-9][0-9,]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\s?[A-Za-zµ%×/]*")

_NOTHING = re.compile(r"OOM|nan|NaN|None|null|[-–—]+|n/?a|N/?A|inf", re.ASCII)

_RULE = re.compile(r"[\s=_+─━-]*")

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\w*\s*")

_DOTS = re.compile(r"[\s.…]+")

MEASURES = re.compile(
    r"FLOP|\w(?:/|_per_)s(?:ec(?:ond)?)?\b|/it\b|(?:/|_per_)(?:step|iter)|\b[mu]s\b|MFU|_[mun]?s\b"
    r"|mem\w*_[mg]i?b\b|\w_(?:fwd|bwd|fwd_?bwd)\b"
    r"|\S-(?:latency|gbps)\b|\btime avg\b| per (?:s(?:ec(?:ond)?)?|step|iter(?:ation)?)(?:  |$)"
    r"|\b(?:step|iter(?:ation)?) time(?:  |$)|\btime/(?:step|iter)|  throughput  "
    r"|\[[mµun]?sec\]|\((?:[mµun]?s|[mµun]?sec|[MG]i?B(?:/s)?|Gbps)\)|\bin (?:m?s|[MG]i?B)\b"
    r"|^[^#]*\balgbw\b|^#\s+size\s+(?!.*\b(?:count|elements)\b).*\balgbw\b"
    r"|^ *(?:seq\w*|n_ctx) .*  (?:flash|sdpa|cudnn|triton|fa[-_]?[1-4])"
    r"|吞吐|/ ?秒|[(（]毫?秒[)）]|(?:每步|单步|迭代)(?:耗时|时间)|スループット|처리량",
    re.IGNORECASE,
)
"""Found in a header of such a table."""

NEAR = 0
"""Blanks between a label and its cell: `m` stands right behind the end of `1760`."""

FEWEST = 3
"""Labels of a header: two words with blanks between them are found anywhere."""

ROWS = 2


class Word(NamedTuple):
    """A piece of a line: where it begins and ends, and its text."""

    begin: int
    end: int
    text: str

    def over(self, other: Word) -> bool:
        """Whether the two share a column of the page."""
        return self.begin < other.end and other.begin < self.end


def aligned_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table, in order."""
    at = 0
    while at < len(lines):
        text = lines[at].text
        grid = None
        if ("  " in text or (" " in text and lines[at].column > ROWS)) and _measured(lines, at):
            of_numbers = _of_a_figure(lines, at) or _OF_OSU.match(text)
            grid = _of_numbers(lines, at) if of_numbers else None
            if not _united(lines, at + 1):  # the line below is of the header, and has its units
                grid = grid or _longer(_table(lines, at), lines, at)
                grid = grid or _justified(lines, at) or _by_words(lines, at)
                grid = grid or _by_width(lines, at)
        if grid:
            yield grid
        at = grid.end if grid else at + 1


_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]"
)
"""Letters and signs that take two columns of a page each."""

_SECOND = "\u2060"
"""A letter for the second column of such a one: it is no blank, and in no text."""


def _by_width(lines: Sequence[Line], at: int) -> Grid | None:
    """The table below labels in Chinese, Japanese or Korean, whose letters take two columns of the
    page each; of a long one the first lines are looked at before the others."""
    if not _WIDE.search(lines[at].text):
        return None
    begin, end = max(0, at - 1), at + 1
    while end < len(lines) and lines[end].text.strip():
        end += 1
        if end == at + FIRST_LINES and _table(_widened(lines[begin:end]), at - begin) is None:
            return None
    wide = _widened(lines[begin:end])
    grid = _table(wide, at - begin)
    if grid is None:
        return None
    own = {id(each): line for each, line in zip(wide, lines[begin:end], strict=True)}
    heads, rows = ([_narrow(row, own[id(row.line)]) for row in each]
                   for each in (grid.heads, grid.rows))  # fmt: skip
    return replace(grid, begin=grid.begin + begin, end=grid.end + begin, heads=tuple(heads),
                   rows=tuple(rows))  # fmt: skip


FIRST_LINES = 8
"""Lines of a table by which it is seen to be one."""


def _widened(lines: Sequence[Line]) -> list[Line]:
    return [line._replace(text=_WIDE.sub(rf"\g<0>{_SECOND}", line.text)) for line in lines]


def _narrow(row: GridRow, line: Line) -> GridRow:
    """A row of such a table as it is printed, each cell where it begins in its line."""

    def begin(column: int) -> int:
        place = column - line.column
        return column - _WIDE.sub(rf"\g<0>{_SECOND}", line.text)[:place].count(_SECOND)

    cells = (cell._replace(text=cell.text.replace(_SECOND, ""), column=begin(cell.column))
             for cell in row.cells)  # fmt: skip
    return GridRow(line, tuple(cells))


_RULED = re.compile(r"\s*-{2,}(?: +-{2,}){2,}\s*")
"""A line of dashes that gives the columns of a table, as Pandoc writes it."""

_SOLID = re.compile(r"\s*-{10,}\s*")

FEW = 3
"""Words of a label that goes on in the line below it."""


def _is_apart(line: Line, below: Line) -> bool:
    """Whether a line above a header is a sentence, or the name of something, over its first label:
    one piece at the beginning, of many words, or that neither begins nor ends where the label does.
    """
    parts, labels = pieces(line), pieces(below)
    if len(parts) != 1 or not labels or parts[0].begin > labels[0].begin:
        return False
    many = len(parts[0].text.split(" ")) > FEW
    return many or (parts[0].begin != labels[0].begin and parts[0].end != labels[0].end)


_BELOW = re.compile(r"\s*(?:[Tt]able)?:\s+(\S.*)")
"""A caption below such a table: `: Table 4: Throughput`."""

MOST_LINES = 4
"""Lines of one header or of one row of such a table."""


def ruled_tables(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every table whose columns a line of dashes below its header gives, in order."""
    at = 0
    while at < len(lines):
        grid = (
            _ruled(lines, at) if not lines[at].text.strip(" -") and "- " in lines[at].text else None
        )
        if grid:
            yield grid
        at = grid.end if grid else at + 1


def _ruled(lines: Sequence[Line], rule: int) -> Grid | None:
    """The table whose columns stand as the dashes of a line."""
    if not _RULED.fullmatch(lines[rule].text):
        return None
    offset = lines[rule].column
    dashes = [Word(offset + m.start(), offset + m.end(), m[0])
              for m in re.finditer("-+", lines[rule].text)]  # fmt: skip
    top = rule
    while top and rule - top < MOST_LINES and _filled(lines[top - 1]):
        if top < rule and _is_apart(lines[top - 1], lines[top]):
            break
        own = _cut(lines[top:rule], dashes) if top < rule else None
        if own and _names_of_dashes(lines[top - 1], own, dashes):
            break
        top -= 1
    several = top > 0 and _SOLID.fullmatch(lines[top - 1].text) is not None
    head = _cut(lines[top:rule], dashes)
    if not several and top < rule - 1 and (head is None or not _labelled(head)):
        top = rule - 1  # what stands above that is no part of it
        head = _cut(lines[top:rule], dashes)
    if head is None or not _labelled(head):
        return None
    rows, end = _rows_below(lines, rule + 1, dashes, several=several)
    labels = " ".join(cell.text for cell in head.cells)
    telling = MEASURES.search(labels) or _lists_models(labels)
    if not rows or not (telling or (_of_numbers_below(rows) and _said_in_text(lines, top))):
        return None
    behind = next((line.text for line in lines[end : end + 2] if line.text.strip()), "")
    caption = _BELOW.fullmatch(behind)
    begin = top - 1 if several else top
    heads: tuple[GridRow, ...] = (head,)
    if top and not several and (names := _names_of_dashes(lines[top - 1], head, dashes)):
        begin, heads = top - 1, (names, head)
    return Grid("text", begin, end, heads, tuple(rows), caption[1] if caption else "", exact=False)


def _names_of_dashes(line: Line, head: GridRow, dashes: Sequence[Word]) -> GridRow | None:
    """The line above a header as its first part, where its names stand over columns whose labels
    return below each of them: `default | tuned` over `s/step | MFU | s/step | MFU`."""
    if not _filled(line) or _signed(pieces(line)):
        return None
    labels = [each._replace(text=cell.text) for each, cell in zip(dashes, head.cells, strict=True)]
    return _upper(line, labels) if _names_apart(line, labels) else None


def _lists_models(labels: str) -> bool:
    """Whether labels are of what models are made of."""
    return len({found[0].casefold() for found in _MADE_OF.finditer(labels)}) >= FEWEST_PARTS


_MADE_OF = re.compile(
    r"\b(?:layers|hidden|heads|d_model|d_ff|ffn|schichten|köpfe|couches|têtes|capas|cabezas)\b"
    r"|层数|头数|隐藏|レイヤ|隠れ|ヘッド|레이어|헤드",
    re.IGNORECASE,
)

FEWEST_PARTS = 2


def _of_numbers_below(rows: Sequence[GridRow]) -> bool:
    """Whether some column of a table holds nothing but numbers, one of them of three digits or
    with a point: what was measured."""
    for at in range(1, min(len(row.cells) for row in rows)):
        texts = [row.cells[at].text for row in rows]
        numbers = all(_NUMBER.fullmatch(t) or _NOTHING.fullmatch(t) or not t for t in texts)
        if numbers and any(map(_LONG.match, texts)):
            return True
    return False


_LONG = re.compile(r"[0-9]+[.,]?[0-9]{2}|[0-9]+\.[0-9]")


def _said_in_text(lines: Sequence[Line], at: int) -> bool:
    """Whether the paragraph above a header says what was measured: `"old"/"new" is seconds per
    iteration before and after the upgrade`."""
    above = at - 1
    while above >= max(0, at - _FAR) and _BETWEEN.fullmatch(lines[above].text):
        above -= 1
    while above >= max(0, at - MOST_ABOVE) and lines[above].text.strip():
        if _IN_TEXT.search(lines[above].text):
            return True
        above -= 1
    return False


_FAR = 4
"""Lines between a header and the paragraph above it."""

MOST_ABOVE = 12
"""Lines above a header that may say what was measured below it."""

_BETWEEN = re.compile(r"\s*(?:`{3}\w*|~{3}\w*|[-=]{3,})?\s*")

_IN_TEXT = re.compile(
    r"\b(?:tok(?:en)?s?|samples?|seq(?:uence)?s?|images?|imgs?)(?: ?/ ?| (?:per"
    r"|a) )s(?:ec(?:ond)?)?\b"
    r"|\b(?:(?:milli)?seconds?|secs?|ms|s) ?(?:/|per) ?(?:training |optimi[sz]er |global )?"
    r"(?:steps?|it(?:er(?:ation)?)?)\b"
    r"|\b[MH]FU\b|\b[GT]FLOP(?:S|s|/s)|\b(?:step|iteration) times?\b|\bpeak (?:GPU )?(?:memory"
    r"|VRAM)\b|\b(?:bus|alg(?:o(?:rithm)?)?)[ _]?(?:bw|bandwidths?)\b"
    r"|每秒|吞吐|单步(?:耗时|时间)|毎秒",
    re.IGNORECASE,
)
"""Words of a text whose table has numbers of training, or bandwidths of collectives."""


def _labelled(head: GridRow) -> bool:
    """Whether every column has a label; an index may have none."""
    return all(cell.text for cell in head.cells[1:])


def _rows_below(
    lines: Sequence[Line], at: int, dashes: Sequence[Word], *, several: bool
) -> tuple[list[GridRow], int]:
    """The rows from a line on and where they end: a line each, or `several` up to an empty one."""
    rows: list[GridRow] = []
    while at < len(lines) and _filled(lines[at]):
        end = at + 1
        while several and end < len(lines) and end - at < MOST_LINES and _filled(lines[end]):
            end += 1
        row = _cut(lines[at:end], dashes)
        if row is None:  # what stands so far apart ends the table
            return (rows, at) if len(rows) >= ROWS else ([], at)
        rows.append(row)
        at = end
        if several and at < len(lines) and not lines[at].text.strip():
            at += 1
    return rows, at


def _filled(line: Line) -> bool:
    """Whether a line is one of cells: neither empty, nor a rule, nor a fence."""
    apart = _RULE.fullmatch(line.text) is not None or _FENCE.fullmatch(line.text) is not None
    return bool(line.text.strip()) and not apart


def _cut(lines: Sequence[Line], dashes: Sequence[Word]) -> GridRow | None:
    """The cells of the lines of one row, cut where columns begin, or each word below the dashes
    that it shares a column of the page with, where one is wider than these; else None."""
    if not lines:
        return None
    found: list[list[Word]] = [[] for _ in dashes]
    for line in lines:
        parts = _between(line, dashes) or _over(line, dashes)
        if not parts:
            return None
        for words, word in zip(found, parts, strict=True):
            words.extend([word] if word.text else [])
    cells = (
        GridCell(" ".join(w.text for w in words), lines[0].number,
                 words[0].begin if words else column.begin)
        for words, column in zip(found, dashes, strict=True)
    )  # fmt: skip
    return GridRow(lines[0], tuple(cells))


def _between(line: Line, dashes: Sequence[Word]) -> list[Word]:
    """The text of each column of a line, empty ones too; nothing where one begins in a word."""
    starts = [max(0, column.begin - line.column) for column in dashes]
    if any(0 < at < len(line.text) and not line.text[at - 1].isspace() for at in starts[1:]):
        return []
    found = []
    for start, end in zip([0, *starts[1:]], [*starts[1:], len(line.text)], strict=True):
        text = line.text[start:end]
        begin = line.column + start + len(text) - len(text.lstrip())
        found.append(Word(begin, begin + len(text.strip()), text.strip()))
    return found


def _over(line: Line, dashes: Sequence[Word]) -> list[Word]:
    """The same by which dashes each word stands below; nothing where one does below none or two."""
    found: list[list[Word]] = [[] for _ in dashes]
    for each in re.finditer(r"\S+", line.text):
        word = Word(line.column + each.start(), line.column + each.end(), each[0])
        places = [at for at, column in enumerate(dashes) if word.over(column)]
        if len(places) != 1:
            return []
        found[places[0]].append(word)
    return [Word(words[0].begin if words else 0, 0, " ".join(word.text for word in words))
            for words in found]  # fmt: skip


def _measured(lines: Sequence[Line], at: int) -> bool:
    """Whether a header says what was measured, or the title right above it: `attention (TFLOPS):`,
    as benchmarks that draw curves print theirs."""
    if MEASURES.search(lines[at].text):
        return True
    if _counts(pieces(lines[at])):
        near = next((each.text for each in lines[max(0, at - 2) : at][::-1] if each.text), "")
        return MEASURES.search(near) is not None
    if _of_a_figure(lines, at):
        return True
    opening = _opening(lines, at - 1 if _below_names(lines, at) else at)
    titled = opening.endswith((":", ")")) and MEASURES.search(opening) is not None
    if titled or (opening.endswith(":") and _IN_WORDS.search(opening)) or _ALL_IN.search(opening):
        return True
    captions = (line.text for line in lines[max(0, at - MOST_LINES) : at])
    if any(_CAPTION.match(text) and MEASURES.search(text) for text in captions):
        return True
    return _turned(lines, at) or _said_below(lines, at) or _named_apart(lines, at)


def _below_names(lines: Sequence[Line], at: int) -> bool:
    """Whether names stand over labels that return below each of them: `forward | backward` over
    `main | PR | main | PR`."""
    names = pieces(lines[at - 1]) if at else []
    if len(names) < ROWS or _signed(names):
        return False
    front = Word(0, 0, "")  # of names that have no label
    return any(_spans(names, labels) for each in (_labels(lines[at]),)
               for labels in (each, [front, *each]))  # fmt: skip


def _signed(words: Sequence[Word]) -> bool:
    """Whether a line has signs that no labels have, and none of sizes alone, `N=1024  N=2048`."""
    signs = any(sign in word.text for word in words for sign in "|=:")
    return signs and not all(_SIZE.fullmatch(word.text) for word in words)


_SIZE = re.compile(r"[A-Za-z_]{1,12} ?= ?[0-9]+[kK]?")


def _named_apart(lines: Sequence[Line], at: int) -> bool:
    """Whether a line is of labels over two rows of as many cells, the last of them numbers, below a
    paragraph that says what was measured."""
    head, first = pieces(lines[at]), _below_rules(lines, at)
    if len(head) < FEWEST or any(map(is_number, head)) or first + ROWS > len(lines):
        return False
    below = [pieces(line) for line in lines[first : first + ROWS]]
    if len(below[0]) != len(head) and not lines[at].text.lstrip().startswith("#"):
        # labels or cells a blank apart
        head = _words(lines[at])
        below = [_words(line) for line in lines[first : first + ROWS]]
    alike = all(len(words) == len(head) and is_number(words[-1]) for words in below)
    if not alike or not _LONG.match(below[0][-1].text):
        return False
    over = at and _names_apart(lines[at - 1], head)
    return _said_in_text(lines, at - 1 if over else at)


def _below_rules(lines: Sequence[Line], at: int) -> int:
    """The first line below a header that is no rule."""
    first = at + 1
    while first < min(at + 3, len(lines)) and _RULE.fullmatch(lines[first].text):
        first += 1
    return first


def _words(line: Line) -> list[Word]:
    """The words of a line, a blank apart or more."""
    found = re.finditer(r"\S+", line.text)
    return [Word(line.column + m.start(), line.column + m.end(), m[0]) for m in found]


def _names_apart(line: Line, labels: Sequence[Word]) -> bool:
    """Whether a line is of names over several of some labels each."""
    names = pieces(line)
    return len(names) > 1 and bool(_spans(names, labels))


MOST_ROWS = 64
"""Rows of a table below which a line may say in what its numbers are."""


def _said_below(lines: Sequence[Line], at: int) -> bool:
    """Whether the line below the numbers under a header says their unit: `(times in ms)`."""
    head = pieces(lines[at])
    if len(head) < FEWEST or any(map(is_number, head)):
        return False
    end = at + 1
    while end < min(len(lines), at + 1 + MOST_ROWS):
        words = pieces(lines[end])
        if len(words) != len(head) or not is_number(words[-1]):
            break
        end += 1
    below = (line.text.strip() for line in lines[end : end + ROWS])
    note = next((text for text in below if text), "") if end > at + ROWS else ""
    return _ALL_IN.search(note) is not None


_CAPTION = re.compile(r"\s*(?:Table|Tab\.) [0-9IVX]+[.:]\s")
"""A caption of a table in the text of a paper."""


_ALL_IN = re.compile(
    r"\b(?:times?|timings?|latenc(?:y|ies)|durations?|numbers|values|results|everything|all|rates?"
    r"|throughputs?|performance)(?: \w+){0,3} in "
    r"(?:[mµun]s|(?:milli|micro)seconds|[TG]FLOPS?(?:/s)?|[GT]i?B/s)(?:[.:)\]]?$|[,;] )",
    re.IGNORECASE,
)
"""The end of a line that says the unit of all numbers: `times in us`."""

_IN_WORDS = re.compile(r"\bin (?:milli|micro)seconds\b", re.IGNORECASE)


def _opening(lines: Sequence[Line], at: int) -> str:
    """The text right above a header, or above the fence or the rule that it stands below."""
    above = (lines[n].text.strip() for n in range(at - 1, max(-1, at - 4), -1))
    apart = ("```", "~~~", "===", "---", "___")
    return next((text for text in above if text and not text.startswith(apart)), "")


MOST_METRICS = 12
"""Rows of a table with a metric in each, among which two say what was measured."""


def _turned(lines: Sequence[Line], at: int) -> bool:
    """Whether the rows below a header are metrics, as a turned data frame prints them."""
    said = 0
    for line in lines[at + 1 : at + 1 + MOST_METRICS]:
        label, *numbers = pieces(line) or [Word(0, 0, "")]
        if len(numbers) < ROWS or is_number(label) or not any(map(is_number, numbers)):
            break
        said += MEASURES.search(label.text) is not None
    return said >= ROWS


ANY_FIGURE = (
    r"(?:[Pp]erf(?:ormance)?|[Bb]ench(?:mark)?|[Rr]esult|[Ll]atency|[Tt]iming|[Tt]hroughput"
    r"|[Ss]peed)s?"
)
"""Name of a figure that says nothing of what was computed."""

FIGURE = (
    rf"(?:[A-Za-z][\w.=@+-]*[-_][\w.=@+-]*|{ANY_FIGURE}|(?:Layer|RMS|Group|Batch)Norm|[Ss]oftmax"
    r"|[Aa]ttention|RoPE|S[wi]?i?GLU|G[Ee]GLU|GELU|JSD|[Mm]atmul|GEMM)"
    r"(?: \([A-Za-z]+(?:/s)?(?:, [A-Za-z_]+ ?= ?[0-9]+)*\))?:"
)
"""Name of a figure above its numbers, with their unit or without."""

_FIGURE = re.compile(FIGURE)

_FIRST = re.compile(r"\s*[0-9]{1,4}\s{2,}[0-9]")
"""Beginning of the first row of a data frame, or of what is left of it: its index, and a number."""


def _of_a_figure(lines: Sequence[Line], at: int) -> bool:
    """Whether a header is that of the numbers of a figure, as Triton prints them: a data frame
    below its name."""
    if not at or at + 1 >= len(lines) or not _FIRST.match(lines[at + 1].text):
        return False
    return figure_above(lines[:at]) is not None


_TO_A_FIGURE = 4
"""Lines above the numbers of a figure among which its name stands."""


def figure_above(lines: Sequence[Line]) -> Line | None:
    """The name of a figure that some lines end with, above a fence or an empty line perhaps."""
    for line in reversed(lines[-_TO_A_FIGURE:]):
        if line.text.strip() and not _FENCE.fullmatch(line.text):
            return line if _FIGURE.fullmatch(line.text.strip()) else None
    return None


_OF_OSU = re.compile(r"# Size {2,}(?:\S+ )*Latency\(us\)(?: {2,}\S.*)?$")
"""Header of a collective of the OSU micro-benchmarks, whose rows stand somewhere below it."""


def _of_numbers(lines: Sequence[Line], at: int) -> Grid | None:
    """The rows of a figure, each behind its index, which grows, or of the OSU micro-benchmarks:
    only numbers stand there, so that one blank keeps them apart."""
    index = _OF_OSU.match(lines[at].text) is None
    head, rows, end = pieces(lines[at]), list[GridRow](), at + 1
    while end < len(lines):
        words = [Word(m.start(), m.end(), m[0]) for m in re.finditer(r"\S+", lines[end].text)]
        first = words[0].text if words else ""
        fits = len(words) == len(head) + index and all(map(is_number, words))
        if fits and (not index or (whole(first) or 0) >= end - at - 1):
            line = lines[end]
            cells = (GridCell(word.text, line.number, line.column + word.begin) for word in words)
            rows.append(GridRow(line, tuple(cells)))
        elif not (rows and words and _DOTS.fullmatch(lines[end].text)) and not (
            not rows and not index and first == "#"  # a setting below the header
        ):
            break
        end += 1
    if len(rows) < ROWS or any(map(is_number, head)):
        return None
    line = lines[at]
    labels = (GridCell(word.text, line.number, word.begin) for word in head)
    unnamed = [GridCell("", line.number, line.column)] * index
    return Grid("text", at, end, (GridRow(line, (*unnamed, *labels)),), tuple(rows), exact=False)


def pieces(line: Line) -> list[Word]:
    """The pieces of a line by their columns in the input, whatever was peeled off before them."""
    at = line.column
    return [Word(at + m.start(), at + m.end(), m[0]) for m in _CELL.finditer(line.text)]


def is_number(word: Word) -> bool:
    """Whether a piece is a number, with its unit perhaps, or stands for one that is missing."""
    return bool(_NUMBER.fullmatch(word.text) or _NOTHING.fullmatch(word.text))


def _counts(head: Sequence[Word]) -> bool:
    """Whether labels are whole numbers that grow: of devices, of sequences, of tokens."""
    if not all(word.text.isdecimal() for word in head):
        return False
    numbers = [int(word.text) for word in head]
    return len(numbers) >= FEWEST and all(a < b for a, b in pairwise(numbers))


def _justified(lines: Sequence[Line], at: int) -> Grid | None:
    """The table below labels of one word that end where the cells below them do, a blank apart:
    as data frames print more columns than leave room for two."""
    head = [Word(m.start(), m.end(), m[0]) for m in re.finditer(r"\S+", _on_page(lines[at]))]
    if len(head) < FEWEST or any(map(is_number, head)) or any(c in lines[at].text for c in "|=:│"):
        return None
    rows, end, labels_again = list[GridRow](), at + 1, lines[at].text
    while end < min(at + 3, len(lines)) and _RULE.fullmatch(lines[end].text):
        end += 1
    while end < len(lines):
        cells = _ending(lines[end], head)
        if not cells and len(rows) >= ROWS:
            cells = _about_ends(lines[end], head, len(rows[0].cells) - len(head))
        if not cells or lines[end].text == labels_again:  # another table
            break
        rows.append(GridRow(lines[end], tuple(cells)))
        end += 1
    counted = sum(is_number(Word(0, 0, cell.text)) for row in rows for cell in row.cells)
    if len(rows) < ROWS or 2 * counted < len(rows) * len(head):
        return None
    index = {len(row.cells) - len(head) for row in rows}
    if len(index) > 1:
        return None
    line = lines[at]
    named = [Word(line.column - 1, line.column - 1, "")] * index.pop() + head
    labels = (GridCell(word.text, line.number, word.begin + 1) for word in named)
    return Grid("text", at, end, (GridRow(line, tuple(labels)),), tuple(rows), exact=False)


def _longer(grid: Grid | None, lines: Sequence[Line], at: int) -> Grid | None:
    """The same table with the rows below it that leave one blank in front of the longest name of a
    column, where each cell of all of them ends where its label does."""
    if grid is None or grid.end >= len(lines) or not lines[grid.end].text.strip():
        return grid
    other = _justified(lines, at)
    same = other is not None and len(other.header()) == len(grid.header())
    return other if other and same and other.end > grid.end else grid


ASIDE = 2
"""Blanks by which a word may stand beside its label, where someone has shifted a column."""


_LOGGED = re.compile(r"^\s*(?:global_)?(?:step|iter|iteration|epoch)s?  .*\bloss\b", re.IGNORECASE)
"""Labels of a job's steps, which a trainer logs."""


def _by_words(lines: Sequence[Line], at: int) -> Grid | None:
    """The table below labels of one word, each of whose rows has as many words, a blank apart or
    more, about where the labels are; behind its number, from zero, perhaps. Names may stand above
    labels that return under each of them."""
    rows, end, index = list[GridRow](), _below_rules(lines, at), 0
    if head := _united(lines, at):
        at -= 1
    head = head or _labels(lines[at])
    bare = [_UNITS.sub("", word.text).strip() for word in head]
    commented = lines[at].text.lstrip().startswith("#")  # as nccl-tests print theirs
    if any(" " in text for text in bare) and len(head) >= FEWEST and not commented:
        head = _words(lines[at])
        bare = [word.text for word in head]
    if len(head) < FEWEST + 1 or any(" " in text for text in bare) or any(map(is_number, head)):
        return None
    if any(sign in lines[at].text for sign in "|=:│") or _LOGGED.search(lines[at].text):
        return None
    while end < len(lines):
        line = lines[end]
        words = _words(line)
        if not rows:
            index = int(len(words) == len(head) + 1)
        if index and (not words or words[0].text != str(len(rows))):
            break
        if len(words) != len(head) + index or not all(
            word.begin < label.end + ASIDE and label.begin < word.end + ASIDE
            for word, label in zip(words[index:], head, strict=True)
        ):
            break
        rows.append(GridRow(line, tuple(GridCell(w.text, line.number, w.begin) for w in words)))
        end += 1
    counted = sum(is_number(Word(0, 0, c.text)) for row in rows for c in row.cells[index:])
    if len(rows) < ROWS or 2 * counted < len(rows) * len(head):
        return None
    line = lines[at]
    named = [*[Word(line.column, line.column, "")] * index, *head]
    heads = [GridRow(line, tuple(GridCell(w.text, line.number, w.begin) for w in named))]
    if at and _names_apart(lines[at - 1], named) and (upper := _upper(lines[at - 1], named)):
        at, heads = at - 1, [upper, *heads]
    return Grid("text", at, end, tuple(heads), tuple(rows), exact=False)


def _on_page(line: Line) -> str:
    """A line with blanks for what was peeled off before it."""
    return " " * (line.column - 1) + line.text


_INDEX = re.compile(r"( *)(\S+) {2,}(?=\S)")
"""Index of a row of a data frame, which has no label."""


def _ending(line: Line, head: Sequence[Word]) -> list[GridCell]:
    """The cells of a row that end where the labels do, and its index in front of them if it has
    one; nothing where one does not."""
    text, begin, cells = _on_page(line), 0, list[GridCell]()
    if len(text.rstrip()) != head[-1].end:
        return []
    first = _INDEX.match(text, line.column - 1, head[0].end)
    if first is not None and first.end(2) < head[0].begin:
        cells.append(GridCell(first[2], line.number, first.start(2) + 1))
        begin = first.end() - 1
    for word in head:
        part = text[begin : word.end]
        bare = part.strip()
        if not bare or part != part.rstrip() or (begin and not part.startswith(" ")):
            return []
        cells.append(GridCell(bare, line.number, word.end - len(bare) + 1))
        begin = word.end
    return cells


def _about_ends(line: Line, head: Sequence[Word], index: int) -> list[GridCell]:
    """The cells of a row that someone has shifted: as many as the rows above it have, each of which
    ends a blank or two beside its label; nothing where one does not."""
    words = pieces(line)
    if index < 0 or len(words) != len(head) + index:
        return []
    ends = (word.end - 1 for word in words[index:])
    if any(abs(end - label.end) > ASIDE for end, label in zip(ends, head, strict=True)):
        return []
    return [GridCell(word.text, line.number, word.begin) for word in words]


def _table(lines: Sequence[Line], at: int) -> Grid | None:
    if head := _united(lines, at):
        at -= 1
    head = head or _labels(lines[at])
    if len(head) < FEWEST - _turned(lines, at) or (
        any(is_number(word) for word in head) and not _counts(head)
    ):
        return None
    if any(sign in _SQUARES.sub("N", _MEDIAN.sub(")", lines[at].text)) for sign in "|=:│"):
        return None
    first = at + (2 if _united(lines, at + 1) else 1)
    while first < min(at + 3, len(lines)) and _RULE.fullmatch(lines[first].text):
        first += 1
    if first >= len(lines):
        return None
    top = _cells(lines[first + _heads_rows(lines, first)])
    if len(head) < len(top) - 1 and len(apart := _at_units(head)) == len(top):
        head = apart  # labels that are wider than their columns
        return _grid(lines, at, first, head, 0)
    top = _first_full(lines, first, len(head)) if len(top) < len(head) else top
    head, top = _tight(head, top)
    index = len(top) - len(head)
    if _counts(head) and (index != 1 or is_number(top[0])):
        return None  # a row of numbers, or a name that is missing
    placed_apart = lines[at].number != lines[first].number  # parts of one line stand nowhere
    drifted = index == 0 and all(map(_with_unit, head)) and all(map(is_number, top))
    if index not in (0, 1) or (placed_apart and not drifted and not _below(head, top[index:])):
        return None
    return _grid(lines, at, first, head, index, top)


def _heads_rows(lines: Sequence[Line], at: int) -> bool:
    """Whether a line is one name over rows that are indented below it, as groups are headed."""
    if at + 1 >= len(lines) or len(lines[at].text) > LONGEST_NAME:
        return False
    words, below = pieces(lines[at]), pieces(lines[at + 1])
    if len(words) != 1 or len(below) < FEWEST or not words[0].text[:1].isalpha():
        return False
    return words[0].begin < below[0].begin and not words[0].text.endswith((".", ";", ","))


LONGEST_NAME = 60
"""Characters of a line that heads rows."""


def _over_all(line: Line, width: int) -> GridRow:
    """A line with one name as a row whose cell stands over all columns."""
    (name,) = pieces(line)
    return GridRow(line, (GridCell(name.text.rstrip(" :"), line.number, name.begin),) * width)


def _with_unit(label: Word) -> bool:
    """Whether a label has a unit in brackets behind it: as many numbers below such labels are of
    them, wherever they stand."""
    found = _IN_BRACKETS.search(label.text)
    return found is not None and bool(unit(found[1]) or _RATE_OR_COUNT.fullmatch(found[1]))


_IN_BRACKETS = re.compile(r"\w ?[(\[]([^()\[\]]{1,8})[)\]]$")

_RATE_OR_COUNT = re.compile(r"[kKMGT]i?B/s(?:ec)?|[KMGT]Bps|[Bb]ytes|elements|[GT]FLOPS?(?:/s)?|%")


def _first_full(lines: Sequence[Line], first: int, width: int) -> list[Word]:
    """The cells of the first row that has one in each of its columns, where those above it have
    fewer: a baseline has no difference to itself."""
    for line in lines[first : first + MOST_LINES]:
        cells = _cells(line)
        if len(cells) >= width or len(cells) < ROWS:
            return cells
    return _cells(lines[first])


_ASIDE = re.compile(r"#(?: |$)|<-|<=|←|//(?: |$)|\^ ")
"""How a remark behind the cells of a row begins: `# best`, `<- new default`."""


def _cells(line: Line) -> list[Word]:
    """The pieces of a row without a remark behind them."""
    found = pieces(line)
    asides = [at for at, word in enumerate(found) if at >= ROWS and _ASIDE.match(word.text)]
    return found[: asides[0]] if asides else found


def _labels(line: Line) -> list[Word]:
    """The pieces of a line of labels without the sign of a comment: `#   size   time`."""
    found = pieces(line)
    return _at_signs(found[1:] if found and found[0].text == "#" else found)


_UNITS = re.compile(r"[(\[][^()\[\]]+[)\]]")

_WHICH = r"(?:p[0-9]{2}|avg|mean|median|min|max)\b"

_MEDIAN = re.compile(rf"\):{_WHICH}|(?<=[a-z]):(?={_WHICH} ?\()", re.IGNORECASE)
"""Words of a label behind its unit, or behind what it is of: `Latency(us):p50`, `time:avg(us)`."""


_SQUARES = re.compile(r"(?<![\w=])(?:(?:[MNK] ?= ?){2}[MNK]|(?:[mnk] ?= ?){2}[mnk])(?![\w=])")
"""The label of the one size of square products: `M=N=K`."""


def _united(lines: Sequence[Line], at: int) -> list[Word]:
    """The labels above a line of nothing but units in brackets, each with the unit below it."""
    units = _labels(lines[at]) if 0 < at < len(lines) else []
    if not units or not all(_UNITS.fullmatch(word.text) for word in units):
        return []
    above = lines[at - 1].text
    if above.lstrip().startswith("#") and not MEASURES.search(above):
        return []  # of nccl-tests, which have a grammar of their own
    found = []
    for label in _labels(lines[at - 1]):
        below = [word for word in units if word.over(label)]
        if len(below) > 1:
            return []
        text = f"{label.text} {below[0].text}" if below else label.text
        begin = min(label.begin, *(word.begin for word in below), label.begin)
        end = max(label.end, *(word.end for word in below), label.end)
        found.append(Word(begin, end, text))
    return found if sum(word.text.endswith((")", "]")) for word in found) >= len(units) else []


_UNIT_END = re.compile(r"\S+ (?:ms|us|µs|TFLOPS|TFLOP/s|GB/s)(?= |$)")


def _at_signs(head: Sequence[Word]) -> list[Word]:
    """Labels apart where one ends and the next begins with a sign behind a single blank, as Intel's
    benchmarks print them: `#bytes #repetitions`."""
    found: list[Word] = []
    for word in head:
        parts = list(re.finditer(r"\S+(?: (?!#[a-z])\S+)*", word.text))
        found += [Word(word.begin + p.start(), word.begin + p.end(), p[0]) for p in parts]
    return found


def _at_units(head: Sequence[Word]) -> list[Word]:
    """Labels apart where one ends in a unit and the next begins behind a single blank."""
    found: list[Word] = []
    for word in head:
        parts = list(_UNIT_END.finditer(word.text))
        if len(parts) < 2 or " ".join(part[0] for part in parts) != word.text:
            found.append(word)
        else:
            found += [Word(word.begin + p.start(), word.begin + p.end(), p[0]) for p in parts]
    return found


def _grid(
    lines: Sequence[Line],
    at: int,
    first: int,
    head: Sequence[Word],
    index: int,
    top: Sequence[Word] = (),
) -> Grid | None:
    """The grid below a header; `index` counts columns in front that have no label, `top` are the
    cells of a full row, of the first one if none is given."""
    top = top or _cells(lines[first])
    rows, end = [], first
    while end < len(lines):
        placed = _row(lines[end], top, index)
        if placed is None and index == 0:
            at_name = end if lines[end].text.strip() else end + 1  # groups may stand apart
            if _heads_rows(lines, at_name) and _row(lines[at_name + 1], top, index):
                placed, end = _over_all(lines[at_name], len(top)), at_name
        if placed is None:
            break
        rows.append(placed)
        end += 1
    said = [cell for row in rows if not row.one for cell in row.cells[index:] if cell.text]
    counted = sum(is_number(Word(0, 0, cell.text)) for cell in said)
    if len(rows) < ROWS or counted * 2 < len(said):
        return None
    line = lines[at]
    labels = [*[Word(line.column, line.column, "")] * index, *head]
    header = tuple(GridCell(word.text, line.number, word.begin) for word in labels)
    heads = [GridRow(line, header)]
    if at and (upper := _upper(lines[at - 1], labels)):
        at, heads = at - 1, [upper, *heads]
    return Grid("text", at, end, tuple(heads), tuple(rows), exact=False)


def _upper(line: Line, labels: Sequence[Word]) -> GridRow | None:
    """The line above a header as its first part, where each word stands over one label."""
    words = pieces(line)
    if len(words) < ROWS or "  " not in line.text.strip() or _signed(words):
        return None
    if spans := _spans(words, labels):
        cells = (spans.get(at, label._replace(text="")) for at, label in enumerate(labels))
        return GridRow(line, tuple(GridCell(word.text, line.number, word.begin) for word in cells))
    found: dict[int, Word] = {}
    for word in words:
        below = [at for at, label in enumerate(labels) if word.over(label)]
        if is_number(word) or len(below) != 1 or below[0] in found:
            return None
        found[below[0]] = word
    cells = (found.get(at, label._replace(text="")) for at, label in enumerate(labels))
    return GridRow(line, tuple(GridCell(word.text, line.number, word.begin) for word in cells))


def _spans(words: Sequence[Word], labels: Sequence[Word]) -> dict[int, Word]:
    """The name over each of the last columns, whose labels return under every one of some names:
    `forward | backward` over `ms | TFLOPS | ms | TFLOPS`; nothing where they do not."""
    texts = [label.text for label in labels]
    for width in range(2, (len(texts) - 1) // len(words) + 1):
        first = len(texts) - width * len(words)
        group = texts[first : first + width]
        if len(set(group)) < width or texts[first:] != group * len(words):
            continue
        if set(group) & set(texts[:first]):
            continue
        begins = range(first, len(texts), width)
        over = all(
            labels[at].begin < word.end and word.begin < labels[at + width - 1].end
            for at, word in zip(begins, words, strict=True)
        )
        if over and not any(map(is_number, words)):
            return {at + n: word for at, word in zip(begins, words, strict=True)
                    for n in range(width)}  # fmt: skip
    return {}


def _below(head: Sequence[Word], row: Sequence[Word]) -> bool:
    """Whether each cell stands below its own label, or touches its column, and below no other."""
    return all(
        sum(label.over(other) for other in row) == label.over(cell)
        and max(label.begin - cell.end, cell.begin - label.end) <= NEAR
        for label, cell in zip(head, row, strict=True)
    )


def _row(line: Line, top: Sequence[Word], index: int) -> GridRow | None:
    """The cells of a row in their columns; None where a line is none of the table."""
    words = _cells(line)
    if len(words) < len(top):
        ways = (_numbers_apart(words), [part for word in words for part in _counted(word)])
        apart = [way for way in ways if len(way) == len(_placed(way, top)) == len(top)]
        words = apart[0] if apart else words
    if len(words) > len(top) or len(words) < min(2, len(top)):
        return None
    if _DOTS.fullmatch(line.text):
        return None
    if len(words) < len(top):
        if not (placed := _placed(words, top)):
            return None
    else:
        placed = dict(enumerate(words))
    if not any(is_number(word) for at, word in placed.items() if at >= index):
        return None
    cells = []
    for at, column in enumerate(top):
        word = placed.get(at, Word(column.begin, column.begin, ""))
        cells.append(GridCell(word.text, line.number, word.begin))
    return GridRow(line, tuple(cells))


def _numbers_apart(words: Sequence[Word]) -> list[Word]:
    """Pieces of a row with each number of one that holds nothing else by itself: a wide number
    leaves one blank in front of it, `2048 128256`."""
    found: list[Word] = []
    for word in words:
        parts = [Word(word.begin + m.start(), word.begin + m.end(), m[0])
                 for m in re.finditer(r"\S+", word.text)]  # fmt: skip
        found += parts if all(map(is_number, parts)) else [word]
    return found


def _tight(head: Sequence[Word], top: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """Labels and the cells of a first row, with a number and the name behind it apart where two
    labels above them stand a blank apart at the same place: `hidden impl` over `4096 eager`."""
    labels, cells = list(head), list(top)
    for cell in top:
        parts = _counted(cell)
        over = [label for label in head if label.over(cell)]
        first, _, second = over[0].text.partition(" ") if len(over) == 1 else ("", "", "")
        if len(parts) < 2 or not second or " " in second:
            continue
        cut = over[0].begin + len(first)
        if parts[0].end == cut:
            at = labels.index(over[0])
            labels[at : at + 1] = [
                Word(over[0].begin, cut, first), Word(cut + 1, over[0].end, second),
            ]  # fmt: skip
            at = cells.index(cell)
            cells[at : at + 1] = parts
    return labels, cells


def _counted(word: Word) -> list[Word]:
    """A whole number and the name behind it apart, where that is no unit."""
    found = _AND_NAME.fullmatch(word.text)
    if found is None or unit(found[2]):
        return [word]
    cut = word.begin + found.end(1)
    return [Word(word.begin, cut, found[1]), Word(word.begin + found.start(2), word.end, found[2])]


_AND_NAME = re.compile(r"([0-9]+) ([A-Za-z_][\w.+-]{2,}(?: \S+)*)")


def _placed(words: Sequence[Word], top: Sequence[Word]) -> dict[int, Word]:
    """The column of each cell of a row with some missing; nothing where one may be of two."""
    placed: dict[int, Word] = {}
    for word in words:
        over = [at for at, column in enumerate(top) if word.over(column)]
        if len(over) != 1 or over[0] in placed:
            return {}
        placed[over[0]] = word
    return placed
