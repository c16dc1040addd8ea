import math

import numpy as np
import polars as pl
import pytest
from assay.model.fit import kernel_fit
from assay.model.fit.learnt import Calibrated, Interval, learn
from assay.model.fit.neighbours import Neighbours
from assay.model.frames import PREDICTION
from assay.model.kernels import gemm
from assay.model.kernels.kernel import inputs, with_facts
from assay.model.machines.datasheets import machine, machines
from assay.model.stacks.stack import Stack, dump, lent, load, packaged, predict, stack_for

CASES = pl.DataFrame(
    {"case": ["a", "b"], "subject": ["x", "y"], "machine": ["H100", "H100"],
     "dtype": ["bf16", "bf16"], "b": [1, 1], "m": [4096, 64], "n": [4096, 4096], "k": [4096, 4096]}
)  # fmt: skip


def part(**more: object) -> Calibrated:
    start = gemm.B3.starts
    fields: dict[str, object] = {"kernel": gemm.B3, "values": start, "low": start, "high": start,
                                 "weak": ("memory",), "machine": "H100", "dtype": "bf16",
                                 "origin": "a table", "rows": 10, "groups": 3}  # fmt: skip
    return Calibrated(**(fields | more))  # type: ignore[arg-type]


def full() -> Calibrated:
    near = Neighbours(("b", "m", "n", "k"), np.array([[0.0, 12.0, 12.0, 12.0]]),
                      np.array([0.125]), 0.5, 0.3)  # fmt: skip
    interval = Interval((1e-4, math.inf), (0.8, 0.9), (1.3, 1.1))
    return part(near=near, interval=interval)


def test_a_stack_survives_its_file() -> None:
    stack = Stack("H100", {"gemm": full()})
    again = load(dump(stack))
    assert dump(again) == dump(stack)
    assert again.part("gemm").values == pytest.approx(full().values, rel=1e-5)
    assert again.part("gemm").weak == ("memory",)
    once, twice = (predict(CASES, "gemm", one) for one in (stack, again))
    assert once.equals(twice)


def test_a_prediction_says_whose_parameters_it_used() -> None:
    stack = Stack("H100", {"gemm": full()})
    found = predict(CASES, "gemm", stack)
    assert found.schema == pl.Schema(PREDICTION)
    assert set(found["model"]) == {"b3"}
    assert set(found["basis"]) == {"assay.model.kernels.gemm.b3 (H100 bf16 parameters)"}
    other = predict(CASES.with_columns(machine=pl.lit("H200")), "gemm", stack)
    assert set(other["basis"]) == {"assay.model.kernels.gemm.b3 (H100 bf16 parameters, borrowed)"}
    fp8 = predict(CASES.with_columns(dtype=pl.lit("fp8")), "gemm", stack)
    assert set(fp8["basis"]) == {"assay.model.kernels.gemm.b3 (H100 bf16 parameters, borrowed)"}


def test_neighbours_correct_where_they_are_and_nowhere_else() -> None:
    plain, near = (predict(CASES, "gemm", Stack("H100", {"gemm": one})) for one in (part(), full()))
    ratio = (near["value"] / plain["value"]).to_list()
    # One measurement of this very shape counts 10 + 1 against a trust of 0.3.
    assert ratio[0] == pytest.approx(math.exp(0.125 * 11 / 11.3))
    assert ratio[1] == pytest.approx(1.0, abs=1e-6)


def test_intervals_go_by_the_predicted_time() -> None:
    found = predict(CASES, "gemm", Stack("H100", {"gemm": full()}))
    for value, low, high in found.select("value", "low", "high").rows():
        wide = (0.8, 1.3) if value <= 1e-4 else (0.9, 1.1)
        assert (low / value, high / value) == pytest.approx(wide)


def test_packaged_stacks_are_whole() -> None:
    measured = {"A100-80g", "H100", "H200"}
    assert set(packaged()) == measured | {"B200", "MI300X", "MI355X", "TPU-v2", "V100-32g"}
    for name, stack in packaged().items():
        more = {"attention", "collective"} if name in measured else set()
        more |= {"moe", "moe_exchange"} if name == "H100" else set()
        assert set(stack.parts) == {"gemm", "pointwise"} | more
        for one in stack.parts.values():
            assert one.machine == name
            for parameter in one.kernel.parameters:
                at = parameter.name
                assert one.low[at] <= one.values[at] <= one.high[at]
                assert parameter.low * 0.999 <= one.values[at] <= parameter.high * 1.001


