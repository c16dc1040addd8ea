"""Columns of pairs taken apart before a grid is looked at, and labels in full.

In: a grid. Out: the same with a column for each number where cells hold several (`51.3% / 400`,
`3,124 (51.3%)`), under the two labels that its header names (`MFU / TFLOPS`, `TFLOP/s/GPU (MFU)`)
or that the text above the table gives (`tokens per second per GPU, MFU in brackets`). A column is
taken apart only if most of its cells are pairs and both labels are known to be measured: elsewhere
what stands in brackets is a remark. Notes and legends complete the labels that they speak of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from assay.ingest.columns.format_columns import two_formats
from assay.ingest.columns.headers import generic, header, plain
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.grids.ratios import COMPARED
from assay.ingest.numbers.units import unit
from assay.ingest.prose.degree_letters import DEGREES, LONGEST_SIGN
from assay.ingest.schema.record import Line, Schema
from assay.ingest.tables.named_above import SENTENCE_END, heard_in
from assay.ingest.tables.units_beside import A_DEVICE
from assay.ingest.vocabulary.terms import configured_by
from assay.ingest.vocabulary.words import SAID_WHOSE, of_one_device, said, split

_BESIDE = re.compile(r"(.+?)\s*[(（\[]([^()（）\[\]]+)[)）\]]")

_STROKE = re.compile(r"(.+?)\s+[/|&]\s+(.+)|([^/]+)/([^/]+)")

_NUMBER = r"[~≈]?\s*\**\s*[0-9][0-9.,]*[^()/]*?"

_IN_BRACKETS = re.compile(
    rf"({_NUMBER}(?:/[A-Za-z/]+)?)\s*[(（\[{{]\s*({_NUMBER}(?:/[A-Za-z/]+)?)[)）\]}}]\W*"
)

_NAMED = {
    re.compile(
        rf"({_NUMBER}(?:/[A-Za-z/]+)?)\s*[(（\[,]\s*(?:{name}[:= ]\s*)?"
        rf"([0-9][0-9.]*\s*%)\s*(?:{name})?[)）\]]?"
    ): name
    for name in ("MFU", "HFU")
}
"""Cells that name their second number themselves: `8,381 (59.9% MFU)`."""

_BY_STROKE = re.compile(rf"({_NUMBER})\s*/\s*({_NUMBER})")

_ARROW = r"\s*(?:→|⇒|⟶|➔|-{1,2}>|=>)\s*"

_BY_ARROW = re.compile(
    rf"([~≈]?\s*[0-9][0-9.,]*(?:\s?[A-Za-z%][A-Za-z/%]{{0,14}})?){_ARROW}"
    r"([~≈]?\s*[0-9][0-9.,]*(?:\s?[A-Za-z%][A-Za-z/%]{0,14})?)(?:\s*[(（\[][^()（）\[\]]{1,16}[)）\]])?"
)
"""A number before a change and one behind it, and perhaps how they compare: `61.0 → 56.4 (-8%)`."""

_CHANGED = re.compile(
    rf"(.+?)\s*(?:[(（\[]\s*|[,:;–—]\s+)([^()（）\[\],→⇒⟶➔=>/]{{2,30}}?){_ARROW}([^()（）\[\],→⇒⟶➔=>/]{{2,30}}?)"
    r"\s*[)）\]]?"
)
"""A quantity and what each of its two numbers is of: `TFLOPS/GPU (before → after)`."""

_SIDES = re.compile(rf"([A-Za-z][\w .-]{{1,29}}?){_ARROW}([A-Za-z][\w .-]{{1,29}})")
"""Two words around an arrow, one for each of two numbers."""

_DIGIT = re.compile("[0-9]")

_APART = re.compile(r"[(（\[/→⇒⟶➔>]|,.*%")

_TWO_PARTS = re.compile(r"[(（\[{/|,;&+→⇒⟶➔>]")
"""A sign that stands in every cell of two numbers, however it is written."""

_SAID = re.compile(
    r"\b(MFU|HFU)\b.{0,40}\b(?:bracket|parenthes)|(?:括号|括弧).{0,20}(MFU|HFU)", re.I
)

_SHARED = re.compile(
    r"\b(?:tokens?|samples?|sequences?|images?)(?:\s*/\s*|\s+per\s+)[A-Za-z]+(?:(?:\s*/\s*|\s+per\s+)[A-Za-z]+)?"
    r"|\bT?FLOPS?(?:/[A-Za-z]+)*|\bTGS\b",
    re.IGNORECASE,
)


_Parts = Callable[[GridCell, int], Sequence[str]]


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
    if not any(
        _TWO_PARTS.search(cell.text) or "<br" in cell.text
        for row in grid.rows
        for cell in row.cells
    ):
        return grid
    grid = _without_ratios(_in_one_line(grid), schema)
    grid = _in_several(grid, schema, above)
    heads = grid.heads[-1].cells
    found: dict[int, tuple[str, str]] = {}
    whole = grid.header()
    by_text: tuple[str, str] | None = None  # what the text says that cells are
    settings = set[int]()  # columns whose new labels say all that stood above them
    for at, cell in enumerate(heads):
        texts = [row.cells[at].text for row in grid.rows if at < len(row.cells)]
        form, told = _form(texts), None
        label = plain(cell.text)
        labels = _of_formats(label, form, schema, above) if form else None
        labels = labels or (_labels(label, form, schema, above, texts) if form else None)
        if not labels and (setting := side(plain(whole[at]))):
            told = _cells_are(form, above, schema) if form and at else None
            labels = (
                _set_apart(told, setting) if told else _by_units(texts, f" - {setting}", schema)
            )
            settings.add(at)
        elif not labels and at and (name := _name_of(plain(whole[at]), schema)):
            told = _cells_are(form, above, schema) if form else None
            behind = "" if _RESULTS.fullmatch(name) else f", {name}"
            labels = _set_apart(told, name) if told else _by_units(texts, behind, schema)
            settings.add(at)
        if labels:
            found[at] = labels
            by_text = told if at in settings and told else by_text
    for at in range(len(heads)) if by_text else ():  # what ran nowhere prints no pair
        texts = [row.cells[at].text for row in grid.rows if at < len(row.cells)]
        if at and at not in found and texts and all(map(_RAN_OUT.fullmatch, map(plain, texts))):
            name = side(plain(whole[at])) or _free(plain(whole[at]), schema)
            if name and by_text:
                found[at] = _set_apart(by_text, name)
                settings.add(at)
    if not found:
        return grid
    last = _row(grid.heads[-1], found, lambda cell, at: found[at])
    upper = [
        _row(row, found, lambda cell, at: ("", "") if at in settings else (cell.text, cell.text))
        for row in grid.heads[:-1]
    ]
    rows = tuple(_row(row, found, lambda cell, at: _two(cell.text, found[at])) for row in grid.rows)
    return replace(grid, heads=(*upper, last), rows=rows)


_RAN_OUT = re.compile(r"(?:cuda[ _-]?)?(?:oom|out[ _-]of[ _-]memory)|", re.IGNORECASE)

_RESULTS = re.compile(
    r"(?:training |measured )?(?:results?|metrics?|performance|perf|numbers|speed|throughput)"
    r"(?:(?:,|/| /| and| &| \+) (?:peak )?(?:memory|mem|VRAM|MFU|utili[sz]ation))?"
    r"|结果|性能|成绩",
    re.IGNORECASE,
)
"""Labels of columns whose cells say all that was measured of a row."""

_BROKEN = re.compile(r"\s*<br ?/?>\s*", re.IGNORECASE)

_BETWEEN_PARTS = re.compile(
    r"\s*(?:[,;]\s*)?<br ?/?>\s*|\s*;\s+|,\s+|\s+[/|·•+@]\s+|(?<=[A-Za-z%])\s*[(（\[]\s*",
    re.IGNORECASE,
)


def _in_one_line(grid: Grid) -> Grid:
    """The grid with a stroke between the numbers of a cell that stand below each other, `412
    TFLOPS<br>41.6% MFU`, or each with its unit and perhaps its name: `9,310 tok/s, MFU 41.6%`."""

    def joined(text: str) -> str:
        if len(text) > LONGEST or not _DIGIT.search(text):
            return text
        parts = _BROKEN.split(text) if "<br" in text else ()
        if len(parts) == len(("one", "other")) and all(map(_A_NUMBER.match, parts)):
            return " / ".join(parts)
        if not _TWO_PARTS.search(text) and not parts:
            return text
        told = [_in_its_unit_alone(plain(part)) for part in _BETWEEN_PARTS.split(text)]
        return " / ".join(told) if len(told) > 1 and all(told) else text

    rows = (
        replace(row, cells=tuple(cell._replace(text=joined(cell.text)) for cell in row.cells))
        for row in grid.rows
    )
    return replace(grid, rows=tuple(rows))


_A_NUMBER = re.compile(r"[\W_]*[0-9]")

_OF_MEMORY = (
    r"(?:of )?(?:(?:peak|max(?:imum)?\.?|GPU|CUDA|device|used) ){0,3}(?:mem(?:ory)?\.?|VRAM|HBM)"
    r"(?: (?:usage|used|per GPU))?|peak"
)

_OF_A_STEP = (
    r"(?:per |a |/ ?)?(?:(?:training|optimizer) )?(?:step|it(?:er(?:ation)?)?)(?:[ _]time)?"
)

_NAMED_PART = re.compile(
    r"(?:(?P<name>[A-Za-z][A-Za-z./_ ]{0,30}?)(?:\s*[:=]\s*|\s))?"
    r"(?P<number>[~≈]?\s?[0-9][0-9.,]*(?:\s?[kKM](?=\s?tok))?)\s?"
    r"(?P<unit>%|[A-Za-zµ]+(?:/[A-Za-z]+){0,2})(?:\s(?P<behind>[A-Za-z][A-Za-z/ ]{0,24}?))?"
    r"\s*[)）\]]?"
)
"""One of the numbers of a cell with its unit, and its name in front of it or behind."""

_NAMES_OF_PARTS = (
    (re.compile(r"%"), re.compile(r"([MH]FU)", re.IGNORECASE), "{0}% {2}"),
    (re.compile(r"[KMGT]i?B?"), re.compile(rf"({_OF_MEMORY})?", re.IGNORECASE), "{0} {1}"),
    (
        re.compile(r"s|m?secs?|ms|seconds"),
        re.compile(rf"(?:{_OF_A_STEP})", re.IGNORECASE),
        "{0} {1}/it",
    ),
    (
        re.compile(r"[A-Za-z]+(?:/[A-Za-z]+){1,2}|T(?:FLOPS?|F)"),
        re.compile(r"(?:(?:training )?(?:throughput|speed|rate|perf(?:ormance)?))?", re.IGNORECASE),
        "{0} {1}",
    ),
)
"""Units, the names that numbers in them may have, and how these are written alike."""


def _in_its_unit_alone(part: str) -> str:
    """One number of a cell with a unit that says what it is of; empty where it does not.

    >>> [*map(_in_its_unit_alone, ("MFU: 41.6%", "48 GiB peak", "step time 812 ms", "9k tok/s"))]
    ['41.6% MFU', '48 GiB', '812 ms/it', '9k tok/s']
    >>> {*map(_in_its_unit_alone, ("41.6%", "CPU 48 GiB", "812 ms", "loss 2.1", "8 GPUs"))}
    {''}
    """
    found = _NAMED_PART.fullmatch(part.strip())
    if found is None:
        return ""
    names = [name for name in (found["name"], found["behind"]) if name]
    for units, known, form in _NAMES_OF_PARTS if len(names) <= 1 else ():
        named = (
            known.fullmatch(names[0] if names else "") if units.fullmatch(found["unit"]) else None
        )
        if named:
            return form.format(found["number"], found["unit"], names[0].upper() if names else "")
    return ""


_RATIO_BEHIND = re.compile(
    rf"{_NUMBER}\s*[(（\[]\s*(?:[~≈+−–↑↓-]{{0,2}}\s*[0-9][0-9.]{{0,7}}\s*[x×%倍]?"
    r"(?: (?:faster|slower|less|more))?|-|–|—|n/?a|ref\.?|base(?:line)?)\s*[)）\]]\W*",
    re.IGNORECASE,
)
"""A number, and in brackets how it compares with another: `126.8 (3.07x)`, `52.4 GB (-26%)`."""


def _without_ratios(grid: Grid, schema: Schema) -> Grid:
    """The grid with labels of quantities for those that say besides what stands in the brackets of
    their cells, where it compares: `samples/s (speedup)` over `126.8 (3.07x)`."""
    told = list(grid.heads[-1].cells)
    for at, cell in enumerate(told):
        found = _BESIDE.fullmatch(plain(cell.text))
        if not found or not COMPARED.search(found[2]) or not _quantity(found[1], schema):
            continue
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        held = [text for text in texts if len(text) <= LONGEST and _DIGIT.search(text)]
        behind = sum(_RATIO_BEHIND.fullmatch(text) is not None for text in held)
        if held and 2 * behind > len(held):
            told[at] = cell._replace(text=found[1])
    last = replace(grid.heads[-1], cells=tuple(told))
    return replace(grid, heads=(*grid.heads[:-1], last))


def _form(texts: Sequence[str]) -> re.Pattern[str] | None:
    """How most cells of a column are pairs; None where they are not."""
    held = [text for text in texts if len(text) <= LONGEST and _DIGIT.search(text)]
    if 2 * sum(_APART.search(text) is not None for text in held) <= len(held):
        return None  # most are one number: there may be many of them
    said = [plain(text) for text in held]
    for form in (*_NAMED, _BY_ARROW, _IN_BRACKETS, _BY_STROKE):
        name = _NAMED.get(form, "")
        pairs = sum(name in text and form.fullmatch(text) is not None for text in said)
        if pairs and pairs * 2 > len(said):
            return form
    return None


def _labels(
    label: str,
    form: re.Pattern[str],
    schema: Schema,
    above: Sequence[Line],
    texts: Sequence[str] = (),
) -> tuple[str, str] | None:
    """The labels of both numbers, where each names a quantity, and not the same; one that only says
    that something was fast does so with the unit that its numbers print."""
    if form in _NAMED:
        return (label, _NAMED[form]) if _quantity(label, schema) else None
    if form is _BY_ARROW:
        return _of_both_sides(label, schema)
    if form is _BY_STROKE and (told := _both_named(label, schema)):
        return told
    if found := _BESIDE.fullmatch(label):
        both = found[1], found[2]
    elif form is _BY_STROKE and (found := _STROKE.fullmatch(label)):
        both = (found[1], found[2]) if found[1] else (found[3], found[4])
    else:
        both = "", ""
    both = _with_printed_unit(both, 0, form, schema, texts)
    both = _with_printed_unit(both, 1, form, schema, texts)
    names = [_quantity(each, schema) for each in both]
    if all(names) and names[0] != names[1]:
        return both
    if form is _IN_BRACKETS and not names[0] and (told := _as_written(above, schema)):
        return f"{label} {told[0]}", f"{label} {told[1]}"
    if form is _IN_BRACKETS and names[0] is None and (own := _quantity(label, schema)):
        asides = [
            _said_of_brackets(line.text, schema)[0] for line in above if len(line.text) <= LONGEST
        ]
        others = {each for each in asides if each}
        if len(others) == 1 and _quantity(min(others), schema) != own:
            return label, min(others)
    share = {(m[1] or m[2]).upper() for line in above for m in _SAID.finditer(line.text)}
    if form is not _IN_BRACKETS or len(share) != 1 or "(" in label:
        return None
    beside = f"{label} {share.pop()}"
    if _quantity(label, schema):
        return label, beside.rsplit(maxsplit=1)[-1]
    named = {m[0] for line in above for m in _SHARED.finditer(line.text) if _quantity(m[0], schema)}
    return (f"{label} {named.pop()}", beside) if len(named) == 1 else None


def _of_formats(
    label: str, form: re.Pattern[str], schema: Schema, above: Sequence[Line]
) -> tuple[str, str] | None:
    """The labels of the numbers of two formats: `TFLOPS, BF16 (FP8)`."""
    found = two_formats(label, above) if form in (_IN_BRACKETS, _BY_STROKE) else None
    if found is None or not _quantity(found[0], schema):
        return None
    return _set_behind(found[0], found[1]), _set_behind(found[0], found[2])


def _of_both_sides(label: str, schema: Schema) -> tuple[str, str] | None:
    """The labels of the numbers on both sides of an arrow, where theirs names the quantity and what
    each is of, `Peak GB (eager → compiled)`, or where it says that alone: `before → after`."""
    if sides := _SIDES.fullmatch(label):
        one, other = _free(sides[1], schema), _free(sides[2], schema)
        return (one, other) if one and other and one != other else None
    found = _CHANGED.fullmatch(label)
    if not found or not _quantity(found[1], schema) or found[2].strip() == found[3].strip():
        return None
    if any(_quantity(side.strip(), schema) or _DIGIT.match(side) for side in found.groups()[1:]):
        return None
    one, other = (_set_behind(found[1], side.strip()) for side in found.groups()[1:])
    return one, other


def _with_printed_unit(
    both: tuple[str, str], at: int, form: re.Pattern[str], schema: Schema, texts: Sequence[str]
) -> tuple[str, str]:
    """Two labels, one of them with the unit of its numbers where it says only that something was
    fast: `Step time (throughput)` over `5.2 s (12.3k tok/s)`."""
    (column,) = header([both[at]], schema) if both[at] else (None,)
    if column is None or not generic(column):
        return both
    pairs = [found for text in texts if (found := form.fullmatch(plain(text)))]
    units = {_UNIT_AT_END.sub(r"\1", pair[at + 1].strip()) for pair in pairs}
    if len(units) != 1 or not unit(printed := units.pop()):
        return both
    label = f"{both[at]} ({printed})"
    return (label, both[1]) if at == 0 else (both[0], label)


_UNIT_AT_END = re.compile(r"[~≈*\s]*[0-9][0-9.,]*\s*[kKM]?\s*([A-Za-zµ%]+(?:/[A-Za-z]+){0,2})")

_SET_BEFORE = re.compile(
    r"([^()/]{1,40}?)\s*\(\s*([^()]{1,40}?)\s+/\s+((?:[^()]|\([^()]{1,20}\)){1,40}?)\s*\)"
)

_WITH_UNITS = re.compile(r"([^()]+?\([^()]+\))\s*/\s*([^()]+?\([^()]+\))")


_ONE_UNIT = re.compile(r"([^()/]+?)\s*/\s*([^()/]+?)\s*[(\[]([^()\[\]/]+)[)\]]")
"""Two quantities and behind them the unit of both: `MFU/HFU (%)`."""


def _both_named(label: str, schema: Schema) -> tuple[str, str] | None:
    """The labels of both quantities of a label that names them with their units, `Memory (GB) /
    Throughput (samples/s)`, or behind how its column ran: `DDP (memory / samples/s)`."""
    if found := _WITH_UNITS.fullmatch(label):
        one, other, setting = found[1], found[2], ""
    elif found := _ONE_UNIT.fullmatch(label):
        one, other, setting = f"{found[1]} ({found[3]})", f"{found[2]} ({found[3]})", ""
    elif found := _SET_BEFORE.fullmatch(label):
        setting, one, other = found.groups()
    else:
        return None
    names = [_quantity(each, schema) for each in (one, other)]
    of_all = [_OF_THE_CLUSTER.fullmatch(each) is not None for each in (one, other)]
    if names[0] == names[1] or not all(
        name or own for name, own in zip(names, of_all, strict=True)
    ):
        return None
    return _set_apart((one, other), setting) if setting else (one, other)


_OF_THE_CLUSTER = re.compile(
    r"(?:(?:total|aggregate|cluster) )?(?:P|E)FLOPS?(?:/s)?(?: \(total\))?", re.IGNORECASE
)
"""A rate of all devices together, which is no column, beside a quantity that is one."""


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


_CELLS_ARE = re.compile(
    r"(?:\b(?:(?:each|every) (?:cell|entry)"
    r"(?: (?:is|gives|shows|holds|lists|reports|reads|contains|has)\b|(?= ?[:=]))"
    r"|(?:cells?|entry|entries|(?:cell )?format|in each cell)(?: format)?(?= ?[:=])"
    r"|(?:cells|entries|values|numbers) (?:are|give|show|list|hold|read|contain)(?: given)?"
    r"(?: as)?\b|(?:per cell|the (?:cells|entries))(?= ?:)))"
    r"\W{0,6}([^.;:]*?)(?=[.;:]?\s*$|[.;]\s|,\s(?!(?:and )?(?:then|below|behind|followed)\b))"
    r"|(?:单元格|格式|表中|每(?:个|一)?格)[^。；]{0,6}?(?:为|是|[:：])\s*([^。；，]+)"
    r"|(?:各|それぞれの)(?:セル|マス|欄)(?:の値)?は\s*([^。；、]+?)\s*"
    r"(?:です|である|を示す|の順)?(?=$|[。；、])",
    re.IGNORECASE,
)
"""A sentence that says what the two numbers of a cell are."""

_WIDE = str.maketrans("（）［］／", "()[]/")

_BEHIND_UNIT = re.compile(r"([)\]])\s?/\s?")
"""A stroke behind the unit of the first of two: `速度(s/iter)/ 显存(GB)`."""

_FIRST_THEN = re.compile(
    r",? (?:(?:and )?then|over|above|followed by|and below (?:it|that)|on top of) (?:the )?"
    r"|,? and (?:the )?(?=[^,]*$)",
    re.IGNORECASE,
)
"""Words between the first and the second of two: `seconds per step, then peak memory per GPU`."""

_BOTH = re.compile(
    r"(.+?)\s+[/|]\s+(.+)|(.+?)\s*(?:[(（]([^()（）]+)[)）]|\[([^\[\]]+)\]|\{([^{}]+)\})"
)


def _aside_of(pair: re.Match[str]) -> str:
    """The text in brackets of any kind behind the first of two."""
    return pair[4] or pair[5] or pair[6] or ""


def _unmarked(above: Sequence[Line]) -> list[str]:
    """The texts above a table without marks around their words, in narrow signs."""
    return [
        re.sub(r"[*`_\"「」『』“”]", "", line.text).translate(_WIDE)
        for line in above if len(line.text) <= LONGEST
    ]  # fmt: skip


def _cells_said(above: Sequence[Line]) -> set[str]:
    """Sayings above a table of what its cells hold: `Cells are tokens/s/GPU / MFU`."""
    return {
        next(filter(None, m.groups()), "").strip()
        for text in _unmarked(above) for m in _CELLS_ARE.finditer(text)
    }  # fmt: skip


def _cells_are(
    form: re.Pattern[str], above: Sequence[Line], schema: Schema
) -> tuple[str, str] | None:
    """The two quantities of cells by a sentence above the table: `Cells are tokens/s/GPU / MFU`."""
    if form not in (_BY_STROKE, _IN_BRACKETS):
        return None
    texts, said = _unmarked(above), _cells_said(above)
    if form is _BY_STROKE:
        said = {_BEHIND_UNIT.sub(r"\1 / ", text, count=1) for text in said}
        said = {_FIRST_THEN.sub(" / ", text, count=1) for text in said}
    found = {
        (one.strip(), other.strip())
        for text in said
        if (pair := _BOTH.fullmatch(text))
        for one, other in [(pair[1], pair[2]) if form is _BY_STROKE else (pair[3], _aside_of(pair))]
        if one and other
    }
    found = {(_PERCENT.sub(" (%)", one), _PERCENT.sub(" (%)", other)) for one, other in found}
    found = found or set(_in_turn(texts, schema)) or set(_titled(form, above, schema))
    if not found and form is _IN_BRACKETS and (told := _with_brackets(above, schema)):
        found = {told}
    one, other = found.pop() if len(found) == 1 else ("", "")
    names = _quantity(one, schema), _quantity(other, schema)
    aside = _OF_A_RUN.fullmatch(other) is not None and names[0] is not None
    return (one, other) if aside or (all(names) and names[0] != names[1]) else None


_NUMBER_OF_TWO = (
    r"(?: (?:number|figure|value|line|entry|one))?(?: (?:of|in) (?:each|every|a) cell)?"
)

_IS = r"(?:\s?[:=]|,? (?:is|are|gives?|shows?|holds?|being|means?)\b)? (?:the )?"

_QUANTITY_SAID = r"[^,;:.()|]{2,48}?(?: ?\([^()]{1,12}\))?"

_EACH_IN_PLACE = re.compile(
    rf"\b(?:upper|top|first|left)(?:[ -]hand)?{_NUMBER_OF_TWO}{_IS}(?P<one>{_QUANTITY_SAID})"
    rf"(?:[,;.]|,? and) ?(?:the )?(?:lower|bottom|second|right)(?:[ -]hand)?{_NUMBER_OF_TWO}{_IS}"
    rf"(?P<other>{_QUANTITY_SAID})(?=[,;:.]|$)"
    r"|(?:^|[,;:.(]) ?(?:the )?"
    rf"(?P<above>{_QUANTITY_SAID}),? (?:(?:is )?(?:on|at the|in the) top(?: line)?|above|first"
    rf"|(?:left|in front|before|ahead) (?:of )?the (?:slash|stroke))"
    r"(?:[,;]|,? and|,? then) ?(?:then )?(?:the )?"
    rf"(?P<below>{_QUANTITY_SAID})"
    r"(?:,? (?:(?:is )?(?:below|underneath|under it|second|(?:on|at the|in the) bottom(?: line)?)"
    r"|(?:right of|behind|after) (?:it|the (?:slash|stroke))))?(?=[,;:.)]|$)"
    r"|(?:斜杠前|斜线前|上行|第一个(?:数字?|值)?|左侧?)(?:的数字?)?\s?(?:均?为|是|表示|代表|:)\s?(?P<east>[^,;。，；、|]{2,24}?)[,;，；、]\s?"
    r"(?:斜杠后|斜线后|下行|后者?|第二个(?:数字?|值)?|右侧?)(?:的数字?)?\s?(?:均?为|是|表示|代表|:)\s?(?P<west>[^,;。，；、|]{2,24}?)(?=[,;。，；]|$)",
    re.IGNORECASE,
)
"""Words that say which of two numbers of a cell is what: `Upper figure: s/step, lower: memory`."""


def _in_turn(texts: Sequence[str], schema: Schema) -> Iterator[tuple[str, str]]:
    """The two quantities of cells that a text above names one after the other, and says which of
    them stands first: `step time on top, memory below`."""
    for found in (each for text in texts for each in _EACH_IN_PLACE.finditer(text)):
        one = found["one"] or found["above"] or found["east"]
        other = found["other"] or found["below"] or found["west"]
        both = _PERCENT.sub(" (%)", one.strip()), _PERCENT.sub(" (%)", other.strip())
        if all(_quantity(each, schema) for each in both):
            yield both


_BRACKETS = (
    r"(?:(?:square|round|curly) )?(?:brackets|parenthes[ei]s)|Klammern|parenthèses|paréntesis"
    r"|parênteses"
    r"|parentesi|скобках"
)

_WITHIN = r"(?:in|within|inside|between|entre|tra|в)"

_ASIDE = re.compile(
    r"(?:^|[,;:.(，；：。])\s*(?!(?:the )?(?:numbers?|values?|figures?|percent|Werte?\b|Zahl"
    r"|valeurs?|valores)\w*\s)"
    rf"(?P<before>[^,;:.()|，；：。]{{2,60}}?(?:\s?\([^()]{{1,12}}\))?)\s+"
    rf"(?:(?:is|are|was|were|given|shown|reported|listed|printed|added|steht|stehen)\s+){{0,2}}{_WITHIN}\s+"
    rf"(?:the\s+)?(?:{_BRACKETS})(?![\w])"
    rf"|(?:(?:the )?(?:numbers?|values?|figures?|percentages?|Werte?|Zahlen?|valeurs?"
    r"|valores)\s+)?,?\s*"
    rf"(?:{_WITHIN}\s+(?:the\s+)?)?(?:{_BRACKETS}),?\s*(?:[:=—–-]|\b(?:the|its|is|are|we (?:give"
    r"|report|show|list)|gives?|shows?"
    rf"|denotes?|means?|contains?|ist|sind|die|der|das|la|le|el|il|o|a|—)\b)?\s*"
    r"(?P<behind>[^,;:.()|，；：。]{2,48}?(?:\s?\([^()]{1,12}\))?)\s*(?=$|[,;:.)(，；：。])"
    r"|(?:括号|括弧|カッコ|かっこ)(?:内|中|里|里面)?(?:的)?(?:数字|数值|数据|百分比|数値|値)?\s*(?:均?为|是|表示|代表|は|:|：)?\s*"
    r"(?P<east>[^,;.()|，；。、]{2,30}?(?:\s?[(（][^()（）]{1,12}[)）])?)(?:です|を示す)?\s*(?=$|[,;.)），；。、])",
    re.IGNORECASE,
)
"""Words that say what stands in brackets: `MFU in percent in parentheses`, `括号内为 MFU`."""

_LINKED = re.compile(r"\b(?:and|with|plus|und|mit|et|avec|y|con|e|и)\s+(?=\S)", re.IGNORECASE)

_ARTICLE = re.compile(
    r"^(?:(?:the|its|their|corresponding|respective|achieved|resulting|measured|die|der|das|le|la|el|il|o|a"
    r"|is|are)\s+)+",
    re.IGNORECASE,
)

_PERCENT = re.compile(
    r",?\s+(?:in|as|en|em)\s+(?:an? )?(?:percent(?:age)?s?|%|Prozent)$|\s*%$", re.I
)


def _said_of_brackets(text: str, schema: Schema) -> tuple[str, str]:
    """The label of the quantity that a text says to stand in brackets, and the text without what
    says so; both empty where it does not."""
    for found in _ASIDE.finditer(text):
        name = found["before"] or found["behind"] or found["east"] or ""
        parts = _LINKED.split(name)
        label = _ARTICLE.sub("", (parts[-1] if found["before"] else name).strip(' *_`"“”'))
        label = _PERCENT.sub(" (%)", label)
        if _quantity(label, schema):
            rest = " ".join(parts[:-1]) if found["before"] else ""
            return label, f"{text[: found.start()]} {rest}, {text[found.end() :]}"
    return "", ""


def _with_brackets(above: Sequence[Line], schema: Schema) -> tuple[str, str] | None:
    """The two quantities of cells where the text above says what stands in brackets, and it or the
    lines beside it name one other: `Step time in seconds, MFU in brackets`."""
    for line in reversed(above):
        bare = re.sub(r"[*`_\"]", "", line.text) if len(line.text) <= LONGEST else ""
        for sentence in SENTENCE_END.split(bare):
            other, rest = _said_of_brackets(sentence, schema)
            if not other:
                continue
            near = [
                rest,
                bare.replace(sentence, " "),
                *(x.text for x in reversed(above) if x is not line),
            ]
            for text in near:
                heard = heard_in(text)
                named = {
                    _quantity(each, schema): each for each in (*heard.phrases, *heard.of_memory)
                }
                named.pop(_quantity(other, schema), None)
                if len(named) == 1:
                    one = next(iter(named.values()))
                    return (one, other) if _quantity(one, schema) else None
                if named:
                    return None
    return None


def _titled(
    form: re.Pattern[str], above: Sequence[Line], schema: Schema
) -> Iterator[tuple[str, str]]:
    """The two quantities of cells that the heading of their table, or the line that opens it, names
    in the way in which cells have them: `Throughput, tokens/s/GPU (MFU)`."""
    near = [line.text for line in above if line.text.strip()]
    opening = [text for text in near if text.lstrip().startswith(("#", "**"))]
    opening += near[-1:]
    for text in opening:
        bare = re.sub(r"[*`_#\"]", "", text) if len(text) <= LONGEST else ""
        for part in re.split(r"[,.:;：，。]\s|[：，。]|\s[–—-]\s", bare):
            pair = _BOTH_OPEN.match(part.strip(" .:："))
            one, rest = (pair[1], pair[2]) if pair and form is _BY_STROKE else (None, "")
            if pair and form is not _BY_STROKE:
                one, rest = pair[3], _aside_of(pair)
            for other in _cut_short(rest) if one else ():
                both = _PERCENT.sub(" (%)", one or "").strip(), _PERCENT.sub(" (%)", other).strip()
                if all(_quantity(each, schema) for each in both):
                    yield both
                    break


def _cut_short(text: str) -> Iterator[str]:
    """A text, and what is left of it before each word that leads to something else, the longest
    first: `seconds per step for each batch size`."""
    yield text
    for found in reversed([*_LEADS_ON.finditer(text)]):
        yield text[: found.start()]


_LEADS = r"\s(?:while|when|for|on|with|of|in|at|during|by|using|across|per|and how|vs\.?|against)\b"

_LEADS_ON = re.compile(_LEADS)

_BOTH_OPEN = re.compile(rf"(?:{_BOTH.pattern})(?=$|{_LEADS})")


_OF_A_RUN = re.compile(
    r"(?:(?:total|wall(?:[- ]clock)?|training|overall|epoch) )?(?:time|hours|minutes|duration)"
    r"(?: (?:of|for|per) (?:an?|one|the|each)(?: (?:whole|full))? (?:epoch|run))?|(?:final )?loss",
    re.IGNORECASE,
)
"""Things of a whole run that stand beside a measured quantity in its cell: `time of the epoch`."""


def _set_apart(told: tuple[str, str], setting: str) -> tuple[str, str]:
    """Two labels with a setting behind them, their units at the end."""
    one, other = told
    return _set_behind(one, setting), _set_behind(other, setting)


def _set_behind(label: str, setting: str) -> str:
    """A label with a setting behind it, its unit at the end."""
    part = _BESIDE.fullmatch(label)
    return f"{part[1]} - {setting} ({part[2]})" if part else f"{label} - {setting}"


_UNIT = r"(?:% ?[MH]FU|[A-Za-z%µ]+(?:/[A-Za-z]+){0,2})"

_BY_UNITS = re.compile(
    rf"([~≈]?\s*[0-9][0-9.,]*\s*({_UNIT}))\s*[/|,;&+]\s*([~≈]?\s*[0-9][0-9.,]*\s*({_UNIT}))"
)
"""Cells with two numbers, each with its unit: `29.8GB / 1.1s/it`."""


_SHARE_NAMED = re.compile(r"% ?[MH]FU$")


def _by_units(texts: Sequence[str], setting: str, schema: Schema) -> tuple[str, str] | None:
    """Labels of two quantities that most cells name by their units, `setting` behind each."""
    held = [text for text in texts if len(text) <= LONGEST and _DIGIT.search(text)]
    found = [match for text in held if (match := _BY_UNITS.fullmatch(plain(text)))]
    units = {(match[2], match[4]) for match in found}
    if len(units) != 1 or 2 * len(found) <= len(held):
        return None
    one, other = (_of_unit(each, schema) for each in units.pop())
    return (f"{one}{setting}", f"{other}{setting}") if one and other and one != other else None


def _name_of(label: str, schema: Schema) -> str:
    """A label of results, or one that is nothing but a name; empty where it means something."""
    return label if _RESULTS.fullmatch(label) else _free(label, schema)


def _free(label: str, schema: Schema) -> str:
    """A label that is nothing but a name; empty where it means something, or has a comma."""
    (column,) = header([label], schema) if label else (None,)
    known = column is None or column.spec is not None or column.degrees or generic(column)
    bare = _OURS.sub("", label)
    return "" if known or set(bare) & set(",:()[]") else bare


_OURS = re.compile(
    r"\s*\((?:ours|proposed|baseline|this (?:work|paper)|our method|(?:dé)?finale?|default|本文"
    r"|提案)\)$",
    re.IGNORECASE,
)
"""In brackets behind the name of what ran: whose it is."""


def _of_unit(printed: str, schema: Schema) -> str | None:
    """A label of the one quantity that is printed in a unit: `s/it`, `GB`; None for a mere time."""
    measure = unit(printed)
    if printed in ("G", "GiB", "GB", "MB", "MiB") or (measure and measure.si == "B"):
        return "Memory"
    if printed.startswith("%") and printed[1:]:
        return printed[1:].strip()  # `41.6% MFU`
    if _quantity(printed, schema) == "step_time":
        return "Step time"
    return printed if "/" in printed and _quantity(printed, schema) else None


def _quantity(label: str, schema: Schema) -> str | None:
    if not label:
        return None
    (column,) = header([label], schema)
    return column.spec.name if column.spec and column.spec.quantity else None


def _two(text: str, labels: tuple[str, str]) -> tuple[str, str]:
    """Both parts of a cell; a cell that is no pair stands in the first column, or in that of the
    two which is read."""
    bare = plain(text) if len(text) <= LONGEST else text
    if units := _BY_UNITS.fullmatch(bare):
        return _SHARE_NAMED.sub("%", units[1]), _SHARE_NAMED.sub("%", units[3])
    forms = (*_NAMED, _BY_ARROW, _IN_BRACKETS, _BY_STROKE)
    found = next((match for form in forms if (match := form.fullmatch(bare))), None)
    if found is None and _OF_THE_CLUSTER.match(labels[0]):
        return "", text
    if found is None:
        return text, ""
    behind = _UNIT_BEHIND.fullmatch(found[2]) if found.re is _BY_ARROW else None
    if behind and (first := _BARE_NUMBER.fullmatch(found[1])):  # `711 → 419 ms`
        one, other = (
            float(each.replace(",", "").strip(".") or 0) for each in (first[1], behind[1])
        )
        near = one < _FARTHEST * other and other < _FARTHEST * one
        return f"{found[1]}{behind[2]}" if near else found[1], found[2]
    return found[1], found[2]


_BARE_NUMBER = re.compile(r"[~≈]?\s*([0-9][0-9,]*(?:\.[0-9]*)?)")

_UNIT_BEHIND = re.compile(r"[~≈]?\s*([0-9][0-9,]*(?:\.[0-9]*)?)(\s?[A-Za-z%][A-Za-z/%]{0,14})")
"""A number with its unit, which is that of the one before it as well."""

_FARTHEST = 50
"""So many times apart are no two numbers in one unit, a second and 900 milliseconds are."""


def _row(row: GridRow, found: Container[int], parts: _Parts) -> GridRow:
    cells: list[GridCell] = []
    for at, cell in enumerate(row.cells):
        begin = 0
        for part in parts(cell, at) if at in found else (cell.text,):
            begin = max(begin, cell.text.find(part, begin)) if part else 0
            cells.append(cell._replace(text=part, column=cell.column + begin))
            begin += len(part)
    return replace(row, cells=tuple(cells))


_BEFORE_NUMBER = re.compile(r"\s*[/|;]\s*(?=[~≈]?\s?\**[0-9])|,\s+(?=[~≈]?\s?[0-9])")
"""A sign between two numbers of a cell; a comma inside of one has no blank behind it."""

_BETWEEN_NAMES = re.compile(r"\s+[/|]\s+|\s*;\s+")

_OF_A_UNIT = re.compile(rf"[~≈]?\s?[0-9][0-9.,]*\s?[kKM]?\s?({_UNIT})")

FEWEST_PARTS = 3
"""Numbers in a cell that are more than a pair."""


def _in_several(grid: Grid, schema: Schema, above: Sequence[Line]) -> Grid:
    """The grid with as many columns for each whose cells hold three numbers or more, `909 ms /
    288k tok/s / 33.4 GiB`, as its label or a sentence above names, or as the units name that stand
    behind all of them; each is of another measured quantity."""
    whole = {at: _parts_named(grid, at, schema, above) for at in range(grid.width)}
    found = {at: each for at, each in whole.items() if each.labels}
    if not found:
        return grid
    if len({tuple(each.labels) for each in found.values()}) == 1:  # what ran nowhere prints one
        alike = min(found.items())[1]
        found |= {at: alike._replace(behind=each.behind) for at, each in whole.items()
                  if each.behind and not each.labels}  # fmt: skip
    labels = {
        at: [_set_behind(each, behind) for each in named]
        if behind and (len(found) > 1 or not _RESULTS.fullmatch(behind)) else named
        for at, (named, behind) in found.items()
    }  # fmt: skip
    last = _row(grid.heads[-1], labels, lambda _, at: labels[at])
    upper = [_row(row, labels, lambda cell, at: [cell.text] * len(labels[at]))
             for row in grid.heads[:-1]]  # fmt: skip
    rows = tuple(
        _row(row, labels, lambda cell, at: _each(cell.text, len(labels[at]))) for row in grid.rows
    )
    return replace(grid, heads=(*upper, last), rows=rows)


class _PartsNamed(NamedTuple):
    """The names of what cells hold, and of what they are; no names of what ran out of memory."""

    labels: Sequence[str] = ()
    behind: str = ""


def _parts_named(grid: Grid, at: int, schema: Schema, above: Sequence[Line]) -> _PartsNamed:
    """Names of what the cells of a column hold, by its label, a sentence above or their units."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    label = plain(grid.heads[-1].cells[at].text)
    name = _name_of(label, schema) if at else label
    if at and name and any(texts) and all(map(_RAN_OUT.fullmatch, texts)):
        return _PartsNamed((), name)
    held = [text for text in texts if len(text) <= LONGEST and _DIGIT.search(text)]
    parts = [_BEFORE_NUMBER.split(text) for text in held]
    counts = {len(each) for each in parts}
    if len(counts) != 1 or min(counts) < FEWEST_PARTS:
        return _PartsNamed()
    told = (*sorted(_cells_said(above)), _by_parts(parts, schema)) if at and name else ()
    for text, behind in ((label, ""), *((text, name) for text in told)):
        labels = [_PERCENT.sub(" (%)", each.strip()) for each in _BETWEEN_NAMES.split(text)]
        quantities = {_quantity(each, schema) for each in labels} - {None}
        if {len(labels)} == {len(quantities)} == counts:
            return _PartsNamed(labels, behind)
    return _PartsNamed()


