"""Table cells: a number with its unit, an outcome, a known unknown, or nothing.

In: the text of a cell and the column it stands in. Out: a `Cell`, or a diagnostic that says what
the column expects. The grammar is `table_cell.lark`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from decimal import Decimal
from functools import lru_cache

import polars as pl
from assay.ingest.columns.composite import behind_model, cloud_machines
from assay.ingest.columns.headers import Column, generic, in_letters, plain, rate, unlinked
from assay.ingest.columns.number_formats import OF_A_PART
from assay.ingest.columns.titles import counted_nodes, device_named
from assay.ingest.grids.grid import LONGEST
from assay.ingest.lines.lark import Token, Tree, parse_line, parsed_alike
from assay.ingest.numbers.counted import bare_count, of_each
from assay.ingest.numbers.spelled import spelled
from assay.ingest.numbers.units import SUFFIXES, suffix, unit
from assay.ingest.numbers.unmeasured import unmeasured
from assay.ingest.schema.configuration import MOST_SEQUENCES
from assay.ingest.schema.fields import FieldSpec
from assay.ingest.schema.record import Cell, Code, Diagnostic, Record, Span, State
from assay.ingest.schema.terminals import deferred, terminal
from assay.ingest.vocabulary.attention_names import attention_named
from assay.ingest.vocabulary.card_counts import SLICES, chips_in
from assay.ingest.vocabulary.counted_settings import counted_in
from assay.ingest.vocabulary.devices import SIGN, devices, only, several, signed
from assay.ingest.vocabulary.recomputation import how_much_again, switch
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, normalise
from assay.ingest.vocabulary.words import split

_COUNTED_DEVICE = re.compile(r"([0-9]+) ?[x×*] ?(?=[A-Za-z])")

_PODS = re.compile(
    r"(?:([0-9]{1,6}) ?[x×*] ?)?(?:Graphcore )?(?:Bow|IPU)[ -]?POD[ -]?([0-9]{1,9})"
    r"(?: DA| Classic)?",
    re.IGNORECASE,
)

POD_LAW = "a Pod is named by its IPUs"

GENERATION_LAW = "a slice of TPUs is named by their generation"

_MACHINES = re.compile(rf"([0-9]+) ?[x×*] ?(?!TPU|v[2-9]){SIGN}-(2|4|8|16)")
"""Machines that are named by how many devices each has: `32 x H100-8`."""

MACHINES_LAW = "machines named by how many devices each has"

_NAMED_NUMBER = re.compile(r"([A-Za-z]+(?: [A-Za-z]+)?)[ _-]?([0-9]+)")

_BARE = re.compile(r"[0-9]+(?:\.[0-9]+)?")

_UNIT_APART = re.compile(r"\s*([0-9][0-9.,]*)\s*\(([A-Za-z][A-Za-z/%]*)\)\s*")

_OF_DEVICE_AND_HOST = re.compile(
    r"\s*+([^/|,;+]*?)\(?(?:GPU|VRAM|HBM|device)\)?"
    r"(?:\s*+[/|,;+&]\s*+([^/|,;+]*?)\(?(?:CPU|host|RAM)(?: RAM)?\)?)?\s*",
    re.IGNORECASE,
)

_OUT_OF_MEMORY = re.compile(
    r"(?:cuda[ _-]?)?(?:oom|out[ _-]of[ _-]memory)(?:[ _-]?error)?", re.IGNORECASE
)

_NOTHING = re.compile(r"-+|–|—|n/?a", re.IGNORECASE)

_HERE = Span("", 0, 1)

CUT = ("sample/s", "token/s", "flop/s", "B")
"""Units of what tables cut to few digits or did not measure: a printed 0 is neither value nor
nothing."""

SYSTEMS = {
    "system", "cluster", "platform", "machine", "supercomputer", "instance", "nodetype", "server",
    "instancetype",
}  # fmt: skip
"""Labels of columns whose words may name the device beside other things."""

SHOWN = 60
"""Characters that are quoted of a cell too long to be a number."""

OF_NOTHING = "a rate per second of nothing that its table names"

SHORT_SIZES = {"G": 1e9, "M": 1e6}

MANY = 1e6
"""A batch counted in millions is one of tokens."""

_DEVICES = re.compile(rf"([0-9][0-9,]*) ?[x×*]? ?({SIGN}.*)")

_HOSTS_OF = re.compile(r"([0-9]{1,5}) ?[x×] ?([0-9]{1,5})")
"""Devices as a mesh of hosts and those of each: `2x8`."""

_A_COUNT = re.compile(
    r"([0-9][0-9,]*) ?(?:[x×]|(?:[GNTX]PU|device|card|chip|accelerator)s?|[卡张枚기장p])"
    r"|[x×] ?([0-9][0-9,]*)",
    re.IGNORECASE,
)
"""How many devices, with a sign or a noun and no name: `8x`, `×8`, `8 GPUs`, `8p`."""

_DEVICE_FIRST = re.compile(r"([A-Za-z]+[0-9][A-Za-z0-9 _-]*?) ?[x×*] ?([0-9][0-9,]*)")


@lru_cache(maxsize=4096)
def _parse_quantity(text: str) -> Tree[Token] | None:
    return parsed_alike("table_cell", "quantity_cell", text)


def _quantity_tree(text: str) -> Tree[Token] | None:
    tree = _parse_quantity(text)
    if tree is None:
        return None
    child = tree.children[0]
    return child if isinstance(child, Tree) and child.data == "quantity" else None


def _number(tree: Tree[Token]) -> str:
    kinds = ("NUMBER", "GROUPED")
    return next(str(t) for t in tree.children if isinstance(t, Token) and t.type in kinds)


def _word(tree: Tree[Token]) -> str | None:
    """The unit of a number: behind it, or behind its spread (`812 ± 9 ms`)."""
    held = _tokens(tree)
    if "WORD" in held or "SPREAD" not in held:
        return held.get("WORD")
    found = re.search(r"[A-Za-z%µ]+$", held["SPREAD"])
    return found[0] if found else None


def _tokens(tree: Tree[Token]) -> dict[str, str]:
    return {token.type: str(token) for token in tree.children if isinstance(token, Token)}


def _thousands(tree: Tree[Token]) -> float:
    """The factor between a number and its unit: `331.9k tokens/s`."""
    return SUFFIXES.get(_tokens(tree).get("THOUSANDS", ""), 1.0)


def of_the_device(text: str) -> tuple[str, str]:
    """Parts of a cell of memory: what it says of the device, and what of the host beside it.

    >>> of_the_device("47.14GB GPU / 2.96GB CPU"), of_the_device("OOM GPU"), of_the_device("18 GB")
    (('47.14GB', '2.96GB'), ('OOM', ''), ('18 GB', ''))
    """
    found = _OF_DEVICE_AND_HOST.fullmatch(text) if len(text) <= LONGEST else None
    if found is None or not found[1].strip():
        return text, ""
    return found[1].strip(), (found[2] or "").strip()


def _of_grammar(text: str, spec: FieldSpec) -> str:
    """A cell in the way in which the grammar of cells has numbers and units."""
    text = spelled(_closed_up(_within_ends(unlinked(in_letters(text)))))
    text = _POINT_FIRST.sub("0.", text, count=1)
    if (noted := _UNIT_APART.fullmatch(text)) and unit(noted[2]):  # 406.16 (ms)
        text = f"{noted[1]} {noted[2]}"
    text = _SECONDS.sub(lambda m: f" {'ms' if m[1] else 's'}", _of_field(text, spec))
    return _IN_RUSSIAN.sub(lambda m: f" {_OF_RUSSIAN[m[1].casefold()]}", text)


def quantity(text: str, column: Column, at: Span) -> Cell | Diagnostic:
    """One numeric cell: a number with its scale, an outcome, an unknown or a missing value."""
    spec = column.spec
    assert spec is not None
    if len(text) > LONGEST:
        return _not_a_number(spec, f"{text[:SHOWN]}…", at)
    if bare_number(text):
        return bare_cell(text, column, at)
    if told := unmeasured(plain(text), spec.quantity is not None):
        return Cell(told.text, at.line, at.column, state=told.state)
    text = _of_grammar(text, spec)
    tree = _parse_quantity(text)
    if tree is None:
        named = _NAMED_NUMBER.fullmatch(plain(text))
        if named and normalise(named[1]) in spec.spellings:  # `ZeRO-3` under ZeRO, `TP8` under TP
            return Cell(named[2], at.line, at.column)
        if spec.name == "gpus" and (device := only(text)) and device.text == plain(text):
            return Cell(text, at.line, at.column, state="unknown")  # `V100` among `2240 A100`
        return _unread(spec, text, at)
    child = tree.children[0] if tree.children else None
    what = child.data if isinstance(child, Tree) else "missing"
    if what in ("outcome", "missing"):
        return Cell(text, at.line, at.column, state="outcome" if what == "outcome" else "missing")
    assert isinstance(child, Tree)
    if what == "unknown":
        token = child.children[0]
        if span := _of_a_range(str(token), column, at):
            return span
        known = isinstance(token, Token) and token.type in ("UNKNOWN", "SEVERAL")
        known |= spec.quantity is None and _LEFT_OPEN.fullmatch(str(token)) is not None
        if known or unit(str(token)):
            return Cell(text, at.line, at.column, state="unknown")
        return _unread(spec, text, at)
    if not (first := _number(child).lstrip("+-")[0]).isdigit():  # `NaN` of a data frame, `inf`
        state: State = "missing" if first.casefold() == "n" else "unknown"
        return Cell(text, at.line, at.column, state=state)
    scaled = _scale(child, column)
    if scaled is None:
        return _unread(spec, text, at)
    cell = _measured(_number(child).replace(",", ""), *scaled, spec, at)
    return cell._replace(text=text) if cell.state == "unknown" else cell


_LEFT_OPEN = re.compile(
    r"dynamic|auto|automatic|varies|variable|varied|varying|mixed|various|adaptive|packed|random"
    r"|动态|可変|가변",
    re.IGNORECASE,
)
"""A setting that a run changed, or chose by itself."""


def _of_field(text: str, spec: FieldSpec) -> str:
    """A cell without what stands beside the number of its field."""
    if spec.configuration:
        text = bare_count(plain(text), spec.name) or text
    if spec.name == "gpus":
        return _counted_first(text)
    if spec.name == "step_time" and (clock := _CLOCK.fullmatch(text.strip())):
        return f"{3600 * int(clock[1]) + 60 * int(clock[2]) + Decimal(clock[3])} s"
    if spec.name == "step_time" and (short := _SHORT_CLOCK.fullmatch(text.strip())):
        return f"{60 * int(short[1]) + Decimal(short[2] or short[3])} s"
    if spec.name == "step_time" and (long := _MINUTES.fullmatch(text.strip())):
        return f"{60 * int(long[1]) + Decimal(long[2])} s"
    if spec.unit != "B":
        return text
    if shown := _AS_SMI.fullmatch(text.strip()):
        had = int(shown[2]) / 1024
        whole = any(MIN_OF_WHOLE * n <= had <= n for n in (*map(int, WHOLE_MEMORIES), *_SMALL))
        return f"{shown[1]} MiB" if whole and int(shown[1]) <= int(shown[2]) else text
    shared = _SHARE_FIRST.fullmatch(text.strip())
    if shared and shared[2] not in {*WHOLE_MEMORIES, *map(str, _SMALL)}:  # `85% (80 GB)`
        return shared[1]
    of_whole = _OF_WHOLE.fullmatch(text.strip())
    if of_whole and float(of_whole[1]) <= float(of_whole[3]) and of_whole[3] in WHOLE_MEMORIES:
        return f"{of_whole[1]} {of_whole[2] or of_whole[4] or ''}".strip()
    return _BINARY.sub(r"\1iB", of_each(of_the_device(text)[0].strip()))


_BINARY = re.compile(r"(?<=[0-9])\s?([KMG])i$")
"""A binary size as Kubernetes has it: `64Gi`."""

_SECONDS = re.compile(r"(?<=[0-9])\s*(毫|ミリ|밀리)?[秒초]\s*$")
"""A time in Chinese, Japanese or Korean: `17.15秒`."""

_OF_RUSSIAN = {
    "тб": "TB", "гб": "GB", "мб": "MB", "гиб": "GiB", "миб": "MiB",
    "мс": "ms", "с": "s", "сек": "s",
}  # fmt: skip

_IN_RUSSIAN = re.compile(
    rf"(?<=[0-9])\s?({'|'.join(sorted(_OF_RUSSIAN, key=len, reverse=True))})\.?\s*$", re.IGNORECASE
)
"""A memory or a time with its unit in Russian: `21,9 ГБ`, `310 мс`."""

_CLOCK = re.compile(r"([0-9]{1,3}):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)")
"""A time in hours, minutes and seconds: `1:42:07`."""

_SHORT_CLOCK = re.compile(
    r"([0-9]{1,2}):(?:([0-5][0-9]\.[0-9]+)|([0-5][0-9](?:\.[0-9]+)?)\s?min(?:utes)?)"
)
"""A time in minutes and seconds that says so, or has parts of these: `0:01.2`, `1:12 min`."""

_MINUTES = re.compile(
    r"([0-9]{1,3}) ?m(?:in)?\.? ?([0-5]?[0-9](?:\.[0-9]+)?) ?s(?:ec)?\.?", re.IGNORECASE
)
"""A time in minutes and seconds: `1m 18s`."""

_OF_WHOLE = re.compile(
    r"([0-9]+(?:\.[0-9]+)?)\s?([GT]i?B)?\s*(?:/|\b(?:out )?of\b)\s*"
    r"([0-9]+)(?:\.0{1,2})?\s?([GT]i?B)?"
)

WHOLE_MEMORIES = {"16", "24", "32", "40", "48", "64", "80", "94", "96", "128", "141", "192", "288"}
"""Gigabytes that devices have: `76/80` is used and had."""


_SHARE_FIRST = re.compile(
    r"[~≈]?\s*[0-9]{1,3}(?:\.[0-9]{1,2})?\s?%\s?[(（/=]\s?"
    r"(([0-9]{1,5}(?:\.[0-9]{1,3})?)\s?[GM]i?B)[)）]?"
)
"""How much of its memory a device used, and behind it the memory: `91% (21.8 GB)`."""

_AS_SMI = re.compile(r"([0-9]{1,6}) ?MiB ?(?:/|of) ?([0-9]{4,6}) ?MiB")
"""A memory as nvidia-smi prints it, of all that the device has: `21644MiB / 81559MiB`."""

MIN_OF_WHOLE = 0.93
"""Share of the memory of a device that its tools show as all of it."""

_SMALL = (6, 8, 10, 11, 12, 20)
"""Gibibytes of small devices."""

_POINT_FIRST = re.compile(r"^\s*\.(?=[0-9])")
"""The point of a fraction that is printed without its zero: `.521`."""

_WITH_ENDS = re.compile(
    r"(\W*([0-9][0-9,]*(?:\.[0-9]+)?)[^0-9\[\]]{0,12}?)\s*"
    r"(?P<open>\[|\()\s*(?:(?:min|p[0-9]{1,2}|IQR|CI|(?:9[059]|80) ?% ?CI)[ :=]{0,2})?"
    r"([0-9][0-9,]*(?:\.[0-9]+)?)\s*[A-Za-z%µ]{0,5}\s*(?:-|–|—|\.\.\.?|…|,|;|/|to)\s*"
    r"(?:(?:max|p[0-9]{1,2})[ :=]{0,2})?([0-9][0-9,]*(?:\.[0-9]+)?)\s*[A-Za-z%µ]{0,5}\s*[\])]"
    r"(\s*[A-Za-z%µ/]{0,16})",
    re.IGNORECASE,
)
"""A number and the least and the most that it was, or an interval: `0.84 [0.82–0.91]`."""


def _within_ends(text: str) -> str:
    """A cell without the ends between which its number lies.

    >>> _within_ends("0.84 [0.82–0.91]"), _within_ends("812 ms (min 790, max 1,020)")
    ('0.84', '812 ms')
    >>> _within_ends("0.84 [1.82–1.91]"), _within_ends("4.5 [0.1] s")
    ('0.84 [1.82–1.91]', '4.5 [0.1] s')
    """
    found = _WITH_ENDS.fullmatch(text) if "[" in text or "(" in text else None
    if found is None:
        return text
    value, low, high = (float(found[n].replace(",", "")) for n in (2, 4, 5))
    return f"{found[1]}{found[6]}".rstrip() if low <= value <= high else text


_BLANKS = re.compile(
    r"(\W*)([0-9]{1,3}(?:(?:[ \u00a0\u2009\u202f][0-9]{3})+|(?:['’][0-9]{3})+)"
    r"|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})(?![0-9])"
    r"([^0-9]*|\.[0-9]+[^0-9]*)"
)
"""A number whose thousands blanks keep apart, or apostrophes, `3 412`, `12'288.5 ms`, or whose
lakhs commas do: `2,84,310`."""


def _closed_up(text: str) -> str:
    """A cell without the blanks between the thousands of its one number."""
    found = _BLANKS.fullmatch(text)
    return f"{found[1]}{re.sub('[^0-9]', '', found[2])}{found[3]}" if found else text


_RANGE = re.compile(
    r"[~≈]?\s*([0-9][0-9,]*(?:\.[0-9]+)?)\s*([A-Za-z%µ][A-Za-z%µ/]*)?\s*(?:-|–|—|~|to)\s*"
    r"([0-9][0-9,]*(?:\.[0-9]+)?)\s*([A-Za-z%µ][A-Za-z%µ/]*)?"
)

WIDEST = 0.1
"""The share of its middle beyond which a range is of several runs, not of one that fluctuates."""

OF_A_RANGE = "the middle of the printed range, whose ends it leaves open"


def _of_a_range(text: str, column: Column, at: Span) -> Cell | None:
    """The middle of a range of measured values, `36.0–36.6`, which stands for all between its ends;
    None where a cell is none, or where its ends are far apart."""
    spec = column.spec
    assert spec is not None
    found = _RANGE.fullmatch(plain(text).strip())
    if found is None or spec.quantity is None or spec.kind != "decimal":
        return None
    low, high = (Decimal(found[n].replace(",", "")) for n in (1, 3))
    word = found[4] or found[2] or ""
    tree = _quantity_tree(f"{high} {word}")
    scaled = _scale(tree, column) if tree else None
    if not 0 < low < high or high - low > Decimal(str(WIDEST)) * low or (
        found[2] and found[2] != word
    ):  # fmt: skip
        return None
    if scaled is None or scaled[0] == 0.0:
        return None
    middle, width = (low + high) / 2, high - low
    steps = int(middle / width)  # so many widths: the last place that its ends leave open
    scale = float(middle / steps * Decimal(repr(scaled[0])))
    return Cell(
        str(steps), at.line, at.column, scale, "decimal", value_origin="solved", law=OF_A_RANGE
    )


def bare_number(text: str) -> bool:
    """Whether a cell is a number and nothing else, of which Lark reads a number and nothing else.

    >>> bare_number("12.5"), bare_number("12.5 ms"), bare_number("1,024")
    (True, False, False)
    """
    return len(text) <= LONGEST and _BARE.fullmatch(text) is not None


def bare_cell(text: str, column: Column, at: Span) -> Cell:
    """The cell of a number that is a `bare_number`, in the unit of its column."""
    assert column.spec is not None
    scale = column.scale if column.unit_known else 0.0
    return _measured(text, scale, column.kind, column.spec, at)


def _measured(digits: str, scale: float, kind: str | None, spec: FieldSpec, at: Span) -> Cell:
    """A number in its unit; unknown where the unit is, or where a 0 is no value."""
    if scale == 0.0:  # a number without its unit, in a column that has none
        return Cell(digits, at.line, at.column, state="unknown")
    if spec.unit in CUT and float(digits) == 0.0:  # 0.48 samples/s cut, no memory measured
        return Cell(digits, at.line, at.column, state="unknown")
    if "e" in digits.casefold() and spec.dtype.is_integer():  # `1.30e+09` parameters
        digits, _, power = digits.casefold().partition("e")
        decimals = len(digits.partition(".")[2])
        if int(power) > MOST_DIGITS:
            return Cell(digits, at.line, at.column, state="unknown")
        if decimals < int(power):  # its last places are not printed
            kind = kind if spec.kind == "nominal" else "nominal"
        return Cell(digits, at.line, at.column, scale * 10.0 ** int(power), kind)
    if scale == 1.0 and "." in digits and spec.dtype.is_integer():
        whole, _, rest = digits.partition(".")
        digits = digits if rest.strip("0") else whole  # `16.0000`, as tools export counts
    return Cell(digits, at.line, at.column, scale, kind)


def _rough(tree: Tree[Token]) -> bool:
    return any(isinstance(t, Token) and t.type == "APPROX" for t in tree.children)


MOST_DIGITS = 15
"""Powers of ten of a whole number beyond which it counts nothing of a run."""


_COUNTED_IN = {
    "item_rate": ("item/s",), "step_rate": ("step/s",),
    "samples_per_gpu_per_s": ("sample/s", "item/s"),
}  # fmt: skip
"""Units that cells print in columns whose field counts anything a second."""


def _scale(tree: Tree[Token], column: Column) -> tuple[float, str | None] | None:
    """Factor to the field's unit and overriding kind; None where the unit is not the field's."""
    spec = column.spec
    assert spec is not None
    word = _word(tree)
    if word == "%" and spec.unit != "1" and "WORD" not in _tokens(tree):
        word = None  # of its spread: `1.2 ±3%`
    kind = "nominal" if _rough(tree) and spec.kind != "nominal" else column.kind
    if word is None:
        return (column.scale if column.unit_known else 0.0), kind
    measure = unit(word)
    if measure and measure.si in (spec.unit, *_COUNTED_IN.get(spec.name, ())) and (
        spec.kind != "nominal"
    ):  # fmt: skip
        return measure.scale * _thousands(tree) * column.share, kind
    if spec.unit == "B" and word in SHORT_SIZES:  # `48.1G` of memory
        return SHORT_SIZES[word], kind
    if word in SUFFIXES and spec.unit != "B":
        said = 1.0 if column.scale in SUFFIXES.values() else column.scale  # `7B` under `Params (B)`
        return suffix(
            word, spec.name, _number(tree)
        ) * said, None if spec.kind == "nominal" else "nominal"
    return None


def numeric_cell(record: Record, spec: FieldSpec, cell: Cell, text: str) -> None:
    """Store a number of a row; `8×H100` under GPUs also names the device, `4M` as a batch is in
    tokens, and a batch of more sequences than any was is in neither, as far as can be told."""
    words = spec.name == "gpus" and not bare_number(text)
    shown = _counted_first(text) if words else ""
    found = _DEVICES.fullmatch(signed(shown))
    if found and several(shown):
        cell = cell._replace(state="unknown")
    elif found:
        cell = cell._replace(text=found[1].replace(",", ""), state="value")
        record.cells.setdefault("gpu", cell._replace(text=shown[found.start(2) :]))
    elif words and devices(shown):  # `2 nodes, 16x H100`: of these, however many
        device, nodes = only(shown), counted_nodes(shown)
        named = cell._replace(text=device.text, state="value") if device else cell
        record.cells.setdefault("gpu", named)
        if nodes:
            record.cells.setdefault("nodes", cell._replace(text=nodes, state="value"))
    if spec.name in _OF_MACHINES and cell.state == "value" and amount(cell) > MOST_MACHINES:
        cell = cell._replace(state="unknown")  # `1.3B` is none of nodes
    if spec.name == "global_batch" and cell.state == "value":
        if cell.scale >= MANY or _IN_TOKENS.search(text):
            record.cells.setdefault("global_batch_tokens", cell)
            return
        if amount(cell) > MOST_SEQUENCES:
            cell = cell._replace(state="unknown")
    record.cells[spec.name] = cell


_IN_TOKENS = re.compile(r"[0-9kKM]\s?tok(?:en)?s?\W*$", re.IGNORECASE)

_OF_MACHINES = {"gpus", "nodes", "gpus_per_node"}

MOST_MACHINES = 1e6
"""Devices or nodes of a run, of which nobody has more."""


def _counted_first(text: str) -> str:
    """`V100 x 1024` as `1024 x V100`, and the number of `8x` and of `8 GPUs` alone."""
    shown = plain(text)
    if alone := _A_COUNT.fullmatch(shown):
        return alone[1] or alone[2]
    found = _DEVICE_FIRST.fullmatch(shown)
    return f"{found[2]} x {found[1]}" if found else shown


def amount(cell: Cell) -> float:
    """Number in a cell, in the unit of its field; 0 where it is no number."""
    try:
        return float(cell.text) * cell.scale
    except ValueError:
        return 0.0


def _unread(spec: FieldSpec, text: str, at: Span) -> Cell | Diagnostic:
    """A cell that is no number: a configuration in words (`4+GA2`) is unknown, the row stands."""
    if spec.name == "gpus" and (mesh := _HOSTS_OF.fullmatch(text)):
        law, many = "hosts times the devices of each", int(mesh[1]) * int(mesh[2])
        return Cell(str(many), at.line, at.column, value_origin="solved", law=law)
    if spec.name == "zero_stage":  # `ZeRO-3 + offload`; `DDP` is none that is known
        stage = _STAGED.match(text)
        state: State = "value" if stage else "unknown"
        return Cell(stage[1] if stage else text, at.line, at.column, state=state)
    words = text[:1].isdigit() or spec.name == "model_size"  # `Large`, `G/14`
    if spec.configuration and words and not _numeral(text):
        return Cell(text, at.line, at.column, state="unknown")
    return _not_a_number(spec, text, at)


_STAGED = re.compile(r"(?:zero|stage|z)?[ _-]?(?:stage[ _-]?)?([0-3])(?![0-9.])", re.IGNORECASE)


def _numeral(text: str) -> bool:
    """Whether a text means to be one number, and fails."""
    return re.fullmatch(r"[0-9.,_]+", text) is not None


def _not_a_number(spec: FieldSpec, text: str, at: Span) -> Diagnostic:
    wanted = f"a number in {spec.unit}" if spec.unit not in (None, "1") else "a number"
    message = f"{spec.name} was {text!r}, expected {wanted}, an outcome such as OOM, or nothing"
    return Diagnostic(at, Code.UNDECODABLE, message)


_FORMAT_FIRST = re.compile(
    rf"({NUMBER_FORMAT})(?:(?:[-_ ](?:mixed|true|amp))?"
    r"(?:\s*[,;+]\s*(?P<beside>(?!TE\b|transformer)[A-Za-z][A-Za-z ._-]{1,40}))?|\s*,\s*\w+\s*=.*)",
    re.IGNORECASE,
)
"""A number format, and how it is set up, or what else the row has: `fp16, level="O2"`, `bf16-mixed,
compiled`."""


_FORMAT_REMARKED = re.compile(
    rf"({NUMBER_FORMAT})\s*(?:[(（](?P<beside>[^()（）]{{1,60}})[)）]|\+\s*(?P<also>[^+]{{1,60}}))",
    re.IGNORECASE,
)

_ANY_FORMAT = re.compile(rf"(?<![A-Za-z0-9]){NUMBER_FORMAT}(?![A-Za-z0-9])", re.IGNORECASE)

_FEW = re.compile(
    r"\b(?:only|part(?:s|ly|ial)?|some|experts?|MLPs?|attention|FFN|linears?|no|not|off)\b", re.I
)
"""Words of a remark by which a format may be that of a part of the model alone."""

_OF_ANOTHER_ENGINE = re.compile(r"(?<![A-Za-z])(?:TE|transformer[ -]engine)(?![A-Za-z])", re.I)
"""A library that computes in its own format beside the one that a cell begins with: `BF16 + TE`."""


def _format_alone(text: str) -> re.Match[str] | None:
    """The format in front of a remark in brackets or behind a plus, where that names no other:
    `FP8 (hybrid, delayed)`, `FP8 + FP8 gather`; not `bf16 (fp8 MLP)`."""
    found = _FORMAT_REMARKED.fullmatch(text)
    if found is None:
        return None
    remark = found["beside"] or found["also"]
    if _FEW.search(remark) or OF_A_PART.search(remark):
        return None
    others = {each[0].casefold() for each in _ANY_FORMAT.finditer(remark)}
    if others - {found[1].casefold()} or (not others and _OF_ANOTHER_ENGINE.search(remark)):
        return None
    return found


_HOW_MUCH = re.compile(
    r"(?:[^\W\d]+[ _-]){0,3}(?:block|layer|every|each|half|some|only|uniform|partial|op|attn"
    r"|attention|mlp|ffn|core|moe|norm|linear|weight)(?:s|wise)?(?:[ _-][^\W\d]+){0,3}",
    re.IGNORECASE,
)
"""A part of a layer or of the layers that is computed again, and no number of anything."""


def text_cell(record: Record, spec: FieldSpec, text: str, at: Span) -> None:
    """A text cell; `8xA100_80GB` also counts devices, and `selective` is no True or False."""
    text = plain(text)
    if len(text) > LONGEST:
        record.other.append((spec.name, text))
        return
    if _NOTHING.fullmatch(text):
        return
    if spec.name == "dtype" and (lead := _FORMAT_FIRST.fullmatch(text) or _format_alone(text)):
        text = lead[1]
        record.other += [(spec.name, lead["beside"])] if lead["beside"] else []
    cell = Cell(text, at.line, at.column)
    if spec.name == "model":
        for name, value in behind_model(text).items():
            record.cells.setdefault(name, Cell(value, at.line, at.column))
    if spec.name in _OF_AGAIN and _computed_again(record, spec, cell):
        return
    if spec.name == "attention":
        kernel = attention_named(text)
        record.cells[spec.name] = cell._replace(
            text=kernel or text, state="value" if kernel else "unknown"
        )
        return
    if spec.dtype == pl.Boolean and not re.fullmatch(terminal("BOOL"), text):
        if (switched := switch(text)) is None:
            _no_switch(record, spec, cell)
            return
        cell = cell._replace(text=switched)
    if spec.name == "gpu":
        _device(record, cell, text)
    else:
        record.cells[spec.name] = cell


def _device(record: Record, cell: Cell, text: str) -> None:
    """A cell of the device, which may count it, or the machines that have it."""
    counts = not several(text)
    if counts and (hosts := cloud_machines(text)):
        told = {name: cell._replace(text=said) for name, said in hosts.items()}
        record.cells = {**told, **record.cells}
        return
    if counts and (found := _IN_ALL.fullmatch(text)):
        text = _of_all(record, found, cell)
        cell = cell._replace(text=text)
    counted = _COUNTED_DEVICE.match(text) if counts else None
    chips = chips_of(cell)
    alone = counts and chips is None  # a slice is named by its size: `2x v6e-64`
    record.cells["gpu"] = cell._replace(text=_uncounted(text)) if alone else cell
    machines = _MACHINES.fullmatch(signed(text)) if counts else None
    if chips and "gpus" not in record.cells:
        record.cells["gpus"] = chips
    elif machines and "gpus" not in record.cells:  # `32 x H100-8`
        every = str(int(machines[1]) * int(machines[2]))
        solved = cell._replace(text=every, value_origin="solved", law=MACHINES_LAW)
        told = {"nodes": cell._replace(text=machines[1]), "gpus": solved}
        record.cells = {**told, **record.cells}
    elif counted and "gpus" not in record.cells:
        record.cells["gpus"] = cell._replace(text=counted[1])


_IN_ALL = re.compile(
    r"(?!.*\bpods?\b)(?P<what>[^()（）]{2,60}?) ?(?:[(（]|, )(?:= ?)?"
    r"(?:(?P<devices>[0-9][0-9,]{0,8})"
    r"(?: ?[x×*] ?(?=[A-Z])(?P<again>[\w -]{2,30})| ?(?:(?:TPU|GPU|NPU|AI)s? )?"
    r"(?:(?:[GNTXH]PU|chip|device|accelerator|GCD|card|Karte|Chip|Beschleuniger|puce|carte)[sen]{0,2}"
    r"|[卡张枚](?![^\W\d_])))(?: in (?:all|total)| total|总计)?"
    r"(?:, [0-9]{1,5} (?:hosts?|nodes?|VMs?))?|multi-?slice|(?:on|pre)[- ]?(?:demand|emptible)|spot"
    r"|[0-9]{1,5} (?:hosts?|VMs?))[)）]?",
    re.IGNORECASE,
)
"""Machines or slices, and in brackets how many devices all of them have: `2x v5e-256 (512 chips)`,
`2x DGX H100 (16 GPUs)`; or a word of how slices were had. A pod may be a part of one."""


def _of_all(record: Record, found: re.Match[str], cell: Cell) -> str:
    """The text of a cell without the brackets that count its devices, which the row is given."""
    again = found["again"]
    if again is not None and not devices(again):
        return cell.text
    if found["devices"]:
        record.cells.setdefault("gpus", cell._replace(text=found["devices"].replace(",", "")))
    elif not slices(found["what"]):
        return cell.text
    return found["what"]


def _no_switch(record: Record, spec: FieldSpec, cell: Cell) -> None:
    """Keep a cell of words under a label of switches; whatever is said of all rows is not said of
    one that says in other words how much it computes again."""
    if spec.name == "activation_checkpointing" and _HOW_MUCH.fullmatch(cell.text):
        record.cells.setdefault("recompute", cell)
        return
    record.other.append((spec.name, cell.text))
    if spec.name == "activation_checkpointing":
        record.cells.setdefault("recompute", cell._replace(state="unknown"))


def _uncounted(text: str) -> str:
    """The device of a cell that counts it, as it is printed there; elsewhere the whole cell.

    >>> _uncounted("8 × RTX 4090"), _uncounted("A100-80GB x 8"), _uncounted("H100 SXM5 (8x)")
    ('RTX 4090', 'A100-80GB', 'H100 SXM5')
    >>> _uncounted("2 x A100-8"), _uncounted("4x TPU"), _uncounted("2x HGX H100")
    ('2 x A100-8', '4x TPU', '2x HGX H100')
    >>> _uncounted("A100 80GB 8枚"), _uncounted("8卡 H100"), _uncounted("Gaudi2 16개")
    ('A100 80GB', 'H100', 'Gaudi2')
    """
    found = _BEHIND_COUNT.fullmatch(signed(text)) or _BEFORE_COUNT.fullmatch(signed(text))
    return text[found.start(1) : found.end(1)] if found else text


_PIECES = "[卡张張块枚基장개]"
"""Words with which Chinese, Japanese and Korean count devices."""

_BEHIND_COUNT = re.compile(rf"[0-9]+(?: ?[x×*] ?| | ?{_PIECES} ?)({SIGN})s?(?: ?[†‡§¶*]+)?")

_BEFORE_COUNT = re.compile(
    rf"({SIGN})s?(?: ?[x×*] ?[0-9]+{_PIECES}?| ?[0-9]+ ?{_PIECES}"
    r"| ?[(（](?:[x×] ?[0-9]+|[0-9]+ ?[x×])[)）])"
)


_OF_AGAIN = {"recompute", "activation_checkpointing"}

_COUNTED = re.compile(r"[0-9][0-9.,]*(?: ?[A-Za-z%/]{1,6})?")


def _computed_again(record: Record, spec: FieldSpec, cell: Cell) -> bool:
    """Whether a cell says how much is computed again, or counts something: that it is switched on
    says not how much, and stays as it is printed."""
    much, switch = how_much_again(cell.text), spec.dtype == pl.Boolean
    if much is None:
        counts = not switch and _COUNTED.fullmatch(cell.text) is not None  # layers, or a time
        record.other += [(spec.name, cell.text)] if counts else []
        return counts
    if switch and re.fullmatch(terminal("BOOL"), cell.text):
        record.cells[spec.name] = cell
    elif much == "on":
        record.cells[spec.name] = cell._replace(text="True") if switch else cell
    elif switch:
        record.cells.setdefault("recompute", cell._replace(text=much))
    else:
        record.cells[spec.name] = cell._replace(text=much)
    return True


def listed(text: str) -> list[str]:
    """Numbers of devices that a text lists.

    >>> listed("[0, 1]"), listed("cuda:0,cuda:2"), listed("0")
    (['0', '1'], ['0', '2'], ['0'])
    """
    return re.findall(r"[0-9]+", text)


LISTED_LAW = "as many devices as are listed by their numbers"


def slices(text: str) -> bool:
    """Whether a text names slices of TPUs: `4x v5p-512`."""
    return SLICES.fullmatch(text) is not None


def generation(text: str) -> str:
    """The generation of the TPUs of slices that a text names.

    >>> generation("4x v5p-512")
    'v5p'
    """
    found = SLICES.fullmatch(text)
    return found[2].casefold() if found else ""


def chips_of(cell: Cell) -> Cell | None:
    """Chips of TPU slices, which some generations name by their cores and others by chips, and of
    Pods of IPUs; None where a cell names neither."""
    if pods := _PODS.fullmatch(cell.text):
        ipus = str(int(pods[1] or 1) * int(pods[2]))
        return cell._replace(text=ipus, value_origin="solved", law=POD_LAW)
    slices = SLICES.fullmatch(cell.text)
    if slices is None:
        return None
    chips, law = chips_in(slices)
    return cell._replace(
        text=str(chips), value_origin="solved" if law else cell.value_origin, law=law or cell.law
    )


def other(record: Record, column: Column, text: str, at: Span) -> None:
    """A column no field declares: kept as text, unless the unit of its cell tells what it is."""
    if len(text) > LONGEST:
        record.other.append((column.label, text))
        return
    bare = _IN_TOTAL.sub("", unlinked(text), count=1)
    if (noted := _UNIT_APART.fullmatch(bare)) and unit(noted[2]):  # `3.18 (SPS)`
        bare = f"{noted[1]} {noted[2]}"
    if generic(column) and len(within := _RATE_WITHIN.findall(bare)) == 1 and "(" in bare:
        bare = within[0]
    parsed = _quantity_tree(bare) if generic(column) else None
    label = "throughput" if column.by_cells else column.label
    if parsed and (word := _word(parsed)) and (name := rate(label, word)):
        measure = unit(word)
        if measure and name not in record.cells:
            digits = _number(parsed).replace(",", "")
            kind = "nominal" if _rough(parsed) else None
            scale = measure.scale * _thousands(parsed)
            law = OF_NOTHING if measure.si == "1/s" else None
            record.cells[name] = Cell(digits, at.line, at.column, scale, kind, law=law)
            return
    share = _SHARE.fullmatch(plain(text)) if _OF_SHARES.fullmatch(plain(column.label)) else None
    if share and (field := share[2].casefold()) not in record.cells:
        record.cells[field] = Cell(share[1], at.line, at.column + text.find(share[1]), 0.01)
        return
    if text:
        record.other.append((column.label, text))
    if said := _ended(column.label, plain(text)):
        held = record.cells.get("outcome")
        if held is None or (_RAN_OUT.search(said) and not _RAN_OUT.search(held.text)):
            record.cells["outcome"] = Cell(said, at.line, at.column)
    if normalise(column.label) in SYSTEMS and "gpu" not in record.cells:
        device = device_named(text)
        if device is not None:
            named_by = Cell(device, at.line, at.column + text.index(device))
            record.cells["gpu"] = named_by
            if (chips := chips_of(named_by)) and device == plain(text):
                record.cells.setdefault("gpus", chips)


_IN_TOTAL = re.compile(
    r"(?<=[0-9kM] )(?:total|overall|aggregated?)(?: output)? (?=[A-Za-z]+ ?/ ?s(?:ec(?:ond)?)?\W*$)"
    r"|(?<=/s) (?:in )?(?:total|overall|aggregated?)(?=\W*$)",
    re.IGNORECASE,
)
"""Whose a rate is, between it and its unit or behind that: `933,262 total tokens/sec`."""

_SHARE = re.compile(r"[~≈]?\s?([0-9]{1,2}(?:\.[0-9]{1,3})?)\s?%\s?(MFU|HFU)")

_OF_SHARES = re.compile(
    r"(?:(?:model|hardware|gpu|device|compute|flops?|training) ){0,2}"
    r"(?:utili[sz]ation|efficiency|performance|results?|throughput|speed|achieved)",
    re.IGNORECASE,
)
"""Labels of columns whose cells may say themselves that they are shares of a peak: `41% MFU`."""

_RATE_WITHIN = re.compile(
    r"(?<![0-9.,])[0-9][0-9,]*(?:\.[0-9]+)?"
    r" ?(?:images?|imgs?|samples?|seqs?|sequences?|tokens?|tok)/s(?:ec)?(?![A-Za-z/])"
)
"""The rate of a cell that says more: `79.76 s (2 epochs, 40.7 images/sec)`."""

_ENDED = {"status", "state", "exit", "result", "outcome", "error", "exception", "reason", "failure"}
"""Labels of columns that say how a run ended."""

_FAILED = re.compile(
    r"fail(?:ed|ure)?|crash(?:ed)?|hangs?|hung|timeout|killed|error", re.IGNORECASE
)


_OF_WHAT = re.compile(r"\s*(?:\([^()]{2,60}\)|[:–—-]\s[^()]{2,60})$")
"""Of what a run ended, behind the word for it: `failed (NCCL timeout)`."""


def _ended(label: str, text: str) -> str | None:
    """The outcome that a cell no field declares gives its row; None where it gives none."""
    if _OUT_OF_MEMORY.fullmatch(text):
        return text
    if _RAN_OUT_THEN.fullmatch(text):
        return "OOM"
    if _says_out_of_memory(label, text):
        return "OOM"
    bare = _OF_WHAT.sub("", text)
    found = "OOM" if _RAN_OUT.search(text) else bare if _FAILED.fullmatch(bare) else None
    return found if found and set(split(label)) & _ENDED else None


_RAN_OUT_THEN = re.compile(
    r"(?:CUDA )?(?:OOM|out of memory)(?:ed)? (?:after|at|in|during|on|within) (?:the )?"
    r"(?:(?:first|second|[0-9][0-9,]*(?:st|nd|rd|th)?|about|ca\.|~) ?){0,3}"
    r"(?:(?:batch(?:es)?|steps?|iterations?|epochs?|backward(?: pass)?|start(?:up)?|init"
    r"|min(?:utes)?|hours?|optimizer step) ?(?:[0-9][0-9,]*)?)",
    re.IGNORECASE,
)
"""A remark of when a run ran out of memory: `OOM after 41 batches`."""

_RAN_OUT = re.compile(
    r"(?:out[ _-]of[ _-]memory|(?<![A-Za-z0-9])oom(?![A-Za-z0-9]))|OutOfMemoryError",
    re.IGNORECASE,
)


def may_have_failed(record: Record) -> bool:
    """Whether words of a row say that something of it ran out of memory."""
    texts = [*(text for _, text in record.other), *(cell.text for cell in record.cells.values())]
    return any(_RAN_OUT.search(text) for text in texts)


def _says_out_of_memory(label: str, text: str) -> bool:
    """Whether a column asks for it, `OOM?`, and its cell says yes."""
    return asks_for_memory(label) and plain(text).casefold() in (
        "yes",
        "true",
        "y",
        "1",
        "✓",
        "✔",
        "✅",
    )


def asks_for_memory(label: str) -> bool:
    """Whether a column asks whether memory was enough: `OOM?`."""
    return _OUT_OF_MEMORY.fullmatch(label.strip(" ?").replace("_", " ")) is not None


_OF_ANOTHER = re.compile(r"\b(?:with|without|for|when|if) \S*[A-Za-z]", re.IGNORECASE)
"""An outcome of another setting than that of its row: `OOM with CP=4`."""


_NO_ROOM = re.compile(r"\W*(?:CUDA |GPU |torch\.)?(OOM|out of memory)(?![A-Za-z])", re.IGNORECASE)


_AT_ANOTHER = deferred(
    r"(?:\boom(?:s|'?e?d)?|out of memory)\b\W{0,3}"
    r"(?:(?:at|with|without|above|beyond|past|over|for|from|when|if|on|using|starting|already)\b"
    r"|[>≥]|(?:bs|mbs|batch|seq\w*)\b)"
    r"(?!(?: (?:the|about|around))* (?:[0-9]+ )?(?:steps?|iter\w*|epochs?|batch [0-9]|start\w*"
    r"|init\w*|end|eval\w*|backward|first|second|last|min\w*|hours?|h|error)\b)",
    re.IGNORECASE,
)
"""A remark on what is too much, beside what a run had: `OOM at micro-batch 32`."""


def outcome_and_date(record: Record, measures: Set[str]) -> None:
    """The outcome of a row, from whichever cell says it; the date that its notes begin with.

    Of a row with a number in one of its `measures` they may tell what another would have come to.
    """
    for cell in list(record.cells.values()):
        if cell.state == "outcome" and _OF_ANOTHER.search(cell.text):
            continue
        if cell.state == "outcome" and "outcome" not in record.cells:
            text = re.sub(r"^(?i:n/?a)?[—–✗❌(\s-]+", "", plain(cell.text))
            text = text[:-1] if text.endswith(")") and "(" not in text else text
            record.cells["outcome"] = cell._replace(text=text, state="value")
    notes = record.cells.get("notes")
    if notes is None:
        return
    ended = record.cells.get("outcome")
    why = _NO_ROOM.match(notes.text) if ended and _FAILED.fullmatch(ended.text) else None
    if why:  # `failed`, and beside it of what
        record.cells["outcome"] = Cell(why[1], notes.line, notes.column + why.start(1))
    tree = parse_line("table_cell", "notes_cell", notes.text, _HERE)
    if isinstance(tree, Diagnostic):
        return
    for child in tree.children:
        if not isinstance(child, Tree) or child.data not in ("date", "outcome"):
            continue
        of_another = child.data == "outcome" and _AT_ANOTHER.match(notes.text.strip(" *_`("))
        if of_another and any(record.cells[n].state == "value" for n in measures & {*record.cells}):
            continue
        if child.data not in record.cells:
            text = str(child.children[0]).strip()
            record.cells[child.data] = Cell(text, notes.line, notes.column)


def outcome_of_note(record: Record, measures: Set[str]) -> None:
    """The outcome of a row without a number in its `measures`, where the footnote that one of their
    cells points to says that memory ran out: `N/A*`, and `* runs out of memory`."""
    held = [cell for name in measures if (cell := record.cells.get(name)) is not None]
    if "outcome" in record.cells or any(cell.state == "value" for cell in held):
        return
    for line, _ in record.noted if any(cell.state == "missing" for cell in held) else ():
        found = _RAN_OUT.search(line.text)
        if found and not _AT_ANOTHER.search(line.text) and not _NEGATED.search(line.text):
            at = line.column + found.start()
            record.cells["outcome"] = Cell("OOM", line.number, at, value_origin="stated")
            return


_NEGATED = re.compile(r"\b(?:not|no|without|never|avoids?|to prevent|n't)\b", re.IGNORECASE)


def counted(field: str, text: str, at: Span) -> dict[str, Cell]:
    """Cells of a text under a setting, where it is nothing but numbers and what they count: `4M
    tokens`, `1,024 sequences of 2,048 tokens` under a batch."""
    found = dict[str, Cell]()
    for name, number in counted_in(field, plain(text)).items() if len(text) <= LONGEST else ():
        found[name] = Cell(number, at.line, at.column)
        if number[-1].isalpha():
            scale = suffix(number[-1], name, number[:-1])
            found[name] = Cell(number[:-1], at.line, at.column, scale, "nominal")
    return found


def number_of(cell: Cell) -> float | None:
    """Number in a cell; None where it is no number, for which its row will be refused."""
    try:
        return float(cell.text) * cell.scale
    except ValueError:
        return None


def fills(each: Cell, own: Mapping[str, Cell]) -> bool:
    """Whether the nodes that a row prints hold as many devices as it prints, so many each."""
    many, nodes, count = (number_of(cell) for cell in (own["gpus"], own["nodes"], each))
    return bool(many and nodes and count) and many == (nodes or 0) * (count or 0)
