"""One printed metric — a label and a value — to the column that it belongs to.

The schema says which labels a column has; here stands what a value may be beside a number: a number
with its unit glued on or one blank away (`112.9TFLOPS`, `98.412 s`), a count (`52.005 B`), groups
of three (`51,234`), a number with a remark in brackets (`1.02GiB(2.15%)`), a pair of the last
interval's value and its running mean (`8400.2/8512.9`), or several values under a label that names
several (`mem usage/free/total: 180.10GB/75.88GB/255.98GB`).
"""

from __future__ import annotations

import math
import re
from functools import cache

from assay.ingest.numbers.units import SUFFIXES, UNITS, Unit, unit
from assay.ingest.schema.fields import FieldSpec, by_label, fields
from assay.ingest.schema.record import Cell, Record, Schema
from assay.ingest.schema.terminals import terminal
from assay.ingest.vocabulary.terms import UNSAID, meaning, normalise
from assay.ingest.vocabulary.words import of_one_device

AVERAGE = "_average"
"""A column with this ending holds the running mean that is printed behind the value of its base."""

TOTAL = "_total"
"""A column with this ending holds the number that its base counts up to: `step 120/1000`."""

NOTHING = ("None", "null", "N/A", "n/a", "-", "--", "/", "...", "…")
"""Texts that stand for no value: the column stays empty, the cell is kept as it is."""

COUNTS = SUFFIXES | {"G": 1e9}
"""Suffixes of a count and their factors; `G` is bytes elsewhere."""

_LABEL_UNIT = re.compile(r"(.+?)[\s_]*\(([^()]+)\)\s*")

_POWER = re.compile(r"[0-9]\.[0-9]*[eE]\+?[0-9]+")

_WHOLE = re.compile(r"([0-9]+)\.0+")

_PER_SECOND = ("/s", "/sec")


@cache
def _measured() -> re.Pattern[str]:
    return re.compile(rf"({terminal('NUMBER')})\s?([A-Za-zµ%/][A-Za-z_/%]*)")


@cache
def _counted() -> re.Pattern[str]:
    return re.compile(rf"({terminal('NUMBER')}) ?([kKMGBT])(?: param(?:eter)?s)?")


@cache
def _grouped() -> re.Pattern[str]:
    return re.compile(rf"({terminal('GROUPED')})(\s?[A-Za-zµ%][A-Za-z_/%]*)?")


@cache
def _remarked() -> re.Pattern[str]:
    number = f"(?:{terminal('GROUPED')}|{terminal('NUMBER')})"
    return re.compile(rf"({number}(?: ?[A-Za-zµ%][A-Za-z_/%]*)?)\s*(\([^()]*\))")


@cache
def _mean() -> re.Pattern[str]:
    return re.compile(rf"\((?:avg|average|mean)\.?:?\s*({terminal('NUMBER')})\)")


@cache
def _pair() -> re.Pattern[str]:
    return re.compile(r"([^/]*)/(\s*(?:[0-9+-]|nan|inf).*)", re.IGNORECASE)


def put(
    record: Record, schema: Schema, label: str, value: str, at: int, line: int | None = None
) -> None:
    """Store one metric of `record`: in its column, or among `other` where no column declares it.

    `at` is the column of the value in the original line, which is the record's own unless `line`
    says another. A label that comes twice keeps its first
    value; the second goes to `other`.
    """
    number = record.line if line is None else line
    if not _composite(record, schema, label, value, number, at):
        _single(record, schema, label, value, number, at)


def _single(record: Record, schema: Schema, label: str, value: str, line: int, at: int) -> None:
    found = column(schema, label)
    if found is None or not _open(record, found[0], label):
        record.other.append((label.strip(), value))
        return
    spec, scale = found
    if spec.numeric and (value in NOTHING or _says_too_little(spec, scale, value)):
        record.other.append((label.strip(), value))
        if value in NOTHING and spec.optional:  # told of where cells are typed
            record.cells[spec.name] = Cell(value, line, at)
        return
    if normalise(label) != next(iter(spec.spellings)):
        record.spelled[spec.name] = (label.strip(), value)
    average = _beside(schema, spec, AVERAGE)
    if spec.numeric and (remarked := _remarked().fullmatch(value)):
        value = remarked[1]
        mean = _mean().fullmatch(remarked[2])
        if average and mean:
            place = at + remarked.start(2) + mean.start(1)
            record.cells[average] = cell(spec, mean[1], scale, line, place)
        else:
            record.other.append((label.strip(), remarked[2]))
    second, pair = average or _beside(schema, spec, TOTAL), _pair().fullmatch(value)
    if pair and second:
        record.cells[second] = cell(spec, pair[2].strip(), scale, line, at + pair.start(2))
        value = pair[1].strip()
    record.cells[spec.name] = cell(spec, value, scale, line, at)


def _beside(schema: Schema, spec: FieldSpec, ending: str) -> str | None:
    name = f"{spec.name}{ending}"
    return name if name in fields(schema) else None


def _open(record: Record, spec: FieldSpec, label: str) -> bool:
    """Whether a column is free, or made free for its own label by what came under another.

    `loss: 5.5508 lm loss: 5.5103 moe loss: 0.0405`: the first is the sum of the two behind it.
    """
    if spec.name not in record.cells:
        return True
    held = record.spelled.get(spec.name)
    if held is None or normalise(label) != next(iter(spec.spellings)):
        return False
    record.other.append(record.spelled.pop(spec.name))
    return True