def _by_parts(parts: Sequence[Sequence[str]], schema: Schema) -> str:
    """Names of the parts of cells by the units that stand behind each of them, alike in all."""
    names = []
    for column in zip(*parts, strict=True):
        units = {found[1] if (found := _OF_A_UNIT.fullmatch(part)) else "" for part in column}
        names.append((_of_unit(min(units), schema) if len(units) == 1 else None) or "")
    return " / ".join(names)


def _each(text: str, count: int) -> Sequence[str]:
    """The parts of a cell, each without the name of a share behind its unit; one that has other
    parts stands in the first of its columns."""
    parts = _BEFORE_NUMBER.split(plain(text)) if len(text) <= LONGEST else [text]
    if len(parts) != count:
        return [text, *("" for _ in range(count - 1))]
    return [_SHARE_NAMED.sub("%", part) for part in parts]


_LISTED = tuple(map(re.compile, (r"\s+[/|·@]\s+", r"\s*[,;]\s+", r"\s+[x×+&]\s+", r"\s*[/|]\s*")))
"""Signs between several settings of a label, and of a cell, the clearest first."""

_COUNTS_BEHIND = re.compile(
    r"\s*(\S.{0,80}?)\s*[(（\[]\s*([0-9][0-9,./x× -]{0,24}[MBT]?)\s*[)）\]]\s*"
)
"""A cell with counts of something in brackets behind it: `GPT 18B (64)`, `64 (8/1/8)`."""

