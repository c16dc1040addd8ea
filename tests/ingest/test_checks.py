"""The checks of a schema as one query say what pandera says."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.lines.rows import types_of
from assay.ingest.schema import acceptance
from assay.ingest.schema.acceptance import _failures
from assay.ingest.schema.fields import fields
from hypothesis import given
from hypothesis import strategies as st

SCHEMAS = {name: schema for fmt in FORMATS for name, schema in fmt.schemas.items()}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_check_of_the_packaged_schemas_is_known(name: str) -> None:
    assert acceptance._asked(SCHEMAS[name]) is not None


def value_of(dtype: pl.DataType) -> st.SearchStrategy[Any]:
    if dtype.is_integer():
        return st.none() | st.integers(-2, 3)
    if dtype.is_float():
        return st.none() | st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, float("nan"), float("inf")])
    return st.none() | (st.booleans() if dtype == pl.Boolean else st.just("text"))


@st.composite
def frames(draw: st.DrawFn) -> tuple[str, pl.DataFrame]:
    name = draw(st.sampled_from(sorted(SCHEMAS)))
    specs = fields(SCHEMAS[name])
    rows = draw(st.integers(0, 3))
    # most values are such as pass, so that both verdicts are met
    data = {
        one: draw(st.lists(value_of(spec.dtype) if draw(st.integers(0, 9)) == 0 else
                           (st.just(1) if spec.numeric else value_of(spec.dtype).filter(bool)),
                           min_size=rows, max_size=rows))
        for one, spec in specs.items()
    }  # fmt: skip
    types = {one: spec.dtype for one, spec in specs.items()}
    return name, pl.DataFrame(data, schema=types, strict=False)


@given(drawn=frames())
def test_a_frame_that_passes_fails_nothing(drawn: tuple[str, pl.DataFrame]) -> None:
    name, frame = drawn
    passed = acceptance.passes(frame, SCHEMAS[name])
    checks_off = pytest.MonkeyPatch()
    with checks_off.context() as patch:
        patch.setattr("assay.ingest.schema.acceptance.passes", lambda *_: False)
        failures = _failures(frame, SCHEMAS[name])
    assert not (passed and failures)
    nan = any(frame[c].is_nan().any() for c in frame.columns if frame[c].dtype.is_float())
    assert passed or failures or nan, "a frame without a fault is asked about once"


def test_another_type_is_left_to_pandera() -> None:
    schema = SCHEMAS["gemm_table"]
    columns = {name: spec.dtype for name, spec in fields(schema).items()}
    assert acceptance.passes(pl.DataFrame(schema=columns), schema)
    assert not acceptance.passes(pl.DataFrame(schema={**columns, "m": pl.String}), schema)
    assert set(columns) <= set(types_of(schema))
