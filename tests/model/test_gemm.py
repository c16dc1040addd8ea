import numpy as np
import polars as pl
import pytest
from assay.model.frames import PREDICTION
from assay.model.kernels import gemm
from assay.model.kernels.kernel import Floats, columns, inputs, with_facts
from assay.model.machines.datasheets import machine, machines
from assay.model.stacks.stack import packaged, stack_for
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

MACHINES = ("A100-80g", "H100", "H200", "B200")
sizes = st.integers(1, 1024).map(lambda x: 8 * x)


def table(machine: str = "A100-80g", **shape: float) -> dict[str, Floats]:
    one = {"machine": machine, "dtype": "bf16", "b": 1, "m": 4096, "n": 4096, "k": 4096} | shape
    case = pl.DataFrame({name: [value] for name, value in one.items()})
    return columns(with_facts(case), gemm.SHAPE)


def seconds(kernel: gemm.Kernel, at: dict[str, Floats], **values: float) -> float:
    return float(kernel.time(at, kernel.starts | values)[0])


def test_roofline_by_hand() -> None:
    assert seconds(gemm.ROOFLINE, table()) == 2 * 4096**3 / 312e12
    assert seconds(gemm.ROOFLINE, table(m=16)) == 2 * (4096**2 + 2 * 16 * 4096) / 2039e9


def test_b3_by_hand() -> None:
    values = {"compute": 0.5, "memory": 0.25, "launch": 1e-6, "loads": 350.0}
    assert seconds(gemm.B3, table(), **values) == pytest.approx(1e-6 + 4 * 4096**3 / 312e12)
    slow = seconds(gemm.B3, table(n=4095) | {"clock": np.array([1.41e9])}, **values)
    assert slow == pytest.approx(1e-6 + 2 * 4096 * 4095 * 4096 / (350 * 108 * 1.41e9))
    plain = seconds(gemm.B3, table(n=4095) | {"plain": np.array([19.5e12])}, **values)
    assert plain == pytest.approx(1e-6 + 2 * 4096 * 4095 * 4096 / 19.5e12)


def test_c5_by_hand_where_one_tile_fills_one_wave() -> None:
    # 108 tiles of 256 x 128 on 108 SMs: one wave; compute-bound, so the memory side is negligible.
    at = table(m=256 * 12, n=128 * 9, k=65536)
    values = {"compute": 0.5, "memory": 1.0, "launch": 0.0, "feed": 1e6, "fill": 64.0}
    expected = (65536 + 64) * 2 * 256 * 128 / (0.5 * 312e12 / 108)
    assert seconds(gemm.C5, at, **values) == pytest.approx(expected, rel=1e-3)


def test_softness_interpolates_between_whole_and_packed_waves() -> None:
    at = table(m=256 * 12, n=128 * 10, k=65536)  # 120 tiles of 256 x 128
    time = [seconds(gemm.C7, at, softness=q, throttle=1e-9) for q in (0.001, 0.5, 1.0)]
    assert time[0] < time[1] <= time[2]


@pytest.mark.parametrize(
    ("n", "k", "transposed", "expected"),
    [(4096, 4096, 0, False), (4095, 4096, 0, True), (4096, 4100, 0, True), (4096, 4096, 1, True)],
)
def test_alignment_looks_at_contiguous_dimensions(
    n: int, k: int, transposed: int, expected: bool
) -> None:
    at = table(m=4095, n=n, k=k) | {"a_transposed": np.array([float(transposed)])}
    assert gemm.misaligned(at).tolist() == [expected]


@settings(max_examples=examples(60), deadline=None)
@given(machine=st.sampled_from(MACHINES), m=sizes, n=sizes, k=sizes, name=st.sampled_from(
    ["b3", "c5", "c7"]))  # fmt: skip
def test_no_kernel_beats_the_roofline(machine: str, m: int, n: int, k: int, name: str) -> None:
    at = table(machine, m=m, n=n, k=k)
    model = gemm.KERNELS[name]
    perfect = {"compute": 1.0, "memory": 1.0}
    assert seconds(model, at, **perfect) > seconds(gemm.ROOFLINE, at)


@settings(max_examples=examples(60), deadline=None)
@given(m=sizes, n=sizes, k=sizes, more=st.integers(1, 512), axis=st.sampled_from("mnk"),
       name=st.sampled_from(["roofline", "b3", "c7"]))  # fmt: skip