_OF_EACH = re.compile(rf"per {A_DEVICE}", re.IGNORECASE)

_A_BATCH = re.compile(r"batch(?:es)?|bs|bsz", re.IGNORECASE)


def with_settings_apart(grid: Grid, schema: Schema) -> Grid:
    """The grid with a column for each of the settings that one label lists and each of its cells
    has in the same order: `Model / GPUs / TP-PP-DP` over `GPT 18B / 64 / 8-1-8`."""
    if not grid.heads or grid.labels or not grid.rows:
        return grid
    apart: dict[int, tuple[Sequence[str], dict[str, Sequence[str]]]] = {}
    for at, cell in enumerate(grid.heads[-1].cells):
        label = plain(cell.text)
        if len(label) <= LONGEST and _TWO_SETTINGS.search(label):
            texts = {row.cells[at].text for row in grid.rows if at < len(row.cells)} - {""}
            if texts and (told := _settings_listed(label, texts, schema)):
                apart[at] = told
    if not apart:
        return grid
    last = _row(grid.heads[-1], apart, lambda _, at: apart[at][0])
    upper = [_row(row, apart, lambda cell, at: [cell.text] * len(apart[at][0]))
             for row in grid.heads[:-1]]  # fmt: skip

    def parts(cell: GridCell, at: int) -> Sequence[str]:
        names, told = apart[at]
        return told.get(cell.text) or (cell.text, *("" for _ in names[1:]))

    rows = tuple(row if row.one else _row(row, apart, parts) for row in grid.rows)
    return replace(grid, heads=(*upper, last), rows=rows)