@pytest.mark.parametrize(
    ("name", "scope", "lender"),
    [
        ("A100-40g", "gemm", "A100-80g"),
        ("V100-16g", "gemm", "V100-32g"),
        ("V100-32g", "collective", "A100-80g"),
        ("GB200", "gemm", "B200"),
        ("H800", "gemm", "H100"),
        ("H100", "attention", "H100"),
        ("MI300X", "gemm", "MI300X"),
        ("MI325X", "gemm", "MI300X"),
        ("MI350X", "gemm", "MI355X"),
        ("MI300X", "attention", "H200"),
        ("H20", "gemm", "H100"),
        ("L40S", "gemm", "A100-80g"),
    ],
)
def test_who_borrows_whose(name: str, scope: str, lender: str) -> None:
    assert stack_for(name).part(scope).machine == lender


@pytest.mark.parametrize("name", list(machines()))
def test_every_machine_has_a_stack(name: str) -> None:
    one = machine(name)
    kind = "bf16" if "bf16" in one.peaks else "fp16"
    cases = CASES.with_columns(machine=pl.lit(name), dtype=pl.lit(kind))
    found = predict(cases, "gemm")
    assert found.height == 2
    assert ("borrowed" in found["basis"][0]) == (name not in packaged())
    assert (found["low"] < found["value"]).all()
    assert (found["value"] < found["high"]).all()


def test_what_is_borrowed_is_wider_and_never_denser() -> None:
    own = packaged()["H100"].part("gemm")
    b200 = lent(own, machine("H100"), machine("B200"))
    share = (2250 / 1000 / (989 / 700)) ** -0.2
    assert b200.values["compute"] == pytest.approx(own.values["compute"] * share)
    assert b200.near is None
    assert b200.interval is not None
    assert own.interval is not None
    assert b200.interval.high[0] > own.interval.high[0]
    a100 = lent(own, machine("H100"), machine("A100-80g"))
    assert a100.values["compute"] == own.values["compute"]


def test_a_scope_that_is_missing_is_named() -> None:
    with pytest.raises(LookupError, match="has no attention; it has gemm"):
        Stack("H100", {"gemm": part()}).part("attention")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gemm]\n", "names its machine"),
        ('machine = "H100"\n[gemm]\nkernel = "c9"\n', "unknown 'c9'"),
        ('machine = "H100"\n[gemm]\nkernel = "b3"\n', "'parameters'"),
    ],
)
def test_a_bad_stack_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(text)


def made(count: int, spread: float) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    frame = pl.DataFrame({name: 8 * random.integers(2, 512, count) for name in "mnk"}).with_columns(
        b=pl.lit(1), machine=pl.lit("H100"), dtype=pl.lit("bf16")
    )
    table = inputs(gemm.B3, with_facts(frame))
    noise = np.exp(spread * random.standard_normal(count))
    return table, gemm.b3(table, gemm.B3.starts) * noise, np.arange(count) % 60


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few starts of each fit: these tests are not about the least residual."""
    monkeypatch.setattr(kernel_fit, "SCOUTS", 20)


@pytest.mark.usefixtures("quick")
def test_intervals_cover_what_was_not_seen() -> None:
    table, seconds, groups = made(1200, 0.1)
    seen = groups < 30
    one = learn(gemm.B3, {k: v[seen] for k, v in table.items()}, seconds[seen], groups[seen],
                machine="H100", dtype="bf16", origin="made up", draws=0)  # fmt: skip
    assert one.interval is not None
    low, high = one.interval.bounds(one.time({k: v[~seen] for k, v in table.items()}))
    inside = (low <= seconds[~seen]) & (seconds[~seen] <= high)
    assert 0.85 < inside.mean() < 0.95


@pytest.mark.usefixtures("quick")
def test_learning_twice_gives_the_same() -> None:
    table, seconds, groups = made(200, 0.1)
    once, again = (
        learn(gemm.B3, table, seconds, groups, machine="H100", dtype="bf16", origin="made up",
              dimensions=("m", "n", "k"), draws=2, folds=2)
        for _ in range(2)
    )  # fmt: skip
    assert dump(Stack("H100", {"gemm": once})) == dump(Stack("H100", {"gemm": again}))


def test_what_was_seen_in_a_step_is_not_lent_to_another_generation() -> None:
    assert stack_for("TPU-v2").part("gemm").in_step
    assert not stack_for("TPU-v5p").part("gemm").in_step
