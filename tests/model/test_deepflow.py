"""DeepFlow against its published figures and against a second transcription."""

from __future__ import annotations

import polars as pl
import pytest
from assay.model.reproductions.deepflow import DUMP_CASE, predict
from deepflow_transcription import GIB, transcribe
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import examples

KIB = 1024.0
SEED = {
    "case": "seed",
    "batch": 512, "vocabulary": 800_000, "layers": 2, "width": 19968, "projection": 2048,
    "sequence": 20, "precision": 4, "gates": 4, "adds": 8, "non_linear": 5,
    "launch_overhead": 37e-6,
    "dram_energy": 6e-12 * 8, "l2_energy": 5e-15 * 8, "shared_energy": 1e-15 * 8,
    "flop_energy": 119e-13, "stack_capacity": 4 * GIB, "stack_bandwidth": 225 * GIB,
    "l2_bank_capacity": 32 * KIB, "l2_bank_bandwidth": 4000 * GIB,
    "shared_bank_capacity": 32 * KIB, "shared_bank_bandwidth": 4000 * GIB,
    "tdp": 300.0, "core": 0.2592, "dram": 0.2592, "l2": 0.16896000000000005,
    "shared": 0.20275200000000007, "parallel_degree": 1,
}  # fmt: skip


def predicted(*rows: dict) -> pl.DataFrame:
    return predict(pl.DataFrame(rows, schema=DUMP_CASE))


def by_name(frame: pl.DataFrame) -> dict[tuple[str, str], float]:
    rows = frame.select("scope", "subject", "quantity", "value").iter_rows()
    return {
        (f"part {s}" if scope == "configuration" and q == "time" else s, q): v
        for scope, s, q, v in rows
    }


@pytest.mark.parametrize(
    ("subject", "quantity", "printed"),
    [
        ("Cf", "flop", 3_271_025_491_968),
        ("Cf", "gmem_bytes", 25_681_723_392),
        ("Cf", "l2mem_bytes", 16_112_418_816),
        ("Cf", "time", 0.715153169797531),
        ("softmax_f", "time", 71.63968802880662),
        ("", "parameters", 38_370_190_592),
    ],
)
def test_published_figures(subject: str, quantity: str, printed: float) -> None:
    assert by_name(predicted(SEED))[subject, quantity] == pytest.approx(printed, rel=4 * 2**-52)


def test_published_step_time() -> None:
    assert f"{by_name(predicted(SEED))['', 'step_time']:.8f}" == "302.88817584"


configurations = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3000),
        "vocabulary": st.integers(2, 2_000_000),
        "layers": st.integers(1, 40),
        "width": st.integers(1, 30_000),
        "projection": st.integers(1, 9000),
        "sequence": st.integers(1, 300),
        "precision": st.sampled_from([2, 4, 8]),
        "launch_overhead": st.floats(0, 1e-3),
        "tdp": st.floats(20, 2000),
        "core": st.floats(1e-3, 1.5),
        "dram": st.floats(1e-3, 1.5),
        "l2": st.floats(-0.5, 1.0),
        "shared": st.floats(1e-6, 1.0),
    }
)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(configurations)
def test_random_configurations(changes: dict) -> None:
    """Compute- and memory-bound GEMMs, slow gradients, a cache that owes power."""
    row = {**SEED, **changes}
    ours = by_name(predicted(row))
    for key, theirs in transcribe(row).items():
        # Differences of times near zero (a negative L2 rate) lose digits in either order.
        assert ours[key] == pytest.approx(theirs, rel=1e-12, abs=1e-15), key


def test_random_configurations_reach_every_branch() -> None:
    memory_bound = by_name(predicted({**SEED, "core": 1.5, "dram": 0.001}))
    assert memory_bound["Cf", "intensity"] < memory_bound["Cf", "inflection"]
    slow_gradient = by_name(predicted({**SEED, "batch": 1}))
    assert slow_gradient["part R", "time"] > slow_gradient["part Cb", "time"]
    no_cache = by_name(predicted({**SEED, "l2": -0.1}))
    assert no_cache["", "l2_size"] < 0
    assert no_cache["softmax_f gmem", "reload_ab"] == 1


@pytest.mark.parametrize(
    "missing", [{"l2": None}, {"parallel_degree": 2}, {"shared": -0.1}, {"core": 0.0}]
)
def test_no_configuration_no_prediction(missing: dict) -> None:
    assert predicted({**SEED, **missing}).is_empty()