def _composite(record: Record, schema: Schema, label: str, value: str, line: int, at: int) -> bool:
    """`mem usage/free: 1GB/2GB` as `mem usage: 1GB` and `mem free: 2GB`, if a part is known."""
    if "/" not in value or "/" not in label or column(schema, label):
        return False
    head, _, names = label.strip().rpartition(" ")
    parts, values = names.split("/"), value.split("/")
    labels = [f"{head} {part}".strip() for part in parts]
    if len(parts) != len(values) or not any(column(schema, name) for name in labels):
        return False
    for name, text in zip(labels, values, strict=True):
        _single(record, schema, name, text.strip(), line, at)
        at += len(text) + 1
    return True


def cell(spec: FieldSpec, text: str, scale: float, line: int, at: int) -> Cell:
    """The cell of one value; a unit printed behind the number is taken off and multiplied in.

    The unit behind the number counts before one that its label names. A factor of the label that is
    no unit's is a correction and stays (fields that divide by 1024³ and print `GB`), but where they
    print `GiB` there is nothing to correct.
    """
    if spec.numeric and (grouped := _grouped().fullmatch(text)):
        text = grouped[1].replace(",", "") + (grouped[2] or "")
    if spec.dtype.is_integer() and (integer := _WHOLE.fullmatch(text)):
        return Cell(integer[1], line, at, scale)  # a counter that was a float: `99.00`
    if spec.numeric and spec.unit != "B" and (counted := _counted().fullmatch(text)):
        return Cell(counted[1], line, at, scale * COUNTS[counted[2]])  # 512B: bytes elsewhere
    if spec.numeric and (measured := _measured().fullmatch(text)):
        known = unit(measured[2])
        if measured[2] in _PER_SECOND and (spec.unit or "").endswith("/s"):
            return Cell(measured[1], line, at, scale)
        if known is not None and known.si == spec.unit and _whose(spec, known):
            if math.isnan(scale):
                return Cell(measured[1], line, at, known.scale)
            binary = known.scale > 1 and math.frexp(known.scale)[0] == 0.5
            said = binary or scale in _scales(known.si)
            return Cell(measured[1], line, at, known.scale if said else scale * known.scale)
    return Cell(text, line, at, scale)


@cache
def _scales(si: str) -> frozenset[float]:
    """The factors of every unit of one kind."""
    return frozenset(known.scale for known in UNITS.values() if known.si == si)


def _says_too_little(spec: FieldSpec, scale: float, value: str) -> bool:
    """Whether a number lacks a unit that its label does not name either, or the digits of a count.

    A batch of `1.02K` is one of 1024 sequences, or of 1023.
    """
    said = _measured().fullmatch(value)
    known = unit(said[2]) if said else None
    if math.isnan(scale):
        return known is None or known.si != spec.unit
    if spec.kind != "exact" or spec.unit == "B":
        return False
    return bool(_counted().fullmatch(value) or _POWER.fullmatch(value))


def _whose(spec: FieldSpec, known: Unit) -> bool:
    """Whether a unit may stand in a column: what one device does is not what all of them do.

    Rates of operations are of a device in every column; those of others where the column says so.
    """
    return known.per is None or spec.per == known.per or spec.unit == "flop/s"


def _per_gpu(text: str) -> bool:
    return "gpu" in text.casefold()


def column(schema: Schema, label: str) -> tuple[FieldSpec, float] | None:
    """The column a label belongs to and the factor to its unit; None where it has none.

    The schema's own labels come first, then what the vocabulary makes of the label's words; a
    running mean goes to the column beside that is kept for it, if there is one.
    """
    if found := declared(schema, label):
        return found
    said = meaning(label)
    known = fields(schema)
    if said is None or said.nominal or said.field not in known or not known[said.field].known:
        return None
    if known[said.field].unit == "flop/s" and not of_one_device(label):
        return None  # of all devices as likely as of one
    scale = said.scale if said.unit_known else UNSAID
    if said.rank <= PLAINLY:
        return known[said.field], scale
    average = known.get(f"{said.field}{AVERAGE}")
    return None if average is None else (average, scale)


PLAINLY = 1
"""The highest rank of a label that names a value and neither a median nor a mean of several."""


def declared(schema: Schema, label: str) -> tuple[FieldSpec, float] | None:
    """The column that declares a label and the factor to its unit; None where none does.

    A label whose bracket names another unit than the declared spellings do is known by its unit:
    `elapsed time per iteration (us)`. A rate per GPU is another than that of all: the unit of the
    label must say so where that of the declared one does. A label that is declared without a unit
    may have one: `Tokens per second per GPU (Tok/s/GPU)`.
    """
    found = by_label(schema).get(normalise(label))
    if found is not None:
        return found
    said = _LABEL_UNIT.fullmatch(label)
    known = unit(said[2]) if said else None
    if said is None or known is None:
        return None
    whole = by_label(schema).get(normalise(said[1]))
    if whole is not None and whole[0].unit == known.si != "B":  # bytes: factors are corrections
        return (whole[0], known.scale) if _whose(whole[0], known) else None
    kind = (known.si, _per_gpu(said[1]) or _per_gpu(said[2]))
    spec = _without_unit(schema).get((normalise(said[1]), *kind))
    return (spec, known.scale) if spec is not None else None


@cache
def _without_unit(schema: Schema) -> dict[tuple[str, str, bool], FieldSpec]:
    """Labels that end with a unit in brackets, without it, by what it measures and of whom."""
    return {
        (normalise(said[1]), known.si, _per_gpu(label)): spec
        for spec in fields(schema).values()
        for label in spec.labels
        if (said := _LABEL_UNIT.fullmatch(label)) and (known := unit(said[2]))
    }
