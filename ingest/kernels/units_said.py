"""Units of all bare numbers of a table of kernels, as the text above says them.

In: the lines of a document and a table in it. Out: the one quantity that its numbers are, and the
factor to its unit: by the lines right above, the heading or the name of a figure; by a sentence
around the section that says it of all numbers; or by a tutorial whose figures nobody labels, where
the numbers are no times.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from assay.ingest.columns.headers import plain
from assay.ingest.columns.titles import device_named
from assay.ingest.grids.grid import LONGEST, Grid
from assay.ingest.kernels.kernel_headings import BANDWIDTH, OF_STEPS, heading_above
from assay.ingest.kernels.settings_around import (
    FAR,
    NEAR,
    ROW,
    around,
    is_heading,
    nearest_first,
)
from assay.ingest.numbers.printed import Printed, printed
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Line, Schema
from assay.ingest.schema.terminals import deferred
from assay.ingest.tables.csv_sections import timed
from assay.ingest.vocabulary.devices import peaks
from assay.ingest.vocabulary.terms import normalise

_RATE = (
    r"(?<![\w.])(?<![0-9] )(?P<rate>[GTPgtp](?=[Ff][Ll])|[GTP](?=OP))"
    r"(?:(?:FLOP|Flop|flop)[sS]?(?:/s(?:ec)?)?|OP[Ss])\b"
)

_TIME = r"(?:[Mm]illi(?=seconds?\b)|[Mm]icro(?=seconds?\b)|(?:[mu]s|µs|[mu]sec)\b)"

_SECOND = r"(?:[GMT]i?B(?:/s(?:ec)?|ps|PS))(?![A-Za-z])"

_BUS = {
    "busbw": re.compile(r"\bbus ?(?:bw|bandwidths?)\b", re.IGNORECASE),
    "algbw": re.compile(r"\balg(?:o(?:rithm(?:ic)?)?)?\.? ?(?:bw|bandwidths?)\b", re.IGNORECASE),
}
"""Words above a table of collectives for what all its numbers are."""

_UNITS_ABOVE = {
    "flops_rate": deferred(_RATE),
    "time": deferred(rf"(?:\bin |\()(?P<time>{_TIME})"),
    "bandwidth": deferred(rf"\((?P<second>{_SECOND})\):?\s*$"),
}
"""Words right above a table for what all its numbers are."""

_NUMBERS = (
    r"(?:numbers?|values|entries|cells|results|figures|reports?|plots?|curves?"
    r"|y[-_ ]?(?:axis|label)|units?|tim(?:e|ing)s?|latenc(?:y|ies)|durations?|throughputs?"
    r"|performance|speeds?|rates|bandwidths?|everything|columns?|tables?|all)"
)

_RUNS = r"(?:runs?|repeats?|repetitions|iterations?|iters?|calls|trials|launches)"

_DECLARED = deferred(
    rf"(?i:(?<!step )(?<!iteration )(?<!epoch )\b{_NUMBERS}\b(?![^|]*\|)"
    rf"(?:[ :=]+(?:(?![0-9])[\w%-]+|[0-9]+ {_RUNS})){{0,5}}?"
    r"[ :=]*(?:\b(?:is|are|in|reports?)\b|[:=(,])[ :=]*[\"'`(\[]*"
    r"(?:(?:achieved|measured|effective|sustained|median|mean|average|best|given|reported|shown"
    r"|(?:printed|quoted|expressed|listed) in|in|the) ){0,3})"
    rf"(?:{_RATE}|(?P<time>{_TIME})|(?P<second>{_SECOND}))"
)
"""A sentence that says the unit of all numbers: `y-axis of all reports: TFLOPS`."""

_MEASURED_IN = deferred(
    r"(?i:(?<!step )(?<!iteration )(?<!epoch )\b(?:run-?times?|benchmarks?|tim(?:e|ing)s?"
    r"|latenc(?:y|ies)|durations?|bandwidths?|throughputs?|rates?)\b(?![^|]*\|)[^.;:|]{0,60}"
    r"[, (](?:measured|reported|given|expressed|shown|listed) in )[\"'`*]{0,3}(?:the )?"
    rf"(?:{_RATE}|(?P<time>{_TIME})(?:seconds?)?|(?P<second>{_SECOND}))"
    r"(?=[\"'`*]{0,3}(?:\W*$|\s*[,;(.]))"
)
"""The same behind what was benchmarked: `Mean runtime of all layers, measured in microseconds`."""

_STATISTIC = deferred(
    r"(?:^|[·,;(] ?)(?i:median|mean|average|avg\.?|p50) "
    r"(?:(?:of|over) [0-9]{1,6} \w{1,12},? )?(?:in )?"
    rf"(?:{_RATE}|(?P<time>{_TIME})(?:seconds?)?|(?P<second>{_SECOND}))"
    r"(?= ?(?:$|[·,;()]))"
)
"""The same in a list of settings, behind the statistic that all are: `bf16 · median ms`."""

_SHOWS = deferred(
    r"(?i:\b(?:table|figure|chart|columns?|cells?)(?: below| above)? (?:shows?|gives?|lists?"
    r"|reports?"
    r"|contains?|holds?) (?:the |only ){0,2})"
    rf"(?:{_RATE}|(?P<time>{_TIME})(?:seconds?)?|(?P<second>{_SECOND}))(?=\W*$|\s*[,;(.])"
)
"""The same by its verb: `the table shows TFLOP/s`."""

_GOES_ON = re.compile(r"\W*\w+(?: \w+)?")
"""The beginning of a sentence at the end of a line, which goes on in the next one."""

_FIRST = deferred(
    rf"\W{{0,4}}(?i:in )?(?:{_RATE}|(?P<time>{_TIME})(?:seconds?)?|(?P<second>{_SECOND}))"
    r"(?=\W*$|\s*[,;(]| (?:achieved|measured|sustained)\b"
    r"| (?:of|for) (?:the )?(?:forward|backward|fwd|bwd|kernels?|calls?)\b)"
)
"""A sentence that begins with the unit of all numbers: `TOPS of the forward pass`."""

_OF_THIS = re.compile(
    r"\W*(?:all|values|numbers|units?|times?|timings|latenc(?:y|ies)|entries|cells|results"
    r"|(?:out[ -]of[ -]place |in[ -]place )?(?:bus|alg(?:orithm)?) ?(?:bw|bandwidths?)"
    r"|[GTP](?:FLOPS?|flops?|FLOPs)(?:/s)?|[GT]i?B/s|[mu]s|milliseconds|microseconds)\b"
    r"(?!.*\bbelow)",
    re.IGNORECASE,
)

_LAST = deferred(
    rf"(?:(?i:forward|backward|fwd|bwd|latency|latencies|times?|median|mean|average|min|best|passes"
    rf"|runs|iterations|repeats|together)\b[^|;:]{{0,40}}?, (?:in )?(?:{_RATE}|(?P<time>{_TIME})"
    rf"(?:seconds?)?|(?P<second>{_SECOND}))(?: (?:each|per call))?\W*$)"
)

_AT_LAST = deferred(
    r"(?!.*\b(?:is|are|was|were|has|have|can|gets?|needs?|reach\w*|at|to|than|and|or)\b"
    r"[^,]{0,30},[^,]*$)"
    r"(?!.*\b(?i:steps?|iterations?|epochs?|models?|training|layers?)\b)"
    r"(?=.*(?:\b[A-Z]{1,3}[0-9]{2,4}|(?i:\bb?f(?:p|loat)?[0-9]{1,2}\b|\bint8\b|\bkernels?\b"
    r"|[0-9] (?:rows|tokens|heads|ranks|gpus)\b)))"
    rf"[^|:;]{{2,160}}, (?:in )?(?:{_RATE}|(?P<time>{_TIME})(?:seconds?)?|(?P<second>{_SECOND}))"
    r"(?: (?:each|per call))?[\s.:)*_]*$"
)
"""A list of settings that ends with the unit of all numbers: `A100, one node, fp16, us`."""
"""A sentence that ends with the unit of all numbers: `Forward, milliseconds:`."""

_ALL_SO = deferred(
    r"\W{0,4}(?i:(?:all|everything|units?)(?: (?:of )?(?:the )?(?:times?|timings?|numbers?|values"
    r"|results?|entries|cells|columns?|latenc(?:y|ies)|rates?|measurements?|throughputs?))?"
    r"|times?|timings?|numbers|values|results|entries|cells|latenc(?:y|ies)|throughputs?)"
    rf"(?: ?[,:=–—-] ?| )(?:{_RATE}|(?P<time>{_TIME})(?:seconds?)?|(?P<second>{_SECOND}))"
    r"(?=\W*$|\s*[,;(])"
)
"""A sentence that is no more than the unit of all numbers: `All ms.`, `Times: us`."""

_OF_PASSES = deferred(
    r"(?:[-*(:,]|[.;] |^)\W{0,3}(?i:(?:causal |median |mean |average |attention |kernel ){0,2}"
    r"(?:forward|backward|fwd|bwd)(?: ?(?:\+|and|plus|/|&) ?(?:backward|bwd|forward|fwd))?"
    r"(?: pass(?:es)?)?(?: (?:times?|latenc(?:y|ies)|throughput|rates?|speeds?|performance)){0,2}"
    r"(?: \w+){0,2}) ?(?:,|:|(?i:,? in)) ?"
    rf"(?:{_RATE}|(?P<time>{_TIME})(?:seconds?)?|(?P<second>{_SECOND}))"
    r"(?=\W*$|\s*[,;(.])"
)
"""A clause that names passes and their unit: `Forward plus backward in milliseconds, no bias`."""

_TITLE = deferred(
    rf"(?!.*[.!?] )[^|:;]{{2,120}}, (?:in )?(?:{_RATE}|(?P<time>{_TIME})(?:seconds?)?"
    rf"|(?P<second>{_SECOND}))\W*$"
)
"""A caption or a heading that ends with the unit of all numbers: `RMSNorm, milliseconds`."""

_SENTENCE = re.compile(r"(?<=[^\s.][.;!?])\s+(?=[A-Z*`(µ]|[mu]s\b)")


class Told(NamedTuple):
    """Field and factor of all bare numbers of a table, and what says it if no text does."""

    name: str
    scale: float
    law: str = ""


def measured_above(lines: Sequence[Line], grid: Grid, schema: Schema) -> Told | None:
    """The quantity and the unit of all bare numbers of a table, where something says one."""
    above = lines[max(0, grid.begin - FAR) : grid.begin]
    own = [lines[grid.begin]._replace(text=f"## {grid.caption}")] if grid.caption else []
    if (own and _of_another(own[0].text, schema)) or _of_no_speed(lines, grid):
        return None
    for near in (own, *nearest_first(above)):
        told = {name: scale for line in near for name, scale in _said_of(line.text, schema)}
        told |= {name: scale for line in near if line.text.startswith("#")
                 for name, scale in _of_title(line.text) if name in fields(schema)}  # fmt: skip
        if told:
            return Told(*told.popitem()) if len(told) == 1 else None
    if "busbw" in fields(schema) and (bus := _of_the_bus(lines, grid)):
        return Told(*bus)
    if any(map(_has_unit, grid.header())):
        return None
    found = {each for line in around(above) for each in _declared(line.text, schema)}
    if not found:  # `All in TFLOP/s.` right below a table
        below = list(_right_below(lines, grid))
        found = {each for line in below for each in _declared(line.text, schema)}
        of_bus = {each for line in below for each in _named(line.text) if each[0] in _BUS}
        found = of_bus if of_bus and "busbw" in fields(schema) else found
    if found:
        return Told(*found.pop()) if len(found) == 1 else None
    return _of_a_tutorial(lines, grid, schema) or _quoted(lines, grid, schema)


_NO_SPEED = deferred(
    r"[\s#*>0-9.)]{0,12}(?:(?:the|max(?:imum|imal)?|largest|greatest|mean|average|peak|median|relative"
    r"|absolute|abs|rel|numerical|numeric|gpu|extra|additional|total|our|l2|device)[., ]{1,3}){0,4}"
    r"(?:errors?|deviations?|differences?|diffs?|mismatch\w*|speed-?ups?|ratios?|registers?"
    r"|occupanc(?:y|ies)|energy|power|accuracy|numerics|memory(?! bandwidth|-)|tolerances?"
    r"|footprint|shared memory|cost|prices?)\b",
    re.IGNORECASE,
)
"""How a title, or the sentence over a table, begins that is of no times and no rates."""


def _of_no_speed(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether the paragraph right above a table, or its heading, begins with another quantity than
    how fast calls are, and says no unit of that."""
    near = list[str]()
    for line in reversed(lines[max(0, grid.begin - _PARAGRAPH) : grid.begin]):
        if (not line.text.strip() and near) or ROW.match(line.text):
            break
        near += [line.text] if line.text.strip(" `~") else []
    heading = heading_above(lines, grid)
    titles = [*near[-1:], *([heading.text] if heading else [])]
    own = any(_named(text) or _of_all(text) for text in near if len(text) <= LONGEST)
    return not own and any(_NO_SPEED.match(text) for text in titles)


