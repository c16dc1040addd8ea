"""Results printed as blocks of labels and values, or as items of a list, as grids.

In: the lines of a document. Out: a `Grid` for blocks that follow each other, apart by blank lines,
rules and titles or each begun with a dash as items of YAML are, and have most labels in common. One
label says what was measured of a run, one how it ran; labels that count steps are those of a log.
And a `Grid` for items that each give a rate behind what it ran on: `- 8 GPUs: 98.7 img/s`; and one
for lines of labels and numbers that a loop over settings prints: `bs=  4  iter 37.75 ms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.ingest.grids.grid import Grid, GridCell, GridRow
from assay.ingest.numbers.units import unit
from assay.ingest.schema.record import Line
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.terms import COUNTERS, NUMBER_FORMAT, configured_by, normalise
from assay.ingest.vocabulary.words import said

_PAIR = re.compile(
    r"(\s*)(-\s+)?([A-Za-z][\w ./()%-]{0,40}?)\s*(?::\s+|=\s*)(?=\S)([^|{}\[\]=]{1,80}?)\s*"
)

_REMARK = re.compile(r"\s+#\s.*$")

FEWEST = 3
"""Labels that blocks have in common."""

MOST_APART = 4
"""Lines between two blocks: blank ones, a rule, a title."""

MOST_BLOCKS = 1000

MOST_LABELS = 64

_OF_STEPS = {"step_time", "step_rate", "tokens_per_gpu_per_s", "mfu", "hfu", "model_flops_rate"}
"""Quantities of training, one of which a block has beside a setting."""

_RATED = {
    "tokens_per_s", "samples_per_s", "samples_per_gpu_per_s", "items_per_gpu_per_s", "item_rate",
}  # fmt: skip
"""Rates of anything, which blocks have that say how a job was spread."""

_SPREAD = {"gpus", "nodes", "micro_batch", "global_batch", "accumulation", "tp", "pp", "dp"}


class _Block(NamedTuple):
    """Positions of a block among the lines, and its cells by label."""

    begin: int
    end: int
    cells: Mapping[str, GridCell]


def value_blocks(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every run of such blocks, in order."""
    run = list[_Block]()
    for block in _blocks(lines):
        if run and (len(run) >= MOST_BLOCKS or not _alike(run, block)):
            yield from _grid(lines, run)
            run = []
        run.append(block)
    yield from _grid(lines, run)


def _blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    """Lines of labels and values that follow each other, each label once."""
    cells, begin, depth = dict[str, GridCell](), 0, 0
    for at, line in enumerate(lines):
        found = _PAIR.fullmatch(line.text) if len(line.text) <= _LONGEST else None
        label = found[3] if found else ""
        stands = _stands(line, found) if found else 0
        if cells and (found is None or found[2] or label in cells or stands < depth):
            yield _Block(begin, at, cells)
            cells = {}
        if found is None:
            continue
        if not cells:
            begin, depth = at, stands
        text = _REMARK.sub("", found[4]).strip("\"' ")
        if len(cells) < MOST_LABELS:
            cells[label] = GridCell(text, line.number, line.column + found.start(4))
    if cells:
        yield _Block(begin, len(lines), cells)


_LONGEST = 160


def _stands(line: Line, found: re.Match[str]) -> int:
    """The column of the page in which a label stands."""
    return line.column + len(found[1]) + len(found[2] or "")


def _alike(run: Sequence[_Block], block: _Block) -> bool:
    """Whether a block follows the last one of a run and has most labels of its first."""
    first, mine = run[0].cells.keys(), block.cells.keys()
    near = block.begin - run[-1].end <= MOST_APART
    return near and len(first & mine) >= FEWEST and 2 * len(first & mine) >= len(first | mine)


def of_results(labels: Sequence[str]) -> bool:
    """Whether labels say what was measured of runs and how they ran, and count no steps."""
    if len(labels) < FEWEST or any(normalise(each) in COUNTERS for each in labels):
        return False
    fields = {found.field for each in labels if (found := said(each))}
    set_up = {configured_by(each) for each in labels}
    return bool((fields & _OF_STEPS and any(set_up)) or (fields & _RATED and set_up & _SPREAD))


