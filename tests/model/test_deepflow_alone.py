"""A dump without its configuration: any workload is found again, and nothing wrong is said."""

from __future__ import annotations

import polars as pl
import pytest
from assay.model.reproductions.deepflow import DUMP_CASE, predict
from assay.model.reproductions.deepflow_gemm import rates_from_two
from assay.model.reproductions.deepflow_solve import Unsolvable, Value, solve
from assay.model.reproductions.deepflow_unconfigured import predict_alone, printed_by_case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_deepflow import SEED

from tests.conftest import examples

PLACES = {
    "parameters": 1e7, "memory": 2**30 / 10, "memory_per_shard": 2**30 / 10,
    "intensity": 0.01, "intensity_t": 0.01, "inflection": 0.01, "inflection_t": 0.01,
    "step_time": 1e-8, "memory_overflow": 0.1, "memory_overflow_per_shard": 0.1,
    "l2_size": 2**20 / 10, "shared_memory_size": 2**20 / 10, "memory_size": 2**30 / 10,
    "memory_bandwidth": 2**30 / 10, "l2_bandwidth": 2**40 / 10, "peak_flops": 1e11,
    "interconnect_bandwidth": 2**30 / 10,
}  # fmt: skip
"""Quantity → one unit of its last printed place; all others are printed in full."""


def printed(**changes: float) -> pl.DataFrame:
    """Numbers that a dump of that configuration prints, each with its interval."""
    figures = predict(pl.DataFrame([{**SEED, **changes}], schema=DUMP_CASE))
    place = pl.col("quantity").replace_strict(PLACES, default=None, return_dtype=pl.Float64)
    rounded = (
        pl.when(place.is_null()).then("value").otherwise((pl.col("value") / place).round() * place)
    )
    return figures.with_columns(value=rounded).with_columns(
        low=pl.col("value") - place.fill_null(0) / 2, high=pl.col("value") + place.fill_null(0) / 2
    )


sizes = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 4096),
        "vocabulary": st.integers(2, 1_000_000),
        "layers": st.integers(1, 12),
        "width": st.integers(512, 30_000),
        "projection": st.integers(1, 8192),
        "sequence": st.integers(1, 200),
        "precision": st.sampled_from([2, 4]),
        "core": st.floats(0.05, 1.0),
        "dram": st.floats(0.05, 1.0),
        "l2": st.floats(-0.1, 0.5),
        "shared": st.floats(0.01, 0.5),
    }
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sizes)
def test_a_workload_is_found_again(changes: dict[str, float]) -> None:
    observed = printed(**changes)
    (numbers,) = printed_by_case(observed).values()
    solution = solve(numbers)
    work = solution.work
    assert work is not None
    for name in ("batch", "vocabulary", "width", "projection", "sequence", "precision"):
        assert getattr(work, name) == changes[name], name
    if solution.layers_known:
        assert work.layers == changes["layers"]
    key = ["scope", "subject", "quantity"]
    joined = observed.join(predict_alone(observed), on=key, suffix="_alone")
    assert joined.height > 150
    for row in joined.iter_rows(named=True):
        close = pytest.approx(row["value"], rel=1e-9, abs=1e-15)
        held = row["low"] - 1e-9 * abs(row["value"]) <= row["value_alone"]
        held &= row["value_alone"] <= row["high"] + 1e-9 * abs(row["value"])
        assert held or row["value_alone"] == close, row


def test_numbers_of_another_program_have_no_solution() -> None:
    (numbers,) = printed_by_case(printed()).values()
    odd = dict(numbers)
    key = ("pointwise", "gradclip_hidden", "flop")
    odd[key] = Value(12_759_072_769.0, 12_759_072_769.0, 12_759_072_769.0)
    with pytest.raises(Unsolvable):
        solve(odd)


def test_memory_bound_products_need_what_cannot_be_had() -> None:
    observed = printed(core=1.5, dram=0.001)
    times = predict_alone(observed).filter(
        (pl.col("scope") == "gemm") & (pl.col("quantity") == "time")
    )
    assert times.is_empty()  # the L2 rate cannot be had


@pytest.mark.parametrize(
    "broken", [((5, 5), (1.0, 2.0)), ((5, 9), (2.0, 1.0)), ((9, 5), (1.0, 2.0))]
)
def test_two_times_that_tell_nothing(
    broken: tuple[tuple[int, int], tuple[float, float]],
) -> None:
    assert rates_from_two(*broken) is None
