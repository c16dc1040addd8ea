"""Printed numbers: what a string of digits says, and what it leaves open.

A number as printed stands for every value that would have been printed the same way. How wide that
interval is depends on the kind of the number, which its column declares, and on one unit in the
last printed place (`ulp`), which its digits show. Both are kept; nothing downstream guesses a
tolerance.

| kind        | means                                   | interval                              |
|-------------|-----------------------------------------|---------------------------------------|
| `exact`     | counts, degrees, shapes                 | the value itself                      |
| `decimal`   | rounded where the digits end            | ± half a unit in the last place       |
| `fixed(n)`  | rounded to n decimals, zeros dropped    | ± half of 10⁻ⁿ                        |
| `truncated` | cut, not rounded                        | [v, v + one unit)                     |
| `nominal`   | a label such as 250k, rounded or cut    | [v − half a unit, v + one unit)       |
| `binary`    | a float printed in full                 | ± 4 units in the last place of double |
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

import polars as pl

BINARY_ULPS = 4
"""The order of operations is not ours: a float printed in full may differ by this many ulps."""

FIXED = re.compile(r"fixed\(([0-9]+)\)")

KINDS = ("exact", "decimal", "truncated", "nominal", "binary")


MOST_DIGITS = 18
"""Digits of a count that an integer of the machine holds, whatever they are."""


def whole(text: str) -> int | None:
    """The whole number that a text is; None of any other text, and of one of too many digits.

    >>> whole("64"), whole("6x"), whole("9" * 5000)
    (64, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def amount_of_digits(text: str) -> tuple[int, str]:
    """By what whole numbers of any length are compared without being made numbers.

    >>> max("8", "12", "09", key=amount_of_digits)
    '12'
    """
    bare = text.lstrip("0")
    return len(bare), bare


class Printed(NamedTuple):
    """A number as it was printed: everything between `low` and `high` prints the same."""

    value: float
    low: float
    high: float

    def meets(self, other: Printed) -> bool:
        """Whether the two intervals share a value: equal at the printed precision."""
        return self.low <= other.high and other.low <= self.high


def is_kind(kind: str) -> bool:
    """Whether `kind` is one of the six kinds of the table above."""
    return kind in KINDS or FIXED.fullmatch(kind) is not None


_FARTHEST = 99_999
"""Exponents from here on are of nothing that a double tells from zero or from infinity."""


@lru_cache(maxsize=4096)  # tables print the same numbers again and again
def printed(text: str, kind: str = "decimal", scale: float = 1.0) -> Printed:
    """The interval of one printed number; `scale` turns the printed unit into the SI unit.

    Raises ValueError where `text` is not a number or `kind` is none of the kinds.

    >>> printed("117.96")
    Printed(value=117.96, low=117.955, high=117.965)
    >>> printed("2048", "exact")
    Printed(value=2048.0, low=2048.0, high=2048.0)
    >>> printed("123", "truncated")
    Printed(value=123.0, low=123.0, high=124.0)
    >>> printed("250", "nominal", 1e3)
    Printed(value=250000.0, low=249500.0, high=251000.0)
    >>> printed("1.2368", "fixed(6)")
    Printed(value=1.2368, low=1.2367995, high=1.2368005)
    """
    digits = text.replace(",", "")
    value = float(digits)  # before `Decimal`, whose error is no ValueError
    exponent = Decimal(digits).as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _FARTHEST:  # nan and inf carry no digits
        return Printed(value * scale, value * scale, value * scale)
    unit = Decimal(1).scaleb(exponent)
    exact, factor = Decimal(digits), Decimal(repr(scale))

    def span(below: Decimal, above: Decimal) -> Printed:
        centre = float(exact * factor)
        return Printed(centre, float((exact - below) * factor), float((exact + above) * factor))

    if kind == "exact":
        return span(Decimal(0), Decimal(0))
    if kind == "decimal":
        return span(unit / 2, unit / 2)
    if kind == "truncated":
        return span(Decimal(0), unit)
    if kind == "nominal":
        return span(unit / 2, unit)
    if kind == "binary":
        slack = BINARY_ULPS * math.ulp(value * scale)
        return Printed(value * scale, value * scale - slack, value * scale + slack)
    if fixed := FIXED.fullmatch(kind):
        half = Decimal(1).scaleb(-int(fixed[1])) / 2
        return span(half, half)
    raise ValueError(f"{kind!r} is no kind of number; the kinds are {', '.join(KINDS)}, fixed(n)")


def last_place(text: pl.Expr) -> pl.Expr:
    """One unit in the last printed place of each number in `text`, in the printed unit.

    >>> pl.DataFrame({"t": ["57.60", "6.384045E+01", "1,000", "nan"]}).select(
    ...     t=last_place(pl.col("t")))["t"].to_list()
    [0.01, 1e-05, 1.0, None]
    """
    point = text.str.find(".", literal=True).cast(pl.Int64)
    letter = pl.coalesce(text.str.find(each, literal=True) for each in "eE").cast(pl.Int64)
    end = letter.fill_null(text.str.len_bytes().cast(pl.Int64))
    decimals = (end - point - 1).fill_null(0)
    # an exponent of more than eighteen digits leaves no last place
    exponent = text.str.slice(letter + 1).cast(pl.Int64, strict=False)
    power = pl.when(letter.is_null()).then(0).otherwise(exponent)
    place = pl.lit(10.0).pow((power - decimals).cast(pl.Float64))
    return pl.when(text.str.contains("[0-9]")).then(place)


def interval(value: pl.Expr, ulp: pl.Expr, kind: str) -> tuple[pl.Expr, pl.Expr]:
    """`low` and `high` of a column of values of one kind; `ulp` in the same unit as `value`.

    Raises ValueError for a kind that is none. For `fixed(n)` the caller's `ulp` is 10⁻ⁿ in the unit
    of `value`, since only the column knows the scale.
    """
    if kind == "exact":
        return value, value
    if kind == "truncated":
        return value, value + ulp
    if kind == "nominal":
        return value - ulp / 2, value + ulp
    if kind == "binary":
        slack = value.abs() * (BINARY_ULPS * 2.0**-52)
        return value - slack, value + slack
    if is_kind(kind):  # decimal and fixed(n)
        return value - ulp / 2, value + ulp / 2
    raise ValueError(f"{kind!r} is no kind of number; the kinds are {', '.join(KINDS)}, fixed(n)")
