"""From the labels and values of cells to columns: names, types and units, as far as they are shown.

In: label → the values that were printed under it. Out: one `Found` per column that can be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from assay.ingest.formats.configuration import Configuration
from assay.ingest.parse import terminal
from assay.ingest.schema import normalise
from assay.ingest.types import BASE
from assay.ingest.units import Unit, unit

COUNTERS = {"step", "steps", "iter", "iteration", "it", "epoch", "batch", "globalstep", "nstep"}
_MEASURED = re.compile(r"(?i)time|^dt$|elapsed|mem|rate|through|speed|band|flop|tok|bytes|util")
_LABEL_UNIT = re.compile(r"(.+?)(?:\s*[(\[]([^()\[\]]+)[)\]]|_([A-Za-z]+))$")
_PER = re.compile(r"(?i)[ _]per(?:[ _]|$)")
_TIMED = re.compile(r"(?i)time|elapsed|dur|took|wall|latency|eta")
ENDINGS = {"ms", "us", "ns", "sec", "secs", "seconds", "gb", "gib", "mb", "mib", "tb", "tib",
           "kib", "tflops"}  # fmt: skip
SHORT = {"s", "min", "minutes", "h", "hours"}
"""Ends of labels that are units: those that can be nothing else, and those of times alone."""


@dataclass(frozen=True)
class Found:
    """One column to be: where its unit is known, `factor` is the printed unit's name or None."""

    name: str
    label: str
    type: str
    unit: str | None = None
    factor: str | None = None
    total: bool = False  # `120/1000`: a second column holds what it counts up to
    remark: str = ""


@dataclass(frozen=True)
class Number:
    """What a printed value says of itself: whether whole, its unit, whether `120/1000`."""

    whole: bool
    unit: str | None = None  # as printed
    total: bool = False


@cache
def _value() -> re.Pattern[str]:
    number = rf"(?:{terminal('GROUPED')}|{terminal('NUMBER')})"
    return re.compile(rf"({number})(?:\s?([A-Za-zµ%][A-Za-z_/%]*))?(?:\s*\([^()]*\))?")


def number_of(text: str) -> Number | None:
    """What a value says of itself if it is a number; None where it is none."""
    if re.fullmatch(r"[0-9]+\s*/\s*[0-9]+", text):
        return Number(whole=True, total=True)
    found = _value().fullmatch(text)
    if found is None or (found[2] and unit(found[2]) is None):
        return None
    whole = re.fullmatch(r"[+-]?[0-9]+", found[1]) is not None
    return Number(whole=whole, unit=found[2])


def columns(values: Mapping[str, Sequence[str]]) -> tuple[Found, ...]:
    """The columns of cells; none for a label that now has numbers and now text."""
    found: list[Found] = []
    for label, printed in values.items():
        held = [text for text in printed if text]
        numbers = [number_of(text) for text in held]
        if not held or not normalise(label):
            continue
        totals = [number.total for number in numbers if number is not None]
        if any(totals) and (not all(totals) or _said_unit(label)):
            continue  # `40/80` in some unit: which of the two is it
        if all(number is not None for number in numbers):
            column = _numeric(label, [number for number in numbers if number is not None])
        elif any(number is not None for number in numbers):
            continue  # now a number and now a text: its author must say
        else:
            column = Found(_named(label), label, "text")
        if column.name.startswith(LOGGED):
            plain = column.name.removeprefix(LOGGED)
            ask = f"call it {plain!r} if it is that configuration value of the run"
            column = replace(column, remark=ask)
        names = {other.name for other in found}
        while column.name in names or column.name in BASE or column.name.endswith("_ulp"):
            column = replace(column, name=f"{column.name}_")
        found.append(column)
    return tuple(found)


def _numeric(label: str, numbers: list[Number]) -> Found:
    total = all(number.total for number in numbers)
    printed = next((number.unit for number in numbers if number.unit), None)
    known = unit(printed) if printed else None
    bare = any(number.unit is None for number in numbers)
    said = _said_unit(label)
    counts = normalise(label) in COUNTERS or total
    if known is not None:
        usual = printed if known.scale != 1 or known.si != "1" else None
        return Found(_named(label, known), label, "float", known.si, usual if bare or said is None
                     else None)  # fmt: skip
    if said is not None:
        return Found(_named(label, said[1]), label, "float", said[1].si, said[0])
    whole = all(number.whole for number in numbers)
    kind = "integer" if whole and counts else "float"
    remark = "no unit is printed: say it here if this has one" if _MEASURED.search(label) else ""
    return Found(_named(label), label, kind, total=total, remark=remark)


def _said_unit(label: str) -> tuple[str, Unit] | None:
    """The unit that a label names: all of it (`tok/s`), in brackets, or at its end (`time_ms`)."""
    rate = _PER.sub("/", label)
    if (known := unit(rate)) and known.si != "1" and len(rate) > 2:
        return rate, known
    apart = _LABEL_UNIT.fullmatch(label)
    if apart is None or _PER.search(f"{apart[1]} "):
        return None
    if (name := apart[3]) and name.casefold() not in ENDINGS:  # `loss_min` is no time
        short = name.casefold() in SHORT and _TIMED.search(apart[1])
        if not short:
            return None
    name = apart[2] or apart[3]
    known = unit(name)
    return (name, known) if known else None


LOGGED = "logged_"
"""Before a name that a configuration column has: `gpu=0` may be an index, and no device."""

NAMES = {"token/s": "tokens_per_s", "sample/s": "samples_per_s", "flop/s": "flops_rate"}


def _named(label: str, known: Unit | None = None) -> str:
    """A name for a column: its label in lower case, without its unit."""
    if known is not None and unit(_PER.sub("/", label)) is not None and known.si in NAMES:
        one = known.si == "token/s" and "gpu" in label.casefold()
        return "tokens_per_gpu_per_s" if one else NAMES[known.si]
    apart = _LABEL_UNIT.fullmatch(label)
    if apart and known is not None and _said_unit(label) and not _PER.search(label):
        label = apart[1]
    name = re.sub(r"[^a-z0-9]+", "_", label.casefold()).strip("_")
    name = name if name and name[0].isalpha() else f"column_{name}".rstrip("_")
    return f"{LOGGED}{name}" if name in Configuration.__fields__ else name