def _grid(lines: Sequence[Line], run: Sequence[_Block]) -> Iterator[Grid]:
    """The grid of a run of blocks, if they are of results."""
    labels = list(dict.fromkeys(label for block in run for label in block.cells))
    if len(run) < 2 or not of_results(labels):
        return
    first = lines[run[0].begin]
    head = GridRow(first, tuple(GridCell(each, first.number, first.column) for each in labels))
    rows = []
    for block in run:
        line = lines[block.begin]
        blank = GridCell("", line.number, line.column)
        rows.append(GridRow(line, tuple(block.cells.get(each, blank) for each in labels)))
    yield Grid("text", run[0].begin, run[-1].end, (head,), tuple(rows), exact=False)


_OF_ONE_RUN = re.compile(
    r"\s{0,6}(?:[-*+•]|[0-9]{1,2}[.)])\s+"
    r"(?P<marks>\*\*|__|`)?(?P<label>[A-Za-z][A-Za-z0-9 ./()%-]{0,40}?)(?P=marks)?"
    r"\s*[:=]\s*(?:\*\*|__)?\s*(?P<value>\S.{0,80})"
    r"|\s{0,6}(?:[-*+•]|[0-9]{1,2}[.)])\s+"
    r"(?P<plain>[A-Za-z][A-Za-z0-9 ./()%-]{0,40}?)\s*[:=]\s+(?P<said>\S.{0,80})"
    r"|:(?P<field>[A-Za-z][A-Za-z0-9 ./()%-]{0,40}):\s+(?P<holds>\S.{0,80})"
)
"""An item of a list that says of one run what it had, or a field of reStructuredText: `- **MFU:**
54 %`, `:MFU: 54 %`."""

FEWEST_MEASURED = 2
"""Items of such a list that say what was measured: one alone may be said in passing."""


