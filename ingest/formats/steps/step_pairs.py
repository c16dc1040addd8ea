"""The numbers of a line, each with the label before it and the unit behind it.

In: the text of a line, prefixes peeled off. Out: `Pair` values in order, whatever the syntax:
`label: v unit`, `label=v`, `'label': v`, `label v`, `v unit`, and progress bars with what stands in
their bracket. Text that is no output of a program in this sense (source code, diffs, format
strings) has none.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from assay.ingest.formats.steps.step_words import COUNTERS, words
from assay.ingest.lines.lark import terminal_of

_WHOSE = re.compile(r"\((?:train(?:ing)?)\)")
"""`Iter(train) [ 100/1000]`: what stands in the brackets is whose count it is."""


@cache
def _value() -> re.Pattern[str]:
    """A number that stands alone or before a unit."""
    number_, unit_ = (terminal_of("generic_step", name) for name in ("AMOUNT", "UNIT"))
    return re.compile(rf"(?<![A-Za-z0-9_.])(?:{number_})(?=\s?(?:{unit_})|[^A-Za-z0-9_]|$)")


@cache
def _behind() -> re.Pattern[str]:
    return re.compile(rf"\s?({terminal_of('generic_step', 'UNIT')})")


_TOTAL = re.compile(r"\s*/\s*([0-9][0-9,]*)(?![0-9.:]*[A-Za-z:])")

_BAR = re.compile(
    r"(?:(?P<what>[^|\r]{0,80}?):?\s*)?(?P<share>[0-9]{1,3})%\s?\|[^|\r]*\|\s*"
    r"(?P<at>[0-9][0-9.,]*)/(?P<of>[0-9][0-9.,]*)\s*\[(?P<clock>[0-9:?]+<[^\],]*)(?P<inside>[^\]\r]*)\]?"
)

_RATE = re.compile(r"([0-9.]+)\s*(it/s|s/it)")

_CELL = re.compile(r"[,|;{}\t\]]|\s-\s|\s{2,}(?=\S)|--+|>>+|\.\s|\s->\s|[•│┃]")

_LABEL = re.compile(
    r"^[\s\"'\[({#*`>=-]*(?P<label>.*?)[\s\"'\[(`]*(?P<sep>[:=]>?|\bis\b)?[\s\"'\[(`~≈]*$"
)

_CODE = re.compile(
    r"[{%][\w.\[\]+*/() -]*:?[.,]?[0-9]*[dfsgeE]\}|%[-0-9.]*[dfsgeE]\b"
    r"|[=!<>]=|\+=|->\s*\w+:|&&|\|\||;\s*$"
    r"|\b(?:def|return|import|class|lambda|assert|elif|const|var|let|fn|void)\b"
    r"|\b[A-Za-z_]\w*(?:\.\w+)*\((?![0-9.,%+a-z ]*\))"
    r"|^\s*(?:#|//|/\*|\*\s|>{3}\s|\.\.\.\s|[-+][A-Za-z_]|\+\s|--\w|<|@)"
    r"|\\n|\$\{|\bself\."
)
"""Marks of source code, diffs and format strings, which no line of a trainer has."""

LONGEST = 2000
"""Characters of a line beyond which it is a dump."""


class Pair(NamedTuple):
    """One number: its label and unit as printed, its text, and where it stands (from 0)."""

    label: str
    text: str
    behind: str
    start: int
    total: bool = False  # what the number before it counts up to
    span: tuple[int, int] = (0, 0)


class Said(NamedTuple):
    """A line taken apart: its pairs, and the form it has."""

    pairs: tuple[Pair, ...]
    form: str  # plain, braces, bar


def is_code(text: str) -> bool:
    """Whether a line is a piece of a program rather than what one printed."""
    return _CODE.search(text) is not None


def said(text: str) -> Said | None:
    """The pairs of a line; None where it is no line of output with any."""
    if len(text) > LONGEST:
        return None
    bar = _BAR.search(text)
    if bar is not None:
        return _bar(bar, text)
    stripped = text.strip()
    form = "braces" if stripped.startswith("{") and stripped.endswith("}") else "plain"
    if form == "plain" and is_code(text):
        begin = text.find("{")
        if begin < 0 or not stripped.endswith("}") or is_code(text[:begin]):
            return None
    if "{" in text and stripped.endswith("}"):
        form = "braces"
    pairs = tuple(_pairs(text, 0, len(text)))
    return Said(pairs, form) if pairs else None


def _pairs(text: str, begin: int, end: int) -> list[Pair]:
    found: list[Pair] = []
    at = begin
    while True:
        value = _value().search(text, at, end)
        if value is None:
            return found
        gap = text[found[-1].span[1] if found else begin : value.start()]
        label = _label(gap)
        counts = " ".join(words(label)) in COUNTERS  # `step 10 tokens/s 4321`
        behind = None if counts else _behind().match(text, value.end(), end)
        said_unit = behind[1] if behind else ""
        stop = behind.end() if behind else value.end()
        if not label and said_unit and ("/" in said_unit or said_unit.upper().endswith("FLOPS")):
            label = said_unit  # the unit says what it is: `31,402 tok/s`
        found.append(Pair(label, value[0], said_unit, value.start(), span=(value.start(), stop)))
        total = _TOTAL.match(text, stop, end) if not said_unit else None
        if total is not None:
            found.append(
                Pair(
                    label,
                    total[1],
                    "",
                    total.start(1),
                    total=True,
                    span=(total.start(), total.end()),
                )
            )
            stop = total.end()
        at = max(stop, value.end())


def _label(gap: str) -> str:
    """The label at the end of what stands between two numbers; empty where there is none."""
    gap = _WHOSE.sub("", gap)
    cell = _CELL.split(gap)[-1] if gap.strip() else ""
    if not cell.strip() and gap.strip():
        # what ends with a bracket or a bar before the number: `loss | 3.1`, `step [3]`
        pieces = [piece for piece in _CELL.split(gap) if piece.strip()]
        cell = pieces[-1] if len(pieces) == 1 and gap.strip().endswith("|") else ""
    match = _LABEL.match(cell)
    if match is None or not match["label"]:
        return ""
    label = match["label"].strip(" \"'`*:=")
    if not match["sep"] and '"' not in cell and "'" not in cell:
        # nothing but a blank parts the label from its number: one word, or two
        last = label.split()[-2:]
        two = " ".join(last)
        label = two if " ".join(words(two)) in COUNTERS else (last[-1] if last else "")
    return label if re.search(r"[A-Za-z]", label) else ""


def _bar(bar: re.Match[str], text: str) -> Said | None:
    """A progress bar: what it counts, its rate, and what stands behind that in its bracket."""
    pairs = []
    what = (bar["what"] or "").strip()
    if what:
        pairs += _pairs(text, bar.start("what"), bar.end("what"))
    pairs.append(Pair("bar", bar["at"], "", bar.start("at")))
    pairs.append(Pair("bar", bar["of"], "", bar.start("of"), total=True))
    inside = bar["inside"]
    rate = _RATE.search(inside)
    begin = bar.start("inside")
    if rate is not None:
        pairs.append(Pair(rate[2], rate[1], rate[2], begin + rate.start(1)))
        begin += rate.end()
    pairs += _pairs(text, begin, bar.end("inside"))
    if bar.end() < len(text.rstrip()):  # `…it/s] loss: 3.1`
        pairs += _pairs(text, bar.end(), len(text))
    return Said(tuple(pairs), "bar")


def number(text: str) -> str:
    """A number without commas between its digits."""
    return text.replace(",", "")


def is_bar_of_training(text: str) -> bool:
    """Whether the words before a bar say that it counts steps."""
    what = (text.split("%|", maxsplit=1)[0]).rstrip("0123456789 ").rstrip(": ")
    held = set(words(what))
    return bool(held & {"step", "steps", "train", "training", "iter", "iteration", "epoch"})