_TWO_SETTINGS = re.compile(r"[/|·@,;x×+&(（\[]")


def _settings_listed(
    label: str, texts: Collection[str], schema: Schema
) -> tuple[Sequence[str], dict[str, Sequence[str]]] | None:
    """The settings that a label lists, and what each cell has of them; None where it lists none,
    where they are read as one, or where a cell has other parts."""
    (whole,) = header([label], schema)
    if whole.degrees and any(text.strip(" *`")[:1].isdigit() for text in texts):
        return None
    behind = _BESIDE.fullmatch(label)
    names: Sequence[str] = behind.groups() if behind else ()
    if behind and _OF_EACH.fullmatch(behind[2]):
        own = "batch size" if _A_BATCH.fullmatch(behind[1]) else behind[1]
        names = (own, f"batch size {behind[2]}")
    if behind and _are_settings(names, schema, counted=True):
        found = {text: _COUNTS_BEHIND.fullmatch(plain(text)) for text in texts}
        if all(found.values()):
            return names, {text: m.groups() for text, m in found.items() if m}
    if whole.spec is not None:
        return None
    for sign in _LISTED:
        names = [name.strip() for name in sign.split(label)]
        if len(names) < len(("one", "other")) or not _are_settings(names, schema):
            continue
        split_up: dict[str, Sequence[str]] = {text: sign.split(plain(text)) for text in texts}
        if all(len(each) == len(names) and all(each) for each in split_up.values()):
            return (names, split_up) if _fit(names, split_up.values(), schema) else None
    return None


