"""Whether two shown values are the same: by the kind of the number, or by a stated tolerance.

| kind        | agrees with another of its unit and origin                                       |
|-------------|----------------------------------------------------------------------------------|
| `exact`     | the same number                                                                  |
| `binary`    | within 4 units in the last place of a double                                     |
| others      | printed to the same place: the same digits; otherwise the printed intervals meet |
| `predicted` | within one unit of the sixth significant digit                                   |

Text, flags, outcomes, unknown and missing values agree with themselves only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.ingest.numbers.printed import BINARY_ULPS
from assay.ingest.numbers.units import unit
from assay.validate.golden.digits import Shown, number

PREDICTED_KIND = "predicted"

ANY = "any"
"""The tolerance of a line that is not compared: a timestamp, a host, a count of noise lines."""

_STATED = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*(\S*)")


@dataclass(frozen=True)
class Tolerance:
    """How far a quantity may move: a fraction of the golden value, or a distance in its SI unit."""

    size: float
    relative: bool

    def covers(self, golden: float, current: float) -> bool:
        """Whether `current` is near enough to `golden`; at the very limit it is."""
        allowed = self.size * abs(golden) if self.relative else self.size
        return abs(current - golden) <= allowed * (1 + 1e-9)


def tolerance(text: str) -> Tolerance:
    """A tolerance as it is stated: `3%`, `0.5s`, `2 GB`, a bare number in the SI unit, or `any`.

    Raises ValueError where it is none.

    >>> tolerance("3%"), tolerance("20 ms")
    (Tolerance(size=0.03, relative=True), Tolerance(size=0.02, relative=False))
    """
    if text == ANY:
        return Tolerance(math.inf, relative=True)
    match = _STATED.fullmatch(text.strip())
    known = unit(match[2]) if match and match[2] else None
    if match is None or (match[2] and known is None):
        raise ValueError(f"{text!r} is no tolerance; expected something like 3%, 0.5s, 2GB or any")
    size = float(match[1]) * (known.scale if known else 1.0)
    return Tolerance(size, relative=match[2] == "%")


def stated(items: Mapping[str, str]) -> dict[str, Tolerance]:
    """Tolerances by quantity; raises ValueError where one is none."""
    return {quantity: tolerance(text) for quantity, text in items.items()}


def agree(golden: str, current: str, kind: str, allowed: Tolerance | None = None) -> bool:
    """Whether two shown values of one kind agree; `allowed` replaces what the kind allows.

    >>> agree("57.60 B", "57.6 B", "decimal"), agree("105.22 s", "105.23 s", "decimal")
    (True, False)
    >>> agree("105.22 s", "105.23 s", "decimal", tolerance("1%"))
    True
    >>> agree("8", "8 (context)", "exact")
    False
    """
    if golden == current or (allowed is not None and math.isinf(allowed.size)):
        return True
    before, after = number(golden), number(current)
    if before is None or after is None or before.rest != after.rest:
        return False
    if not (math.isfinite(before.value) and math.isfinite(after.value)):
        return before.digits == after.digits
    if allowed is not None:
        return allowed.covers(before.value, after.value)
    return _alike(before, after, kind)


def _alike(before: Shown, after: Shown, kind: str) -> bool:
    distance = abs(after.value - before.value)
    if kind == "exact":
        return distance == 0
    if kind == "binary":
        return distance <= BINARY_ULPS * max(math.ulp(before.value), math.ulp(after.value))
    if kind == PREDICTED_KIND:
        return distance <= 1.0000001 * max(before.place, after.place)
    if math.isclose(before.place, after.place, rel_tol=1e-9):
        return distance == 0
    low, high = _interval(before, kind)
    other_low, other_high = _interval(after, kind)
    return low < other_high and other_low < high


def _interval(shown: Shown, kind: str) -> tuple[float, float]:
    """Interval of the numbers that print as `shown`, in the SI unit."""
    half = shown.place / 2
    below = 0.0 if kind == "truncated" else half
    above = shown.place if kind in ("truncated", "nominal") else half
    return shown.value - below, shown.value + above
