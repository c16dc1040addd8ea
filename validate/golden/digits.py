"""Numbers as golden files show them: SI values with the digits that were printed, and back."""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal
from typing import NamedTuple

PREDICTED_DIGITS = 6
"""Significant digits of a computed number: more than any model is good for, fewer than the last
digits of a double, in which platforms differ."""

_AMPLE = Context(prec=800)  # any double at any place; the default would raise beyond 28 digits

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|nan|inf)"

_TEXT = re.compile(rf"(?P<number>{_NUMBER})(?: \[(?P<place>{_NUMBER})\])?(?P<rest>(?: .*)?)", re.S)


class Shown(NamedTuple):
    """A number of a golden file: its value, one unit in its last place, and what follows it."""

    digits: str
    value: float
    place: float  # nan where the number has no digits
    rest: str  # unit and note


def shown(value: float, place: float | None) -> str:
    """A number with the digits that were printed; `place` is one unit in the last of them.

    Where the printed unit is no power of ten of the SI unit, the last place follows in brackets.

    >>> shown(57.6e9, 1e7), shown(105.22, 0.01), shown(3.787e-06, 1e-09), shown(4096.0, 0.1)
    ('5.760e+10', '105.22', '3.787e-6', '4096.0')
    >>> shown(67 * 2.0**30, 2.0**30), shown(float("nan"), None), shown(0.1 + 0.2, None)
    ('71940702208 [1073741824]', 'nan', '0.30000000000000004')
    """
    if place is None or not math.isfinite(value) or not place > 0:
        return _whole(value)
    power = round(math.log10(place))
    if not math.isclose(place, 10.0**power, rel_tol=1e-9):
        return f"{_whole(value)} [{_whole(place)}]"
    digits = Decimal(value).quantize(Decimal(1).scaleb(power), context=_AMPLE)
    largest = digits.adjusted() if digits else power
    if power <= 0 and -5 < largest < 7:
        return f"{digits:.{-power}f}"
    return f"{digits:.{largest - power}e}" if digits else f"0e{power:+03d}"


def _whole(value: float) -> str:
    """Every digit of a double, without the `.0` of a whole number."""
    text = repr(float(value))
    return text.removesuffix(".0") if abs(value) < 1e16 else text


def predicted(value: float) -> str:
    """A computed number at six significant digits.

    >>> predicted(0.00123456789), predicted(105.0), predicted(1.0847e14)
    ('0.00123457', '105.000', '1.08470e+14')
    """
    return f"{value:#.{PREDICTED_DIGITS}g}".removesuffix(".")


def number(text: str) -> Shown | None:
    """Number in a line of a golden file, as it was shown; None where it is no number.

    >>> number("105.22 s (context)")
    Shown(digits='105.22', value=105.22, place=0.01, rest=' s (context)')
    >>> number("67 [2.5] s").place, number('"105"')
    (2.5, None)
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        return None
    digits = match["number"]
    exponent = Decimal(digits).as_tuple().exponent
    place = float(Decimal(1).scaleb(exponent)) if isinstance(exponent, int) else math.nan
    if match["place"]:
        place = float(match["place"])
    return Shown(digits, float(digits), place, match["rest"])