def _are_settings(names: Sequence[str], schema: Schema, *, counted: bool = False) -> bool:
    """Whether each of some labels is of another setting, or of degrees of parallelism; the last is
    of what is `counted` in whole numbers."""
    columns = header(names, schema)
    held = [
        name for c in columns
        for name in (c.degrees or ((c.spec.name,) if c.spec and c.spec.configuration else ("",)))
    ]  # fmt: skip
    last = columns[-1].spec
    counts = bool(columns[-1].degrees) or (last is not None and last.numeric)
    if any("(" in name and not c.degrees for name, c in zip(names, columns, strict=True)):
        return False  # `Batch size / GPU (TF32, AMP)`
    return all(held) and len({*held}) == len(held) and (counts or not counted)


def _fit(names: Sequence[str], cells: Iterable[Sequence[str]], schema: Schema) -> bool:
    """Whether the parts of cells are numbers where those of a setting are, and begin with a letter
    where it has names."""
    columns = header(names, schema)
    return all(
        _FITS[bool(c.degrees or (c.spec and c.spec.numeric))].match(part)
        for parts in cells for c, part in zip(columns, parts, strict=True)
    )  # fmt: skip


_FITS = {True: re.compile(r"\W*[0-9]"), False: re.compile(r"\W*[A-Za-z0-9]")}
"""How the parts of cells begin that are numbers, and those that are not."""


