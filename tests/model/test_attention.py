import numpy as np
import polars as pl
import pytest
from assay.model.frames import PREDICTION
from assay.model.kernels import attention
from assay.model.kernels.kernel import Floats
from hypothesis import given, settings
from hypothesis import strategies as st

sizes = st.integers(1, 64)


def table(**shape: float) -> dict[str, Floats]:
    one = {"batch": 2.0, "seq": 4096.0, "heads": 32.0, "kv_heads": 8.0, "head_dim": 128.0,
           "peak": 989e12, "memory_bandwidth": 3352e9, "sms": 132.0,
           "itemsize": 2.0} | shape  # fmt: skip
    return {name: np.array([value]) for name, value in one.items()}


def seconds(at: dict[str, Floats], **values: float) -> float:
    return float(attention.tiled(at, attention.TILED.starts | values)[0])


def test_operations_and_traffic_by_hand() -> None:
    assert attention.flop(table()).item() == 2 * 2 * 32 * 4096**2 * 128
    assert attention.flop(table(causal=0.0)).item() == 4 * 2 * 32 * 4096**2 * 128
    assert attention.query_traffic(table()).item() == 2 * 2 * 4096 * 32 * 128 * 2
    assert attention.key_traffic(table()).item() == 2 * 2 * 4096 * 8 * 128 * 2


def test_a_cache_only_masks_the_new_corner() -> None:
    one = attention.flop(table(seq=1.0, kv_seq=4096.0)).item()
    assert one == 4 * 2 * 32 * 128 * (4096 - 0.5)
    assert attention.flop(table(kv_seq=4096.0)).item() == attention.flop(table()).item()


@settings(max_examples=50, deadline=None)
@given(batch=sizes, seq=sizes, heads=sizes, data=st.data())
def test_never_faster_than_the_roofline(
    batch: int, seq: int, heads: int, data: st.DataObject
) -> None:
    groups = data.draw(st.integers(1, heads))
    at = table(batch=batch, seq=128.0 * seq, heads=heads, kv_heads=groups)
    perfect = {"compute": 1.0, "memory": 1.0, "kv_reads": 1.0}
    assert seconds(at, **perfect) > attention.roofline(at, {}).item()


@pytest.mark.parametrize("axis", ["batch", "seq", "heads", "kv_heads", "head_dim"])
def test_larger_takes_longer(axis: str) -> None:
    assert seconds(table(**{axis: 2 * table()[axis].item()})) > seconds(table())


def test_long_sequences_reach_the_fitted_share() -> None:
    at = table(seq=2.0**20)
    time = seconds(at, compute=0.6, throttle=0.0, launch=0.0)
    assert time == pytest.approx(attention.flop(at).item() / (0.6 * 989e12), rel=0.01)


def test_predictions() -> None:
    cases = pl.DataFrame({"case": ["a", "b"], "machine": ["H100", "H100"],
                          "dtype": ["bf16", "bf16"], "batch": [1, 1], "seq": [4096, None],
                          "heads": [32, 32], "kv_heads": [8, 8],
                          "head_dim": [128, 128]})  # fmt: skip
    found = attention.predict(cases, attention.TILED)
    assert found.schema == pl.Schema(PREDICTION)
    assert found["case"].to_list() == ["a"]
    more = attention.predict(cases.with_columns(causal=0), attention.TILED)
    assert more["value"].item() > found["value"].item()