def test_larger_takes_longer(*, m: int, n: int, k: int, more: int, axis: str, name: str) -> None:
    shape = {"m": m, "n": n, "k": k}
    model = gemm.KERNELS[name]
    small = seconds(model, table(**shape))
    large = seconds(model, table(**(shape | {axis: shape[axis] + 8 * more})))
    assert large >= small * (1 - 1e-12)


@settings(max_examples=examples(30), deadline=None)
@given(m=sizes, n=sizes, k=sizes)
def test_b3_scales_with_the_machine(m: int, n: int, k: int) -> None:
    at = table(m=m, n=n, k=k)
    twice = at | {name: 2 * at[name] for name in ("peak", "memory_bandwidth")}
    slow = seconds(gemm.B3, at, launch=0.0)
    assert seconds(gemm.B3, twice, launch=0.0) == pytest.approx(slow / 2)


def test_predictions_have_the_common_columns_and_leave_unknowns_out() -> None:
    cases = pl.DataFrame(
        {"case": list("abcd"), "subject": ["x"] * 4,
         "machine": ["A100-80g", "unheard", "A100-80g", "A100-80g"],
         "dtype": ["bf16", "bf16", "fp8", "bf16"], "b": [1] * 4, "m": [64, 64, 64, None],
         "n": [64] * 4, "k": [64] * 4}
    )  # fmt: skip
    for kernel in gemm.KERNELS.values():
        found = gemm.predict(cases, kernel)
        assert found.schema == pl.Schema(PREDICTION)
        assert found["case"].to_list() == ["a"]
        assert found["basis"].to_list() == [f"assay.model.kernels.gemm.{kernel.name}"]


def test_missing_columns_are_named() -> None:
    with pytest.raises(ValueError, match="the cases lack n, k"):
        gemm.predict(pl.DataFrame({"case": ["a"], "machine": ["H100"], "dtype": ["bf16"],
                                   "b": [1], "m": [1]}))  # fmt: skip


def test_loads_of_misaligned_rows() -> None:
    """The kernels of three architectures with loads of one element: 350 flop a clock and core.

    RTX 4090 (128 multiprocessors at 2.52 GHz): 115.6 TFLOP/s at 2055 cubed, as a user printed it
    (pytorch/pytorch issue 181718). H100: 96 products of 3137 x 3137 x 64 and 3137 x 64 x 3137 in a
    public trace took 1,897 and 1,694 microseconds.
    """
    ada = {"peak": np.array([165.2e12]), "sms": np.array([128.0]), "clock": np.array([2.52e9]),
           "memory_bandwidth": np.array([1008e9])}  # fmt: skip
    part = packaged()["H100"].part("gemm")
    time = part.kernel.time(table(m=2055, n=2055, k=2055) | ada, part.values)
    assert 2 * 2055**3 / time[0] == pytest.approx(115.6e12, rel=0.25)
    for n, k, measured in ((3137, 64, 1897e-6), (64, 3137, 1694e-6)):
        shape = table("H100", b=96, m=3137, n=n, k=k) | {"clock": np.array([1.83e9])}
        assert part.kernel.time(shape, part.values)[0] == pytest.approx(measured, rel=0.12)


def test_more_of_a_load_is_faster() -> None:
    part = packaged()["H100"].part("gemm")
    times = [part.kernel.time(table("H100", n=n), part.values)[0] for n in (4096, 4100, 4098, 4097)]
    assert times == sorted(times)
    assert times[-1] > 5 * times[0]


@settings(max_examples=examples(80), deadline=None)
@given(name=st.sampled_from(sorted(machines())), b=st.sampled_from([1, 3, 512]),
       m=st.integers(1, 9000), n=st.integers(1, 9000), k=st.integers(1, 9000))  # fmt: skip
def test_any_shape_on_any_machine(name: str, b: int, m: int, n: int, k: int) -> None:
    """Finite, positive, never above the peak: also off 16 bytes, thin, and batched."""
    kind = "bf16" if "bf16" in machine(name).peaks else "fp16"
    case = pl.DataFrame({"machine": [name], "dtype": [kind], "b": [b], "m": [m], "n": [n],
                         "k": [k], "alone": [1.0]})  # fmt: skip
    part = stack_for(name).part("gemm")
    known = with_facts(case)
    time = part.kernel.time(inputs(part.kernel, known), part.values)[0]
    assert np.isfinite(time)
    assert time > 2.0 * b * m * n * k / machine(name).peak(kind)