_SIGN = re.compile(
    r"(?:<sup>\s*([0-9a-z*†‡]{1,2})\s*</sup>|\[\^([0-9a-z*†‡]{1,2})\]|([¹²³⁴-⁹†‡§]))\W*$"
)


_OF_ONE = re.compile(rf"\b(?:per|each|for one|of one|a single)\s+{A_DEVICE}\b", re.IGNORECASE)

_OF_ALL = re.compile(
    rf"\b(?:over|across|of|for|on|from)\s+all\s+(?:the\s+)?(?:[0-9]+\s+)?{A_DEVICE}s\b"
    r"|\b(?:in total|total|aggregated?|global|summed|whole job)\b",
    re.IGNORECASE,
)

_OF_OTHERS = re.compile(r"\bper\s+(?:node|host|replica|user|core|server|machine)\b", re.IGNORECASE)


def without_sign(label: str) -> str:
    """A label without the sign of a footnote at its end."""
    return plain(_SIGN.sub("", label))


def with_rates_in_short(grid: Grid) -> Grid:
    """The grid with rates whose unit stands in words behind them as tables write it in short, which
    a legend may explain: `0.93 (Samples per Second)` as `0.93 (SPS)`."""

    def shown(row: GridRow) -> GridRow:
        cells = (
            cell._replace(text=f"{found[1]} ({_IN_LETTERS[found[2].casefold()]})")
            if "er " in cell.text and (found := _IN_WORDS.fullmatch(plain(cell.text)))
            else cell
            for cell in row.cells
        )
        return replace(row, cells=tuple(cells))

    return replace(grid, rows=tuple(map(shown, grid.rows)))


