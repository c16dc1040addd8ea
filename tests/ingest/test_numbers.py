"""Printed numbers: kinds, intervals, and the vectorised twin of the scalar rule."""

from __future__ import annotations

import math
from decimal import Decimal

import polars as pl
import pytest
from assay.ingest.numbers.printed import Printed, interval, is_kind, last_place, printed
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "kind", "scale", "expected"),
    [
        ("57.60", "decimal", 1e9, Printed(57.6e9, 57.595e9, 57.605e9)),
        ("6.384045E+01", "decimal", 1.0, Printed(63.84045, 63.840445, 63.840455)),
        ("5837.9", "decimal", 1e-3, Printed(5.8379, 5.83785, 5.83795)),
        ("1,000", "exact", 1.0, Printed(1000.0, 1000.0, 1000.0)),
        ("123", "truncated", 1.0, Printed(123.0, 123.0, 124.0)),
        ("250", "nominal", 1e3, Printed(250e3, 249.5e3, 251e3)),
        ("-0.05", "decimal", 1.0, Printed(-0.05, -0.055, -0.045)),
        ("1.2368", "fixed(6)", 1.0, Printed(1.2368, 1.2367995, 1.2368005)),
        ("2", "fixed(2)", 1e-3, Printed(0.002, 0.001995, 0.002005)),
    ],
)
def test_intervals(text: str, kind: str, scale: float, expected: Printed) -> None:
    assert printed(text, kind, scale) == expected


def test_a_float_printed_in_full_has_four_ulps_each_way() -> None:
    number = printed("0.715153169797531", "binary")
    assert number.high - number.value == 4 * math.ulp(0.715153169797531)


def test_nan_and_inf_are_numbers_without_width() -> None:
    assert printed("inf").low == math.inf
    assert math.isnan(printed("nan").value)


@pytest.mark.parametrize("text", ["0.1e999463838", "1E+3000000", "-7e-999463838", "1e-3000000"])
def test_exponents_beyond_all_doubles(text: str) -> None:
    number = printed(text, "decimal", 1e12)
    assert number.low == number.value == number.high == float(text)


def test_an_unknown_kind_is_named() -> None:
    assert not is_kind("rounded")
    with pytest.raises(ValueError, match="'rounded' is no kind of number; the kinds are exact"):
        printed("1", "rounded")


def test_intervals_that_touch_meet() -> None:
    assert printed("98.87").meets(printed("98.875"))
    assert not printed("98.87").meets(printed("98.863"))


NUMBERS = st.builds(
    lambda sign, whole, decimals, exponent: (
        f"{sign}{whole}"
        + (f".{decimals}" if decimals else "")
        + (f"E{exponent:+03d}" if exponent is not None else "")
    ),
    st.sampled_from(["", "-"]),
    st.integers(0, 10**7),
    st.text("0123456789", max_size=6),
    st.none() | st.integers(-9, 9),
)


@given(
    st.lists(NUMBERS, min_size=1, max_size=30), st.sampled_from(["decimal", "truncated", "nominal"])
)
def test_columns_and_scalars_agree(texts: list[str], kind: str) -> None:
    frame = pl.DataFrame({"text": texts})
    text = pl.col("text")
    low, high = interval(text.cast(pl.Float64), last_place(text), kind)
    for row in frame.select("text", low=low, high=high).iter_rows(named=True):
        scalar = printed(row["text"], kind)
        width = float(Decimal(1).scaleb(int(Decimal(row["text"]).as_tuple().exponent)))
        assert row["low"] == pytest.approx(scalar.low, abs=1e-6 * width, rel=1e-15)
        assert row["high"] == pytest.approx(scalar.high, abs=1e-6 * width, rel=1e-15)


@pytest.mark.parametrize("text", ["3666:.579", "", "1 2", "--"])
def test_what_is_no_number_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="could not convert"):
        printed(text)
