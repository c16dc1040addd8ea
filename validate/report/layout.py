"""Elements of a written report: sections of text and tables, laid out by the writers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True)
class Column:
    """A heading, and how its cells stand.

    On a narrow screen a flexible column may be shortened, and a spare one left out.
    """

    heading: str
    align: str = "<"  # "<" or ">"
    flexible: bool = False
    spare: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells under their columns; every cell is text. `caption`: where its title is shown.

    Screens show tables under the title of their section; pages that are read aloud or searched
    need one of each table's own.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Items:
    """Sentences that stand side by side: a list."""

    items: Sequence[str]


Part = str | Table | Items


@dataclass(frozen=True)
class Section:
    """A title, and paragraphs, lists and tables in order; of a `detail`, few readers want more."""

    title: str
    parts: list[Part] = field(default_factory=list)
    detail: bool = False


def percent(fraction: float | None, *, signed: str = "") -> str:
    """A fraction in percent, three digits; a dash where there is none.

    >>> percent(0.0312), percent(-0.5, signed="+"), percent(None), percent(3.5)
    ('3.1 %', '-50.0 %', '–', '350 %')
    """
    if fraction is None or math.isnan(fraction):
        return "–"
    value = 100.0 * fraction
    return f"{value:{signed}z.{0 if abs(value) >= 100 else 1}f} %"


SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "flop/s": ((1e15, "PFLOP/s"), (1e12, "TFLOP/s"), (1e9, "GFLOP/s")),
    "flop": ((1e18, "EFLOP"), (1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")),
    "B/s": ((1e12, "TB/s"), (1e9, "GB/s")),
}

DISPLAYED = {"flop/s": (1e12, "TFLOP/s")}
"""Units that reports print at one fixed scale."""


def quantity(value: float | None, unit: str) -> str:
    """An SI value with a unit that suits its size, six digits.

    >>> quantity(1.3034e14, "flop/s"), quantity(4.665e-6, "s"), quantity(0.4286, "1")
    ('130.34 TFLOP/s', '4.665 µs', '0.4286')
    """
    if value is None:
        return "–"
    size, name = scale(value, unit)
    return f"{value / size:.6g} {name if name != '1' else ''}".strip()


def scale(value: float | None, unit: str) -> tuple[float, str]:
    """The unit that suits a value of this size, and what it is in SI.

    >>> scale(0.003, "s"), scale(2e12, "flop/s"), scale(5.0, "token/s")
    ((0.001, 'ms'), (1000000000000.0, 'TFLOP/s'), (1.0, 'token/s'))
    """
    scales = (DISPLAYED[unit],) if unit in DISPLAYED else SCALES.get(unit, ((1.0, unit),))
    return next((s for s in scales if abs(value or 0.0) >= s[0]), scales[-1])


def figure(value: float | None, unit: str) -> str:
    """A figure as a person writes it: four digits, shares in percent, counts with separators.

    >>> figure(0.4286, "1"), figure(23.3571, "token/s"), figure(1.5e6, "token/s"), figure(19.0, "")
    ('42.9 %', '23.4 tokens/s', '1,500,000 tokens/s', '19')
    >>> figure(2.74005, "s"), figure(2.597e10, "B"), figure(8.30712, ""), figure(None, "s")
    ('2.74 s', '25.97 GB', '8.307', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if unit == "1":
        return percent(value)
    if unit in ("", "token/s", "sample/s", "1/s"):
        name = {"token/s": " tokens/s", "sample/s": " samples/s", "1/s": " steps/s"}.get(unit, "")
        whole = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
        return f"{value:.4g}" if not unit and value != int(value) else f"{whole}{name}"
    size, name = scale(value, unit)
    return f"{value / size:.4g} {name}"


def count(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun, with separators.

    >>> count(1, "row"), count(20000, "row"), count(0, "inference", "inferences")
    ('1 row', '20,000 rows', '0 inferences')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def place(case: str) -> str:
    """A case as a place that editors jump to.

    >>> place("a.log#88"), place("a.log")
    ('a.log:88', 'a.log')
    """
    return re.sub(r"#([0-9]+)(?=$|:)", r":\1", case)


def told_apart(sources: Iterable[str]) -> dict[str, str]:
    """Each source by as many parts of its path, from the end, as tell it from the others.

    >>> told_apart(["/x/a/README.md", "/x/b/README.md", "/x/run.log"])
    {'/x/a/README.md': 'a/README.md', '/x/b/README.md': 'b/README.md', '/x/run.log': 'run.log'}
    """
    parts = {source: source.split("/") for source in sources}
    deepest = max(map(len, parts.values()), default=0)
    ends = [Counter(tuple(words[-n:]) for words in parts.values()) for n in range(1, deepest)]
    found = {}
    for source, words in parts.items():
        alone = (n for n in range(1, len(words)) if ends[n - 1][tuple(words[-n:])] == 1)
        found[source] = "/".join(words[-next(alone, len(words)) :])
    return found


def spans(lines: Sequence[int]) -> str:
    """Line numbers, neighbours joined.

    >>> spans([329, 330, 331, 340])
    '329–331, 340'
    """
    ends = [i for i, (one, two) in enumerate(pairwise(lines), 1) if two != one + 1]
    groups = [lines[a:b] for a, b in zip([0, *ends], [*ends, len(lines)], strict=True)]
    return ", ".join(f"{g[0]}" if len(g) == 1 else f"{g[0]}–{g[-1]}" for g in groups if len(g))