_PARAGRAPH = 8
"""Lines above a table among which the paragraph right above it stands."""


def _of_another(title: str, schema: Schema) -> bool:
    """Whether a title of a table says the unit of a quantity that its kind of calls has not."""
    told = {name for name, _ in (*_named(title), *_of_all(title), *_of_title(title))}
    return bool(told) and not told & fields(schema).keys()


_OF_A_SIZE = re.compile(r"\W*(?:message|msg|buffer|data|payload|size|bytes)", re.IGNORECASE)


def _of_the_bus(lines: Sequence[Line], grid: Grid) -> tuple[str, float] | None:
    """The kind of bandwidth that the line right above a table says all its numbers are, in the unit
    that a sentence around says of all bandwidths: `Here bus bandwidth only:`."""
    if any(_has_unit(label) for label in grid.header() if not _OF_A_SIZE.match(label)):
        return None
    above = lines[max(0, grid.begin - FAR) : grid.begin]
    near = [line.text for line in next(nearest_first(above), []) if len(line.text) <= LONGEST]
    kinds = {name for text in near for name, words in _BUS.items() if words.search(text)}
    units = {scale for line in around(above) if len(line.text) <= LONGEST
             for name, scale in _of_all(line.text) if name == "bandwidth"}  # fmt: skip
    return (kinds.pop(), units.pop()) if len(kinds) == len(units) == 1 else None