_IN_WORDS = re.compile(
    r"([~≈]?\s*[0-9][0-9.,]*)\s*[(（]?(tokens?|samples?) per sec(?:ond)?[)）]?", re.IGNORECASE
)

_IN_LETTERS = {"token": "TPS", "tokens": "TPS", "sample": "SPS", "samples": "SPS"}


def annotated(
    grid: Grid, schema: Schema, legend: Mapping[str, str], notes: Mapping[str, str]
) -> Grid:
    """The grid with its labels as footnotes complete them (`Tokens/sec²`: per device), and with
    what a legend's short word stands for where that makes a label clear: `BF16 TF`."""
    if not grid.heads or grid.labels or not (legend or notes):
        return grid
    last = grid.heads[-1]
    several = len(grid.heads) > 1
    cells = [
        cell._replace(text=_complete(cell.text, schema, legend, notes, several=several))
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
    text: str,
    schema: Schema,
    legend: Mapping[str, str],
    notes: Mapping[str, str],
    *,
    several: bool = False,
) -> str:
    """A label as notes and a legend complete it; below another label (`several`) by all that the
    legend says of it."""
    if plain(text) in _SHORT_RATES and any(map(_OF_ONE_DEVICE.search, notes.values())):
        return f"{text} per GPU"  # as a footnote of the document says of its rates
    sign = _SIGN.search(text)
    note = notes.get(next(filter(None, sign.groups()))) if sign else None
    if sign and note:
        bare = plain(text[: sign.start()])
        text = _noted(_in_its_unit(bare, note, schema), note)
    whole = legend.get(plain(text), "")
    if whole and header([text], schema)[0].spec is None and header([whole], schema)[0].degrees:
        return whole  # `d x m x p`
    if whole and several and _quantity(whole, schema) and not _quantity(text, schema):
        return whole  # `TF` below `tuned`
    if len(plain(text)) <= LONGEST_SIGN and whole in DEGREES and _says_nothing(text, whole, schema):
        return whole  # `$t$`
    if (rated := _IN_BRACKETS_BEHIND.fullmatch(plain(text))) and (of := legend.get(rated[2])):
        meaning = said(of)
        if meaning and meaning.field == "tokens_per_gpu_per_s":  # `GLA (tps)`
            return f"{rated[1]} (tokens/s/GPU)"
    if (beside := _SIGN_AND_UNIT.fullmatch(plain(text))) and (of := legend.get(beside[1])):
        meant = f"{of.removesuffix(f' ({beside[2]})')} ({beside[2]})"
        own, other = header([plain(text), meant], schema)
        if own.spec is None and other.spec is not None and len(beside[1]) <= LONGEST_SIGN:
            return meant  # `$N$ [B]`
    words = plain(text).split() if legend else []
    of_whom = {*split(text)} & SAID_WHOSE or of_one_device(text)
    if any(legend.get(word) == f"{word} per GPU" for word in words) and not of_whom:
        return f"{text} per GPU"
    if any(size in legend for size in _SIZES):
        text = _in_powers_of_two(text, schema, legend)
    told = {word: legend[word] for word in words if word in legend and word not in _SIZES}
    told = {word: meant for word, meant in told.items() if not configured_by(meant)}
    if len(words) < 2 or not told or header([text], schema)[0].spec is not None:
        return text
    return " ".join(told.get(word, word) for word in words)


