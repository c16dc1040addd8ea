import numpy as np
import pytest
from assay.model.kernels import pointwise


def test_bytes_by_hand() -> None:
    assert pointwise.norm(2048, 12288, 2.0) == 2 * (2 * 2048 * 12288 + 2 * 12288)
    assert pointwise.softmax(96 * 2048, 2048, 2.0) == 2 * 2 * 96 * 2048 * 2048
    assert pointwise.dropout(100, 2.0) == 500
    assert pointwise.adam(1e9) == 30e9


def test_time_is_launch_and_stream() -> None:
    at = {"bytes": np.array([1e9]), "memory_bandwidth": np.array([2e12])}
    time = pointwise.streamed(at, {"memory": 0.5, "launch": 1e-6}).item()
    assert time == pytest.approx(1e-6 + 1e-3)


def test_a_kernel_whose_kind_is_known_reaches_its_own_share() -> None:
    at = {"bytes": np.array([1e9, 1e9]), "memory_bandwidth": np.array([3352e9, 3352e9]),
          "share": np.array([pointwise.KINDS["strided"], np.nan])}  # fmt: skip
    known, unknown = pointwise.streamed(at, {"memory": 0.75, "launch": 0.0})
    assert known == pytest.approx(1e9 / (0.43 * 3352e9))
    assert unknown == pytest.approx(1e9 / (0.75 * 3352e9))


def test_order_of_names() -> None:
    """A layer norm is vectorized too, and a vectorized kernel is an elementwise one."""
    assert pointwise.kind("void vectorized_layer_norm_kernel<c10::BFloat16, float>") == "norm"
    assert pointwise.kind("void cunn_SoftMaxForward<8, c10::BFloat16>") == "softmax"
    assert set(pointwise.KINDS) == set(pointwise.MARKS)