def _right_below(lines: Sequence[Line], grid: Grid) -> Iterator[Line]:
    """The line right below a table that speaks of it, and of no table behind that line."""
    below = [line for line in lines[grid.end : grid.end + _BELOW] if line.text.strip()][:2]
    text = below[0].text if below else ""
    if text and below[0] in lines[grid.end : grid.end + 2]:
        of_next = text.rstrip().endswith(":") or any(ROW.match(line.text) for line in below[1:])
        if _OF_THIS.match(text) and not of_next:
            yield below[0]


_BELOW = 6


def _has_unit(label: str) -> bool:
    """Whether a label ends with a unit of its own."""
    behind = re.search(r"[(\[]([^()\[\]]+)[)\]]\s*$|[ _]([A-Za-z/µ]+)\s*$", plain(label))
    printed = next(filter(None, behind.groups())) if behind else ""
    return unit(printed) is not None or printed in BANDWIDTH


def _said_of(text: str, schema: Schema) -> Iterator[tuple[str, float]]:
    """Quantities that a line right above a table names with their units."""
    columns = fields(schema)
    if OF_STEPS.search(text) or _OF_COMPILING.search(text):
        return
    yield from ((name, scale) for name, scale in _named(text) if name in columns)
    yield from _declared(text, schema)


@lru_cache(maxsize=2048)  # every table asks the lines above it, which tables share
def _named(text: str) -> tuple[tuple[str, float], ...]:
    found, text = list[tuple[str, float]](), plain(text)
    for name, pattern in _UNITS_ABOVE.items():
        if said := pattern.search(text):
            found.append((name, _scale(said)))
    for name, words in _BUS.items():
        by_second = {each[1] for each in _BY_SECOND.finditer(text)} if words.search(text) else set()
        if len(by_second) == 1 and (scale := BANDWIDTH.get(f"{by_second.pop()}/s")):
            found.append((name, scale))
    return tuple(found)


