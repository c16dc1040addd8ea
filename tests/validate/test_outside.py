"""Frames that a model from outside may give, and refusals of others."""

from __future__ import annotations

import polars as pl
import pytest
from assay.model.frames import GEMM_CASE, PREDICTION, Model, predictions
from assay.validate.predict.outside import checked
from assay.validate.predict.predictions import Unjoinable

from tests.cli.test_installed import BAD

CASES = pl.DataFrame(
    {"case": ["a.csv#2", "a.csv#3"], "subject": ["1x8x8x8", "1x8x8x16"], "machine": "H100-80g",
     "dtype": "bf16", "b": 1, "m": 8, "n": 8, "k": [8, 16]},
    schema=GEMM_CASE,
)  # fmt: skip


def one_second(cases: pl.DataFrame) -> pl.DataFrame:
    return predictions(
        cases, pl.lit(1.0), scope="gemm", quantity="time", unit="s", model="m", basis="b"
    )


GOOD = one_second(CASES)
MODEL = Model(one_second, scope="gemm")


def test_a_good_answer_is_taken_as_it_is() -> None:
    assert checked("mine", MODEL, GOOD, CASES).equals(GOOD.with_columns(model=pl.lit("mine")))


def test_what_can_be_left_out_is_filled_in() -> None:
    bare = GOOD.select("case", "quantity", "unit", value=pl.lit(1))
    found = checked("mine", MODEL, bare, CASES)
    assert found.schema == pl.Schema(PREDICTION)
    assert found["subject"].to_list() == ["1x8x8x8", "1x8x8x16"]
    assert found["basis"].unique().to_list() == [f"{__name__}.one_second"]
    assert checked("mine", MODEL, GOOD.clear(), CASES).is_empty()


@pytest.mark.parametrize("name", sorted(set(BAD) - {"raises"}))
def test_a_bad_answer_says_what_is_wrong(name: str) -> None:
    code, message = BAD[name]
    with pytest.raises(Unjoinable, match="the model 'mine'") as fault:
        checked("mine", MODEL, eval(code, {"good": GOOD, "pl": pl}), CASES)
    assert message in str(fault.value)


def test_an_unknown_scope_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of configuration, gemm"):
        Model(one_second, scope="layers")
