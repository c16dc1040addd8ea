from dataclasses import replace

import numpy as np
import pytest
from assay.model.fit import kernel_fit
from assay.model.fit.groups import folds, halves
from assay.model.kernels import gemm
from assay.model.kernels.kernel import Floats

TRUE = {"compute": 0.7, "memory": 0.6, "launch": 5e-6, "loads": 350.0}


def shapes(count: int = 400, seed: int = 1) -> dict[str, Floats]:
    random = np.random.default_rng(seed)
    size = {name: 8.0 * random.integers(2, 1024, count) for name in "mnk"}
    facts = {"b": 1.0, "peak": 312e12, "memory_bandwidth": 2039e9, "sms": 108.0, "itemsize": 2.0}
    return size | {name: np.full(count, value) for name, value in facts.items()}


def pairs(table: dict[str, Floats]) -> Floats:
    return table["n"] * 1e6 + table["k"]


def noisy(seconds: Floats, spread: float, seed: int = 2) -> Floats:
    return seconds * np.exp(spread * np.random.default_rng(seed).standard_normal(len(seconds)))


def test_recovers_what_made_the_data() -> None:
    table = shapes()
    found = kernel_fit.fit(gemm.B3, table, gemm.b3(table, TRUE), pairs(table), draws=0)
    for name in ("compute", "memory", "launch"):
        assert found.values[name] == pytest.approx(TRUE[name], rel=1e-4)
    assert found.low is None


def test_outliers_hardly_move_it() -> None:
    table = shapes()
    seconds = noisy(gemm.b3(table, TRUE), 0.02)
    seconds[::20] *= 3.0
    found = kernel_fit.fit(gemm.B3, table, seconds, pairs(table), draws=0)
    assert found.values["compute"] == pytest.approx(0.7, rel=0.02)


def test_intervals_hold_the_truth_and_shrink_with_rows() -> None:
    widths = []
    for count in (100, 1600):
        table = shapes(count)
        found = kernel_fit.fit(gemm.B3, table, noisy(gemm.b3(table, TRUE), 0.05), pairs(table))
        assert found.low is not None
        assert found.high is not None
        assert found.low["compute"] * 0.99 < 0.7 < found.high["compute"] * 1.01
        widths.append(found.high["compute"] - found.low["compute"])
    assert widths[1] < widths[0]


def test_what_no_row_feels_is_said_and_stays_at_its_start() -> None:
    table = shapes()
    found = kernel_fit.fit(gemm.B3, table, gemm.b3(table, TRUE), pairs(table), draws=5)
    assert found.identifiability.silent == ("loads",)
    assert found.values["loads"] == gemm.LOADS.start
    assert found.low is not None
    assert found.low["loads"] == gemm.LOADS.low


def test_entangled_parameters_are_called_weak() -> None:
    table = shapes()
    large = {name: values + 8192.0 if name in "mnk" else values for name, values in table.items()}
    found = kernel_fit.fit(gemm.B3, large, gemm.b3(large, TRUE), pairs(large), draws=10)
    assert "memory" in found.identifiability.weak  # every row is bound by compute
    assert "compute" not in found.identifiability.weak


def test_a_pair_that_only_its_product_decides_is_named() -> None:
    table = shapes(200)
    double = replace(
        gemm.B3,
        time=lambda columns, values: gemm.b3(
            columns, dict(values) | {"compute": values["compute"] * values["loads"] / 350.0}
        ),
    )
    seconds = double.time(table, TRUE | {"loads": 315.0})
    found = kernel_fit.fit(double, table, seconds, pairs(table), draws=0).identifiability
    assert found.entangled == ("compute ~ loads -1.00",)
    assert {"compute", "loads"} <= set(found.weak)


def test_same_seed_same_fit() -> None:
    table = shapes(100)
    seconds = noisy(gemm.b3(table, TRUE), 0.05)
    once, again = (kernel_fit.fit(gemm.B3, table, seconds, pairs(table), draws=5) for _ in range(2))
    assert once.values == again.values
    assert once.low == again.low


def test_held_parameters_stay() -> None:
    table = shapes(100)
    seconds = gemm.b3(table, TRUE)
    found = kernel_fit.fit(gemm.B3, table, seconds, pairs(table), fixed={"compute": 0.5}, draws=0)
    assert found.values["compute"] == 0.5


@pytest.mark.parametrize("seconds", [np.empty(0), np.array([0.0] * 100)])
def test_no_rows_or_no_time_is_an_error(seconds: Floats) -> None:
    table = {name: values[: len(seconds)] for name, values in shapes(100).items()}
    with pytest.raises(ValueError, match="positive times"):
        kernel_fit.fit(gemm.B3, table, seconds, pairs(table))


def test_groups_are_never_split() -> None:
    groups = np.repeat(np.arange(11), 7)
    for score in folds(groups, 4):
        assert not set(groups[score]) & set(groups[~score])
    assert sum(folds(groups, 4)).tolist() == [1] * len(groups)
    fitted, scored = halves(groups)
    assert not set(groups[fitted]) & set(groups[scored])
    assert (fitted ^ scored).all()