_BY_SECOND = re.compile(r"(?<![A-Za-z])([GMT]i?B)(?:/s(?:ec)?|ps)(?![A-Za-z])")


def _declared(text: str, schema: Schema) -> Iterator[tuple[str, float]]:
    """Quantities whose unit the sentences of a line say of all numbers."""
    told = len(text) <= LONGEST and not text.lstrip().startswith(("|", "<t"))
    if told and not OF_STEPS.search(text) and not _OF_COMPILING.search(text):
        yield from (each for each in _of_all(text) if each[0] in fields(schema))


_OF_COMPILING = deferred(
    r"\b(?:compil(?:e|ation|ing)|build|(?:auto-?)?tun(?:e|ing)|start-?up|warm-?up|load(?:ing)?|import"
    r"|jit|launch overhead) (?:times?|latenc(?:y|ies)|durations?)?,?"
    r"(?: (?:is|are|given|per kernel|of each))? ?(?:in\b|\(|:)",
    re.IGNORECASE,
)
"""Found in a sentence on the unit of what precedes all calls: `Compile times in ms`."""

_BETTER = re.compile(
    r"[\s(\[,;:–—-]{0,4}\b(?:lower|higher|smaller|larger|bigger|less|more)(?: numbers?| values?)?"
    r"(?: (?:is|are)|=| =) better\b[)\]]?",
    re.IGNORECASE,
)
"""The direction in which numbers are better, behind a unit: `(lower is better)`."""


