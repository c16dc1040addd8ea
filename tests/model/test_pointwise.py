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