def results_of_one_run(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every list whose items say how one run was set up and what was measured of it."""
    at = 0
    while at < len(lines):
        end, cells = at, dict[str, GridCell]()
        while end < len(lines) and len(cells) < MOST_LABELS:
            line = lines[end]
            found = _OF_ONE_RUN.fullmatch(line.text) if len(line.text) <= _LONGEST else None
            label = (found["label"] or found["plain"] or found["field"]) if found else ""
            if found is None or label in cells:
                break
            group = next(each for each in ("value", "said", "holds") if found[each])
            text = found[group].strip("*`_ ").rstrip(".")
            cells[label] = GridCell(text, line.number, line.column + found.start(group))
            end += 1
        near = [line.text for line in lines[max(0, at - MOST_ABOVE) : at] if line.text.strip()]
        over = [*near[-1:], *(text for text in near if text.startswith(("#", "=", "**")))]
        meant = any(_OF_ANOTHER.search(text) or _NOT_MEASURED.search(text) for text in over)
        if len(cells) >= FEWEST and not meant and _measured_of_one(cells):
            first = lines[at]
            head = (GridCell(label, first.number, first.column) for label in cells)
            row = GridRow(first, tuple(cells.values()))
            yield Grid("text", at, end, (GridRow(first, tuple(head)),), (row,), exact=False)
        at = max(end, at + 1)


MOST_ABOVE = 8
"""Lines above a list among which its heading is looked for."""

_NOT_MEASURED = re.compile(
    r"(?<!-)\b(?:targets?|goals?|requirements?|required|criteri(?:a|on)|expect|estimat|budget|plan|minim"
    r"|should|must|thresholds?|SLOs?|project(?:ed|ions?)|theor|roofline|simulat|paper|example|sample"
    r"|format|template|metrics|defin|glossary)",
    re.IGNORECASE,
)
"""Words of a title over a list of what nobody measured."""


def _measured_of_one(cells: Mapping[str, GridCell]) -> bool:
    """Whether labels with their values are of a run: several measured quantities, one of them of
    its steps, and a setting."""
    fields = [found.field if (found := said(label)) else "" for label in cells]
    fields += [
        found.field
        for cell in cells.values()
        if (form := _IN_UNIT.fullmatch(cell.text)) and (found := said(form[1]))
    ]
    rated = [each for each in fields if each in _OF_STEPS | _RATED | {"memory"}]
    of_steps = set(rated) & (_OF_STEPS | {"tokens_per_s", "samples_per_s"})
    counted = any(normalise(each) in COUNTERS for each in cells)
    settled = any(map(configured_by, cells)) or any(devices(c.text) for c in cells.values())
    return len(rated) >= FEWEST_MEASURED and bool(of_steps) and settled and not counted


_IN_UNIT = re.compile(
    r"[~≈]?\s?[0-9][0-9.,]*\s?[kKM]?\s?"
    r"([A-Za-z]+(?:/|\sper\s)[A-Za-z]+(?:(?:/|\sper\s)[A-Za-z]+)?)"
)

_ITEM = re.compile(
    r"\s*(?:[-*+•]|[0-9]{1,2}[.)])\s+(?P<name>\S.{0,98}?)\s*"
    r"(?:(?:[:：]|=|–|—|->|→)(?:\*\*|__)?\s+|：|(?<=[A-Za-z一-鿿]):(?=[0-9]))"
    r"(?:(?P<said>[~≈]?\s?[0-9].{0,118})|(?P<ended>(?:CUDA )?(?:OOM|out of memory)\b.{0,60}))"
)
"""An item of a list: what it ran on, or what it was, and numbers behind it."""

_PIECE = re.compile(
    r"(?:(?:peak|max(?:imum)?|memory|mem\.?|about|at most|at) ){0,2}"
    r"(?P<number>[~≈]?\s?[0-9][0-9,]*(?:\.[0-9]+)?\s?[kKM]?)\s?"
    r"(?P<unit>%(?: ?[MH]FU)?|[A-Za-zµ][^,;()，；（）→]{0,58}?)"
    r"(?:\s*\([^()]*\)|（[^（）]*）)?"
    r"(?:\.?\s*$|[,;]\s+(?:and |with |at )?|[，；]\s*|\s(?:and|with|at)\s(?=[0-9])"
    r"|\s?(?:→|->|=>)\s?(?=[~≈]?[0-9])|\.\s+(?=[a-z])(?:[^0-9]|[−–+-]?[0-9.]{1,6} ?%){1,60}$|。$)"
)
"""A number of an item and its unit; the last one may stand in front of a remark of a few words."""

_SETTING = re.compile(
    rf"((?:in |with )?(?:{NUMBER_FORMAT}|ZeRO[- ]?(?:stage )?[1-3]|Q?LoRA|FSDP2?))"
    r"\.?\s*(?:$|[,;]\s+)",
    re.IGNORECASE,
)
"""A piece behind what an item has measured that says how: `28.0 s per iteration, fp16`."""

_TOOK = re.compile(
    r"[~≈]?\s?[0-9][0-9,]*(?:\.[0-9]+)?\s?(?:h|hrs?|hours?|days?|min(?:ute)?s?)"
    r"(?: (?:for|in (?:all|total)|altogether|of training|overall|wall)\b[^;()]{0,40}?)?[,;] "
    r"(?:(?:that is|which is|i\.e\.|or|meaning|and|at) ){0,2}(?=[~≈]?\s?[0-9])"
)
"""A piece that says how long the whole run took, before what it had: `14.2 hours for the 90,000
steps, that is 0.51 s/step`."""

_IN_ALL = re.compile(
    r" (?:in (?:all|total)|(?:over|across|on|for) (?:all \w+(?: [GN]PUs| cards)?|the whole job))$"
)
"""Behind a rate: it is of the whole job."""

_USED = re.compile(
    r" (?:(?:used|in use|at (?:the )?peak|peak|at most|needed|taken)"
    r"|(?:used |seen |shown )?(?:in|by|from) `?nvidia-smi`?)$"
)

_RUN_ON = re.compile(
    rf"(?:[0-9]+ ?[x×]? ?)?(?:[GNHTX]PUs?|nodes?|devices?|chips?|cards?)\b|\b{NUMBER_FORMAT}\b"
    r"|\b(?:ZeRO|FSDP|DDP|Q?LoRA|(?:[DTPEC]P) ?=? ?[0-9]|check-?pointing\b|re-?comput)"
    r"|^[*`]{0,2}(?:(?:full|baseline|vanilla|default)\b|(?:with|without|no) )"
)
"""Words of what an item ran on, in or with, where that is no device by its name."""


_OF_ANOTHER = re.compile(
    r"\b(?:generat|inference|infer|decod|serv|eval|load|read|writ|valid|test|sampl|predict|prefill"
    r"|stream|preprocess|render|simulat)",
    re.IGNORECASE,
)
"""Words of a line that opens a list of rates of something else than training."""


_QUANTITY = re.compile(
    r"(?:(?:peak|max\.?|mean|avg\.?|average|median|total|training|gpu|achieved) ){0,2}"
    r"(?:throughput|speed|performance|memory|vram|utili[sz]ation"
    r"|(?:(?:step|iteration) )?(?:time|rate))(?: (?:per|used|usage)\b.{0,20})?",
    re.IGNORECASE,
)
"""The name of an item that is what was measured, and no run."""


class _Item(NamedTuple):
    """An item of a list: its name, and the cells of what it has measured by their labels; the one
    of a run that ended without a number has none."""

    name: GridCell
    cells: Mapping[str, GridCell]


def listed_values(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every list whose items each give what they ran on and a rate in the same unit, or what they
    were and several quantities: `- SDXL, batch 8 per GPU: 36.4 images/s over all, 71.3 GB`."""
    at = 0
    while at < len(lines):
        end, items = at, list[_Item]()
        while end < len(lines) and (item := _item(lines[end])):
            items.append(item)
            end += 1
        if len(items) > 1 and _are_results(items, lines, at):
            yield _of_items(lines[at:end], items, at)
        at = max(end, at + 1)


def _are_results(items: Sequence[_Item], lines: Sequence[Line], at: int) -> bool:
    """Whether the items of a list are of training, each quantity of them by one label."""
    labels = {label for item in items for label in item.cells if label}
    fields = [found.field for label in labels if (found := said(label))]
    near = [line.text for line in lines[max(0, at - MOST_ABOVE) : at] if line.text.strip()]
    over = [*near[-1:], *(text for text in near if text.startswith(("#", "=", "**")))]
    if len(set(fields)) < len(labels) or _OF_ANOTHER.search("".join(near[-1:])):
        return False
    if any(_QUANTITY.fullmatch(item.name.text) for item in items):
        return False  # items of one run: `results_of_one_run`
    if any(map(_NOT_MEASURED.search, over)):
        return False
    if len(labels) == 1:
        names = [item.name.text for item in items]
        opens = "".join(near[-1:]).rstrip(" *_").endswith((":", "：")) and devices(near[-1])
        timed = {*fields} <= _OF_STEPS  # `One A100, batch 16:` over `- compiled: 101 ms/iter`
        return (timed and bool(opens)) or all(
            _RUN_ON.search(name) or devices(name) for name in names
        )
    over += [item.name.text for item in items]
    meant = any(_OF_ANOTHER.search(text) or _NOT_MEASURED.search(text) for text in over)
    return not meant and bool({*fields} & (_OF_STEPS | _RATED))


def _item(line: Line) -> _Item | None:
    """The parts of an item of such a list."""
    found = _ITEM.fullmatch(line.text) if len(line.text) <= _LONGEST_ITEM else None
    cells, at, settings = dict[str, GridCell](), 0, ""
    while found is not None and at < len(found["said"] or ""):
        if cells and (setting := _SETTING.match(found["said"], at)):
            settings += f", {setting[1]}"
            at = setting.end()
            continue
        if took := _TOOK.match(found["said"], at):
            at = took.end()
            continue
        piece = _PIECE.match(found["said"], at)
        label = _label_in_words(piece["unit"]) if piece else ""
        if piece is None or not label or label in cells:
            return None
        place = line.column + found.start("said") + piece.start("number")
        cells[label] = GridCell(piece["number"], line.number, place)
        at = piece.end()
    if found is None:
        return None
    if not cells:  # below whatever the others have measured
        cells[""] = GridCell("OOM", line.number, line.column + found.start("ended"))
    name = re.sub(r"\*\*|__|`", "", found["name"]).strip("* ") + settings
    return _Item(GridCell(name, line.number, line.column + found.start("name")), cells)


_LONGEST_ITEM = 220


def _label_in_words(printed: str) -> str:
    """The label of a quantity by the unit behind its number, with whose it is; empty if unknown."""
    whole = _IN_ALL.search(printed)
    text = _USED.sub("", printed[: whole.start()] if whole else printed)
    if (measure := unit(text)) and measure.si == "B":
        return f"memory ({text})"
    told = said(text)
    known = told is not None and told.unit_known and told.field in _OF_STEPS | _RATED | {"memory"}
    return (f"{text} (total)" if whole else text) if known else ""


def _of_items(lines: Sequence[Line], items: Sequence[_Item], begin: int) -> Grid:
    """The grid of a list: what each item was or ran on, and what it gives."""
    first = lines[0]
    labels = list(dict.fromkeys(label for item in items for label in item.cells if label))
    head = tuple(GridCell(label, first.number, first.column) for label in ("", *labels))
    rows = [
        GridRow(line, (
            item.name,
            *(item.cells.get(label) or item.cells.get("") or GridCell("", line.number, line.column)
              for label in labels),
        ))
        for line, item in zip(lines, items, strict=True)
    ]  # fmt: skip
    return Grid("text", begin, begin + len(rows), (GridRow(first, head),), tuple(rows), exact=False)


_PLACED = re.compile(
    r"(?:(?<![\w+/.-])(?P<label>[A-Za-z#][A-Za-z_#/.-]{0,20}"
    r"(?: [A-Za-z/(-][A-Za-z/)-]{0,12}){0,2}?)"
    r"(?: ?[=:] *| +)|(?<![^\s,;|=:(]))"
    r"(?P<number>[~≈]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,2})?[kKM]?)(?![0-9.])"
    r"(?:[ ]?(?P<unit>%(?: ?[MH]FU)?|[A-Za-zµ][A-Za-zµ/]*(?:/[A-Za-z]+){0,2}))?(?=[\s,;|)\]]|:\s|$)"
)
"""A number of a line, the label before it and what stands right behind it."""

_ENDS_IN = re.compile(
    r"\s*[:=,;|-]?\s*(?P<what>(?:CUDA )?(?:OOM|out of memory|OutOfMemory\w*)|FAIL(?:ED)?"
    r"|failed)\W*$",
    re.IGNORECASE,
)

_BULLETED = re.compile(r"\s{0,8}(?:(?:[-*•+]|[0-9]{1,2}[.)]) )?")

MOST_LINES = 200

_BARE_TIMES = {"dt", "iter", "step", "it", "per iter", "per step", "iteration"}
"""Labels of the time of a step where a unit of time stands behind its number."""


class _Placed(NamedTuple):
    """Labels of the numbers of a line, their cells, the words before them, how it ended."""

    labels: tuple[str, ...]
    cells: tuple[GridCell, ...]
    name: GridCell
    ended: GridCell | None


def labelled_lines(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every run of lines that a loop over settings printed: the same labels with other numbers."""
    at = 0
    while at < len(lines):
        first = _placed(lines[at])
        run, end = [first] if first else [], at + 1
        while first and end < len(lines) and len(run) < MOST_LINES:
            each = _placed(lines[end])
            if each is None or not _goes_with(each, first):
                break
            run.append(each)
            end += 1
        grid = (
            _of_placed(lines[at:end], [each for each in run if each], at) if len(run) > 1 else None
        )
        if grid:
            yield grid
        at = end  # no run that begins farther below is of other labels


def _placed(line: Line) -> _Placed | None:
    """The numbers of a line with their labels; None of one that has fewer than two."""
    text = line.text
    if not 8 <= len(text) <= _LONGEST or not any(map(str.isdigit, text)) or "|" in text:
        return None
    begin = found.end() if (found := _BULLETED.match(text)) else 0
    labels, cells, name, at = list[str](), list[GridCell](), "", begin
    for piece in _PLACED.finditer(text, begin):
        between = text[at : piece.start()].strip(" ,;:()[]–—-")
        if between and labels:
            return None  # words that are no label
        name = between or name
        measure = piece["unit"] and (
            piece["unit"] == "%" or unit(piece["unit"]) or said(piece["unit"])
        )
        at = piece.end() if measure or not piece["unit"] else piece.start("unit")
        label = (piece["label"] or "").strip(" =:")
        if not labels and _says_itself(label, piece["unit"] or ""):
            name, label = text[begin : piece.start("number")].strip(" ,;:-–—"), ""
        labels.append(_label_of(label, piece["unit"] if measure else ""))
        cells.append(GridCell(piece["number"], line.number, line.column + piece.start("number")))
        if at != piece.end():
            break
    rest = text[at:]
    ended = _ENDS_IN.fullmatch(rest) if rest.strip(" ,;.)]") else None
    if (rest.strip(" ,;.)]") and ended is None) or len(cells) + bool(ended) < FEWEST - 1:
        return None
    cell = GridCell("OOM" if ended and "fail" not in ended["what"].casefold() else "failed",
                    line.number, line.column + at) if ended else None  # fmt: skip
    return _Placed(
        tuple(labels), tuple(cells), GridCell(name, line.number, line.column + begin), cell
    )


_SUMMED_UP = re.compile(
    r"\s{0,8}(?:[-*=>•#]{1,3} |\[[\w -]{1,24}\] )?(?:the )?(?:mean|average|averaged|avg\.?|median)"
    r"(?: values?)? (?:of|over|across)(?: the)?(?: last| final)? [0-9][0-9,]{0,6} "
    r"(?:(?:timed|measured|training|steady|warm) )?(?:steps|iterations|iters|its|batches)"
    r"\s?(?::|=>?|->)\s+",
    re.IGNORECASE,
)
"""How a line begins that a program prints when it has timed a run: `average of 20 steps: …`."""

_MOST_HELD = {"peak", "max", "mem", "peak mem", "max mem", "vram", "peak vram", "gpu mem"}
"""Labels of memory, where a number in bytes stands behind them."""


def summed_up(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every line that sums one run up: its rates, times and memory, each in its unit."""
    for at, line in enumerate(lines):
        if not 20 <= len(line.text) <= _LONGEST or "|" in line.text:
            continue
        found = _SUMMED_UP.match(line.text)
        labels, cells = _measured_behind(line, found.end()) if found else ((), ())
        fields = [told.field if (told := said(label)) else "" for label in labels]
        rated = [each for each in fields if each in _OF_STEPS | _RATED | {"memory"}]
        of_steps = set(rated) & (_OF_STEPS | {"tokens_per_s", "samples_per_s"})
        if len(rated) == len(set(fields)) == len(labels) >= FEWEST_MEASURED and of_steps:
            head = GridRow(line, tuple(cell._replace(text=label) for label, cell in
                                       zip(labels, cells, strict=True)))  # fmt: skip
            yield Grid("text", at, at + 1, (head,), (GridRow(line, cells),), exact=False)


_NAMED_NUMBER = re.compile(
    r"\s{0,8}(?P<name>[A-Za-z](?:[^|:=\s]|[ ](?=[^|:=\s])){0,48})(?:\s{2,9}|\s?[:=]\s{1,9})"
    r"(?P<number>[0-9][0-9,]*(?:\.[0-9]+)?)\s*"
)

_OPENS_NUMBERS = re.compile(
    r"(?P<what>[A-Za-z][A-Za-z/ -]{2,40}?)"
    r"(?: in (?P<unit>[A-Za-z]{1,12})|,? ?\((?P<beside>[A-Za-z/]{1,12})\))?"
    r"(?:,? \(?(?:all )?(?:the )?(?:mean|median|average|avg\.?)s? (?:of|over) "
    r"(?:the )?(?:last )?[0-9]+(?: (?:steps|iterations|iters|runs|batches))?\)?)?\s*:\s*",
    re.IGNORECASE,
)
"""A line that says what the numbers below it are, and nothing else: `iteration time in msec:`."""

_SPELLED_UNITS = {
    "msec": "ms", "msecs": "ms", "milliseconds": "ms", "millisecond": "ms", "secs": "s",
    "seconds": "s", "second": "s", "sec": "s",
}  # fmt: skip


def numbers_by_name(lines: Sequence[Line]) -> Iterator[Grid]:
    """Every block of code whose lines are a name and a number, below a line that says what those
    are: `time per step (ms):`, and `ours  231.4`."""
    for at, line in enumerate(lines):
        if not line.text.lstrip().startswith(("```", "~~~")) or at + FEWEST_NAMED >= len(lines):
            continue
        above = next((o.text for o in reversed(lines[max(0, at - 2) : at]) if o.text.strip()), "")
        opened = _OPENS_NUMBERS.fullmatch(above.strip("*_ ")) if len(above) <= _LONGEST else None
        end, found = at + 1, list[re.Match[str]]()
        while opened and end < len(lines) and len(found) < MOST_LINES:
            each = _NAMED_NUMBER.fullmatch(lines[end].text)
            if each is None:
                break
            found.append(each)
            end += 1
        closed = end < len(lines) and lines[end].text.strip() in ("```", "~~~")
        label = _label_opened(opened) if opened and closed and len(found) >= FEWEST_NAMED else ""
        if label and len({each["name"] for each in found}) == len(found):
            yield _of_names(lines, at, found, label)


FEWEST_NAMED = 2
"""Numbers of such a block: one alone is no comparison."""


def _label_opened(opened: re.Match[str]) -> str:
    """The label of what a line opens, with its unit, where it is of a step; else empty."""
    printed = (opened["unit"] or opened["beside"] or "").casefold()
    printed = _SPELLED_UNITS.get(printed, printed)
    label = f"{opened['what']} ({printed})" if printed else opened["what"]
    told = said(label)
    known = told is not None and told.unit_known and told.field in _OF_STEPS | _RATED
    return label if known else ""


def _of_names(lines: Sequence[Line], at: int, found: Sequence[re.Match[str]], label: str) -> Grid:
    """The grid of a block of names and numbers."""
    first = lines[at]
    head = tuple(GridCell(text, first.number, first.column) for text in ("", label))
    rows = [
        GridRow(line, tuple(
            GridCell(each[group], line.number, line.column + each.start(group))
            for group in ("name", "number")
        ))
        for line, each in zip(lines[at + 1 :], found, strict=False)
    ]  # fmt: skip
    end = at + 1 + len(rows)
    return Grid("text", at, end, (GridRow(first, head),), tuple(rows), exact=False)


def _measured_behind(line: Line, begin: int) -> tuple[tuple[str, ...], tuple[GridCell, ...]]:
    """Labels and cells of numbers with units that stand behind a place, and nothing but those."""
    labels, cells, at = list[str](), list[GridCell](), begin
    for piece in _PLACED.finditer(line.text, begin):
        if line.text[at : piece.start()].strip(" ,;()–—-") or not piece["unit"]:
            return (), ()
        label = (piece["label"] or "").strip(" =:")
        measure = unit(piece["unit"])
        if label.casefold() in _MOST_HELD and measure and measure.si == "B":
            label = ""
        labels.append(_label_of(label, piece["unit"]))
        cells.append(GridCell(piece["number"], line.number, line.column + piece.start("number")))
        at = piece.end()
    return ((), ()) if line.text[at:].strip(" ,;.)") else (tuple(labels), tuple(cells))


def _says_itself(label: str, printed: str) -> bool:
    """Whether what stands behind the first number of a line says what it is, and what stands before
    it does not: `bf16 + flash     145.1 ms/step`."""
    rated = said(printed)
    known = said(label) or configured_by(label) or label.casefold() in _BARE_TIMES
    return bool(label) and rated is not None and rated.field in _OF_STEPS | _RATED and not known


def _label_of(label: str, printed: str) -> str:
    """The label of a column of numbers with a unit behind them."""
    if not printed:
        return label
    if not label and (measure := unit(printed)) and measure.si == "B":
        return f"memory ({printed})"
    rated = said(printed)
    if not label or (rated and rated.field not in ("memory", "step_time")):
        return printed if printed != "%" or not label else f"{label} (%)"
    if label.casefold() in _BARE_TIMES and printed in _TIMES:
        return f"step time ({printed})"
    return f"{label} ({printed})"


_TIMES = {"ms", "s", "sec", "secs", "us", "µs", "seconds"}


def _goes_with(each: _Placed, first: _Placed) -> bool:
    """Whether a line has the labels of the first one of its run, or those up to where it ended."""
    if bool(each.name.text) != bool(first.name.text):
        return False
    if each.ended is None:
        return each.labels == first.labels
    return each.labels == first.labels[: len(each.labels)]


def _of_placed(lines: Sequence[Line], run: Sequence[_Placed], begin: int) -> Grid | None:
    """The grid of such lines, if they are of runs that differ in how they were set up."""
    labels = run[0].labels
    if len(set(labels)) < len(labels) or not all(labels) or run[0].ended:
        return None
    if any(normalise(label) in COUNTERS or normalise(label) in _OF_LOGS for label in labels):
        return None
    fields = [found.field if (found := said(label)) else "" for label in labels]
    measured = [at for at, field in enumerate(fields) if field in _OF_STEPS | _RATED | {"memory"}]
    settled = [at for at, label in enumerate(labels) if at not in measured and _sets(label)]
    of_steps = {fields[at] for at in measured} & (_OF_STEPS | _RATED)
    varies = [
        at for at in settled if len({row.cells[at].text for row in run if at < len(row.cells)}) > 1
    ]
    named = run[0].name.text and len({row.name.text for row in run}) > 1
    one = len(varies) == 1 and any(_sets_a_run(labels[at]) for at in varies)
    if len(measured) + one < FEWEST_MEASURED or not of_steps or not (varies or named):
        return None
    if any(len(row.cells) <= max(settled, default=-1) for row in run):
        return None
    first = lines[0]
    names = ["", *labels] if run[0].name.text else list(labels)
    head = tuple(GridCell(label, first.number, first.column) for label in names)
    rows = []
    for line, row in zip(lines, run, strict=True):
        blank = GridCell("", line.number, line.column)
        cells = [*row.cells, *([row.ended] if row.ended else [])]
        cells += [blank] * (len(labels) - len(cells))
        rows.append(GridRow(line, tuple([row.name, *cells] if run[0].name.text else cells)))
    if any(len(row.cells) != len(head) for row in rows):
        return None
    return Grid("text", begin, begin + len(rows), (GridRow(first, head),), tuple(rows), exact=False)


def _sets(label: str) -> bool:
    """Whether a label is of how a run was set up."""
    return bool(configured_by(label)) or label.casefold() in _SHORT_SETTINGS


def _sets_a_run(label: str) -> bool:
    """Whether a label is of how a run was set up, and of no place in it: `batch 200` may be the
    200th, and `GPU 1` the second one."""
    return configured_by(label) in _NO_PLACES and normalise(label) not in {"batch", "seq"}


_NO_PLACES = {
    "micro_batch", "global_batch", "batch_size", "accumulation", "seq_len", "tp", "pp", "cp", "ep",
}  # fmt: skip

_SHORT_SETTINGS = {"b", "bs", "batch", "bsz", "s", "t", "l", "seqlen", "world", "n", "ngpu"}

_OF_LOGS = {"loss", "lr", "gradnorm", "epoch", "lmloss", "trainloss", "learningrate", "ppl", "acc"}
"""Labels of lines that a job prints as it goes."""