@lru_cache(maxsize=2048)
def _of_all(text: str) -> tuple[tuple[str, float], ...]:
    sentences = _SENTENCE.split(_BETTER.sub("", plain(text)))
    if len(sentences) > 1 and _GOES_ON.fullmatch(sentences[-1]):
        sentences.pop()
    found = [
        said for sentence in sentences
        for said in (
            _DECLARED.search(sentence) or _SHOWS.search(sentence) or _MEASURED_IN.search(sentence)
            or _STATISTIC.search(sentence)
            or _LAST.search(sentence) or _OF_PASSES.search(sentence)
            or _AT_LAST.match(sentence) or _ALL_SO.match(sentence),
            _FIRST.match(sentence),
        ) if said
    ]  # fmt: skip
    return tuple((_FIELDS[said.lastgroup or ""], _scale(said)) for said in found)


@lru_cache(maxsize=1024)
def _of_title(text: str) -> tuple[tuple[str, float], ...]:
    """The quantity with whose unit a heading ends."""
    text = _BETTER.sub("", text) if "better" in text else text
    said = _TITLE.match(text) if "," in text and len(text) <= LONGEST else None
    return ((_FIELDS[said.lastgroup or ""], _scale(said)),) if said else ()


_FIELDS = {"rate": "flops_rate", "time": "time", "second": "bandwidth"}


def _scale(found: re.Match[str]) -> float:
    """The factor of the unit that a pattern found."""
    said = found[found.lastgroup or 0]
    if found.lastgroup == "rate":
        return _RATES[said.upper()]
    if found.lastgroup == "time":
        return 1e-3 if said[0] in "mM" and said.casefold() != "micro" else 1e-6
    return BANDWIDTH.get(re.sub(r"/sec|ps|PS", "/s", said), 1e6)


_RATES = {"G": 1e9, "T": 1e12, "P": 1e15}

_TUTORIALS = (
    (deferred(r"matmul-performance(?:-fp(?:16|8))?:"), "flops_rate", 1e12),
    (deferred(r"fused-attention-batch[0-9]+-head[0-9]+-d[0-9]+-[fb]wd-causal=\w+(?:-\S+)?:"),
     "flops_rate", 1e12),
    (deferred(r"(?:vector-add|softmax)-performance:|layer-norm-(?:forward|backward):"),
     "bandwidth", 1e9),
)  # fmt: skip
"""Names of figures of Triton's tutorials, and what each of them draws.

Source: python/tutorials of triton-lang/triton: 01-vector-add, 02-fused-softmax, 05-layer-norm draw
GB/s, 03-matrix-multiplication and 06-fused-attention TFLOPS; what is timed there is divided by.
"""

_LAW = "Triton's tutorials draw it, and numbers that grow so little with the work are no times"


def _of_a_tutorial(lines: Sequence[Line], grid: Grid, schema: Schema) -> Told | None:
    """The quantity of the numbers of a tutorial's figure, whose rows prove that they are no times
    and exceed no peak of the device that the lines above name."""
    name = lines[grid.begin - 1].text.strip() if grid.begin and grid.syntax == "text" else ""
    drawn = next((each for each in _TUTORIALS if name and each[0].fullmatch(name)), None)
    if drawn is None or drawn[1] not in fields(schema):
        return None
    above = lines[max(0, grid.begin - FAR) : grid.begin] if drawn[1] == "flops_rate" else ()
    known = [peak for line in above if (peak := peaks(device_named(line.text) or ""))]
    bound = max(map(max, known), default=math.inf)
    return Told(*drawn[1:], _LAW) if _no_times(grid, bound) else None


_QUOTED = deferred(
    r"(?<![\w.,/×x-])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,7})(\.[0-9]{1,4})? ?"
    r"([GTP](?=[Ff][Ll][Oo][Pp]))(?:FLOP|Flop|flop)[sS]?(?:/s(?:ec)?)?"
    r"(?![A-Za-z/]| ?(?:\w+ ){0,2}peak)"
)
"""A rate with its unit in prose, which is no bound: `2.3 PFLOPS`."""

_AT_MOST = re.compile(
    r"\b(?:peaks?|best|max(?:imum)?|up to|highest|top(?:s out| out|ping)?|reach(?:es|ed|ing)?"
    r"|saturat\w+|plateaus?)\b|峰值|最高|最大",
    re.IGNORECASE,
)
"""Words of a sentence whose rate is the highest of its table."""

