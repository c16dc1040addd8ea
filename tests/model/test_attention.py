import numpy as np
import polars as pl
import pytest
from assay.model.frames import PREDICTION
from assay.model.kernels import attention
from assay.model.kernels.kernel import Floats
from assay.model.machines import software
from assay.model.machines.datasheets import machine, machines
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

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


@settings(max_examples=examples(50), deadline=None)
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


def trained(name: str, direction: str = "forward", architecture: str = "hopper",
            **shape: float) -> float:  # fmt: skip
    at = table(kv_heads=shape.get("heads", 32.0), **shape)
    return float(attention.training_time(at, name, architecture, direction)[0])


def rate(name: str, direction: str, architecture: str, **shape: float) -> float:
    """TFLOP/s on a peak of 989 TFLOP/s."""
    at = table(**shape)
    work = attention.flop(at).item() * (attention.BACKWARD if direction == "backward" else 1.0)
    return work / trained(name, direction, architecture, **shape) / 1e12


def test_published_rates_come_out() -> None:
    """FlashAttention 3's paper, 16,384 tokens on H100; FlashAttention 1 in xformers' table
    where sequences and heads filled the multiprocessors."""
    shape = {"batch": 4.0, "seq": 4096.0, "heads": 16.0, "causal": 0.0}
    assert rate("flash2", "forward", "hopper", **shape) == pytest.approx(368, rel=0.08)
    assert rate("flash2", "backward", "hopper", **shape) == pytest.approx(310, rel=0.05)
    assert rate("flash3", "forward", "hopper", **shape) == pytest.approx(638, rel=0.12)
    assert rate("flash3", "backward", "hopper", **shape) == pytest.approx(542, rel=0.05)
    a100 = {"peak": 312e12, "sms": 108.0, "memory_bandwidth": 1555e9}
    two = {"batch": 2.0, "seq": 4096.0, "heads": 160.0, "causal": 0.0} | a100
    assert rate("flash1", "backward", "ampere", **two) == pytest.approx(83.2, rel=0.03)


def test_later_generations_are_faster() -> None:
    for direction in ("forward", "backward"):
        first, second, third = (trained(name, direction) for name in ("flash1", "flash2", "flash3"))
        assert first > second > third


def test_a_kernel_that_cannot_run_is_replaced_and_rows_may_differ() -> None:
    assert trained("flash3", architecture="ampere") == trained("flash2", architecture="ampere")
    assert trained("cudnn", architecture="cdna3") == trained("flash2", architecture="cdna3")
    at = {name: np.repeat(column, 2) for name, column in table().items()}
    both = attention.training_time(at, np.array(["flash1", "cudnn"]), "hopper")
    first = attention.training_time(table(), "flash1", "hopper").item()
    assert both.tolist() == [first, attention.training_time(table(), "cudnn", "hopper").item()]


@settings(max_examples=examples(60), deadline=None)
@given(name=st.sampled_from(attention.GENERATIONS), data=st.data(),
       accelerator=st.sampled_from(sorted(machines())),
       direction=st.sampled_from(["forward", "backward"]))  # fmt: skip
def test_every_kernel_on_every_machine(
    name: str, accelerator: str, direction: str, data: st.DataObject
) -> None:
    """Finite, positive, never above the peak or the bandwidth, longer for longer sequences (but
    where a block of queries was not full)."""
    one = machine(accelerator)
    shape = {
        "batch": float(data.draw(st.integers(1, 64))),
        "seq": float(data.draw(st.integers(1, 32768))),
        "heads": float(data.draw(st.integers(1, 128))),
        "head_dim": float(data.draw(st.sampled_from([32, 40, 64, 80, 96, 128, 192, 256]))),
        "causal": float(data.draw(st.integers(0, 1))),
        "peak": max(one.peaks.values()),
        "memory_bandwidth": one.memory_bandwidth,
        "sms": float(one.sms),
    }
    shape["kv_heads"] = shape["heads"]
    at = table(**shape)
    time = attention.training_time(at, name, one.generation, direction).item()
    products = attention.BACKWARD if direction == "backward" else 1.0
    assert np.isfinite(time)
    assert time > products * attention.flop(at).item() / shape["peak"]
    longer = attention.training_time(at | {"seq": 2 * at["seq"]}, name, one.generation, direction)
    assert longer.item() > time or at["seq"] < attention.BLOCK


def test_words_for_kernels() -> None:
    for name in attention.GENERATIONS:
        assert attention.generation(name) == name
    assert attention.generation("flash") == "flash2"
    assert attention.generation("FlashAttention 1.0.9") == "flash1"
    with pytest.raises(LookupError, match="known are"):
        attention.generation("eager")
    with pytest.raises(LookupError, match="known are"):
        attention.figures("unfused", "hopper", "forward")
    with pytest.raises(LookupError, match="forward or backward"):
        attention.training_time(table(), "flash2", "hopper", "sideways")


@pytest.mark.parametrize(
    ("year", "name", "expected"),
    [
        (None, "H100", "flash2"),
        (2022.9, "H100", "flash1"),
        (2023.9, "H100", "flash2"),
        (2025.9, "H100", "flash3"),
        (2025.9, "A100-80g", "flash2"),
        (2025.9, "B200", "cudnn"),
    ],
)
def test_what_is_assumed_follows_the_date(year: float | None, name: str, expected: str) -> None:
    kernel, why = software.attention_of(year, machine(name))
    assert kernel == expected
    assert why.startswith("assumed:")


def test_a_block_takes_its_whole_time() -> None:
    """Sequences of 559 take what 640 take, but for the bytes; whole blocks are as they were."""
    ragged, whole = (trained("flash2", batch=16.0, seq=seq, heads=16.0) for seq in (559.0, 640.0))
    assert ragged == pytest.approx(whole)
    assert trained("flash2", seq=641.0) > trained("flash2", seq=640.0)


def test_kernels_of_a_profile_are_known_by_name() -> None:
    shape = {"machine": "H100", "dtype": "bf16", "batch": 4, "seq": 4096, "heads": 16,
             "kv_heads": 16, "head_dim": 128, "causal": False}  # fmt: skip
    rows = [
        {"case": "forward", "kernel": "void pytorch_flash::flash_fwd_kernel<128>", **shape},
        {"case": "backward", "kernel": "void pytorch_flash::flash_bwd_dot_do_o<128>", **shape},
        {"case": "other", "kernel": "fmha_cutlassF_bf16", **shape},
        {"case": "unnamed", "kernel": None, **shape},
    ]
    cases = pl.DataFrame(rows).with_columns(direction=pl.lit(None, dtype=pl.String))
    found, rest = attention.predict_compiled(cases, label="stack")
    assert found["case"].to_list() == ["forward", "backward"]
    at = {"batch": 4.0, "seq": 4096.0, "heads": 16.0, "causal": 0.0}
    assert found["value"].to_list() == pytest.approx(
        [trained("flash2", way, **at) - attention.CALL for way in ("forward", "backward")]
    )
    assert rest["case"].to_list() == ["other", "unnamed"]
    assert rest.columns == cases.columns
    none, everything = attention.predict_compiled(cases.drop("kernel"), label="stack")
    assert (none.height, everything.height) == (0, 4)