def _says_nothing(text: str, whole: str, schema: Schema) -> bool:
    """Whether a symbol is no label of something else than what its document says it is."""
    own, told = header([plain(text), whole], schema)
    return own.spec is None or own.spec is told.spec


def _in_powers_of_two(label: str, schema: Schema, legend: Mapping[str, str]) -> str:
    """A label of memory with the unit that the code of its document divides bytes by."""
    (column,) = header([label], schema)
    if column.spec is None or column.spec.unit != "B":
        return label
    return _A_SIZE.sub(lambda found: legend.get(found[0], found[0]), label)


_SIZES = ("MB", "GB")

_A_SIZE = re.compile(r"(?<![A-Za-z])[MG]B(?![A-Za-z])")


def _in_its_unit(label: str, note: str, schema: Schema) -> str:
    """A label that only says that something was fast, in the unit that its footnote begins with."""
    (column,) = header([label], schema) if label else (None,)
    lead = _SHARED.match(note.strip(" *_.:：")) if column and generic(column) else None
    return f"{label} ({lead[0]})" if lead and said(lead[0]) else label


_IN_BRACKETS_BEHIND = re.compile(r"([^()]+?)\s*\(([A-Za-z]{2,5})\)")

_SIGN_AND_UNIT = re.compile(r"([A-Za-z][\w]{0,7}) ?[(\[]([A-Za-z0-9/]{1,10})[)\]]")
"""A symbol and its unit: `B [seq]`."""

_SHORT_RATES = {"TPS", "tps", "WPS", "wps"}

_OF_ONE_DEVICE = re.compile(
    rf"\btokens(?:\s+per\s+|\s*/\s*)s(?:ec(?:ond)?)?(?:\s+per\s+|\s*/\s*){A_DEVICE}\b",
    re.IGNORECASE,
)


_OF_THE_MOST = re.compile(
    r"(?:the )?(?:max(?:imum)?|highest|peak|min(?:imum)?|mean|average)\b", re.I
)
"""Beginning of a note on one of several devices, whichever that is: `max over all ranks`."""


def _noted(label: str, note: str) -> str:
    """A label with whose it is, as its footnote says first, where it does not itself."""
    told = {"per GPU": _OF_ONE, "(total)": _OF_ALL, "per node": _OF_OTHERS}
    found = {said: match.start() for said, form in told.items() if (match := form.search(note))}
    if not found or of_one_device(label) or _OF_THE_MOST.match(note.strip()):
        return label
    return f"{label} {min(found, key=lambda said: found[said])}"