_OF_A_MAKER = re.compile(
    r"\b(?:theoretical|spec\w*|advertised|rated|nominal|claimed|promised|data ?sheet|roofline"
    r"|of (?:the )?peak|hardware|expect\w*|target\w*|previous\w*|other|earlier|versus|compared)\b",
    re.IGNORECASE,
)
"""Words of a sentence on another rate than one of its table."""

_QUOTES = "the text quotes numbers of the table with their unit"

_FEWEST_DIGITS, _MANY_DIGITS = 2, 3
"""Digits of a highest rate in another unit, or of any, that no time happens to have."""


def _quoted(lines: Sequence[Line], grid: Grid, schema: Schema) -> Told | None:
    """The unit of bare numbers whose highest the prose of their own section gives with it, `Peak:
    2.3 PFLOPS` below 2,319; or that stand again, the highest of two columns at least, in a table
    whose heading names the unit."""
    if "flops_rate" not in fields(schema) or grid.labels or not grid.heads:
        return None
    columns = _bare_columns(grid)
    if not columns or any(map(_OF_TIMES.search, grid.header())):
        return None
    own = {_RATES[sign] for sign in "GTP"}
    told = False
    for value, unit_of, highest in _rates_of_section(lines, grid):
        known = [max(map(abs, each)) for each in columns] if highest else [
            number for each in columns for number in each
        ]  # fmt: skip
        fits = {scale for scale in own for number in known
                if value.low * unit_of <= number * scale <= value.high * unit_of}  # fmt: skip
        if fits:
            own, told = own & fits, True
    if not told:
        return _repeated(lines, grid, columns)
    return Told("flops_rate", own.pop(), _QUOTES) if len(own) == 1 else None


_OF_TIMES = re.compile(
    r"(?<![A-Za-z])(?:time|latency|duration|[mun]s|µs|sec(?:onds)?|[GM]i?B|bandwidth|bw|memory"
    r"|mfu|loss|accuracy|watts?|power|steps?|tokens?|cost)(?![A-Za-z])",
    re.IGNORECASE,
)
"""Found in labels of tables that hold something else too."""


def _bare_columns(grid: Grid) -> list[list[float]]:
    """The numbers of each column behind the first that has nothing but bare ones."""
    found = list[list[float]]()
    rows = [row for row in grid.rows if len(row.cells) == grid.width]
    rows = [row for row in rows if not all(_SHARE.fullmatch(cell.text) for cell in row.cells[1:])]
    for at in range(1, grid.width):
        texts = [plain(row.cells[at].text) for row in rows]
        told = [text for text in texts if any(map(str.isdigit, text))]
        numbers = [float(text.replace(",", "")) for text in told if _THOUSANDS.fullmatch(text)]
        if numbers and len(numbers) == len(told) and any(numbers):
            found.append(numbers)
    return found


_SHARE = re.compile(r"\s*[0-9.]{1,8} ?(?:%|[x×])\s*")
"""A cell of a row that compares those above it."""

_THOUSANDS = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})(?:\.[0-9]{1,12})?")


def _rates_of_section(lines: Sequence[Line], grid: Grid) -> Iterator[tuple[Printed, float, bool]]:
    """The rates that the prose between the heading of a table and the next heading or table says,
    the factor of their unit, and whether each is the highest."""
    begin, end = grid.begin, grid.end
    while begin and not is_heading(lines, begin - 1) and grid.begin - begin < NEAR:
        begin -= 1
    while end < len(lines) and end - grid.end < NEAR:
        text = lines[end].text.strip()
        if ROW.match(text) or text in ("---", "***") or is_heading(lines, end):
            break
        end += 1
    for line in (*lines[begin : grid.begin], *lines[grid.end : end]):
        if len(line.text) > LONGEST or ROW.match(line.text):
            continue
        for sentence in _SENTENCE.split(plain(line.text)):
            found = () if _OF_A_MAKER.search(sentence) else list(_QUOTED.finditer(sentence))
            highest = len(found) == 1 and _AT_MOST.search(sentence) is not None
            for each in found:
                text = (each[1] + (each[2] or "")).replace(",", "")
                digits = len(text.replace(".", "").lstrip("0"))
                rounded = highest and each[3] == "P" and digits >= _FEWEST_DIGITS
                if rounded or digits >= _MANY_DIGITS:
                    yield printed(text), _RATES[each[3]], highest


def _repeated(lines: Sequence[Line], grid: Grid, columns: Sequence[Sequence[float]]) -> Told | None:
    """The unit that the heading of another table says, which has the highest numbers of two columns
    of this one at least."""
    highest = {max(each) for each in columns}
    highest = {each for each in highest if len(f"{each:g}".replace(".", "")) >= _MANY_DIGITS}
    found = set[float]()
    near = range(max(0, grid.begin - FAR), min(len(lines), grid.end + FAR))
    for at in near if len(highest) > 1 else ():
        line = lines[at]
        if "FLOP" not in line.text.upper() or not is_heading(lines, at):
            continue
        units = {each["rate"].upper() for each in re.finditer(_RATE, line.text)}
        below = lines[at + 1 : at + 1 + NEAR]
        end = next((n for n in range(len(below)) if is_heading(below, n)), len(below))
        rows = [each.text for each in below[:end] if each.text.lstrip().startswith("|")]
        held = {float(text.replace(",", "")) for row in rows for cell in row.split("|")
                if _THOUSANDS.fullmatch(text := plain(cell).strip())}  # fmt: skip
        if len(units) == 1 and len(highest & held) > 1 and lines[grid.begin] not in below:
            found.add(_RATES[units.pop()])
    if not found:
        whole = [{*each} for each in columns if len({*each}) > 1
                 and all(len(f"{n:g}".replace(".", "")) >= _MANY_DIGITS for n in each)]  # fmt: skip
        found |= {scale for scale, held in _rows_of_rates(lines, grid)
                  if any(each <= held for each in whole)}  # fmt: skip
    return Told("flops_rate", found.pop(), _QUOTES) if len(found) == 1 else None


def _rows_of_rates(lines: Sequence[Line], grid: Grid) -> Iterator[tuple[float, set[float]]]:
    """The numbers of rows of other tables around, `| GFLOPS | 186 | 202 | 7044 |`, whose label is a
    unit of rates alone or has one in brackets, and the factor of that."""
    for line in (*lines[max(0, grid.begin - FAR) : grid.begin], *lines[grid.end : grid.end + FAR]):
        if not line.text.lstrip().startswith("|") or len(line.text) > LONGEST:
            continue
        label, *cells = (plain(each).strip() for each in line.text.strip().strip("|").split("|"))
        named = _RATED.fullmatch(label)
        if named and all(map(_THOUSANDS.fullmatch, cells)):
            yield _RATES[named["rate"].upper()], {float(each.replace(",", "")) for each in cells}


_RATED = re.compile(rf"(?:[A-Za-z ]{{1,30}}[ (,]{{1,2}})?{_RATE}\)?")

_OF_COLLECTIVES = {"time": "us", "algbw": "GB/s", "busbw": "GB/s"}
"""Labels of numbers that nccl-tests print, and the units in which they count."""

_BOTH_UNITS = deferred(
    r"\bGB/s\b.*(?:\b[uµ]s\b|\bmicroseconds?\b)|(?:\b[uµ]s\b|\bmicroseconds?\b).*\bGB/s\b"
)

_OF_TESTS = deferred(r"\b[a-z_]+_perf\b.* -[a-z] ?[0-9]")


def in_units_of_tests(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid of times and bandwidths of collectives without units in those of nccl-tests, where
    a line above says both or is their command, and every size over its time is the bandwidth."""
    labels = [normalise(plain(label)) for label in grid.header()]
    times = [at for at, label in enumerate(labels) if label in ("time", "timeus")]
    if grid.labels or not grid.heads or len(times) != 1 or "algbw" not in labels:
        return grid
    sizes = [at for at, label in enumerate(labels) if label in ("size", "sizeb", "bytes")]
    near = next(nearest_first(lines[max(0, grid.begin - FAR) : grid.begin]), [])
    if not sizes or not any(
        _BOTH_UNITS.search(line.text) or _OF_TESTS.search(line.text) for line in near
    ):
        return grid
    places = times[0], labels.index("algbw")
    for row in grid.rows:
        texts = [plain(cell.text) for cell in row.cells]
        if len(texts) != grid.width or not all(_PLAIN.fullmatch(texts[at]) for at in places):
            return grid
        took, rate = (float(texts[at]) for at in places)
        if not (many := _in_bytes(texts[sizes[0]])) or abs(took * rate * 1e3 - many) > ABOUT * many:
            return grid
    head = grid.heads[-1]
    units = map(_OF_COLLECTIVES.get, labels)
    cells = tuple(
        cell._replace(text=f"{label} ({unit_of})") if unit_of else cell
        for cell, label, unit_of in zip(head.cells, labels, units, strict=True)
    )
    return replace(grid, heads=(*grid.heads[:-1], replace(head, cells=cells)))


_WITHOUT_UNIT = re.compile(r"(.{0,80}?)[ _-]?(alg|bus)[ _]?(?:bw|bandwidth)", re.IGNORECASE)


def in_proved_units(grid: Grid) -> Grid:
    """The grid with the unit of bandwidths of collectives whose label has none, where every size
    over its time is that of the algorithm in GB/s: `H100 time (us) | H100 algbw | H100 busbw`."""
    labels = [plain(label) for label in grid.header()]
    found = {
        at: told for at, label in enumerate(labels) if (told := _WITHOUT_UNIT.fullmatch(label))
    }
    sizes = [at for at, label in enumerate(labels) if _OF_BYTES.fullmatch(label)]
    if not found or len(sizes) != 1 or grid.labels or not grid.heads:
        return grid
    proved = set[str]()
    for at, told in found.items():
        times = [(n, scale) for n, label in enumerate(labels)
                 if label.startswith(told[1]) and n not in found
                 and (scale := timed(label[len(told[1]) :].strip(" _-")))]  # fmt: skip
        if (
            told[2].casefold() == "alg"
            and len(times) == 1
            and _over_time(grid, sizes[0], times[0], at)
        ):
            proved.add(told[1])
    named = {at: f"{labels[at]} (GB/s)" for at, told in found.items() if told[1] in proved}
    head = grid.heads[-1]
    cells = tuple(
        cell._replace(text=named.get(at, cell.text)) for at, cell in enumerate(head.cells)
    )
    return replace(grid, heads=(*grid.heads[:-1], replace(head, cells=cells))) if named else grid


_OF_BYTES = re.compile(
    r"(?:(?:message |msg |buffer |data )?(?:size|bytes|payload)|message|msg|buffer)"
    r"(?: ?[(\[](?:B|bytes)[)\]]|[ _]bytes)?",
    re.IGNORECASE,
)


def _over_time(grid: Grid, size: int, time: tuple[int, float], rate: int) -> bool:
    """Whether every size over its time is its rate in GB/s."""
    rows = [[plain(cell.text) for cell in row.cells] for row in grid.rows]
    rows = [texts for texts in rows if len(texts) == grid.width]
    for texts in rows:
        took, told = _number(texts[time[0]]) * time[1], _number(texts[rate]) * 1e9
        many = _in_bytes(texts[size])
        if not many or abs(took * told - many) > ABOUT * many:
            return False
    return bool(rows)


def _in_bytes(text: str) -> float:
    """The bytes of a size, in 1,024s where it says so; 0 of any other text.

    >>> _in_bytes("4096"), _in_bytes("2 MiB"), _in_bytes("2 MB")
    (4096.0, 2097152.0, 0.0)
    """
    found = _SIZED.fullmatch(text)
    return float(found[1]) * 1024.0 ** (" KMG".index(found[2] or " ")) if found else 0.0


_SIZED = re.compile(r"([0-9]+)(?: ?([KMG])iB| ?B)?")

ABOUT = 0.01
"""How far the digits of a time and a bandwidth may be from a size."""

_SIZES = {"m", "n", "k", "nctx", "size"}


def _no_times(grid: Grid, bound: float) -> bool:
    """Whether the numbers of every curve grow by less than the root of the work between a call and
    one of at most half of it, and stay below a bound."""
    labels = [normalise(plain(label)) for label in grid.header()]
    sizes = [at for at, label in enumerate(labels) if label in _SIZES]
    curves = [at for at, label in enumerate(labels) if label and at not in sizes]
    rows = [[_number(cell.text) for cell in row.cells] for row in grid.rows]
    power = 2 if "nctx" in labels else 1
    calls = sorted((math.prod(row[at] for at in sizes) ** power, row) for row in rows)
    half = [row for work, row in calls if work <= calls[-1][0] / 2]
    if not sizes or not curves or not half:
        return False
    most, some = calls[-1], calls[len(half) - 1]
    slow = math.sqrt(most[0] / some[0]) if some[0] else 0.0
    alike = all(most[1][at] < slow * some[1][at] for at in curves if most[1][at] and some[1][at])
    return alike and all(row[at] <= bound for row in rows for at in curves)


def _number(text: str) -> float:
    """A number of a frame; 0 where there is none."""
    return float(text) if _PLAIN.fullmatch(text) else 0.0


_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]*)?")
